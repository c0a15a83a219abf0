"""Milestones along a chat, the world's changes, the clock and the audit's flags."""

import re
from dataclasses import replace

import pytest
from phone_chats import START, flag, moved, phone_chat, phone_task, scores_of
from report_runs import blocks, chat, failed_chat, metric, task, texts_of

from seal.core import Goal, Milestone, Plan, Score, Step
from seal.core.conditions import Argument, Asked, Called
from seal.core.state_conditions import DependsOn, StateHas, Told
from seal.core.table_matching import Column
from seal.evaluation.pass_rates import PassRate
from seal.report.chat_pages import CUT_CELL, ROWS, Mark, annotate, chat_pieces, describe, gold_lines
from seal.report.lanes import outcome_label
from seal.report.run_pages import write_report
from seal.report.transcript import render_transcript
from seal.report.world_views import goal_outcomes, times, world_changes

TASK = phone_task()


def outcome_of(played, told=TASK):
    (outcome,) = goal_outcomes(told, played, scores_of(told, played))
    return outcome


def statuses(outcome):
    return [(node.kind, node.node, node.status) for node in outcome.nodes]


def faults(outcome, node=0):
    shown = outcome.nodes[node].faults
    return [(f.table, f.column, f.expected, f.found, round(f.similarity, 1)) for f in shown]


def seen(played, scores=None, told=TASK):
    scores = scores_of(told, played) if scores is None else scores
    return render_transcript(told, played, {}, scores).plain.split("\n")


def pieces(told, played):
    return "".join(chat_pieces(played, annotate(told, played, scores_of(told, played))))


def test_milestones_are_told_with_their_steps():
    outcome = outcome_of(phone_chat())

    assert (outcome.similarity, outcome.match) == (1.0, "clean")
    assert statuses(outcome) == [
        ("milestone", 0, "1.000 at step 2"),
        ("milestone", 1, "1.000 at step 3"),
        ("minefield", 0, "not hit"),
    ]


def test_a_missed_milestone_is_told_with_its_closest_step_and_the_cell():
    outcome = outcome_of(phone_chat(phone="+3"))

    assert statuses(outcome)[0] == ("milestone", 0, "not reached; closest is step 5")
    assert faults(outcome) == [("contacts", "phone", '"+2"', '"+3"', 0)]


def test_a_broken_guardrail_names_the_table_that_changed():
    assert faults(outcome_of(phone_chat(wifi=True))) == [
        ("settings", "", "unchanged", "changed in step 2", 0)
    ]


def test_a_reply_that_is_a_little_like_the_wanted_one_is_reached_in_part():
    outcome = outcome_of(phone_chat(said="Bob is saved"))

    assert outcome.nodes[1].similarity == pytest.approx(0.95, abs=0.02)
    assert faults(outcome, 1) == [
        ("message", "content", '"Bob is saved now"', '"Bob is saved"', 0.9)
    ]


def test_a_minefield_that_was_hit_is_told():
    outcome = outcome_of(phone_chat(said="The secret: Bob is saved now"))

    assert outcome.similarity == 0
    assert statuses(outcome)[2] == ("minefield", 0, "hit at step 3")


def test_steps_may_be_numbered_from_any_number():
    outcome = outcome_of(moved(phone_chat(), 15))

    assert statuses(outcome)[0] == ("milestone", 0, "1.000 at step 17")


def test_the_plan_that_counts_is_told():
    goal = Goal("x", (Plan((Milestone(StateHas("contacts", ())),)), *TASK.goals[0].plans))
    told = replace(TASK, goals=(goal,))

    outcome = outcome_of(phone_chat(), told)

    assert (outcome.plan, outcome.plans) == (1, 2)


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        ([], "not measured"),
        ([Score("own/phone", 0, 0, "turn_count", 1.0)], "not measured"),
        (scores_of(TASK, failed_chat("own/phone")), "infrastructure: the server answered 500"),
    ],
)
def test_milestones_that_were_not_measured_say_why(scores, note):
    (outcome,) = goal_outcomes(TASK, phone_chat(), scores)

    assert note in outcome.note


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"mapping": [[7, 2, 1.0]]},
        {"mapping": [[0, 99, 1.0]]},
        {"mapping": "x"},
        {"mapping": [[0, None, 1]]},
    ],
)
def test_scores_that_do_not_fit_are_told_and_shown_nowhere(details):
    scores = [
        replace(score, details=details) if score.metric == "milestone_similarity" else score
        for score in scores_of(TASK, phone_chat())
    ]

    (outcome,) = goal_outcomes(TASK, phone_chat(), scores)

    assert "do not fit" in outcome.note
    assert outcome.nodes == ()


def test_a_task_without_such_milestones_has_none():
    assert goal_outcomes(task("own/a"), chat("own/a"), []) == []
    assert annotate(None, phone_chat()).goals == ()


def test_a_plan_that_asks_nothing_says_so():
    told = replace(TASK, goals=(Goal("x", (Plan(),)),), metadata={"match": "clean"})

    assert "None: nothing is asked and nothing forbidden." in pieces(told, phone_chat())


def test_the_worlds_changes_are_told_cell_by_cell():
    changes = world_changes(phone_chat(wifi=True), START)

    assert list(changes) == [2]
    shown = pieces(TASK, phone_chat(wifi=True))
    assert texts_of(shown, "li", "added") == ['+ id "p-2"name "Bob"phone "+2"']
    assert texts_of(shown, "li", "changed") == ['~ device "d"wifi false → true']


def test_tables_that_a_step_left_alone_are_counted():
    assert "settings (1)" in pieces(TASK, phone_chat())


def test_a_table_that_was_written_again_as_it_was_has_not_changed():
    played = phone_chat()
    same = replace(played.steps[2], state=START)

    assert world_changes(replace(played, steps=(*played.steps[:2], same)), START) == {}


def test_the_clock_moves_with_each_turn_of_user_and_agent():
    told = times(TASK, phone_chat().steps)

    assert [told[index][-12:-4] for index in range(6)] == [
        "00:00:10", "00:00:15", "00:00:15", "00:00:20", "00:00:25", "00:00:25",
    ]  # fmt: skip
    assert "1970-01-01 00:00:20 UTC" in pieces(TASK, phone_chat())


@pytest.mark.parametrize("metadata", [{}, {"clock": {"zone": "Nowhere"}}, {"clock": 3}])
def test_without_a_clock_no_step_has_a_time(metadata):
    assert times(phone_task(metadata=metadata), phone_chat().steps) == {}


def test_the_users_end_and_errors_stand_at_their_steps():
    scores = [flag("own/phone", 0, "outside_brief", "+2"), flag("own/phone", 4, "ended_early")]

    marks = annotate(TASK, phone_chat(), scores).marks

    assert marks[0] == [Mark("flag", "the user said what its brief does not tell: +2")]
    assert marks[4] == [
        Mark("ended", "the user ends the conversation"),
        Mark("flag", "the user ended too early"),
    ]


def test_what_happens_by_itself_in_the_world_is_marked():
    played = phone_chat()
    ring = Step(6, "executor", "orchestrator", "The timer rings")

    marks = annotate(TASK, replace(played, steps=(*played.steps, ring))).marks

    assert marks[6] == [Mark("event", "the world tells of this by itself")]


@pytest.mark.parametrize("flags", [None, 3, [3], [{"flag": "x"}], [{"step": "4"}]])
def test_flags_of_another_form_are_left_out(flags):
    score = Score("own/phone", 0, 0, "user_hallucination", 1.0, details={"flags": flags})

    assert set(annotate(None, chat("own/phone"), [score]).marks) == set()


def test_who_says_that_a_chat_of_the_world_is_solved_are_its_milestones():
    scores = [*PassRate().score(TASK, phone_chat(), {}), *scores_of(TASK, phone_chat())]

    assert outcome_label(False, scores) == "solved"
    lines = seen(phone_chat(), scores)
    assert "milestones: solved" in lines
    assert "goal 1 pass_rate: solved: every milestone was reached" in lines
    assert "goal 1 similarity: 1.000" in lines


def make_page(make_run, tmp_path, *played, **options):
    tasks = [phone_task(one.task_id) for one in played]
    scores = [s for one, told in zip(played, tasks, strict=True) for s in scores_of(told, one)]
    run = make_run("run", tasks, played, scores, {"similarity": metric(0.5)})
    return write_report([run], tmp_path / "report.html", **options).read_text()


def test_the_page_holds_milestones_changes_and_each_table_once(make_run, tmp_path):
    text = make_page(
        make_run, tmp_path, phone_chat("own/a"), phone_chat("own/b", phone="+3", wifi=True)
    )

    chats = blocks(text, "chat")
    assert re.findall('<li class="node (.*?)">', chats["0/0/0"]) == [
        "reached",
        "reached",
        "avoided",
    ]
    assert texts_of(chats["0/1/0"], "ul", "faults")[0] == (
        'contacts phone expected "+2", found "+3"settings expected unchanged, found changed in '
        "step 2"
    )
    assert texts_of(chats["0/1/0"], "li", "changed") == ['~ device "d"wifi false → true']
    # The tables at the start, then those that a step changed, as they are after it.
    after = {"0/0/0": ["contacts"], "0/1/0": ["contacts", "settings"]}
    assert {key: texts_of(chats[key], "caption")[2:] for key in after} == after
    assert all(texts_of(one, "caption")[:2] == ["contacts", "settings"] for one in chats.values())
    assert text.count('<caption dir=\\"auto\\">') == 5
    assert text == make_page(
        make_run, tmp_path, phone_chat("own/a"), phone_chat("own/b", phone="+3", wifi=True)
    )


def test_a_chat_that_does_not_fit_is_left_out_with_its_tables(make_run, tmp_path):
    text = make_page(make_run, tmp_path, phone_chat("own/a"), max_bytes=100)

    assert blocks(text, "chat") == {}
    assert '<caption dir=\\"auto\\">' not in text
    assert blocks(text, "index")["0"]["left_out"] == 1


def test_long_tables_and_cells_are_cut_and_counted():
    rows = [{"id": number, "text": "x" * 1000} for number in range(ROWS + 7)]
    start = {"long": rows, "short": [{"a": 1}, {"b": None}]}
    told = replace(TASK, initial_state=start)
    played = replace(phone_chat(), steps=(Step(0, "a", "b", "Hi"),))

    shown = "".join(chat_pieces(played, annotate(told, played)))

    long, short = re.findall("<tbody>(.*?)</tbody>", shown, re.DOTALL)[:2]
    assert long.count("<tr>") == ROWS
    assert "7 more rows" in shown
    assert texts_of(long, "td")[1].startswith('"' + "x" * (CUT_CELL - 1) + "…")
    assert texts_of(short, "td") == ["1", "", "", "null"]


def test_a_step_that_changed_many_rows_shows_the_first():
    played = phone_chat()
    many = {"contacts": [{"id": number} for number in range(ROWS + 9)]}
    played = replace(played, steps=(played.steps[0], replace(played.steps[2], state=many)))

    shown = "".join(chat_pieces(played, annotate(TASK, played)))

    assert len(re.findall('<li class="(?:added|removed|changed)">', shown)) == ROWS
    assert "10 more rows" in shown


def test_conditions_of_the_world_are_told_on_one_line():
    depends = DependsOn(0, ({"author": "agent", "content": "{days}"},), "result_days", "content")
    near = {"lat": Column("close", 0.5)}
    assert describe(StateHas("places", ({"lat": 1.0},), "update", 2, near)) == (
        "places changes to {lat = 1.0 ± 0.5} since 2"
    )
    assert describe(StateHas("places", ())) == "places is no row"
    assert describe(depends) == (
        '{author = "agent", content = "{days}"}, filled in by result_days of 0'
    )
    both = Asked(("which account", "receive"))
    assert describe(both) == "asked about which account or receive"
    assert describe(Told(("40000",))) == 'told all_of=["40000"]'
    assert gold_lines(TASK.goals[0])[:2] == [
        '0: contacts gains {name = "Bob", phone = "+2"} since the start; '
        "keeps settings since the start",
        '1: agent -> user_simulator: content ~ "Bob is saved now"  (after 0)',
    ]


def test_wanted_calls_are_told_as_calls():
    calls = [{"tool": "find", "arguments": {"at": 1, "name": "Ann"}}, "?"]
    columns = {"calls": Column("calls", tolerances={"at": "inf"}), "name": Column("any")}
    wanted = StateHas("message", ({"calls": calls, "name": None},), columns=columns)

    assert describe(wanted) == '{find(at=1 ± inf, name="Ann") or "?", any name}'
    assert describe(Called("own/x", {"a": Argument((1,))})) == "own/x(a=1)"
    assert describe(Asked()) == "asked"

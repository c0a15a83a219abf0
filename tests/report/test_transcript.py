import json
import re
from dataclasses import replace

from report_runs import WEATHER, chat, failed_chat, task, verdict

from seal.core import Goal, Milestone, Plan, Score, Step, ToolCall, ToolResult
from seal.core.conditions import Argument, Asked, Called, Replied
from seal.report.chat_pages import (
    Annotations,
    annotate,
    chat_pieces,
    describe,
    gold_lines,
    task_pieces,
)
from seal.report.transcript import render_transcript

TOOLS = {WEATHER.id: WEATHER}


def plain(trajectory, scores=(), **options):
    return render_transcript(
        task(trajectory.task_id), trajectory, TOOLS, scores, **options
    ).plain.split("\n")


def with_step(**fields):
    return replace(chat("own/a"), steps=(Step(0, "execution_manager", "executor", **fields),))


def test_it_says_who_speaks_to_whom_and_who_is_next():
    lines = plain(chat("own/a"))

    assert "[1] execution_manager -> executor  (goal 1, message 1)" in lines
    assert lines.count("    next speaker: executor") == 1


def test_a_call_has_its_id_and_arguments_and_its_result_the_same_id():
    lines = plain(chat("own/a"))

    call = lines.index("    call_0  weather_now")
    assert lines[call + 1 : call + 4] == ["        {", '          "city": "Paris"', "        }"]
    assert '        {"sky": "clear"}' in lines[lines.index("    call_0  answered") :]


def test_calls_of_one_reply_stand_under_one_heading():
    first = chat("own/a").steps[1]
    second = replace(first, index=2, call=replace(first.call, id="call_1"))

    lines = plain(replace(chat("own/a"), steps=(first, second)))

    assert "[1-2] execution_manager -> executor  (goal 1, message 1)" in lines
    assert sum("->" in line for line in lines) == 1


def test_gold_and_offered_tools_stand_above_the_steps():
    lines = plain(chat("own/a"))

    assert '  gold 0: weather_now(city="Paris" | "Lutetia")' in lines
    assert "goal 1 offered tools (1): weather_now" in lines


def test_a_long_response_is_folded_unless_all_is_asked_for():
    long = chat("own/a", result="x" * 5000)

    assert any("3,800 more characters" in line for line in plain(long))
    assert "        " + "x" * 5000 in plain(long, fold=None)


def test_a_text_that_is_handed_on_is_told_once():
    said = Step(0, "user_simulator", "orchestrator", "How is the sky in Paris?")
    handed = replace(said, index=1, author="orchestrator", recipient="execution_manager", turn=1)
    lines = plain(replace(chat("own/a"), steps=(said, handed)))

    assert lines.count("    How is the sky in Paris?") == 1
    assert lines[lines.index("[1] orchestrator -> execution_manager  (goal 1, message 1)") + 1] == (
        "    (the same text)"
    )


def test_a_long_result_stands_as_a_tree_and_what_is_no_json_as_it_came():
    days = [{"day": day, "sky": "clear"} for day in range(5)]
    lines = plain(chat("own/a", result=json.dumps({"days": days})))
    assert lines[lines.index("        {", lines.index("    call_0  answered")) + 1] == (
        '          "days": ['
    )
    broken = '{"days": ' + "[" * 100
    assert "        " + broken in plain(chat("own/a", result=broken))


def test_arguments_that_are_no_json_are_shown_as_written():
    lines = plain(with_step(call=ToolCall("call_0", "weather_now", None, raw="{city: Paris")))

    assert "        arguments are no JSON object:" in lines
    assert "        {city: Paris" in lines


def test_an_unknown_tool_is_told():
    lines = plain(with_step(call=ToolCall("call_0", "wether", {})))

    assert "    call_0  wether  (no offered tool has this name)" in lines


def test_a_rejected_call_shows_the_kind_of_its_error():
    error = {"kind": "unknown_argument", "message": "no argument town"}
    lines = plain(with_step(result=ToolResult("call_0", "no argument town", error=error)))

    assert "    call_0  failed: unknown_argument, not executed" in lines
    assert "        no argument town" in lines


def test_the_end_has_stop_reason_answer_verdict_and_scores_with_reasons():
    recall = Score("own/a", 0, 0, "call_recall", None, reason="the goal has no gold calls")

    lines = plain(chat("own/a"), [verdict("own/a", "unsure", "states no city"), recall])

    assert "goal 1 stopped: done" in lines
    assert "goal 1 answer: The sky is clear." in lines
    assert "judge, after the chat: undecided" in lines
    assert "goal 1 pass_rate: undecided: states no city" in lines
    assert "  without value: 1 score: the goal has no gold calls" in lines


def test_every_verdict_names_its_goal_and_the_metric_that_decides_comes_first():
    reason = "undecided: results do not prove it"
    unsure = replace(verdict("own/a", "unsure", reason), goal=1)
    accuracy = Score("own/a", 0, 0, "mission_accuracy", 0.0, reason="early stop")
    scores = [accuracy, verdict("own/a", "unsolved", "refuses"), unsure]
    told = [
        "goal 1 pass_rate: unsolved: refuses",
        "goal 2 pass_rate: undecided: results do not prove it",
        "goal 1 mission_accuracy: 0.000: early stop",
    ]
    lines = plain(chat("own/a"), scores)
    assert [line for line in dict.fromkeys(lines) if line in told] == told
    said = next(at for at, line in enumerate(lines) if line.startswith("["))
    assert said > lines.index(told[0])  # the verdict stands above what was said
    page = re.sub("<[^>]+>", "", "".join(chat_pieces(chat("own/a"), Annotations(), scores)))
    assert "".join(told) in page


def test_goals_are_counted_from_1_and_each_says_of_how_many():
    first = task("own/a").goals[0]
    asked = replace(task("own/a"), goals=(first, Goal("And in Rome?"), first))
    played = chat("own/a")
    steps = (*played.steps, replace(played.steps[0], index=4, turn=4, goal=1))
    two = {"offered": played.offered * 2, "stops": played.stops * 2, "answers": ("Clear.", None)}
    played = replace(played, steps=steps, **two)
    lines = render_transcript(asked, played, TOOLS).plain.split("\n")
    for told in ("And in Rome?", "answer: none", "stopped: done", "offered tools (1): weather_now"):
        assert any(it.startswith("goal 2 of 3") and it.endswith(told) for it in lines)
    assert "[4] user_simulator -> execution_manager  (goal 2 of 3, message 4)" in lines
    notes = annotate(asked, played)
    page = re.sub("<[^>]+>", "", "".join((*task_pieces(asked), *chat_pieces(played, notes))))
    assert "Goal 3 of 3What is the weather" in page and "Calls beside gold, goal 1 of 3" in page
    assert "Final answer to goal 2 of 3" in page and "Goal 2 of 3 stopped: done" in page
    assert "goal 2 of 3, message 4" in page and "Offered tools for goal 1 of 3" in page
    assert not re.search("goal 0|of 2", page + "\n".join(lines))


def test_tags_stand_as_tables_have_them():
    assert "tags: group=single, multi_tool=false" in plain(chat("own/a"))


def test_a_verdict_may_have_its_reason_in_the_details():
    score = verdict("own/a", "solved")
    score.details["reason"] = "states the sky"

    assert "goal 1 pass_rate: solved: states the sky" in plain(chat("own/a"), [score])


def test_an_infrastructure_failure_is_an_error_and_no_verdict():
    lines = plain(failed_chat("own/a"))

    assert "outcome: error" in lines
    assert "    the server answered 500" in lines


def test_the_outcome_says_who_judged_and_what_the_judge_knows():
    scores = [verdict("own/a", "solved")]

    assert "judge (knows the gold): solved" in plain(chat("own/a"), scores, judge="rule/1")
    assert "judge (a model, sees no gold): solved" in plain(chat("own/a"), scores, judge="llm/3f")


def test_an_outcome_that_no_judge_gave_names_none():
    success = Score("own/a", 0, 0, "success", 1.0)

    assert "outcome: solved" in plain(chat("own/a"), [success], judge="rule/1")


def test_an_infrastructure_failure_is_told_once_and_not_for_every_metric():
    names = ("pass_rate", "call_recall", "calls")
    reason = "infrastructure: the server answered 500"
    scores = [Score("own/a", 0, 0, name, None, reason=reason) for name in names]

    lines = plain(failed_chat("own/a"), scores)

    assert "\n".join(lines).count("the server answered 500") == 1
    assert "not scored: 3 values, for the error above" in lines


def test_control_characters_of_the_data_never_reach_the_terminal():
    hostile = "\x1b]0;owned\x07\x9b2J\u202e"
    call = ToolCall(hostile, hostile, {hostile: hostile}, tool=hostile)
    steps = (
        Step(0, hostile, hostile, hostile, call=call),
        Step(1, "a", "b", hostile, result=ToolResult(hostile, hostile, error={"kind": hostile})),
    )
    trajectory = replace(chat(hostile), steps=steps, answers=(hostile,), offered=((hostile,),))
    scores = [
        verdict(hostile, "solved", hostile),
        Score(hostile, 0, 0, hostile, 1.0, reason=hostile),
    ]
    told = replace(task(hostile, hostile), tags={hostile: hostile})

    text = render_transcript(told, trajectory, TOOLS, scores).plain

    assert not set("\x1b\x07\x9b\u202e") & set(text)
    assert "␛]0;owned" in text


def test_a_task_that_the_run_lost_is_no_failure():
    assert "does not have this task" in render_transcript(None, chat("own/a"), {}, ()).plain


def test_conditions_of_every_kind_are_told_on_one_line():
    assert describe(Called("own/x", None)) == "own/x(…)"
    assert (
        describe(Called("own/x", {"a": Argument((1,), optional=True)})) == "own/x(a=1 | left out)"
    )
    assert describe(Asked(("city",))) == "asked about city"
    assert describe(Replied()) == "replied"


def test_alternative_plans_orders_and_answers_are_told():
    one = Plan((Milestone(Called("own/x")), Milestone(Called("own/y"), after=(0,))))
    goal = Goal(
        "do it", plans=(one, Plan(minefields=(Milestone(Called("own/z")),))), answers=("42",)
    )

    assert gold_lines(goal) == [
        "plan 1 of 2",
        "0: own/x(…)",
        "1: own/y(…)  (after 0)",
        "plan 2 of 2",
        "never 0: own/z(…)",
        "states 42",
    ]
    assert gold_lines(Goal("no tool", plans=(Plan(),))) == ["no tool needed"]
    assert gold_lines(Goal("not annotated")) == []

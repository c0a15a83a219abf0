"""Lint: each kind of finding, what is none, and real pools."""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from looped import every_case
from rapidfuzz import fuzz

from seal.benchmarks.sample import SAMPLE
from seal.core import (
    DataError,
    Goal,
    Milestone,
    Plan,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UsageError,
    write_records,
)
from seal.core.conditions import Argument, Called
from seal.core.records import encode
from seal.core.state_conditions import StateHas
from seal.pools.imports import import_benchmark
from seal.pools.lint import (
    NEAREST,
    LintReport,
    description_fault,
    lint,
    near_duplicates,
    pairs,
)
from seal.pools.lint_findings import KINDS, EarlierTexts, Finding, ungrounded_values
from seal.pools.pool import load_pool

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 3},
        "units": {"type": "string", "enum": ["metric", "imperial"]},
    },
    "required": ["city"],
}
WEATHER = Tool("b/sky/now", "now", "The weather in a city as it is at this hour.", SCHEMA)
MAIL = Tool(
    "b/post/send",
    "send",
    "Sends a letter to a person of the address book.",
    SCHEMA,
    writes=True,
)


def called(tool: str = WEATHER.id, **values: object) -> Milestone:
    arguments = {
        name: value if isinstance(value, Argument) else Argument((value,))
        for name, value in values.items()
    }
    return Milestone(Called(tool, arguments))


def task(name: str, text: str, *milestones: Milestone, **options) -> Task:
    plans = (Plan(milestones),) if milestones else None
    return Task(name, "b", (Goal(text, plans, **options),))


def found(tmp_path: Path, tasks=(), tools=(WEATHER, MAIL), **options) -> LintReport:
    write_records(tmp_path / "tools.jsonl", tools)
    write_records(tmp_path / "tasks.jsonl", tasks)
    return lint(tmp_path, **options)


STATE = {"settings": [{"cellular": True, "wifi": True, "location_service": True,
                       "low_battery_mode": False}]}  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "fields", "says"),
    [
        (StateHas("boxes", ({"wifi": True},)), {}, "milestones.0: no table 'boxes'"),
        (StateHas("settings", ({"wlan": True},)), {}, "no column 'wlan'"),
        (StateHas("reminders", ({"when": 1},)), {}, "no column 'when'"),
        (StateHas("settings", ({"wifi": True},), since=4), {}, "since: 4 is no milestone"),
        (
            StateHas("settings", ({"wifi": True},)),
            {"metadata": {"match": "nice"}},
            "metadata.match: expected one of clean, toolsandbox, got 'nice'",
        ),
    ],
)
def test_a_plan_that_cannot_be_measured_is_an_error(
    tmp_path: Path, wanted: StateHas, fields: dict, says: str
) -> None:
    goal = Goal("Online?", (Plan((Milestone(wanted),)),))
    played = Task("t", "b", (goal,), initial_state=STATE, world="phone", **fields)

    finding = only(found(tmp_path, [played]), "unmeasurable_plan")

    assert (finding.severity, finding.tasks) == ("error", ("t",))
    assert says in finding.message


@pytest.mark.parametrize("world", ["phone", "no_such_world"])
def test_a_table_that_a_world_begins_with_by_itself_is_known(tmp_path: Path, world: str) -> None:
    wanted = StateHas("reminders", ({"content": "Soup"},), "addition", -1)
    goal = Goal("Remind me", (Plan((Milestone(wanted),)),))

    report = found(tmp_path, [Task("t", "b", (goal,), initial_state=STATE, world=world)])

    assert report.findings == ()


def test_a_plan_that_runs_in_a_circle_is_an_error_without_a_world_too(tmp_path: Path) -> None:
    goal = Goal("Weather", (Plan((replace(called(city="Rome"), after=(0,)),)),))

    report = found(tmp_path, [Task("t", "b", (goal,))])

    told = next(f.message for f in report.findings if f.kind == "unmeasurable_plan")
    assert "cycle" in told


def only(report: LintReport, kind: str) -> Finding:
    (finding,) = report.findings
    assert finding.kind == kind
    return finding


def test_a_sound_pool_has_no_findings(tmp_path: Path) -> None:
    tasks = [task("t", "How is the weather in Bern?", called(city="Bern"), relevant=(WEATHER.id,))]

    report = found(tmp_path, tasks)

    assert (report.tasks, report.tools, report.findings) == (1, 2, ())


def test_bad_lines_are_told_by_number_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "tools.jsonl").write_bytes(encode(WEATHER) + b"{half\n" + encode(WEATHER))
    (tmp_path / "tasks.jsonl").write_bytes(
        b'{"schema":"tool/1"}\n\n' + encode(Task("t", "b", ())) + b"\xff\n"
    )

    report = lint(tmp_path)

    assert (report.tasks, report.tools) == (1, 1)
    assert report.counts() == {"malformed_line": 3, "duplicate_id": 1, "no_goal": 1}
    places = [f.evidence for f in report.findings if f.kind == "malformed_line"]
    assert places == [
        {"file": "tools.jsonl", "line": 2},
        {"file": "tasks.jsonl", "line": 1},
        {"file": "tasks.jsonl", "line": 4},
    ]


def test_stored_gold_with_a_key_that_nobody_knows_is_told(tmp_path: Path) -> None:
    called = {"kind": "called", "tool": "own/f", "parameters": {"a": {"values": [1]}}}
    goal = {"text": "Do it.", "plans": [{"milestones": [{"condition": called}]}]}
    task = {"schema": "task/1", "id": "one", "benchmark": "own", "goals": [goal]}
    tool = {"schema": "tool/1", "id": "own/f", "name": "f", "description": "Do a thing or two."}
    (tmp_path / "tools.jsonl").write_text(json.dumps(tool))
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task))
    (found,) = (each for each in lint(tmp_path).findings if each.kind == "malformed_line")
    assert "called: parameters: there is no such field" in found.message


def test_a_tool_that_the_pool_lacks_is_told_with_its_part(tmp_path: Path) -> None:
    tasks = [task("t", "Hello, there!", called("b/x/y", city="Bern, there!"), offered=("b/z",))]

    report = found(tmp_path, tasks)

    missing = [f for f in report.findings if f.kind == "missing_tool"]
    assert [(f.tools, f.evidence["role"]) for f in missing] == [
        (("b/z",), "offered"),
        (("b/x/y",), "gold"),
    ]
    assert all(f.severity == "error" for f in missing)


def test_a_tool_that_only_the_reference_calls_is_told_and_refused(tmp_path: Path) -> None:
    steps = tuple(
        Step(n, "lead", "caller", call=ToolCall(f"c{n}", "x", {}, tool=tool))
        for n, tool in enumerate(("b/x/y", WEATHER.id, "seal/chat/ask"))
    )

    finding = only(found(tmp_path, [task("t", "Hello!", reference=steps)]), "missing_tool")

    assert (finding.tools, finding.evidence["role"]) == (("b/x/y",), "reference")
    with pytest.raises(DataError, match="has the reference tool 'b/x/y', which is not in"):
        list(load_pool(tmp_path).tasks())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"city": 7}, "wrong_type"),
        ({}, "missing_argument"),
        ({"city": "Bern", "zip": "Bern"}, "unknown_argument"),
        ({"city": "Bern", "units": "kelvin in Bern"}, "invalid_value"),
        ({"city": Argument(("Bern", 7))}, "wrong_type"),
        ({"city": "Bern", "days": Argument(("7",), optional=True)}, "wrong_type"),
    ],
)
def test_a_gold_call_that_the_schema_refuses(tmp_path: Path, arguments, error: str) -> None:
    text = "7 days of weather, kelvin in Bern"

    finding = only(found(tmp_path, [task("t", text, called(**arguments))]), "invalid_call")

    assert finding.evidence["error"] == error
    assert (finding.tasks, finding.tools) == (("t",), (WEATHER.id,))


def test_a_value_that_nothing_holds_is_told(tmp_path: Path) -> None:
    tasks = [task("t", "How is the weather?", called(city="Bern"))]

    finding = only(found(tmp_path, tasks), "ungrounded_value")

    assert finding.evidence == {"goal": 0, "argument": "city", "values": ["Bern"]}


@pytest.mark.parametrize(
    "milestone",
    [
        called(city="bern!"),
        called(city=Argument(("Basel", "Bern"))),
        called(city=Argument(("Basel",), optional=True)),
        called(city="", days=3),  # empty, and the default
        called(city="Bern", units="imperial"),  # a choice, not a quotation
        called(city=["Bern", {"of": "Bern"}]),
        called(city=True),
        called(city=None),
    ],
)
def test_values_that_are_said_or_chosen_are_none(milestone: Milestone) -> None:
    asked = task("t", "How is the weather in Bern?", milestone)

    assert list(ungrounded_values(asked, {WEATHER.id: WEATHER})) == []


def test_a_result_that_comes_before_grounds_a_value_and_an_unknown_one_may() -> None:
    first = replace(called(city="Bern"), result={"mayor": "Ana\nBlum"})
    second = replace(called(MAIL.id, city="Blum"), after=(0,))
    text = "Write to the mayor of Bern."

    def values(*milestones: Milestone) -> list[str]:
        return [f.evidence["argument"] for f in ungrounded_values(task("t", text, *milestones), {})]

    assert values(first, second) == []
    assert values(replace(first, result=None), second) == []
    assert values(replace(first, result={"mayor": "Urs"}), second) == ["city"]
    assert values(first, replace(second, after=())) == ["city"]  # parallel: it cannot know


def test_history_and_earlier_goals_ground_values() -> None:
    said = Step(0, "user", "assistant", "I live in Bern.")
    call = ToolCall("call_0", "now", {"city": "Basel"})
    history = (said, Step(1, "assistant", "tool", call=call))
    goals = (
        Goal("Weather here?", (Plan((replace(called(city="Bern"), result={"at": "Genf"}),)),)),
        Goal("And there?", (Plan((called(city="Genf"), called(city="Basel"))),)),
    )
    asked = Task("t", "b", goals, history=history)

    assert list(ungrounded_values(asked, {})) == []
    assert len(list(ungrounded_values(replace(asked, history=()), {}))) == 2


def test_goals_after_unrecorded_results_are_left_alone() -> None:
    goals = (
        Goal("Weather in Bern?", (Plan((called(city="Bern"),)),)),
        Goal("And there?", (Plan((called(city="Genf"),)),)),
    )

    assert list(ungrounded_values(Task("t", "b", goals), {})) == []


@every_case(
    ("value", "text"),
    [
        (1, "1.0 litres"),
        (2.5, "costs $2.50."),
        (1200, "1,200 people"),
        (0.05, "a rate of 5%"),
        (-3, "minus 3 degrees"),
        ("3.0", "for 3 days"),
        (12, "twelve of us"),
        ("2026-06-06", "on 6 June 2026"),
        ("2026-06-03", "June 3rd, please"),
        ("2026-06-06", "6/6/2026"),
        ("2026-12-24", "24.12.2026"),
        ("2026-06-06T10:00:00", "the 6th of June"),
        ("19:30", "at 7:30 p.m."),
        (23, "after 11 PM"),
        ("new_york", "in New York."),
        ("newYork", "NEW YORK"),
        ("北京", "我想去北京旅游"),
        ("", "anything"),
        ({"a": [1, "x"]}, "x and 1"),
    ],
)
def test_values_are_held_however_they_are_written(value, text: str) -> None:
    assert EarlierTexts([text]).holds(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "11 or 0.1"),
        (5, "v1.5"),
        ("York", "Yorkshire"),
        ("New York", "a new flat in York"),
        ("2026-06-06", "on 6 July 2026"),
        ("2026-13-41", "13 41"),
        ({"a": ["x", "z"]}, "x and y"),
        ("北京", "我想去上海"),
    ],
)
def test_values_that_are_not_said_are_not_held(value, text: str) -> None:
    assert not EarlierTexts([text]).holds(value)


@given(st.integers(0, 10**9), st.text("ab ,.!", max_size=8), st.text("ab ,.!", max_size=8))
def test_a_number_that_is_quoted_is_held(number: int, before: str, after: str) -> None:
    assert EarlierTexts([f"{before} {number} {after}"]).holds(number)
    assert EarlierTexts([f"{before} {number:,} {after}"]).holds(float(number))


@given(st.text(max_size=30), st.text(max_size=10), st.text(max_size=10))
@example("\xa2\U00013460", "", "")  # a letter that this version of Unicode may lack
def test_a_text_that_is_quoted_is_held(value: str, before: str, after: str) -> None:
    assert EarlierTexts([f"{before}\n{value}\n{after}"]).holds(value)


def test_repeated_texts_and_conflicting_labels_are_told(tmp_path: Path) -> None:
    tasks = [
        task("a", "What is the time?", relevant=(WEATHER.id,)),
        task("b", "what is the TIME", relevant=(WEATHER.id,)),
        task("c", "Who rang?", relevant=(WEATHER.id,)),
        task("d", "who rang?", relevant=(MAIL.id,)),
    ]

    report = found(tmp_path, tasks)

    repeated = [f.tasks for f in report.findings if f.kind == "repeated_query"]
    (conflict,) = [f for f in report.findings if f.kind == "conflicting_labels"]
    assert repeated == [("a", "b"), ("c", "d")]
    assert (conflict.tasks, conflict.tools) == (("c", "d"), (MAIL.id, WEATHER.id))


@pytest.mark.parametrize(
    ("description", "fault"),
    [
        ("", "empty_description"),
        (" - ", "empty_description"),
        ("TODO", "placeholder_description"),
        ("n/a", "placeholder_description"),
        ("Get quote by id.", "name_description"),
        ("quotes: getQuoteById", "name_description"),
        ("One quote.", "short_description"),
        ("Returns one quote of the collection.", None),
    ],
)
def test_descriptions_that_say_little_are_told_apart(description: str, fault: str | None) -> None:
    tool = Tool("b/quotes/x", "x", description, source={"tool": "quotes", "api": "getQuoteById"})

    assert description_fault(tool) == fault


def test_tools_of_one_name_and_description_are_a_group(tmp_path: Path) -> None:
    twin = Tool("b/cloud/now", "now", WEATHER.description.upper())

    report = found(tmp_path, [task("t", "?!", relevant=(twin.id,))], (WEATHER, twin, MAIL))

    (group,) = [f for f in report.findings if f.kind == "duplicate_tool"]
    assert group.tools == (WEATHER.id, twin.id)


def test_the_threshold_says_what_is_nearly_the_same(tmp_path: Path) -> None:
    other = replace(WEATHER, id="b/sky/later", description=WEATHER.description.replace("s", "z"))

    def kinds(threshold: float) -> set[str]:
        return set(found(tmp_path, (), (WEATHER, other), threshold=threshold).counts())

    assert kinds(80) == {"near_duplicate_tool"}
    assert kinds(100) == set()


@pytest.mark.parametrize("threshold", [0, -1, 100.5, float("nan")])
def test_a_threshold_beyond_its_range_is_refused(tmp_path: Path, threshold: float) -> None:
    with pytest.raises(UsageError, match="above 0 and up to 100"):
        found(tmp_path, threshold=threshold)


@given(st.lists(st.text("abc ", max_size=12), max_size=12), st.sampled_from([50.0, 80.0, 100.0]))
def test_pairs_are_exactly_those_above_the_threshold(texts: list[str], threshold: float) -> None:
    expected = {
        (i, j)
        for j, right in enumerate(texts)
        for i, left in enumerate(texts[:j])
        if fuzz.ratio(left, right) >= threshold
    }

    assert {(pair.left, pair.right) for pair in pairs(texts, threshold)} == expected


def test_a_family_of_equal_tools_gives_each_of_them_its_nearest_only() -> None:
    source = {"tool": "sky", "api": "now"}
    family = [replace(WEATHER, id=f"b/sky/now{n}", source=source) for n in range(40)]

    times = Counter(tool for f in near_duplicates(family) for tool in f.tools)

    assert max(times.values()) == NEAREST


def test_twins_among_hundreds_of_tools_are_found_however_far_apart_they_stand() -> None:
    drawn = random.Random(0)
    vocabulary = ["".join(drawn.choices("abcdefghijklmno", k=6)) for _ in range(3000)]
    texts = [" ".join(drawn.choices(vocabulary, k=drawn.randint(9, 40))) for _ in range(800)]
    assert list(near_duplicates([Tool(f"b/t/{n}", "x", t) for n, t in enumerate(texts)])) == []
    for left, right in ((0, 799), (300, 301), (255, 256)):
        texts[right] = texts[left] + "!"

    found = near_duplicates([Tool(f"b/t/{n}", "x", text) for n, text in enumerate(texts)])

    assert {finding.tools for finding in found} == {
        ("b/t/0", "b/t/799"),
        ("b/t/300", "b/t/301"),
        ("b/t/255", "b/t/256"),
    }


def test_the_sample_has_no_errors() -> None:
    report = lint(SAMPLE.folder)

    assert [f.message for f in report.findings if f.severity == "error"] == []
    assert set(report.counts()) <= {"ungrounded_value", "only_texts"}


def test_stabletoolbench_has_the_pitfalls_that_are_known(seal_data: Path, tmp_path: Path) -> None:
    import_benchmark("toolbench", seal_data / "stabletoolbench", tmp_path / "pool")

    report = lint(tmp_path / "pool")

    told = [str(f.evidence["description"]) for f in report.findings if "description" in f.kind]
    assert report.tools == 2474
    assert sum(not text.strip() for text in told) == 223
    assert sum(len(text.strip()) <= 15 for text in told) == 385
    assert not {f.kind for f in report.findings if f.severity == "error"}


def test_findings_come_in_the_order_of_the_kinds(tmp_path: Path) -> None:
    tasks = [task("t", "?", called(days=7)), task("u", "Hello you", relevant=("b/none",))]

    report = found(tmp_path, tasks, (WEATHER, Tool("b/c/d", "d")))

    kinds = [f.kind for f in report.findings]
    assert kinds == sorted(kinds, key=list(KINDS).index)
    assert report.to_json()["counts"] == report.counts() == dict(Counter(kinds))
    assert [f["kind"] for f in report.to_json()["findings"]] == kinds


def recorded(folder: Path, name: str, *answers: str) -> None:
    """Write what was answered to the task `count` in one trial after the other."""
    (folder / "recorded" / name).mkdir(parents=True)
    chats = (
        Trajectory(
            "count",
            trial,
            (
                Step(0, "user_simulator", "execution_manager", "How many?"),
                Step(1, "execution_manager", "user_simulator", answer, turn=1),
            ),
            stops=(Stop("done"),),
            answers=(answer,),
        )
        for trial, answer in enumerate(answers)
    )
    write_records(folder / "recorded" / name / "trajectories.jsonl", chats)


def test_recordings_whose_names_say_how_they_are_judged_are_judged(tmp_path):
    count = task("count", "How many?", answers=("42",))
    recorded(tmp_path, "right", "It is 42.", "It is 43.")
    recorded(tmp_path, "wrong", "It is 41.", "There are 42 of them.")
    recorded(tmp_path, "others", "It is 41.")

    wrongly = [f for f in found(tmp_path, [count]).findings if f.kind == "misjudged"]

    assert [(one.evidence["recording"], one.evidence["trial"]) for one in wrongly] == [
        ("right", 1),
        ("wrong", 1),
    ]
    assert wrongly[0].message.startswith("task 'count': right 1: not solved: the answer says '43'")
    assert wrongly[1].message == "task 'count': wrong 1: it solves the task"


def test_a_recording_that_cannot_be_read_is_a_finding(tmp_path):
    recorded(tmp_path, "right")
    (tmp_path / "recorded" / "right" / "trajectories.jsonl").write_text("{\n")

    (finding,) = found(tmp_path, [task("count", "How many?", answers=("42",))]).findings

    assert finding.kind == "malformed_line"
    assert "trajectories.jsonl, line 1" in finding.message


def test_goals_with_only_texts_to_tell_are_counted(tmp_path):
    tasks = [
        task("letter", "What did she write?", answers=("the slides are on the shared drive",)),
        task("mail", "What did he write?", answers=("my phone is broken, call me at work",)),
        task("count", "How many are there?", answers=("42",)),
    ]

    (finding,) = found(tmp_path, tasks).findings

    assert (finding.kind, finding.tasks) == ("only_texts", ("letter", "mail"))
    assert finding.message.startswith("2 goals have only texts to tell, whose words a rule cannot")

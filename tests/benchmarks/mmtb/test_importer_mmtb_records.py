"""MMTB's test records as tasks: every field, every irregularity, and what is left out."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import mmtb_sources as source
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmtb_sources import (
    CHAT,
    CLARIFY,
    MIXED,
    PARALLEL,
    SERIAL,
    SINGLE,
    answer,
    ask,
    function,
    node,
    record,
    write_records,
)

from seal.benchmarks.mmtb.dialogues import read_dialogue, read_nodes
from seal.core import DataError, Goal, Task
from seal.core.conditions import Argument, Asked, Called, Replied
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool


class Records:
    """A file of test records and the pool that it becomes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mmtb" / "records.jsonl"
        self.out = folder / "pool"

    def imported(self, *records: Any, **options: Any) -> ImportReport:
        write_records(self.path, *records)
        return import_benchmark("mmtb", self.path, self.out, **options)

    def task(self, one: Any, **options: Any) -> Task:
        self.imported(one, **options)
        (task,) = load_pool(self.out).tasks()
        return task

    def goal(self, mission: source.Given, **more: Any) -> Goal:
        return self.task(record(mission, **more)).goals[0]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path)


def test_a_mission_becomes_a_goal_with_its_partial_order(records: Records) -> None:
    goal = records.goal(MIXED)
    assert goal.text == MIXED[0]
    (plan,) = goal.plans or ()
    assert [m.after for m in plan.milestones] == [(), (), (0,), (0, 1, 2)]
    assert [m.result for m in plan.milestones] == [
        {"harbour": "Vigo"},
        {"knots": 12},
        {"height": 2},
        "That is all.",
    ]
    assert plan.milestones[1].condition == Called(
        "mmtb/getWind/getWind",
        {"at": Argument(("here",)), "unit": Argument(("metric",), optional=True)},
    )
    assert plan.milestones[3].condition == Replied()
    assert goal.relevant == tuple(f"mmtb/{n}/{n}" for n in ("getHarbour", "getWind", "getTide"))
    assert goal.labels == {"mission": 0, "type": "multi", "leaf": "mixed"}


def test_the_reference_makes_ready_calls_at_once_and_ends_with_the_golden_reply(
    records: Records,
) -> None:
    steps = records.goal(MIXED).reference
    calls = [(s.turn, s.call.name) for s in steps if s.call is not None]
    assert calls == [(0, "getHarbour"), (0, "getWind"), (2, "getTide")]
    results = {s.result.call_id: s.result.value for s in steps if s.result is not None}
    assert results == {
        "call_0": {"harbour": "Vigo"},
        "call_1": {"knots": 12},
        "call_2": {"height": 2},
    }
    assert (steps[-1].author, steps[-1].content) == ("execution_manager", "That is all.")


def test_a_question_is_asked_and_the_user_knows_the_answer(records: Records) -> None:
    task = records.task(record(SINGLE, CLARIFY))
    asked, called, _ = task.goals[1].plans[0].milestones  # type: ignore[index]
    assert (asked.condition, asked.result) == (Asked(), "In Brest.")
    assert called.after == (0,)
    assert task.persona == {"replies": [[], ["In Brest."]]}
    spoken = [(s.author, s.content) for s in task.goals[1].reference if s.content and not s.result]
    assert spoken == [
        ("execution_manager", "Where is it?"),
        ("user_simulator", "In Brest."),
        ("execution_manager", "That is all."),
    ]


def test_a_chat_mission_is_one_reply(records: Records) -> None:
    task = records.task(record(CHAT))
    (goal,) = task.goals
    assert [m.condition for m in goal.plans[0].milestones] == [Replied()]  # type: ignore[index]
    assert (goal.relevant, task.persona, goal.labels["type"]) == ((), None, "chat")
    assert [s.content for s in goal.reference] == ["Because of the moon."]


@pytest.mark.parametrize(
    ("mission", "leaf"),
    [(SINGLE, None), (PARALLEL, "parallel"), (SERIAL, "serial"), (MIXED, "mixed")],
)
def test_the_leaf_of_a_mission_comes_from_its_gold(
    records: Records, mission: source.Given, leaf: str | None
) -> None:
    assert records.goal(mission).labels.get("leaf") == leaf


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("单", "single"),
        ("多", "multi"),
        ("拒", "chat"),
        ("反", "clarify"),
        ("ST", "single"),
        ("CQ", "clarify"),
        ("chat", "chat"),
    ],
)
def test_types_are_told_in_any_of_upstreams_ways(records: Records, word: str, kind: str) -> None:
    assert records.goal((CHAT[0], word, CHAT[2])).labels["type"] == kind


def test_a_record_without_types_has_those_that_its_gold_implies(records: Records) -> None:
    given = record(SINGLE, CHAT, CLARIFY, PARALLEL)
    del given["type"]
    task = records.task(given)
    named = ["single", "chat", "clarify", "multi"]
    assert [goal.labels["type"] for goal in task.goals] == task.metadata["types"] == named


@pytest.mark.parametrize(
    ("turn_type", "subtypes", "relations"),
    [
        ([False, True, True], ["", "指代理解", "长期记忆"], [None, "implicit", "memory"]),
        (["假", "真", "真"], ["省略成分", "长期记忆"], [None, "ellipsis", "memory"]),
        ([False, "真", False], ["指代理解"], [None, "implicit", None]),
        ([False, "true", False], ["", "something new", ""], [None, "something new", None]),
        ([False, False, False], [], [None, None, None]),
        (None, None, [None, None, None]),
    ],
)
def test_relations_are_listed_a_mission_or_a_related_one(
    records: Records, turn_type: Any, subtypes: Any, relations: list[str | None]
) -> None:
    one = record(SINGLE, CHAT, PARALLEL, turn_type=turn_type, turn_subtypes=subtypes)
    found = [goal.labels.get("relation") for goal in records.task(one).goals]
    assert found == relations


def test_the_date_ends_before_the_weekday_and_stands_in_the_history(records: Records) -> None:
    (step,) = records.task(record()).history
    assert (step.author, step.content) == ("system", "Current date: 2024-03-05 14:22:00")


def test_missions_of_several_dates_are_told_them_one_by_one(records: Records) -> None:
    dates = ["2024-03-05 星期二", "2024-03-06 星期三"]
    task = records.task(record(SINGLE, CHAT, env_info=dates))
    assert task.history == ()
    assert [goal.labels["before"] for goal in task.goals] == [
        [["system", "Current date: 2024-03-05"]],
        [["system", "Current date: 2024-03-06"]],
    ]


def test_a_request_may_stand_after_other_messages(records: Records) -> None:
    said = [
        {"role": "user", "content": "用户：Hello"},
        {"role": "assistant", "content": "AI Agent助手: Hello!"},
        {"role": "user", "content": "User: How high is it in Brest?"},
        {"role": "assistant", "content": "Agent: That is all."},
    ]
    goal = records.task(record(SINGLE, english_messages=said, task_ids=[2])).goals[0]
    assert goal.text == "How high is it in Brest?"
    assert goal.labels["before"] == [["user_simulator", "Hello"], ["execution_manager", "Hello!"]]
    assert goal.reference[-1].content == "That is all."


def test_without_messages_the_nodes_words_count(records: Records) -> None:
    one = record(CLARIFY)
    del one["english_messages"], one["task_ids"], one["env_info"]
    asks = [s.content for s in records.task(one).goals[0].reference if s.author != "executor"]
    assert [text for text in asks if text] == ["Where is it?", "In Brest.", "That is all."]


def test_indices_need_not_be_positions_and_arguments_may_be_text(records: Records) -> None:
    first = node(7, "getTide")
    first["action"]["arguments"] = '{"at": "Brest"}'
    goal = records.goal(("Tide?", "单", [first, answer(9, 7, 7)]))
    called, replied = goal.plans[0].milestones  # type: ignore[index]
    assert called.condition == Called("mmtb/getTide/getTide", {"at": Argument(("Brest",))})
    assert replied.after == (0,)


def test_an_open_question_is_played_where_it_costs_no_step(records: Records) -> None:
    nodes = [
        ask(0),
        node(1, "getHarbour", (), {"harbour": "Vigo"}, at="here"),
        node(2, "getTide", (1,), at="Vigo"),
        node(3, "getWind", (0,), at="Brest"),
        answer(4, 2, 3),
    ]
    steps = records.goal(("Harbour, its tide, and a wind.", "反", nodes)).reference
    turns = [s.call.name if s.call else "words" for s in steps if s.result is None]
    assert turns == ["words", "words", "getHarbour", "getWind", "getTide", "words"]


def test_pseudo_tools_are_never_offered(records: Records) -> None:
    tools = [*source.TOOLS, function(source.ASK), function(source.ANSWER), function("getTide")]
    goal = records.goal(SINGLE, tools=tools)
    assert goal.offered == tuple(f"mmtb/{n}/{n}" for n in ("getTide", "getHarbour", "getWind"))


def test_tools_of_records_and_lists_are_one_pool(tmp_path: Path) -> None:
    folder = tmp_path / "mmtb"
    write_records(folder / "anything.json", record())
    write_records(
        folder / "tools" / "mmtb_tools_en.jsonl", [function("getTide"), function("getFog")]
    )
    report = import_benchmark("mmtb", folder, tmp_path / "pool")
    names = {tool.name for tool in load_pool(tmp_path / "pool").tools()}
    assert names == {"getTide", "getFog", "getHarbour", "getWind"}
    assert (report.tasks, "tasks" in report.lacks) == (1, False)


def test_the_language_chooses_the_half_of_a_record(records: Records) -> None:
    one = {**record(SINGLE), **record(CHAT, prefix="")}
    assert records.task(one, language="zh").goals[0].text == CHAT[0]
    assert records.task(one, language="zh").history[0].content.startswith("当前日期")
    assert records.task({**record(CHAT, prefix=""), **record(SINGLE)}).goals[0].text == SINGLE[0]


def test_an_array_of_records_is_read_too(records: Records) -> None:
    records.path.parent.mkdir(parents=True)
    records.path.write_text(json.dumps([record(), record(CHAT, id=2)]))
    report = import_benchmark("mmtb", records.path, records.out)
    assert [task.id for task in load_pool(records.out).tasks()] == ["d1", "2"]
    assert report.facts["missions"]["missions"] == 2


def test_what_was_read_is_counted(records: Records) -> None:
    facts = records.imported(record(SINGLE, CLARIFY, MIXED), record(CHAT, id="d2")).facts[
        "missions"
    ]
    assert (facts["dialogues"], facts["missions"], facts["nodes"]) == (2, 4, 10)
    assert facts["by_type"] == {"chat": 1, "clarify": 1, "multi": 1, "single": 1}
    assert (facts["by_leaf"], facts["by_relation"]) == ({"mixed": 1}, {"ellipsis": 2})


def broken(nodes: list[Any]) -> Any:
    return record(("Tide?", "单", nodes))


TIDE = node(0, "getTide", at="Brest")
BROKEN = {
    "malformed_record": broken([{**TIDE, "action": {"name": "getTide", "args": {}}}, answer(1, 0)]),
    "cyclic_dependencies": broken([node(0, "getTide", (1,)), node(1, "getWind", (0,)), answer(2)]),
    "dangling_dependency": broken([node(0, "getTide", (5,)), answer(1, 0)]),
    "duplicate_index": broken([node(0, "getTide"), node(0, "getWind"), answer(1, 0)]),
    "unknown_tool": broken([node(0, "getFog", at="Brest"), answer(1, 0)]),
    "empty_mission": record(("Tide?", "单", [])),
    "no_final_answer": broken([node(0, "getTide", at="Brest")]),
    "unaligned_lists": record(SINGLE, type=["单", "多"]),
    "messages_do_not_alternate": record(
        SINGLE,
        CHAT,
        english_messages=[
            {"role": "user", "content": "a"},
            "=====",
            {"role": "tool", "content": "b"},
        ],
    ),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_faulty_record_among_others_is_left_out_and_counted(
    records: Records, reason: str
) -> None:
    report = records.imported(record(), {**BROKEN[reason], "id": "bad"}, record(CHAT, id="d2"))
    assert (report.tasks, report.dropped) == (2, {reason: 1})
    assert report.malformed[0].startswith("records.jsonl, line 2: ")


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (BROKEN["cyclic_dependencies"], r"line 1: mission 0: answer_list: .*order has a cycle"),
        (
            BROKEN["unknown_tool"],
            "mission 0: the gold calls 'getFog'; the dialogue has: getHarbour",
        ),
        (BROKEN["duplicate_index"], "idx 0 stands twice"),
        (BROKEN["dangling_dependency"], r"depends on idx 5; there are \[0, 1\]"),
        (record(("  ", "单", SINGLE[2])), "the request is empty"),
        (record(english_task=[]), "a dialogue without a mission"),
        (record(type=["?"]), r"type: expected one of 单, .*, got '\?'"),
        (record(task_ids=[5]), "task_ids: expected a place among 2 messages, got 5"),
        (record(task_ids=[1]), "message 1 is not the user's"),
        (record(env_info=7), "env_info: expected a text or a list of texts"),
        (record(turn_type=[True], turn_subtypes=["a", "b"]), "turn_subtypes: expected 1 entry"),
        (record(id=None), "id: expected a text"),
        (record(prefix=""), "the field 'english_task' is missing"),
        (record(tools=[{"function": {"name": "x"}}]), "tools.0: the field 'parameters'"),
        (
            broken([{"action": {"name": "getTide", "arguments": "{"}}, answer(1)]),
            "arguments: not JSON",
        ),
        (broken([{"idx": 0}, answer(1)]), "the field 'action' is missing"),
    ],
)
def test_where_every_record_is_faulty_the_first_fault_is_told(
    records: Records, one: Any, told: str
) -> None:
    with pytest.raises(DataError, match=told):
        records.imported(one)
    assert not records.out.exists()


def test_a_repeated_record_is_one_task(records: Records) -> None:
    report = records.imported(record(), record(), record(CHAT))
    assert (report.tasks, report.dropped) == (2, {"duplicates": 1})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(record())), json_values)
def test_any_value_in_any_field_is_read_or_refused(name: str, value: Any) -> None:
    try:
        dialogue = read_dialogue({**record(SINGLE, CLARIFY), name: value}, "en")
    except DataError:
        return
    assert len(dialogue.missions) == 2 or name == "english_task"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 4), max_size=3), max_size=4))
def test_nodes_that_are_read_have_an_order(after: list[list[int]]) -> None:
    nodes = [node(n, "getTide", tuple(deps)) for n, deps in enumerate(after)]
    try:
        found = read_nodes([*nodes, answer(len(after))])
    except DataError:
        return
    assert all(set(one.after) <= set(range(len(found))) - {n} for n, one in enumerate(found))


def test_gold_arguments_outside_the_schema_are_told_and_kept(records: Records) -> None:
    given = record(deepcopy(SINGLE))
    given["english_answer_list"][0][0]["action"]["arguments"]["zzz"] = 1
    report = records.imported(given)
    assert report.tasks == 1
    assert report.to_json()["missions"]["gold_arguments_outside_schema"] == 1


@pytest.mark.parametrize("other", ["Another wording?", "half a pair \ud800"])
def test_a_request_worded_otherwise_among_the_messages_is_told(records: Records, other) -> None:
    given = record(SINGLE)
    given["english_task"][0] = other
    report = records.imported(given)
    assert report.to_json()["missions"]["requests_worded_otherwise"] == 1


def test_a_record_of_the_other_language_names_the_option(records: Records) -> None:
    given = record(SINGLE)
    mine = {key: value for key, value in given.items() if not key.startswith("english_")}
    twins = {
        key.removeprefix("english_"): value
        for key, value in given.items()
        if key.startswith("english_")
    }
    with pytest.raises(DataError, match=r"'english_task' is missing, .*--language zh"):
        records.imported({**mine, **twins})
    assert records.imported({**mine, **twins}, language="zh").tasks == 1

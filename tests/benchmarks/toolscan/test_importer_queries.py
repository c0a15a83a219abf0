"""Queries in ToolScan's input format: tasks, gold, and every way in which a file is irregular."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.benchmarks.toolscan.importer import concatenated
from seal.core import DataError, Plan, Task
from seal.core.conditions import Argument
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.lint import lint
from seal.pools.pool import load_pool

TIDES = [
    ("get_tide", [("harbour", "string", True, {}), ("day", "string", False, {})]),
    (
        "get_tide_table",
        [("harbour", "string", True, {}), ("unit", "string", False, {"enum": "mf"})],
    ),
]


def api(environment: str, toolset: str | None, name: str, parameters: Any = ()) -> dict[str, Any]:
    return {
        "pseudo": name == "finish",
        "environment": environment,
        "tool": toolset,
        "name": name,
        "description": "",
        "parameters": [
            {"name": own, "type": kind, "required": needed, "description": ""}
            | {key: list(value) for key, value in more.items()}
            for own, kind, needed, more in parameters
        ],
        "returns": None,
        "source": "lists/own.py",
    }


LISTS = [
    *(api("sea", "TIDES_API", name, parameters) for name, parameters in TIDES),
    api("sea", "FERRIES_API", "get_ferries", [("pier", "string", True, {})]),
    api("sea", "(flat)", "finish", [("answer", "string", True, {})]),
    api("seaside", "BEACHES_API", "get_beaches"),
    api(
        "weather",
        None,
        "get_wind",
        [("place", "string", True, {}), ("gusts", "boolean", False, {})],
    ),
    api("weather", "OTHER_API", "get_wind_for_other", [("place", "string", True, {})]),
]


def query(
    goal: str = "When is high water at Doon?", truth: Any = None, **info: Any
) -> dict[str, Any]:
    given = [{"get_tide": [{"harbour": "Doon"}]}] if truth is None else truth
    return {
        "goal": goal,
        "ground_truth": given,
        "additional_info": {"answer": "14:05", "goal_type": 0, "tool": "rapidapi", **info},
        "category": "Sea_TIDES_API",
    }


class Source:
    """Lists and queries in upstream's formats."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder / "toolscan", folder / "pool"
        (self.folder / "data").mkdir(parents=True)
        content = {"format": "toolscan-neutral/1", "source": "own", "tools": LISTS}
        (self.folder / "tools.json").write_text(json.dumps(content))

    def write(self, text: str | bytes) -> None:
        raw = text if isinstance(text, bytes) else text.encode()
        (self.folder / "data" / "test.jsonl").write_bytes(raw)

    def imported(self, *queries: Any) -> ImportReport:
        if queries:
            self.write("\n".join(json.dumps(one, indent=1) for one in queries))
        return import_benchmark("toolscan", self.folder, self.out)

    def tasks(self, *queries: Any) -> list[Task]:
        self.imported(*queries)
        return list(load_pool(self.out).tasks())

    def plans(self, truth: Any, **info: Any) -> tuple[Plan, ...] | None:
        return self.tasks(query(truth=truth, **info))[0].goals[0].plans


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def called(plan: Plan) -> list[tuple[str, dict[str, Argument]]]:
    return [(call.tool, dict(call.arguments or {})) for call in plan.calls()]


def test_a_query_becomes_a_task_with_a_plan_for_each_trajectory(source: Source) -> None:
    truth = [
        {"get_tide": [{"harbour": "Doon"}, {"harbour": "Mull"}]},
        {"get_tide_table": [{"harbour": "Doon"}], "get_tide": [{"harbour": "Mull"}]},
    ]
    (task,) = source.tasks(query(truth=truth, init_config={"current_date": "2026-05-02"}))
    (goal,) = task.goals
    doon, mull = {"harbour": Argument(("Doon",))}, {"harbour": Argument(("Mull",))}

    assert (goal.text, goal.answers) == ("When is high water at Doon?", ("14:05",))
    first, second = goal.plans or ()
    tide, table = "toolscan/TIDES_API/get_tide", "toolscan/TIDES_API/get_tide_table"
    assert called(first) == [(tide, doon), (tide, mull)]
    assert called(second) == [(table, doon), (tide, mull)]
    assert all(not milestone.after for milestone in first.milestones)
    assert goal.relevant == (tide,)
    assert task.tags == {
        "environment": "sea",
        "toolset": "TIDES_API",
        "irrelevance": "none",
        "alternative_plans": True,
        "multi_tool": False,
        "multi_step": True,
    }
    assert task.metadata == {"goal_type": 0, "init_config": {"current_date": "2026-05-02"}}


@pytest.mark.parametrize(
    ("tool", "category", "offered"),
    [
        ("rapidapi", "Sea_TIDES_API", ["get_tide", "get_tide_table"]),
        ("rapidapi", "sea", ["get_ferries", "get_tide", "get_tide_table"]),
        ("rapidapi", "Seaside_BEACHES_API", ["get_beaches"]),
        ("weather", "Weather", ["get_wind"]),
        ("rapidapi", "Weather_OTHER_API", ["get_wind_for_other"]),
    ],
)
def test_offered_is_what_tool_and_category_name(
    source: Source, tool: str, category: str, offered: list[str]
) -> None:
    record = query(truth=[{}], tool=tool) | {"category": category}
    (task,) = source.tasks(record)
    names = [str(own).rpartition("/")[2] for own in task.goals[0].offered or ()]
    assert sorted(names) == offered


def test_the_category_of_the_additional_info_comes_first(source: Source) -> None:
    (task,) = source.tasks(query(truth=[{}], category="Seaside"))
    assert task.tags["environment"] == "seaside"


@pytest.mark.parametrize(
    ("api", "own", "given"),
    [
        ("get_tide_table", {"harbour": "Doon", "unit": "optional"}, {"unit": "f"}),
        ("get_tide", {"harbour": "Doon", "day": "optional"}, {"day": "2026-05-02"}),
        ("get_tide", {"harbour": "Doon", "day": "optional"}, {}),
    ],
)
def test_optional_may_be_left_out_and_have_any_value(
    source: Source, api: str, own: dict[str, str], given: dict[str, str]
) -> None:
    (plan,) = source.plans([{api: [own]}]) or ()
    (call,) = plan.calls()
    assert call.canonical_arguments() == {"harbour": "Doon"}
    assert call.accepts({"harbour": "Doon", **given})
    assert not call.accepts({"harbour": "Elsewhere", **given})
    assert Argument(None, optional=True) in (call.arguments or {}).values()


def test_pseudo_actions_are_no_gold_calls_and_no_tools(source: Source) -> None:
    truth = [{"get_tide": [{"harbour": "Doon"}], "finish": [{"answer": "14:05"}]}]
    (plan,) = source.plans(truth) or ()
    assert [tool for tool, _ in called(plan)] == ["toolscan/TIDES_API/get_tide"]
    pool = load_pool(source.out)
    assert all(tool.name != "finish" for tool in pool.tools())
    assert pool.report["pseudo_actions"] == {"sea": ["finish"]}


def test_one_call_may_stand_without_its_list_and_one_trajectory_too(source: Source) -> None:
    (plan,) = source.plans({"get_tide": {"harbour": "Doon"}}) or ()
    assert len(plan.calls()) == 1


def test_equal_trajectories_are_one_plan(source: Source) -> None:
    one = {"get_tide": [{"harbour": "Doon"}]}
    assert len(source.plans([one, one]) or ()) == 1


def test_two_trajectories_of_one_tool_each_make_it_an_alternative(source: Source) -> None:
    truth = [{name: [{"harbour": "Doon"}]} for name, _ in TIDES]
    (task,) = source.tasks(query(truth=truth))
    assert task.goals[0].any_relevant
    assert len(task.goals[0].relevant) == 2


def test_a_trajectory_without_calls_says_to_abstain(source: Source) -> None:
    record = query(truth=[{}], irrelevance="foreign_parameter", seed="tide-1", reply="I can't.")
    (task,) = source.tasks(record)
    (goal,) = task.goals
    assert goal.plans == (Plan(),)
    assert goal.labels == {"action": "abstain", "irrelevance": "foreign_parameter"}
    assert (task.tags["irrelevance"], task.metadata["seed"]) == ("foreign_parameter", "tide-1")
    assert goal.reference[0].content == "I can't."


@pytest.mark.parametrize("truth", [[], {}, None, ""])
def test_a_query_without_ground_truth_is_kept_without_gold(source: Source, truth: Any) -> None:
    report = source.imported(query() | {"ground_truth": truth})
    assert report.dropped == {"without_ground_truth": 1}
    (task,) = load_pool(source.out).tasks()
    assert task.goals[0].plans is None
    assert "multi_step" not in task.tags


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"get_moon": [{}]}, "trajectory_with_unknown_api"),
        ({"get_ferries": [{"pier": "North"}]}, "trajectory_with_unknown_api"),
        ({"get_tide": ["Doon"]}, "malformed_trajectory"),
        ({"get_tide": 7}, "malformed_trajectory"),
        ("get_tide", "malformed_trajectory"),
    ],
)
def test_an_unusable_trajectory_is_left_out_and_counted(
    source: Source, wrong: Any, reason: str
) -> None:
    report = source.imported(query(truth=[wrong, {"get_tide": [{"harbour": "Doon"}]}]))
    assert report.dropped == {reason: 1}
    (task,) = load_pool(source.out).tasks()
    assert len(task.goals[0].plans or ()) == 1


def test_gold_that_its_own_schema_refuses_is_kept_and_linted(source: Source) -> None:
    source.imported(query(truth=[{"get_tide": [{"harbour": 7}]}, {"get_tide": [{}]}]))
    assert lint(source.out).counts()["invalid_call"] == 2


@pytest.mark.parametrize(
    ("broken", "reason", "told"),
    [
        (7, "malformed_record", "expected an object"),
        ({"goal": "Hi"}, "malformed_record", "'additional_info' is missing"),
        (query(goal=" "), "malformed_record", "goal: expected a text with words"),
        (query(truth=[{}], irrelevance="odd"), "malformed_record", "irrelevance: expected one of"),
        (query(reply=7), "malformed_record", "reply: expected a text"),
        (query(tool="mixed"), "unknown_environment", "no list of the environment 'mixed'"),
        (query() | {"category": "Sea_MOON_API"}, "unknown_environment", "'Sea_MOON_API'"),
        (query() | {"category": ""}, "unknown_environment", "no list of the environment ''"),
        (query(tool=7), "malformed_record", "tool and category: expected texts"),
    ],
)
def test_an_unusable_query_is_left_out_and_told(
    source: Source, broken: Any, reason: str, told: str
) -> None:
    report = source.imported(query(), broken)
    assert (report.tasks, report.dropped) == (1, {reason: 1})
    assert told in report.malformed[0]
    assert "test.jsonl, record 1 (line" in report.malformed[0]


@pytest.mark.parametrize(
    ("between", "counted"),
    [
        (" ", {}),
        ("", {}),
        (" ,\n", {"malformed_record": 1}),
        ('{"goal": "torn", "ground_truth": [', {"malformed_record": 1}),
        (
            '{"goal": "torn", "additional_info": {"category": "x"}, "ground_truth": [}',
            {"malformed_record": 1},
        ),
        ('{"category": "Sea", "goal": ', {"malformed_record": 1}),
        ("{{{ not JSON }}}", {"malformed_record": 1}),
        ("[" * 3000, {"malformed_record": 1}),
    ],
)
def test_what_is_no_json_between_objects_is_counted_once_and_nothing_else_is_lost(
    source: Source, between: str, counted: dict[str, int]
) -> None:
    first, second = json.dumps(query()), json.dumps(query("And at Mull?"))
    source.write(f"{first}{between}{second}")
    report = source.imported()
    assert (report.tasks, report.dropped) == (2, counted)


def test_a_torn_end_is_counted(source: Source) -> None:
    source.write(json.dumps(query()) + json.dumps(query())[:-40])
    report = source.imported()
    assert (report.tasks, report.dropped) == (1, {"malformed_record": 1})


def test_names_that_stand_twice_in_an_object_keep_both_lists(source: Source) -> None:
    text = json.dumps(query(truth=[{"get_tide": [{"harbour": "Doon"}], "OTHER": []}]))
    source.write(text.replace('"OTHER": []', '"get_tide": [{"harbour": "Mull"}]'))
    (task,) = source.tasks()
    assert len((task.goals[0].plans or ())[0].calls()) == 2


def test_an_array_of_queries_is_read_too(source: Source) -> None:
    source.write(json.dumps([query(), query("And at Mull?")]))
    assert [task.id for task in source.tasks()] == ["0", "1"]


def test_a_byte_order_mark_and_nan_are_read_leniently(source: Source) -> None:
    source.write(b"\xef\xbb\xbf" + json.dumps(query(answer=float("nan"))).encode())
    (task,) = source.tasks()
    assert task.goals[0].answers == ()


def test_a_query_that_stands_twice_counts_once_where_its_id_is_the_same(source: Source) -> None:
    report = source.imported(query(id="a"), query(id="a"), query(), query(goal="Other?", id="a"))
    assert (report.tasks, report.dropped) == (3, {"duplicates": 1})
    assert report.facts["counts"]["repeated_texts"] == 1


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        (None, ()),
        ("", ()),
        (12, ("12",)),
        (["14:05", "02:40"], ("14:05", "02:40")),
        ({"high": "14:05", "low": None, "spring": True}, ("14:05",)),
    ],
)
def test_every_text_and_number_of_the_answer_is_to_be_stated(
    source: Source, answer: Any, stated: tuple[str, ...]
) -> None:
    (task,) = source.tasks(query(answer=answer))
    assert task.goals[0].answers == stated


def test_a_file_that_is_no_text_ends_the_import(source: Source) -> None:
    source.write(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not UTF-8"):
        source.imported()


def test_a_file_without_any_usable_query_ends_the_import(source: Source) -> None:
    source.write("nothing here")
    with pytest.raises(DataError, match="no JSON object"):
        source.imported()


RECORDS = st.lists(
    st.builds(
        lambda goal, more: {"goal": goal, **more},
        st.text(max_size=5),
        st.dictionaries(st.sampled_from("ab"), st.integers(0, 9) | st.text(max_size=3), max_size=2),
    ),
    max_size=5,
)


@given(RECORDS, st.lists(st.sampled_from(["", " ", "\n", " \n\n"]), min_size=6, max_size=6))
def test_concatenated_objects_come_back_whatever_blanks_part_them(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], blanks: list[str]
) -> None:
    path = tmp_path_factory.mktemp("concatenated") / "test.jsonl"
    parts = (json.dumps(one) + blanks[place] for place, one in enumerate(records))
    path.write_text(blanks[-1] + "".join(parts))
    torn: list[DataError] = []

    assert [value for _, value in concatenated(path, torn.append)] == records
    assert not torn


@given(st.text(st.sampled_from('{}[]",: goal1'), max_size=60))
def test_any_rubbish_is_passed_over_and_the_next_record_is_found(
    tmp_path_factory: pytest.TempPathFactory, rubbish: str
) -> None:
    path = tmp_path_factory.mktemp("rubbish") / "test.jsonl"
    path.write_text("! " + rubbish.replace('"', "'") + json.dumps(query()))

    *_, last = (value for _, value in concatenated(path, lambda fault: None))
    assert last == query()

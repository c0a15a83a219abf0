"""A pool as the four tables of the SEAL paper."""

import seal
from seal.api.benchmarks import tables


def look(place: str, unit: str = "m") -> str:
    """Look somewhere."""
    return "seen"


PLACES = seal.Argument(("attic", "loft"))
UNIT = seal.Argument(("m",), optional=True)
TASKS = [
    seal.ask(
        "Look in the attic, then anywhere.",
        seal.called("look", place=PLACES, unit=UNIT),
        seal.called("look", place="hall"),
        seal.called("look", seal.ANY),
        in_order=True,
        answer="seen",
        tags={"kind": "two"},
    ),
    seal.ask("What now?"),
]
HOUSE = seal.Benchmark("house", tools=[look], tasks=TASKS)


def test_four_frames_hold_queries_tools_and_what_joins_them() -> None:
    found = tables(HOUSE)

    assert found.queries[["task_id", "query", "answers"]].values.tolist() == [
        ["house-001", "Look in the attic, then anywhere.", '["seen"]'],
        ["house-002", "What now?", "[]"],
    ]
    assert list(found.queries["tag_kind"].fillna("")) == ["two", ""]
    assert found.tools[["tool", "name"]].values.tolist() == [["house/look", "look"]]
    assert found.query_tools.values.tolist() == [["house-001", 0, "house/look", 1]]


def test_calls_have_right_arguments_and_those_without_are_no_calls() -> None:
    calls = tables(HOUSE).query_calls

    assert calls[["step", "arguments", "after"]].values.tolist() == [
        [0, '{"place":"attic"}', "[]"],
        [1, '{"place":"hall"}', "[0]"],
    ]


def test_tables_without_a_row_have_their_columns() -> None:
    bare = tables(seal.Benchmark("bare", tools=[{"name": "go"}], tasks=[seal.ask("Go.")]))

    assert list(bare.query_calls) == [
        "task_id",
        "goal",
        "plan",
        "step",
        "tool",
        "arguments",
        "after",
    ]
    assert len(bare.query_tools) == 0
    assert repr(bare).splitlines()[0] == "tables of bare"

"""Created functions are scored by the recorded calls whose rows they bring."""

from __future__ import annotations

import sys

import pytest

from seal.benchmarks.dialogtool.api_code import oracle_written, rule_written
from seal.benchmarks.dialogtool.metrics import Creation
from seal.core import Goal, Score, Step, Stop, Task, Tool, Trajectory
from seal.sandbox.function_cases import Case, Outcome
from seal.sandbox.monty import MontySandbox

TOOL = Tool(
    "dialogtool/Food_1/Find",
    "Food_1_Find",
    "Find food",
    {"type": "object", "properties": {"city": {}, "seats": {}}, "required": ["city"]},
    returns={"type": "array", "items": {"type": "object", "properties": {"city": {}}}},
    source={"api": "Find"},
)
TABLE = [{"city": "Oakland", "name": "A"}, {"city": "Oakland", "name": "B"}, {"city": "Fresno"}]
CASES = [
    [{"city": "Oakland"}, [0, 1]],
    [{"city": "Oakland", "seats": 2}, [1, 0]],
    [{"city": "Fresno"}, [2]],
    [{"city": "Fresno", "seats": 3}, []],
    [{"city": "Oakland", "seats": 7}, [0]],
]
RIGHT = (
    "```python\ndef find(table, city, seats=None):\n"
    "    return [r for r in table if r['city'] == city]\n```"
)
SKIPPED = [
    "def find(table, city, seats=None):",
    "    if seats: return sorted(table, key=__import__('operator').itemgetter('city'))",
    "    return [r for r in table if r['city'] == city]",
]


def task(**metadata: object) -> Task:
    goal = Goal("Write it.", labels={"task": "creation", "tool": TOOL.id}, offered=(TOOL.id,))
    known = {"table": TABLE, "cases": CASES, "example": 0}
    return Task(
        "dialogtool/create/Food_1/Find", "dialogtool", (goal,), metadata={**known, **metadata}
    )


def chat(*texts: str, author: str = "creator", stop: Stop | None = None) -> Trajectory:
    steps = tuple(Step(n, author, "user_simulator", text) for n, text in enumerate(texts))
    answers = (texts[-1],) if texts else (None,)
    return Trajectory(task().id, 0, steps, stops=(stop or Stop("done"),), answers=answers)


def scored(
    played: Trajectory, metric: Creation | None = None, tested: Task | None = None
) -> dict[str, Score]:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    metric = metric or Creation("monty-only")
    return {s.metric: s for s in metric.score(tested or task(), played, {TOOL.id: TOOL})}


def test_passed_cases_are_counted_without_the_worked_example() -> None:
    found = scored(chat(RIGHT))

    assert (found["creation"].value, found["creation"].weight) == (0.5, 4.0)
    assert found["creation"].details["statuses"] == {"pass": 2, "wrong": 2}
    assert found["creation"].details["fences"] == 1


def test_the_first_failing_cases_tell_what_was_expected() -> None:
    failing = scored(chat(RIGHT))["creation"].details["failing"]

    assert failing[0] == {
        "arguments": {"city": "Fresno", "seats": 3},
        "status": "wrong",
        "message": "",
        "expected": "[]",
        "received": "[{'city': 'Fresno'}]",
    }


def test_what_no_filter_derives_is_left_out_relative_to_the_oracle() -> None:
    found = scored(chat(RIGHT))["creation_relative"]

    assert found.details == {"oracle_passed": 2, "oracle_cases": 4}
    assert (found.value, found.weight) == (1.0, 2.0)


def test_what_the_sandbox_lacks_is_failed_as_published_and_left_out_exactly() -> None:
    found = scored(chat("\n".join(SKIPPED)))

    assert found["creation"].details["statuses"] == {"pass": 1, "unsupported": 3}
    assert (found["creation"].value, found["creation"].weight) == (0.25, 4.0)
    assert (found["creation_exact"].value, found["creation_exact"].weight) == (1.0, 1.0)


def test_a_function_that_the_sandbox_cannot_run_at_all_has_no_exact_share() -> None:
    found = scored(chat("def find(table, **given):\n    yield table"))

    assert found["creation"].value == 0.0
    assert found["creation_exact"].value is None


def test_the_last_thing_that_the_creator_wrote_counts() -> None:
    assert scored(chat("def find(table): pass", RIGHT))["creation"].value == 0.5


def test_without_a_creator_the_answer_counts() -> None:
    assert scored(chat(RIGHT, author="execution_manager"))["creation"].value == 0.5


@pytest.mark.parametrize("text", ["", "I cannot write this."])
def test_no_function_is_a_model_that_failed(text: str) -> None:
    found = scored(chat(text))

    assert found["creation"].value == 0.0
    assert found["creation_relative"].value == 0.0


def test_scores_are_the_same_every_time_and_say_where_the_code_ran() -> None:
    first, second = scored(chat(RIGHT)), scored(chat(RIGHT))

    assert first == second
    assert first["creation"].details["sandbox"] == MontySandbox().identity()
    assert first["creation"].details["ran_in"] == {"monty": 4}


def test_the_oracle_passes_what_it_says_and_the_rules_no_more() -> None:
    cases = [(dict(arguments), rows) for arguments, rows in CASES[1:]]
    from seal.benchmarks.dialogtool.api_code import ApiCase

    recorded = [ApiCase(*case) for case in cases]
    assert scored(chat(oracle_written(TOOL, TABLE, recorded)))["creation_relative"].value == 1.0
    assert scored(chat(rule_written(TOOL)))["creation_relative"].value == 1.0


def test_a_goal_of_another_task_has_no_score() -> None:
    other = Task("t", "b", (Goal("Hello"),))

    assert Creation().score(other, Trajectory("t", 0, ()), {}) == []


def test_a_failed_chat_is_no_score() -> None:
    found = scored(chat(RIGHT, stop=Stop("error", "no server")))

    assert {score.value for score in found.values()} == {None}
    assert "no server" in found["creation"].reason


def test_a_missing_sandbox_is_an_error_and_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    found = {s.metric: s for s in Creation().score(task(), chat(RIGHT), {TOOL.id: TOOL})}

    assert {score.value for score in found.values()} == {None}
    assert found["creation"].reason.startswith("infrastructure")
    assert 'pip install "seal-api-llms[dialogue]"' in found["creation"].reason


@pytest.mark.parametrize(
    "metadata",
    [
        {"table": None},
        {"cases": [[{"city": "A"}, [9]]]},
        {"cases": [["city"]]},
        {"cases": [{"arguments": {}}]},
    ],
)
def test_a_task_without_test_cases_is_an_error(metadata: dict[str, object]) -> None:
    found = scored(chat(RIGHT), tested=task(**metadata, example=None))

    assert found["creation"].value is None
    assert "import the pool again" in found["creation"].reason


def test_another_sandbox_can_be_given() -> None:
    class Generous:
        def run(
            self, source: str, function: str, table: object, cases: list[Case]
        ) -> list[Outcome]:
            return [Outcome("pass") for _ in cases]

        def identity(self) -> dict[str, object]:
            return {"name": "generous"}

    assert scored(chat(RIGHT), Creation(Generous()))["creation"].value == 1.0  # type: ignore[arg-type]

"""Whether a function that a model wrote for an API does what the API did.

A test case is a recorded call and the rows that it brought; the worked example that the model was
shown does not count. The function runs in a sandbox over the table of all rows that the API ever
brought (`seal.benchmarks.dialogtool.api_code` says how it is called). The rows that it returns
are compared as a multiset. For every goal whose label `task` is `creation`:

- creation: passed cases / all. As published; what the sandbox lacks a construct for is failed.
- creation_exact: passed cases / those that the sandbox could run.
- creation_relative: passed cases / those that the oracle's function passes, the best of a family
  of filters (`seal.benchmarks.dialogtool.api_code`). Some answers follow from no filter of the
  table, so the oracle passes fewer than all. A function that passes more than the oracle has more
  than 1.0.

All are in [0, 1] but the last. Their weights are the denominators. A sandbox that cannot be used
is an error of the infrastructure, never a score.

Source: DialogTool, tool creation; spec of statuses in `seal.sandbox.function_cases`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from seal.benchmarks.dialogtool.api_code import (
    ApiCase,
    Fitted,
    code_of,
    fit,
    function_name,
    keywords,
)
from seal.benchmarks.dialogtool.tool_life import CREATOR, is_creation
from seal.core import JSON, DataError, SealError, Task, Tool, shortened
from seal.evaluation.goals import INFRASTRUCTURE, GoalChat, GoalMetric, Value, undefined
from seal.sandbox import build_sandbox
from seal.sandbox.function_cases import Case, Outcome, Sandbox

NAMES = ("creation", "creation_exact", "creation_relative")

_SHOWN = 3
"""Failing cases in a score's details."""


@dataclass(frozen=True, slots=True)
class Suite:
    """What a created function is tested by."""

    table: Sequence[dict[str, JSON]]
    cases: Sequence[ApiCase]
    """Without the worked example."""


@dataclass(frozen=True, slots=True)
class Creation(GoalMetric):
    """The three shares of the module's text; goals of other tasks have no score.

    Args:
        sandbox: Name of the sandbox (`seal.sandbox.NAMES`), or one that is made already.
    """

    sandbox: str | Sandbox = "monty"
    names = NAMES
    _fitted: dict[str, Fitted] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By task: the oracle's function follows from the task alone."""

    def applies(self, goal: GoalChat) -> bool:
        """Tell whether a function is to be written."""
        return is_creation(goal.goal)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the shares of the cases that the function passes."""
        task, tools, text = goal.task, goal.tools, written(goal)
        try:
            wanted = goal.goal.labels.get("tool")
            if not isinstance(wanted, str) or wanted not in tools:
                named = f"the tool to create, {shortened(wanted)}"
                raise DataError(f"{task.id}: {named}, is not in the pool")
            tool, suite = tools[wanted], suite_of(task)
            sandbox = build_sandbox(self.sandbox) if isinstance(self.sandbox, str) else self.sandbox
            outcomes = play(sandbox, tool, text, suite)
            identity = sandbox.identity()
        except SealError as error:
            return dict.fromkeys(NAMES, undefined(f"{INFRASTRUCTURE}: {error}"))
        if task.id not in self._fitted:
            self._fitted[task.id] = fit(tool, suite.table, suite.cases)
        details = _details(outcomes, suite, code_of(text).fences, identity)
        return _values(outcomes, self._fitted[task.id], details)


def written(goal: GoalChat) -> str:
    """Return the text in which a function was written: the creator's last, else the answer."""
    said = [step.content for step in goal.steps if step.author == CREATOR]
    return said[-1] if said else goal.answer or ""


def suite_of(task: Task) -> Suite:
    """Return the test cases of a creation task.

    Raises:
        DataError: Its metadata are not of the form {table, cases, example}.
    """
    table, cases = task.metadata.get("table"), task.metadata.get("cases")
    try:
        recorded = [
            ApiCase(dict(case[0]), [range(len(table))[place] for place in case[1]])  # type: ignore[arg-type]
            for number, case in enumerate(cases)  # type: ignore[arg-type]
            if number != task.metadata.get("example")
        ]
        return Suite([dict(row) for row in table], recorded)  # type: ignore[union-attr]
    except (TypeError, ValueError, LookupError) as error:
        raise DataError(
            f"{task.id}: metadata: expected table (rows) and cases ([arguments, [places of "
            f"rows]]), got {shortened(task.metadata)}: {error}; import the pool again"
        ) from error


def play(sandbox: Sandbox, tool: Tool, text: str, suite: Suite) -> list[Outcome]:
    """Return what becomes of each test case of the function in a model's text."""
    cases = [
        Case(keywords(case.arguments), [suite.table[place] for place in case.rows])
        for case in suite.cases
    ]
    return sandbox.run(code_of(text).source, function_name(tool), suite.table, cases)


def _values(
    outcomes: Sequence[Outcome], oracle: Fitted, details: dict[str, JSON]
) -> dict[str, Value]:
    counts = Counter(outcome.status for outcome in outcomes)
    passed, every = counts["pass"], len(outcomes)
    able = every - counts["unsupported"]
    relative: dict[str, JSON] = {"oracle_passed": oracle.passed, "oracle_cases": oracle.cases}
    return {
        "creation": _share(passed, every, "the task has no test case", details),
        "creation_exact": _share(passed, able, "the sandbox could run no test case"),
        "creation_relative": _share(passed, oracle.passed, "the oracle passes none", relative),
    }


def _share(passed: int, of: int, none: str, details: dict[str, JSON] | None = None) -> Value:
    if not of:
        return Value(None, 0.0, none, details or {})
    return Value(passed / of, float(of), details=details or {})


def _details(
    outcomes: Sequence[Outcome], suite: Suite, fences: int, identity: dict[str, JSON]
) -> dict[str, JSON]:
    failing = [
        {
            "arguments": dict(case.arguments),
            "status": outcome.status,
            "message": outcome.message,
            "expected": shortened([suite.table[place] for place in case.rows]),
            "received": shortened(outcome.received),
        }
        for case, outcome in zip(suite.cases, outcomes, strict=True)
        if outcome.status != "pass"
    ]
    return {
        "cases": len(outcomes),
        "statuses": dict(sorted(Counter(outcome.status for outcome in outcomes).items())),
        "failing": failing[:_SHOWN],
        "fences": fences,
        "ran_in": dict(sorted(Counter(outcome.sandbox for outcome in outcomes).items())),
        "sandbox": identity,
    }

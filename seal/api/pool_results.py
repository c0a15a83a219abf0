"""`Findings` and `PoolTables`: what is said of pools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seal.api.result import Shown
from seal.core import Goal, Task
from seal.core.conditions import Called
from seal.evaluation.rankings import grade_of, qrels_of
from seal.pools.lint import LintReport
from seal.pools.lint_findings import KINDS
from seal.pools.pool import StoredPool
from seal.report.frames import framed, json_cell
from seal.report.grids import Grid, counts_of
from seal.report.table_forms import Glance

if TYPE_CHECKING:
    from pandas import DataFrame


# -- What `seal.lint` returns.

_COLUMNS = ("finding", "severity", "count", "what it is; examples")


@dataclass(frozen=True, repr=False)
class Findings(Shown, LintReport):
    """What is wrong or doubtful in a pool."""

    pool: str = ""
    """Its name or folder."""

    def _glance(self) -> Glance:
        return Glance(_grid(self, _title(self.pool, self), 0))

    def _tables(self) -> Iterator[Any]:
        return lint_tables(self.pool, self)


def lint_tables(pool: str, report: LintReport, examples: int = 2) -> Iterator[Any]:
    """Yield what the command line prints of a report.

    Args:
        pool: Its name or folder.
        report: What lint found.
        examples: Findings of each kind that are shown.
    """
    yield _title(pool, report)
    if report.findings:
        yield _grid(report, "", max(examples, 0))


def _grid(report: LintReport, title: str, examples: int) -> Grid:
    rows = []
    for kind, count in report.counts().items():
        severity, about = KINDS[kind]
        shown = [f.message for f in report.findings if f.kind == kind][:examples]
        rows.append((kind, severity, f"{count:5}", "\n- ".join([about, *shown])))
    return Grid(title, _COLUMNS, rows, names=len(_COLUMNS))


def _title(pool: str, report: LintReport) -> str:
    found = counts_of(tool=report.tools, task=report.tasks, finding=len(report.findings))
    return f"{pool}: {found}"


# -- A pool as pandas frames: the four tables of the SEAL paper (4.1).

Row = dict[str, Any]
_KEY = ("task_id", "goal")


@dataclass(frozen=True, repr=False)
class PoolTables(Shown):
    """A pool as four frames, which `task_id` with `goal` (from 0), and `tool` (an id), join.

    They need the extra `experiments`; JSON stands in cells as text.
    """

    pool: StoredPool

    @cached_property
    def queries(self) -> DataFrame:
        """A row for each goal: query (its text), benchmark, split, answers, tag_NAME by tag."""
        rows = [
            {
                **_place(task, number),
                "query": goal.text,
                "benchmark": task.benchmark,
                "split": task.split,
                "answers": json_cell(goal.answers),
                **{f"tag_{name}": value for name, value in task.tags.items()},
            }
            for task, number, goal in self._goals()
        ]
        named = dict.fromkeys(name for row in rows for name in row)
        return framed(rows, [*named] or [*_KEY, "query", "benchmark", "split", "answers"])

    @cached_property
    def tools(self) -> DataFrame:
        """A row for each tool: tool, name, category, description, parameters, returns."""
        rows = [
            {
                "tool": tool.id,
                "name": tool.name,
                "category": tool.category,
                "description": tool.description,
                "parameters": json_cell(tool.parameters),
                "returns": None if tool.returns is None else json_cell(tool.returns),
            }
            for tool in self.pool.tools()
        ]
        return framed(rows, ("tool", "name", "category", "description", "parameters", "returns"))

    @cached_property
    def query_tools(self) -> DataFrame:
        """A row for each relevant tool of a goal: tool, grade (1 where upstream has none)."""
        rows = [
            {"task_id": task, "goal": goal, "tool": tool, "grade": grade_of(relevant, tool)}
            for (task, goal), relevant in qrels_of(self.pool.every_task()).items()
            for tool in relevant
        ]
        return framed(rows, (*_KEY, "tool", "grade"))

    @cached_property
    def query_calls(self) -> DataFrame:
        """A row for each gold call whose arguments are known; AnyTool and MetaTool have none.

        plan (from 0, alternatives), step (its position), tool, arguments (the first right value of
        each), after (positions of the steps before it).
        """
        rows = [
            {
                **_place(task, number),
                "plan": position,
                "step": step,
                "tool": call.tool,
                "arguments": json_cell(call.canonical_arguments()),
                "after": json_cell(milestone.after),
            }
            for task, number, goal in self._goals()
            for position, plan in enumerate(goal.plans or ())
            for step, milestone in enumerate(plan.milestones)
            if isinstance(call := milestone.condition, Called) and call.arguments is not None
        ]
        return framed(rows, (*_KEY, "plan", "step", "tool", "arguments", "after"))

    def _goals(self) -> Iterator[tuple[Task, int, Goal]]:
        return (
            (task, number, goal)
            for task in self.pool.every_task()
            for number, goal in enumerate(task.goals)
        )

    def _glance(self) -> Glance:
        names = ("queries", "tools", "query_tools", "query_calls")
        rows = [(name, f"{len(getattr(self, name)):,}") for name in names]
        return Glance(Grid(f"tables of {self.pool.name}", ("frame", "rows"), rows), ())


def _place(task: Task, goal: int) -> Row:
    return {"task_id": task.id, "goal": goal}

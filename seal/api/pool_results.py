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

    from seal.pools.mutants import MutantReport


# -- What `seal.lint` returns.

_COLUMNS = ("finding", "severity", "count", "what it is; examples")


@dataclass(frozen=True, repr=False)
class Findings(Shown, LintReport):
    """What is wrong or doubtful in a pool."""

    pool: str = ""
    """Its name or folder."""
    mutants: MutantReport | None = None
    """How variants of gold are judged; None: that was not asked for."""

    def to_json(self) -> dict[str, Any]:
        """Return the report with every finding, and with the variants of gold."""
        return {**LintReport.to_json(self), **_mutants_json(self.mutants)}

    def _glance(self) -> Glance:
        told = [] if self.mutants is None else [_shares(self.mutants), *_left_out(self.mutants)]
        return Glance(_grid(self, _title(self.pool, self), 0), told)

    def _tables(self) -> Iterator[Any]:
        return lint_tables(self.pool, self, mutants=self.mutants)


def _mutants_json(report: MutantReport | None) -> dict[str, Any]:
    return {} if report is None else {"mutants": report.to_json()}


def lint_tables(
    pool: str, report: LintReport, examples: int = 2, mutants: MutantReport | None = None
) -> Iterator[Any]:
    """Yield what the command line prints of a report.

    Args:
        pool: Its name or folder.
        report: What lint found.
        examples: Findings of each kind that are shown.
        mutants: How variants of gold are judged; each that is not judged as it should be is shown.
    """
    yield _title(pool, report)
    if report.findings:
        yield _grid(report, "", max(examples, 0))
    if mutants is not None:
        yield from _mutant_tables(mutants)


_SHOWN = 200
"""Survivors that are shown; `--json` has all."""


def _mutant_tables(report: MutantReport) -> Iterator[Any]:
    from seal.pools.variants import RIGHT

    rows = []
    for kind, counts in report.counts.items():
        wanted = "solved" if kind in RIGHT else "failed"
        decided = counts["solved"] + counts["failed"]
        share = f"{counts[wanted] / decided:.1%}" if decided else "-"
        cells = (f"{counts[one]}" for one in ("solved", "failed", "undecided"))
        rows.append(("right" if kind in RIGHT else "wrong", kind, *cells, share))
    heads = ("", "variants of gold", "solved", "failed", "undecided", "as they should be")
    yield Grid("", heads, rows, names=2)
    yield _shares(report)
    if report.survivors:
        told = [
            (one.task, one.kind, one.altered, f"{one.verdict}: {one.reason}")
            for one in report.survivors[:_SHOWN]
        ]
        yield Grid("", ("task", "kind", "what was altered", "verdict"), told, names=4)
    if len(report.survivors) > _SHOWN:
        yield f"{len(report.survivors) - _SHOWN} more are in --json"
    yield from _left_out(report)


def _left_out(report: MutantReport) -> Iterator[str]:
    for why, ids in report.left_out.items():
        yield f"left out: {', '.join(ids[:5])}{' and others' if len(ids) > 5 else ''}: {why}"


def _shares(report: MutantReport) -> str:
    """Return the shares in words."""
    told = []
    for right, verdict, words in (
        (False, "failed", "of the decided wrong ones are killed"),
        (False, "undecided", "of the wrong ones are undecided"),
        (True, "solved", "of the decided right ones are kept"),
        (True, "undecided", "of the right ones are undecided"),
    ):
        share = report.share(right, verdict)
        told += [] if share is None else [f"{share:.1%} {words}"]
    return f"gold of {counts_of(task=report.tasks)}: {', '.join(told)}"


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

"""The tables of ToolSandbox, of a run or of a pool.

- Table 1: what the benchmark asks for.
- Tables 2 and 3: errors of the user, by its prompt and by agent.
- Table 4: turns, calls, scenarios and tools.
- Tables 5 and 11: similarity and turns, by category and augmentation.
- Table 6: scenarios by category.
- Tables 7 and 8: milestones by column and by tool.

Source: Lu et al., ToolSandbox (2024). Figures are those of version 2 (arXiv 2408.04682v2), as a
public reading note has them with their pages. Each mean of Table 5 is that of its STC, MTC and II
by their numbers of scenarios.
"""

from __future__ import annotations

from collections.abc import Callable

from seal.benchmarks.toolsandbox.statistics import ScenarioStatistics, scenario_statistics
from seal.evaluation.user_audit import HALLUCINATION, INSTRUCTION
from seal.pools import StoredPool
from seal.pools.paper_data import PublishedTable, shipped_rows
from seal.report.applies import AUGMENTATION, CATEGORY_GROUPS
from seal.report.breakdown import AUGMENTATIONS
from seal.report.lanes import Lane
from seal.report.paper import Figures
from seal.report.user_errors import user_rows

_AUGMENTED = {row.partition(",")[0]: AUGMENTATION + value for value, row in AUGMENTATIONS.items()}
_GROUPS = {row.partition(",")[0]: group for group, row in CATEGORY_GROUPS.items()} | _AUGMENTED
"""The paper's short heading of a category or augmentation to its group in summary.json."""
_ROWS = shipped_rows(__package__)


def _asked_for(pool: StoredPool) -> Figures:
    """Return of how many scenarios in a hundred each column of Table 1 holds."""
    tasks = list(pool.tasks())
    has = {
        "state dependency": [task.tags.get("state_dependency") is True for task in tasks],
        "conversational": [task.persona is not None or len(task.goals) > 1 for task in tasks],
        "interactive": [bool(task.world) for task in tasks],
    }
    return {"": {head: 100 * sum(found) / len(tasks) for head, found in has.items() if tasks}}


def _size(lane: Lane) -> Figures:
    found = scenario_statistics(lane.run.tasks(), lane.run.trajectories())
    sizes = {"scenarios": found.scenarios, "tools": len(lane.run.tools())}
    return {"": {"turns": found.turns, "tool calls": found.calls, **sizes}}


def _users(lane: Lane) -> Figures:
    return {
        row.brief or "not known": {
            "hallucination": _per_cent(row.hallucination.mean),
            "instruction following": _per_cent(row.instruction.mean),
            "conversations": row.conversations,
        }
        for row in user_rows([lane])
    }


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _of_pool(figures: Callable[[ScenarioStatistics], Figures]) -> Callable[[StoredPool], Figures]:
    return lambda pool: figures(scenario_statistics(pool.tasks()))


def _by_category(found: ScenarioStatistics) -> Figures:
    counts = {f"{tag}=true": count for tag, count in found.categories.items()}
    counts |= {AUGMENTATION + value: count for value, count in found.augmentations.items()}
    return {"scenarios": {heading: counts.get(group, 0) for heading, group in _GROUPS.items()}}


def _milestones(number: int, by: str, counts: str) -> PublishedTable:
    """Return the table of milestones by column or tool; `counts` is the field that has them."""

    def figures(found: ScenarioStatistics) -> Figures:
        """Return counts of bases, and of all scenarios where these are as many of each base."""
        times, rest = divmod(found.scenarios, found.bases) if found.bases else (0, 1)
        return {
            name: {"of bases": count, "of all scenarios": None if rest else times * count}
            for name, count in getattr(found, counts).items()
        }

    return PublishedTable(
        f"Milestones by {by}; the paper counts all scenarios",
        f"ToolSandbox, Table {number}",
        figures=_of_pool(figures),
        of="pool",
    )


_ASKED = {"": "seal run toolsandbox, with tasks of every category"}
TABLES = (
    PublishedTable(
        "What the benchmark asks for, % of scenarios; the paper says yes or no",
        "ToolSandbox, Table 1",
        digits=1,
        figures=_asked_for,
        of="pool",
        needs={"state dependency": "scenarios with categories: seal import toolsandbox"},
    ),
    PublishedTable(
        "Errors of the user by what it was told, % of conversations",
        "ToolSandbox, Table 2, page 4",
        _ROWS["table-2"],
        scale=100.0,
        figures=_users,
        needs={
            "": "a simulated user, told more and more: seal run toolsandbox --user-brief goal, "
            "goal+boundary, goal+boundary+demonstration"
        },
    ),
    PublishedTable(
        "Errors of the user by agent, % of conversations",
        "ToolSandbox, Table 3",
        columns={"hallucination": HALLUCINATION, "instruction following": INSTRUCTION},
        scale=100.0,
        needs={
            "": "a simulated user: seal run toolsandbox --user-brief goal+boundary+demonstration"
        },
    ),
    PublishedTable(
        "Turns and calls of a conversation, scenarios and tools",
        "ToolSandbox, Table 4, page 5; turns and calls of ToolSandbox are those of GPT-4o",
        _ROWS["table-4"],
        figures=_size,
        needs=_ASKED,
    ),
    PublishedTable(
        "Similarity by category and tool augmentation, %",
        "ToolSandbox, Table 5, page 7",
        _ROWS["table-5"],
        lacks="the columns of tool augmentations",
        columns={"all": "similarity", **{h: f"similarity|{g}" for h, g in _GROUPS.items()}},
        scale=100.0,
        needs={
            **dict.fromkeys(
                _AUGMENTED,
                "scenarios in all augmentations: seal import toolsandbox, or seal augment POOL "
                "--augment toolsandbox --out DIR",
            ),
            **_ASKED,
        },
    ),
    PublishedTable(
        "Scenarios by category and tool augmentation",
        "ToolSandbox, Table 6",
        _ROWS["table-6"],
        figures=_of_pool(_by_category),
        of="pool",
    ),
    _milestones(7, "column", "columns"),
    _milestones(8, "tool", "called"),
    PublishedTable(
        "Turns by category and tool augmentation",
        "ToolSandbox, Table 11, page 24",
        _ROWS["table-11"],
        lacks="categories and augmentations, and the other models",
        digits=1,
        columns={"all": "turn_count", **{h: f"turn_count|{g}" for h, g in _GROUPS.items()}},
        needs=_ASKED,
    ),
)

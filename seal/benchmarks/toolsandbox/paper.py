"""The tables of ToolSandbox, of a run or of a pool.

Source: Lu et al., ToolSandbox (2024): Tables 2 and 3 (errors of the user), 5 and 11 (similarity and
turns by category and augmentation), 6 (scenarios by category), 7 and 8 (milestones by column and by
tool). Figures of its models are not at hand.
"""

from __future__ import annotations

from collections.abc import Callable

from seal.benchmarks.toolsandbox.statistics import ScenarioStatistics, scenario_statistics
from seal.pools import StoredPool
from seal.pools.published import PublishedTable
from seal.report.applies import AUGMENTATION, CATEGORY_GROUPS
from seal.report.breakdown import AUGMENTATIONS
from seal.report.lanes import Lane
from seal.report.paper import Figures
from seal.report.users import user_rows

_AUGMENTED = {row.partition(",")[0]: AUGMENTATION + value for value, row in AUGMENTATIONS.items()}
_GROUPS = {row.partition(",")[0]: group for group, row in CATEGORY_GROUPS.items()} | _AUGMENTED
"""The paper's short heading of a category or augmentation to its group in summary.json."""
_SCENARIOS = {
    **{"STC": 152, "MTC": 656, "SUT": 584, "MUT": 224, "SD": 192, "C": 472, "II": 224},
    **dict.fromkeys(_AUGMENTED, 129),
}


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


def _milestones(counts: dict[str, int]) -> Figures:
    return {name: {"milestones": count} for name, count in counts.items()}


def _means(found: ScenarioStatistics) -> Figures:
    means = {"tools offered": found.tools, "calls of the gold": found.gold_calls}
    return {"": {"scenarios": found.scenarios, "bases": found.bases, **means}}


_ASKED = {"": "seal run toolsandbox, with tasks of every category"}
TABLES = (
    PublishedTable(
        "Scenarios in means",
        "ToolSandbox, statistics",
        name="statistics",
        figures=_of_pool(_means),
        of="pool",
    ),
    PublishedTable(
        "Errors of the user by what it was told, % of conversations",
        "ToolSandbox, Tables 2 and 3",
        scale=100.0,
        name="table-2",
        figures=_users,
        needs={
            "": "a simulated user, told more and more: seal run toolsandbox --user-brief goal, "
            "goal+boundary, goal+boundary+demonstration"
        },
    ),
    PublishedTable(
        "Similarity by category and tool augmentation, %",
        "ToolSandbox, Table 5",
        columns={"all": "similarity", **{h: f"similarity|{g}" for h, g in _GROUPS.items()}},
        scale=100.0,
        name="table-5",
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
        {"scenarios": _SCENARIOS},
        name="table-6",
        figures=_of_pool(_by_category),
        of="pool",
    ),
    PublishedTable(
        "Milestones of bases by column",
        "ToolSandbox, Table 7",
        name="table-7",
        figures=_of_pool(lambda found: _milestones(found.columns)),
        of="pool",
    ),
    PublishedTable(
        "Milestones of bases by tool",
        "ToolSandbox, Table 8",
        name="table-8",
        figures=_of_pool(lambda found: _milestones(found.called)),
        of="pool",
    ),
    PublishedTable(
        "Turns by category and tool augmentation",
        "ToolSandbox, Table 11",
        digits=1,
        columns={"all": "turn_count", **{h: f"turn_count|{g}" for h, g in _GROUPS.items()}},
        name="table-11",
        needs=_ASKED,
    ),
)

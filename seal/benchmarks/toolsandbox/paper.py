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

_CATEGORIES = ("STC", "MTC", "SUT", "MUT", "SD", "C", "II")
_SIMILARITY = {
    "GPT-4o-2024-05-13": (73.0, 87.8, 80.1, 84.2, 74.7, 84.0, 76.6, 42.0),
    "Claude-3-Opus-20240229": (69.2, 83.5, 70.0, 74.5, 67.2, 74.5, 71.1, 57.3),
    "GPT-3.5-Turbo-0125": (65.6, 93.4, 73.9, 81.8, 66.6, 82.6, 70.4, 22.3),
    "GPT-4-0125-Preview": (64.3, 89.1, 69.0, 74.4, 68.6, 69.2, 65.2, 33.6),
    "Claude-3-Sonnet-20240229": (63.8, 82.1, 66.2, 69.1, 69.7, 84.5, 65.5, 44.2),
    "Gemini-1.5-Pro-001": (60.4, 82.6, 49.8, 63.1, 37.3, 70.5, 51.6, 76.2),
    "Claude-3-Haiku-20240307": (54.9, 80.9, 54.2, 64.3, 46.0, 69.5, 54.4, 39.4),
    "Gemini-1.0-Pro": (38.1, 68.7, 21.6, 36.5, 14.6, 39.3, 18.2, 65.5),
    "Hermes-2-Pro-Mistral-7B": (31.4, 63.3, 18.3, 29.9, 18.6, 27.1, 19.9, 48.3),
    "Mistral-7B-Instruct-v0.3": (29.8, 48.1, 9.5, 20.1, 7.9, 19.5, 6.1, 76.8),
    "C4AI-Command-R-v01": (26.2, 52.6, 12.7, 23.0, 12.7, 3.1, 18.0, 47.8),
    "Gorilla-Openfunctions-v2": (25.6, 36.2, 8.2, 15.1, 9.3, 0.0, 8.9, 69.2),
    "C4AI-Command-R+": (24.7, 57.2, 13.6, 24.3, 15.2, 4.0, 19.4, 35.3),
}
"""Model to Table 5: the mean, then the categories in their order."""
_SIZES = {
    "ToolSandbox": (13.9, 3.80, 1032, 34),
    "BFCL": (2.00, 0.78, 2000, 1193),
    "ToolEval": (7.53, 1.46, 1625, 3917),
    "API-Bank": (3.88, 2.04, 261, 73),
    "ToolTalk": (7.42, 3.68, 78, 28),
    "tau-bench": (29.33, 4.48, 165, 24),
}
"""Benchmark to Table 4: turns, tool calls, scenarios, tools."""
_USER_ERRORS = {
    "goal": {"hallucination": 12.4, "instruction following": 6.20},
    "goal+boundary": {"hallucination": 7.75, "instruction following": 3.88},
    "goal+boundary+demonstration": {"hallucination": 6.97, "instruction following": 0.77},
}
_TURNS = {
    "GPT-4o-2024-05-13": 12.2,
    "Claude-3-Opus-20240229": 11.6,
    "Gorilla-Openfunctions-v2": 24.2,
    "C4AI-Command-R-v01": 29.7,
    "C4AI-Command-R+": 30.0,
}


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
        name=f"table-{number}",
        figures=_of_pool(figures),
        of="pool",
    )


_ASKED = {"": "seal run toolsandbox, with tasks of every category"}
TABLES = (
    PublishedTable(
        "What the benchmark asks for, % of scenarios; the paper says yes or no",
        "ToolSandbox, Table 1",
        digits=1,
        name="table-1",
        figures=_asked_for,
        of="pool",
        needs={"state dependency": "scenarios with categories: seal import toolsandbox"},
    ),
    PublishedTable(
        "Errors of the user by what it was told, % of conversations",
        "ToolSandbox, Table 2, page 4",
        _USER_ERRORS,
        scale=100.0,
        name="table-2",
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
        name="table-3",
        needs={
            "": "a simulated user: seal run toolsandbox --user-brief goal+boundary+demonstration"
        },
    ),
    PublishedTable(
        "Turns and calls of a conversation, scenarios and tools",
        "ToolSandbox, Table 4, page 5; turns and calls of ToolSandbox are those of GPT-4o",
        {
            name: dict(zip(("turns", "tool calls", "scenarios", "tools"), sizes, strict=True))
            for name, sizes in _SIZES.items()
        },
        name="table-4",
        figures=_size,
        needs=_ASKED,
    ),
    PublishedTable(
        "Similarity by category and tool augmentation, %",
        "ToolSandbox, Table 5, page 7",
        {
            model: dict(zip(("all", *_CATEGORIES), figures, strict=True))
            for model, figures in _SIMILARITY.items()
        },
        lacks="the columns of tool augmentations",
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
    _milestones(7, "column", "columns"),
    _milestones(8, "tool", "called"),
    PublishedTable(
        "Turns by category and tool augmentation",
        "ToolSandbox, Table 11, page 24",
        {model: {"all": turns} for model, turns in _TURNS.items()},
        lacks="categories and augmentations, and the other models",
        digits=1,
        columns={"all": "turn_count", **{h: f"turn_count|{g}" for h, g in _GROUPS.items()}},
        name="table-11",
        needs=_ASKED,
    ),
)

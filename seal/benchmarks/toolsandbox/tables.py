"""Counts of scenarios and of what milestones ask, and the paper's figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from seal.core import Task, Trajectory
from seal.core.conditions import AGENT, MESSAGE, Condition, party
from seal.core.state_conditions import AllOf, DependsOn, StateHas
from seal.evaluation.plans import turn_count
from seal.evaluation.scoring import HALLUCINATION, INSTRUCTION
from seal.pools.augmentation import TAG, UNCHANGED
from seal.pools.declarations import PublishedTable, shipped_rows
from seal.pools.pool import StoredPool, is_scrambled
from seal.report.judge_sections import user_rows
from seal.report.lanes import Lane
from seal.report.paper import Figures
from seal.report.sections import AUGMENTATION, AUGMENTATIONS, CATEGORY_GROUPS

# -- What scenarios are made of: categories, calls, turns, and milestones by what they ask.
#
# Source: ToolSandbox (Lu et al., 2024), Table 6 (scenarios by category), Tables 7 and 8 (milestones
# by column and by tool). Each scenario stands in several augmentations; milestones are counted
# once, in the scenarios without distraction tools.


@dataclass(frozen=True, slots=True)
class ScenarioStatistics:
    """Counts over the scenarios of a pool."""

    scenarios: int
    categories: Counter[str]
    """Tag that is true or false of a scenario to how many it is true of."""
    augmentations: Counter[str]
    columns: Counter[str]
    """`table.column` to the milestones of bases that ask something of it, most first."""
    called: Counter[str]
    """Tool to the milestones of bases that ask for a call of it, alternatives as one each."""

    @property
    def bases(self) -> int:
        """Scenarios whose tools are not augmented."""
        return self.augmentations[UNCHANGED]


def scenario_statistics(tasks: Iterable[Task]) -> ScenarioStatistics:
    """Return the statistics of scenarios."""
    categories, augmentations = Counter[str](), Counter[str]()
    columns, called = Counter[str](), Counter[str]()
    for task in tasks:
        augmentation = task.tags.get(TAG, UNCHANGED)
        augmentations[augmentation] += 1
        categories.update({tag: v for tag, v in task.tags.items() if isinstance(v, bool)})
        plans = [goal.plans[0] for goal in task.goals if goal.plans]
        for node in (node for plan in plans for node in plan.milestones):
            if augmentation == UNCHANGED:
                asked = [(part, row) for part in _asked(node.condition) for row in part.rows]
                columns.update({f"{_table(part)}.{name}": 1 for part, row in asked for name in row})
                for part in _asked(node.condition):
                    calls = (call for row in part.rows for call in row.get("calls") or ())
                    called.update({str(call["tool"]): 1 for call in calls})
    return ScenarioStatistics(
        augmentations.total(), categories, augmentations, *map(_sorted, (columns, called))
    )


def _sorted(counts: Counter[str]) -> Counter[str]:
    return Counter(dict(counts.most_common()))


def _asked(condition: Condition) -> Iterator[StateHas | DependsOn]:
    """Yield the conditions within that ask for something, guardrails left out."""
    if isinstance(condition, AllOf):
        for part in condition.conditions:
            yield from _asked(part)
    elif isinstance(condition, StateHas | DependsOn):
        yield condition


def _table(part: StateHas | DependsOn) -> str:
    return part.table if isinstance(part, StateHas) else MESSAGE


def mean_of_chats(chats: Iterable[Trajectory]) -> dict[str, float | None]:
    """Return the mean numbers of turns (`plans.turn_count`) and of the agent's calls of chats."""
    turns, calls = [], []
    for chat in chats:
        said = [step for step in chat.steps if party(step.author) != party(step.recipient)]
        turns.append(turn_count(said))
        # The user's call, which ends the chat, is none.
        calls.append(sum(party(call.author) == AGENT for call, _ in chat.calls()))
    return {
        name: fmean(counts) if counts else None
        for name, counts in (("turns", turns), ("tool calls", calls))
    }


# -- The tables of ToolSandbox, of a run or of a pool.
#
# - Table 1: what the benchmark asks for.
# - Tables 2 and 3: errors of the user, by its prompt and by agent, which people marked.
# - Table 4: turns, calls, scenarios and tools.
# - Tables 5 and 11: similarity and turns, by category and augmentation.
# - Table 6: scenarios by category.
# - Tables 7 and 8: milestones by column and by tool, of all scenarios.
# - Tables 9 and 10: what a prompt for thoughts was worth, and what the models can do.
#
# Source: Lu et al., ToolSandbox (2024), version 2 (arXiv 2408.04682v2). Each mean of Table 5 is
# that of its STC, MTC and II by their numbers of scenarios.

_AUGMENTED = {row.partition(",")[0]: AUGMENTATION + value for value, row in AUGMENTATIONS.items()}
_GROUPS = {row.partition(",")[0]: group for group, row in CATEGORY_GROUPS.items()} | _AUGMENTED
"""The paper's short heading of a category or augmentation to its group in summary.json."""
_CATEGORIES = {
    "single_tool": "SINGLE_TOOL_CALL",
    "multiple_tool": "MULTIPLE_TOOL_CALL",
    "single_turn": "SINGLE_USER_TURN",
    "multiple_turn": "MULTIPLE_USER_TURN",
    "state_dependency": "STATE_DEPENDENCY",
    "canonicalization": "CANONICALIZATION",
    "insufficient_information": "INSUFFICIENT_INFORMATION",
}
"""Tag to the paper's row of Table 6."""
_DATABASES = {
    "contacts": "CONTACT",
    "messages": "MESSAGING",
    "reminders": "REMINDER",
    "settings": "SETTING",
}
"""Table of the phone to the paper's database of Table 7."""
_BRIEFS = {
    "goal": "User Goal",
    "goal+boundary": "+ Knowledge Boundary",
    "goal+boundary+demonstration": "+ Demonstration",
}
"""What a user is told to the paper's row of Table 2."""
_OWN = "ToolSandbox"
_MILESTONES = "Associated Milestone Count"
_ROWS = shipped_rows(__package__)


def _asked_for(pool: StoredPool) -> Figures:
    """Return of how many scenarios in a hundred each column of Table 1 holds."""
    tasks = list(pool.tasks())
    has = {
        "State Dependency": [task.tags.get("state_dependency") is True for task in tasks],
        "Conversational": [task.persona is not None or len(task.goals) > 1 for task in tasks],
        "Interactive": [bool(task.world) for task in tasks],
    }
    return {"": {head: 100 * sum(found) / len(tasks) for head, found in has.items() if tasks}}


def _size(lane: Lane) -> Figures:
    """Return Table 4: of a conversation's tools the scrambled copies are no others."""
    tasks = list(lane.run.tasks())
    own = sum(not is_scrambled(tool) for tool in lane.run.tools().values())
    users = any(task.persona is not None for task in tasks)  # the user's alone ends a conversation
    means = mean_of_chats(lane.run.trajectories())
    return {
        "": {
            "Avg Turns": means["turns"],
            "Avg Tool calls": means["tool calls"],
            "Test cases": len(tasks),
            "Tools": own + users,
        }
    }


def _users(lane: Lane) -> Figures:
    return {
        _BRIEFS.get(row.brief, row.brief) or "not known": {
            "Hallucination": _per_cent(row.hallucination.mean),
            "IF": _per_cent(row.instruction.mean),
            "conversations": row.conversations,
        }
        for row in user_rows([lane])
    }


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _of_pool(figures: Callable[[ScenarioStatistics], Figures]) -> Callable[[StoredPool], Figures]:
    return lambda pool: figures(scenario_statistics(pool.tasks()))


def _by_category(found: ScenarioStatistics) -> Figures:
    return {row: {"Test Scenario Count": found.categories[tag]} for tag, row in _CATEGORIES.items()}


def _by_column(found: ScenarioStatistics) -> Figures:
    """Return Table 7, whose columns are of the phone; the messages of a chat are in none."""
    named = {}
    for name, count in found.columns.items():
        table, _, column = name.partition(".")
        if table != MESSAGE:
            named[f"{_DATABASES.get(table, table)}.{column}"] = count
    return _milestones(found, named)


def _by_tool(found: ScenarioStatistics) -> Figures:
    return _milestones(found, {tool.rpartition("/")[2]: n for tool, n in found.called.items()})


def _milestones(found: ScenarioStatistics, counts: Mapping[str, int]) -> Figures:
    """Return counts of bases, and of all scenarios where these are as many of each base."""
    times, rest = divmod(found.scenarios, found.bases) if found.bases else (0, 1)
    return {
        name: {_MILESTONES: None if rest else times * count, "of bases": count}
        for name, count in counts.items()
    }


def _with_thoughts(lane: Lane) -> Figures:
    """Return the mean similarity of a run under the prompt that it had."""
    roles = (lane.run.manifest().get("system") or {}).get("roles") or {}
    thinks = str(roles.get("execution_manager")) == "react"
    mean = _per_cent(lane.estimate("similarity").mean)
    return {"": {"ReAct Score" if thinks else "Baseline Score": mean}}


_ASKED = {"": "seal run toolsandbox, with tasks of every category"}
_AUDITED = {"": "people"}
TABLES = (
    PublishedTable(
        "What the benchmark asks for; of ours, % of scenarios",
        "ToolSandbox, Table 1",
        _ROWS["table-1"],
        digits=1,
        figures=_asked_for,
        of="pool",
        needs={
            "State Dependency": "scenarios with categories: seal import toolsandbox",
            "Human Authored Ground Truth": "nothing: no file of a pool tells who wrote it",
        },
    ),
    PublishedTable(
        "Errors of the user by what it was told, % of conversations",
        "ToolSandbox, Table 2, page 4",
        _ROWS["table-2"],
        scale=100.0,
        figures=_users,
        judged=_AUDITED,
        needs={
            "": "a simulated user, told more and more: seal run toolsandbox --user-brief goal, "
            "goal+boundary, goal+boundary+demonstration"
        },
    ),
    PublishedTable(
        "Errors of the user by agent, % of conversations",
        "ToolSandbox, Table 3",
        _ROWS["table-3"],
        columns={"Hallucination": HALLUCINATION, "IF": INSTRUCTION},
        scale=100.0,
        judged=_AUDITED,
        needs={
            "": "a simulated user: seal run toolsandbox --user-brief goal+boundary+demonstration",
            "Total Error": "nothing: our audit counts no conversation with either error",
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
        columns={"Avg Score": "similarity", **{h: f"similarity|{g}" for h, g in _GROUPS.items()}},
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
        "Scenarios by category",
        "ToolSandbox, Table 6",
        _ROWS["table-6"],
        figures=_of_pool(_by_category),
        of="pool",
    ),
    PublishedTable(
        "Milestones by column; the paper counts all scenarios",
        "ToolSandbox, Table 7",
        _ROWS["table-7"],
        figures=_of_pool(_by_column),
        of="pool",
    ),
    PublishedTable(
        "Milestones by tool; the paper counts all scenarios",
        "ToolSandbox, Table 8",
        _ROWS["table-8"],
        figures=_of_pool(_by_tool),
        of="pool",
    ),
    PublishedTable(
        "Similarity without and with a prompt for thoughts, %",
        "ToolSandbox, Table 9",
        _ROWS["table-9"],
        scale=100.0,
        figures=_with_thoughts,
        needs={
            "Baseline Score": "seal run toolsandbox",
            "ReAct Score": "seal run toolsandbox --role execution_manager=react",
        },
    ),
    PublishedTable(
        "What models can do",
        "ToolSandbox, Table 10",
        _ROWS["table-10"],
        needs={"": "nothing: what a model can do is not measured"},
    ),
    PublishedTable(
        "Turns by category and tool augmentation",
        "ToolSandbox, Table 11, page 24",
        _ROWS["table-11"],
        digits=1,
        columns={
            "Avg Turn Count": "turn_count",
            **{h: f"turn_count|{g}" for h, g in _GROUPS.items()},
        },
        needs=_ASKED,
    ),
)

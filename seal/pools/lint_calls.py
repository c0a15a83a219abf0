"""Lint of what calls do: rules of a policy that they break, and changes that no tool tells."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from seal.core import JSON, Step, Task, Tool, ToolCall
from seal.core.conditions import AGENT, EXECUTOR
from seal.core.state_conditions import EndsAs
from seal.core.text import counted, words
from seal.environments.chat_world import World
from seal.environments.policy import Rule, breaches, breaches_at
from seal.environments.world import Worlds
from seal.pools.benchmark import FUNCTION
from seal.pools.gold_scripts import play, scripts_of
from seal.pools.lint_findings import Finding

# -- Rules that gold breaks.


def forbidden(task: Task, world: Worlds) -> Iterator[tuple[int, str]]:
    """Yield each rule of a policy that gold breaks, as the goal and what broke it.

    Gold is played with the words of its reference, in which the user allows what is done. Where a
    goal has no such reference, nothing is known.

    Args:
        task: With its gold.
        world: Whose policy it is.

    Raises:
        InfrastructureError: A rule failed, or what a tool asks outside of the world.
    """
    told = all(any(step.call for step in goal.reference) for goal in task.goals)
    if not told or not any(map(callable, world.policy)):
        return
    scripts = [next(iter(scripts_of(goal)), ()) for goal in task.goals]
    for one in breaches(world.policy, task, play(task, scripts, world).chat):
        yield int(str(one["goal"])), f"{one['tool']} breaks the rule {one['rule']}: {one['why']}"


# -- Rules that no call breaks: calls are tried in worlds, until each rule is broken.
#
# A rule that no call breaks checks nothing, such as one that names a tool or a state which there
# is not. From the states along the gold of tasks calls are made, one after the other: those of gold
# with another argument, and any other. Arguments are cells of the world, values of gold, usual
# numbers, and those that the policy names. Nobody says a word meanwhile, so that rules of consent
# are broken at once. What is found depends on the tasks alone.

MOST_CALLS = 8_000
"""Calls that are tried, at most, of one kind of world."""
LONGEST = 6
"""Calls from one state of gold on."""
_NUMBERS = (1, 2, 5, 50, 1_000, 10_000)
_NAMED = re.compile(r"\d[\d,]*")
_USUAL = frozenset({"id", "to", "from", "of", "new"})
"""Words of names that do not tell what an argument is."""
_TRIED = 25
"""Values of one argument that are drawn from."""


def unbroken(worlds: Worlds, tasks: Sequence[Task], broken: Collection[Rule] = ()) -> list[Rule]:
    """Return the checks of a policy that no tried call breaks.

    Args:
        worlds: The kind of world.
        tasks: That are played there; from the states along their gold calls are tried.
        broken: Checks that are known to be broken, of which none is asked.

    Raises:
        InfrastructureError: A rule failed.
    """
    left = [rule for rule in worlds.policy if not isinstance(rule, str) and rule not in broken]
    drawn = random.Random(worlds.name)
    calls = MOST_CALLS
    starts = [(task, depth) for task in tasks for depth in range(len(gold_of(task)) + 1)]
    drawn.shuffle(starts)
    while starts:
        for task, depth in starts:
            walk = _Walk(worlds, task, drawn)
            calls -= depth
            for call in gold_of(task)[:depth]:
                walk.make(call)
            for _ in range(LONGEST):
                if not left or calls <= 0:
                    return left
                calls -= 1
                found = walk.make(walk.any_call(), left)
                left = [rule for rule in left if rule not in found]
    return left


def gold_of(task: Task) -> list[ToolCall]:
    """Return the gold calls of a task, as they are written."""
    made: list[ToolCall] = []
    for goal in task.goals:
        told = [step.call for step in goal.reference if step.call is not None]
        if not told:
            nodes = (node for plan in goal.plans or () for node in plan.milestones)
            ends = (p for node in nodes for p in node.condition.parts() if isinstance(p, EndsAs))
            asked = next((end.gold_calls() for end in ends), ())
            told = [ToolCall("", "", gold.canonical_arguments(), tool=gold.tool) for gold in asked]
        made += told
    return made


@dataclass
class _Walk:
    """Calls made one after the other in a fresh world of a task."""

    worlds: Worlds
    task: Task
    drawn: random.Random
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = self.worlds.open(self.task, 0)
        if isinstance(self.world, World):
            self.world.tick()

    @cached_property
    def numbers(self) -> list[int]:
        """Usual numbers, those that the policy names, and the next of each."""
        named = [int(one.replace(",", "")[:9]) for one in _NAMED.findall(self.worlds.told)]
        return list(dict.fromkeys((*_NUMBERS, *(n + more for n in named for more in (0, 1)))))

    @cached_property
    def gold(self) -> list[ToolCall]:
        """Calls of gold whose tools there are."""
        return [call for call in gold_of(self.task) if call.tool in self.worlds.tools]

    def any_call(self) -> ToolCall:
        """Return a call of gold with one other argument, or of any tool."""
        of_gold = self.drawn.choice(self.gold) if self.gold and self.drawn.random() < 0.5 else None
        tool_id = of_gold.tool if of_gold else self.drawn.choice(list(self.worlds.tools))
        tool = self.worlds.tools[str(tool_id)].document
        known = tool.parameters.get("properties", {})
        needed = tool.parameters.get("required", ())
        if of_gold:
            changed = self.drawn.choice([*known]) if known else ""
            names = {changed: known.get(changed, {})}
        else:
            names = {n: s for n, s in known.items() if n in needed or self.drawn.random() < 0.5}
        given = {
            name: self.drawn.choice(values)
            for name, schema in names.items()
            if (values := list(self._values(tool, name, schema)))
        }
        old = of_gold.arguments or {} if of_gold else self._of_one_row(given)
        new = given if of_gold else {}
        return ToolCall("", tool.name, {**given, **old, **new}, tool=tool.id)

    def _of_one_row(self, given: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return cells of one row of the world for some arguments; none: half of the time."""
        tables = [rows for rows in self.world.states()[-1].values() if rows]
        if not tables or self.drawn.random() < 0.5:
            return {}
        row = self.drawn.choice(self.drawn.choice(tables))
        return {name: row[name] for name in given if row.get(name) is not None}

    def _values(self, tool: Tool, name: str, schema: Mapping[str, Any]) -> Iterator[JSON]:
        """Yield values that an argument may have."""
        kinds = schema.get("type", ())
        kinds = [kinds] if isinstance(kinds, str) else [str(kind) for kind in kinds]
        kinds += [str(one.get("type")) for one in schema.get("anyOf", ())]
        if schema.get("enum"):
            yield from schema["enum"]
            return
        if "boolean" in kinds:
            yield from (True, False)
        own = {*words(name.replace("_", " "))} - _USUAL
        cells = [
            row[column]
            for rows in self.world.states()[-1].values()
            for column in (rows[0] if rows else ())
            if column == name or own & {*words(column.replace("_", " "))}
            for row in rows[-_TRIED:]
        ]
        cells += [
            call.arguments[name]
            for call in self.gold
            if call.arguments and call.tool == tool.id and name in call.arguments
        ]
        if "string" in kinds:
            yield from ([cell for cell in cells if isinstance(cell, str)] or ["something"])
        if {"number", "integer"} & {*kinds}:
            numbers = [c for c in cells if isinstance(c, int | float) and not isinstance(c, bool)]
            whole = "number" not in kinds
            yield from (c for c in numbers if not whole or float(c).is_integer())
            yield from self.numbers

    def make(self, made: ToolCall, checks: Sequence[Rule] = ()) -> list[Rule]:
        """Make a call; return the checks that it breaks."""
        number = len(self.steps)
        call = replace(made, id=f"call_{number}")
        before = self.world.states()[-1]
        (result,) = self.world.call([call])
        after = self.world.states()[-1]
        asked = Step(number, AGENT, EXECUTOR, call=call, turn=number)
        told = [
            check
            for check in checks
            if any(breaches_at([check], self.task, asked, result, self.steps, before, after))
        ]
        self.steps += [asked, Step(number + 1, EXECUTOR, AGENT, result=result, turn=number)]
        return told


# -- Tools that seem to change something, and do not say so.
#
# Without a world only what a tool says of itself tells that its calls have effects. Verbs that are
# nouns, too, count where a description goes on with an article, or its tool's name begins alike.

_CHANGES = frozenset({
    "approve", "buy", "cancel", "create", "delete", "edit", "erase", "insert", "modify", "pay",
    "publish", "purchase", "refund", "reject", "remove", "rename", "reserve", "send", "submit",
    "subscribe", "unsubscribe", "update", "upload",
})  # fmt: skip
_NOUNS_TOO = frozenset({
    "add", "block", "book", "change", "charge", "move", "order", "post", "register", "schedule",
    "set", "transfer",
})  # fmt: skip
_READS = frozenset({
    "calculate", "check", "compare", "compute", "count", "estimate", "explain", "fetch", "find",
    "get", "list", "look", "preview", "read", "say", "search", "see", "show", "tell", "validate",
})  # fmt: skip
_ARTICLES = frozenset({"a", "an", "another", "the", "this", "your", "my", "one", "some"})
_SUMS = frozenset({"number", "numbers", "integers", "sum", "matrices", "vectors"})
_SHOWN = 3


def unmarked_writes(tools: Iterable[Tool], of_worlds: Set[str] = frozenset()) -> Iterator[Finding]:
    """Yield one finding for a user's tools that seem to change something, and do not say so.

    Args:
        tools: Of a pool. What was imported from elsewhere (`Tool.source`) is not asked of.
        of_worlds: Ids of those whose effects a world's tables show.
    """
    found = [
        tool
        for tool in tools
        if not (tool.writes or tool.id in of_worlds or tool.source.keys() - {FUNCTION})
        and seems_to_write(tool)
    ]
    if found:
        seem = "seems" if len(found) == 1 else "seem"
        shown = ", ".join(tool.name for tool in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        message = (
            f"{counted(len(found), 'tool')} {seem} to change something: {shown}{more}; if so, mark "
            'it by @seal.writes or "writes": true, and its extra effects count'
        )
        evidence: dict[str, JSON] = {"descriptions": [tool.description for tool in found]}
        yield Finding(
            "unmarked_write", message, tools=tuple(t.id for t in found), evidence=evidence
        )


def seems_to_write(tool: Tool) -> bool:
    """Tell whether a tool's description, or else its name, begins with a verb that changes."""
    name = words(_SEAM.sub(" ", tool.name.rpartition("/")[2]))
    first, *rest = words(tool.description[:_BEGIN]) or [""]
    verbs = {first, first.removesuffix("s"), first.removesuffix("es")}
    if verbs & _CHANGES:
        return True
    if verbs & _READS or not name:
        return False
    if verbs & _NOUNS_TOO and rest and _SUMS.isdisjoint(rest):
        return rest[0] in _ARTICLES or (name[0] in verbs and rest[0] not in name)
    return name[0] in _CHANGES


_BEGIN = 200
_SEAM = re.compile(r"_|(?<=[a-z])(?=[A-Z])")
"""Where words of a name meet."""

"""Tool augmentations: distraction tools, scrambled tools, tasks with other tools."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from seal.core import (
    JSON,
    DataError,
    Goal,
    Milestone,
    Plan,
    Step,
    Task,
    Tool,
    UnknownNameError,
    UsageError,
)
from seal.core.arrays import Floats, np
from seal.core.conditions import Called, Condition
from seal.core.state_conditions import AllOf, EndsAs, Unconfirmed
from seal.pools.benchmark import loaded
from seal.pools.importer import REPORT, Notes, Recorded, WorldFile
from seal.pools.imports import ImportReport, write_pool
from seal.pools.lookup import declared, world_files_of
from seal.pools.pool import FUNCTION, ORIGINAL, StoredPool, is_scrambled, load_pool, named_tools
from seal.pools.reading.files import function_name

# -- Tool augmentations: the same tasks with more tools to tell apart, or tools that say less.
#
# Here stand what can be done, how a user writes it, and how tools, tasks and pool folders change.

SCRAMBLINGS = {
    "names": "tool_name_scrambled",
    "descriptions": "tool_description_scrambled",
    "argument-descriptions": "arg_description_scrambled",
    "argument-types": "arg_type_scrambled",
}
"""What is taken from a tool, to how an augmentation that does so is named.

Source of the names: the scenario ids of apple/ToolSandbox.
"""
UNCHANGED = "no_distraction_tools"
"""Name of the augmentation that leaves tasks as they are."""

_DISTRACTION = "distraction"


@dataclass(frozen=True, slots=True)
class Augmentation:
    """One way to change what tasks offer."""

    distraction: int | Literal["all"] | None = None
    """Tools that are offered besides those of the task, or all of the pool; None: as it was."""
    scrambled: tuple[str, ...] = ()
    """Of `SCRAMBLINGS`, in their order."""

    def __post_init__(self) -> None:
        if isinstance(self.distraction, int) and self.distraction < 0:
            raise UsageError(
                f"{_DISTRACTION}={self.distraction}: expected a number of tools from 0, or all"
            )
        for what in self.scrambled:
            if what not in SCRAMBLINGS:
                raise UnknownNameError("augmentation", what, _known())
        order = tuple(what for what in SCRAMBLINGS if what in self.scrambled)
        object.__setattr__(self, "scrambled", order)

    @property
    def name(self) -> str:
        """What the tag `augmentation` says, such as `3_distraction_tools_tool_name_scrambled`."""
        return "_".join([*self._offered(), *(SCRAMBLINGS[what] for what in self.scrambled)])

    def _offered(self) -> list[str]:
        if self.distraction is None:
            return [] if self.scrambled else [UNCHANGED]
        if self.distraction == "all":
            return ["all_tools"]
        return [f"{self.distraction or 'no'}_distraction_tools"]


def parse_augmentations(texts: Iterable[str]) -> tuple[Augmentation, ...]:
    """Return the augmentations that a user names, each once.

    Args:
        texts: Each one augmentation: `distraction=N` or `distraction=all`, and what is scrambled
            (`SCRAMBLINGS`), joined by commas; or the name of several that a benchmark declares.

    Raises:
        UnknownNameError: No such augmentation; names the closest.
        UsageError: No text, or a number of tools that cannot be.
    """
    found: list[Augmentation] = []
    for text in texts:
        found += _parsed(text)
    if not found:
        raise UsageError(f"name at least one augmentation: {', '.join(_known())}")
    return tuple(dict.fromkeys(found))


def _parsed(text: str) -> Sequence[Augmentation]:
    distraction: int | Literal["all"] | None = None
    scrambled = []
    for part in text.split(","):
        key, equals, value = part.strip().partition("=")
        if key == _DISTRACTION:
            distraction = _number(value.strip(), text)
        elif equals or key not in SCRAMBLINGS:
            return _of_a_benchmark(text.strip(), part.strip())
        else:
            scrambled.append(key)
    return [Augmentation(distraction, tuple(scrambled))]


def _of_a_benchmark(name: str, part: str) -> Sequence[Augmentation]:
    """Return the augmentations that a benchmark declares under a name.

    Raises:
        UnknownNameError: None does; names what is closest to the part that is unknown.
    """
    found = declared("augmentations")
    if name not in found:
        raise UnknownNameError("augmentation", part, _known())
    several: Sequence[Augmentation] = loaded(found[name])
    return several


def _number(value: str, text: str) -> int | Literal["all"]:
    if value == "all":
        return "all"
    try:
        return int(value)
    except ValueError as error:
        raise UsageError(
            f"{text!r}: expected {_DISTRACTION}=N with a number of tools, such as "
            f"{_DISTRACTION}=3, or {_DISTRACTION}=all"
        ) from error


def _known() -> list[str]:
    return [f"{_DISTRACTION}=N", f"{_DISTRACTION}=all", *SCRAMBLINGS, *declared("augmentations")]


TAG = "augmentation"
"""Tag that says what was done to a task's tools."""
GIVEN = "tools"
"""Name in a task's metadata under which `allow` lists the ids of the tools that it is about, and
`deny` those that it must not be offered; without it a goal is about what it offers, else about its
gold tools."""

AUGMENTED_ALREADY = "augmented already"
WITHOUT_TOOLS = "neither offered nor gold tools"


@dataclass(slots=True)
class Augmented:
    """An augmented pool."""

    tools: list[Tool]
    """Those of the pool, then the scrambled ones that tasks name; where scrambled tools are to be
    retrieved, all scrambled ones alone."""
    tasks: list[Task]
    """Augmentation by augmentation, each with the tasks in their order; ids end in the
    augmentation's name, and the tag `augmentation` is that name."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Why tasks have no augmented form, to their number."""


def augment_pool(
    tools: Iterable[Tool], tasks: Iterable[Task], augmentations: Sequence[Augmentation]
) -> Augmented:
    """Return the tasks with other tools on offer, once for each augmentation.

    Distraction: each goal is offered its own tools and those most like them (`Distractors`), in
    the order of the pool, less what the task denies. Scrambling: offered, relevant and gold tools
    are the scrambled ones (`Scrambler`), so that all metrics hold as before. Tasks that are
    augmented already are left out and counted. With a number of distraction tools, so are those
    with a goal that has no tool of its own.

    Args:
        tools: The pool; scrambled ones among them are left out.
        tasks: Of the pool.
        augmentations: What is done; at least one.

    Raises:
        UsageError: No augmentation, or several for tasks whose tools are retrieved: these see the
            whole pool, in which no tool may stand twice.
    """
    return _Work([tool for tool in tools if not is_scrambled(tool)], augmentations).done(tasks)


class _Work:
    """One pool being augmented."""

    def __init__(self, tools: list[Tool], augmentations: Sequence[Augmentation]) -> None:
        if not augmentations:
            raise UsageError("no augmentation given; name at least one, such as distraction=3")
        self._tools = tools
        self._augmentations = augmentations
        self._places = {tool.id: place for place, tool in enumerate(tools)}
        self._distractors = Distractors(tools)
        self._scrambler = Scrambler(tools)
        self._scrambled = {
            a.scrambled: {t.id: self._scrambler.scrambled(t, a.scrambled) for t in tools}
            for a in augmentations
        }
        self._result = Augmented(list(tools), [])

    def done(self, tasks: Iterable[Task]) -> Augmented:
        found: list[Task] = []
        for task in tasks:
            if task.tags.get(TAG, UNCHANGED) == UNCHANGED:
                found.append(task)
            else:
                self._result.dropped[AUGMENTED_ALREADY] += 1
        for augmentation in self._augmentations:
            for task in found:
                self._add(task, augmentation)
        self._result.tools = self._all_tools()
        return self._result

    def _add(self, task: Task, augmentation: Augmentation) -> None:
        offering = [self._offering(task, goal, augmentation) for goal in task.goals]
        goals = tuple(goal for goal in offering if goal is not None)
        if len(goals) < len(offering):
            self._result.dropped[WITHOUT_TOOLS] += 1
            return
        name = augmentation.name
        changed = replace(
            task,
            id=task.id if name == UNCHANGED else f"{task.id}_{name}",
            goals=goals,
            tags={**task.tags, TAG: name},
            metadata={**task.metadata, "base": task.metadata.get("base", task.id)},
        )
        self._result.tasks.append(renamed(changed, self._scrambled[augmentation.scrambled]))

    def _offering(self, task: Task, goal: Goal, augmentation: Augmentation) -> Goal | None:
        """Return the goal with what it is offered; None where nothing says what it is about."""
        if augmentation.distraction is None:
            return goal
        named = task.metadata.get(GIVEN)
        given = named if isinstance(named, dict) else {}  # a benchmark's own word for another thing
        own = given.get("allow") or goal.offered or _gold(task, goal)
        if not own and augmentation.distraction != "all":
            return None
        added = self._distractors.ranked(own, augmentation.distraction)
        offered = {*own, *added} - set(given.get("deny") or ())
        known = (id for id in offered if id in self._places)
        return replace(goal, offered=tuple(sorted(known, key=self._places.__getitem__)))

    def _all_tools(self) -> list[Tool]:
        retrieved = any(g.offered is None for task in self._result.tasks for g in task.goals)
        if retrieved:
            return self._to_retrieve()
        scrambled = {t.id: t for tools in self._scrambled.values() for t in tools.values()}
        named = {tool for task in self._result.tasks for _, tool in named_tools(task)}
        extra = [t for id, t in scrambled.items() if id in named and id not in self._places]
        return [*self._tools, *extra]

    def _to_retrieve(self) -> list[Tool]:
        if len(self._scrambled) > 1:
            raise UsageError(
                "the tools of these tasks are retrieved from the whole pool, which can be "
                "scrambled in one way only: name one augmentation, or add distraction=N or "
                "distraction=all, by which tasks are offered their tools"
            )
        (tools,) = self._scrambled.values()
        return list(tools.values())


def _gold(task: Task, goal: Goal) -> list[str]:
    """Return the tools that a goal names without being offered them."""
    alone = replace(task, goals=(replace(goal, offered=None),))
    return list(dict.fromkeys(tool for _, tool in named_tools(alone)))


def augment_stored(
    pool: StoredPool, out: Path, augmentations: Sequence[Augmentation]
) -> ImportReport:
    """Write an augmented copy of a pool folder.

    Args:
        pool: Stays as it is. Its recorded runs are left out and counted: they were played with the
            tools as they were.
        out: Folder to make; an earlier pool there is replaced where it is the same augmentation,
            of the same name and by the same augmentations.
        augmentations: What is done.

    Raises:
        UsageError: As `augment_pool`, or `out` may not be replaced.
        DataError: The pool is malformed, or no task has an augmented form.
    """
    _check_out(pool.made_of, out, [augmentation.name for augmentation in augmentations])

    def records(
        source: Path, notes: Notes, **_: Any
    ) -> Iterator[Tool | Task | Recorded | WorldFile]:
        stored = load_pool(source)
        made = augment_pool(stored.tools(), stored.tasks(), augmentations)
        if not made.tasks:
            reasons = ", ".join(f"{count} {reason}" for reason, count in made.dropped.items())
            raise DataError(f"no task of {source} can be augmented: {reasons}; give another pool")
        notes.lacks.update(pool.report.get("lacks") or ())
        notes.dropped.update(made.dropped)
        if stored.recordings():
            notes.dropped["recorded runs"] = len(stored.recordings())
        if "play" in pool.report:
            notes.facts["play"] = pool.report["play"]
        notes.facts["augmentations"] = {
            a.name: sum(t.tags[TAG] == a.name for t in made.tasks) for a in augmentations
        }
        yield from made.tools
        yield from made.tasks
        yield from world_files_of(source)

    return write_pool(pool.made_of, records, pool.folder, out)


def _check_out(name: str, out: Path, augmentations: Sequence[str]) -> None:
    """Make sure that an earlier pool in a folder is what is about to be made.

    Raises:
        UsageError: It is another one; the text says which.
    """
    if not (out / REPORT).is_file():
        return
    report = load_pool(out).report
    made = report.get("augmentations") or {}
    if report.get("benchmark") != name or sorted(made) != sorted(augmentations):
        by = f", augmented by {', '.join(made)}" if made else ""
        raise UsageError(
            f"{out} holds another pool, {report.get('benchmark')!r}{by}: choose a new folder or "
            "remove it"
        )


# -- Distraction tools: those that are most easily taken for a task's own.

_KEPT = 8_000_000
"""Likenesses that a category keeps: 64 MB."""


class Distractors:
    """Ranks a pool's tools by how easily they are taken for given ones.

    First the tools of the same categories, then the others; in each block by the greatest likeness
    of names (rapidfuzz's WRatio after its default processing). Equal ones keep the order of the
    pool. In a pool without categories the names alone decide.

    Source: ToolSandbox, section 3.3, and the ranking that its code gives, whose categories are its
    modules.

    Args:
        tools: The pool; its order decides ties.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = [tool.id for tool in tools]
        self._own = {tool.id: (tool.category, tool.name) for tool in tools}
        by_category: dict[str, list[int]] = {}
        for place, tool in enumerate(tools):
            by_category.setdefault(tool.category, []).append(place)
        self._blocks = {
            category: _Block([tools[place].name for place in places], places)
            for category, places in by_category.items()
        }
        self._known: dict[tuple[frozenset[str], int | None], tuple[str, ...]] = {}

    def ranked(
        self, given: Collection[str], count: int | Literal["all"] = "all"
    ) -> tuple[str, ...]:
        """Return the ids of the tools most like the given ones, the most like first.

        Args:
            given: Ids of a task's tools, none of which is returned. One that the pool does not
                have counts by the last two parts of its id: category and name.
            count: At most so many, at least 0.
        """
        most = None if count == "all" else count
        key = frozenset(given), most
        if key not in self._known:
            others = (tool for tool in self._by_likeness(key[0]) if tool not in key[0])
            self._known[key] = tuple(islice(others, most))
        return self._known[key]

    def _by_likeness(self, given: frozenset[str]) -> Iterator[str]:
        """Yield all tools; those of other categories are compared only when they are reached."""
        own = [self._own.get(tool) or _last_parts(tool) for tool in sorted(given)]
        names = sorted({name for _, name in own})
        near = {category for category, _ in own if category}
        for alike in (True, False):
            blocks = [block for name, block in self._blocks.items() if (name in near) == alike]
            yield from (self._ids[place] for place in _sorted_places(blocks, names))


class _Block:
    """The tools of one category.

    Args:
        names: Of the tools.
        places: Their places in the pool.
    """

    def __init__(self, names: Sequence[str], places: Sequence[int]) -> None:
        from rapidfuzz.utils import default_process

        self._process = default_process
        processed = [default_process(name) for name in names]
        self._distinct = sorted(set(processed))
        numbers = {name: number for number, name in enumerate(self._distinct)}
        self._numbers = np.array([numbers[name] for name in processed])
        self.places = np.array(places)
        self._rows: dict[str, Floats] = {}

    def likeness(self, names: Sequence[str]) -> Floats:
        """Return how like each tool's name is to the most like of these, in [0, 100]."""
        rows = [self._row(name) for name in names]
        best = np.max(rows, axis=0) if rows else np.zeros(len(self._distinct))
        return np.asarray(best[self._numbers])

    def _row(self, name: str) -> Floats:
        from rapidfuzz import fuzz, process

        if name not in self._rows:
            if len(self._rows) * len(self._distinct) > _KEPT:
                self._rows.clear()
            query = [self._process(name)]
            table = process.cdist(query, self._distinct, scorer=fuzz.WRatio, dtype=np.float64)
            self._rows[name] = table[0]
        return self._rows[name]


def _sorted_places(blocks: Sequence[_Block], names: Sequence[str]) -> Iterator[int]:
    """Yield the places of these tools, the most like first; equally like ones as they stand."""
    if not blocks:
        return
    places = np.concatenate([block.places for block in blocks])
    likeness = np.concatenate([block.likeness(names) for block in blocks])
    yield from places[np.lexsort((places, -likeness))].tolist()


def _last_parts(tool: str) -> tuple[str, str]:
    """Return category and name as an id of the form benchmark/category/name has them."""
    owner, _, name = tool.rpartition("/")
    return owner.rpartition("/")[2], name


# -- Scrambled tools: the same function under a document that says less.
#
# A scrambled tool is a tool of its own: its id is the original's with `~` and what was scrambled,
# and its `source` has `function`, the original's id, and `original`, the original's document. A
# call of it runs the original (`originals`), so that results, simulated ones too, do not depend on
# how a tool was presented.

KEEPS = "keeps"
"""Under this name a tool's `source` lists the scramblings that do not touch it."""

_TYPE_WORDS = frozenset({"type", "format"})
_DESCRIPTION = frozenset({"description"})


class Scrambler:
    """Makes the scrambled tools of one pool.

    - names: `<category>_<k>`, where k is the tool's position among the sorted names of its
      category; `tool_<k>` where it has none.
    - descriptions: none, but that of a tool without arguments stays: nothing else tells it.
    - argument-descriptions: none.
    - argument-types: no type or format, at any depth; descriptions stay.

    Source: ToolSandbox, section 3.3, and what its code leaves of each tool.

    Args:
        tools: All tools that are counted for the names.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        by_category: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in tools:
            # 12 characters of a function's name are left for the position.
            category = function_name(tool.category)[-52:] if tool.category.strip() else "tool"
            by_category[category].append(tool)
        self._names = {
            tool.id: f"{category}_{position}"
            for category, members in by_category.items()
            for position, tool in enumerate(sorted(members, key=lambda tool: (tool.name, tool.id)))
        }

    def scrambled(self, tool: Tool, what: Sequence[str]) -> Tool:
        """Return the scrambled tool; the tool itself where nothing would change.

        Args:
            tool: Of the pool.
            what: Of `SCRAMBLINGS`.
        """
        changed = tool
        kept = tool.source.get(KEEPS) or ()
        for part in what:
            if part not in kept:
                changed = self._without(changed, part)
        if changed == tool:
            return tool
        document = {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "source": tool.source,
        }
        return replace(
            changed,
            id="~".join([tool.id, *what]),
            source={**tool.source, FUNCTION: tool.id, ORIGINAL: document},
        )

    def _without(self, tool: Tool, part: str) -> Tool:
        if part == "names":
            return replace(tool, name=self._names[tool.id])
        if not tool.parameters.get("properties"):
            return tool
        if part == "descriptions":
            return replace(tool, description="")
        words = _DESCRIPTION if part == "argument-descriptions" else _TYPE_WORDS
        own = tool.parameters["properties"].items()
        properties = {name: _stripped(schema, words) for name, schema in own}
        return replace(tool, parameters={**tool.parameters, "properties": properties})


def _stripped(schema: JSON, words: frozenset[str]) -> JSON:
    """Return an argument's schema without these keywords, also in the schemas within it."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, JSON] = {}
    for word, value in schema.items():
        if word == "properties" and isinstance(value, Mapping):
            kept[word] = {name: _stripped(inner, words) for name, inner in value.items()}
        elif word in ("items", "additionalProperties"):
            kept[word] = _stripped(value, words)
        elif word in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            kept[word] = [_stripped(inner, words) for inner in value]
        elif word not in words:
            kept[word] = value
    return kept


# -- Tasks with other tools in the place of theirs.


def renamed(task: Task, tools: Mapping[str, Tool]) -> Task:
    """Return the task with tools in the place of others: offered, relevant, called, forbidden.

    Recorded executions, and conditions on the state of a world, name what ran and stay.

    Args:
        task: The task.
        tools: Id to the tool that takes its place; other ids stay.
    """
    return replace(task, goals=tuple(_goal(goal, tools) for goal in task.goals))


def _goal(goal: Goal, tools: Mapping[str, Tool]) -> Goal:
    return replace(
        goal,
        plans=None if goal.plans is None else tuple(_plan(plan, tools) for plan in goal.plans),
        offered=None if goal.offered is None else _ids(goal.offered, tools),
        relevant=_ids(goal.relevant, tools),
        reference=tuple(_step(step, tools) for step in goal.reference),
    )


def _ids(ids: tuple[str, ...], tools: Mapping[str, Tool]) -> tuple[str, ...]:
    return tuple(tools[id].id if id in tools else id for id in ids)


def _plan(plan: Plan, tools: Mapping[str, Tool]) -> Plan:
    return Plan(_nodes(plan.milestones, tools), _nodes(plan.minefields, tools))


def _nodes(nodes: tuple[Milestone, ...], tools: Mapping[str, Tool]) -> tuple[Milestone, ...]:
    return tuple(replace(node, condition=_condition(node.condition, tools)) for node in nodes)


def _condition(condition: Condition, tools: Mapping[str, Tool]) -> Condition:
    if isinstance(condition, Called) and condition.tool in tools:
        return replace(condition, tool=tools[condition.tool].id)
    if isinstance(condition, EndsAs):
        sequences = (tuple(_condition(c, tools) for c in calls) for calls in condition.sequences)
        return replace(condition, sequences=tuple(sequences))
    if isinstance(condition, Unconfirmed):
        return replace(condition, tools=_ids(condition.tools, tools))
    if isinstance(condition, AllOf):
        return replace(
            condition, conditions=tuple(_condition(c, tools) for c in condition.conditions)
        )
    return condition


def _step(step: Step, tools: Mapping[str, Tool]) -> Step:
    call = step.call
    if call is None or call.tool is None or call.tool not in tools:
        return step
    tool = tools[call.tool]
    return replace(step, call=replace(call, tool=tool.id, name=tool.name))

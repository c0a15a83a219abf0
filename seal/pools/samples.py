"""Smaller pools drawn, by what tasks need."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import TypeVar

from seal.core import DataError, Goal, Plan, Task, Tool, UsageError, check_name
from seal.core.text import counted
from seal.core.values import derive_seed, digest
from seal.pools.pool import called_tools, named_tools, stated_tools

# -- Smaller pools drawn from a large one, by the queries that they must serve.
#
# Source: the SEAL paper, Table 3 and Figure 2, whose pools have 10 to 500 APIs; it does not say how
# they were drawn. Drawing tools alone by chance leaves almost no query whose relevant tools are all
# there, so here queries come first:
#
# 1. Seed queries are drawn by chance, one by one. Each brings the tools that it needs, unless the
#    pool would then exceed its size: such a query is passed over. A full pool ends the drawing.
# 2. Distractors fill what room is left.
#
# What a task needs of a pool is said below. A task without relevant tools stands in no sample, for
# nothing says whether a pool serves it. A task of a sample names tools of the sample alone
# (`restricted`).

DISTRACTORS = ("uniform", "same_tool", "nearest")
"""What fills a pool: tools by chance; first the APIs of the services that the seed queries need;
first the tools most like those that they need."""
QUERIES = ("closure", "seeds", "fixed")
"""The tasks of a sample: all that its pool serves; the seed queries; the seed queries of the
smallest pool at every size, so that only distractors grow."""

_Record = TypeVar("_Record", Tool, Task)
Neighbours = Callable[[Sequence[str]], Mapping[str, Sequence[str]]]
"""Tool ids to the ids of the tools most like each, best first."""


@dataclass(frozen=True)
class PoolSample:
    """A smaller pool and the tasks that are asked of it."""

    size: int
    """Number of tools."""
    sample: int
    """Which sampling, from 0."""
    tools: tuple[Tool, ...]
    """In the order of their ids."""
    tasks: tuple[Task, ...]
    """In the order of their ids; they name these tools alone."""
    seeds: tuple[str, ...]
    """Ids of the tasks that were drawn, in the order of drawing."""
    distractors: int = 0
    """Tools that none of the drawn tasks needs."""

    @property
    def digest(self) -> str:
        """SHA-256 of the ids of tools and tasks, 64 hexadecimal digits."""
        return digest([[tool.id for tool in self.tools], [task.id for task in self.tasks]])


def sample_pools(
    tools: Iterable[Tool],
    tasks: Iterable[Task],
    sizes: Iterable[int],
    samples: int,
    seed: int,
    *,
    distractors: str = "uniform",
    queries: str = "closure",
    nested: bool = True,
    neighbours: Neighbours | None = None,
) -> Iterator[PoolSample]:
    """Return smaller pools: sampling by sampling, each from the smallest size to the largest.

    Equal arguments give equal samples, in whatever order tools and tasks stand. A sampling does not
    depend on how many others there are.

    Args:
        tools: Of the large pool.
        tasks: Of the large pool.
        sizes: Numbers of tools, each at least 1; repeats count once. The large pool's own size
            takes all of it.
        samples: Number of samplings, at least 1.
        seed: Of all chance.
        distractors: One of `DISTRACTORS`.
        queries: One of `QUERIES`.
        nested: True: the larger pools of a sampling hold its smaller ones, and so depend on them.
            False: each size is drawn by a chance of its own.
        neighbours: For "nearest": asked for the tools that the seed queries need. Ids that the pool
            does not have are passed over; where its lists end, chance goes on.

    Raises:
        UsageError: There is no size, or one below 1 or beyond the pool; samples are below
            1; a protocol is unknown; "nearest" lacks neighbours; no task has relevant tools. When
            the first sample is taken: a size serves no query.
        DataError: A tool or task id stands twice, or a task needs a tool that the pool lacks.
    """
    _check_protocol(distractors, queries, neighbours)
    if samples < 1:
        raise UsageError(f"samples must be at least 1, got {samples}")
    pool = _LargePool(_by_id("tool", tools), _by_id("task", tasks))
    ascending = pool.checked(sizes)
    protocol = _Protocol(pool, distractors, queries, nested, neighbours)
    return chain.from_iterable(protocol.sampling(ascending, n, seed) for n in range(samples))


def _check_protocol(distractors: str, queries: str, neighbours: Neighbours | None) -> None:
    check_name("kind of distractors", distractors, DISTRACTORS)
    check_name("set of queries", queries, QUERIES)
    if distractors == "nearest" and neighbours is None:
        raise UsageError(
            "distractors 'nearest' need a function that finds neighbours: "
            "give neighbours=..., or choose 'uniform' or 'same_tool'"
        )


def _by_id(kind: str, records: Iterable[_Record]) -> dict[str, _Record]:
    found: dict[str, _Record] = {}
    for record in records:
        if record.id in found:
            raise DataError(f"{kind} id {record.id!r} stands twice: give every {kind} its own")
        found[record.id] = record
    return dict(sorted(found.items()))


class _LargePool:
    """What is drawn from, everything in the order of ids."""

    def __init__(self, tools: dict[str, Tool], tasks: dict[str, Task]) -> None:
        self.tools = tools
        self.tasks = {name: t for name, t in tasks.items() if any(g.relevant for g in t.goals)}
        self.needs = {name: need_of(task) for name, task in self.tasks.items()}
        self.named = {
            name: {tool for _, tool in named_tools(task)} for name, task in self.tasks.items()
        }

    def checked(self, sizes: Iterable[int]) -> list[int]:
        """Return the sizes ascending.

        Raises:
            UsageError: A size or the tasks are of no use.
            DataError: A task needs a tool that is not here.
        """
        if not self.tasks:
            raise UsageError(
                "no task has relevant tools, by which smaller pools are drawn: "
                "use the whole pool, or tasks that name their relevant tools"
            )
        for name, need in self.needs.items():
            for tool in sorted(need.tools - self.tools.keys()):
                raise DataError(
                    f"task {name!r} needs the tool {tool!r}, which the pool does not have: "
                    "import the benchmark again, or leave the task out"
                )
        ascending = sorted(set(sizes))
        if not ascending or ascending[0] < 1:
            got = ascending[0] if ascending else "none"
            raise UsageError(f"expected pool sizes of at least 1, got {got}; try 50")
        if ascending[-1] > len(self.tools):
            raise UsageError(
                f"pool size {ascending[-1]} is beyond the pool, which has {len(self.tools)} "
                f"tools: ask for at most {len(self.tools)}, which takes them all"
            )
        return ascending

    @cached_property
    def services(self) -> dict[str, list[str]]:
        """Service to the ids of its APIs."""
        services: dict[str, list[str]] = {}
        for tool in self.tools:
            services.setdefault(_service(tool), []).append(tool)
        return services


def _service(tool: str) -> str:
    """Return benchmark/tool of the id benchmark/tool/api."""
    return "/".join(tool.split("/")[:2])


@dataclass
class _Drawn:
    """A smaller pool as far as it is drawn."""

    tools: set[str] = field(default_factory=set)
    seeds: list[str] = field(default_factory=list)
    needed: set[str] = field(default_factory=set)
    """Tools that the seed queries need."""


@dataclass(frozen=True)
class _Protocol:
    """How pools are drawn from one large pool."""

    pool: _LargePool
    distractors: str
    queries: str
    nested: bool
    neighbours: Neighbours | None

    def sampling(self, sizes: Sequence[int], sample: int, seed: int) -> Iterator[PoolSample]:
        """Yield one sampling's pools, from the smallest to the largest."""
        chance = random.Random(derive_seed(seed, "pools", sample))
        fixed = self.queries == "fixed"
        drawn = _Drawn()
        for size in sizes:
            if not self.nested:
                chance = random.Random(derive_seed(seed, "pools", sample, size))
                # Of fixed queries the seeds stay, without the distractors.
                kept = drawn if fixed else _Drawn()
                drawn = _Drawn(set(kept.needed), list(kept.seeds), set(kept.needed))
            if not (fixed and drawn.seeds):
                self._draw_seeds(drawn, size, chance)
            self._fill(drawn, size, chance)
            yield self._sample(drawn, size, sample)

    def _draw_seeds(self, drawn: _Drawn, size: int, chance: random.Random) -> None:
        names = sorted(self.pool.tasks.keys() - set(drawn.seeds))
        chance.shuffle(names)
        for name in names:
            if len(drawn.tools) == size:
                break
            need = self.pool.needs[name]
            missing = need.missing(drawn.tools, chance)
            if len(drawn.tools) + len(missing) <= size:
                drawn.seeds.append(name)
                drawn.tools |= missing
                drawn.needed |= need.all_of | missing
        if not drawn.seeds:
            least = min(need.size for need in self.pool.needs.values())
            raise UsageError(
                f"a pool of {counted(size, 'tool')} serves no query; one of {least} surely "
                "serves some"
            )

    def _fill(self, drawn: _Drawn, size: int, chance: random.Random) -> None:
        if len(drawn.tools) == size:
            return
        others = sorted(self.pool.tools.keys() - drawn.tools)
        chance.shuffle(others)
        for tool in chain(self._preferred(sorted(drawn.needed), chance), others):
            drawn.tools.add(tool)
            if len(drawn.tools) == size:
                return

    def _preferred(self, needed: Sequence[str], chance: random.Random) -> Iterator[str]:
        """Yield what comes before chance; some of it may be in the pool already."""
        if self.distractors == "same_tool":
            services = dict.fromkeys(map(_service, needed))
            siblings = [tool for service in services for tool in self.pool.services[service]]
            chance.shuffle(siblings)
            yield from siblings
        elif self.distractors == "nearest" and self.neighbours is not None:
            found = self.neighbours(needed)
            for equally_near in zip_longest(*(found.get(tool, ()) for tool in needed)):
                yield from (tool for tool in equally_near if tool in self.pool.tools)

    def _sample(self, drawn: _Drawn, size: int, sample: int) -> PoolSample:
        held = frozenset(drawn.tools)
        seeds = set(drawn.seeds)
        return PoolSample(
            size,
            sample,
            tuple(self.pool.tools[tool] for tool in sorted(held)),
            tuple(
                task if self.pool.named[name] <= held else restricted(task, held)
                for name, task in self.pool.tasks.items()
                if name in seeds or (self.queries == "closure" and self.pool.needs[name].met(held))
            ),
            tuple(drawn.seeds),
            len(held - drawn.needed),
        )


# -- What a task needs of a pool, and what of it a smaller pool leaves.
#
# A task needs every relevant tool of every goal, or one of them where they are alternatives; and
# where a goal has plans, all tools that one of its plans calls.

_Choice = tuple[frozenset[str], ...]
"""Sets of tools of which one is enough."""


@dataclass(frozen=True, slots=True)
class Need:
    """The tools that serve a task."""

    all_of: frozenset[str]
    one_of: tuple[_Choice, ...] = ()
    """Of each choice one set, besides."""

    @property
    def tools(self) -> frozenset[str]:
        """Every tool that is named."""
        return self.all_of.union(*chain.from_iterable(self.one_of))

    @property
    def size(self) -> int:
        """Number of tools that suffice; fewer may, where choices overlap."""
        return len(self.all_of) + sum(
            min(len(tools - self.all_of) for tools in choice) for choice in self.one_of
        )

    def met(self, held: AbstractSet[str]) -> bool:
        """Tell whether these tools serve the task."""
        return self.all_of <= held and all(
            any(tools <= held for tools in choice) for choice in self.one_of
        )

    def missing(self, held: AbstractSet[str], chance: random.Random) -> set[str]:
        """Return the tools to add to these; of the smallest sets of a choice chance takes one."""
        added = set(self.all_of - held)
        for choice in self.one_of:
            rests = [tools - held - added for tools in choice]
            least = min(map(len, rests))
            if least:
                added |= chance.choice([rest for rest in rests if len(rest) == least])
        return added


def need_of(task: Task) -> Need:
    """Return what the task needs."""
    choices = dict.fromkeys(chain.from_iterable(map(_choices, task.goals)))
    single = [choice[0] for choice in choices if len(choice) == 1]
    return Need(frozenset().union(*single), tuple(c for c in choices if len(c) > 1))


def _choices(goal: Goal) -> Iterator[_Choice]:
    if goal.any_relevant and goal.relevant:
        yield tuple(frozenset([tool]) for tool in dict.fromkeys(goal.relevant))
    else:
        yield (frozenset(goal.relevant),)
    if goal.plans:
        yield tuple(dict.fromkeys(map(_called, goal.plans)))


def restricted(task: Task, held: AbstractSet[str]) -> Task:
    """Return the task as far as these tools go; they must meet its need.

    Tools that are not among them are taken out of alternatives and of what goals offer; plans,
    minefields and references that call such are left out.
    """
    return replace(task, goals=tuple(_restricted_goal(goal, held) for goal in task.goals))


def _restricted_goal(goal: Goal, held: AbstractSet[str]) -> Goal:
    plans = goal.plans
    if plans is not None:
        plans = tuple(_without_minefields(p, held) for p in plans if _called(p) <= held)
    return replace(
        goal,
        plans=plans,
        offered=None if goal.offered is None else tuple(t for t in goal.offered if t in held),
        relevant=tuple(tool for tool in goal.relevant if tool in held),
        reference=goal.reference if set(stated_tools(goal.reference)) <= held else (),
    )


def _without_minefields(plan: Plan, held: AbstractSet[str]) -> Plan:
    return replace(plan, minefields=tuple(m for m in plan.minefields if called_tools(m) <= held))


def _called(plan: Plan) -> frozenset[str]:
    return frozenset().union(*map(called_tools, plan.milestones))

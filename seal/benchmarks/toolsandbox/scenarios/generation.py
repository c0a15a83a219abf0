"""Scenarios made of goal templates: drawn, twisted, proved, and kept only where they are hard."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

from seal.agents.users import scripted_answer
from seal.benchmarks.toolsandbox.scenarios.files import Arguments, Authored, BaseWorld, scenario_of
from seal.benchmarks.toolsandbox.scenarios.importer import (
    compiled_scenario,
    tools_of_agent,
    unheard,
)
from seal.core import JSON, DataError, Task, Tool, UsageError, check_name
from seal.core.values import canonical_json
from seal.environments.templates import (
    Goals,
    Moves,
    Rows,
    Slots,
    Template,
    Twist,
    filled,
    goals_of,
)
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.pools.declarations import Told, written
from seal.pools.gold_scripts import Deed, Link, play, scripts_of
from seal.pools.importer import Notes
from seal.pools.imports import ImportReport, write_pool
from seal.pools.mutants import judge
from seal.runs.play import run
from seal.runs.settings import RunSettings

# -- What is asked for.

LEAST, MOST = 5, 15
"""Calls of a plan."""
_TWISTS = (0, 1, 1, 1, 2)
"""How many twists a scenario has, as often as they stand here."""
_TRIES, _NEW = 18, 6
"""States that are drawn for a template, each time that it is its turn; the first of them serve only
with twists that no scenario of it has yet."""
_IN_VAIN = 0.5
"""Share of scenarios that ask what is to be done if something cannot be, though it can."""
_FLOOR = "lexical"


@dataclass(frozen=True, kw_only=True)
class ScenarioSettings:
    """Settings of one generation.

    Raises:
        UsageError: `n` is below 1.
    """

    n: int = field(default=50, metadata={"metavar": "<int>"})
    """Number of scenarios."""
    seed: int = 0
    """Seed; another one gives other states and other scenarios."""
    templates: Sequence[str] = field(default=(), metadata={"metavar": "NAME"})
    """Name of a template to fill; repeatable.  [default: all of the world]"""
    allow_code: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        if self.n < 1:
            raise UsageError(f"n={self.n}: expected at least 1 scenario")


def generate_scenarios(
    bench: str, out: str | Path, *, progress: Callable[[int, int], None] | None = None, **given: Any
) -> ImportReport:
    """Make scenarios of the goal templates of a world.

    Each has a plan of 5 to 15 calls that the model `oracle` plays. Each of its twists is needed:
    the plan without it fails. No call of its plan alone solves it, nor does the model `lexical`.

    Args:
        bench: Name of a world, or names that `+` joins.
        out: Folder of the pool; an earlier pool there is replaced.
        progress: Called with how many are kept, and how many are asked for.
        **given: Fields of `ScenarioSettings`.

    Raises:
        UsageError: The world has no templates, or one of them cannot be filled.
        DataError: No scenario was kept.
    """
    settings = ScenarioSettings(**given)
    world = build_worlds(bench, WorldSetup(allow_code=settings.allow_code), "--world")
    if not isinstance(world, Worlds):
        raise UsageError(f"--world {bench}: it has no tables; expected a `Worlds`")
    goals = _chosen(goals_of(world.goals, bench), settings.templates)
    made = _Making(world, bench, goals, settings.seed)

    def found(source: Any, notes: Notes, **options: Any) -> Iterator[Tool | Task]:
        kept = made.scenarios(settings.n, progress or (lambda done, total: None))
        solved = _solved_by_floor(kept, world, settings.allow_code)
        kept = [task for task in kept if task.id not in solved]
        notes.dropped.update(made.dropped)
        notes.dropped.update([f"the model {_FLOOR} solves it"] * len(solved))
        notes.facts["counts"] = _counts(kept)
        yield from tools_of_agent(world)
        yield from kept

    return write_pool(BENCHMARK, found, None, Path(out))


BENCHMARK = "scenarios"


def _chosen(goals: Sequence[Goals], names: Sequence[str]) -> list[Goals]:
    """Return goals with the templates of some names alone; without names, with all."""
    known = [template.name for goal in goals for template in goal.templates]
    for name in names:
        check_name("template", name, known)
    wanted = names or known
    return [
        replace(goal, templates=[each for each in goal.templates if each.name in wanted])
        for goal in goals
    ]


def _solved_by_floor(
    tasks: Sequence[Task], world: Worlds, allow_code: Sequence[str]
) -> frozenset[str]:
    """Return the ids of the tasks that the floor solves."""
    with tempfile.TemporaryDirectory() as place:
        pool = Path(place) / "pool"

        def found(source: Any, notes: Notes, **options: Any) -> Iterator[Tool | Task]:
            yield from tools_of_agent(world)
            yield from tasks

        write_pool(BENCHMARK, found, None, pool)
        settings = RunSettings(
            pool=pool,
            model=_FLOOR,
            team="direct",
            baselines=False,
            cache="off",
            allow_code=allow_code,
        )
        played = run(settings, Path(place) / "run").folder
        return frozenset(
            score.task_id
            for score in played.scores()
            if score.metric == "pass_rate" and score.value == 1.0
        )


def _counts(tasks: Sequence[Task]) -> dict[str, JSON]:
    """Return how often each template, twist and difficulty stands, and how many tool sets."""
    named = {tag: Counter(str(task.tags[tag]) for task in tasks) for tag in _TOLD}
    sets = {
        frozenset(step.call.name for step in task.goals[0].reference if step.call is not None)
        for task in tasks
    }
    return {tag: dict(sorted(found.items())) for tag, found in named.items()} | {
        "tool_sets": len(sets)
    }


_TOLD = ("template", "twist", "difficulty")


def scenarios_told(made: Any, out: Path) -> Told:
    """Return what the command line tells: counts, and why others were dropped."""
    counts, tasks = made["counts"], made["tasks"]
    largest = max(counts["template"].values()) / tasks
    shown: dict[str, JSON] = {
        "scenarios": tasks,
        "templates": len(counts["template"]),
        "largest share of a template": f"{largest:.1%}",
        "sets of tools in gold": counts["tool_sets"],
        "twists": len(counts["twist"]),
        **{f"{name} ones": times for name, times in counts["difficulty"].items()},
        **{f"dropped: {why}": times for why, times in made["dropped"].items()},
    }
    return Told(fields=shown, text=written(out))


# -- One scenario: what was drawn, as it would be written by hand.


@dataclass(frozen=True)
class _Drawn:
    """A template with twists, drawn over rows."""

    template: Template
    twists: Sequence[Twist]
    slots: Slots

    @property
    def goal(self) -> str:
        """The brief, filled."""
        goals = [twist.goal for twist in self.twists if twist.goal]
        return str(filled((goals or [self.template.goal])[-1], self.slots))

    @property
    def facts(self) -> dict[str, JSON]:
        """What the user knows, filled."""
        facts = dict(self.template.facts)
        for twist in self.twists:
            facts |= twist.facts
        return dict(filled(facts, self.slots))

    @property
    def moves(self) -> list[dict[str, Any]]:
        """Gold, filled, without what the user says."""
        parts: dict[str, Moves] = dict(self.template.gold)
        for twist in self.twists:
            parts |= twist.gold
        moves = [move for part in parts.values() for move in part]
        # What a chat keeps is filled in when it is played.
        kept = {move["keep"]: f"{{{move['keep']}}}" for move in moves if "keep" in move}
        return [filled(move, {**self.slots, **kept}) for move in moves]

    @property
    def tells(self) -> dict[str, JSON]:
        """What must be told, filled."""
        tells = dict(self.template.tells)
        for twist in self.twists:
            tells = tells if twist.tells is None else dict(twist.tells)
        return dict(filled(tells, self.slots))

    @property
    def then(self) -> list[str]:
        """What the user asks for after the first request."""
        return [str(filled(text, self.slots)) for twist in self.twists for text in twist.then]


def _fits(twist: Twist, others: Iterable[Twist]) -> bool:
    """Tell whether a twist can stand beside others: no part, fact or wish of both is another."""
    return all(
        twist.gold.keys().isdisjoint(other.gold)
        and twist.facts.keys().isdisjoint(other.facts)
        and not (twist.goal and other.goal)
        and not (twist.asks and other.asks)
        and (twist.tells is None or other.tells is None)
        for other in others
    )


def _tools_in(moves: Iterable[Mapping[str, Any]]) -> set[str]:
    return {name for move in moves for name in move.get("do", ())}


class _Making:
    """Makes the scenarios of a world.

    Args:
        world: The world.
        kind: Its name, as tasks have it.
        goals: Its goals.
        seed: Of all draws.
    """

    def __init__(self, world: Worlds, kind: str, goals: Sequence[Goals], seed: int) -> None:
        self._world, self._kind, self._goals, self._seed = world, kind, goals, seed
        self._known = {tool.name for tool in tools_of_agent(world)}
        self._arguments = Arguments(world.documents())
        self.dropped: Counter[str] = Counter()
        self._of: dict[str, Goals] = {}
        self.templates: list[Template] = []
        for goal in goals:
            for each in goal.templates:
                facts, gold = {**goal.facts, **each.facts}, {**goal.gold, **each.gold}
                twists = (*each.twists, *goal.twists)
                if self._serves(gold):
                    self._of[each.name] = goal
                    self.templates.append(replace(each, facts=facts, gold=gold, twists=twists))
        if not self.templates:
            raise UsageError(f"no template of the world {kind!r} calls tools that it has")

    def _serves(self, gold: Mapping[str, Moves]) -> bool:
        return all(_tools_in(moves) <= self._known for moves in gold.values())

    def scenarios(self, n: int, progress: Callable[[int, int], None]) -> list[Task]:
        """Return up to `n` scenarios; templates take turns, and no two are of one meaning."""
        found: list[Task] = []
        meanings: set[bytes] = set()
        numbers = count()
        while len(found) < n:
            before = len(found)
            for template in self.templates[: n - len(found)]:
                had = {str(t.tags["twist"]) for t in found if t.tags["template"] == template.name}
                for tried, number in enumerate(islice(numbers, _TRIES)):
                    other_than: Collection[str] = had if tried < _NEW else ()
                    task, why = self._made(template, number, meanings, other_than)
                    if task is not None:
                        found.append(task)
                        progress(len(found), n)
                        break
                    self.dropped[why] += 1
            if len(found) == before:
                break
        if not found:
            why = ", ".join(f"{times} {reason}" for reason, times in self.dropped.items())
            raise DataError(f"no scenario of {self._kind} was kept: {why}")
        return found

    def _made(
        self, template: Template, number: int, meanings: set[bytes], had: Collection[str]
    ) -> tuple[Task | None, str]:
        """Return a scenario of a template, with other twists than it had, or why there is none."""
        drawn = Random(f"{self._seed} {self._kind} {template.name} {number}")
        rows = self._rows(drawn.randrange(2**31))
        slots = template.draw(rows, {}, drawn)
        if slots is None:
            return None, "the drawn rows do not serve its template"
        without = _Drawn(template, (), slots)
        bases: list[tuple[str, _Drawn]] = []
        own = without
        for twist in self._twists(template, drawn):
            begun = deepcopy(rows)
            further = twist.draw(rows, own.slots, drawn) if twist.draw else {}
            if further is None:
                rows = begun
                continue
            bases = [(kind, _twisted(base, twist, further)) for kind, base in bases]
            bases.append((twist.kind, own))
            own = _twisted(own, twist, further)
        if _kinds(own) in had:
            return None, "its template has one with these twists"
        meaning = canonical_json([template.name, _kinds(own), own.goal, own.then])
        if meaning in meanings:
            return None, "another one means the same"
        for add in dict.fromkeys(add for goal in self._goals for add in goal.records):
            add(rows, own.slots, drawn)
        task, why = self._proved(own, bases, rows, drawn, number)
        if task is None:
            return None, why
        text = task.goals[0].text.encode()
        if text in meanings:
            return None, "another one asks the same"
        meanings |= {meaning, text}
        return task, ""

    def _twists(self, template: Template, drawn: Random) -> list[Twist]:
        """Return twists that are drawn and can stand together."""
        wanted, chosen = drawn.choice(_TWISTS), list[Twist]()
        for twist in drawn.sample(list(template.twists), len(template.twists)):
            if len(chosen) < wanted and self._serves(twist.gold) and _fits(twist, chosen):
                chosen.append(twist)
        return chosen

    def _rows(self, seed: int) -> Rows:
        """Return the tables of a fresh world."""
        rows: Rows = {name: [dict(row) for row in own] for name, own in self._world.tables.items()}
        for make in (goal.rows for goal in self._goals):
            made = {} if make is None else make(seed)
            rows |= {name: [dict(row) for row in own] for name, own in made.items() if name in rows}
        return rows

    def _proved(
        self,
        own: _Drawn,
        bases: Sequence[tuple[str, _Drawn]],
        rows: Rows,
        drawn: Random,
        number: int,
    ) -> tuple[Task | None, str]:
        """Return the scenario as a task where all holds that is asked of one."""
        own_goals = self._of[own.template.name]
        ignore = dict.fromkeys(name for goal in self._goals for name in goal.ignore)
        tables = {name.partition(".")[0] for name in ignore}
        base = BaseWorld(
            self._kind,
            rows,
            dict(own_goals.clock),
            max_messages=80,
            cells={
                n: t for n, t in own_goals.cells.items() if n.split(".")[0] in self._world.tables
            },
            ignore=[n for n in ignore if n.partition(".")[0] in tables & {*self._world.tables}],
        )
        request = _request(own, drawn)
        persona: dict[str, JSON] = {"goal": own.goal, "boundary": own_goals.boundary}
        persona |= {"facts": own.facts, **({"then": own.then} if own.then else {})}
        gold = _heard(own.moves, persona, request)
        if gold is None:
            return None, "the scripted user does not say all that it wants"
        needed = sorted(_tools_in(own.moves))
        offered, more = self._offered(needed, drawn)
        record: dict[str, Any] = {
            "id": f"{own.template.name}-{number}",
            "categories": ["multiple_tool", "multiple_turn"],
            "world": self._kind,
            "persona": persona,
            "request": request,
            "gold": gold,
            "wrong": [_wrong(gold), *(_without(kind, base_) for kind, base_ in bases)],
            "tools": offered,
            "tells": own.tells,
            "tags": {"template": own.template.name, "twist": _kinds(own), "distractors": more},
        }
        for _, base_ in bases:  # the plan without a twist may call what nobody else needs
            record["tools"] += sorted(_tools_in(base_.moves) - {*record["tools"]})
        scenario = scenario_of(record, f"template {own.template.name}, state {number}")
        authored = Authored({self._kind: base}, (scenario,))
        try:
            task, _ = compiled_scenario(
                scenario, authored, lambda _: (self._world, self._arguments), BENCHMARK
            )
        except DataError as error:
            return None, _reason(str(error))
        if any(unheard(scenario, task)):
            return None, "the scripted user would say something else"
        return self._kept(task, own)

    def _offered(self, needed: Sequence[str], drawn: Random) -> tuple[list[str], int]:
        """Return the tools that are offered, in the order of the world, and how many distract."""
        others = sorted(self._known - {*needed})
        most = min(len(others), 33 - len(needed))
        more = drawn.randint(min(most, max(10 - len(needed), 0)), most)
        chosen = {*needed, *drawn.sample(others, more)}
        return [tool.name for tool in self._world.documents() if tool.name in chosen], more

    def _kept(self, task: Task, own: _Drawn) -> tuple[Task | None, str]:
        """Return a task with its difficulty as tags, or why it is not kept."""
        (script, *_) = scripts_of(task.goals[0])
        deeds = [deed for move in script for deed in move.deeds]
        if not LEAST <= len(deeds) <= MOST:
            return None, f"its plan has not {LEAST} to {MOST} calls"
        last = script[-1]
        for move in script:
            for deed in move.deeds:
                alone = play(task, [[type(move)((deed,)), last]], self._world)
                if judge(task, alone.chat, self._world, 0)[0] == 1.0:
                    return None, "one call alone solves it"
        return rated(task, len(own.twists)), ""


_DIFFICULTIES = ((9, "easy"), (13, "medium"), (10_000, "hard"))
"""Most calls, answers and twists (each twice), to the name."""


def rated(task: Task, twists: int = 0) -> Task:
    """Return a task with its difficulty as tags: calls, depth and answers of its first gold.

    Args:
        task: Of a world, with gold.
        twists: How many it has.
    """
    (script, *_) = scripts_of(task.goals[0])
    deeds = [deed for move in script for deed in move.deeds]
    heard = sum(bool(move.hear) for move in script)
    hard = len(deeds) + heard + 2 * twists
    tags = {
        "calls": len(deeds),
        "depth": _depth(deeds),
        "hidden": heard,
        "difficulty": next(name for most, name in _DIFFICULTIES if hard <= most),
    }
    return replace(task, tags={**task.tags, **tags})


def _twisted(own: _Drawn, twist: Twist, further: Slots) -> _Drawn:
    return _Drawn(own.template, (*own.twists, twist), {**own.slots, **further})


def _request(own: _Drawn, drawn: Random) -> str:
    """Return the first message; where nothing goes wrong, it may ask what is to be done then."""
    asks = [twist.asks for twist in own.twists if twist.asks]
    others = [twist.asks for twist in own.template.twists if twist.asks]
    if not asks and others and drawn.random() < _IN_VAIN:
        asks = [drawn.choice(others)]
    parts = [drawn.choice(own.template.request), own.template.asks, *asks]
    return str(filled(" ".join(filter(None, parts)), own.slots))


def _kinds(own: _Drawn) -> str:
    return " and ".join(sorted(twist.kind for twist in own.twists)) or "none"


def _heard(
    moves: Sequence[Mapping[str, Any]], persona: Mapping[str, JSON], request: str
) -> list[dict[str, Any]] | None:
    """Return gold with what the scripted user says; None: it does not say all that it wants."""
    texts: list[str] = []
    gold: list[dict[str, Any]] = []
    last = max((place for place, move in enumerate(moves) if "say" in move), default=-1)
    for place, move in enumerate(moves):
        gold.append(dict(move))
        if "say" in move and place < last:
            texts.append(move["say"])
            answer = scripted_answer(persona, request, texts, len(texts) - 1)
            if answer is None:
                return None
            gold.append({"hear": answer})
    heard = {move.get("hear") for move in gold}
    return gold if heard.issuperset(persona.get("then") or ()) else None


def _wrong(gold: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return all words of gold, without a call."""
    return {
        "why": "says all and does nothing",
        "steps": [move for move in gold if "do" not in move],
    }


def _without(kind: str, base: _Drawn) -> dict[str, Any]:
    """Return the plan that would serve if there were no such twist."""
    agreed = {"hear": "Yes, go ahead."}
    steps: list[Mapping[str, Any]] = []
    for move in base.moves:
        steps += [move, agreed] if "say" in move else [move]
    return {"why": f"plays as if there were no {kind}", "steps": steps[:-1]}


def _reason(error: str) -> str:
    """Return why a scenario was refused, without what is its own."""
    place, _, fault = error.partition(": ")
    fault = re.sub(r"'[^']*'|\d[\d.,-]*", "...", fault.partition(" (")[0].partition(";")[0])
    return f"refused: {fault}"[:120] if fault else place


def _depth(deeds: Sequence[Deed]) -> int:
    """Return the length of the longest chain of calls that each take what the one before gave."""
    depth: dict[int, int] = {}
    for deed in deeds:
        links = _links(list(deed.arguments.values()))
        depth[deed.number] = 1 + max((depth.get(link.call, 0) for link in links), default=0)
    return max(depth.values(), default=0)


def _links(value: Any) -> Iterator[Link]:
    if isinstance(value, Link):
        yield value
    elif isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _links(one)

"""Scenarios as tasks, each proved by playing its right and wrong sequences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from seal.agents.users import check_facts, scripted_answer
from seal.benchmarks.toolsandbox.phone.device import web_answers
from seal.benchmarks.toolsandbox.scenarios.files import (
    CATEGORIES,
    UTC,
    Arguments,
    Authored,
    BaseWorld,
    Move,
    Scenario,
    asks_words,
    clock_fields,
    read_authored,
    tables_of,
)
from seal.benchmarks.toolsandbox.scenarios.notation import Names, place_of, plan_of
from seal.core import (
    END_CONVERSATION,
    JSON,
    PARTS,
    DataError,
    Goal,
    Plan,
    Step,
    Stop,
    Tables,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UnknownNameError,
    UsageError,
    check_persona,
    located,
    shortened,
)
from seal.core.conditions import EXECUTOR, USER, parts
from seal.core.environment import Environment, Eventful, Timed
from seal.core.values import json_text
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation.goals import WHOLLY
from seal.evaluation.plans import PlanResult, measure_plan, under, view
from seal.evaluation.shortfalls import Fault, unmet
from seal.pools.augmentation import GIVEN, TAG, UNCHANGED
from seal.pools.importer import Notes, Recorded, WorldFile
from seal.pools.reading.files import named

# -- Authored scenarios as tasks, each proved by its own sequences before it is written.

BENCHMARK = "scenarios"
WRONG = "wrong"
"""Name of the recording that holds the wrong sequences, the n-th of each task as its n-th trial."""
MAX_MESSAGES = 30

_OF_THE_USER = END_CONVERSATION.rpartition("/")[2]


def import_scenarios(
    source: Path,
    notes: Notes,
    *,
    benchmark: str = BENCHMARK,
    web: str | None = None,
    allow_code: Collection[str] = (),
) -> Iterator[Tool | Task | Recorded | WorldFile]:
    """Yield the tools of the worlds, the scenarios as tasks, and their wrong sequences as recorded.

    Args:
        source: A file, or a folder of files, as `seal.benchmarks.toolsandbox.scenarios` says.
        notes: Gets the counts.
        benchmark: Name of the benchmark that the tasks belong to.
        web: File of what the web answers, which comes along and is what a run is given too; None:
            what is shipped.
        allow_code: Modules whose worlds a scenario may name by a dotted path.

    Raises:
        DataError: A file is malformed, a scenario contradicts itself, its gold sequence does not
            score 1, or a wrong one does. The text names file, scenario, field and repair.
        UnknownNameError: There is no world of a kind.
        MissingExtraError: A tool needs a library that is not installed.
    """
    authored = read_authored(source)
    worlds = _kinds(web, allow_code)
    compiled = [_compile(scenario, authored, worlds, benchmark) for scenario in authored.scenarios]
    kinds = sorted({task.world for task, _ in compiled})
    documents = {tool.id: tool for kind in kinds for tool in worlds(kind)[0].documents()}
    yield from (tool for tool in documents.values() if tool.name != _OF_THE_USER)
    counts: Counter[str] = Counter()
    for scenario, (task, wrong) in zip(authored.scenarios, compiled, strict=True):
        notes.remarks += (f"{scenario.place}: {text}" for text in _unheard(scenario, task))
        yield task
        yield from (Recorded(WRONG, trajectory) for trajectory in wrong)
        counts.update(wrong=len(wrong), **{tag: int(task.tags[tag]) for tag in CATEGORIES})
    notes.facts["counts"] = dict(sorted(counts.items()))
    if web is not None:
        yield from web_answers(Path(web), notes)


_Kind = tuple[Worlds, Arguments]
"""A kind of world, built, and what its tools take."""


def _kinds(web: str | None, allow_code: Collection[str]) -> Callable[[str], _Kind]:
    """Return what gives the worlds of a kind, built once."""
    options = {} if web is None else {"web": web}
    setup = WorldSetup(options=options, allow_code=allow_code)

    @cache
    def of(kind: str) -> _Kind:
        built = build_worlds(kind, setup, "kind")
        if not isinstance(built, Worlds):
            raise DataError(
                f"kind: the world {kind!r} does not tell its tools and tables; expected a `Worlds`"
            )
        return built, Arguments(built.documents())

    return of


def _compile(
    scenario: Scenario, authored: Authored, worlds: Callable[[str], _Kind], benchmark: str
) -> tuple[Task, list[Trajectory]]:
    with located(scenario.place):
        base = named(authored.worlds, scenario.world, "world", "world")
        try:
            kind = worlds(base.kind)
        except UnknownNameError as error:
            raise DataError(f"world: {base.place}: kind: {error}") from error
        return _Compiler(scenario, base, *kind, benchmark).compiled()


@dataclass(frozen=True, slots=True)
class _Compiler:
    """Compiles one scenario."""

    scenario: Scenario
    base: BaseWorld
    world: Worlds
    arguments: Arguments
    benchmark: str

    def compiled(self) -> tuple[Task, list[Trajectory]]:
        """Return the task, and its wrong sequences as trajectories.

        Raises:
            DataError: The text begins with the field.
        """
        task = self._task()
        self._check_events(task)
        self._check_gold()
        gold = self._played(task, self.scenario.gold, "gold")
        result = _measured(task, gold)
        if result.similarity < WHOLLY:
            raise DataError(f"gold: {_shortfall(self.scenario, task, gold, result)}")
        wrong = []
        for number, one in enumerate(self.scenario.wrong):
            steps = self._played(task, one.steps, f"wrong.{number}.steps")
            if _measured(task, steps).similarity >= WHOLLY:
                raise DataError(
                    f"wrong.{number}: it scores 1 like the gold; add the milestone, minefield or "
                    f"guarded table that it fails ({one.why})"
                )
            wrong.append(_trajectory(task, number, steps, {"why": one.why}))
        self._check_told(task, gold, result)
        reference = tuple(replace(step, state=None) for step in gold)
        called = dict.fromkeys(s.call.tool for s in gold if s.call is not None and s.call.tool)
        goal = replace(task.goals[0], reference=reference, relevant=tuple(called))
        return replace(task, goals=(goal,)), wrong

    def _check_told(self, task: Task, gold: tuple[Step, ...], result: PlanResult) -> None:
        """Make sure that gold is judged right with the right endings alone."""
        told = self.scenario.told
        if told is None:
            return
        nodes = [n for n, node in enumerate(self.scenario.milestones) if asks_words(node)]
        if not nodes:
            raise DataError("told: no milestone tells or refuses; add one, or leave it out")
        index = max(r.index for r in result.milestones if r.node == nodes[-1])
        said = sum(step.index <= index and _is_said(step) for step in gold)
        moves = self.scenario.gold
        place = [number for number, move in enumerate(moves) if move.say is not None][said - 1]
        rest = moves[place + 1 :] if any(move.do for move in moves[place + 1 :]) else []
        for name, texts in (("right", told.right), ("wrong", told.wrong)):
            for number, text in enumerate(texts):
                field = f"told.{name}.{number}"
                steps = self._played(task, [*moves[:place], Move(say=text), *rest], field)
                found = _measured(task, steps)
                if name == "right" and found.similarity < WHOLLY:
                    raise DataError(f"{field}: {_shortfall(self.scenario, task, steps, found)}")
                if name == "wrong" and found.similarity >= WHOLLY:
                    raise DataError(f"{field}: it scores 1 like the gold; mend the node or it")

    def _task(self) -> Task:
        scenario, clock = self.scenario, clock_fields(self.scenario, self.base)
        zone = ZoneInfo(str(clock.get("zone", UTC)))
        offered = self._ids(scenario.tools, "tools")
        withheld = self._ids(scenario.withheld, "withheld")
        columns = {table: self.world.columns.get(table, {}) for table in self.world.tables}
        plan = plan_of(scenario, Names(self._tools(), columns, zone, self.arguments))
        task = Task(
            scenario.id,
            self.benchmark,
            (Goal(scenario.request, (plan,), offered=tuple(offered)),),
            tables_of(scenario, self.base, zone, self.world.columns),
            persona=_persona(scenario, self.base),
            tags={
                **{tag: tag in scenario.categories for tag in CATEGORIES},
                TAG: UNCHANGED,
                "group": scenario.id,
            },
            metadata={
                "match": "clean",
                "clock": clock,
                "max_messages": MAX_MESSAGES,
                "base": scenario.id,
                GIVEN: {"allow": offered, "deny": withheld},
            },
            world=self.base.kind,
        )
        self.world.check(task)
        return replace(task, initial_state=self.world.beginning(task))

    def _check_events(self, task: Task) -> None:
        """Make sure that something can happen by itself where a node waits for it."""
        if isinstance(self.world.open(task, 0), Eventful):
            return
        fields = {"milestones": self.scenario.milestones, "minefields": self.scenario.minefields}
        for name, nodes in fields.items():
            for number, node in enumerate(nodes):
                if node.happens is not None:
                    raise DataError(
                        f"{place_of(nodes, name, number)}: happens: the world {self.base.kind!r} "
                        "has no events; play in one that has, such as phone_with_timers"
                    )

    def _check_gold(self) -> None:
        """Make sure that the gold calls name only arguments that their tools have.

        A wrong sequence may: so may a model.
        """
        for number, move in enumerate(self.scenario.gold):
            for call in move.do if isinstance(move.do, list) else [move.do or {}]:
                for name, arguments in call.items():
                    tool = self._tools().get(name, "")
                    self.arguments.check_names([tool], arguments, f"gold.{number}.do")

    def _tools(self) -> dict[str, str]:
        """Return the name of each tool of the agent to its id."""
        known = {tool.name: tool.id for tool in self.world.documents()}
        known.pop(_OF_THE_USER, None)
        return known

    def _ids(self, names: Sequence[str], field: str) -> list[str]:
        known = self._tools()
        found = []
        for name in names:
            found.append(named(known, name, "tool of the world", field))
            if names.count(name) > 1:
                raise DataError(f"{field}: {name!r} stands {names.count(name)} times; name it once")
        return found

    def _played(self, task: Task, moves: Sequence[Move], field: str) -> tuple[Step, ...]:
        offered = {name: self._tools()[name] for name in self.scenario.tools}
        with located(field, mark="."):
            world = self.world.open(task, 0, list(offered))
            return play_sequence(self.scenario.request, moves, world, offered)


def _persona(scenario: Scenario, base: BaseWorld) -> dict[str, Any]:
    for name in scenario.persona:
        named(PARTS, name, "part of a persona", "persona")
    _check_replies(scenario.persona.get("replies"))
    try:
        check_persona(scenario.persona)
    except UsageError as error:
        raise DataError(str(error)) from error
    with located("persona", mark="."):
        check_facts(scenario.persona)
    examples = {"demonstration": base.demonstration} if base.demonstration else {}
    return {**examples, **scenario.persona}


def _unheard(scenario: Scenario, task: Task) -> Iterator[str]:
    """Yield where the gold sequence hears of the user what the scripted one does not say."""
    moves = (number for number, move in enumerate(scenario.gold) if move.hear is not None)
    texts: list[str] = []
    for step in (task.goals[0].reference or ())[1:]:
        if step.recipient == USER:
            texts.append(step.content)
        if step.author != USER:
            continue
        place = f"gold.{next(moves)}.hear"
        persona = task.persona or {}
        said = scripted_answer(persona, scenario.request, texts, len(texts) - 1) if texts else ""
        if said == step.content:
            continue
        instead = "ends the conversation" if said is None else f"says {shortened(said)}"
        yield (
            f"{place}: hears {shortened(step.content)} where the scripted user "
            f"{instead if texts else 'waits to be spoken to'}; give the persona facts, then or "
            "replies by which it says so, or hear what it says"
        )


def _check_replies(replies: JSON) -> None:
    """Make sure that replies are given for the one goal of a scenario.

    Raises:
        DataError: They are not.
    """
    if replies is None:
        return
    (own,) = replies if isinstance(replies, list) and len(replies) == 1 else (None,)
    if not isinstance(own, list) or not all(isinstance(text, str) and text.strip() for text in own):
        raise DataError(
            f"persona.replies: expected [[TEXT, ...]], the texts of the one goal in order; got "
            f"{shortened(replies)}"
        )


def _is_said(step: Step) -> bool:
    return step.recipient == USER and step.result is None


def _trajectory(
    task: Task, trial: int, steps: tuple[Step, ...], provenance: dict[str, Any]
) -> Trajectory:
    said = [s.content for s in steps if s.author != steps[0].author and not s.call and not s.result]
    return Trajectory(
        task.id,
        trial,
        steps,
        offered=(task.goals[0].offered or (),),
        stops=(Stop("user_ended"),),
        answers=(said[-1] if said else None,),
        provenance=provenance,
    )


def _measured(task: Task, steps: tuple[Step, ...]) -> PlanResult:
    return measure_plan(_plan(task), _seen(task, steps), "clean")


def _plan(task: Task) -> Plan:
    (plan,) = task.goals[0].plans or ()
    return plan


def _seen(task: Task, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return view(_trajectory(task, 0, steps, {}), 0, task.initial_state, "clean")


def _shortfall(scenario: Scenario, task: Task, steps: tuple[Step, ...], result: PlanResult) -> str:
    """Return which node keeps a sequence from scoring 1, and what it lacks."""
    if result.minefield_similarity:
        hit = next(reached for reached in result.minefields if reached.similarity)
        place = place_of(scenario.minefields, "minefields", hit.node)
        return f"{place} is met by step {hit.index}; mend the sequence or the node"
    least = min(result.milestones, key=lambda reached: reached.similarity, default=None)
    if least is None:
        return "no milestone is reached; mend the sequence or the milestones"
    nodes = under(_plan(task).milestones, "clean")
    mapping = {one.node: (one.index, one.similarity) for one in result.milestones}
    (lacking, *_) = unmet(nodes, _seen(task, steps), mapping)[least.node].faults
    asked = parts(nodes[least.node].condition)
    kind = getattr(asked[lacking.condition], "kind", "") if lacking.condition >= 0 else "order"
    return (
        f"{place_of(scenario.milestones, 'milestones', least.node)} is met by "
        f"{least.similarity:.3g} at most, at step {least.index}: {_told(lacking, kind)}; "
        "mend the sequence or the node"
    )


def _told(lacking: Fault, kind: str) -> str:
    """Return what keeps a condition from being met."""
    what = ".".join(part for part in (lacking.table, lacking.column) if part) or kind
    expected = f" expected {lacking.expected}" if lacking.expected else ""
    found = f", found {lacking.found}" if lacking.found else ""
    return f"{what}:{expected}{found}" if expected or found else f"{what} is not met"


# -- Sequences of a scenario, played in its world: what would be said and done in a chat.

MANAGER = "execution_manager"
_PART = re.compile(r"\{(\w+(?:\.\w+)*)\}")


def play_sequence(
    request: str, moves: Sequence[Move], world: Environment, tools: Mapping[str, str]
) -> tuple[Step, ...]:
    """Return a sequence as the direct team says it, each result as the world gives it.

    Args:
        request: The user's first message.
        moves: What follows.
        world: Fresh; it is changed.
        tools: Name of an offered tool to its id.

    Raises:
        DataError: A call names a tool that is not offered, or a text or argument names a part that
            no result has. The text names the move.
    """
    played = _Played(world, tools)
    played.say(USER, MANAGER, request)
    for number, move in enumerate(moves):
        with located(number):
            played.move(move)
    return tuple(played.steps)


class _Played:
    def __init__(self, world: Environment, tools: Mapping[str, str]) -> None:
        self.steps: list[Step] = []
        self._world = world
        self._tools = tools
        self._kept: dict[str, Any] = {}
        self._shown: Tables = {}
        self._calls = 0
        self._turn = 0

    def move(self, move: Move) -> None:
        if move.hear is not None:
            self.say(USER, MANAGER, self._text(move.hear))
            return
        self._hear_events()
        if move.say is not None:
            self.say(MANAGER, USER, self._text(move.say))
        elif move.do is not None:
            self._do(move.do, move.keep)

    def say(self, author: str, recipient: str, text: str) -> None:
        self._tick()
        state = None if self.steps else self._changed(self._world.states()[-1])
        self._add(author, recipient, text, state=state)
        self._turn += 1

    def _hear_events(self) -> None:
        """Tell the agent what has happened by itself, as the chat does before the agent speaks."""
        if isinstance(self._world, Eventful):
            for text in self._world.events():
                state = self._changed(self._world.states()[-1])
                self._add(EXECUTOR, MANAGER, text, state=state)
                self._turn += 1

    def _do(self, what: Any, keep: str) -> None:
        written = [
            (name, arguments)
            for call in (what if isinstance(what, list) else [what])
            for name, arguments in call.items()
        ]
        calls = [self._call(name, arguments) for name, arguments in written]
        self._tick()
        for call in calls:
            self._add(MANAGER, EXECUTOR, call=call)
        self._turn += 1
        results = self._world.call(calls)
        for result, tables in zip(results, self._world.states(), strict=True):
            state = self._changed(tables)
            self._add(EXECUTOR, MANAGER, result.content, result=result, state=state)
        self._turn += 1
        if keep:
            by_id = {result.call_id: result.value for result in results}
            values = [by_id[call.id] for call in calls]
            self._kept[keep] = values if isinstance(what, list) else values[0]

    def _call(self, name: str, arguments: Mapping[str, JSON]) -> ToolCall:
        tool = named(self._tools, name, "offered tool")
        call_id = f"call_{self._calls}"
        self._calls += 1
        filled = {key: self._filled(value) for key, value in arguments.items()}
        return ToolCall(call_id, name, filled, tool=tool)

    def _filled(self, value: JSON) -> JSON:
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, dict):
            return {name: self._filled(item) for name, item in value.items()}
        if not isinstance(value, str):
            return value
        whole = _PART.fullmatch(value)
        return self._part(whole[1]) if whole else self._text(value)

    def _text(self, text: str) -> str:
        def spelled(found: re.Match[str]) -> str:
            part = self._part(found[1])
            return part if isinstance(part, str) else json_text(part)

        return _PART.sub(spelled, text)

    def _part(self, path: str) -> JSON:
        name, *keys = path.split(".")
        value = named(self._kept, name, "kept result")
        for key in keys:
            try:
                value = value[int(key)] if isinstance(value, list) else value[key]
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise DataError(f"{{{path}}}: no {key!r} in {shortened(value)}") from error
        return value

    def _add(self, author: str, recipient: str, content: str = "", **parts: Any) -> None:
        """Add a step of this turn; `parts` are the call, result and state that it has."""
        step = Step(len(self.steps), author, recipient, content, turn=self._turn, **parts)
        self.steps.append(step)

    def _tick(self) -> None:
        if isinstance(self._world, Timed):
            self._world.tick()

    def _changed(self, tables: Tables) -> Tables | None:
        """Return the tables that differ from those shown before."""
        changed = {name: rows for name, rows in tables.items() if rows != self._shown.get(name)}
        self._shown = tables
        return changed or None

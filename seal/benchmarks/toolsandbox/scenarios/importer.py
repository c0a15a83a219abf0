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
    Names,
    Scenario,
    Tried,
    clock_fields,
    place_of,
    plan_of,
    read_authored,
    tables_of,
    timed,
)
from seal.core import (
    END_CONVERSATION,
    JSON,
    PARTS,
    DataError,
    Goal,
    Step,
    Stop,
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
from seal.core.conditions import CLEAN, USER, Called, parts, tells_user
from seal.core.environment import Environment, Eventful
from seal.core.slots import WORDS, slots_of
from seal.core.state_conditions import GOLD_ENDS, EndsAs
from seal.core.statements import leaves, states
from seal.core.values import json_text
from seal.environments.gold_play import PlayedChat, gold_ends
from seal.environments.policy import with_breaches
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation.goals import WHOLLY, GoalChat, TaskChat
from seal.evaluation.pass_rates import MILESTONES, PassRate
from seal.evaluation.plans import ENDS_AMISS, in_chat, measure_goal, under, view
from seal.evaluation.shortfalls import Fault, unmet
from seal.evaluation.words import judge_words, record_of
from seal.pools.augmentation import GIVEN, TAG, UNCHANGED
from seal.pools.importer import RIGHT, WRONG, Notes, Recorded, WorldFile
from seal.pools.reading.files import named

# -- Authored scenarios as tasks, each proved by its own sequences before it is written.

BENCHMARK = "scenarios"

_OF_THE_USER = END_CONVERSATION.rpartition("/")[2]


def import_scenarios(
    source: Path,
    notes: Notes,
    *,
    benchmark: str = BENCHMARK,
    web: str | None = None,
    recordings: bool = True,
    allow_code: Collection[str] = (),
) -> Iterator[Tool | Task | Recorded | WorldFile]:
    """Yield the tools of the worlds, the scenarios as tasks, and their other sequences as recorded.

    The n-th right or wrong one of a task is the n-th trial of its recording.

    Args:
        source: A file, or a folder of files, as `seal.benchmarks.toolsandbox.scenarios` says.
        notes: Gets the counts.
        benchmark: Name of the benchmark that the tasks belong to.
        web: File of what the web answers, which comes along and is what a run is given too; None:
            what is shipped.
        recordings: Whether the other sequences come along; they are played in any case.
        allow_code: Modules whose worlds a scenario may name by a dotted path.

    Raises:
        DataError: A file is malformed, a scenario contradicts itself, its gold sequence does not
            score 1, or a wrong one does. The text names file, scenario, field and repair.
        UnknownNameError: There is no world of a kind.
        MissingExtraError: A tool needs a library that is not installed.
    """
    authored = read_authored(source)
    worlds = _kinds(web, allow_code)
    compiled = [
        compiled_scenario(scenario, authored, worlds, benchmark) for scenario in authored.scenarios
    ]
    kinds = sorted({task.world for task, _ in compiled})
    documents = {tool.id: tool for kind in kinds for tool in tools_of_agent(worlds(kind)[0])}
    yield from documents.values()
    counts: Counter[str] = Counter()
    for scenario, (task, tried) in zip(authored.scenarios, compiled, strict=True):
        notes.remarks += (f"{scenario.place}: {text}" for text in unheard(scenario, task))
        yield task
        for name, trajectories in tried.items():
            if recordings:
                yield from (Recorded(name, trajectory) for trajectory in trajectories)
            counts[name] += len(trajectories)
        counts.update(**{tag: int(task.tags[tag]) for tag in CATEGORIES})
    notes.facts["counts"] = dict(sorted(counts.items()))
    if web is not None:
        yield from web_answers(Path(web), notes)


def tools_of_agent(world: Worlds) -> list[Tool]:
    """Return the tools of a world without the one by which the user ends the conversation."""
    return [tool for tool in world.documents() if tool.name != _OF_THE_USER]


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


def compiled_scenario(
    scenario: Scenario, authored: Authored, worlds: Callable[[str], _Kind], benchmark: str
) -> tuple[Task, dict[str, list[Trajectory]]]:
    """Return a scenario as a task, and its right and wrong sequences as trajectories.

    Args:
        scenario: As it was written.
        authored: Has its world.
        worlds: Gives a kind of world, built, and what its tools take.
        benchmark: Name of the benchmark of the task.

    Raises:
        DataError: The scenario contradicts itself, its gold does not score 1, or a wrong sequence
            does; says the place and the repair.
    """
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

    def compiled(self) -> tuple[Task, dict[str, list[Trajectory]]]:
        """Return the task, and its right and wrong sequences as trajectories.

        Raises:
            DataError: The text begins with the field.
        """
        self._check_gold()
        task = self._task(EndsAs())
        self._check_events(task)
        gold = self._played(task, self.scenario.gold, "gold")
        zone = ZoneInfo(str(clock_fields(self.scenario, self.base).get("zone", UTC)))
        task = _with_reference(self._task(self._end(gold, zone)), gold)
        self._check_end(task)
        ends = self._ends(task)
        said = self._fault(task, gold, ends)
        if said:
            raise DataError(f"gold: {said}; mend the sequence, or what is asked of it")
        self._check_reading(task, gold)
        place = self._telling(task, gold)
        tried: dict[str, list[Trajectory]] = {RIGHT: [], WRONG: []}
        for name, sequences in ((RIGHT, self.scenario.right), (WRONG, self.scenario.wrong)):
            for number, one in enumerate(sequences):
                sequence = self._sequence(one, place)
                field = f"{name}.{number}"
                steps = self._played(task, sequence.steps, f"{field}.steps")
                said = self._fault(task, steps, ends)
                about = f" ({sequence.why})" if sequence.why else ""
                if said and name == RIGHT:
                    raise DataError(f"{field}: {said}{about}; mend it, or what gold asks")
                if not said and name == WRONG:
                    raise DataError(
                        f"{field}: it solves the task as gold does{about}; name what it lacks: a "
                        "value in `tells`, a minefield, or calls of gold that leave another end"
                    )
                provenance = {"why": sequence.why, GOLD_ENDS: ends}
                chat = _trajectory(task, number, steps, provenance)
                tried[name].append(with_breaches(self.world.policy, task, chat))
        return task, tried

    def _sequence(self, tried: Tried | str, place: int) -> Tried:
        """Return a sequence; a text stands in the place of a move, and ends it if no call follows.

        Args:
            tried: As it is written.
            place: Of the move by which gold has told all.
        """
        if isinstance(tried, Tried):
            return tried
        before, after = self.scenario.gold[:place], self.scenario.gold[place + 1 :]
        rest = after if any(move.do for move in after) else []
        return Tried([*before, Move(say=tried), *rest], tried)

    def _telling(self, task: Task, gold: Sequence[Step]) -> int:
        """Return which move of gold is the one by which it has told all that it must tell.

        Where it must tell nothing, that is its last message.
        """
        spoken = [step for step in gold if tells_user(step)]
        moves = [place for place, move in enumerate(self.scenario.gold) if move.say is not None]
        must = not all(slot.optional for slot in task.goals[0].tells)
        for number, step in enumerate(spoken if must else ()):
            verdict, _ = judge_words(task.goals[0], step.content, gold[: step.index + 1])
            if verdict is not None and verdict.label == "solved":
                return moves[number]
        return moves[-1]

    def _end(self, gold: Sequence[Step], zone: ZoneInfo) -> EndsAs:
        """Return the end that the calls of gold leave which changed the world."""
        calls = {step.call.id: step.call for step in gold if step.call is not None}
        changing = [
            calls[step.result.call_id]
            for step in gold
            if step.result is not None and step.state and step.result.error is None
        ]
        made = [(call.tool or "", call.arguments or {}) for call in changing]
        if self.scenario.end is not None:
            given = timed(self.scenario.end, zone, "end")
            named = ((name, of) for call in given for name, of in call.items())
            made = [(self._ids([name], "end")[0], arguments) for name, arguments in named]
        sequence = tuple(Called.exact(tool, arguments) for tool, arguments in made)
        cells = {**self.base.cells, **self.scenario.cells}
        ignore = (*self.base.ignore, *self.scenario.ignore)
        for field, names in (("cells", cells), ("ignore", ignore)):
            for name in names:
                self._check_column(name, field)
        try:
            return EndsAs((sequence,), ignore, cells)
        except UsageError as error:
            raise DataError(str(error).removeprefix("ends_as: ")) from error

    def _check_column(self, name: str, field: str) -> None:
        """Make sure that the world has a table, or one with the column (`table.column`)."""
        table, _, column = name.partition(".")
        known = dict.fromkeys(self.world.tables)
        named({**known, **self.world.columns}, table, "table", field)
        types = self.world.columns.get(table, {})
        if column and types:
            named(types, column, "column", f"{field}: {name}")

    def _ends(self, task: Task) -> JSON:
        """Return how the world ends after the calls of gold, as a run keeps it."""
        found = gold_ends(task, self._opened(task, 0), self._documents())
        return {
            goal: {key: [end.to_json() for end in ends] for key, ends in by_key.items()}
            for goal, by_key in found.items()
        }

    def _check_end(self, task: Task) -> None:
        """Make sure that the calls of gold leave the same end in every chat.

        Raises:
            DataError: One takes what the world makes anew, such as an id, or a column holds it that
                is not ignored.
        """
        opened = self._opened(task, 1)
        found = gold_ends(task, opened, self._documents(), again=self._opened(task, 2))
        nodes = (node for plan in task.goals[0].plans or () for node in plan.milestones)
        asked_ends = (part for node in nodes for part in node.condition.parts())
        for asked in (part for part in asked_ends if isinstance(part, EndsAs)):
            for end in found["0"][asked.key]:
                if end.fault:
                    raise DataError(
                        f"end: in another chat {end.fault}. What the world makes anew is known in "
                        "one chat alone; name as `end` calls that do not take it"
                    )
                for name in end.varies:
                    if not {name, name.partition(".")[0]} & {*asked.ignore}:
                        raise DataError(f"ignore: {name} is another in each chat; name it here")

    def _opened(self, task: Task, trial: int) -> Callable[[], Environment]:
        """Return what opens the world of a chat of the task."""
        return lambda: self.world.open(task, trial, list(task.goals[0].offered or ()))

    def _fault(self, task: Task, steps: tuple[Step, ...], ends: JSON) -> str:
        """Return why a sequence does not solve the task; empty: it does."""
        chat = _trajectory(task, 0, steps, {GOLD_ENDS: ends})
        chat = with_breaches(self.world.policy, task, chat)
        played = TaskChat(task, chat, self._documents())
        (score,) = PassRate().of(played)
        if score.value == 1.0:
            return ""
        lacking = ""
        if score.details.get("by") == MILESTONES:
            lacking = _lacking(self.scenario, played.goals[0])
        return lacking or score.reason or str(score.details["reason"])

    def _task(self, end: EndsAs) -> Task:
        scenario, clock = self.scenario, clock_fields(self.scenario, self.base)
        zone = ZoneInfo(str(clock.get("zone", UTC)))
        offered = self._ids(scenario.tools or [*self._tools()], "tools")
        withheld = self._ids(scenario.withheld, "withheld")
        try:
            tells = slots_of(scenario.tells)
        except UsageError as error:
            raise DataError(str(error)) from error
        plan = plan_of(scenario, Names(self._tools(), zone, self.arguments), end)
        task = Task(
            scenario.id,
            self.benchmark,
            (Goal(scenario.request, (plan,), offered=tuple(offered), tells=tells),),
            tables_of(scenario, self.base, zone, self.world.columns, self.world.tables),
            persona=_persona(scenario, self.base),
            tags={
                **{tag: tag in scenario.categories for tag in CATEGORIES},
                TAG: UNCHANGED,
                "group": scenario.id,
                **scenario.tags,
            },
            metadata={
                "match": "clean",
                "clock": clock,
                "max_messages": self.base.max_messages,
                "base": scenario.id,
                GIVEN: {"allow": offered, "deny": withheld},
            },
            world=self.base.kind,
            system="\n\n".join(filter(str.strip, (self.world.told, self.base.system))),
        )
        self.world.check(task)
        begun = self.world.beginning(task)
        given = task.initial_state or {}
        return replace(task, initial_state={name: begun[name] for name in begun if name in given})

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

    def _check_reading(self, task: Task, gold: Sequence[Step]) -> None:
        """Make sure that no milestone asks for a call that only reads, unless its result is told.

        Who knows the values otherwise has solved the scenario too. A call by whose result another
        milestone is filled in is left alone.
        """
        needed = _needed(task, gold) if self.scenario.milestones else set()
        made = {step.call.name for step in gold if step.call is not None}
        for number, node in enumerate(self.scenario.milestones):
            calls = node.calls if isinstance(node.calls, list) else [node.calls or {}]
            tools = [name for call in calls for name in call if name in made]
            if tools and needed.isdisjoint(tools):
                raise DataError(
                    f"{place_of(self.scenario.milestones, 'milestones', number)}: calls: "
                    f"{' or '.join(tools)} only reads, and nothing that the scenario tells comes "
                    "of it; leave it out, or name in `tells` what it is read for"
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

    def _documents(self) -> dict[str, Tool]:
        return {tool.id: tool for tool in self.world.documents()}

    def _tools(self) -> dict[str, str]:
        """Return the name of each tool of the agent to its id."""
        return {tool.name: tool.id for tool in tools_of_agent(self.world)}

    def _ids(self, names: Sequence[str], field: str) -> list[str]:
        known = self._tools()
        found = []
        for name in names:
            found.append(named(known, name, "tool of the world", field))
            if names.count(name) > 1:
                raise DataError(f"{field}: {name!r} stands {names.count(name)} times; name it once")
        return found

    def _played(self, task: Task, moves: Sequence[Move], field: str) -> tuple[Step, ...]:
        known = self._tools()
        offered = {name: known[name] for name in self.scenario.tools or known}
        with located(field, mark="."):
            played = Played(self.world.open(task, 0, list(offered)), offered)
            played.ask(self.scenario.request)
            for number, move in enumerate(moves):
                with located(number):
                    played.move(move)
            return tuple(played.steps)


def _with_reference(task: Task, gold: Sequence[Step]) -> Task:
    """Return a task with its gold sequence, by which a run scores it, too."""
    reference = tuple(replace(step, state=None) for step in gold)
    called = dict.fromkeys(s.call.tool for s in gold if s.call is not None and s.call.tool)
    return replace(
        task, goals=(replace(task.goals[0], reference=reference, relevant=tuple(called)),)
    )


def _lacking(scenario: Scenario, goal: GoalChat) -> str:
    """Return which node keeps a sequence from solving a scenario, and what it lacks; else empty."""
    result = goal.chat.once(measure_goal, goal, CLEAN).result
    if result.minefield_similarity:
        hit = next(reached for reached in result.minefields if reached.similarity)
        return f"{place_of(scenario.minefields, 'minefields', hit.node)} is met by step {hit.index}"
    least = min(result.milestones, key=lambda reached: reached.similarity, default=None)
    if least is None or least.similarity >= WHOLLY:
        return ""
    (plan,) = (in_chat(plan, goal.trajectory, 0) for plan in goal.goal.plans or ())
    nodes = under(plan.milestones, CLEAN)
    steps = view(goal.trajectory, 0, goal.task.initial_state, CLEAN)
    mapping = {one.node: (one.index, one.similarity) for one in result.milestones}
    (lacking, *_) = unmet(nodes, steps, mapping)[least.node].faults
    if least.node == len(scenario.milestones):
        return f"{ENDS_AMISS}: {_told(lacking, 'end')}"
    asked = parts(nodes[least.node].condition)
    kind = getattr(asked[lacking.condition], "kind", "") if lacking.condition >= 0 else "order"
    place = place_of(scenario.milestones, "milestones", least.node)
    met = f"is met by {least.similarity:.3g} at most, at step {least.index}"
    return f"{place} {met}: {_told(lacking, kind)}"


def _told(lacking: Fault, kind: str) -> str:
    """Return what keeps a condition from being met."""
    what = ".".join(part for part in (lacking.table, lacking.column) if part) or kind
    what = f"{what} of {lacking.row}" if lacking.row else what
    expected = f" expected {lacking.expected}" if lacking.expected else ""
    found = f", found {lacking.found}" if lacking.found else ""
    return f"{what}:{expected}{found}" if expected or found else f"{what} is not met"


def _needed(task: Task, gold: Sequence[Step]) -> set[str]:
    """Return the names of the tools that changed the world, or gave what gold tells.

    A result gave what its own value holds or explains, and what others gave who were called with
    that.
    """
    calls = {step.call.id: step.call for step in gold if step.call is not None}
    wanted: list[JSON] = [
        one.value if one.type == "truth" else text
        for one in task.goals[0].tells
        if one.type not in WORDS
        for text in one.texts
    ]
    found = set()
    for step in reversed(gold):
        if step.result is None:
            continue
        call = calls[step.result.call_id]
        gave = any(_gives(task.goals[0].text, step, value) for value in wanted)
        if step.state or gave:
            found.add(call.name)
        if gave:
            wanted += [leaf for _, leaf in leaves(call.arguments or {})]
    return found


def _gives(request: str, step: Step, value: JSON) -> bool:
    """Tell whether a result holds a value, or it follows from the result and the request."""
    held = [leaf for _, leaf in leaves(step.result.value if step.result is not None else None)]
    if isinstance(value, bool):
        return any(isinstance(leaf, bool) for leaf in held)
    if value in held:
        return True
    text = str(value)
    if any(map(str.isdigit, text)):
        return bool(held) and not record_of([request], [step]).unexplained(text)
    return any(states(str(leaf), text) for leaf in held)


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


def unheard(scenario: Scenario, task: Task) -> Iterator[str]:
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


# -- Sequences of a scenario, played in its world: what would be said and done in a chat.

MANAGER = "execution_manager"
_PART = re.compile(r"\{(\w+(?:\.\w+)*)\}")


class Played(PlayedChat):
    """A sequence as the direct team says it, each result as the world gives it.

    A `DataError` says that a call names a tool that is not offered, or that a text or an argument
    names a part that no result has.

    Args:
        world: Fresh; it is changed.
        tools: Name of an offered tool to its id.
    """

    def __init__(self, world: Environment, tools: Mapping[str, str]) -> None:
        super().__init__(world, MANAGER)
        self._tools = tools
        self._kept: dict[str, Any] = {}

    def move(self, move: Move) -> None:
        """Make the next move of a sequence."""
        if move.hear is not None:
            self.ask(self._text(move.hear))
            return
        self.hear_events()
        if move.say is not None:
            self.tell(self._text(move.say))
        elif move.do is not None:
            self._do(move.do, move.keep)

    def _do(self, what: Any, keep: str) -> None:
        written = [
            (name, arguments)
            for call in (what if isinstance(what, list) else [what])
            for name, arguments in call.items()
        ]
        calls = [
            self._call(self.calls + number, name, arguments)
            for number, (name, arguments) in enumerate(written)
        ]
        results = self.make(calls)
        if keep:
            by_id = {result.call_id: result.value for result in results}
            values = [by_id[call.id] for call in calls]
            self._kept[keep] = values if isinstance(what, list) else values[0]

    def _call(self, number: int, name: str, arguments: Mapping[str, JSON]) -> ToolCall:
        tool = named(self._tools, name, "offered tool")
        filled = {key: self._filled(value) for key, value in arguments.items()}
        return ToolCall(f"call_{number}", name, filled, tool=tool)

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

"""Mutants of gold: wrong variants, none of which may solve a task of a world, and right ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, islice, permutations
from random import Random
from typing import Any, NamedTuple

from seal.core import (
    JSON,
    DataError,
    Goal,
    Milestone,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
    shortened,
)
from seal.core.conditions import AGENT, USER, Called, parts, party
from seal.core.earlier_results import Lacking, part_at, reference, result_value
from seal.core.environment import Held, Timed
from seal.core.slots import WORDS
from seal.core.state_conditions import GOLD_ENDS, EndsAs, FinalState, StateHas, Unconfirmed, ignored
from seal.core.statements import leaves
from seal.core.text import counted, sentences
from seal.core.values import canonical_json, equal
from seal.environments.gold_play import End, PlayedChat, changes, gold_ends, varying
from seal.environments.world import Worlds
from seal.evaluation.effects import ends_asked
from seal.evaluation.goals import TaskChat, asks_calls_alone, asks_of_world, unserved
from seal.evaluation.pass_rates import PassRate
from seal.models.oracle import moves, reply_of
from seal.pools.other_words import (
    LIES,
    REFUSED,
    Said,
    holds,
    names_in,
    told_wrong,
    wordings,
)

# -- Gold as a script: what is done, said and heard for one goal.


class Link(NamedTuple):
    """A value that comes of the result of an earlier call."""

    call: int
    path: tuple[str, ...]
    usual: JSON
    """What it is where gold is played."""


class Deed(NamedTuple):
    """A call of a script."""

    number: int
    """By which it is known in each variant; from `_MORE` on: gold does not have it."""
    tool: str
    arguments: Mapping[str, Any]
    """Values may be a `Link`, or hold one."""


class Move(NamedTuple):
    """One step of a script: calls that are made at once, or what is said or heard."""

    deeds: tuple[Deed, ...] = ()
    say: str = ""
    hear: str = ""


Script = Sequence[Move]
_MORE = 1000
_DONE = ("Done.", "I cannot do that with the tools that I have.", "It was refused.")
"""What is said where gold has no words; the first that solves counts."""


def scripts_of(goal: Goal) -> list[Script]:
    """Return the scripts that a goal's gold may be, of which one should solve it.

    Raises:
        DataError: Its gold names no calls, or leaves arguments open.
    """
    if any(step.call is not None or step.result is not None for step in goal.reference):
        return [_with_reply(_of_reference(goal), reply_of(goal))]
    if goal.plans is None or not goal.plans:
        raise DataError("its gold names no calls")
    found, number = list[Move](), 0
    for move in moves(goal):
        deeds = []
        for gold in move.calls:
            if gold.arguments is None or gold.open_arguments:
                raise DataError("its gold leaves arguments open")
            given = {name: _linked(v) for name, v in gold.canonical_arguments().items()}
            deeds.append(Deed(number, gold.tool, given))
            number += 1
        found.append(Move(tuple(deeds), move.words))
    kinds = [part for node in goal.plans[0].milestones for part in node.condition.parts()]
    if not found and any(isinstance(part, FinalState | StateHas) for part in kinds):
        raise DataError("its gold names no calls")
    told = [text for text in (reply_of(goal),) if text] or _DONE
    return [_with_reply(found, text) for text in told]


def _linked(value: Any) -> Any:
    """Return a gold value in which references to results are links."""
    if (known := reference(value)) is not None:
        return Link(known.call - 1, tuple(filter(None, known.path.split("."))), None)
    if isinstance(value, dict):
        return {name: _linked(one) for name, one in value.items()}
    return [_linked(one) for one in value] if isinstance(value, list) else value


def _with_reply(script: Script, reply: str) -> Script:
    """Return a script that ends with a reply."""
    last = script[-1] if script else Move()
    begun = script[:-1] if last.say else script
    return [*begun, Move(say=reply or last.say or _DONE[0])]


def _of_reference(goal: Goal) -> Script:
    script, turn, number = list[Move](), -1, 0
    numbers: dict[str, int] = {}
    results: dict[int, JSON] = {}
    for step in goal.reference:
        if step.call is not None:
            given = {n: _taken(v, results, goal) for n, v in (step.call.arguments or {}).items()}
            deed = Deed(number, step.call.tool or step.call.name, given)
            numbers[step.call.id], number = number, number + 1
            if turn == step.turn and script and script[-1].deeds:
                script[-1] = Move((*script[-1].deeds, deed))
            else:
                script.append(Move((deed,)))
            turn = step.turn
        elif step.result is not None:
            if step.result.call_id in numbers:
                results[numbers[step.result.call_id]] = _value(step.result)
        elif step.author in (USER, "user"):
            script += [Move(hear=step.content)] if script else []
        elif party(step.author) == AGENT and step.content.strip():
            script.append(Move(say=step.content))
    return script


def _value(result: ToolResult) -> JSON:
    return result_value(result.content) if result.value is None else result.value


_SHORT = 3


def _taken(value: Any, results: Mapping[int, JSON], goal: Goal) -> Any:
    """Return a value with a link for each leaf that an earlier result holds and nobody said."""
    if isinstance(value, dict):
        return {name: _taken(one, results, goal) for name, one in value.items()}
    if isinstance(value, list):
        return [_taken(one, results, goal) for one in value]
    is_short = len(str(value)) < _SHORT or isinstance(value, bool) or value is None
    if is_short or str(value) in goal.text:
        return value
    for call, result in reversed(results.items()):
        path = _path_to(value, result)
        if path is not None:
            return Link(call, path, value)
    return value


def _path_to(value: JSON, within: JSON) -> tuple[str, ...] | None:
    inside: Iterable[tuple[Any, JSON]] = ()
    if isinstance(within, dict):
        inside = within.items()
    elif isinstance(within, list):
        inside = enumerate(within)
    elif equal(value, within):
        return ()
    for name, one in inside:
        path = _path_to(value, one)
        if path is not None:
            return (str(name), *path)
    return None


def _leaves(value: JSON) -> list[JSON]:
    return [leaf for _, leaf in leaves(value)]


def _resolved(value: Any, results: Mapping[int, JSON]) -> JSON:
    """Return a value as a chat fills it: what the earlier result has, else the usual one."""
    if isinstance(value, Link):
        result = results.get(value.call)
        if value.usual is not None and any(equal(value.usual, one) for one in _leaves(result)):
            return value.usual
        try:
            return part_at(result, ".".join(value.path))
        except Lacking:
            return value.usual
    if isinstance(value, dict):
        return {name: _resolved(one, results) for name, one in value.items()}
    return [_resolved(one, results) for one in value] if isinstance(value, list) else value


def _written(deed: Deed) -> str:
    given = (f"{name}={shortened(_resolved(v, {}))}" for name, v in deed.arguments.items())
    return f"{deed.tool.rpartition('/')[2]}({', '.join(given)})"


# -- A script, played in a fresh world.

Changes = Mapping[str, Mapping[str, Sequence[Any]]]


class Played(NamedTuple):
    """What came of a script."""

    chat: Trajectory
    changes: Changes
    """Table to the rows that came and went, for all goals together."""
    results: Mapping[int, ToolResult]
    """By the numbers of the goal's own deeds."""
    changing: frozenset[int]
    """Numbers of the deeds that changed the world."""


def play(
    task: Task, scripts: Sequence[Script], world: Worlds, trial: int = 0, late: bool = False
) -> Played:
    """Return what comes of scripts in a fresh world.

    Args:
        task: Whose world is opened.
        scripts: Of its goals from the first on; the last is told of.
        world: Opens it.
        trial: Which time: other trials have other ids.
        late: Whether a turn passes before.

    Raises:
        InfrastructureError: What a tool asks outside of the world failed.
    """
    names = {tool.id: tool.name for tool in world.documents()}
    offered = [_offered(goal, names) for goal in task.goals[: len(scripts)]]
    with ExitStack() as ended:
        opened = world.open(task, trial, [names[tool] for tool in offered[-1] if tool in names])
        if isinstance(opened, Held):
            ended.callback(opened.close)
        if late and isinstance(opened, Timed):
            opened.tick()
        begun = (opened.states() or [{}])[-1]
        chat, answers = PlayedChat(opened), list[str | None]()
        results: dict[int, ToolResult] = {}
        changing = set[int]()
        for number, script in enumerate(scripts):
            results, changing, chat.goal = {}, set(), number
            chat.ask(task.said_first(number) or task.goals[number].text)
            for move in script:
                _move(chat, move, results, changing, names)
            says = [move.say for move in script if move.say]
            answers.append(says[-1] if says else None)
        after = (opened.states() or [{}])[-1]
    provenance: dict[str, Any] = {}
    played = Trajectory(
        task.id,
        trial,
        tuple(chat.steps),
        offered=tuple(map(tuple, offered)),
        stops=tuple(Stop("done") for _ in scripts),
        answers=tuple(answers),
        provenance=provenance,
    )
    return Played(played, changes(begun, after), results, frozenset(changing))


def _offered(goal: Goal, names: Mapping[str, str]) -> Sequence[str]:
    return list(names) if goal.offered is None else goal.offered


def _move(
    chat: PlayedChat,
    move: Move,
    results: dict[int, ToolResult],
    changing: set[int],
    names: Mapping[str, str],
) -> None:
    if move.hear:
        chat.ask(move.hear)
        return
    chat.hear_events()
    if move.say:
        chat.tell(move.say)
    if not move.deeds:
        return
    known = {number: _value(one) for number, one in results.items() if one.error is None}
    calls = []
    for place, deed in enumerate(move.deeds):
        given = {name: _resolved(value, known) for name, value in deed.arguments.items()}
        name = names.get(deed.tool, deed.tool)
        calls.append(ToolCall(f"call_{chat.calls + place}", name, given, tool=deed.tool))
    numbers = {call.id: deed.number for call, deed in zip(calls, move.deeds, strict=True)}
    before = len(chat.steps)
    for result in chat.make(calls):
        results[numbers[result.call_id]] = result
    for step in chat.steps[before:]:
        if step.result is not None and step.state:
            changing.add(numbers[step.result.call_id])


_MINUTE = 60.0


def is_same(one: Changes, other: Changes, ignore: Sequence[str], varies: Sequence[str]) -> bool:
    """Tell whether a world changed alike.

    Args:
        one: What came and went.
        other: Likewise.
        ignore: `table` or `table.column` that may differ.
        varies: `table.column` that is another in each chat: ids, and times within a minute.
    """
    for table in {**one, **other}:
        columns = ignored(table, ignore)
        if columns is None:
            continue
        loose = {name.partition(".")[2] for name in varies if name.startswith(f"{table}.")}
        for how in ("came", "went"):
            rows = list(other.get(table, {}).get(how, ()))
            for row in one.get(table, {}).get(how, ()):
                at = next((n for n, o in enumerate(rows) if _alike(row, o, columns, loose)), None)
                if at is None:
                    return False
                del rows[at]
            if rows:
                return False
    return True


def _alike(
    row: Mapping[str, Any], other: Mapping[str, Any], columns: Iterable[str], loose: set[str]
) -> bool:
    return all(
        equal(row.get(name), other.get(name)) or (name in loose and _near(row[name], other[name]))
        for name in (row.keys() | other.keys()) - set(columns)
        if name in row and name in other
    )


def _near(one: Any, other: Any) -> bool:
    numbers = [n for n in (one, other) if isinstance(n, (int, float)) and not isinstance(n, bool)]
    return abs(one - other) <= _MINUTE if len(numbers) == 2 else type(one) is type(other)


# -- A goal whose gold is altered, and the variants of it.


@dataclass(frozen=True, slots=True)
class Case:
    """A goal, and its gold as it was played."""

    task: Task
    goal: int
    before: Sequence[Script]
    """Of earlier goals."""
    script: Script
    base: Played
    wanted: Sequence[Changes]
    """What the world may have changed at the end."""
    ignore: Sequence[str]
    varies: Sequence[str]
    tools: Mapping[str, Tool]
    """Offered ones by id."""
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    """The world as it begins."""

    @property
    def gold(self) -> Goal:
        """The goal."""
        return self.task.goals[self.goal]

    @property
    def deeds(self) -> list[Deed]:
        """All calls of the script."""
        return [deed for move in self.script for deed in move.deeds]

    @property
    def texts(self) -> tuple[str, ...]:
        """All that the agent says."""
        return tuple(move.say for move in self.script if move.say)

    def otherwise(self, played: Played) -> bool:
        """Tell whether the world ends in none of the ways that gold leaves open."""
        return not any(self._same(played, one) for one in self.wanted)

    def as_well(self, played: Played) -> bool:
        """Tell whether the world ends as after gold."""
        return self._same(played, self.base.changes)

    def alike(self, played: Played) -> bool:
        """Tell whether each call of gold brought what it brings in gold, and the end is gold's."""
        pairs = [(one, played.results.get(n)) for n, one in self.base.results.items()]
        return self.as_well(played) and all(
            other is not None
            and (one.error is None) == (other.error is None)
            and (n in self.base.changing or _brings(other, one))
            for n, (one, other) in zip(self.base.results, pairs, strict=True)
        )

    def _same(self, played: Played, wanted: Changes) -> bool:
        return is_same(played.changes, wanted, self.ignore, self.varies)


def _brings(other: ToolResult, one: ToolResult) -> bool:
    """Tell whether a result has what another has, but for numbers that time moves."""
    values = [_leaves(_value(each)) for each in (one, other)]
    pairs = zip(*values, strict=False)
    return len(values[0]) == len(values[1]) and all(
        equal(a, b) or (_is_number(a) and _near(a, b)) for a, b in pairs
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Variant(NamedTuple):
    """Something else that is done or said."""

    altered: str
    """What, in words."""
    script: Script
    counts: Callable[[Played], bool] = lambda played: True
    """Tells whether it is what it is meant to be, by how the world ends."""


Make = Callable[[Case, "Pool"], Iterator[Variant]]


@dataclass(frozen=True, slots=True)
class Pool:
    """What the other tasks of the pool lend."""

    looks: Sequence[Deed] = ()
    """Calls that changed nothing."""
    deeds: Sequence[Deed] = ()
    """Calls that changed the world."""
    names: Sequence[str] = ()


def _changed(script: Script, number: int, to: Deed | None) -> list[Move]:
    """Return a script with another call in the place of one; None: without it."""
    found = []
    for move in script:
        deeds = tuple(to if one.number == number else one for one in move.deeds)
        left = tuple(one for one in deeds if one is not None)
        found += [Move(left, move.say, move.hear)] if left or move.say or move.hear else []
    return found


def _saying(script: Script, texts: Sequence[str]) -> list[Move]:
    """Return a script in which other texts are said."""
    left = iter(texts)
    return [move._replace(say=next(left)) if move.say else move for move in script]


def _before_reply(script: Script, *more: Move) -> list[Move]:
    return [*script[:-1], *more, script[-1]]


def _acting(case: Case) -> list[Deed]:
    return [deed for deed in case.deeds if deed.number in case.base.changing]


def _left_out(case: Case, pool: Pool) -> Iterator[Variant]:
    for deed in _acting(case):
        script = _changed(case.script, deed.number, None)
        yield Variant(f"without {_written(deed)}", script, case.otherwise)


def _with_values(
    case: Case, others: Callable[[Case, str, str, JSON], Iterable[JSON]]
) -> Iterator[Variant]:
    """Yield each changing call with another value of one argument."""
    for deed in _acting(case):
        known = {n: _value(one) for n, one in case.base.results.items() if one.error is None}
        for name, given in deed.arguments.items():
            for value in others(case, deed.tool, name, _resolved(given, known)):
                new = deed._replace(arguments={**deed.arguments, name: value})
                text = f"{_written(new)} for {_written(deed)}"
                yield Variant(text, _changed(case.script, deed.number, new), case.otherwise)


_DAY = 86_400
_MOMENT = 1e8
"""Numbers from here on are POSIX seconds."""


def _other_values(case: Case, tool: str, name: str, value: JSON) -> Iterable[JSON]:
    schema: Any = case.tools[tool].parameters.get("properties") if tool in case.tools else None
    choices = (schema or {}).get(name, {}).get("enum") or ()
    yield from [one for one in choices if one != value][:2]
    if choices:
        return
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + _DAY, value - 3600) if value >= _MOMENT else (value + 1, value * 10)
    elif isinstance(value, str):
        digits = [place for place, one in enumerate(value) if one.isdigit()]
        if digits:
            at = digits[-1]
            yield value[:at] + str((int(value[at]) + 3) % 10) + value[at + 1 :]
        elif value:
            yield "Buy a green umbrella"
    elif isinstance(value, list) and value:
        yield value[:-1]


def _other_rows(case: Case, tool: str, name: str, value: JSON) -> Iterable[JSON]:
    """Yield the values that other rows have in the column in which one stands."""
    if isinstance(value, bool) or value in (None, "", 0, 1):
        return
    for rows in case.rows.values():
        for column in {column for row in rows for column, cell in row.items() if cell == value}:
            others = [row.get(column) for row in rows if row.get(column) not in (None, "", value)]
            yield from list(dict.fromkeys(one for one in others if isinstance(one, str | int)))[:3]


def _entities(case: Case, pool: Pool) -> Iterator[Variant]:
    return _with_values(case, _other_rows)


def _values(case: Case, pool: Pool) -> Iterator[Variant]:
    return _with_values(case, _other_values)


def _runs(script: Script) -> Iterator[tuple[int, int]]:
    """Yield where calls follow each other without a word: from, and up to."""
    start = 0
    for place, move in enumerate([*script, Move(say="end")]):
        if move.say or move.hear:
            if place > start:
                yield start, place
            start = place + 1


def _orders(case: Case) -> Iterator[tuple[str, list[Deed], list[Move]]]:
    """Yield other orders of the calls between two words, each as text, calls and script."""
    for start, stop in _runs(case.script):
        deeds = [deed for move in case.script[start:stop] for deed in move.deeds]
        for order in islice(permutations(deeds), 1, _MOST_ORDERS):
            text = ", ".join(deed.tool.rpartition("/")[2] for deed in order)
            calls = [Move((deed,)) for deed in order]
            yield (
                f"in the order {text}",
                [*order],
                [*case.script[:start], *calls, *case.script[stop:]],
            )


_MOST_ORDERS = 121


def _links(value: Any) -> Iterator[Link]:
    if isinstance(value, Link):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_links, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_links, value))


def _is_knowable(order: Sequence[Deed]) -> bool:
    """Tell whether each call of an order comes after those whose results it takes."""
    places = {deed.number: place for place, deed in enumerate(order)}
    return all(
        places.get(link.call, -1) < place
        for place, deed in enumerate(order)
        for link in _links(deed.arguments)
    )


def _breaks_order(case: Case, order: Sequence[Deed]) -> bool:
    """Tell whether calls come in an order that the milestones of every plan forbid."""
    plans = case.gold.plans or ()
    return bool(plans) and all(_breaks(plan.milestones, order) for plan in plans)


def _breaks(nodes: Sequence[Milestone], order: Sequence[Deed]) -> bool:
    places: dict[int, int] = {}
    for number, node in enumerate(nodes):
        gold = node.condition
        fits = (
            place
            for place, deed in enumerate(order)
            if place not in places.values()
            and isinstance(gold, Called)
            and gold.tool == deed.tool
            and gold.accepts(_usual(deed))
        )
        places |= {number: place for place in islice(fits, 1)}
    return any(
        before in places and number in places and places[before] > places[number]
        for number, node in enumerate(nodes)
        for before in node.after
    )


def _usual(deed: Deed) -> dict[str, JSON]:
    return {name: _resolved(value, {}) for name, value in deed.arguments.items()}


def _swapped(case: Case, pool: Pool) -> Iterator[Variant]:
    for text, order, script in _orders(case):
        if not _breaks_order(case, order):
            yield Variant(text, script, case.otherwise)


def _forbidden(case: Case, pool: Pool) -> Iterator[Variant]:
    goal = case.gold
    if asks_calls_alone(goal) or any(map(asks_of_world, goal.plans or ())):
        for text, order, script in _orders(case):
            if _is_knowable(order) and _breaks_order(case, order):
                yield Variant(text, script)


def _allowed(case: Case, pool: Pool) -> Iterator[Variant]:
    single = [Move((deed,)) for deed in case.deeds]
    if any(len(move.deeds) > 1 for move in case.script) and len(case.script) - 1 < len(single) + 1:
        apart = [
            one
            for move in case.script
            for one in ([Move((deed,)) for deed in move.deeds] if move.deeds else [move])
        ]
        yield Variant("each call in a reply of its own", apart, case.alike)
    for text, order, script in _orders(case):
        if _is_knowable(order) and not _breaks_order(case, order):
            yield Variant(text, script, case.alike)


def _again(deed: Deed, number: int = _MORE) -> Move:
    return Move((deed._replace(number=number),))


def _is_gold(case: Case, deed: Deed) -> bool:
    return any(deed.tool == own.tool and equal(_usual(deed), _usual(own)) for own in case.deeds)


def _effects(case: Case, pool: Pool) -> Iterator[Variant]:
    for deed in _acting(case):
        twice = _before_reply(case.script, _again(deed))
        yield Variant(f"{_written(deed)} a second time", twice, case.otherwise)
    for deed in pool.deeds:
        if deed.tool in case.tools and not _is_gold(case, deed):
            text = f"{_written(deed)} besides"
            yield Variant(text, _before_reply(case.script, _again(deed)), case.otherwise)


def _early(case: Case, pool: Pool) -> Iterator[Variant]:
    acts = [place for place, move in enumerate(case.script) if move.deeds]
    for kept, place in enumerate(acts):
        script = [*case.script[:place], case.script[-1]]
        text = f"ends after {counted(kept, 'reply')} with calls, and says so"
        yield Variant(text.replace("replys", "replies"), script, case.otherwise)
    told = [slot for slot in case.gold.tells if not slot.optional]
    if told or case.gold.answers:
        silent = [move for move in case.script if not move.say and not move.hear]
        yield Variant("ends without a word", silent)


def _consent(case: Case, pool: Pool) -> Iterator[Variant]:
    plans = case.gold.plans or ()
    mines = [part for plan in plans for node in plan.minefields for part in parts(node.condition)]
    tools = {tool for part in mines if isinstance(part, Unconfirmed) for tool in part.tools}
    for place, move in enumerate(case.script):
        rest = case.script[place + 1 :]
        acts = [deed for one in rest for deed in one.deeds if deed.tool in tools]
        if not move.hear or not acts or not place or not case.script[place - 1].say:
            continue
        before, asked = case.script[: place - 1], case.script[place - 1]
        yield Variant("nobody is asked before", [*before, *rest])
        no = Move(hear="No, leave it as it is.")
        yield Variant("the user says no, and it is done", [*before, asked, no, *rest])
        other = Move(hear="What time is it, by the way?")
        yield Variant("the user does not agree, and it is done", [*before, asked, other, *rest])
        yield Variant(
            "it is done, and asked for afterwards", [*before, *rest[:-1], asked, move, rest[-1]]
        )


def _said(case: Case, pool: Pool) -> Said:
    return Said(case.texts, bool(case.base.changing), pool.names)


def _by_lies(*kinds: str) -> Make:
    def made(case: Case, pool: Pool) -> Iterator[Variant]:
        for kind in kinds:
            for texts in LIES[kind](_said(case, pool)) if case.texts else ():
                if texts != case.texts and not _may_be_so(case, texts[-1]):
                    yield Variant(f"says {texts[-1]!r}", _saying(case.script, texts))

    return made


def _may_be_so(case: Case, text: str) -> bool:
    """Tell whether a deed that is claimed may be one that the task asks for."""
    new = text[len(case.texts[-1]) :] if text.startswith(case.texts[-1]) else ""
    known = f"{case.gold.text} {' '.join(case.tools)} {case.texts}".casefold()
    return any(word.strip(".,") in known for word in new.casefold().split() if len(word) > 5)


def _told(case: Case, of: Callable[[Any], Sequence[str]]) -> Iterator[Variant]:
    """Yield the script with other sentences in the place of the one that tells a slot."""
    texts = case.texts
    for slot in case.gold.tells:
        parts_of = [(n, one) for n, text in enumerate(texts) for one in sentences(text)]
        place = next(((n, one) for n, one in parts_of if holds(one, slot)), None)
        for instead in of(slot):
            if place is not None:
                number, sentence = place
                new = texts[number].replace(sentence, instead, 1)
            elif len(texts) == 1 or slot.type == "lack":
                number, new = len(texts) - 1, instead
            else:
                continue
            said = [*texts[:number], new, *texts[number + 1 :]]
            yield Variant(f"says {new!r}", _saying(case.script, said))


def _slots_wrong(case: Case, pool: Pool) -> Iterator[Variant]:
    return _told(case, lambda slot: told_wrong(slot, pool.names))


def _slots_right(case: Case, pool: Pool) -> Iterator[Variant]:
    return _told(case, wordings)


def _refusals(case: Case, pool: Pool) -> Iterator[Variant]:
    told = [slot for slot in case.gold.tells if not slot.optional]
    lacks = unserved(case.gold) or any(slot.type in WORDS for slot in told)
    if lacks or not (case.base.changing or told or case.gold.answers):
        return
    for text in REFUSED:
        yield Variant(
            f"does nothing and says {text!r}",
            [Move(say=text)],
            case.otherwise if not told else lambda played: True,
        )


def _looks(case: Case, pool: Pool) -> Iterator[Variant]:
    plans = case.gold.plans or ()
    mines = [part for plan in plans for node in plan.minefields for part in parts(node.condition)]
    mined = {getattr(part, "tool", "") for part in mines}
    bare = [
        Deed(_MORE, tool.id, {})
        for tool in case.tools.values()
        if not tool.parameters.get("required")
    ]
    own = [deed for deed in case.deeds if deed.number not in case.base.changing]
    for deed in (*own, *pool.looks, *bare):
        if deed.tool in mined or deed.tool not in case.tools:
            continue
        for text, script in (
            ("at the beginning", [_again(deed), *case.script]),
            ("at the end", _before_reply(case.script, _again(deed))),
        ):
            if deed in own and text == "at the beginning":
                continue
            yield Variant(f"{_written(deed)} besides, {text}", script, _idle(case))


def _idle(case: Case) -> Callable[[Played], bool]:
    def counts(played: Played) -> bool:
        one = played.results.get(_MORE)
        return (
            one is not None
            and one.error is None
            and _MORE not in played.changing
            and case.alike(played)
        )

    return counts


def _paths(case: Case, pool: Pool) -> Iterator[Variant]:
    """Yield other look-ups that find the same row, by what else the row says."""
    named = {call.tool for plan in case.gold.plans or () for call in _asked_calls(plan.milestones)}
    for deed in case.deeds:
        result = case.base.results.get(deed.number)
        looked = result is not None and result.error is None
        if not looked or deed.number in case.base.changing or deed.tool in named:
            continue
        if deed.tool not in case.tools or result is None:
            continue
        properties: Any = case.tools[deed.tool].parameters.get("properties") or {}
        value = _value(result)
        rows = value if isinstance(value, list) else [value]
        for row in [one for one in rows if isinstance(one, dict)][:2]:
            for name in properties.keys() & row.keys():
                cell = row[name]
                if cell in (None, "") or isinstance(cell, (dict, list)):
                    continue
                new = deed._replace(arguments={name: cell})
                if equal(_usual(new), _usual(deed)):
                    continue
                text = f"{_written(new)} for {_written(deed)}"
                yield Variant(
                    text, _changed(case.script, deed.number, new), _finding(case, deed, rows)
                )


def _asked_calls(nodes: Sequence[Milestone]) -> Iterator[Called]:
    for node in nodes:
        yield from (part for part in parts(node.condition) if isinstance(part, Called))


def _finding(case: Case, deed: Deed, rows: Sequence[JSON]) -> Callable[[Played], bool]:
    """Return what tells whether a look-up found what gold's finds, and the world ends alike."""

    def counts(played: Played) -> bool:
        result = played.results.get(deed.number)
        if result is None or result.error is not None or not case.as_well(played):
            return False
        value = _value(result)
        found = value if isinstance(value, list) else [value]
        return len(found) == len(rows) and all(any(equal(r, f) for f in found) for r in rows)

    return counts


def _corrected(case: Case, pool: Pool) -> Iterator[Variant]:
    for deed in case.deeds:
        required = (
            case.tools[deed.tool].parameters.get("required") if deed.tool in case.tools else ()
        )
        odd: list[tuple[str, dict[str, Any]]] = [
            (f"without {name}", {n: v for n, v in deed.arguments.items() if n != name})
            for name in (required or ())
            if name in deed.arguments
        ]
        odd += [("with an unknown argument", {**deed.arguments, "remark": "please"})]
        odd += [
            (f"with {name} of no such thing", {**deed.arguments, name: "no-such-thing"})
            for name, value in deed.arguments.items()
            if isinstance(value, Link) and isinstance(value.usual, str)
        ]
        for text, given in odd:
            failing = Move((Deed(_MORE, deed.tool, given),))
            at = next(n for n, move in enumerate(case.script) if deed in move.deeds)
            script = [*case.script[:at], failing, *case.script[at:]]
            yield Variant(
                f"{deed.tool.rpartition('/')[2]} {text}, then rightly", script, _failing(case)
            )


def _failing(case: Case) -> Callable[[Played], bool]:
    def counts(played: Played) -> bool:
        one = played.results.get(_MORE)
        failed = one is not None and one.error is not None and _MORE not in played.changing
        return failed and case.alike(played)

    return counts


WRONG: Mapping[str, Make] = {
    "a changing call is left out": _left_out,
    "a changing call has another value": _values,
    "another entity": _entities,
    "an order that the state forbids": _swapped,
    "an order that gold forbids": _forbidden,
    "an effect that nobody asked for": _effects,
    "the end comes early": _early,
    "acting before consent": _consent,
    "a slot is told wrong": _slots_wrong,
    "a number, date or name is told wrong": _by_lies(*list(LIES)[:3]),
    "a deed is denied that was done": _by_lies(*list(LIES)[5:7]),
    "a refusal of what can be done": _refusals,
}
"""Kind of wrong variant to what makes it."""
RIGHT: Mapping[str, Make] = {
    "another order that the state allows": _allowed,
    "a look more": _looks,
    "another look-up that finds the same": _paths,
    "a value in other words": _slots_right,
    "an error that is corrected": _corrected,
}
"""Kind of right variant to what makes it."""


# -- All variants of a pool, played and judged.

MOST = 24
"""Variants of one kind that are drawn for one goal."""
Told = Callable[[str, int, int], None]
"""Is told a stage, how many of its tasks are done, and how many there are."""


class Survivor(NamedTuple):
    """A variant that is not judged as it should be."""

    task: str
    goal: int
    kind: str
    right: bool
    altered: str
    verdict: str
    """solved, failed or undecided."""
    reason: str


@dataclass(frozen=True, slots=True)
class MutantReport:
    """How the variants of a pool's gold are judged."""

    tasks: int
    """Of which gold was altered."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Kind to how many are solved, failed and undecided."""
    survivors: Sequence[Survivor] = ()
    """Wrong ones that are solved or undecided, and right ones that are failed or undecided."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Why tasks were left out, to their ids."""

    def share(self, right: bool, verdict: str) -> float | None:
        """Return the share in [0, 1] of all right or wrong variants; None: there are none.

        Args:
            right: Whether right ones are asked of.
            verdict: solved, failed or undecided; solved and failed are shares of the decided ones.
        """
        found: Counter[str] = Counter()
        for kind in RIGHT if right else WRONG:
            found.update(self.counts.get(kind, {}))
        total = found.total() - (0 if verdict == UNDECIDED else found[UNDECIDED])
        return found[verdict] / total if total else None

    def to_json(self) -> dict[str, JSON]:
        """Return all of it."""
        shares = {
            "wrong_killed": self.share(False, FAILED),
            "wrong_undecided": self.share(False, UNDECIDED),
            "right_kept": self.share(True, SOLVED),
            "right_undecided": self.share(True, UNDECIDED),
        }
        return {
            "tasks": self.tasks,
            "shares": shares,
            "kinds": {
                kind: {"right": kind in RIGHT, **counts} for kind, counts in self.counts.items()
            },
            "survivors": [one._asdict() for one in self.survivors],
            "left_out": {why: list(ids) for why, ids in self.left_out.items()},
        }


SOLVED, FAILED, UNDECIDED = "solved", "failed", "undecided"
_REPAIRS = {
    "its task is played in no world that has tables": "give the task a world (docs: own-benchmark, "
    "A world)",
    "its gold names no calls": "give gold as calls: seal.ends_as(...), seal.called(...), or a "
    "reference",
    "its gold leaves arguments open": "name the arguments of its gold calls",
}


def mutants(
    tasks: Sequence[Task],
    world_of: Callable[[str], Worlds | None],
    *,
    sample: int | None = None,
    seed: int = 0,
    told: Told = lambda stage, done, total: None,
) -> MutantReport:
    """Return how variants of gold are judged by rule.

    Whether a variant is right or wrong follows from how the world ends, not from the verdict: a
    wrong one counts only where the world ends in no way that gold allows, or where its words lie.

    Args:
        tasks: Of a pool.
        world_of: Name to a kind of world; None: it has no tables, or is not known.
        sample: Number of tasks that are drawn; None: all.
        seed: Of the draws.
        told: Is told of progress.

    Raises:
        UsageError: `sample` is below 1.
        DataError: No task can be altered, or a world is another each time; says the repair.
        InfrastructureError: What a tool asks outside of the world failed.
    """
    if sample is not None and sample < 1:
        raise UsageError(f"sample {sample}: expected at least 1 task")
    drawn = list(tasks)
    if sample is not None and sample < len(drawn):
        at = sorted(Random(seed).sample(range(len(drawn)), sample))
        drawn = [drawn[number] for number in at]
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    cases: list[tuple[Case, Worlds]] = []
    for number, task in enumerate(drawn):
        try:
            world = world_of(task.world) if task.world else None
            if world is None or not world.tables:
                raise DataError(next(iter(_REPAIRS)))
            cases += [(case, world) for case in _cases(task, world)]
        except DataError as error:
            left_out[str(error)].append(task.id)
        told("gold played", number + 1, len(drawn))
    if not cases:
        why = "; ".join(f"{counted(len(ids), 'task')}: {said}" for said, ids in left_out.items())
        repairs = [repair for said, repair in _REPAIRS.items() if said in left_out]
        raise DataError(
            f"no gold can be altered: {why or 'there is no task'}. {'; '.join(repairs)}"
        )
    judged = _Judged(seed, _lent([case for case, _ in cases]))
    for number, (case, world) in enumerate(cases):
        judged.judge(case, world)
        told("variants judged", number + 1, len(cases))
    played = len({case.task.id for case, _ in cases})
    return MutantReport(played, judged.counted(), judged.survivors, dict(left_out))


def _lent(cases: Sequence[Case]) -> Pool:
    """Return what each task lends to the others."""
    looks: dict[bytes, Deed] = {}
    deeds: dict[bytes, Deed] = {}
    names: dict[str, None] = {}
    for case in cases:
        for deed in case.deeds:
            known = {n: _value(one) for n, one in case.base.results.items() if one.error is None}
            given = {name: _resolved(value, known) for name, value in deed.arguments.items()}
            own = deed._replace(arguments=given)
            kept = deeds if deed.number in case.base.changing else looks
            kept[canonical_json([deed.tool, given])] = own
        names |= dict.fromkeys(name for text in case.texts for name in names_in(text))
        cells = (cell for rows in case.rows.values() for row in rows for cell in row.values())
        names |= dict.fromkeys(
            c for c in cells if isinstance(c, str) and [c] == names_in(f"to {c}")
        )
    return Pool([*looks.values()], [*deeds.values()], sorted(names))


def _cases(task: Task, world: Worlds) -> Iterator[Case]:
    """Yield the goals of a task with their gold as it was played.

    Raises:
        DataError: Gold cannot be played, does not solve its goal, or ends otherwise each time.
    """
    world.check(task)
    tools = {tool.id: tool for tool in world.documents()}
    before: list[Script] = []
    for number, goal in enumerate(task.goals):
        why = ""
        for script in scripts_of(goal):
            base = play(task, [*before, script], world)
            value, why = judge(task, base.chat, world, number)
            if value == 1.0:
                break
        else:
            raise DataError(f"its gold, as it is played, does not solve it: {why}")
        _check_steady(task, base, play(task, [*before, script], world))
        other = play(task, [*before, script], world, trial=1, late=True)
        varies = varying(End(base.changes), End(other.changes))
        asked = [
            part
            for plan in goal.plans or ()
            for node in plan.milestones
            for part in node.condition.parts()
        ]
        ends = [part for part in asked if isinstance(part, EndsAs | FinalState)]
        ignore = list(chain.from_iterable(one.ignore for one in ends))
        wanted = [base.changes]
        for each in _ends_of(task, base.chat, world).get(str(number), {}).values():
            wanted += [end.changes for end in each if not end.fault]
        offered = _offered(goal, dict.fromkeys(tools, ""))
        own = {tool: tools[tool] for tool in offered if tool in tools}
        rows = base.chat.steps[0].state or {}
        yield Case(task, number, tuple(before), script, base, wanted, ignore, varies, own, rows)
        before.append(script)


def _check_steady(task: Task, one: Played, other: Played) -> None:
    """Make sure that a second fresh world does the same.

    Raises:
        DataError: Names the call, and the repair.
    """
    repair = "take times from world.now and ids from world.new_id(), and draw nothing by chance"
    steps = zip(one.chat.steps, other.chat.steps, strict=True)
    for step, twin in steps:
        call = next(
            (
                s.call
                for s in one.chat.steps
                if s.call and step.result and s.call.id == step.result.call_id
            ),
            None,
        )
        if step.content != twin.content or step.state != twin.state:
            name = call.name if call is not None else "the world"
            told = f"{shortened(step.content)} and {shortened(twin.content)}"
            raise UsageError(
                f"task {task.id!r}: {name} does not do the same in two fresh worlds: {told}; {repair}"
            )


def _ends_of(task: Task, chat: Trajectory, world: Worlds) -> dict[str, dict[str, list[End]]]:
    """Return how the world ends after gold calls, as a run records it of a chat."""
    tools = {tool.id: tool for tool in world.documents()}
    of_calls = ends_asked(TaskChat(task, chat, tools))
    again = (lambda: world.open(task, chat.trial + 1)) if of_calls else None
    changing = {step.goal for step in chat.steps if step.result is not None and step.state}
    opened = lambda: world.open(task, chat.trial)  # noqa: E731
    return gold_ends(task, opened, tools, True, of_calls, again, changing)


def judge(task: Task, chat: Trajectory, world: Worlds, goal: int) -> tuple[float | None, str]:
    """Return the pass rate of a goal by rule, None for undecided, and the reason."""
    tools = {tool.id: tool for tool in world.documents()}
    told = {
        number: {key: [end.to_json() for end in ends] for key, ends in of.items()}
        for number, of in _ends_of(task, chat, world).items()
    }
    played = TaskChat(task, replace(chat, provenance={GOLD_ENDS: told}), tools)
    score = PassRate().of(played)[goal]
    return score.value, str(score.details.get("reason") or score.reason or "")


class _Judged:
    """What was made of the variants.

    Args:
        seed: Of the draws.
        lent: What the tasks of the pool lend each other.
    """

    def __init__(self, seed: int, lent: Pool) -> None:
        self.survivors: list[Survivor] = []
        self._seed = seed
        self._lent = lent
        self._found: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def counted(self) -> dict[str, dict[str, int]]:
        """Return the counts by kind, in the order of the kinds."""
        return {
            kind: {one: self._found[kind][one] for one in (SOLVED, FAILED, UNDECIDED)}
            for kind in (*WRONG, *RIGHT)
            if kind in self._found
        }

    def judge(self, case: Case, world: Worlds) -> None:
        """Play and judge the variants of a goal."""
        for kind, make in (*WRONG.items(), *RIGHT.items()):
            variants = list(make(case, self._lent))
            draw = Random(f"{self._seed} {case.task.id} {case.goal} {kind}")
            if len(variants) > MOST:
                variants = [variants[at] for at in sorted(draw.sample(range(len(variants)), MOST))]
            for variant in variants:
                self._one(case, world, kind, variant)

    def _one(self, case: Case, world: Worlds, kind: str, variant: Variant) -> None:
        played = play(case.task, [*case.before, variant.script], world)
        if not variant.counts(played):
            return
        value, reason = judge(case.task, played.chat, world, case.goal)
        verdict = {1.0: SOLVED, None: UNDECIDED}.get(value, FAILED)
        self._found[kind][verdict] += 1
        if verdict != (SOLVED if kind in RIGHT else FAILED):
            task, right = case.task.id, kind in RIGHT
            self.survivors.append(
                Survivor(task, case.goal, kind, right, variant.altered, verdict, reason)
            )

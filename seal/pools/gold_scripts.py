"""Gold of a task in a world as a script, played there: what is done, said and heard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from seal.core import (
    JSON,
    DataError,
    Goal,
    Stop,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
    shortened,
)
from seal.core.conditions import AGENT, USER, party
from seal.core.earlier_results import Lacking, part_at, reference, result_value
from seal.core.environment import Held, Timed
from seal.core.state_conditions import FinalState, StateHas, ignored
from seal.core.statements import leaves
from seal.core.values import equal
from seal.environments.gold_play import PlayedChat, changes
from seal.environments.world import Worlds
from seal.models.oracle import moves, reply_of

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
    """By which it is known in each variant; `MORE`: gold does not have it."""
    tool: str
    arguments: Mapping[str, Any]
    """Values may be a `Link`, or hold one."""


class Move(NamedTuple):
    """One step of a script: calls that are made at once, or what is said or heard."""

    deeds: tuple[Deed, ...] = ()
    say: str = ""
    hear: str = ""


Script = Sequence[Move]
MORE = 1000
"""Number of a call that is made besides those of gold."""
_DONE = ("Done.", "I cannot do that with the tools that I have.", "It was refused.")
"""What is said where gold has no words; the first that solves counts."""


def scripts_of(goal: Goal) -> list[Script]:
    """Return the scripts that a goal's gold may be, of which one should solve it.

    Raises:
        DataError: Its gold names no calls, or leaves arguments open.
    """
    heard = [step for step in goal.reference if step.author in (USER, "user")]
    if any(step.call is not None for step in goal.reference) or len(heard) > 1:
        script = _of_reference(goal)
        own = script[-1].say if script else ""
        told = dict.fromkeys(text for text in (own, reply_of(goal)) if text)
        return [_with_reply(script, text) for text in told]
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
    reply = reply_of(goal)
    return [_with_reply(found, text) for text in ([reply] if reply else _DONE)]


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
                results[numbers[step.result.call_id]] = value_of(step.result)
        elif step.author in (USER, "user"):
            script += [Move(hear=step.content)] if script else []
        elif party(step.author) == AGENT and step.content.strip():
            script.append(Move(say=step.content))
    return script


def value_of(result: ToolResult) -> JSON:
    """Return what a call brought, as JSON."""
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
    for call, result in reversed([*results.items()]):
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


def leaves_of(value: JSON) -> list[JSON]:
    """Return the texts, numbers and truths within a value."""
    return [leaf for _, leaf in leaves(value)]


def resolved(value: Any, results: Mapping[int, JSON]) -> JSON:
    """Return a value as a chat fills it: what the earlier result has, else the usual one."""
    if isinstance(value, Link):
        result = results.get(value.call)
        if value.usual is not None and any(equal(value.usual, one) for one in leaves_of(result)):
            return value.usual
        try:
            return part_at(result, ".".join(value.path))
        except Lacking:
            return value.usual
    if isinstance(value, dict):
        return {name: resolved(one, results) for name, one in value.items()}
    return [resolved(one, results) for one in value] if isinstance(value, list) else value


def written(deed: Deed) -> str:
    """Return a call as text, with the values of gold."""
    given = (f"{name}={shortened(resolved(v, {}))}" for name, v in deed.arguments.items())
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
    offered = [offered_by(goal, names) for goal in task.goals[: len(scripts)]]
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


def offered_by(goal: Goal, names: Mapping[str, str]) -> Sequence[str]:
    """Return the ids of the tools that are offered for a goal; all of `names` where it is open."""
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
    known = {number: value_of(one) for number, one in results.items() if one.error is None}
    calls = []
    for place, deed in enumerate(move.deeds):
        given = {name: resolved(value, known) for name, value in deed.arguments.items()}
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
        equal(row.get(name), other.get(name)) or (name in loose and is_near(row[name], other[name]))
        for name in (row.keys() | other.keys()) - set(columns)
        if name in row and name in other
    )


def is_near(one: Any, other: Any) -> bool:
    """Tell whether two cells may be one in two chats: times within a minute, texts such as ids."""
    numbers = [n for n in (one, other) if isinstance(n, (int, float)) and not isinstance(n, bool)]
    return abs(one - other) <= _MINUTE if len(numbers) == 2 else type(one) is type(other)

"""Gold that no recording shows, found in the world: calls and words that meet all milestones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice, product
from typing import Any, NamedTuple

from seal.benchmarks.toolsandbox.phone import TOOL_IDS, TOOLS
from seal.benchmarks.toolsandbox.scenarios.files import Move
from seal.benchmarks.toolsandbox.scenarios.importer import Played
from seal.core import JSON, Goal, Milestone, SealError, Step, Stop, Task, Trajectory, ready
from seal.core.conditions import FIRST, MESSAGE, Condition
from seal.core.conditions import USER as TO_USER
from seal.core.environment import Environment
from seal.core.state_conditions import UNFIT, DependsOn, StateHas
from seal.evaluation.goals import WHOLLY
from seal.evaluation.plans import measure_plan, under, view

# -- A plan of calls that meets the milestones of a scenario, searched in its world.
#
# Nodes are met one after the other, in an order that the graph allows; what is said comes as late
# as it may. Each node gives moves that may meet it:
#
# - a call that it names, with its arguments and those that earlier results give (`DependsOn`);
#   what is required besides is taken from the targets of the plan, else the least that will do;
# - rows that came, went or changed: the calls of the phone that do just that;
# - settings: the calls that turn them on or off;
# - words to the user, with what earlier results give.
#
# A move counts if its node is met wholly by what then stands in the chat. If none does, the search
# goes back. The gold is played from the beginning for each try, and the whole is measured at last.
#
# Source of the rules that decide: ToolSandbox (Lu et al., 2024), section 2.3.

_RULES = "toolsandbox"
_MOST_MOVES = 24
"""What is tried to meet one node."""
_TRIES = 400
"""Sequences that are played for one scenario."""
_FIRST_TIME = 315_529_200.0
"""The earliest POSIX seconds that the phone's tools take."""
_SWITCHES = {
    "wifi": "set_wifi_status",
    "cellular": "set_cellular_service_status",
    "location_service": "set_location_service_status",
    "low_battery_mode": "set_low_battery_mode_status",
}
"""Column of the settings to the tool that sets it."""
_CRITERIA: Mapping[str, Mapping[str, JSON]] = {
    "search_contacts": {"is_self": False},
    "search_messages": {"creation_timestamp_lowerbound": _FIRST_TIME},
    "search_reminder": {"creation_timestamp_lowerbound": _FIRST_TIME},
}
"""Tool that takes at least one argument to what finds everything."""
_MOST_PLACES = 8
_POINT = ("latitude", "longitude")
_CLOSING = "Done."

Opened = Callable[[Task], Environment]
"""Opens the world of a task, as its chat begins."""


class Found(NamedTuple):
    """What a search brings."""

    steps: tuple[Step, ...] = ()
    """Of the agent and of what its calls brought; none: there is no gold."""
    why: str = ""
    """Why there is none."""


def found_gold(task: Task, opened: Opened, places: Sequence[str] = ()) -> Found:
    """Return steps by which the milestones of a task's only plan are met wholly.

    Args:
        task: Of the phone.
        opened: Opens its world; it is opened once for each try.
        places: What its web may be asked for, where a place is sought that no milestone names.
    """
    goal = task.goals[0]
    if not goal.plans or not goal.plans[0].milestones:
        return Found(why="no milestone says what is to be done")
    return _Search(task, goal, opened, [*places[:_MOST_PLACES], "market"]).found()


@dataclass(slots=True)
class _Search:
    """The search for the gold of one task."""

    task: Task
    goal: Goal
    opened: Opened
    places: Sequence[str]
    tries: int = 0
    why: str = ""
    """What was in the way last."""
    nodes: tuple[Milestone, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Take the milestones as they are measured."""
        (plan, *_) = self.goal.plans or ()
        self.nodes = tuple(under(plan.milestones, _RULES))

    def found(self) -> Found:
        try:
            moves = self._met([], {})
        except (SealError, *UNFIT) as error:
            return Found(why=str(error) or type(error).__name__)
        if moves is None:
            return Found(why=self.why or "no call of the phone meets its milestones")
        steps = self._played(moves)
        gold = (step for step in steps if step.author != TO_USER)
        return Found(tuple(replace(step, state=None) for step in gold))

    def _met(self, moves: list[Move], reached: dict[int, int]) -> list[Move] | None:
        """Return moves that meet all nodes; None: none do from here.

        Args:
            moves: So far.
            reached: Node to the place of the step that meets it.
        """
        if len(reached) == len(self.nodes):
            return self._closed(moves)
        for node in self._order(reached):
            for move in islice(self._moves(node, moves, reached), _MOST_MOVES):
                longer = [*moves, *move]
                place = self._place(node, longer, reached)
                if place is not None:
                    whole = self._met(longer, {**reached, node: place})
                    if whole is not None:
                        return whole
                if self.tries >= _TRIES:
                    self.why = f"{_TRIES} tries did not meet its milestones"
                    return None
        return None

    def _closed(self, moves: list[Move]) -> list[Move] | None:
        """Return moves that end with words, where they have all that the plan asks."""
        if any(move.say for move in moves[:-1]):
            self.why = "its user has to ask again after words, and nothing says what"
            return None
        closed = moves if moves and moves[-1].say else [*moves, Move(say=_CLOSING)]
        (plan, *_) = self.goal.plans or ()
        if measure_plan(plan, self._view(closed), _RULES).similarity >= WHOLLY:
            return closed
        self.why = "its milestones and what must not change contradict each other"
        return None

    def _order(self, reached: Mapping[int, int]) -> list[int]:
        """Return the nodes that may be next: calls first, then words."""
        found = ready([node.after for node in self.nodes], set(reached))
        return sorted(found, key=lambda node: (any(_texts(self.nodes[node], {})), node))

    def _place(self, node: int, moves: list[Move], reached: Mapping[int, int]) -> int | None:
        """Return the place of a step that meets a node wholly, after those before; None: none."""
        steps = self._view(moves)
        earlier = self._earlier(steps, reached)
        least = max(reached.values(), default=0)
        for place in range(len(steps) - 1, least - 1, -1):
            if self.nodes[node].condition.similarity(steps[place], earlier) >= WHOLLY:
                return place
        return None

    def _moves(
        self, node: int, moves: list[Move], reached: Mapping[int, int]
    ) -> Iterator[list[Move]]:
        """Yield moves that may meet a node; the first is none at all."""
        yield []
        steps = self._view(moves)
        earlier = self._earlier(steps, reached)
        milestone = self.nodes[node]
        now = steps[-1].state or {}
        changing = [*_changing(milestone, now)]
        if changing:
            yield [Move(do={name: arguments}) for name, arguments in changing]
        for name, arguments in _named_calls(milestone, earlier):
            whole = self._completed(name, arguments)
            if "location" in whole.keys() - arguments.keys():
                for point, place in product(self._points(), self.places):
                    yield [Move(do={name: {**whole, **point, "location": place}})]
            else:
                yield [Move(do={name: whole})]
        for text in _texts(milestone, earlier):
            yield [Move(say=text)]

    def _completed(self, name: str, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the arguments of a call with all that it requires."""
        schema = TOOLS[TOOL_IDS[name]].document.parameters
        missing = [each for each in schema.get("required", ()) if each not in arguments]
        given = dict(arguments) or dict(_CRITERIA.get(name, {}))
        if missing:
            given |= {each: self._filling(each, schema["properties"][each]) for each in missing}
        return given

    def _points(self) -> Iterator[dict[str, JSON]]:
        """Yield where a place may be sought: at a point that a target names, then at the phone."""
        targets = [row for node in self.nodes for row in _rows(node)]
        for row in (*targets, *(self.task.initial_state or {}).get("settings", ())):
            if all(isinstance(row.get(name), float) for name in _POINT):
                yield {name: row[name] for name in _POINT}

    def _filling(self, name: str, schema: Mapping[str, Any]) -> JSON:
        """Return a value for an argument that no milestone names."""
        clock: Any = self.task.metadata.get("clock") or {}
        targets = [row for node in self.nodes for row in _rows(node)]
        times = [t for row in targets if isinstance(t := row.get("reminder_timestamp"), float)]
        time = next(iter(times), float(clock.get("start", _FIRST_TIME)))
        if "timestamp" in name:
            return time
        moment = datetime.fromtimestamp(time, UTC)
        if name in ("year", "month", "day", "hour", "minute", "second"):
            part: int = getattr(moment, name)
            return part
        settings = (self.task.initial_state or {}).get("settings") or [{}]
        if name in settings[0]:
            return settings[0][name]
        return "" if schema.get("type") == "string" else 0

    def _earlier(self, steps: Sequence[Step], reached: Mapping[int, int]) -> dict[int, Step]:
        return {FIRST: steps[0], **{node: steps[place] for node, place in reached.items()}}

    def _view(self, moves: Sequence[Move]) -> tuple[Step, ...]:
        chat = Trajectory(self.task.id, 0, self._played(moves), stops=(Stop("user_ended"),))
        return view(chat, 0, self.task.initial_state, _RULES)

    def _played(self, moves: Sequence[Move]) -> tuple[Step, ...]:
        self.tries += 1
        played = Played(self.opened(self.task), TOOL_IDS)
        played.ask(self.goal.text)
        for move in moves:
            played.move(move)
        for step in reversed(played.steps):
            if step.result is not None and step.result.error:
                self.why = f"a tool refuses: {step.content}"
                break
        return tuple(played.steps)


# -- What a milestone gives to try.


def _conditions(node: Milestone) -> Iterator[Condition]:
    yield from getattr(node.condition, "conditions", (node.condition,))


def _rows(node: Milestone) -> Iterator[Mapping[str, JSON]]:
    for condition in _conditions(node):
        if isinstance(condition, (StateHas, DependsOn)):
            yield from condition.rows


def _messages(node: Milestone, earlier: Mapping[int, Step]) -> Iterator[Mapping[str, Any]]:
    """Yield the messages that a node asks for, with what earlier results give, the latter last."""
    for condition in _conditions(node):
        if isinstance(condition, StateHas) and condition.table == MESSAGE:
            yield from condition.rows
        elif isinstance(condition, DependsOn) and condition.since in earlier:
            for rows in condition.targets(earlier[condition.since]):
                yield from rows or ()
        elif isinstance(condition, DependsOn):
            yield from condition.rows


def _texts(node: Milestone, earlier: Mapping[int, Step]) -> list[str]:
    """Return what may be said to the user; what has more words goes first, it may hold the rest."""
    found = (
        str(row["content"])
        for row in _messages(node, earlier)
        if row.get("content") and row.get("recipient") == TO_USER
    )
    return sorted(dict.fromkeys(found), key=lambda text: -len(text.split()))


def _named_calls(
    node: Milestone, earlier: Mapping[int, Step]
) -> Iterator[tuple[str, dict[str, JSON]]]:
    """Yield the calls that a node names, first with the arguments of all its parts together."""
    found: list[tuple[str, dict[str, JSON]]] = []
    for row in _messages(node, earlier):
        for call in row.get("calls") or ():
            found.append((str(call["tool"]).rpartition("/")[2], dict(call["arguments"])))
    whole: dict[str, dict[str, JSON]] = {}
    for name, arguments in found:
        if all(whole.get(name, {}).get(each, value) == value for each, value in arguments.items()):
            whole[name] = {**whole.get(name, {}), **arguments}
    yield from whole.items()
    yield from found


def _changing(
    node: Milestone, now: Mapping[str, Iterable[Mapping[str, JSON]]]
) -> Iterator[tuple[str, dict[str, JSON]]]:
    """Yield the calls by which the tables become what a node asks."""
    for condition in _conditions(node):
        if isinstance(condition, StateHas) and condition.table != MESSAGE:
            table = [dict(row) for row in now.get(condition.table, ())]
            for row in condition.rows:
                yield from _of_row(condition.table, condition.measure, dict(row), table)


def _of_row(
    table: str, measure: str, row: dict[str, JSON], rows: Sequence[Mapping[str, JSON]]
) -> Iterator[tuple[str, dict[str, JSON]]]:
    if table == "settings":
        for column, wanted in row.items():
            if column in _SWITCHES and rows and rows[0].get(column) != wanted:
                yield _SWITCHES[column], {"on": wanted}
        return
    thing, key = {
        "contacts": ("contact", "person_id"),
        "messages": ("message", "message_id"),
        "reminders": ("reminder", "reminder_id"),
    }.get(table, ("", ""))
    if measure == "addition" and thing == "message":
        number = row.get("recipient_phone_number")
        yield (
            "send_message_with_phone_number",
            {"phone_number": number, "content": row.get("content", "")},
        )
    elif measure == "addition" and thing:
        yield f"add_{thing}", {name: value for name, value in row.items() if value is not None}
    elif measure == "removal" and key in row:
        yield f"remove_{thing}", {key: row[key]}
    elif measure == "update" and key in row:
        before = next((each for each in rows if each.get(key) == row[key]), {})
        changed = {name: v for name, v in row.items() if name != key and before.get(name) != v}
        yield f"modify_{thing}", {key: row[key], **changed}

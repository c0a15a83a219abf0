"""A dialogue of SGD as a task: each turn of the user is a goal, with what the system did on it.

| label | of the system's turn |
|---|---|
| kind call | it calls an API: the plan is that call, the reference its result too |
| kind request | it asks for arguments that are missing: the plan is the call with "?" for each |
| kind action | anything else: no call is due |
| act | its dialogue act, as below |

The act of a turn with a call is the first of notify_success, notify_failure, inform_count and offer
that it has. Without a call, request and confirm come first. An offer without a call is offer_alts,
for the user asked for another of the same results. Else the turn's first act counts.

A call that changes something is made after the user affirmed its arguments. The label `confirmed`
of that turn holds them: the values of the dialogue's state in canonical form, and those that the
system asked to confirm. Calls leave out what the user does not care about, so `confirmed` does too,
even if the system named its default.

Source: the DialogTool paper, Table 7, whose tenth act, OFFER, is missing; the rules for it follow
github.com/ruleGreen/AppBench.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as item
from typing import Any

import orjson

from seal.benchmarks.dialogtool.schemas import DONT_CARE, Api, Service, named
from seal.benchmarks.dialogtool.tool_life import UNKNOWN
from seal.core import JSON, DataError, Goal, Milestone, Plan, Step, ToolCall, ToolResult, shortened
from seal.core.conditions import Argument, Called
from seal.core.values import json_bytes
from seal.pools.reading.files import CountedFault, expect, field_of, fields

USER, CALLER, EXECUTOR = "user_simulator", "execution_manager", "executor"
NO_INTENT = "NONE"
VARIANTS = ("variants",)
"""Key of a call: slot to the ways in which its value was said. It is no text: no file has it."""

_CALLING = ("NOTIFY_SUCCESS", "NOTIFY_FAILURE", "INFORM_COUNT", "OFFER")
"""Acts that go with a call, the one that names the turn first."""
_ASKING = ("REQUEST", "CONFIRM")
_NOTHING = (Plan(),)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as the corpus has it."""

    api: Api
    arguments: dict[str, JSON]
    key: bytes
    """The arguments as JSON, in one order."""
    rows: tuple[bytes, ...]
    """Its results, each as JSON."""
    complete: bool = True
    """False: it lacks a required argument, so that it cannot be made."""


@dataclass(slots=True)
class Reading:
    """What a dialogue holds."""

    id: str
    services: tuple[str, ...]
    """By their original names."""
    turns: int
    goals: list[Goal] = item(default_factory=list)
    calls: list[RecordedCall] = item(default_factory=list)
    first_acts: list[str] = item(default_factory=list)
    """Of the system's turns: the act that upstream lists first."""
    fault: DataError | None = None
    """The first reason why it can be no task; the calls are those that could be read even so."""


def turn_of(turn: Any) -> tuple[str, str, list[Any]]:
    """Return speaker, text and frames of a turn.

    Raises:
        DataError: One is missing or of another kind.
    """
    speaker, text, frames = fields(turn, speaker=str, utterance=str, frames=list)
    return speaker, text, frames


def label_of(acts: Sequence[str], calls: bool) -> str:
    """Return the label of a system turn, in lower case.

    Args:
        acts: Its dialogue acts in upstream's order, at least one.
        calls: Whether it calls an API.
    """
    if calls:
        return next((act for act in _CALLING if act in acts), acts[0]).lower()
    found = next((act for act in _ASKING if act in acts), None)
    if found is None and "OFFER" in acts:
        return "offer_alts"
    return (found or acts[0]).lower()


def read_dialogue(dialogue: Any, services: Mapping[str, Service]) -> Reading:
    """Return what a dialogue holds.

    Args:
        dialogue: A record of a dialogue file.
        services: Of the split, by their original names.

    Raises:
        DataError: The record is malformed.
    """
    turns = field_of(dialogue, "turns", list)
    named = field_of(dialogue, "services", list)
    reading = Reading(field_of(dialogue, "dialogue_id", str), tuple(named), len(turns))
    if not set(map(type, named)) <= {str}:
        raise DataError(f"services: expected texts, got {shortened(named)}")
    unknown = next((name for name in named if name not in services), None)
    if unknown is not None:
        reading.fault = _unknown_service(unknown, services)
    _Dialogue(reading, services).read(turns)
    return reading


def _unknown_service(name: Any, services: Mapping[str, Service]) -> CountedFault:
    known = ", ".join(services)
    return CountedFault("unknown_service", f"no service {shortened(name)}; the split has: {known}")


@dataclass(frozen=True, slots=True)
class _State:
    """What the user has said of one service so far."""

    intent: str = NO_INTENT
    values: Mapping[str, list[str]] = item(default_factory=dict)
    requested: Sequence[str] = ()


class _Dialogue:
    """One dialogue while it is read.

    Args:
        reading: Gets what is found.
        services: Of the split, by their original names.
    """

    def __init__(self, reading: Reading, services: Mapping[str, Service]) -> None:
        self._reading = reading
        self._services = services
        self._states: dict[str, _State] = {}
        self._canonical: dict[tuple[str, str, str], str] = {}
        self._anywhere: dict[str, str] = {}
        self._asked: dict[str, str] | None = None
        """Slots that the last system turn asked to confirm, with their canonical values."""

    def read(self, turns: list[Any]) -> None:
        if not turns or len(turns) % 2:
            raise DataError(f"turns: expected pairs of user and system, got {len(turns)}")
        spoken = map(turn_of, turns)
        for said, answered in zip(spoken, spoken, strict=True):
            if (said[0], answered[0]) != ("USER", "SYSTEM"):
                raise DataError(
                    f"turns: expected USER before SYSTEM, got {said[0]!r} before {answered[0]!r}"
                )
            self._exchange(said[1], said[2], answered[1], answered[2])

    def _exchange(self, text: str, said: list[Any], reply: str, frames: list[Any]) -> None:
        affirmed = False
        for frame in said:
            affirmed |= "AFFIRM" in self._acts(frame)
            service, state = fields(frame, service=str, state=dict)
            self._states[service] = _state(state)
        if len(frames) != 1:
            raise DataError(f"frames: expected one of a system turn, got {len(frames)}")
        (frame,) = frames
        acts = self._acts(frame)
        if not acts:
            raise DataError("actions: expected at least one of a system turn, got none")
        self._reading.first_acts.append(acts[0])
        if frame["service"] in self._services:
            self._goal(text, affirmed, frame, acts, reply)
        else:
            self._blame(_unknown_service(frame["service"], self._services))
        self._asked = _asked(acts, frame["actions"])

    def _acts(self, frame: Any) -> list[str]:
        """Return the acts of a frame, and keep the canonical form of the values that it names."""
        names = []
        service, actions = fields(frame, service=str, actions=list)
        for action in actions:
            act, slot, values, canonical = fields(
                action, act=str, slot=str, values=list, canonical_values=list
            )
            names.append(act)
            for value, meant in zip(values, canonical, strict=False):
                if type(value) is not str or type(meant) is not str:
                    raise DataError(f"actions: expected texts as values, got {shortened(values)}")
                self._canonical[service, slot, value] = meant
                if value != meant:
                    self._anywhere.setdefault(value, meant)
        return names

    def _goal(self, text: str, affirmed: bool, frame: Any, acts: list[str], reply: str) -> None:
        name = frame["service"]
        service = self._services[name]
        state = self._states.get(name, _State())
        labels: dict[str, JSON] = {"act": label_of(acts, "service_call" in frame), "kind": "action"}
        api = service.apis.get(state.intent)
        if affirmed and api is not None and api.transactional and self._asked is not None:
            labels["confirmed"] = self._confirmed(name, api, state, self._asked)
        labels["state"] = _plain_state(service, state, api)
        reference: tuple[Step, ...] = (Step(0, CALLER, USER, reply),)
        due = None
        if "service_call" in frame:
            call = self._call(frame, service)
            if call is None:
                return
            labels |= {"kind": "call", "service": service.name, "api": call.api.name}
            due = Called(call.api.tool, _accepted(call, frame["service_call"].get(VARIANTS, {})))
            reference = _reference(call, len(self._reading.calls), reply)
            self._reading.calls.append(call)
        elif labels["act"] == "request" and api is not None:
            missing = [slot for slot in api.required if slot not in state.values]
            if missing:
                names = [api.arguments[slot].name for slot in missing]
                labels |= {"kind": "request", "service": service.name, "api": api.name}
                labels["missing"] = list(names)
                due = Called(api.tool, self._told(name, api, state, names))
        plans = _NOTHING if due is None else (Plan((Milestone(due),)),)
        relevant = () if due is None else (due.tool,)
        goal = Goal(text, plans, offered=(), relevant=relevant, reference=reference, labels=labels)
        self._reading.goals.append(goal)

    def _canonical_of(self, service: str, slot: str, value: str) -> str | None:
        found = self._canonical.get((service, slot, value))
        return self._anywhere.get(value) if found is None else found

    def _confirmed(
        self, service: str, api: Api, state: _State, asked: Mapping[str, str]
    ) -> dict[str, JSON]:
        """Return the arguments that the user has just affirmed."""
        said = {slot: variants[-1] for slot, variants in state.values.items() if variants}
        values = {
            slot: self._canonical_of(service, slot, text) or text for slot, text in said.items()
        }
        values |= {slot: value for slot, value in asked.items() if said.get(slot) != DONT_CARE}
        return {
            api.arguments[slot].name: api.arguments[slot].value(value)
            for slot, value in sorted(values.items())
            if slot in api.arguments and value != DONT_CARE
        }

    def _call(self, frame: Any, service: Service) -> RecordedCall | None:
        """Return the call of a frame; None where it cannot be read."""
        call = field_of(frame, "service_call", dict)
        api = service.apis.get(field_of(call, "method", str))
        if api is None:
            known = ", ".join(service.apis)
            fault = f"no API {shortened(call['method'])}; {service.name} has: {known}"
            self._blame(CountedFault("unknown_intent", fault))
            return None
        given = field_of(call, "parameters", dict)
        undeclared = [name for name in given if name not in api.arguments]
        if undeclared:
            fault = f"{api.name} has no argument {undeclared[0]!r}; it has: "
            self._blame(CountedFault("undeclared_argument", fault + ", ".join(api.arguments)))
            return None
        missing = [name for name in api.required if name not in given]
        if missing:
            fault = f"{api.name} is called without the required argument {missing[0]!r}"
            self._blame(CountedFault("missing_argument", fault))
        arguments = named(api.arguments, given)
        rows = tuple(_row(service, row) for row in field_of(frame, "service_results", list))
        key = json_bytes(arguments, orjson.OPT_SORT_KEYS)
        return RecordedCall(api, arguments, key, rows, not missing)

    def _told(
        self, service: str, api: Api, state: _State, missing: Sequence[str]
    ) -> dict[str, Argument]:
        """Return the arguments that the user has given, and `?` for each that is missing.

        Each given one has its canonical form first, then the ways in which it was said.
        """
        found = {}
        for original, slot in api.arguments.items():
            variants = state.values.get(original)
            if variants:
                canonical = self._canonical_of(service, original, variants[0])
                texts = dict.fromkeys(variants if canonical is None else (canonical, *variants))
                values = dict.fromkeys(slot.value(text) for text in texts)
                found[slot.name] = Argument(tuple(values), optional=DONT_CARE in texts)
        return found | {slot: Argument((UNKNOWN,)) for slot in missing}

    def _blame(self, fault: DataError) -> None:
        if self._reading.fault is None:
            self._reading.fault = fault


def _accepted(call: RecordedCall, said: Mapping[str, Sequence[str]]) -> dict[str, Argument]:
    """Return the arguments of a call, with further ways in which they were said."""
    slots = {slot.name: (original, slot) for original, slot in call.api.arguments.items()}
    found = {}
    for name, value in call.arguments.items():
        original, slot = slots[name]
        others = map(slot.value, said.get(original, ()))
        found[name] = Argument(tuple(dict.fromkeys((value, *others))))
    return found


def _state(state: Any) -> _State:
    intent, values, requested = fields(
        state, active_intent=str, slot_values=dict, requested_slots=list
    )
    for variants in (*values.values(), requested):
        try:
            "".join(variants)
        except TypeError:
            raise DataError(f"state: expected lists of texts, got {shortened(variants)}") from None
        if type(variants) is not list:
            raise DataError(f"state: expected lists of texts, got {shortened(variants)}")
    return _State(intent, values, requested)


def _asked(acts: Sequence[str], actions: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """Return the arguments that a system turn asks the user to affirm; None: none.

    A turn that could not do what was asked, and offers something else, asks for leave to do that.
    """
    if "CONFIRM" not in acts and not ("OFFER" in acts and "NOTIFY_FAILURE" in acts):
        return None
    asking = (act for act in actions if act["act"] in ("CONFIRM", "OFFER"))
    return {act["slot"]: act["canonical_values"][0] for act in asking if act["canonical_values"]}


def _plain_state(service: Service, state: _State, api: Api | None) -> dict[str, JSON]:
    names = {original: slot.name for original, slot in service.slots.items()}
    return {
        "active_intent": state.intent if api is None else api.name,
        "slot_values": {names.get(slot, slot): values for slot, values in state.values.items()},
        "requested_slots": [names.get(slot, slot) for slot in state.requested],
    }


def _row(service: Service, row: Any) -> bytes:
    """Return a result as JSON, its keys sorted so that equal rows are equal bytes."""
    expect(row, dict, "service_results", "objects")
    try:
        return json_bytes(named(service.slots, row), orjson.OPT_SORT_KEYS)
    except KeyError as error:
        known = ", ".join(service.slots)
        raise CountedFault(
            "undeclared_result", f"a result has the slot {error}; {service.name} has: {known}"
        ) from error


def _reference(call: RecordedCall, number: int, reply: str) -> tuple[Step, ...]:
    made = ToolCall(f"call_{number}", call.api.function, call.arguments, tool=call.api.tool)
    content = f"[{b','.join(call.rows).decode()}]"
    return (
        Step(0, CALLER, EXECUTOR, call=made),
        Step(1, EXECUTOR, CALLER, content, result=ToolResult(made.id, content), turn=1),
        Step(2, CALLER, USER, reply, turn=2),
    )

"""SGD's services as tools, and a dialogue as a task: each turn of the user is a goal.

The reference of a goal is what the system did on the turn. Its labels tell of that:

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

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as item
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from seal.benchmarks.dialogtool.tool_life import UNKNOWN
from seal.core import (
    JSON,
    DataError,
    Goal,
    Milestone,
    Plan,
    Step,
    Tool,
    ToolCall,
    ToolResult,
    check_name,
    shortened,
)
from seal.core.conditions import Argument, Called
from seal.core.quantities import read
from seal.core.values import canonical_json, json_bytes
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    CountedFault,
    FileFault,
    Placed,
    Reader,
    Torn,
    expect,
    field_of,
    fields,
    function_name,
    json_file,
    listed,
    tool_id,
    usable,
)
from seal.pools.reading.records import ToolTable
from seal.pools.reading.tool_schemas import arguments_schema

# -- SGD's schemas: each intent of a service as a tool with typed arguments.
#
# SGD has no types. Its schemas list the values of categorical slots: True and False make a boolean,
# whole numbers an integer, anything else an enum of texts. Of the other slots prices, ratings and
# balances are numbers, dates and times are texts that say their format, and all others are texts.
# The default `dontcare` of an optional argument means "no filter": it is left out, as the argument
# may be.
#
# SGD-X words the same schemas otherwise: services, intents and slots stand in equal order under
# other names. Types follow from the original names, and `source["original"]` keeps them.
#
# A tool's description is the intent's. The service's, which all its intents share, stands in
# `source["service"]`: in the document it costs a lexical retriever 3 points of recall@10.
#
# `Schemas` has the services of each split. They are looked up by their original names, in which the
# dialogues are written. They bear the names of the schemas that were chosen: with SGD-X other ones.

BENCHMARK = "dialogtool"

_VERSION = re.compile(r"_\d+$")
_INTEGER = re.compile(r"-?\d+")
_FORMATS = {"date": "yyyy-mm-dd", "time": "hh:mm"}
_DURATIONS = frozenset({"wait_time", "transfer_time"})
"""Slots that count minutes or days although their names end like those of moments."""
_NUMBERS = frozenset({"price", "rating", "balance"})
"""Words of which a name has one whose slot is a number."""


def domain_of(service: str) -> str:
    """Return a service's domain: its name without the number behind it."""
    return _VERSION.sub("", service)


def tools_of_service(service: Any, file: str, original: Any = None) -> dict[str, Tool]:
    """Return a service's intents as tools, by their original names.

    Args:
        service: A record of schema.json.
        file: For provenance.
        original: The record of which SGD-X words this one otherwise; None: it is the original.

    Raises:
        DataError: A field is missing or of another kind, an intent names an unknown slot, or the
            record is not worded after the original.
    """
    names = original_names(service, original)
    slots = {
        field_of(slot, "name", str): _schema(slot, names[slot["name"]])
        for slot in field_of(service, "slots", list)
    }
    tools = {}
    intents = field_of(service, "intents", list)
    origins = intents if original is None else field_of(original, "intents", list)
    if len(origins) != len(intents):
        raise DataError(f"expected {len(origins)} intents as in the original, got {len(intents)}")
    for intent, origin in zip(intents, origins, strict=True):
        source = _source(service, intent, file)
        if original is not None:
            source["original"] = {
                "tool": original["service_name"],
                "api": field_of(origin, "name", str),
                "arguments": {name: names[name] for name in _arguments(intent)},
            }
        tools[field_of(origin, "name", str)] = _tool(intent, slots, source)
    return tools


def original_names(service: Any, original: Any = None) -> dict[str, str]:
    """Return the original name of each slot of a service.

    Args:
        service: A record of schema.json.
        original: The record of which it words the slots otherwise, in equal order; None: itself.

    Raises:
        DataError: The two have not equally many slots, or two slots of one name.
    """
    slots = [field_of(slot, "name", str) for slot in field_of(service, "slots", list)]
    if original is None:
        return dict(zip(slots, slots, strict=True))
    origins = [field_of(slot, "name", str) for slot in field_of(original, "slots", list)]
    if len(slots) != len(origins) or len(set(slots)) != len(slots):
        raise DataError(
            f"expected {len(origins)} slots of different names as in the original, got "
            f"{len(set(slots))} names of {len(slots)} slots"
        )
    return dict(zip(slots, origins, strict=True))


def _source(service: Any, intent: Any, file: str) -> dict[str, JSON]:
    name = field_of(service, "service_name", str)
    return {
        "tool": name,
        "api": field_of(intent, "name", str),
        "service": field_of(service, "description", str),
        "app": domain_of(name),
        "transactional": field_of(intent, "is_transactional", bool),
        "base_required": [],
        "file": file,
    }


def _arguments(intent: Any) -> list[str]:
    return [*field_of(intent, "required_slots", list), *field_of(intent, "optional_slots", dict)]


def _tool(intent: Any, slots: dict[str, dict[str, JSON]], source: dict[str, JSON]) -> Tool:
    """Return an intent as a tool, whose answer is a list of what fits; empty where nothing does."""
    service, name = str(source["tool"]), str(source["api"])
    about = field_of(intent, "description", str)
    properties = {argument: _slot(slots, argument) for argument in _arguments(intent)}
    for argument, default in field_of(intent, "optional_slots", dict).items():
        if default != DONT_CARE:
            schema = properties[argument]
            properties[argument] = {**schema, "default": _value(schema, default)}
    columns = {result: _slot(slots, result) for result in field_of(intent, "result_slots", list)}
    returns = {"type": "array", "items": {"type": "object", "properties": columns}}
    return Tool(
        tool_id(BENCHMARK, service, name),
        function_name(f"{service}_{name}"),
        about,
        arguments_schema(properties, list(field_of(intent, "required_slots", list))),
        domain_of(service),
        returns,
        source,
    )


def _slot(slots: dict[str, dict[str, JSON]], name: Any) -> dict[str, JSON]:
    if not isinstance(name, str) or name not in slots:
        raise DataError(f"no slot {shortened(name)}; the service has: {', '.join(slots)}")
    return slots[name]


def _schema(slot: Any, original: str) -> dict[str, JSON]:
    """Return a slot's JSON Schema."""
    values = field_of(slot, "possible_values", list)
    about = field_of(slot, "description", str)
    schema: dict[str, JSON] = {"type": "string", "description": about}
    if not field_of(slot, "is_categorical", bool):
        return schema | _type_of_name(original, about)
    schema["type"] = _type(values)
    if schema["type"] != "boolean" and values:
        schema["enum"] = [_value(schema, value) for value in values]
    return schema


def _type_of_name(name: str, about: str) -> dict[str, JSON]:
    """Return what the name of a slot without listed values says of its type."""
    words = name.split("_")
    if _NUMBERS.intersection(words):
        return {"type": "number"}
    hint = _FORMATS.get(words[-1])
    if hint is None or name in _DURATIONS:
        return {}
    return {"format": words[-1], "description": f"{about} ({hint})"}


def _type(values: list[Any]) -> str:
    if not all(isinstance(value, str) for value in values):
        raise DataError(f"possible_values: expected texts, got {shortened(values)}")
    if values and all(value in _BOOLEANS for value in values):
        return "boolean"
    return "integer" if values and all(map(_INTEGER.fullmatch, values)) else "string"


def _value(schema: Mapping[str, JSON], text: Any) -> JSON:
    """Return a value as its argument's type says it; as it stands where it cannot be."""
    return typed(str(schema["type"]), text) if isinstance(text, str) else text


_DECIMAL = re.compile(r"-?\d+\.\d+", re.ASCII)
_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)
_BOOLEANS = {"True": True, "False": False}
_IN_WORDS = re.compile(r"[a-z][a-z -]*[a-z]", re.ASCII | re.IGNORECASE)
_DIGITS = 15
"""Digits that a float surely keeps."""


@lru_cache(maxsize=1 << 16)
def typed(kind: str, text: str) -> JSON:
    """Return a text as a value of a JSON Schema type; the text itself where it is none."""
    if kind == "boolean":
        return _BOOLEANS.get(text, text)
    if kind in ("integer", "number") and len(text) <= _DIGITS:
        if _WHOLE.fullmatch(text):
            return int(text)
        if kind == "number" and _DECIMAL.fullmatch(text):
            return float(text)
        said = read(text).values if _IN_WORDS.fullmatch(text) else []
        if len(said) == 1 and isinstance(said[0], Decimal):
            return int(said[0])
    return text


SCHEMA = "schema.json"
ORIGINAL = "original"
SCHEMAS = (ORIGINAL, "v1", "v2", "v3", "v4", "v5")
"""Wordings of the schemas: SGD's own, and the five of SGD-X, each further from it."""

_VARIANTS = "sgd_x/data"


@dataclass(frozen=True, slots=True)
class Slot:
    """An argument or part of a result."""

    name: str
    """In the pool."""
    kind: str
    """Type of its JSON Schema."""

    def value(self, text: str) -> JSON:
        """Return the value that a text of upstream's is."""
        return text if self.kind == "string" else typed(self.kind, text)


def named(slots: Mapping[str, Slot], values: Mapping[str, str]) -> dict[str, JSON]:
    """Return upstream's texts by slot with the names and types of the pool.

    Raises:
        KeyError: There is no such slot.
        DataError: A value is no text.
    """
    if not set(map(type, values.values())) <= {str}:
        raise DataError(f"expected texts as values of slots, got {shortened(values)}")
    return {(slot := slots[name]).name: slot.value(text) for name, text in values.items()}


@dataclass(frozen=True, slots=True)
class Api:
    """An intent of a service."""

    tool: str
    """Id."""
    function: str
    """What the model sees."""
    name: str
    """In the pool."""
    transactional: bool
    required: tuple[str, ...]
    """Arguments by their original names."""
    arguments: Mapping[str, Slot]
    """Required and optional ones by their original names."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service: one signature of an app."""

    name: str
    """In the pool."""
    slots: Mapping[str, Slot]
    """By their original names."""
    apis: Mapping[str, Api]
    """By their original names."""


class Schemas:
    """The services of each split, and their APIs as tools.

    Args:
        notes: Gets the counts of what is malformed.
        wording: One of `SCHEMAS`.

    Raises:
        UnknownNameError: No such wording.
    """

    def __init__(self, notes: Notes, wording: str = ORIGINAL) -> None:
        check_name("schema of dialogtool", wording, SCHEMAS)
        self.splits: dict[str, dict[str, Service]] = {}
        """Split to service by its original name."""
        self.table = ToolTable()
        self._notes = notes
        self._wording = wording

    def read(self, split: str, folder: Path) -> None:
        """Read the schemas of a split.

        Args:
            split: Its name.
            folder: With `schema.json`; SGD-X lies beside it, as upstream has it.

        Raises:
            DataError: A file is missing or malformed; the text names it.
        """
        path = folder / SCHEMA
        original = _content(path)
        records = listed(original)
        if self._wording != ORIGINAL:
            path = folder.resolve().parent / _VARIANTS / self._wording / split / SCHEMA
            records = _paired(_content(path, folder), original)
        file = f"{split}/{SCHEMA}"
        services = self.splits.setdefault(split, {})

        def read(record: Any) -> tuple[str, Service]:
            worded, origin = record if isinstance(record, tuple) else (record, None)
            return self._service(worded, origin, file)

        for name, service in usable(path, read, self._notes, records, "malformed_service"):
            services[name] = service

    def tools(self) -> Iterator[Tool]:
        """Yield the tools of all splits, sorted by id."""
        yield from self.table

    def _service(self, record: Any, origin: Any, file: str) -> tuple[str, Service]:
        tools = tools_of_service(record, file, origin)
        kinds: dict[str, Any] = {}
        for tool in tools.values():
            kinds |= {**tool.parameters["properties"], **tool.returns["items"]["properties"]}
        originals = original_names(record, origin)
        slots = {
            original: Slot(own, str(kinds.get(own, {}).get("type", "string")))
            for own, original in originals.items()
        }
        apis = {
            name: Api(
                self.table.add(tool),
                tool.name,
                str(tool.source["api"]),
                bool(tool.source["transactional"]),
                tuple(originals[own] for own in tool.parameters["required"]),
                {originals[own]: slots[originals[own]] for own in tool.parameters["properties"]},
            )
            for name, tool in tools.items()
        }
        service = Service(field_of(record, "service_name", str), slots, apis)
        return field_of(record if origin is None else origin, "service_name", str), service


def _content(path: Path, worded_after: Path | None = None) -> list[Any]:
    if worded_after is not None and not path.is_file():
        raise FileFault(
            f"no file {path}: SGD-X's schemas are read from {_VARIANTS} beside the splits; fetch "
            "them, or leave -T schema= away"
        )
    content = json_file(path)
    if not isinstance(content, list) or not content:
        raise DataError(f"{path}: expected a list of services, got {shortened(content)}")
    return content


def _paired(worded: list[Any], original: list[Any]) -> Reader:
    """Return the reader of services with the originals that they are worded after."""

    def records(path: Path, torn: Torn) -> Iterator[Placed]:
        if len(worded) != len(original):
            raise DataError(
                f"{path}: expected {len(original)} services as in the original, got {len(worded)}"
            )
        for number, pair in enumerate(zip(worded, original, strict=True)):
            yield Placed(f"{path}, record {number}", pair)

    return records


# -- When two calls ask for the same.
#
# Texts are compared without case and blanks. An argument that is left out counts as its default.
# One that is `dontcare` counts as left out, for so dialogues say that nothing is filtered by it.
# Source: Schema-Guided Dialogue; DialogTool (2025), same input, same output.

DONT_CARE = "dontcare"
"""Value of an argument by which nothing is filtered."""


def call_key(tool: Tool, arguments: Mapping[str, JSON]) -> bytes:
    """Return what calls of a tool have in common that ask for the same."""
    return canonical_json(asked(tool, arguments))


def asked(tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return what a call asks for: its arguments and the defaults, as they are compared."""
    properties = tool.parameters.get("properties", {})
    defaults = {name: slot["default"] for name, slot in properties.items() if "default" in slot}
    folded = {name: fold(value) for name, value in (defaults | dict(arguments)).items()}
    return {name: value for name, value in folded.items() if value != DONT_CARE}


def fold(value: JSON) -> JSON:
    """Return a value as it is compared: a text without case, and with single blanks."""
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


# -- A dialogue of SGD as a task.

USER, CALLER, EXECUTOR = "user_simulator", "execution_manager", "executor"
NO_INTENT = "NONE"

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


def _turn_of(turn: Any) -> tuple[str, str, list[Any]]:
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
        spoken = map(_turn_of, turns)
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
            accepted = {name: Argument((value,)) for name, value in call.arguments.items()}
            due = Called(call.api.tool, accepted)
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

"""MultiWOZ 2.2: its dialogues in SGD's shape, with calls derived from states and acts.

Upstream has SGD's schemas, turns and states, but neither calls nor results, and its dialogue acts
stand in a file of their own. What a system turn did follows from its acts:

| act | is here |
|---|---|
| Booking-Book, Train-OfferBooked, Taxi-Inform | a call of the service's booking, NOTIFY_SUCCESS |
| Booking-NoBook | that call, NOTIFY_FAILURE |
| X-NoOffer | a call of the service's search, NOTIFY_FAILURE |
| X-Inform, X-Recommend, X-Select | that call, OFFER or, with a number of choices, INFORM_COUNT |
| X-Request | REQUEST |
| X-OfferBook, general-reqmore, general-bye | OFFER_INTENT, REQ_MORE, GOODBYE |

A search is a call only if the state of its service has changed since the last one. Else the system
tells more of what it has found. A call's arguments are the state's values. Upstream has no
canonical form: each way in which a value was said is right, and the first is called. No API
requires an argument, so no call lacks one.

Dialogues without acts are left out and counted, for nobody knows what was done in them.

Source: Zang et al., "MultiWOZ 2.2" (2020), and the files of budzianowski/multiwoz.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seal.benchmarks.dialogtool.dialogues import NO_INTENT, VARIANTS, turn_of
from seal.benchmarks.dialogtool.importer import PLAY, Dialogues, Drawing, tasks_of
from seal.benchmarks.dialogtool.schemas import DONT_CARE, SCHEMA, Schemas
from seal.core import Task, Tool, check_name
from seal.pools.importer import Notes
from seal.pools.reading.files import LeftOut, expect, field_of, json_file, wrong_source

BENCHMARK = "multiwoz"
SPLITS = ("test", "dev", "train")
ACTS = "dialog_acts.json"

_DIALOGUES = "dialogues_*.json"
_BOOKED = {"Book": "NOTIFY_SUCCESS", "OfferBooked": "NOTIFY_SUCCESS", "NoBook": "NOTIFY_FAILURE"}
_FOUND = {"Inform": "OFFER", "Recommend": "OFFER", "Select": "OFFER", "NoOffer": "NOTIFY_FAILURE"}
_OTHER = {
    "Request": "REQUEST",
    "OfferBook": "OFFER_INTENT",
    "reqmore": "REQ_MORE",
    "bye": "GOODBYE",
}
_ANY_SERVICE = ("Booking", "general")
"""Domains of acts that are of the service that is talked about."""


def import_multiwoz(source: Path, notes: Notes, *, split: str = "test") -> Iterator[Tool | Task]:
    """Yield the APIs and dialogues of MultiWOZ 2.2's files.

    Args:
        source: Upstream's folder `MultiWOZ_2.2` with `schema.json`, `dialog_acts.json` and the
            folders `train`, `dev` and `test`.
        notes: Gets the counts.
        split: "test", "dev" or "train".

    Raises:
        UnknownNameError: No such split.
        DataError: A file is missing or malformed; the text names file and place.
    """
    check_name("split of multiwoz", split, SPLITS)
    paths = sorted((source / split).glob(_DIALOGUES))
    if not paths or not all((source / name).is_file() for name in (SCHEMA, ACTS)):
        expected = f"{SCHEMA}, {ACTS} and {split}/{_DIALOGUES}"
        raise wrong_source(source, expected, BENCHMARK)
    return _records(source, paths, notes, split)


def _records(
    source: Path, paths: Sequence[Path], notes: Notes, split: str
) -> Iterator[Tool | Task]:
    schemas = Schemas(notes, benchmark=BENCHMARK)
    schemas.read(split, source)
    yield from schemas.tools()
    acts = expect(json_file(source / ACTS), dict, source / ACTS, "acts by dialogue")
    dialogues = Dialogues(schemas, Drawing(None, 0), BENCHMARK, "")

    def read(dialogue: Any) -> Task:
        known = acts.get(field_of(dialogue, "dialogue_id", str))
        if known is None:
            raise LeftOut("no_dialogue_acts")
        return _without_results(dialogues.task(split, _in_sgd_shape(dialogue, known)))

    for path in paths:
        yield from tasks_of(path, read, notes)
    notes.facts["files"] = {split: len(paths)}
    notes.facts["play"] = PLAY
    notes.facts["counts"] = {
        name: {key: value for key, value in counts.items() if "results" not in key}
        for name, counts in dialogues.facts().items()
    }
    notes.lacks.update(("canonical_values", "confirmations", "gold_calls", "results"))


def _without_results(task: Task) -> Task:
    """Return a task whose reference has no results, for upstream records none."""
    goals = (
        replace(goal, reference=tuple(step for step in goal.reference if step.result is None))
        for goal in task.goals
    )
    return replace(task, goals=tuple(goals))


def _in_sgd_shape(dialogue: Any, acts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dialogue as SGD would have it.

    Args:
        dialogue: Upstream's record.
        acts: Its dialogue acts, by the number of the turn.

    Raises:
        DataError: The record is malformed.
    """
    talk = _Talk(field_of(dialogue, "services", list))
    turns = []
    for number, turn in enumerate(field_of(dialogue, "turns", list)):
        speaker, text, frames = turn_of(turn)
        if speaker == "USER":
            talk.hear(frames)
        else:
            said = acts.get(str(number), {})
            known = field_of(said, "dialog_act", dict) if said else {}
            frames = [talk.answer(known)]
        turns.append({"speaker": speaker, "utterance": text, "frames": frames})
    return {
        "dialogue_id": dialogue["dialogue_id"],
        "services": dialogue["services"],
        "turns": turns,
    }


class _Talk:
    """What a dialogue is about so far.

    Args:
        services: That the dialogue names.
    """

    def __init__(self, services: Sequence[str]) -> None:
        self._service = services[0] if services else ""
        self._values: dict[str, dict[str, list[str]]] = {}
        self._searched: dict[str, dict[str, list[str]]] = {}

    def hear(self, frames: Sequence[Any]) -> None:
        """Take in the states that a turn of the user leaves."""
        for frame in frames:
            state = field_of(frame, "state", dict)
            service = field_of(frame, "service", str)
            self._values[service] = field_of(state, "slot_values", dict)
            if field_of(state, "active_intent", str) != NO_INTENT:
                self._service = service

    def answer(self, acts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the frame of a system turn with these acts."""
        named = [name.partition("-")[::2] for name in acts]
        about = [domain.lower() for domain, _ in named if domain not in _ANY_SERVICE]
        service = self._service if self._service in about or not about else about[0]
        kinds = [kind for _, kind in named]
        frame: dict[str, Any] = {"service": service, "slots": []}
        booked = next((_BOOKED[kind] for kind in kinds if kind in _BOOKED), None)
        found = next((_FOUND[kind] for kind in reversed(kinds) if kind in _FOUND), None)
        if service == "taxi" and "Inform" in kinds:
            booked = "NOTIFY_SUCCESS"
        labels = [_OTHER.get(kind, kind.upper()) for kind in kinds]
        given = self._arguments(service)
        if booked is not None:
            labels.insert(0, booked)
            frame |= _call(f"book_{service}", given)
        elif found is not None and "REQUEST" not in labels and self._searched.get(service) != given:
            chosen = any(_has_choice(values) for values in acts.values())
            labels.insert(0, "INFORM_COUNT" if chosen and found == "OFFER" else found)
            frame |= _call(f"find_{service}", given)
            self._searched[service] = given
        frame["actions"] = [
            {"act": label, "slot": "", "values": [], "canonical_values": []}
            for label in labels or ["INFORM"]
        ]
        return frame

    def _arguments(self, service: str) -> dict[str, list[str]]:
        values = self._values.get(service, {})
        return {
            slot: variants
            for slot, variants in values.items()
            if isinstance(variants, list) and variants and variants[0] != DONT_CARE
        }


def _call(method: str, said: dict[str, list[str]]) -> dict[str, Any]:
    first = {slot: variants[0] for slot, variants in said.items()}
    call = {"method": method, "parameters": first, VARIANTS: said}
    return {"service_call": call, "service_results": []}


def _has_choice(values: Any) -> bool:
    """Tell whether an act says how many there are."""
    pairs = values if isinstance(values, list) else []
    return any(isinstance(pair, list) and pair[:1] == ["choice"] for pair in pairs)

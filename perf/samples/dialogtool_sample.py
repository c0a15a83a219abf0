"""The sample's files, compiled into the corpus's form and imported like the corpus.

`apps.json` says of each service what it is about. It has its slots (with their values if they are
listed), its APIs, and the table of what it knows. `login` are slots that every call must have.

Three things are computed: the state of each service, the arguments of calls (all that was said of
the API's slots), and their results. A booking that has every column of its app's table is a row of
it for the rest of the dialogue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from dialogtool_notation import Said, SystemTurn, UserTurn, Written, dialogues

from seal.benchmarks.dialogtool.importer import import_dialogtool
from seal.core import JSON, DataError, Task, Tool, located
from seal.pools.importer import Notes, WorldFile
from seal.pools.reading.files import expect, field_of, json_file

NAME = "dialogtool-sample"
Row = dict[str, str]
MOST = 10
"""Rows that a look-up brings at most."""


@dataclass(frozen=True, slots=True)
class Api:
    """An API of a service."""

    about: str
    changes: bool
    """True: it books or buys something."""
    required: tuple[str, ...]
    optional: tuple[str, ...]
    results: tuple[str, ...]

    def takes(self, slot: str) -> bool:
        """Tell whether a slot is an argument."""
        return slot in self.required or slot in self.optional


@dataclass(frozen=True, slots=True)
class App:
    """A service with what it knows."""

    name: str
    about: str
    login: tuple[str, ...]
    slots: Mapping[str, Any]
    apis: Mapping[str, Api]
    rows: Sequence[Row]

    def schema(self) -> dict[str, JSON]:
        """Return the service as the corpus's `schema.json` has it."""
        return {
            "service_name": self.name,
            "description": self.about,
            "slots": [_slot(name, about) for name, about in self.slots.items()],
            "intents": [
                {
                    "name": name,
                    "description": api.about,
                    "is_transactional": api.changes,
                    "required_slots": list(api.required),
                    "optional_slots": dict.fromkeys(api.optional, "dontcare"),
                    "result_slots": list(api.results),
                }
                for name, api in self.apis.items()
            ],
        }

    def answer(self, api: Api, arguments: Mapping[str, str], further: Sequence[Row]) -> list[Row]:
        """Return the rows that a call brings.

        Args:
            api: One of the app's.
            arguments: Slot to value; one that is no column chooses nothing.
            further: Rows that bookings added.

        Raises:
            DataError: A booking lacks a value that it is to bring.
        """
        found = [row for row in (*self.rows, *further) if _fits(row, arguments)]
        if api.changes:
            known = {**(found[0] if found else {}), **arguments}
            row = {n: known[n] for n in api.results if n in known or n not in api.optional}
            return [row]
        brought = [{name: row[name] for name in api.results} for row in found]
        return [row for n, row in enumerate(brought) if row not in brought[:n]][:MOST]


def apps_of(content: Any, where: str) -> dict[str, App]:
    """Return the services of the content of `apps.json`, by name.

    Args:
        content: Service to what it is.
        where: For messages.

    Raises:
        DataError: A field is missing or of another kind, or a row has too few values.
    """
    expect(content, dict, where, "an object of services")
    apps = {}
    for name, service in content.items():
        with located(f"{where}: {name}", ValueError):
            apps[name] = _app(name, service)
    return apps


def _app(name: str, service: Any) -> App:
    columns = field_of(service, "columns", list)
    rows = [dict(zip(columns, values, strict=True)) for values in field_of(service, "rows", list)]
    return App(
        name,
        field_of(service, "about", str),
        tuple(service.get("login", ())),
        field_of(service, "slots", dict),
        {name: _api(api) for name, api in field_of(service, "apis", dict).items()},
        rows,
    )


def _api(api: Any) -> Api:
    return Api(
        field_of(api, "about", str),
        api.get("changes", False),
        *(tuple(field_of(api, name, list)) for name in ("required", "optional", "results")),
    )


def _slot(name: str, about: Any) -> dict[str, JSON]:
    told = about if isinstance(about, dict) else {"about": about, "values": []}
    values = field_of(told, "values", list)
    return {
        "name": name,
        "description": field_of(told, "about", str),
        "is_categorical": bool(values),
        "possible_values": values,
    }


def _fits(row: Row, arguments: Mapping[str, str]) -> bool:
    return all(row.get(name, value) == value for name, value in arguments.items())


_BESIDE = ("inform_count", "notify_success", "notify_failure", "req_more")
"""Acts whose turn may offer or tell something besides: slots are of the other act."""
_PROPOSING = ("offer", "offer_alts", "confirm")


def record_of(written: Written, apps: Mapping[str, App]) -> dict[str, JSON]:
    """Return a dialogue as the corpus has it.

    Args:
        written: The dialogue.
        apps: By service.

    Raises:
        DataError: It does not fit the apps; the text names the dialogue and the turn.
    """
    compiling = _Compiling(apps)
    turns: list[JSON] = []
    for number, (user, system) in enumerate(written.exchanges):
        with located(f"dialogue {written.id}, exchange {number}"):
            turns += [compiling.user(user), compiling.system(system)]
    services = list(compiling.states)
    return {"dialogue_id": written.id, "services": services, "turns": turns}


class _Compiling:
    """One dialogue while it is compiled.

    Args:
        apps: By service.
    """

    def __init__(self, apps: Mapping[str, App]) -> None:
        self.states: dict[str, dict[str, list[Said]]] = {}
        """Service to slot to what was said of it that means its value, the first first."""
        self._apps = apps
        self._service = ""
        self._intent = "NONE"
        self._proposed: Sequence[Said] = ()
        self._asked = False
        """Whether the last turn of the system asks to be affirmed."""
        self._booked: defaultdict[str, list[Row]] = defaultdict(list)

    def user(self, turn: UserTurn) -> dict[str, JSON]:
        """Return a turn of the user."""
        if turn.wants is not None:
            self._want(*turn.wants)
        self._known([*turn.asked, *(said.slot for said in turn.said)])
        state = self.states[self._service]
        for said in (*(self._proposed if turn.accepts else ()), *turn.said):
            before = state.get(said.slot, [])
            same = [one for one in before if one.value == said.value and one.text != said.text]
            state[said.slot] = [*same, said]
        acts = [_act("AFFIRM" if self._asked else "SELECT")] if turn.accepts else []
        acts += [_act("INFORM", said) for said in turn.said]
        acts += [_asking(slot) for slot in turn.asked]
        frame = {
            "service": self._service,
            "actions": acts,
            "state": {
                "active_intent": self._intent,
                "slot_values": {name: [s.text for s in said] for name, said in state.items()},
                "requested_slots": list(turn.asked),
            },
        }
        return {"speaker": "USER", "utterance": turn.text, "frames": [frame]}

    def system(self, turn: SystemTurn) -> dict[str, JSON]:
        """Return a turn of the system, with its call."""
        self._known([*turn.asked, *(said.slot for said in turn.said)])
        main = next((act for act in turn.acts if act not in _BESIDE), turn.acts[0])
        acts = [_act(_upper(act)) for act in turn.acts if act != main]
        acts[:0] = [_act(_upper(main), said) for said in turn.said] or [_act(_upper(main))]
        if main == "request":
            acts = [_asking(slot) for slot in turn.asked]
        if main in _PROPOSING:
            self._proposed = turn.said
        self._asked = main == "confirm" or {"offer", "notify_failure"} <= set(turn.acts)
        frame: dict[str, JSON] = {"service": self._service, "actions": acts}
        if turn.calls:
            frame |= self._call(turn)
        return {"speaker": "SYSTEM", "utterance": turn.text, "frames": [frame]}

    def _want(self, service: str, api: str) -> None:
        if not service:
            self._intent = "NONE"
            return
        app = self._apps.get(service)
        if app is None or api not in app.apis:
            known = self._apps if app is None else app.apis
            raise DataError(f"no API {service}.{api}; there are: {', '.join(known)}")
        if service != self._service:
            self._proposed = ()
        self._service, self._intent = service, api
        self.states.setdefault(service, {})

    def _known(self, slots: Sequence[str]) -> None:
        if not self._service:
            raise DataError("expected SERVICE.API of the first turn, got none")
        known = self._apps[self._service].slots
        unknown = next((slot for slot in slots if slot not in known), None)
        if unknown is not None:
            raise DataError(f"no slot {unknown!r}; {self._service} has: {', '.join(known)}")

    def _call(self, turn: SystemTurn) -> dict[str, JSON]:
        app = self._apps[self._service]
        api = app.apis.get(self._intent)
        if api is None:
            raise DataError("a call is made, and the user wants nothing")
        state = self.states[self._service]
        arguments = {name: said[-1].value for name, said in state.items() if api.takes(name)}
        missing = [name for name in api.required if name not in arguments]
        if missing:
            raise DataError(f"{self._intent} is called without {', '.join(missing)}")
        rows = [] if turn.fails else self._rows(app, arguments)
        told = "notify_failure" not in turn.acts
        if bool(rows) != told:
            raise DataError(f"{self._intent}({arguments}) brings {len(rows)} rows: tell so")
        return {
            "service_call": {"method": self._intent, "parameters": dict(arguments)},
            "service_results": [dict(row) for row in rows],
        }

    def _rows(self, app: App, arguments: Mapping[str, str]) -> list[Row]:
        api = app.apis[self._intent]
        try:
            rows = app.answer(api, arguments, self._booked[app.name])
        except KeyError as error:
            raise DataError(f"{self._intent}({arguments}) brings no {error}") from error
        if api.changes:
            booked = {**arguments, **rows[0]}
            columns = list(app.rows[0])
            if all(name in booked for name in columns):
                self._booked[app.name].append({name: booked[name] for name in columns})
        return rows


def _upper(act: str) -> str:
    """Return an act as the corpus has it: an alternative is an offer without a call."""
    return "OFFER" if act == "offer_alts" else act.upper()


def _act(act: str, said: Said | None = None) -> dict[str, JSON]:
    return {
        "act": act,
        "slot": "" if said is None else said.slot,
        "values": [] if said is None else [said.text],
        "canonical_values": [] if said is None else [said.value],
    }


def _asking(slot: str) -> dict[str, JSON]:
    return {**_act("REQUEST"), "slot": slot}


SPLIT = "sample"
APPS, DIALOGUES = "apps.json", "dialogues.txt"


def import_sample(source: Path, notes: Notes) -> Iterator[Tool | Task | WorldFile]:
    """Yield the sample's tools and tasks, and what its apps bring.

    Args:
        source: Folder with apps.json and dialogues.txt.
        notes: Gets the counts.

    Raises:
        DataError: A file is missing or malformed, or a dialogue does not fit the apps.
    """
    for name in (APPS, DIALOGUES):
        if not (source / name).is_file():
            raise DataError(f"{source} has no {name}: name the folder `authored` of the sample")
    apps = apps_of(json_file(source / APPS), str(source / APPS))
    with TemporaryDirectory() as folder:
        split = Path(folder) / SPLIT
        write_corpus(apps, source / DIALOGUES, split)
        for record in import_dialogtool(split, notes, split="all"):
            yield _own(record, apps)
    if notes.dropped:
        raise DataError(f"{source}: {dict(notes.dropped)}: {'; '.join(notes.malformed)}")


def write_corpus(apps: dict[str, App], written: Path, folder: Path) -> None:
    """Write schemas and dialogues as a split of the corpus.

    Args:
        apps: By service.
        written: File of dialogues.
        folder: Of the split; is made.

    Raises:
        DataError: The file is malformed, or a dialogue does not fit the apps.
    """
    text = written.read_text(encoding="utf-8")
    records = [record_of(one, apps) for one in dialogues(text, str(written))]
    folder.mkdir()
    schemas = [app.schema() for app in apps.values()]
    (folder / "schema.json").write_bytes(orjson.dumps(schemas))
    (folder / "dialogues_001.json").write_bytes(orjson.dumps(records))


def _own(record: Tool | Task | WorldFile, apps: dict[str, App]) -> Tool | Task | WorldFile:
    """Return a record as the sample's: with its name, and with what an app asks of every call."""
    if isinstance(record, Tool):
        login = list(apps[record.source["tool"]].login)
        return replace(record, source={**record.source, "base_required": login})
    if isinstance(record, Task):
        tags = {**record.tags, "split": SPLIT}
        return replace(record, benchmark=NAME, split=SPLIT, tags=tags)
    return record

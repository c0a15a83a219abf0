"""A written dialogue as a record of the Schema-Guided Dialogue corpus.

What stands between the lines is computed: the state of each service, the arguments of calls (all
that was said of the API's slots), and their results (`apps`). A booking that has every column of
its app's table is a row of it for the rest of the dialogue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from seal.benchmarks.dialogtool.sample.apps import App, Row
from seal.benchmarks.dialogtool.sample.notation import Said, SystemTurn, UserTurn, Written
from seal.core.errors import DataError
from seal.core.types import JSON

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
        try:
            turns += [compiling.user(user), compiling.system(system)]
        except DataError as error:
            raise DataError(f"dialogue {written.id}, exchange {number}: {error}") from error
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

"""Records of our own in the format of SGD's files."""

import json
from pathlib import Path
from typing import Any

from seal.core import Task
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import StoredPool, load_pool

FIND = "dialogtool/Boats_1/FindBoat"
HIRE = "dialogtool/Boats_1/HireBoat"


def slot(name: str, *values: str, about: str = "About it") -> dict[str, Any]:
    return {
        "name": name,
        "description": about,
        "is_categorical": bool(values),
        "possible_values": list(values),
    }


def intent(name: str, required: list[str], *optional: str, transactional: bool = False):
    return {
        "name": name,
        "description": f"{name} in a harbour",
        "is_transactional": transactional,
        "required_slots": required,
        "optional_slots": dict.fromkeys(optional, "dontcare"),
        "result_slots": ["boat", "seats", "with_sails", "price", "harbour", "wait_time"],
    }


def boats(name: str = "Boats_1") -> dict[str, Any]:
    return {
        "service_name": name,
        "description": "Boats to hire",
        "slots": [
            slot("boat"),
            slot("harbour"),
            slot("start_date"),
            slot("start_time"),
            slot("seats", "1", "2"),
            slot("with_sails", "True", "False"),
            slot("price"),
            slot("wait_time"),
        ],
        "intents": [
            intent("FindBoat", ["harbour"], "seats", "with_sails"),
            intent("HireBoat", ["boat", "start_date"], "seats", transactional=True),
        ],
    }


def worded() -> dict[str, Any]:
    """The same service as SGD-X words it: other names in equal order."""
    text = json.dumps(boats("Boats_11"))
    for name, other in (
        ("boat", "vessel"),
        ("harbour", "port"),
        ("start_date", "first_day"),
        ("price", "costs"),
        ("FindBoat", "SeekVessel"),
    ):
        text = text.replace(f'"{name}"', f'"{other}"')
    return json.loads(text)


def act(name: str, slot: str = "", value: str | None = None, canonical: str | None = None):
    values = [] if value is None else [value]
    meant = values if canonical is None else [canonical]
    return {"act": name, "slot": slot, "values": values, "canonical_values": meant}


def user(text: str, *acts: Any, intent: str = "FindBoat", service: str = "Boats_1", **values: Any):
    state = {"active_intent": intent, "slot_values": values, "requested_slots": []}
    frame = {"service": service, "actions": list(acts), "slots": [], "state": state}
    return {"speaker": "USER", "utterance": text, "frames": [frame]}


def system(
    text: str,
    *acts: Any,
    call: tuple[str, dict[str, str]] | None = None,
    results: Any = (),
    service: str = "Boats_1",
) -> dict[str, Any]:
    frame: dict[str, Any] = {"service": service, "actions": list(acts), "slots": []}
    if call is not None:
        frame["service_call"] = {"method": call[0], "parameters": call[1]}
        frame["service_results"] = [dict(row) for row in results]
    return {"speaker": "SYSTEM", "utterance": text, "frames": [frame]}


ROW = {"boat": "Möwe", "seats": "2", "with_sails": "True", "price": "40.50", "harbour": "Kiel"}
HIRED = {"boat": "Möwe", "start_date": "2019-03-02", "seats": "2"}


def hiring(number: int = 0, *, services: tuple[str, ...] = ("Boats_1",)) -> dict[str, Any]:
    """A dialogue in which a boat is found and hired, with each kind of turn."""
    kiel = {"harbour": ["Kiel"]}
    wanted = {**kiel, "boat": ["Möwe"], "seats": ["2"]}
    dated = {**wanted, "start_date": ["the 2nd"]}
    turns = [
        user("A boat, please", act("INFORM_INTENT", "intent", "FindBoat")),
        system("Where?", act("REQUEST", "harbour")),
        user("In Kiel", act("INFORM", "harbour", "Kiel"), **kiel),
        system(
            "There is the Möwe.",
            act("OFFER", "boat", "Möwe"),
            act("INFORM_COUNT", "count", "2"),
            call=("FindBoat", {"harbour": "Kiel"}),
            results=[ROW, {**ROW, "boat": "Ida", "seats": "1"}],
        ),
        user("Another?", act("REQUEST_ALTS"), **kiel),
        system("The Ida.", act("OFFER", "boat", "Ida")),
        user("The Möwe for two", act("SELECT"), intent="HireBoat", **wanted),
        system("When?", act("REQUEST", "start_date")),
        user(
            "On the 2nd",
            act("INFORM", "start_date", "the 2nd", "2019-03-02"),
            intent="HireBoat",
            **dated,
        ),
        system(
            "The Möwe on March 2nd?",
            act("CONFIRM", "boat", "Möwe"),
            act("CONFIRM", "start_date", "March 2nd", "2019-03-02"),
        ),
        user("Yes", act("AFFIRM"), intent="HireBoat", **dated),
        system(
            "Done.",
            act("INFORM", "price", "40.50"),
            act("NOTIFY_SUCCESS"),
            call=("HireBoat", dict(HIRED)),
            results=[{**ROW, "start_date": "2019-03-02"}],
        ),
        user("Bye", act("GOODBYE"), intent="NONE", **dated),
        system("Bye.", act("GOODBYE")),
    ]
    return {"dialogue_id": f"1_{number:05}", "services": list(services), "turns": turns}


class Sgd:
    """A folder in SGD's format with one service and one dialogue."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sgd"
        self.out = folder / "pool"
        self.write("test/schema.json", [boats()])
        self.write("test/dialogues_001.json", [hiring()])

    def write(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    def imported(self, **options: Any) -> ImportReport:
        return import_benchmark("dialogtool", self.folder, self.out, **options)

    def pool(self, **options: Any) -> StoredPool:
        self.imported(**options)
        return load_pool(self.out)

    def dialogue(self, **options: Any) -> Task:
        return next(self.pool(**options).tasks({"split": "test"}))

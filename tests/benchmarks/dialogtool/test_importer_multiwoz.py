"""MultiWOZ 2.2's dialogues: calls derived from states and acts."""

import json
from pathlib import Path
from typing import Any

import pytest

from seal.core import DataError, UnknownNameError
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool

FIND, BOOK = "multiwoz/hotel/find_hotel", "multiwoz/hotel/book_hotel"
SLOTS = {"hotel-area": ["north", "south"], "hotel-bookpeople": ["1", "2"], "hotel-name": None}


def service(name: str = "hotel") -> dict[str, Any]:
    slots = []
    for slot, values in SLOTS.items():
        record = {"name": slot, "description": slot, "is_categorical": bool(values)}
        slots.append(record | ({"possible_values": values} if values else {}))
    optional = dict.fromkeys(SLOTS, "dontcare")
    intents = [
        {
            "name": f"{kind}_{name}",
            "description": f"{kind} a room",
            "is_transactional": kind == "book",
            "required_slots": [],
            "optional_slots": optional,
        }
        for kind in ("find", "book")
    ]
    return {"service_name": name, "description": "rooms", "slots": slots, "intents": intents}


def user(number: int, text: str, intent: str = "find_hotel", **values: list[str]) -> dict[str, Any]:
    slots = {f"hotel-{name}": said for name, said in values.items()}
    state = {"active_intent": intent, "requested_slots": [], "slot_values": slots}
    frame = {"actions": [], "service": "hotel", "slots": [], "state": state}
    return {"turn_id": str(number), "speaker": "USER", "utterance": text, "frames": [frame]}


def system(number: int, text: str) -> dict[str, Any]:
    return {"turn_id": str(number), "speaker": "SYSTEM", "utterance": text, "frames": []}


NORTH = {"area": ["north"], "name": ["dontcare"]}
DIALOGUE = {
    "dialogue_id": "PMUL0001.json",
    "services": ["hotel"],
    "turns": [
        user(0, "A hotel in the north", **NORTH),
        system(1, "I have two. Any name?"),
        user(2, "No", **NORTH),
        system(3, "How many people?"),
        user(4, "Two, book it", "book_hotel", **NORTH, bookpeople=["2", "two"]),
        system(5, "Booked."),
        user(6, "Thanks", "NONE", **NORTH),
        system(7, "Bye"),
    ],
}
ACTS = {
    "1": {"Hotel-Inform": [["choice", "two"]]},
    "3": {"Booking-Request": [["bookpeople", "?"]], "Hotel-Inform": [["area", "north"]]},
    "5": {"Booking-Book": [["ref", "X1"]], "general-reqmore": [["none", "none"]]},
    "7": {"general-bye": [["none", "none"]]},
}


class Woz:
    """A folder in MultiWOZ 2.2's format."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder / "MultiWOZ_2.2", folder / "pool"
        self.write("schema.json", [service()])
        acts = {turn: {"dialog_act": said, "span_info": []} for turn, said in ACTS.items()}
        self.write("dialog_acts.json", {"PMUL0001.json": acts})
        self.write("test/dialogues_001.json", [DIALOGUE])

    def write(self, name: str, content: Any) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))

    def imported(self, **options: Any) -> Any:
        return import_benchmark("multiwoz", self.folder, self.out, **options)


@pytest.fixture
def woz(tmp_path: Path) -> Woz:
    return Woz(tmp_path)


def test_calls_follow_from_states_and_acts(woz: Woz) -> None:
    report = woz.imported()

    (task,) = load_pool(woz.out).tasks()
    assert (task.id, task.world) == ("multiwoz/test/PMUL0001.json", "")
    assert [(goal.labels["kind"], goal.labels["act"]) for goal in task.goals] == [
        ("call", "inform_count"),
        ("action", "request"),
        ("call", "notify_success"),
        ("action", "goodbye"),
    ]
    found, booked = (task.goals[n].reference[0].call for n in (0, 2))
    assert (found.tool, found.arguments) == (FIND, {"hotel-area": "north"})
    assert (booked.tool, booked.arguments) == (BOOK, {"hotel-area": "north", "hotel-bookpeople": 2})
    assert [len(goal.reference) for goal in task.goals] == [2, 1, 2, 1]
    assert report.lacks == ("canonical_values", "confirmations", "gold_calls", "results")
    assert report.facts["counts"]["test"]["calls"] == 2
    assert not (woz.out / "mobile.json").exists()


def test_each_way_in_which_a_value_was_said_is_right(woz: Woz) -> None:
    said = {"name": ["the acorn", "acorn"], "bookpeople": ["two"]}
    turns = [user(0, "Book the acorn", "book_hotel", **said), system(1, "Booked.")]
    woz.write("test/dialogues_001.json", [DIALOGUE | {"turns": turns}])
    acts = {"1": {"dialog_act": {"Booking-Book": []}, "span_info": []}}
    woz.write("dialog_acts.json", {"PMUL0001.json": acts})
    woz.imported()

    (task,) = load_pool(woz.out).tasks()
    (gold,) = task.goals[0].plans[0].calls()
    made = {"hotel-name": "the acorn", "hotel-bookpeople": 2}
    assert gold.canonical_arguments() == made
    assert gold.accepts(made | {"hotel-name": "acorn"})
    assert not gold.accepts(made | {"hotel-name": "an acorn"})


def test_a_search_that_changed_nothing_is_no_second_call(woz: Woz) -> None:
    acts = {"1": {"Hotel-Inform": []}, "3": {"Hotel-Recommend": []}, "5": {"Hotel-NoOffer": []}}
    told = {turn: {"dialog_act": said, "span_info": []} for turn, said in acts.items()}
    woz.write("dialog_acts.json", {"PMUL0001.json": told})
    woz.imported()

    (task,) = load_pool(woz.out).tasks()
    assert [goal.labels["act"] for goal in task.goals] == [
        "offer",
        "recommend",
        "notify_failure",
        "inform",
    ]
    assert [goal.labels["kind"] for goal in task.goals] == ["call", "action", "call", "action"]


def test_what_is_malformed_is_left_out_and_what_is_missing_told(woz: Woz) -> None:
    acts = json.loads((woz.folder / "dialog_acts.json").read_text())
    woz.write("dialog_acts.json", {**acts, "B": {}})
    woz.write("test/dialogues_002.json", [DIALOGUE | {"dialogue_id": "A"}, {"dialogue_id": "B"}])
    report = woz.imported()
    assert report.dropped == {"malformed_record": 1, "no_dialogue_acts": 1}
    assert report.facts["play"]["team"] == "tool_life", "a run plays the tasks of dialogues"
    with pytest.raises(UnknownNameError, match="split of multiwoz"):
        woz.imported(split="tset")
    (woz.folder / "dialog_acts.json").unlink()
    with pytest.raises(DataError, match=r"multiwoz expects schema\.json, dialog_acts\.json"):
        woz.imported()

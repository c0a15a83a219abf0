"""Time and memory of an import of SGD's dialogues, beside `json.loads` of the same bytes.

    python perf/import_dialogtool.py [SOURCE] [--split all] [--short]

SOURCE is a folder of SGD's files; without one, files of that format are generated. Both sides run
in this process, in turns, on one thread; the least CPU times are compared, which other work on the
machine disturbs least. The memory is the process's largest, measured before any file is held for
the comparison. Prints one JSON object with the budgets beside what was measured.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from timing import beside_json_loads

from seal.pools.imports import import_benchmark

BUDGET = 3.0
"""At most so many times the reference."""
MEGABYTES = 300
"""Of memory, for the full corpus."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, nargs="?", help="folder of SGD's files")
    parser.add_argument("--split", default="test", help="test, dev, train or all")
    parser.add_argument("--short", action="store_true", help="fewer records and repetitions")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.source or generate(
            Path(folder) / "source", 100 if arguments.short else 1000
        )
        repetitions = 3 if arguments.short else 7
        measured = measure(source, arguments.split, Path(folder) / "pool", repetitions)
    print(json.dumps(measured))
    return 0


def measure(source: Path, split: str, out: Path, repetitions: int) -> dict[str, float]:
    def imported() -> None:
        import_benchmark("dialogtool", source, out, split=split)

    imported()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    splits = ("test", "dev", "train") if split == "all" else (split,)
    paths = [path for name in splits for path in sorted((source / name).glob("dialogues_*.json"))]
    contents = [path.read_bytes() for path in paths]
    return {
        **beside_json_loads(imported, contents, repetitions),
        "budget": BUDGET,
        "peak_megabytes": round(memory),
        "budget_megabytes": MEGABYTES,
    }


def generate(folder: Path, count: int) -> Path:
    """Write a schema and so many dialogues of an invented service."""
    split = folder / "test"
    split.mkdir(parents=True)
    slots = [_slot(name) for name in ("harbour", "arrival_date", "berth", "price")]
    find = _intent("FindBerth", ["harbour"], False)
    book = _intent("BookBerth", ["harbour", "berth", "arrival_date"], True)
    schema = {
        "service_name": "Berths_1",
        "description": "Berths in harbours",
        "slots": slots,
        "intents": [find, book],
    }
    (split / "schema.json").write_text(json.dumps([schema]))
    dialogues = [_dialogue(number) for number in range(count)]
    (split / "dialogues_001.json").write_text(json.dumps(dialogues, indent=2))
    return folder


def _slot(name: str) -> dict[str, object]:
    about = f"The {name} of a berth"
    return {"name": name, "description": about, "is_categorical": False, "possible_values": []}


def _intent(name: str, required: list[str], transactional: bool) -> dict[str, object]:
    return {
        "name": name,
        "description": f"{name} in a harbour",
        "is_transactional": transactional,
        "required_slots": required,
        "optional_slots": {},
        "result_slots": ["harbour", "arrival_date", "berth", "price"],
    }


def _dialogue(number: int) -> dict[str, object]:
    rows = [
        {"harbour": "Kiel", "arrival_date": "2019-03-02", "berth": str(n), "price": f"{n}.50"}
        for n in range(number % 5)
    ]
    state = {
        "active_intent": "FindBerth",
        "slot_values": {"harbour": ["Kiel", "in Kiel"]},
        "requested_slots": [],
    }
    turns = []
    for _ in range(6):
        inform = _act("INFORM", "harbour", "in Kiel")
        said = {"service": "Berths_1", "actions": [inform], "slots": [], "state": state}
        answered = {
            "service": "Berths_1",
            "actions": [_act("OFFER", "berth", "1"), _act("INFORM_COUNT", "count", "3")],
            "slots": [],
            "service_call": {"method": "FindBerth", "parameters": {"harbour": "Kiel"}},
            "service_results": rows,
        }
        turns.append({"speaker": "USER", "utterance": "A berth in Kiel?", "frames": [said]})
        turns.append({"speaker": "SYSTEM", "utterance": "Berth 1.", "frames": [answered]})
    return {"dialogue_id": f"1_{number:05}", "services": ["Berths_1"], "turns": turns}


def _act(name: str, slot: str, value: str) -> dict[str, object]:
    return {"act": name, "slot": slot, "values": [value], "canonical_values": [value]}


if __name__ == "__main__":
    sys.exit(main())

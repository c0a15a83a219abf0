"""How a phone ends, whatever ids and times the chat brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.benchmarks.toolsandbox.phone import VOLATILE, tools
from seal.benchmarks.toolsandbox.phone.device import COLUMNS
from seal.core import Task
from seal.core.records import decode, encode

NOOR = {"name": "Noor", "phone_number": "+17205550128"}
LEE = {"name": "Lee", "phone_number": "+17205550129"}
WITHOUT_WIFI = ("set_wifi_status", {"on": False})
ADD = ("add_contact", NOOR)
WRITE = ("send_message_with_phone_number", {"phone_number": "+17205550128", "content": "Hi!"})
NOTE = ("add_reminder", {"content": "Buy milk", "reminder_timestamp": 2e9})
LOOK = ("search_contacts", {"name": "Noor"})
Calls = Sequence[tuple[str, Mapping[str, Any]]]
GOLD = (ADD, WRITE, NOTE, WITHOUT_WIFI)
MO = {"person_id": "0", "name": "Mo", "phone_number": "+17205550120", "is_self": True}
BEGINS = {"contacts": [MO, {"person_id": "1", **LEE, "is_self": False}]}


def benchmark(ignore: Sequence[str] = VOLATILE) -> seal.Benchmark:
    named = {tool.name: tool for tool in tools()}
    offered = [name for name, _ in (*GOLD, LOOK, ("remove_contact", {}))]
    asked = [seal.called(name, **given) for name, given in GOLD]
    task = seal.ask("Do it.", seal.ends_as(*asked, ignore=ignore), tools=offered, id="one")
    return seal.Benchmark(
        "mine",
        environment="phone",
        tools=list(named.values()),
        tasks=[replace(task, initial_state=BEGINS)],
    )


def played(bench: Any, calls: Calls, out: Path) -> seal.Run:
    def agent(request: str, offered: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in offered}
        for name, given in calls:
            named[name](**given)
        return "Done."

    return seal.run(bench, agent=agent, baselines=False, out=out)


def value(run: seal.Run, metric: str) -> float | None:
    (score,) = [score for score in run.folder.scores() if score.metric == metric]
    return score.value


@pytest.mark.parametrize(
    ("calls", "right"),
    [
        (GOLD, 1),
        ((LOOK, NOTE, LOOK, WITHOUT_WIFI, WRITE, ADD), 1),
        ((LOOK, NOTE, LOOK, ADD, WRITE, WITHOUT_WIFI), 1),
        (GOLD[:-1], 0),
        ((*GOLD, ("remove_contact", {"person_id": "1"})), 0),
    ],
)
def test_the_end_of_a_phone_is_that_of_gold_whatever_ids_and_times(
    tmp_path: Path, calls: Calls, right: float
) -> None:
    run = played(benchmark(), calls, tmp_path / "run")
    assert value(run, "pass_rate") == value(run, "similarity") == right


def test_ids_and_times_are_another_world_unless_they_are_ignored(tmp_path: Path) -> None:
    run = played(benchmark(ignore=()), (LOOK, *GOLD), tmp_path / "run")
    assert value(run, "similarity") == 0


def test_volatile_columns_are_there() -> None:
    assert all(name.partition(".")[2] in COLUMNS[name.partition(".")[0]] for name in VOLATILE)


LATER = ("add_reminder", {"content": "Buy milk", "reminder_timestamp": 2.1e9})


MILK = {"content": "Buy milk", "reminder_timestamp": 2e9}
"""Cells of null are as cells that are left out."""


@pytest.mark.parametrize(
    ("calls", "stage", "evidence", "ends"),
    [
        (
            (*GOLD, NOTE),
            ("wrong_tool", "extra_effect"),
            'reminders has too many: {"content": "Buy milk", "reminder_timestamp": 2000000000.0}',
            {"reminders": {"too_many": [MILK]}},
        ),
        (
            (ADD, WRITE, WITHOUT_WIFI),
            ("not_called", "stopped_early"),
            'reminders lacks: {"content": "Buy milk", "reminder_timestamp": 2000000000.0}',
            {"reminders": {"missing": [MILK]}},
        ),
        (
            (ADD, WRITE, LATER, WITHOUT_WIFI),
            ("wrong_argument", "value"),
            'reminders content="Buy milk" has reminder_timestamp 2100000000.0, not 2000000000.0',
            {
                "reminders": {
                    "different": [
                        {
                            "row": {"content": "Buy milk"},
                            "column": "reminder_timestamp",
                            "expected": 2e9,
                            "found": 2.1e9,
                        }
                    ]
                }
            },
        ),
        (
            (ADD, WRITE, NOTE),
            ("not_called", "stopped_early"),
            'settings device_id="phone" has wifi true, not false',
            {
                "settings": {
                    "different": [
                        {
                            "row": {"device_id": "phone"},
                            "column": "wifi",
                            "expected": False,
                            "found": True,
                        }
                    ]
                }
            },
        ),
    ],
)
def test_similarity_and_explain_say_which_rows_are_too_many_missing_or_different(
    tmp_path: Path, calls: Calls, stage: tuple[str, str], evidence: str, ends: Any
) -> None:
    run = played(benchmark(), calls, tmp_path / "run")
    (one,) = [each for found in seal.explain(run).content["stages"] for each in found["examples"]]
    assert (one["stage"], one["cause"]) == stage
    assert evidence in one["evidence"]
    (score,) = [score for score in run.folder.scores() if score.metric == "similarity"]
    assert score.details["ends"] == ends


def test_it_is_said_in_json_too(tmp_path: Path) -> None:
    """A task as its line in a pool's tasks.jsonl has it."""
    folder = benchmark().save(tmp_path / "pool")
    lines = (folder / "tasks.jsonl").read_text("utf-8").splitlines()
    (task,) = (decode(line, Task) for line in lines)
    assert encode(task).decode().strip() == lines[0]
    (asked,) = lines[0].split('"condition":')[1:]
    assert asked.startswith('{"sequences":[[{"tool":"phone/contact/add_contact","arguments":')
    assert '"ignore":["contacts.person_id",' in asked
    for number, (calls, right) in enumerate(((GOLD, 1), (GOLD[1:], 0))):
        run = played(str(folder), calls, tmp_path / str(number))
        assert value(run, "pass_rate") == right

"""The shipped sample of missions: compiled from its notation, and each check of the compiler."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from compile_samples import compiled
from looped import every_case
from mmtb_notation import dialogues
from mmtb_results import Moment, result_of

from seal.benchmarks.mmtb import SAMPLE
from seal.core import DataError
from seal.pools.lookup import open_pool

AUTHORED = SAMPLE.folder / "authored"
FILES = ("import.json", "tasks.jsonl", "tools.jsonl")
TEXT = (AUTHORED / "dialogues.txt").read_text(encoding="utf-8")
TOOLS = {tool.name: tool for tool in open_pool("sample").tools()}
NOW = Moment("2026-05-11", "09:20")


def compile_text(text: str, folder: Path) -> None:
    source = folder / "authored"
    source.mkdir()
    (source / "dialogues.txt").write_text(text, encoding="utf-8")
    compiled("mmtb-sample", source, folder / "pool")


def test_what_ships_is_what_was_written(tmp_path: Path) -> None:
    shutil.copytree(AUTHORED, tmp_path / "authored")
    compiled("mmtb-sample", tmp_path / "authored", tmp_path / "pool")
    for name in FILES:
        assert (tmp_path / "pool" / name).read_bytes() == (SAMPLE.folder / name).read_bytes()


LOAN = "C loan_payment {principal: 1760, annual_rate_percent: 4.9, years: 3}"


@every_case(
    ("old", "new", "told"),
    [
        ("= m01 MMQQ", "= m01 MMQC", "expected missions"),
        ("= m01 MMQQ", "= m01 MXQQ", "expected '= ID TYPES"),
        (LOAN, "C loan_payment {principal: 1760}", "is a required property"),
        (LOAN, "C loan_payment principal: 1760", "expected 'C TOOL"),
        (LOAN, LOAN + " > {monthly_payment: 5}", "monthly_payment is computed"),
        (LOAN, LOAN.replace("1760", "1761"), "principal = 1761 was not said"),
        (LOAN, LOAN.replace("loan_payment", "tide_times"), "tide_times is not offered"),
        ("R: 4.9 percent.\n", "", "a reply or an answer is missing"),
        ("U ellipsis: And at a lower", "U: And at a lower", "a relation from the second on"),
        ("U implicit: How did that", "U memory: How did that", "what an earlier mission"),
        ("price: 84.5, ", "", "write price"),
        ("{company: Pelican Robotics, price", "{colour: red, price", "no field 'colour'"),
        ("One share costs 84.5 USD", "One share costs 85.5 USD", "the reply says '85.5'"),
        ("And at a lower rate?", "And at 4.9 percent?", "asked for 4.9, which was said"),
    ],
)
def test_what_does_not_hold_is_refused(old: str, new: str, told: str) -> None:
    first = TEXT[: TEXT.index("\n= m02")]
    assert old in first
    with TemporaryDirectory() as folder, pytest.raises(DataError, match=told):
        compile_text(first.replace(old, new), Path(folder))


def test_too_few_switches_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fewer than 8 switches"):
        compile_text(TEXT[: TEXT.index("\n= m40")], tmp_path)


def test_a_folder_without_dialogues_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no dialogues\.txt"):
        compiled("mmtb-sample", tmp_path, tmp_path.parent / "pool")


def test_a_line_outside_a_dialogue_is_refused() -> None:
    with pytest.raises(DataError, match="x, line 1"):
        list(dialogues("U: Hello", "x"))


@every_case(
    ("tool", "given", "wanted"),
    [
        (
            "loan_payment",
            {"principal": 120000, "annual_rate_percent": 0, "years": 10},
            {"monthly_payment": 1000.0, "payments": 120, "total_interest": 0.0},
        ),
        (
            "loan_payment",
            {"principal": 100000, "annual_rate_percent": 6, "years": 30},
            {"monthly_payment": 599.55},
        ),
        (
            "savings_growth",
            {"monthly_deposit": 100, "annual_rate_percent": 12, "years": 1},
            {"final_balance": 1268.25, "deposited": 1200, "interest_earned": 68.25},
        ),
        ("body_mass_index", {"weight_kg": 81, "height_cm": 180}, {"bmi": 25.0}),
        (
            "calories_burned",
            {"activity": "yoga", "minutes": 60, "weight_kg": 60},
            {"calories": 150},
        ),
        ("nutrition_facts", {"food": "oats", "amount_grams": 50}, {"calories": 190}),
        (
            "create_event",
            {"title": "x", "start": "2026-05-11T23:30"},
            {"end": "2026-05-12T00:30"},
        ),
    ],
)
def test_tools_that_compute_compute(
    tool: str, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    written = {"event_id": "ev-1", "status": "confirmed"} if tool == "create_event" else {}
    found = result_of(TOOLS[tool], given, written, NOW)
    assert {name: found[name] for name in wanted} == wanted


def test_a_time_in_another_city_knows_summer_time() -> None:
    given = {"date": "2026-03-20", "time": "20:00", "from_city": "Lisbon", "to_city": "Toronto"}
    found = result_of(TOOLS["convert_time_zone"], given, {}, NOW)
    assert found["to"] == {
        "city": "Toronto",
        "date": "2026-03-20",
        "time": "16:00",
        "utc_offset": "-04:00",
    }
    assert found["difference_hours"] == -4


@every_case(
    ("dialogue", "old", "new", "told"),
    [
        ("m23", " for the two of us", "", "search: how many guests was not said"),
        ("m39", "dv-432, at", "printer, at", "text = 'printer': expected it in quotes"),
        ("m19", "Smoky Chickpea Pan, at", "Smoky chickpea pan, at", "expected it in quotes"),
        ("m07", '"camping lamps"', "camping lamps", "query = 'camping lamps': expected it"),
        ("m17", "copies_available: 2", "copies_available: 3", "Eastgate: a copy comes back, but"),
    ],
)
def test_what_could_be_meant_otherwise_is_refused(
    dialogue: str, old: str, new: str, told: str
) -> None:
    one = TEXT[TEXT.index(f"= {dialogue}") :]
    one = one[: one.index("\n= m")]
    assert old in one
    with TemporaryDirectory() as folder, pytest.raises(DataError, match=told):
        compile_text(one.replace(old, new), Path(folder))


def test_a_chat_that_reckons_wrong_is_refused(tmp_path: Path) -> None:
    dialogue = TEXT[TEXT.index("= m04") : TEXT.index("\n= m05")]
    assert "by 17.2 g" in dialogue
    with pytest.raises(DataError, match=r"the reply says 19\.7, which nothing before it gives"):
        compile_text(dialogue.replace("by 17.2 g", "by 19.7 g"), tmp_path)

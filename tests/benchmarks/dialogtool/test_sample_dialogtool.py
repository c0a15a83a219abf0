"""The shipped sample of dialogues: compiled from its notation, every kind of turn, and played."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from compile_samples import compiled as compile_sample
from dialogtool_notation import Said, dialogues
from dialogtool_sample import App, apps_of, record_of

import seal
from seal.benchmarks.dialogtool import SAMPLE
from seal.benchmarks.dialogtool.importer import import_dialogtool
from seal.benchmarks.dialogtool.tool_life import ACTS
from seal.benchmarks.dialogtool.world import Mobile, mobile
from seal.core import DataError, Task, ToolCall, ToolResult
from seal.environments.world import WorldSetup
from seal.pools.importer import Notes
from seal.pools.pool import load_pool

POOL = load_pool(SAMPLE.folder)
TASKS = {task.id: task for task in POOL.tasks()}
TOOLS = {tool.id: tool for tool in POOL.tools()}
DIALOGUES = {key: task for key, task in TASKS.items() if task.world}
GOALS = [goal for task in DIALOGUES.values() for goal in task.goals]
FILES = ("import.json", "mobile.json", "tasks.jsonl", "tools.jsonl")
LOANS = "dialogtool/Loans_1/ListLoans"
CARD = {"card_number": "LB-20417", "pin": "7352"}
RATES = ("awareness", "selection", "selection_recall", "execution", "rouge_l")

APPS: dict[str, Any] = {
    "Boats_1": {
        "about": "Boats to hire",
        "slots": {
            "harbour": "Where it lies",
            "boat": "Its name",
            "seats": {"about": "How many fit", "values": ["2", "4"]},
        },
        "apis": {
            "FindBoat": {
                "about": "Find a boat",
                "required": ["harbour"],
                "optional": ["seats"],
                "results": ["boat", "harbour", "seats"],
            },
            "HireBoat": {
                "about": "Hire a boat",
                "changes": True,
                "required": ["boat"],
                "optional": [],
                "results": ["boat", "harbour"],
            },
        },
        "columns": ["boat", "harbour", "seats"],
        "rows": [["Puffin", "Orra", "4"], ["Tern", "Orra", "2"]],
    }
}
HIRING = """
= boats
U Boats_1.FindBoat: A boat, please.
S request: Where?[?harbour]
U: In [harbour=Orra town|Orra], for [seats=two|2].
S! offer: There's the [boat=Tern].
U+ Boats_1.HireBoat: I'll have it.
S confirm: The [boat=Tern]?
U+: Yes.
S! notify_success: It's yours.
U NONE: Bye.
S goodbye: Bye!
"""


def apps() -> dict[str, App]:
    return apps_of(APPS, "apps.json")


def compiled(text: str) -> dict[str, Any]:
    (written,) = dialogues(text, "dialogues.txt")
    return record_of(written, apps())


# --- The pool


def test_the_pool_has_the_announced_numbers() -> None:
    groups = Counter(str(task.tags["group"]) for task in TASKS.values())
    apps_used = {tool.category for tool in TOOLS.values()}

    assert groups == {"single_app": 23, "multi_app": 10, "creation": 21}
    assert len(apps_used) == 10
    assert {task.tags["turns_bucket"] for task in DIALOGUES.values()} == {10, 20, 30, 40}
    assert groups["creation"] == len(TOOLS)
    size = sum(path.stat().st_size for path in SAMPLE.folder.rglob("*.[jt]*"))
    assert size < 400_000


def test_the_shipped_pool_is_what_its_files_compile_to(tmp_path: Path) -> None:
    compile_sample("dialogtool-sample", SAMPLE.folder / "authored", tmp_path / "pool")

    for file in FILES:
        made = (tmp_path / "pool" / file).read_bytes()
        assert made == (SAMPLE.folder / file).read_bytes(), file
    assert load_pool(tmp_path / "pool").digest == POOL.report["digest"]


def test_every_action_and_kind_of_turn_occurs() -> None:
    assert {goal.labels["act"] for goal in GOALS} == set(ACTS)
    kinds = Counter(goal.labels["kind"] for goal in GOALS)
    assert set(kinds) == {"call", "request", "action"}
    missing = Counter(len(goal.labels.get("missing", ())) for goal in GOALS)
    assert missing[1] >= 5
    assert missing[2] + missing[3] >= 8


def test_every_booking_is_made_with_what_was_just_confirmed() -> None:
    bookings = 0
    for goal in GOALS:
        call = next((step.call for step in goal.reference if step.call), None)
        if call is not None and TOOLS[call.tool or ""].source["transactional"]:
            bookings += 1
            assert goal.labels["confirmed"] == call.arguments, goal.text
    assert bookings == 38


def test_a_value_that_no_text_says_is_a_day_told_otherwise() -> None:
    report = seal.lint("dialogtool-sample")

    assert {finding.kind for finding in report.findings} == {"ungrounded_value"}
    said = {finding.evidence["argument"] for finding in report.findings}
    assert said <= {"date", "dropoff_date", "arrival_date", "pickup_date", "time"}
    times = [f.evidence["values"] for f in report.findings if f.evidence["argument"] == "time"]
    assert times == []  # "at noon" says 12:00


# --- The library asks for a login


def opened(task: str = "dialogtool/sample/loans-01") -> Mobile:
    setup = WorldSetup(tools=TOOLS, folder=SAMPLE.folder)
    world = mobile(setup).open(TASKS[task], 0)
    assert isinstance(world, Mobile)
    return world


def called(world: Mobile, tool: str, **arguments: Any) -> ToolResult:
    (result,) = world.call([ToolCall("call_0", TOOLS[tool].name, arguments, tool=tool)])
    return result


@pytest.mark.parametrize("lacking", ["card_number", "pin"])
def test_a_call_without_the_login_fails(lacking: str) -> None:
    given = {name: value for name, value in CARD.items() if name != lacking}
    world = opened()

    for tool in (tool.id for tool in TOOLS.values() if tool.category == "Loans"):
        assert TOOLS[tool].source["base_required"] == ["card_number", "pin"]
        others = {"title": "Moss", "branch": "Abbey Row"}
        properties = TOOLS[tool].parameters["properties"]
        fitting = {name: value for name, value in others.items() if name in properties}
        result = called(world, tool, **given, **fitting)
        assert result.error is not None and lacking in result.content
        unknown = called(world, tool, **given, **fitting, **{lacking: "?"})
        assert unknown.error is not None and unknown.error["kind"] == "missing_argument"
    assert called(world, LOANS, **CARD).value


def test_a_wrong_pin_brings_nothing_in_the_dialogue_and_in_both_mobiles() -> None:
    wrong = {**CARD, "pin": "7532"}
    turn = next(g for g in TASKS["dialogtool/sample/loans-01"].goals if g.labels["kind"] == "call")
    assert turn.labels["act"] == "notify_failure"
    assert (turn.reference[0].call or ToolCall("", "", {})).arguments == wrong

    assert called(opened(), LOANS, **wrong).value == []
    setup = WorldSetup(tools=TOOLS, folder=SAMPLE.folder, options={"mobile": "filter"})
    world = mobile(setup).open(TASKS["dialogtool/sample/loans-01"], 0)
    assert isinstance(world, Mobile)
    refused = called(world, LOANS, **wrong)
    assert refused.error is not None and refused.error["kind"] == "unauthorised"
    assert len(called(world, LOANS, **CARD).value) == 3


# --- Played


def means(tmp_path: Path, model: str, **options: Any) -> dict[str, Any]:
    played = seal.run(
        "dialogtool-sample", out=tmp_path / model, model=model, baselines=False, **options
    )
    assert (played.exit_code, played.summary["errors"]) == (0, 0)
    return {name: entry["mean"] for name, entry in played.summary["metrics"].items()}


@pytest.mark.no_cover
def test_the_oracle_is_right_on_every_turn_and_choosing_by_words_is_not(tmp_path: Path) -> None:
    oracle, lexical = (means(tmp_path, model, limit=8) for model in ("oracle", "lexical"))

    assert {name: oracle[name] for name in RATES} == dict.fromkeys(RATES, 1.0)
    assert {name: oracle[f"{name}_exact"] for name in RATES[:-1]} == dict.fromkeys(RATES[:-1], 1.0)
    assert oracle["goal_state"] is None
    assert max(lexical[name] for name in ("selection", "execution", "rouge_l")) < 0.6
    assert lexical["awareness_exact"] < 0.6


@pytest.mark.no_cover
def test_with_its_own_decisions_the_oracle_books_what_was_booked(tmp_path: Path) -> None:
    own = {"world_options": {"decisions": "own"}}
    oracle, lexical = (
        means(tmp_path, model, select={"group": "multi_app"}, limit=4, **own)
        for model in ("oracle", "lexical")
    )

    assert oracle["goal_state"] == oracle["awareness"] == oracle["execution_exact"] == 1.0
    assert lexical["goal_state"] < 0.5


# --- The notation and what it compiles to


def test_a_dialogue_compiles_to_states_calls_and_results() -> None:
    record = compiled(HIRING)

    turns = record["turns"]
    assert [turn["speaker"] for turn in turns] == ["USER", "SYSTEM"] * 5
    assert turns[2]["utterance"] == "In Orra town, for two."
    assert turns[2]["frames"][0]["state"]["slot_values"] == {
        "harbour": ["Orra town"],
        "seats": ["two"],
    }
    found = turns[3]["frames"][0]
    assert found["service_call"] == {
        "method": "FindBoat",
        "parameters": {"harbour": "Orra", "seats": "2"},
    }
    assert found["service_results"] == [{"boat": "Tern", "harbour": "Orra", "seats": "2"}]
    assert [act["act"] for act in turns[6]["frames"][0]["actions"]] == ["AFFIRM"]
    assert turns[7]["frames"][0]["service_results"] == [{"boat": "Tern", "harbour": "Orra"}]


def test_the_compiled_record_is_one_that_the_corpus_importer_reads(tmp_path: Path) -> None:
    split = tmp_path / "sample"
    split.mkdir()
    schema = [app.schema() for app in apps().values()]
    (split / "schema.json").write_text(json.dumps(schema))
    (split / "dialogues_001.json").write_text(json.dumps([compiled(HIRING)]))

    notes = Notes()
    records = list(import_dialogtool(split, notes, split="all"))

    (task,) = (record for record in records if isinstance(record, Task) and record.world)
    assert [goal.labels["act"] for goal in task.goals] == [
        "request",
        "offer",
        "confirm",
        "notify_success",
        "goodbye",
    ]
    assert task.goals[0].labels["missing"] == ["harbour"]
    assert not notes.dropped


def test_a_mark_says_what_a_text_means() -> None:
    (written,) = dialogues("= a\nU X_1.Y: For [n=two|2] in [c=Orra].\nS offer: Okay.[?d]", "f")
    user, system = written.exchanges[0]

    assert (user.text, user.wants) == ("For two in Orra.", ("X_1", "Y"))
    assert user.said == (Said("n", "two", "2"), Said("c", "Orra", "Orra"))
    assert (system.text, system.asked, system.acts) == ("Okay.", ("d",), ("offer",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("U X_1.Y: Hello", "expected '= ID' before the first turn"),
        ("= a\nS offer: Hello", "line 2: expected 'U SERVICE.API: TEXT'"),
        ("= a\nU X_1.Y: Hello\nU: Again", "line 3: expected 'S ACTS: TEXT'"),
        ("= a\nU X_1.Y: Hello", "at its end: expected 'S ACTS: TEXT'"),
        ("= a\nU X_1.Y: In [harbour: Orra]", "alone in brackets"),
    ],
)
def test_a_line_outside_the_notation_is_named(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message.replace("[", r"\[")):
        list(dialogues(text, "dialogues.txt"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Boats_1.HireBoat", "Boats_1.SinkBoat", "no API Boats_1.SinkBoat; there are: FindBoat"),
        ("[seats=two|2]", "[colour=red]", "no slot 'colour'; Boats_1 has: harbour"),
        ("[seats=two|2]", "[seats=six|6]", "brings 0 rows: tell so"),
        ("[harbour=Orra town|Orra]", "Orra", "FindBoat is called without harbour"),
        ("U Boats_1.FindBoat", "U", "expected SERVICE.API of the first turn"),
        ("S! notify_success", "S!0 notify_success", "brings 0 rows: tell so"),
        ("U+: Yes.", "U NONE: Yes.", "a call is made, and the user wants nothing"),
    ],
)
def test_a_dialogue_that_does_not_fit_its_apps_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(DataError, match=f"dialogue boats, exchange .*{message}"):
        compiled(HIRING.replace(old, new, 1))


def test_a_booking_lacks_what_no_table_has() -> None:
    unknown = HIRING.replace("Tern", "Gannet")
    with pytest.raises(DataError, match="brings no 'harbour'"):
        compiled(unknown)


@pytest.mark.parametrize("name", ["apps.json", "dialogues.txt"])
def test_a_missing_file_of_the_sample_is_named(tmp_path: Path, name: str) -> None:
    shutil.copytree(SAMPLE.folder / "authored", tmp_path / "authored")
    (tmp_path / "authored" / name).unlink()

    with pytest.raises(DataError, match=f"has no {name}"):
        compile_sample("dialogtool-sample", tmp_path / "authored", tmp_path / "pool")
    assert not (tmp_path / "pool").exists()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("rows", [["Tern"]], "Boats_1: zip"), ("about", 3, "Boats_1: about: expected")],
)
def test_a_malformed_app_is_named(field: str, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        apps_of({"Boats_1": {**APPS["Boats_1"], field: value}}, "apps.json")

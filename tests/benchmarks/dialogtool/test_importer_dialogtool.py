"""SGD's dialogues: typed tools, openings, bad input, and the real files."""

import json
from pathlib import Path
from typing import Any

import pytest

from seal.core import DataError, Tool, UnknownNameError
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

FIND = "dialogtool/Boats_1/FindBoat"


def slot(name: str, *values: Any, about: str = "About it") -> dict[str, Any]:
    return {
        "name": name,
        "description": about,
        "is_categorical": bool(values),
        "possible_values": list(values),
    }


def service(name: str = "Boats_1", **fields: Any) -> dict[str, Any]:
    return {
        "service_name": name,
        "description": "Boats to hire",
        "slots": [
            slot("harbour"),
            slot("start_date"),
            slot("seats", "1", "2"),
            slot("with_sails", "True", "False"),
            slot("colour", "red", "blue"),
        ],
        "intents": [
            {
                "name": "FindBoat",
                "description": "Find a boat in a harbour",
                "is_transactional": False,
                "required_slots": ["harbour", "start_date"],
                "optional_slots": {"seats": "2", "with_sails": "True", "colour": "dontcare"},
                "result_slots": ["colour"],
            }
        ],
        **fields,
    }


def dialogue(number: int = 0, text: str = "I need a boat", **frame: Any) -> dict[str, Any]:
    opened = {
        "service": "Boats_1",
        "state": {"active_intent": "FindBoat", "slot_values": {}, "requested_slots": []},
        **frame,
    }
    turns = [
        {"speaker": "USER", "utterance": text, "frames": [opened]},
        {"speaker": "SYSTEM", "utterance": "Where?", "frames": []},
    ]
    return {"dialogue_id": f"1_{number:05}", "services": ["Boats_1", "Trains_2"], "turns": turns}


class Source:
    """A folder in SGD's format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sgd"
        self.out = folder / "pool"
        self.write("test/schema.json", [service()])
        self.write("test/dialogues_001.json", [dialogue()])

    def write(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def imported(self, **options: Any) -> ImportReport:
        options = {"view": "retrieval", **options}
        return import_benchmark("dialogtool", self.folder, self.out, **options)

    def tool(self) -> Tool:
        self.imported()
        return load_pool(self.out).tools()[0]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_the_first_user_turn_asks_for_its_intent(source: Source) -> None:
    assert source.imported().lacks == ("gold_calls",)
    (task,) = load_pool(source.out).tasks()
    (goal,) = task.goals
    assert (task.id, task.split, goal.text) == ("test/1_00000", "test", "I need a boat")
    assert (goal.relevant, goal.plans, goal.offered) == ((FIND,), None, None)
    assert (task.tags["domain"], task.tags["multi_domain"]) == ("Boats", True)


def test_arguments_have_the_types_that_their_values_show(source: Source) -> None:
    tool = source.tool()
    about = "About it"
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "harbour": {"type": "string", "description": about},
            "start_date": {
                "type": "string",
                "description": f"{about} (yyyy-mm-dd)",
                "format": "date",
            },
            "seats": {"type": "integer", "description": about, "enum": [1, 2], "default": 2},
            "with_sails": {"type": "boolean", "description": about, "default": True},
            "colour": {"type": "string", "description": about, "enum": ["red", "blue"]},
        },
        "required": ["harbour", "start_date"],
        "additionalProperties": False,
    }


def test_a_tool_is_a_services_intent(source: Source) -> None:
    tool = source.tool()
    assert (tool.id, tool.name, tool.category) == (FIND, "Boats_1_FindBoat", "Boats")
    assert tool.description == "Find a boat in a harbour"
    assert tool.returns["items"]["properties"]["colour"]["enum"] == ["red", "blue"]
    assert tool.source["service"] == "Boats to hire"
    assert tool.source["transactional"] is False


def test_the_pool_has_the_services_of_every_split(source: Source) -> None:
    source.write("train/schema.json", [service(), service("Cars_1")])
    report = source.imported()
    assert (report.tools, report.tasks) == (2, 1)
    assert report.facts["counts"]["repeated_tools"] == 1
    assert report.facts["schemas"] == ["test", "train"]


def test_a_split_that_describes_a_service_otherwise_means_its_own_tool(source: Source) -> None:
    changed = service()
    changed["intents"][0]["description"] = "Search a boat"
    source.write("train/schema.json", [changed])
    source.write("train/dialogues_001.json", [dialogue()])
    report = source.imported(split="all")
    first, second = load_pool(source.out).tasks()
    assert first.goals[0].relevant == (FIND,)
    assert second.goals[0].relevant[0].startswith(f"{FIND}#")
    assert report.facts["counts"]["tool_variants"] == 1


def test_of_several_frames_the_first_one_counts(source: Source) -> None:
    record = dialogue()
    other = {"service": "Cars_1", "state": {"active_intent": "FindCar"}}
    record["turns"][0]["frames"].append(other)
    source.write("test/dialogues_001.json", [record])
    source.imported()
    assert next(load_pool(source.out).tasks()).goals[0].relevant == (FIND,)


def test_a_split_folder_is_a_source_too(source: Source) -> None:
    report = import_benchmark("dialogtool", source.folder / "test", source.out, view="retrieval")
    assert (report.tasks, report.facts["files"]) == (1, {"test": 1})


def test_dialogues_without_a_usable_opening_are_counted(source: Source) -> None:
    silent = dialogue(3)
    silent["turns"] = silent["turns"][1:]
    frameless = dialogue(4)
    frameless["turns"][0]["frames"] = []
    records = [
        dialogue(),
        dialogue(1, state={"active_intent": "NONE"}),
        dialogue(2, state={"active_intent": "SellBoat"}),
        silent,
        frameless,
        dialogue(5, text=" "),
        dialogue(),
        dialogue(0, text="Another text"),
        dialogue(6),
    ]
    source.write("test/dialogues_001.json", records)
    report = source.imported()
    assert report.dropped == {
        "empty_utterance": 1,
        "no_frame": 1,
        "no_intent": 1,
        "no_user_turn": 1,
        "unknown_intent": 1,
    }
    assert report.tasks == 3
    counts = report.facts["counts"]
    assert (counts["dialogues"], counts["duplicates"], counts["repeated_texts"]) == (9, 1, 1)


def test_malformed_services_and_dialogues_are_left_out_and_placed(source: Source) -> None:
    source.write("test/schema.json", [service(), "Boats"])
    source.write("test/dialogues_001.json", [{"dialogue_id": 1}, dialogue()])
    report = source.imported()
    assert report.dropped == {"malformed_record": 1, "malformed_service": 1}
    assert report.tasks > 0
    assert [fault.partition(":")[0] for fault in report.malformed] == [
        "schema.json, record 1",
        "dialogues_001.json, record 0",
    ]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("test/schema.json", b"", "empty"),
        ("test/schema.json", b'[{"service_name"', "not JSON"),
        ("test/schema.json", [], "expected a list of services"),
        ("test/schema.json", {"a": 1}, "expected a list of services"),
        ("test/schema.json", ["Boats"], "record 0: expected an object"),
        ("test/schema.json", [service(slots="harbour")], "record 0: slots: expected a list"),
        ("test/schema.json", [service(slots=[slot("harbour")])], "no slot 'start_date'"),
        ("test/schema.json", [service(slots=[slot("seats", 1, "2")])], "expected texts"),
        ("test/schema.json", json.dumps([service()]).encode("utf-16"), "not UTF-8"),
        ("test/dialogues_001.json", b"", "empty"),
        ("test/dialogues_001.json", b'[{"dialogue_id": "1', "not JSON"),
        ("test/dialogues_001.json", {"turns": []}, "expected a list of dialogues"),
        ("test/dialogues_001.json", [{"dialogue_id": 1}], "dialogue_id: expected a text, got 1"),
        ("test/dialogues_001.json", [dialogue(state="x")], "state: expected an object"),
        ("test/dialogues_001.json", [dialogue(state={"active_intent": 3})], "active_intent"),
        ("test/dialogues_001.json", '[{"é": 1}]'.encode("latin-1"), "not UTF-8"),
    ],
)
def test_a_malformed_file_is_named(source: Source, name: str, content: Any, told: str) -> None:
    path = source.write(name, content)
    with pytest.raises(DataError, match=told) as caught:
        source.imported()
    assert str(path) in str(caught.value)
    assert not source.out.exists()


def test_a_folder_of_other_files_is_told_with_what_it_holds(source: Source) -> None:
    (source.folder / "test").rename(source.folder / "exam")
    with pytest.raises(DataError, match="holds exam/; dialogtool expects a folder test"):
        source.imported()


def test_a_split_without_dialogues_is_told(source: Source) -> None:
    with pytest.raises(DataError, match=r"no dialogues_.* of the split 'dev'; it has the splits"):
        source.imported(split="dev")


@pytest.mark.parametrize(
    "options", [{"view": "dialog"}, {"schema": "v6"}, {"split": "tset"}, {"split": 3}]
)
def test_an_unknown_option_is_refused(source: Source, options: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError, match="known:"):
        source.imported(**options)


def test_the_real_test_split_has_2921_openings_over_88_intents(
    seal_data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "pool"
    report = import_benchmark("dialogtool", seal_data / "sgd", out, view="retrieval")
    assert (report.tools, report.tasks, report.dropped) == (88, 2_921, {})
    assert report.facts["files"] == {"test": 24}
    assert report.facts["counts"] == {
        "dialogues": 2_921,
        "duplicates": 0,
        "relevant_tools": 28,
        "repeated_texts": 205,
        "repeated_tools": 33,
        "tool_variants": 0,
    }


def test_the_real_schemas_are_as_the_paper_counts_them(seal_data: Path, tmp_path: Path) -> None:
    out, options = tmp_path / "pool", {"view": "retrieval", "split": "train"}
    import_benchmark("dialogtool", seal_data / "sgd", out, **options)
    tools = load_pool(tmp_path / "pool").tools()
    assert len({tool.source["tool"] for tool in tools}) == 45
    assert len({tool.category for tool in tools}) == 20
    assert len({tool.source["api"] for tool in tools}) == 46
    assert sum(tool.source["transactional"] for tool in tools) == 40
    arguments = [len(tool.parameters["properties"]) for tool in tools]
    assert (max(arguments), round(sum(arguments) / 88, 2)) == (10, 4.03)
    assert round(sum(len(t.parameters["required"]) for t in tools) / 88, 2) == 2.58

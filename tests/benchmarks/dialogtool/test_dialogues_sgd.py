"""SGD's dialogues turn by turn: labels, gold calls, what is recorded, bad input, the real files."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case
from sgd_sources import FIND, HIRE, ROW, Sgd, act, boats, hiring, system, user, worded

from seal.benchmarks.dialogtool.dialogues import Schemas, Service, label_of, read_dialogue, typed
from seal.core import DataError, Plan, UsageError
from seal.core.conditions import Argument
from seal.core.quantities import numbers
from seal.pools.importer import Notes
from seal.pools.imports import ImportReport
from seal.pools.pool import StoredPool, load_pool


@pytest.fixture
def sgd(tmp_path: Path) -> Sgd:
    return Sgd(tmp_path)


def test_each_user_turn_is_a_goal_with_the_label_of_the_systems_turn(sgd: Sgd) -> None:
    task = sgd.dialogue()

    assert (task.id, task.world, task.split) == ("dialogtool/test/1_00000", "mobile", "test")
    assert [(goal.labels["kind"], goal.labels["act"]) for goal in task.goals] == [
        ("request", "request"),
        ("call", "inform_count"),
        ("action", "offer_alts"),
        ("request", "request"),
        ("action", "confirm"),
        ("call", "notify_success"),
        ("action", "goodbye"),
    ]
    assert [goal.text for goal in task.goals[:2]] == ["A boat, please", "In Kiel"]
    assert task.tags["group"] == "single_app"
    assert task.tags["turns_bucket"] == 20


def test_a_call_is_gold_with_typed_values_and_its_result(sgd: Sgd) -> None:
    goal = sgd.dialogue().goals[5]

    (call,) = goal.plans[0].calls()
    values = {"boat": "Möwe", "start_date": "2019-03-02", "seats": 2}
    assert call.tool == HIRE
    assert call.arguments == {name: Argument((value,)) for name, value in values.items()}
    made, result, reply = goal.reference
    assert (made.call.tool, made.call.arguments) == (HIRE, values)
    row = {"boat": "Möwe", "seats": 2, "with_sails": True, "price": 40.5, "harbour": "Kiel"}
    assert json.loads(result.content) == [{**row, "start_date": "2019-03-02"}]
    assert (result.result.call_id, reply.content) == (made.call.id, "Done.")
    assert (goal.relevant, goal.labels["api"], goal.labels["service"]) == (
        (HIRE,),
        "HireBoat",
        "Boats_1",
    )


def test_a_request_is_the_call_with_a_question_mark_for_what_is_missing(sgd: Sgd) -> None:
    goal = sgd.dialogue().goals[3]

    (call,) = goal.plans[0].calls()
    assert goal.labels["missing"] == ["start_date"]
    assert call.arguments == {
        "boat": Argument(("Möwe",)),
        "seats": Argument((2,)),
        "start_date": Argument(("?",)),
    }
    assert [step.content for step in goal.reference] == ["When?"]


def test_what_was_said_in_other_words_is_accepted_after_the_canonical_value(sgd: Sgd) -> None:
    record = hiring()
    said = {"harbour": ["Kiel town", "kl"], "seats": ["dontcare"]}
    record["turns"][6:8] = [
        user("x", act("INFORM", "harbour", "Kiel town", "Kiel"), intent="FindBoat", **said),
        system("Which?", act("REQUEST", "harbour")),
    ]
    schema = boats()
    schema["intents"][0]["required_slots"].append("start_time")
    schema["intents"][0]["optional_slots"] |= {"start_date": "dontcare"}
    record["turns"] = record["turns"][6:8]
    sgd.write("test/schema.json", [schema])
    sgd.write("test/dialogues_001.json", [record])

    (call,) = sgd.dialogue().goals[0].plans[0].calls()

    assert call.arguments["harbour"] == Argument(("Kiel", "Kiel town", "kl"))
    assert call.arguments["seats"] == Argument(("dontcare",), optional=True)


def test_confirmed_stands_where_the_user_affirms_and_nowhere_else(sgd: Sgd) -> None:
    goals = sgd.dialogue().goals

    found = [goal.labels.get("confirmed") for goal in goals]
    assert found == [None] * 5 + [{"boat": "Möwe", "seats": 2, "start_date": "2019-03-02"}, None]


def test_an_alternative_that_failed_brought_up_is_confirmed_by_a_yes(sgd: Sgd) -> None:
    record = hiring()
    record["turns"][9]["frames"][0]["actions"] = [
        act("NOTIFY_FAILURE"),
        act("OFFER", "start_date", "the 3rd", "2019-03-03"),
    ]
    sgd.write("test/dialogues_001.json", [record])

    assert sgd.dialogue().goals[5].labels["confirmed"]["start_date"] == "2019-03-03"


def test_actions_need_no_call_and_the_state_is_as_upstream_has_it(sgd: Sgd) -> None:
    goal = sgd.dialogue().goals[4]

    assert goal.plans == (Plan(),)
    assert goal.labels["state"] == {
        "active_intent": "HireBoat",
        "slot_values": {
            "harbour": ["Kiel"],
            "boat": ["Möwe"],
            "seats": ["2"],
            "start_date": ["the 2nd"],
        },
        "requested_slots": [],
    }


def test_the_first_goal_offers_every_app_in_the_dialogues_own_variant(sgd: Sgd) -> None:
    cars = [boats(name) for name in ("Cars_1", "Cars_2")]
    sgd.write("test/schema.json", [boats(), boats("Boats_2"), *cars])
    sgd.write("test/dialogues_001.json", [hiring(services=("Boats_1", "Cars_2"))])

    task = sgd.dialogue()

    assert task.goals[0].offered == tuple(
        f"dialogtool/{service}/{api}"
        for service in ("Boats_1", "Cars_2")
        for api in ("FindBoat", "HireBoat")
    )
    assert {goal.offered for goal in task.goals[1:]} == {()}
    assert task.tags["group"] == "multi_app"


@every_case(
    ("acts", "calls", "label"),
    [
        (["OFFER"], True, "offer"),
        (["OFFER"], False, "offer_alts"),
        (["OFFER", "INFORM_COUNT"], True, "inform_count"),
        (["INFORM", "NOTIFY_SUCCESS"], True, "notify_success"),
        (["OFFER", "NOTIFY_FAILURE"], True, "notify_failure"),
        (["NOTIFY_FAILURE", "REQ_MORE"], True, "notify_failure"),
        (["INFORM", "REQUEST"], False, "request"),
        (["CONFIRM"], False, "confirm"),
        (["OFFER_INTENT", "INFORM"], False, "offer_intent"),
        (["REQ_MORE"], False, "req_more"),
    ],
)
def test_labels_follow_one_rule(acts: list[str], calls: bool, label: str) -> None:
    assert label_of(acts, calls) == label


def test_the_mobile_has_each_call_once_and_knows_conflicts(sgd: Sgd) -> None:
    other = hiring(1)
    other["turns"][3]["frames"][0]["service_results"] = []
    sgd.write("test/dialogues_001.json", [hiring(), other])

    report = sgd.imported()

    apis = json.loads((sgd.out / "mobile.json").read_text())["apis"]
    assert apis[FIND]["calls"] == [[{"harbour": "Kiel"}, [0, 1], True]]
    assert [row["boat"] for row in apis[FIND]["rows"]] == ["Möwe", "Ida"]
    assert apis[HIRE]["calls"][0][2] is False
    counts = report.facts["counts"]["test"]
    assert (counts["calls"], counts["distinct_calls"], counts["conflicting_calls"]) == (4, 2, 1)
    assert (counts["transactional_calls"], counts["empty_results"]) == (2, 1)
    assert (counts["arguments_mean"], counts["results_mean"]) == (2.0, 1.0)


def test_a_function_is_asked_of_each_api_with_two_calls(sgd: Sgd) -> None:
    other = hiring(1)
    other["turns"][3]["frames"][0]["service_call"]["parameters"] = {"harbour": "Bremen"}
    other["turns"][3]["frames"][0]["service_results"] = [{**ROW, "harbour": "Bremen"}]
    sgd.write("test/dialogues_001.json", [hiring(), other])

    (task,) = sgd.pool().tasks({"group": "creation"})

    assert (task.id, task.world) == ("dialogtool/create/Boats_1/FindBoat", "")
    (goal,) = task.goals
    assert (goal.labels, goal.offered) == ({"task": "creation", "tool": FIND}, (FIND,))
    assert len(task.metadata["table"]) == 3
    assert task.metadata["cases"] == [[{"harbour": "Kiel"}, [0, 1]], [{"harbour": "Bremen"}, [2]]]
    assert task.metadata["example"] == 0


def test_schemas_of_sgd_x_are_the_same_dialogue_under_other_names(sgd: Sgd) -> None:
    sgd.write("sgd_x/data/v1/test/schema.json", [worded()])

    task = sgd.dialogue(schema="v1")

    (tool,) = (t for t in load_pool(sgd.out).tools() if t.source["api"] == "SeekVessel")
    assert (tool.id, tool.category) == ("dialogtool/Boats_11/SeekVessel", "Boats")
    assert tool.source["original"] == {
        "tool": "Boats_1",
        "api": "FindBoat",
        "arguments": {"port": "harbour", "seats": "seats", "with_sails": "with_sails"},
    }
    assert tool.returns["items"]["properties"]["costs"]["type"] == "number"
    assert task.id == "dialogtool/test/1_00000"
    assert task.goals[1].reference[0].call.arguments == {"port": "Kiel"}
    assert json.loads(task.goals[1].reference[1].content)[0]["costs"] == 40.5
    assert task.goals[5].labels["confirmed"]["first_day"] == "2019-03-02"
    assert task.goals[1].labels["state"]["slot_values"] == {"port": ["Kiel"]}
    assert task.goals[1].labels["state"]["active_intent"] == "SeekVessel"
    assert task.metadata["services"] == ["Boats_11"]


def test_schemas_of_sgd_x_that_are_missing_or_do_not_fit_are_told(sgd: Sgd) -> None:
    with pytest.raises(DataError, match=r"v2.*schema\.json: SGD-X's schemas are read from"):
        sgd.imported(schema="v2")
    short = worded()
    short["slots"].pop()
    sgd.write("sgd_x/data/v2/test/schema.json", [short])
    with pytest.raises(DataError, match="expected 8 slots of different names"):
        sgd.imported(schema="v2")
    sgd.write("sgd_x/data/v2/test/schema.json", [worded(), worded()])
    with pytest.raises(DataError, match="expected 1 services as in the original, got 2"):
        sgd.imported(schema="v2")


def spoilt(change: Any) -> dict[str, Any]:
    record = hiring(9)
    change(record)
    return record


def frame(record: Any, turn: int) -> Any:
    return record["turns"][turn]["frames"][0]


@pytest.mark.parametrize(
    ("change", "reason", "told"),
    [
        (lambda d: frame(d, 11)["service_call"]["parameters"].pop("boat"), "missing_argument",
         "HireBoat is called without the required argument 'boat'"),
        (lambda d: frame(d, 11)["service_call"]["parameters"].update(colour="red"),
         "undeclared_argument", "HireBoat has no argument 'colour'"),
        (lambda d: frame(d, 11)["service_results"][0].update(colour="red"), "undeclared_result",
         "has the slot 'colour'"),
        (lambda d: frame(d, 11)["service_call"].update(method="SellBoat"), "unknown_intent",
         "no API 'SellBoat'; Boats_1 has: FindBoat, HireBoat"),
        (lambda d: d["services"].append("Cars_1"), "unknown_service", "no service 'Cars_1'"),
        (lambda d: frame(d, 11).update(service="Cars_1"), "unknown_service", "no service"),
        (lambda d: d["turns"].pop(), "malformed_record", "expected pairs of user and system"),
        (lambda d: d["turns"].reverse(), "malformed_record", "expected USER before SYSTEM"),
        (lambda d: frame(d, 0).pop("state"), "malformed_record", "'state' is missing"),
        (lambda d: frame(d, 0)["state"]["slot_values"].update(boat="Ida"), "malformed_record",
         "expected lists of texts, got 'Ida'"),
        (lambda d: frame(d, 0)["state"]["slot_values"].update(boat=[3]), "malformed_record",
         "expected lists of texts"),
        (lambda d: frame(d, 3)["actions"][0].update(values=[["x"]]), "malformed_record",
         "expected texts as values"),
        (lambda d: frame(d, 3).update(actions=[]), "malformed_record", "at least one"),
        (lambda d: d["turns"][3].update(frames=[]), "malformed_record", "expected one of a system"),
        (lambda d: frame(d, 3)["service_results"].append("Ida"), "malformed_record",
         "expected objects"),
        (lambda d: frame(d, 3)["service_results"].append({"boat": 3}), "malformed_record",
         "expected texts"),
    ],
)  # fmt: skip
def test_a_dialogue_with_a_fault_is_left_out_and_counted_by_reason(
    sgd: Sgd, change: Any, reason: str, told: str
) -> None:
    sgd.write("test/dialogues_001.json", [hiring(), spoilt(change)])

    report = sgd.imported()

    assert report.dropped == {reason: 1}
    assert told in report.malformed[0]
    assert report.malformed[0].startswith("dialogues_001.json, record 1")
    assert [task.id for task in load_pool(sgd.out).tasks()] == ["dialogtool/test/1_00000"]


def test_dialogues_with_wrong_calls_still_count_in_the_corpus(sgd: Sgd) -> None:
    wrong = spoilt(lambda d: frame(d, 11)["service_call"]["parameters"].pop("boat"))
    sgd.write("test/dialogues_001.json", [hiring(), wrong])

    counts = sgd.imported().facts["counts"]["test"]

    assert (counts["dialogues"], counts["turns"], counts["calls"]) == (2, 28, 4)


def test_missing_files_of_a_split_are_named_and_the_rest_imported(sgd: Sgd) -> None:
    sgd.write("test/dialogues_003.json", [hiring(1)])

    report = sgd.imported()

    assert report.facts["missing_files"]["test"] == [2, *range(4, 35)]
    assert report.facts["files"] == {"test": 2}
    assert report.tasks == 2


def test_a_dialogue_that_stands_twice_is_one_task(sgd: Sgd) -> None:
    sgd.write("test/dialogues_002.json", [hiring()])

    report = sgd.imported()

    assert (report.tasks, report.dropped) == (1, {"duplicates": 1})


@pytest.fixture
def many(sgd: Sgd) -> Sgd:
    sgd.write("test/schema.json", [boats(), boats("Cars_1")])
    single = [hiring(number) for number in range(8)]
    multi = [hiring(number, services=("Boats_1", "Cars_1")) for number in range(8, 16)]
    sgd.write("test/dialogues_001.json", [*single, *multi])
    return sgd


def drawn(sgd: Sgd, **options: Any) -> list[str]:
    return [task.id for task in sgd.pool(**options).tasks({"split": "test"})]


def test_a_sample_is_seeded_and_keeps_three_in_five_of_one_app(many: Sgd) -> None:
    first = drawn(many, sample=10)

    groups = [task.tags["group"] for task in load_pool(many.out).tasks()]
    assert (groups.count("single_app"), groups.count("multi_app")) == (6, 4)
    assert drawn(many, sample=10) == first
    assert first == sorted(first)
    assert drawn(many, sample=10, seed=1) != first
    assert len(json.loads((many.out / "mobile.json").read_text())["apis"]) == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"sample": 100}, "60 dialogues of group single_app are asked for, and the source has 8"),
        ({"sample": 0}, "expected a number of dialogues above 0"),
        ({"sample": True}, "expected a number of dialogues above 0"),
        ({"sample": 5, "seed": "a"}, "expected a whole number"),
        ({"sample": 5, "view": "retrieval"}, "use it with -T view=dialogue"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(
    many: Sgd, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        many.imported(**options)


@given(st.sampled_from(["string", "boolean", "integer", "number"]), st.text(max_size=20))
def test_a_typed_value_loses_nothing(kind: str, text: str) -> None:
    value = typed(kind, text)

    said = [] if any(sign.isdigit() for sign in text) else numbers(text)
    assert (
        value in (text, *said)
        or (kind == "boolean" and str(value) == text)
        or (float(text) == value)
    )
    assert kind != "integer" or str(value) == text or value in said


@pytest.mark.parametrize("text", ["five", "Five", "twenty-one", "fivefold", "five of them", "any"])
def test_a_number_in_words_is_that_number(text: str) -> None:
    known = {"five": 5, "twenty-one": 21}
    assert typed("integer", text) == typed("number", text) == known.get(text.lower(), text)
    assert typed("string", text) == text


@given(st.integers(0, 13), st.sampled_from(["speaker", "utterance", "frames"]), st.none())
def test_a_turn_without_a_field_is_a_data_error(turn: int, name: str, value: None) -> None:
    record = hiring()
    record["turns"][turn][name] = value

    with pytest.raises(DataError, match=f"{name}: expected"):
        read_dialogue(record, {})


@pytest.fixture(scope="module")
def services(tmp_path_factory: Any) -> dict[str, Service]:
    """The services of our own schema."""
    schemas = Schemas(Notes())
    schemas.read("test", Sgd(tmp_path_factory.mktemp("own")).folder / "test")
    return schemas.splits["test"]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)


@given(data=st.data())
def test_whatever_stands_in_a_record_it_is_read_or_a_data_error(
    services: dict[str, Service], data: st.DataObject
) -> None:
    record = hiring()
    place: Any = record
    key: Any = data.draw(st.sampled_from(sorted(record)))
    while isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
        place = place[key]
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(JSON_VALUES)

    try:
        reading = read_dialogue(record, services)
    except DataError:
        return
    assert reading.goals or reading.fault is not None


@pytest.fixture(scope="module")
def real(sgd_pool: tuple[Path, ImportReport]) -> tuple[ImportReport, StoredPool]:
    """The pool of the real test files."""
    folder, report = sgd_pool
    return report, load_pool(folder)


@pytest.mark.no_cover
def test_the_real_counts_are_those_of_the_corpus(real: tuple[ImportReport, StoredPool]) -> None:
    report = real[0]

    assert (report.dropped, report.tools, report.facts["files"]) == ({}, 88, {"test": 24})
    assert report.facts["missing_files"] == {"test": [12, 16, 19, 22, 23, *range(26, 30), 31]}
    counts = report.facts["counts"]["test"]
    assert {name: counts[name] for name in counts if name not in ("first_acts", "kinds")} == {
        "dialogues": 2_921,
        "turns": 49_726,
        "turns_mean": 17.02,
        "multi_domain": 1_569,
        "multi_service": 1_590,
        "calls": 7_658,
        "transactional_calls": 2_875,
        "empty_results": 123,
        "distinct_calls": 5_652,
        "conflicting_calls": 83,
        "arguments_mean": 2.82,
        "arguments_max": 7,
        "results_mean": 4.01,
        "results_max": 10,
    }
    assert counts["kinds"] == {"action": 12_042, "call": 7_658, "request": 5_163}
    assert list(counts["first_acts"])[:3] == ["offer", "request", "confirm"]


SCHEMA_TABLE = {
    "train": (26, 16, 37, 38, 53, 24, 4.06, 10, 2.68, 7.70),
    "dev": (17, 16, 27, 28, 30, 13, 3.77, 8, 2.23, 7.33),
    "test": (21, 18, 34, 35, 38, 18, 3.92, 7, 2.53, 7.13),
    "all": (45, 20, 46, 47, 88, 40, 4.03, 10, 2.58, 7.52),
}


@pytest.mark.parametrize("split", SCHEMA_TABLE)
def test_the_real_schemas_count_as_computed(
    real: tuple[ImportReport, StoredPool], split: str
) -> None:
    assert tuple(real[0].facts["schemas"][split].values()) == SCHEMA_TABLE[split]


def test_real_transactional_calls_follow_their_confirmation(
    real: tuple[ImportReport, StoredPool],
) -> None:
    transactional = {tool.id for tool in real[1].tools() if tool.source["transactional"]}
    found = [
        next(step.call.arguments for step in goal.reference if step.call)
        == goal.labels.get("confirmed")
        for task in real[1].tasks({"split": "test"})
        for goal in task.goals
        if goal.labels.get("kind") == "call" and goal.relevant[0] in transactional
    ]

    assert (len(found), sum(found)) == (2_875, 2_875)


def test_the_split_can_be_said_by_a_flag(sgd: Sgd) -> None:
    def imported(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "seal", "import", "dialogtool", str(sgd.folder)]
        place = ["--out", str(sgd.out)]
        return subprocess.run([*command, *place, *options], capture_output=True, text=True)

    assert imported("--split", "test").returncode == 0
    both = imported("--split", "dev", "-T", "split=test")
    assert both.returncode == 2
    assert "--split dev and -T split=test: give one" in " ".join(both.stderr.split())

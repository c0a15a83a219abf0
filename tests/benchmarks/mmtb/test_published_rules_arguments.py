"""The scorers of arguments: against the original's scores, and case by case."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case
from mission_plays import SAID, answer, node, turn
from plain_missions import judge, match_arguments

import seal
from seal.core import DataError, UnknownNameError
from seal.evaluation.argument_pairs import SCORERS

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where."},
        "unit": {"type": "string", "enum": ["metric", "imperial"], "description": "or metric"},
        "days": {"type": "integer", "description": "How many; null for all."},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {
                "lat": {"type": "number"},
                "name": {"type": "string", "description": "home by default"},
            },
        },
        "odd": {"type": "dictionary"},
    },
    "required": ["city"],
}
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


def test_scores_and_errors_are_the_original_s(seal_data: Path) -> None:
    folder = seal_data / "mmtb" / "vectors"
    schema = json.loads((folder / "argument_schema.json").read_text())["schema_properties"]
    for line in (folder / "arguments.jsonl").read_text().splitlines():
        record = json.loads(line)
        expected = record["expect"]
        got = match_arguments(record["prediction"], record["answer"], schema, record["required"])
        assert got.accepted == expected["accepted"], record["id"]
        if "exception" in expected:
            assert got.errors, record["id"]
            continue
        assert got.score == pytest.approx(expected["score"], abs=1e-6), record["id"]
        assert list(got.errors) == expected["errors"], record["id"]
        assert got.per_argument == pytest.approx(expected["per_argument"]), record["id"]


def test_texts_in_other_languages_are_cut_into_words() -> None:
    match = match_arguments({"city": "查询上海明天的天气"}, {"city": "查询北京明天的天气"}, SCHEMA)
    assert match.score == pytest.approx(0.8)


def test_properties_alone_are_a_schema_and_json_text_is_an_object() -> None:
    properties: Any = SCHEMA["properties"]
    assert match_arguments('{"city": "Oslo"}', {"city": "oslo "}, properties, ["city"]).accepted
    missing = match_arguments("{}", {"city": "Oslo"}, properties, ["city"])
    assert (missing.errors, missing.per_argument) == (("miss required params",), {"city": 0})


@every_case("prediction", ["{city: 1}", "[1]", "", None, 3, "[" * 9999])
@every_case("scorer", SCORERS.names())
def test_what_is_no_object_is_not_accepted(prediction: Any, scorer: Any) -> None:
    match = match_arguments(prediction, {"city": "Oslo"}, SCHEMA, scorer=scorer)
    assert (match.accepted, match.errors) == (False, ("malformed arguments",))


@pytest.mark.parametrize(
    ("predicted", "gold"),
    [
        ({"odd": 1}, {"odd": 2}),
        ({"odd": [1]}, {"odd": [2]}),
        ({"city": True}, {"city": False}),
        ({"tags": "a"}, {"tags": "b"}),
    ],
)
def test_where_no_rule_applies_the_call_is_not_accepted(predicted: Any, gold: Any) -> None:
    match = match_arguments(predicted, gold, SCHEMA["properties"])  # type: ignore[arg-type]
    assert (match.accepted, match.errors) == (False, ("incomparable arguments",))


def test_the_exact_scorer_wants_equal_json() -> None:
    def match(predicted: dict[str, Any]) -> Any:
        return match_arguments(predicted, {"city": "Oslo", "days": 3}, SCHEMA, scorer="exact")

    assert match({"days": 3.0, "city": "Oslo"}).accepted
    assert match({"days": 3, "city": "oslo"}).errors == ("param value error",)
    assert match({"days": 3}).per_argument == {"days": 1.0, "city": 0.0}
    assert match({"days": True, "city": "Oslo"}).score == 0.5


@given(JSONS, st.dictionaries(st.sampled_from(["city", "days", "tags", "place", "odd"]), JSONS))
def test_whatever_is_said_has_a_score_and_a_refusal_has_a_name(said: Any, gold: Any) -> None:
    for scorer in ("exact", "mmtb"):
        match = match_arguments(said, gold, SCHEMA, scorer=scorer)  # type: ignore[arg-type]
        assert 0 <= match.score <= 1
        assert match.accepted or match.errors


@given(st.dictionaries(st.sampled_from(["city", "days", "tags", "place"]), JSONS))
def test_gold_is_accepted_by_every_scorer_that_asks_no_schema(gold: Any) -> None:
    properties: Any = SCHEMA["properties"]
    for scorer in ("exact", "mmtb"):
        assert match_arguments(gold, gold, properties, scorer=scorer).accepted  # type: ignore[arg-type]


def test_an_unknown_scorer_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no scorer 'wild'"):
        match_arguments({}, {}, {}, scorer="wild")
    with pytest.raises(UnknownNameError, match="no scorer 'os:getcwd'"):
        match_arguments({}, {}, {}, scorer="os:getcwd")


def ran(program: str) -> subprocess.CompletedProcess[str]:
    places = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, env=places)


def test_words_are_cut_only_where_texts_differ() -> None:
    program = (
        "import sys; from plain_missions import match_arguments as m; "
        "m({'a': 'x y'}, {'a': 'X Y'}, {'a': {'type': 'string'}}); print('jieba' in sys.modules)"
    )
    done = ran(program)
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_without_jieba_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['jieba'] = None\n"
        "from plain_missions import match_arguments as m\n"
        "try: m({'a': 'x'}, {'a': 'y'}, {'a': {'type': 'string'}})\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = ran(program)
    assert "MissingExtraError" in done.stdout
    assert "seal-api-llms[missions]" in done.stdout


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        (10**400, 10**400, 1),
        (10**400, 1, 0),
        (10**400, 1.5, 0),
        (2**53 + 1, 2**53, 0),
        (2**53 + 1, float(2**53), 0),
        (2**53, float(2**53), 1),
        (3, 3.0, 1),
    ],
)
def test_numbers_of_any_size_are_compared_as_they_are(
    predicted: Any, gold: Any, score: float
) -> None:
    match = match_arguments({"days": predicted}, {"days": gold}, {"days": {"type": "integer"}})
    assert (match.score, match.accepted) == (score, score == 1)
    assert match.errors == (() if score else ("param value error",))


def test_a_number_too_long_to_be_written_is_an_outcome() -> None:
    schema = {"days": {"type": "integer", "description": "7"}, "all": {"type": "array"}}
    match = match_arguments({"days": 10**5000}, {}, schema)
    assert match.errors == ("incomparable arguments",)
    match = match_arguments({"all": [10**5000]}, {"all": [1]}, schema)
    assert match.errors == ("incomparable arguments",)


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"in": found}
    return found


@every_case("scorer", ["mmtb", "exact"])
@every_case(
    ("answer", "schema", "required", "message"),
    [
        (None, {}, (), "answer: expected the gold arguments, an object; got None"),
        (nested(3000), {}, (), "answer: nested more than 50 levels deep"),
        ({}, None, (), "schema: expected a JSON Schema, got None"),
        ({}, {}, "city", "required: expected a list of names, got 'city'"),
        ({}, {}, [1], "required: expected a list of names"),
    ],
)
def test_what_a_benchmark_gets_wrong_is_refused(
    answer: Any, schema: Any, required: Any, message: str, scorer: Any
) -> None:
    with pytest.raises(DataError, match=message):
        match_arguments(nested(3000), answer, schema, required, scorer)


@pytest.mark.parametrize("rules", ["clean", "mmtb"])
def test_a_scorer_may_make_a_mission_with_wrong_arguments_no_longer_optimal(rules: Any) -> None:
    exact, own = SCORERS.resolve("exact"), f"exact-and-optimal-{rules}"
    seal.register("scorer", own, replace(exact, decides_optimal=True))
    nodes = [node("a", to="Oslo"), answer(0)]
    turns = [turn(node("a", to="Rome")), SAID]
    verdict = judge(nodes, turns, rules, scorer=own)
    assert (verdict.label, verdict.param_label) == ("correct", "error")
    assert verdict.is_optimal is False
    assert judge(nodes, turns, rules, scorer="exact").is_optimal
    assert judge(nodes, [turn(nodes[0]), SAID], rules, scorer=own).is_optimal

"""Queries that a model writes behind a server, whatever it answers."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_pools import write_pool
from servers import Answer, ModelServer, Received, failure, text

import seal
from seal.api.benchmarks import load_pool
from seal.benchmarks.toolscan.generation import read_candidates
from seal.benchmarks.toolscan.generation_filters import KINDS, Candidate, Unusable
from seal.core import ModelError

CALL = {
    "tool": "boats/find_sailings",
    "arguments": {"port": "Oban", "date": "2026-08-01", "cars": 1},
}
GOOD = {"text": "One car from Oban on 1 August 2026, which boats take it?", "calls": [CALL]}


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pool of one seed."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return write_pool(tmp_path / "boats", 1)


def generate(pool: Path, script, kinds=("constraint",), **settings):
    """Make queries by a model that answers so."""
    with ModelServer(script, repeat=True) as server:
        return seal.generate(
            "queries",
            pool,
            pool.parent / "pool",
            model="openai/any",
            base_url=server.url,
            kinds=kinds,
            **settings,
        )


def answered(*queries: object) -> Answer:
    return text(json.dumps({"queries": queries}))


def test_a_good_query_is_kept_with_its_result(pool):
    made = generate(pool, [answered(GOOD)])
    (task,) = load_pool(pool.parent / "pool").tasks()
    assert task.goals[0].plans[0].milestones[0].result
    assert made.statistics["by"]["writer"] == "model/1"
    assert "127.0.0.1" not in json.dumps(made.to_json())


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({**GOOD, "calls": [{**CALL, "arguments": {"port": "Oban"}}]}, "missing_argument"),
        ({**GOOD, "calls": [{**CALL, "tool": "boats/none"}]}, "tool_not_offered"),
        ({**GOOD, "calls": [{**CALL, "tool": "radio/episodes"}]}, "tool_not_offered"),
        ({**GOOD, "text": "Which boats take one car from Oban?"}, "value_not_stated"),
        ({**GOOD, "calls": [CALL, CALL]}, "number_of_constraints"),
        ({**GOOD, "text": " \u200b "}, "no_words"),
        ({**GOOD, "text": "Oban 1 August 2026 1 " * 900}, "too_long"),
        ({"text": "No calls"}, "malformed_query"),
        (7, "malformed_query"),
        ({"text": "x", "calls": [{"tool": [], "arguments": {}}]}, "malformed_query"),
    ],
)
def test_a_bad_query_is_counted_and_the_good_one_beside_it_kept(pool, query, reason):
    made = generate(pool, [answered(query, GOOD)])
    rejected = made.statistics["of_kind"]["constraint"]["rejected"]
    assert reason in {name for reasons in rejected.values() for name in reasons}
    assert made.report.tasks == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I would rather not.", "not_json"),
        ("[" * 5000, "not_json"),
        ('{"queries": NaN}', "not_json"),
        ("{}", "no_list_of_queries"),
        ("[]", "no_list_of_queries"),
        ('{"queries": "a"}', "no_list_of_queries"),
        ("__import__('os').system('id')", "not_json"),
    ],
)
def test_nonsense_is_asked_again_once_and_counted(pool, answer, reason):
    def script(request: Received) -> Answer:
        wants_paraphrase = "reword" in request.body["messages"][0]["content"]
        return answered({"text": OTHER_WORDS}) if wants_paraphrase else text(answer)

    made = generate(pool, script, kinds=("constraint", "paraphrase"))
    counts = made.statistics["of_kind"]
    assert counts["constraint"]["rejected"] == {"unusable": {reason: 2}}
    assert counts["paraphrase"]["kept"] == 1


OTHER_WORDS = "I have 3 cars. On 10 July 2026, at what time is the 2 o'clock ferry gone from Velin?"


def test_irrelevant_queries_must_be_so(pool):
    asked = "When does the 2 o'clock ferry leave Velin on 2026-07-10 with 3 cars"
    queries = [
        {"kind": "unsupported_constraint", "text": f"{asked}, no port?", "claim": "no port"},
        {"kind": "unsupported_constraint", "text": f"{asked}?", "claim": "and a whale"},
        {"kind": "foreign_parameter", "text": f"{asked} and date x?", "claim": "date x",
         "foreign": ["boats/find_sailings", "date"]},
        {"kind": "rubbish", "text": asked, "claim": asked},
        {"kind": "unrelated_request", "text": "Which sailings are there from a port on a day?"},
        {"kind": "foreign_parameter", "text": f"{asked} and show title Knots?",
         "claim": "show title Knots", "foreign": ["radio/episodes", "show_title"]},
    ]  # fmt: skip
    made = generate(pool, [answered(*queries)], kinds=("irrelevance",), per_seed=6)
    assert made.statistics["of_kind"]["irrelevance"]["rejected"] == {
        "constraint": {"claim_not_stated": 1, "supported_by_a_tool": 3},
        "unusable": {"malformed_query": 1},
    }
    task, seed = load_pool(pool.parent / "pool").tasks()
    assert task.tags["irrelevance"] == "foreign_parameter"
    assert (seed.tags["query_kind"], seed.id) == ("seed", task.metadata["seed"])


def test_a_server_that_fails_keeps_what_is_done(pool):
    def script(request: Received) -> Answer:
        reworded = "reword" in request.body["messages"][0]["content"]
        return failure(401) if reworded else answered(GOOD)

    kinds = ("constraint", "paraphrase")
    with pytest.raises(ModelError):
        generate(pool, script, kinds)
    lines = (pool.parent / "pool/generation/drafts.jsonl").read_bytes().splitlines()
    assert len(lines) == 1


@settings(max_examples=50)
@given(st.sampled_from(KINDS), st.text() | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["queries", "text", "calls", "kind", "claim"]), inner),
    max_leaves=8,
).map(json.dumps))  # fmt: skip
def test_any_answer_is_read_as_candidates_or_as_unusable(kind, answer):
    found = list(read_candidates(kind, answer))
    assert found
    assert all(isinstance(one, Candidate | Unusable) for one in found)

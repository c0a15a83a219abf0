"""What a model may get wrong in a mission, played against a server: an outcome with its error type.

The wrong mission is played between two right ones, which must not suffer from it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mmtb_sources import CHAT, CLARIFY, MIXED, PARALLEL, SERIAL, SINGLE, Given, record
from mmtb_sources import write_records as write_sources
from servers import Answer, ModelServer, calls, message, text
from small_pools import play

from seal.pools.imports import import_benchmark

TIDE = ("getTide", {"at": "Brest"})
VIGO = ("getTide", {"at": "Vigo"})
HARBOUR = ("getHarbour", {"at": "here"})
WIND = ("getWind", {"at": "here", "unit": "metric"})
RIGHT = [calls(TIDE), text("It is 0.")]


@pytest.fixture
def outcome(tmp_path: Path, model_server: Callable[..., ModelServer]) -> Callable[..., Any]:
    """Play a mission of which a server says these answers, between two right ones."""

    def played(mission: Given, *answers: Answer) -> Any:
        source = tmp_path / "source" / "records.jsonl"
        write_sources(source, record(SINGLE, mission, SINGLE))
        import_benchmark("mmtb", source, tmp_path / "pool")
        server = model_server([*RIGHT, *answers, *RIGHT])
        result = play(
            tmp_path / "pool",
            tmp_path / "run",
            model="openai/any",
            base_url=server.url,
            team="direct",
            history="gold",
            workers=1,
            cache="off",
        )
        assert result.summary["errors"] == 0
        assert len(server.received) == len(answers) + 4
        scores = {
            score.goal: score
            for score in result.folder.scores()
            if score.metric == "mission_accuracy"
        }
        assert [scores[0].value, scores[2].value] == [1.0, 1.0]
        assert result.summary["metrics"]["mission_accuracy"]["n"] == 3
        return scores[1]

    return played


FAULTS: dict[str, tuple[Given, list[Answer], str]] = {
    "calls nothing": (SINGLE, [text("It is high.")], "reject tool calling"),
    "says nothing": (SINGLE, [text("")], "reject tool calling"),
    "says nothing at all": (SINGLE, [message(None)], "reject tool calling"),
    "answers before the last call": (  # words where gold asks nothing are what gold has not
        SERIAL,
        [calls(HARBOUR), text("Vigo.")],
        "call the wrong function",
    ),
    "calls everything at once": (MIXED, [calls(HARBOUR, WIND, VIGO), text("Done.")], "early stop"),
    "calls everything twice at once": (
        PARALLEL,
        [calls(TIDE, VIGO, TIDE, VIGO), text("Done.")],
        "redundant tool calling",
    ),
    "repeats itself": (SINGLE, [calls(TIDE), calls(TIDE), text("0.")], "redundant tool calling"),
    "calls where it should chat": (CHAT, [calls(TIDE), text("0.")], "call function without reject"),
    "calls where it should ask": (
        CLARIFY,
        [calls(TIDE), text("0."), text("Still 0.")],  # the user answers what was not asked
        "missing information in tool calling",
    ),
    "calls a tool that is not there": (
        SINGLE,
        [calls(("getFog", {"at": "Brest"})), text("Fog.")],
        "function name hallucination",
    ),
    "calls another tool": (SERIAL, [calls(WIND), text("12.")], "call the wrong function"),
    "sends arguments that are no JSON": (
        SINGLE,
        [calls(("getTide", '{"at": Brest')), text("0.")],
        "malformed arguments",
    ),
    "sends a list of arguments": (
        SINGLE,
        [calls(("getTide", '["Brest"]')), text("0.")],
        "malformed arguments",
    ),
    "leaves an argument out": (
        SINGLE,
        [calls(("getTide", {})), text("0.")],
        "miss required params",
    ),
    "sends an argument of another type": (
        SINGLE,
        [calls(("getTide", {"at": 7})), text("0.")],
        "type error",
    ),
    "sends other values": (
        SINGLE,
        [calls(("getTide", {"at": "Rome"})), text("0.")],
        "param value error",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_model_gets_wrong_is_zero_with_its_error_type(
    outcome: Callable[..., Any], fault: str
) -> None:
    mission, answers, error = FAULTS[fault]
    found = outcome(mission, *answers)
    assert (found.value, found.reason, found.details["error"]) == (0.0, error, error)


def test_a_text_beside_calls_is_no_fault(outcome: Callable[..., Any]) -> None:
    found = outcome(SERIAL, calls(HARBOUR, content="First the harbour."), calls(VIGO), text("1."))
    assert (found.value, found.details["optimal"]) == (1.0, True)


def test_a_model_that_repeats_itself_for_ever_is_stopped(outcome: Callable[..., Any]) -> None:
    found = outcome(SINGLE, *[calls(TIDE)] * 3)
    assert (found.value, found.reason) == (0.0, "redundant tool calling")

"""Which recorded result answers a call."""

import pytest

from seal.core import Tool
from seal.core.conditions import Argument, Called
from seal.simulator_cache.simulators import GoldAnswers

TOOL = Tool("sea/tide/get", "get_tide", parameters={"properties": {"unit": {"default": "m"}}})


def gold(result, **arguments):
    accepted = {name: Argument(tuple(values)) for name, values in arguments.items()}
    return Called(TOOL.id, accepted), result


def answered(calls, **arguments):
    response = GoldAnswers(calls).respond(TOOL, arguments)
    return response.error or response.response


def test_the_first_of_several_gold_calls_that_accept_a_call_answers_it():
    calls = [gold(1, day=[7]), gold(2, port=["Oban", "Leith"]), gold(3, port=["Leith"], day=[7])]
    calls += [gold(4, port=["Leith"], day=[7]), (Called(TOOL.id, {"day": Argument(None)}), 5)]
    assert answered(calls, day=7, port="Leith") == 3
    assert answered(calls, day=7, unit="m") == 1
    assert answered(calls, port="Leith") == 2
    assert answered(calls, day=8) == 5


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**5000], ids=["nan", "inf", "long"]
)
def test_a_number_that_json_has_not_is_no_gold_call(value):
    assert answered([gold(1, day=[7])], day=value).startswith("No gold answer")
    assert answered([(Called(TOOL.id, {"day": Argument(None)}), 5)], day=value) == 5

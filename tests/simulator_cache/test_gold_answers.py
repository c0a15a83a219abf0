"""Which recorded result answers a call, and how many gold calls are looked at to find it."""

import pytest

from seal.core import Argument, Called, Tool
from seal.simulator_cache import GoldAnswers

TOOL = Tool("sea/tide/get", "get_tide", parameters={"properties": {"unit": {"default": "m"}}})


class Looked(dict):
    """Gold arguments that count how often a call is held against them."""

    times = 0

    def keys(self):
        Looked.times += 1
        return super().keys()


def gold(result, **arguments):
    accepted = {name: Argument(tuple(values)) for name, values in arguments.items()}
    return Called(TOOL.id, Looked(accepted)), result


def answered(calls, **arguments):
    response = GoldAnswers(calls).respond(TOOL, arguments)
    return response.error or response.response


@pytest.mark.parametrize("calls", [10, 1_000])
def test_a_call_is_held_against_few_gold_calls_however_many_there_are(calls):
    answers = GoldAnswers(gold(day, port=["Oban"], day=[day, str(day)]) for day in range(calls))
    Looked.times = 0
    for day in range(10):
        assert answers.respond(TOOL, {"day": float(day), "port": "Oban"}).response == day
    assert Looked.times == 10


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

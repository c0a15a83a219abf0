"""Questions and gold of BFCL's first version, in the form of the present one."""

from typing import Any

import pytest
from bfcl_sources import HEIGHT, BfclShelf, function, said

from seal.benchmarks.bfcl.files import answer_of, item_of
from seal.core import DataError

MOON = function("moon_1", full="boolean")


def asked(*functions: Any, item_id: str = "simple_0") -> dict[str, Any]:
    documents: Any = functions[0] if len(functions) == 1 else list(functions)
    return {"id": item_id, "question": "How high is it?", "function": documents}


def test_a_question_is_one_turn_of_the_user_with_a_list_of_functions() -> None:
    told = {"id": "simple_0", "question": [said("How high is it?")], "function": [HEIGHT]}
    assert item_of(asked(HEIGHT)) == told
    assert item_of(asked(HEIGHT, MOON))["function"] == [HEIGHT, MOON]


def test_gold_loses_the_number_behind_a_name_that_is_called_several_times() -> None:
    gold = {"tide.height_1": {"port": ["Oban"]}, "tide.height 2": {"port": ["Hull"]}, "moon_1": {}}
    assert answer_of(asked(HEIGHT, MOON), gold)["ground_truth"] == [
        {"tide.height": {"port": ["Oban"]}},
        {"tide.height": {"port": ["Hull"]}},
        {"moon_1": {}},
    ]


def test_gold_is_of_the_only_function_whatever_it_names_and_else_keeps_its_name() -> None:
    assert answer_of(asked(MOON), {"moon": {}})["ground_truth"] == [{"moon_1": {}}]
    assert answer_of(asked(HEIGHT, MOON), {"sun": {}})["ground_truth"] == [{"sun": {}}]


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"id": "simple_0", "question": ["x"], "function": HEIGHT}, "question"),
        ({"id": "simple_0", "question": "x"}, "function: expected an object"),
        ({"question": "x", "function": HEIGHT}, "id"),
    ],
)
def test_malformed_questions_are_refused(record: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        item_of(record)


def test_the_importer_reads_what_is_written(tmp_path: Any) -> None:
    shelf = BfclShelf(tmp_path)
    record = asked(HEIGHT, item_id="simple_7")
    gold = {"tide.height": {"port": ["Oban"], "day": [2, ""]}}
    shelf.category("simple_python", [item_of(record)], [answer_of(record, gold)])
    (task,) = shelf.tasks()
    (plan,) = task.goals[0].plans or ()
    assert (task.id, task.goals[0].text) == ("simple_7", "How high is it?")
    assert plan.calls()[0].arguments.keys() == {"port", "day"}

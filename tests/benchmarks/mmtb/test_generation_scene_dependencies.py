"""Dependencies that follow from where the values of calls come from."""

from scripted_speakers import assignment, question

from seal.benchmarks.mmtb.dialogues import Mission, Node
from seal.benchmarks.mmtb.generation_scene import (
    Action,
    Exchange,
    Round,
    Scene,
    edges,
    leaves,
)

HOTELS = {"hotels": [{"hotel_id": "ht-388", "price": 140.5}, {"hotel_id": "ht-201", "price": 99}]}
FIND = Action("search_hotels", {"city": "Porto"})
REVIEWS = Action("hotel_reviews", {"hotel_id": "ht-388"})


def of(*events, request: str = "Hotels in Porto, and reviews of the first.", past=()) -> tuple:
    return edges(Scene(assignment(), {}, past, request, events))


def done(*pairs) -> Round:
    actions, observations = zip(*pairs, strict=True)
    return Round(actions, observations)


def test_a_call_comes_after_the_one_that_brought_its_value() -> None:
    assert of(done((FIND, HOTELS)), done((REVIEWS, {}))) == ((), (0,))


def test_calls_of_one_round_never_wait_for_each_other() -> None:
    assert of(done((FIND, HOTELS), (REVIEWS, {}))) == ((), ())


def test_a_value_that_the_user_said_waits_for_nothing() -> None:
    said = "Hotels in Porto, and reviews of ht-388."

    assert of(done((FIND, HOTELS)), done((REVIEWS, {})), request=said) == ((), ())


def test_a_value_of_an_earlier_mission_waits_for_nothing() -> None:
    nodes = (Node("search_hotels", {}, (), HOTELS, ""),)
    past = (Mission("Hotels?", "single", nodes, "", "", (), (), False),)

    assert of(done((FIND, HOTELS)), done((REVIEWS, {})), past=past) == ((), ())


def test_a_value_that_a_call_was_given_is_not_its_news() -> None:
    again = Action("search_hotels", {"city": "Porto", "near": "ht-388"})

    assert of(done((again, HOTELS)), done((REVIEWS, {}))) == ((), ())


def test_of_two_calls_that_brought_a_value_the_first_counts() -> None:
    other = Action("search_hotels", {"city": "Faro"})

    assert of(done((FIND, HOTELS), (other, HOTELS)), done((REVIEWS, {}))) == ((), (), (0,))


def test_a_list_of_values_waits_for_all_who_brought_one() -> None:
    first, second = (Action("find_contact", {"name": name}) for name in ("Ilse", "Emil"))
    both = Action("find_free_slot", {"attendees": ["i@x.org", "e@x.org"], "duration_minutes": 30})
    found = done((first, {"email": "i@x.org"}), (second, {"email": "e@x.org"}))

    assert of(found, done((both, {}))) == ((), (), (0, 1))


def test_counts_and_truth_values_are_no_evidence() -> None:
    order = Action("place_order", {"quantity": 3, "gift": True, "code": "x"})

    assert of(done((FIND, {"stars": 3, "free": True, "code": "x"})), done((order, {}))) == ((), ())


def test_a_number_that_no_float_holds_is_no_evidence() -> None:
    assert list(leaves([10**400, 7])) == [7.0]
    assert list(leaves(-(10**400))) == []


def test_a_number_that_only_a_result_holds_is_evidence() -> None:
    pay = Action("transfer_money", {"amount": 140.5})

    assert of(done((FIND, HOTELS)), done((pay, {}))) == ((), (0,))


def test_what_was_asked_for_waits_for_the_answer_and_a_question_for_the_one_before() -> None:
    asked = question("search_hotels", ["city"])
    events = (
        Exchange(asked, "Where?", "By the sea."),
        Exchange(asked, "Which city?", "Porto."),
        done((FIND, HOTELS), (Action("current_weather", {"location": "Faro"}), {})),
    )

    assert of(*events) == ((), (0,), (0, 1), ())

"""Which order of simultaneous calls happens."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phones import FRIEND, OWNER, REMINDER, called, lamps, new_phone, task

from seal.benchmarks.toolsandbox.phone.world import phone
from seal.core import Task, ToolCall
from seal.environments.chat_world import MANY_RUNS, Touch, exhaustive_order, failing_order
from seal.environments.function_tools import effects
from seal.environments.world import WorldSetup, toolbox

TOKENS = "abc"
ANYTHING = st.none() | st.frozensets(st.sampled_from(TOKENS))


def step(state, do):
    """Run an abstract call: it fails where a token that it checks has the wrong parity."""
    checks, changes, odd = do
    failed = any(state[token] % 2 == odd for token in checks)
    return {t: state[t] + (t in changes) for t in TOKENS}, failed


@st.composite
def batches(draw):
    """Draw calls that check and change tokens, and do not fail in the given order."""
    subset = st.frozensets(st.sampled_from(TOKENS), max_size=2)
    calls = draw(st.lists(st.tuples(subset, subset, st.integers(0, 1)), min_size=1, max_size=5))
    state, kept = dict.fromkeys(TOKENS, 0), []
    for do in calls:
        after, failed = step(state, do)
        if not failed:
            state = after
            kept.append(do)
    return kept


@given(batches())
def test_the_order_is_that_of_the_exhaustive_search(calls):
    def run(state, place):
        return step(state, calls[place])

    start = dict.fromkeys(TOKENS, 0)
    touches = [Touch(checks, changes) for checks, changes, _ in calls]
    expected = exhaustive_order(len(calls), start, run)
    assert failing_order(touches, start, run) == expected
    assert failing_order([Touch()] * len(calls), start, run) == expected


def test_independent_calls_are_run_in_no_other_order():
    runs = []

    def run(state, place):
        runs.append(place)
        return state, False

    touches = [Touch(frozenset({n}), frozenset({n})) for n in range(30)]
    assert failing_order(touches, None, run) == tuple(range(30))
    assert runs == []


def test_one_switch_and_many_that_need_it_take_few_runs():
    runs = []

    def run(on, place):
        runs.append(place)
        return on or place == 0, place != 0 and not on

    needing = Touch(frozenset({"wifi"}), frozenset())
    touches = [Touch(frozenset(), frozenset({"wifi"})), *[needing] * 20]
    assert failing_order(touches, False, run)[:2] == (1, 0)
    assert len(runs) < 100


def test_calls_that_change_nothing_take_a_run_each():
    runs = []

    def run(state, place):
        runs.append(place)
        return state, False

    assert failing_order([Touch()] * 50, object(), run) == tuple(range(50))
    assert sorted(runs) == list(range(50))


def test_equal_worlds_are_searched_once():
    """Switches of their own, in any order: 2 ** 6 worlds, not 6! orders."""
    runs = []

    def run(on, place):
        runs.append(place)
        return on | {place}, False

    assert failing_order([Touch()] * 6, frozenset(), run, version=lambda on: on) == tuple(range(6))
    assert len(runs) == sum(6 - size for on in range(64) for size in [bin(on).count("1")])


def test_many_calls_that_hinder_each_other_in_a_large_world_are_given_up_soon():
    pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")
    friends = [{**FRIEND, "person_id": f"p{number}"} for number in range(1, 501)]
    calls = [
        called("modify_contact", n, person_id=f"p{n + 1}", is_self=False) for n in range(25)
    ] + [
        called("send_message_with_phone_number", n, phone_number="+4670000009", content="hi")
        for n in range(25, 50)
    ]
    phone = new_phone(contacts=[OWNER, *friends]).world
    runs = count_runs(phone)
    assert [result.error for result in phone.call(calls)] == [None] * 50
    assert len(runs) == MANY_RUNS + 50


def count_runs(world):
    """Return a list that grows with each call of a tool of this world and its forks."""
    runs, tools = [], dict(world._tools)

    def counted(function):
        def tool(*given, **arguments):
            runs.append(function)
            return function(*given, **arguments)

        return tool

    world._tools = {n: replace(t, function=counted(t.function)) for n, t in tools.items()}
    return runs


def test_a_tool_that_cannot_say_what_it_touches_may_touch_everything():
    def wrong(arguments):
        raise RuntimeError("no such token")

    @effects(checks=wrong, changes=lambda arguments: [["no", "token"]])
    def read_on(lamp) -> None:
        lamps.tools["lamps/read"].function(lamp)

    kind = replace(lamps, tools={**lamps.tools, **toolbox("lamps", [read_on])})
    batch = [
        ToolCall("call_0", "switch", {"on": True}, tool="lamps/switch"),
        ToolCall("call_1", "read_on", {}, tool="lamps/read_on"),
    ]
    for race in ("dependency", "exhaustive"):
        world = kind.under(WorldSetup(options={"race": race})).open(Task("t", "b", ()), 0)
        assert [r.call_id for r in world.call(batch)] == ["call_1", "call_0"]


def test_after_too_many_runs_the_given_order_happens():
    touches = [Touch()] * 12
    assert failing_order(touches, None, lambda s, p: (s, False), max_runs=50) == tuple(range(12))


@pytest.mark.parametrize(
    ("one", "other", "hinders"),
    [
        (Touch(), Touch(), True),
        (Touch(None, frozenset()), Touch(), False),
        (Touch(), Touch(frozenset(), None), False),
        (Touch(None, frozenset("a")), Touch(frozenset("a")), True),
        (Touch(None, frozenset("a")), Touch(frozenset("b")), False),
        (Touch(None, frozenset("a")), Touch(None), True),
    ],
)
def test_a_call_hinders_one_that_checks_what_it_changes(one, other, hinders):
    assert one.hinders(other) is hinders


ARGUMENTS = {
    "person_id": st.sampled_from(["p0", "p1", "nobody"]),
    "name": st.sampled_from(["Bo Ek", "Cy"]),
    "phone_number": st.sampled_from(["+4670000002", "+4670000009"]),
    "is_self": st.booleans(),
    "reminder_id": st.sampled_from(["r0", "r1"]),
    "content": st.just("water"),
    "reminder_timestamp": st.just(1741789900.0),
    "on": st.booleans(),
    "query": st.just("Pellicano Foods"),
    "latitude": st.just(1.0),
    "location": st.just("pharmacy"),
}
CALLS = [
    ("add_contact", ("name", "phone_number", "is_self")),
    ("modify_contact", ("person_id", "name")),
    ("modify_contact", ("person_id", "is_self")),
    ("remove_contact", ("person_id",)),
    ("search_contacts", ("name",)),
    ("send_message_with_phone_number", ("phone_number", "content")),
    ("add_reminder", ("content", "reminder_timestamp")),
    ("modify_reminder", ("reminder_id", "latitude")),
    ("remove_reminder", ("reminder_id",)),
    ("search_reminder", ("content",)),
    ("set_wifi_status", ("on",)),
    ("set_cellular_service_status", ("on",)),
    ("set_location_service_status", ("on",)),
    ("set_low_battery_mode_status", ("on",)),
    ("get_wifi_status", ()),
    ("get_current_location", ()),
    ("search_stock", ("query",)),
    ("search_weather_around_lat_lon", ()),
    ("search_location_around_lat_lon", ("location",)),
    ("end_conversation", ()),
]


@st.composite
def phone_calls(draw):
    name, wanted = draw(st.sampled_from(CALLS))
    given = {w: draw(ARGUMENTS[w]) for w in wanted}
    return name, given


SWITCHES = st.fixed_dictionaries(
    {name: st.booleans() for name in ("wifi", "cellular", "location_service", "low_battery_mode")}
)


@settings(max_examples=200)
@given(
    st.lists(phone_calls(), min_size=2, max_size=4),
    SWITCHES,
    st.lists(st.sampled_from([OWNER, FRIEND]), max_size=3),
    st.lists(st.just(REMINDER), max_size=2),
)
def test_phones_agree_with_the_exhaustive_search(batch, switches, contacts, reminders):
    """Same verdict, same order, same results and the same world after."""
    pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")
    calls = [called(name, n, **given) for n, (name, given) in enumerate(batch)]
    begun = task(settings=switches, contacts=contacts, reminders=reminders)
    seen = []
    for race in ("dependency", "exhaustive"):
        world = phone(WorldSetup(options={"race": race})).open(begun, 0)
        seen.append((world.call(calls), world.states()))
    assert seen[0] == seen[1]


def test_an_order_that_fails_is_the_one_that_happens():
    off = {"wifi": False}
    batch = [called("set_wifi_status", 0, on=True), called("search_stock", 1, query="x")]
    for race in ("dependency", "exhaustive"):
        phone = new_phone({"race": race}, settings=off).world
        results = phone.call(batch)
        assert [r.call_id for r in results] == ["call_1", "call_0"]
        assert results[0].error["kind"] == "ConnectionError"
        assert [s["settings"][0]["wifi"] for s in phone.states()] == [False, True]
    fair = new_phone({"race": "none"}, unrecorded="empty", settings=off).world
    assert [r.error for r in fair.call(batch)] == [None, None]


def test_more_calls_than_can_be_tried_in_all_orders_race_by_dependency():
    calls = [called("get_wifi_status", number) for number in range(19)]
    calls += [called("search_stock", 19, query="x"), called("set_wifi_status", 20, on=False)]
    results = new_phone({"race": "exhaustive"}).world.call(calls)
    assert [r.call_id for r in results if r.error] == ["call_19"]
    assert [r.call_id for r in results][-2:] == ["call_20", "call_19"]


def test_a_batch_that_fails_as_given_is_played_as_given():
    phone = new_phone(settings={"wifi": False}).world
    calls = [called("search_stock", 0, query="x"), called("set_wifi_status", 1, on=True)]
    assert [r.call_id for r in phone.call(calls)] == ["call_0", "call_1"]


def test_many_independent_calls_are_quick_and_keep_their_order():
    pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")
    phone = new_phone().world
    calls = [called("add_contact", n, name=f"P{n}", phone_number="+4670") for n in range(40)]
    results = phone.call(calls)
    assert [r.call_id for r in results] == [f"call_{n}" for n in range(40)]
    assert [row["name"] for row in phone.states()[-1]["contacts"][2:]] == [
        f"P{n}" for n in range(40)
    ]


def test_tools_that_declare_nothing_may_depend_on_everything():
    world = lamps.open(Task("t", "b", ()), 0)
    batch = [
        ToolCall("call_0", "switch", {"on": True}, tool="lamps/switch"),
        ToolCall("call_1", "read", {}, tool="lamps/read"),
    ]
    assert [r.call_id for r in world.call(batch)] == ["call_1", "call_0"]


def test_permutations_are_tried_in_the_order_of_itertools():
    failing = (2, 0, 3, 1)

    def run(done, place):
        done = (*done, place)
        return done, done == failing

    assert failing in itertools.permutations(range(4))
    assert exhaustive_order(4, (), run) == failing
    assert failing_order([Touch()] * 4, (), run) == failing

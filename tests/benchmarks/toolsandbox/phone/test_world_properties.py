"""Whatever a model calls: no call raises, and no world is changed behind its back."""

import copy
import random
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given, settings
from hypothesis import strategies as st
from phones import OWNER, called, needs, new_phone, task

from seal.benchmarks.toolsandbox.phone import TOOL_IDS, tools
from seal.benchmarks.toolsandbox.phone.world import phone
from seal.core import ToolCall
from seal.environments.world import WorldSetup

needs("phonenumbers", "pint", "holidays", "geopy")

SCHEMAS = {tool.name: tool.parameters["properties"] for tool in tools()}
LIKELY = {
    "string": st.sampled_from(
        ["p0", "p1", "r0", "+4670000001", "Bo", "water", "USD", "EUR", "km", "mile", "Christmas"]
    ),
    "number": st.sampled_from([1741789900.0, 0, 1.5, 41.9028, 12.4964]) | st.floats(),
    "integer": st.integers(-3, 3000),
    "boolean": st.booleans(),
}
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)


@st.composite
def one_call(draw, number):
    name = draw(st.sampled_from(sorted(TOOL_IDS)))
    arguments = {
        argument: draw(st.one_of(*[LIKELY[schema["type"]]] * 4, ANY))
        for argument, schema in SCHEMAS[name].items()
        if draw(st.integers(0, 3))
    }
    if not draw(st.integers(0, 15)):
        arguments[draw(st.text(max_size=5))] = draw(ANY)
    return called(name, number, **{str(k): v for k, v in arguments.items() if k})


@st.composite
def chats(draw):
    return [
        [draw(one_call(n)) for n in range(draw(st.integers(1, 3)))]
        for _ in range(draw(st.integers(1, 5)))
    ]


@settings(max_examples=100)
@given(chats())
def test_no_call_raises_and_snapshots_and_neighbours_stay_as_they_were(chat):
    mine, other = new_phone().world, new_phone().world
    beginning = copy.deepcopy(other.states())
    taken = []
    for batch in chat:
        mine.tick()
        results = mine.call(batch)
        assert sorted(r.call_id for r in results) == sorted(c.id for c in batch)
        shown = mine.states()
        assert len(shown) == len(results)
        taken += [(state, copy.deepcopy(state)) for state in shown]
        for result in results:
            assert (result.error is None) or result.value is None
    assert all(state == kept for state, kept in taken)
    assert other.states() == beginning


@given(chats())
@settings(max_examples=30)
def test_equal_chats_have_equal_results(chat):
    def played():
        world = new_phone().world
        return [(repr(world.call(batch)), repr(world.states())) for batch in chat]

    assert played() == played()


def test_random_calls_by_the_thousand_never_raise():
    drawn = random.Random(5)
    values = ["p0", "+4670000001", "x", "", None, True, 0, -1, 1e9, 1741789900.0, 3.5, [], {}, "km"]
    world = new_phone().world
    for number in range(4000):
        name = drawn.choice(sorted(TOOL_IDS))
        names = [a for a in SCHEMAS[name] if drawn.random() < 0.8]
        arguments = {a: drawn.choice(values) for a in names}
        (result,) = world.call([called(name, number, **arguments)])
        assert result.call_id == f"call_{number}"
        if len(world.states()[0]["contacts"]) > 20:
            world = new_phone().world


def test_phones_in_threads_do_not_meet():
    factory = phone(WorldSetup())

    def play(number: int):
        world = factory.open(task(id=str(number)), 0)
        for turn in range(20):
            world.call(
                [called("add_contact", turn, name=f"{number}/{turn}", phone_number="+46701")]
            )
            world.call([called("unit_conversion", amount=1, from_unit="km", to_unit="m")])
        return world.states()[-1]["contacts"]

    with ThreadPoolExecutor(8) as threads:
        tables = list(threads.map(play, range(24)))
    for number, rows in enumerate(tables):
        assert [row["name"] for row in rows[2:]] == [f"{number}/{turn}" for turn in range(20)]
        assert rows[0] == OWNER
    assert len({row["person_id"] for rows in tables for row in rows[2:]}) == 24 * 20


def test_deeply_nested_arguments_are_a_failure_of_the_tool():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    call = ToolCall("c", "add_contact", {"name": deep}, tool=TOOL_IDS["add_contact"])
    (result,) = new_phone().world.call([call])
    assert result.error is not None

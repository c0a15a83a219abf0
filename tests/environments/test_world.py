"""Worlds: calls, states, time, and kinds of one's own."""

import copy
from dataclasses import replace

import pytest
from phones import START, Lamp, called, lamps, new_phone, switch, task

from seal.benchmarks.toolsandbox.phone.world import phone
from seal.core import (
    CodeRefusedError,
    DataError,
    Execution,
    InfrastructureError,
    OptionError,
    SealError,
    Task,
    ToolCall,
    UnknownNameError,
    UsageError,
)
from seal.core.environment import Timed
from seal.environments import REGISTRY
from seal.environments.function_tools import effects
from seal.environments.world import Worlds, WorldSetup, build_worlds, toolbox

TASK = Task("t", "b", (), world="phones:lamps")


def flip(on: bool = True, number: int = 0) -> ToolCall:
    return ToolCall(f"call_{number}", "switch", {"on": on}, tool="lamps/switch")


def world_of(*functions, tables=None):
    """Return a world with these tools."""
    kind = Worlds(name="w", tools=toolbox("w", functions), tables=tables or {"t": []})
    return kind.open(Task("t", "b", ()), 0)


def use(world, name, **arguments):
    (result,) = world.call([ToolCall("call_0", name, arguments, tool=f"w/{name}")])
    return result


def test_before_any_call_the_world_is_shown_as_it_began():
    assert lamps.open(TASK, 0).states() == [{"lamps": [{"on": False}]}]


def test_a_call_has_a_result_a_text_and_what_ran():
    world = lamps.open(TASK, 0)
    (result,) = world.call([flip()])
    assert (result.value, result.content, result.error) == ("done", "'done'", None)
    assert result.executed == Execution("lamps/switch", {"on": True})
    assert world.states() == [{"lamps": [{"on": True}]}]


def test_states_stand_for_each_result_and_share_what_did_not_change():
    world = new_phone().world
    calls = [
        called("get_wifi_status", 0),
        called("set_wifi_status", 1, on=False),
        called("get_wifi_status", 2),
    ]
    world.call(calls)
    first, second, third = world.states()
    assert [s["settings"][0]["wifi"] for s in (first, second, third)] == [True, False, False]
    assert first["contacts"] is second["contacts"] is third["contacts"]
    assert second["settings"] is third["settings"]


def test_no_calls_have_no_results():
    world = lamps.open(TASK, 0)
    assert world.call([]) == []


def test_what_a_tool_raises_is_its_result_and_changes_nothing():
    def spoil(world) -> None:
        world.put("t", [{"a": 1}])
        world.extra = 1
        raise ZeroDivisionError("broken")

    world = world_of(spoil)
    result = use(world, "spoil")
    assert result.error == {"kind": "ZeroDivisionError", "message": "broken"}
    assert result.content == "ZeroDivisionError: broken"
    assert world.states() == [{"t": []}]
    assert not hasattr(world, "extra")


@pytest.mark.parametrize("kind", [SystemExit, type("PanicException", (BaseException,), {})])
def test_what_is_no_common_exception_is_a_failure_of_the_tool_too(kind):
    def panic(world: object) -> None:
        raise kind("odd")

    assert use(world_of(panic), "panic").error == {"kind": kind.__name__, "message": "odd"}


class Mute(Exception):
    """An exception that cannot say what it is about."""

    def __str__(self) -> str:
        raise RuntimeError("no str")


class Unspeakable:
    """A key whose repr, of which the text of a KeyError is made, raises."""

    def __repr__(self) -> str:
        raise SystemExit("no repr")


@pytest.mark.parametrize(
    ("failure", "kind"), [(Mute("m"), "Mute"), (KeyError(Unspeakable()), "KeyError")]
)
def test_an_exception_without_readable_text_is_a_failure_and_the_chat_goes_on(failure, kind):
    def fail(world) -> None:
        raise failure

    def fine(world) -> str:
        return "fine"

    world = world_of(fail, fine)
    result = use(world, "fail")

    raised = "RuntimeError" if kind == "Mute" else "SystemExit"
    said = f"its text cannot be had, for that raises {raised}"
    assert result.error == {"kind": kind, "message": said}
    assert result.content == f"{kind}: {said}"
    assert use(world, "fine").value == "fine"


def test_a_result_that_is_no_json_is_no_failure_of_whoever_called():
    def odd(world) -> str:
        return {1, 2}  # type: ignore[return-value]

    with pytest.raises(InfrastructureError, match="the tool odd returned set, which JSON cannot"):
        use(world_of(odd), "odd")


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ({1, 2}, "TypeError"),
        (b"bytes", "TypeError"),
        ([object()], "TypeError"),
        (float("nan"), "ValueError"),
        ([float("inf")], "ValueError"),
        pytest.param(10**5000, "ValueError", id="too long"),
        ([10**5000], "ValueError"),
    ],
)
def test_a_tool_that_puts_no_json_into_a_table_fails_and_changes_nothing(cell, kind):
    def put(world) -> None:
        world.put("t", [{"a": 2}, {"a": cell}])

    def add(world) -> None:
        world.add("t", {"a": cell})

    def fine(world) -> None:
        world.add("t", {"a": (3, 4)})

    world = world_of(put, add, fine, tables={"t": [{"a": 1}]})
    for name in ("put", "add"):
        error = use(world, name).error
        assert error["kind"] == kind
        assert "the cell 'a' of a table would be no JSON" in error["message"]
        assert world.states() == [{"t": [{"a": 1}]}]
    assert use(world, "fine").error is None
    assert world.states() == [{"t": [{"a": 1}, {"a": [3, 4]}]}]


def test_a_table_that_is_not_there_is_named_with_those_that_are():
    def put(world) -> None:
        world.put("nope", [])

    def add(world) -> None:
        world.add("nope", {})

    def read(world) -> list:
        return world.rows("nope")

    world = world_of(put, add, read, tables={"lamps": [{"on": False}], "keys": []})
    for name in ("put", "add", "read"):
        assert use(world, name).error == {
            "kind": "UnknownTableError",
            "message": "the world has no table 'nope'; it has: lamps, keys",
        }
    assert world.states() == [{"lamps": [{"on": False}], "keys": []}]


def spell(world, table: str, column: str) -> None:
    world.put(table, [*world.rows(table), {column: 1}])


def extend(world, table: str, column: str) -> None:
    world.add(table, {column: 1})


@pytest.mark.parametrize("name", ["spell", "extend"])
@pytest.mark.parametrize(
    ("columns", "known"),
    [
        ({}, "on, room"),
        ({"lamps": {"on": int, "hue": int | None}}, "on, hue"),
        ({"lamps": {}}, None),
    ],
)
def test_a_column_that_is_not_there_is_named_with_those_that_are(name, columns, known):
    tables = {"lamps": [{"on": 0}], "open": []}
    kind = Worlds(name="w", tools=toolbox("w", [spell, extend]), tables=tables, columns=columns)
    rows = {"lamps": [{"on": 1}] if columns else [{"on": 1, "room": 2}]}
    world = kind.open(Task("t", "b", (), initial_state=rows), 0)
    wrong = use(world, name, table="lamps", column="onn").error

    message = f"the table 'lamps' has no column 'onn'; it has: {known}"
    assert wrong == (known and {"kind": "UnknownColumnError", "message": message})
    assert use(world, name, table="lamps", column="on").error is None
    assert use(world, name, table="open", column="any").error is None


@pytest.mark.parametrize(
    "value", [float("nan"), float("-inf"), [10**5000], [None, {"a": float("nan")}], (10**5000,)]
)
def test_a_result_with_a_number_that_json_lacks_is_a_failure_of_the_tool(value):
    def number(world) -> float:
        return value

    result = use(world_of(number), "number")

    assert result.error["kind"] == "ValueError"
    assert "infinite, none (NaN) or of more than 4,300 digits" in result.error["message"]
    assert result.value is None


@pytest.mark.parametrize(
    ("value", "held"), [(None, None), ([None, 2**70], [None, 2**70]), ("null", "null")]
)
def test_results_that_json_has_a_word_for_are_kept(value, held):
    def give(world) -> object:
        return value

    result = use(world_of(give), "give")

    assert (result.value, result.error) == (held, None)


def test_rows_that_stay_are_shared_and_equal_numbers_of_another_kind_are_not_the_same():
    def put(world) -> None:
        world.put("t", [dict(world.rows("t")[0]), {"a": True}, {"a": 1.0}])

    world = world_of(put, tables={"t": [{"a": 1}, {"a": 1}, {"a": 1}]})
    (before,) = world.states()
    use(world, "put")
    (after,) = world.states()
    assert after["t"][0] is before["t"][0]
    assert [type(row["a"]) for row in after["t"]] == [int, bool, float]


def test_failures_of_the_infrastructure_are_no_results():
    def ask(world) -> str:
        raise SealError("the server is gone")

    with pytest.raises(SealError, match="the server is gone"):
        use(world_of(ask), "ask")


def test_rows_that_a_tool_was_given_are_its_own():
    def scribble(world) -> list:
        rows = world.rows("t")
        rows[0]["cells"].append(9)
        return rows

    world = world_of(scribble, tables={"t": [{"cells": [1]}]})
    result = use(world, "scribble")
    result.value[0]["cells"].append(8)
    assert world.states() == [{"t": [{"cells": [1]}]}]


def test_a_world_is_not_changed_through_its_task_nor_its_call():
    def keep(world, what: dict) -> None:
        world.put("t", [{"what": what}])

    begun = {"t": [{"what": None}]}
    kind = Worlds(name="w", tools=toolbox("w", [keep]), tables=begun)
    call = ToolCall("call_0", "keep", {"what": {"a": [1]}}, tool="w/keep")
    world = kind.open(Task("t", "b", (), initial_state=begun), 0)
    world.call([call])
    call.arguments["what"]["a"].append(2)
    begun["t"][0]["what"] = "else"
    assert world.states() == [{"t": [{"what": {"a": [1]}}]}]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (ToolCall("c", "blow", {}), "unknown_tool"),
        (ToolCall("c", "blow", {}, tool="lamps/blow"), "unknown_tool"),
        (ToolCall("c", "switch", None, "{", tool="lamps/switch"), "unparsable_arguments"),
        (ToolCall("c", "switch", {}, tool="lamps/switch"), "TypeError"),
        (ToolCall("c", "switch", {"on": 1}, tool="lamps/switch"), "TypeError"),
        (ToolCall("c", "switch", {"on": True, "x": 1}, tool="lamps/switch"), "TypeError"),
    ],
)
def test_wrong_calls_are_rejected_before_they_run(call, kind):
    world = lamps.open(TASK, 0, ["switch"])
    (result,) = world.call([call])
    assert (result.call_id, result.error["kind"], result.executed) == ("c", kind, None)


def test_ids_follow_from_seed_task_trial_and_place_in_the_chat():
    def draw(world) -> list:
        return [world.new_id(), world.new_id()]

    kind = Worlds(name="w", tools=toolbox("w", [draw]), tables={"t": []})

    def ids(seed=0, name="t", trial=0):
        world = kind.under(WorldSetup(seed=seed)).open(Task(name, "b", ()), trial)
        calls = [ToolCall("same", "draw", {}, tool="w/draw")] * 2
        return [tuple(r.value) for _ in range(2) for r in world.call(calls)]

    drawn = [ids(), ids(seed=1), ids(name="u"), ids(trial=1)]
    flat = [one for chat in drawn for pair in chat for one in pair]
    assert len(set(flat)) == len(flat) == 32
    assert ids() == drawn[0]


def test_time_stands_still_between_turns():
    clock = {"start": START, "first": 5, "step": 1.25}
    phone = new_phone(clock=clock)
    assert isinstance(phone.world, Timed)
    assert phone.value("get_current_timestamp") == START + 5
    phone.world.tick()
    assert phone.value("get_current_timestamp") == START + 5
    phone.world.tick()
    phone.world.tick()
    assert phone.value("get_current_timestamp") == START + 7.5
    assert phone.value("get_current_timestamp") == START + 7.5


def test_after_a_tick_the_world_is_shown_as_it_is_alone():
    world = lamps.open(TASK, 0)
    world.call([flip(True, 0), flip(True, 1)])
    assert len(world.states()) == 2
    world.tick()
    assert world.states() == [{"lamps": [{"on": True}]}]


def test_worlds_of_one_kind_share_nothing():
    one, other = lamps.open(TASK, 0), lamps.open(TASK, 0)
    one.call([flip()])
    assert other.states() == [{"lamps": [{"on": False}]}]


def test_a_tool_that_changes_rows_in_place_harms_no_other_chat():
    def scribble(world) -> None:
        world.table("t")[0]["cells"].append(9)

    kind = Worlds(name="w", tools=toolbox("w", [scribble]), tables={"t": [{"cells": (1, 2**70)}]})
    with pytest.raises(InfrastructureError, match="changed rows of the table 't' in place"):
        use(kind.open(TASK, 0), "scribble")
    for world in (kind.open(TASK, 0), kind.open(TASK, 1)):
        assert world.states() == [{"t": [{"cells": [1, 2**70]}]}]


ROWS = [{"a": n, "of": [n]} for n in (3, 1, 2)]


def two_tables(*functions):
    return Worlds(name="w", tools=toolbox("w", functions), tables={"t": ROWS, "u": ROWS})


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.append({"a": 99, "of": []}),
        lambda rows: rows.pop(),
        lambda rows: rows.remove(rows[1]),
        lambda rows: rows.clear(),
        lambda rows: rows.sort(key=lambda row: row["a"]),
        lambda rows: rows[0].update(a={1}),
        lambda rows: rows[0]["of"].append(9),
    ],
)
@pytest.mark.parametrize("fails", [False, True])
def test_a_tool_that_changes_a_table_itself_harms_no_other_chat(change, fails):
    def scribble(world) -> None:
        change(world.table("t"))
        change(world.table("u"))
        if fails:
            raise ValueError("no")

    kind = two_tables(scribble)
    with pytest.raises(InfrastructureError, match="changed rows of the table 't' in place"):
        use(kind.open(TASK, 0), "scribble")
    world = kind.open(TASK, 1)
    assert [world.rows(name) for name in "tu"] == [world.table(name) for name in "tu"]
    assert world.states() == [{"t": ROWS, "u": ROWS}]


def test_rows_are_whole_after_a_tool_changed_them_and_its_server_failed():
    def scribble(world) -> None:
        world.table("t").pop()
        world.table("t")[0]["of"].append(9)
        raise ConnectionError("refused")

    def first(world) -> dict:
        return world.table("t")[0]

    kind = two_tables(scribble, first)
    world = kind.open(TASK, 0)
    with pytest.raises(InfrastructureError, match="refused"):
        use(world, "scribble")
    for one in (world, kind.open(TASK, 1)):
        assert use(one, "first").value == ROWS[0]
        assert one.states() == [{"t": ROWS, "u": ROWS}]


def test_no_chat_sees_what_another_ones_tool_is_doing():
    seen = []

    def scribble(world) -> None:
        rows = world.table("t")
        rows[0]["a"] = 7
        rows.append({"a": 8, "of": []})
        other = kind.open(TASK, 1)
        seen.extend([other.states(), other.rows("t"), use(other, "read").value])
        rows[0]["a"] = ROWS[0]["a"]
        rows.pop()

    def read(world) -> list:
        return world.table("t")

    kind = two_tables(scribble, read)
    assert use(kind.open(TASK, 0), "scribble").error is None
    assert seen == [[{"t": ROWS, "u": ROWS}], ROWS, ROWS]


def test_a_tool_may_change_a_deep_copy_of_a_table_and_put_it():
    def mend(world) -> None:
        rows = copy.deepcopy(world.table("t"))
        rows[0]["a"] = 7
        world.put("t", rows)
        again = copy.deepcopy(world.states()[-1]["t"])
        again[1]["of"].clear()
        world.put("t", again)

    kind = two_tables(mend)
    world = kind.open(TASK, 0)
    assert use(world, "mend").error is None
    mended = [{**ROWS[0], "a": 7}, {**ROWS[1], "of": []}, ROWS[2]]
    assert world.states() == [{"t": mended, "u": ROWS}]
    assert kind.open(TASK, 1).states() == [{"t": ROWS, "u": ROWS}]


def test_what_a_tool_does_to_the_states_of_its_world_changes_nothing():
    def scribble(world) -> None:
        (state,) = world.states()
        state["t"].clear()
        state["u"][0]["a"] = 7

    kind = two_tables(scribble)
    world = kind.open(TASK, 0)
    for _ in range(2):
        assert use(world, "scribble").error is None
        assert world.states() == [{"t": ROWS, "u": ROWS}]


def test_rows_of_a_table_are_one_object_throughout_a_call_and_no_longer():
    seen = []

    def look(world) -> bool:
        seen.append(world.table("t"))
        return world.table("t") is seen[-1]

    world = two_tables(look).open(TASK, 0)
    assert [use(world, "look").value for _ in range(2)] == [True, True]
    assert seen[0] is not seen[1]
    seen[0][0]["a"] = 7  # long after its call
    assert world.states() == [{"t": ROWS, "u": ROWS}]


def looped() -> list:
    found: list = []
    found.append(found)
    return found


def nested(levels: int) -> list:
    found: list = []
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([1], r"world 'w': table 't': expected a list of rows, each a map .*, got \[1\]"),
        ({"on": 1}, "table 't': expected a list of rows"),
        ([{"on": float("nan")}], "table 't': JSON cannot hold the number nan; give values that"),
        ([{"on": looped()}], "table 't': JSON cannot hold a list or map that holds itself; give"),
        ([{"on": nested(5_000)}], "table 't': JSON cannot hold lists or maps nested deeper than"),
        (
            [{"on": {(1, 2): 3}}],
            "world 'w': .*'on' .* keys must be str.*; give values",
        ),
        ([{"on": {1}}], "table 't': JSON cannot hold set"),
    ],
)
def test_tables_that_no_world_can_begin_with_are_refused_when_the_kind_is_made(rows, said):
    with pytest.raises(UsageError, match=said):
        Worlds(name="w", tools={}, tables={"t": rows})


@pytest.mark.parametrize("part", ["tables", "columns"])
@pytest.mark.parametrize("given", [None, [{"id": "1"}], "t", 5, {1: {}}, {None: {}, "t": {}}])
def test_what_is_no_map_of_tables_is_refused_when_the_kind_is_made(part, given):
    with pytest.raises(UsageError, match=f"world 'w': {part}: expected a map of tables, got "):
        Worlds(name="w", tools={}, **{part: given})


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(UsageError, match="two tools of w are named 'switch'"):
        toolbox("w", [switch, switch])


def test_a_kind_is_found_by_dotted_path_and_by_name(monkeypatch):
    allowed = WorldSetup(allow_code=("phones",))
    assert build_worlds("phones:lamps", allowed).open(TASK, 0).states()
    with pytest.raises(CodeRefusedError, match="task 'one' names the world 'phones:lamps'"):
        build_worlds("phones:lamps", WorldSetup(), "task 'one'")
    monkeypatch.setitem(REGISTRY._registered, "lamps", lamps)
    setup = WorldSetup(options={"race": "none"})
    assert build_worlds("lamps", setup).identity()["race"] == "none"
    assert build_worlds("phone", WorldSetup()).identity()["world"] == "phone"


def test_a_factory_may_be_a_function_of_the_setup_or_any_object(monkeypatch):
    class Foreign:
        def open(self, task, trial, offered=()):
            return self

        def identity(self):
            return {}

        def keys_of(self, trajectory):
            return set()

    foreign = Foreign()
    monkeypatch.setitem(REGISTRY._registered, "object", foreign)
    monkeypatch.setitem(REGISTRY._registered, "function", lambda setup: foreign)
    assert build_worlds("object", WorldSetup()) is foreign
    assert build_worlds("function", WorldSetup()) is foreign


def test_names_of_no_world_are_refused(monkeypatch):
    with pytest.raises(UnknownNameError, match=r"no world 'fone'.*Did you mean 'phone'"):
        build_worlds("fone", WorldSetup())
    monkeypatch.setitem(REGISTRY._registered, "stone", 7)
    with pytest.raises(UsageError, match="world 'stone': int opens no worlds"):
        build_worlds("stone", WorldSetup())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rase": "none"}, "no such option; it has: race.*Did you mean 'race'"),
        ({"race": "fast"}, "expected one of dependency, exhaustive, none"),
    ],
)
def test_options_that_cannot_be_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        lamps.under(WorldSetup(options=options))


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"sofas": []}, "has no table 'sofas'; it has: settings, contacts, messages, reminders"),
        ({"contacts": [{"nickname": "Bo"}]}, "has the column 'nickname'; expected: person_id"),
        ({"contacts": [{"name": 5}]}, "has name 5; expected"),
        ({"contacts": [{"name": None}]}, "has no value"),
        ({"settings": []}, "settings has 0 rows; expected one"),
        ({"settings": [{"wifi": True}]}, "has cellular None; expected"),
    ],
)
def test_a_beginning_that_cannot_be_names_task_table_and_column(tables, words):
    with pytest.raises(DataError, match=f"(?s)task t: .*{words}"):
        phone(WorldSetup()).open(Task("t", "b", (), initial_state=tables), 0)


def test_tables_that_a_task_leaves_out_are_the_worlds_own():
    begun = Task("t", "b", (), initial_state={"contacts": [{"name": "Bo"}]})
    tables = phone(WorldSetup()).open(begun, 0).states()[-1]
    assert tables["settings"][0]["wifi"] is True
    assert tables["contacts"] == [
        {
            "person_id": None,
            "name": "Bo",
            "phone_number": None,
            "relationship": None,
            "is_self": None,
        }
    ]


def test_the_identity_follows_from_tools_tables_and_options():
    other = replace(lamps, tools=toolbox("lamps", [switch]))
    race = lamps.under(WorldSetup(options={"race": "none"}))
    dark = replace(lamps, tables={name: [] for name in lamps.tables})
    assert len({str(kind.identity()) for kind in (lamps, other, race, dark)}) == 4


def test_a_world_can_be_deeply_copied():
    world = lamps.open(TASK, 0)
    twin = copy.deepcopy(world)
    twin.call([flip()])
    assert isinstance(twin, Lamp)
    assert world.states() != twin.states()


def test_marks_of_effects_are_kept_with_the_tool():
    @effects(checks=["a"], changes=lambda arguments: [arguments["x"]])
    def act(world, x: int) -> None: ...

    assert list(toolbox("w", [act])["w/act"].effects.checks) == ["a"]


def test_the_phones_tasks_are_equal_for_equal_calls():
    assert task() == task()


@pytest.mark.parametrize(("cell", "changes"), [(1, False), (1.0, True), (True, True), (2, True)])
def test_nested_rows_that_come_back_as_they_were_are_the_same_rows(cell, changes):
    def put_back(world):
        """Put the rows back."""
        rows = world.rows("t")
        rows[0]["parts"][0]["count"] = cell
        world.put("t", rows)
        rows[1]["parts"].append("later")

    rows = [{"parts": [{"count": 1}]}, {"parts": []}]
    world = world_of(put_back, tables={"t": rows})
    (before,) = world.states()
    assert use(world, "put_back").error is None
    (after,) = world.states()
    assert (after["t"][0] is not before["t"][0]) is changes
    assert after["t"][1] is before["t"][1] and after["t"][1] == {"parts": []}
    assert type(after["t"][0]["parts"][0]["count"]) is type(cell)
    assert before["t"][0] == {"parts": [{"count": 1}]}

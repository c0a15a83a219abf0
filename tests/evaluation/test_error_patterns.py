"""ToolScan's rules, hand-worked: the pattern of a step, whose fault a failure is, what follows."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from chats import MANAGER
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core import (
    CHAT_TOOLS,
    Goal,
    Milestone,
    Plan,
    Step,
    Stop,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.core.conditions import Argument, Called
from seal.evaluation.error_patterns import (
    StepNote,
    diagnose,
    events,
    first_error,
    repairs,
    transitions,
)

FIND = Tool(
    "b/t/find",
    "find",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "limit": {"type": "number"},
            "open": {"type": "boolean"},
            "unit": {"type": "string", "enum": ["C", "F"]},
            "bare": {"type": "string", "enum": []},
            "tags": {"type": "array", "items": {"type": "string"}},
            "area": {
                "type": "object",
                "properties": {"lat": {"type": "number"}},
                "required": ["lat"],
                "additionalProperties": False,
            },
            "note": {"type": ["string", "null"]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "top": {"type": "integer", "minimum": 1},
            "code": {"type": "string", "pattern": "^[A-Z]+$"},
        },
        "required": ["city"],
    },
)
PING = Tool("b/t/ping", "ping")
EMPTY = Tool("b/t/empty", "empty", parameters={})
OPEN = Tool("b/t/open", "open", parameters={"type": "object", "additionalProperties": True})
REF = Tool(
    "b/t/ref",
    "ref",
    parameters={
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/point"}},
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}}},
    },
)
LOST = Tool(
    "b/t/lost",
    "lost",
    parameters={"type": "object", "properties": {"at": {"$ref": "https://elsewhere/x"}}},
)
TOOLS = {tool.id: tool for tool in (FIND, PING, EMPTY, OPEN, REF, LOST)}
BY_NAME = {tool.name: tool.id for tool in TOOLS.values()}

DEEP: Any = 1
for _ in range(60):
    DEEP = [DEEP]

Made = tuple[str, Any]


def chat(*calls: Made, results: Sequence[ToolResult | None] = (), goal: int = 0) -> Trajectory:
    """One call a turn, each answered, unless its result is None."""
    steps: list[Step] = []
    for number, (name, arguments) in enumerate(calls):
        raw = arguments if isinstance(arguments, str) else ""
        given_arguments = None if isinstance(arguments, str) else arguments
        call = ToolCall(f"call_{number}", name, given_arguments, raw, BY_NAME.get(name))
        result = results[number] if number < len(results) else ToolResult(call.id, "fine")
        turn = 2 * number
        steps.append(Step(2 * number, MANAGER, "executor", call=call, turn=turn, goal=goal))
        if result is not None:
            result = replace(result, call_id=call.id)
            steps.append(
                Step(2 * number + 1, "executor", MANAGER, result=result, turn=turn + 1, goal=goal)
            )
    return Trajectory("t", 0, tuple(steps), stops=(Stop("done"),), answers=("ok",))


def kinds(*calls: Made, **more: Any) -> list[str]:
    return [finding.kind for finding in diagnose(chat(*calls, **more), TOOLS)]


SINGLE = [
    # IFE: no name and map
    ("find", "", "IFE"),
    ("find", "{", "IFE"),
    ("find", "city=Bern", "IFE"),
    ("find", '["Bern"]', "IFE"),
    ("find", ["Bern"], "IFE"),
    ("find", 3, "IFE"),
    ("find", True, "IFE"),
    ("", {"city": "Bern"}, "IFE"),
    ("  ", {}, "IFE"),
    # IFE before IFN
    ("fnd", "{", "IFE"),
    ("finish", "{", "IFE"),
    ("", "{", "IFE"),
    # IFN
    ("fnd", {"city": "Bern"}, "IFN"),
    ("Find", {"city": "Bern"}, "IFN"),
    ("b/t/find", {}, "IFN"),
    # IFN before everything that a schema could say
    ("fnd", {"town": 3}, "IFN"),
    ("fnd", {}, "IFN"),
    # finish is always allowed
    ("finish", {"answer": "x"}, "finish"),
    ("Finish", {}, "finish"),
    # IAN
    ("find", {"city": "Bern", "town": "x"}, "IAN"),
    ("find", {"City": "Bern", "city": "Bern"}, "IAN"),
    ("ping", {"x": 1}, "IAN"),
    ("empty", {"x": 1}, "IAN"),
    ("find", {"city": "Bern", "area": {"lat": 1, "lon": 2}}, "IAN"),
    ("find", {"city": "Bern", "a": 1, "b": 2, "c": 3}, "IAN"),
    # IAN before IAT, IAV, both
    ("find", {"city": 1, "town": "x"}, "IAN"),
    ("find", {"town": "x"}, "IAN"),
    ("find", {"town": "x", "days": "3"}, "IAN"),
    # IAT
    ("find", {"city": 1}, "IAT"),
    ("find", {"city": None}, "IAT"),
    ("find", {"city": ["Bern"]}, "IAT"),
    ("find", {"city": "Bern", "days": "3"}, "IAT"),
    ("find", {"city": "Bern", "days": 3.5}, "IAT"),
    ("find", {"city": "Bern", "days": True}, "IAT"),
    ("find", {"city": "Bern", "limit": False}, "IAT"),
    ("find", {"city": "Bern", "limit": "1"}, "IAT"),
    ("find", {"city": "Bern", "open": 1}, "IAT"),
    ("find", {"city": "Bern", "open": "true"}, "IAT"),
    ("find", {"city": "Bern", "unit": "K"}, "IAT"),
    ("find", {"city": "Bern", "unit": "c"}, "IAT"),
    ("find", {"city": "Bern", "tags": "a"}, "IAT"),
    ("find", {"city": "Bern", "tags": ["a", 1]}, "IAT"),
    ("find", {"city": "Bern", "area": [1]}, "IAT"),
    ("find", {"city": "Bern", "area": {"lat": "x"}}, "IAT"),
    ("find", {"city": "Bern", "note": 1}, "IAT"),
    ("find", {"city": "Bern", "either": [1]}, "IAT"),
    ("find", {"city": "Bern", "days": "3", "limit": "1", "open": 1}, "IAT"),
    ("ref", {"at": 3}, "IAT"),
    ("ref", {"at": {"x": "1"}}, "IAT"),
    # IAT before IAV
    ("find", {"days": "3"}, "IAT"),
    ("find", {"unit": "K"}, "IAT"),
    ("find", {"city": 1, "top": 0}, "IAT"),
    # IAV: missing, or outside of what else the schema allows
    ("find", {}, "IAV"),
    ("find", {"days": 3}, "IAV"),
    ("find", {"city": "Bern", "area": {}}, "IAV"),
    ("find", {"city": "Bern", "top": 0}, "IAV"),
    ("find", {"city": "Bern", "code": "x"}, "IAV"),
    ("find", {"city": "Bern", "tags": DEEP}, "IAV"),
    # valid
    ("find", {"city": "Bern"}, "valid"),
    ("find", {"city": ""}, "valid"),
    ("find", {"city": "Bern", "days": 3}, "valid"),
    ("find", {"city": "Bern", "days": 3.0}, "valid"),
    ("find", {"city": "Bern", "limit": 1}, "valid"),
    ("find", {"city": "Bern", "limit": 1.5}, "valid"),
    ("find", {"city": "Bern", "open": False}, "valid"),
    ("find", {"city": "Bern", "unit": "F"}, "valid"),
    ("find", {"city": "Bern", "bare": "whatever"}, "valid"),
    ("find", {"city": "Bern", "tags": []}, "valid"),
    ("find", {"city": "Bern", "note": None}, "valid"),
    ("find", {"city": "Bern", "either": "x"}, "valid"),
    ("find", {"city": "Bern", "area": {"lat": 1}}, "valid"),
    ("ping", {}, "valid"),
    ("empty", {}, "valid"),
    ("open", {"any": ["thing"]}, "valid"),
    ("open", {"any": math.inf}, "valid"),
    ("ref", {"at": {"x": 1}}, "valid"),
    ("lost", {"at": [None]}, "valid"),
]


@every_case(("name", "arguments", "expected"), SINGLE)
def test_a_step_has_the_pattern_of_the_first_rule(name: str, arguments: Any, expected: str) -> None:
    assert kinds((name, arguments)) == [expected]


BERN, LIMA = ("find", {"city": "Bern"}), ("find", {"city": "Lima"})
WRONG = ("find", {"city": 1})
REPEATED: list[tuple[list[Made], list[str]]] = [
    ([BERN, BERN], ["valid", "RAC"]),
    ([BERN, BERN, BERN], ["valid", "RAC", "RAC"]),
    ([BERN, LIMA, BERN], ["valid", "valid", "RAC"]),
    ([WRONG, WRONG], ["IAT", "IAT"]),
    ([("fnd", {}), ("fnd", {})], ["IFN", "IFN"]),
    ([("find", "{"), ("find", "{")], ["IFE", "IFE"]),
    ([WRONG, BERN, WRONG, BERN], ["IAT", "valid", "IAT", "RAC"]),
    ([("finish", {}), ("finish", {})], ["finish", "finish"]),
    ([("ping", {}), ("empty", {})], ["valid", "valid"]),
    (
        [("find", {"city": "Bern", "days": 1}), ("find", {"days": 1.0, "city": "Bern"})],
        ["valid", "RAC"],
    ),
    ([("open", {"n": 1}), ("open", {"n": "1"})], ["valid", "valid"]),
    ([("open", {"n": 1}), ("open", {"n": True})], ["valid", "valid"]),
    ([("open", {"n": 1}), ("open", {"n": 1.0})], ["valid", "RAC"]),
    ([("open", {"n": "e\u0301"}), ("open", {"n": "\u00e9"})], ["valid", "RAC"]),
    ([("open", {"n": [1, 2]}), ("open", {"n": [2, 1]})], ["valid", "valid"]),
    ([("open", {"n": math.inf}), ("open", {"n": math.inf})], ["valid", "RAC"]),
    ([("find", {"city": "Bern", "note": None}), BERN], ["valid", "valid"]),
]


@every_case(("calls", "expected"), REPEATED)
def test_a_repetition_is_of_tool_and_canonical_arguments(
    calls: list[Made], expected: list[str]
) -> None:
    assert kinds(*calls) == expected


def test_a_finding_says_all_that_is_wrong_with_expected_and_received() -> None:
    (found,) = diagnose(chat(("find", {"town": 1, "citi": 2, "days": "3"})), TOOLS)
    assert [(f.kind, f.name, f.received) for f in found.faults] == [
        ("unknown_argument", "town", "town"),
        ("unknown_argument", "citi", "citi"),
        ("missing_argument", "city", None),
        ("wrong_type", "days", "3"),
    ]
    assert found.faults[1].nearest == "city"
    assert found.faults[3].expected == "integer"
    assert (found.kind, found.pattern, found.valid) == ("IAN", "IAN", False)


def test_a_repeated_call_names_the_first_one_like_it() -> None:
    found = diagnose(chat(BERN, LIMA, BERN, BERN, WRONG, WRONG), TOOLS)
    assert [f.earlier for f in found] == [None, None, 0, 0, None, 8]
    assert [f.valid for f in found] == [True, True, True, True, False, False]


def test_the_next_goal_may_ask_for_the_same_again() -> None:
    first, second = chat(BERN), chat(BERN, goal=1)
    later = tuple(
        replace(
            s,
            index=s.index + 2,
            call=s.call and replace(s.call, id="call_1"),
            result=s.result and replace(s.result, call_id="call_1"),
        )
        for s in second.steps
    )
    found = diagnose(replace(first, steps=first.steps + later), TOOLS)
    assert [(f.goal, f.kind) for f in found] == [(0, "valid"), (1, "valid")]


def gold(*calls: Made) -> list[Goal]:
    asked = [Called(BY_NAME[name], {n: Argument((v,)) for n, v in a.items()}) for name, a in calls]
    return [Goal("?", (Plan(tuple(map(Milestone, asked))),))]


def test_a_call_that_gold_asks_for_is_no_error_whatever_its_schema_says() -> None:
    found = diagnose(chat(WRONG, ("find", {"city": 2})), TOOLS, gold(WRONG))
    assert [f.kind for f in found] == ["valid", "IAT"]


def test_a_call_is_a_repetition_once_it_is_made_oftener_than_gold_asks() -> None:
    found = diagnose(chat(BERN, BERN, BERN), TOOLS, gold(BERN, BERN))
    assert [(f.kind, f.earlier) for f in found] == [("valid", None), ("valid", None), ("RAC", 0)]


def test_a_call_of_the_reference_is_gold_too() -> None:
    done = [step for step in chat(WRONG).steps if step.call is not None]
    (found,) = diagnose(chat(WRONG), TOOLS, [Goal("?", reference=tuple(done))])
    assert found.kind == "valid"


def test_a_tool_named_finish_is_called_where_gold_asks_for_it() -> None:
    end = Tool("b/t/finish", "finish")
    steps = [
        replace(step, call=step.call and replace(step.call, name="finish", tool=end.id))
        for step in chat(("ping", {})).steps
    ]
    done = Trajectory("t", 0, tuple(steps))
    asked = Goal("?", (Plan((Milestone(Called(end.id, {})),)),))
    for goals, kind in (([asked], "valid"), ([], "finish")):
        (found,) = diagnose(done, {end.id: end}, goals)
        assert found.kind == kind


def test_a_call_is_no_repetition_once_the_world_has_changed() -> None:
    steps = list(chat(BERN, LIMA, BERN, BERN).steps)
    steps[3] = replace(steps[3], state={"settings": [{"wifi": True}]})
    found = diagnose(Trajectory("t", 0, tuple(steps)), TOOLS)
    assert [f.kind for f in found] == ["valid", "valid", "valid", "RAC"]


def test_a_change_by_the_call_itself_makes_its_repetition_no_other_call() -> None:
    steps = list(chat(BERN, BERN).steps)
    steps[1] = replace(steps[1], state={"reminders": [{"id": 1}]})
    found = diagnose(Trajectory("t", 0, tuple(steps)), TOOLS)
    assert [f.kind for f in found] == ["valid", "RAC"]


def test_equal_calls_of_one_reply_are_a_repetition() -> None:
    calls = [ToolCall(f"call_{n}", "ping", {}, tool=PING.id) for n in range(2)]
    steps = [Step(n, MANAGER, "executor", call=call) for n, call in enumerate(calls)]
    found = diagnose(Trajectory("t", 0, tuple(steps)), TOOLS)
    assert [(f.kind, f.answered) for f in found] == [("valid", None), ("RAC", None)]


def test_words_of_the_agent_are_findings_and_others_are_none() -> None:
    steps = (
        Step(0, "user_simulator", "orchestrator", "hello"),
        Step(1, "orchestrator", MANAGER, "do it"),
        Step(2, MANAGER, "executor", "Action: find the town"),
        Step(3, "executor", MANAGER, "a timer rings"),
        Step(4, MANAGER, "user_simulator", "done"),
        Step(5, "user_simulator", "executor", call=ToolCall("call_0", "end", {})),
        Step(6, MANAGER, "executor", call=ToolCall("c", "find_tools", {}, tool=f"{CHAT_TOOLS}x")),
    )
    found = diagnose(Trajectory("t", 0, steps), TOOLS)
    assert [(f.step, f.kind) for f in found] == [(1, "message"), (2, "IFE"), (4, "message")]


def test_a_tool_that_was_offered_but_is_not_in_the_pool_takes_anything() -> None:
    calls = [
        ToolCall("call_0", "gone", {"x": 1}, tool="b/t/gone"),
        ToolCall("call_1", "gone", None, "{", tool="b/t/gone"),
        ToolCall("call_2", "gone", {"x": 1}),
    ]
    steps = tuple(Step(n, MANAGER, "executor", call=call) for n, call in enumerate(calls))
    found = diagnose(Trajectory("t", 0, steps), TOOLS)
    assert [f.kind for f in found] == ["valid", "IFE", "IFN"]


def failing(kind: str, message: str, content: str = "", **more: Any) -> ToolResult:
    return ToolResult("", content or message, {"kind": kind, "message": message, **more})


def envelope(response: str) -> ToolResult:
    return ToolResult("", f'{{"error": "", "response": "{response}"}}')


OUTCOMES: list[tuple[ToolResult | None, str, str | None]] = [
    (ToolResult("", "21 degrees"), "valid", None),
    (ToolResult("", "None"), "valid", None),
    (ToolResult("", "['not found']"), "valid", None),
    (None, "valid", None),
    (envelope("{'sky': 'blue'}"), "valid", None),
    (envelope("Nobody is authorized to say; the token is a film."), "valid", None),
    (envelope("No film of this name was found."), "valid", None),
    (failing("ValueError", "no such contact"), "refused", None),
    (failing("ConnectionError", "Wifi is not enabled, unreachable"), "refused", None),
    (
        failing("service", "Message error...", '{"error": "m", "response": "Pet 3?"}'),
        "refused",
        None,
    ),
    (failing("service", "Unsubscribed error..."), "service", "unsubscribed"),
    (failing("service", "Unauthorized error..."), "service", "unauthorized"),
    (failing("service", "Too many requests error..."), "service", "limited"),
    (failing("service", "API not working error..."), "service", "unreachable"),
    (failing("service", "Function executing from a.b error...\nname 'x'"), "service", "broken"),
    (
        failing("service", "Function executing from a.b error...\nMax retries exceeded with url"),
        "service",
        "unreachable",
    ),
    (
        failing("service", "Message error...", '{"error": "m", "response": "Invalid API key"}'),
        "service",
        "unauthorized",
    ),
    (
        failing("service", "Message error...", '{"error": "m", "response": "<html>Hello</html>"}'),
        "service",
        "gone",
    ),
    (envelope("{'message': 'API doesn't exists'}"), "service", "gone"),
    (envelope("{'message': 'DEPRECATED_ENDPOINT'}"), "service", "gone"),
    (envelope("<h1>503 Service Unavailable</h1>"), "service", "unreachable"),
    (envelope("403 - Forbidden"), "service", "unauthorized"),
    (envelope(""), "service", "empty"),
    (ToolResult("", ""), "service", "empty"),
    (failing("not_recorded", "nothing recorded"), "service", "unrecorded"),
    (failing("simulator", "no answer"), "service", "unrecorded"),
    (failing("truncated", "cut", "{'films': ['A', ", upstream=""), "valid", None),
    (failing("truncated", "cut", "x", upstream="Message error..."), "refused", None),
    (failing("truncated", "cut", "x", upstream="Unsubscribed error..."), "service", "unsubscribed"),
]


@every_case(("result", "kind", "service"), OUTCOMES)
def test_a_failure_of_the_service_is_no_error_of_the_agent(
    result: ToolResult | None, kind: str, service: str | None
) -> None:
    (found,) = diagnose(chat(BERN, results=[result]), TOOLS)
    assert (found.kind, found.service) == (kind, service)


def test_an_error_stays_the_agents_where_the_service_is_dead_too() -> None:
    dead = failing("service", "Unsubscribed error...")
    (found,) = diagnose(chat(WRONG, results=[dead]), TOOLS)
    assert (found.kind, found.service, found.told) == ("IAT", "unsubscribed", False)


def test_a_program_that_refuses_wrong_arguments_tells_the_agent_of_them() -> None:
    refused = failing("service", "Function executing from x error...\nunexpected keyword 'town'")
    (found,) = diagnose(chat(("find", {"town": 1}), results=[refused]), TOOLS)
    assert (found.kind, found.service, found.told) == ("IAN", None, True)


def test_arguments_that_upstream_cut_are_unknown_and_not_unparsable() -> None:
    cut = failing("truncated", "cut", "x", upstream="", cut=["arguments", "response"])
    assert kinds(("find", '{"city": "B'), results=[cut]) == ["cut"]
    assert kinds(("fnd", '{"city": "B'), results=[cut]) == ["IFN"]


REJECTION = failing("wrong_type", "expected a string")
COURSES: list[tuple[list[Made], list[tuple[int, int | None, int]]]] = [
    ([WRONG], [(0, None, 0)]),
    ([WRONG, BERN], [(0, 2, 1)]),
    ([WRONG, WRONG, BERN], [(0, 4, 2), (2, 4, 1)]),
    ([WRONG, ("ping", {}), BERN], [(0, 4, 2)]),
    ([WRONG, ("ping", {})], [(0, None, 0)]),
    ([("fnd", {}), ("ping", {})], [(0, 2, 1)]),
    ([("find", "{"), ("ping", {})], [(0, None, 0)]),
    ([("find", "{"), BERN], [(0, 2, 1)]),
    ([BERN, WRONG, BERN], [(2, None, 0)]),
    ([BERN, WRONG, LIMA], [(2, 4, 1)]),
    ([BERN, LIMA], []),
]


@every_case(("calls", "expected"), COURSES)
def test_an_error_is_repaired_by_the_next_new_valid_call_of_its_tool(
    calls: list[Made], expected: list[tuple[int, int | None, int]]
) -> None:
    fine = ToolResult("", "fine")
    results = [fine if call in (BERN, LIMA, ("ping", {})) else REJECTION for call in calls]
    found = repairs(diagnose(chat(*calls, results=results), TOOLS))
    assert [(r.error.step, r.step, r.calls) for r in found] == expected


def test_a_call_of_the_same_reply_repairs_nothing() -> None:
    calls = [
        ToolCall("call_0", "find", {"city": 1}, tool=FIND.id),
        ToolCall("call_1", "find", {"city": "Bern"}, tool=FIND.id),
    ]
    steps = [Step(n, MANAGER, "executor", call=call) for n, call in enumerate(calls)]
    steps += [
        Step(2, "executor", MANAGER, result=replace(REJECTION, call_id="call_0")),
        Step(3, "executor", MANAGER, result=ToolResult("call_1", "fine")),
    ]
    (found,) = repairs(diagnose(Trajectory("t", 0, tuple(steps)), TOOLS))
    assert found.step is None


def test_an_error_of_which_nobody_told_awaits_no_repair() -> None:
    assert repairs(diagnose(chat(WRONG, BERN), TOOLS)) == []


def test_errors_follow_on_each_other_by_name() -> None:
    dead = failing("service", "Unsubscribed error...")
    found = diagnose(chat(BERN, BERN, WRONG, LIMA, results=[dead, dead]), TOOLS)
    assert events(found) == ["service", "RAC", "IAT"]
    assert transitions(events(found)) == {"RAC>IAT": 1, "service>RAC": 1}
    first = first_error(found)
    assert first is not None and (first.kind, first.step) == ("RAC", 2)
    assert first_error(diagnose(chat(BERN), TOOLS)) is None


def test_thousands_of_repeated_calls_take_linear_time() -> None:
    def repeated(times: int) -> Trajectory:
        calls = [BERN, WRONG, ("fnd", {"x": 1}), ("find", "{")] * times
        return chat(*calls, results=[REJECTION] * len(calls))

    linear(lambda times: repairs(diagnose(repeated(times), TOOLS)), 2500)
    found = diagnose(repeated(2500), TOOLS)
    repaired = repairs(found)
    assert [f.kind for f in found[-4:]] == ["RAC", "IAT", "IFN", "IFE"]
    assert len(repaired) == 7500


def test_a_model_that_thinks_forever_makes_no_bad_call() -> None:
    steps = tuple(Step(n, MANAGER, "orchestrator", "Let me think.", turn=n) for n in range(3000))
    found = diagnose(Trajectory("t", 0, steps, stops=(Stop("max_turns"),)), TOOLS)
    assert {f.kind for f in found} == {"message"}


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from([*BY_NAME, "", "no", "finish"]), ANY), max_size=5))
def test_whatever_was_called_has_one_finding_a_step(calls: list[Made]) -> None:
    found: list[StepNote] = diagnose(chat(*calls), TOOLS)
    assert [f.step for f in found] == [2 * n for n in range(len(calls))]
    assert all(bool(f.faults) == (not f.valid) for f in found if f.kind != "finish" and f.call.name)


@given(st.lists(st.sampled_from([BERN, LIMA, WRONG, ("fnd", {})]), max_size=12))
def test_a_valid_call_is_repeated_each_time_but_the_first(calls: list[Made]) -> None:
    found = diagnose(chat(*calls), TOOLS)
    expected = sum(max(0, calls.count(call) - 1) for call in (BERN, LIMA))
    assert sum(f.kind == "RAC" for f in found) == expected

"""Tools made of functions."""

from pathlib import Path
from typing import Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

import seal
from seal.core import Tool, UsageError
from seal.environments.chat_world import World
from seal.environments.function_tools import NOT_GIVEN, NotGiven, fits, with_integers, world_tool
from seal.environments.world import Worlds, toolbox


def ring(
    bell: World,
    times: int,
    tone: Literal["high", "low"] = "low",
    loud: float | NotGiven = NOT_GIVEN,
    notes: list[str] | None = None,
) -> str:
    """Ring the bell
    of the house.

    It is heard far away.

    Args:
        times: How often,
            from 1.
        tone: How it sounds.
        notes: What is sung: la, or lo.

    Returns:
        What is heard.

    Raises:
        ValueError: It is broken.
    """
    return tone


def test_the_document_is_made_of_signature_and_docstring():
    assert world_tool("bells/ring", ring, "bells").document == Tool(
        "bells/ring",
        "ring",
        "Ring the bell of the house.\n\nIt is heard far away.",
        {
            "type": "object",
            "properties": {
                "times": {"type": "integer", "description": "How often, from 1."},
                "tone": {
                    "enum": ["high", "low"],
                    "description": "How it sounds.",
                    "default": "low",
                },
                "loud": {"type": "number"},
                "notes": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "What is sung: la, or lo.",
                    "default": None,
                },
            },
            "required": ["times"],
        },
        "bells",
        "What is heard.",
    )


def test_a_function_without_docstring_has_an_empty_description():
    def quiet(world: World, any_thing: Any = 1) -> None: ...

    document = world_tool("q", quiet).document
    assert (document.description, document.returns) == ("", None)
    assert document.parameters["properties"] == {"any_thing": {"default": 1}}


def test_arguments_are_bound_with_defaults_in_the_order_of_the_signature():
    tool = world_tool("r", ring)
    bound = tool.bind({"tone": "high", "times": 2})
    assert list(bound.items()) == [
        ("times", 2),
        ("tone", "high"),
        ("loud", NOT_GIVEN),
        ("notes", None),
    ]
    assert repr(NOT_GIVEN) == "NOT_GIVEN"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "ring needs the argument 'times'"),
        ({"times": 1, "speed": 2}, "takes no argument 'speed'; it takes: times, tone, loud, notes"),
        ({"times": "1"}, "argument 'times' of ring: expected int, got str"),
        ({"times": 1.5}, "expected int, got float"),
        ({"times": None}, "expected int, got null"),
        ({"times": 1, "tone": "mid"}, "argument 'tone'"),
        ({"times": 1, "loud": None}, "expected float, got null"),
        ({"times": 1, "notes": ["a", 1]}, r"expected list\[str\] or null, got list"),
    ],
)
def test_arguments_that_do_not_fit_are_type_errors(arguments, words):
    with pytest.raises(TypeError, match=words):
        world_tool("r", ring).bind(arguments)


@every_case(
    ("value", "annotation", "passed"),
    [
        (1.0, int, 1),
        (1.5, int, 1.5),
        (1.0, float, 1.0),
        (1.0, int | None, 1),
        (1.0, int | float, 1.0),
        (2.0, Literal[1, 2], 2),
        ([1.0, "a"], list[int], [1, "a"]),
        ({"a": [1.0]}, dict[str, list[int]], {"a": [1]}),
        ([1.0], list[int] | None, [1]),
        ([1.0], list, [1.0]),
        (1.0, complex, 1.0),
    ],
)
def test_a_whole_float_becomes_the_integer_that_a_type_asks_for(value, annotation, passed):
    assert repr(with_integers({"a": value, "b": 1.0}, {"a": annotation})) == repr(
        {"a": passed, "b": 1.0}
    )


@pytest.mark.parametrize("in_world", [False, True])
def test_a_tool_is_called_with_the_integer_that_a_schema_takes_for_one(in_world, tmp_path):
    def nth(place: int) -> str:
        """Tell a letter."""
        return "abc"[place]

    def nth_of(world: World, place: int) -> str:
        """Tell a letter."""
        return "abc"[place]

    def agent(request, tools):
        return tools[0](place=1.0)

    worlds = Worlds(name="letters", tools=toolbox("letters", [nth_of]), tables={"all": []})
    where = {"environment": worlds} if in_world else {"tools": [nth]}
    task = seal.ask("Which is 1?", seal.called("nth_of" if in_world else "nth", place=1))
    bench = seal.Benchmark("letters", tasks=[task], **where)
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    assert run["pass_rate"].mean == 1.0


@every_case(
    ("value", "annotation", "right"),
    [
        (1, float, True),
        (True, float, True),
        (True, int, True),
        (1, bool, False),
        (1.0, int, False),
        (None, str | None, True),
        (None, str | NotGiven, False),
        (2, int | float, True),
        ({"a": 1}, dict[str, int], True),
        ({"a": "1"}, dict[str, int], False),
        (1, Literal[1, 2], True),
        (True, Literal[1, 2], False),
        ([1], list, True),
    ],
)
def test_types_fit_as_python_counts(value, annotation, right):
    assert fits(value, annotation) is right


def test_a_type_that_json_has_no_word_for_is_refused_when_the_tool_is_made():
    def bad(world: World, when: set) -> None: ...

    def untyped(world: World, when) -> None: ...

    def mixed(world: World, when: int | str) -> None: ...

    for function in (bad, mixed):
        with pytest.raises(UsageError, match=r"argument 'when' has the type .*; expected str"):
            world_tool("x", function)
    with pytest.raises(UsageError, match=r"argument 'when' has no type; write one"):
        world_tool("x", untyped)


def test_a_description_of_no_argument_is_refused():
    def bad(world: World, when: int) -> None:
        """Do.

        Args:
            wen: When.
        """

    with pytest.raises(UsageError, match="describes 'wen', no argument"):
        world_tool("x", bad)


def bare() -> None:
    """Do."""


def lit(on: bool) -> None:
    """Switch.

    Args:
        on: Whether it is lit.
    """


@pytest.mark.parametrize("function", [bare, lit])
def test_a_tool_of_a_world_without_an_argument_for_the_world_is_refused(function):
    with pytest.raises(UsageError, match=r"first argument must be the world; write `def \w+\(wor"):
        world_tool("x", function)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_value_is_bound_or_refused_with_a_type_error(value):
    for name in ("times", "tone", "loud", "notes"):
        try:
            bound = world_tool("r", ring).bind({"times": 1, name: value})
        except TypeError:
            continue
        assert bound[name] == value


def test_a_coroutine_function_is_no_tool_of_a_world() -> None:
    async def ring(bell: World) -> str:
        """Ring the bell."""
        return "rung"

    with pytest.raises(UsageError, match=r"ring: a world's tools are plain functions"):
        world_tool("bell/ring", ring)


def test_a_result_that_json_cannot_hold_is_an_error_and_no_score() -> None:
    def ring(bell: World) -> set[int]:
        """Ring the bell."""
        return {1}

    worlds = Worlds(name="bell", tools=toolbox("bell", [ring]))
    bench = seal.Benchmark("bell", environment=worlds, tasks=[seal.ask("Ring!", answer="rung")])
    run = seal.run(bench, agent=lambda request, tools: str(tools[0]()), baselines=False)
    assert "the tool ring returned set, which JSON cannot say" in run.tasks["error"][0]
    assert run["pass_rate"].mean is None


Tone = Literal["high", "low"]


def sing(note: str | None = None, tone: Tone | None = None, *, by: Optional[int] = 1) -> str:  # noqa: UP045
    """Sing a note."""
    return f"{note}, {tone}, {by}"


def sing_there(hall: World, note: str | None = None, by: int | None = 1) -> str:
    """Sing a note in the hall."""
    hall.add("songs", {"note": note, "by": by})
    return "sung"


def sing_to(whom: str | None) -> str:
    """Sing to somebody, or to nobody."""
    return f"{whom}"


HALL = Worlds(name="hall", tools=toolbox("hall", [sing_there]), tables={"songs": []})


@pytest.mark.parametrize(
    ("parts", "tool", "gold", "made"),
    [
        ({"tools": [sing]}, "sing", {}, {"note": None, "tone": None}),
        ({"tools": [sing]}, "sing", {"note": None}, {}),
        ({"tools": [sing]}, "sing", {"tone": "low", "by": None}, {"tone": "low", "by": None}),
        ({"tools": [sing_to]}, "sing_to", {"whom": None}, {"whom": None}),
        ({"environment": HALL}, "sing_there", {}, {"note": None}),
        ({"environment": HALL}, "sing_there", {"note": None}, {}),
        ({"environment": HALL}, "sing_there", {"by": None}, {"by": None}),
    ],
)
def test_null_is_a_value_where_the_type_has_it(
    parts: Any, tool: str, gold: Any, made: Any, tmp_path: Path
) -> None:
    def agent(request: str, tools: Any) -> str:
        found = {one.__name__: one for one in tools}
        return str(found[tool](**made))

    bench = seal.Benchmark("b", tasks=[seal.ask("Sing", seal.called(tool, **gold))], **parts)
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    assert (run["calls_right"].mean, run["pass_rate"].mean) == (1.0, 1.0)


def test_null_is_refused_where_the_type_has_it_not() -> None:
    def say(word: str = "la") -> str:
        """Say a word."""
        return word

    with pytest.raises(UsageError, match="expected type 'string', got None"):
        seal.Benchmark("b", tools=[say], tasks=[seal.ask("Say", seal.called("say", word=None))])

"""Tools made of functions."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

import seal
from seal.core import Tool, UsageError
from seal.environments.chat_world import World
from seal.environments.function_tools import NOT_GIVEN, NotGiven, fits, world_tool
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
        ({"times": 1.0}, "expected int, got float"),
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

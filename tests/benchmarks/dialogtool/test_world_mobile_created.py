"""The mobile whose answers come from functions that a model wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from mobiles import ALARMS, ROWS, TABLES, TOOLS, dialogue, write_recorded

from seal.benchmarks.dialogtool.api_code import rule_written
from seal.benchmarks.dialogtool.world import Mobile, Mobiles
from seal.core import Goal, Tool, ToolCall, ToolResult
from seal.environments.world import WorldSetup, build_worlds

pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")

LOOK = {"city": "Oakville", "cuisine": "Thai"}


def worlds(folder: Path, text: str | None = None) -> Mobiles:
    def creator(tool: Tool) -> str:
        return rule_written(tool) if text is None else text

    setup = WorldSetup(tools=TOOLS, folder=write_recorded(folder), creator=creator)
    built = build_worlds("mobile", setup)
    assert isinstance(built, Mobiles)
    return built


def call(built: Mobiles, tool_id: str, arguments: dict[str, object]) -> ToolResult:
    world = built.open(dialogue(Goal("Hello")), 0)
    assert isinstance(world, Mobile)
    world.begin(0)
    (result,) = world.call([ToolCall("call_0", TOOLS[tool_id].name, arguments, tool=tool_id)])
    return result


def test_a_created_function_answers(tmp_path: Path) -> None:
    result = call(worlds(tmp_path), TABLES, dict(LOOK))

    assert result.error is None
    assert result.value == [row for row in ROWS if LOOK.items() <= row.items()]


def test_a_function_that_fails_is_an_error_that_the_model_reads(tmp_path: Path) -> None:
    result = call(worlds(tmp_path, "def findrestaurants(table): return []"), TABLES, dict(LOOK))

    assert result.error is not None
    assert result.error["kind"] == "created_exception"
    assert "unexpected keyword argument" in result.content


def test_a_function_is_not_run_while_an_argument_is_missing(tmp_path: Path) -> None:
    result = call(worlds(tmp_path, "no Python"), TABLES, {"city": "Oakville", "cuisine": "?"})

    assert result.error is not None
    assert result.error["kind"] == "missing_argument"


def test_an_api_that_nobody_called_has_no_table(tmp_path: Path) -> None:
    setup = WorldSetup(tools=TOOLS, creator=rule_written)
    built = build_worlds("mobile", setup)
    assert isinstance(built, Mobiles)

    result = call(built, ALARMS, {})

    assert result.error is not None
    assert result.error["kind"] == "not_recorded"


def test_the_sandbox_is_part_of_the_identity(tmp_path: Path) -> None:
    identity = worlds(tmp_path).identity()

    assert identity["tools"] == "created"
    assert identity["sandbox"]["name"] == "monty"

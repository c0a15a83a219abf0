"""The simulator without a model: a schema-true, plausible answer, always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seal.core.canonical import digest
from seal.core.errors import SimulatorError
from seal.core.protocols import Response
from seal.core.text import sentences, words
from seal.core.types import JSON, Tool
from seal.simulator_cache.plausible import UnsatisfiableError, Writer
from seal.simulator_cache.shapes import response_schema, validator

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_ATTEMPTS = 8
_LISTS = {"list", "array", "lists"}
_NUMBERS = {"number", "integer", "int", "float", "amount", "count", "price", "temperature", "total"}
_BOOLEANS = {"boolean", "bool", "true", "false", "whether"}


class Template:
    """Answers from the tool's response shape or, where there is none, from its description.

    An answer depends on the tool's document, the arguments and the seed alone. Fields that are
    named like an argument repeat it. Safe in threads.

    Args:
        seed: Another seed gives other answers.
    """

    identity = "template/1"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._checkers: dict[str, tuple[Tool, Validator]] = {}

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return an answer that the tool's response schema accepts.

        Raises:
            SimulatorError: The schema admits no answer, or none that was found.
        """
        checker = self._checker(tool)
        seed = digest([self._seed, tool.id, arguments])
        reason = "no attempt passed its own schema"
        for attempt in range(_ATTEMPTS):
            sparse = attempt >= _ATTEMPTS // 2
            try:
                answer = Writer(checker, arguments, f"{seed}{attempt}", sparse).write()
            except UnsatisfiableError as error:
                reason = str(error)
                continue
            if checker.is_valid(answer):
                return Response(answer)
        raise SimulatorError(
            f"no answer fits the response schema of {tool.id} ({reason}); correct `returns` in"
            " tools.jsonl, or use another simulator: --simulator llm or recorded"
        )

    def _checker(self, tool: Tool) -> Validator:
        known = self._checkers.get(tool.id)
        if known is None or known[0] is not tool:
            schema = response_schema(tool.returns) or _described(tool)
            known = self._checkers[tool.id] = (tool, validator(schema))
        return known[1]


def _described(tool: Tool) -> dict[str, Any]:
    """Return a schema for a tool without a shape: its arguments again, and one result."""
    prose = tool.returns if isinstance(tool.returns, str) else tool.description
    sentence = next(iter(sentences(prose)), tool.name)[:200]
    arguments = tool.parameters.get("properties", {})
    echoed = {name: {"type": _all_types(p)} for name, p in arguments.items() if name != "result"}
    return {
        "type": "object",
        "properties": {**echoed, "result": _result(sentence)},
        "required": ["result"],
    }


def _all_types(parameter: JSON) -> JSON:
    kind = parameter.get("type") if isinstance(parameter, dict) else None
    return kind if kind in ("string", "integer", "number", "boolean", "array") else "string"


def _result(sentence: str) -> dict[str, Any]:
    said = set(words(sentence))
    text = {"type": "string", "examples": [sentence]}
    if said & _LISTS:
        return {"type": "array", "items": {"type": "string"}, "minItems": 1}
    if said & _BOOLEANS:
        return {"type": "boolean"}
    return {"type": "number"} if said & _NUMBERS else text

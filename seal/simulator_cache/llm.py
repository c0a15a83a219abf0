"""The simulator that asks a language model to stand in for the API.

Source: SEAL paper, section 3.2, and StableToolBench's server: documentation, up to five recorded
answers within 2,048 characters, JSON alone, at most three tries. Unlike StableToolBench's, the
examples come from recordings, not from the cache: an answer never depends on other entries.
"""

from __future__ import annotations

from typing import Any

import orjson

from seal.core import JSON, ChatModel, Message, Request, Response, Tool
from seal.core.text import shipped_text
from seal.core.values import derive_seed, digest, json_text, json_value
from seal.simulator_cache.answer_cache import OfTool
from seal.simulator_cache.recorded import RecordedAnswers, observed
from seal.simulator_cache.shapes import response_schema

TRIES = 3
MAX_TOKENS = 1024
MAX_EXAMPLES = 5
MAX_EXAMPLE_CHARACTERS = 2048
MOST_ITEMS = 2
"""Items of a list. Without a limit, a small model writes until its answer is cut off."""
LONGEST_TEXT = 120
"""Characters of a text, for the same reason. It does not change shorter answers."""
_TAKEN = ("type", "enum", "const")
"""Keywords that every server with schemas takes; it may refuse others."""


def shipped_simulator_prompt() -> str:
    """Return the prompt of the simulator that ships."""
    return shipped_text("seal.simulator_cache", "simulator_prompt.txt")


class LLM:
    """Answers by a language model.

    `prompt_digest` is a digest of the prompt and its limits.

    Args:
        model: The model; its errors (`ModelError`) pass through.
        name: The model's name and version, part of the identity.
        recorded: Real answers to show as examples; None: none are shown.
        seed: The seed of the run; each try has a seed of its own.
        prompt: Instead of ours; empty: ours.
    """

    def __init__(
        self,
        model: ChatModel,
        name: str,
        recorded: RecordedAnswers | None = None,
        seed: int = 0,
        prompt: str = "",
    ) -> None:
        self.identity = f"llm/{name}"
        self._model = model
        self._recorded = recorded
        self._seed = seed
        self._prompt = prompt or shipped_simulator_prompt()
        self._version = OfTool(lambda t: digest([self.prompt_digest, self._examples(t)])[:16])
        limits = [TRIES, MAX_TOKENS, MAX_EXAMPLES, MAX_EXAMPLE_CHARACTERS, MOST_ITEMS]
        self.prompt_digest = digest([self._prompt, limits])[:16]

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the model's answer, or after three useless ones an error that is not kept."""
        messages, schema = self._messages(tool, arguments), answer_schema(tool)
        reason = ""
        for attempt in range(TRIES):
            seed = derive_seed(self._seed, tool.id, arguments, attempt)
            request = Request(
                messages,
                role="simulator",
                seed=seed,
                max_tokens=MAX_TOKENS,
                json_object=True,
                json_schema=schema,
            )
            completion = self._model.complete(request)
            if completion.truncated:
                reason = "an answer that was cut at the limit of tokens"
                continue
            try:
                return _parsed(completion.content)
            except ValueError as error:
                reason = str(error)
        failure = f"The simulator gave no usable answer in {TRIES} tries: {reason}."
        return Response("", failure, cacheable=False, kind="simulator")

    def prompt_version(self, tool: Tool) -> str:
        """Return a digest of the prompt, its limits and the examples shown for the tool."""
        return self._version(tool)

    def _messages(self, tool: Tool, arguments: dict[str, JSON]) -> tuple[Message, ...]:
        given: dict[str, Any] = {
            "documentation": {
                "name": tool.name,
                "category": tool.category,
                "description": tool.description,
                "parameters": tool.parameters,
                "returns": tool.returns,
            },
            "real answers": self._examples(tool),
            "input": arguments,
        }
        shown = {name: value for name, value in given.items() if value or name == "input"}
        return Message("system", self._prompt), Message("user", json_text(shown))

    def _examples(self, tool: Tool) -> list[dict[str, JSON]]:
        """Return the first real answers that fit into the limits, in the order of arguments."""
        shown: list[dict[str, JSON]] = []
        left = MAX_EXAMPLE_CHARACTERS
        for answer in self._recorded.examples(tool.id) if self._recorded else []:
            example = {
                "input": answer.arguments,
                "output": {"error": "", "response": observed(answer.result).response},
            }
            size = len(json_text(example))
            if size <= left and len(shown) < MAX_EXAMPLES:
                shown.append(example)
                left -= size
        return shown


def _parsed(text: str) -> Response:
    """Return the answer that a model wrote.

    Raises:
        ValueError: It is not the JSON object that was asked for; the text says what it is.
    """
    try:
        value = json_value(text)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(value, dict) or value.keys() != {"error", "response"}:
        raise ValueError("not an object of error and response")
    if not isinstance(value["error"], str):
        raise ValueError("an error that is no text")
    if not value["error"] and value["response"] in (None, "", {}, []):
        raise ValueError("an empty response")
    return Response(value["response"], value["error"])


def answer_schema(tool: Tool) -> dict[str, JSON]:
    """Return the schema of {error, response}, in which the response has the documented shape.

    Args:
        tool: The tool that answers; without a documented shape the response is any object.
    """
    shape = _taken(response_schema(tool.returns))
    response = shape if shape else {"type": "object"}
    return _object({"error": {"const": ""}, "response": response})


def _taken(schema: Any) -> dict[str, JSON]:
    """Return the part of a schema that servers take; each known key must be there."""
    if not isinstance(schema, dict):
        return {}
    properties = schema.get("properties")
    if properties:
        return _object({name: _taken(of) for name, of in properties.items()})
    if "items" in schema:
        items = _taken(schema["items"])
        return {"type": "array", "items": items, "minItems": 1, "maxItems": MOST_ITEMS}
    taken = {keyword: schema[keyword] for keyword in _TAKEN if keyword in schema}
    return taken | {"maxLength": LONGEST_TEXT} if taken == {"type": "string"} else taken


def _object(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }

"""Scrambled tools: the same function under a document that says less.

A scrambled tool is a tool of its own: its id is the original's with `~` and what was scrambled, and
its `source` has `function`, the original's id, and `original`, the original's document. A call of
it runs the original (`originals`), so that results, simulated ones too, do not depend on how a tool
was presented.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from seal.core import JSON, Tool
from seal.pools.originals import FUNCTION, ORIGINAL
from seal.pools.reading.upstream_files import function_name

KEEPS = "keeps"
"""Under this name a tool's `source` lists the scramblings that do not touch it."""

_TYPE_WORDS = frozenset({"type", "format"})
_DESCRIPTION = frozenset({"description"})


class Scrambler:
    """Makes the scrambled tools of one pool.

    - names: `<category>_<k>`, where k is the tool's position among the sorted names of its
      category; `tool_<k>` where it has none.
    - descriptions: none, but that of a tool without arguments stays: nothing else tells it.
    - argument-descriptions: none.
    - argument-types: no type or format, at any depth; descriptions stay.

    Source: ToolSandbox, section 3.3, and what its code leaves of each tool.

    Args:
        tools: All tools that are counted for the names.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        by_category: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in tools:
            by_category[_plain_category(tool)].append(tool)
        self._names = {
            tool.id: f"{category}_{position}"
            for category, members in by_category.items()
            for position, tool in enumerate(sorted(members, key=lambda tool: (tool.name, tool.id)))
        }

    def scrambled(self, tool: Tool, what: Sequence[str]) -> Tool:
        """Return the scrambled tool; the tool itself where nothing would change.

        Args:
            tool: Of the pool.
            what: Of `SCRAMBLINGS`.
        """
        changed = tool
        kept = tool.source.get(KEEPS) or ()
        for part in what:
            if part not in kept:
                changed = self._without(changed, part)
        if changed == tool:
            return tool
        document = {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "source": tool.source,
        }
        return replace(
            changed,
            id="~".join([tool.id, *what]),
            source={**tool.source, FUNCTION: tool.id, ORIGINAL: document},
        )

    def _without(self, tool: Tool, part: str) -> Tool:
        if part == "names":
            return replace(tool, name=self._names[tool.id])
        if not tool.parameters.get("properties"):
            return tool
        if part == "descriptions":
            return replace(tool, description="")
        words = _DESCRIPTION if part == "argument-descriptions" else _TYPE_WORDS
        own = tool.parameters["properties"].items()
        properties = {name: _stripped(schema, words) for name, schema in own}
        return replace(tool, parameters={**tool.parameters, "properties": properties})


def _plain_category(tool: Tool) -> str:
    # 12 characters are left for the position.
    return function_name(tool.category)[-52:] if tool.category.strip() else "tool"


def _stripped(schema: JSON, words: frozenset[str]) -> JSON:
    """Return an argument's schema without these keywords, also in the schemas within it."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, JSON] = {}
    for word, value in schema.items():
        if word == "properties" and isinstance(value, Mapping):
            kept[word] = {name: _stripped(inner, words) for name, inner in value.items()}
        elif word in ("items", "additionalProperties"):
            kept[word] = _stripped(value, words)
        elif word in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            kept[word] = [_stripped(inner, words) for inner in value]
        elif word not in words:
            kept[word] = value
    return kept

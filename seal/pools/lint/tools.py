"""Tools that a retriever cannot tell apart, or that say nothing of themselves.

A description is judged by its words alone, whatever their case (`seal.core.text.words`); the first
that applies is found:

- empty: no letter and no digit, such as "" or "-";
- placeholder: nothing but words of `PLACEHOLDERS`;
- name: the words of the tool's own name, or of the service's and its own;
- short: at most `SHORT` characters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from seal.core.errors import shortened
from seal.core.text import words
from seal.core.types import Tool
from seal.pools.lint.findings import Finding
from seal.retrievers.documents import names

SHORT = 15
"""Characters of a short description, without blanks around it."""
PLACEHOLDERS = frozenset({
    "a", "api", "available", "bar", "default", "desc", "descr", "description", "dummy", "empty",
    "endpoint", "example", "foo", "function", "ipsum", "lorem", "method", "n", "na", "nil", "no",
    "none", "not", "null", "placeholder", "string", "tba", "tbd", "test", "testing", "tests",
    "text", "todo", "tool", "undefined", "unknown", "xxx",
})  # fmt: skip
"""Words that say nothing of what a tool does."""


def descriptions(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each tool whose description says little or nothing."""
    for tool in tools:
        kind = description_fault(tool)
        if kind is not None:
            told = shortened(tool.description)
            message = f"tool {tool.id!r}: the description is {told}"
            yield Finding(
                kind, message, tools=(tool.id,), evidence={"description": tool.description}
            )


def description_fault(tool: Tool) -> str | None:
    """Return the kind of finding that a tool's description is, or None."""
    told = words(tool.description)
    if not told:
        return "empty_description"
    if PLACEHOLDERS.issuperset(told):
        return "placeholder_description"
    service, api = names(tool)
    if told in (words(tool.name), words(api), words(f"{service} {api}")):
        return "name_description"
    return "short_description" if len(tool.description.strip()) <= SHORT else None


def duplicates(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each group of tools with one name and one description.

    The name is the API's own, as upstream has it; case and blanks do not count. Tools without a
    description count too: then their names alone are the same.
    """
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for tool in tools:
        groups[plain(names(tool).api), plain(tool.description)].append(tool.id)
    for (name, description), ids in groups.items():
        if len(ids) > 1:
            evidence = {"name": name, "description": description, "tools": len(ids)}
            message = f"{len(ids)} tools share the name {shortened(name)} and their description"
            yield Finding("duplicate_tool", message, tools=tuple(ids), evidence=evidence)


def plain(text: str) -> str:
    """Return a text as duplicates compare it: case folded, blanks collapsed."""
    return " ".join(text.casefold().split())

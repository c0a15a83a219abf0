"""Values of Java and JavaScript as code: the leaderboard's prompts ask for texts such as `5L`.

A text is taken as it stands: it may be such code, or the name of a variable. Any other JSON value
is written so that the leaderboard reads this very value back. So texts in a Java array have no
quotes, for its reader would keep them.
"""

from __future__ import annotations

from typing import Any

from seal.benchmarks.bfcl.tools import declared_type
from seal.core import JSON, Tool
from seal.core.plain import json_text

_SUFFIXES = {"long": "L", "float": "f"}


def as_code(tool: Tool, arguments: dict[str, JSON], language: str) -> dict[str, str]:
    """Return the arguments of a call as texts.

    Args:
        tool: That is called.
        arguments: Of the call.
        language: "java" or "javascript".
    """
    known = tool.parameters["properties"]
    return {
        name: value
        if isinstance(value, str)
        else _java(tool, name, value)
        if language == "java" and name in known
        else json_text(value)
        for name, value in arguments.items()
    }


def _java(tool: Tool, name: str, value: Any) -> str:
    kind, inner = declared_type(tool, name), declared_type(tool, f"{name}[]")
    if kind == "HashMap" and isinstance(value, dict):
        puts = (f'put("{key}", {json_text(item)});' for key, item in value.items())
        return f"new HashMap<>() {{{{ {' '.join(puts)} }}}}"
    if isinstance(value, list) and kind in ("Array", "ArrayList"):
        quoted = kind == "ArrayList" and inner in ("String", "char")
        items = ", ".join(
            item if isinstance(item, str) and not quoted else _number(item, inner) for item in value
        )
        listed = f"(Arrays.asList({items}))" if items else "()"
        return f"new Object[]{{{items}}}" if kind == "Array" else f"new ArrayList<>{listed}"
    return _number(value, kind)


def _number(value: JSON, kind: str) -> str:
    """Return a value with the suffix that its type has in Java."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return json_text(value) + (_SUFFIXES.get(kind, "") if number else "")

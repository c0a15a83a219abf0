"""ToolBench's rule for names: how upstream names become function and argument names.

Source: ToolBench, `standardize` and `change_name` of its inference code. Of the 928 recorded
ToolLLaMA-2 runs that join a query, 920 have function names of this rule alone; four leave out the
prefix of a leading digit (`bare_name`), and four pair some APIs with a wrong tool, which stay
unknown.
"""

from __future__ import annotations

import re
from functools import lru_cache

from seal.core.canonical import digest

NAME_LENGTH = 64
"""A function name keeps its last characters: as many as chat servers allow."""

_FOREIGN = re.compile("[^\u4e00-\u9fa5^a-zA-Z0-9_]")
_PREFIXED_TOOL = re.compile(r"_for_get_(?=\d)")
_REPEATED = re.compile("_+")
_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})


@lru_cache(maxsize=1 << 16)
def standardise(text: str) -> str:
    """Return a name in lower case of letters, digits, `_`, `^` and CJK characters.

    Anything else becomes `_`, repeated and outer `_` go, a leading digit gets the prefix `get_`.
    Empty where nothing is left.
    """
    name = _REPEATED.sub("_", _FOREIGN.sub("_", text)).lower().strip("_")
    return f"get_{name}" if name[:1].isdigit() else name


def unreserved(name: str) -> str:
    """Return the name, with the prefix `is_` where it is a reserved word (id, from...)."""
    return f"is_{name}" if name in _RESERVED else name


def tool_name(text: str) -> str:
    """Return a tool's name by the rule; where that is empty, one made from its digest."""
    return standardise(text) or f"unnamed_{digest(text)[:8]}"


def api_name(text: str) -> str:
    """Return an API's or argument's name by the rule."""
    return unreserved(tool_name(text))


def function_name(tool: str, api: str) -> str:
    """Return `API_for_TOOL`, its last 64 characters, from names by the rule."""
    return f"{api}_for_{tool}"[-NAME_LENGTH:]


def bare_name(name: str) -> str:
    """Return a function name without the prefix of its tool's leading digit."""
    return _PREFIXED_TOOL.sub("_for_", name)

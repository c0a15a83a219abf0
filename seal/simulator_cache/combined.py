"""One JSON Schema for what several ask of the same value."""

from __future__ import annotations

from typing import Any


def both(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that asks for both, as far as that can be said without `allOf`."""
    joined = {**left, **right}
    for keyword in ("properties", "$defs"):
        if keyword in left and keyword in right:
            mine, theirs = left[keyword], right[keyword]
            shared = {n: {"allOf": [mine[n], theirs[n]]} for n in mine.keys() & theirs.keys()}
            joined[keyword] = {**mine, **theirs, **shared}
    if "required" in left and "required" in right:
        joined["required"] = list(dict.fromkeys([*left["required"], *right["required"]]))
    if "type" in left and "type" in right:
        joined["type"] = _common_types(listed(left["type"]), listed(right["type"]))
    if "enum" in left and "enum" in right:
        joined["enum"] = [value for value in left["enum"] if value in right["enum"]]
    for keyword, choose in _TIGHTEN.items():
        if keyword in left and keyword in right:
            joined[keyword] = choose(left[keyword], right[keyword])
    return joined


_TIGHTEN = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def _common_types(left: list[str], right: list[str]) -> list[str]:
    common = [t for t in left if t in right or (t == "integer" and "number" in right)]
    return common or [t for t in right if t == "integer" and "number" in left]


def listed(value: Any) -> list[str]:
    """Return the types that a `type` keyword names."""
    return value if isinstance(value, list) else [value]

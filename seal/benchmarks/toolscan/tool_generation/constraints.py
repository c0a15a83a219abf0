"""Constraints as a description states them, and as a schema does.

English alone is read. Bounds are stated of numbers ("from 1 to 10", "at least 0"), of lengths ("at
most 80 characters") and of lists ("1 to 5 items"). Choices ("one of: a, b") and defaults ("default:
10") are stated too. The shape of a text is stated by its usual mark ("YYYY-MM-DD") or an example
("such as AB-12").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from seal.core.plain import json_text
from seal.core.statements import states
from seal.core.text import words

_NUMBER = r"(?<![\w.:/-])(-?\d+(?:,\d{3})*(?:\.\d+)?)(?![\d:/]|-\d|\.\d)"
_COUNTED = {
    "Length": r"(?:characters?|letters?|digits?)",
    "Items": r"(?:items?|entries|elements|values|of them)",
}
_UNIT = rf"(?:\s+(?P<unit>{'|'.join(_COUNTED.values())})\b)?"
_RANGE = re.compile(rf"(?:\bfrom\s+|\bbetween\s+)?{_NUMBER}\s+(?:to|and)\s+{_NUMBER}{_UNIT}", re.I)
_LEAST = re.compile(
    rf"\b(?:at least|no less than|no fewer than|minimum(?: of|:| is)?)\s+{_NUMBER}{_UNIT}", re.I
)
_MOST = re.compile(
    rf"\b(?:at most|no more than|up to|maximum(?: of|:| is)?)\s+{_NUMBER}{_UNIT}", re.I
)
_EXCLUSIVE = {
    "exclusiveMinimum": re.compile(
        rf"\b(?<!no )(?:more than|greater than|above)\s+{_NUMBER}", re.I
    ),
    "exclusiveMaximum": re.compile(rf"\b(?<!no )(?:less than|below|under)\s+{_NUMBER}", re.I),
    "multipleOf": re.compile(rf"\bmultiple of\s+{_NUMBER}", re.I),
}
_DEFAULT = re.compile(
    r"\bdefaults?(?:\s+to|\s+is|\s+value\s+is|\s*[:=])\s*"
    r"(?:(?P<exact>\"[^\"]*\"|'[^']*'|`[^`]*`|\[[^\]]*\])|(?P<value>.+?)(?=[,;)]|\.?\s*$|\.\s))",
    re.I,
)
_CHOICES = re.compile(
    r"\b(?:one|any|each) of(?::\s*|\s+(?=['\"`]))(?P<values>.+?)(?=[;()]|\.\s|\.?\s*$)", re.I
)
_DISTINCT = re.compile(r"\b(?:distinct|different|unique|no repeats?|not repeated)\b", re.I)
_EXAMPLE = re.compile(r"\b(?:such as|like|e\.g\.,?|for example,?)\s+(?P<value>[^\s,;)]+)", re.I)

_MARKS: dict[str, tuple[str, str]] = {
    "YYYY-MM-DD": ("2025-03-09", "09/03/2025"),
    "YYYY-MM-DD HH:MM": ("2025-03-09 09:30", "2025-03-09"),
    "YYYY-MM-DD HH:MM:SS": ("2025-03-09 09:30:00", "2025-03-09"),
    "YYYY-MM-DDTHH:MM:SS": ("2025-03-09T09:30:00", "2025-03-09"),
    "HH:MM": ("09:30", "9.30 am"),
    "HH:MM:SS": ("09:30:00", "9.30 am"),
    "ISO 4217": ("EUR", "Euro"),
    "ISO 3166": ("PT", "Portugal"),
}
"""How a description marks the shape of a text, with a text of that shape and one of another."""
_FORMATS: dict[str, tuple[str, ...]] = {
    "date": ("YYYY-MM-DD", "ISO 8601"),
    "date-time": ("ISO 8601", "RFC 3339", "YYYY-MM-DDTHH:MM"),
    "time": ("HH:MM", "ISO 8601"),
    "email": ("email", "e-mail"),
    "uri": ("URL", "URI", "link", "address", "addresses"),
    "uuid": ("UUID",),
    "ipv4": ("IPv4",),
    "ipv6": ("IPv6",),
}
"""JSON Schema's formats to the words of which one states it."""

_COMPARED = (
    *("enum", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
)
_NOTHING = frozenset({"", "empty", "blank", "none", "null", "no", "nothing", "all", "unlimited"})
"""Words that say that there is no default."""
_MEASURE = {"string": "string", "array": "array", "integer": "number", "number": "number"}


def stated(description: str, kind: str) -> dict[str, Any]:
    """Return the constraints that a description states of a value, by JSON Schema's keywords.

    Choices are given as the text that lists them, a default as its text.

    Args:
        description: Of the value.
        kind: The value's type.
    """
    found: dict[str, Any] = {}
    default = _DEFAULT.search(description)
    if default:
        found["default"] = (default["exact"] or default["value"]).strip().strip("'\"`")
    text = _DEFAULT.sub(" ", description)
    choices = _CHOICES.search(text)
    if choices:
        found["enum"] = choices["values"].strip()
        text = text[: choices.start()] + text[choices.end() :]
    for pattern, ends in ((_RANGE, ("min", "max")), (_LEAST, ("min",)), (_MOST, ("max",))):
        for match in pattern.finditer(text):
            bounds = map(_number, match.groups()[: len(ends)])
            found |= _bounds(kind, match["unit"], dict(zip(ends, bounds, strict=True)))
    for name, pattern in _EXCLUSIVE.items() if kind in ("integer", "number") else ():
        bound = pattern.search(text)
        if bound:
            found[name] = _number(bound[1])
    if kind == "array" and _DISTINCT.search(text):
        found["uniqueItems"] = True
    return found


def worded(
    schema: Mapping[str, Any], pick: Callable[[Sequence[str]], str] = lambda ways: ways[0]
) -> list[str]:
    """Return the sentences that state a schema's constraints, as `stated` reads them.

    The shape of a text is no part of them.

    Args:
        schema: Of a value.
        pick: Chooses one of several ways to say the same.
    """
    said = []
    if "enum" in schema:
        said.append(f"One of: {', '.join(map(_written, schema['enum']))}.")
    for ends, unit in (("imum", ""), ("Length", " characters"), ("Items", " items")):
        least, most = schema.get(f"min{ends}"), schema.get(f"max{ends}")
        if least is not None and most is not None:
            ways = [f"From {least} to {most}{unit}.", f"Between {least} and {most}{unit}."]
            said.append(pick(ways))
        elif least is not None:
            said.append(f"At least {least}{unit}.")
        elif most is not None:
            said.append(pick([f"At most {most}{unit}.", f"No more than {most}{unit}."]))
    if schema.get("uniqueItems"):
        said.append(pick(["All different.", "No repeats."]))
    if "default" in schema:
        default = _written(schema["default"])
        said.append(pick([f"Default: {default}.", f"Defaults to {default}."]))
    return said


def disagreements(
    description: str, schema: Mapping[str, Any], aside: Collection[str] = ()
) -> Iterator[str]:
    """Yield how a description and the schema of a value contradict each other, or one says more.

    Args:
        description: Description of the value; of what it is a part of if it has none of its own.
        schema: Of the value, in itself right.
        aside: Keywords that are not compared.
    """
    said = stated(description, str(schema.get("type")))
    for name in _COMPARED:
        told, held = said.get(name), schema.get(name)
        if name in aside or (told is None and held is None):
            continue
        if told is None and name == "enum":
            missing = [v for v in map(_written, held or ()) if not states(description, v)]
            if missing:
                yield f"the description does not name the choice {missing[0]!r}"
        elif told is None:
            yield f"the description does not state {name} {_written(held)}"
        elif held is None and not (name == "default" and _is_prose(told)):
            yield f"the description states {name} {_written(told)}, the schema does not"
        elif held is not None and not _same(name, told, held):
            wrong = f"the schema has {_written(held)}"
            yield f"the description states {name} {_written(told)}, {wrong}"
    if schema.get("type") == "string":
        yield from _shapes(description, schema)


def _shapes(description: str, schema: Mapping[str, Any]) -> Iterator[str]:
    pattern, form = schema.get("pattern"), schema.get("format")
    marks = [mark for mark in _MARKS if mark in description]
    marks = [mark for mark in marks if not any(mark in m and mark != m for m in marks)]
    named = (word for mark in _FORMATS.get(str(form), ()) for word in (mark, f"{mark}s"))
    if form in _FORMATS and not any(states(description, word) for word in named):
        yield f"the description does not state the format {form!r}"
    if pattern is None:
        for mark in marks:
            if form is None and "enum" not in schema:
                yield f"the description states the format {mark}, the schema no format or pattern"
        return
    for mark in marks:
        right, wrong = _MARKS[mark]
        if not re.search(pattern, right) or re.search(pattern, wrong):
            yield f"the description states the format {mark}, the pattern is {pattern!r}"
    if not marks and form not in _FORMATS:
        given = (m["value"].strip() for m in _EXAMPLE.finditer(description))
        examples = [example.strip("'\"`*.") for example in given]
        if not any(re.search(pattern, example) for example in examples):
            yield f"the description gives no example that fits the pattern {pattern!r}"


def _bounds(kind: str, unit: str | None, bounds: Mapping[str, float]) -> dict[str, float]:
    """Return bounds where they can be meant: of characters for texts, of items for lists."""
    counted = next(
        (name for name, p in _COUNTED.items() if unit and re.fullmatch(p, unit, re.I)), "imum"
    )
    meant = {"Length": "string", "Items": "array"}.get(counted, "number") == _MEASURE.get(kind)
    return {f"{end}{counted}": bound for end, bound in bounds.items()} if meant else {}


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _written(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json_text(value)


def _same(name: str, told: Any, held: Any) -> bool:
    if name == "enum":
        return _lists(told, [_written(value) for value in held])
    if name == "default":
        values = [told, told.split(" ")[0]]  # "10 results"
        return _plain(_written(held)) in map(_plain, values) or (held == "" and _is_prose(told))
    return bool(told == held)


def _lists(text: str, values: Sequence[str]) -> bool:
    """Tell whether a text names all of some values, and nothing else."""
    left = text.casefold()
    for value in sorted(values, key=len, reverse=True):
        found = re.search(rf"(?<!\w){re.escape(value.casefold())}(?!\w)", left)
        if found is None:
            return False
        left = f"{left[: found.start()]},{left[found.end() :]}"
    return not set(words(left)) - {"and", "or"}


def _is_prose(told: str) -> bool:
    """Tell whether a default is described, not named, so that no schema can hold it."""
    return " " in told or told.casefold() in _NOTHING


def _plain(value: str) -> str:
    """Return a value for comparison: numbers as such, whatever the case and the quotes."""
    text = re.sub(r"[\s'\"`]", "", value).casefold()
    try:
        return repr(float(text))
    except ValueError:
        return text

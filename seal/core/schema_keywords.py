"""Keywords of JSON Schema as SEAL asks them: exact, and in bounded time whatever the schema is.

A schema comes from strangers and a value from a model. So:

- patterns are asked in linear time (`matches`);
- a schema that references lead to again and again is asked once a value, not once a way there:
  twenty schemas, each a choice of the next and the next, are a million ways;
- `enum`, `const` and `uniqueItems` look values up instead of comparing each with each;
- `multipleOf` counts in decimals as they are written: 19.99 is a multiple of 0.01;
- a part that names a draft of its own (`$schema`) is asked like the rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from seal.core.types import JSON

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


@cache
def validator_class() -> Callable[..., Validator]:
    """Return the class of validators with these keywords; the rest is 2020-12 of jsonschema."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    keywords = {
        "$ref": _reference,
        "additionalProperties": _additional_properties,
        "const": _const,
        "enum": _enum,
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    }
    made: Any = extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call]
    found_by_parts = made.iter_errors

    def iter_errors(self: Any, instance: Any) -> Iterator[ValidationError]:
        asked = self if self.format_checker else self.evolve(format_checker=_asked_class()())
        yield from found_by_parts(asked, instance)

    made.evolve, made.iter_errors = _evolved, iter_errors
    whole: Callable[..., Validator] = made
    return whole


def _evolved(self: Any, **changes: Any) -> Any:
    """Return the validator of a part: of the same class, whatever `$schema` the part names."""
    kept = {
        "schema": self.schema,
        "format_checker": self.format_checker,
        "registry": self._registry,
        "_resolver": self._resolver,
    }
    return type(self)(**{**kept, **changes})


@cache
def _asked_class() -> Callable[[], FormatChecker]:
    """Return the class of what was found while one value is asked.

    It goes to every part of a validator as its checker of formats, of which it knows none.
    """
    from jsonschema import FormatChecker

    class Asked(FormatChecker):
        def __init__(self) -> None:
            super().__init__(formats=())
            self.references: dict[tuple[str, int], tuple[Any, list[ValidationError]]] = {}
            """Reference and identity of a value to the value and the first of its errors."""
            self.enums: dict[int, tuple[Any, frozenset[Hashable]]] = {}
            """Identity of the values of an `enum` to them and their keys."""

    return Asked


def _reference(
    validator: Any, reference: str, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Yield the errors of what a reference names, at most one if the value was asked before."""
    from jsonschema.exceptions import ValidationError

    known, key = validator.format_checker.references, (reference, id(value))
    if key in known:
        yield from (ValidationError.create_from(error) for error in known[key][1])
        return
    errors = list(validator._validate_reference(ref=reference, instance=value))
    known[key] = value, [ValidationError.create_from(error) for error in errors[:1]]
    yield from errors


def _pattern(
    validator: Validator, pattern: str, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for pattern, inner in patterns.items():
            for name in value:
                if matches(pattern, name):
                    yield from validator.descend(value[name], inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, wanted: Any, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(value, dict):
        return
    patterns = schema.get("patternProperties", {})
    further = [
        name
        for name in value
        if name not in schema.get("properties", {})
        and not any(matches(pattern, name) for pattern in patterns)
    ]
    if isinstance(wanted, dict):
        for name in further:
            yield from validator.descend(value[name], wanted, path=name)
    elif not wanted and further:
        told = ", ".join(repr(name) for name in sorted(further))
        verb = "was" if len(further) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({told} {verb} unexpected)")


def _const(
    validator: Validator, wanted: JSON, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if _key(value) != _key(wanted):
        yield ValidationError(f"{wanted!r} was expected")


def _enum(
    validator: Any, wanted: Sequence[JSON], value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    known = validator.format_checker.enums
    if id(wanted) not in known:
        known[id(wanted)] = wanted, frozenset(map(_key, wanted))
    if _key(value) not in known[id(wanted)][1]:
        yield ValidationError(f"{value!r} is not one of {wanted!r}")


def _unique_items(
    validator: Validator, wanted: bool, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if wanted and isinstance(value, list) and len(set(map(_key, value))) < len(value):
        yield ValidationError(f"{value!r} has non-unique elements")


def _key(value: JSON) -> Hashable:
    """Return what equal JSON values share, and no others: 1 is 1.0, and True is no number."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, dict):
        return dict, frozenset((name, _key(part)) for name, part in value.items())
    return (list, *map(_key, value)) if isinstance(value, list) else value


def _multiple_of(
    validator: Validator, step: float, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and (_as_written(value) / _as_written(step)).denominator != 1:
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _as_written(number: float) -> Fraction:
    """Return a number as its digits say: 0.1 is a tenth."""
    return Fraction(number if isinstance(number, int) else repr(number))


# -- Patterns of strangers, which schemas hold: asked without ever hanging.
#
#
# A schema comes from a file, a page of OpenAPI or a server of MCP, and the text from a model. So a
# pattern is read by RE2, in time linear in the text. RE2 has no look-around and no references back.
# A pattern that needs them is read by the package `regex`, which gives up after `LONGEST_S`
# seconds. `regex` writes out what is to be there n times; so a pattern that is too large when it is
# written out is none.
#
# JSON Schema (2020-12, section 6.4 of its core) wants the expressions of ECMA-262: `\d`, `\w` and
# `\s` mean ASCII, `\p{L}` and `\u00e9` are known, and a pattern may match anywhere in the text.

LONGEST_S = 1.0
"""Seconds that a pattern beyond RE2 may take for one text; what takes longer does not match."""
_LONGEST = 10_000
"""Characters of a pattern; a longer one is none."""
_LARGEST = 100_000
"""Parts of a pattern when each is written as often as it is to be there; a larger one is none."""
_CODE = re.compile(r"\\(?:(\\)|u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4}))")
"""A character by its number as ECMA-262 writes it, and what only looks so: an escaped stroke."""
_PART = re.compile(
    r"\\."  # an escaped character
    r"|\[\^?\]?(?:\\.|\[:[\w &./^-]*(?:[:=][\w &./-]*)?:\]|[^\]\\])*\]?"  # a class
    r"|\{(?P<least>\d+)(?:,\d*)?\}|\{,\d*\}"  # how often what stands before it is to be there
    r"|(?P<comment>\(\?#[^)]*\)?)"
    r"|(?P<foreign>\(\?[a-zA-Z0-9-]*[xV])"  # flags by which a pattern is read otherwise
    r"|.",
    re.DOTALL,
)
"""A part of a pattern, as `regex` reads it."""


def is_pattern(value: Any) -> bool:
    """Tell whether a value is a regular expression that can be asked."""
    return isinstance(value, str) and matcher(value) is not None


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern matches anywhere in a text.

    Args:
        pattern: What is no pattern matches everything: a broken part of a schema accepts anything.
        text: Of a model or a file.
    """
    found = matcher(pattern)
    return found is None or found(text)


@lru_cache(maxsize=1 << 12)
def matcher(pattern: str) -> Callable[[str], bool] | None:
    """Return what tells of a text whether the pattern matches in it; None: it is no pattern."""
    if len(pattern) > _LONGEST:
        return None
    import re2

    standard = _CODE.sub(lambda m: m[0] if m[1] else f"\\x{{{m[2] or m[3]}}}", pattern)
    options = re2.Options()
    options.log_errors = False
    try:
        linear = re2.compile(standard, options)
    except (re2.error, UnicodeEncodeError):
        return _bounded(pattern)
    return lambda text: linear.search(_encodable(text)) is not None


def _bounded(pattern: str) -> Callable[[str], bool] | None:
    import regex

    if _written_out(pattern) > _LARGEST:
        return None
    try:
        compiled = regex.compile(pattern, regex.ASCII if pattern.isascii() else 0)
    except (regex.error, RecursionError, OverflowError, ValueError):
        return None

    def found(text: str) -> bool:
        try:
            return compiled.search(text, timeout=LONGEST_S) is not None
        except TimeoutError:
            return False

    return found


def _written_out(pattern: str) -> float:
    """Return how many parts a pattern has when each is written as often as it is to be there.

    Infinite where it cannot be told: ECMA-262 has no flags by which a pattern is read otherwise.
    """
    around: list[int] = []
    """Sizes before each group that is open."""
    size, last = 0, 0
    """Of what was read of the innermost group but its last part, and of that part."""
    for part in _PART.finditer(pattern):
        if part["foreign"]:
            return math.inf
        if part["least"]:
            times = int(part["least"].lstrip("0")[:9] or 1)
            last = min(last * times, _LARGEST + 1)
        elif part[0] == "(":
            around.append(size + last)
            size, last = 0, 0
        elif part[0] == ")":
            size, last = around.pop() if around else 0, max(size + last, 1)
        elif part[0] not in "?*+" and not part["comment"] and not part[0].startswith("{,"):
            size, last = size + last, 1
    return size + last + sum(around)


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which RE2 cannot read."""
    return text.encode("utf-8", "replace").decode()

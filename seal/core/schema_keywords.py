"""Keywords of JSON Schema as SEAL asks them: exact, and in bounded time whatever the schema is.

A schema comes from strangers and a value from a model. So:

- patterns are asked by `seal.core.patterns`;
- a schema that references lead to again and again is asked once a value, not once a way there:
  twenty schemas, each a choice of the next and the next, are a million ways;
- `enum`, `const` and `uniqueItems` look values up instead of comparing each with each;
- `multipleOf` counts in decimals as they are written: 19.99 is a multiple of 0.01;
- a part that names a draft of its own (`$schema`) is asked like the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from seal.core.patterns import matches
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

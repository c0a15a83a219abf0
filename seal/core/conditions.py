"""What a gold step asks of a message: plain data with a similarity.

An open set: a condition is a frozen dataclass that subclasses `Condition`; its field `kind`, by
which a record names it, is the class's name in snake_case. Its `similarity(step, reached)` is in
[0, 1]; `reached` maps the positions of earlier milestones to the steps that reached them, -1 to the
first step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar

from seal.core.canonical import equal
from seal.core.errors import first_fault

if TYPE_CHECKING:
    from seal.core.types import Step

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Condition:
    """Base of all conditions."""

    __slots__ = ()
    known: ClassVar[dict[str, type[Condition]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kind = _CAMEL.sub("_", cls.__name__).lower()
        if "kind" not in get_annotations(cls):
            raise TypeError(
                f"condition {cls.__name__} has no field `kind`, without which no record names it; "
                f'add: kind: str = field(default="{kind}", init=False)'
            )
        # A slotted dataclass is made twice; the second class takes the first one's place.
        Condition.known[kind] = cls

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return how well the step meets the condition, in [0, 1]."""
        raise TypeError(f"{type(self).__name__} does not say how it measures a step")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Decode by `kind`, so that a plug-in's conditions are read like ours."""
        if cls is not Condition:
            return handler(source)
        from pydantic import TypeAdapter, ValidationError
        from pydantic_core import PydanticCustomError, core_schema

        adapters: dict[str, TypeAdapter[Any]] = {}

        def decode(value: Any) -> Condition:
            if isinstance(value, Condition):
                return value
            kind = value.get("kind") if isinstance(value, dict) else None
            if not isinstance(kind, str) or kind not in Condition.known:
                known = ", ".join(sorted(Condition.known))
                raise PydanticCustomError("kind", "no condition kind; known: {k}", {"k": known})
            if kind not in adapters:
                adapters[kind] = TypeAdapter(Condition.known[kind])
            fields = {name: item for name, item in value.items() if name != "kind"}
            try:
                decoded: Condition = adapters[kind].validate_python(fields)
            except ValidationError as error:
                fault = f"{kind}: {first_fault(error)}"
                raise PydanticCustomError("fields", "{fault}", {"fault": fault}) from error
            return decoded

        return core_schema.no_info_plain_validator_function(decode)


@dataclass(frozen=True, slots=True)
class Argument:
    """Values that a gold argument accepts."""

    values: tuple[Any, ...]
    """JSON values, any of them right; the first is the one that the oracle gives."""
    optional: bool = False
    """True: may be left out."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value equals one of the accepted ones (`seal.core.canonical.equal`)."""
        return any(equal(value, accepted) for accepted in self.values)


@dataclass(frozen=True, slots=True)
class Called(Condition):
    """A call of one tool."""

    tool: str
    """Tool id."""
    arguments: dict[str, Argument] | None = None
    """None: any arguments."""
    kind: str = field(default="called", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for a call of the tool with exactly accepted arguments, else 0."""
        call = step.call
        if call is None or call.tool != self.tool:
            return 0.0
        return float(self.accepts(call.arguments))

    def accepts(self, arguments: dict[str, Any] | None) -> bool:
        """Tell whether names and values are right: none missing but optional ones, none besides."""
        if self.arguments is None:
            return True
        if arguments is None or not arguments.keys() <= self.arguments.keys():
            return False
        return all(
            gold.accepts(arguments[name]) if name in arguments else gold.optional
            for name, gold in self.arguments.items()
        )

    def canonical_arguments(self) -> dict[str, Any]:
        """Return the arguments that the oracle gives: each required one's first accepted value."""
        gold = self.arguments or {}
        return {name: a.values[0] for name, a in gold.items() if not a.optional and a.values}


@dataclass(frozen=True, slots=True)
class Asked(Condition):
    """A question to the user, such as for a missing argument."""

    about: tuple[str, ...] = ()
    """Words of which at least one must occur; empty: any question."""
    kind: str = field(default="asked", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for a text to the user that asks, else 0."""
        text = step.content.casefold()
        asks = step.call is None and step.result is None and ("?" in text or "\uff1f" in text)
        named = not self.about or any(word.casefold() in text for word in self.about)
        return float(asks and named)


@dataclass(frozen=True, slots=True)
class Replied(Condition):
    """A reply to the user that states something."""

    states: tuple[str, ...] = ()
    """Texts that must all occur, whatever their case; empty: any reply."""
    kind: str = field(default="replied", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the share of the texts that the reply has; with no texts, 1 for any reply."""
        if step.call is not None or step.result is not None or not step.content.strip():
            return 0.0
        text = step.content.casefold()
        if not self.states:
            return 1.0
        return sum(state.casefold() in text for state in self.states) / len(self.states)

"""What a gold step asks of one message: a call, a question, a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seal.core.canonical import equal
from seal.core.conditions.base import OfTheStepAlone

if TYPE_CHECKING:
    from seal.core.types import Step


@dataclass(frozen=True, slots=True)
class Argument:
    """Values that a gold argument accepts.

    Example:
        >>> import seal
        >>> city = seal.Argument(("Rome", "Roma"))
        >>> gold = seal.called("get_weather", city=city, days=seal.Argument((1,), optional=True))
        >>> gold.accepts({"city": "Roma"}), gold.accepts({"city": "Oslo"})
        (True, False)
    """

    values: tuple[Any, ...] | None
    """JSON values, any of them right; the first is the one that the oracle gives. None: whatever is
    given is right."""
    optional: bool = False
    """True: may be left out. An optional one without values can only be left out."""

    @property
    def listed(self) -> tuple[Any, ...]:
        """The values; none where any is right."""
        return self.values or ()

    def accepts(self, value: Any) -> bool:
        """Tell whether the value equals one of the accepted ones (`seal.core.canonical.equal`)."""
        return self.values is None or any(equal(value, accepted) for accepted in self.values)


@dataclass(frozen=True, slots=True)
class Called(OfTheStepAlone):
    """A call of one tool.

    Example:
        >>> import seal
        >>> gold = seal.called("get_order", order_id="7")
        >>> gold.accepts({"order_id": "7"}), gold.accepts({"order_id": "8"}), gold.accepts({})
        (True, False, False)
    """

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
class Asked(OfTheStepAlone):
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
class Replied(OfTheStepAlone):
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

"""What a gold step asks of one message: a call, a question, words.

A step is also a row of the table `message`: who says what to whom. The roles of the agent
(orchestrator, planner, execution manager, verifier, checker and others) are one party there, for a
user sees but one agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seal.core.canonical import equal
from seal.core.conditions.condition import Condition, OfTheStepAlone
from seal.core.errors import UsageError, shortened
from seal.core.plain import json_bytes, loss_of
from seal.core.signatures import checked_names

if TYPE_CHECKING:
    from seal.core.types import Step, ToolCall


@checked_names
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

    def __post_init__(self) -> None:
        if self.values is None:
            return
        if isinstance(self.values, list):
            object.__setattr__(self, "values", tuple(self.values))
        if not isinstance(self.values, tuple):
            raise UsageError(
                f"Argument({shortened(self.values)}): expected a list of right values; "
                f"give Argument([{shortened(self.values)}])"
            )
        if all(type(value) is str and value.isascii() for value in self.values):
            return
        lost = loss_of(self.values, large=True)  # as upstream's gold may be
        try:
            json_bytes(self.values)
        except TypeError as error:
            lost = str(error)
        if lost:
            raise UsageError(
                f"Argument({shortened(self.values)}): {lost}, which JSON cannot hold; "
                "give values that a call can have"
            )

    @property
    def listed(self) -> tuple[Any, ...]:
        """The values; none where any is right."""
        return self.values or ()

    def accepts(self, value: Any) -> bool:
        """Tell whether the value equals one of the accepted ones (`seal.core.canonical.equal`)."""
        return self.values is None or any(equal(value, accepted) for accepted in self.values)


@checked_names
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

    @classmethod
    def exact(cls, tool: str, arguments: Mapping[str, Any]) -> Called:
        """Return a call of a tool by its id, with these values alone as its arguments."""
        return cls(tool, {name: Argument((value,)) for name, value in arguments.items()})

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


def parts(condition: Condition) -> tuple[Condition, ...]:
    """Return the conditions of which a milestone's consists, in order."""
    return condition.parts()


MESSAGE = "message"
"""Name of the table that holds one step as its only row."""
AGENT = "agent"
USER = "user_simulator"
EXECUTOR = "executor"
SYSTEM = "system"
_OTHERS = frozenset({USER, EXECUTOR, SYSTEM})


def party(role: str) -> str:
    """Return the party that a role belongs to: itself, or the agent."""
    return role if role in _OTHERS else AGENT


def takes_turn(author: str, recipient: str) -> bool:
    """Tell whether a message begins a turn, with which the clock of a world moves on.

    Messages of the user do, and those of whoever answers to the user or calls the executor.
    """
    return author == USER or (author != EXECUTOR and recipient in (USER, EXECUTOR))


def calls_of(step: Step) -> list[dict[str, Any]] | None:
    """Return what really ran and brought no error: {tool, arguments, result}; None: nothing did."""
    result = step.result
    if result is None or result.error is not None or result.executed is None:
        return None
    executed = result.executed
    return [{"tool": executed.tool, "arguments": executed.arguments, "result": result.value}]


def _content(step: Step) -> str:
    if step.content or step.call is None:
        return step.content or (step.result.content if step.result else "")
    return _written(step.call)


def _written(call: ToolCall) -> str:
    """Return a call as text: the tool's own name, whatever the model was shown, and arguments."""
    name = call.tool.rpartition("/")[2].partition("~")[0] if call.tool else call.name
    if call.arguments is None:
        return f"{name}({call.raw})"
    given = (f"{key}={json.dumps(v, ensure_ascii=False)}" for key, v in call.arguments.items())
    return f"{name}({', '.join(given)})"


def _call_id(step: Step) -> str | None:
    if step.call is not None:
        return step.call.id
    return None if step.result is None else step.result.call_id


def _error(step: Step) -> str | None:
    error = None if step.result is None else step.result.error
    return None if error is None else str(error.get("message", error))


COLUMNS: Mapping[str, Callable[[Step], Any]] = {
    "author": lambda step: party(step.author),
    "recipient": lambda step: party(step.recipient),
    "content": _content,
    "calls": calls_of,
    "call_id": _call_id,
    "name": lambda step: None if step.call is None else step.call.name,
    "error": _error,
}
"""Column of the table `message` to how it is read off a step."""


def message_row(step: Step, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return those columns of a step as there are."""
    return {name: COLUMNS[name](step) for name in columns if name in COLUMNS}


@dataclass(frozen=True, slots=True)
class Told(OfTheStepAlone):
    """A message of the agent to its user that states something.

    A text is stated as a value is (`seal.core.statements`): 40,000 is 40000, and "1 Sept" is
    September 1; what is denied, doubted or asked is not stated.
    """

    all_of: tuple[str, ...] = ()
    """Texts that must all be stated."""
    any_of: tuple[str, ...] = ()
    """Texts of which one must be stated; empty: none need."""
    kind: str = field(default="told", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the share of `all_of` that the message states, 0 where it states no `any_of`.

        0 for what is no message of the agent to the user, or has no word; without texts 1.
        """
        if not tells_user(step):
            return 0.0
        from seal.core.statements import statement

        def told(text: str) -> bool:
            return statement(step.content, text) == "stated"

        if self.any_of and not any(map(told, self.any_of)):
            return 0.0
        return sum(map(told, self.all_of)) / len(self.all_of) if self.all_of else 1.0


_LACKS = re.compile(r"\b(?:(?:do|have|did|is|are)(?: not|n't)|nothing|nobody|missing|need)\b")


@dataclass(frozen=True, slots=True)
class Refused(OfTheStepAlone):
    """A message of the agent to its user that refuses, or asks for what it lacks, and names that.

    What refuses and asks says `seal.core.speech`.
    """

    for_want_of: tuple[str, ...] = ()
    """Words of which one must occur, whole; empty: none need."""
    kind: str = field(default="refused", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for such a message, else 0."""
        if not tells_user(step):
            return 0.0
        from seal.core.speech import reading, says_cannot

        text = " ".join(step.content.replace("\u2019", "'").casefold().split())
        refuses = reading(text) in ("asks", "refuses") or says_cannot(text) or _LACKS.search(text)
        named = (
            re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text)
            for word in self.for_want_of
        )
        return float(bool(refuses) and (not self.for_want_of or any(named)))


def tells_user(step: Step) -> bool:
    """Tell whether a step is a message of the agent to its user that has a word."""
    return party(step.author) == AGENT and step.recipient == USER and bool(step.content.strip())

"""What gold asks of one message.

`Called`, `Asked`, `Replied`, `Told` and `Refused`, and what every condition keeps to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar

from seal.core.errors import UsageError, first_fault, shortened
from seal.core.settings import checked_names
from seal.core.values import equal, json_bytes, loss_of

if TYPE_CHECKING:
    from seal.core.types import Step, ToolCall


# -- What every condition has: a kind, by which a record names it, and a similarity.

Match = str
"""Rules of measuring: `CLEAN`, which are ours, or the name of published rules. All published ones
measure as ToolSandbox's evaluator does, with all its surprises (`seal.core.state_conditions`)."""
CLEAN = "clean"
FIRST = -1
"""Position that stands for the first step of the chat, as if a milestone had been reached there."""
LAST = -2
"""Position that stands for the last step of the chat."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _kind_of(name: str) -> str:
    """Return the kind of a condition's class: its name in snake_case."""
    return _CAMEL.sub("_", name).lower()


ELSEWHERE = {
    "seal.core.state_conditions": [
        *("AllOf", "DependsOn", "StateHas", "StateUnchanged", "Unconfirmed", "Untrue")
    ],
}
"""Module to its conditions. It is imported when a record first names one of them."""
_HOMES = {_kind_of(name): module for module, names in ELSEWHERE.items() for name in names}


class Condition:
    """Base of all conditions."""

    __slots__ = ()
    known: ClassVar[dict[str, type[Condition]]] = {}

    def __init_subclass__(cls, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if abstract:
            return
        kind = _kind_of(cls.__name__)
        if "kind" not in get_annotations(cls):
            raise TypeError(
                f"condition {cls.__name__} has no field `kind`, without which no record names it; "
                f'add: kind: str = field(default="{kind}", init=False)'
            )
        # A slotted dataclass is made twice; the second class takes the first one's place.
        other = Condition.known.get(kind, cls)
        home = _HOMES.get(kind, other.__module__)
        if (home, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(
                f"condition {cls.__module__}.{cls.__qualname__} has the kind {kind!r} of "
                f"{home}.{other.__qualname__}; rename the class"
            )
        Condition.known[kind] = cls

    @staticmethod
    def kinds() -> dict[str, type[Condition]]:
        """Return all that records may name, by kind."""
        for module in ELSEWHERE:
            import_module(module)
        return Condition.known

    def parts(self) -> tuple[Condition, ...]:
        """Return the conditions of which this one consists, in order; itself where it is one."""
        return (self,)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return how well the step meets the condition, in [0, 1].

        Args:
            step: The message. Where a milestone plan is matched, its `state` holds all tables after
                it, not only those that changed.
            reached: Position of each earlier milestone to the step that reached it; -1 to the first
                step, and where a plan is matched -2 to the last.
        """
        raise TypeError(f"{type(self).__name__} does not say how it measures a step")

    def under(self, match: Match) -> Condition:
        """Return the same condition measured by other rules; itself where it has only one kind."""
        return self

    def among(self, steps: Sequence[Step]) -> Condition:
        """Return the condition for a chat, of which these are all steps; itself by default.

        A condition on what came before a step finds it here: `similarity` is given single steps.
        """
        return self

    def references(self) -> frozenset[int] | None:
        """Return the positions of `reached` that the similarity reads; None: it may read all."""
        return None

    def looks_at(self, step: Step, reached: Mapping[int, Step]) -> Hashable:
        """Return what the similarity depends on: where it is equal, so is the similarity.

        By default the positions of the step and of all earlier ones. Only good while the steps
        live, for it may hold the identity of their tables.
        """
        return step.index, *sorted((p, earlier.index) for p, earlier in reached.items())

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
            if not isinstance(kind, str) or kind not in {**Condition.known, **_HOMES}:
                known = ", ".join(sorted(Condition.kinds()))
                raise PydanticCustomError("kind", "no condition kind; known: {k}", {"k": known})
            if kind not in adapters:
                if kind not in Condition.known:
                    import_module(_HOMES[kind])
                adapters[kind] = TypeAdapter(Condition.known[kind])
            fields = {name: item for name, item in value.items() if name != "kind"}
            try:
                decoded: Condition = adapters[kind].validate_python(fields)
            except ValidationError as error:
                fault = f"{kind}: {first_fault(error)}"
                raise PydanticCustomError("fields", "{fault}", {"fault": fault}) from error
            return decoded

        return core_schema.no_info_plain_validator_function(decode)


class OfTheStepAlone(Condition, abstract=True):
    """Base of conditions that read no other step and no table."""

    __slots__ = ()

    def references(self) -> frozenset[int]:
        """Return no position."""
        return frozenset()

    def looks_at(self, step: Step, reached: Mapping[int, Step]) -> Hashable:
        """Return the position of the step."""
        return step.index


@dataclass(frozen=True)  # a slotted one is made twice, the second time without `abstract`
class AtSteps(OfTheStepAlone, abstract=True):
    """What a condition on earlier steps comes to in one chat: 1 at some of its steps, else 0."""

    indices: frozenset[int]
    """`Step.index` of each."""

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 at these steps, else 0."""
        return float(step.index in self.indices)


# -- What a gold step asks of one message: a call, a question, words.
#
# A step is also a row of the table `message`: who says what to whom. The roles of the agent
# (orchestrator, planner, execution manager, verifier, checker and others) are one party there, for
# a user sees but one agent.


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
        """Tell whether the value equals one of the accepted ones (`seal.core.values.equal`)."""
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

"""What gold asks of one message.

`Called`, `Asked` and `Replied`, and what every condition keeps to.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from importlib import import_module
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from seal.core.errors import UsageError, first_fault, shortened
from seal.core.settings import checked_names
from seal.core.values import alike, json_bytes, loss_of

if TYPE_CHECKING:
    from seal.core.types import Step, Tool, Trajectory


# -- What every condition has: a kind, by which a record names it, and a similarity.

Match = str
"""Rules of measuring: `CLEAN`, which are ours, or the name of published rules. All published ones
measure as ToolSandbox's evaluator does, with all its surprises (`seal.core.state_conditions`)."""
CLEAN = "clean"
FIRST = -1
"""Position that stands for the first step of the chat, as if a milestone had been reached there."""
LAST = -2
"""Position that stands for the last step of the chat."""

STRICT: Mapping[str, str] = {"extra": "forbid"}
"""How gold is read: a record with a key that nobody knows is refused, for gold that passes over it
would ask for less."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _kind_of(name: str) -> str:
    """Return the kind of a condition's class: its name in snake_case."""
    return _CAMEL.sub("_", name).lower()


ELSEWHERE = {
    "seal.core.state_conditions": [
        *("AllOf", "CallRefused", "DependsOn", "EndsAs", "FinalState"),
        *("Refused", "StateHas", "StateUnchanged", "Told", "Unconfirmed", "Untrue"),
    ],
}
"""Module to its conditions. It is imported when a record first names one of them."""
_HOMES = {_kind_of(name): module for module, names in ELSEWHERE.items() for name in names}


class Condition:
    """Base of all conditions."""

    __slots__ = ()
    known: ClassVar[dict[str, type[Condition]]] = {}
    __pydantic_config__ = STRICT

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

    def of_tools(self, tools: Mapping[str, Tool]) -> Condition:
        """Return the same condition, which knows the tools; itself where it asks nothing of them.

        Args:
            tools: By id.
        """
        return self

    def in_chat(self, chat: Trajectory, goal: int) -> Condition:
        """Return the condition with what the run recorded of it in a chat; itself by default.

        Args:
            chat: What was said and done for the task.
            goal: Position of the goal whose gold it is.

        Raises:
            DataError: The run recorded nothing that it could be measured by.
        """
        return self

    def left_texts(
        self, state: Mapping[str, Any]
    ) -> Iterator[tuple[list[str], str, Mapping[str, Any]]]:
        """Yield each text that a chat left in a table, with its row, after those that gold has.

        None by default.

        Args:
            state: Table to its rows at the end of the chat.
        """
        yield from ()

    def gold_calls(self) -> tuple[Called, ...]:
        """Return the calls by which it is met, in their order; none where it does not say how."""
        return ()

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
        from pydantic_core import PydanticCustomError, ValidationError, core_schema

        from seal.core.records import validator

        def decode(value: Any) -> Condition:
            if isinstance(value, Condition):
                return value
            kind = value.get("kind") if isinstance(value, dict) else None
            if not isinstance(kind, str) or kind not in {**Condition.known, **_HOMES}:
                known = ", ".join(sorted(Condition.kinds()))
                raise PydanticCustomError("kind", "no condition kind; known: {k}", {"k": known})
            if kind not in Condition.known:
                import_module(_HOMES[kind])
            fields = {name: item for name, item in value.items() if name != "kind"}
            try:
                its: Any = Condition.known[kind]
                decoded: Condition = validator(its).validate_python(fields)
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


class AnyArguments:
    """What is right whatever it is: `seal.ANY` alone.

    Example:
        >>> import seal
        >>> seal.called("now", seal.ANY).accepts({"zone": "UTC"})
        True
        >>> gold = seal.called("find", city=seal.ANY)
        >>> gold.accepts({"city": "Bern"}), gold.accepts({})
        (True, False)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "seal.ANY"

    def __reduce__(self) -> str:
        return "ANY"


ANY: Final = AnyArguments()
"""Whatever is given is right: any arguments, `seal.called("now", seal.ANY)`, or any value of one,
`seal.called("find", city=seal.ANY)`."""


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
    __pydantic_config__ = STRICT

    def __post_init__(self) -> None:
        given: Any = self.values
        if given is ANY:
            object.__setattr__(self, "values", None)
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
        lost = loss_of(self.values)
        if not lost and (record := record_in(self.values)):
            raise UsageError(
                f"Argument({shortened(self.values)}): {record} within a value, which no call can "
                "mean; write each right value as a whole, such as Argument(([1], [2]))"
            )
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
        """Tell whether the value is one of the accepted ones (`seal.core.values.alike`)."""
        return self.values is None or any(alike(value, accepted) for accepted in self.values)


def record_in(values: Any) -> str:
    """Return what of values is no JSON but a record, such as an `Argument`; empty: nothing.

    Args:
        values: Lists and maps that do not hold themselves.
    """
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, tuple)):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif is_dataclass(value) or isinstance(value, AnyArguments):
            return f"the record {shortened(value)}"
    return ""


_LEFT_OUT = Argument((), optional=True)

ArgumentFault = Literal["missing", "unexpected", "value"]
"""What is wrong with an argument of a call: gold requires it, does not have it, or accepts another
value."""


class OfATool(OfTheStepAlone, abstract=True):
    """Base of conditions on calls of one tool, which may know its schema."""

    __slots__ = ("_schema",)
    _schema: Mapping[str, Any]


@checked_names
@dataclass(frozen=True, slots=True)
class Called(OfATool):
    """A call of one tool.

    Example:
        >>> import seal
        >>> gold = seal.called("get_order", order_id="7")
        >>> gold.accepts({"order_id": "7"}), gold.accepts({"order_id": "8"}), gold.accepts({})
        (True, False, False)
        >>> seal.called("now").accepts({}), seal.called("now").accepts({"zone": "UTC"})
        (True, False)
        >>> seal.called("now", seal.ANY).accepts({"zone": "UTC"})
        True
    """

    tool: str
    """Tool id."""
    arguments: dict[str, Argument] | None = None
    """Name of each argument to its accepted values; empty: none is right. None: any arguments."""
    kind: str = field(default="called", init=False)
    refused: ClassVar[bool] = False
    """Whether the call is to fail (`seal.core.state_conditions.CallRefused`)."""

    @classmethod
    def exact(cls, tool: str, arguments: Mapping[str, Any]) -> Called:
        """Return a call of a tool by its id, with these values alone as its arguments."""
        return cls(tool, {name: Argument((value,)) for name, value in arguments.items()})

    def of_tools(self, tools: Mapping[str, Tool]) -> Called:
        """Return the same call, which knows the schema of its tool, if that is there.

        So an argument that has the tool's default and one that is left out are one value, in gold
        and in the call. So are members of maps within arguments. The schema is no part of the
        record: it is not written or compared.
        """
        from seal.core.schema_faults import has_defaults

        if self.arguments is None or self.tool not in tools:
            return self
        if not has_defaults(tools[self.tool].parameters):
            return self
        known = replace(self)
        object.__setattr__(known, "_schema", tools[self.tool].parameters)
        return known

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
        return arguments is not None and not self.faults(arguments)

    def faults(self, arguments: Mapping[str, Any]) -> dict[str, ArgumentFault]:
        """Return what is wrong with arguments by name: first those missing, then as they stand.

        Where the tool's schema is known (`of_tools`), nothing is wrong that its defaults make
        right.
        """
        gold = {} if self.arguments is None else self.arguments
        found: dict[str, ArgumentFault] = {
            name: "missing"
            for name, argument in gold.items()
            if name not in arguments and not argument.optional
        }
        for name, value in arguments.items() if self.arguments is not None else ():
            if name not in gold:
                found[name] = "unexpected"
            elif not gold[name].accepts(value):
                found[name] = "value"
        schema = getattr(self, "_schema", None)
        if not found or schema is None:
            return found

        from seal.core.schema_faults import with_defaults

        given = with_defaults(schema, arguments)

        def is_right(name: str) -> bool:
            one = gold.get(name, _LEFT_OUT)
            if name not in given or one.values is None:
                return name in given
            accepted = [{name: value} for value in one.values] + [{}] * one.optional
            filled = (with_defaults(schema, each) for each in accepted)
            return any(alike(given[name], each[name]) for each in filled if name in each)

        return {name: fault for name, fault in found.items() if not is_right(name)}

    def gold_calls(self) -> tuple[Called, ...]:
        """Return the call itself."""
        return (self,)

    @property
    def open_arguments(self) -> tuple[str, ...]:
        """Names of the arguments of which any value is right, and that may not be left out."""
        gold = self.arguments or {}
        return tuple(n for n, a in gold.items() if a.values is None and not a.optional)

    def canonical_arguments(self) -> dict[str, Any]:
        """Return the arguments that the oracle gives: each required one's first accepted value.

        Of open ones (`open_arguments`) gold has no value to give.
        """
        gold = self.arguments or {}
        return {name: a.values[0] for name, a in gold.items() if not a.optional and a.values}


@dataclass(frozen=True, slots=True)
class Asked(OfTheStepAlone):
    """A question of the agent to the user, such as for a missing argument."""

    about: tuple[str, ...] = ()
    """Words of which at least one must occur; empty: any question."""
    kind: str = field(default="asked", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for a text of the agent to the user that asks, else 0."""
        text = step.content.casefold()
        asks = tells_user(step) and ("?" in text or "\uff1f" in text)
        named = not self.about or any(word.casefold() in text for word in self.about)
        return float(asks and named)


@dataclass(frozen=True, slots=True)
class Replied(OfTheStepAlone):
    """A reply of the agent to the user that states something."""

    states: tuple[str, ...] = ()
    """Texts that must all occur, whatever their case; empty: any reply."""
    kind: str = field(default="replied", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the share of the texts that the reply has; with no texts, 1 for any reply."""
        if not tells_user(step):
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


BREACHES = "breaches"
"""Part of a trajectory's provenance: the calls that broke a rule of their world's policy, each as
{step, goal, tool, rule, why}. It is there where a policy was kept, too, and then empty."""


def takes_turn(author: str, recipient: str) -> bool:
    """Tell whether a message begins a turn, with which the clock of a world moves on.

    Messages of the user do, and those of whoever answers to the user or calls the executor.
    """
    return author == USER or (author != EXECUTOR and recipient in (USER, EXECUTOR))


def tells_user(step: Step) -> bool:
    """Tell whether a step is a message of the agent to its user that has a word."""
    return party(step.author) == AGENT and step.recipient == USER and bool(step.content.strip())

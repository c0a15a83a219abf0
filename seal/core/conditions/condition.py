"""What every condition has: a kind, by which a record names it, and a similarity."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar

from seal.core.errors import first_fault

if TYPE_CHECKING:
    from seal.core.types import Step


Match = str
"""Rules of measuring: `CLEAN`, which are ours, or the name of published rules. All published ones
measure as ToolSandbox's evaluator does, with all its surprises (`conditions.state`)."""
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
    "seal.core.conditions.chat": ["Unconfirmed", "Untrue"],
    "seal.core.conditions.state": ["AllOf", "DependsOn", "StateHas", "StateUnchanged"],
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

"""The environment of a chat in which a wrong call never runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seal.core.around import Around
from seal.core.errors import InfrastructureError
from seal.core.protocols import Environment, Timed
from seal.core.types import Tables, ToolCall, ToolResult
from seal.core.validation import CallError, CallValidator, error_result


class Validated(Around):
    """An environment that rejects invalid calls and passes the others on, defaults not filled in.

    Args:
        inner: Where valid calls run.
        validator: The rules.
        names: Names of the tools that the chat offers, for the messages.
    """

    def __init__(
        self, inner: Environment, validator: CallValidator, names: Sequence[str] = ()
    ) -> None:
        super().__init__(inner)
        self.validator = validator
        self.names = names
        self._states: Sequence[Tables] | None = None

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return one result a call: rejections in place, the others in the inner's order.

        A result belongs to the call whose id it carries. The inner may answer in any order; where
        its results carry no ids at all, they are taken in the order of the calls.

        Raises:
            InfrastructureError: The inner's results are not one for each call that it was given.
        """
        errors = [self.validator.check(call, self.names) for call in calls]
        valid = [call for call, error in zip(calls, errors, strict=True) if error is None]
        before = self.states()
        ran = iter(_answers(valid, self.inner.call(valid)) if valid else ())
        self._states = _spread(errors, before, self.inner.states() if valid else ())
        return [
            next(ran) if error is None else error_result(call, error)
            for call, error in zip(calls, errors, strict=True)
        ]

    def states(self) -> Sequence[Tables]:
        """Return the inner environment's; a rejection leaves the world as it was before it."""
        return self.inner.states() if self._states is None else self._states

    def tick(self) -> None:
        """Tell the inner environment, where it has a clock."""
        super().tick()
        if isinstance(self.inner, Timed):
            self._states = None

    def events(self) -> Sequence[str]:
        """Return what has happened in the inner environment, where something can."""
        found = super().events()
        if found:
            self._states = None
        return found


def _spread(
    errors: Sequence[CallError | None], before: Sequence[Tables], after: Sequence[Tables]
) -> list[Tables]:
    """Return the world after each result: the next of `after`, or the same again where rejected."""
    if not before:
        return []
    now, rest = before[-1], iter(after)
    states = []
    for error in errors:
        now = now if error else next(rest, now)
        states.append(now)
    return states or [now]


def _answers(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> Sequence[ToolResult]:
    """Return the results in their order, each with the id of its call."""
    asked, answered = [call.id for call in calls], [result.call_id for result in results]
    if sorted(asked) == sorted(answered):
        return results
    if len(asked) == len(answered) and not any(answered):
        return [replace(result, call_id=name) for result, name in zip(results, asked, strict=True)]
    raise InfrastructureError(
        f"the environment was given the calls {asked} and answered {answered}; "
        "expected one result for each call, with its id"
    )

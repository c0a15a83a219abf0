"""The environment of a chat: what there is to one, what lies around another, what rejects calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from seal.core.errors import InfrastructureError
from seal.core.types import JSON, Step, Tables, Task, ToolCall, ToolResult, Trajectory
from seal.core.validation import CallError, CallValidator, error_result


class Environment(Protocol):
    """Where calls run: a simulator, a recording or a stateful world."""

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order."""

    def states(self) -> Sequence[Tables]:
        """Return the world after each result of the last `call`, in the order of the results.

        Before any call, and where time moved on since the last, the world as it is, alone. Empty
        where there is no state. No table that was returned is ever changed.
        """


@runtime_checkable
class Timed(Protocol):
    """An environment that has a clock of its own."""

    def tick(self) -> None:
        """Take note that the user, or whoever answers the user, takes a turn."""


@runtime_checkable
class Eventful(Protocol):
    """An environment in which something happens by itself, such as a timer that rings."""

    def events(self) -> Sequence[str]:
        """Return what has happened by now, each thing in words, and only the first time.

        The agent is told of it before it speaks, in a step of the executor that no user sees.
        """


@runtime_checkable
class Held(Protocol):
    """An environment that must be given back once the chat has ended, such as processes."""

    def close(self) -> None:
        """Give it back. Closing twice is fine."""


class EnvironmentFactory(Protocol):
    """Opens one environment for each chat. Safe in threads."""

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat.

        Args:
            task: What is played.
            trial: Which time.
            offered: Names of the offered tools, for messages; a list may grow during the chat.
        """

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers, for the run's `measure`."""

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return the keys of the stored answers that a finished chat was given.

        Computed from the executed calls, so it is right for chats of other processes and of earlier
        sessions of a run.
        """


class Stateless:
    """An environment without tables."""

    def states(self) -> Sequence[Tables]:
        """Return nothing: there are no tables."""
        return ()


class Storeless:
    """A factory of environments that use no stored answer."""

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return nothing: no stored answer is used."""
        return set()


class Around:
    """Lies around another environment: it may change calls before they run, and their results.

    It hands on whatever is not about calls.

    An environment is asked for a method by its name: a chat does so at every step, and to walk the
    members of a protocol takes ten microseconds.

    Args:
        inner: The environment around which it lies.
    """

    def __init__(self, inner: Environment) -> None:
        self.inner = inner

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order."""
        made = {call.id: call for call in calls}
        results = self.inner.call([self.meant(call) for call in calls])
        return [self.told(result, made) for result in results]

    def meant(self, call: ToolCall) -> ToolCall:
        """Return the call that runs where one was made."""
        return call

    def told(self, result: ToolResult, made: Mapping[str, ToolCall]) -> ToolResult:
        """Return what the model is told of a result; `made` has the calls by id."""
        return result

    def states(self) -> Sequence[Tables]:
        """Return the world after each result of the last call."""
        return self.inner.states()

    def tick(self) -> None:
        """Hand on that time moves, where the environment has a clock."""
        if hasattr(self.inner, "tick"):
            self.inner.tick()

    def begin(self, goal: int) -> None:
        """Hand on which goal is played, where the environment must know."""
        if hasattr(self.inner, "begin"):
            self.inner.begin(goal)

    def hear(self, step: Step) -> None:
        """Hand on what was said, where the environment must know."""
        if hasattr(self.inner, "hear"):
            self.inner.hear(step)

    def events(self) -> Sequence[str]:
        """Hand on what has happened, where something can."""
        told: Sequence[str] = self.inner.events() if hasattr(self.inner, "events") else ()
        return told

    def close(self) -> None:
        """Give the environment back, where it must be."""
        if isinstance(self.inner, Held):
            self.inner.close()


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
        if hasattr(self.inner, "tick"):
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

"""What models were asked: requests and tokens by role and model, spent or answered from the store.

Models are asked in chats, by judges and by simulators; each of them is metered where it is asked
(`Metered`), so that no answer is left out, whoever forgets its usage. Answers that were kept cost
nothing and are counted apart.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields
from functools import partial
from operator import itemgetter
from typing import Any

from seal.core import ChatModel, Completion, Request, RequestError
from seal.runs.hooks import Teller, answered, asked

Account = tuple[str, str]
"""Role and model."""
_BESIDE_THE_AGENT = ("user_simulator", "judge", "simulator")
"""Roles whose failures say nothing of the agent: the user has to mend them."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests to one model in one role."""

    requests: int = 0
    """Answered by the model."""
    tokens_in: int = 0
    tokens_out: int = 0
    kept: int = 0
    """Requests answered from the store of answers."""
    kept_in: int = 0
    kept_out: int = 0
    estimated: bool = False
    """True where a server gave no count and the documented estimate stands in."""

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.requests + other.requests,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.kept + other.kept,
            self.kept_in + other.kept_in,
            self.kept_out + other.kept_out,
            self.estimated or other.estimated,
        )

    @classmethod
    def of(cls, answer: Completion) -> Spent:
        """Return what one answer cost."""
        usage = answer.usage
        counted = (1, usage.tokens_in, usage.tokens_out)
        parts = (0, 0, 0, *counted) if answer.kept else (*counted, 0, 0, 0)
        return cls(*parts, estimated=usage.estimated)

    @property
    def tokens(self) -> int:
        """Tokens in and out that were spent."""
        return self.tokens_in + self.tokens_out


Ledger = Mapping[Account, Spent]
_COUNTS = itemgetter(*(each.name for each in fields(Spent)))


def merged(ledgers: Iterable[Ledger]) -> dict[Account, Spent]:
    """Return the sum of ledgers, in the order of roles and models."""
    total: dict[Account, Spent] = {}
    for ledger in ledgers:
        for account, spent in ledger.items():
            total[account] = total.get(account, Spent()) + spent
    return dict(sorted(total.items()))


def tokens_of(ledger: Ledger) -> int:
    """Return the tokens that were spent."""
    return sum(spent.tokens for spent in ledger.values())


def ledger_record(ledger: Ledger) -> list[dict[str, Any]]:
    """Return a ledger as JSON: {role, model, requests, tokens_in...} for each account."""
    return [
        {"role": role, "model": model, **asdict(spent)} for (role, model), spent in ledger.items()
    ]


def read_ledger(record: Any) -> dict[Account, Spent]:
    """Return the ledger that JSON holds.

    Raises:
        KeyError: A part is missing.
        TypeError: It is no such list.
        ValueError: A count is no whole number, or a name no text.
    """
    ledger = {}
    for row in record:
        counts = _COUNTS(row)
        if wrong := [count for count in counts if not isinstance(count, int)]:
            raise ValueError(f"{wrong[0]!r} stands for a count")
        account = row["role"], row["model"]
        if wrong := [name for name in account if not isinstance(name, str)]:
            raise ValueError(f"{wrong[0]!r} stands for a name")
        ledger[account] = Spent(*counts)
    return ledger


_PLAYING: ContextVar[int | None] = ContextVar("playing", default=None)
"""The thread that plays a chat, for which other threads may ask models."""


class Meter:
    """Counts what models are asked, thread by thread. Safe in threads.

    What a thread asks in the context of another one, which had begun before, counts for that one.

    `admit` is called with what waits to be taken before a judge's model is asked; it may refuse
    (`budget.Budget.admit`).
    """

    def __init__(self) -> None:
        self.admit: Callable[[Ledger], None] | None = None
        self.told = Teller()
        """Tells hooks of each request."""
        self._lock = threading.Lock()
        self._ledgers: dict[int, dict[Account, Spent]] = {}

    def begin(self) -> None:
        """Let what is asked in this thread's context count for it, whatever thread asks."""
        _PLAYING.set(threading.get_ident())

    def note(self, role: str, model: str, answer: Completion) -> None:
        """Count one answer."""
        spent, thread = Spent.of(answer), _PLAYING.get() or threading.get_ident()
        with self._lock:
            ledger = self._ledgers.setdefault(thread, {})
            ledger[role, model] = ledger.get((role, model), Spent()) + spent

    def take(self) -> Ledger:
        """Return what this thread has asked since it took last."""
        with self._lock:
            return merged([self._ledgers.pop(threading.get_ident(), {})])

    def waiting(self) -> Ledger:
        """Return what all threads have asked since they took last, and leave it there."""
        with self._lock:
            return merged(self._ledgers.values())

    def take_all(self) -> Ledger:
        """Return what all threads have asked since they took last."""
        with self._lock:
            ledgers, self._ledgers = self._ledgers, {}
        return merged(ledgers.values())


class Metered:
    """A model whose answers are counted. Safe in threads as the model is.

    Args:
        inner: The model, its answers kept.
        meter: Counts them.
        role: Who asks.
        name: Of the model, as prices name it.
    """

    def __init__(self, inner: ChatModel, meter: Meter, role: str, name: str) -> None:
        self.inner = inner
        self.identity = name
        self._meter = meter
        self._role = role
        self._name = name

    def complete(self, request: Request) -> Completion:
        """Return the model's answer.

        Raises:
            ModelError: The model failed; what it may have cost is not known. Where it is none of
                the agent's, and refused, the text names the repair.
        """
        said = self._role, self._name, request
        with self._meter.told.of("request", lambda: asked(*said)) as came:
            answer = self._answer(request)
            if isinstance(answer, Completion):  # what is none is told by the chat, as whose fault
                self._meter.note(self._role, self._name, answer)
                self._meter.told.add(came, partial(answered, answer))
        return answer

    def _answer(self, request: Request) -> Completion:
        try:
            return self.inner.complete(request)
        except RequestError as error:
            if error.refusal is None or self._role not in _BESIDE_THE_AGENT:
                raise
            from seal.core.servers import sentences

            repair = f"Another model may take it: --role-model {self._role}=MODEL."
            told = sentences(str(error), repair)
            raise RequestError(told, error.refusal, error.status, error.said) from None


class Admitted:
    """A model that is asked only while the budget lasts; lies below the store of answers.

    Args:
        inner: The model.
        meter: Knows whether it may be asked.
    """

    def __init__(self, inner: ChatModel, meter: Meter) -> None:
        self.inner = inner
        self._meter = meter

    def complete(self, request: Request) -> Completion:
        """Return the model's answer.

        Raises:
            ModelError: The budget is spent, or the model failed.
        """
        if self._meter.admit is not None:
            self._meter.admit(self._meter.waiting())
        return self.inner.complete(request)

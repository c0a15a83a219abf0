"""Requests and tokens, and budgets."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core import ChatModel, Completion, ModelError, Request, RequestError
from seal.runs.hooks import Teller, answered, asked
from seal.runs.settings import RunSettings

if TYPE_CHECKING:
    from seal.runs.prices import Prices

# -- What models were asked: requests and tokens by role and model, spent or kept in the store.
#
# Models are asked in chats, by judges and by simulators; each of them is metered where it is asked
# (`Metered`), so that no answer is left out, whoever forgets its usage. Answers that were kept cost
# nothing and are counted apart.

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
    (`Budget.admit`).
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

    def complete(self, request: Request) -> Completion:
        """Return the model's answer.

        Raises:
            ModelError: The model failed; what it may have cost is not known. Where it is none of
                the agent's, and refused, the text names the repair.
        """
        said = self._role, self.identity, request
        with self._meter.told.of("request", lambda: asked(*said)) as came:
            answer = self._answer(request)
            if isinstance(answer, Completion):  # what is none is told by the chat, as whose fault
                self._meter.note(self._role, self.identity, answer)
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


# -- What ends a run: a budget of tokens or dollars that is spent, or a server that is down.


@dataclass(slots=True)
class Budget:
    """What may be spent, and what was.

    Chats that have begun are finished; none begins once it is spent, and no judge's model is asked.
    """

    prices_file: str | Path | None = None
    """Prices that go before the shipped ones."""
    max_tokens: int | None = None
    max_dollars: float | None = None
    until: float = math.inf
    """When the time of the run is up, on the monotonic clock."""
    tokens: int = 0
    """Spent; also where no ledger says by whom."""
    ledger: dict[Account, Spent] = field(default_factory=dict)
    refused: int = 0
    """Requests of judges that were refused."""
    outage: str = ""
    """Why a server counts as down; nobody is asked any more then."""
    _prices: Prices | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Load the file that is given, so that a malformed one is refused at once."""
        if self.prices_file is not None:
            self._prices = self.prices

    @property
    def prices(self) -> Prices:
        """What models cost; read when it is first asked for, as models without a server are free.

        Raises:
            DataError: The file holds no prices.
        """
        if self._prices is None:
            from seal.runs.prices import Prices

            self._prices = Prices.load(self.prices_file)
        return self._prices

    def dollars(self, ledger: Ledger) -> float | None:
        """Return what a ledger cost; None where a model that was asked has no price."""
        return dollars_of(ledger, self.prices)

    def add(self, ledger: Ledger, tokens: int) -> None:
        """Count what was spent."""
        self.tokens += tokens
        self.ledger = merged([self.ledger, ledger])

    @property
    def spent(self) -> bool:
        """True where nothing may be asked any more."""
        return bool(self.outage or self.reached)

    @property
    def reached(self) -> str:
        """The setting whose limit is reached; empty where none is."""
        return self._reached({})

    @property
    def seconds_left(self) -> float | None:
        """How long the run may still last, at least a millisecond; None: without limit."""
        return None if self.until == math.inf else max(0.001, self.until - time.monotonic())

    def _reached(self, besides: Ledger) -> str:
        if time.monotonic() >= self.until:
            return "max_total_seconds"
        tokens = self.tokens + tokens_of(besides)
        if self.max_tokens is not None and tokens >= self.max_tokens:
            return "max_total_tokens"
        if self.max_dollars is None:
            return ""
        dollars = self.dollars(merged([self.ledger, besides]))
        return "max_dollars" if (dollars or 0.0) >= self.max_dollars else ""

    def admit(self, besides: Ledger) -> None:
        """Let a judge's model be asked.

        Args:
            besides: What was asked and is not counted yet.

        Raises:
            ModelError: The budget is spent, or a server is down.
        """
        if self.outage:
            self.refused += 1
            raise ModelError(f"no judge is asked after an outage: {self.outage}")
        if self._reached(besides):
            self.refused += 1
            raise ModelError(
                "the budget of the run is spent, so no judge is asked: go on with --resume and a "
                "larger --max-total-tokens, --max-total-seconds or --max-dollars"
            )

    def left(self) -> tuple[int | None, float | None]:
        """Return the tokens and dollars that are left; None: without limit."""
        dollars = None
        if self.max_dollars is not None:
            dollars = self.max_dollars - (self.dollars(self.ledger) or 0.0)
        return None if self.max_tokens is None else self.max_tokens - self.tokens, dollars


def dollars_of(ledger: Ledger, prices: Prices) -> float | None:
    """Return what a ledger cost; None where a model that was asked has no price."""
    total = 0.0
    for (_, model), spent in ledger.items():
        price = prices.of(model)
        if price is None and spent.tokens:
            return None
        if price is not None:
            total += price.of(spent.tokens_in, spent.tokens_out)
    return total


# -- A run: prepare its folder, play what is not finished, put it in order, score it.


def budget_of(settings: RunSettings) -> Budget:
    """Return the budget that settings give.

    Raises:
        DataError: The file of prices holds none.
    """
    ends = settings.max_total_seconds
    until = math.inf if ends is None else time.monotonic() + ends
    return Budget(settings.prices, settings.max_total_tokens, settings.max_dollars, until)


def within(settings: RunSettings, budget: Budget) -> RunSettings | None:
    """Return settings that may spend what is left of a budget; None: nothing is."""
    if budget.spent:
        return None
    tokens, dollars = budget.left()
    return replace(
        settings,
        max_total_tokens=tokens,
        max_dollars=dollars,
        max_total_seconds=budget.seconds_left,
    )

"""Requests and tokens, prices, and budgets."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from seal.core import (
    ChatModel,
    Completion,
    DataError,
    ModelError,
    Request,
    RequestError,
    UsageError,
    shortened,
)
from seal.core.files import content_of
from seal.core.text import shipped_json
from seal.core.values import json_value
from seal.models.spec import bare_name, is_free
from seal.runs.settings import RunSettings

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
        ValueError: A count is none (`count_of`), or a name no text.
    """
    ledger = {}
    for row in record:
        counts = _COUNTS(row)
        for count in counts[:-1]:
            count_of(count)
        if not isinstance(counts[-1], bool):
            raise ValueError(f"{shortened(counts[-1])} stands for yes or no")
        account = row["role"], row["model"]
        if wrong := [name for name in account if not isinstance(name, str)]:
            raise ValueError(f"{wrong[0]!r} stands for a name")
        ledger[account] = Spent(*counts)
    return ledger


def count_of(value: Any) -> int:
    """Return a count that JSON holds.

    Raises:
        ValueError: It is no whole number from 0 to 10^18.
    """
    if type(value) is not int or not 0 <= value <= _MOST_COUNTED:
        raise ValueError(f"{shortened(value)} stands for a count")
    return value


_MOST_COUNTED = 10**18
"""The largest count; a file that tells of more is damaged."""


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
        try:
            answer = self.inner.complete(request)
        except RequestError as error:
            if error.refusal is None or self._role not in _BESIDE_THE_AGENT:
                raise
            from seal.core.servers import sentences

            repair = f"Another model may take it: --role-model {self._role}=MODEL."
            told = sentences(str(error), repair)
            raise RequestError(told, error.refusal, error.status, error.said) from None
        if isinstance(answer, Completion):  # what is none is told by the chat, as whose fault
            self._meter.note(self._role, self.identity, answer)
        return answer


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


# -- The prices of models: a dated table that ships, and files before it.
#
# A file is a JSON object: `{"date": "2026-03-01", "source": "...", "models": {"openai/x": {"in":
# 2.5, "out": 10}}}`, in US dollars for a million tokens. A model is named as `--model` names it,
# without options. One that another server than the provider's own plays is named with its address
# too, `openai/x,base_url=http://localhost:8000/v1`; in a file of yours either name counts, the
# longer one first, and no shipped price does. A name that ends in a date, such as
# openai/gpt-4o-2024-08-06, has the price of the name without it unless it has its own.


MILLION = 1_000_000


_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


_EXAMPLE = '{"date": "2026-03-01", "source": "...", "models": {"%s": {"in": 2.5, "out": 10}}}'


_MOST = 1e9
"""Dollars for a million tokens."""
_LARGEST = 10_000_000
"""Bytes of a file of prices."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """Return the dollars that tokens cost."""
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / MILLION


FREE = Price(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices of one day from one source."""

    date: str
    """ISO 8601."""
    source: str
    models: Mapping[str, Price]
    elsewhere: bool = True
    """Whether a price holds at any server; False: at the provider's own endpoint alone."""

    def of(self, model: str) -> Price | None:
        """Return the price of a model (`seal.models.account_of`), or of its name without a date."""
        name = bare_name(model)
        if name != model and not self.elsewhere:
            return None
        names = (model, name, _DATED.sub("", name))
        return next((self.models[one] for one in names if one in self.models), None)


@dataclass(frozen=True, slots=True)
class Prices:
    """Tables of prices, of which the first that has a model counts."""

    tables: tuple[PriceTable, ...]

    @classmethod
    def load(cls, file: str | Path | None = None) -> Prices:
        """Return the shipped table, and before it that of a file.

        Raises:
            DataError: The file holds no prices.
        """
        own = [] if file is None else [_read(Path(file))]
        ours = _table(shipped_json(__package__, "prices.json"), "the shipped prices")
        return cls((*own, replace(ours, elsewhere=False)))

    def of(self, model: str) -> Price | None:
        """Return a model's price; None: no table has one. Models that no server plays are free."""
        if is_free(model):
            return FREE
        found = (table.of(model) for table in self.tables)
        return next((price for price in found if price is not None), None)

    def told(self, models: Iterable[str]) -> list[dict[str, str]]:
        """Return {date, source} of each table that gives one of these models its price."""
        used = {
            next((n for n, table in enumerate(self.tables) if table.of(model)), None)
            for model in models
            if not is_free(model)
        }
        tables = (self.tables[place] for place in sorted(used - {None}, key=str))  # type: ignore[index]
        return [{"date": table.date, "source": table.source} for table in tables]


def check_priced(prices: Prices, models: Iterable[str]) -> None:
    """Raise UsageError where a model has no price, for then dollars cannot be counted."""
    lacking = [model for model in dict.fromkeys(models) if prices.of(model) is None]
    if lacking:
        raise UsageError(
            f"--max-dollars: no price of {', '.join(map(repr, lacking))}; give it by --prices "
            f"FILE, which holds {_EXAMPLE % lacking[0]} in dollars for a million tokens, or limit "
            "the run by --max-total-tokens"
        )


def _read(file: Path) -> PriceTable:
    try:
        if file.stat().st_size > _LARGEST:
            raise DataError(f"{file}: more than {_LARGEST:,} bytes are no table of prices")
        content = json_value(content_of(file))
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}; give --prices a file") from None
    except orjson.JSONDecodeError as error:
        raise DataError(f"{file}: not JSON: {error}; expected {_EXAMPLE % 'openai/x'}") from None
    return _table(content, str(file))


def _table(content: Any, where: str) -> PriceTable:
    models = content.get("models") if isinstance(content, dict) else None
    if not isinstance(models, dict) or not models:
        raise DataError(f"{where}: no prices: expected {_EXAMPLE % 'openai/x'}")
    day, source = content.get("date"), content.get("source", where)
    if not isinstance(day, str) or not _is_day(day):
        raise DataError(f"{where}: date {shortened(day)}: expected a day such as 2026-03-01")
    if not isinstance(source, str):
        raise DataError(f"{where}: source {shortened(source)}: expected a text")
    prices = {name: _price(name, value, where) for name, value in models.items()}
    return PriceTable(day, source, prices)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _price(name: str, value: Any, where: str) -> Price:
    if not isinstance(value, dict) or value.keys() != {"in", "out"}:
        raise DataError(
            f"{where}: {shortened(name)}: expected in and out, dollars for a million tokens, got "
            f"{shortened(value)}"
        )
    for way, dollars in value.items():
        number = isinstance(dollars, (int, float)) and not isinstance(dollars, bool)
        if not number or not 0 <= dollars <= _MOST:
            raise DataError(
                f"{where}: {shortened(name)}: {way} is {shortened(dollars)}; expected dollars "
                "for a million tokens, a number from 0 to 10^9"
            )
    return Price(float(value["in"]), float(value["out"]))

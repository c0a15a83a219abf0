"""What ends a run: a budget of tokens or dollars that is spent, or a server that is down."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from seal.core import ModelError
from seal.runs.spending.ledger import Account, Ledger, Spent, merged, tokens_of

if TYPE_CHECKING:
    from seal.runs.spending.prices import Prices


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
            from seal.runs.spending.prices import Prices

            self._prices = Prices.load(self.prices_file)
        return self._prices

    def dollars(self, ledger: Ledger) -> float | None:
        """Return what a ledger cost; None where a model that was asked has no price."""
        from seal.runs.spending.prices import dollars_of

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

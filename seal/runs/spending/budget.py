"""The budget of a run: tokens, dollars, or both, over all that its models were asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from seal.core.errors import ModelError
from seal.runs.spending.ledger import Account, Ledger, Spent, merged, tokens_of
from seal.runs.spending.prices import Prices


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


@dataclass(slots=True)
class Budget:
    """What may be spent, and what was.

    Chats that have begun are finished; none begins once it is spent, and no judge's model is asked.
    """

    prices: Prices
    max_tokens: int | None = None
    max_dollars: float | None = None
    tokens: int = 0
    """Spent; also where no ledger says by whom."""
    ledger: dict[Account, Spent] = field(default_factory=dict)
    refused: int = 0
    """Requests of judges that were refused."""

    def add(self, ledger: Ledger, tokens: int) -> None:
        """Count what was spent."""
        self.tokens += tokens
        self.ledger = merged([self.ledger, ledger])

    @property
    def spent(self) -> bool:
        """True where nothing may be asked any more."""
        return self._reached({})

    def _reached(self, besides: Ledger) -> bool:
        tokens = self.tokens + tokens_of(besides)
        if self.max_tokens is not None and tokens >= self.max_tokens:
            return True
        if self.max_dollars is None:
            return False
        dollars = dollars_of(merged([self.ledger, besides]), self.prices)
        return (dollars or 0.0) >= self.max_dollars

    def admit(self, besides: Ledger) -> None:
        """Let a judge's model be asked.

        Args:
            besides: What was asked and is not counted yet.

        Raises:
            ModelError: The budget is spent.
        """
        if self._reached(besides):
            self.refused += 1
            raise ModelError(
                "the budget of the run is spent, so no judge is asked: go on with --resume and a "
                "larger --max-total-tokens or --max-dollars"
            )

    def left(self) -> tuple[int | None, float | None]:
        """Return the tokens and dollars that are left; None: without limit."""
        dollars = None
        if self.max_dollars is not None:
            dollars = self.max_dollars - (dollars_of(self.ledger, self.prices) or 0.0)
        return None if self.max_tokens is None else self.max_tokens - self.tokens, dollars

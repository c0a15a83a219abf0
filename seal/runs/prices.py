"""The prices of models: a dated table that ships, and files before it.

A file is a JSON object: `{"date": "2026-03-01", "source": "...", "models": {"openai/x": {"in":
2.5, "out": 10}}}`, in US dollars for a million tokens. A model is named as `--model` names it,
without options. One that another server than the provider's own plays is named with its address
too, `openai/x,base_url=http://localhost:8000/v1`; in a file of yours either name counts, the
longer one first, and no shipped price does. A name that ends in a date, such as
openai/gpt-4o-2024-08-06, has the price of the name without it unless it has its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from seal.core import DataError, UsageError, shortened
from seal.core.files import content_of
from seal.core.text import shipped_json
from seal.core.values import json_value
from seal.models.spec import bare_name, is_free

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

"""What a run would cost, before anything is asked or written.

Some of the tasks are rehearsed (`rehearsal`): their prompts are the true ones, so the estimate
follows tools, history, roles and format; what is added up is then taken for all chats. It assumes
that each role answers as the gold does, with the gold calls and nothing else: a model that errs,
asks, thinks or is sent back takes more turns, each of which sends the whole chat again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core.errors import UsageError
from seal.core.part_names import name_of
from seal.core.secrets import public_url
from seal.core.types import Task
from seal.runs.play import played
from seal.runs.run import all_given, baselines_of, budget_of
from seal.runs.settings import RunSettings
from seal.runs.spending.ledger import Ledger
from seal.runs.spending.prices import Prices, check_priced
from seal.runs.spending.rehearsal import Rehearsal, rehearse

REHEARSED = 40
"""Tasks that are rehearsed at most, evenly from all."""
_ASSUMED = (
    "every role answers as the gold does, with the gold calls and no detour: a model that errs, "
    "asks, thinks or is sent back takes more",
    "tokens are those of the true prompts, counted by tiktoken where its table is at hand, else a "
    "quarter of the UTF-8 bytes; the server's own count differs",
    "a simulator's answer has 150 words, a judge answers at the first try, and no answer was kept "
    "before",
    "what embeddings cost is not counted",
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A run, or one of its baselines."""

    name: str
    chats: int
    rehearsal: Rehearsal

    @property
    def factor(self) -> float:
        return self.chats / self.rehearsal.chats if self.rehearsal.chats else 0.0


def plan(settings: RunSettings) -> dict[str, Any]:
    """Return what a run would ask; asks nobody and leaves no file.

    Args:
        settings: Of the run.

    Returns:
        {tasks, trials, chats, rehearsed, failed, rows, requests, tokens_in, tokens_out, dollars,
        prices, unpriced, over, assumptions}. `rows`: {part, role, model, requests, tokens_in,
        tokens_out, dollars} of the run, its floor and its ceiling; dollars are None where the model
        has no price, and the sum is of those that have one. `over` names the budgets that it would
        pass, `origins` of every setting that is not the default its value and who gave it
        (`seal.runs.settings.Origin`).

    Raises:
        UsageError: Settings that cannot be, or no task is selected.
        DataError: The pool, or the file of prices, is damaged.
    """
    budget = budget_of(settings)
    opened = played(settings)
    settings, pool = opened.settings, opened.pool
    tasks = list(pool.tasks(select=settings.select, limit=settings.limit))
    if not tasks:
        raise UsageError("no task is selected: nothing is to be played")
    parts = {"run": settings}
    if settings.baselines:
        parts |= baselines_of(settings, all_given(settings, tasks))
    chosen = _spread(tasks)
    found = [
        _Part(name, len(tasks) * each.trials, rehearse(each, pool, chosen))
        for name, each in parts.items()
    ]
    if budget.max_dollars is not None:
        check_priced(budget.prices, [m for part in found for _, m in part.rehearsal.asked])
    rows = [row for part in found for row in _rows(part, budget.prices)]
    total: dict[str, Any] = {
        name: sum(row[name] for row in rows) for name in ("requests", "tokens_in", "tokens_out")
    }
    dollars = round(sum(row["dollars"] or 0.0 for row in rows), 6)
    tokens = total["tokens_in"] + total["tokens_out"]
    over = {
        "max_total_tokens": budget.max_tokens is not None and tokens > budget.max_tokens,
        "max_dollars": budget.max_dollars is not None and dollars > budget.max_dollars,
    }
    return {
        "tasks": len(tasks),
        "trials": settings.trials,
        "chats": sum(part.chats for part in found),
        "rehearsed": found[0].rehearsal.chats,
        "failed": found[0].rehearsal.failed,
        "rows": rows,
        **total,
        "dollars": dollars,
        "prices": budget.prices.told(row["model"] for row in rows),
        "unpriced": sorted({row["model"] for row in rows if row["dollars"] is None}),
        "over": [name for name, passed in over.items() if passed],
        "assumptions": list(_ASSUMED),
        "origins": {
            name: {"value": _shown(name, settings), "origin": origin}
            for name, origin in sorted(settings.origins.items())
        },
    }


def _shown(name: str, settings: RunSettings) -> Any:
    """Return the value of a setting as JSON holds it: of an object its name."""
    value = getattr(settings, name)
    if name == "base_url":
        return public_url(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value) if isinstance(value, Path) else name_of(value)


def _spread(tasks: Sequence[Task]) -> list[Task]:
    """Return at most `REHEARSED` tasks, evenly from all."""
    count = min(len(tasks), REHEARSED)
    return [tasks[place * len(tasks) // count] for place in range(count)]


def _rows(part: _Part, prices: Prices) -> list[dict[str, Any]]:
    asked: Ledger = part.rehearsal.asked
    rows = []
    for (role, model), spent in asked.items():
        price = prices.of(model)
        tokens = [round(part.factor * n) for n in (spent.tokens_in, spent.tokens_out)]
        rows.append(
            {
                "part": part.name,
                "role": role,
                "model": model,
                "requests": round(part.factor * spent.requests),
                "tokens_in": tokens[0],
                "tokens_out": tokens[1],
                "dollars": None if price is None else round(price.of(*tokens), 6),
            }
        )
    return rows

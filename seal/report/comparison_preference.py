"""Win rates for a person: the table of two runs, and what stands below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seal.report.grids import Grid, interval, number
from seal.report.printable import one_line

SHOWN = 5
"""Goals without an outcome that are named."""
_LONGEST = 120
"""Characters of a reason or id."""
COLUMNS = (
    "judge", "win", "lose", "tie", "win rate", "95 % interval", "goals", "undecided",
    "first named", "turned",
)  # fmt: skip


def preference_grid(pair: Mapping[str, Any]) -> Grid:
    """Return how often the one run served a goal better; of a pair that was judged.

    Args:
        pair: Of the content that `seal.compare` returned.
    """
    title = (
        f"goals that {pair['run']} served better than {pair['other']}: win rate is win + tie / 2"
    )
    return Grid(title, COLUMNS, [(judges_of(pair), *preference_figures(pair))])


def judges_of(pair: Mapping[str, Any]) -> str:
    """Return who judged two runs against each other."""
    judge = pair["win_rate"]["judge"]
    named = ", ".join(str(model.get("model")) for model in judge["models"])
    return named or str(judge["judge"]).partition("/")[0]


def preference_figures(pair: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the figures of a win rate as texts, in the order of `COLUMNS` after the judge."""
    found = pair["win_rate"]
    order = found["order"]
    return (
        *(number(found[name]) for name in ("win", "lose", "tie", "win_rate")),
        interval(found),
        str(found["n"]),
        str(len(found["undecided"])),
        *("" if order[name] is None else number(order[name]) for name in ("first", "turned")),
    )


def preference_lines(pair: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the table: what decided, what the order of the two did."""
    found = pair["win_rate"]
    decided = ", ".join(f"{by} {count}" for by, count in found["by"].items())
    yield f"win rate: {found['goals']} goals, decided by {decided}"
    yield from _recorded_lines(found["judge"])
    order = found["order"]
    if order["answers"]:
        yield (
            f"order bias: the one shown first is named in {order['first']:.3f} of "
            f"{order['answers']} answers that name one (0.5: no bias); {order['turned']:.3f} of "
            f"{order['votes']} votes turn with the order"
        )
    if found["unusable"]:
        yield f"{found['unusable']} votes without a usable answer in both orders"
    for goal in found["undecided"][:SHOWN]:
        place = one_line(goal["task"], _LONGEST)
        yield f"no outcome: {place}: {goal['by']}: {one_line(goal['reason'], _LONGEST)}"
    if len(found["undecided"]) > SHOWN:
        yield f"and {len(found['undecided']) - SHOWN} more goals without an outcome"


def _recorded_lines(judge: Mapping[str, Any]) -> Iterator[str]:
    """Yield what of a file of recorded preferences was taken; nothing of a judge that was asked."""
    if "file" not in judge:
        return
    left_out = [f"{reason} {count}" for reason, count in judge["left_out"].items()]
    told = f"; left out: {', '.join(left_out)}" if left_out else ", none left out"
    yield f"recorded in {one_line(judge['file'], _LONGEST)}: goals taken {judge['taken']}{told}"
    for problem in judge["problems"][:SHOWN]:
        yield f"not taken: {one_line(problem, _LONGEST)}"
    if len(judge["problems"]) > SHOWN:
        yield f"and {len(judge['problems']) - SHOWN} more rows that were not taken"

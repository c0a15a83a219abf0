"""How alike one cell of a table is to what it should be.

Every measure gives a similarity in [0, 1], or None where the cell does not count. Two sets of
rules:

- `clean`: values are compared as JSON (`seal.core.canonical.equal`: 1 is 1.0, True is no number);
  an absent value (None) is no match but of None, or where any value is.
- published rules: as ToolSandbox's evaluator does. True is 1; an absent value where one is wanted
  is left out of the mean by `exact`, `contains` and `rouge_l`, and no match by `close` and `calls`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Any, Literal

from seal.core.canonical import equal
from seal.core.conditions.condition import CLEAN, Match

Tolerance = float | Literal["inf"]
"""Greatest difference that is none; JSON has no infinity, so it is written "inf"."""
Row = Mapping[str, Any]
Table = Sequence[Row]
Change = Literal["snapshot", "addition", "removal", "update"]
"""What is measured of a table (`conditions.rows`)."""
Measure = Literal["exact", "close", "contains", "rouge_l", "calls", "any"]


@dataclass(frozen=True, slots=True)
class Column:
    """How the cells of one column are measured.

    - exact: the same value.
    - close: numbers that differ by at most `tolerance`.
    - contains: the wanted text is part of the cell's.
    - rouge_l: `seal.core.conditions.rouge.rouge_l` of the wanted text and the cell's.
    - calls: a recorded call is one of the wanted ones: the same tool, and every wanted argument
      there and the same, within its tolerance if both are numbers; further arguments are free.
    - any: whatever it is.
    """

    measure: Measure = "exact"
    tolerance: Tolerance = 0.0
    """Of `close`."""
    tolerances: dict[str, Tolerance] = field(default_factory=dict)
    """Of `calls`: name of an argument to its tolerance; 0 where it is not named."""


Call = Mapping[str, Any]
"""{tool: tool id, arguments: {name: value}}; a recorded one has `result` too."""


def cell_similarity(value: Any, wanted: Any, column: Column, match: Match) -> float | None:
    """Return how alike a cell is to what is wanted, in [0, 1]; None where it does not count."""
    clean = match == CLEAN
    measure = column.measure
    if measure == "any":
        return 1.0
    if measure == "calls":
        candidates = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        pairs = product(value or (), candidates)
        return float(any(_is_call(call, other, column, clean) for call, other in pairs))
    if value is None or wanted is None:
        if clean or (measure == "exact" and wanted is None):
            return float(value is wanted)
        return 0.0 if measure == "close" else None
    if measure == "exact":
        return float(equal(value, wanted) if clean else value == wanted)
    if measure == "close":
        return float(_same(value, wanted, column.tolerance, clean))
    if measure == "contains":
        return float(str(wanted) in str(value))
    from seal.core.conditions.rouge import rouge_l

    return 1.0 if clean and value == wanted else rouge_l(str(wanted), str(value))


def _same(value: Any, wanted: Any, tolerance: Tolerance, clean: bool) -> bool:
    """Tell whether two values are the same; of numbers, whether they differ by the tolerance."""
    limit = inf if tolerance == "inf" else tolerance
    booleans = (isinstance(one, bool) for one in (value, wanted))
    numbers = all(isinstance(one, (int, float)) for one in (value, wanted))
    if numbers and not (clean and any(booleans)):
        try:
            return bool(abs(value - wanted) <= limit)
        except OverflowError:  # an integer that no float holds, and a fraction
            return limit == inf
    return equal(value, wanted) if clean else bool(value == wanted)


def _is_call(call: Call, wanted: Call, column: Column, clean: bool) -> bool:
    """Tell whether a recorded call is a wanted one."""
    if call["tool"] != wanted["tool"]:
        return False
    given = call["arguments"]
    return all(
        name in given and _same(given[name], value, column.tolerances.get(name, 0.0), clean)
        for name, value in wanted["arguments"].items()
    )

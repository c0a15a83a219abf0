"""Compares SEAL's figures with those of peers: code or records that others made.

A `Peer` yields the things that both judge, one by one, and says who is right if they differ.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from seal.core import JSON, UsageError

NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class PeerFigure:
    """A thing that SEAL and a peer judged."""

    what: str
    """The figure, such as "ndcg@10"."""
    of: str
    """What was judged; shown as an example if the two differ."""
    ours: JSON
    theirs: JSON
    why: str = ""
    """Kind of the difference; empty: there is none, or its kind is not known."""

    @property
    def agrees(self) -> bool:
        """Whether both say the same; numbers within a relative or absolute `NEAR`."""
        if isinstance(self.ours, (int, float)) and isinstance(self.theirs, (int, float)):
            return math.isclose(self.ours, self.theirs, rel_tol=NEAR, abs_tol=NEAR)
        return bool(self.ours == self.theirs)


@dataclass(frozen=True)
class Peer:
    """What others made, and how it is compared with SEAL."""

    title: str
    """Its name and what it is."""
    held: Callable[[], Iterator[PeerFigure]]
    needs: str = ""
    """What pip installs for it."""
    explained: Mapping[str, str] = field(default_factory=dict)
    """Kind of a difference to who is right, and by which rule."""


@dataclass(frozen=True, slots=True)
class PeerDifference:
    """One kind of difference in a figure."""

    what: str
    why: str
    count: int
    example: str
    right: str
    """Who is right; empty: nobody has explained it."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The comparison with one peer."""

    name: str
    title: str
    figures: list[tuple[str, int, int]]
    """Figure, how many were compared, and how many agree."""
    differences: list[PeerDifference]

    @property
    def explained(self) -> bool:
        """Whether every difference is explained."""
        return all(difference.right for difference in self.differences)


def compare(name: str, peer: Peer) -> Verified:
    """Compare SEAL's figures with a peer's.

    Raises:
        UsageError: The peer is not installed, or its records are missing; the text says the repair.
    """
    held: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    try:
        for one in peer.held():
            held[one.what] += 1
            agreed[one.what] += one.agrees
            if not one.agrees:
                kinds[one.what, one.why] += 1
                shown = f"{one.of}: ours {one.ours}, theirs {one.theirs}"
                examples.setdefault((one.what, one.why), shown)
    except ImportError as error:
        raise UsageError(f"{error}; pip install {peer.needs}") from error
    differences = [
        PeerDifference(what, why, count, examples[what, why], peer.explained.get(why, ""))
        for (what, why), count in kinds.most_common()
    ]
    return Verified(name, peer.title, [(n, held[n], agreed[n]) for n in held], differences)


Table = tuple[str, list[str], list[list[str]]]
"""Title, columns and rows."""


def tables(found: Sequence[Verified]) -> Iterator[Table]:
    """Yield the table of all figures, and a table for each peer that differs somewhere."""
    figures = [
        [one.title, what, f"{held:,}", f"{agreed:,}", f"{agreed / held:.2%}"]
        for one in found
        for what, held, agreed in one.figures
    ]
    yield "", ["peer", "figure", "held", "agree", "share"], figures
    for one in found:
        rows = [
            [d.what, d.why, f"{d.count:,}", d.example, d.right or "not explained"]
            for d in one.differences
        ]
        if rows:
            columns = ["figure", "kind", "count", "example", "who is right"]
            yield f"Where ours differs from {one.name}", columns, rows


def page(found: Sequence[Verified], absent: Mapping[str, str], script: str = "verify.py") -> str:
    """Return the comparison with peers as a Markdown page.

    Args:
        found: The peers that were compared.
        absent: Name of each missing peer to the reason.
        script: That writes it, in `perf/verify`.
    """
    lines = [
        "# Our figures beside those of others",
        "",
        f"Written by `perf/verify/{script} --out FILE`.",
        "",
    ]
    for title, columns, rows in tables(found):
        lines += [f"## {title}", ""] if title else []
        for cells in (columns, ["---"] * len(columns), *rows):
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
        lines.append("")
    lines += [f"Not held: {name} ({why})." for name, why in absent.items()]
    return "\n".join(lines) + "\n"

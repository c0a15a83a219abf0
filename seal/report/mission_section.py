"""Missions by type, place in the dialogue and relation; what went wrong; and the pyramid of types.

Source: Yu et al., Multi-Mission Tool Bench (2025). Table 1 has related missions, mission types and
switches of a data set, Table 2 accuracy by type and number of missions. Table 3 has optimal paths
and progress, Table 4 errors. The heat map is that of type sequences. Shares are of missions with a
value: what the infrastructure failed on is counted apart, and every other failure stays in the
denominators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from statistics import fmean, pvariance
from typing import TYPE_CHECKING, Any, get_args

from seal.core import Score
from seal.evaluation.goals import INFRASTRUCTURE, is_dialogue
from seal.evaluation.mission_gold import TYPES
from seal.evaluation.missions import ActionError
from seal.pools.counts import count_missions
from seal.report.lanes import Lane, scores_so_far
from seal.report.pages import render
from seal.report.table_forms import RunTable, Share

if TYPE_CHECKING:
    from markupsafe import Markup

LEAVES = ("serial", "parallel", "mixed")
RELATIONS = ("implicit", "ellipsis", "memory")
IMPLIED = ("near", "far")
"""Relations that gold implies where no label says one; no kinds of the paper's."""
ACTION_ERRORS: tuple[str, ...] = get_args(ActionError)
SHOWN_ARGUMENT_ERRORS = {
    "param hallucination": "name hallucination",
    "param value hallucination": "value hallucination",
    "param value error": "value error",
}
"""Kinds of argument errors to the paper's columns; it leaves the other kinds out."""

Measure = Callable[[Sequence["Mission"]], Share]
_METRIC = "mission_accuracy"
_WIDEST = 4
"""Length of the longest type sequences of which each gets a cell: 256 of them."""


@dataclass(frozen=True, slots=True)
class Mission:
    """One mission as it was scored."""

    number: int
    """Of missions so far, this one included."""
    route: tuple[str, ...]
    """Types of the missions up to this one."""
    right: bool
    details: Mapping[str, Any]

    @property
    def error(self) -> str:
        """What went wrong, where it is not right."""
        return str(self.details.get("error", "other"))

    def told(self, field: str) -> Any:
        """Return its `kind`, `number`, or a field of its details."""
        return {**self.details, "kind": self.route[-1], "number": self.number}.get(field)


@dataclass(frozen=True, slots=True)
class Layer:
    """All type sequences of one length."""

    length: int
    routes: dict[tuple[str, ...], Share]
    """Those that were played, to the accuracy of their last mission."""

    @property
    def mean(self) -> float:
        """Mean over the sequences."""
        return fmean(share.value or 0.0 for share in self.routes.values())

    @property
    def variance(self) -> float:
        """Variance of the sequences' accuracies (population): the less, the more robust."""
        return pvariance(share.value or 0.0 for share in self.routes.values())

    @property
    def cells(self) -> list[tuple[tuple[str, ...], Share]]:
        """All sequences of the types of this length, so that four stand below their beginning."""
        found = product(TYPES, repeat=self.length)
        return [(route, self.routes.get(route, Share())) for route in found]


def missions_of(scores: Iterable[Score]) -> list[Mission]:
    """Return the missions with a type and a value, in the order of their scores.

    A goal without a type, whose gold tells of no calls, is no mission. What comes after a failure
    of the infrastructure is left out, for its sequence of types is not known.
    """
    own = (s for s in scores if s.metric == _METRIC)
    found = []
    for _, chat in groupby(own, key=lambda score: (score.task_id, score.trial)):
        route: tuple[str, ...] = ()
        for score in chat:
            kind = score.details.get("type")
            if score.reason.startswith(INFRASTRUCTURE):
                break
            if isinstance(kind, str):
                route = (*route, kind)
                if score.value is not None:
                    found.append(Mission(len(route), route, score.value == 1, score.details))
    return found


def mission_tables(runs: Mapping[str, Sequence[Mission]]) -> list[RunTable[Share]]:
    """Return the tables of runs by their labels; empty where there is no typed mission."""
    every = [mission for missions in runs.values() for mission in missions]
    kinds = {mission.error for mission in every if not mission.right}
    told = [*(kind for kind in ACTION_ERRORS if kind in kinds), *sorted(kinds - {*ACTION_ERRORS})]
    relations = {mission.told("relation") for mission in every}
    implied = [name for name in IMPLIED if name in relations]
    tables = {
        "accuracy by type of missions, %": {
            "all": _accuracy(),
            **{kind: _accuracy("kind", kind) for kind in ("single", "multi")},
            **{leaf: _accuracy("leaf", leaf) for leaf in LEAVES},
            **{kind: _accuracy("kind", kind) for kind in ("chat", "clarify")},
        },
        "accuracy by number of missions so far, %": {
            f"mission {number}": _accuracy("number", number)
            for number in sorted({mission.number for mission in every})
        },
        "optimal paths, progress, and accuracy by relation, %": {
            "optimal path": _optimal,
            "progress": _progress,
            **{name: _accuracy("relation", name) for name in (*RELATIONS, *implied)},
        },
    }
    if kinds:
        tables["errors, % of failed missions"] = {
            "tool errors": _errors(*ACTION_ERRORS),
            **{shown: _errors(kind) for kind, shown in SHOWN_ARGUMENT_ERRORS.items()},
        }
        tables["kinds of errors, % of failed missions"] = {kind: _errors(kind) for kind in told}
    return [
        RunTable(
            title,
            {
                label: {name: share(found) for name, share in columns.items()}
                for label, found in runs.items()
            },
        )
        for title, columns in (tables if every else {}).items()
    ]


def _accuracy(field: str = "", value: Any = None) -> Measure:
    """Return what gives the share of right missions, among those with a value in a field."""

    def share(missions: Sequence[Mission]) -> Share:
        found = [m.right for m in missions if not field or m.told(field) == value]
        return Share(sum(found), len(found))

    return share


def _errors(*kinds: str) -> Measure:
    """Return what gives the share of errors of some kinds among the failed missions."""

    def share(missions: Sequence[Mission]) -> Share:
        found = [m.error in kinds for m in missions if not m.right]
        return Share(sum(found), len(found))

    return share


def _optimal(missions: Sequence[Mission]) -> Share:
    found = [m for m in missions if m.told("leaf") in ("parallel", "mixed")]
    return Share(sum(m.right and bool(m.details.get("optimal")) for m in found), len(found))


def _progress(missions: Sequence[Mission]) -> Share:
    found = [m.details for m in missions if m.told("leaf") in ("serial", "mixed")]
    return Share(sum(d["completed"] for d in found), sum(d["total"] for d in found))


def pyramid(missions: Iterable[Mission]) -> list[Layer]:
    """Return the type sequences by their length, in the order of the types."""
    layers: dict[int, dict[tuple[str, ...], list[bool]]] = {}
    for mission in missions:
        route = layers.setdefault(len(mission.route), {}).setdefault(mission.route, [])
        route.append(mission.right)
    order = {kind: place for place, kind in enumerate(TYPES)}

    def place(route: tuple[str, ...]) -> list[int]:
        return [order.get(kind, len(order)) for kind in route]

    return [
        Layer(length, {r: Share(sum(routes[r]), len(routes[r])) for r in sorted(routes, key=place)})
        for length, routes in sorted(layers.items())
    ]


def runs_of(lanes: Sequence[Lane]) -> dict[str, list[Mission]]:
    """Return the missions of the lanes by their labels."""
    return {lane.label: missions_of(scores_so_far(lane.run, (_METRIC,))) for lane in lanes}


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the tables, and a pyramid for each run; None if no mission has a type."""
    runs = runs_of(lanes)
    tables = mission_tables(runs)
    if not tables:
        return None
    data = count_missions(task for task in lanes[-1].run.tasks() if is_dialogue(task))
    return render(
        "missions.html",
        tables=[each.page() for each in tables],
        pyramids={label: pyramid(missions) for label, missions in runs.items()},
        widest=_WIDEST,
        letters={"single": "S", "multi": "M", "chat": "C", "clarify": "Q"},
        data=data,
        related=Share(data.related, data.missions),
        # Of each length the share of the type sequences that there are.
        coverage={n: Share(found, len(TYPES) ** n) for n, found in data.sequences.items()},
    )

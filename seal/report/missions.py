"""Missions by type, place in the dialogue and relation; what went wrong; and the pyramid of types.

Source: Yu et al., Multi-Mission Tool Bench (2025): Tables 1 (related missions, mission types and
switches of a data set), 2 (accuracy by type and number of missions), 3 (optimal paths and progress)
and 4 (errors), and the heat map of type sequences. Shares are of missions with a value: what the
infrastructure failed on is counted apart, and every other failure stays in the denominators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import TYPE_CHECKING, Any, get_args

from seal.core.conditions import Asked
from seal.core.types import Goal, Score, Task
from seal.evaluation.mission_metrics import no_missions
from seal.evaluation.missions.judgement import ActionError
from seal.report.chat_records import scores_so_far
from seal.report.grids import Grid, drawn
from seal.report.lanes import Lane, lanes_of
from seal.report.pages import cell, render, table
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.table import Table

TYPES = ("single", "multi", "chat", "clarify")
LEAVES = ("serial", "parallel", "mixed")
RELATIONS = ("implicit", "ellipsis", "memory")
ACTION_ERRORS: tuple[str, ...] = get_args(ActionError)
SHOWN_ARGUMENT_ERRORS = {
    "param hallucination": "name hallucination",
    "param value hallucination": "value hallucination",
    "param value error": "value error",
}
"""Kinds of argument errors to the paper's columns; it leaves the other kinds out."""

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
    def kind(self) -> str:
        """Its type."""
        return self.route[-1]


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole."""

    part: float = 0.0
    whole: float = 0.0

    @property
    def value(self) -> float | None:
        """The share in [0, 1]; None where there is no whole."""
        return self.part / self.whole if self.whole else None

    @property
    def text(self) -> str:
        """The share in per cent with one decimal; `-` where there is no whole."""
        return "-" if self.value is None else f"{100 * self.value:.1f}"


@dataclass(frozen=True, slots=True)
class MissionTable:
    """A table with a row for each run."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[Share, ...]]
    """Label of a run to its shares, one a column."""

    def page(self) -> Markup:
        """Return the table for a page, which also tells of how many each share is."""
        rows = [
            (label, *(cell(s.text, small=f"of {s.whole:.0f}" if s.whole else "") for s in shares))
            for label, shares in self.rows.items()
        ]
        return table(Grid(self.title, ("run", *self.columns), rows), wrapping=True)

    def terminal(self) -> Table:
        """Return the table for the terminal."""
        rows = {label: [share.text for share in shares] for label, shares in self.rows.items()}
        return _drawn(self.title, self.columns, rows)


@dataclass(frozen=True, slots=True)
class Layer:
    """All type sequences of one length."""

    length: int
    routes: dict[tuple[str, ...], Share]
    """Those that were played, to the accuracy of their last mission."""

    @property
    def mean(self) -> float:
        """Mean over the sequences."""
        return sum(self._values) / len(self._values)

    @property
    def variance(self) -> float:
        """Variance of the sequences' accuracies (population): the less, the more robust."""
        return sum((value - self.mean) ** 2 for value in self._values) / len(self._values)

    @property
    def cells(self) -> list[tuple[tuple[str, ...], Share]]:
        """All sequences of the types of this length, so that four stand below their beginning."""
        found = product(TYPES, repeat=self.length)
        return [(route, self.routes.get(route, Share())) for route in found]

    @property
    def _values(self) -> list[float]:
        return [share.value or 0.0 for share in self.routes.values()]


@dataclass(frozen=True, slots=True)
class Switching:
    """What a data set has of missions and of switches between their types."""

    missions: int
    related: int
    """Missions that lean on earlier ones, as far as they are marked."""
    types: dict[str, int] = field(default_factory=dict)
    """Type to the number of missions."""
    routes: dict[int, int] = field(default_factory=dict)
    """Length to the number of different type sequences that a dialogue begins with."""

    def coverage(self, length: int) -> Share:
        """Return the share of the type sequences of a length that there are."""
        return Share(self.routes.get(length, 0), len(TYPES) ** length)


def missions_of(scores: Iterable[Score]) -> list[Mission]:
    """Return the missions with a type and a value, in the order of their scores."""
    own = (s for s in scores if s.metric == _METRIC)
    found = []
    for _, chat in groupby(own, key=lambda score: (score.task_id, score.trial)):
        route: tuple[str, ...] = ()
        for score in chat:
            kind = score.details.get("type")
            if score.value is None or not isinstance(kind, str):
                break
            route = (*route, kind)
            found.append(Mission(score.goal + 1, route, score.value == 1, score.details))
    return found


def mission_tables(runs: Mapping[str, Sequence[Mission]]) -> list[MissionTable]:
    """Return Tables 2, 3 and 4 for runs by their labels; empty where there is no typed mission."""
    every = [mission for missions in runs.values() for mission in missions]
    if not every:
        return []
    numbers = sorted({mission.number for mission in every})
    accuracy = {
        "all": lambda m: True,
        "single": lambda m: m.kind == "single",
        "multi": lambda m: m.kind == "multi",
        **{leaf: _detail("leaf", leaf) for leaf in LEAVES},
        "chat": lambda m: m.kind == "chat",
        "clarify": lambda m: m.kind == "clarify",
    }
    places = {f"mission {n}": _number(n) for n in numbers}
    relations = {name: _detail("relation", name) for name in RELATIONS}
    return [
        _table("accuracy by type of missions, % (Table 2)", runs, accuracy),
        _table("accuracy by number of missions so far, % (Table 2)", runs, places),
        MissionTable(
            "optimal paths, progress, and accuracy by relation, % (Table 3)",
            ("optimal path", "progress", *relations),
            {
                label: (
                    _optimal(missions),
                    _progress(missions),
                    *(_accuracy(missions, wanted) for wanted in relations.values()),
                )
                for label, missions in runs.items()
            },
        ),
        *_error_tables(runs),
    ]


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


def switching(tasks: Iterable[Task]) -> Switching:
    """Return what a data set has of missions; a type that no label says is read off the gold."""
    types: Counter[str] = Counter()
    related = 0
    routes: dict[int, set[tuple[str, ...]]] = {}
    for task in tasks:
        route: tuple[str, ...] = ()
        for goal in task.goals:
            kind = mission_type(goal)
            if kind is None:
                break
            route = (*route, kind)
            types[kind] += 1
            related += bool(goal.labels.get("relation"))
            routes.setdefault(len(route), set()).add(route)
    return Switching(
        types.total(),
        related,
        {kind: types[kind] for kind in TYPES if types[kind]},
        {length: len(found) for length, found in sorted(routes.items())},
    )


def mission_type(goal: Goal) -> str | None:
    """Return the type of a mission: its label, else what its first plan asks; None: no mission."""
    named = goal.labels.get("type")
    if named in TYPES:
        return str(named)
    if no_missions(goal) or not goal.plans:
        return None
    plan = goal.plans[0]
    if any(isinstance(milestone.condition, Asked) for milestone in plan.milestones):
        return "clarify"
    return ("chat", "single")[len(plan.calls())] if len(plan.calls()) < 2 else "multi"


def runs_of(lanes: Sequence[Lane]) -> dict[str, list[Mission]]:
    """Return the missions of the lanes by their labels."""
    return {lane.label: missions_of(scores_so_far(lane.run, (_METRIC,))) for lane in lanes}


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the tables and a pyramid a run; None where no mission has a type."""
    runs = runs_of(lanes)
    tables = mission_tables(runs)
    if not tables:
        return None
    data = switching(lanes[-1].run.tasks())
    return render(
        "missions.html",
        tables=[each.page() for each in tables],
        pyramids={label: pyramid(missions) for label, missions in runs.items()},
        widest=_WIDEST,
        letters={"single": "S", "multi": "M", "chat": "C", "clarify": "Q"},
        data=data,
        related=Share(data.related, data.missions),
    )


def mission_breakdown(run: RunFolder) -> list[Table]:
    """Return the tables of a run beside its baselines for the terminal; empty: no typed mission.

    Raises:
        DataError: The run has not been scored.
    """
    lanes = lanes_of([run])
    names = {lane.label: "model" if lane.kind == "run" else lane.kind for lane in lanes}
    runs = {names[label]: missions for label, missions in runs_of(lanes).items()}
    tables = [each.terminal() for each in mission_tables(runs)]
    if not tables:
        return []
    layers = {label: pyramid(missions) for label, missions in runs.items()}
    return [*tables, _layer_table(layers), _switching_table(switching(run.tasks()))]


def _drawn(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Table:
    grid = Grid(title, ("", *columns), [(label, *figures) for label, figures in rows.items()])
    return drawn(grid, title_justify="center")


def _layer_table(layers: Mapping[str, Sequence[Layer]]) -> Table:
    rows = {}
    for label, found in layers.items():
        for layer in found:
            seen = f"{len(layer.routes)} of {len(TYPES) ** layer.length}"
            rows[f"{label}, {layer.length}"] = (seen, f"{layer.mean:.3f}", f"{layer.variance:.3f}")
    columns = ("type sequences", "mean", "variance")
    return _drawn("accuracy by sequence of types, by its length", columns, rows)


def _switching_table(found: Switching) -> Table:
    rows = {
        "missions": (str(found.missions),),
        "related missions": (f"{Share(found.related, found.missions).text} %",),
        "mission types": (f"{len(found.types)} of {len(TYPES)}",),
    }
    for length in found.routes:
        share = found.coverage(length)
        rows[f"sequences of {length}"] = (f"{share.part:.0f} of {share.whole:.0f}, {share.text} %",)
    return _drawn("the data set's missions (Table 1)", ("data set",), rows)


Wanted = Callable[[Mission], bool]


def _detail(name: str, value: str) -> Wanted:
    return lambda mission: mission.details.get(name) == value


def _number(number: int) -> Wanted:
    return lambda mission: mission.number == number


def _table(
    title: str, runs: Mapping[str, Sequence[Mission]], columns: Mapping[str, Wanted]
) -> MissionTable:
    return MissionTable(
        title,
        tuple(columns),
        {
            label: tuple(_accuracy(missions, wanted) for wanted in columns.values())
            for label, missions in runs.items()
        },
    )


def _accuracy(missions: Iterable[Mission], wanted: Wanted) -> Share:
    found = [mission.right for mission in missions if wanted(mission)]
    return Share(sum(found), len(found))


def _optimal(missions: Iterable[Mission]) -> Share:
    found = [m for m in missions if m.details.get("leaf") in ("parallel", "mixed")]
    return Share(sum(m.right and bool(m.details.get("optimal")) for m in found), len(found))


def _progress(missions: Iterable[Mission]) -> Share:
    found = [m.details for m in missions if m.details.get("leaf") in ("serial", "mixed")]
    return Share(sum(d["completed"] for d in found), sum(d["total"] for d in found))


def _error_tables(runs: Mapping[str, Sequence[Mission]]) -> list[MissionTable]:
    """Return the paper's table of errors, and each kind by itself; nothing where none failed."""
    failed = {
        label: Counter(str(m.details.get("error", "other")) for m in missions if not m.right)
        for label, missions in runs.items()
    }
    kinds = {kind for counts in failed.values() for kind in counts}
    if not kinds:
        return []
    shown = tuple(SHOWN_ARGUMENT_ERRORS)
    action = [kind for kind in ACTION_ERRORS if kind in kinds]
    others = sorted(kinds - set(action))
    return [
        MissionTable(
            "errors, % of failed missions (Table 4)",
            ("tool errors", *SHOWN_ARGUMENT_ERRORS.values()),
            {
                label: (
                    Share(sum(counts[kind] for kind in ACTION_ERRORS), counts.total()),
                    *(Share(counts[kind], counts.total()) for kind in shown),
                )
                for label, counts in failed.items()
            },
        ),
        MissionTable(
            "kinds of errors, % of failed missions",
            (*action, *others),
            {
                label: tuple(Share(counts[kind], counts.total()) for kind in (*action, *others))
                for label, counts in failed.items()
            },
        ),
    ]

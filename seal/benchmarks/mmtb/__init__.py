"""Multi-Mission Tool Bench: its benchmarks, and the paper's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from seal.evaluation.mission_gold import TYPES
from seal.pools.benchmark import Benchmark
from seal.pools.counts import count_missions
from seal.pools.declarations import Generator, PublishedTable, SourceFlag, shipped_rows
from seal.pools.pool import StoredPool
from seal.report.lanes import Lane
from seal.report.mission_section import IMPLIED, LEAVES, mission_tables, pyramid, runs_of
from seal.report.paper import Figures
from seal.report.table_forms import Share

# -- Multi-Mission Tool Bench (MMTB): its tool lists, and its test records as tasks of missions.

_MAKING = "seal.benchmarks.mmtb.generation"
_PAPER = "seal.benchmarks.mmtb:TABLES"
MMTB = Benchmark(
    "mmtb",
    published=_PAPER,
    importer="seal.benchmarks.mmtb.importer:import_mmtb",
    generators={
        "missions": Generator(
            make=f"{_MAKING}:generate_missions",
            about="Make dialogues of related missions by a model.\n\n"
            "User, planner, checker, agent and simulator talk to each other.",
            settings=f"{_MAKING}:MissionSettings",
            source=SourceFlag(
                help="Pool whose tools are called.",
                flag="--tools",
                default="sample",
            ),
            stage="dialogues",
            is_slow=True,
            told=f"{_MAKING}:missions_told",
        )
    },
)
SAMPLE = Benchmark("mmtb-sample", folder=Path(__file__).parent / "sample", published=_PAPER)
"""The small benchmark of related missions that ships: 60 dialogues of four, written by hand.

They stand over the tools of the sample, in a short notation (`authored/dialogues.txt`, read by
`perf/samples/mmtb_notation.py`). A script computes what tools compute, checks all and compiles it:

    python perf/samples/compile_samples.py mmtb-sample AUTHORED POOL

Each of the 16 switches of types stands at least eight times. What a call needs was said before, or
a result brings it. A later mission leans on the mission right before, one of long-term memory on
an earlier one. A chat asks for facts, which its reply must state. Arguments are compared by the
scorer `exact`. Persons, companies and works are invented, and so is what tools do not compute.
"""


# -- The tables of Multi-Mission Tool Bench, of a run or of a pool.
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), Tables 1 to 4; Figure 8 (accuracy by number of
# missions) and Figure 9 (the heat map of type sequences) are drawn without numbers. Tables 1 and 2
# head their columns of mission types with symbols that the text at hand has lost. Those of Table 2
# follow from its figures: columns 4 to 6 are multiples of 1/157, 1/16 and 1/84, the numbers of
# parallel, serial and mixed missions, and columns 1 to 3 of 1/256. Those of Table 1 are in an order
# that fits the marks of ToolBench (single and serial) and BFCL v1 (single, chat and parallel).

_ROWS = shipped_rows("seal.benchmarks.mmtb")
_LONGEST = 4
"""Missions of a dialogue in the paper's space of switches."""
_DERIVED = "the headings of the mission types are derived: the paper's symbols are lost in our text"
_PLAYED = {"": "seal run mmtb, with missions of every kind"}
_BY_TYPE = {
    **{name: name for name in ("single", "chat", "clarify", "parallel", "serial", "mixed")},
    "Optimal Path Rate": "optimal path",
    "Accomplished Progress": "progress",
}
"""Heading of Table 2 to ours."""
_BY_RELATION = {
    "Implicit": "implicit",
    "Ellipsis": "ellipsis",
    "Long-Term": "memory",
    **{name: name for name in IMPLIED},
}
_ERRORS = {
    "Tool Errors": "tool errors",
    "Name Hallu.": "name hallucination",
    "Value Hallu.": "value hallucination",
    "Value Err": "value error",
}


def _shares(headings: Mapping[str, str], *titles: str) -> Callable[[Lane], Figures]:
    """Return what gives the shares of a run's tables, by how these begin, in per cent."""

    def figures(lane: Lane) -> Figures:
        tables = mission_tables(runs_of([lane]))
        rows = [each.rows[lane.label] for each in tables if each.title.startswith(titles)]
        found = {name: share.per_cent for row in rows for name, share in row.items()}
        return {"": {head: found[name] for head, name in headings.items() if name in found}}

    return figures


def _by_number(lane: Lane) -> Figures:
    """Return the accuracy by number of missions so far, in per cent."""
    tables = mission_tables(runs_of([lane]))
    rows = [row.rows[lane.label] for row in tables if row.title.startswith("accuracy by number")]
    return {"": {name: share.per_cent for row in rows for name, share in row.items()}}


def _data_set(pool: StoredPool) -> Figures:
    """Return Table 1 of a pool: of mission types, the numbers of missions."""
    found = count_missions(pool.tasks_if_any())
    if not found.missions:
        return {}
    later = found.missions - found.dialogues
    reached = sum(found.sequences.get(length, 0) for length in range(1, _LONGEST + 1))
    space = sum(len(TYPES) ** length for length in range(1, _LONGEST + 1))
    kinds = {**found.types, **found.leaves}
    row: dict[str, float | str | None] = {
        "MutMiss": "yes" if later else "no",
        "Rate of RelMiss": Share(found.related, later).per_cent,
        "MSSS": 100 * reached / space,
        **{name: kinds.get(name, 0) for name in ("single", "chat", "clarify", *LEAVES)},
        "missions": found.missions,
    }
    return {"MMTB" if pool.name == "mmtb" else "": row}


def _heat_map(lane: Lane) -> Figures:
    """Return the accuracy of the last mission: earlier types to the last one's."""
    rows: dict[str, dict[str, float | None]] = {}
    for layer in pyramid(runs_of([lane])[lane.label]):
        for route, share in layer.routes.items():
            row = rows.setdefault(", ".join(route[:-1]) or "at first", dict.fromkeys(TYPES))
            row[route[-1]] = share.per_cent
    return rows


TABLES = (
    PublishedTable(
        "Data sets: several and related missions, space of switches, and types; of ours, missions",
        "MMTB, Table 1",
        _ROWS["table-1"],
        digits=1,
        figures=_data_set,
        of="pool",
        needs={"": "tasks whose missions have a type: seal import mmtb or bfcl SOURCE --out POOL"},
        notes=(
            _DERIVED,
            "Rate of RelMiss of ours is that of missions after a dialogue's first, MSSS that of "
            f"the {sum(len(TYPES) ** n for n in range(1, _LONGEST + 1))} sequences of one to four "
            "types",
        ),
        takes_any=True,
    ),
    PublishedTable(
        "Accuracy by type of missions, optimal paths and progress, %",
        "MMTB, Table 2",
        _ROWS["table-2"],
        scale=100.0,
        figures=_shares(_BY_TYPE, "accuracy by type", "optimal paths"),
        needs=_PLAYED,
        notes=(_DERIVED,),
    ),
    PublishedTable(
        "Accuracy by relation to earlier missions, %",
        "MMTB, Table 3",
        _ROWS["table-3"],
        scale=100.0,
        figures=_shares(_BY_RELATION, "optimal paths"),
        needs=_PLAYED,
    ),
    PublishedTable(
        "Errors, % of failed missions",
        "MMTB, Table 4",
        _ROWS["table-4"],
        scale=100.0,
        figures=_shares(_ERRORS, "errors"),
        needs={"": "seal run mmtb, and missions that failed"},
    ),
    PublishedTable(
        "Accuracy by number of missions, %",
        "MMTB, Figure 8",
        scale=100.0,
        figures=_by_number,
        needs=_PLAYED,
    ),
    PublishedTable(
        "Accuracy of the last mission by the types before it, %",
        "MMTB, Figure 9",
        scale=100.0,
        name="heat-map",
        figures=_heat_map,
        needs=_PLAYED,
        drawn="heat",
    ),
)

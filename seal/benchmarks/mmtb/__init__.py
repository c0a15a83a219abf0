"""Multi-Mission Tool Bench: its benchmarks, and the paper's tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seal.evaluation.mission_gold import TYPES
from seal.pools.benchmark import Benchmark
from seal.pools.counts import count_missions
from seal.pools.declarations import Generator, PublishedTable, SourceFlag
from seal.pools.pool import StoredPool
from seal.report.lanes import Lane
from seal.report.mission_section import mission_tables, pyramid, runs_of
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
"""The small benchmark of related missions that ships: 256 dialogues of four, of our own making.

Each sequence of the four mission types stands once. A grammar that earlier versions had made them
over the tools of the sample, and the simulator `template` their results; no model took part.
Each dialogue passed the machine checks of `seal.benchmarks.mmtb.generation_scene`. Arguments
are compared by the scorer `exact`. A request states every value as the call needs it, or refers to
one in an earlier text. Persons, companies and all results are invented.
"""


# -- The tables of Multi-Mission Tool Bench, of a run or of a pool.
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), Tables 1 to 4 and the heat map of type
# sequences. Only the size of the data set is at hand.

_PLAYED = {"": "seal run mmtb, with missions of every kind"}


def _of_tables(*titles: str) -> Callable[[Lane], Figures]:
    """Return what gives the figures of tables of a run by how their titles begin, in per cent."""

    def figures(lane: Lane) -> Figures:
        tables = mission_tables(runs_of([lane]))
        found = [each.rows[lane.label] for each in tables if each.title.startswith(titles)]
        return {"": {name: share.per_cent for row in found for name, share in row.items()}}

    return figures


def _data_set(pool: StoredPool) -> Figures:
    found = count_missions(pool.tasks())
    reached = {
        f"sequences of {length}, %": 100 * different / len(TYPES) ** length
        for length, different in found.sequences.items()
    }
    related = Share(found.related, found.missions).per_cent
    counts = {"missions": found.missions, "mission types": len(found.types), "related, %": related}
    return {"": {**counts, **reached}}


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
        "Missions of the data set",
        "MMTB, Table 1",
        {"MMTB": {"missions": 1024, "mission types": 4}},
        lacks="its shares, and all of other data sets",
        digits=1,
        figures=_data_set,
        of="pool",
    ),
    PublishedTable(
        "Accuracy by type and by number of missions, %",
        "MMTB, Table 2",
        scale=100.0,
        figures=_of_tables("accuracy by type", "accuracy by number"),
        needs=_PLAYED,
    ),
    PublishedTable(
        "Optimal paths, progress, and accuracy by relation, %",
        "MMTB, Table 3",
        scale=100.0,
        figures=_of_tables("optimal paths"),
        needs=_PLAYED,
    ),
    PublishedTable(
        "Errors, % of failed missions",
        "MMTB, Table 4",
        scale=100.0,
        figures=_of_tables("errors"),
        needs={"": "seal run mmtb, and missions that failed"},
    ),
    PublishedTable(
        "Accuracy of the last mission by the types before it, %",
        "MMTB, heat map",
        scale=100.0,
        name="heat-map",
        figures=_heat_map,
        needs=_PLAYED,
        drawn="heat",
    ),
)

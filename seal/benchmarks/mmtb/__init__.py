"""Multi-Mission Tool Bench (MMTB): its tool lists, and its test records as tasks of missions."""

from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark
from seal.pools.generator import Generator, SourceFlag

give_names(__name__)

_MAKING = "seal.benchmarks.mmtb.generation"
_PAPER = "seal.benchmarks.mmtb.paper:TABLES"
MMTB = Benchmark(
    "mmtb",
    published=_PAPER,
    importer="seal.benchmarks.mmtb.importer:import_mmtb",
    generators={
        "missions": Generator(
            make=f"{_MAKING}.generate:generate_missions",
            about="Make dialogues of related missions by a model.\n\n"
            "User, planner, checker, agent and simulator talk to each other.",
            settings=f"{_MAKING}.settings:MissionSettings",
            source=SourceFlag(
                help="Pool whose tools are called.",
                flag="--tools",
                default="sample",
            ),
            stage="dialogues",
            is_slow=True,
            told=f"{_MAKING}.generate:missions_told",
        )
    },
)
SAMPLE = Benchmark("mmtb-sample", folder=Path(__file__).parent / "sample", published=_PAPER)

"""ToolSandbox: its scenarios as tasks of the phone, its trajectories as runs."""

from dataclasses import replace
from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark
from seal.pools.generator import Generator, SourceFlag

give_names(__name__)

_HERE = "seal.benchmarks.toolsandbox"

SCENARIOS = Benchmark(
    "scenarios",
    importer=f"{_HERE}.scenarios.importer:import_scenarios",
    world_files=("web.json",),
    documents=f"{_HERE}.phone.descriptions:documents",
    ablations=(f"{_HERE}.ablation:DESCRIPTIONS",),
    metrics=("honesty",),
    published=f"{_HERE}.paper:TABLES",
)
TOOLSANDBOX = replace(
    SCENARIOS,
    name="toolsandbox",
    importer=f"{_HERE}.importer:import_toolsandbox",
    generators={
        "milestones": Generator(
            make=f"{_HERE}.generator:generate_milestones",
            about="Propose milestones, their order and guarded tables from played solutions.",
            settings=f"{_HERE}.drafts.settings:MilestoneSettings",
            source=SourceFlag(
                help="Run folder, whose chats are used; or a benchmark, whose references are used.",
                metavar="RUN|POOL",
            ),
            to_file=True,
            told=f"{_HERE}.generator:milestones_told",
        )
    },
    augmentations={"toolsandbox": f"{_HERE}.augmentations:VARIANTS"},
)
SAMPLE = replace(
    SCENARIOS, name="toolsandbox-sample", importer=None, folder=Path(__file__).parent / "sample"
)

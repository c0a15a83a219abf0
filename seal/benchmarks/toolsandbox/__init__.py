"""ToolSandbox: its benchmarks and eight augmentations."""

from dataclasses import replace
from pathlib import Path

from seal.core import Task
from seal.pools.augmentation import SCRAMBLINGS, Augmentation
from seal.pools.benchmark import Benchmark
from seal.pools.declarations import Generator, NeededWorld, SourceFlag

# -- ToolSandbox: its scenarios as tasks of the phone, its trajectories as runs.

_HERE = "seal.benchmarks.toolsandbox"


def needed(task: Task) -> NeededWorld | None:
    """Return that a task of a phone needs it: what its tools do there is what is asked."""
    return NeededWorld(task.world) if task.world else None


SCENARIOS = Benchmark(
    "scenarios",
    importer=f"{_HERE}.scenarios.importer:import_scenarios",
    needs_world=f"{_HERE}:needed",
    world_files=("web.json",),
    metrics=("honesty",),
    published=f"{_HERE}.tables:TABLES",
    generators={
        "scenarios": Generator(
            make=f"{_HERE}.scenarios.generation:generate_scenarios",
            about="Make scenarios of the goal templates of a world; each is proved in it.",
            settings=f"{_HERE}.scenarios.generation:ScenarioSettings",
            source=SourceFlag(
                help="World whose goal templates are filled, or several that + joins.",
                metavar="WORLD",
                flag="--world",
            ),
            stage="scenarios",
            told=f"{_HERE}.scenarios.generation:scenarios_told",
        )
    },
)
TOOLSANDBOX = replace(
    SCENARIOS,
    name="toolsandbox",
    generators={},
    importer=f"{_HERE}.importer:import_toolsandbox",
    augmentations={"toolsandbox": f"{_HERE}:VARIANTS"},
)
SAMPLE = replace(
    SCENARIOS,
    name="toolsandbox-sample",
    importer=None,
    generators={},
    folder=Path(__file__).parent / "sample",
)
"""The small benchmark of a stateful world that ships: scenarios on a phone, of our own making.

`sample/authored/` holds the worlds and scenarios as they were written
(`seal.benchmarks.toolsandbox.scenarios`), one file a category; beside it lies the pool that they
compile to:

    seal import scenarios sample/authored --out POOL -T benchmark=toolsandbox-sample

`sample/limits/` holds six scenarios that are not of that pool: three ask for confirmation before a
call (`confirmations.json`), and a timer rings in the others (`timers.json`). They are imported
alike:

    seal import scenarios sample/limits/timers.json --out TIMERS

Each scenario has a gold sequence, which the model `oracle` plays, and at least one wrong one, which
`recorded:wrong` plays. Persons, companies, messages and the web's answers are invented.
"""

PHONE = replace(
    SAMPLE,
    name="phone",
    folder=Path(__file__).parent / "phone" / "sample",
    play={"team": "direct"},
)
"""The scenarios of `toolsandbox-sample`, and harder ones that goal templates make (`phone.goals`).

`perf/samples/compile_samples.py phone sample/authored POOL` gives this pool. `toolsandbox-sample`
is the scenarios that were written alone, with the recordings of their other sequences.
"""


# -- The tool augmentations of ToolSandbox, as `seal augment` takes them.

VARIANTS = (
    *(Augmentation(number) for number in (0, 3, 10)),
    Augmentation("all"),
    *(Augmentation(3, (what,)) for what in SCRAMBLINGS),
)
"""The eight variants of each base scenario (ToolSandbox, section 3.3)."""

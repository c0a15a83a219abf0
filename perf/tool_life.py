"""Turns a second of dialogues that the team of a tool's life plays, beside a bare AutoGen chat.

    python perf/tool_life.py [--short]

The model `lexical` plays dialogues of `dialogtool-sample` in the virtual mobile: with gold
decisions, in which a teacher speaks too, and with its own, in which calls are run. The reference is
AutoGen's own group chat with prepared messages, as many as the dialogue has steps
(`perf/conversation.py`). All are played in turns in this process; CPU time. A turn is one message
of the user and all that answers it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from conversation import bare_chat
from timing import seconds_of

from seal.pools.lookup import open_pool
from seal.runs.engine import Engine
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings

POOL = "dialogtool-sample"
DECISIONS = ("gold", "own")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; no budget."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few dialogues")
    number = 4 if parser.parse_args(argv).short else 33
    with tempfile.TemporaryDirectory() as name:
        engines = {decisions: prepared(decisions, Path(name)) for decisions in DECISIONS}
        tasks = [task for task in open_pool(POOL).tasks() if task.world][:number]
        turns = sum(len(task.goals) for task in tasks)
        spent = dict.fromkeys(DECISIONS, 0.0)
        reference = dict.fromkeys(DECISIONS, 0.0)
        for decisions, engine in engines.items():
            with engine:
                engine.play(tasks[0], 0)
                bare_chat(4)
                for trial, task in enumerate(tasks, start=1):
                    steps = len(engine.play(task, trial).steps)
                    spent[decisions] += seconds_of(partial(engine.play, task, 0))
                    reference[decisions] += seconds_of(partial(bare_chat, steps))
    print(f"{len(tasks)} dialogues, {turns} turns{'turns/s':>16}{'bare AutoGen':>14}{'ratio':>8}")
    for decisions in DECISIONS:
        ours, bare = spent[decisions], reference[decisions]
        print(
            f"decisions={decisions:<18}{turns / ours:14.0f}{turns / bare:14.0f}{ours / bare:8.2f}"
        )
    return 0


def prepared(decisions: str, folder: Path) -> Engine:
    """Return the engine of a run of the sample."""
    run = folder / decisions
    run.mkdir()
    asked = RunSettings(
        pool=POOL,
        model="lexical",
        baselines=False,
        world_options={"decisions": decisions},
        cache_dir=folder / "cache",
    )
    return Engine.of(asked, RunFolder(run))


if __name__ == "__main__":
    sys.exit(main())

"""What a trained map of MiniLM's vectors is worth: on held-out queries, tools and benchmarks.

    python perf/training.py [--short] [--out results/training.md] [--tasks 300] [--cache record]
        [--learning-rate 1e-4]

Every benchmark is held out in turn: a map is trained on the pools of all others and tested on its
own. Pools of one benchmark share tools, so they are held out together. Beside it stand two splits
within each pool, by query and by tool. Benchmark files are those of SEAL_DATA (by default
../shared/data); one that is not there is named. `--tasks` is how many tasks of a pool stand for
all. `--short` has two samples of a few tasks, and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recall import METRIC, K, place_of

import seal
from seal.api.pools import load_pool
from seal.cli.failure import tell
from seal.core import CacheMode
from seal.core.records import write_records
from seal.experiments.training.training_settings import BY_BENCHMARK, SplitKind, TrainSettings
from seal.pools.task_order import prefix

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = {
    "ToolBench": ("StableToolBench", "AnyTool"),
    "MetaTool": ("MetaTool single", "MetaTool multi"),
    "BFCL": ("BFCL",),
    "APIBench": ("APIBench HF", "APIBench TF", "APIBench torch"),
    "SGD": ("SGD",),
    "LiveMCPBench": ("LiveMCPBench",),
}
SHORT = {"toolscan-sample": ("toolscan-sample",), "dialogtool-sample": ("dialogtool-sample",)}
NEGATIVES = 4
RECIPE: Mapping[str, Any] = {"trains": "map", "negatives": NEGATIVES, "negatives_by": "tfidf"}
WITHIN: tuple[SplitKind, ...] = ("query", "tool")


class Gain(NamedTuple):
    """Recall of one retriever before and after."""

    before: float
    after: float
    low: float
    """Of the 95 % interval of the difference, by pairs of the same query."""
    high: float

    @property
    def text(self) -> str:
        """The cell of a table."""
        gain = self.after - self.before
        interval = f"[{self.low:+.3f}, {self.high:+.3f}]"
        return f"{self.before:.3f} | {self.after:.3f} | {gain:+.3f} {interval}"


class Row(NamedTuple):
    """One pool under one split."""

    pool: str
    trained_on: int
    """Pairs."""
    queries: int
    overlap: str
    gains: tuple[Gain, ...]
    """Of the encoder alone; of a benchmark held out also of the default retriever."""
    seconds: float
    """Of CPU that the training took, its embeddings kept, its own tests included."""


def written(name: str, place: str | Path, tasks: int, folder: Path) -> Path:
    """Return a folder of a pool with the tasks that stand for all that need a tool."""
    pool = load_pool(place)
    able = [task for task in pool.tasks() if any(goal.relevant for goal in task.goals)]
    chosen = prefix(able, tasks)
    out = folder / name.replace(" ", "-")
    write_records(out / "tools.jsonl", pool.tools())
    write_records(out / "tasks.jsonl", [task for task in able if task.id in chosen])
    return out


def trained(
    train: Sequence[Path],
    tested: Mapping[str, Path],
    split: SplitKind,
    out: Path,
    recipe: Mapping[str, Any],
) -> Iterator[Row]:
    """Train a map by a recipe, and yield a row for each pool that is tested."""
    begun = time.process_time()
    record = seal.train_retriever(
        train,
        out=out,
        test_on=list(tested.values()) if split == BY_BENCHMARK else (),
        split=split,
        k=[K],
        **recipe,
    )
    seconds = time.process_time() - begun
    overlaps = record["near_duplicates"]["pools"]
    for (name, place), overlap in zip(tested.items(), overlaps, strict=True):
        found = {entry["pool"]: entry for entry in record["results"]}[overlap["pool"]]
        gains = [gain_of(record, overlap["pool"], "before", "after")]
        if split == BY_BENCHMARK:
            gains.append(gain_in_hybrid(place, out, recipe["cache"]))
        told = (
            f"{overlap['near']} of {overlap['queries']}; "
            f"{overlap['tools_trained']} of {overlap['tools']}"
        )
        pairs = record["counts"]["pairs"]
        yield Row(name, pairs, int(found["queries"]), told, tuple(gains), seconds)


def gain_of(content: Mapping[str, Any], pool: str, before: str, after: str) -> Gain:
    """Return how much better one retriever is than another in a pool."""
    means = {
        entry["retriever"]: entry["metrics"][METRIC]["mean"]
        for entry in content["results"]
        if entry["pool"] == pool
    }
    for test in content["comparisons"]:
        if (test["pool"], test["metric"], test["retriever"]) == (pool, METRIC, after):
            return Gain(means[before], means[after], test["low"], test["high"])
    raise KeyError(f"{after} is compared with nothing in {pool}")


def gain_in_hybrid(place: Path, model: Path, cache: CacheMode) -> Gain:
    """Return what the map is worth within the default retriever."""
    after = f"hybrid,model={model}"
    found = seal.retrieve(place, [after, "hybrid"], K, cache=cache).content
    return gain_of(found, found["results"][0]["pool"], "hybrid", after)


def rows(
    pools: Mapping[str, Mapping[str, Path]], folder: Path, recipe: Mapping[str, Any]
) -> Iterator[tuple[str, Row]]:
    """Yield the split and a row, benchmarks first.

    Args:
        pools: Benchmark to its pools by name.
        folder: Of the maps.
        recipe: Of the training.
    """
    for held_out, tested in pools.items():
        others = [
            place for name, parts in pools.items() if name != held_out for place in parts.values()
        ]
        out = folder / f"benchmark-{held_out}"
        for row in trained(others, tested, BY_BENCHMARK, out, recipe):
            yield BY_BENCHMARK, row
    for split in WITHIN:
        for parts in pools.values():
            for name, place in parts.items():
                out = folder / f"{split}-{place.name}"
                for row in trained([place], {name: place}, split, out, recipe):
                    yield split, row


TITLES = {
    BY_BENCHMARK: "A benchmark held out: trained on the pools of all others",
    "query": "A fifth of the tasks held out: trained on the others of the same pool",
    "tool": "A fifth of the needed tools held out, with every task that needs one",
}


def page(found: Sequence[tuple[str, Row]], absent: Sequence[str], tasks: int, rate: float) -> str:
    """Return everything as a Markdown page."""
    lines = [
        "# What training is worth",
        "",
        f"Written by `python perf/training.py --tasks {tasks}`: {METRIC} before and after "
        "training, and the gain with its 95 % interval (paired bootstrap over queries). Trained is "
        "a linear map of all-MiniLM-L6-v2's vectors: two matrices of 384 x 384, 1.2 MB, in ten "
        f"epochs at the learning rate {rate:g}, {NEGATIVES} hard negatives "
        f"a pair by TF-IDF. {tasks} tasks stand for all of a larger pool. `dense` is the encoder "
        "alone, `hybrid` the default retriever.",
        "",
        "Overlap: test queries that a training query nearly repeats (likeness of 90 or more), "
        "which `dense` leaves out of a held-out benchmark; and tools that the test needs and "
        "training knows.",
        "",
    ]
    for split, title in TITLES.items():
        mine = [row for kind, row in found if kind == split]
        if mine:
            lines += [f"## {title}", "", *table(mine), ""]
    lines += [f"- {name} is absent: SEAL_DATA has no files of it" for name in absent]
    return "\n".join(lines).rstrip() + "\n"


def table(found: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of one table."""
    head = ["pool", "pairs", "queries", "overlap: queries; tools", "CPU s"]
    for name, _ in zip(("dense", "hybrid"), found[0].gains, strict=False):
        head += [name, "trained", "gain"]
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in found:
        gains = " | ".join(gain.text for gain in row.gains)
        yield (
            f"| {row.pool} | {row.trained_on:,} | {row.queries:,} | {row.overlap} | "
            f"{row.seconds:.0f} | {gains} |"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Train, measure and print; a gain that is not there is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="two samples, for CI")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "training.md")
    parser.add_argument("--tasks", type=int, default=300, help="of each pool")
    parser.add_argument("--cache", choices=("record", "replay"), default="record")
    parser.add_argument("--learning-rate", type=float, help="default: that of a map")
    arguments = parser.parse_args(argv)
    given = {"cache": arguments.cache, "learning_rate": arguments.learning_rate}
    recipe = {**RECIPE, **given}
    rate = TrainSettings(**recipe).rate
    data = Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared/data")
    tasks = 20 if arguments.short else arguments.tasks
    found: list[tuple[str, Row]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pools: dict[str, dict[str, Path]] = {}
        absent: list[str] = []
        for benchmark, names in (SHORT if arguments.short else BENCHMARKS).items():
            for name in names:
                place = place_of(name, data, folder / "whole")
                if place is None:
                    absent.append(name)
                else:
                    small = written(name, place, tasks, folder / "pools")
                    pools.setdefault(benchmark, {})[name] = small
        for split, row in rows(pools, folder, recipe):
            found.append((split, row))
            tell(f"{split}: {row.pool}: {'; '.join(gain.text for gain in row.gains)}")
            if not arguments.short:
                arguments.out.write_text(page(found, absent, tasks, rate))
    print(page(found, absent, tasks, rate))
    return 0


if __name__ == "__main__":
    sys.exit(main())

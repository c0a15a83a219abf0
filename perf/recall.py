"""Recall of the offline retrievers on real benchmarks, beside the figures that are wanted.

    python perf/recall.py [--short] [--out results/recall.json] [--cache-dir DIR]

Nothing is trained on any of the benchmarks. Their files are those of SEAL_DATA (by default
../shared/data); a benchmark that is not there, or a retriever that cannot be asked, is named with
the reason. Embeddings are kept in --cache-dir, so that only the first run computes them. Beside
the JSON file a Markdown file of the same name is written. `--short` measures the shipped sample and
one small benchmark, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from offline_recall.figures import figures, measure_grid, measure_wanted
from offline_recall.page import as_text, content, grid_lines, markdown
from offline_recall.pools import GRID, SMALL, Pools
from offline_recall.retrievers import RETRIEVERS, SENTENCES, K

import seal

ROOT = Path(__file__).resolve().parents[1]


def glance(pools: Pools, folder: Path) -> None:
    """Print the figures of the shipped sample and of one small benchmark."""
    retrievers = [*RETRIEVERS.values(), SENTENCES]
    cache = folder / "cache"
    grid = measure_grid([SMALL], retrievers, pools, cache, folder)
    sample = figures(seal.retrieve("sample", retrievers, K, cache_dir=cache).content, "sample")
    for figure in (*sample, *grid.figures):
        print(f"{figure.pool:15} {figure.retriever:60} {as_text(figure)}")
    if grid.pytrec_difference is not None:
        print(f"largest difference from pytrec_eval: {grid.pytrec_difference:.1e}")
    for name, reason in pools.absent.items():
        print(f"{name}: skipped, {reason}")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print beside what is wanted; a missed figure is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a small part, for CI")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "recall.json")
    parser.add_argument("--cache-dir", type=Path, help="folder of kept embeddings")
    arguments = parser.parse_args(argv)
    data = Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared/data")
    with tempfile.TemporaryDirectory() as folder:
        pools = Pools(data, Path(folder) / "pools")
        if arguments.short:
            glance(pools, Path(folder))
            return 0
        cache = arguments.cache_dir or Path(folder) / "cache"
        wanted = []
        for goal, found in measure_wanted(pools, cache):
            wanted.append((goal, found))
            print(
                f"{goal.pool:16} {goal.size!s:4} wanted {goal.recall}: {as_text(found)}", flush=True
            )
        grid = measure_grid(GRID, list(RETRIEVERS.values()), pools, cache, Path(folder) / "grid")
    print("\n".join(grid_lines(grid)))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(content(wanted, grid, pools), indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(markdown(wanted, grid, pools))
    return 0


if __name__ == "__main__":
    sys.exit(main())

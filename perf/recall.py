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
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import seal

ROOT = Path(__file__).resolve().parents[1]
K = 10
MODEL = "model=all-MiniLM-L6-v2"
SENTENCES = f"hybrid,{MODEL},weight=0.6,sentences=true"
RETRIEVERS = {
    "BM25": "bm25",
    "TF-IDF": "tfidf",
    "MiniLM": f"dense,{MODEL}",
    "hybrid": f"hybrid,{MODEL}",
}
SMALL = "APIBench torch"
"""The benchmark of `--short`: 186 queries over 94 tools."""


class Source(NamedTuple):
    """One pool: where it comes from, and what each of `RETRIEVERS` once measured on its files.

    That was another program, on the queries as its author read them: recall@10 and mrr@10.
    """

    importer: str
    folder: str
    options: dict[str, str]
    earlier: tuple[tuple[float, float], ...] = ()


class Wanted(NamedTuple):
    """A figure that is wanted, and the retriever that should reach it."""

    pool: str
    recall: float | None
    """None: ours is reported alone."""
    retriever: str
    size: int | str = "all"


SOURCES = {
    "StableToolBench": Source(
        "toolbench",
        "stabletoolbench",
        {},
        ((0.754, 0.728), (0.818, 0.797), (0.704, 0.680), (0.808, 0.790)),
    ),
    "AnyTool": Source(
        "anytool", "anytool", {}, ((0.404, 0.418), (0.471, 0.477), (0.458, 0.461), (0.539, 0.506))
    ),
    "MetaTool single": Source(
        "metatool",
        "metatool",
        {"set": "single"},
        ((0.661, 0.480), (0.702, 0.507), (0.833, 0.637), (0.858, 0.664)),
    ),
    "MetaTool multi": Source(
        "metatool",
        "metatool",
        {"set": "multi"},
        ((0.616, 0.493), (0.714, 0.625), (0.735, 0.605), (0.829, 0.725)),
    ),
    "BFCL": Source(
        "bfcl",
        "bfcl",
        {"categories": "python_gold", "tool_per": "name"},
        ((0.843, 0.633), (0.840, 0.655), (0.881, 0.657), (0.914, 0.719)),
    ),
    "APIBench HF": Source(
        "apibench",
        "apibench",
        {"hub": "huggingface"},
        ((0.377, 0.209), (0.411, 0.215), (0.438, 0.236), (0.476, 0.258)),
    ),
    "APIBench TF": Source(
        "apibench",
        "apibench",
        {"hub": "tensorflow"},
        ((0.487, 0.210), (0.462, 0.202), (0.561, 0.320), (0.542, 0.293)),
    ),
    "APIBench torch": Source(
        "apibench",
        "apibench",
        {"hub": "torchhub"},
        ((0.382, 0.233), (0.382, 0.214), (0.435, 0.234), (0.441, 0.231)),
    ),
    "SGD": Source(
        "dialogtool", "sgd", {}, ((0.798, 0.453), (0.811, 0.463), (0.987, 0.699), (0.986, 0.614))
    ),
    "BFCL by content": Source("bfcl", "bfcl", {"categories": "python_gold"}),
}
GRID = tuple(name for name, source in SOURCES.items() if source.earlier)
WANTED = (
    Wanted("StableToolBench", 0.83, f"{SENTENCES},1.template=full"),
    Wanted("BFCL", 0.93, f"hybrid,{MODEL},weight=0.6,template=full"),
    Wanted("BFCL by content", None, f"hybrid,{MODEL},weight=0.6,template=full"),
    Wanted("MetaTool single", 0.85, f"hybrid,{MODEL}"),
    Wanted("MetaTool multi", 0.83, SENTENCES),
    Wanted("AnyTool", 0.57, f"{SENTENCES},1.template=full"),
    Wanted("APIBench HF", 0.48, f"hybrid,{MODEL},template=full"),
    Wanted("SGD", 0.98, f"dense,{MODEL}"),
    Wanted("StableToolBench", 0.89, f"{SENTENCES},1.template=full", 500),
    Wanted("BFCL", 0.95, f"hybrid,{MODEL},weight=0.6,template=full", 500),
)


class Pools:
    """Imports each benchmark when it is first asked for.

    Args:
        data: Folder of the upstream files.
        folder: Where pools are written.
    """

    def __init__(self, data: Path, folder: Path) -> None:
        self._data = data
        self._folder = folder
        self.absent: dict[str, str] = {}
        """Name to the reason."""

    def place(self, name: str) -> Path | None:
        """Return the pool's folder; None where its files are not here."""
        if name in self.absent:
            return None
        source = SOURCES[name]
        out = self._folder / name.replace(" ", "-")
        if not out.is_dir():
            if not (self._data / source.folder).is_dir():
                self.absent[name] = f"SEAL_DATA has no folder {source.folder}"
                return None
            seal.import_benchmark(
                source.importer, self._data / source.folder, out, **source.options
            )
        return out


class Figure(NamedTuple):
    """One retriever on one pool; `recall` and `mrr` are {mean, low, high}, None if unavailable."""

    pool: str
    size: str
    tools: int
    queries: float
    samples: int
    digest: str
    retriever: str
    options: dict[str, Any]
    template: str | None
    recall: dict[str, float] | None
    mrr: dict[str, float] | None
    unavailable: str | None


def figures(result: dict[str, Any], name: str) -> Iterator[Figure]:
    """Yield the figures of an experiment over one pool, which gets a name."""
    asked = {retriever["retriever"]: retriever for retriever in result["retrievers"]}
    for entry in result["results"]:
        retriever = asked[entry["retriever"]]
        yield Figure(
            name,
            str(entry["size"]),
            entry["tools"],
            entry["queries"],
            entry["samples"],
            entry["pool_digest"],
            entry["retriever"],
            retriever["options"],
            retriever["template"],
            _interval(entry, f"recall@{K}"),
            _interval(entry, f"mrr@{K}"),
            entry.get("unavailable"),
        )


def _interval(entry: dict[str, Any], metric: str) -> dict[str, float] | None:
    found = entry["metrics"].get(metric)
    return None if found is None else {name: found[name] for name in ("mean", "low", "high")}


def measure_wanted(pools: Pools, cache: Path) -> Iterator[tuple[Wanted, Figure]]:
    """Yield each wanted figure with ours; a benchmark that is not here is left out."""
    for wanted in WANTED:
        place = pools.place(wanted.pool)
        if place is None:
            continue
        result = seal.retrieve(
            place, wanted.retriever, K, pool_sizes=(wanted.size,), cache_dir=cache
        )
        yield wanted, next(figures(result, wanted.pool))


class Grid(NamedTuple):
    """All pools under all retrievers."""

    figures: list[Figure]
    seconds: float
    cpu_seconds: float
    pytrec_difference: float | None
    """Largest absolute difference of mean recall@10 and mrr@10 from pytrec_eval's."""


def measure_grid(
    names: Sequence[str],
    retrievers: Sequence[str],
    pools: Pools,
    cache: Path,
    folder: Path,
) -> Grid:
    """Measure the pools that are here; embeddings are computed before the clock starts."""
    places = {name: place for name in names if (place := pools.place(name)) is not None}
    if places:
        seal.retrieve(list(places.values()), RETRIEVERS["MiniLM"], K, cache_dir=cache)
    wall, cpu = time.perf_counter(), time.process_time()
    results = {
        name: seal.retrieve(place, retrievers, K, out=folder / name, cache_dir=cache)
        for name, place in places.items()
    }
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    gaps = [gap for name in results for gap in gaps_to_pytrec(results[name], folder / name)]
    found = [figure for name in results for figure in figures(results[name], name)]
    return Grid(found, wall, cpu, max(gaps, default=None))


def gaps_to_pytrec(result: dict[str, Any], folder: Path) -> Iterator[float]:
    """Yield how far each mean is from that of pytrec_eval over the TREC files of one pool."""
    theirs = dict(map(pytrec_means, folder.glob("*/run.trec")))
    for entry in result["results"]:
        for metric, name in ((f"recall@{K}", f"recall_{K}"), (f"mrr@{K}", "recip_rank")):
            if metric in entry["metrics"]:
                ours = entry["metrics"][metric]["mean"]
                yield abs(ours - theirs[entry["retriever"]][name])


def pytrec_means(run: Path) -> tuple[str, dict[str, float]]:
    """Return the retriever that wrote a run, and the means of pytrec_eval over all queries."""
    import pytrec_eval

    with run.with_name("qrels.trec").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with run.open() as file:
        retriever = file.readline().split()[-1]
        file.seek(0)
        ranked = pytrec_eval.parse_run(file)
    measures = {f"recall.{K}", "recip_rank"}
    scored = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(ranked)
    names = (f"recall_{K}", "recip_rank")
    return retriever, {
        name: sum(scored.get(query, {}).get(name, 0.0) for query in qrels) / len(qrels)
        for name in names
    }


def templates(figure: Figure) -> str:
    """Return the document template; of a hybrid whose parts differ, that of each."""
    of_each = [figure.options.get(f"{part}.template") for part in (1, 2)]
    shared = figure.template or ""
    return ", ".join(one or shared for one in of_each) if any(of_each) else shared


def as_text(figure: Figure) -> str:
    """Return recall and its interval, else why there is none."""
    if figure.recall is None:
        return f"unavailable: {figure.unavailable}"
    return "{mean:.3f} [{low:.3f}, {high:.3f}]".format(**figure.recall)


def markdown(wanted: Sequence[tuple[Wanted, Figure]], grid: Grid, pools: Pools) -> str:
    """Return all figures as a Markdown page."""
    lines = [
        "# Recall of the offline retrievers",
        "",
        f"Written by `perf/recall.py`. Recall@{K} is the mean over all queries with its 95 % "
        "interval; of drawn pools it is the mean of the samples. Nothing is trained on these "
        "benchmarks, but kind, weight and template were chosen by their queries. MiniLM is "
        "all-MiniLM-L6-v2. Every retriever stands as `seal retrieve --retriever` takes it.",
        "",
        "| pool | pool size | tools | queries | wanted | ours | retriever | template | digest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for goal, found in wanted:
        cells = (
            found.pool,
            found.size if found.samples == 1 else f"{found.size}, {found.samples} samples",
            found.tools,
            f"{found.queries:,.0f}",
            "" if goal.recall is None else f"{goal.recall:.2f}",
            as_text(found),
            f"`{found.retriever}`",
            templates(found),
            f"`{found.digest[:12]}`",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        "",
        "BFCL: the documents of one function name are one tool, the first stands for all. By "
        "content each different document is a tool, and only the request's own one counts: many "
        "differ by a few words alone.",
        "",
        "## All pools, four retrievers",
        "",
        *grid_lines(grid),
    ]
    lines += [f"- {name} is absent: {reason}" for name, reason in pools.absent.items()]
    return "\n".join(lines) + "\n"


def grid_lines(grid: Grid) -> Iterator[str]:
    """Yield the table of the grid, and what it took."""
    yield (
        "recall@10 / mrr@10; in brackets what an earlier program of another author measured on the "
        "same files. There MetaTool single is a sample of 3,000 queries, here it is all of them."
    )
    yield ""
    yield f"| pool | tools | queries | {' | '.join(RETRIEVERS)} |"
    yield "|---|---|---|---|---|---|---|"
    for name in GRID:
        row = [figure for figure in grid.figures if figure.pool == name]
        if not row:
            continue
        cells = [
            beside(figure, earlier)
            for figure, earlier in zip(row, SOURCES[name].earlier, strict=True)
        ]
        yield f"| {name} | {row[0].tools:,} | {row[0].queries:,.0f} | {' | '.join(cells)} |"
    yield ""
    yield f"- {' '.join(f'{name}: `{text}`;' for name, text in RETRIEVERS.items())}"
    yield (
        f"- Measured in {grid.seconds:.0f} s with the embeddings kept, beside whatever else the "
        f"machine did; {grid.cpu_seconds:.0f} s of them are processor time. Wanted: 180 s on two "
        "cores."
    )
    if grid.pytrec_difference is not None:
        yield (
            "- pytrec_eval over the TREC files of the same rankings: the largest difference of a "
            f"mean is {grid.pytrec_difference:.1e}; wanted: at most 1e-9."
        )


def beside(figure: Figure, earlier: tuple[float, float]) -> str:
    """Return our recall and mrr with the earlier ones in brackets."""
    if figure.recall is None or figure.mrr is None:
        return f"unavailable: {figure.unavailable}"
    ours = f"{figure.recall['mean']:.3f} / {figure.mrr['mean']:.3f}"
    return f"{ours} ({earlier[0]:.3f} / {earlier[1]:.3f})"


def content(wanted: Sequence[tuple[Wanted, Figure]], grid: Grid, pools: Pools) -> dict[str, Any]:
    """Return everything that was measured, for the JSON file."""
    return {
        "k": K,
        "versions": {"seal": seal.__version__, "python": platform.python_version()},
        "cores": os.cpu_count(),
        "wanted": [{"wanted": goal.recall, **found._asdict()} for goal, found in wanted],
        "grid": {
            "seconds": round(grid.seconds, 1),
            "cpu_seconds": round(grid.cpu_seconds, 1),
            "pytrec_difference": grid.pytrec_difference,
            "results": [
                {**figure._asdict(), "earlier": dict(zip(("recall", "mrr"), earlier, strict=True))}
                for figure, earlier in zip(grid.figures, earlier_of(grid), strict=True)
            ],
        },
        "absent": pools.absent,
    }


def earlier_of(grid: Grid) -> Iterator[tuple[float, float]]:
    """Yield the earlier figures of each figure of the grid."""
    texts = list(RETRIEVERS.values())
    for figure in grid.figures:
        yield SOURCES[figure.pool].earlier[texts.index(figure.retriever)]


def glance(pools: Pools, folder: Path) -> None:
    """Print the figures of the shipped sample and of one small benchmark."""
    retrievers = [*RETRIEVERS.values(), SENTENCES]
    cache = folder / "cache"
    grid = measure_grid([SMALL], retrievers, pools, cache, folder)
    sample = figures(seal.retrieve("sample", retrievers, K, cache_dir=cache), "sample")
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

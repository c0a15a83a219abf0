"""Speed and quality of retrieval, each as a ratio against a named reference of the same run.

    python perf/retrieval.py [--short]
    python perf/retrieval.py --indexes results/indexes.md

Where real benchmark files are (SEAL_DATA, by default ../shared/data), it also measures recall@10
and mrr@10 of `tfidf` on StableToolBench. Every query is asked against the tools of all. `--indexes`
measures the kinds of vector index on 1,000 to 100,000 synthetic tools, and writes a table.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from threadpoolctl import threadpool_limits

from seal.core import Pool, Query, Tool
from seal.core.text import words
from seal.retrievers.base import RetrieverSpec
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.vector_index import FLAT, IndexKind, VectorIndex

ROOT = Path(__file__).resolve().parents[1]
K = 10
DIMENSION = 384


class Times(NamedTuple):
    """Two figures side by side; of `compare`, the least CPU seconds of some runs."""

    ours: float
    reference: float


def compare(ours: Callable[[], object], reference: Callable[[], object], repeat: int) -> Times:
    """Time two actions in turns on one thread each, so that load hits both alike."""
    taken: dict[Callable[[], object], list[float]] = {ours: [], reference: []}
    with threadpool_limits(1):
        for _ in range(repeat):
            for action, seconds in taken.items():
                start = time.process_time()
                action()
                seconds.append(time.process_time() - start)
    return Times(min(taken[ours]), min(taken[reference]))


def clustered(count: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors in clusters, as texts have them, and queries near some of them."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(200, DIMENSION))
    vectors = centres[random.integers(0, 200, count)]
    vectors = vectors + 0.5 * random.normal(size=vectors.shape)
    near = vectors[random.integers(0, count, queries)]
    near = near + 0.3 * random.normal(size=near.shape)
    return unit(vectors), unit(near)


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1, float32."""
    unit_rows: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit_rows.astype(np.float32)


def product_with_top_k(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return the positions of the K highest inner products: the reference of exact search."""
    scores = queries @ vectors.T
    top = np.argpartition(scores, scores.shape[1] - K, axis=1)[:, -K:]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    return np.take_along_axis(top, order, axis=1)


def measure_search(count: int, queries: int, repeat: int) -> float:
    """Return our queries a second over those of one matrix product with top-k."""
    vectors, asked = clustered(count, queries)
    index = VectorIndex.build(vectors)
    times = compare(
        lambda: index.search(asked, K), lambda: product_with_top_k(vectors, asked), repeat
    )
    return times.reference / times.ours


class Searched(NamedTuple):
    """One index over so many vectors."""

    kind: str
    tools: int
    build: float
    """CPU seconds."""
    size: float
    """MB that the index takes."""
    query: float
    """CPU milliseconds, one query after the other."""
    recall: float
    """Share of the exact ten nearest that it found."""


def one_by_one(
    search: Callable[[np.ndarray], list[int]], asked: np.ndarray
) -> tuple[float, list[list[int]]]:
    """Return the CPU milliseconds a query, and what each found."""
    with threadpool_limits(1):
        start = time.process_time()
        found = [search(row[None]) for row in asked]
        return 1000 * (time.process_time() - start) / len(asked), found


def measure_indexes(counts: Sequence[int], queries: int) -> Iterator[Searched]:
    """Yield ours, flat and HNSW, beside Faiss alone and a matrix product."""
    for count in counts:
        vectors, asked = clustered(count, queries)
        raw = vectors.nbytes / 1e6
        taken, exact = one_by_one(partial(first_of_product, vectors), asked)
        yield Searched("matrix product", count, 0.0, raw, taken, 1.0)
        start = time.process_time()
        bare = faiss.IndexFlatIP(DIMENSION)
        bare.add(vectors)
        built = time.process_time() - start
        taken, found = one_by_one(partial(first_of_faiss, bare), asked)
        yield Searched("Faiss flat alone", count, built, raw, taken, shared(found, exact))
        for kind in (FLAT, IndexKind("HNSW32")):
            start = time.process_time()
            index = VectorIndex.build(vectors, kind)
            built = time.process_time() - start
            pieces = BytesIO()
            index.write(pieces.write)
            size = len(pieces.getvalue()) / 1e6
            taken, found = one_by_one(partial(positions, index), asked)
            yield Searched(f"index={kind.name}", count, built, size, taken, shared(found, exact))


def first_of_product(vectors: np.ndarray, row: np.ndarray) -> list[int]:
    """Return the nearest vectors of one query by a matrix product."""
    nearest: list[int] = product_with_top_k(vectors, row)[0].tolist()
    return nearest


def first_of_faiss(bare: Any, row: np.ndarray) -> list[int]:
    """Return the nearest vectors of one query by Faiss."""
    nearest: list[int] = bare.search(row, K)[1][0].tolist()
    return nearest


def positions(index: VectorIndex, row: np.ndarray) -> list[int]:
    """Return the nearest vectors of one query."""
    return index.search(row, K)[0].positions


def shared(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """Return the mean share of the exact answer that was found."""
    return float(np.mean([len({*a} & {*b}) / len(b) for a, b in zip(found, exact, strict=True)]))


def index_table(rows: Sequence[Searched]) -> str:
    """Return the table as a Markdown page."""
    lines = [
        "# Vector indexes",
        "",
        "Written by `python perf/retrieval.py --indexes results/indexes.md`: synthetic tools, "
        f"vectors of {DIMENSION} numbers in 200 clusters, queries near some of them, one after the "
        "other on one thread. Seconds are of the processor, the size is that of the written "
        f"index, recall is of the exact {K} nearest.",
        "",
        "| tools | index | build, s | size, MB | a query, ms | recall |",
        "|---|---|---|---|---|---|",
        *(
            f"| {row.tools:,} | {row.kind} | {row.build:.2f} | {row.size:.1f} | {row.query:.2f} "
            f"| {row.recall:.3f} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


VERBS = words("get find list send create convert search check book play")
NOUNS = words("weather song price account flight recipe photo word city match")
DETAILS = words("by name for a day in euro with history of the user near me in detail")


def synthetic_tools(count: int) -> tuple[Tool, ...]:
    """Return tools with names and descriptions made of everyday words."""
    random = np.random.default_rng(1)
    tools = []
    for number in range(count):
        verb, noun = random.choice(VERBS), random.choice(NOUNS)
        details = random.choice([*NOUNS, *DETAILS], size=20)
        name = f"{verb}_{noun}_{number}"
        tools.append(Tool(f"perf/{noun}/{name}", name, f"{verb} {noun} {' '.join(details)}"))
    return tuple(tools)


def bare_sklearn(texts: Sequence[str], queries: Sequence[str]) -> None:
    """Fit the same two spaces and multiply: the reference of TF-IDF."""
    for space in (
        TfidfVectorizer(stop_words="english", sublinear_tf=True, ngram_range=(1, 2)),
        TfidfVectorizer(analyzer="char_wb", sublinear_tf=True, ngram_range=(3, 5)),
    ):
        documents = space.fit_transform(texts)
        (space.transform(queries) @ documents.T).toarray()


def measure_tfidf(tools: tuple[Tool, ...], queries: Sequence[Query], repeat: int) -> float:
    """Return our time, build and batch, over that of scikit-learn alone."""
    texts = [f"{tool.name}: {tool.description}" for tool in tools]
    asked = [query.text for query in queries]
    pool = Pool(tools, options={"template": "name_description"})
    times = compare(
        lambda: rank(build_retriever("tfidf", pool), queries, K),
        lambda: bare_sklearn(texts, asked),
        repeat,
    )
    return times.ours / times.reference


class Hashing:
    """The cheapest embedder there is: words hashed into the numbers of a vector."""

    identity = "perf-hashing/1"

    def __init__(self) -> None:
        self._space = HashingVectorizer(n_features=DIMENSION)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row for each text."""
        return np.asarray(self._space.transform(texts).todense())


def measure_load(tools: tuple[Tool, ...], repeat: int) -> float:
    """Return the time to open a kept index over that to build it with the cheapest embedder."""
    options = {"model": Hashing()}
    with tempfile.TemporaryDirectory() as folder:
        kept = Pool(tools, cache_dir=Path(folder), options=options)
        build_retriever("dense", kept)
        times = compare(
            lambda: build_retriever("dense", kept),
            lambda: build_retriever("dense", Pool(tools, options=options)),
            repeat,
        )
    return times.ours / times.reference


def measure_queries(what: str, tools: tuple[Tool, ...], queries: Sequence[Query]) -> Times:
    """Return the CPU seconds of all threads to answer queries, and those to build the retriever."""
    pool = Pool(tools, options={"template": "name_description"})
    start = time.process_time()
    retriever = build_retriever(RetrieverSpec(what, _MODELS.get(what, {})), pool)
    built = time.process_time()
    rank(retriever, queries, K)
    return Times(time.process_time() - built, built - start)


class Random:
    """An embedder that costs no memory: numbers drawn by the seed of a text's length."""

    identity = "perf-random/1"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row for each text, float32."""
        random = np.random.default_rng(len(texts[0]))
        return random.standard_normal((len(texts), DIMENSION), dtype=np.float32)


def print_peak(count: int, folder: Path) -> None:
    """Build a dense index, and print by how many bytes the peak of memory grew."""
    tools = tuple(Tool(f"perf/{number}", f"tool_{number}", "x" * 40) for number in range(count))
    few = Pool(tools[:10], options={"model": Random()})
    rank(build_retriever("dense", few), [Query("x")], K)  # loads what every index needs
    before = peak()
    build_retriever("dense", Pool(tools, cache_dir=folder, options={"model": Random()}))
    print(peak() - before)


def peak() -> int:
    """Return the most bytes of memory that this process ever had; Linux alone tells them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    # Not ru_maxrss: it begins with what the process had that started this one.
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def measure_memory(count: int) -> Times:
    """Return the growth of memory to build and keep an index, and to open it, over its vectors."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--peak", str(count), folder]
        peaks = [
            int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in ("build", "open")
        ]
    built, opened = (peak / (count * DIMENSION * 4) for peak in peaks)
    return Times(built, opened)


_MODELS = {"dense": {"model": Hashing()}, "hybrid": {"model": Hashing()}}


class Quality(NamedTuple):
    """How well `tfidf` finds the relevant tools."""

    tasks: int
    tools: int
    recall: float
    mrr: float


def stabletoolbench(data: Path) -> Quality | None:
    """Return recall@10 and mrr@10 of `tfidf`; None where the files are absent."""
    source = data / "stabletoolbench"
    if not source.is_dir():
        return None
    from seal.pools.imports import import_benchmark
    from seal.pools.pool import load_pool

    with tempfile.TemporaryDirectory() as folder:
        import_benchmark("toolbench", source, Path(folder) / "pool")
        pool = load_pool(Path(folder) / "pool")
        tools, tasks = pool.tools(), list(pool.tasks())
    queries = [Query(task.goals[0].text, task.id) for task in tasks]
    recalls, reciprocals = [], []
    rankings = rank(build_retriever("tfidf", Pool(tools)), queries, K)
    for task, ranking in zip(tasks, rankings, strict=True):
        relevant = set(task.goals[0].relevant)
        places = [place for place, (tool, _) in enumerate(ranking.hits, 1) if tool in relevant]
        recalls.append(len(places) / len(relevant))
        reciprocals.append(1 / places[0] if places else 0.0)
    return Quality(len(tasks), len(tools), float(np.mean(recalls)), float(np.mean(reciprocals)))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print beside the goals; a missed one is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="fewer tools and runs, for CI")
    parser.add_argument("--indexes", type=Path, help="measure kinds of index alone, write a page")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)  # in a process of its own
    arguments = parser.parse_args(argv)
    if arguments.peak:
        print_peak(int(arguments.peak[0]), Path(arguments.peak[1]))
        return 0
    if arguments.indexes:
        searched = []
        for row in measure_indexes((1_000, 3_000, 10_000, 30_000, 100_000), 100):
            print(*row, flush=True)
            searched.append(row)
            arguments.indexes.write_text(index_table(searched))
        return 0
    short = arguments.short
    repeat = 3 if short else 7
    tools = synthetic_tools(1_000 if short else 4_000)
    queries = [Query(tool.description) for tool in tools[:500]]

    rows = [
        ("search, speed / product with top-k", measure_search(16_000, 256, 7), ">= 0.5"),
        ("tfidf, time / scikit-learn alone", measure_tfidf(tools, queries, repeat), ""),
        ("kept index, time to open / to build", measure_load(tools, repeat), ""),
    ]
    memory = measure_memory(60_000)
    rows.append(("memory to build 60,000 x 384 / vectors", memory.ours, "<= 2.5"))
    rows.append(("memory to open 60,000 x 384 / vectors", memory.reference, ""))
    many = synthetic_tools(2_000 if short else 16_000)
    asked = [Query(tool.description) for tool in many[:1_000]]
    for what in ("dense", "bm25", "hybrid"):
        times = measure_queries(what, many, asked)
        goal = "< 2" if what == "dense" else ""
        size = f"{len(asked):,} queries, {len(many):,} tools"
        rows.append((f"{what}, CPU s to build", times.reference, ""))
        rows.append((f"{what}, CPU s, {size}", times.ours, goal))
    found = stabletoolbench(Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared/data"))
    if found is None:
        print("no StableToolBench files: set SEAL_DATA to measure recall and mrr")
    else:
        size = f"{found.tasks} tasks, {found.tools} tools"
        rows.append((f"recall@10, {size}", found.recall, ">= 0.81"))
        rows.append((f"mrr@10, {size}", found.mrr, ">= 0.79"))
    for name, value, goal in rows:
        print(f"{name:42}{value:8.3f}  {goal}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

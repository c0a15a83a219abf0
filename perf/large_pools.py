"""What retrieval over pools of 1,000 to 500,000 tools costs, beside libraries that do the same.

    python perf/large_pools.py [--short] [--sizes N,N] [--kinds KIND,KIND]
        [--folder DIR] [--scikit-learn N] [--out results/scale.md]

The tools are those of the pools of the shared data (SEAL_DATA, by default ../shared/data), repeated
under altered names until there are enough. Each figure is of a process of its own, which reads the
tools, builds one retriever and answers 100 queries. Its CPU seconds and its peak of memory count,
less those of the same process over 10 tools: the program's own start. The references read the
documents that the retrievers read. `dense` and `hybrid` have vectors of 384 random numbers, which
cost next to nothing: what an encoder takes is not measured. `--short` has the tools of one sample.
The page keeps what other scripts wrote above its own heading.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson

ROOT = Path(__file__).resolve().parents[1]
SIZES = (1_000, 10_000, 47_000, 200_000, 500_000)
SHORT = (100, 300)
START = 10
"""Tools of the process whose cost is the program's own start."""
QUERIES = 100
K = 10
DIMENSION = 384
HEADING = "# What large pools cost"
REFERENCES = {"bm25": "bm25s", "tfidf": "scikit-learn", "dense": "Faiss"}
"""Retriever to the library that does the same."""
KINDS = ("bm25", "tfidf", "dense", "hybrid")


class Random:
    """An embedder that costs next to nothing: rows drawn by the seed of a text's length."""

    identity = "perf-random/1"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row for each text, float32."""
        random = np.random.default_rng(len(texts[0]))
        return random.standard_normal((len(texts), DIMENSION), dtype=np.float32)


# -- One process: a retriever or a reference over the first tools of a file.


def ours(kind: str, folder: Path, size: int) -> Callable[[list[str]], object]:
    """Return what answers queries: our retriever over the first tools."""
    from seal.core import Pool, Query
    from seal.pools.pool import ToolFile
    from seal.retrievers.base import RetrieverSpec
    from seal.retrievers.build import build_retriever, rank

    kept = folder / "kept" / str(size)
    tools = ToolFile(first_tools(folder, size), kept)
    options = {} if kind in ("bm25", "tfidf") else {"model": Random()}
    retriever = build_retriever(RetrieverSpec(kind, options), Pool(tools, cache_dir=kept))
    return lambda texts: rank(retriever, [Query(text) for text in texts], K)


def bm25s(folder: Path, size: int) -> Callable[[list[str]], object]:
    """Return what answers queries: bm25s with the words as its own tokeniser has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import bm25s
    import Stemmer

    def tokens(texts: list[str]) -> Any:
        stem = Stemmer.Stemmer("english")
        return bm25s.tokenize(texts, stopwords="en", stemmer=stem, show_progress=False)

    model = bm25s.BM25(method="lucene")
    model.index(tokens(documents(folder, size)), show_progress=False)
    return lambda texts: model.retrieve(tokens(texts), k=K, show_progress=False)


def scikit_learn(folder: Path, size: int) -> Callable[[list[str]], object]:
    """Return what answers queries: the cosines of two spaces, of words and of pieces of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    spaces = (
        TfidfVectorizer(stop_words="english", sublinear_tf=True, ngram_range=(1, 2)),
        TfidfVectorizer(analyzer="char_wb", sublinear_tf=True, ngram_range=(3, 5)),
    )
    texts = documents(folder, size)
    fitted = [(space, space.fit_transform(texts)) for space in spaces]

    def answer(queries: list[str]) -> None:
        for query in queries:
            total = sum((space.transform([query]) @ rows.T).toarray()[0] for space, rows in fitted)
            np.argpartition(total, -min(K, size))[-K:]

    return answer


def bare_faiss(folder: Path, size: int) -> Callable[[list[str]], object]:
    """Return what answers queries: Faiss with the same vectors, written to a file."""
    import faiss

    embedder, texts = Random(), documents(folder, size)
    index = faiss.IndexFlatIP(DIMENSION)
    for start in range(0, size, 256):
        rows = embedder.embed(texts[start : start + 256])
        faiss.normalize_L2(rows)
        index.add(rows)
    faiss.write_index(index, str(folder / "faiss.index"))
    return lambda queries: index.search(embedder.embed(queries), K)


PEERS = {"bm25s": bm25s, "scikit-learn": scikit_learn, "Faiss": bare_faiss}


def lines(path: Path, size: int) -> Iterator[bytes]:
    """Yield the first lines of a file."""
    with path.open("rb") as file:
        yield from islice(file, size)


def first_tools(folder: Path, size: int) -> Path:
    """Return the file of the first tools; it is written where there is none."""
    path = folder / f"tools-{size}.jsonl"
    if not path.is_file():
        path.write_bytes(b"".join(lines(folder / "tools.jsonl", size)))
    return path


def documents(folder: Path, size: int) -> list[str]:
    """Return the first documents."""
    return [orjson.loads(line) for line in lines(folder / "documents.jsonl", size)]


def measure_here(kind: str, folder: Path, size: int) -> None:
    """Build and ask in this process, and print what it cost."""
    peer = PEERS.get(kind)
    begun = time.process_time()
    answer = peer(folder, size) if peer else ours(kind, folder, size)
    built = time.process_time()
    answer(documents(folder, QUERIES))
    end = time.process_time()
    cost = {"cpu_s": end, "mb": peak() / 1e6, "ready_s": built - begun, "query_s": end - built}
    print(json.dumps(cost))


def peak() -> int:
    """Return the most bytes of memory that this process ever had; Linux alone tells them."""
    status = Path("/proc/self/status").read_text().splitlines()
    # Not ru_maxrss: it begins with what the process had that started this one.
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


# -- The tools.


def tools_in(folder: Path, size: int, short: bool) -> int:
    """Return how many distinct tools a folder has, at least `size` with their copies."""
    told = folder / "tools.json"
    known = json.loads(told.read_bytes()) if told.is_file() else {"tools": 0}
    if known["tools"] < size:
        shutil.rmtree(folder / "kept", ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.glob("tools-*.jsonl"):
            file.unlink()
        known = {"tools": size, "distinct": write_tools(folder, size, short)}
        told.write_text(json.dumps(known))
    return int(known["distinct"])


def write_tools(folder: Path, size: int, short: bool) -> int:
    """Write `size` tools and their documents; return how many of them are of the pools."""
    from seal.core import Tool
    from seal.core.records import encode
    from seal.retrievers.base import documents as documents_of

    found = list(tools_of_pools(folder, short))
    random = np.random.default_rng(0)
    with (
        (folder / "tools.jsonl").open("wb") as tools,
        (folder / "documents.jsonl").open("wb") as texts,
    ):
        for copy in count():
            for place in random.permutation(len(found)).tolist():
                tool = found[place]
                if copy:
                    tool = replace(tool, id=f"{tool.id}_{copy}", name=f"{tool.name}_{copy}")
                tool = Tool(tool.id, tool.name, tool.description)
                tools.write(encode(tool))
                [text] = documents_of([tool])
                texts.write(orjson.dumps(text) + b"\n")
                size -= 1
                if not size:
                    return len(found)
    raise AssertionError("there are tools without end")


def tools_of_pools(folder: Path, short: bool) -> Iterator[Any]:
    """Yield the tools of all pools that are here, those of one id once."""
    from recall import SOURCES, place_of

    import seal
    from seal.pools.lookup import open_pool

    data = Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared/data")
    names = ["dialogtool-sample"] if short else list(SOURCES)
    seen: set[str] = set()
    for name in names:
        place = name if short else place_of(name, data, folder / "pools")
        for tool in () if place is None else open_pool(place).tools():
            if tool.id not in seen:
                seen.add(tool.id)
                yield tool
    if not seen:
        raise seal.UsageError(f"no pool in {data}; set SEAL_DATA")


# -- The page.


@dataclass(frozen=True)
class Cost:
    """Of one process."""

    cpu_s: float
    mb: float
    ready_s: float
    """CPU seconds until the retriever is built, the tools read."""
    query_s: float
    """CPU seconds of all queries."""

    def beyond(self, start: Cost) -> Cost:
        """Return what is more than the start of the program."""
        return Cost(
            self.cpu_s - start.cpu_s, self.mb - start.mb, self.ready_s - start.ready_s, self.query_s
        )


Row = tuple[str, int, Mapping[str, Cost]]
"""Kind, tools, and what our first start, our second and the reference cost."""


def cost_of(kind: str, folder: Path, size: int) -> Cost:
    """Return what one process cost."""
    words = [sys.executable, __file__, "--one", kind, str(folder), str(size)]
    told = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return Cost(**json.loads(told.splitlines()[-1]))


def measured(kind: str, folder: Path, size: int, most: int) -> dict[str, Cost]:
    """Return what ours costs at first and again, and what the reference does."""
    shutil.rmtree(folder / "kept", ignore_errors=True)
    first_tools(folder, size), first_tools(folder, START)
    names = {"first": kind, "again": kind}
    if kind in REFERENCES and (size <= most or REFERENCES[kind] != "scikit-learn"):
        names["reference"] = REFERENCES[kind]
    return {
        label: cost_of(name, folder, size).beyond(cost_of(name, folder, START))
        for label, name in names.items()
    }


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| retriever | tools | CPU s | MB | CPU s again | ready again, s | ms a query | beside |"
    yield "|---|---|---|---|---|---|---|---|"
    for kind, size, costs in rows:
        first, again, peer = costs["first"], costs["again"], costs.get("reference")
        cells = [kind, f"{size:,}", f"{first.cpu_s:.1f}", f"{first.mb:,.0f}"]
        cells += [f"{again.cpu_s:.1f}", f"{again.ready_s:.1f}"]
        cells.append(f"{1000 * again.query_s / QUERIES:.1f}")
        cells.append("" if peer is None else compared(REFERENCES[kind], first, peer))
        yield f"| {' | '.join(cells)} |"


def compared(name: str, ours: Cost, peer: Cost) -> str:
    """Return what a reference cost, and ours as a ratio of it."""
    ratios = (f"{a / b:.1f}" if b > 0.05 else "-" for a, b in zip(*both(ours, peer), strict=True))
    return (
        f"{name}: {peer.cpu_s:.1f} s, {peer.mb:,.0f} MB, {1000 * peer.query_s / QUERIES:.1f} ms; "
        f"ours x {' and '.join(ratios)}"
    )


def both(ours: Cost, peer: Cost) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return CPU seconds and MB of two processes."""
    return (ours.cpu_s, ours.mb), (peer.cpu_s, peer.mb)


def page(rows: Sequence[Row], distinct: int, words: Sequence[str]) -> str:
    """Return the section of the page."""
    told = [
        HEADING,
        "",
        f"Made by `python perf/large_pools.py {' '.join(words)}`. {distinct:,} tools of the pools "
        f"at hand, repeated under altered names. A process reads the tools, builds a retriever and "
        f"answers {QUERIES} queries.",
        "",
        "CPU seconds and MB (the peak) are what it takes beyond the program's own start, which is "
        f"the same over {START} tools. `again` is a second process, which opens what the first one "
        "kept; `ready` is the part of it until the first query can be asked, tools read.",
        "",
        f"Vectors have {DIMENSION} random numbers: no encoder is measured. The last column has the "
        "library that does the same, and ours as ratios of its CPU seconds and MB.",
        "",
        *table(rows),
        "",
    ]
    return "\n".join(told)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print, or write the section; exceeding a goal is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="100 and 300 tools, for CI")
    parser.add_argument("--sizes", help="numbers of tools, joined by commas")
    parser.add_argument("--kinds", default=",".join(KINDS), help="retrievers, joined by commas")
    parser.add_argument("--out", type=Path, help="page whose section is written")
    parser.add_argument(
        "--scikit-learn", type=int, default=SIZES[-1], help="most tools that it gets: it is slow"
    )
    parser.add_argument("--folder", type=Path, help="where the tools are kept for another call")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args(argv)
    if options.one:
        measure_here(options.one[0], Path(options.one[1]), int(options.one[2]))
        return 0
    sizes = [*(SHORT if options.short else SIZES)]
    if options.sizes:
        sizes = [int(size) for size in options.sizes.split(",")]
    given = list(sys.argv[1:] if argv is None else argv)
    words = ["DIR" if word == str(options.folder) else word for word in given]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        folder = options.folder or Path(place)
        distinct = tools_in(folder, max(*sizes, QUERIES), options.short)
        for kind in options.kinds.split(","):
            for size in sizes:
                rows.append((kind, size, measured(kind, folder, size, options.scikit_learn)))
                print(list(table(rows))[-1], flush=True)
                if options.out is not None:
                    there = options.out.read_text("utf-8") if options.out.is_file() else ""
                    before = there.partition(HEADING)[0]
                    options.out.write_text(before + page(rows, distinct, words), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

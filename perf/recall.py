"""Recall of the offline retrievers on every pool at hand, with intervals and paired tests.

    python perf/recall.py [--short] [--out results/recall.json] [--cache record|replay] [POOL...]

Nothing is trained on any of the pools. Benchmark files are those of SEAL_DATA (by default
../shared/data); the samples ship. A pool that is not there, or a retriever that cannot be asked, is
named with the reason: under `--cache replay` that is one whose vectors are not all kept. Beside the
JSON file a Markdown page of the same name is written anew after every pool. Where pools are named,
the others keep what was measured of them, if the retrievers are the same. `--short` measures a
sample, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import seal
from seal.cli.failure import tell
from seal.core import CacheMode
from seal.evaluation.significance import holm
from seal.report.retrieval import line_of

ROOT = Path(__file__).resolve().parents[1]
K = 10
METRIC = f"recall@{K}"
RETRIEVERS = {
    "BM25": "bm25",
    "TF-IDF": "tfidf",
    "TF-IDF, all": "tfidf,template=full,sentences=true,siblings=0.5",
    "MiniLM": "dense",
    "two cosines": "hybrid,parts=tfidf+dense",
    "hybrid": "hybrid",
}
"""Column to the retriever; the last is the default, one configuration for all pools."""
TESTED = 3
"""Best retrievers of a pool that are compared in pairs."""


class Source(NamedTuple):
    """Where a pool comes from."""

    importer: str
    folder: str
    options: Mapping[str, Any] = {}
    wanted: float | None = None
    """Recall that the best retriever should reach."""


SOURCES = {
    "StableToolBench": Source("toolbench", "stabletoolbench", {}, 0.87),
    "ToolBench": Source("toolbench", "toolbench"),
    "AnyTool": Source("anytool", "anytool", {}, 0.61),
    "MetaTool single": Source("metatool", "metatool", {"set": "single"}, 0.87),
    "MetaTool multi": Source("metatool", "metatool", {"set": "multi"}, 0.86),
    "BFCL": Source("bfcl", "bfcl", {"categories": "python_gold", "tool_per": "name"}, 0.945),
    "BFCL by content": Source("bfcl", "bfcl", {"categories": "python_gold"}),
    "APIBench HF": Source("apibench", "apibench", {"hub": "huggingface"}, 0.51),
    "APIBench TF": Source("apibench", "apibench", {"hub": "tensorflow"}),
    "APIBench torch": Source("apibench", "apibench", {"hub": "torchhub"}),
    "SGD": Source("dialogtool", "sgd", {"view": "retrieval"}, 0.99),
    "LiveMCPBench": Source("livemcpbench", "livemcpbench"),
}
SAMPLES = tuple(
    f"{name}sample" for name in ("", "mmtb-", "toolsandbox-", "toolscan-", "dialogtool-")
)
"""ToolScan's queries are not published: its sample stands for it."""


def place_of(name: str, data: Path, folder: Path) -> str | Path | None:
    """Return the pool, imported; None where its files are not here."""
    if name in SAMPLES:
        return name
    source, out = SOURCES[name], folder / name.replace(" ", "-")
    if not (data / source.folder).is_dir():
        return None
    seal.import_benchmark(source.importer, data / source.folder, out, **source.options)
    return out


def measured(name: str, place: str | Path, cache: CacheMode) -> dict[str, Any]:
    """Return {pool, tools, queries, digest, wanted, results, tests} of one pool."""
    found = seal.retrieve(
        place,
        list(RETRIEVERS.values()),
        K,
        cache=cache,
        on_result=lambda entry: tell(line_of(entry)),
    ).content
    entries = dict(zip(RETRIEVERS, found["results"], strict=True))
    first = next(iter(entries.values()))
    return {
        "pool": name,
        "tools": first["tools"],
        "queries": first["queries"],
        "digest": first["pool_digest"],
        "wanted": SOURCES[name].wanted if name in SOURCES else None,
        "results": {label: figures(entry) for label, entry in entries.items()},
        "tests": list(tests(found["comparisons"], entries)),
    }


def figures(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return {recall, low, high, mrr} of one retriever, or {unavailable}."""
    if "unavailable" in entry:
        return {"unavailable": entry["unavailable"]}
    recall, mrr = (entry["metrics"][f"{metric}@{K}"] for metric in ("recall", "mrr"))
    return {
        "recall": recall["mean"],
        "low": recall["low"],
        "high": recall["high"],
        "mrr": mrr["mean"],
    }


def ranked(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the retrievers that were measured, the best first."""
    known = [label for label in results if "unavailable" not in results[label]]
    return sorted(known, key=lambda label: -results[label]["recall"])


def tests(
    comparisons: Sequence[Mapping[str, Any]], entries: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the paired tests of the best three in recall, p corrected by Holm over these."""
    label_of = {entry["retriever"]: label for label, entry in entries.items()}
    best = ranked({label: figures(entry) for label, entry in entries.items()})[:TESTED]
    by_pair = {
        (label_of[one["retriever"]], label_of[one["other"]]): one
        for one in comparisons
        if one["metric"] == METRIC
    }
    pairs = []
    for better, other in combinations(best, 2):
        sign = 1 if (better, other) in by_pair else -1
        one = by_pair[(better, other) if sign > 0 else (other, better)]
        ends = sorted(sign * one[end] for end in ("low", "high"))
        pairs.append((better, other, sign * one["difference"], *ends, one["p"]))
    for pair, p in zip(pairs, holm([pair[-1] for pair in pairs]), strict=True):
        names = ("better", "other", "difference", "low", "high")
        yield {**dict(zip(names, pair, strict=False)), "p_holm": round(p, 6)}


def page(pools: Sequence[Mapping[str, Any]], absent: Mapping[str, str]) -> str:
    """Return everything as a Markdown page."""
    lines = [
        "# Recall of the offline retrievers",
        "",
        f"Written by `python perf/recall.py`: {METRIC} over all queries of a pool with its 95 % "
        "interval, below it the mean reciprocal rank. Nothing is trained on these pools. The last "
        "column is the default of `seal run` and `seal retrieve`, one configuration for all pools.",
        "",
        f"| pool | tools | queries | wanted of the best | {' | '.join(RETRIEVERS)} |",
        f"|{'---|' * (4 + len(RETRIEVERS))}",
        *(row(pool) for pool in pools),
        "",
        *(f"- {label}: `{text}`" for label, text in RETRIEVERS.items()),
        *(f"- {name} is absent: {reason}" for name, reason in absent.items()),
        *unavailable(pools),
        "",
        f"## Paired tests of the best {TESTED} of each pool",
        "",
        "Difference in recall of the same queries, 95 % interval, randomisation test "
        "with Holm's correction over the pairs of a pool.",
        "",
        "| pool | better | than | difference | p (Holm) |",
        "|---|---|---|---|---|",
        *(
            f"| {pool['pool']} | {one['better']} | {one['other']} | {one['difference']:+.3f} "
            f"[{one['low']:+.3f}, {one['high']:+.3f}] | {probability(one['p_holm'])} |"
            for pool in pools
            for one in pool["tests"]
        ),
    ]
    return "\n".join(lines) + "\n"


def probability(p: float) -> str:
    """Return a p value in four digits; one that would round to 0 as a bound."""
    return f"{p:.4f}" if p >= 0.00005 else "<0.0001"


def row(pool: Mapping[str, Any]) -> str:
    """Return the row of one pool, its best recall in bold."""
    best = ranked(pool["results"])[:1]
    cells = [
        "n/a"
        if "unavailable" in found
        else f"{'**' if label in best else ''}{found['recall']:.3f}{'**' if label in best else ''} "
        f"[{found['low']:.3f}, {found['high']:.3f}]<br>{found['mrr']:.3f}"
        for label, found in pool["results"].items()
    ]
    wanted = "" if pool["wanted"] is None else f"{pool['wanted']:g}"
    head = (pool["pool"], f"{pool['tools']:,}", f"{pool['queries']:,}", wanted)
    return f"| {' | '.join((*head, *cells))} |"


def unavailable(pools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each pool on which retrievers could not be asked."""
    for pool in pools:
        lacking = {
            label: found["unavailable"]
            for label, found in pool["results"].items()
            if "unavailable" in found
        }
        if lacking:
            reason = next(iter(lacking.values())).partition(" of the ")[0]
            yield f"- {', '.join(lacking)} on {pool['pool']}: n/a, {reason}"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print beside what is wanted; a missed figure is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pools", nargs="*", metavar="POOL", help="of the table; default: all")
    parser.add_argument("--short", action="store_true", help="one sample, for CI")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "recall.json")
    parser.add_argument("--cache", choices=("record", "replay"), default="record")
    arguments = parser.parse_args(argv)
    data = Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared/data")
    names = ["dialogtool-sample"] if arguments.short else arguments.pools or [*SOURCES, *SAMPLES]
    pools = kept(arguments.out) if arguments.pools else {}
    absent: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            place = place_of(name, data, Path(folder))
            if place is None:
                absent[name] = f"SEAL_DATA has no folder {SOURCES[name].folder}"
                continue
            pools[name] = measured(name, place, arguments.cache)
            if not arguments.short:
                write(arguments.out, in_order(pools), absent)
    print(page(in_order(pools), absent))
    return 0


def kept(file: Path) -> dict[str, dict[str, Any]]:
    """Return what a file says of each pool; nothing where it is of other retrievers."""
    content = json.loads(file.read_text()) if file.is_file() else {}
    same = content.get("retrievers") == RETRIEVERS
    return {pool["pool"]: pool for pool in content["pools"]} if same else {}


def in_order(pools: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pools in the order of the table."""
    return [pools[name] for name in (*SOURCES, *SAMPLES) if name in pools]


def write(file: Path, pools: Sequence[Mapping[str, Any]], absent: Mapping[str, str]) -> None:
    """Write the JSON file, and the page beside it."""
    content = {
        "versions": {"seal": seal.__version__},
        "retrievers": RETRIEVERS,
        "pools": pools,
        "absent": absent,
    }
    file.write_text(json.dumps(content, indent=1) + "\n")
    file.with_suffix(".md").write_text(page(pools, absent))


if __name__ == "__main__":
    sys.exit(main())

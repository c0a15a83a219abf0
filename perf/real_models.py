"""71 real models on BFCL, from the answers that its leaderboard published: a leaderboard of ours.

    python perf/real_models.py [--short] [--runs FOLDER] [--out results/real_models.md]

SEAL_DATA names the folder that has `bfcl_runs`: one file a model, `{id, category, result, valid}` a
line, repacked from github.com/HuanzhiMao/BFCL-Result, folder 2024-08-11, and the questions of that
day from ShishirPatil/gorilla at de8307b4. Each model's answers are written in upstream's form,
imported as a run, and scored, first by SEAL's own rules, then by the leaderboard's. Runs that
`--runs` holds already are kept. `--short` takes three models and writes nothing.

The exit code is 1 if the answers are not there; with `--short` that is no failure.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import seal
from seal.core import UsageError
from seal.evaluation.significance import ALPHA, holm
from seal.report.grids import Grid, number
from seal.report.leaderboard import leaderboard_table, ranked_runs
from seal.report.table_forms import markdown
from seal.runs.finished import import_run

_SHORT = ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18-FC", "Nexusflow-Raven-v2")
_FIRST = "gorilla_openfunctions_v1_test"
_METRIC = "calls_right"
_PATTERNS = ("iac", "iav", "ian", "iat", "ife", "ifn", "rac")
"""ToolScan's error patterns, as shares of what is free of each."""
_NATIVE = "-FC"
"""End of the name of a model that calls natively."""


def main(argv: Sequence[str] | None = None) -> int:
    """Import, score and rank the models; print or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="three models; nothing is written")
    parser.add_argument("--runs", type=Path, help="folder of the runs; a new one otherwise")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    asked = parser.parse_args(argv)
    began = time.process_time()
    data = Path(os.environ.get("SEAL_DATA") or "data") / "bfcl_runs"
    try:
        found = models(data)
    except UsageError as error:
        print(f"not held: {error}", file=sys.stderr)
        return int(not asked.short)
    chosen = {name: found[name] for name in (_SHORT if asked.short else found)}
    with TemporaryDirectory() as made:
        folder = asked.runs or Path(made)
        for name, path in chosen.items():
            run_of(name, path, data / "upstream_form" / "questions", folder)
        scored = time.process_time()
        text = page(folder, [*chosen])
    if asked.out is None or asked.short:
        print(text, end="")
    else:
        asked.out.write_text(text, "utf-8")
    ended = time.process_time()
    print(
        f"{scored - began:.0f} s of CPU to import and score, {ended - scored:.0f} s to rank",
        file=sys.stderr,
    )
    return 0


def models(data: Path) -> dict[str, Path]:
    """Return model to the file of its answers.

    Raises:
        UsageError: There is none.
    """
    paths = sorted(data.glob("[!_]*.jsonl.gz"))
    if not paths:
        raise UsageError(f"no answers of real models: {data} has none; set SEAL_DATA")
    return {path.name.removesuffix(".jsonl.gz"): path for path in paths}


def run_of(name: str, path: Path, questions: Path, folder: Path) -> None:
    """Make two runs of a model's answers: `ours/NAME` and `bfcl/NAME`, scored by the two rules."""
    for rules in ("ours", "bfcl"):
        out = folder / rules / name
        if (out / "summary.json").is_file():
            continue
        with TemporaryDirectory() as made:
            _as_published(path, name, Path(made))
            import_run("bfcl", questions, out, {"answers": made})
        seal.score(out, match="bfcl" if rules == "bfcl" else None)


def _as_published(path: Path, name: str, to: Path) -> None:
    """Write a model's answers as upstream's folder of results has them."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for record in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
        answer = {
            "id": record["id"],
            "result": record["result"],
            "input_token_count": record.get("tokens_in"),
            "output_token_count": record.get("tokens_out"),
            "latency": record.get("latency_s"),
        }
        lines[record["id"].rpartition("_")[0]].append(json.dumps(answer))
    for category, told in lines.items():
        file = to / "result" / name / f"{_FIRST}_{category}_result.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(told) + "\n", "utf-8")


# -- The page.


def page(folder: Path, names: Sequence[str]) -> str:
    """Return the page of the models' runs."""
    boards = {
        rules: ranked_runs([folder / rules / name for name in names], _METRIC)
        for rules in ("bfcl", "ours")
    }
    rows = {rules: {row["run"]: row for row in board["rows"]} for rules, board in boards.items()}
    first = boards["bfcl"]
    parts: list[Grid | str] = [
        *first["notes"],
        leaderboard_table(first)._replace(title=f"{len(names)} models by the leaderboard's rules"),
    ]
    if pairs := list(_native_pairs(folder, names)):
        parts += _native_parts(pairs)
    parts += _rules_parts(rows, boards)
    parts.append(_patterns(folder, [row["run"] for row in first["rows"]]))
    intro = (
        "# Real models on BFCL",
        "Written by `perf/real_models.py --out FILE`. The answers are those that the leaderboard "
        "published in August 2024 (github.com/HuanzhiMao/BFCL-Result), to 1,389 of its 1,390 "
        "questions of that day; one has gold that cannot be read. [A leaderboard of runs]"
        "(../docs/leaderboard.md) says what the columns mean.",
    )
    return "\n\n".join((*intro, *map(markdown, parts))) + "\n"


def _native_pairs(folder: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield native calling less prompting of each model that has answers in both forms."""
    for name in names:
        native = f"{name}{_NATIVE}"
        if native in names:
            runs = [folder / "bfcl" / one for one in (name, native)]
            found = seal.compare(*runs, metrics=[_METRIC])[_METRIC]
            yield {
                "model": name,
                "prompted": found.other_mean,
                "native": found.mean,
                "difference": found.difference,
                "low": found.low,
                "high": found.high,
                "p": found.p,
            }


def _native_parts(pairs: list[dict[str, Any]]) -> list[Grid | str]:
    corrected = holm([pair["p"] for pair in pairs])
    rows = [
        (
            pair["model"],
            number(pair["prompted"]),
            number(pair["native"]),
            f"{pair['difference']:+.3f}",
            f"[{pair['low']:+.3f}, {pair['high']:+.3f}]",
            "<0.001" if p < 0.0005 else number(p),
        )
        for pair, p in zip(pairs, corrected, strict=True)
    ]
    apart = [pair["difference"] for pair, p in zip(pairs, corrected, strict=True) if p <= ALPHA]
    better, worse = (sum(one * sign > 0 for one in apart) for sign in (1, -1))
    columns = ("model", "prompted", "native", "difference", "95 % interval", "p (Holm)")
    return [
        Grid("Native calling against prompting of the same model", columns, rows),
        f"of {len(pairs)} models native calling is better in {better}, worse in {worse}, and no "
        f"test tells the two apart in {len(pairs) - better - worse}",
    ]


def _rules_parts(
    rows: Mapping[str, Mapping[str, Mapping[str, Any]]], boards: Mapping[str, Mapping[str, Any]]
) -> list[Grid | str]:
    """Return what SEAL's own rules say of the same answers."""
    moved = {name: row["rank"] - rows["ours"][name]["rank"] for name, row in rows["bfcl"].items()}
    told = [
        (
            name,
            number(row["mean"]),
            number(rows["ours"][name]["mean"]),
            str(row["rank"]),
            str(rows["ours"][name]["rank"]),
        )
        for name, row in sorted(rows["bfcl"].items(), key=lambda item: -abs(moved[item[0]]))[:10]
    ]
    columns = ("model", "mean (leaderboard)", "mean (SEAL)", "rank (leaderboard)", "rank (SEAL)")
    differ = {rules: board["pairs"]["differ"] for rules, board in boards.items()}
    return [
        Grid("The ten models that SEAL's own rules move most", columns, told),
        f"pairs of models that differ: {differ['bfcl']:,} by the leaderboard's rules, "
        f"{differ['ours']:,} by SEAL's, of {boards['bfcl']['pairs']['total']:,}",
    ]


def _patterns(folder: Path, names: Sequence[str]) -> Grid:
    """Return the shares that are free of each of ToolScan's error patterns."""
    rows = []
    for name in names:
        metrics = seal.Run.load(folder / "ours" / name).summary["metrics"]
        found = (metrics.get(pattern, {}).get("mean") for pattern in _PATTERNS)
        rows.append((name, *("" if value is None else number(value) for value in found)))
    return Grid("Free of ToolScan's error patterns, by SEAL's rules", ("model", *_PATTERNS), rows)


if __name__ == "__main__":
    sys.exit(main())

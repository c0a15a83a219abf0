"""Real models on the record: a leaderboard of 71 on BFCL, and where six fail on four benchmarks.

    python perf/real_models.py [--short] [--runs FOLDER] [--out results/real_models.md]
        [--verdicts results/real_models.json.gz]

SEAL_DATA names the folder that has `bfcl_runs`: one file a model, `{id, category, result, valid}` a
line, repacked from github.com/HuanzhiMao/BFCL-Result, folder 2024-08-11. Beside them are the
questions of that day, from ShishirPatil/gorilla at de8307b4. The folder has `bfcl`, too: the
questions and gold of version 4.
Each model's answers are written in upstream's form, imported as a run, and scored: by SEAL's own
rules, by the leaderboard's, and by the leaderboard's against the gold of version 4. That gold is
taken where question and tools are the same there. Runs that `--runs` holds already are kept.
`--verdicts` writes the verdicts of every model and task, of which `notebooks/real_models.ipynb` is
made. `--short` takes three models and writes nothing. `real_failures` tells what it needs for the
other benchmarks; with `--short` they are left out.

The exit code is 1 if the answers are not there; with `--short` that is no failure.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import math
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from real_failures import checkout, failure_parts, failures

import seal
from seal.core import UsageError
from seal.evaluation.significance import ALPHA, holm
from seal.report.grids import Grid, number
from seal.report.leaderboard import leaderboard_table, ranked_runs
from seal.report.table_forms import markdown
from seal.runs.finished import import_run
from seal.runs.score_table import read_scores

_SHORT = ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18-FC", "Nexusflow-Raven-v2")
_FIRST = "gorilla_openfunctions_v1_test"
_METRIC = "calls_right"
_PATTERNS = ("iac", "iav", "ian", "iat", "ife", "ifn", "rac")
"""ToolScan's error patterns, as shares of what is free of each."""
_RULES = {"ours": None, "bfcl": "bfcl", "gold_v4": "bfcl"}
"""Folder of runs to the rules by which they are scored."""
_NATIVE = "-FC"
"""End of the name of a model that calls natively."""


def main(argv: Sequence[str] | None = None) -> int:
    """Import, score and rank the models; print or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="three models; nothing is written")
    parser.add_argument("--runs", type=Path, help="folder of the runs; a new one otherwise")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    parser.add_argument("--verdicts", type=Path, help="file of all verdicts (JSON, gzip)")
    asked = parser.parse_args(argv)
    began = time.process_time()
    root = Path(os.environ.get("SEAL_DATA") or "data")
    data = root / "bfcl_runs"
    try:
        found = models(data)
        if not asked.short:
            checkout()
    except UsageError as error:
        print(f"not held: {error}", file=sys.stderr)
        return int(not asked.short)
    chosen = {name: found[name] for name in (_SHORT if asked.short else found)}
    with TemporaryDirectory() as made:
        folder = asked.runs or Path(made)
        later = later_gold(root / "bfcl", Path(made) / "v4")
        for name, path in chosen.items():
            runs_of(name, path, data / "upstream_form" / "questions", folder)
            run_of_later_gold(folder, name, later)
        failed = {} if asked.short else failures(root, folder)
        scored = time.process_time()
        text = page(folder, [*chosen], failed)
        if asked.verdicts and not asked.short:
            every = {**verdicts(folder, chosen), "failures": failed}
            told = json.dumps(every, separators=(",", ":"))
            asked.verdicts.write_bytes(gzip.compress(told.encode(), mtime=0))
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


def runs_of(name: str, path: Path, questions: Path, folder: Path) -> None:
    """Make two runs of a model's answers: `ours/NAME` and `bfcl/NAME`, scored by the two rules."""
    for rules in ("ours", "bfcl"):
        out = folder / rules / name
        if (out / "summary.json").is_file():
            continue
        with TemporaryDirectory() as made:
            _as_published(path, name, Path(made))
            import_run("bfcl", questions, out, {"answers": made})
        seal.score(out, match=_RULES[rules])


def later_gold(questions: Path, pool: Path) -> dict[tuple[str, ...], list[Any]]:
    """Return the gold of version 4 by question, category and names of tools."""
    seal.import_benchmark("bfcl", questions, pool)
    tools = {tool["id"]: tool for tool in _records(pool / "tools.jsonl")}
    asked = (record for record in _records(pool / "tasks.jsonl") if len(record["goals"]) == 1)
    return {_question(record, tools): record["goals"][0]["plans"] for record in asked}


def run_of_later_gold(folder: Path, name: str, later: Mapping[tuple[str, ...], list[Any]]) -> None:
    """Make the run `gold_v4/NAME` of `bfcl/NAME`: the same answers against the later gold.

    Tools keep the ids of the first version. A question that is not the same keeps its gold.
    """
    out = folder / "gold_v4" / name
    if (out / "summary.json").is_file():
        return
    shutil.copytree(
        folder / "bfcl" / name, out, ignore=shutil.ignore_patterns("scores.*", "summary.json")
    )
    tools = {tool["id"]: tool for tool in _records(out / "tools.jsonl")}
    lines = []
    for record in _records(out / "tasks.jsonl"):
        goal, plans = record["goals"][0], later.get(_question(record, tools))
        ids = {tools[tool]["name"]: tool for tool in goal["offered"]}
        if plans:
            goal["plans"] = copy.deepcopy(plans)
        for milestone in goal["plans"][0]["milestones"]:
            called = milestone["condition"]
            called["tool"] = ids.get(_name(called["tool"]), called["tool"])
        lines.append(json.dumps(record, ensure_ascii=False))
    (out / "tasks.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    seal.score(out, match=_RULES["gold_v4"])


def _name(tool: str) -> str:
    return tool.rpartition("/")[2].partition("#")[0]


def _question(record: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what is asked, of which category, with which tools."""
    goal = record["goals"][0]
    told = (
        json.dumps([tools[tool][part] for part in ("name", "description", "parameters")])
        for tool in goal["offered"]
    )
    return (record["tags"]["group"], goal["text"], *sorted(told))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, path.read_text("utf-8").splitlines())


def verdicts(folder: Path, answers: Mapping[str, Path]) -> dict[str, Any]:
    """Return the verdicts of every model: a text of 1, 0 and - (none), one character a task.

    Of each rule those of `calls_right`. Of each pattern 1 where the answer is free of it. And how
    many answers of each model stand in a fence (```), of the tasks that need a call.
    """
    names = [*answers]
    tasks = [*_records(folder / "bfcl" / names[0] / "tasks.jsonl")]
    wanted = [(rules, _METRIC) for rules in _RULES] + [("ours", one) for one in _PATTERNS]
    scores: dict[str, dict[str, str]] = {}
    for rules, metric in wanted:
        label = rules if metric == _METRIC else metric
        scores[label] = {name: _verdicts(folder / rules / name, metric, tasks) for name in names}
    later = zip(tasks, _records(folder / "gold_v4" / names[0] / "tasks.jsonl"), strict=True)
    return {
        "tasks": [[record["id"], record["tags"]["group"]] for record in tasks],
        "other_gold": sum(one["goals"] != other["goals"] for one, other in later),
        "fenced": {name: sum(map(_is_fenced, _answers(path))) for name, path in answers.items()},
        "scores": scores,
    }


def _is_fenced(answer: Mapping[str, Any]) -> bool:
    asks = answer["category"] != "irrelevance"
    return asks and str(answer["result"]).lstrip().startswith("```")


def _answers(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, gzip.decompress(path.read_bytes()).splitlines())


def _verdicts(run: Path, metric: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    table = read_scores(run / "scores.jsonl")
    values = table.values[:, table.metrics[metric]]
    told = {table.tasks[goal[0]]: one for goal, one in zip(table.goals, values, strict=True)}
    found = (told.get(record["id"], math.nan) for record in tasks)
    return "".join("-" if math.isnan(one) else str(int(one == 1)) for one in found)


def _as_published(path: Path, name: str, to: Path) -> None:
    """Write a model's answers as upstream's folder of results has them."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for record in _answers(path):
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


def page(
    folder: Path, names: Sequence[str], failed: Mapping[str, Mapping[str, Any]] | None = None
) -> str:
    """Return the page of the models' runs, and of what `failures` told."""
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
    parts += failure_parts(failed) if failed else []
    intro = (
        "# Real models on the record",
        "Written by `perf/real_models.py --out FILE`. The answers to BFCL are those that its "
        "leaderboard published in August 2024 (github.com/HuanzhiMao/BFCL-Result), to 1,389 of its "
        "1,390 questions of that day; one has gold that cannot be read. [A leaderboard of runs]"
        "(../docs/compare-and-ablate.md#rank-many-runs) says what the columns mean.",
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

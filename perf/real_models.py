"""Real models on the record: a leaderboard of 71 on BFCL, and where six fail on four benchmarks.

    python perf/real_models.py [--short] [--kept] [--runs FOLDER] [--out results/real_models.md]
        [--verdicts results/real_models.json.gz]

SEAL_DATA names a folder with clones of the repositories that `CLONES` lists, or with a repack of
them: of the answers one file a model, `{id, category, result, valid}` a line.
Each model's answers are imported as a run, and scored: by SEAL's own rules, by the leaderboard's,
and by the leaderboard's against the gold of version 4. That gold is taken where question and tools
are the same there. Answers that mostly stand in a fence (```) are scored without it, too. Runs
that `--runs` holds already are kept.
The page is made of verdicts alone. `--verdicts` writes them, of which `notebooks/real_models.ipynb`
is made, too; with `--kept` it is the file of which the page is made again. `--short` takes three
models and writes nothing. `real_failures` tells what it needs for the other benchmarks; with
`--short` they are left out.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from real_failures import checkout, failures
from real_page import METRIC, OFTEN, PATTERNS, page

import seal
from seal.benchmarks.bfcl.answers import dialect_of
from seal.benchmarks.bfcl.files import FIRST
from seal.core import UsageError
from seal.runs.finished import import_run
from seal.runs.score_table import read_scores

CLONES = {
    "answers": ("BFCL-Result/2024-08-11", "bfcl_runs"),
    "questions": (
        "gorilla/berkeley-function-call-leaderboard/data",
        "bfcl_runs/upstream_form/questions",
    ),
    "later gold": ("bfcl-eval/bfcl_eval/data", "bfcl"),
    "livemcpbench": ("LiveMCPBench", "livemcpbench"),
    "toolbench": ("Toolbench-qaq/toolbench_query_dataset", "toolbench"),
}
"""What is read, to its folder below SEAL_DATA: in a clone, or in a repack."""

_SHORT = ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18-FC", "Nexusflow-Raven-v2")
_FIRST = "gorilla_openfunctions_v1_test"
_RULES = {"ours": None, "bfcl": "bfcl", "gold_v4": "bfcl", "unfenced": "bfcl"}
"""Folder of runs to the rules by which they are scored."""


def main(argv: Sequence[str] | None = None) -> int:
    """Import, score and rank the models; print or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="three models; nothing is written")
    parser.add_argument(
        "--kept", action="store_true", help="the page of the verdicts in --verdicts"
    )
    parser.add_argument("--runs", type=Path, help="folder of the runs; a new one otherwise")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    parser.add_argument("--verdicts", type=Path, help="file of all verdicts (JSON, gzip)")
    asked = parser.parse_args(argv)
    if asked.kept and not asked.verdicts:
        parser.error("--kept needs the file of the verdicts: --verdicts FILE")
    began = time.process_time()
    try:
        told = read_verdicts(asked.verdicts) if asked.kept else _made(asked.short, asked.runs)
    except UsageError as error:
        print(f"not held: {error}", file=sys.stderr)
        return int(not asked.short)
    scored = time.process_time()
    text = page(told)
    if asked.verdicts and not (asked.kept or asked.short):
        packed = json.dumps(told, separators=(",", ":")).encode()
        asked.verdicts.write_bytes(gzip.compress(packed, mtime=0))
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


def read_verdicts(path: Path) -> dict[str, Any]:
    """Return what `verdicts` told when the file was made, and `failures`."""
    told: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return told


def _made(is_short: bool, runs: Path | None) -> dict[str, Any]:
    """Import and score the models, and return their verdicts.

    Raises:
        UsageError: The answers are not there, or no checkout of tau-bench.
    """
    root = Path(os.environ.get("SEAL_DATA") or "data")
    paths = {name: _first(root, places) for name, places in CLONES.items()}
    found = models(paths["answers"])
    if not is_short:
        checkout()
    chosen = {name: found[name] for name in (_SHORT if is_short else found)}
    with TemporaryDirectory() as made:
        folder = runs or Path(made)
        later = later_gold(paths["later gold"], Path(made) / "v4")
        for name, path in chosen.items():
            answers = [*answers_of(path)]
            for rules in ("ours", "bfcl"):
                run_of(name, answers, paths["questions"], folder, rules)
            run_of_later_gold(folder, name, later)
            reads_fences = dialect_of(name).name == "python_fenced"
            if not reads_fences and sum(map(_is_fenced, answers)) >= OFTEN:
                bare = [{**one, "result": _without_fence(one["result"])} for one in answers]
                run_of(name, bare, paths["questions"], folder, "unfenced")
        failed = {} if is_short else failures(paths, folder)
        return {**verdicts(folder, chosen), "failures": failed}


def _first(root: Path, places: Sequence[str]) -> Path:
    """Return the first folder that is there; the last where none is."""
    return next((root / place for place in places if (root / place).is_dir()), root / places[-1])


def models(folder: Path) -> dict[str, Path]:
    """Return model to its answers: a folder below `result`, or a file of the repack.

    Raises:
        UsageError: There is none.
    """
    found = {path.name: path for path in folder.glob("result/*/")}
    found |= {path.name.removesuffix(".jsonl.gz"): path for path in folder.glob("[!_]*.jsonl.gz")}
    if not found:
        raise UsageError(f"no answers of real models: {folder} has none; set SEAL_DATA")
    return dict(sorted(found.items()))


def answers_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a model's answers, `{id, result, valid, tokens_in, tokens_out}` and perhaps latency_s.

    In upstream's folders a file of scores lists the answers that are wrong, by the question's id or
    by their place, from 1.
    """
    if path.is_file():
        yield from map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        return
    for category in FIRST:
        scores = path.parents[1] / "score" / path.name / f"{category}_score.json"
        wrong = {
            told
            for record in _records(scores)
            if "accuracy" not in record
            for told in (record["id"], record.get("prompt", {}).get("id"))
        }
        answers = _records(path / f"{_FIRST}_{category}_result.json")
        for place, record in enumerate(answers, 1):
            yield {
                "id": record["id"],
                "result": record["result"],
                "valid": wrong.isdisjoint((place, record["id"])),
                "tokens_in": record.get("input_token_count"),
                "tokens_out": record.get("output_token_count"),
                "latency_s": record.get("latency"),
            }


def run_of(
    name: str, answers: Iterable[Mapping[str, Any]], questions: Path, folder: Path, rules: str
) -> None:
    """Make the run RULES/NAME of a model's answers, and score it by these rules."""
    out = folder / rules / name
    if (out / "summary.json").is_file():
        return
    with TemporaryDirectory() as made:
        _as_published(answers, name, Path(made))
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

    Of each rule those of `calls_right`; `recorded` has those that the leaderboard published. Of
    each pattern 1 where the answer is free of it. `fenced` has 1 where an answer stands in a fence
    (```), of the tasks that need a call. And the mean tokens of each model, in and out.
    """
    tasks = [*_records(folder / "bfcl" / next(iter(answers)) / "tasks.jsonl")]
    wanted = [(rules, METRIC) for rules in _RULES] + [("ours", one) for one in PATTERNS]
    scores: dict[str, dict[str, str]] = {}
    for rules, metric in wanted:
        label = rules if metric == METRIC else metric
        scores[label] = {
            name: _verdicts(folder / rules / name, metric, tasks)
            for name in answers
            if (folder / rules / name).is_dir()
        }
    told = {name: _recorded(path, tasks) for name, path in answers.items()}
    later = _records(folder / "gold_v4" / next(iter(answers)) / "tasks.jsonl")
    return {
        "tasks": [[record["id"], record["tags"]["group"]] for record in tasks],
        "other_gold": sum(
            one["goals"] != other["goals"] for one, other in zip(tasks, later, strict=True)
        ),
        "tokens": {name: one["tokens"] for name, one in told.items()},
        "scores": {
            label: {name: one[label] for name, one in told.items()}
            for label in ("recorded", "fenced")
        }
        | scores,
    }


def _recorded(path: Path, tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a model's records tell of the tasks: verdicts, fences, and mean tokens."""
    by_id = {one["id"]: one for one in answers_of(path)}
    answers = [by_id[task["id"]] for task in tasks]
    needs = [task["tags"]["group"] != "irrelevance" for task in tasks]
    tokens = []
    for name in ("tokens_in", "tokens_out"):
        known = [one[name] for one in answers if one.get(name) is not None]
        tokens.append(round(sum(known) / len(known), 6) if any(known) else None)
    return {
        "recorded": "".join(str(int(one["valid"])) for one in answers),
        "fenced": "".join(
            str(int(_is_fenced(one))) if need else "-"
            for one, need in zip(answers, needs, strict=True)
        ),
        "tokens": tokens,
    }


_FENCE = "```"


def _is_fenced(answer: Mapping[str, Any]) -> bool:
    return isinstance(answer["result"], str) and answer["result"].lstrip().startswith(_FENCE)


def _without_fence(answer: Any) -> Any:
    """Return what stands in the fence with which an answer begins, without a language's name."""
    if not _is_fenced({"result": answer}):
        return answer
    inside = answer.strip().removeprefix(_FENCE).partition(_FENCE)[0]
    first, _, rest = inside.partition("\n")
    return (rest if first.strip().isalpha() else inside).strip()


def _verdicts(run: Path, metric: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    table = read_scores(run / "scores.jsonl")
    values = table.values[:, table.metrics[metric]]
    told = {table.tasks[goal[0]]: one for goal, one in zip(table.goals, values, strict=True)}
    found = (told.get(record["id"], math.nan) for record in tasks)
    return "".join("-" if math.isnan(one) else str(int(one == 1)) for one in found)


def _as_published(answers: Iterable[Mapping[str, Any]], name: str, to: Path) -> None:
    """Write a model's answers as upstream's folder of results has them."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for record in answers:
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


if __name__ == "__main__":
    sys.exit(main())

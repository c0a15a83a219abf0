"""Where real models fail on four benchmarks: the stage of each failure, by `seal explain`.

| system | records |
|---|---|
| three models of the leaderboard | BFCL, as `real_models` imports them |
| GPT-4o | 200 conversations with tau-bench's airline, played again in its tools |
| Claude Sonnet 4 | 95 runs of LiveMCPBench, with people's labels |
| ToolLLaMA-2 | 944 runs of ToolBench, answered by what was recorded |

`TAUBENCH_CHECKOUT` names a checkout of sierra-research/tau-bench at 59a200c, whose code is run.
What is kept of a chat is its verdict, stage, cause and marks, and no text.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import seal
from seal.core import UsageError
from seal.core.state_conditions import GOLD_ENDS
from seal.evaluation.attribution import MEANINGS, ORDER
from seal.evaluation.error_patterns import SERVICES
from seal.evaluation.statistics import mean_over
from seal.report.grids import Grid, number
from seal.runs.finished import import_run

OF_BFCL = ("gpt-4o-2024-08-06-FC", "claude-3-5-sonnet-20240620", "gpt-3.5-turbo-0125-FC")
"""Models of the leaderboard whose failures are told."""
CHECKOUT = "TAUBENCH_CHECKOUT"
SOLVED, UNDECIDED, DEAD = "solved", "undecided", "dead_service"
_ALL = 1_000_000
"""Goals that are listed, at most."""
_USER = ("user_hallucination", "user_instruction_error")
_MARKS = ("false_success", "unsupported", "extra_effects")
_TRIALS = 4
_RUNS = {"gpt-4o": "taubench", "claude-sonnet-4": "livemcpbench", "toolllama-2": "toolbench"}
"""System to the benchmark of its records."""


class Chat(NamedTuple):
    """What is kept of one chat."""

    task: str
    trial: int
    outcome: str
    """`solved`, `undecided`, `dead_service`, or the stage at which it failed."""
    cause: str
    """As `seal explain` names it; empty where it did not fail."""
    marks: str
    """Of the user's errors, false success, unsupported values, extra effects, and changes where
    gold, which follows the policy, changes nothing: 1, 0, or - (none)."""
    lacks: int
    """1: of the gold tools one was not found; 0: all were; -1: nothing was searched."""


def failures(sources: Mapping[str, Path], folder: Path) -> dict[str, dict[str, Any]]:
    """Return of each system its benchmark and chats.

    Args:
        sources: Of LiveMCPBench and ToolBench the folder of upstream's files.
        folder: Of the runs, where those of BFCL's models are; others are made if they are not.

    Raises:
        UsageError: There is no checkout of tau-bench.
    """
    told = {
        name: {"benchmark": "bfcl", "chats": list(_chats(folder / "bfcl" / name, "calls_right"))}
        for name in OF_BFCL
        if (folder / "bfcl" / name).is_dir()
    }
    for name, benchmark in _RUNS.items():
        run = folder / benchmark / name
        if not (run / "summary.json").is_file():
            _make(benchmark, sources.get(benchmark) or checkout(), run)
        told[name] = {"benchmark": benchmark, "chats": list(_chats(run))}
    return told


def checkout() -> Path:
    """Return the checkout of tau-bench.

    Raises:
        UsageError: There is none.
    """
    folder = Path(os.environ.get(CHECKOUT) or "tau-bench")
    if not (folder / "tau_bench").is_dir():
        raise UsageError(
            f"no checkout of tau-bench at {folder}: git clone "
            f"https://github.com/sierra-research/tau-bench, and set {CHECKOUT}"
        )
    return folder


def _make(benchmark: str, source: Path, run: Path) -> None:
    """Make a run of records, and score it."""
    if benchmark == "taubench":
        options = {
            "answers": str(source / "historical_trajectories" / "gpt-4o-airline.json"),
            "domains": "airline",
            "allow_code": ["tau_bench"],
        }
        import_run(benchmark, source, run, options)
        seal.score(run, metrics=["honesty"])
    elif benchmark == "livemcpbench":
        import_run(benchmark, source, run, {})
        labels = [*source.glob("baseline/annotation/claude-*"), *source.glob("claude-*.json.gz")]
        seal.score(run, verdicts=labels[0], metrics=["honesty"])
    else:
        pool = run.with_name(f"{run.name}-pool")
        seal.import_benchmark(benchmark, source, pool)
        seal.run(
            pool,
            model=f"recorded:{run.name}",
            simulator="recorded",
            metrics=["honesty"],
            baselines=False,
            out=run,
        )


def _chats(run: Path, metric: str | None = None) -> Iterator[Chat]:
    """Yield the chats of a run; a metric decides, or else what its benchmark says."""
    content = seal.explain(seal.Run.load(run), metric=metric, examples=_ALL).content
    failed = {(row["task"], row["trial"]): row for row in content["attributions"]}
    open_ = {(row["task"], row["trial"]) for row in content["open"]}
    marks = _marks(run)
    tasks = {record["id"]: record for record in _records(run / "tasks.jsonl")}
    for chat in _records(run / "trajectories.jsonl"):
        key = chat["task_id"], chat.get("trial", 0)
        row = failed.get(key)
        outcome = UNDECIDED if key in open_ else SOLVED
        if row is not None:
            is_dead = row["stage"] == "tool_error" and row["cause"] in SERVICES
            outcome = DEAD if is_dead else row["stage"]
        cause = "" if row is None else row["cause"]
        told = marks[key] + (marks[key][-1] if _forbids(chat) else "-")
        yield Chat(*key, outcome, cause, told, _lacks(chat, tasks[key[0]]))


def _forbids(chat: Mapping[str, Any]) -> bool:
    """Tell whether gold leaves a world as it began."""
    goals = chat.get("provenance", {}).get(GOLD_ENDS, {}).values()
    ends = [end for keys in goals for told in keys.values() for end in told]
    return bool(ends) and not any(end.get("changes") for end in ends)


def _lacks(chat: Mapping[str, Any], task: Mapping[str, Any]) -> int:
    """Return whether a search of the agent did not find a gold tool; -1: it did not search."""
    if not chat.get("rankings"):
        return -1
    return int(not {*task["goals"][0].get("relevant", ())} <= {*chat["offered"][0]})


def _marks(run: Path) -> dict[tuple[str, int], str]:
    """Return the marks of each chat."""
    values: defaultdict[tuple[str, int], dict[str, float | None]] = defaultdict(dict)
    for score in _records(run / "scores.jsonl"):
        if score["metric"] in (*_USER, *_MARKS):
            key = score["task_id"], score.get("trial", 0)
            values[key][score["metric"]] = score.get("value")
    return defaultdict(
        lambda: "-" * (1 + len(_MARKS)),
        {
            key: _mark([own.get(name) for name in _USER])
            + "".join(_mark([own.get(name)]) for name in _MARKS)
            for key, own in values.items()
        },
    )


def _mark(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return str(int(any(known))) if known else "-"


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


# -- What the page says of them.


def failure_parts(told: Mapping[str, Mapping[str, Any]]) -> list[Grid | str]:
    """Return the tables of `results/real_models.md`."""
    chats = {name: [Chat(*one) for one in own["chats"]] for name, own in told.items()}
    names = {name: f"{name} ({own['benchmark']})" for name, own in told.items()}
    parts: list[Grid | str] = [_stages(chats, names)]
    parts += _NOTES
    parts.append(_of_failed(told, chats, names))
    if "gpt-4o" in chats:
        parts += [_repeated(chats["gpt-4o"]), _deeds(chats, names)]
    if "claude-sonnet-4" in chats:
        parts += _found(chats["claude-sonnet-4"])
    return parts


_NOTES = (
    "dead service: the recorded service gave no answer, so that nothing is told of the model; "
    "infrastructure: nothing was recorded for a call. Both, and undecided goals, are no failures "
    "of the model. ToolBench's records prove of no goal that it is solved",
    "not told: the record cannot show this stage. BFCL's answers are calls without a search, a "
    "user, results or words. tau-bench and ToolBench offer all tools that are needed. LiveMCPBench "
    "and ToolBench have no user who goes on",
    "ToolBench's 500 runs of ChatGPT are left out: their texts are cut at 100 characters, and no "
    "stage can be told",
    "the records of tau-bench name no version of gpt-4o: it may or may not be that of BFCL, "
    "gpt-4o-2024-08-06. claude-sonnet-4 is claude-sonnet-4-20250514",
    "one failure of Claude ended with a connection error of the benchmark's harness; it counts as "
    "a tool that was never called",
)
_NOT_TOLD = {
    "bfcl": ("not_retrieved", "user", "tool_error", "gave_up", "answer"),
    "taubench": ("not_retrieved",),
    "livemcpbench": ("user",),
    "toolbench": ("not_retrieved", "user"),
}
"""Stages that the records of a benchmark cannot show."""
OUTCOMES = (SOLVED, UNDECIDED, "infrastructure", DEAD, *ORDER[1:])
"""In the order of the tables."""
NO_FAILURES = (SOLVED, UNDECIDED, "infrastructure", DEAD)


def _stages(chats: Mapping[str, Sequence[Chat]], names: Mapping[str, str]) -> Grid:
    rows = []
    for outcome in OUTCOMES:
        counts = [sum(one.outcome == outcome for one in own) for own in chats.values()]
        if any(counts):
            rows.append((_meaning(outcome), *map(str, counts)))
    rows.append(("all", *(str(len(own)) for own in chats.values())))
    title = "Where real models fail: goals by their first wrong stage"
    return Grid(title, ("stage", *names.values()), rows)


def _meaning(outcome: str) -> str:
    if outcome == DEAD:
        return "dead service"
    return next((said for stage, said in MEANINGS.items() if stage == outcome), outcome)


def _of_failed(
    told: Mapping[str, Mapping[str, Any]],
    chats: Mapping[str, Sequence[Chat]],
    names: Mapping[str, str],
) -> Grid:
    """Return the stages as shares of what a model failed, with intervals over tasks."""
    failed = {
        name: [one for one in own if one.outcome not in NO_FAILURES] for name, own in chats.items()
    }
    rows = []
    for stage in ORDER[1:]:
        cells = [
            "not told"
            if stage in _NOT_TOLD[told[name]["benchmark"]]
            else share_text([one.outcome == stage for one in own], [one.task for one in own])
            for name, own in failed.items()
        ]
        if any(one.outcome == stage for own in failed.values() for one in own):
            rows.append((_meaning(stage), *cells))
    rows.append(("failures", *(str(len(own)) for own in failed.values())))
    title = "Of what a model failed: share of each stage, with 95 % intervals over tasks"
    return Grid(title, ("stage", *names.values()), rows)


def share_text(values: Sequence[float], tasks: Sequence[str]) -> str:
    """Return a mean of values in [0, 1] with its interval, in which a task counts together."""
    if not values:
        return "none"
    numbers = {task: place for place, task in enumerate(dict.fromkeys(tasks))}
    found = mean_over(values, [numbers[task] for task in tasks])
    return f"{number(found['mean'])} [{number(found['low'])}, {number(found['high'])}]"


def _repeated(chats: Sequence[Chat]) -> Grid:
    """Return pass^k of tau-bench."""
    solved: Counter[str] = Counter()
    for one in chats:
        solved[one.task] += one.outcome == SOLVED
    tasks = list(dict.fromkeys(one.task for one in chats))
    rows = []
    for k in range(1, _TRIALS + 1):
        values = [math.comb(solved[task], k) / math.comb(_TRIALS, k) for task in tasks]
        rows.append((str(k), share_text(values, tasks), _PUBLISHED[k - 1]))
    columns = ("k", "here, with 95 % interval", "published")
    return Grid("GPT-4o on tau-bench's airline: pass^k", columns, rows)


_PUBLISHED = (".420", ".273", ".220", ".200")


def _deeds(chats: Mapping[str, Sequence[Chat]], names: Mapping[str, str]) -> Grid:
    """Return how often users erred and agents told or did what they should not."""
    labels = (
        "the user erred",
        "false success",
        "unsupported value",
        "extra effect",
        "change against the policy, of chats that allow none",
    )
    words = {name: own for name, own in chats.items() if any(c.marks.strip("-") for c in own)}
    rows = []
    for place, label in enumerate(labels):
        cells = []
        for own in words.values():
            known = [one for one in own if one.marks[place] != "-"]
            is_so = [one.marks[place] == "1" for one in known]
            told = share_text(is_so, [one.task for one in known])
            cells.append(f"{told} of {len(known)}" if known else "not told")
        rows.append((label, *cells))
    columns = ("", *(names[name] for name in words))
    return Grid("What else went wrong: shares, of so many chats", columns, rows)


def _found(chats: Sequence[Chat]) -> list[Grid | str]:
    """Return how often solved and failed runs lacked a gold tool, with Fisher's exact test."""
    searched = [one for one in chats if one.lacks >= 0]
    solved = [one for one in searched if one.outcome == SOLVED]
    failed = [one for one in searched if one.outcome != SOLVED]
    counts = [sum(one.lacks for one in side) for side in (solved, failed)]
    rows = [
        (
            label,
            str(len(side)),
            str(count),
            share_text([bool(one.lacks) for one in side], [one.task for one in side]),
        )
        for label, side, count in zip(("solved", "failed"), (solved, failed), counts, strict=True)
    ]
    p = fisher(counts[0], len(solved), counts[1], len(failed))
    title = "Claude Sonnet 4 on LiveMCPBench: runs whose searches did not find all gold tools"
    said = (
        f"Fisher's exact test: p = {number(p)}. The annotators' tools are one way of several. So "
        "the first stage that lacks one of them is not proven to be the cause of a failure"
    )
    return [Grid(title, ("runs", "number", "lack a gold tool", "share"), rows), said]


def fisher(one: int, of_one: int, other: int, of_other: int) -> float:
    """Return the two-sided p of Fisher's exact test of two shares."""
    total, hits = of_one + of_other, one + other
    ways = [
        math.comb(of_one, n) * math.comb(of_other, hits - n)
        for n in range(max(0, hits - of_other), min(of_one, hits) + 1)
    ]
    seen = math.comb(of_one, one) * math.comb(of_other, other)
    return sum(way for way in ways if way <= seen) / math.comb(total, hits)

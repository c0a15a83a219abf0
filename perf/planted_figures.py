"""Figures that told too much, too little or something else: lines of `planted.py`."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from planted_faults import Planted, junk_alone
from planted_lab import (
    BOARD,
    CLOCK,
    HELLO,
    POSTS,
    SHOP,
    Lab,
    Says,
    Seen,
    in_world,
    line,
    means,
    refused_all,
    told,
)

import seal
from seal.core import Scale, Task
from seal.evaluation.statistics import mean_intervals

VERIFY = Path(__file__).resolve().parent / "verify" / "verify.py"


@line(
    "How often 95 % intervals of n verdicts hold their true mean p: an exact sum",
    "n=10: 20 % at p=.02, 67 % at .1, 25 % at .97; n=53: 68, 90, 81 %",
    "at least 91 % at each p, and no interval without width",
)
def intervals(lab: Lab) -> Seen:
    shares = {}
    for n in (10, 53):
        ones = np.arange(n + 1)
        verdicts: NDArray[Any] = (np.arange(n)[:, None] < ones) * 1.0
        low, high = mean_intervals(verdicts, np.arange(n))
        for p in (0.02, 0.1, 0.97):
            chances = np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in ones.tolist()])
            shares[n, p] = float(chances[(low <= p) & (p <= high) & (low < high)].sum())
    words = (f"{share:.1%} at n={n}, p={p}" for (n, p), share in shares.items())
    return Seen(", ".join(words), min(shares.values()) >= 0.91)


@line(
    "`seal run sgd` is `seal run dialogtool` by another name",
    "pass_rate .221, no awareness; by the first awareness, selection, execution 1.000",
    "the same metrics with the same means",
    upstream=True,
)
def second_name(lab: Lab) -> Seen:
    data = lab.upstream("sgd", "test/schema.json", "test/dialogues_001.json")
    runs = []
    for name in ("dialogtool", "sgd"):
        words = ("--model", "oracle", "--no-baselines", "--first", 3, "--out", name)
        done = lab.command("run", name, *words, data=data)
        if done.returncode:
            return Seen(f"seal run {name}: {done.stderr.strip()}", False)
        runs.append(means(seal.Run.load(lab.folder / name)))
    names = ("awareness", "selection", "execution")
    holds = runs[0] == runs[1] and all(runs[1][name] == 1 for name in names)
    return Seen(f"sgd: {told(runs[1], (*names, 'pass_rate'))}", holds)


@line(
    "toolscan_success of the oracle, and of who calls every tool with junk",
    "junk .975, the oracle .769: who calls nothing has another denominator",
    "one number of goals, and the oracle is not below",
)
def toolscan_success(lab: Lab) -> Seen:
    junk, gold = (
        lab.play("toolscan-sample", model).summary["metrics"]["toolscan_success"]
        for model in (Planted(junk_alone), "oracle")
    )
    words = f"junk {junk['mean']} of {junk['n']} goals, the oracle {gold['mean']} of {gold['n']}"
    return Seen(words, junk["n"] == gold["n"] and gold["mean"] >= junk["mean"])


@line(
    "A metric of the user's returns 2, -1 or 37; `success` names one that returns 2",
    "a rate with an interval; who does nothing solves it",
    "refused, with the repair",
)
def scale(lab: Lab) -> Seen:
    def returning(value: float, **settings: str) -> Callable[[], object]:
        def two(task: Task, trajectory: seal.Trajectory) -> float:
            return value

        bench = in_world(SHOP, seal.called("sell", seat=2), metrics=[two], **settings)
        return lambda: lab.play(bench, Says(lambda task: ()), team="direct")

    cases = {str(value): (returning(value), "scales") for value in (2, -1, 37)}
    return refused_all({**cases, "success": (returning(2, success="two"), "scales")})


@line(
    "perf/verify/verify.py is asked for three peers of which one is here",
    "exit code 0 where 1 of 7 was held; bfcl-eval was held against itself",
    '"not held" of each of the others, exit code 1',
)
def peers(lab: Lab) -> Seen:
    empty = lab.new()
    empty.mkdir()
    done = lab.command(VERIFY, "scipy", "toolsandbox", "bfcl_runs", data=empty)
    missing = re.findall(r"^not held: (\w+)", done.stderr, re.MULTILINE)
    words = f"exit code {done.returncode}, not held: {', '.join(missing)}"
    return Seen(words, done.returncode == 1 and missing == ["toolsandbox", "bfcl_runs"])


@line(
    "`seal compare` has a metric that is better low",
    "it does not say so",
    "it says so, in Python and in the terminal",
)
def better_low(lab: Lab) -> Seen:
    def length(task: Task, trajectory: seal.Trajectory) -> int:
        return len(trajectory.answers[-1] or "")

    length.scales = {"length": Scale(bounded=False, higher_is_better=False)}  # type: ignore[attr-defined]
    bench = in_world(SHOP, seal.called("sell", seat=2), metrics=[length])
    runs = [lab.play(bench, Says(lambda task: (), say), team="direct") for say in ("Yes.", "No.")]
    folders = [run.folder.path for run in runs]
    done = lab.command("compare", *folders, "--metric", "length")
    texts = {
        "seal.compare": str(seal.compare(*runs, metrics=["length"])),
        "seal compare": done.stdout,
    }
    said = re.compile(r"low[^\n]*better[^\n]*length|length[^\n]*(better low|lower is better)")
    found = {door: bool(said.search(text)) for door, text in texts.items()}
    return Seen(told(found, tuple(found)), all(found.values()))


@line(
    "A right call comes too early, is refused, and is never repeated",
    "`iav` and `param_acc_matched` disagree on its values",
    "they agree",
)
def too_early(lab: Lab) -> Seen:
    found = lab.says(in_world(BOARD, *POSTS), ("post", HELLO), ("connect", {}))
    holds = (found["iav"] == 1) == (found["param_acc_matched"] == 1)
    return Seen(told(found, ("iav", "param_acc_matched")), holds)


@line(
    "The ceiling has a value of fewer tasks than the model beside it",
    "a ceiling over 27 tasks beside a model over 40, unsaid",
    "a line gives both numbers",
)
def ceiling(lab: Lab) -> Seen:
    rows = seal.FinalState("tickets", ({"seat": 2},), ignore=("tickets.id",))
    tasks = [seal.ask("Sell 2.", gold) for gold in (seal.called("sell", seat=2), rows, rows)]
    bench = seal.Benchmark("shop", environment=SHOP, tasks=tasks)
    model = Says(lambda task: [("sell", {"seat": 2})])
    run = lab.play(bench, model, team="direct", baselines=True)
    ours, most = (
        one.summary["metrics"]["pass_rate"]["n"] for one in (run, run.baselines["ceiling"])
    )
    numbers = {str(most), str(ours)}
    lines = [one for one in str(run).splitlines() if "ceiling" in one]
    said = any(numbers <= set(re.findall(r"\d+", one)) for one in lines)
    words = f"ceiling {most}, model {ours}, {'said' if said else 'unsaid'}"
    return Seen(words, ours > most and said)


@line(
    "The oracle plays BFCL's irrelevance",
    "undecided, 240 of 240",
    "decided, and solved",
    upstream=True,
)
def irrelevance(lab: Lab) -> Seen:
    data, pool = lab.upstream("bfcl", "BFCL_v4_irrelevance.json"), lab.new()
    seal.import_benchmark("bfcl", data / "bfcl", out=pool)
    found = lab.play(pool).summary["metrics"]["pass_rate"]
    words = f"pass_rate {found['mean']} of {found['n']}"
    return Seen(words, (found["mean"], found["n"], found.get("unsure")) == (1, 240, 0))


@line(
    "`--retriever oracle` where no goal, or one of two, says which tools it needs",
    "it offers nothing, and does not say so",
    "refused with the repair; told",
)
def oracle_retriever(lab: Lab) -> Seen:
    rows = [{"question": "Time?", "calls": "now()"}, {"question": "Or?", "calls": ""}]
    words = ("--retriever", "oracle", "--model", "lexical", "--no-baselines", "--out")
    pools = {"none": lab.made([CLOCK], rows[1:], "csv"), "some": lab.made([CLOCK], rows, "csv")}
    done = {name: lab.command("run", pool, *words, lab.new()) for name, pool in pools.items()}
    refused = done["none"].returncode == 2 and "--retriever" in done["none"].stderr
    said = "1 of 2 goals" in done["some"].stderr
    return Seen(told({"refused": refused, "told": said}, ("refused", "told")), refused and said)

"""The page of real models, and the figures of its tables, of verdicts alone.

`real_models` makes the verdicts. The notebook of real models takes its figures from here, so that
each has one interval and one test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from real_failures import failure_parts

from seal.evaluation.significance import ALPHA, holm, paired_differences
from seal.report.grids import Grid, number
from seal.report.leaderboard import leaderboard_table, ranked_scores
from seal.report.table_forms import markdown

METRIC = "calls_right"
PATTERNS = ("iac", "iav", "ian", "iat", "ife", "ifn", "rac")
"""ToolScan's error patterns. The first is of questions that need a call, the others of calls."""
OFTEN = 500
"""Answers in a fence, from which on a model's answers are scored without it, too."""
_NATIVE = ("-FC", "-FC-Auto")
"""Ends of the name of a model that calls natively, and may also not call."""

_SOURCES = """\
```sh
mkdir clones && cd clones
git clone https://github.com/HuanzhiMao/BFCL-Result && git -C BFCL-Result checkout b4adfc9
git clone https://github.com/ShishirPatil/gorilla && git -C gorilla checkout de8307b4
git clone https://github.com/sierra-research/tau-bench && git -C tau-bench checkout 59a200c
git clone https://github.com/icip-cas/LiveMCPBench && git -C LiveMCPBench checkout a928e57
git clone https://github.com/EduardoTrevino/Toolbench-qaq && git -C Toolbench-qaq checkout 9628d3b
pip install --no-deps --target bfcl-eval bfcl-eval==2026.3.23
cd ..
SEAL_DATA=clones TAUBENCH_CHECKOUT=clones/tau-bench python perf/real_models.py \\
  --verdicts results/real_models.json.gz --out results/real_models.md
```"""
_INTRO = (
    "# Real models on the record",
    "Written by `perf/real_models.py --out FILE`. The answers to BFCL are those that its "
    "leaderboard published in August 2024 (HuanzhiMao/BFCL-Result, folder 2024-08-11). "
    "[A leaderboard of runs](../docs/compare-and-ablate.md#rank-many-runs) says what the columns "
    "mean. These commands make the page of public repositories; the last takes about 30 minutes "
    "of a processor:",
    _SOURCES,
    "`bfcl-eval` has the gold of version 4. `Toolbench-qaq` has ToolBench's queries and 944 runs "
    "of ToolLLaMA-2. "
    "`--kept` makes the page again of the verdicts in `results/real_models.json.gz`, in a minute.",
)
_HOW = (
    "p: randomisation test over the same tasks, mid-p; of right and wrong this is McNemar's mid-p "
    "test. It is corrected by Holm over the rows of its table, or over all pairs of models",
    "intervals: of shares Wilson's score interval, with the limits of Brown, Cai and DasGupta "
    "where at most four are 1, or are 0; of differences Newcombe's. The trials of a task count "
    "together. Intervals of ranks: 10,000 draws of the tasks with replacement",
    "a table or line that names no p has no test: it counts",
)


def page(told: Mapping[str, Any]) -> str:
    """Return the page of what `verdicts` and `failures` told."""
    boards = {rules: board_of(told, rules) for rules in ("bfcl", "ours", "recorded")}
    first = boards["bfcl"]
    names = [row["run"] for row in first["rows"]]
    parts: list[Grid | str] = [
        *_HOW,
        _part_of(told),
        *first["notes"],
        leaderboard_table(first)._replace(title=f"{len(names)} models by the leaderboard's rules"),
        *_recorded_parts(told, boards["recorded"]["pairs"]),
    ]
    parts += _native_parts(native_pairs(told))
    parts += _fence_parts(told)
    parts += _rules_parts(told, boards)
    parts += _pattern_parts(told, names)
    parts += failure_parts(told["failures"]) if told["failures"] else []
    return "\n\n".join((*_INTRO, *map(markdown, parts))) + "\n"


def frame_of(told: Mapping[str, Any], label: str) -> pd.DataFrame:
    """Return verdicts as numbers, a row a task and a column a model; NaN: none."""
    values = {"1": 1.0, "0": 0.0, "-": math.nan}
    tasks = [task for task, _ in told["tasks"]]
    columns = {name: [*map(values.get, text)] for name, text in told["scores"][label].items()}
    return pd.DataFrame(columns, index=tasks, dtype=float)


def ranks_of(means: pd.Series[float]) -> pd.Series[int]:
    """Return 1 and one more for each model that is better."""
    return means.round(9).rank(ascending=False, method="min").astype(int)


def board_of(told: Mapping[str, Any], rules: str) -> dict[str, Any]:
    """Return the leaderboard by some rules, with categories and tokens."""
    verdicts_of = frame_of(told, rules)
    content = ranked_scores(verdicts_of, METRIC)
    groups = [group for _, group in told["tasks"]]
    by_group = verdicts_of.groupby(groups).mean()
    for row in content["rows"]:
        row["by"] = by_group[row["run"]].to_dict()
        row["mean_tokens_in"], row["mean_tokens_out"] = told["tokens"][row["run"]]
    content["protocol"]["by"] = {"tag": "group", "values": [*by_group.index]}
    return content


def _part_of(told: Mapping[str, Any]) -> str:
    """Return what of the leaderboard's day is here."""
    groups = Counter(group for _, group in told["tasks"])
    listed = ", ".join(f"{group} {count}" for group, count in groups.items())
    return (
        f"{len(told['tasks']):,} questions of seven categories: {listed}. One more question has "
        "gold that cannot be read, and is left out. They are a part of that day's leaderboard: it "
        "also had 310 questions whose calls were executed (executable_simple 100, "
        "executable_multiple 50, executable_parallel 50, executable_parallel_multiple 40, rest "
        "70). So the order here is not its overall order"
    )


def differences(told: Mapping[str, Any]) -> pd.DataFrame:
    """Return of each model the answers that are judged otherwise than recorded, means and ranks.

    The columns: `right`, `wrong` (so many are right, or wrong, here alone), `recorded_mean`,
    `mean`, `recorded_rank`, `rank`.
    """
    recorded, ours = frame_of(told, "recorded"), frame_of(told, "bfcl")
    found = {
        "right": (ours > recorded).sum(),
        "wrong": (ours < recorded).sum(),
        "recorded_mean": recorded.mean(),
        "mean": ours.mean(),
        "recorded_rank": ranks_of(recorded.mean()),
        "rank": ranks_of(ours.mean()),
    }
    return pd.DataFrame(found)


def _recorded_parts(told: Mapping[str, Any], pairs: Mapping[str, int]) -> Iterator[Grid | str]:
    """Yield where the verdicts by the leaderboard's rules are not those that it recorded."""
    found = differences(told)
    moved = found["rank"] != found.recorded_rank
    changed = (found.right + found.wrong > 0) | moved
    rows = [
        (name, str(right), str(wrong), number(was), number(mean), str(rank_was), str(rank))
        for name, right, wrong, was, mean, rank_was, rank in found[changed]
        .sort_values(["rank", "recorded_rank"])
        .itertuples(name=None)
    ]
    columns = (
        "model",
        "right here alone",
        "right in the record alone",
        "mean (record)",
        "mean (here)",
        "rank (record)",
        "rank (here)",
    )
    yield Grid("Where the verdicts are not those that the leaderboard recorded", columns, rows)
    ours, recorded = frame_of(told, "bfcl"), frame_of(told, "recorded")
    groups = [group for _, group in told["tasks"]]
    by_group = (ours != recorded).sum(axis=1).groupby(groups).sum()
    listed = ", ".join(f"{group} {count}" for group, count in by_group.items() if count)
    yield (
        f"{int(by_group.sum())} of {ours.size:,} answers are judged otherwise ({listed or 'none'}):"
        f" {int(found.right.sum())} are right here alone, {int(found.wrong.sum())} in the record "
        f"alone. The mean of {int((found.right + found.wrong > 0).sum())} of {len(found)} models "
        f"differs, and the rank of {int(moved.sum())}, by "
        f"{int((found['rank'] - found.recorded_rank).abs().max())} places at most. "
        f"By the recorded verdicts {pairs['differ']:,} of {pairs['total']:,} pairs differ"
    )
    yield (
        "The rule: in Java and JavaScript, the leaderboard asked for texts of code alone. SEAL "
        "offers a function with the types that it declares, and so takes a value of this type for "
        "the code that writes it. In three answers gold has a text where a list of accepted values "
        "belongs, of which the leaderboard takes each letter for a value. bfcl_leaderboard.md "
        "counts them"
    )


def native_pairs(told: Mapping[str, Any]) -> pd.DataFrame:
    """Return native calling less prompting of each model that has answers in both forms.

    The columns: `form` (end of the name of the native one), `prompted` and `native` (means),
    `won` and `lost` (tasks that one form alone has right), `difference`, `low`, `high`, `p`, and
    `holm` over the rows.
    """
    frame = frame_of(told, "bfcl")
    rows = {}
    for name in frame:
        for form in _NATIVE:
            if f"{name}{form}" in frame:
                rows[name] = {"form": form, **paired(frame[name], frame[f"{name}{form}"])}
    found = pd.DataFrame([*rows.values()], index=[*rows])
    if len(found):
        found["holm"] = holm([*found.p])
    return found.rename(columns={"one": "prompted", "other": "native"})


def paired(one: pd.Series[float], other: pd.Series[float]) -> dict[str, float | None]:
    """Return means of two columns of verdicts, their difference with its interval, and p.

    `won` counts the tasks that the other has right alone, `lost` those of the first.
    """
    apart = (other - one).to_numpy()
    (tested,) = paired_differences(apart[:, None], np.arange(len(apart)), seed=0)
    return {
        "one": one.mean(),
        "other": other.mean(),
        "won": int((apart > 0).sum()),
        "lost": int((apart < 0).sum()),
        "difference": tested.mean,
        "low": tested.low,
        "high": tested.high,
        "p": tested.p,
    }


def p_text(p: float) -> str:
    """Return a p as the tables have it."""
    return "<0.001" if p < 0.0005 else number(p)


def _native_parts(pairs: pd.DataFrame) -> list[Grid | str]:
    if pairs.empty:
        return []
    rows = [
        (
            str(name),
            number(row.prompted),
            number(row.native),
            f"{row.won:.0f}",
            f"{row.lost:.0f}",
            f"{row.difference:+.3f}",
            f"[{row.low:+.3f}, {row.high:+.3f}]",
            p_text(row.holm),
        )
        for name, row in pairs.iterrows()
    ]
    apart = pairs[pairs.holm <= ALPHA].difference
    better, worse = int((apart > 0).sum()), int((apart < 0).sum())
    columns = (
        "model",
        "prompted",
        "native",
        "native alone is right",
        "prompted alone is right",
        "difference",
        "95 % interval",
        "p (Holm)",
    )
    return [
        Grid("Native calling against prompting of the same model", columns, rows),
        f"of {len(pairs)} models native calling is better in {better}, worse in {worse}, and no "
        f"test tells the two apart in {len(pairs) - better - worse}. Of Mistral's models the "
        "native form is FC-Auto, in which the model may also not call",
    ]


def fences(told: Mapping[str, Any]) -> pd.DataFrame:
    """Return of each model whose answers mostly stand in a fence what the fence costs.

    The columns: `asked` and `fenced` (answers to questions that need a call, and those in a fence),
    `right` and `right_bare` (of the fenced ones: as they stand, and without the fence), `one` and
    `other` (means of all questions), `won`, `lost`, `difference`, `low`, `high`, `p`.
    """
    with_fence, bare = frame_of(told, "bfcl"), frame_of(told, "unfenced")
    marks = frame_of(told, "fenced")
    rows = {}
    for name in bare:
        is_fenced = marks[name] == 1
        rows[name] = {
            "asked": int(marks[name].notna().sum()),
            "fenced": int(is_fenced.sum()),
            "right": int(with_fence[name][is_fenced].sum()),
            "right_bare": int(bare[name][is_fenced].sum()),
            **paired(with_fence[name], bare[name]),
        }
    return pd.DataFrame(rows).T


def _fence_parts(told: Mapping[str, Any]) -> Iterator[Grid | str]:
    found = fences(told)
    rows = [
        (
            str(name),
            f"{row.fenced:,.0f} of {row.asked:,.0f}",
            f"{row.right:,.0f}",
            f"{row.right_bare:,.0f}",
            number(row.one),
            number(row.other),
            f"[{row.low:+.3f}, {row.high:+.3f}]",
            p_text(corrected),
        )
        for (name, row), corrected in zip(
            found.iterrows(), holm([*found.p]) if len(found) else (), strict=True
        )
    ]
    columns = (
        "model",
        "in a fence",
        "of these right",
        "right without the fence",
        "mean",
        "mean without fences",
        "95 % interval of the difference",
        "p (Holm)",
    )
    if rows:
        yield Grid("Answers in a code fence", columns, rows)
        yield (
            f"models of which {OFTEN} answers or more begin with a fence that their reader does "
            "not take off. Counted are the questions that need a call; the means are of all. The "
            "same answers without the fence are scored by the same rules"
        )


def _rules_parts(
    told: Mapping[str, Any], boards: Mapping[str, Mapping[str, Any]]
) -> list[Grid | str]:
    """Return what SEAL's own rules say of the same answers."""
    rows = {rules: {row["run"]: row for row in boards[rules]["rows"]} for rules in ("bfcl", "ours")}
    moved = {name: row["rank"] - rows["ours"][name]["rank"] for name, row in rows["bfcl"].items()}
    said = [
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
        Grid("The ten models that SEAL's own rules move most", columns, said),
        f"pairs of models that differ: {differ['bfcl']:,} by the leaderboard's rules, "
        f"{differ['ours']:,} by SEAL's, of {boards['bfcl']['pairs']['total']:,}",
        f"gold of version 4 is another for {told['other_gold']} of {len(told['tasks']):,} tasks",
    ]


def pattern_shares(told: Mapping[str, Any]) -> pd.DataFrame:
    """Return of each model the share of its answers that show each pattern.

    `needed` counts the questions that need a call, of which `iac` is a share; `called` the answers
    with a call, of which the others are.
    """
    frames = {one: frame_of(told, one) for one in PATTERNS}
    columns = {one: 1 - frame.mean() for one, frame in frames.items()}
    counts = {
        "needed": frames[PATTERNS[0]].notna().sum(),
        "called": frames[PATTERNS[1]].notna().sum(),
    }
    return pd.DataFrame({**counts, **columns})


def _pattern_parts(told: Mapping[str, Any], names: Sequence[str]) -> list[Grid | str]:
    found = pattern_shares(told)
    rows = [
        (
            name,
            f"{found.needed[name]:,}",
            number(found[PATTERNS[0]][name]),
            f"{found.called[name]:,}",
            *(number(found[one][name]) for one in PATTERNS[1:]),
        )
        for name in names
    ]
    columns = ("model", "need a call", PATTERNS[0], "with a call", *PATTERNS[1:])
    return [
        Grid("Shares of answers that show ToolScan's error patterns", columns, rows),
        "an answer shows a pattern if its score by SEAL's rules is below 1. iac, a gold call that "
        "was not made, is a share of the answers to questions that need a call. The others are "
        "shares of the answers with a call, of which a model that seldom calls has few",
    ]

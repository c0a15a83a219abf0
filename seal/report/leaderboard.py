"""A leaderboard of runs: its table for the terminal, and the files that say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core import DataError, UsageError
from seal.core.arrays import np
from seal.core.text import counted
from seal.core.values import digest
from seal.evaluation.significance import pass_hat
from seal.evaluation.statistics import mean_interval, ranks, rounded
from seal.experiments.comparison import FEW, named_runs
from seal.experiments.leaderboard import leaderboard, leaderboard_of_scores
from seal.experiments.series import LongForm, check_results_folder, write_json
from seal.experiments.settings import RESAMPLES
from seal.report.comparison import family_of
from seal.report.grids import Cell, Estimate, Grid, grid_of, interval, known, listed, number
from seal.report.lanes import facts_of, model_name
from seal.report.pages import Part, link, write_page
from seal.report.table_forms import write_latex, write_markdown
from seal.runs.journal import timings_of
from seal.runs.run import MANIFEST, TIMINGS, RunFolder
from seal.runs.score_table import read_scores

if TYPE_CHECKING:
    from pandas import DataFrame

NAME = "leaderboard"
_FILES = tuple(f"{NAME}.{end}" for end in ("json", "md", "tex", "html"))
_TRIALS = (1, 2, 4, 8)
"""The k of pass^k that are told."""
_VALUES = range(2, 13)
"""Values of a tag that become columns."""
_TOKENS = ("mean_tokens_in", "mean_tokens_out")
_SECONDS = "mean_seconds"
_PART = ("limit", "first", "select")
"""What a run tells of the part of a benchmark that it plays."""
_NAMING = {"model", "prompts", "versions"}
"""What a run tells of its system besides the settings."""
_NAMED = 5
"""Runs that a line names."""


def ranked_runs(
    paths: Sequence[Path],
    metric: str | None = None,
    by: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    out: Path | None = None,
) -> dict[str, Any]:
    """Return runs of one benchmark in the order of a metric, and write it where a folder is given.

    Args:
        paths: Run folders, or folders that hold them.
        metric: By which they are ranked; None: the first of the short table of most.
        by: Tag whose values become columns; None: `group`, where it has a few values; empty: none.
        seed: Of draws and tests.
        resamples: Of each.
        out: Folder for leaderboard.json, .csv, .md, .tex and .html; None: nothing is written.

    Returns:
        As `seal.experiments.leaderboard.leaderboard`; each row also has {model, path, mean, low,
        high, n, undecided, bounds, by, passes, mean_tokens_in, mean_tokens_out,
        mean_seconds, dollars}. `by` maps a value
        of the tag to the mean, `passes` k to pass^k where tasks have several trials. Tokens are the
        mean of a goal, seconds of a chat, dollars are of the run; None: not known. And {title,
        notes}.

    Raises:
        UsageError: Fewer than two runs with a rank, a metric that ranks nothing, or a folder that
            holds something else.
        UnknownNameError: No run has the metric.
        DataError: A folder is no run, or is not scored, or a file of it is damaged.
    """
    if out is not None:
        check_results_folder(out, (*_FILES, f"{NAME}.csv"), "a leaderboard")
    runs = _named(named_runs([*_folders(paths)]))
    played = list(runs.values())
    pools = Counter(run.pool_name for run in played)
    usual = [run for run in played if run.pool_name == pools.most_common(1)[0][0]]
    named = metric or next(iter(family_of(usual)), None)
    if named is None:
        raise UsageError("the runs share no metric that ranks; name one: --metric NAME")
    content = leaderboard(runs, named, seed, resamples)
    tag = by if by is not None else "group"
    for row in content["rows"]:
        row |= _described(runs[row["run"]], named, tag)
    values = dict.fromkeys(value for row in content["rows"] for value in row["by"])
    if by is None and len(values) not in _VALUES:
        values = {}
    content["protocol"]["by"] = {"tag": tag, "values": list(values)} if values else None
    benchmarks = list(dict.fromkeys(run.pool_name for run in played))
    content["title"] = f"{', '.join(benchmarks)}: {named}"
    ranked = [runs[row["run"]].manifest() for row in content["rows"] if row["rank"] is not None]
    content["notes"] = [*_notes(content), *_settings(ranked)]
    if out is not None:
        _write(content, out)
    return content


def _settings(manifests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the rules and the part of the benchmark of the ranked runs, and what sets them apart.

    What only some runs tell, as a recording does not, counts as no difference.
    """
    measure = manifests[0].get("measure") or {}
    if measure.get("match"):
        yield f"calls are judged by other rules than SEAL's: --match {measure['match']}"
    part = [f"{name} {_shown(measure[name])}" for name in _PART if measure.get(name)]
    if part:
        yield f"all runs are of a part of the benchmark: {', '.join(part)}"
    systems = [one.get("system") or {} for one in manifests]
    shared = set.intersection(*map(set, systems)) - _NAMING
    differ = [name for name in sorted(shared) if len({digest(one[name]) for one in systems}) > 1]
    if differ:
        yield f"the runs differ in more than the model: {', '.join(differ)}"


def _shown(choice: Any) -> str:
    if isinstance(choice, Mapping):
        return ", ".join(f"{name}={value}" for name, value in choice.items())
    return str(choice)


def ranked_scores(
    scores: DataFrame,
    metric: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    out: Path | None = None,
) -> dict[str, Any]:
    """Return systems in the order of scores that were made elsewhere.

    Args:
        scores: A row for each task, a column for each system.
        metric: What the scores are; None: "score".
        seed: Of draws and tests.
        resamples: Of each.
        out: As of `ranked_runs`.

    Returns:
        As `ranked_runs`; what is known of runs alone is None or empty.

    Raises:
        UsageError: As of `leaderboard_of_scores`, or a folder that holds something else.
    """
    if out is not None:
        check_results_folder(out, (*_FILES, f"{NAME}.csv"), "a leaderboard")
    named = metric or "score"
    content = leaderboard_of_scores(scores, named, seed, resamples)
    columns = {str(name): scores[name].dropna().to_numpy(dtype=np.float64) for name in scores}
    for row in content["rows"]:
        found = columns[row["run"]]
        low, high = map(rounded, mean_interval(found))
        row |= {"mean": rounded(float(found.mean())), "low": low, "high": high, "n": len(found)}
        row |= {"model": row["run"], "path": "", "by": {}, "passes": {}}
        row |= dict.fromkeys(("bounds", *_TOKENS, _SECONDS, "dollars"))
    content["protocol"]["by"] = None
    content["title"] = f"{counted(len(columns), 'system')}: {named}"
    content["notes"] = list(_notes(content))
    if out is not None:
        _write(content, out)
    return content


def _folders(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield run folders; in the place of a folder without a run those that lie in it.

    A link such as `latest` is no second run.
    """
    for path in paths:
        found = sorted(place.parent for place in path.glob(f"*/{MANIFEST}"))
        own = {run.resolve() for run in found if not run.is_symlink()}
        inner = [run for run in found if not run.is_symlink() or run.resolve() not in own]
        if (path / MANIFEST).is_file() or not inner:
            yield path
        else:
            yield from inner


def _named(runs: Mapping[str, RunFolder]) -> dict[str, RunFolder]:
    """Return runs by their models, where these tell them apart, else by their folders."""
    models = [model_name(run).removeprefix("recorded:") for run in runs.values()]
    names = models if len(set(models)) == len(models) else runs
    return dict(zip(names, runs.values(), strict=True))


def _described(run: RunFolder, metric: str, tag: str) -> dict[str, Any]:
    """Return what a row says of its run besides its rank."""
    facts = facts_of(run)
    if facts.damage:
        raise DataError(facts.damage)
    metrics = run.summary()["metrics"]
    found = Estimate.of(metrics.get(metric))
    tokens = {
        name: Estimate.of(metrics.get(name.removeprefix("mean_"))).mean if facts.tokens else None
        for name in _TOKENS
    }
    took = _seconds(run) if facts.tokens else []
    return {
        "model": facts.model,
        "path": str(run.path),
        **{name: getattr(found, name) for name in ("mean", "low", "high", "n", "bounds")},
        "by": {value: one.mean for value, one in found.by.get(tag, {}).items()},
        "passes": _passes(run, metric),
        **tokens,
        _SECONDS: rounded(sum(took) / len(took)) if took else None,
        "dollars": rounded(facts.dollars) or None,
    }


def _seconds(run: RunFolder) -> list[float]:
    """Return how long each chat took; of one that was played again the last time counts."""
    told = timings_of(run.path / TIMINGS)
    return [
        *{(it["task_id"], it["trial"]): it["seconds"] for it in told if "task_id" in it}.values()
    ]


def _passes(run: RunFolder, metric: str) -> dict[str, float]:
    """Return pass^k for each k that most tasks have trials for; empty where they have one."""
    table = read_scores(run.scores_path, run.rates())
    column = table.metrics.get(metric)
    if column is None or not len(table.goals):
        return {}
    held = ~np.isnan(table.values[:, column])
    chats = ranks(table.goals[held, 0] * (int(table.goals[:, 1].max()) + 1) + table.goals[held, 1])
    solved = np.ones(int(chats.max(initial=-1)) + 1, dtype=np.bool_)
    np.logical_and.at(solved, chats, table.values[held, column] >= 1)
    tasks = np.zeros(len(solved), dtype=np.int64)
    tasks[chats] = ranks(table.goals[held, 0])
    trials = np.bincount(tasks)
    won = np.bincount(tasks, solved).astype(np.int64)
    if not len(trials) or trials.max() < 2:
        return {}
    passes = {k: pass_hat(won, trials, k) for k in _TRIALS if np.mean(trials >= k) > 0.5}
    return {str(k): float(rounded(float(np.nanmean(found)))) for k, found in passes.items()}  # type: ignore[arg-type]


# -- The table, and what stands below it.


def recordings_grid(runs: Sequence[RunFolder]) -> Grid:
    """Return a row for each run of a recording, with the first metric of their short table."""
    metric = next(iter(family_of(runs)), None)
    columns: list[tuple[str, str | Cell]] = [
        ("recording", lambda run: run.path.name),
        ("tasks", lambda run: f"{run.summary()['tasks']:,}"),
    ]
    if metric is not None:
        columns += [
            (metric, lambda run: number(_entry(run, metric)["mean"])),
            ("95 % interval", lambda run: interval(_entry(run, metric))),
        ]
    return grid_of(f"{runs[0].pool_name}: runs of recordings", columns, runs)


def _entry(run: RunFolder, metric: str) -> dict[str, Any]:
    found = Estimate.of(run.summary()["metrics"].get(metric))
    return {"mean": found.mean, "low": found.low, "high": found.high}


def leaderboard_table(content: Mapping[str, Any]) -> Grid:
    """Return a row for each run."""
    rows = content["rows"]
    columns: list[tuple[str, str | Cell]] = [
        ("rank", _rank),
        ("run", "run"),
        (content["protocol"]["metric"], lambda row: number(row["mean"])),
        ("95 % interval", interval),
        ("group", _group),
        ("beats", lambda row: "" if row["beaten"] is None else str(row["beaten"])),
    ]
    for value in (content["protocol"]["by"] or {}).get("values", ()):
        columns.append((value, partial(_part, "by", value)))
    for k in dict.fromkeys(k for row in rows for k in row["passes"]):
        columns.append((f"pass^{k}", partial(_part, "passes", k)))
    for name in _TOKENS:
        if any(row[name] is not None for row in rows):
            columns.append((name.replace("_", " "), partial(_count, name)))
    if any(row[_SECONDS] is not None for row in rows):
        columns.append(("seconds", lambda row: known(row[_SECONDS])))
    if any(row["dollars"] for row in rows):
        columns.append(("dollars", lambda row: known(row["dollars"])))
    if any(row["mark"] for row in rows):
        columns.append(("not ranked", "mark"))
    return grid_of(content["title"], columns, rows, names=2)


def _rank(row: Mapping[str, Any]) -> str:
    if row["rank"] is None:
        return "-"
    return f"{row['rank']}\n[{row['rank_low']}, {row['rank_high']}]"


def _group(row: Mapping[str, Any]) -> str:
    if row["groups"] is None:
        return ""
    first, last = row["groups"]
    return str(first) if first == last else f"{first}-{last}"


def _part(field: str, name: str, row: Mapping[str, Any]) -> str:
    return known(row[field].get(name))


def _count(name: str, row: Mapping[str, Any]) -> str:
    return "" if row[name] is None else f"{row[name]:,.0f}"


def _notes(content: Mapping[str, Any]) -> Iterator[str]:
    protocol, pairs = content["protocol"], content["pairs"]
    yield (
        f"{pairs['differ']:,} of {counted(pairs['total'], 'pair')} of runs differ over "
        f"{counted(protocol['tasks'], 'task')} (randomisation test, p by Holm at most "
        f"{protocol['alpha']})"
    )
    yield "rank with its 95 % interval over tasks; no test tells runs of one group apart"
    if protocol["tasks"] < FEW:
        yield f"{counted(protocol['tasks'], 'task')} make rough intervals, of ranks above all"
    if not protocol["higher_is_better"]:
        yield f"lower is better: {protocol['metric']}"
    open_runs = [row["run"] for row in content["rows"] if row["bounds"]]
    if open_runs:
        told = listed(open_runs, _NAMED)
        yield f"undecided goals could move: {told}; their bounds are in the files"


def leaderboard_parts(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield table and lines for the terminal."""
    yield leaderboard_table(content)
    yield from content["notes"]


def leaderboard_page(
    content: Mapping[str, Any], address: Callable[[str], str] | None = None
) -> list[Part]:
    """Return what a page shows below its title.

    Args:
        content: Of leaderboard.json.
        address: Path of a run to the address of its page; None: the runs have none.
    """
    grid = leaderboard_table(content)._replace(title="")
    if address is not None:
        paths = [row["path"] for row in content["rows"]]
        rows = [
            (rank, link(name, address(path)), *figures)
            for path, (rank, name, *figures) in zip(paths, grid.rows, strict=True)
        ]
        grid = grid._replace(rows=rows)
    return [grid, *content["notes"]]


def _write(content: Mapping[str, Any], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    json_file, markdown_file, latex_file, page_file = (out / name for name in _FILES)
    write_json(dict(content), json_file)
    rows = frame_rows(content)
    LongForm(NAME, tuple(rows[0]), lambda _: iter(rows)).write(content, out)
    title, table, notes = content["title"], leaderboard_table(content), content["notes"]
    write_markdown(markdown_file, title, [table, *notes])
    write_latex(latex_file, [(table, "tab:leaderboard"), *((note, "") for note in notes)])
    write_page(page_file, NAME, title, leaderboard_page(content))


def frame_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows with one figure a column, for a frame or CSV; of a tag `TAG=VALUE`."""
    by = content["protocol"]["by"] or {}
    values = {value: f"{by['tag']}={value}" for value in by.get("values", ())}
    passes = dict.fromkeys(k for row in content["rows"] for k in row["passes"])
    plain = ("rank", "rank_low", "rank_high", "run", "model", "mean", "low", "high", "n")
    return [
        {
            **{name: row[name] for name in plain},
            "first_group": row["groups"] and row["groups"][0],
            "last_group": row["groups"] and row["groups"][1],
            "beaten": row["beaten"],
            "lowest": row["bounds"] and row["bounds"][0],
            "highest": row["bounds"] and row["bounds"][1],
            **{column: row["by"].get(value) for value, column in values.items()},
            **{f"pass^{k}": row["passes"].get(k) for k in passes},
            **{name: row[name] for name in (*_TOKENS, _SECONDS, "dollars", "mark", "path")},
        }
        for row in content["rows"]
    ]

"""A comparison of runs: its tables, charts and page, and where chats part."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from seal.core import DataError, Scale, Trajectory, UsageError
from seal.core.records import decode, without_cycle_search
from seal.core.text import counted, goal_name, one_line, printable
from seal.evaluation.calls import EXTRA
from seal.evaluation.goals import RATE, ranking
from seal.evaluation.scoring import USUAL_SCALES
from seal.evaluation.significance import ALPHA
from seal.experiments.comparison import named_runs, study
from seal.experiments.series import LongForm, check_results_folder, write_json
from seal.experiments.settings import CompareSettings
from seal.report.figures import Mark, Series, curves, whisker
from seal.report.grids import (
    DIFFERENCE,
    Cell,
    Columns,
    Estimate,
    Grid,
    chance,
    counts_of,
    figure,
    frequent,
    grid_of,
    grouped,
    interval,
    known,
    listed,
    number,
    signed,
    tallied,
    with_interval,
)
from seal.report.lanes import (
    Lane,
    RunFacts,
    all_metrics,
    decisive_of,
    headline_of,
    main_metrics,
    offered_of,
    said,
    scale_notes,
)
from seal.report.pages import (
    Bar,
    BarGroup,
    Fold,
    Part,
    forest,
    link,
    notice,
    paragraphs,
    task_link,
    write_page,
)
from seal.report.table_forms import write_latex, write_markdown
from seal.runs.journal import LineTail
from seal.runs.run import RunFolder, kept_scales, scales_of, varied_text
from seal.runs.scores import chat_told

# -- Runs compared, for a person: tables for the terminal, the files that say so, and win rates.

JSON = "comparison.json"
MARKDOWN = "comparison.md"
LATEX = "comparison.tex"
_FILES = (JSON, MARKDOWN, LATEX, "comparison.html", "comparison.csv")
_COLUMNS = (
    *("metric", "run", "other", "mean", "other_mean", "difference", "low", "high"),
    *("p", "p_holm", "n", "tasks", "detectable", "tasks_needed", "trials_needed"),
)
EVERY_DIFFERENCE = LongForm(
    "comparison",
    _COLUMNS,
    lambda content: ({name: one[name] for name in _COLUMNS} for one in content["comparisons"]),
)
"""The difference of every metric between every two runs."""
_REASONS = 4
"""Reasons for excluded pairs that are told."""
_TASKS = 10
"""Tasks of a kind, such as those that turned in one direction, that a line names."""
_ALL = ": --json lists all, and --out DIR"
_LONGEST = 120
"""Characters of a reason or id."""
SHOWN = 5
"""Goals without an outcome that are named."""


def compare(paths: Sequence[Path], settings: CompareSettings, out: Path | None) -> dict[str, Any]:
    """Return what runs differ in, and write it into a folder where one is given.

    The family over which p is corrected are the metrics of the report's short table.

    Args:
        paths: Run folders, the base first.
        settings: How they are compared.
        out: Folder for comparison.json, .csv, .md, .tex and .html; None: nothing is written.

    Raises:
        UsageError: Runs that cannot be compared, or a folder that holds something else.
        UnknownNameError: No run has the metric.
        DataError: A folder is no run, or is not scored, or a file of it is damaged.
    """
    if out is not None:
        # An ablation has a comparison.json too.
        check_results_folder(out, _FILES, "a comparison")
    runs = named_runs(paths)
    played = list(runs.values())
    with without_cycle_search():
        content = study(runs, settings, family_of(played), decisive_of(played))
    if names := [name for name, run in runs.items() if not run.trajectories_path.is_file()]:
        content["notes"].append(
            f"no trajectories.jsonl in {', '.join(names)}: the steps in which chats part are not "
            "told, and links to chats may lead nowhere"
        )
    content["notes"] += _open(content, runs)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_json(content, out / JSON)
        write_markdown(out / MARKDOWN, title_of(content), all_parts(content))
        write_latex(out / LATEX, latex_tables(content))
        EVERY_DIFFERENCE.write(content, out)
        _write_page(content, runs, out / PAGE)
    return content


def _open(content: Mapping[str, Any], runs: Mapping[str, RunFolder]) -> Iterator[str]:
    """Yield which metrics of the family are decided by goals that are undecided."""
    summaries = {name: run.summary().get("metrics", {}) for name, run in runs.items()}
    for pair in content["pairs"]:
        names = pair["run"], pair["other"]
        for metric in content["protocol"]["family"]:
            cells = [Estimate.of(summaries[name].get(metric)) for name in names]
            ends = [cell.bounds or (float(cell), float(cell)) for cell in cells]
            if any(cell.bounds for cell in cells) and max(ends)[0] <= min(end[1] for end in ends):
                told = (f"{number(low)} to {number(high)}" for low, high in ends)
                yield (
                    f"{metric}: undecided goals could make {' or '.join(names)} the better one; "
                    f"if all of them failed, or all were solved: {' and '.join(told)}"
                )


def family_of(runs: Sequence[RunFolder]) -> list[str]:
    """Return the metrics of the runs' short table, without those of a condition."""
    entries, scales = [run.summary().get("metrics", {}) for run in runs], scales_of(runs)
    main = main_metrics(entries, headline_of(runs), scales, offered_of(runs))
    return ranking(main, scales)


def scales_in(content: Mapping[str, Any]) -> Mapping[str, Scale]:
    """Return what the scores of comparison.json mean, by name; those of other names are rates."""
    kept = kept_scales(content)
    return USUAL_SCALES if kept is None else kept


def comparison_tables(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield tables and lines for the terminal: the metrics of the family alone.

    Args:
        content: Of comparison.json.
    """
    yield from filter(None, [varied_text(content.get("varied") or {})])
    for pair in content["pairs"]:
        yield difference_text(content, pair)
        yield from _parts(content, pair, told_entries(content, pair))
    yield from notes_of(content)


def all_parts(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield what was varied, notes, and tables of every metric that has a pair."""
    yield from filter(None, [varied_text(content.get("varied") or {})])
    yield from notes_of(content)
    for pair in content["pairs"]:
        yield difference_text(content, pair)
        yield from _parts(content, pair, entries_of(content, pair))


def latex_tables(content: Mapping[str, Any]) -> Iterator[tuple[Grid | str, str]]:
    """Yield tables, whose captions say what was varied, with their labels; lines without one."""
    varied = varied_text(content.get("varied") or {})
    for place, pair in enumerate(content["pairs"], 1):
        for at, part in enumerate(_parts(content, pair, told_entries(content, pair)), 1):
            if isinstance(part, Grid):
                title = "; ".join(filter(None, [part.title, varied]))
                yield part._replace(title=title), f"tab:comparison-{place}-{at}"
            else:
                yield part, ""
    yield from ((note, "") for note in notes_of(content))


def difference_text(content: Mapping[str, Any], pair: Mapping[str, Any]) -> str:
    """Return in one sentence what two runs differ in: their first metric, and the tasks turned."""
    named, told = f"{pair['run']} minus {pair['other']}", told_entries(content, pair)
    if not told:
        return f"{named}: no metric of both runs has a pair with values"
    entry, flips = told[0], pair["flips"]
    figures = f"{signed(entry['difference'])} {interval(entry)}".strip()
    by = f"{named} by {entry['metric']}, {counted(entry['n'], 'pair')}: {figures}"
    if entry["p"] is not None:
        verdict = "significant" if entry["p"] <= ALPHA else "not significant"
        by += f", p {chance(entry['p'])} ({verdict} at {ALPHA})"
    return by + (f"; {len(flips['won']):,} won, {len(flips['lost']):,} lost" if flips else "")


def title_of(content: Mapping[str, Any]) -> str:
    """Return what is compared in one line."""
    return " · ".join(run["run"] for run in content["runs"])


def entries_of(content: Mapping[str, Any], pair: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the differences of two runs that rest on a pair, those of the family first."""
    mine = {
        entry["metric"]: entry
        for entry in content["comparisons"]
        if (entry["run"], entry["other"]) == (pair["run"], pair["other"]) and entry["n"]
    }
    family = [name for name in content["protocol"]["family"] if name in mine]
    names = dict.fromkeys((*family, *all_metrics(mine, scales_in(content))))
    return [mine[name] for name in names]


def told_entries(content: Mapping[str, Any], pair: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of the family, all where it is empty; also of what gold does not have."""
    entries = entries_of(content, pair)
    family = content["protocol"]["family"]
    return [e for e in entries if not family or e["metric"] in family or tells_extra(e)]


def tells_extra(entry: Mapping[str, Any]) -> bool:
    """Tell whether a difference is of calls or effects besides the gold, and a run has some."""
    return entry["metric"] in EXTRA and bool(entry["mean"] or entry["other_mean"])


def notes_of(content: Mapping[str, Any]) -> list[str]:
    """Return what a reader should know of all the runs."""
    forced = ["compared all the same: " + text for text in content["differs"]]
    return [*forced, *content["notes"]]


def lines_of(content: Mapping[str, Any], pair: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the tables of two runs."""
    one, other = pair["run"], pair["other"]
    named = f"{one} against {other}: " if len(content["pairs"]) > 1 else ""
    yield named + matched_text(pair)
    for name, alone in ((one, pair["alone"]), (other, pair["other_alone"])):
        if alone["chats"]:
            yield (
                f"{name} alone: {counts_of(chat=alone['chats'], task=alone['tasks'])}, left out: "
                + listed([one_line(task, _LONGEST) for task in alone["named"]], _TASKS)
            )
    if pair["flips"] is not None:
        yield from _flip_lines(pair, named)
    if pair["win_rate"] is not None:
        yield from preference_lines(pair)
    yield from odds_lines(content, pair)
    yield from excluded_lines(content, pair)


def odds_lines(content: Mapping[str, Any], pair: Mapping[str, Any]) -> Iterator[str]:
    """Yield of which metrics the test finds a difference and the interval none, or the reverse."""
    names = [
        entry["metric"]
        for entry in told_entries(content, pair)
        if entry["p"] is not None and (entry["p"] <= ALPHA) == (entry["low"] <= 0 <= entry["high"])
    ]
    if names:
        yield (
            f"p and the interval disagree about 0: {', '.join(names)}; p is of the tasks that "
            "differ here, the interval of all tasks that could have been drawn"
        )


def matched_text(pair: Mapping[str, Any]) -> str:
    """Return what is compared of two runs, and how where they differ in trials."""
    matched = pair["matched"]
    told = f"matched: {counts_of(task=matched['tasks'], chat=matched['chats'])}"
    if pair["averaged"]:
        told += (
            f" of {pair['run']} and {matched['other_chats']} of {pair['other']}; their trials "
            "differ, so a pair is a task's goal, by its mean over trials"
        )
    return told


def excluded_lines(content: Mapping[str, Any], pair: Mapping[str, Any]) -> Iterator[str]:
    """Yield why metrics of the family, and those of one run alone, have pairs without values."""
    family = content["protocol"]["family"]
    found: dict[str, list[str]] = {}
    for entry in content["comparisons"]:
        mine = (entry["run"], entry["other"]) == (pair["run"], pair["other"])
        one_sided = any(not reason.startswith("both: ") for reason in entry["excluded"])
        told = entry["metric"] in family or (not entry["n"] and one_sided)
        if mine and entry["excluded"] and told:
            what = "pairs without values" if entry["n"] else "no pair with values"
            reasons = frequent(entry["excluded"], _REASONS, _LONGEST)
            found.setdefault(f"{what}: {reasons}", []).append(entry["metric"])
    for reasons, metrics in found.items():
        yield f"{', '.join(metrics)}: {reasons}"


def flip_notes(pair: Mapping[str, Any], named: str = "") -> Iterator[str]:
    """Yield how many tasks turned, and McNemar's test of it, where there is one."""
    flips, metric = pair["flips"], pair["success"]
    without = flips["undecided"]
    yield (
        f"{named}tasks by {metric}: {len(flips['won']):,} won, {len(flips['lost']):,} lost, "
        f"{flips['both']:,} solved by both, {flips['neither']:,} by neither"
        + (f", {flips['alike']:,} as often by both" if flips["alike"] else "")
        + (f"; {counts_of(chat=without)} without a verdict" if without else "")
    )
    if tested := flips.get("mcnemar"):
        p = (chance(tested[name]) for name in ("exact", "mid_p"))
        yield "  McNemar's test: exact p {}, mid-p {}".format(*p)


def _flip_lines(pair: Mapping[str, Any], named: str) -> Iterator[str]:
    yield from flip_notes(pair, named)
    for direction in ("won", "lost"):
        turned = [
            f"{one_line(flip['task'], _LONGEST)} ({flip_counts(flip, '->')})"
            for flip in pair["flips"][direction]
        ]
        if turned:
            yield f"  {direction}: {listed(turned, _TASKS)}{_ALL if len(turned) > _TASKS else ''}"


def flip_counts(flip: Mapping[str, Any], arrow: str) -> str:
    """Return how many trials of a task were solved before and now."""
    before = f" of {flip['other_trials']}" if flip["other_trials"] != flip["trials"] else ""
    return f"{flip['other_solved']}{before} {arrow} {flip['solved']} of {flip['trials']}"


def _parts(
    content: Mapping[str, Any], pair: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> Iterator[Grid | str]:
    """Yield the tables of two runs, and what stands below them."""
    if entries:
        yield from difference_grids(content, pair, entries)
    yield from scale_notes_of(content, entries)
    yield from further_grids(pair)
    yield from lines_of(content, pair)


def difference_grids(
    content: Mapping[str, Any],
    pair: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    counted: Callable[[Mapping[str, Any], str], str] = lambda entry, way: f"{len(entry[way]):,}",
) -> Iterator[Grid]:
    """Yield the differences of two runs, and what could have been found.

    Args:
        content: Of comparison.json.
        pair: Its part about these two.
        entries: The metrics that are told.
        counted: Gives the number of an entry's tasks that are `higher`, or `lower`, as a cell.
    """
    one, other = pair["run"], pair["other"]
    columns: Columns = [
        ("metric", "metric"),
        *mean_columns(one, other),
        *DIFFERENCE,
        ("higher", lambda entry: counted(entry, "higher")),
        ("lower", lambda entry: counted(entry, "lower")),
    ]
    yield grid_of(f"{one} minus {other}; tasks in which it is higher, lower", columns, entries)
    power = f"{100 * content['protocol']['power']:.0f} %"
    title = f"smallest difference found with power {power}; to find this one"
    scales = scales_in(content)
    scaled = [{**entry, "bounded": scales.get(entry["metric"], RATE).bounded} for entry in entries]
    yield grid_of(title, _POWER, scaled)


def mean_columns(one: str, other: str) -> Columns:
    """Return the columns of two means, the base first: the order in which runs are given.

    Args:
        one: Head of the column of the run.
        other: Head of the column of its base.
    """
    return (other, figure("other_mean")), (one, figure("mean"))


def scale_notes_of(
    content: Mapping[str, Any], entries: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield what the scores of a table's metrics mean, where they are no plain rates."""
    yield from scale_notes((entry["metric"] for entry in entries), scales_in(content))


def further_grids(pair: Mapping[str, Any]) -> Iterator[Grid]:
    """Yield what two runs did over several trials, and how often either served a goal better."""
    if pair["passes"]:
        head = (
            f"{pair['success']} over trials",
            lambda it: it["measure"].replace("k", str(it["k"])),
        )
        means = (pair["other"], _pass_cell("other_")), (pair["run"], _pass_cell(""))
        title = "pass^k: all of k trials solve a task; pass@k: one of them does"
        yield grid_of(title, [head, *means, *_PASS], pair["passes"])
    if pair["win_rate"] is not None:
        title = (
            f"goals that {pair['run']} served better than {pair['other']}: "
            "win rate is win + tie / 2"
        )
        yield grid_of(title, _PREFERENCE, [pair["win_rate"]])


def _needed(count: int | None) -> str:
    """Return the tasks, or the trials, that would find a difference; `-`: nothing is known to."""
    return "-" if count is None else f"{count:,}"


def _detectable(entry: Mapping[str, Any]) -> str:
    """Return the smallest difference that would be found; `none`: rates cannot differ so much."""
    value = entry["detectable"]
    return "none" if entry["bounded"] and (value or 0) > 1 else known(value)


_POWER: Columns = (
    ("metric", "metric"),
    ("difference", figure("difference", signed)),
    ("detectable", _detectable),
    ("tasks", "tasks"),
    ("tasks needed", figure("tasks_needed", _needed)),
    ("trials needed", figure("trials_needed", _needed)),
)
_PASS: Columns = (
    ("difference", figure("difference", signed)),
    ("95 % interval", interval),
    ("p", figure("p", chance)),
    ("tasks", "tasks"),
)


def _pass_cell(prefix: str) -> Cell:
    """Return what shows the mean of a run over trials, with its interval."""

    def of(entry: Mapping[str, Any]) -> str:
        low, high = entry[f"{prefix}interval"]
        return with_interval(entry[f"{prefix}mean"], {"low": low, "high": high})

    return of


def _judges(found: Mapping[str, Any]) -> str:
    judge = found["judge"]
    named = ", ".join(str(model.get("model")) for model in judge["models"])
    return named or str(judge["judge"]).partition("/")[0]


_PREFERENCE: Columns = (
    ("judge", _judges),
    *((head, figure(head.replace(" ", "_"))) for head in ("win", "lose", "tie", "win rate")),
    ("95 % interval", interval),
    ("goals", "n"),
    ("undecided", lambda found: str(len(found["undecided"]))),
    ("first named", lambda found: known(found["order"]["first"])),
    ("turned", lambda found: known(found["order"]["turned"])),
)
"""What a win rate says."""


def preference_lines(pair: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the table: what decided, what the order of the two did."""
    found = pair["win_rate"]
    yield f"win rate: {counts_of(goal=found['goals'])}, decided by {tallied(found['by'])}"
    order = found["order"]
    if order["answers"]:
        yield (
            f"order bias: the one shown first is named in {order['first']:.3f} of "
            f"{counted(order['answers'], 'answer')} that name one (0.5: no bias); "
            f"{order['turned']:.3f} of "
            f"{counted(order['votes'], 'vote')} turn with the order"
        )
    if found["unusable"]:
        yield f"{counts_of(vote=found['unusable'])} without a usable answer in both orders"
    for goal in found["undecided"][:SHOWN]:
        place = one_line(goal["task"], _LONGEST)
        yield f"no outcome: {place}: {goal['by']}: {one_line(goal['reason'], _LONGEST)}"
    if len(found["undecided"]) > SHOWN:
        yield f"and {counted(len(found['undecided']) - SHOWN, 'more goal')} without an outcome"


# -- A comparison of runs as HTML: numbers lead to their tasks, and tasks to their steps.

PAGE = "comparison.html"
FLIPS = 200
"""Tasks or goals of a kind, such as those that turned in one direction, that a page lists."""
TASKS = 50
"""Tasks of one metric and direction that a page lists."""

_UNFOLDED = 20
"""Tasks of a list that is not folded, at most."""
_DIFFERENCES = (
    "mean differences over pairs with 95 % intervals over tasks; p of a randomisation test, alone "
    "and corrected by Holm"
)

Shown = Callable[[Any], Markup]
"""Gives an item of a list."""
Link = Callable[[str, str, int | None, int | None], str | None]
"""Name of a run, task, trial, step to an address; None: that run has no report."""

_KINDS = {
    "won": "that {run} served better",
    "lost": "that {other} served better",
    "undecided": "without an outcome",
}


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return each run minus the first, for a report of several.

    None where the runs have no task in common.
    """
    places = {lane.label: place for place, lane in enumerate(lanes) if lane.kind == "run"}
    runs = {label: lanes[place].run for label, place in places.items()}
    played = list(runs.values())

    def address(name: str, task: str, trial: int | None, step: int | None) -> str:
        return task_link(task, places[name], trial, step)

    try:
        content = study(runs, CompareSettings(), family_of(played), decisive_of(played))
    except UsageError:  # no task in common: nothing stands beside each other
        return None
    return _body(content, runs, address)


def _write_page(content: Mapping[str, Any], runs: Mapping[str, RunFolder], path: Path) -> None:
    """Write the page; it links to the reports that lie in the run folders, relative to it.

    Args:
        content: Of comparison.json.
        runs: Name to run, as in the content.
        path: The file.

    Raises:
        DataError: A trajectory cannot be read.
    """
    reports = {name: _report(run, path.parent) for name, run in runs.items()}
    # A run's own report shows it after its floor.
    lanes = {name: int("floor" in run.baselines()) for name, run in runs.items()}

    def address(name: str, task: str, trial: int | None, step: int | None) -> str | None:
        report = reports[name]
        return None if report is None else report + task_link(task, lanes[name], trial, step)

    rows = []
    for run in content["runs"]:
        href = reports[run["run"]]
        report = "no report: 'seal report' writes it" if href is None else link("report", href)
        counts = (f"{run['tasks']:,}", f"{run['chats']:,}")
        rows.append((run["run"], str(run["model"]), *counts, report))
    protocol = content["protocol"]
    told = (
        f"{protocol['resamples']:,} resamples of each test, seed {protocol['seed']}; p corrected "
        f"by Holm over {counted(len(protocol['family']), 'metric')} and all pairs of runs"
    )
    played = Grid("runs", ("run", "model", "tasks", "chats", "report"), rows, names=2)
    varied = filter(None, [varied_text(content["varied"])])
    parts: list[Part] = [*varied, *map(notice, notes_of(content)), played]
    parts += [_body(content, runs, address), told]
    write_page(path, "comparison", title_of(content), parts)


def _report(run: RunFolder, start: Path) -> str | None:
    """Return the address of a run's report as seen from a folder; None where it has none."""
    if not run.report_path.is_file():
        return None
    path = Path(os.path.relpath(run.report_path.resolve(), start.resolve()))
    return quote(os.fsencode(path.as_posix()))  # a name may be bytes that are no text


def _body(content: Mapping[str, Any], runs: Mapping[str, RunFolder], link: Link) -> Markup:
    pairs = enumerate(content["pairs"], 1)
    shown = (_Pair(f"pair-{at}", content, pair, link).parts(runs) for at, pair in pairs)
    return paragraphs(chain.from_iterable(shown), wrapping=True)


Steps = tuple[int | None, int | None]
"""Of the chats of the other run, and of the one."""


class _Pair:
    """Two runs on a page.

    Args:
        anchor: Begins the ids of its lists.
        content: Of comparison.json.
        pair: Its part about these two.
        link: Where a chat is shown.
    """

    def __init__(
        self, anchor: str, content: Mapping[str, Any], pair: Mapping[str, Any], link: Link
    ) -> None:
        self._anchor, self._content, self._pair, self._link = anchor, content, pair, link

    def parts(self, runs: Mapping[str, RunFolder]) -> Iterator[Part]:
        """Yield what the page shows of them."""
        pair, content = self._pair, self._content
        entries, told = entries_of(content, pair), told_entries(content, pair)
        others = [entry for entry in entries if entry not in told]
        ways = {
            (entry["metric"], way): self._differing(f"{place}-{way}", entry, way)
            for place, entry in enumerate(entries, 1)
            for way in ("higher", "lower")
        }

        def counted(entry: Mapping[str, Any], way: str) -> str:
            return ways[entry["metric"], way].counted

        def tables(entries: Sequence[Mapping[str, Any]]) -> tuple[Grid, Grid, Markup]:
            differences, power = difference_grids(content, pair, entries, counted)
            return differences, power, paragraphs(scale_notes_of(content, entries))

        heading = Markup('<h3 dir="auto">{} minus {}</h3>')
        yield heading.format(printable(pair["run"]), printable(pair["other"]))
        answer = Markup('<p class="answer" dir="auto"><strong>{}</strong></p>')
        yield answer.format(printable(difference_text(content, pair)))
        yield matched_text(pair)
        yield from self._alone()
        yield _forest(pair, told, scales_in(content))
        if pair["flips"] is not None:
            yield from flip_notes(pair)
            yield "a task links to the first step in which the chats part"
            yield from self._flips(runs)
        yield from further_grids(pair)
        if pair["win_rate"] is not None:
            yield from preference_lines(pair)
            yield from self._goals()
        rest: list[Part] = []
        if told:
            differences, power, scaled = tables(told)
            yield from (_DIFFERENCES, differences, scaled)
            rest.append(power)
        yield from odds_lines(content, pair)
        if others:
            title = f"{len(others)} further metrics, over which p is not corrected"
            rest.append(Fold(title, above=paragraphs(tables(others), wrapping=True)))
        rest += [way for way in ways.values() if way.total]
        rest += excluded_lines(content, pair)
        title = "Power, further metrics, and the tasks in which each is higher or lower"
        yield Fold(title, above=paragraphs(rest, wrapping=True))

    def _differing(self, anchor: str, entry: Mapping[str, Any], way: str) -> Fold:
        title = f"{entry['metric']} {way} in {counted(len(entry[way]), 'task')}"
        return self._list(anchor, title, entry[way], self._task, TASKS)

    def _list(
        self, anchor: str, title: str, found: Sequence[Any], shown: Shown, most: int = FLIPS
    ) -> Fold:
        items = list(map(shown, found[:most]))
        return Fold(title, items, len(found), JSON, f"{self._anchor}-{anchor}")

    def _task(self, task: str, sides: Sequence[str] = ("other", "run")) -> Markup:
        return _item(task, *self._links(task, sides=sides))

    def _alone(self) -> Iterator[Fold]:
        """Yield the tasks that one of the runs has alone."""
        for side, way in (("run", "alone"), ("other", "other_alone")):
            alone = self._pair[way]
            counts = f"{counted(alone['chats'], 'chat')} ({counted(alone['tasks'], 'task')})"
            title = f"{self._pair[side]} alone has {counts}, not compared"
            if alone["named"]:
                yield self._list(way, title, alone["named"], partial(self._task, sides=(side,)))

    def _flips(self, runs: Mapping[str, RunFolder]) -> Iterator[Fold]:
        """Yield the tasks that were won, and those that were lost; few are unfolded."""
        turned = {way: self._pair["flips"][way] for way in ("won", "lost")}
        shown = [flip for flips in turned.values() for flip in flips[:FLIPS]]
        chats = {(flip["task"], flip["flipped"][0]) for flip in shown if flip["flipped"]}
        parted = partings(runs[self._pair["run"]], runs[self._pair["other"]], chats)
        for way, flips in turned.items():
            title = f"{len(flips):,} {way} by {self._pair['run']}"
            found = self._list(way, title, flips, partial(self._flip, parted))
            yield found._replace(unfolded=0 < len(flips) <= _UNFOLDED)

    def _flip(self, parted: Mapping[Chat, Parting | None], flip: Mapping[str, Any]) -> Markup:
        task, counts = flip["task"], flip_counts(flip, "→")
        if not flip["flipped"]:  # no trial of both turned
            return _item(task, counts, *self._links(task))
        trial = flip["flipped"][0]
        found = parted.get((task, trial))
        if found is None:
            same = (task, trial) in parted
            note = "the same chat, judged otherwise" if same else "no trajectories"
            return _item(task, counts, *self._links(task, trial), note)
        note = "offered other tools" if found.offered else ""
        note += ", the same chat" if (found.step, found.other_step) == (None, None) else ""
        steps = (found.other_step, found.step)
        return _item(task, counts, *self._links(task, trial, steps), note)

    def _goals(self) -> Iterator[Fold]:
        """Yield the goals won, lost and undecided, as far as there are any."""
        for kind, title in _KINDS.items():
            goals = self._pair["win_rate"][kind]
            if goals:
                named = f"{counted(len(goals), 'goal')} {title.format(**self._pair)}"
                yield self._list(f"goals-{kind}", named, goals, self._goal)

    def _goal(self, goal: Mapping[str, Any]) -> Markup:
        note = f"{goal['by']}: {goal['reason']}" if goal["reason"] else goal["by"]
        counts = f"trial {goal['trial']}, {goal_name(goal['goal'])}"
        return _item(goal["task"], counts, *self._links(goal["task"], goal["trial"]), note)

    def _links(
        self,
        task: str,
        trial: int | None = None,
        steps: Steps = (None, None),
        sides: Sequence[str] = ("other", "run"),
    ) -> Iterator[Markup]:
        """Yield links to the chats of a task, of both runs or of one."""
        for side, step in zip(sides, steps, strict=False):
            name = self._pair[side]
            href = self._link(name, task, trial, step)
            if href is not None:
                yield link(name if step is None else f"{name}, step {step}", href)


def _item(task: str, *parts: str) -> Markup:
    """Return a task in a list with its links; of other parts plain texts stand small."""
    small = Markup("<small>{}</small>")
    told = (it if isinstance(it, Markup) else small.format(printable(it)) for it in parts if it)
    return Markup(" ").join((Markup('<span dir="auto">{}</span>').format(printable(task)), *told))


def _forest(
    pair: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], scales: Mapping[str, Scale]
) -> Markup:
    """Draw the differences of the metrics in [0, 1]; nothing where there is none."""
    drawn = [entry for entry in entries if scales.get(entry["metric"], RATE).bounded]
    ends = (entry[end] for entry in drawn for end in ("low", "high", "difference"))
    most = max((abs(end) for end in ends if end is not None), default=0.0)
    if not most:
        return Markup()
    wide = next(end for end in (0.1, 0.2, 0.5, 1.0) if most <= end or end == 1.0)
    title = f"{pair['run']} minus {pair['other']}, with 95 % interval; 0 is no difference"
    return forest(title, difference_groups(drawn), (-wide, wide), "difference")


def difference_groups(entries: Iterable[Mapping[str, Any]]) -> list[BarGroup]:
    """Return the differences of each metric, a bar for each two runs."""
    named = ((f"{entry['run']} minus {entry['other']}", entry) for entry in entries)
    bars = grouped(
        (it["metric"], Bar(label, "run-0", it["difference"], it["low"], it["high"]))
        for label, it in named
    )
    return [BarGroup(metric, tuple(found)) for metric, found in bars.items()]


# -- What runs cost beside their scores.


def labels_of(runs: Sequence[RunFacts]) -> list[str]:
    """Return the models of runs, with the run's name where several have one model."""
    counts = Counter(run.model for run in runs)
    return [run.model if counts[run.model] == 1 else f"{run.model} ({run.name})" for run in runs]


def cost_chart(runs: Iterable[RunFacts]) -> Markup | None:
    """Draw what runs cost against their first metric; None where fewer than two can be drawn.

    The cost is in dollars where every run has a price, else in tokens.
    """
    shown = [run for run in runs if run.headline.mean is not None and run.tokens]
    alike = len({run.metric for run in shown}) == 1
    if len(shown) < 2 or not alike or not all(run.scale.bounded for run in shown):
        return None
    priced = all(run.dollars for run in shown)
    costs = [(run.dollars or 0.0) if priced else run.tokens for run in shown]
    means = [(run.headline.mean or 0.0, run.headline.low, run.headline.high) for run in shown]
    marks = [Mark(cost, it[0], whisker(*it)) for cost, it in zip(costs, means, strict=True)]
    drawn = [Series(label, 0, [mark]) for label, mark in zip(labels_of(shown), marks, strict=True)]
    what = "cost in dollars" if priced else "tokens"
    return curves(f"Cost against score, {shown[0].metric}", drawn, (what, shown[0].metric))


# -- Where the chats of two runs of one task part.

Chat = tuple[str, int]
"""Task id and trial."""


class Parting(NamedTuple):
    """Where two chats of one task part: the first step in which they are not the same."""

    step: int | None
    """Index of the step in the one chat; None: it ended before."""
    other_step: int | None
    """Likewise of the other chat."""
    offered: bool
    """They were offered other tools."""


def partings(
    one: RunFolder, other: RunFolder, chats: Collection[Chat]
) -> dict[Chat, Parting | None]:
    """Return where chats part; None: they say and do the same, and were judged otherwise.

    Two steps are the same by author, recipient, content, call and result; neither state nor usage
    counts. Chats that a run does not hold are left out.

    Raises:
        DataError: A trajectory cannot be read; names the file and the line.
    """
    theirs = dict(_read(other, chats))
    return {
        chat: _parting(played, theirs[chat]) for chat, played in _read(one, chats) if chat in theirs
    }


def _read(run: RunFolder, wanted: Collection[Chat]) -> Iterator[tuple[Chat, Trajectory]]:
    """Yield the wanted chats; to check all of them would take longer than to compare."""
    tail = LineTail(run.trajectories_path)
    for line in tail.read() if wanted else ():
        try:
            chat, _ = chat_told(line)
            if chat in wanted:
                yield chat, decode(line, Trajectory, beside=run.path)
        except (ValueError, KeyError, TypeError, DataError) as error:
            raise tail.fault(f"no trajectory: {error!r:.100}") from error


def _parting(one: Trajectory, other: Trajectory) -> Parting | None:
    offered = one.offered != other.offered
    for mine, theirs in zip_longest(one.steps, other.steps):
        if mine is None or theirs is None or said(mine) != said(theirs):
            ends = [None if step is None else step.index for step in (mine, theirs)]
            return Parting(ends[0], ends[1], offered)
    return Parting(None, None, offered) if offered else None

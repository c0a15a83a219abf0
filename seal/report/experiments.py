"""Ablations, sweeps, plans and explanations: tables, charts, and the files they leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from seal.core import MissingExtraError
from seal.core.files import within
from seal.core.text import counted, one_line
from seal.core.values import json_text
from seal.evaluation.attribution import MEANINGS
from seal.evaluation.goals import ranking
from seal.experiments.ablation import ABSTENTION, VARIANTS
from seal.experiments.explanation import EXAMPLES, OUTCOMES
from seal.experiments.explanation import LONG as GOALS
from seal.experiments.explanation import TOOLS as TOOLS_LOST
from seal.experiments.series import check_results_folder, write_json
from seal.experiments.settings import RECALL_AT
from seal.pools.benchmark import Benchmark
from seal.report.chat_list import explained
from seal.report.comparison import mean_columns, scales_in
from seal.report.explanation import (
    LONGEST,
    WATERFALL,
    example_lines,
    lost_notes,
    lost_tools,
    notes,
    waterfall,
    waterfall_bars,
)
from seal.report.figures import (
    DEVIATIONS,
    FOLDER,
    Axis,
    Mark,
    Panel,
    Series,
    interval_figure,
    save,
    series_figure,
    sizes_axis,
    whisker,
)
from seal.report.grids import (
    DIFFERENCE,
    UNTESTED,
    Cell,
    Columns,
    Grid,
    counts_of,
    fields,
    figure,
    frequent,
    grid_of,
    grouped,
    interval,
    number,
    signed,
    spread,
    with_interval,
)
from seal.report.lanes import Lane, caption_name, scale_notes
from seal.report.pages import paragraphs, place_text
from seal.report.retrieval import query_count, retrieval_figures
from seal.report.run_pages import write_report
from seal.report.sections import Section, default_sections
from seal.report.table_forms import write_latex
from seal.runs.run import RunFolder, check_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# -- An ablation for a person: tables for terminal and report, and a figure.
#
# errors_over_similarity   a panel an error rate, a mark an environment, a colour a variant of
# J_avg;
#                          whiskers: 95 % intervals over tasks
#
# Source of the figure: Kokane et al., ToolScan (2024), the ablation on API complexity.

_REASONS_FOR_EXCLUSION = 4
"""Reasons for excluded pairs that are told."""
_LONGEST = 160
"""Characters of one."""
_ABLATION_PANELS_IN_ROW = 3
_ABLATION_PANEL = (2.4, 1.8)
"""Width and height of its axes, in inches."""

AblationEntries = Iterable[Mapping[str, Any]]


class AblationSection:
    """The report's part about what an ablation varied, and what that changed.

    Args:
        content: Of comparison.json.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.title = f"Ablation of {content['protocol']['ablation']}"
        self._content = content

    def render(self, lanes: Sequence[Lane]) -> Markup:
        """Return the tables that the terminal shows, and the lines below them."""
        return paragraphs((*ablation_tables(self._content), *self._content["notes"]), auto=True)


def ablation_tables(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield the tables of the told metrics, and the lines below them.

    Args:
        content: Of comparison.json.
    """
    told = content["protocol"]["told"]
    yield from ablation_grids(content, told)
    shown = {entry["metric"] for entry in content["comparisons"] if entry["n"]}
    shown.update(*(point["rates"] for point in content.get("points") or ()))
    yield from scale_notes((name for name in told if name in shown), scales_in(content))
    yield from ablation_lines(content)


def ablation_grids(content: Mapping[str, Any], metrics: Sequence[str]) -> Iterator[Grid]:
    """Yield the tables of an ablation.

    Args:
        content: Of comparison.json.
        metrics: Those that are told.
    """
    if "roles" in content:
        yield _roles_grid(content["roles"])
    if "costs" in content:
        yield _costs_grid(content, metrics)
        return  # comparison.json has the pairs
    yield from _pair_grids(content, metrics)
    if "kinds" in content:
        yield _kinds_grid(content["kinds"])
    if content.get("points"):
        yield _points_grid(content["points"])


def _costs_grid(content: Mapping[str, Any], metrics: Sequence[str]) -> Grid:
    def cost(stage: str) -> Cell:
        return lambda entry: _cost(entry["stages"].get(stage))

    stages = [name for name in content["protocol"]["conditions"] if name != "plain"]
    columns: Columns = [
        ("metric", "metric"),
        ("plain", figure("plain")),
        *((stage, cost(stage)) for stage in stages),
    ]
    told = [each for each in content["costs"] if each["metric"] in metrics]
    return grid_of("what each stage costs: points that gold in its place adds", columns, told)


def _cost(found: Mapping[str, Any] | None) -> str:
    return "" if found is None else f"{signed(found['cost'])} {interval(found)}".rstrip()


def _roles_grid(roles: Mapping[str, Sequence[Mapping[str, Any]]]) -> Grid:
    counts = ("replies", "goals", "tokens_in", "tokens_out", *OUTCOMES)
    rows = [{"run": name, **row} for name, found in roles.items() for row in found]
    title = "who spoke, and the errors that each caught and caused"
    columns = [*fields("run", "role"), *fields(*counts, shown="{:,}".format)]
    return grid_of(title, columns, rows)


def _pair_grids(content: Mapping[str, Any], metrics: Sequence[str]) -> Iterator[Grid]:
    """Yield a table for each two conditions; of the told metrics in their order.

    Metrics with a condition (`Scale`) stand in a table of their own, without a test.
    """
    scales = scales_in(content)
    pairs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in content["comparisons"]:
        if entry["n"]:
            mine = pairs.setdefault((entry["run"], entry["other"]), [])
            if entry["metric"] in metrics:
                mine.append(entry)
    for (one, other), mine in pairs.items():
        mine.sort(key=lambda entry: metrics.index(entry["metric"]))
        means = mean_columns(one, other)
        ranked = ranking((entry["metric"] for entry in mine), scales)
        tested = [entry for entry in mine if entry["metric"] in ranked]
        others = [entry for entry in mine if entry["metric"] not in ranked]
        title = f"{one} minus {other}"
        if tested or not others:
            yield grid_of(title, [("metric", "metric"), *means, *DIFFERENCE], tested)
        if others:
            title += ": of a part of the goals, not tested"
            yield grid_of(title, [("metric", "metric"), *means, *UNTESTED], others)


def _kinds_grid(kinds: AblationEntries) -> Grid:
    def share(name: str) -> Cell:
        return lambda found: with_interval(found["metrics"][name]["mean"], found["metrics"][name])

    shares = [(name, share(name)) for name in ABSTENTION]
    columns: Columns = [("kind", "kind"), ("tasks", "tasks"), *shares]
    return grid_of("irrelevant tasks by kind", columns, kinds)


def _with_count(found: Mapping[str, Any]) -> str:
    """Return a rate with how many goals it is of, for not all have each pattern."""
    return number(found["rate"]) + (f"\nn={found['n']}" if found.get("n") else "")


def _points_grid(points: Sequence[Mapping[str, Any]]) -> Grid:
    def rate(name: str) -> Cell:
        return lambda point: _with_count(point["rates"][name])

    columns: Columns = [
        *fields("environment", "tools", "goals"),
        *fields(*VARIANTS, shown=number),
        *((name, rate(name)) for name in points[0]["rates"]),
    ]
    return grid_of("J_avg and error rates by environment", columns, points)


def ablation_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the tables: tasks and errors, and why pairs were left out."""
    for row in content["runs"]:
        yield (
            f"{row['condition']}: {counts_of(task=row['tasks'], error=row['errors'])}"
            + (f", {row['skipped']:,} skipped" if row["skipped"] else "")
        )
        for reason, count in list(row["error_reasons"].items())[:_REASONS_FOR_EXCLUSION]:
            yield f"  {count:,}: {one_line(reason, _LONGEST)}"
    yield from _excluded_lines(content)


def _excluded_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield for the told metrics why pairs have no value, and of which two conditions they are."""
    told = content["protocol"]["told"]
    entries = [(f"{it['run']} minus {it['other']}", it) for it in content["comparisons"]]
    metrics = grouped(
        ((compared, frequent(entry["excluded"], _REASONS_FOR_EXCLUSION, _LONGEST)), entry["metric"])
        for compared, entry in entries
        if entry["metric"] in told and entry["excluded"]
    )
    pairs = grouped(
        (f"{', '.join(named)}: pairs without values: {reasons}", compared)
        for (compared, reasons), named in metrics.items()
    )
    every = {compared for compared, _ in entries}
    for text, named in pairs.items():
        whole = len(every) > 1 and every == {*named}
        yield f"{'every comparison' if whole else ', '.join(named)}: {text}"


def similarity_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figure of an ablation of similarity by its name; empty for other ablations.

    Args:
        content: Of comparison.json.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not content.get("points"):
        return {}
    points = content["points"]
    sentences = ("A mark is an environment. Whiskers: 95 % intervals over tasks.",)
    shown = [_panel(name, points) for name in points[0]["rates"]]
    figure = series_figure(shown, _ABLATION_PANEL, _ABLATION_PANELS_IN_ROW, sentences)
    return {"errors_over_similarity": figure}


def _panel(name: str, points: Sequence[Mapping[str, Any]]) -> Panel:
    most = min(1.0, 1.2 * max(point[v] or 0.1 for point in points for v in VARIANTS))
    rates = (point["rates"][name] for point in points)
    highest = max((it["high"] or it["rate"] or 0.0 for it in rates), default=0.0)
    # An axis of nothing but noise would look like an effect.
    down = Axis("error rate", 0.0, None if highest > 0.09 else 0.1)
    across = Axis("J_avg of the names", 0.0, most)
    return Panel(name, [_marks(v, points, name) for v in VARIANTS], across, down)


def _marks(variant: str, points: AblationEntries, name: str) -> Series:
    found = ((point[variant], point["rates"][name]) for point in points)
    marks = [
        Mark(x, it["rate"], whisker(it["rate"], it["low"], it["high"]))
        for x, it in found
        if x is not None and it["rate"] is not None
    ]
    return Series(f"J_avg {variant}", VARIANTS.index(variant), marks, joined=False)


# -- A sweep for a person: the SEAL paper's Table 3, what each K was worth, and figures.
#
# metrics_over_pool_size   a panel a K, a line a metric (the SEAL paper's Figure 4)
# pass_rate_over_recall    recall@K against pass rate, call recall and tokens; a line a pool size
#
# Whiskers: deviation over samples.

CALL_RECALL = "call_recall_at_n"
PASS_RATE = "pass_rate"
METRICS = (f"recall@{RECALL_AT}", CALL_RECALL, "param_acc_gold", PASS_RATE)
"""Columns of Table 3, after the pool's size and the number of queries."""
_HEADINGS = {
    "pool size": "pool\nsize",
    CALL_RECALL: "call_recall\n_at_n",
    "param_acc_gold": "param_acc\n_gold",
    "tokens a goal": "tokens\na goal",
}
"""Names that would make their column wider than its figures."""
_REASONS = 3
"""Reasons for a metric without values that are told."""
_AGAINST = (PASS_RATE, CALL_RECALL, "tokens")
_PANELS_IN_ROW = 4
_PANEL = (3.0, 2.4)
"""Width and height of its axes, in inches."""
_ALONE = (4.4, 2.6)
"""Those of a figure's only panel."""

Entries = Sequence[Mapping[str, Any]]
"""`results` of sweep.json."""


def sweep_tables(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield tables and lines for a person.

    Args:
        content: Of sweep.json.
    """
    entries, origin = content["results"], content["origin"]
    several = len(content["protocol"]["top_k"]) > 1
    yield f"pools drawn from {origin['benchmark']}, {counted(origin['tools'], 'tool')}"
    if entries:
        yield _table_3(entries, several)
        if several:
            yield _by_k(entries)
            yield (
                f"recall@{RECALL_AT}: of the first {RECALL_AT} ranked tools, at every K; recall@K: "
                "of the K that the chat was offered; in brackets 95 % over tasks"
            )
        yield "mean ± deviation over samples (n - 1), NA of one sample"
    yield from _lacking(entries)


def _table_3(entries: Entries, several: bool) -> Grid:
    return _grid(
        entries,
        ("pool size", "size"),
        *((("K", "top_k"),) if several else ()),
        ("queries", lambda entry: query_count(entry, " ± ")),
        *(_metric(metric, spread) for metric in METRICS),
    )


def _by_k(entries: Entries) -> Grid:
    return _grid(
        entries,
        ("pool size", "size"),
        ("K", "top_k"),
        ("recall@K", lambda entry: _with_ends(_figure_of(entry, f"recall@{entry['top_k']}"))),
        *(_metric(metric, _with_ends) for metric in ("call_recall", PASS_RATE)),
        ("tokens a goal", lambda entry: _whole(_figure_of(entry, "tokens")["mean"])),
    )


def _metric(metric: str, shown: Callable[[Mapping[str, Any]], str]) -> tuple[str, Cell]:
    return metric, lambda entry: shown(_figure_of(entry, metric))


def _whole(value: float | None) -> str:
    return "n/a" if value is None else f"{value:,.0f}"


def _with_ends(found: Mapping[str, Any]) -> str:
    """Return a mean with its interval over tasks below it."""
    ends = f"\n{interval(found)}" if found.get("low") is not None else ""
    return f"{number(found['mean'])}{ends}"


def _grid(entries: Entries, *columns: tuple[str, str | Cell]) -> Grid:
    told = [(_HEADINGS.get(head, head), cell) for head, cell in columns]
    return grid_of("", told, entries, names=0)


def _figure_of(entry: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    """Return {mean, deviation} of a metric; both are None if no run has it.

    `tokens` is the sum of the tokens in and out of a goal; it has no deviation.
    """
    if metric == "tokens":
        means = [_figure_of(entry, name)["mean"] for name in ("tokens_in", "tokens_out")]
        counted = [mean for mean in means if mean is not None]
        return {"mean": sum(counted) if counted else None, "deviation": None}
    found: Mapping[str, Any] = entry["metrics"].get(metric, {"mean": None, "deviation": None})
    return found


def _lacking(entries: Entries, metrics: Sequence[str] = METRICS) -> Iterator[str]:
    """Yield a line for each metric that some size has no value of, with the reasons."""
    for metric in metrics:
        reasons: Counter[str] = Counter()
        for entry in entries:
            found = _figure_of(entry, metric)
            if found["mean"] is None:
                reasons.update(found.get("reasons", {}))
        if reasons:
            told = "; ".join(
                f"{reason} ({count:,})" for reason, count in reasons.most_common(_REASONS)
            )
            yield f"{metric} n/a: {told}"


def sweep_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of what the results hold, by name.

    Pool sizes are drawn where there are several, K where there are several.

    Args:
        content: Of sweep.json.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    entries = content["results"]
    figures: dict[str, Figure] = {}
    if len({entry["size"] for entry in entries}) > 1:
        figures["metrics_over_pool_size"] = _over_sizes(entries)
    if len({entry["top_k"] for entry in entries}) > 1:
        figures["pass_rate_over_recall"] = _over_recall(entries)
    return figures


def _over_sizes(entries: Entries) -> Figure:
    sizes = sorted({entry["size"] for entry in entries})

    def line(number: int, metric: str, mine: Entries) -> Series:
        measured = any(_figure_of(entry, metric)["mean"] is not None for entry in entries)
        found = [(entry["size"], _figure_of(entry, metric)) for entry in mine]
        marks = [_mark(x, y) for x, y in found if y["mean"] is not None]
        return Series(metric if measured else f"{metric}: n/a", number, marks)

    across, down = sizes_axis(sizes), Axis("mean over samples", 0.0, 1.05)
    shown = []
    for k in sorted({entry["top_k"] for entry in entries}):
        mine = sorted((e for e in entries if e["top_k"] == k), key=lambda entry: int(entry["size"]))
        lines = [line(number, metric, mine) for number, metric in enumerate(METRICS)]
        shown.append(Panel(f"K = {k}", lines, across, down))
    return _figure(shown, _lacking(entries))


def _over_recall(entries: Entries) -> Figure:
    counted = any(_figure_of(entry, "tokens")["mean"] is not None for entry in entries)

    def line(number: int, size: int, what: str) -> Series:
        mine = sorted((e for e in entries if e["size"] == size), key=lambda e: int(e["top_k"]))
        found = [
            (_figure_of(e, f"recall@{e['top_k']}"), _figure_of(e, what), str(e["top_k"]))
            for e in mine
        ]
        marks = [
            _mark(x["mean"], y, x["deviation"] or 0.0, k)
            for x, y, k in found
            if x["mean"] is not None and y["mean"] is not None
        ]
        return Series(f"{size:,} tools", number, marks)

    def panel(what: str) -> Panel:
        sizes = sorted({entry["size"] for entry in entries})
        lines = [line(number, size, what) for number, size in enumerate(sizes)]
        across = Axis("recall@K; at each point its K", 0.0, 1.05)
        if what == "tokens":
            return Panel("tokens of a goal", lines, across, Axis("", 0.0))
        return Panel(what, lines, across, Axis("", 0.0, 1.05))

    shown = [panel(what) for what in _AGAINST if counted or what != "tokens"]
    uncounted = "" if counted else "No panel of tokens: no model counted any."
    return _figure(shown, (uncounted, *_lacking(entries, (PASS_RATE, CALL_RECALL))))


def _mark(x: float, y: Mapping[str, Any], spread: float = 0.0, text: str = "") -> Mark:
    return Mark(x, y["mean"], (y["deviation"] or 0.0,) * 2, (spread, spread), text)


def _figure(shown: Sequence[Panel], lacking: Iterable[str]) -> Figure:
    size = _PANEL if len(shown) > 1 else _ALONE
    return series_figure(shown, size, _PANELS_IN_ROW, (DEVIATIONS, *lacking))


# -- What a run would cost, for a person.

_ORIGINS = {
    "flag": "from the command line",
    "call": "from the call",
    "environment": "from the environment",
    "file": "from seal.toml",
    "benchmark": "from the benchmark, where nothing else says otherwise",
    "default": "by default",
}


def plan_tables(plan: Mapping[str, Any]) -> Iterator[Any]:
    """Yield a table and lines.

    Args:
        plan: As of `seal.runs.cost_plan.plan`.
    """
    yield plan_grid(plan)
    alone = plan["chats"] <= plan["tasks"] * plan["trials"]
    yield (
        f"{counts_of(chat=plan['chats'])} ({counts_of(task=plan['tasks'], trial=plan['trials'])}"
        f"{'' if alone else ', baselines with them'}), "
        f"estimated from {counted(plan['rehearsed'], 'task')} that were rehearsed"
        + (f"; {plan['failed']:,} could not be" if plan["failed"] else "")
    )
    for model in plan["unpriced"]:
        yield f"no price of {model}: give it by --prices FILE"
    for table in plan["prices"]:
        yield f"prices of {table['date']}: {table['source']}"
    for name in plan["over"]:
        yield f"that is more than --{name.replace('_', '-')} allows: the run would stop before"
    yield from _origin_lines(plan["origins"])
    for line in plan["assumptions"]:
        yield f"assumed: {line}"
    yield "nothing was asked and nothing is written"


def plan_grid(plan: Mapping[str, Any]) -> Grid:
    """Return what each role would ask, and the sum, as a table."""
    columns = [
        *fields("part", "role", "model"),
        ("model calls", figure("requests", "{:,}".format)),
        *fields("tokens_in", "tokens_out", shown="{:,}".format),
        ("dollars", "cost"),
    ]
    rows = [{**row, "cost": _cost_text(row["dollars"])} for row in plan["rows"]]
    whole = {**plan, "part": "all", "role": "", "model": "", "cost": _plan_total(plan)}
    return grid_of("what the run would ask", columns, [*rows, whole])


def _origin_lines(origins: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield for each origin the settings that are from there."""
    for origin, place in _ORIGINS.items():
        values = [
            f"{name}={json_text(found['value'])}"
            for name, found in origins.items()
            if found["origin"] == origin
        ]
        if values:
            yield f"{place}: {', '.join(values)}"
    yield "every other setting has its default"


def _plan_total(plan: Mapping[str, Any]) -> str:
    """Return the sum; where models have no price, what the others cost at least."""
    if not plan["unpriced"]:
        return _cost_text(plan["dollars"])
    return f"≥{_cost_text(plan['dollars'])}" if plan["dollars"] else _cost_text(None)


def _cost_text(value: float | None) -> str:
    return "no price" if value is None else f"{value:,.4f}"


# -- What experiments, sweeps and ablations leave for readers; figures need extra `experiments`.

REPORT = "report.html"
"""Of the runs of an ablation."""


def write_retrieval_figures(result: Mapping[str, Any], folder: Path) -> list[str]:
    """Write the figures into an experiment's folder.

    Args:
        result: Of results.json.
        folder: The experiment's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    return _written(retrieval_figures, result, folder)


def write_sweep(content: Mapping[str, Any], folder: Path) -> list[str]:
    """Write the figures into a sweep's folder.

    Args:
        content: Of sweep.json.
        folder: The sweep's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    return _written(sweep_figures, content, folder)


def write_ablation(content: Mapping[str, Any], folder: Path) -> list[str]:
    """Write report.html into an ablation's folder; of similarity the figure.

    The page has all runs side by side below the ablation's own tables, whose numbers lead to their
    tasks and steps.

    Args:
        content: Of comparison.json.
        folder: The ablation's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    runs = [RunFolder(within(folder, row["condition"])) for row in content["runs"]]
    if runs:
        sections: list[Section] = [AblationSection(content), *default_sections(runs)]
        write_report(runs, folder / REPORT, sections, varied=content["protocol"]["ablation"])
    return _written(similarity_figures, content, folder)


def _written(
    figures: Callable[[Mapping[str, Any]], Mapping[str, Figure]],
    content: Mapping[str, Any],
    folder: Path,
) -> list[str]:
    """Write the figures; tell which package they lack."""
    try:
        save(figures(content), folder)
    except MissingExtraError as error:
        return [f"without the figures: {error}"]
    return []


# -- Why a run's goals failed, as files, for a terminal and as a figure.
#
# waterfall   a bar a stage, from the goals left before it to those left after it; the last bar is
#             what is solved. Whiskers: 95 % intervals over tasks of the stage's share of all goals.

JSON = "explanation.json"
NAME = "waterfall"
_GOALS = (f"{GOALS.name}.csv", f"{GOALS.name}.tex", f"{TOOLS_LOST.name}.csv")


def explain(
    run: Path,
    metric: str | None = None,
    examples: int = EXAMPLES,
    out: Path | None = None,
    bench: Benchmark | None = None,
) -> dict[str, Any]:
    """Return why a run's failed goals failed, and write it into a folder where one is given.

    Args:
        run: Run folder, wherever it was moved.
        metric: Whose verdict counts; None: the one of the headline.
        examples: Most of each stage.
        out: Folder for explanation.json, goals.csv and .tex, tools_lost.csv, and
            figures/waterfall.svg and .png.
        bench: What was played, where it is not installed.

    Returns:
        What `seal.experiments.explanation` says; with `out` also `notes`, sentences on what
        was left out, as a package is not installed.

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: A metric without a value, or a folder that holds something else.
    """
    if out is not None:
        check_results_folder(out, {JSON, FOLDER, *_GOALS}, "an explanation")
    folder = RunFolder.open(run)
    check_whole(folder)
    content = explained(folder, metric, examples, bench)
    if out is None:
        return content
    out.mkdir(parents=True, exist_ok=True)
    write_json(content, out / JSON)
    GOALS.write(content, out)
    TOOLS_LOST.write(content, out)
    name = caption_name(folder)
    stages = waterfall(content)._replace(title=f"Why goals failed: {name}")
    goals, told = goals_grid(content, name)
    labelled = [(stages, "tab:stages"), *([(goals, "tab:goals")] if goals.rows else [])]
    write_latex(out / f"{GOALS.name}.tex", labelled)
    try:
        save(waterfall_figures(content), out)
    except MissingExtraError as error:
        return {**content, "notes": [*told, f"without the figure: {error}"]}
    return {**content, "notes": told}


_PRINTED = 100
"""Failed goals that a paper has one by one; of more it has the examples of each stage."""


def goals_grid(content: Mapping[str, Any], name: str) -> tuple[Grid, list[str]]:
    """Return the goals that failed, with stage, cause and evidence, and which of them these are.

    Args:
        content: Of explanation.json.
        name: Of the run.
    """
    rows, title, notes = content["attributions"], f"Each goal that failed: {name}", []
    if len(rows) > _PRINTED:
        whole = len(rows)
        rows = [example for stage in content["stages"] for example in stage["examples"]]
        title = f"{len(rows):,} of {whole:,} goals that failed, by stage: {name}"
        notes = [f"{GOALS.name}.tex has {len(rows):,} of {whole:,} goals; {GOALS.name}.csv has all"]
    columns: Columns = [
        ("task", lambda row: place_text(row)),
        ("stage", lambda row: MEANINGS[row["stage"]]),
        ("cause", lambda row: row["cause"].replace("_", " ")),
        ("evidence", lambda row: one_line(row["evidence"], LONGEST)),
    ]
    return grid_of(title, columns, rows, names=4), notes


def explanation_tables(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield the waterfall and, below it, notes and examples.

    Args:
        content: Of explanation.json.
    """
    yield waterfall(content)
    yield from notes(content)
    lost = lost_tools(content)
    if lost.rows:
        yield lost
    yield from lost_notes(content)
    for stage in content["stages"]:
        for place, example in enumerate(stage["examples"], 1):
            if place == 1:
                yield f"\n{stage['meaning']}:"
            yield f"  {place_text(example)} ({example['cause']})"
            for name, text in example_lines(example):
                yield f"    {name}: {one_line(text, LONGEST)}"


def waterfall_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the waterfall by its name; empty if the run has no goals.

    Args:
        content: Of explanation.json.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not content["goals"]:
        return {}
    every = waterfall_bars(content)
    bars = [replace(it, heading=f"{it.heading}: {it.bars[0].value}") for it in every]
    sentences = (
        "A bar: goals that the stage explains, from those left before it to those left after it.",
        "Whiskers: 95 % interval of the stage's share of all goals, over families of tasks.",
    )
    return {NAME: interval_figure(WATERFALL, "goals left", bars, sentences, bars=True)}

"""The parts of a report above its table of tasks, each pluggable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from typing import Any, Protocol

from markupsafe import Markup

from seal.core import Scale, SealError, Step, Trajectory, UsageError, fault, shortened, text_of
from seal.core.registry import Registry, load_dotted
from seal.core.settings import check_plain
from seal.core.text import counted, one_line, printable
from seal.evaluation.goals import (
    DECIDING,
    INFRASTRUCTURE,
    RATE,
    decides,
    is_best,
    ranking,
    state_of,
)
from seal.evaluation.pattern_scores import PATTERNS
from seal.evaluation.scoring import INSTRUCTION
from seal.pools.benchmark import Benchmark, part_of
from seal.report.chat_pages import json_text
from seal.report.grids import Estimate, Grid, number
from seal.report.lanes import (
    Lane,
    Rows,
    ShortTable,
    all_metrics,
    answer_of,
    facts_of,
    main_metrics,
    measure_differences,
    reason_of,
    scale_notes,
    scores_so_far,
    summary_table,
    task_notes,
)
from seal.report.pages import (
    Bar,
    BarGroup,
    Fold,
    Part,
    estimate_cell,
    forest,
    link,
    paragraphs,
    render,
    task_link,
)
from seal.report.run_results import run_latex
from seal.report.table_forms import csv_text
from seal.runs.run import RunFolder, scales_of
from seal.runs.scores import Tail

# -- Whether a section has something to say, told from the files of the runs without its code.

HELPERS = ("planner", "verifier", "checker")
"""Roles that catch errors, or cause some; a checker that is unsure does neither."""
CATEGORIES = {
    "single_tool": "STC, single tool call",
    "multiple_tool": "MTC, multiple tool calls",
    "single_turn": "SUT, single user turn",
    "multiple_turn": "MUT, multiple user turns",
    "state_dependency": "SD, state dependency",
    "canonicalization": "C, canonicalization",
    "insufficient_information": "II, insufficient information",
}
"""Tag of a category of scenarios to its row, in ToolSandbox's order."""
CATEGORY_GROUPS = {f"{tag}=true": row for tag, row in CATEGORIES.items()}
"""Group of a category, as summary.json names it, to its row."""
AUGMENTATION = "augmentation="
"""Begins the name of a group of one tool augmentation."""


def comparable(lanes: Sequence[Lane]) -> bool:
    """Tell whether the runs are scored and measured the same."""
    runs = [lane.run for lane in lanes if lane.kind == "run"]
    return all(run.scores_path.is_file() for run in runs) and not measure_differences(runs)


def audited(lanes: Sequence[Lane]) -> bool:
    """Tell whether the judge of a run was held against people or rules."""
    return any(lane.summary.get("audit") for lane in lanes)


def missions_typed(lanes: Sequence[Lane]) -> bool:
    """Tell whether a mission that was scored has a type."""
    return any(
        isinstance(score.details.get("type"), str)
        for lane in lanes
        for score in scores_so_far(lane.run, ("mission_accuracy",))
    )


def has_paper(lanes: Sequence[Lane]) -> bool:
    """Tell whether the benchmark of a run declares tables of a paper."""
    runs = [lane.run for lane in lanes if lane.kind == "run"]
    known = (run.benchmark() for run in runs)
    return any(run.declared().get("published") for run in runs) or any(
        bench is not None and bench.published for bench in known
    )


def some_failed(lanes: Sequence[Lane]) -> bool:
    """Tell whether a goal of a run may have failed; false: each with a verdict is solved."""
    for lane in lanes:
        if lane.kind != "run":
            continue
        if lane.summary.get("errors") or part_of(lane.run.benchmark(), "decided_by") is not None:
            return True
        scales, success = lane.run.scales(), lane.run.declared().get("success")
        for score in scores_so_far(lane.run, {*DECIDING, *filter(None, [success])}):
            if not decides(score):
                failed = score.reason.startswith(INFRASTRUCTURE)
            else:
                failed = state_of(score, scales.get(score.metric, RATE)) == "unsolved"
            if failed:
                return True
    return False


def patterns_counted(lanes: Sequence[Lane]) -> bool:
    """Tell whether a run has a value of an error pattern: a call was made, or missing."""
    return any(lane.kind == "run" and lane.estimate(name).n for lane in lanes for name in PATTERNS)


def categorised(lanes: Sequence[Lane]) -> bool:
    """Tell whether tasks have a category or an augmentation."""
    return breakdown(lanes) is not None


def ceiling_lacks(lanes: Sequence[Lane]) -> bool:
    """Tell whether a ceiling may lack something: a mean is below 1, or chats have no score."""
    return any(
        lane.summary.get("errors")
        or lane.summary.get("skipped")
        or any(
            mean is not None and mean < 1 and _is_ceiled(lane.scales.get(name, RATE))
            for name, mean in lane.means.items()
        )
        for lane in lanes
        if lane.kind == "ceiling"
    )


def helpers_spoke(lanes: Sequence[Lane]) -> bool:
    """Tell whether one of the `HELPERS` said something in a run."""
    told = (
        Tail(lane.run.trajectories_path, Trajectory, saying=HELPERS).read()
        for lane in lanes
        if lane.kind == "run"
    )
    return any(_counts(step) for chats in told for chat in chats for step in chat.steps)


def _counts(step: Step) -> bool:
    label = step.content.partition(":")[0].strip()
    return step.author in HELPERS and (step.author != "checker" or label in ("solved", "unsolved"))


# -- The parts of a report above its table of tasks, each pluggable.
#
# A section is any object with a `title` and `render(lanes)`. A plug-in's section stands under the
# entry points `seal.report_sections` and is shown after ours. What it returns is `Markup`: build it
# with a Jinja template of your own with autoescape, `markupsafe.escape`, or
# `seal.report.pages.bar_chart`. Scripts and style attributes do not run in the report: its content
# security policy allows its own alone.

GROUPED = 3
"""Metrics that are drawn by group."""
GROUPS = 16
"""Most groups of one chart."""
LEAST = 2
"""Least goals of a group on average: where each task is a group of its own, none is drawn."""


class Section(Protocol):
    """One part of a report."""

    @property
    def title(self) -> str:
        """Its heading."""
        ...

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the section's HTML; None where it has nothing to say about these runs.

        Args:
            lanes: Floor, the runs in their order, ceiling; the baselines only where played.
        """
        ...


@dataclass(frozen=True, slots=True)
class OwnSection:
    """One of our sections; its code is loaded where it may have something to say."""

    title: str
    body: str
    """`module:function` below `seal.report`; it takes the lanes and returns the HTML or None."""
    metric: str = ""
    """Some lane has it; empty: whatever lanes there are."""
    runs: int = 1
    """Least number of runs, without the baselines."""
    applies: Callable[[Sequence[Lane]], bool] | None = None
    """Tells by the summaries whether it may have something to say; None: it always may."""
    holds: Callable[[Sequence[Lane]], bool] | None = None
    """Tells so by chats or scores, of which there may be many."""

    def may_say(self, lanes: Sequence[Lane]) -> bool:
        """Tell by the summaries alone whether it may have something to say about these runs."""
        return (
            (not self.metric or any(self.metric in lane.metrics for lane in lanes))
            and sum(lane.kind == "run" for lane in lanes) >= self.runs
            and (self.applies is None or self.applies(lanes))
        )

    def says(self, lanes: Sequence[Lane]) -> bool:
        """Tell by chats and scores, too, whether it has something to say about these runs."""
        return self.may_say(lanes) and (self.holds is None or self.holds(lanes))

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the section's HTML; None where it has nothing to say about these runs."""
        if not self.says(lanes):
            return None
        body: Markup | None = load_dotted(f"seal.report.{self.body}")(lanes)
        return body


@dataclass(frozen=True, slots=True)
class ForeignSection:
    """A section of a plug-in or benchmark; what it returns is checked."""

    section: Section
    title: str
    """Its heading."""
    origin: str
    """Who offers it, for messages: `the benchmark shop`."""

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return its HTML; None where it has nothing to say about these runs.

        Raises:
            UsageError: It fails, or returns what is no HTML; names it and who offers it.
        """
        named = f"the report section {self.title!r} of {self.origin}"
        try:
            body = self.section.render(lanes)
        except SealError:
            raise
        except Exception as error:  # whatever a stranger's code raises
            raise UsageError(f"{named} failed: {fault(error)}; mend it") from error
        if body is None or isinstance(body, Markup):
            return body
        raise UsageError(
            f"{named} returned {shortened(body)}; expected markupsafe.Markup or None: give "
            "markupsafe.escape(text) of a plain text"
        )


OURS = {
    "summary": OwnSection("Summary", "sections:summary_section"),
    "published": OwnSection("Published figures", "paper:section", applies=has_paper),
    "comparison": OwnSection("Comparison", "comparison:section", runs=2, applies=comparable),
    "roles": OwnSection("What each role did", "explanation:role_section", holds=helpers_spoke),
    "explanation": OwnSection("Why goals failed", "explanation:section", holds=some_failed),
    "breakdown": OwnSection(
        "By category and augmentation", "sections:breakdown_section", applies=categorised
    ),
    "judges": OwnSection("Judges", "judge_sections:judge_section", applies=audited),
    "missions": OwnSection("Missions", "mission_section:section", holds=missions_typed),
    "error_patterns": OwnSection(
        "Error patterns", "pattern_section:section", applies=patterns_counted
    ),
    "users": OwnSection("Users", "judge_sections:user_section", INSTRUCTION),
    "charts": OwnSection("Charts", "sections:chart_section"),
    "ceiling": OwnSection(
        "Where the ceiling is below 1.000", "sections:ceiling_section", applies=ceiling_lacks
    ),
}
"""In the order of the report."""

SECTIONS = Registry("report section", "seal.report_sections", {})
for _name, _section in OURS.items():
    SECTIONS.register(_name, _section)


def default_sections(runs: Iterable[RunFolder] = ()) -> list[Section]:
    """Return our sections, those of plug-ins by name, and those of the runs' benchmarks.

    Each class is built without arguments. A benchmark that is not installed has none.
    """
    found: list[Section] = [*OURS.values()]
    for name in SECTIONS.names():
        if name not in OURS:
            found += _built([name], f"the plug-in {name!r}")
    known = {bench.name: bench for run in runs if (bench := run.benchmark()) is not None}
    for benchmark in known.values():
        found += sections_of(benchmark)
    return found


def sections_of(benchmark: Benchmark) -> list[Section]:
    """Return the sections of a benchmark.

    Raises:
        UsageError: One is no section.
    """
    return _built(benchmark.sections, f"the benchmark {benchmark.name}")


def _built(sections: Iterable[Any], origin: str) -> list[Section]:
    """Return sections, of names and dotted paths what they stand for, of classes an object each."""
    built: list[Section] = []
    for found in map(SECTIONS.resolve, sections):
        try:
            section = found() if isinstance(found, type) else found
        except Exception as error:  # other people's code
            said = f"{type(error).__name__}: {text_of(error)}"
            told = f"{found.__name__} of the report cannot be made: {said}"
            raise UsageError(f"{origin}: {told}") from error
        title = getattr(section, "title", None)
        if not callable(getattr(section, "render", None)) or not isinstance(title, str):
            raise UsageError(
                f"{origin}: {shortened(section)} is no section of a report; expected a class or "
                "object with a title and render(lanes)"
            )
        check_plain(section.render, f"{origin}: render of the report section {title!r}")
        built.append(ForeignSection(section, title, origin))
    return built


def summary_section(lanes: Sequence[Lane]) -> Markup:
    """Return the answer of each run, the first metrics, what they lack, and all in a fold."""
    lanes = sorted(lanes, key=lambda lane: lane.kind != "run")  # a phone shows the first columns
    short = ShortTable(lanes)
    names = all_metrics({name for lane in lanes for name in lane.metrics}, short.scales)
    every = ShortTable(lanes, names).rows
    caption = "Mean, 95 % interval, and n, the number of scores with a value"
    main = _metric_grid(caption, lanes, {name: short.rows[name] for name in short.first})
    told = (answer_of(lane.run, lane.label) for lane in lanes if lane.kind == "run")
    answers = [list(map(printable, lines)) for lines in told]
    head = render("summary.html", lanes=lanes, answers=answers)
    parts: list[Part] = [head, main]
    if any(lane.kind != "run" for lane in lanes):
        parts.append(Markup('<p class="note phone">Of floor and ceiling: the means alone</p>'))
    parts += short.gaps(short.first)
    if len(every) > len(main.rows):
        notes = scale_notes(every, short.scales)
        inner = paragraphs((_metric_grid("All metrics", lanes, every), *notes))
        parts.append(Fold(f"All {len(every)} metrics", above=inner))
    return paragraphs((*parts, *(_for_a_paper(lane.run) for lane in lanes if lane.kind == "run")))


def _for_a_paper(run: RunFolder) -> Fold:
    """Return the table of a run as LaTeX and as CSV, to be copied."""
    grid, name = summary_table(run), run.path.resolve().name
    forms = (run_latex(run, [grid]), csv_text([grid]))
    texts = Markup("").join(Markup("<pre>{}</pre>").format(printable(form)) for form in forms)
    files = f"As files: seal report {name} --out {name}.tex, or {name}.csv"
    return Fold(f"LaTeX and CSV of {name}", above=paragraphs((texts, files)))


def _metric_grid(caption: str, lanes: Sequence[Lane], rows: Rows) -> Grid:
    heads = map(lane_head, lanes)
    kinds = [lane.kind for lane in lanes]
    cells = [(name, *map(_metric_cell, row.values(), kinds)) for name, row in rows.items()]
    return Grid(caption, ("metric", *heads), cells)


def _metric_cell(found: Estimate, kind: str) -> Markup:
    micro = "" if found.micro is None else f", micro {number(found.micro)}"
    shown = estimate_cell(found, micro, found.lacking_text)
    # A phone shows of a baseline its mean alone.
    return shown if kind == "run" else Markup('<div class="baseline">{}</div>').format(shown)


def chart_section(lanes: Sequence[Lane]) -> Markup | None:
    """Return main metrics, and the same by group; None: no run has a value."""
    bounded = ShortTable(lanes).bounded
    names = [name for name in bounded if any(lane.estimate(name).n for lane in lanes)]
    drawn = [_means(lanes, names), *(_by_group(lanes, name) for name in names[:GROUPED])]
    played = [lane.run for lane in lanes if lane.kind == "run"]
    if names and len(played) > 1:
        from seal.report.comparison import cost_chart

        drawn.append(cost_chart(map(facts_of, played)))
    charts = [chart for chart in drawn if chart is not None]
    folded = [chart for name in names[:GROUPED] for chart in _by_tags(lanes, name)]
    if not charts and not folded:
        return None
    return render("charts.html", lanes=lanes, charts=charts, folded=folded)


def _means(lanes: Sequence[Lane], names: Sequence[str]) -> Markup | None:
    if not names:
        return None
    ends = [lane for lane in lanes if lane.kind != "run"]
    if len(ends) < 2 or any(task_notes(lanes)):
        groups = [BarGroup(name, tuple(lane_bar(lane, name) for lane in lanes)) for name in names]
        return forest("Main metrics, mean with 95 % interval", groups)
    groups = []
    for name in names:
        floor, ceiling = (lane.estimate(name).mean for lane in ends)
        band = None if floor is None or ceiling is None else (floor, ceiling)
        bars = (replace(lane_bar(each, name), band=band) for each in lanes if each.kind == "run")
        groups.append(BarGroup(name, tuple(bars)))
    title = "Main metrics, mean with 95 % interval; behind it from floor to ceiling"
    return forest(title, groups)


def _by_group(lanes: Sequence[Lane], metric: str) -> Markup | None:
    """Draw the categories of scenarios; where there are none, what the tag `group` names."""
    found = _groups(lanes, metric)
    categories = {group: row for group, row in CATEGORY_GROUPS.items() if group in found}
    named = categories or {name: name for name in found if "=" not in name}
    return _grouped(lanes, metric, f"{metric} by {'category' if categories else 'group'}", named)


def _by_tags(lanes: Sequence[Lane], metric: str) -> Iterator[Markup]:
    """Draw one chart for every other tag, whose groups are named TAG=VALUE."""
    categories = {group.partition("=")[0] for group in CATEGORY_GROUPS}
    names = sorted(name for name in _groups(lanes, metric) if "=" in name)
    for tag, found in groupby(names, lambda name: name.partition("=")[0]):
        if tag not in categories:
            named = {name: name for name in found}
            chart = _grouped(lanes, metric, f"{metric} by {tag}", named)
            if chart is not None:
                yield chart


def _grouped(
    lanes: Sequence[Lane], metric: str, title: str, headings: Mapping[str, str]
) -> Markup | None:
    """Draw groups under their headings; None if a group has hardly more than one goal."""
    if len(headings) < 2 or _goals_of(lanes, metric, headings) < LEAST * len(headings):
        return None
    groups = [
        BarGroup(one_line(heading, 60), tuple(lane_bar(lane, metric, name) for lane in lanes))
        for name, heading in islice(headings.items(), GROUPS)
    ]
    more = len(headings) - GROUPS
    return forest(f"{title}; {more} more in summary.json" if more > 0 else title, groups)


_UNFOLDED, _FEW = 3, 20
"""Reasons of the ceiling that are not folded, where they have at most so many tasks."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Tasks that the ceiling falls short of 1 in, for one metric and one reason."""

    metric: str
    reason: str
    tasks: tuple[tuple[str, str, float], ...]
    """(task id, link, value)."""


def ceiling_section(lanes: Sequence[Lane]) -> Markup | None:
    """Return where even the oracle does not reach 1.000, and why; None: nowhere that is known.

    What it lacks is what the gold itself does not allow.
    """
    ceiling = next((lane for lane in lanes if lane.kind == "ceiling"), None)
    if ceiling is None:
        return None
    found, summary = shortfalls(ceiling), ceiling.summary
    lost = (summary.get("errors") or 0) + (summary.get("skipped") or 0)
    if not found and not lost:
        return None
    tasks = len({task_id for short in found for task_id, *_ in short.tasks})
    parts: list[Part] = [
        f"Playing the gold itself does not reach 1.000 in {counted(tasks, 'task')}. What a model "
        "scores there is bounded by the benchmark, not by the model."
    ] * bool(found)
    item = Markup("{} <small>{}</small>")
    for place, short in enumerate(found):
        reason = short.reason or "the score gives no reason"
        title = f"{short.metric} in {counted(len(short.tasks), 'task')}: {reason}"
        items = [item.format(link(name, to), number(value)) for name, to, value in short.tasks]
        unfolded = place < _UNFOLDED and len(items) <= _FEW
        parts.append(Fold(title, items, len(items), unfolded=unfolded))
    if lost:
        parts.append(
            f"{lost} of the ceiling's chats ended in an error or were skipped; they have no score."
        )
    return paragraphs(parts)


def shortfalls(ceiling: Lane) -> list[Shortfall]:
    """Return what the ceiling does not reach, by metric, the most frequent reason first."""
    found: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    scales = ceiling.run.scales()
    for score in scores_so_far(ceiling.run):
        scale = scales.get(score.metric, RATE)
        if score.value is None or is_best(score.value, scale) or not _is_ceiled(scale):
            continue
        reason = reason_of(score) or one_line(json_text(score.details), 300)
        link = task_link(score.task_id)
        tasks = found.setdefault((score.metric, "" if reason == "{}" else reason), [])
        tasks.append((score.task_id, link, score.value))
    order = {name: place for place, name in enumerate(all_metrics({m for m, _ in found}, scales))}
    ranked = sorted(found.items(), key=lambda item: (order[item[0][0]], -len(item[1]), item[0]))
    return [Shortfall(metric, reason, tuple(tasks)) for (metric, reason), tasks in ranked]


def _is_ceiled(scale: Scale) -> bool:
    """Tell whether gold should have 1 in a metric."""
    return scale.bounded and bool(scale.higher_is_better) and scale.gold_is_best is not False


def _groups(lanes: Sequence[Lane], metric: str) -> list[str]:
    """Return the groups in which some lane has a value, in the order of summary.json."""
    return list(
        dict.fromkeys(
            name
            for lane in lanes
            for name, entry in lane.groups(metric).items()
            if entry.get("mean") is not None
        )
    )


def _goals_of(lanes: Sequence[Lane], metric: str, groups: Iterable[str]) -> int:
    """Return how many scores the groups have together, in the lane that has most."""
    names = list(groups)
    return max(sum(lane.estimate(metric, name).n for name in names) for lane in lanes)


# -- Scores by category of scenario, and by tool augmentation.
#
# Source: ToolSandbox (Lu et al., 2024), Tables 5 (similarity) and 11 (turn count); here categories
# and augmentations are rows. The groups are those of summary.json. A task counts in each category
# whose tag is true of it, but in one augmentation only. So scrambled variants, which have
# distraction tools too, are not counted again under distraction tools.

AUGMENTATIONS = {
    "no_distraction_tools": "0 DT, no distraction tools",
    "3_distraction_tools": "3 DT, distraction tools",
    "10_distraction_tools": "10 DT, distraction tools",
    "all_tools": "AT, all tools",
    "3_distraction_tools_tool_name_scrambled": "TNS, tool names scrambled",
    "3_distraction_tools_tool_description_scrambled": "TDS, tool descriptions scrambled",
    "3_distraction_tools_arg_description_scrambled": "ADS, argument descriptions scrambled",
    "3_distraction_tools_arg_type_scrambled": "ATS, argument types scrambled",
}
"""Value of the tag `augmentation` to its row, in the order of the paper; others follow by name."""

_SCORE = "similarity"
_TURNS = ("turn_count", "turns")
_ROWS = {**CATEGORY_GROUPS, **{f"{AUGMENTATION}{name}": row for name, row in AUGMENTATIONS.items()}}


def breakdown(
    lanes: Sequence[Lane], cell: Callable[[Estimate], str] = estimate_cell
) -> Grid | None:
    """Return scores and turn counts by category and augmentation; None where tasks have neither.

    The score is the similarity, else the first main metric that has a value. The rows are all
    tasks, the categories, the augmentations; those of them that there are.

    Args:
        lanes: The runs.
        cell: Gives the content of a score's cell.
    """
    metrics = list(_chosen(lanes))
    found = {name for lane in lanes for metric in metrics[:1] for name in lane.groups(metric)}
    others = sorted(name for name in found - _ROWS.keys() if name.startswith(AUGMENTATION))
    groups = [*(name for name in _ROWS if name in found), *others]
    if not groups:
        return None
    heads, rows = ["tasks with"], []
    for lane in lanes:
        heads += [lane_head(lane, f": {metrics[0]}"), *metrics[1:]]
    for group in ("", *groups):
        label = _ROWS.get(group) or one_line(group.removeprefix(AUGMENTATION), 60) or "all"
        means = [[lane.estimate(name, group or None) for name in metrics] for lane in lanes]
        texts = ((cell(mean), *(turn.value_text for turn in turns)) for mean, *turns in means)
        rows.append((label, *chain.from_iterable(texts)))
    title = f"Mean {' and '.join(metrics)} by category and tool augmentation"
    return Grid(title, heads, rows)


def _chosen(lanes: Sequence[Lane]) -> Iterator[str]:
    valued = [{n: e for n, e in lane.metrics.items() if e.get("n")} for lane in lanes]
    names = {name for metrics in valued for name in metrics}
    scales = scales_of(lane.run for lane in lanes)
    main = [_SCORE] if _SCORE in names else main_metrics(valued, scales=scales)
    yield from ranking(main, scales)[:1]
    yield from [name for name in _TURNS if name in names][:1]


def breakdown_section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the report's table; None where tasks have neither category nor augmentation."""
    grid = breakdown(lanes)
    return paragraphs([grid]) if grid else None


# -- A lane's colour, label and bar.


def lane_head(lane: Lane, text: str = "") -> Markup:
    """Return a lane's colour and label, and what else the head of a column says."""
    label = f"{lane.label}{text}"
    return Markup('<span class="swatch {}"></span>{}').format(lane.colour, printable(label))


def lane_bar(lane: Lane, metric: str, group: str | None = None) -> Bar:
    """Return a lane's mean of a metric with its interval, of all tasks or of a group of them."""
    found = lane.estimate(metric, group)
    mean = None if found.mean is None else float(found.mean)
    return Bar(lane.label, lane.colour, mean, found.low, found.high)

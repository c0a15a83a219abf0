"""DialogTool's section of the report, and its paper's tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from seal.benchmarks.dialogtool.importer import schema_counts
from seal.benchmarks.dialogtool.metrics import MISSED, NO_TOOL, TWINS, api_name
from seal.benchmarks.dialogtool.role_scores import HIGHEST, ORDER, corpus_bleu, variety
from seal.core import MissingExtraError, Score, Task, Tool
from seal.core.text import one_line
from seal.pools.declarations import PublishedTable, shipped_rows
from seal.pools.pool import StoredPool
from seal.report.grids import Estimate, Grid
from seal.report.lanes import Lane, scores_so_far
from seal.report.pages import Bar, BarGroup, bar_chart, render, table
from seal.report.paper import Figures
from seal.report.sections import lane_bar
from seal.report.table_forms import Figure, RunTable, Share, page_cell
from seal.runs.run import read_human

# -- A tool's life in dialogue: the report's part about it, and its tables for the terminal.
#
# The published tables stand in the report beside it (`TABLES`). Here is what the paper has not, and
# figures by API. One pass over a run's scores counts what both need. Shares leave out what has no
# value, as where the infrastructure failed.

CREATION = "creation"
TASKS = ("awareness", "selection", "execution")
"""Tasks of which figures are drawn."""
_TOLD = frozenset({*TASKS, "bleu", "role", "role_reply", CREATION})
_EXACTLY = "; a run was scored by --match exact, under which both are one"
AnyTable = RunTable[Figure] | RunTable[Share]
_Counts = Mapping[str, tuple[str, str]]
"""Column to what is counted and of what it is a share, as `Counted.counts` names them."""

_EXECUTION: _Counts = {
    "wrong API": ("execution api_error", "executions"),
    "argument matching error": ("execution argument_matching_error", "executions"),
    "missing argument error": ("execution missing_argument_error", "executions"),
    "refused": ("execution refused", "executions"),
}
"""Column of errors of execution to what is counted."""


@dataclass(slots=True)
class ApiCounts:
    """What is known of one API."""

    api: str
    """App and name."""
    selected: Share = field(default_factory=Share)
    """Of the turns on which it was due."""
    executed: Share = field(default_factory=Share)
    unnecessary: int = 0
    """Requests of it where none was due."""
    created: Share = field(default_factory=Share)
    """Test cases that the created function passed."""

    @property
    def due(self) -> int:
        """Turns on which it was due."""
        return int(self.selected.whole)


@dataclass(slots=True)
class Counted:
    """What one pass over a run's scores counts."""

    counts: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """`turns` with a score of awareness; `decisions` of selection, right and wrong; turns with an
    API `due`, those on which its `app` was named and those on which it was `recalled`;
    `executions`; requests of the right API, whose arguments can be `compared`, and of these what
    differs. Errors stand behind the name of their metric."""
    selection: list[tuple[float, float]] = field(default_factory=list)
    """(value, weight) of each score."""
    creation: list[tuple[float, float]] = field(default_factory=list)
    """The same of creation."""
    replies: list[list[int]] = field(default_factory=list)
    """What the corpus's BLEU is made of (`role_scores.bleu_counts`)."""
    spoken: list[tuple[str, str, str]] = field(default_factory=list)
    """What the variety of replies in a role is made of (`role_scores.variety`)."""
    apis: dict[str, ApiCounts] = field(default_factory=dict)

    def api(self, name: str) -> ApiCounts:
        """Return what is known of an API, by app and name."""
        return self.apis.setdefault(name, ApiCounts(name))

    def share(self, counted: tuple[str, str]) -> Share:
        """Return the share that a column has."""
        part, whole = counted
        return Share(self.counts.get(part, 0), self.counts.get(whole, 0))

    def take(self, score: Score, tools: Mapping[str, Tool]) -> None:
        """Count a score that has a value."""
        value, details = score.value or 0.0, score.details
        errors = [details["error"]] if "error" in details else details.get("errors") or ()
        for error in errors:
            self.counts[f"{score.metric} {error}"] += 1
        match score.metric:
            case "awareness":
                self.counts["turns"] += 1
            case "selection":
                self._take_selection(score, value)
            case "execution":
                self._take_execution(details, value)
            case "creation":
                self.creation.append((value, score.weight))
                benchmark, _, rest = score.task_id.partition("/create/")
                if (tool := f"{benchmark}/{rest}") in tools:
                    api = self.api(api_name(tool, tools))
                    api.created = _plus(api.created, value * score.weight, score.weight)
            case "role" | "role_reply":  # of older runs `role` is of a reply
                if isinstance(found := details.get("ends"), list) and len(found) == 2:
                    self.spoken.append((str(details.get("role")), str(found[0]), str(found[1])))
                if "by" in details and "kept" in details:
                    self.counts["facts_lost"] += 1
                    self.counts["facts_passed"] += value > HIGHEST / 2
            case "bleu":
                numbers = details.get("counts")
                if isinstance(numbers, list) and len(numbers) == ORDER + 2:
                    self.replies.append([int(number) for number in numbers])

    def _take_selection(self, score: Score, value: float) -> None:
        details = score.details
        self.counts["decisions"] += score.weight
        self.selection.append((value, score.weight))
        if details.get("api") is not None:
            self.counts["due"] += 1
            self.counts["app"] += bool(details.get("app"))
            self.counts["recalled"] += value > 0
            api = self.api(str(details["api"]))
            api.selected = _plus(api.selected, value > 0)
        for name in details.get("unnecessary") or ():
            self.api(str(name)).unnecessary += 1

    def _take_execution(self, details: Mapping[str, Any], value: float) -> None:
        self.counts["executions"] += 1
        api = self.api(str(details.get("api")))
        api.executed = _plus(api.executed, value)
        if "mismatch" in details:
            self.counts["compared"] += 1
            self.counts["wrong_values"] += len(details["mismatch"])
            for name in ("missing", "extra", "mismatch"):
                self.counts[name] += bool(details[name])
            for name in ("dates", "places"):
                self.counts[name] += details.get(name, 0)


def _plus(share: Share, part: float, whole: float = 1) -> Share:
    return Share(share.part + part, share.whole + whole)


def is_dialogue(lane: Lane) -> bool:
    """Tell whether a run was scored by the tasks of a tool's life."""
    return any(lane.estimate(name).n for name in (*TASKS, "bleu", "role"))


def counts_of(scores: Iterable[Score], tools: Mapping[str, Tool]) -> Counted:
    """Return what the tables need of a run's scores.

    Args:
        scores: Of any metrics.
        tools: By id, for the names of created APIs.
    """
    found = Counted()
    for score in scores:
        if score.metric in _TOLD and score.value is not None:
            found.take(score, tools)
    return found


def counted_lanes(lanes: Sequence[Lane]) -> dict[str, Counted]:
    """Return what was counted of each lane by its label."""
    return {
        lane.label: counts_of(scores_so_far(lane.run, _TOLD), lane.run.tools()) for lane in lanes
    }


def dialogue_tables(lanes: Sequence[Lane], runs: Mapping[str, Counted]) -> list[AnyTable]:
    """Return the exact figures beside the published ones, and errors of execution.

    Args:
        lanes: Floor, runs, ceiling.
        runs: What was counted of each, by its label.
    """
    measured = [lane.run.manifest().get("measure") or {} for lane in lanes]
    exactly = _EXACTLY if any(of.get("match") == "exact" for of in measured) else ""
    rules = "by the rules of --match" if exactly else "as published"
    twins = [name for twin in TWINS for name in (twin, f"{twin}_exact")]
    exact_rows = {
        lane.label: {name.replace("_", " "): _percent(lane, name) for name in twins}
        | {"corpus BLEU": _corpus(runs[lane.label]), "variety": _variety(runs[lane.label])}
        for lane in lanes
    }
    shares = {
        label: {name: known.share(of) for name, of in _EXECUTION.items()}
        for label, known in runs.items()
    }
    title = "execution errors, % of turns on which an API was due and one was requested"
    first = f"{rules} and exact; corpus BLEU, and variety of replies in a role, %{exactly}"
    return [RunTable(first, exact_rows), RunTable(title, shares)]


def _percent(lane: Lane, metric: str) -> Figure:
    """Return a mean with its interval; of metrics whose weights differ the micro mean alone."""
    found = lane.estimate(metric)
    value = found.mean if found.micro is None else found.micro
    if value is None:
        return Figure("-")
    if found.micro is not None or found.low is None or found.high is None:
        return Figure(f"{100 * value:.1f}")
    return Figure(f"{100 * value:.1f}", f"[{100 * found.low:.1f}, {100 * found.high:.1f}]")


def weighted(scored: Sequence[tuple[float, float]]) -> float | None:
    """Return the mean of (value, weight) in %; None where there is none."""
    whole = sum(weight for _, weight in scored)
    return 100 * sum(value * weight for value, weight in scored) / whole if whole else None


def _corpus(known: Counted) -> Figure:
    try:
        found = corpus_bleu(known.replies)
    except MissingExtraError:
        return Figure("-", "without sacrebleu")
    return Figure("-" if found is None else f"{found:.1f}")


def _variety(known: Counted) -> Figure:
    found = variety(known.spoken)
    return Figure("-" if found is None else f"{100 * found:.1f}")


def _lost(label: str, known: Counted) -> str:
    """Return how often a judge gave a reply with lost facts more than half; empty: it had none."""
    lost, passed = (known.counts.get(name, 0) for name in ("facts_lost", "facts_passed"))
    return f"{label}, role: {passed:.0f} of {lost:.0f} with lost facts above 5" if lost else ""


DRAWN = 16
"""APIs of one chart, the most frequent ones; the table below it has all."""
BUCKETS = ("10", "20", "30", "40")
"""Turns of a dialogue, rounded up to tens; the last one is open."""


class DialogueSection:
    """Exact figures, errors of execution, and figures by API."""

    title = "A tool's life in dialogue"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return tables and figures; None where no run was scored by such tasks."""
        shown = [lane for lane in lanes if is_dialogue(lane)]
        if not shown:
            return None
        runs = counted_lanes(shown)
        charts = (
            _by_app_lists(shown),
            _chart_by_api("Selection recall by API", "selected", shown, runs),
            _chart_by_api("Execution accuracy by API", "executed", shown, runs),
            _chart_by_api("Creation pass rate by API", "created", shown, runs),
        )
        return render(
            "dialogue.html",
            tables=[each.page() for each in dialogue_tables(shown, runs)],
            lost=list(filter(None, (_lost(label, known) for label, known in runs.items()))),
            charts=[chart for chart in charts if chart is not None],
            lanes=shown,
            apis=_api_table(runs),
        )


def _app_list(lane: Lane) -> str:
    """Return how APIs were offered to a run, `flat` or `hierarchical`; empty where it is untold."""
    arranged = (lane.run.manifest().get("system") or {}).get("arranged")
    told = arranged.get("apps") if isinstance(arranged, dict) else None
    return str(told or "")


def _by_app_lists(lanes: Sequence[Lane]) -> Markup | None:
    """Draw the tasks with the runs named by how APIs were offered; None: all were offered alike."""
    runs = [(lane, _app_list(lane)) for lane in lanes if lane.kind == "run"]
    ways = sorted({way for _, way in runs})
    if len(ways) < 2:
        return None
    groups = [
        BarGroup(
            f"{task}, {way or 'untold'}",
            tuple(lane_bar(lane, task) for lane, offered in runs if offered == way),
        )
        for task in ("selection", "execution")
        for way in ways
    ]
    return bar_chart("APIs offered flat and hierarchical, mean with 95 % interval", groups)


def _chart_by_api(
    title: str, share: str, lanes: Sequence[Lane], runs: Mapping[str, Counted]
) -> Markup | None:
    """Draw the APIs that have such a share, the most frequent first."""
    groups = []
    for name, turns in _frequency(runs).items():
        apis = ((lane, runs[lane.label].apis.get(name, ApiCounts(name))) for lane in lanes)
        bars = tuple(Bar(it.label, it.colour, getattr(api, share).value) for it, api in apis)
        if any(bar.value is not None for bar in bars):
            groups.append(BarGroup(f"{one_line(name, 50)}, due {turns} times", bars))
    more = len(groups) - DRAWN
    told = f"{title}; {more} more below" if more > 0 else title
    return bar_chart(told, groups[:DRAWN]) if groups else None


def _frequency(runs: Mapping[str, Counted]) -> dict[str, int]:
    """Return each API with the turns it was due on, in the run that has most, most first."""
    due: dict[str, int] = {}
    for known in runs.values():
        for name, api in known.apis.items():
            due[name] = max(due.get(name, 0), api.due)
    return dict(sorted(due.items(), key=lambda item: (-item[1], item[0])))


def api_rows(runs: Mapping[str, Counted]) -> list[tuple[str, ApiCounts]]:
    """Return (run, API) for each that was due, requested or created, the most frequent first."""
    return [
        (label, known.apis[name])
        for name in _frequency(runs)
        for label, known in runs.items()
        if name in known.apis
    ]


def _api_table(runs: Mapping[str, Counted]) -> Markup | None:
    rows = [
        (
            api.api,
            run,
            str(api.due),
            api.selected.text,
            page_cell(api.executed),
            str(api.unnecessary),
            page_cell(api.created),
        )
        for run, api in api_rows(runs)
    ]
    columns = (
        "API", "run", "turns due", "selected, %", "executed, %", "unnecessary calls", "creation, %",
    )  # fmt: skip
    grid = Grid("", columns, rows, names=2)
    return table(grid, "every API", wrapping=True) if rows else None


# -- The tables of DialogTool, of a run or of a pool.
#
# Source: DialogTool, Tables 1, 2 and 6 (counts), 3 (the six tasks), 4 (errors of awareness and
# selection), 5 (by turns of the dialogue), 7 (actions) and 8 (errors of arguments). Figures 3, 4,
# 13 and 14 show no number. Table 1 marks of each benchmark whether tools are created, selected and
# executed; these three marks are lost in the text at hand.

_IMPORT = "seal import dialogtool SOURCE --out POOL"
_NEEDS = {"": _IMPORT}
_ROWS = shipped_rows("seal.benchmarks.dialogtool")
_SPLITS = {"train": "Training", "test": "Evaluation"}
_TOLD_APART: _Counts = {
    "T.": (f"awareness {MISSED}", "turns"),
    "No T.": (f"awareness {NO_TOOL}", "turns"),
    "Rec.": ("recalled", "due"),
    "API.": ("selection parse_error", "decisions"),
    "Unn.": ("selection unnecessary_call", "decisions"),
    "missing call": ("selection missing_call", "decisions"),
    "wrong API": ("selection api_error", "decisions"),
    "app": ("app", "due"),
}
"""Heading of Table 4 to what is counted; the paper has no figures of the last three."""
_ARGUMENTS: _Counts = {
    "Miss": ("missing", "compared"),
    "Extra": ("extra", "compared"),
    "Value Mismatch": ("mismatch", "compared"),
    "date-related": ("dates", "wrong_values"),
    "location-related": ("places", "wrong_values"),
}
"""Heading of Table 8 to what is counted."""


def _schemas(pool: StoredPool) -> Figures:
    """Return Table 1 of the APIs of a pool."""
    counts = schema_counts(_apis(pool))
    return {
        "DialogTool": {
            "Apps": counts["domains"],
            "APIs": counts["app_apis"],
            "Argu., input": counts["inputs_mean"],
            "Argu., returned": counts["results_mean"],
        }
    }


def _apis(pool: StoredPool) -> list[Tool]:
    return [tool for tool in pool.tools() if "api" in tool.source]


def _sizes(pool: StoredPool) -> Figures:
    """Return Table 2 of the dialogues of a pool, those that a sample left out not counted."""
    apis = {tool.id: tool for tool in _apis(pool)}
    of_split: defaultdict[str, list[Task]] = defaultdict(list)
    for task in pool.tasks_if_any():
        if "turns" in task.metadata:
            of_split[task.split].append(task)
    rows: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
    for split, tasks in of_split.items():
        for name, count in _sizes_of(tasks, apis).items():
            rows[name][_SPLITS.get(split, split)] = count
    return dict(rows)


def _sizes_of(tasks: Sequence[Task], apis: Mapping[str, Tool]) -> dict[str, float | None]:
    offered = {tool for task in tasks for goal in task.goals for tool in goal.offered or ()}
    schemas = schema_counts(apis[tool] for tool in sorted(offered) if tool in apis)
    kinds = Counter(goal.labels.get("kind") for task in tasks for goal in task.goals)
    turns = sum(int(str(task.metadata["turns"])) for task in tasks)
    return {
        "# of Apps": schemas["domains"],
        "# of APIs": schemas["app_apis"],
        "# of Dialogues": len(tasks),
        "# of Multiple Apps": sum(task.tags.get("multi_domain") is True for task in tasks),
        "# of Turns": turns,
        "# of Calls": kinds["call"] + kinds["request"],
        "Avg. turns": turns / len(tasks),
        "Max. input arguments": schemas["inputs_max"],
        "Avg. input arguments": schemas["inputs_mean"],
    }


def _by_app(pool: StoredPool) -> Figures:
    """Return Table 6 of a pool: app to the number of its APIs."""
    named = {(str(tool.category), str(tool.source["api"])) for tool in _apis(pool)}
    counts = Counter(app for app, _ in named)
    return {app: {"APIs": counts[app]} for app in sorted(counts)}


def _actions(pool: StoredPool) -> Figures:
    """Return Table 7 of a pool: action to the system's turns that have it, by split."""
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    printed = {name.lower(): name for name in _ROWS["table-7"]}
    for task in pool.tasks_if_any():
        for goal in task.goals:
            act = str(goal.labels.get("act") or "")
            if act:
                rows[printed.get(act, act)][f"turns, {_SPLITS.get(task.split, task.split)}"] += 1
    return dict(rows)


def _counted(lane: Lane) -> Counted:
    return counted_lanes([lane])[lane.label]


def _life(lane: Lane) -> Figures:
    """Return what Table 3 has beside means: weighted ones, and those that are no shares."""
    known, rated = _counted(lane), read_human(lane.run)
    own = {
        "Tool Creation": weighted(known.creation),
        "Selection": weighted(known.selection),
        "Role": lane.estimate("role").mean,
        "Human": None if rated is None else rated.mean,
    }
    return {"": own}


def _shares(columns: _Counts) -> Callable[[Lane], Figures]:
    """Return what gives the shares of a table of errors, in per cent."""

    def figures(lane: Lane) -> Figures:
        known = _counted(lane)
        return {"": {name: known.share(of).per_cent for name, of in columns.items()}}

    return figures


def _by_turns(lane: Lane) -> Figures:
    """Return Table 5: turns of the dialogue to the tasks, in per cent."""
    return {
        size: {
            f"Tool {task.capitalize()}": _mean(lane.estimate(task, f"turns_bucket={size}"))
            for task in TASKS
        }
        for size in BUCKETS
    }


def _mean(found: Estimate) -> float | None:
    mean = found.mean if found.micro is None else found.micro
    return None if mean is None else 100 * mean


def _figures_by_api(lane: Lane) -> Figures:
    return {
        api.api: {
            "turns due": api.due,
            "selected": api.selected.per_cent,
            "executed": api.executed.per_cent,
            "unnecessary calls": api.unnecessary,
            "creation": api.created.per_cent,
        }
        for _, api in api_rows({lane.label: _counted(lane)})
    }


TABLES = (
    PublishedTable(
        "Benchmarks, and arguments of their APIs",
        "DialogTool, Table 1",
        _ROWS["table-1"],
        figures=_schemas,
        of="pool",
        needs=_NEEDS,
        notes=(
            "the paper's three marks of creation, selection and execution are lost in our text",
        ),
    ),
    PublishedTable(
        "Dialogues, turns and calls",
        "DialogTool, Table 2",
        _ROWS["table-2"],
        figures=_sizes,
        of="pool",
        needs={**_NEEDS, "# of Roles": "nothing: a run chooses its roles"},
        notes=(
            "Training is SGD's train split; its APIs are services of all splits, and its calls the "
            "turns on which a request is written",
            "Evaluation is a sample of SGD's test split, drawn by an unknown rule: -T sample=900",
        ),
    ),
    PublishedTable(
        "The tasks of a tool's life, % but for role (0-10) and human (1-5)",
        "DialogTool, Table 3",
        _ROWS["table-3"],
        {
            "Tool Creation": "",
            "Awareness": "awareness",
            "Selection": "",
            "Execution": "execution",
            "BLEU": "bleu",
            "R.L": "rouge_l",
            "Role": "",
            "Human": "",
        },
        scale=100.0,
        shares=("bleu",),
        judged={"Role": "model"},
        figures=_life,
        needs={
            "Tool Creation": "functions to write: seal run dialogtool, without -T tasks",
            "Human": "ratings: seal annotate export RUN --out FILE, then seal annotate import FILE",
        },
        notes=(
            "BLEU is the mean over replies under NLTK's smoothing method 7, by which a verbatim "
            "reply has more than 100",
        ),
    ),
    PublishedTable(
        "Errors of awareness, % of turns, and of selection, % of decisions",
        "DialogTool, Table 4",
        _ROWS["table-4"],
        scale=100.0,
        figures=_shares(_TOLD_APART),
        notes=("Rec. is a recall of the turns with an API due, no error",),
    ),
    PublishedTable(
        "Awareness, selection and execution by turns of the dialogue, %",
        "DialogTool, Table 5",
        _ROWS["table-5"],
        scale=100.0,
        played_by="GPT-4o",
        figures=_by_turns,
        needs={"": "dialogues that are as long: seal run dialogtool, without --limit"},
        notes=("the published rows are of GPT-4o; turns are rounded up, and 40 has all above",),
    ),
    PublishedTable(
        "APIs by app",
        "DialogTool, Table 6",
        _ROWS["table-6"],
        figures=_by_app,
        of="pool",
        needs=_NEEDS,
    ),
    PublishedTable(
        "Actions of the system's turns; the paper says their type",
        "DialogTool, Table 7",
        _ROWS["table-7"],
        figures=_actions,
        of="pool",
        needs=_NEEDS,
    ),
    PublishedTable(
        "Errors of arguments where the API is right, %",
        "DialogTool, Table 8",
        _ROWS["table-8"],
        scale=100.0,
        figures=_shares(_ARGUMENTS),
    ),
    PublishedTable(
        "Each API: turns on which it is due, % selected, executed and created, unnecessary calls",
        "DialogTool, Figures 13 and 14",
        scale=100.0,
        name="figure-apis",
        figures=_figures_by_api,
    ),
)

"""A run's folder: its files, whole or cut, its scales and its tasks.

run.json             measure, system, what was asked for, digest of the cache entries that were used
tasks.jsonl          the tasks that the run plays
tasks.index          of many tasks what they were chosen by, so that they are written once
tools.jsonl          the pool
rankings.jsonl       what was retrieved, for each goal
trajectories.jsonl   what was said and done, one line a task and trial
beginnings/          large tables with which chats begin, each once
scores.jsonl         one line a task, trial, goal and metric
scores.so-far.jsonl  while the run goes on: scores of the chats that have ended, as they came
scores.npz           of a large run the same in columns, which comparisons read
explained.json       of a large run what lists tell of each chat, and why its goals failed
trajectories.index   of a large run where each chat stands, so that it is resumed at once
summary.json         means, intervals, stop reasons, usage
timings.jsonl        seconds and dates: everything that differs from run to run
timings.index        of a large run what it has spent
report.html          the report
floor/, ceiling/     the same tasks played by the baselines: run folders too
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from seal.core import JSON, DataError, Ranking, Scale, Score, Task, Tool, Trajectory, shortened
from seal.core.files import AtomicFile, content_of, no_file, opened, repair_tail
from seal.core.records import SCHEMAS, from_plain, read_records, repair_of, write_records
from seal.core.secrets import without_keys
from seal.core.text import counted, one_line
from seal.core.values import INDENTED, digest, json_bytes, json_text, json_value
from seal.evaluation.calls import CALL_HEADLINE, VERDICT
from seal.evaluation.goals import RATE, Rules, asks_calls_alone, no_call_besides
from seal.pools.benchmark import Benchmark, part_of
from seal.pools.lookup import sound_benchmark
from seal.runs.costs import Ledger, merged
from seal.runs.journal import (
    FileIndex,
    Spending,
    Timings,
    chats_asked,
    read_index,
    spending_of,
    write_index,
)
from seal.runs.scores import check_rate

# -- What the scores of a run mean, as its summary keeps it and as installed metrics declare it.

SCALES = "scales"
"""Part of summary.json and comparison.json: name of a score to how its `Scale` differs from that of
a rate; names of rates are left out."""


def scales_of(runs: Iterable[RunFolder]) -> dict[str, Scale]:
    """Return what the scores of runs mean, by name; those of other names are rates."""
    return {name: scale for run in runs for name, scale in run.scales().items()}


def plain_scales(scales: Mapping[str, Scale], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the scales of some scores as JSON (`SCALES`)."""
    rate = asdict(RATE)
    return {
        name: {part: said for part, said in asdict(scales[name]).items() if said != rate[part]}
        for name in names
        if scales.get(name, RATE) != RATE
    }


def kept_scales(content: Mapping[str, Any]) -> dict[str, Scale] | None:
    """Return the scales that a file keeps (`SCALES`); None: it is of a version without them.

    Raises:
        DataError: One of them is no scale.
    """
    found = content.get(SCALES)
    if found is None:
        return None
    return {name: from_plain(told, Scale) for name, told in found.items()}


def installed_scales(benchmark: Benchmark | None) -> dict[str, Scale]:
    """Return the scales of the metrics of every run, and of those that a benchmark brings."""
    # Of runs of older versions alone: others do not load every metric.
    from seal.evaluation import REGISTRY as METRICS
    from seal.evaluation.rule_judge import RuleJudge
    from seal.evaluation.scoring import USUAL_SCALES, Scoring, build_metrics, scales_of

    found = dict(USUAL_SCALES)
    if benchmark is not None:
        measures = part_of(benchmark, "measures")
        by_rule = Scoring(lambda task, trial: RuleJudge(), Rules())
        further = () if measures is None else measures(by_rule)
        found |= scales_of((*build_metrics(benchmark.metrics, METRICS), *further))
    return found


# -- The files of one run, in one folder that can be moved and scored alone.
#
# The docstring of this module lists them.

BASELINES = ("floor", "ceiling")
MANIFEST, _SUMMARY, _TOOLS = "run.json", "summary.json", "tools.jsonl"
FILES = frozenset(
    {
        *(MANIFEST, _SUMMARY, _TOOLS, "tasks.jsonl", "tasks.index", "rankings.jsonl"),
        *(
            "trajectories.jsonl",
            "trajectories.index",
            "beginnings",
            "live",
            "scores.jsonl",
            "scores.npz",
        ),
        *("scores.so-far.jsonl", "explained.json", "timings.jsonl", "timings.index", "report.html"),
    }
)
"""What playing writes again into a folder."""
REFUSED = "refused"
"""Part of run.json: model to what was changed in its requests, as its server had refused them."""
TIMINGS = "timings.jsonl"
NAMED = "named"
"""Part of run.json: model to what answers called it, where one called it otherwise than asked."""
GOLD, CALLS = "gold", "calls"
"""Part of run.json, and its value where the gold of every task is calls and nothing else."""
MEASURED = "measured"
"""Part of summary.json: how many `tasks` its figures are of, and the `digest` of their ids."""
LINES = "lines"
"""Part of summary.json: file to how many lines it had when the run was scored."""
SILENT = "silent_roles"
"""Part of summary.json: the roles of a chosen seat or model that spoke in no chat."""
FAILED_GOLD = "failed_gold"
"""Part of summary.json: gold call with its task and error to how often it failed when played."""
_TASK = b'{"schema":"%b","id":"' % SCHEMAS[Task].encode()
"""Begins a line of a task, as it is written."""
_OBJECT, _LIST, _COUNT, _TEXT = (dict,), (list,), (int,), (str,)
_NUMBER = (int, float, type(None))
_SAID = {
    _OBJECT: "an object",
    _LIST: "a list",
    _COUNT: "a whole number",
    _TEXT: "a text",
    _NUMBER: "a number",
}
_PARTS: Mapping[str, Mapping[tuple[type, ...], tuple[str, ...]]] = {
    MANIFEST: {
        _OBJECT: (
            *("measure", "measure.judge", "measure.sandbox", "system", "system.versions"),
            *("origins", "skipped", REFUSED, NAMED),
        ),
        _LIST: ("measure.metrics", "warnings", "benchmark.headline"),
        _NUMBER: ("measure.trials",),
        _TEXT: ("benchmark.headline.*",),
    },
    _SUMMARY: {
        _OBJECT: (
            *("metrics", "usage", "stop_reasons", "error_reasons", "skipped_reasons", "crashes"),
            *(
                LINES,
                MEASURED,
                "truncated",
                "empty_answers",
                "calls_in_text",
                "repaired",
                "unknown_ends",
                "unrecorded",
                "unserved",
            ),
            *(FAILED_GOLD, SCALES),
        ),
        _LIST: ("usage.roles", SILENT),
        _COUNT: (
            *(
                "tasks",
                "errors",
                "skipped",
                "spoilt",
                "starred",
                "unfinished",
                "unanswered",
                "uncounted",
            ),
            *(f"{LINES}.*", "groups_left_out"),
        ),
        _NUMBER: ("usage.tokens_in", "usage.tokens_out"),
    },
}
"""File to the types of its parts, wherever they are there; `*` is each item of a list, or each
value of an object."""
_NEEDED = {MANIFEST: ("measure", "system"), _SUMMARY: ("metrics",)}
"""File to the parts without which it tells of no run."""
_FIGURES = frozenset(
    {"mean", "low", "high", "n", "undefined", "micro", "with_errors", "unsure", "deviation"}
)
"""Parts of a metric's entry that are numbers or null."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths and contents of a run. What run.json and summary.json hold is read once a version."""

    path: Path
    _read: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Name of a file to the version that was read, and to what it held."""
    _inner: dict[str, RunFolder] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Name to a run folder in this one."""

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Return the folder of an existing run.

        Raises:
            DataError: There is no run in it.
        """
        run = cls(Path(path))
        if not run.is_begun:
            raise DataError(
                f"{path} is no run folder: it has no run.json; "
                "give the path that `seal run` printed"
            )
        return run

    @property
    def is_begun(self) -> bool:
        """True where the folder holds a run."""
        return (self.path / MANIFEST).is_file()

    @property
    def is_scored(self) -> bool:
        """True where it has a summary."""
        return (self.path / _SUMMARY).is_file()

    @property
    def trajectories_path(self) -> Path:
        """File of the trajectories."""
        return self.path / "trajectories.jsonl"

    @property
    def scores_path(self) -> Path:
        """File of the scores."""
        return self.path / "scores.jsonl"

    @property
    def report_path(self) -> Path:
        """The HTML report."""
        return self.path / "report.html"

    def manifest(self) -> Mapping[str, Any]:
        """Return run.json: {measure, system, ...}. Others have the same object: it is read alone.

        Raises:
            DataError: It is not there, or damaged.
        """
        return self._json(MANIFEST)

    @property
    def pool_name(self) -> str:
        """Name of the benchmark that was played; empty where run.json does not say it."""
        return str((self.manifest().get("measure") or {}).get("pool") or "")

    @property
    def model(self) -> str:
        """Name of the model that it was played with; empty where run.json does not say it."""
        told = (self.manifest().get("system") or {}).get("model")
        return str((told.get("model") if isinstance(told, dict) else told) or "")

    @property
    def offered(self) -> int | None:
        """How many tools its retriever offered a chat; None where run.json does not say it."""
        told = (self.manifest().get("system") or {}).get("top_k")
        return told if type(told) is int and told > 0 else None

    def declared(self) -> dict[str, Any]:
        """Return what its benchmark declares for reports: metrics, headline, success, published.

        Of gold that is calls and nothing else, headline and success follow where it declares none.
        Empty where the benchmark declares nothing.

        Raises:
            DataError: run.json is not there, or damaged.
        """
        told = self.manifest()
        usual = {"headline": CALL_HEADLINE, "success": VERDICT} if told.get(GOLD) == CALLS else {}
        declared = told.get("benchmark")
        return {**usual, **declared} if isinstance(declared, dict) else usual

    def benchmark(self) -> Benchmark | None:
        """Return the benchmark that was played; None where it is not installed, or broken.

        Raises:
            DataError: run.json is not there, or damaged.
        """
        measured = self.manifest().get("measure") or {}
        name = self.declared().get("name") or measured.get("pool")
        return sound_benchmark(name) if isinstance(name, str) else None

    def summary(self) -> Mapping[str, Any]:
        """Return summary.json: {tasks, errors, skipped, unfinished, stop_reasons, metrics, usage}.

        Others have the same object: it is read alone.

        `scales` are those that `scales()` reads.
        `unfinished` counts the chats, one a task and trial, that are neither there nor skipped.
        `lines` are those that `lines()` counted then.

        Raises:
            DataError: The run has not been scored, or the file is damaged.
        """
        return self._json(_SUMMARY)

    def scales(self) -> Mapping[str, Scale]:
        """Return what its scores mean, by name; those of other names are rates.

        A run that older versions scored does not keep it; then the installed metrics say it.

        Raises:
            DataError: The file is damaged.
        """
        scored = (self.path / _SUMMARY).is_file()
        kept = kept_scales(self.summary()) if scored else None
        return installed_scales(self.benchmark()) if kept is None else kept

    def lines(self) -> dict[str, int]:
        """Return how many whole lines tools, tasks, chats and scores have; those that are there.

        Raises:
            DataError: Something else stands in the place of one.
        """
        given = (self.path / _TOOLS, self.path / "tasks.jsonl")
        paths = (*given, self.trajectories_path, self.scores_path)
        there = [path for path in paths if path.exists()]
        for path in there:
            if not path.is_file():
                anew = f"; or remove it, and score the run with `seal score {self.path}`"
                raise DataError(no_file(path) + (anew if path == self.scores_path else ""))
        return {path.name: _lines_of(path) for path in there}

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks that the run plays."""
        return read_records(self.path / "tasks.jsonl", Task)

    def task_ids(self) -> Iterator[str]:
        """Yield the ids of these tasks.

        Raises:
            DataError: tasks.jsonl is no file.
        """
        path = self.path / "tasks.jsonl"
        if not path.is_file():
            raise DataError(no_file(path))
        with opened(path) as lines:
            yield from map(_id_of, lines)

    def tasks_of(self, ids: Container[str]) -> Iterator[Task]:
        """Yield the tasks of some ids; the lines of others are not decoded."""
        return read_records(self.path / "tasks.jsonl", Task, lambda line: _id_of(line) in ids)

    def tools(self) -> dict[str, Tool]:
        """Return the pool by id."""
        return {tool.id: tool for tool in read_records(self.path / _TOOLS, Tool)}

    def rankings(self) -> Iterator[Ranking]:
        """Yield what was retrieved."""
        return read_records(self.path / "rankings.jsonl", Ranking)

    def trajectories(self) -> Iterator[Trajectory]:
        """Yield what was said and done; of a running run, as far as it is written."""
        return read_records(self.trajectories_path, Trajectory)

    def chats(self) -> Iterator[tuple[Task, Trajectory]]:
        """Yield what was said and done with its task; chats of tasks that are gone are left out."""
        tasks = {task.id: task for task in self.tasks()}
        for trajectory in self.trajectories():
            if trajectory.task_id in tasks:
                yield tasks[trajectory.task_id], trajectory

    def scores(self) -> Iterator[Score]:
        """Yield the scores.

        Raises:
            DataError: A line is none, or has a value that its metric cannot have.
        """
        rates = self.rates()
        for score in read_records(self.scores_path, Score):
            try:
                check_rate(score, rates)
            except DataError as error:
                told = f"{self.scores_path}: task {shortened(score.task_id)}: {error}"
                raise DataError(f"{told}; {repair_of(self.scores_path)}") from error
            yield score

    def rates(self) -> frozenset[str]:
        """Return the metrics whose scores are said to lie in [0, 1]; none where nothing says it.

        Raises:
            DataError: The file that says it is damaged.
        """
        summary = self.summary() if (self.path / _SUMMARY).is_file() else {}
        kept = kept_scales(summary) or {}
        told = summary.get("metrics") or () if SCALES in summary else ()
        return frozenset(name for name in told if kept.get(name, RATE).bounded)

    def baselines(self) -> dict[str, RunFolder]:
        """Return the floor's and the ceiling's runs, where they were played."""
        runs = {name: self.inner(name) for name in BASELINES}
        return {name: run for name, run in runs.items() if run.is_scored}

    def inner(self, name: str) -> RunFolder:
        """Return a run folder in this one, always the same object, whether it is there or not."""
        return self._inner.setdefault(name, RunFolder(self.path / name))

    def write_json(self, name: str, value: Any) -> None:
        """Write a file of indented JSON with sorted keys, whole or not at all."""
        written = without_keys(json_bytes(value, INDENTED | orjson.OPT_SORT_KEYS))
        with AtomicFile(self.path / name) as out:
            out.write(written)
            out.flush()
            version = _version_of(os.fstat(out.fileno()))
        if name in _NEEDED:
            self._read[name] = (version, json_value(written))

    def _json(self, name: str) -> dict[str, Any]:
        file = self.path / name
        if not file.is_file():
            again = f"score the run with `seal score {self.path}`"
            raise DataError(
                f"{self.path} has no {name}: {again if name == _SUMMARY else self._repair(name)}"
            )
        try:
            version = _version_of(file.stat())
            if name in self._read and self._read[name][0] == version:
                return self._read[name][1]
            value = json_value(content_of(file))
        except OSError as error:
            raise DataError(f"{file} cannot be read: {error.strerror}") from error
        except orjson.JSONDecodeError as error:
            raise DataError(f"{file} is no JSON: {error}; {self._repair(name)}") from error
        for place, part, kinds in _typed(name, value):
            if got := _misfit(part, kinds):
                raise DataError(
                    f"{file}: expected {_SAID[kinds]}{place}, got {got}; " + self._repair(name)
                )
        for part in _NEEDED[name]:
            if part not in value:
                raise DataError(f"{file} tells of no run: it lacks `{part}`; {self._repair(name)}")
        parts: dict[str, Any] = value
        self._read[name] = (version, parts)
        return parts

    def _repair(self, name: str) -> str:
        if name == _SUMMARY:
            return f"write it anew: `seal score {self.path}`"
        return "bring back the file that `seal run` wrote, or play the run again"


def _version_of(told: os.stat_result) -> tuple[int, ...]:
    """Return what differs where a file was written anew."""
    return told.st_ino, told.st_size, told.st_mtime_ns


def _id_of(line: bytes) -> str:
    """Return the id of a task's line, of which no more is read where it begins as we write it."""
    head, found, _ = line.removeprefix(_TASK).partition(b'",')
    if found and b"\\" not in head and line.startswith(_TASK):
        return head.decode()
    return str(json_value(line)["id"])


def _lines_of(path: Path) -> int:
    import numpy as np

    with opened(path) as file:
        blocks = (np.frombuffer(each, np.uint8) for each in iter(lambda: file.read(1 << 20), b""))
        return sum(int(np.count_nonzero(block == ord("\n"))) for block in blocks)


def _typed(name: str, value: Any) -> Iterator[tuple[str, Any, tuple[type, ...]]]:
    """Yield each part of known type, the file first, with its place; each is checked in turn."""
    yield "", value, _OBJECT
    for kinds, parts in _PARTS[name].items():
        for part in parts:
            yield from ((f" `{part}`", it, kinds) for it in _standing(value, part.split(".")))
    if name == _SUMMARY:
        yield from _typed_entries("metrics", value.get("metrics", {}))


def _misfit(part: Any, kinds: tuple[type, ...]) -> str:
    """Return what a part is instead of one of these types; empty where it is one."""
    if type(part) not in kinds:
        return type(part).__name__
    too_large = 2**63 if kinds == _COUNT else 2**1023  # near the greatest of floats
    return "one that is too large" if type(part) is int and abs(part) >= too_large else ""


def _standing(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield what stands at a path; nothing where it is not there."""
    if not path:
        yield value
    elif path[0] == "*" and isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _standing(item, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _standing(value[path[0]], path[1:])


def _typed_entries(
    place: str, entries: Mapping[str, Any]
) -> Iterator[tuple[str, Any, tuple[type, ...]]]:
    """Yield the entries of metrics, or of the groups of one, and their parts of known type."""
    for name, entry in entries.items():
        here = f"{place}.{name}"
        yield f" `{here}`", entry, _OBJECT
        for part in _FIGURES & entry.keys():
            if _misfit(entry[part], _NUMBER):  # to name each of thousands takes time
                yield f" `{here}.{part}`", entry[part], _NUMBER
        if (reasons := entry.get("reasons")) is not None:
            yield f" `{here}.reasons`", reasons, _OBJECT
            yield from ((f" `{here}.reasons`", count, _NUMBER) for count in reasons.values())
        if (groups := entry.get("by")) is not None:
            yield f" `{here}.by`", groups, _OBJECT
            yield from _typed_entries(f"{here}.by", groups)


def all_crashed(summary: Mapping[str, Any]) -> bool:
    """Tell whether the agent crashed in every chat of a run."""
    return set(summary.get("stop_reasons") or ()) == {"crashed"}


def exit_code_of(summary: Mapping[str, Any]) -> int:
    """Return 0, or 1 where a scored run has errors or nothing but crashes."""
    return int(bool(summary.get("errors")) or all_crashed(summary))


HUMAN = "human.json"
"""File of a run folder that holds the ratings."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """What raters say of a run."""

    mean: float | None
    """Over items, of each item's mean over raters; None: nothing was rated."""
    alpha: float | None
    """Krippendorff's alpha; None where fewer than two raters share an item, or all ratings are one.
    """
    items: int
    raters: int
    ratings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Item to rater to rating."""


def read_human(run: RunFolder) -> Ratings | None:
    """Return what raters say of a run; None where it was not rated.

    Raises:
        DataError: Its `human.json` is damaged.
    """
    path = run.path / HUMAN
    if not path.is_file():
        return None
    try:
        return Ratings(**json_value(content_of(path)))
    except (TypeError, orjson.JSONDecodeError) as error:
        raise DataError(f"{path}: {error}; delete it and import the ratings again") from error


def human_summary(run: RunFolder) -> dict[str, JSON]:
    """Return what the summary says of ratings; empty where there are none."""
    human = read_human(run)
    if human is None:
        return {}
    return {"human": {name: value for name, value in asdict(human).items() if name != "ratings"}}


# -- The files of a run held against each other, so that no file that was cut is measured.
#
# Tasks and chats of a run only grow in number: it may be told to play more, never fewer. So what
# summary.json or one file tells of, the others must have. What a run in progress has not played or
# scored yet is no damage. Scores are summed up at once: there are as many as the summary tells of.


def check_whole(run: RunFolder) -> None:
    """Make sure that a scored run and its baselines have every line that was scored.

    Raises:
        DataError: A file has fewer, or there are more scores; names it, both numbers and the
            repair.
    """
    again = f"score the run again with `seal score {run.path}`"
    for part in (run, *run.baselines().values()):
        scores = part.scores_path.name
        for name, (found, expected) in _lines_told(part).items():
            if found < expected:
                repair = again if name == scores else to_resume(run)
                raise _cut(part.path / name, found, expected, repair)
            if name == scores and found > expected:
                raise DataError(
                    f"{part.path / _SUMMARY} is not of these scores: it tells of "
                    f"{counted(expected, 'line')}, {name} has {found}; {again}"
                )


def check_tools(run: RunFolder) -> None:
    """Make sure that tools.jsonl has every line that it had when the run was scored.

    Raises:
        DataError: It has fewer; names both numbers and the repair.
    """
    found, expected = _lines_told(run).get(_TOOLS, (0, 0))
    if found < expected:
        raise _cut(run.path / _TOOLS, found, expected, to_resume(run))


def _lines_told(run: RunFolder) -> dict[str, tuple[int, int]]:
    """Return how many lines each file has that is there, and how many summary.json tells of."""
    told, found = sound_summary(run).get(LINES), run.lines()
    known = told.items() if isinstance(told, dict) else ()
    return {name: (found[name], expected) for name, expected in known if name in found}


def _cut(path: Path, found: int, expected: int, repair: str) -> DataError:
    return DataError(
        f"{path} was cut: it has {found} of the {counted(expected, 'line')} that summary.json "
        f"tells of; put the file back, or {repair}"
    )


def sound_summary(run: RunFolder) -> Mapping[str, Any]:
    """Return the summary; empty where the run has none or a damaged one, which scoring replaces."""
    try:
        return run.summary()
    except DataError:
        return {}


def to_resume(run: RunFolder) -> str:
    """Return how a run is gone on with, in words."""
    return f"go on by the run's own command with --resume --out {run.path}"


# -- The tasks that a run plays, as its folder holds them.


def write_tasks(path: Path, tasks: Iterable[Task], chosen_by: JSON) -> bool:
    """Write a run's tasks, unless a large file holds those that were chosen by the same before.

    Args:
        path: The file.
        tasks: Read only where they are to be written.
        chosen_by: All that decides which tasks these are.

    Returns:
        Whether the gold of every task is calls and nothing else.
    """
    chosen = digest(chosen_by)
    known = read_index(path).known
    if known.get("chosen") == chosen and known.get("content") == _digest_of(path):
        return bool(known.get("calls"))
    gold = _Gold()
    count = write_records(path, map(gold.seen, tasks))
    told = {"chosen": chosen, "content": _digest_of(path), "calls": gold.is_calls}
    write_index(path, FileIndex(path.stat().st_size, count, told))
    return gold.is_calls


def _digest_of(path: Path) -> str:
    with opened(path) as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


class _Gold:
    """What the gold of tasks asks for, as they pass by."""

    def __init__(self) -> None:
        self.is_calls = False
        """Calls and nothing else, in every task."""
        self._besides = False

    def seen(self, task: Task) -> Task:
        """Return a task that is counted in."""
        self._besides = self._besides or not all(map(no_call_besides, task.goals))
        called = any(map(asks_calls_alone, task.goals))
        self.is_calls = not self._besides and (self.is_calls or called)
        return task


# -- What a run has spent, with its judges, as its timings say.


def note_judging(folder: RunFolder, asked: Ledger) -> list[dict[str, Any]]:
    """Write what judges were asked to the run's timings, and return the usage by role.

    Args:
        folder: Of the run.
        asked: By judges, while the run was scored.

    Returns:
        {role, model, requests, tokens_in, tokens_out, estimated} for each role that used tokens,
        kept answers too, so that a run played from them has the same; of chats that were played
        again the last counts, and of judges this scoring. What was spent, the timings say.
    """
    path = folder.path / TIMINGS
    if asked:
        with closing(Timings(path)) as timings:
            timings.add_judging(asked)
    total = merged([chats_asked(path), asked])
    return [
        {
            "role": role,
            "model": model,
            "requests": spent.requests + spent.kept,
            "tokens_in": spent.tokens_in + spent.kept_in,
            "tokens_out": spent.tokens_out + spent.kept_out,
            "estimated": spent.estimated,
        }
        for (role, model), spent in total.items()
        if spent.tokens or spent.kept_in or spent.kept_out
    ]


def spent_on(folder: RunFolder) -> Spending:
    """Return what a run spent until now, its baselines with it; torn last lines are cut off."""
    total = Spending()
    for path in (folder.path, *(folder.path / name for name in BASELINES)):
        timings = path / TIMINGS
        if timings.is_file():
            repair_tail(timings)
            spent = spending_of(timings)
            total.add(spent.tokens, spent.asked, spent.lines)
    return total


# -- What differs between the systems of runs.

_DIGESTS = ("versions", "prompts")
"""Parts of a system that no setting names, or that nobody reads."""


def varied_settings(
    runs: Mapping[str, RunFolder], of: Literal["system", "measure"] = "system"
) -> dict[str, dict[str, str]]:
    """Return the settings that differ: name to run to value, as text; `none` where there is none.

    A part of a setting is named `roles.checker`. Of settings with the same values the first counts.

    Args:
        runs: By name.
        of: The systems, or what was measured.
    """
    systems = {name: dict(_parts(run.manifest().get(of) or {})) for name, run in runs.items()}
    found: dict[str, dict[str, str]] = {}
    seen: list[list[Any]] = []
    for setting in dict.fromkeys(name for system in systems.values() for name in system):
        values = [system.get(setting) for system in systems.values()]
        bare = [v.partition("#")[0] if isinstance(v, str) else v for v in values]
        if len({*map(json_text, values)}) > 1 and bare not in seen:
            seen.append(bare)
            found[setting] = dict(zip(systems, _told_apart(values, bare), strict=True))
    return found


def _parts(system: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a system, and the parts of those that have some."""
    for name, value in system.items():
        if name in _DIGESTS:
            continue
        if isinstance(value, Mapping):
            yield from ((name if part == name else f"{name}.{part}", value[part]) for part in value)
        else:
            yield name, value


_SHORT, _TAIL = 60, 24
"""Characters of a value, and of the end of one that begins as another does."""


def _told_apart(values: Sequence[Any], bare: Sequence[Any]) -> list[str]:
    """Return values in short, own code by its name; those that look alike by their ends, too."""
    whole, short = (
        [one if isinstance(one, str) else "" if one is None else json_text(one) for one in some]
        for some in (values, bare)
    )
    shown = [one_line(one, _SHORT) or "none" for one in short]
    if len({*shown}) == len({*whole}):
        return shown
    ends = (f" ... {one_line(one[-_TAIL:], _TAIL)}" if len(one) > _SHORT else "" for one in whole)
    return [f"{one_line(one, _SHORT)}{end}" or "none" for one, end in zip(whole, ends, strict=True)]


def varied_text(varied: Mapping[str, Mapping[str, str]]) -> str:
    """Return what was varied in one line: `varied: top_k 3 (a), 5 (b)`; empty: nothing."""
    told = [
        f"{setting} {', '.join(f'{value} ({name})' for name, value in values.items())}"
        for setting, values in varied.items()
    ]
    return f"varied: {'; '.join(told)}" if told else ""

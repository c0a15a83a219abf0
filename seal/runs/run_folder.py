"""The files of one run, in one folder that can be moved and scored alone.

run.json             measure, system, what was asked for, digest of the cache entries that were used
tasks.jsonl          the tasks that the run plays
tasks.index          of many tasks what they were chosen by, so that they are written once
tools.jsonl          the pool
rankings.jsonl       what was retrieved, for each goal
trajectories.jsonl   what was said and done, one line a task and trial
scores.jsonl         one line a task, trial, goal and metric
scores.npz           of a large run the same in columns, which comparisons read
trajectories.index   of a large run where each chat stands, so that it is resumed at once
summary.json         means, intervals, stop reasons, usage
timings.jsonl        seconds and dates: everything that differs from run to run
timings.index        of a large run what it has spent
report.html          the report
floor/, ceiling/     the same tasks played by the baselines: run folders too
corrected/           the same chats scored by corrected gold: a run folder too
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

import orjson

from seal.core import JSON, DataError, Ranking, Scale, Score, Step, Task, Tool, Trajectory
from seal.core.canonical import digest
from seal.core.plain import INDENTED, json_bytes
from seal.core.records import SCHEMAS, AtomicFile, append_line, close_file, from_plain, read_records
from seal.core.secrets import without_keys
from seal.evaluation.calls import CALL_HEADLINE, VERDICT
from seal.pools.benchmark import Benchmark
from seal.pools.lookup import sound_benchmark
from seal.runs.lines import LineTail
from seal.runs.scales import SCALES, installed_scales, kept_scales

BASELINES = ("floor", "ceiling")
CORRECTED = "corrected"
MANIFEST, _SUMMARY = "run.json", "summary.json"
REFUSED = "refused"
"""Part of run.json: model to what was changed in its requests, as its server had refused them."""
GOLD, CALLS = "gold", "calls"
"""Part of run.json, and its value where the gold of every task is calls and nothing else."""
COLUMNS = "scores.npz"
LARGE = 1_000
"""Scored goals from which on a run has this file."""
LINES = "lines"
"""Part of summary.json: file to how many lines it had when the run was scored."""
FAILED_GOLD = "failed_gold"
"""Part of summary.json: gold call with its task and error to how often it failed when played."""
Pair = tuple[str, int]
"""Task id and trial."""
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
            *("origins", "skipped", REFUSED),
        ),
        _LIST: ("measure.metrics", "warnings", "benchmark.headline"),
        _NUMBER: ("measure.trials",),
        _TEXT: ("benchmark.headline.*",),
    },
    _SUMMARY: {
        _OBJECT: (
            *("metrics", "usage", "stop_reasons", "error_reasons", "skipped_reasons", "crashes"),
            *(LINES, "truncated", "unrecorded", FAILED_GOLD, SCALES),
        ),
        _LIST: ("usage.roles",),
        _COUNT: ("tasks", "errors", "skipped", "spoilt", "unfinished"),
        _NUMBER: ("usage.tokens_in", "usage.tokens_out"),
    },
}
"""File to the types of its parts, wherever they are there; `*` is each item of a list."""
_NEEDED = {MANIFEST: ("measure", "system"), _SUMMARY: ("metrics",)}
"""File to the parts without which it tells of no run."""
_FIGURES = frozenset(
    {"mean", "low", "high", "n", "undefined", "micro", "with_errors", "unsure", "deviation"}
)
"""Parts of a metric's entry that are numbers or null."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths and contents of a run."""

    path: Path

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

    def manifest(self) -> dict[str, Any]:
        """Return run.json: {measure, system, ...}.

        Raises:
            DataError: It is not there, or damaged.
        """
        return self._json(MANIFEST)

    @property
    def pool_name(self) -> str:
        """Name of the benchmark that was played; empty where run.json does not say it."""
        return str((self.manifest().get("measure") or {}).get("pool") or "")

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

    def summary(self) -> dict[str, Any]:
        """Return summary.json: {tasks, errors, skipped, unfinished, stop_reasons, metrics, usage}.

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
        """Return how many whole lines tasks, trajectories and scores have; those that are there."""
        paths = (self.path / "tasks.jsonl", self.trajectories_path, self.scores_path)
        return {path.name: _lines_of(path) for path in paths if path.is_file()}

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks that the run plays."""
        return read_records(self.path / "tasks.jsonl", Task)

    def task_ids(self) -> Iterator[str]:
        """Yield the ids of these tasks.

        Raises:
            DataError: tasks.jsonl is no file.
        """
        path = self.path / "tasks.jsonl"
        if not path.is_file():  # a pipe would be waited for
            raise DataError(f"no file {path}")
        with path.open("rb") as lines:
            yield from map(_id_of, lines)

    def tasks_of(self, ids: Container[str]) -> Iterator[Task]:
        """Yield the tasks of some ids; the lines of others are not decoded."""
        return read_records(self.path / "tasks.jsonl", Task, lambda line: _id_of(line) in ids)

    def tools(self) -> dict[str, Tool]:
        """Return the pool by id."""
        return {tool.id: tool for tool in read_records(self.path / "tools.jsonl", Tool)}

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
        """Yield the scores."""
        return read_records(self.scores_path, Score)

    def baselines(self) -> dict[str, RunFolder]:
        """Return the floor's and the ceiling's runs, where they were played."""
        runs = {name: RunFolder(self.path / name) for name in BASELINES}
        return {name: run for name, run in runs.items() if run.is_scored}

    def corrected(self) -> RunFolder | None:
        """Return the same chats as corrected gold scores them; None: nobody asked for that."""
        folder = RunFolder(self.path / CORRECTED)
        return folder if folder.is_scored else None

    def write_json(self, name: str, value: Any) -> None:
        """Write a file of indented JSON with sorted keys, whole or not at all."""
        with AtomicFile(self.path / name) as out:
            out.write(without_keys(json_bytes(value, INDENTED | orjson.OPT_SORT_KEYS)))

    def _json(self, name: str) -> dict[str, Any]:
        file = self.path / name
        if not file.is_file():
            raise DataError(
                f"{self.path} has no {name}: score the run with `seal score {self.path}`"
            )
        try:
            value = orjson.loads(file.read_bytes())
        except OSError as error:
            raise DataError(f"{file} cannot be read: {error.strerror}") from error
        except orjson.JSONDecodeError as error:
            raise DataError(f"{file} is no JSON: {error}; {self._repair(name)}") from error
        for place, part, kinds in _typed(name, value):
            if type(part) not in kinds:
                raise DataError(
                    f"{file}: expected {_SAID[kinds]}{place}, got {type(part).__name__}; "
                    + self._repair(name)
                )
        for part in _NEEDED[name]:
            if part not in value:
                raise DataError(f"{file} tells of no run: it lacks `{part}`; {self._repair(name)}")
        parts: dict[str, Any] = value
        return parts

    def _repair(self, name: str) -> str:
        if name == _SUMMARY:
            return f"write it anew: `seal score {self.path}`"
        return "bring back the file that `seal run` wrote, or play the run again"


def _id_of(line: bytes) -> str:
    """Return the id of a task's line, of which no more is read where it begins as we write it."""
    head, found, _ = line.removeprefix(_TASK).partition(b'",')
    if found and b"\\" not in head and line.startswith(_TASK):
        return head.decode()
    return str(orjson.loads(line)["id"])


def _lines_of(path: Path) -> int:
    import numpy as np

    with path.open("rb") as file:
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


def _standing(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield what stands at a path; nothing where it is not there."""
    if not path:
        yield value
    elif path[0] == "*" and isinstance(value, list):
        for item in value:
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
            if type(entry[part]) not in _NUMBER:  # to name each of thousands takes time
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


class LiveFile:
    """`RUN/live/DIGEST.PID.jsonl`, each line {task_id, trial, step}; made when a step comes."""

    def __init__(self, run: Path, task_id: str, trial: int) -> None:
        self._path = run / "live" / f"{digest([task_id, trial])[:16]}.{os.getpid()}.jsonl"
        self._task_id = task_id
        self._trial = trial
        self._file: IO[bytes] | None = None

    def write(self, step: Step) -> None:
        """Append one step; whoever follows the run sees it at once."""
        if self._file is None:
            with suppress(FileNotFoundError):  # an agent removes the folder
                if not self._path.parent.is_dir():
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("wb")
        if self._file is None:
            return
        line = {"task_id": self._task_id, "trial": self._trial, "step": step}
        append_line(self._file, without_keys(json_bytes(line)) + b"\n")

    def __enter__(self) -> LiveFile:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            close_file(self._file)
            self._path.unlink(missing_ok=True)


def in_flight(run: Path, pid: int | Literal["*"] = "*") -> dict[Pair, tuple[Step, ...]]:
    """Return task and trial of the chats that a process plays, or played when it died.

    Args:
        run: The folder.
        pid: Of the process; `*`: of any.

    Returns:
        The steps of each chat until now.
    """
    found = {}
    for path in (run / "live").glob(f"*.{pid}.jsonl"):
        if told := list(live_steps(LineTail(path))):
            found[told[0][0]] = tuple(step for _, step in told)
    return dict(sorted(found.items()))


def live_steps(lines: LineTail) -> Iterator[tuple[Pair, Step]]:
    """Yield the steps that were added to the file of a running chat, with its task and trial.

    Raises:
        DataError: A line is none; the text names it.
    """
    for line in lines.read():
        try:
            fields = orjson.loads(line)
            step = from_plain(fields["step"], Step)
            yield (str(fields["task_id"]), int(fields["trial"])), step
        except (ValueError, KeyError, TypeError, DataError) as error:
            raise DataError(
                f"{lines}: expected an object with task_id, trial and step, got {error!r:.200}"
            ) from error


def chats_told(chats: Iterable[Pair]) -> str:
    """Return tasks and trials in words."""
    return " and ".join(f"task {task_id}, trial {trial}" for task_id, trial in chats)


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
        return Ratings(**orjson.loads(path.read_bytes()))
    except (TypeError, orjson.JSONDecodeError) as error:
        raise DataError(f"{path}: {error}; delete it and import the ratings again") from error


def human_summary(run: RunFolder) -> dict[str, JSON]:
    """Return what the summary says of ratings; empty where there are none."""
    human = read_human(run)
    if human is None:
        return {}
    return {"human": {name: value for name, value in asdict(human).items() if name != "ratings"}}

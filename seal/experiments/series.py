"""Several runs that make one experiment: its folder, its files, and one budget."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from seal.core import JSON, DataError, Task, Tool, UsageError
from seal.core.files import LOCK, AtomicFile, Lock, content_of, is_held, opened, whole_name
from seal.core.records import to_plain
from seal.core.secrets import without_keys
from seal.core.text import counted
from seal.core.values import INDENTED, json_bytes, json_value, well_formed
from seal.pools.importer import Notes, WorldFile
from seal.pools.imports import write_pool
from seal.pools.lookup import world_files_of
from seal.pools.pool import StoredPool
from seal.runs.costs import budget_of, within
from seal.runs.engine import Engine
from seal.runs.identity import check_resumable, measure_of, system_of
from seal.runs.play import Progress, run
from seal.runs.run import BASELINES, RunFolder, spent_on
from seal.runs.settings import RunSettings

# -- Folders that results are written to, and their JSON files.


def check_results_folder(out: Path, known: Collection[str], what: str) -> None:
    """Refuse a folder that holds other things; earlier results in it will be replaced.

    Args:
        out: The folder; it need not exist.
        known: Names of the files and folders that will be written.
        what: What these are, such as `a comparison`.

    Raises:
        UsageError: `out` is a file, or holds something else.
    """
    if others := sorted(_names(out) - {*known}):
        raise UsageError(
            f"{out} holds something else than {what} (such as {others[0]!r}); give --out a new "
            "folder"
        )


@dataclass(frozen=True, slots=True)
class ExperimentFile:
    """The JSON file by which SEAL recognises the folder of an experiment."""

    name: str
    what: str
    """Kind of the experiment, such as `sweep`."""
    parts: tuple[str, ...]
    """Fields that the file must have."""
    telling: tuple[str, ...]
    """Fields, each an object or a list, that must be equal for the experiment to be resumed."""
    growing: tuple[str, ...] = ()
    """Keys of these objects whose number may be larger when the experiment is resumed."""

    def check_folder(self, out: Path, resume: bool) -> None:
        """Make sure that an experiment may begin or go on in a folder, which need not exist.

        Raises:
            UsageError: `out` is a file, holds an experiment and `resume` is False, or holds other
                things.
        """
        names, what = _names(out), self.what
        if self.name in names:
            if not resume:
                article = "an" if what[0] in "aeiou" else "a"
                raise UsageError(
                    f"{out} holds {article} {what} already; add --resume, or give another --out"
                )
        elif "run.json" in names:
            raise UsageError(f"{out} holds a run and no {what}; give --out a new folder")
        elif others := sorted(names - {".lock"}):
            raise UsageError(
                f"{out} is not empty and holds no {what} (but {others[0]!r}); give --out a new "
                "folder"
            )

    @contextmanager
    def opened(self, out: Path, content: Mapping[str, Any], resume: bool) -> Iterator[bool]:
        """Lock a folder for this process, and write the experiment's file if it is not there.

        Args:
            out: The folder; it is made if it is missing.
            content: Content of the file of a new experiment.
            resume: Whether an experiment in the folder may go on.

        Yields:
            Whether the folder held the experiment already.

        Raises:
            UsageError: The folder holds something else, or an experiment of other settings; the
                text names each part that differs. Or another process writes into it.
            DataError: The file is malformed.
        """
        if not is_held(out):
            self.check_folder(out, resume)
        made = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
        try:
            with Lock(out):
                try:
                    self.check_folder(out, resume)  # again: another process may have been faster
                    held = (out / self.name).is_file()
                    if held:
                        self._check_same(out, to_plain(content))
                    else:
                        write_json(content, out / self.name)
                    yield held
                finally:
                    (out / LOCK).unlink()
        finally:
            if made:
                with suppress(OSError):  # it holds an experiment
                    out.rmdir()

    def _check_same(self, out: Path, content: Mapping[str, Any]) -> None:
        before = self.read(out / self.name)
        differing = []
        for part in self.telling:
            was, now = (
                told if isinstance(told, dict) else dict(enumerate(told))
                for told in (before[part], content[part])
            )
            for key in {**was, **now}:
                old, new = was.get(key), now.get(key)
                grown = key in self.growing and (
                    new is None or (isinstance(old, int) and new >= old)
                )
                is_former = new is None and old == []  # of an earlier version, left empty
                if old != new and not grown and not is_former:
                    differing.append(f"{part}.{key}: was {old!r}, is {new!r}")
        if differing:
            raise UsageError(
                f"{out} holds another {self.what}; " + "; ".join(differing) + ". "
                "Resume with the settings of then, or give another --out"
            )

    def read(self, file: Path) -> dict[str, Any]:
        """Return the content of the file.

        Raises:
            DataError: The file is not that of such an experiment.
        """
        return read_json(file, self.parts, self.what)


def _names(out: Path) -> set[str]:
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give --out a folder")
    names = {entry.name for entry in out.iterdir()} if out.is_dir() else set()
    return {name for name in names if whole_name(name) == name}


def write_json(content: JSON, path: Path) -> None:
    """Write a file of indented JSON, without keys of services; it appears when it is whole."""
    with AtomicFile(path) as file:
        file.write(without_keys(json_bytes(content, INDENTED)))


def write_derived(
    origin: StoredPool, folder: Path, tools: Iterable[Tool], tasks: Iterable[Task], **facts: JSON
) -> None:
    """Write a part of a pool as a pool folder, with the files of its worlds.

    Args:
        origin: The pool.
        folder: Where to.
        tools: Of the part.
        tasks: Of the part.
        **facts: What import.json says of where it is from.
    """

    def records(source: Any, notes: Notes, **_: Any) -> Iterator[Tool | Task | WorldFile]:
        notes.lacks.update(origin.report.get("lacks") or ())
        notes.facts |= facts
        yield from tools
        yield from tasks
        yield from world_files_of(origin.folder)

    write_pool(origin.made_of, records, None, folder)


FIGURES = ("metric", "value", "deviation", "low", "high", "n")
"""Columns of a figure in a long form."""


@dataclass(frozen=True, slots=True)
class LongForm:
    """The figures of an experiment as a table, one a row."""

    name: str
    """Of its files, without their ending."""
    columns: tuple[str, ...]
    rows: Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]
    """From the content of the experiment's file; None: no value."""

    def text(self, content: Mapping[str, Any]) -> str:
        """Return it as CSV with a header; None is empty."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows(content))
        return well_formed(text.getvalue())

    def write(self, content: Mapping[str, Any], out: Path) -> None:
        """Write it as a file, which appears when it is whole."""
        with AtomicFile(out / f"{self.name}.csv") as file:
            file.write(self.text(content).encode())


def figures_of(metric: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `FIGURES` of an entry of a metric."""
    told = {name: found.get(name) for name in FIGURES[2:]}
    return {"metric": metric, "value": found["mean"], **told}


def read_json(path: Path, parts: Collection[str], what: str) -> dict[str, Any]:
    """Return the content of an experiment's JSON file.

    Args:
        path: The file.
        parts: Fields that it must have.
        what: Kind of the experiment, such as `sweep`.

    Raises:
        DataError: The file is no JSON, or lacks a field.
    """
    content = parsed(path, "give another --out")
    if not isinstance(content, dict) or not all(part in content for part in parts):
        raise DataError(f"{path}: no {what}: expected an object with {', '.join(parts)}")
    return content


def read_object(path: Path, repair: str) -> dict[str, Any]:
    """Return the object that a file of JSON holds.

    Args:
        path: The file.
        repair: What the user can do if the file is no JSON.

    Raises:
        DataError: The file holds no JSON object.
    """
    content = parsed(path, repair)
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected an object, got {type(content).__name__}")
    return content


def parsed(path: Path, repair: str) -> Any:
    """Return what a file of JSON holds.

    Raises:
        DataError: It is no JSON.
    """
    try:
        return json_value(content_of(path))
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}; {repair}") from error


# -- Several runs that make one experiment: played one after the other, under one budget.

Reporter = Callable[[str, int, int], None]
"""Called with the stage, how many of its items are done, and how many there are."""
_KEPT = ("mean", "n", "undefined", "low", "high", "reasons")
"""Of a metric of summary.json."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of an experiment."""

    name: str
    """Name of the condition and of its folder."""
    settings: RunSettings
    only: tuple[str, ...] | None = None
    """Ids of the tasks to play; None: all that the settings select."""


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """The outcome of an experiment of several runs."""

    folder: Path
    content: dict[str, Any]
    """Content of its JSON file."""
    exit_code: int
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""


Content = Callable[[Sequence[str], list[str]], dict[str, Any]]
"""Names of finished runs, and notes, to the content of the experiment's JSON file."""


def play(
    conditions: Sequence[PlannedRun],
    out: Path,
    settings: RunSettings,
    content: Content,
    report: Reporter | None,
    skip: bool = False,
) -> SeriesResult:
    """Play runs until the budget is spent, and return the outcome.

    Args:
        conditions: The runs, in the order in which they are played.
        out: Folder of the experiment.
        settings: Their budget is shared by all runs.
        content: Called once, when the last run is over.
        report: Called with how many runs are done, and how far the present one is.
        skip: Skip runs that are finished without an error. They count as done even if the budget
            is spent.

    Raises:
        UsageError: A folder holds a run of other settings.
        DataError: The pool or a folder is damaged.
        InfrastructureError: A worker process died.
    """
    told = report or (lambda stage, done, total: None)

    def advance(state: Progress) -> None:
        told(state.stage, state.done, state.total)

    budget = budget_of(settings)
    done: list[str] = []
    for one in conditions:
        told("runs", len(done), len(conditions))
        folder = RunFolder(out / one.name)
        if skip and _finished(folder, one.settings):
            with Engine.of(one.settings, folder) as engine:  # it may have other settings
                now = {"measure": measure_of(engine), "system": system_of(engine)}
            check_resumable(folder.manifest(), now, folder.path)
        else:
            asked = within(one.settings, budget)
            if asked is None:
                break
            if run(asked, folder.path, resume=True, progress=advance, only=one.only).exit_code == 3:
                break
        done.append(one.name)
        spent = spent_on(folder)
        budget.add(spent.asked, spent.tokens)
    told("runs", len(done), len(conditions))
    missing = len(conditions) - len(done)
    spent_note = f"the budget is spent: {missing} of {counted(len(conditions), 'run')} not finished"
    failed = any(RunFolder(out / name).summary()["errors"] for name in done)
    found = content(done, [spent_note] if missing else [])
    return SeriesResult(out, found, 3 if missing else int(failed))


def _finished(folder: RunFolder, settings: RunSettings) -> bool:
    """Tell whether a run has all its chats and scores, and no error."""
    if not folder.is_scored:
        return False
    summary = folder.summary()
    with opened(folder.trajectories_path) as lines:
        chats = sum(1 for _ in lines)
    whole = chats + summary["skipped"] == summary["tasks"] * settings.trials
    baselines = not settings.baselines or len(folder.baselines()) == len(BASELINES)
    return whole and not summary["errors"] and baselines


def metrics_of(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the metrics of a run's summary.json without their groups."""
    return {
        metric: {key: found[key] for key in _KEPT if key in found}
        for metric, found in summary["metrics"].items()
    }

"""Finished runs, scored again, and runs of chats that others recorded: no chat is held."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import chdir, closing, suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from seal.agents.roles import PROMPTS
from seal.core import (
    JSON,
    DataError,
    Metric,
    OutageError,
    Score,
    Trajectory,
    UsageError,
    check_name,
    shortened,
)
from seal.core.files import AtomicFile, Lock, content_of, opened
from seal.core.records import from_plain, write_records
from seal.core.registry import name_of
from seal.core.store import open_store
from seal.core.text import counted
from seal.core.values import json_bytes, json_value
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.goals import LeftOutMetric, answer_of
from seal.evaluation.llm_judge import QueryVerdicts, VerdictFile
from seal.evaluation.panel import MISSING, recorded_panel
from seal.evaluation.rule_judge import RuleJudge
from seal.evaluation.scoring import RecordedScores, build_metrics
from seal.pools.catalogue import reader_of_verdicts
from seal.pools.importer import RECORDED, RECORDINGS
from seal.pools.imports import ImportReport, check_options, write_pool
from seal.pools.pool import StoredPool
from seal.runs.identity import identity_of, warnings_of
from seal.runs.journal import Journal, Pair
from seal.runs.judges import Judges, RecordedVerdicts
from seal.runs.role_models import OF_JUDGES, Cast, check_judge_prompts, judges_under
from seal.runs.run import (
    BASELINES,
    CALLS,
    GOLD,
    TIMINGS,
    RunFolder,
    check_tools,
    sound_summary,
    to_resume,
    write_tasks,
)
from seal.runs.scoring import LONGEST_JUDGING_S, LONGEST_S, Scorer, rules_of
from seal.runs.settings import RunSettings, ScoreSettings

# -- Old trajectories scored again: by today's metrics, by another judge, or by recorded verdicts.
#
# Recorded verdicts count where they are this run's: their queries its tasks, their answers its own.

_LOG = logging.getLogger(__name__)
_KEPT = "not computed anew, the former scores stay"


def rescore(
    run: Path,
    how: ScoreSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Score a run's trajectories again and its baselines' with it; no chat is held.

    Args:
        run: Run folder; its scores.jsonl, summary.json and, in its run.json, judge, metrics and
            match are replaced.
        how: None: as the run's metrics and each task's rules say, without a model.
        progress: Called with (scored, total).

    Returns:
        The summary.

    Raises:
        DataError: The folder holds no run or no trajectories; its files lack tasks or chats that
            were scored; or verdicts are of another run.
        UsageError: There is no such judge, rule or metric; another process writes the run; or a
            model judged it and no judge is named now.
        OutageError: A judge's server takes no request; names the folder, the run's or a baseline's,
            whose scores and summary are left as they are.
    """
    how = how or ScoreSettings()
    folder = RunFolder.open(run)
    judging = judges_under(how.judge_model, how.base_url, how.model_options or {})
    settings = RunSettings(
        role_models={"judge": judging},
        judge=how.judge,
        prompts=how.prompts,
        seed=_part(folder, "seed", int),  # the judge's answers are kept under it
    )
    names, extra = _metrics(folder, how)
    _check_judge(folder, how)
    played = how.bench or folder.benchmark()
    rules_of(how.match, played)
    lost = [metric for metric in extra if isinstance(metric, LeftOutMetric)]
    had = tuple(metric for metric in extra if metric not in lost)
    lost += [] if played else _declared(folder)
    with open_store(how.cache_dir, if_asked=not judging) as store:
        recorded = None if how.verdicts is None else recorded_verdicts(folder, Path(how.verdicts))
        cast = Cast(settings, store, None)
        judges = Judges(cast, how.judge, how.votes, recorded)
        check_judge_prompts(settings, judges.prompts)
        scorer = Scorer(
            judges.of,
            judges.metrics_of,
            match=how.match,
            extra=extra,
            without_spoilt=how.without_spoilt,
            benchmark=played,
            threads=how.workers if judges.by_model else 1,
            asked=judges.meter.take_all,
            longest=LONGEST_JUDGING_S if judges.by_model else LONGEST_S,
        )
        besides = [*folder.baselines().values()] if recorded is None else []
        for run_folder in (*besides, folder):
            shown = progress if run_folder is folder else None
            former = _former(run_folder) if lost else {}
            for one in lost if run_folder is folder else ():
                told = _KEPT if former else "left out of the scores"
                _LOG.warning("%s: %s: %s", one.name, told, one.reason)
            scorer = replace(
                scorer,
                former=former,
                former_scales=run_folder.scales() if former else {},
                extra=had if former else extra,
            )
            until = _until_outage(cast, run_folder, shown)
            with chdir(os.curdir):  # a metric may change the working folder
                summary = _score(RunFolder(run_folder.path.resolve()), scorer, until)
            _note(run_folder, judges, [name_of(metric) for metric in names], how)
    _warn_of_unfinished(folder, summary)
    return summary


def _until_outage(
    cast: Cast, folder: RunFolder, progress: Callable[[int, int], None] | None
) -> Callable[[int, int], None]:
    def scored(done: int, total: int) -> None:
        if cast.outage:
            raise OutageError(f"the scores of {folder.path} are left as they are: {cast.outage}")
        if progress is not None:
            progress(done, total)

    return scored


def _metrics(folder: RunFolder, how: ScoreSettings) -> tuple[list[Any], tuple[Metric, ...]]:
    """Return further metrics by name and built: those asked for, else those of the run."""
    if how.metrics:
        return list(how.metrics), build_metrics(how.metrics, METRICS)
    from seal.evaluation.own_metrics import named_metrics  # of those who score alone: it has numpy

    names = folder.manifest()["measure"].get("metrics", [])
    return names, named_metrics(names, "run.json: measure.metrics", METRICS, how.allow_code)


def _check_judge(folder: RunFolder, how: ScoreSettings) -> None:
    """Raise UsageError where rules would replace a model's verdicts and nobody asked for rules."""
    judge = folder.manifest()["measure"].get("judge", {})
    models = [one["model"] for one in judge.get("panel", [judge]) if "model" in one]
    if not models or how.judge != "auto" or how.judge_model is not None or how.verdicts is not None:
        return
    words = [f"--judge-model {model}" for model in models]
    words += [f"--base-url {judge['base_url']}"] if "base_url" in judge else []
    raise UsageError(
        f"{folder.path} was judged by {' and '.join(models)}, whose verdicts would be lost; name "
        f"the judge again ({' '.join(words)}; answers that are kept are not asked for anew), or "
        "let rules judge (--judge rule)"
    )


def _warn_of_unfinished(folder: RunFolder, summary: Mapping[str, Any]) -> None:
    if missing := summary["unfinished"]:
        total = summary["tasks"] * (folder.manifest()["measure"].get("trials") or 1)
        _LOG.warning(
            f"{folder.trajectories_path}: {missing} of {counted(total, 'chat')} not finished, with "
            f"no score; play them by the run's own command with --resume --out {folder.path}"
        )


def _declared(folder: RunFolder) -> list[LeftOutMetric]:
    """Return the metrics of the run's benchmark, which is neither given nor installed, in one."""
    declared = folder.declared()
    reason = (
        f"the benchmark {declared.get('name')}, whose metrics they are, is not installed; "
        "give them by --metric"
    )
    names = ", ".join(declared.get("metrics", ()))
    return [LeftOutMetric(names, reason)] if names else []


def _former(folder: RunFolder) -> dict[Pair, list[Score]]:
    """Return the scores that a run has of metrics unknown here, by chat."""
    from seal.evaluation.own_metrics import is_foreign

    found: dict[Pair, list[Score]] = {}
    try:
        names = {name for name in folder.summary()["metrics"] if is_foreign(name, METRICS)}
        for score in folder.scores():
            if score.metric in names:
                found.setdefault((score.task_id, score.trial), []).append(score)
    except DataError:  # not scored yet, or damaged: scoring writes both files anew
        return {}
    return found


def _score(
    folder: RunFolder, scorer: Scorer, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    check_tools(folder)
    if not folder.trajectories_path.is_file():
        raise DataError(
            f"{folder.path} has no {folder.trajectories_path.name}: nothing can be scored, and its "
            "scores are left as they are; put the file back, or play the run again"
        )
    with Lock(folder.path):
        with closing(Journal(folder.trajectories_path)) as journal:
            # The trajectories of an interrupted run stand in no order.
            order = {task.id: n for n, task in enumerate(folder.tasks())}
            _check_tasks(folder, order, journal.played)
            _check_chats(folder, journal.played, _scored_chats(folder.scores_path))
            journal.put_in_order(order)
        return replace(
            scorer,
            cutoffs=_ranks(folder),
            sandbox=_sandbox(folder) or "monty",
        ).score(folder, progress)


def _ranks(folder: RunFolder) -> tuple[int, ...]:
    """Return what `RunSettings.ranks` was."""
    asked = _part(folder, "cutoffs", tuple[int, ...], lambda ks: min(ks, default=0) > 0)
    offered = folder.offered
    return tuple(dict.fromkeys(asked if offered is None else (*asked, offered)))


def _note(folder: RunFolder, judges: Judges, metrics: list[Any], how: ScoreSettings) -> None:
    """Write down how the run was scored."""
    with Lock(folder.path):
        manifest = deepcopy({**folder.manifest()})
        manifest["measure"]["judge"] = judges.identity()
        own = {n: t for n, t in manifest.pop(PROMPTS, {}).items() if not n.startswith(OF_JUDGES)}
        own |= judges.own_prompts
        manifest |= {PROMPTS: own} if own else {}
        manifest.pop("verdicts", None)
        manifest |= {"verdicts": judges.verdicts} if judges.verdicts else {}
        manifest["measure"]["metrics"] = metrics
        if _sandbox(folder):
            manifest["measure"]["sandbox"] = identity_of(_sandbox(folder))
        for name in ("match", "without_spoilt"):
            manifest["measure"].pop(name, None)
            if asked := getattr(how, name):
                manifest["measure"][name] = asked
        manifest["warnings"] = warnings_of(manifest["measure"], manifest["system"])
        folder.write_json("run.json", manifest)
    for warning in manifest["warnings"] if folder.path.name not in BASELINES else ():
        _LOG.warning(warning)


def _sandbox(folder: RunFolder) -> str:
    """Return the name of the sandbox that a run asked for; empty where it creates no tool."""
    return str(folder.manifest()["measure"].get("sandbox", {}).get("asked", ""))


def _part(
    folder: RunFolder, name: str, kind: Any, fits: Callable[[Any], bool] = lambda value: True
) -> Any:
    measure = folder.manifest()["measure"]
    with suppress(KeyError, DataError):
        if fits(value := from_plain(measure[name], kind)):
            return value
    raise DataError(f"{folder.path / 'run.json'} has no usable measure.{name}; play the run again")


def recorded_verdicts(folder: RunFolder, path: Path) -> RecordedVerdicts:
    """Return the verdicts of a file for a run's tasks.

    A query is a task's where id and text are; the answer that was judged must be the run's, so
    that no verdict goes to what another model said.

    Args:
        folder: The run; the file tells of one chat for each task, which is the first trial's.
        path: As the benchmark's authors left it, such as StableToolBench's `pass_rate_results`; a
            folder, where they left one.

    Raises:
        DataError: The file cannot be read, or its verdicts are another run's.
    """
    found, by_task = verdicts_for(folder, path)
    panels = {
        task_id: recorded_panel(
            [query.labels.get(run, MISSING) for run in range(found.runs)], found.judges
        )
        for task_id, query in by_task.items()
    }
    return RecordedVerdicts(panels, _digest(path))


def verdicts_for(folder: RunFolder, path: Path) -> tuple[VerdictFile, dict[str, QueryVerdicts]]:
    """Return what a file holds, and of it what is said of each task of a run.

    Raises:
        DataError: The file cannot be read, or its verdicts are another run's.
    """
    found: VerdictFile = reader_of_verdicts(folder.pool_name)(path)
    by_task = _joined(folder, found)
    if not by_task:
        raise DataError(
            f"{path}: verdicts of another run: none of its {len(found.queries)} queries is a task "
            f"of {folder.path} with the same id and text; give the file of this run"
        )
    _check_answers(folder, path, {task_id: query.answer for task_id, query in by_task.items()})
    without = len(found.queries) - len(by_task)
    if without:
        _LOG.warning("%s: %d queries are no tasks of the run: left out", path, without)
    return found, by_task


def _digest(path: Path) -> str:
    """Return 12 hexadecimal digits of a file's content, of a folder that of all its files."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return hashlib.sha256(b"".join(content_of(file) for file in files)).hexdigest()[:12]


def _joined(folder: RunFolder, found: VerdictFile) -> dict[str, QueryVerdicts]:
    by_task = {}
    for task in folder.tasks():
        upstream_id = task.id.rpartition("/")[2].partition("#")[0]
        query = found.queries.get(upstream_id)
        if query is None:
            continue
        if query.query is None or _words(query.query) == _words(task.goals[0].text):
            by_task[task.id] = query
    return by_task


def _check_answers(folder: RunFolder, path: Path, judged: Mapping[str, str | None]) -> None:
    """Raise DataError where an answer that was judged is not the run's.

    Args:
        folder: The run.
        path: Of the file that says what was judged.
        judged: Task id to the answer in the first trial; None: unknown.
    """
    differing, first = 0, ""
    for trajectory in folder.trajectories():
        answer = judged.get(trajectory.task_id)
        # What a run that did not finish said last is no answer, and depends on who tells it.
        if trajectory.trial or answer is None:
            continue
        said = answer_of(trajectory, 0)
        if _words(said) != _words(answer):
            differing += 1
            first = first or (
                f"task {trajectory.task_id}: judged was {shortened(answer)}, "
                f"the run says {shortened(said)}"
            )
    if differing:
        raise DataError(
            f"{path}: verdicts of another run: {differing} of {counted(len(judged), 'answer')} are "
            f"not those of {folder.path}, such as {first}; give the file of this run"
        )


def _words(text: str | None) -> str:
    return " ".join((text or "").split())


def _check_tasks(run: RunFolder, tasks: Collection[str], chats: Iterable[Pair]) -> None:
    """Make sure that tasks.jsonl has every task of the chats, and as many as were scored.

    Args:
        run: The run.
        tasks: Ids in tasks.jsonl.
        chats: Those of trajectories.jsonl.

    Raises:
        DataError: It lacks tasks; names how many, and the repair.
    """
    expected = {*tasks, *(task_id for task_id, _ in chats)}
    count = max(len(expected), sound_summary(run).get("tasks", 0))
    if len(tasks) < count:
        raise DataError(
            f"{run.path / 'tasks.jsonl'} was cut: it has {len(tasks)} of the "
            f"{counted(count, 'task')} that "
            f"trajectories.jsonl and summary.json tell of; put the file back, or {to_resume(run)}"
        )


def _check_chats(run: RunFolder, played: Set[Pair], scored: Set[Pair]) -> None:
    """Make sure that trajectories.jsonl has every chat that was scored.

    Args:
        run: The run.
        played: Chats of trajectories.jsonl.
        scored: Chats of scores.jsonl.

    Raises:
        DataError: It lacks chats; names how many, one of them, and the repair.
    """
    lacking = sorted(scored - played)
    if lacking:
        task_id, trial = lacking[0]
        raise DataError(
            f"{run.trajectories_path} was cut: it has {len(scored) - len(lacking)} of the "
            f"{counted(len(scored), 'chat')} in scores.jsonl, and not that of task {task_id!r}, "
            f"trial {trial}; put the file back, or {to_resume(run)}"
        )


def _scored_chats(path: Path) -> set[Pair]:
    """Return the chats of a file of scores; lines that are none, or no such file, tell of none."""
    found: set[Pair] = set()
    if not path.is_file():
        return found
    with opened(path) as lines:
        for line in lines:
            try:
                fields = json_value(line)
                found.add((str(fields["task_id"]), int(fields["trial"])))
            except (ValueError, KeyError, TypeError):
                continue  # scoring writes the file anew
    return found


# -- Chats that others recorded, as runs that can be scored: no chat is held.
#
# A file of trajectories becomes a run folder (`import_run`), and so does each recording of a pool
# (`runs_of_recordings`).

CUTOFFS = (1, 5, 10)
_HEADLINE = 10
"""Scores of others that a short table shows."""


def import_run(
    name: str, source: Path, out: Path, options: Mapping[str, JSON] | None = None
) -> ImportReport:
    """Turn recorded trajectories into a run folder, of which `seal score` makes scores.

    The folder holds run.json, tasks.jsonl, tools.jsonl, trajectories.jsonl, and in import.json what
    was left out.

    Args:
        name: Of the benchmark.
        source: Its file of trajectories.
        out: New folder.
        options: Of the importer; ToolSandbox's has none: its chats are read as they are.

    Raises:
        UnknownNameError: No recorded trajectories of that benchmark can be read, or an option.
        UsageError: No such source, or the folder holds something.
        DataError: No record can be used; nothing is left behind.
    """
    importer = RECORDINGS.resolve(name)
    given = dict(options or {})
    check_options(importer, given, "option of recorded trajectories")
    if (out / "run.json").exists():
        raise UsageError(f"{out} holds a run already; give --out another folder")
    benchmark = name.rpartition(":")[2]
    report = write_pool(benchmark, importer, source, out, **given)
    folder = RunFolder(out)
    files = sorted((out / RECORDED).glob(f"*/{folder.trajectories_path.name}"))
    if len(files) != 1:
        shutil.rmtree(out)
        found = ", ".join(report.recordings) or "none"
        raise UsageError(
            f"{source} holds the recordings {found}; expected one, for a run is of one: leave the "
            "others out, or import without --trajectories and play them by --model recorded:NAME"
        )
    (recording,) = report.recordings
    files[0].replace(folder.trajectories_path)
    shutil.rmtree(out / RECORDED)
    played = source.name.partition(".")[0] if recording == benchmark else recording
    facts = report.facts
    manifest = _manifest(
        str(facts.get("pool") or report.benchmark),
        report.digest,
        facts,
        str(facts.get("model") or f"recorded:{played}"),
        facts.get("trials") or 1,
    )
    folder.write_json("run.json", manifest)
    _write_timings(folder)
    return report


ALL = "all"
"""Stands for every recording of a pool."""


def score_recordings(
    pool: StoredPool,
    names: Sequence[str],
    out: Path,
    how: ScoreSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[RunFolder, dict[str, Any]]]:
    """Make a run of each recording of a pool, and score it.

    A run has the tasks of which there is a recording, and measures what the pool is, so that runs
    of the same tasks can be compared. A run that `out` holds, scored as asked, is kept; one that
    was cut is made again.

    Args:
        pool: With the recordings.
        names: Of recordings; `ALL`: every one.
        out: Folder, which gets a run folder for each recording, of its name; it holds no others.
        how: As of `rescore`.
        progress: Called with (recordings scored, their number).

    Yields:
        Each run, and its summary.

    Raises:
        UnknownNameError: The pool has no such recording.
        UsageError: It has none at all, the folder holds something else, or as of `rescore`.
        DataError: A recording is of tasks that the pool lacks, or a file is damaged.
    """
    known = pool.recordings()
    if not known:
        raise UsageError(
            f"{pool.folder} has no recordings; import them with its benchmark, such as BFCL's by "
            "-T answers=FOLDER, or play the pool: seal run"
        )
    chosen = [*known] if ALL in names else [*dict.fromkeys(names)]
    for name in chosen:
        check_name(f"recording in {pool.name}", name, known)
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give --out a new folder")
    for place in out.iterdir() if out.exists() else ():
        if place.name not in known or not _may_hold(pool, RunFolder(place)):
            raise UsageError(
                f"{place} is no run of a recording of {pool.folder}; give --out a new folder"
            )
    how = how or ScoreSettings()
    for number, name in enumerate(chosen, 1):
        folder = RunFolder(out / name)
        if _scored_as_asked(folder, how):
            yield folder, {**folder.summary()}
        else:
            folder = _made(pool, name, out / name)
            yield folder, rescore(folder.path, how)
        if progress is not None:
            progress(number, len(chosen))


def _may_hold(pool: StoredPool, folder: RunFolder) -> bool:
    """Return whether a folder holds a run of a recording of the pool, perhaps one that was cut."""
    if not (folder.path / "run.json").exists():
        begun = {"tools.jsonl", "tasks.jsonl", folder.trajectories_path.name}
        return {path.name for path in folder.path.glob("*")} <= begun
    made = folder.manifest()
    same = made["measure"]["pool_digest"] == pool.digest
    return same and folder.model == f"recorded:{folder.path.name}"


def _scored_as_asked(folder: RunFolder, how: ScoreSettings) -> bool:
    """Return whether a run has the scores that would be made; False where a model judges."""
    if not (folder.path / "summary.json").is_file():
        return False
    plain = ScoreSettings(
        match=how.match,
        without_spoilt=how.without_spoilt,
        workers=how.workers,
        cache_dir=how.cache_dir,
    )
    measure = folder.manifest()["measure"]
    noted = [measure.get(name) or None for name in ("match", "without_spoilt")]
    return how == plain and noted == [how.match or None, how.without_spoilt or None]


def _made(pool: StoredPool, name: str, place: Path) -> RunFolder:
    """Write the run of a recording, without scores."""
    chats: list[Trajectory] = sorted(pool.recorded(name), key=lambda chat: chat.trial)
    recorded = {chat.task_id for chat in chats}
    order = {task.id: at for at, task in enumerate(pool.tasks()) if task.id in recorded}
    if lost := sorted(recorded - order.keys()):
        raise DataError(
            f"{pool.recordings()[name]}: a chat is of task {lost[0]!r}, which is not in the pool; "
            "import the pool again"
        )
    place.mkdir(parents=True, exist_ok=True)
    folder = RunFolder(place)
    write_records(place / "tools.jsonl", pool.tools())
    tasks = (task for task in pool.tasks() if task.id in order)
    calls_alone = write_tasks(place / "tasks.jsonl", tasks, [pool.digest, sorted(order)])
    chats.sort(key=lambda chat: order[chat.task_id])
    write_records(folder.trajectories_path, chats)
    facts = pool.report.get("facts")
    manifest = _manifest(
        pool.name,
        pool.digest,
        facts if isinstance(facts, Mapping) else {},
        f"recorded:{name}",
        1 + max((chat.trial for chat in chats), default=0),
    )
    manifest |= {GOLD: CALLS} if calls_alone else {}
    if pool.benchmark is not None and "benchmark" not in manifest:
        manifest["benchmark"] = pool.benchmark.declared(pool.name)
    folder.write_json("run.json", manifest)
    _write_timings(folder)
    return folder


def _write_timings(folder: RunFolder) -> None:
    """Write how long each chat took, as far as its recording says so; else no file."""
    lines = [
        {"task_id": chat.task_id, "trial": chat.trial, "seconds": took, "tokens": 0}
        for chat in folder.trajectories()
        if isinstance(took := chat.provenance.get("latency_s"), (int, float))
    ]
    if lines:
        with AtomicFile(folder.path / TIMINGS) as out:
            out.writelines(json_bytes(line) + b"\n" for line in lines)


def _manifest(
    pool: str, digest: str, facts: Mapping[str, JSON], played: str, trials: JSON
) -> dict[str, JSON]:
    """Return the run.json of chats, as far as their importer knows what was played and scored."""
    scores = facts.get("scores")
    measure: dict[str, JSON] = {
        "cutoffs": list(CUTOFFS),
        "judge": {"judge": RuleJudge().identity},
        "metrics": [RecordedScores.name] if scores else [],
        "pool": pool,
        "pool_digest": digest,
        "seed": 0,
        "trials": trials,
    }
    manifest: dict[str, JSON] = {
        "measure": measure,
        "system": {"model": {"model": played}},
        "warnings": [],
    }
    if isinstance(scores, list) and scores:
        manifest["benchmark"] = {"name": pool, "headline": scores[:_HEADLINE], "success": scores[0]}
    return manifest

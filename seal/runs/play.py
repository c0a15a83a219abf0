"""`run`: prepares, plays what is not finished, orders, and scores, with floor and ceiling."""

from __future__ import annotations

import itertools
import logging
import os
import re
import shutil
import threading
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from contextlib import ExitStack, chdir, closing, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from seal.core import Metric, ModelError, OutageError, Task, Trajectory, UsageError
from seal.core.concurrency import within
from seal.core.files import AtomicFile, Lock, opened, remove
from seal.core.records import decode, encode, without_cycle_search
from seal.core.registry import name_of, warn_once
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.goals import Guarded
from seal.evaluation.scoring import (
    build_metrics,
    is_ours,
    score_trajectory,
    usual_metrics,
)
from seal.models.spec import bare_name
from seal.pools.benchmark import Benchmark
from seal.pools.importer import REGISTRY as BENCHMARKS
from seal.runs.costs import Budget, Ledger, budget_of, tokens_of
from seal.runs.engine import Engine
from seal.runs.identity import check_folder, clear_rests, prepare
from seal.runs.journal import JobOutcome, Journal, Pair, Timings, bring_back, chats_told, in_flight
from seal.runs.resolve import all_given, baselines_of, played
from seal.runs.run import FILES, NAMED, REFUSED, RunFolder, exit_code_of, spent_on
from seal.runs.running import ScoredBeside
from seal.runs.scoring import Scorer
from seal.runs.settings import RunSettings
from seal.runs.workers import Job, ThreadWorkers, Workers

if TYPE_CHECKING:
    from seal.runs.processes import ProcessWorkers


_LOG = logging.getLogger(__name__)
_RANKED_AT_ONCE = 64
"""Tasks whose queries are retrieved in one batch."""
_MOST_CHATS = 10_000_000
"""Chats of a run, whose names lie in memory: about 2 GB."""
_SILENCE = 60.0
"""Seconds without the end of a chat after which a user is told which chats go on."""
_MISSES = 3
"""Batches in a row for which the retriever's server fails before it counts as down."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    stage: str
    """`embed tools`, `play`, `score`, `floor` or `ceiling`."""
    done: int
    total: int
    unit: str = "chats"
    """What is counted."""
    errors: int = 0
    tokens: int = 0
    """Spent by all models so far."""
    dollars: float | None = None
    """What they cost; None: nothing, or a model has no price."""
    waits: str = ""
    """How many requests wait as a server had too many, in words; empty where none does."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run left."""

    folder: RunFolder
    summary: Mapping[str, Any]
    exit_code: int
    """0 fine, 1 finished with task errors or with crashes alone, 3 a budget or a server that is
    down stopped it."""


Reporter = Callable[[Progress], None]


def run(
    settings: RunSettings,
    out: Path | None = None,
    resume: bool = False,
    progress: Reporter | None = None,
    only: Collection[str] | None = None,
    tell: Callable[[str], None] = _LOG.info,
    again: str = "",
) -> RunResult:
    """Play and score tasks.

    Args:
        settings: What to play.
        out: Run folder; None: `runs/POOL-MODEL`, with a number where that is taken.
        resume: Go on with a run that `out` holds: finished tasks stay, errors are played again.
        progress: Called as chats end.
        only: Ids of the tasks to play, of those that the settings select; None: all of these.
        tell: Given a line for each model before the first chat: who is asked, and where. There is
            none where no server is. Given another where a limit of the run stops it.
        again: Which tasks of which other run `only` names, in words; run.json keeps it.

    Raises:
        UsageError: Settings that cannot be, a folder in use, or other settings than the run's.
        DataError: The pool or the run folder is damaged.
        InfrastructureError: A worker process died.
        OutageError: A server takes no request, and no chat was finished; no folder is left.
    """
    if out is None and resume:
        raise UsageError("--resume needs --out RUN: the folder of the run to go on with")
    if out is None:
        with run_folder(out, settings) as path:
            return run(settings, path, resume, progress, only, tell, again)
    given = RunFolder(out)
    folder = RunFolder(given.path.resolve())  # an agent may change the working folder
    report = progress or (lambda state: None)
    budget = budget_of(settings)
    check_folder(folder.path, resume)
    if settings.process_count > 1 and not settings.on_ray:
        from seal.runs.processes import start_server

        start_server()
    with chdir(os.curdir):  # a metric or a tool of a world may change it, too
        stopped, summary = _run(
            settings, folder, resume, report, budget, only, tell=tell, again=again
        )
        if settings.baselines and not stopped:
            stopped = _play_baselines(settings, folder, report, budget)
    limit = budget.reached
    if stopped and limit and not budget.outage:
        tell(_stopped_by(limit, settings, given.path, summary["unfinished"]))
    code = 3 if stopped else exit_code_of(summary)
    return RunResult(given, summary, code)


def _run(
    settings: RunSettings,
    folder: RunFolder,
    resume: bool,
    report: Reporter,
    budget: Budget,
    only: Collection[str] | None = None,
    earlier: bool = True,
    tell: Callable[[str], None] = _LOG.debug,
    again: str = "",
) -> tuple[bool, dict[str, Any]]:
    """Play and score; of the tasks whose ids are in `only`, where it is given.

    What the folder's run and its baselines spent before counts too, unless `earlier` is False.

    Returns:
        Whether a budget or an outage stopped the run, and its summary.
    """
    settings, pool = played(settings, folder)
    declared = () if pool.benchmark is None else pool.benchmark.metrics
    further = (metric for metric in declared if metric not in settings.metrics)
    metrics = build_metrics((*settings.metrics, *further), METRICS)
    every = (*usual_metrics(settings.ranks), *metrics)
    told = _check_declared(pool.benchmark, every) if earlier else []
    settings = replace(settings, max_total_seconds=budget.seconds_left)
    with without_cycle_search() as prepared, Engine(settings, folder, pool) as engine:
        engine.progress = lambda done, total: report(Progress("embed tools", done, total, "tools"))
        is_new, was_there = not folder.is_begun, folder.path.exists()
        _check(engine, budget, is_new)
        for line in engine.cast.asked():
            tell(line)
        folder.path.mkdir(parents=True, exist_ok=True)
        with Lock(folder.path):
            if earlier:
                spent = spent_on(folder)
                budget.add(spent.asked, spent.tokens)
            left = in_flight(folder.path).keys() if engine.tries_own_agent else ()
            warnings = prepare(engine, resume, only, again)
            for warning in warnings if earlier else ():  # a baseline's are those of its run
                _LOG.warning(warning)
            chats = _Chats(settings, folder, engine, report, budget, frozenset(left))
            try:
                chats.play(metrics, prepared)
            except (OutageError, UsageError) as error:
                if is_new and (isinstance(error, OutageError) or not any(folder.trajectories())):
                    _clear(folder.path, keep=was_there)
                raise
            summary = chats.score()
            if earlier and not summary["errors"]:
                _warn_of_missing(folder, summary["metrics"], told, metrics)
    return chats.stopped or bool(budget.refused), summary


def _check(engine: Engine, budget: Budget, is_new: bool) -> None:
    """Make sure that a run can be played, before anything is written."""
    if is_new:
        try:
            engine.check()
        except ModelError as error:
            raise OutageError(f"no chat was played: {error}") from error
    if budget.max_dollars is not None:
        from seal.runs.costs import check_priced

        check_priced(budget.prices, engine.cast.accounts)


def _clear(path: Path, keep: bool) -> None:
    """Delete what a run that played no chat wrote, and the folder unless it is to be kept."""
    for entry in path.iterdir() if keep else (path,):
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _stopped_by(limit: str, settings: RunSettings, out: Path, unfinished: int) -> str:
    """Return a line on the limit that stopped a run, and how to go on."""
    flag, value = f"--{limit.replace('_', '-')}", f"{getattr(settings, limit)}".removesuffix(".0")
    what = f"unfinished chats: {unfinished}" if unfinished else "its judging or baselines are left"
    more = "" if limit == "max_total_seconds" else f" and a larger {flag}"
    return f"stopped by {flag} {value}; {what}; go on with --resume --out {out}{more}"


def _warn_of_our_name(bench: Benchmark | None) -> None:
    """Tell that a benchmark of the user's own has the name of one of SEAL's."""
    if bench is None or not BENCHMARKS.is_ours(bench.name):
        return
    shipped = BENCHMARKS.resolve(bench.name)
    parts = {part.name for part in fields(bench)} - {"tools", "tasks", "folder"}
    if any(getattr(bench, part) != getattr(shipped, part, None) for part in parts):
        warn_once(
            f"benchmark {bench.name!r}: SEAL ships another one of this name, and readers of the "
            "run take that one's parts; choose another name"
        )


def _check_declared(bench: Benchmark | None, metrics: Sequence[Metric]) -> list[str]:
    """Refuse a headline or success of a benchmark of the user's own that nobody will measure.

    A function may name what it measures as it goes. Beside one, a name that is likely a slip is
    told; `_warn_of_missing` tells the others.

    Returns:
        The names that a warning told.

    Raises:
        UsageError: No metric has the name; names the closest.
    """
    if bench is None or bench.name in BENCHMARKS:
        _warn_of_our_name(bench)
        return []
    from seal.evaluation.own_metrics import check_declared

    return check_declared(bench.name, bench.headline, bench.success, metrics, bool(bench.measures))


def _warn_of_missing(
    folder: RunFolder, found: Collection[str], told: Collection[str], metrics: Iterable[Guarded]
) -> None:
    """Tell of metrics of the user's own that nobody measured; those in `told` are told already."""
    declared = folder.manifest().get("benchmark") or {}
    # An installed benchmark may have several kinds of runs, each with metrics of its own.
    own = {} if declared.get("name", "") in BENCHMARKS else declared
    others = [metric for metric in metrics if not is_ours(metric)]
    if own or others:
        from seal.evaluation.own_metrics import warn_of_missing

        warn_of_missing(own, found, told, others)


@contextmanager
def run_folder(out: Path | None, settings: RunSettings) -> Iterator[Path]:
    """Give the folder of a run; of one that names none a new one, `runs/POOL-MODEL`."""
    pool = settings.pool
    named = pool.name if isinstance(pool, Benchmark) else Path(str(pool)).name
    model = name_of(settings.model)
    name = f"{named}-{bare_name(model) if isinstance(model, str) else model}"
    with new_folder(out, name) as path:
        yield path


@contextmanager
def new_folder(out: Path | None, name: str) -> Iterator[Path]:
    """Give `out`, else a folder of `runs` that is made here: no other process gets it.

    Its name begins with `name`, and has a number where that is taken. What stays empty is removed.
    """
    if out is not None:
        yield out
        return
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:80] or "run"
    runs = Path("runs")
    is_new = not runs.exists()
    runs.mkdir(exist_ok=True)
    for number in itertools.count():
        path = runs / (f"{slug}-{number}" if number else slug)
        with suppress(FileExistsError):
            path.mkdir(parents=True)
            break
    made = path.absolute()  # a metric may change the working folder
    try:
        yield path
    finally:
        with suppress(OSError):
            made.rmdir()
            if is_new:
                made.parent.rmdir()


@dataclass(slots=True)
class _Chats:
    """The chats of a run whose folder is prepared, played and scored within a budget."""

    settings: RunSettings
    folder: RunFolder
    engine: Engine
    report: Reporter
    budget: Budget
    left: Set[Pair] = frozenset()
    """Chats of a user's own agent in which the process of the run had died."""
    total: int = 0
    done: int = 0
    errors: int = 0
    stopped: bool = False
    """True where the budget, or an outage, stopped the run."""
    skipped: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)
    """Model to what was changed in its requests, as its server had refused them."""
    named: dict[str, list[str]] = field(default_factory=dict)
    """Model to what answers called it, where one called it otherwise than asked."""
    files: Sequence[IO[bytes]] = ()
    """What the folder holds before the first chat."""
    scorer: Scorer = field(init=False)
    beside: ScoredBeside | None = None
    """Scores chats as they end; None: all are scored when the last one has ended."""
    playing: dict[Pair, Task] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make what scores the chats, when they end or one of them before."""
        extra = build_metrics(self.settings.metrics, METRICS)
        self.scorer = self.engine.scorer(extra, self._asked)

    def play(self, metrics: Sequence[Guarded], prepared: Callable[[], None]) -> None:
        """Play what is not finished.

        The first chat that ends tries the user's metrics: one that cannot work ends the run there.
        `prepared` is called when it is known which chats these are.
        """
        folder, trials = self.folder, self.settings.trials
        self.engine.meter.admit = self._admit
        unproven = self.engine.judges.by_model
        with ExitStack() as stack:
            stack.callback(clear_rests, folder)
            order = {task: position for position, task in enumerate(folder.task_ids())}
            journal = stack.enter_context(closing(Journal(folder.trajectories_path)))
            timings = stack.enter_context(closing(Timings(folder.path / "timings.jsonl")))
            if len(order) * trials > _MOST_CHATS:
                raise UsageError(
                    f"--trials {trials}: {len(order)} tasks make {len(order) * trials} chats; a "
                    f"run has at most {_MOST_CHATS}: give fewer --trials, or --limit"
                )
            done = {pair for pair in journal.finished if pair[0] in order and pair[1] < trials}
            wanted = {(id, n) for id in order for n in range(trials)} - done
            prepared()
            self.total, self.done = len(order) * trials, len(done)
            if self.settings.max_seconds is None and self.engine.tries_own_agent:
                stack.enter_context(self._watched())
            outcomes = self._outcomes(done, wanted)
            self.files = [
                stack.enter_context(opened(folder.path / name))
                for name in ("run.json", "tasks.jsonl", "tools.jsonl")
            ]
            stack.callback(os.chdir, Path.cwd())
            stack.callback(self._bring_back, journal.file, timings.file)
            stack.callback(Path.cwd().mkdir, parents=True, exist_ok=True)
            if not unproven:  # nothing is paid
                score = self.scorer.at_once(folder, self.engine.tools)
                self.beside = ScoredBeside(folder, score)
                stack.callback(self.beside.stop)
            for outcome in stack.enter_context(closing(outcomes)):
                self._bring_back()
                timings.add(outcome)  # first: a run killed between the two plays and counts again
                journal.append(outcome)
                task = self.playing.pop((outcome.task_id, outcome.trial))
                if self.beside is not None and outcome.line is not None and not outcome.failed:
                    self.beside.take(task, outcome.line)
                if metrics and outcome.line is not None and not outcome.failed:
                    self._try(metrics, outcome.line)
                    metrics = ()
                if unproven and outcome.line is not None and not outcome.failed:
                    unproven = self._prove_judges(outcome.line)
                self._count(outcome)
        if self.beside is not None:
            self.beside.end()
        self._tell_outage(bool(journal.finished))
        journal.put_in_order(order)
        manifest = {**folder.manifest()}
        with AtomicFile(folder.path / "rankings.jsonl") as rankings:
            played = _with_rankings(folder.trajectories(), rankings)
            manifest["cache"] = self.engine.environments.used_entries(played)
        manifest["skipped"] = dict(sorted(self.skipped.items()))
        if refused := {**manifest.get(REFUSED, {}), **self.refused, **self.engine.cast.refused}:
            manifest[REFUSED] = refused
        self._note_names(manifest.get(NAMED, {}))
        self._note_names(self.engine.cast.named)
        if named := {model: sorted(names) for model, names in self.named.items() if names}:
            manifest[NAMED] = named
        folder.write_json("run.json", manifest)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Tell once which chats go on, where none has ended for long: nothing limits their time."""
        over = threading.Event()

        def watch() -> None:
            done = -1
            while done != self.done:
                done = self.done
                if over.wait(_SILENCE):
                    return
            going = chats_told(in_flight(self.folder.path))
            if not going:  # all have ended, and are scored
                return
            _LOG.warning(
                "no chat has ended for %.0f seconds; going on: %s. --max-seconds N ends a chat "
                "that takes longer",
                _SILENCE,
                going,
            )

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            over.set()

    def _bring_back(self, *further: IO[bytes]) -> None:
        """Write files anew that an agent removed, as with the working folder; chats may go on."""
        if not further and os.fstat(self.files[0].fileno()).st_nlink:
            return
        # Another chat removes them again while they are made: later is time enough.
        with suppress(FileNotFoundError, FileExistsError):
            for file in (*self.files, *further):
                bring_back(file, Path(file.name))

    def _tell_outage(self, kept: bool) -> None:
        """Say that a server is down; raise OutageError where no chat is `kept`."""
        outage = self.budget.outage
        if outage and not kept:
            from seal.core.servers import sentences

            its_own = outage == self.engine.store.outage
            again = "Then play again." if its_own else "Play again once the server takes requests."
            raise OutageError(sentences(f"no chat was played: {outage}", again))
        if outage:
            self.stopped = True
            words = "the run stops; give its command again with --resume --out %s. %s"
            _LOG.warning(words, self.folder.path, outage)

    def score(self) -> dict[str, Any]:
        """Score what was played, and return the summary."""
        was_down = bool(self.budget.outage)

        def told(scored: int, total: int) -> None:
            self.report(Progress("score", scored, total))

        if self.beside is None:
            summary = self.scorer.score(self.folder, told)
        else:
            with self.beside.known() as known:
                summary = self.scorer.score(self.folder, told, known)
        if not was_down:
            self._tell_outage(True)
        return summary

    def _asked(self) -> Ledger:
        taken = self.engine.meter.take_all()
        self.budget.add(taken, tokens_of(taken))
        return taken

    def _admit(self, besides: Ledger) -> None:
        self.budget.outage = self.budget.outage or self.engine.cast.outage
        self.budget.admit(besides)

    def _prove_judges(self, line: bytes) -> bool:
        """Judge a chat at once: a judge that cannot be asked ends the run before all are played.

        Returns:
            Whether still no judge was asked, as for a chat that needs none.
        """
        trajectory = decode(line, Trajectory, beside=self.folder.path)
        more = self.scorer.score_ahead(self.folder, trajectory, self.engine.tools)
        self.budget.outage = self.budget.outage or self.engine.cast.outage
        judged = any(role == "judge" for role, _ in self.engine.meter.waiting())
        return more and not judged and not self.budget.outage

    def _try(self, metrics: Sequence[Guarded], line: bytes) -> None:
        from seal.evaluation.own_metrics import try_metrics

        trajectory, tools = decode(line, Trajectory, beside=self.folder.path), self.engine.tools
        task = next(self.folder.tasks_of({trajectory.task_id}))
        others = (metric for metric in metrics if not is_ours(metric))
        with within(self.scorer.longest):
            try_metrics(metrics, task, trajectory, tools)
            score_trajectory(task, trajectory, tools, (*usual_metrics(), *others))

    def _note_names(self, named: Mapping[str, Sequence[str]]) -> None:
        """Take what answers called models, which other processes may have asked, too."""
        for model, names in named.items():
            self.named[model] = list({*self.named.get(model, ()), *names})

    def _count(self, outcome: JobOutcome) -> None:
        self.budget.add(outcome.asked, outcome.tokens)
        self.budget.outage = self.budget.outage or outcome.outage
        self.refused |= outcome.refused
        self._note_names(outcome.named)
        self.stopped |= outcome.cut
        if outcome.cut:
            return
        self.done += 1
        self.errors += outcome.failed
        if outcome.line is None:
            self.skipped["no recording to play"] += 1
        cost = self.budget.dollars(self.budget.ledger) if self.budget.tokens else None
        told = self.errors, self.budget.tokens, cost or None, self.engine.cast.waits
        self.report(Progress("play", self.done, self.total, "chats", *told))

    def _outcomes(self, done: Set[Pair], wanted: Set[Pair]) -> Generator[JobOutcome, None, None]:
        """Yield the outcomes of all chats that are not done, those that were `left` before."""
        again = self.left & wanted
        if again and self._processes().is_portable:
            told = "the run's process had died in %s: played now in a process of its own"
            _LOG.warning(told, chats_told(sorted(again)))
            yield from self._processes().alone(self._jobs(done | (wanted - again)))
            done = done | again
        yield from self._workers().outcomes(self._jobs(done))

    def _jobs(self, done: Set[Pair]) -> Iterator[Job]:
        missed = 0
        for trial in range(self.settings.trials):
            self._bring_back()
            ids = {id for id in self.folder.task_ids() if (id, trial) not in done}
            waiting = self.folder.tasks_of(ids) if ids else iter(())
            while batch := list(itertools.islice(waiting, _RANKED_AT_ONCE)):
                found = self.engine.rank(batch)
                missed = missed + 1 if found.outage else 0  # one batch may have a text to blame
                if missed == _MISSES:
                    self.budget.outage = self.budget.outage or found.outage
                for task in batch:
                    if self.budget.spent:
                        self.stopped = True
                        return
                    self.playing[task.id, trial] = task
                    rankings = found.rankings.get(task.id, ())
                    yield Job(task, trial, rankings, found.failures.get(task.id, ""))

    def _workers(self) -> Workers:
        if self.settings.on_ray:
            from seal.runs.cluster import ClusterWorkers

            return ClusterWorkers(self._given, self.engine, self._ahead)
        if self.settings.process_count == 1:
            return ThreadWorkers(self.engine, self.settings.workers, self._ahead)
        return self._processes()

    @property
    def _ahead(self) -> bool:
        """Whether chats may wait for a place: none may while something runs out."""
        return (*self.budget.left(), self.budget.seconds_left) == (None, None, None)

    @property
    def _given(self) -> RunSettings:
        """The settings of other processes, that may last as long as this one has left."""
        return replace(self.settings, max_total_seconds=self.budget.seconds_left)

    def _processes(self) -> ProcessWorkers:
        from seal.runs.processes import ProcessWorkers

        s, engine = self._given, self.engine
        parts = s, self.folder, s.process_count, s.workers, self._ahead, engine.cast
        return ProcessWorkers(*parts, own_agent=engine.tries_own_agent)


def _with_rankings(trajectories: Iterator[Trajectory], out: IO[bytes]) -> Iterator[Trajectory]:
    """Yield trajectories; write the rankings of the first trial as they go by."""
    for trajectory in trajectories:
        if trajectory.trial == 0:
            for ranking in trajectory.rankings:
                out.write(encode(ranking))
        yield trajectory


def _play_baselines(
    settings: RunSettings, folder: RunFolder, report: Reporter, budget: Budget
) -> bool:
    """Play the same tasks with a floor and with the ceiling, in folders beside the run's files.

    Tasks that the run skipped are left out, so that all three means are over the same tasks. A
    baseline that has lost its run.json is played anew: nobody knows what it measured.

    Returns:
        Whether the budget stopped them.
    """
    played = {trajectory.task_id for trajectory in folder.trajectories()}
    for name, baseline in baselines_of(settings, all_given(settings, folder.tasks())).items():
        path = folder.path / name
        if path.is_dir() and not RunFolder(path).is_begun:
            with Lock(path):
                for file in FILES:
                    remove(path / file)

        def stage(state: Progress, name: str = name) -> None:
            if state.stage == "play":  # one bar counts one thing
                report(replace(state, stage=name))

        if _run(baseline, RunFolder(path), True, stage, budget, played, earlier=False)[0]:
            return True
    return False

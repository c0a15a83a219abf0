"""A dress rehearsal: chats as a run would hold them, with models that ask nobody.

Who would ask a server is played by the gold (`gold_calls`), or by words where there is none, over
the true prompts, and each request and answer is counted by `models.tokens.estimate_usage`. Judges
and the simulator answer a text of usual length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seal.core.errors import NotRecordedError, SealError
from seal.core.part_names import name_of
from seal.core.protocols import ChatModel, Completion, Request
from seal.core.types import Task
from seal.evaluation.llm_judge import COMPLETENESS, prompt
from seal.evaluation.scoring import score_trajectory
from seal.models import Flagged, bare_name, is_offline
from seal.models.gold_calls import GoldCalls
from seal.models.lexical import Lexical
from seal.models.presentation import Presentation, presented
from seal.models.tokens import estimate_usage
from seal.pools.benchmark import Benchmark
from seal.pools.pool import StoredPool
from seal.runs.cast import judges_named
from seal.runs.engine import Engine
from seal.runs.judges import JudgeChoice
from seal.runs.role_players import with_roles
from seal.runs.run_folder import RunFolder
from seal.runs.score import MetricsOf, usual_metrics
from seal.runs.settings import RunSettings
from seal.runs.spending.ledger import Ledger, merged

_VERDICT = (
    '{"verdict": "solved", "reason": "The answer states what was asked for, and what it states '
    'is what the tools returned in this conversation."}'
)
_RESPONSE = '{"error": "", "response": {"text": "%s"}}' % ("A plausible answer of the API. " * 25)
"""150 words: the SEAL paper's prompt asks its simulator for 100 to 200."""
_OFFLINE_RETRIEVERS = ("tfidf", "bm25", "oracle", "given", "random")
_OFFLINE_SIMULATORS = {"template", "recorded", "stabletoolbench"}


class Rehearsed:
    """Stands in for a model that would be asked.

    Args:
        model: That model.
        how: How it would be shown tools and results.
        benchmark: What is played, where it is known.
    """

    cached = True

    def __init__(self, model: Flagged, how: Presentation, benchmark: Benchmark | None) -> None:
        self.identity = named(model)
        self._benchmark = benchmark
        self._how = how

    def open(self, task: Task, trial: int) -> RehearsedChat:
        """Return the model of one chat."""
        player: ChatModel
        try:
            name, player = "gold_calls", GoldCalls("answer").open(task, trial)
        except NotRecordedError:
            name, player = "lexical", Lexical()
        player = with_roles(player, name, self._benchmark, task)
        return RehearsedChat(player, str(self.identity["model"]), self._how)


@dataclass(frozen=True, slots=True)
class RehearsedChat:
    """Answers as gold or words do, and counts what a server would."""

    player: ChatModel
    name: str
    how: Presentation

    def complete(self, request: Request) -> Completion:
        """Return the player's answer with an estimated usage."""
        if request.role == "judge":
            asked = any(m.content == prompt(COMPLETENESS) for m in request.messages)
            answer = Completion("Solved" if asked else _VERDICT)
        else:
            answer = self.player.complete(request)
        sent = _Sent()
        presented(sent, self.name, self.how).complete(request)
        return estimate_usage(sent.request or request, answer, self.name.partition("/")[2])


@dataclass(slots=True)
class _Sent:
    """Keeps the request as a server would get it."""

    request: Request | None = None

    def complete(self, request: Request) -> Completion:
        self.request = request
        return Completion()


class RehearsedSimulator:
    """Stands in for the simulator's model.

    Args:
        model: That model.
    """

    cached = True

    def __init__(self, model: Flagged) -> None:
        self.identity = named(model)

    def complete(self, request: Request) -> Completion:
        """Return an answer of usual length with an estimated usage."""
        name = str(self.identity["model"]).partition("/")[2]
        return estimate_usage(request, Completion(_RESPONSE), name)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of it."""

    chats: int = 0
    failed: int = 0
    """Tasks that could not be played so."""
    asked: Ledger = field(default_factory=dict)


def rehearse(settings: RunSettings, pool: StoredPool, tasks: Sequence[Task]) -> Rehearsal:
    """Play and judge tasks once each; asks nobody, opens no socket and leaves no file.

    Args:
        settings: Of the run, as its pool has them.
        pool: Where the tasks are from.
        tasks: Those to play.

    Raises:
        UsageError: Settings that cannot be.
    """
    with TemporaryDirectory(prefix="seal-rehearsal-") as place:
        acted = _acted(settings, Path(place) / "cache", pool.benchmark)
        with Engine(acted, RunFolder(Path(place)), pool) as engine:
            usual = usual_metrics(pool.benchmark, (1,), engine.judges.of, None, acted.sandbox)
            failed = 0
            for task in tasks:
                failed += not _plays(engine, task, usual)
            asked = merged([engine.meter.take_all()])
    return Rehearsal(len(tasks) - failed, failed, asked)


def _plays(engine: Engine, task: Task, usual: MetricsOf) -> bool:
    try:
        rankings = engine.rank([task]).rankings.get(task.id, ())
        trajectory = engine.play(task, 0, rankings)
        metrics = (*usual(task, 0), *engine.judges.metrics_of(task, 0))
        score_trajectory(task, trajectory, engine.tools, metrics)
    except SealError:
        return False
    return not trajectory.failed


def _acted(settings: RunSettings, cache: Path, benchmark: Benchmark | None) -> RunSettings:
    """Return the settings with everybody replaced who would ask a server."""
    format, messages = settings.play.format, settings.tool_messages
    how = Presentation(format, messages)

    def acted(model: Any) -> Any:
        flagged = Flagged.of(model)
        asks = flagged.spec == "human" or not is_offline(flagged.spec)
        return Rehearsed(flagged, how, benchmark) if asks else flagged.spec

    main = Flagged(settings.model, settings.base_url, settings.model_options)
    judges = judges_named(settings.role_models.get("judge"))
    if not judges and JudgeChoice.of(settings.judge).source == "llm":
        judges = (main,)
    models = {role: acted(m) for role, m in settings.role_models.items() if role != "judge"}
    if judges:
        models["judge"] = tuple(map(acted, judges))
    simulator = settings.simulator if isinstance(settings.simulator, str) else "template"
    parts = set(simulator.split("+"))
    if "llm" in parts:
        asked = settings.role_models.get("simulator", main)
        models["simulator"] = RehearsedSimulator(Flagged.of(asked))
    elif not parts <= _OFFLINE_SIMULATORS:
        simulator = "template"
    offline = settings.retriever is None or settings.retriever in _OFFLINE_RETRIEVERS
    return replace(
        settings,
        model=acted(main),
        base_url=None,
        role_models=models,
        simulator=simulator,
        retriever=settings.retriever if offline else "tfidf",
        retriever_options=settings.retriever_options if offline else {},
        format="native",
        tool_messages="auto",
        model_options={},
        cache="record",
        cache_dir=cache,
        metrics=(),
        max_seconds=None,
    )


def named(model: Flagged) -> dict[str, str]:
    """Return what a record would say of a model: its name, and where it is asked if told."""
    spec, url = model.spec, model.settings().base_url
    name = bare_name(spec) if isinstance(spec, str) else str(name_of(spec))
    return {"model": name} | ({"base_url": url} if url else {})

"""What a run would cost, before anything is asked or written.

Some of the tasks are rehearsed, over the true prompts, so the estimate follows tools, history,
roles and format. Who would ask a server is played by the gold (`gold_calls`), or by words where
there is none. Requests and answers are counted by `seal.models.server_model.estimate_usage`; the
sum is then taken for all chats. Judges and the simulator answer a text of usual length. The plan
assumes that each role answers as the gold does, with the gold calls and nothing else. A model that
errs, asks, thinks or is sent back takes more turns, each of which sends the whole chat again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seal.core import ChatModel, Completion, NotRecordedError, Request, SealError, Task, UsageError
from seal.core.registry import name_of
from seal.core.secrets import public_url
from seal.core.store import FILE_NAME, Store
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.llm_judge import COMPLETENESS, prompt
from seal.evaluation.scoring import build_metrics, score_trajectory
from seal.models.given_answers import GoldCalls
from seal.models.lexical import Lexical
from seal.models.presentation import Presentation, presented
from seal.models.server_model import estimate_usage
from seal.models.spec import REGISTRY as MODELS
from seal.models.spec import Flagged, bare_name, is_offline, split_name
from seal.pools.benchmark import Benchmark
from seal.pools.lookup import answer_formats
from seal.pools.pool import StoredPool
from seal.retrievers.build import check_known
from seal.runs.costs import Ledger, Prices, budget_of, check_priced, merged
from seal.runs.engine import Engine
from seal.runs.environments import worlds_of
from seal.runs.identity import told_left_out
from seal.runs.judges import JudgeChoice
from seal.runs.resolve import FILLED, all_given, baselines_of, played
from seal.runs.role_models import asks_no_server, judges_named, with_roles
from seal.runs.run import RunFolder
from seal.runs.scoring import Scorer
from seal.runs.settings import SIMULATOR, Origin, RunSettings
from seal.simulator_cache import REGISTRY as SIMULATORS

REHEARSED = 40
"""Tasks that are rehearsed at most, evenly from all."""
_ASSUMED = (
    "every role answers as the gold does, with the gold calls and no detour: a model that errs, "
    "asks, thinks or is sent back takes more",
    "tokens are those of the true prompts, counted by tiktoken where its table is at hand, else a "
    "quarter of the UTF-8 bytes; the server's own count differs",
    "a simulator's answer has 150 words, a judge answers at the first try, and no answer was kept "
    "before",
    "what embeddings cost is not counted",
)


def plan(settings: RunSettings, only: Collection[str] | None = None) -> dict[str, Any]:
    """Return what a run would ask; asks nobody and leaves no file.

    Args:
        settings: Of the run.
        only: Ids of the tasks to play, of those that the settings select; None: all of these.

    Returns:
        {tasks, trials, chats, rehearsed, failed, rows, requests, tokens_in, tokens_out, dollars,
        prices, unpriced, over, assumptions}. `rows`: {part, role, model, requests, tokens_in,
        tokens_out, dollars} of the run, its floor and its ceiling; dollars are None where the model
        has no price, and the sum is of those that have one. `over` names the budgets that it would
        pass. `origins` says of every setting that is not the plain default, or that is completed,
        its value and who gave it (`seal.runs.settings.Origin`).

    Raises:
        UsageError: Settings that cannot be, or no task is selected.
        DataError: The pool, or the file of prices, is damaged.
    """
    budget = budget_of(settings)
    settings, pool = played(settings)
    tasks = [task for task in pool.chosen(settings) if only is None or task.id in only]
    if not tasks:
        raise UsageError("no task is selected: nothing is to be played")
    parts = {"run": settings}
    if settings.baselines:
        parts |= baselines_of(settings, all_given(settings, tasks))
    found = [rehearse(name, each, pool, tasks) for name, each in parts.items()]
    if budget.max_dollars is not None:
        check_priced(budget.prices, [m for part in found for _, m in part.asked])
    rows = [row for part in found for row in _rows(part, budget.prices)]
    total: dict[str, Any] = {
        name: sum(row[name] for row in rows) for name in ("requests", "tokens_in", "tokens_out")
    }
    dollars = round(sum(row["dollars"] or 0.0 for row in rows), 6)
    tokens = total["tokens_in"] + total["tokens_out"]
    over = {
        "max_total_tokens": budget.max_tokens is not None and tokens > budget.max_tokens,
        "max_dollars": budget.max_dollars is not None and dollars > budget.max_dollars,
    }
    filled: dict[str, Origin] = dict.fromkeys((*FILLED, "votes"), "default")
    return {
        "tasks": len(tasks),
        "trials": settings.trials,
        "chats": sum(part.chats for part in found),
        "rehearsed": found[0].rehearsed,
        "failed": found[0].failed,
        "rows": rows,
        **total,
        "dollars": dollars,
        "prices": budget.prices.told(row["model"] for row in rows),
        "unpriced": sorted({row["model"] for row in rows if row["dollars"] is None}),
        "over": [name for name, passed in over.items() if passed],
        "assumptions": [*told_left_out(pool.left_out), *_ASSUMED],
        "origins": {
            name: {"value": _shown(name, settings), "origin": origin}
            for name, origin in sorted({**filled, **settings.origins}.items())
        },
    }


def _shown(name: str, settings: RunSettings) -> Any:
    """Return the value of a setting as JSON holds it: of an object its name."""
    value = getattr(settings, name)
    if name == "votes":
        return JudgeChoice.of(settings.judge, votes=value).votes
    if name == "servers":  # commands and addresses may hold keys
        return sorted(value) if isinstance(value, Mapping) else str(value)
    if name == "prompts":  # they are long
        return sorted(value)
    return public_url(value) if value and name == "base_url" else _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value) if isinstance(value, Path) else name_of(value)


def _rows(part: Rehearsal, prices: Prices) -> list[dict[str, Any]]:
    factor = part.chats / part.rehearsed if part.rehearsed else 0.0
    rows = []
    for (role, model), spent in part.asked.items():
        price = prices.of(model)
        tokens = [round(factor * n) for n in (spent.tokens_in, spent.tokens_out)]
        rows.append(
            {
                "part": part.name,
                "role": role,
                "model": model,
                "requests": round(factor * spent.requests),
                "tokens_in": tokens[0],
                "tokens_out": tokens[1],
                "dollars": None if price is None else round(price.of(*tokens), 6),
            }
        )
    return rows


_VERDICT = (
    '{"verdict": "solved", "reason": "The answer states what was asked for, and what it states '
    'is what the tools returned in this conversation."}'
)
_RESPONSE = '{"error": "", "response": {"text": "%s"}}' % ("A plausible answer of the API. " * 25)
"""150 words: the SEAL paper's prompt asks its simulator for 100 to 200."""


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
            name, player = "gold_calls", GoldCalls(tells=True).open(task, trial)
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
    """A run, or one of its baselines, of which some tasks were rehearsed."""

    name: str
    chats: int
    """Of the whole run."""
    rehearsed: int
    failed: int
    """Tasks that could not be played so."""
    asked: Ledger


def rehearse(
    name: str, settings: RunSettings, pool: StoredPool, tasks: Sequence[Task]
) -> Rehearsal:
    """Play and judge some tasks once each; asks nobody, opens no socket and leaves no file.

    Args:
        name: Of the part: run, floor or ceiling.
        settings: Of the run, as its pool has them.
        pool: Where the tasks are from.
        tasks: All of the run; at most `REHEARSED` are played, evenly from all.

    Raises:
        UsageError: Settings that cannot be.
    """
    count = min(len(tasks), REHEARSED)
    chosen = [tasks[place * len(tasks) // count] for place in range(count)]
    with TemporaryDirectory(prefix="seal-rehearsal-") as place:
        acted = _acted(settings, Path(place) / "cache", pool.benchmark)
        if "mcp" in worlds_of(settings, chosen).values():
            options = {k: v for k, v in acted.world_options.items() if k != "timeout"}
            acted = replace(acted, environment=SIMULATOR, servers={}, world_options=options)
        store = Store(Path(place, "cache", FILE_NAME))  # whatever SEAL_CACHE_URL says
        with Engine(acted, RunFolder(Path(place)), pool, store) as engine:
            scorer = replace(engine.scorer(), cutoffs=(1,))
            failed = sum(not _plays(engine, task, scorer) for task in chosen)
            asked = merged([engine.meter.take_all()])
    return Rehearsal(name, len(tasks) * settings.trials, count - failed, failed, asked)


def _plays(engine: Engine, task: Task, scorer: Scorer) -> bool:
    try:
        rankings = engine.rank([task]).rankings.get(task.id, ())
        trajectory = engine.play(task, 0, rankings)
        score_trajectory(task, trajectory, engine.tools, scorer.usual(task, 0))
    except SealError:
        return False
    return not trajectory.failed


def _acted(settings: RunSettings, cache: Path, benchmark: Benchmark | None) -> RunSettings:
    """Return the settings with everybody replaced who would ask a server."""
    how = Presentation(settings.play.format)

    def acted(model: Any) -> Any:
        flagged = Flagged.of(model)
        if isinstance(flagged.spec, str):
            MODELS.resolve(split_name(flagged.spec)[0])  # raises where there is no such model
        asks = flagged.spec == "human" or not is_offline(flagged.spec)
        return Rehearsed(flagged, how, benchmark) if asks else flagged.spec

    main = settings.main
    if not settings.gives_tools:
        check_known(settings.retriever, settings.retriever_options)
    build_metrics(settings.metrics, METRICS)
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
    elif others := parts - {"template", "recorded", *answer_formats()}:
        for name in others:
            SIMULATORS.resolve(name)  # raises where there is no such simulator
        simulator = "template"
    offline = asks_no_server(settings)
    return replace(
        settings,
        model=acted(main),
        base_url=None,
        role_models=models,
        simulator=simulator,
        retriever=settings.retriever if offline else "tfidf",
        retriever_options=settings.retriever_options if offline else {},
        format="native",
        model_options={},
        requests_per_minute=None,
        tokens_per_minute=None,
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

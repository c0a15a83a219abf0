"""`Engine`: what plays tasks, built once a process: retriever, models, environments, team."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.agents import REGISTRY, PlayedAnew, build_agent, is_own, seat_of
from seal.agents.autogen import Groups
from seal.agents.conversation import ChatOptions, Conversation, Services
from seal.agents.replies import Offers
from seal.agents.roles import PROMPTS
from seal.agents.teams import (
    CHECKER,
    MANAGER,
    ORCHESTRATOR,
    SPEAKER_SELECTION,
    USER,
    Team,
    build_team,
    selection_of,
)
from seal.core import (
    JSON,
    Agent,
    CacheMissError,
    CacheMode,
    DataError,
    Goal,
    InfrastructureError,
    Longer,
    Metric,
    ModelError,
    OverdueError,
    Pool,
    Query,
    Ranking,
    RequestError,
    Retriever,
    SealError,
    Step,
    Task,
    Tool,
    Trajectory,
    UnknownNameError,
    UsageError,
    fault,
)
from seal.core.concurrency import in_time, within
from seal.core.environment import Held
from seal.core.registry import name_of
from seal.core.secrets import InOpen
from seal.core.store import Store, open_store
from seal.pools.importer import REPORT, tasks_of
from seal.pools.pool import StoredPool
from seal.retrievers.build import build_retriever, rank, reads_gold
from seal.runs.chats import history_of, limits_of, merge_goals
from seal.runs.costs import Ledger
from seal.runs.environments import EnvironmentSource, SimulatorSource
from seal.runs.identity import SCRIPTED, measure_of
from seal.runs.journal import LiveFile
from seal.runs.judges import Judges
from seal.runs.resolve import played, team_part
from seal.runs.role_models import Cast, is_player
from seal.runs.run import RunFolder
from seal.runs.scoring import LONGEST_JUDGING_S, LONGEST_S, SHORTEST_S, Scorer
from seal.runs.settings import RunSettings
from seal.runs.workers import check_open_files

if TYPE_CHECKING:
    from seal.runs.chats import Examples


# -- Everything that plays tasks, built once a process: retriever, models, environments, team.

_LOG = logging.getLogger(__name__)
_BESIDE_THE_CHAT = ("judge", "simulator", SPEAKER_SELECTION)
"""What a model may be besides a role of the team."""
_PLAY_AGENTS = ("lexical", "oracle", "gold_calls", "random", "scripted", "human")
"""Models that play by rule or from a script, and no recorded user; and a person, who does not know
the brief."""


class StoppedError(SealError):
    """The run ends before this chat does."""


class Engine:
    """Plays tasks under one run's settings. Safe in threads.

    Args:
        settings: Of the run.
        folder: With the run's tools.
        pool: Where the tasks come from; for gold, recordings and identity.
        store: Where answers are kept; it is closed with the engine. None: that of the settings.
    """

    def __init__(
        self,
        settings: RunSettings,
        folder: RunFolder,
        pool: StoredPool,
        store: Store | None = None,
    ) -> None:
        self.folder = folder
        self._place = folder.path.absolute()  # functions of users may change the working folder
        self.pool = pool
        self.tools: dict[str, Tool] = {tool.id: tool for tool in pool.tools()}
        of_team, of_worlds = team_part(settings)
        team = build_team(settings.play.team, settings.roles, of_team)
        self.team = _with_user(team, settings, pool)
        self.selection = selection_of(of_team)
        settings = replace(
            settings, role_models={**team.models, **settings.role_models}, world_options=of_worlds
        )
        self.settings = settings
        check_open_files(settings.workers)
        _check_roles(settings, self.team)
        writes = settings.cache == "record"
        # What worlds read lies beside the tasks; to ask who reads it would load every benchmark.
        worlds = (file for file in sorted(pool.folder.glob("*.json")) if file.name != REPORT)
        self.in_open = InOpen([tasks_of(pool.folder), *worlds])
        """Keys of services that are words of the tasks."""
        if store is None:
            idle = settings.cache == "off"
            store = open_store(settings.cache_dir, writes, self.in_open, if_asked=idle)
        self.store = store
        self.cast = Cast(settings, self.store, pool)
        self.meter = self.cast.meter
        """Counts what models are asked, in chats and beside them."""
        checked = CHECKER in self.team.roles
        self.judges = Judges(self.cast, settings.judge, settings.votes, checked=checked)
        """Of every chat."""
        self.prompts: Mapping[str, str] = {}
        """Of roles, judges and the simulator, those that the run has instead of ours."""
        if settings.prompts:
            from seal.runs.role_models import own_prompts

            self.prompts = own_prompts(settings, self.team, self.judges.prompts, pool)
        self.environments = EnvironmentSource(
            SimulatorSource(
                settings=settings, tools=self.tools, pool=pool, store=self.store, cast=self.cast
            )
        )
        self._seats = {
            team.lead: {role: seat_of(agent, role) for role, agent in team.roles.items()}
            for team in (self.team, *self.team.variants.values())
        }
        """Lead of a team to role to its agent, or to the class that each chat has its own of."""
        self._examples: Examples | None = None
        if settings.one_shot:
            from seal.runs.chats import Examples

            self._examples = Examples(pool.tasks(), self.tools, settings.seed)
        self._stopping = False
        self._began = time.monotonic()
        self._groups = Groups()
        self._built_retriever: Retriever | None = None
        self.progress: Callable[[int, int], None] | None = None
        """Told how many tools are embedded, and how many are to be."""
        self._building = threading.Lock()

    @classmethod
    def of(cls, settings: RunSettings, folder: RunFolder) -> Engine:
        """Return the engine of a run, whose settings are completed by its pool (`played`)."""
        settings, pool = played(settings, folder)
        return cls(settings, folder, pool)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()
        for seats in self._seats.values():
            for agent in seats.values():
                if isinstance(agent, PlayedAnew):
                    agent.close()

    def check(self) -> None:
        """Build what is otherwise built when first used, before anything is written.

        Raises:
            UsageError: A role, retriever or judge that cannot be, or no task has the selected tags.
        """
        next(self.pool.chosen(self.settings))
        self._check_seats()
        measure_of(self)
        self._check_examples()
        if self.settings.retrieve == "per-step" and ORCHESTRATOR not in self.team.roles:
            raise UsageError(
                f"--retrieve per-step needs the role {ORCHESTRATOR}, which hands on the steps; "
                f"team {self.team.name} has none: use --team full, or --retrieve once"
            )
        self._check_openings()
        if not self.settings.gives_tools:
            self._retriever()

    def _check_openings(self) -> None:
        """Raise UsageError where tools are to be retrieved for words that nobody has said yet."""
        s = self.settings
        unsaid = {task.id for task in self.pool.outlines(s.select) if task.opens}
        if s.retrieve != "once" or not unsaid:
            return
        for task in self.pool.chosen(s):
            if task.id in unsaid and (task.goals[0].offered is None or not s.gives_tools):
                raise UsageError(
                    f"task {task.id!r}: the user's model writes the first message, so that no "
                    "tools can be retrieved before the chat; let the agent look for them "
                    "(--retrieve on-demand), or name the task's tools"
                )

    def _check_seats(self) -> None:
        """Raise UsageError where a class plays a role and cannot be built."""
        for seats in self._seats.values():
            for role, agent in seats.items():
                try:
                    if isinstance(agent, type):
                        build_agent(agent)
                    elif isinstance(agent, PlayedAnew):
                        agent.made()
                except (SealError, KeyboardInterrupt):
                    raise
                except BaseException as error:  # whatever a user's class raises
                    raise UsageError(
                        f"role {role!r}: {name_of(agent)} cannot be built: {fault(error)}; "
                        "expected a class that takes no arguments, or an object"
                    ) from error

    def _check_examples(self) -> None:
        """Raise UsageError where no task has an example; log how many have none."""
        if self._examples is None:
            return
        tasks = list(self.pool.chosen(self.settings))
        lacking = sum(self._examples.of(task) is None for task in tasks)
        if lacking == len(tasks):
            raise UsageError(
                "--one-shot: no task has another one of its environment whose gold has calls; "
                "leave the option out"
            )
        if lacking:
            _LOG.warning("--one-shot: %d of %d tasks have no example", lacking, len(tasks))

    def rank(self, tasks: Sequence[Task]) -> Retrieved:
        """Return what is retrieved for the goals of tasks before the chat.

        Nothing is retrieved for goals that are given their tools, unless a retriever was named,
        nor where the chat itself retrieves. A failure costs the tasks that it concerns.

        Raises:
            InfrastructureError: The tools cannot be indexed.
        """
        if self.settings.retrieve != "once":
            return Retrieved()
        queries: dict[str, list[Query]] = {}
        for task in tasks:
            for position, goal in enumerate(task.goals):
                if goal.offered is None or not self.settings.gives_tools:
                    query = Query(task.said_first(position) or "", task.id, position)
                    queries.setdefault(task.id, []).append(query)
        if not queries:
            return Retrieved()
        retriever, k = self._retriever(), max(self.settings.top_k, *self.settings.cutoffs)
        goals = goals_of(tasks)
        return rank_tasks(lambda a: rank_others(retriever, a, goals, k, self.tools), queries)

    def play(self, task: Task, trial: int, rankings: Sequence[Ranking] = ()) -> Trajectory:
        """Play one task.

        Raises:
            NotRecordedError: There is no recording to play.
            InfrastructureError: What failed before the chat began.
        """
        parts = []
        for goals in self._goals_of_chats(task):
            with self.chat(task, trial, goals, rankings) as conversation:
                self._groups.play(conversation)
            parts.append(conversation.trajectory())
        merged = merge_goals(task, trial, parts)
        facts = {**self._facts(task), **self._gold_ends(task, merged)}
        return replace(merged, provenance={**facts, **merged.provenance})

    def _gold_ends(self, task: Task, chat: Trajectory) -> Mapping[str, JSON]:
        """Return how the world ends after the gold calls, where gold or an effect asks for that."""
        in_world = any(step.state for step in chat.steps)
        if not in_world and not any(goal.asks_for_end for goal in task.goals):
            return {}
        carried = self.settings.play.history == "own"
        with within(self._longest):
            try:
                return in_time(partial(self.environments.gold_ends, task, chat, carried))
            except OverdueError as error:
                raise InfrastructureError(
                    f"the gold calls in the world, and the rules of its policy: {error}; "
                    "mend what hangs there, or give a longer --max-seconds"
                ) from error

    def _goals_of_chats(self, task: Task) -> list[Sequence[int]]:
        every = range(len(task.goals))
        return [every] if self.settings.play.history == "own" else [[goal] for goal in every]

    def _facts(self, task: Task) -> Mapping[str, JSON]:
        team = self.team.playing(task.goals[0])
        return team.facts(task, self.settings.seed) if team.facts is not None else {}

    @property
    def beside(self) -> Path | None:
        """Where large tables stand; None: this machine does not see the run's folder."""
        return self._place if RunFolder(self._place).is_begun else None

    @property
    def tries_own_agent(self) -> bool:
        """Whether a user's own code or agent calls the tools."""
        agent = self.team.roles.get(MANAGER)
        return agent is not None and is_own(REGISTRY.resolve(agent))

    @property
    def seconds_left(self) -> float | None:
        """How long the run may still last; None: without limit."""
        most = self.settings.max_total_seconds
        return None if most is None else self._began + most - time.monotonic()

    def stop(self) -> None:
        """Let the chats in progress end at their next step; nothing comes of them."""
        self._stopping = True

    def scorer(self, extra: Sequence[Metric] = (), asked: Callable[[], Ledger] = dict) -> Scorer:
        """Return what scores the chats: with further metrics, and what tells what judges took."""
        s, judges = self.settings, self.judges
        return Scorer(
            judges.of,
            judges.metrics_of,
            s.ranks,
            sandbox=s.sandbox,
            extra=extra,
            without_spoilt=s.without_spoilt,
            benchmark=self.pool.benchmark,
            threads=s.workers if judges.by_model else 1,
            asked=asked,
            longest=LONGEST_JUDGING_S if judges.by_model else self._longest,
        )

    @property
    def _longest(self) -> float:
        """Seconds that a chat's gold may take in its world, and its scoring without a model."""
        most = self.settings.max_seconds
        return LONGEST_S if most is None else max(most, SHORTEST_S)

    @contextmanager
    def chat(
        self,
        task: Task,
        trial: int = 0,
        goals: Sequence[int] | None = None,
        rankings: Sequence[Ranking] = (),
    ) -> Iterator[Conversation]:
        """Yield a chat in which nothing was said yet; what it needs is released afterwards.

        Args:
            task: What it is about.
            trial: Which time.
            goals: Positions of its goals; None: those of the task's first chat.
            rankings: What was retrieved for them.

        Raises:
            NotRecordedError: There is no recording to play.
            InfrastructureError: What failed before the chat began.
        """
        task = task.of_tools(self.tools)
        goals = self._goals_of_chats(task)[0] if goals is None else goals
        team = self.team.playing(task.goals[0])
        voices = (team.lead,) if team.one_voice is None else (team.one_voice, team.one_voice)
        example = self._examples.of(task) if self._examples is not None else None
        models = self.cast.open(task, trial, example)
        offers = Offers()
        environment = self.environments.open(task, trial, offers.names)

        def record(step: Step) -> None:
            if self._stopping:
                raise StoppedError(f"task {task.id}: the run was stopped")
            live.write(step)

        with ExitStack() as ended:
            if isinstance(environment, Held):
                ended.callback(environment.close)
            seats = self._seated(team, ended)
            live = ended.enter_context(LiveFile(self._place, task.id, trial, self.in_open))
            yield Conversation(
                task,
                trial,
                team,
                seats,
                Services(
                    models, environment, partial(self._find, task), self.cast.check, self.meter.note
                ),
                {goal: self._offers(task, goal, goals, rankings) for goal in goals},
                offers=offers,
                limits=limits_of(task, self.settings),
                options=self._options(task, trial, team),
                user_tools=[self._known(task, tool_id) for tool_id in task.user_tools],
                goals=goals,
                history=history_of(task, goals[0], *voices),
                on_step=record,
                rankings=[ranking for ranking in rankings if ranking.goal in goals],
            )

    def _seated(self, team: Team, ended: ExitStack) -> dict[str, Agent]:
        """Return who plays each role of one chat; what is made for it is closed when it ends."""
        seats: dict[str, Agent] = {}
        for role, agent in self._seats[team.lead].items():
            one = build_agent(agent) if isinstance(agent, type) else agent
            if isinstance(one, PlayedAnew):
                one = ended.enter_context(closing(one.for_chat()))
            seats[role] = one
        return seats

    def _known(self, task: Task, tool_id: str) -> Tool:
        """Return a tool that a user has.

        Raises:
            DataError: The pool lacks it.
        """
        if tool_id not in self.tools:
            raise DataError(
                f"task {task.id}: persona.tools: the pool has no tool {tool_id!r}; give ids of its "
                "tools"
            )
        return self.tools[tool_id]

    def _offers(
        self, task: Task, goal: int, goals: Sequence[int], rankings: Sequence[Ranking]
    ) -> list[Tool]:
        """Return what a goal offers; the first of a chat what goals before it offered, too."""
        before = range(goal) if goal == goals[0] else ()
        return [tool for g in (*before, goal) for tool in self._offered(task, g, rankings)]

    def _offered(self, task: Task, goal: int, rankings: Sequence[Ranking]) -> list[Tool]:
        mine = [ranking for ranking in rankings if ranking.goal == goal]
        offered = task.goals[goal].offered
        if not mine and offered is not None and self.settings.gives_tools:
            return [self.tools[tool_id] for tool_id in offered]
        whole = getattr(self._retriever(), "complete", False) if mine else False
        limit = None if whole else self.settings.top_k
        return [self.tools[tool_id] for r in mine for tool_id, _ in r.hits[:limit]]

    def _find(self, task: Task, query: Query, k: int) -> list[tuple[Tool, float]]:
        """Return as many hits as the cut-offs ask for, also where k is less."""
        deepest = max(k, *self.settings.cutoffs)
        goals = goals_of([task])
        (ranking,) = rank_others(self._retriever(), [query], goals, deepest, self.tools)
        return [(self.tools[tool_id], score) for tool_id, score in ranking.hits]

    def _retriever(self) -> Retriever:
        with self._building:  # chats that retrieve for themselves may ask for it at once
            if self._built_retriever is not None:
                return self._built_retriever
            s, named = self.settings, self.settings.finder
            options = {**({"base_url": s.base_url} if s.base_url else {}), **s.retriever_options}
            tasks: Iterable[Task] = self.pool.chosen(s) if reads_gold(named, options) else ()
            pool = search_pool(
                self.store,
                tuple(self.tools.values()),
                tuple(tasks),
                seed=s.seed,
                options=options,
                cache=s.cache,
                allow_code=s.allow_code,
            )
            told: set[str] = set()

            def tell(longer: Longer) -> None:
                if longer.longer and longer.kind not in told:
                    told.add(longer.kind)
                    _LOG.warning("retriever: %s", longer)

            pool = replace(pool, progress=self.progress, longer=tell)
            self._built_retriever = build_retriever(named, pool)
            return self._built_retriever

    def _options(self, task: Task, trial: int, team: Team) -> ChatOptions:
        s = self.settings
        return ChatOptions(
            s.retrieve,
            s.top_k,
            s.temperature,
            self.cast.seed_of(task, trial),
            USER in s.role_models,
            s.user_brief,
            self.selection,
            s.allow_code,
            {
                **({PROMPTS: self.prompts} if self.prompts else {}),
                **team.measured,
                **team.arranged,
                **self._facts(task),
            },
        )


def _with_user(team: Team, settings: RunSettings, pool: StoredPool) -> Team:
    """Return the team with a user that needs no model, where nobody was named to play it.

    The models that play by rule know what an agent does; what a user says they do not. Where every
    brief has the user's answers word by word, no model need make them up. Gold calls of a user with
    tools are made by the oracle.
    """
    named = USER in settings.roles or USER in settings.role_models
    if named or team.roles.get(USER) != USER:
        return team
    if is_player(settings.model, ("oracle",)) and any(t.user_tools for t in pool.outlines()):
        return team
    if is_player(settings.model, _PLAY_AGENTS):
        return team.seat(USER, SCRIPTED)
    replies = [task.replies for task in pool.outlines() if task.persona]
    if replies and all(replies):
        return team.seat(USER, SCRIPTED)
    return team


def _check_roles(settings: RunSettings, team: Team) -> None:
    """Raise UnknownNameError where a model is named for a role that nobody plays."""
    known = {*team.every_role(), *_BESIDE_THE_CHAT}
    for role in settings.role_models:
        if role not in known:
            raise UnknownNameError(f"role in team {team.name}", role, known)


# -- What a retriever is given, and retrieval for many tasks at once.
#
# A failure costs no task but those that it concerns.


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was retrieved for tasks before they are played."""

    rankings: Mapping[str, tuple[Ranking, ...]] = field(default_factory=dict)
    """Task id to the rankings of its goals."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Task id to why nothing could be retrieved for it."""
    outage: str = ""
    """Why the retriever's server failed for the tasks, or for half of them; empty: it did not."""


def goals_of(tasks: Iterable[Task]) -> dict[tuple[str, int], Goal]:
    """Return the goals of tasks by task id and position."""
    return {(task.id, position): goal for task in tasks for position, goal in enumerate(task.goals)}


def rank_others(
    retriever: Retriever,
    queries: Sequence[Query],
    goals: Mapping[tuple[str, int], Goal],
    k: int,
    known: Collection[str],
) -> list[Ranking]:
    """Rank as `seal.retrievers.build.rank` does, but no query's own document.

    That is what the goal's label `own_document` names: a query of ArguAna or Quora is itself a
    document of the corpus. Source: beir, `EvaluateRetrieval.evaluate` (ignore_identical_ids).

    Args:
        retriever: What is asked.
        queries: What to look for.
        goals: Whose queries they are.
        k: Length of a ranking, at least 1.
        known: Ids of the pool's tools.
    """
    own = {key: goal.labels.get("own_document") for key, goal in goals.items()}
    limit = None if getattr(retriever, "complete", False) else k

    def others(found: Ranking) -> Ranking:
        document = own.get((found.task_id, found.goal))
        return replace(found, hits=tuple(hit for hit in found.hits if hit[0] != document)[:limit])

    return [others(found) for found in rank(retriever, queries, k + any(own.values()), known)]


def rank_tasks(
    rank: Callable[[Sequence[Query]], Sequence[Ranking]], queries: Mapping[str, Sequence[Query]]
) -> Retrieved:
    """Rank the queries of several tasks in one batch.

    Where the batch fails, all its tasks do: a server that is down is not asked once more for each.
    One of its texts may be to blame, where a server refuses it or no vector of it is kept. Then
    halves of the batch are tried, down to single tasks.

    Args:
        rank: Returns one ranking for each query; what it raises of a plug-in or of the
            infrastructure is a failure of these queries.
        queries: Task id to its queries; tasks without any are left out.

    Raises:
        SealError: A fault that concerns every task, such as a retriever whose answer is none.
    """
    try:
        found = rank([query for several in queries.values() for query in several])
    except (RequestError, CacheMissError) as error:
        if len(queries) == 1:
            return Retrieved(failures=dict.fromkeys(queries, str(error)))
        items, middle = list(queries.items()), len(queries) // 2
        one, two = (rank_tasks(rank, dict(half)) for half in (items[:middle], items[middle:]))
        return Retrieved(
            {**one.rankings, **two.rankings},
            {**one.failures, **two.failures},
            one.outage or two.outage,
        )
    except InfrastructureError as error:
        outage = str(error) if isinstance(error, ModelError) else ""
        return Retrieved(failures=dict.fromkeys(queries, str(error)), outage=outage)
    except (SealError, KeyboardInterrupt):
        raise
    except BaseException as error:  # what a plug-in may do
        return Retrieved(failures=dict.fromkeys(queries, fault(error)))
    rankings: dict[str, tuple[Ranking, ...]] = {}
    for ranking in found:
        rankings[ranking.task_id] = (*rankings.get(ranking.task_id, ()), ranking)
    return Retrieved(rankings)


def search_pool(
    store: Store,
    tools: Sequence[Tool],
    tasks: Sequence[Task] = (),
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    cache: CacheMode = "record",
    allow_code: Collection[str] = (),
) -> Pool:
    """Return the pool that a retriever is built over.

    Args:
        store: Where vectors are kept; indexes lie in `indexes` of its folder. It must stay
            open as long as the retriever is used.
        tools: To choose from.
        tasks: For retrievers that read gold.
        seed: Of what is drawn by chance.
        options: `-R key=value`.
        cache: How vectors and answers are used; `off` keeps no index either.
        allow_code: Modules that may run code that comes with a model.
    """
    indexes = None if cache == "off" else store.folder / "indexes"

    return Pool(
        tools,
        tuple(tasks),
        seed,
        indexes,
        options or {},
        store,
        cache,
        allow_code=allow_code,
    )

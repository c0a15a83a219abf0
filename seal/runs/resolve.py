"""From what was asked to what is played: pool, gaps with origins, floor and ceiling."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

from seal.agents import PlayedAnew, agent_name, is_guest, makes_guest
from seal.agents.teams import REGISTRY as TEAMS
from seal.agents.teams import USER, ArrangedTeam, Team, build_team, team_options
from seal.core import DataError, Task, UnknownNameError, UsageError, shortened
from seal.core.registry import is_module, load_dotted, naming_stranger
from seal.core.text import THEIRS, counted
from seal.models.spec import REGISTRY, bare_name, split_name
from seal.pools.benchmark import PLAY, part_of
from seal.pools.declarations import NeededWorld
from seal.pools.lookup import open_pool, with_functions
from seal.pools.pool import StoredPool
from seal.retrievers import build
from seal.runs.judges import JudgeChoice
from seal.runs.run import BASELINES, RunFolder
from seal.runs.settings import (
    LIMITS,
    SIMULATOR,
    AgentChoice,
    GivenElse,
    ModelChoice,
    Origin,
    Play,
    RunSettings,
    TeamChoice,
    changed,
)

# -- What a run really plays: its settings without gaps, and the pool's tasks as it wants them.
#
# A gap in the settings is filled by what the benchmark says, else by the default.


class Played(NamedTuple):
    """The settings of a run without gaps, and its pool under them."""

    settings: RunSettings
    pool: StoredPool


def played(settings: RunSettings, folder: RunFolder | None = None) -> Played:
    """Return what a run plays.

    Args:
        settings: As the user gave them.
        folder: Of the run, which may have begun.

    Raises:
        UnknownNameError: No such pool or team.
        UsageError: Settings that cannot be together, or tasks that need a world and have none.
        DataError: The folder is no pool, or says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    pool = with_functions(open_pool(settings.pool), settings.allow_code)
    whole = completed(settings, pool, folder)
    viewed = part_of(pool.benchmark, "view")
    view = None if viewed is None else viewed(whole, pool)
    if view is not None:
        pool = StoredPool(pool.folder, view, pool.benchmark)
    return Played(whole, _in_their_worlds(whole, pool))


def _in_their_worlds(settings: RunSettings, pool: StoredPool) -> StoredPool:
    """Return the pool without the tasks that need a world and have none.

    What a simulator makes up for them says nothing of an agent. A recording may be played: it
    answers as it was answered then.

    Raises:
        UsageError: The run is to simulate such tasks, or has no other ones; tells the repair.
    """
    needed = part_of(pool.benchmark, "needs_world")
    named = settings.environment
    if needed is None or named not in (None, SIMULATOR) or settings.simulator == "recorded":
        return pool

    def lacking(task: Task) -> NeededWorld | None:
        world: NeededWorld | None = needed(task)
        return None if world is not None and named is None and task.world else world

    lacks: dict[str, NeededWorld] = {}
    counts: Counter[str] = Counter()
    for task in pool.tasks(settings.select):
        world = lacking(task)
        counts["" if world is None else world.name] += 1
        if world is not None:
            lacks.setdefault(world.name, world)
    others = counts.pop("", 0)
    if not lacks:
        return pool
    if named is not None or not others:
        raise UsageError(_no_world(pool.name, lacks, counts, named))
    return pool.without(lambda task: lacking(task) is not None, counts)


def _no_world(
    pool: str, lacks: Mapping[str, NeededWorld], counts: Mapping[str, int], named: str | None
) -> str:
    """Return why tasks cannot be played, and the repair."""
    told = (
        f"{pool}: {counted(counts[name], 'selected task')} cannot be played without the world "
        f"{name}, for which no simulator stands in"
        for name in lacks
    )
    instead = "add" if named is None else f"instead of --environment {named} give"
    given = " or ".join(f"--environment {name}" for name in lacks)
    cures = [f". {world.cure}" for world in lacks.values() if world.cure]
    return f"{'; '.join(told)}; {instead} {given}, or --select other tasks{''.join(cures)}"


def team_part(settings: RunSettings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the team, and those of worlds."""
    taken = team_options(settings.play.team)
    options = settings.world_options
    return (
        {name: value for name, value in options.items() if name in taken},
        {name: value for name, value in options.items() if name not in taken},
    )


_PLAY = tuple(field.name for field in fields(Play))
FILLED = (*_PLAY, "retriever", "judge")
"""Settings whose default says what is played only once they are completed."""


def completed(
    settings: RunSettings, pool: StoredPool, folder: RunFolder | None = None
) -> RunSettings:
    """Return settings of which none is missing, with the origin of each value.

    Team, history and format are named, the retriever is `GivenElse` where nobody names one, and
    the judge is a rule or a model. None that is left in a setting is its value: no limit, or each
    task's or published judge's own. Whoever completes them again changes nothing. What a task says
    of its own limits goes before the defaults of the run, task by task (`seal.runs.chats`).

    Args:
        settings: As the user gave them.
        pool: That is played.
        folder: Of the run. One that has begun keeps the retriever that it had by default.

    Raises:
        OptionError: An option that the benchmark cannot have under these settings.
        DataError: The pool says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    own = _play_of(pool, settings)
    of_benchmark = part_of(pool.benchmark, "settings")
    settings = settings if of_benchmark is None else of_benchmark(settings, own)
    play: dict[str, Any] = {**{name: getattr(Play(), name) for name in _PLAY}, **own}
    by: dict[str, Origin] = {name: "benchmark" if name in own else "default" for name in _PLAY}
    gaps = [name for name in _PLAY if getattr(settings, name) is None]
    origins = {**settings.origins, **{name: by[name] for name in gaps}}
    told = {name: origin for name, origin in origins.items() if origin != "default"}
    whole = replace(settings, **{name: play[name] for name in gaps}, origins=told)
    retriever = _by_default(whole, folder) if whole.gives_tools else whole.retriever
    team = build_team(whole.team, whole.roles, team_part(whole)[0])
    if own.get("prompt") == THEIRS:
        from seal.runs.role_models import hears_system, prompts_of

        hearing = hears_system(team) & prompts_of(team).keys()
        whole = replace(whole, prompts={**dict.fromkeys(sorted(hearing), THEIRS), **whole.prompts})
    has_judge = bool({**team.models, **whole.role_models}.get("judge"))
    judge = JudgeChoice.of(whole.judge, has_judge).text
    return replace(whole, retriever=retriever, judge=judge)


def _by_default(settings: RunSettings, folder: RunFolder | None) -> GivenElse:
    """Return what offers tools where nobody names a retriever.

    A run that has begun keeps its own: the general one was another before.
    """
    named = settings.retriever
    usual = named if isinstance(named, GivenElse) else GivenElse(build.DEFAULT)
    begun = folder is not None and folder.is_begun
    system = folder.manifest().get("system") if folder is not None and begun else None
    told = str((system or {}).get("retriever"))
    before = GivenElse(told.removeprefix(GivenElse("").identity))
    return before if told == before.identity else usual


def _play_of(pool: StoredPool, settings: RunSettings) -> Mapping[str, Any]:
    """Return the settings that a pool is made for: what its benchmark says goes first.

    Raises:
        DataError: A setting that a pool does not have, or that is no text.
        CodeRefusedError: A team that is code, which the settings do not allow.
    """
    given: Any = pool.report.get("play", {})
    known = isinstance(given, dict) and set(given) <= set(PLAY)
    if not known or not all(isinstance(value, str) for value in given.values()):
        raise DataError(
            f"{pool.folder}/import.json: play: expected texts for {', '.join(PLAY)}, "
            f"got {given!r}; import the pool again"
        )
    declared = {} if pool.benchmark is None else pool.benchmark.play
    if settings.team is None and "team" in given and "team" not in declared:
        place = f"{pool.folder}/import.json: play.team"
        TEAMS.check_named(given["team"], place, settings.allow_code)
    return {**given, **declared}


# -- The settings of the floor and the ceiling that are played beside a run.


def baselines_of(
    settings: RunSettings, all_given: bool, alike: bool = False
) -> dict[str, RunSettings]:
    """Return the settings of the floor and the ceiling of a run.

    A user that was named is the run's own. Rules judge and the template simulates, which cost
    nothing.

    Args:
        settings: Of the run.
        all_given: Whether it plays every goal with the tools that the task gives.
        alike: Whether judge and simulator are the run's own, too.
    """
    lexical = isinstance(settings.model, str) and bare_name(settings.model) == "lexical"
    floor = "random" if lexical else "lexical"
    parts = {
        "floor": changed(settings, model=floor),
        "ceiling": changed(
            settings,
            model="oracle",
            retriever=settings.retriever if all_given else "oracle",
            retriever_options={},
        ),
    }
    return {
        name: changed(
            parts[name],
            **_measuring(settings, alike),
            roles={role: agent for role, agent in settings.roles.items() if role == USER},
            trials=1,
            baselines=False,
            model_options={},
            **dict.fromkeys(LIMITS),
        )
        for name in BASELINES
    }


def all_given(settings: RunSettings, tasks: Iterable[Task]) -> bool:
    """Tell whether a run plays every goal with the tools that the task gives."""
    return settings.gives_tools and all(
        goal.offered is not None for task in tasks for goal in task.goals
    )


def _measuring(settings: RunSettings, alike: bool) -> dict[str, Any]:
    """Return the settings by which a baseline is measured: judge, simulator, and their models.

    A person who plays the user is not asked to play it for the baselines too.
    """
    judge, simulator = JudgeChoice.of(settings.judge), settings.simulator
    kept = ("judge", "simulator", USER) if alike else (USER,)
    models = {r: m for r, m in settings.role_models.items() if r in kept}
    if models.get(USER) == "human":
        del models[USER]
    if not alike:
        if isinstance(simulator, str):
            parts = ("template" if part == "llm" else part for part in simulator.split("+"))
            simulator = "+".join(dict.fromkeys(parts))
        rule = ",".join((*judge.published, "rule"))
        return {"role_models": models, "judge": rule, "votes": None, "simulator": simulator}
    main = settings.main
    if judge.source == "llm":
        models.setdefault("judge", main)
    if simulator == "llm":
        models.setdefault("simulator", main)
    return {"role_models": models}


# -- What is tried by a run: the settings that an agent of any kind stands for.


_CALLER = "execution_manager"
_KINDS = (
    "a model (PROVIDER/MODEL or an object with complete), a seal.Team, a role with reply(chat), "
    "a function of (request, tools) or (request, chat), an agent or a GroupChat of AutoGen, "
    "package.module:attribute of any of these, or bridge:COMMAND or bridge:URL of one elsewhere"
)
AgentUnderTest: TypeAlias = Annotated[
    ModelChoice | TeamChoice | AgentChoice | Callable[..., Any], _KINDS
]
"""Whatever a run may try."""


def trying(agent: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a run that tries an agent; what they say themselves goes before.

    Args:
        agent: As of `settings_of`.
        settings: By name of a field of `RunSettings`.

    Raises:
        UsageError: It is no agent.
        UnknownNameError: No model of that name.
    """
    tried = settings_of(agent)
    given = {name: value for name, value in settings.items() if value is not None}
    if "roles" in tried:
        given["roles"] = {**tried["roles"], **given.get("roles", {})}
    return {**settings, **tried, **given}


def settings_of(agent: Any) -> dict[str, Any]:
    """Return the settings of a run that tries an agent.

    Args:
        agent: A model's name or object; a team; an object or class with `reply(chat)`, which then
            calls the tools; a function of (request, tools) or (request, chat), plain, async or a
            generator; an agent or a `GroupChat` of AutoGen, a class of one, or a function without
            arguments that makes one; or a dotted path to any of these; or `bridge:COMMAND` or
            `bridge:URL`, for an agent that runs elsewhere.

    Raises:
        UsageError: It is no agent.
        UnknownNameError: No model of that name.
    """
    if isinstance(agent, str):
        return _settings_of_name(agent)
    if inspect.iscoroutine(agent):
        agent.close()
        raise UsageError(
            "a coroutine is no agent; give the function itself, not what calling it returns"
        )
    if isinstance(agent, (Team, ArrangedTeam)):
        return {"team": agent}
    if not isinstance(agent, type) and (hasattr(agent, "complete") or hasattr(agent, "open")):
        return {"model": agent}
    from seal.agents.own import CodeAgent, OwnModel

    is_role = callable(getattr(agent, "reply", None)) or isinstance(agent, PlayedAnew)
    if not (is_role or is_guest(agent) or makes_guest(agent)):
        if isinstance(agent, type) or not callable(agent):
            raise UsageError(f"{shortened(agent)} is no agent; expected {_KINDS}")
        CodeAgent(agent)  # raises where it takes other arguments
    return {"model": OwnModel(agent_name(agent)), "team": "direct", "roles": {_CALLER: agent}}


def _settings_of_name(agent: str) -> dict[str, Any]:
    module, colon, name = agent.partition(":")
    if module == "bridge":
        from seal.agents.bridge import Bridge

        is_url = name.startswith(("http://", "https://"))
        return settings_of(Bridge(url=name) if is_url else Bridge(name or None))
    file = Path(module)
    if file.suffix == ".py":
        path = f"{file.stem}:{name or 'NAME'}"
        place = "" if file.parent == Path() else f", with {file.parent} on PYTHONPATH"
        raise UsageError(f"agent {agent!r}: a file is no agent; name what it holds: {path}{place}")
    if split_name(agent)[0] in REGISTRY or "/" in agent:
        return {"model": agent}
    if not colon and is_module(agent):
        raise UsageError(f"agent {agent!r}: a module is no agent; name what it holds: {agent}:NAME")
    if not colon:
        raise UnknownNameError("agent or model", agent, REGISTRY.names())
    found = load_dotted(agent)
    with naming_stranger(agent):
        return settings_of(found)

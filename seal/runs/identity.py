"""What makes two runs the same, whether one may go on, and its folder before the first chat."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.agents import agent_name, source_digest
from seal.agents import identity_of as identity_of_agent
from seal.agents.autogen import distribution
from seal.agents.roles import OF_USER, PROMPTS, prompts_digest
from seal.agents.teams import MANAGER, USER, Team
from seal.core import JSON, Milestone, Plan, Tool, UsageError
from seal.core.call_formats import in_text
from seal.core.conditions import Called
from seal.core.files import content_of, whole_name
from seal.core.records import encode, write_records
from seal.core.registry import name_of
from seal.core.text import THEIRS, counted, one_line
from seal.core.values import digest
from seal.evaluation.goals import IN_ORDER
from seal.pools.benchmark import FUNCTION, benchmark_options, part_of
from seal.pools.importer import PSEUDO_ACTIONS, TOOLS
from seal.pools.importer import REGISTRY as BENCHMARKS
from seal.pools.pool import StoredPool, told_of
from seal.retrievers.build import DEFAULT, files_digest
from seal.runs.again import AGAIN, ASKED, ORIGINS, kept
from seal.runs.role_models import OF_JUDGES
from seal.runs.run import CALLS, GOLD, NAMED, REFUSED, RunFolder, spent_on, write_tasks
from seal.runs.settings import GROWING, RunSettings
from seal.sandbox import build_sandbox

if TYPE_CHECKING:
    from seal.runs.engine import Engine

# -- What makes two runs the same, and the folder of a run before its first chat.
#
# A run is the same where `measure` (what is asked and how it is judged) and `system` are.

SCRIPTED = "scripted"
"""Name of the agent that plays the user without a model."""
_LIMITS = ("max_turns", "max_calls", "max_messages", "max_tokens", "max_seconds")
SHARD = "shard"
"""Part of run.json of an earlier version: which part of its tasks a run has, `I/N`."""
LEFT_OUT = "left_out"
"""Part of `measure`: world to how many of the selected tasks need it and are not played."""
_FEW = 3
"""Tools that a warning names."""


def warnings_of(measure: Mapping[str, Any], system: Mapping[str, Any]) -> list[str]:
    """Return what a reader of the run should be warned of."""
    return [*told_left_out(measure.get(LEFT_OUT, {})), *_judging_itself(measure, system)]


def told_left_out(left_out: Mapping[str, int]) -> Iterator[str]:
    """Yield how many tasks are not played because the run has not the world that they need."""
    for world, count in left_out.items():
        yield (
            f"left out: {counted(count, 'task')}, which cannot be played without the world "
            f"{world}; to play them, add --environment {world}"
        )


def _judging_itself(measure: Mapping[str, Any], system: Mapping[str, Any]) -> list[str]:
    """Return that a model judges its own answers."""
    judge = measure["judge"]
    named = [one.get("model") for one in judge.get("panel", [judge])]
    told = system.get("model")
    player = told.get("model") if isinstance(told, Mapping) else None
    if player is None or player not in named:
        return []
    return [
        f"{player} judges its own answers, which models tend to favour; "
        "name another judge: --role-model judge=MODEL"
    ]


def versions() -> dict[str, str]:
    """Return the versions of the distributions that shape what is said and found."""
    autogen, number = distribution() or ("autogen", "none")
    return {
        "seal-api-llms": version("seal-api-llms"),
        autogen: number,
        "faiss-cpu": version("faiss-cpu"),
    }


def measure_of(engine: Engine) -> dict[str, JSON]:
    """Return what a run measures: data, simulator, judge, limits, seed.

    Raises:
        UsageError: A judge's model cannot judge, or a task needs a sandbox that is not there.
    """
    s, measured = engine.settings, engine.team.measured
    return {
        "pool": engine.pool.name,
        "pool_digest": engine.pool.digest,
        "select": dict(s.select),
        **({LEFT_OUT: dict(engine.pool.left_out)} if engine.pool.left_out else {}),
        **told_of(s),
        **{name: getattr(s, name) for name in ("trials", "feedback", *_LIMITS, "seed")},
        "simulator": engine.environments.identity(),
        "user": _user_of(engine),
        "judge": engine.judges.identity(),
        "history": s.play.history,
        **_of_benchmark(engine, "measure"),
        **({"asked": dict(measured)} if measured else {}),
        **sandbox_identity(s, engine.pool),
        "cutoffs": list(s.cutoffs),
        **({"without_spoilt": True} if s.without_spoilt else {}),
        "metrics": [name_of(metric) for metric in s.metrics],
    }


def identity_of_run(engine: Engine) -> dict[str, dict[str, JSON]]:
    """Return `{measure, system}`: two engines that have the same play the same."""
    return {"measure": measure_of(engine), "system": system_of(engine)}


def _user_of(engine: Engine) -> JSON:
    """Return who plays the user: `goal` where it only speaks the goals."""
    s = engine.settings
    every = engine.pool.outlines(s.select)
    if USER not in s.role_models and not any(task.persona for task in every):
        return "goal"
    agent = engine.team.roles.get(USER)
    user: dict[str, JSON] = {"agent": identity_of_agent(agent), "brief": s.user_brief}
    if USER in engine.prompts:
        user["prompt"] = digest(engine.prompts[USER])
    elif agent == USER:
        user["prompt"] = digest(OF_USER.text)
    if agent == USER and in_text(s.play.format) and USER not in s.role_models:
        user["format"] = s.play.format
    return user if agent == SCRIPTED else {**user, **engine.cast.of(USER).identity}


def system_of(engine: Engine) -> dict[str, JSON]:
    """Return what is measured: models, retriever, roles and their prompts, versions."""
    s, team, cast = engine.settings, engine.team, engine.cast
    models = {role: cast.of(role).identity for role in sorted(s.role_models)}
    # The usual retriever reads no files; tasks that give their tools never load it.
    usual = s.finder == DEFAULT and not s.retriever_options
    read = None if usual else files_digest(s.finder, s.retriever_options)
    return {
        "model": cast.of("execution_manager").identity,
        "role_models": {r: m for r, m in models.items() if r not in ("judge", "simulator")},
        "retriever": name_of(s.retriever),
        "retriever_options": {k: str(v) for k, v in sorted(s.retriever_options.items())},
        **({"retriever_files": read} if read is not None else {}),
        **{name: getattr(s, name) for name in ("retrieve", "top_k", "temperature")},
        **cast.presentation,
        "team": team.name,
        **({"speaker_selection": "auto"} if engine.selection == "auto" else {}),
        **_of_benchmark(engine, "system"),
        **({"arranged": dict(team.arranged)} if team.arranged else {}),
        "roles": {role: identity_of_agent(agent) for role, agent in sorted(team.roles.items())},
        "prompts": prompts_digest(),
        **({"own_prompts": own} if (own := _own_prompts(engine)) else {}),
        **({"allow_code": sorted(set(s.allow_code))} if s.allow_code else {}),
        "versions": versions() | _sources(team),
    }


def _own_prompts(engine: Engine) -> dict[str, JSON]:
    """Return role to a digest of the prompt that it has instead of ours.

    The user's, and those of the simulator and of judges, are parts of the measure; a checker asks
    as judges do, so that theirs are parts of the system too where it speaks.
    """
    checks = engine.judges.checks_by_model
    return {
        name: text if text == THEIRS else digest(text)[:12]
        for name, text in sorted(engine.prompts.items())
        if name not in (USER, "simulator") and (checks or not name.startswith(OF_JUDGES))
    }


def _of_benchmark(engine: Engine, part: str) -> dict[str, JSON]:
    """Return the options of the benchmark that were given and belong to a part of run.json."""
    taken = benchmark_options(engine.pool.benchmark)
    given = engine.settings.world_options
    return {name: given[name] for name, of in taken.items() if of == part and name in given}


def _sources(team: Team) -> dict[str, JSON]:
    """Return the sources of a user's own roles, as the versions of what else shapes a run."""
    found = {str(name_of(agent)): source_digest(agent) for agent in team.roles.values()}
    return {name: told for name, told in sorted(found.items()) if told is not None}


def sandbox_identity(settings: RunSettings, pool: StoredPool) -> dict[str, JSON]:
    """Return `{"sandbox": ...}` where a task of the run runs code, else nothing.

    A run whose limit ends before such a task needs no sandbox, and is told why there is none; it
    may go on with a higher limit only where that is still so.

    Raises:
        UsageError: A task that is played needs the sandbox, and it cannot be used here.
    """
    runs_code = part_of(pool.benchmark, "runs_code")
    if runs_code is None:
        return {}
    if not any(map(runs_code, pool.tasks(select=settings.select))):
        return {}
    needed = any(map(runs_code, pool.chosen(settings)))
    return {"sandbox": identity_of(settings.sandbox, needed)}


def identity_of(sandbox: str, needed: bool = False) -> dict[str, JSON]:
    """Return the name that a sandbox was asked by, and its identity, or why it is missing.

    Raises:
        UsageError: It is needed, and cannot be used here.
    """
    try:
        return {"asked": sandbox, **build_sandbox(sandbox).identity()}
    except UsageError as error:
        if needed:
            raise
        return {"asked": sandbox, "missing": str(error)}


_BEFORE_IT_IS_A_RUN = {".lock", "tools.jsonl", "tasks.jsonl"}


def check_folder(path: Path, resume: bool) -> None:
    """Make sure that a run may begin, or go on, in a folder.

    A folder whose run ended before run.json was written can be used again.

    Raises:
        UsageError: It is a file, holds a run that is not to be resumed, a pipe or other things.
    """
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; give --out a folder")
    entries = [*path.iterdir()] if path.is_dir() else []
    if pipe := next(filter(Path.is_fifo, entries), None):
        raise UsageError(f"{pipe} is a pipe, for whose writer the run would wait; remove it")
    names = {entry.name for entry in entries}
    if "run.json" in names:
        if not resume:
            raise UsageError(f"{path} holds a run already; add --resume, or give another --out")
        return
    others = sorted(n for n in names - _BEFORE_IT_IS_A_RUN if whole_name(n) == n)
    if others:
        raise UsageError(
            f"{path} is not empty and holds no run (but {others[0]!r}); give --out a new folder"
        )


def prepare(
    engine: Engine, resume: bool, only: Collection[str] | None = None, again: str = ""
) -> list[str]:
    """Write the run's tasks, tools and manifest, or make sure that they are the same as before.

    Of the tasks, those whose ids are in `only`, where it is given. `again` says in words which
    tasks of which other run these are.

    Returns:
        What a reader of the run should be warned of; it is stored in run.json too.

    Raises:
        UsageError: The folder holds a run of other settings; names each that differs.
    """
    settings, folder, pool = engine.settings, engine.folder, engine.pool
    check_folder(folder.path, resume)  # again: another process may have been faster
    clear_rests(folder)
    measure, system = measure_of(engine), system_of(engine)
    before: dict[str, Any] = {}
    if folder.is_begun:
        before = deepcopy({**folder.manifest()})
        without_order(before.get("measure", {}))
        if "metrics" in before.get("measure", {}) and not folder.scores_path.exists():
            # Nothing is scored yet, so a metric that was refused can be mended or left out.
            before["measure"]["metrics"] = measure["metrics"]
        with_gold_of_now(before.get("measure", {}), pool)
        was_judged = any(role == "judge" for role, _ in spent_on(folder).asked)
        if not was_judged and "model" in before.get("measure", {}).get("judge", {}):
            before["measure"]["judge"] = measure["judge"]  # a wrong address can be mended
        check_resumable(before, {"measure": measure, "system": system}, folder.path)
        if SHARD in before:
            raise UsageError(
                f"{folder.path} is part {before[SHARD]} of a run, and parts are played no more; "
                "give another --out, and play the whole"
            )
        if (former := before.get(AGAIN, "")) != again:
            told = f"for {former}: with --again and --from" if former else "without --again"
            raise UsageError(f"{folder.path} was begun {told}; resume it so")
    write_records(folder.path / "tools.jsonl", pool.tools())
    tasks = pool.chosen(settings)
    wanted = (task for task in tasks if only is None or task.id in only)
    chosen_by = [measure, system, None if only is None else sorted(only)]
    calls_alone = write_tasks(folder.path / "tasks.jsonl", wanted, chosen_by)
    warnings = [*warnings_of(measure, system), *_simulated(pool), *_without_result(settings, pool)]
    some: dict[str, Any] = {
        "benchmark": {} if pool.benchmark is None else pool.benchmark.declared(pool.name),
        GOLD: CALLS if calls_alone else "",
        "agent": agent_name(engine.team.roles[MANAGER]) if engine.tries_own_agent else "",
        AGAIN: again,
        ASKED: kept(settings),
        **{part: before.get(part) for part in (REFUSED, NAMED)},
        PROMPTS: dict(engine.prompts),
        ORIGINS: dict(settings.origins),
    }
    every = {"measure": measure, "system": system, "warnings": warnings}
    if PSEUDO_ACTIONS in pool.report:
        every[PSEUDO_ACTIONS] = pool.report[PSEUDO_ACTIONS]
    folder.write_json("run.json", every | {name: part for name, part in some.items() if part})
    return warnings


def _simulated(pool: StoredPool) -> Iterator[str]:
    """Yield that functions which the pool names do not run, as nobody allowed it."""
    run = {} if pool.benchmark is None else pool.benchmark.functions
    written = (str(tool.source.get(FUNCTION, "")) for tool in pool.tools())
    named = [path for path in written if ":" in path]  # a plain name is none of Python's
    modules = sorted({path.partition(":")[0] for path in named})
    if named and not run:
        yield (
            f"calls of {counted(len(named), 'function')} of {', '.join(modules)} are simulated; "
            f"to run them: " + " ".join(f"--allow-code {module}" for module in modules)
        )


def _without_result(settings: RunSettings, pool: StoredPool) -> Iterator[str]:
    """Yield of which of the user's own tools the template cannot tell what they return."""
    own = pool.benchmark is None or pool.benchmark.name not in BENCHMARKS
    if settings.simulator != "template" or settings.environment or not own:
        return
    from seal.simulator_cache.plausible import implied_fields

    run = {} if pool.benchmark is None else pool.benchmark.functions
    simulated = (tool for tool in pool.tools() if tool.returns is None and tool.id not in run)
    silent = [tool.name for tool in simulated if not implied_fields(tool)]
    if silent and not all(task.world for task in pool.tasks()):
        more = f" and {len(silent) - _FEW} more" if len(silent) > _FEW else ""
        names = ", ".join(one_line(name, 60) for name in silent[:_FEW])
        yield (
            f"neither name nor schema says what {names}{more} returns, so "
            "template answers null; a model writes answers: --simulator llm "
            "--role-model simulator=PROVIDER/MODEL"
        )


def clear_rests(folder: RunFolder) -> None:
    """Remove what chats in progress left, and files that were not written to their end."""
    shutil.rmtree(folder.path / "live", ignore_errors=True)
    for part in folder.path.glob(".*.json*.part"):
        part.unlink(missing_ok=True)


# -- Whether a run may go on under the settings given now.


Plans = tuple[Plan, ...] | None
_FORMER = {"style"}
"""Parts of old records that another part says: an execution manager that is `react`."""


def differences(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    same: Callable[[str, Any, Any], bool] = lambda key, old, new: bool(old == new),
) -> list[str]:
    """Return in which settings two manifests differ, both values with each."""
    return [
        f"{part}.{key}: was {old.get(key)!r}, is {new.get(key)!r}"
        for part in ("measure", "system")
        for old, new in [(before.get(part, {}), now[part])]
        for key in sorted({*old, *new} - _FORMER)
        if not same(key, old.get(key), new.get(key))
    ]


def check_resumable(before: Mapping[str, Any], now: Mapping[str, Any], folder: Any) -> None:
    """Make sure that a run may go on under the settings given now.

    Raises:
        UsageError: Names each setting that differs, both values, and the repair.
    """
    if differing := differences(before, now, _same):
        judged = any(each.startswith("measure.judge:") for each in differing)
        scored = f"Let the judge of now score it (seal score {folder}), resume"
        raise UsageError(
            f"{folder} holds a run of other settings; " + "; ".join(differing) + ". "
            f"{scored if judged else 'Resume'} with the settings of then, or give another --out"
        )


def without_order(measure: dict[str, Any]) -> None:
    """Tell of an old run, whose limit took the head of the file, in the words of now."""
    if measure.get("limit") is not None and "order" not in measure:
        measure |= {"limit": None, "first": measure["limit"]}


def with_gold_of_now(measure: dict[str, Any], pool: StoredPool) -> None:
    """Tell of an old run, whose gold said nothing of defaults and order, in the words of now."""
    if measure.get("pool_digest") in (None, pool.digest):
        return
    tools = {tool.id: tool for tool in pool.tools()}
    written = hashlib.sha256()
    for task in pool.every_task():
        goals = (
            replace(
                goal,
                plans=_as_asked(goal.plans, tools),
                labels={name: said for name, said in goal.labels.items() if name != IN_ORDER},
            )
            for goal in task.goals
        )
        written.update(encode(replace(task, goals=tuple(goals))))
    tools_file = hashlib.sha256(content_of(pool.folder / TOOLS))
    then = hashlib.sha256(tools_file.digest() + written.digest()).hexdigest()
    if measure["pool_digest"] == then:
        measure["pool_digest"] = pool.digest


def _as_asked(plans: Plans, tools: Mapping[str, Tool]) -> Plans:
    """Return plans without the defaults that gold calls accept beside what they ask."""
    from seal.pools.own_benchmark import default_arguments

    def node(milestone: Milestone) -> Milestone:
        gold = milestone.condition
        if not isinstance(gold, Called) or gold.arguments is None or gold.tool not in tools:
            return milestone
        defaults = default_arguments(tools[gold.tool])
        asked = {n: a for n, a in gold.arguments.items() if a != defaults.get(n)}
        return replace(milestone, condition=Called(gold.tool, asked))

    return plans and tuple(
        Plan(tuple(map(node, plan.milestones)), tuple(map(node, plan.minefields))) for plan in plans
    )


def _same(key: str, old: Any, new: Any) -> bool:
    """Tell whether a run may go on with a part: the same, grown, or told of by fewer versions."""
    if key == "versions" and isinstance(old, Mapping):
        return all(old[name] == new[name] for name in old.keys() & new.keys())
    if old == new or key not in GROWING:
        return bool(old == new)
    return new is None or (isinstance(old, int) and new >= old)

"""The settings of the floor and the ceiling that are played beside a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from seal.agents.teams import USER
from seal.core import Task
from seal.models import Flagged, bare_name
from seal.runs.judge_setup import JudgeChoice
from seal.runs.run_folder import BASELINES
from seal.runs.settings import RunSettings, changed


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
            hooks=(),
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
    main = Flagged(settings.model, settings.base_url, settings.model_options)
    if judge.source == "llm":
        models.setdefault("judge", main)
    if simulator == "llm":
        models.setdefault("simulator", main)
    return {"role_models": models}

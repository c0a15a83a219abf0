"""Roles seated one by one: who spoke, what it took, and what it caught and caused.

The conditions: `none` of the roles, each of them alone, and `all` of them. A role that is seated is
the agent that the settings name for it; else the planner splits requests, the verifier is the
model's, or a rule where no model is asked, and the checker sends an unsolved request back once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from seal.agents.roles import Checker
from seal.core import UnknownNameError, UsageError
from seal.experiments.series import Condition
from seal.models import is_offline
from seal.runs.run_folder import RunFolder
from seal.runs.settings import RunSettings, changed

NONE = "none"
ALL = "all"
ROLES = ("planner", "verifier", "checker")


def seated(roles: Sequence[str], settings: RunSettings) -> list[Condition]:
    """Return the run without the roles, those with each alone, and the one with all.

    Raises:
        UnknownNameError: A role that cannot be taken away.
        UsageError: One that stands twice.
    """
    for role in roles:
        if role not in ROLES:
            raise UnknownNameError("role to seat and to take away", role, ROLES)
        if roles.count(role) > 1:
            raise UsageError(f"--roles: {role} stands twice; give each role once")
    empty: dict[str, Any] = {**settings.roles, **dict.fromkeys(roles)}
    agents = {role: settings.roles.get(role) or _usual(role, settings) for role in roles}
    sets: dict[str, Mapping[str, Any]] = {NONE: {}, **{r: {r: agents[r]} for r in roles}}
    if len(roles) > 1:
        sets[ALL] = agents
    return [
        Condition(name, changed(settings, roles={**empty, **chosen}))
        for name, chosen in sets.items()
    ]


def _usual(role: str, settings: RunSettings) -> Any:
    if role == "planner":
        return "decompose"
    if role == "verifier":
        model = settings.role_models.get(role, settings.model)
        return "rule_verifier" if is_offline(model) else "verifier"
    return Checker(returns=1)


def silent(runs: Mapping[str, RunFolder], spoke: Mapping[str, Set[str]]) -> list[str]:
    """Return a note for each role that was seated and never spoke: its runs tell nothing of it.

    A run in which nobody spoke, for the infrastructure failed, is in no note.

    Args:
        runs: Condition to its run.
        spoke: Condition to the roles that spoke in it.
    """
    found: dict[str, list[str]] = {}
    for name, folder in runs.items():
        seats = folder.manifest()["system"]["roles"] if spoke[name] else ()
        for role in sorted(set(seats) - spoke[name]):
            found.setdefault(role, []).append(name)
    return [f"{role}: seated, and never spoke ({', '.join(found[role])})" for role in sorted(found)]

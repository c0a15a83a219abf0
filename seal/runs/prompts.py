"""The prompts that a run has instead of ours: who asks by them, and what they may hold."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from seal.agents import REGISTRY as AGENTS
from seal.agents.roles import Prompt
from seal.agents.teams import MANAGER, USER, Team
from seal.core import UsageError, nearest
from seal.core.text import THEIRS, variables_in
from seal.evaluation.llm_judge import prompt as of_judge
from seal.runs.role_models import OF_JUDGES
from seal.simulator_cache.llm import shipped_simulator_prompt

if TYPE_CHECKING:
    from seal.pools.pool import StoredPool
    from seal.runs.settings import RunSettings

_SIMULATOR = "simulator"


def hears_system(team: Team) -> set[str]:
    """Return the roles that are told what the system says: who leads, and who makes the calls."""
    found = set()
    for one in (team, *team.variants.values()):
        found |= {one.one_voice} if one.one_voice else {one.lead, MANAGER}
    return found


def prompts_of(team: Team) -> dict[str, Prompt]:
    """Return role to prompt, of the roles of a team that have one."""
    seats = [seat for one in (*team.variants.values(), team) for seat in one.roles.items()]
    found = {role: getattr(AGENTS.resolve(agent), "prompt", None) for role, agent in seats}
    return {role: prompt for role, prompt in found.items() if isinstance(prompt, Prompt)}


def own_prompts(
    settings: RunSettings, team: Team, of_judges: Collection[str], pool: StoredPool
) -> dict[str, str]:
    """Return name to prompt, of those that a run has instead of ours.

    An experiment and a baseline leave out what they have no use for.

    Args:
        settings: Of the run.
        team: Who is seated.
        of_judges: Names of the prompts by which judges are asked.
        pool: What is played.

    Raises:
        UsageError: A prompt is nobody's, or uses a variable that ours has not; names the repair.
    """
    texts = {role: prompt.text for role, prompt in prompts_of(team).items()}
    if USER not in settings.role_models and not any(
        task.persona for task in pool.outlines(settings.select)
    ):
        texts.pop(USER, None)  # it only speaks the goals
    texts |= {name: of_judge(name) for name in of_judges}
    if isinstance(settings.simulator, str) and "llm" in settings.simulator.split("+"):
        texts[_SIMULATOR] = shipped_simulator_prompt()
    found = {}
    for name, text in settings.prompt_texts.items():
        if name in texts:
            _check_prompt(name, text, texts[name], hears_system(team) & texts.keys())
            found[name] = text
        elif "experiment" not in settings.origins.values():
            raise UsageError(f"--prompt {name}: {_unasked(name, team, texts)}")
    return found


def check_judge_prompts(settings: RunSettings, of_judges: Collection[str]) -> None:
    """Make sure that a judge asks by each prompt that stands in the place of ours.

    Args:
        settings: With the prompts.
        of_judges: Names of the prompts by which judges are asked.

    Raises:
        UsageError: As `own_prompts` raises.
    """
    for name, text in settings.prompt_texts.items():
        if name not in of_judges:
            known = ", ".join(of_judges) or "none; name a model that judges: --judge-model MODEL"
            raise UsageError(f"--prompt {name}: prompts by which the judge is asked: {known}")
        _check_prompt(name, text, "", ())


def _check_prompt(name: str, text: str, ours: str, hearing: Collection[str]) -> None:
    """Raise UsageError where a prompt uses what there is not."""
    if text == THEIRS and name not in hearing:
        who = " and ".join(sorted(hearing)) or "roles"
        raise UsageError(
            f"--prompt {name}={THEIRS}: a task's system text goes to {who} alone; give a file for "
            f"{name}"
        )
    known = variables_in(ours)
    for variable in variables_in(text):
        if variable not in known:
            raise UsageError(
                f"--prompt {name}: no variable {{{variable}}}; it may use: "
                f"{', '.join(f'{{{one}}}' for one in known) or 'none'}. For the words themselves "
                f"write {{{{{variable}}}}}"
            )


def _unasked(name: str, team: Team, texts: Collection[str]) -> str:
    """Return why a run has no use for a prompt."""
    if name.startswith(OF_JUDGES):
        why = "no model judges by it; name one: --role-model judge=MODEL"
    elif name == _SIMULATOR:
        why = "no model simulates; let one: --simulator llm"
    elif name == USER:
        why = (
            "no model plays the user, or no task has a persona by which it would; let one: "
            f"--role-model {USER}=MODEL"
        )
    elif name in team.roles:
        why = "who plays it has no prompt"
    elif name in team.every_role():
        why = f"nobody plays it; seat one: --role {name}=AGENT"
    else:
        close = nearest(name, {*texts, *team.every_role()})
        why = f"team {team.name} has no such role" + (f"; did you mean {close!r}" if close else "")
    return f"{why}. Prompts of this run: {', '.join(sorted(texts))}"

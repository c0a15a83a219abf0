"""What each ablation varies, and the settings of its conditions.

In `injection`, gold replaces a stage:

- tools: the retriever is the oracle's.
- calls: the execution manager is played by the gold (`gold_calls`), with the tools that were
  retrieved; a gold tool that was not retrieved cannot be called. It reports what came back.
- results: calls of gold tools bring what the gold calls bring (the setting `gold_results`).
- all: all three, and every role is played by the gold: the ceiling.

Each of the first three replaces one stage and keeps the others, so the costs need not add up. What
two stages lose or save only together is in `all` alone.

In `roles` the conditions are `none`, each role alone, and `all`. The settings may name the agent of
a role. Otherwise the planner splits requests, and the checker sends an unsolved request back once.
The verifier then asks the model; it is a rule if the model is an offline one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.agents.roles import Checker
from seal.agents.teams import MANAGER, team_options
from seal.core import UnknownNameError, UsageError
from seal.core.registry import load_dotted, name_of
from seal.experiments.series import PlannedRun
from seal.models.spec import is_offline
from seal.pools.benchmark import Benchmark
from seal.retrievers.base import spec_of
from seal.runs.resolve import baselines_of
from seal.runs.settings import RunSettings, changed

PATTERNS = ("ife", "ifn", "ian", "iat", "iav", "iac", "rac")
ABSTENTION = ("abstained", "no_call", "says_cannot")
_SUCCESS = ("pass_rate", "similarity", "all_gold_calls")
_RELEVANT = ("relevant_called", "relevant_answered")
_TOKENS = ("tokens_in", "tokens_out")
ALL = "all"
_GOLD_PLAYER = "gold_calls"
_LONGEST = 60
"""Characters of a folder's name."""


@dataclass(frozen=True, slots=True)
class Variation:
    """One thing that may be varied."""

    name: str
    field: str
    """The setting of a run that is varied; empty: it is no single setting."""
    conditions: tuple[str, ...]
    """Values of the setting. A comparison subtracts a later condition from an earlier one."""
    told: tuple[str, ...]
    """Metrics that the ablation is about: they are in the short table, and p is corrected over
    them."""
    metrics: tuple[str, ...] = ()
    """Further metrics that the runs are scored by."""
    against: str = ""
    """Condition that all others are compared with; empty: every two are compared."""
    varied: str = ""
    """What differs, as comparison.json names it; empty: `option`, else `field`, else the tasks."""
    option: str = ""
    """`-T` option that is varied instead of a setting."""
    options: tuple[tuple[str, Any], ...] = ()
    """Names and values of `-T` options of every condition. The user's own values come first, and a
    team that does not take an option does not get it."""


ABLATIONS: Mapping[str, Variation] = {
    ablation.name: ablation
    for ablation in (
        Variation("feedback", "feedback", ("on", "off"), (*_SUCCESS, *PATTERNS, "recovery")),
        Variation(
            "format",
            "format",
            ("native", "action", "json"),
            (*_SUCCESS, "ife", "tokens_in_per_call", "tokens_out_per_call"),
            ("tokens_per_call",),
        ),
        Variation(
            "irrelevance",
            "",
            ("irrelevant", "answerable"),
            (*ABSTENTION, "calls", "pass_rate"),
            ("abstention",),
        ),
        Variation("similarity", "", ("all",), (*_SUCCESS, *PATTERNS)),
        Variation(
            "retriever",
            "retriever",
            ("hybrid", "tfidf", "bm25", "oracle"),
            ("recall", "mrr", *_SUCCESS, "call_recall", *PATTERNS),
        ),
        Variation(
            "injection",
            "",
            ("plain", "tools", "calls", "results", "all"),
            (*_SUCCESS, "call_recall", "param_acc_gold", "recall", *_RELEVANT),
            ("relevant_calls",),
            against="plain",
            varied="stages",
        ),
        Variation(
            "roles",
            "",
            (),
            (*_SUCCESS, "call_recall", "param_acc_gold", "calls", "turns", *_TOKENS),
            against="none",
            varied="roles",
        ),
        Variation(
            "react",
            "",
            ("react", "plain"),
            (*_SUCCESS, *PATTERNS, "turns", "tokens_in", "tokens_out"),
            varied="style",
        ),
    )
}
"""Name to ablation of any benchmark. `recall` and `mrr` stand for those at the largest cut-off."""


def ablation_named(name: str, benchmark: Benchmark | None = None) -> Variation:
    """Return an ablation of `ABLATIONS`, or one that the benchmark offers.

    Raises:
        UnknownNameError: There is no ablation of that name; the text names the closest.
    """
    offered = () if benchmark is None else benchmark.ablations
    own = [load_dotted(each) if isinstance(each, str) else each for each in offered]
    known: dict[str, Variation] = {**ABLATIONS, **{ablation.name: ablation for ablation in own}}
    if name not in known:
        raise UnknownNameError("ablation", name, known)
    return known[name]


def conditions_of(
    ablation: Variation,
    settings: RunSettings,
    retrievers: Sequence[Any] = (),
) -> list[PlannedRun]:
    """Return the conditions of an ablation whose runs have the same tasks.

    Args:
        ablation: Any but `irrelevance`.
        settings: What all runs share.
        retrievers: Those to compare, where retrievers are; none: the ablation's own.

    Raises:
        UsageError: A single retriever, or one twice, or an option that the ablation varies.
    """
    if ablation.name == "injection":
        return _injected(ablation, settings)
    if ablation.name == "roles":
        return _seated(settings)
    if ablation.name == "react":
        return _styled(settings)
    if not ablation.field:
        return [PlannedRun(name, settings) for name in ablation.conditions]
    values: Sequence[Any] = ablation.conditions
    if ablation.field == "retriever":
        values = _retrievers(retrievers or values)
    names = [_folder_name(value) for value in values]
    options = dict(ablation.options)
    if settings.team is not None:
        taken = team_options(settings.team)
        options = {name: value for name, value in options.items() if name in taken}
    if options:
        settings = changed(settings, world_options={**options, **settings.world_options})
    if ablation.option:
        if ablation.option in settings.world_options:
            raise UsageError(
                f"-T {ablation.option} is what the ablation {ablation.name} varies: leave it out"
            )
        values = [{**settings.world_options, ablation.option: value} for value in values]
    return [
        PlannedRun(name, changed(settings, **{ablation.field: value}))
        for name, value in zip(names, values, strict=True)
    ]


def _styled(settings: RunSettings) -> list[PlannedRun]:
    """Return the run whose execution manager thinks, and the one whose does not.

    Raises:
        UsageError: The settings name who plays the role.
    """
    if MANAGER in settings.roles:
        raise UsageError(
            f"the role {MANAGER} is what the ablation react varies, and "
            f"{name_of(settings.roles[MANAGER])} plays it: leave it out"
        )
    thinking = changed(settings, roles={**settings.roles, MANAGER: "react"})
    return [PlannedRun("react", thinking), PlannedRun("plain", settings)]


def _retrievers(wanted: Sequence[Any]) -> Sequence[Any]:
    if len(wanted) < 2:
        raise UsageError(
            f"an ablation of retrievers needs at least two, got {_label(wanted[0])}: "
            "give --retriever A --retriever B, or none for hybrid, tfidf, bm25 and oracle"
        )
    labels = [_folder_name(what) for what in wanted]
    for label, what in zip(labels, wanted, strict=True):
        if labels.count(label) > 1:
            raise UsageError(f"--retriever {_label(what)} stands twice; give each one once")
    return wanted


def _label(retriever: Any) -> str:
    return spec_of(retriever).identity


def _folder_name(value: Any) -> str:
    """Return a condition's name: that of a value, in characters that every file system takes."""
    text = value if isinstance(value, str) else _label(value)
    return re.sub(r"[^A-Za-z0-9._=-]+", "_", text).strip("._")[:_LONGEST] or "condition"


def _injected(ablation: Variation, settings: RunSettings) -> list[PlannedRun]:
    """Return the plain run and those with gold in the place of a stage."""
    ceiling = baselines_of(settings, all_given=False, alike=True)["ceiling"]
    models = {**settings.role_models, "execution_manager": _GOLD_PLAYER}
    asked = {
        "plain": settings,
        "tools": changed(settings, retriever="oracle", retriever_options={}),
        "calls": changed(settings, role_models=models),
        "results": changed(settings, gold_results=True),
        ALL: changed(
            ceiling,
            model=f"{_GOLD_PLAYER}:answer",
            roles=settings.roles,
            trials=settings.trials,
            gold_results=True,
        ),
    }
    return [PlannedRun(name, asked[name]) for name in ablation.conditions]


def _seated(settings: RunSettings) -> list[PlannedRun]:
    """Return the run without the roles, those with each alone, and the one with all."""
    is_rule = is_offline(settings.role_models.get("verifier", settings.model))
    usual = {
        "planner": "decompose",
        "verifier": "rule_verifier" if is_rule else "verifier",
        "checker": Checker(returns=1),
    }
    agents = {role: settings.roles.get(role) or one for role, one in usual.items()}
    sets = {"none": {}, **{role: {role: one} for role, one in agents.items()}, ALL: agents}
    empty = {**settings.roles, **dict.fromkeys(agents)}
    return [
        PlannedRun(name, changed(settings, roles={**empty, **chosen}))
        for name, chosen in sets.items()
    ]

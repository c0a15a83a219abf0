"""Gold in the place of one stage, and what the stage costs: the points that the gold is worth.

- tools: the retriever is the oracle's.
- calls: the execution manager is played by the gold (`models.gold_tools`), with the tools that were
  retrieved; a gold tool that was not retrieved cannot be called. It reports what came back.
- results: calls of gold tools bring what the gold calls bring (`runs.gold_results`).
- all: all three, and every role is played by the gold: the ceiling.

A stage is replaced alone and all others stay, so the costs need not add up: what only two stages
together lose or save is in `all` and in no single one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seal.experiments.ablation.conditions import Variation
from seal.experiments.comparison.pairs import rounded
from seal.experiments.series import Condition
from seal.runs.baselines import baselines_of
from seal.runs.settings import RunSettings, changed

PLAIN = "plain"
ALL = "all"
_PLAYER = "gold_calls"


def injected(ablation: Variation, settings: RunSettings) -> list[Condition]:
    """Return the plain run and those with gold in the place of a stage."""
    alike = changed(settings, baselines_alike=True)
    ceiling = baselines_of(alike, all_given=False)["ceiling"]
    models = {**settings.role_models, "execution_manager": _PLAYER}
    asked = {
        PLAIN: settings,
        "tools": changed(settings, retriever="oracle", retriever_options={}),
        "calls": changed(settings, role_models=models),
        "results": changed(settings, gold_results=True),
        ALL: changed(
            ceiling,
            model=f"{_PLAYER}:answer",
            roles=settings.roles,
            trials=settings.trials,
            gold_results=True,
        ),
    }
    return [Condition(name, asked[name]) for name in ablation.conditions]


def costs_of(comparisons: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each metric what each stage costs.

    Args:
        comparisons: Of each condition less the plain run.

    Returns:
        {metric, plain, stages: {name: {cost, low, high, n}}, together}: the mean of the plain run
        over the pairs of the first stage that has any, and the points that gold in the place of a
        stage adds, with 95 % intervals; `together` is what `all` adds beyond the sum of the single
        stages, None where one is missing.
    """
    by_metric: dict[str, dict[str, Mapping[str, Any]]] = {}
    for entry in comparisons:
        if entry["n"]:
            by_metric.setdefault(entry["metric"], {})[entry["run"]] = entry
    return [
        {
            "metric": metric,
            "plain": next(iter(found.values()))["other_mean"],
            "stages": {
                stage: {
                    "cost": entry["difference"],
                    "low": entry["low"],
                    "high": entry["high"],
                    "n": entry["n"],
                }
                for stage, entry in found.items()
            },
            "together": _together(found),
        }
        for metric, found in by_metric.items()
    ]


def _together(found: Mapping[str, Mapping[str, Any]]) -> float | None:
    single = [found.get(name) for name in ("tools", "calls", "results")]
    whole = found.get(ALL)
    if whole is None or not all(single):
        return None
    return rounded(whole["difference"] - sum(each["difference"] for each in single if each))

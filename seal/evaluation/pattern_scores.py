"""ToolScan's error patterns as scores, and what the agent made of its errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

from seal.core import JSON, Goal, Scale, UsageError
from seal.core.call_formats import repairs_of
from seal.evaluation.error_patterns import (
    LISTED,
    StepNote,
    events,
    findings_by_goal,
    first_error,
    repairs,
    transitions,
)
from seal.evaluation.goals import GoalChat, GoalMetric, Value, no_gold, undefined

if TYPE_CHECKING:
    from seal.evaluation.pattern_details import GoldComparison

# -- ToolScan's seven error patterns as scores of every goal, and what the agent made of errors.
#
# For a goal with e errors of a pattern and the step budget N:
#
#     score = 1 - min(e, N) / N, in [0, 1], 1 where the agent is free of the pattern
#
# N is `--max-turns` of the run. If the run does not say it, N is what the task says that it needs,
# at least 10, as in all of ToolScan's runs.
#
# - ife, ifn, ian, iat: steps of the pattern (`error_patterns`); N = the budget.
# - rac: valid calls that were made before; N = the budget. Its details count the repetitions of
#   invalid calls too (`RepeatedAnyhow` scores by both).
# - iav: calls that lack a required argument, or have a value outside of the schema, or one that the
#   tool itself refused by an exception of values (`OF_VALUES`). If the tool took the same call at
#   another time, or gold has it, it refused no value: the call came too early, say. Its gold call
#   is then one that was not made (iac). So says `param_acc_matched`, too. Gold calls answered with
#   wrong values count too, each call once. N = the budget. Its details have 1 - e / |g| too.
# - iac: gold calls that were not made; N = the budget, as in the paper's formula, which is one for
#   all seven. A plan has fewer calls than the budget has steps, so that iac is high even of an
#   agent that makes none of them.
# - iac_upstream: the same calls; N = |g|, the gold calls of the plan that counts, as in ToolScan's
#   code. It is 0 where none was made.
#
# iac has no value where there is no gold. iav needs none for a missing required argument. Without
# gold calls, or without gold arguments, iav is scored by such calls alone, and its details say why
# as `without_gold`. It has no value if upstream cut the arguments of a gold tool.
#
# Of a goal without any call the patterns of calls say nothing, and both iac alone have a value.
#
# `details` of each has `errors`, e; `calls`, the steps that could have one: calls, and words where
# a call was due; and the first of the findings, each with its step. A report makes of them the rate
# by call, 1 - sum(e) / sum(calls), and the share of goals free of the pattern. Where calls had to
# be repaired to be read, those of ife have `repaired`: how many, and how often for which cause
# (`seal.core.text_formats.Repair`). Such calls are no errors of format.
#
# Source: Kokane et al., ToolScan (2024), section on metrics, which prints a sum over queries and
# calls it a percentage; its tables lie in 0..1, so that means over queries are meant.

BUDGET = 10
"""Steps that ToolScan gives an agent."""
MAX_TURNS = "max_turns"
"""Where a trajectory's provenance tells the turns that a goal was given."""
PATTERNS = ("iac", "rac", "iav", "ife", "iat", "ian", "ifn")
"""The seven, in the order of ToolScan's table of results."""
IAC_UPSTREAM = "iac_upstream"
SERVICE_ANSWERS = "service_answers"
NAMES = (*PATTERNS, IAC_UPSTREAM, "recovery", SERVICE_ANSWERS, "finished", "all_gold_calls")


_BY_STEP = ("ife", "iat", "ian", "ifn", "rac")
NO_CALL = "no call was made"
_UNTOLD = "the agent was told of no error"


@dataclass(frozen=True)
class ErrorPatterns(GoalMetric):
    """The seven error patterns and what stands beside them (`NAMES`).

    A pattern is 1 - e / N, for e errors of a goal and its step budget N: 1 if there is none. N is
    the run's `--max-turns`; without it, the steps that the task needs, but at least 10 as
    published.

    - iac: gold calls that were not made. There are fewer of them than N, so the score is high even
      for an agent that never calls. No value without gold calls.
    - iac_upstream: 1 - e / the number of gold calls, as in ToolScan's code.
    - rac: valid calls that were repeated, also to a service that gave no answer.
    - iav: wrong or missing values, and values that the tool of a world refuses. Without gold calls,
      only missing and inadmissible arguments.
    - ife: format errors.
    - iat: values of a wrong type.
    - ian: wrong argument names.
    - ifn: wrong function names.
    - recovery: share of errors repaired of those that the agent was told of (`repairs`). What a
      tool refused for another reason than its values is no error of the call. Its details have the
      calls that it took, the first error, and how errors followed on each other.
    - service_answers: share of valid calls that a service answered, rightly or not; its details
      count the failures by their cause (`Service`). What a dead service brings is no error of the
      agent.
    - finished: 1 where the agent ended the chat with an answer. Whether that was accepted,
      ToolScan's success, is `pass_rate`.
    - all_gold_calls: 1 where every gold call was made and is right (IAC = IAV(g) = 0).

    Args:
        budget: Steps of a goal, N; more than 0. None: what the trajectory's provenance tells
            (`MAX_TURNS`), else `BUDGET`.

    Raises:
        UsageError: The budget is none.
    """

    budget: int | None = None

    names: ClassVar[Sequence[str]] = NAMES
    scales: ClassVar[Mapping[str, Scale]] = {
        **dict.fromkeys(
            ("iac", IAC_UPSTREAM, "finished", "all_gold_calls"), Scale(gold_is_best=True)
        ),
        **dict.fromkeys(
            PATTERNS[1:], Scale(gold_is_best=True, condition="goals in which a call was made")
        ),
        "recovery": Scale(condition="errors that the agent was told of"),
        SERVICE_ANSWERS: Scale(condition="valid calls that were made"),
    }

    def __post_init__(self) -> None:
        """Check the budget."""
        if self.budget is not None and not _is_budget(self.budget):
            raise UsageError(f"step budget {self.budget!r}: expected a whole number above 0")

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal, those of `RepeatedAnyhow` and `IndependentMinima` too."""
        findings = goal.chat.once(findings_by_goal, goal.chat).get(goal.position, [])
        told = goal.trajectory.provenance.get(MAX_TURNS)
        budget = self.budget or (told if _is_budget(told) else BUDGET)
        acts = [f for f in findings if f.kind not in ("message", "cut")]
        errors = {name: [f for f in acts if f.kind == name.upper()] for name in _BY_STEP}
        errors["iav"] = [f for f in acts if f.wrong and (f.refusal or f.kind == "IAV")]
        errors["rac_all"] = [f for f in acts if f.earlier is not None]
        values = {
            name: Value(_share(len(found), budget), details=_details(found, len(acts)))
            for name, found in errors.items()
        }
        values["ife"].details.update(_repaired(acts))
        repeated = {"valid": len(errors["rac"]), "all": len(errors["rac_all"])}
        for name in ("rac", "rac_all"):
            values[name].details["repeated"] = repeated
        reason = no_gold(goal.goal)
        plans: list[GoldComparison] = []
        if not reason:
            from seal.evaluation.pattern_details import compare_plans

            plans = compare_plans(goal.goal.plans or (), findings)
        joint = min(plans, key=lambda plan: (plan.missing, plan.wrong), default=None)
        least = min(plans, key=lambda plan: (plan.wrong, plan.missing), default=None)
        own = values["iav"]
        values["iav"] = _wrong(goal.goal, findings, own, joint, budget)
        values["iav_independent"] = _wrong(goal.goal, findings, own, least, budget)
        if all(finding.kind == "message" for finding in findings):
            values = dict.fromkeys(values, undefined(NO_CALL))
        return {
            **values,
            **_missing(reason, joint, budget),
            "recovery": _recovery(findings, joint),
            SERVICE_ANSWERS: _services(findings),
            "finished": _finished(goal),
            "all_gold_calls": undefined(reason)
            if joint is None
            else Value(float(not joint.missing and not joint.wrong)),
        }


def _share(errors: int, whole: int) -> float:
    return 1.0 - min(errors, whole) / whole if whole else 1.0


def _missing(reason: str, plan: GoldComparison | None, budget: int) -> dict[str, Value]:
    """Return IAC by the paper's denominator, and by that of ToolScan's code."""
    if plan is None:
        return dict.fromkeys(("iac", "iac_independent", IAC_UPSTREAM), undefined(reason))

    errors, gold = plan.missing, plan.gold
    from seal.evaluation.pattern_details import gold_details

    iac = Value(_share(errors, budget), details=gold_details("IAC", plan))
    upstream = Value(_share(errors, gold), gold, details={"errors": errors, "gold": gold})
    return {"iac": iac, "iac_independent": iac, IAC_UPSTREAM: upstream}


def _wrong(
    goal: Goal, findings: Sequence[StepNote], own: Value, plan: GoldComparison | None, budget: int
) -> Value:
    """Return IAV: by steps alone (`own`) where gold has no arguments to compare with."""
    reason = no_gold(goal) or _no_arguments(goal)
    errors: int = own.details["errors"]
    if plan is None or reason:
        return replace(own, details={**own.details, "without_gold": reason})
    if _is_cut(goal, findings):
        return Value(None, 0.0, "arguments were cut upstream", own.details if errors else {})

    from seal.evaluation.pattern_details import gold_details

    details = gold_details("IAV", plan)
    # The tool may have refused the very values that gold has otherwise: that is one error.
    beside = {found.step for found in plan.findings if found.pattern == "IAV"}
    errors += details["errors"] - sum(f.step in beside for f in findings if f.wrong)
    alone = [told for told in own.details["findings"] if told["step"] not in beside]
    details |= {
        "errors": errors,
        "calls": own.details["calls"],
        "of_gold": _share(errors, plan.gold),
        "findings": [*alone, *details["findings"]][:LISTED],
    }
    return Value(_share(errors, budget), details=details)


class RepeatedAnyhow(ErrorPatterns):
    """One score beside `rac`.

    - rac_all: like `rac`, of repetitions of valid and of invalid calls.
    """

    names = ("rac_all",)


class IndependentMinima(ErrorPatterns):
    """The paper's minima.

    - iac_independent, iav_independent: the lowest IAC and IAV over all plans, each on its own.
    """

    names = ("iac_independent", "iav_independent")


def _is_budget(value: JSON) -> TypeGuard[int]:
    return type(value) is int and value > 0


def _repaired(acts: Iterable[StepNote]) -> dict[str, JSON]:
    """Return how many calls had to be repaired to be read, and what for; empty where none had."""
    found = [repairs_of(finding.call) for finding in acts if finding.call is not None]
    causes = Counter(cause for repairs in found for cause in repairs)
    if not causes:
        return {}
    return {"repaired": {"calls": sum(map(bool, found)), **dict(sorted(causes.items()))}}


def _details(found: Sequence[StepNote], calls: int) -> dict[str, Any]:
    details: dict[str, Any] = {"errors": len(found), "calls": calls, "findings": []}
    if found:
        from seal.evaluation.pattern_details import told_of

        details["findings"] = list(map(told_of, found[:LISTED]))
    return details


def _no_arguments(goal: Goal) -> str:
    """Return why there is nothing to compare values with; empty where there is."""
    gold = [called for plan in goal.plans or () for called in plan.calls()]
    annotated = any(called.arguments is not None for called in gold)
    return "" if annotated else "no gold arguments annotated"


def _is_cut(goal: Goal, findings: Sequence[StepNote]) -> bool:
    """Tell whether upstream cut the arguments of a call of a gold tool."""
    tools = {called.tool for plan in goal.plans or () for called in plan.calls()}
    return any(finding.kind == "cut" and finding.tool in tools for finding in findings)


def _recovery(findings: Sequence[StepNote], gold: GoldComparison | None) -> Value:
    found = repairs(findings)
    repaired = [repair for repair in found if repair.step is not None]
    happened = events(findings, gold)
    details: dict[str, JSON] = {
        "told": len(found),
        "repaired": len(repaired),
        "calls": [repair.calls for repair in repaired[:LISTED]],
    }
    first = first_error(findings)
    if first is not None:
        details["first"] = {"pattern": first.kind, "step": first.step}
    if happened:
        details["transitions"] = transitions(happened)
    if not found:
        refused = any(finding.told for finding in findings)
        told = "tools said no, which is no error pattern" if refused else _UNTOLD
        return Value(None, 0.0, told, details if happened else {})
    return Value(len(repaired) / len(found), len(found), details=details)


def _services(findings: Sequence[StepNote]) -> Value:
    asked = [f for f in findings if f.valid and f.answered is not None]
    if not asked:
        return undefined("no valid call was answered")
    failed = [finding for finding in asked if finding.service is not None]
    causes = Counter(finding.service for finding in failed)
    details = {**_details(failed, len(asked)), "causes": dict(sorted(causes.items()))}
    return Value(1 - len(failed) / len(asked), len(asked), details=details)


def _finished(goal: GoalChat) -> Value:
    if goal.stop not in ("done", "user_ended"):
        return Value(0.0, reason=goal.stop)
    return Value(1.0) if goal.answer else Value(0.0, reason="no answer")

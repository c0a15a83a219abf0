"""The patterns as scores, beside gold (IAC, IAV), with details."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeGuard

from seal.core import CHAT_TOOLS, JSON, Goal, Plan, Scale, UsageError, shortened
from seal.core.call_formats import repairs_of
from seal.core.conditions import Called
from seal.core.validation import CallError
from seal.evaluation.calls import ArgumentFinding, align
from seal.evaluation.error_patterns import (
    LISTED,
    StepNote,
    events,
    findings_by_goal,
    first_error,
    repairs,
    transitions,
)
from seal.evaluation.goals import GoalChat, GoalMetric, Value, asks_of_world, no_gold, undefined

# -- ToolScan's seven error patterns as scores of every goal, and what the agent made of errors.
#
# For a goal with e errors of a pattern and the step budget N:
#
#     score = 1 - min(e, N) / N, in [0, 1], 1 where the agent is free of the pattern
#
# N is `--max-turns` of the run. If the run does not say it, N is what the task says that it needs,
# at least 10, as in all of ToolScan's runs.
#
# - ife, ifn, ian, iat: steps of the pattern (`findings`); N = the budget.
# - rac: valid calls that were made before; N = the budget. Its details count the repetitions of
#   invalid calls too (`RepeatedAnyhow` scores by both).
# - iav: calls that lack a required argument, or have a value outside of the schema, or one that the
#   tool itself refused by an exception of values (`findings.OF_VALUES`). A tool that took the same
#   call at another time refused no value: the call came too early, say. Gold calls answered with
#   wrong values count too. N = the budget. Its details have 1 - e / |g| too.
# - iac: gold calls that were not made; N = the budget, as in the paper's formula, which is one for
# all seven. A plan has fewer calls than the budget has steps, so that iac is high even of an agent
#   that makes none of them.
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
# (`seal.core.call_formats.Repair`). Such calls are no errors of format.
#
# Beside them stand:
#
# - recovery: share of errors repaired of those that the agent was told of (`findings.repairs`).
#   What
#   a tool refused for another reason than its values is no error of the call. Its details have the
#   calls that it took, the first error, and how errors followed on each other.
# - service_answers: share of valid calls that a service answered, rightly or not; its details count
#   the failures by their cause (`services`). What a dead service brings is no error of the agent.
# - finished: 1 where the agent ended the chat with an answer. Whether that was accepted, ToolScan's
#   success, is `pass_rate`.
# - all_gold_calls: 1 where every gold call was made and is right (IAC = IAV(g) = 0).
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

    Args:
        budget: Steps of a goal, N; more than 0. None: what the trajectory's provenance tells
            (`MAX_TURNS`), else `BUDGET`.

    Raises:
        UsageError: The budget is none.
    """

    budget: int | None = None

    names: ClassVar[Sequence[str]] = NAMES
    scales = dict.fromkeys(
        (*PATTERNS, IAC_UPSTREAM, "finished", "all_gold_calls"), Scale(gold_is_best=True)
    )

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

    details = gold_details("IAV", plan)
    errors += details["errors"]
    details |= {
        "errors": errors,
        "calls": own.details["calls"],
        "of_gold": _share(errors, plan.gold),
        "findings": [*own.details["findings"], *details["findings"]][:LISTED],
    }
    return Value(_share(errors, budget), details=details)


class RepeatedAnyhow(ErrorPatterns):
    """`rac_all`: repetitions of valid and of invalid calls."""

    names = ("rac_all",)


class IndependentMinima(ErrorPatterns):
    """`iac_independent` and `iav_independent`: the paper's minima, each over all plans."""

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


# -- Calls against gold: those that were not made (IAC), and those with wrong values (IAV).
#
# For one plan g, with m the valid calls that the agent made for the goal, by tools a:
#
# - IAC(g) = sum over a of max(0, |g[a]| - |m[a]|)
# - IAV(g) = sum over a of min(|g[a]|, |m[a]|) - matches[a]
#
# so that a second call that is missing is IAC alone. matches[a] is the size of a maximum one-to-one
# matching: no call serves two gold calls. A call matches if the gold call accepts its arguments
# (`Called.accepts`). Every required argument has an accepted value, optional ones may be absent,
# and there are no others.
#
# Of several plans ToolScan's paper takes the least IAC and the least IAV, each for itself. Its code
# and we take one plan, with the least (IAC, IAV), so that there is one explanation (`choose`). Of
# equal ones the first counts.
#
# Source: Kokane et al., ToolScan (2024), section on error patterns, and its evaluation code. That
# code has no one-to-one matching, and counts calls that use an optional argument as wrong.

Cause = Literal["not_called", "rejected", "wrong_value"]
"""Why a gold call was not made as it should be: nobody called the tool again; calls of it were
invalid; a valid call has other arguments."""


@dataclass(frozen=True, slots=True)
class GoldFinding:
    """A gold call that was not made as it should be."""

    pattern: Literal["IAC", "IAV"]
    milestone: int
    """Its position in the plan."""
    tool: str
    cause: Cause
    step: int | None = None
    """Of the call with wrong arguments, or of the last one that was rejected; None: neither."""
    faults: tuple[ArgumentFinding, ...] = ()
    """Arguments of that call that differ, each with what was expected and received."""


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """What the agent did beside one plan."""

    plan: int
    """Position of the plan in the goal."""
    gold: int
    """Gold calls of the plan."""
    findings: tuple[GoldFinding, ...]

    @property
    def missing(self) -> int:
        """IAC(g)."""
        return sum(finding.pattern == "IAC" for finding in self.findings)

    @property
    def wrong(self) -> int:
        """IAV(g)."""
        return sum(finding.pattern == "IAV" for finding in self.findings)


def choose(plans: Sequence[Plan], findings: Sequence[StepNote]) -> GoldComparison:
    """Return the comparison with the plan that counts: the one with the least (IAC, IAV).

    Args:
        plans: As of `compare_plans`.
        findings: Of the goal.
    """
    return min(compare_plans(plans, findings), key=lambda g: (g.missing, g.wrong))


def compare_plans(plans: Sequence[Plan], findings: Sequence[StepNote]) -> list[GoldComparison]:
    """Return what the agent did beside each plan.

    Args:
        plans: Of a goal with gold calls (`no_gold`). Those that ask of a world and of no call are
            passed over; one that asks for nothing is met.
        findings: Of the goal.
    """
    return [
        compare_plan(plan, position, findings)
        for position, plan in enumerate(plans)
        if _gold_calls(plan) or not asks_of_world(plan)
    ]


def compare_plan(plan: Plan, position: int, findings: Sequence[StepNote]) -> GoldComparison:
    """Return what the agent did beside one plan.

    Args:
        plan: The plan; of its milestones those count that are calls.
        position: Its position in the goal.
        findings: Of the goal.
    """
    acts = [finding for finding in findings if finding.call is not None]
    made = [finding for finding in acts if finding.valid]
    cut = {finding.call.id for finding in made if finding.call and finding.kind == "cut"}
    best = align(plan, position, [f.call for f in made if f.call], cut)
    paired = {pair.gold: pair for pair in best.pairs}
    gold, found = _gold_calls(plan), []
    for place, called in gold.items():
        pair = paired.get(place)
        if pair is None:
            found.append(_not_made(place, called.tool, acts))
        elif not pair.comparison.exact:
            step, faults = made[pair.made].step, pair.comparison.findings
            found.append(GoldFinding("IAV", place, called.tool, "wrong_value", step, faults))
    return GoldComparison(position, len(gold), tuple(found))


def _not_made(place: int, tool: str, acts: Sequence[StepNote]) -> GoldFinding:
    own = (f.step for f in reversed(acts) if f.tool == tool and not f.valid)
    rejected = next(own, None)
    cause: Cause = "not_called" if rejected is None else "rejected"
    return GoldFinding("IAC", place, tool, cause, rejected)


def _gold_calls(plan: Plan) -> dict[int, Called]:
    """Return the gold calls by the position of their milestone."""
    return {
        place: milestone.condition
        for place, milestone in enumerate(plan.milestones)
        if isinstance(milestone.condition, Called)
        and not milestone.condition.tool.startswith(CHAT_TOOLS)
    }


# -- What the details of a score tell of findings, for reports: each with its step and its faults.

LENGTH = 200
"""Characters that a text of many entries has at most, but for the count of those left out."""


NOTHING = "nothing"


_PLAIN = re.compile(r"(?!(?:true|false|null)$)[^\W\d][\w./-]{0,99}")
"""Texts that need no quotes: none that could be a number, or several words."""


_OF_NAMES = ("unknown_tool", "unknown_argument", "unparsable_arguments")
"""Faults of what was received as a name, or as the text of a call."""


def told_of(finding: StepNote) -> dict[str, JSON]:
    """Return a finding for a report: where it is, and what is wrong."""
    told: dict[str, JSON] = {"step": finding.step, "pattern": finding.kind}
    if finding.call is not None:
        told |= {"call": finding.call.id, "name": shortened_name(finding.call.name)}
    if finding.faults:
        told["faults"] = [_fault(fault.kind, fault) for fault in finding.faults[:LISTED]]
    if finding.earlier is not None:
        told["earlier"] = finding.earlier
    if finding.service is not None:
        told["service"] = finding.service
    if finding.refusal:
        told["refusal"] = finding.refusal
    return told


def _fault(kind: str, fault: CallError | ArgumentFinding) -> dict[str, JSON]:
    received = None if fault.received is None else value_words(fault.received)
    if fault.received == "" and kind in _OF_NAMES:
        received = NOTHING
    return {
        "kind": kind,
        "name": shortened_name(fault.name),
        "expected": None if fault.expected is None else expected_words(fault.expected),
        "received": received,
    }


def expected_words(value: Any) -> str:
    """Return what was expected: one value, or the entries of a list or a map with commas.

    Entries that have no room are counted, as in `get_work and 12 more`; no name is cut.
    """
    if isinstance(value, dict):
        return _joined([f"{name}: {value_words(entry)}" for name, entry in value.items()])
    if isinstance(value, list | tuple):
        return _joined([value_words(entry) for entry in value])
    return value_words(value)


def value_words(value: Any) -> str:
    """Return one value: a name as it is, other texts in quotes, and the rest as JSON."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else shortened(value)
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts; nested too deep
        return shortened(value)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 3]}..."


def _joined(entries: Sequence[str]) -> str:
    if not entries:
        return NOTHING
    shown = list(entries[:1])
    length = len(shown[0])
    for entry in entries[1:]:
        length += len(entry) + 2
        if length > LENGTH:
            break
        shown.append(entry)
    left = len(entries) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def shortened_name(name: str) -> str:
    """Return a name as it is; one that a model made a text of, at most 200 characters."""
    return name if len(name) <= 200 else f"{name[:197]}..."


def gold_details(pattern: str, compared: GoldComparison) -> dict[str, Any]:
    """Return the details of a score by gold calls: how many were not made, or made wrong."""
    found = [finding for finding in compared.findings if finding.pattern == pattern]
    return {
        "errors": len(found),
        "gold": compared.gold,
        "plan": compared.plan,
        "findings": list(map(_gold_told, found[:LISTED])),
    }


def _gold_told(finding: GoldFinding) -> dict[str, JSON]:
    told: dict[str, JSON] = {
        "pattern": finding.pattern,
        "gold": finding.milestone,
        "name": finding.tool,
        "cause": finding.cause,
    }
    if finding.step is not None:
        told["step"] = finding.step
    if finding.faults:
        told["faults"] = [_fault(fault.problem, fault) for fault in finding.faults[:LISTED]]
    return told

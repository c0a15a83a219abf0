"""Calls and arguments against gold: recall, precision, F1, parameter accuracy.

Source: the SEAL paper, metrics "API call recall" and "API parameter accuracy"; what it leaves open
is decided here.

- Calls are a multiset: order never matters, repeated calls are distinct.
- Gold and made calls of the same tool are paired one to one so that first the number of exact
  pairs, then of right values, then of right names is greatest (`matching`).
- Values are equal as JSON: 1 and 1.0 are one value, True and 1 are two, strings are exact.
- Of several plans the one counts that gives the greatest (param_acc_gold, call_recall, call_f1),
  compared in this order; equal ones: the first.
- A plan without `Called` needs no tool. It has precision and F1 1.0 where no call was made, else
  0.0; recall and arguments do not apply. Where it asks something of the world instead, which calls
  lead there is open, and nothing here applies.
- Gold calls, but none made: precision is 0.0, as the model failed to call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from seal.core.conditions import Called
from seal.core.types import Goal, Plan, Score, Task, Tool, ToolCall, Trajectory
from seal.evaluation.goals import Value, cut_calls, goal_steps, made_calls, score_goals, undefined
from seal.evaluation.matching import Comparison, best_pairs, compare
from seal.evaluation.milestones.plans import asks_of_world

CALL_METRICS = ("call_recall", "call_precision", "call_f1", "call_recall_at_n")
ARGUMENT_METRICS = ("param_acc_gold", "param_acc_matched", "arg_name_f1", "arg_value_acc")
NAMES = CALL_METRICS + ARGUMENT_METRICS


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold call and the made call that stands for it."""

    gold: int
    """Position of the milestone in the plan."""
    made: int
    """Position of the call among the made ones."""
    comparison: Comparison


@dataclass(frozen=True)
class Alignment:
    """The made calls of a goal beside the gold calls of one plan."""

    plan: int
    """Position of the plan in the goal."""
    gold: Mapping[int, Called]
    """Position of the milestone to its call."""
    made: Sequence[ToolCall]
    pairs: Sequence[Pair]

    @cached_property
    def exact(self) -> int:
        """Number of pairs whose arguments are exactly right."""
        return sum(pair.comparison.exact for pair in self.pairs)

    @cached_property
    def merit(self) -> tuple[float, float, float]:
        """What decides between plans: (param_acc_gold, call_recall, call_f1)."""
        if not self.gold:
            fits = float(not self.made)
            return fits, fits, fits
        recall = len(self.pairs) / len(self.gold)
        f1 = 2 * len(self.pairs) / (len(self.gold) + len(self.made))
        return self.exact / len(self.gold), recall, f1

    def missing(self) -> list[dict[str, object]]:
        """Return the gold calls that no call stands for."""
        paired = {pair.gold for pair in self.pairs}
        return [
            {"gold": position, "tool": gold.tool}
            for position, gold in self.gold.items()
            if position not in paired
        ]

    def extra(self) -> list[dict[str, object]]:
        """Return the made calls that stand for no gold call."""
        paired = {pair.made for pair in self.pairs}
        return [
            {"call": call.id, "tool": call.tool, "name": call.name}
            for position, call in enumerate(self.made)
            if position not in paired
        ]

    def findings(self) -> list[dict[str, object]]:
        """Return every argument that is not as it should be, by gold position."""
        return [
            {"gold": pair.gold, "call": self.made[pair.made].id, **asdict(finding)}
            for pair in self.pairs
            for finding in pair.comparison.findings
        ]


def align(plan: Plan, position: int, made: Sequence[ToolCall]) -> Alignment:
    """Return the best pairing of made calls with the gold calls of a plan.

    Args:
        plan: The plan.
        position: Its position in the goal.
        made: The agent's calls for the goal.
    """
    gold = {
        i: m.condition for i, m in enumerate(plan.milestones) if isinstance(m.condition, Called)
    }
    pairs = []
    for tool in {condition.tool: None for condition in gold.values()}:
        rows = [i for i, condition in gold.items() if condition.tool == tool]
        columns = [i for i, call in enumerate(made) if call.tool == tool]
        if columns:
            table = [[compare(gold[r], made[c].arguments) for c in columns] for r in rows]
            pairs += [Pair(rows[i], columns[j], table[i][j]) for i, j in best_pairs(table)]
    pairs.sort(key=lambda pair: pair.gold)
    return Alignment(position, gold, made, pairs)


def best_alignment(plans: Sequence[Plan], made: Sequence[ToolCall]) -> Alignment:
    """Return the alignment with the plan that the calls meet best; equal ones: the first plan's."""
    return max((align(plan, i, made) for i, plan in enumerate(plans)), key=lambda a: a.merit)


@dataclass(frozen=True, slots=True)
class Calls:
    """The call and argument metrics (`NAMES`)."""

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and name.

        `details` of call_recall has the gold calls that are missing, of call_precision the calls
        besides, of param_acc_gold every wrong argument: gold position, call id, name, problem,
        expected values, received value; each has the position of the plan that counted.
        """

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            if goal.plans is None:
                return dict.fromkeys(NAMES, undefined("no gold calls annotated"))
            if not goal.plans:
                return dict.fromkeys(NAMES, undefined("the goal has no plan"))
            if any(map(asks_of_world, goal.plans)) and not any(p.calls() for p in goal.plans):
                return dict.fromkeys(NAMES, undefined("the plan asks of the world, not of calls"))
            made = made_calls(goal_steps(trajectory, position))
            best = best_alignment(goal.plans, made)
            gold_tools = {gold.tool for gold in best.gold.values()}
            unknown = cut_calls(trajectory, position)
            cut = any(call.id in unknown for call in made if call.tool in gold_tools)
            return {**_call_values(best), **_argument_values(best, cut)}

        return score_goals(task, trajectory, NAMES, measure)


def _call_values(best: Alignment) -> dict[str, Value]:
    gold, made, paired = len(best.gold), len(best.made), len(best.pairs)
    missing = {"plan": best.plan, "missing": best.missing()}
    extra = {"plan": best.plan, "extra": best.extra()}
    if not gold:
        fits = Value(float(not made), made, "no call was needed", extra)
        none = undefined("no call was needed")
        return dict(zip(CALL_METRICS, (none, fits, replace(fits, details={}), none), strict=True))
    return {
        "call_recall": Value(paired / gold, gold, "", missing),
        "call_precision": Value(paired / made if made else 0.0, made, "", extra),
        "call_f1": Value(2 * paired / (gold + made), gold + made),
        "call_recall_at_n": Value(_matched(best, gold) / gold, gold),
    }


def _matched(best: Alignment, first: int) -> int:
    """Return how many of the first made calls are gold, arguments aside."""
    gold = Counter(condition.tool for condition in best.gold.values())
    made = Counter(call.tool for call in best.made[:first])
    return sum(min(count, made[tool]) for tool, count in gold.items())


def _argument_values(best: Alignment, cut: bool) -> dict[str, Value]:
    reason = ""
    if not best.gold:
        reason = "no call was needed"
    elif all(gold.arguments is None for gold in best.gold.values()):
        reason = "no gold arguments annotated"
    elif cut:
        reason = "arguments were cut upstream"
    if reason:
        return dict.fromkeys(ARGUMENT_METRICS, undefined(reason))
    details = {"plan": best.plan, "findings": best.findings()}
    values = {"param_acc_gold": Value(best.exact / len(best.gold), len(best.gold), "", details)}
    if not best.pairs:
        none = undefined("no call of a gold tool")
        return {**values, **dict.fromkeys(ARGUMENT_METRICS[1:], none)}
    values["param_acc_matched"] = Value(best.exact / len(best.pairs), len(best.pairs))
    return {**values, **_name_and_value(best)}


def _name_and_value(best: Alignment) -> dict[str, Value]:
    compared = [pair.comparison for pair in best.pairs]
    common = sum(c.common for c in compared)
    names = 2 * common + sum(c.unexpected + c.missing for c in compared)
    right = sum(c.right for c in compared)
    return {
        "arg_name_f1": Value(2 * common / names, names) if names else undefined("no arguments"),
        "arg_value_acc": Value(right / common, common) if common else undefined("no common names"),
    }

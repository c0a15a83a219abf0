"""Calls and arguments held against gold; calls, turns and tokens counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from seal.core import Goal, Plan, Scale, Step, ToolCall
from seal.core.conditions import Called
from seal.evaluation.goals import (
    CRASHED,
    EXECUTOR,
    IN_ORDER,
    NONE_NEEDED,
    USER,
    GoalChat,
    GoalMetric,
    Value,
    asks_of_world,
    failed,
    no_gold,
    undefined,
)
from seal.evaluation.statistics import BALANCED

# -- Calls and arguments against gold: recall, precision, F1, parameter accuracy.
#
# Source: the SEAL paper, metrics "API call recall" and "API parameter accuracy"; what it leaves
# open is decided here.
#
# - Calls are a multiset: order matters to `calls_right` alone, repeated calls are distinct.
# - Gold and made calls of the same tool are paired one to one. The pairing has the most exact
#   pairs, then the most right values, then the most right names (`best_pairs`).
# - Values are equal as JSON: 1 and 1.0 are one value, True and 1 are two, strings are exact.
# - Of several plans the one counts that gives the greatest (param_acc_gold, call_recall, call_f1),
#   compared in this order; equal ones: the first.
# - A plan without `Called` needs no tool: recall, precision, F1 and arguments do not apply, so that
#   nobody is praised for doing nothing. `abstention` is of these goals alone: 1 where no call was
#   made, else 0. Where a plan asks something of the world instead, which calls lead there is open,
#   and nothing here applies.
# - Gold calls, but none made: precision is 0.0, as the model failed to call.
# - `calls_right` is the verdict on all calls: 1 if each gold call was made with right arguments and
#   no other call was. Their order counts where the goal has the label `IN_ORDER`, as of
#   `ask(in_order=True)`. If gold needs none, it is 1 if none was made. It is 0 if the agent
#   crashed. Summaries add `calls_balanced`, the mean of its means over goals that need a call and
#   over those that need none.
#
# Gold that names tools and no calls, as StableToolBench's and AnyTool's does, has `RelevantCalls`.

CALL_METRICS = ("call_recall", "call_precision", "call_f1", "call_recall_at_n")
ARGUMENT_METRICS = ("param_acc_gold", "param_acc_matched", "arg_name_f1", "arg_value_acc")
VERDICT, ABSTENTION = "calls_right", "abstention"
NAMES = (*CALL_METRICS, *ARGUMENT_METRICS, VERDICT, ABSTENTION)
MISPLACED = "in another order"
"""Reason of right calls that gold has in another order."""
CALL_HEADLINE = (
    VERDICT,
    ABSTENTION,
    BALANCED,
    *CALL_METRICS[:3],
    *ARGUMENT_METRICS[:2],
    "pass_rate",
    "recall",
    "mrr",
)
"""Headline of a benchmark whose gold is calls and nothing else."""


@dataclass(frozen=True, slots=True)
class CallPair:
    """A gold call and the made call that stands for it."""

    gold: int
    """Position of the milestone in the plan."""
    made: int
    """Position of the call among the made ones."""
    comparison: CallFit


@dataclass(frozen=True)
class Alignment:
    """The made calls of a goal beside the gold calls of one plan."""

    plan: int
    """Position of the plan in the goal."""
    gold: Mapping[int, Called]
    """Position of the milestone to its call."""
    made: Sequence[ToolCall]
    pairs: Sequence[CallPair]

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

    @cached_property
    def right(self) -> bool:
        """Every gold call was made with right arguments, and no other."""
        return self.exact == len(self.gold) == len(self.made)

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


def align(
    plan: Plan, position: int, made: Sequence[ToolCall], cut: Collection[str] = ()
) -> Alignment:
    """Return the best pairing of made calls with the gold calls of a plan.

    Args:
        plan: The plan.
        position: Its position in the goal.
        made: The agent's calls for the goal.
        cut: Ids of those whose arguments upstream cut: they may be any, and are taken for right.
    """
    gold = {
        i: m.condition for i, m in enumerate(plan.milestones) if isinstance(m.condition, Called)
    }
    pairs = []
    for tool in {condition.tool: None for condition in gold.values()}:
        rows = [i for i, condition in gold.items() if condition.tool == tool]
        columns = [i for i, call in enumerate(made) if call.tool == tool]
        if columns:
            table = [
                [
                    CallFit(True) if made[c].id in cut else compare(gold[r], made[c].arguments)
                    for c in columns
                ]
                for r in rows
            ]
            pairs += [CallPair(rows[i], columns[j], table[i][j]) for i, j in best_pairs(table)]
    pairs.sort(key=lambda pair: pair.gold)
    return Alignment(position, gold, made, pairs)


def best_alignment(plans: Sequence[Plan], made: Sequence[ToolCall]) -> Alignment:
    """Return the alignment with the plan that the calls meet best; equal ones: the first plan's."""
    return max((align(plan, i, made) for i, plan in enumerate(plans)), key=lambda a: a.merit)


Verdict = Callable[[GoalChat], Value]
"""What is said of all calls of a goal: the value of `calls_right`."""


@dataclass(frozen=True)
class Calls(GoalMetric):
    """The call and argument metrics (`NAMES`).

    The `details` of call_recall have the gold calls that are missing; those of call_precision and
    abstention have the calls besides. Those of param_acc_gold have every wrong argument: gold
    position, call id, name, problem, expected values, received value. Each has the position of the
    plan that counted. The details of calls_right say whether a call was `needed`.

    Args:
        verdict: Says `calls_right` by rules of its own, of every goal; None: by ours.
    """

    verdict: Verdict | None = None

    names = NAMES
    main = (*CALL_METRICS[:3], *ARGUMENT_METRICS[:2])
    main_of_some = (VERDICT, ABSTENTION, BALANCED)
    scales = dict.fromkeys(
        (*CALL_METRICS[:3], *ARGUMENT_METRICS, VERDICT, ABSTENTION), Scale(gold_is_best=True)
    )

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        plans = goal.goal.plans
        reason = no_gold(goal.goal)
        if not plans or (reason and any(map(asks_of_world, plans))):
            values = dict.fromkeys(NAMES, undefined(reason))
        else:
            best = best_alignment(plans, goal.made)
            gold_tools = {gold.tool for gold in best.gold.values()}
            cut = any(call.id in goal.cut for call in goal.made if call.tool in gold_tools)
            amiss = wrong(best) or misplaced(goal.goal, best)
            if not amiss and goal.stop == CRASHED:
                amiss = "the agent crashed"
            right = Value(float(not amiss), 1.0, amiss, {"needed": bool(best.gold)})
            if cut and align(plans[best.plan], best.plan, goal.made, goal.cut).right:
                right = undefined("arguments were cut upstream")
            values = {**_call_values(best), **_argument_values(best, cut), VERDICT: right}
        return values if self.verdict is None else {**values, VERDICT: self.verdict(goal)}


def misplaced(goal: Goal, best: Alignment) -> str:
    """Return that right calls were made in another order than gold has (`IN_ORDER`); else empty."""
    pairs = zip(best.gold.values(), best.made, strict=False)
    ordered = all(gold.tool == made.tool and gold.accepts(made.arguments) for gold, made in pairs)
    return MISPLACED if goal.labels.get(IN_ORDER) and not ordered else ""


def wrong(best: Alignment) -> str:
    """Return what is wrong with calls beside their gold; empty: nothing."""
    counts = {
        "gold call missing": len(best.gold) - len(best.pairs),
        "with wrong arguments": len(best.pairs) - best.exact,
        "besides": len(best.made) - len(best.pairs),
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _call_values(best: Alignment) -> dict[str, Value]:
    gold, made, paired = len(best.gold), len(best.made), len(best.pairs)
    missing = {"plan": best.plan, "missing": best.missing()}
    extra = {"plan": best.plan, "extra": best.extra()}
    if not gold:
        none = dict.fromkeys(CALL_METRICS, undefined(NONE_NEEDED))
        return {**none, ABSTENTION: Value(float(not made), 1.0, "", extra)}
    return {
        ABSTENTION: undefined("a call was needed"),
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
        reason = NONE_NEEDED
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
    compared = [pair.comparison for pair in best.pairs]
    common = sum(c.common for c in compared)
    names = 2 * common + sum(c.unexpected + c.missing for c in compared)
    right = sum(c.right for c in compared)
    return {
        **values,
        "param_acc_matched": Value(best.exact / len(best.pairs), len(best.pairs)),
        "arg_name_f1": Value(2 * common / names, names) if names else undefined("no arguments"),
        "arg_value_acc": Value(right / common, common) if common else undefined("no common names"),
    }


@dataclass(frozen=True, slots=True)
class ArgumentFinding:
    """One argument that is not as the gold call has it."""

    name: str
    problem: str
    """missing, unexpected, value, or unparsable (the whole argument map)."""
    expected: tuple[Any, ...] | None = None
    """Accepted values; None for an unexpected argument."""
    received: Any = None


@dataclass(frozen=True, slots=True)
class CallFit:
    """A gold call against a made call of the same tool."""

    exact: bool
    """Names and values are all right (`Called.accepts`)."""
    right: int = 0
    """Gold arguments that were given with an accepted value."""
    common: int = 0
    """Gold arguments that were given."""
    unexpected: int = 0
    """Arguments that the gold call does not have."""
    missing: int = 0
    """Required gold arguments that were not given."""
    findings: tuple[ArgumentFinding, ...] = ()

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """What a pairing maximises, in this order."""
        return int(self.exact), self.right, self.common, -(self.unexpected + self.missing)


def compare(gold: Called, arguments: dict[str, Any] | None) -> CallFit:
    """Return how the arguments of a call differ from the gold call's.

    Args:
        gold: Its arguments None: any are right, and there is nothing to compare.
        arguments: None: the model's text was no JSON object.
    """
    if gold.arguments is None:
        return CallFit(True)
    required = [name for name, argument in gold.arguments.items() if not argument.optional]
    if arguments is None:
        finding = ArgumentFinding("", "unparsable")
        return CallFit(False, missing=len(required), findings=(finding,))
    findings = [
        ArgumentFinding(name, "missing", gold.arguments[name].values)
        for name in required
        if name not in arguments
    ]
    missing = len(findings)
    common = right = 0
    for name, received in arguments.items():
        expected = gold.arguments.get(name)
        if expected is None:
            findings.append(ArgumentFinding(name, "unexpected", None, received))
            continue
        common += 1
        if expected.accepts(received):
            right += 1
        else:
            findings.append(ArgumentFinding(name, "value", expected.values, received))
    unexpected = len(arguments) - common
    return CallFit(not findings, right, common, unexpected, missing, tuple(findings))


def best_pairs(table: Sequence[Sequence[CallFit]]) -> list[tuple[int, int]]:
    """Return (row, column) pairs that maximise the summed ranks, row by row in ascending order.

    Every row is paired, or every column where there are fewer of them. The sum of ranks is
    compared component by component: first exact calls, then right values, then names. The sums
    are therefore the same whatever the order of rows and columns.

    Args:
        table: Gold calls by made calls, not empty.
    """
    rows, columns = len(table), len(table[0])
    if rows == 1:
        return [(0, max(range(columns), key=lambda column: table[0][column].rank))]
    if rows > columns:
        turned = best_pairs(list(zip(*table, strict=True)))
        return sorted((row, column) for column, row in turned)
    base = 1 + rows * max(max(map(abs, cell.rank)) for row in table for cell in row)
    costs = [[-_weight(cell.rank, base) for cell in row] for row in table]
    from seal.core.table_matching import cheapest

    return list(enumerate(cheapest(costs) or ()))


def _weight(rank: Sequence[int], base: int) -> int:
    weight = 0
    for component in rank:
        weight = weight * base + component
    return weight


RELEVANT = ("relevant_called", "relevant_answered")


class RelevantCalls(GoalMetric):
    """Shares of the relevant tools of a goal, in [0, 1].

    - relevant_called: those that were called at all, whatever the arguments.
    - relevant_answered: those of which a call brought a result that is no error.

    Where any one of them is enough (`Goal.any_relevant`), 1 for one of them. None where the goal
    has no relevant tool, or has plans: then `call_recall` says more.
    """

    names = RELEVANT

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        gold = goal.goal
        if not gold.relevant or gold.plans is not None:
            return dict.fromkeys(RELEVANT, undefined("the gold is no tools alone"))
        called = {call.tool for call in goal.made}
        answered = {call.tool for call in goal.made if not failed(goal.results.get(call.id))}
        return {"relevant_called": _share(gold, called), RELEVANT[1]: _share(gold, answered)}


def _share(goal: Goal, tools: set[str | None]) -> Value:
    wanted = set(goal.relevant)
    found = len(wanted & tools)
    if goal.any_relevant:
        return Value(float(found > 0))
    return Value(found / len(wanted), float(len(wanted)))


# -- What a goal cost: calls, turns, tokens.

USAGE_METRICS = ("calls", "turns", "tokens_in", "tokens_out")
COUNT = Scale(bounded=False, higher_is_better=None)


class UsageMetrics(GoalMetric):
    """Counts for each goal, unbounded above.

    - calls: API calls of the agent (`goals.made_calls`).
    - turns: replies of the agent to the executor or to the user. Messages between the agent's own
      roles are not counted; a final response that no role passed on to the user counts as one.
    - tokens_in, tokens_out: of the agent's model calls; None where none was counted.
    """

    names = USAGE_METRICS
    scales = dict.fromkeys(USAGE_METRICS, COUNT)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        agent = _agent(goal)
        calling = {s.turn for s in agent if s.call is not None}
        speaking = {s.turn for s in agent if s.call is None and s.recipient == USER}
        turns = len(calling | speaking) + (bool(goal.answer) and not speaking)
        return {
            "calls": Value(float(len(goal.made))),
            "turns": Value(float(turns)),
            **_tokens(goal),
        }


def _agent(goal: GoalChat) -> list[Step]:
    return [step for step in goal.steps if step.author not in (USER, EXECUTOR)]


def _tokens(goal: GoalChat) -> dict[str, Value]:
    counted = [s.usage for s in _agent(goal) if s.usage is not None]
    if not counted:
        none = undefined("no tokens were counted")
        return {"tokens_in": none, "tokens_out": none}
    details = {"estimated": True} if any(u.estimated for u in counted) else {}
    return {
        "tokens_in": Value(float(sum(u.tokens_in for u in counted)), details=details),
        "tokens_out": Value(float(sum(u.tokens_out for u in counted)), details=details),
    }


class TokensPerCall(GoalMetric):
    """What a call cost: `tokens_in_per_call` and `tokens_out_per_call`.

    Tokens of the agent's model calls for a goal over its API calls (`goals.made_calls`), so words
    around calls and the final answer are counted too. None where no call was made or no token was
    counted.
    """

    names = ("tokens_in_per_call", "tokens_out_per_call")
    scales = dict.fromkeys(names, COUNT)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        calls = len(goal.made)
        found = {}
        for name, spent in _tokens(goal).items():
            if spent.value is not None and calls:
                spent = Value(spent.value / calls, float(calls), details=spent.details)
            elif spent.value is not None:
                spent = undefined("no call was made")
            found[f"{name}_per_call"] = spent
        return found

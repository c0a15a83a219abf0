"""Calls and arguments held against gold; what was done besides; calls, turns, tokens counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, get_args

from seal.core import Goal, Plan, Scale, Step, ToolCall, ToolResult
from seal.core.conditions import Called, Match
from seal.core.validation import ErrorKind
from seal.evaluation.error_patterns import was_refused
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
    leaves_calls_open,
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
# - Values are compared by `seal.core.values.alike`: 1 and 1.0 are one value, True and 1 are two. An
#   argument that is left out has its tool's default.
# - Of several plans the one counts that gives the greatest (param_acc_gold, call_recall, call_f1),
#   compared in this order; equal ones: the first.
# - A plan without `Called` needs no tool: recall, precision, F1 and arguments do not apply, so that
#   nobody is praised for doing nothing. `abstention` is of these goals alone: 1 where no call was
#   made, else 0. Where a plan asks something of the world instead, which calls lead there is open,
#   and nothing here applies. Where it asks for calls and for how the world ends (`EndsAs`,
#   `FinalState`), only what is said of those calls does: recall and arguments.
# - Gold calls, but none made: precision is 0.0, as the model failed to call.
# - `calls_right` is the verdict on all calls: 1 if each gold call was made with right arguments and
#   was not refused (`error_patterns.was_refused`), and no other call was made. Their order counts
#   where the goal has the label `IN_ORDER`, as of `ask(in_order=True)`. If gold needs none, it is 1
#   if none was made. It is 0 if the agent crashed. If gold calls are one way to the end of a world
#   (`EndsAs.of_plan`), it is 1 if the world ends as they leave it, whatever was called. Summaries
#   add `calls_balanced`, the mean of its means over goals that need a call and over those that need
#   none.
# - All others are measures of what was asked, whatever became of it.
#
# Gold that names tools and no calls, as StableToolBench's and AnyTool's does, has `RelevantCalls`.

CALL_METRICS = ("call_recall", "call_precision", "call_f1", "call_recall_at_n")
ARGUMENT_METRICS = ("param_acc_gold", "param_acc_matched", "arg_name_f1", "arg_value_acc")
VERDICT, ABSTENTION = "calls_right", "abstention"
NAMES = (*CALL_METRICS, *ARGUMENT_METRICS, VERDICT, ABSTENTION)
_OF_ALL_CALLS = (*CALL_METRICS[1:], VERDICT)
"""Metrics that hold every call against gold, and not the gold calls against what was called."""
_CALLS_OPEN = "which calls lead to the end of the world is open"
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

    - call_recall, call_precision, call_f1: compare the multisets of called tools, in any order, for
      goals that need a call.
    - call_recall_at_n: recall of the first n calls alone, where n is the number of gold calls.
    - calls_right: 1 if every gold call was made with right arguments, and no other call; 0 if the
      agent crashed. The end of a BFCL dialogue is right if its classes end as gold leaves them.
    - abstention: for goals that need no call, 1 if none was made.
    - calls_balanced: the mean of two means of `calls_right`: over goals that need a call, and over
      those that need none. So an agent that always calls, or never, has at most 0.5. Example:
      `calls_right` .8 where a call is needed and .2 where none is give 0.5.
    - param_acc_gold, param_acc_matched: calls with all names and values right, over the gold calls,
      or over the paired calls (maximum matching).
    - arg_name_f1, arg_value_acc: names and values of the arguments of paired calls.

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
    scales: ClassVar[Mapping[str, Scale]] = {
        **dict.fromkeys(
            ("call_recall", "call_f1", "param_acc_gold", VERDICT, ABSTENTION),
            Scale(gold_is_best=True),
        ),
        "call_precision": Scale(gold_is_best=True, condition="the calls that were made"),
        **dict.fromkeys(
            ARGUMENT_METRICS[1:],
            Scale(gold_is_best=True, condition="goals in which a gold tool was called"),
        ),
    }

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        plans = goal.goal.plans
        reason = no_gold(goal.goal)
        if not plans or (reason and any(map(asks_of_world, plans))):
            values = dict.fromkeys(NAMES, undefined(reason))
        else:
            best, amiss = held_against(goal.goal, goal.made, goal.results)
            gold_tools = {gold.tool for gold in best.gold.values()}
            cut = any(call.id in goal.cut for call in goal.made if call.tool in gold_tools)
            if not amiss and goal.stop == CRASHED:
                amiss = "the agent crashed"
            right = Value(float(not amiss), 1.0, amiss, {"needed": bool(best.gold)})
            if cut and align(plans[best.plan], best.plan, goal.made, goal.cut).right:
                right = undefined("arguments were cut upstream")
            if plans[best.plan].without_end() is not plans[best.plan]:
                from seal.evaluation.plans import end_verdict

                right = end_verdict(goal)
            values = {**_call_values(best), **_argument_values(best, cut), VERDICT: right}
            if leaves_calls_open(plans[best.plan]):
                values |= dict.fromkeys(_OF_ALL_CALLS, undefined(_CALLS_OPEN))
        return values if self.verdict is None else {**values, VERDICT: self.verdict(goal)}


def held_against(
    goal: Goal, made: Sequence[ToolCall], results: Mapping[str, ToolResult]
) -> tuple[Alignment, str]:
    """Return calls beside the plan that they meet best, and what is amiss with them; "": nothing.

    Of plans that they meet equally (`Alignment.merit`) the first counts with which nothing is.

    Args:
        goal: With plans.
        made: The agent's calls.
        results: Id of a call to its result.
    """
    each = (align(plan, place, made) for place, plan in enumerate(goal.plans or ()))
    told = [
        (one, _wrong(one, results) or _misplaced(goal, one) or in_vain(one, results))
        for one in each
    ]
    return max(told, key=lambda way: (way[0].merit, not way[1]))


def _misplaced(goal: Goal, best: Alignment) -> str:
    """Return that right calls were made in another order than gold has (`IN_ORDER`); else empty."""
    pairs = zip(best.gold.values(), best.made, strict=False)
    ordered = all(gold.tool == made.tool and gold.accepts(made.arguments) for gold, made in pairs)
    return MISPLACED if goal.labels.get(IN_ORDER) and not ordered else ""


def in_vain(best: Alignment, results: Mapping[str, ToolResult]) -> str:
    """Return that gold calls were refused, or worked although they are to be refused; else empty.

    Args:
        best: The calls beside their gold.
        results: Id of a call to its result.
    """
    found = Counter(
        "not refused" if gold.refused else "refused"
        for gold, made in ((best.gold[pair.gold], best.made[pair.made]) for pair in best.pairs)
        if was_refused(results.get(made.id)) != gold.refused
    )
    return ", ".join(f"{count} {what}" for what, count in found.items())


def never_worked(goal: GoalChat) -> str:
    """Return the name of a gold call that was made, and refused each time; empty: there is none.

    Of several plans the one counts that the calls meet best (`best_alignment`).
    """
    plans = goal.goal.plans
    gold = best_alignment(plans, goal.made).gold.values() if plans else ()
    return next(filter(None, (_in_vain(call, goal) for call in gold)), "")


def never_done(goal: GoalChat) -> str:
    """Return the name of a tool that changes something, whose gold call was never made; else empty.

    In a world, its tables say what was done. Of several plans the one counts that the calls meet
    best.
    """
    plans = goal.goal.plans
    if not plans or any(step.state for step in goal.trajectory.steps):
        return ""
    for gold in best_alignment(plans, goal.made).gold.values():
        tool = goal.tools.get(gold.tool)
        own = [call for call in goal.made if call.tool == gold.tool]
        met = any(call.id in goal.cut or gold.accepts(call.arguments) for call in own)
        if tool is not None and tool.writes and not gold.refused and not met:
            return tool.name
    return ""


def _in_vain(gold: Called, goal: GoalChat) -> str:
    made = [c for c in goal.made if c.tool == gold.tool and gold.accepts(c.arguments)]
    refused = not gold.refused and all(was_refused(goal.results.get(call.id)) for call in made)
    return made[0].name if made and refused else ""


def _wrong(best: Alignment, results: Mapping[str, ToolResult]) -> str:
    """Return what is wrong with calls beside their gold; empty: nothing.

    Args:
        best: The calls beside their gold.
        results: Id of a call to its result.
    """
    other = [best.made[pair.made] for pair in best.pairs if not pair.comparison.exact]
    checked = list(filter(None, (_told_by_check(results.get(call.id)) for call in other)))
    counts = {
        "gold call missing": len(best.gold) - len(best.pairs),
        "with wrong arguments": len(other) - len(checked),
        f"refused ({checked[0] if checked else ''})": len(checked),
        "besides": len(best.made) - len(best.pairs),
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _told_by_check(result: ToolResult | None) -> str:
    """Return why the check of arguments refused a call; empty: it did not.

    A world checks types itself, and so does Python.
    """
    error = (result.error if result else None) or {}
    checked = error.get("kind") in (*get_args(ErrorKind), "TypeError")
    return str(error.get("message") or "").rstrip(".") if checked else ""


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
    if arguments is None:
        required = sum(not argument.optional for argument in gold.arguments.values())
        return CallFit(False, missing=required, findings=(ArgumentFinding("", "unparsable"),))
    faults = gold.faults(arguments)
    counts = Counter(faults.values())
    common = sum(name in gold.arguments for name in arguments)
    findings = (
        ArgumentFinding(
            name,
            fault,
            gold.arguments[name].values if name in gold.arguments else None,
            arguments.get(name),
        )
        for name, fault in faults.items()
    )
    right = common - counts["value"]
    return CallFit(
        not faults, right, common, counts["unexpected"], counts["missing"], tuple(findings)
    )


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


# -- What was done besides the gold: calls, and their effects.
#

EXTRA = ("extra_calls", "extra_effects")
NO_GOLD_EFFECT = "an effect that gold does not have"
"""First words of the reason of a goal that failed by one."""
LOST_EFFECT = "the world lacks what the gold call"
"""First words of the reason of a goal that failed for want of one."""
Effects = tuple[Sequence[ToolCall], str]
"""Calls with such an effect, and which these are in words; none: why none is known, empty: there is
none."""


@dataclass(frozen=True)
class ExtraCalls(GoalMetric):
    """Counts of what was done besides the gold (`EXTRA`), unbounded above.

    - extra_calls: calls that met no gold call, in tool and arguments, be they refused or not. A
      call that gold has is none, whatever became of it.
    - extra_effects: calls that changed what gold does not (`seal.evaluation.effects`).

    The details of extra_effects have the ids of the calls.

    Args:
        verdict: Says `calls_right` by rules of its own: where it does, arguments are right whatever
            ours say. None: there are none.
        match: Rules of milestones, by which effects are told; None: each task's own.
    """

    verdict: Verdict | None = None
    match: Match | None = None

    names = EXTRA
    scales = dict.fromkeys(EXTRA, Scale(bounded=False, higher_is_better=False, gold_is_best=True))

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        plans, unknown = goal.goal.plans, no_gold(goal.goal)
        calls = undefined(unknown)
        if plans and not (unknown and any(map(asks_of_world, plans))):
            best = best_alignment(plans, goal.made)
            met = align(plans[best.plan], best.plan, goal.made, goal.cut).exact
            if self.verdict is not None and self.verdict(goal).value == 1.0:
                met = len(best.pairs)
            calls = Value(float(len(goal.made) - met))
            if leaves_calls_open(plans[best.plan]):
                calls = undefined(_CALLS_OPEN)
        acted, said = effects_of(goal, self.match)
        details = {"calls": [call.id for call in acted]} if acted else {}
        known = Value(float(len(acted)), details=details)
        return {EXTRA[0]: calls, EXTRA[1]: undefined(said) if said and not acted else known}


def effects_of(goal: GoalChat, match: Match | None = None) -> Effects:
    """Return which calls changed what gold does not (`seal.evaluation.effects`).

    Args:
        goal: What was done for it.
        match: Rules of milestones; None: the task's own.
    """
    shown = any(step.state for step in goal.trajectory.steps)
    told = any(goal.tools[tool].writes for tool in goal.offered or () if tool in goal.tools)
    if not goal.goal.plans or not (shown or told):
        return (), no_gold(goal.goal) or "no world shows effects, and no tool says that it writes"
    # Of worlds and such tools alone: other runs do not load it.
    from seal.evaluation.effects import extra_effects

    return goal.chat.once(extra_effects, goal, match)


def lost_of(goal: GoalChat) -> Effects:
    """Return which calls took back what gold leaves (`seal.evaluation.effects.lost_effects`)."""
    if not goal.goal.plans or not any(step.state for step in goal.trajectory.steps):
        return (), ""
    from seal.evaluation.effects import lost_effects

    return goal.chat.once(lost_effects, goal)


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
    """What a call cost.

    - tokens_in_per_call, tokens_out_per_call: tokens of the agent's model calls for a goal over its
      API calls (`goals.made_calls`), so words around calls and the final answer are counted too.
      None where no call was made or no token was counted.
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

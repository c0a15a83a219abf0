"""Missions done right in any order that gold allows: metrics and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from seal.core import JSON, Plan, Scale, Score, Step, Tool, ToolCall, shortened
from seal.core.conditions import AGENT, Asked, Called, Replied, party, tells_user
from seal.evaluation.calls import align, in_vain
from seal.evaluation.goals import (
    MISSION,
    UNDECIDED,
    USER,
    GoalChat,
    GoalMetric,
    TaskChat,
    Value,
    is_dialogue,
    made_calls,
    no_missions,
    undefined,
)
from seal.evaluation.mission_gold import (
    ANSWER,
    ASK,
    PSEUDO,
    Call,
    Graph,
    Turn,
    bits,
    checked_graph,
    mask_of,
)

if TYPE_CHECKING:
    from seal.evaluation.argument_pairs import ArgumentError, Pair, Pairing, Scorer

# -- A model's turns along the paths of a mission, without listing the paths.
#
# After some turns a model has finished a set of nodes. What it may do next depends on that set
# alone: any nodes whose dependencies are finished, one or several at once. A turn is right if its
# calls are such nodes. No such set is a dead end, so right turns are always the beginning of a
# path. If gold calls share a name, a turn may lead to several sets. All are followed, and the model
# is right if one of them is complete.

SMALL = 12
"""Nodes of a mission in which all sets are followed."""
MOST_BRANCHES = 64
"""Sets that are followed at once in a larger one. Of more, those whose arguments fit best."""


@dataclass(frozen=True, slots=True)
class _Branch:
    """What a model may have finished."""

    done: int
    ready: int
    worth: int = 0
    before: _Branch | None = None
    nodes: tuple[int, ...] = ()
    """Finished by the last turn: for each call its node, or the one that a text stands for."""


class Walk:
    """The turns of a model, taken one after the other, as long as they are right.

    - Calls finish as many ready nodes of their names. A text beside them has no meaning.
    - A text finishes a question that is ready, or the final answer.
    - The names of questions and of the final answer are no tools: they cannot be called.
    - Where gold has no final answer, the mission ends when a turn without calls follows the last.

    Of the ways to one set the one is kept whose arguments fit best. In a large mission gold calls
    of one name that the same nodes wait for are one choice: a call gets the one that its arguments
    fit best. Sets that differ only in which of these are left are one set there.

    Args:
        graph: The gold calls, as of `Graph.closed`.
        pairing: Of calls with the gold calls; None: gold has none.
        known: For each of the first turns the nodes that its calls can stand for, where that is
            known beforehand. This way is followed whatever else is.
        alone: Nothing else is.
    """

    def __init__(
        self,
        graph: Graph,
        pairing: Pairing | None,
        known: Sequence[tuple[int, ...]] = (),
        alone: bool = False,
    ) -> None:
        self._graph = graph
        self._pairing = pairing
        self._branches = [_Branch(0, graph.ready(0))]
        self._known, self._alone = known, alone
        self._lead = self._branches[0]
        self._small = len(graph) <= SMALL
        self._most = 1 << SMALL if self._small else MOST_BRANCHES
        self.finished = False
        """The mission is over, and all was right."""
        self.taken = 0
        """Turns that finished nodes."""
        self.cut = False
        """There were more sets than are followed, so that a right turn may be taken for wrong."""

    def take(self, turn: Turn) -> bool:
        """Tell whether a turn is right; a wrong one changes nothing."""
        if not turn.calls and ANSWER not in self._graph.names and self.complete:
            self.finished = True
            return True
        following: dict[Hashable, _Branch] = {}
        for branch in [] if self._alone else self._branches:
            for nodes, worth in self._choices(branch, turn):
                after = self._after(branch, nodes, worth)
                key = self._key(after)
                if key not in following or after.worth > following[key].worth:
                    following[key] = after
        lead = self._led(turn)
        if not following and not lead:
            return False
        self._branches = self._kept(list(following.values())) + lead
        self.taken += 1
        self.finished = self.complete and not turn.calls
        return True

    @property
    def complete(self) -> bool:
        """All nodes are finished."""
        return any(branch.done == self._graph.everything for branch in self._branches)

    @property
    def completed(self) -> int:
        """Number of finished nodes."""
        return max(branch.done.bit_count() for branch in self._branches)

    @property
    def legal_next(self) -> tuple[str, ...]:
        """Names that may come next, sorted; a name as often as it may come at once."""
        most: Counter[str] = Counter()
        for branch in self._branches:
            most |= Counter(self._graph.names[node] for node in bits(branch.ready))
        return tuple(sorted(most.elements()))

    @property
    def nodes(self) -> list[tuple[int, ...]]:
        """For each turn the nodes of its calls, or the one that its text stands for.

        Where several sets are followed, those of the one whose arguments fit best.
        """
        found = []
        complete = [b for b in self._branches if b.done == self._graph.everything]
        branch: _Branch | None = max(complete or self._branches, key=lambda branch: branch.worth)
        while branch is not None and branch.before is not None:
            found.append(branch.nodes)
            branch = branch.before
        return found[::-1]

    def _led(self, turn: Turn) -> list[_Branch]:
        """Return where the known way leads, if it is known so far."""
        if self.taken >= len(self._known) or self._pairing is None:
            return []
        nodes = self._known[self.taken]
        pairs = zip(turn.calls, nodes, strict=False)  # a text is no call and has a node
        worth = sum(self._pairing.likely_worth(call, node) for call, node in pairs)
        self._lead = self._after(self._lead, nodes, worth)
        return [self._lead]

    @cached_property
    def _kinds(self) -> list[int]:
        """For each node those of its name that the same nodes wait for, directly or not.

        Which of them are finished makes no difference to the rest.
        """
        kinds: dict[tuple[str, int], int] = {}
        keys = list(zip(self._graph.names, self._graph.above, strict=True))
        for node, key in enumerate(keys):
            kinds[key] = kinds.get(key, 0) | 1 << node
        return [kinds[key] for key in keys]

    def _choices(self, branch: _Branch, turn: Turn) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield the nodes that a turn may finish, with what its arguments are worth."""
        if turn.empty:
            return
        if not turn.calls:
            for node in bits(branch.ready):
                if self._graph.names[node] in (ASK, ANSWER):
                    yield (node,), 0
            return
        share = self._most if self._small else max(1, 2 * self._most // len(self._branches))
        chosen: dict[int, tuple[tuple[int, ...], int]] = {0: ((), 0)}
        for call in turn.calls:
            following: dict[int, tuple[tuple[int, ...], int]] = {}
            for taken, (nodes, worth) in chosen.items():
                for node, more in self._candidates(call, branch.ready & ~taken):
                    key = taken | 1 << node
                    if key not in following or worth + more > following[key][1]:
                        following[key] = (*nodes, node), worth + more
            if len(following) > share:
                self.cut = True
                best = sorted(following, key=lambda key: -following[key][1])[:share]
                following = {key: following[key] for key in best}
            chosen = following
        yield from sorted(chosen.values(), key=lambda one: -one[1])

    def _candidates(self, call: Call, free: int) -> Iterable[tuple[int, int]]:
        """Return the nodes that a call may finish, with what its arguments are worth there.

        Args:
            call: Of a turn.
            free: Nodes that are ready, and that no other call of the turn has.
        """
        if call.name in PSEUDO or self._pairing is None:
            return ()
        nodes = [node for node in self._pairing.nodes(call.name) if free >> node & 1]
        worths = [(node, self._pairing.likely_worth(call, node)) for node in nodes]
        if self._small:
            return worths
        best: dict[int, tuple[int, int]] = {}
        for node, worth in worths:
            kind = self._kinds[node]
            if kind not in best or worth > best[kind][1]:
                best[kind] = node, worth
        return best.values()

    def _after(self, branch: _Branch, nodes: tuple[int, ...], worth: int) -> _Branch:
        taken = mask_of(nodes)
        ready = self._graph.ready_after(branch.ready, branch.done, taken)
        return _Branch(branch.done | taken, ready, branch.worth + worth, branch, nodes)

    def _key(self, branch: _Branch) -> Hashable:
        """Return the same for sets of which one is enough."""
        if self._small:
            return branch.done
        waiting = self._graph.everything & ~(branch.done | branch.ready)
        return waiting, tuple((branch.ready & kind).bit_count() for kind in self._kinds)

    def _kept(self, branches: list[_Branch]) -> list[_Branch]:
        """Return the branches to follow; of equal worth, those with the most ready nodes."""
        if len(branches) <= self._most:
            return branches
        self.cut = True
        branches.sort(key=lambda branch: (-branch.worth, -branch.ready.bit_count()))
        return branches[: self._most]


# -- Missions done right, done in the fewest steps, and how far the others came.
#
# They apply to any goal whose plans are partial orders of calls, questions and replies:
# Multi-Mission Tool Bench's missions, and the gold calls of other benchmarks as well. A goal's
# turns are what the agent, its roles being one, says to the user and which calls it makes at once.
#
# Every failure of the model counts as 0: malformed calls, silence, a chat that a limit ended. Of
# several plans the one that went best counts.
#
# If gold has neither a question nor a reply, only the agent's calls are compared. A goal that needs
# no tool is then right if none was called. The task's metadata name the scorer of arguments under
# `argument_scorer`. The default is `exact`: a gold call accepts every value that it names,
# alternatives too.
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), section 4 and evaluation code.

NAMES = ("mission_accuracy", "name_accuracy", "optimal_path", "progress")
DIALOGUE = "dialogue_accuracy"
OPEN = f"{UNDECIDED}: the search for a right way ended early"
"""Reason of values that are neither right nor wrong, since `Verdict.undecided` says so."""
LEAVES: Mapping[MissionKind, str] = {"combine": "parallel", "serial": "serial", "cs": "mixed"}
"""How the calls of a mission hang together, in the paper's words."""

_OF_ARGUMENTS = ("mission_accuracy", "optimal_path", "progress")
_OPEN = {"label": NAMES, "param_label": _OF_ARGUMENTS}
"""Metrics without a value where a search ended early, by what is undecided."""
_CLOSING = Turn(text="(end)")
_HEARERS = (USER, "checker")


@dataclass(frozen=True)
class Missions(GoalMetric):
    """The metrics of missions (`NAMES` and `DIALOGUE`).

    Orders are those that the gold allows.

    - mission_accuracy: 1 where names, order and arguments are right (`verdict_on`), and what gold
      asks to be stated is (`untold`; the paper's gold asks no such thing). Its details say what
      went wrong, and hold what tables are made of; in a dialogue also type and relation
      (`mission_gold`).
    - name_accuracy: 1 where names and order are right.
    - optimal_path: 1 where a mission is right in the fewest steps; of missions with calls that may
      be made at once.
    - progress: share of gold nodes that were finished, questions and final answer included, with
      their number as weight; of missions with calls that need others before them.
    - dialogue_accuracy: 1 where every mission of a task of several is right; one score a task.

    Args:
        rules: Of judging; None: `CLEAN`.
    """

    rules: MissionRules | None = None

    names = NAMES
    main_of_some = ("mission_accuracy", DIALOGUE, "progress", "optimal_path")
    main_beside: ClassVar[Mapping[str, str]] = {"progress": DIALOGUE, "optimal_path": DIALOGUE}
    scales = dict.fromkeys((*NAMES, DIALOGUE), Scale(gold_is_best=True))

    def of(self, chat: TaskChat) -> list[Score]:
        """Return one score for each goal and name, and one of the dialogue.

        Raises:
            UnknownNameError: The task names a scorer of arguments that there is not.
            MissingExtraError: A scorer compares texts by words, and the library is absent.
        """
        scores = super().of(chat)
        right = [score.value for score in scores if score.metric == MISSION]
        dialogue = _dialogue(chat, right)
        return [*scores, dialogue.score(chat.task.id, chat.trajectory.trial, 0, DIALOGUE)]

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        reason = no_missions(goal.goal)
        if reason:
            return dict.fromkeys(NAMES, undefined(reason))
        rules = self.rules or CLEAN
        plans = [plan.without_end() for plan in goal.goal.plans or ()]
        scorer = goal.task.metadata.get("argument_scorer", "exact")
        offered = _offered(goal)
        verdicts = [
            verdict_on(
                graph_of(plan, rules.answered),
                turns_of(goal.steps, plan),
                rules,
                offered,
                scorer,
            )
            for plan in plans
        ]
        best = max(range(len(verdicts)), key=lambda plan: _merit(verdicts[plan]))
        verdict = verdicts[best]
        details = {"plan": best, "match": rules.name, **_told(verdict, goal.tools)}
        if is_dialogue(goal.task):
            # Of dialogues alone: other runs do not load what gold implies of a mission.
            from seal.evaluation.mission_labels import mission_type, relation

            labels = {
                "type": mission_type(goal.goal),
                "relation": relation(goal.task, goal.position),
            }
            details |= {name: label for name, label in labels.items() if label}
        vain = ""
        if rules is CLEAN and verdict.param_label == "correct":
            vain = in_vain(align(plans[best], best, goal.made, goal.cut), goal.results)
            vain = vain or untold(plans[best], goal)
        values = _of_verdict(verdict, details, vain)
        if verdict.undecided:
            undecided = Value(None, 0.0, OPEN, details=details)
            values |= dict.fromkeys(_OPEN[verdict.undecided], undecided)
        if verdict.label == "correct" and goal.cut:
            values |= dict.fromkeys(_OF_ARGUMENTS, undefined("arguments were cut upstream"))
        return values


def graph_of(plan: Plan, answered: bool = False) -> Graph:
    """Return a plan as the graph of its gold calls; tools go by their ids.

    Args:
        plan: Of calls, questions and replies.
        answered: Whether the final answer is added where it is missing; it is also added where no
            tool is needed.
    """
    names, arguments = [], []
    gold: list[Called | None] = []
    for condition in (milestone.condition for milestone in plan.milestones):
        said = ASK if isinstance(condition, Asked) else ANSWER
        gold.append(condition if isinstance(condition, Called) else None)
        names.append(condition.tool if isinstance(condition, Called) else said)
        arguments.append(_gold_arguments(condition) if isinstance(condition, Called) else {})
    deps: list[Sequence[int]] = [milestone.after for milestone in plan.milestones]
    if not names or (answered and ANSWER not in names):
        deps.append(range(len(names)))
        names.append(ANSWER)
        arguments.append({})
        gold.append(None)
    return checked_graph(names, arguments, deps, gold)


def _gold_arguments(called: Called) -> dict[str, JSON]:
    """Return a gold call's arguments, optional ones too, each with its first value."""
    gold = called.arguments or {}
    return {name: argument.values[0] for name, argument in gold.items() if argument.values}


def turns_of(steps: Sequence[Step], plan: Plan) -> list[Turn]:
    """Return what the agent did for a goal as turns.

    Args:
        steps: Of the goal.
        plan: Where it has neither a question nor a reply, texts are left out.
    """
    spoken = any(not isinstance(m.condition, Called) for m in plan.milestones)
    turns = [
        turn
        for _, group in groupby(steps, key=lambda step: (step.turn, step.author))
        for turn in _turns(list(group))
        if spoken or turn.calls
    ]
    return turns if spoken else [*turns, _CLOSING]


def _turns(said: Sequence[Step]) -> Iterator[Turn]:
    """Yield the turn that a reply is; nothing for what is not the agent's to the outside."""
    first = said[0]
    if party(first.author) != AGENT:
        return
    calls = made_calls(said)
    if calls:
        yield Turn(tuple(map(_call, calls)))
    elif first.call is None and first.result is None and first.recipient in _HEARERS:
        yield Turn(text=first.content)


def _call(call: ToolCall) -> Call:
    arguments: Any = call.raw if call.arguments is None else call.arguments
    return Call(call.tool or call.name, arguments)


def untold(plan: Plan, goal: GoalChat) -> str:
    """Return what gold asks to be stated and no text to the user states; empty: nothing.

    Args:
        plan: Gold whose replies may ask for texts (`Replied.states`).
        goal: What was said. Its answer counts, whichever role of the agent wrote it.
    """
    asked = [
        text
        for milestone in plan.milestones
        if isinstance(milestone.condition, Replied)
        for text in milestone.condition.states
    ]
    if not asked:
        return ""
    # Of gold that asks for words alone: other runs do not load how words are read.
    from seal.core.statements import states

    told = [step.content for step in goal.steps if tells_user(step)] + [goal.answer or ""]
    lacks = (text for text in asked if not any(states(each, text) for each in told))
    missing = next(lacks, None)
    return "" if missing is None else f"the reply does not state {shortened(missing)}"


def _offered(goal: GoalChat) -> dict[str, JSON]:
    """Return the schemas of the tools that the agent had, by their ids."""
    tools = goal.tools
    had = goal.goal.offered if goal.offered is None else goal.offered
    return {name: tools[name].parameters for name in (had or tools) if name in tools}


def _merit(verdict: Verdict) -> tuple[bool, bool, float]:
    share = verdict.completed / verdict.total
    return verdict.param_label == "correct", verdict.label == "correct", share


def _of_verdict(verdict: Verdict, details: dict[str, JSON], vain: str) -> dict[str, Value]:
    """Return the values; `vain` says that gold calls were refused, or empty."""
    right = verdict.param_label == "correct" and not vain
    kind = verdict.multi_kind
    reason = verdict.error_type or verdict.exception or vain
    optimal = undefined("no calls that may be made at once")
    if kind in ("combine", "cs"):
        optimal = Value(float(right and verdict.is_optimal))
    progress = undefined("no call needs another before it")
    if kind in ("serial", "cs"):
        progress = Value(0.0 if vain else verdict.completed / verdict.total, verdict.total)
    return {
        "mission_accuracy": Value(float(right), reason="" if right else reason, details=details),
        "name_accuracy": Value(float(verdict.label == "correct")),
        "optimal_path": optimal,
        "progress": progress,
    }


def _told(verdict: Verdict, tools: Mapping[str, Tool]) -> dict[str, JSON]:
    """Return what a verdict says, for tables and for whoever looks at one mission."""
    diverged, error = verdict.divergence is not None, verdict.error_type
    legal = [tools[n].name if n in tools else n for n in verdict.legal_next]
    told: dict[str, JSON] = {
        "completed": verdict.completed,
        "total": verdict.total,
        "steps": verdict.steps,
        "fewest": verdict.min_length,
        "optimal": verdict.is_optimal,
    }
    where_known: dict[str, JSON] = {
        "leaf": LEAVES[verdict.multi_kind] if verdict.multi_kind else None,
        "error": error,
        "stage": None if error is None else "action" if diverged else "argument",
        "exception": verdict.exception or None,
        "turn": verdict.divergence,
        "legal_next": legal if diverged else None,
        "cut": verdict.cut or None,
        "undecided": verdict.undecided or None,
    }
    return told | {name: value for name, value in where_known.items() if value is not None}


def _dialogue(chat: TaskChat, right: Sequence[float | None]) -> Value:
    if chat.failure:
        return undefined(chat.failure)
    if len(right) < 2:
        return undefined("the task has one goal")
    if None in right:
        return undefined("a goal of the task is no mission, or its mission is not decided")
    return Value(float(all(right)), details={"missions": [int(value or 0) for value in right]})


# -- Whether a model did a mission right, in any order that gold allows, and what went wrong.
#
# The rules `CLEAN`, the default, are the definition: a step finishes any ready nodes, and a model
# is right where its turns are such steps to the end (`Walk`). Calls of one name may come in any
# order and any groups. What is asked is asked once, and the final answer comes after all else.
# Calls stand for the gold calls that make most of them accepted. Nodes are completed where their
# arguments are accepted. A pack may have rules of its own (`MissionRules`).
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), appendix C.

ActionError = Literal[
    "reject tool calling",
    "call function without reject",
    "function name hallucination",
    "missing information in tool calling",
    "redundant tool calling",
    "call the wrong function",
    "early stop",
]
"""The first of them that applies: nothing was called; something was, where no tool is needed; a
tool that is not offered; the question was not asked; more was done than gold has; a tool that gold
does not call; some of what gold has was done, and nothing else."""

MissionKind = Literal["combine", "serial", "cs"]
"""Several calls: all at once; one after the other; both."""

NOT_OFFERED = "not_in_list"
"""Where it is not told which tools were offered, the name of one that was not; any other was."""


def action_error(
    graph: Graph, turns: Sequence[Turn], offered: Collection[str] | None
) -> ActionError:
    """Return why a mission whose calls are not those of gold failed.

    As in Multi-Mission Tool Bench a turn without calls counts as a question, whatever it says. An
    answer that comes too early, where gold asks nothing, is more than gold has.

    Args:
        graph: The gold calls.
        turns: What the model did, up to the turn that was wrong.
        offered: Names of the tools that the model had; None: all but `NOT_OFFERED`.
    """
    gold = list(graph.names) if ANSWER in graph.names else [*graph.names, ANSWER]
    done = [name for turn in turns for name in [call.name for call in turn.calls] or [ASK]]
    if len(turns) == 1 and not turns[0].calls:
        return "reject tool calling"
    if gold == [ANSWER]:
        return "call function without reject"
    called = {call.name for turn in turns for call in turn.calls}
    if called & PSEUDO or (called - set(offered) if offered is not None else NOT_OFFERED in called):
        return "function name hallucination"
    if ASK in gold and ASK not in done:
        return "missing information in tool calling"
    if len(done) >= len(gold):
        return "redundant tool calling"
    if Counter(gold)[ASK] > Counter(done)[ASK]:
        return "missing information in tool calling"
    if Counter(done) - Counter(gold):
        return "redundant tool calling" if set(done) <= set(gold) else "call the wrong function"
    return "early stop"


def mission_kind(graph: Graph) -> MissionKind | None:
    """Return how the tools of a mission follow each other; None: there are not two of them.

    Read in the order of the nodes: one that depends on one of the current group begins the next.
    """
    groups: list[list[int]] = [[]]
    for node, name in enumerate(graph.names):
        if name in PSEUDO:
            continue
        if set(graph.deps[node]) & set(groups[-1]):
            groups.append([])
        groups[-1].append(node)
    several = any(len(group) > 1 for group in groups)
    if len(groups) > 1:
        return "cs" if several else "serial"
    return "combine" if several else None


Tools = Mapping[str, Mapping[str, Any]] | None
"""JSON Schemas of the arguments by the names of the offered tools; None: it is not told."""
Undecided = Literal["", "label", "param_label"]

Label = Literal["correct", "error", "exception"]
"""`exception`: the code whose rules these are raises; never under `CLEAN`."""


@dataclass(frozen=True)
class Verdict:
    """How a mission went."""

    label: Label
    """Of the calls' names and their order, whatever their arguments."""
    is_optimal: bool
    """It is correct, in the fewest steps."""
    min_length: int
    """The fewest steps, final answer and question included: nodes of the longest chain."""
    steps: int
    """Turns that were right."""
    completed: int
    """Nodes that were finished, final answer and question included."""
    total: int
    """Nodes."""
    legal_next: tuple[str, ...]
    """Names that would have been right at the first turn that was not, sorted, a name as often as
    it may come at once; any of them may come together. Empty where the label is correct."""
    divergence: int | None
    """The first turn that was not right, from 0; None where the label is correct."""
    param_label: Literal["correct", "error"]
    """Of names, order and arguments."""
    error_type: ActionError | ArgumentError | None
    """Of the first failure; None where all is correct."""
    multi_kind: MissionKind | None
    pairs: tuple[Pair, ...]
    """Calls and the gold calls they stand for, where the label is correct."""
    cut: bool
    """There were more ways to take the turns than are followed. Where it is not correct, there may
    be others with more `steps` and `completed`, another `error_type` and further `legal_next`;
    whether it is correct is found apart, and known but for `undecided`."""
    undecided: Undecided
    """What could be otherwise: the search for a right way ended with neither a way nor the proof
    that there is none. It counts as an error. Empty: all is certain. Calls with exactly the gold
    calls' arguments hardly ever come to that."""
    exception: str
    """What the code whose rules these are raises; empty: nothing."""


@dataclass(frozen=True, slots=True)
class MissionRules:
    """By what missions are judged."""

    name: str
    """As details of scores tell it."""
    judge: Callable[[Graph, Sequence[Turn], Tools, Scorer], Verdict]
    answered: bool = False
    """Whether every plan ends with the final answer."""


def verdict_on(
    graph: Graph,
    turns: Sequence[Turn],
    rules: MissionRules,
    tools: Tools,
    scorer: str,
) -> Verdict:
    """Return how a mission went.

    Where gold calls share a name, there are many ways to tell which a call stands for. A right one
    is sought with all turns in view. If the search ends too soon to tell, the verdict says so
    (`Verdict.undecided`).

    Args:
        graph: The gold calls.
        turns: Of the model; after them it says nothing.
        rules: Of judging.
        tools: JSON Schemas of the arguments by the names of the offered tools. None: types and
            names are those of the gold calls, and all tools were offered but `NOT_OFFERED`.
        scorer: Name of what compares arguments (`SCORERS`).

    Raises:
        UnknownNameError: No such scorer, and gold has calls.
        MissingExtraError: Two texts differ and jieba, which cuts them into words, is absent.
    """
    turns = [*turns, Turn()]
    if rules is CLEAN and PSEUDO.issuperset(graph.names) and len(graph) == len(set(graph.names)):
        return _judge_without_calls(graph.closed(), turns, tools)
    # Of gold calls alone: other runs do not load how arguments are compared.
    from seal.evaluation.argument_pairs import scorer_named

    compared = scorer_named(str(scorer))
    verdict = rules.judge(graph, turns, tools, compared)
    if compared.decides_optimal and verdict.param_label == "error":
        return replace(verdict, is_optimal=False)
    return verdict


def _judge_without_calls(graph: Graph, turns: Sequence[Turn], offered: Tools) -> Verdict:
    """Return what `_judge_clean` does where gold has no call: there is nothing to compare."""
    walk = Walk(graph, None)
    seen = taken(walk, turns)
    verdict = verdict_at(graph, walk, seen, offered, walk.finished)
    return verdict if walk.finished else replace(verdict, completed=walk.completed)


def _judge_clean(graph: Graph, turns: Sequence[Turn], offered: Tools, scorer: Scorer) -> Verdict:
    from seal.evaluation.argument_pairs import Pairing, argument_error, best_pairs

    graph = graph.closed()
    pairing = Pairing(graph, offered, scorer)
    meant, _ = _way(graph, turns, pairing.meant)
    if meant:
        walk = Walk(graph, pairing, meant, alone=True)
        seen = taken(walk, turns)
        pairs = best_pairs(graph, pairing, seen, walk.nodes) if walk.finished else []
        if walk.finished and all(pair.match.accepted for pair in pairs):
            right = verdict_at(graph, walk, seen, offered, right=True)
            return replace(right, pairs=tuple(pairs))
    named, decided = _way(graph, turns, pairing.named)
    walk = Walk(graph, pairing, named)
    seen = taken(walk, turns)
    verdict = verdict_at(graph, walk, seen, offered, walk.finished)
    if not walk.finished:
        sure = not walk.cut or decided
        return replace(verdict, completed=walk.completed, undecided="" if sure else "label")
    nodes, undecided = walk.nodes, False
    pairs = best_pairs(graph, pairing, seen, nodes)
    if not all(pair.match.accepted for pair in pairs):
        accepted, decided = _way(graph, turns, pairing.accepted)
        undecided = not (accepted or decided)
        pairs = best_pairs(graph, pairing, seen, accepted or nodes)
    bad = [pair for pair in pairs if not pair.match.accepted]
    verdict = replace(verdict, completed=len(graph) - len(bad), pairs=tuple(pairs))
    if not bad:
        return verdict
    errors = min(bad, key=lambda pair: (pair.turn, pair.call)).match.errors
    return replace(
        verdict,
        param_label="error",
        error_type=argument_error(errors),
        undecided="param_label" if undecided else "",
    )


def _way(
    graph: Graph, turns: Sequence[Turn], nodes: Callable[[Call], Sequence[int]]
) -> tuple[list[tuple[int, ...]], bool]:
    """Return a way in which turns finish every node, and whether there is one is known.

    Args:
        graph: The gold calls, as of `Graph.closed`.
        turns: All of them.
        nodes: What a call may stand for. Where all names differ, nothing is sought.
    """
    if len(set(graph.names)) == len(graph):
        return [], True

    said = mask_of(node for node, name in enumerate(graph.names) if name in PSEUDO)
    masks: list[list[int]] = []
    for turn in turns:
        if sum(map(len, masks)) >= len(graph):
            break
        calls = [mask_of(() if call.name in PSEUDO else nodes(call)) for call in turn.calls]
        masks.append(calls or [0 if turn.empty else said])
    from seal.evaluation.argument_pairs import place_all

    return place_all(graph, masks)


CLEAN = MissionRules("clean", _judge_clean)


class Steps(Protocol):
    """The turns of a model, taken one after the other, as long as they are right."""

    finished: bool
    """The mission is over, and all was right."""
    taken: int
    """Turns that were right."""
    cut: bool
    """There were more ways to take the turns than are followed."""

    @property
    def legal_next(self) -> tuple[str, ...]:
        """Names that may come next, sorted; a name as often as it may come at once."""

    def take(self, turn: Turn) -> bool:
        """Tell whether a turn is right; a wrong one changes nothing."""


def taken(walk: Steps, turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns up to the first that is wrong, or that ends the mission; it included."""
    seen = []
    for turn in turns:
        seen.append(turn)
        if not walk.take(turn) or walk.finished:
            break
    return seen


def verdict_at(
    graph: Graph,
    walk: Steps,
    seen: Sequence[Turn],
    offered: Collection[str] | None,
    right: bool = False,
) -> Verdict:
    """Return the verdict of a mission whose last turn was wrong, or of one where all was right."""
    label: Literal["correct", "error"] = "correct" if right else "error"
    return Verdict(
        label=label,
        is_optimal=right and walk.taken == graph.length,
        min_length=graph.length,
        steps=walk.taken,
        completed=len(graph) if right else 0,
        total=len(graph),
        legal_next=() if right else walk.legal_next,
        divergence=None if right else len(seen) - 1,
        param_label=label,
        error_type=None if right else action_error(graph, seen, offered),
        multi_kind=mission_kind(graph),
        pairs=(),
        cut=walk.cut,
        undecided="label" if walk.cut and not right else "",
        exception="",
    )

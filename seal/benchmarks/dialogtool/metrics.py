"""Awareness, selection, execution; what was booked; created functions; why a turn failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.api_code import (
    ApiCase,
    Fitted,
    code_of,
    fit,
    function_name,
    keywords,
)
from seal.benchmarks.dialogtool.dialogues import call_key
from seal.benchmarks.dialogtool.role_scores import RoleOfDialogue, replies, role
from seal.benchmarks.dialogtool.tool_life import CREATOR, TEACHER, is_creation
from seal.benchmarks.dialogtool.world import WORLD, calls_of, is_transactional
from seal.core import (
    JSON,
    DataError,
    Metric,
    Scale,
    Score,
    SealError,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    shortened,
)
from seal.core.conditions import Argument, Called
from seal.evaluation.attribution import Cause, Evidence
from seal.evaluation.attribution_steps import Wrong, argument, first_gold_step
from seal.evaluation.goals import (
    INFRASTRUCTURE,
    ChatMetric,
    DialogueMatch,
    GoalChat,
    GoalMetric,
    TaskChat,
    Value,
    no_gold,
    undefined,
)
from seal.evaluation.llm_judge import LLMJudge
from seal.evaluation.scoring import Scoring
from seal.sandbox import build_sandbox
from seal.sandbox.function_cases import Case, Outcome, Sandbox

# -- The metric of a tool's life in dialogue: awareness, requests, replies, roles, turn by turn.
#
# Each figure but those of texts has a twin `_exact`; what the plain name means, `match` says. Every
# turn of a dialogue has a score of each, without a value where the role was not seated or nothing
# was due. Tasks of other benchmarks have none.
#
# Source: DialogTool, sections 4 and 5; its turn-level scoring is AppBench's.

TWINS = ("awareness", "selection", "selection_recall", "execution")
"""Names that have a twin `_exact`."""
MISSED = "tool_missed"
"""A tool was due, and the action has nothing to do with tools (T. in DialogTool's table 4)."""
NO_TOOL = "no_tool_due"
"""No tool was due, and a tool's or another action was named (No T.)."""
SelectionError = Literal["api_error", "parse_error", "unnecessary_call", "missing_call"]
ExecutionError = Literal[
    "api_error", "argument_matching_error", "missing_argument_error", "refused"
]

_SCORED: Mapping[str, tuple[str, ...]] = {
    life.AWARENESS: ("awareness", "awareness_exact"),
    life.REQUESTER: tuple(name for twin in TWINS[1:] for name in (twin, f"{twin}_exact")),
    life.RESPONDER: ("bleu", "rouge_l"),
    life.ACTOR: ("role_reply",),
}
"""Role to the names by which it is scored."""
NAMES = tuple(name for names in _SCORED.values() for name in names)
SCALES = {"bleu": Scale(bounded=False, gold_is_best=False), "role_reply": Scale(bounded=False)}
"""BLEU is beyond 1 where the gold reply is said verbatim (`role_scores.sentence_bleu`)."""

_APP = re.compile(r"\s*+\[([^\[\]():]*)\]")
"""An app that is named first, where APIs are offered by their apps."""
_DATES = frozenset({"date", "day"})
_PLACES = frozenset(
    {
        *("address", "airport", "area", "city", "destination", "from", "leaving", "location"),
        *("origin", "place", "station", "street", "to", "town", "venue", "where"),
    }
)
"""Words of the names of arguments that hold places, divided by underscores."""


def measures(scoring: Scoring) -> tuple[Metric, ...]:
    """Return the metrics of dialogues, of what they booked, and of created tools."""
    of_roles = RoleOfDialogue(scoring.judge_of)
    return JudgedDialogue(scoring), of_roles, GoalState(), Creation(scoring.sandbox)


@dataclass(frozen=True)
class JudgedDialogue(ChatMetric):
    """`Dialogue`, whose roles the judge of the chat rates where it is a model."""

    scoring: Scoring
    scales = SCALES

    def of(self, chat: TaskChat) -> list[Score]:
        """Return the scores of `Dialogue`."""
        judge = self.scoring.judge_of(chat.task, chat.trajectory.trial)
        of_roles = judge if isinstance(judge, LLMJudge) else None
        return Dialogue(self.scoring.rules.dialogue, of_roles).of(chat)


@dataclass(frozen=True)
class Dialogue(GoalMetric):
    """Scores the turns of dialogues that tell act and kind in their goals' labels.

    - awareness, awareness_exact: was it known whether a tool is due, and what is to be done? As
      published: where an API is due, every action counts that has to do with tools. Elsewhere the
      named action must contain the gold one, as `inform_count` does `inform`; where gold is
      `confirm`, every tool action counts. Exactly: the gold action.
    - selection, selection_exact: share of right decisions. Right are a due API that was requested,
      and a turn rightly left without a request. Wrong are a wrong API, a missing one, a request
      that cannot be read, and one too many. As published, app and name decide, in any case.
      Exactly, it must be the very API, and the turn is right only as a whole.
    - selection_recall, selection_recall_exact: likewise, over the turns on which an API is due.
    - execution, execution_exact: over the turns on which an API was due and one was requested. As
      published, each gold argument must be there with a value that contains the gold one or is
      contained in it, in any case. Further arguments are passed over. If arguments are missing, one
      `?` for one of them is enough. Exactly: the same names, each value equal to one that gold
      accepts, `?` for all that are missing. A request that was run and refused did nothing: it is
      `refused`, which nobody published. One that a service could not serve counts, and so does one
      whose result nobody recorded.
    - bleu, rouge_l: the reply beside the gold reply.
    - role_reply: how well a reply keeps its role.

    Args:
        match: What the plain names mean.
        judge: Of roles; None: by rule.
    """

    match: DialogueMatch = "lenient"
    judge: LLMJudge | None = None

    names = NAMES
    scales = SCALES

    def of(self, chat: TaskChat) -> list[Score]:
        """Return one score for each goal and name; none for a task without such turns."""
        return super().of(chat) if any(map(life.is_turn, chat.task.goals)) else []

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        if not life.is_turn(goal.goal):
            return dict.fromkeys(NAMES, undefined("the goal is no turn of a dialogue"))
        played = goal.trajectory.provenance.get("role")
        turn = goal.chat.once(life.turns_of, goal.chat)[goal.position]
        values: dict[str, Value] = {}
        for by, names in _SCORED.items():
            if by in turn.seated:
                values |= zip(names, self._values(by, turn, goal.tools, played), strict=True)
            else:
                values |= dict.fromkeys(names, undefined(f"the role is not seated: {by}"))
        if self.match == "exact":
            values |= {name: values[f"{name}_exact"] for name in TWINS}
        return values

    def _values(
        self, by: str, turn: life.Turn, tools: Mapping[str, Tool], played: JSON
    ) -> Sequence[Value]:
        """Return the values of the names by which a seated role is scored."""
        match by:
            case "awareness":
                return awareness(turn)
            case "requester":
                return requests(turn, tools)
            case "responder":
                return replies(turn)
        return (role(turn, played, self.judge),)


def awareness(turn: life.Turn) -> tuple[Value, Value]:
    """Return the scores as published and exact, 0 or 1; a silent role is wrong."""
    act = life.read_act(turn.said(life.AWARENESS) or "")
    tool = life.needs_tool(act)
    near = turn.act in act or (turn.act == "confirm" and tool) if turn.kind == "action" else tool

    def value(right: bool) -> Value:
        details: dict[str, JSON] = {"act": turn.act, "said": act}
        if not right:
            details["error"] = NO_TOOL if turn.kind == "action" else MISSED
        return Value(float(right), details=details)

    return value(bool(act) and near), value(act == turn.act)


def requests(turn: life.Turn, tools: Mapping[str, Tool]) -> tuple[Value, ...]:
    """Return selection, its recall, and execution, each as published and exact."""
    made = turn.calls(life.REQUESTER)
    near, very = (_chosen(turn, made, tools, exact) for exact in (False, True))
    return (
        _selection(turn, near, tools),
        _selection(turn, very, tools, exact=True),
        _recall(near),
        _recall(very),
        _execution(turn, near, tools),
        _execution(turn, very, tools, exact=True),
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The requests of a turn beside the one that is due."""

    due: Called | None
    right: ToolCall | None
    """The request of the API that is due."""
    others: Sequence[ToolCall]

    def errors(self) -> Iterator[SelectionError]:
        """Yield what is wrong, a word a wrong decision."""
        others = list(self.others)
        if self.due is not None and self.right is None:
            stands = next((call for call in others if call.arguments is not None), None)
            if stands is not None:
                others.remove(stands)
                yield "api_error"
            elif others:
                others.pop(0)
                yield "parse_error"
            else:
                yield "missing_call"
        for call in others:
            yield "parse_error" if call.arguments is None else "unnecessary_call"


def _chosen(
    turn: life.Turn, made: Sequence[ToolCall], tools: Mapping[str, Tool], exact: bool
) -> _Chosen:
    due = turn.due
    if due is None:
        return _Chosen(None, None, made)
    wanted = tools.get(due.tool)
    for place, call in enumerate(made):
        same = call.tool == due.tool or (not exact and _means(call, wanted, tools))
        if call.arguments is not None and same:
            return _Chosen(due, call, [*made[:place], *made[place + 1 :]])
    return _Chosen(due, None, made)


def _means(call: ToolCall, wanted: Tool | None, tools: Mapping[str, Tool]) -> bool:
    """Tell whether a request has app and API of a tool, or its API where no app was named."""
    if wanted is None:
        return False
    called = tools.get(call.tool or "")
    if called is not None:
        return _name(called) == _name(wanted)
    app, _, api = call.name.rpartition(":")
    return (app.strip().casefold() or _name(wanted)[0], api.strip().casefold()) == _name(wanted)


def _name(tool: Tool) -> tuple[str, str]:
    return tool.category.casefold(), str(tool.source.get("api", tool.name)).casefold()


def _selection(
    turn: life.Turn, chosen: _Chosen, tools: Mapping[str, Tool], exact: bool = False
) -> Value:
    errors = list(chosen.errors())
    details = _told(turn, chosen, errors, tools)
    if exact:
        return Value(float(not errors), details=details)
    right = int(chosen.right is not None or (chosen.due is None and not errors))
    counted = right + len(errors)
    return Value(right / counted, counted, details=details)


def _told(
    turn: life.Turn, chosen: _Chosen, errors: Sequence[str], tools: Mapping[str, Tool]
) -> dict[str, JSON]:
    told: dict[str, JSON] = {"kind": turn.kind}
    if chosen.due is not None:
        told["api"] = api_name(chosen.due.tool, tools)
        told["app"] = _names_app(turn, tools.get(chosen.due.tool), tools)
    if errors:
        told["errors"] = list(errors)
    needless = chosen.due is None or chosen.right is not None
    unneeded = [c for c in chosen.others if needless and c.arguments is not None]
    if unneeded:
        told["unnecessary"] = [api_name(c.tool, tools) if c.tool else c.name for c in unneeded]
    return told


def _names_app(turn: life.Turn, wanted: Tool | None, tools: Mapping[str, Tool]) -> bool:
    """Tell whether the app of a tool was named, by a request or alone, `[Restaurants]`."""
    if wanted is None:
        return False
    named = [_APP.match(step.content) for step in turn.steps if step.author == life.REQUESTER]
    apps = {found[1].strip().casefold() for found in named if found}
    for call in turn.calls(life.REQUESTER):
        called = tools.get(call.tool or "")
        app = call.name.rpartition(":")[0] if called is None else called.category
        apps.add(app.strip().casefold())
    return wanted.category.casefold() in apps


def api_name(tool: str, tools: Mapping[str, Tool]) -> str:
    """Return app and API of a tool, `Restaurants: findrestaurants`; its id where it is unknown."""
    found = tools.get(tool)
    if found is None:
        return tool
    return f"{found.category}: {str(found.source.get('api', found.name)).lower()}"


def _recall(chosen: _Chosen) -> Value:
    if chosen.due is None:
        return undefined("no API is due")
    return Value(float(chosen.right is not None))


def _execution(
    turn: life.Turn, chosen: _Chosen, tools: Mapping[str, Tool], exact: bool = False
) -> Value:
    if chosen.due is None:
        return undefined("no API is due")
    if all(call.arguments is None for call in (chosen.right, *chosen.others) if call is not None):
        return undefined("no API was requested")
    told: dict[str, JSON] = {"kind": turn.kind, "api": api_name(chosen.due.tool, tools)}
    if chosen.right is None:
        return Value(0.0, details={**told, "error": "api_error"})
    given = chosen.right.arguments or {}
    told |= differences(chosen.due, given)
    if exact:
        right = chosen.due.accepts(given)
    elif turn.missing:
        right = any(given.get(name) == life.UNKNOWN for name in turn.missing)
    else:
        right = all(_near(gold, given.get(n)) for n, gold in (chosen.due.arguments or {}).items())
    if not right:
        asked = turn.missing and not any(given.get(name) == life.UNKNOWN for name in turn.missing)
        kind: ExecutionError = "missing_argument_error" if asked else "argument_matching_error"
        told["error"] = kind
    elif not turn.missing and turn.was_refused(chosen.right):
        right, told["error"] = False, "refused"
    return Value(float(right), details=told)


def _near(gold: Argument, value: JSON) -> bool:
    """Tell whether a value contains an accepted one or is contained in it, in any case."""
    if value is None:
        return gold.optional
    said = str(value).lower()
    accepted = [str(one).lower() for one in gold.values or ()]
    return gold.values is None or any(said in one or one in said for one in accepted)


def differences(gold: Called, given: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the names of arguments that are missing, extra, or have another value than gold.

    Of the last, `dates` and `places` count those that hold a date or a place, as their names say.
    """
    wanted = gold.arguments or {}
    missing = [name for name, one in wanted.items() if name not in given and not one.optional]
    extra = [name for name in given if name not in wanted]
    wrong = [n for n, one in wanted.items() if n in given and not one.accepts(given[n])]
    words = [set(name.lower().split("_")) for name in wrong]
    return {
        "missing": list(missing),
        "extra": list(extra),
        "mismatch": list(wrong),
        "dates": sum(not _DATES.isdisjoint(name) for name in words),
        "places": sum(not _PLACES.isdisjoint(name) for name in words),
    }


_MISSED = ("missing_call", "tool_missed")
"""Errors of awareness and selection by which no tool was called where one was due."""


def cause_of(evidence: Evidence) -> Cause | None:
    """Return why a turn failed, by the first of awareness, selection and execution that did.

    None for a goal that another metric decides.
    """
    if evidence.decision.metric not in life.DECIDING:
        return None
    score = evidence.scores[evidence.decision.metric]
    error = str(score.details.get("error") or "wrong")
    name = str(score.details.get("called") or "")
    if score.metric == "execution":
        found = None if no_gold(evidence.goal) else first_gold_step(evidence)
        if found is not None and (found.stage == "wrong_argument" or error == "refused"):
            return found
        step = evidence.calls[-1].step if evidence.calls else None
        return replace(argument(name, [Wrong(error)], step), of=1)
    step = evidence.calls[0].step if evidence.calls else None
    if error in _MISSED:
        return Cause("not_called", error, "a tool was due and none was called", step, of=1)
    called = evidence.calls[0].call if evidence.calls else None
    received = called.name if called is not None else str(score.details.get("said") or "")
    said = f"{received or 'the request'}: {error.replace('_', ' ')}"
    return Cause("wrong_tool", error, said, step, received, None, received)


# -- Whether a dialogue left the world as it should: what was booked, and nothing else.
#
# It applies to tasks of the world `mobile` whose calls were run. A recorded booking that brought
# nothing changed nothing, and is not due. Where a recorded result cannot be read there is no value.
#
# Source: ours; the authors of DialogTool (2025) name state checks as future work.

NAME = "goal_state"
DUE = "goal_state_due"
_NOT_RUN = "its calls were not run: play it with decisions of the model's own"


class GoalState(GoalMetric):
    """Whether a task as a whole left the world as it should.

    - goal_state: 1 if the calls that changed something are those of the gold, else 0. They are
      compared as a multiset of tools and arguments (`call_key`), without their order. One score a
      task, over the goals that were played. Its details count what was due, made, missing and
      beyond.
    - goal_state_due: the same of the tasks in which something was to be booked: who books nothing
      at all is right in the others.
    """

    names = (NAME, DUE)

    def applies(self, goal: GoalChat) -> bool:
        """Tell whether this is the first goal of a task of the phone."""
        return goal.task.world == WORLD and not goal.position

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of the task."""
        value = self._value(goal.task, goal.trajectory, goal.tools)
        due = value if value.details.get("due", 1) else undefined("nothing was to be booked")
        return {NAME: value, DUE: due}

    def _value(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> Value:
        results = [result for _, result in trajectory.calls()]
        taught = TEACHER in trajectory.provenance.get("seated", ())
        if taught or (results and not any(results)):
            return undefined(_NOT_RUN)
        try:
            played = replace(task, goals=task.goals[: len(trajectory.stops)])
            due = Counter(
                (made.tool.id, call_key(made.tool, made.call.arguments or {}))
                for made in calls_of(played, tools)
                if made.booked
            )
        except DataError as error:
            return undefined(str(error))
        made = Counter(_made(trajectory, tools))
        missing, beyond = (due - made).total(), (made - due).total()
        counts = {"due": due.total(), "made": made.total(), "missing": missing, "beyond": beyond}
        return Value(float(not missing and not beyond), details=counts)


def _made(trajectory: Trajectory, tools: Mapping[str, Tool]) -> Iterator[tuple[str, bytes]]:
    """Yield tool id and `call_key` of each call that booked something."""
    for step in trajectory.steps:
        result = step.result
        if result is None or result.executed is None or result.error or not result.value:
            continue
        tool = tools.get(result.executed.tool)
        if tool is not None and is_transactional(tool):
            yield tool.id, call_key(tool, result.executed.arguments or {})


# -- Whether a function that a model wrote for an API does what the API did: the metric `creation`.
#
# A test case is a recorded call and the rows that it brought; the worked example that the model was
# shown does not count. The function runs in a sandbox over the table of all rows that the API ever
# brought (`seal.benchmarks.dialogtool.api_code` says how it is called). The rows that it returns
# are compared as a multiset.
#
# All are in [0, 1] but the last. Their weights are the denominators. A sandbox that cannot be used
# is an error of the infrastructure, never a score.
#
# Source: DialogTool, tool creation; spec of statuses in `seal.sandbox.function_cases`.

OF_CREATION = ("creation", "creation_exact", "creation_relative")

_SHOWN = 3
"""Failing cases in a score's details."""


@dataclass(frozen=True, slots=True)
class Suite:
    """What a created function is tested by."""

    table: Sequence[dict[str, JSON]]
    cases: Sequence[ApiCase]
    """Without the worked example."""


@dataclass(frozen=True, slots=True)
class Creation(GoalMetric):
    """Three shares, of every goal whose label `task` is `creation`.

    - creation: passed cases / all. As published; what the sandbox lacks a construct for is failed.
    - creation_exact: passed cases / those that the sandbox could run.
    - creation_relative: passed cases / those that the oracle's function passes, the best of a
      family of filters (`seal.benchmarks.dialogtool.api_code`). Some answers follow from no filter
      of the table, so the oracle passes fewer than all. A function that passes more than the oracle
      has more than 1.0.

    Args:
        sandbox: Name of the sandbox (`seal.sandbox.NAMES`), or one that is made already.
    """

    sandbox: str | Sandbox = "monty"
    names = OF_CREATION
    _fitted: dict[str, Fitted] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By task: the oracle's function follows from the task alone."""

    def applies(self, goal: GoalChat) -> bool:
        """Tell whether a function is to be written."""
        return is_creation(goal.goal)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the shares of the cases that the function passes."""
        task, tools, text = goal.task, goal.tools, written(goal)
        try:
            wanted = goal.goal.labels.get("tool")
            if not isinstance(wanted, str) or wanted not in tools:
                named = f"the tool to create, {shortened(wanted)}"
                raise DataError(f"{task.id}: {named}, is not in the pool")
            tool, suite = tools[wanted], suite_of(task)
            sandbox = build_sandbox(self.sandbox) if isinstance(self.sandbox, str) else self.sandbox
            outcomes = play(sandbox, tool, text, suite)
            identity = sandbox.identity()
        except SealError as error:
            return dict.fromkeys(OF_CREATION, undefined(f"{INFRASTRUCTURE}: {error}"))
        if task.id not in self._fitted:
            self._fitted[task.id] = fit(tool, suite.table, suite.cases)
        details = _details(outcomes, suite, code_of(text).fences, identity)
        return _values(outcomes, self._fitted[task.id], details)


def written(goal: GoalChat) -> str:
    """Return the text in which a function was written: the creator's last, else the answer."""
    said = [step.content for step in goal.steps if step.author == CREATOR]
    return said[-1] if said else goal.answer or ""


def suite_of(task: Task) -> Suite:
    """Return the test cases of a creation task.

    Raises:
        DataError: Its metadata are not of the form {table, cases, example}.
    """
    table, cases = task.metadata.get("table"), task.metadata.get("cases")
    try:
        recorded = [
            ApiCase(dict(case[0]), [range(len(table))[place] for place in case[1]])  # type: ignore[arg-type]
            for number, case in enumerate(cases)  # type: ignore[arg-type]
            if number != task.metadata.get("example")
        ]
        return Suite([dict(row) for row in table], recorded)  # type: ignore[union-attr]
    except (TypeError, ValueError, LookupError) as error:
        raise DataError(
            f"{task.id}: metadata: expected table (rows) and cases ([arguments, [places of "
            f"rows]]), got {shortened(task.metadata)}: {error}; import the pool again"
        ) from error


def play(sandbox: Sandbox, tool: Tool, text: str, suite: Suite) -> list[Outcome]:
    """Return what becomes of each test case of the function in a model's text."""
    cases = [
        Case(keywords(case.arguments), [suite.table[place] for place in case.rows])
        for case in suite.cases
    ]
    return sandbox.run(code_of(text).source, function_name(tool), suite.table, cases)


def _values(
    outcomes: Sequence[Outcome], oracle: Fitted, details: dict[str, JSON]
) -> dict[str, Value]:
    counts = Counter(outcome.status for outcome in outcomes)
    passed, every = counts["pass"], len(outcomes)
    able = every - counts["unsupported"]
    relative: dict[str, JSON] = {"oracle_passed": oracle.passed, "oracle_cases": oracle.cases}
    return {
        "creation": _share(passed, every, "the task has no test case", details),
        "creation_exact": _share(passed, able, "the sandbox could run no test case"),
        "creation_relative": _share(passed, oracle.passed, "the oracle passes none", relative),
    }


def _share(passed: int, of: int, none: str, details: dict[str, JSON] | None = None) -> Value:
    if not of:
        return Value(None, 0.0, none, details or {})
    return Value(passed / of, float(of), details=details or {})


def _details(
    outcomes: Sequence[Outcome], suite: Suite, fences: int, identity: dict[str, JSON]
) -> dict[str, JSON]:
    failing = [
        {
            "arguments": dict(case.arguments),
            "status": outcome.status,
            "message": outcome.message,
            "expected": shortened([suite.table[place] for place in case.rows]),
            "received": shortened(outcome.received),
        }
        for case, outcome in zip(suite.cases, outcomes, strict=True)
        if outcome.status != "pass"
    ]
    return {
        "cases": len(outcomes),
        "statuses": dict(sorted(Counter(outcome.status for outcome in outcomes).items())),
        "failing": failing[:_SHOWN],
        "fences": fences,
        "ran_in": dict(sorted(Counter(outcome.sandbox for outcome in outcomes).items())),
        "sandbox": identity,
    }

"""Tasks and chats as pieces of HTML, with what is known beside what was said.

A page that is one file holds equal pieces once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import blake2b
from html import escape
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from markupsafe import Markup

from seal.core import (
    Goal,
    Plan,
    Scale,
    Score,
    Step,
    Tables,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
    ends_conversation,
)
from seal.core.call_formats import repairs_of
from seal.core.conditions import Argument, Asked, Called, Condition, OfTheStepAlone
from seal.core.records import to_plain
from seal.core.text import counted, folded, goal_name, one_line, tables_text
from seal.core.values import json_bytes, json_value
from seal.evaluation.attribution import MEANINGS, Cause, Decided
from seal.evaluation.calls import ArgumentFinding, held_against
from seal.evaluation.error_patterns import was_refused
from seal.evaluation.goals import (
    EXECUTOR,
    USER,
    Outcome,
    applies,
    asks_of_world,
    decides,
    goal_steps,
    made_calls,
    state_of,
)
from seal.evaluation.pattern_scores import PATTERNS, SERVICE_ANSWERS
from seal.evaluation.scoring import USER_ERRORS as AUDIT_METRICS
from seal.report.grids import grouped, listed, number
from seal.report.lanes import DECISIVE, deciding_metric, outcome_label, reason_of, said
from seal.report.pages import macros

if TYPE_CHECKING:
    from seal.core.table_matching import TableChange
    from seal.report.world_views import ChangedRow, GoalOutcome, WorldChange

# -- What a goal asks for, in words that a person reads.

_LEFT_OUT = "left out"
"""Stands for an argument that is not given."""


def plan_lines(plan: Plan, names: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return one line for each milestone and minefield, numbered, with what it comes after.

    Args:
        plan: The gold.
        names: Tool to its name, which the made calls have, too; others are told by their ids.
    """
    lines = []
    for prefix, nodes in (("", plan.milestones), ("never ", plan.minefields)):
        for position, node in enumerate(nodes):
            after = f"  (after {', '.join(map(str, node.after))})" if node.after else ""
            lines.append(f"{prefix}{position}: {describe(node.condition, names)}{after}")
    return lines


def gold_lines(goal: Goal, names: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return the plans and answers of a goal; empty where it is not annotated; as `plan_lines`."""
    lines = []
    plans = goal.plans or ()
    for place, plan in enumerate(plans, 1):
        if len(plans) > 1:
            lines.append(f"plan {place} of {len(plans)}")
        lines.extend(plan_lines(plan, names) or [_NO_TOOL])
    return [*lines, *_told_lines(goal)]


_NO_TOOL = "no tool needed"


def _told_lines(goal: Goal) -> Iterator[str]:
    """Yield what the answer to a goal has to state."""
    if goal.answers:
        yield "states " + (" or " if goal.any_answer else ", ").join(goal.answers)
    yield from (f"tells {slot.told}" for slot in goal.tells)


def target_line(task: Task, names: Mapping[str, str]) -> str:
    """Return what a task asks for: what its answers state, else what its first plans do.

    Args:
        task: The task.
        names: Id of a tool to its name; of others their id is shown.
    """
    stated = [line for goal in task.goals for line in _told_lines(goal)]
    plans = [goal.plans[0] for goal in task.goals if goal.plans]
    done = (describe(node.condition, names) for plan in plans for node in plan.milestones)
    return "; ".join(stated or done) or (_NO_TOOL if plans else "")


def describe(condition: Condition, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a condition on one line: a call as `tool(city="Paris" | "Lyon", n=1 | left out)`."""
    if isinstance(condition, Called):
        refused = ", to be refused" if condition.refused else ""
        tool = names.get(condition.tool, condition.tool)
        if condition.arguments is None:
            return f"{tool}(…){refused}"
        given = ", ".join(
            f"{name}={_gold_values(gold)}" for name, gold in condition.arguments.items()
        )
        return f"{tool}({given}){refused}"
    if isinstance(condition, Asked):
        about = " or ".join(condition.about)
        return f"asked about {about}" if about else "asked"
    if isinstance(condition, OfTheStepAlone):
        return fields_line(condition)
    from seal.report.world_views import described

    return described(condition)


def fields_line(condition: Condition) -> str:
    """Return the kind of a condition and its fields on one line."""
    fields: dict[str, Any] = to_plain(condition)
    kind = fields.pop("kind", type(condition).__name__)
    told = ", ".join(f"{name}={json_text(value)}" for name, value in fields.items() if value)
    return f"{kind} {told}".rstrip()


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON text, letters of every script as they are."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _gold_values(gold: Argument) -> str:
    if gold.values == ():
        return _LEFT_OUT
    values = " | ".join(map(json_text, gold.listed)) or "any"
    return f"{values} | {_LEFT_OUT}" if gold.optional else values


# -- What was called: on one line, and beside the gold calls.

_CALL = 120
"""Characters of a call on one line."""


def call_line(call: ToolCall) -> str:
    """Return a call on one line: `weather(city="Paris")`; a long one is cut."""
    if call.arguments is None:
        return one_line(f"{call.name}({call.raw})", _CALL)
    given = ", ".join(f"{name}={json_text(value)}" for name, value in call.arguments.items())
    return one_line(f"{call.name}({given})", _CALL)


def ended_words(result: ToolResult | None) -> str:
    """Return in a word or two how a call ended: `ok`, or the kind of its error."""
    if result is None:
        return "no result"
    return "ok" if result.error is None else str(result.error.get("kind", "error"))


@dataclass(frozen=True, slots=True)
class CallRow:
    """A gold call, a made call, or one that stands for the other."""

    mark: Literal["right", "wrong argument", "missing", "extra"]
    gold: str = ""
    """Empty: the call is extra."""
    made: str = ""
    """Empty: the call is missing."""
    step: int | None = None
    """At which it was made."""
    why: str = ""
    """What is wrong with its arguments, or how it ended where it did not end as asked."""


def calls_beside_gold(
    task: Task, trajectory: Trajectory, names: Mapping[str, str] = MappingProxyType({})
) -> list[list[CallRow]]:
    """Return for each goal its gold calls in their order, then what was called besides.

    Of several plans it is the one that the calls meet best (`held_against`). A goal whose gold
    names no calls, or is of a world, has no rows.
    """
    goals = enumerate(task.goals)
    return [_rows_of(goal, goal_steps(trajectory, n), names) for n, goal in goals]


def _rows_of(goal: Goal, steps: Sequence[Step], names: Mapping[str, str]) -> list[CallRow]:
    if not goal.plans or any(map(asks_of_world, goal.plans)):
        return []
    places = {step.call.id: step.index for step in steps if step.call is not None}
    results = {step.result.call_id: step.result for step in steps if step.result is not None}
    best, _ = held_against(goal, made_calls(steps), results)
    pairs = {pair.gold: pair for pair in best.pairs}
    rows = []
    for position, gold in best.gold.items():
        asked = describe(gold, names)
        if position not in pairs:
            rows.append(CallRow("missing", asked))
            continue
        pair = pairs[position]
        call = best.made[pair.made]
        faults = "; ".join(map(_argument_fault, pair.comparison.findings))
        refused = was_refused(results.get(call.id))
        ended = "" if refused == gold.refused else "refused" if refused else "not refused"
        why = "; ".join(filter(None, (faults, ended)))
        mark: Any = "right" if pair.comparison.exact else "wrong argument"
        rows.append(CallRow(mark, asked, call_line(call), places[call.id], why))
    used = {pair.made for pair in best.pairs}
    others = [call for place, call in enumerate(best.made) if place not in used]
    return rows + [CallRow("extra", "", call_line(call), places[call.id]) for call in others]


def _argument_fault(found: ArgumentFinding) -> str:
    wanted = " or ".join(map(json_text, found.expected or ())) or "nothing"
    if found.problem == "missing":
        return f"{found.name} is missing, expected {wanted}"
    received = one_line(json_text(found.received), _CALL)
    return f"{found.name} is {received}, expected {one_line(wanted, _CALL)}"


def first_error(trajectory: Trajectory) -> int | None:
    """Return the step of the first call that failed, or that could not be read; None: none did."""
    for step in trajectory.steps:
        unread = step.call is not None and step.call.arguments is None
        if unread or (step.result is not None and step.result.error is not None):
            return step.index
    return None


# -- What is known of a chat beside what was said: milestones, world, clock, audit, error patterns.

_FLAGS = {
    "outside_brief": "the user said what its brief does not tell",
    "ended_early": "the user ended too early",
    "spoke_as_assistant": "the user spoke as the assistant",
    "said_nothing": "the user said nothing",
    "unknown_call": "the user called a tool that it does not have",
}
_PATTERNS = {
    "IAC": "a gold call is not made",
    "IAN": "no such argument",
    "IAT": "a value of a wrong type",
    "IAV": "a wrong or missing value",
    "IFE": "no call that can be read",
    "IFN": "no such tool",
    "RAC": "the same call again",
}
_FAULTS = 3
"""Most faults of one finding that a mark tells."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a step."""

    kind: str
    """reached, partly, hit, event, printed, thought, ended, flag, fault (of the agent) or service
    (a dead one)."""
    text: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """What stands beside the steps of one chat, by `Step.index`."""

    goals: tuple[GoalOutcome, ...] = ()
    marks: Mapping[int, Sequence[Mark]] = field(default_factory=dict)
    changes: Mapping[int, WorldChange] = field(default_factory=dict)
    times: Mapping[int, str] = field(default_factory=dict)
    calls: Sequence[Sequence[CallRow]] = ()
    """Of each goal its gold calls beside the made ones."""
    beginning: Tables = field(default_factory=dict)
    """The world before the chat; empty where there is none."""


def annotate(
    task: Task | None,
    trajectory: Trajectory,
    scores: Sequence[Score] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> Annotations:
    """Return what is known of a chat.

    Args:
        task: What was played; None: only what the trajectory itself tells is known.
        trajectory: What was said and done.
        scores: Scores of this task and trial.
        names: Tool to its name.
    """
    known = _of_world(task, trajectory, scores) if _has_world(task, trajectory) else Annotations()
    marks = chain(
        _reached(known.goals),
        _happened(trajectory),
        _printed(trajectory),
        _answered(trajectory),
        _flags(scores),
        _faults(scores),
    )
    calls = () if task is None else calls_beside_gold(task, trajectory, names)
    return replace(known, marks=grouped(marks), calls=calls)


def _has_world(task: Task | None, trajectory: Trajectory) -> bool:
    """Tell whether a chat has milestones, tables or a clock."""
    if any(step.state for step in trajectory.steps):
        return True
    return task is not None and (
        bool(task.initial_state)
        or "clock" in task.metadata
        or any(applies(task, goal) for goal in task.goals)
    )


def _of_world(task: Task | None, trajectory: Trajectory, scores: Sequence[Score]) -> Annotations:
    """Return what became of the milestones, and the world and the time of each step."""
    from seal.report.world_views import beginning, goal_outcomes, times, world_changes

    state = task.initial_state if task is not None else None
    return Annotations(
        () if task is None else tuple(goal_outcomes(task, trajectory, scores)),
        changes=world_changes(trajectory, state),
        times={} if task is None else times(task, trajectory.steps),
        beginning=beginning(trajectory, state),
    )


def _reached(goals: Sequence[GoalOutcome]) -> Iterator[tuple[int, Mark]]:
    for outcome in goals:
        for node in outcome.nodes:
            if node.step is not None:
                share = f" in part, {node.similarity:.3f}" if node.became == "partly" else ""
                how = "hit" if node.became == "hit" else f"reached{share}"
                yield node.step, Mark(node.became, f"{node.kind} {node.node} {how}")


def _printed(trajectory: Trajectory) -> Iterator[tuple[int, Mark]]:
    for one in trajectory.provenance.get("printed", ()):
        yield one["step"], Mark("printed", f"{one['role']} printed:\n{one['text']}".rstrip())


def _answered(trajectory: Trajectory) -> Iterator[tuple[int, Mark]]:
    """Yield what a model thought before its answer, and where the answer was broken off."""
    for step in trajectory.steps:
        if step.reasoning:
            yield step.index, Mark("thought", f"{step.author} thought:\n{step.reasoning}")
        if step.finish_reason not in ("", "stop", "tool_calls"):
            yield step.index, Mark("fault", f"the answer was broken off: {step.finish_reason}")
        if step.left_out:
            told = f"the window was full: {counted(step.left_out, 'result')} left out of the prompt"
            yield step.index, Mark("event", told)


def _happened(trajectory: Trajectory) -> Iterator[tuple[int, Mark]]:
    """Yield where the world told of something by itself, and where the user ended the chat."""
    for step in trajectory.steps:
        if step.author == EXECUTOR and step.result is None and step.call is None:
            yield step.index, Mark("event", "the world tells of this by itself")
        if step.author == USER and ends_conversation(step):
            yield step.index, Mark("ended", "the user ends the conversation")


def _flags(scores: Sequence[Score]) -> Iterator[tuple[int, Mark]]:
    """Yield the errors of the user that the audit found."""
    for score in scores:
        flags = score.details.get("flags") if score.metric in AUDIT_METRICS else None
        for flag in flags if isinstance(flags, list) else ():
            if isinstance(flag, dict) and type(flag.get("step")) is int:
                name = str(flag.get("flag"))
                facts = flag.get("facts")
                named = ", ".join(map(str, facts)) if isinstance(facts, list) else ""
                told = _FLAGS.get(name, name)
                yield flag["step"], Mark("flag", f"{told}: {named}" if named else told)


def _faults(scores: Sequence[Score]) -> Iterator[tuple[int, Mark]]:
    """Yield the findings of error patterns, and the services that gave no answer, at their calls.

    A gold call that nobody made belongs to no step.
    """
    for score in scores:
        if score.metric not in (*PATTERNS, SERVICE_ANSWERS):
            continue
        found = score.details.get("findings")
        for finding in found if isinstance(found, list) else ():
            if isinstance(finding, dict) and type(finding.get("step")) is int:
                yield finding["step"], _fault_mark(score.metric, finding)


def _fault_mark(metric: str, finding: Mapping[str, Any]) -> Mark:
    if metric == SERVICE_ANSWERS:
        return Mark("service", f"the service gave no answer: {finding.get('service')}")
    pattern = str(finding.get("pattern"))
    meaning = _PATTERNS.get(pattern, pattern)
    if "cause" in finding:
        meaning = f"{meaning}, beside gold call {finding.get('gold')}"
    if type(finding.get("earlier")) is int:
        meaning = f"{meaning}, as in step {finding['earlier']}"
    faults = finding.get("faults")
    texts = [_fault_text(fault) for fault in faults or () if isinstance(fault, dict)]
    told = f": {listed(texts, _FAULTS, '; ')}" if texts else ""
    return Mark("fault", f"{pattern}, {meaning}{told}")


def _fault_text(fault: Mapping[str, Any]) -> str:
    """Return the argument or the tool, what was expected of it, and what was received."""
    told = [
        f"{word} {fault[word]}"
        for word in ("expected", "received")
        if fault.get(word) not in (None, "None")
    ]
    name = one_line(str(fault.get("name") or ""), 60)
    return " ".join(part for part in (name, ", ".join(told)) if part)


CUT = 4_000
"""Characters of one text that a page holds; the run's files have the rest."""
CUT_DETAILS = 1_500
CUT_CELL = 300
"""Characters of one cell of a table."""
ROWS = 50
"""Rows of one table."""
FOLD = 500
"""Characters of a text that is not folded."""
_START = 160
"""Characters that stand for a folded text."""
_SCORES, _TABLES = 2_000, 64
"""Scores and tables that are kept: most are the same in many chats."""


@dataclass(frozen=True, slots=True)
class ChatFacts:
    """What a run's files tell of a chat beside what was said."""

    sight: Mapping[str, str] = field(default_factory=dict)
    """Role to what it sees: `all`, or `own` (what it said, and what was said to it)."""
    seconds: float | None = None
    """How long it took."""
    why: Sequence[Decided] = ()
    """Of each goal what explains its failure."""


NO_FACTS = ChatFacts()


def cause_text(cause: Cause) -> str:
    """Return the stage of a failure with its cause: `wrong argument (missing)`."""
    return f"{MEANINGS[cause.stage]} ({cause.cause.replace('_', ' ')})"


def task_pieces(task: Task, names: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Yield what a page shows of a task: its goals, what the agent was told, the user's brief."""
    for place, goal in enumerate(task.goals):
        of_world = any(map(asks_of_world, goal.plans or ()))
        yield _made().goal(goal, place, len(task.goals), gold_lines(goal, names), of_world)
    if task.system:
        yield _made().system(task.system)
    if task.persona:
        yield _made().persona(json_text(task.persona, indent=2))


class GoalVerdict(NamedTuple):
    """What a metric that can decide says of a goal."""

    goal: int
    metric: str
    said: str
    """Solved, unsolved or undecided; a value where the metric tells no more."""
    reason: str
    state: Outcome


def verdicts(scores: Sequence[Score], decisive: Mapping[str, Scale]) -> Iterator[GoalVerdict]:
    """Yield what metrics say of the goals of a chat, the one that decides first."""
    metric = deciding_metric(scores, decisive)
    for score in sorted(scores, key=lambda score: score.metric != metric):
        if score.metric in decisive and decides(score):
            state = state_of(score, decisive[score.metric])
            told = state if "label" in score.details else number(score.value)
            reason = reason_of(score).removeprefix(f"{told}: ")
            yield GoalVerdict(score.goal, score.metric, told, reason, state)


def chat_pieces(
    trajectory: Trajectory,
    notes: Annotations,
    scores: Sequence[Score] = (),
    decisive: Mapping[str, Scale] = DECISIVE,
    facts: ChatFacts = NO_FACTS,
) -> Iterator[str]:
    """Yield what a page shows of a chat; together they are its HTML.

    Args:
        trajectory: What was said and done.
        notes: What stands beside the steps.
        scores: Of the chat.
        decisive: Metrics that say whether a goal is solved.
        facts: What else is known of it.
    """
    made = _made()
    authors = dict.fromkeys(step.author for step in trajectory.steps)
    roles = {role: place for place, role in enumerate(authors)}
    yield made.roles([(role, place, facts.sight.get(role, "all")) for role, place in roles.items()])
    goals = len(notes.calls) or len(trajectory.stops)
    given = verdicts(scores, decisive)
    told = [(f"{goal_name(one.goal, goals)} {one.metric}", *one[2:]) for one in given]
    label = outcome_label(trajectory.failed, scores, decisive)
    yield made.verdict(trajectory, label, told, facts.seconds)
    failed = [(goal, cause) for goal, (_, cause) in enumerate(facts.why) if cause is not None]
    if failed:
        named = ((goal_name(goal, goals), cause) for goal, cause in failed)
        yield made.causes([(name, cause_text(cause), cause) for name, cause in named])
    yield made.answers(trajectory, goals)
    yield made.beside_gold(notes.calls)
    yield made.jumps(first_error(trajectory), _off_gold(notes.calls))
    yield made.offered(trajectory.offered, goals)
    for outcome in notes.goals:
        from seal.report.world_views import graph

        yield made.milestones(outcome, len(notes.goals), graph(outcome.nodes))
    if notes.beginning:
        yield made.world_head(len(notes.beginning), sum(map(len, notes.beginning.values())))
        yield from (_table(name, json_bytes(rows)) for name, rows in notes.beginning.items())
        yield made.world_end()
    yield made.steps_head()
    tables = dict(notes.beginning)
    before: Step | None = None
    answers = {s.result.call_id: s for s in reversed(trajectory.steps) if s.result is not None}
    calls = {s.call.id: s.index for s in trajectory.steps if s.call is not None}
    for step in trajectory.steps:
        answer = answers.get(step.call.id) if step.call is not None else None
        line = "" if step.call is None else call_line(step.call)
        ended = ended_words(None if answer is None else answer.result)
        of = calls.get(step.result.call_id) if step.result is not None else None
        beside = _relayed(step, before), _same(step), line, ended, of, goals
        yield made.step(step, notes, roles[step.author], *beside)
        tables |= step.state or {}
        if step.index in notes.changes:
            changed = [name for name, _ in notes.changes[step.index].changed]
            yield made.world_after(changed)
            yield from (_table(name, json_bytes(tables[name])) for name in changed)
            yield made.world_end()
        yield made.step_end()
        before = step
    yield made.ending(trajectory, goals)
    if scores:
        several = len({score.goal for score in scores}) > 1
        yield made.scores_head(len(scores), several)
        yield from (_score(score, several) for score in scores)
        yield made.scores_end()
    else:
        yield made.no_scores()


def _off_gold(calls: Sequence[Sequence[CallRow]]) -> int | None:
    """Return the step of the first call that is extra, or has a wrong argument; None: none is."""
    off = [row.step for rows in calls for row in rows if row.mark != "right"]
    return min((step for step in off if step is not None), default=None)


def _relayed(step: Step, before: Step | None) -> bool:
    """Tell whether a role only passes on what it was told."""
    return (
        before is not None
        and step.call is None
        and before.call is None
        and step.author == before.recipient
        and bool(step.content)
        and step.content == before.content
    )


def _same(step: Step) -> str:
    """Return a short text that two steps share where they say and do the same."""
    return blake2b(json_bytes(said(step)), digest_size=6).hexdigest()


def _score(score: Score, several: bool) -> str:
    goal = score.goal if several else None
    return _score_row(score.metric, goal, score.value, reason_of(score), json_bytes(score.details))


@lru_cache(_SCORES)
def _score_row(
    metric: str, goal: int | None, value: float | None, reason: str, details: bytes
) -> str:
    told = json_value(details)
    listed = told.pop("votes", None)
    votes = [_vote(vote) for vote in listed or () if isinstance(vote, dict)]
    shown = json_text(told, indent=2) if told else ""
    row: str = _made().score(metric, goal, value, reason, shown, votes)
    return row


def _vote(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return who voted, which of its votes it is (from 1), and what it says."""
    number = told.get("vote")
    named = {name: told.get(name) or "" for name in ("judge", "label", "reason")}
    return named | {"number": number + 1 if type(number) is int else ""}


@lru_cache(_TABLES)
def _table(name: str, rows: bytes) -> str:
    table: str = _made().table(name, *_cells(json_value(rows)))
    return table


def _cells(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]], int]:
    """Return the columns of a table, the cells of its first rows, and its number of rows."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    shown = [[_value(row[name]) if name in row else "" for name in columns] for row in rows[:ROWS]]
    return columns, shown, len(rows)


def _text(tag: str, whole: str, most: int = CUT) -> Markup:
    """Return a text as a block; a long one is folded."""
    shown, left = folded(whole, most)
    # Quotes, of which JSON is full, mean nothing outside of an attribute.
    said = escape(shown, quote=False)
    body = f'<{tag} class="said" dir="auto">{said}</{tag}>{_left_out(left, "characters")}'
    if len(shown) <= FOLD:
        return Markup(f"<div>{body}</div>")
    start = escape(" ".join(shown[:_START].split()), quote=False)
    head = f'<summary dir="auto">{start}… <small>({len(whole):,} characters)</small></summary>'
    return Markup(f'<details class="long">{head}{body}</details>')


def _left_out(count: int, what: str) -> str:
    note = f'<p class="note">{count:,} more {what} in the run\'s files</p>'
    return Markup(note if count > 0 else "")


def _value(value: Any) -> str:
    return _cell(json_text(value))


def _badge(label: Any) -> str:
    """Return how a vote is coloured; a label of no judge of ours has no colour."""
    known = {"solved": "solved", "unsolved": "unsolved", "unsure": "undecided"}
    return known.get(label, "") if isinstance(label, str) else ""


def _cell(text: Any) -> str:
    start, left_out = folded(str(text), CUT_CELL)
    return f"{start}… ({left_out:,} more)" if left_out else start


def _changed(change: TableChange) -> list[ChangedRow]:
    from seal.report.world_views import change_rows

    return change_rows(change)


@cache
def _made() -> Any:
    return macros(
        "chat.html",
        text=_text,
        left_out=_left_out,
        cut=folded,
        cell=_cell,
        badge=_badge,
        json=json_text,
        repairs=repairs_of,
        counted=tables_text,
        rows_of=_changed,
        goal_name=goal_name,
        CUT=CUT,
        CUT_DETAILS=CUT_DETAILS,
        ROWS=ROWS,
    )

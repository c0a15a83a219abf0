"""What each step of an agent was: ToolScan's patterns, repairs, services that gave no answer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import orjson

from seal.core import CHAT_TOOLS, JSON, Goal, Step, Tool, ToolCall, ToolResult, Trajectory
from seal.core.conditions import Called
from seal.core.validation import CallError, CallValidator
from seal.core.values import canonical_json, json_bytes, json_value
from seal.evaluation.goals import EXECUTOR, USER, TaskChat, cut_calls, failed

if TYPE_CHECKING:
    from seal.evaluation.pattern_details import GoldComparison


# -- One pass over a chat: what each step of the agent was, by ToolScan's decision rules.
#
# The first rule that applies says it, so that a step has one pattern at most:
#
# 1. IFE, invalid format: no name, or arguments that are no JSON object; words to the executor.
# 2. IFN, invalid function name: the chat offered no tool of this name (`ToolCall.tool` is None).
#    `finish` is always allowed.
# 3. IAN, invalid argument name: an argument is not declared, at any depth where the schema says so.
# 4. IAT, invalid argument type: a value is of another type than declared, or none of an enum's.
# 5. IAV, invalid argument value: a required argument is missing, or a value is outside of what else
#    the schema allows (a bound, a pattern, `MAX_DEPTH`).
# 6. RAC, repeated call: a valid call with the tool and the canonical arguments of an earlier one of
#    the same goal. Where the task is played in a world, it is none once the world has changed
#    since.
#
# A call that gold asks for is none of these, whatever the schema says, as often as one plan has it.
# Gold that breaks a schema is upstream's error, not the agent's. If the tool itself refuses such a
# call, it came too early, or too late: gold is short of a call (IAC), and its values are right.
#
# What is declared, and what a type is, say the rules of `seal.core.validation`, which the chat
# itself checks calls by. They name a missing argument before a wrong type, as ToolScan's feedback
# does; the pattern of a call with both is IAT.
#
# A call that passes is `valid`, or tells of something that is not the agent's error: `service`, a
# service that gave no answer; `refused`, a tool that said no; `cut`, arguments that upstream cut.
#
# Source: Kokane et al., ToolScan (2024), section on error patterns. Its code counts missing
# arguments as IAN, and takes True for a number: the paper's text counts.
#
# What followed on errors is ours: repairs, the first one, and which error came after which.
# ToolScan measures no recovery, and leaves causes and effects together (a repeated call brings a
# missing one).

LISTED = 20
"""Most findings that details list."""

Pattern = Literal["IFE", "IFN", "IAN", "IAT", "IAV", "RAC"]
"""What a step can be guilty of; IAC, and wrong values beside gold, belong to no step
(`pattern_details`)."""
Kind = Literal[Pattern, "valid", "service", "refused", "cut", "finish", "message"]

STEP_PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
REJECTED: frozenset[Kind] = frozenset({"IFE", "IFN", "IAN", "IAT", "IAV"})
"""Kinds of steps that are no valid call."""
OF_VALUES = frozenset({"NumberParseException", "OverflowError", "TypeError", "ValueError"})
"""Exceptions by which a tool refuses the value of an argument."""
FINISH = "finish"


@dataclass(frozen=True, slots=True)
class StepNote:
    """What one step of the agent was."""

    step: int
    """`Step.index`."""
    goal: int
    turn: int
    kind: Kind
    call: ToolCall | None = None
    """None: words."""
    faults: tuple[CallError, ...] = ()
    """All that is wrong with a call, each with what was expected and received; not only what the
    pattern is named after."""
    service: Service | None = None
    """Why the service gave no answer, also where the call was wrong."""
    earlier: int | None = None
    """`Step.index` of the first call that this one repeats, valid or not; None: it repeats none."""
    answered: int | None = None
    """`Step.index` of the result; None: there is none."""
    refusal: str = ""
    """Kind of the error by which the tool said no to the values; empty: it did not, or its no is of
    something else, as it took the same values another time, or gold has them."""
    told: bool = False
    """The result says that something is wrong, and not with a service."""

    @property
    def tool(self) -> str | None:
        """The id of the tool that was called; None: words, or a name that was not offered."""
        return None if self.call is None else self.call.tool

    @property
    def name(self) -> str:
        """The name that was called; empty for words."""
        return "" if self.call is None else self.call.name

    @property
    def arguments(self) -> dict[str, JSON] | None:
        """The arguments of a call; None where they cannot be read, or there are none."""
        return None if self.call is None else self.call.arguments

    @property
    def pattern(self) -> Pattern | None:
        """The error pattern; None where the step is no error of the agent."""
        return next((pattern for pattern in STEP_PATTERNS if pattern == self.kind), None)

    @property
    def valid(self) -> bool:
        """True for a call of an offered tool that its schema takes."""
        return self.kind in ("valid", "service", "refused", "cut", "RAC")

    @property
    def wrong(self) -> bool:
        """True for a call that its schema does not take, or whose values the tool refused."""
        return self.kind in REJECTED or self.refusal in OF_VALUES


def diagnose(
    trajectory: Trajectory, tools: Mapping[str, Tool], goals: Sequence[Goal] = ()
) -> list[StepNote]:
    """Return a finding for each step of the agent, in their order.

    The calls of the harness's own tools are left out, and so is what user and executor say.

    Args:
        trajectory: What was done.
        tools: By id. One that a call means (`ToolCall.tool`) and that is not among them takes any
            arguments.
        goals: Of the task, with their gold.
    """
    found = _Pass(trajectory, tools, goals)
    return [finding for step in trajectory.steps for finding in found.of(step)]


def findings_by_goal(chat: TaskChat) -> dict[int, list[StepNote]]:
    """Return the findings of a chat by their goal (`diagnose`)."""
    found: dict[int, list[StepNote]] = {}
    for finding in diagnose(chat.trajectory, chat.tools, chat.task.goals):
        found.setdefault(finding.goal, []).append(finding)
    return found


@dataclass(slots=True)
class _Made:
    """A call that was made before."""

    step: int
    call_id: str
    """Of the last one like it."""
    version: int
    """Of the world when that was made."""
    times: int = 1


@dataclass(slots=True)
class _Pass:
    trajectory: Trajectory
    tools: Mapping[str, Tool]
    goals: Sequence[Goal]
    validator: CallValidator = field(init=False)
    results: dict[str, Step] = field(init=False)
    cut: set[str] = field(init=False)
    taken: set[tuple[int, bytes]] | None = None
    """Calls that succeeded once; None: no one has asked yet."""
    made: dict[tuple[int, bytes], _Made] = field(default_factory=dict)
    faults: dict[tuple[object, ...], tuple[CallError, ...]] = field(default_factory=dict)
    """By goal and all that a call says: calls that say the same, letter by letter, share them."""
    version: int = 0
    """Of the world: how often it has changed."""
    versions: dict[str, int] = field(default_factory=dict)
    """Id of a call to the version after its result."""

    def __post_init__(self) -> None:
        self.validator = CallValidator(self.tools)
        steps = self.trajectory.steps
        self.results = {s.result.call_id: s for s in steps if s.result is not None}
        goals = {s.goal for s in steps if s.call is not None and s.call.arguments is None}
        self.cut = {call for goal in goals for call in cut_calls(self.trajectory, goal)}

    def of(self, step: Step) -> list[StepNote]:
        """Return the finding of a step; none where it is not the agent's."""
        self.version += step.state is not None
        if step.result is not None:
            self.versions[step.result.call_id] = self.version
        if step.author in (USER, EXECUTOR) or step.result is not None:
            return []
        if step.call is None:
            kind: Kind = "IFE" if step.recipient == EXECUTOR else "message"
            return [StepNote(step.index, step.goal, step.turn, kind)]
        if (step.call.tool or "").startswith(CHAT_TOOLS):
            return []
        return [self._of_call(step, step.call)]

    def _of_call(self, step: Step, call: ToolCall) -> StepNote:
        answer = self.results.get(call.id)
        result = None if answer is None else answer.result
        key = (step.goal, _identity(call))
        said = *key, call.tool, call.name, json_bytes(call.arguments, default=repr)
        faults = self.faults.get(said)
        if faults is None:
            faults = self.faults[said] = self._faults(step.goal, call)
        service = service_failure(result)
        if faults and service == "broken":  # the program that calls the API refused the arguments
            service = None
        earlier = None if _is_finish(call) else self._earlier(step, call, key)
        told = result is not None and failed(result) and service is None
        kind = _kind(call, faults, call.id in self.cut, earlier is not None)
        if kind == "valid" or (kind == "finish" and self._wanted(step.goal, call)):
            kind = "refused" if told else "valid" if service is None else "service"
        refusal = ""
        if kind == "refused" and result is not None and not self._wanted(step.goal, call):
            self.taken = self._all_taken() if self.taken is None else self.taken
            refusal = "" if key in self.taken else str((result.error or {}).get("kind") or "")
        return StepNote(
            step.index,
            step.goal,
            step.turn,
            kind,
            call,
            faults,
            service,
            earlier,
            None if answer is None else answer.index,
            refusal,
            told,
        )

    def _faults(self, goal: int, call: ToolCall) -> tuple[CallError, ...]:
        offered = self.trajectory.offered
        ids = offered[goal] if goal < len(offered) else ()
        unseen = call.tool is not None and call.tool not in self.tools
        if unseen and isinstance(call.arguments, dict):
            return ()
        names = [self.tools[name].name for name in ids if name in self.tools]
        found = tuple(self.validator.faults(call, names))
        return () if found and self._wanted(goal, call) else found

    def _wanted(self, goal: int, call: ToolCall) -> int:
        """Return how often a plan of the goal, or its reference, has the call."""
        if goal >= len(self.goals) or call.arguments is None:
            return 0
        gold = self.goals[goal]
        told = [_as_gold(step.call) for step in gold.reference if step.call is not None]
        return max(
            sum(
                one.arguments is not None and one.tool == call.tool and one.accepts(call.arguments)
                for one in calls
            )
            for calls in (told, *(plan.gold_calls() for plan in gold.plans or ()))
        )

    def _all_taken(self) -> set[tuple[int, bytes]]:
        """Return the calls that succeeded once in the chat: their values are not at fault."""
        return {
            (step.goal, _identity(step.call))
            for step in self.trajectory.steps
            if step.call is not None
            and step.call.id in self.results
            and not failed(self.results[step.call.id].result)
        }

    def _earlier(self, step: Step, call: ToolCall, key: tuple[int, bytes]) -> int | None:
        """Return the step that a call repeats, and take note of the call."""
        before = self.made.get(key)
        if before is None:
            self.made[key] = _Made(step.index, call.id, self.version)
            return None
        then = self.versions.get(before.call_id, before.version)
        before.call_id, before.version = call.id, self.version
        before.times += 1
        again = then == self.version and before.times > self._wanted(step.goal, call)
        return before.step if again else None


def _as_gold(call: ToolCall) -> Called:
    return Called.exact(call.tool or call.name, call.arguments or {})


def _kind(call: ToolCall, faults: Sequence[CallError], cut: bool, repeated: bool) -> Kind:
    """Return which rule applies to a call; `valid` where none does."""
    if cut:
        return "IFN" if call.tool is None else "cut"
    kinds = {fault.kind for fault in faults}
    if "unparsable_arguments" in kinds or not call.name.strip():
        return "IFE"
    if "unknown_tool" in kinds:
        return "finish" if _is_finish(call) else "IFN"
    if "unknown_argument" in kinds:
        return "IAN"
    if any(map(_is_of_type, faults)):
        return "IAT"
    if faults:
        return "IAV"
    if _is_finish(call):
        return "finish"
    return "RAC" if repeated else "valid"


def _is_of_type(fault: CallError) -> bool:
    """Tell whether a value is of a wrong type; the values of an enum, or a choice, are a type."""
    choice = fault.kind == "invalid_value" and isinstance(fault.expected, list)
    return fault.kind == "wrong_type" or choice


def _is_finish(call: ToolCall) -> bool:
    return FINISH in (call.name.casefold(), (call.tool or "").rpartition("/")[2].casefold())


def _identity(call: ToolCall) -> bytes:
    """Return what two calls have in common where one is the other again."""
    given: JSON = call.raw if call.arguments is None else call.arguments
    try:
        written = canonical_json(given)
    except (ValueError, TypeError):  # what is no JSON, such as a number that is infinite
        written = repr(given).encode("utf-8", "surrogatepass")
    return (call.tool or call.name).encode("utf-8", "surrogatepass") + b"\0" + written


_REPAIRS = frozenset({"valid", "service", "refused"})
"""Kinds of calls that are right as calls, whatever they brought, and nothing again."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What an agent did with feedback on an error."""

    error: StepNote
    step: int | None = None
    """Of the call that repaired it; None: none did."""
    calls: int = 0
    """Calls after the feedback up to that one, itself included; 0 where there is none."""


def repairs(findings: Sequence[StepNote]) -> list[Repair]:
    """Return what became of each error that the agent was told of, in their order.

    A call is an error if it is `wrong`. A result tells the agent of it if it reports an error that
    is no failure of a service. The first call of the same tool after that feedback that is not
    `wrong` repairs the error, unless it repeats an earlier call. If the tool is not known, a call
    of any tool does.

    Args:
        findings: Of one goal.
    """
    calls = [finding.step for finding in findings if finding.call is not None]
    right = [f for f in findings if f.kind in _REPAIRS and not f.wrong]
    by_tool: dict[str | None, list[int]] = {None: [finding.step for finding in right]}
    for finding in right:
        if finding.call is not None and finding.call.tool is not None:
            by_tool.setdefault(finding.call.tool, []).append(finding.step)
    return [_repair(f, calls, by_tool) for f in findings if f.wrong and f.told]


def _repair(
    error: StepNote, calls: Sequence[int], by_tool: Mapping[str | None, Sequence[int]]
) -> Repair:
    tool = None if error.call is None or error.kind == "IFN" else error.call.tool
    steps = by_tool.get(tool, ())
    told = error.step if error.answered is None else error.answered
    place = bisect_right(steps, told)
    if place == len(steps):
        return Repair(error)
    return Repair(
        error, steps[place], bisect_right(calls, steps[place]) - bisect_right(calls, told)
    )


def first_error(findings: Sequence[StepNote]) -> StepNote | None:
    """Return the agent's first error; None where no step of it is one."""
    return next((finding for finding in findings if finding.pattern is not None), None)


def events(findings: Sequence[StepNote], gold: GoldComparison | None = None) -> list[str]:
    """Return the errors of a goal in the order in which they came to be, the model's and others'.

    Each is a pattern, or `service`; what was found missing or wrong at the end comes last, once.

    Args:
        findings: Of the goal.
        gold: What the agent did beside its plan; None: there is no gold.
    """
    found: list[str] = [
        f.pattern or "service" for f in findings if f.pattern or f.service is not None
    ]
    if gold is not None:
        found += [name for name, count in (("IAC", gold.missing), ("IAV", gold.wrong)) if count]
    return found


def transitions(found: Sequence[str]) -> dict[str, int]:
    """Return how often one error came next after another, as `IAN>RAC`, in the order of names."""
    counts = Counter(f"{one}>{next_one}" for one, next_one in pairwise(found))
    return dict(sorted(counts.items()))


# -- Why a service gave no answer: what is nobody's error of a chat, told from what a tool said.
#
# Recorded services die, refuse keys that no model has, or answer nothing. ToolBench's server writes
# such failures in two ways: as an error of its own (`Unsubscribed error...`), or as the text of a
# successful answer (`{'message': "API doesn't exists"}`). Both are read. An error without a
# recognisable cause, such as `User not found`, is left to the model: it may have asked for the
# wrong thing.
#
# What a tool of a world raises is never a failure of a service, for it belongs to the task. Nor is
# what a tool says that itself ran in the chat: where it did not reach its service, the chat ended.

Service = Literal[
    "unsubscribed",
    "unauthorized",
    "gone",
    "limited",
    "unreachable",
    "broken",
    "empty",
    "unrecorded",
]
"""What was wrong with a service: nobody had subscribed to it; its keys were refused; the API or its
address no longer exists; it was asked too often; it could not be reached or crashed; the program
that calls it does not work; it answered nothing; nothing was recorded or simulated."""

SERVICES: tuple[Service, ...] = get_args(Service)

READ = 600
"""Characters of an answer that are read, and about the most that a message of failure has."""

_SERVED = ("service", "api", "truncated")
"""Kinds of errors that a service, real or simulated, has given."""
_HARNESS = ("not_recorded", "simulator")

_KEY = r"(?:api[ _-]?(?:access[ _-]?)?(?:key|token)|access[ _-]?(?:key|token)|token|subscribe key)"
_WORDS: dict[Service, str] = {
    "unsubscribed": r"\bnot subscribed\b|\bunsubscribed\b",
    "gone": r"\bapi doesn'?t exists?\b|\bdeprecated_endpoint\b|\bendpoint .{1,200} does not exist"
    r"|\bunable to find a route\b|\b404\b[\W_]{0,3}(?:page )?not found"
    r"|\bdeployment_not_found\b|\bdoes not respond at the root\b|\bservice not found\b"
    r"|^\W*(?:message\W+)?(?:(?:file|page) )?not found\W*$|<(?:h1|title)>not found"
    r"|\bpermanent redirect\b|\bhas migrated\b|\bno longer (?:available|supported)\b",
    "limited": r"\btoo many requests\b|\brate limit exceeded\b|\blimit reach|\bquota\b",
    "unauthorized": r"\bunauthori[sz]ed\b|\bnot authori[sz]ed\b|\b403\b[\W_]{0,3}forbidden"
    rf"|(?<![a-z])(?:invalid|missing|expired|no)(?![a-z]).{{0,14}}{_KEY}"
    rf"|{_KEY}\b[^.]{{0,40}}\b(?:invalid|expired|required|missing|empty|must be|failed)\b"
    r"|invalidauthenticationtoken|access_token_signature"
    r"|\bconsumer key\b[^.]{0,20}\bnot valid\b|\bauthori[sz]ation\W+header\b"
    r"|\bauthentication is required\b|\baccess ?denied\b|\binvalid (?:application id|key)\b",
    "unreachable": r"\bapi not working\b|\bgateway\b|\bunreachable\b|\btimed out\b"
    r"|\bmax retries exceeded\b|\bserver error\b|\bjust a moment\b|\bapplication error\b"
    r"|\bservice (?:temporarily )?unavailable\b|\bunabletoresolvehost",
    "broken": r"^function executing from\b",
}
"""Words of each cause, in the order in which they are looked for."""
_CAUSES = {cause: re.compile(words, re.IGNORECASE) for cause, words in _WORDS.items()}
_ENVELOPE = re.compile(r'\{"error": "(?:[^"\\]|\\.)*", "response": "?')


def was_refused(result: ToolResult | None) -> bool:
    """Tell whether a call was refused: by the check of its arguments, its tool, or the world.

    Such a call meets no gold, unless gold says that it is to be refused (`CallRefused`). A call
    that a service could not serve (`service_failure`) was made, and so was one whose result nobody
    recorded.
    """
    return result is not None and failed(result) and service_failure(result) is None


def service_failure(result: ToolResult | None) -> Service | None:
    """Return why the service gave no answer; None where it answered, or it cannot be told.

    Args:
        result: Of a call; None: the chat ended before it.
    """
    if result is None or result.live:
        return None
    kind = "" if result.error is None else str(result.error.get("kind") or "")
    if kind in _HARNESS:
        return "unrecorded"
    if kind not in ("", *_SERVED):
        return None
    enveloped, answer = _answer(result.content)
    if not kind:
        if not enveloped:
            return None
        empty = answer is None or (isinstance(answer, str) and not answer.strip())
        return "empty" if empty else _cause(answer)
    page = isinstance(answer, str) and answer.lstrip("\\n \n").startswith("<")
    return (
        _cause(_message(result))
        or _cause(answer)
        or ("gone" if page and _message(result) else None)
    )


def _message(result: ToolResult) -> str:
    """Return what an error says; of an answer that was cut, the error that it began with."""
    error = result.error or {}
    return str(error.get("upstream" if error.get("kind") == "truncated" else "message") or "")


def _answer(content: str) -> tuple[bool, Any]:
    """Return whether a text is ToolBench's {error, response}, and the response, else the text."""
    if not content.startswith("{"):
        return not content.strip(), content
    try:
        value = json_value(content)
    except orjson.JSONDecodeError:
        return False, _ENVELOPE.sub("", content, count=1)
    if isinstance(value, dict) and "error" in value and "response" in value:
        return True, value["response"]
    return False, content


def _cause(said: Any) -> Service | None:
    """Return what a short text, or the beginning of a page, says is wrong with the service.

    A map of messages is read as text; data of any other kind says nothing of a failure.
    """
    text = str(said) if isinstance(said, str | dict) else ""
    if len(text) > READ and not text.lstrip().startswith("<"):
        text = text[:READ] if text.startswith("Function executing from") else ""
    return next((cause for cause, words in _CAUSES.items() if words.search(text[:READ])), None)

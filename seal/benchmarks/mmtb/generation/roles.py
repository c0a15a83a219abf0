"""The five roles of a generation chat, seated as agents; one chat makes one mission.

    user -> planner -> checker -> agent -> user | executor -> checker -> planner

The user and the agent alone talk to each other. The planner's decisions and the results of calls go
through the checker. It sends back what breaks a rule, and ends the chat after `TRIES` of them. What
user, planner and agent say comes from a model (`models.ModelSpeakers`), what the executor
brings from a simulator.

Each rule that is broken gives a rejection, whose text goes back to the planner. All are checked by
code, so that equal decisions get equal answers.

Source: "Multi-Mission Tool Bench" (2025), whose checker asks a language model whether several calls
depend on each other. Here, of calls at once, none may name another or leave a value open: what
cannot be known before another call's result stands in no such call. Unlike there, values must fit
their schema, and a mission must be of the type that it was to be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from seal.agents.roles import pending_calls
from seal.agents.teams import CHECKER, EXECUTOR, USER, Team
from seal.benchmarks.mmtb.generation.scenes import (
    ACCEPTED,
    AGENT,
    ANSWER_TYPE,
    ASKED_TOOL,
    MISSING,
    PLANNER,
    Action,
    Decision,
    Exchange,
    Played,
    Round,
    Scene,
    Speakers,
    read_decision,
)
from seal.core import Agent, Chat, DataError, Reply, SimulatorError, Tool, ToolCall, ToolResult
from seal.core.validation import CallValidator
from seal.evaluation.missions.graph import ANSWER, ASK, PSEUDO
from seal.experiments.generation.sources import leaves

TRIES = 3
"""Decisions in a row that the checker sends back, or whose results it does, before the end."""

Choose = Callable[[Scene, Sequence[str]], str]
"""From the wordings of a mission to the one that the user speaks; empty: none."""

ANOTHER_TYPE = "another_type"
"""Rule whose breach ends the mission at once: the request is of another type than wanted."""
_BACKSTAGE = re.compile(rf"simulat\w*|\bchecker\b|{ASK}|{ANSWER}|模拟|检查员", re.IGNORECASE)
_OPEN = re.compile(r"<[^<>]+>|\{\{.*\}\}|\$\{.*\}|\[[A-Z_ ]{3,}\]|\.\.\.|TBD|待定")
"""Texts that stand for values to come."""
_NUMBER = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several)"
_IN_TURN = re.compile(
    rf"serial(?:ly)?\W+(?:\w+\W+)?{_NUMBER}\s+times|{_NUMBER}\s+times\W+(?:\w+\W+)?serial"
    r"|串行[^,，。.]{0,12}?[两二三四五六七八九十\d]+次",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Seat:
    """What a role of the chat about one mission works with."""

    played: Played
    """The mission as far as it was played."""
    speakers: Speakers
    """Say what user, planner and agent say."""
    choose: Choose
    """Which wording the user speaks."""
    validator: CallValidator
    """Over the scene's tools."""


class User(_Seat):
    """Speaks the mission, then answers what it is asked."""

    def reply(self, chat: Chat) -> Reply:
        """Return a wording of the mission, or an answer; no word ends the chat."""
        scene = self.played.scene
        asked = scene.events[-1] if scene.events else None
        if isinstance(asked, Exchange):
            said = self.speakers.answer(scene, asked.question, chat).strip()
            self.played.happened(*scene.events[:-1], replace(asked, answer=said))
        else:
            said = self.choose(scene, self.speakers.candidates(scene, chat)).strip()
            self.played.scene = replace(scene, request=said)
        return Reply(said, done=not said)


class Planner(_Seat):
    """Decides what is called next."""

    def reply(self, chat: Chat) -> Reply:
        """Return the decision, as it was written."""
        said = self.speakers.decide(self.played.scene, chat)
        self.played.decision = None
        with suppress(DataError):
            self.played.decision = read_decision(said)
        return Reply(said)


class Checker(_Seat):
    """Lets through what breaks no rule, and sends the rest back to the planner."""

    def reply(self, chat: Chat) -> Reply:
        """Return the verdict on a decision, or on the results of its calls."""
        last, scene, decision = chat.steps[-1], self.played.scene, self.played.decision
        results = [s.result for s in chat.steps if s.turn == last.turn and s.result is not None]
        if results:
            calls = sum(s.turn == last.turn - 1 and s.call is not None for s in chat.steps)
            found = check_results(calls, results)
        else:
            found = check_decision(last.content, scene, self.validator)
        if found:
            ends = len(scene.rejections) + 1 >= TRIES
            ends = ends or any(rejection.rule == ANOTHER_TYPE for rejection in found)
            verdict = "\n".join(map(str, found))
            self.played.refuse(verdict)
            return Reply(verdict, next=PLANNER, done=ends)
        if results and decision is not None:
            brought = tuple(result.value for result in results)
            self.played.happened(*scene.events, Round(decision.actions, brought))
        return Reply(ACCEPTED, next=PLANNER if results else AGENT)


class Speaker(_Seat):
    """The agent: asks, calls, or ends the mission, as was decided."""

    def reply(self, chat: Chat) -> Reply:
        """Return a question, calls, or the last text; the chat ends with no word or the last."""
        scene, decision = self.played.scene, self.played.decision
        actions = decision.actions if decision else ()
        if actions[0].name == ASK:
            said = self.speakers.ask(scene, actions[0], chat).strip()
            self.played.happened(*scene.events, Exchange(actions[0], said, ""))
            return Reply(said, next=USER, done=not said)
        if actions[0].name == ANSWER:
            self.played.reply = self.speakers.reply(scene, chat).strip()
            return Reply(self.played.reply, done=True)
        return Reply(calls=tuple(ToolCall("", a.name, a.arguments) for a in actions))


class Executor(_Seat):
    """Runs calls in the environment; a simulator that fails has failed the call."""

    def reply(self, chat: Chat) -> Reply:
        """Return one result a call, in their order."""
        return Reply(results=tuple(_result(chat, call) for call in pending_calls(chat.steps)))


_SEATS: dict[str, type[User | Planner | Checker | Speaker | Executor]] = {
    USER: User,
    PLANNER: Planner,
    CHECKER: Checker,
    AGENT: Speaker,
    EXECUTOR: Executor,
}
TEAM = Team(
    name="missions",
    roles=dict(_SEATS),
    lead=AGENT,
    after={USER: (PLANNER,), PLANNER: (CHECKER,), CHECKER: (AGENT,)},
    reviewer=CHECKER,
    sight={},
)
"""Who makes a mission. Everybody is told the whole chat; speakers use of it what their role may."""


def seats(
    played: Played, speakers: Speakers, choose: Choose, validator: CallValidator
) -> dict[str, Agent]:
    """Return who sits where while one mission is made; `_Seat` says what the arguments are."""
    return {role: seat(played, speakers, choose, validator) for role, seat in _SEATS.items()}


def _result(chat: Chat, call: ToolCall) -> ToolResult:
    try:
        return chat.execute([call])[0]
    except SimulatorError as error:
        return ToolResult(call.id, str(error), {"kind": "simulator", "message": str(error)})


@dataclass(frozen=True, slots=True)
class Rejection:
    """One broken rule."""

    rule: str
    """Its name; a dropped dialogue is counted under that of its last rejection."""
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def check_decision(text: str, scene: Scene, validator: CallValidator) -> list[Rejection]:
    """Return the rules that a decision breaks, in their order; empty: it is right.

    Args:
        text: What the planner said.
        scene: In which it said so.
        validator: Over the scene's tools.
    """
    try:
        decision = read_decision(text)
    except DataError as error:
        return [Rejection("invalid_json", str(error))]
    return [
        *_backstage(decision, scene),
        *_mixed(decision),
        *(found for action in decision.actions for found in _action(action, scene, validator)),
        *_dependent(decision),
        *_in_turn(decision),
        *_type(decision, scene),
    ]


def check_results(calls: int, results: Sequence[ToolResult]) -> list[Rejection]:
    """Return what is wrong with the results of calls; empty: nothing.

    Args:
        calls: Number of the calls that were made.
        results: What they brought.
    """
    if len(results) != calls:
        return [Rejection("result_count", f"{calls} calls brought {len(results)} results.")]
    return [
        Rejection("failed_call", f"A call failed: {result.error.get('message')}")
        for result in results
        if result.error is not None
    ]


def _backstage(decision: Decision, scene: Scene) -> Iterator[Rejection]:
    """Thought and Plan speak of the mission alone; what a tool is for may be named."""
    known = " ".join(f"{tool.name} {tool.description}" for tool in scene.tools.values()).lower()
    for name, text in (("Thought", decision.thought), ("Plan", decision.plan)):
        for word in _BACKSTAGE.findall(text):
            if word.lower() not in known:
                yield Rejection("backstage", f"{name} must not mention {word!r}.")


def _mixed(decision: Decision) -> Iterator[Rejection]:
    names = [action.name for action in decision.actions]
    if not names:
        yield Rejection("no_action", "Action_List is empty: name at least one action.")
    if len(names) > 1 and PSEUDO & set(names):
        pseudo = sorted(PSEUDO & set(names))[0]
        yield Rejection("mixed_actions", f"{pseudo} must be the only action of its step.")
    if decision.finished and any(name != ANSWER for name in names):
        yield Rejection("unfinished", f"A finished mission has {ANSWER} as its only action.")


def _action(action: Action, scene: Scene, validator: CallValidator) -> Iterator[Rejection]:
    if action.name == ASK:
        return _question(action, scene)
    if action.name == ANSWER:
        return _answer(action, scene)
    return _call(action, scene, validator)


def _question(action: Action, scene: Scene) -> Iterator[Rejection]:
    name, missing = action.arguments.get(ASKED_TOOL), action.arguments.get(MISSING)
    if not isinstance(name, str) or name not in scene.tools:
        known = ", ".join(scene.tools)
        yield Rejection("unknown_tool", f"{ASK}: no tool {name!r}; there are: {known}.")
        return
    if not isinstance(missing, list) or not missing:
        yield Rejection("unfit_question", f"{ASK}: {MISSING} must be a list of parameters.")
        return
    needed = required(scene.tools[name])
    for parameter in missing:
        if parameter not in needed:
            yield Rejection(
                "unfit_question",
                f"{ASK}: {name} does not require {parameter!r}; it requires: "
                f"{', '.join(needed) or 'nothing'}.",
            )


def _answer(action: Action, scene: Scene) -> Iterator[Rejection]:
    kind = action.arguments.get(ANSWER_TYPE)
    if kind not in ("tool", "chat"):
        yield Rejection("unfit_answer", f"{ANSWER}: {ANSWER_TYPE} must be tool or chat.")
    elif kind == "chat" and scene.events and isinstance(scene.events[-1], Round):
        yield Rejection("unfit_answer", f"{ANSWER}: after a tool's result {ANSWER_TYPE} is tool.")


def _call(action: Action, scene: Scene, validator: CallValidator) -> Iterator[Rejection]:
    tool = scene.tools.get(action.name)
    call = ToolCall("", action.name, action.arguments, tool=tool.id if tool else None)
    wrong = validator.check(call, list(scene.tools))
    if wrong is not None:
        yield Rejection(wrong.kind, wrong.message)
    for name in required(tool) if tool else ():
        value = action.arguments.get(name)
        if isinstance(value, str) and not value.strip():
            yield Rejection("empty_argument", f"{action.name} requires {name!r}; it is empty.")


def _dependent(decision: Decision) -> Iterator[Rejection]:
    """Calls at once know nothing of each other's results."""
    if len(decision.actions) < 2:
        return
    names = {action.name for action in decision.actions}
    for action in decision.actions:
        for text in (leaf for leaf in leaves(action.arguments) if isinstance(leaf, str)):
            named = next((name for name in sorted(names) if name in text), None)
            wrong = ""
            if named is not None:
                wrong = f"depends on {named}, which is called at the same time: call it first."
            elif _OPEN.search(text):
                wrong = "leaves a value open: make the call that gives it first."
            if wrong:
                yield Rejection("dependent_actions", f"{action.name}: {text!r} {wrong}")


def _in_turn(decision: Decision) -> Iterator[Rejection]:
    if len(decision.actions) > 1 and _IN_TURN.search(decision.plan):
        yield Rejection(
            "serial_at_once",
            "The plan calls one after another, but several actions stand in one step.",
        )


def _type(decision: Decision, scene: Scene) -> Iterator[Rejection]:
    """A mission is of the type that it was to be: it has the calls and the questions of one."""
    kind = scene.assignment.kind
    names = [action.name for action in decision.actions]
    ends = ANSWER in names
    calls = sum(name not in PSEUDO for name in names)
    calls += len(scene.calls)
    asks = (ASK in names) + len(scene.questions)
    wrong = {
        "single": asks or calls > 1 or (ends and calls < 1),
        "multi": asks or (ends and calls < 2),
        "chat": asks or calls,
        "clarify": (calls and not asks) or (ends and not (asks and calls)),
    }[kind]
    if wrong:
        made = f"{asks} questions and {calls} calls."
        yield Rejection(ANOTHER_TYPE, f"A mission of type {kind} was wanted; this one has {made}")


def required(tool: Tool) -> list[str]:
    """Return the names of the arguments that a tool requires."""
    found = tool.parameters.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []

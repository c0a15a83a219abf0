"""The five roles of a generation chat, seated as agents; one chat makes one mission.

    user -> planner -> checker -> agent -> user | executor -> checker -> planner

The user and the agent alone talk to each other. The planner's decisions, and what calls bring, go
through the checker, which sends back what breaks a rule and after `TRIES` of them ends the chat.
What user, planner and agent say comes from a model or a grammar (`scenes.Speakers`), what the
executor brings from a simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from seal.agents.roles import pending_calls
from seal.agents.teams import CHECKER, EXECUTOR, USER, Team
from seal.benchmarks.mmtb.generation.played import ACCEPTED, AGENT, PLANNER, Played, read_chat
from seal.benchmarks.mmtb.generation.rules import ANOTHER_TYPE, check_decision, check_results
from seal.benchmarks.mmtb.generation.scenes import Exchange, Scene, Speakers
from seal.core.errors import SimulatorError
from seal.core.protocols import Agent, Chat, Reply
from seal.core.types import ToolCall, ToolResult
from seal.core.validation import CallValidator
from seal.evaluation.missions.graph import ANSWER, ASK

TRIES = 3
"""Decisions in a row that the checker sends back, or whose results it does, before the end."""

Choose = Callable[[Scene, Sequence[str]], str]
"""From the wordings of a mission to the one that the user speaks; empty: none."""


@dataclass(frozen=True, slots=True)
class User:
    """Speaks the mission, then answers what it is asked."""

    scene: Scene
    speakers: Speakers
    choose: Choose

    def reply(self, chat: Chat) -> Reply:
        """Return a wording of the mission, or an answer; no word ends the chat."""
        scene = _played(self.scene, chat).scene
        asked = scene.events[-1] if scene.events else None
        if isinstance(asked, Exchange):
            return _spoken(self.speakers.answer(scene, asked.question, chat))
        return _spoken(self.choose(scene, self.speakers.candidates(scene, chat)))


@dataclass(frozen=True, slots=True)
class Planner:
    """Decides what is done next."""

    scene: Scene
    speakers: Speakers

    def reply(self, chat: Chat) -> Reply:
        """Return a decision as JSON text."""
        return Reply(self.speakers.decide(_played(self.scene, chat).scene, chat))


@dataclass(frozen=True, slots=True)
class Checker:
    """Accepts a decision, or the results of its calls, or says which rules are broken."""

    scene: Scene
    validator: CallValidator

    def reply(self, chat: Chat) -> Reply:
        """Return the verdict; the last of `TRIES` rejections in a row ends the chat."""
        last = chat.steps[-1]
        scene = _played(self.scene, chat).scene
        if last.result is not None:
            results = [s.result for s in chat.steps if s.turn == last.turn and s.result is not None]
            calls = sum(s.turn == last.turn - 1 and s.call is not None for s in chat.steps)
            found = check_results(calls, results)
        else:
            found = check_decision(last.content, scene, self.validator)
        if not found:
            return Reply(ACCEPTED, next=AGENT if last.result is None else PLANNER)
        hopeless = any(rejection.rule == ANOTHER_TYPE for rejection in found)
        ends = hopeless or len(scene.rejections) + 1 >= TRIES
        return Reply("\n".join(map(str, found)), next=PLANNER, done=ends)


@dataclass(frozen=True, slots=True)
class Speaker:
    """The agent: asks, calls, and replies in the end, as the planner decided."""

    scene: Scene
    speakers: Speakers

    def reply(self, chat: Chat) -> Reply:
        """Return a question to the user, calls, or the last text of the mission."""
        played = _played(self.scene, chat)
        actions = played.decision.actions if played.decision else ()
        if actions[0].name == ASK:
            return _spoken(self.speakers.ask(played.scene, actions[0], chat), USER)
        if actions[0].name == ANSWER:
            return Reply(self.speakers.reply(played.scene, chat).strip(), done=True)
        return Reply(calls=tuple(ToolCall("", a.name, a.arguments) for a in actions))


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs calls in the environment; a simulator that fails has failed the call."""

    def reply(self, chat: Chat) -> Reply:
        """Return one result a call, in their order."""
        return Reply(results=tuple(_result(chat, call) for call in pending_calls(chat.steps)))


TEAM = Team(
    name="missions",
    roles={
        USER: User,
        PLANNER: Planner,
        CHECKER: Checker,
        AGENT: Speaker,
        EXECUTOR: Executor,
    },
    lead=AGENT,
    after={USER: (PLANNER,), PLANNER: (CHECKER,), CHECKER: (AGENT,)},
    reviewer=CHECKER,
    sight={},
)
"""Who makes a mission. Everybody is told the whole chat; speakers use of it what their role may."""


def seats(
    scene: Scene, speakers: Speakers, choose: Choose, validator: CallValidator
) -> Mapping[str, Agent]:
    """Return who sits where while one mission is made.

    Args:
        scene: As it is before anybody speaks.
        speakers: Say what user, planner and agent say.
        choose: Which wording the user speaks.
        validator: Over the scene's tools.
    """
    return {
        USER: User(scene, speakers, choose),
        PLANNER: Planner(scene, speakers),
        CHECKER: Checker(scene, validator),
        AGENT: Speaker(scene, speakers),
        EXECUTOR: Executor(),
    }


def _played(scene: Scene, chat: Chat) -> Played:
    return read_chat(scene, chat.steps, chat.goal)


def _spoken(text: str, to: str | None = None) -> Reply:
    """Return a text; where there is none, the end of the chat."""
    return Reply(text.strip(), next=to, done=not text.strip())


def _result(chat: Chat, call: ToolCall) -> ToolResult:
    try:
        return chat.execute([call])[0]
    except SimulatorError as error:
        return ToolResult(call.id, str(error), {"kind": "simulator", "message": str(error)})

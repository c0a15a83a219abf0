"""What the roles of a generation chat know, say and decide, whoever plays them.

The planner says as JSON whether the mission is done, and what is called next:

    {"Mission_Finish": "yes" | "no", "Thought": ..., "Plan": ...,
     "Action_List": [{"name": ..., "arguments": {...}, "tool_call_purpose": ...}]}

Source: "Multi-Mission Tool Bench" (2025), section 3 and the framework of five roles, whose planner
speaks this form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from seal.benchmarks.mmtb.dialogues import Mission, MissionType
from seal.core import JSON, Chat, DataError, Tool, located, shortened
from seal.core.plain import json_text
from seal.evaluation.missions.graph import ANSWER, ASK
from seal.pools.reading.upstream_files import expect, field, json_of_text, refuse_deep

Relation = Literal["implicit", "ellipsis", "memory"]

ASKED_TOOL = "tool_name"
"""Argument of a question: the tool that cannot be called yet."""
MISSING = "missing_required_parameters"
"""Argument of a question: what the tool still needs."""
ANSWER_TYPE = "answer_type"
"""Argument of the final answer: `tool` after calls, `chat` without any."""
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)
PLANNER = "planner"
AGENT = "agent"
ACCEPTED = "correct"
"""What the checker says if no rule is broken."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One mission that is to be made: what is fixed before anybody speaks."""

    dialogue: str
    """Id of the dialogue."""
    number: int
    """Position of the mission, from 0."""
    kind: MissionType
    relation: Relation | None
    """How it leans on earlier missions; None for the first. `memory` only from the third on."""
    date: str
    """Today in the dialogue, in words."""
    language: str
    """en or zh."""
    seed: int
    """Of this mission alone."""


@dataclass(frozen=True, slots=True)
class Action:
    """One call that the planner wants, of a tool or of a pseudo tool."""

    name: str
    arguments: dict[str, JSON]
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the planner says."""

    finished: bool
    thought: str
    plan: str
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """Calls made at once, with what they brought."""

    actions: tuple[Action, ...]
    observations: tuple[JSON, ...]
    """As many as actions, in their order."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question of the agent, with the user's answer."""

    asked: Action
    """The pseudo tool that the planner called."""
    question: str
    answer: str
    """Empty until the user has spoken."""


class Done(NamedTuple):
    """A call or a question that was done: a node of the gold."""

    action: Action
    observation: JSON
    """What the call brought; of a question its words."""
    answer: str
    """To a question."""
    moment: int
    """Position of its event: calls of one round share it."""
    is_question: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A generation chat as its roles see it."""

    assignment: Assignment
    tools: Mapping[str, Tool]
    """Offered tools by name, without the pseudo tools."""
    past: tuple[Mission, ...]
    """The dialogue's finished missions."""
    request: str = ""
    """The mission in the user's words; empty until the user has spoken."""
    events: tuple[Round | Exchange, ...] = ()
    """What was done since, in order."""
    rejections: tuple[str, ...] = ()
    """What the checker said of the planner's last tries, since the last event."""

    @property
    def done(self) -> list[Done]:
        """Each call and each question, in order."""
        found = []
        for moment, event in enumerate(self.events):
            if isinstance(event, Exchange):
                found.append(Done(event.asked, event.question, event.answer, moment, True))
            else:
                made = zip(event.actions, event.observations, strict=True)
                found += [Done(action, brought, "", moment, False) for action, brought in made]
        return found

    @property
    def calls(self) -> list[Done]:
        """The calls alone."""
        return [done for done in self.done if not done.is_question]

    @property
    def questions(self) -> list[Done]:
        """The questions alone."""
        return [done for done in self.done if done.is_question]


class Speakers(Protocol):
    """Those who think: the user, the planner and the agent.

    Each method says what one role says now. `chat` gives a model's calls (`chat.complete`);
    speakers that ask no model ignore it. Equal scenes give equal words.
    """

    def candidates(self, scene: Scene, chat: Chat) -> Sequence[str]:
        """Return wordings of the mission; the first is taken unless a person chooses."""
        ...

    def decide(self, scene: Scene, chat: Chat) -> str:
        """Return the planner's decision as JSON text, as the checker will read it."""
        ...

    def ask(self, scene: Scene, action: Action, chat: Chat) -> str:
        """Return the agent's question for what is missing."""
        ...

    def answer(self, scene: Scene, question: str, chat: Chat) -> str:
        """Return the user's answer to a question."""
        ...

    def reply(self, scene: Scene, chat: Chat) -> str:
        """Return the agent's last text of the mission: a summary of results, or a chat's answer."""
        ...


@runtime_checkable
class ChoosesTools(Protocol):
    """Speakers who say which tools a dialogue offers; for others they are drawn."""

    def choose_tools(
        self, assignments: Sequence[Assignment], tools: Sequence[Tool]
    ) -> Sequence[Tool]:
        """Return the tools of a dialogue, of no two names alike.

        Args:
            assignments: The dialogue's missions.
            tools: The pool.
        """
        ...


def question(tool: str, missing: Sequence[str]) -> Action:
    """Return the action that asks the user for parameters of a tool."""
    return Action(ASK, {ASKED_TOOL: tool, MISSING: list(missing)})


def final_answer(kind: Literal["tool", "chat"]) -> Action:
    """Return the action that ends a mission."""
    return Action(ANSWER, {ANSWER_TYPE: kind})


def write_decision(decision: Decision) -> str:
    """Return a decision as JSON text."""
    actions = [
        {"name": a.name, "arguments": a.arguments, "tool_call_purpose": a.purpose}
        for a in decision.actions
    ]
    finished = "yes" if decision.finished else "no"
    said = {"Mission_Finish": finished, "Thought": decision.thought, "Plan": decision.plan}
    return json_text({**said, "Action_List": actions})


def read_decision(text: str) -> Decision:
    """Return the decision that a JSON text holds; a code fence around it does not matter.

    Raises:
        DataError: It is no JSON, or a field is missing or malformed.
    """
    record = json_object(text)
    finished = field(record, "Mission_Finish", str).strip().lower()
    if finished not in ("yes", "no"):
        raise DataError(f"Mission_Finish: expected yes or no, got {shortened(finished)}")
    given = field(record, "Action_List", list)
    thought, plan = field(record, "Thought", str), field(record, "Plan", str)
    actions = []
    for position, action in enumerate(given):
        with located(f"Action_List.{position}"):
            name, arguments = field(action, "name", str), field(action, "arguments", dict)
        purpose = action.get("tool_call_purpose")
        actions.append(Action(name, arguments, purpose if isinstance(purpose, str) else ""))
    return Decision(finished == "yes", thought, plan, tuple(actions))


def json_object(text: str) -> dict[str, JSON]:
    """Return the JSON object that a model wrote; a code fence around it does not matter.

    Raises:
        DataError: It is none.
    """
    fenced = _FENCE.fullmatch(text)
    try:
        value = json_of_text(fenced[1] if fenced else text)
    except ValueError as error:
        raise DataError(f"expected one JSON object, got {shortened(text)}") from error
    found = expect(value, dict, what="one JSON object")
    refuse_deep(found)
    return found


@dataclass(slots=True)
class Played:
    """A mission as far as it was played; the seats of its chat share it."""

    scene: Scene
    decision: Decision | None = None
    """The planner's last one, where it could be read."""
    refused: tuple[str, ...] = ()
    """All that the checker sent back, whatever came of it."""
    reply: str = ""
    """The agent's last text; empty until it is spoken."""

    def happened(self, *events: Round | Exchange) -> None:
        """Note what was done so far; the planner's tries before it are done with."""
        self.scene = replace(self.scene, events=events, rejections=())

    def refuse(self, verdict: str) -> None:
        """Note what the checker sends back."""
        self.scene = replace(self.scene, rejections=(*self.scene.rejections, verdict))
        self.refused = (*self.refused, verdict)

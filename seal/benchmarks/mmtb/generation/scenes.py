"""What the roles of a generation chat know and say, whoever plays them.

Source: "Multi-Mission Tool Bench" (2025), section 3 and the framework of five roles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from seal.benchmarks.mmtb.dialogues import Mission, MissionType
from seal.core.protocols import Chat
from seal.core.types import JSON, Tool

Relation = Literal["implicit", "ellipsis", "memory"]


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


class Speakers(Protocol):
    """Those who think: the user, the planner and the agent. Models, or a grammar.

    Each method says what one role says now. `chat` gives a model's calls (`chat.complete`); who
    needs none ignores it. Equal scenes give equal words.
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

"""Whole conversations between an agent and a user, without a server."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seal.agents import build_agent
from seal.agents.autogen import play
from seal.agents.conversation import ChatLimits, ChatOptions, Conversation, Services
from seal.agents.teams import DIRECT, Team
from seal.core import Completion, Goal, Request, Task, Tool, ToolCall, ToolResult, Verdict

WEATHER = Tool("b/w/now", "weather", parameters={"type": "object", "properties": {"city": {}}})
REQUEST = "How is the weather?"
Script = Sequence[Completion | str] | Callable[[Request], Completion | str]


@dataclass
class Speaker:
    """A model that says one thing after the other, the last again and again."""

    script: Script
    seen: list[Request] = field(default_factory=list)

    def complete(self, request: Request) -> Completion:
        self.seen.append(request)
        script = self.script
        said = script(request) if callable(script) else script[min(len(self.seen), len(script)) - 1]
        return Completion(said) if isinstance(said, str) else said


@dataclass
class Echo:
    """An environment that answers each call with its arguments, and keeps what it ran."""

    ran: list[ToolCall] = field(default_factory=list)

    def call(self, calls):
        self.ran += calls
        return [ToolResult(c.id, str(c.arguments), value=c.arguments) for c in calls]

    def states(self):
        return ()


@dataclass
class Talk:
    """A conversation that has ended."""

    chat: Conversation
    agent: Speaker
    user: Speaker
    environment: Echo

    @property
    def stop(self) -> str:
        return self.chat.stops[-1].reason

    @property
    def heard(self) -> list[str]:
        """What the user said in words."""
        return [
            s.content for s in self.chat.steps if s.author == "user_simulator" and s.call is None
        ]

    @property
    def route(self) -> list[str]:
        return [f"{s.author}>{s.recipient}" for s in self.chat.steps]


def call(name: str, **arguments: Any) -> Completion:
    return Completion(calls=(ToolCall("", name, arguments),))


def talk(
    agent: Script,
    persona: Mapping[str, Any] | None = None,
    user: Script | None = None,
    team: Team = DIRECT,
    limits: ChatLimits | None = None,
    goals: Sequence[str] = (REQUEST,),
    user_tools: Sequence[Tool] = (),
    **options: Any,
) -> Talk:
    """Hold a conversation; `user` None: the scripted user, else what the user's model says."""
    speaker, asked, echo = Speaker(agent), Speaker(user or [""]), Echo()
    team = team.seat("user_simulator", "scripted") if user is None else team
    chat = Conversation(
        Task("t", "b", tuple(map(Goal, goals)), persona=dict(persona or {})),
        0,
        team,
        {role: build_agent(agent) for role, agent in team.roles.items()},
        Services(
            lambda role: asked if role == "user_simulator" else speaker,
            echo,
            lambda query, k: [],
            lambda *seen: Verdict("solved"),
        ),
        {0: [WEATHER]},
        limits=limits or ChatLimits(),
        options=ChatOptions(**options),
        user_tools=user_tools,
        goals=range(len(goals)),
    )
    play(chat)
    return Talk(chat, speaker, asked, echo)

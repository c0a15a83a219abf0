"""Which goal a prompt is about, and what has been done for it: read from the messages alone.

Offline models that play a known task (`oracle`, `recorded`, `replay`) hold nothing between
requests. They find the goal by its text:

1. Goals are spoken in order, so the position only ever grows.
2. The user speaks in user messages without an author in brackets; where a prompt has none (a role
   that only its orchestrator talks to), the bracketed ones count, and a part of a goal's text will
   do.
3. A message that is a goal's text, or holds it as whole words, speaks that goal; of several, the
   one that stands last in it. A text that two goals share means the later one only after the
   assistant has said something since the earlier one.
4. Where no user message speaks a goal, system messages count; else the number of user messages.

The scene begins with the message that spoke the goal; a task of one goal is one scene.

Also here: results in words, for a model that has no words of its own to say what came back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seal.core import JSON, Message, Request, Tool, ToolCall
from seal.core.earlier_results import value_of
from seal.core.values import json_text

_AUTHOR = re.compile(r"\[(\w+)\] ")


@dataclass(frozen=True, slots=True)
class Scene:
    """The part of a prompt that concerns one goal."""

    goal: int
    messages: tuple[Message, ...]

    @property
    def batches(self) -> list[tuple[ToolCall, ...]]:
        """Calls made so far, reply by reply."""
        return [m.calls for m in self.messages if m.role == "assistant" and m.calls]

    @property
    def results(self) -> list[str]:
        """Contents of the results so far."""
        return [m.content for m in self.messages if m.role == "tool"]

    @property
    def said(self) -> list[str]:
        """What this role has said in words so far."""
        return [m.content for m in self.messages if m.role == "assistant" and not m.calls]

    @property
    def last_heard(self) -> str:
        """The last thing that another role said to this one, without its author.

        Events, of which the executor tells, are not said.
        """
        said = (m.content for m in self.messages if m.role == "user")
        heard = [content for content in said if not content.startswith("[executor] ")]
        return without_author(heard[-1]) if heard else ""


def without_author(text: str) -> str:
    """Return the text without a leading `[role] `."""
    found = _AUTHOR.match(text)
    return text[found.end() :] if found else text


def offered_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Return tool id to the name under which it is offered, scrambled or not."""
    return {tool.id: tool.name for tool in tools}


def find_scene(request: Request, goals: Sequence[str]) -> Scene:
    """Return the scene that a prompt is in.

    Args:
        request: The prompt.
        goals: Texts of the task's goals, in order; at least one.
    """
    messages = request.messages
    if len(goals) == 1:
        return Scene(0, messages)
    texts = [_squeezed(goal) for goal in goals]
    spoken = [m for m in messages if m.role == "user" and not _AUTHOR.match(m.content)]
    if not spoken:
        spoken = [m for m in messages if m.role == "user"]
    position, start = _follow(messages, spoken, texts)
    if position < 0:
        system = [m for m in messages if m.role == "system"]
        position, start = _follow(messages, system, texts)
    if position < 0:
        position = max(0, min(len(spoken), len(goals)) - 1)
        start = messages.index(spoken[-1]) if spoken else 0
    return Scene(position, messages[start:])


def _follow(
    messages: Sequence[Message], speaking: Sequence[Message], texts: Sequence[str]
) -> tuple[int, int]:
    """Return the goal that was spoken last and the index of its message; (-1, 0) where none was."""
    heard = {id(message) for message in speaking}
    position, start, answered = -1, 0, False
    for index, message in enumerate(messages):
        if message.role == "assistant" and not message.calls:
            answered = True
        elif id(message) in heard:
            found = _spoken_goal(message.content, texts, position, answered)
            if found > position:
                position, start, answered = found, index, False
    return position, start


def _spoken_goal(content: str, texts: Sequence[str], current: int, answered: bool) -> int:
    bracketed = _AUTHOR.match(content) is not None
    content = _squeezed(without_author(content))
    ends = {}
    for goal in range(max(current, 0), len(texts)):
        end = _end(content, texts[goal])
        if end < 0 and bracketed and " " in content and content in texts[goal]:
            end = 0
        if end >= 0:
            ends[goal] = (end, len(texts[goal]) if end else 0)
    if not ends:
        return current
    last = max(ends.values())
    goals = [goal for goal, end in ends.items() if end == last]
    if current in goals and not answered:
        return current
    return next((goal for goal in goals if goal > current), current)


def _end(content: str, text: str) -> int:
    """Return where the last occurrence of the text as whole words ends; -1 where there is none."""
    if not text or text not in content:
        return -1
    pattern = rf"(?<!\w){re.escape(text)}(?!\w)"
    return max((found.end() for found in re.finditer(pattern, content)), default=-1)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


DONE = "Done."
"""Said of a result that is nothing, as where a world did what it was told."""


def in_words(content: str) -> str:
    """Return the values of a result with their names, such as `hour: 2, minute: 43`.

    Args:
        content: JSON, an answer {"error", "response"} of a simulator, or a Python literal, as
            worlds answer; any other text is said as it stands. Empty where it holds no value.
    """
    value = value_of(content)
    if value is None:
        return DONE
    if isinstance(value, dict) and value.keys() == {"error", "response"}:
        value = value["response"] if not value["error"] else value["error"]
    return ", ".join(_named(value))


def _named(value: JSON, name: str = "") -> list[str]:
    if isinstance(value, dict):
        return [said for key, inner in value.items() for said in _named(inner, str(key))]
    if isinstance(value, (list, tuple)):
        return [said for inner in value for said in _named(inner, name)]
    if value is None or value == "":
        return []
    text = json_text(value) if isinstance(value, (bool, int, float)) else str(value)
    return [f"{name.replace('_', ' ')}: {text}" if name else text]

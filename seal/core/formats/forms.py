"""What a text protocol has to know: how calls, results and answers are written, and read again."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from seal.core.plain import leaves
from seal.core.types import Tool, ToolCall

FINISHES = frozenset({"finish", "final_answer"})
"""Names of calls by which models trained on other protocols give their answer."""
MOST_CALLS = 64
"""Calls of one reply that are read; what follows is text."""
_THINKING = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model's text says."""

    content: str = ""
    """Words: what was said beside the calls, or the answer."""
    calls: tuple[ToolCall, ...] = ()
    """`raw` holds the call as it was written, where it could not be read or had to be repaired."""


class TextForm(Protocol):
    """A text protocol for models without tool calling."""

    name: str
    shape: str
    """How a call is written, for who wrote one that cannot be read."""

    def among(self, tools: Sequence[Tool]) -> TextForm:
        """Return the form in which names and values of calls are those of these tools."""
        ...

    def called(self, tool: Tool) -> str:
        """Return the name by which calls and documents name a tool."""
        ...

    def write(self, call: ToolCall) -> str:
        """Return a call as a model should write it; an unparsable one as it was written."""
        ...

    def observed(self, content: str, of: str = "") -> str:
        """Return a result as the model reads it.

        Args:
            content: What came back.
            of: Name of the tool, where several calls are answered at once.
        """
        ...

    def answered(self, text: str) -> str:
        """Return a final answer as a model should write it."""
        ...

    def read(self, text: str, offered: Collection[str] = (), cut: bool = False) -> Reading:
        """Return what a text says. Never raises, whatever the text is.

        Args:
            text: A model's reply.
            offered: Names of the offered tools.
            cut: True: the text was cut off at a token limit, so that nothing is closed.
        """
        ...


class PlainForm:
    """What most protocols have in common: names, results and answers stand as they are."""

    result_word = "Result"
    """Stands before a result."""

    def among(self, tools: Sequence[Tool]) -> Self:
        """Return the form itself: names and values are written as they are."""
        return self

    def called(self, tool: Tool) -> str:
        """Return the tool's name."""
        return tool.name

    def observed(self, content: str, of: str = "") -> str:
        """Return a result after a word that says what it is; see `TextForm.observed`."""
        return f"{self.result_word}{f' of {of}' if of else ''}: {content}"

    def answered(self, text: str) -> str:
        """Return the words as they are."""
        return text


def says_something(text: str) -> bool:
    """Tell whether a text has a letter or a digit, and is no mere punctuation around calls."""
    return any(map(str.isalnum, text))


def without_thinking(text: str) -> str:
    """Return a reply without the thinking that a reasoning model puts before it in `<think>`."""
    found = _THINKING.match(text)
    return text[found.end() :].lstrip() if found else text


def is_finish(name: str, offered: Collection[str]) -> bool:
    """Tell whether a call is no call but the answer: no tool of that name is offered."""
    return name.casefold() in FINISHES and name not in offered


def settled(content: str, calls: list[ToolCall], offered: Collection[str]) -> Reading:
    """Return a reading in which a call that only finishes is the answer.

    Beside other calls it is passed over: their results are not known yet.
    """
    real = [call for call in calls if not is_finish(call.name, offered)]
    if real or not calls:
        return Reading(content, tuple(real))
    return Reading(_answer(calls[-1]) or content)


def _answer(call: ToolCall) -> str:
    if call.arguments is None:
        return call.raw.rpartition("Action Input:")[2].strip()
    answer = call.arguments.get("answer")
    return answer.strip() if isinstance(answer, str) else ", ".join(leaves(call.arguments))

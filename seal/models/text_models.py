"""Models whose prompts and answers hold tools, calls and results as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from seal.core import ChatModel, Completion, Message, Request, Tool
from seal.core.call_formats import form_of
from seal.core.text_formats import CallText, TextForm
from seal.core.values import json_text
from seal.models.presentation import MANAGER, form_prompt

if TYPE_CHECKING:
    from seal.models.presentation import Example, Presentation

# -- Models whose prompts and answers hold tools, calls and results as text.


class PresentedModel:
    """A model whose prompt and answers pass through a form. Safe in threads as the model is.

    Args:
        inner: The model.
        how: Form, results, example.
    """

    def __init__(self, inner: ChatModel, how: Presentation) -> None:
        self.inner = inner
        self.how = how

    def complete(self, request: Request) -> Completion:
        """Return the model's answer, calls in its text being calls.

        Raises:
            ModelError: The model failed.
        """
        form = form_of(self.how.format)
        form = form.among(request.tools) if form is not None else None
        answer = self.inner.complete(self._asked(request, form))
        if form is None or not request.tools:
            return answer
        offered = [tool.name for tool in request.tools]
        read = form.read(answer.content, offered, answer.truncated)
        return replace(answer, content=read.content, calls=(*answer.calls, *read.calls))

    def _asked(self, request: Request, form: TextForm | None) -> Request:
        messages = request.messages
        if self.how.results_as_text and any(m.calls or m.role == "tool" for m in messages):
            messages = tuple(as_text(messages, form or _NATIVE))
        parts = []
        if form is not None and request.tools:
            parts = [form_prompt(form.name) + "\n" + "\n".join(_documents(request.tools, form))]
        if self.how.example is not None and request.role == MANAGER and request.tools:
            parts.append(_told(self.how.example, form or _NATIVE))
        if parts:
            messages = with_instructions(messages, "\n\n".join(parts))
        if form is not None:
            messages = tuple(_merged(messages))
        tools = () if form is not None else request.tools
        return replace(request, messages=messages, tools=tools)


class RehearsedModel:
    """A model that plays by rule, whose calls are written in a form and read again.

    Args:
        inner: The model; it is asked with tools.
        form: The form.
        typed: True: its texts may hold calls too.
    """

    def __init__(self, inner: ChatModel, form: TextForm, typed: bool = False) -> None:
        self.inner = inner
        self.form = form
        self.typed = typed

    def complete(self, request: Request) -> Completion:
        """Return the model's answer, its calls as they are after writing and reading."""
        answer = self.inner.complete(request)
        if not request.tools or not (answer.calls or self.typed):
            return answer
        offered = [tool.name for tool in request.tools]
        form = self.form.among(request.tools)
        written = "\n".join(map(form.write, answer.calls))
        read = form.read(written or answer.content, offered)
        content = answer.content if written else read.content
        return replace(answer, content=content, calls=read.calls)


class _NativeForm(TextForm):
    """How calls and results of a server's own tool calling are told in words."""

    name = "native"

    def is_own(self, raw: str) -> bool:
        return False

    def put(self, name: str, given: str) -> str:
        return f"{name}({given})"

    def calls_in(self, text: str, cut: bool) -> tuple[list[CallText], str]:
        return [], text


_NATIVE = _NativeForm()


def as_text(messages: Sequence[Message], form: TextForm) -> Iterator[Message]:
    """Yield messages in which calls are the assistant's words and results the user's.

    Args:
        messages: As a role made them.
        form: How calls and results are written.
    """
    names: dict[str, str] = {}
    several = False
    for message in messages:
        if message.calls:
            names.update({call.id: call.name for call in message.calls})
            several = len(message.calls) > 1
            lines = [message.content, *map(form.write, message.calls)]
            yield Message("assistant", "\n".join(line for line in lines if line))
        elif message.role == "tool":
            of = names.get(message.call_id, "") if several or form is _NATIVE else ""
            yield Message("user", form.observed(message.content, of))
        else:
            yield message


def _merged(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages with those of one side in a row as one: many chat templates take no other."""
    for _, several in groupby(messages, key=lambda message: message.role):
        of_one = list(several)
        words = "\n\n".join(message.content for message in of_one)
        yield replace(of_one[0], content=words)


def with_instructions(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    """Return messages whose first system message ends with a text; one is made where none is."""
    for place, message in enumerate(messages):
        if message.role == "system":
            told = replace(message, content=f"{message.content}\n\n{text}")
            return (*messages[:place], told, *messages[place + 1 :])
    return (Message("system", text), *messages)


def _documents(tools: Sequence[Tool], form: TextForm) -> Iterator[str]:
    for tool in tools:
        about = {"description": tool.description, "parameters": tool.parameters}
        yield json_text({"name": form.called(tool), **about})


def _told(example: Example, form: TextForm) -> str:
    """Return an example in a form."""
    lines = [form_prompt("example"), "", f"Request: {example.request}"]
    for exchange in example.exchanges:
        lines += map(form.write, exchange.calls)
        several = len(exchange.calls) > 1 or form is _NATIVE
        for call, result in zip(exchange.calls, exchange.results, strict=True):
            if result:
                lines.append(form.observed(result, call.name if several else ""))
    return "\n".join([*lines, form.answered(example.answer)])

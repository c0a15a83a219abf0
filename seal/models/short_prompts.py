"""What a prompt leaves out where the model's window is too small for it."""

from __future__ import annotations

from dataclasses import replace

from seal.core import ChatModel, Completion, Message, Request, RequestError, Usage
from seal.models.presentation import form_prompt

LEFT_OUT = "[left out: the window is full]"
"""Begins what stands in the place of a result."""


class ShortenedModel:
    """A model that is asked again with fewer results of tools. Safe in threads as the model is.

    Each time the older half of those that still stand is left out, so that n results take at most
    log2(n) + 1 further requests.

    Args:
        inner: The model.
        summarise: Whether it says first in short what is left out.
    """

    def __init__(self, inner: ChatModel, summarise: bool) -> None:
        self.inner = inner
        self.summarise = summarise

    def complete(self, request: Request) -> Completion:
        """Return the model's answer; the tokens of summaries count with it.

        Raises:
            RequestError: The window is too small without any result, too.
            ModelError: The model failed.
        """
        spent, left_out = Usage(), 0
        while True:
            try:
                answer = self.inner.complete(request)
            except RequestError as error:
                standing = [
                    place
                    for place, message in enumerate(request.messages)
                    if message.role == "tool" and not message.content.startswith(LEFT_OUT)
                ]
                if error.refusal != "context_overflow" or not standing:
                    raise
                messages = list(request.messages)
                left_out += (len(standing) + 1) // 2
                for place in standing[: (len(standing) + 1) // 2]:
                    short = self._short(messages[place].content, request)
                    spent = spent + short.usage
                    told = f"{LEFT_OUT} {short.content}".strip()
                    messages[place] = replace(messages[place], content=told)
                request = replace(request, messages=tuple(messages))
            else:
                return replace(answer, usage=answer.usage + spent, left_out=left_out)

    def _short(self, content: str, request: Request) -> Completion:
        """Return the summary that stands for a result; empty where none is asked for or comes."""
        if not self.summarise:
            return Completion()
        asked = (Message("system", form_prompt("summary")), Message("user", content))
        try:
            return self.inner.complete(
                replace(request, messages=asked, tools=(), json_object=False)
            )
        except RequestError as error:
            if error.refusal is None:
                raise
            return Completion()

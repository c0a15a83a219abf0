"""How a model is shown tools, calls, results and an example; its prompt for that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from seal.core import JSON, ChatModel, ToolCall
from seal.core.call_formats import Format, form_of, in_text
from seal.core.text import shipped_prompt
from seal.core.values import digest
from seal.models.spec import is_offline, split_name

# -- A model that is shown tools, calls and results in the way that a run asks for.
#
# The roles of a chat know nothing of it: they ask with tools and get calls, whether the model's
# server has tool calling or the calls stand in its text. What wraps a model lies above the cache of
# its answers, so that a key holds the very prompt that the model was sent.

MANAGER = "execution_manager"
"""The role that is shown an example."""

_PLAYED = frozenset({"recorded", "replay"})
"""Models that play what was said before, in whatever form that was."""
_TYPED = frozenset({"human", "scripted"})
"""Offline models whose texts may hold calls in the form of the run."""


@dataclass(frozen=True, slots=True)
class ExampleCalls:
    """Calls of one reply in an example, and what each brought."""

    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]
    """One text a call; empty where nothing was recorded."""


@dataclass(frozen=True, slots=True)
class Example:
    """How another request was carried out."""

    request: str
    exchanges: tuple[ExampleCalls, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a model is shown what it is to use."""

    format: Format = "native"
    example: Example | None = None
    """Shown to the execution manager."""

    @property
    def plain(self) -> bool:
        """True where models are asked as they are."""
        return not self.results_as_text and self.example is None

    @property
    def results_as_text(self) -> bool:
        """True where results are messages of the user."""
        return self.format != "native"


def presented(model: ChatModel, spec: Any, how: Presentation) -> ChatModel:
    """Return a model that is asked as a run's settings say.

    Models that play by rule know tools and calls as data. They are shown nothing as text: their
    calls are written in the form and read again, so that floor and ceiling go the same way as a
    model. What `recorded` and `replay` play stays as it was said.

    Args:
        model: Opened for the chat, its answers cached.
        spec: What it was asked for by.
        how: Form, results, example.
    """
    if how.plain:
        return model

    name = split_name(spec)[0] if isinstance(spec, str) else ""
    if is_offline(spec) and name in _PLAYED:
        return model
    if not is_offline(spec) and not getattr(spec, "plays_tasks", False):
        from seal.models.text_models import PresentedModel

        return PresentedModel(model, how)
    form = form_of(how.format)
    from seal.models.text_models import RehearsedModel

    return model if form is None else RehearsedModel(model, form, name in _TYPED)


form_prompt = partial(shipped_prompt, __package__)
"""(name) to the prompt of a form, or of an example."""


def presentation_identity(how: Presentation, one_shot: bool) -> dict[str, JSON]:
    """Return what a run's record says about how models were asked."""
    written = in_text(how.format)
    identity: dict[str, JSON] = {"format": how.format if written else "native"}
    identity |= {"one_shot": one_shot, "tool_messages": "text" if how.results_as_text else "native"}
    used = ([how.format] if written else []) + (["example"] if one_shot else [])
    if used:
        identity["prompts"] = digest({name: form_prompt(name) for name in used})
    return identity

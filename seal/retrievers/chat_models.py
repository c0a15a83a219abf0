"""How retrievers ask language models.

A model comes with the pool (`Pool.models`), which keeps its answers, or as an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from seal.core import ChatModel, Message, OptionError, Pool, Request, shortened
from seal.core.package_data import shipped_prompt

_AT_ONCE = 8
"""Requests that wait for a server at the same time."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class PromptedModel:
    """A language model with one task, which a prompt describes. Safe in threads as the model is.

    Args:
        model: The model.
        name: Of the prompt, `prompts/NAME.txt`.
    """

    def __init__(self, model: ChatModel, name: str) -> None:
        self._model = model
        self._name = name
        self.identity = str(getattr(model, "identity", "") or type(model).__name__)

    def answer(self, text: str) -> str:
        """Return what the model says to a text.

        Raises:
            ModelError: The model failed.
        """
        messages = (
            Message("system", shipped_prompt(__package__, self._name)),
            Message("user", text),
        )
        return self._model.complete(Request(messages, role="retriever")).content


def asked(pool: Pool, name: str) -> PromptedModel | None:
    """Return the model of the option `model` with the task of a prompt; None: none is named.

    Raises:
        OptionError: It is named, and whoever built the pool opens no models.
        UsageError: There is no such model.
    """
    what = pool.options.get("model")
    if what is None:
        return None
    if pool.models is not None:
        return PromptedModel(pool.models(what), name)
    if not hasattr(what, "complete"):
        raise OptionError(
            f"model={shortened(what)}: this pool opens no models by name; give an object with "
            "complete(request), or build the retriever by seal.retrieve or seal.run"
        )
    return PromptedModel(what, name)


def at_once(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Sequence[_Result]:
    """Return what a function gives of each item, in their order, several at once.

    The first failure is raised when all that began has ended; what was answered until then is kept.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        waiting = [threads.submit(copy_context().run, function, item) for item in items]
        try:
            return [one.result() for one in waiting]
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise

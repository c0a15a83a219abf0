"""What a language model, or a rule, makes of queries and tools before they are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seal.core import Pool, Retriever, Tool
from seal.core.text import clauses, plan_steps, split_identifiers
from seal.retrievers import inner_retriever
from seal.retrievers.around import SentenceWise, Wrapper
from seal.retrievers.chat_models import PromptedModel, asked, at_once
from seal.retrievers.documents import (
    DESCRIPTION_LIMIT,
    DOCUMENT_LIMIT,
    full,
    names,
    properties_of,
    shortened,
)

_PHRASES = 8
"""Lines of a model's answer that count."""
_PROFILE_LIMIT = 1200
"""Characters of a profile that count; so many less does the description have."""
_VALUES = 12
"""Allowed values of a parameter that the rule names."""


def rewrite(pool: Pool) -> Retriever:
    """Return a retriever that is asked each query and the search phrases that a model makes of it.

    A tool's score is the highest that any of them gives. Source: Ma et al. (2023), Query Rewriting
    for Retrieval-Augmented Large Language Models.

    Args:
        pool: Options: `of`, the retriever (default the general one), and `model`, a language model
            as `seal run --model` takes it. None: the clauses of the query, the floor.

    Raises:
        UsageError: There is no such model.
    """
    model = asked(pool, "rewrite")

    def parts(texts: Sequence[str]) -> Sequence[Sequence[str]]:
        if model is None:
            return [clauses(text) for text in texts]
        return at_once(lambda text: _phrases(model, text), texts)

    way = "rewrite(clauses)" if model is None else f"rewrite({model.identity})"
    return SentenceWise(inner_retriever(pool), way, parts)


rewrite.OPTIONS = frozenset({"of", "model"})  # type: ignore[attr-defined]
rewrite.asks_chat_model = True  # type: ignore[attr-defined]


def _phrases(model: PromptedModel, text: str) -> Sequence[str]:
    if not text.strip():
        return []
    return plan_steps(model.answer(shortened(text, DOCUMENT_LIMIT)))[:_PHRASES]


def expand(pool: Pool) -> Retriever:
    """Return a retriever over tools whose descriptions a model has expanded by a profile.

    The profile says when to use the tool, what users ask who need it, and what it takes. Source:
    Lu et al. (2025), Tools are under-documented (Tool-DE).

    Args:
        pool: Options: `of`, the retriever (default the general one), and `model`, a language model
            as `seal run --model` takes it, which is asked once for each tool. None: the floor, a
            profile by rule of names, parameters and allowed values.

    Raises:
        ModelError: The model failed.
        UsageError: There is no such model.
    """
    model = asked(pool, "expand")
    if model is None:
        profiles: Sequence[str] = [" ".join(_by_rule(tool)) for tool in pool.tools]
    else:
        profiles = at_once(lambda tool: model.answer(full(tool)), pool.tools)
    tools = tuple(map(_expanded, pool.tools, profiles))
    retriever = inner_retriever(replace(pool, tools=tools))
    return Wrapper(retriever, "expand(rule)" if model is None else f"expand({model.identity})")


expand.OPTIONS = frozenset({"of", "model"})  # type: ignore[attr-defined]
expand.asks_chat_model = True  # type: ignore[attr-defined]


def _expanded(tool: Tool, profile: str) -> Tool:
    profile = shortened(" ".join(profile.split()), _PROFILE_LIMIT)
    told = shortened(tool.description, DESCRIPTION_LIMIT - _PROFILE_LIMIT)
    return replace(tool, description=f"{told} {profile}".strip())


def _by_rule(tool: Tool) -> Iterator[str]:
    """Yield what a tool's record says besides its description, in words."""
    does = split_identifiers(names(tool).api).lower()
    found = properties_of(tool)
    takes = [split_identifiers(name).lower() for name in found]
    yield f"When to use: to {does}, {tool.category}." if tool.category else f"To {does}."
    if takes:
        yield f"Requests: {does} by {', '.join(takes)}."
    for name, schema in zip(takes, found.values(), strict=True):
        yield f"{name}: {' '.join(_words_of(schema))}."


def _words_of(schema: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(schema.get("description"), str):
        yield schema["description"]
    values = schema.get("enum")
    if isinstance(values, Sequence) and not isinstance(values, str):
        yield from (split_identifiers(str(value)) for value in values[:_VALUES])

"""Which call of a finished mission comes after which, inferred from where its values come from.

- A call comes after an earlier one whose result holds one of its argument values, where the value
  can come from nowhere else: nobody said it before, no result of an earlier mission holds it, and
  the earlier call was not itself given it. Where several calls brought a value, it comes from the
  first.
- A call with an argument that the user was asked for comes after the question, and a question
  after earlier ones about the same tool.

Truth values, texts of one letter and whole numbers up to 31 are never evidence: they recur by
chance, and people say them in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seal.benchmarks.mmtb.dialogues import Mission
from seal.benchmarks.mmtb.generation.scenes import Action, Exchange, Scene
from seal.core.conditions.stated import numbers, states
from seal.core.types import JSON
from seal.evaluation.leaves import Leaf, leaves

_COUNTS = 31
"""Whole numbers up to this one are counts, days and hours, not evidence."""


@dataclass(frozen=True, slots=True)
class _Done:
    """One node: a call, or a question."""

    action: Action
    moment: int
    """Position of its event: calls of one round share it."""
    brought: JSON
    """The call's observation; of a question the answer."""
    is_question: bool


def edges(scene: Scene) -> tuple[tuple[int, ...], ...]:
    """Return for each node of a finished mission the positions of those that it comes after.

    Args:
        scene: With all its events. Its nodes are one for each question and each call, in order.

    Returns:
        One entry a node, ascending positions; the closing answer is no node here.
    """
    nodes = list(_nodes(scene))
    source = _Sources(scene)
    return tuple(tuple(sorted(source.of(node, nodes))) for node in nodes)


def said_before(past: Sequence[Mission], request: str) -> list[str]:
    """Return every text that was said by the time a request is made, the request included."""
    return [*(text for mission in past for text in texts_of(mission)), request]


def texts_of(mission: Mission) -> list[str]:
    """Return every text of a mission, in order."""
    return [*(said.text for said in mission.before), mission.text, *_said(mission)]


def _said(mission: Mission) -> Iterator[str]:
    """Yield what is said after a request: as messages, else as the nodes have it."""
    if mission.said:
        yield from (said.text for said in mission.said)
        return
    for node in mission.nodes:
        yield node.user_input
    closing = mission.nodes[-1].observation if mission.nodes else None
    yield closing if isinstance(closing, str) else ""


def _nodes(scene: Scene) -> Iterator[_Done]:
    for moment, event in enumerate(scene.events):
        if isinstance(event, Exchange):
            yield _Done(event.asked, moment, event.answer, True)
            continue
        for action, observation in zip(event.actions, event.observations, strict=True):
            yield _Done(action, moment, observation, False)


class _Sources:
    """Finds where values come from.

    Args:
        scene: A finished mission.
    """

    def __init__(self, scene: Scene) -> None:
        self._texts = said_before(scene.past, scene.request)
        answers = [event.answer for event in scene.events if isinstance(event, Exchange)]
        self._texts += answers
        self._numbers = set().union(*map(numbers, self._texts))
        self._results = {
            leaf
            for mission in scene.past
            for node in mission.nodes
            for leaf in leaves(node.observation)
        }

    def of(self, node: _Done, nodes: Sequence[_Done]) -> set[int]:
        """Return the positions of the nodes that one comes after."""
        earlier = [(n, other) for n, other in enumerate(nodes) if other.moment < node.moment]
        asked = {n for n, other in earlier if other.is_question and _answers(other, node)}
        if node.is_question:
            return asked
        found = set(asked)
        for value in node.action.arguments.values():
            held = {leaf for leaf in leaves(value) if self._is_evidence(leaf)}
            for n, other in earlier:
                if not other.is_question and held & self._news(other):
                    found.add(n)
                    held -= self._news(other)
        return found

    def _news(self, node: _Done) -> set[Leaf]:
        """Return what a call brought that it was not given."""
        return set(leaves(node.brought)) - set(leaves(node.action.arguments))

    def _is_evidence(self, leaf: Leaf) -> bool:
        if leaf in self._results:
            return False
        if isinstance(leaf, float):
            counts = leaf.is_integer() and abs(leaf) <= _COUNTS
            return not counts and leaf not in self._numbers
        return not any(states(text, leaf, {}) for text in self._texts)


def _answers(question: _Done, node: _Done) -> bool:
    """Tell whether a node needs the answer to a question."""
    about = question.action.arguments
    if node.is_question:
        return about.get("tool_name") == node.action.arguments.get("tool_name")
    missing = about.get("missing_required_parameters")
    asked = missing if isinstance(missing, list) else []
    return about.get("tool_name") == node.action.name and any(
        name in node.action.arguments for name in asked
    )

"""Gold calls with the values that a world made anew in this chat.

A world makes some things anew in every chat, such as ids. A gold argument that comes from an
earlier result must be what that result says in this chat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from seal.core import JSON, Step
from seal.models.scene import Scene, value_of


def with_made_values(reference: Sequence[Step], scene: Scene) -> tuple[Step, ...]:
    """Return the reference whose calls take texts of earlier results as this chat's results say.

    The n-th gold call of a tool is that tool's n-th call in the chat. Texts in arguments are
    replaced that equal a text of a gold result where this chat's has another text.

    Args:
        reference: Gold steps with their results.
        scene: What was done so far.
    """
    made = _made_texts(reference, scene)
    return tuple(
        replace(step, call=replace(step.call, arguments=_replaced(step.call.arguments, made)))
        if made and step.call is not None and step.call.arguments is not None
        else step
        for step in reference
    )


def _made_texts(reference: Sequence[Step], scene: Scene) -> dict[str, str]:
    """Return each text of the gold results for which this chat's results have another one."""
    gold = {step.result.call_id: step.result.content for step in reference if step.result}
    told = {m.call_id: m.content for m in scene.messages if m.role == "tool"}
    waiting = [call for batch in scene.batches for call in batch]
    found: dict[str, str] = {}
    for step in reference:
        if step.call is None:
            continue
        tool = step.call.tool
        call = next((call for call in waiting if call.tool == tool), None)
        if call is None:
            continue
        waiting.remove(call)
        if step.call.id in gold and call.id in told:
            found.update(_differing(value_of(gold[step.call.id]), value_of(told[call.id])))
    return found


def _differing(gold: JSON, told: JSON) -> Iterator[tuple[str, str]]:
    """Yield the pairs of unequal texts that stand at the same place of two values."""
    if isinstance(gold, str) and isinstance(told, str) and gold != told:
        yield gold, told
    elif isinstance(gold, list) and isinstance(told, list):
        for one, other in zip(gold, told, strict=False):
            yield from _differing(one, other)
    elif isinstance(gold, dict) and isinstance(told, dict):
        for name in gold.keys() & told.keys():
            yield from _differing(gold[name], told[name])


def _replaced(value: JSON, made: Mapping[str, str]) -> JSON:
    if isinstance(value, dict):
        return {name: _replaced(item, made) for name, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, made) for item in value]
    return made.get(value, value) if isinstance(value, str) else value

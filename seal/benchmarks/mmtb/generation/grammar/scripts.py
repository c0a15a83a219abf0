"""What one mission is going to be: its request, its calls, and what is left out of it at first.

A script is drawn by the mission's own seed: acts whose tools are offered, things to fill them
with, and one of them at least taken from what was spoken of, as the mission's relation wants it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import date

from seal.benchmarks.mmtb.generation.grammar.acts import Language, Theme
from seal.benchmarks.mmtb.generation.grammar.choices import Choices
from seal.benchmarks.mmtb.generation.grammar.drafts import Draft
from seal.benchmarks.mmtb.generation.grammar.filling import Filling
from seal.benchmarks.mmtb.generation.grammar.script import Script
from seal.benchmarks.mmtb.generation.grammar.things import Things
from seal.benchmarks.mmtb.generation.scenes import Scene
from seal.core.errors import DataError

_TRIES = 80


def scripts(scene: Scene, language: Language, today: date) -> Iterator[Script]:
    """Yield scripts of a mission, all of different words; the first is always the same.

    Raises:
        DataError: With these tools no such mission could be made.
    """
    things = Things(scene.past, today)
    theme = theme_of(language, scene.tools)
    found: list[str] = []
    count = 5 if not scene.assignment.number and scene.assignment.kind != "multi" else 3
    for number in range(count):
        rng = random.Random(f"{scene.assignment.seed}/{number}")
        script = _best(scene, language, theme, things, rng)
        if script is not None and script.request not in found:
            found.append(script.request)
            yield script
    if not found:
        a = scene.assignment
        raise DataError(
            f"no {a.kind} mission by {a.relation or 'no relation'} can be worded with the tools "
            f"{', '.join(scene.tools)}"
        )


def theme_of(language: Language, tools: Mapping[str, object]) -> Theme:
    """Return the theme of which most tools are offered."""
    return max(language.themes, key=lambda theme: sum(name in tools for name in theme.tools))


def _best(
    scene: Scene, language: Language, theme: Theme, things: Things, rng: random.Random
) -> Script | None:
    """Return the first script drawn that leaves something to recall; else the first at all."""
    spare = None
    for attempt in range(_TRIES):
        wide = attempt >= _TRIES // 2 and spare is None
        choices = Choices(scene, language, theme, things, wide)
        script = Draft(choices, Filling(choices, rng), rng).script()
        if script is not None and script.leaves_more:
            return script
        spare = spare or script
    return spare

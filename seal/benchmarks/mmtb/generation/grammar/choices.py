"""What a mission can be about: acts whose tools are offered, and the slots that they must fill."""

from __future__ import annotations

import random
from dataclasses import dataclass

from seal.benchmarks.mmtb.generation.grammar.acts import Act, Language, Slot, Talk, Theme
from seal.benchmarks.mmtb.generation.grammar.things import Things
from seal.benchmarks.mmtb.generation.scenes import Scene


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose from in a scene."""

    scene: Scene
    language: Language
    theme: Theme
    things: Things
    wide: bool = False
    """Tools beside the theme are used too."""

    def acts(self, rng: random.Random) -> list[Act]:
        """Return the acts of the theme whose tools are offered, those not used before first."""
        used = self.used()
        names = self.scene.tools if self.wide else self.theme.tools
        acts = self.language.acts
        offered = [acts[name] for name in names if name in acts and name in self.scene.tools]
        new = [act for act in offered if act.tool not in used]
        return new if rng.random() < 0.85 and len(new) > 1 else offered

    def chain(self, rng: random.Random) -> tuple[Act, Act] | None:
        """Return two acts of which the second takes what the first brings, and nobody knew."""
        acts, used = self.acts(rng), self.used()
        pairs = [(a, b) for a in acts for b in acts if feeds(a, b) and a.tool not in used]
        return rng.choice(pairs) if pairs else None

    def used(self) -> set[str]:
        """Return the names of the tools that earlier missions called."""
        return {node.name for mission in self.scene.past for node in mission.nodes}

    def plurals(self, act: Act) -> list[Slot]:
        """Return the slots of which an act may be about several things at once."""
        return [
            slot
            for slot in act.slots
            if self.is_required(act, slot)
            and slot.sort.name in ("city", "day", "company", "symbol", "food", "room", "district")
            and not slot.form
            and "." not in slot.key
        ]

    def askable(self, act: Act) -> list[Slot]:
        """Return the slots that a request may leave out."""
        return [
            slot
            for slot in act.slots
            if slot.which
            and self.is_required(act, slot)
            and not slot.key.endswith(".day")
            and slot.key != act.needs
            and self.things.fresh(slot.sort, random.Random(0)) is not None
        ]

    def is_required(self, act: Act | Talk, slot: Slot) -> bool:
        """Tell whether a request must fill a slot."""
        if isinstance(act, Talk) or slot.key == act.needs:
            return True
        required = self.scene.tools[act.tool].parameters.get("required", [])
        return all(name in required for name in slot.parameters)

    def is_near(self, talk: Talk) -> bool:
        """Tell whether a talk is about something of the theme."""
        mine = {*self.theme.anchors}
        for name in self.theme.tools:
            act = self.language.acts[name]
            if name in self.scene.tools:
                mine.update(slot.sort.name for slot in act.slots)
        return all(slot.sort.name in mine for slot in talk.slots)

    def is_useful(self, sort: str) -> bool:
        """Tell whether later missions of any type could be about a thing of a sort."""
        count = 0
        for name in self.theme.tools:
            if name in self.scene.tools:
                act = self.language.acts[name]
                needed = [slot.sort.name for slot in act.slots if self.is_required(act, slot)]
                count += sort in needed and len(needed) > 1
        return count > 0


def feeds(first: Act, second: Act) -> bool:
    """Tell whether a result of the first may be what the second takes."""
    if first.gives is None or first.tool == second.tool or first.tool == "create_event":
        return False
    return any(slot.sort.name == first.gives.sort.name for slot in second.slots)

"""What can be done to the tools that a task offers, and how a user writes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from seal.core.errors import UnknownNameError, UsageError

SCRAMBLINGS = {
    "names": "tool_name_scrambled",
    "descriptions": "tool_description_scrambled",
    "argument-descriptions": "arg_description_scrambled",
    "argument-types": "arg_type_scrambled",
}
"""What is taken from a tool, to how an augmentation that does so is named.

Source of the names: the scenario ids of apple/ToolSandbox.
"""
UNCHANGED = "no_distraction_tools"
"""Name of the augmentation that leaves tasks as they are."""

_DISTRACTION = "distraction"
_PRESET = "toolsandbox"


@dataclass(frozen=True, slots=True)
class Augmentation:
    """One way to change what tasks offer."""

    distraction: int | Literal["all"] | None = None
    """Tools that are offered besides those of the task, or all of the pool; None: as it was."""
    scrambled: tuple[str, ...] = ()
    """Of `SCRAMBLINGS`, in their order."""

    def __post_init__(self) -> None:
        if isinstance(self.distraction, int) and self.distraction < 0:
            raise UsageError(
                f"{_DISTRACTION}={self.distraction}: expected a number of tools from 0, or all"
            )
        for what in self.scrambled:
            if what not in SCRAMBLINGS:
                raise UnknownNameError("augmentation", what, _known())
        order = tuple(what for what in SCRAMBLINGS if what in self.scrambled)
        object.__setattr__(self, "scrambled", order)

    @property
    def name(self) -> str:
        """What the tag `augmentation` says, such as `3_distraction_tools_tool_name_scrambled`."""
        return "_".join([*self._offered(), *(SCRAMBLINGS[what] for what in self.scrambled)])

    def _offered(self) -> list[str]:
        if self.distraction is None:
            return [] if self.scrambled else [UNCHANGED]
        if self.distraction == "all":
            return ["all_tools"]
        return [f"{self.distraction or 'no'}_distraction_tools"]


TOOLSANDBOX = (
    *(Augmentation(number) for number in (0, 3, 10)),
    Augmentation("all"),
    *(Augmentation(3, (what,)) for what in SCRAMBLINGS),
)
"""The eight variants of each base scenario (ToolSandbox, section 3.3)."""


def parse_augmentations(texts: Iterable[str]) -> tuple[Augmentation, ...]:
    """Return the augmentations that a user names, each once.

    Args:
        texts: Each one augmentation: `distraction=N` or `distraction=all`, and what is scrambled
            (`SCRAMBLINGS`), joined by commas; or `toolsandbox`, which are eight.

    Raises:
        UnknownNameError: No such augmentation; names the closest.
        UsageError: No text, or a number of tools that cannot be.
    """
    found: list[Augmentation] = []
    for text in texts:
        found += TOOLSANDBOX if text.strip() == _PRESET else [_parsed(text)]
    if not found:
        raise UsageError(f"name at least one augmentation: {', '.join(_known())}")
    return tuple(dict.fromkeys(found))


def _parsed(text: str) -> Augmentation:
    distraction: int | Literal["all"] | None = None
    scrambled = []
    for part in text.split(","):
        key, equals, value = part.strip().partition("=")
        if key == _DISTRACTION:
            distraction = _number(value.strip(), text)
        elif equals or key not in SCRAMBLINGS:
            raise UnknownNameError("augmentation", part.strip(), _known())
        else:
            scrambled.append(key)
    return Augmentation(distraction, tuple(scrambled))


def _number(value: str, text: str) -> int | Literal["all"]:
    if value == "all":
        return "all"
    try:
        return int(value)
    except ValueError as error:
        raise UsageError(
            f"{text!r}: expected {_DISTRACTION}=N with a number of tools, such as "
            f"{_DISTRACTION}=3, or {_DISTRACTION}=all"
        ) from error


def _known() -> list[str]:
    return [f"{_DISTRACTION}=N", f"{_DISTRACTION}=all", *SCRAMBLINGS, _PRESET]

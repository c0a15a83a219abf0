"""A string that a simple regular expression accepts."""

from __future__ import annotations

import string
from collections.abc import Callable

_SETS = {
    "d": string.digits,
    "w": string.ascii_lowercase + string.digits,
    "s": " ",
    "D": string.ascii_lowercase,
    "W": "-",
    "S": string.ascii_lowercase + string.digits,
}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}
_REPEATS = {"*": (0, 3), "+": (1, 3), "?": (0, 1)}
_MOST = 1000
"""Characters of an expression, of a string, and repeats: more is refused."""


def string_of(pattern: str, draw: Callable[[int], int]) -> str:
    """Return a string that the expression finds itself in.

    Literals, classes, groups, alternatives and repeats are understood; anchors are passed over.

    Args:
        pattern: A regular expression.
        draw: Takes n, gives an integer in [0, n).

    Raises:
        ValueError: The expression has something else in it: a look-around, a back-reference.
    """
    if len(pattern) > _MOST // 2:
        raise ValueError(f"an expression of {len(pattern)} characters")
    sampler = _Sampler(pattern, draw)
    text = sampler.alternatives()
    if sampler.rest():
        raise ValueError(f"{pattern!r}: unexpected {sampler.rest()!r}")
    return text


class _Sampler:
    """Recursive descent over the expression; each rule returns the text that it chose."""

    def __init__(self, pattern: str, draw: Callable[[int], int]) -> None:
        self._pattern = pattern
        self._at = 0
        self._size = 0
        self._draw = draw

    def rest(self) -> str:
        return self._pattern[self._at :]

    def alternatives(self) -> str:
        choices = [self._sequence()]
        while self._skip("|"):
            choices.append(self._sequence())
        return choices[self._draw(len(choices))]

    def _sequence(self) -> str:
        parts = []
        while self.rest() and self.rest()[0] not in "|)":
            start = self._at
            piece = self._atom()
            end = self._at
            low, high = self._repeat()
            after = self._at
            for _ in range(low + self._draw(high - low + 1)):
                self._at = start
                piece = self._atom()
                if self._at != end:
                    raise ValueError(f"{self._pattern!r}: cannot be read twice")
                parts.append(piece)
                self._size += 1 + len(piece)
                if self._size > 10 * _MOST:
                    raise ValueError(f"{self._pattern!r} gives too long a string")
            self._at = after
        return "".join(parts)

    def _atom(self) -> str:
        character = self._take()
        if character in "^$":
            return ""
        if character == "(":
            return self._group()
        if character == "[":
            return self._one_of(self._class())
        if character == "\\":
            return self._one_of(self._escape())
        return self._one_of(string.ascii_lowercase) if character == "." else character

    def _group(self) -> str:
        if self._skip("?") and not self._skip(":"):
            raise ValueError(f"{self._pattern!r}: only plain groups are understood")
        text = self.alternatives()
        if not self._skip(")"):
            raise ValueError(f"{self._pattern!r}: a group is not closed")
        return text

    def _class(self) -> str:
        negated = self._skip("^")
        members = "]" if self._skip("]") else ""
        while not self._skip("]"):
            first = self._take()
            if first == "\\":
                members += self._escape()
            elif self.rest()[:1] == "-" and self.rest()[1:2] not in ("]", ""):
                self._take()
                members += "".join(map(chr, range(ord(first), ord(self._take()) + 1)))
            else:
                members += first
        if not negated:
            return members
        return "".join(c for c in string.ascii_letters + string.digits if c not in members)

    def _escape(self) -> str:
        character = self._take()
        if character in "bB":
            return ""
        if character in _SETS:
            return _SETS[character]
        if character.isalnum() and character not in _CONTROLS:
            raise ValueError(f"{self._pattern!r}: \\{character} is not understood")
        return _CONTROLS.get(character, character)

    def _repeat(self) -> tuple[int, int]:
        low, high = 1, 1
        if self.rest()[:1] in _REPEATS:
            low, high = _REPEATS[self._take()]
        elif self.rest()[:1] == "{":
            low, high = self._counts()
        else:
            return low, high
        self._skip("?")
        if not low <= high <= _MOST:
            raise ValueError(f"{self._pattern!r}: repeats {low} to {high} times")
        return low, high

    def _counts(self) -> tuple[int, int]:
        inside, closed, _ = self.rest()[1:].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not low.isdecimal() or (high and not high.isdecimal()):
            raise ValueError(f"{self._pattern!r}: {{{inside}}} is no repeat")
        self._at += len(inside) + 2
        least = int(low)
        return least, int(high) if high else least + 3 * bool(comma)

    def _one_of(self, characters: str) -> str:
        return characters[self._draw(len(characters))] if characters else ""

    def _skip(self, token: str) -> bool:
        found = self.rest().startswith(token)
        self._at += len(token) * found
        return found

    def _take(self) -> str:
        if not self.rest():
            raise ValueError(f"{self._pattern!r} ends too early")
        self._at += 1
        return self._pattern[self._at - 1]

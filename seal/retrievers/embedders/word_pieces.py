"""Texts as the word pieces of BERT, which an uncased model reads.

Source: Devlin et al. (2019), BERT; Wu et al. (2016), section 4.1. The details are those of the
library `tokenizers`, so that equal texts have equal numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

_LONGEST = 100
"""Characters of a word; a longer one is unknown."""
_IDEOGRAPHS = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
"""Of ASCII; `$` and `+`, which are symbols in Unicode, are among it."""
_MARKS = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")


class _Characters(dict[int, str]):
    """What takes the place of each character: lower case, no accents, marks as words."""

    def __missing__(self, code: int) -> str:
        self[code] = found = "".join(_replaced(chr(code)))
        return found


def _replaced(character: str) -> Iterator[str]:
    is_control = unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"}
    if character.isspace() and (not is_control or character in "\t\n\r"):
        yield " "
    elif is_control or character == "\ufffd":
        return
    elif _IDEOGRAPHS.match(character):
        yield f" {unicodedata.normalize('NFD', character)} "
    else:
        for part in unicodedata.normalize("NFD", character):
            is_mark = part.isascii() and _PUNCTUATION.match(part)
            if is_mark or unicodedata.category(part)[0] == "P":
                yield f" {part} "
            elif unicodedata.category(part) != "Mn":
                yield part.lower()


class WordPieces:
    """Splits texts into the longest pieces that a vocabulary has.

    Args:
        vocabulary: The pieces in the order of their numbers; one within a word begins with `##`.
        longest: Pieces of a text that count, at least 2: the marks of its begin and end.
    """

    def __init__(self, vocabulary: Sequence[str], longest: int) -> None:
        self._number = {piece: number for number, piece in enumerate(vocabulary)}
        self._longest = longest
        self._characters = _Characters()
        self._word = lru_cache(maxsize=1 << 16)(self._pieces)

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, between those of [CLS] and [SEP]."""
        found = [self._number["[CLS]"]]
        for part in _MARKS.split(text):
            if part in self._number and _MARKS.fullmatch(part):
                found.append(self._number[part])
                continue
            for word in part.translate(self._characters).split():
                found += self._word(word)
                if len(found) >= self._longest:
                    break
        return [*found[: self._longest - 1], self._number["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        unknown = [self._number["[UNK]"]]
        if len(word) > _LONGEST:
            return unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._number.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return unknown
            found.append(number)
            start = end
        return found

"""ROUGE-L: how much of two texts is a common subsequence of stems.

Source: Lin, ROUGE: a package for automatic evaluation of summaries (2004), section 3, with the
tokens of Google's `rouge_score`: runs of a-z and 0-9 in lower case, those of more than three
characters stemmed. Stems are those of Porter's algorithm, in the variant that ROUGE's scorer uses:
M. F. Porter, An algorithm for suffix stripping, Program 14 (1980), with the departures of NLTK's
default mode: a few irregular words, `ies` and `ied` of short words, `y` after a consonant alone,
`bli`, `fulli` and `logi`, and words of two letters that count as consonant-vowel-consonant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

_TOKEN = re.compile(r"[a-z0-9]+")
_STEMMED_FROM = 4
"""Characters of the shortest token that is stemmed."""


def rouge_l(target: str, text: str) -> float:
    """Return the F-measure of the longest common subsequence, in [0, 1].

    Args:
        target: What should be said.
        text: What was said. Where either text has no token, as in Chinese ones, 0.
    """
    return overlap(tokens(target), tokens(text))


def overlap(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return the F-measure of the longest common subsequence of tokens, in [0, 1]; none: 0."""
    common = _common(wanted, said)
    if not common:
        return 0.0
    recall, precision = common / len(wanted), common / len(said)
    return 2 * precision * recall / (precision + recall)


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Return the stems of a text in order."""
    found = _TOKEN.findall(text.lower())
    return tuple(stem(token) if len(token) >= _STEMMED_FROM else token for token in found)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    The columns of the usual table are bits of one number, in which 0 says that the length grows.
    Source: Hyyrö, Bit-parallel LCS-length computation revisited (2004), equation 6.
    """
    places: dict[str, int] = {}
    for place, token in enumerate(left):
        places[token] = places.get(token, 0) | 1 << place
    whole = (1 << len(left)) - 1
    column = whole
    for token in right:
        here = column & places.get(token, 0)
        column = (column + here | column - here) & whole
    return len(left) - column.bit_count()


_IRREGULAR = {
    **{w: w for w in ("sky", "news", "inning", "outing", "canning", "howe")},
    **{w: w for w in ("proceed", "exceed", "succeed")},
    **{f"{w}s": w for w in ("inning", "outing", "canning")},
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
}
_DERIVED = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("fulli", "ful"),
)  # fmt: skip
_SHORTENED = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_DROPPED = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of a word in lower case; words of one or two letters are their own."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and _consonants(word[:-1])[-1]:
        word = word[:-1] + "i"
    word = _without_e(_dropped(_replaced(_derived(word), _SHORTENED)))
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _consonants(word: str) -> list[bool]:
    """Tell of each letter whether it is a consonant: digits are, `y` is unless after one."""
    found: list[bool] = []
    for position, letter in enumerate(word):
        if letter == "y":
            found.append(position == 0 or not found[-1])
        else:
            found.append(letter not in "aeiou")
    return found


def _measure(word: str) -> int:
    """Return how often a vowel is followed by a consonant."""
    found = _consonants(word)
    return sum(not before and after for before, after in pairwise(found))


def _ends_short(word: str) -> bool:
    """Tell whether the word ends in consonant, vowel, consonant other than w, x, y.

    A word of two letters does where it is a vowel and a consonant.
    """
    found = _consonants(word)
    if len(word) == 2:
        return found == [False, True]
    return len(word) > 2 and found[-3:] == [True, False, True] and word[-1] not in "wxy"


def _replaced(word: str, rules: Iterable[tuple[str, str]], least: int = 1) -> str:
    """Apply the first rule whose suffix the word has, if what is left has this measure."""
    for suffix, other in rules:
        if word.endswith(suffix):
            left = word[: len(word) - len(suffix)]
            return left + other if _measure(left) >= least else word
    return word


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    return _replaced(word, (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")), least=0)


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        left = word[: -len(suffix)]
        if word.endswith(suffix) and not all(_consonants(left)):
            return _mended(left)
    return word


def _mended(left: str) -> str:
    """Give what is left of a past or progressive form its ending back."""
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if len(left) >= 2 and left[-1] == left[-2] and _consonants(left)[-1]:
        return left if left[-1] in "lsz" else left[:-1]
    return left + "e" if _measure(left) == 1 and _ends_short(left) else left


def _derived(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _derived(word[:-2])
    shortened = _replaced(word, _DERIVED)
    if shortened == word and word.endswith("logi") and _measure(word[:-3]) > 0:
        return word[:-1]
    return shortened


def _dropped(word: str) -> str:
    suffix = next((suffix for suffix in _DROPPED if word.endswith(suffix)), "")
    left = word.removesuffix(suffix)
    fits = suffix != "ion" or left.endswith(("s", "t"))
    return left if fits and _measure(left) > 1 else word


def _without_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    measure = _measure(word[:-1])
    return word[:-1] if measure > 1 or (measure == 1 and not _ends_short(word[:-1])) else word

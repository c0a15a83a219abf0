"""Words and marks of a text, as two scorers of BLEU divide it; texts are English, in lower case.

`words`: as NLTK's `word_tokenize` after its sentence splitter. `marks`: as sacrebleu's `13a`, the
tokens of mteval. Both are ours and agree with those on the replies of the corpus, but for dots
after rare abbreviations.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PLAIN = r"[^\s;@#$%&?!*()\[\]{}<>\"«»“”‘’„`,:'\u2012-\u2015]"
_WORD = re.compile(
    rf"\.{{2,}}|--|n't(?!\w)|'(?:s|m|d|ll|re|ve)(?!\w)|{_PLAIN}+(?:(?:[,:](?=\d)|'(?!(?:s|m|d|ll|re|ve)\b)(?=\w)){_PLAIN}+)*|''|\S"
)
_NEGATED = re.compile(r"n't(?!\w)")
_JOINED = re.compile(r"\b(can)(not)\b|\b(gim|lem)(me)\b|\b(gon|wan)(na)\b|\b(got)(ta)\b")
_ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "st", "jr", "sr", "inc", "ltd", "co", "corp", "vs", "etc", "no")
)
_BROKEN = re.compile(r"(--|\.{2,})")
_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_MARK = re.compile(r"([{-~\[-` -&(-+:-@/])")
_AROUND = (
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the tokens of a text as NLTK has them: "don't" is "do", "n't"; "12:30" is one."""
    text = text.lower()
    if "n't" in text:
        text = _NEGATED.sub(" n't", text)
    text = _JOINED.sub(lambda found: " ".join(part for part in found.groups() if part), text)
    if "--" in text or ".." in text:
        text = _BROKEN.sub(r" \1 ", text)
    found = _WORD.findall(text)
    out: list[str] = []
    last = len(found) - 1
    for place, token in enumerate(found):
        dotted = len(token) > 1 and token[-1] == "." and token[-2] != "."
        if dotted and (place == last or _ends(token[:-1])):
            out += (token[:-1], ".")
        else:
            out.append(token)
    return tuple(out)


def _ends(word: str) -> bool:
    """Tell whether a dot behind a word ends a sentence, and no abbreviation."""
    return len(word) > 1 and "." not in word and word not in _ABBREVIATIONS


@lru_cache(maxsize=4096)
def marks(text: str) -> tuple[str, ...]:
    """Return the tokens of a text as `13a` has them: "don't" is one, "a.m." is four."""
    text = text.lower().replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, character in _ENTITIES.items():
            text = text.replace(entity, character)
    text = _MARK.sub(r" \1 ", f" {text} ")
    for pattern, parts in _AROUND:
        text = pattern.sub(parts, text)
    return tuple(text.split())

"""What an agent's words do to its user: ask for something, refuse, offer help, or report.

Read by rule, without a model, in English (a question also in Chinese or Japanese punctuation). The
scripted user answers by these readings, and the audit of users judges by the same ones.

1. What stands in quotation marks, or after "says:" and its like, is somebody else's word.
2. An offer of further help ("Anything else?") asks nothing.
3. A sentence asks where it ends in a question mark, or requests ("please provide", "let me know
   which", "I need the").
4. A text refuses where no sentence asks and one says that something cannot be done, failed, or that
   no tool is there for it.
5. A text announces where each sentence does ("One moment.", "Let me check.").
6. Any other text reports: the goal counts as said to be done.

The items of a list belong to the sentence that they follow on ("Please provide: 1. the time").
"""

from __future__ import annotations

import re
from typing import Literal

from seal.core.text import sentences

Reading = Literal["asks", "refuses", "announces", "reports", "nothing"]

FAILURES = 5
"""Refusals, and questions that it cannot answer, after which a user may give up."""

_QUOTED = re.compile(r"(?<!\w)'[^\n]*?'(?!\w)|\"[^\"\n]*\"|“[^”\n]*”|‘[^’\n]*’(?!\w)|「[^」\n]*」")
_TOLD = re.compile(
    r"\b((?:says?|said|saying|reads?|reading|wrote|content|message|reminder|text)\b[^.?!:\n]*:)\s.*",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:anything|something|any ?thing) (?:else|more)\b|\bwhat else\b"
    r"|\bany (?:other|further|more) (?:questions?|requests?|help|assistance|tasks?)\b"
    r"|\b(?:further|more) assistance\b"
    r"|\blet me know if\b|\bfeel free to\b|\bis there any other\b|\bhappy to help\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\bplease (?:provide|tell|specify|share|confirm|clarify|give|send me|let me know|choose|say)\b"
    r"|\b(?:could|can|would|will) you (?:please )?(?:provide|tell|specify|share|confirm|clarify)\b"
    r"|\blet me know (?:what|which|when|where|who|whom|how|whether|the|your)\b"
    r"|\bi(?:'ll|’ll| will| would|'d|’d)? need (?:the|your|an?|to know|more|some|you to)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:can(?:no|')t|can’t|can not|could ?n(?:o|'|’)t|could not|am not able|is not able"
    r"|are not able|not possible|isn(?:'|’)t possible|impossible|unable|unsuccessful"
    r"|failed|(?:has|have|had) an error|an error|went wrong|not allowed|not permitted"
    r"|none of the tools|no tools?|no way to)\b"
    r"|\bdo(?:es)?(?: not|n['’]t) have (?:any |a |an |the |access|permission)"
    r"(?:tools?|way|ability|access|permission|function|means)?",
    re.IGNORECASE,
)


_COURTESY = (
    r"(?:(?:ok|okay|sure|sure thing|alright|all right|great|of course|certainly|absolutely|got it"
    r"|no problem|thanks|thank you)\b[,.!: –—-]*)*"
)
_ANNOUNCEMENT = re.compile(
    rf"^{_COURTESY}(?:please )?(?:(?:just )?(?:one|a|give me a|wait a) (?:moment|second|sec|minute)"
    r"|hold on|hang on|bear with me|please wait|still working|working on (?:it|that|this)"
    r"|let me (?:check|see|look|find|search|try|get|do|take a look|take care)"
    r"|i(?:'m| am) (?:now |still |just )?(?:checking|looking|searching|working|trying|setting"
    r"|sending|adding|getting|on it)"
    r"|i(?:'ll| will) (?:now |just |first )?(?:check|look|search|try|get back|be right back))\b",
    re.IGNORECASE,
)
_LIST = re.compile(r":[ ]*(?:\n\s*(?:\(?\d{1,2}[.):]|[-*•–])[ ][^\n]*)+")
_ITEM = re.compile(r"(?:^|(?<=\s))(?:\(?\d{1,2}[.):]|[-*•–])(?=\s)\s*")


def asking(text: str) -> list[str]:
    """Return the sentences of a text that ask the user for something, in order."""
    return [sentence for sentence in own_sentences(text) if _asks(sentence)]


def reading(text: str) -> Reading:
    """Return what an agent's text does; of several things, the first of the order above."""
    own = own_sentences(text)
    if not text.strip():
        return "nothing"
    if any(map(_asks, own)):
        return "asks"
    if any(map(_REFUSAL.search, own)):
        return "refuses"
    said = [s for s in own if not offers_help(s) and not _is_courtesy(s)]
    return "announces" if said and all(map(_announces, said)) else "reports"


def offers_help(sentence: str) -> bool:
    """Tell whether a sentence offers further help."""
    return _OFFER.search(sentence) is not None


def own_sentences(text: str) -> list[str]:
    """Return the sentences of a text without what it quotes, in order."""
    unquoted = "\n".join(_TOLD.sub(r"\1", line) for line in _QUOTED.sub("''", text).splitlines())
    joined = _LIST.sub(lambda items: items[0].replace("\n", " "), unquoted)
    return sentences(_ITEM.sub("", joined))


def _is_courtesy(sentence: str) -> bool:
    return re.fullmatch(_COURTESY, sentence, re.IGNORECASE) is not None


def _announces(sentence: str) -> bool:
    return _ANNOUNCEMENT.match(sentence.replace("’", "'")) is not None


def _asks(sentence: str) -> bool:
    if offers_help(sentence):
        return False
    return sentence.rstrip(" )'*_").endswith(("?", "？")) or bool(_REQUEST.search(sentence))


_NOT = r"(?:can't|cannot|can not|couldn't|could not|won't|unable to|not able to|don't|do not)"
_TOOLS = r"(?:tools?|functions?|apis?|means|way|access|data)"
_CANNOT = re.compile(
    rf"\b(?:i|we)(?:'m| am| are)? (?:\w+ )?{_NOT}\b"
    r"|\b(?:i|we) have (?:no|neither)\b"
    rf"|\b(?:none of|neither of|no) (?:[\w']+ )*{_TOOLS}\b"
    rf"|\b{_TOOLS} (?:[\w']+ )*{_NOT}\b"
    r"|\bcannot be (?:done|searched|looked up|answered|booked|ordered)\b"
    r"|\bnothing (?:here|at hand|that (?:i|we)|(?:i|we))\b"
    r"|\b(?:no|nothing) (?:[\w']+ )?(?:says|tells|records|states|covers)\b"
    r"|\b(?:not|isn't|aren't) (?:possible|supported|available to me|something (?:that )?i can)\b"
    r"|\b(?:beyond|outside)(?: of)? (?:what|the scope|my)\b"
)
_SEARCHED = re.compile(
    r"\b(?:found|find|match(?:es|ed)?|results?|returned)\b"
    r"|\b(?:don't|do not) (?:know|think|remember|recommend|mind|need|worry)\b"
)
"""A search may truly find nothing, and an opinion may be denied: these refuse nothing."""
_CLAUSE = re.compile(r"[,;:]\s|\s(?:but|so|because|and)\s")


def says_cannot(answer: str) -> bool:
    """Tell whether a clause of an answer says that it cannot be done."""
    for sentence in sentences(answer.replace("\u2019", "'")):
        words = " ".join(sentence.casefold().split())
        if not words.endswith("?") and any(map(_refuses, _CLAUSE.split(words))):
            return True
    return False


def _refuses(clause: str) -> bool:
    return bool(_CANNOT.search(clause)) and not _SEARCHED.search(clause)

"""Whether a user's answer agrees to what was asked. Decided by rule, without a model.

A text affirms where one of its clauses begins with an English word of assent ("yes", "go ahead"),
and nothing in it takes that back: no reservation or condition ("but", "if", "no"), and no question.
A sign such as a thumb up is an "ok". When in doubt, nothing was affirmed.
`seal.core.confirmation` decides whether an answer allows exactly what was asked.
"""

from __future__ import annotations

import re

_ASSENT = (
    "ok|okay|okey|okej"
    "|yes|yeah|yep|yup|yea|y$|aye|sure|sure thing|certainly|absolutely|definitely|of course"
    "|go ahead|go for it|(?:send|save|remove|delete|cancel|set|add|do) (?:it|that|them|so)"
    "|do$|proceed|correct"
    "|right|exactly|confirmed|i confirm|confirm|agreed|i agree|fine|perfect|alright|all right"
    "|sounds (?:good|great|right|fine)|looks (?:good|great|right|fine|correct)"
    "|(?:that|this|it)(?: is|'s) (?:right|correct|fine|ok|okay|good|perfect)"
    "|(?:that|this|it) works|you may|you can|why not|no problem"
)
_DOUBT = (
    "but|except|however|instead|rather|not|no|nope|nah|never|cannot|can't|don't|won't|isn't"
    "|doesn't|wait|stop|hold on|cancel|change|unless|if|maybe|perhaps|later|actually|first"
)
_OFF = "wait|stop|hold on|cancel|don't|do not|never ?mind|forget it|instead|actually"
"""What calls a thing off that was affirmed before."""
_YES_SIGNS = re.compile("[\U0001f44d\U0001f44c\u2705\u2714\u2611\U0001f197\U0001f4af]")
_NO_SIGNS = re.compile("[\U0001f44e\u274c\u274e\u26d4\U0001f6ab\U0001f6d1\u270b]")
_LOOKS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""What gives the sign before it a colour."""
_HARMLESS = re.compile(r"\b(?:no problem|no worries|why not)\b")
"""Words of assent that look like doubt."""
_BEGINS = re.compile(rf"(?:{_ASSENT})(?!\w)")
_CLAUSE = re.compile(r"[.!,;:…。！，、；：–—]+")
_POLITE = re.compile(r"^(?:(?:please|thanks|thank you|great|good|oh|ah|well|hi|um)\b[ ]*)+")


def affirms(text: str) -> bool:
    """Tell whether an answer allows what was asked, wholly and at once.

    >>> [affirms(text) for text in ("Yes, go ahead.", "Yes, but to Bo", "Is it safe? ok")]
    [True, False, False]
    """
    said = plain(text)
    if "?" in said or "？" in said or _NO_SIGNS.search(said):
        return False
    begins = any(_BEGINS.match(_POLITE.sub("", clause)) for clause in clauses(said))
    return begins and not holds(_HARMLESS.sub("", said), _DOUBT)


def calls_off(text: str) -> bool:
    """Tell whether a text takes back what was allowed before."""
    said = plain(text)
    return holds(said, _OFF) or _NO_SIGNS.search(said) is not None


def plain(text: str) -> str:
    """Return a text in small letters with single blanks; a sign of assent is an ok of its own."""
    said = _YES_SIGNS.sub(", ok, ", _LOOKS.sub("", text))
    return " ".join(said.casefold().replace("\u2019", "'").split())


def holds(said: str, phrases: str) -> bool:
    """Tell whether a plain text has one of some phrases, alternatives of a regex."""
    return re.search(rf"(?<!\w)(?:{phrases})(?!\w)", said) is not None


def clauses(said: str) -> list[str]:
    """Return the clauses of a text, which end at any stop or comma, without empty ones."""
    return [part for clause in _CLAUSE.split(said) if (part := clause.strip())]

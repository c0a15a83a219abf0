"""What an assistant does next, by the last words of user and assistant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seal.benchmarks.dialogtool.tool_life import write_act
from seal.core.protocols import Completion, Message


def _said(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_YES = _said(
    r"^\W*(?:yes|yeah|yep|yup|sure|correct|right|exactly|of course|please do|go ahead|ok|okay)\b",
    r"\b(?:that'?s|that is|it'?s|is|looks|sounds|all) (?:perfectly )?"
    r"(?:correct|right|good|great|fine|perfect|accurate)\b",
    r"\b(?:go ahead|that works|works for me|proceed|perfect|sounds good|got it right)\b",
)
_NO = _said(
    r"^\W*(?:no|nope|nah|not|never ?mind|hold)\b",
    r"\b(?:actually|instead|maybe later|not (?:now|yet|really|at the moment))\b",
    r"\b(?:hold (?:on|off)|don'?t)\b",
    r"\bchange\b",
)
_DONE = _said(
    r"\b(?:bye|good ?bye)\b",
    r"\bthat'?(?:s| is| was| will be|'?ll be|ll be) (?:all|it|everything)\b",
    r"\b(?:nothing|no) (?:else|more)\b",
    r"\ball i (?:need|want)",
    r"\bnothing\b|\bi'?m (?:all )?(?:set|good|done)\b|\bthat'?s about it\b|\bthat (?:is|was) all\b",
)
_OTHERS = _said(
    r"\b(?:any ?(?:thing|body|one|where)?|some ?(?:thing|one)|what|where|who) else\b",
    r"\b(?:another|any others?|any more|others?|different|alternatives?|next one|more options)\b",
)
_WISH = _said(
    r"\bi(?:'d| would) (?:like|love|want)|\bi (?:want|need|wish)",
    r"\bi'?m (?:looking|trying|planning)",
    r"\b(?:find|search|book|reserve|buy|get|look|looking|check|schedule|make|play|rent|show|give|"
    r"help|transfer|request|send|watch|add|set) "
    r"(?:me|up|out|for|a|an|some|the|any|it|one|another)\b",
    r"\b(?:can|could|would|will) you\b",
)
_ASKING = _said(
    r"\?",
    r"^\W*(?:and )?(?:what|where|when|which|who|how|is|are|does|do|did|may|can|tell me)\b",
)
_THANKS = _said(
    r"\bthank", r"\bthanks\b", r"\bappreciate", r"\bcool\b", r"^\W*(?:ok|okay|alright)\W*$"
)
_LIKED = _said(
    r"\b(?:good|great|perfect|nice|awesome|fine|like|love|works|wonderful|excellent|ideal|sweet)\b"
)
_CONFIRMING = _said(
    r"\bconfirm|\bshall i go ahead\b",
    r"\b(?:correct|right|okay|ok|is that so)\W*$",
    r"\b(?:is (?:that|this|it|everything) (?:all )?(?:correct|right|ok|okay|alright|fine))\b",
    r"\bdo i understand\b",
)
_MORE = _said(
    r"\b(?:anything|something|what|some thing|any thing) (?:else|more|further)\b",
    r"\b(?:further|any (?:more|other)|more) (?:help|assistance|requests?|questions?)\b",
    r"\b(?:help|assist|do for) (?:you )?(?:with )?(?:any|some|in any)",
)
_PROPOSING = _said(
    r"\b(?:would you like|do you want|do you wish|shall i|should i|may i|want me)\b"
    r"(?=.*\b(?:book|buy|reserve|reservation|purchase|schedule|make|get|play|watch|rent|tickets?|"
    r"appointment|secure|proceed|go ahead|hire|visit)\b)"
)
_MADE = _said(
    r"\b(?:booked|reserved|confirmed|purchased|bought|successful|successfully|on (?:its|the) way|"
    r"has been|have been|all set|done|was made|is made|is set|is playing|started|sent)\b"
)


def be_aware(messages: Sequence[Message]) -> Completion:
    """Return the action that the words speak for; uses no tokens."""
    act, why = next_act(messages)
    return Completion(write_act(act, why))


def tells_wish(text: str) -> bool:
    """Tell whether words of the user say that something is wanted."""
    return _WISH.search(text) is not None


def next_act(messages: Sequence[Message]) -> tuple[str, str]:
    """Return an action and why it is taken.

    Args:
        messages: The dialogue; the user spoke last.
    """
    said = next((m.content for m in reversed(messages) if m.role == "user"), "")
    words = (m.content for m in reversed(messages) if m.role == "assistant" and m.content)
    before = next(words, "")
    asked = before.rstrip().endswith("?")
    if not before:
        return "request", "the user begins with a wish"
    if _CONFIRMING.search(before) and not _MORE.search(before):
        if _NO.search(said) or not _YES.search(said):
            return "confirm", "the user changed what is to be confirmed"
        return "notify_success", "the user confirmed"
    if _DONE.search(said):
        return "goodbye", "the user is done"
    if _MORE.search(before) and (_NO.search(said) or _THANKS.search(said)):
        return "goodbye", "the user needs nothing else"
    if _PROPOSING.search(before) and not _WISH.search(said):
        if _NO.search(said):
            return "req_more", "the user declined"
        return ("request", "the user agreed") if _YES.search(said) else ("confirm", "values came")
    if not asked or _LIKED.search(said) or _OTHERS.search(said):
        return _after_offer(said, before)
    if _ASKING.search(said) and not _WISH.search(said):
        return "inform", "the user asks about what was found"
    return "offer", "the user gave what was asked for"


def _after_offer(said: str, before: str) -> tuple[str, str]:
    """Return what follows a statement, or a suggestion."""
    if _OTHERS.search(said) and not re.search(r"\b(?:also|another thing)\b", said, re.IGNORECASE):
        return "offer_alts", "the user wants to see another one"
    if _WISH.search(said) and not re.search(r"\b(?:tell|know)\b", said, re.IGNORECASE):
        return "request", "the user has a wish"
    if _ASKING.search(said):
        return "inform", "the user asks about what was found"
    if _MADE.search(before) or _THANKS.search(said):
        return "req_more", "the user was served"
    if _LIKED.search(said):
        return "offer_intent", "the user likes what was found"
    return "offer", "the user told more"

"""Whether an agent abstains where no tool serves the request, or acts and answers all the same.

A goal is abstained from where both hold:

- no_call: the agent made no API call, valid or rejected. Whoever asks a tool for what none of them
  offers has not seen that it is missing, even where the rules stop the call. Tools of the chat
  itself, such as the search for tools, are no API.
- says_cannot: a clause of the final answer says that it cannot be done: that the speaker cannot
  or has no tool for it, that no tool fits, that it is beyond what the tools offer. An empty answer,
  a question, a statement without such a clause and "I found nothing" say nothing of the kind.
  English only, by rule.

So an agent that answers from its own memory without a call pretends, and has not abstained; nor has
one that says it cannot and calls before that.

All three are 1.0 or 0.0 for every goal. Of goals that no tool serves more is better; of answerable
ones it is the share of needless refusals, and less is better.

Source: Kokane et al., ToolScan (2024), the condition of irrelevant queries, which scores them by
its patterns alone.
"""

from __future__ import annotations

import re

from seal.core.text import sentences
from seal.evaluation.goals import GoalChat, GoalMetric, Value

NAMES = ("abstained", "no_call", "says_cannot")

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


class Abstention(GoalMetric):
    """The three shares of the module's text; `NAMES`."""

    names = NAMES

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        calls = len(goal.made)
        silent, said = not calls, says_cannot(goal.answer or "")
        return {
            "abstained": Value(float(silent and said)),
            "no_call": Value(float(silent), details={"calls": calls}),
            "says_cannot": Value(float(said)),
        }


def says_cannot(answer: str) -> bool:
    """Tell whether a clause of an answer says that it cannot be done."""
    for sentence in sentences(answer.replace("\u2019", "'")):
        words = " ".join(sentence.casefold().split())
        if not words.endswith("?") and any(map(_refuses, _CLAUSE.split(words))):
            return True
    return False


def _refuses(clause: str) -> bool:
    return bool(_CANNOT.search(clause)) and not _SEARCHED.search(clause)

"""What the scripted user answers.

Its rules read each text of the agent (`seal.core.speech`), and the first that fits decides:

1. The agent asks about facts of the brief (`Fact.asked_in`): their values, and nothing else.
2. It asks whether it may do something, settings included: "Yes, go ahead."
3. It asks in general what is wanted: the brief's goal in full, once, where it has one.
4. It asks anything else: "I don't know."
5. It refuses, or says nothing: "Please try again."
6. It announces that it will do something: "OK, please go on."
7. It reports: the goal is done. The next request of the brief's `then`, or the end.

A brief that has `replies` says word by word what the user answers: to each text of the agent, be it
a question or not, the next of them; after the last one the goal is done.

Rules 4 to 6, and rule 1 where every fact had been told before, count as a failure; at the fifth
about one request the user ends the conversation. Rules 4 to 6 have other words each time, for an
agent that answers equal words equally would be stopped before (`Limits.repeats`). Equal chats get
equal answers; nothing is drawn and nothing is kept between replies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from seal.agents.personas import facts_of, replies_of, requests_of
from seal.core import JSON
from seal.core.speech import FAILURES, asking, reading

UNKNOWN = (
    "I don't know.",
    "I don't have that information.",
    "No idea, sorry.",
    "I really don't know.",
)
"""What is said to questions that the brief does not answer, in order of the failures."""
ALLOWED = "Yes, go ahead."
RETRIES = (
    "Please try again.",
    "That didn't work, try it another way.",
    "Try once more, please.",
    "One last try, please.",
)
"""What is said to the failures before the last, in order."""
WAITING = ("OK, please go on.", "Please go on.", "Yes, go on.", "OK, go on.")
"""What is said to announcements, in order of the failures."""

_MAY = r"(?:may|shall|should|can|could|must) (?:i|we)\b"
_PERMISSION = re.compile(
    rf"^(?!.*\b(?:what|which|who|whom|where|when|how|why)(?: \w+){{0,3}} {_MAY}).*\b{_MAY}"
    r"|\b(?:do|would) you (?:want|like|prefer|mind|wish) (?:me|us|it if|if)\b"
    r"|\b(?:is|would) (?:it|that|this) (?:be )?(?:ok|okay|fine|all ?right|correct|right)\b"
    r"|\b(?:ok|okay|right|correct|proceed|go ahead|confirm)\b[^.?!]*\?",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\bwhat (?:exactly )?(?:do you|would you|should i|you'd|can i|is it)\b"
    r"|\bhow (?:can|may) i (?:help|assist)\b"
    r"|\b(?:more|further|additional) (?:details?|information|specific)\b|\ba bit more\b"
    r"|\bmore about\b|\btell me more\b|\bwhat .*\b(?:need|want|mean|looking for)\b",
    re.IGNORECASE,
)


def scripted_answer(
    persona: Mapping[str, JSON], request: str, texts: Sequence[str], answered: int, goal: int = 0
) -> str | None:
    """Return what the user says to the last of the agent's texts; None: it ends the conversation.

    Args:
        persona: The brief.
        request: What the user said first.
        texts: Of the agent to the user about the goal, in order.
        answered: How often the user has answered before.
        goal: Position of the goal.
    """
    replies = replies_of(persona, goal)
    if replies is not None:
        return replies[answered] if answered < len(replies) else None
    script = _Script(persona, request)
    answer: str | None = None
    for text in texts:
        answer = script.answer(text)
    return answer


@dataclass(slots=True)
class _Script:
    """What the user has told so far, text by text.

    Args:
        persona: The brief.
        request: What the user said first.
    """

    persona: Mapping[str, JSON]
    request: str
    told: set[str] = field(default_factory=set)
    """Slots."""
    failures: int = 0
    requests: int = 0
    """How many of the further requests were made."""

    def answer(self, text: str) -> str | None:
        """Return what the user says to a text of the agent; None: it ends the conversation."""
        kind = reading(text)
        if kind == "reports":
            return self._next_request()
        if kind == "asks":
            return self._answer_questions(asking(text))
        return self._failed(WAITING if kind == "announces" else RETRIES)

    def _failed(self, words: Sequence[str]) -> str | None:
        """Count a failure and return what the user says to it; None: it gives up."""
        self.failures += 1
        return None if self.failures >= FAILURES else words[self.failures - 1]

    def _answer_questions(self, questions: Sequence[str]) -> str | None:
        question = " ".join(questions)
        known = [fact for fact in facts_of(self.persona) if fact.asked_in(question)]
        if known:
            slots = {fact.slot for fact in known}
            self.failures += slots <= self.told
            self.told |= slots
            answer = known[0].value
            if len(known) > 1:
                answer = "; ".join(f"{fact.slot}: {fact.value}" for fact in known)
            return None if self.failures >= FAILURES else answer
        if any(map(_PERMISSION.search, questions)):
            return ALLOWED
        goal = self.persona.get("goal")
        if _GENERAL.search(question) and isinstance(goal, str) and "goal" not in self.told:
            self.told.add("goal")
            if goal.strip() and goal != self.request:
                return goal
        return self._failed(UNKNOWN)

    def _next_request(self) -> str | None:
        following = requests_of(self.persona)
        if self.requests >= len(following):
            return None
        self.requests += 1
        self.failures = 0
        return following[self.requests - 1]

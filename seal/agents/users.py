"""What a simulated user knows, and what the scripted one answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seal.agents.replies import END, leave
from seal.agents.roles import OF_USER, first_words, in_words_of_others, messages
from seal.agents.teams import EXECUTOR
from seal.core import (
    JSON,
    PARTS,
    Chat,
    Completion,
    DataError,
    Message,
    ModelError,
    Reply,
    Step,
    Tool,
    shortened,
)
from seal.core.acts import FAILURES, acts
from seal.core.text import words
from seal.core.values import json_text

# -- What the user knows: the parts of a persona, and the facts among them.
#
# A persona is a map; every part is optional:
#
# - `goal`: what the user wants in the end, in full. Missing: the request itself.
# - `opening`: what the user says first instead of the request; true: its model writes that.
# - `boundary`: what the user knows besides, and what not, in words.
# - `facts`: {slot: value} or {slot: {"value": value, "ask": [words that ask for it]}}; authored
#   scenarios are refused where a fact could not be said (`check_facts`).
# - `then`: requests that the user makes one by one, each after the one before is said to be done.
# - `replies`: for each goal what the user answers to the agent's texts, one after the other.
# - `demonstration`: example messages {"role": "goal" | "user" | "assistant" | "end", "content":
#   text}; `goal` opens a dialogue by what its user wanted, `end` closes one.
# - `verbatim`: {"instruction": text, "end": text}, where the model that plays the user is told all
#   this in its authors' words: the instruction in the place of our prompt, goal and boundary right
#   behind it, the demonstration as turns, and what its tool `end_conversation` does.
# - `tools`: ids of tools of the pool that the user calls by itself; no agent is offered them.
#
# Any further entry counts as a fact: its name is the slot. A task refuses a name that is almost one
# of a part (`seal.core.types`).

_FACT = 'expected a value, or {"value": value, "ask": [words that ask for it]}'


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that the user knows."""

    slot: str
    value: str
    """In words."""
    ask: tuple[str, ...] = field(default=())
    """Words that ask for it, besides the slot's name."""

    def asked_in(self, text: str) -> bool:
        """Tell whether a question is about this fact.

        It is where it has one of the asking words as whole words, or all words of the slot's name,
        a plural `s` aside.
        """
        if any(_holds(text, phrase) for phrase in self.ask):
            return True
        said = {word.removesuffix("s") for word in words(text)}
        named = {word.removesuffix("s") for word in words(self.slot)}
        return bool(named) and named <= said


def facts_of(persona: Mapping[str, JSON]) -> list[Fact]:
    """Return the facts of a persona in its order; entries without a value are left out."""
    given = persona.get("facts")
    entries = dict(given) if isinstance(given, Mapping) else {}
    entries |= {name: value for name, value in persona.items() if name not in PARTS}
    found = [_fact(slot, value) for slot, value in entries.items()]
    return [fact for fact in found if fact.value.strip()]


def check_facts(persona: Mapping[str, JSON]) -> None:
    """Make sure that the user can say each of `facts` in words, and knows when it is asked.

    Raises:
        DataError: A fact has no value, or one that is no text, number, truth value or list of such,
            or a part that facts have not; the text names it.
    """
    given = persona.get("facts")
    for slot, entry in given.items() if isinstance(given, Mapping) else ():
        place = f"facts.{slot}"
        parts = entry if isinstance(entry, Mapping) else {"value": entry}
        if "value" not in parts or not parts.keys() <= {"value", "ask"}:
            raise DataError(f"{place}: {_FACT}; got {shortened(entry)}")
        if not _sayable(parts["value"]):
            raise DataError(
                f"{place}: expected a value to say, a text, a number, true or false, or a list of "
                f"such; got {shortened(parts['value'])}"
            )
        ask = parts.get("ask", "")
        words_of = ask if isinstance(ask, list) else [ask]
        if not all(isinstance(word, str) for word in words_of):
            raise DataError(
                f"{place}.ask: expected a text or a list of texts, got {shortened(ask)}"
            )


def _sayable(value: JSON) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_sayable, value))
    return isinstance(value, bool | int | float) or (isinstance(value, str) and bool(value.strip()))


def requests_of(persona: Mapping[str, JSON]) -> list[str]:
    """Return the requests that follow on the first one."""
    given = persona.get("then")
    if isinstance(given, str):
        return [given]
    return [text for text in given if isinstance(text, str)] if isinstance(given, list) else []


def replies_of(persona: Mapping[str, JSON], goal: int) -> list[str] | None:
    """Return what the user answers in the chat about a goal, in order; None: it is not given."""
    given = persona.get("replies")
    if not isinstance(given, list):
        return None
    own = given[goal] if goal < len(given) else ()
    return [text for text in own if isinstance(text, str)] if isinstance(own, list) else []


def _fact(slot: str, entry: JSON) -> Fact:
    if not isinstance(entry, Mapping) or "value" not in entry:
        return Fact(slot, _in_words(entry))
    ask = entry.get("ask", ())
    phrases: Sequence[Any] = [ask] if isinstance(ask, str) else ask
    listed = phrases if isinstance(phrases, (list, tuple)) else ()
    return Fact(slot, _in_words(entry["value"]), tuple(p for p in listed if isinstance(p, str)))


def _in_words(value: JSON) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value)


def _holds(text: str, phrase: str) -> bool:
    """Tell whether a text has a phrase as whole words; where it has no blanks, anywhere."""
    folded = phrase.casefold().strip()
    if not folded:
        return False
    if not folded.isascii():
        return folded in text.casefold()
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text.casefold()) is not None


def swapped(steps: Iterable[Step], role: str) -> list[Message]:
    """Return what the user said and heard in words, its own side being the assistant's."""
    return [
        Message("assistant" if step.author == role else "user", step.content)
        for step in steps
        if step.call is None and step.result is None and role in (step.author, step.recipient)
    ]


def briefing(chat: Chat) -> list[Message]:
    """Return what the user's model is told before the chat: one system message.

    Where its authors word it (`verbatim`), their example dialogues stand before that as turns, each
    behind a system message of its own. A prompt of the run goes before theirs.
    """
    if not in_words_of_others(chat):
        return [Message("system", brief(chat))]
    persona = chat.persona or {}
    return [*_turns(chat, persona.get("demonstration")), Message("system", _brief(chat))]


def brief(chat: Chat) -> str:
    """Return all that the user is told in one text: the prompt, then the parts of the brief."""
    examples = _examples((chat.persona or {}).get("demonstration"))
    shown = [f"Such conversations went like this, about other matters:\n\n{examples}"]
    return "\n\n".join([_brief(chat), *(shown if examples else ())])


def _turns(chat: Chat, demonstration: Any) -> Iterator[Message]:
    """Yield example dialogues as messages of the user's model, whose side is the assistant's."""
    instruction = OF_USER.of(chat)
    for message in _messages(demonstration):
        role, content = message.get("role"), message.get("content") or ""
        if role == "goal":
            yield Message("system", f"{instruction}{content}")
        elif role != "end" or content:
            yield Message("user" if role == "assistant" else "assistant", content)


def ending(chat: Chat) -> Tool:
    """Return the tool by which the user ends the chat."""
    if not in_words_of_others(chat):
        return END
    return replace(END, description=(chat.persona or {})["verbatim"].get("end", END.description))


def _brief(chat: Chat) -> str:
    """Return the prompt and what the user wants and knows."""
    persona = chat.persona or {}
    goal = persona.get("goal")
    wanted = goal if _is_text(goal) else chat.request
    if in_words_of_others(chat):
        parts = [f"{OF_USER.of(chat)}{wanted}{persona.get('boundary') or ''}"]
        persona = {name: value for name, value in persona.items() if name != "boundary"}
    else:
        parts = [OF_USER.of(chat), f"Your goal: {wanted}"]
    following = requests_of(persona)
    if following:
        parts.append("\n".join(["After that you ask, one by one:", *(f"- {t}" for t in following)]))
    known = _known(persona, chat.goal)
    if known:
        parts.append("\n".join(["What you know:", *known]))
    return "\n\n".join(parts)


def _known(persona: Mapping[str, JSON], goal: int) -> list[str]:
    boundary = persona.get("boundary")
    lines = [str(boundary)] if _is_text(boundary) else []
    lines += [f"- {text}" for text in replies_of(persona, goal) or () if text.strip()]
    return lines + [f"- {fact.slot}: {fact.value}" for fact in facts_of(persona)]


def _examples(demonstration: Any) -> str:
    """Return example dialogues in words, one empty line between two of them."""
    lines = []
    for message in _messages(demonstration):
        role, content = message.get("role"), message.get("content") or ""
        if role == "end":
            lines += [f"You: {content}".rstrip(), ""] if content else []
            lines += [f"(You call {END.name}.)", ""]
        elif role == "goal":
            lines.append(f"(Your goal: {content})")
        else:
            lines.append(f"{'You' if role == 'user' else 'Assistant'}: {content}")
    return "\n".join(lines).strip()


def _messages(demonstration: Any) -> list[Mapping[str, Any]]:
    if not isinstance(demonstration, Sequence) or isinstance(demonstration, str):
        return []
    return [message for message in demonstration if isinstance(message, Mapping)]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


# -- What the scripted user answers.
#
# It reads each text of the agent as an answer to its open request (`seal.core.acts`), and the first
# rule that fits decides:
#
# 1. The agent asks about facts of the brief (`Fact.asked_in`), or says that it needs them: their
#    values, and nothing else.
# 2. It asks whether it may do something, or may ask so: "Yes, go ahead."
# 3. It asks in general what is wanted: the brief's goal in full, once, where it has one.
# 4. It asks anything else: "I don't know."
# 5. It refuses, or says nothing: "Please try again."
# 6. It announces that it will do something: "OK, please go on."
# 7. It reports: the goal is done. The next request of the brief's `then`, or the end.
#
# A brief that has `replies` says word by word what the user answers: to each text of the agent, be
# it a question or not, the next of them; after the last one the goal is done.
#
# Rules 4 to 6, and rule 1 where every fact had been told before, count as a failure; at the fifth
# about one request the user ends the conversation. Rules 4 to 6 have other words each time, for an
# agent that answers equal words equally would be stopped before (`Limits.repeats`). Equal chats get
# equal answers; nothing is drawn and nothing is kept between replies.

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

_GENERAL = re.compile(
    r"\bwhat (?:exactly )?(?:do you|would you|should i|you'd|can i|is it)\b"
    r"|\bhow (?:can|may) i (?:help|assist)\b"
    r"|\b(?:more|further|additional) (?:details?|information|specific)\b|\ba bit more\b"
    r"|\bmore about\b|\btell me more\b|\bwhat .*\b(?:need|want|mean|looking for)\b",
    re.IGNORECASE,
)
_NEEDED = re.compile(
    r"\b(?:I|we)(?: still| first| just| also)? need\b[^.?!\n]{0,300}", re.IGNORECASE
)
"""What the agent says that it needs, which asks for the facts of the brief that it names."""


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

    @property
    def asked(self) -> str:
        """The request that is open."""
        return requests_of(self.persona)[self.requests - 1] if self.requests else self.request

    def answer(self, text: str) -> str | None:
        """Return what the user says to a text of the agent; None: it ends the conversation."""
        told = acts(text, self.asked)
        if not text.strip():
            return self._failed(RETRIES)
        if told.reading == "asks":
            return self._answer_questions(told.questions, told.asks_leave)
        needed = [found[0] for found in _NEEDED.finditer(text)]
        if any(f.asked_in(" ".join(needed)) and f.slot not in self.told for f in self._facts):
            return self._answer_questions(needed, False)
        if told.reading == "reports":
            return self._next_request()
        return self._failed(WAITING if told.reading == "announces" else RETRIES)

    def _failed(self, words: Sequence[str]) -> str | None:
        """Count a failure and return what the user says to it; None: it gives up."""
        self.failures += 1
        return None if self.failures >= FAILURES else words[self.failures - 1]

    @property
    def _facts(self) -> Sequence[Fact]:
        return facts_of(self.persona)

    def _answer_questions(self, questions: Sequence[str], asks_leave: bool | None) -> str | None:
        question = " ".join(questions)
        known = [fact for fact in self._facts if fact.asked_in(question)]
        if known:
            slots = {fact.slot for fact in known}
            self.failures += slots <= self.told
            self.told |= slots
            answer = known[0].value
            if len(known) > 1:
                answer = "; ".join(f"{fact.slot}: {fact.value}" for fact in known)
            return None if self.failures >= FAILURES else answer
        may_ask = asks_leave is None and "you" not in words(question)
        if asks_leave or may_ask:
            return ALLOWED
        goal = self.persona.get("goal")
        if _GENERAL.search(question) and isinstance(goal, str) and "goal" not in self.told:
            self.told.add("goal")
            if goal.strip() and goal != self.request:
                return goal
        return self._failed(UNKNOWN)

    def _next_request(self) -> str | None:
        if self.requests >= len(requests_of(self.persona)):
            return None
        self.requests += 1
        self.failures = 0
        return self.asked


# -- The user whom a model plays.

_BEGIN = "Begin: write your first message to the assistant, and nothing else."
_SAY = "You said nothing. Say your next words, or end the conversation by the tool."


def _only_thought(answer: Completion) -> bool:
    return bool(answer.reasoning) and not answer.calls and not answer.content.strip()


class UserSimulator:
    """Speaks the goal's text first; then, where there is a brief or a person, its model answers.

    Where the brief says so (`opening`), the model writes the first message too. For the model the
    sides are swapped: what the user said are the assistant's messages. Its calls and what they
    brought it sees where the brief gives it tools.
    """

    prompt = OF_USER

    def reply(self, chat: Chat) -> Reply:
        """Return the goal, an answer, or the end: a call of `end_conversation`, or no word."""
        held = chat.tools if (chat.persona or {}).get("tools") else ()
        heard = messages if held else swapped
        view, tools = [*briefing(chat), *heard(chat.steps, chat.role)], [*held, ending(chat)]
        if not any(s.author == chat.role and s.goal == chat.goal for s in chat.steps):
            return Reply(first_words(chat) or self._opening(chat, view))

        answer = chat.complete(view, tools)
        if _only_thought(answer):  # its own silence would end the chat as if the user were content
            answer = chat.complete([*view, Message("user", _SAY)], tools)
            if _only_thought(answer):
                raise _silent(chat, "thought twice and said nothing")
        if not answer.calls:
            return Reply(answer.content, done=not answer.content.strip())
        if EXECUTOR not in chat.roles:
            return leave(chat, answer.content)
        return Reply(answer.content, answer.calls)

    def _opening(self, chat: Chat, view: list[Message]) -> str:
        """Return the first message, as the model writes it."""
        for _ in range(2):
            words = chat.complete([*view, Message("user", _BEGIN)]).content
            if words.strip():
                return words
        raise _silent(chat, "was asked twice for the first message and wrote none")


def _silent(chat: Chat, how: str) -> ModelError:
    return ModelError(
        f"the model of {chat.role} {how}; let it think less, or give it more room: "
        f"--role-model {chat.role}=MODEL,max_tokens=N"
    )

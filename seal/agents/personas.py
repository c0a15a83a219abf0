"""What the user knows: the parts of a persona, and the facts among them.

A persona is a map; every part is optional:

- `goal`: what the user wants in the end, in full. Missing: the request itself.
- `boundary`: what the user knows besides, and what not, in words.
- `facts`: {slot: value} or {slot: {"value": value, "ask": [words that ask for it]}}; authored
  scenarios are refused where a fact could not be said (`check_facts`).
- `then`: requests that the user makes one by one, each after the one before is said to be done.
- `replies`: for each goal what the user answers to the agent's texts, one after the other.
- `demonstration`: example messages {"role": "goal" | "user" | "assistant" | "end", "content":
  text}; `goal` opens a dialogue by what its user wanted, `end` closes one.

Any further entry counts as a fact: its name is the slot. A task refuses a name that is almost one
of a part (`seal.core.persona_parts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seal.agents.offers import END
from seal.agents.roles import prompt
from seal.core import JSON, Chat, DataError, Message, Step, shortened
from seal.core.persona_parts import PARTS
from seal.core.plain import json_text
from seal.core.text import words

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


def brief(chat: Chat) -> str:
    """Return the system message: the role, then the parts of the brief that there are."""
    persona = chat.persona or {}
    goal = persona.get("goal")
    parts = [prompt("user_simulator"), f"Your goal: {goal if _is_text(goal) else chat.request}"]
    following = requests_of(persona)
    if following:
        parts.append("\n".join(["After that you ask, one by one:", *(f"- {t}" for t in following)]))
    known = _known(persona, chat.goal)
    if known:
        parts.append("\n".join(["What you know:", *known]))
    examples = _examples(persona.get("demonstration"))
    if examples:
        parts.append(f"Such conversations went like this, about other matters:\n\n{examples}")
    return "\n\n".join(parts)


def _known(persona: Mapping[str, JSON], goal: int) -> list[str]:
    boundary = persona.get("boundary")
    lines = [str(boundary)] if _is_text(boundary) else []
    lines += [f"- {text}" for text in replies_of(persona, goal) or () if text.strip()]
    return lines + [f"- {fact.slot}: {fact.value}" for fact in facts_of(persona)]


def _examples(demonstration: Any) -> str:
    """Return example dialogues in words, one empty line between two of them."""
    if not isinstance(demonstration, Sequence) or isinstance(demonstration, str):
        return ""
    lines = []
    for message in demonstration:
        if not isinstance(message, Mapping):
            continue
        role, content = message.get("role"), message.get("content") or ""
        if role == "end":
            lines += [f"You: {content}".rstrip(), ""] if content else []
            lines += [f"(You call {END.name}.)", ""]
        elif role == "goal":
            lines.append(f"(Your goal: {content})")
        else:
            lines.append(f"{'You' if role == 'user' else 'Assistant'}: {content}")
    return "\n".join(lines).strip()


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())

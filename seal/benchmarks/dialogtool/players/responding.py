"""What an assistant says, by templates from action, request, result and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from seal.benchmarks.dialogtool.tool_life import UNKNOWN, Lesson, read_lesson
from seal.core.formats.bracket import BracketForm
from seal.core.plain import json_text
from seal.core.protocols import Completion, Message, Request
from seal.core.text import words
from seal.core.types import JSON
from seal.models.scene import without_author

_Row = Mapping[str, JSON]
_MOST_VALUES = 3


def respond(request: Request) -> Completion:
    """Return the words for what was decided; uses no tokens."""
    lesson = read_lesson(without_author(request.messages[-1].content))
    return Completion(in_words(lesson, request.messages[:-1]))


def in_words(lesson: Lesson, before: Sequence[Message]) -> str:
    """Return what is said to the user.

    Args:
        lesson: What was decided.
        before: The dialogue, for what was found earlier.
    """
    rows = _rows(lesson.result)
    found = rows or _found_before(before)
    said = _heard(before)
    match _called_for(lesson):
        case "request":
            return _question(_missing(lesson))
        case "confirm":
            wanted = _listed(_given(lesson) or _asked_before(before)) or "what you said"
            return f"I would go on with {wanted}. Shall I go ahead?"
        case "inform_count":
            return f"I found {len(rows)} which you may like. {_suggested(rows)}"
        case "offer":
            return _suggested(rows)
        case "offer_alts":
            return _suggested(found[1:] or found)
        case "notify_success":
            return f"It is done. {_answered(rows, said)}".strip()
        case "notify_failure":
            return "I am sorry, that could not be done. Would you like to try something else?"
        case "inform":
            return _answered(found, said) or "I do not know that."
        case "offer_intent":
            return "Would you like me to book it?"
        case "goodbye":
            return "Have a great day."
    return "Is there anything else I can help you with?"


def _called_for(lesson: Lesson) -> str:
    """Return the action, or what an API that was not run asks for instead."""
    error = _object(lesson.result).get("error")
    if not error:
        return lesson.action
    if _missing(lesson):
        return "request"
    return "confirm" if "confirm" in str(error) else "notify_failure"


def _rows(text: str) -> list[_Row]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _found_before(messages: Sequence[Message]) -> list[_Row]:
    found = (_rows(m.content) for m in reversed(messages) if m.role == "tool")
    return next((rows for rows in found if rows), [])


def _heard(messages: Sequence[Message]) -> str:
    return next((m.content for m in reversed(messages) if m.role == "user"), "")


def _given(lesson: Lesson) -> dict[str, JSON]:
    """Return the arguments of the request, else the values of the state."""
    calls = BracketForm().read(lesson.request).calls
    given = {k: v for call in calls for k, v in (call.arguments or {}).items()}
    if given:
        return given
    state = _object(lesson.state)
    return {k: v[0] if isinstance(v, list) and v else v for k, v in state.items()}


def _asked_before(messages: Sequence[Message]) -> dict[str, JSON]:
    """Return the arguments of the last request."""
    calls = (call for m in reversed(messages) for call in reversed(m.calls))
    return next((dict(call.arguments or {}) for call in calls), {})


def _object(text: str) -> dict[str, JSON]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _missing(lesson: Lesson) -> list[str]:
    return [name for name, value in _given(lesson).items() if value == UNKNOWN]


def _question(missing: Sequence[str]) -> str:
    named = " and ".join(f"the {' '.join(words(name))}" for name in missing[:2])
    return f"What is {named}?" if named else "Could you tell me more about what you want?"


def _suggested(rows: Sequence[_Row]) -> str:
    if not rows:
        return "I am sorry, I did not find any."
    first = next(iter(rows[0].values()), "")
    return f"How about {_text(first)}? {_sentences(dict(list(rows[0].items())[1:]))}".strip()


def _answered(rows: Sequence[_Row], asked: str) -> str:
    """Return the values of the first row that a question names."""
    if not rows:
        return ""
    wanted = set(words(asked))
    named = {k: v for k, v in rows[0].items() if wanted & set(words(k))}
    return _sentences(named)


def _sentences(values: Mapping[str, JSON]) -> str:
    told = list(values.items())[:_MOST_VALUES]
    return " ".join(f"The {' '.join(words(name))} is {_text(value)}." for name, value in told)


def _listed(values: Mapping[str, JSON]) -> str:
    return ", ".join(f"{' '.join(words(name))} {_text(value)}" for name, value in values.items())


def _text(value: JSON) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json_text(value)

"""BFCL's first version (until August 2024): its questions and gold in the form of the present one.

Until then a question was one text, its functions one document or a list of them, and gold a map of
function to accepted values. A function that is called several times had a number behind its name:
`tide_1`, `tide_2`.

Source: ShishirPatil/gorilla at de8307b4, `berkeley-function-call-leaderboard/data`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from seal.core import JSON, DataError, shortened
from seal.pools.reading.files import expect, field_of

CATEGORIES: Mapping[str, str] = {
    "simple": "simple_python",
    "multiple_function": "multiple",
    "parallel_function": "parallel",
    "parallel_multiple_function": "parallel_multiple",
    "java": "simple_java",
    "javascript": "simple_javascript",
    "relevance": "irrelevance",
}
"""Category of the first version to its name today."""
_NUMBERED = re.compile(r"(?P<name>.+)[_ ]\d+")


def category_of(item_id: str) -> str:
    """Return today's category of an item of the first version.

    Args:
        item_id: Such as `parallel_multiple_function_7`.

    Raises:
        DataError: It belongs to none.
    """
    found = _NUMBERED.fullmatch(item_id)
    if found is None or found["name"] not in CATEGORIES:
        raise DataError(
            f"id {shortened(item_id)}: expected CATEGORY_NUMBER, with one of the categories "
            f"{', '.join(CATEGORIES)}"
        )
    return CATEGORIES[found["name"]]


def item_of(record: Any) -> dict[str, JSON]:
    """Return a question in the present form.

    Args:
        record: `{id, question, function}`.

    Raises:
        DataError: A field is missing or malformed.
    """
    said = field_of(record, "question", str)
    return {
        "id": field_of(record, "id", str),
        "question": [[{"role": "user", "content": said}]],
        "function": list(_documents(record)),
    }


def answer_of(record: Any, gold: Any) -> dict[str, JSON]:
    """Return the gold of a question in the present form.

    Args:
        record: The question, `{id, question, function}`.
        gold: `{function: {argument: [accepted values]}}`.

    Raises:
        DataError: A field is missing or malformed.
    """
    offered = [field_of(document, "name", str) for document in _documents(record)]
    calls = expect(gold, dict, "gold")
    truth: list[JSON] = [{_named(name, offered): given} for name, given in calls.items()]
    return {"id": field_of(record, "id", str), "ground_truth": truth}


def _documents(record: Any) -> Sequence[Any]:
    found = record.get("function") if isinstance(record, dict) else None
    return found if isinstance(found, list) else [expect(found, dict, "function")]


def _named(name: str, offered: Sequence[str]) -> str:
    """Return the function that gold names, perhaps with a number behind it.

    Where one alone is offered, it is meant, whatever gold names: so the leaderboard reads it. Of
    several, gold may name none. The importer says so then.
    """
    if len(offered) == 1:
        return offered[0]
    numbered = _NUMBERED.fullmatch(name)
    for known in (name, numbered["name"] if numbered else name):
        if known in offered:
            return known
    return name

"""Role configurations: characters in which an assistant may speak.

A file of them is a JSON list; `roles.json` beside this module ships. A role has a `name` (a type of
person), `gender`, `mbti` (one of the sixteen types), `language` (its features in words), `features`
(the same, to be checked by rule), `emotion` and `interaction`. Features, null or empty where a role
has none:

| name | meaning |
|---|---|
| max_words | most words of a sentence |
| opening, closing | texts, one of which begins or ends what is said |
| avoid | words that are never said |
| contractions | true: "I'm"; false: "I am" |
| exclamations | true: at least one exclamation mark; false: none |
| question | true: what is said ends with a question |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import orjson

from seal.core.canonical import derive_seed
from seal.core.errors import DataError, OptionError, shortened
from seal.core.types import JSON, Task
from seal.pools.reading.records import expect

Role = Mapping[str, JSON]
FIELDS = ("name", "gender", "mbti", "language", "features", "emotion", "interaction")
FEATURES: Mapping[str, type] = {
    "max_words": int,
    **dict.fromkeys(("opening", "closing", "avoid"), list),
    **dict.fromkeys(("contractions", "exclamations", "question"), bool),
}
"""Machine-checkable feature to its type; null is none."""
_MBTI = re.compile(r"[EI][NS][FT][JP]")


@cache
def shipped_roles() -> tuple[Role, ...]:
    """Return the roles that ship."""
    return checked_roles(
        orjson.loads((files(__package__) / "roles.json").read_bytes()), "roles.json"
    )


def read_roles(path: Path) -> tuple[Role, ...]:
    """Return the roles of a file.

    Raises:
        OptionError: There is no such file.
        DataError: It is no list of roles, or a role lacks a field; the text names place and field.
    """
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise OptionError(f"-T roles={path}: {error.strerror}; give a JSON file of roles") from None
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}") from error
    return checked_roles(content, str(path))


def checked_roles(content: Any, where: str) -> tuple[Role, ...]:
    """Return roles that have every field, features completed.

    Raises:
        DataError: What is missing or of another kind, and of which role.
    """
    if not isinstance(content, list) or not content:
        raise DataError(f"{where}: expected a list of roles, got {shortened(content)}")
    roles = tuple(_checked(role, f"{where}: role {n}") for n, role in enumerate(content))
    names = [role["name"] for role in roles]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{where}: two roles have the name {twice!r}; give each its own")
    return roles


def _checked(role: Any, where: str) -> Role:
    expect(role, dict, where)
    place = f"{where} ({role['name']})" if isinstance(role.get("name"), str) else where
    lacking = [name for name in FIELDS if not role.get(name)]
    if lacking:
        raise DataError(
            f"{place} lacks {', '.join(lacking)}; a role has: {', '.join(FIELDS)} "
            "(seal/benchmarks/dialogtool/roles/roles.json shows some)"
        )
    for name in FIELDS:
        kind = dict if name == "features" else str
        if not isinstance(role[name], kind):
            raise DataError(
                f"{place}: {name}: expected {kind.__name__}, got {shortened(role[name])}"
            )
    if not _MBTI.fullmatch(role["mbti"]):
        raise DataError(f"{place}: mbti: expected a type such as INTJ, got {role['mbti']!r}")
    return {**role, "features": _features(role["features"], place)}


def _features(features: Mapping[str, Any], where: str) -> dict[str, JSON]:
    for name, value in features.items():
        kind = FEATURES.get(name)
        if kind is None:
            raise DataError(f"{where}: no feature {name!r}; there are: {', '.join(FEATURES)}")
        texts = not isinstance(value, list) or all(isinstance(text, str) for text in value)
        if value is not None and (type(value) is not kind or not texts):
            expected = "texts" if kind is list else kind.__name__
            raise DataError(f"{where}: {name}: expected {expected}, got {shortened(value)}")
    empty: dict[str, JSON] = {name: [] if kind is list else None for name, kind in FEATURES.items()}
    return {**empty, **features}


def drawn_role(roles: Sequence[Role], task: Task, seed: int) -> Role:
    """Return the role of a dialogue: the one that its metadata names, else one by (seed, task id).

    Raises:
        DataError: The task names a role that there is not.
    """
    named = task.metadata.get("role")
    if named is not None:
        found = next((role for role in roles if role["name"] == named), None)
        if found is None:
            known = ", ".join(str(role["name"]) for role in roles)
            raise DataError(f"task {task.id}: no role {named!r}; there are: {known}")
        return found
    return Random(derive_seed(seed, task.id, "role")).choice(roles)

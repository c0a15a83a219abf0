"""Texts and JSON that ship with code: prompts, word lists, tables. Each file is read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import orjson


@cache
def shipped_text(package: str, name: str) -> str:
    """Return a text that lies in a package, such as a prompt; `name` may lead into a folder."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def shipped_prompt(package: str, name: str) -> str:
    """Return the text of `prompts/NAME.txt` in a package, without blanks around it."""
    return shipped_text(package, f"prompts/{name}.txt").strip()


@cache
def shipped_words(package: str, name: str) -> frozenset[str]:
    """Return the words of a text in a package, which blanks and line breaks part."""
    return frozenset(shipped_text(package, name).split())


@cache
def shipped_json(package: str, name: str) -> Any:
    """Return the JSON that lies in a package; it must not be changed."""
    return orjson.loads(shipped_text(package, name))


def shipped_texts(package: str, folder: str = "", ending: str = "") -> dict[str, str]:
    """Return the texts in a package, or in a folder of it, by name, whose names end so."""
    found = files(package).joinpath(folder).iterdir()
    return {item.name: item.read_text("utf-8") for item in found if item.name.endswith(ending)}

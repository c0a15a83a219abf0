"""Servers with a name: `[endpoints.NAME]` of seal.toml, and `openai/qwen3@NAME`.

    [endpoints.local]
    base_url = "http://localhost:8000/v1"
    key_env = "LOCAL_KEY"
    profile = "mistral"
    options = {max_tokens = 1024}

When a model is made, its text takes in what its endpoint says. So a run can be resumed, and its
record read, without that file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seal.core import DataError, UnknownNameError, UsageError
from seal.core.secrets import check_address, refuse_secret

FILE = Path("seal.toml")
TABLE = "endpoints"
_AT = re.compile(r"(?P<model>[^,]*?)@(?P<endpoint>[A-Za-z][\w-]*)")
"""`openai/qwen3@local`; not `@20250514` or `@cf/meta/llama`, which are parts of models' names."""
_FIELDS = {"base_url": str, "key_env": str, "profile": str, "options": dict}


def at_endpoint(name: str) -> tuple[str, dict[str, Any]]:
    """Return a model's name without its endpoint, and the options that this gives it.

    Raises:
        UsageError: No name follows on the @, no model stands before it, or there are two.
        UnknownNameError: There is no such endpoint; names the closest.
        DataError: The file is no TOML, or an endpoint of it cannot be one.
    """
    if name.endswith("@"):
        raise UsageError(
            f"model {name}: a name of [{TABLE}] in {FILE} must follow on the @; write it, or take "
            "the @ out"
        )
    found = _AT.fullmatch(name)
    if found is None:
        return name, {}
    if not found["model"]:
        raise UsageError(f"model {name}: no model stands before the @; write openai/NAME{name}")
    if twice := _AT.fullmatch(found["model"]):
        one = f"{twice['model']}@{twice['endpoint']}"
        raise UsageError(
            f"model {name}: it has two endpoints, {twice['endpoint']} and {found['endpoint']}; "
            f"keep one of them, as in {one}"
        )
    known = endpoints()
    if not known:
        raise UsageError(
            f"model {name}: there is no [{TABLE}.{found['endpoint']}] in {FILE} of this folder; "
            f"write it there, or the address into the model: {found['model']},base_url=URL"
        )
    if found["endpoint"] not in known:
        raise UnknownNameError(f"endpoint of {FILE}", found["endpoint"], known)
    return found["model"], dict(known[found["endpoint"]])


def endpoints() -> dict[str, dict[str, Any]]:
    """Return the endpoints of this folder by name, each as options of a model; none without a file.

    Raises:
        DataError: The file is no TOML, or an endpoint of it cannot be one.
    """
    return endpoints_of(settings_file().get(TABLE, {}))


def settings_file() -> dict[str, Any]:
    """Return what seal.toml of this folder says; nothing where there is none.

    Raises:
        DataError: It is no TOML.
    """
    try:
        return tomllib.loads(FILE.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{FILE} is no TOML: {error}") from error


def endpoints_of(tables: Any) -> dict[str, dict[str, Any]]:
    """Return endpoints as options of a model, from the tables that the file has.

    Raises:
        DataError: One of them cannot be.
    """
    if not isinstance(tables, Mapping) or not all(isinstance(t, dict) for t in tables.values()):
        raise DataError(f"{FILE}: write a table for each endpoint, as [{TABLE}.local]")
    return {name: _options(f"{FILE}: [{TABLE}.{name}]", table) for name, table in tables.items()}


def _options(place: str, table: Mapping[str, Any]) -> dict[str, Any]:
    for field, value in table.items():
        if field == "base_url":
            check_address(value, f"{place}: base_url")
        refuse_secret("" if field == "key_env" else field, value, place)
        if field not in _FIELDS:
            raise UnknownNameError(f"setting of {place}", field, _FIELDS)
        if not isinstance(value, _FIELDS[field]):
            kind = "a table" if _FIELDS[field] is dict else "a text"
            raise DataError(f"{place}: {field} = {value!r}: expected {kind}")
    own = {field: value for field, value in table.items() if field != "options"}
    return {**table.get("options", {}), **own}

"""The verb of this installation, doctor; its settings checked."""

import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from seal.cli.config import long_name, repeats_of
from seal.cli.groups import verb
from seal.cli.options import JSON
from seal.cli.output import output
from seal.cli.verbs import VERBS, load
from seal.cli.words import FORMER
from seal.core import DataError, UsageError, nearest
from seal.core.files import cache_folder
from seal.core.secrets import refuse_secret
from seal.models.spec import FILE, endpoints
from seal.report.grids import Grid

# -- Tell what is installed and set here: extras, keys, servers, caches, room on the disk.

_DISTRIBUTION = "seal-api-llms"
_DEVELOPED = {"test", "dev"}
"""Extras that no user needs."""
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
"""Variables of providers' keys, of which it is told whether they are set; never a key."""
_NEEDED = re.compile(
    r"(?P<name>[\w.-]++)(\[[\w,-]+\])?[^;]*+; extra == ['\"](?P<extra>[\w-]+)['\"]"
)


@verb("doctor")
def doctor_command(json: bool = JSON) -> int:
    """Tell what is installed and set here. No server is asked; `seal models check` asks them."""
    data, known = os.environ.get("SEAL_DATA"), endpoints()
    keys = (str(one["key_env"]) for one in known.values() if "key_env" in one)
    folders = {
        "answers": _answers(),
        "here": Path.cwd(),
        "SEAL_DATA": Path(data) if data else None,
    }
    python = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    found: dict[str, dict[str, str]] = {
        "seal": {"version": metadata.version(_DISTRIBUTION), "python": python},
        "extra": dict(_extras()),
        "key": {name: "set" if os.environ.get(name) else "not set" for name in (*_KEYS, *keys)},
        "endpoint": {
            name: str(told.get("base_url", "the provider's own address"))
            for name, told in known.items()
        },
        "folder": {
            name: folder if isinstance(folder, str) else _room(folder)
            for name, folder in folders.items()
        },
    }
    with output(json) as result:
        result.result(found)
        rows = [[part, name, told] for part, of in found.items() for name, told in of.items()]
        result.show(Grid("", ["part", "name", "what is there"], rows, names=3))
    return 0


def _extras() -> Iterator[tuple[str, str]]:
    """Yield each extra with what is missing of it."""
    missing: dict[str, list[str]] = {}
    for needed in map(_NEEDED.fullmatch, metadata.requires(_DISTRIBUTION) or ()):
        if needed is not None and needed["extra"] not in _DEVELOPED:
            lacks = missing.setdefault(needed["extra"], [])
            if not any(metadata.distributions(name=needed["name"])):
                lacks.append(needed["name"])
    for extra, names in missing.items():
        yield extra, f"missing: {', '.join(names)}" if names else "installed"


def _answers() -> Path | str:
    """Return the cache folder, or why there is none."""
    try:
        return cache_folder()
    except UsageError as error:
        return str(error)


def _room(folder: Path | None) -> str:
    """Return a folder with the room that is left on its disk."""
    if folder is None:
        return "not set"
    there = next((path for path in (folder, *folder.parents) if path.is_dir()), Path())
    absent = "" if folder.is_dir() else "not there yet, "
    return f"{folder} ({absent}{shutil.disk_usage(there).free / 1e9:,.1f} GB free)"


# -- Settings of the environment and of `seal.toml`, which must be flags of a verb.

_ALLOW = "allow-code"


def check_file(file: Mapping[str, Any]) -> None:
    """Make sure that the settings of a file are flags, and hold no key of a service.

    Raises:
        DataError: A key is no flag, or one that a file may not set; names the closest flag.
        UsageError: It is or holds a service's key.
    """
    known = all_flags()
    if _ALLOW in file:
        raise DataError(
            f"{FILE}: {_ALLOW}: a folder may not allow its own code; give --{_ALLOW} on the "
            "command line"
        )
    for key, value in file.items():
        if isinstance(value, dict) and not known.get(key, key not in VERBS):
            first = next(iter(value), "top-k")
            raise DataError(
                f"{FILE}: there is no table [{key}]: settings are for all verbs and stand at the "
                f"top of the file; move {first!r} there, without a table"
            )
        if key not in known or (key == "stdio" and not isinstance(value, bool)):
            refuse_secret(key, value, str(FILE))
            if key in FORMER:
                raise DataError(f"{FILE}: {key}: the flag --{key} {FORMER[key]}")
            close = nearest(key, known)
            hint = f" Did you mean {close!r}?" if close else ""
            raise DataError(
                f"{FILE}: no flag --{key}; a key is a flag's long name, such as top-k.{hint}"
            )
        refuse_secret("", value, f"{FILE}: {key}")


def all_flags() -> dict[str, bool]:
    """Return each flag of any verb, with whether it may be repeated."""
    from typer.main import get_command

    found: dict[str, bool] = {}
    for name in VERBS:
        for flag, repeats in _flags_of(get_command(load(name))):
            found[flag] = found.get(flag, False) or repeats
    return found


def _flags_of(command: Any) -> Iterator[tuple[str, bool]]:
    for parameter in command.params:
        flag = long_name(parameter)
        if flag:
            yield flag, repeats_of(parameter)
    for inner in getattr(command, "commands", {}).values():
        yield from _flags_of(inner)

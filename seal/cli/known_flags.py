"""The flags of all verbs, and whether the file of settings has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seal.cli.config import long_name, repeats_of
from seal.cli.verbs import load, verbs
from seal.core import DataError, nearest
from seal.core.secrets import refuse_secret
from seal.models.endpoints import FILE

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
        if key not in known:
            refuse_secret(key, value, str(FILE))
            close = nearest(key, known)
            hint = f" Did you mean {close!r}?" if close else ""
            raise DataError(
                f"{FILE}: no flag --{key}; a key is a flag's long name, such as top-k.{hint}"
            )
        refuse_secret("", value, f"{FILE}: {key}")
        if isinstance(value, dict) and not known[key]:
            first = next(iter(value), "top-k")
            raise DataError(
                f"{FILE}: there is no table [{key}]: settings are for all verbs and stand at the "
                f"top of the file; move {first!r} there, without a table"
            )


def all_flags() -> dict[str, bool]:
    """Return each flag of any verb, with whether it may be repeated."""
    from typer.main import get_command

    found: dict[str, bool] = {}
    for verb in verbs():
        for flag, repeats in _flags_of(get_command(load(verb))):
            found[flag] = found.get(flag, False) or repeats
    return found


def _flags_of(command: Any) -> Iterator[tuple[str, bool]]:
    for parameter in command.params:
        flag = long_name(parameter)
        if flag:
            yield flag, repeats_of(parameter)
    for inner in getattr(command, "commands", {}).values():
        yield from _flags_of(inner)

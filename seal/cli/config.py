"""Settings that are not on the command line: the environment, then `seal.toml`.

A setting is the long name of a flag: `--top-k` is `SEAL_TOP_K` in the environment and `top-k` in
the file. A flag that may be repeated takes several words in the environment, and a list or, where
it holds KEY=VALUE, a table in the file. Keys of services are never read from the file, nor is
`allow-code`, for the file may be a stranger's. Its tables `[endpoints.NAME]` are of models, no
flags.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seal.cli.words import FORMER
from seal.core import DataError, nearest
from seal.models.spec import FILE, TABLE, endpoints_of, settings_file

if TYPE_CHECKING:
    from seal.runs.settings import Origin

_READ_ELSEWHERE = {"SEAL_CACHE_DIR", "SEAL_CACHE_URL", "SEAL_DATA"}
"""Variables that are read where no flag is: by the Python functions too."""
_PEER = "_PYTHON"
"""End of a variable that names the interpreter of a benchmark's own code."""


@dataclass(frozen=True, slots=True)
class Config:
    """Settings by flag, as the environment and the file give them."""

    file: Mapping[str, Any]
    environment: Mapping[str, str]

    @classmethod
    def read(cls) -> Config:
        """Return the settings of this process and its working folder.

        Raises:
            DataError: The file is no TOML, has a key that no flag has, or holds a service's key.
        """
        file = settings_file()
        endpoints_of(file.pop(TABLE, {}))
        if file:
            from seal.cli.installation_verbs import check_file

            check_file(file)
        return cls(file, os.environ)

    def defaults(self, command: Any) -> dict[str, Any]:
        """Return what Typer takes as `default_map`: values by parameter, nested for verbs."""
        nested = getattr(command, "commands", {})
        found = {name: self.defaults(inner) for name, inner in nested.items()}
        for parameter in command.params:
            flag = long_name(parameter)
            value = self._value(flag, repeats_of(parameter)) if flag else None
            if isinstance(value, bool) and not getattr(parameter, "is_flag", False):
                is_set = json.dumps(value)
                raise DataError(
                    f"{FILE}: {flag} = {is_set}; expected a value, as --{flag} takes it"
                )
            if value == "" and getattr(parameter, "is_flag", False):
                raise DataError(f'{FILE}: {flag} = ""; expected true or false')
            if value is not None:
                found[parameter.name] = value
        return found

    def origin(self, flag: str | None) -> str:
        """Return a sentence that says where a bad value stands, if not on the command line.

        Args:
            flag: Its long name without dashes; None: it is no flag's.
        """
        if flag is None:
            return ""
        if self.environment.get(variable(flag)):
            return f" Unless it is on the command line, it is the value of {variable(flag)}."
        if flag in self.file:
            return f" Unless it is on the command line, it stands in {FILE}."
        return ""

    def origin_of_quoted(self, message: str) -> str:
        """Return the same of the first setting whose value a message names, as `no model 'gpt'`."""
        variables = ((name, name, self.environment[name]) for name in sorted(self.environment))
        given = [part for part in variables if part[0].startswith("SEAL_")]
        given += [(variable(flag), str(FILE), value) for flag, value in self.file.items()]
        for name, place, value in given:
            if place == str(FILE) and self.environment.get(name):
                continue  # the variable comes before the file
            for text in value if isinstance(value, list) else [value]:
                head = str(text).partition(",")[0]
                is_named = f"{head!r}" in message or ("/" in head and head in message)
                if head and (is_named or f"{text!r}" in message):
                    return f" Unless it is on the command line, {head!r} is from {place}."
        return ""

    def warnings(self) -> Iterator[str]:
        """Yield a sentence for each variable that looks like a setting and is none."""
        ours = {
            name for name, value in self.environment.items() if name.startswith("SEAL_") and value
        }
        unknown = sorted(name for name in ours - _READ_ELSEWHERE if not name.endswith(_PEER))
        if not unknown:
            return
        from seal.cli.installation_verbs import all_flags

        known = {*map(variable, all_flags()), *_READ_ELSEWHERE}
        former = {variable(flag): f"--{flag} {told}" for flag, told in FORMER.items()}
        for name in unknown:
            if name in former and name not in known:
                yield f"the environment variable {name} is ignored: {former[name]}"
            elif name not in known:
                close = nearest(name, known)
                hint = f"; did you mean {close}?" if close else ""
                yield f"the environment variable {name} is ignored: no flag has this name{hint}"

    def _value(self, flag: str, repeats: bool) -> Any:
        if self.environment.get(variable(flag)):
            text = self.environment[variable(flag)]
            return text.split() if repeats else text
        value = self.file.get(flag)
        return _words(flag, value) if repeats and value is not None else value


def origins_of(context: Any) -> dict[str, Origin]:
    """Return where each parameter's value is from; one that has its default is left out."""
    found: dict[str, Origin] = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name)
        flag = long_name(parameter)
        if source is None or flag is None:
            continue
        if source.name == "COMMANDLINE":
            found[parameter.name] = "flag"
        elif source.name == "DEFAULT_MAP":
            found[parameter.name] = "environment" if os.environ.get(variable(flag)) else "file"
    return found


def variable(flag: str) -> str:
    """Return the environment variable of a flag: `top-k` is SEAL_TOP_K."""
    return "SEAL_" + flag.upper().replace("-", "_")


def long_name(parameter: Any) -> str | None:
    """Return the long name of an option without its dashes; None for an argument, or for help."""
    if getattr(parameter, "is_eager", False):
        return None
    return next((name[2:] for name in parameter.opts if name.startswith("--")), None)


def repeats_of(parameter: Any) -> bool:
    """Tell whether an option may be repeated."""
    return bool(getattr(parameter, "multiple", False))


def _words(flag: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{key}={_text(item)}" for key, item in value.items()]
    if isinstance(value, list):
        return [_text(item) for item in value]
    if isinstance(value, str):
        return [value]
    raise DataError(f"{FILE}: {flag} = {value!r}; expected a list, a table or a text")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

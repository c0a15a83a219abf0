"""Make scenarios of templates, or missions and harder queries by a model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from seal.cli import options as shared
from seal.cli.failure import tell
from seal.cli.groups import argument, new_app, option, settings_of, verb
from seal.cli.output import output, progress
from seal.core import SealError
from seal.core.text import field_lines
from seal.pools.benchmark import loaded
from seal.pools.declarations import Generator, Told, generator_of, written
from seal.pools.lookup import installed_benchmarks

_LISTED = 3
"""Failures that are told."""
app = new_app(str(__doc__))


def _add(kind: str, generator: Generator) -> None:
    """Add the command of a kind, whose flags are the fields of its settings."""
    source = generator.source
    named = argument(source.help, metavar=source.metavar)
    if source.flag:
        default = source.default or ...
        named = option(default, source.help, source.flag, metavar=source.metavar)
    parts = {"bench": (str, named), "out": (Path, shared.NEW_FOLDER), "json": (bool, shared.JSON)}
    groups = _groups(loaded(generator.settings))

    def command(bench: str, out: Path, json: bool, **filled: Any) -> int:
        return _make(kind, generator, bench, out, json, settings_of(*filled.values()))

    command.__doc__ = generator.about
    command.__annotations__ = {name: hint for name, (hint, _) in parts.items()} | groups
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=told)
                for name, (_, told) in parts.items()
            ),
            *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in groups),
        ]
    )
    verb(app, name=kind)(command)


def _groups(settings: Any) -> dict[str, Any]:
    """Return the groups of flags by a name each: the bases of settings, or these as one group."""
    if settings is None:
        return {}
    bases = [base for base in settings.__bases__ if is_dataclass(base)]
    inherited = {each.name for base in bases for each in fields(base)}
    groups: Any = bases if inherited == {each.name for each in fields(settings)} else [settings]
    return {group.__name__: group for group in groups}


def _make(
    kind: str, generator: Generator, bench: str, out: Path, json: bool, settings: Mapping[str, Any]
) -> int:
    from seal.api.benchmarks import generate

    stage = generator.stage
    with output(json) as result, progress((stage,) if generator.is_slow else ()) as advance:
        heard: dict[str, Any] = {}
        if stage:
            heard["progress"] = partial(advance, stage)
        made = generate(kind, bench, out, **heard, **settings)
        tells = loaded(generator.told)
        told = tells(made, out) if tells else Told(fields=made.content, text=written(out))
        result.result(made.content)
        result.show(*field_lines(told.fields), told.text)
    for failure in told.failures[:_LISTED]:
        tell(failure)
    return 1 if told.failures else 0


for _bench in installed_benchmarks().sound.values():
    for _kind, _code in _bench.generators.items():
        try:
            _add(_kind, generator_of(_code))
        except SealError as _error:
            tell(f"benchmark {_bench.name}: generate {_kind} has no command: {_error}")

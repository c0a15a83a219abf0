"""Options in groups: a dataclass a group, whose fields carry Typer's annotations.

    @dataclass(frozen=True, kw_only=True)
    class Limits:
        \"\"\"Limits: how far a chat may go.\"\"\"

        max_calls: Annotated[int, typer.Option(help="Calls for each goal.")] = 50

    @grouped(app)
    def command(run: Path, limits: Limits) -> int: ...

`--max-calls` stands under `Limits` in the help, and the command is handed `Limits(max_calls=...)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand
from typer.models import OptionInfo

_Command = TypeVar("_Command", bound=Callable[..., int])
_ALL = "seal.help_all"
"""Key of a context in which every option is shown."""
_BY_NAME = inspect.Parameter.KEYWORD_ONLY


def grouped(app: typer.Typer, common: Sequence[str] = ()) -> Callable[[_Command], _Command]:
    """Make a verb of a function whose parameters may be groups, or dataclasses of groups.

    Args:
        app: Gets the command.
        common: Names of the options that the help shows, and of the groups their lines alone;
            `--help-all` shows all then. Empty: the help shows all.
    """

    def add(function: _Command) -> _Command:
        hints = get_type_hints(function, include_extras=True)
        parts = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(function).parameters.values():
            if one.name in parts:
                parameters += _options(hints[one.name])
            else:
                parameters.append(one.replace(kind=_BY_NAME, annotation=hints[one.name]))
        if common:
            parameters.append(_HELP_ALL)

        @wraps(function)
        def call(**values: Any) -> int:
            values.pop(_HELP_ALL.name, None)
            filled = {name: _filled(kind, values) for name, kind in parts.items()}
            return function(**values, **filled)

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in parameters}

        class Command(_Grouped):
            lines: ClassVar = dict(line for kind in parts.values() for line in _lines(kind))
            shown: ClassVar = common

        app.command(cls=Command)(call)
        return function

    return add


class _Grouped(TyperCommand):
    """A command whose help has a section for each group."""

    lines: ClassVar[Mapping[str, str]] = {}
    """Title of a group to what it is about."""
    shown: ClassVar[Sequence[str]] = ()
    """Names of the options that stand first, and in the short help alone."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections; `Options` are those of no group."""
        short = bool(self.shown) and not ctx.meta.get(_ALL)
        titles = ("Arguments", *self.lines, "Options")
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
        for parameter in sorted(self.get_params(ctx), key=self._place):
            told = parameter.get_help_record(ctx)
            title = self._title(parameter, short)
            if told is not None and title is not None:
                sections[title].append(told)
        if short:
            sections[f"More options, by `{ctx.command_path} --help-all`"] = list(self.lines.items())
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _place(self, parameter: Any) -> int:
        """Return where an option stands: in the order of `shown`, else behind these."""
        names = list(self.shown)
        return names.index(parameter.name) if parameter.name in names else len(names)

    def _title(self, parameter: Any, short: bool) -> str | None:
        """Return the section of a parameter; None: the short help leaves it out."""
        if parameter.param_type_name == "argument":
            return "Arguments"
        own = parameter.rich_help_panel
        if not short or own is None:
            return str(own or "Options")
        return "Options" if parameter.name in self.shown else None


def _options(kind: Any) -> Iterator[inspect.Parameter]:
    """Yield the options of a group, or of each group of several."""
    title, _ = _line(kind)
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        hint = hints[field.name]
        if is_dataclass(hint):
            yield from _options(hint)
            continue
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        value, option = get_args(hint)
        titled: Any = Annotated
        annotation = titled[value, _titled(option, title)]
        yield inspect.Parameter(field.name, _BY_NAME, default=default, annotation=annotation)


def _titled(option: Any, title: str) -> Any:
    """Return Typer's annotation with the title of its group; an argument has none."""
    if not isinstance(option, OptionInfo):
        return option
    option = copy(option)
    option.rich_help_panel = title
    return option


def _filled(kind: Any, values: dict[str, Any]) -> Any:
    """Return a group with its values, which are taken out of those of the command."""
    hints = get_type_hints(kind)
    return kind(
        **{
            field.name: _filled(hints[field.name], values)
            if is_dataclass(hints[field.name])
            else values.pop(field.name)
            for field in fields(kind)
        }
    )


def _lines(kind: Any) -> Iterator[tuple[str, str]]:
    hints = get_type_hints(kind)
    inner = [hints[field.name] for field in fields(kind) if is_dataclass(hints[field.name])]
    if not inner:
        yield _line(kind)
    for group in inner:
        yield from _lines(group)


def _line(kind: Any) -> tuple[str, str]:
    """Return the title of a group and what it is about: its docstring, `Title: about it.`."""
    title, _, about = (inspect.getdoc(kind) or "").partition("\n")[0].partition(": ")
    return title, about


def _show_all(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


_HELP_ALL = inspect.Parameter(
    "help_all",
    _BY_NAME,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all", is_eager=True, callback=_show_all, help="Show all options, in groups."
        ),
    ],
)

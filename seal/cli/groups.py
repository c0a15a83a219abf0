"""Options of verbs: the defaults of fields and parameters, in groups that are dataclasses.

    @dataclass(frozen=True, kw_only=True)
    class Limits:
        \"\"\"Limits: how far a chat may go.\"\"\"

        max_calls: int = option(50, "Calls for each goal.")

    @verb("run")
    def run_command(*, run: Path = argument("Run folder."), limits: Limits) -> int: ...

`--max-calls` stands under `Limits` in the help, and the command is handed `Limits(max_calls=...)`.
A field of another default is a setting: its type, default and docstring make the option, so a group
of `seal.runs.settings` is a group of options as it is.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import cache, partial, wraps
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from seal.cli.failure import quoted, valued
from seal.cli.verbs import VERBS, load
from seal.cli.words import FORMS, chosen, pairs, several, typed_pairs
from seal.core import SealError, UsageError
from seal.core.files import check_path
from seal.core.registry import load_dotted
from seal.core.settings import field_docs

_Command = TypeVar("_Command", bound=Callable[..., int])
Reader = Callable[[str, Any], Any]
"""From the flag, as it was typed, and what was typed to the value of an option."""
_SEVERAL = list[str] | None
COMPLETED: dict[str, Callable[..., list[str]]] = {}
"""Name of an option or argument to what it may be, where a shell asks (`seal.cli.groups`)."""
_ALL = "seal.help_all"
"""Key of a context in which every option is shown."""
_BY_NAME = inspect.Parameter.KEYWORD_ONLY


@dataclass(frozen=True, slots=True)
class Option:
    """How an option or argument of a verb is told and read."""

    default: Any
    help: str
    names: tuple[str, ...] = ()
    """As they are typed; none: `--` and the field's name."""
    metavar: str | None = None
    words: Any = None
    """Type of what is typed; None: that of the field, or a text that is to be read."""
    read: Reader | None = None
    """None: the value is what is typed."""
    setting: str = ""
    """Setting that it fills, where that has another name."""
    callback: Callable[..., Any] | None = None
    least: int | None = None
    eager: bool = False
    alone: bool = False
    """Of what is on or off: there is no `--no-` beside it."""
    kind: Callable[..., Any] = typer.Option

    def parameter(self, name: str, hint: Any, title: str | None = None) -> inspect.Parameter:
        """Return the parameter that Typer makes an option of, under a title of the help."""
        told: dict[str, Any] = {"help": self.help, "metavar": self.metavar, "min": self.least}
        told |= {"callback": self.callback, "is_eager": self.eager, "rich_help_panel": title}
        told |= {"autocompletion": COMPLETED.get(name)}
        told |= {"show_default": "[default: " not in self.help}
        as_text = self.read is not None and isinstance(self.default, str)
        words = self.words or (str if as_text else hint)
        if Path in (words, *get_args(words)):
            named = self._flag(name) if self.kind is typer.Option else name
            told |= {"parser": partial(_path, named), "metavar": self.metavar or "PATH"}
        names = (self._flag(name),) if self.alone else self.names
        annotated: Any = Annotated
        return inspect.Parameter(
            name,
            _BY_NAME,
            default=inspect.Parameter.empty if self.default is ... else self.default,
            annotation=annotated[words, self.kind(*names, **told)],
        )

    def _flag(self, name: str) -> str:
        return self.names[0] if self.names else "--" + name.replace("_", "-")


def _path(name: str, text: str | Path) -> Path:
    check_path(name, text)
    return Path(text)


def option(default: Any, help: str, *names: str, **further: Any) -> Any:
    """Return an option with a value; `further` are fields of `Option`. Without default: `...`."""
    return Option(default, help, names, **further)


def argument(help: str, default: Any = ..., **further: Any) -> Any:
    """Return an argument, which has no name; `further` as of `option`."""
    return Option(default, help, kind=typer.Argument, **further)


def flag(help: str, **further: Any) -> Any:
    """Return an option without a value, which is off where it is not given."""
    return Option(False, help, alone=True, **further)


def repeated(help: str, *names: str, read: Any = None, **further: Any) -> Any:
    """Return an option that may be given several times; its value is a tuple but for `read`."""
    return Option(None, help, names, words=_SEVERAL, read=read or several, **further)


def setting(kind: type, name: str) -> Any:
    """Return the option of a field of settings, which has its type, its default and its help.

    The help is the first paragraph of the string below the field; without one, that of a run's
    setting of its name. `FORMS` and the field's metadata say what is special.

    Raises:
        UsageError: A field has no help.
    """
    from seal.runs.settings import RunSettings

    one = next(each for each in fields(kind) if each.name == name)
    hint, default = get_type_hints(kind)[name], None if one.default is MISSING else one.default
    form = dict(FORMS.get(name, {})) | dict(one.metadata)
    if form.pop("argument", False):
        form["kind"] = typer.Argument
    inner = get_args(hint)
    alone = default is False and "names" not in form
    if get_origin(hint) in (tuple, Sequence) and default and default == get_args(inner[0]):
        word = name.removesuffix("s").upper()
        metavar = f"all|{word}[,{word}...]"
        form = {"metavar": metavar, "read": partial(chosen, default)} | form
        default = "all"
    elif get_origin(hint) in (tuple, Sequence) and default:
        default = ",".join(map(str, default))
    elif get_origin(hint) is Mapping or Mapping[str, Any] in inner:
        read = pairs if str in inner[1:] else typed_pairs
        default, form = None, {"words": _SEVERAL, "read": read} | form
    elif hint is Any or get_origin(hint) in (tuple, Sequence):
        default, form = None, {"words": _SEVERAL, "read": several} | form
    elif Path in inner or str in inner:
        plain: Any = Path if Path in inner else str
        form = {"words": plain | None if NoneType in inner else plain} | form
    told = field_docs(kind).get(name) or field_docs(RunSettings).get(name)
    if told is None:
        raise UsageError(
            f"{kind.__qualname__}: the field {name!r} has no help; write a string below it"
        )
    line = " ".join(told.partition("\n\n")[0].split()).replace(" [default: ", "  [default: ")
    return Option(default, line, setting=name, alone=alone, **form)


def like(other: Option, default: Any, **changes: Any) -> Any:
    """Return an option that several verbs have, with another default."""
    return replace(other, default=default, **changes)


def settings_of(*groups: Any) -> dict[str, Any]:
    """Return what options say, by the settings that they fill."""
    return {filled(each): getattr(group, each.name) for group in groups for each in fields(group)}


def filled(field: Field[Any]) -> str:
    """Return the setting that the option of a group's field fills."""
    return (isinstance(field.default, Option) and field.default.setting) or field.name


def new_app(help: str = "") -> typer.Typer:
    """Return an empty app for a verb: plain help, errors left to `seal.cli.failure`."""
    return typer.Typer(
        help=help,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


@cache
def app_of(name: str) -> typer.Typer:
    """Return the app with the commands of a verb, whose line is its help."""
    return new_app(VERBS[name].about)


def verb(
    of: str | typer.Typer, common: Sequence[str] = (), name: str | None = None
) -> Callable[[_Command], _Command]:
    """Make a verb of a function whose parameters are options, groups, or dataclasses of groups.

    Args:
        of: The verb, or the app that gets the command.
        common: Names of the options that the help shows, and of the groups their lines alone;
            `--help-all` shows all then. Empty: the help shows all.
        name: Of the command, where the verb has several.
    """

    def add(function: _Command) -> _Command:
        names: dict[str, str] = {}
        groups = (group for *_, group in _options(function) if group is not None)

        class Command(_Grouped):
            lines: ClassVar = dict(map(_line, groups))
            shown: ClassVar = common
            typed: ClassVar = names

        told = typed(function, (_HELP_ALL,) if common else (), names)
        app = app_of(of) if isinstance(of, str) else of
        app.command(name, cls=Command)(told)
        return function

    return add


def typed(
    function: Callable[..., int],
    further: Sequence[inspect.Parameter] = (),
    names: Mapping[str, str] | None = None,
) -> Callable[..., int]:
    """Return a function with the parameters that Typer reads, which fills those of another.

    Args:
        function: Its parameters are options, groups, or what Typer hands a command.
        further: Parameters that the function does not get.
        names: Option to how it was typed, for messages.
    """
    parameters = [_parameter(*each) for each in _options(function)] + list(further)
    readers = {name: one.read for name, _, one, _ in _options(function) if one and one.read}

    @wraps(function)
    def call(**values: Any) -> int:
        for one in further:
            del values[one.name]
        for name, read in readers.items():
            values[name] = read((names or {})[name], values[name])
        return int(_filled(function, values))

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _options(kind: Any, group: Any = None) -> Iterator[tuple[str, Any, Option | None, Any]]:
    """Yield name, type, option and group of each parameter of a command, those of groups too."""
    given, hints = inspect.signature(kind).parameters, get_type_hints(kind)
    bases = kind.__mro__[1:] if isinstance(kind, type) else ()
    inherited = {name for base in bases for name in vars(base).get("__annotations__", ())}
    for name in sorted(hints, key=inherited.__contains__):
        hint = hints[name]
        if is_dataclass(hint):
            yield from _options(hint, hint)
        elif name in given:
            default = given[name].default
            if group is not None and not isinstance(default, Option):
                default = setting(kind, name)
            yield name, hint, default if isinstance(default, Option) else None, group


def _parameter(name: str, hint: Any, one: Option | None, group: Any) -> inspect.Parameter:
    if one is None:
        return inspect.Parameter(name, _BY_NAME, annotation=hint)
    return one.parameter(name, hint, None if group is None else _line(group)[0])


def _filled(kind: Any, values: dict[str, Any]) -> Any:
    """Call a command, or make a group, with its values, which are taken out of `values`."""
    hints = get_type_hints(kind)
    return kind(
        **{
            name: _filled(hints[name], values) if is_dataclass(hints[name]) else values.pop(name)
            for name in inspect.signature(kind).parameters
        }
    )


class _Grouped(TyperCommand):
    """A command whose help has a section for each group."""

    lines: ClassVar[Mapping[str, str]] = {}
    """Title of a group to what it is about."""
    shown: ClassVar[Sequence[str]] = ()
    """Names of the options that stand first, and in the short help alone."""
    typed: ClassVar[dict[str, str]] = {}
    """Name of each option to how it was typed last: `-R` or `--retriever-option`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words.

        Raises:
            UsageError: An option that has one value is given two.
        """
        given = list(valued(args))
        left = super().parse_args(ctx, args)
        for one in self.get_params(ctx):
            words = {value: word for word, value in given if word in one.opts}
            own = one.opts[0] if isinstance(one, TyperOption) else one.metavar or one.name
            name = next(iter(words.values()), str(own))
            self.typed[str(one.name)] = name
            if not isinstance(one, TyperOption) or one.multiple or one.is_flag:
                continue
            if len(words) > 1:
                raise UsageError(f"{name} is given twice, with two values; keep one")
        return left

    def get_help(self, ctx: Any) -> str:
        """Return the help as a terminal shows it."""
        return quoted(super().get_help(ctx))

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


def _line(kind: Any) -> tuple[str, str]:
    """Return the title of a group and what it is about: its docstring, `Title: about it.`."""
    title, _, about = (inspect.getdoc(kind) or "").partition("\n")[0].partition(": ")
    return title.rstrip("."), about


def _show_all(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


_HELP_ALL = flag("Show all options, in groups.", eager=True, callback=_show_all).parameter(
    "help_all", bool
)


# -- What a shell completes: verbs, options, and the names of pools, models, retrievers and runs.
#
# The shell calls `seal` with the variable `_SEAL_COMPLETE`: `source_bash` prints how.


VARIABLE = "_SEAL_COMPLETE"


def complete(wanted: str) -> int:
    """Print what a shell wants.

    Args:
        wanted: `source_bash` for its script, `complete_bash` for what may follow the words that it
            gives in further variables; so for the other shells.
    """
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()  # makes the shells known to what is called below
    COMPLETED.update(_BY_PARAMETER)
    os.environ[VARIABLE] = wanted
    with suppress(SealError, OSError):  # a folder that is typed may not be there yet
        _Verbs(name="seal").main([], prog_name="seal", complete_var=VARIABLE)
    return 0


class _Verbs(TyperGroup):
    """The verbs; one is imported when its options are wanted."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb; None where there is none."""
        from typer.main import get_command

        return get_command(load(cmd_name)) if cmd_name in VERBS else None


def _pools(incomplete: str) -> list[str]:
    from seal.pools.catalogue import catalogue

    return _that_begin(incomplete, catalogue()) + _folders(incomplete, "tools.jsonl")


def _registered(registry: str) -> Callable[..., list[str]]:
    """Return what completes the names of a registry, given as `module:name`."""

    def names(incomplete: str) -> list[str]:
        return _that_begin(incomplete, load_dotted(registry).names())

    return names


def _runs(incomplete: str) -> list[str]:
    return _folders(incomplete, "run.json")


def _tasks(ctx: typer.Context, incomplete: str) -> list[str]:
    from seal.runs.run import RunFolder

    run = ctx.params.get("run")
    return _that_begin(incomplete, RunFolder(run).task_ids() if run else ())


def _that_begin(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _folders(incomplete: str, holding: str) -> list[str]:
    """Return the folders below the one that is typed, or below this one, that hold a file."""
    parent = Path(incomplete).parent if incomplete else Path()
    found = {
        str(file.parent) for depth in ("*", "*/*") for file in parent.glob(f"{depth}/{holding}")
    }
    return _that_begin(incomplete, sorted(found))


_BY_PARAMETER: Mapping[str, Callable[..., list[str]]] = {
    "pool": _pools,
    "pools": _pools,
    "model": _registered("seal.models.spec:REGISTRY"),
    "retriever": _registered("seal.retrievers.build:REGISTRY"),
    "run": _runs,
    "runs": _runs,
    "task": _tasks,
}
"""Name of an option or argument to what it may be; of any other the shell offers files."""

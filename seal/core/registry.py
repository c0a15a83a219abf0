"""Plug-ins by name, with options: registries, and the notation `NAME,KEY=VALUE`."""

from __future__ import annotations

import inspect
import json
import logging
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from seal.core.errors import (
    CodeRefusedError,
    DataError,
    InfrastructureError,
    OptionError,
    SealError,
    UnknownNameError,
    UsageError,
    fault,
    is_short_of_memory,
    nearest,
    short_of_memory,
    shortened,
)
from seal.core.values import digest, normalise

# -- One look-up for everything that can be plugged in.
#
# Three ways in: an object (or class), a name (ours, registered in this process, or an entry point
# of an installed distribution), or a dotted path such as `my_lab.planners:OneTool`.
#
# Who asks decides what counts. `resolve` takes the user's own word, in all three ways. `named`
# takes what stands in data (a pool, a run folder, a scenario): data may be a stranger's, so it has
# names alone, and a dotted path only into a module that the user allows.

_log = logging.getLogger(__name__)
_SEAL = __name__.partition(".")[0]


def _installed(group: str) -> Sequence[EntryPoint]:
    """Return the entry points of a group, of all distributions that can be imported now."""
    return _points_of(group, tuple(sys.path))


@cache
def _points_of(group: str, path: tuple[str, ...]) -> Sequence[EntryPoint]:
    return tuple(_every_point(path).select(group=group))


@cache
def _every_point(path: tuple[str, ...]) -> Any:
    """Return every entry point along a path of imports: reading them anew costs tens of ms."""
    return entry_points()


class Registry:
    """The plug-ins of one kind.

    Args:
        kind: What they are, for messages: "retriever".
        group: Entry-point group: "seal.retrievers".
        ours: Name to `module:attribute`, imported when asked for.
        former: Name that was ours to what replaces it.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        ours: Mapping[str, str],
        former: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self._ours = dict(ours)
        self._former = dict(former or {})
        self._registered: dict[str, Any] = {}

    def register(self, name: str, plugin: Any) -> None:
        """Make an object known by name in this process.

        Raises:
            UsageError: The name is taken.
        """
        if name in self:
            raise UsageError(f"the {self.kind} {name!r} exists already; choose another name")
        self._registered[name] = plugin

    def __contains__(self, name: str) -> bool:
        """Tell whether a name is known; plug-ins are looked for where it is none of ours."""
        if name in self._ours or name in self._registered:
            return True
        return any(point.name == name for point in _installed(self.group))

    def names(self) -> list[str]:
        """Return all names, sorted, without importing any plug-in."""
        return sorted({*self._ours, *self._registered, *(p.name for p in _installed(self.group))})

    def is_ours(self, name: str) -> bool:
        """Tell whether SEAL offers a name. Imports nothing."""
        points = (point for point in _installed(self.group) if point.name == name)
        return name in self._ours or any(map(_is_ours, points))

    def offered_by(self, name: str) -> str:
        """Return the distributions that offer a name; empty: none does. Imports nothing."""
        if name in self._ours:
            return "seal"
        found = _homes([point for point in _installed(self.group) if point.name == name])
        return " and ".join(found) or "this process" * (name in self._registered)

    def resolve(self, what: Any) -> Any:
        """Return what a name or dotted path stands for; anything but a text stands for itself.

        Raises:
            UnknownNameError: No such name; lists the known ones and the closest.
            UsageError: A dotted path whose module or attribute does not exist, a module that fails
                to import, two distributions that offer one name, which SEAL does not offer, or a
                name that is gone.
        """
        if not isinstance(what, str):
            return what
        if what in self._registered:
            return self._registered[what]
        if what in self._ours:
            return load_dotted(self._ours[what])
        points = [point for point in _installed(self.group) if point.name == what]
        if points:
            return self._loaded(points)
        if ":" in what:
            return load_dotted(what)
        if what in self._former:
            raise UsageError(f"the {self.kind} {what!r} is gone: {self._former[what]}")
        raise UnknownNameError(self.kind, what, self.names())

    def _loaded(self, points: Sequence[EntryPoint]) -> Any:
        """Return what the one distribution offers that has a name; of several SEAL's own wins."""
        point, *further = points
        if further:  # to name the distributions means to read their metadata
            point = self._chosen(points)
        try:
            return load_dotted(f"{point.module}:{point.attr}")
        except UsageError as error:
            (home,) = _homes([point])
            raise UsageError(
                f"the {self.kind} {point.name!r} fails to import: {error}; or uninstall {home}"
            ) from error

    def _chosen(self, points: Sequence[EntryPoint]) -> EntryPoint:
        """Return the entry point of several of one name that counts."""
        ours = list(filter(_is_ours, points))
        homes, others = _homes(points), _homes([point for point in points if point not in ours])
        if ours and others:
            warn_once(
                f"{' and '.join(others)} offers the {self.kind} {ours[0].name!r} too, which is "
                "SEAL's; SEAL's is used; rename the other one, or uninstall it"
            )
            points, homes = ours, _homes(ours)
        if len(homes) > 1:
            raise UsageError(
                f"{' and '.join(homes)} both offer the {self.kind} {points[0].name!r}; "
                "uninstall one of them"
            )
        return points[0]

    def named(self, name: Any, place: str, allowed: Collection[str] = ()) -> Any:
        """Return what a text that stands in data stands for.

        Args:
            name: The text.
            place: Where it stands, for messages: "task 'one'".
            allowed: Modules into which data may name a dotted path.

        Raises:
            UnknownNameError: As `resolve`, as are the errors of an allowed path.
            DataError: As `check_named`.
        """
        self.check_named(name, place, allowed)
        return self.resolve(name)

    def check_named(self, name: Any, place: str, allowed: Collection[str] = ()) -> None:
        """Make sure that a text that stands in data names no code; imports nothing.

        Args:
            name: The text; one that nothing is called by is left to `resolve`.
            place: Where it stands, for messages.
            allowed: Modules into which data may name a dotted path.

        Raises:
            CodeRefusedError: It is a dotted path into a module that is not allowed.
            DataError: It is no text, or no path that could be allowed.
            OptionError: `allowed` holds no modules.
        """
        if not isinstance(name, str):
            raise DataError(
                f"{place}: expected the name of a {self.kind}, got {shortened(name)}; mend it"
            )
        if ":" not in name or name in self:
            return
        check_allowed(allowed)
        module, _, attribute = name.partition(":")
        # With a longer path, such as `my_lab:os.system`, a module would let in all that it imports.
        if not _is_module(module) or not attribute.isidentifier():
            raise DataError(
                f"{place}: the {self.kind} {shortened(name)} cannot be; expected a name, or a path "
                "such as my_lab.lamps:lamps; mend it"
            )
        if module not in allowed:
            raise CodeRefusedError(
                f"{place} names the {self.kind} {shortened(name)}, but data may not name code; "
                f"if you trust it, allow it: --allow-code {module}"
            )


def _is_ours(point: EntryPoint) -> bool:
    return point.module.partition(".")[0] == _SEAL


def _homes(points: Iterable[EntryPoint]) -> list[str]:
    """Return the names of the distributions that offer some entry points, sorted."""
    return sorted({str(point.dist.name) if point.dist else "?" for point in points})


@cache
def warn_once(text: str) -> None:
    """Tell something once in this process, however often it is found."""
    _log.warning("%s", text)


def check_allowed(modules: Any) -> None:
    """Make sure that what the user allows are modules.

    Raises:
        OptionError: It is a text (in which every part of it would be found), or one of them is
            no module's name.
    """
    several = not isinstance(modules, str) and isinstance(modules, Collection)
    wrong = [m for m in modules if not isinstance(m, str) or not _is_module(m)] if several else []
    if not several or wrong:
        raise OptionError(
            f"--allow-code {wrong[0] if wrong else modules}: expected modules, such as "
            "my_lab.lamps; from Python a tuple of them"
        )


def check_modules(modules: Collection[str]) -> None:
    """Make sure that what the user allows are modules that can be found; imports nothing.

    Raises:
        OptionError: As `check_allowed`, or there is no such module; names the closest one.
    """
    check_allowed(modules)
    for module in modules:
        if not is_module(module):
            from pkgutil import iter_modules

            package = module.rpartition(".")[0]
            above = _spec_of(package) if package else None
            places = above.submodule_search_locations if above else ["", *sys.path]
            known = iter_modules(places, f"{package}." if above else "")
            closest = nearest(module, [each.name for each in known if each.name != module])
            raise OptionError(
                f"--allow-code {module}: no such module is installed, in this folder, or on "
                f"PYTHONPATH{f'. Did you mean {closest}?' if closest else ''}"
            )


def is_module(name: str) -> bool:
    """Tell whether a module of this name can be found; imports nothing."""
    return _is_module(name) and (name in sys.modules or _spec_of(name) is not None)


def _spec_of(module: str) -> ModuleSpec | None:
    """Return where a module lies, without an import of it or of its package."""
    package = module.rpartition(".")[0]
    if not package:
        return find_spec(module) or PathFinder.find_spec(module, [""])
    above = _spec_of(package)
    places = None if above is None else above.submodule_search_locations
    return PathFinder.find_spec(module, places) if places else None


def _is_module(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def load_module(name: str, path: str = "") -> ModuleType:
    """Return a module; what is not installed is looked for in this folder, as `python -m` does.

    Args:
        name: Its dotted name.
        path: What the user wrote, for messages; empty: this name.

    Raises:
        UsageError: It does not exist, or fails at its import; its own error is the cause.
        InfrastructureError: Memory is short.
    """
    said = repr(path or name)
    top = name.partition(".")[0]
    known = top in sys.modules or find_spec(top) is not None
    if not known and PathFinder.find_spec(top, [""]) is not None:
        sys.path.append(str(Path.cwd()))  # last, so that no file there hides an installed package
    try:
        return import_module(name)
    except (SealError, KeyboardInterrupt):
        raise
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):
            raise UsageError(
                f"{said}: no module {error.name!r} is installed, in this folder, or on "
                f"PYTHONPATH{_moved(error)}"
            ) from error
        raise UsageError(
            f"{said}: {name} needs {error.name!r}, which is not installed"
            f"{_moved(error) or '; install it'}"
        ) from error
    except BaseException as error:
        raise _strange(said, f"{name} fails to import", error) from error


def load_dotted(path: str) -> Any:
    """Return the attribute that `package.module:attribute` names.

    Raises:
        UsageError: The text is no such path, the module or the attribute does not exist, or the
            module fails at its import or as its attribute is had; its own error is the cause.
    """
    module_name, _, attribute = path.partition(":")
    if not all(f"{module_name}.{attribute}".split(".")):
        raise UsageError(
            f"{path!r} is no dotted path; expected package.module:attribute, "
            "such as my_lab.planners:OneTool"
        )
    found: Any = load_module(module_name, path)
    with naming_stranger(path, f"{attribute!r} of {module_name} cannot be had"):
        for part in attribute.split("."):
            try:
                found = getattr(found, part)
            except AttributeError as error:
                close = nearest(part, dir(found))
                hint = f"did you mean {close!r}?" if close else "correct the name"
                raise UsageError(f"{path!r}: {module_name} has no {attribute!r}; {hint}") from error
    return found


@contextmanager
def naming_stranger(path: Any, what: str = "cannot be used") -> Iterator[None]:
    """Name a dotted path where what it stands for raises, whatever that is.

    Args:
        path: Anything but a dotted path is the caller's own, whose errors stay as they are.
        what: What fails, for the message.

    Raises:
        UsageError: Something was raised; it is the cause.
        InfrastructureError: Memory is short.
    """
    try:
        yield
    except (SealError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if not isinstance(path, str) or ":" not in path:
            raise
        raise _strange(repr(path), what, error) from error


def _strange(said: str, what: str, error: BaseException) -> SealError:
    if is_short_of_memory(error):
        return InfrastructureError(f"{said}: {what}: {short_of_memory(error)}")
    return UsageError(f"{said}: {what}: {fault(error)}{_moved(error)}; mend it")


# -- Names of parts: those that a user writes with options, and those that a record tells.
#
# A user writes a plug-in's name with its options in one text, such as
# `dense,model=all-MiniLM-L6-v2,index=HNSW32`.


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


_JSON = json.JSONDecoder(parse_constant=_refuse)


@dataclass(frozen=True, slots=True)
class Notation:
    """How the specs of one kind of plug-in are written: `NAME[,KEY=VALUE...]`."""

    kind: str
    """What is named, for messages: "retriever"."""
    example: str
    structured: bool = False
    """True where JSON lists and objects are values; else they are texts."""
    several_by: str = ""
    """What takes a list of specs, for messages; empty: nothing does."""

    def parse(self, text: str) -> tuple[str, dict[str, Any]]:
        """Return the name and the options that a text says.

        A value that is a JSON scalar (`3`, `0.5`, `true`, `null`, `"3"`) is that, any other its
        text. A comma within a JSON value (`"a,b"`, `["a","b"]`) ends nothing.

        Raises:
            UsageError: The name or a key is empty, or a key stands twice or has no `=`.
        """
        name, *words = _words(text)
        if not name:
            raise UsageError(
                f"{self.kind} {str(text)!r} has no name; write NAME[,KEY=VALUE...]: {self.example}"
            )
        options: dict[str, Any] = {}
        for word in words:
            key, equals, value = (part.strip() for part in word.partition("="))
            if not equals or not key:
                several = f"; {self.several_by}" if word and not equals and self.several_by else ""
                raise UsageError(
                    f"{self.kind} {name!r}: {word!r} is no KEY=VALUE; write {self.example}, and "
                    f'put a value that holds a comma in quotes: KEY="VALUE"{several}'
                )
            if key in options:
                raise UsageError(f"{self.kind} {name!r}: {key} stands twice; keep one of them")
            options[key] = self.value(value)
        return name, options

    def several(self, text: str) -> Iterator[str]:
        """Yield the specs of a comma-separated list: a word that is no KEY=VALUE begins the next.

        Example:
            >>> list(Notation("retriever", "bm25").several("bm25,k1=1.2,tfidf"))
            ['bm25,k1=1.2', 'tfidf']
        """
        spec: list[str] = []
        for word in _words(text):
            if spec and word and "=" not in word:
                yield ",".join(spec)
                spec = []
            spec.append(word)
        yield ",".join(spec)

    def value(self, text: str) -> Any:
        """Return what the text of a value says."""
        try:
            value = _JSON.decode(text)
        except (ValueError, RecursionError):
            return text
        nested = isinstance(value, (list, dict)) and not self.structured
        endless = isinstance(value, float) and not isfinite(value)
        return text if nested or endless else value

    def text(self, name: str, options: Mapping[str, Any]) -> str:
        """Return the spec as `parse` reads it, options in the order of their names.

        A value that is no JSON stands as its name.
        """
        return ",".join([name, *(f"{k}={self._text(v)}" for k, v in sorted(options.items()))])

    def _text(self, value: Any) -> str:
        if isinstance(value, str):
            plain = "," not in value and self.value(value.strip()) == value
            return value if plain else json.dumps(value, ensure_ascii=False)
        nested = self.structured and isinstance(value, (list, tuple, Mapping))
        if nested or value is None or isinstance(value, (bool, int, float)):
            return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return label_of(value)


def label_of(thing: Any) -> str:
    """Return a text that stands for an object: its identity, else its name, else its class's."""
    return str(
        getattr(thing, "identity", "") or getattr(thing, "__qualname__", type(thing).__name__)
    )


def _words(text: str) -> Iterator[str]:
    """Yield what stands between commas, without blanks around it."""
    start = 0
    while start <= len(text):
        end = _end(text, start)
        yield text[start:end].strip()
        start = end + 1


def _end(text: str, start: int) -> int:
    """Return where the word that begins at `start` ends: at a comma, or with the text."""
    comma = text.find(",", start)
    comma = len(text) if comma < 0 else comma
    equals = text.find("=", start, comma)
    value = text[equals + 1 :].lstrip() if equals >= 0 else ""
    if not value.startswith(('"', "[", "{")):
        return comma
    try:
        _, length = _JSON.raw_decode(value)
    except (ValueError, RecursionError):
        return comma
    end = len(text) - len(value[length:].lstrip())
    return end if end == len(text) or text[end] == "," else comma


def name_of(what: Any) -> Any:
    """Return the name that identifies a part: the text it was asked by, else its class.

    An object may say itself what it is by a text `identity`; the arguments of a `partial` and the
    fields of a dataclass that JSON can hold count by their digest, for they may be secrets.
    """
    if what is None or isinstance(what, str):
        return what
    if isinstance(what, partial):
        given = [list(map(_plain, what.args)), {k: _plain(v) for k, v in what.keywords.items()}]
        return f"{name_of(what.func)}#{digest(given)[:8]}"
    if not isinstance(what, type) and isinstance(getattr(what, "identity", None), str):
        return what.identity
    kind = what if isinstance(what, type) or callable(what) else type(what)
    name = f"{kind.__module__}:{getattr(kind, '__qualname__', type(kind).__qualname__)}"
    if isinstance(what, type) or not is_dataclass(what):
        return name
    values = {field.name: _plain(getattr(what, field.name)) for field in fields(what)}
    return f"{name}#{digest(values)[:8]}" if values else name


def settled(value: Any) -> Any:
    """Return a value; of an awaitable what it comes to, in an event loop of its own."""
    import asyncio

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited()) if inspect.isawaitable(value) else value


def source_of(function: Any) -> str:
    """Return the text of a function, by which it is told from others; else its name."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return str(name_of(function))


def _plain(value: Any) -> Any:
    """Return a value that JSON holds as it is, any other as the name of its class."""
    try:
        return normalise(value)
    except (TypeError, ValueError):
        return type(value).__name__


def _moved(error: BaseException) -> str:
    """Return where what a module of SEAL had is now, where an import of it failed; else ""."""
    module = error.name if isinstance(error, ImportError) else None
    if not (module or "").startswith("seal."):
        return ""
    from seal.core.text import shipped_json

    now = shipped_json(__package__, "moved_modules.json").get(module)
    return f"; what {module} had is in {now} now" if now else ""

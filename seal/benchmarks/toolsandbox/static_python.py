"""What a package's Python files define, worked out from their text: nothing is imported or run.

`StaticPython` follows syntax trees. It knows constants, names, containers, sums, comparisons,
f-strings, comprehensions, loops, conditions and calls. It calls what the files define, what its
user gives it by name, and a few methods of containers. Anything else is refused by file and line.
Work and sizes are bounded, so that no file can keep a process busy or fill its memory.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from seal.core import DataError, shortened
from seal.core.files import content_of
from seal.core.values import parse_module
from seal.pools.reading.files import utf8_text

_LONGEST = 100_000
"""Characters of a text, values of a container, or of containers within one another."""
_CHARACTERS = 100
"""Characters of a text that weigh as much as a value."""
SCALARS = (str, int, float, type(None))
_NUMBERS = (int, float)
_SUMS: Mapping[type[ast.operator], tuple[Callable[[Any, Any], Any], tuple[type, ...]]] = {
    ast.Add: (operator.add, (str, list, datetime, timedelta, *_NUMBERS)),
    ast.Sub: (operator.sub, (datetime, timedelta, *_NUMBERS)),
    ast.Mod: (operator.mod, _NUMBERS),
    ast.BitAnd: (operator.and_, (set,)),
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.In: lambda item, held: item in held,
    ast.NotIn: lambda item, held: item not in held,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class Open:
    """Base of values given by name whose public attributes and items the files may use."""


def weight(value: Any) -> int:
    """Return the number of values in a value, itself included, each as often as it is written out.

    Raises:
        ValueError: There are more than `_LONGEST`, as where it holds itself.
    """
    waiting, count = [value], 0
    while waiting:
        item = waiting.pop()
        count += 1 + (len(item) // _CHARACTERS if isinstance(item, str) else 0)
        waiting += item.values() if isinstance(item, dict) else ()
        waiting += item if isinstance(item, (list, tuple, set)) else ()
        if count + len(waiting) > _LONGEST:
            raise ValueError(f"more than {_LONGEST} values within one another")
    return count


def sized(value: Any) -> int:
    """Return how long a value is; 0: it has no length.

    Raises:
        ValueError: It is too long, or an integer of more than 64 bits.
    """
    size = len(value) if isinstance(value, (str, list, tuple, dict, set)) else 0
    if size > _LONGEST:
        raise ValueError(f"a {type(value).__name__} of more than {_LONGEST}")
    if isinstance(value, int) and abs(value) >> 64:
        raise ValueError("an integer of more than 64 bits")
    return size


def scalar(value: Any) -> Any:
    """Return a value that is a text, a number or None; raise TypeError where it is another."""
    if not isinstance(value, SCALARS):
        raise TypeError(f"expected a text or a number, got a {type(value).__name__}")
    return value


def listed(values: Any) -> list[Any]:
    """Return values as a list; raise ValueError where they are too many."""
    made = list(islice(values, _LONGEST + 1))
    sized(made)
    return made


def joined(between: str, texts: Any) -> str:
    """Return texts as one; raise ValueError where it would be too long."""
    parts = list(map(scalar, texts))
    if sum(map(len, parts)) + len(between) * len(parts) > _LONGEST:
        raise ValueError(f"a text of more than {_LONGEST}")
    return between.join(parts)


def summed(by: ast.operator, left: Any, right: Any) -> Any:
    """Return a sum, difference, remainder or intersection; raise TypeError where it is none."""
    function, kinds = _SUMS.get(type(by), (operator.add, ()))
    if not isinstance(left, kinds) or not isinstance(right, kinds):
        pair = f"a {type(left).__name__} and a {type(right).__name__}"
        raise TypeError(f"{type(by).__name__} of {pair} is not understood")
    return function(left, right)


def attribute(owner: Any, name: str) -> Any:
    """Return an attribute of a value; raise AttributeError where it is not one of those known."""
    if name in _ATTRIBUTES.get(type(owner), ()):
        return getattr(owner, name)
    if isinstance(owner, Open) and not name.startswith("_"):
        return getattr(owner, name)
    if (type(owner), name) in _METHODS:
        return partial(_METHODS[type(owner), name], owner)
    raise AttributeError(f"the attribute {name} of a {type(owner).__name__} is not known")


def _update(held: dict[Any, Any], more: dict[Any, Any]) -> None:
    if not isinstance(more, dict):  # keys of other containers would be hashed, however large
        raise TypeError(f"expected a dict, got a {type(more).__name__}")
    held.update(more)
    sized(held)


_ATTRIBUTES: Mapping[type, Sequence[str]] = {
    dict: ("items", "keys", "values"),
    list: ("append", "extend"),
    str: ("lstrip",),
    datetime: ("day", "isoweekday", "month", "timestamp", "year"),
}
_METHODS: Mapping[tuple[type, str], Callable[..., Any]] = {
    (dict, "update"): _update,
    (str, "join"): joined,
}
BUILTINS: Mapping[str, Any] = {
    "dict": lambda: {},
    "float": float,
    "int": int,
    "list": listed,
    "range": lambda *bounds: listed(range(*bounds)),
    "set": lambda values=(): set(map(scalar, values)),
    "str": lambda value: str(scalar(value)),
    "itertools.combinations": lambda values, count: listed(combinations(listed(values), count)),
}
"""Functions of Python that files may call."""


_STEPS = 1_000_000
"""Parts of syntax trees that are followed in all; ToolSandbox's scenarios take two fifths."""
_LARGEST = 2**22
"""Bytes of a file."""
_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError),
    *(TypeError, ValueError, DataError),
)
_GOES_ON = object()


class _Refused(DataError):
    """What a file has is not understood, or beyond bounds; the text names file and line."""


class _File:
    """What a file defines and imports, by name; a member of a class as `Class.member`."""

    def __init__(self, path: Path, module: str) -> None:
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path}: expected at most {_LARGEST} bytes")
        try:
            tree = parse_module(utf8_text(content_of(path), str(path)))
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {error}; fetch it again") from error
        self.path, self.module = path, module
        self.defined: dict[str, ast.AST] = {}
        self.imported: dict[str, str] = {}
        for statement in tree.body:
            self._add(statement)

    def dotted(self, name: str) -> str:
        """Return what a name at the top of the file stands for; empty: nothing."""
        return f"{self.module}.{name}" if name in self.defined else self.imported.get(name, "")

    def _add(self, statement: ast.stmt, owner: str = "") -> None:
        match statement:
            case ast.Import(names=names):
                for each in names:
                    first = each.name.partition(".")[0]
                    self.imported[each.asname or first] = each.name if each.asname else first
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for each in names:
                    self.imported[each.asname or each.name] = f"{module}.{each.name}"
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                self.defined[owner + name] = statement
                for inner in statement.body if isinstance(statement, ast.ClassDef) else ():
                    self._add(inner, f"{owner}{name}.")
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                made = value.func if owner and isinstance(value, ast.Call) else None
                automatic = isinstance(made, ast.Name) and made.id == "auto"
                self.defined[owner + name] = ast.Constant(name) if automatic else value


class StaticPython:
    """The values of names that Python files define.

    Args:
        root: Folder of the packages.
        known: Dotted name, such as `json.dumps`, to what stands for it; goes before what the files
            define. Functions among these are called with what the files give.
    """

    def __init__(self, root: Path, known: Mapping[str, Any]) -> None:
        self._root = root.resolve()
        self._known = {**BUILTINS, **known}
        self._files: dict[str, _File | None] = {}
        self._values: dict[str, Any] = {}
        self._left = _STEPS

    def value(self, dotted: str) -> Any:
        """Return what a name stands for, such as `package.module.NAME`.

        A function is returned as one to call, a module as its name. A member of a class that is
        made by `auto()` is its own name, as of a `StrEnum`.

        Raises:
            DataError: Nothing known defines it, or what does is not understood or beyond bounds;
                the text names file and line.
        """
        if dotted in self._known:
            return self._known[dotted]
        if dotted not in self._values:
            self._values[dotted] = self._made(dotted)
        return self._values[dotted]

    def dictionary(self, dotted: str, key: str) -> dict[str, Any]:
        """Return the first dictionary with a key that is written in a function.

        Raises:
            DataError: There is none, or its values are not understood.
        """
        for file, held in self._definitions(dotted):
            for part in ast.walk(held):
                if isinstance(part, ast.Dict) and any(
                    isinstance(each, ast.Constant) and each.value == key for each in part.keys
                ):
                    made: dict[str, Any] = _Frame(self, file, {}).value(part)
                    return made
        raise DataError(f"{dotted} writes no dictionary with {key!r}")

    def function(self, dotted: str) -> ast.FunctionDef:
        """Return the tree of a function, which is not followed.

        Raises:
            DataError: No file defines one of that name.
        """
        for _, held in self._definitions(dotted):
            if isinstance(held, ast.FunctionDef):
                return held
        raise DataError(f"{dotted} is not known")

    def step(self, count: int = 1) -> None:
        """Count parts that are followed.

        Raises:
            ValueError: They are too many.
        """
        self._left -= count
        if self._left < 0:
            raise ValueError(f"more than {_STEPS} steps")

    def _made(self, dotted: str) -> Any:
        for file, held in self._definitions(dotted):
            if isinstance(held, ast.FunctionDef):
                return partial(self._call, file, held)
            return _Frame(self, file, {}).value(held)
        module, _, name = dotted.rpartition(".")
        file_of = self._file(module)
        if file_of is not None and name in file_of.imported:
            return self.value(file_of.imported[name])
        if self._path(dotted) is None:
            raise DataError(f"{dotted} is not known")
        return dotted

    def _definitions(self, dotted: str) -> Iterator[tuple[_File, ast.AST]]:
        """Yield where a name is defined: in a module, or in a class there."""
        parts = dotted.split(".")
        for count in (1, 2):
            file, name = self._file(".".join(parts[:-count])), ".".join(parts[-count:])
            if file is not None and name in file.defined:
                yield file, file.defined[name]

    def _file(self, module: str) -> _File | None:
        if module not in self._files:
            path = self._path(module)
            self._files[module] = _File(path, module) if path is not None else None
        return self._files[module]

    def _path(self, module: str) -> Path | None:
        whole = self._root.joinpath(*module.split("."))
        for path in (whole.with_suffix(".py"), whole / "__init__.py"):
            if module and path.is_file() and path.resolve().is_relative_to(self._root):
                return path
        return None

    def _call(self, file: _File, function: ast.FunctionDef, /, *given: Any, **by_name: Any) -> Any:
        takes = function.args
        if function.decorator_list or takes.vararg or takes.kwarg or takes.kwonlyargs:
            raise TypeError(f"{function.name} is decorated, or takes any arguments")
        names = [each.arg for each in (*takes.posonlyargs, *takes.args)]
        frame = _Frame(self, file, dict(zip(names, given, strict=False)) | by_name)
        defaults = zip(names[len(names) - len(takes.defaults) :], takes.defaults, strict=True)
        frame.names |= {name: frame.value(held) for name, held in defaults if name not in by_name}
        frame.names |= dict(zip(names, given, strict=False))
        if frame.names.keys() != set(names) or len(given) > len(names):
            raise TypeError(f"{function.name} takes {', '.join(names) or 'nothing'}")
        made = frame.run(function.body)
        return None if made is _GOES_ON else made


class _Frame:
    """One call of a function, or the top of a file.

    Args:
        python: Whose names are known.
        file: Where it stands.
        names: Its own names.
    """

    def __init__(self, python: StaticPython, file: _File, names: dict[str, Any]) -> None:
        self.names = names
        self._python = python
        self._file = file

    def run(self, body: Sequence[ast.stmt]) -> Any:
        """Return what the statements return; `_GOES_ON`: nothing yet."""
        for statement in body:
            with self._placed(statement):
                made = self._run(statement)
            if made is not _GOES_ON:
                return made
        return _GOES_ON

    def value(self, node: ast.AST) -> Any:
        """Return the value of an expression."""
        with self._placed(node):
            made = self._value(node)
            self._python.step(sized(made) // 100)
            return made

    @contextmanager
    def _placed(self, node: ast.AST) -> Iterator[None]:
        try:
            self._python.step()
            yield
        except _Refused:
            raise
        except _FAULTS as error:
            told = f"no {error}" if isinstance(error, KeyError) else error
            line = getattr(node, "lineno", 0)
            raise _Refused(f"{self._file.path}, line {line}: {told}") from error

    def _run(self, statement: ast.stmt) -> Any:
        match statement:
            case ast.Return(value=value):
                return self.value(value) if value is not None else None
            case ast.Expr(value=value):
                self.value(value)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self.value(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                whole = ast.BinOp(ast.copy_location(ast.Name(name), target), op, value)
                self._assign(target, self.value(ast.copy_location(whole, target)))
            case ast.For(target=target, iter=several, body=body, orelse=[]):
                for item in self._items(several):
                    self._assign(target, item)
                    if (made := self.run(body)) is not _GOES_ON:
                        return made
            case ast.If(test=test, body=body, orelse=otherwise):
                return self.run(body if self.value(test) else otherwise)
            case ast.Assert(test=test):
                if not self.value(test):
                    raise ValueError(f"it does not hold that {ast.unparse(test)}")
            case _:
                raise self._strange(statement)
        return _GOES_ON

    def _value(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=value) if isinstance(value, SCALARS):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name() | ast.Attribute():
                return self._named(node)
            case ast.List(elts=parts):
                return self._parts(parts)
            case ast.Tuple(elts=parts):
                return tuple(self._parts(parts))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                names = [scalar(self.value(key)) for key in keys if key]
                return dict(zip(names, map(self.value, values), strict=True))
            case ast.Call():
                return self._call(node)
            case ast.JoinedStr(values=values):
                return joined("", map(self._text, values))
            case ast.ListComp(elt=elt, generators=generators):
                return [inner.value(elt) for inner in self._each(generators)]
            case ast.DictComp(key=key, value=value, generators=generators):
                inner_frames = self._each(generators)
                return {scalar(i.value(key)): i.value(value) for i in inner_frames}
            case ast.Subscript(value=value, slice=key):
                return self._item(self.value(value), key)
            case ast.BinOp(left=left, op=op, right=right):
                return summed(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return operator.neg(self.value(operand))
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return operator.invert(self.value(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                pair = self.value(left), self.value(right)
                self._python.step(sum(map(weight, pair)))
                return COMPARISONS[type(op)](*pair)
        raise self._strange(node)

    def _strange(self, node: ast.AST) -> ValueError:
        return ValueError(f"not understood: {type(node).__name__} {shortened(ast.unparse(node))}")

    def _named(self, node: ast.Name | ast.Attribute) -> Any:
        dotted = self._dotted(node)
        if dotted:
            return self._python.value(dotted)
        if isinstance(node, ast.Name):
            return self._python.value(node.id)
        return attribute(self.value(node.value), node.attr)

    def _dotted(self, node: ast.AST) -> str:
        """Return the dotted name that leads out of the function; empty: another expression."""
        if isinstance(node, ast.Name):
            return "" if node.id in self.names else self._file.dotted(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""

    def _parts(self, parts: Sequence[ast.expr]) -> list[Any]:
        made: list[Any] = []
        for part in parts:
            made += self._items(part.value) if isinstance(part, ast.Starred) else [self.value(part)]
            sized(made)
        return made

    def _items(self, several: ast.expr) -> list[Any]:
        return listed(self.value(several))

    def _each(self, generators: Sequence[ast.comprehension]) -> Iterator[_Frame]:
        first, *rest = generators
        for item in self._items(first.iter):
            inner = _Frame(self._python, self._file, dict(self.names))
            inner._assign(first.target, item)
            if all(inner.value(test) for test in first.ifs):
                yield from inner._each(rest) if rest else [inner]

    def _call(self, node: ast.Call) -> Any:
        if self._dotted(node.func) == "typing.cast":
            return self.value(node.args[-1])
        function = self.value(node.func)
        given = [self.value(part) for part in node.args]
        by_name = {str(each.arg): self.value(each.value) for each in node.keywords}
        if not callable(function) or None in (each.arg for each in node.keywords):
            raise self._strange(node)
        self._python.step(sum(map(weight, (*given, *by_name.values()))))
        made = function(*given, **by_name)
        sized(getattr(function, "__self__", None))
        return made

    def _text(self, part: ast.expr) -> str:
        if isinstance(part, ast.Constant):
            return str(part.value)
        match part:
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return str(scalar(self.value(value)))
        raise self._strange(part)

    def _item(self, held: Any, key: ast.expr) -> Any:
        if type(held) not in (dict, list, tuple) and not isinstance(held, Open):
            raise TypeError(f"no item of a {type(held).__name__}")
        if isinstance(key, ast.Slice):
            ends = [end and self.value(end) for end in (key.lower, key.upper, key.step)]
            return held[slice(*ends)]
        return held[scalar(self.value(key))]

    def _assign(self, target: ast.AST, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=targets):
                for each, item in zip(targets, listed(value), strict=True):
                    self._assign(each, item)
            case ast.Subscript(value=held, slice=key):
                owner = self.value(held)
                if not isinstance(owner, dict):
                    raise TypeError(f"no items of a {type(owner).__name__} are set")
                owner[scalar(self.value(key))] = value
                sized(owner)
            case ast.Attribute(value=held, attr=name):
                owner = self.value(held)
                if not isinstance(owner, Open) or name[0] == "_" or name not in vars(owner):
                    raise AttributeError(f"no attribute {name} of a {type(owner).__name__} is set")
                setattr(owner, name, value)
            case _:
                raise self._strange(target)

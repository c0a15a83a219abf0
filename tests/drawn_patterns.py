"""Each regular expression of the package, with the methods by which its callers ask it.

The modules are walked for compiled patterns: constants, members of tables and of classes, what a
cached function without parameters returns, and what the code itself writes into `re.search(...)`.
The callers are found in the source. A pattern whose callers cannot be told is asked by `finditer`,
which starts anew at each place.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import seal

METHODS = {
    **{name: name for name in ("match", "fullmatch", "search", "finditer")},
    **dict.fromkeys(("findall", "sub", "subn", "split"), "finditer"),
}
"""What a caller asks to the one that costs as much."""
_ASKS = re.compile(rf"\.(?:{'|'.join(METHODS)})\b")
_TOLD_BY = (
    *(ast.For, ast.comprehension, ast.Assign, ast.NamedExpr),
    *(ast.Call, ast.Attribute, ast.ImportFrom, ast.FunctionDef),
)
"""Nodes that ask a pattern, or hand it on."""
_FREE = "word"
"""Stands for what the code puts into a pattern as it runs."""


class Drawn(NamedTuple):
    """A pattern and a method by which it is asked."""

    place: str
    """Module, and the name or the line."""
    pattern: re.Pattern[Any]
    method: str


@cache
def every_pattern() -> list[Drawn]:
    """Return each pattern of the package once for each method by which it is asked."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(seal.__path__, "seal.")
        if not found.name.endswith("__main__")
    ]
    named: dict[tuple[str, str], list[re.Pattern[Any]]] = {}
    asked: dict[tuple[str, str], set[str]] = {}
    written: list[Drawn] = []
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__:
                for inner, held in vars(value).items():
                    named[module.__name__, inner] = [*_patterns(held)]
            elif not isinstance(value, ModuleType):
                named[module.__name__, name] = [*_patterns(value)]
    named = {place: found for place, found in named.items() if found}
    for module in modules:
        callers = _Callers(module, named)
        for place, method in callers.asked():
            asked.setdefault(place, set()).add(method)
        written += callers.written()
    found = {
        (pattern, method): Drawn(f"{place[0]}.{place[1]}", pattern, method)
        for place, patterns in named.items()
        for pattern in patterns
        for method in asked.get(place, ())
    }
    known = {pattern for pattern, _ in found}
    for place, patterns in named.items():
        for pattern in patterns:
            if pattern not in known:
                found[pattern, "finditer"] = Drawn(".".join(place), pattern, "finditer")
    for one in written:
        found.setdefault((one.pattern, one.method), one)
    return [*found.values()]


def _patterns(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(getattr(value, "__self__", None), re.Pattern):
        yield value.__self__
    elif hasattr(value, "cache_info") and not value.__wrapped__.__code__.co_argcount:
        if "re" in value.__wrapped__.__code__.co_names:
            yield from _patterns(value(), depth + 1)
    elif depth < 4 and isinstance(value, Mapping):
        yield from _patterns([*value.keys(), *value.values()], depth + 1)
    elif depth < 4 and isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _patterns(one, depth + 1)


class _Callers:
    """What the source of a module asks of patterns."""

    def __init__(
        self, module: ModuleType, named: Mapping[tuple[str, str], list[re.Pattern[Any]]]
    ) -> None:
        self._module, self._named = module, named
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        self._inner = {name for _, name in named}
        self._nodes = [*_scoped(ast.parse(text), "")] if _ASKS.search(text) else []
        self._from = {
            one.asname or one.name: (node.module, one.name)
            for _, node in self._nodes
            if isinstance(node, ast.ImportFrom) and node.module
            for one in node.names
        }
        self._parameters = {
            node.name: [one.arg for one in node.args.args]
            for _, node in self._nodes
            if isinstance(node, ast.FunctionDef)
        }
        self._alias: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for _ in range(3):  # what is handed on is handed on again
            for scope, node in self._nodes:
                self._note(scope, node)

    def asked(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Yield the place of each pattern with a method that is named behind it."""
        for scope, node in self._nodes:
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                for place in self._meant(scope, node.value):
                    yield place, METHODS[node.attr]

    def written(self) -> Iterator[Drawn]:
        """Yield the patterns that stand in the code as they are asked."""
        for scope, node in self._nodes:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            base, method = node.func.value, node.func.attr
            if not (isinstance(base, ast.Name) and base.id == "re" and node.args):
                continue
            text = self._text(node.args[0])
            if text is None or not (method in METHODS or (method == "compile" and scope)):
                continue
            flags = {_flags(one) for one in [*node.args[1:], *(k.value for k in node.keywords)]}
            compiled = re.compile(text, sum(flags))
            asked = METHODS.get(method, "finditer")
            yield Drawn(f"{self._module.__name__}:{node.lineno}", compiled, asked)

    def _note(self, scope: str, node: ast.AST) -> None:
        """Note the names by which known patterns go: of loops, of assignments, of parameters."""
        if isinstance(node, ast.For | ast.comprehension):
            self._call(scope, node.target, self._meant(scope, node.iter))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._call(scope, target, self._meant(scope, node.value))
        elif isinstance(node, ast.NamedExpr):
            self._call(scope, node.target, self._meant(scope, node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            wanted = self._parameters.get(node.func.id, ())
            for name, given in zip(wanted, node.args, strict=False):
                self._call(node.func.id, ast.Name(name), self._meant(scope, given))

    def _call(self, scope: str, target: ast.AST, places: set[tuple[str, str]]) -> None:
        for node in ast.walk(target) if places else ():
            if isinstance(node, ast.Name):
                self._alias.setdefault((scope, node.id), set()).update(places)

    def _meant(self, scope: str, node: ast.AST) -> set[tuple[str, str]]:
        """Return the places of patterns that an expression may stand for."""
        if isinstance(node, ast.Name):
            place = self._from.get(node.id, (self._module.__name__, node.id))
            found = {place} if place in self._named else set()
            return found | self._alias.get((scope, node.id), set())
        if isinstance(node, ast.Attribute):
            if node.attr not in self._inner:
                return set()
            return {place for place in self._named if place[1] == node.attr}
        if isinstance(node, ast.Subscript):
            return self._meant(scope, node.value)
        if isinstance(node, ast.Call):
            inner = [node.func, *node.args]
            if isinstance(node.func, ast.Attribute):
                inner = [node.func.value] if node.func.attr in ("items", "values", "get") else []
            return set().union(*(self._meant(scope, one) for one in inner))
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Tuple | ast.List | ast.Starred):
            return set().union(*(self._meant(scope, one) for one in ast.iter_child_nodes(node)))
        return set()

    def _text(self, node: ast.AST) -> str | bytes | None:
        """Return the pattern that an expression writes; None: it cannot be told."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            return node.value
        if isinstance(node, ast.Name) and isinstance(vars(self._module).get(node.id), str):
            return str(vars(self._module)[node.id])
        if isinstance(node, ast.JoinedStr):
            return "".join(str(self._text(part)) for part in node.values)
        if isinstance(node, ast.BinOp):
            left, right = self._text(node.left), self._text(node.right)
            return None if left is None or right is None else left + right  # type: ignore[operator]
        return _FREE if isinstance(node, ast.FormattedValue) else None


def _flags(node: ast.AST) -> int:
    found = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return sum(int(getattr(re, name)) for name in found & set(re.RegexFlag.__members__))


def _scoped(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield each node below one with the name of the function that it stands in."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, _TOLD_BY):
            yield scope, inner
        yield from _scoped(inner, inner.name if isinstance(inner, ast.FunctionDef) else scope)

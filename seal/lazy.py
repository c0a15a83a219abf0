"""Names that a package loads from its modules when they are first used.

Type checkers see only the names that the package also imports under `TYPE_CHECKING`.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORTED = re.compile(r"^    from (\S+) import (\w+) as \2$", re.MULTILINE)
_DEFINED = re.compile(r"^(?:(?:async )?def|class) (\w+)|^(\w+)(?:: .+)? = ", re.MULTILINE)


def imported_names(package: str) -> dict[str, str]:
    """Return the names that a package imports under `TYPE_CHECKING`, each with its module."""
    text = Path(_file(package)).read_text(encoding="utf-8")
    return {name: module for module, name in _IMPORTED.findall(text)}


def give_names(package: str) -> None:
    """Let a package give the names of `given_names`.

    Args:
        package: Its `__name__`.
    """

    def load(name: str) -> Any:
        module = None if name.startswith("_") else given_names(package).get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return take(package, name, module)

    vars(sys.modules[package])["__getattr__"] = load


@cache
def given_names(package: str) -> Mapping[str, str]:
    """Return the names that exactly one module below a package defines, each with that module.

    A name that a module of the package itself has is left out.
    """
    root = Path(_file(package)).parent
    homes: dict[str, set[str]] = defaultdict(set)
    for file in root.rglob("*.py"):
        parts = file.relative_to(root).with_suffix("").parts
        module = ".".join((package, *parts)).removesuffix(".__init__")
        for groups in _DEFINED.findall(file.read_text(encoding="utf-8")):
            homes["".join(groups)].add(module)
    hidden = {path.stem for path in root.iterdir() if path.suffix in (".py", "")}
    return {
        name: modules.pop()
        for name, modules in homes.items()
        if len(modules) == 1 and name not in hidden
    }


def take(package: str, name: str, module: str) -> Any:
    """Return a name of a module, and let the package hold it from now on."""
    value = getattr(import_module(module), name)
    setattr(sys.modules[package], name, value)
    return value


def _file(package: str) -> str:
    return str(import_module(package).__file__)

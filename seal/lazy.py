"""Names that a package loads from its modules when they are first used."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def loader(
    package: str, homes: Mapping[str, Iterable[str]], hint: str = ""
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names stand in other modules.

    Type checkers do not see it: the package also imports the names under `TYPE_CHECKING`.

    Args:
        package: Its `__name__`.
        homes: Module to its names; of a module inside the package the last part, after a dot.
        hint: Where other names are, for the message that there is none of a name.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        value = getattr(import_module(home_of[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load

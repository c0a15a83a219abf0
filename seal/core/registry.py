"""One look-up for everything that can be plugged in.

Three ways in: an object (or class), a name (ours, registered in this process, or an entry point of
an installed distribution), or a dotted path such as `my_lab.planners:OneTool`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from seal.core.errors import UnknownNameError, UsageError


class Registry:
    """The plug-ins of one kind.

    Args:
        kind: What they are, for messages: "retriever".
        group: Entry-point group: "seal.retrievers".
        ours: Name to `module:attribute`, imported when asked for.
    """

    def __init__(self, kind: str, group: str, ours: Mapping[str, str]) -> None:
        self.kind = kind
        self.group = group
        self._ours = dict(ours)
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
        return any(point.name == name for point in entry_points(group=self.group))

    def names(self) -> list[str]:
        """Return all names, sorted, without importing any plug-in."""
        return sorted(
            {*self._ours, *self._registered, *(p.name for p in entry_points(group=self.group))}
        )

    def resolve(self, what: Any) -> Any:
        """Return what a name or dotted path stands for; anything but a text stands for itself.

        Raises:
            UnknownNameError: No such name; lists the known ones and the closest.
            UsageError: A dotted path whose module or attribute does not exist.
            Exception: A plug-in that fails to import raises what it raises, with its own traceback.
        """
        if not isinstance(what, str):
            return what
        if what in self._registered:
            return self._registered[what]
        if what in self._ours:
            return load_dotted(self._ours[what])
        for point in entry_points(group=self.group):
            if point.name == what:
                return point.load()
        if ":" in what:
            return load_dotted(what)
        raise UnknownNameError(self.kind, what, self.names())


def load_dotted(path: str) -> Any:
    """Return the attribute that `package.module:attribute` names.

    Raises:
        UsageError: The text is no such path, or the module or the attribute does not exist.
        Exception: The module fails to import: what it raises, with its own traceback.
    """
    module_name, _, attribute = path.partition(":")
    if not all(f"{module_name}.{attribute}".split(".")):
        raise UsageError(
            f"{path!r} is no dotted path; expected package.module:attribute, "
            "such as my_lab.planners:OneTool"
        )
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise UsageError(
                f"{path!r}: no module {error.name!r}; is its folder on PYTHONPATH?"
            ) from error
        raise
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise UsageError(f"{path!r}: {module_name} has no {attribute!r}") from error
    return found

"""Run by the interpreter that has bfcl-eval: answers lines with what its classes say.

A line is `{"ask": NAME, "of": {...}}` and its answer `{"value": ...}`, or `{"error": TEXT}`. SEAL
starts it (`seal.benchmarks.bfcl.world`). It imports nothing of SEAL, and runs under Python 3.10.
Given the folder of a package, it loads its classes, and what plays them, from there: no `__init__`
of the package is run, and nothing of it that imports further packages.

bfcl-eval evaluates calls as Python text. So a text is made here alone: of a method of the item's
classes, arguments with names that Python takes, and literals. All else becomes `UNKNOWN`, which
fails there as an unknown function does.
"""

from __future__ import annotations

import hashlib
import json
import keyword
import math
import os
import sys
import types
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

NAME = "bfcl-eval"
UNKNOWN = "no_such_function()"
TURNS = "bfcl_eval.eval_checker.multi_turn_eval"

BACKENDS = (
    "GorillaFileSystem",
    "MathAPI",
    "MessageAPI",
    "TicketAPI",
    "TradingBot",
    "TravelAPI",
    "TwitterAPI",
    "VehicleControlAPI",
)
"""The classes of dialogues."""

Call = tuple[str, dict[str, Any]]
"""Name and arguments."""


def data() -> Path:
    """Return the folder of the items that the peer ships."""
    return Path(next(iter(import_module("bfcl_eval").__path__))) / "data"


@cache
def items(category: str, folder: str = "") -> dict[str, Any]:
    """Return the records of a category by id."""
    text = (data() / folder / f"BFCL_v4_{category}.json").read_text("utf-8")
    records = map(json.loads, filter(str.strip, text.split("\n")))
    return {record["id"]: record for record in records}


def load_from(folder: Path) -> None:
    """Let the package be a folder whose modules are found, and whose `__init__` files are not run.

    Args:
        folder: Of `bfcl_eval`.
    """
    inner = ("", ".constants", ".eval_checker", ".eval_checker.multi_turn_eval")
    for name in (*inner, f"{inner[-1]}.func_source_code"):
        package = types.ModuleType(f"bfcl_eval{name}")
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[package.__name__] = package


def digest_of(folder: Path) -> str:
    """Return the first digits of a SHA-256 of the files that play dialogues."""
    turns = folder / "eval_checker" / "multi_turn_eval"
    files = [folder / "constants" / "executable_backend_config.py", turns / "multi_turn_utils.py"]
    read = hashlib.sha256()
    for file in [*files, *sorted((turns / "func_source_code").glob("*.py"))]:
        raw = file.read_bytes()
        read.update(f"{file.name} {len(raw)}\n".encode() + raw)
    return read.hexdigest()[:12]


def paths_of_classes() -> dict[str, str]:
    """Return class to the module that has it."""
    config = import_module("bfcl_eval.constants.executable_backend_config")
    return dict(config.CLASS_FILE_PATH_MAPPING)


def category_of(item: str) -> str:
    """Return the category that an id begins with; an unknown id raises a KeyError."""
    names = [path.stem.replace("BFCL_v4_", "") for path in data().glob("BFCL_v4_*.json")]
    fitting = [name for name in names if item.startswith(f"{name}_") and item in items(name)]
    if not fitting:
        raise KeyError(f"{NAME} has no item {item!r} in {data()}")
    return max(fitting, key=len)


def methods(entry: dict[str, Any]) -> set[str]:
    """Return the names that calls of an item may have."""
    where = paths_of_classes()
    classes = [getattr(import_module(where[name]), name) for name in entry["involved_classes"]]
    return {name for made in classes for name in dir(made) if not name.startswith("_")}


class Played:
    """The classes of one item, as the peer makes them for a name of its own.

    Args:
        item: Id of a multi-turn item.
        name: No two of a process may be alike: the peer keeps what it makes by name.
    """

    def __init__(self, item: str, name: str) -> None:
        self.entry, self.name = items(category_of(item))[item], name
        self.methods = methods(self.entry)
        self.instances: dict[str, Any] = {}
        self.run([])

    def run(self, calls: list[Call]) -> list[str]:
        """Return what calls bring, one after the other."""
        utils = import_module(f"{TURNS}.multi_turn_utils")
        results, self.instances = utils.execute_multi_turn_func_call(
            [written(name, arguments, self.methods) for name, arguments in calls],
            self.entry["initial_config"],
            self.entry["involved_classes"],
            self.name,
            self.entry["id"],
            long_context="long_context" in self.entry["id"],
        )
        return list(results)

    def state(self) -> dict[str, Any]:
        """Return class to its public attributes."""
        return {name: plain(instance, ()) for name, instance in self.instances.items()}


def written(name: str, arguments: dict[str, Any], known: set[str]) -> str:
    """Return a call as the peer writes it; `UNKNOWN` where it is none of a method."""
    sound = all(key.isidentifier() and not keyword.iskeyword(key) for key in arguments)
    if name not in known or not sound:
        return UNKNOWN
    return f"{name}({','.join(f'{k}={v!r}' for k, v in arguments.items())})"


def plain(value: Any, above: tuple[int, ...]) -> Any:
    """Return a value as JSON; an object is its public attributes, less those that hold it."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if id(value) in above:
        return None
    above = (*above, id(value))
    if isinstance(value, dict):
        return {str(key): plain(item, above) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item, above) for item in value]
    if not hasattr(value, "__dict__"):
        return str(value)
    return {k: plain(v, above) for k, v in vars(value).items() if not k.startswith("_")}


def forget(name: str) -> None:
    """Drop the classes that the peer made for a name."""
    utils = import_module(f"{TURNS}.multi_turn_utils")
    for kept in [kept for kept in vars(utils) if kept.startswith(name)]:
        delattr(utils, kept)


class Peer:
    """What may be asked, by name.

    Args:
        source: Folder of the package; None: it is installed.
    """

    def __init__(self, source: Path | None = None) -> None:
        self.source = source
        self.asked = 0
        self.chat: Played | None = None

    def version(self) -> str:
        """Return the peer's version; of a folder the digest of its files, which can be loaded."""
        if self.source is None:
            return metadata.version(NAME)
        for module in (path for name, path in paths_of_classes().items() if name in BACKENDS):
            import_module(module)
        return f"files {digest_of(self.source)}"

    def open(self, item: str) -> dict[str, Any]:
        """Begin the chat of this process; return the state in which it begins."""
        self.chat = Played(item, self.name())
        return self.chat.state()

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what a call of the chat brings, and the state after it."""
        if self.chat is None:
            raise RuntimeError("no chat was opened")
        (text,) = self.chat.run([(name, arguments)])
        return {"text": text, "state": self.chat.state()}

    def played(
        self, item: str, made: list[list[Call]], gold: list[list[Call]]
    ) -> list[dict[str, Any]]:
        """Return for each turn what made and gold calls bring, each in classes of their own.

        Beside `results` and `gold` stands which classes `differ` after the turn, by their public
        attributes.
        """
        one, other = Played(item, self.name()), Played(item, self.name())
        told = []
        for calls, wanted in zip(made, gold, strict=True):
            results, golden = one.run(calls), other.run(wanted)
            state, right = one.state(), other.state()
            differ = [name for name in right if state[name] != right[name]]
            told.append({"results": results, "gold": golden, "differ": differ})
        forget(one.name)
        forget(other.name)
        return told

    def name(self) -> str:
        """Return a name that no classes have yet."""
        self.asked += 1
        return f"asked{self.asked}x"


def main(answering: type[Peer] = Peer) -> None:
    """Answer lines until there are no more."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what foreign code prints is no answer
    source = Path(sys.argv[1]) if sys.argv[1:] else None
    if source is not None:
        load_from(source)
    peer = answering(source)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            told = {"value": getattr(peer, asked["ask"])(**asked["of"])}
        except BaseException as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        said.write(json.dumps(told) + "\n")
        said.flush()


if __name__ == "__main__":
    main()

"""Run by the interpreter that the user names: answers lines with what tau-bench's tools say.

A line is `{"ask": NAME, "of": {...}}` and its answer `{"value": ...}`, or `{"error": TEXT}`. SEAL
starts it (`seal.benchmarks.taubench.world`) with the folder `tau_bench` and a domain. It imports
nothing of SEAL, and runs under Python 3.9. Of the package the tools, tasks, texts and data of the
domain are loaded, which need no other packages. Their `__init__` files, which import a client of
models, are not run.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
import types
from importlib import import_module
from pathlib import Path
from typing import Any

OLDEST = (3, 9)
ENDS = "transfer_to_human_agents"
"""The tool after whose call upstream ends the chat."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_REFUSED = (
    *("os.chmod", "os.chown", "os.exec", "os.fork", "os.kill", "os.link", "os.mkdir", "os.posix"),
    *("os.putenv", "os.remove", "os.rename", "os.rmdir", "os.spawn", "os.symlink", "os.system"),
    *("os.truncate", "os.utime", "ctypes.", "shutil.", "socket.", "subprocess."),
)
"""How the names of audit events begin that are no tool's business."""
_MEMORY = 4 << 30


class Record:
    """Stands for upstream's tasks and actions, whose own classes need pydantic."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def load(folder: Path, domain: str) -> Any:
    """Let the package be a folder whose modules are found; return what imports those of a domain.

    Args:
        folder: `tau_bench` of a checkout.
        domain: `airline` or `retail`.
    """
    for name in ("tau_bench", "tau_bench.envs", f"tau_bench.envs.{domain}"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    records = types.ModuleType("tau_bench.types")
    records.Task = records.Action = Record  # type: ignore[attr-defined]
    sys.modules[records.__name__] = records
    return lambda part: import_module(f"tau_bench.envs.{domain}.{part}")


def shut_in() -> None:
    """Bound memory and written bytes; refuse to write files, to start programs and to connect.

    This keeps tools that err from doing harm. It does not hold back code that means to.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def refuse(event: str, of: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED) or (event == "open" and of[2] & _WRITING):
            raise PermissionError(f"a tool may not do this: {event}")

    sys.addaudithook(refuse)


class Domain:
    """What may be asked, by name.

    Args:
        folder: `tau_bench` of a checkout.
        domain: `airline` or `retail`.
    """

    def __init__(self, folder: Path, domain: str) -> None:
        self.folder, self.domain = folder / "envs" / domain, domain
        self.part = load(folder, domain)
        tools = self.part("tools").ALL_TOOLS
        self.tools = {tool.get_info()["function"]["name"]: tool for tool in tools}
        self.begun = self.part("data").load_data()
        self.packed = pickle.dumps(self.begun)
        self.data = self.begun

    def version(self) -> str:
        """Return the first digits of a SHA-256 of the domain's files."""
        read = hashlib.sha256()
        for file in sorted([*self.folder.rglob("*.py"), *self.folder.rglob("*.json")]):
            raw = file.read_bytes()
            read.update(f"{file.relative_to(self.folder)} {len(raw)}\n".encode() + raw)
        return read.hexdigest()[:12]

    def describe(self, split: str) -> dict[str, Any]:
        """Return the domain's tools, policy and tables, and the tasks of a split."""
        splits = sorted(path.stem[len("tasks_") :] for path in self.folder.glob("tasks_*.py"))
        found = vars(self.part(f"tasks_{split}")) if split in splits else {}
        listed: Any = next((found[name] for name in found if name.startswith("TASKS")), [])
        return {
            "tools": [tool.get_info()["function"] for tool in self.tools.values()],
            "policy": self.part("wiki").WIKI,
            "tables": {name: len(rows) for name, rows in self.begun.items()},
            "splits": splits,
            "tasks": [
                {**vars(task), "actions": [vars(action) for action in task.actions]}
                for task in listed
            ],
        }

    def open(self, rows: dict[str, dict[str, Any]]) -> None:
        """Begin a chat with the data as upstream loads it, but for some rows; None: there is none.

        Args:
            rows: Table to key to row.
        """
        self.data = pickle.loads(self.packed)
        for table, given in rows.items():
            for key, row in given.items():
                if row is None:
                    self.data[table].pop(key, None)
                else:
                    self.data[table][key] = row

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the text that a call brings, and the rows that are not as upstream loads them.

        An exception of a tool is such a text too, as upstream's environment has it.
        """
        kind = None
        try:
            text = str(self.tools[name].invoke(data=self.data, **arguments))
        except BaseException as error:  # whatever a tool raises, such as SystemExit
            text, kind = f"Error: {error}", type(error).__name__
        return {"text": text, "raised": kind, "rows": self.changed()}

    def changed(self) -> dict[str, dict[str, Any]]:
        """Return table to key to each row that differs from the data as loaded; None: it is gone.

        Numbers are compared by their values: 1 is 1.0.
        """
        found: dict[str, dict[str, Any]] = {}
        for table in {**self.begun, **self.data}:
            before, now = self.begun.get(table, {}), self.data.get(table, {})
            rows = {key: row for key, row in now.items() if key not in before or before[key] != row}
            rows.update(dict.fromkeys(key for key in before if key not in now))
            if rows:
                found[table] = rows
        return found

    def play(self, calls: list[dict[str, Any]], user: str) -> dict[str, Any]:
        """Play gold calls on fresh data.

        Args:
            calls: Each a map of name and arguments (`kwargs`).
            user: Id of the user who asks.

        Returns:
            Of each call whether it is refused, and table to key to the rows, as loaded, that the
            calls change or that are the user's.
        """
        self.open({})
        refused = []
        for call in calls:
            said = self.call(call["name"], call["kwargs"])
            refused.append(bool(said["raised"]) or said["text"].startswith("Error"))
        changed = self.changed()
        return {
            "refused": refused,
            "rows": {
                table: {
                    key: row
                    for key, row in rows.items()
                    if key in changed.get(table, ()) or user in (key, row.get("user_id"))
                }
                for table, rows in self.begun.items()
            },
        }


def main() -> None:
    """Answer lines until there are no more."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what foreign code prints is no answer
    domain, fault = None, ""
    try:
        if sys.version_info < OLDEST:
            raise RuntimeError(f"it is Python {sys.version.split()[0]}, older than 3.9")
        domain = Domain(Path(sys.argv[1]), sys.argv[2])
        shut_in()
    except BaseException as error:
        fault = f"not loaded: {type(error).__name__}: {error}"
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if fault:
                raise RuntimeError(fault)
            told = json.dumps({"value": getattr(domain, asked["ask"])(**asked["of"])}, default=str)
        except BaseException as error:
            told = json.dumps({"error": fault or f"{type(error).__name__}: {error}"})
        said.write(told + "\n")
        said.flush()


if __name__ == "__main__":
    main()

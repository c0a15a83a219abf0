"""Run by the interpreter that the user names: answers lines with what upstream's tools say.

A line is `{"ask": NAME, "of": {...}}` and its answer `{"value": ...}`, or `{"error": TEXT}`. SEAL
starts it (`seal.benchmarks.taubench.world`) with the folder of the package, `tau_bench` or `tau2`,
and a domain. It imports nothing of SEAL, and runs under Python 3.9. Of the package the tools,
tasks, texts and data of the domain are loaded. Those of tau-bench need no other packages; those of
tau2-bench need pydantic and a few more. Their `__init__` files, which import a client of models,
are not run.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
import types
from collections.abc import Callable
from copy import deepcopy
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
BEGINNING, ASSERTIONS, PHONE = "beginning", "assertions", "user"
SHOWN = (BEGINNING, ASSERTIONS, PHONE)
"""Tables of a domain whose users have tools: functions by which a task begins, what it asserts of
its end, and what the user has."""


class Record:
    """Stands for upstream's tasks and actions, whose own classes need pydantic."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def load(folder: Path, *packages: str) -> None:
    """Let packages be folders whose modules are found, though their `__init__` is not run.

    Args:
        folder: That of the first one.
        packages: The package, and packages in it, by their names.
    """
    for name in packages:
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package


def stand_in(module: str, **has: Any) -> None:
    """Let a module be one that has some names and nothing else."""
    made = types.ModuleType(module)
    vars(made).update(has)
    sys.modules[module] = made


def digest_of(files: list[Path], root: Path) -> str:
    """Return the first digits of a SHA-256 of files below a folder."""
    read = hashlib.sha256()
    for file in sorted(files):
        raw = file.read_bytes()
        read.update(f"{file.relative_to(root)} {len(raw)}\n".encode() + raw)
    return read.hexdigest()[:12]


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
        load(folder, "tau_bench", "tau_bench.envs", f"tau_bench.envs.{domain}")
        stand_in("tau_bench.types", Task=Record, Action=Record)
        self.part: Callable[[str], Any] = lambda name: import_module(
            f"tau_bench.envs.{domain}.{name}"
        )
        tools = self.part("tools").ALL_TOOLS
        self.tools = {tool.get_info()["function"]["name"]: tool for tool in tools}
        self.begun: dict[str, dict[str, Any]] = self.part("data").load_data()
        self.packed = pickle.dumps(self.begun)
        self.data = self.begun

    def version(self) -> str:
        """Return the first digits of a SHA-256 of the domain's files."""
        files = [*self.folder.rglob("*.py"), *self.folder.rglob("*.json")]
        return digest_of(files, self.folder)

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
                {
                    "user_id": task.user_id,
                    "instruction": task.instruction,
                    "actions": [{"name": one.name, "kwargs": one.kwargs} for one in task.actions],
                    "outputs": task.outputs,
                }
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

    def play(
        self, calls: list[dict[str, Any]], begun: dict[str, dict[str, Any]], user: str = ""
    ) -> dict[str, Any]:
        """Play gold calls on fresh data.

        Args:
            calls: Each a map of name and arguments (`kwargs`).
            begun: What the task begins with, as of `open`.
            user: Id of the user who asks; empty: each whose id stands in the calls or their
                results.

        Returns:
            Of each call whether it is refused. And table to key to the rows, as loaded: those that
            the calls change, and the user's.
        """
        self.open(begun)
        refused, named = [], {user}
        for call in calls:
            said = self.call(call["name"], call["kwargs"])
            refused.append(bool(said["raised"]) or said["text"].startswith("Error"))
            named |= set() if user else {said["text"], *map(str, call["kwargs"].values())}
        changed, rows = self.changed(), self.beginning()
        users = named & {*rows.get("users", ())}
        return {
            "refused": refused,
            "rows": {
                table: {
                    key: row
                    for key, row in of.items()
                    if key in changed.get(table, ())
                    or key in users
                    or row.get("user_id") in users
                    or table in SHOWN
                }
                for table, of in rows.items()
            },
        }

    def beginning(self) -> dict[str, dict[str, Any]]:
        """Return table to key to row, as upstream loads them."""
        return self.begun


class Second(Domain):
    """A domain of tau2-bench: its data are models of pydantic, and its tools methods.

    After a chat only the rows that it changed are set back. The data are loaded anew where one
    went.

    Args:
        folder: `tau2` of a checkout, in `src`.
        domain: `airline`, `retail` or `telecom`.
    """

    def __init__(self, folder: Path, domain: str) -> None:
        self.root = folder
        os.environ["LOGURU_LEVEL"] = "ERROR"
        inner = ("data_model", "domains", f"domains.{domain}", "environment")
        load(folder, "tau2", *(f"tau2.{name}" for name in inner))
        stand_in("dotenv", load_dotenv=lambda *given, **named: False)  # a file of keys
        self.home = import_module(f"tau2.domains.{domain}.environment")
        self.domain, self.pristine = domain, self._loaded()
        self.begun = {}
        self.env = self._loaded()
        self.message = import_module("tau2.data_model.message").ToolCall

    def _loaded(self) -> Any:
        return self.home.get_environment()

    def version(self) -> str:
        """Return the first digits of a SHA-256 of the domain's files, and of those it uses."""
        used = (f"domains/{self.domain}", "environment", "data_model", "utils")
        files = [file for part in used for file in (self.root / part).rglob("*.py")]
        utils = sys.modules.get("tau2.utils.utils")
        data = getattr(utils, "DATA_DIR", None)
        code = digest_of(files, self.root)
        if data is None:
            return code
        of = data / "tau2" / "domains" / self.domain
        kept = (file for form in ("*.json", "*.md", "*.toml") for file in of.glob(form))
        return code + digest_of([*kept], of)

    def describe(self, split: str) -> dict[str, Any]:
        """Return the domain's tools, policy and tables, and the tasks of a split."""
        named = getattr(self.home, "get_tasks_split", None)
        splits = [*named()] if named else ["base"]
        tasks: list[Any] = []
        if split in splits:
            tasks = self.home.get_tasks(split) if named else self.home.get_tasks()
        return {
            "tools": [tool.openai_schema["function"] for tool in self.env.get_tools()],
            "user_tools": self.user_tools(),
            "policy": self.env.policy,
            "tables": {name: len(rows) for name, rows in self._tables(self.pristine).items()},
            "splits": splits,
            "tasks": [task.model_dump(mode="json") for task in tasks],
        }

    def user_tools(self) -> list[dict[str, Any]]:
        """Return the tools that the user has."""
        return []

    def requestor(self, name: str) -> str:
        """Return who calls a tool."""
        return "assistant"

    def _tables(self, env: Any) -> dict[str, dict[str, Any]]:
        """Return the parts of the data that are maps from keys to rows."""
        found = {name: getattr(env.tools.db, name) for name in type(env.tools.db).model_fields}
        return {name: rows for name, rows in found.items() if isinstance(rows, dict)}

    def open(self, rows: dict[str, dict[str, Any]]) -> None:
        """Begin a chat with the data as upstream loads them, but for some rows."""
        now, begun = self._tables(self.env), self._tables(self.pristine)
        if any(not before.keys() <= now[name].keys() for name, before in begun.items()):
            self.env = self._loaded()  # a row went, and with it its place in the order
            now = self._tables(self.env)
        for name, before in begun.items():
            for key in [*now[name]]:
                if key not in before:
                    del now[name][key]
                elif now[name][key] != before[key]:
                    now[name][key] = deepcopy(before[key])
        for name, given in rows.items():
            for key, row in given.items():
                if row is None:
                    now[name].pop(key, None)
                elif key not in now[name] or plain(now[name][key]) != row:
                    one = now[name].get(key) or next(iter(begun[name].values()))
                    now[name][key] = type(one).model_validate(row)

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the text that a call brings, and the rows that are not as upstream loads them."""
        kind = None
        try:
            asked = self.message(
                id="", name=name, arguments=deepcopy(arguments), requestor=self.requestor(name)
            )
            said = self.env.get_response(asked)
            text, kind = str(said.content), "exception" if said.error else None
        except BaseException as error:  # whatever a tool raises, such as SystemExit
            text, kind = f"Error: {error}", type(error).__name__
        return {"text": text, "raised": kind, "rows": self.changed()}

    def changed(self) -> dict[str, dict[str, Any]]:
        """Return table to key to each row that is not as loaded; None: it is gone."""
        found: dict[str, dict[str, Any]] = {}
        now = self._tables(self.env)
        for name, before in self._tables(self.pristine).items():
            rows = {
                key: plain(row)
                for key, row in now[name].items()
                if key not in before or before[key] != row
            }
            rows.update(dict.fromkeys(key for key in before if key not in now[name]))
            if rows:
                found[name] = rows
        return found

    def beginning(self) -> dict[str, dict[str, Any]]:
        """Return table to key to row, as upstream loads them."""
        if not self.begun:
            tables = self._tables(self.pristine)
            self.begun = {
                name: {key: plain(row) for key, row in rows.items()}
                for name, rows in tables.items()
            }
        return self.begun


class WithUser(Second):
    """A domain of tau2-bench whose users have tools: its data are lists of rows, and a phone.

    A task begins by functions that are run on the data as loaded. It may assert of its end what
    functions say. Each stands in a table of its own, with `holds` for whether it does.
    """

    def __init__(self, folder: Path, domain: str) -> None:
        super().__init__(folder, domain)
        self.packed = pickle.dumps((self.env.tools.db, self.env.user_tools.db))
        self.tasks = import_module("tau2.data_model.tasks")
        self.functions: dict[str, Any] = {}
        self.asserted: dict[str, Any] = {}

    def _tables(self, env: Any) -> dict[str, dict[str, Any]]:
        """Return the parts of the data, each as a map from keys to rows."""
        db, phone = env.tools.db, env.user_tools.db
        found = {
            table: {key_of(row): row for row in getattr(db, table)}
            for table in type(db).model_fields
        }
        return {**found, PHONE: {part: getattr(phone, part) for part in type(phone).model_fields}}

    def user_tools(self) -> list[dict[str, Any]]:
        """Return the tools that the user has."""
        return [tool.openai_schema["function"] for tool in self.env.get_user_tools()]

    def requestor(self, name: str) -> str:
        """Return who calls a tool; no name is one of both."""
        return "user" if self.env.user_tools.has_tool(name) else "assistant"

    def open(self, rows: dict[str, dict[str, Any]]) -> None:
        """Begin a chat by the functions of its task, then set rows that are other ones."""
        self.functions, asserted = rows.get(BEGINNING, {}), rows.get(ASSERTIONS, {})
        db, phone = pickle.loads(self.packed)
        self.env = self.home.get_environment(db=db, user_db=phone)
        for _, function in sorted(self.functions.items(), key=lambda one: int(one[0])):
            self.env.run_env_function_call(self.tasks.EnvFunctionCall(**function))
        self.env.sync_tools()
        self.begun = self._rows()
        self.asserted = {
            key: {**one, "holds": one.get("holds", self._holds(one))}
            for key, one in asserted.items()
        }
        for table, given in rows.items():
            if table not in (BEGINNING, ASSERTIONS):
                self._set(table, given)

    def _set(self, table: str, given: dict[str, Any]) -> None:
        """Set rows of a table; None: a row is gone."""
        if table == PHONE:
            phone = self.env.user_tools.db
            for part, row in given.items():
                setattr(phone, part, type(getattr(phone, part)).model_validate(row))
            return
        rows = getattr(self.env.tools.db, table)
        made = {key_of(row): row for row in rows}
        kind = type(rows[0])
        for key, row in given.items():
            made[key] = None if row is None else kind.model_validate(row)
        rows[:] = [row for row in made.values() if row is not None]

    def _rows(self) -> dict[str, dict[str, Any]]:
        return {
            table: {key: plain(row) for key, row in rows.items()}
            for table, rows in self._tables(self.env).items()
        }

    def _holds(self, one: dict[str, Any]) -> bool:
        """Tell whether an assertion holds now; it is asked of a copy, for it may change data."""
        said = {name: value for name, value in one.items() if name != "holds"}
        env = deepcopy(self.env)
        return bool(env.run_env_assertion(self.tasks.EnvAssertion(**said), False))

    def changed(self) -> dict[str, dict[str, Any]]:
        """Return table to key to each row that is not as the task begins; None: it is gone."""
        found: dict[str, dict[str, Any]] = {}
        for table, now in self._rows().items():
            before = self.begun[table]
            rows = {key: row for key, row in now.items() if before.get(key) != row}
            rows.update(dict.fromkeys(key for key in before if key not in now))
            if rows:
                found[table] = rows
        held = {key: {**one, "holds": self._holds(one)} for key, one in self.asserted.items()}
        other = {key: one for key, one in held.items() if one != self.asserted[key]}
        return {**found, ASSERTIONS: other} if other else found

    def beginning(self) -> dict[str, dict[str, Any]]:
        """Return table to key to row, as the task begins."""
        return {**self.begun, BEGINNING: self.functions, ASSERTIONS: self.asserted}


def key_of(row: Any) -> str:
    """Return the key of a row in a list: its first field."""
    return str(getattr(row, next(iter(type(row).model_fields))))


def plain(row: Any) -> Any:
    """Return a row as JSON has it."""
    return row.model_dump(mode="json") if hasattr(row, "model_dump") else row


KINDS = {"tau_bench": Domain, "tau2": Second, "telecom": WithUser}
"""Name of the package, or of a domain of its own kind, to what loads a domain."""


def main() -> None:
    """Answer lines until there are no more."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what foreign code prints is no answer
    domain, fault = None, ""
    try:
        if sys.version_info < OLDEST:
            raise RuntimeError(f"it is Python {sys.version.split()[0]}, older than 3.9")
        folder = Path(sys.argv[1])
        domain = KINDS[sys.argv[2] if sys.argv[2] in KINDS else folder.name](folder, sys.argv[2])
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

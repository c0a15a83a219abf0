"""The embedded sandbox: Monty, a Python interpreter without a system, in a process of its own.

The interpreter, written in Rust, knows no file, no network and no process. It lacks generators,
inheritance, `del` and most of the standard library, as its documents say. It runs in a worker
process that dies with its limits, never in the harness.

The worker keeps one session for all cases of a function. So the code's own variables last from case
to case, as in a module. After a case that ran out of time or memory a new session begins. No
expected result ever enters it. Clock and randomness are fixed, sleeping takes no time.

Source: pydantic-monty's `Monty`, `checkout` and `feed_run`.
"""

from __future__ import annotations

import builtins
import json
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from seal.core import JSON, InfrastructureError, needing
from seal.sandbox.function_cases import (
    MOST_MESSAGE,
    MOST_OUTPUT,
    MOST_RESULT,
    NOW,
    SPENT,
    Case,
    Limits,
    Module,
    Outcome,
    Row,
    failed,
    limits_named,
    play_cases,
    returned,
    too_large,
)

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontyError, MontySession

NAME = "monty"
PACKAGE = "pydantic-monty"

_RUNNER = """
import json

space = {"__name__": "source"}
rows = json.loads(table)
flat = not any(isinstance(cell, (list, dict)) for row in rows for cell in row.values())

def cut(error):
    said = str(error)
    if len(said) <= MESSAGE:
        raise error
    return [type(error).__name__, said[:MESSAGE]]

def readable(source):
    try:
        exec("raise KeyError\\n" + source, {})
    except KeyError:
        return True
    except BaseException:
        return False

def load(source):
    if not readable(source):
        exec(source, space)
    try:
        exec(source, space)
    except BaseException as error:
        return cut(error)

def defined(function):
    return not isinstance(space.get(function), PLAIN)

def play(function, arguments):
    given = [dict(row) for row in rows] if flat else json.loads(table)
    try:
        found = json.dumps(space[function](given, **json.loads(arguments)), allow_nan=False)
    except BaseException as error:
        return cut(error)
    return found if len(found) <= MOST else len(found)
"""
"""The session's own code, whose names the source cannot reach: it runs in a `space` of its own.

The text of an exception may fill the sandbox's memory: it is cut before the harness has to hold it.
Only a source that Monty cannot read is run where nothing catches its error, whose frames then tell
that it was the parser's.
"""
_PLAIN = "(str, bytes, int, float, list, dict, tuple, set, type(None))"
"""Of what is no function; Monty has no `callable`."""
_LACKING: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    (re.compile(r"No module named '(\w+)"), lambda m: m[1] in sys.stdlib_module_names),
    (re.compile(r"module '(\w+)' has no attribute '(\w+)'"), lambda m: _of_module(m[1], m[2])),
    (re.compile(r"cannot import name '(\w+)' from '(\w+)'"), lambda m: _of_module(m[2], m[1])),
    (re.compile(r"name '(\w+)' is not defined"), lambda m: _builtin(m[1])),
    (re.compile(r"'(\w+)' object has no attribute '(\w+)'"), lambda m: _of_type(m[1], m[2])),
    (re.compile(r"is not supported in this environment|Internal error in monty"), lambda _: True),
)
_MODULES = frozenset(
    {"collections", "copy", "csv", "dataclasses", "datetime", "decimal", "functools", "itertools"}
    | {"json", "math", "os", "random", "re", "sys", "time", "typing", "unicodedata"}
)
"""Those that both Pythons have, of which ours may know more."""
_TYPES = {"function": types.FunctionType, "method": types.MethodType}


class MontySandbox:
    """Runs functions in Monty's worker processes, one for each `run`.

    Args:
        limits: Of a case.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def identity(self) -> dict[str, JSON]:
        """Return name, version and limits."""
        _monty()
        return {"name": NAME, "version": version(PACKAGE), "limits": limits_named(self._limits)}

    def run(
        self, source: str, function: str, table: Sequence[Row], cases: Sequence[Case]
    ) -> list[Outcome]:
        """Return one outcome for each case (`Sandbox.run`)."""
        monty = _monty()

        @contextmanager
        def opened() -> Iterator[_Module]:
            with _pool(monty, self._limits) as pool, ExitStack() as stack:
                yield _Module(pool, self._limits, source, function, json.dumps(list(table)), stack)

        return play_cases(source, cases, self._limits, NAME, opened)


class _Module(Module):
    """The source in a session that is opened when it is needed."""

    def __init__(
        self, pool: Monty, limits: Limits, source: str, function: str, table: str, stack: ExitStack
    ) -> None:
        super().__init__()
        self._pool, self._limits, self._stack = pool, limits, stack
        self._source, self._function, self._table = source, function, table
        self._session: MontySession | None = None

    def _is_open(self) -> bool:
        return self._session is not None

    def _outcome(self, case: Case) -> Outcome:
        if self._session is None:
            return failed("exception", "the session was lost", NAME)
        inputs = {"function": self._function, "arguments": json.dumps(case.arguments)}
        found, fault = self._feed("play(function, arguments)", inputs)
        if fault is not None:
            return fault
        if isinstance(found, int):
            return too_large(found, NAME)
        return returned(str(found), case, NAME)

    def _load(self) -> None:
        self._stack.close()  # the session before it, whose worker is taken back or gone
        limits = self._limits
        opened = self._pool.checkout(
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_memory": limits.memory,
                "max_recursion_depth": limits.recursion,
            },
            os_policy={"sleep": "zero", "datetime": NOW, "random_start": {"seed": 0}},
        )
        self._session = self._stack.enter_context(opened)
        runner = _RUNNER.replace("MESSAGE", str(MOST_MESSAGE)).replace("PLAIN", _PLAIN)
        found: Any = None
        for code, inputs in (
            (runner.replace("MOST", str(MOST_RESULT)), {"table": self._table}),
            ("load(source)", {"source": self._source}),
            ("defined(function)", {"function": self._function}),
        ):
            if self._broken is None:
                found, self._broken = self._feed(code, inputs)
        if self._broken is None and not found:
            missing = f"the code defines no function {self._function}"
            self._broken = failed("no_function", missing, NAME)
        if self._broken is not None:
            self._session = None

    def _feed(self, code: str, inputs: dict[str, str]) -> tuple[Any, Outcome | None]:
        """Return what code evaluates to, or the outcome of a case that it fails."""
        monty = _monty()
        assert self._session is not None
        printed = monty.CollectString(MOST_OUTPUT)
        try:
            found = self._session.feed_run(code, inputs=inputs, print_callback=printed)
        except monty.MontyError as error:
            told = str(error) or type(error.exception()).__name__
            fault = failed(_status(monty, error), told, NAME)
            crashed = isinstance(error, monty.MontyCrashedError)
            if fault.status in SPENT or crashed:
                self._session = None
            if crashed and not error.timed_out:
                self.deaths.append(self._case)
            return None, fault
        if isinstance(found, list):  # of an error's kind and the beginning of its text
            kind, said = map(str, found)
            status = "memory" if kind == "MemoryError" else "exception"
            return None, failed(status, f"{kind}: {said}", NAME)
        return found, None


@contextmanager
def _pool(monty: Any, limits: Limits) -> Iterator[Monty]:
    """Open a pool of one worker.

    Raises:
        InfrastructureError: The worker cannot be started.
    """
    grace = max(0.5, limits.seconds / 2)
    with ExitStack() as stack:
        try:
            opened = monty.Monty(max_processes=1, feed_duration_limit_grace=grace)
            pool: Monty = stack.enter_context(opened)
        except (OSError, RuntimeError, monty.MontyError) as error:
            raise InfrastructureError(
                f"the worker of {PACKAGE} cannot be started: {error}; install it again with "
                f'pip install --force-reinstall "{PACKAGE}"'
            ) from error
        yield pool


def _status(monty: Any, error: MontyError) -> str:
    """Return what a failure in the worker is."""
    if isinstance(error, monty.MontySyntaxError):
        return "syntax"
    if isinstance(error, monty.MontyCrashedError):
        return "timeout" if error.timed_out else "exception"
    inner, told = error.exception(), str(error)
    if isinstance(inner, TimeoutError) and "time limit exceeded: " in told:
        return "timeout"
    if isinstance(inner, MemoryError):
        return "memory"
    return "unsupported" if _lacks(error, inner) else "exception"


def _lacks(error: Any, inner: BaseException) -> bool:
    """Tell whether Monty fails where Python would not, for lack of a construct or a module."""
    if isinstance(inner, NotImplementedError):
        frames = error.traceback()
        # The parser says it of a place that no function, nor the module, has entered.
        return bool(frames) and frames[-1].function_name is None
    if not isinstance(inner, (ImportError, AttributeError, NameError, RuntimeError)):
        return False
    found = ((pattern.search(str(error)), has) for pattern, has in _LACKING)
    return any(match is not None and has(match) for match, has in found)


def _of_module(module: str, name: str) -> bool:
    return module in _MODULES and hasattr(import_module(module), name)


def _builtin(name: str) -> bool:
    return hasattr(builtins, name) or name in ("exit", "quit", "__builtins__")


def _of_type(kind: str, name: str) -> bool:
    known = _TYPES.get(kind, getattr(builtins, kind, None))
    return isinstance(known, type) and (hasattr(known, name) or name == "__class__")


def _monty() -> Any:
    """Return the module.

    Raises:
        MissingExtraError: It is not installed.
    """
    with needing(PACKAGE, "dialogue"):
        import pydantic_monty
    return pydantic_monty

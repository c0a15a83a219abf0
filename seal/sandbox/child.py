"""The program of the child process: loads the source, then answers one case a line.

Runs as text under bubblewrap (`seal.sandbox.bubblewrap`), alone, with nothing but the standard
library; no harness imports it for its functions. Requests and answers are lines of JSON. What it
answers is written by a process that holds untrusted code, and is judged as such by who reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from collections.abc import Callable

MOST_MESSAGE = 300
LOADS, DUMPS = json.loads, json.dumps
"""As they were before the code came."""


class Printed:
    """Takes what the code prints, up to a limit, and keeps none of it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.left = most

    def write(self, text: str) -> int:
        """Count a text."""
        self.left -= len(text)
        if self.left < 0:
            raise MemoryError(f"printed more than {self.most} characters")
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


def bound(limits: dict[str, float]) -> None:
    """Set the limits of this process, for good."""
    for name, most in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            resource.setrlimit(kind, (int(most), int(most)))


def stop_clocks(now: float) -> None:
    """Let every clock stand still, and sleep take no time: equal code has equal outcomes.

    Args:
        now: Seconds since 1970.
    """
    sys.modules["_datetime"] = None  # type: ignore[assignment]  # the one in Python asks `time`
    import time

    def at(real: Callable[[float], object]) -> Callable[..., object]:
        return lambda seconds=None: real(now if seconds is None else seconds)

    for name in ("time", "monotonic", "perf_counter"):
        setattr(time, name, lambda: now)
        setattr(time, f"{name}_ns", lambda: int(now * 10**9))
    for name in ("process_time", "thread_time"):
        setattr(time, name, lambda: 0.0)
        setattr(time, f"{name}_ns", lambda: 0)
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(
        0 if isinstance(seconds, (int, float)) and seconds >= 0 else seconds
    )
    time.gmtime, time.localtime, time.ctime = map(at, (time.gmtime, time.localtime, time.ctime))  # type: ignore[assignment]
    strftime = time.strftime
    time.strftime = lambda form, moment=None: strftime(form, moment or time.gmtime())


def fix_chance() -> None:
    """Let what is drawn at random be the same each time."""
    import random

    seed = random.Random.seed

    def always(self: random.Random, a: object = None, version: int = 2) -> None:
        seed(self, 0 if a is None else a, version)  # type: ignore[arg-type]

    random.Random.seed = always  # type: ignore[method-assign]
    random.seed = random._inst.seed
    random.seed()
    os.urandom = random.Random().randbytes  # what `uuid` and `secrets` draw from


def told(error: BaseException) -> dict[str, object]:
    """Return what went wrong; even the error's own text may fail."""
    text = type(error).__name__
    with contextlib.suppress(BaseException):
        text = f"{text}: {error}"
    kind = "memory" if isinstance(error, MemoryError) else "exception"
    return {"kind": kind, "message": text[:MOST_MESSAGE]}


def load(source: str, function: str, space: dict[str, object]) -> dict[str, object]:
    """Run the source, and say whether it defines the function."""
    try:
        code = compile(source, "<source>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        return {**told(error), "kind": "syntax"}
    try:
        exec(code, space)
    except BaseException as error:
        return told(error)
    if not callable(space.get(function)):
        return {"kind": "no_function", "message": f"the code defines no function {function}"}
    return {"kind": "ready"}


def answer(request: dict[str, object], function: object, table: str) -> dict[str, object]:
    """Return what the function makes of one case."""
    try:
        value = function(LOADS(table), **request["arguments"])  # type: ignore[operator,arg-type]
        text = DUMPS(value, allow_nan=False)
    except BaseException as error:
        return told(error)
    if len(text) > request["most"]:  # type: ignore[operator]
        return {"kind": "large", "size": len(text)}
    return {"kind": "value", "text": text}


def main() -> None:
    """Answer until the requests end."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(2, 1)
    os.dup2(2, 0)
    begin = json.loads(requests.readline())
    stop_clocks(begin["now"])
    fix_chance()
    bound(begin["limits"])
    sys.setrecursionlimit(begin["recursion"])
    printed = Printed(begin["output"])
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = printed  # type: ignore[assignment,misc]
    space: dict[str, object] = {"__name__": "source"}

    def say(number: object, said: dict[str, object]) -> None:
        left = memoryview(DUMPS({"number": number, **said}).encode() + b"\n")
        while left:
            left = left[os.write(answers, left) :]

    say(0, {"kind": "begun"})
    function: object = None
    for line in requests:
        request = LOADS(line)
        printed.left = printed.most
        if request["number"] == 1:
            said = load(begin["source"], begin["function"], space)
            function = space.get(begin["function"])
        else:
            said = answer(request, function, begin["table"])
        say(request["number"], said)


if __name__ == "__main__":
    main()

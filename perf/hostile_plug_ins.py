"""Plug-ins by which `hostile.py` tries to break SEAL: in a user's program, and installed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from random import Random
from typing import Any

from hostile_lab import Lab, Tried, broken_by

import seal
from seal.core import SealError


class Odd:
    """An object that refuses all."""

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __len__ = __iter__ = __bool__ = __str__


def deep(*given: object) -> object:
    """Call itself without an end."""
    return deep(*given)


VALUES: tuple[object, ...] = (None, "", 7, math.nan, math.inf, -1e308, b"\xff", object(), Odd(), {})
NESTED: tuple[object, ...] = ([], [Odd()], {"a": Odd()}, {1: 2}, [[[]]], (1, 2), {"x": math.nan})
LONG = ("x" * 10**6, "\ud800", "\x1b[2J\x92\0", {f"m{n}": 1.0 for n in range(3000)})
RAISED = (ValueError, KeyError, OSError, UnicodeError, AssertionError, StopIteration, MemoryError)
ENDING = (SystemExit, RecursionError, KeyboardInterrupt, GeneratorExit, deep)
ANSWERS = (*VALUES, *NESTED, *LONG, *RAISED, *ENDING)
"""What a plug-in returns; an exception is raised."""


def plug_ins(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let a user's agent, metric, retriever and tool return and raise what they should not."""
    cases = list(product(("agent", "metric", "retriever", "tool"), range(len(ANSWERS))))
    for kind, number in islice(chance.sample(cases, len(cases)), count):
        work = partial(plugged, lab.clear() / "run", kind, ANSWERS[number])
        yield Tried(f"{kind}: {type(ANSWERS[number]).__name__} {number}", broken_by(work))


def plugged(out: Path, kind: str, value: Any) -> str:
    """Play a task with a plug-in that returns or raises a value; return how the run broke."""

    def odd(*given: object) -> Any:
        if isinstance(value, type) and issubclass(value, BaseException):
            raise value("odd")
        return value() if value is deep else value

    def look(city: str) -> str:
        """Look a city up."""
        return str(odd() if kind == "tool" else city)

    class Retriever:
        def __init__(self, pool: object) -> None:
            pass

        def retrieve(self, queries: object, k: int) -> Any:
            return odd()

    named: dict[str, dict[str, Any]] = {
        "agent": {"agent": lambda request, tools: odd()},
        "metric": {"model": "oracle", "metrics": [lambda task, trajectory: odd()]},
        "retriever": {"model": "oracle", "retriever": Retriever, "top_k": 1},
        "tool": {"model": "oracle"},
    }
    tasks = [seal.ask("Where is it?", seal.called("look", city="Rome"))]
    try:
        seal.run(tasks, tools=[look], out=out, baselines=False, **named[kind])
    except SealError as error:
        return "" if str(error).strip() else "unhandled: an error without words"
    except BaseException as error:
        if isinstance(error, Exception) or not (
            isinstance(value, type) and isinstance(error, value)
        ):
            raise  # all but what ends a process, and was raised to do so
    return ""


INTERRUPTION = "an interruption"
MODULES = {
    "an import that fails": "import nothing_of_the_kind",
    "an end": "raise SystemExit(7)",
    "no syntax": "def (",
    "another type": "THING = 7",
    "nothing of that name": "",
    "no end of itself": "def f(): f()\nf()",
    "odd": "class THING:\n    def __init__(self, *a, **k): raise ValueError('no')",
    INTERRUPTION: "raise KeyboardInterrupt",
    "words": "print('hello'); import sys; sys.stdout.flush(); THING = print",
}
GROUPS = ("benchmarks", "metrics", "retrievers", "report_sections", "models", "agents", "teams")


def distributions(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Install plug-ins that cannot be loaded; who does not ask for them is not disturbed."""
    names = ("odd", "sample", "bm25", "lexical", "full", "../x", "")
    commands = ("benchmarks", "run sample --limit 1", "run odd", "report RUN --out OUT.html")
    cases = list(product(MODULES, GROUPS, names, commands))
    for module, group, name, command in islice(chance.sample(cases, len(cases)), count):
        home = lab.clear() / "lib"
        (home / "odd-1.dist-info").mkdir(parents=True)
        (home / "odd_module.py").write_text(MODULES[module])
        (home / "odd-1.dist-info" / "METADATA").write_text("Name: odd\nVersion: 1\n")
        points = f"[seal.{group}]\n{name} = odd_module:THING\n"
        (home / "odd-1.dist-info" / "entry_points.txt").write_text(points)
        broke = lab.ran(lab.words(command), PYTHONPATH=str(home))
        if module == INTERRUPTION and "exit code 130: seal: interrupted" in broke:
            broke = ""  # nothing tells it from Ctrl-C, which must end a command
        yield Tried(f"{command}: {module} as {group}/{name}", broke)

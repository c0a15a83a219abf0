"""Where `planted.py` plants faults: a folder, models and small benchmarks that show them."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import seal
from seal.core import ChatModel, Request, Task
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox

Calls = Sequence[tuple[str, Any]]
"""Tools, each with its arguments or with the text that stands for them."""


class NotHeldError(Exception):
    """What a line needs is not here."""


class Seen(NamedTuple):
    """What is scored now."""

    now: str
    holds: bool


@dataclass(frozen=True)
class Line:
    """One fault."""

    plant: Callable[[Lab], Seen]
    fault: str
    before: str
    """What was scored when the fault was first seen."""
    required: str
    upstream: bool = False
    """Whether it needs files of SEAL_DATA."""

    @property
    def name(self) -> str:
        """The name of its function, with hyphens."""
        return self.plant.__name__.replace("_", "-")


def line(
    fault: str, before: str, required: str, upstream: bool = False
) -> Callable[[Callable[[Lab], Seen]], Line]:
    """Return what makes a line of a function that plants the fault."""
    return lambda plant: Line(plant, fault, before, required, upstream)


# -- Playing and running.


class Lab:
    """A folder of its own, in which benchmarks are played and commands are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count()

    def new(self) -> Path:
        """Return a path at which nothing is."""
        return self.folder / f"{next(self._numbers)}"

    def play(self, bench: Any, model: Any = "oracle", **options: Any) -> seal.Run:
        """Return a run without floor and ceiling; in the sample the gold tools are retrieved."""
        usual = {"model": model, "baselines": False, "workers": 1, "out": self.new()}
        found = {"retriever": "oracle"} if bench == "sample" else {}
        return seal.run(bench, **{**usual, **found, **options})

    def says(self, bench: Any, *calls: tuple[str, Any], answer: str = "Done.") -> dict[str, Any]:
        """Return the means of a run in which a model makes these calls, and then answers."""
        return means(self.play(bench, Says(lambda task: calls, answer), team="direct"))

    def command(self, *words: Any, data: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a verb of `seal`, or a script whose name ends in `.py`, in a child process.

        Args:
            *words: Of the command.
            data: What SEAL_DATA is there; None: what it is here.
        """
        begin = [] if str(words[0]).endswith(".py") else ["-m", "seal"]
        line = [sys.executable, *begin, *map(str, words)]
        env = {**os.environ, "COLUMNS": "200"} | ({"SEAL_DATA": str(data)} if data else {})
        return subprocess.run(line, cwd=self.folder, env=env, capture_output=True, text=True)

    def made(self, tools: Sequence[Any], rows: Sequence[Mapping[str, Any]], kind: str) -> Path:
        """Return the folder that `seal new` makes of schemas and of a table, `csv` or `json`.

        Raises:
            DataError: The command refused them.
        """
        source, table, out = self.new().with_suffix(".json"), self.new(), self.new()
        table = table.with_suffix(f".{kind}")
        source.write_text(json.dumps(tools), "utf-8")
        with table.open("w", encoding="utf-8", newline="") as file:
            if kind == "json":
                json.dump(rows, file)
            else:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows(rows)
        done = self.command("new", "own", "--tools", source, "--tasks", table, "--out", out)
        if done.returncode:
            raise seal.core.DataError(done.stderr)
        return out

    def upstream(self, folder: str, *files: str, lines: int | None = None) -> Path:
        """Return a folder like SEAL_DATA with a few of its files, or only their first lines.

        Raises:
            NotHeldError: They are not here.
        """
        source, out = Path(os.environ.get("SEAL_DATA") or "nowhere", folder), self.new()
        for name in files:
            if not (source / name).is_file():
                raise NotHeldError(f"no {folder}/{name}; SEAL_DATA names the folder of its files")
            kept = (source / name).read_text("utf-8").splitlines(keepends=True)[:lines]
            (out / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (out / folder / name).write_text("".join(kept), "utf-8")
        return out


@dataclass(frozen=True)
class Says:
    """A model that makes the calls of a task one by one, and then answers."""

    calls: Callable[[Task], Calls]
    answer: str = "Done."

    @property
    def identity(self) -> dict[str, str]:
        """Return what the model is called."""
        return {"model": "says"}

    def open(self, task: Task, trial: int) -> ChatModel:
        """Return the model of one chat."""
        return _Saying(list(self.calls(task)), self.answer)


@dataclass(frozen=True)
class _Saying:
    left: list[tuple[str, Any]]
    answer: str

    def complete(self, request: Request) -> seal.Completion:
        if not self.left:
            return seal.Completion(self.answer)
        name, given = self.left.pop(0)
        raw, arguments = (given, None) if isinstance(given, str) else ("", given)
        return seal.Completion(calls=(seal.ToolCall("", name, arguments, raw),))


# -- What was seen.


def means(run: seal.Run) -> dict[str, Any]:
    """Return metric to mean; None where it has no value."""
    return {name: entry["mean"] for name, entry in run.summary["metrics"].items()}


def told(found: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return figures in words."""
    return ", ".join(f"{name} {found.get(name)}" for name in names)


def refusal(make: Callable[[], object]) -> str:
    """Return in which words something is refused; empty: it is not."""
    try:
        make()
    except (seal.SealError, AssertionError) as error:
        return str(error)
    return ""


def refused_all(cases: Mapping[str, tuple[Callable[[], object], str]]) -> Seen:
    """Tell whether each case is refused in words in which a pattern, the repair, is found."""
    said = {name: refusal(make) for name, (make, _) in cases.items()}
    odd = [name for name, text in said.items() if not re.search(cases[name][1], text, re.DOTALL)]
    words = [f"{name}: {said[name] or 'taken'}" for name in odd]
    return Seen("; ".join([f"{len(said) - len(odd)} of {len(said)} refused", *words]), not odd)


def as_wanted(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Seen:
    """Tell whether all is as wanted, and what is not."""
    odd = [f"{name}: {found[name]}" for name, value in wanted.items() if found[name] != value]
    counts = f"{len(wanted) - len(odd)} of {len(wanted)} as required"
    return Seen("; ".join([counts, *odd]), not odd)


# -- A board to which one must be connected, a shop, and tools of no world.


def connect(board: World) -> str:
    """Connect to the board."""
    board.put("link", [{"on": True}])
    return "connected"


def post(board: World, text: str) -> str:
    """Post a text."""
    if not board.rows("link")[0]["on"]:
        raise ValueError("not connected")
    board.add("posts", {"text": text})
    return "posted"


def sell(shop: World, seat: int) -> str:
    """Sell the ticket of a seat."""
    shop.add("tickets", {"id": shop.new_id(), "seat": seat})
    return "sold"


def give_back(shop: World, seat: int) -> str:
    """Take the ticket of a seat back."""
    shop.put("tickets", [one for one in shop.rows("tickets") if one["seat"] != seat])
    return "taken back"


def cancel(shop: World, order_id: str) -> str:
    """Cancel the order of an id."""
    rows = shop.rows("orders")
    shop.put("orders", [{**one, "open": one["open"] and one["id"] != order_id} for one in rows])
    return "cancelled"


def paid(amount: float) -> str:
    """Pay an amount of at most 10."""
    if amount > 10:
        raise ValueError("too much")
    return "paid"


def pay(shop: World, amount: float) -> str:
    """Pay an amount of at most 10."""
    return paid(amount)


BOARD = Worlds(
    name="board",
    tools=toolbox("board", [connect, post]),
    tables={"link": [{"on": False}], "posts": []},
    columns={"posts": {"text": str}},
)
ORDERS = [{"id": "7", "by": "Ann", "open": True}, {"id": "8", "by": "Bo", "open": True}]
SHOP = Worlds(
    name="shop",
    tools=toolbox("shop", [sell, give_back, cancel, pay]),
    tables={"tickets": [], "orders": ORDERS},
    columns={"tickets": {"id": str, "seat": int}},
)
CLOCK = {
    "name": "now",
    "description": "Tell the time in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
FIND = {
    "name": "find",
    "description": "Find a city.",
    "parameters": {**CLOCK["parameters"], "required": ["city"]},  # type: ignore[dict-item]
}


HELLO = {"text": "hello"}
POSTS = (seal.called("connect"), seal.called("post", text="hello"))
"""Gold of the board."""
SOLVED = ("pass_rate", "calls_right", "mission_accuracy")


def in_world(world: Worlds, *gold: Any, **settings: Any) -> seal.Benchmark:
    """Return a benchmark of one task in a world."""
    task = seal.ask("Do it.", *gold)
    return seal.Benchmark(world.name, environment=world, tasks=[task], **settings)


def with_tools(*gold: Any, tools: Sequence[Any] = (CLOCK, FIND), **asked: Any) -> seal.Benchmark:
    """Return a benchmark of one task in no world."""
    return seal.Benchmark("tools", tools=list(tools), tasks=[seal.ask("Do it.", *gold, **asked)])

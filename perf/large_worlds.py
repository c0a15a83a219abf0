"""What worlds of 100 to 100,000 rows cost: opening, calls, chats, scores, bytes.

    python perf/large_worlds.py [--short] [--sizes N,N] [--tasks N] [--out results/scale.md]

A shop of five tables, about 500 bytes a row with nested cells. Its tools are those that a user
writes: they take the rows of a table (`World.rows`), change them in place, and put them back. Each
task has five calls, of which one changes a row and one removes one. Gold is how they leave the
world (`seal.ends_as`), and the oracle plays it.
A small run comes first, so that imports do not count.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import seal
from seal.core import Tables, ToolCall
from seal.core.values import json_bytes
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox

SIZES = (100, 1_000, 4_700, 20_000, 100_000)
SHORT = (100, 1_000)
TASKS = 114
HEADING = "# What large worlds cost\n"
NEXT = "# What large pools cost\n"
SEVERAL = 5
"""Times that what is measured in milliseconds is done."""
_WORDS = ("alder", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "jade")


def find_customer(shop: World, email: str) -> str:
    """Find the id of a customer."""
    return str(_one(shop.rows("customers"), "email", email)["customer_id"])


def get_customer(shop: World, customer_id: str) -> dict[str, Any]:
    """Look a customer up."""
    return _one(shop.rows("customers"), "customer_id", customer_id)


def get_order(shop: World, order_id: str) -> dict[str, Any]:
    """Look an order up."""
    return _one(shop.rows("orders"), "order_id", order_id)


def send_elsewhere(shop: World, order_id: str, city: str) -> dict[str, Any]:
    """Send an order to another city."""
    rows = shop.rows("orders")
    row = _one(rows, "order_id", order_id)
    row["address"]["city"] = city
    shop.put("orders", rows)
    return row


def give_back(shop: World, item_id: str) -> str:
    """Give an item back."""
    rows = shop.rows("items")
    rows.remove(_one(rows, "item_id", item_id))
    shop.put("items", rows)
    return "given back"


def _one(rows: Sequence[dict[str, Any]], column: str, value: str) -> dict[str, Any]:
    for row in rows:
        if row[column] == value:
            return row
    raise ValueError(f"no {column} is {value!r}")


TOOLS = (find_customer, get_customer, get_order, send_elsewhere, give_back)


def tables_of(size: int) -> Tables:
    """Return tables with so many rows in all, at least 40."""
    rng = random.Random(1)

    def text(count: int) -> str:
        return " ".join(rng.choices(_WORDS, k=count))

    customers, variants, orders = size // 10, size // 8, size // 5
    products = max(1, size // 100)
    items = size - customers - variants - orders - products
    return {
        "customers": [
            {
                "customer_id": f"c{n}",
                "email": f"c{n}@mail.test",
                "address": {"street": text(3), "city": text(1)},
                "cards": [{"id": f"card_{n}_{card}", "last_four": "1234"} for card in range(3)],
                "notes": text(50),
            }
            for n in range(customers)
        ],
        "products": [{"product_id": f"p{n}", "about": text(100)} for n in range(products)],
        "variants": [
            {
                "variant_id": f"v{n}",
                "product_id": f"p{n % products}",
                "options": {"color": text(1), "size": rng.choice("SML")},
                "price": round(rng.uniform(5, 500), 2),
                "about": text(60),
            }
            for n in range(variants)
        ],
        "orders": [
            {
                "order_id": f"o{n}",
                "customer_id": f"c{n % customers}",
                "address": {"street": text(3), "city": text(1)},
                "items": [f"i{2 * n % items}", f"i{(2 * n + 1) % items}"],
                "notes": text(60),
            }
            for n in range(orders)
        ],
        "items": [
            {
                "item_id": f"i{n}",
                "variant_id": f"v{n % variants}",
                "options": {"color": text(1), "size": rng.choice("SML")},
                "text": text(60),
            }
            for n in range(items)
        ],
    }


def shop_of(tables: Tables, tasks: int) -> seal.Benchmark:
    """Return a benchmark of tasks of five calls."""
    world = Worlds(name="shop", tools=toolbox("shop", TOOLS), tables=tables)
    return seal.Benchmark("shop", environment=world, tasks=[_task(tables, n) for n in range(tasks)])


def _task(tables: Tables, number: int) -> seal.Task:
    order: Any = tables["orders"][7 * number % len(tables["orders"])]
    who, which, item = order["customer_id"], order["order_id"], order["items"][0]
    return seal.ask(
        f"I am {who}@mail.test. Send order {which} to Newtown {number}, and take {item} back.",
        seal.ends_as(
            seal.called("find_customer", email=f"{who}@mail.test"),
            seal.called("get_customer", customer_id=who),
            seal.called("get_order", order_id=which),
            seal.called("send_elsewhere", order_id=which, city=f"Newtown {number}"),
            seal.called("give_back", item_id=item),
        ),
        id=f"shop-{number:03}",
    )


@dataclass(frozen=True)
class Cost:
    """Of a world of some size."""

    rows: int
    megabytes: float
    """Of its tables as JSON."""
    made_s: float
    """To check and copy the tables, once a process."""
    open_ms: float
    read_ms: float
    """Of a call that looks a customer up."""
    write_ms: float
    """Of a call that changes an order."""
    chat_s: float
    """CPU seconds of a chat and its scores."""
    report_s: float
    run_mb: float
    """Of the folder of the run, without its report."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print, or write the section of the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="100 and 1,000 rows, 10 tasks")
    parser.add_argument("--sizes", help="rows, parted by commas")
    parser.add_argument("--tasks", type=int, default=TASKS, help="chats of a run")
    parser.add_argument("--out", type=Path, help="page whose section is written")
    options = parser.parse_args(argv)
    usual = SHORT if options.short else SIZES
    sizes = tuple(map(int, options.sizes.split(","))) if options.sizes else usual
    tasks = 10 if options.short else options.tasks
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        cost_of(SHORT[0], 2, Path(folder, "first"))
        for size in sizes:
            costs.append(cost_of(size, tasks, Path(folder, str(size))))
            print(told(costs)[-1], flush=True)
    if options.out is not None:
        words = " ".join(sys.argv[1:] if argv is None else argv)
        page = options.out.read_text("utf-8")
        before, _, rest = page.partition(HEADING if HEADING in page else NEXT)
        _, found, after = rest.partition(NEXT)
        after = after if found else "" if HEADING in page else rest
        options.out.write_text(before + section(costs, tasks, words) + NEXT + after, "utf-8")
    return 0


def cost_of(size: int, tasks: int, out: Path) -> Cost:
    """Return what a world of so many rows costs, in a run of so many chats."""
    tables = tables_of(size)
    start = time.process_time()
    bench = shop_of(tables, tasks)
    made_s = time.process_time() - start
    worlds: Any = bench.environment
    task = next(iter(bench.tasks))
    world = worlds.open(task, 0)

    def call(name: str, **given: Any) -> None:
        (result,) = world.call([ToolCall("call", name, given, tool=f"shop/{name}")])
        assert result.error is None, result

    cities = iter(range(1_000))
    read = of_one(lambda: call("get_customer", customer_id="c0"))
    write = of_one(lambda: call("send_elsewhere", order_id="o0", city=f"City {next(cities)}"))
    opened = of_one(lambda: worlds.open(task, 0))
    start = time.process_time()
    run = seal.run(bench, model="oracle", baselines=False, workers=1, out=out)
    chat_s = (time.process_time() - start) / tasks
    assert run["pass_rate"].mean == 1.0
    files = [file for file in out.rglob("*") if file.is_file() and file.suffix != ".html"]
    run_mb = sum(file.stat().st_size for file in files) / 1e6
    start = time.process_time()
    seal.report([run], out=out.with_suffix(".html"))
    report_s = time.process_time() - start
    megabytes = len(json_bytes(tables)) / 1e6
    return Cost(size, megabytes, made_s, opened, read, write, chat_s, report_s, run_mb)


def of_one(done: Callable[[], object]) -> float:
    """Return the CPU milliseconds of something that was done once before."""
    done()
    start = time.process_time()
    for _ in range(SEVERAL):
        done()
    return 1000 * (time.process_time() - start) / SEVERAL


def told(costs: Sequence[Cost]) -> list[str]:
    """Return the lines of the table."""
    heads = ("rows", "MB", "made, s", "open, ms", "read, ms", "write, ms", "chat, s", "report, s")
    lines = [f"| {' | '.join(heads)} | run, MB |", "|---" * (len(heads) + 1) + "|"]
    for one in costs:
        cells = (
            f"{one.rows:,}",
            f"{one.megabytes:.2f}",
            f"{one.made_s:.2f}",
            f"{one.open_ms:.2f}",
            f"{one.read_ms:.1f}",
            f"{one.write_ms:.1f}",
            f"{one.chat_s:.3f}",
            f"{one.report_s:.1f}",
            f"{one.run_mb:.1f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def section(costs: Sequence[Cost], tasks: int, words: str) -> str:
    """Return the section of the page."""
    return "\n".join(
        [
            HEADING.strip(),
            "",
            f"Made by `python perf/large_worlds.py {words}`. A shop of five tables is played by the"
            f" oracle: {tasks} tasks of five calls, whose gold is how they leave the world.",
            "",
            "All times are CPU time. `made` is what a process takes once to check and copy the"
            " tables. `open` is what each chat takes to open its world. `read` and `write` are"
            " calls of tools that take all rows of a table by `World.rows`, and one of which puts"
            " them back. `chat` has its calls, those of its gold in two fresh worlds, and its"
            " scores. `run` is the folder of all chats.",
            "",
            *told(costs),
            "",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())

"""Gold and metrics of every benchmark at hand agree, but for the tasks of a list that shrinks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seal.pools.catalogue import source_folder
from seal.testing import check_benchmark

KNOWN: Mapping[str, Mapping[str, str]] = json.loads(
    Path(__file__).with_name("known_contradictions.json").read_text(encoding="utf-8")
)
"""Pool to its tasks whose gold contradicts a metric, each with the reason."""
SHIPPED = ("sample", "toolsandbox-sample", "mmtb-sample", "toolscan-sample", "dialogtool-sample")
UPSTREAM = (
    *("apigen", "bfcl", "metatool", "toolsandbox", "dialogtool"),
    *("toolbench", "stabletoolbench", "anytool", "apibench", "livemcpbench"),
)
LIMIT = 10
WITHOUT_GOLD = {"toolsandbox": 15}
"""Pool to the number of its tasks to which neither a recording nor a search finds a way."""


def have(name: str) -> None:
    if name in UPSTREAM and source_folder(name) is None:
        pytest.skip(f"SEAL_DATA has no files of {name}")


def expected(name: str) -> dict[str, Any]:
    return {"known": KNOWN.get(name, {}), "without_gold": WITHOUT_GOLD.get(name, 0)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHIPPED, "apigen", "bfcl", "metatool"])
def test_gold_and_metrics_of_a_benchmark_agree(name: str) -> None:
    have(name)
    check_benchmark(name, limit=LIMIT, **expected(name))


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("name", [*SHIPPED, *UPSTREAM])
def test_the_gold_of_a_whole_pool_has_1_everywhere(name: str) -> None:
    have(name)
    check_benchmark(name, gold_alone=True, **expected(name))


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "limit"),
    [*((name, 60) for name in SHIPPED), ("bfcl", 300), ("toolsandbox", 100)],
)
def test_what_may_not_change_does_not_in_many_tasks(name: str, limit: int) -> None:
    have(name)
    check_benchmark(name, limit=limit, **expected(name))

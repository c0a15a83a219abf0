"""Gold and metrics of every benchmark at hand agree, but for the tasks of a list that shrinks."""

from pathlib import Path

import pytest

from seal.pools.upstream import source_folder
from seal.testing import check_benchmark

KNOWN = Path(__file__).with_name("known_contradictions.json")
SHIPPED = ("sample", "toolsandbox-sample", "mmtb-sample", "toolscan-sample", "dialogtool-sample")
LIMIT = 10


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_gold_and_metrics_of_a_shipped_benchmark_agree(name: str) -> None:
    check_benchmark(name, limit=LIMIT)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["apigen", "bfcl", "metatool"])
def test_gold_and_metrics_of_an_upstream_benchmark_agree(name: str) -> None:
    if source_folder(name) is None:
        pytest.skip(f"SEAL_DATA has no files of {name}")
    check_benchmark(name, limit=LIMIT, known=KNOWN)

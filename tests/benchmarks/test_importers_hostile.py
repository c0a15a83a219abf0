"""No file of whatever content makes an importer fail otherwise than by saying what is wrong."""

from pathlib import Path
from random import Random

import pytest
from mutants import GET, OWN_TASKS, OWN_TOOLS, SOURCES, mutant, outcome, write

from seal.core import SealError
from seal.pools.own_files import benchmark_of
from seal.pools.pool import load_pool

TRIED = 150
"""Mutants of each source."""


@pytest.mark.parametrize("case", SOURCES)
def test_a_whole_source_is_imported(case: str, tmp_path: Path) -> None:
    name, source = whole(case, tmp_path)

    assert outcome(name, source, tmp_path / "pool") == ""


def whole(case: str, folder: Path) -> tuple[str, Path]:
    """Return an importer's name and its source, which is written."""
    name, write = SOURCES[case]
    (folder / "whole").mkdir()
    return name, write(folder / "whole")


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("case", SOURCES)
def test_a_spoilt_source_is_told(case: str, tmp_path: Path) -> None:
    name, source = whole(case, tmp_path)
    files = sorted(path for path in source.rglob("*") if path.is_file())
    faults = {}
    for seed in range(TRIED):
        chance = Random(f"{case} {seed}")
        file = chance.choice(files)
        content = file.read_bytes()
        file.write_bytes(mutant(content, chance))
        fault = outcome(name, source, tmp_path / "pool")
        file.write_bytes(content)
        if fault:
            faults[seed, file.name] = fault
    assert faults == {}


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("name", [*OWN_TOOLS, *OWN_TASKS])
def test_a_spoilt_file_of_ones_own_is_told(name: str, tmp_path: Path) -> None:
    write(tmp_path, {name: {**OWN_TOOLS, **OWN_TASKS}[name]})
    file = tmp_path / name
    content = file.read_bytes()
    faults = {}
    for seed in range(TRIED):
        file.write_bytes(mutant(content, Random(f"{name} {seed}")))
        tools, tasks = (file, [{"query": "x"}]) if name in OWN_TOOLS else ([GET], file)
        try:
            benchmark_of("own", tools, tasks)[0].save(tmp_path / "pool")
        except SealError:
            continue
        except Exception as error:  # what is looked for
            faults[seed] = f"{type(error).__name__}: {error}"
            continue
        assert load_pool(tmp_path / "pool").tools()
    assert faults == {}

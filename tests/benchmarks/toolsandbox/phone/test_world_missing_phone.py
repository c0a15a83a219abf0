"""A phone that a run is to do without: refused, never simulated."""

from pathlib import Path

import pytest

import seal
from seal.core import UsageError
from seal.runs.resolve import played
from seal.runs.settings import RunSettings

NEEDED = "cannot be played without the world phone, for which no simulator stands in"


def test_tasks_of_a_phone_are_not_simulated(tmp_path: Path) -> None:
    told = f"toolsandbox-sample: 53 selected tasks {NEEDED}; instead of --environment simulator"
    with pytest.raises(UsageError, match=told):
        seal.run("toolsandbox-sample", environment="simulator", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("told", [{}, {"environment": "phone"}])
def test_on_a_phone_none_is_left_out(told: dict[str, str]) -> None:
    settings = RunSettings(pool="toolsandbox-sample", **told)  # type: ignore[arg-type]
    assert played(settings).pool.left_out == {}

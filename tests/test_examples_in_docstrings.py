"""The examples of the public names are true."""

import doctest
import os
from pathlib import Path

import pytest

import seal


@pytest.mark.parametrize("name", seal.__all__)
def test_the_example_of_every_name_is_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("SEAL_DATA", raising=False)
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(getattr(seal, name), f"seal.{name}", module=False, globs={})
    told: list[str] = []

    found = doctest.DocTestRunner(verbose=False).run(example, out=told.append)

    assert "Example:\n" in (example.docstring or "")
    assert found.attempted > 1
    assert found.failed == 0, os.linesep.join(told)

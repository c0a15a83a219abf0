"""Paths that no file system takes are refused wherever a path is given."""

from collections.abc import Callable
from pathlib import Path

import pytest

import seal
from seal.core import UsageError
from seal.core.folders import check_path

NO_PATHS = {
    "": "it is empty; give one, such as '.' for this folder",
    "a\0b": "it has a character that no path can have",
    "\ud800": "it has a character that no path can have",
    f"runs/{'x' * 300}": "a name in it has 300 bytes, and 255 are possible; shorten it",
    "é" * 128: "a name in it has 256 bytes",
    "~/runs": "only a shell knows what ~ is; write /",
}


@pytest.mark.parametrize("path", NO_PATHS, ids=range(len(NO_PATHS)))
def test_what_can_be_no_path_is_refused_with_the_reason(path: str) -> None:
    with pytest.raises(UsageError, match=f"out: .* is no path: {NO_PATHS[path]}"):
        check_path("out", path)


@pytest.mark.parametrize("path", [".", "/", "runs/é", "x" * 255, "\udc80", Path("a b")])
def test_what_can_be_a_path_is_taken(path: str | Path) -> None:
    check_path("out", path)


VERBS: list[Callable[[str], object]] = [
    lambda path: seal.run("sample", limit=1, out=path),
    lambda path: seal.run("sample", limit=1, cache_dir=path),
    lambda path: seal.sweep("sample", limit=1, out=path),
    lambda path: seal.ablate("react", "sample", limit=1, out=path),
    lambda path: seal.retrieve("sample", out=path),
    lambda path: seal.retrieve(["sample", path]),
    lambda path: seal.augment("sample", "names", path),
    lambda path: seal.import_benchmark("apigen", "upstream", path),
    lambda path: seal.Benchmark("b").save(path),
    lambda path: seal.plan_run("sample", prices=path),
    seal.lint,
    seal.explain,
    seal.report,
    seal.frames,
    seal.Run.load,
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("path", NO_PATHS, ids=range(len(NO_PATHS)))
def test_every_verb_refuses_such_a_path_before_it_does_anything(
    verb: Callable[[str], object], path: str
) -> None:
    with pytest.raises(UsageError, match="is no path: "):
        verb(path)

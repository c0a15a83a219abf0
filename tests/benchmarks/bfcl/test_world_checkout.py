"""BFCL's classes from a package that Python finds, of which nothing else is imported."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from bfcl_peer import stand_in
from bfcl_sources import BfclShelf, answer, function, said

import seal
from seal.benchmarks.bfcl.world import CLASSES, PACKAGE, VARIABLE
from seal.core import OptionError, UsageError
from seal.pools.imports import import_benchmark

CHECKOUT = Path(os.environ.get("GORILLA_CHECKOUT") or "gorilla")
DATA = Path(os.environ.get("SEAL_DATA") or "data") / "bfcl"
ALLOWED: dict[str, Any] = {
    "model": "oracle",
    "environment": "bfcl",
    "allow_code": (PACKAGE,),
    "baselines": False,
}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BfclShelf:
    """A dialogue of two turns."""
    monkeypatch.delenv(VARIABLE, raising=False)
    made = BfclShelf(tmp_path)
    moving = function("move", source="string", destination="string")
    made.write("multi_turn_func_doc/gorilla_file_system.json", moving)
    item = {
        "id": "multi_turn_base_0",
        "question": [said("Move it."), said("Move it back.")],
        "initial_config": {"GorillaFileSystem": {}},
        "involved_classes": ["GorillaFileSystem"],
    }
    made.category(
        "multi_turn_base", [item], [answer(item["id"], ["move('a', 'b')"], ["move('b', 'a')"])]
    )
    made.imported()
    return made


@pytest.fixture
def package(shelf: BfclShelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in of the package, which Python finds and which cannot be imported as a whole."""
    place = tmp_path / "checkout"
    place.mkdir()
    stand_in(place, shelf.source)
    folder = place / PACKAGE
    (folder / CLASSES).mkdir()
    for file in folder.rglob("__init__.py"):
        file.write_text("raise RuntimeError('the package was imported')\n", "utf-8")
    monkeypatch.syspath_prepend(str(place))
    return folder


def test_the_classes_are_run_and_no_init_file_of_the_package(
    shelf: BfclShelf, package: Path, tmp_path: Path
) -> None:
    run = seal.run(str(shelf.out), out=tmp_path / "run", **ALLOWED)
    (chat,) = run.folder.trajectories()
    assert [s.result.value for s in chat.steps if s.result] == [{"moved": "a"}, {"moved": "b"}]
    (begun,) = chat.steps[0].state["GorillaFileSystem"]
    assert begun["root"]["files"] == ["a"]
    told = run.folder.manifest()
    version = told["measure"]["simulator"]["worlds"]["bfcl"]["bfcl-eval"]
    assert version.startswith("files ") and told["system"]["allow_code"] == [PACKAGE]
    (package / CLASSES / "another.py").write_text("", "utf-8")
    with pytest.raises(UsageError, match=r"measure\.simulator: was .*files"):
        seal.run(str(shelf.out), out=tmp_path / "run", resume=True, **ALLOWED)


def test_code_that_is_not_allowed_is_not_run(
    shelf: BfclShelf, package: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"{VARIABLE} names no Python .* --allow-code bfcl_eval"):
        seal.run(str(shelf.out), out=tmp_path / "run", **{**ALLOWED, "allow_code": ()})


def test_a_package_that_lacks_its_classes_or_what_they_import_is_refused(
    shelf: BfclShelf, package: Path, tmp_path: Path
) -> None:
    (package / "shelf.py").write_text("import no_such_mathematics\n", "utf-8")
    lacking = "import what this Python lacks: .*no_such_mathematics.*: pip install mpmath"
    with pytest.raises(UsageError, match=lacking):
        seal.run(str(shelf.out), out=tmp_path / "run", **ALLOWED)
    (package / CLASSES).rmdir()
    with pytest.raises(UsageError, match=f"it has no folder {CLASSES}; put the folder"):
        seal.run(str(shelf.out), out=tmp_path / "run", **ALLOWED)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(find_spec(PACKAGE) is not None, reason="bfcl-eval is installed")
def test_a_package_that_python_does_not_find_is_refused(shelf: BfclShelf, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--allow-code bfcl_eval: no such module"):
        seal.run(str(shelf.out), out=tmp_path / "run", **ALLOWED)


@pytest.mark.slow
@pytest.mark.skipif(not CHECKOUT.is_dir(), reason="no checkout: set GORILLA_CHECKOUT")
@pytest.mark.skipif(not DATA.is_dir(), reason="no files of BFCL")
def test_the_oracle_plays_dialogues_in_the_classes_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpmath")
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.syspath_prepend(str(CHECKOUT / "berkeley-function-call-leaderboard"))
    import_benchmark("bfcl", DATA, tmp_path / "pool", categories="multi_turn")
    run = seal.run(str(tmp_path / "pool"), limit=8, out=tmp_path / "run", **ALLOWED)
    chats = list(run.folder.trajectories())
    assert len(chats) == 8 and all(chat.steps[0].state for chat in chats)
    assert not any(step.result and step.result.error for chat in chats for step in chat.steps)

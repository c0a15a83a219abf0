"""BFCL's dialogues where their classes are not there: left out or refused, never simulated."""

import os
from pathlib import Path
from typing import Any

import pytest
from bfcl_sources import BfclShelf, answer, function, said, single

import seal
from seal.benchmarks.bfcl.world import HOW, VARIABLE
from seal.core import UsageError
from seal.pools.imports import import_benchmark
from seal.pools.lookup import open_pool
from seal.runs.resolve import played
from seal.runs.settings import RunSettings

DATA = Path(os.environ.get("SEAL_DATA") or "data") / "bfcl"
NEEDED = "cannot be played without the world bfcl, for which no simulator stands in"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BfclShelf:
    """A dialogue of one turn, and an item that is none."""
    monkeypatch.delenv(VARIABLE, raising=False)
    made = BfclShelf(tmp_path)
    gold = answer("a_0", {"tide.height": {"port": ["Oban"]}})
    made.category("simple_python", [single("a_0")], [gold])
    made.write("multi_turn_func_doc/gorilla_file_system.json", function("mv", source="string"))
    item = {
        "id": "multi_turn_base_0",
        "question": [said("Move it.")],
        "initial_config": {"GorillaFileSystem": {}},
        "involved_classes": ["GorillaFileSystem"],
    }
    made.category("multi_turn_base", [item], [answer(item["id"], ["mv('a')"])])
    made.imported()
    return made


def test_a_dialogue_is_left_out_where_its_classes_are_not_named(
    shelf: BfclShelf, tmp_path: Path
) -> None:
    run = seal.run(str(shelf.out), model="oracle", baselines=False, out=tmp_path / "run")
    assert [chat.task_id for chat in run.folder.trajectories()] == ["a_0"]
    (warning,) = run.folder.manifest()["warnings"]
    assert warning == (
        "left out: 1 task, which cannot be played without the world bfcl; to play them, add "
        "--environment bfcl"
    )


@pytest.mark.parametrize(
    "told", [{"select": {"suite": "multi_turn"}}, {"environment": "simulator"}], ids=str
)
def test_dialogues_alone_or_simulated_ones_are_refused_with_the_repair(
    shelf: BfclShelf, tmp_path: Path, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=f"1 selected task {NEEDED}.*add|give") as raised:
        seal.run(str(shelf.out), model="oracle", out=tmp_path / "run", **told)
    assert HOW in str(raised.value)
    monkeypatch.setenv(VARIABLE, "/some/python")
    with pytest.raises(UsageError, match=r"--environment bfcl, or --select other tasks(\n|$)"):
        seal.run(str(shelf.out), model="oracle", out=tmp_path / "run", **told)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="no files of BFCL")
def test_all_800_dialogues_of_bfcl_are_left_out_or_refused(tmp_path: Path) -> None:
    import_benchmark("bfcl", DATA, tmp_path / "pool")
    pool = tmp_path / "pool"
    left = played(RunSettings(pool=pool)).pool
    assert left.left_out == {"bfcl": 800}
    assert {task.tags["suite"] for task in left.tasks()} == {"live", "non_live", "agentic"}
    assert sum(1 for _ in open_pool(pool).tasks()) - sum(1 for _ in left.tasks()) == 800
    for group in ("base", "miss_func", "miss_param", "long_context"):
        with pytest.raises(UsageError, match=f"200 selected tasks {NEEDED}"):
            played(RunSettings(pool=pool, select={"group": f"multi_turn_{group}"}))

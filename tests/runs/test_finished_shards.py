"""Parts of a run, played apart and put together: the bytes of one run, or what is wrong."""

import shutil
from pathlib import Path

import pytest
from small_pools import contents, many, play, write_pool

from seal.core import DataError, UsageError
from seal.runs.finished import merge, score_merged
from seal.runs.play import RunResult


@pytest.fixture
def parted(tmp_path: Path) -> tuple[Path, list[Path]]:
    """A pool of seven tasks, and three parts of a run of it."""
    pool = write_pool(tmp_path / "pool", many(7))
    return pool, [part(pool, tmp_path, number) for number in (1, 2, 3)]


def part(pool: Path, folder: Path, number: int, **settings: object) -> Path:
    out = folder / f"part-{number}"
    return whole(pool, out, shard=f"{number}/3", **settings).folder.path


def whole(pool: Path, out: Path, **settings: object) -> RunResult:
    return play(pool, out, **{"model": "lexical", "trials": 2, "baselines": True, **settings})


def test_parts_put_together_have_the_bytes_of_one_run(parted, tmp_path) -> None:
    pool, parts = parted
    merged = merge([parts[2], parts[0], parts[1]], tmp_path / "merged")
    score_merged(merged)
    one = whole(pool, tmp_path / "one").folder
    for name, baseline in {"": one, **one.baselines()}.items():
        assert contents(merged.path / name) == contents(baseline.path)
        for file in ("tasks.jsonl", "tools.jsonl"):
            assert (merged.path / name / file).read_bytes() == (baseline.path / file).read_bytes()
    told, expected = merged.manifest(), one.manifest()
    assert {**told, "cache": 0, "origins": 0} == {**expected, "cache": 0, "origins": 0}


def test_a_merged_run_can_be_resumed_with_more(parted, tmp_path) -> None:
    pool, parts = parted
    merged = merge(parts, tmp_path / "merged")
    score_merged(merged)
    assert whole(pool, merged.path, resume=True, trials=3).exit_code == 0
    assert contents(merged.path) == contents(whole(pool, tmp_path / "one", trials=3).folder.path)


def test_what_is_no_whole_set_of_parts_is_named(parted, tmp_path) -> None:
    pool, parts = parted
    one = whole(pool, tmp_path / "one").folder.path
    shutil.copytree(parts[0], tmp_path / "again")
    for runs, told in {
        (parts[0], parts[2]): "missing parts: 2/3; play them, and give all 3",
        (parts[0], tmp_path / "again"): "again is part 1/3, beside .*; give each of 3 parts once",
        (parts[0], one): "one is no part of a run: play it with --shard I/N",
    }.items():
        with pytest.raises(UsageError, match=told):
            merge(runs, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_parts_of_different_settings_are_refused_with_the_difference(parted, tmp_path) -> None:
    pool, parts = parted
    shutil.rmtree(parts[1])
    part(pool, tmp_path, 2, seed=7)
    with pytest.raises(UsageError, match=r"part-2 and .*part-1 differ: measure.seed: was 0, is 7"):
        merge(parts, tmp_path / "merged")


def test_a_folder_that_holds_something_stays_as_it_is(parted, tmp_path) -> None:
    _, parts = parted
    (tmp_path / "empty").mkdir()
    merge(parts, tmp_path / "empty")
    with pytest.raises(UsageError, match=r"empty holds something: .* `seal score .*empty`"):
        merge(parts, tmp_path / "empty")
    assert not list(tmp_path.glob(".*.part"))


def test_a_part_that_is_cut_is_refused(parted, tmp_path) -> None:
    _, parts = parted
    chats = parts[1] / "trajectories.jsonl"
    chats.write_bytes(chats.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(DataError, match="was cut: it has 1 of the 4 lines"):
        merge(parts, tmp_path / "merged")


def test_a_part_is_resumed_as_that_part_alone(parted, tmp_path) -> None:
    pool, parts = parted
    before = contents(parts[0])
    whole(pool, parts[0], shard="1/3", resume=True)
    assert contents(parts[0]) == before
    for shard in (None, "2/3"):
        with pytest.raises(UsageError, match="part-1 was begun with --shard 1/3; resume it so"):
            whole(pool, parts[0], shard=shard, resume=True)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "1/3 "])
def test_what_names_no_part_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected I/N with I from 1 to N, such as 2/8"):
        whole(tmp_path, tmp_path / "run", shard=text)

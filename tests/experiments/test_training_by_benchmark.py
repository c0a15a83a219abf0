"""Linear maps trained on some benchmarks and tested on another, without torch."""

import json
import zlib
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from small_pools import write_pool

import seal
from seal.api import Training
from seal.core import DataError, Goal, Task, Tool, UsageError
from seal.core.text import words
from seal.report import training_tables

TOPICS = (
    *("rain", "gold", "music", "trains", "soup", "chess", "tigers", "paint", "ships", "bread"),
    *("clocks", "lamps", "wolves", "tea", "glass", "horses", "maps", "snow", "silk", "opera"),
)
ASPECTS = {"lately": "news", "formerly": "archive"}


def planted(folder: Path, topics: Sequence[str]) -> Path:
    """Write a pool with two tools a topic, which only what `lately` means tells apart."""
    tools = [Tool(f"toy/{t}_{a}/get", "", f"{t} {a}") for t in topics for a in ASPECTS.values()]
    tasks = [
        Task(f"{t}-{asked}", "toy", (Goal(f"{t} {asked}", relevant=(f"toy/{t}_{aspect}/get",)),))
        for t in topics
        for asked, aspect in ASPECTS.items()
    ]
    return write_pool(folder, tasks, tools)


def word_vectors(texts: Sequence[str]) -> np.ndarray:
    """Return sums of random vectors, one a word."""
    return np.array(
        [
            sum(np.random.default_rng(zlib.crc32(w.encode())).normal(size=64) for w in words(text))
            for text in texts
        ]
    )


BASE = f"{__name__}:word_vectors"
Train = Callable[..., Training]


@pytest.fixture
def pools(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Three benchmarks of the same aspects; no two share a topic."""
    parts = (TOPICS[:5], TOPICS[5:10], TOPICS[10:])
    one, two, three = (planted(tmp_path / f"pool{n}", part) for n, part in enumerate(parts))
    return one, two, three


@pytest.fixture
def train(tmp_path: Path) -> Train:
    def call(pools: Any, test_on: Any = (), out: str = "out", **changes: Any) -> Training:
        settings = {"steps": 5, "batch_size": 4, "learning_rate": 0.001, "k": [1]}
        settings |= {"split": "benchmark", "trains": "map", "negatives": 1, **changes}
        return seal.train_retriever(pools, BASE, tmp_path / out, test_on=test_on, **settings)

    return call


def test_hard_negatives_teach_what_batches_seldom_hold(train: Train, pools) -> None:
    found = {}
    for negatives in (0, 1):
        recalls = []
        for seed in (0, 1, 2):
            record = train(
                pools[:2], pools[2], f"{negatives}-{seed}", negatives=negatives, seed=seed
            )
            before, after = (one["metrics"]["recall@1"]["mean"] for one in record["results"])
            assert before == 0.5
            recalls.append(after)
        found[negatives] = sum(recalls) / 3
    assert found[1] > found[0] + 0.1 > 0.6


def test_a_benchmark_is_held_out_of_training_on_the_others(train: Train, pools, tmp_path) -> None:
    record = train(pools[:2], pools[2])
    assert record["pool"] == "pool0, pool1"
    assert [len(one["train"]) for one in record["sources"]] == [10, 10]
    assert [one["test"] for one in record["sources"]] == [[], []]
    assert [entry["in_source"] for entry in record["results"]] == [False, False]
    assert [entry["queries"] for entry in record["results"]] == [20, 20]
    assert record["gap"] is None
    assert json.loads((tmp_path / "out" / "training.json").read_text()) == record
    assert (
        record.of("before")["recall@1"].mean == record["results"][0]["metrics"]["recall@1"]["mean"]
    )
    assert len(repr(record).splitlines()) <= 15
    assert f"dense,model={record.folder}" in repr(record)
    assert "<td>recall@1</td>" in record._repr_html_()
    assert "split by benchmark" in record.table()
    retriever = f"dense,model={tmp_path / 'out'}"
    for pool, known in ((pools[0], True), (pools[2], False)):
        [entry] = seal.retrieve(pool, retriever, k=1).content["results"]
        assert entry["in_source"] is known
        assert entry.get("training_queries") == (10 if known else None)
    after = record["results"][1]["metrics"]["recall@1"]["mean"]
    assert entry["metrics"]["recall@1"]["mean"] == after


def test_the_overlap_of_what_is_held_out_is_always_printed(train: Train, pools, tmp_path) -> None:
    copied = planted(tmp_path / "copied", (*TOPICS[:2], *TOPICS[15:18]))
    record = train(pools[:2], copied)
    [overlap] = record["near_duplicates"]["pools"]
    names = ("queries", "same_text", "near", "left_out", "tools", "tools_trained", "unseen")
    assert [overlap[name] for name in names] == [10, 4, 4, 4, 6, 0, 6]
    console = Console(width=80, record=True, file=StringIO())
    console.print(*training_tables(record), sep="\n")
    said = " ".join(console.export_text().replace("│", " ").split())
    assert "pool0, pool1, split by benchmark: 20 tasks to train on, copied to test on" in said
    assert "copied 10 4 4 4 6 0" in said
    assert "1 hard negative a pair: " in said


def test_several_pools_may_each_hold_out_a_share(train: Train, pools) -> None:
    record = train(pools[:2], split="query", held_out=0.2)
    assert [(len(one["train"]), len(one["test"])) for one in record["sources"]] == [(8, 2)] * 2
    assert [entry["in_source"] for entry in record["results"]] == [True] * 4


@pytest.mark.parametrize(
    ("name", "fault", "says"),
    [
        ("alone", UsageError, "--split benchmark: no benchmark is held out; name those"),
        ("twice", UsageError, "pool0-2: the same pool as pool0, which is named already"),
        ("tested twice", UsageError, "--test-on pool0: the same pool as pool0"),
        ("no gold", DataError, "--test-on plain: no task names the tools that it needs"),
    ],
)
def test_pools_that_cannot_be_split_by_benchmark_are_refused(
    train: Train, pools, tmp_path: Path, name: str, fault: type[Exception], says: str
) -> None:
    plain = write_pool(tmp_path / "plain", [Task("t", "toy", (Goal("hello"),))])
    asked = {
        "alone": (pools[0], ()),
        "twice": ([pools[0], pools[0]], pools[1]),
        "tested twice": (pools[0], [pools[1], pools[0]]),
        "no gold": (pools[0], plain),
    }
    with pytest.raises(fault) as failed:
        train(*asked[name])
    assert says in str(failed.value)
    assert not (tmp_path / "out").exists()


def test_a_map_takes_no_options_of_an_encoder(train: Train, pools) -> None:
    with pytest.raises(UsageError, match="--max-length 9: nothing to --trains map; leave it out"):
        train(pools[:2], pools[2], max_length=9)


def test_a_finished_training_is_returned_and_an_equal_one_gives_equal_files(
    train: Train, pools, tmp_path: Path
) -> None:
    record = train(pools[:2], pools[2])
    assert train(pools[:2], pools[2], resume=True) == record
    train(pools[:2], pools[2], out="again")
    first, again = ((tmp_path / out / "map.npy").read_bytes() for out in ("out", "again"))
    assert first == again

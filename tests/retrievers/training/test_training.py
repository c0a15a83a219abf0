"""Pairs and batches, and models that are trained on them in this process."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import MissingExtraError, UsageError
from seal.retrievers import (
    GoldPair,
    GoldQuery,
    Relevance,
    batches_of,
    fine_tuning,
    load_model,
    newest_checkpoint,
    pairs_of,
    place,
    plain,
    write_model,
)

TOPICS = ("rain", "gold", "music", "trains", "soup", "chess", "tigers", "paint")
PAIRS = tuple(
    GoldPair(f"please {verb} me about {topic}", f"{topic} service")
    for verb in ("tell", "ask", "teach")
    for topic in TOPICS
)
BATCHES = batches_of(len(PAIRS), 6, 12, seed=0)
RECIPE = {"batch_size": 6, "learning_rate": 0.05, "checkpoint_every": 5, "device": "cpu"}


def asked(text: str, *tools: str) -> GoldQuery:
    return GoldQuery("t", 0, text, tools)


def test_a_query_gives_a_pair_for_each_of_its_tools() -> None:
    documents = {"a": "alpha", "b": "beta", "c": "..."}
    queries = [asked("x", "a", "b"), asked("y", "c"), asked("x", "a")]
    assert pairs_of(queries, documents) == (GoldPair("x", "alpha"), GoldPair("x", "beta"))


def test_queries_are_the_same_by_their_words() -> None:
    assert plain("Is it  raining?") == plain("is it raining")
    assert plain("?!") == "?!"


def test_a_pair_has_the_hard_negatives_of_its_query_and_tool() -> None:
    documents = {"a": "alpha", "b": "beta"}
    hard = {("x", "a"): ("gamma",), ("x", "b"): ("delta",)}
    pairs = pairs_of([asked("x", "a", "b")], documents, hard)
    assert pairs == (GoldPair("x", "alpha", ("gamma",)), GoldPair("x", "beta", ("delta",)))


some_pairs = st.lists(
    st.builds(
        GoldPair,
        st.sampled_from(["a", "A", "b", "c"]),
        st.sampled_from("uvwxyz"),
        st.tuples(st.sampled_from("uvwxyz")),
    ),
    min_size=1,
)


@given(some_pairs)
def test_no_document_that_a_query_needs_is_a_negative_of_it(pairs: list[GoldPair]) -> None:
    relevance = Relevance(pairs)
    positions = range(len(pairs))
    documents, needed = relevance.documents(positions), relevance.needed_too(positions)
    wanted = {(plain(pair.query), pair.document) for pair in pairs}
    assert needed.shape == (len(pairs), 2 * len(pairs))
    for row, pair in enumerate(pairs):
        for column, document in enumerate(documents):
            expected = column != row and (plain(pair.query), document) in wanted
            assert needed[row, column] == expected


def test_pairs_are_used_equally_often() -> None:
    batches = batches_of(10, 4, 10, 0)
    assert batches == batches_of(10, 4, 10, 0)
    used = Counter(position for batch in batches for position in batch)
    assert set(used.values()) == {4}


def test_a_batch_holds_no_more_pairs_than_there_are() -> None:
    assert [sorted(batch) for batch in batches_of(3, 64, 2, 0)] == [[0, 1, 2]] * 2


def test_queries_that_need_every_document_teach_nothing() -> None:
    pairs = [GoldPair("Rain?", "a"), GoldPair("rain", "b")]
    assert not Relevance(pairs).teaches
    assert Relevance([*pairs, GoldPair("rain", "b", ("c",))]).teaches


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine_tuning, "_PACKAGES", {"no_such_package_here": "nothing"})
    with pytest.raises(MissingExtraError, match=r"seal-api-llms\[training\]"):
        fine_tuning.check_installed()


@pytest.fixture(scope="module")
def library() -> Iterator[None]:
    """The extra's packages, on one thread: more of them wait for each other on a busy machine."""
    for package in ("sentence_transformers", "datasets", "accelerate"):
        pytest.importorskip(package, reason="needs the extra 'training'")
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def static(library: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random vectors of words."""
    from tiny_models import write_static

    texts = [text for pair in PAIRS for text in (pair.query, pair.document)]
    return write_static(tmp_path_factory.mktemp("models") / "static", texts)


@pytest.fixture(scope="module")
def bert(library: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers, whose dropout needs a seed."""
    from tiny_models import write_bert

    texts = [text for pair in PAIRS for text in (pair.query, pair.document)]
    return write_bert(tmp_path_factory.mktemp("models") / "bert", texts)


def weights(model: object) -> dict[str, bytes]:
    state = model.state_dict()  # type: ignore[attr-defined]
    return {name: tensor.numpy().tobytes() for name, tensor in state.items()}


def trained(base: Path, folder: Path, progress=None, max_length=None, **changes: object):
    recipe = fine_tuning.Recipe(**{**RECIPE, **changes})
    loaded = fine_tuning.load_base(str(base), "cpu", max_length)
    return fine_tuning.fine_tune(loaded, PAIRS, BATCHES, recipe, folder, progress)


class Finished(NamedTuple):
    """A finished training, and what it left and told."""

    found: fine_tuning.Trained
    folder: Path
    told: list[tuple[str, int, int]]


def finished(base: Path, folder: Path) -> Finished:
    told: list[tuple[str, int, int]] = []
    found = trained(base, folder, lambda *step: told.append(step))
    return Finished(found, folder, told)


@pytest.fixture(scope="module")
def whole(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A training of the BERT that nothing disturbed."""
    return finished(bert, tmp_path_factory.mktemp("trained") / "bert")


@pytest.fixture(scope="module")
def whole_static(static: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A training of the model of words."""
    return finished(static, tmp_path_factory.mktemp("trained") / "static")


def test_the_loss_falls_and_every_step_is_told(whole_static: Finished) -> None:
    losses = whole_static.found.losses
    assert [entry["step"] for entry in losses] == [5, 10]
    assert losses[1]["loss"] < losses[0]["loss"]
    assert whole_static.told == [("steps", step, 12) for step in range(1, 13)]


def test_equal_seeds_give_equal_weights_and_others_do_not(
    bert: Path, whole: Finished, tmp_path: Path
) -> None:
    again, other = (
        weights(trained(bert, tmp_path / name, seed=seed).model)
        for name, seed in (("again", 0), ("other", 2))
    )
    assert again == weights(whole.found.model)
    assert again != other


def test_training_goes_on_from_the_newest_whole_checkpoint(
    bert: Path, whole: Finished, tmp_path: Path
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(whole.folder, folder)
    (folder / "checkpoint-13").mkdir()
    for torn in ("checkpoint-13", "checkpoint-12"):
        (folder / torn / "trainer_state.json").write_text('{"torn')
    assert newest_checkpoint(folder) == (10, folder / "checkpoint-10")
    assert not (folder / "checkpoint-12").exists()
    resumed = trained(bert, folder)
    assert weights(resumed.model) == weights(whole.found.model)
    assert resumed.losses == whole.found.losses


def test_a_finished_training_is_loaded_again(static: Path, whole_static: Finished) -> None:
    first, folder, _ = whole_static
    files = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    again = trained(static, folder)
    assert weights(again.model) == weights(first.model)
    assert again.losses == first.losses
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == files


def test_texts_are_shortened_in_training_alone(bert: Path, whole: Finished, tmp_path: Path) -> None:
    short = trained(bert, tmp_path, max_length=4)
    assert short.model.max_seq_length == 64
    assert weights(short.model) != weights(whole.found.model)


def test_a_model_that_reads_any_length_cannot_be_shortened(static: Path) -> None:
    with pytest.raises(UsageError, match="--max-length 4: the model reads texts of any length"):
        fine_tuning.load_base(str(static), "cpu", 4)


def test_a_device_that_is_not_here_is_refused(static: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("a GPU is here")
    with pytest.raises(UsageError, match="--device cuda: no GPU"):
        fine_tuning.load_base(str(static), "cuda")


def test_a_placed_model_replaces_an_older_one(whole_static: Finished, tmp_path: Path) -> None:
    model = whole_static.found.model
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").touch()
    for _ in range(2):
        write_model(model, tmp_path / "part")
        place(tmp_path / "part", out)
    assert weights(load_model(str(out), "cpu")) == weights(model)
    assert (out / "mine").exists()
    assert {path.stat().st_mode for path in out.glob("model*")} == {(out / "mine").stat().st_mode}
    assert not (tmp_path / "part").exists()


KILLED = """
import sys, time
import torch
torch.set_num_threads(1)
sys.path.insert(0, {tests!r})
from pathlib import Path
from retrievers.training.test_training import trained
def slow(stage, done, total):
    if done > 6:
        time.sleep(60)
trained(Path({base!r}), Path({folder!r}), slow)
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_to_the_same_weights(
    bert: Path, whole: Finished, tmp_path: Path
) -> None:
    tests = str(Path(__file__).parents[2])
    folder = tmp_path / "killed"
    code = KILLED.format(tests=tests, base=str(bert), folder=str(folder))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, env={**os.environ}
    )
    state = folder / "checkpoint-5" / "trainer_state.json"
    end = time.monotonic() + 300
    while not state.is_file() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said.decode()
    newest = newest_checkpoint(folder)
    assert newest is not None
    assert newest.step == 5
    assert weights(trained(bert, folder).model) == weights(whole.found.model)

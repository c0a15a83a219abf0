"""`seal train-retriever`: a model of one's own, measured before and after."""

import json
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from seal.api import load_pool


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random vectors of the sample's words."""
    for package in ("sentence_transformers", "datasets", "accelerate"):
        pytest.importorskip(package, reason="needs the extra 'training'")
    import torch
    from tiny_models import write_static

    torch.set_num_threads(1)  # more of them wait for each other on a busy machine
    pool = load_pool("sample")
    texts = [tool.description for tool in pool.tools()]
    texts += [goal.text for task in pool.tasks() for goal in task.goals]
    return write_static(tmp_path_factory.mktemp("models") / "base", texts)


SETTINGS = ("--batch-size", "8", "--learning-rate", "0.1", "--device", "cpu", "-k", "5")


@pytest.mark.slow
def test_an_interrupted_training_is_gone_on_with_by_the_command_it_names(
    script: str, environment: dict[str, str], base: Path, tmp_path: Path
) -> None:
    words = ["train-retriever", "sample", "--out", "mine", "--base", str(base), *SETTINGS]
    words += ["--steps", "5000", "--checkpoint-every", "20"]
    process = subprocess.Popen(
        [script, *words],
        cwd=tmp_path,
        env={**environment, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    state = tmp_path / "mine" / "checkpoints" / "checkpoint-20" / "trainer_state.json"
    end = time.monotonic() + 300
    while not state.is_file() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    said, told = process.communicate(timeout=300)
    assert (process.returncode, said) == (130, "")
    assert told.count("\n") == 1
    named = told.strip().partition("Go on with: seal ")[2]
    assert shlex.split(named) == [*words, "--resume"]
    assert not (tmp_path / "mine" / "training.json").exists()


def test_a_training_ends_with_a_table_and_a_model(called, base: Path, tmp_path: Path) -> None:
    words = ("train-retriever", "sample", "--out", "mine", "--base", base, *SETTINGS)
    done = called(*words, "--steps", "2", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ("seal: steps: 1 of 2\nseal: steps: 2 of 2\nseal: pools: 1 of 1\n")
    for word in ("sample, split by query", "2 steps", "near-duplicates", "recall@5", "mine"):
        assert word in done.stdout
    assert max(map(len, (line for line in done.stdout.splitlines() if line[0] in "┃│"))) <= 80
    record = json.loads((tmp_path / "mine" / "training.json").read_text())
    assert record["pool"] == "sample"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing-here", "--out", "x"], "nothing-here"),
        (["sample"], "--out"),
        (["sample", "--out", "x", "-k", "0"], "expected whole numbers above 0"),
        (["sample", "--out", "x", "--held-out", "1"], "--held-out 1.0: expected a number above 0"),
        (["sample", "--out", "x", "--base", "./none"], "no sentence-transformers model './none'"),
        (["sample", "--out", "x", "--split", "given"], "--split given"),
        (["sample", "--out", "."], "exists and is not empty"),
    ],
)
def test_what_cannot_be_trained_is_one_clear_line(
    called, tmp_path: Path, words: list[str], says: str
) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra 'training'")
    (tmp_path / "mine").touch()
    failed = called("train-retriever", *words, HF_HUB_OFFLINE="1")
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()

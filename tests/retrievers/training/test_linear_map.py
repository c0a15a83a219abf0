"""The linear map: its training, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from seal.core import DataError, UsageError
from seal.retrievers import (
    SCALE,
    GoldPair,
    LinearMap,
    build_embedder,
    embed_documents,
    embed_queries,
    fit_map,
    write_map,
)

CHANCE = np.random.default_rng(0)
TURNED = np.linalg.qr(CHANCE.normal(size=(8, 8)))[0].astype(np.float32)


class Counted:
    """Embeds a number by a vector of its own."""

    identity = "counted@1"

    def embed(self, texts):
        return np.array([np.random.default_rng(int(text)).normal(size=8) for text in texts])


def vectors(texts: list[str]) -> dict[str, np.ndarray]:
    return dict(zip(texts, embed_documents(Counted(), texts), strict=True))


def test_a_map_learns_how_queries_are_turned() -> None:
    documents = vectors([str(n) for n in range(40)])
    queries = {f"q{text}": row @ TURNED for text, row in documents.items()}
    pairs = [GoldPair(f"q{n}", str(n)) for n in range(30)]
    batches = [tuple(range(30))] * 200
    found = fit_map(pairs, batches, (queries, documents), 0.02, 50)
    asked, offered = (np.array(list(part.values())) for part in (queries, documents))
    queries_map, documents_map = found.matrices
    before, after = asked @ offered.T, (asked @ queries_map) @ (offered @ documents_map).T
    right = [(scores.argmax(axis=1) == np.arange(40))[30:].mean() for scores in (before, after)]
    assert right[0] < 0.5 < 0.8 < right[1]
    assert [entry["step"] for entry in found.losses] == [50, 100, 150, 200]
    assert found.losses[-1]["loss"] < found.losses[0]["loss"]


def test_the_first_loss_is_the_cross_entropy_without_what_a_query_needs_too() -> None:
    pairs = [GoldPair("1", "2", ("3",)), GoldPair("1", "4", ("5",)), GoldPair("6", "7", ("2",))]
    known = vectors([str(n) for n in range(1, 8)])
    [first] = fit_map(pairs, [(0, 1, 2)], (known, known), 0.01, 1).losses
    expected = []
    # Query 1 needs 2 and 4: the other one of them does not count. For query 6, 2 stands twice.
    for query, chosen in (("1", "2735"), ("1", "4735"), ("6", "724352")):
        scores = np.exp([SCALE * known[query] @ known[text] for text in chosen])
        expected.append(-np.log(scores[0] / scores.sum()))
    assert first["loss"] == pytest.approx(np.mean(expected), rel=1e-4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    matrices = np.stack([TURNED, np.eye(8, dtype=np.float32)])
    write_map(matrices, "counted", "counted@1", tmp_path / "map")
    return tmp_path / "map"


def test_queries_and_documents_are_mapped_each_by_its_own_matrix(folder: Path) -> None:
    mapped, texts = LinearMap(folder, Counted()), ["1", "2"]
    plain = embed_documents(Counted(), texts)
    np.testing.assert_allclose(embed_documents(mapped, texts), plain, rtol=1e-5)
    np.testing.assert_allclose(embed_queries(mapped, texts, 8), plain @ TURNED, atol=1e-5)
    assert mapped.identity.startswith("counted@1/map@")


def test_a_map_of_another_embedder_is_refused(folder: Path) -> None:
    class Newer(Counted):
        identity = "counted@2"

    with pytest.raises(UsageError, match="was trained for counted@1, and counted@2 is here"):
        LinearMap(folder, Newer())


@pytest.mark.parametrize(
    ("matrices", "says"),
    [
        (np.zeros((2, 8, 7), np.float32), "expected two square matrices"),
        (np.zeros((2, 8, 8)), "expected finite numbers, float32"),
        (np.full((2, 8, 8), np.nan, np.float32), "expected finite numbers, float32"),
        (np.array([{"a": 1}]), "cannot be read"),
    ],
)
def test_matrices_that_are_no_map_are_refused(folder: Path, matrices, says: str) -> None:
    np.save(folder / "map.npy", matrices, allow_pickle=True)
    with pytest.raises(DataError, match=says):
        LinearMap(folder, Counted())


def test_a_map_that_does_not_name_its_base_is_refused(folder: Path) -> None:
    (folder / "map.json").write_text(json.dumps({"base": "x"}))
    with pytest.raises(DataError, match="does not say 'base_identity'; train the map again"):
        build_embedder(str(folder), {})

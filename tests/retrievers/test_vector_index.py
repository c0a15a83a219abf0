import hashlib
import io
import os
import subprocess
import sys

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looped import every_case

from seal.core import DataError, OptionError, UsageError
from seal.retrievers import vector_index as module
from seal.retrievers.vector_index import FLAT, IndexKind, VectorIndex, index_kind, kept_index

SQ8, HNSW, IVF = IndexKind("SQ8"), IndexKind("HNSW8"), IndexKind("IVF12,Flat")
APPROXIMATE = [HNSW, IVF]
FEW_LISTS = IndexKind("IVF1,Flat")
KINDS = [FLAT, SQ8, HNSW, FEW_LISTS, IndexKind("L2norm,HNSW8_SQ8")]


def unit(rows):
    rows = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def clustered(seed, count, dimension=48, centres=20):
    """Vectors around centres that are the same for every seed, as those of texts and queries."""
    middle = np.random.default_rng(0).normal(size=(centres, dimension))
    random = np.random.default_rng(seed)
    near = middle[random.integers(0, centres, count)]
    return unit(near + 0.2 * random.normal(size=(count, dimension)))


def written(index):
    file = io.BytesIO()
    index.write(file.write)
    return file.getvalue()


def by_hand(vectors, query, k):
    """The definition: every score in float64, rounded, sorted by score and position."""
    scores = np.round(vectors.astype(np.float64) @ query.astype(np.float64), 6)
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    return order, [float(scores[i]) for i in order]


def test_the_nearest_vectors_come_first():
    index = VectorIndex.build(unit([[1, 0], [0, 1], [1, 1]]))

    [found] = index.search(unit([[1, 0]]), 2)

    assert found.positions == [0, 2]
    assert found.scores == [1.0, 0.707107]
    assert (index.count, index.dimension) == (3, 2)


def test_blas_serves_batches():
    assert faiss.cvar.distance_compute_blas_threshold == 20


@pytest.mark.parametrize("k", [1, 10, 100, 5000])
def test_the_answer_is_the_definition(k):
    vectors, queries = clustered(1, 1500), clustered(2, 30)

    for query, found in zip(queries, VectorIndex.build(vectors).search(queries, k), strict=True):
        positions, scores = by_hand(vectors, query, k)
        assert found.positions == positions
        assert found.scores == pytest.approx(scores, abs=1e-12)


def test_equal_vectors_are_found_by_position_however_many_there_are():
    vectors = np.repeat(clustered(3, 2), 400, axis=0)

    [found] = VectorIndex.build(vectors).search(vectors[400:401], 5)

    assert found.positions == [400, 401, 402, 403, 404]


def test_a_query_without_direction_finds_the_first_positions():
    [found] = VectorIndex.build(clustered(4, 300)).search(np.zeros((1, 48), np.float32), 3)

    assert found == ([0, 1, 2], [0.0, 0.0, 0.0])


def test_batches_and_threads_change_nothing(monkeypatch):
    vectors, queries = clustered(5, 3000), clustered(6, 70)
    index = VectorIndex.build(vectors)
    expected = index.search(queries, 10)
    threads = faiss.omp_get_max_threads()

    for batch, count in ((1, 1), (7, 2), (64, 1)):
        monkeypatch.setattr(module, "_BATCH", batch)
        faiss.omp_set_num_threads(count)
        assert index.search(queries, 10) == expected
    faiss.omp_set_num_threads(threads)


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_read_back_as_it_was_written(kind, tmp_path):
    def again():
        raise AssertionError("built again")

    vectors = clustered(7, 300)
    index = kept_index(tmp_path, "a", 300, kind, lambda: VectorIndex.build(vectors, kind))
    again = kept_index(tmp_path, "a", 300, kind, again)

    queries = clustered(8, 5)
    assert again.search(queries, 5) == index.search(queries, 5)


def test_vectors_of_an_exact_index_are_opened_where_they_lie(tmp_path):
    vectors = clustered(7, 300)
    for _ in range(2):
        index = kept_index(tmp_path, "a", 300, FLAT, lambda: VectorIndex.build(vectors))

    assert (index.shared() == vectors).all()
    assert not index.shared().flags.writeable  # of a file that is mapped
    assert index.vectors().flags.writeable
    [file] = tmp_path.glob("*.index")
    assert file.stat().st_size <= 1.2 * vectors.nbytes


@pytest.mark.parametrize("data", [b"", b"xxxx", b"IxFI" + b"\0" * 10])
def test_bytes_that_are_no_index_are_a_data_error(data):
    with pytest.raises(DataError, match="Faiss"):
        VectorIndex.read(io.BytesIO(data).read)


# A byte a number cannot tell the very near apart, whatever is searched.
@pytest.mark.parametrize(("kind", "recall"), [(SQ8, 0.8), *((kind, 0.95) for kind in APPROXIMATE)])
def test_another_kind_finds_most_of_the_nearest_and_scores_them_exactly(kind, recall):
    vectors, queries = clustered(1, 4000), clustered(2, 60)
    index = VectorIndex.build(vectors, kind)
    decoded = index.vectors()

    shared = 0
    for query, found in zip(queries, index.search(queries, 10), strict=True):
        shared += len(set(found.positions) & set(by_hand(vectors, query, 10)[0]))
        exact = np.round(decoded[found.positions].astype(np.float64) @ query.astype(np.float64), 6)
        assert found.scores == pytest.approx(exact, abs=1e-12)
        assert found.scores == sorted(found.scores, reverse=True)
    assert shared / 600 >= recall


def test_bytes_for_numbers_are_exact_among_the_decoded_vectors():
    vectors, queries = clustered(1, 1500), clustered(2, 30)
    index = VectorIndex.build(vectors, SQ8)

    for query, found in zip(queries, index.search(queries, 10), strict=True):
        assert found.positions == by_hand(index.vectors(), query, 10)[0]


@every_case("kind", KINDS)
@every_case("count", [1, 2, 40])
def test_every_kind_answers_in_full_however_few_vectors_there_are(kind, count):
    vectors = clustered(3, count)

    for k in (1, 3, 100):
        [found] = VectorIndex.build(vectors, kind).search(vectors[:1], k)
        assert len(set(found.positions)) == len(found.positions) == min(k, count)
        assert found.positions[0] == 0


@pytest.mark.parametrize("kind", APPROXIMATE)
def test_an_approximate_kind_answers_in_full_where_its_paths_end(kind):
    vectors = np.repeat(clustered(3, 4), 200, axis=0)  # four lists, four islands of a graph

    [found] = VectorIndex.build(vectors, kind).search(vectors[:1], 500)

    assert len(set(found.positions)) == 500
    assert set(range(200)) <= set(found.positions)


@pytest.mark.parametrize("kind", APPROXIMATE)
def test_no_answer_of_an_approximate_kind_depends_on_the_other_queries(kind):
    vectors, queries = clustered(5, 2000), clustered(6, 40)
    index = VectorIndex.build(vectors, kind)

    together = index.search(queries, 10)

    assert [index.search(queries[row : row + 1], 10)[0] for row in range(40)] == together


_PRINT_DIGESTS = """
import hashlib, io
import numpy as np
from seal.retrievers.vector_index import IndexKind, VectorIndex
vectors = np.random.default_rng(0).normal(size=(1500, 48)).astype(np.float32)
for kind in map(IndexKind, ("SQ8", "HNSW8", "IVF12,Flat")):
    file = io.BytesIO()
    VectorIndex.build(vectors, kind).write(file.write)
    print(hashlib.sha256(file.getvalue()).hexdigest())
"""


def test_every_build_gives_the_same_bytes_whatever_the_threads():
    vectors = np.random.default_rng(0).normal(size=(1500, 48)).astype(np.float32)
    kinds = (SQ8, HNSW, IVF)
    here = [hashlib.sha256(written(VectorIndex.build(vectors, kind))).hexdigest() for kind in kinds]

    command = [sys.executable, "-c", _PRINT_DIGESTS]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    assert done.stdout.split() == here


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=60),
    query=st.lists(st.integers(-2, 2), min_size=3, max_size=3),
    k=st.integers(1, 70),
)
def test_ties_are_broken_by_position_for_any_vectors(rows, query, k):
    vectors, one = unit(rows), unit([query])

    [found] = VectorIndex.build(vectors).search(one, k)
    [longer] = VectorIndex.build(vectors).search(one, k + 1)

    assert found.positions == by_hand(vectors, one[0], k)[0]
    assert longer.positions[:k] == found.positions


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, FLAT),
        ({"index": None, "template": "name"}, FLAT),
        ({"index": "flat"}, FLAT),
        ({"index": "HNSW32"}, IndexKind("HNSW32")),
        ({"index": "IVF64,Flat"}, IndexKind("IVF64,Flat")),
        ({"index": "PQ7"}, IndexKind("PQ7")),  # made of some dimensions only
    ],
)
def test_an_option_names_a_kind(options, kind):
    assert index_kind(options) == kind


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"index": "hnws"}, r"index=hnws: Faiss knows no such index; give flat, .*index=HNSW32"),
        ({"index": "hnsw"}, 'index=hnsw is gone: write it as Faiss does, index="HNSW32"'),
        ({"index": "sq8"}, 'index=sq8 is gone: write it as Faiss does, index="SQ8"'),
        ({"index": "ivf"}, 'index=ivf is gone: write it as Faiss does, index="IVF64,Flat"'),
        ({"index": "HNSW32", "m": 8}, 'm is gone: Faiss reads the whole index, as index="HNSW32"'),
        ({"index": "ivf", "probes": 8}, 'probes is gone: .* as index="IVF64,Flat"'),
    ],
)
def test_an_index_that_cannot_be_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        index_kind(options)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("IVF6,Flat", "index=IVF6,Flat: Faiss makes none of 5 vectors of 48 numbers .*clusters"),
        ("PQ7", "index=PQ7: .*multiple of the number of subquantizers.*index=flat"),
        ("LSH", "index=LSH: Faiss makes none"),
    ],
)
def test_an_index_that_faiss_cannot_make_of_these_vectors_is_refused(index, message):
    with pytest.raises(OptionError, match=message):
        VectorIndex.build(clustered(3, 5), index_kind({"index": index}))


class ByHand:
    """A store that finds the nearest exactly, among its rows."""

    def add(self, vectors):
        self.vectors = vectors

    def search(self, query, k):
        return np.argsort(-(self.vectors @ query))[:k]


class Beyond(ByHand):
    def search(self, query, k):
        return [len(self.vectors)]


def vectors_of(count: int) -> np.ndarray:
    rows = np.random.default_rng(0).normal(size=(count, 8)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_a_store_of_another_make_finds_what_the_exact_index_does() -> None:
    rows = vectors_of(200)
    own = VectorIndex.build(rows, index_kind({"index": ByHand}))
    assert own.search(rows[:20], 5) == VectorIndex.build(rows).search(rows[:20], 5)
    assert np.array_equal(own.vectors(), rows)


def test_a_store_that_names_a_row_it_was_not_given_is_an_error() -> None:
    rows = vectors_of(10)
    own = VectorIndex.build(rows, index_kind({"index": Beyond}))
    with pytest.raises(DataError, match=r"index Beyond: search gave .*10.*from 0 to 9"):
        own.search(rows[:1], 3)


def test_a_store_stands_in_the_identity_by_its_name() -> None:
    assert index_kind({"index": ByHand}).name.startswith("own,store=")
    with pytest.raises(OptionError, match="m is gone"):
        index_kind({"index": ByHand, "m": 4})

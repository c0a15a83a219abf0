import io

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core.errors import DataError
from seal.retrievers import vector_index as module
from seal.retrievers.vector_index import VectorIndex


def unit(rows):
    rows = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def clustered(seed, count, dimension=48, centres=20):
    random = np.random.default_rng(seed)
    middle = random.normal(size=(centres, dimension))
    near = middle[random.integers(0, centres, count)]
    return unit(near + 0.2 * random.normal(size=(count, dimension)))


def written(index):
    file = io.BytesIO()
    index.write(file)
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


def test_an_index_is_read_back_as_it_was_written():
    index = VectorIndex.build(clustered(7, 50))
    again = VectorIndex.read(io.BytesIO(written(index)))

    queries = clustered(8, 5)
    assert again.search(queries, 5) == index.search(queries, 5)


@pytest.mark.parametrize("data", [b"", b"xxxx", b"IxFI" + b"\0" * 10])
def test_bytes_that_are_no_index_are_a_data_error(data):
    with pytest.raises(DataError, match="Faiss"):
        VectorIndex.read(io.BytesIO(data))


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

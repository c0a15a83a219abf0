import numpy as np
import pytest

from seal.core import DataError, OptionError, UnknownNameError, UsageError
from seal.retrievers.index_kinds import Flat, Hnsw, Ivf, Sq8, index_kind, index_name, shaping
from seal.retrievers.vector_index import VectorIndex


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, Flat()),
        ({"index": None, "template": "name"}, Flat()),
        ({"index": "sq8"}, Sq8()),
        ({"index": "hnsw", "m": 8, "ef_search": 64}, Hnsw(m=8, ef_search=64)),
        ({"index": "ivf", "lists": 5, "probes": 2}, Ivf(5, 2)),
    ],
)
def test_options_name_a_kind_and_its_parameters(options, kind):
    assert index_kind(options) == kind


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"m": 8}, "m is no option of index=flat; give index=hnsw with it"),
        ({"index": "hnsw", "probes": 8}, "probes is no option of index=hnsw; give index=ivf"),
        ({"index": "hnsw", "m": 1}, "m = 1: a graph needs at least 2"),
        ({"index": "hnsw", "ef_search": 0}, "ef_search = 0: expected a whole number above 0"),
        ({"index": "ivf", "lists": "many"}, "lists = 'many': expected a whole number"),
        ({"index": "ivf", "probes": True}, "probes = True: expected a whole number"),
        ({"index": "ivf", "probes": 1.5}, "probes = 1.5: expected a whole number"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        index_kind(options)


def test_an_unknown_kind_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"no index 'hnws'; known: flat, .*'hnsw'"):
        index_kind({"index": "hnws"})


@pytest.mark.parametrize(("count", "lists"), [(1, 1), (77, 1), (78, 2), (1000, 25), (16_000, 126)])
def test_lists_grow_with_the_root_of_the_vectors_where_there_are_enough(count, lists):
    assert Ivf().lists_for(count) == lists


def test_more_lists_than_vectors_are_refused():
    with pytest.raises(UsageError, match=r"lists = 6, but there are 5 vectors.*index=flat"):
        Ivf(lists=6).lists_for(5)


def test_how_an_index_is_searched_shapes_no_file_but_its_name():
    assert shaping(Hnsw(ef_search=1)) == shaping(Hnsw()) != shaping(Hnsw(m=8))
    assert index_name(Hnsw(m=8)) == "hnsw,m=8,ef_construction=200,ef_search=128"
    assert index_name(Ivf()) == "ivf,probes=16"
    assert index_name(Flat()) == "flat"


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
    assert index_name(index_kind({"index": ByHand})).startswith("own,store=")
    with pytest.raises(OptionError, match=r"m is no option of index=.*ByHand; leave it out"):
        index_kind({"index": ByHand, "m": 4})

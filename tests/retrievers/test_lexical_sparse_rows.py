"""Sparse rows are scipy's, to the last bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, hstack

from seal.retrievers.lexical import SparseRows

NUMBERS = st.floats(-1e3, 1e3, allow_nan=False)


@st.composite
def entries(draw, n, width):
    """Rows, columns and numbers of a matrix, in any order, places with several among them.

    Of more than 16 numbers in a row, scipy sums those of one place in no certain order.
    """
    places = st.tuples(st.integers(0, n - 1), st.integers(0, width - 1), NUMBERS)
    single = st.lists(places, max_size=30, unique_by=lambda place: place[:2])
    found = draw(st.lists(places, max_size=16) | single) if n else []
    return tuple(list(column) for column in zip(*found, strict=True)) or ([], [], [])


@st.composite
def matrices(draw, n=None, width=None):
    """The same matrix of ours and of scipy's."""
    n = draw(st.integers(0, 6)) if n is None else n
    width = draw(st.integers(1, 6)) if width is None else width
    rows, columns, data = draw(entries(n, width))
    theirs = csr_matrix((data, (rows, columns)), shape=(n, width), dtype=np.float64)
    return SparseRows.of(rows, columns, data, n, width), theirs


def same(ours, theirs):
    assert np.array_equal(ours, theirs)


@given(matrices())
def test_rows_are_made_turned_and_picked_as_by_scipy(both):
    ours, theirs = both
    same(ours.toarray(), theirs.toarray())
    assert ours.shape == theirs.shape
    same(ours.transposed().toarray(), theirs.T.toarray())
    for rows in (slice(1, 4), np.array([0, 0, len(ours) - 1]) if len(ours) else slice(0)):
        same(ours[rows].toarray(), theirs[rows].toarray())
    assert (np.diff(ours.columns)[np.diff(ours.rows()) == 0] > 0).all()


@given(st.data())
def test_products_are_scipys(data):
    ours, theirs = data.draw(matrices())
    right, of_scipy = data.draw(matrices(n=ours.width))
    same(ours @ right, (theirs @ of_scipy).toarray())
    vector = np.array(data.draw(st.lists(NUMBERS, min_size=ours.width, max_size=ours.width)))
    same(ours.dot(vector), theirs @ vector)
    beside, theirs_beside = data.draw(matrices(n=len(ours)))
    same(ours.beside(beside).toarray(), hstack([theirs, theirs_beside]).toarray())


@given(matrices())
def test_unit_rows_have_length_one_or_none(both):
    ours = both[0].unit().toarray()
    held = np.abs(both[0].toarray()).max(axis=1, initial=0) > 1e-100
    assert np.allclose(np.linalg.norm(ours[held], axis=1), 1)
    assert not ours[~np.abs(both[0].toarray()).any(axis=1)].any()

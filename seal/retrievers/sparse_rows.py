"""Rows of numbers of which most are 0, and their products.

What retrieval by words asks of sparse matrices is little, and is here in numpy. Sums run in the
order of the columns, so that equal rows have equal products to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]
Vectors: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Compressed rows, float64, (n, width)."""

    data: Floats
    """The numbers that are not 0, row by row."""
    columns: Places
    """Of each number; ascending in a row."""
    starts: Places
    """Where each row begins in `data`, and where the last one ends, (n + 1,)."""
    width: int

    @classmethod
    def of(
        cls, rows: npt.ArrayLike, columns: npt.ArrayLike, data: npt.ArrayLike, n: int, width: int
    ) -> SparseRows:
        """Return n rows that hold numbers at places; those of one place are summed.

        Args:
            rows: Of each number, in [0, n).
            columns: Of each number, in [0, width).
            data: The numbers.
            n: Number of rows.
            width: Number of columns.
        """
        place = np.asarray(rows, dtype=np.int64) * width + np.asarray(columns, dtype=np.int64)
        numbers = np.asarray(data, dtype=np.float64)
        if (np.diff(place) <= 0).any():
            place, index = np.unique(place, return_inverse=True)
            numbers = _sums(index, numbers, len(place))
        starts = np.searchsorted(place, np.arange(n + 1) * width)
        return cls(numbers, place % width, starts, width)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), self.width

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: slice | npt.NDArray[np.intp]) -> SparseRows:
        """Return some of the rows, in the order asked."""
        asked = np.arange(len(self))[rows]
        lengths = np.diff(self.starts)[asked]
        entries = _spans(self.starts[asked], lengths)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return SparseRows(self.data[entries], self.columns[entries], starts, self.width)

    def __mul__(self, factor: float) -> SparseRows:
        return replace(self, data=self.data * factor)

    def __matmul__(self, other: SparseRows) -> Floats:
        """Return the products with the columns of another, (n, other.width)."""
        found = np.zeros((len(self), other.width))
        for row, (start, end) in enumerate(pairwise(self.starts.tolist())):
            columns = self.columns[start:end]
            first, last = other.starts[columns], other.starts[columns + 1]
            spans = [slice(*span) for span in zip(first.tolist(), last.tolist(), strict=True)]
            if spans:  # slices that are joined cost half of what one index of all numbers does
                numbers = np.concatenate([other.data[span] for span in spans])
                numbers *= np.repeat(self.data[start:end], last - first)
                places = np.concatenate([other.columns[span] for span in spans])
                found[row] = _sums(places, numbers, other.width)
        return found

    def dot(self, vector: Floats) -> Floats:
        """Return the product of each row with a vector, (n,)."""
        return _sums(self.rows(), self.data * vector[self.columns], len(self))

    def rows(self) -> Places:
        """Return the row of each number."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def transposed(self) -> SparseRows:
        """Return the columns as rows, (width, n)."""
        order = np.argsort(self.columns, kind="stable")
        ends = np.cumsum(np.bincount(self.columns, minlength=self.width))
        starts = np.concatenate([[0], ends])
        return SparseRows(self.data[order], self.rows()[order], starts, len(self))

    def unit(self) -> SparseRows:
        """Return the rows with length 1; a row of zeros stays one."""
        lengths = np.sqrt(_sums(self.rows(), self.data**2, len(self)))
        lengths[lengths == 0] = 1
        return replace(self, data=self.data / lengths[self.rows()])

    def beside(self, other: SparseRows) -> SparseRows:
        """Return the rows with those of another to their right, (n, both widths)."""
        return SparseRows.of(
            np.concatenate([self.rows(), other.rows()]),
            np.concatenate([self.columns, other.columns + self.width]),
            np.concatenate([self.data, other.data]),
            len(self),
            self.width + other.width,
        )

    def toarray(self) -> Floats:
        """Return all numbers, (n, width)."""
        dense = np.zeros(self.shape)
        dense[self.rows(), self.columns] = self.data
        return dense


def _sums(places: Places, numbers: Floats, n: int) -> Floats:
    """Return what the numbers of each place in [0, n) sum up to, in their order."""
    sums: Floats = np.bincount(places, numbers, n).astype(np.float64, copy=False)
    return sums


def _spans(starts: Places, lengths: Places) -> Places:
    """Return the places of spans, one span behind the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())

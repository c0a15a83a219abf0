"""Kinds of vector indexes by name, with their parameters; what builds them is `vector_index`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from seal.core import OptionError, UnknownNameError, UsageError
from seal.core.registry import Registry, name_of
from seal.core.text import counted


@dataclass(frozen=True)
class IndexKind:
    """A kind of index; its fields are the parameters."""

    name: ClassVar[str]
    exact: ClassVar[bool] = False
    """Whether the index names the nearest vectors for certain."""
    searching: ClassVar[frozenset[str]] = frozenset()
    """Parameters that shape no index on disk."""


@dataclass(frozen=True)
class Flat(IndexKind):
    """All vectors as they are: exact."""

    name = "flat"
    exact = True


@dataclass(frozen=True)
class Sq8(IndexKind):
    """A byte for each number: a quarter of the memory, exact among the decoded vectors."""

    name = "sq8"
    exact = True


@dataclass(frozen=True)
class Hnsw(IndexKind):
    """A graph of near vectors.

    Source: Malkov and Yashunin (2020), Efficient and Robust Approximate Nearest Neighbor Search
    Using Hierarchical Navigable Small World Graphs.
    """

    name = "hnsw"
    searching = frozenset({"ef_search"})

    m: int = 32
    """Neighbours of a vector; at least 2."""
    ef_construction: int = 200
    """Candidates while the graph is built."""
    ef_search: int = 128
    """Candidates while it is searched."""

    def __post_init__(self) -> None:
        if self.m < 2:
            raise OptionError(f"m = {self.m}: a graph needs at least 2 neighbours a vector")


@dataclass(frozen=True)
class Ivf(IndexKind):
    """Lists of vectors around the centres of k-means; the nearest lists are searched."""

    name = "ivf"
    searching = frozenset({"probes"})

    lists: int | None = None
    """None: the square root of the number of vectors, and at least 39 vectors a list."""
    probes: int = 16
    """Lists that a query searches; more than there are: all."""

    def lists_for(self, count: int) -> int:
        """Return how many lists `count` vectors are put in.

        Raises:
            UsageError: More lists than vectors were asked for.
        """
        if self.lists is None:
            return max(1, min(int(count**0.5), count // _VECTORS_A_CENTRE))
        if self.lists > count:
            raise UsageError(
                f"lists = {self.lists}, but there are {counted(count, 'vector')}: k-means needs "
                "at least one "
                f"for each list; give lists={count} or less, or index=flat, which needs none"
            )
        return self.lists


class VectorStore(Protocol):
    """A vector database, or any search among vectors of another make."""

    def add(self, vectors: npt.NDArray[np.float32]) -> None:
        """Take all vectors, float32, (n, dimension), rows of length 1; called once."""
        ...

    def search(self, query: npt.NDArray[np.float32], k: int) -> Sequence[int]:
        """Return about the k vectors of the highest inner products, by their rows.

        Args:
            query: float32, (dimension,).
            k: At most as many as there are.
        """
        ...


@dataclass(frozen=True)
class Own(IndexKind):
    """A store of another make: it names candidates, their scores are computed here."""

    name = "own"

    store: str
    """Dotted path or name of the class, for identities."""
    build: Callable[[], VectorStore] = field(compare=False, repr=False)
    """Makes an empty store."""


STORES = Registry("vector index", "seal.indexes", {})

_VECTORS_A_CENTRE = 39
"""Faiss wants this many to place a centre well."""
_KINDS = {"flat": Flat, "sq8": Sq8, "hnsw": Hnsw, "ivf": Ivf}
_OWNER = {one.name: kind for kind in _KINDS.values() for one in fields(kind)}
"""Parameter to the kind that has it."""
INDEX_OPTIONS = frozenset({"index", *_OWNER})
"""Names of all options that choose an index."""


def index_kind(options: Mapping[str, Any]) -> IndexKind:
    """Return the kind that `index` names, `flat` where it is absent, with its parameters.

    Args:
        options: Of a retriever; those that choose no index are passed over. `index` may also be a
            class that is a `VectorStore`, its dotted path, or an entry point of `seal.indexes`.

    Raises:
        UnknownNameError: No kind of that name.
        UsageError: A parameter is of another kind, or no whole number above 0.
    """
    asked = options.get("index") or Flat.name
    given = {key: options[key] for key in sorted(_OWNER.keys() & options.keys())}
    if not isinstance(asked, str) or ":" in asked or asked in STORES:
        for key in given:
            raise OptionError(f"{key} is no option of index={name_of(asked)}; leave it out")
        return Own(str(name_of(asked)), STORES.resolve(asked))
    if asked not in _KINDS:
        raise UnknownNameError("index", asked, [*_KINDS, *STORES.names()])
    for key, value in given.items():
        if _OWNER[key] is not _KINDS[asked]:
            owner = _OWNER[key].name
            raise OptionError(f"{key} is no option of index={asked}; give index={owner} with it")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise OptionError(f"{key} = {value!r}: expected a whole number above 0")
    return _KINDS[asked](**given)


def shaping(kind: IndexKind) -> dict[str, Any]:
    """Return the name and the parameters of a kind that shape the index on disk."""
    parameters = _parameters(kind)
    return {"index": kind.name, **{k: v for k, v in parameters if k not in kind.searching}}


def index_name(kind: IndexKind) -> str:
    """Return the name and all parameters of a kind, as they stand in identities."""
    parameters = (f"{name}={value}" for name, value in _parameters(kind) if value is not None)
    return ",".join([kind.name, *parameters])


def _parameters(kind: IndexKind) -> list[tuple[str, Any]]:
    return [(one.name, getattr(kind, one.name)) for one in fields(kind) if one.compare]

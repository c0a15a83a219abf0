"""The best match, against a search that forgets nothing and prunes nothing."""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.evaluation.milestone_search import Assigned, best_match


class Table:
    """Similarities that depend on the places of some nodes before."""

    def __init__(self, values: Any, references: Sequence[Collection[int] | None]) -> None:
        self.places = len(values[0]) if values else 0
        self._values = values
        self._references = references

    def references(self, node: int) -> Collection[int] | None:
        return self._references[node]

    def row(self, node: int, mapped: Mapping[int, int]) -> list[float]:
        reads = self._references[node]
        read = sorted(mapped) if reads is None else sorted(reads)
        shift = sum((earlier + 1) * (mapped[earlier] + 1) for earlier in read)
        row: list[float] = self._values[node]
        return [row[(place + shift) % self.places] for place in range(self.places)]

    def bound(self, node: int) -> list[float]:
        if self._references[node] == []:
            row = self._values[node]
            return [max(row[place:]) for place in range(self.places)]
        return [max(self._values[node])] * self.places


def searched(
    after: Sequence[Collection[int]],
    table: Table,
    found: Sequence[Assigned] = (),
) -> list[Assigned]:
    """ToolSandbox's depth-first search, without its pruning."""
    mapped = {one.node: one.place for one in found}
    if len(mapped) == len(after):
        return list(found)
    candidates = sorted(
        (-table.row(node, mapped)[place], node, place)
        for node in range(len(after))
        if node not in mapped and set(after[node]) <= mapped.keys()
        for place in range(found[-1].place if found else 0, table.places)
    )
    best: list[Assigned] = []
    for lost, node, place in candidates:
        whole = searched(after, table, [*found, Assigned(node, place, -lost)])
        if not best or total(whole) > total(best) + 1e-9:
            best = whole
    return best


def total(found: Sequence[Assigned]) -> float:
    return sum(one.similarity for one in found)


@st.composite
def graphs(draw: Any) -> tuple[list[list[int]], Table]:
    """A graph of up to four nodes whose numbers are in no order, over up to four places."""
    count, places = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    order = draw(st.permutations(range(count)))
    after: list[list[int]] = [[] for _ in range(count)]
    references: list[list[int] | None] = [[] for _ in range(count)]
    for position, node in enumerate(order):
        earlier = order[:position]
        after[node] = [other for other in earlier if draw(st.booleans())]
        ancestors = set(after[node])
        for other in reversed(earlier):
            if other in ancestors:
                ancestors |= set(after[other])
        references[node] = draw(
            st.sampled_from([[], sorted(ancestors)[:1], sorted(ancestors), None])
        )
    values = draw(
        st.lists(
            st.lists(st.sampled_from([0.0, 0.0, 1.0, 0.5, 0.8]), min_size=places, max_size=places),
            min_size=count,
            max_size=count,
        )
    )
    return after, Table(values, references)


@given(graphs())
@settings(max_examples=300)
def test_the_match_is_that_of_the_whole_search_also_among_equal_ones(
    graph: tuple[list[list[int]], Table],
) -> None:
    after, table = graph
    assert best_match(after, table) == searched(after, table)


@given(graphs())
def test_a_match_keeps_the_order_and_never_goes_back(
    graph: tuple[list[list[int]], Table],
) -> None:
    after, table = graph
    found = best_match(after, table)
    places = [one.place for one in found]
    assert places == sorted(places)
    order = [one.node for one in found]
    assert sorted(order) == list(range(len(after)))
    assert all(order.index(e) < order.index(n) for n, before in enumerate(after) for e in before)


def test_nodes_may_share_a_place_and_the_lower_one_is_first() -> None:
    table = Table([[0.0, 1.0], [0.0, 1.0]], [[], []])
    assert best_match([[], []], table) == [Assigned(0, 1, 1.0), Assigned(1, 1, 1.0)]


def test_of_equal_places_the_earliest_is_taken() -> None:
    assert best_match([[]], Table([[0.5, 1.0, 1.0]], [[]])) == [Assigned(0, 1, 1.0)]


def test_a_similar_step_is_left_where_the_rest_would_lose_more() -> None:
    table = Table([[0.9, 0.0, 1.0], [0.0, 1.0, 0.0]], [[], []])
    assert best_match([[], [0]], table) == [Assigned(0, 0, 0.9), Assigned(1, 1, 1.0)]


def test_nothing_is_matched_without_nodes_or_places() -> None:
    assert best_match([], Table([], [])) == []
    assert best_match([[]], Table([[]], [[]])) == []


def test_a_long_chain_that_nothing_meets_is_no_exponential_search() -> None:
    count, places = 12, 40
    values = [
        [float(count - node - 1 == place % count) for place in range(places)]
        for node in range(count)
    ]
    references = [[node - 1] if node else [] for node in range(count)]
    after = [[node - 1] if node else [] for node in range(count)]
    found = best_match(after, Table(values, references))
    assert len(found) == count


def test_parallel_nodes_that_are_met_in_another_order_are_no_exponential_search() -> None:
    count, places = 30, 100
    met = {node: node * 7 % places for node in range(count)}
    values = [[float(place == met[node]) for place in range(places)] for node in range(count)]
    found = best_match([[]] * count, Table(values, [[]] * count))
    assert {one.node: one.place for one in found} == met


def test_pairs_that_do_not_hinder_each_other_are_no_exponential_search() -> None:
    count, places = 16, 30
    draw = Random(0)
    values = [[draw.random() for _ in range(places)] for _ in range(count)]
    pairs = [[node - 1] if node % 2 else [] for node in range(count)]
    together = total(best_match(pairs, Table(values, pairs)))

    def alone(pair: int) -> float:
        table = PairOf(Table(values, pairs), 2 * pair)
        return total(best_match([[], [0]], table))

    assert together == pytest.approx(sum(alone(pair) for pair in range(count // 2)))


class PairOf:
    """Two of a table's nodes, as if there were no others."""

    def __init__(self, table: Table, first: int) -> None:
        self.places = table.places
        self._table, self._first = table, first

    def references(self, node: int) -> Collection[int] | None:
        return [0] if node else []

    def row(self, node: int, mapped: Mapping[int, int]) -> list[float]:
        moved = {self._first + earlier: place for earlier, place in mapped.items()}
        return self._table.row(self._first + node, moved)

    def bound(self, node: int) -> list[float]:
        return self._table.bound(self._first + node)

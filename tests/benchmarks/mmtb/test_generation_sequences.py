"""Sequences of mission types: all of them, or covering arrays of the smallest size."""

from collections import Counter
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.benchmarks.mmtb.generation import DATE, MissionSettings, assignments, type_sequences
from seal.core import UsageError

KINDS = ("single", "multi", "chat", "clarify")
RELATIONS = ("implicit", "ellipsis", "memory")


def made(missions: int = 4, relations=RELATIONS, **settings):
    wanted = {"model": "openai/any", "missions": missions, "relations": relations}
    return assignments(MissionSettings(**wanted, **settings))


def coverage(sequences, kinds, length: int) -> float:
    """Return the share of the runs of a length, at each place, that some sequence has."""
    places = max(len(sequences[0]) - length + 1, 0)
    seen = {
        (place, *sequence[place : place + length])
        for sequence in sequences
        for place in range(places)
    }
    return len(seen) / (places * len(kinds) ** length) if places else 1.0


@pytest.mark.parametrize(("missions", "count"), [(1, 4), (2, 16), (3, 64), (4, 256)])
def test_up_to_four_missions_every_sequence_is_made_once(missions: int, count: int) -> None:
    sequences = type_sequences(missions, KINDS)

    assert len(sequences) == len(set(sequences)) == count


@given(st.integers(5, 12), st.integers(1, 4), st.integers(1, 3))
def test_more_missions_cover_every_run_of_types_at_every_place_once(missions, kinds, cover) -> None:
    sequences = type_sequences(missions, KINDS[:kinds], cover)

    assert len(sequences) == kinds**cover
    assert coverage(sequences, KINDS[:kinds], cover) == 1.0


def test_coverage_counts_runs_by_their_places() -> None:
    assert coverage([("single", "chat", "single")], ("single", "chat"), 2) == 2 / 8
    assert coverage([("single",)], KINDS, 2) == 1.0


def test_relations_are_dealt_out_evenly_and_memory_from_the_third_mission_on() -> None:
    counts = Counter((one.number, one.relation) for dialogue in made() for one in dialogue)

    assert counts[0, None] == 256
    assert counts[1, "memory"] == 0
    assert {counts[1, relation] for relation in ("implicit", "ellipsis")} == {128}
    assert all(80 <= counts[n, relation] <= 90 for n in (2, 3) for relation in RELATIONS)


def test_seeds_and_dates_follow_from_the_seed_alone() -> None:
    first, again, other = made(), made(), made(seed=1)

    assert first == again
    assert len({one.seed for dialogue in first for one in dialogue}) == 4 * 256
    assert first[7][0].date != other[7][0].date
    assert all(datetime.strptime(dialogue[0].date, DATE).year == 2024 for dialogue in first)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"missions": 0}, "at least 1"),
        ({"cover": 0, "missions": 5}, "at least 1"),
        ({"relations": ("memory",)}, "implicit or ellipsis"),
        ({"relations": ("implicit", "implicit")}, "once"),
    ],
)
def test_what_no_dialogue_can_have_is_refused(settings, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        made(**settings)

"""The table of a run's scores: from its lines, or from the columns that stand beside them."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from seal.core import DataError, Score
from seal.core.records import encode_scores
from seal.core.secrets import note_keys
from seal.runs.score_table import read_scores, write_columns
from seal.runs.scores import COLUMNS, LARGE, Columns

METRICS = ("pass_rate", "call_f1", "turns")


def scores_of(goals: int) -> list[Score]:
    """Scores with values, with none and of one metric that few goals have."""
    found = []
    for number in range(goals):
        at = (f"task {number // 2}", number % 2, 0)
        found.append(Score(*at, METRICS[0], float(number % 3 == 0)))
        found.append(Score(*at, METRICS[1], None, reason="infrastructure: no server"))
        if number % 7 == 0:
            found.append(Score(*at, METRICS[2], number / 8))
    return found


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A file of scores with its columns, as scoring leaves them."""
    path = tmp_path / "scores.jsonl"
    path.write_bytes(encode_scores(scores_of(LARGE)))
    write_columns(path)
    return path


def same(one, other) -> bool:
    return (
        (list(one.scored()), one.metrics, one.reasons)
        == (list(other.scored()), other.metrics, other.reasons)
        and np.array_equal(one.values, other.values, equal_nan=True)
        and np.array_equal(one.why, other.why)
    )


def test_columns_say_what_the_lines_say(written):
    from_columns = read_scores(written)
    written.with_name(COLUMNS).unlink()
    from_lines = read_scores(written)
    assert same(from_columns, from_lines)
    assert len(from_lines.goals) == LARGE


@pytest.mark.parametrize("harm", ["changed", "cut", "empty", "foreign"])
def test_columns_that_are_not_of_the_lines_are_not_read(written, harm):
    beside = written.with_name(COLUMNS)
    if harm == "changed":  # one figure of the lines, in a file of the same length
        text = written.read_bytes()
        written.write_bytes(text.replace(b'"value":1.0', b'"value":0.5', 1))
    elif harm == "cut":
        beside.write_bytes(beside.read_bytes()[:-200])
    elif harm == "empty":
        beside.write_bytes(b"")
    else:
        with zipfile.ZipFile(beside, "w") as packed:
            packed.writestr("told.npy", b"\x93NUMPY")
    found = read_scores(written)
    beside.unlink()
    assert same(found, read_scores(written))


def test_a_small_run_has_no_columns_and_one_that_has_shrunk_loses_them(written):
    written.write_bytes(encode_scores(scores_of(10)))
    write_columns(written)
    assert not written.with_name(COLUMNS).exists()
    assert len(read_scores(written).goals) == 10


def test_equal_scores_make_equal_bytes(written):
    beside = written.with_name(COLUMNS)
    before = beside.read_bytes()
    write_columns(written)
    assert beside.read_bytes() == before


def test_scores_taken_while_they_are_written_make_the_bytes_that_reading_makes(written):
    beside = written.with_name(COLUMNS)
    before = beside.read_bytes()
    columns, scores = Columns(), scores_of(LARGE)
    for place in range(0, len(scores), 100):
        some = scores[place : place + 100]
        columns.take(some, encode_scores(some))
    write_columns(written, columns)
    assert beside.read_bytes() == before


def test_a_score_that_was_taken_twice_is_named_by_its_lines(written):
    columns, scores = Columns(), [*scores_of(LARGE), *scores_of(1)]
    columns.take(scores, encode_scores(scores))
    written.write_bytes(encode_scores(scores))
    with pytest.raises(DataError, match=f"line {len(scores) - 2}: scores .* of line 1 again"):
        write_columns(written, columns)


def test_no_key_stands_in_the_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SERVICE_KEY", "secret-key-of-a-service-1")
    note_keys("A_SERVICE_KEY")
    columns, path = Columns(), tmp_path / "scores.jsonl"
    scores = [
        Score(f"task {number}", 0, 0, METRICS[0], None, reason="refused secret-key-of-a-service-1")
        for number in range(LARGE)
    ]
    path.write_bytes(encode_scores(scores))
    columns.take(scores, encode_scores(scores))
    write_columns(path, columns)
    assert read_scores(path).reasons[1:] == ("refused ***key***",)

"""The folder in which a generation works: what it takes up again, and what it refuses."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from seal.core import JSON, DataError, UsageError
from seal.experiments.generation import open_journal


@dataclass(frozen=True)
class Note:
    id: str
    said: JSON


def opened(out: Path, **settings: JSON):
    return open_journal(out, settings, "notes.jsonl", Note, "note/1")


def test_records_are_taken_up_as_the_file_has_them(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame-open-thyself-1")
    with opened(tmp_path / "out") as journal:
        held = journal.add(Note("a", ["sesame-open-thyself-1", "\ud83c"]))
        made = journal.made
    assert held == Note("a", ["***key***", "\ufffd"])
    with opened(tmp_path / "out") as journal:
        assert journal.made == made == {"a": held}


def test_the_last_line_of_a_record_counts_and_order_leaves_one(tmp_path):
    with opened(tmp_path / "out") as journal:
        for note in (Note("b", 1), Note("z", 0), Note("a", 1), Note("b", 2)):
            journal.add(note)
        journal.put_in_order(["a", "b"])
    assert (tmp_path / "out/generation/notes.jsonl").read_text().splitlines() == [
        '{"schema":"note/1","id":"a","said":1}',
        '{"schema":"note/1","id":"b","said":2}',
        '{"schema":"note/1","id":"z","said":0}',
    ]


def test_a_torn_line_is_cut_off_and_a_damaged_one_named(tmp_path):
    with opened(tmp_path / "out") as journal:
        journal.add(Note("a", 1))
    path = tmp_path / "out/generation/notes.jsonl"
    path.write_bytes(path.read_bytes() + b'{"schema":"no')
    with opened(tmp_path / "out") as journal:
        assert journal.made == {"a": Note("a", 1)}
    path.write_bytes(path.read_bytes() + b'{"schema":"note/2","id":"b","said":1}\n')
    with (
        pytest.raises(DataError, match="line 2: schema 'note/2', expected 'note/1'"),
        opened(path.parents[1]),
    ):
        pass


def test_a_record_that_could_not_be_read_back_is_not_written(tmp_path):
    with opened(tmp_path / "out") as journal:
        with pytest.raises(DataError, match="id"):
            journal.add(Note(7, "no text as its id"))
        journal.add(Note("a", 1))
    with opened(tmp_path / "out") as journal:
        assert list(journal.made) == ["a"]


@pytest.mark.parametrize("content", ["[1]", '{"seed": 1}', "{}"])
def test_records_of_other_settings_are_not_gone_on_with(tmp_path, content):
    with opened(tmp_path / "out", seed=0):
        pass
    (tmp_path / "out/generation/settings.json").write_text(content)
    with (
        pytest.raises(UsageError, match=r"made with another seed: .*, now 0"),
        opened(tmp_path / "out", seed=0),
    ):
        pass


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something else"), opened(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]

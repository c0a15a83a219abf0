"""Malformed records among others."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import DataError
from seal.pools.importer import Notes
from seal.pools.reading.files import FileFault, LeftOut, field_of, usable

GOOD = json.dumps({"name": "tide"})
BAD = ['{"na', '{"name": 7}', "7", '"x"', "\x00"]


def name_of(record: Any) -> str:
    return field_of(record, "name", str)


@given(lines=st.lists(st.sampled_from([GOOD, *BAD]), max_size=12))
def test_what_is_usable_is_kept_and_the_rest_counted(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_text("\n".join(lines))
    notes = Notes()
    good = lines.count(GOOD)
    if lines and not good:
        with pytest.raises(DataError, match=r"a\.jsonl, line 1: "):
            list(usable(path, name_of, notes))
    else:
        assert list(usable(path, name_of, notes)) == ["tide"] * good
    assert notes.dropped.total() == len(lines) - good
    assert len(notes.malformed) == min(len(lines) - good, 5)


def test_a_missing_file_that_records_need_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{GOOD}\n{GOOD}")
    seen = []

    def read(record: Any) -> str:
        seen.append(record)
        if len(seen) == 2:
            raise FileFault("there is no file b.json")
        return name_of(record)

    with pytest.raises(DataError, match=r"a\.jsonl, line 2: there is no file b\.json"):
        list(usable(path, read, Notes()))


def test_a_sound_record_that_is_left_out_is_counted_under_its_reasons(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{GOOD}\n{GOOD}")
    notes, reasons = Notes(), iter([("too_long",), ()])

    def read(record: Any) -> str:
        raise LeftOut(*next(reasons))

    assert list(usable(path, read, notes)) == []
    assert (notes.dropped, notes.malformed) == ({"too_long": 1}, [])

"""Descriptions of tools: every way to write them down, and what is refused."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.benchmarks.toolscan import Description, read_descriptions
from seal.core import DataError, SealError, UsageError

TEXT = """\
# Travel
search_hotels: Search hotels in a city.

Cancel a flight: the whole booking.
#Money
Convert  an amount.
"""


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "tools.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder: Path, content: str | bytes) -> list[tuple[str, str, str]]:
    return [(d.name, d.text, d.category) for d in read_descriptions(written(folder, content))]


def test_a_line_is_a_tool_and_a_heading_its_category(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    assert read_descriptions(path) == [
        Description("Search hotels in a city.", "search_hotels", "Travel", f"{path}, line 2"),
        Description("Cancel a flight: the whole booking.", "", "Travel", f"{path}, line 4"),
        Description("Convert an amount.", "", "Money", f"{path}, line 6"),
    ]


@pytest.mark.parametrize("lines", [True, False])
def test_objects_are_read_from_lines_and_from_an_array(tmp_path: Path, lines: bool) -> None:
    records = [
        {"name": "find_cod", "description": "Find cod.", "category": "Fish"},
        {"description": "Fry it."},
    ]
    texts = [json.dumps(record) for record in records]
    content = "\n".join(texts) if lines else f"[{','.join(texts)}]"
    assert read(tmp_path, content) == [("find_cod", "Find cod.", "Fish"), ("", "Fry it.", "")]


def test_an_array_may_hold_lines_of_plain_text(tmp_path: Path) -> None:
    assert read(tmp_path, '["find_cod: Find cod.", "Open http://a.example now"]') == [
        ("find_cod", "Find cod.", ""),
        ("", "Open http://a.example now", ""),
    ]


def test_a_byte_order_mark_and_windows_lines_are_no_matter(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfFind cod.\r\nFry it.\r\n") == [
        ("", "Find cod.", ""),
        ("", "Fry it.", ""),
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "describes no tool: write one a line"),
        ("# Travel\n\n", "describes no tool"),
        ("[]", "describes no tool"),
        ("Find cod.\n---", "line 2: the description says nothing: '---'"),
        ("find_cod:", "line 1: the description says nothing"),
        ("2fast: Find cod.", "line 1: '2fast' is no function name"),
        ("find.cod: Find cod.", "'find.cod' is no function name"),
        (f"{'x' * 65}: Find cod.", "is no function name"),
        ("a: Find cod.\nA: Find eel.", r"line 2: the name 'A' stands at .*line 1 already"),
        ("a: Find cod.\nb: find  cod.", r"line 2: the description 'find cod.' stands at .*line 1"),
        (f"Find {'cod ' * 200}", "a description of 804 characters"),
        ('{"description": "Find cod.", "about": 1}', "no field 'about'; known: name, description"),
        ('{"name": "find_cod"}', "the field 'description' is missing"),
        ('{"description": 7}', "description: expected a text, got 7"),
        ('{"description": "Find cod."}\n[1]', r"line 2: expected an object such as"),
        ('{"description": "Find cod."', "not JSON"),
        ("[7]", "record 0: expected an object"),
        (b"\xff\xfeF\x00", "not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    tmp_path: Path, content: str | bytes, told: str
) -> None:
    with pytest.raises(DataError, match=told):
        read(tmp_path, content)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no file .*nowhere"):
        read_descriptions(tmp_path / "nowhere")


@given(content=st.text(max_size=60) | st.binary(max_size=30))
def test_any_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: str | bytes
) -> None:
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    try:
        found = read_descriptions(written(tmp_path_factory.getbasetemp(), raw))
    except SealError:
        return
    assert found
    assert all(any(c.isalpha() for c in one.text) for one in found)

"""Tables that people fill in, written by a spreadsheet or torn by a hand."""

import csv
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import DataError
from seal.pools.reading.tables import CsvRows, rows

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=8)


def rows_of(path: Path, content: bytes) -> CsvRows:
    path.write_bytes(content)
    return CsvRows(path, "ratings")


@given(st.lists(st.tuples(CELLS, CELLS), max_size=6))
def test_what_a_writer_wrote_is_read_back(cells: list[tuple[str, str]]) -> None:
    text = StringIO(newline="")
    csv.writer(text).writerows([("item", "rating"), *cells])
    with TemporaryDirectory() as folder:
        rows = rows_of(Path(folder) / "t.csv", text.getvalue().encode("utf-8-sig"))
        assert rows.columns == ("item", "rating")
        found = [row[1] for row in rows if not isinstance(row, str)]
    assert found == [{"item": a.strip(), "rating": b.strip()} for a, b in cells]


def test_malformed_rows_are_told_by_their_line_and_the_rest_is_read(tmp_path: Path) -> None:
    rows = list(rows_of(tmp_path / "t.csv", b'item,rating\na,1\nb\nc,2,3\n"d"x,1\ne,5\n'))
    assert [row[1]["item"] for row in rows if not isinstance(row, str)] == ["a", "e"]
    assert [row.partition(": ")[0] for row in rows if isinstance(row, str)] == [
        f"t.csv, line {number}" for number in (3, 4, 5)
    ]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_spreadsheet_may_part_fields_by_semicolons_or_tabs(tmp_path: Path, mark: str) -> None:
    rows = rows_of(tmp_path / "t.csv", f'item{mark}rating\r\n"a, b"{mark}1,5\r\n'.encode())

    assert list(rows) == [("t.csv, line 2", {"item": "a, b", "rating": "1,5"})]


@pytest.mark.parametrize("content", [b"", b'"item\n'])
def test_a_file_without_a_first_row_has_no_columns(tmp_path: Path, content: bytes) -> None:
    assert "rating" not in rows_of(tmp_path / "t.csv", content).columns


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no UTF-8 text"):
        rows_of(tmp_path / "t.csv", b"\xff\xfe")
    with pytest.raises(DataError, match="give a file of ratings"):
        CsvRows(tmp_path, "ratings")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("query,calls\nWhen?,clock\n".encode("utf-16-le"), "null bytes; it looks like UTF-16"),
        (b"PK\x03\x04\0\0query\n", "null bytes; it looks like no text.*Unpack it"),
        (b'[{"query": "When?"}]', r"looks like JSON; let its name end in \.json"),
        (b'[\n  {\n    "query": "When?"}]', "looks like JSON"),
        (b'{"query": "When?"}\n{"query": "Where?"}\n', r"in \.jsonl where each line"),
    ],
)
def test_a_table_of_another_form_is_told_by_it(tmp_path: Path, content: bytes, told: str) -> None:
    with pytest.raises(DataError, match=rf"t\.csv: .*{told}"):
        rows_of(tmp_path / "t.csv", content)


@pytest.mark.parametrize("head", ["[query],{calls}", '"{",query'])
def test_a_column_may_begin_with_a_bracket(tmp_path: Path, head: str) -> None:
    assert len(rows_of(tmp_path / "t.csv", f"{head}\na,b\0\n".encode()).columns) == 2


def test_a_quote_that_is_never_closed_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "asked.csv"
    path.write_text('query,calls\n"When,clock\n' + "a,b\n" * 50_000)
    (fault,) = CsvRows(path, "questions")
    assert str(fault).startswith("asked.csv, line 2: a quote is never closed, or a field has more")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_line_of_a_spreadsheet_that_says_its_mark_is_followed(
    tmp_path: Path, mark: str
) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(f"sep={mark}\r\nquestion{mark}note\r\nhello,;{mark}x\r\n".replace(",;", "!"))

    table = CsvRows(path, "a sheet")

    assert table.columns == ("question", "note")
    assert list(table) == [("sheet.csv, line 3", {"question": "hello!", "note": "x"})]


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("question,tool,question\na,b,c\n")
    with pytest.raises(DataError, match=r"line 1: columns 1 and 3 are both named 'question'"):
        CsvRows(path, "a sheet")

    path.write_text("sep=;\nquestion;tool;tool\na;b;c\n")
    with pytest.raises(DataError, match=r"line 2: columns 2 and 3 are both named 'tool'"):
        CsvRows(path, "a sheet")


def test_two_columns_of_one_name_are_refused_in_parquet_and_arrow(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc, parquet

    table = pyarrow.table([[1], [2]], names=["question", "question"])
    parquet.write_table(table, tmp_path / "sheet.parquet")
    with ipc.new_stream(tmp_path / "sheet.arrow", table.schema) as stream:
        stream.write_table(table)
    for kind in ("parquet", "arrow"):
        with pytest.raises(DataError, match="columns 1 and 2 are both named"):
            list(rows(tmp_path / f"sheet.{kind}"))


def test_a_field_may_be_longer_than_the_limit_of_python(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path / "t.csv", b"item,rating\n" + b"x" * 200_000 + b",1\n")
    assert len(row[1]["item"]) == 200_000


def test_columns_without_a_name_are_told(tmp_path: Path) -> None:
    """As those behind a last comma, which a spreadsheet leaves there; in a row it may be empty."""
    (sound, filled, short) = rows_of(tmp_path / "t.csv", b"item,rating,\na,1,\nb,2,x\nc,3\n")
    assert sound == ("t.csv, line 2", {"item": "a", "rating": "1"})
    assert "in a column without a name" in filled
    assert "expected 3 fields" in short
    with pytest.raises(DataError, match="line 1: no column has a name; write their names"):
        rows_of(tmp_path / "none.csv", b",,\na,b,c\n")

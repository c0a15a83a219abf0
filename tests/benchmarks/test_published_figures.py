"""The published figures of the packs, each cell read once more in the text of its paper.

The texts of the papers are no part of this project. They lie beside the benchmark files, in the
folder `papers`; without them these tests are skipped.

A row is found by the letters and digits of its label, at the beginning of a line. The numbers
behind it must be those of the row, in the order of its headings, and so must marks and texts.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from looped import every_case

from seal.pools.declarations import Rows, shipped_rows

PAPERS = {
    "toolbench": "003",
    "apigen": "003",
    "toolscan": "002",
    "dialogtool": "001",
    "mmtb": "004",
    "toolsandbox": "000",
}
"""Pack to what the file of its paper begins with."""
CELLS = {
    "toolbench": {"table-3": 50},
    "apigen": {"table-3": 50},
    "toolscan": {"table-1": 35, "table-3": 33, "table-4": 104},
    "dialogtool": {
        "table-1": 87,
        "table-2": 20,
        "table-3": 103,
        "table-4": 40,
        "table-5": 12,
        "table-6": 20,
        "table-7": 9,
        "table-8": 25,
    },
    "mmtb": {"table-1": 81, "table-2": 120, "table-3": 45, "table-4": 56},
    "toolsandbox": {
        "table-1": 24,
        "table-2": 6,
        "table-3": 18,
        "table-4": 24,
        "table-5": 208,
        "table-6": 7,
        "table-7": 16,
        "table-8": 17,
        "table-9": 8,
        "table-10": 26,
        "table-11": 208,
    },
}
"""Cells that each table has in its paper."""
BY_COLUMN = {("toolscan", "table-1"), ("toolsandbox", "table-3")}
"""Tables whose rows are columns in the paper."""
COUNTED = {("dialogtool", "table-6")}
"""Tables that count what the paper lists."""
WITHOUT_LABELS = ("toolbench",)
"""Packs whose table has lost the column of its labels."""
TICKS = ("✓", "\\checkmark", "1", "v", "~")
PRINTED_AS = {
    "MMTB": "Ours",
    "tau-bench": "-bench",
    "C4AI-Command-R+": "C4AI-Command R+",
}
"""Label to what the text has in its place."""


def tables() -> Iterator[tuple[str, str, Rows]]:
    for pack in PAPERS:
        for name, rows in shipped_rows(f"seal.benchmarks.{pack}").items():
            yield pack, name, rows


CASES = {f"{pack}, {name}": (pack, name, rows) for pack, name, rows in tables()}


def text_of(seal_data: Path, pack: str) -> list[str]:
    found = sorted((seal_data.parent / "papers").glob(f"{PAPERS[pack]}_*.txt"))
    if not found:
        pytest.skip(f"no text of the paper of {pack} in {seal_data.parent / 'papers'}")
    return found[0].read_text().splitlines()


@every_case("case", CASES)
def test_a_table_has_as_many_cells_as_in_its_paper(case: str) -> None:
    pack, name, rows = CASES[case]
    assert sum(map(len, rows.values())) == CELLS[pack][name]


@pytest.mark.parametrize("case", CASES)
def test_every_printed_number_stands_in_the_line_of_its_row(case: str, seal_data: Path) -> None:
    pack, name, rows = CASES[case]
    if (pack, name) in COUNTED:
        pytest.skip("the paper lists what is counted here, and prints no number")
    lines = text_of(seal_data, pack)
    if (pack, name) in BY_COLUMN:
        rows = turned(rows)
    missing = [row for row, cells in rows.items() if not stands(row, cells, lines, pack)]
    assert missing == []


def test_a_wrong_cell_is_found(seal_data: Path) -> None:
    lines = text_of(seal_data, "dialogtool")
    rows = shipped_rows("seal.benchmarks.dialogtool")["table-3"]
    assert stands("GPT-4o", rows["GPT-4o"], lines, "dialogtool")
    assert not stands("GPT-4o", {**rows["GPT-4o"], "Role": 8.4}, lines, "dialogtool")
    assert not stands("GPT-4o", {**rows["GPT-4o"], "BLEU": 14.5, "R.L": 11.4}, lines, "dialogtool")
    assert not stands("GPT-3.5", rows["GPT-4o"], lines, "dialogtool")


def test_the_apps_have_as_many_apis_as_the_paper_lists(seal_data: Path) -> None:
    lines = text_of(seal_data, "dialogtool")
    for app, cells in shipped_rows("seal.benchmarks.dialogtool")["table-6"].items():
        (listed,) = (line for line in lines if re.match(rf"{app}\t[A-Z]\w+(, \w+)*$", line))
        assert listed.count(",") + 1 == cells["APIs"]


def turned(rows: Rows) -> dict[str, dict[str, float | str]]:
    """Return columns as rows; a deviation stands behind its mean."""
    found: dict[str, dict[str, float | str]] = {}
    for column, cells in rows.items():
        for heading, value in cells.items():
            row, _, part = heading.partition(", std")
            found.setdefault(row, {})[f"{column}{part}"] = value
    return found


def stands(row: str, cells: Mapping[str, float | str], lines: list[str], pack: str) -> bool:
    """Tell whether a line has the label, and behind it the row's numbers and marks in order."""
    label = plain(PRINTED_AS.get(row, row)) if pack not in WITHOUT_LABELS else ""
    numbers = [value for value in cells.values() if not isinstance(value, str)]
    texts = [value for value in cells.values() if isinstance(value, str)]
    for line in lines:
        parts = [part.strip() for part in re.split(r"[\t|]", line.strip("| \t"))]
        for behind in (0, 1, 2) if label else (0,):
            said = plain("".join(parts[:behind]))
            rest = parts[behind:]
            same = numbers_in(rest)[: len(numbers)] == numbers and told_in(rest, texts)
            if same and said.startswith(label):
                return True
    return False


def plain(label: str) -> str:
    """Return letters and digits of a label; the texts have GPT-40 for GPT-4o."""
    return re.sub(r"[^a-z0-9]", "", label.lower()).replace("gpt40", "gpt4o")


def numbers_in(parts: list[str]) -> list[float]:
    """Return the numbers of cells, without what underlines or overlines them."""
    bare = (re.sub(r"\\(?:bar|overline)|[-{}$^]|</?u>", "", part) for part in parts)
    found = (re.findall(r"\d[\d,]*(?:\.\d+)?", each) for each in bare)
    return [float(number.replace(",", "")) for each in found for number in each]


def told_in(parts: list[str], texts: list[str]) -> bool:
    """Tell whether cells have texts; of marks, the last ones of a row are meant."""
    if texts and {*texts} <= {"yes", "no"}:
        return [each for each in map(mark, parts) if each in ("yes", "no")][-len(texts) :] == texts
    return {*texts} <= {*parts}


def mark(cell: str) -> str:
    """Return `yes` or `no` for a mark; the texts have some ticks as other signs, or as `Image`."""
    return "no" if cell in ("×", "X", "✗") else "yes" if cell in TICKS or "Image" in cell else cell

"""A sheet that is labelled in a browser: what is written, by whom, and who is refused."""

from __future__ import annotations

import http.client
import re
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from viewer_runs import HOSTILE

from seal.core import DataError, UsageError
from seal.experiments.annotation import COLUMNS, import_sheets
from seal.pools.reading.tables import CsvRows
from seal.runs.run import RunFolder
from seal.viewer.labelling import LabelSheet
from seal.viewer.server import serve


def asked(address: str, path: str, form: dict[str, str] | None = None, **headers: str):
    """Return status, headers and text of an answer; with a form, of a label."""
    place = urlsplit(address).netloc
    with closing(http.client.HTTPConnection(place)) as connection:
        body = None if form is None else urlencode(form)
        told = {"Host": place} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET" if form is None else "POST", path, body, told)
        with connection.getresponse() as answer:
            return answer.status, dict(answer.getheaders()), answer.read().decode()


def form_of(page: str, value: str) -> dict[str, str]:
    """Return what the page's form sends."""
    hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {**dict(hidden), "value": value}


def rows_of(sheet: Path) -> list[tuple[str, str, str]]:
    rows = CsvRows(sheet, "labels")
    return [(row[1]["item"], row[1]["value"], row[1]["rater"]) for row in rows]


def test_labels_are_written_at_once_and_imported_as_any_sheet(
    labelled: str, sheet: Path, shown: Path
) -> None:
    first, second = LabelSheet(sheet).items
    given = 0
    for rater, values in (("Ann", ("solved", "unsolved")), ("=Bob", ("solved", "solved"))):
        for value in values:
            where = f"/?{urlencode({'rater': rater})}"
            status, headers, _ = asked(
                labelled, "/label", form_of(asked(labelled, where)[2], value)
            )
            assert (status, headers["location"]) == (303, where)
            given += 1
            assert sum(bool(label) for _, label, _ in rows_of(sheet)) == given

    assert sorted(rows_of(sheet)) == sorted(
        [
            (first, "solved", "Ann"),
            (first, "solved", "'=Bob"),
            (second, "unsolved", "Ann"),
            (second, "solved", "'=Bob"),
        ]
    )
    page = asked(labelled, "/?rater=Ann")[2]
    assert "All 2 are labelled by Ann" in page
    assert "kappa: -0.333, over 2 items with 2 labels each" in page
    found = import_sheets(RunFolder(shown / "one"), [sheet])
    (shown / "one" / "labels.csv").unlink()
    assert (found.taken, found.problems) == (4, ())
    assert {rater for of in found.votes.values() for rater in of} == {"Ann", "=Bob"}


def test_a_later_label_replaces_an_earlier_one_and_the_rest_stays(sheet: Path) -> None:
    before = {item: dict(shown) for item, shown in LabelSheet(sheet).items.items()}
    first, second = before
    labels = LabelSheet(sheet)
    labels.put(first, "Ann", "solved")
    LabelSheet(sheet).put(second, "Bob", "unsure")  # from another window
    labels.put(first, "Ann", "unsolved")

    assert rows_of(sheet) == [(first, "unsolved", "Ann"), (second, "unsure", "Bob")]
    assert LabelSheet(sheet).items == before
    assert CsvRows(sheet, "labels").columns == COLUMNS
    assert (labels.next_of("Ann"), labels.next_of("Bob")) == (second, first)


@pytest.mark.parametrize(
    ("change", "headers"),
    [
        ({"token": ""}, {}),
        ({"token": "x" * 43}, {}),
        ({}, {"Origin": "http://evil.example"}),
        ({}, {"Origin": "http://127.0.0.1:1"}),
        ({}, {"Sec_Fetch_Site": "cross-site"}),
        ({}, {"Sec_Fetch_Site": "same-site"}),
    ],
)
def test_a_label_from_elsewhere_is_refused(
    labelled: str, sheet: Path, change: dict[str, str], headers: dict[str, str]
) -> None:
    before = sheet.read_bytes()
    form = form_of(asked(labelled, "/?rater=Ann")[2], "solved") | change
    assert asked(labelled, "/label", form, **headers)[0] == 403
    assert asked(labelled, "/label", form, Host="evil.example")[0] == 400
    assert asked(labelled, f"/label?{urlencode(form)}")[0] == 404
    assert sheet.read_bytes() == before


def test_what_is_no_label_is_refused(labelled: str, sheet: Path) -> None:
    before, form = sheet.read_bytes(), form_of(asked(labelled, "/?rater=Ann")[2], "solved")
    for change in ({"value": "1"}, {"item": "none"}, {"rater": " "}):
        assert asked(labelled, "/label", form | change)[0] == 409
    assert asked(labelled, "/label", form | {"rater": "x" * 20_000})[0] == 403
    assert sheet.read_bytes() == before


def test_raters_are_blind_and_texts_of_others_are_escaped(labelled: str, sheet: Path) -> None:
    labels = LabelSheet(sheet)
    labels.put(next(iter(labels.items)), HOSTILE, "solved")
    status, headers, page = asked(labelled, f"/?{urlencode({'rater': HOSTILE})}")
    assert status == 200 and "script-src 'self'" in headers["content-security-policy"]
    assert "<img" not in page and "aria-pressed" not in page
    assert "aria-pressed" not in asked(labelled, "/?rater=Ann")[2]
    for path in ("/run?run=one", "/block/index/0.json", "/sheet.csv"):
        assert asked(labelled, path)[0] == 404


def test_only_this_machine_labels(sheet: Path) -> None:
    for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.example"):
        with pytest.raises(UsageError, match="from this machine alone"):
            serve(LabelSheet(sheet), host, 0, print)


def test_a_file_that_is_no_sheet_is_refused(sheet: Path, tmp_path: Path) -> None:
    former = tmp_path / "former.csv"
    former.write_text("item,label,rater\na,solved,Ann\n")
    with pytest.raises(DataError, match="no column question"):
        LabelSheet(former)
    with pytest.raises(DataError, match="give a file of ratings or labels"):
        LabelSheet(tmp_path / "none.csv")
    sheet.write_text(sheet.read_text().replace(",,\n", ",fine,Ann\n"))
    with pytest.raises(DataError, match="expected solved, unsolved, unsure"):
        LabelSheet(sheet)

"""Where `seal.report` writes, and what it leaves alone."""

import pytest

import seal
from seal.core import UsageError


@pytest.fixture
def run(tmp_path):
    return seal.run("sample", limit=1, baselines=False, out=tmp_path / "run", cache="off")


def test_a_report_takes_the_place_of_a_report_alone(run, tmp_path):
    page, notes = tmp_path / "page.html", tmp_path / "notes.txt"
    seal.report(run, page)
    before = page.read_bytes()
    seal.report(run, page)
    assert page.read_bytes() == before
    notes.write_text("precious")
    with pytest.raises(UsageError, match="holds something else than a report; give --out a new"):
        seal.report(run, notes)
    assert notes.read_text() == "precious"
    with pytest.raises(UsageError, match="is a folder; give --out a file"):
        seal.report(run, tmp_path)


@pytest.mark.parametrize("cutoffs", [[], [0], [-1], [1.5], [True]])
def test_cutoffs_that_cannot_be_are_refused(cutoffs):
    with pytest.raises(UsageError, match="cutoffs"):
        seal.run("sample", cutoffs=cutoffs)


def test_a_report_of_another_kind_than_html_is_refused(run, tmp_path):
    with pytest.raises(UsageError, match=r"a report is HTML: let the name of .*x\.pdf end with"):
        seal.report(run, tmp_path / "x.pdf")
    assert not (tmp_path / "x.pdf").exists()

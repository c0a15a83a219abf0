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


def test_the_tables_of_a_run_are_a_file_and_a_fold_of_the_report(run, tmp_path):
    latex, table = (tmp_path / f"one{end}" for end in (".tex", ".csv"))
    assert seal.report(run, latex) == latex
    assert seal.report(run, table) == table
    assert r"\label{tab:run}" in latex.read_text()
    caption = r"lexical on sample (given, else tfidf, top-k 10): means with 95 \% intervals"
    assert rf"\caption{{{caption}}}" in latex.read_text()
    beside = seal.run("sample", limit=1).latex()
    assert rf"{caption}; floor: random; ceiling: oracle}}" in beside
    assert table.read_text() == run.csv()
    assert table.read_text().startswith("metric,mean,low,high,n,of\n")
    seal.report(run, table)
    latex.write_text("chapter 1")
    with pytest.raises(UsageError, match="holds something else than tables; give --out a new"):
        seal.report(run, latex)
    page = run.report().read_text()
    assert "seal report run --out run.tex, or run.csv" in page
    assert run.csv() in page
    with pytest.raises(UsageError, match="has the tables of one run; of several: seal compare"):
        seal.report([run, seal.run("sample", limit=1, baselines=False)], latex)


def test_a_report_of_another_kind_than_html_is_refused(run, tmp_path):
    with pytest.raises(UsageError, match=r"a report is HTML: let the name of .*x\.pdf end with"):
        seal.report(run, tmp_path / "x.pdf")
    assert not (tmp_path / "x.pdf").exists()

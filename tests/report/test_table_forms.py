"""Tables as LaTeX that fits a paper of two columns, and as CSV."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

from seal.report.grids import Grid
from seal.report.table_forms import csv_text, latex, latex_text

HOSTILE = r'\input{x} & 50% $_^~#{}<>|"[2mm]'
NARROW = Grid("narrow", ("metric", "mean"), [("pass_rate", "0.190"), (HOSTILE, "[0.1, 0.2]")])
LONG = Grid(
    "long", ("task", "evidence"), [(f"t{at}", "a call was due " * 9) for at in range(60)], 2
)
WIDE = Grid("wide", ("metric", *"abcdefgh"), [("pass_rate", *["[-0.089, 0.026]"] * 8)])
PAPER = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs,graphicx}
\begin{document}
%s
\end{document}
"""


def test_a_wide_table_takes_both_columns_and_a_narrow_one_keeps_its_size() -> None:
    assert latex(NARROW).splitlines()[0] == r"\begin{table}"
    assert latex(WIDE).splitlines()[0] == r"\begin{table*}"
    assert latex(WIDE).splitlines()[-1] == r"\end{table*}"


def test_a_table_of_several_pages_is_several_tables_and_loses_no_row() -> None:
    lines = latex(LONG, "tab:long").splitlines()
    titles = [line for line in lines if line.startswith(r"\caption")]
    assert titles == [rf"\caption{{long ({page} of 6)}}" for page in range(1, 7)]
    assert sum(line.endswith(r"\tabularnewline") for line in lines) == 60
    assert lines.count(r"\label{tab:long}") == 1


def test_latex_prints_waiting_tables_before_it_refuses_more_of_them() -> None:
    """LaTeX refuses a text in which more than 18 tables wait for their place."""
    long = Grid("long", ("task", "why"), [(f"t-{n}", "why not") for n in range(3_000)])
    told = latex_text([(long, "tab:long"), *[(NARROW, "")] * 30])
    waiting = [part.count(r"\begin{table") for part in told.split(r"\clearpage")]
    assert sum(waiting) == 30 + told.count(r"\caption{long")
    assert max(waiting) <= 18


def test_a_hyphen_before_figures_is_a_minus_and_in_a_name_it_is_none() -> None:
    rows = [("t-1", "-0.5", "[-0.1, +0.2]", "2026-11-29", "minus -5 or so")]
    row = latex(Grid("", ("name", "mean", "interval", "day", "text"), rows)).splitlines()[-4]
    shown = r"t-1 & $-$0.5 & {[}$-$0.1, +0.2{]} & 2026-11-29 & minus -5 or so \\"
    assert row == shown


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: texlive-latex-recommended")
def test_tables_are_no_wider_than_their_place_in_a_paper_of_two_columns(tmp_path: Path) -> None:
    tables = latex_text((table, f"tab:{table.title}") for table in (NARROW, WIDE, LONG))
    (tmp_path / "paper.tex").write_text(PAPER % tables)

    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert made.returncode == 0, made.stdout
    assert "Overfull" not in made.stdout
    assert "too large" not in made.stdout
    assert (tmp_path / "paper.pdf").is_file()


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: texlive-latex-recommended")
def test_names_of_any_characters_compile(tmp_path: Path) -> None:
    hostile = (
        *(r"C:\runs\a_b%c", "runs/w_1/50%/#x", r"\input{/etc/passwd}", "$x^2$ & {y} ~z"),
        *('a|b<c>"q" [d]', "\x1b[31m", "end\\\\", "x\ny%"),
    )
    grid = Grid(" ".join(hostile), ("name", *hostile), [(name,) * 9 for name in hostile])
    (tmp_path / "paper.tex").write_text(PAPER % latex(grid))
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout


def test_a_cell_of_csv_has_one_number_or_text() -> None:
    metrics = Grid(
        "",
        ("metric", "mean", "95 % interval", "n", "tokens", "p (Holm)"),
        [
            ("pass_rate", "0.250", "[0.059, 0.741]", "195 of 1,240", "12,345.5", "1.000"),
            ("a, b", "n/a", "", "10,000", "+1,000", "uncorrected"),
        ],
    )
    told = [list(csv.reader(csv_text([grid]).splitlines())) for grid in (metrics, NARROW, WIDE)]
    assert told[0] == [
        ["metric", "mean", "low", "high", "n", "of", "tokens", "p (Holm)"],
        ["pass_rate", "0.250", "0.059", "0.741", "195", "1240", "12345.5", "1.000"],
        ["a, b", "", "", "", "10000", "10000", "+1000", ""],
    ]
    assert told[1] == [[*NARROW.columns], *map(list, NARROW.rows)]
    assert told[2][0][:3] == ["metric", "a low", "a high"]
    assert told[2][1] == ["pass_rate", *["-0.089", "0.026"] * 8]


def test_tables_of_csv_have_an_empty_line_between_them() -> None:
    assert csv_text([NARROW, NARROW]).split("\n\n") == [csv_text([NARROW])[:-1], csv_text([NARROW])]

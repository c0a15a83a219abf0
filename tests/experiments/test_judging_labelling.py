"""Labels of goals by people: what goes out, what comes in, and what an audit makes of them."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_pools import Weatherman, many, play, write_pool

from seal.api import results
from seal.cli.dispatch import main
from seal.core import DataError, OptionError, Score, write_records
from seal.experiments import annotation
from seal.experiments.annotation import COLUMNS, LABEL, allocated, import_sheets
from seal.experiments.judging import audit_run
from seal.runs.run import RunFolder


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A run of eight tasks, of which the judge calls two unsolved."""
    folder = tmp_path_factory.mktemp("labelled")
    pool = write_pool(folder / "pool", many(8))
    run = play(pool, folder / "gpt-secret", model=Weatherman()).folder
    unsolved = {task.id for task in list(run.tasks())[:2]}
    scores = [
        Score(one.task_id, 0, 0, "pass_rate", 0.0, details={"label": "unsolved"})
        if one.metric == "pass_rate" and one.task_id in unsolved
        else one
        for one in run.scores()
    ]
    write_records(run.scores_path, scores)
    return run.path


@pytest.fixture
def run(played) -> RunFolder:
    """The run without labels."""
    (played / "labels.csv").unlink(missing_ok=True)
    return RunFolder.open(played)


def cases_of(run: RunFolder) -> dict[str, tuple[str, int, int]]:
    return {item.id: item.case for item in annotation.items_of(run, LABEL)}


def export_goals(run: RunFolder, out: Path, n: int = 50, seed: int = 0) -> int:
    return annotation.export_items(run, LABEL, out, n, seed)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def labelled(source: Path, out: Path, *labels: str, rater: str = "") -> Path:
    """Fill in the labels of an exported file, in the order of its rows."""
    with out.open("w", newline="", encoding="utf-8") as lines:
        table = csv.DictWriter(lines, COLUMNS)
        table.writeheader()
        for row, label in zip(rows_of(source), labels, strict=False):
            table.writerow({**row, "value": label, "rater": rater})
    return out


def former(run: RunFolder, source: Path, out: Path) -> Path:
    """Write a filled-in file as former versions had it."""
    cases = cases_of(run)
    with out.open("w", newline="", encoding="utf-8") as lines:
        table = csv.writer(lines)
        columns = ("item", "before", "query", "calls", "answer", "label", "rater")
        table.writerow((*columns, "task_id", "trial", "goal"))
        for row in rows_of(source):
            told = ("before", "asked", "calls", "answer", "value", "rater")
            table.writerow([row["item"], *(row[name] for name in told), *cases[row["item"]]])
    return out


def test_a_seeded_sample_goes_out_blind_with_what_was_asked_done_and_answered(run, tmp_path):
    out, again, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    assert export_goals(run, out, 4) == export_goals(run, again, 4) == 4
    export_goals(run, other, 4, seed=1)
    assert out.read_bytes() == again.read_bytes() != other.read_bytes()
    text = out.read_text()
    seen = text.replace(LABEL.text, "")
    assert not any(word in seen for word in ("secret", "weatherman", "solved", "unsure", "judge"))
    row = rows_of(out)[0]
    assert tuple(row) == COLUMNS and row["value"] == row["rater"] == ""
    assert row["role"] == row["gold"] == ""
    assert row["calls"].startswith("weather({") and "\n  -> " in row["calls"] and row["answer"]


def test_the_sample_has_the_shares_of_the_judges_verdicts(run, tmp_path):
    unsolved = {task.id for task in list(run.tasks())[:2]}
    export_goals(run, tmp_path / "a.csv", 4)
    cases = cases_of(run)
    drawn = [cases[row["item"]][0] in unsolved for row in rows_of(tmp_path / "a.csv")]
    assert Counter(drawn) == {True: 1, False: 3}


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 40), min_size=1), st.integers(1, 99))
def test_a_sample_takes_what_there_is_and_some_of_everything(sizes, n):
    taken = allocated(sizes, n)
    assert sum(taken.values()) == min(n, sum(sizes.values()))
    assert all(0 <= taken[name] <= size for name, size in sizes.items())
    assert n < len(sizes) or min(taken.values()) >= 1


def test_labels_of_raters_come_in_and_an_audit_takes_file_and_folder(run, tmp_path):
    pytest.importorskip("krippendorff")
    out = tmp_path / "a.csv"
    export_goals(run, out, 8)
    ann = labelled(out, tmp_path / "ann.csv", "solved", "Unsolved", "unsure", "solved", "")
    bob = labelled(out, tmp_path / "bob.csv", "solved", "unsolved", "unsure", "unsolved")
    found = import_sheets(run, [ann, bob]).record()

    assert (found["taken"], found["empty"], found["problems"], found["raters"]) == (8, 1, [], 2)
    assert (found["solved"], found["unsolved"], found["undecided"]) == (1, 1, 2)
    assert found["alpha"] == pytest.approx(2 / 3)  # D_o = 2/8, D_e = 42/56
    of_file, of_folder = audit_run(run, ann), audit_run(run, run.path / "labels.csv")
    assert of_file["labels"] == {
        "taken": 3, "undecided": 1, "empty": 1, "raters": 1, "problems": []
    }  # fmt: skip
    assert of_file["pass_rate"]["people"]["n"] == 3
    assert (of_folder["labels"]["taken"], of_folder["labels"]["undecided"]) == (2, 2)


def test_a_sheet_of_a_former_version_is_read(run, tmp_path):
    out = tmp_path / "a.csv"
    export_goals(run, out, 8)
    new = labelled(out, tmp_path / "ann.csv", *["solved", "unsolved"] * 4)
    (old := tmp_path / "old").mkdir()
    told = import_sheets(run, [former(run, new, old / "ann.csv")]).record()
    assert (told["taken"], told["problems"], told["solved"]) == (8, [], 4)
    assert import_sheets(run, [new]).record() == told
    assert audit_run(run, old / "ann.csv") == audit_run(run, new)


def test_a_later_file_adds_and_replaces_what_its_rater_said_before(run, tmp_path):
    out = tmp_path / "a.csv"
    export_goals(run, out, 2)
    import_sheets(run, [labelled(out, tmp_path / "x.csv", "solved", "solved", rater="=ann")])
    again = labelled(out, tmp_path / "y.csv", "unsolved", rater="=ann")
    found = import_sheets(run, [again]).record()
    assert (found["raters"], found["solved"], found["unsolved"]) == (1, 1, 1)


def test_rows_that_are_no_label_are_counted_and_the_others_are_taken(run, tmp_path):
    out = tmp_path / "a.csv"
    export_goals(run, out, 2)
    bad = labelled(out, tmp_path / "bad.csv", "solved", "perhaps")
    with bad.open("a") as lines:
        lines.write("gnone,,,,,,,,solved,\n")
    found = import_sheets(run, [bad])
    assert found.taken == 1
    assert [text.partition(": ")[2] for text in found.problems] == [
        "label 'perhaps': expected solved, unsolved, unsure",
        "item 'gnone' is none of this run",
    ]


def test_a_label_of_what_was_not_played_is_refused_by_row_and_by_run(run, tmp_path):
    file = tmp_path / "l.csv"
    known = next(iter(cases_of(run).values()))[0]
    file.write_text(f"task_id,label,trial\n{known},solved,0\n{known},solved,7\nelse,solved,0\n")
    found = import_sheets(run, [file])
    assert (found.taken, len(found.problems)) == (1, 2)
    assert "the run did not play it" in found.problems[0]


def test_labels_of_another_runs_answers_do_not_count(run, tmp_path):
    out = tmp_path / "a.csv"
    export_goals(run, out, 8)
    text = labelled(out, tmp_path / "b.csv", *["solved"] * 8).read_text()
    (tmp_path / "b.csv").write_text(text.replace("\ng", "\ng0"))
    with pytest.raises(DataError, match="rows that are no label: 8, such as"):
        audit_run(run, tmp_path / "b.csv")


def test_what_cannot_be_taken_at_all_is_refused(run, tmp_path):
    with pytest.raises(OptionError, match="--n 0"):
        export_goals(run, tmp_path / "x.csv", 0)
    out = tmp_path / "a.csv"
    export_goals(run, out, 2)
    twice = labelled(out, tmp_path / "one.csv", "solved", rater="ann")
    other = labelled(out, tmp_path / "two.csv", "unsolved", rater="ann")
    with pytest.raises(DataError, match=r"two\.csv, line \d+: ann judged task .* in one\.csv"):
        import_sheets(run, [twice, other])
    assert not (run.path / "labels.csv").exists()
    (tmp_path / "z.csv").write_text("item,rating\n")
    with pytest.raises(DataError, match=r"no column label; .* or task_id, trial, goal, label"):
        audit_run(run, tmp_path / "z.csv")
    (tmp_path / "z.csv").write_text("label,trial\n")
    with pytest.raises(DataError, match=r"no column item; .* or task_id, trial, goal, label"):
        import_sheets(run, [tmp_path / "z.csv"])
    with pytest.raises(DataError, match="No such file"):
        import_sheets(run, [tmp_path / "gone.csv"])


def test_the_public_functions_do_the_same(run, tmp_path):
    found = results.export_sheet(run.path, tmp_path / "a.csv", n=3)
    assert (found["items"], found["what"]) == (3, "verdicts")
    file = labelled(tmp_path / "a.csv", tmp_path / "b.csv", "solved", "solved", "unsolved")
    assert results.import_sheets(run.path, [file]).taken == 3


def test_no_audit_is_advised_where_no_label_was_taken(tmp_path, capsys):
    run = play(write_pool(tmp_path / "pool"), tmp_path / "run", model="oracle").folder.path
    file = tmp_path / "l.csv"
    file.write_text("task_id,label\nnone,maybe\n")
    assert main(["annotate", "import", str(run), str(file)]) == 1
    said = capsys.readouterr().out
    assert "1 not taken" in said
    assert "--audit" not in said

"""Ratings by people: what goes out, what comes in, what is refused and what is kept."""

import csv
import json

import orjson
import pytest

import seal
from seal.core import DataError, Goal, OptionError, Step, Stop, Task, Trajectory
from seal.core.records import encode
from seal.experiments import annotation
from seal.experiments.annotation import COLUMNS, RATING, import_sheets
from seal.pools.reading.tables import escaped
from seal.runs.run import Ratings, RunFolder, read_human

ROLE = {"name": "clerk", "mbti": "ISTJ", "language": "Short.", "features": {"max_words": 3}}


@pytest.fixture
def run(tmp_path):
    """A scored run of 6 dialogues of 2 turns, the second of which only the responder answered."""
    folder = tmp_path / "gpt-secret-run"
    folder.mkdir()
    tasks, chats = [], []
    for number in range(6):
        goals = (Goal(f"=cmd({number})"), Goal("And then?"))
        tasks.append(Task(f"t{number}", "dialogtool", goals))
        steps = (
            Step(0, "responder", "teacher", "plain", goal=0),
            Step(1, "actor", "user_simulator", f'+Right, "{number}".\nYes', goal=0),
            Step(2, "responder", "user_simulator", f"Done {number}.", goal=1),
        )
        stops = (Stop("done"), Stop("done"))
        provenance = {"role": ROLE}
        chats.append(Trajectory(f"t{number}", 0, steps, stops=stops, provenance=provenance))
    (folder / "tasks.jsonl").write_bytes(b"".join(map(encode, tasks)))
    (folder / "trajectories.jsonl").write_bytes(b"".join(map(encode, chats)))
    told = {"measure": {"pool": "dialogtool"}, "system": {"model": {"model": "gpt-secret"}}}
    (folder / "run.json").write_text(json.dumps(told))
    (folder / "summary.json").write_text('{"metrics": {}}')
    return RunFolder.open(folder)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def items_of(run):
    return annotation.items_of(run, RATING)


def export_items(run, out, n=50, seed=0):
    return annotation.export_items(run, RATING, out, n, seed)


def rated(path, rows, columns=COLUMNS):
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        shown = [RATING.text, *[""] * (len(columns) - 4)]
        out.writerows([item, *shown, rating, rater] for item, rating, rater in rows)
    return path


def test_a_seeded_sample_goes_out_blind(run, tmp_path):
    out, again, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    assert export_items(run, out, 5) == export_items(run, again, 5) == 5
    export_items(run, other, 5, seed=1)
    assert out.read_bytes() == again.read_bytes() != other.read_bytes()
    text = out.read_text()
    assert "secret" not in text and "t0" not in text and "max_words" not in text
    assert len({row["item"] for row in rows_of(out)}) == 5


def test_the_actors_words_go_out_with_its_role_and_else_the_responders(run):
    acted, plain = list(items_of(run))[:2]
    assert acted.role == "clerk; ISTJ; Short." and acted.answer == '+Right, "0".\nYes'
    assert (plain.role, plain.asked, plain.answer) == ("", "And then?", "Done 0.")


def test_a_rater_reads_the_dialogue_the_results_and_the_gold_reply(tmp_path):
    for context in ("gold", "own"):
        played = seal.run(
            "dialogtool-sample",
            model="lexical",
            first=1,
            out=tmp_path / context,
            history=context,
            baselines=False,
            cache="off",
        )
        task = next(played.folder.tasks())
        items = list(items_of(played.folder))
        assert [item.asked for item in items] == [goal.text for goal in task.goals]
        replies = [goal.reference[-1].content for goal in task.goals]
        assert [item.gold.splitlines()[-1] for item in items] == [
            f"assistant: {r}" for r in replies
        ]
        first, second = items[:2]
        assert first.before == ""
        said = replies[0] if context == "gold" else first.answer
        assert second.before == f"user: {first.asked}\nassistant: {said}"
        call, brought, _ = next(item.gold for item in items if "->" in item.gold).splitlines()
        assert call.startswith("Tables_1_FindRestaurant({") and "The Salt Loft" in brought
    export_items(played.folder, tmp_path / "a.csv")
    assert list(rows_of(tmp_path / "a.csv")[0]) == list(COLUMNS)


def test_no_cell_is_a_formula(run, tmp_path):
    export_items(run, tmp_path / "a.csv", 50)
    cells = [cell for row in rows_of(tmp_path / "a.csv") for cell in row.values()]
    assert "'=cmd(0)" in cells and not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert [escaped(text) for text in ("@x", " =x", "\t=x", "a=x", "")] == [
        "'@x",
        "' =x",
        "'\t=x",
        "a=x",
        "",
    ]


def test_ratings_of_several_raters_are_averaged_with_their_agreement(run, tmp_path):
    pytest.importorskip("krippendorff")
    a, b, c = (item.id for item in list(items_of(run))[:3])
    one = rated(tmp_path / "ann.csv", [(a, "1", ""), (b, "5", ""), (c, "3", "")])
    two = rated(tmp_path / "bob.csv", [(a, "1", ""), (b, "5", ""), (c, "", "")])
    found = import_sheets(run, [one, two])
    assert (found.taken, found.empty, found.problems) == (5, 1, ())
    told = found.record()
    assert (told["mean"], told["items"], told["raters"]) == (3.0, 3, 2)
    assert found.alpha == told["alpha"] == pytest.approx(1.0)
    kept = {a: {"ann": 1.0, "bob": 1.0}, b: {"ann": 5.0, "bob": 5.0}, c: {"ann": 3.0}}
    assert read_human(run) == Ratings(3.0, found.alpha, 3, 2, kept)
    assert run.summary()["human"] == {"mean": 3.0, "alpha": 1.0, "items": 3, "raters": 2}


def test_alpha_is_krippendorffs(run, tmp_path):
    pytest.importorskip("krippendorff")
    items = [item.id for item in list(items_of(run))[:4]]
    given = {"ann": "1234", "bob": "1344", "cy": "2235"}
    rows = [
        (i, v, who) for who, values in given.items() for i, v in zip(items, values, strict=True)
    ]
    found = import_sheets(run, [rated(tmp_path / "all.csv", rows)])
    # krippendorff 0.9's alpha([[1,2,3,4],[1,3,4,4],[2,2,3,5]], "ordinal")
    assert found.alpha == pytest.approx(0.8102869352869353)


def test_one_rater_and_equal_ratings_have_no_agreement(run, tmp_path):
    a, b = (item.id for item in list(items_of(run))[:2])
    alone = import_sheets(run, [rated(tmp_path / "ann.csv", [(a, "4", ""), (b, "4", "")])])
    assert (alone.record()["mean"], alone.alpha) == (4, None)
    both = import_sheets(run, [rated(tmp_path / "bob.csv", [(a, "4", ""), (b, "4", "")])])
    assert (both.record()["raters"], both.alpha) == (2, None)


def test_later_files_add_and_replace_and_lose_nothing(run, tmp_path):
    a, b = (item.id for item in list(items_of(run))[:2])
    import_sheets(run, [rated(tmp_path / "ann.csv", [(a, "2", ""), (b, "4", "")])])
    found = import_sheets(run, [rated(tmp_path / "ann.csv", [(a, "5", "")])])
    assert found.votes == {a: {"ann": "5"}, b: {"ann": "4"}}
    assert read_human(run).ratings == {a: {"ann": 5.0}, b: {"ann": 4.0}}


FORMER = ("item", "role", "dialogue", "user", "calls", "gold", "assistant", "rating", "rater")


def test_a_sheet_of_a_former_version_is_read(run, tmp_path):
    a, b = (item.id for item in list(items_of(run))[:2])
    found = import_sheets(run, [rated(tmp_path / "ann.csv", [(a, "2", ""), (b, "4", "")], FORMER)])
    assert found.votes == {a: {"ann": "2"}, b: {"ann": "4"}} and not found.problems


def test_sheets_of_two_questions_are_imported_apart(run, tmp_path):
    item = next(items_of(run)).id
    one = rated(tmp_path / "ann.csv", [(item, "2", "")])
    (tmp_path / "labels.csv").write_text("task_id,label\nt0,solved\n")
    with pytest.raises(DataError, match=r"labels\.csv has labels, .*ann\.csv has ratings"):
        import_sheets(run, [one, tmp_path / "labels.csv"])
    assert read_human(run) is None


def test_two_rows_of_one_rater_and_item_are_refused_by_their_lines(run, tmp_path):
    a, b = (item.id for item in list(items_of(run))[:2])
    path = rated(tmp_path / "ann.csv", [(a, "2", ""), (b, "4", ""), (a, "", ""), (a, "3", "ann")])
    with pytest.raises(DataError, match=rf"ann\.csv, line 5: ann judged item {a} in .*, line 2 al"):
        import_sheets(run, [path])
    assert read_human(run) is None
    other = rated(tmp_path / "bob.csv", [(b, "1", "ann")])
    again = rated(tmp_path / "ann.csv", [(a, "2", ""), (b, "4", ""), (a, "5", "bob")])
    with pytest.raises(DataError, match=r"bob\.csv, line 2: ann judged .* in ann\.csv, line 3"):
        import_sheets(run, [again, other])


def test_a_rating_between_two_steps_of_the_scale_is_not_taken(run, tmp_path):
    a, b = (item.id for item in list(items_of(run))[:2])
    found = import_sheets(run, [rated(tmp_path / "ann.csv", [(a, "4.5", ""), (b, "4.0", "")])])
    assert found.problems == ("ann.csv, line 2: rating '4.5': expected 1, 2, 3, 4, 5",)
    assert found.votes == {b: {"ann": "4"}}


def test_what_cannot_be_taken_is_named_and_the_rest_is_taken(run, tmp_path):
    a, b = (item.id for item in list(items_of(run))[:2])
    path = rated(
        tmp_path / "ann.csv",
        [(a, "6", ""), (a, "0.5", ""), ("nobody", "3", ""), (b, "good", ""), (b, "nan", "")],
    )
    with path.open("a") as file:
        file.write(f"{a},1,2,3,4,5,6,7,8,9,10\n{a}\n{b},,,,,,,,4,\n")
    found = import_sheets(run, [path])
    assert found.taken == 1 and found.votes == {b: {"ann": "4"}}
    assert found.problems == (
        "ann.csv, line 2: rating '6': expected 1, 2, 3, 4, 5",
        "ann.csv, line 3: rating '0.5': expected 1, 2, 3, 4, 5",
        "ann.csv, line 4: item 'nobody' is none of this run",
        "ann.csv, line 5: rating 'good': expected 1, 2, 3, 4, 5",
        "ann.csv, line 6: rating 'nan': expected 1, 2, 3, 4, 5",
        "ann.csv, line 7: malformed: expected 10 fields; a field that holds ',' needs quotes",
        "ann.csv, line 8: malformed: expected 10 fields; a field that holds ',' needs quotes",
    )


def test_a_file_that_is_none_is_refused(run, tmp_path):
    with pytest.raises(DataError, match=r"gone\.csv: No such file"):
        import_sheets(run, [tmp_path / "gone.csv"])
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no column value with a question that SEAL asks"):
        import_sheets(run, [tmp_path / "x.csv"])
    (tmp_path / "x.csv").write_text("rating\n1\n")
    with pytest.raises(DataError, match="no column item; expected item, question, role"):
        import_sheets(run, [tmp_path / "x.csv"])
    (tmp_path / "y.csv").write_bytes(b"item,rating\n\xff,3\n")
    with pytest.raises(DataError, match="no UTF-8 text"):
        import_sheets(run, [tmp_path / "y.csv"])
    with pytest.raises(OptionError, match="--n 0: expected 1 or more"):
        export_items(run, tmp_path / "a.csv", 0)


def test_a_run_in_which_nobody_spoke_has_nothing_to_rate(run, tmp_path):
    (run.path / "trajectories.jsonl").write_bytes(b"")
    with pytest.raises(DataError, match="nothing to rate"):
        export_items(run, tmp_path / "a.csv")


def test_a_damaged_file_of_ratings_is_told(run):
    (run.path / "human.json").write_bytes(orjson.dumps({"mean": 1}))
    with pytest.raises(DataError, match=r"human\.json"):
        read_human(run)

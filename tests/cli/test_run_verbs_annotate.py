"""`seal annotate` as a process."""

import csv
import json

from seal.core import Goal, Step, Stop, Task, Trajectory, write_records


def test_ratings_go_out_and_come_back(seal, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    write_records(run / "tasks.jsonl", [Task("t", "dialogtool", (Goal("Hi"),))])
    steps = (Step(0, "responder", "user_simulator", "Hello."),)
    chat = Trajectory("t", 0, steps, stops=(Stop("done"),))
    write_records(run / "trajectories.jsonl", [chat])
    (run / "run.json").write_text('{"measure": {"pool": "dialogtool"}, "system": {}}')

    done = seal("annotate", "export", run, "--n", 50, "--out", "ann.csv")
    assert done.returncode == 0, done.stderr
    assert "1 turns to rate" in done.stdout
    with (tmp_path / "ann.csv").open(newline="") as file:
        item = next(csv.DictReader(file))["item"]
    (tmp_path / "ann.csv").write_text(f"item,rating\n{item},4\nother,3\n")

    back = seal("annotate", "import", run, "ann.csv", "--json")
    assert back.returncode == 1, back.stderr
    found = json.loads(back.stdout)
    assert (found["mean"], found["items"], found["taken"], found["alpha"]) == (4.0, 1, 1, None)
    assert found["problems"] == ["ann.csv, line 3: item 'other' is none of this run"]
    shown = seal("annotate", "import", run, "ann.csv").stdout
    assert "1 rating taken, 0 rows without one, 1 not taken" in shown


def test_a_folder_that_is_no_run_is_refused(seal, tmp_path):
    done = seal("annotate", "export", tmp_path, "--out", "x.csv")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_a_run_without_actors_has_goals_to_label_which_an_audit_takes(called, tmp_path):
    run = ("run", "sample", "--limit", "2", "--no-baselines", "--workers", "1", "--out", "run")
    assert called(*run).returncode == 0
    done = called("annotate", "export", "run", "--out", "ann.csv", "--json")
    assert json.loads(done.stdout) == {"file": "ann.csv", "items": 2, "what": "verdicts"}
    refused = called("annotate", "export", "run", "--out", "ann.csv")
    assert refused.returncode == 2 and "give --out a new file" in refused.stderr
    refused = called("annotate", "export", "run", "--what", "turns", "--out", "x.csv")
    assert refused.returncode == 2 and "nothing to rate" in refused.stderr

    with (tmp_path / "ann.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "ann.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows([{**row, "value": "solved"} for row in rows])
    back = called("annotate", "import", "run", "ann.csv")
    assert back.returncode == 0, back.stderr
    assert "2 goals by 1 rater: 2 solved, 0 unsolved, 0 undecided" in back.stdout
    held = called("score", "run", "--audit", "ann.csv", "--json")
    assert json.loads(held.stdout)["audit"]["pass_rate"]["people"]["n"] == 2

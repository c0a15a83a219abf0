import io
import json
import threading
from contextlib import ExitStack
from dataclasses import replace

import pytest
from report_runs import WEATHER, chat, failed_chat, live_line, metric, task, verdict
from rich.console import Console

from seal.core import DataError, UnknownNameError, UsageError, write_records
from seal.core.files import Lock
from seal.core.records import encode, to_plain
from seal.evaluation.attribution import MEANINGS
from seal.report.chat_pages import calls_beside_gold
from seal.report.lanes import answer_of
from seal.report.transcript import (
    Follower,
    find_task,
    outcome_table,
    outline,
    view,
    view_record,
)


def seen(run, *arguments, **options):
    out = io.StringIO()
    view(run, *arguments, out=Console(file=out, width=120), **options)
    return out.getvalue()


def read_new(follower):
    return "\n".join(text.plain for text in follower.read_new())


def append(path, *records, torn=b""):
    with path.open("ab") as file:
        file.write(b"".join(encode(record) for record in records) + torn)


@pytest.fixture
def running(make_run):
    run = make_run("running", [task("own/a"), task("own/b")], scores=None)
    (run.path / "live").mkdir()
    return run


def write_live(run, steps, task_id="own/a", mode="w"):
    with (run.path / "live" / "0123.jsonl").open(mode) as file:
        file.writelines(live_line(task_id, to_plain(step)) for step in steps)


def test_without_a_task_the_tasks_are_listed_with_their_outcome(scored_run):
    lines = seen(scored_run).splitlines()

    cells = [line.split() for line in lines if "own/" in line]
    assert [line[1] for line in cells] == ["own/a", "own/b", "own/c"]
    assert "solved" in cells[0]
    assert "unsolved" in cells[1]
    assert "error" in cells[2] and "infrastructure" in cells[2]


def test_the_list_tells_what_failed(make_run):
    error = "the server answered 500: " + "x" * 200
    run = make_run("failed", [task("own/a")], [failed_chat("own/a", error)])

    text = seen(run)

    assert "the server answered 500: xxx" in text
    assert error not in text


def test_tasks_that_were_not_played_are_listed_too(make_run):
    run = make_run("part", [task("own/a"), task("own/b")], [chat("own/a")])

    assert "unfinished" in seen(run)


def test_tasks_that_were_not_played_stand_in_the_order_of_the_tasks(make_run):
    ids = [f"own/{letter}" for letter in "hgfedcba"]
    run = make_run("part", [task(id) for id in ids], [chat("own/d")])

    listed = [line.split()[1] for line in seen(run).splitlines() if "unfinished" in line]

    assert listed == [id for id in ids if id != "own/d"]


def test_trials_have_their_own_lines(make_run):
    scores = [verdict("own/a", "solved"), verdict("own/a", "unsolved", trial=1)]
    run = make_run("trials", [task("own/a")], [chat("own/a"), chat("own/a", 1)], scores)

    assert "trial" in seen(run)
    assert "goal 1 pass_rate: unsolved" in seen(run, "own/a", trial=1)


def test_a_task_is_shown_with_its_scores(scored_run):
    text = seen(scored_run, "own/a")

    assert "execution_manager -> executor" in text
    assert "goal 1 pass_rate: solved: the answer states the sky" in text


def test_a_run_without_scores_can_be_read(make_run):
    run = make_run("unscored", [task("own/a")], [chat("own/a")], scores=None)

    assert "goal 1 stopped: done" in seen(run, "own/a")
    assert "unscored" in seen(run)


def test_a_start_or_a_last_part_that_fits_one_task_names_it(make_run):
    run = make_run("names", [task("G1/12"), task("G1/123"), task("G2/7")])

    assert find_task(run, "G2").id == "G2/7"
    assert find_task(run, "G1/12").id == "G1/12"
    assert find_task(run, "123").id == "G1/123"
    assert find_task(run, "7").id == "G2/7"


def test_a_number_that_is_no_id_is_the_place_of_a_task(make_run):
    run = make_run("places", [task("own/a"), task("own/b")])

    assert (find_task(run, "2").id, find_task(run, 1).id) == ("own/b", "own/a")
    for beyond in ("0", "3", "-1", "٢"):
        with pytest.raises(UnknownNameError):
            find_task(run, beyond)


@pytest.mark.parametrize(("wanted", "noted"), [("1", True), ("t9", False), ("own/t9", False)])
def test_a_place_is_told_from_an_id(make_run, wanted, noted):
    run = make_run("places", [task("own/t9")], [chat("own/t9")], [verdict("own/t9", "solved")])
    told = "1 is no id of a task: it is the place of own/t9 in the run"
    assert (told in seen(run, wanted)) == noted


def test_below_a_long_list_stands_again_what_was_solved(make_run):
    for count, times in ((3, 1), (25, 2)):
        ids = [f"own/{place}" for place in range(count)]
        scores = [verdict(id, "solved") for id in ids]
        entries = {"pass_rate": metric(1.0)}
        run = make_run(f"run-{count}", map(task, ids), map(chat, ids), scores, entries)
        assert seen(run).count(" by pass_rate") == times


def test_a_text_that_fits_several_tasks_is_refused(make_run):
    run = make_run("names", [task("G1/12"), task("G1/123")])

    with pytest.raises(UsageError, match="fits 2 tasks: G1/12, G1/123"):
        find_task(run, "G1")


def test_an_unknown_task_is_refused_with_the_closest(make_run):
    run = make_run("names", [task(f"own/task-{number:03}") for number in range(50)])

    with pytest.raises(UnknownNameError, match="Did you mean 'own/task-004'") as error:
        find_task(run, "own/tusk-004")
    assert str(error.value).count("own/task") <= 11
    assert "and 40 more. Did" in str(error.value)


def test_a_trial_that_was_not_played_is_refused(scored_run):
    with pytest.raises(UsageError, match="no trial 3; played: trial 0"):
        seen(scored_run, "own/a", trial=3)


def test_a_torn_last_line_of_a_running_run_is_left_for_later(running):
    append(running.trajectories_path, chat("own/a"), torn=encode(chat("own/b"))[:80])

    assert "done" in seen(running)
    assert seen(running).count("unfinished") == 1


def test_following_prints_each_step_of_a_running_chat_once(running):
    steps = chat("own/a").steps
    follower = Follower(running)

    write_live(running, steps[:2])
    first = read_new(follower)
    write_live(running, steps[2:3], mode="a")
    second = read_new(follower)

    assert "task own/a, trial 0" in first
    assert first.count("->") == 2
    assert second.count("->") == 1
    assert "call_0  answered" in second
    assert read_new(follower) == ""


def test_following_ends_a_live_chat_with_what_is_still_missing(running):
    follower = Follower(running)
    write_live(running, chat("own/a").steps[:3])
    read_new(follower)

    (running.path / "live" / "0123.jsonl").unlink()
    append(running.trajectories_path, chat("own/a"))
    last = read_new(follower)

    assert last.count("->") == 1
    assert "The sky is clear." in last
    assert "goal 1 stopped: done" in last


def test_following_prints_nothing_twice_when_the_run_puts_its_file_in_order(running):
    follower = Follower(running)
    append(running.trajectories_path, chat("own/b"), chat("own/a"))
    read_new(follower)

    write_records(running.trajectories_path, [chat("own/a"), chat("own/b")])

    assert read_new(follower) == ""


def test_following_shows_a_chat_again_that_is_played_again_after_an_error(running):
    follower = Follower(running)
    append(running.trajectories_path, failed_chat("own/a"))
    assert "the server answered 500" in read_new(follower)

    append(running.trajectories_path, chat("own/a"))

    assert "goal 1 stopped: done" in read_new(follower)


def test_following_one_task_shows_no_other(running):
    follower = Follower(running, task("own/b"))

    append(running.trajectories_path, chat("own/a"), chat("own/b"))

    assert "own/a" not in read_new(follower)


def test_following_ends_with_the_run(running):
    def finish():
        append(running.trajectories_path, chat("own/a"), chat("own/b"))
        running.write_json("summary.json", {})

    with Lock(running.path):
        timer = threading.Timer(0.2, finish)
        timer.start()
        text = seen(running, follow=True)
        timer.join()

    assert text.count("stopped: done") == 2
    assert "unfinished" not in text


def test_following_ends_when_nobody_writes_the_run_any_more(running):
    append(running.trajectories_path, chat("own/a"))

    text = seen(running, follow=True)

    assert text.count("stopped: done") == 1
    told = f"the run stopped unfinished; go on with: seal run ... --out {running.path} --resume"
    assert text.splitlines()[-1] == told


def test_following_waits_while_a_run_is_quiet(running):
    released = threading.Event()
    with ExitStack() as stack:
        stack.enter_context(Lock(running.path))
        held = stack.pop_all()

    def release():
        released.set()
        held.close()

    timer = threading.Timer(0.3, release)
    timer.start()
    told = next(Follower(running).texts(poll=0.02))
    timer.join()

    assert released.is_set()
    assert "stopped unfinished" in told.plain


def test_following_one_task_ends_with_it(running):
    append(running.trajectories_path, chat("own/a"))

    assert "stopped: done" in seen(running, "own/a", follow=True)


def test_a_malformed_live_line_is_named(running):
    (running.path / "live" / "0123.jsonl").write_text('{"task_id": "own/a"}\n')

    with pytest.raises(DataError, match=r"0123\.jsonl, line 1: expected an object with task_id"):
        read_new(Follower(running))


def test_the_list_of_tasks_is_a_table_like_all_others(scored_run):
    table = outcome_table(scored_run)
    assert table.columns == ("task", "goal", "outcome", "why", "calls")
    assert [row[2] for row in table.rows] == ["solved", "unsolved", "error"]
    solved, unsolved, error = (row[3] for row in table.rows)
    assert solved == "" and unsolved.endswith(")") and error == "infrastructure failed (chat)"


def test_a_chat_says_first_at_which_stage_it_failed(scored_run):
    lines = seen(scored_run, "own/b").splitlines()
    told, again = (line for line in lines if "goal 1 failed" in line)
    assert told == again == lines[-1]
    (row,) = [row for row in outcome_table(scored_run).rows if row[0] == "own/b"]
    assert told.startswith(f"goal 1 failed: {row[3]}")
    assert "failed" not in seen(scored_run, "own/a").split("offered")[0]


@pytest.mark.parametrize("name", ["scores.jsonl", "trajectories.jsonl"])
def test_a_file_without_end_in_a_run_is_refused(scored_run, name):
    """As a link to a device, which another's folder may hold."""
    (scored_run.path / name).unlink()
    (scored_run.path / name).symlink_to("/dev/zero")
    with pytest.raises(DataError, match=f"{name} is a device, and no file"):
        seen(scored_run)


def test_the_list_and_a_chat_are_told_as_json(scored_run):
    tasks = view_record(scored_run)["tasks"]
    assert [task["outcome"] for task in tasks] == ["solved", "unsolved", "error"]
    told = json.loads(json.dumps(view_record(scored_run, "own/b")))
    assert set(told) == {"task", "trajectory", "scores", "failed"}
    ((goal, stage),) = [(each["goal"], each["stage"]) for each in told["failed"]]
    assert (goal, told["task"]["id"]) == (0, "own/b") and MEANINGS[stage] in tasks[1]["why"]


def test_the_list_of_tasks_begins_with_the_answer(scored_run):
    lines = seen(scored_run).splitlines()
    assert lines[0] == answer_of(scored_run)[0]
    means = next(place for place, line in enumerate(lines) if "95 % interval" in line)
    assert means < next(place for place, line in enumerate(lines) if " outcome " in line)


def test_a_place_beyond_the_last_task_names_those_that_there_are(scored_run):
    with pytest.raises(UnknownNameError, match=r"no task '81'\. Places of tasks go from 1 to 3\."):
        find_task(scored_run, 81)


def test_gold_and_made_calls_have_one_name_for_a_tool(make_run):
    run = make_run("named", [task("a")], [chat("a")])
    text = seen(run, "a")
    assert f"gold 0: {WEATHER.name}(" in text
    assert f"{WEATHER.id}(" not in text


def test_an_outline_marks_the_call_that_gold_does_not_ask_so():
    call = replace(chat("a").steps[1].call, arguments={"city": "Oslo"})
    steps = chat("a").steps
    wrong = replace(chat("a"), steps=(steps[0], replace(steps[1], call=call), *steps[2:]))
    for played, ended in ((chat("a"), "ok"), (wrong, "ok, wrong argument")):
        shown = outline(played, calls_beside_gold(task("a"), played))
        assert [row[3] for row in shown.rows if row[3]] == [ended]

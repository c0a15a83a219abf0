"""With --json stdout holds one object, whatever anybody prints meanwhile."""

import json
import re
import subprocess
import sys

import pytest

from seal.cli.output import progress
from seal.cli.words import numbers, pairs, typed_pairs
from seal.core import UsageError

NOISY = """
import os, subprocess, sys
from seal.cli.output import output
with output({json}) as out:
    print("a library speaks")
    os.write(1, b"a C library speaks\\n")
    subprocess.run(["echo", "a child speaks"], check=True)
    out.result({{"value": float("nan"), "keys": {{1: "one"}}}})
    out.show("a text for people")
"""


def noisy(flag: bool) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", NOISY.format(json=flag)], capture_output=True, text=True, check=True
    )


def test_json_is_all_that_reaches_stdout() -> None:
    done = noisy(True)
    assert json.loads(done.stdout) == {"value": None, "keys": {"1": "one"}}
    for speaker in ("a library", "a C library", "a child"):
        assert f"{speaker} speaks" in done.stderr
    assert "a text for people" not in done.stdout + done.stderr


def test_without_json_people_read_the_text() -> None:
    done = noisy(False)
    assert "a text for people" in done.stdout
    assert '"value"' not in done.stdout


def test_nothing_is_printed_where_the_verb_fails() -> None:
    code = (
        "from seal.cli.output import output\n"
        "with output(True) as out:\n    out.result({'a': 1})\n    raise SystemExit(2)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")


def test_values_are_json_where_they_can_be() -> None:
    words = ["a=1", "b=0.5", "c=true", "d=word", 'e=["x"]', "f=", "g=1=2", "a=1"]
    assert typed_pairs("-M", words) == {
        "a": 1,
        "b": 0.5,
        "c": True,
        "d": "word",
        "e": ["x"],
        "f": "",
        "g": "1=2",
    }


def test_pairs_stay_texts() -> None:
    assert pairs("--select", ["multi_tool=true"]) == {"multi_tool": "true"}
    assert pairs("--select", None) == {}


@pytest.mark.parametrize("text", ["", ",", "0", "-1", "1.5", "a"])
def test_lists_of_numbers_hold_nothing_else(text: str) -> None:
    with pytest.raises(UsageError, match="expected whole numbers"):
        numbers("-k", text)


def test_lists_of_numbers_are_sorted_and_distinct() -> None:
    assert numbers("-k", "10, 1,5,1") == (1, 5, 10)


@pytest.mark.slow
def test_a_long_run_tells_its_progress_now_and_then_where_there_is_no_terminal(seal, tmp_path):
    agent = "import time\n\ndef solve(request, tools):\n    time.sleep(0.6)\n    return ''\n"
    (tmp_path / "lazy_agent.py").write_text(agent)
    done = seal("run", "--agent", "lazy_agent:solve", "--workers", "2", "--no-baselines")
    assert re.search(r"^seal: play: \d\d of 80 chats, \d+ s left$", done.stderr, re.MULTILINE)


@pytest.fixture
def clock(monkeypatch):
    """Seconds of a clock that stands still; a list of one."""
    now = [0.0]
    monkeypatch.setattr("seal.cli.output.time.monotonic", lambda: now[0])
    return now


def told_of_items(clock, capsys, done, seconds, total=400):
    """Return the lines told of a stage whose items each take some seconds."""
    with progress() as advance:
        for n in done:
            clock[0] += seconds
            advance("play", n, total)
    return capsys.readouterr().err.splitlines()


def test_what_is_left_is_told_from_the_sixth_item_on(clock, capsys):
    lines = told_of_items(clock, capsys, range(1, 9), 61)

    assert lines[3:6] == [
        "seal: play: 5 of 400",
        "seal: play: 6 of 400, 401 min left",
        "seal: play: 7 of 400, 400 min left",
    ]


def test_items_that_a_resumed_run_has_already_do_not_count_as_fast_ones(clock, capsys):
    lines = told_of_items(clock, capsys, range(300, 310), 61)

    assert lines[-1] == "seal: play: 309 of 400, 93 min left"


def test_the_next_run_of_an_experiment_is_timed_by_itself(clock, capsys):
    lines = told_of_items(clock, capsys, [*range(1, 401), *range(1, 41)], 1)

    assert lines[0] == lines[-1] == "seal: play: 40 of 400, 6 min left"
    assert len(lines) == 10


def test_a_short_run_tells_none(seal):
    assert seal("run", "--limit", "3").stderr == ""

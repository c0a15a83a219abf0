"""Where the system refuses a file, the flag, the file and the repair are told."""

import errno
import os
import re
from pathlib import Path

import pytest

from seal.cli.failure import refusal


def refused(code: int, path: str | None, *words: str) -> str:
    return refusal(OSError(code, os.strerror(code), path), words)


def test_the_flag_that_named_the_file_is_told() -> None:
    told = refused(errno.EACCES, "/nope/x", "run", "--seed", "1", "--out", "/nope/x")
    assert told == ("--out /nope/x: Permission denied; give a path that you may read and write")


@pytest.mark.parametrize("path", ["/nope", "/nope/x/run.json"])
def test_the_flag_of_a_file_above_or_below_is_told(path: str) -> None:
    told = refused(errno.ENOENT, path, "run", "--out=/nope/x", "--model", "m")
    assert told.startswith(f"--out /nope/x: {path}: No such file")


@pytest.mark.parametrize("part", [".x.10657.part", ".x.10657-139969926273920.part"])
def test_a_name_that_a_file_has_while_it_is_written_is_not_told(part: str) -> None:
    told = refused(errno.ENOENT, f"/proc/{part}", "import", "--out", "/proc/x")
    assert told.startswith("--out /proc/x: No such file")


def test_a_file_that_no_flag_named_is_told_alone() -> None:
    told = refused(errno.EISDIR, "/a", "report", "/a", "--out", "/b", "--json")
    assert told == "/a: Is a directory; it is a folder; give a file"


def test_without_a_file_the_reason_is_told() -> None:
    assert refused(errno.ENOSPC, None) == "No space left on device; make room and try again"


def test_a_working_folder_that_was_removed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = refused(errno.ENOENT, None)
    tmp_path.rmdir()
    assert there == "No such file or directory; give a path that exists or can be made"
    removed = "the working folder was removed; change to one that is there"
    assert refused(errno.ENOENT, None) == removed
    assert refused(errno.ENOENT, "runs/a", "run", "--out", "runs/a") == f"--out runs/a: {removed}"
    assert "give a path" in refused(errno.ENOENT, "/nope")


def test_an_unforeseen_reason_is_told_as_it_is() -> None:
    assert refused(errno.EIO, "/a") == "/a: Input/output error"


def test_an_output_that_cannot_be_written_is_one_line(seal, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    failed = seal("run", "--limit", "1", "--no-baselines", "--out", "file/r")
    assert failed.returncode == 2
    assert failed.stderr.startswith("seal: --out: 'file/r' is no path: it lies in a file")
    assert failed.stderr.count("\n") == 1
    assert ".part" not in failed.stderr


def test_a_disk_that_fills_tells_how_the_run_goes_on(seal, tmp_path) -> None:
    words = ("run", "--limit", "1", "--no-baselines", "--out", "r")
    assert seal(*words).returncode == 0
    for name in ("trajectories.jsonl", "timings.jsonl"):
        (tmp_path / "r" / name).unlink()
    (tmp_path / "r" / "timings.jsonl").symlink_to("/dev/full")
    failed = seal(*words, "--resume")
    assert failed.returncode == 2
    assert failed.stderr.endswith(
        "timings.jsonl: No space left on device; make room and try again. Go on with: seal"
        " run --limit 1 --no-baselines --out r --resume\n"
    )


@pytest.mark.parametrize("words", [("run", "sample", "--out", ""), ("report", ""), ("lint", "")])
def test_an_empty_path_is_refused_and_not_read_as_this_folder(called, words) -> None:
    failed = called(*words)
    assert failed.returncode == 2
    assert "'' is no path: it is empty; give one, such as '.' for this folder" in failed.stderr


REFUSED = {
    "--role-model user=openai/j": "no role in team full 'user'; known: .*'user_simulator'",
    "--role user=scripted": "team full has no role 'user'; .* Did you mean 'user_simulator'",
    "--model openai/q@": "model openai/q@: a name of \\[endpoints\\] in seal.toml must follow",
    "--history-policy drop": "--history-policy is gone: a goal ends when its prompt does not fit",
    "--shard 1/2": "--shard is gone: --workers and --processes use one machine, --processes ray",
    "--hooks mine:Tracker": "--hooks is gone: 'seal view' and 'seal serve' show a running run",
    "--processes many": "--processes many: expected a whole number of at least 1, or ray or ray:N",
    "--processes ray:0": "--processes ray:0: expected a whole number of at least 1, or ray or ray",
    "--processes 0": "--processes 0: expected a whole number of at least 1",
    "--model gpt-4o": "no model 'gpt-4o'; known: .* named with its provider: openai/gpt-4o",
    "--model llama3:8b": "no module 'llama3' .* named with its provider: openai/llama3:8b",
    "--model openai/x --base-url http://h/v1 -M max_tokens=abc": "max_tokens=abc: expected a whole",
    "--limit x": "'--limit': expected a whole number",
    "--limit=2": "--limit is given twice, with two values; keep one",
    "-M max_tokens=1 -M max_tokens=2": "seal: -M max_tokens is given twice, with two values",
    "-R b": "seal: -R 'b': expected KEY=VALUE",
    "-Rb": "seal: -R 'b': expected KEY=VALUE",
    "--retriever-option b": "seal: --retriever-option 'b': expected KEY=VALUE",
    "--team ./nope.json": "team './nope.json': there is no such file, .* give module:NAME",
    "--role-model judge=oracle --role-model user_simulator=a --role-model user_simulator=b": (
        "--role-model user_simulator is given twice"
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_word_that_cannot_be_is_one_line_with_the_repair(called, words) -> None:
    failed = called("run", "sample", "--limit", "1", *words.split())
    assert failed.returncode == 2 and failed.stderr.count("\n") == 1
    assert re.search(REFUSED[words], failed.stderr)


@pytest.mark.parametrize(
    "words",
    [
        ("annotate", "export", "runs/none", "--out"),
    ],
)
def test_a_file_that_is_there_is_not_replaced(called, tmp_path, words) -> None:
    (tmp_path / "mine").write_text("by hand")
    failed = called(*words, "mine")
    assert failed.returncode == 2
    assert "mine is there already, and is not replaced; give" in failed.stderr
    assert (tmp_path / "mine").read_text() == "by hand"


@pytest.mark.parametrize(("agent", "path"), [("lab", "lab:NAME"), ("./lab.py:solve", "lab:solve")])
def test_an_agent_named_by_its_module_or_file_tells_how_to_name_it(
    called, tmp_path, agent, path
) -> None:
    (tmp_path / "lab.py").write_text("def solve(request, tools):\n    return 'done'\n")
    failed = called("run", "--agent", agent)
    assert failed.returncode == 2
    assert f"is no agent; name what it holds: {path}\n" in failed.stderr

"""Every Python example of the README runs."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from forked import run

from seal.pools.upstream import source_folder

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def subject(example: str) -> str:
    """Return the class that an example defines."""
    defined = re.search(r"^class (\w+)", example, re.MULTILINE)
    return defined[1] if defined else "no class"


@pytest.mark.parametrize("example", EXAMPLES, ids=subject)
def test_example_runs_as_a_program(example: str, tmp_path: Path) -> None:
    program = tmp_path / "example.py"
    program.write_text(example, encoding="utf-8")
    environment = {**os.environ, "SEAL_CACHE_DIR": str(tmp_path / "cache")}

    done = run([program], cwd=tmp_path, env=environment)

    assert done.returncode == 0, done.stderr


def test_every_extension_is_shown_in_under_15_lines() -> None:
    for example in EXAMPLES:
        for part in re.findall(r"^class .*?(?=^\S)", example, re.DOTALL | re.MULTILINE):
            assert len(part.strip().splitlines()) < 15


@pytest.mark.slow
def test_the_figures_of_what_roles_are_worth_are_those_of_the_named_command(tmp_path: Path) -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    (command,) = re.findall(r"`seal (ablate roles [^`]+)`", text)
    (told,) = re.findall(r"the planner caused .*? and caused none", text)
    caused, idle, cost, low, high, *verified = map(float, re.findall(r"\d+(?:\.\d+)?", told))

    words = [sys.executable, "-m", "seal", *shlex.split(command), "--out", str(tmp_path / "roles")]
    environment = {**os.environ, "SEAL_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run(words, check=True, capture_output=True, env=environment, cwd=tmp_path)

    found = json.loads((tmp_path / "roles" / "comparison.json").read_bytes())
    did = {(run, one["role"]): one for run, roles in found["roles"].items() for one in roles}
    planner, verifier = did["planner", "planner"], did["verifier", "verifier"]
    assert [planner["caused"], planner["passed"]] == [caused, idle]
    assert [verifier[name] for name in ("caught", "missed", "passed", "caused")] == [*verified, 0]
    compared = {(one["run"], one["metric"]): one for one in found["comparisons"]}
    recall = compared["planner", "call_recall"]
    told_of = [-round(recall[name], 3) for name in ("difference", "high", "low")]
    assert told_of == [cost, low, high]


@pytest.mark.slow
@pytest.mark.heavy
def test_the_figures_of_dialogues_are_those_of_the_named_command(tmp_path: Path) -> None:
    if source_folder("dialogtool") is None:
        pytest.skip("SEAL_DATA has no files of dialogtool")
    text = README.read_text(encoding="utf-8")
    (block,) = re.findall(r"^\$ seal (run dialogtool .*\n(?:.+\n)+?)```", text, re.MULTILINE)
    command, *shown = block.splitlines()

    words = [sys.executable, "-m", "seal", *shlex.split(command), "--out", str(tmp_path / "run")]
    environment = {**os.environ, "COLUMNS": "130"}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)

    said = {" ".join(line.split()) for line in done.stdout.splitlines()}
    assert [line for line in shown if " ".join(line.split()) not in said] == []

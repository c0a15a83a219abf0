"""Shells complete verbs, options and the names of what is there."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import seal as api


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    api.run("sample", first=2, baselines=False, out=folder / "runs" / "one")
    return folder


CASES = (
    (["re"], ["report", "retrieve"]),
    (["run", "--judg"], ["--judge"]),
    (["run", "sampl"], ["sample"]),
    (["run", "--model", "lex"], ["lexical"]),
    (["run", "--cache", "re"], ["record", "replay"]),
    (["retrieve", "--retriever", "bm"], ["bm25"]),
    (["compare", "runs/"], ["runs/one"]),
    (["view", "runs/one", ""], ["weather-01", "travel-01"]),
    (["view", "nowhere", ""], []),
)
"""Words, and what may follow them or end the last."""

ASK = """
import json, os, sys
from seal.cli.dispatch import main

for words in json.load(sys.stdin):
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = " ".join(["seal", *words]), str(len(words))
    try:
        code = main([])
    except SystemExit as end:
        code = end.code
    print("ended with", code, flush=True)
"""


@pytest.fixture(scope="module")
def told(played, tmp_path_factory):
    """What a process that imported nothing before answers to all cases, one after the other."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEAL_")}
    ours = {"SEAL_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps([words for words, _ in CASES]),
        cwd=played,
        env={**kept, **ours, "_SEAL_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("ended with 0\n")


@pytest.mark.parametrize("number", range(len(CASES)), ids=[" ".join(words) for words, _ in CASES])
def test_what_may_follow(number, told):
    assert len(told) == len(CASES) + 1
    assert told[number].split() == CASES[number][1]


def test_bash_completes_with_the_script(seal, environment, script):
    folder = script.rpartition("/")[0]
    line = f"""
        PATH={folder}:$PATH
        eval "$(_SEAL_COMPLETE=source_bash {script})"
        COMP_WORDS=(seal explai)
        COMP_CWORD=1
        _seal_completion seal
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("explain\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_ask_seal(shell, environment, script, tmp_path):
    asking = {**environment, "_SEAL_COMPLETE": f"source_{shell}"}
    done = subprocess.run([script], env=asking, capture_output=True, text=True, check=True)
    written = done.stdout
    assert f"_SEAL_COMPLETE=complete_{shell}" in written
    if shutil.which(shell):
        file = tmp_path / "script"
        file.write_text(written)
        assert subprocess.run([shell, "-n", file]).returncode == 0


def test_the_former_verb_tells_the_line_of_the_shell(seal):
    done = seal("completion", "bash")
    assert done.returncode == 2
    assert "seal completion is gone: 'eval \"$(_SEAL_COMPLETE=source_bash seal)\"'" in done.stderr

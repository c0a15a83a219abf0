"""Shells complete verbs, options and the names of what is there."""

import shutil
import subprocess

import pytest

import seal as api


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    api.run("sample", first=2, baselines=False, out=folder / "runs" / "one")
    return folder


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["re"], ["report", "retrieve"]),
        (["run", "--judg"], ["--judge"]),
        (["run", "sampl"], ["sample"]),
        (["run", "--model", "lex"], ["lexical"]),
        (["run", "--cache", "re"], ["record", "replay"]),
        (["retrieve", "--retriever", "bm"], ["bm25"]),
        (["compare", "runs/"], ["runs/one"]),
        (["view", "runs/one", ""], ["weather-01", "travel-01"]),
        (["view", "nowhere", ""], []),
    ],
)
def test_what_may_follow(words, offered, played, environment, script):
    asked = {"COMP_WORDS": " ".join(["seal", *words]), "COMP_CWORD": str(len(words))}
    done = subprocess.run(
        [script],
        cwd=played,
        env={**environment, **asked, "_SEAL_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == offered


def test_bash_completes_with_the_script(seal, environment, script):
    folder = script.rpartition("/")[0]
    line = f"""
        PATH={folder}:$PATH
        eval "$({script} completion bash)"
        COMP_WORDS=(seal explai)
        COMP_CWORD=1
        _seal_completion seal
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("explain\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_ask_seal(shell, seal, tmp_path):
    script = seal("completion", shell).stdout
    assert f"_SEAL_COMPLETE=complete_{shell}" in script
    if shutil.which(shell):
        file = tmp_path / "script"
        file.write_text(script)
        assert subprocess.run([shell, "-n", file]).returncode == 0


def test_another_shell_is_refused_with_those_that_are_known(seal):
    done = seal("completion", "tcsh")
    assert done.returncode == 2
    assert "'bash', 'zsh', 'fish'" in done.stderr

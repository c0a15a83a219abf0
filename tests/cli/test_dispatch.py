"""Verbs are found, listed and called; unknown words get one clear line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seal.cli.dispatch import main
from seal.cli.verbs import VERBS

HEAVY = ("pydantic", "numpy", "faiss", "sklearn", "scipy", "autogen", "openai", "rich", "tiktoken")


def modules_after(code: str) -> set[str]:
    listing = f"import sys; {code}; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.split()}


def test_importing_seal_loads_no_heavy_library() -> None:
    assert modules_after("import seal").isdisjoint({*HEAVY, "typer"})


def test_help_loads_no_heavy_library() -> None:
    assert modules_after("from seal.cli.dispatch import main; main(['--help'])").isdisjoint(
        {*HEAVY, "typer"}
    )


def test_a_verb_that_is_gone_names_what_replaces_it(seal) -> None:
    failed = seal("train-retriever", "sample", "--out", "mine")
    assert failed.returncode == 2
    assert "seal train-retriever is gone: seal.split and 'seal export POOL --to" in failed.stderr
    assert "docs/train-a-retriever.md" in failed.stderr
    assert failed.stderr.count("\n") == 1
    failed = seal("errata", "draft", "sample", "weather-01", "--out", "mine")
    assert failed.returncode == 2 and failed.stderr.count("\n") == 1
    assert "seal errata is gone: mend tasks.jsonl in a copy of the pool" in failed.stderr
    assert "seal merge is gone: 'seal run --processes ray'" in seal("merge", "a", "b").stderr


def test_help_lists_every_verb_with_its_line(seal) -> None:
    shown = seal("--help")
    assert shown.returncode == 0
    for verb in VERBS:
        line = next(line for line in shown.stdout.splitlines() if line.split()[:1] == [verb])
        assert len(line.split()) > 3


def test_no_words_show_the_help(seal) -> None:
    assert seal().stdout == seal("--help").stdout


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_a_help_of_its_own(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    assert f"Usage: seal {verb}" in capsys.readouterr().out


def test_version_is_the_installed_one(seal) -> None:
    from importlib.metadata import version

    assert seal("--version").stdout == f"seal {version('seal-api-llms')}\n"


def test_the_module_runs_like_the_script(seal) -> None:
    module = subprocess.run(
        [sys.executable, "-m", "seal", "--version"], capture_output=True, text=True
    )
    assert module.stdout == seal("--version").stdout


def test_an_unknown_verb_names_the_closest(seal) -> None:
    failed = seal("rum")
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1
    assert "no verb 'rum'" in failed.stderr
    assert "Did you mean 'run'?" in failed.stderr


def test_an_unknown_option_before_a_verb_names_the_closest(called) -> None:
    failed = called("--verison")
    assert failed.returncode == 2
    assert "no option '--verison'" in failed.stderr
    assert "Did you mean '--version'?" in failed.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "--topk", "3"], "--top-k"),
        (["run", "--top-k", "x"], "'--top-k'"),
        (["run", "--top-k", "0"], "--top-k 0: expected a whole number of at least 1"),
        (["run", "--cache", "maybe"], "record"),
        (["run", "--role-model", "planner"], "--role-model 'planner': expected KEY=VALUE"),
        (["run", "--role-model", "=x"], "expected KEY=VALUE"),
        (["run", "--select", "weather-01"], "expected KEY=VALUE, such as id=weather-01"),
        (["run", "--cutoffs", "1,zero"], "--cutoffs '1,zero': expected whole numbers"),
        (["run", "--resume"], "give --out"),
        (["run", "a", "b"], "unexpected extra argument"),
        (["import", "toolbench", "--out", "pool"], "SOURCE"),
        (["score", "nowhere"], "nowhere is no run folder"),
        (["report", "nowhere"], "nowhere is no run folder"),
        (["pools"], "Missing command. Commands: search, show, stats. See 'seal pools --help'."),
        (["pools", "statz"], "Did you mean 'stats'? Commands: search, show, stats. See"),
        (["pools", "show", "sample"], "See 'seal pools show --help'."),
        (
            ["export", "sample"],
            "Choose from: beir, bfcl, hf, inspect, openai, trec, triplets.",
        ),
    ],
)
def test_bad_words_get_one_line_that_says_what_to_do(seal, words: list[str], says: str) -> None:
    failed = seal(*words)
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert says in failed.stderr
    assert "Traceback" not in failed.stderr


def test_debug_adds_a_traceback_wherever_it_stands(seal) -> None:
    for words in (["--debug", "score", "nowhere"], ["score", "nowhere", "--debug"]):
        failed = seal(*words)
        assert failed.returncode == 2
        assert "Traceback (most recent call last)" in failed.stderr
        assert failed.stderr.endswith("\n")


def test_a_key_on_the_command_line_is_refused_and_not_repeated(seal) -> None:
    failed = seal("run", "-M", "api_key=sk-0123456789abcdefghij")
    assert failed.returncode == 2
    assert "OPENAI_API_KEY" in failed.stderr
    assert "sk-0123" not in failed.stderr


def in_a_shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell, `seal` in which is the command of this environment."""
    line = line.replace("seal", str(Path(sys.executable).with_name("seal")), 1)
    return subprocess.run(line, shell=True, capture_output=True, text=True, env=dict(os.environ))


def test_a_closed_pipe_is_no_failure(seal) -> None:
    assert in_a_shell("seal run --help | head -1").stderr == ""
    done = in_a_shell("(seal benchmarks; echo $? >&2) | true")
    assert done.stderr == "0\n"


@pytest.mark.parametrize("words", ["benchmarks", "--help"])
def test_a_full_disk_behind_stdout_is_told_once(seal, words: str) -> None:
    done = in_a_shell(f"seal {words} > /dev/full")
    told = "seal: standard output: No space left on device; make room and try again\n"
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.parametrize(
    "coding", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}]
)
def test_letters_that_a_terminal_cannot_show_are_written_by_their_numbers(
    script: str, environment: dict[str, str], tmp_path: Path, coding: dict[str, str]
) -> None:
    (tmp_path / "tools.csv").write_text("name,description,parameters\nask,Ask.,word: str\n")
    (tmp_path / "tasks.csv").write_text('question,calls,answer\nGröße?,[],"日本"\n', "utf-8")
    words = [script, "new", "size", "--tools", "tools.csv", "--tasks", "tasks.csv", "--out", "p"]
    variables = {**environment, **coding, "PYTHONUTF8": "0"}
    done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, check=True)
    assert b"Gr\\xf6\\xdfe?" in done.stdout


def test_nothing_need_be_printed_to(seal) -> None:
    done = in_a_shell("seal benchmarks >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_verb_is_there_without_any_extra() -> None:
    """What an extra brings is imported when it is used, not when a verb of its module is."""
    extras = ("mcp", "mcp_types", "matplotlib", "pandas", "psycopg", "starlette")
    extras += ("anthropic", "google")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({extras!r}))\n"
        "from seal.cli.verbs import VERBS, load\n"
        "for name in VERBS: load(name)\n"
        "import seal.agents.bridge\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

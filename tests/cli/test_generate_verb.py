"""`seal generate`: its kinds, those that there were, and what is no kind."""

from pathlib import Path

import pytest

import seal as api
from seal.cli.dispatch import main
from seal.cli.failure import quoted
from seal.core import UsageError


@pytest.fixture
def seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """Run a command in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))

    def call(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_rules_of_missions_say_where_there_is_none(seal):
    for pool, told in (("toolsandbox-sample", True), ("mmtb-sample", False)):
        words = ("--model", "oracle", "--limit", "1", "--no-baselines", "--out", pool)
        seal("run", pool, *words)
        code, out, _ = seal("score", pool, "--match", "mmtb")
        assert code == 0
        assert ("--match mmtb changes nothing" in out) is told


def test_the_verb_needs_a_verb_of_its_own(seal):
    code, _, err = seal("generate")
    assert code == 2
    assert "queries" in err or "Missing command" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("tools", "wishes.txt", "--out", "pool"),
            "write tools as `seal new --template` shows, or import them with `seal import`",
        ),
        (
            ("milestones", "toolsandbox-sample", "--form", "plan"),
            "write milestones yourself, as docs/toolsandbox.md shows",
        ),
    ],
)
def test_a_kind_that_there_was_is_one_line_that_says_what_to_do(seal, words, told):
    code, out, err = seal("generate", *words)
    assert (code, out) == (2, "")
    assert err == f"seal: generate {words[0]} is no more: {quoted(told)}\n"
    with pytest.raises(UsageError, match=f"generate {words[0]} is no more: {told[:20]}"):
        api.generate(words[0], "sample", "out")

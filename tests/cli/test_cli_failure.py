"""Errors become one message, an exit code, and never show a key."""

import subprocess
import sys

import pytest

from seal.cli.failure import exit_code, reported, scrub
from seal.core import (
    BudgetError,
    CacheMissError,
    DataError,
    MissingExtraError,
    ModelError,
    NotRecordedError,
    SealError,
    SimulatorError,
    UnknownNameError,
    UsageError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (UnknownNameError("role", "x", []), 2),
        (MissingExtraError("x", "y"), 2),
        (DataError("x"), 2),
        (NotRecordedError("x"), 2),
        (ModelError("x"), 1),
        (SimulatorError("x"), 1),
        (CacheMissError("x"), 1),
        (BudgetError("x"), 3),
    ],
)
def test_each_error_has_its_exit_code(error: SealError, code: int) -> None:
    assert exit_code(error) == code


def raising(error: BaseException):
    def command() -> int:
        secret = "local-variable-of-the-frame"
        assert secret
        raise error

    return command


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(raising(DataError("pool.jsonl, line 3: not JSON")), debug=False) == 2
    assert capsys.readouterr().err == "seal: pool.jsonl, line 3: not JSON\n"


def test_a_debug_traceback_has_no_local_values(capsys: pytest.CaptureFixture[str]) -> None:
    reported(raising(ModelError("no answer")), debug=True)
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.count("local-variable-of-the-frame") == 0


def test_what_the_system_refuses_is_named(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none" / "file"
    assert reported(missing.read_text, debug=False) == 2  # type: ignore[arg-type]
    told = "No such file or directory; give a path that exists or can be made"
    assert capsys.readouterr().err == f"seal: {missing}: {told}\n"


def test_an_interruption_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(raising(KeyboardInterrupt()), debug=False) == 130
    assert capsys.readouterr().err == "seal: interrupted\n"


def test_a_key_in_a_message_is_replaced_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "abcd-efgh-ijkl")
    error = ModelError("401 for key abcd-efgh-ijkl")
    assert reported(raising(error), debug=True) == 1
    shown = capsys.readouterr().err
    assert "abcd-efgh-ijkl" not in shown
    assert "401 for key [OPENAI_API_KEY]" in shown


@pytest.mark.parametrize("slashes", ["//", "/"])
def test_a_login_in_an_address_is_left_out(slashes: str) -> None:
    told = f"no file http:{slashes}me:pass@word@host:80/x.zip; ask you@host"
    assert scrub(told) == f"no file http:{slashes}host:80/x.zip; ask you@host"


def test_short_values_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert scrub("none of them") == "none of them"


@pytest.mark.parametrize(("debug", "trace"), [("False", False), ("True", True)])
def test_an_unforeseen_error_is_one_line_without_debug(debug: str, trace: bool) -> None:
    code = (
        "import sys; from seal.cli.failure import unforeseen;"
        f"sys.excepthook = unforeseen({debug}); 1/0"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert ("Traceback" in done.stderr) == trace
    assert "seal: unexpected ZeroDivisionError: division by zero" in done.stderr

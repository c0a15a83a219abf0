"""Errors become one message, an exit code, and never show a key."""

import errno
import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from seal.cli.failure import exit_code, quoted, reported, scrub
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


def test_memory_that_the_system_does_not_give_is_named_with_the_repair(capsys) -> None:
    short = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    assert reported(raising(short), debug=False) == 2
    assert "or raise this process's limit (ulimit -v)" in capsys.readouterr().err


def test_an_interruption_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(raising(KeyboardInterrupt()), debug=False) == 130
    assert capsys.readouterr().err == "seal: interrupted\n"


@pytest.mark.parametrize(
    ("sign", "code", "how"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
    ],
)
def test_a_signal_ends_a_command_with_what_it_says_and_its_number(
    sign: signal.Signals, code: int, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended() -> int:
        try:
            signal.raise_signal(sign)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("go on") from None
        return 0

    before = signal.getsignal(sign)
    assert reported(ended, debug=False) == code
    assert capsys.readouterr().err == f"seal: {how}; go on\n"
    assert signal.getsignal(sign) == before


def test_an_import_that_a_signal_broke_is_an_interruption(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def imported() -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt as error:
            raise ImportError("a library could not be loaded") from error
        return 0

    assert reported(imported, debug=False) == 143
    assert capsys.readouterr().err == "seal: ended by SIGTERM\n"
    with pytest.raises(ImportError):
        reported(raising(ImportError("missing")), debug=False)


def test_a_library_for_which_memory_is_short_is_one_line(capsys) -> None:
    short = ImportError("libblas.so: failed to map segment from shared object")
    assert reported(raising(short), debug=False) == 1
    told = capsys.readouterr().err
    assert told.startswith("seal: memory is short (failed to map segment); free some")


def test_a_signal_that_comes_when_all_is_done_ends_nothing(monkeypatch) -> None:
    restore = signal.signal

    def restored(sign: signal.Signals, handler: object) -> object:
        if sign == signal.SIGINT:  # the first; that of SIGTERM still stands
            signal.raise_signal(signal.SIGTERM)
        return restore(sign, handler)

    def done() -> int:
        monkeypatch.setattr(signal, "signal", restored)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    assert reported(done, debug=False) == 0
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_signal_that_comes_in_a_callback_which_drops_errors_ends_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def command() -> int:
        thing = Thing()
        kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGTERM))
        del thing
        assert kept() is None
        time.sleep(60)
        return 0

    class Thing:
        pass

    before = sys.unraisablehook
    assert reported(command, debug=False) == 143
    assert capsys.readouterr().err == "seal: ended by SIGTERM\n"
    assert sys.unraisablehook == before


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert reported(lambda: signal.raise_signal(signal.SIGHUP) or 0, debug=False) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


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


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        (
            "raise type('Odd', (BaseException,), {'__str__': exit})",
            "Odd: its text cannot be had, for that raises SystemExit",
        ),
    ],
)
@pytest.mark.parametrize(("debug", "trace"), [("False", False), ("True", True)])
def test_an_unforeseen_error_is_one_line_without_debug(
    debug: str, trace: bool, raised: str, told: str
) -> None:
    code = (
        "import sys; from seal.cli.failure import unforeseen;"
        f"sys.excepthook = unforeseen({debug}); {raised}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert ("Traceback" in done.stderr) == trace
    assert f"seal: unexpected {told}" in done.stderr


@pytest.mark.parametrize("change", ["sys.stdout.close()", "json.dumps = None"])
def test_an_unforeseen_error_names_imported_code_that_may_have_caused_it(
    tmp_path: Path, change: str
) -> None:
    (tmp_path / "odd_guest.py").write_text(f"import json, sys\n{change}\n")
    code = (
        "import json, sys; from seal.cli.failure import unforeseen;"
        "from seal.core.registry import load_dotted;"
        "sys.excepthook = unforeseen(False); load_dotted('odd_guest:sys'); print(json.dumps(1))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert "seal: unexpected " in done.stderr
    assert "code of this folder was imported (odd_guest): does it change" in done.stderr


def test_a_signal_within_an_executed_text_keeps_its_exit_code() -> None:
    """As while a dataclass is made; CPython then ends by SIGINT, though all is caught."""
    script = (
        "import signal, sys; from seal.cli.failure import reported\n"
        "def command(): exec('import signal; signal.raise_signal(signal.SIGTERM)')\n"
        "sys.exit(reported(command, False))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (143, "seal: ended by SIGTERM\n")


def test_an_interruption_of_the_first_imports_is_one_line(tmp_path: Path) -> None:
    """A slow import stands for a slow disk."""
    (tmp_path / "orjson.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-m", "seal", "run"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
    )
    assert done.stderr == "seal: interrupted\n"
    assert done.returncode in (130, -signal.SIGINT)


def test_a_full_standard_output_is_named() -> None:
    with Path("/dev/full").open("w") as full:
        told = subprocess.run(
            [sys.executable, "-m", "seal", "--help"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert told.returncode == 2
    assert told.stderr.startswith("seal: standard output: No space left on device")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("score it with `seal score RUN`; see `x`", "score it with 'seal score RUN'; see 'x'"),
        ("a lone ` stays", "a lone ` stays"),
    ],
)
def test_a_terminal_shows_quotes_in_place_of_backticks(text: str, shown: str) -> None:
    assert quoted(text) == shown

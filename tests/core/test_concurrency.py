"""Limits of time: what ends, and what is left of a limit around it."""

import functools
import re
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from seal.core import OverdueError
from seal.core.concurrency import in_time, seconds_left, unending, within


def spin() -> None:
    while True:
        pass


@pytest.mark.parametrize(
    "endless",
    [spin, lambda: time.sleep(60), lambda: re.fullmatch("(a+)+", "a" * 60 + "!")],
    ids=["loop", "sleep", "pattern"],
)
def test_what_never_ends_is_ended_in_the_main_thread(endless: Callable[[], object]) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with within(0.2), pytest.raises(OverdueError):
        in_time(endless)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_time_that_ends_where_python_drops_errors_ends_behind_it() -> None:
    class Slow:
        def __del__(self) -> None:
            ends = time.monotonic() + 0.4
            while time.monotonic() < ends:
                pass

    def ended() -> None:
        Slow()
        spin()

    with within(0.2), pytest.raises(OverdueError):
        in_time(ended)


def test_a_nested_limit_leaves_the_one_around_it() -> None:
    def inner() -> str:
        with within(0.1), pytest.raises(OverdueError):
            in_time(spin)
        spin()
        return "never"

    with within(0.6), pytest.raises(OverdueError):
        in_time(inner)


def test_another_thread_gives_up_what_takes_too_long() -> None:
    told: list[BaseException] = []

    def work() -> None:
        try:
            with within(0.2):
                in_time(lambda: time.sleep(5))
        except OverdueError as error:
            told.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(timeout=60)
    assert len(told) == 1


def test_without_a_limit_a_function_is_called_as_it_is() -> None:
    assert in_time(lambda: seconds_left()) == float("inf")
    with within(60):
        assert in_time(lambda: seconds_left()) <= 60


def test_what_does_not_end_is_named_and_not_the_library_that_it_calls() -> None:
    told: list[str] = []
    partial = functools.cached_property(lambda holder: told.append(unending(sys._getframe(1))))
    partial.attrname = "asked"
    partial.__get__(type("Holder", (), {})())

    assert f"what runs at {__file__}, line " in told[0]

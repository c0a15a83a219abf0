"""Every regular expression of the package reads any text in time linear in its length.

What a model, a server or a file says is read by them. Each is given texts that make a pattern
begin anew at every place or try every way to part a run: of blanks, quotes, digits, brackets and
words, and those made of the pattern itself, with each of its repeats over and over.
"""

from __future__ import annotations

import gc
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import pytest
from drawn_patterns import Drawn, every_pattern
from linear import linear

SHORT, LONG, LONGEST = 1_000, 4_000, 200_000
GROWTH = (LONG / SHORT) ** 1.3
TOO_SHORT = 0.005
"""Seconds that show no growth. Time may grow with n ** 1.3 from there to `LONGEST`: 0.8 s."""
ENDED = 0.5
"""Seconds after which a call over a shorter text is ended."""
SIGNS = (
    *(" ", "\n", "\t ", "'", '"', "1", "1.", "1,", ".", "[", "(", "{", "]", "a", "A", "_", "-"),
    *("a ", "a\n", "a-", "a.", "a, ", "a1 ", "word ", "Word ", '{"a":', "<a>", "/", "\\", ":", "@"),
)
_ANY = "a1 -\"',x\n=~"
"""Of which one is a character that a set of others lacks."""
_OF_CATEGORY = {
    code.CATEGORY_DIGIT: "1",
    code.CATEGORY_WORD: "a",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_NOT_DIGIT: "a",
    code.CATEGORY_NOT_WORD: "-",
    code.CATEGORY_NOT_SPACE: "a",
}
_REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)


def test_every_pattern_reads_any_text_in_linear_time() -> None:
    drawn = every_pattern()
    slow = [told for one in drawn for told in _too_slow(one)]
    assert len(drawn) > 400 and not slow, "\n".join(slow)


def test_a_pattern_is_drawn_with_the_method_of_its_callers() -> None:
    drawn = {(one.place, one.method) for one in every_pattern()}
    assert ("seal.core.facts._CODE", "fullmatch") in drawn
    assert ("seal.core.facts._CODE", "finditer") not in drawn
    assert ("seal.core.secrets._PASSWORD", "finditer") in drawn


def test_a_pattern_of_quadratic_time_is_found() -> None:
    for written, method in (
        (r"\s+$", "search"),
        (r"(?:serial )?\d+\s+times", "search"),
        (r"one(?: two)*(?: \w+)*!", "match"),
        (r"\[(.*?)\]", "finditer"),
    ):
        assert [*_too_slow(Drawn("here", re.compile(written), method))], written
    assert not [*_too_slow(Drawn("here", re.compile(r"\s++$"), "fullmatch"))]


def test_work_of_quadratic_time_is_found() -> None:
    with pytest.raises(AssertionError, match="20000 took"):
        linear(lambda length: re.search(r"\s+$", " " * length + "x"), 20_000)
    linear(lambda length: re.search(r"\s+x", " " * length + "x"), 20_000)


def _too_slow(drawn: Drawn) -> Iterator[str]:
    """Yield a line on the text that a pattern reads too slowly, if there is one."""
    slowest, longest = -1.0, ("", "")
    for start, body in _texts(drawn.pattern):
        seconds = _seconds(drawn, start, body, LONG)
        if seconds > slowest:
            slowest, longest = seconds, (start, body)
        # Of what only seemed to grow, as others took the machine, one of four looks says so. What a
        # repeat of at most hundreds makes grow at first does not grow on with longer texts.
        if seconds >= ENDED or (
            seconds > TOO_SHORT
            and all(_growth(drawn, start, body, SHORT) > GROWTH for _ in range(4))
            and all(_growth(drawn, start, body, LONG) > GROWTH for _ in range(4))
        ):
            yield f"{drawn.method} {drawn.place}: {start!r} and many {body!r}: {seconds:.3f} s"
            return
    try:
        linear(lambda length: _seconds(drawn, *longest, length), LONGEST)
    except AssertionError as slow:
        yield f"{drawn.method} {drawn.place}: {longest}: {slow}"


def _growth(drawn: Drawn, start: str, body: str, short: int) -> float:
    """How many times as long as the short text one four times as long takes."""
    lengths = short, short * LONG // SHORT
    taken = [min(_seconds(drawn, start, body, length) for _ in range(3)) for length in lengths]
    if taken[1] >= ENDED:
        return float("inf")
    return 0.0 if taken[1] < TOO_SHORT else taken[1] / max(taken[0], 1e-6)


def _seconds(drawn: Drawn, start: str, body: str, length: int) -> float:
    """Return the processor time of one call, which is ended after a while."""
    text: Any = (start + body * (length // len(body) + 1))[:length] + "\0"
    if isinstance(drawn.pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")
    asked = getattr(drawn.pattern, drawn.method)
    most = ENDED if length < LONGEST else 20.0
    enabled = gc.isenabled()
    gc.disable()
    began = time.process_time()
    try:
        with _ended_after(most):
            found = asked(text)
            for _ in found if drawn.method == "finditer" else ():
                pass
    except TimeoutError:
        return most
    finally:
        if enabled:
            gc.enable()
    return time.process_time() - began


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# -- Texts made of a pattern.


def _texts(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """Return beginnings, and what is written over and over behind each."""
    written = pattern.pattern
    text = written if isinstance(written, str) else written.decode("latin-1")
    tree = parser.parse(text, pattern.flags & ~(0 if isinstance(written, str) else re.UNICODE))
    found = {("", sign) for sign in SIGNS}
    own = {sign for sign in text if not sign.isalnum() and sign not in "\\*+?|^$"}
    for before, body in _repeats(tree, ""):
        found |= {("", body), (before, body), ("", before + body)}
        found |= {(before, sign) for sign in {*own, " ", "a", "1", "a "}}
    return sorted(found)


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each repeat without a bound, and what it repeats."""
    for kind, held in tree:
        if kind in _REPEATS:
            _, most, body = held
            if most > 50:
                yield before, _example(body) or "a"
            yield from _repeats(body, before)
        elif kind is code.BRANCH:
            for branch in held[1]:
                yield from _repeats(branch, before)
        elif kind is code.SUBPATTERN:
            yield from _repeats(held[3], before)
        elif kind is code.ATOMIC_GROUP:
            yield from _repeats(held, before)
        elif kind in (code.ASSERT, code.ASSERT_NOT):
            yield from _repeats(held[1], before)
        before += _example([(kind, held)])


def _example(tree: Any) -> str:
    """Return a short text that a pattern takes, but for what it looks at ahead and behind."""
    text = ""
    for kind, held in tree:
        if kind is code.LITERAL:
            text += chr(held)
        elif kind in (code.NOT_LITERAL, code.ANY):
            text += "b" if held == ord("a") else "a"
        elif kind is code.IN:
            text += _member(held)
        elif kind is code.BRANCH:
            text += _example(held[1][0])
        elif kind is code.SUBPATTERN:
            text += _example(held[3])
        elif kind in _REPEATS:
            text += _example(held[2]) * held[0]
        elif kind is code.ATOMIC_GROUP:
            text += _example(held)
    return text


def _member(members: Any) -> str:
    if members[0][0] is code.NEGATE:
        return next((one for one in _ANY if not any(_is_in(one, part) for part in members)), "~")
    kind, held = members[0]
    if kind is code.CATEGORY:
        return _OF_CATEGORY[held]
    return chr(held if kind is code.LITERAL else held[0])


def _is_in(sign: str, part: tuple[Any, Any]) -> bool:
    kind, held = part
    if kind is code.LITERAL:
        return ord(sign) == held
    if kind is code.RANGE:
        return bool(held[0] <= ord(sign) <= held[1])
    return kind is code.CATEGORY and sign == _OF_CATEGORY[held]

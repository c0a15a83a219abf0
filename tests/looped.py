"""Many quick cases as one test: what pytest does around a test takes longer than such a case."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def every_case(
    names: str | Sequence[str], values: Iterable[Any], ids: object = None
) -> Callable[[Test], Test]:
    """Call a test with each case, as `pytest.mark.parametrize` does, but as one test.

    All cases are tried, and the failure names each one that failed. One above the other, as with
    pytest, these give every combination. The test may have no fixture: its cases would share it.

    Args:
        names: Arguments of the test: a text with commas, or a list.
        values: The cases.
        ids: Names of cases for `pytest.mark.parametrize`; here each is shown as it is.
    """
    alone = isinstance(names, str) and "," not in names
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    cases = [dict(zip(listed, _parts(case, alone), strict=True)) for case in values]
    assert cases, f"{names}: there is no case"

    def decorate(test: Test) -> Test:
        inner = getattr(test, "cases", [{}])
        body = getattr(test, "body", test)
        every = [{**first, **second} for first, second in itertools.product(cases, inner)]

        def looped() -> None:
            _try_all(body, every)

        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(looped, name, getattr(test, name))
        looped.cases, looped.body = every, body  # type: ignore[attr-defined]
        return looped

    return decorate


def _parts(case: Any, alone: bool) -> Sequence[Any]:
    if isinstance(case, type(pytest.param())):
        assert not case.marks, f"{case}: a case that is marked must be a test of its own"
        return case.values
    return [case] if alone else case


def _try_all(test: Test, cases: list[dict[str, Any]]) -> None:
    failed, skipped = [], []
    for case in cases:
        try:
            test(**case)
        except pytest.skip.Exception as skip:
            skipped.append(str(skip))
        except (Exception, pytest.fail.Exception):
            shown = ", ".join(f"{name}={value!r}" for name, value in case.items())
            failed.append(f"{shown}\n{traceback.format_exc()}")
    if len(skipped) == len(cases):
        pytest.skip(skipped[0])
    if failed:
        pytest.fail(f"{len(failed)} of {len(cases)} cases failed:\n\n" + "\n".join(failed), False)

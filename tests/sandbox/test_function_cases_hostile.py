"""Hostile and broken functions are contained, and each is named by its status."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox.hostile import HOSTILE, Hostile

from seal.sandbox.bubblewrap import BubblewrapSandbox, why_not
from seal.sandbox.function_cases import Case, Limits, Sandbox
from seal.sandbox.monty import MontySandbox

LIMITS = Limits(seconds=0.2, memory=96 << 20, recursion=200, spent=1)
UNHURRIED = replace(LIMITS, seconds=10.0)
"""For what should end by itself, on a machine that is busy."""
SPENT = {"timeout", "memory"}
KNOWN = {"pass", "wrong", "exception", "timeout", "memory", "no_function", "syntax", "unsupported"}


def status(sandbox: Sandbox, hostile: Hostile) -> str:
    """Return the status of a case over one row that expects none."""
    (outcome,) = sandbox.run(hostile.source, "f", [{"a": 1}], [Case({}, [])])
    assert outcome.status in KNOWN
    assert len(outcome.message) <= 300
    assert outcome.status in ("pass", "wrong") or outcome.message
    return outcome.status


def limits(named: str) -> Limits:
    return LIMITS if SPENT & expected(named) - {"memory"} else UNHURRIED


def expected(named: str) -> set[str]:
    return {"spent": SPENT, "ended": {*SPENT, "exception"}, "any": KNOWN}.get(named, {named})


@pytest.mark.parametrize("hostile", HOSTILE, ids=[each.name for each in HOSTILE])
def test_the_embedded_sandbox_names_it(hostile: Hostile) -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    assert status(MontySandbox(limits(hostile.monty)), hostile) in expected(hostile.monty)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "it works")
@pytest.mark.parametrize("hostile", HOSTILE, ids=[each.name for each in HOSTILE])
def test_bubblewrap_names_it(hostile: Hostile) -> None:
    assert status(BubblewrapSandbox(limits(hostile.bubblewrap)), hostile) in expected(
        hostile.bubblewrap
    )


def test_there_are_many_and_no_two_alike() -> None:
    assert len({each.name for each in HOSTILE}) == len({each.source for each in HOSTILE})
    assert len(HOSTILE) >= 40


def test_nothing_reaches_the_harness() -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    before = dict(os.environ), Path.cwd()
    source = "import os\ndef f(table): os.environ.clear(); os.chdir('/'); return []"

    MontySandbox(LIMITS).run(source, "f", [], [Case({})])

    assert (dict(os.environ), Path.cwd()) == before

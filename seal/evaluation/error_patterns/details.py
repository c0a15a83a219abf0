"""What the details of a score tell of findings, for reports: each with its step and its faults."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from seal.core import JSON, shortened
from seal.core.validation import CallError
from seal.evaluation.calls import ArgumentFinding
from seal.evaluation.error_patterns.against_gold import GoldComparison, GoldFinding
from seal.evaluation.error_patterns.findings import LISTED, StepNote

LENGTH = 200
"""Characters that a text of many entries has at most, but for the count of those left out."""


NOTHING = "nothing"


_PLAIN = re.compile(r"(?!(?:true|false|null)$)[^\W\d][\w./-]{0,99}")
"""Texts that need no quotes: none that could be a number, or several words."""


_OF_NAMES = ("unknown_tool", "unknown_argument", "unparsable_arguments")
"""Faults of what was received as a name, or as the text of a call."""


def told_of(finding: StepNote) -> dict[str, JSON]:
    """Return a finding for a report: where it is, and what is wrong."""
    told: dict[str, JSON] = {"step": finding.step, "pattern": finding.kind}
    if finding.call is not None:
        told |= {"call": finding.call.id, "name": shortened_name(finding.call.name)}
    if finding.faults:
        told["faults"] = [_fault(fault.kind, fault) for fault in finding.faults[:LISTED]]
    if finding.earlier is not None:
        told["earlier"] = finding.earlier
    if finding.service is not None:
        told["service"] = finding.service
    if finding.refusal:
        told["refusal"] = finding.refusal
    return told


def _fault(kind: str, fault: CallError | ArgumentFinding) -> dict[str, JSON]:
    received = None if fault.received is None else value_words(fault.received)
    if fault.received == "" and kind in _OF_NAMES:
        received = NOTHING
    return {
        "kind": kind,
        "name": shortened_name(fault.name),
        "expected": None if fault.expected is None else expected_words(fault.expected),
        "received": received,
    }


def expected_words(value: Any) -> str:
    """Return what was expected: one value, or the entries of a list or a map with commas.

    Entries that have no room are counted, as in `get_work and 12 more`; no name is cut.
    """
    if isinstance(value, dict):
        return _joined([f"{name}: {value_words(entry)}" for name, entry in value.items()])
    if isinstance(value, list | tuple):
        return _joined([value_words(entry) for entry in value])
    return value_words(value)


def value_words(value: Any) -> str:
    """Return one value: a name as it is, other texts in quotes, and the rest as JSON."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else shortened(value)
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts; nested too deep
        return shortened(value)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 3]}..."


def _joined(entries: Sequence[str]) -> str:
    if not entries:
        return NOTHING
    shown = list(entries[:1])
    length = len(shown[0])
    for entry in entries[1:]:
        length += len(entry) + 2
        if length > LENGTH:
            break
        shown.append(entry)
    left = len(entries) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def shortened_name(name: str) -> str:
    """Return a name as it is; one that a model made a text of, at most 200 characters."""
    return name if len(name) <= 200 else f"{name[:197]}..."


def gold_details(pattern: str, compared: GoldComparison) -> dict[str, Any]:
    """Return the details of a score by gold calls: how many were not made, or made wrong."""
    found = [finding for finding in compared.findings if finding.pattern == pattern]
    return {
        "errors": len(found),
        "gold": compared.gold,
        "plan": compared.plan,
        "findings": list(map(_gold_told, found[:LISTED])),
    }


def _gold_told(finding: GoldFinding) -> dict[str, JSON]:
    told: dict[str, JSON] = {
        "pattern": finding.pattern,
        "gold": finding.milestone,
        "name": finding.tool,
        "cause": finding.cause,
    }
    if finding.step is not None:
        told["step"] = finding.step
    if finding.faults:
        told["faults"] = [_fault(fault.problem, fault) for fault in finding.faults[:LISTED]]
    return told

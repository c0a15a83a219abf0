"""What a candidate must be, whoever proposed it.

feasibility    its gold calls are valid
constraint     of a constraint: three or four values, all stated, whose calls bring something; of a
               paraphrase: every value, number and name of the seed is stated, and none is new; of
               an irrelevant one: no offered tool serves what it asks

Near-duplicates and diversity are a matter of the whole set
(`seal.benchmarks.toolscan.query_generation.selection`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from seal.benchmarks.toolscan.queries import IRRELEVANCE
from seal.benchmarks.toolscan.query_generation.bench import (
    Bench,
    CallFailedError,
    gold_calls,
    is_empty,
)
from seal.benchmarks.toolscan.query_generation.candidates import (
    LEAST_CONSTRAINTS,
    MOST_CONSTRAINTS,
    Candidate,
    GoldCall,
)
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.settings import Kind
from seal.benchmarks.toolscan.query_generation.stated import days, is_stated, names, numbers
from seal.benchmarks.toolscan.query_generation.vocabulary import Vocabulary, content_words
from seal.core.errors import shortened
from seal.core.text import words
from seal.core.types import JSON, Tool, ToolCall
from seal.core.validation import CallValidator

LONGEST = 4000
"""Characters of a text."""
_SHARE = 0.5
"""Of the words of a claim, as many may be those of one tool; more, and the tool may serve it."""


class Fault(NamedTuple):
    """Why a candidate is not taken."""

    filter: str
    reason: str
    """To count it under."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """A candidate that every filter of single queries lets pass."""

    results: tuple[JSON, ...] = ()
    """Of a constraint: what its calls bring."""


class Filters:
    """The filters of single queries.

    Args:
        tools: The pool by id.
        bench: Makes gold calls.
    """

    def __init__(self, tools: Mapping[str, Tool], bench: Bench) -> None:
        self._tools = tools
        self._bench = bench
        self._validator = CallValidator(tools)
        self._vocabulary = Vocabulary(tools)

    def judge(self, kind: Kind, candidate: Candidate, seed: Seed) -> Passed | Fault:
        """Return what a candidate brings, or the first filter that it does not pass."""
        if not words(candidate.text):
            return Fault("feasibility", "no_words")
        if len(candidate.text) > LONGEST:
            return Fault("feasibility", "too_long", f"{len(candidate.text)} characters")
        if kind == "constraint":
            return self._constraint(candidate, seed)
        if kind == "paraphrase":
            return paraphrase_fault(candidate.text, seed) or Passed()
        return self._irrelevance(candidate, seed) or Passed()

    def _constraint(self, candidate: Candidate, seed: Seed) -> Passed | Fault:
        for call in candidate.calls:
            fault = self._invalid(call, seed)
            if fault is not None:
                return fault
        size = sum(len(call.arguments) for call in candidate.calls)
        if not LEAST_CONSTRAINTS <= size <= MOST_CONSTRAINTS:
            told = f"{size}, expected {LEAST_CONSTRAINTS} or {MOST_CONSTRAINTS}"
            return Fault("constraint", "number_of_constraints", told)
        for call in candidate.calls:
            for name, value in call.arguments.items():
                if not is_stated(value, candidate.text, name):
                    return Fault("constraint", "value_not_stated", f"{name}: {shortened(value)}")
        try:
            results = self._bench.results(seed.task, candidate.calls)
        except CallFailedError as error:
            return Fault("constraint", "call_fails", str(error))
        if any(map(is_empty, results)):
            return Fault("constraint", "empty_result")
        return Passed(tuple(results))

    def _invalid(self, call: GoldCall, seed: Seed) -> Fault | None:
        gold = {called.tool for plan in seed.plans for called in plan}
        tool = self._tools.get(call.tool)
        if tool is None or call.tool not in gold | set(seed.offered):
            return Fault("feasibility", "tool_not_offered", shortened(call.tool))
        made = ToolCall("call_0", tool.name, call.arguments, tool=tool.id)
        error = self._validator.check(made)
        return None if error is None else Fault("feasibility", error.kind, error.message)

    def _irrelevance(self, candidate: Candidate, seed: Seed) -> Fault | None:
        if candidate.reason not in IRRELEVANCE:
            return Fault("constraint", "unknown_irrelevance", shortened(candidate.reason))
        claim = words(candidate.claim)
        if not claim or not is_stated(candidate.claim, candidate.text):
            return Fault("constraint", "claim_not_stated", shortened(candidate.claim))
        if candidate.reason == "unrelated_request":
            claim = words(candidate.text)
        elif not set(content_words(seed.text)) & set(content_words(candidate.text)):
            return Fault("constraint", "not_of_its_seed")
        if candidate.reason == "foreign_parameter":
            fault = self._not_foreign(candidate, seed)
            if fault is not None:
                return fault
        if candidate.about:
            heard = self._vocabulary.heard(candidate.about, seed.offered)
        else:
            heard = self._vocabulary.serving(claim, seed.offered, _SHARE)
        return Fault("constraint", "supported_by_a_tool", heard) if heard else None

    def _not_foreign(self, candidate: Candidate, seed: Seed) -> Fault | None:
        tool, name = (*candidate.foreign, "", "")[:2]
        declared = self._tools[tool].parameters.get("properties") if tool in self._tools else None
        if not isinstance(declared, dict) or name not in declared:
            return Fault("constraint", "no_such_parameter", shortened(candidate.foreign))
        for own in seed.offered:
            properties = self._tools[own].parameters.get("properties") or {}
            if any(set(words(name)) == set(words(known)) for known in properties):
                return Fault("constraint", "supported_by_a_tool", own)
        return Fault("constraint", "supported_by_a_tool", tool) if tool in seed.offered else None


def paraphrase_fault(text: str, seed: Seed) -> Fault | None:
    """Return what a paraphrase lost of its seed, or added to it; None: nothing.

    A gold value that the seed does not state, for it follows from words or from an earlier result,
    need not be stated; numbers, days and names of the seed always do, and there may be no others.
    """
    if words(text) == words(seed.text):
        return Fault("constraint", "same_words")
    for call in (call for plan in seed.plans for call in gold_calls(plan)):
        for name, value in call.arguments.items():
            if is_stated(value, seed.text, name) and not is_stated(value, text, name):
                return Fault("constraint", "value_not_stated", f"{name}: {shortened(value)}")
    named, told = _named(seed.text), _named(text)
    lost = [value for value in named if value not in told and not is_stated(value, text)]
    if lost:
        return Fault("constraint", "value_not_stated", ", ".join(map(str, lost)))
    added = [value for value in told if value not in named and not is_stated(value, seed.text)]
    return Fault("constraint", "value_added", ", ".join(map(str, added))) if added else None


def _named(text: str) -> Sequence[JSON]:
    """Return numbers, days and names of a text, sorted; the numbers of days are not repeated."""
    named_days = days(text)
    of_days = {float(part) for day in named_days for part in day.split("-")}
    plain = [n for n in set(numbers(text)) if n not in of_days and -n not in of_days]
    whole = [int(n) if n.is_integer() else n for n in sorted(plain)]
    return [*whole, *sorted(named_days), *sorted(n for n in names(text) if not n.isdigit())]

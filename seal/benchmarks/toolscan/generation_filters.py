"""What a candidate must be, and which candidates are kept.

feasibility      its gold calls are valid
constraint       of a constraint: three or four values, all stated, whose calls bring something; of
                 a paraphrase: every value, number and name of the seed is stated, and none is new;
                 of an irrelevant one: no offered tool serves what it asks
near_duplicate   three successive words at a time, 70 % of them or more are those of a seed's text
                 or of a query that was kept. Of an irrelevant query its own seed does not count: it
                 says the seed's words and more. A constraint may not have the calls of one that was
                 kept.
diversity        at most a tenth of the queries of a kind that are wanted (at least `LEAST`) begin
                 with the same three words, unless the seed does too
quota            as many are kept of a seed and kind as were asked for; the others are spare
review           a person refused it, or edited it so that it does not pass

Candidates are taken seed by seed in the order of the pool, so equal candidates give equal sets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from seal.benchmarks.toolscan.generation_seeds import (
    LEAST_CONSTRAINTS,
    MOST_CONSTRAINTS,
    Bench,
    CallFailedError,
    Candidate,
    Draft,
    GoldCall,
    Kind,
    Likenesses,
    Seed,
    Vocabulary,
    content_words,
    gold_calls,
    is_empty,
    names,
)
from seal.benchmarks.toolscan.importer import IRRELEVANCE
from seal.core import JSON, Tool, ToolCall, shortened
from seal.core.quantities import MONTHS, Day, Time, numbers, read
from seal.core.statements import Sense, states
from seal.core.text import words
from seal.core.validation import CallValidator
from seal.core.values import canonical_json

LONGEST = 4000
"""Characters of a text."""
SHARE = 0.1
LEAST = 5
_SERVED = 0.5
"""Of the words of a claim, as many may be those of one tool; more, and the tool may serve it."""
_OPENING = 3


class Fault(NamedTuple):
    """Why a candidate is not taken."""

    filter: str
    reason: str
    """To count it under."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A candidate with its place."""

    id: str
    kind: Kind
    seed: Seed
    candidate: Candidate
    results: tuple[JSON, ...] = ()
    """Of a constraint that passed: what its calls bring."""

    @property
    def text(self) -> str:
        """The candidate's."""
        return self.candidate.text

    @property
    def calls_key(self) -> bytes:
        """What tells the calls from others."""
        return canonical_json([list(call) for call in self.candidate.calls])

    def rejected(self, fault: Fault) -> Rejected:
        """Return the record of a query that is not kept."""
        return Rejected(self.id, self.kind, self.seed.id, self.text, *fault)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A candidate that is not kept: a line of rejected.jsonl."""

    id: str
    kind: Kind
    seed: str
    text: str
    filter: str
    reason: str
    detail: str


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

    def judge(self, query: Query) -> Query | Fault:
        """Return a query with what it brings, or the first filter that it does not pass."""
        if not words(query.text):
            return Fault("feasibility", "no_words")
        if len(query.text) > LONGEST:
            return Fault("feasibility", "too_long", f"{len(query.text)} characters")
        if query.kind == "constraint":
            return self._constraint(query)
        if query.kind == "paraphrase":
            return paraphrase_fault(query.text, query.seed) or query
        return self._irrelevance(query.candidate, query.seed) or query

    def _constraint(self, query: Query) -> Query | Fault:
        calls = query.candidate.calls
        fault = next(filter(None, (self._invalid(call, query.seed) for call in calls)), None)
        if fault is not None:
            return fault
        size = sum(len(call.arguments) for call in calls)
        if not LEAST_CONSTRAINTS <= size <= MOST_CONSTRAINTS:
            told = f"{size}, expected {LEAST_CONSTRAINTS} or {MOST_CONSTRAINTS}"
            return Fault("constraint", "number_of_constraints", told)
        for name, value in (item for call in calls for item in call.arguments.items()):
            if not states(query.text, value, Sense(name)):
                return Fault("constraint", "value_not_stated", f"{name}: {shortened(value)}")
        try:
            results = self._bench.results(query.seed.task, calls)
        except CallFailedError as error:
            return Fault("constraint", "call_fails", str(error))
        if any(map(is_empty, results)):
            return Fault("constraint", "empty_result")
        return replace(query, results=tuple(results))

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
        if not claim or not states(candidate.text, candidate.claim):
            return Fault("constraint", "claim_not_stated", shortened(candidate.claim))
        if candidate.reason == "unrelated_request":
            claim = words(candidate.text)
        elif not set(content_words(seed.text)) & set(content_words(candidate.text)):
            return Fault("constraint", "not_of_its_seed")
        if candidate.reason == "foreign_parameter":
            fault = self._not_foreign(candidate, seed)
            if fault is not None:
                return fault
        heard = self._vocabulary.serving(claim, seed.offered, _SERVED)
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

    A gold value that the seed does not state follows from words or from an earlier result, and need
    not be stated. Numbers, days and names of the seed must be stated, and there may be no others.
    """
    if words(text) == words(seed.text):
        return Fault("constraint", "same_words")
    for call in (call for plan in seed.plans for call in gold_calls(plan)):
        for name, value in call.arguments.items():
            sense = Sense(name)
            if states(seed.text, value, sense) and not states(text, value, sense):
                return Fault("constraint", "value_not_stated", f"{name}: {shortened(value)}")
    named, told = _named(seed.text), _named(text)
    lost = [value for value in named if value not in told and not states(text, value)]
    if lost:
        return Fault("constraint", "value_not_stated", ", ".join(map(str, lost)))
    added = [value for value in told if value not in named and not states(seed.text, value)]
    return Fault("constraint", "value_added", ", ".join(map(str, added))) if added else None


def _named(text: str) -> Sequence[JSON]:
    """Return numbers, days, times and names of a text, sorted."""
    moments = {_told(value) for value in read(text).values if isinstance(value, (Day, Time))}
    plain = sorted(set(map(float, numbers(text))))
    whole = [int(n) if n.is_integer() else n for n in plain]
    return [*whole, *sorted(moments), *sorted(n for n in names(text) if not n.isdigit())]


def _told(moment: Day | Time) -> str:
    if isinstance(moment, Time):
        return f"{moment.hour:02d}:{moment.minute:02d}"
    if moment.year is None:
        return f"{moment.day} {MONTHS[(moment.month or 1) - 1]}"
    return moment.calendar.isoformat()


@dataclass(frozen=True, slots=True)
class Word:
    """What a person says of a query."""

    text: str
    accept: bool
    note: str


class Selection:
    """Keeps candidates one after the other.

    Args:
        filters: Of single queries.
        seeds: All, for their texts.
        per_seed: Queries that are wanted of each seed and kind.
    """

    def __init__(self, filters: Filters, seeds: Sequence[Seed], per_seed: int) -> None:
        self.kept: list[Query] = []
        self.rejected: list[Rejected] = []
        self._filters = filters
        self._per_seed = per_seed
        self._cap = max(LEAST, math.ceil(SHARE * len(seeds) * per_seed))
        self._openings: Counter[tuple[Kind, str]] = Counter()
        """How many queries of a kind have an opening."""
        self._calls: set[bytes] = set()
        self._alike = Likenesses()
        for seed in seeds:
            self._alike.add(f"seed:{seed.id}", seed.text)

    def take(self, draft: Draft, seed: Seed) -> None:
        """Keep the candidates of a draft that pass, and note why the others do not."""
        kept = 0
        for number, candidate in enumerate(draft.candidates):
            query = Query(f"{draft.id}/{number}", draft.kind, seed, candidate)
            found = Fault("quota", "spare") if kept == self._per_seed else self._judged(query)
            if isinstance(found, Fault):
                self.rejected.append(query.rejected(found))
            else:
                self._keep(found)
                kept += 1
        for number, answer in enumerate(draft.unusable):
            query = Query(f"{draft.id}/unusable-{number}", draft.kind, seed, Candidate(answer.text))
            self.rejected.append(query.rejected(Fault("unusable", answer.reason)))

    def review(self, said: Mapping[str, Word]) -> None:
        """Reject what a person refused, and put their words, where these pass, for a query's own.

        Args:
            said: By the query's id; one that is missing is accepted.
        """
        kept = []
        for query in self.kept:
            word = said.get(query.id, Word(query.text, True, ""))
            if not word.accept:
                self.rejected.append(query.rejected(Fault("review", "refused", word.note)))
            elif word.text == query.text:
                kept.append(query)
            else:
                edited = _edited(query, word.text)
                found = self._filters.judge(edited)
                if not isinstance(found, Fault):
                    found = self._near(edited, query.id) or found
                if isinstance(found, Fault):
                    told = f"{found.filter}: {found.detail}".rstrip(": ")
                    fault = Fault("review", f"edited_{found.reason}", told)
                    self.rejected.append(edited.rejected(fault))
                else:
                    kept.append(found)
        self.kept = kept

    def _judged(self, query: Query) -> Query | Fault:
        """Return a query that passes and fits those that were kept, or why it does not."""
        found = self._filters.judge(query)
        if isinstance(found, Fault):
            return found
        near = self._near(query)
        if near is not None:
            return near
        if query.candidate.calls and query.calls_key in self._calls:
            return Fault("near_duplicate", "of_the_calls_of_a_query")
        opening = _opening(query.text)
        common = self._openings[query.kind, opening] >= self._cap
        if common and opening != _opening(query.seed.text):
            return Fault("diversity", "opening", opening)
        return found

    def _near(self, query: Query, apart: str = "") -> Fault | None:
        """Return what a query's text is a near-duplicate of; None: of nothing.

        Args:
            query: The query.
            apart: Id of a kept query that does not count.
        """
        ignored = {f"query:{apart}"}
        if query.kind == "irrelevance":
            ignored.add(f"seed:{query.seed.id}")
        near = self._alike.nearest(query.text, ignored)
        if near is None:
            return None
        of = "of_a_seed" if near.startswith("seed:") else "of_a_query"
        return Fault("near_duplicate", of, near.partition(":")[2])

    def _keep(self, query: Query) -> None:
        self.kept.append(query)
        self._alike.add(f"query:{query.id}", query.text)
        self._openings[query.kind, _opening(query.text)] += 1
        if query.candidate.calls:
            self._calls.add(query.calls_key)


def counted_reasons(rejected: Iterable[Rejected]) -> dict[str, dict[str, int]]:
    """Return filter to reason to the number of queries, sorted."""
    found: dict[str, Counter[str]] = {}
    for one in rejected:
        found.setdefault(one.filter, Counter())[one.reason] += 1
    return {name: dict(sorted(found[name].items())) for name in sorted(found)}


def _edited(query: Query, text: str) -> Query:
    """Return a query with a person's wording; of an unrelated request it is the whole claim."""
    candidate = replace(query.candidate, text=text)
    if candidate.reason == "unrelated_request":
        candidate = replace(candidate, claim=text)
    return replace(query, candidate=candidate)


def _opening(text: str) -> str:
    return " ".join(words(text)[:_OPENING])

"""Which candidates are kept: the filters of single queries, then those of the whole set.

Candidates are taken seed by seed in the order of the pool, so equal candidates give equal sets.

near_duplicate   three successive words at a time, 70 % of them or more are those of a seed's text
                 or of a query that was kept. Of an irrelevant query its own seed does not count: it
                 says the seed's words and more. A constraint may not have the calls of one that was
                 kept.
diversity        at most a tenth of the queries of a kind that are wanted (at least `LEAST`) have
                 one template, and as many begin with the same three words, unless the seed does too
quota            as many are kept of a seed and kind as were asked for; the others are spare
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from seal.benchmarks.toolscan.query_generation.candidates import Candidate, Draft
from seal.benchmarks.toolscan.query_generation.filters import Fault, Filters, Passed
from seal.benchmarks.toolscan.query_generation.likeness import Likenesses
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.settings import Kind
from seal.core.canonical import canonical_json
from seal.core.text import words

SHARE = 0.1
LEAST = 5
_OPENING = 3


@dataclass(frozen=True, slots=True)
class Query:
    """A candidate with its place, and what the filters found."""

    id: str
    kind: Kind
    seed: Seed
    candidate: Candidate
    passed: Passed = field(default_factory=Passed)


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
        self._templates: Counter[tuple[Kind, str]] = Counter()
        self._openings: Counter[tuple[Kind, str]] = Counter()
        self._calls: set[bytes] = set()
        self._alike = Likenesses()
        for seed in seeds:
            self._alike.add(_seed_key(seed), seed.text)

    def take(self, draft: Draft, seed: Seed) -> None:
        """Keep what of a draft passes, and note why the rest does not."""
        kept = 0
        for number, candidate in enumerate(draft.candidates):
            query = Query(f"{draft.id}/{number}", draft.kind, seed, candidate)
            if kept == self._per_seed:
                self._reject(query, Fault("quota", "spare"))
                continue
            found = self._filters.judge(draft.kind, candidate, seed)
            fault = found if isinstance(found, Fault) else self.fault(query)
            if fault is None and isinstance(found, Passed):
                self._keep(replace(query, passed=found))
                kept += 1
            elif fault is not None:
                self._reject(query, fault)
        for number, answer in enumerate(draft.unusable):
            own = f"{draft.id}/unusable-{number}"
            self.rejected.append(
                Rejected(own, draft.kind, seed.id, answer.text, "unusable", answer.reason, "")
            )

    def fault(self, query: Query) -> Fault | None:
        """Return why a query does not fit those that were kept; None: it does."""
        near = self.near(query)
        if near is not None:
            return near
        if query.candidate.calls and _calls(query) in self._calls:
            return Fault("near_duplicate", "of_the_calls_of_a_query")
        template = query.candidate.template
        if template and self._templates[query.kind, template] >= self._cap:
            return Fault("diversity", "template", template)
        opening = _opening(query.candidate.text)
        own = opening == _opening(query.seed.text)
        if not own and self._openings[query.kind, opening] >= self._cap:
            return Fault("diversity", "opening", opening)
        return None

    def near(self, query: Query, *apart: str) -> Fault | None:
        """Return what a query's text is a near-duplicate of; None: of nothing.

        Args:
            query: The query.
            apart: Ids of kept queries that do not count.
        """
        ignored = {f"query:{own}" for own in apart}
        if query.kind == "irrelevance":
            ignored.add(_seed_key(query.seed))
        near = self._alike.nearest(query.candidate.text, ignored)
        if near is None:
            return None
        of = "of_a_seed" if near.startswith("seed:") else "of_a_query"
        return Fault("near_duplicate", of, near.partition(":")[2])

    def _keep(self, query: Query) -> None:
        self.kept.append(query)
        self._alike.add(f"query:{query.id}", query.candidate.text)
        self._templates[query.kind, query.candidate.template] += 1
        self._openings[query.kind, _opening(query.candidate.text)] += 1
        if query.candidate.calls:
            self._calls.add(_calls(query))

    def _reject(self, query: Query, fault: Fault) -> None:
        self.rejected.append(rejection(query, fault))


def rejection(query: Query, fault: Fault) -> Rejected:
    """Return the record of a query that is not kept."""
    text = query.candidate.text
    return Rejected(query.id, query.kind, query.seed.id, text, *fault)


def counted(rejected: Iterable[Rejected]) -> Mapping[str, Mapping[str, int]]:
    """Return filter to reason to the number of queries, sorted."""
    found: dict[str, Counter[str]] = {}
    for one in rejected:
        found.setdefault(one.filter, Counter())[one.reason] += 1
    return {name: dict(sorted(found[name].items())) for name in sorted(found)}


def _seed_key(seed: Seed) -> str:
    return f"seed:{seed.id}"


def _opening(text: str) -> str:
    return " ".join(words(text)[:_OPENING])


def _calls(query: Query) -> bytes:
    return canonical_json([list(call) for call in query.candidate.calls])

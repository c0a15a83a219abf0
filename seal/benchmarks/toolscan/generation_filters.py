"""Seeds and proposed queries; their gold calls, made; what a query must be, and which are kept."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from seal.benchmarks.toolscan.importer import IRRELEVANCE
from seal.core import (
    JSON,
    Goal,
    SealError,
    Simulator,
    Task,
    Tool,
    ToolCall,
    UsageError,
    shortened,
)
from seal.core.conditions import Called
from seal.core.environment import EnvironmentFactory
from seal.core.quantities import MONTHS, Day, Time, days, numbers, read
from seal.core.settings import Count, Within, check_fields, checked_names
from seal.core.statements import Sense, states
from seal.core.text import shipped_words, words
from seal.core.validation import CallValidator
from seal.core.values import canonical_json
from seal.environments.replay import NAME as REPLAY
from seal.environments.world import WorldSetup, build_worlds
from seal.experiments.generation import WriterGroup
from seal.pools.lookup import environments_beside
from seal.pools.own_benchmark import GoldCheck
from seal.pools.pool import StoredPool
from seal.simulator_cache.answer_cache import Fallback
from seal.simulator_cache.simulators import (
    GoldAnswers,
    SimulatedEnvironments,
    Template,
    recorded_calls,
)

# -- The tasks that queries are made of: one request, and gold calls that say how it is met.

MOST_OFFERED = 20
"""Tools that an irrelevant query offers where its seed offers none itself."""


@dataclass(frozen=True)
class Seed:
    """One task that queries are made of."""

    task: Task
    tools: Mapping[str, Tool]
    """The pool by id."""
    offered: tuple[str, ...]
    """Its environment: tools that it offers, else those of its gold tools' categories."""

    @property
    def id(self) -> str:
        """The task's."""
        return self.task.id

    @property
    def goal(self) -> Goal:
        """The one goal."""
        return self.task.goals[0]

    @property
    def text(self) -> str:
        """The request."""
        return self.goal.text

    @cached_property
    def plans(self) -> tuple[list[Called], ...]:
        """The gold calls of each plan."""
        return tuple(plan.calls() for plan in self.goal.plans or ())

    @property
    def environment(self) -> str:
        """Tag of that name, else the category of the first gold tool."""
        named = self.task.tags.get("environment")
        return str(named) if named else self.tools[self.plans[0][0].tool].category


def read_seeds(pool: StoredPool, tools: Mapping[str, Tool]) -> tuple[list[Seed], dict[str, int]]:
    """Return the seeds of a pool, and why its other tasks are none, with their number.

    Args:
        pool: With tasks.
        tools: The pool's, by id.

    Raises:
        UsageError: No task is a seed.
        DataError: The pool is malformed.
    """
    skipped: Counter[str] = Counter()
    seeds = []
    categories: dict[str, list[str]] = {}
    for tool in tools.values():
        categories.setdefault(tool.category, []).append(tool.id)
    check = GoldCheck(tools)
    for task in pool.tasks_if_any():
        reason = _unfit(task, check)
        if reason:
            skipped[reason] += 1
        else:
            seeds.append(Seed(task, tools, _offered(task, tools, categories)))
    if not seeds:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
        raise UsageError(
            f"{pool.name} has no seed ({told or 'no task'}): a seed is a task of one request whose "
            "gold is calls with their arguments; give another pool, such as toolscan-sample"
        )
    return seeds, dict(sorted(skipped.items()))


def _unfit(task: Task, check: GoldCheck) -> str:
    """Return why a task is no seed; empty: it is one."""
    if len(task.goals) > 1:
        return "several_goals"
    if task.history or task.persona is not None:
        return "part_of_a_talk"
    goal = task.goals[0]
    if not goal.plans:
        return "without_gold"
    if not goal.text.strip():
        return "without_text"
    conditions = [m.condition for plan in goal.plans for m in plan.milestones]
    calls = [c for c in conditions if isinstance(c, Called)]
    if len(calls) < len(conditions) or any(plan.minefields for plan in goal.plans):
        return "gold_of_a_state_or_talk"
    if not all(plan.calls() for plan in goal.plans):
        return "needs_no_call"
    if any(call.arguments is None for call in calls):
        return "gold_of_any_arguments"
    if any(check.refused(call) for call in calls):
        return "gold_that_its_schema_refuses"
    return ""


def _offered(
    task: Task, tools: Mapping[str, Tool], categories: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    goal = task.goals[0]
    if goal.offered is not None:
        return goal.offered
    gold = list(dict.fromkeys(tool for plan in goal.plans or () for tool in plan.tools()))
    beside = [other for tool in gold for other in categories[tools[tool].category]]
    return tuple(dict.fromkeys([*gold, *beside]))[: max(MOST_OFFERED, len(gold))]


# -- What a generation of queries is told, and queries as they are proposed, before any filter.

Kind = Literal["constraint", "paraphrase", "irrelevance"]
"""What is made of a seed. Source: Kokane et al. (2024), the augmentation of queries."""
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_CONSTRAINTS = 4
LEAST_CONSTRAINTS = 3


@dataclass(frozen=True, kw_only=True)
class QueryGroup:
    """Queries: which are made, of how many seeds."""

    kinds: Sequence[Kind] = KINDS
    """Kinds of queries: constraint (three or four on arguments), paraphrase (other words),
    irrelevance (what no tool serves)."""
    per_seed: Annotated[int, Within(least=1, most=100)] = 1
    """Most queries of each kind for a seed."""
    limit: Count | None = None
    """Most seeds; the same command may ask for more later."""
    seed: int = 0
    """Seed of chance; another one gives other queries."""


@dataclass(frozen=True, kw_only=True)
class ReviewGroup:
    """Pool and review: what is read and made, and what a person refuses."""

    name: str = ""
    """Name of the new pool.  [default: that of its folder]"""
    review: str | Path | None = field(default=None, metadata={"metavar": "FILE.csv"})
    """File for the queries that pass; refusals and wordings that you edit in it are used."""
    allow_code: Sequence[str] = ()


@checked_names
@dataclass(frozen=True, kw_only=True)
class QuerySettings(QueryGroup, WriterGroup, ReviewGroup):
    """Settings of one generation.

    Raises:
        UnknownNameError: A kind is unknown.
        UsageError: There is no kind, or a number is out of range.
    """

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        check_fields(self)
        if not self.kinds:
            raise UsageError(f"kinds: expected at least one of {', '.join(KINDS)}")

    def shape(self) -> dict[str, JSON]:
        """Return the settings that shape the queries."""
        return {"kinds": list(self.kinds), "per_seed": self.per_seed, "seed": self.seed}


class GoldCall(NamedTuple):
    """A call that a query asks for."""

    tool: str
    """Id."""
    arguments: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed query."""

    text: str
    template: str = ""
    """Empty; the grammar of earlier versions named its frame here."""
    calls: list[GoldCall] = field(default_factory=list)
    """Of a constraint, its gold; of the other kinds empty."""
    ask: str = ""
    """Empty; the grammar of earlier versions named a field of the result here."""
    reason: str = ""
    """Of an irrelevant one, why no tool serves it."""
    claim: str = ""
    """Of an irrelevant one: the words of the text that no tool serves."""
    about: list[str] = field(default_factory=list)
    """Empty; the grammar of earlier versions named words here of which no tool may speak."""
    foreign: list[str] = field(default_factory=list)
    """Of a foreign parameter: the tool that has it, and its name."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """An answer of a writer that is no candidate."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What was proposed for one seed and kind: a line of drafts.jsonl."""

    id: str
    """Kind, a slash, the seed's id."""
    seed: str
    kind: Kind
    candidates: list[Candidate]
    unusable: list[Unusable] = field(default_factory=list)

    @classmethod
    def of(cls, id: str, seed: str, kind: Kind, found: Sequence[Candidate | Unusable]) -> Draft:
        """Return the draft of what a writer found."""
        candidates = [one for one in found if isinstance(one, Candidate)]
        return cls(id, seed, kind, candidates, [one for one in found if isinstance(one, Unusable)])


# -- Gold calls made as a run makes them, and whether their results say anything.


class CallFailedError(Exception):
    """A gold call brought an error."""


class Bench:
    """Makes calls in a task's world, else by recorded or simulated answers.

    Args:
        pool: Its gold answers come before simulated ones.
        tools: The pool's, by id.
        tasks: Those whose gold answers count.
        allow_code: Modules into which tasks may name their worlds by a dotted path.
    """

    def __init__(
        self,
        pool: StoredPool,
        tools: Mapping[str, Tool],
        tasks: Sequence[Task],
        allow_code: Collection[str] = (),
    ) -> None:
        simulator: Simulator = Fallback(
            GoldAnswers(chain.from_iterable(map(recorded_calls, tasks))), Template()
        )
        self._setup = WorldSetup(
            folder=pool.folder,
            simulator=lambda: simulator,
            own=environments_beside(pool.benchmark),
            allow_code=tuple(allow_code),
        )
        self._tools = tools
        self._worlds: dict[str, EnvironmentFactory] = {"": SimulatedEnvironments(simulator, tools)}

    def results(self, task: Task, calls: Sequence[GoldCall]) -> list[JSON]:
        """Return what each call brings, made one after the other in a place opened for them.

        Raises:
            CallFailedError: A call brings an error.
            UsageError: The task's world is code that is not allowed, or does not load.
        """
        worlds = self._places(task)
        values = []
        try:
            environment = worlds.open(task, 0, ())
            for place, (tool, arguments) in enumerate(calls):
                call = ToolCall(f"call_{place}", self._tools[tool].name, arguments, tool=tool)
                (result,) = environment.call([call])
                if result.error is not None:
                    raise CallFailedError(str(result.error.get("message", result.content)))
                values.append(result.value)
        except SealError as error:
            raise CallFailedError(str(error)) from error
        return values

    def _places(self, task: Task) -> EnvironmentFactory:
        name = world_of(task)
        if name not in self._worlds:
            self._worlds[name] = build_worlds(name, self._setup, f"task {task.id!r}")
        return self._worlds[name]


def world_of(task: Task) -> str:
    """Return the world in which new calls can be made; a replay has no answer to such."""
    return "" if task.world == REPLAY else task.world


def gold_calls(plan: Sequence[Called]) -> list[GoldCall]:
    """Return a plan's calls as the oracle makes them."""
    return [GoldCall(call.tool, call.canonical_arguments()) for call in plan]


def is_empty(result: JSON) -> bool:
    """Tell whether a result says nothing: no value at all, or lists without any element."""
    lists = list(_lists(result))
    if lists:
        return not any(lists)
    return result is None or (isinstance(result, (str, dict)) and not result)


def _lists(value: Any) -> list[list[JSON]]:
    if isinstance(value, dict):
        return [inner for item in value.values() for inner in _lists(item)]
    if not isinstance(value, list):
        return []
    return [value, *(inner for item in value for inner in _lists(item))]


# -- What the texts of queries say: names, words of tools, and how alike they are.
#
# Texts are near-duplicates where their sets of three successive words have much in common.
# Source: Broder (1997), shingles.

_QUOTED = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")

SIZE = 3
"""Words of a shingle."""
THRESHOLD = Fraction(7, 10)
"""Similarity from which on a text is a near-duplicate."""


def names(text: str) -> set[str]:
    """Return the words of a text that are names, codes or quoted, in lower case.

    Words with a capital that do not begin a sentence, words with digits, and quoted ones.
    """
    return {*_names_of(text), *(word for quoted in _QUOTED.findall(text) for word in words(quoted))}


def _names_of(text: str) -> Iterator[str]:
    beginning = True
    whole = read(text)
    ends = [0, *(place for _, *places in days(whole) for place in places), len(whole.plain)]
    undated = " ".join(whole.said(*part) for part in zip(ends[::2], ends[1::2], strict=True))
    for token in re.findall(r"\S+", undated):
        core = token.strip("\"'“”‘’().,;:!?")
        if core and (any(c.isdigit() for c in core) or (not beginning and core[0].isupper())):
            for word in words(core.removesuffix("'s").removesuffix("’s")):
                if len(word) > 1 or word.isdigit():
                    yield word
        beginning = token.endswith((".", "!", "?", ":", "—", "-")) or not core


def shingles(text: str) -> frozenset[str]:
    """Return the runs of `SIZE` words of a text; of a shorter one, all its words as one."""
    said = words(text)
    if not said:
        return frozenset([text.strip()])
    runs = max(1, len(said) - SIZE + 1)
    return frozenset(" ".join(said[at : at + SIZE]) for at in range(runs))


def likeness(left: frozenset[str], right: frozenset[str]) -> Fraction:
    """Return the Jaccard similarity of two sets of shingles, in [0, 1]."""
    common = len(left & right)
    return Fraction(common, len(left) + len(right) - common)


class Likenesses:
    """Texts that were kept, searched for near-duplicates.

    Args:
        threshold: In (0, 1].
    """

    def __init__(self, threshold: Fraction = THRESHOLD) -> None:
        self._threshold = threshold
        self._kept: list[tuple[str, frozenset[str]]] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        """Shingle to the positions of the texts that have it."""

    def add(self, own: str, text: str) -> None:
        """Keep a text under an id."""
        made = shingles(text)
        for shingle in made:
            self._places[shingle].append(len(self._kept))
        self._kept.append((own, made))

    def nearest(self, text: str, apart: Collection[str] = ()) -> str | None:
        """Return the id of the kept text most like this one, at least as like as the threshold.

        Args:
            text: If several are equally like it, the first that was kept counts.
            apart: Ids that do not count.
        """
        asked = shingles(text)
        places = sorted({place for one in asked for place in self._places.get(one, ())})
        held = (self._kept[place] for place in places)
        alike = [(likeness(asked, kept), own) for own, kept in held if own not in apart]
        share, nearest = max(alike, key=itemgetter(0), default=(0, None))
        return nearest if share >= self._threshold else None


class Vocabulary:
    """The words of each tool of a pool.

    Args:
        tools: By id.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._of: dict[str, frozenset[str]] = {}

    def serving(self, claim: Iterable[str], offered: Iterable[str], share: float) -> str:
        """Return the first offered tool that speaks of this share of a claim; empty: none does."""
        asked = {stem(word) for word in claim} - _common()
        least = max(1.0, share * len(asked))
        return next((t for t in offered if len(asked & self._words(t)) >= least), "")

    def _words(self, own: str) -> frozenset[str]:
        if own not in self._of:
            tool = self._tools[own]
            texts = [tool.name, tool.description, *_texts(tool.parameters)]
            self._of[own] = frozenset(stem(word) for text in texts for word in words(text))
        return self._of[own]


def content_words(text: str) -> list[str]:
    """Return the stems of a text's words that are no common ones, in order."""
    return [own for own in map(stem, words(text)) if own not in _common()]


def stem(word: str) -> str:
    """Return a word without the ending of a plural."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _texts(schema: Any) -> Iterable[str]:
    """Yield names, descriptions and choices of a schema."""
    if isinstance(schema, dict):
        for name, inner in schema.items():
            if name in ("description", "title") and isinstance(inner, str):
                yield inner
            elif name == "properties" and isinstance(inner, dict):
                yield from map(str, inner)
                yield from _texts(list(inner.values()))
            elif name == "enum" and isinstance(inner, list):
                yield from map(str, inner)
            else:
                yield from _texts(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _texts(inner)


@cache
def _common() -> frozenset[str]:
    return frozenset(map(stem, shipped_words(__package__, "common_words.txt")))


# -- What a candidate must be, and which candidates are kept.
#
# - feasibility: its gold calls are valid.
# - constraint: of a constraint, three or four values, all stated, whose calls bring something; of a
#   paraphrase, every value, number and name of the seed is stated, and none is new; of an
#   irrelevant one, no offered tool serves what it asks.
# - near_duplicate: three successive words at a time, 70 % of them or more are those of a seed's
#   text or of a query that was kept. Of an irrelevant query its own seed does not count: it says
#   the seed's words and more. A constraint may not have the calls of one that was kept.
# - diversity: at most a tenth of the queries of a kind that are wanted (at least `LEAST`) begin
#   with the same three words, unless the seed does too.
# - quota: as many are kept of a seed and kind as were asked for; the others are spare.
# - review: a person refused it, or edited it so that it does not pass.
#
# Candidates are taken seed by seed in the order of the pool, so equal candidates give equal sets.

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

"""Seeds and proposed queries; their gold calls, made; near duplicates of texts."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from seal.core import (
    JSON,
    Goal,
    Milestone,
    Plan,
    SealError,
    Simulator,
    Task,
    Tool,
    ToolCall,
    UsageError,
)
from seal.core.conditions import Called
from seal.core.environment import EnvironmentFactory
from seal.core.quantities import days, read
from seal.core.schemas import schema_validator
from seal.core.settings import Count, Within, check_fields, checked_names
from seal.core.text import shipped_words, words
from seal.core.values import derive_seed
from seal.environments.replay import NAME as REPLAY
from seal.environments.world import WorldSetup, build_worlds
from seal.experiments.generation import WriterGroup
from seal.pools.lookup import environments_beside
from seal.pools.own_benchmark import GoldCheck, admits
from seal.pools.pool import StoredPool
from seal.simulator_cache.answer_cache import Fallback
from seal.simulator_cache.plausible import UnsatisfiableError, Writer
from seal.simulator_cache.simulators import (
    GoldAnswers,
    SimulatedEnvironments,
    Template,
    recorded_calls,
)

# -- The tasks that queries are made of: one request, and gold calls that say how it is met.

MOST_OFFERED = 20
"""Tools that an irrelevant query offers where its seed offers none itself."""
_MOST_MADE = 4
"""Arguments of a made call, unless more are required."""


@dataclass(frozen=True)
class Seed:
    """One task that queries are made of."""

    task: Task
    tools: Mapping[str, Tool]
    """The pool by id."""
    offered: tuple[str, ...]
    """Its environment: tools that it offers, else those of its gold tools' categories."""
    made: bool = False
    """True: its call was made of a tool, and a model says it in words."""

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


@dataclass(frozen=True, slots=True)
class Seeds:
    """All seeds of a pool."""

    seeds: list[Seed]
    skipped: dict[str, int]
    """Why tasks are no seeds, to their number."""


def read_seeds(pool: StoredPool, tools: Mapping[str, Tool], seed: int) -> Seeds:
    """Return the seeds of a pool: tasks with gold calls, else calls made of the tools.

    Calls that are made have no words yet.

    Args:
        pool: With tasks, or with tools alone.
        tools: The pool's, by id.
        seed: Shapes made calls.

    Raises:
        UsageError: No task is a seed, and none lacks its gold; or no tool can be called.
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
    if not seeds and not skipped.keys() - {"without_gold"}:
        made = (_made(tool, pool.name, seed, check) for tool in tools.values())
        for task in (task for task in made if task is not None):
            seeds.append(Seed(task, tools, _offered(task, tools, categories), made=True))
    if not seeds:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
        raise UsageError(
            f"{pool.name} has no seed ({told or 'no tool that can be called'}): a seed is a task "
            "of one request whose gold is calls with their arguments, or a tool of a pool without "
            "gold; give another pool, such as toolscan-sample"
        )
    return Seeds(seeds, dict(sorted(skipped.items())))


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


def _made(tool: Tool, pool: str, seed: int, check: GoldCheck) -> Task | None:
    """Return a task without words for a tool; None: its schema allows no call with arguments."""
    arguments = _arguments(tool, derive_seed(seed, "call", tool.id))
    if not arguments or check.fault(tool.id, arguments):
        return None
    goal = Goal("", (Plan((Milestone(Called.exact(tool.id, arguments)),)),), relevant=(tool.id,))
    return Task(f"made/{tool.id}", pool, (goal,))


def _arguments(tool: Tool, seed: int) -> dict[str, JSON]:
    """Return arguments that a tool's schema should allow; empty: none were found."""
    try:
        written = Writer(schema_validator(tool.parameters), {}, str(seed)).write()
    except UnsatisfiableError:
        return {}
    if not isinstance(written, dict):
        return {}
    required = [name for name in tool.parameters.get("required") or () if name in written]
    optional = [name for name in written if name not in required]
    names = {*required, *optional[: max(0, _MOST_MADE - len(required))]}
    declared = tool.parameters.get("properties") or {}
    chance = random.Random(seed)
    kept = {name: value for name, value in written.items() if name in names}
    return {name: _likely(declared.get(name), value, chance) for name, value in kept.items()}


def _likely(schema: JSON, value: JSON, chance: random.Random) -> JSON:
    """Return a day of the year to come instead of any digits in its form; other values as are."""
    if not isinstance(value, str) or not isinstance(schema, dict) or "enum" in schema:
        return value
    day = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    if len(value) >= len(day) and value[4:5] == value[7:8] == "-":
        moment = f"{day}T{chance.randint(8, 19):02}:30"
        return next((v for v in (day, moment, f"{moment}:00") if _fits(schema, v, value)), value)
    clock = f"{chance.randint(8, 19):02}:30"
    return clock if value[2:3] == ":" and _fits(schema, clock, value) else value


def _fits(schema: JSON, likely: str, value: str) -> bool:
    return len(likely) == len(value) and admits(schema, likely)


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


@dataclass(frozen=True, slots=True)
class Request:
    """A call in words, for a tool of a pool without tasks: a line of requests.jsonl."""

    id: str
    """The seed's."""
    text: str
    """Empty: no answer of the model states all that the call takes."""
    unusable: list[Unusable] = field(default_factory=list)


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

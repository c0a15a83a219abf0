"""What a training learns and what tests it: pools, splits, pairs with hard negatives, batches."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from seal.core import DataError, Task, UsageError
from seal.core.canonical import derive_seed
from seal.core.store import open_store
from seal.core.text import counted
from seal.experiments.retrieval.draws import Source, distinct, open_sources
from seal.experiments.retrieval.retrieval_settings import RetrievalSettings
from seal.experiments.training.gains import Tested
from seal.experiments.training.negatives import Mined, mine
from seal.experiments.training.splits import (
    NearDuplicate,
    Split,
    asked_of,
    near_duplicates,
    split,
    without,
)
from seal.experiments.training.training_settings import BY_BENCHMARK, TrainSettings
from seal.pools.lookup import Bench
from seal.retrievers.documents import documents
from seal.retrievers.training_pairs import GoldPair, GoldQuery, Relevance, batches_of, pairs_of


@dataclass(frozen=True, slots=True)
class Learned:
    """A pool that is trained on."""

    source: Source
    split: Split
    asked: tuple[GoldQuery, ...]
    """Its queries that are trained on."""
    documents: Mapping[str, str]
    """Tool id to its document."""

    def pairs(self, mined: Mined | None = None) -> tuple[GoldPair, ...]:
        """Return its pairs, with the hard negatives that were found."""
        hard = None if mined is None else mined.negatives
        return pairs_of(self.asked, self.documents, hard)

    @property
    def tools(self) -> int:
        """How many tools have documents that stand in pairs; several may have one document."""
        taken = {pair.document for pair in self.pairs()}
        needed = {tool for query in self.asked for tool in query.tools}
        return sum(self.documents[tool] in taken for tool in needed)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is trained, before anything is."""

    learned: tuple[Learned, ...]
    near: tuple[NearDuplicate, ...]
    """Training queries that are near a test query."""
    dropped: int
    """Training queries that were left out for being near a test query."""
    pairs: tuple[GoldPair, ...]
    """Without hard negatives."""
    batches: tuple[tuple[int, ...], ...]

    @property
    def asked(self) -> list[GoldQuery]:
        """The queries of all pools that are trained on."""
        return [query for one in self.learned for query in one.asked]


def opened(
    pools: Sequence[Bench], test_on: Sequence[Bench], settings: TrainSettings
) -> tuple[list[Source], list[Source]]:
    """Return the training pools and the foreign ones, each with a label of its own.

    Raises:
        UsageError: A pool is named twice, or nothing is held out.
        DataError: A pool is malformed.
    """
    if settings.split == BY_BENCHMARK and not test_on:
        raise UsageError(
            "--split benchmark: no benchmark is held out; name those that test by --test-on"
        )
    limits = RetrievalSettings(select=settings.select, limit=settings.limit)
    sources = open_sources(pools, limits)
    others = open_sources(test_on, RetrievalSettings())
    known: dict[str, str] = {}
    for where, source in [("", one) for one in sources] + [("--test-on ", one) for one in others]:
        if source.digest in known:
            raise UsageError(
                f"{where}{source.label}: the same pool as {known[source.digest]}, which is "
                "named already; name another one, or leave it out"
            )
        known[source.digest] = where + source.label
    labels = distinct([source.label for source in (*sources, *others)])
    labelled = [
        replace(source, label=label)
        for source, label in zip((*sources, *others), labels, strict=True)
    ]
    return labelled[: len(sources)], labelled[len(sources) :]


def tests_of(others: Sequence[Source], prepared: Prepared, settings: TrainSettings) -> list[Tested]:
    """Return what is tested: of foreign pools only queries that are not near a training query."""
    trained = prepared.asked
    tested = []
    for one in prepared.learned:
        if one.split.test:
            asked = asked_of(one.split.test)
            near = tuple(near_duplicates(asked, trained, settings.threshold))
            tested.append(Tested(one.source, one.split.test, True, len(asked), near))
    for other in others:
        tasks = _drawn_tasks(other, settings)
        asked = asked_of(tasks)
        near = tuple(near_duplicates(asked, trained, settings.threshold))
        kept = without(tasks, (it.query for it in near))
        tested.append(Tested(other, kept, False, len(asked), near, len(near)))
    return tested


def _drawn_tasks(source: Source, settings: TrainSettings) -> tuple[Task, ...]:
    tasks = [task for task in source.tasks if any(goal.relevant for goal in task.goals)]
    if not tasks:
        raise DataError(f"--test-on {source.label}: no task names the tools that it needs")
    count = settings.test_queries
    if count is None or count >= len(tasks):
        return tuple(tasks)
    chance = random.Random(derive_seed(settings.seed, "test", source.digest))
    return tuple(tasks[position] for position in sorted(chance.sample(range(len(tasks)), count)))


def prepare(sources: Sequence[Source], settings: TrainSettings) -> Prepared:
    """Split the pools and return what is trained.

    Raises:
        DataError: There is too little to train on.
        UsageError: A pool has no split of its own, where that is asked for.
    """
    parts = [
        split(source.tasks, settings.split, settings.held_out, settings.seed) for source in sources
    ]
    asked = [asked_of(part.train) for part in parts]
    tests = [query for part in parts for query in asked_of(part.test)]
    near = near_duplicates([query for each in asked for query in each], tests, settings.threshold)
    # One text can be on both sides in a split that the benchmark gives, or of two pools.
    same = {id(it.query) for it in near if it.ratio == 100 or settings.drop_near_duplicates}
    learned = tuple(
        Learned(
            source,
            part,
            tuple(query for query in queries if id(query) not in same),
            _documents_of(source, settings),
        )
        for source, part, queries in zip(sources, parts, asked, strict=True)
    )
    pairs = _joined(one.pairs() for one in learned)
    if not Relevance(pairs).teaches:
        raise DataError(
            f"pool {', '.join(source.label for source in sources)}: "
            f"{counted(len(pairs), 'pair')} of a query "
            "and a tool to train on, and no query of them that does not need each of the tools: "
            "training needs queries that need different tools"
        )
    steps = settings.steps_for(len(pairs))
    batches = batches_of(len(pairs), settings.batch_size, steps, settings.seed)
    return Prepared(learned, tuple(near), len(same), pairs, batches)


def _documents_of(source: Source, settings: TrainSettings) -> Mapping[str, str]:
    texts = documents(source.tools, settings.template)
    return dict(zip((tool.id for tool in source.tools), texts, strict=True))


def _joined(parts: Iterable[Sequence[GoldPair]]) -> tuple[GoldPair, ...]:
    """Return the pairs of all pools, a query with a document once."""
    found: dict[tuple[str, str], GoldPair] = {}
    for pairs in parts:
        for pair in pairs:
            found.setdefault((pair.query, pair.document), pair)
    return tuple(found.values())


def with_negatives(
    prepared: Prepared, settings: TrainSettings
) -> tuple[tuple[GoldPair, ...], dict[str, int] | None]:
    """Return the pairs with their hard negatives, and counts of these; None: none were wanted."""
    if not settings.negatives:
        return prepared.pairs, None
    with closing(open_store(settings.cache_dir)) as store:
        mined = [
            mine(one.source, one.asked, one.documents, settings, store) for one in prepared.learned
        ]
    pairs = _joined(one.pairs(each) for one, each in zip(prepared.learned, mined, strict=True))
    counts = [each.counts() for each in mined]
    return pairs, {name: sum(count[name] for count in counts) for name in counts[0]}

"""Training a retriever on a pool: what is held out, what is trained, and what it was worth.

The folder of a training:

    modules.json, model.safetensors...   the trained sentence-transformers model
    training.json                        what it was trained on, and its measures: written last
    checkpoints/                         plan.json and checkpoints, until the training is finished;
                                         the model, until it is measured
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from seal.core import DataError, Task, UsageError
from seal.core.canonical import derive_seed, normalise
from seal.core.folders import Lock
from seal.experiments.result_files import read_object, write_json
from seal.experiments.retrieval.contenders import TRAINING
from seal.experiments.retrieval.draws import Source, distinct, open_sources
from seal.experiments.retrieval.settings import RetrievalSettings
from seal.experiments.training.evaluation import Progress, Tested, evaluate
from seal.experiments.training.settings import TrainSettings
from seal.experiments.training.splits import (
    NearDuplicate,
    Split,
    asked_of,
    near_duplicates,
    split,
    without,
)
from seal.pools.lookup import Bench
from seal.retrievers.documents import documents
from seal.retrievers.embedders.sentence_transformers import SentenceEmbedder
from seal.retrievers.fine_tuning import (
    Asked,
    Base,
    Pair,
    Recipe,
    batches_of,
    check_installed,
    fine_tune,
    load_base,
    pairs_of,
    place,
    write_model,
)

WORK = "checkpoints"
PLAN = "plan.json"
EXAMPLES = 20
"""Near-duplicates that are listed, the likest."""
_PACKAGES = ("seal-api-llms", "sentence-transformers", "transformers", "torch")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is trained, before anything is."""

    split: Split
    near: tuple[NearDuplicate, ...]
    """Training queries that are near a test query."""
    asked: tuple[Asked, ...]
    """Training queries that are trained on."""
    dropped: int
    """Training queries that were left out for being near a test query."""
    pairs: tuple[Pair, ...]
    tools: frozenset[str]
    """Ids of the tools whose documents stand in pairs; several may have one document."""
    batches: tuple[tuple[int, ...], ...]


def train_retriever(
    pool: Bench,
    out: Path,
    settings: TrainSettings,
    test_on: Sequence[Bench] = (),
    resume: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a retriever on a pool, and measure it before and after.

    Args:
        pool: A benchmark, its name, or a folder.
        out: New or empty folder for the model; of an unfinished training with `resume`.
        settings: What is trained, on what, how.
        test_on: Foreign pools to test on too.
        resume: Go on with the training in `out`; a finished one is returned as it is.
        progress: Told the stage, how many of its items are done, and how many there are.

    Returns:
        The content of training.json.

    Raises:
        MissingExtraError: A package is not installed.
        UsageError: No such base model, a folder that holds something else or a training of other
            settings, or that another process writes, a foreign pool that is the training pool.
        DataError: A pool is malformed, or has too little to train on.
    """
    check_installed()
    source, others = _opened(pool, test_on, settings)
    prepared = _prepared(source, settings)
    plan = _plan(source, prepared, settings)
    tested = _tested(source, others, prepared, settings)
    finished = _finished(out, plan, resume)
    if finished is not None:
        _check_tested(finished, tested, out)
        return finished
    base = load_base(settings.base, settings.device, settings.max_length)
    (out / WORK).mkdir(parents=True, exist_ok=True)
    with Lock(out / WORK):
        write_json(plan, out / WORK / PLAN)
        return _trained(base, prepared, tested, plan, out, settings, progress)


def _trained(
    base: Base,
    prepared: _Prepared,
    tested: Sequence[Tested],
    plan: Mapping[str, Any],
    out: Path,
    settings: TrainSettings,
    progress: Progress | None,
) -> dict[str, Any]:
    """Train, measure, and leave the folder finished."""
    recipe = Recipe(
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        checkpoint_every=settings.checkpoints_for(len(prepared.batches)),
        seed=settings.seed,
        device=settings.device,
    )
    work = out / WORK
    trained = fine_tune(base, prepared.pairs, prepared.batches, recipe, work, progress)
    # Until it is measured the folder is no model that a retriever would take.
    model = work / "model" / out.resolve().name
    write_model(trained.model, model)
    record = {
        **plan,
        "versions": {name: version(name) for name in _PACKAGES},
        "near_duplicates": _near_json(prepared, tested, settings),
        "losses": trained.losses,
        **evaluate(tested, model, settings, progress),
    }
    place(model, out)
    write_json(record, out / TRAINING)
    shutil.rmtree(work)
    return record


def _opened(
    pool: Bench, test_on: Sequence[Bench], settings: TrainSettings
) -> tuple[Source, list[Source]]:
    """Return the training pool and the foreign ones, each with a label of its own."""
    limits = RetrievalSettings(select=settings.select, limit=settings.limit)
    [source] = open_sources([pool], limits)
    others = open_sources(test_on, RetrievalSettings())
    labels = distinct([source.label, *(other.label for other in others)])
    for other in others:
        if other.digest == source.digest:
            raise UsageError(
                f"--test-on {other.label}: that is the training pool, which is tested anyway; "
                "name another one"
            )
    return source, [
        replace(other, label=label) for other, label in zip(others, labels[1:], strict=True)
    ]


def _tested(
    source: Source, others: Sequence[Source], prepared: _Prepared, settings: TrainSettings
) -> list[Tested]:
    """Return what is tested: of foreign pools only queries that are not near a training query."""
    parts = [(source, prepared.split.test)]
    parts += [(other, _drawn_tasks(other, settings)) for other in others]
    tested = []
    for part, tasks in parts:
        asked = asked_of(tasks)
        near = tuple(near_duplicates(asked, prepared.asked, settings.threshold))
        if part is source:
            tested.append(Tested(part, tasks, True, len(asked), near))
        else:
            kept = without(tasks, (it.query for it in near))
            tested.append(Tested(part, kept, False, len(asked), near, len(near)))
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


def _prepared(source: Source, settings: TrainSettings) -> _Prepared:
    parts = split(source.tasks, settings.split, settings.held_out, settings.seed)
    asked = asked_of(parts.train)
    near = near_duplicates(asked, asked_of(parts.test), settings.threshold)
    # Only a split that the benchmark gives can have one text on both sides: it must not.
    same = {id(it.query) for it in near if it.ratio == 100 or settings.drop_near_duplicates}
    kept = [query for query in asked if id(query) not in same]
    texts = documents(source.tools, settings.template)
    text_of = dict(zip((tool.id for tool in source.tools), texts, strict=True))
    pairs = pairs_of(kept, text_of)
    taken = {pair.document for pair in pairs}
    tools = frozenset(tool for query in kept for tool in query.tools if text_of[tool] in taken)
    steps = settings.steps_for(len(pairs))
    batches = batches_of(pairs, settings.batch_size, steps, settings.seed) if pairs else ()
    if max(map(len, batches), default=0) < 2:
        raise DataError(
            f"pool {source.label}: {len(pairs)} pairs of a query and a tool to train on, no two of "
            "which can stand in one batch, as each query needs the other's tool: training needs "
            "queries that need different tools"
        )
    return _Prepared(parts, tuple(near), tuple(kept), len(same), pairs, tools, batches)


def _plan(source: Source, prepared: _Prepared, settings: TrainSettings) -> dict[str, Any]:
    """Return what makes two trainings the same: a training is resumed under an equal plan only."""
    parts, pairs = prepared.split, prepared.pairs
    plan: dict[str, Any] = normalise(
        {
            "pool": source.name,
            "pool_digest": source.digest,
            "base": settings.base,
            "base_identity": SentenceEmbedder({"model": settings.base}).identity,
            "template": settings.template,
            "seed": settings.seed,
            "split": {
                "kind": settings.split,
                "held_out": settings.held_out,
                "select": dict(settings.select),
                "limit": settings.limit,
                "train": [task.id for task in parts.train],
                "test": [task.id for task in parts.test],
                "held_out_tools": list(parts.held_out_tools),
            },
            "hyper_parameters": {
                "loss": "MultipleNegativesRankingLoss",
                "steps": len(prepared.batches),
                "batch_size": settings.batch_size,
                "learning_rate": settings.learning_rate,
                "max_length": settings.max_length,
                "drop_near_duplicates": settings.drop_near_duplicates,
                "threshold": settings.threshold,
            },
            "counts": {
                "tools": len(source.tools),
                "train_tasks": len(parts.train),
                "test_tasks": len(parts.test),
                "left_out_tasks": len(parts.left_out),
                "held_out_tools": len(parts.held_out_tools),
                "pairs": len(pairs),
                "pairs_trained": sum(map(len, prepared.batches)),
                "tools_trained": len(prepared.tools),
            },
        }
    )
    return plan


def _finished(out: Path, plan: Mapping[str, Any], resume: bool) -> dict[str, Any] | None:
    """Return the record of a training that is finished in a folder; None: it may begin or go on.

    Raises:
        UsageError: The folder holds something else, or a training of other settings.
    """
    for path in (out / TRAINING, out / WORK / PLAN):
        if resume and path.is_file():
            before = read_object(path, "train again in a new folder")
            _check_same(before, plan, out)
            return before if path.name == TRAINING else None
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        repair = "it holds no training to go on with" if resume else "--resume goes on with one"
        raise UsageError(f"{out} exists and is not empty: choose a new folder; {repair}")
    return None


def _check_same(before: Mapping[str, Any], plan: Mapping[str, Any], out: Path) -> None:
    differing = [
        f"{name}: was {_short(before.get(name))}, is {_short(value)}"
        for name, value in plan.items()
        if before.get(name) != value
    ]
    if differing:
        raise UsageError(
            f"{out} holds a training of other settings; {'; '.join(differing)}. "
            "Resume with the settings of then, or give another --out"
        )


def _check_tested(finished: Mapping[str, Any], tested: Sequence[Tested], out: Path) -> None:
    known = {entry["pool_digest"] for entry in finished["results"]}
    missing = [part.source.label for part in tested if part.source.digest not in known]
    if missing:
        raise UsageError(
            f"{out} is finished and was not tested on {', '.join(missing)}; measure it there by: "
            f"seal retrieve POOL --retriever dense,model={out}"
        )


def _short(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    told = {key: item for key, item in value.items() if not isinstance(item, list)}
    return ", ".join(f"{key} {item}" for key, item in told.items())


def _near_json(
    prepared: _Prepared, tested: Sequence[Tested], settings: TrainSettings
) -> dict[str, Any]:
    near = prepared.near
    return {
        "threshold": settings.threshold,
        "train_queries": len(near),
        "test_queries": len({(it.other.task_id, it.other.goal) for it in near}),
        "same_text": sum(it.ratio == 100 for it in near),
        "dropped": prepared.dropped,
        "examples": [
            _example(train=it.query, test=it.other, ratio=it.ratio) for it in near[:EXAMPLES]
        ],
        "pools": [_pool_json(part, prepared, settings.template) for part in tested],
    }


def _pool_json(part: Tested, prepared: _Prepared, template: str) -> dict[str, Any]:
    """Return what of a tested pool stands in training: its queries, and its tools by document."""
    trained = {pair.document for pair in prepared.pairs}
    texts = documents(part.source.tools, template)
    known = {
        tool.id for tool, text in zip(part.source.tools, texts, strict=True) if text in trained
    }
    asked = asked_of(part.tasks)
    needed = {tool for query in asked for tool in query.tools}
    return {
        "pool": part.source.label,
        "pool_digest": part.source.digest,
        "in_source": part.in_source,
        "queries": part.asked,
        "same_text": sum(it.ratio == 100 for it in part.near),
        "near": len(part.near),
        "left_out": part.left_out,
        "tools": len(needed),
        "tools_trained": len(needed & known),
        "unseen": sum(not known.issuperset(query.tools) for query in asked),
        "examples": [
            _example(train=it.other, test=it.query, ratio=it.ratio) for it in part.near[:EXAMPLES]
        ],
    }


def _example(*, train: Asked, test: Asked, ratio: float) -> dict[str, Any]:
    return {
        "train": train.task_id,
        "test": test.task_id,
        "ratio": ratio,
        "train_text": train.text,
        "test_text": test.text,
    }

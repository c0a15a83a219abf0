"""Training a retriever on pools: what is held out, what is trained, and what it was worth.

The folder of a training:

    modules.json, model.safetensors...   the trained sentence-transformers model; of a map
                                         map.npy and map.json
    training.json                        what it was trained on, and its measures: written last
    checkpoints/                         plan.json and checkpoints, until the training is finished;
                                         the model, until it is measured
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from seal.core import UsageError
from seal.core.canonical import normalise
from seal.core.folders import Lock
from seal.experiments.result_files import read_object, write_json
from seal.experiments.retrieval.contenders import TRAINING
from seal.experiments.training.gains import Progress, Tested, evaluate
from seal.experiments.training.preparation import (
    Prepared,
    opened,
    prepare,
    tests_of,
    with_negatives,
)
from seal.experiments.training.splits import asked_of
from seal.experiments.training.trainers import EncoderTrainer, MapTrainer
from seal.experiments.training.training_settings import TrainSettings
from seal.pools.lookup import Bench
from seal.retrievers.documents import documents
from seal.retrievers.fine_tuning import place
from seal.retrievers.training_pairs import GoldQuery

WORK = "checkpoints"
PLAN = "plan.json"
EXAMPLES = 20
"""Near-duplicates that are listed, the likest."""


def train_retriever(
    pools: Sequence[Bench],
    out: Path,
    settings: TrainSettings,
    test_on: Sequence[Bench] = (),
    resume: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a retriever on pools, and measure it before and after.

    Args:
        pools: Benchmarks, their names, or folders.
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
            settings, or that another process writes, a pool that is named twice, or the split
            `benchmark` without a foreign pool.
        DataError: A pool is malformed, or has too little to train on.
    """
    trainer = (MapTrainer if settings.trains == "map" else EncoderTrainer)(settings)
    sources, others = opened(pools, test_on, settings)
    prepared = prepare(sources, settings)
    plan = _plan(prepared, trainer.identity, settings)
    tested = tests_of(others, prepared, settings)
    finished = _finished(out, plan, resume)
    if finished is not None:
        _check_tested(finished, tested, out)
        return finished
    trainer.prepare()
    pairs, mined = with_negatives(prepared, settings)
    work = out / WORK
    work.mkdir(parents=True, exist_ok=True)
    with Lock(work):
        write_json(plan, work / PLAN)
        # Until it is measured the folder is no model that a retriever would take.
        model = work / "model" / out.resolve().name
        losses = trainer.train(pairs, prepared.batches, work, model, progress)
        record = {
            **plan,
            "versions": {name: version(name) for name in ("seal-api-llms", *trainer.packages)},
            "negatives": mined,
            "near_duplicates": _near_json(prepared, tested, settings),
            "losses": losses,
            **evaluate(tested, model, settings, progress),
        }
        place(model, out)
        write_json(record, out / TRAINING)
        shutil.rmtree(work)
    return record


def _plan(prepared: Prepared, identity: str, settings: TrainSettings) -> dict[str, Any]:
    """Return what makes two trainings the same: a training is resumed under an equal plan only."""
    learned = prepared.learned
    splits = [one.split for one in learned]
    plan: dict[str, Any] = normalise(
        {
            "pool": ", ".join(one.source.label for one in learned),
            "sources": [
                {
                    "pool": one.source.label,
                    "pool_digest": one.source.digest,
                    "train": [task.id for task in one.split.train],
                    "test": [task.id for task in one.split.test],
                    "held_out_tools": list(one.split.held_out_tools),
                }
                for one in learned
            ],
            "base": settings.base,
            "trains": settings.trains,
            "base_identity": identity,
            "template": settings.template,
            "seed": settings.seed,
            "split": {
                "kind": settings.split,
                "held_out": settings.held_out,
                "select": dict(settings.select),
                "limit": settings.limit,
            },
            "hyper_parameters": {
                "loss": "InfoNCE",
                "steps": len(prepared.batches),
                "batch_size": settings.batch_size,
                "learning_rate": settings.rate,
                "max_length": settings.max_length,
                "negatives": settings.negatives,
                "negatives_by": settings.negatives_by,
                "drop_near_duplicates": settings.drop_near_duplicates,
                "threshold": settings.threshold,
            },
            "counts": {
                "tools": sum(len(one.source.tools) for one in learned),
                "train_tasks": sum(len(part.train) for part in splits),
                "test_tasks": sum(len(part.test) for part in splits),
                "left_out_tasks": sum(len(part.left_out) for part in splits),
                "held_out_tools": sum(len(part.held_out_tools) for part in splits),
                "pairs": len(prepared.pairs),
                "pairs_trained": sum(map(len, prepared.batches)),
                "tools_trained": sum(one.tools for one in learned),
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
    if isinstance(value, list):
        return "; ".join(map(_short, value))
    if not isinstance(value, dict):
        return repr(value)
    told = {key: item for key, item in value.items() if not isinstance(item, list)}
    return ", ".join(f"{key} {item}" for key, item in told.items())


def _near_json(
    prepared: Prepared, tested: Sequence[Tested], settings: TrainSettings
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


def _pool_json(part: Tested, prepared: Prepared, template: str) -> dict[str, Any]:
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


def _example(*, train: GoldQuery, test: GoldQuery, ratio: float) -> dict[str, Any]:
    return {
        "train": train.task_id,
        "test": test.task_id,
        "ratio": ratio,
        "train_text": train.text,
        "test_text": test.text,
    }

"""Training of a dense retriever: pairs and their batches, the training itself, and its checkpoints.

A sentence-transformers model is trained by that library's own trainer. In a batch every document is
a negative for the queries of the other pairs (in-batch negatives). So two pairs stand in one batch
only where neither document is relevant to the other's query.

Source of the loss: van den Oord et al. 2018 (InfoNCE), the library's
`MultipleNegativesRankingLoss`; so ToolLLM trained its retriever (section 3.1).
"""

from __future__ import annotations

import json
import random
import shutil
import stat
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import MissingExtraError, UsageError
from seal.core.canonical import derive_seed
from seal.core.text import words
from seal.retrievers.embedders.sentence_transformers import load_model, without_progress

_MODEL = "modules.json"
"""The file that makes a folder a model."""


class Checkpoint(NamedTuple):
    """A state of training from which it can go on."""

    step: int
    folder: Path


def newest_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the newest whole checkpoint in a folder; torn ones are removed."""
    for checkpoint in checkpoints(folder):
        if state_of(checkpoint.folder):
            return checkpoint
        shutil.rmtree(checkpoint.folder)
    return None


def checkpoints(folder: Path) -> list[Checkpoint]:
    """Return the checkpoints in a folder, the newest first, torn ones too."""
    paths = folder.glob("checkpoint-*")
    return sorted((Checkpoint(int(p.name.rpartition("-")[2]), p) for p in paths), reverse=True)


def state_of(checkpoint: Path) -> dict[str, Any]:
    """Return the trainer's state, which it writes last; empty where it is not whole."""
    try:
        state: dict[str, Any] = json.loads((checkpoint / "trainer_state.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return state


def write_model(model: Any, folder: Path) -> None:
    """Write a model of the library into a folder of its own; what is there is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    with without_progress():
        model.save_pretrained(str(folder), create_model_card=False)
    mode = stat.S_IMODE((folder / _MODEL).stat().st_mode)
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(mode)  # safetensors lets nobody else read what it writes


def place(model: Path, out: Path) -> None:
    """Move the files of a model's folder into another one on the same disk.

    They take the place of older ones; what else is there stays. `modules.json`, which makes a
    folder a model, is moved last.
    """
    for path in sorted(model.iterdir(), key=lambda path: path.name == _MODEL):
        old = out / path.name
        if old.is_dir():
            shutil.rmtree(old)
        path.replace(old)
    model.rmdir()


WARM_UP = 0.1
"""Share of the steps in which the learning rate rises; then it falls to 0 in a straight line."""
_KEPT = 2
"""Checkpoints that stay: the newest may be torn."""
_PACKAGES = {
    "sentence_transformers": "sentence-transformers",
    "datasets": "datasets",
    "accelerate": "accelerate",
}

Progress = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a model is trained."""

    batch_size: int
    learning_rate: float
    """At its highest."""
    checkpoint_every: int
    """Steps."""
    seed: int = 0
    """Of dropout and the like."""
    device: str | None = None
    """`cpu` or `cuda`; None: a GPU where there is one."""


class Base(NamedTuple):
    """A model that a training begins with."""

    model: Any
    length: int | None
    """Tokens of a text that it reads once it is trained; None: as many as in training."""


class Trained(NamedTuple):
    """A trained model."""

    model: Any
    losses: list[dict[str, float]]
    """{step, loss}: means since the step before it in the list."""


def check_installed() -> None:
    """Make sure that models can be trained here.

    Raises:
        MissingExtraError: A package is not installed.
    """
    for module, package in _PACKAGES.items():
        if find_spec(module) is None:
            raise MissingExtraError(package, "training")


def load_base(name: str, device: str | None = None, max_length: int | None = None) -> Base:
    """Return the model that a training begins with.

    Args:
        name: On the Hugging Face hub, of a packaged model, or a folder.
        device: `cpu` or `cuda`; None: a GPU where there is one.
        max_length: Tokens of a text in training; None: what the model reads. The trained model
            reads as much as its base.

    Raises:
        MissingExtraError: A package is not installed.
        UsageError: No such model or device, or a model whose texts cannot be shortened.
    """
    check_installed()
    if device == "cuda" and not import_module("torch").cuda.is_available():
        raise UsageError("--device cuda: no GPU that torch can use is here; leave it out, or cpu")
    model = load_model(name, device)
    if max_length is None:
        return Base(model, None)
    before = model.max_seq_length
    try:
        model.max_seq_length = max_length
    except AttributeError as error:
        raise UsageError(
            f"--max-length {max_length}: the model reads texts of any length; leave it out"
        ) from error
    return Base(model, before)


def fine_tune(
    base: Base,
    pairs: Sequence[Pair],
    batches: Sequence[Sequence[int]],
    recipe: Recipe,
    folder: Path,
    progress: Progress | None = None,
) -> Trained:
    """Train a model, or go on from the newest checkpoint in a folder.

    On one machine's CPU with one number of threads, equal arguments give equal weights, whether or
    not the training was interrupted.

    Args:
        base: From `load_base`; its model changes.
        pairs: What it is trained on.
        batches: Positions of pairs; one step each.
        recipe: How.
        folder: Of the checkpoints; those of another training must not lie there.
        progress: Told of every step.
    """
    last = newest_checkpoint(folder)
    model = base.model
    trainer = _trainer(model, pairs, batches, recipe, folder, progress)
    if last is None or last.step < len(batches):
        with without_progress():
            trainer.train(resume_from_checkpoint=None if last is None else str(last.folder))
        history = trainer.state.log_history
    else:
        model = load_model(str(last.folder), recipe.device)
        history = state_of(last.folder)["log_history"]
    if base.length is not None:
        model.max_seq_length = base.length
    losses = [{"step": e["step"], "loss": e["loss"]} for e in history if "loss" in e]
    return Trained(model.eval(), losses)


def _trainer(
    model: Any,
    pairs: Sequence[Pair],
    batches: Sequence[Sequence[int]],
    recipe: Recipe,
    folder: Path,
    progress: Progress | None,
) -> Any:
    library = import_module("sentence_transformers")
    callbacks = import_module("transformers.trainer_callback")
    losses = import_module("sentence_transformers.sentence_transformer.losses")
    trainer_class: Any = library.SentenceTransformerTrainer
    callback_class: Any = callbacks.TrainerCallback
    model.model_card_data.local_files_only = True  # a checkpoint's card would ask the hub

    class Trainer(trainer_class):  # type: ignore[misc]
        """Takes the batches as they were planned, and adds nothing to a model card."""

        def get_batch_sampler(self, *_: Any, **__: Any) -> Any:
            return batches

        def add_model_card_callback(self, *_: Any, **__: Any) -> None:
            pass

    class Told(callback_class):  # type: ignore[misc]
        """Tells of every step, and removes old checkpoints."""

        def on_save(self, *_: Any, **__: Any) -> None:
            # The library itself would go by their times, and warn where those are too near.
            for old in checkpoints(folder)[_KEPT:]:
                shutil.rmtree(old.folder)

        def on_step_end(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            if progress is not None:
                progress("steps", state.global_step, len(batches))

    trainer = Trainer(
        model=model,
        args=_arguments(library, model, len(batches), recipe, folder),
        train_dataset=import_module("datasets").Dataset.from_dict(
            {
                "query": [pair.query for pair in pairs],
                "document": [pair.document for pair in pairs],
            }
        ),
        loss=losses.MultipleNegativesRankingLoss(model),
        callbacks=[Told()],
    )
    trainer.remove_callback(callbacks.PrinterCallback)  # it would write to stdout
    return trainer


def _arguments(library: Any, model: Any, steps: int, recipe: Recipe, folder: Path) -> Any:
    prompts = {column: model.prompts.get(column) for column in ("query", "document")}
    return library.SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        warmup_steps=round(WARM_UP * steps),
        seed=recipe.seed,
        use_cpu=recipe.device == "cpu",
        prompts={column: prompt for column, prompt in prompts.items() if prompt} or None,
        save_strategy="steps",
        save_steps=recipe.checkpoint_every,
        logging_strategy="steps",
        logging_steps=recipe.checkpoint_every,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,  # torch warns of it where there is no GPU
    )


_LOOKAHEAD = 20
"""Batches' worth of pairs that are looked through to fill a batch; one that still lacks pairs then
stays small."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One query with the tools that it needs."""

    task_id: str
    goal: int
    text: str
    tools: tuple[str, ...]
    """Ids of the relevant tools."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the document of one tool that it needs."""

    query: str
    document: str


def plain(text: str) -> str:
    """Return a query's words in small letters, by which two queries are the same."""
    return " ".join(words(text)) or text.strip()


def pairs_of(asked: Iterable[Asked], documents: Mapping[str, str]) -> tuple[Pair, ...]:
    """Return the pairs of some queries, each once, in their order.

    Args:
        asked: A query with several relevant tools gives a pair for each.
        documents: Tool id to its document; tools without a word in theirs give no pair.
    """
    pairs = (Pair(query.text, documents[tool]) for query in asked for tool in query.tools)
    return tuple(dict.fromkeys(pair for pair in pairs if words(pair.document)))


def batches_of(
    pairs: Sequence[Pair], size: int, count: int, seed: int
) -> tuple[tuple[int, ...], ...]:
    """Return batches of positions, without false negatives.

    Pairs are drawn in shuffled passes: none a second time before all others were drawn, but for
    those that had to wait for a batch that could hold them.

    Args:
        pairs: At least one.
        size: Pairs of a batch at most; fewer where no more can stand together.
        count: Batches.
        seed: Equal seeds give equal batches.
    """
    relevant: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        relevant[plain(pair.query)].add(pair.document)
    wanted = [relevant[plain(pair.query)] for pair in pairs]
    chance = random.Random(derive_seed(seed, "batches"))
    waiting: deque[int] = deque()
    batches = []
    for _ in range(count):
        batch: list[int] = []
        positives: set[str] = set()
        passed: list[int] = []
        documents: set[str] = set()
        while len(batch) < size and len(passed) < _LOOKAHEAD * size:
            if not waiting:
                if len(passed) >= len(pairs):  # each of them was tried
                    break
                waiting.extend(chance.sample(range(len(pairs)), len(pairs)))
            position = waiting.popleft()
            document = pairs[position].document
            if document in positives or not wanted[position].isdisjoint(documents):
                passed.append(position)
                continue
            batch.append(position)
            documents.add(document)
            positives |= wanted[position]
        waiting.extendleft(reversed(passed))
        batches.append(tuple(batch))
    return tuple(batches)

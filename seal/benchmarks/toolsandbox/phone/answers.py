"""What the web says: recorded answers, or a simulator's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import orjson

from seal.core import JSON, DataError, Simulator, Tool, Unrecorded
from seal.core.canonical import canonical_json, digest
from seal.pools.importer import Notes, WorldFile


@dataclass(frozen=True, slots=True)
class Question:
    """What a tool asks the web."""

    tool: str
    """Name of the tool."""
    arguments: dict[str, JSON]
    """Of the call, the phone's own place filled in."""
    endpoint: str
    params: dict[str, JSON]
    """As they are sent to the endpoint."""


class UnknownToTheWebError(LookupError):
    """No record answers a question, and nothing answers in its place."""


class WebAnswers(Protocol):
    """Answers the tools that ask the web; equal questions get equal answers within a chat."""

    def answer(self, question: Question, read: Callable[[JSON], JSON]) -> JSON:
        """Return what the tool makes of the web's answer.

        Args:
            question: What is asked.
            read: An endpoint's raw answer, or None for none, to the tool's result.

        Raises:
            UnknownToTheWebError: No record answers it.
            SimulatorError: A simulator gave no usable answer.
            CacheMissError: Replay mode, nothing stored.
        """
        ...

    def unrecorded_of(self, question: Question) -> str:
        """Return how a question is answered that no record answers; empty: one does."""
        ...

    def identity(self) -> JSON:
        """Return what shapes the answers."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedWeb:
    """Answers from a file: a JSON list of `{"endpoint", "params", "response"}`.

    A record answers every question that has its params with these values, whatever other params it
    has; of several the one with the most params, of these the first. What is not recorded is
    answered as `unrecorded` says; by `empty`, ToolSandbox's rule, the web knows nothing of it: no
    place, no stock, no rate.
    """

    records: Mapping[str, Sequence[tuple[dict[str, JSON], JSON]]]
    """Endpoint to params and response."""
    unrecorded: Unrecorded = "error"
    simulated: SimulatedWeb | None = None
    """Answers what is not recorded, where that is `simulate`."""

    def answer(self, question: Question, read: Callable[[JSON], JSON]) -> JSON:
        """Return what the tool makes of the recorded answer, or of what stands in its place."""
        fitting = self._fitting(question)
        if fitting:
            return read(max(fitting, key=lambda record: len(record[0]))[1])
        if self.unrecorded == "empty":
            return read(None)
        if self.simulated is not None:
            return self.simulated.answer(question, read)
        raise UnknownToTheWebError(f"No answer of {question.tool} to this question was recorded.")

    def unrecorded_of(self, question: Question) -> str:
        """Return the rule `unrecorded` where no record answers."""
        return "" if self._fitting(question) else self.unrecorded

    def _fitting(self, question: Question) -> list[tuple[dict[str, JSON], JSON]]:
        asked = question.params
        return [
            (params, response)
            for params, response in self.records.get(question.endpoint, ())
            if all(name in asked and asked[name] == value for name, value in params.items())
        ]

    def identity(self) -> JSON:
        """Return the digest of all records, and what answers what is not recorded."""
        records = {name: list(map(list, record)) for name, record in self.records.items()}
        return {"recorded": digest(records), "unrecorded": self.unrecorded}


def recorded_web(path: Path | None = None) -> RecordedWeb:
    """Return the answers that a file holds; None: those that are shipped, which are invented.

    Raises:
        DataError: There is no such file, or it is not what it must be.
    """
    try:
        if path is None:
            text = (files("seal.benchmarks.toolsandbox.phone") / "web_answers.json").read_bytes()
        else:
            text = path.read_bytes()
        given = orjson.loads(text)
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"web answers {path}: {error}; {_EXPECTED}") from error
    if not isinstance(given, list):
        raise DataError(f"web answers {path}: got {type(given).__name__}; {_EXPECTED}")
    records: dict[str, list[tuple[dict[str, JSON], JSON]]] = {}
    for number, record in enumerate(given):
        match record:
            case {"endpoint": str(endpoint), "params": dict(params), "response": response}:
                records.setdefault(endpoint, []).append((params, response))
            case _:
                raise DataError(f"web answers {path}, record {number}: {_EXPECTED}")
    return RecordedWeb(records)


FILE = "web.json"
"""Of a pool: the web's answers, unless a run's `-T web=` says otherwise."""
_EXPECTED = 'expected a JSON list of {"endpoint": text, "params": object, "response": any}'


@dataclass(frozen=True, slots=True)
class SimulatedWeb:
    """Answers of a simulator, which is shown the tool and its arguments, not the endpoint.

    It keeps what it was told. So a question that is asked again, as in another order of the same
    calls, gets the same answer.
    """

    simulator: Simulator
    documents: Mapping[str, Tool]
    """Name of a tool to its document."""
    told: dict[bytes, JSON] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    def answer(self, question: Question, read: Callable[[JSON], JSON]) -> JSON:
        """Return the simulator's answer as it is; its error is the connection's."""
        key = canonical_json([question.tool, question.arguments])
        with self.lock:
            known = key in self.told
        if not known:
            document = self.documents[question.tool]
            response = self.simulator.respond(document, question.arguments)
            if response.error:
                raise ConnectionError(response.error)
            with self.lock:
                self.told.setdefault(key, response.response)
        return self.told[key]

    def unrecorded_of(self, question: Question) -> str:
        """Return nothing: whoever asks a simulator expects no record."""
        return ""

    def identity(self) -> JSON:
        """Return the simulator's name."""
        return {"simulator": self.simulator.identity}


def web_answers(path: Path, notes: Notes) -> Iterator[WorldFile]:
    """Yield a file of answers as it is; nothing where there is none.

    Args:
        path: The file.
        notes: Gets the number of answers.

    Raises:
        DataError: The file does not hold answers.
    """
    if path.is_file():
        records = recorded_web(path).records
        notes.facts["web_answers"] = sum(map(len, records.values()))
        yield WorldFile(FILE, path.read_bytes())

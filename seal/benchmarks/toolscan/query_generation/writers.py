"""Who proposes queries: a language model, whose answers are read without trust in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import orjson

from seal.benchmarks.toolscan.queries import IRRELEVANCE
from seal.benchmarks.toolscan.query_generation.calls import gold_calls
from seal.benchmarks.toolscan.query_generation.candidates import (
    KINDS,
    Candidate,
    GoldCall,
    Kind,
    Request,
    Unusable,
)
from seal.benchmarks.toolscan.query_generation.filters import LONGEST
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.core import JSON, Message, RequestError, Tool
from seal.core.canonical import derive_seed, digest
from seal.core.package_data import shipped_text
from seal.core.plain import nested_deeper
from seal.core.statements import Sense, states
from seal.core.text import words
from seal.experiments.generation.writers import MAX_TOKENS, WritingModel

TRIES = 2
"""Requests for a seed and kind, or for words of a call: the second where the first failed."""
_SPARE = 2
"""Queries that are asked for beyond those that are wanted."""
_MOST = 60
"""Queries of an answer that are read."""
_KEPT = 2000
"""Characters of an unusable answer that are kept."""
_FOREIGN = 12
"""Foreign parameters that a model is told."""
_DEEPEST = 20


class ModelWriter:
    """Writes queries by a language model.

    Args:
        model: Who is asked, and what it is.
        seed: Each request asks with a seed of its own.
    """

    def __init__(self, model: WritingModel, seed: int = 0) -> None:
        self._model = model
        self._seed = seed
        self._prompts = {kind: shipped_text(__package__, f"prompts/{kind}.txt") for kind in KINDS}
        prompt = digest([self._prompts, MAX_TOKENS])[:16]
        self.identity: dict[str, JSON] = {"writer": "model/1", **model.identity, "prompts": prompt}
        self._wording = shipped_text(__package__, "prompts/request.txt")
        self.wording = digest([self._wording, MAX_TOKENS])[:16]
        """What stands in the provenance where the model also words calls."""

    def write(self, kind: Kind, seed: Seed, count: int) -> Sequence[Candidate | Unusable]:
        """Return what the model proposes, and those of its answers that are no candidates.

        Raises:
            ModelError: The server failed.
        """
        found: list[Candidate | Unusable] = []
        asked = _asked(kind, seed, count + _SPARE)
        messages = [Message("system", self._prompts[kind]), Message("user", asked)]
        for turn in range(TRIES):
            try:
                own = derive_seed(self._seed, kind, seed.id, turn)
                completion = self._model.ask(messages, "query_writer", own)
            except RequestError as error:
                return [*found, Unusable(str(error)[:_KEPT], "refused")]
            told = list(read_candidates(kind, completion.content))
            if any(isinstance(one, Candidate) for one in told):
                return [*found, *told]
            cut_off = [Unusable(completion.content[:_KEPT], "cut_off")]
            found += cut_off if completion.truncated else told
        return found

    def word(self, seed: Seed) -> Request:
        """Return a call in words that state all its values.

        Args:
            seed: Made of a tool; it has no words yet.

        Raises:
            ModelError: The server failed.
        """
        (call,) = gold_calls(seed.plans[0])
        asked = {"tool": _document(seed.tools[call.tool]), "arguments": call.arguments}
        told = orjson.dumps(asked, option=orjson.OPT_INDENT_2).decode()
        messages = [Message("system", self._wording), Message("user", told)]
        unusable: list[Unusable] = []
        for turn in range(TRIES):
            try:
                own = derive_seed(self._seed, "request", seed.id, turn)
                answer = self._model.ask(messages, "query_writer", own).content
            except RequestError as error:
                return Request(seed.id, "", [*unusable, Unusable(str(error)[:_KEPT], "refused")])
            text, reason = read_request(answer, call)
            if not reason:
                return Request(seed.id, text, unusable)
            unusable.append(Unusable(answer[:_KEPT], reason))
        return Request(seed.id, "", unusable)


def read_request(answer: str, call: GoldCall) -> tuple[str, str]:
    """Return the words of a call that a model's answer holds, and why they cannot be used.

    Args:
        answer: Any text.
        call: Whose values the words must state.
    """
    content = _parsed(answer)
    if content is None:
        return "", "not_json"
    text = content.get("text") if isinstance(content, dict) else None
    if not isinstance(text, str) or not words(text):
        return "", "no_text"
    if len(text) > LONGEST:
        return "", "too_long"
    stated = all(states(text, value, Sense(name)) for name, value in call.arguments.items())
    return text.strip(), "" if stated else "value_not_stated"


def read_candidates(kind: Kind, answer: str) -> Iterator[Candidate | Unusable]:
    """Yield each query of a model's answer, or what is wrong with it.

    Args:
        kind: That was asked for.
        answer: Any text.
    """
    content = _parsed(answer)
    if content is None:
        yield Unusable(answer[:_KEPT], "not_json")
        return
    queries = content.get("queries") if isinstance(content, dict) else content
    if not isinstance(queries, list) or not queries:
        yield Unusable(answer[:_KEPT], "no_list_of_queries")
        return
    for number, record in enumerate(queries):
        candidate = _candidate(kind, record) if number < _MOST else None
        reason = "malformed_query" if number < _MOST else "too_many_queries"
        text = record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)
        yield candidate or Unusable(text[:_KEPT], reason)


def _parsed(answer: str) -> Any:
    """Return the JSON of an answer, which may stand in a fence; None: it is none."""
    text = answer.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    try:
        content = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return None if nested_deeper(content, _DEEPEST) else content


def _candidate(kind: Kind, record: Any) -> Candidate | None:
    if isinstance(record, str):
        record = {"text": record}
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return None
    text = record["text"].strip()
    if kind == "paraphrase":
        return Candidate(text)
    if kind == "constraint":
        calls = _calls(record.get("calls"))
        return Candidate(text, calls=calls) if calls else None
    claim, reason, foreign = record.get("claim"), record.get("kind"), record.get("foreign") or []
    if reason not in IRRELEVANCE or not (isinstance(claim, str) or reason == IRRELEVANCE[-1]):
        return None
    if not isinstance(foreign, list) or not all(isinstance(part, str) for part in foreign):
        return None
    said = text if reason == IRRELEVANCE[-1] else str(claim)
    return Candidate(text, reason=str(reason), claim=said, foreign=foreign[:2])


def _calls(records: Any) -> list[GoldCall]:
    """Return the calls of a record; none where one is malformed."""
    found = []
    for record in records if isinstance(records, list) else ():
        call = record if isinstance(record, dict) else {}
        tool, arguments = call.get("tool"), call.get("arguments")
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            return []
        found.append(GoldCall(tool, arguments))
    return found


def _asked(kind: Kind, seed: Seed, count: int) -> str:
    """Return what a model is told of a seed."""
    calls = [call._asdict() for call in gold_calls(seed.plans[0])]
    told: dict[str, JSON] = {"request": seed.text}
    if kind != "irrelevance":
        told |= {"calls": calls, "queries wanted": count}
    if kind == "constraint":
        gold = dict.fromkeys(call.tool for plan in seed.plans for call in plan)
        told["tools"] = [_document(seed.tools[tool]) for tool in gold]
    if kind == "irrelevance":
        told["tools"] = [_document(seed.tools[tool]) for tool in seed.offered]
        told["parameters of other tools"] = _foreign(seed)
        told["queries wanted of each kind"] = dict.fromkeys(IRRELEVANCE, count)
    return orjson.dumps(told, option=orjson.OPT_INDENT_2).decode()


def _document(tool: Tool) -> dict[str, JSON]:
    return {"tool": tool.id, "description": tool.description, "parameters": tool.parameters}


def _foreign(seed: Seed) -> list[JSON]:
    """Return parameters of tools that are not offered, drawn by the seed's id."""
    others = [tool for tool in seed.tools if tool not in seed.offered]
    ordered = sorted(others, key=lambda tool: digest([seed.id, tool]))
    declared = ((tool, seed.tools[tool].parameters.get("properties")) for tool in ordered)
    named = ([t, name] for t, found in declared if isinstance(found, dict) for name in found)
    return list(islice(named, _FOREIGN))

"""A model that writes queries by rule, as the prompts of `seal generate queries` ask for them.

    seal.generate("queries", "sample", "harder", model=QueryWriter())
    seal generate queries --tools sample --out harder --model query_writer:QueryWriter

Its texts are odd, and pass the filters: each holds what it must, between words of no meaning.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from seal.core import Completion, Request

_WORDS = (  # noqa: SIM905
    "please kindly gently simply really maybe perhaps surely rather quite somehow anyway whatever "
    "happens this matters since friends keep asking nobody knows everybody wonders without hurry "
    "while waiting outside quietly under trees near water behind walls among papers before lunch "
    "after sleeping between meetings during breaks because plans change often"
).split()
_ANIMALS = ("giraffe", "walrus", "otter", "badger", "heron", "lobster", "hedgehog")
_LOOKS = ("purple", "woolly", "crooked", "sleepy", "shiny", "grumpy", "striped")


class QueryWriter:
    """Answers each prompt of a query's writer with queries that pass the filters."""

    def complete(self, request: Request) -> Completion:
        """Return the JSON object that the prompt asks for."""
        system, asked = (message.content for message in request.messages)
        return Completion(written(system, asked, request.seed))


def written(system: str, asked: str, seed: int | None = None) -> str:
    """Return the JSON object that a prompt asks for."""
    chance = random.Random(f"{seed} {asked}")
    return json.dumps(_KINDS[_kind(system)](json.loads(asked), chance))


def _kind(system: str) -> str:
    if system.startswith("You reword"):
        return "paraphrase"
    if "has to decline" in system:
        return "irrelevance"
    return "constraint"


def _filler(chance: random.Random, beside: str) -> str:
    """Return words of no meaning, as many as a text has; at least a dozen."""
    count = max(12, len(beside.split()))
    said = " ".join(chance.choice(_WORDS) for _ in range(count))
    return said[:1].upper() + said[1:]


def _paraphrases(told: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
    request = told["request"]
    made = [f"{_filler(chance, request)}: {request}" for _ in range(told["queries wanted"])]
    return {"queries": [{"text": text} for text in made]}


def _constraints(told: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
    whole = sum(len(call["arguments"]) for call in told["calls"]) <= 4
    base = told["calls"] if whole else told["calls"][:1]
    queries = []
    for number in range(told["queries wanted"]):
        calls = [
            {"tool": call["tool"], "arguments": _raised(call["arguments"], number)} for call in base
        ]
        stated = "; then ".join(_stated(call["arguments"]) for call in calls)
        queries.append({"text": f"{_filler(chance, stated)}: {stated}.", "calls": calls})
    return {"queries": queries}


def _raised(arguments: Mapping[str, Any], by: int) -> dict[str, Any]:
    """Return arguments whose whole numbers are greater by a number."""
    return {n: v + by if type(v) is int and v < 100 else v for n, v in arguments.items()}


def _stated(arguments: Mapping[str, Any]) -> str:
    return ", ".join(_said(name.replace("_", " "), value) for name, value in arguments.items())


def _said(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{'with' if value else 'without'} {name}"
    if isinstance(value, list):
        return f"{name} {' and '.join(map(str, value))}"
    return f"{name} {value if isinstance(value, str) else json.dumps(value)}"


def _irrelevance(told: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
    request = told["request"].rstrip(" .?!")
    kinds = [*told["queries wanted of each kind"]]
    first = chance.randrange(len(kinds))
    queries = []
    for _ in range(told["queries wanted of each kind"][kinds[0]]):
        for kind in kinds[first:] + kinds[:first]:
            beast = f"{chance.choice(_LOOKS)} {chance.choice(_ANIMALS)}"
            query: dict[str, Any] = {"kind": kind, "claim": f"and a {beast} beside it"}
            if kind == "foreign_parameter":
                if not told["parameters of other tools"]:
                    continue
                query["foreign"] = chance.choice(told["parameters of other tools"])
                query["claim"] = f"{query['foreign'][1].replace('_', ' ')} {beast}"
            query["text"] = f"{_filler(chance, request)}: {request}, {query['claim']}?"
            if kind == "unrelated_request":
                query["text"] = f"{_filler(chance, '')}, draw me a {beast} that dances."
            queries.append(query)
    return {"queries": queries}


_KINDS: Mapping[str, Callable[[Mapping[str, Any], random.Random], dict[str, Any]]] = {
    "paraphrase": _paraphrases,
    "constraint": _constraints,
    "irrelevance": _irrelevance,
}

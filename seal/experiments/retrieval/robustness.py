"""The same pool asked in other words: what a retriever owes to the wording of queries and tools.

Each perturbation is a rule with a seed. It stands beside the pool as a pool of its own, NAME~RULE,
with the same gold.

- typos: in every fourth word of at least 4 letters two neighbours are exchanged, a letter is left
  out, or one stands twice; at least one word of a query that has such words.
- paraphrase: the way of asking changes: openings and verbs give way to others of like meaning, the
  sentences are put in another order, and the request is dressed as small talk.
- german, spanish: the words that frame a request are translated one by one; nouns stay English, as
  in the queries of people who know a product by its English words. It is no translation.
- renamed: tools are called tool_1, tool_2..., and their service likewise; descriptions stay.
- undescribed: tools have no description; names and parameters stay.

Distractors near and far are drawn by `seal retrieve --pool-sizes --distractors nearest|uniform`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from seal.core import Task, Tool
from seal.core.canonical import derive_seed, digest
from seal.core.package_data import shipped_json
from seal.core.text import sentences
from seal.experiments.retrieval.draws import Source
from seal.experiments.retrieval.retrieval_settings import Perturbation
from seal.pools.other_tools import renamed

_WORD = re.compile(r"[^\W\d_]+")
_LONG = 4
"""Letters of a word that gets a typing error."""
_EVERY = 4
"""One of so many such words gets one."""


def perturbed(source: Source, rule: Perturbation, seed: int) -> Source:
    """Return a pool under one perturbation.

    Args:
        source: The pool.
        rule: Its name.
        seed: Equal seeds give equal texts.
    """
    tools = source.tools
    anew: Callable[[Task], Task] = partial(_asked_anew, rule=rule, seed=seed)
    if rule in _OF_TOOLS:
        changed = dict(zip((tool.id for tool in tools), _OF_TOOLS[rule](tools), strict=True))
        tools = tuple(changed.values())
        anew = partial(renamed, tools=changed)
    return replace(
        source,
        label=f"{source.label}~{rule}",
        digest=digest([source.digest, "perturbed", rule, seed]),
        tools=tools,
        tasks=tuple(map(anew, source.tasks)),
        all_tasks=tuple(map(anew, source.all_tasks)),
    )


def _asked_anew(task: Task, rule: str, seed: int) -> Task:
    goals = []
    for position, goal in enumerate(task.goals):
        chance = random.Random(derive_seed(seed, "perturbed", rule, task.id, position))
        if rule == "typos":
            text = mistyped(goal.text, chance)
        elif rule == "paraphrase":
            text = paraphrased(goal.text, chance)
        else:
            text = _in_words_of(goal.text, _lexicon()[rule])
        goals.append(replace(goal, text=text))
    return replace(task, goals=tuple(goals))


def mistyped(text: str, chance: random.Random) -> str:
    """Return a text with typing errors; one without words of 4 letters stays as it is."""
    words = [match for match in _WORD.finditer(text) if len(match[0]) >= _LONG]
    count = -(-len(words) // _EVERY)
    for match in sorted(chance.sample(words, count), key=lambda match: -match.start()):
        text = text[: match.start()] + _misspelt(match[0], chance) + text[match.end() :]
    return text


def _misspelt(word: str, chance: random.Random) -> str:
    changed = word
    while changed == word:  # two equal letters, as in "book", may have been exchanged
        place = chance.randrange(1, len(word) - 1)  # few people mistype the first letter
        head, one, other, tail = word[:place], word[place], word[place + 1], word[place + 2 :]
        changed = head + chance.choice((other + one, other, one + one + other)) + tail
    return changed


def paraphrased(text: str, chance: random.Random) -> str:
    """Return a request in another wording."""
    parts = sentences(_in_words_of(text, _lexicon()["synonyms"]))
    chance.shuffle(parts)
    opening = chance.choice(_lexicon()["openings"]["any"])
    return " ".join([opening, *parts])


def _in_words_of(text: str, lexicon: Mapping[str, Any]) -> str:
    return _WORD.sub(lambda match: lexicon.get(match[0].lower(), match[0]), text)


def _lexicon() -> Mapping[str, Any]:
    """Return {synonyms, german, spanish: {word: word}, openings: {any: [sentence]}}."""
    found: Mapping[str, Any] = shipped_json("seal.experiments.retrieval", "rewordings.json")
    return found


def _without_names(tools: Sequence[Tool]) -> list[Tool]:
    services: dict[Any, str] = {}
    changed = []
    for number, tool in enumerate(tools, 1):
        service = tool.source.get("tool") or tool.id
        services.setdefault(service, f"service_{len(services) + 1}")
        name = f"tool_{number}"
        source = {**tool.source, "tool": services[service], "api": name}
        tool_id = f"renamed/{services[service]}/{name}"
        changed.append(replace(tool, id=tool_id, name=name, source=source))
    return changed


_OF_TOOLS: Mapping[str, Callable[[Sequence[Tool]], list[Tool]]] = {
    "renamed": _without_names,
    "undescribed": lambda tools: [replace(tool, description="") for tool in tools],
}

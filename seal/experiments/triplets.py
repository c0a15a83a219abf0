"""Triplets to train a retriever on: a query, the document of a tool that it needs, and others.

One line of triplets.jsonl, as the loader of Hugging Face's `datasets` reads it for the trainer of
sentence-transformers:

    {"anchor": QUERY, "positive": DOCUMENT, "negative": DOCUMENT}

Several negatives have a column each, `negative_1` and so on. A query that needs several tools has a
line for each. Queries of the same words are one, which needs the tools of all. Documents are what
the retriever `dense` embeds of a tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from seal.core.store import open_store
from seal.core.text import counted, words
from seal.experiments.negatives import Mined, mine
from seal.experiments.splits import GoldQuery, asked_of, plain
from seal.retrievers.base import documents

if TYPE_CHECKING:
    from seal.experiments.export import Writer

FILE = "triplets.jsonl"


def write_triplets(to: Writer) -> None:
    """Write a pool's queries with the tools that they need, and hard negatives (`negatives`).

    Raises:
        UnknownNameError: There is no such retriever.
        UsageError: The retriever reads gold, or only the order of its scores has meaning.
        DataError: The pool has too few tools.
    """
    tasks = list(to.pool.every_task())
    every = asked_of(tasks)
    without = sum(len(task.goals) for task in tasks) - len(every)
    if without:
        to.left_out["goals without relevant tools"] += without
    asked = _joined(every)
    tools = to.pool.tools()
    texts = dict(zip((tool.id for tool in tools), documents(tools), strict=True))
    mined = Mined()
    if asked:
        with closing(open_store()) as store:
            mined = mine(to.pool, asked, texts, to.mining, store)
    to.lines(FILE, "triplets", _triplets(asked, texts, mined))
    to.read_back = (
        f'`datasets.load_dataset("json", data_files="{FILE}")` reads it. '
        f"{counted(to.mining.negatives, 'hard negative')} a line, {mined.found} found by "
        f"{to.mining.negatives_by}, {mined.drawn} drawn by chance; not taken: "
        f"{mined.too_near_in_score} whose score is too near that of the needed tool, "
        f"{mined.too_near_in_text} whose document is."
    )


def _joined(asked: Sequence[GoldQuery]) -> list[GoldQuery]:
    """Return the queries, those of the same words as the first of them with the tools of all."""
    found: dict[str, GoldQuery] = {}
    for query in asked:
        first = found.setdefault(plain(query.text), query)
        tools = tuple(dict.fromkeys((*first.tools, *query.tools)))
        found[plain(query.text)] = replace(first, tools=tools)
    return list(found.values())


def _triplets(
    asked: Sequence[GoldQuery], texts: Mapping[str, str], mined: Mined
) -> Iterator[dict[str, str]]:
    """Yield each query with each document once; a tool without a word in its document has none."""
    told: set[tuple[str, str]] = set()
    for query in asked:
        for tool in query.tools:
            text = texts[tool]
            if words(text) and (query.text, text) not in told:
                told.add((query.text, text))
                hard = mined.negatives[query.text, tool]
                names = [f"negative_{n}" for n in range(1, len(hard) + 1)]
                names = names if len(hard) > 1 else ["negative"]
                pair = {"anchor": query.text, "positive": text}
                yield {**pair, **dict(zip(names, hard, strict=True))}

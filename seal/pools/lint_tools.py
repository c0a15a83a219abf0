"""Tools that a retriever cannot tell apart, or that say nothing of themselves.

A description is judged by its words alone, whatever their case (`seal.core.text.words`); the first
that applies is found:

- empty: no letter and no digit, such as "" or "-";
- placeholder: nothing but words of `PLACEHOLDERS`;
- name: the words of the tool's own name, or of the service's and its own;
- short: at most `SHORT` characters.

Near duplicates are each pair above a threshold, exactly. Two documents are as alike as rapidfuzz's
normalised indel ratio says: 100 less the share, in per cent, of characters to insert or delete.
Documents whose lengths lie too far apart cannot reach the threshold, and neither can those whose
letters differ too often; the others are compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from seal.core import Tool, shortened
from seal.core.schema_faults import schema_faults
from seal.core.text import words
from seal.pools.lint_findings import Finding
from seal.retrievers.base import documents, names
from seal.retrievers.base import shortened_document as cut

SHORT = 15
"""Characters of a short description, without blanks around it."""
PLACEHOLDERS = frozenset({
    "a", "api", "available", "bar", "default", "desc", "descr", "description", "dummy", "empty",
    "endpoint", "example", "foo", "function", "ipsum", "lorem", "method", "n", "na", "nil", "no",
    "none", "not", "null", "placeholder", "string", "tba", "tbd", "test", "testing", "tests",
    "text", "todo", "tool", "undefined", "unknown", "xxx",
})  # fmt: skip
"""Words that say nothing of what a tool does."""


def broken_schemas(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each place of a tool's parameters that is no JSON Schema."""
    for tool in tools:
        for fault in schema_faults(tool.parameters):
            message = f"tool {tool.id!r}: parameters.{fault.path}: {fault.text}"
            yield Finding("broken_schema", message, tools=(tool.id,), evidence=fault._asdict())


def descriptions(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each tool whose description says little or nothing."""
    for tool in tools:
        kind = description_fault(tool)
        if kind is not None:
            told = shortened(tool.description)
            message = f"tool {tool.id!r}: the description is {told}"
            yield Finding(
                kind, message, tools=(tool.id,), evidence={"description": tool.description}
            )


def description_fault(tool: Tool) -> str | None:
    """Return the kind of finding that a tool's description is, or None."""
    told = words(tool.description)
    if not told:
        return "empty_description"
    if PLACEHOLDERS.issuperset(told):
        return "placeholder_description"
    service, api = names(tool)
    if told in (words(tool.name), words(api), words(f"{service} {api}")):
        return "name_description"
    return "short_description" if len(tool.description.strip()) <= SHORT else None


def duplicates(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each group of tools with one name and one description.

    The name is the API's own, as upstream has it; case and blanks do not count. Tools without a
    description count too: then their names alone are the same.
    """
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for tool in tools:
        groups[plain(names(tool).api), plain(tool.description)].append(tool.id)
    for (name, description), ids in groups.items():
        if len(ids) > 1:
            evidence = {"name": name, "description": description, "tools": len(ids)}
            message = f"{len(ids)} tools share the name {shortened(name)} and their description"
            yield Finding("duplicate_tool", message, tools=tuple(ids), evidence=evidence)


def plain(text: str) -> str:
    """Return a text as duplicates compare it: case folded, blanks collapsed."""
    return " ".join(text.casefold().split())


THRESHOLD = 90.0
COMPARED = 300
"""Characters of a document that are compared."""
NEAREST = 10
"""Pairs of one tool, the most alike; a family of a hundred equal documents has 4,950."""
_BLOCK = 256
_LETTERS = 32
"""Columns of a text's letter counts; letters that share one are taken as equal."""
_ROUNDING = 1e-6
"""Edits that a bound may err by."""


class TextPair(NamedTuple):
    """Two texts by position, the first of them before the second."""

    left: int
    right: int
    ratio: float


def near_duplicates(tools: Sequence[Tool], threshold: float = THRESHOLD) -> Iterator[Finding]:
    """Yield a finding for each pair of tools with nearly the same document, the likest first.

    The document is the retrievers' default one ("tool api: description"). Tools without a
    description are left out, for their names alone would be compared.

    Args:
        tools: The tools.
        threshold: Least ratio, in (0, 100].
    """
    described = [tool for tool in tools if description_fault(tool) != "empty_description"]
    texts = [cut(plain(text), COMPARED) for text in documents(described)]
    found: Counter[int] = Counter()
    for left, right, ratio in sorted(pairs(texts, threshold), key=_likest_first):
        if max(found[left], found[right]) >= NEAREST:
            continue
        found.update((left, right))
        ids = (described[left].id, described[right].id)
        message = f"the documents of {ids[0]!r} and {ids[1]!r} are {ratio:.0f} % the same"
        evidence = {"ratio": round(ratio, 2), "documents": [texts[left], texts[right]]}
        yield Finding("near_duplicate_tool", message, tools=ids, evidence=evidence)


def pairs(texts: Sequence[str], threshold: float) -> Iterator[TextPair]:
    """Yield every two texts whose ratio is at least the threshold, in (0, 100]."""
    from rapidfuzz import fuzz, process

    order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
    for lefts, rights in _candidates([texts[position] for position in order], threshold):
        ratios = process.cpdist(
            [texts[order[left]] for left in lefts],
            [texts[order[right]] for right in rights],
            scorer=fuzz.ratio,
            score_cutoff=threshold,
            dtype=np.float64,
        )
        for left, right, ratio in zip(lefts, rights, ratios, strict=True):
            if ratio >= threshold:
                first, second = sorted((order[left], order[right]))
                yield TextPair(first, second, float(ratio))


def _candidates(
    texts: Sequence[str], threshold: float
) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Yield the positions of pairs that may reach the threshold, block by block.

    Args:
        texts: In the order of their lengths.
        threshold: A ratio of 100 (1 - d / (a + b)), where a and b are the lengths and d is the
            number of edits. d is at least |a - b|, and at least the sum of the differences between
            the two counts of each letter: an edit changes one count by one.
    """
    lengths = np.array([len(text) for text in texts])
    letters = np.array([_letter_counts(text) for text in texts]).reshape(-1, _LETTERS)
    allowed = 1 - threshold / 100
    for start in range(0, len(texts), _BLOCK):
        stop = min(start + _BLOCK, len(texts))
        longest = lengths[stop - 1] * (1 + allowed) / (1 - allowed)
        end = int(np.searchsorted(lengths, longest, side="right"))
        edits = sum(
            np.abs(np.subtract.outer(block, others))
            for block, others in zip(letters[start:stop].T, letters[start:end].T, strict=True)
        )
        totals = lengths[start:stop, None] + lengths[None, start:end]
        near = edits <= totals * allowed + _ROUNDING
        rows, columns = np.nonzero(np.triu(near, 1))
        yield rows + start, columns + start


def _letter_counts(text: str) -> np.ndarray[Any, Any]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.bincount(codes % _LETTERS, minlength=_LETTERS)


def _likest_first(pair: TextPair) -> tuple[float, int, int]:
    return -pair.ratio, pair.left, pair.right

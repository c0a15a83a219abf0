"""Missions and arguments as MMTB's code judges them."""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

from seal.core import needing
from seal.evaluation.argument_pairs import (
    ArgumentError,
    ArgumentMatch,
    Pair,
    Pairing,
    Scorer,
    argument_error,
)
from seal.evaluation.goals import Rules
from seal.evaluation.mission_gold import ANSWER, ASK, PSEUDO, Call, Graph, Turn, bits, mask_of
from seal.evaluation.missions import (
    MissionRules,
    Tools,
    Verdict,
    action_error,
    taken,
    verdict_at,
)

# -- Missions as Multi-Mission Tool Bench's code judges them: the rules of `mmtb`.
#
# The code allows fewer paths than the paper's definition. Of the ready nodes' subsets, by size and
# then by position, only the first of each sequence of names stays. Neighbours of one name among the
# ready nodes are a run, to be called all at once or one directly after the other. A subset that
# begins with a part of a run is dropped. A subset of one node, the first of a run, stays: it stands
# for the whole run, one node a turn. The set of all ready nodes always stays, so the fewest steps
# are those of the definition.
#
# The first subset in order whose names are the turn's is taken, and there is no way back. A text
# that asks takes none: the question is not marked as asked, and the paths through all subsets stay
# open.
#
# Further, where the engine's rules (`seal.evaluation.missions`) do otherwise:
#
# - Calls stand for the gold calls that fit best, call by call, not for those that make most
#   accepted.
# - A mission whose calls were right and one of whose arguments cannot be compared fails for its
#   calls.
# - Every turn but the last one completes nodes, whether its arguments are accepted or not.
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), evaluation code.

_RAISES = frozenset({"malformed arguments", "incomparable arguments"})
"""Errors where the original raises."""


class OriginalError(Exception):
    """The original raises here; the text is the name of its exception."""


def judge_original(graph: Graph, turns: Sequence[Turn], offered: Tools, scorer: Scorer) -> Verdict:
    """Return how a mission went by the rules of `mmtb`."""
    pairing = Pairing(graph, offered, scorer)
    walk = OriginalWalk(graph)
    seen: list[Turn] = []
    try:
        seen += taken(walk, turns)
    except OriginalError as error:
        failed = verdict_at(graph, walk, turns[: walk.taken + 1], offered)
        return replace(failed, label="exception", exception=str(error))
    verdict = verdict_at(graph, walk, seen, offered, walk.finished)
    # Every turn but the last one counts by its calls, right or not.
    completed = sum(len(turn.calls) or 1 for turn in seen[:-1])
    wrong = replace(verdict, param_label="error", completed=completed)
    if not walk.finished:
        return wrong
    try:
        pairs, errors = greedy_pairs(graph, pairing, seen)
    except OriginalError as error:  # which the original takes for a failure of the calls
        why = action_error(graph, seen, offered)
        return replace(wrong, error_type=why, exception=str(error))
    if all(pair.match.accepted for pair in pairs):
        return replace(verdict, pairs=tuple(pairs))
    return replace(
        wrong,
        error_type=argument_error(errors),
        completed=completed + (len(seen[-1].calls) or 1),
        pairs=tuple(pairs),
    )


def greedy_pairs(
    graph: Graph, pairing: Pairing, turns: Sequence[Turn]
) -> tuple[list[Pair], Collection[ArgumentError]]:
    """Return Multi-Mission Tool Bench's pairs, and the errors of the first that is not accepted.

    Each call in turn takes the free gold call of its name with the highest score, of equal ones the
    first. The errors are those beside the last free one, whichever it took.

    Raises:
        OriginalError: The names are not those of gold, or arguments cannot be compared.
    """
    by_name: dict[str, list[tuple[int, int, Call]]] = {}
    for turn, done in enumerate(turns):
        for position, call in enumerate(done.calls):
            by_name.setdefault(call.name, []).append((turn, position, call))
    gold = Counter(name for name in graph.names if name not in PSEUDO)
    if len(by_name) != len(gold) or any(len(c) != gold[n] for n, c in by_name.items()):
        raise OriginalError("AssertionError" if by_name.keys() <= gold.keys() else "KeyError")
    found: list[Pair] = []
    bad: dict[int, Collection[ArgumentError]] = {}
    for name, calls in by_name.items():
        free = list(pairing.nodes(name))
        for turn, position, call in calls:
            matches = [pairing.match(call, node) for node in free]
            if any(_RAISES.intersection(match.errors) for match in matches):
                raise OriginalError("ZeroDivisionError" if call.arguments == {} else "TypeError")
            best = max(range(len(free)), key=lambda i: (matches[i].score, -i))
            found.append(Pair(turn, position, free.pop(best), matches[best]))
            if not matches[best].accepted:
                bad.setdefault(turn, matches[-1].errors)
    return found, bad[min(bad)] if bad else ()


MOST_BRANCHES = 4096
"""Beginnings of paths that are followed at once; of more, the first."""


class _Branch(NamedTuple):
    done: int
    rest: tuple[int, ...] = ()
    """Of a run that was begun: what must follow."""


class OriginalWalk:
    """The turns of a model, taken one after the other, as long as they are right.

    Args:
        graph: The gold calls.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._branches = [_Branch(0)]
        self.finished = False
        """The mission is over, and all was right."""
        self.taken = 0
        """Turns that were right."""
        self.cut = False
        """There were more beginnings of paths than are followed."""

    def take(self, turn: Turn) -> bool:
        """Tell whether a turn is right; a wrong one changes nothing.

        Raises:
            OriginalError: The original raises.
        """
        if turn.empty:
            return False
        right = self._take_calls(turn) if turn.calls else self._take_text()
        self.taken += right
        return right

    @property
    def legal_next(self) -> tuple[str, ...]:
        """Names that may come next, sorted; a name as often as it may come at once."""
        most: Counter[str] = Counter()
        for branch in self._branches:
            ready = branch.rest[:1] or bits(self._graph.ready(branch.done))
            most |= Counter(self._graph.names[node] for node in ready)
        return tuple(sorted(most.elements()))

    def _take_calls(self, turn: Turn) -> bool:
        wanted = Counter(call.name for call in turn.calls)
        found = ((b, n, r) for b in self._branches for n, r in self._groups(b, wanted))
        first = next(found, None)
        if first is None:
            return False
        taken = first[1]
        again = ((b, self._rest(b, taken)) for b in self._branches)
        self._follow(self._after(b, taken, rest) for b, rest in again if rest is not None)
        return True

    def _rest(self, branch: _Branch, nodes: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the rest of a run that a subset begins; None: it may not come next."""
        names = Counter(self._graph.names[node] for node in nodes)
        found = self._groups(branch, names)
        return next((rest for other, rest in found if other == nodes), None)

    def _take_text(self) -> bool:
        if self.taken >= len(self._graph):
            raise OriginalError("KeyError")
        for branch in self._branches:
            for nodes, _ in self._groups(branch, None, most=1):
                name = self._graph.names[nodes[0]]
                if name == ANSWER:
                    self.finished = True
                    return True
                if name == ASK:
                    self._follow(
                        self._after(other, group, rest)
                        for other in self._branches
                        for group, rest in self._groups(other, None)
                    )
                    return True
        return False

    def _follow(self, branches: Iterator[_Branch]) -> None:
        """Follow these, each once and in order, for those that leave the same end the same."""
        found: dict[_Branch, None] = {}
        for branch in branches:
            found[branch] = None
            if len(found) > MOST_BRANCHES:
                self.cut = True
                del found[branch]
                break
        self._branches = list(found)

    @staticmethod
    def _after(branch: _Branch, nodes: Sequence[int], rest: tuple[int, ...]) -> _Branch:
        return _Branch(branch.done | mask_of(nodes), rest)

    def _groups(
        self, branch: _Branch, wanted: Counter[str] | None, most: int | None = None
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the subsets that may come next, in order, with the rest of a run that they begin.

        Args:
            branch: The beginning of a path.
            wanted: Names that a subset must have; None: any.
            most: Nodes of a subset at most; None: any number.
        """
        if branch.rest:
            first = branch.rest[:1]
            if wanted is None or wanted == Counter({self._graph.names[first[0]]: 1}):
                yield first, branch.rest[1:]
            return
        yield from groups(self._graph, branch.done, wanted, most)


def groups(
    graph: Graph, done: int, wanted: Counter[str] | None = None, most: int | None = None
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the subsets that may follow a set of finished nodes, with the rest of a run begun.

    Args:
        graph: The gold calls.
        done: Finished nodes.
        wanted: Names that a subset must have; None: any.
        most: Nodes of a subset at most; None: any number.
    """
    ready = list(bits(graph.ready(done)))
    starts = _starts(graph, ready)
    sizes = range(1, min(most or len(ready), len(ready)) + 1)
    for size in sizes if wanted is None else [wanted.total()]:
        for run in starts:
            first = run if size > 1 else run[:1]
            names = Counter(graph.names[node] for node in first)
            if len(first) > size or (wanted is not None and not names <= wanted):
                continue
            left = ready[ready.index(first[-1]) + 1 :]
            rest = None if wanted is None else wanted - names
            for others in _subsets(graph, left, size - len(first), rest):
                yield (*first, *others), run[1:] if size == 1 else ()


def _starts(graph: Graph, ready: Sequence[int]) -> list[tuple[int, ...]]:
    """Return what a subset may begin with: of each name the first run, of one node or more."""
    runs: list[tuple[int, ...]] = []
    for node in ready:
        if runs and graph.names[runs[-1][-1]] == graph.names[node]:
            runs[-1] = (*runs[-1], node)
        else:
            runs.append((node,))
    first = {graph.names[run[0]]: run for run in reversed(runs)}
    return [run for run in runs if first[graph.names[run[0]]] == run]


def _subsets(
    graph: Graph, ready: Sequence[int], size: int, wanted: Counter[str] | None
) -> Iterator[tuple[int, ...]]:
    """Yield the subsets of a size in order of position, the first of each sequence of names.

    Args:
        graph: The gold calls.
        ready: The nodes.
        size: Nodes of a subset.
        wanted: Names that a subset must have; None: any.
    """
    if not size:
        yield ()
        return
    tried: set[str] = set()
    for place, node in enumerate(ready[: len(ready) - size + 1]):
        if wanted is not None and not wanted <= Counter(graph.names[n] for n in ready[place:]):
            return
        name = graph.names[node]
        if name in tried or (wanted is not None and not wanted[name]):
            continue
        tried.add(name)
        rest = None if wanted is None else wanted - Counter([name])
        for others in _subsets(graph, ready[place + 1 :], size - 1, rest):
            yield (node, *others)


ORIGINAL = MissionRules("mmtb", judge_original, answered=True)
RULES = Rules(missions=ORIGINAL)


# -- The arguments of a call beside the gold call's, by Multi-Mission Tool Bench's scorer `mmtb`.
#
# The score is the mean over the predicted arguments; texts count by how many of their words they
# share; what the gold call leaves out is right where the description names it. A call is accepted
# from 0.7, so that one of four arguments may be wrong. The original raises for a schema that is
# none, and for a value of another kind than the schema says. `Incomparable` is raised there, and
# the call is not accepted. Words are those that jieba cuts, in any language.
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), evaluation code.

ALIKE = 0.7
"""Overlap of two texts that is not enough; the least score of a call that is accepted."""

_COORDINATES = re.compile(r"\d+\.\d+,\d+\.\d+$")
_SCALARS = frozenset({"integer", "boolean", "float", "number"})


class Incomparable(Exception):
    """No rule says how these values compare."""


class Scored(NamedTuple):
    """How well a value fits."""

    score: float
    """In [0, 1]."""
    errors: list[ArgumentError]


def score_value(predicted: Any, gold: Any, schema: Any) -> Scored:
    """Return how well a value fits the gold one.

    Args:
        predicted: A JSON value.
        gold: A JSON value.
        schema: JSON Schema of the value, or the properties of an object.

    Raises:
        Incomparable: No rule applies.
    """
    if _kind(predicted) is not _kind(gold):
        return Scored(0, ["type error"])
    if predicted == gold or (isinstance(predicted, str) and same_letters(predicted, gold)):
        return Scored(1, [])
    if not isinstance(schema, Mapping):
        raise Incomparable(f"the schema is no object: {schema!r}")
    if isinstance(predicted, dict):
        return _score_object(predicted, gold, schema)
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _SCALARS:
        return Scored(0, ["param value error"])
    if kind == "string" and isinstance(predicted, str):
        return _score_text(predicted, gold)
    if kind == "array" and isinstance(predicted, list):
        return _score_array(predicted, gold, schema)
    raise Incomparable(f"a {type(predicted).__name__} for the type {kind!r}")


def score_default(value: Any, schema: Any) -> Scored:
    """Return whether a value that the gold call leaves out is a default, as its description tells.

    Raises:
        Incomparable: There is no description to look in.
    """
    description = schema.get("description", "") if isinstance(schema, Mapping) else None
    if not isinstance(description, str):
        raise Incomparable(f"no description in {schema!r}")
    try:
        told, text = description.lower(), str(value).lower()
    except ValueError as error:
        raise Incomparable("a number too long to be written") from error
    if text in told or (text == "none" and "null" in told):
        return Scored(1, [])
    return Scored(0, ["param value hallucination"])


def mean(scores: Sequence[float]) -> float:
    """Return the mean of at least one score."""
    return sum(scores) / len(scores)


def same_letters(left: str, right: str) -> bool:
    """Tell whether two texts are equal but for blanks and case."""
    return "".join(left.split()).lower() == "".join(right.split()).lower()


def _kind(value: Any) -> type:
    """Return the type of a value; whole numbers and others are of one."""
    return float if type(value) is int else type(value)


def _score_object(
    predicted: Mapping[str, Any], gold: Mapping[str, Any], schema: Mapping[str, Any]
) -> Scored:
    """Return the mean over the predicted members."""
    members = _members(schema)
    scores, errors = [], []
    for name, value in predicted.items():
        if name not in members:
            return Scored(0, ["param hallucination"])
        scored = _score_member(name, value, gold, members[name])
        scores.append(scored.score)
        errors += scored.errors
    if not scores:  # the gold one is not empty, else they would be equal
        return Scored(0, ["param value error"])
    return Scored(mean(scores), errors)


def _score_member(name: str, value: Any, gold: Mapping[str, Any], schema: Any) -> Scored:
    return score_value(value, gold[name], schema) if name in gold else score_default(value, schema)


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schemas of an object's members.

    Schemas as benchmarks write them: `items` may stand for `properties`, and properties may stand
    alone.
    """
    found = schema.get("items", schema.get("properties", schema))
    if isinstance(found, Mapping):
        found = found.get("properties", found)
    if not isinstance(found, Mapping):
        raise Incomparable(f"no members in {schema!r}")
    return found


def _score_text(predicted: str, gold: str) -> Scored:
    if _COORDINATES.match(predicted) and _COORDINATES.match(gold):
        return Scored(1, [])
    from seal.core.rouge import overlap

    score = overlap(words(predicted), words(gold))
    return Scored(score, [] if score > ALIKE else ["param value error"])


def _score_array(predicted: list[Any], gold: list[Any], schema: Mapping[str, Any]) -> Scored:
    """Return the mean over the pairs of items when both lists are sorted by their JSON text."""
    if len(predicted) != len(gold):
        return Scored(0, ["param value error"])
    items = schema.get("items", {"type": "string"})
    if isinstance(items, Mapping) and "properties" in items:
        items = items["properties"]
    try:
        pairs = zip(sorted(predicted, key=_text), sorted(gold, key=_text), strict=True)
    except ValueError as error:
        raise Incomparable("a number too long to be written") from error
    scored = [score_value(ours, theirs, items) for ours, theirs in pairs]
    return Scored(mean([s.score for s in scored]), [e for s in scored for e in s.errors])


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words, punctuation marks and blanks of a text in order, none left out.

    Raises:
        MissingExtraError: jieba is not installed.
    """
    return tuple(_cutter().cut(text))


@cache
def _cutter() -> Any:
    # Older setuptools, which it looks for, warn of themselves.
    with needing("jieba", "missions"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.WARNING)  # else it tells on stderr that it reads its words
    return jieba.Tokenizer()


def mmtb_match(
    predicted: Mapping[str, Any], answer: Mapping[str, Any], properties: Mapping[str, Any]
) -> ArgumentMatch:
    """Return how well the arguments of a call fit by the rules of `mmtb`."""
    if not predicted and not answer:
        return ArgumentMatch(1.0, accepted=True)
    if not predicted:  # the original divides by zero
        return ArgumentMatch(0.0, errors=("incomparable arguments",))
    scores: dict[str, float] = {}
    errors: list[ArgumentError] = []
    try:
        for name, value in predicted.items():
            if name not in properties:
                scores[name] = 0.0
                errors.append("param hallucination")
                continue
            scored = _score_member(name, value, answer, properties[name])
            scores[name] = scored.score
            errors += scored.errors
    except Incomparable:
        return ArgumentMatch(0.0, errors=("incomparable arguments",))
    score = mean(list(scores.values()))
    return ArgumentMatch(score, scores, tuple(errors), score >= ALIKE)


MMTB = Scorer(mmtb_match)

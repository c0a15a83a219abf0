"""Missions judged from plain data, as the vectors have them: gold calls, outputs, arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any

from mission_paths import PathCounts, count_moves, count_paths

from seal.benchmarks.mmtb.published_rules import ORIGINAL, groups
from seal.core import DataError, UnknownNameError, shortened
from seal.core.schemas import MAX_DEPTH
from seal.core.values import nested_deeper
from seal.evaluation.argument_pairs import ArgumentMatch, fit, parse_arguments, scorer_named
from seal.evaluation.mission_gold import Call, Graph, Turn, checked_graph, mask_of
from seal.evaluation.missions import CLEAN, MissionRules, Verdict, verdict_on

MATCHES = {rules.name: rules for rules in (CLEAN, ORIGINAL)}


@dataclass(frozen=True)
class MissionVerdict(Verdict):
    """How a mission went, and in how many ways it could have gone right."""

    graph: Graph = field(repr=False, compare=False)
    rules: MissionRules

    @property
    def regret(self) -> int | None:
        """Steps beyond the fewest; None where the label is not correct."""
        return self.steps - self.min_length if self.label == "correct" else None

    @property
    def n_paths(self) -> int | None:
        """Number of right ways, counted when first asked for; None: see `no_counts`."""
        return self._counts.paths

    @property
    def n_optimal_paths(self) -> int | None:
        """Number of right ways of the fewest steps; None: see `no_counts`."""
        return self._counts.optimal

    @property
    def no_counts(self) -> str:
        """Why there are no numbers of paths; empty where there are."""
        return self._counts.reason

    @cached_property
    def _counts(self) -> PathCounts:
        if self.rules is ORIGINAL:
            return count_moves(self.graph, partial(moves, self.graph))
        return count_paths(self.graph.closed())


def moves(graph: Graph, done: int) -> Iterator[tuple[int, int]]:
    """Yield for a set of finished nodes each set that may come next, and the steps to it."""
    for nodes, rest in groups(graph, done):
        yield done | mask_of((*nodes, *rest)), 1 + len(rest)


def read_graph(nodes: Sequence[Mapping[str, Any]]) -> Graph:
    """Return the graph of gold nodes `{name, deps, arguments}`.

    Raises:
        DataError: A record is not of that form, or as of `Graph`.
    """
    if not isinstance(nodes, Sequence) or isinstance(nodes, str):
        raise DataError(f"nodes: expected a list of gold calls, got {shortened(nodes)}")
    names, arguments, deps = [], [], []
    for position, node in enumerate(nodes):
        names.append(_field(node, position, "name", str, "a text"))
        arguments.append(_field(node, position, "arguments", Mapping, "an object", {}))
        deps.append(_field(node, position, "deps", Sequence, "a list", ()))
    return checked_graph(names, arguments, deps)


def _field(node: Any, position: int, name: str, kind: Any, wanted: str, default: Any = None) -> Any:
    if not isinstance(node, Mapping):
        raise DataError(f"node {position}: expected an object, got {shortened(node)}")
    value = node.get(name, default)
    if not isinstance(value, kind) or (kind is Sequence and isinstance(value, str)):
        raise DataError(f"node {position}: {name}: expected {wanted}, got {shortened(value)}")
    return value


def read_turns(steps: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Return the turns of records `{"tool_calls": [{name, arguments}...]}`, `{"content": text}`.

    An empty record is a turn without calls and text. What a model may get wrong is an outcome, no
    error: calls that are no list of named ones make the turn malformed.

    Raises:
        DataError: A record is no object, or there is no list of them.
    """
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise DataError(
            f"steps: expected a list of the model's outputs, got {shortened(steps)}; "
            "of a model that did nothing it is empty"
        )
    turns = []
    for position, step in enumerate(steps):
        if not isinstance(step, Mapping):
            raise DataError(f"step {position}: expected an object, got {shortened(step)}")
        calls, text = step.get("tool_calls"), step.get("content")
        if not calls:
            turns.append(Turn(text=text if isinstance(text, str) else ""))
        elif not isinstance(calls, Sequence) or not all(map(_is_call, calls)):
            turns.append(Turn(malformed=True))
        else:
            named = (Call(call["name"], call.get("arguments", {})) for call in calls)
            turns.append(Turn(tuple(named)))
    return turns


def _is_call(call: Any) -> bool:
    return isinstance(call, Mapping) and isinstance(call.get("name"), str)


def judge(
    nodes: Sequence[Mapping[str, Any]],
    steps: Sequence[Mapping[str, Any]],
    match: str = "clean",
    *,
    tools: Mapping[str, Mapping[str, Any]] | None = None,
    scorer: str = "mmtb",
) -> MissionVerdict:
    """Return how a mission went.

    Where gold calls share a name, there are many ways to tell which a call stands for. A right one
    is sought with all turns in view. If the search ends too soon to tell, the verdict says so
    (`Verdict.undecided`).

    Args:
        nodes: Gold calls `{name, deps, arguments}`; `deps` are positions. A question to the user
            and the final answer are nodes named `ask_user_for_required_parameters` and
            `prepare_to_answer`.
        steps: Outputs of the model, one a turn: `{"tool_calls": [{name, arguments}...]}`,
            `{"content": text}` or `{}`; after them it says nothing. What follows the end of the
            mission is not read.
        match: The rules: clean or mmtb.
        tools: JSON Schemas of the arguments by the names of the offered tools. None: types and
            names are those of the gold calls, and all tools were offered but `not_in_list`.
        scorer: The rules of `match_arguments`.

    Raises:
        DataError: Nodes, steps or tools are not of that form, gold arguments nest more than 50
            levels deep, or the dependencies have a cycle.
        UnknownNameError: No such rules.
        MissingExtraError: Two texts differ and jieba, which cuts them into words, is absent.
    """
    if match not in MATCHES:
        raise UnknownNameError("match", str(match), MATCHES)
    _check_tools(tools)
    graph, rules = read_graph(nodes), MATCHES[match]
    verdict = verdict_on(graph, read_turns(steps), rules, tools, scorer)
    told = {each.name: getattr(verdict, each.name) for each in fields(verdict)}
    return MissionVerdict(**told, graph=graph, rules=rules)


def _check_tools(tools: Any) -> None:
    if tools is None:
        return
    if not isinstance(tools, Mapping):
        raise DataError(f"tools: expected JSON Schemas by name, got {shortened(tools)}")
    for name, schema in tools.items():
        if not isinstance(schema, Mapping):
            raise DataError(f"tools: {name}: expected a JSON Schema, got {shortened(schema)}")


def match_arguments(
    prediction: Mapping[str, Any] | str | None,
    answer: Mapping[str, Any],
    schema: Mapping[str, Any],
    required: Sequence[str] = (),
    scorer: str = "mmtb",
) -> ArgumentMatch:
    """Return how well the arguments of a call fit the gold call's.

    Args:
        prediction: The arguments, or their JSON text. What is no object is not accepted.
        answer: The gold arguments.
        schema: JSON Schema of the arguments, or its `properties` alone.
        required: Names that must be given, besides those that the schema requires.
        scorer: The rules.

    Raises:
        UnknownNameError: No such scorer.
        DataError: Gold arguments, schema or required names are not of that form, or the gold ones
            nest more than 50 levels deep.
        MissingExtraError: Two texts differ and jieba, which cuts them into words, is absent.
    """
    compared = scorer_named(str(scorer))
    _check(answer, schema, required)
    return fit(parse_arguments(prediction), answer, schema, required, compared)


def _check(answer: Any, schema: Any, required: Any) -> None:
    """Refuse what a benchmark, not a model, got wrong."""
    if not isinstance(answer, Mapping):
        raise DataError(f"answer: expected the gold arguments, an object; got {shortened(answer)}")
    if nested_deeper(answer, MAX_DEPTH):
        raise DataError(f"answer: nested more than {MAX_DEPTH} levels deep; make it flatter")
    if not isinstance(schema, Mapping):
        raise DataError(
            f"schema: expected a JSON Schema, got {shortened(schema)}; {{}} declares no argument"
        )
    names = isinstance(required, Sequence) and not isinstance(required, str)
    if not names or not all(isinstance(name, str) for name in required):
        raise DataError(
            f"required: expected a list of names, got {shortened(required)}; "
            "write one name as a list of one"
        )

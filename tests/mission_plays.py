"""Small missions, and their paths by listing them all."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

ANSWER = "prepare_to_answer"
ASK = "ask_user_for_required_parameters"

Node = dict[str, Any]
Path = list[tuple[int, ...]]


def node(name: str, *deps: int, **arguments: Any) -> Node:
    return {"name": name, "deps": list(deps), "arguments": arguments}


def answer(*deps: int) -> Node:
    return node(ANSWER, *deps, answer_type="tool")


def turn(*nodes: Node) -> dict[str, Any]:
    return {"tool_calls": [{"name": n["name"], "arguments": n["arguments"]} for n in nodes]}


SAID = {"content": "Here you are."}


def played(nodes: Sequence[Node], path: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Return the turns that take a path."""
    return [
        SAID if nodes[step[0]]["name"] in (ANSWER, ASK) else turn(*(nodes[n] for n in step))
        for step in path
    ]


def listed_paths(nodes: Sequence[Node], done: tuple[int, ...] = ()) -> Iterator[Path]:
    """Yield all paths, one by one."""
    if len(done) == len(nodes):
        yield []
    ready = [n for n in range(len(nodes)) if n not in done and {*nodes[n]["deps"]} <= {*done}]
    for size in range(1, len(ready) + 1):
        for step in combinations(ready, size):
            for rest in listed_paths(nodes, (*done, *step)):
                yield [step, *rest]


def names_of(nodes: Sequence[Node], path: Path) -> list[tuple[str, ...]]:
    return [tuple(sorted(nodes[n]["name"] for n in step)) for step in path]


def names_of_turns(turns: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return what turns do, those that only speak as the final answer."""
    return [
        tuple(sorted(call["name"] for call in done.get("tool_calls", []))) or (ANSWER,)
        for done in turns
    ]


@st.composite
def missions(draw: Any, most: int = 5) -> list[Node]:
    """Nodes whose names and arguments repeat, numbered in no order, and the final answer."""
    count = draw(st.integers(1, most))
    place = draw(st.permutations(range(count)))
    nodes: list[Node] = [{} for _ in range(count)]
    for step, position in enumerate(place):
        deps = [earlier for earlier in place[:step] if draw(st.booleans())]
        nodes[position] = node(draw(st.sampled_from("abc")), *deps, x=draw(st.integers(0, 2)))
    return [*nodes, answer(*range(count))]


@st.composite
def plays(draw: Any) -> tuple[list[Node], list[dict[str, Any]]]:
    """A mission, and the turns of one of its paths with a few changes, or none."""
    nodes = draw(missions())
    path = draw(st.sampled_from(list(listed_paths(nodes))))
    turns = played(nodes, path)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(turns) - 1))
        change = draw(st.sampled_from(["drop", "repeat", "swap", "merge", "split", "other"]))
        turns = changed(turns, at, change)
    return nodes, turns


def changed(turns: list[dict[str, Any]], at: int, change: str) -> list[dict[str, Any]]:
    """Return the turns with one change; the last one, which answers, stays."""
    here, then, later = turns[at], turns[at + 1 : at + 2], turns[at + 2 :]
    calls = here.get("tool_calls")
    if calls is None:
        return turns
    if change == "drop":
        return [*turns[:at], *then, *later]
    if change == "repeat":
        return [*turns[:at], here, here, *then, *later]
    if change == "split" and len(calls) > 1:
        parts = [{"tool_calls": [call]} for call in calls]
        return [*turns[:at], *parts, *then, *later]
    if change == "other":
        other = {"tool_calls": [{**calls[0], "name": "abc"[len(calls) % 3]}, *calls[1:]]}
        return [*turns[:at], other, *then, *later]
    if then and "tool_calls" in then[0]:
        if change == "swap":
            return [*turns[:at], *then, here, *later]
        if change == "merge":
            return [*turns[:at], {"tool_calls": calls + then[0]["tool_calls"]}, *later]
    return turns


def next_names(nodes: Sequence[Node], turns: Sequence[tuple[str, ...]]) -> Counter[str]:
    """Return the names that may follow some turns, each as often as it may come at once."""
    most: Counter[str] = Counter()
    for path in listed_paths(nodes):
        names = names_of(nodes, path)
        if names[: len(turns)] == list(turns) and len(names) > len(turns):
            most |= Counter(names[len(turns)])
    return most


def repeated(
    drawn: random.Random, count: int, density: float, values: int, names: int
) -> tuple[list[Node], list[dict[str, Any]]]:
    """Return nodes whose names and arguments repeat, and turns that take them by drawn groups."""
    nodes = [
        node(
            "tuv"[i % names],
            *(before for before in range(i) if drawn.random() < density),
            x=i % values,
        )
        for i in range(count)
    ]
    left, turns = set(range(count)), []
    while left:
        ready = [i for i in sorted(left) if not left & {*nodes[i]["deps"]}]
        taken = drawn.sample(ready, drawn.randint(1, min(3, len(ready))))
        left -= {*taken}
        turns.append(turn(*(nodes[i] for i in taken)))
    return nodes, turns


def undecided() -> tuple[list[Node], list[dict[str, Any]]]:
    """Return a mission, and turns with wrong arguments of which that takes too long to prove."""
    drawn = random.Random(30)
    nodes, turns = repeated(drawn, 40, 0.15, 2, 1)
    for _ in range(4):
        one, other = (turns[at]["tool_calls"] for at in drawn.sample(range(len(turns)), 2))
        one[0], other[0] = other[0], one[0]
    return nodes, turns

"""What hypothesis makes of the vocabulary: JSON values and records of every type."""

import string

from hypothesis import strategies as st

from seal.core import (
    Execution,
    Goal,
    Milestone,
    Plan,
    Ranking,
    Score,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
)
from seal.core.conditions import Argument, Asked, Called, Replied

texts = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "北京的天气", "😀👩‍👧", "é", "e\u0301", "a\x00b\u2028", '"\\/\n', "NaN"]),
)
"""Any text that UTF-8 can hold."""

names = st.text(string.ascii_lowercase + "_. 天", max_size=8)
halves = st.sampled_from(["\ud800", "a\udfffb", "\udc00\ud800", "北\ud83d"])
"""Texts with halves of surrogate pairs."""

numbers = st.one_of(
    st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False)
)


def json_values(leaves=None, max_leaves=8):
    """JSON values over some leaves: by default all that a line holds exactly."""
    return st.recursive(
        leaves if leaves is not None else st.one_of(st.none(), st.booleans(), numbers, texts),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=max_leaves,
    )


wild_values = json_values(
    st.one_of(
        st.none(),
        st.booleans(),
        numbers,
        texts,
        halves,
        st.integers(),
        st.sampled_from([10**30, -(10**400), float("nan"), float("inf")]),
    )
)
"""Also what no JSON line holds."""


def maps(values, max_size=3):
    """JSON objects of some values."""
    return st.dictionaries(texts, values, max_size=max_size)


def steps_of(values):
    """Steps: utterances, calls and results."""
    calls = st.builds(ToolCall, names, texts, st.none() | maps(values), texts, st.none() | names)
    executions = st.builds(Execution, names, maps(values))
    results = st.builds(
        ToolResult, names, texts, st.none() | maps(values), values, st.none() | executions
    )
    return st.builds(
        Step,
        st.integers(0, 99),
        names,
        names,
        texts,
        st.none() | calls,
        st.none() | results,
        st.integers(0, 9),
        st.integers(0, 3),
        st.none() | st.dictionaries(names, st.lists(maps(values), max_size=2), max_size=2),
        st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.booleans()),
    )


def tuples(items, max_size=2):
    """Tuples of any length."""
    return st.lists(items, max_size=max_size).map(tuple)


def trajectories_of(values):
    """Trajectories."""
    stops = st.builds(
        Stop, st.sampled_from(["done", "max_turns", "repeated", "error"]), st.none() | texts
    )
    return st.builds(
        Trajectory,
        names,
        st.integers(0, 9),
        tuples(steps_of(values), 3),
        tuples(rankings),
        tuples(tuples(names)),
        tuples(stops),
        tuples(st.none() | texts),
        maps(values),
    )


finite = st.floats(allow_nan=False, allow_infinity=False)
rankings = st.builds(Ranking, names, st.integers(0, 3), texts, tuples(st.tuples(names, finite)))
scores = st.builds(
    Score,
    names,
    st.integers(0, 9),
    st.integers(0, 3),
    names,
    st.none() | finite,
    finite,
    texts,
    maps(json_values()),
)
tools = st.builds(
    Tool, names, names, texts, maps(json_values()), texts, json_values(), maps(json_values())
)
arguments = st.builds(Argument, tuples(json_values()), st.booleans())
conditions = st.one_of(
    st.builds(Called, names, st.none() | maps(arguments)),
    st.builds(Asked, tuples(texts)),
    st.builds(Replied, tuples(texts)),
)
milestones = st.builds(Milestone, conditions, tuples(st.integers(0, 3)), json_values())
goals = st.builds(
    Goal,
    texts,
    st.none() | tuples(st.builds(Plan, tuples(milestones), tuples(milestones, 1))),
    tuples(texts),
    st.none() | tuples(names),
    tuples(names),
    st.booleans(),
    tuples(steps_of(json_values()), 1),
    maps(json_values()),
    st.booleans(),
)
tasks = st.builds(
    Task,
    names,
    names,
    tuples(goals),
    st.none() | st.dictionaries(names, st.lists(maps(json_values()), max_size=1), max_size=1),
    tuples(steps_of(json_values()), 1),
    st.none() | maps(json_values()),
    names,
    maps(json_values()),
    maps(json_values()),
)
records = st.one_of(tools, tasks, rankings, scores, trajectories_of(json_values()))
"""Records of every type."""

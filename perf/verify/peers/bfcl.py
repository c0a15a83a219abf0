"""Whether our verdicts are the leaderboard's: both judge gold answers that were changed.

Of each single-turn goal come `MUTATIONS`: its gold as it stands, accepted values by
chance, and one change each, of a value, an argument or a call. A change is drawn by the seed and
the goal's id, so that equal pools give equal answers. In Java and JavaScript the peer is asked for
the code that writes the values.

Dialogues are changed likewise, in one turn. Both play them in the classes of the peer. What states
and results decide is decided by each on its own, and each has its own reading of gold.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import orjson

from peers.comparison import Peer, PeerFigure
from seal.benchmarks.bfcl.files import BfclFiles
from seal.benchmarks.bfcl.leaderboard import (
    NO_CALL,
    RESULT,
    STATE,
    CallRules,
    gold_calls,
    played,
    wrong_goal,
    wrong_turns,
)
from seal.benchmarks.bfcl.tasks import UNMEETABLE
from seal.benchmarks.bfcl.tools import declared_type
from seal.benchmarks.bfcl.world import RELEASE
from seal.benchmarks.bfcl.world import Peer as Classes
from seal.core import JSON, Goal, Task, Tool, ToolCall
from seal.core.conditions import Called
from seal.core.values import derive_seed, digest, json_text
from seal.evaluation.calls import align
from seal.pools.importer import Notes
from seal.pools.lookup import open_pool


class LeaderboardsOwn(Classes):
    """The leaderboard's checkers beside its classes."""

    program = Path(__file__).with_name("bfcl_child.py")


Calls = list[tuple[str, dict[str, JSON]]]
"""Tool ids and arguments of an answer."""
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and what both say of it."""

    task: Task
    change: str
    """Which of `MUTATIONS` made it."""
    made: list[ToolCall]
    ours: str
    """What is wrong; empty: nothing."""
    theirs: str
    """Likewise; after an exclamation mark: the exception that the peer ends with."""

    @property
    def agrees(self) -> bool:
        """Whether both call it right, or both wrong."""
        return (not self.ours) == (not self.theirs)


def judged(
    tasks: Iterable[Task], tools: Mapping[str, Tool], peer: LeaderboardsOwn, seed: int = 0
) -> Iterator[Answer]:
    """Yield changed answers of the single-turn goals, as ours and the peer judge them."""
    changes = (
        (task, change, calls)
        for task in tasks
        if task.tags["suite"] in ("live", "non_live") and task.goals[0].relevant
        for change, calls in changed(task, tools, seed)
    )
    while waiting := list(islice(changes, _AT_ONCE)):
        told = peer.ask("answers", of=[_asked(task, calls, tools) for task, _, calls in waiting])
        for (task, change, calls), theirs in zip(waiting, told, strict=True):
            made = [ToolCall("", tools[tool].name, given, "", tool) for tool, given in calls]
            ours = wrong_goal(task.goals[0], made, tools, str(task.tags["language"]))
            yield Answer(task, change, made, ours, theirs)


def _asked(task: Task, calls: Calls, tools: Mapping[str, Tool]) -> list[Any]:
    """Return what the peer is asked of an answer: its item and calls, whose values may be code."""
    language = str(task.tags["language"])
    return [
        task.id,
        [
            [
                tools[tool].name,
                given if language == "python" else as_code(tools[tool], given, language),
            ]
            for tool, given in calls
        ],
    ]


def _held() -> Iterator[PeerFigure]:
    pool = open_pool("bfcl")
    tools = {tool.id: tool for tool in pool.tools()}
    peer = LeaderboardsOwn()
    try:
        for answer in judged(pool.tasks(), tools, peer):
            yield from _figures(answer, tools)
        for dialogue in dialogues(pool.tasks(), tools, peer):
            yield PeerFigure("dialogues by --match bfcl: what is wrong", *dialogue)
    finally:
        peer.close()


def _figures(answer: Answer, tools: Mapping[str, Tool]) -> Iterator[PeerFigure]:
    of, theirs = f"{answer.task.id}, {answer.change}", not answer.theirs
    language = str(answer.task.tags["language"])
    if language != "python":
        why = "" if answer.agrees else "code"
        yield PeerFigure(f"{language} by --match bfcl", of, not answer.ours, theirs, why)
        return
    yield PeerFigure("calls_right by --match bfcl", of, not answer.ours, theirs)
    (plan,) = answer.task.goals[0].plans or ()
    clean = align(plan, 0, answer.made).right
    why, value = ("", "") if clean == theirs else _why(answer, plan.calls(), tools)
    yield PeerFigure("calls_right by our rules", f"{of}{value}", clean, theirs, why)


WRONG = {
    NO_CALL: "multi_turn:empty_turn_model_response",
    STATE: "multi_turn:instance_state_mismatch",
    RESULT: "multi_turn:execution_response_mismatch",
}
"""What is wrong with a dialogue to how the peer calls it."""


def dialogues(
    tasks: Iterable[Task], tools: Mapping[str, Tool], peer: LeaderboardsOwn, seed: int = 0
) -> Iterator[tuple[str, str, str, str]]:
    """Yield gold dialogues and changed ones: which, what is wrong with each, why both differ.

    First by our rule, from states and results of the classes; then as the peer's own checker says,
    with its own gold.
    """
    for task in tasks:
        if task.tags["suite"] == "multi_turn":
            draw = random.Random(derive_seed(seed, task.id))
            gold = [gold_calls(goal, tools) for goal in task.goals]
            left_out = any(goal.plans is None for goal in task.goals)
            for change, calls in changed_turns(task, draw):
                made = [[(tools[tool].name, given) for tool, given in turn] for turn in calls]
                texts = [[_text(*call) for call in turn] for turn in made]
                turns = played(peer, task.id, made, gold)
                ours = wrong_turns(made, gold, turns)[-1].partition(":")[0]
                theirs = peer.ask("texts", item=task.id, turns=texts)
                why = "gold that is not offered" if left_out else ""
                yield f"{task.id}, {change}", WRONG.get(ours, ours), theirs, why


def _gold_of(goal: Goal) -> Calls:
    plan = goal.plans[0] if goal.plans else None
    return [(call.tool, call.canonical_arguments()) for call in (plan.calls() if plan else ())]


def _text(name: str, given: Mapping[str, JSON]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def changed_turns(task: Task, draw: random.Random) -> Iterator[tuple[str, list[Calls]]]:
    """Yield gold turns, and these with one change each, by the name of the change."""
    turns = [_gold_of(goal) for goal in task.goals]
    yield "gold", turns
    at = draw.choice([place for place, turn in enumerate(turns) if turn])
    turn, one = turns[at], draw.randrange(len(turns[at]))
    tool, given = turn[one]
    named = draw.choice(sorted(given)) if given else "x"
    odd = {**given, named: draw.choice([None, "other", 3, ["x"], ""])}
    short = {name: value for name, value in given.items() if name != named}
    offered = sorted(task.goals[-1].offered or ())
    other, before, after = draw.choice(offered), turn[:one], turn[one + 1 :]
    last = [(other, dict.fromkeys(given, "x"))]
    for change, new in (
        ("a call left out", [*before, *after]),
        ("a call repeated", [*turn, (tool, given)]),
        ("a call added before all", [*last, *turn]),
        ("calls reordered", turn[::-1]),
        ("one call alone", [(tool, given)]),
        ("no call", []),
        ("another value", [*before, (tool, odd), *after]),
        ("an argument left out", [*before, (tool, short), *after]),
        ("another function", [*before, (other, given), *after]),
    ):
        yield change, [*turns[:at], new, *turns[at + 1 :]]
    later = [place for place, turn in enumerate(turns) if not turn]
    if later:
        place = draw.choice(later)
        yield (
            "a call in a turn without gold",
            [*turns[:place], [(tool, given)], *turns[place + 1 :]],
        )


def _why(answer: Answer, gold: list[Called], tools: Mapping[str, Tool]) -> tuple[str, str]:
    """Return the kind of the difference between our rules and the leaderboard's, and the value."""
    if answer.task.goals[0].labels.get(UNMEETABLE):
        return "gold accepts nothing", ""
    for call, made in product(gold, answer.made):
        rules = CallRules(call, tools[call.tool])
        for name, argument in (call.arguments or {}).items():
            value = (made.arguments or {}).get(name, ...)
            if made.tool != call.tool or value is ...:
                continue
            ours = argument.accepts(value)
            if ours != rules.accept_value(name, argument, value):
                of_text = "text" if '"' in json_text(value) else "truth"
                kind = "type" if ours else "empty" if value in ("", []) else of_text
                return kind, f": {name}={value!r}"
    return "overlapping gold", ""


_EXPLAINED = {
    "text": "Each by its rule. The peer's `standardize_string`: 'removing all the spaces, "
    "\",./-_*^\" punctuation, and converting it to lowercase', so that 'April 1, 2024' is "
    "'april12024'. Ours compares letter by letter, for the tool gets the text.",
    "type": "Ours. JSON has one type of number, so 5.0 is 5. The peer's `simple_function_checker` "
    "compares `type(value)`, and its one exception is to 'allow python auto conversion from int "
    "to float', which values in a list do not have.",
    "empty": "Ours. The peer's `simple_function_checker` marks what may be left out by "
    '`"" not in possible_answer[param]`, and so its `value not in possible_answer[param]` takes '
    "the mark itself for a value, as a text and as a list without items.",
    "gold accepts nothing": "Ours. The gold is `[]`, which can only mean the empty list. The "
    "peer's rule is `value not in possible_answer[param]`, of which nothing passes.",
    "overlapping gold": "Ours. Each gold call has a made call of its own. The peer's "
    "`parallel_function_checker_no_order` goes 'through the possible answers one by one' and gives "
    "each the first made call that fits; then it finds none for a later one.",
    "code": "Ours. In simple_java_64 gold has a text where a list of values belongs, and the peer "
    "takes each letter of it for an accepted value: `range(len(possible_answer[key]))` "
    "(ast_checker.py, dict_checker). And not every list can be written so that the peer reads it "
    "back: it divides a list at each comma, even in a text, and drops the quotes of `'2'`.",
    "gold that is not offered": "Ours. Gold of multi_turn_miss_func_49 calls a function in a turn "
    "in which it is not offered yet. The importer leaves this turn's gold out, and says so; the "
    "peer's checker takes `multi_turn_ground_truth_list` as it stands, so that an agent that calls "
    "what it is offered is wrong.",
    "truth": "Ours. By the peer's `value not in possible_answer[param]`, Python has 1 == True "
    "inside lists and maps; JSON does not.",
}


def changed(task: Task, tools: Mapping[str, Tool], seed: int) -> Iterator[tuple[str, Calls]]:
    """Yield the changed answers of a goal, each with the name of its change."""
    (goal,) = task.goals
    gold = (goal.plans or ())[0].calls()
    for change, make in MUTATIONS.items():
        draw = random.Random(derive_seed(seed, task.id, change))
        calls: Calls = [(call.tool, _accepted(call, draw, change)) for call in gold]
        make(calls, _Place(draw, goal, tools, gold))
        yield change, calls


def _accepted(call: Called, draw: random.Random, change: str) -> dict[str, JSON]:
    """Return right arguments of a gold call: the oracle's for "gold", else any by chance."""
    if change == "gold":
        return call.canonical_arguments()
    return {
        name: draw.choice(argument.listed)
        for name, argument in (call.arguments or {}).items()
        if argument.listed and not (argument.optional and draw.random() < 0.5)
    }


@dataclass(frozen=True, slots=True)
class _Place:
    """What a change may draw from."""

    draw: random.Random
    goal: Goal
    tools: Mapping[str, Tool]
    gold: list[Called]

    def argument(self, calls: Calls, *kinds: type) -> tuple[dict[str, JSON], str] | None:
        """Return the arguments of a call and the name of one of some types; None: there is none."""
        found = [
            (given, name)
            for _, given in calls
            for name, value in given.items()
            if not kinds or type(value) in kinds
        ]
        return self.draw.choice(found) if found else None


Change = Callable[[Calls, _Place], None]


def _value(change: Callable[[Any, random.Random], Any], *kinds: type) -> Change:
    """Return a change of one value of some types, deep in lists and maps too."""

    def inside(value: Any, draw: random.Random) -> Any:
        if isinstance(value, list) and value and list not in kinds:
            at = draw.randrange(len(value))
            return [inside(v, draw) if i == at else v for i, v in enumerate(value)]
        if isinstance(value, dict) and value and dict not in kinds:
            at = draw.choice(sorted(value))
            return {k: inside(v, draw) if k == at else v for k, v in value.items()}
        return change(value, draw) if not kinds or type(value) in kinds else value

    def make(calls: Calls, place: _Place) -> None:
        found = place.argument(calls, *kinds, list, dict) if kinds else place.argument(calls)
        if found is not None:
            given, name = found
            given[name] = inside(given[name], place.draw)

    return make


def _optional(value: JSON) -> Change:
    """Return the change that gives an argument that may be left out a value."""

    def make(calls: Calls, place: _Place) -> None:
        found = [
            (given, name)
            for (_, given), gold in zip(calls, place.gold, strict=True)
            for name, argument in (gold.arguments or {}).items()
            if argument.optional
        ]
        if found:
            given, name = place.draw.choice(found)
            given[name] = value

    return make


def _drop_argument(calls: Calls, place: _Place) -> None:
    found = place.argument(calls)
    if found is not None:
        del found[0][found[1]]


def _add_argument(calls: Calls, place: _Place) -> None:
    tool, given = place.draw.choice(calls)
    known = sorted(place.tools[tool].parameters["properties"])
    given[place.draw.choice([*known, "besides"])] = place.draw.choice(["x", 1, True, []])


def _other_tool(calls: Calls, place: _Place) -> None:
    at = place.draw.randrange(len(calls))
    calls[at] = (place.draw.choice(sorted(place.goal.offered or ())), calls[at][1])


def _odd_text(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(" ,./-_*^'\"") + text[at:]


MUTATIONS: Mapping[str, Change] = {
    "gold": lambda calls, place: None,
    "accepted values": lambda calls, place: None,
    "upper case": _value(lambda text, draw: text.swapcase(), str),
    "sign in a text": _value(_odd_text, str),
    "signs left out of a text": _value(lambda text, draw: text.replace(" ", ""), str),
    "other text": _value(lambda text, draw: f"{text}x", str),
    "whole number as float": _value(lambda number, draw: float(number), int),
    "float as whole number": _value(lambda number, draw: int(number), float),
    "other number": _value(lambda number, draw: number + 1, int, float),
    "truth as number": _value(lambda truth, draw: int(truth), bool),
    "other truth": _value(lambda truth, draw: not truth, bool),
    "value as text": _value(lambda value, draw: str(value), int, float, bool),
    "null": _value(lambda value, draw: None),
    "list reordered": _value(lambda items, draw: items[::-1], list),
    "list shortened": _value(lambda items, draw: items[1:], list),
    "list repeated": _value(lambda items, draw: [*items, *items[:1]], list),
    "member left out": _value(lambda one, draw: dict(list(one.items())[1:]), dict),
    "member besides": _value(lambda one, draw: {**one, "besides": 1}, dict),
    "member empty": _value(
        lambda one, draw: {**one, draw.choice(sorted(one) or ["besides"]): ""}, dict
    ),
    "empty text for what may be left out": _optional(""),
    "empty list for what may be left out": _optional([]),
    "argument left out": _drop_argument,
    "argument besides": _add_argument,
    "other tool": _other_tool,
    "call left out": lambda calls, place: calls.pop(place.draw.randrange(len(calls))) and None,
    "call repeated": lambda calls, place: calls.append(place.draw.choice(calls)),
    "calls reordered": lambda calls, place: place.draw.shuffle(calls),
}
"""Change to what makes it, in place."""

# -- Values as code, which the peer is asked in Java and JavaScript.


_SUFFIXES = {"long": "L", "float": "f"}


def as_code(tool: Tool, arguments: dict[str, JSON], language: str) -> dict[str, str]:
    """Return the arguments of a call as code, as the leaderboard's prompts ask for: `5L`.

    A text is taken as it stands: it may be such code, or the name of a variable. Any other value is
    written so that the leaderboard reads this very value back. So texts in a Java array have no
    quotes, for its reader would keep them.

    Args:
        tool: That is called.
        arguments: Of the call.
        language: "java" or "javascript".
    """
    known = tool.parameters["properties"]
    return {
        name: value
        if isinstance(value, str)
        else _java(tool, name, value)
        if language == "java" and name in known
        else json_text(value)
        for name, value in arguments.items()
    }


def _java(tool: Tool, name: str, value: Any) -> str:
    kind, inner = declared_type(tool, name), declared_type(tool, f"{name}[]")
    if kind == "HashMap" and isinstance(value, dict):
        puts = (f'put("{key}", {json_text(item)});' for key, item in value.items())
        return f"new HashMap<>() {{{{ {' '.join(puts)} }}}}"
    if isinstance(value, list) and kind in ("Array", "ArrayList"):
        quoted = kind == "ArrayList" and inner in ("String", "char")
        items = ", ".join(
            item if isinstance(item, str) and not quoted else _number(item, inner) for item in value
        )
        listed = f"(Arrays.asList({items}))" if items else "()"
        return f"new Object[]{{{items}}}" if kind == "Array" else f"new ArrayList<>{listed}"
    return _number(value, kind)


def _number(value: JSON, kind: str) -> str:
    """Return a value with the suffix that its type has in Java."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return json_text(value) + (_SUFFIXES.get(kind, "") if number else "")


PEER = Peer(f"{RELEASE}, the leaderboard's own checker", _held, explained=_EXPLAINED)


def python_gold(source: Path, tasks: Iterable[Task]) -> dict[str, int]:
    """Count what the single-turn goals in Python hold, and their documents as upstream has them.

    Args:
        source: The folder as upstream publishes it.
        tasks: Of the pool that was made of it.
    """
    files = BfclFiles(source)
    seen: dict[bytes, dict[str, Any]] = {}
    for category in files.categories("python_gold"):
        for documents in files.items(category, lambda item: item.record["function"], Notes()):
            seen.update((orjson.dumps(document), document) for document in documents)
    asked = [task for task in tasks if task.tags.get("python_gold")]
    queries = Counter(task.goals[0].text for task in asked)
    by_document = {digest(document): document["name"] for document in seen.values()}
    by_text = {text_digest(document): document["name"] for document in seen.values()}
    return {
        "queries": queries.total(),
        "repeated_queries": queries.total() - len(queries),
        "longest_query": max(map(len, queries), default=0),
        "relevant": sum(len(task.goals[0].relevant) for task in asked),
        "system_messages": sum(any(s.author == "system" for s in t.history) for t in asked),
        "names": len({*by_document.values()}),
        "documents": len(by_document),
        "names_with_several_documents": _several(by_document),
        "texts": len(by_text),
        "names_with_several_texts": _several(by_text),
    }


def _several(named: Mapping[str, str]) -> int:
    return sum(count > 1 for count in Counter(named.values()).values())


def text_digest(document: Mapping[str, Any]) -> str:
    """Return a digest of what a document says in words.

    That is names and descriptions, its own and its arguments'; types, defaults, choices and nested
    arguments aside.
    """
    properties = document["parameters"].get("properties", {})
    described = [
        [name, schema.get("description") if isinstance(schema, dict) else None]
        for name, schema in sorted(properties.items())
    ]
    return digest([document["name"], document.get("description"), described])

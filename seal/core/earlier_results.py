"""Gold arguments that are results of earlier gold calls.

Gold says so by a map in the place of a value: `{"$result_of": 1, "path": "order.id"}`. That is
JSON: files, pools and records hold it like any value, also within lists and maps. Which value is
right, each chat tells: the one that its own earlier call brought.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any, NamedTuple

from seal.core.conditions import Argument, Called, Condition
from seal.core.errors import UsageError, shortened
from seal.core.settings import checked
from seal.core.types import JSON, Goal, Milestone, Plan, Task
from seal.core.values import json_value, literal_value

KEY, PATH = "$result_of", "path"
_MOST = 64
"""Values that one gold argument may come to in a chat: calls that are made again bring more."""


class Reference(NamedTuple):
    """A part of the result of an earlier gold call."""

    call: int
    """Number of the gold call, from 1."""
    path: str
    """Names and list positions to the part, with dots between them; empty: the whole result."""


class Made(NamedTuple):
    """A call that was made and worked."""

    tool: str | None
    """Id of the tool."""
    arguments: dict[str, JSON] | None
    result: JSON
    """What it brought (`result_value`)."""


class Lacking(LookupError):
    """A result has no part at a path."""


@checked
def result_of(call: int, path: str = "") -> dict[str, JSON]:
    """Return what stands in gold for the result of an earlier gold call.

    It is a value of an argument, or within one. In a chat that value is right which the earlier
    call brought there. A text that only names the call, such as "API_call_0", is wrong.

    Args:
        call: Number of the earlier call among the gold calls of its request, from 1. In `ends_as`
            its number in the list of calls.
        path: Where the value stands in the result: names and list positions from 0 with dots
            between them, such as `orders.0.id`. Empty: the whole result.

    Raises:
        UsageError: The number is below 1, or the path is no text.

    Example:
        >>> import seal
        >>> gold = seal.called("cancel", order=seal.result_of(1, "id"))
        >>> gold.canonical_arguments()
        {'order': {'$result_of': 1, 'path': 'id'}}
    """
    told = {KEY: call, PATH: path}
    if reference(told) is None:
        raise UsageError(
            f"result_of({shortened(call)}, {shortened(path)}): expected the number of an earlier "
            "call, from 1, and a path such as 'orders.0.id'"
        )
    return told


def reference(value: Any) -> Reference | None:
    """Return the reference that a value is; None: it is another value."""
    if not isinstance(value, dict) or KEY not in value:
        return None
    call, path = value[KEY], value.get(PATH, "")
    sound = isinstance(call, int) and not isinstance(call, bool) and call >= 1
    if not sound or not isinstance(path, str) or value.keys() - {KEY, PATH}:
        return None
    return Reference(call, path)


def references(value: Any) -> Iterator[Reference]:
    """Yield the references of a value and within it; see `_maps`."""
    return (found for one in _maps(value) if (found := reference(one)) is not None)


def _maps(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the maps of a value that have the key of a reference, sound or not.

    Args:
        value: Of ordinary depth; it does not hold itself.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if KEY in one:
                yield one
            else:
                waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)


def taken(call: Called) -> list[Reference]:
    """Return the results that a gold call takes as its arguments."""
    every = (call.arguments or {}).values()
    return [found for argument in every for found in references(argument.listed)]


def taking(call: Called) -> list[str]:
    """Return the names of a gold call's arguments that take results."""
    every = (call.arguments or {}).items()
    return [name for name, argument in every if next(references(argument.listed), None)]


def takes_results(plan: Plan) -> bool:
    """Tell whether a gold call of a plan takes the result of another."""
    return any(map(taken, plan.calls()))


_LITERAL = re.compile(r"""[\[({'"](?:[^\\]|\\[\n\\'"abfnrtvx0-7NuU])*|True|False|None""", re.DOTALL)
"""What may be the `repr` of a text, list, map or constant. Python warns of escapes that are none,
which no `repr` has."""


def value_of(content: str) -> JSON:
    """Return the value that a result spells, in JSON or as a Python literal; else the text."""
    try:
        value: JSON = json_value(content)
        return value
    except ValueError:
        return _literal(content) if _LITERAL.fullmatch(content) else content


def _literal(content: str) -> JSON:
    try:
        value: JSON = literal_value(content)
    except ValueError:
        return content
    known = value is None or isinstance(value, (dict, list, tuple, str, bool))
    return value if known else content


def result_value(content: str) -> JSON:
    """Return what a result spells (`value_of`); of a simulator's answer without error its response.

    Args:
        content: As the model reads it.
    """
    value = value_of(content)
    if isinstance(value, dict) and value.keys() == {"error", "response"} and not value["error"]:
        return value["response"]
    return value


def part_at(value: JSON, path: str) -> JSON:
    """Return the part of a result at a path.

    Raises:
        Lacking: There is none.
    """
    for name in path.split(".") if path else ():
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, (list, tuple)) and _is_place(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            raise Lacking(f"has no {name!r}")
    return value


def _is_place(name: str) -> bool:
    """Tell whether a name of a path counts items; numbers that no list reaches do not."""
    return name.isdecimal() and len(name) <= 9


# -- Gold as one chat makes it.


def filled(call: Called, results: Mapping[int, Sequence[JSON]]) -> Called:
    """Return a gold call with values for the results that it takes; itself where it takes none.

    An argument for which nothing was brought accepts no value.

    Args:
        call: Of gold.
        results: Number of each earlier call, from 1, to what it brought: several results where it
            was made several times.
    """
    names = taking(call)
    if not names:
        return call
    gold = dict(call.arguments or {})
    gold |= {name: replace(gold[name], values=_values(gold[name], results)) for name in names}
    return _with(call, gold)


def _with(call: Called, arguments: dict[str, Argument]) -> Called:
    """Return a gold call with other arguments; it knows its tool's schema as before."""
    other = replace(call, arguments=arguments)
    if hasattr(call, "_schema"):
        object.__setattr__(other, "_schema", call._schema)
    return other


def _values(argument: Argument, results: Mapping[int, Sequence[JSON]]) -> tuple[JSON, ...]:
    found = []
    for value in argument.listed:
        named = list(dict.fromkeys(references(value)))
        each = [list(_parts(one, results)) for one in named]
        for chosen in islice(product(*each), _MOST):
            found.append(_put(value, dict(zip(named, chosen, strict=True))))
    return tuple(found[:_MOST])


def _parts(one: Reference, results: Mapping[int, Sequence[JSON]]) -> Iterator[JSON]:
    for result in islice(results.get(one.call, ()), _MOST):
        try:
            yield part_at(result, one.path)
        except Lacking:
            continue


def _put(value: Any, known: Mapping[Reference, JSON]) -> JSON:
    found = reference(value)
    if found is not None:
        return known[found]
    if isinstance(value, dict):
        return {name: _put(part, known) for name, part in value.items()}
    return [_put(part, known) for part in value] if isinstance(value, (list, tuple)) else value


def waits(call: Called) -> bool:
    """Tell whether a gold call of a chat takes a result that nothing has brought."""
    arguments = (call.arguments or {}).values()
    return any(one.values == () and not one.optional for one in arguments)


def in_chat(calls: Sequence[Called], made: Sequence[Made]) -> list[Called]:
    """Return gold calls with the results that a chat's calls brought.

    The result of a gold call is that of each call that it accepts. Where there is none, that of
    each call of its tool: who takes on what a wrong call brought errs once.

    Args:
        calls: Of one plan, in the order of their numbers.
        made: What worked in the chat.
    """
    found: list[Called] = []
    results: dict[int, list[JSON]] = {}
    for number, call in enumerate(calls, 1):
        found.append(filled(call, results))
        results[number] = [one.result for one in _standing_for(found[-1], made)]
    return found


def _standing_for(call: Called, made: Sequence[Made]) -> list[Made]:
    own = [one for one in made if one.tool == call.tool]
    return [one for one in own if call.accepts(one.arguments)] or own


def goal_in_chat(goal: Goal, made: Sequence[Made], ends: bool = False) -> Goal:
    """Return a goal whose gold calls have what a chat brought; itself where none takes a result.

    Args:
        goal: With its gold.
        made: What worked in the chat.
        ends: Whether calls that lead to the end of a world get theirs, too (`EndsAs`). It is then
            another condition than the one whose end the run recorded.
    """
    plans = tuple(_plan_in_chat(plan, made, ends) for plan in goal.plans or ())
    same = all(one is other for one, other in zip(plans, goal.plans or (), strict=True))
    return goal if same else replace(goal, plans=plans)


def _plan_in_chat(plan: Plan, made: Sequence[Made], ends: bool) -> Plan:
    known = iter(in_chat(plan.calls(), made) if takes_results(plan) else plan.calls())

    def filled_in(condition: Condition) -> Condition:
        if isinstance(condition, Called):
            return next(known)
        return _end_in_chat(condition, made) if ends else condition

    nodes = [(node, filled_in(node.condition)) for node in plan.milestones]
    if all(one is node.condition for node, one in nodes):
        return plan
    return replace(plan, milestones=tuple(replace(node, condition=one) for node, one in nodes))


def _end_in_chat(condition: Condition, made: Sequence[Made]) -> Condition:
    """Return an `EndsAs` whose calls have what a chat brought; any other condition itself."""
    if not hasattr(condition, "sequences"):
        return condition
    from seal.core.state_conditions import EndsAs  # of gold that says how a world ends

    if isinstance(condition, EndsAs):
        calls = [[c for c in way if isinstance(c, Called)] for way in condition.sequences]
        if any(map(taken, (call for way in calls for call in way))):
            return replace(condition, sequences=tuple(tuple(in_chat(w, made)) for w in calls))
    return condition


def lacking(goal: Goal, made: Sequence[Made]) -> str:
    """Return that what a right call brought lacks a part that gold takes; empty: it lacks none."""
    for plan in goal.plans or ():
        calls = in_chat(plan.calls(), made) if takes_results(plan) else ()
        for call in plan.calls() if calls else ():
            for wanted in taken(call):
                first = calls[wanted.call - 1] if wanted.call <= len(calls) else call
                right = [m for m in made if m.tool == first.tool and first.accepts(m.arguments)]
                if right and (told := _missing([one.result for one in right], wanted)):
                    return f"{first.tool!r} {told}"
    return ""


def _missing(results: Iterable[JSON], wanted: Reference) -> str:
    """Return what all results lack; empty: one has the part."""
    told = ""
    for result in results:
        try:
            part_at(result, wanted.path)
        except Lacking as lack:
            told = (
                f"brought {shortened(result)}, which {lack}, and gold takes its "
                f"{wanted.path!r}; mend the path, or play it where results have that part"
            )
        else:
            return ""
    return told


# -- Gold before it is played.


def recorded_gold(nodes: Sequence[Milestone]) -> dict[int, tuple[Called, JSON]]:
    """Return position to gold call and its recorded result; None: it has none.

    The calls have what the recorded results of earlier ones brought.
    """
    places = {n: one.condition for n, one in enumerate(nodes) if isinstance(one.condition, Called)}
    results: dict[int, list[JSON]] = {}
    found: dict[int, tuple[Called, JSON]] = {}
    for number, (place, call) in enumerate(places.items(), 1):
        result = nodes[place].result
        found[place] = filled(call, results), result
        results[number] = [] if result is None else [result]
    return found


def faults(calls: Sequence[Called], results: Sequence[JSON | None] = ()) -> Iterator[str]:
    """Yield what is wrong with references between gold calls.

    Args:
        calls: Of one plan, in the order of their numbers.
        results: What gold recorded of each; None: nothing.
    """
    for number, call in enumerate(calls, 1):
        for argument in (call.arguments or {}).values():
            for one in _maps(argument.listed):
                if reference(one) is None:
                    yield (
                        f"gold call {number}: {shortened(one)} names no result; write "
                        f'{{"{KEY}": 1, "{PATH}": "orders.0.id"}}, with the number of an earlier '
                        "call, from 1"
                    )
        for wanted in taken(call):
            if wanted.call > len(calls):
                yield (
                    f"gold call {number} takes the result of call {wanted.call}, and there are "
                    f"{len(calls)}; name an earlier one"
                )
            elif wanted.call >= number:
                yield (
                    f"gold call {number} takes the result of call {wanted.call}, which does not "
                    "come before it; name an earlier one, or change their order"
                )
            elif wanted.call <= len(results) and (known := results[wanted.call - 1]) is not None:
                try:
                    part_at(known, wanted.path)
                except Lacking as lack:
                    yield (
                        f"gold call {number} takes {wanted.path!r} of the result of call "
                        f"{wanted.call}, which {lack}; mend the path"
                    )


def undeclared(returns: Any, path: str) -> str:
    """Return the first name of a path that the schema of a result does not declare; empty: none.

    Args:
        returns: JSON Schema of what a tool returns; None: nothing is declared.
        path: As of `Reference`.
    """
    schema = returns
    for name in path.split(".") if path else ():
        if not isinstance(schema, dict):
            return ""
        properties = schema.get("properties")
        if isinstance(properties, dict) and properties:
            if name not in properties:
                return "" if schema.get("additionalProperties") else name
            schema = properties[name]
        else:
            schema = schema.get("items") if name.isdecimal() else None
    return ""


def after_what_it_takes(task: Task) -> Task:
    """Return the task whose gold calls come after those whose results they take."""
    goals = tuple(
        replace(goal, plans=tuple(map(_in_order, goal.plans))) if goal.plans else goal
        for goal in task.goals
    )
    return replace(task, goals=goals)


def _in_order(plan: Plan) -> Plan:
    if not takes_results(plan):
        return plan
    places = [n for n, node in enumerate(plan.milestones) if isinstance(node.condition, Called)]

    def placed(place: int, node: Milestone) -> Milestone:
        if not isinstance(node.condition, Called):
            return node
        wanted = {one.call for one in taken(node.condition) if one.call <= len(places)}
        earlier = {places[number - 1] for number in wanted}
        before = {one for one in earlier if one < place}
        return replace(node, after=tuple(sorted({*node.after, *before})))

    nodes = tuple(placed(place, node) for place, node in enumerate(plan.milestones))
    return replace(plan, milestones=nodes)


def joined(sequences: Sequence[Sequence[Called]]) -> list[Called]:
    """Return sequences of gold calls as one, whose references have the calls' numbers there."""
    found: list[Called] = []
    for calls in sequences:
        begins = len(found)
        found += [_renumbered(call, begins) for call in calls]
    return found


def _renumbered(call: Called, by: int) -> Called:
    if not by or not taken(call):
        return call

    def later(value: Any) -> Any:
        known = {one: {KEY: one.call + by, PATH: one.path} for one in references(value)}
        return _put(value, known)

    arguments = {
        name: argument
        if argument.values is None
        else replace(argument, values=tuple(map(later, argument.values)))
        for name, argument in (call.arguments or {}).items()
    }
    return _with(call, arguments)

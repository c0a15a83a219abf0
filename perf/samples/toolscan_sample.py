"""The sample's files, proven and compiled into a pool.

Every gold call of every plan is made. It must be valid and bring something. The results of a
plan must hold each part of the answer, so that the query can be answered by each plan.
A call waits for the first earlier one of its plan whose result has a value that the query does not
state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from seal.benchmarks.toolscan.importer import ApiLists, Queries, note_facts
from seal.benchmarks.toolscan.world import NAME, WORLD, Lookup
from seal.core import JSON, DataError, Goal, Milestone, Plan, Task, Tool, ToolCall, located
from seal.core.text import words
from seal.core.validation import CallValidator
from seal.core.values import leaves
from seal.pools.importer import Notes


def import_sample(source: Path, notes: Notes) -> Iterator[Tool | Task]:
    """Yield the sample's tasks, then its tools.

    Args:
        source: Folder with tools.json, answers.json and queries.jsonl.
        notes: Gets the counts.

    Raises:
        DataError: A file is missing or malformed, or a query is not what this module asks.
    """
    for name in ("tools.json", "answers.json", "queries.jsonl"):
        if not (source / name).is_file():
            raise DataError(f"{source} has no {name}: name the folder `authored` of the sample")
    lists = ApiLists(NAME, False, notes)
    lists.read(source / "tools.json")
    proof = Proof(list(lists), Lookup.read(source / "answers.json"))
    queries = Queries(lists.environments(), NAME, notes)
    for task in queries.read(source / "queries.jsonl"):
        yield proof.proven(task)
    yield from lists
    if notes.dropped:
        raise DataError(f"{source}: {dict(notes.dropped)}: {'; '.join(notes.malformed)}")
    note_facts(notes, lists, queries)


class Proof:
    """Makes gold calls, and puts what they brought into their plans.

    Args:
        tools: Of all environments; names are unique.
        lookup: Answers their calls.

    Raises:
        DataError: A tool has no answers.
    """

    def __init__(self, tools: Sequence[Tool], lookup: Lookup) -> None:
        self._tools = {tool.id: tool for tool in tools}
        self._validator = CallValidator(self._tools)
        self._lookup = lookup
        for tool in tools:
            if tool.name not in lookup:
                raise DataError(f"answers.json has no entry for the tool {tool.name}; write one")

    def proven(self, task: Task) -> Task:
        """Return a task with the results and the order of its gold calls.

        Raises:
            DataError: A call is wrong or brings nothing, or the answer is not in the results.
        """
        (goal,) = task.goals
        plans = []
        for place, plan in enumerate(goal.plans or ()):
            with located(f"query {task.id!r}, trajectory {place}"):
                plans.append(self._plan(plan, goal))
        return replace(task, goals=(replace(goal, plans=tuple(plans)),), world=WORLD)

    def _plan(self, plan: Plan, goal: Goal) -> Plan:
        stated = set(words(goal.text))
        made: list[Milestone] = []
        for called in plan.calls():
            arguments = called.canonical_arguments()
            after = _first_stating([v for v in leaves(arguments) if not _in(v, stated)], made)
            made.append(Milestone(called, after, self._result(called.tool, arguments)))
        known = {word for milestone in made for word in words(" ".join(leaves(milestone.result)))}
        for answer in goal.answers if made else ():
            if not _in(answer, known):
                raise DataError(f"no result states the answer {answer!r}")
        return Plan(tuple(made))

    def _result(self, own: str, arguments: dict[str, JSON]) -> JSON:
        tool = self._tools[own]
        call = ToolCall("call_0", tool.name, arguments, tool=tool.id)
        wrong = self._validator.check(call)
        if wrong is not None:
            raise DataError(wrong.message)
        response = self._lookup.respond(tool, self._validator.with_defaults(call))
        if response.error or not response.response.get("count", 1):
            why = response.error or "no row"
            raise DataError(f"{tool.name}({arguments}) brings nothing: {why}")
        return response.response


def _in(value: str, stated: set[str]) -> bool:
    return set(words(value)) <= stated


def _first_stating(values: Sequence[str], made: Sequence[Milestone]) -> tuple[int, ...]:
    """Return the positions of the first milestones whose results have each value, sorted."""
    texts: Sequence[Mapping[str, None]] = [dict.fromkeys(leaves(m.result)) for m in made]
    found = (next((p for p, text in enumerate(texts) if value in text), None) for value in values)
    return tuple(sorted({place for place in found if place is not None}))

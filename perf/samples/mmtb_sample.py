"""The sample of missions: dialogues as they are written, checked and compiled into a pool.

Every call fits its tool's schema, every result the tool's `returns`. What a call needs was said, or
stands in a result that it comes after; free texts as they are written, and how many people there
are even where a default would do. Numbers and codes of a reply stand in results or texts
before it. A later mission needs what earlier ones say: an implicit or elliptic one what the mission
right before says, one of long-term memory what only an earlier one says. Each switch of types
stands at least eight times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mmtb_notation import TYPES, WrittenDialogue, WrittenMission, dialogues
from mmtb_results import Moment, Result, result_of, value_of

from seal.benchmarks.mmtb.dialogues import Dialogue, Mission, Node, Said
from seal.benchmarks.mmtb.generation_scene import Said as SaidOf
from seal.benchmarks.mmtb.generation_scene import lacks, leans, said_of, told_before
from seal.benchmarks.mmtb.importer import Tally, make_task
from seal.core import DataError, Goal, Plan, Task, Tool, located
from seal.core.conditions import Called, Replied
from seal.core.values import json_text
from seal.evaluation.mission_gold import ANSWER, ASK
from seal.pools.importer import Notes
from seal.pools.lookup import open_pool

NAME = "mmtb-sample"
LEAST = 8
"""Times that each switch of types stands."""
_FIELD = re.compile(r"\{([\w.]+)\}")
_CODE = re.compile(r"\b(?=[\w.:-]*\d)[\w][\w.:-]*\b")
"""A word of a reply that has a digit."""
_REWORDED = frozenset({
    "duration_minutes", "from_currency", "to_currency", "base", "targets",
})  # fmt: skip
"""Arguments that people say in other words: half an hour, Swiss francs."""
_FREE = frozenset({"text", "title", "name", "query", "memo"})
"""Arguments whose every letter counts. They are quoted, or told by a name or code."""
_HEADS = frozenset({"guests", "servings"})
"""Arguments whose default is said, too: "me" is one guest, and the default is two."""
_NUMBER = re.compile(r"(\d\d):(\d\d)|\d+(?:\.\d+)?")
_CONSTANTS = (2.0, 2.2, 3.0, 4.0, 5.0, 12.0, 1000.0)
"""What a chat may reckon with: small counts, pounds a kilogram, months of a year, grams."""
_CENT = 0.006
"""Half of one, and what a float errs by."""
_MOMENT = re.compile(r"[\d-]{10}T[\d:]{5}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")


def import_sample(source: Path, notes: Notes) -> Iterator[Tool | Task]:
    """Yield the sample's tasks, then its tools.

    Args:
        source: Folder with dialogues.txt.
        notes: Gets the counts.

    Raises:
        DataError: The file is missing or malformed, or something in it does not hold.
    """
    path = source / "dialogues.txt"
    if not path.is_file():
        raise DataError(f"{source} has no dialogues.txt: name the folder `authored` of the sample")
    tools = {tool.name: tool for tool in open_pool("sample").tools()}
    tally = Tally()
    switches: Counter[tuple[str, str]] = Counter()
    for written in dialogues(path.read_text(encoding="utf-8"), path.name):
        with located(written.id):
            dialogue, task = _compiled(written, tools)
            _check(written, task, {tool.id: tool for tool in tools.values()})
        tally.add(dialogue, task)
        switches.update(pairwise(written.types))
        yield task
    yield from tools.values()
    rare = [pair for pair in _pairs() if switches[pair] < LEAST]
    if rare:
        raise DataError(f"{path.name}: fewer than {LEAST} switches {rare[0]}")
    notes.facts["missions"] = {name: count for name, count in tally.facts().items() if count}


def _pairs() -> Iterator[tuple[str, str]]:
    kinds = tuple(TYPES.values())
    return ((first, second) for first in kinds for second in kinds)


# -- Compilation.


def _compiled(written: WrittenDialogue, tools: Mapping[str, Tool]) -> tuple[Dialogue, Task]:
    offered = {
        name: tool for name, tool in tools.items() if tool.id.split("/")[1] in written.services
    }
    moment = Moment(written.day, written.time)
    weekday = f"{date.fromisoformat(written.day):%A}"
    told = f"{written.day} {written.time}, {weekday}"
    results: list[list[Result]] = []
    missions = []
    for number, mission in enumerate(written.missions, start=1):
        with located(f"mission {number}"):
            results.append([])
            missions.append(_mission(mission, offered, moment, results, told))
    dialogue = Dialogue(written.id, tuple(missions), [])
    task = make_task(dialogue, offered, "en", "exact")
    goals = tuple(
        _with_facts(goal, [_filled(fact, results[:number]) for fact in mission.facts])
        for number, (goal, mission) in enumerate(
            zip(task.goals, written.missions, strict=True), start=1
        )
    )
    return dialogue, replace(task, goals=goals, benchmark=NAME, split="")


def _mission(
    written: WrittenMission,
    tools: Mapping[str, Tool],
    moment: Moment,
    results: list[list[Result]],
    told: str,
) -> Mission:
    nodes = [Node(ASK, {}, (), question, answer) for question, answer in _talk(written)]
    asked = tuple(range(len(nodes)))
    for call in written.calls:
        if call.tool not in tools:
            raise DataError(f"{call.tool} is not offered; offered: {', '.join(tools)}")
        tool = tools[call.tool]
        arguments = value_of(call.arguments, tool.parameters, call.tool)
        brought = value_of(call.result, tool.returns or {}, call.tool)
        assert isinstance(arguments, dict) and isinstance(brought, dict)
        _fits(arguments, tool.parameters, call.tool)
        result = result_of(tool, arguments, brought, moment)
        _fits(result, tool.returns or {}, call.tool)
        results[-1].append(result)
        after = (*asked, *(len(asked) + place for place in call.after))
        nodes.append(Node(call.tool, arguments, after, result, ""))
    reply = _filled(written.reply, results)
    nodes.append(Node(ANSWER, {}, tuple(range(len(nodes))), reply, ""))
    said = [
        Said(by_user, text)
        for question, answer in _talk(written)
        for by_user, text in ((False, question), (True, answer))
    ]
    kind: Any = written.kind
    spoken = (*said, Said(False, reply))
    return Mission(written.request, kind, tuple(nodes), written.relation, told, (), spoken, False)


def _talk(written: WrittenMission) -> list[tuple[str, str]]:
    return list(zip(written.asked, written.answered, strict=True))


def _fits(value: Any, schema: Mapping[str, Any], where: str) -> None:
    for error in Draft202012Validator(schema).iter_errors(value):
        raise DataError(f"{where}: {error.json_path}: {error.message}")


def _filled(text: str, results: Sequence[Sequence[Result]]) -> str:
    """Return a text with fields of results in their places."""

    def field(match: re.Match[str]) -> str:
        first, *rest = match[1].split(".")
        found: Any = results[-1]
        if rest[0].isdigit() and not isinstance(found, dict) and len(rest) > 1:
            found, first, rest = results[int(first) - 1], rest[0], rest[1:]
        found = found[int(first) - 1]
        for name in rest:
            found = found[int(name) - 1] if isinstance(found, list) else found[name]
        return f"{found:g}" if isinstance(found, float) and found.is_integer() else str(found)

    return _FIELD.sub(field, text)


def _with_facts(goal: Goal, facts: Sequence[str]) -> Goal:
    """Return a chat that asks of its reply to state facts."""
    if not facts:
        return goal
    (plan,) = goal.plans or ()
    told = [
        replace(milestone, condition=Replied(tuple(facts)))
        if isinstance(milestone.condition, Replied)
        else milestone
        for milestone in plan.milestones
    ]
    return replace(goal, plans=(Plan(tuple(told)),))


# -- Checks.


def _check(written: WrittenDialogue, task: Task, tools: Mapping[str, Tool]) -> None:
    earlier = " ".join(step.content for step in task.before)
    for number, (mission, goal) in enumerate(zip(written.missions, task.goals, strict=True)):
        with located(f"mission {number + 1}"):
            said = said_of(task, number)
            if mission.asked and not lacks(goal, said, tools):
                raise DataError("the request says all that is required: nothing is to be asked")
            if mission.asked and (known := told_before(goal, said)):
                raise DataError(f"the user is asked for {known[0]!r}, which was said")
            near = replace(said, earlier=said.earlier[-1:])
            if mission.relation == "memory" and (number < 2 or not leans(goal, said, True)):
                raise DataError("memory: expected a need of what an earlier mission alone says")
            if mission.relation in ("implicit", "ellipsis") and not leans(goal, near):
                raise DataError(f"{mission.relation}: nothing of the mission before is needed")
            near_only = mission.kind == "chat" and mission.relation in ("implicit", "ellipsis")
            if near_only and (far := _far(said)):
                raise DataError(f"{mission.relation}: {far[0]:g} stands before the last mission")
            _check_values(goal, said, tools)
            texts = [goal.text, *said.answers, *mission.asked]
            results = [m.result for plan in goal.plans or () for m in plan.milestones[:-1]]
            earlier += " ".join([*texts, *map(json_text, results)])
            if mission.kind != "chat":
                _check_reply(said.reply, earlier)
            elif number:  # the first one asks for what people know
                _check_sums(said.reply, earlier)
            earlier += said.reply


def _check_values(goal: Goal, said: SaidOf, tools: Mapping[str, Tool]) -> None:
    """Raise where nothing that is said holds what a call is given, nor a result it comes after.

    A model is told what was said in earlier missions, not what was called and found there.
    """
    (plan,) = goal.plans or ()
    for milestone in plan.milestones:
        called = milestone.condition
        if not isinstance(called, Called):
            continue
        found = [json_text(plan.milestones[place].result) for place in milestone.after]
        texts = [*said.own, *said.texts, *found]
        schemas = tools[called.tool].parameters["properties"]
        given = {name: one.listed[0] for name, one in (called.arguments or {}).items()}
        for name in _HEADS & (schemas.keys() - given.keys()):
            if not said.states(schemas[name]["default"], texts):
                raise DataError(f"{called.tool}: how many {name} was not said")
        for name, whole in given.items():
            _check_letters(name, whole, "\n".join(texts))
            for value in () if name in _REWORDED else _told(whole, schemas[name]):
                if not said.states(value, texts) and str(value) not in " ".join(found):
                    raise DataError(f"{called.tool}: {name} = {value!r} was not said")


def _check_letters(name: str, value: Any, said: str) -> None:
    """Raise where a free text could as well be written with other letters."""
    if name not in _FREE:
        return
    is_name = value != value.casefold() or any(letter.isdigit() for letter in value)
    if f'"{value}"' not in said and not (is_name and value in said):
        raise DataError(f"{name} = {value!r}: expected it in quotes, or a name or code")


def _told(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the parts of an argument that a user or a result must tell; days and times apart."""
    if isinstance(value, list):
        for one in value:
            yield from _told(one, schema.get("items", {}))
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _told(one, schema["properties"][name])
    elif isinstance(value, str) and _MOMENT.fullmatch(value):
        yield from value.split("T")
    elif not isinstance(value, bool) and value != 1 and "enum" not in schema:
        yield value  # one thing is "it" or "a table"


def _check_reply(reply: str, known: str) -> None:
    """Raise where a reply has a number or code that nothing before has."""
    plain = _THOUSANDS.sub("", known)
    for code in _CODE.findall(_THOUSANDS.sub("", reply)):
        if code.strip(".:") not in plain:
            raise DataError(f"the reply says {code!r}, which nothing before it does")


def _check_sums(reply: str, known: str) -> None:
    """Raise where a chat's reply has a number that no sum of two numbers before it gives."""
    held = {*_CONSTANTS, *_numbers(known)}
    for number in _numbers(reply):
        if not any(abs(number - made) < _CENT for made in _sums(held)):
            raise DataError(f"the reply says {number:g}, which nothing before it gives")
        held.add(number)


def _far(said: SaidOf) -> list[float]:
    """Return the numbers of a reply that only missions before the last one have."""
    near = {n for text in (*said.own, *said.earlier[-1]) for n in _numbers(text)}
    before = {n for text in said.texts for n in _numbers(text)}
    return [n for n in _numbers(said.reply) if n in before - near]


def _numbers(text: str) -> list[float]:
    """Return the numbers of a text in their order; a time is its minutes."""
    return [
        float(found[1]) * 60 + float(found[2]) if found[1] else float(found[0])
        for found in _NUMBER.finditer(_THOUSANDS.sub("", text))
    ]


def _sums(held: Collection[float]) -> Iterator[float]:
    yield from held
    for first, second in product(held, repeat=2):
        yield from (first + second, first - second, first * second)
        if second:
            yield from (first / second, float(round(first / second)))

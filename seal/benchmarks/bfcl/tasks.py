"""BFCL's items as tasks: one goal for single-turn items and questions, one a turn for the others.

Gold, by category:

- simple, multiple, parallel (live or not): one plan of calls without order.
- irrelevance: a plan without calls; functions are offered, and none fits.
- live_relevance: upstream accepts any call, and so does one plan for each offered function, with
  any arguments. Which of them is the right one is not annotated: no tool is `relevant`.
- multi_turn: a plan of calls in sequence for each turn. A turn without gold calls is one where the
  agent must call nothing, in miss_func and miss_param; elsewhere upstream checks nothing there, so
  that it is not annotated. In miss_param its label `missing` says that the user tells only in the
  next turn what a call requires. Functions of `excluded_function` are not offered; those of
  `missed_function` from their turn on, in which the user's word is `MORE_FUNCTIONS`: upstream has
  none in its files. Upstream compares states and results of its own implementation of the
  functions, which is no data; here calls are compared, and by `leaderboard` states and results.
- memory, web_search: values that the answer states, any of them. Nothing is kept between chats
  here, so what upstream's user says in sessions before a memory question stands in the task's
  history, each message answered by `NOTED`.

Words of a system prompt and earlier messages of a conversation stand in the history, addressed to
the role that makes the calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seal.benchmarks.bfcl.files import BfclFiles, Category, Item
from seal.benchmarks.bfcl.gold import (
    UnusableGoldError,
    plan_of_answers,
    plan_of_calls,
    positional_arguments,
)
from seal.benchmarks.bfcl.tools import Functions
from seal.core import JSON, DataError, Goal, Milestone, Plan, Step, Task, Tool, located, shortened
from seal.core.conditions import Called
from seal.pools.reading.records import expect, field
from seal.pools.reading.tolerance import FileFault

BENCHMARK = "bfcl"
UNMEETABLE = "unmeetable"
"""Label of a goal whose gold no call meets, as upstream's checker reads it."""
MORE_FUNCTIONS = "More functions are available to you now. Please try my last request again."
"""What the user says in a turn that brings functions: upstream's files hold no word for it."""
NOTED = "Noted."
"""What the agent says to each message before a memory question: upstream's agent speaks freely."""

_CALLER = "execution_manager"
_USER = "user_simulator"
_FILES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
    "WebSearchAPI": "web_search",
}
"""Class to the name of the file of its functions."""
MEMORIES = ("kv", "vector", "rec_sum")
"""Kinds of memory, each with functions of its own."""


@dataclass(frozen=True, slots=True)
class Said:
    """The messages of one turn."""

    text: str
    """The user's last message; empty where there is none."""
    before: tuple[tuple[str, str], ...] = ()
    """(role, content) of the messages before it."""


class TaskMaker:
    """Makes tasks of items.

    Args:
        files: The source.
        functions: Gets the functions of the items.
        memory: Which of `MEMORIES` the memory questions are asked with.
        dropped: Gets the reasons why gold is left out.
    """

    def __init__(
        self, files: BfclFiles, functions: Functions, memory: str, dropped: Counter[str]
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._files = files
        self._functions = functions
        self._classes = {**_FILES, "MemoryAPI": f"memory_{memory}"}
        self._dropped = dropped
        self._by_class: dict[str, dict[str, Tool]] = {}
        self._sessions: dict[str, list[tuple[str, str]]] = {}

    def task(self, item: Item, category: Category) -> Task:
        """Return the task of an item.

        Raises:
            DataError: A field is missing or malformed.
        """
        if category.suite == "multi_turn":
            task = self._multi_turn(item, category)
        elif category.suite == "agentic":
            task = self._agentic(item, category)
        else:
            task = self._single_turn(item, category)
        self.counts["goals"] += len(task.goals)
        return task

    def _single_turn(self, item: Item, category: Category) -> Task:
        offered = self._documents(item, category)
        said = self._only_turn(item)
        if category.answered:
            plans = self._usable(lambda: plan_of_answers(item.ground_truth, offered))
            goal = _goal(said.text, plans, offered)
            given = (values for call in item.ground_truth for values in call.values())
            if plans and any([] in accepted.values() for accepted in given):
                goal = replace(goal, labels={UNMEETABLE: True})
            return _task(item, category, [goal], said.before)
        relevance = category.name == "live_relevance"
        calls = [Plan((Milestone(Called(tool.id)),)) for tool in offered.values()]
        goal = Goal(said.text, tuple(calls) if relevance else (Plan(),), offered=_ids(offered))
        return _task(item, category, [goal], said.before)

    def _only_turn(self, item: Item) -> Said:
        turns = _turns(item.record)
        if len(turns) != 1 or not turns[0].text:
            raise DataError("question: expected one turn that ends with a message of the user")
        self.counts["system_messages"] += any(role == "system" for role, _ in turns[0].before)
        return turns[0]

    def _multi_turn(self, item: Item, category: Category) -> Task:
        turns, calls = _turns(item.record), item.ground_truth
        if len(turns) != len(calls):
            raise DataError(f"question has {len(turns)} turns, its answer has {len(calls)}")
        late = _late(item.record.get("missed_function", {}))
        functions = self._of_classes(item)
        excluded = expect(item.record.get("excluded_function", []), list, "excluded_function")
        for name in excluded:
            functions.pop(str(name), None)
        goals = []
        for turn, said in enumerate(turns):
            if any(role != "user" for role, _ in said.before):
                raise DataError(f"question.{turn}: expected messages of the user alone")
            hidden = {name for name, arrival in late.items() if arrival > turn}
            offered = {name: tool for name, tool in functions.items() if name not in hidden}
            text = "\n".join(filter(None, [*(text for _, text in said.before), said.text]))
            goal = self._turn(turn, text, calls[turn], offered, category)
            told_next = category.name == "multi_turn_miss_param" and any(calls[turn + 1 : turn + 2])
            if told_next and not calls[turn]:
                goal = replace(goal, labels={**goal.labels, "missing": True})
            goals.append(goal)
        return _task(item, category, goals, metadata=_facts(item.record), state=_state(item.record))

    def _turn(
        self, turn: int, text: str, calls: Any, offered: Mapping[str, Tool], category: Category
    ) -> Goal:
        expect(calls, list, f"ground_truth.{turn}")
        checked = category.name in ("multi_turn_miss_func", "multi_turn_miss_param")
        if not calls and not checked:
            self.counts["turns_without_gold"] += 1
            return Goal(text, offered=_ids(offered))
        with located(f"ground_truth.{turn}"):
            plans = self._usable(lambda: plan_of_calls(calls, offered))
            self.counts["positional_arguments"] += sum(map(positional_arguments, calls))
        if text:
            return _goal(text, plans, offered)
        # The message says nothing to search by, so that no retriever can be asked for its tools.
        return Goal(MORE_FUNCTIONS, plans, offered=_ids(offered), labels={"more_functions": True})

    def _agentic(self, item: Item, category: Category) -> Task:
        said = self._only_turn(item)
        answers = tuple(item.ground_truth)
        if not answers or not all(isinstance(answer, str) for answer in answers):
            got = shortened(item.ground_truth)
            raise DataError(f"ground_truth: expected a list of texts, got {got}")
        offered = self._of_classes(item)
        any_answer = len(answers) > 1
        goal = Goal(said.text, answers=answers, any_answer=any_answer, offered=_ids(offered))
        before = said.before
        if category.name == "memory":
            before = (*self._before_memory(field(item.record, "scenario", str)), *before)
        return _task(item, category, [goal], before, _facts(item.record))

    def _before_memory(self, scenario: str) -> list[tuple[str, str]]:
        """Return (role, content) of the sessions before the questions of a scenario."""
        if scenario not in self._sessions:
            try:
                self._sessions[scenario] = [
                    message
                    for session in self._files.conversations(scenario)
                    for turn in _turns(session)
                    for message in (*turn.before, ("user", turn.text), ("assistant", NOTED))
                ]
            except DataError as error:
                raise FileFault(f"memory_{scenario}.json: {error}") from error
        return self._sessions[scenario]

    def _of_classes(self, item: Item) -> dict[str, Tool]:
        """Return name to tool of the functions of an item's classes."""
        tools: dict[str, Tool] = {}
        for name in field(item.record, "involved_classes", list):
            if not isinstance(name, str) or name not in self._classes:
                raise DataError(
                    f"involved_classes: no class {shortened(name)}; "
                    f"known: {', '.join(sorted(self._classes))}"
                )
            tools |= self._of_class(name)
        return tools

    def _of_class(self, name: str) -> dict[str, Tool]:
        if name not in self._by_class:
            file = self._classes[name]
            path = f"multi_turn_func_doc/{file}.json"
            try:
                found = [
                    self._functions.add(document, file, path, name)
                    for document in self._files.functions(file)
                ]
            except DataError as error:
                raise FileFault(f"{path}: {error}") from error
            self._by_class[name] = {tool.name: tool for tool in found}
        return self._by_class[name]

    def _documents(self, item: Item, category: Category) -> dict[str, Tool]:
        """Return name to tool of the functions that an item brings."""
        file = f"BFCL_v4_{category.name}.json"
        tools: dict[str, Tool] = {}
        for position, document in enumerate(field(item.record, "function", list)):
            with located(f"function.{position}"):
                tool = self._functions.add(document, category.language, file)
            tools.setdefault(tool.name, tool)
        return tools

    def _usable(self, plan: Callable[[], Plan]) -> tuple[Plan, ...] | None:
        """Return a plan alone; None where its gold cannot be used, which is counted."""
        try:
            return (plan(),)
        except UnusableGoldError as error:
            self._dropped[error.reason] += 1
            return None


def _turns(record: Any) -> list[Said]:
    turns = []
    for number, turn in enumerate(field(record, "question", list)):
        expect(turn, list, f"question.{number}")
        with located(f"question.{number}"):
            messages = [(field(m, "role", str), field(m, "content", str)) for m in turn]
        unknown = {role for role, _ in messages} - {"system", "user", "assistant"}
        if unknown:
            raise DataError(f"question.{number}: unknown role {shortened(min(unknown))}")
        asks = bool(messages) and messages[-1][0] == "user"
        text = messages[-1][1] if asks else ""
        turns.append(Said(text, tuple(messages[:-1] if asks else messages)))
    return turns


def _late(missed: Any) -> dict[str, int]:
    """Return the functions that are not there from the start, each with the turn of its arrival."""
    try:
        return {name: int(turn) for turn, names in missed.items() for name in names}
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(
            f"missed_function: expected {{turn: [function]}}, got {shortened(missed)}"
        ) from error


def _goal(text: str, plans: tuple[Plan, ...] | None, offered: Mapping[str, Tool]) -> Goal:
    called = (call.tool for plan in plans or () for call in plan.calls())
    return Goal(text, plans, offered=_ids(offered), relevant=tuple(dict.fromkeys(called)))


def _ids(offered: Mapping[str, Tool]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tool.id for tool in offered.values()))


def _facts(record: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what else an item says, under upstream's names."""
    names = ("involved_classes", "path", "excluded_function", "missed_function", "scenario")
    return {name: record[name] for name in names if name in record}


def _state(record: Mapping[str, Any]) -> dict[str, list[dict[str, JSON]]] | None:
    """Return the configuration of an item's classes: a table of one row for each."""
    config = field(record, "initial_config", dict)
    if not all(isinstance(own, dict) for own in config.values()):
        raise DataError(f"initial_config: expected an object a class, got {shortened(config)}")
    return {name: [own] for name, own in config.items()} or None


def _task(
    item: Item,
    category: Category,
    goals: Sequence[Goal],
    before: Iterable[tuple[str, str]] = (),
    metadata: dict[str, JSON] | None = None,
    state: dict[str, list[dict[str, JSON]]] | None = None,
) -> Task:
    return Task(
        item.record["id"],
        BENCHMARK,
        tuple(goals),
        state,
        tuple(_step(index, role, text) for index, (role, text) in enumerate(before)),
        split="test",
        tags=_tags(category, goals),
        metadata=metadata or {},
    )


def _step(index: int, role: str, text: str) -> Step:
    if role == "assistant":
        return Step(index, _CALLER, _USER, text, turn=index)
    return Step(index, _USER if role == "user" else role, _CALLER, text, turn=index)


def _tags(category: Category, goals: Sequence[Goal]) -> dict[str, JSON]:
    """Return what is known of a task; of its shape nothing where no calls are annotated."""
    tags: dict[str, JSON] = {
        "group": category.name,
        "suite": category.suite,
        "language": category.language,
        "python_gold": category.python_gold,
    }
    plans = [goal.plans[0] for goal in goals if goal.plans and len(goal.plans) == 1]
    if plans:
        calls = [plan.calls() for plan in plans]
        tags["multi_tool"] = len({call.tool for made in calls for call in made}) > 1
        tags["multi_step"] = sum(map(len, calls)) > 1
        tags["parallel"] = any(
            sum(not milestone.after for milestone in plan.milestones) > 1 for plan in plans
        )
    return tags

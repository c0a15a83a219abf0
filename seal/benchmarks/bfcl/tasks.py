"""BFCL's items as tasks: one goal for single-turn items and questions, one a turn for the others.

Accepted values of single-turn calls (`possible_answer`), by the rules of upstream's checker:

- An argument has a list of accepted values. `""` among them says that it may be left out, unless
  the function requires it; where the function takes `""` itself, it is right too.
- A map among the values has a list of accepted values for each member in turn, `""` for one that
  may be left out; so do maps that are items of a list. They are multiplied out here: each accepted
  value of an argument is a JSON value as a model would give it. What lies deeper is one value.
- An empty list where a list is wanted means the empty list: upstream's checker, taken by its word,
  would accept nothing there.

Unlike upstream's, texts are compared letter by letter: its checker folds case and ignores blanks
and most punctuation.

Multi-turn calls (`name(argument=value, ...)`) are read by `ast`, never evaluated: values are
literals, positional arguments get their names from the function's document.

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
  none in its files. The last turn with gold calls asks for what these and all before them leave:
  its classes end with the public attributes that they have after gold (`EndsAs`), whatever was
  called. Upstream compares states after each turn, and results: `leaderboard` does too.
- memory, web_search: values that the answer states, any of them. Nothing is kept between chats
  here. So the task's history holds what upstream's user says in sessions before a memory question;
  each message is answered by `NOTED`.

Words of a system prompt and earlier messages of a conversation stand in the history, addressed to
the role that makes the calls.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from seal.benchmarks.bfcl.files import BfclFiles, Category, Item
from seal.benchmarks.bfcl.tools import Functions
from seal.core import JSON, DataError, Goal, Milestone, Plan, Step, Task, Tool, located, shortened
from seal.core.conditions import Argument, Called
from seal.core.state_conditions import EndsAs
from seal.core.text import counted
from seal.pools.own_benchmark import admits
from seal.pools.reading.files import FileFault, expect, field_of
from seal.pools.reading.tool_schemas import given_arguments, parsed_call

MOST_VALUES = 4096
"""Accepted values of one argument, multiplied out; upstream has at most 128."""

_LEFT_OUT = object()
_OMITTED = ""
"""Upstream's mark among accepted values: may be left out."""


class UnusableGoldError(DataError):
    """Gold that is well-formed but cannot be met or written; `reason` is what it is counted as."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def plan_of_answers(ground_truth: Any, offered: Mapping[str, Tool]) -> Plan:
    """Return the plan of a single-turn item: its calls in no order.

    Args:
        ground_truth: `[{function: {argument: [accepted values]}}]`.
        offered: Name to tool.

    Raises:
        DataError: It has another shape.
        UnusableGoldError: A function is not offered, or an argument has no value, or too many.
    """
    if not isinstance(ground_truth, list) or not ground_truth:
        raise DataError(f"ground_truth: expected a list of calls, got {shortened(ground_truth)}")
    return Plan(tuple(Milestone(_accepted_call(call, offered)) for call in ground_truth))


def _accepted_call(call: Any, offered: Mapping[str, Tool]) -> Called:
    if not isinstance(call, dict) or len(call) != 1:
        raise DataError(
            f"ground_truth: expected {{function: {{argument: [values]}}}}, got {shortened(call)}"
        )
    ((name, accepted),) = call.items()
    expect(accepted, dict, f"ground_truth of {name!r}")
    tool = _offered(name, offered)
    required = tool.parameters.get("required", [])
    properties: Mapping[str, Any] = tool.parameters["properties"]
    arguments = {
        key: _argument(f"{name}.{key}", values, properties.get(key), key in required)
        for key, values in accepted.items()
    }
    return Called(tool.id, arguments)


def _offered(name: str, offered: Mapping[str, Tool]) -> Tool:
    if name not in offered:
        raise UnusableGoldError(
            "gold_calls_what_is_not_offered", f"no function {name!r} is offered"
        )
    return offered[name]


def _argument(place: str, accepted: Any, schema: Any, required: bool) -> Argument:
    """Return what a gold argument accepts; the first value has all members that may be given."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    kind = kind[0] if isinstance(kind, list) else kind  # None: any value will do
    expect(accepted, list, place, "a list of accepted values")
    if not accepted and kind == "array":
        return Argument(([],))
    found = (item for value in accepted if value != _OMITTED for item in _multiplied(value))
    values = list(islice(found, MOST_VALUES + 1))
    if len(values) > MOST_VALUES:
        raise UnusableGoldError(
            "too_many_accepted_values", f"{place}: more than {MOST_VALUES} accepted values"
        )
    may_be_omitted = _OMITTED in accepted
    if may_be_omitted and kind in ("string", None) and admits(schema, _OMITTED):
        values.append(_OMITTED)
    optional = may_be_omitted and not required
    if not values and not optional:
        raise UnusableGoldError("no_accepted_value", f"{place}: no accepted value")
    return Argument(tuple(values), optional)


def _multiplied(value: JSON) -> Iterator[JSON]:
    """Yield the values that one accepted value stands for."""
    if isinstance(value, dict):
        choices = [_member_values(accepted) for accepted in value.values()]
        for chosen in product(*choices):
            members = zip(value, chosen, strict=True)
            yield {name: item for name, item in members if item is not _LEFT_OUT}
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        each = (_multiplied(item) if isinstance(item, dict) else (item,) for item in value)
        yield from map(list, product(*(islice(values, MOST_VALUES + 1) for values in each)))
    else:
        yield value


def _member_values(accepted: JSON) -> list[Any]:
    """Return what a member of a map may be, `_LEFT_OUT` last; a value that is no list is itself."""
    if not isinstance(accepted, list):
        return [accepted]
    given = [value for value in accepted if value != _OMITTED]
    return [*given, _LEFT_OUT] if _OMITTED in accepted else given


def plan_of_calls(calls: Sequence[Any], offered: Mapping[str, Tool]) -> Plan:
    """Return the plan of one turn: its calls one after the other.

    Args:
        calls: Python calls as texts.
        offered: Name to tool.

    Raises:
        DataError: A text is no call with literal arguments that the function has.
        UnusableGoldError: A function is not offered in this turn.
    """
    milestones = (
        Milestone(python_call(call, offered), (position - 1,) if position else ())
        for position, call in enumerate(calls)
    )
    return Plan(tuple(milestones))


def python_call(text: Any, offered: Mapping[str, Tool]) -> Called:
    """Return the call that a Python expression writes, with exactly its values.

    Args:
        text: Such as `move(source='a', destination='b')`.
        offered: Name to tool.

    Raises:
        DataError: It is no call, or an argument is no literal, unnamed beyond the function's
            arguments, or given twice.
        UnusableGoldError: The function is not offered.
    """
    call = parsed_call(text)
    tool = _offered(ast.unparse(call.func), offered)
    given = given_arguments(call, list(tool.parameters["properties"]))
    return Called.exact(tool.id, given)


def positional_arguments(text: str) -> int:
    """Return how many arguments of a call are given by their position."""
    return len(parsed_call(text).args)


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
_CONVERSATIONS = "memory_prereq_conversation"
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
            raise DataError(
                f"question has {counted(len(turns), 'turn')}, its answer has {len(calls)}"
            )
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
        if any(gold and goal.plans is None for gold, goal in zip(calls, goals, strict=True)):
            self.counts["dialogues_without_end"] += 1  # what gold does is not wholly known
        else:
            goals = _with_end(goals)
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
            before = (*self._before_memory(field_of(item.record, "scenario", str)), *before)
        return _task(item, category, [goal], before, _facts(item.record))

    def _before_memory(self, scenario: str) -> list[tuple[str, str]]:
        """Return (role, content) of the sessions before the questions of a scenario."""
        if scenario not in self._sessions:
            try:
                self._sessions[scenario] = [
                    message
                    for session in self._files.side(f"{_CONVERSATIONS}/memory_{scenario}.json")
                    for turn in _turns(session)
                    for message in (*turn.before, ("user", turn.text), ("assistant", NOTED))
                ]
            except DataError as error:
                raise FileFault(f"memory_{scenario}.json: {error}") from error
        return self._sessions[scenario]

    def _of_classes(self, item: Item) -> dict[str, Tool]:
        """Return name to tool of the functions of an item's classes."""
        tools: dict[str, Tool] = {}
        for name in field_of(item.record, "involved_classes", list):
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
                    for document in self._files.side(path)
                ]
            except DataError as error:
                raise FileFault(f"{path}: {error}") from error
            self._by_class[name] = {tool.name: tool for tool in found}
        return self._by_class[name]

    def _documents(self, item: Item, category: Category) -> dict[str, Tool]:
        """Return name to tool of the functions that an item brings."""
        file = f"BFCL_v4_{category.name}.json"
        tools: dict[str, Tool] = {}
        for position, document in enumerate(field_of(item.record, "function", list)):
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
    for number, turn in enumerate(field_of(record, "question", list)):
        expect(turn, list, f"question.{number}")
        with located(f"question.{number}"):
            messages = [(field_of(m, "role", str), field_of(m, "content", str)) for m in turn]
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
    called = (tool for plan in plans or () for tool in plan.tools())
    return Goal(text, plans, offered=_ids(offered), relevant=tuple(dict.fromkeys(called)))


def _with_end(goals: Sequence[Goal]) -> list[Goal]:
    """Return the turns of a dialogue, of which the last one with gold calls asks for the end."""
    found = list(goals)
    for turn in reversed(range(len(found))):
        calls = [node for plan in found[turn].plans or () for node in plan.milestones]
        if calls:
            end = Milestone(EndsAs(sequences=()), (len(calls) - 1,))
            found[turn] = replace(found[turn], plans=(Plan((*calls, end)),))
            break
    return found


def _ids(offered: Mapping[str, Tool]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tool.id for tool in offered.values()))


def _facts(record: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what else an item says, under upstream's names."""
    names = ("involved_classes", "path", "excluded_function", "missed_function", "scenario")
    return {name: record[name] for name in names if name in record}


def _state(record: Mapping[str, Any]) -> dict[str, list[dict[str, JSON]]] | None:
    """Return the configuration of an item's classes: a table of one row for each."""
    config = field_of(record, "initial_config", dict)
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
        tuple(_step(*each) for each in enumerate(before)),
        split="test",
        tags=_tags(category, goals),
        metadata=metadata or {},
    )


def _step(index: int, said: tuple[str, str]) -> Step:
    role, text = said
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

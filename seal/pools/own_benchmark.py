"""Tools and tasks of one's own; gold held against schemas."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import (
    JSON,
    DataError,
    Goal,
    Milestone,
    Plan,
    Task,
    Tool,
    ToolCall,
    UsageError,
    nearest,
    shortened,
)
from seal.core.conditions import ANY, AnyArguments, Argument, Called, Condition
from seal.core.earlier_results import (
    after_what_it_takes,
    faults,
    recorded_gold,
    taken,
    taking,
    undeclared,
)
from seal.core.records import decode, encode
from seal.core.registry import name_of
from seal.core.schema_faults import default_faults, schema_faults
from seal.core.schemas import meets, required_names, schema_validator, surely_accepts
from seal.core.settings import checked
from seal.core.slots import says_something, slots_of
from seal.core.state_conditions import CallRefused, EndsAs
from seal.core.validation import CallError, CallValidator
from seal.core.values import exact_json, loss_of
from seal.environments.gold_play import MOST_ENDS
from seal.evaluation.goals import IN_ORDER, TALK
from seal.pools.benchmark import FEW_TOOLS, FUNCTION, OwnTool, OwnTools
from seal.pools.reading.files import refuse_deep
from seal.pools.reading.tool_schemas import standard_schema

# -- Tools and tasks as people have them.
#
# Tools are Python functions, schemas of model providers, or `Tool` records; a task is a request,
# and what is gold about it.

_SCHEMAS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
)
"""Where the argument map's JSON Schema stands: OpenAI, Anthropic, MCP, Gemini."""


def own_tools(benchmark: str, tools: Iterable[OwnTool]) -> OwnTools:
    """Return tools under their ids; those that have none get `benchmark/name`.

    Raises:
        UsageError: No tool, one that is none of the kinds, has a broken schema, or two of one name.
    """
    checked = ((checked_tool(benchmark, what), what) for what in _listed(benchmark, tools))
    return together(benchmark, checked)


def checked_tool(benchmark: str, what: OwnTool) -> Tool:
    """Return the record of one tool.

    Raises:
        UsageError: It is none of the kinds, or has a broken schema.
    """
    tool = _tool(benchmark, what)
    faults = default_faults if callable(what) else schema_faults
    for fault in faults(tool.parameters):
        raise UsageError(
            f"benchmark {benchmark!r}: tool {tool.name!r}: "
            f"{'.'.join(filter(None, ('parameters', fault.path)))}: {fault.text}"
        )
    return tool


def together(benchmark: str, checked: Iterable[tuple[Tool, OwnTool]]) -> OwnTools:
    """Return records, each with what it was made of, under their ids.

    Raises:
        UsageError: Two have one name.
    """
    by_id: dict[str, Tool] = {}
    names: set[str] = set()
    functions = {}
    for tool, what in checked:
        if tool.id in by_id or tool.name in names:
            raise UsageError(
                f"benchmark {benchmark!r} has two tools named {tool.name!r}; rename one"
            )
        by_id[tool.id] = tool
        names.add(tool.name)
        if callable(what):
            functions[tool.id] = what
    return OwnTools(by_id, functions)


def check_functions(folder: Path, own: OwnTools, stored: Mapping[str, Tool]) -> None:
    """Make sure that functions take the calls of the tools that a pool folder has of their names.

    Raises:
        UsageError: There is no such tool, or a function takes other arguments; names both.
    """
    for tool_id in own.functions:
        if tool_id not in stored:
            raise UsageError(
                f"{folder} has no tool {tool_id!r} for the function of that name; it has: "
                + ", ".join(list(stored)[:FEW_TOOLS])
            )
        takes, asked = (_takes(tool.parameters) for tool in (own.by_id[tool_id], stored[tool_id]))
        if takes != asked:
            raise UsageError(
                f"{folder}: the function {own.by_id[tool_id].name} takes ({', '.join(takes)}), and "
                f"the stored tool ({', '.join(asked)}); give the function that was saved, or save "
                "the benchmark again"
            )


def _takes(parameters: Mapping[str, Any]) -> list[str]:
    """Return the arguments with their types, sorted; those that may be left out stand in []."""
    properties = parameters.get("properties")
    needed = required_names(parameters)
    told = {
        name: f"{name}: {schema.get('type', 'any')}" if isinstance(schema, dict) else name
        for name, schema in (properties if isinstance(properties, dict) else {}).items()
    }
    return [text if name in needed else f"[{text}]" for name, text in sorted(told.items())]


def _listed(benchmark: str, tools: Iterable[OwnTool]) -> list[OwnTool]:
    if isinstance(tools, (str, Mapping)) or not isinstance(tools, Iterable):
        raise UsageError(
            f"benchmark {benchmark!r}: tools: expected a list of functions, schemas or Tool "
            f"records, got {shortened(tools)}"
        )
    found = list(tools)
    if not found:
        raise UsageError(
            f"benchmark {benchmark!r} has no tools; give functions, schemas or Tool records"
        )
    return found


def _tool(benchmark: str, what: OwnTool) -> Tool:
    if isinstance(what, Tool):
        return what
    if isinstance(what, Mapping):
        return _of_schema(benchmark, what)
    if inspect.iscoroutine(what):
        what.close()
        raise UsageError(
            f"benchmark {benchmark!r}: a coroutine is no tool; give the function itself, not what "
            "calling it returns"
        )
    if not callable(what) or isinstance(what, type):
        raise UsageError(
            f"benchmark {benchmark!r}: {shortened(what)} is no tool; expected a function, a schema "
            "such as OpenAI's, or a Tool record"
        )
    if not str(getattr(what, "__name__", "")).isidentifier():
        kind = "a lambda" if hasattr(what, "__name__") else type(what).__name__
        raise UsageError(
            f"benchmark {benchmark!r}: {kind} has no name that a model could call; "
            "wrap it in a function with def"
        )
    from seal.environments.function_tools import function_tool

    try:
        document = function_tool(f"{benchmark}/{what.__name__}", what)
    except UsageError as error:
        raise UsageError(
            f"{error}. If it is no tool, leave it out of the tools; in a file of tools, let its "
            "name begin with _"
        ) from error
    can_be_found = what.__module__ != "__main__" and what.__qualname__.isidentifier()
    source: dict[str, JSON] = {FUNCTION: name_of(what)} if can_be_found else {}
    return replace(document, source=source)


def _of_schema(benchmark: str, schema: Mapping[str, Any]) -> Tool:
    """Return the tool of a provider's schema.

    Raises:
        UsageError: It has no name, or its parameters are no JSON Schema of an argument map.
    """
    inner = schema.get("function", schema)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not name:
        raise UsageError(
            f"benchmark {benchmark!r}: no tool in {shortened(dict(schema))}; expected an object "
            "with `name`, `description` and `parameters`, such as OpenAI's tools"
        )
    found: Any = next((inner[key] for key in _SCHEMAS if inner.get(key) is not None), {})
    if not isinstance(found, Mapping):
        raise UsageError(
            f"benchmark {benchmark!r}: parameters of {name!r}: expected a JSON Schema, "
            f"got {shortened(found)}"
        )
    try:
        standard = standard_schema(exact_json(dict(found)))
        parameters = {"type": "object", "properties": {}, **standard}
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"benchmark {benchmark!r}: parameters of {name!r}: {error}; write a JSON Schema"
        ) from error
    if parameters["type"] != "object" or not isinstance(parameters["properties"], Mapping):
        raise UsageError(
            f"benchmark {benchmark!r}: parameters of {name!r}: expected the schema of an object "
            "with `properties`"
        )
    description = inner.get("description") or ""
    try:
        writes = says_it_writes({**schema, **inner})
    except UsageError as error:
        raise UsageError(f"benchmark {benchmark!r}: tool {name!r}: {error}") from error
    return Tool(
        f"{benchmark}/{name}",
        name,
        description if isinstance(description, str) else str(description),
        parameters,
        returns=inner.get("outputSchema"),
        writes=writes,
    )


def says_it_writes(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema says that calls change something: by `writes`, or by MCP's hints.

    A hint counts where it is given, and `writes` does not say otherwise. Its default, that any tool
    may write, says nothing; nor does `destructiveHint` of a tool that only reads.

    Raises:
        UsageError: One of them is no truth value, or the hints are no map.
    """
    hints = schema.get("annotations")
    if not isinstance(hints, Mapping | None):
        raise UsageError(f"annotations: expected a map of MCP's hints, got {shortened(hints)}")
    said = _truth(schema, "writes")
    reads, destroys = (_truth(hints or {}, name) for name in ("readOnlyHint", "destructiveHint"))
    hinted = reads is False or (destroys is True and reads is None)
    return hinted if said is None else said


def _truth(marks: Mapping[str, Any], name: str) -> bool | None:
    """Return a mark; None: it is not made."""
    mark = marks.get(name)
    if not isinstance(mark, bool | None):
        raise UsageError(f"{name}: expected true or false, got {shortened(mark)}; mend it")
    return mark


@checked
def called(
    tool: str, /, *anything: AnyArguments, **arguments: JSON | Argument | AnyArguments
) -> Called:
    """Return the gold step that a tool is called.

    A call that leaves out an argument is equal to one that gives the default which the tool
    declares for it, whichever of the two gold names. Values are equal where they mean the same
    (`seal.core.values.alike`).

    Args:
        tool: Name or id of the tool.
        *anything: `seal.ANY`: any arguments are right.
        **arguments: Name to the right value; to an `Argument` where several are right or it may be
            left out; to `seal.ANY` where any value is right. None at all: the call has no
            arguments.

    Raises:
        UsageError: The tool has no name, arguments are given without theirs, or JSON cannot hold a
            value.

    Example:
        >>> import seal
        >>> seal.called("get_order", order_id="7").arguments
        {'order_id': Argument(values=('7',), optional=False)}
        >>> seal.called("now").arguments, seal.called("now", seal.ANY).arguments
        ({}, None)
    """
    if not tool:
        raise UsageError("called(''): expected the name of a tool")
    if any(one is not ANY for one in anything) or len(anything) > 1:
        raise UsageError(
            f"called({tool!r}): {shortened(anything[0])} has no name; give each argument by its "
            f"name, or seal.ANY alone where any arguments are right"
        )
    if anything and arguments:
        raise UsageError(
            f"called({tool!r}): seal.ANY beside {next(iter(arguments))!r}; leave one of the two out"
        )
    if anything:
        return Called(tool)
    gold: dict[str, Argument] = {}
    for name, value in arguments.items():
        try:
            right = value if isinstance(value, Argument) else _right(value)
            exact_json(right.listed)
        except (UsageError, ValueError) as error:
            raise UsageError(f"called({tool!r}): {name}: {error}") from error
        gold[name] = right
    return Called(tool, gold)


def _right(value: JSON | AnyArguments) -> Argument:
    return Argument(None if value is ANY else (value,))


@checked
def refused(call: Called) -> CallRefused:
    """Return a gold call that is to fail: its tool, the world or the check of arguments refuses it.

    Args:
        call: As `called` gives it.

    Example:
        >>> import seal
        >>> seal.refused(seal.called("cancel_order", order_id="9")).tool
        'cancel_order'
    """
    return CallRefused(call.tool, call.arguments)


@checked
def ends_as(
    *calls: Called | Sequence[Called],
    ignore: Sequence[str] = (),
    cells: Mapping[str, str] | None = None,
) -> EndsAs:
    """Return the gold step that the chat ends with the world which gold calls leave.

    When the task is played, the calls are made in a fresh world. The goal is solved if every table
    of the chat's world then has the same rows, whatever calls the agent made. It combines with
    `answer=` and with further steps.

    Args:
        *calls: Gold calls that change the world, in their order; none: the world ends as it began.
            Lists of calls are alternatives: the world ends as after one of them. So are several
            right values of an argument. Calls that only look something up may be left out.
        ignore: Tables, or columns as `table.column`, that may differ, such as new ids and times.
        cells: `table.column` to what it holds where it is written freely: "text" is compared by its
            facts, "time" within a minute, "place", "phone" or "money" however it is written. All
            other cells are compared as values.

    Raises:
        UsageError: Calls and lists are mixed; a call accepts any arguments, or any value of one, so
            that it cannot be made; or right values come to more than 64 alternatives. When the
            benchmark is made: a call fails in the world, without being `refused`;
            its tool is unknown; the task has no world; or `ignore` names nothing there.

    Example:
        >>> import seal
        >>> gold = seal.ends_as(seal.called("refund", order_id="7"), ignore=["refunds.id"])
        >>> [call.tool for call in gold.gold_calls()]
        ['refund']
    """
    for call in calls:
        if not isinstance(call, Called | list | tuple):
            raise UsageError(
                f"ends_as: {shortened(call)} is no gold call; expected one such as "
                "seal.called('get_order', order_id='7'), or a list of them"
            )
    alone = tuple(call for call in calls if isinstance(call, Called))
    lists = tuple(tuple(call) for call in calls if not isinstance(call, Called))
    if alone and lists:
        raise UsageError("ends_as: expected gold calls, or lists of them as alternatives, not both")
    ways = [way for calls in lists or (alone,) for way in islice(_ways(calls), MOST_ENDS + 1)]
    if len(ways) > MOST_ENDS:
        raise UsageError(
            f"ends_as: its right values come to more than {MOST_ENDS} alternatives; give lists of "
            "calls, one for each end that is right"
        )
    return EndsAs(tuple(ways), tuple(ignore), dict(cells or {}))


def _ways(calls: Sequence[Condition]) -> Iterator[tuple[Condition, ...]]:
    """Yield the calls once for each choice of their right values, first that of the oracle."""
    return product(*(list(islice(_choices(call), MOST_ENDS + 1)) for call in calls))


def _choices(call: Condition) -> Iterator[Condition]:
    """Yield a call once for each choice of its right values; what is no call stays as it is.

    Raises:
        UsageError: An argument may have any value.
    """
    if not isinstance(call, Called) or not call.arguments:
        yield call
        return
    for name, argument in call.arguments.items():
        if argument.values is None:
            raise UsageError(
                f"ends_as: the argument {name!r} of {call.tool!r} may have any value, so that the "
                "call cannot be made; name a value, and in `ignore` the columns that it changes"
            )
    left_out = Argument((), optional=True)
    each = [
        [left_out] * (argument.optional or not argument.values)
        + [Argument((value,)) for value in argument.listed]
        for argument in call.arguments.values()
    ]
    for chosen in product(*each):
        named = zip(call.arguments, chosen, strict=True)
        yield replace(call, arguments={name: one for name, one in named if one is not left_out})


@checked
def ask(
    request: str,
    *gold: Condition,
    answer: str | float | Sequence[str | float] = (),
    tells: Any = (),
    tools: Sequence[str] | None = None,
    in_order: bool = False,
    needs_no_tool: bool = False,
    unanswerable: bool = False,
    system: str = "",
    persona: Mapping[str, JSON] | None = None,
    id: str = "",
    tags: Mapping[str, JSON] | None = None,
) -> Task:
    """Return a task of one request.

    Args:
        request: What the user asks.
        *gold: Steps that solve it, such as `seal.called(...)`; none: which calls are right is not
            known.
        answer: What a right final answer states; several values must all be stated.
        tells: Typed values that the agent must tell: `{"temperature": 92.3, "unit": "F"}`,
            `{"price": "36.50 EUR", "day": "2025-09-01"}`, or a list of values. A value may be a
            map, too: `{"value": "Lena", "also": ["Lena Ruiz"], "optional": True}`.
        tools: Names or ids of the tools that are offered. None: all tools of a small benchmark (at
            most 20), else those that a retriever finds.
        in_order: Whether the steps must be taken in the order given. `mission_accuracy` and
            `calls_right` are 0 where they are not, and `pass_rate` where gold is calls alone.
        needs_no_tool: Whether it is small talk: it is right to call no tool, whatever is answered,
            and a refusal is no right answer.
        unanswerable: Whether no tool serves the request: it is right to say so, without a call. It
            leaves no room for steps, an answer or `needs_no_tool`.
        system: What the agent is told before the chat, such as a policy or the date; it stands
            behind that of the benchmark.
        persona: What a simulated user knows and says, in the parts that `seal.Task` names; None:
            the user speaks once.
        id: Unique in the benchmark; empty: its number there.
        tags: What results are grouped and selected by.

    Raises:
        UsageError: The request is empty, a step is no condition, gold is given that leaves no room
            for other gold, an answer says nothing, a part of the persona is of another type, or
            JSON cannot hold persona and tags.

    Example:
        >>> import seal
        >>> task = seal.ask("Where is order 7?", seal.called("get_order", order_id="7"))
        >>> task.goals[0].text
        'Where is order 7?'
    """
    if not request.strip():
        raise UsageError(f"ask({shortened(request)}): expected the text of a request")
    for step in gold:
        if not isinstance(step, Condition):
            raise UsageError(
                f"ask({shortened(request)}): {shortened(step)} is no gold step; expected one such "
                "as seal.called('get_order', order_id='7')"
            )
    answers = (answer,) if isinstance(answer, (str, int, float)) else tuple(answer)
    if gold and (needs_no_tool or unanswerable):
        name = "unanswerable" if unanswerable else "needs_no_tool"
        raise UsageError(f"ask({shortened(request)}): {name}=True leaves no room for steps")
    slots = slots_of(tells)
    if unanswerable and (needs_no_tool or answers or slots):
        other = "needs_no_tool=True" if needs_no_tool else "an answer"
        raise UsageError(
            f"ask({shortened(request)}): unanswerable=True beside {other}; the right answer says "
            "that no tool serves the request; leave one of the two out"
        )
    if lost := loss_of(answers):
        raise UsageError(
            f"ask({shortened(request)}): the answer has {lost}, which no answer can state; give a "
            "text or another number"
        )
    empty = next((value for value in answers if not _says_something(value)), None)
    if empty is not None:
        raise UsageError(
            f"ask({shortened(request)}): the answer {shortened(empty)} says nothing; give a word "
            "or a number that the right answer states, or leave it out"
        )
    plain: dict[str, Any] = {}
    for name, given in (("tags", tags or {}), ("persona", persona)):
        try:
            plain[name] = None if given is None else exact_json(dict(given))
        except (TypeError, ValueError) as error:
            raise UsageError(f"ask({shortened(request)}): {name}: {error}; mend them") from error
    milestones = tuple(
        Milestone(step, (number - 1,) if in_order and number else ())
        for number, step in enumerate(gold)
    )
    plans = (Plan(milestones),) if gold or needs_no_tool or unanswerable else None
    labels: dict[str, JSON] = {"action": TALK} if needs_no_tool else {}
    if unanswerable:
        labels = {"action": "abstain"}
    if in_order and len(gold) > 1:
        labels[IN_ORDER] = True
    goal = Goal(
        request,
        plans,
        tuple(str(value) for value in answers),
        offered=None if tools is None else tuple(tools),
        labels=labels,
        tells=slots,
    )
    return after_what_it_takes(Task(id, "", (goal,), system=system, **plain))


def _says_something(answer: str | float) -> bool:
    """Tell whether a right answer can state a value: it has a letter, a digit or a symbol."""
    if isinstance(answer, float):
        return isfinite(answer)
    return says_something(str(answer))


def own_tasks(
    benchmark: str, tasks: Iterable[Task], tools: OwnTools, world: str = "", system: str = ""
) -> tuple[Task, ...]:
    """Return tasks with what a benchmark decides: ids, ids of tools, defaults, world, system text.

    Args:
        benchmark: Its name.
        tasks: As `ask` makes them, or records.
        tools: The benchmark's.
        world: In which tasks are played that name none.
        system: What the agent is told before each task, and before the task's own system text.

    Raises:
        UsageError: One is no task, two have one id, or one names a tool that is not there.
    """
    if isinstance(tasks, (str, Mapping, Task)) or not isinstance(tasks, Iterable):
        raise UsageError(
            f"benchmark {benchmark!r}: tasks: expected a list of tasks, got {shortened(tasks)}"
        )
    listed = list(tasks)
    width = max(3, len(str(len(listed))))
    given = {task.id for task in listed if isinstance(task, Task)}
    found: dict[str, Task] = {}
    for number, task in enumerate(listed, 1):
        if not isinstance(task, Task):
            raise UsageError(
                f"benchmark {benchmark!r}: {shortened(task)} is no task; make one with seal.ask()"
            )
        numbered = f"{benchmark}-{number:0{width}}"
        named = replace(
            task,
            id=task.id or numbered + "+" * (numbered in given),
            benchmark=benchmark,
            world=task.world or world,
            system="\n\n".join(filter(str.strip, (system, task.system))),
        )
        if named.id in found:
            raise UsageError(
                f"benchmark {benchmark!r}: the task id {named.id!r} stands twice; "
                "give each task its own"
            )
        if named.user_tools:
            held = [_known(tool, named, tools) for tool in named.user_tools]
            named = replace(named, persona={**(named.persona or {}), "tools": held})
        found[named.id] = replace(
            named, goals=tuple(_goal(named, goal, tools) for goal in named.goals)
        )
    return tuple(found.values())


_ANYTHING = "give seal.ANY, in a file the tool's name alone"
"""How gold says so."""


MOST_CALLS = 5_000
"""Gold calls of a goal: each is compared with each call that is made."""


def check_gold(tasks: Iterable[Task], tools: Mapping[str, Tool]) -> None:
    """Make sure that the gold calls of tasks can be made.

    Raises:
        UsageError: A tool's schema refuses one, or a goal has more than `MOST_CALLS`; names the
            task.
    """
    gold = GoldCheck(tools)
    for task in tasks:
        for plan in (plan for goal in task.goals for plan in goal.plans or ()):
            if len(plan.calls()) > MOST_CALLS:
                raise UsageError(
                    f"task {task.id!r}: {len(plan.calls()):,} gold calls for one question; expected"
                    f" at most {MOST_CALLS:,}: make several tasks of it"
                )
        for fault in reference_faults(task, tools):
            raise UsageError(f"task {task.id!r}: {fault}")
        for call in (c for goal in task.goals for plan in goal.plans or () for c in plan.calls()):
            refused = gold.refused(call)
            if refused is not None:
                anything = refused.error.kind == "missing_argument" and not refused.arguments
                raise UsageError(
                    f"task {task.id!r}: its gold call cannot be made: {refused.error.message}"
                    + anything * f" Where any arguments are right, {_ANYTHING}."
                )


def reference_faults(task: Task, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Yield what is wrong with the results of earlier calls that gold calls of a task take.

    Args:
        task: With its gold.
        tools: By id; what one declares to return has the part that is taken.
    """
    for plan in (plan for goal in task.goals for plan in goal.plans or ()):
        named = recorded_gold(plan.milestones).values()
        told = [result for _, result in named]
        ends = (n.condition for n in plan.milestones if isinstance(n.condition, EndsAs))
        ways = [(way, ()) for end in ends for way in end.sequences]
        for calls, results in [(plan.calls(), told), *ways]:
            made = [call for call in calls if isinstance(call, Called)]
            yield from faults(made, results)
            for takes, wanted in ((call, one) for call in made for one in taken(call)):
                earlier = made[wanted.call - 1] if wanted.call <= len(made) else takes
                tool = tools.get(earlier.tool)
                lack = tool and undeclared(tool.returns, wanted.path)
                if lack:
                    yield (
                        f"the gold call of {takes.tool!r} takes {wanted.path!r} of the result of "
                        f"{earlier.tool!r}, which declares no {lack!r}; mend the path"
                    )


def check_conditions(tasks: Sequence[Task], worlds: Mapping[str, Any]) -> None:
    """Make sure that gold other than calls can be measured.

    Args:
        tasks: With gold of any kind.
        worlds: That tasks may name, besides those that are installed.

    Raises:
        UsageError: A condition has a field that cannot be, or names a table or column that the
            world of its task does not have; names the task and the condition.
    """
    check = None
    for task in tasks:
        plans = (plan for goal in task.goals for plan in goal.plans or ())
        nodes = (node for plan in plans for node in (*plan.milestones, *plan.minefields))
        if all(isinstance(node.condition, Called) for node in nodes):
            continue
        if check is None:
            from seal.pools.lint import PlanCheck  # most benchmarks need none of it

            check = PlanCheck((), worlds.get)  # it builds each world once
        try:
            read = decode(encode(task), Task)
        except DataError as error:
            raise UsageError(f"task {task.id!r}: {error}") from error
        for finding in check.findings(read):
            raise UsageError(finding.message)


def default_arguments(tool: Tool) -> dict[str, Argument]:
    """Return what a gold call accepts of arguments that it leaves out: the tool's defaults."""
    properties: dict[str, JSON] = tool.parameters.get("properties", {})
    return {
        name: Argument((schema["default"],), optional=True)
        for name, schema in properties.items()
        if isinstance(schema, dict) and "default" in schema
    }


def _known(tool: str, task: Task, own: OwnTools) -> str:
    """Return the id of a tool that a task names.

    Raises:
        UsageError: The benchmark does not have it.
    """
    tools = own.ids
    if tool not in tools:
        names = [name for name, tool_id in tools.items() if name != tool_id] or list(tools)
        close = nearest(tool, names)
        empty = tool.casefold() in ("none", "null", "no", "nothing", "n/a", "-")
        raise UsageError(
            f"task {task.id!r} names the tool {shortened(tool)}, which the benchmark does not "
            f"have; it has: {', '.join(names[:FEW_TOOLS])}"
            + (f". Did you mean {close!r}?" if close else "")
            + (". Write [] where no call is right" if empty else "")
        )
    return tools[tool]


def _goal(task: Task, goal: Goal, own: OwnTools) -> Goal:
    """Return the goal with ids of tools for their names, and what follows from its gold."""

    def known(tool: str) -> str:
        return _known(tool, task, own)

    def named(gold: Condition) -> Condition:
        if isinstance(gold, EndsAs):
            sequences = (tuple(map(named, calls)) for calls in gold.sequences)
            return replace(gold, sequences=tuple(sequences))
        if not isinstance(gold, Called):
            return gold
        tool = own.by_id[known(gold.tool)]
        asked = gold.arguments
        arguments = None if asked is None else {**default_arguments(tool), **asked}
        return replace(gold, tool=tool.id, arguments=arguments)

    def node(milestone: Milestone) -> Milestone:
        gold = milestone.condition
        if isinstance(gold, Called) and known(gold.tool) in task.user_tools:
            raise UsageError(
                f"task {task.id!r}: gold calls {gold.tool!r}, which only the user has; say how the "
                "world ends by both's calls: seal.ends_as"
            )
        return replace(milestone, condition=named(gold))

    plans = goal.plans and tuple(
        Plan(tuple(map(node, plan.milestones)), tuple(map(node, plan.minefields)))
        for plan in goal.plans
    )
    called_tools = plans[0].tools() if plans else ()
    offered = None if goal.offered is None else tuple(map(known, goal.offered))
    held = task.user_tools
    called_tools = tuple(tool for tool in called_tools if tool not in held)
    if offered is None and len(own.by_id) - len(held) <= FEW_TOOLS:
        offered = tuple(tool for tool in own.by_id if tool not in held)
    hidden = [] if offered is None else [tool for tool in called_tools if tool not in offered]
    if hidden:
        raise UsageError(
            f"task {task.id!r} offers no {hidden[0]!r}, which its gold calls; add it to `tools` of "
            "the question, or leave `tools` out"
        )
    return replace(
        goal,
        plans=plans,
        relevant=tuple(map(known, goal.relevant)) or called_tools,
        offered=offered,
    )


# -- Gold calls checked against the schemas of their tools, with each value that gold accepts.


class RefusedGold(NamedTuple):
    """Arguments that a gold call accepts and its tool's schema does not."""

    arguments: dict[str, JSON]
    error: CallError


class GoldCheck:
    """Tells what is wrong with gold calls.

    Args:
        tools: By id; may grow.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._validator = CallValidator(tools)

    def fault(self, tool: str, arguments: dict[str, JSON]) -> str | None:
        """Return the kind of what the tool's schema refuses in the arguments; None: nothing.

        Args:
            tool: Id of a tool that exists.
            arguments: Of the call.

        Raises:
            DataError: The arguments are nested deeper than what can be written.
        """
        if surely_accepts(self._tools[tool].parameters, arguments):
            return None
        refuse_deep(arguments)
        return next((error.kind for error in self._errors(tool, arguments)), None)

    def refused(self, call: Called) -> RefusedGold | None:
        """Return the first arguments of a gold call that the tool's schema refuses; None: none.

        Every accepted value must make a valid call, one argument varied at a time. Where any value
        is right, one is, and a call that is to be refused need not be valid.

        Args:
            call: Of a tool that exists.
        """
        anything = dict.fromkeys((*call.open_arguments, *taking(call)))
        for arguments in () if call.refused else _variants(call):
            for error in self._errors(call.tool, {**arguments, **anything}):
                if error.kind == "unknown_argument" or error.name.split(".")[0] not in anything:
                    return RefusedGold(arguments, error)
        return None

    def _errors(self, tool: str, arguments: dict[str, JSON]) -> Iterator[CallError]:
        call = ToolCall("call_0", self._tools[tool].name, arguments, tool=tool)
        return self._validator.faults(call)


def _variants(call: Called) -> Iterator[dict[str, JSON]]:
    """Yield the arguments that the oracle gives, then each further accepted value in its place."""
    if call.arguments is None:
        return
    base = call.canonical_arguments()
    yield base
    for name, argument in call.arguments.items():
        for value in argument.listed[0 if argument.optional else 1 :]:
            yield {**base, name: value}


def admits(schema: JSON, value: JSON) -> bool:
    """Tell whether an argument's schema takes a value; what is no schema takes any.

    Args:
        schema: As it stands in a tool's `properties`.
        value: Of ordinary depth.
    """
    if not isinstance(schema, dict) or meets(schema, value):
        return True
    return bool(schema_validator(schema).is_valid(value))

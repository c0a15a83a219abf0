"""Tools and tasks of one's own; gold held against schemas."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import (
    JSON,
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
from seal.core.conditions import Argument, Called, Condition
from seal.core.registry import name_of
from seal.core.schema_faults import schema_faults
from seal.core.schemas import meets, required_names, schema_validator, surely_accepts
from seal.core.settings import checked
from seal.core.validation import CallError, CallValidator
from seal.core.values import exact_json
from seal.evaluation.goals import IN_ORDER
from seal.pools.benchmark import FEW_TOOLS, FUNCTION, OwnTool, OwnTools
from seal.pools.reading.files import refuse_deep

# -- Tools and tasks as people have them.
#
# Tools are Python functions, schemas of model providers, or `Tool` records; a task is a request,
# and what is gold about it.

_SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""Where the argument map's JSON Schema stands: OpenAI, Anthropic, MCP."""


def own_tools(benchmark: str, tools: Iterable[OwnTool]) -> OwnTools:
    """Return tools under their ids; those that have none get `benchmark/name`.

    Raises:
        UsageError: No tool, one that is none of the kinds, has a broken schema, or two of one name.
    """
    by_id: dict[str, Tool] = {}
    functions = {}
    for what in _listed(benchmark, tools):
        tool = _tool(benchmark, what)
        if tool.id in by_id or any(tool.name == other.name for other in by_id.values()):
            raise UsageError(
                f"benchmark {benchmark!r} has two tools named {tool.name!r}; rename one"
            )
        by_id[tool.id] = tool
        for fault in () if callable(what) else schema_faults(tool.parameters):
            raise UsageError(
                f"benchmark {benchmark!r}: tool {tool.name!r}: "
                f"{'.'.join(filter(None, ('parameters', fault.path)))}: {fault.text}"
            )
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
        parameters = {"type": "object", "properties": {}, **exact_json(dict(found))}
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
    return Tool(
        f"{benchmark}/{name}",
        name,
        description if isinstance(description, str) else str(description),
        parameters,
        returns=inner.get("outputSchema"),
    )


@checked
def called(tool: str, /, **arguments: JSON | Argument) -> Called:
    """Return the gold step that a tool is called.

    Args:
        tool: Name or id of the tool.
        **arguments: Name to the right value, or to an `Argument` where several are right or it may
            be left out. None at all: any arguments are right. One that is not named here may only
            be given with the default that the tool declares.

    Example:
        >>> import seal
        >>> seal.called("get_order", order_id="7").arguments
        {'order_id': Argument(values=('7',), optional=False)}
    """
    if not tool:
        raise UsageError("called(''): expected the name of a tool")
    gold: dict[str, Argument] = {}
    for name, value in arguments.items():
        try:
            right = value if isinstance(value, Argument) else Argument((value,))
            exact_json(right.listed)
        except (UsageError, ValueError) as error:
            raise UsageError(f"called({tool!r}): {name}: {error}") from error
        gold[name] = right
    return Called(tool, gold or None)


@checked
def ask(
    request: str,
    *gold: Condition,
    answer: str | float | Sequence[str | float] = (),
    tools: Sequence[str] | None = None,
    in_order: bool = False,
    needs_no_tool: bool = False,
    unanswerable: bool = False,
    id: str = "",
    tags: Mapping[str, JSON] | None = None,
) -> Task:
    """Return a task of one request.

    Args:
        request: What the user asks.
        *gold: Steps that solve it, such as `seal.called(...)`; none: which calls are right is not
            known.
        answer: What a right final answer states; several values must all be stated.
        tools: Names or ids of the tools that are offered. None: all tools of a small benchmark (at
            most 20), else those that a retriever finds.
        in_order: Whether the steps must be taken in the order given. `mission_accuracy` and
            `calls_right` are 0 where they are not, and `pass_rate` where gold is calls alone.
        needs_no_tool: Whether it is right to call no tool at all, as for small talk.
        unanswerable: Whether no tool serves the request: it is right to say so, without a call.
        id: Unique in the benchmark; empty: its number there.
        tags: What results are grouped and selected by.

    Raises:
        UsageError: The request is empty, a step is no condition, gold steps are given for a task
            that needs none, or JSON cannot hold the tags.

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
    if gold and (needs_no_tool or unanswerable):
        name = "unanswerable" if unanswerable else "needs_no_tool"
        raise UsageError(f"ask({shortened(request)}): {name}=True leaves no room for steps")
    try:
        told = exact_json(dict(tags or {}))
    except (TypeError, ValueError) as error:
        raise UsageError(f"ask({shortened(request)}): tags: {error}; mend them") from error
    milestones = tuple(
        Milestone(step, (number - 1,) if in_order and number else ())
        for number, step in enumerate(gold)
    )
    plans = (Plan(milestones),) if gold or needs_no_tool or unanswerable else None
    answers = (answer,) if isinstance(answer, (str, int, float)) else tuple(answer)
    labels: dict[str, JSON] = {"action": "abstain"} if unanswerable else {}
    if in_order and len(gold) > 1:
        labels[IN_ORDER] = True
    goal = Goal(
        request,
        plans,
        tuple(str(value) for value in answers),
        offered=None if tools is None else tuple(tools),
        labels=labels,
    )
    return Task(id, "", (goal,), tags=told)


def own_tasks(
    benchmark: str, tasks: Iterable[Task], tools: OwnTools, world: str = ""
) -> tuple[Task, ...]:
    """Return tasks with what a benchmark decides: ids, names of tools as ids, defaults, the world.

    Args:
        benchmark: Its name.
        tasks: As `ask` makes them, or records.
        tools: The benchmark's.
        world: In which tasks are played that name none.

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
        )
        if named.id in found:
            raise UsageError(
                f"benchmark {benchmark!r}: the task id {named.id!r} stands twice; "
                "give each task its own"
            )
        found[named.id] = replace(
            named, goals=tuple(_goal(named, goal, tools) for goal in named.goals)
        )
    return tuple(found.values())


def check_gold(tasks: Iterable[Task], tools: Mapping[str, Tool]) -> None:
    """Make sure that the gold calls of tasks can be made.

    Raises:
        UsageError: A tool's schema refuses one; names the task.
    """
    gold = GoldCheck(tools)
    for task in tasks:
        for call in (c for goal in task.goals for plan in goal.plans or () for c in plan.calls()):
            refused = gold.refused(call)
            if refused is not None:
                raise UsageError(
                    f"task {task.id!r}: its gold call cannot be made: {refused.error.message}"
                )


def default_arguments(tool: Tool) -> dict[str, Argument]:
    """Return what a gold call accepts of arguments that it leaves out: the tool's defaults."""
    properties: dict[str, JSON] = tool.parameters.get("properties", {})
    return {
        name: Argument((schema["default"],), optional=True)
        for name, schema in properties.items()
        if isinstance(schema, dict) and "default" in schema
    }


def _goal(task: Task, goal: Goal, own: OwnTools) -> Goal:
    """Return the goal with ids of tools for their names, and what follows from its gold."""
    tools = own.ids()

    def known(tool: str) -> str:
        if tool not in tools:
            names = [name for name, tool_id in tools.items() if name != tool_id] or list(tools)
            close = nearest(tool, names)
            empty = tool.casefold() in ("none", "null", "no", "nothing", "n/a", "-")
            raise UsageError(
                f"task {task.id!r} names the tool {tool!r}, which the benchmark does not have; it "
                f"has: {', '.join(names[:FEW_TOOLS])}"
                + (f". Did you mean {close!r}?" if close else "")
                + (". Write [] where no call is right" if empty else "")
            )
        return tools[tool]

    def node(milestone: Milestone) -> Milestone:
        gold = milestone.condition
        if not isinstance(gold, Called):
            return milestone
        tool = own.by_id[known(gold.tool)]
        asked = gold.arguments
        arguments = None if asked is None else {**default_arguments(tool), **asked}
        return replace(milestone, condition=Called(tool.id, arguments))

    plans = goal.plans and tuple(
        Plan(tuple(map(node, plan.milestones)), tuple(map(node, plan.minefields)))
        for plan in goal.plans
    )
    called_tools = plans[0].tools() if plans else ()
    everything = tuple(dict.fromkeys(tools.values()))
    offered = None if goal.offered is None else tuple(map(known, goal.offered))
    if offered is None and len(everything) <= FEW_TOOLS:
        offered = everything
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
        error = self._error(tool, arguments)
        return None if error is None else error.kind

    def refused(self, call: Called) -> RefusedGold | None:
        """Return the first arguments of a gold call that the tool's schema refuses; None: none.

        Every accepted value must make a valid call, one argument varied at a time.

        Args:
            call: Of a tool that exists.
        """
        for arguments in _variants(call):
            error = self._error(call.tool, arguments)
            if error is not None:
                return RefusedGold(arguments, error)
        return None

    def _error(self, tool: str, arguments: dict[str, JSON]) -> CallError | None:
        call = ToolCall("call_0", self._tools[tool].name, arguments, tool=tool)
        return self._validator.check(call)


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

"""Layers around an environment: feedback, gold arguments, originals; the worlds of tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from seal.agents.teams import team_options
from seal.core import (
    JSON,
    NOT_RECORDED,
    Execution,
    InfrastructureError,
    Message,
    Response,
    SealError,
    Simulator,
    SimulatorError,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UnknownNameError,
    text_of,
)
from seal.core.call_formats import Format, form_of
from seal.core.earlier_results import taking
from seal.core.environment import Around, Environment, EnvironmentFactory, Validated
from seal.core.registry import settled, source_of
from seal.core.validation import CallError, CallValidator, ErrorKind
from seal.core.values import digest, exact_json, json_text
from seal.environments.function_tools import types_of, with_integers
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation.goals import TaskChat
from seal.models.given_answers import gold_call, names_tools_alone
from seal.models.oracle import moves
from seal.pools.benchmark import benchmark_options, part_of
from seal.pools.lookup import environments_beside
from seal.pools.pool import StoredPool
from seal.runs.environments import options_of_worlds
from seal.runs.role_models import Cast
from seal.runs.settings import Feedback, RunSettings
from seal.simulator_cache.answer_cache import keys_of_call
from seal.simulator_cache.simulators import SimulatedEnvironments, SimulatorSetup, template

if TYPE_CHECKING:
    from seal.runs.environments import SimulatorSource

# -- What a wrong call brings: feedback, or what the environment itself makes of it.
#
# - `on`: an invalid call is not run. The model reads a sentence on each fault, and the same as
#   data: kind, name, expected, received, nearest valid name.
# - `off`: as ToolScan is published without feedback, every call is run as it stands: an unknown
#   argument reaches the tool, a missing one does not. What cannot be run, for there is no such tool
#   or there are no arguments, fails in two words, as behind an HTTP API. Where a tool breaks over
#   an invalid call, that is its answer.
# - `auto`: simulated APIs reject invalid calls with the sentence alone; a world lets its functions
#   say what they take, as ToolSandbox does.
#
# Native calls and calls in text go the same way, for both are a `ToolCall` by then. Who writes
# calls as text and wrote one that cannot be read is told how they are written, unless feedback is
# off.
#
# Source: Kokane et al., ToolScan (2024), section on feedback.

_REJECTIONS = frozenset(get_args(ErrorKind))
_FIELDS = ("kind", "name", "expected", "received", "nearest")
_MOST_TOLD = 10
"""Faults of one call that are told."""
_LONGEST = 2000
"""Characters of a field of the feedback: an argument may be a book."""
_UNREADABLE = "unparsable_arguments"
_NEVER_RUN = frozenset({"unknown_tool", _UNREADABLE})
_BROKEN = "Internal error."


class Explained(Around):
    """An environment whose rejections tell the model everything, in words and as data.

    What is told is all that breaks the first rule which applies: each unknown argument, each value
    of a wrong type.

    Args:
        inner: Rejects invalid calls by the rules.
        validator: The rules.
        offered: Names of the offered tools.
    """

    def __init__(
        self, inner: Environment, validator: CallValidator, offered: Sequence[str] = ()
    ) -> None:
        super().__init__(inner)
        self._validator = validator
        self._offered = offered

    def told(self, result: ToolResult, made: Mapping[str, ToolCall]) -> ToolResult:
        """Return a rejection with all that is wrong with its call."""
        if not is_rejection(result):
            return result
        found = list(self._validator.faults(made[result.call_id], self._offered))
        if not found:  # the environment has rules of its own
            return result
        alike = [fault for fault in found if fault.kind == found[0].kind][:_MOST_TOLD]
        sentences = " ".join(fault.message for fault in alike)
        told = {"error": sentences, "feedback": list(map(_as_data, alike)), "response": ""}
        return replace(result, content=json_text(told))


def _as_data(fault: CallError) -> dict[str, JSON]:
    told = {}
    for name in _FIELDS:
        value = getattr(fault, name)
        if value is not None:
            text = json_text(value)
            told[name] = value if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return told


def is_rejection(result: ToolResult) -> bool:
    """Tell whether the rules rejected a call before it ran."""
    error = result.error
    return result.executed is None and error is not None and error.get("kind") in _REJECTIONS


class Silenced(Around):
    """An environment whose rejections explain nothing."""

    def told(self, result: ToolResult, made: Mapping[str, ToolCall]) -> ToolResult:
        """Return a rejection without what it explains."""
        error = result.error
        if error is None or not is_rejection(result):
            return result
        message = "Not found." if error["kind"] == "unknown_tool" else "Bad request."
        told = {"kind": error["kind"], "name": error.get("name"), "message": message}
        return replace(result, content=_content(message), error=told)


class Lenient(CallValidator):
    """The rules, of which some count, and which can say how calls are written.

    Args:
        tools: Tools by id.
        shape: How a call is written; empty: that is not said.
        kinds: Kinds of faults that count; all others let a call pass.
    """

    def __init__(
        self, tools: Mapping[str, Tool], shape: str = "", kinds: Collection[str] = _REJECTIONS
    ) -> None:
        super().__init__(tools)
        self._shape = shape
        self._kinds = kinds

    def faults(self, call: ToolCall, offered: Sequence[str] = ()) -> Iterator[CallError]:
        """Yield everything that is wrong with the call and counts."""
        for fault in super().faults(call, offered):
            if self._shape and fault.kind == _UNREADABLE:
                message = f"{fault.message} Write a call as:\n{self._shape}"
                fault = replace(fault, message=message, expected=self._shape)
            if fault.kind in self._kinds:
                yield fault


class Unbroken(Around):
    """An environment without a state in which what breaks over an invalid call is its answer.

    Args:
        inner: Where calls run.
        validator: Tells which calls are invalid: what breaks over a valid one is our fault.
    """

    def __init__(self, inner: Environment, validator: CallValidator) -> None:
        super().__init__(inner)
        self._validator = validator

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order.

        A world runs them together, and catches what its functions raise.
        """
        wrong = {call.id for call in calls if self._validator.check(call) is not None}
        if not wrong or self.inner.states():
            return self.inner.call(calls)
        results: list[ToolResult] = []
        for call in calls:
            results += self._tried(call) if call.id in wrong else self.inner.call([call])
        return results

    def _tried(self, call: ToolCall) -> list[ToolResult]:
        try:
            return self.inner.call([call])
        except Exception as error:  # an environment may count on calls that are valid
            if isinstance(error, SealError) and not isinstance(error, SimulatorError):
                raise
            failure = {"kind": "api", "message": _BROKEN, "cause": type(error).__name__}
            executed = Execution(str(call.tool), dict(call.arguments or {}))
            return [ToolResult(call.id, _content(_BROKEN), failure, executed=executed)]


class FeedbackSwitch:
    """Puts environments under one setting. Safe in threads.

    Args:
        feedback: The setting.
        tools: All that may be called, by id.
        format: How calls are written; `native` where nobody is to be told.
    """

    def __init__(
        self, feedback: Feedback, tools: Mapping[str, Tool], format: Format = "native"
    ) -> None:
        self.feedback = feedback
        form = form_of(format)
        shape = "" if form is None else form.shape
        self._validator = Lenient(tools, shape)
        self._runnable = Lenient(tools, kinds=_NEVER_RUN)
        self._readable = Lenient(tools, shape, {_UNREADABLE}) if shape else None

    def around(self, environment: Environment, offered: Sequence[str] = ()) -> Environment:
        """Return an environment as the setting wants it.

        Args:
            environment: As its factory opened it.
            offered: Names of the offered tools, for messages.
        """
        if self.feedback == "on":
            checked = Validated(environment, self._validator, offered)
            return Explained(checked, self._validator, offered)
        if self.feedback == "auto":
            readable = self._readable
            return environment if readable is None else Validated(environment, readable, offered)
        if isinstance(environment, Validated):
            unbroken = Unbroken(environment.inner, self._validator)
            environment = Validated(unbroken, self._runnable)
        return Silenced(environment)


def _content(message: str) -> str:
    return json_text({"error": message, "response": ""})


# -- Environments in which other calls run than those that were made.


class Unscrambled(Around):
    """An environment in which a call of a scrambled tool runs the original.

    Arguments are checked by the original's rules, simulated answers are the original's, and what
    was executed bears its id: what a tool does is not changed by how it is presented.

    Args:
        environment: Knows the originals.
        originals: Id of a scrambled tool to its original (`seal.pools.pool.originals`).
    """

    def __init__(self, environment: Environment, originals: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._originals = originals

    def meant(self, call: ToolCall) -> ToolCall:
        """Return the call of the original."""
        original = self._originals.get(call.tool or "")
        return call if original is None else replace(call, tool=original.id)


class StandIns(Around):
    """An environment in which something else answers what its recording does not hold.

    Args:
        environment: Gives errors of the kind `NOT_RECORDED`.
        simulated: What answers; None: nothing is known, as where a service brings nothing.
    """

    def __init__(self, environment: Environment, simulated: Environment | None) -> None:
        super().__init__(environment)
        self._simulated = simulated

    def told(self, result: ToolResult, made: Mapping[str, ToolCall]) -> ToolResult:
        """Return what answers instead where the recording does not."""
        if result.error is None or result.error.get("kind") != NOT_RECORDED:
            return result
        call = made[result.call_id]
        if self._simulated is not None:
            (simulated,) = self._simulated.call([call])
            return replace(simulated, unrecorded="simulate")
        executed = Execution(str(call.tool), dict(call.arguments or {}))
        content = json_text({"error": "", "response": None})
        return ToolResult(call.id, content, executed=executed, unrecorded="empty")


class GoldResults(Around):
    """An environment of one chat, in which wrong arguments of gold tools do no harm.

    Args:
        environment: Runs the calls.
        task: With its gold.
        tools: The pool by id.
    """

    def __init__(self, environment: Environment, task: Task, tools: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._left = [called for goal in task.goals for m in moves(goal) for called in m.calls]
        self._goals = [goal for goal in task.goals if names_tools_alone(goal)]
        self._tools = tools

    def meant(self, call: ToolCall) -> ToolCall:
        """Return the call with the gold arguments, where a gold tool has wrong ones."""
        mine = [gold for gold in self._left if gold.tool == call.tool]
        if mine:
            gold = next((each for each in mine if each.accepts(call.arguments)), mine[0])
            self._left.remove(gold)
            if gold.accepts(call.arguments):
                return call
            of_results = taking(gold)
            free = {*gold.open_arguments, *of_results}
            given = {n: v for n, v in (call.arguments or {}).items() if n in free}
            right = gold.canonical_arguments().items()
            told = {name: value for name, value in right if name not in of_results}
            return replace(call, arguments={**told, **given}, raw="")
        for goal in self._goals:
            if call.tool in goal.relevant:
                filled = gold_call(self._tools[str(call.tool)], goal)
                return replace(call, arguments=filled.arguments, raw="")
        return call


# -- Functions of the user that run instead of a simulator.


class OwnFunctions:
    """Runs functions. Their answers are not kept, because they may depend on the time.

    Args:
        functions: Tool id to the function behind it, which may be a coroutine function.
        inner: Answers the calls of all other tools.
    """

    def __init__(self, functions: Mapping[str, Callable[..., Any]], inner: Simulator) -> None:
        self._functions = functions
        self._types = {tool_id: types_of(function) for tool_id, function in functions.items()}
        self.inner = inner
        sources = {tool_id: source_of(function) for tool_id, function in functions.items()}
        self.identity = f"functions#{digest(sources)[:8]}+{inner.identity}"

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return what the function returned.

        If the function raises an exception, this is the error of the call. So is a value that JSON
        would change, such as NaN.

        Raises:
            InfrastructureError: The function did not reach its server, or returned an object that
                JSON cannot hold.
        """
        function = self._functions.get(tool.id)
        if function is None:
            return self.inner.respond(tool, arguments)
        try:
            value = settled(function(**with_integers(arguments, self._types[tool.id])))
        except (SealError, KeyboardInterrupt):
            raise
        except BaseException as error:  # a tool's failure is data that the model reads
            words = text_of(error)
            said = f"{type(error).__name__}: {words}" if words else type(error).__name__
            from seal.core.servers import check_reached

            check_reached(tool.name, error, said)
            return Response("", said, live=True)
        try:
            return Response(exact_json(value), live=True)
        except ValueError as error:
            return Response("", f"ValueError: the tool returned {error}", live=True)
        except TypeError as error:
            raise InfrastructureError(
                f"the tool {tool.name} returned {type(value).__name__}, which JSON cannot say "
                f"({error}); return texts, numbers, lists, maps or dataclasses of these"
            ) from error

    def keys(self, tool: Tool, arguments: dict[str, JSON]) -> frozenset[str]:
        """Return the keys that the inner simulator has for a call; none for a function's call."""
        if tool.id in self._functions:
            return frozenset()
        return keys_of_call(self.inner, tool, arguments)


def own_environments(
    functions: Mapping[str, Callable[..., Any]], tools: Mapping[str, Tool]
) -> EnvironmentFactory:
    """Return what opens environments in which functions run as they do in a chat.

    Args:
        functions: Tool id to the function behind it.
        tools: Theirs alone, by id.
    """
    simulator = OwnFunctions(functions, template(SimulatorSetup(tools=tools)))
    return SimulatedEnvironments(simulator, tools)


# -- The worlds that the tasks of a run name.


def gold_ends_of(
    task: Task,
    chat: Trajectory,
    opened: Callable[[int], Environment],
    tools: Mapping[str, Tool],
    carried: bool,
) -> dict[str, JSON]:
    """Return how the world of a chat ends after the gold calls, for the chat's provenance.

    Args:
        task: What was played; empty where neither its gold nor an effect in the chat asks for that.
        chat: What was said and done.
        opened: Trial to the world of the task.
        tools: The pool by id.
        carried: Whether all goals are played in one chat.

    Raises:
        InfrastructureError: What a tool asks outside of the world failed.
    """
    from seal.core.state_conditions import GOLD_ENDS
    from seal.environments.gold_play import gold_ends
    from seal.evaluation.effects import ends_asked

    trial = chat.trial
    of_calls = {} if chat.failed else ends_asked(TaskChat(task, chat, tools))
    again = partial(opened, trial + 1) if of_calls else None
    changing = {step.goal for step in chat.steps if step.result is not None and step.state}
    found = gold_ends(task, partial(opened, trial), tools, carried, of_calls, again, changing)
    told: dict[str, JSON] = {
        goal: {key: [end.to_json() for end in ends] for key, ends in of.items()}
        for goal, of in found.items()
    }
    return {GOLD_ENDS: told} if told else {}


def opened_worlds(
    given: SimulatorSource, world_of: dict[str, str]
) -> dict[str, EnvironmentFactory]:
    """Return what opens each world that a task names; every task's must begin as it says."""
    settings, pool = given.settings, given.pool
    setup = WorldSetup(
        seed=settings.seed,
        options=options_of_worlds(settings, pool),
        taken={*team_options(settings.play.team), *benchmark_options(pool.benchmark)},
        folder=pool.folder,
        tools=given.tools,
        creator=_creator(settings, pool, given.cast),
        sandbox=settings.sandbox,
        unrecorded=settings.unrecorded,
        simulator=given.simulator,
        keys_of_call=keys_of_call,
        own=environments_beside(pool.benchmark),
        allow_code=settings.allow_code,
        servers=settings.servers,
        store=given.store,
        cache=settings.cache,
    )
    first = {world: task for task, world in reversed(world_of.items())}
    try:
        worlds = {
            world: build_worlds(world, setup, f"task {task!r}")
            for world, task in sorted(first.items())
        }
    except UnknownNameError as error:
        cure = (
            "A pool folder holds no code: run the benchmark, such as: seal run my_module:bench; or "
            'play the folder in Python after seal.register("world", NAME, WORLDS)'
        )
        raise UnknownNameError(error.kind, error.name, error.known, cure=cure) from error
    for task in pool.tasks():
        world = worlds.get(world_of.get(task.id, ""))
        if isinstance(world, Worlds):
            world.check(task)
    return worlds


def _creator(settings: RunSettings, pool: StoredPool, cast: Cast) -> Callable[[Tool], str] | None:
    """Return what writes the functions of tools; None: none is written in this run."""
    code = part_of(pool.benchmark, "creator")
    if code is None:
        return None

    def ask(role: str, task: Task, messages: Sequence[Message]) -> str:
        return cast.ask(role, task, messages).content

    made: Callable[[Tool], str] | None = code(settings, pool.every_task, ask)
    return made

"""Simulators by name and the user's own, the environment that asks them, gold answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from seal.core import (
    JSON,
    CacheMode,
    ChatModel,
    Execution,
    Response,
    Simulator,
    SimulatorError,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UnknownNameError,
    UsageError,
    shortened,
)
from seal.core.conditions import Called
from seal.core.earlier_results import recorded_gold
from seal.core.environment import Environment, Stateless, Validated
from seal.core.registry import naming_stranger
from seal.core.settings import takes
from seal.core.store import Store
from seal.core.validation import CallValidator
from seal.core.values import alike, digest, json_text
from seal.simulator_cache import REGISTRY
from seal.simulator_cache.answer_cache import (
    Cached,
    Fallback,
    Imported,
    OfTool,
    keys_of_call,
    not_recorded,
    prompt_version,
)

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from seal.simulator_cache.recorded import RecordedAnswers

# -- The simulators by name, and how they are put together.


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorSetup:
    """What a simulator may be built from."""

    tools: Mapping[str, Tool]
    """Tools by id."""
    store: Store | None = None
    """Where answers are kept; None: they are not kept, as in the mode `off`."""
    mode: CacheMode = "record"
    seed: int = 0
    model: ChatModel | None = None
    """For `llm`."""
    model_name: str = ""
    """The model's name and version, part of the keys."""
    prompt: str = ""
    """For `llm`, instead of ours."""
    recorded: RecordedAnswers | None = None
    """Answers of recorded runs: for `recorded`, and examples for `llm`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """For simulators from elsewhere."""
    formats: Callable[[], Collection[str]] = tuple
    """Returns the formats of imported answers; a simulator of such a name gives these answers."""


def template(setup: SimulatorSetup) -> Simulator:
    """Return the simulator without a model."""
    return Template(setup.seed)


def llm(setup: SimulatorSetup) -> Simulator:
    """Return the simulator that asks a language model.

    Raises:
        UsageError: No model is given.
    """
    if setup.model is None:
        raise UsageError(
            "the simulator llm needs a model: --role-model simulator=PROVIDER/MODEL, or use"
            " --simulator template"
        )
    from seal.simulator_cache.llm import LLM

    return LLM(setup.model, setup.model_name, setup.recorded, setup.seed, setup.prompt)


def recorded(setup: SimulatorSetup) -> Simulator:
    """Return the simulator of recorded answers.

    Raises:
        UsageError: Nothing is recorded.
    """
    if setup.recorded is None:
        raise UsageError(
            "the simulator recorded needs recorded runs, and this pool has none: import a"
            " benchmark with recorded runs, or use --simulator template"
        )
    return setup.recorded


def build_simulator(what: Any, setup: SimulatorSetup) -> Simulator:
    """Return a simulator with its answers kept.

    Args:
        what: An object with `respond`; a class without arguments; a class or factory that takes a
            `SimulatorSetup`; the name or dotted path of any of these; or several names joined by
            `+`, which are asked in that order: `recorded+template`. An object without `identity`
            gets the name of its class: `module:Class`.
        setup: What it is built from.

    Raises:
        UnknownNameError: No simulator has this name.
        UsageError: What was found is no simulator, or the setup lacks what it needs.
    """
    names = what.split("+") if isinstance(what, str) else [what]
    parts = []
    for name in names:
        found = _resolved(name, setup)
        with naming_stranger(name):
            parts.append(_kept(_built(found, setup), setup))
    return parts[0] if len(parts) == 1 else Fallback(*parts)


def parts_of(simulator: Simulator) -> list[Simulator]:
    """Return a built simulator and all that it wraps, outermost first."""
    inner = getattr(simulator, "inner", None)
    wrapped = [inner] if inner is not None else list(getattr(simulator, "simulators", ()))
    return [simulator, *(part for inside in wrapped for part in parts_of(inside))]


def _resolved(name: Any, setup: SimulatorSetup) -> Any:
    if not isinstance(name, str) or name in REGISTRY or ":" in name:
        return REGISTRY.resolve(name)
    formats = setup.formats()
    if name in formats:
        return Imported(name)
    raise UnknownNameError(REGISTRY.kind, name, sorted({*REGISTRY.names(), *formats}))


def _built(found: Any, setup: SimulatorSetup) -> Simulator:
    if isinstance(found, type) or not hasattr(found, "respond"):
        found = _made(found, setup)
    respond = getattr(found, "respond", None)
    if not callable(respond) or not takes(respond, 2):
        raise UsageError(
            f"a simulator has a method respond(tool, arguments); {type(found).__name__} has none"
        )
    is_ours = type(found).__module__.partition(".")[0] == __name__.partition(".")[0]
    return cast(Simulator, found) if is_ours else Foreign(found)


def _made(factory: Any, setup: SimulatorSetup) -> Any:
    """Call a class that needs no arguments; call any other class or function with the setup."""
    if isinstance(factory, type) and takes(factory, 0):
        return factory()
    if takes(factory, 1):
        return factory(setup)
    raise UsageError(
        f"{factory!r} is no simulator: expected an object with respond(tool, arguments), or a "
        "class or function that takes nothing or the SimulatorSetup alone"
    )


def _kept(simulator: Simulator, setup: SimulatorSetup) -> Simulator:
    """Wrap a simulator in the cache."""
    if setup.store is None or isinstance(simulator, Cached):
        return simulator
    if isinstance(simulator, Imported):
        return Cached(simulator, setup.store)
    return Cached(simulator, setup.store, setup.mode, setup.seed)


# -- Simulators that the user brings.


class Foreign:
    """Wraps a simulator from elsewhere, and checks that its answers are of the right type.

    Args:
        inner: The simulator; without an `identity` it gets the name of its class.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        kind = type(inner)
        self.identity: str = getattr(inner, "identity", f"{kind.__module__}:{kind.__qualname__}")

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the inner simulator's answer.

        Raises:
            SimulatorError: It gave something else.
        """
        response = self.inner.respond(tool, arguments)
        if not isinstance(response, Response):
            raise SimulatorError(
                f"the simulator {self.identity} answered {tool.name} with {shortened(response)}; "
                "expected a seal.core.protocols.Response, such as Response({'ok': True})"
            )
        return response

    def prompt_version(self, tool: Tool) -> str:
        """Return the inner simulator's."""
        return prompt_version(self.inner, tool)


# -- The simulator without a model, which loads what writes its answers with the first of them.


class Template:
    """Answers from the tool's response shape or, where there is none, from what its words imply.

    An answer depends on the tool's document, the arguments and the seed alone. Fields that are
    named like an argument repeat it. Tools without a shape say the same of the same id. Of a tool
    whose words imply nothing the answer is its arguments and `"result": null`. Safe in threads.

    Args:
        seed: Another seed gives other answers.
    """

    identity = "template/1"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._checker = OfTool(_checker)

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return an answer that the tool's response schema accepts.

        Raises:
            SimulatorError: The schema admits no answer, or none that was found.
        """
        from seal.simulator_cache.plausible import has_no_shape, plausible

        checker = self._checker(tool)
        ids = {name: value for name, value in arguments.items() if name.lower().endswith("id")}
        about = [ids] if ids and has_no_shape(checker) else [tool.id, arguments]
        return Response(plausible(tool, checker, arguments, digest([self._seed, *about])))

    def prompt_version(self, tool: Tool) -> str:
        """Return the version of the rules: an answer of earlier ones is not used."""
        return "2"


def _checker(tool: Tool) -> Validator:
    from seal.simulator_cache.plausible import checker_of

    return checker_of(tool)


# -- Environments without a state, whose calls a simulator answers.


class Simulated(Stateless):
    """An environment whose calls a simulator answers.

    Args:
        simulator: Answers the calls.
        tools: Tools by id.
        validator: Fills in defaults; wrap in `Validated` to reject invalid calls.
    """

    def __init__(
        self,
        simulator: Simulator,
        tools: Mapping[str, Tool],
        validator: CallValidator | None = None,
    ) -> None:
        self._simulator = simulator
        self._tools = tools
        self._validator = validator or CallValidator(tools)

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of valid calls, in their order.

        Raises:
            SimulatorError: The simulator failed.
            CacheMissError: Nothing is stored, under replay.
        """
        return [self._result(call) for call in calls]

    def _result(self, call: ToolCall) -> ToolResult:
        tool = self._tools[str(call.tool)]
        arguments = self._validator.with_defaults(call)
        response = self._simulator.respond(tool, arguments)
        return result_of(call, response, Execution(tool.id, arguments))


class SimulatedEnvironments:
    """Opens environments that validate calls by rule and ask one simulator.

    Args:
        simulator: As `build_simulator` gives it.
        tools: Tools by id.
    """

    def __init__(self, simulator: Simulator, tools: Mapping[str, Tool]) -> None:
        self._simulator = simulator
        self._tools = tools
        self._validator = CallValidator(tools)
        self._simulated = Simulated(simulator, tools, self._validator)

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat."""
        return Validated(self._simulated, self._validator, offered)

    def identity(self) -> dict[str, JSON]:
        """Return the simulator's name, and the digests of recorded answers and prompt if used."""
        named: dict[str, JSON] = {"simulator": self._simulator.identity}
        for part in parts_of(self._simulator):
            if hasattr(part, "digest"):
                named["recorded"] = part.digest()
            elif hasattr(part, "prompt_digest"):
                named["prompt"] = part.prompt_digest
        return named

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return the keys of the stored answers that a finished chat was given."""
        executed = (step.result.executed for step in trajectory.steps if step.result)
        return {
            key
            for run in executed
            if run is not None and run.tool in self._tools
            for key in keys_of_call(self._simulator, self._tools[run.tool], run.arguments)
        }


def result_of(call: ToolCall, response: Response, executed: Execution | None) -> ToolResult:
    """Return an answer as a result: its text is the JSON object {error, response}."""
    plain = {"error": response.error, "response": response.response}
    error: dict[str, JSON] | None = None
    if response.error:
        error = {"kind": response.kind, "message": response.error}
    content = json_text(plain)
    return ToolResult(call.id, content, error, response.response, executed, live=response.live)


# -- Answers that a benchmark recorded with its gold calls; they are used before simulated ones.

RecordedCall = tuple[Called, JSON]
"""A gold call and its result."""


def recorded_calls(task: Task) -> Iterator[RecordedCall]:
    """Yield the gold calls of a task whose arguments and results are recorded."""
    for plan in (plan for goal in task.goals for plan in goal.plans or ()):
        for call, result in recorded_gold(plan.milestones).values():
            if result is not None and call.arguments is not None:
                yield call, result


class GoldAnswers:
    """The simulator that answers a gold call with its milestone's result, in every task alike.

    A call is found by its tool and by arguments that the gold accepts. An argument that equals its
    default counts as not given if the gold does not name it. If milestones disagree, that of the
    first task counts.

    Args:
        calls: Gold calls of all tasks, in the order of the tasks (`recorded_calls`).
    """

    identity = "gold/1"

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        self._answers: dict[str, list[RecordedCall]] = {}
        for call in calls:
            self._answers.setdefault(call[0].tool, []).append(call)

    def __len__(self) -> int:
        return sum(map(len, self._answers.values()))

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the recorded result, or an error of the kind `not_recorded` that is not kept."""
        defaults = default_values(tool)
        for condition, result in self._answers.get(tool.id, ()):
            if condition.accepts(_given(arguments, condition, defaults)):
                return Response(result)
        return not_recorded(tool, "gold")


def _given(
    arguments: Mapping[str, JSON], condition: Called, defaults: Mapping[str, JSON]
) -> dict[str, JSON]:
    gold = condition.arguments or {}
    return {
        name: value
        for name, value in arguments.items()
        if name in gold or not (name in defaults and alike(value, defaults[name]))
    }


def default_values(tool: Tool) -> dict[str, JSON]:
    """Return the values that arguments of a tool have where they are not given."""
    properties = tool.parameters.get("properties", {})
    return {
        name: p["default"]
        for name, p in properties.items()
        if isinstance(p, dict) and "default" in p
    }

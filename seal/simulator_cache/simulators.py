"""The simulators by name, and how they are put together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from seal.core import CacheMode, ChatModel, Simulator, Tool, UnknownNameError, UsageError
from seal.core.store import Store
from seal.core.typed_values import takes
from seal.simulator_cache import REGISTRY
from seal.simulator_cache.answer_cache import Cached, Fallback, Imported
from seal.simulator_cache.template import Template

if TYPE_CHECKING:
    from seal.simulator_cache.recordings import RecordedAnswers


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

    return LLM(setup.model, setup.model_name, setup.recorded, setup.seed)


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
    parts = [_kept(_built(_resolved(name, setup), setup), setup) for name in names]
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
    if is_ours:
        return cast(Simulator, found)
    from seal.simulator_cache.own_simulators import Foreign

    return Foreign(found)


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
    return Cached(simulator, setup.store, setup.mode, setup.seed, shaped=True)

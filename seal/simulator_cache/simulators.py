"""The simulators by name, and how they are put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seal.core.errors import UsageError
from seal.core.protocols import CacheMode, ChatModel, Simulator
from seal.core.store import Store
from seal.core.types import Tool
from seal.simulator_cache import REGISTRY
from seal.simulator_cache.cached import Cached, Fallback, Imported, Shaped
from seal.simulator_cache.llm import LLM
from seal.simulator_cache.recorded import RecordedAnswers
from seal.simulator_cache.template import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorSetup:
    """What a simulator may be built from."""

    tools: Mapping[str, Tool]
    """Tools by id."""
    store: Store | None = None
    """Where answers are kept; None: nowhere, as in the mode `off`."""
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


def stabletoolbench(setup: SimulatorSetup) -> Simulator:
    """Return the simulator of answers imported from StableToolBench's cache."""
    return Imported("stabletoolbench")


def build_simulator(what: Any, setup: SimulatorSetup) -> Simulator:
    """Return a simulator with its answers kept.

    Args:
        what: A simulator; a factory that takes a `SimulatorSetup`; a name or dotted path of either;
            or several names joined by `+`, asked in that order: `recorded+template`.
        setup: What it is built from.

    Raises:
        UnknownNameError: No simulator has this name.
        UsageError: The setup lacks what the simulator needs.
    """
    names = what.split("+") if isinstance(what, str) else [what]
    parts = [_kept(_built(REGISTRY.resolve(name), setup), setup) for name in names]
    return parts[0] if len(parts) == 1 else Fallback(*parts)


def parts_of(simulator: Simulator) -> list[Simulator]:
    """Return a built simulator and all that it wraps, outermost first."""
    inner = getattr(simulator, "inner", None)
    wrapped = [inner] if inner is not None else list(getattr(simulator, "simulators", ()))
    return [simulator, *(part for inside in wrapped for part in parts_of(inside))]


def _built(found: Any, setup: SimulatorSetup) -> Simulator:
    if hasattr(found, "respond") and not isinstance(found, type):
        simulator: Simulator = found
        return simulator
    factory: Callable[[SimulatorSetup], Simulator] = found
    return factory(setup)


def _kept(simulator: Simulator, setup: SimulatorSetup) -> Simulator:
    """Wrap a simulator in the cache."""
    if setup.store is None or isinstance(simulator, Cached):
        return simulator
    if isinstance(simulator, Imported):
        return Cached(simulator, setup.store)
    return Shaped(Cached(simulator, setup.store, setup.mode, setup.seed), setup.store)

"""The speakers, models and the simulator of a generation, from its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seal.benchmarks.mmtb.generation.dialogues import Studio
from seal.benchmarks.mmtb.generation.scenes import Assignment, ChoosesTools, Speakers
from seal.benchmarks.mmtb.generation.settings import ROLES, MissionSettings, draw_tools
from seal.benchmarks.mmtb.generation.validation import Validation
from seal.core import JSON, ChatModel, Goal, Simulator, Task, Tool, UnknownNameError, UsageError
from seal.core.canonical import canonical_json, derive_seed
from seal.core.store import Store
from seal.core.validation import CallValidator
from seal.models import (
    Flagged,
    ModelSettings,
    build_model,
    is_cached,
    is_offline,
    model_identity,
    open_model,
    split_name,
)
from seal.models.kept_answers import CachedModel
from seal.simulator_cache.simulator_environments import SimulatedEnvironments
from seal.simulator_cache.simulators import SimulatorSetup, build_simulator

_PLAYERS = ("lexical", "oracle", "random", "recorded", "replay")


class Crew:
    """Who makes the dialogues. Built once; safe in threads.

    Args:
        settings: Of the generation.
        tools: The pool by id.
        store: Where answers are kept.

    Raises:
        UsageError: A model that plays tasks only, or none for the simulator `llm`.
    """

    def __init__(self, settings: MissionSettings, tools: Mapping[str, Tool], store: Store) -> None:
        self.settings = settings
        self.tools = tools
        self._store = store
        self._main = Flagged(settings.model, settings.base_url, settings.model_options)
        self._built = {role: self._build(role) for role in self._roles()}
        self._check_used()
        self.speakers = self._speakers()
        simulator = self._simulator()
        environments = SimulatedEnvironments(simulator, tools)
        self.studio = Studio(self.speakers, environments, self.model, CallValidator(tools))
        self.validation = Validation(tools, simulator)
        self._simulated_by = simulator.identity

    def model(self, role: str, assignment: Assignment) -> ChatModel:
        """Return the model of a role in the chat about a mission."""
        built = self._built[role]
        task = Task(assignment.dialogue, self.settings.name, (Goal(""),))
        model = open_model(built, task, 0)
        if not is_cached(built):
            return model
        context = {
            "seed": self.settings.seed,
            "dialogue": assignment.dialogue,
            "mission": assignment.number,
            "role": role,
        }
        identity = self._identity(role)
        return CachedModel(model, self._store, identity, self.settings.cache, context)

    def choose_tools(self, missions: Sequence[Assignment]) -> Sequence[Tool]:
        """Return the tools that a dialogue offers."""
        tools = list(self.tools.values())
        if isinstance(self.speakers, ChoosesTools):
            return self.speakers.choose_tools(missions, tools)
        return draw_tools(tools, derive_seed(self.settings.seed, missions[0].dialogue, "tools"))

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the words and the results of calls."""
        return {
            "speakers": dict(getattr(self.speakers, "identity", {})),
            "simulator": self._simulated_by,
        }

    def _roles(self) -> list[str]:
        """Return the roles that have a model."""
        model, simulator = self.settings.model, self.settings.simulator
        speaks = isinstance(model, str) or hasattr(model, "complete")
        simulates = isinstance(simulator, str) and "llm" in simulator.split("+")
        return [*(ROLES[:-1] if speaks else ()), *(ROLES[-1:] if simulates else ())]

    def _check_used(self) -> None:
        """Raise UsageError where something is said of models that nobody asks."""
        for role in self.settings.role_models:
            if role not in self._built:
                why = "your own speakers speak for all roles; leave it out"
                if role == ROLES[-1]:
                    why = "--simulator answers; give --simulator llm too"
                raise UsageError(f"--role-model {role}: no model plays it here, for {why}")
        if self._built.keys() - self.settings.role_models.keys():
            return
        if self.settings.base_url and self._built:
            role = next(iter(self._built))
            raise UsageError(
                "--base-url holds for --model, whom nobody asks here; write the address into the "
                f"role's model: --role-model {role}=MODEL,base_url=URL"
            )
        if self.settings.model_options:
            option = next(iter(self.settings.model_options))
            raise UnknownNameError(f"option -M of {self.settings.model}", option, ())

    def _asked(self, role: str) -> Flagged:
        """Return a role's model; no flag holds for one that was named for the role."""
        own = self.settings.role_models
        return Flagged.of(own[role]) if role in own else self._main

    def _build(self, role: str) -> Any:
        asked = self._asked(role)
        spec = asked.spec
        if hasattr(spec, "candidates"):
            raise UsageError(f"no model plays the {role}: name one with --role-model {role}=MODEL")
        if isinstance(spec, str) and split_name(spec)[0] in _PLAYERS:
            raise UsageError(
                f"{spec!r} cannot be the {role}, who writes: name a model that does with "
                f"--model MODEL or --role-model {role}=MODEL"
            )
        return build_model(spec, ModelSettings() if is_offline(spec) else asked.settings())

    def _identity(self, role: str) -> dict[str, JSON]:
        asked = self._asked(role)
        return model_identity(asked.spec, asked.settings(), self._built[role])

    def _speakers(self) -> Speakers:
        model: Any = self.settings.model
        if hasattr(model, "candidates"):
            speakers: Speakers = model
            return speakers
        from seal.benchmarks.mmtb.generation.models import ModelSpeakers

        own = {role: self._identity(role) for role in ROLES[:-1]}
        return ModelSpeakers({"models": own})

    def _simulator(self) -> Simulator:
        settings, by_model = self.settings, "simulator" in self._built
        identity = canonical_json(self._identity("simulator")).decode() if by_model else ""
        setup = SimulatorSetup(
            tools=self.tools,
            store=None if settings.cache == "off" else self._store,
            mode=settings.cache,
            seed=settings.seed,
            model=self._built["simulator"] if by_model else None,
            model_name=identity,
        )
        return build_simulator(settings.simulator, setup)

"""The models of a run: which one each role has, opened for each chat, its answers cached."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from seal.agents.teams import USER
from seal.benchmarks.pool import StoredPool
from seal.core.canonical import derive_seed
from seal.core.errors import NoVerdictError, UnknownNameError, UsageError
from seal.core.protocols import ChatModel, Completion, Judge, Lookup, Message, Request
from seal.core.store import Store
from seal.core.types import JSON, Goal, Step, Task, Trajectory, Verdict
from seal.evaluation.llm_judge import LLMJudge
from seal.evaluation.rule_judge import RuleJudge
from seal.models import (
    CachedModel,
    ModelSettings,
    build_model,
    is_cached,
    is_offline,
    model_identity,
    offline_options,
    open_model,
)
from seal.models.presentation import (
    Example,
    Presentation,
    presentation_identity,
    presented,
)
from seal.pipeline.run_folder import RunFolder
from seal.pipeline.settings import RunSettings
from seal.pipeline.spending.ledger import Admitted, Meter, Metered


class Cast:
    """Models by role. Built once a process; safe in threads.

    Args:
        settings: Which model each role has.
        store: Where answers are kept.
        pool: Where recorded runs lie; None: none can be played.
    """

    def __init__(self, settings: RunSettings, store: Store, pool: StoredPool | None) -> None:
        self._settings = settings
        self._store = store
        self._pool = pool
        self.meter = Meter()
        """Counts what every model is asked."""
        self._built: dict[str | int, tuple[Any, Any]] = {}
        self._how = Presentation(settings.play.format, settings.tool_messages)
        self._spec_of = dict(settings.role_models)
        self.judge_specs = judges_named(self._spec_of.pop("judge", None))
        """The models that judge; empty where none is named."""
        if self.judge_specs:
            self._spec_of["judge"] = self.judge_specs[0]
        specs = (settings.model, *self._spec_of.values(), *self.judge_specs[1:])
        known = frozenset[str]().union(*map(offline_options, specs))
        unknown = [option for option in settings.model_options if option not in known]
        if unknown and all(map(is_offline, specs)):
            raise UnknownNameError(f"option -M of {settings.model}", unknown[0], known)
        for spec in specs:
            self._build(spec)

    def spec(self, role: str) -> Any:
        """Return the model that a role was given."""
        return self._spec_of.get(role, self._settings.model)

    def identity(self, role: str) -> dict[str, JSON]:
        """Return what a run's record says about a role's model."""
        return self.identity_of(self.spec(role))

    def identity_of(self, spec: Any) -> dict[str, JSON]:
        """Return what a run's record says about one of its models."""
        return model_identity(spec, self._model_settings, self._build(spec))

    @property
    def names(self) -> list[str]:
        """The names of all models, as prices name them."""
        specs = (self._settings.model, *self._spec_of.values(), *self.judge_specs[1:])
        return [str(self.identity_of(spec).get("model")) for spec in specs]

    def open(
        self, task: Task, trial: int, example: Example | None = None
    ) -> Callable[[str], ChatModel]:
        """Return the models of one chat, by role.

        Args:
            task: What is played.
            trial: Which time.
            example: What the execution manager is shown.

        Raises:
            NotRecordedError: The main model has nothing to play for this task.
        """
        opened: dict[str, ChatModel] = {}
        how = replace(self._how, example=example)

        def model(role: str) -> ChatModel:
            if role not in opened:
                asked = self._opened(role, task, trial)
                own_user = role == USER and role in self._spec_of
                opened[role] = asked if own_user else presented(asked, self.spec(role), how)
            return opened[role]

        model("execution_manager")
        return model

    def ask(self, role: str, task: Task, messages: Sequence[Message]) -> Completion:
        """Return what a role's model answers beside a chat, as it would in the task's first trial.

        Raises:
            ModelError: The model failed.
        """
        seed, heat = self._seed(task, 0, role), self._settings.temperature
        request = Request(tuple(messages), role=role, temperature=heat, seed=seed)
        return self._opened(role, task, 0).complete(request)

    @property
    def presentation(self) -> dict[str, JSON]:
        """What a run's record says about how models were asked; a named user's is left alone."""
        return presentation_identity(self._how, self._settings.one_shot)

    def standing(self, role: str) -> ChatModel:
        """Return a model that serves no chat, such as the simulator's.

        Raises:
            UsageError: The role's model plays tasks only.
        """
        self.check_able(role, self.spec(role))
        model: ChatModel = self._build(self.spec(role))
        return self._metered(model, role, self.spec(role))

    def check_able(self, role: str, spec: Any) -> None:
        """Raise UsageError where a model that plays tasks by rule is to judge or to simulate."""
        if is_player(spec) or (role == "simulator" and hasattr(self._build(spec), "open")):
            raise UsageError(
                f"{spec!r} plays tasks and cannot be the {role}; "
                f"name a model with --role-model {role}=MODEL"
            )

    def judge_model(self, spec: Any, task: Task, trial: int, vote: int) -> ChatModel:
        """Return one of the judges' models, opened for one vote on one chat."""
        return self._opened("judge", task, trial, spec, vote)

    def judge_seed(self, task: Task, trial: int, vote: int) -> int:
        """Return the seed of one vote on one chat."""
        parts = (self._settings.seed, task.id, trial, "judge")
        return derive_seed(*parts, vote) if vote else derive_seed(*parts)

    def check(
        self, role: str, model: ChatModel, goal: Goal, answer: str, steps: list[Step]
    ) -> Verdict:
        """Return a role's verdict within a chat: by a server's model, else by rule."""
        judge: Judge = RuleJudge()
        if is_cached(self._build(self.spec(role))):
            judge = LLMJudge(model)
        try:
            return judge.judge(goal, answer, steps)
        except NoVerdictError as error:  # who speaks in a chat must say something
            return Verdict("unsure", str(error))

    def seed_of(self, task: Task, trial: int) -> Callable[[str], int]:
        """Return role to seed for one chat."""
        return lambda role: self._seed(task, trial, role)

    def _seed(self, task: Task, trial: int, role: str) -> int:
        return derive_seed(self._settings.seed, task.id, trial, role)

    def _opened(
        self, role: str, task: Task, trial: int, spec: Any = None, vote: int = 0
    ) -> ChatModel:
        """Return a role's model, or the one that is given, for one chat."""
        spec = self.spec(role) if spec is None else spec
        built = self._build(spec)
        model = open_model(built, task, trial)
        if role == "judge":
            model = Admitted(model, self.meter)
        if not is_cached(built):
            return self._metered(model, role, spec)
        context = {
            "seed": self._settings.seed,
            "task": task.id,
            "trial": trial,
            "role": role,
            "vote": vote,
        }
        identity = self.identity_of(spec)
        cached = CachedModel(model, self._store, identity, self._settings.cache, context)
        return self._metered(cached, role, spec)

    def _metered(self, model: ChatModel, role: str, spec: Any) -> ChatModel:
        return Metered(model, self.meter, role, str(self.identity_of(spec).get("model")))

    def _build(self, spec: Any) -> Any:
        """Return the model of a spec, built once."""
        key = spec if isinstance(spec, str) else id(spec)
        if key not in self._built:
            settings = self._model_settings
            if is_offline(spec):  # the options are those of the models that have any
                own = offline_options(spec)
                options = {k: v for k, v in settings.options.items() if k in own}
                settings = replace(settings, options=options)
            # The spec is kept beside its model, so that its id is not given to another object.
            self._built[key] = (spec, build_model(spec, settings))
        return self._built[key][1]

    @cached_property
    def _model_settings(self) -> ModelSettings:
        return ModelSettings.from_options(
            self._settings.model_options,
            base_url=self._settings.base_url,
            recordings=lambda name: find_recording(name, self._pool),
        )


def judges_named(given: Any) -> tuple[Any, ...]:
    """Return the judges' models of a run: one, several in a list or tuple, or none.

    Raises:
        UsageError: One is named twice.
    """
    if given is None:
        return ()
    named = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    twice = next((spec for n, spec in enumerate(named) if spec in named[:n]), None)
    if twice is not None:
        raise UsageError(f"judge {twice!r} is named twice; let it vote twice by --votes 2")
    return named


_PLAYERS = ("lexical", "oracle", "gold_calls", "random", "recorded", "replay")


def is_player(spec: Any, players: Collection[str] = _PLAYERS) -> bool:
    """Tell whether a model plays tasks alone: one of ours by rule, or what an own agent asks."""
    if isinstance(spec, str):
        return spec.partition(":")[0] in players
    return bool(getattr(spec, "plays_tasks", False))


def find_recording(name: str, pool: StoredPool | None) -> Lookup:
    """Return the look-up of what `recorded:NAME` or `replay:RUN` plays.

    A recording has one trial, which is played in every trial of a run.

    Raises:
        UnknownNameError: The pool has no such recording.
        DataError: No run in the folder.
    """
    kind, _, rest = name.partition(":")
    if kind == "replay":
        folder = RunFolder.open(Path(rest))
        return Recording(folder.trajectories_path, folder.trajectories())
    if pool is None:
        raise UsageError(f"{name!r} needs the pool that holds the recording")
    return Recording(pool.recordings().get(rest), pool.recorded(rest))


class Recording:
    """Finds the trajectory of a task and trial; the first trial's where there is no such trial.

    Args:
        path: Where they are kept.
        trajectories: What is kept there; failed ones are left out.
    """

    def __init__(self, path: Path | None, trajectories: Iterator[Trajectory]) -> None:
        self._table = {(t.task_id, t.trial): t for t in trajectories if not t.failed}
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest() if path else ""
        """Of the file's content: what a run says that it played, wherever the file lies."""

    def __call__(self, task_id: str, trial: int) -> Trajectory | None:
        """Return the trajectory to play, or None."""
        return self._table.get((task_id, trial)) or self._table.get((task_id, 0))

"""One model of a run: what names it, how it is asked, and what it plays.

A model that plays a recording finds it here. Offline models in roles that a benchmark's own teams
have answer what the benchmark says (`with_roles`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seal.core import (
    JSON,
    CacheMode,
    ChatModel,
    Completion,
    Lookup,
    Request,
    Task,
    Trajectory,
    UsageError,
)
from seal.core.registry import load_dotted
from seal.core.store import Store
from seal.models import (
    Flagged,
    account_of,
    build_model,
    is_cached,
    is_offline,
    model_identity,
    shown_at,
    split_name,
)
from seal.pools.benchmark import Benchmark
from seal.pools.pool import StoredPool
from seal.runs.run_folder import RunFolder
from seal.runs.spending.ledger import Admitted, Meter, Metered


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


_PLAYERS = ("lexical", "oracle", "gold_calls", "random", "recorded", "replay")


def is_player(spec: Any, players: Collection[str] = _PLAYERS) -> bool:
    """Tell whether a model plays tasks alone: one of ours by rule, or what an own agent asks."""
    if isinstance(spec, str):
        return split_name(spec)[0] in players
    return bool(getattr(spec, "plays_tasks", False))


class RunModel:
    """A model, built once a process.

    Args:
        flagged: What was asked for, and the flags that hold for it.
        recordings: Finds what `recorded:NAME` and `replay:RUN` play.

    Raises:
        UsageError: No such model, an option that it cannot have, or it lacks what it needs.
    """

    def __init__(self, flagged: Flagged, recordings: Callable[[str], Lookup]) -> None:
        self.spec: Any = flagged.spec
        self._settings = flagged.settings(recordings)
        self.model: Any = build_model(self.spec, self._settings)

    @property
    def identity(self) -> dict[str, JSON]:
        """What a run's record says about it."""
        return model_identity(self.spec, self._settings, self.model)

    @property
    def is_cached(self) -> bool:
        """True where its answers are kept."""
        return is_cached(self.model)

    @cached_property
    def account(self) -> str:
        """The name under which what it takes is booked, as prices name it."""
        name, url = self._named()
        return account_of(name, url)

    @property
    def shown(self) -> str:
        """The model and where it is asked, for people."""
        return shown_at(*self._named())

    @property
    def is_served(self) -> bool:
        """True where a server that we know of is asked."""
        name, _ = self._named()
        return not is_offline(self.spec) and self.shown != name

    def check_able(self, role: str) -> None:
        """Raise UsageError where it plays tasks, so that it cannot be asked beside the chats.

        A judge's model may be opened for each chat.
        """
        if is_player(self.spec) or (role != "judge" and hasattr(self.model, "open")):
            part, option = role, f"--role-model {role}"
            if role == "retriever":
                part, option = "retriever's model", "-R model"
            raise UsageError(
                f"{self.spec} plays tasks and cannot be the {part}; "
                f"name a model that answers texts with {option}=MODEL"
            )

    def beside(self, role: str, store: Store, mode: CacheMode, meter: Meter) -> ChatModel:
        """Return it as a role asks it beside all chats, its answers kept and counted.

        Raises:
            UsageError: It plays tasks and answers no texts.
        """
        self.check_able(role)
        asked: ChatModel = Admitted(self.model, meter)
        if self.is_cached:
            from seal.models.kept_answers import CachedModel

            context = {"role": role}
            asked = CachedModel(asked, store, self.identity, mode, context, of_chat=False)
        return Metered(asked, meter, role, self.account)

    def _named(self) -> tuple[str, str | None]:
        identity = self.identity
        own = isinstance(getattr(self.model, "identity", None), dict)
        served = own or (isinstance(self.spec, str) and not is_offline(self.spec))
        url = identity.get("base_url") if served else None
        return str(identity.get("model")), url if isinstance(url, str) else None


Answer = Callable[[Request, Task], Completion | None]
"""What a role says; None: the model itself answers."""


@dataclass(frozen=True, slots=True)
class RolePlayer:
    """The model of one chat in which a benchmark answers for its own roles.

    Args:
        model: Plays all other roles.
        answer: The benchmark's.
        task: What is played.
    """

    model: ChatModel
    answer: Answer
    task: Task

    def complete(self, request: Request) -> Completion:
        """Return the benchmark's answer, else the model's."""
        return self.answer(request, self.task) or self.model.complete(request)


def with_roles(model: ChatModel, spec: Any, benchmark: Benchmark | None, task: Task) -> ChatModel:
    """Return the model of one chat, with the benchmark's answers where it offers some.

    Args:
        model: Opened for the task.
        spec: What it was asked by; only names of offline models have players.
        benchmark: What is played; None: not known.
        task: What is played.
    """
    if benchmark is None or not isinstance(spec, str):
        return model
    player = benchmark.players.get(split_name(spec)[0])
    if player is None:
        return model
    return RolePlayer(model, load_dotted(player) if isinstance(player, str) else player, task)

"""Offline models in roles that a benchmark's own teams have: the benchmark answers for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from seal.core.protocols import ChatModel, Completion, Request
from seal.core.registry import load_dotted
from seal.core.types import Task
from seal.models import split_name
from seal.pools.benchmark import Benchmark

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


__all__ = ["RolePlayer", "with_roles"]

"""How far a chat may go: what its run says, else what its task says."""

from __future__ import annotations

from seal.agents.conversation import Limits
from seal.core.types import Task


def messages_of(task: Task, given: int | None) -> int | None:
    """Return the messages that each goal of a task may take; None: no limit.

    Args:
        task: May have a limit of its own, `metadata["max_messages"]`.
        given: The run's; None: it says nothing.
    """
    return _own(task, "max_messages") if given is None else given


def turns_of(task: Task, given: int | None, messages: int | None = None) -> int:
    """Return the model turns that each goal of a task may take.

    Args:
        task: May need more than the default: `metadata["max_turns"]`, or its own messages.
        given: The run's; None: it says nothing.
        messages: The run's limit of messages; None: the task's own counts.
    """
    if given is not None:
        return given
    spoken = messages_of(task, None) if messages is None else None
    return max(Limits().max_turns, _own(task, "max_turns") or 0, spoken or 0)


def _own(task: Task, name: str) -> int | None:
    own = task.metadata.get(name)
    return own if type(own) is int and own > 0 else None

"""One chat of a run, handed out as a group chat of AutoGen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

from seal.api.settings import RunOptions, settings_of
from seal.core import check_name
from seal.core.signatures import checked
from seal.pools.lookup import Bench
from seal.runs.agent_settings import AgentUnderTest

if TYPE_CHECKING:
    from seal.agents.autogen import Group


@contextmanager
@checked
def groupchat(
    bench: Bench = "sample",
    task: str | None = None,
    *,
    agent: AgentUnderTest | None = None,
    **options: Unpack[RunOptions],
) -> Iterator[Group]:
    """Hand out the chat about a task as a group chat of AutoGen, for you to drive.

    Args:
        bench: A benchmark, the name of one, or a pool folder.
        task: Id of the task; None: the first one.
        agent: What is tried, as in `seal.run`.
        **options: As in `seal.run`.

    Yields:
        The chat: `.chat` is the `GroupChat`, `.manager` its manager, `.agents` role to its agent.
        `.hold()` holds it as a run does. To drive it yourself, begin with `.open()` and let
        `.agents[ROLE]` reply; each reply is the role's, recorded, and within the budgets.
        `.conversation.trajectory()` is what was said and done. Only answers of models are kept.

    Raises:
        UnknownNameError: There is no such task, setting, benchmark or plug-in.
        UsageError: A setting has a value that no run can have.
        DataError: The pool is malformed.

    Example:
        >>> import seal
        >>> with seal.groupchat("sample", model="oracle") as group:
        ...     group.hold()
        ...     group.chat.messages[0]["name"]
        'user_simulator'
    """
    from seal.agents.autogen import Group
    from seal.runs.engine import Engine
    from seal.runs.run_folder import RunFolder

    settings = settings_of(bench, options, agent)
    with TemporaryDirectory() as place, Engine.of(settings, RunFolder(Path(place))) as engine:
        tasks = {one.id: one for one in engine.pool.tasks()}
        played_id = next(iter(tasks)) if task is None else task
        check_name("task", played_id, tasks)
        found = tasks[played_id]
        engine.check()
        ranked = engine.rank([found]).rankings.get(found.id, ())
        with engine.chat(found, rankings=ranked) as conversation:
            yield Group(conversation)

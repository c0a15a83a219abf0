"""Where the chats of two runs of one task part."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import NamedTuple

from seal.core import DataError, Trajectory
from seal.core.records import decode
from seal.report.chat_records import said
from seal.runs.lines import LineTail, chat_told
from seal.runs.run_folder import RunFolder

Chat = tuple[str, int]
"""Task id and trial."""


class Parting(NamedTuple):
    """Where two chats of one task part: the first step in which they are not the same."""

    step: int | None
    """Index of the step in the one chat; None: it ended before."""
    other_step: int | None
    """Likewise of the other chat."""
    offered: bool
    """They were offered other tools."""


def partings(
    one: RunFolder, other: RunFolder, chats: Collection[Chat]
) -> dict[Chat, Parting | None]:
    """Return where chats part; None: they say and do the same, and were judged otherwise.

    Two steps are the same by author, recipient, content, call and result; neither state nor usage
    counts. Chats that a run does not hold are left out.

    Raises:
        DataError: A trajectory cannot be read; names the file and the line.
    """
    theirs = dict(_read(other, chats))
    return {
        chat: _parting(played, theirs[chat]) for chat, played in _read(one, chats) if chat in theirs
    }


def _read(run: RunFolder, wanted: Collection[Chat]) -> Iterator[tuple[Chat, Trajectory]]:
    """Yield the wanted chats; to check all of them would take longer than to compare."""
    tail = LineTail(run.trajectories_path)
    for line in tail.read() if wanted else ():
        try:
            chat, _ = chat_told(line)
            if chat in wanted:
                yield chat, decode(line, Trajectory)
        except (ValueError, KeyError, TypeError, DataError) as error:
            raise DataError(f"{tail}: no trajectory: {error!r:.100}") from error


def _parting(one: Trajectory, other: Trajectory) -> Parting | None:
    offered = one.offered != other.offered
    for mine, theirs in zip_longest(one.steps, other.steps):
        if mine is None or theirs is None or said(mine) != said(theirs):
            ends = [None if step is None else step.index for step in (mine, theirs)]
            return Parting(ends[0], ends[1], offered)
    return Parting(None, None, offered) if offered else None

"""Where two chats of one task part: the first step in which they are not the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from seal.core.errors import DataError
from seal.runs.run_folder import RunFolder

Chat = tuple[str, int]
"""Task id and trial."""


class Parting(NamedTuple):
    """Where two chats part."""

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
    wanted = set(chats)
    theirs = dict(_read(other, wanted))
    return {
        chat: _parting(played, theirs[chat])
        for chat, played in _read(one, wanted)
        if chat in theirs
    }


def _read(run: RunFolder, wanted: Collection[Chat]) -> Iterator[tuple[Chat, Mapping[str, Any]]]:
    """Yield the wanted chats, as JSON: to check all of them would take longer than to compare."""
    path = run.trajectories_path
    if not wanted or not path.is_file():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                found = orjson.loads(line)
                chat = (found["task_id"], found["trial"])
                if chat in wanted:
                    yield chat, {"steps": found["steps"], "offered": found["offered"]}
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}, line {number}: no trajectory: {error!r:.100}") from error


def _parting(one: Mapping[str, Any], other: Mapping[str, Any]) -> Parting | None:
    ours, theirs = one["steps"], other["steps"]
    offered = one["offered"] != other["offered"]
    for place in range(max(len(ours), len(theirs))):
        mine = ours[place] if place < len(ours) else None
        other_one = theirs[place] if place < len(theirs) else None
        if mine is None or other_one is None or _said(mine) != _said(other_one):
            return Parting(_index(mine), _index(other_one), offered)
    return Parting(None, None, True) if offered else None


def _said(step: Mapping[str, Any]) -> tuple[Any, ...]:
    call, result = step.get("call") or {}, step.get("result") or {}
    return (
        step.get("author"),
        step.get("recipient"),
        step.get("content"),
        call.get("name"),
        call.get("arguments"),
        call.get("raw"),
        result.get("content"),
        result.get("error"),
    )


def _index(step: Mapping[str, Any] | None) -> int | None:
    return None if step is None else step["index"]

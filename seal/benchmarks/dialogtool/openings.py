"""The view `retrieval`: the first user turn of a dialogue, and the intent that it opens.

Of a turn with several frames the first one counts: SGD puts the service that the turn is about
first, and each first turn of the released dialogues has but one frame.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from seal.benchmarks.dialogtool.dialogues import NO_INTENT
from seal.benchmarks.dialogtool.schemas import Schemas
from seal.benchmarks.dialogtool.tools import BENCHMARK, domain_of
from seal.core.types import JSON, Goal, Task
from seal.pools.importer import Notes
from seal.pools.reading.records import TaskIds, field


class _Opening(NamedTuple):
    """What the first user turn of a dialogue says."""

    text: str
    service: str
    intent: str | None
    """None: the user only informs."""


class Openings:
    """Makes a task of the first user turn of each dialogue.

    Args:
        schemas: Of all splits.
        notes: Gets the counts of what is left out.
    """

    def __init__(self, schemas: Schemas, notes: Notes) -> None:
        self._schemas = schemas
        self._notes = notes
        self._ids = TaskIds()
        self._counts: Counter[str] = Counter()
        self._called: Counter[str] = Counter()

    def task(self, split: str, dialogue: Any) -> Task | None:
        """Return a dialogue's task; None where it is dropped or known.

        Raises:
            DataError: The record is malformed.
        """
        dialogue_id = field(dialogue, "dialogue_id", str)
        services = field(dialogue, "services", list)
        self._counts["dialogues"] += 1
        opening = _opening(field(dialogue, "turns", list))
        if isinstance(opening, str):
            self._notes.dropped[opening] += 1
            return None
        service = self._schemas.splits[split].get(opening.service)
        api = None if service is None else service.apis.get(opening.intent or "")
        if api is None:
            reason = "unknown_intent" if opening.intent else "no_intent"
            self._notes.dropped[reason] += 1
            return None
        task_id = self._ids.add(f"{split}/{dialogue_id}", opening.text)
        if task_id is None:
            self._counts["duplicates"] += 1
            return None
        self._called[api.tool] += 1
        domains = {domain_of(str(service)) for service in services}
        return Task(
            task_id,
            BENCHMARK,
            (Goal(opening.text, relevant=(api.tool,)),),
            split=split,
            tags={
                "group": split,
                "domain": domain_of(opening.service),
                "multi_domain": len(domains) > 1,
                "multi_tool": False,
                "multi_step": False,
            },
        )

    def facts(self) -> dict[str, JSON]:
        """Return the counts of what was met."""
        self._counts["duplicates"] += 0
        self._counts["repeated_texts"] = self._ids.repeated
        self._counts["relevant_tools"] = len(self._called)
        return dict(self._counts)


def _opening(turns: list[Any]) -> _Opening | str:
    """Return the opening of a dialogue, or the reason why it has none."""
    for turn in turns:
        if field(turn, "speaker", str) == "USER":
            text = field(turn, "utterance", str)
            frames = field(turn, "frames", list)
            if not text.strip() or not frames:
                return "empty_utterance" if frames else "no_frame"
            intent = field(field(frames[0], "state", dict), "active_intent", str)
            service = field(frames[0], "service", str)
            return _Opening(text, service, None if intent == NO_INTENT else intent)
    return "no_user_turn"

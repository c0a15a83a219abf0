"""The 600 labelled replies of `labelled_replies.jsonl`: what two readers say that each does.

Texts of our own stand in the file. Real ones stay where they are published; `read` finds them below
SEAL_DATA by their `source`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from seal.core.acts import Act, Speaker, acts
from seal.core.consent import agrees

Label = Act | Literal["agrees"]
_FILE = Path(__file__).with_name("labelled_replies.jsonl")
_BEFORE = 600
"""Characters of the message before that the readers saw, its end."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A message and what it does."""

    id: str
    half: Literal["made", "held"]
    """Made: the rules were made with it in view. Held: it was measured only."""
    speaker: Speaker
    before: str
    text: str
    acts: Mapping[Label, list[str]]
    """Each act that it does, with the words that show it, as each reader marked them."""
    readers_differ: list[Label]


def read(data: Path | None) -> Iterator[Reply]:
    """Yield our own replies, or, given the folder of upstream files, the real ones."""
    with _FILE.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        if (row["source"] == "own") == (data is None):
            before, text = _found(data, row["source"]) if data else (row["before"], row["text"])
            names = ("id", "half", "speaker", "acts", "readers_differ")
            yield Reply(before=before, text=text, **{name: row[name] for name in names})


def files(data: Path) -> set[Path]:
    """Return the upstream files that the real replies stand in."""
    with _FILE.open(encoding="utf-8") as lines:
        sources = [json.loads(line)["source"] for line in lines]
    return {data / source.partition(":")[0] for source in sources if source != "own"}


@cache
def _json(path: Path) -> Any:
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def _found(data: Path, source: str) -> tuple[str, str]:
    """Return the message before and the message that a source names."""
    name, _, place = source.partition(": ")
    held = _json(data / name)
    at = [int(number) for number in re.findall(r"\d+", place)]
    if name.startswith("taubench"):
        run = held[at[0]]["traj"]
        said = [
            step for step in run[: at[-1]] if step.get("content") and not step.get("tool_calls")
        ]
        other = {"assistant": "user", "user": "assistant"}[run[at[-1]]["role"]]
        before = next((s["content"] for s in reversed(said) if s["role"] == other), "")
        return before[-_BEFORE:], run[at[-1]]["content"]
    if name.startswith("livemcpbench"):
        run = held[at[0]]
        place_in_run = re.search(r"messages\[(\d+)\]", place)
        message = run["messages"][int(place_in_run[1])]["content"] if place_in_run else None
        return run["Question"][-_BEFORE:], message or run["response"]
    made = held["answer_generation"]
    return made["query"][-_BEFORE:], json.loads(made["final_answer"])["final_answer"]


def counts(replies: list[Reply]) -> dict[tuple[str, Label], Counter[tuple[bool, bool | None]]]:
    """Return, for each half and act, how often a truth (first) met a verdict (second).

    Left out is what the readers did not agree on, whether a user's message does what is asked of
    agents, and whether an agent agrees.
    """
    found: dict[tuple[str, Label], Counter[tuple[bool, bool | None]]] = {}
    names: tuple[Label, ...] = (*get_args(Act), "agrees")
    for reply in replies:
        told = acts(reply.text, reply.before, reply.speaker)
        for act in names:
            asked_of: Speaker = "user" if act == "agrees" else "agent"
            if act not in reply.readers_differ and reply.speaker == asked_of:
                verdict: bool | None = (
                    agrees(reply.text, reply.before) if act == "agrees" else getattr(told, act)
                )
                tally = found.setdefault((reply.half, act), Counter())
                tally[act in reply.acts, verdict] += 1
    return found

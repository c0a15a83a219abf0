"""Trajectories recorded from the original, played again: results, failures, order and world."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from phones import START, called, needs
from test_world_recorded import NEW, ours

from seal.benchmarks.toolsandbox.phone.world import phone
from seal.core import Task
from seal.environments.world import WorldSetup

needs("phonenumbers", "pint", "holidays", "geopy")

EXECUTOR = "EXECUTION_ENVIRONMENT"
CLOCK = {"start": START, "first": 5, "step": 1.25}


class Replay:
    """One trajectory, of which every batch of calls is made again in a phone of ours."""

    def __init__(self, record: dict[str, Any], factory: Any) -> None:
        self.record = record
        self.expected = ours(record["initial_state"])
        task = Task(record["id"], "b", (), self.expected, metadata={"clock": CLOCK})
        self.world = factory.open(task, 0)
        self.world.tick()
        self.ids: dict[str, str] = {}
        """New ids of the original to ours."""

    def play(self) -> Iterator[str | None]:
        """Yield what differs after each batch; None: nothing."""
        messages = self.record["messages"]
        while messages:
            batch = [m for m in messages[:1] if m["recipient"] == EXECUTOR]
            for message in messages[1:] if batch else ():
                if message["recipient"] != EXECUTOR:
                    break
                batch.append(message)
            for message in messages[: len(batch) or 1]:
                if message["sender"] in ("AGENT", "USER") and message["visible_to"] is not None:
                    self.world.tick()
                    break
            answers = messages[len(batch) : 2 * len(batch)]
            messages = messages[2 * len(batch) or 1 :]
            if batch and all("tool_call" in message for message in batch):
                yield self.compare(batch, answers)

    def compare(self, batch: list[dict[str, Any]], answers: list[dict[str, Any]]) -> str | None:
        calls = [
            called(m["tool_call"]["name"], n, **self.named(m["tool_call"]["arguments"]))
            for n, m in enumerate(batch)
        ]
        results = self.world.call(calls)
        for result, answer in zip(results, answers, strict=True):
            if batch[int(result.call_id[5:])].get("call_id") != answer.get("call_id"):
                return f"order {[r.call_id for r in results]}"
            if differing := self.differing(result, answer):
                return differing
        for answer in answers:
            for table, snapshots in self.record["snapshots"].items():
                for snapshot in snapshots:
                    if snapshot["index"] == answer["index"]:
                        self.expected |= ours({table: snapshot["rows"]})
        same = self.named(self.expected) == self.world.states()[-1]
        return None if same else f"world after {answers[-1]['index']}"

    def differing(self, result: Any, answer: dict[str, Any]) -> str | None:
        if exception := answer.get("exception"):
            kind = exception.partition(":")[0].rpartition(".")[2]
            right = result.error is not None and result.error["kind"] == kind
            return None if right else f"{kind}, not {result.content}"
        if result.error is not None:
            return result.content
        (trace,) = answer["tool_trace"]
        if trace["tool_name"] in NEW:
            self.ids[trace["result"]] = result.value
        traced = (result.executed.arguments, result.value)
        right = traced == (self.named(trace["arguments"]), self.named(trace["result"]))
        return None if right else f"{trace}, not {traced}"

    def named(self, value: Any) -> Any:
        """Return the value with our new ids for the original's."""
        text = json.dumps(value)
        for theirs, mine in self.ids.items():
            text = text.replace(theirs, mine)
        return json.loads(text)


@pytest.mark.slow
@pytest.mark.parametrize("race", ["dependency", "exhaustive"])
def test_every_recorded_trajectory_is_played_alike(seal_data: Path, race: str):
    folder = seal_data / "toolsandbox"
    options = {"web": str(folder / "web_fixtures.json"), "race": race}
    factory = phone(WorldSetup(options=options))
    counts, differing = Counter(), []
    with gzip.open(folder / "vectors_public.jsonl.gz", "rt") as lines:
        for record in map(json.loads, lines):
            counts["trajectories"] += 1
            for difference in Replay(record, factory).play():
                counts["batches"] += 1
                if difference is not None:
                    differing.append((record["id"], difference))
    assert differing == []
    assert counts["trajectories"] == 959
    assert counts["batches"] > 3000

"""How a world ends and what is answered, held against tau-bench's rewards of real conversations.

A conversation has reward 1 where the world ends as after gold (`similarity`), and the agent said
all outputs too (`pass_rate`). The original looks for an output in the agent's messages, without
case and commas. Here an answer must plainly state it: of the 16 conversations that have outputs,
none is told otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from airline_world import airline, read

import seal

Called = tuple[str, dict[str, Any]]


def called(chat: Mapping[str, Any]) -> list[Called]:
    functions = [call["function"] for said in chat["traj"] for call in said.get("tool_calls") or ()]
    return [(one["name"], json.loads(one["arguments"])) for one in functions]


def brought(chat: Mapping[str, Any]) -> list[str]:
    return [said["content"] for said in chat["traj"] if said["role"] == "tool"]


def said(chat: Mapping[str, Any]) -> list[str]:
    """Return what the agent told the user: its messages that call nothing."""
    own = [one for one in chat["traj"] if one["role"] == "assistant" and not one.get("tool_calls")]
    return [one["content"] or "" for one in own]


def gold(chat: Mapping[str, Any], refused: Sequence[Called]) -> seal.Task:
    """Return the task of a conversation, whose gold calls may be refused."""
    calls = [(one["name"], one["kwargs"]) for one in chat["info"]["task"]["actions"]]
    asked = [
        seal.refused(seal.called(name, **given))
        if (name, given) in refused
        else seal.called(name, **given)
        for name, given in calls
    ]
    key = chat["task_id"], chat["trial"]
    outputs = chat["info"]["task"]["outputs"]
    return seal.ask(repr(key), seal.ends_as(*asked), answer=outputs, id="{}-{}".format(*key))


def replaying(
    chats: Mapping[str, Mapping[str, Any]], failed: dict[str, list[bool]]
) -> Callable[[str, Sequence[Any]], str]:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        failed[request] = []
        for name, given in called(chats[request]):
            try:
                named[name](**given)
                failed[request].append(False)
            except Exception:
                failed[request].append(True)
        return "\n".join(said(chats[request]))

    return agent


@pytest.mark.slow
def test_the_reward_of_real_conversations_is_the_originals(seal_data: Path, tmp_path: Path) -> None:
    """50 tasks, 4 trials each; 88 end right, of which 85 said what they should.

    Trial 3 of task 46 was cut before it ended: its recorded reward is 0, its replayed one 1.
    """
    folder = seal_data / "taubench"
    chats = {repr((one["task_id"], one["trial"])): one for one in read(folder, "gpt-4o-airline")}
    rewards = json.loads((folder / "airline_replayed_rewards.json").read_text("utf-8"))
    refused = {
        case["task_id"]: [
            (call["name"], call["arguments"])
            for call, result in zip(case["calls"], case["results"], strict=True)
            if result.startswith("Error")
        ]
        for case in read(folder, "airline_end_states")
        if case["kind"] == "gold"
    }
    tasks = [gold(one, refused.get(one["task_id"], ())) for one in chats.values()]
    made = [given for one in chats.values() for _, given in called(one)]
    wanted = [step["kwargs"] for one in chats.values() for step in one["info"]["task"]["actions"]]
    world = airline(folder, ({"arguments": given} for given in (*made, *wanted)))
    failed: dict[str, list[bool]] = {}
    run = seal.run(
        seal.Benchmark("airline", environment=world, tasks=tasks),
        agent=replaying(chats, failed),
        baselines=False,
        out=tmp_path / "run",
        max_calls=100,
    )

    names = {"{task_id}-{trial}".format(**one): key for key, one in chats.items()}
    found: dict[str, dict[str, float | None]] = {"similarity": {}, "pass_rate": {}}
    for score in run.folder.scores():
        if score.metric in found:
            found[score.metric][names[score.task_id]] = score.value
    told = {repr((one["task_id"], one["trial"])): one for one in rewards}
    assert found["similarity"] == {key: one["state"] for key, one in told.items()}
    decided = {key: value for key, value in found["pass_rate"].items() if value is not None}
    assert decided == {key: told[key]["replayed"] for key in decided}
    # What the user told stands in no replayed chat, so that such values in answers are unexplained.
    assert all(told[key]["replayed"] for key in found["pass_rate"].keys() - decided.keys())
    recorded = {key: one["reward"] for key, one in chats.items()}
    assert [key for key in decided if decided[key] != recorded[key]] in ([], ["(46, 3)"])
    assert (len(told), sum(one["state"] for one in rewards)) == (200, 88)
    for key, chat in chats.items():
        assert failed[key] == [text.startswith("Error") for text in brought(chat)], key

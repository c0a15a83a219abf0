"""Time of one scripted conversation on the phone, beside a bare AutoGen chat of as many messages.

    python perf/conversation.py [--short]

Ten turns: ten times the scripted user asks, the agent calls a tool that changes a setting, the
phone answers, and the agent reports; then the user ends the conversation. The agent's words are a
script's, so no model is asked. The reference is AutoGen's own group chat of three agents whose
prepared messages are as many. Both are played in turns in this process, on one thread; medians of
wall-clock time. Budgets: 30 ms a conversation, and .3 ms a message above our own work, which is
what `Conversation.open`, `reply` and `enter` take. They are reported and never a failure.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import autogen
from autogen.io.base import IOStream

from seal.agents.autogen import Groups, Terminal
from seal.agents.conversation import Conversation
from seal.benchmarks.toolsandbox.phone import tools
from seal.core import Goal, Task
from seal.core.records import write_records
from seal.models.given_answers import ScriptedModel
from seal.pools.pool import load_pool
from seal.runs.engine import Engine
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings

TURNS = 10
BUDGET_MS = 30
ABOVE_MS = 0.3
TOOL = "set_wifi_status"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few repetitions")
    repetitions = 5 if parser.parse_args(argv).short else 101
    with tempfile.TemporaryDirectory() as name, prepared(Path(name)) as engine:
        (task,) = load_pool(Path(name)).tasks()
        messages = len(engine.play(task, 0).steps)
        bare_chat(messages)
        ours: list[float] = []
        bare: list[float] = []
        above: list[float] = []
        for trial in range(1, repetitions + 1):
            ours.append(milliseconds(partial(engine.play, task, trial)))
            bare.append(milliseconds(lambda: bare_chat(messages)))
            above.append(above_our_work(partial(engine.play, task, trial)) / messages)
    conversation, reference = statistics.median(ours), statistics.median(bare)
    print(f"{TURNS} turns, {messages} messages    {'ms':>8}{'ratio':>8}{'budget ms':>11}")
    print(f"bare AutoGen chat           {reference:8.1f}{1:8.2f}")
    print(
        f"conversation on the phone   {conversation:8.1f}{conversation / reference:8.2f}"
        f"{BUDGET_MS:11}"
    )
    print(f"a message above our work    {statistics.median(above):8.2f}{ABOVE_MS:19}")
    return 0


def milliseconds(work: Callable[[], object]) -> float:
    """Return the wall-clock milliseconds that a function takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def above_our_work(play: Callable[[], object]) -> float:
    """Return the milliseconds that AutoGen takes to drive a chat, without those of our roles."""
    driven = spoken = 0.0
    drive = Groups.play
    own = {name: getattr(Conversation, name) for name in ("open", "reply", "enter")}

    def timed_drive(self: Groups, conversation: Conversation) -> None:
        nonlocal driven
        driven += milliseconds(lambda: drive(self, conversation))

    def timed(part: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            nonlocal spoken
            start = time.perf_counter()
            try:
                return part(*given, **named)
            finally:
                spoken += (time.perf_counter() - start) * 1000

        return run

    setattr(Groups, "play", timed_drive)  # noqa: B010
    for name, part in own.items():
        setattr(Conversation, name, timed(part))
    try:
        play()
    finally:
        setattr(Groups, "play", drive)  # noqa: B010
        for name, part in own.items():
            setattr(Conversation, name, part)
    return driven - spoken


def prepared(folder: Path) -> Engine:
    """Return the engine of a run whose one task is the conversation."""
    requests = [f"Now turn wifi {'on' if turn % 2 else 'off'}." for turn in range(TURNS)]
    documents = [tool for tool in tools() if tool.name == TOOL]
    goal = Goal(requests[0], offered=tuple(tool.id for tool in documents))
    persona = {"goal": requests[0], "then": requests[1:]}
    write_records(folder / "tools.jsonl", documents)
    write_records(
        folder / "tasks.jsonl",
        [Task("talk", "perf", (goal,), persona=persona, world="phone")],
    )
    script: list[Any] = []
    for turn in range(TURNS):
        on = bool(turn % 2)
        script.append({"calls": [{"name": TOOL, "arguments": {"on": on}}]})
        script.append(f"Wifi is {'on' if on else 'off'}, as you asked in turn {turn}.")
    settings = RunSettings(
        pool=folder,
        model=ScriptedModel(script),
        roles={"user_simulator": "scripted"},
        team="direct",
        baselines=False,
        max_turns=3 * TURNS,
        cache_dir=folder / "cache",
    )
    (folder / "run").mkdir()
    return Engine(settings, RunFolder(folder / "run"), load_pool(folder))


def bare_chat(messages: int) -> None:
    """Hold a group chat of AutoGen in which three agents say prepared words in turn."""
    agents: list[Any] = [
        autogen.ConversableAgent(
            name,
            llm_config=False,
            human_input_mode="NEVER",
            code_execution_config=False,
            is_termination_msg=lambda message: False,
        )
        for name in ("user", "agent", "executor")
    ]
    said = 1

    def speak(recipient: Any, messages: Any, sender: Any, config: Any) -> tuple[bool, Any]:
        return True, {"content": f"This is message {said}."}

    def follow(last: Any, chat: Any) -> Any:
        nonlocal said
        said += 1
        return None if said > messages else agents[said % 3]

    for agent in agents:
        agent.register_reply([autogen.Agent, None], speak, position=0)
    chat = autogen.GroupChat(
        agents=agents,
        messages=[],
        max_round=10 * messages,
        speaker_selection_method=follow,
        allow_repeat_speaker=True,
    )
    manager = autogen.GroupChatManager(
        groupchat=chat, llm_config=False, silent=True, is_termination_msg=lambda message: False
    )
    with IOStream.set_default(Terminal()):  # which shows nothing
        agents[0].initiate_chat(manager, message={"content": "This is message 0."}, silent=True)


if __name__ == "__main__":
    sys.exit(main())

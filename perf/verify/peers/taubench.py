"""The reward of `seal.benchmarks.taubench` beside that of tau-bench's own evaluator.

Four courses of each task are played by both, and the rewards of recorded conversations are held.
`TAUBENCH_CHECKOUT` names a checkout of sierra-research/tau-bench, whose code is run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from peers.comparison import Peer, PeerFigure
from peers.taubench_child import COURSES
from seal.benchmarks.taubench.importer import import_taubench
from seal.benchmarks.taubench.metrics import REWARD, Reward
from seal.benchmarks.taubench.world import DOMAINS, PACKAGE
from seal.core import Task, Tool, Trajectory, UsageError
from seal.pools.importer import Notes, Recorded

VARIABLE = "TAUBENCH_CHECKOUT"
_CHATS = "historical_trajectories/gpt-4o-airline.json"


def _held() -> Iterator[PeerFigure]:
    checkout = Path(os.environ.get(VARIABLE) or "tau-bench")
    if not (checkout / PACKAGE / "envs").is_dir():
        raise UsageError(
            f"no checkout of tau-bench at {checkout}: git clone "
            f"https://github.com/sierra-research/tau-bench, and set {VARIABLE}"
        )
    with TemporaryDirectory() as folder:
        child = [sys.executable, "-B", str(Path(__file__).with_name("taubench_child.py"))]
        for domain in DOMAINS:
            told = [str(checkout), domain, str(Path(folder) / f"{domain}.json")]
            subprocess.run([*child, *told], check=True, stdin=subprocess.DEVNULL)
        for chat, ours in _scored(checkout, Path(folder)):
            domain, course = chat.task_id.split("/")[1], COURSES[chat.trial]
            theirs = chat.provenance["reward"]
            yield PeerFigure(f"reward, {domain}: {course}", chat.task_id, ours, theirs)
    if (checkout / _CHATS).is_file():
        for chat, ours in _scored(checkout, checkout / _CHATS):
            of = f"{chat.task_id}, trial {chat.trial}"
            yield PeerFigure("reward of GPT-4o's chats", of, ours, chat.provenance["reward"])


def _scored(checkout: Path, answers: Path) -> Iterator[tuple[Trajectory, float | None]]:
    """Yield each conversation of a file with our reward of it."""
    tools: dict[str, Tool] = {}
    tasks: dict[str, Task] = {}
    made = import_taubench(checkout, Notes(), answers=str(answers), allow_code=(PACKAGE,))
    for one in made:
        if isinstance(one, Recorded):
            chat = one.trajectory
            scores = Reward().score(tasks[chat.task_id], chat, tools)
            yield chat, next(score.value for score in scores if score.metric == REWARD)
        elif isinstance(one, Task):
            tasks[one.id] = one
        else:
            tools[one.id] = one


PEER = Peer("tau-bench, its evaluator", _held)

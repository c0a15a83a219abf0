"""The rewards of `seal.benchmarks.taubench` beside those of upstream's own evaluators.

Four courses of each task are played by both, and the rewards of recorded conversations are held.
`TAUBENCH_CHECKOUT` names a checkout of sierra-research/tau-bench, and `TAU2_CHECKOUT` one of
sierra-research/tau2-bench, whose code is run. That of tau2-bench needs the interpreter that
`SEAL_TAU2_PYTHON` names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from peers.comparison import Peer, PeerFigure
from peers.taubench_child import COURSES
from seal.benchmarks.taubench.conversations import recorded
from seal.benchmarks.taubench.importer import import_tau2, import_taubench
from seal.benchmarks.taubench.metrics import REWARD, Reward
from seal.benchmarks.taubench.world import TAU2, TAUBENCH, Shops, Upstream
from seal.core import Task, Tool, Trajectory, UsageError
from seal.pools.importer import Notes

_CHATS = "historical_trajectories/gpt-4o-airline.json"


def _checkout(variable: str, of: Upstream) -> Path:
    checkout = Path(os.environ.get(variable) or of.repository.partition("/")[2])
    if of.package_in([str(checkout), str(checkout / of.checkout)]) is None:
        raise UsageError(
            f"no checkout of {of.repository} at {checkout}: git clone "
            f"https://github.com/{of.repository}, and set {variable}"
        )
    return checkout


def _first() -> Iterator[PeerFigure]:
    checkout = _checkout("TAUBENCH_CHECKOUT", TAUBENCH)
    yield from _courses(TAUBENCH, checkout, checkout)
    if (checkout / _CHATS).is_file():
        for chat, ours in _scored(TAUBENCH, checkout, TAUBENCH.domains, checkout / _CHATS):
            of = f"{chat.task_id}, trial {chat.trial}"
            yield PeerFigure("reward of GPT-4o's chats", of, ours, chat.provenance["reward"])


def _second() -> Iterator[PeerFigure]:
    checkout = _checkout("TAU2_CHECKOUT", TAU2)
    folder = TAU2.package_in([str(checkout), str(checkout / TAU2.checkout)])
    assert folder is not None  # a checkout has it
    yield from _courses(TAU2, checkout, folder)


def _courses(of: Upstream, checkout: Path, given: Path) -> Iterator[PeerFigure]:
    """Yield the rewards of the courses; upstream's child is given a checkout or its package."""
    python = os.environ.get(of.variable) or sys.executable
    child = [python, "-B", str(Path(__file__).with_name(f"{of.name}_child.py"))]
    with TemporaryDirectory() as folder:
        for domain in of.domains:
            out = Path(folder) / f"{domain}.json"
            told = [str(given), domain, str(out)]
            subprocess.run([*child, *told], check=True, stdin=subprocess.DEVNULL)
            for chat, ours in _scored(of, checkout, (domain,), out):
                course, theirs = COURSES[chat.trial], chat.provenance["reward"]
                yield PeerFigure(f"reward, {domain}: {course}", chat.task_id, ours, theirs)


def _scored(
    of: Upstream, checkout: Path, domains: Sequence[str], answers: Path
) -> Iterator[tuple[Trajectory, float | None]]:
    """Yield each conversation of a file with our reward of it."""
    importer = import_tau2 if of is TAU2 else import_taubench
    names = ",".join(domains)
    made = [*importer(checkout, Notes(), domains=names, allow_code=(of.package,))]
    tools = {one.id: one for one in made if isinstance(one, Tool)}
    tasks = {one.id: one for one in made if isinstance(one, Task)}
    folder = of.package_in([str(checkout), str(checkout / of.checkout)])
    assert folder is not None  # the import found it
    for one in recorded(answers, tasks, Shops(of, folder, tools), Notes()):
        chat = one.trajectory
        scores = Reward().score(tasks[chat.task_id], chat, tools)
        yield chat, next(score.value for score in scores if score.metric == REWARD)


PEER = Peer("tau-bench, its evaluator", _first)
TAU2_PEER = Peer("tau2-bench, its evaluator", _second)

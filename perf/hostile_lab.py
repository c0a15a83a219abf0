"""Where `hostile.py` breaks commands: in this process, or in one of its own that can be killed."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from types import FrameType
from typing import NoReturn

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "benchmarks"))

from forked import Forked

from seal.cli.dispatch import main
from seal.pools.lookup import open_pool

LIMIT_S = 60.0
"""A command that takes longer hangs."""
CODES = range(4)
"""What a command may end with."""
_PLAYED = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
_CHATS = re.compile(rb'<script type="application/json" data-parts="\d+">(.*?)</script>', re.S)
_NUMBERS = re.compile(rb'(data-chat="[^"]*">)[\[\d,\]]*')
"""A chat in a report: places of its parts, which one further part, such as a time, moves."""
_PROGRAM = """
import os, runpy
exec(os.environ["PRELUDE"])
runpy.run_module("seal", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Tried:
    """One attempt to break something."""

    what: str
    broke: str = ""
    """`lost`, `unhandled` or `hung`, then what was seen; empty: it survived."""
    times: int = 1
    """Attempts that ended so."""


class Hung(BaseException):
    """The time is up."""


@contextlib.contextmanager
def in_time(seconds: float = LIMIT_S) -> Iterator[None]:
    """Raise Hung where the block takes longer, even while it waits for a file."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise Hung

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def broken_by(work: Callable[[], str]) -> str:
    """Do something in this process; return how it broke, which `work` may tell too."""
    try:
        with in_time():
            return work()
    except Hung:
        return f"hung: over {LIMIT_S:g} s"
    except BaseException as error:  # what is looked for
        places = traceback.extract_tb(error.__traceback__)[-3:]
        way = " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in places)
        return f"unhandled: {type(error).__name__}: {str(error)[:200]} ({way})"


def here(words: Sequence[object]) -> str:
    """Run a command in this process; return how it broke."""

    def command() -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            try:
                code = main([str(word) for word in words])
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
        return judged(code, said.getvalue())

    return broken_by(command)


def judged(code: int | None, said: str, codes: Sequence[int] = CODES) -> str:
    """Return how a command broke, by its exit code and its messages."""
    wordless = code in (2, 3) and not said.strip()
    if code not in codes or wordless or "Traceback" in said or "seal: unexpected" in said:
        return f"unhandled: exit code {code}: {said.strip()[-300:]}"
    return ""


def digests(folder: Path) -> dict[str, str]:
    """Return each file of a folder with the digest of its bytes; the store's come and go."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    files = [path for path in found if path.parent.name != "cache"]
    timeless = ((path.relative_to(folder), _timeless(path.read_bytes())) for path in files)
    return {str(path): sha256(content).hexdigest() for path, content in timeless}


def _timeless(content: bytes) -> bytes:
    """Return a file without the time of a report, and of the chats in it the words alone.

    A chat says how long it took; chats share parts that are equal, and name them by number.
    """
    words = set(re.findall(rb"[^\W\d]+", b" ".join(_CHATS.findall(content))))
    return b" ".join(
        (_PLAYED.sub(b"", _NUMBERS.sub(rb"\1", _CHATS.sub(b"", content))), *sorted(words))
    )


@dataclass
class Lab:
    """A folder with things to break, and a seed.

    Args:
        folder: Empty; of one process.
        seed: Of all that is drawn.
    """

    folder: Path
    seed: int
    calm: dict[str, tuple[float, dict[str, str | None]]] = field(default_factory=dict)
    """Commands that were not disturbed: seconds, and files; None: whose bytes differ each time."""

    def __post_init__(self) -> None:
        self.folder.chmod(0o755)
        (self.folder / "program.py").write_text(_PROGRAM)
        self.work = self.folder / "work"
        self.task = next(iter(open_pool("sample").every_task())).id

    def chance(self, attack: str, part: int) -> Random:
        """Return what a part of an attack draws by."""
        return Random(f"{self.seed} {attack} {part}")

    def clear(self) -> Path:
        """Empty the folder in which commands write, and return it."""
        if self.work.exists():
            self.work.chmod(0o755)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        return self.work

    def words(self, command: str) -> list[str]:
        """Return a command's words, its places filled in."""
        here = self.work / "run"
        places = {
            "OUT": self.work / "out",
            "RUN": here if here.is_dir() else self.folder / "base",
            "OTHER": self.folder / "other",
            "POOL": self.work / "pool",
            "SOURCE": self.folder / "source",
            "TASK": self.task,
        }
        split = (word.partition(".") for word in command.split())
        return [f"{places.get(name, name)}{dot}{ending}" for name, dot, ending in split]

    def environment(self, **changes: str | None) -> dict[str, str]:
        """Return the variables of commands; None takes one out."""
        ours: Mapping[str, str | None] = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "SEAL_CACHE_DIR": str(self.work / "cache"),
            "OPENAI_API_KEY": "none",
            "COLUMNS": "100",
            **changes,
        }
        return {name: value for name, value in ours.items() if value is not None}

    def spawn(
        self,
        words: Sequence[object],
        prelude: str = "",
        stdout: str = "",
        **changes: str | None,
    ) -> Forked:
        """Start a command in a process of its own.

        Args:
            words: Its arguments.
            prelude: Python that runs before.
            stdout: File that it prints to.
            changes: Of its variables.
        """
        env = self.environment(PRELUDE=prelude, **changes)
        program = self.folder / "program.py"
        return Forked([program, *words], cwd=self.folder, env=env, stdout=stdout)

    def ran(self, words: Sequence[object], prelude: str = "", **options: str | None) -> str:
        """Run a command in a process of its own; return how it broke."""
        return ended(self.spawn(words, prelude, **options))  # type: ignore[arg-type]

    def undisturbed(
        self, name: str, commands: Sequence[Sequence[str]]
    ) -> tuple[float, dict[str, str | None]]:
        """Return how long the first of some commands takes, and what files all leave in `work`."""
        if name not in self.calm:
            (_, first), (seconds, second) = self._left(commands), self._left(commands)
            same = {path: one if second.get(path) == one else None for path, one in first.items()}
            self.calm[name] = (seconds, same)
        return self.calm[name]

    def _left(self, commands: Sequence[Sequence[str]]) -> tuple[float, dict[str, str]]:
        self.clear()
        seconds = []
        for words in commands:
            began = time.monotonic()
            if broke := ended(self.spawn(words), codes=(0,)):
                raise SystemExit(f"seal {' '.join(words)} fails undisturbed: {broke}")
            seconds.append(time.monotonic() - began)
        return seconds[0], digests(self.work)

    def missing(self, name: str) -> str:
        """Return what `work` lacks, or has otherwise, than after a calm run of `name`."""
        _, wanted = self.calm[name]
        have = digests(self.work)
        if have.keys() != wanted.keys():
            return f"lost: other files: {sorted(have.keys() ^ wanted.keys())[:5]}"
        other = [path for path, digest in wanted.items() if digest not in (None, have[path])]
        return f"lost: other bytes: {other[:5]}" if other else ""


def ended(process: Forked, codes: Sequence[int] = CODES) -> str:
    """Wait for a command's end; return how it broke."""
    try:
        _, said = process.communicate(LIMIT_S)
    except AssertionError:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return f"hung: over {LIMIT_S:g} s"
    return judged(process.returncode, said, codes)

"""Tries to break SEAL in every way that is known, by seed, and counts what survived.

    python perf/hostile.py [--short] [--seed N] [--only ATTACK]... [--minutes M]

A command survives that ends with one of its exit codes, no traceback and, where it fails, words
that say why. One that was killed survives where the same command goes on and leaves the files of
one that was not: `lost` are those that do not. `scored` are faults of a server that were taken for
a model's answer, or kept. Each core breaks a share of all; the seconds of
the table are those of all cores. A full run writes results/hostile.md; `--minutes 30` begins
nothing later than that. The exit code is 1 where anything did not survive.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product, repeat
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from cache import WRITERS, measure_writers
from hostile_lab import Lab, Tried, broken_by, digests, ended, here
from hostile_plug_ins import ANSWERS, distributions, plug_ins
from hostile_servers import mcp_sessions, vectors, words_of_models
from hostile_texts import dialects, numbers, patterns, stores, texts
from mutants import SOURCES, apigen, mutant, outcome
from raw_servers import RawServer
from server_faults import FAULTS, by_fault, one_chat
from small_pools import weather_task, write_pool

from seal.pools.lookup import open_pool

PAGE = Path(__file__).resolve().parents[1] / "results" / "hostile.md"
KINDS = ("lost", "unhandled", "hung", "scored")
RUN = "run sample --model lexical --limit 6 --out OUT"
SWEEP = "sweep sample --model lexical --limit 3 --pool-sizes 20,all --no-baselines --out OUT"
WRITER = "query_writer:QueryWriter"
"""A model of the tests that writes queries by rule."""
VERBS = {
    "run": f"{RUN} --resume",
    "run, 2 processes": f"{RUN} --processes 2 --resume",
    "sweep": f"{SWEEP} --samples 1 --resume",
    "ablate": "ablate feedback sample --model lexical --limit 3 --out OUT --resume",
    "retrieve": "retrieve sample --retriever bm25 --retriever tfidf --out OUT --resume",
    "import": "import apigen SOURCE --out OUT",
    "new": "new shop --template --out OUT",
    "augment": "augment sample --augment distraction=2,names --out OUT",
    "generate queries": f"generate queries --tools sample --model {WRITER} --limit 3 --out OUT",
    "annotate export": "annotate export RUN --out OUT.csv",
    "compare": "compare RUN OTHER --out OUT",
    "explain": "explain RUN --out OUT",
    "report": "report RUN OTHER --out OUT.html",
    "export": "export RUN --to hf --out OUT",
    "paper": "paper seal RUN --out OUT.html",
}
"""What writes; the same commands go on after a kill. A semicolon stands between two."""
BASE = "run sample --limit 2 --retriever tfidf"
READING = ("view RUN", "explain RUN", "compare RUN OTHER --resamples 20", "trust RUN", "lint POOL")
WRITING = ("score RUN", "report RUN", "export RUN --to hf --out OUT")
OF_RUNS = (*READING[:4], *WRITING, f"{BASE} --model lexical --out RUN --resume")
PLAYED = "run POOL --limit 1 --retriever tfidf --out OUT --model"
OF_POOLS = (
    *("lint POOL", "trust POOL", "pools stats POOL", "retrieve POOL --retriever bm25 --limit 2"),
    *(f"{PLAYED} lexical --no-baselines", f"{PLAYED} oracle"),
    *("augment POOL --augment names --out OUT", "export POOL --to openai --out OUT"),
)
POOLS = ("sample", "mmtb-sample", "toolsandbox-sample", "dialogtool-sample")
TASKS = 12
"""Of a pool that is spoilt: spread over all that it has."""


def prepared(lab: Lab) -> None:
    """Write what is broken: a source, two runs, pools."""
    apigen(lab.folder / "source")
    lab.clear()
    for name, model in (("base", "lexical"), ("other", "oracle")):
        broke = here([*BASE.split(), "--model", model, "--out", lab.folder / name])
        assert not broke, broke
    for name in POOLS:
        copy = lab.folder / "pools" / name
        copy.mkdir(parents=True)
        shipped = open_pool(name).folder
        told = json.loads((shipped / "import.json").read_text())
        (copy / "import.json").write_text(json.dumps({**told, "tasks": TASKS}))
        shutil.copy(shipped / "tools.jsonl", copy)
        lines = (shipped / "tasks.jsonl").read_bytes().splitlines(keepends=True)
        kept = (lines[number * len(lines) // TASKS] for number in range(TASKS))
        (copy / "tasks.jsonl").write_bytes(b"".join(kept))


def commands_of(lab: Lab, name: str) -> list[list[str]]:
    """Return the words of a verb's commands, once nothing is left of earlier attacks."""
    lab.clear()
    return [lab.words(command) for command in VERBS[name].split(";")]


def kills(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Kill commands that write at any moment, and let the same command go on."""
    names = chance.sample(list(VERBS), len(VERBS))
    for number in range(count):
        name, sign = names[number % len(names)], chance.choice((signal.SIGKILL, signal.SIGTERM))
        commands = commands_of(lab, name)
        taken, _ = lab.undisturbed(name, commands)
        lab.clear()
        share = chance.uniform(0, 1.1)
        process = lab.spawn(commands[0])
        time.sleep(share * taken)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        codes = (-signal.SIGKILL, 128 + signal.SIGTERM, *range(4), -signal.SIGTERM)
        broke = ended(process, codes)
        for words in commands:
            broke = broke or lab.ran(words)
        yield Tried(f"{name}, {sign.name} after {share:.0%}", broke or lab.missing(name))


def server_faults(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let a model's server do each thing wrong: its chat ends as it should."""
    pool = write_pool(lab.folder / "small", [weather_task("Rome")])
    for name in chance.sample(list(FAULTS), min(count, len(FAULTS))):
        fault, expected = FAULTS[name]

        def played(fault: Any = fault, expected: str = expected) -> str:
            with RawServer(by_fault(fault)) as server:
                run = one_chat(pool, lab.clear() / "run", server.url)
            ((stop,),) = [trajectory.stops for trajectory in run.folder.trajectories()]
            return "" if stop.reason == expected else f"lost: {stop.reason}, not {expected}"

        yield Tried(name, broken_by(played))


def spoilt(folder: Path, chance: Random) -> str:
    """Make one file of a folder a mutant of itself, or remove it; return its name."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".json", ".jsonl")]
    file = chance.choice(files)
    if chance.random() < 0.03:
        file.unlink()
    else:
        file.write_bytes(mutant(file.read_bytes(), chance))
    return str(file.relative_to(folder))


def run_mutants(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Spoil a file of a run folder; what only reads it leaves it as it is."""
    for number in range(count):
        seed = chance.getrandbits(32)
        run = shutil.copytree(lab.folder / "base", lab.clear() / "run")
        name, command = spoilt(run, Random(seed)), chance.choice(OF_RUNS)
        before = digests(run)
        broke = here(lab.words(command))
        if command in READING and digests(run) != before:
            broke = broke or "lost: a command that reads changed the run"
        yield Tried(f"{command}: {name}, mutant {number}", broke)


def pool_mutants(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Spoil a file of a pool."""
    for number in range(count):
        seed, of = chance.getrandbits(32), chance.choice(POOLS)
        pool = shutil.copytree(lab.folder / "pools" / of, lab.clear() / "pool")
        name, command = spoilt(pool, Random(seed)), chance.choice(OF_POOLS)
        broke = here(lab.words(command))
        yield Tried(f"{command}: {of}/{name}, mutant {number}", broke)


def source_mutants(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Spoil a file of what an importer reads."""
    written = {}
    sources = lab.clear() / "sources"
    for case, (_, write) in SOURCES.items():
        (sources / case).mkdir(parents=True)
        written[case] = write(sources / case)
    for number in range(count):
        case = chance.choice(list(SOURCES))
        file = chance.choice(sorted(path for path in written[case].rglob("*") if path.is_file()))
        content = file.read_bytes()
        file.write_bytes(mutant(content, chance))
        told = partial(outcome, SOURCES[case][0], written[case], lab.work / "imported")
        fault = broken_by(told)
        file.write_bytes(content)
        whole = not fault or fault.startswith(KINDS)
        yield Tried(f"{case}: {file.name}, mutant {number}", fault if whole else f"lost: {fault}")


def full_disk(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let no file grow beyond a size; with space the same command goes on."""
    for number, name in enumerate(chance.choices(list(VERBS), k=count)):
        commands = commands_of(lab, name)
        lab.undisturbed(name, commands)
        lab.clear()
        most = chance.choice((3_000, 10_000, 40_000, 150_000))
        prelude = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))"
        broke = lab.ran(commands[0], prelude, stdout=os.devnull)
        for words in commands:
            broke = broke or lab.ran(words)
        yield Tried(f"{name}, {most} bytes, {number}", broke or lab.missing(name))


BOUND = """
import ctypes
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
"""
"""Takes from root the right to write everywhere."""
NAMELESS = f"""{BOUND}
import pwd
def getpwuid(number):
    raise KeyError(number)
pwd.getpwuid = getpwuid
"""
"""The system does not know the user, as in many containers."""


def read_only(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let a command write where it may not."""
    for name in chance.sample(list(VERBS), min(count, len(VERBS))):
        lab.clear()
        lab.work.chmod(0o555)
        broke = lab.ran(lab.words(VERBS[name].split(";")[0]), BOUND)
        yield Tried(name, broke or ("lost: it wrote" if any(lab.work.iterdir()) else ""))


def homes(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let commands look for a home, a cache and a temporary folder that are not there."""
    away = ("/nonexistent", "", "/dev/null", None)
    ways = [("HOME", "TMPDIR"), ("HOME", "XDG_CACHE_HOME"), ("HOME",)]
    cases = list(product(("run", "import", "report", "retrieve"), ways, away))
    for name, variables, value in islice(chance.sample(cases, len(cases)), count):
        lab.clear()
        changed = {**dict.fromkeys(variables, value), "SEAL_CACHE_DIR": None}
        broke = lab.ran(lab.words(VERBS[name]), NAMELESS, **changed)
        yield Tried(f"{name}, {changed}", broke)


def clock_jumps(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let the clock jump by years, to and fro: the bytes are those of a calm run."""
    for number in range(count):
        name = chance.choice(("run", "retrieve", "sweep", "generate queries"))
        commands = commands_of(lab, name)
        lab.undisturbed(name, commands)
        lab.clear()
        prelude = (
            f"import time, random; real, chance = time.time, random.Random({number})\n"
            "time.time = lambda: real() + chance.choice((0, -3e8, 3e9))"
        )
        broke = "".join(lab.ran(words, prelude) for words in commands)
        yield Tried(f"{name}, {number}", broke or lab.missing(name))


def store_writers(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let eight processes put answers into one store, round by round."""
    puts = min(count, 10_000)
    for number in range(count // puts):
        lost, _ = measure_writers(lab.clear() / "shared.sqlite", puts // WRITERS)
        if lost:
            yield Tried(f"puts of round {number}", "lost: not in the store", lost)
        yield Tried(f"puts of round {number}", times=puts - lost)


UNHEARD = {"prelude": "import os, sys; os.close(2); sys.stderr = None"}
"""Nobody is told what is wrong."""
TERMINALS: tuple[dict[str, str], ...] = (
    {"TERM": "dumb"},
    {"COLUMNS": "20"},
    {"COLUMNS": "0"},
    {"COLUMNS": "wide", "LINES": "-1"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "utf-16"},
    {"LC_ALL": "xx_YY.UTF-8", "TZ": "Nowhere/At/All"},
    {"FORCE_COLOR": "1", "TERM": "xterm-256color"},
    {"prelude": "import os; os.close(0)"},
    {"prelude": "import os, sys; os.close(1); sys.stdout = None"},
    UNHEARD,
    {"prelude": "import os; ends = os.pipe(); os.close(ends[0]); os.dup2(ends[1], 1)"},
    {"stdout": "/dev/full"},
)
SHOWING = ("run sample --limit 1", "view RUN", "compare RUN OTHER", "lint sample", "--help")
SHOWN = (*SHOWING, "benchmarks", "models", "run --help-all", "paper seal RUN", "nonsense")


def terminals(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Print to terminals that can do little, and to what is none."""
    cases = [case for case in product(TERMINALS, SHOWN) if case != (UNHEARD, "nonsense")]
    for terminal, command in islice(chance.sample(cases, len(cases)), count):
        lab.clear()
        yield Tried(f"{command}, {terminal}", lab.ran(lab.words(command), **terminal))


def placed(path: Path, how: str, elsewhere: Path) -> None:
    """Put something that is no file of ours in a place."""
    if how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to({"loop": path, "dangling": elsewhere / "none" / "x"}.get(how, how))


def symlinks(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Put links, loops, pipes and folders in the place of files, and of what is to be made."""
    ways = ("fifo", "folder", "loop", "dangling", "/dev/null", "/proc/self/mem")
    files = ["", *sorted(path.name for path in (lab.folder / "base").iterdir() if path.is_file())]
    cases = [(how, file, command) for how, file in product(ways, files) for command in OF_RUNS]
    cases += [(how, "", VERBS[name].split(";")[0]) for how in ways for name in VERBS]
    for how, file, command in islice(chance.sample(cases, len(cases)), count):
        work = lab.clear()
        if file:
            run = shutil.copytree(lab.folder / "base", work / "run")
            (run / file).unlink()
            placed(run / file, how, work)
        else:
            placed(work / f"out{Path(command).suffix}", how, work)
        yield Tried(f"{command}: {how} for {file or 'OUT'}", here(lab.words(command)))


Attack = Callable[[Lab, Random, int], Iterator[Tried]]
ATTACKS: Mapping[str, tuple[Attack, int, int, int]] = {
    "kills": (kills, 2, 25, 20),
    "faults of a server": (server_faults, 5, 1, len(FAULTS)),
    "words of models' servers": (words_of_models, 15, 20, 50),
    "sessions of MCP servers": (mcp_sessions, 4, 10, 20),
    "vectors of servers": (vectors, 10, 5, 20),
    "mutants of runs": (run_mutants, 40, 120, 250),
    "mutants of pools": (pool_mutants, 15, 40, 250),
    "mutants of sources": (source_mutants, 200, 60, 1_000),
    "full disk": (full_disk, 2, 5, 20),
    "read-only folder": (read_only, 3, 1, len(VERBS)),
    "no home": (homes, 3, 1, 48),
    "clock jumps": (clock_jumps, 1, 3, 10),
    "writers of one store": (store_writers, 800, 1, 100_000),
    "strange terminals": (terminals, 5, 1, len(TERMINALS) * len(SHOWN)),
    "links and pipes": (symlinks, 30, 1, 500),
    "plug-ins": (plug_ins, 20, 1, 4 * len(ANSWERS)),
    "distributions": (distributions, 3, 1, 200),
    "texts that are slow to read": (texts, 3, 10, 60),
    "patterns of strangers": (patterns, 20, 5, 400),
    "dialects of schemas": (dialects, 4, 10, 60),
    "extremes of numbers": (numbers, 10, 20, 100),
    "damaged stores": (stores, 5, 10, 100),
}
"""Title to the attack, how often a short run makes it, and a full run: parts, and of each part."""


@dataclass
class Row:
    """What became of the attempts of an attack."""

    tried: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)

    def add(self, other: Row) -> None:
        """Count another part of the attack."""
        self.tried.update(other.tried)
        self.seconds += other.seconds
        self.broken += other.broken


Part = tuple[str, int, int]
"""Title of an attack, number of the part, attempts."""


def attacked(folder: Path, seed: int, parts: Sequence[Part], end: float) -> dict[str, Row]:
    """Make some parts in a folder until a time is reached; return the rows by title."""
    folder.mkdir()
    lab = Lab(folder, seed)
    os.environ.update(lab.environment())
    prepared(lab)
    rows: dict[str, Row] = defaultdict(Row)
    for title, part, count in parts:
        if time.monotonic() > end:
            break
        rows[title].add(_row(lab, title, part, count, end))
        print(line(f"{title}, {part}", rows[title]), file=sys.stderr, flush=True)
    return dict(rows)


def _row(lab: Lab, title: str, part: int, count: int, end: float) -> Row:
    row, began = Row(), time.monotonic()
    for one in ATTACKS[title][0](lab, lab.chance(title, part), count):
        row.tried[one.broke.partition(":")[0]] += one.times
        if one.broke:
            row.broken.append(f"{title}, part {part}: {one.what}: {_placeless(one.broke)}")
            print(row.broken[-1], file=sys.stderr, flush=True)
        if time.monotonic() > end:
            break
    row.seconds = time.monotonic() - began
    return row


def main(argv: Sequence[str] | None = None) -> int:
    """Attack and print; the exit code is 1 where anything broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a few of each attack")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=ATTACKS, help="an attack; repeatable")
    parser.add_argument("--minutes", type=float, default=math.inf, help="at most")
    options = parser.parse_args(argv)
    shares: list[tuple[float, Part]] = []
    for title in options.only or ATTACKS:
        _, short, number, count = ATTACKS[title]
        number, count = (1, short) if options.short else (number, count)
        shares += [(part / number, (title, part, count)) for part in range(number)]
    parts = [part for _, part in sorted(shares)]  # so that all attacks get on alike
    lanes, end = os.cpu_count() or 1, time.monotonic() + 60 * options.minutes
    rows = {title: Row() for title in options.only or ATTACKS}
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder, str(lane)) for lane in range(lanes)]
        given = [parts[lane::lanes] for lane in range(lanes)]
        with ProcessPoolExecutor(lanes, get_context("spawn")) as processes:
            shared = (repeat(options.seed), given, repeat(end))
            for share in processes.map(attacked, folders, *shared):
                for title, row in share.items():
                    rows[title].add(row)
    until = f" --minutes {options.minutes:g}" if math.isfinite(options.minutes) else ""
    told = page(rows, f"--seed {options.seed}{until}")
    print(told)
    if not (options.short or options.only):
        PAGE.write_text(told)
    return int(any(row.broken for row in rows.values()))


def line(title: str, row: Row) -> str:
    """Return a row of the table in Markdown."""
    counts = (row.tried.total(), *(row.tried[kind] for kind in ("", *KINDS)), round(row.seconds))
    return f"| {title} | " + " | ".join(f"{count:,}" for count in counts) + " |"


def page(rows: Mapping[str, Row], how: str) -> str:
    """Return the page of a run."""
    head = ("attack", "tried", "survived", *KINDS, "seconds")
    total = Row()
    for row in rows.values():
        total.add(row)
    lines = [
        "# What was tried to break SEAL",
        f"\nWritten by `perf/hostile.py {how}`, which says what it is to survive.\n",
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(line(title, row) for title, row in rows.items()),
        line("all", total),
    ]
    if total.broken:
        lines += ["", "## What broke", "", *(f"- {broken}" for broken in total.broken)]
    return "\n".join(lines) + "\n"


def _placeless(said: str) -> str:
    """Return words without the folder of one machine, on one line."""
    return " ".join(re.sub(rf"{re.escape(tempfile.gettempdir())}/[^/\s\"]+", "LAB", said).split())


if __name__ == "__main__":
    sys.exit(main())

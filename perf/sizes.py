"""How large the code is, what a small run loads of it, and what that run takes to start.

    python perf/sizes.py [--short] [--tests] [--ci]

A line of code is one that is neither blank nor comment nor docstring; of JavaScript, style sheets
and templates, one that is not blank. The start is processor time of a whole process, the median of
several; `python -c pass` in the same run stands beside it. `--tests` runs the test command of
README.md and `--ci` runs .ci/run, which takes minutes each: wall time, on a quiet machine.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "seal"
PACKS = "benchmarks"
GOALS = {
    "seal/": 62_000,
    "modules in seal/": 350,
    "code lines of the longest module": 600,
    "ARCHITECTURE.md, bytes": 14_000,
    "loaded by `seal run sample`": 16_000,
    "most parameters of a verb": 8,
    "options of `seal run`": 60,
    "CPU of `seal run sample --limit 1`, s": 2.5,
    "README's test command, min": 5,
    "`.ci/run`, min": 25,
}
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENDMARKER, tokenize.ENCODING),
}
_RUN = "from seal.cli.dispatch import main; main(['run', 'sample', '--limit', '1', '--out', 'run'])"
_LOADED = f"""
import json, sys
{_RUN}
mine = [m.__file__ for n, m in sorted(sys.modules.items()) if n.split('.')[0] == 'seal']
open('loaded.json', 'w').write(json.dumps([file for file in mine if file]))
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print, beside the goals; missing one is no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few repetitions")
    parser.add_argument("--tests", action="store_true", help="time the test command of README.md")
    parser.add_argument("--ci", action="store_true", help="time .ci/run")
    asked = parser.parse_args(argv)
    repetitions = 3 if asked.short else 9
    lines = Counter({path: code_lines(path) for path in files()})
    parts: Counter[str] = Counter()
    for path, count in lines.items():
        parts["/".join(path.relative_to(ROOT).parts[: 2 if in_pack(path) else 1])] += count
    for part, count in sorted(parts.items()):
        print(f"{part:40}{count:>10,}")
    loaded, seconds, bare = small_run(repetitions)
    modules = {path: count for path, count in lines.items() if path.suffix == ".py"}
    figures = {
        "seal/": lines.total(),
        "modules in seal/": len(modules),
        "code lines of the longest module": max(modules.values()),
        "ARCHITECTURE.md, bytes": (ROOT.parent / "ARCHITECTURE.md").stat().st_size,
        "loaded by `seal run sample`": sum(lines[path] for path in loaded),
        "most parameters of a verb": most_parameters(),
        "options of `seal run`": options_of_a_run(),
        "CPU of `seal run sample --limit 1`, s": round(seconds, 2),
    }
    if asked.tests:
        figures["README's test command, min"] = minutes(sys.executable, "-m", "pytest", "-q")
    if asked.ci:
        figures["`.ci/run`, min"] = minutes(str(ROOT.parent / ".ci" / "run"))
    print(f"\n{'':40}{'today':>10}{'goal':>10}")
    for name, value in figures.items():
        print(f"{name:40}{value:>10,}{GOALS[name]:>10,}")
    print(f"{'CPU of `python -c pass`, s':40}{bare:>10.2f}")
    return 0


def files() -> list[Path]:
    """Return the files that hold code."""
    kinds = {".py", ".js", ".css", ".html"}
    found = (path for path in ROOT.rglob("*") if path.suffix in kinds)
    return sorted(path for path in found if "__pycache__" not in path.parts)


def in_pack(path: Path) -> bool:
    """Tell whether a file is a benchmark's."""
    parts = path.relative_to(ROOT).parts
    return parts[0] == PACKS and len(parts) > 2


def code_lines(path: Path) -> int:
    """Return the number of lines of code in a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return sum(bool(line.strip()) for line in text.splitlines())
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            held |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def most_parameters() -> int:
    """Return the number of parameters of the verb's function that has the most."""
    from typer.main import get_command

    from seal.cli.verbs import VERBS, load

    found = 0
    for name in VERBS:
        command = get_command(load(name))
        for one in (command, *getattr(command, "commands", {}).values()):
            asked = inspect.unwrap(one.callback) if one.callback else main
            found = max(found, len(inspect.signature(asked).parameters))
    return found


def options_of_a_run() -> int:
    """Return the number of options of `seal run --help-all`, but for those that print a help."""
    from typer.main import get_command

    from seal.cli.config import long_name
    from seal.cli.verbs import load

    return sum(long_name(one) is not None for one in get_command(load("run")).params)


def minutes(*words: str) -> float:
    """Return how long a command takes; what it prints goes to stderr, a failure is told."""
    begun = time.monotonic()
    code = subprocess.run(words, cwd=ROOT.parent, stdout=sys.stderr).returncode
    if code:
        print(f"{' '.join(words)} ended with {code}", file=sys.stderr)
    return round((time.monotonic() - begun) / 60, 1)


def small_run(repetitions: int) -> tuple[list[Path], float, float]:
    """Return the files that a small run loads, its processor seconds, and those of Python alone."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environment = {**os.environ, "SEAL_CACHE_DIR": str(place / "cache")}

        def seconds(code: str) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            words = [sys.executable, "-c", code]
            child = subprocess.run(
                words, cwd=place, env=environment, capture_output=True, text=True
            )
            if child.returncode:
                why = (child.stderr.strip().splitlines() or ["it said nothing"])[-1]
                sys.exit(f"{sys.executable} cannot play the sample ({why}); use one that has SEAL")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(["rm", "-rf", "run"], cwd=place, check=True)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        seconds(_LOADED)
        loaded = [Path(file) for file in json.loads((place / "loaded.json").read_text())]
        if elsewhere := [file for file in loaded if not file.is_relative_to(ROOT)]:
            sys.exit(
                f"{sys.executable} runs another SEAL ({elsewhere[0]}), not {ROOT}: install this "
                "one there with `pip install -e .`"
            )
        taken = [(seconds(_RUN), seconds("pass")) for _ in range(repetitions)]
    ours, bare = zip(*taken, strict=True)
    return loaded, statistics.median(ours), statistics.median(bare)


if __name__ == "__main__":
    sys.exit(main())

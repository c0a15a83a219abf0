"""Plants each fault that scores once let pass, as a user would meet it, and tells what holds.

    python perf/planted.py [--only LINE]... [--list] [--short] [--out results/planted.md]

Each line puts one fault into a small benchmark, or into a sample that ships, through public doors:
`seal.*`, files of CSV and JSON, commands in child processes. It holds if the fault is seen, and
what is right beside it stays right. The exit code is 1 if a line does not hold, or could not be
held because upstream's files are missing (SEAL_DATA names their folder). `--short` leaves out the
lines that need such files. All take about five minutes on one core.

A new line is a function under `@line` in a chapter (`planted_gold`, `planted_worlds`,
`planted_figures`, `planted_answers`, `planted_words`); its name is the line's.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

import planted_answers
import planted_figures
import planted_gold
import planted_words
import planted_worlds
from planted_lab import Lab, Line, NotHeldError, Seen

LINES: Mapping[str, Line] = {
    one.name: one
    for chapter in (planted_gold, planted_worlds, planted_figures, planted_answers, planted_words)
    for one in vars(chapter).values()
    if isinstance(one, Line)
}
"""Name to line, in the order of the page."""


def planted(one: Line) -> Seen:
    """Plant one fault, in a folder and with a cache of its own."""
    with tempfile.TemporaryDirectory() as folder:
        cache = {"SEAL_CACHE_DIR": str(Path(folder, "cache"))}
        try:
            with patch.dict(os.environ, cache):
                seen = one.plant(Lab(Path(folder)))
        except NotHeldError as error:
            seen = Seen(f"not held: {error}", False)
        except Exception as error:  # a door that is gone is a line that does not hold
            seen = Seen(f"broken: {type(error).__name__}: {error}", False)
    return Seen(" ".join(seen.now.replace(folder, "LAB").split()), seen.holds)


def row(name: str, one: Line, seen: Seen) -> str:
    """Return a row of the table in Markdown."""
    cells = (name, one.fault, one.before, one.required, seen.now, "yes" if seen.holds else "**no**")
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def page(lines: Mapping[str, Line], found: Mapping[str, Seen]) -> str:
    """Return the page of what was seen."""
    held = sum(seen.holds for seen in found.values())
    heads = ("line", "what is planted", "seen before", "required", "seen now", "holds")
    return "\n".join(
        [
            "# Faults that are planted, and what is scored now",
            "",
            f"Written by `perf/planted.py`, which says how. {held} of {len(found)} lines hold.",
            "",
            f"| {' | '.join(heads)} |",
            f"|{' --- |' * len(heads)}",
            *(row(name, lines[name], seen) for name, seen in found.items()),
            "",
        ]
    )


def main(argv: Sequence[str] | None = None, lines: Mapping[str, Line] = LINES) -> int:
    """Plant, and print or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=lines, help="a line; repeatable")
    parser.add_argument("--list", action="store_true", help="name the lines, and plant nothing")
    parser.add_argument("--short", action="store_true", help="lines without upstream's files")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    asked = parser.parse_args(argv)
    chosen = [name for name in lines if not (asked.short and lines[name].upstream)]
    if asked.list:
        print("\n".join(f"{name}: {lines[name].fault}" for name in chosen))
        return 0
    found: dict[str, Seen] = {}
    for name in asked.only or chosen:
        found[name] = planted(lines[name])
        held = "holds" if found[name].holds else "DOES NOT HOLD"
        print(f"{name}: {held}: {found[name].now}", file=sys.stderr, flush=True)
    if asked.out is None:
        print(page(lines, found), end="")
    else:
        asked.out.write_text(page(lines, found), "utf-8")
    return int(not all(seen.holds for seen in found.values()))


if __name__ == "__main__":
    sys.exit(main())

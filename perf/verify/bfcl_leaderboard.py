"""`--match bfcl` beside the leaderboard's own verdicts on 71 real models: 98,690 answers.

    python perf/verify/bfcl_leaderboard.py [--short] [--out results/bfcl_leaderboard.md]

SEAL_DATA names the folder that has `bfcl_runs`. The exit code is 1 if a difference is not explained
by a rule, or if the answers are not there; with `--short` the second is no failure.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from peers.bfcl_runs import PEER, recorded, refused_but_right, runs
from peers.comparison import compare, page

from seal.core import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, and print or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the answers may be missing")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    asked = parser.parse_args(argv)
    began = time.process_time()
    try:
        answers = runs()
    except UsageError as error:
        print(f"not held: {error}", file=sys.stderr)
        return int(not asked.short)
    found = compare("the leaderboard", replace(PEER, held=lambda: recorded(answers)))
    right, refused, kinds = refused_but_right(answers)
    text = page([found], {}, Path(__file__).name) + "\n".join(
        [
            "",
            "## Right by the leaderboard, refused by SEAL's validation",
            "",
            f"Of {right:,} answers in Python that the leaderboard counts right, {refused:,} hold "
            "a call that the function's own document refuses. Under `--match bfcl` the rules of "
            "the leaderboard decide alone, so that they are right there too.",
            "",
            "| first fault | answers |",
            "| --- | --- |",
            *(f"| {kind} | {count:,} |" for kind, count in kinds.most_common()),
            "",
        ]
    )
    if asked.out is None:
        print(text, end="")
    else:
        asked.out.write_text(text, "utf-8")
    print(f"{time.process_time() - began:.0f} s of CPU", file=sys.stderr)
    return int(not found.explained)


if __name__ == "__main__":
    sys.exit(main())

"""CPU of finding tools that are nearly the same, as a share of comparing every two of them.

    python perf/lint.py [--short]

The tools are synthetic and none is like another: 3 to 40 words of a vocabulary of 3,000. The
reference is `rapidfuzz.process.cdist` of documents of the same kind with the same threshold on one
thread, per pair. Budget: 60 s of CPU for 16,000 tools, about as many as ToolBench has.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence

from rapidfuzz import fuzz, process
from timing import seconds_of

from seal.core import Tool
from seal.pools.lint import COMPARED, THRESHOLD, near_duplicates, plain
from seal.retrievers.base import documents, shortened_document

BUDGET_S = 60.0
COMPARED_TOOLS = 2_000
"""Tools of the reference; all of them would take minutes."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="2,000 tools instead of 16,000")
    count = COMPARED_TOOLS if parser.parse_args(argv).short else 16_000
    tools = make_tools(count)
    reference = seconds_of(lambda: compare_all(tools[:COMPARED_TOOLS])) / COMPARED_TOOLS**2
    ours = seconds_of(lambda: list(near_duplicates(tools)))
    per_pair = 2 * ours / count**2
    print(f"{'':22}{'ns per pair':>12}{'ratio':>8}")
    for name, taken in {"every two compared": reference, "near_duplicates": per_pair}.items():
        print(f"{name:22}{taken * 1e9:12.1f}{taken / reference:8.3f}")
    print(f"{count} tools in {ours:.1f} s of CPU; budget for 16000: {BUDGET_S:.0f} s")
    return 0


def make_tools(count: int) -> list[Tool]:
    """Return so many tools, the same ones each time."""
    drawn = random.Random(0)
    vocabulary = ["".join(drawn.choices("abcdefghijklmno", k=6)) for _ in range(3000)]
    return [
        Tool(f"b/t{n}/a{n}", "x", " ".join(drawn.choices(vocabulary, k=drawn.randint(3, 40))))
        for n in range(count)
    ]


def compare_all(tools: Sequence[Tool]) -> None:
    """Compare every two documents in both orders, as the reference counts them."""
    texts = [shortened_document(plain(text), COMPARED) for text in documents(tools)]
    process.cdist(texts, list(texts), scorer=fuzz.ratio, score_cutoff=THRESHOLD, workers=1)


if __name__ == "__main__":
    sys.exit(main())

"""Our figures beside those of others, who is right where they differ, and what could not be held.

    python perf/verify/verify.py [PEER...] [--short] [--out results/verify.md]

A peer is other people's code, such as trec_eval, or scores that it recorded. Without a name all
peers are held; with `--short` those that pip installs beside SEAL and that take seconds. The exit
code is 1 if a difference is not explained, or if a peer that was asked for could not be held: it is
not installed, or its records are missing (SEAL_DATA names the folder of upstream's files).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from peers import bfcl, bfcl_runs, dialogtool, engine, taubench, toolsandbox
from peers.comparison import Peer, Verified, compare, page

from seal.core import SealError, UsageError, check_name

PEERS: Mapping[str, Peer] = {
    "bfcl": bfcl.PEER,
    "bfcl_runs": bfcl_runs.PEER,
    "rouge": engine.ROUGE,
    "sacrebleu": dialogtool.SACREBLEU,
    "scipy": engine.SCIPY,
    "tau2": engine.TAU2,
    "tau2bench": taubench.TAU2_PEER,
    "taubench": taubench.PEER,
    "toolsandbox": toolsandbox.PEER,
    "trec_eval": engine.TREC_EVAL,
}
SHORT = ("rouge", "sacrebleu", "scipy", "trec_eval")


def main(
    argv: Sequence[str] | None = None,
    peers: Mapping[str, Peer] = PEERS,
    short: Sequence[str] = SHORT,
) -> int:
    """Compare with peers and print, or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="PEER", help=", ".join(peers))
    parser.add_argument("--short", action="store_true", help=f"{', '.join(short)}: for CI")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    asked = parser.parse_args(argv)
    found: list[Verified] = []
    absent: dict[str, str] = {}
    for name in asked.names or (short if asked.short else peers):
        try:
            check_name("peer", name, peers)
        except SealError as error:
            parser.error(str(error))
        print(f"held against {name}", file=sys.stderr)
        try:
            found.append(compare(name, peers[name]))
        except UsageError as error:
            absent[name] = str(error)
    if asked.out is None:
        print(page(found, absent), end="")
    else:
        asked.out.write_text(page(found, absent), "utf-8")
    for name, why in absent.items():
        print(f"not held: {name}: {why}", file=sys.stderr)
    return int(bool(absent) or not all(one.explained for one in found))


if __name__ == "__main__":
    sys.exit(main())

"""Compare our figures with those of code and records that others made."""

from dataclasses import asdict
from pathlib import Path

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output, progress
from seal.core import UsageError


@verb()
def command(
    names: list[str] | None = argument(
        "Peers to compare with.  [default: all that are here]", None, metavar="[PEER]..."
    ),
    out: Path | None = option(None, "Markdown page to write as well.", metavar="FILE"),
    json: bool = JSON,
) -> int:
    """Compute what peers compute, and tell where the two differ and who is right.

    A peer is other people's code, such as trec_eval, or scores that it recorded. The exit code is 1
    if a difference is not explained.
    """
    from seal.experiments.verification import peers, tables, verify, write_page
    from seal.report.grids import Grid

    found, absent = [], {}
    with output(json) as result:
        with progress() as advance:
            wanted = names or sorted(peers())
            for done, name in enumerate(wanted):
                advance(f"hold against {name}", done, len(wanted))
                try:
                    found.append(verify(name))
                except UsageError as error:
                    if names:
                        raise
                    absent[name] = str(error)
        result.result({"peers": list(map(asdict, found)), "absent": absent})
        result.show(*(Grid(*table, names=5 if table[0] else 2) for table in tables(found)))
        result.show(*(f"not held: {name}: {why}" for name, why in absent.items()))
        if out is not None:
            write_page(found, absent, out)
            result.show(f"written to {out}")
    return int(not all(one.explained for one in found))

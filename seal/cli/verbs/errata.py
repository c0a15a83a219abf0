"""Correct a pool's gold in a pool beside it, and draft corrections."""

from pathlib import Path

from seal.cli.groups import argument, flag, option, verb
from seal.cli.options import JSON, POOL
from seal.cli.output import output
from seal.cli.words import new_file


@verb("errata", name="apply")
def errata_apply(
    pool: str = POOL,
    file: str = argument(
        "File of corrections, or name of a benchmark that ships some.", metavar="FILE|NAME"
    ),
    out: Path = option(..., "Folder to write; `seal run` takes it."),
    partial: bool = flag("Skip corrections of tasks that the pool does not have."),
    json: bool = JSON,
) -> int:
    """Write a pool with corrected gold; the pool itself stays as it is."""
    from seal.pools.errata import apply_errata, read_errata
    from seal.pools.lookup import open_pool

    with output(json) as result:
        report = apply_errata(open_pool(pool), read_errata(file), out, partial).to_json()
        told = {name: report[name] for name in ("benchmark", "tasks", "tools", "errata")}
        result.fields(told, f"written to {out}; play it: seal run {out}")
    return 0


@verb("errata", name="draft")
def errata_draft(
    pool: str = POOL,
    tasks: list[str] = argument("Ids of the tasks.", metavar="TASK..."),
    out: Path = option(..., "New file to write.", metavar="FILE", read=new_file),
    json: bool = JSON,
) -> int:
    """Write a file of corrections to fill in, with the gold as it is."""
    from seal.core.plain import INDENTED, json_bytes
    from seal.core.records import AtomicFile
    from seal.pools.errata import draft as drafted
    from seal.pools.lookup import open_pool

    with output(json) as result:
        content = drafted(open_pool(pool), tasks)
        with AtomicFile(out) as written:
            written.write(json_bytes(content, INDENTED))
        count = len(content["corrections"])
        result.fields(
            {"file": str(out), "corrections": count},
            f"correct the gold, leave out what is right, give reasons and sources; then: "
            f"seal errata apply {pool} {out} --out OVERLAY",
        )
    return 0

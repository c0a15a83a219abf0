"""Write a copy of a benchmark with distraction tools, or with scrambled ones."""

from pathlib import Path

from seal.cli.groups import option, verb
from seal.cli.options import JSON, POOL
from seal.cli.output import output


@verb("augment")
def augment_command(
    pool: str = POOL,
    augment: list[str] = option(
        ...,
        "How to change the tools: distraction=N, distraction=all, names, descriptions, "
        "argument-descriptions, argument-types, or several joined by commas. Repeated, it "
        "gives every task once for each. Or several by a name that a benchmark declares.",
        metavar="WHAT[,WHAT...]",
    ),
    out: Path = option(..., "Folder to write; `seal run` takes it."),
    json: bool = JSON,
) -> int:
    """Write a copy of a benchmark whose tasks have distraction tools, or scrambled ones."""
    from seal.pools.augmentation import augment_stored, parse_augmentations
    from seal.pools.lookup import open_pool

    with output(json) as result:
        report = augment_stored(open_pool(pool), out, parse_augmentations(augment)).to_json()
        result.fields(report, f"written to {out}; play it: seal run {out}")
    return 0

"""Write a pool or a run for OpenAI, mteb, TREC, Hugging Face, inspect_ai and others."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output
from seal.cli.words import choice
from seal.experiments.export import TRIPLETS, forms


@verb("export")
def export_command(
    what: str = argument(
        "Name of a shipped benchmark, folder of an imported one or of a run, or your own as "
        "module:name.",
        metavar="NAME|DIR",
    ),
    to: str = option(..., "Format to write.", words=choice(forms())),
    out: Path = option(..., "Folder to write."),
    licence: str = option(
        "", "Licence of the data, for the card.  [default: that of the catalogue]"
    ),
    negatives: int | None = option(
        None, "Number of hard negatives in a line of triplets.  [default: 1]", metavar="N"
    ),
    negatives_by: str | None = option(
        None,
        "Retriever that finds the hard negatives of triplets.  [default: tfidf]",
        metavar="NAME[,KEY=VALUE...]",
    ),
    seed: int | None = option(
        None,
        "Seed of the negatives of triplets that are drawn by chance.  [default: 0]",
        metavar="N",
    ),
    json: bool = JSON,
) -> int:
    """Write a pool or a run in another format, with a card of its source and licence."""
    from seal.api.pools import export

    # A seed of seal.toml is meant for the verbs and forms that draw.
    drawn_by = seed if to == TRIPLETS else None
    mined_by: dict[str, Any] = {"negatives": negatives, "negatives_by": negatives_by}
    with output(json) as result:
        result.fields(asdict(export(what, to, out, licence=licence, seed=drawn_by, **mined_by)))
    return 0

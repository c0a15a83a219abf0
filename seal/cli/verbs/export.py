"""Write a pool or a run for OpenAI, BEIR, mteb, TREC, Hugging Face, BFCL or inspect_ai."""

from dataclasses import asdict
from pathlib import Path
from typing import Literal

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output


@verb()
def command(
    what: str = argument(
        "Name of a shipped benchmark, or folder of an imported one or of a run.", metavar="NAME|DIR"
    ),
    to: Literal["openai", "beir", "mteb", "trec", "hf", "bfcl", "inspect"] = option(
        ..., "Format to write."
    ),
    out: Path = option(..., "Folder to write."),
    licence: str = option(
        "", "Licence of the data, for the card.  [default: that of the catalogue]"
    ),
    json: bool = JSON,
) -> int:
    """Write a pool or a run in another format, with a card of its source and licence."""
    from seal.api.pools import export

    with output(json) as result:
        result.fields(asdict(export(what, to, out, licence=licence)))
    return 0

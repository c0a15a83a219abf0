"""Write a pool or a run as OpenAI, BEIR, mteb, TREC, Hugging Face, BFCL or inspect_ai has it."""

from dataclasses import asdict
from pathlib import Path
from typing import Literal

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON, new_app
from seal.cli.output import output

app = new_app()


@verb(app)
def command(
    what: str = argument("A shipped or imported benchmark, or a run's folder.", metavar="NAME|DIR"),
    to: Literal["openai", "beir", "mteb", "trec", "hf", "bfcl", "inspect"] = option(
        ..., "Form that is written."
    ),
    out: Path = option(..., "Folder to make."),
    licence: str = option("", "Of the data, for the card.  [default: as the catalogue knows it]"),
    json: bool = JSON,
) -> int:
    """Write a pool or a run in the form that others read, with a card of its source and licence."""
    from seal.api.pools import export

    with output(json) as result:
        result.fields(asdict(export(what, to, out, licence=licence)))
    return 0

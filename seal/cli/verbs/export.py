"""Write a pool or a run for OpenAI, mteb, TREC, Hugging Face, inspect_ai and others."""

from dataclasses import asdict
from pathlib import Path

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output
from seal.cli.words import choice
from seal.experiments.export import forms


@verb()
def command(
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
    json: bool = JSON,
) -> int:
    """Write a pool or a run in another format, with a card of its source and licence."""
    from seal.api.pools import export

    with output(json) as result:
        result.fields(asdict(export(what, to, out, licence=licence)))
    return 0

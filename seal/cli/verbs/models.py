"""List the models that can play a role."""

from seal.cli.options import Json, new_app
from seal.cli.output import output

app = new_app()

_MEANING = {
    "openai": "openai/MODEL: OpenAI, or with --base-url any server that speaks its protocol",
    "gemini": "gemini/MODEL: Google; needs the extra gemini",
    "lexical": "no model: matches words, fills arguments from the text; the floor",
    "oracle": "plays the reference or the gold calls; the ceiling",
    "random": "calls offered tools at random",
    "scripted": "scripted:FILE: replies from a file",
    "recorded": "recorded:NAME: a run that was imported with the benchmark",
    "replay": "replay:RUN: the trajectories of a run folder",
    "human": "a person in the terminal",
}


@app.command()
def command(json: Json = False) -> int:
    """List the models that can play a role: providers and offline ones."""
    from seal.models import REGISTRY

    with output(json) as result:
        meaning = {name: _MEANING.get(name, "a plug-in") for name in REGISTRY.names()}
        result.result({"models": meaning})
        result.show(*(f"{name:10}{text}" for name, text in meaning.items()))
    return 0

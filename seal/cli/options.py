"""KEY=VALUE options, and the flags that several verbs share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from seal.core.errors import UsageError
from seal.core.secrets import refuse_secret

if TYPE_CHECKING:
    from seal.api.settings import DrawingOptions
    from seal.experiments.pool_draws import Distractors

Agent = Annotated[str | None, typer.Option(help="Agent: name or module:attribute.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="Server of the model and of roles that follow it; a role with a model of its own "
        "has its own: MODEL,base_url=URL."
    ),
]
CacheMode = Literal["record", "replay", "off"]
CacheDir = Annotated[
    Path | None,
    typer.Option(help="Folder of the answer store.  [default: SEAL_CACHE_DIR or the user's]"),
]
Judge = Annotated[
    str,
    typer.Option(
        help="rule, llm, or auto: llm where a judge's model is named; or published judges by "
        "commas: pass_paper, tooleval, sopr, fac. Milestones of a world go before pass_paper."
    ),
]
Votes = Annotated[
    int | None,
    typer.Option(help="Votes of each judge's model on each goal.  [default: as published]"),
]
ModelOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--model-option",
        "-M",
        metavar="KEY=VALUE",
        help="Of the model and of roles that follow it; of another, MODEL,KEY=VALUE.",
    ),
]
RetrieverOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--retriever-option",
        "-R",
        metavar="KEY=VALUE",
        help="Of each retriever that knows it; may be repeated.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", metavar="NAME", help="A further metric: name or module:attribute; repeatable."
    ),
]
AllowCode = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-code",
        metavar="MODULE",
        help="A module that data (a pool, a run, a scenario) may name code of; repeatable.",
    ),
]
Simulator = Annotated[
    str,
    typer.Option(
        help="template, llm, recorded, stabletoolbench (answers that `seal cache import` read) or "
        "module:attribute; several joined by + are asked in turn: stabletoolbench+template."
    ),
]
Cutoffs = Annotated[str, typer.Option("--cutoffs", "-k", help="K of recall@K and its like.")]
Select = Annotated[
    list[str] | None,
    typer.Option(metavar="TAG=VALUE", help="Only tasks with this tag; may be repeated."),
]
Seed = Annotated[int, typer.Option(help="Of everything drawn.")]
Pool = Annotated[str, typer.Argument(metavar="NAME|DIR", help="Shipped or imported benchmark.")]
NewFolder = Annotated[
    Path, typer.Option(help="Folder to make; one begun by the same command is gone on with.")
]
PoolName = Annotated[str, typer.Option(help="Of the pool.  [default: its folder's]")]
Writer = Annotated[
    str | None, typer.Option(help="PROVIDER/MODEL that writes.  [default: a grammar]")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Pools and sweeps: which pools are drawn, and what they are asked."""

    samples: Annotated[int, typer.Option(help="Pools drawn of each size.")] = 10
    distractors: Annotated[
        Literal["uniform", "same-tool", "nearest"],
        typer.Option(help="What fills a drawn pool up."),
    ] = "uniform"
    queries_in: Annotated[
        Literal["closure", "seeds", "fixed"],
        typer.Option(
            help="Asked of a drawn pool: all it can answer, what it was drawn for, or the same at "
            "every size."
        ),
    ] = "closure"
    nested: Annotated[
        bool, typer.Option(help="Of one sample, smaller pools lie inside larger ones.")
    ] = True
    queries: Annotated[
        int | None,
        typer.Option(help="Draw so many queries of each pool, so that pools count alike."),
    ] = None

    def drawing(self) -> DrawingOptions:
        """Return what `seal.retrieve` and `seal.sweep` are told of it."""
        filler = cast("Distractors", self.distractors.replace("-", "_"))
        return {
            "samples": self.samples,
            "distractors": filler,
            "queries_in": self.queries_in,
            "nested": self.nested,
            "queries": self.queries,
        }


def new_app(help: str = "") -> typer.Typer:
    """Return an empty app for a verb: plain help, errors left to `seal.cli.failure`."""
    return typer.Typer(
        help=help,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def pairs(flag: str, words: Iterable[str] | None) -> dict[str, str]:
    """Return the KEY=VALUE words of a repeated flag as a mapping; a later word wins.

    Raises:
        UsageError: A word has no `=` or no key, or is a service's key.
    """
    found = {}
    for word in words or ():
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{flag} {word!r}: expected KEY=VALUE")
        refuse_secret(key.strip(), value, flag)
        found[key.strip()] = value
    return found


def role_models(words: Iterable[str] | None) -> dict[str, Any]:
    """Return the models of `--role-model`; a judge that is named again sits beside the first.

    Raises:
        UsageError: A word has no `=` or no key, or is a service's key.
    """
    words = list(words or ())
    judges = [found["judge"] for found in map(_one_model, words) if "judge" in found]
    return pairs("--role-model", words) | ({"judge": tuple(judges)} if len(judges) > 1 else {})


def _one_model(word: str) -> dict[str, str]:
    return pairs("--role-model", [word])


def typed_pairs(flag: str, words: Iterable[str] | None) -> dict[str, Any]:
    """Return KEY=VALUE words with each value read as JSON where it is JSON, else as text.

    Raises:
        UsageError: A word has no `=` or no key, or is or holds a service's key.
    """
    found = {key: _value(text) for key, text in pairs(flag, words).items()}
    refuse_secret("", found, flag)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def numbers(flag: str, text: str) -> tuple[int, ...]:
    """Return the whole numbers of a comma-separated list, ascending, each once.

    Raises:
        UsageError: An item is no whole number above 0.
    """
    items = [item.strip() for item in text.split(",") if item.strip()]
    if not items or not all(item.isdecimal() and int(item) > 0 for item in items):
        raise UsageError(f"{flag} {text!r}: expected whole numbers above 0, such as 1,5,10")
    return tuple(sorted({int(item) for item in items}))


def sizes(flag: str, text: str) -> tuple[int | Literal["all"], ...]:
    """Return the sizes of a comma-separated list, ascending, each once; `all` stands last.

    Raises:
        UsageError: An item is neither `all` nor a whole number above 0.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    counts = ",".join(word for word in words if word != "all")
    found = numbers(flag, counts) if counts or not words else ()
    return (*found, "all") if "all" in words else found

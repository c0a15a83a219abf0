"""The flags that `seal run`, and `seal ablate` with it, have for themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from seal.cli.options import CacheMode
from seal.sandbox import NAMES as SANDBOXES


def several(text: str) -> str:
    """Return a comma-separated list of whole numbers as it stands.

    Raises:
        BadParameter: It is none.
    """
    try:
        whole(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r}: expected a whole number, or several such as 1,5,10"
        ) from error
    return text


def whole(text: str) -> tuple[int, ...]:
    """Return the whole numbers of a comma-separated list; ValueError where one is none."""
    return tuple(int(word) for word in text.split(","))


Pool = Annotated[
    str,
    typer.Argument(metavar="[NAME|DIR]", help="A shipped benchmark, or an imported folder."),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="MODEL[,KEY=VALUE...]", help="PROVIDER/MODEL, or an offline one; `seal models`."
    ),
]
RoleModels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ROLE=MODEL[,KEY=VALUE...]",
        help="Own model of a role, simulator or judge, for which neither --base-url nor -M "
        "holds; several judges vote together.",
    ),
]
User = Annotated[
    str | None,
    typer.Option(
        help="Agent: scripted, user_simulator or module:attribute.  [default: scripted where "
        "the model is offline, else user_simulator]"
    ),
]
UserBrief = Annotated[
    Literal["goal", "goal+boundary", "goal+boundary+demonstration"],
    typer.Option(help="What the user is told of a task's persona."),
]
Team = Annotated[
    str | None,
    typer.Option(
        help="full, direct, single, tool_life or module:attribute.  [default: the pool's, "
        "else full]"
    ),
]
History = Annotated[
    Literal["own", "gold"] | None,
    typer.Option(help="What later goals follow on.  [default: the pool's, else own]"),
]
Retriever = Annotated[
    str | None,
    typer.Option(help="Name or module:attribute.  [default: given tools, else tfidf]"),
]
TopK = Annotated[
    str,
    typer.Option(
        metavar="K[,K...]",
        help="Tools that a chat is offered; several are played one by one: 1,5,10.",
        callback=several,
    ),
]
PoolSizes = Annotated[
    str | None,
    typer.Option(help="Play drawn pools of so many tools, and all: 10,50,100,200,500,all."),
]
Retrieve = Annotated[
    Literal["once", "per-step", "on-demand"], typer.Option(help="When to retrieve.")
]
Cutoffs = Annotated[str, typer.Option(help="K of recall@K and its like.")]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--world-option",
        "-T",
        metavar="KEY=VALUE",
        help="Of the world that tasks name, or of the team (tool_life: tasks, decisions, apps, "
        "roles).",
    ),
]
Tools = Annotated[
    Literal["recorded", "created"],
    typer.Option(help="What answers in a virtual mobile: the corpus, or created functions."),
]
Sandbox = Annotated[
    str,
    typer.Option(help=f"Where functions that a model wrote run: {', '.join(SANDBOXES)}."),
]
OnPolicy = Annotated[
    bool,
    typer.Option("--on-policy", help="Play recorded dialogues with a user who has a brief."),
]
GoldResults = Annotated[
    bool,
    typer.Option("--gold-results", help="Let calls of gold tools bring what the gold calls bring."),
]
Feedback = Annotated[
    Literal["auto", "on", "off"],
    typer.Option(
        help="What an invalid call brings: on, an explanation; off, it is run as it is; auto, "
        "a sentence of simulated APIs, of a world what it says."
    ),
]
CallFormat = Annotated[
    Literal["native", "action", "json", "bracket"] | None,
    typer.Option(
        help="How models call tools: by their server, or in their text.  [default: the "
        "pool's, else native]"
    ),
]
ToolMessages = Annotated[
    Literal["auto", "native", "text"],
    typer.Option(help="How results reach models: as the server's tool messages, or as text."),
]
Style = Annotated[
    Literal["plain", "react"],
    typer.Option(help="react: up to three thoughts before each act."),
]
OneShot = Annotated[
    bool,
    typer.Option(
        "--one-shot/--zero-shot", help="Show how another task of the environment was done."
    ),
]
Cache = Annotated[
    CacheMode,
    typer.Option(help="Answers of simulator and models: keep, only reuse, or neither."),
]
Limit = Annotated[int | None, typer.Option(help="Play the first N tasks.")]
Trials = Annotated[int, typer.Option(help="Times to play each task.")]
Workers = Annotated[int, typer.Option(help="Chats at once.")]
Processes = Annotated[int, typer.Option(help="Processes, each with its workers.")]
MaxTurns = Annotated[
    int | None,
    typer.Option(help="Model turns for each goal. Default: 10, or what the task needs."),
]
MaxCalls = Annotated[int, typer.Option(help="Calls for each goal.")]
MaxMessages = Annotated[
    int | None, typer.Option(help="Messages to or from user or executor, for each goal.")
]
MaxTokens = Annotated[int | None, typer.Option(help="Tokens of a chat.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Seconds of a chat.")]
MaxTotalTokens = Annotated[
    int | None,
    typer.Option(
        help="Tokens that models are asked in the run, judges and simulators too: stops with "
        "exit code 3, resumable."
    ),
]
MaxDollars = Annotated[
    float | None,
    typer.Option(help="Likewise in US dollars; every model needs a price."),
]
Prices = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="JSON of prices a million tokens, before those that ship."),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Print chats, model calls, tokens and dollars; ask and write nothing."
    ),
]
Temperature = Annotated[float, typer.Option(help="Of every model.")]
Baselines = Annotated[
    bool,
    typer.Option(
        help="Play the floor and the ceiling beside the model; of several pools or K only "
        "where asked for."
    ),
]
Out = Annotated[Path | None, typer.Option(help="Run folder.  [default: a new one under runs/]")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")]

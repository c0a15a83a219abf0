"""`seal generate missions` and `seal generate queries`: their options, and what they print."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from seal.cli.failure import tell
from seal.cli.options import (
    AllowCode,
    BaseUrl,
    CacheDir,
    CacheMode,
    Json,
    ModelOptions,
    NewFolder,
    PoolName,
    Simulator,
    Writer,
    pairs,
    typed_pairs,
)
from seal.cli.output import field_lines, output

_LISTED = 3
"""Failures that are told."""


@dataclass(frozen=True, kw_only=True)
class Missions:
    """Missions: what dialogues are made of."""

    missions: Annotated[
        int,
        typer.Option(
            help="Missions of a dialogue; beyond some 20 the grammar runs out of things to say."
        ),
    ] = 4
    types: Annotated[
        str,
        typer.Option(
            metavar="all|TYPE[,TYPE...]",
            help="single, multi, chat, clarify. Up to four missions give every sequence of them.",
        ),
    ] = "all"
    relations: Annotated[
        str,
        typer.Option(
            metavar="all|RELATION[,RELATION...]",
            help="How later missions lean on earlier ones: implicit, ellipsis, memory.",
        ),
    ] = "all"
    cover: Annotated[
        int, typer.Option(help="Of more than four missions: cover all runs of so many types.")
    ] = 2
    language: Annotated[str, typer.Option(help="en or zh.")] = "en"
    limit: Annotated[int | None, typer.Option(help="Dialogues at most; may grow.")] = None
    seed: Annotated[int, typer.Option(help="Another seed gives other dialogues.")] = 0


@dataclass(frozen=True, kw_only=True)
class Speakers:
    """Models: who plays user, planner and agent, and what answers calls."""

    model: Annotated[
        str, typer.Option(help="PROVIDER/MODEL that plays user, planner and agent; or grammar.")
    ] = "grammar"
    role_model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=MODEL", help="Own model of user_simulator, planner, agent or simulator."
        ),
    ] = None
    model_option: ModelOptions = None
    base_url: BaseUrl = None
    simulator: Simulator = "template"
    workers: Annotated[int, typer.Option(help="Dialogues at once.")] = 1
    cache: Annotated[CacheMode, typer.Option(help="Answers of models and simulators.")] = "record"
    cache_dir: CacheDir = None


@dataclass(frozen=True, kw_only=True)
class MadePool:
    """Output: where the pool is written, and what is printed."""

    out: NewFolder
    name: PoolName = ""
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write every mission's candidates there; choices edited in it are taken.",
        ),
    ] = None
    json: Json = False


def missions(
    missions: Missions,
    speakers: Speakers,
    into: MadePool,
    tools: Annotated[
        str,
        typer.Option(
            metavar="NAME|DIR",
            help="Pool whose tools are called; without --model the pool sample alone.",
        ),
    ] = "sample",
) -> int:
    """Make dialogues of related missions: user, planner, checker, agent and simulator talk."""
    from seal.api.generation import generate
    from seal.cli.progress import progress

    with output(into.json) as result, progress(("dialogues",)) as advance:
        made = generate(
            "missions",
            tools,
            into.out,
            review=into.review,
            cache_dir=speakers.cache_dir,
            progress=lambda done, total: advance("dialogues", done, total),
            missions=missions.missions,
            **_chosen("types", missions.types),
            **_chosen("relations", missions.relations),
            cover=missions.cover,
            model=speakers.model,
            role_models=pairs("--role-model", speakers.role_model),
            model_options=typed_pairs("-M", speakers.model_option),
            base_url=speakers.base_url,
            simulator=speakers.simulator,
            cache=speakers.cache,
            language=missions.language,
            limit=missions.limit,
            workers=speakers.workers,
            seed=missions.seed,
            name=into.name,
        )
        report = made.to_json()
        result.result(report)
        shown = {key: value for key, value in report.items() if key not in ("generation", "lacks")}
        lines = field_lines(shown)
        result.show(*lines, f"written to {into.out}; play it: seal run {into.out}")
    for failure in made.errors[:_LISTED]:
        tell(failure)
    return 1 if made.errors else 0


@dataclass(frozen=True, kw_only=True)
class Queries:
    """Queries: which are made, of how many seeds."""

    kinds: Annotated[
        str,
        typer.Option(
            metavar="all|KIND[,KIND...]",
            help="constraint: three or four on arguments; paraphrase: other words; irrelevance: "
            "what no tool serves.",
        ),
    ] = "all"
    per_seed: Annotated[int, typer.Option(help="Of each kind and seed at most.")] = 1
    limit: Annotated[int | None, typer.Option(help="Seeds at most; may grow.")] = None
    seed: Annotated[int, typer.Option(help="Another seed gives other queries.")] = 0


@dataclass(frozen=True, kw_only=True)
class QueryWriter:
    """Model: who writes."""

    model: Writer = None
    model_option: ModelOptions = None
    base_url: BaseUrl = None


@dataclass(frozen=True, kw_only=True)
class QueryPool(MadePool):
    """Output: where the pool is written, and what is printed."""

    review: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Write what passes there; refusals and wordings edited in it are taken.",
        ),
    ] = None
    allow_code: AllowCode = None


def queries(
    tools: Annotated[
        str,
        typer.Option(
            metavar="NAME|DIR",
            help="Pool whose tasks with gold calls are the seeds; its tools, where it has no gold.",
        ),
    ],
    queries: Queries,
    writer: QueryWriter,
    into: QueryPool,
) -> int:
    """Make harder queries of a pool's tasks, each checked by filters."""
    from seal.api.generation import generate
    from seal.cli.progress import progress

    with output(into.json) as result, progress() as advance:
        made = generate(
            "queries",
            tools,
            into.out,
            model=writer.model,
            base_url=writer.base_url,
            model_options=typed_pairs("-M", writer.model_option),
            review=into.review,
            progress=lambda done, total: advance("drafts", done, total),
            **_chosen("kinds", queries.kinds),
            per_seed=queries.per_seed,
            limit=queries.limit,
            seed=queries.seed,
            name=into.name,
            allow_code=tuple(into.allow_code or ()),
        )
        report = made.to_json()
        result.result(report)
        shown = {**made.statistics, **_by_kind(made.statistics["of_kind"])}
        shown |= {"of_kind": None, "digest": report["digest"]}
        lines = field_lines({key: value for key, value in shown.items() if value is not None})
        result.show(*lines, f"written to {into.out}; play it: seal run {into.out}")
    return 0


def _by_kind(counts: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return for each kind of query what was proposed, kept, and left out by which filter."""
    shown = {}
    for kind, of_kind in counts.items():
        reasons = {
            f"{name} {reason}": count
            for name, found in of_kind["rejected"].items()
            for reason, count in found.items()
        }
        shown[kind] = {"proposed": of_kind["proposed"], "kept": of_kind["kept"], **reasons}
    return shown


def _chosen(setting: str, text: str) -> dict[str, Any]:
    """Return a setting from a list of names; none for `all`."""
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    return {} if names == ("all",) else {setting: names}

"""`seal generate missions` and `seal generate queries`: their options, and what they print."""

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


def missions(
    out: NewFolder,
    tools: Annotated[
        str,
        typer.Option(
            metavar="NAME|DIR",
            help="Pool whose tools are called; without --model the pool sample alone.",
        ),
    ] = "sample",
    missions: Annotated[
        int,
        typer.Option(
            help="Missions of a dialogue; beyond some 20 the grammar runs out of things to say."
        ),
    ] = 4,
    types: Annotated[
        str,
        typer.Option(
            metavar="all|TYPE[,TYPE...]",
            help="single, multi, chat, clarify. Up to four missions give every sequence of them.",
        ),
    ] = "all",
    relations: Annotated[
        str,
        typer.Option(
            metavar="all|RELATION[,RELATION...]",
            help="How later missions lean on earlier ones: implicit, ellipsis, memory.",
        ),
    ] = "all",
    cover: Annotated[
        int, typer.Option(help="Of more than four missions: cover all runs of so many types.")
    ] = 2,
    model: Annotated[
        str, typer.Option(help="PROVIDER/MODEL that plays user, planner and agent; or grammar.")
    ] = "grammar",
    role_model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=MODEL", help="Own model of user_simulator, planner, agent or simulator."
        ),
    ] = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    simulator: Simulator = "template",
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write every mission's candidates there; choices edited in it are taken.",
        ),
    ] = None,
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    limit: Annotated[int | None, typer.Option(help="Dialogues at most; may grow.")] = None,
    workers: Annotated[int, typer.Option(help="Dialogues at once.")] = 1,
    seed: Annotated[int, typer.Option(help="Another seed gives other dialogues.")] = 0,
    cache: Annotated[CacheMode, typer.Option(help="Answers of models and simulators.")] = "record",
    cache_dir: CacheDir = None,
    name: PoolName = "",
    json: Json = False,
) -> int:
    """Make dialogues of related missions: user, planner, checker, agent and simulator talk."""
    from seal.api.generation import generate_missions
    from seal.cli.progress import progress

    with output(json) as result, progress(("dialogues",)) as advance:
        made = generate_missions(
            tools,
            out,
            review=review,
            cache_dir=cache_dir,
            progress=lambda done, total: advance("dialogues", done, total),
            missions=missions,
            **_chosen("types", types),
            **_chosen("relations", relations),
            cover=cover,
            model=model,
            role_models=pairs("--role-model", role_model),
            model_options=typed_pairs("-M", model_option),
            base_url=base_url,
            simulator=simulator,
            cache=cache,
            language=language,
            limit=limit,
            workers=workers,
            seed=seed,
            name=name,
        )
        report = made.to_json()
        result.result(report)
        shown = {key: value for key, value in report.items() if key not in ("generation", "lacks")}
        result.show(*field_lines(shown), f"written to {out}; play it: seal run {out}")
    for failure in made.errors[:_LISTED]:
        tell(failure)
    return 1 if made.errors else 0


def queries(
    tools: Annotated[
        str,
        typer.Option(
            metavar="NAME|DIR",
            help="Pool whose tasks with gold calls are the seeds; its tools, where it has no gold.",
        ),
    ],
    out: NewFolder,
    kinds: Annotated[
        str,
        typer.Option(
            metavar="all|KIND[,KIND...]",
            help="constraint: three or four on arguments; paraphrase: other words; irrelevance: "
            "what no tool serves.",
        ),
    ] = "all",
    per_seed: Annotated[int, typer.Option(help="Of each kind and seed at most.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Seeds at most; may grow.")] = None,
    model: Writer = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Write what passes there; refusals and wordings edited in it are taken.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives other queries.")] = 0,
    name: PoolName = "",
    allow_code: AllowCode = None,
    json: Json = False,
) -> int:
    """Make harder queries of a pool's tasks, each checked by filters."""
    from seal.api.generation import generate_queries
    from seal.cli.progress import progress

    with output(json) as result, progress() as advance:
        made = generate_queries(
            tools,
            out,
            model=model,
            base_url=base_url,
            model_options=typed_pairs("-M", model_option),
            review=review,
            progress=lambda done, total: advance("drafts", done, total),
            **_chosen("kinds", kinds),
            per_seed=per_seed,
            limit=limit,
            seed=seed,
            name=name,
            allow_code=tuple(allow_code or ()),
        )
        report = made.to_json()
        result.result(report)
        shown = {**made.statistics, **_by_kind(made.statistics["of_kind"])}
        shown |= {"of_kind": None, "digest": report["digest"]}
        lines = field_lines({key: value for key, value in shown.items() if value is not None})
        result.show(*lines, f"written to {out}; play it: seal run {out}")
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

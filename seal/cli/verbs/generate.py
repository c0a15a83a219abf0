"""Write tools, missions and harder queries, and draft milestones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from seal.cli import options as shared
from seal.cli.failure import tell
from seal.cli.groups import argument, option, repeated, settings_of, verb
from seal.cli.output import Output, field_lines, output
from seal.cli.words import new_file, pairs, typed_pairs
from seal.core import CacheMode
from seal.core.text import counted

_LISTED = 3
"""Failures that are told."""
_ALL = ("all",)


def _listed(flag: str, text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated list, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


@dataclass(frozen=True, kw_only=True)
class Missions:
    """Missions: what dialogues are made of."""

    missions: int = option(
        4, "Number of missions of a dialogue; beyond about 20 the grammar has nothing new to say."
    )
    types: tuple[str, ...] = option(
        "all",
        "Types of missions: single, multi, chat, clarify. Up to four missions give every "
        "sequence of types.",
        metavar="all|TYPE[,TYPE...]",
        read=_listed,
    )
    relations: tuple[str, ...] = option(
        "all",
        "How later missions refer to earlier ones: implicit, ellipsis, memory.",
        metavar="all|RELATION[,RELATION...]",
        read=_listed,
    )
    cover: int = option(2, "With more than four missions: cover all sequences of so many types.")
    language: str = option("en", "Language: en or zh.")
    limit: int | None = option(None, "Most dialogues; the same command may ask for more later.")
    seed: int = option(0, "Seed; another one gives other dialogues.")


@dataclass(frozen=True, kw_only=True)
class Speakers:
    """Models: who plays user, planner and agent, and what answers calls."""

    model: str = option(
        "grammar", "Model that plays user, planner and agent, as PROVIDER/MODEL; or grammar."
    )
    role_model: dict[str, str] = repeated(
        "Model for user_simulator, planner, agent or simulator.",
        metavar="ROLE=MODEL",
        read=pairs,
        setting="role_models",
    )
    model_option: dict[str, Any] = shared.MODEL_OPTIONS
    base_url: str | None = shared.BASE_URL
    simulator: str = shared.SIMULATOR
    workers: int = option(1, "Number of dialogues that are made at once.")
    cache: CacheMode = option(
        "record",
        "Cached answers of models and simulators: keep and reuse them (record), only reuse "
        "them (replay), or neither (off).",
    )
    cache_dir: Path | None = shared.CACHE_DIR
    cache_url: str | None = shared.CACHE_URL


@dataclass(frozen=True, kw_only=True)
class MadePool:
    """Output: where the pool is written, and what is printed."""

    out: Path = shared.NEW_FOLDER
    name: str = shared.POOL_NAME
    review: Path | None = option(
        None,
        "File for the candidates of every mission; choices that you edit in it are used.",
        metavar="FILE",
    )
    json: bool = shared.JSON


@verb()
def missions(
    *,
    missions: Missions,
    speakers: Speakers,
    into: MadePool,
    tools: str = option(
        "sample",
        "Pool whose tools are called; without --model only the pool sample.",
        metavar="NAME|DIR",
    ),
) -> int:
    """Make dialogues of related missions.

    User, planner, checker, agent and simulator talk to each other.
    """
    with output(into.json) as result:
        made = _made("missions", "dialogues", tools, missions, speakers, into)
        report = made.to_json()
        result.result(report)
        shown = {key: value for key, value in report.items() if key not in ("generation", "lacks")}
        _show(result, shown, into.out)
    for failure in made.errors[:_LISTED]:
        tell(failure)
    return 1 if made.errors else 0


@dataclass(frozen=True, kw_only=True)
class Queries:
    """Queries: which are made, of how many seeds."""

    kinds: tuple[str, ...] = option(
        "all",
        "Kinds of queries: constraint (three or four on arguments), paraphrase (other "
        "words), irrelevance (what no tool serves).",
        metavar="all|KIND[,KIND...]",
        read=_listed,
    )
    per_seed: int = option(1, "Most queries of each kind for a seed.")
    limit: int | None = option(None, "Most seeds; the same command may ask for more later.")
    seed: int = option(0, "Seed of chance; another one gives other queries.")


@dataclass(frozen=True, kw_only=True)
class QueryWriter:
    """Model: who writes."""

    model: str | None = shared.WRITER
    model_option: dict[str, Any] = shared.MODEL_OPTIONS
    base_url: str | None = shared.BASE_URL


@dataclass(frozen=True, kw_only=True)
class QueryPool(MadePool):
    """Output: where the pool is written, and what is printed."""

    review: Path | None = option(
        None,
        "File for the queries that pass; refusals and wordings that you edit in it are used.",
        metavar="FILE.csv",
    )
    allow_code: tuple[str, ...] = shared.ALLOW_CODE


@verb()
def queries(
    *,
    tools: str = option(
        ...,
        "Pool whose tasks with gold calls are the seeds; without gold its tools are.",
        metavar="NAME|DIR",
    ),
    queries: Queries,
    writer: QueryWriter,
    into: QueryPool,
) -> int:
    """Make harder queries from a pool's tasks; filters check each."""
    with output(into.json) as result:
        made = _made("queries", "drafts", tools, queries, writer, into)
        report = made.to_json()
        result.result(report)
        shown = {**made.statistics, **_by_kind(made.statistics["of_kind"])}
        shown |= {"of_kind": None, "digest": report["digest"]}
        _show(result, {key: value for key, value in shown.items() if value is not None}, into.out)
    return 0


def _made(what: str, stage: str, tools: str, *groups: Any) -> Any:
    """Return what is generated as groups of options say, told of its progress."""
    from seal.api.pools import generate
    from seal.cli.output import progress

    told = {name: value for name, value in settings_of(*groups).items() if value != _ALL}
    out = told.pop("out")
    del told["json"]
    # Drafts of queries are many and quick: without a terminal nothing is told of them.
    with progress(("dialogues",)) as advance:
        return generate(
            what, tools, out, progress=lambda done, total: advance(stage, done, total), **told
        )


def _show(result: Output, shown: dict[str, Any], out: Path) -> None:
    result.show(*field_lines(shown), f"written to {out}; play it: seal run {out}")


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


@verb()
def tools(
    descriptions: Path = argument(
        "Text file with a tool on each line (`name: sentence`, or a sentence; `# category`), "
        "or JSON objects of name, description and category.",
        metavar="DESCRIPTIONS",
    ),
    out: Path = shared.NEW_FOLDER,
    model: str | None = shared.WRITER,
    model_option: dict[str, Any] = shared.MODEL_OPTIONS,
    base_url: str | None = shared.BASE_URL,
    form: str = option(
        "seal", "What to write: seal, a pool; or mmtb, tool lists as `seal import mmtb` reads them."
    ),
    seed: int = option(0, "Seed; another one gives other tools."),
    json: bool = shared.JSON,
) -> int:
    """Write tools from one-sentence descriptions; rules check each."""
    from seal.api.pools import generate as make
    from seal.cli.output import progress

    with output(json) as result, progress() as advance:
        report = make(
            "tools",
            descriptions,
            out,
            model=model,
            base_url=base_url,
            model_options=model_option,
            form=form,
            seed=seed,
            progress=lambda done, total: advance("tools", done, total),
        )
        use = f"seal import mmtb {out} --out POOL" if form == "mmtb" else f"seal lint {out}"
        result.fields(report, f"written to {out}; next: {use}")
    return 0


@verb()
def milestones(
    source: str = argument(
        "Run folder, whose chats are used; or a benchmark, whose references are used.",
        metavar="RUN|POOL",
    ),
    task: list[str] | None = argument("Ids of tasks.  [default: all]", None, metavar="TASK..."),
    form: str = option(
        "authored", "Form of the drafts: authored, as in scenario files; or plan, as in tasks."
    ),
    out: Path | None = option(
        None, "New file for drafts.  [default: print them]", metavar="FILE", read=new_file
    ),
    world_option: dict[str, Any] = repeated(
        "Option of the tasks' world; repeatable.",
        "--world-option",
        "-T",
        metavar="KEY=VALUE",
        read=typed_pairs,
    ),
    seed: int = option(0, "Seed of the world in which references are played again."),
    allow_code: tuple[str, ...] = shared.ALLOW_CODE,
    json: bool = shared.JSON,
) -> int:
    """Propose milestones, their order and guarded tables from played solutions."""
    import orjson

    from seal.api.pools import generate as make

    options: dict[str, Any] = {"world_options": world_option, "seed": seed, "form": form}
    with output(json) as result:
        plain = make("milestones", source, out, tasks=task or (), allow_code=allow_code, **options)
        result.result(plain)
        text = orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode()
        result.show(text if out is None else _summary(plain, out))
    for name, label in plain["unsolved"].items():
        typer.echo(
            f"note: task {name} is drafted from a chat that is {label}: its milestones ask for "
            "what was done there, right or not",
            err=True,
        )
    return 0


def _summary(plain: dict[str, list[dict[str, object]]], out: Path) -> str:
    from seal.evaluation.goals import WHOLLY

    drafts = plain["drafts"]
    unfit = [str(draft["id"]) for draft in drafts if float(str(draft["similarity"])) < WHOLLY]
    told = f"; below 1 on their own sequence: {', '.join(unfit)}" if unfit else ""
    return (
        f"{counted(len(drafts), 'draft')}, {counted(len(plain['left_out']), 'task')} left "
        f"out{told}; written to {out}"
    )

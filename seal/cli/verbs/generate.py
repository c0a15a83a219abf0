"""Write tools, make missions and queries, and draft milestones from what was done."""

from pathlib import Path
from typing import Any

import typer

from seal.cli.generation_verbs import missions, queries
from seal.cli.groups import argument, option, repeated, verb
from seal.cli.options import (
    ALLOW_CODE,
    BASE_URL,
    JSON,
    MODEL_OPTIONS,
    NEW_FOLDER,
    WRITER,
    new_app,
    typed_pairs,
)
from seal.cli.output import output

app = new_app("Write tools, make missions and queries, and draft milestones from what was done.")


@app.callback()
def generate() -> None:
    """Write tools, make missions and queries, and draft milestones from what was done."""


verb(app)(missions)
verb(app)(queries)


@verb(app)
def tools(
    descriptions: Path = argument(
        "Text, a tool a line (`name: sentence` or a sentence; `# category`), or JSON "
        "objects of name, description and category.",
        metavar="DESCRIPTIONS",
    ),
    out: Path = NEW_FOLDER,
    model: str | None = WRITER,
    model_option: dict[str, Any] = MODEL_OPTIONS,
    base_url: str | None = BASE_URL,
    form: str = option("seal", "seal: a pool; mmtb: tool lists, as `seal import mmtb` reads them."),
    seed: int = option(0, "Another seed gives other tools."),
    json: bool = JSON,
) -> int:
    """Write tools from one-sentence descriptions, checked by rule."""
    from seal.api.pools import generate as make
    from seal.cli.progress import progress

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


@verb(app)
def milestones(
    source: str = argument(
        "Run folder, whose chats count; or a benchmark's references.", metavar="RUN|POOL"
    ),
    task: list[str] | None = argument("Ids; none: all tasks.", None, metavar="TASK..."),
    form: str = option("authored", "authored: as scenario files have them; plan: as tasks do."),
    out: Path | None = option(None, "File to write the drafts to."),
    world_option: dict[str, Any] = repeated(
        "Of the tasks' world.",
        "--world-option",
        "-T",
        metavar="KEY=VALUE",
        read=typed_pairs,
    ),
    seed: int = option(0, "Of the world, where references are done anew."),
    allow_code: tuple[str, ...] = ALLOW_CODE,
    json: bool = JSON,
) -> int:
    """Propose milestones, their order and guarded tables from gold sequences that were done."""
    import orjson

    from seal.api.pools import generate as make

    options = {"world_options": world_option, "seed": seed, "form": form}
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
    from seal.evaluation.milestones.plans import WHOLLY

    drafts = plain["drafts"]
    unfit = [str(draft["id"]) for draft in drafts if float(str(draft["similarity"])) < WHOLLY]
    told = f"; below 1 on their own sequence: {', '.join(unfit)}" if unfit else ""
    return f"{len(drafts)} drafts, {len(plain['left_out'])} tasks left out{told}; written to {out}"

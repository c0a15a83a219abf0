"""Write tools, make missions and queries, and draft milestones from what was done."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seal.cli.generation_verbs import missions, queries
from seal.cli.groups import grouped
from seal.cli.options import (
    AllowCode,
    BaseUrl,
    Json,
    ModelOptions,
    NewFolder,
    Writer,
    new_app,
    typed_pairs,
)
from seal.cli.output import field_lines, output

if TYPE_CHECKING:
    pass

app = new_app("Write tools, make missions and queries, and draft milestones from what was done.")


@app.callback()
def generate() -> None:
    """Write tools, make missions and queries, and draft milestones from what was done."""


grouped(app)(missions)
grouped(app)(queries)


@app.command()
def tools(
    descriptions: Annotated[
        Path,
        typer.Argument(
            metavar="DESCRIPTIONS",
            help="Text, a tool a line (`name: sentence` or a sentence; `# category`), or JSON "
            "objects of name, description and category.",
        ),
    ],
    out: NewFolder,
    model: Writer = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    form: Annotated[
        str, typer.Option(help="seal: a pool; mmtb: tool lists, as `seal import mmtb` reads them.")
    ] = "seal",
    seed: Annotated[int, typer.Option(help="Another seed gives other tools.")] = 0,
    json: Json = False,
) -> int:
    """Write tools from one-sentence descriptions, checked by rule."""
    from seal.api.generation import generate as make
    from seal.cli.progress import progress

    options = typed_pairs("-M", model_option)
    with output(json) as result, progress() as advance:
        report = make(
            "tools",
            descriptions,
            out,
            model=model,
            base_url=base_url,
            model_options=options,
            form=form,
            seed=seed,
            progress=lambda done, total: advance("tools", done, total),
        )
        result.result(report)
        use = f"seal import mmtb {out} --out POOL" if form == "mmtb" else f"seal lint {out}"
        result.show(*field_lines(report), f"written to {out}; next: {use}")
    return 0


@app.command()
def milestones(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|POOL", help="Run folder, whose chats count; or a benchmark's references."
        ),
    ],
    task: Annotated[
        list[str] | None, typer.Argument(metavar="TASK...", help="Ids; none: all tasks.")
    ] = None,
    form: Annotated[
        str, typer.Option(help="authored: as scenario files have them; plan: as tasks do.")
    ] = "authored",
    out: Annotated[Path | None, typer.Option(help="File to write the drafts to.")] = None,
    world_option: Annotated[
        list[str] | None,
        typer.Option("--world-option", "-T", metavar="KEY=VALUE", help="Of the tasks' world."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the world, where references are done anew.")] = 0,
    allow_code: AllowCode = None,
    json: Json = False,
) -> int:
    """Propose milestones, their order and guarded tables from gold sequences that were done."""
    import orjson

    from seal.api.generation import generate as make

    options = {"world_options": typed_pairs("-T", world_option), "seed": seed, "form": form}
    with output(json) as result:
        plain = make(
            "milestones", source, out, tasks=task or (), allow_code=allow_code or (), **options
        )
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

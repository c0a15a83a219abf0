"""Draft milestones from what was done."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, new_app, typed_pairs
from seal.cli.output import output

app = new_app("Draft milestones from what was done.")


@app.callback()
def generate() -> None:
    """Draft milestones from what was done."""


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
    json: Json = False,
) -> int:
    """Propose milestones, their order and guarded tables from gold sequences that were done."""
    import orjson

    from seal.core.records import AtomicFile
    from seal.generation.drafts import check_form, draft_tasks
    from seal.pipeline.pools import open_pool
    from seal.pipeline.run_folder import RunFolder

    written = check_form(form)
    options = typed_pairs("-T", world_option)
    with output(json) as result:
        if (Path(source) / "run.json").is_file():
            run = RunFolder.open(source)
            tasks, tools, chats = run.tasks(), run.tools(), run.trajectories()
        else:
            pool = open_pool(source)
            tasks, tools, chats = pool.tasks(), {tool.id: tool for tool in pool.tools()}, None
        drafts = draft_tasks(tasks, tools, chats, task or (), options, seed)
        plain = drafts.to_json(written)
        text = orjson.dumps(plain, option=orjson.OPT_INDENT_2)
        if out is not None:
            with AtomicFile(out) as file:
                file.write(text + b"\n")
        result.result(plain)
        result.show(text.decode() if out is None else _summary(plain, out))
    return 0


def _summary(plain: dict[str, list[dict[str, object]]], out: Path) -> str:
    drafts = plain["drafts"]
    unfit = [str(draft["id"]) for draft in drafts if float(str(draft["similarity"])) < 1 - 1e-6]
    told = f"; below 1 on their own sequence: {', '.join(unfit)}" if unfit else ""
    return f"{len(drafts)} drafts, {len(plain['left_out'])} tasks left out{told}; written to {out}"

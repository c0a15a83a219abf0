"""Turn a benchmark's upstream files into tools and tasks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from seal.cli.options import AllowCode, Json, new_app, typed_pairs
from seal.cli.output import field_lines, output
from seal.core.errors import UsageError

app = new_app()


@app.command()
def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Benchmark; `seal benchmarks`.")],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Its upstream files.")],
    out: Annotated[Path, typer.Option(help="Folder to write; `seal run` takes it.")],
    trajectories: Annotated[
        bool,
        typer.Option("--trajectories", help="SOURCE is recorded chats: write a run to score."),
    ] = False,
    task_option: Annotated[
        list[str] | None,
        typer.Option("--task-option", "-T", metavar="KEY=VALUE", help="Of this benchmark."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Same as -T language=..., where a benchmark comes in several."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Same as -T split=..., where a benchmark has several.")
    ] = None,
    allow_code: AllowCode = None,
    json: Json = False,
) -> int:
    """Turn a benchmark's upstream files into tools.jsonl, tasks.jsonl and import.json."""
    from seal.pools import import_benchmark
    from seal.runs.recorded_run import import_run

    with output(json) as result:
        options = typed_pairs("--task-option", task_option)
        for option, value in (("language", language), ("split", split)):
            if value is not None and options.setdefault(option, value) != value:
                raise UsageError(f"--{option} {value} and -T {option}={options[option]}: give one")
        if allow_code:
            options["allow_code"] = tuple(allow_code)
        if trajectories:
            report = import_run(name, source, out, options).to_json()
            next_step = f"score it: seal score {out}"
        else:
            report = import_benchmark(name, source, out, **options).to_json()
            next_step = _next(report, out)
        result.result(report)
        told = {
            name: value for name, value in report.items() if name not in ("malformed", "remarks")
        }
        places = [f"left out: {fault}" for fault in report.get("malformed", ())]
        places += [f"note: {remark}" for remark in report.get("remarks", ())]
        result.show(*field_lines(told), *places, f"written to {out}; {next_step}")
    return 0


def _next(report: Mapping[str, Any], out: Path) -> str:
    """Return what can be done with the pool."""
    if report["tasks"]:
        return f"play it: seal run {out}"
    if report["recordings"]:
        return f"it has recorded runs and no tasks to play; look for faults: seal lint {out}"
    return f"it has tools and no tasks to play; look for faults: seal lint {out}"

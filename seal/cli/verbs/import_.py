"""Turn a benchmark's upstream files into tools and tasks."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, new_app, typed_pairs
from seal.cli.output import output

app = new_app()


@app.command()
def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Benchmark; `seal benchmarks`.")],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Its upstream files.")],
    out: Annotated[Path, typer.Option(help="Folder to write; `seal run` takes it.")],
    task_option: Annotated[
        list[str] | None,
        typer.Option("--task-option", "-T", metavar="KEY=VALUE", help="Of this benchmark."),
    ] = None,
    json: Json = False,
) -> int:
    """Turn a benchmark's upstream files into tools.jsonl, tasks.jsonl and import.json."""
    from seal.benchmarks import import_benchmark
    from seal.core.records import to_plain

    with output(json) as result:
        report = import_benchmark(name, source, out, **typed_pairs("--task-option", task_option))
        plain = to_plain(report)
        result.result(plain)
        result.show(*_lines(plain, out))
    return 0


def _lines(report: dict[str, object], out: Path) -> list[str]:
    lines = [f"{key}: {_readable(value)}" for key, value in report.items()]
    return [*lines, f"written to {out}; play it: seal run {out}"]


def _readable(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)

"""Turn a benchmark's upstream files into tools and tasks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.cli.groups import argument, flag, option, repeated, verb
from seal.cli.options import ALLOW_CODE, JSON, SERVERS
from seal.cli.output import field_lines, output
from seal.cli.words import typed_pairs
from seal.core import UnknownNameError, UsageError

if TYPE_CHECKING:
    from seal.pools import ImportReport


@dataclass(frozen=True, kw_only=True)
class Importing:
    """Options: where the benchmark goes, and what of it."""

    out: Path = option(..., "Folder to write; `seal run` takes it.")
    trajectories: bool = flag("Read SOURCE as recorded chats, and write a run to score.")
    task_option: dict[str, Any] = repeated(
        "Option of this benchmark; repeatable.",
        "--task-option",
        "-T",
        metavar="KEY=VALUE",
        read=typed_pairs,
    )
    language: str | None = option(
        None, "Same as -T language=..., for a benchmark in several languages."
    )
    split: str | None = option(None, "Same as -T split=..., for a benchmark of several splits.")
    allow_code: tuple[str, ...] = ALLOW_CODE
    servers: dict[str, Any] = SERVERS
    json: bool = JSON


@verb("import")
def import_command(
    *,
    name: str = argument(
        "Name of a benchmark; `seal benchmarks` lists them. inspect: a log of inspect_ai, as "
        "a run.",
        metavar="NAME",
    ),
    source: Path | None = argument(
        "The benchmark's upstream files; mcp has none.", None, metavar="[SOURCE]"
    ),
    asked: Importing,
) -> int:
    """Turn a benchmark's upstream files into tools.jsonl, tasks.jsonl and import.json."""
    from seal.runs.recorded_run import import_run

    out, options = asked.out, asked.task_option
    with output(asked.json) as result:
        for same, value in (("language", asked.language), ("split", asked.split)):
            if value is not None and options.setdefault(same, value) != value:
                raise UsageError(f"--{same} {value} and -T {same}={options[same]}: give one")
        if asked.allow_code:
            options["allow_code"] = asked.allow_code
        if asked.servers:
            options["servers"] = asked.servers
        elif source is None:
            raise UsageError(
                f"seal import {name}: SOURCE is missing: name its upstream files, or of mcp a "
                'server: --server "COMMAND", --server URL or --server FILE'
            )
        if (asked.trajectories or _has_chats_alone(name)) and source is not None:
            report = import_run(name, source, out, options).to_json()
            next_step = f"score it: seal score {out}"
        else:
            report = _imported(name, source, out, options).to_json()
            next_step = _next(report, out)
        result.result(report)
        told = {
            name: value for name, value in report.items() if name not in ("malformed", "remarks")
        }
        places = [f"left out: {fault}" for fault in report.get("malformed", ())]
        places += [f"note: {remark}" for remark in report.get("remarks", ())]
        result.show(*field_lines(told), *places, f"written to {out}; {next_step}")
    return 0


def _imported(
    name: str, source: Path | None, out: Path, options: Mapping[str, Any]
) -> "ImportReport":
    from seal.pools import import_benchmark

    try:
        return import_benchmark(name, source, out, **options)
    except UnknownNameError as error:
        if error.name not in options:
            raise
        raise UsageError(
            f"{error} `seal run` takes other options -T, which say how tasks are played"
        ) from error


def _has_chats_alone(name: str) -> bool:
    """Tell whether there are recorded chats of that name, and no benchmark."""
    from seal.pools.importer import RECORDINGS, REGISTRY

    return name in RECORDINGS and name not in REGISTRY


def _next(report: Mapping[str, Any], out: Path) -> str:
    """Return what can be done with the pool."""
    if report["tasks"]:
        return f"play it: seal run {out}"
    if report["recordings"]:
        return f"it has recorded runs and no tasks to play; look for faults: seal lint {out}"
    return f"it has tools and no tasks to play; look for faults: seal lint {out}"

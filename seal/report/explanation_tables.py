"""Why a run's goals failed, for a person: the waterfall and its examples, for terminal and file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.core.records import AtomicFile
from seal.report.grids import Grid, drawn, escape_markdown, markdown
from seal.report.printable import one_line, printable

MARKDOWN = "explanation.md"
CAUSES = 3
"""Causes of a stage that the table names, the most frequent ones."""
MISSING = 5
"""Tasks, and trials, that a run lacks that are named."""
_LONGEST = 160
"""Characters of a line of an example."""
_COLUMNS = ("stage", "goals", "left", "of failed", "95 %", "partly", "causes")


def explanation_tables(content: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the waterfall and, below it, notes and examples.

    Args:
        content: Of explanation.json.
    """
    yield drawn(waterfall(content))
    for line in (*notes(content), *_example_lines(content)):
        yield printable(line)


def waterfall(content: Mapping[str, Any]) -> Grid:
    """Return the table of stages; those that explain nothing are left out."""
    rows = [
        (
            row["meaning"],
            str(row["goals"]),
            str(row["left"]),
            percent(row["of_failed"]),
            bounds(row["of_failed_low"], row["of_failed_high"]),
            str(row["partly"] or ""),
            causes_text(row["causes"]),
        )
        for row in content["stages"]
        if row["goals"]
    ]
    first = ("all goals", "", str(content["goals"]), "", "", "", "")
    last = ("solved", str(content["solved"]), "", "", "", "", "")
    return Grid(f"why goals failed: {content['run']}", _COLUMNS, [first, *rows, last])


def notes(content: Mapping[str, Any]) -> list[str]:
    """Return what has to be said of the table in plain lines."""
    decided = ", ".join(f"{name} {count}" for name, count in content["decided_by"].items())
    lines = [
        f"{content['failed']} of {content['goals']} goals failed; decided by {decided}",
        "left: goals that no stage so far explains; of failed: share of what the model failed",
    ]
    if content["partly"]:
        lines.append(
            f"partly solved: {content['partly']}, where some of several gold tools or gold steps "
            "got past the stage"
        )
    if content["unexplained"]:
        lines.append(f"unexplained: {percent(content['unexplained'])} of the failed")
    if content["clusters"] < content["tasks"]:
        lines.append(
            f"intervals draw variants of one task together: {content['tasks']} tasks in "
            f"{content['clusters']} families"
        )
    lines += _missing(content["missing"])
    lines += [f"left out: {count} {reason}" for reason, count in content["excluded"].items()]
    return lines


def _missing(missing: Mapping[str, Any]) -> Iterator[str]:
    """Yield which tasks and trials the run lacks."""
    trials = [f"{one['task']} trial {one['trial']}" for one in missing["trials"]]
    for what, names in (("tasks", missing["tasks"]), ("trials of other tasks", trials)):
        if names:
            named = ", ".join(one_line(name, _LONGEST) for name in names[:MISSING])
            more = f" and {len(names) - MISSING} more" if len(names) > MISSING else ""
            yield f"missing from the run: {len(names)} {what}: {named}{more}"


def percent(share: float | None) -> str:
    """Return a share in per cent; empty where there is none."""
    return "" if share is None else f"{100 * share:.1f} %"


def bounds(low: float | None, high: float | None) -> str:
    """Return an interval of a share in per cent; empty where there is none."""
    return "" if low is None or high is None else f"[{100 * low:.1f}, {100 * high:.1f}]"


def causes_text(causes: Mapping[str, int]) -> str:
    """Return the most frequent causes with their counts."""
    named = [f"{cause} {count}" for cause, count in list(causes.items())[:CAUSES]]
    more = [f"{len(causes) - CAUSES} more"] if len(causes) > CAUSES else []
    return ", ".join((*named, *more))


def place_text(row: Mapping[str, Any]) -> str:
    """Return which goal of which chat a row is about."""
    parts = [str(row["task"])]
    parts += [f"trial {row['trial']}"] if row["trial"] else []
    parts += [f"goal {row['goal']}"] if row["goal"] else []
    parts += [f"step {row['step']}"] if row["step"] is not None else []
    return ", ".join(parts)


def example_lines(example: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what an example shows, as names and texts."""
    yield "query", example["query"]
    yield "evidence", example["evidence"]
    yield "gold", "; ".join(example["gold"]) or "not annotated"
    yield "calls", "; ".join(example["calls"]) or "none"
    yield "answer", example["answer"] or "none"
    judge = (
        f"{example['verdict']}: {example['reason']}" if example["reason"] else example["verdict"]
    )
    yield example["metric"] or "verdict", judge


def _example_lines(content: Mapping[str, Any]) -> Iterator[str]:
    for stage in content["stages"]:
        for number, example in enumerate(stage["examples"], 1):
            if number == 1:
                yield f"\n{stage['meaning']}:"
            yield f"  {place_text(example)} ({example['cause']})"
            for name, text in example_lines(example):
                yield f"    {name}: {one_line(text, _LONGEST)}"


def write_markdown(content: Mapping[str, Any], folder: Path) -> Path:
    """Write explanation.md, and return it."""
    parts = [
        markdown(waterfall(content)),
        "\n".join(f"- {escape_markdown(n)}" for n in notes(content)),
    ]
    for stage in content["stages"]:
        if stage["examples"]:
            parts.append(f"### {escape_markdown(stage['meaning'])}")
            parts += [_example_markdown(example) for example in stage["examples"]]
    with AtomicFile(folder / MARKDOWN) as file:
        file.write(("\n\n".join(parts) + "\n").encode())
    return folder / MARKDOWN


def _example_markdown(example: Mapping[str, Any]) -> str:
    lines: Sequence[str] = [
        f"- {escape_markdown(name)}: {escape_markdown(one_line(text, _LONGEST))}"
        for name, text in example_lines(example)
    ]
    return "\n".join(
        (
            f"{escape_markdown(place_text(example))} ({escape_markdown(example['cause'])})",
            "",
            *lines,
        )
    )

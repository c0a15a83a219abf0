"""A comparison of runs for a person: tables for the terminal, Markdown and LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seal.core.records import AtomicFile
from seal.report.comparison_preference import preference_grid, preference_lines
from seal.report.grids import (
    Grid,
    chance,
    drawn,
    escape_latex,
    escape_markdown,
    holm_chance,
    interval,
    latex,
    markdown,
    number,
    signed,
)
from seal.report.printable import one_line, printable
from seal.report.tables import all_metrics

MARKDOWN = "comparison.md"
LATEX = "comparison.tex"
_REASONS = 4
"""Reasons for excluded pairs that are told."""
_TASKS = 10
"""Tasks of a kind, such as those that turned in one direction, that a line names."""
_LONGEST = 120
"""Characters of a reason or id."""


class Needed(NamedTuple):
    """Tasks and trials that would find an observed difference, as texts."""

    tasks: str
    trials: str


def comparison_tables(content: Mapping[str, Any]) -> Iterator[Any]:
    """Yield tables and lines for the terminal: the metrics of the family alone.

    Args:
        content: Of comparison.json.
    """
    for pair in content["pairs"]:
        for grid in _grids(content, pair, told_entries(content, pair)):
            yield drawn(grid)
        for line in lines_of(content, pair):
            yield printable(line)
    for note in notes_of(content):
        yield printable(note)


def write_markdown(content: Mapping[str, Any], path: Path) -> None:
    """Write every metric that has a pair as Markdown."""
    parts = [f"# {escape_markdown(title_of(content))}"]
    parts += [f"- {escape_markdown(note)}" for note in notes_of(content)]
    for pair in content["pairs"]:
        parts += map(markdown, _grids(content, pair, entries_of(content, pair)))
        parts += [f"- {escape_markdown(line)}" for line in lines_of(content, pair)]
    _write(path, "\n\n".join(parts))


def write_latex(content: Mapping[str, Any], path: Path) -> None:
    r"""Write the metrics of the family as LaTeX tables for \input; they need booktabs."""
    parts = [r"% \usepackage{booktabs}"]
    for place, pair in enumerate(content["pairs"], 1):
        grids = _grids(content, pair, told_entries(content, pair))
        parts += [
            latex(grid, f"tab:comparison-{place}-{part}") for part, grid in enumerate(grids, 1)
        ]
        parts += [f"% {escape_latex(line)}" for line in lines_of(content, pair)]
    parts += [f"% {escape_latex(note)}" for note in notes_of(content)]
    _write(path, "\n\n".join(parts))


def title_of(content: Mapping[str, Any]) -> str:
    """Return what is compared in one line."""
    return " · ".join(run["run"] for run in content["runs"])


def entries_of(content: Mapping[str, Any], pair: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the differences of two runs that rest on a pair, the main metrics first."""
    mine = {
        entry["metric"]: entry
        for entry in content["comparisons"]
        if (entry["run"], entry["other"]) == (pair["run"], pair["other"]) and entry["n"]
    }
    return [mine[name] for name in all_metrics(mine)]


def told_entries(content: Mapping[str, Any], pair: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of the family, all where it is empty."""
    entries = entries_of(content, pair)
    family = content["protocol"]["family"]
    return [entry for entry in entries if not family or entry["metric"] in family]


def needed(entry: Mapping[str, Any]) -> Needed:
    """Return what would find the observed difference; a dash where nothing is known to."""
    return Needed(*(_count(entry[name]) for name in ("tasks_needed", "trials_needed")))


def notes_of(content: Mapping[str, Any]) -> list[str]:
    """Return what a reader should know of all the runs."""
    forced = ["compared all the same: " + text for text in content["differs"]]
    return [*forced, *content["notes"]]


def lines_of(content: Mapping[str, Any], pair: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the tables of two runs."""
    one, other = pair["run"], pair["other"]
    yield f"matched: {pair['matched']['tasks']} tasks, {pair['matched']['chats']} chats"
    for name, alone in ((one, pair["alone"]), (other, pair["other_alone"])):
        if alone["chats"]:
            yield (
                f"{name} alone: {alone['chats']} chats, {alone['tasks']} tasks, not compared: "
                + _named(alone)
            )
    if pair["flips"] is not None:
        yield from _flip_lines(pair)
    if pair["win_rate"] is not None:
        yield from preference_lines(pair)
    yield from excluded_lines(content, pair)


def _named(alone: Mapping[str, Any]) -> str:
    """Return the tasks, and the single trials of others, that one of two runs has alone."""
    chats = [*alone["named"], *(f"{one['task']} trial {one['trial']}" for one in alone["trials"])]
    more = f", and {len(chats) - _TASKS} more" if len(chats) > _TASKS else ""
    return ", ".join(one_line(chat, _LONGEST) for chat in chats[:_TASKS]) + more


def excluded_lines(content: Mapping[str, Any], pair: Mapping[str, Any]) -> Iterator[str]:
    """Yield why metrics of the family, and those of one run alone, have pairs without values."""
    family = content["protocol"]["family"]
    found: dict[str, list[str]] = {}
    for entry in content["comparisons"]:
        mine = (entry["run"], entry["other"]) == (pair["run"], pair["other"])
        one_sided = any(not reason.startswith("both: ") for reason in entry["excluded"])
        told = entry["metric"] in family or (not entry["n"] and one_sided)
        if mine and entry["excluded"] and told:
            none = "" if entry["n"] else "no pair with values"
            reasons = ", ".join(
                f"{count} ({one_line(reason, _LONGEST)})"
                for reason, count in Counter(entry["excluded"]).most_common(_REASONS)
            )
            found.setdefault(f"{none or 'pairs without values'}: {reasons}", []).append(
                entry["metric"]
            )
    for reasons, metrics in found.items():
        yield f"{', '.join(metrics)}: {reasons}"


def _flip_lines(pair: Mapping[str, Any]) -> Iterator[str]:
    flips, metric = pair["flips"], pair["success"]
    yield (
        f"tasks by {metric}: {len(flips['won'])} won, {len(flips['lost'])} lost, {flips['both']} "
        f"solved by both, {flips['neither']} by neither"
        + (f", {flips['alike']} as often by both" if flips["alike"] else "")
        + (f"; {flips['undecided']} chats without a verdict" if flips["undecided"] else "")
    )
    for direction in ("won", "lost"):
        turned = flips[direction]
        named = ", ".join(
            f"{one_line(flip['task'], _LONGEST)} ({flip['other_solved']} -> {flip['solved']} of "
            f"{flip['trials']})"
            for flip in turned[:_TASKS]
        )
        more = f", and {len(turned) - _TASKS} more" if len(turned) > _TASKS else ""
        if turned:
            yield f"  {direction}: {named}{more}"


def _grids(
    content: Mapping[str, Any], pair: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> Iterator[Grid]:
    one, other = pair["run"], pair["other"]
    columns = (
        "metric", other, one, "difference", "95 % interval", "p", "p (Holm)", "pairs", "higher",
        "lower",
    )  # fmt: skip
    rows = [
        (
            entry["metric"],
            number(entry["other_mean"]),
            number(entry["mean"]),
            signed(entry["difference"]),
            interval(entry),
            chance(entry["p"]),
            holm_chance(entry),
            str(entry["n"]),
            str(len(entry["higher"])),
            str(len(entry["lower"])),
        )
        for entry in entries
    ]
    yield Grid(f"{one} less {other}; tasks in which it is higher, lower", columns, rows)
    yield _power_grid(content, entries)
    if pair["passes"]:
        yield _pass_grid(pair)
    if pair["win_rate"] is not None:
        yield preference_grid(pair)


def _power_grid(content: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> Grid:
    power = f"{100 * content['protocol']['power']:.0f} %"
    rows = [
        (
            entry["metric"],
            signed(entry["difference"]),
            "" if entry["detectable"] is None else number(entry["detectable"]),
            str(entry["tasks"]),
            *needed(entry),
        )
        for entry in entries
    ]
    columns = ("metric", "difference", "detectable", "tasks", "tasks needed", "trials needed")
    return Grid(f"smallest difference found with power {power}; to find this one", columns, rows)


def _pass_grid(pair: Mapping[str, Any]) -> Grid:
    rows = [
        (
            entry["measure"].replace("k", str(entry["k"])),
            *(
                f"{number(mean)} {interval({'low': bounds[0], 'high': bounds[1]})}".rstrip()
                for mean, bounds in (
                    (entry["other_mean"], entry["other_interval"]),
                    (entry["mean"], entry["interval"]),
                )
            ),
            signed(entry["difference"]),
            interval(entry),
            chance(entry["p"]),
            str(entry["tasks"]),
        )
        for entry in pair["passes"]
    ]
    columns = (
        f"{pair['success']} over trials", pair["other"], pair["run"], "difference",
        "95 % interval", "p", "tasks",
    )  # fmt: skip
    return Grid("pass^k: all of k trials solve a task; pass@k: one of them does", columns, rows)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _write(path: Path, text: str) -> None:
    with AtomicFile(path) as file:
        file.write(f"{text}\n".encode())

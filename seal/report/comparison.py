"""Runs compared, and the files that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seal.core.errors import UsageError
from seal.experiments.comparison.runs import named_runs
from seal.experiments.comparison.study import CompareSettings, study
from seal.experiments.result_files import check_results_folder, write_json
from seal.report.anchors import task_link
from seal.report.comparison_page import PAGE, comparison_body, write_page
from seal.report.comparison_tables import LATEX, MARKDOWN, write_latex, write_markdown
from seal.report.lanes import Lane, measure_differences
from seal.report.outcomes import decisive_of
from seal.report.tables import headline_of, main_metrics
from seal.runs.run_folder import RunFolder

JSON = "comparison.json"
_FILES = (JSON, MARKDOWN, LATEX, PAGE)


def compare(paths: Sequence[Path], settings: CompareSettings, out: Path | None) -> dict[str, Any]:
    """Return what runs differ in, and write it into a folder where one is given.

    The family over which p is corrected are the metrics of the report's short table.

    Args:
        paths: Run folders, the base first.
        settings: How they are compared.
        out: Folder for comparison.json, .md, .tex and .html; None: nothing is written.

    Raises:
        UsageError: Runs that cannot be compared, or a folder that holds something else.
        UnknownNameError: No run has the metric.
        DataError: A folder is no run, or is not scored, or a file of it is damaged.
    """
    if out is not None:
        # An ablation has a comparison.json too.
        check_results_folder(out, _FILES, "a comparison")
    runs = named_runs(paths)
    played = list(runs.values())
    family = main_metrics([run.summary().get("metrics", {}) for run in played], headline_of(played))
    content = study(runs, settings, family, decisive_of(played))
    content["notes"] += _missing(runs)
    if out is not None:
        write_comparison(content, runs, out)
    return content


def _missing(runs: Mapping[str, RunFolder]) -> list[str]:
    """Return a note where runs have no chats to lead to; their scores are compared all the same."""
    names = [name for name, run in runs.items() if not run.trajectories_path.is_file()]
    if not names:
        return []
    return [
        f"no trajectories.jsonl in {', '.join(names)}: the steps in which chats part are not told, "
        "and links to chats may lead nowhere"
    ]


def write_comparison(content: Mapping[str, Any], runs: Mapping[str, RunFolder], out: Path) -> None:
    """Write the files of a comparison.

    Args:
        content: What `compare` returned.
        runs: Name to run, as in the content.
        out: Folder; what it has of these files is replaced.
    """
    out.mkdir(parents=True, exist_ok=True)
    write_json(content, out / JSON)
    write_markdown(content, out / MARKDOWN)
    write_latex(content, out / LATEX)
    write_page(content, runs, out / PAGE)


class ComparisonSection:
    """Of a report of several runs: each less the first."""

    title = "Comparison"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the tables; None of one run, or where the runs do not measure the same."""
        places = {lane.label: place for place, lane in enumerate(lanes) if lane.kind == "run"}
        runs = {label: lanes[place].run for label, place in places.items()}
        scored = all(run.scores_path.is_file() for run in runs.values())
        if len(runs) < 2 or not scored or measure_differences(list(runs.values())):
            return None
        played = list(runs.values())
        chosen = [lanes[place].metrics for place in places.values()]
        family = main_metrics(chosen, headline_of(played))

        def link(name: str, task: str, trial: int | None, step: int | None) -> str:
            return task_link(task, places[name], trial, step)

        try:
            content = study(runs, CompareSettings(), family, decisive_of(played))
        except UsageError:  # no task in common: nothing stands beside each other
            return None
        return comparison_body(content, runs, link)

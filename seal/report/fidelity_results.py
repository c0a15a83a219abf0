"""How true simulators are to records, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seal.experiments.fidelity import ANSWER, ERROR
from seal.report.chat_records import DECISIVE
from seal.report.grids import Grid, interval, number


def fidelity_tables(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield the tables of `seal.experiments.fidelity.fidelity`.

    The second is of the metrics that the results change, and of those that decide.
    """
    simulator = content["simulator"]
    rows = [
        [record, measure, *_estimate(entry, "mean"), str(entry["n"])]
        for record, found in content["calls"].items()
        for measure, entry in found["measures"].items()
    ]
    columns = ["record", "measure", "mean", "95 % interval", "calls"]
    if rows:
        yield Grid(f"{simulator} held against recorded answers (1: as recorded)", columns, rows, 2)
    answers = [
        [record, what, str(count), number(count / found["calls"])]
        for record, found in content["calls"].items()
        for what, count in found["answers"].items()
        if found["answers"].keys() - {ANSWER, ERROR}
    ]
    if answers:
        yield Grid(f"what {simulator} gave", ["record", "what came", "calls", "share"], answers, 2)
    scores = [
        [
            *(entry["other"], entry["metric"], number(entry["other_mean"]), number(entry["mean"])),
            *(*_estimate(entry, "difference"), str(entry["n"])),
        ]
        for entry in content["scores"]
        if entry["difference"] is not None and (entry["difference"] or entry["metric"] in DECISIVE)
    ]
    if scores:
        columns = ["run", "metric", "recorded", simulator, "difference", "95 % interval", "pairs"]
        yield Grid(f"scores with the results of {simulator}", columns, scores, 2)
    elif content["scores"]:
        yield f"the results of {simulator} change no score"
    order = [entry for entry in content["order"] if entry["metric"] in DECISIVE]
    if order:
        rows = [
            [
                f"{entry['run']} less {entry['other']}",
                entry["metric"],
                *_estimate(entry["recorded"], "difference"),
                *_estimate(entry["simulated"], "difference"),
                "yes" if entry["kept"] else "no",
            ]
            for entry in order
        ]
        columns = ["runs", "metric", "recorded", "95 %", simulator, "95 %", "order kept"]
        yield Grid("order of the runs", columns, rows, 2)


def _estimate(entry: Mapping[str, Any], name: str) -> tuple[str, str]:
    return number(entry[name]), interval(entry)

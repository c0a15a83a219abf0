"""Judges and simulated users of runs: sections of the report, and lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from seal.core.text import counted, goal_name
from seal.evaluation.scoring import HALLUCINATION, INSTRUCTION
from seal.report.grids import (
    Columns,
    Estimate,
    Grid,
    chance,
    figure,
    grid_of,
    interval,
    listed,
    with_interval,
)
from seal.report.lanes import Lane, lanes_of
from seal.report.pages import paragraphs, table
from seal.runs.run import RunFolder

# -- What the judges of a run agreed on, in plain lines and tables.

SHOWN = 5
"""Goals that are named where a judge and a reference differ."""
_MOST_WRONG = 10
"""Goals that are named of those on which several judges differ."""
_ALPHA = 0.05


def _percent(value: float | None) -> str:
    return "n/a" if value is None else f"{100 * value:.2f}"


_P = ("p (Holm)", figure("p_holm", chance))
_JUDGES: Columns = (
    ("judge", "judge"),
    ("agrees, %", figure("agreement", _percent)),
    ("solved, %", figure("solved", _percent)),
    ("kappa [95 % interval]", lambda entry: with_interval(entry["kappa"], entry)),
    ("only it", "over"),
    ("only they", "under"),
    _P,
)
_PAIRS: Columns = (
    ("judge", "judge"),
    ("other", "other"),
    ("only it is right", "only"),
    ("only the other", "only_other"),
    _P,
)
_GOALS: Columns = (
    ("task", "task"),
    ("reference", "reference"),
    ("judges that differ", lambda entry: ", ".join(entry["wrong"])),
    ("n", lambda entry: str(len(entry["wrong"]))),
)


def judge_tables(summary: Mapping[str, Any]) -> Iterator[Grid]:
    """Yield how the judges of each panel agree with people, or with rules if no people judged.

    The first table has the judges. The second has pairs that differ by more than chance. The third
    has the goals on which most judges differ.

    Args:
        summary: Of a run.
    """
    for metric, against, found in _panels(summary):
        yield from _panel(f"{metric}: ", against, found)


def judge_section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the tables of the report with their notes; None where no panel was audited."""
    parts: list[Grid | str] = []
    for lane in lanes:
        for metric, against, found in _panels(lane.summary):
            parts += _panel(f"{lane.label}, {metric}: ", against, found)
            parts += _panel_notes("", found)
    return paragraphs(parts, wrapping=True) or None


def _panels(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield each metric of several judges, what they are held against, and how they do."""
    for metric, compared in (summary.get("audit") or {}).items():
        against = "people" if "people" in compared else "rules"
        found = compared.get(against) if metric != "labels" else None
        if found and "judges" in found:
            yield metric, against, found


def _panel(metric: str, against: str, found: Mapping[str, Any]) -> Iterator[Grid]:
    table = grid_of(f"{metric}each judge against {against}", _JUDGES, found["judges"])
    known = [against, "100.00", _percent(found["solved_of_reference"])]
    known += [""] * (len(_JUDGES) - len(known))
    yield table._replace(rows=[known, *table.rows])
    if sure := _sure(found["pairs"]):
        yield grid_of(f"{metric}judges that differ by more than chance", _PAIRS, sure)
    goals, most = found["goals"], found["goals"][:_MOST_WRONG]
    if most:
        title = f"{metric}goals on which most judges differ, {len(most):,} of {len(goals):,}"
        yield grid_of(title, _GOALS, most, names=3)


def _sure(pairs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [pair for pair in pairs if pair["p_holm"] < _ALPHA]


def _panel_notes(metric: str, found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what columns mean, how many pairs differ by more than chance, and on which tasks."""
    yield (
        f"{metric}only it, only they: goals that only the judge, or only the others, call solved; "
        "p: of both, McNemar's exact, corrected by Holm over the judges; kappa: Cohen's"
    )
    sure = _sure(found["pairs"])
    pairs = counted(len(found["pairs"]), "pair")
    yield (
        f"{metric}{len(sure)} of {pairs} of judges differ in how often they are right, p < {_ALPHA}"
    )
    for pair in sure:
        tasks = [
            goal["task"]
            for goal in found["goals"]
            if pair["other"] in goal["wrong"] and pair["judge"] not in goal["wrong"]
        ]
        named = listed(tasks, SHOWN)
        yield f"  {pair['judge']} is right and {pair['other']} is not: {named}"


def judging_notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each judged metric with votes, and for each audit.

    Args:
        summary: Of a run.
    """
    for metric, judged in (summary.get("judging") or {}).items():
        yield f"{metric}: {_votes(judged)}"
    audits = summary.get("audit") or {}
    for metric, compared in audits.items():
        if metric != "labels":
            for reference, found in compared.items():
                yield from _audit(f"{metric} against {reference}", found)
    for metric, _, found in _panels(summary):
        yield from _panel_notes(f"{metric}: ", found)
    labels = audits.get("labels") or {}
    unused = [f"{labels[name]} {name}" for name in ("undecided", "empty") if labels.get(name)]
    if unused:
        yield f"people decide {counted(labels['taken'], 'goal')}; {', '.join(unused)}"
    if labels.get("problems"):
        yield (
            f"{counted(len(labels['problems']), 'row')} without a label, such as "
            f"{labels['problems'][0]}"
        )


def _votes(judged: Mapping[str, Any]) -> str:
    votes = judged["votes"]
    parts = [f"{counted(votes, 'vote')} on each goal" if votes else "no vote"]
    if judged["judges"]:
        parts[0] += f" by {', '.join(judged['judges'])}"
    if "rate" in judged:
        parts.append(f"rate {judged['rate']:.1f} ± {judged['deviation']:.1f} over the runs")
    same = [f"{value:.3f} ({judge})" for judge, value in judged["agreement"].items()]
    if same:
        parts.append(f"agreement with itself {', '.join(same)}")
    parts += _kappa(judged)
    if judged["unusable"]:
        lost = f", {counted(judged['lost'], 'goal')} lost" if judged["lost"] else ""
        parts.append(f"{judged['unusable']} unusable{lost}")
    return "; ".join(parts)


def _kappa(judged: Mapping[str, Any]) -> Iterator[str]:
    goals = judged["kappa_n"]
    if judged["kappa"] is not None:
        votes = judged.get("kappa_votes", judged["votes"])
        of = "" if votes == judged["votes"] else f" with {counted(votes, 'usable vote')} each"
        yield f"Fleiss' kappa {judged['kappa']:.3f} over {counted(goals, 'goal')}{of}"
    elif goals:
        yield f"no Fleiss' kappa, for all votes on {counted(goals, 'goal')} are the same"
    elif judged["votes"] > 1:
        yield "no Fleiss' kappa, for no goal has two usable votes"


def _audit(what: str, found: Mapping[str, Any]) -> Iterator[str]:
    if not found["n"]:
        yield f"{what}: nothing to compare"
        return
    shares = {name: found[name] for name in ("agreement", "precision", "recall")}
    told = ", ".join(f"{n} {'n/a' if v is None else f'{v:.3f}'}" for n, v in shares.items())
    unmatched = f", {found['unmatched']} not judged" if found["unmatched"] else ""
    if found.get("kappa") is not None:  # not in runs that were audited before it was told
        told += f", Cohen's kappa {found['kappa']:.3f} {interval(found)}".rstrip()
    yield f"{what}: {told} over {counted(found['n'], 'goal')}{unmatched}"
    for case in found["examples"][:SHOWN]:
        trial = f" trial {case['trial']}" if case["trial"] else ""
        place = f"{case['task']}{trial} {goal_name(case['goal'])}"
        yield f"  {place}: judge {case['judge']}, else {case['reference']}"
    if found["differ"] > SHOWN:
        yield f"  and {found['differ'] - SHOWN} more that differ"


# -- Errors of simulated users by what the user was told: the ablation of the brief.
#
# Source: ToolSandbox (Lu et al., 2024), Tables 2 and 3. They give the rates of hallucination and of
# instruction-following errors for three users: with the goal alone, with a knowledge boundary, and
# with a demonstration besides. Here each run is a row; the rates are those of
# `seal.evaluation.conversation_audit`.


@dataclass(frozen=True, slots=True)
class UserRow:
    """The users of one run."""

    label: str
    """Of the run."""
    brief: str
    """Parts of the persona that they were told, as run.json names them; empty where it does not."""
    hallucination: Estimate
    """Share of conversations."""
    instruction: Estimate
    """Share of conversations."""

    @property
    def conversations(self) -> int:
        """How many there were."""
        return self.instruction.n


def user_rows(lanes: Sequence[Lane]) -> list[UserRow]:
    """Return a row for each run whose users were audited, those with the shortest brief first."""
    rows = [
        UserRow(
            lane.label, _brief(lane.run), lane.estimate(HALLUCINATION), lane.estimate(INSTRUCTION)
        )
        for lane in lanes
    ]
    return sorted((row for row in rows if row.conversations), key=lambda row: len(row.brief))


def percent(cell: Estimate) -> str:
    """Return a share in per cent, `n/a` where there is none."""
    return "n/a" if cell.mean is None else f"{100 * cell.mean:.1f} %"


def user_notes(run: RunFolder) -> Iterator[str]:
    """Yield what the simulated users of a run did wrong, in plain lines."""
    for row in user_rows([lane for lane in lanes_of([run]) if lane.kind == "run"]):
        yield (
            f"user of {counted(row.conversations, 'conversation')}: hallucination "
            f"{percent(row.hallucination)}, instruction-following errors {percent(row.instruction)}"
        )


def user_section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the report's table; None where no user was audited."""
    rows, title = user_rows(lanes), "Share of conversations with an error of the user"
    grid = grid_of(title, _USERS, rows, names=2)
    return table(grid, "Errors of the simulated user") if rows else None


_USERS: Columns = (
    ("told", figure("brief", lambda brief: brief or "not known: recorded elsewhere")),
    ("run", "label"),
    ("hallucination", figure("hallucination", percent)),
    ("instruction following", figure("instruction", percent)),
    ("conversations", "conversations"),
)


def _brief(run: RunFolder) -> str:
    user = (run.manifest().get("measure") or {}).get("user")
    return str(user.get("brief") or "") if isinstance(user, dict) else ""

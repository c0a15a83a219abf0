"""Joins recorded preferences to the goals of two runs, and refuses those of other runs.

A file `preference_results` of upstream names two models, and has the first trial of each query. A
run goes by its folder or by its model; a run of `recorded:NAME` also by NAME.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seal.core import JSON, DataError
from seal.core.text import normalised
from seal.evaluation.judges.verdict_files import (
    IDENTITY,
    UNRECORDED,
    Ballots,
    Place,
    PreferenceFile,
)
from seal.evaluation.preference import Pairing
from seal.pools.upstream import reader_of
from seal.runs.rescore import check_answers, query_id_of
from seal.runs.run_folder import RunFolder

_RECORDED = "recorded:"
_NO_GOAL = "no goal that both runs played"
_UNJUDGED = "no round is complete"


@dataclass(frozen=True, slots=True)
class RecordedPreferences:
    """What a file says of two runs."""

    path: Path
    ballots: Mapping[Place, Ballots]
    """Of goals that both runs played."""
    left_out: Mapping[str, int]
    """Reason to how many queries of the file were left out."""

    def pairing(self, place: Place) -> Pairing:
        """Return how a goal came out for the candidate; without outcome if nothing is recorded."""
        found = self.ballots.get(place)
        return UNRECORDED if found is None else found.pairing()

    def judge(self) -> dict[str, JSON]:
        """Return who judged, for the result of the win rate.

        Returns:
            {judge, models, votes, file, digest, taken: goals, left_out}
        """
        return {
            "judge": IDENTITY,
            "models": [],
            "votes": 0,
            "file": self.path.name,
            "digest": hashlib.sha256(self.path.read_bytes()).hexdigest()[:12],
            "taken": len(self.ballots),
            "left_out": dict(sorted(self.left_out.items())),
        }


def recorded_preferences(run: RunFolder, base: RunFolder, path: Path) -> RecordedPreferences:
    """Return what a file says of two runs.

    Args:
        run: The candidate.
        base: The reference.
        path: Of `preference_results`, JSON or CSV by tabs.

    Raises:
        DataError: The file cannot be read, has another format, or is of other runs.
    """
    found: PreferenceFile = reader_of("preferences", run.pool_name)(path)
    turned = _is_turned(found, run, base)
    left_out: Counter[str] = Counter()
    ballots: dict[Place, Ballots] = {}
    joined = _joined(found, run, base)
    for query_id, points in found.points.items():
        places = joined[query_id]
        if query_id in found.unjudged:
            left_out[_UNJUDGED] += 1
        elif len(places) == 1:
            theirs, ours = points[::-1] if turned else points
            ballots[places[0]] = Ballots(theirs, ours)
        else:
            left_out["several tasks of this id" if places else _NO_GOAL] += 1
    _check_any(found.path, ballots, left_out, run, base)
    for side, folder in ((0, run if turned else base), (1, base if turned else run)):
        judged = {
            joined[query_id][0][0]: answers[side]
            for query_id, answers in found.answers.items()
            if len(joined[query_id]) == 1
        }
        check_answers(folder, found.path, judged, "preferences")
    return RecordedPreferences(found.path, ballots, left_out)


def _joined(found: PreferenceFile, run: RunFolder, base: RunFolder) -> Mapping[str, list[Place]]:
    """Return the places of each query id: those of its group, which begins the file's name."""
    played = _played(run) & _played(base)
    places: defaultdict[str, list[Place]] = defaultdict(list)
    for task in base.tasks():
        query_id = task.id if task.id in found.points else query_id_of(task.id)
        text = found.queries.get(query_id)
        same = text is None or normalised(text) == normalised(task.goals[0].text)
        if task.id in played and same:
            places[query_id].append((task.id, 0, 0))
    for query_id, several in places.items():
        grouped = [
            place
            for place in several
            if found.path.stem.startswith(place[0].rpartition("/")[0] + "_")
        ]
        places[query_id] = grouped or several
    return places


def _played(run: RunFolder) -> set[str]:
    """Return the tasks whose first trial was played."""
    return {chat.task_id for chat in run.trajectories() if not chat.trial}


def _names(run: RunFolder) -> set[str]:
    model = run.manifest().get("system", {}).get("model", {})
    name = str(model.get("model", "") if isinstance(model, Mapping) else model)
    return {run.path.resolve().name, name, name.removeprefix(_RECORDED)} - {""}


def _is_turned(found: PreferenceFile, run: RunFolder, base: RunFolder) -> bool:
    """Tell whether a file names the candidate first.

    Raises:
        DataError: It compares other runs, or either name is that of both.
    """
    (first, second), ours, theirs = found.models, _names(run), _names(base)
    straight = first in theirs and second in ours
    turned = first in ours and second in theirs
    if straight and turned:
        raise DataError(
            f"{found.path}: {first} and {second} name either of the two runs; name the runs by "
            "their folders"
        )
    if not (straight or turned):
        known = "; ".join(
            f"{side.path} goes by {', '.join(sorted(_names(side)))}" for side in (base, run)
        )
        raise DataError(
            f"{found.path}: preferences of other runs: it compares {first} and {second}, but "
            f"{known}; give the file of these runs"
        )
    return turned


def _check_any(
    path: Path,
    ballots: Mapping[Place, Ballots],
    left_out: Mapping[str, int],
    run: RunFolder,
    base: RunFolder,
) -> None:
    if not ballots:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(left_out.items()))
        raise DataError(
            f"{path}: no preference on a goal that {base.path} and {run.path} both played "
            f"({reasons or 'the file is empty'}); give the file of these runs"
        )

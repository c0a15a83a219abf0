"""Joins recorded preferences to the goals of two runs, and refuses those of other runs.

A file `preference_results` of upstream names two models, and has the first trial of each query. A
table of SEAL's own (`seal.evaluation.judges.verdict_files`) names two runs in each row. A run may
be named by its folder or by its model; a run of `recorded:NAME` also by NAME.
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
    Vote,
    read_votes,
)
from seal.evaluation.preference import Pairing
from seal.pools.upstream import reader_of
from seal.runs.rescore import check_answers, query_id_of
from seal.runs.run_folder import RunFolder

_RECORDED = "recorded:"
_NO_GOAL = "no goal that both runs played"
_OTHER_RUNS = "of other runs"
_UNJUDGED = "no round is complete"


@dataclass(frozen=True, slots=True)
class RecordedPreferences:
    """What a file says of two runs."""

    path: Path
    ballots: Mapping[Place, Ballots]
    """Of goals that both runs played."""
    left_out: Mapping[str, int]
    """Reason to how many goals or rows of the file were left out."""
    problems: tuple[str, ...] = ()
    """Rows that could not be read, with the reason."""

    def pairing(self, place: Place) -> Pairing:
        """Return how a goal came out for the candidate; without outcome if nothing is recorded."""
        found = self.ballots.get(place)
        return UNRECORDED if found is None else found.pairing()

    def judge(self) -> dict[str, JSON]:
        """Return who judged, for the result of the win rate.

        Returns:
            {judge, models, votes, file, digest, taken: goals, left_out, problems}
        """
        return {
            "judge": IDENTITY,
            "models": [],
            "votes": 0,
            "file": self.path.name,
            "digest": hashlib.sha256(self.path.read_bytes()).hexdigest()[:12],
            "taken": len(self.ballots),
            "left_out": dict(sorted(self.left_out.items())),
            "problems": list(self.problems),
        }


def recorded_preferences(run: RunFolder, base: RunFolder, path: Path) -> RecordedPreferences:
    """Return what a file says of two runs.

    Args:
        run: The candidate.
        base: The reference.
        path: Of `preference_results`, JSON or CSV by tabs, or our own table, CSV by commas.

    Raises:
        DataError: The file cannot be read, has another format, or is of other runs.
    """
    if path.suffix.lower() == ".json" or _by_tabs(path):
        return _of_upstream(run, base, reader_of("preferences", run.pool_name)(path))
    return _of_table(run, base, path)


def _by_tabs(path: Path) -> bool:
    try:
        with path.open("rb") as lines:
            return b"\t" in lines.readline()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; give a file of preferences") from None


def _of_upstream(run: RunFolder, base: RunFolder, found: PreferenceFile) -> RecordedPreferences:
    turned = _turned(found.models, _names(run), _names(base), found.path)
    if turned is None:
        raise _other_runs(found.path, " and ".join(found.models), run, base)
    left_out: Counter[str] = Counter()
    ballots: dict[Place, Ballots] = {}
    played = _played(run, base)
    joined = _joined(found, base, played)
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


def _joined(
    found: PreferenceFile, base: RunFolder, played: Mapping[str, set[Place]]
) -> Mapping[str, list[Place]]:
    """Return the places of each query id: those of its group, which begins the file's name."""
    places: defaultdict[str, list[Place]] = defaultdict(list)
    for task in base.tasks():
        query_id = task.id if task.id in found.points else query_id_of(task.id)
        text = found.queries.get(query_id)
        same = text is None or normalised(text) == normalised(task.goals[0].text)
        if (task.id, 0, 0) in played.get(task.id, ()) and same:
            places[query_id].append((task.id, 0, 0))
    for query_id, several in places.items():
        grouped = [
            place
            for place in several
            if found.path.stem.startswith(place[0].rpartition("/")[0] + "_")
        ]
        places[query_id] = grouped or several
    return places


def _of_table(run: RunFolder, base: RunFolder, path: Path) -> RecordedPreferences:
    votes, problems = read_votes(path)
    ours, theirs = _names(run), _names(base)
    played = _played(run, base)
    counted: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    left_out: Counter[str] = Counter()
    for vote in votes:
        turned = _turned(vote.runs, ours, theirs, path)
        if turned is None:
            left_out[_OTHER_RUNS] += 1
        elif vote.place not in played.get(vote.place[0], ()):
            left_out[_NO_GOAL] += 1
        else:
            counted[vote.place][_side(vote, turned)] += 1
    if votes and left_out[_OTHER_RUNS] == len(votes):
        raise _other_runs(path, " and ".join(votes[0].runs), run, base)
    ballots = {place: Ballots(**of) for place, of in counted.items()}
    left_out.update({"malformed rows": len(problems)} if problems else {})
    _check_any(path, ballots, left_out, run, base)
    return RecordedPreferences(path, ballots, left_out, tuple(problems))


def _side(vote: Vote, turned: bool) -> str:
    if vote.better == "tie":
        return "tie"
    return "run" if (vote.better == "second") != turned else "base"


def _played(run: RunFolder, base: RunFolder) -> dict[str, set[Place]]:
    """Return the goals that both runs played, by task."""
    chats = {(one.task_id, one.trial) for one in run.trajectories()}
    both = chats & {(one.task_id, one.trial) for one in base.trajectories()}
    goals = {task.id: len(task.goals) for task in base.tasks()}
    played: defaultdict[str, set[Place]] = defaultdict(set)
    for task_id, trial in both:
        played[task_id] |= {(task_id, trial, goal) for goal in range(goals[task_id])}
    return played


def _names(run: RunFolder) -> set[str]:
    model = run.manifest().get("system", {}).get("model", {})
    name = str(model.get("model", "") if isinstance(model, Mapping) else model)
    return {run.path.resolve().name, name, name.removeprefix(_RECORDED)} - {""}


def _turned(names: tuple[str, str], ours: set[str], theirs: set[str], path: Path) -> bool | None:
    """Tell whether the first name is the candidate's; None: they are not the names of both runs."""
    straight = names[0] in theirs and names[1] in ours
    turned = names[0] in ours and names[1] in theirs
    if straight and turned:
        raise DataError(
            f"{path}: {names[0]} and {names[1]} name either of the two runs; name the runs by "
            "their folders"
        )
    return turned if straight or turned else None


def _other_runs(path: Path, named: str, run: RunFolder, base: RunFolder) -> DataError:
    known = "; ".join(
        f"{side.path} goes by {', '.join(sorted(_names(side)))}" for side in (base, run)
    )
    return DataError(
        f"{path}: preferences of other runs: it compares {named}, but {known}; give the file of "
        "these runs"
    )


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

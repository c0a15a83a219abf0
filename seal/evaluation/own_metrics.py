"""Metrics of one's own: functions, and metrics by name; tried before they are trusted."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from seal.core import (
    CodeRefusedError,
    DataError,
    Metric,
    OverdueError,
    Scale,
    Score,
    SealError,
    Task,
    Tool,
    Trajectory,
    UnknownNameError,
    UsageError,
    nearest,
    shortened,
)
from seal.core.concurrency import in_time
from seal.core.registry import Registry
from seal.core.settings import check_plain, fields_of, fits, places_of, takes
from seal.evaluation.goals import (
    JUDGED,
    LARGEST_SCORE,
    RATE,
    Guarded,
    LeftOutMetric,
    lent,
    out_of_scale,
    told,
)
from seal.evaluation.missions import DIALOGUE
from seal.evaluation.ranking_metrics import MEASURES, Retrieval, metric_names
from seal.evaluation.scoring import USUAL_SCALES, OneScore, inmost, is_ours, scales_of

_LOG = logging.getLogger(__name__)
_EXPECTED = (
    "expected a number, True or False, a map of names to these, a list with one of them for each "
    "goal, or a list of seal.Score of this chat; NaN, infinity and an empty map or list are none "
    "of these"
)
_SCORES = (
    "expected a list of seal.Score of this chat, each with a finite number or None as its value"
)
_DECLARED = {
    "names": (Sequence[str], "a list of texts"),
    "scales": (Mapping[str, Scale], "a map of names to seal.core.Scale"),
}
"""Attribute of a metric to its type, and to the type in words."""


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A function of (task, trajectory), or of (task, trajectory, tools), as a metric.

    Args:
        function: Returns a number or a bool, which becomes the score of the chat's last goal. It
            may also return a map of metric names to these, a list with one of either for each goal,
            or `Score` records.
        name: Of the metric where the function names none.
    """

    function: Callable[..., Any]
    name: str

    @property
    def identity(self) -> str:
        """Module and name of the function, by which a run's record names the metric."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    @property
    def scales(self) -> Mapping[str, Scale]:
        """What the scores mean, as the function's attribute `scales` declares it."""
        found: Mapping[str, Scale] = getattr(self.function, "scales", {})
        return found

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return what the function says, as scores.

        Raises:
            UsageError: It returned something else.
        """
        found = self.function(*(task, trajectory, tools)[: places_of(self.function, 3, 2)])
        if isinstance(found, Sequence) and not isinstance(found, str):
            if found and all(isinstance(score, Score) for score in found):
                return list(found)
            if len(found) == len(task.goals):
                by_goal = (self._of(task, trajectory, *said) for said in enumerate(found))
                return list(chain.from_iterable(by_goal))
            raise _unusable(self.name, found, task, _EXPECTED)
        return self._of(task, trajectory, len(task.goals) - 1, found)

    def _of(self, task: Task, trajectory: Trajectory, goal: int, said: Any) -> list[Score]:
        named = said if isinstance(said, Mapping) else {self.name: said}
        known = all(isinstance(name, str) and _is_number(named[name]) for name in named)
        if not named or not known:
            raise _unusable(self.name, said, task, _EXPECTED)
        return [
            Score(task.id, trajectory.trial, goal, name, float(value))
            for name, value in named.items()
        ]


def own_metric(what: Any, found: Any) -> Guarded:
    """Return a metric of the user's as one of ours.

    Args:
        what: What the user named.
        found: What that stands for: a class, an object with `score`, or a function.

    Raises:
        UsageError: It is none of these, or its `names` or `scales` are of another type.
    """
    try:
        metric = found() if isinstance(found, type) else found
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a stranger's class raises
        raise UsageError(
            f"the metric {_name(found)} is not made: {told(error)}; give {_name(found)}(...) itself"
        ) from error
    if inspect.isfunction(metric) or inspect.ismethod(metric):
        check_plain(metric, f"the metric {_name(what)}")
        if places_of(metric, 3, 2) is None:
            raise UsageError(
                f"the metric {_name(what)} takes {inspect.signature(metric)}; expected a function "
                "of (task, trajectory), or of (task, trajectory, tools)"
            )
        metric = FunctionMetric(metric, metric.__name__)
    score = getattr(metric, "score", None)
    if not callable(score) or not takes(score, 3):
        raise UsageError(
            f"{what!r} is no metric: expected a class or object with "
            f"score(task, trajectory, tools), or a function of (task, trajectory), "
            f"got {type(metric).__name__}"
        )
    check_plain(score, f"the metric {_name(what)}: score")
    for part, (kind, said) in _DECLARED.items():
        try:
            found = getattr(metric, part, None)
        except Exception as error:  # whatever a stranger's property raises
            found = told(error)
        if found and not fits(found, kind):
            raise UsageError(
                f"the metric {_name(what)}: expected its {part} as {said}, "
                f"got {shortened(found)}; mend its {part}, or leave the metric out"
            )
    return Guarded(metric, what if isinstance(what, str) else _name(metric))


def try_metrics(
    metrics: Iterable[Guarded], task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]
) -> None:
    """Score one chat, so that a metric that cannot work is told before more chats are played.

    Raises:
        UsageError: A metric raised, or returned what is no score; the text names it.
    """
    for metric in metrics:
        try:
            scores = in_time(partial(_scored, metric.inner, task, lent(trajectory), tools))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever it raises is its author's to mend
            if isinstance(error, SealError) and not isinstance(error, OverdueError):
                raise
            raise UsageError(
                f"the metric {metric.name} failed on the first chat that ended, task {task.id}: "
                f"{told(error)}; mend it, or leave it out"
            ) from error
        expected = _EXPECTED if isinstance(metric.inner, FunctionMetric) else _SCORES
        if not scores and not is_ours(metric):
            raise _unusable(metric.name, scores, task, expected)
        for score in scores:
            if not _is_score(score, task, trajectory):
                raise _unusable(metric.name, score, task, expected)
            if said := out_of_scale(score, metric.inner):
                raise UsageError(f"task {task.id}: the metric {metric.name}: {said}")


def _scored(
    metric: Metric, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]
) -> list[Any]:
    found: Any = metric.score(task, trajectory, tools)
    return list(found) if isinstance(found, Iterable) else [found]


def _unusable(metric: str, said: Any, task: Task, expected: str) -> UsageError:
    return UsageError(f"task {task.id}: the metric {metric} returned {shortened(said)}; {expected}")


def _is_score(score: Any, task: Task, trajectory: Trajectory) -> bool:
    kinds = {name: kind for name, kind in fields_of(Score).items() if name != "value"}
    if not isinstance(score, Score) or not all(fits(getattr(score, n), kinds[n]) for n in kinds):
        return False
    chat, value = (score.task_id, score.trial), score.value
    if chat != (task.id, trajectory.trial) or score.goal not in range(len(task.goals)):
        return False
    plain = isinstance(value, (int, float)) and _is_number(value)
    return value is None or plain


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, (Real, np.bool_))
    # No number that is none is between two others.
    return is_real and bool(-LARGEST_SCORE <= value <= LARGEST_SCORE)


def _name(what: Any) -> str:
    return str(getattr(what, "name", None) or getattr(what, "__name__", type(what).__name__))


# -- Metrics by name, and the names of their scores.


def named_metrics(
    names: Any, place: str, registry: Registry, allow_code: Collection[str]
) -> tuple[Guarded | LeftOutMetric, ...]:
    """Return the metrics that data names; `LeftOutMetric` for one that cannot be had.

    Args:
        names: A list of names; a dotted path counts where its module is allowed.
        place: Where they stand, for messages.
        registry: Of metrics.
        allow_code: Modules that are allowed.

    Raises:
        DataError: It is no list of texts.
        UsageError: What is allowed is not there, or no metric.
    """
    if not isinstance(names, list):
        raise DataError(f"{place}: expected a list of metrics, got {shortened(names)}; mend it")
    return tuple(_named(name, place, registry, allow_code) for name in names)


def _named(
    name: Any, place: str, registry: Registry, allow_code: Collection[str]
) -> Guarded | LeftOutMetric:
    try:
        return metric_of(name, registry, lambda: registry.named(name, place, allow_code))
    except (CodeRefusedError, UnknownNameError) as error:
        return LeftOutMetric(name, str(error))
    except DataError:
        if not isinstance(name, str):
            raise
        reason = (
            f"{place} names {shortened(name)}, a function within a function, to which no path "
            "leads; give the function itself to rescore in Python, or name one by --metric"
        )
        return LeftOutMetric(name, reason)


def metric_of(what: Any, registry: Registry, found: Callable[[], Any]) -> Guarded:
    """Return a metric of the user's, or one score of a metric, as one of ours.

    Args:
        what: What the user named.
        registry: Of metrics.
        found: Gives what that stands for where it is no score.

    Raises:
        UnknownNameError: No metric and no score of that name.
        UsageError: It is no metric.
    """
    return own_metric(what, _score_of(what, registry) or found())


def _score_of(name: Any, registry: Registry) -> OneScore | None:
    """Return the score of a name such as `recall@20` or `call_f1`; None: it names a metric.

    Raises:
        UnknownNameError: It is neither; plug-ins that fail to import are logged.
    """
    if not isinstance(name, str) or ":" in name or name in registry:
        return None
    cutoff = name.partition("@")[2]
    k = int(cutoff) if cutoff.isdecimal() else 0
    known = metric_names([k or 10])
    if k and name in known:
        return OneScore(Retrieval((k,)), name)
    failed = []
    for metric in sorted(registry.names(), key=lambda one: not registry.is_ours(one)):
        try:
            kind = registry.resolve(metric)
        except UsageError as error:  # another one may have the score
            failed.append(error)
            continue
        names = getattr(kind, "names", ())
        if isinstance(names, (tuple, list)):
            if name in names:
                return OneScore(kind(), name)
            known += names
    for fault in failed:
        _LOG.warning("%s", fault)
    closest = nearest(name, known)
    raise UnknownNameError(
        "metric",
        name,
        {*registry.names(), *filter(None, [closest])},
        cure="Name one of your own my_module:NAME, or give the function itself.",
    )


def names_of(metrics: Iterable[Metric]) -> tuple[set[str], bool]:
    """Return the names that scores of metrics have, and whether these are all of them."""
    found: set[str] = set()
    are_all = True
    for metric in metrics:
        inner = inmost(metric)
        names = [inner.name] if isinstance(inner, OneScore) else getattr(inner, "names", None)
        are_all = are_all and bool(names)
        found |= {*(names or [getattr(metric, "name", "")]), *getattr(inner, "main_of_some", ())}
    return found, are_all


def is_foreign(name: str, registry: Registry) -> bool:
    """Tell whether no known metric, and no judge, gives a score of this name."""
    try:
        _score_of(name, registry)
    except UnknownNameError:
        return name not in (*JUDGED, DIALOGUE)
    return False


# -- What a benchmark of one's own declares to matter, beside the metrics that it will have.

_SLIP = 80.0
"""Likeness (`nearest`) from which on a name of no metric is likely a slip of the pen."""


def check_success(
    name: str, success: str, metrics: Iterable[Any], headline: Sequence[str] = ()
) -> None:
    """Refuse a success whose scale is known already, and that says nothing of solved tasks.

    Args:
        name: Of the benchmark.
        success: Name of the metric that says what is solved.
        metrics: As the benchmark declares them. What a text names is not loaded, and no class is
            made an object.
        headline: Names of its metrics that matter.

    Raises:
        UsageError: Of those metrics, or of the usual ones, it has no best value, or it or the
            first of the headline has a condition (`Scale.condition`).
    """
    scales = dict(USUAL_SCALES)
    for metric in metrics:
        found: Any = None
        with suppress(Exception):  # a stranger's property is told when the metric is made
            found = getattr(metric, "scales", None)
        if fits(found, _DECLARED["scales"][0]):
            scales |= found
    _check_success(name, success, scales, headline)


def _check_success(
    name: str, success: str, scales: Mapping[str, Scale], headline: Sequence[str]
) -> None:
    for part, metric in (("success", success), ("first headline", next(iter(headline), ""))):
        of = next(
            (scales[one] for one in (metric, metric.partition("@")[0]) if one in scales), RATE
        )
        if of.condition:
            raise UsageError(
                f"benchmark {name!r}: its {part} {metric!r} is of {of.condition} alone, so that "
                "whoever tries less may have more of it; name a metric of all goals, such as "
                "calls_right or pass_rate"
            )
    if success.partition("@")[0] in MEASURES:
        raise UsageError(
            f"benchmark {name!r}: its success {success!r} is of what was retrieved alone; name a "
            "metric of what was done, such as calls_right or pass_rate"
        )
    scale = scales.get(success, RATE)
    if not scale.bounded or scale.higher_is_better is None:
        raise UsageError(
            f"benchmark {name!r}: its success {success!r} has no best value that would "
            "mean a solved task; name a rate, or a metric of which 1 means solved"
        )


def check_declared(
    name: str, headline: Sequence[str], success: str, metrics: Sequence[Metric], open_ended: bool
) -> list[str]:
    """Refuse a headline or success that nobody will measure; warn of names that are likely slips.

    Args:
        name: Of the benchmark.
        headline: Names of its metrics that matter.
        success: Name of the metric that says what is solved; empty: the usual one.
        metrics: All that a run will have.
        open_ended: Whether there may be others, which show as they are scored.

    Returns:
        The names that a warning told.

    Raises:
        UsageError: No metric has the name; names the closest. Or success has no best value, or it
            or the first of the headline has a condition.
    """
    known, are_all = names_of(metrics)
    are_all = are_all and not open_ended
    _check_success(name, success, scales_of(metrics), headline)
    missing = [each for each in (*headline, success) if each and each not in known]
    closest = [nearest(each, known, 60 if are_all else _SLIP) for each in missing]
    meant = ", ".join(dict.fromkeys(filter(None, closest)))
    text = f"benchmark {name!r}: no metric is named {', '.join(dict.fromkeys(missing))}, "
    text += "which its headline or success names"
    text += f"; did you mean {meant}?" if meant else "; name one that a run has, or add the metric"
    if missing and are_all:
        raise UsageError(text)
    if meant:
        _LOG.warning("%s", text)
    return missing if meant else []


def warn_of_missing(
    declared: Mapping[str, Any],
    found: Collection[str],
    told: Collection[str],
    metrics: Iterable[Metric],
) -> None:
    """Tell of what a benchmark or a metric of one's own names, and no score has as its name.

    Args:
        declared: Name, headline and success of the benchmark; empty: it is not one's own.
        found: Names of the scores.
        told: Names that are told already.
        metrics: One's own, with the scales that they declare.
    """
    unseen = [name for name in scales_of(metrics) if name not in found]
    if unseen:
        _LOG.warning(
            "a metric declares scales of %s, but no score has that name; correct the name, or "
            "leave it out of the scales",
            ", ".join(unseen),
        )
    named = dict.fromkeys([*declared.get("headline", ()), declared.get("success", "")])
    missing = [name for name in named if name and name not in (*found, *told)]
    if missing:
        _LOG.warning(
            "benchmark %s: no metric is named %s, which its headline or success names",
            declared["name"],
            ", ".join(missing),
        )

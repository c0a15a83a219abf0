"""A bound that a run must reach, for tests of an agent or of a model."""

from __future__ import annotations

from typing import Literal

from seal.api.objects.run_object import Run
from seal.core import DataError
from seal.core.text import counted

_LISTED = 5


def assert_passes(
    run: Run, metric: str = "pass_rate", *, at_least: float, by: Literal["mean", "low"] = "mean"
) -> None:
    """Make sure that a metric of a run reaches a bound.

    Args:
        run: As `seal.run` returns it, or `seal.Run.load`.
        metric: Name, such as `pass_rate`.
        at_least: The bound, 0 to 1 for a rate.
        by: mean, or low: the low end of the 95 % interval, which chance hardly reaches.

    Raises:
        AssertionError: It does not. The text has mean, interval and n, and the tasks that scored
            worst.
        DataError: Chats failed for no fault of what was tested, or the metric applies to no task:
            there is nothing to hold against the bound.
        UnknownKeyError: No such metric; names the closest.

    Example:
        >>> import seal
        >>> from seal.testing import assert_passes
        >>> run = seal.run("sample", model="oracle", limit=5, baselines=False)
        >>> assert_passes(run, "call_f1", at_least=0.9)
    """
    found = run[metric]
    if run.summary["errors"] or run.summary["unfinished"]:
        raise DataError(
            f"{run.folder.path}: {counted(run.summary['errors'], 'chat')} failed and "
            f"{run.summary['unfinished']} were not finished; go on with "
            "seal.run(..., resume=True) before a bound is asked for"
        )
    reached = getattr(found, by)
    if reached is None:
        raise DataError(
            f"{metric} has no {by}: it applies to {counted(found.n, 'goal')}; see run.tasks"
        )
    if reached >= at_least:
        return
    scores = [one for one in run.folder.scores() if one.metric == metric and one.value is not None]
    worst = sorted(scores, key=lambda one: (one.value or 0.0, one.task_id))
    below = list(dict.fromkeys(one.task_id for one in worst if (one.value or 0.0) < at_least))
    more = f" and {len(below) - _LISTED} more" if len(below) > _LISTED else ""
    raise AssertionError(
        f"{metric} {found}: its {by} is {reached:.3f}, expected at least {at_least:g}; "
        f"below it: {', '.join(below[:_LISTED])}{more}"
    )

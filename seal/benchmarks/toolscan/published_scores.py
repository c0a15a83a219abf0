"""The metric `toolscan`: the seven patterns and success as ToolScan's tables print them.

Of a goal without any call ToolScan's code gives 0 for each pattern, so that means are over all
goals. Success is the mean of all seven of a finished goal, else 0. It does not tell whether a task
was solved. A goal that lacks gold for one of the seven has no success. Ours is `pass_rate`.

Source: Kokane et al., ToolScan (2024), Table 4 and evaluation code.
"""

from collections.abc import Mapping

from seal.evaluation.error_patterns.pattern_scores import (
    IAC_UPSTREAM,
    NO_CALL,
    PATTERNS,
    ErrorPatterns,
)
from seal.evaluation.goals import GoalChat, Value


class AsPublished(ErrorPatterns):
    """The seven patterns and success as ToolScan's code has them: 0 where no call was made."""

    names = tuple(f"toolscan_{name}" for name in (*PATTERNS, "success"))

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        found = super().measure(goal)
        found["iac"] = found[IAC_UPSTREAM]
        if found["ife"].reason == NO_CALL:
            found |= dict.fromkeys(PATTERNS, Value(0.0, reason=NO_CALL))
        found["success"] = _success(found)
        return {f"toolscan_{name}": found[name] for name in (*PATTERNS, "success")}


def _success(found: Mapping[str, Value]) -> Value:
    if not found["finished"].value:
        return found["finished"]
    lacking = [found[name] for name in PATTERNS if found[name].value is None]
    values = [found[name].value or 0.0 for name in PATTERNS]
    return lacking[0] if lacking else Value(sum(values) / len(values))

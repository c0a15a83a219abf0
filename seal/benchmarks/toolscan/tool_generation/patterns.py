r"""Which patterns of a written schema may be matched: a model's pattern must not hold up a run.

Python's `re` tries a repeated group that repeats something itself in more ways than can be counted:
`^(a+)+$` on 40 letters and a comma does not end. Such patterns are refused by their form, some
harmless ones with them: a group may repeat if it has neither a repetition nor a choice inside, or
up to nine times if what is inside has an end: `^(\d{1,3}\.){3}\d{1,3}$`.
"""

from __future__ import annotations

import re
from typing import Any

_SINGLE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""What stands for one character."""
_GROUP = re.compile(r"\((?P<inside>[^()]*)\)(?P<times>[*+]|\{\d*,?\d*\}|)")
"""An innermost group, with how often it is repeated."""
_FEW = re.compile(r"\{\d?,?\d\}")
_ENDLESS = re.compile(r"[*+]|\{\d*,\}")
_SEVERAL = re.compile(rf"{_ENDLESS.pattern}|\{{\d*,\d+\}}|\|")


def is_pattern(value: Any) -> bool:
    """Tell whether a value is a regular expression that is matched in little time."""
    try:
        return isinstance(value, str) and bool(re.compile(value)) and not _multiplies(value)
    except (re.error, OverflowError, RecursionError):
        return False


def _multiplies(pattern: str) -> bool:
    """Tell whether a repeated group can be matched in several ways each time."""
    plain = _SINGLE.sub("x", pattern)
    while group := _GROUP.search(plain):
        inside, times = group["inside"], group["times"]
        if times and (_ENDLESS if _FEW.fullmatch(times) else _SEVERAL).search(inside):
            return True
        left = _ENDLESS.search(inside) or _ENDLESS.fullmatch(times)
        several = "x*" if left else "x{0,2}" if _SEVERAL.search(inside) or times else "x"
        plain = plain[: group.start()] + several + plain[group.end() :]
    return False

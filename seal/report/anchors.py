"""Addresses inside a report, so that a number can link to its task and a finding to its step."""

from __future__ import annotations

from urllib.parse import quote

from seal.report.printable import printable


def task_link(
    task_id: str, lane: int | None = None, trial: int | None = None, step: int | None = None
) -> str:
    """Return the fragment that opens a task: `#task-ID`, or `#task-ID&lane=1&trial=0&step=5`.

    Args:
        task_id: Any text; it is percent-encoded.
        lane: Position in the report's lanes (floor, runs, ceiling); None: all are shown.
        trial: Trial to show; None: the first.
        step: Index of the step to show.
    """
    parts = [f"#task-{quote(printable(task_id), safe='/')}"]
    for name, value in (("lane", lane), ("trial", trial), ("step", step)):
        if value is not None:
            parts.append(f"{name}={value}")
    return "&".join(parts)

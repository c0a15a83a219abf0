"""CPU time, which other work on the machine disturbs least, of what the scripts here measure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence


def seconds_of(work: Callable[[], object]) -> float:
    """Return the CPU seconds that a function takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def beside_json_loads(
    work: Callable[[], object], contents: Sequence[bytes], repetitions: int
) -> dict[str, float]:
    """Return the least times of an import and of `json.loads` of its files, taken in turns."""
    loads, imports = [], []
    for _ in range(repetitions):
        loads.append(seconds_of(lambda: [json.loads(content) for content in contents if content]))
        imports.append(seconds_of(work))
    reference, ours = min(loads), min(imports)
    return {
        "files": len(contents),
        "megabytes": round(sum(map(len, contents)) / 1e6, 2),
        "json_loads_seconds": round(reference, 4),
        "import_seconds": round(ours, 4),
        "ratio": round(ours / reference, 2),
    }

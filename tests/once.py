"""What costs seconds to make is made once, by whichever test process comes first."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Once:
    """A folder that all processes of one test run share."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def made(self, name: str, make: Callable[[Path], Any]) -> tuple[Path, Any]:
        """Return a folder that is not to be changed, and what its maker returned.

        Another process may be making it: then it is waited for. Where making it fails, the next
        one tries again.
        """
        folder, told = self._root / name, self._root / f"{name}.pickle"
        with (self._root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not told.is_file():
                told.write_bytes(pickle.dumps(make(folder)))
        return folder, pickle.loads(told.read_bytes())

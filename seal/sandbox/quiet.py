"""What a worker says beside its answers: passed on, but for what stands in an outcome already.

Monty's workers write each allocation that their limit refuses to the standard error that they
inherit, and take no option. So a script starts them that gives them a file instead.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_log = logging.getLogger(__name__)
_EXPECTED = re.compile(r"monty worker: allocation of \d+ bytes exceeds the memory limit\s*")
_MOST = 2_000
"""Characters that are passed on."""


@contextmanager
def quiet_worker() -> Iterator[Path | None]:
    """Yield the program that starts a worker; None: there is none to be found, or no shell.

    What workers said that is no expected line is logged as a warning when they have ended.
    """
    places = (sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath))
    worker = os.environ.get("MONTY_BIN") or shutil.which("monty", path=os.pathsep.join(places))
    if os.name != "posix" or worker is None:
        yield None
        return
    with TemporaryDirectory(prefix="seal-monty-") as folder:
        script, said = Path(folder, "monty"), Path(folder, "said")
        words = f'exec {shlex.quote(worker)} "$@" 2>>{shlex.quote(str(said))}'
        script.write_text(f"#!/bin/sh\n{words}\n")
        script.chmod(0o700)
        try:
            yield script
        finally:
            _pass_on(said)


def _pass_on(said: Path) -> None:
    if said.is_file():
        text = _EXPECTED.sub("", said.read_text("utf-8", "replace")).strip()
        if text:
            _log.warning("a worker of the sandbox said: %s", text[:_MOST])


__all__ = ["quiet_worker"]

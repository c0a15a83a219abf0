"""What the runs that are shown are made of, and the server that shows them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IDS = ("own/a", "own/b", "own/c")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[str]:
    """Serve the runs below a folder in a process of its own, and give the address."""
    command = [sys.executable, "-m", "seal", "serve", str(folder), "--port", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = re.search(r"http://\S+:\d+/", process.stderr.readline())
            assert told is not None
            yield told.group()
        finally:
            process.terminate()

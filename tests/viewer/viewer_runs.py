"""What the runs that are shown are made of, and the server that shows them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

IDS = ("own/a", "own/b", "own/c")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"


@contextmanager
def serving(*words: object) -> Iterator[str]:
    """Serve runs below folders, or a sheet, in a process of its own, and give the address."""
    command = [sys.executable, "-m", "seal", "serve", "--port", "0", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = re.search(r"http://\S+:\d+/", process.stderr.readline())
            assert told is not None
            yield told.group()
        finally:
            process.terminate()

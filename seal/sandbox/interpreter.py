"""What a Python interpreter needs of a file system, so that it can be given that and no more."""

from __future__ import annotations

import glob
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_MODULES = (
    "array bisect calendar collections contextlib copy csv dataclasses datetime decimal difflib"
    " enum fractions functools hashlib heapq itertools json math operator random re resource"
    " statistics string struct textwrap time typing unicodedata zlib"
)
"""Those whose libraries are given; of the rest of the standard library what is pure Python."""
_PROBE = f"import {', '.join(_MODULES.split())}; print(open('/proc/self/maps').read())"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter that runs SEAL, by its files; of a virtual environment, the one beneath."""

    executable: Path
    loader: Path
    """The dynamic loader, which starts the executable."""
    libraries: tuple[Path, ...]
    """Shared libraries outside of the standard library, under each of their names, and the
    loader."""
    folders: tuple[Path, ...]
    """The standard library."""
    home: str
    """What PYTHONHOME says."""

    def command(self, program: str) -> list[str]:
        """Return how a program's text is started, given these files alone."""
        searched = ":".join(sorted({str(path.parent) for path in self.libraries}))
        started = [str(self.loader), "--library-path", searched, str(self.executable)]
        return [*started, "-S", "-s", "-B", "-c", program]


@cache
def this_interpreter() -> Interpreter | None:
    """Return the interpreter, found by asking one that has loaded its libraries; None: not so."""
    executable = Path(sys.executable).resolve()
    paths = {"platbase": sys.base_exec_prefix, "base": sys.base_prefix}
    folders = {Path(sysconfig.get_path(name, vars=paths)) for name in ("stdlib", "platstdlib")}
    asked = [str(executable), "-I", "-S", "-c", _PROBE]
    try:
        maps = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    mapped = {Path(line.split(maxsplit=5)[5]) for line in maps.splitlines() if ".so" in line}
    libraries = sorted(
        path for path in mapped if not any(folder in path.parents for folder in folders)
    )
    loader = next((path for path in libraries if path.name.startswith("ld-")), None)
    if loader is None:
        return None
    home = f"{sys.base_prefix}:{sys.base_exec_prefix}"
    kept = tuple(sorted(folder for folder in folders if folder.is_dir()))
    named = {name for path in libraries for name in _names(path)}
    return Interpreter(executable, loader, tuple(sorted(named)), kept, home)


def _names(library: Path) -> set[Path]:
    """Return a library's path, and those of the links to it beside it.

    Whoever needs it asks for its soname, `libz.so.1`; the file that is mapped is `libz.so.1.3`.
    """
    stem = library.name.partition(".so")[0]
    links = library.parent.glob(f"{glob.escape(stem)}.so*")
    return {library, *(link for link in links if link.resolve() == library)}

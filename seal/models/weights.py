"""Files of local models: those of a path, and those that a package carries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seal.core import UnknownNameError, UsageError
from seal.core.packed_files import PACKED, known_digest

_MAGIC = b"GGUF"
_SUFFIX = ".gguf"


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
        known = {k: v.files[0] for k, v in PACKED.items() if v.files[0].name.endswith(_SUFFIX)}
        if name in known:
            return cls(name, known[name].path, known[name].sha256)
        path = Path(name).expanduser()
        if path.suffix != _SUFFIX and len(path.parts) == 1:
            raise UnknownNameError("local model (or FILE.gguf)", name, known)
        try:
            with path.open("rb") as file:
                begins = file.read(len(_MAGIC))
            sha256 = known_digest(path) if begins == _MAGIC else ""
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

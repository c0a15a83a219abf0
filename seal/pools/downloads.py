"""Upstream files by download: pinned by commit and SHA-256, each whole or not at all.

A list of files (`benchmarks/PACK/files/NAME.txt`) has a line for each: its SHA-256, a blank, and
its path below the benchmark's folder; then a tab and the path upstream, where that is another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from seal.core import DataError, InfrastructureError, UsageError
from seal.core.text import counted
from seal.pools.catalogue import Card, catalogue, find_entry

if TYPE_CHECKING:
    from requests.exceptions import RequestException

GITHUB = "https://raw.githubusercontent.com"
TIMEOUT_S = 30.0
"""Without any byte from the server."""

Progress = Callable[[str, int, int], None]
"""Told "fetch", how many files are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file of a benchmark."""

    path: str
    """Below the benchmark's folder."""
    sha256: str
    upstream: str
    """Path below the repository's folder (`Entry.prefix`)."""


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What a download made."""

    benchmark: str
    folder: str
    source: str
    """Address before the files' paths."""
    fetched: int
    """Files that were downloaded now."""
    present: int
    """Files that were there already, and whole."""
    note: str
    """What the download cannot give."""


def pinned_files(entry: Card) -> list[PinnedFile]:
    """Return the files of a benchmark in the order of their paths; empty where none is pinned."""
    if entry.files is None:
        return []
    text = files("seal.benchmarks").joinpath(entry.files).read_text(encoding="utf-8")
    return [_pinned(line) for line in text.splitlines()]


def _pinned(line: str) -> PinnedFile:
    sha256, _, paths = line.partition(" ")
    path, _, upstream = paths.partition("\t")
    return PinnedFile(path, sha256, upstream or path)


def fetch(
    name: str, out: Path, mirror: str | None = None, progress: Progress | None = None
) -> FetchReport:
    """Download a benchmark's upstream files; those that are there already are not asked for.

    Args:
        name: Of the benchmark (`seal.pools.catalogue`).
        out: Folder to put them in, made where there is none.
        mirror: Address that stands for the repository's folder at the commit.
        progress: Told after each file.

    Raises:
        UnknownNameError: No such benchmark.
        UsageError: There is nothing to download (the text says where the files are), or the folder
            cannot be written.
        DataError: A file came with another content, or one of another content is there.
        InfrastructureError: The server cannot be reached or refused. In all cases what came whole
            before stays and nothing half-written is left.
    """
    entry = find_entry(name)
    wanted = pinned_files(entry)
    base = _base(entry, mirror)
    missing = [file for file in wanted if not _is_present(out, file)]
    present = len(wanted) - len(missing)
    for done, file in enumerate(missing):
        try:
            _download(f"{base}/{quote(entry.prefix + file.upstream)}", file, out)
        except (DataError, InfrastructureError) as error:
            kept = f"{present + done} of {counted(len(wanted), 'file')} stay in {out}"
            raise type(error)(f"{error}; {kept}") from error
        if progress is not None:
            progress("fetch", done + 1, len(missing))
    return FetchReport(entry.name, str(out), base, len(missing), present, entry.where)


def _base(entry: Card, mirror: str | None) -> str:
    if entry.files is None or (mirror is None and entry.commit is None):
        fetchable = ", ".join(e.name for e in catalogue().values() if e.files and e.commit)
        raise UsageError(
            f"the files of {entry.name} are not downloaded: {entry.where}. "
            f"`seal fetch` has: {fetchable}"
        )
    if mirror is None:
        return f"{GITHUB}/{entry.repository}/{entry.commit}"
    if not mirror.startswith(("http://", "https://")):
        raise UsageError(f"--mirror {mirror!r}: expected an address that begins with http(s)://")
    return mirror.rstrip("/")


def _is_present(out: Path, file: PinnedFile) -> bool:
    path = out / file.path
    if not path.is_file():
        return False
    with path.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != file.sha256:
        raise DataError(
            f"{path} is there with another content (SHA-256 {found}, expected {file.sha256}); "
            "remove it, or choose another folder with --out"
        )
    return True


def _download(url: str, file: PinnedFile, out: Path) -> None:
    import pooch
    from requests.exceptions import RequestException

    path = out / file.path
    pooch.get_logger().setLevel("ERROR")
    try:
        with _no_empty_folders(path.parent):
            pooch.retrieve(
                url,
                known_hash=f"sha256:{file.sha256}",
                fname=path.name,
                path=path.parent,
                downloader=pooch.HTTPDownloader(timeout=TIMEOUT_S, chunk_size=1 << 16),
            )
    except RequestException as error:
        raise InfrastructureError(f"{url}: {_refused(error)}") from error
    except ValueError as error:
        raise DataError(
            f"{url} is not the file that was pinned (SHA-256 {file.sha256}): "
            "it changed, or the transfer was cut short; try again, or name another --mirror"
        ) from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}; choose a folder with --out"
        ) from error


@contextmanager
def _no_empty_folders(folder: Path) -> Iterator[None]:
    """Remove, of a folder and those above it, what was made meanwhile and stays empty."""
    absent = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    finally:
        for path in absent:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def _refused(error: RequestException) -> str:
    if error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    return f"no answer ({type(error).__name__}); check the network, or name a --mirror"

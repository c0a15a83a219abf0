"""The catalogue, pinned downloads, and pools imported from upstream files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from seal.core import DataError, InfrastructureError, UnknownNameError, UsageError
from seal.core.files import cache_folder
from seal.core.text import counted, shipped_json
from seal.core.values import digest
from seal.pools.benchmark import loaded
from seal.pools.importer import REGISTRY
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.lookup import installed_benchmarks, known_benchmark
from seal.pools.pool import StoredPool, load_pool

if TYPE_CHECKING:
    from requests.exceptions import RequestException

# -- The catalogue: every benchmark that ships or can be imported, out of `catalogue.json`.

STAGES = ("retrieval", "calls", "arguments", "state", "conversation", "final answer")
"""What can be scored, in the order of a chat."""

_GOLD_OF_STAGE = {
    "retrieval": "relevant",
    "calls": "calls",
    "arguments": "arguments",
    "state": "state",
    "conversation": "turns",
    "final answer": "answers",
}


@dataclass(frozen=True, slots=True)
class PaperCounts:
    """A column of Table 1 of the SEAL paper."""

    queries: int
    multi_step: int
    tools_per_query: float
    tools_with_queries: int
    tools: int


@dataclass(frozen=True, slots=True)
class Card:
    """One benchmark."""

    name: str
    """What `seal run`, `seal retrieve` and `seal fetch` call it."""
    title: str
    about: str
    """What it is, in a sentence or two."""
    gold: tuple[str, ...]
    """What its import gives, or, where there is no importer, what it has: relevant (tools), calls,
    arguments, state, turns (of a conversation), answers, verdicts (of recorded runs)."""
    licence: str
    where: str
    """Where its files are, and what stands in the way."""
    aliases: tuple[str, ...] = ()
    """Other names of it."""
    importer: str | None = None
    """Name of the importer; None: it ships, or there is none yet."""
    folder: str | None = None
    """Its folder under SEAL_DATA; None: it is not looked for."""
    beside: tuple[str, ...] = ()
    """Folders beside that one which its importer may read; a change in any makes its pool anew."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of the importer, where it is opened by name."""
    status: str = ""
    """What is missing: an importer, a part of it, or files that nobody publishes."""
    repository: str | None = None
    """`owner/name` at GitHub."""
    commit: str | None = None
    """Of the files that the importer was tried on; None: not recorded."""
    files: str | None = None
    """List of pinned files, below `benchmarks`; None: nothing to fetch."""
    prefix: str = ""
    """What stands before the files' paths in the repository."""
    paper: str | None = None
    paper_counts: PaperCounts | None = None
    """What the SEAL paper's Table 1 says; None: the paper does not have it."""
    paper_stages: tuple[str, ...] = ()
    """Of `STAGES` those that its Table 2 says this benchmark can evaluate."""
    paper_part: str = ""
    """The part of the benchmark that the paper counts."""
    difference: str = ""
    """Why our counts are not the paper's."""

    @property
    def command(self) -> str | None:
        """The command that imports it; None where there is none."""
        if self.importer is None:
            return None
        options = "".join(f" -T {key}={value}" for key, value in self.options.items())
        return f"seal import {self.importer} SOURCE --out POOL{options}"


@cache
def catalogue() -> dict[str, Card]:
    """Return every benchmark by name, in the order of the catalogue."""
    records = shipped_json("seal.pools", "catalogue.json")
    return {record["name"]: _entry(record) for record in records}


def find_entry(name: str) -> Card:
    """Return the benchmark of a name or alias.

    Raises:
        UnknownNameError: There is none; lists the names.
    """
    entry = by_any_name().get(name)
    if entry is None:
        raise UnknownNameError("benchmark", name, by_any_name())
    return entry


@cache
def by_any_name() -> dict[str, Card]:
    """Return every benchmark by its name and by each of its aliases."""
    return {name: entry for entry in catalogue().values() for name in (entry.name, *entry.aliases)}


def stages(gold: tuple[str, ...] | frozenset[str]) -> dict[str, str]:
    """Return how each of `STAGES` can be scored with such gold.

    Returns:
        Stage to `gold`, `judge` (a final answer, by a judge alone) or an empty text (not at all:
        without any gold there are no tasks either).
    """
    found = {stage: "gold" if kind in gold else "" for stage, kind in _GOLD_OF_STAGE.items()}
    if gold and not found["final answer"]:
        found["final answer"] = "judge"
    return found


def _entry(record: dict[str, Any]) -> Card:
    counts = record.get("paper_counts")
    plain = {**record, "paper_counts": None if counts is None else PaperCounts(**counts)}
    for name in ("gold", "aliases", "beside", "paper_stages"):
        plain[name] = tuple(record.get(name, ()))
    return Card(**plain)


# -- Upstream files by download: pinned by commit and SHA-256, each whole or not at all.
#
# A list of files (`benchmarks/PACK/files/NAME.txt`) has a line for each: its SHA-256, a blank, and
# its path below the benchmark's folder; then a tab and the path upstream, where that is another.

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
        name: Of the benchmark, as the catalogue has it.
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


# -- Upstream files: pools imported from those under SEAL_DATA, once, and recorded verdicts.


def pool_names() -> list[str]:
    """Return the names that `open_pool` knows, whether or not their files are here."""
    imported = [name for name, entry in by_any_name().items() if entry.importer]
    return sorted({*imported, *REGISTRY.names()})


def imported_pool(name: str) -> StoredPool:
    """Return the pool of a known name, imported where that was not done.

    Raises:
        UsageError: Its files are not here; names the import command.
    """
    importer, options = importing(name)
    source = source_folder(name)
    if source is None:
        folder = _folders(name)[0]
        raise UsageError(
            f"no files of {name!r}: set SEAL_DATA to the folder that holds {folder}/, or import "
            f"them: seal import {importer} SOURCE --out POOL, then seal run POOL"
        )
    return load_pool(_imported(name, importer, source, options))


def source_folder(name: str) -> Path | None:
    """Return the folder under SEAL_DATA that holds a benchmark's files; None: there is none."""
    data = os.environ.get("SEAL_DATA")
    found = (Path(data) / folder for folder in _folders(name)) if data else ()
    return next((folder for folder in found if folder.is_dir()), None)


def _folders(name: str) -> list[str]:
    entry = by_any_name().get(name)
    return [folder for folder in (entry.folder if entry else None, name) if folder]


def importing(name: str) -> tuple[str, dict[str, Any]]:
    """Return the importer of a benchmark by any of its names, and the options it gets.

    A name that the catalogue does not have is its own, and so is one that a plug-in took.
    """
    entry = by_any_name().get(name)
    if entry is None or not entry.importer or (name in REGISTRY and name != entry.importer):
        return name, {}
    return entry.importer, entry.options


def import_named(name: str, source: Path | None, out: Path, **options: Any) -> ImportReport:
    """Import upstream files as `import_benchmark` does, by any name of the benchmark."""
    importer, usual = importing(name)
    return import_benchmark(importer, source, out, **{**usual, **options})


def _imported(name: str, importer: str, source: Path, options: dict[str, Any]) -> Path:
    entry = by_any_name().get(name)
    folders = [source, *(source.parent / beside for beside in (entry.beside if entry else ()))]
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    state = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    identity = digest([state, importer, options, _code_of_importers()])
    out = cache_folder() / "pools" / f"{name}-{identity[:16]}"
    if not (out / "import.json").is_file():
        import_benchmark(importer, source, out, **options)
    return out


def _code_of_importers() -> str:
    """Return the digest of the modules that import: a changed one makes its pools anew.

    The tools of worlds are made from their functions, so these count too.
    """
    here = Path(__file__).parents[1]
    folders = (here / "benchmarks", here / "environments", here / "pools")
    modules = sorted(module for folder in folders for module in folder.rglob("*.py"))
    return digest([hashlib.sha256(module.read_bytes()).hexdigest() for module in modules])


def reader_of_verdicts(benchmark: str) -> Callable[[Path], Any]:
    """Return what reads recorded verdicts: the benchmark's own reader, else the first that can.

    Args:
        benchmark: That was played.

    Raises:
        UsageError: No installed benchmark has recorded verdicts.
    """
    known = known_benchmark(benchmark)
    own = None if known is None else known.verdicts
    others = (one.verdicts for one in installed_benchmarks().sound.values())
    readers = [own] if own is not None else [one for one in others if one is not None]
    if not readers:
        raise UsageError("no installed benchmark reads recorded verdicts; leave the file out")

    def read(path: Path) -> Any:
        if not path.exists():
            raise DataError(f"{path}: there is no such file or folder; give the recorded verdicts")
        faults = []
        for reader in readers:
            try:
                return loaded(reader)(path)
            except DataError as error:
                faults.append(str(error))
        raise DataError("; ".join(faults))

    return read

"""The sample's files, compiled into the corpus's form and imported like the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from seal.benchmarks.dialogtool.importer import import_dialogtool
from seal.benchmarks.dialogtool.sample import NAME
from seal.benchmarks.dialogtool.sample.apps import App, apps_of
from seal.benchmarks.dialogtool.sample.compiling import record_of
from seal.benchmarks.dialogtool.sample.notation import dialogues
from seal.core.errors import DataError
from seal.core.types import Task, Tool
from seal.pools.importer import Mobile, Notes
from seal.pools.reading.records import json_file

SPLIT = "sample"
APPS, DIALOGUES = "apps.json", "dialogues.txt"


def import_sample(source: Path, notes: Notes) -> Iterator[Tool | Task | Mobile]:
    """Yield the sample's tools and tasks, and what its apps bring.

    Args:
        source: Folder with apps.json and dialogues.txt.
        notes: Gets the counts.

    Raises:
        DataError: A file is missing or malformed, or a dialogue does not fit the apps.
    """
    for name in (APPS, DIALOGUES):
        if not (source / name).is_file():
            raise DataError(f"{source} has no {name}: name the folder `authored` of the sample")
    apps = apps_of(json_file(source / APPS), str(source / APPS))
    with TemporaryDirectory() as folder:
        split = Path(folder) / SPLIT
        write_corpus(apps, source / DIALOGUES, split)
        for record in import_dialogtool(split, notes, split="all"):
            yield _own(record, apps)
    if notes.dropped:
        raise DataError(f"{source}: {dict(notes.dropped)}: {'; '.join(notes.malformed)}")


def write_corpus(apps: dict[str, App], written: Path, folder: Path) -> None:
    """Write schemas and dialogues as a split of the corpus.

    Args:
        apps: By service.
        written: File of dialogues.
        folder: Of the split; is made.

    Raises:
        DataError: The file is malformed, or a dialogue does not fit the apps.
    """
    text = written.read_text(encoding="utf-8")
    records = [record_of(one, apps) for one in dialogues(text, str(written))]
    folder.mkdir()
    schemas = [app.schema() for app in apps.values()]
    (folder / "schema.json").write_bytes(orjson.dumps(schemas))
    (folder / "dialogues_001.json").write_bytes(orjson.dumps(records))


def _own(record: Tool | Task | Mobile, apps: dict[str, App]) -> Tool | Task | Mobile:
    """Return a record as the sample's: with its name, and with what an app asks of every call."""
    if isinstance(record, Tool):
        login = list(apps[record.source["tool"]].login)
        return replace(record, source={**record.source, "base_required": login})
    if isinstance(record, Task):
        tags = {**record.tags, "split": SPLIT}
        return replace(record, benchmark=NAME, split=SPLIT, tags=tags)
    return record

"""DialogTool: the dialogues of Schema-Guided Dialogue (SGD) as tasks.

| view | a task is |
|---|---|
| dialogue | a whole dialogue, one goal for each turn of the user; the function of an API |
| retrieval | the first user turn of a dialogue; relevant is the intent that it opens |

A tool is an intent of a service, for instance Restaurants_1 FindRestaurants. The pool are those of
all schemas that the source has, whatever the split: services of other splits are what a retriever
may confuse.

A dialogue with a fault is left out whole and counted by the kind of fault: `unknown_service`,
`unknown_intent`, `undeclared_argument`, `missing_argument` (a call lacks a required one),
`undeclared_result`, else `malformed_record`. Of what upstream does not publish in whole the missing
files are named, and the others imported.

Source: Rastogi et al., "Towards Scalable Multi-domain Conversational Agents" (AAAI 2020), and the
files of google-research-datasets/dstc8-schema-guided-dialogue; Lee et al., "SGD-X" (AAAI 2022).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from seal.benchmarks.dialogtool.paper import FILES, beside_paper, schema_counts
from seal.benchmarks.dialogtool.schemas import ORIGINAL, SCHEMA, Schemas
from seal.benchmarks.dialogtool.tasks import Dialogues, Drawing, Openings, tasks_of
from seal.benchmarks.dialogtool.tools import BENCHMARK
from seal.core import DataError, Task, Tool, UsageError, check_name
from seal.pools.importer import Mobile, Notes
from seal.pools.reading.records import wrong_source

SPLITS = ("test", "dev", "train")
VIEWS = ("dialogue", "retrieval")
PLAY = {"team": "tool_life", "history": "gold", "format": "bracket"}
"""How a run plays the dialogues where its user does not say."""

_DIALOGUES = "dialogues_*.json"
_NUMBER = re.compile(r"dialogues_0*(\d+)\.json")


def import_dialogtool(
    source: Path,
    notes: Notes,
    *,
    view: str = "dialogue",
    split: str = "test",
    schema: str = ORIGINAL,
    sample: int | None = None,
    seed: int = 0,
) -> Iterator[Tool | Task | Mobile]:
    """Yield the service intents and dialogues of SGD's files, one file in memory at a time.

    Args:
        source: Upstream's folder with `train`, `dev` and `test`, or one of these.
        notes: Gets the counts.
        view: What a task is; "dialogue" or "retrieval".
        split: Of the dialogues: "test", "dev", "train" or "all".
        schema: Wording of the schemas: "original", or "v1" to "v5" of SGD-X.
        sample: Dialogues to draw, three in five of one app: 900 as in the paper; None: all.
        seed: Of the drawing.

    Raises:
        UnknownNameError: No such view, split or schema.
        UsageError: The sample cannot be drawn, or is asked of another view.
        DataError: A file is missing or malformed; the text names file and place.
    """
    check_name("view of dialogtool", view, VIEWS)
    check_name("split of dialogtool", split, (*SPLITS, "all"))
    if sample is not None and view != "dialogue":
        raise UsageError(f"sample draws dialogues: use it with -T view=dialogue, not {view}")
    drawing = Drawing(sample, seed)
    folders = _folders(source)
    corpus = _Corpus(folders, _wanted(folders, split, source), Schemas(notes, schema), notes)
    if view == "retrieval":
        return _openings(corpus)
    return _dialogues(corpus, drawing, split)


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What is imported: the schemas of each split, and its dialogues as far as they are wanted."""

    folders: Mapping[str, Path]
    files: Mapping[str, list[Path]]
    schemas: Schemas
    notes: Notes

    def records(self, read: Callable[[str, Any], Task | None]) -> Iterator[Tool | Task]:
        """Yield the tools, and what is made of each dialogue of a split."""
        for split, folder in self.folders.items():
            self.schemas.read(split, folder)
        yield from self.schemas.tools()
        for split, paths in self.files.items():
            for path in paths:
                yield from tasks_of(path, partial(read, split), self.notes)
        self.notes.facts["files"] = {split: len(paths) for split, paths in self.files.items()}


def _openings(corpus: _Corpus) -> Iterator[Tool | Task]:
    notes, table = corpus.notes, corpus.schemas.table
    openings = Openings(corpus.schemas, notes)
    yield from corpus.records(openings.task)
    counts = openings.facts() | {
        "repeated_tools": table.duplicates,
        "tool_variants": table.variants,
    }
    notes.facts["schemas"] = list(corpus.folders)
    notes.facts["counts"] = dict(sorted(counts.items()))
    notes.lacks.add("gold_calls")


def _dialogues(corpus: _Corpus, drawing: Drawing, split: str) -> Iterator[Tool | Task | Mobile]:
    schemas, notes = corpus.schemas, corpus.notes
    dialogues = Dialogues(schemas, drawing)
    yield from corpus.records(dialogues.task)
    yield from drawing.drawn()
    yield from dialogues.recorded.creation_tasks(schemas.table.by_id(), split)
    yield Mobile(dialogues.recorded.mobile())
    if dialogues.duplicates:
        notes.dropped["duplicates"] = dialogues.duplicates
    counts = {
        name: schema_counts(
            schemas.table[api.tool] for s in services.values() for api in s.apis.values()
        )
        for name, services in schemas.splits.items()
    }
    notes.facts.update(
        missing_files={name: _missing(name, paths) for name, paths in corpus.files.items()},
        counts=dialogues.facts(),
        schemas={**counts, "all": schema_counts(schemas.table)},
        play=PLAY,
    )
    if FILES.keys() & corpus.files.keys():
        notes.facts["beside_paper"] = [asdict(row) for row in beside_paper(notes.facts)]


def _missing(split: str, paths: list[Path]) -> list[int]:
    """Return the numbers of the dialogue files that upstream has and the source has not."""
    found = {int(match[1]) for path in paths if (match := _NUMBER.fullmatch(path.name))}
    return [number for number in range(1, FILES.get(split, 0) + 1) if number not in found]


def _folders(source: Path) -> dict[str, Path]:
    """Return the split folders of a source."""
    if (source / SCHEMA).is_file():
        return {source.resolve().name: source}
    found = {name: source / name for name in SPLITS if (source / name / SCHEMA).is_file()}
    if not found:
        expected = f"a folder test, dev or train with {SCHEMA} and {_DIALOGUES}"
        raise wrong_source(source, expected, BENCHMARK)
    return found


def _wanted(folders: Mapping[str, Path], split: str, source: Path) -> dict[str, list[Path]]:
    """Return the dialogue files of each wanted split."""
    names = folders if split == "all" else [split] if split in folders else []
    files = {name: sorted(folders[name].glob(_DIALOGUES)) for name in names}
    if not any(files.values()):
        raise DataError(
            f"{source} has no {_DIALOGUES} of the split {split!r}; it has the splits "
            f"{', '.join(folders)}: choose one with -T split=NAME, or fetch the files"
        )
    return files

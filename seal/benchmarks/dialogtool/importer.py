"""DialogTool: the dialogues of Schema-Guided Dialogue (SGD) as tasks.

| view | a task is |
|---|---|
| retrieval | the first user turn of a dialogue; relevant is the intent that it opens |

A tool is an intent of a service, for instance Restaurants_1 FindRestaurants. The pool are those of
all schemas that the source has, whatever the split: services of other splits are what a retriever
may confuse. Of a turn with several frames the first one counts: SGD puts the service that the turn
is about first, and each first turn of the released dialogues has but one frame. Paraphrased schemas
(`sgd_x`) are not read.

Source: Rastogi et al., "Towards Scalable Multi-domain Conversational Agents" (AAAI 2020), and the
files of google-research-datasets/dstc8-schema-guided-dialogue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from seal.benchmarks.dialogtool.tools import BENCHMARK, domain_of, tools_of_service
from seal.benchmarks.importer import Notes
from seal.benchmarks.upstream.records import TaskIds, ToolTable, field, json_file, wrong_source
from seal.benchmarks.upstream.tolerance import listed, usable
from seal.core.errors import DataError, UnknownNameError, shortened
from seal.core.types import Goal, Task, Tool

SPLITS = ("test", "dev", "train")
VIEWS = ("retrieval",)

_SCHEMA = "schema.json"
_DIALOGUES = "dialogues_*.json"


def import_dialogtool(
    source: Path, notes: Notes, *, view: str = "retrieval", split: str = "test"
) -> Iterator[Tool | Task]:
    """Yield the service intents and dialogues of SGD's files, one file in memory at a time.

    Args:
        source: Upstream's folder with `train`, `dev` and `test`, or one of these.
        notes: Gets the counts.
        view: What a task is; "retrieval".
        split: Of the dialogues: "test", "dev", "train" or "all".

    Raises:
        UnknownNameError: No such view or split.
        DataError: A file is missing or malformed; the text names file and place.
    """
    if view not in VIEWS:
        raise UnknownNameError("view of dialogtool", str(view), VIEWS)
    if split not in (*SPLITS, "all"):
        raise UnknownNameError("split of dialogtool", str(split), (*SPLITS, "all"))
    folders = _folders(source)
    return _Import(folders, _wanted(folders, split, source), notes).records()


def _folders(source: Path) -> dict[str, Path]:
    """Return the split folders of a source."""
    if (source / _SCHEMA).is_file():
        return {source.resolve().name: source}
    found = {name: source / name for name in SPLITS if (source / name / _SCHEMA).is_file()}
    if not found:
        expected = f"a folder test, dev or train with {_SCHEMA} and {_DIALOGUES}"
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


class _Opening(NamedTuple):
    """What the first user turn of a dialogue says."""

    text: str
    service: str
    intent: str | None
    """None: the user only informs."""


class _Import:
    """One import: what was met so far."""

    def __init__(
        self, folders: Mapping[str, Path], files: Mapping[str, list[Path]], notes: Notes
    ) -> None:
        self._folders = folders
        self._files = files
        self._notes = notes
        self._table = ToolTable()
        self._intents: dict[tuple[str, str, str], str] = {}
        self._ids = TaskIds()
        self._counts: Counter[str] = Counter()
        self._called: Counter[str] = Counter()

    def records(self) -> Iterator[Tool | Task]:
        for split, folder in self._folders.items():
            self._read_schema(split, folder / _SCHEMA)
        yield from self._table
        for split, paths in self._files.items():
            for path in paths:
                yield from self._tasks(split, path)
        self._report()

    def _read_schema(self, split: str, path: Path) -> None:
        content = json_file(path)
        if not isinstance(content, list) or not content:
            raise DataError(f"{path}: expected a list of services, got {shortened(content)}")

        def read(service: Any) -> dict[str, Tool]:
            return tools_of_service(service, f"{split}/{path.name}")

        for tools in usable(path, read, self._notes, listed(content), "malformed_service"):
            for intent, tool in tools.items():
                key = split, str(tool.source["tool"]), intent
                self._intents[key] = self._table.add(tool)

    def _tasks(self, split: str, path: Path) -> Iterator[Task]:
        content = json_file(path)
        if not isinstance(content, list):
            raise DataError(f"{path}: expected a list of dialogues, got {shortened(content)}")

        def read(dialogue: Any) -> Task | None:
            return self._task(split, dialogue)

        yield from filter(None, usable(path, read, self._notes, listed(content)))

    def _task(self, split: str, dialogue: Any) -> Task | None:
        """Return a dialogue's task; None where it is dropped or known."""
        dialogue_id = field(dialogue, "dialogue_id", str)
        services = field(dialogue, "services", list)
        self._counts["dialogues"] += 1
        opening = _opening(field(dialogue, "turns", list))
        if isinstance(opening, str):
            self._notes.dropped[opening] += 1
            return None
        tool = self._intents.get((split, opening.service, opening.intent or ""))
        if tool is None:
            reason = "unknown_intent" if opening.intent else "no_intent"
            self._notes.dropped[reason] += 1
            return None
        task_id = self._ids.add(f"{split}/{dialogue_id}", opening.text)
        if task_id is None:
            self._counts["duplicates"] += 1
            return None
        self._called[tool] += 1
        domains = {domain_of(str(service)) for service in services}
        return Task(
            task_id,
            BENCHMARK,
            (Goal(opening.text, relevant=(tool,)),),
            split=split,
            tags={
                "group": split,
                "domain": domain_of(opening.service),
                "multi_domain": len(domains) > 1,
                "multi_tool": False,
                "multi_step": False,
            },
        )

    def _report(self) -> None:
        facts = self._notes.facts
        facts["files"] = {split: len(paths) for split, paths in self._files.items()}
        facts["schemas"] = list(self._folders)
        self._counts["duplicates"] += 0
        self._counts["repeated_texts"] = self._ids.repeated
        self._counts["repeated_tools"] = self._table.duplicates
        self._counts["tool_variants"] = self._table.variants
        self._counts["relevant_tools"] = len(self._called)
        facts["counts"] = dict(sorted(self._counts.items()))
        self._notes.lacks.add("gold_calls")


def _opening(turns: list[Any]) -> _Opening | str:
    """Return the opening of a dialogue, or the reason why it has none."""
    for turn in turns:
        if field(turn, "speaker", str) == "USER":
            text = field(turn, "utterance", str)
            frames = field(turn, "frames", list)
            if not text.strip() or not frames:
                return "empty_utterance" if frames else "no_frame"
            intent = field(field(frames[0], "state", dict), "active_intent", str)
            service = field(frames[0], "service", str)
            return _Opening(text, service, None if intent == "NONE" else intent)
    return "no_user_turn"

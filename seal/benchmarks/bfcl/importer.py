"""Berkeley Function-Calling Leaderboard (BFCL) v4: importer.

Source: ShishirPatil/gorilla, `berkeley-function-call-leaderboard/bfcl_eval/data`. Task id: as
upstream's. Tool id: `bfcl/LANGUAGE/FUNCTION` for functions that items bring with them, and
`bfcl/FILE/FUNCTION` for those of the multi-turn and agentic categories. What a file means:
`files`; its documents: `tools`; its gold and its tasks: `tasks`.

Gold of which the document of its tool refuses an accepted value is kept, and counted by category
and kind of error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast, get_args

from seal.benchmarks.bfcl.files import BfclFiles, Category, Item
from seal.benchmarks.bfcl.recordings import Asked, recordings
from seal.benchmarks.bfcl.tasks import MEMORIES, TaskMaker
from seal.benchmarks.bfcl.tools import Functions, ToolPer
from seal.core import Task, Tool, UsageError, check_name
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.records import TaskIds


def import_bfcl(
    source: Path,
    notes: Notes,
    *,
    tool_per: str = "content",
    categories: str = "",
    memory: str = "kv",
    answers: str = "",
) -> Iterator[Tool | Task | Recorded]:
    """Yield BFCL's tasks, then its tools, then what models answered.

    Args:
        source: The folder as upstream publishes it, or one category's file in it.
        notes: Gets the counts.
        tool_per: "content": each different document is a tool; "name": the documents of one name
            are one tool, and the first in the order of `files.CATEGORIES` and lines stands for
            all. Gold is read by the item's own document either way.
        categories: Only these, separated by commas: names of categories, or python_gold, non_live,
            live, multi_turn, agentic; empty: all. `python_gold` with "name" is the pool of
            single-turn calls in Python: 2,351 queries over 1,287 functions.
        memory: With which functions memory questions are asked: kv, vector or rec_sum.
        answers: Folder with `result/` and perhaps `score/`, as `bfcl generate` and `bfcl evaluate`
            write them, of which each model becomes a recording (`recordings`); empty: none.

    Raises:
        UnknownNameError: An option has no such value.
        UsageError: The folder of answers holds none.
        DataError: A file is malformed or missing; the text names file and place.
    """
    check_name("tool_per of bfcl", tool_per, get_args(ToolPer))
    check_name("memory of bfcl", memory, MEMORIES)
    files = BfclFiles(source)
    chosen = files.categories(categories)
    made = _Import(files, chosen, Functions(cast("ToolPer", tool_per)), memory, notes)
    return made.records(Path(answers) if answers else None)


def import_answers(
    source: Path, notes: Notes, *, answers: str = ""
) -> Iterator[Tool | Task | Recorded]:
    """Yield what `import_bfcl` does for the answers of one model, which become a run to score.

    Args:
        source: The folder of the questions.
        notes: Gets the counts.
        answers: As of `import_bfcl`.

    Raises:
        UsageError: No answers are named.
    """
    if not answers:
        raise UsageError(
            "of whom? Name the folder of a model's answers, as `bfcl generate` writes it: "
            "-T answers=FOLDER/result/MODEL"
        )
    yield from import_bfcl(source, notes, answers=answers)


class _Import:
    """One import: what was met so far."""

    def __init__(
        self,
        files: BfclFiles,
        categories: list[Category],
        functions: Functions,
        memory: str,
        notes: Notes,
    ) -> None:
        self._files = files
        self._categories = categories
        self._functions = functions
        self._notes = notes
        self._maker = TaskMaker(files, functions, memory, notes.dropped)
        self._ids = TaskIds()
        self._items: dict[str, int] = {}
        self._asked: dict[str, Asked] = {}
        self._gold_calls = 0

    def records(self, answers: Path | None) -> Iterator[Tool | Task | Recorded]:
        for category in self._categories:
            self._items[category.name] = 0
            read = partial(self._task, category=category)
            yield from self._files.items(category, read, self._notes)
        yield from self._functions
        self._report()
        if answers is not None:
            tools = self._functions.table.by_id()
            yield from recordings(answers, self._asked, tools, self._notes)

    def _task(self, item: Item, category: Category) -> Task:
        self._items[category.name] += 1
        task = self._maker.task(item, category)
        own = self._ids.add(task.id, "\n".join(goal.text for goal in task.goals))
        task = replace(task, id=own)
        self._asked[own] = Asked(task, category)
        for goal in task.goals:
            self._gold_calls += sum(len(plan.calls()) for plan in goal.plans or ())
        return task

    def _report(self) -> None:
        facts = self._notes.facts
        table = self._functions.table
        facts["files"] = dict(sorted(self._files.counts.items()))
        facts["unknown_files"] = self._files.unknown
        facts["items"] = sum(self._items.values())
        facts["categories"] = self._items
        facts["functions"] = {
            "tools": len(table),
            "names": len({tool.id.partition("#")[0] for tool in table}),
            "variants": table.variants,
            "repeated_documents": table.duplicates,
            "set_aside_documents": self._functions.set_aside,
        }
        facts["type_words"] = dict(sorted(self._functions.words.items()))
        counts = Counter(self._maker.counts)
        counts["gold_calls"] = self._gold_calls
        counts["repeated_texts"] = self._ids.repeated
        facts["counts"] = dict(sorted(counts.items()))
        self._notes.lacks.update(self._lacking())

    def _lacking(self) -> Iterator[str]:
        """Yield what no tool has, and what the files hold for no task."""
        yield "results"
        if not any(tool.category for tool in self._functions):
            yield "categories"
        if not any(tool.returns for tool in self._functions):
            yield "response_shapes"
        if not self._gold_calls:
            yield "gold_calls"

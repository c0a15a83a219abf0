"""ToolBench and StableToolBench: query files, answer trees and converted answers.

Task id: `group/query_id`. A record that repeats id and text counts once; the same id with another
text gets `#` and 8 hexadecimal digits of the text's digest. Training answers (`answer/GROUP/`) give
gold calls to the task of their group, id and text, or become tasks of their own. A model's run
joins its task in the same way. A run without a task is counted and listed as `runs_without_task`.
If the source has no queries at all, the runs themselves say what the tasks are.

Tasks are dropped as in Appendix A.1 of the SEAL paper, and counted by reason. Those are dropped
that their training answer leaves unsolved and, under the preset `paper=seal`, those that are not
multi-step and multi-tool. A recorded run of a dropped task is counted as `runs_of_dropped_tasks`.

One malformed record ends the import, and nothing is written: a pool that silently lacks tasks would
give other figures. What is well-formed and cannot be used is left out and counted instead.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.benchmarks.toolbench.answers import Run, read_converted, read_tree, text_of_query
from seal.benchmarks.toolbench.tasks import (
    UNSOLVED,
    Gold,
    SourceFile,
    TaskEntry,
    TaskIndex,
    find_files,
    gold_of,
    group_of_queries,
    make_task,
    place_of_run,
    recording_of_converted,
    relevant_tools,
    split_of,
)
from seal.benchmarks.toolbench.tools import ApiTable
from seal.benchmarks.toolbench.trajectories import trajectory_of, truncations
from seal.core import JSON, DataError, Task, Tool, check_name, located, shortened
from seal.core.text import normalised
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import expect, refuse_deep


def import_toolbench(
    source: Path, notes: Notes, *, keep: str = "", paper: str = ""
) -> Iterator[Tool | Task | Recorded]:
    """Yield the tasks, recorded runs and tools of ToolBench's files.

    Args:
        source: A file or folder; what its files are is told by their shape
            (`seal.benchmarks.toolbench.tasks`).
        notes: Gets the counts.
        keep: "unsolved": tasks that their training answer leaves unsolved stay, with the reason as
            the tag `unsolved`.
        paper: "seal": of the tasks, only those with several calls of several tools.

    Raises:
        UnknownNameError: No such preset.
        DataError: A file is malformed or a record lacks a field; the text names file and place.
            The import ends there.
    """
    for option, value, known in (("keep", keep, UNSOLVED), ("paper", paper, "seal")):
        if value:
            check_name(f"value of -T {option}", value, [known])
    return _Import(source, notes, bool(keep), bool(paper)).records()


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a record stands, for messages and provenance."""

    file: SourceFile
    place: str = ""

    def __str__(self) -> str:
        return f"{self.file.name}{self.place}"


class _Import:
    """One import: what was met so far."""

    def __init__(self, source: Path, notes: Notes, keeps_unsolved: bool, several: bool) -> None:
        self._source = find_files(source)
        self._notes = notes
        self._keeps_unsolved = keeps_unsolved
        self._several = several
        self._dropped: set[str] = set()
        self._tools = ApiTable()
        self._index = TaskIndex()
        self._gold_files = self._index_gold()
        self._counts: Counter[str] = Counter()
        self._runs: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._trials: Counter[tuple[str, str]] = Counter()
        self._without_task: defaultdict[str, list[str]] = defaultdict(list)
        self._from_queries = "queries" in self._source.files

    def records(self) -> Iterator[Tool | Task | Recorded]:
        for file in self._files("queries"):
            yield from self._queries(file)
        for files in self._gold_files.values():
            for file in files:
                yield from self._own_gold(file)
        for file in self._files("tree"):
            if place_of_run(file).recording is not None:
                yield from self._tree(file)
        for file in self._files("converted"):
            yield from self._converted(file)
        for file in self._files("responses"):
            self._responses(file)
        self._check_ids()
        yield from self._tools
        self._report()

    def _files(self, kind: str) -> list[SourceFile]:
        return self._source.files.get(kind, [])

    def _index_gold(self) -> dict[tuple[str, str], list[SourceFile]]:
        files: defaultdict[tuple[str, str], list[SourceFile]] = defaultdict(list)
        for file in self._files("tree"):
            place = place_of_run(file)
            if place.recording is None:
                files[place.group, place.query_id].append(file)
        return files

    def _queries(self, file: SourceFile) -> Iterator[Task]:
        group = group_of_queries(file)
        for number, record in enumerate(file.read()):
            with located(f"{file.path}, record {number}"):
                task = self._task_of_query(record, group, file)
            if task is not None:
                yield from self._kept(task)

    def _kept(self, task: Task) -> Iterator[Task]:
        """Yield a task, unless it is dropped: then count why."""
        reasons = [] if self._keeps_unsolved else [task.tags.get(UNSOLVED)]
        if self._several:
            tags = ("multi_step", "multi_tool")
            reasons += [f"not_{tag}" for tag in tags if task.tags.get(tag) is not True]
        reason = next(filter(None, reasons), None)
        if reason is None:
            yield task
            return
        self._dropped.add(task.id)
        self._notes.dropped[str(reason)] += 1

    def _task_of_query(self, record: Any, group: str, file: SourceFile) -> Task | None:
        """Return a query record's task; None where it is dropped or known."""
        refuse_deep(record)
        expect(record, dict)
        text = text_of_query(record.get("query"))
        query_id = record.get("query_id")
        if not isinstance(query_id, (int, str)) or isinstance(query_id, bool):
            got = shortened(query_id) if "query_id" in record else "no such field"
            raise DataError(f"query_id: expected a number, got {got}")
        if "api_list" not in record or "relevant APIs" not in record:
            self._notes.dropped["lacks_relevant_apis"] += 1
            return None
        if self._index.find(group, str(query_id), text) is not None:
            self._counts["duplicates"] += 1
            return None
        offered = self._offered(record["api_list"], file)
        relevant = relevant_tools(record["relevant APIs"], offered)
        if relevant is None:
            self._notes.dropped["relevant_api_outside_list"] += 1
            return None
        entry = self._index.add(group, str(query_id), text, tuple(dict.fromkeys(offered.values())))
        gold = self._joined_gold(group, str(query_id), text, entry)
        return make_task(entry.id, text, group, entry.offered, relevant, gold, split_of(file))

    def _offered(self, apis: Any, file: SourceFile) -> dict[tuple[str, str], str]:
        """Return upstream's (tool, API) to tool id; of equal names the first counts."""
        expect(apis, list, "api_list")
        offered: dict[tuple[str, str], str] = {}
        for position, api in enumerate(apis):
            with located(f"api_list.{position}"):
                tool_id = self._tools.add_document(api, file.name)
            offered.setdefault((api["tool_name"], api["api_name"]), tool_id)
        return offered

    def _joined_gold(
        self, group: str, query_id: str, text: str, entry: TaskEntry
    ) -> Gold | str | None:
        """Return the gold of the first training answer to this query, or why it is dropped."""
        files = self._gold_files.get((group, query_id), [])
        for file in list(files):
            run = self._read_tree(file)
            if normalised(run.query) == normalised(text):
                files.remove(file)
                return self._gold(run, text, self._tools.by_rule_name(entry.offered))
        return None

    def _gold(self, run: Run, text: str, tools: Mapping[str, Tool]) -> Gold | str:
        self._counts["training_answers"] += 1
        gold = gold_of(run, text, tools)
        if isinstance(gold, Gold):
            self._counts["gold_calls"] += len(gold.plan.milestones)
            self._counts["tasks_with_gold_calls"] += 1
        return gold

    def _read_tree(self, file: SourceFile) -> Run:
        with located(file.path):
            record = file.read()
            refuse_deep(record)
            return read_tree(record)

    def _own_gold(self, file: SourceFile) -> Iterator[Task]:
        """Yield the task that a training answer without a query record makes."""
        place = place_of_run(file)
        run = self._read_tree(file)
        if self._index.find(place.group, place.query_id, run.query) is not None:
            self._counts["duplicates"] += 1
            return
        entry = self._entry_of_run(run, place.group, place.query_id, _Origin(file))
        gold = self._gold(run, run.query, self._tools.by_rule_name(entry.offered))
        relevant = None if isinstance(gold, str) else gold.plan.tools() or None
        task = make_task(
            entry.id, run.query, place.group, entry.offered, relevant, gold, split_of(file)
        )
        yield from self._kept(task)

    def _entry_of_run(self, run: Run, group: str, query_id: str, origin: _Origin) -> TaskEntry:
        offered = []
        for function in run.functions:
            with located(f"{origin.file.path}{origin.place}"):
                offered.append(self._tools.add_function(function, origin.file.name))
        tool_ids = tuple(dict.fromkeys(tool for tool in offered if tool is not None))
        return self._index.add(group, query_id, run.query, tool_ids)

    def _tree(self, file: SourceFile) -> Iterator[Task | Recorded]:
        place = place_of_run(file)
        run = self._read_tree(file)
        name = place.recording or ""
        self._runs[name]["empty_train_messages"] += run.steps_from != "train_messages"
        yield from self._recorded(name, run, place.group, place.query_id, _Origin(file))

    def _converted(self, file: SourceFile) -> Iterator[Task | Recorded]:
        name, group = recording_of_converted(file), group_of_queries(file)
        for query_id, record in file.read().items():
            origin = _Origin(file, f", query {query_id}")
            with located(f"{origin.file.path}{origin.place}"):
                refuse_deep(record)
                run = read_converted(record)
            entry = self._index.find(group, query_id, run.query)
            if entry is not None and self._trials[name, entry.id]:
                self._runs[name]["converted_again"] += 1  # the tree of this run is here already
                continue
            yield from self._recorded(name, run, group, query_id, origin)

    def _recorded(
        self, name: str, run: Run, group: str, query_id: str, origin: _Origin
    ) -> Iterator[Task | Recorded]:
        """Yield a run, after the task that it makes where the source has no queries."""
        self._count_run(name, run)
        entry = self._index.find(group, query_id, run.query)
        if entry is None and self._from_queries:
            self._without_task[name].append(str(origin))
            self._notes.dropped["runs_without_task"] += 1
            return
        if entry is None:
            entry = self._entry_of_run(run, group, query_id, origin)
            split = split_of(origin.file)
            task = make_task(entry.id, run.query, group, entry.offered, None, None, split)
            yield from self._kept(task)
        if entry.id in self._dropped:
            self._notes.dropped["runs_of_dropped_tasks"] += 1
            return
        tools = self._tools.by_rule_name(entry.offered)
        provenance: dict[str, JSON] = {"recorded": name, "file": str(origin)}
        trial = self._trials[name, entry.id]
        self._trials[name, entry.id] += 1
        yield Recorded(name, trajectory_of(run, entry.id, trial, tools, provenance))

    def _count_run(self, name: str, run: Run) -> None:
        counts = self._runs[name]
        counts["found"] += 1
        counts["calls"] += len(run.moves)
        counts["orphaned_results"] += run.orphans
        counts[f"stopped_{run.finish or 'without_finish'}"] += 1
        for what, count in truncations(run).items():
            counts[f"truncated_{what}"] += count

    def _responses(self, file: SourceFile) -> None:
        record = file.read()
        with located(file.path):
            refuse_deep(record)
        apis = record.get("api_list") if isinstance(record, dict) else None
        if not isinstance(apis, list):
            raise DataError(f"{file.path}: api_list: expected a list of response shapes")
        shapes = {
            api["name"]: api["schema"]
            for api in apis
            if isinstance(api, dict) and isinstance(api.get("name"), str) and api.get("schema")
        }
        tool = group_of_queries(file)
        self._counts["response_shapes"] += self._tools.add_responses(file.folders[1], tool, shapes)

    def _check_ids(self) -> None:
        """Count the ids that StableToolBench lists as solvable and no query file holds."""
        if self._from_queries:
            for file in self._files("ids"):
                group = group_of_queries(file)
                missing = sum(not self._index.has(group, key) for key in file.read())
                self._counts["listed_ids_without_query"] += missing

    def _report(self) -> None:
        for name in ("duplicates", "training_answers", "tasks_with_gold_calls", "gold_calls"):
            self._counts[name] += 0
        self._counts["id_conflicts"] = self._index.conflicts()
        self._counts["tool_variants"] = self._tools.variants
        self._counts["renamed_tools"] = self._tools.renamed
        facts = self._notes.facts
        facts["files"] = self._source.counts
        facts["counts"] = dict(sorted(self._counts.items()))
        facts["runs"] = {name: self._run_counts(name) for name in sorted(self._runs)}
        facts["runs_without_task"] = dict(sorted(self._without_task.items()))
        lacking = self._tools.lacking()
        facts["tools_lacking"] = dict(sorted(lacking.items()))
        wholly = (name for name, count in lacking.items() if count == len(self._tools))
        self._notes.lacks.update(wholly)
        if not self._counts["gold_calls"]:
            self._notes.lacks.add("gold_calls")
        if not self._from_queries:
            self._notes.lacks.add("relevant")

    def _run_counts(self, name: str) -> dict[str, int]:
        counts = self._runs[name]
        without_task = len(self._without_task.get(name, ()))
        counts.update(joined=counts["found"] - without_task, without_task=without_task)
        return dict(sorted(counts.items()))

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
from dataclasses import dataclass, replace
from functools import partial
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
from seal.benchmarks.toolbench.tools import ApiTable, api_name, tool_name
from seal.benchmarks.toolbench.trajectories import trajectory_of, truncations
from seal.core import (
    JSON,
    DataError,
    Goal,
    Step,
    Task,
    Tool,
    UsageError,
    check_name,
    located,
    shortened,
)
from seal.core.text import normalised
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import (
    LeftOut,
    expect,
    field_of,
    find,
    json_file,
    listed,
    refuse_deep,
    usable,
    wrong_source,
)
from seal.pools.reading.records import LEAD, USER, TaskIds


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


# -- AnyToolBench: queries over ToolBench's APIs, with the names of the APIs that answer them.
#
# The file names APIs and does not describe them. Their documents are taken from query files of
# StableToolBench, or of ToolBench if only that lies beside the source. All APIs of those files make
# the pool. Names are compared by ToolBench's rule, and of several documents that of the same
# category counts. A gold API without a document joins the pool by its names alone, with
# `source["document"]` false and open parameters.
#
# Source: Du et al., "AnyTool" (ICML 2024), and the files of dyabel/AnyTool.

ANYTOOL = "anytool"
SIBLINGS = ("stabletoolbench", "toolbench")
"""Folders beside the source, whatever their case, of which the first that exists has the
documents; the other is not read."""

_QUERIES = "anytoolbench.json"
_UNSOLVABLE = "unsolvable.json"
_PARTS = ("category", "tool", "api")
_NO_DOCUMENT: dict[str, JSON] = {"required_parameters": [], "optional_parameters": []}


def import_anytool(
    source: Path, notes: Notes, *, documents: str | list[str] = "beside"
) -> Iterator[Tool | Task]:
    """Yield the tasks and tools of AnyToolBench.

    Args:
        source: The file anytoolbench.json, or a folder above it, in which unsolvable.json says
            which queries upstream found unsolvable.
        notes: Gets the counts, and the folders of documents that were read.
        documents: A path, or several, to ToolBench's or StableToolBench's query files; "beside":
            the first folder of `SIBLINGS` beside the source, if any; "none": names alone.

    Raises:
        UsageError: No such path.
        DataError: A file is missing or malformed; the text names file and place.
    """
    folders = _folders(source, documents)
    return _AnyToolImport(source, folders, notes).records()


def _folders(source: Path, documents: Any) -> list[Path]:
    if documents == "none":
        return []
    if documents == "beside":
        beside = {path.name.lower(): path for path in sorted(source.resolve().parent.iterdir())}
        return [beside[name] for name in SIBLINGS if name in beside][:1]
    paths = documents if isinstance(documents, list) else [documents]
    for path in paths:
        if not isinstance(path, str) or not Path(path).exists():
            raise UsageError(
                f"-T documents: no file or folder {shortened(path)}; expected query files of "
                "ToolBench or StableToolBench, or 'none' for a pool of names alone"
            )
    return [Path(path) for path in paths]


class _AnyToolImport:
    """One import: what was met so far."""

    def __init__(self, source: Path, folders: list[Path], notes: Notes) -> None:
        self._source = source
        self._folders = folders
        self._notes = notes
        self._table = ApiTable()
        self._documents: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        self._by_name: dict[tuple[str, str], str] = {}
        self._gold_names: set[tuple[str, str, str]] = set()
        self._gold_tools: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._ids = TaskIds(self._counts)

    def records(self) -> Iterator[Tool | Task]:
        for folder in self._folders:
            self._read_documents(folder)
        self._counts["documents"] = len(self._table)
        unsolvable = self._unsolvable()
        for path in find(self._source, [_QUERIES], ANYTOOL):
            yield from self._tasks(path, unsolvable)
        nameless = set(self._by_name.values())
        for tool in self._table:
            yield _undocumented(tool) if tool.id in nameless else tool
        self._report()

    def _read_documents(self, folder: Path) -> None:
        files = find_files(folder).files.get("queries", [])
        if not files:
            raise wrong_source(folder, "query files of ToolBench, with api_list", "-T documents")
        for file in files:
            self._read_file(file)

    def _read_file(self, file: SourceFile) -> None:
        def read(record: Any) -> None:
            self._add_documents(record, file.name)

        records = listed(file.read())
        for _ in usable(Path(file.path), read, self._notes, records, "malformed_document_record"):
            pass

    def _add_documents(self, record: Any, file: str) -> None:
        if not isinstance(record, dict) or "api_list" not in record:
            raise LeftOut("document_record_without_api_list")
        for api in field_of(record, "api_list", list):
            own = self._table.add_document(api, file)
            key = tool_name(api["tool_name"]), api_name(api["api_name"])
            self._documents[key].setdefault(tool_name(api["category_name"]), own)

    def _unsolvable(self) -> frozenset[str] | None:
        """Return the ids of the queries that have no solution; None where no file says so."""
        if self._source.is_file():
            return None
        ids: set[str] = set()
        paths = sorted(self._source.rglob(_UNSOLVABLE))
        for path in paths:
            content = json_file(path)
            if not isinstance(content, list) or not all(map(_is_id, content)):
                raise DataError(f"{path}: expected a list of query ids, got {shortened(content)}")
            ids.update(map(str, content))
        self._counts["unsolvable_ids"] = len(ids)
        return frozenset(ids) if paths else None

    def _tasks(self, path: Path, unsolvable: frozenset[str] | None) -> Iterator[Task]:
        read = partial(self._task, unsolvable=unsolvable, file=path.name)
        yield from usable(path, read, self._notes)
        if not self._counts["records"]:
            raise DataError(f"{path} holds no record; fetch it again")

    def _task(self, record: Any, unsolvable: frozenset[str] | None, file: str) -> Task:
        """Return a record's task, unless it is left out."""
        self._counts["records"] += 1
        text = field_of(record, "query", str)
        query_id = record.get("query_id")
        if not _is_id(query_id):
            raise DataError(f"query_id: expected a text or number, got {shortened(query_id)}")
        answer = field_of(record, "final_answer", str)
        apis = field_of(record, "gt_api_list", list)
        if not text.strip() or not apis:
            raise LeftOut("no_gold_api" if text.strip() else "empty_query")
        task_id = self._ids.add(str(query_id), text)
        relevant = tuple(dict.fromkeys(self._gold(api, file) for api in apis))
        self._counts["without_answer"] += not answer.strip()
        reference = (Step(0, LEAD, USER, answer),) if answer.strip() else ()
        tags: dict[str, JSON] = {"multi_tool": len(relevant) > 1, "multi_step": len(relevant) > 1}
        if unsolvable is not None:
            tags["solvable"] = str(query_id) not in unsolvable
            self._counts["unsolvable_tasks"] += not tags["solvable"]
        goal = Goal(text, relevant=relevant, reference=reference)
        return Task(task_id, ANYTOOL, (goal,), split="test", tags=tags)

    def _gold(self, api: Any, file: str) -> str:
        """Return the id of a gold API's tool, which joins the pool where it has no document."""
        category, tool, name = (field_of(api, f"{part}_name", str) for part in _PARTS)
        self._gold_names.add((category, tool, name))
        key = tool_name(tool), api_name(name)
        documents = self._documents.get(key)
        if documents:
            own = documents.get(tool_name(category)) or next(iter(documents.values()))
        else:
            own = self._by_name.get(key) or self._table.add_document({**api, **_NO_DOCUMENT}, file)
            self._by_name[key] = own
        self._gold_tools.add(own)
        return own

    def _report(self) -> None:
        named = set(self._by_name.values())
        self._counts["duplicates"] += 0
        self._counts.update(
            gold_names=len(self._gold_names),
            gold_tools=len(self._gold_tools),
            gold_tools_with_document=len(self._gold_tools - named),
            gold_tools_without_document=len(named),
            repeated_texts=self._ids.repeated,
        )
        facts = self._notes.facts
        facts["documents_from"] = [folder.resolve().name for folder in self._folders]
        facts["counts"] = dict(sorted(self._counts.items()))
        self._notes.lacks.add("gold_calls")
        if not self._folders:
            self._notes.lacks.update(("descriptions", "parameters", "response_shapes"))
        if "unsolvable_tasks" not in self._counts:
            self._notes.lacks.add("solvable")


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _undocumented(tool: Tool) -> Tool:
    """Return a tool of which nothing but the names is known, so that any argument may be right."""
    return replace(
        tool,
        parameters={"type": "object", "properties": {}},
        source={**tool.source, "document": False},
    )

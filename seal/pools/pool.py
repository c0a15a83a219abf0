"""Pool folders read: tools, tasks, order of `--limit`, search; what tasks name."""

from __future__ import annotations

import hashlib
import mmap
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, overload

import orjson

from seal.core import (
    CHAT_TOOLS,
    JSON,
    DataError,
    KnownTools,
    Milestone,
    Pool,
    Query,
    Step,
    Task,
    Tool,
    Trajectory,
    UnknownNameError,
    UsageError,
    check_name,
)
from seal.core.arrays import np
from seal.core.conditions import Called
from seal.core.files import PACKED, content_of, lines_of, opened
from seal.core.records import decode, read_records, repair_of
from seal.core.settings import checked
from seal.core.values import canonical_json, derive_seed, digest, json_value
from seal.pools.importer import RECORDED, REPORT, TOOLS, TRAJECTORIES, pool_digest, tasks_of
from seal.simulator_cache.simulators import RecordedCall, recorded_calls

# -- Pool folders: what an import wrote, read back and checked.

_LISTED = 20
"""Values of a tag that a message lists at most."""
_KEPT = 4 << 20
"""Bytes of tasks.jsonl up to which its tasks are kept: a run reads them six times. Packed ones may
unpack to much, and are read anew."""


_LARGE = 4 << 20
"""Bytes of tools.jsonl from which on its tools may be read one by one."""


View = Callable[[Callable[[], Iterator[Task]]], Iterator[Task]]


def load_pool(folder: Path) -> StoredPool:
    """Return the pool that a folder holds.

    Raises:
        DataError: The folder is no pool, or has no tools.
    """
    for path in (folder / TOOLS, tasks_of(folder)):
        if not path.is_file():
            name = path.name
            cure = "make one with: seal import NAME SOURCE --out DIR"
            if (folder / "run.json").exists():
                raise DataError(f"{folder} has no {name}; {repair_of(path)}")
            if any(folder.glob("*/run.json")):
                cure = "it is a folder of runs; name the benchmark or pool that they played"
            raise DataError(f"{folder} is no pool: it has no {name}; {cure}")
    if (folder / TOOLS).stat().st_size == 0:
        raise DataError(f"{folder / TOOLS} is empty: a pool needs tools; import it again")
    return StoredPool(folder)


class ToolFile(KnownTools):
    """The tools of a large file, each read when it is asked for.

    Args:
        path: Of the file, tools.jsonl.
        folder: Where is kept which lines have which tools, under the digest of the file. Each line
            was read and checked before that is kept.

    Raises:
        DataError: A line is bad, or an id stands twice.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        from seal.retrievers.kept import kept_under

        self._path = path
        with opened(path) as file:
            self.digest = hashlib.file_digest(file, "sha256").hexdigest()
            self._lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        key = digest(["tool-file/1", self.digest])
        kept = kept_under(folder / f"{key}.arrays", key, lambda: _lines_of_tools(path))
        names = bytes(kept["names"]).decode("utf-8", "surrogatepass")
        self.ids = [names[start:end] for start, end in pairwise(kept["edges"].tolist())]
        self._starts = kept["starts"]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Tool: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Tool]: ...
    def __getitem__(self, place: int | slice) -> Tool | Sequence[Tool]:
        """Return a tool by its place among the ids, or some.

        Raises:
            DataError: The file is another one by now.
        """
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        wanted = self.ids[place]
        start = int(self._starts[place])
        end = self._lines.find(b"\n", start)
        try:
            tool = decode(self._lines[start : None if end < 0 else end], Tool)
        except DataError as error:
            raise DataError(f"{self._path}: {error}; it was changed while it was read") from error
        if tool.id != wanted:
            raise DataError(f"{self._path} was changed while it was read: {wanted!r} is not there")
        return tool


def _lines_of_tools(path: Path) -> dict[str, Any]:
    """Return the ids of a file's tools, ascending, and where the line of each begins."""
    start = end = 0

    def wanted(line: bytes) -> bytes:
        nonlocal start, end
        start, end = end, end + len(line)
        return line.strip()

    starts: dict[str, int] = {}
    for tool in read_records(path, Tool, wanted):
        if tool.id in starts:
            raise DataError(f"{path}: tool id {tool.id!r} stands twice")
        starts[tool.id] = start
    ids = sorted(starts)
    names = "".join(ids).encode("utf-8", "surrogatepass")
    return {
        "names": np.frombuffer(names, dtype=np.uint8),
        "edges": np.cumsum([0, *map(len, ids)]),
        "starts": np.array([starts[id] for id in ids]),
    }


class Outline(NamedTuple):
    """Of a task what decides who and what takes part in chats."""

    id: str
    world: str
    persona: bool
    """Whether it has one."""
    replies: bool
    """Whether its persona has the user's answers word by word."""
    recorded: tuple[RecordedCall, ...]
    """Its gold calls whose results are recorded."""
    opens: bool
    """Whether the user's model writes the first message."""
    user_tools: bool
    """Whether the user has tools of its own."""


class StoredPool:
    """A pool folder: tools, tasks and recorded runs; many tasks, and runs, are streamed.

    Args:
        folder: With tools.jsonl and tasks.jsonl; `import.json`, `recorded/` and files of its worlds
            where they exist.
        view: Given a function that reads all tasks, yields those that are played, in their order.
        benchmark: The `seal.pools.benchmark.Benchmark` behind the folder, where that is known.
        left_out: World to how many of the selected tasks need it and are not played, because the
            run has none (`without`).
    """

    def __init__(
        self,
        folder: Path,
        view: View | None = None,
        benchmark: Any = None,
        left_out: Mapping[str, int] | None = None,
    ) -> None:
        self.left_out = dict(left_out or {})
        self.folder = folder
        self.benchmark = benchmark
        self._view = view
        self._kept: tuple[Task, ...] | None = None
        self._file: ToolFile | None = None
        self._drawn: dict[tuple[tuple[tuple[str, str], ...], int], frozenset[str]] = {}
        self._outlined: dict[tuple[tuple[str, str], ...], tuple[Outline, ...]] = {}

    @cached_property
    def report(self) -> dict[str, JSON]:
        """The content of import.json; empty where there is none, as in a folder made by hand.

        Raises:
            DataError: It is no JSON object, or `lacks` is no list of names.
        """
        path = self.folder / REPORT
        if not path.is_file():
            return {}
        try:
            content = json_value(content_of(path))
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}: not JSON: {error}; import the pool again") from error
        if not isinstance(content, dict):
            raise DataError(f"{path}: expected an object, got {type(content).__name__}")
        lacks = content.get("lacks") or []
        if not (isinstance(lacks, list) and all(isinstance(kind, str) for kind in lacks)):
            raise DataError(f"{path}: expected a list of names as `lacks`; import the pool again")
        return content

    @property
    def name(self) -> str:
        """The benchmark's name; the folder's where import.json names none."""
        return str(self.report.get("benchmark") or self.folder.resolve().name)

    @property
    def made_of(self) -> str:
        """Name of the benchmark whose parts it has: what its files say, whatever the folder is.

        It is that of import.json, else that of the first task, such as in a run's folder.
        """
        return str(self.report.get("benchmark") or self._said_by_tasks() or self.name)

    def _said_by_tasks(self) -> JSON:
        lines = lines_of(tasks_of(self.folder))
        first = next(filter(bytes.strip, lines), b"{}")
        with suppress(orjson.JSONDecodeError, AttributeError):  # whoever reads the tasks tells it
            return json_value(first).get("benchmark")
        return None

    def at(self, folder: Path) -> Any:
        """Return what opens another folder as a pool of the same benchmark."""
        return folder if self.benchmark is None else self.benchmark.at(folder)

    def without(self, lacks: Callable[[Task], bool], left_out: Mapping[str, int]) -> StoredPool:
        """Return the pool without the tasks that lack their world.

        Args:
            lacks: Tells whether a task does.
            left_out: World to how many of the selected tasks need it.
        """
        before = self._view

        def view(read: Callable[[], Iterator[Task]]) -> Iterator[Task]:
            found = read() if before is None else before(read)
            return (task for task in found if not lacks(task))

        return StoredPool(self.folder, view, self.benchmark, left_out)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of tools.jsonl and tasks.jsonl as they stand."""
        return pool_digest(self.folder)

    @cached_property
    def _tools(self) -> dict[str, Tool]:
        tools: dict[str, Tool] = {}
        for tool in read_records(self.folder / TOOLS, Tool):
            if tool.id in tools:
                raise DataError(f"{self.folder / TOOLS}: tool id {tool.id!r} stands twice")
            if not tool.name.strip():
                raise DataError(
                    f"{self.folder / TOOLS}: tool {tool.id!r} has no name by which a "
                    "model could call it; give it one"
                )
            tools[tool.id] = tool
        return tools

    def tools(self) -> tuple[Tool, ...]:
        """Return all tools in the order of the file.

        Raises:
            DataError: A line is bad, or an id stands twice.
        """
        return tuple(self._tools.values())

    def listed(self, folder: Path | None) -> Sequence[Tool]:
        """Return all tools; those of a large file in the order of ids, each read when asked for.

        Args:
            folder: Where is kept which lines have which tools, so that the next process need not
                read them all; None: nowhere, and all are read now.

        Raises:
            DataError: A line is bad, or an id stands twice.
        """
        path = self.folder / TOOLS
        if folder is not None and path.stat().st_size >= _LARGE:
            self._file = ToolFile(path, folder)
        return self.tools() if self._file is None else self._file

    def chosen(self, choice: TaskChoice) -> Iterator[Task]:
        """Yield the tasks that settings choose; as for `tasks`."""
        return self.tasks(choice.select, choice.limit, choice.first)

    def tasks(
        self,
        select: Mapping[str, str] | None = None,
        limit: int | None = None,
        first: int | None = None,
    ) -> Iterator[Task]:
        """Yield tasks in the order of the file, one by one.

        Args:
            select: Tag to the value that it must have, written as on a command line: a boolean tag
                matches `true` or `false`, `*` any characters. `id` is the task's id. All must
                hold.
            limit: At most so many, which stand for all (`ORDER`).
            first: At most so many, from the head of the file.

        Raises:
            DataError: A line is bad, an id stands twice, a task has no goal, a tool is not in
                tools.jsonl, or there is no task.
            UsageError: No task has such tags; the text lists the tags that there are. Or both
                `limit` and `first` are given.
        """
        if limit is None or first is not None:
            if limit is not None:
                raise UsageError("--limit and --first are two ways to take a few tasks: give one")
            yield from islice(self._selected(select or {}), first)
            return
        key = (tuple(sorted((select or {}).items())), limit)
        if key not in self._drawn:
            self._drawn[key] = prefix(self._selected(select or {}), limit)
        drawn = self._drawn[key]
        found = (task for task in self._selected(select or {}) if task.id in drawn)
        yield from islice(found, len(drawn))

    def tasks_if_any(self) -> Iterator[Task]:
        """Yield all tasks; none of a pool that has tools alone, which `tasks` refuses."""
        yield from self.tasks() if any(lines_of(tasks_of(self.folder))) else ()

    def outlines(self, select: Mapping[str, str] | None = None) -> tuple[Outline, ...]:
        """Return the outlines of tasks, all or with some tags; the tasks are read once for it.

        Raises:
            DataError: As for `tasks`.
            UsageError: As for `tasks`.
        """
        key = tuple(sorted((select or {}).items()))
        if key not in self._outlined:
            self._outlined[key] = tuple(map(_outline, self.tasks(select)))
        return self._outlined[key]

    def _selected(self, select: Mapping[str, str]) -> Iterator[Task]:
        known: defaultdict[str, set[str]] = defaultdict(set)
        wanted = {tag: value.casefold() for tag, value in select.items()}
        found = False
        for task in self._checked() if self._view is None else self._view(self._checked):
            if not wanted:
                found = True
                yield task
                continue
            tags = {"id": task.id} | {tag: _written(value) for tag, value in task.tags.items()}
            for tag, value in tags.items():
                known[tag].add(value)
            said = ((tags.get(tag, "").casefold(), value) for tag, value in wanted.items())
            if all(own == value or fnmatchcase(own, value) for own, value in said):
                found = True
                yield task
        if not found:
            raise _nothing_found(self, select, known)

    @checked
    def tool(self, id: str) -> Tool:
        """Return a tool by its id, by the one id that starts or ends so, or by its name.

        Raises:
            UnknownNameError: There is none; names the closest.
            UsageError: Several fit.
        """
        of_name = [tool for tool in self.tools() if tool.name == id]
        if id not in self._tools and len(of_name) == 1:
            return of_name[0]

        return self._tools[named_one("tool", id, self._tools)]

    @checked
    def task(self, id: str) -> Task:
        """Return a task by its id, or by the one id that starts or ends so; as for `tool`."""
        tasks = {task.id: task for task in self.every_task()}
        return tasks[named_one("task", id, tasks)]

    @checked
    def tools_of(self, id: str) -> tuple[Tool, ...]:
        """Return the tools that are gold of a task: relevant, or called by gold; as for `tool`."""
        named = (tool for role, tool in named_tools(self.task(id)) if role != "offered")
        return tuple(self._tools[tool] for tool in dict.fromkeys(named))

    @checked
    def search(self, words: str, k: int = 5, of: Kind = "tools") -> tuple[Hit, ...]:
        """Return the tools, or the tasks, that BM25 ranks first for some words.

        Example:
            >>> from seal.api.benchmarks import load_pool
            >>> load_pool("sample").search("weather of tomorrow", 1)[0].id
            'sample/skywatch/current'
        """
        return searched(self.tools(), tuple(self.every_task()), words, k, of)

    def every_task(self) -> Iterator[Task]:
        """Yield the tasks of the file as they stand, whatever the view is.

        Raises:
            DataError: As for `tasks`.
        """
        return self._checked()

    def _checked(self) -> Iterator[Task]:
        path = tasks_of(self.folder)
        if self._kept is None and path.suffix != PACKED and path.stat().st_size <= _KEPT:
            self._kept = tuple(self._read())
        return self._read() if self._kept is None else iter(self._kept)

    def _read(self) -> Iterator[Task]:
        path = tasks_of(self.folder)
        known = self._tools if self._file is None else frozenset(self._file.ids)
        seen = set()
        for task in read_records(path, Task):
            if task.id in seen:
                raise DataError(f"{path}: task id {task.id!r} stands twice")
            seen.add(task.id)
            if not task.goals:
                raise DataError(f"{path}: task {task.id!r} has no goal; give it one or remove it")
            for role, tool in named_tools(task):
                if tool not in known:
                    raise DataError(
                        f"{path}: task {task.id!r} has the {role} tool {tool!r}, "
                        f"which is not in {TOOLS}; import the pool again"
                    )
            yield task

    def recordings(self) -> dict[str, Path]:
        """Return the recorded runs: name to the file of their trajectories, sorted by name."""
        files = sorted((self.folder / RECORDED).glob(f"*/{TRAJECTORIES}"))
        return {file.parent.name: file for file in files}

    def recorded(self, name: str) -> Iterator[Trajectory]:
        """Yield the trajectories of one recording.

        Raises:
            UnknownNameError: No recording of this name.
            DataError: A line is bad.
        """
        files = self.recordings()
        check_name(f"recording in {self.name}", name, files)
        yield from read_records(files[name], Trajectory)


def _outline(task: Task) -> Outline:
    persona = task.persona
    replies = "replies" in (persona or {})
    opens = bool(task.goals) and task.said_first(0) is None
    calls = tuple(recorded_calls(task))
    held = bool(task.user_tools)
    return Outline(task.id, task.world, persona is not None, replies, calls, opens, held)


def _written(value: JSON) -> str:
    """Return a tag's value as a user writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _nothing_found(
    pool: StoredPool, select: Mapping[str, str], known: Mapping[str, set[str]]
) -> DataError | UsageError:
    if not select:
        made = pool.benchmark
        if made is not None and made.folder is None:
            return UsageError(
                f"benchmark {made.name!r} has no task; give it some: tasks=[seal.ask(...)]"
            )
        return DataError(
            f"{tasks_of(pool.folder)} holds no task: import the benchmark again, "
            "from a source that has its tasks"
        )
    listed = sorted((tag, values) for tag, values in known.items() if tag != "id" or tag in select)
    tags = "; ".join(f"{tag}: {_shortened(values)}" for tag, values in listed)
    asked = ", ".join(f"{tag}={value}" for tag, value in select.items())
    return UsageError(f"no task of {pool.name} has {asked}; its tags are: {tags or 'none'}")


def _shortened(values: set[str]) -> str:
    listed = ", ".join(sorted(values)[:_LISTED])
    return f"{listed}, and {len(values) - _LISTED} more" if len(values) > _LISTED else listed


# -- Look-ups in a pool: by id, by a part of it, and by words.

NAMED = 10
"""Most ids that an error lists."""
Kind = Literal["tools", "tasks"]


def named_one(kind: str, wanted: str, ids: Collection[str]) -> str:
    """Return the id that a user's text names: itself, else the one that starts or ends so.

    Args:
        kind: What is looked for, for messages: "task".
        wanted: The text.
        ids: Those that there are.

    Raises:
        UnknownNameError: None does; names the closest.
        UsageError: Several do.
    """
    if wanted in ids:
        return wanted
    for fits in (
        [id for id in ids if id.startswith(wanted)],
        [id for id in ids if id.endswith(f"/{wanted}")],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            named = ", ".join(fits[:NAMED]) + (", ..." if len(fits) > NAMED else "")
            raise UsageError(f"{wanted!r} fits {len(fits)} {kind}s: {named}; give more of the id")
    from rapidfuzz import fuzz, process

    found = process.extract(wanted, list(ids), scorer=fuzz.ratio, limit=NAMED)
    closest = [name for name, *_ in found]
    raise UnknownNameError(kind, wanted, closest, more=len(ids) - len(closest))


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that a search found."""

    id: str
    score: float
    """Of BM25; greater is better."""
    text: str
    """Description of the tool, or what the task asks."""


def searched(
    tools: Sequence[Tool], tasks: Sequence[Task], words: str, k: int, of: Kind
) -> tuple[Hit, ...]:
    """Return the tools or tasks that BM25 ranks first for some words; none without one of them.

    Raises:
        UsageError: `k` is below 1, or there is no such kind.
    """
    from seal.retrievers.build import build_retriever

    check_name("kind of search", of, ("tools", "tasks"))
    if k < 1:
        raise UsageError(f"k = {k}: a search shows at least 1; give a greater number")
    asked = {task.id: " / ".join(goal.text for goal in task.goals) for task in tasks}
    documents = (
        tuple(tools) if of == "tools" else tuple(Tool(i, i, t, {}) for i, t in asked.items())
    )
    (ranking,) = build_retriever("bm25", Pool(documents)).retrieve([Query(words)], k)
    texts = {tool.id: tool.description for tool in documents}
    return tuple(Hit(id, score, texts[id]) for id, score in ranking if score > 0)


# -- The order in which `--limit` takes tasks, so that a few of them stand for all.
#
# Tasks are sorted by their tags, those with few values first, and by chance among equal tags. They
# are then taken from that row in the order of a binary van der Corput sequence: each next task
# halves a widest gap between those before it. So every prefix has each tag about as often as the
# whole, and a longer prefix holds a shorter one. It is systematic sampling of a sorted list, made
# nested. No seed of a run changes the order, so that runs of several seeds play the same tasks.

ORDER = "spread/1"
"""Name of the order; another order gets another version."""


class TaskChoice(Protocol):
    """Settings that say which tasks of a pool are played."""

    @property
    def select(self) -> Mapping[str, str]:
        """Tag to the value that a task must have."""

    @property
    def limit(self) -> int | None:
        """So many tasks of `ORDER`; None: all."""

    @property
    def first(self) -> int | None:
        """So many tasks of the head of the file; None: all."""


def told_of(choice: TaskChoice) -> dict[str, JSON]:
    """Return what a record says of how many tasks were chosen, and by which order."""
    first: dict[str, JSON] = {} if choice.first is None else {"first": choice.first}
    return {"limit": choice.limit} | first | ({} if choice.limit is None else {"order": ORDER})


def prefix(tasks: Iterable[Task], limit: int) -> frozenset[str]:
    """Return the ids of the first tasks in `ORDER`: of at most `limit`, in whatever order given."""
    tags = {task.id: task.tags for task in tasks}
    values: dict[str, set[bytes]] = {}
    for mine in tags.values():
        for tag, value in mine.items():
            values.setdefault(tag, set()).add(canonical_json(value))
    coarse_first = sorted(values, key=lambda tag: (len(values[tag]), tag))

    def place(task: str) -> tuple[Any, ...]:
        by_tag = tuple(canonical_json(tags[task].get(tag)) for tag in coarse_first)
        return (by_tag, derive_seed(ORDER, task), task)

    row = sorted(tags, key=place)
    bits = len(row).bit_length()
    reversed_bits = (int(f"{at:0{bits}b}"[::-1], 2) for at in range(1 << bits))
    taken = [row[at] for at in reversed_bits if at < len(row)] if row else []
    return frozenset(taken[:limit])


# -- What calls of scrambled tools run.

FUNCTION = "function"
ORIGINAL = "original"
"""Under these names a scrambled tool's `source` has the original's id and document."""


def is_scrambled(tool: Tool) -> bool:
    """Tell whether a tool is a scrambled one."""
    return FUNCTION in tool.source and isinstance(tool.source.get(ORIGINAL), Mapping)


def originals(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return for the id of each scrambled tool the tool that a call of it runs."""
    return {
        tool.id: replace(tool, id=str(tool.source[FUNCTION]), **tool.source[ORIGINAL])
        for tool in tools
        if is_scrambled(tool)
    }


# -- The tools of a pool that tasks name, and what they are to them.


def named_tools(task: Task) -> Iterator[tuple[str, str]]:
    """Yield what a tool is to the task, and its id, for every tool of the pool that a goal names.

    It is relevant, offered, gold (called by a plan, or forbidden by it), or called in the reference
    solution, or the user's; one tool may be several of them.
    """
    yield from (("user's", tool) for tool in task.user_tools)
    for goal in task.goals:
        nodes = [m for plan in goal.plans or () for m in (*plan.milestones, *plan.minefields)]
        yield from (("relevant", tool) for tool in goal.relevant)
        yield from (("offered", tool) for tool in goal.offered or ())
        yield from (("gold", tool) for node in nodes for tool in called_tools(node))
        yield from (("reference", tool) for tool in stated_tools(goal.reference))


def called_tools(node: Milestone) -> frozenset[str]:
    """Return the tool that a node calls; none where it asks for something else."""
    return frozenset([node.condition.tool]) if isinstance(node.condition, Called) else frozenset()


def stated_tools(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Return the tools of the pool that the steps call, in their order."""
    called = (step.call.tool for step in steps if step.call is not None)
    found = (tool for tool in called if tool is not None and not tool.startswith(CHAT_TOOLS))
    return tuple(dict.fromkeys(found))

"""LiveMCPBench: tasks over the tools of 70 MCP servers, and recorded runs.

| -T queries= | a task is | relevant is |
|---|---|---|
| tasks | a request | the tools that the annotators' steps name |
| route | a query that a recorded agent searched with | of what it found, what it called then |

Task id: `livemcpbench/TASK`, of a query `livemcpbench/TASK/NUMBER`. The pool `tasks` has the runs
as recordings. The goal of a query offers what was found: the retriever `given` is upstream's.

Source: Mo et al., "LiveMCPBench" (2025), and the files of icip-cas/LiveMCPBench.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import (
    FIND_TOOLS,
    JSON,
    DataError,
    Execution,
    Goal,
    Ranking,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    check_name,
    located,
)
from seal.core.values import literal_value
from seal.evaluation.llm_judge import QueryVerdicts, VerdictFile
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import (
    LeftOut,
    expect,
    field_of,
    find,
    function_name,
    json_of_text,
    json_records,
    refuse_deep,
    tool_id,
    usable,
    wrong_source,
)
from seal.pools.reading.records import Made, chat_steps
from seal.retrievers.base import by_place

# -- The tools of LiveMCPBench's servers, by server and name.

BENCHMARK = "livemcpbench"


class Meant(NamedTuple):
    """What the names that annotators wrote down mean."""

    tools: tuple[str, ...]
    """Ids."""
    unknown: tuple[str, ...]
    """Names that no server has."""
    several: tuple[str, ...]
    """Names of which nothing tells the server: each server's tool counts."""


class ServerTools:
    """The tools that servers list, kept apart by server.

    A tool is called `SERVER_NAME` where two servers have one of its name.

    Args:
        path: File of entries, each with the listing of its servers.
        notes: Gets the counts of what is left out.

    Raises:
        DataError: The file cannot be read, or no entry of it can be used.
    """

    def __init__(self, path: Path, notes: Notes) -> None:
        listed: dict[tuple[str, str], dict[str, Any]] = {}
        for entry in usable(path, _listed, notes):
            for server, document in entry:
                place = server, document["name"]
                if place in listed:
                    notes.leave_out("duplicate_tool", f"{server}: {place[1]} is listed twice")
                listed.setdefault(place, document)
        names = Counter(name for _, name in listed)
        self._tools: dict[tuple[str, str], Tool] = {}
        self._servers: defaultdict[str, list[str]] = defaultdict(list)
        for (server, name), document in listed.items():
            shown = f"{server}_{name}" if names[name] > 1 else name
            self._tools[server, name] = _tool(server, shown, document)
            self._servers[name].append(server)

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools in the order of the file."""
        return iter(self._tools.values())

    def find(self, server: JSON, name: JSON) -> Tool | None:
        """Return a server's tool; None: there is none."""
        return self._tools.get((str(server), str(name)))

    def meant(self, names: Sequence[str]) -> Meant:
        """Return what the names of one task mean.

        The annotators name no server. A name that several servers have means that of a server which
        another name of the task tells; without one it means each of them.
        """
        sure = {servers[0] for name in names if len(servers := self._of(name)) == 1}
        tools: list[str] = []
        several = []
        for name in names:
            servers = [one for one in self._of(name) if one in sure] or self._of(name)
            tools += [self._tools[server, name].id for server in servers]
            several += [name] * (len(servers) > 1)
        unknown = tuple(name for name in names if not self._of(name))
        return Meant(tuple(dict.fromkeys(tools)), unknown, tuple(several))

    def _of(self, name: str) -> list[str]:
        return self._servers.get(name, [])


def _listed(entry: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return each server of an entry with each of its tools' documents."""
    found = []
    for server, listing in field_of(entry, "tools", dict).items():
        for document in field_of(listing, "tools", list):
            field_of(document, "name", str)
            expect(document.setdefault("inputSchema", {}), dict, "inputSchema")
            found.append((server, document))
    return found


def _tool(server: str, name: str, document: Mapping[str, Any]) -> Tool:
    schema = document["inputSchema"]
    properties = schema.get("properties")
    return Tool(
        tool_id(BENCHMARK, server, document["name"]),
        function_name(name),
        str(document.get("description") or ""),
        {
            **schema,
            "type": "object",
            "properties": properties if isinstance(properties, dict) else {},
        },
        server,
        document.get("outputSchema"),
        {"server": server, "name": document["name"]},
    )


# -- LiveMCPBench's recorded runs: an agent that searches for tools and then calls them.
#
# The agent has two tools. `route` searches: here it is a call of `find_tools`, and what it found is
# a ranking. `execute-tool` runs a tool of a server: here it is a call of that tool. A result is the
# text that the agent read, which upstream's harness cut at 10,000 characters; its value is the
# answer of the server, where the text is whole.

_SEARCH, _EXECUTE = "route", "execute-tool"
_WHOLE = re.compile(r"meta=.* isError=(True|False)", re.DOTALL)
_TEXT = re.compile(r"""TextContent\(type='text', text=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_HIT = re.compile(r"^- server_name: (.*)\n  tool_name: (.*)$", re.MULTILINE)
_TAG = re.compile(r"</?tool_assistant>")
_FAILED = ("Error", "Tool call timed out")


@dataclass(frozen=True, slots=True)
class Search:
    """One query of the agent."""

    query: str
    """Without the tags around it."""
    hits: tuple[str, ...]
    """Ids of the known tools that were found, best first."""
    called: tuple[str, ...]
    """Of these, those that the agent called afterwards."""


class Run:
    """One recorded run.

    Args:
        record: As upstream has it.
        tools: That the servers list.

    Raises:
        DataError: A message is malformed.
    """

    def __init__(self, record: dict[str, Any], tools: ServerTools) -> None:
        self.task = field_of(record, "task_id", str)
        self._record = record
        self._tools = tools
        self._found: dict[str, tuple[str, ...]] = {}
        self._replies = list(self._read())

    def _read(self) -> Iterator[list[Made]]:
        messages = field_of(self._record, "messages", list)
        roles = [field_of(message, "role", str) for message in messages]
        answers = {
            field_of(message, "tool_call_id", str): field_of(message, "content", str)
            for message, role in zip(messages, roles, strict=True)
            if role == "tool"
        }
        number = 0
        for message, role in zip(messages, roles, strict=True):
            made = []
            calls = (message.get("tool_calls") or []) if role == "assistant" else []
            for asked in expect(calls, list, what="tool_calls"):
                call = self._call(f"call_{number}", field_of(asked, "function", dict))
                result = self._result(call, answers.get(field_of(asked, "id", str)))
                made.append(Made(str(message.get("content") or ""), call, result))
                number += 1
            if made:
                yield made

    def _call(self, call_id: str, function: dict[str, Any]) -> ToolCall:
        name, raw = field_of(function, "name", str), field_of(function, "arguments", str)
        given = _object(raw)
        if given is not None and name == _SEARCH:
            return ToolCall(call_id, "find_tools", given, tool=FIND_TOOLS)
        if given is None or name != _EXECUTE:
            return ToolCall(call_id, name, given, "" if given is not None else raw)
        tool = self._tools.find(given.get("server_name"), given.get("tool_name"))
        named = str(given.get("tool_name")) if tool is None else tool.name
        params, tool_id = given.get("params"), None if tool is None else tool.id
        if isinstance(params, dict):
            return ToolCall(call_id, named, params, tool=tool_id)
        return ToolCall(call_id, named, None, raw, tool_id)

    def _result(self, call: ToolCall, content: str | None) -> ToolResult | None:
        if content is None:
            return None
        value, failed = _answer(content)
        if call.tool == FIND_TOOLS:
            # A text that was cut is still quoted, with its line breaks escaped.
            listed = _HIT.findall(str(value).replace("\\n", "\n"))
            found = [self._tools.find(*hit) for hit in listed]
            known = {tool.id: tool.name for tool in found if tool is not None}
            self._found[call.id] = tuple(known)
            return ToolResult(call.id, content, value=[{"name": name} for name in known.values()])
        executed = None
        if call.tool is not None and call.arguments is not None:
            executed = Execution(call.tool, call.arguments)
        kind = "service" if executed else "unknown_tool"
        error: dict[str, JSON] | None = {"kind": kind, "message": str(value)} if failed else None
        return ToolResult(call.id, content, error, value, executed)

    def counts(self) -> dict[str, int]:
        """Count the run, its searches, its calls of tools, and those of tools that nobody has."""
        called = [call.tool for call in self._calls()]
        searches, unknown = called.count(FIND_TOOLS), called.count(None)
        calls = len(called) - searches
        return {"runs": 1, "searches": searches, "calls": calls, "calls_of_unknown_tools": unknown}

    def _calls(self) -> list[ToolCall]:
        return [made.call for reply in self._replies for made in reply]

    def searches(self) -> Iterator[Search]:
        """Yield the agent's queries, in order."""
        calls = self._calls()
        for place, call in enumerate(calls):
            if call.tool == FIND_TOOLS and call.id in self._found:
                hits = self._found[call.id]
                later = [other.tool for other in calls[place:] if other.tool in hits]
                called = tuple(tool for tool in dict.fromkeys(later) if tool is not None)
                query = _TAG.sub("", str((call.arguments or {}).get("query", ""))).strip()
                yield Search(query, hits, called)

    def trajectory(self, task_id: str, trial: int, provenance: Mapping[str, JSON]) -> Trajectory:
        """Return the run as a trajectory.

        Args:
            task_id: Of our task.
            trial: Number of the run among those of this recording and task.
            provenance: Where it is from; what people say of it is added.

        Raises:
            DataError: It lacks question or answer.
        """
        answer = field_of(self._record, "response", str)
        question = field_of(self._record, "Question", str)
        searches = list(self.searches())
        rankings = (
            Ranking(task_id, 0, s.query, tuple(by_place(s.hits, len(s.hits)))) for s in searches
        )
        offered = dict.fromkeys([FIND_TOOLS, *(hit for s in searches for hit in s.hits)])
        label = self._record.get("task_success")
        return Trajectory(
            task_id,
            trial,
            tuple(chat_steps(question, self._replies, answer, answer)),
            tuple(rankings),
            (tuple(offered),),
            (Stop("done"),),
            (answer,),
            {**provenance, **({} if label is None else {"task_success": label})},
        )


def _object(text: str) -> dict[str, JSON] | None:
    try:
        value = json_of_text(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _answer(content: str) -> tuple[JSON, bool]:
    """Return what a server answered, and whether it failed; of a text that was cut, the text.

    A whole text is Python's, `meta=None content=[TextContent(...)] isError=False`. Its text is
    again the JSON of such an answer where a server was asked.
    """
    whole = _WHOLE.fullmatch(content)
    if whole is None:
        return content, content.startswith(_FAILED)
    try:
        text = "\n".join(str(literal_value(quoted)) for quoted in _TEXT.findall(content))
    except ValueError:
        return content, whole[1] == "True"
    inner, failed = _object(text) or {}, whole[1] == "True"
    parts = inner.get("content")
    if not isinstance(parts, list):
        return text, failed
    texts = [str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part]
    told = "\n".join(texts)
    return (_object(told) or told), failed or inner.get("isError") is True


# -- What people and judges said of LiveMCPBench's runs.
#
# A judge's file has the field `judge` for each task, a file of runs with people's labels the field
# `task_success`. A verdict is success where its text has this word, as upstream counts it. Upstream
# keeps a folder for each judge (`JUDGE/RUN.json`); files of one folder, `JUDGE.json`, do as well.

_JUDGE, _PEOPLE = "judge", "task_success"


def read_verdicts(path: Path) -> VerdictFile:
    """Return the verdicts of a judge's file, of people's, or of a folder of such files.

    Raises:
        DataError: A file cannot be read or holds no verdicts; the text names the place.
    """
    files = find(path, ["*.json", "*.json.gz"], f"a folder of verdicts of {BENCHMARK}")
    stems = [file.name.partition(".json")[0] for file in files]
    shared = len({*stems}) < len(stems)
    judges = []
    labels: defaultdict[str, dict[int, str]] = defaultdict(dict)
    answers: dict[str, str | None] = {}
    for vote, (file, stem) in enumerate(zip(files, stems, strict=True)):
        name = "people"
        for place, record in json_records(file):
            with located(place):
                task = field_of(record, "task_id", str)
                if _JUDGE in record:
                    name = file.parent.name if shared else stem
                said = field_of(record, _JUDGE if _JUDGE in record else _PEOPLE, str)
                if vote in labels[task]:
                    raise DataError(f"task {task!r} stood before; leave one record of it in")
            labels[task][vote] = "solved" if "success" in said.lower() else "unsolved"
            answers[task] = record.get("response", answers.get(task))
        judges.append(name)
    if not labels:
        raise DataError(f"{path}: no verdicts; expected records with {_JUDGE} or {_PEOPLE}")
    queries = {task: QueryVerdicts(None, of, answers[task]) for task, of in labels.items()}
    return VerdictFile(path, queries, tuple(judges))


# -- Their tasks, and the queries of their runs.

QUERIES = ("tasks", "route")
_TOOLS, _TASKS = "tools.json", "all_annotations.json"
_RUNS = ("baseline/annotation", ".")
"""Folders of the source of which the first that has runs counts."""
_NUMBER = re.compile(r"^\s*\d+\s*[.)]\s*")
_TURNS = 50
"""Replies for each task: upstream sets no limit, and its recorded runs take up to 43."""
_MADE = ("file ", "edit ")
"""How an annotated answer begins that names a file to make; any other is what an answer states."""


def import_livemcpbench(
    source: Path, notes: Notes, *, queries: str = "tasks"
) -> Iterator[Tool | Task | Recorded]:
    """Yield the servers' tools, and tasks with recorded runs, or the queries of these runs.

    Args:
        source: Upstream's repository, or a folder with tools.json, all_annotations.json and, where
            there are any, files of runs (.json, .json.gz).
        notes: Gets the counts.
        queries: "tasks", or "route": what the recorded agent searched with.

    Raises:
        UnknownNameError: No such queries.
        DataError: A file is missing, or no record of it can be used; the text names file and place.
    """
    check_name("value of -T queries", queries, QUERIES)
    if source.is_file():
        raise wrong_source(source, f"a folder with {_TOOLS} and {_TASKS}", BENCHMARK)
    return _Import(source, notes, queries == "route").records()


class _Import:
    """One import: what was met so far."""

    def __init__(self, source: Path, notes: Notes, by_query: bool) -> None:
        self._source = source
        self._notes = notes
        self._by_query = by_query
        self._tools = ServerTools(find(source, [_TOOLS], BENCHMARK)[0], notes)
        self._tasks: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._unknown: set[str] = set()
        self._queries: Counter[str] = Counter()

    def records(self) -> Iterator[Tool | Task | Recorded]:
        yield from self._tools
        tasks = list(usable(find(self._source, [_TASKS], BENCHMARK)[0], self._task, self._notes))
        runs = _runs(self._source)
        if self._by_query and not runs:
            raise wrong_source(self._source, "files of runs beside its tasks", BENCHMARK)
        if not self._by_query:
            yield from tasks
        for path in runs:
            yield from self._recorded(path)
        self._notes.facts["counts"] = dict(sorted(self._counts.items()))
        self._notes.facts["unknown_tools"] = sorted(self._unknown)
        self._notes.lacks |= {"gold_calls", "gold_arguments"}

    def _task(self, record: Any) -> Task:
        refuse_deep(record)
        task_id = f"{BENCHMARK}/{field_of(record, 'task_id', str)}"
        if task_id in self._tasks:
            raise DataError(f"the task_id {record['task_id']!r} stood before; give each its own")
        text, category = field_of(record, "Question", str), field_of(record, "category", str)
        annotated = field_of(record, "Annotator Metadata", dict)
        lines = field_of(annotated, "Tools", str).splitlines()
        names = [name for line in lines if (name := _NUMBER.sub("", line).strip())]
        meant = self._tools.meant(names)
        self._tasks.add(task_id)
        self._unknown.update(meant.unknown)
        self._counts["named_tools"] += len(names)
        self._counts["named_tools_unknown"] += len(meant.unknown)
        self._counts["named_tools_of_several_servers"] += len(meant.several)
        answer = expect(record.get("answers", ""), str, "answers").strip()
        stated = (answer,) if answer and not answer.startswith(_MADE) else ()
        return Task(
            task_id,
            BENCHMARK,
            (Goal(text, answers=stated, relevant=meant.tools),),
            tags={
                "group": category,
                "multi_tool": len(names) > 1,
                "multi_step": len(names) > 1,
                "tools_known": not meant.unknown,
                "servers_told": not meant.several,
            },
            metadata={
                "max_turns": _TURNS,
                "answers": answer,
                "file_name": str(record.get("file_name", "")),
                "steps": str(annotated.get("Steps", "")),
                "unknown_tools": list(meant.unknown),
            },
        )

    def _recorded(self, path: Path) -> Iterator[Task | Recorded]:
        name = path.name.partition(".json")[0]
        trials: Counter[str] = Counter()

        def read(record: Any) -> list[Task | Recorded]:
            refuse_deep(record)
            run = Run(record, self._tools)
            task_id = f"{BENCHMARK}/{run.task}"
            if task_id not in self._tasks:
                raise LeftOut("runs_without_task")
            self._counts.update(run.counts())
            if self._by_query:
                return [self._query(search, task_id) for search in run.searches()]
            told = {"recorded": name, "file": path.name}
            trajectory = run.trajectory(task_id, trials[task_id], told)
            trials[task_id] += 1
            return [Recorded(name, trajectory)]

        for made in usable(path, read, self._notes):
            yield from made

    def _query(self, search: Search, task_id: str) -> Task:
        """Return a query of a run as a task."""
        number = self._queries[task_id]
        self._queries[task_id] += 1
        goal = Goal(search.query, offered=search.hits, relevant=search.called)
        tags = {"led_to_call": bool(search.called), "multi_tool": len(search.called) > 1}
        return Task(f"{task_id}/{number}", BENCHMARK, (goal,), tags=tags)


def _runs(source: Path) -> list[Path]:
    """Return the files of runs; empty where there are none."""
    for folder in _RUNS:
        files = sorted((source / folder).glob("*.json*"))
        runs = [file for file in files if file.name not in (_TOOLS, _TASKS)]
        if runs:
            return runs
    return []

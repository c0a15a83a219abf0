"""LiveMCPBench's recorded runs: an agent that searches for tools and then calls them.

The agent has two tools. `route` searches: here it is a call of `find_tools`, and what it found is a
ranking. `execute-tool` runs a tool of a server: here it is a call of that tool. A result is the
text that the agent read, which upstream's harness cut at 10,000 characters; its value is the
answer of the server, where the text is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from seal.benchmarks.livemcpbench.tools import ServerTools
from seal.core import FIND_TOOLS, JSON, Execution, Ranking, Stop, ToolCall, ToolResult, Trajectory
from seal.core.plain import literal_value
from seal.pools.reading.chats import Made, chat_steps
from seal.pools.reading.upstream_files import expect, field, json_of_text
from seal.retrievers.contract import by_place

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
        self.task = field(record, "task_id", str)
        self._record = record
        self._tools = tools
        self._found: dict[str, tuple[str, ...]] = {}
        self._replies = list(self._read())

    def _read(self) -> Iterator[list[Made]]:
        messages = field(self._record, "messages", list)
        roles = [field(message, "role", str) for message in messages]
        answers = {
            field(message, "tool_call_id", str): field(message, "content", str)
            for message, role in zip(messages, roles, strict=True)
            if role == "tool"
        }
        number = 0
        for message, role in zip(messages, roles, strict=True):
            made = []
            calls = (message.get("tool_calls") or []) if role == "assistant" else []
            for asked in expect(calls, list, what="tool_calls"):
                call = self._call(f"call_{number}", field(asked, "function", dict))
                result = self._result(call, answers.get(field(asked, "id", str)))
                made.append(Made(str(message.get("content") or ""), call, result))
                number += 1
            if made:
                yield made

    def _call(self, call_id: str, function: dict[str, Any]) -> ToolCall:
        name, raw = field(function, "name", str), field(function, "arguments", str)
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
        answer = field(self._record, "response", str)
        question = field(self._record, "Question", str)
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

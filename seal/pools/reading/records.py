"""Tools and queries each once; chats that others recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from seal.core import JSON, Step, Tool, ToolCall, ToolResult
from seal.core.records import to_plain
from seal.core.values import digest
from seal.pools.reading.files import LeftOut

# -- The tools and tasks that an importer has met: each document and each query once.


class ToolTable:
    """The tools met so far, one for each document.

    The first document under an id has it alone; each other one gets `#` and 8 hexadecimal digits of
    its digest. Documents are the same where their content is.

    Args:
        content: Of a document, by which it is told from others; None: all but id and
            `source["file"]`.
    """

    def __init__(self, content: Callable[[Tool], JSON] | None = None) -> None:
        self.duplicates = 0
        """Documents that were here already."""
        self.variants = 0
        """Further documents under an id that exists."""
        self._content = content or _content
        self._tools: dict[str, Tool] = {}
        self._by_content: dict[tuple[str, str], str] = {}

    def add(self, tool: Tool) -> str:
        """Return the id of the tool that is the same, or its own.

        Args:
            tool: With the id that it has where no other document bears it.
        """
        key = tool.id, digest(self._content(tool))
        known = self._by_content.get(key)
        if known is not None:
            self.duplicates += 1
            return known
        own = tool.id
        if own in self._tools:
            self.variants += 1
            own = f"{own}#{key[1][:8]}"
        self._tools[own] = replace(tool, id=own)
        self._by_content[key] = own
        return own

    def __getitem__(self, tool: str) -> Tool:
        """Return a tool by its id."""
        return self._tools[tool]

    def __contains__(self, tool: object) -> bool:
        """Tell whether a tool has this id."""
        return tool in self._tools

    def __len__(self) -> int:
        """Return the number of tools."""
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools, sorted by id."""
        for tool in sorted(self._tools):
            yield self._tools[tool]

    def by_id(self) -> Mapping[str, Tool]:
        """Return a view of the tools by their ids, which grows as tools come."""
        return MappingProxyType(self._tools)


def _content(tool: Tool) -> JSON:
    source = {key: value for key, value in tool.source.items() if key != "file"}
    return to_plain(
        [tool.name, tool.description, tool.parameters, tool.category, tool.returns, source]
    )


class TaskIds:
    """Task ids that never stand twice, and counts of query texts that do.

    Args:
        counts: Where tasks that stood before are counted, as `duplicates`; None: they are counted
            as left out.
    """

    def __init__(self, counts: Counter[str] | None = None) -> None:
        self._counts = counts
        self._texts: dict[str, set[str]] = {}
        self._seen: Counter[str] = Counter()

    def add(self, task_id: str, text: str) -> str:
        """Return the id of a task.

        Args:
            task_id: As upstream numbers it; with another text than before it gets `#` and 8
                hexadecimal digits of the text's digest.
            text: The query.

        Raises:
            LeftOut: Id and text stood before.
        """
        texts = self._texts.setdefault(task_id, set())
        if text in texts and self._counts is None:
            raise LeftOut("duplicates")
        if text in texts and self._counts is not None:
            self._counts["duplicates"] += 1
            raise LeftOut
        own = f"{task_id}#{digest(text)[:8]}" if texts else task_id
        texts.add(text)
        self._seen[" ".join(text.split())] += 1
        return own

    @property
    def repeated(self) -> int:
        """The number of tasks whose text, blanks aside, another task had before."""
        return sum(self._seen.values()) - len(self._seen)


# -- Chats that others recorded, as steps of ours: who said what to whom.
#
# The user's query goes to the orchestrator and on to the execution manager, which calls; the
# executor answers; the last answer goes back the same way.

USER, LEAD, MANAGER, EXECUTOR = "user_simulator", "orchestrator", "execution_manager", "executor"


class Made(NamedTuple):
    """One call of a reply."""

    thought: str
    """What was said beside it."""
    call: ToolCall
    result: ToolResult | None
    """None: the recording has none."""


Replies = Iterable[Sequence[Made]]
"""In the order given; each is the calls of one reply."""


def chat_steps(query: str, replies: Replies, report: str | None, answer: str) -> Iterator[Step]:
    """Yield the steps of a chat about one query.

    Args:
        query: What the user asked.
        replies: Of the agent, as far as they call.
        report: Its last words; None: it ended without a last reply.
        answer: What of them is the final answer; empty: there is none.
    """
    yield Step(0, USER, LEAD, query)
    yield Step(1, LEAD, MANAGER, query, turn=1)
    index, turn = 2, 2
    for step in call_steps(replies, index, turn):
        yield step
        index, turn = step.index + 1, step.turn + 1
    if report is None:
        return
    yield Step(index, MANAGER, LEAD, report, turn=turn)
    if answer:
        yield Step(index + 1, LEAD, USER, answer, turn=turn + 1)


def call_steps(replies: Replies, index: int = 0, turn: int = 0) -> Iterator[Step]:
    """Yield the steps of calls and results: a reply's calls share a turn and precede their results.

    Args:
        replies: With the calls of each.
        index: Of the first step.
        turn: Of the first step.
    """
    for reply in replies:
        for made in reply:
            yield Step(index, MANAGER, EXECUTOR, made.thought, made.call, turn=turn)
            index += 1
        turn += 1
        for result in (made.result for made in reply if made.result is not None):
            yield Step(index, EXECUTOR, MANAGER, result.content, result=result, turn=turn)
            index += 1
        turn += 1

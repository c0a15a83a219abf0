"""The tools and tasks that an importer has met: each document and each query once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from seal.core import JSON, Tool
from seal.core.canonical import digest
from seal.core.records import to_plain
from seal.pools.reading.tolerance import LeftOut


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

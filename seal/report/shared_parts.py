"""Data blocks of a page that share their parts: what occurs twice is written once.

Chats of one run repeat each other: floor, run and ceiling hear the same requests, most scores of a
goal have the value of those of the next, and one reason stands beside many. So each text, list and
map of a block is a part with a number, which stands once in a block of kind `parts`, and `"@12"` in
its place; parts refer to parts. The page's script puts them together when a chat is opened.
"""

from __future__ import annotations

from hashlib import blake2b
from math import inf
from typing import Any

from markupsafe import Markup

from seal.core.plain import json_text
from seal.report.printable import escaped_json

LEAST = 12
"""Characters of the JSON of a part; a shorter one is not worth a reference."""
MARK = "@"
"""How a reference begins. A text that begins so is always a part."""

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def data_block(kind: str, key: str, value: str) -> Markup:
    """Return a data block, which the browser keeps as text and never runs.

    Args:
        kind: Suffix of the attribute by which the script finds it: `data-chat`.
        key: That attribute's value; digits and slashes.
        value: JSON text; `<`, `>`, `&` and control characters are written as escapes, so that no
            text of it ends the block or changes how the page is read.
    """
    opening = Markup('<script type="application/json" data-{}="{}">').format(kind, key)
    return opening + Markup(escaped_json(value).translate(_ESCAPES)) + Markup("</script>")


class SharedParts:
    """Writes blocks, and remembers which parts the page has: a digest and a number of each."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def block(self, kind: str, key: str, value: Any, room: float = inf) -> Markup | None:
        """Return a data block after the parts that it needs and the page lacks.

        Args:
            kind: As of `data_block`.
            key: As of `data_block`.
            value: JSON.
            room: Bytes that both may have.

        Returns:
            None where both have no room; the page then has none of the parts either.
        """
        writing = _Writing(self._numbers)
        body = writing.referred(value) if _is_marked(value) else writing.body(value)
        first = len(self._numbers)
        parts = data_block("parts", str(first), f"[{','.join(writing.parts)}]")
        block = (parts if writing.parts else Markup()) + data_block(kind, key, body)
        if len(block.encode()) > room:
            return None
        self._numbers |= writing.new
        return block


class _Writing:
    """One block's JSON, with references.

    Args:
        known: Parts that the page has.
    """

    def __init__(self, known: dict[bytes, int]) -> None:
        self._known = known
        self.new: dict[bytes, int] = {}
        self.parts: list[str] = []

    def body(self, value: Any) -> str:
        """Return the JSON of a block; of its parts, and not of the whole, are there references."""
        if isinstance(value, (list, tuple)):
            return f"[{','.join(map(self.referred, value))}]"
        if isinstance(value, dict):
            named = (f"{json_text(key)}:{self.referred(part)}" for key, part in value.items())
            return f"{{{','.join(named)}}}"
        return json_text(value)

    def referred(self, value: Any) -> str:
        """Return a part as it stands in the block: a reference where it is worth one."""
        if value is None or isinstance(value, (bool, int)):
            return json_text(value)
        text = self.body(value)
        if not _is_marked(value) and (
            len(text) < LEAST or not isinstance(value, (str, list, tuple, dict))
        ):
            return text
        digest = blake2b(text.encode(), digest_size=16).digest()
        number = self._known.get(digest, self.new.get(digest))
        if number is None:
            number = self.new[digest] = len(self._known) + len(self.new)
            self.parts.append(text)
        return f'"{MARK}{number}"'


def _is_marked(value: Any) -> bool:
    """Tell whether a value would be taken for a reference."""
    return isinstance(value, str) and value.startswith(MARK)

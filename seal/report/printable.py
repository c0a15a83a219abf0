"""Texts that strangers wrote, made safe to print.

What a model or an API says is untrusted. An escape sequence in it could recolour, rewrite or
retitle the reader's terminal. A bidirectional override could show words in another order than they
were written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and newline, delete, C1
    "\u2028\u2029"  # line and paragraph separators
    "\u202a-\u202e\u2066-\u2069"  # bidirectional embeddings, overrides and isolates
    "\ud800-\udfff]"  # halves of surrogate pairs, which no encoding can write
)


def printable(text: str) -> str:
    """Return the text with every control character replaced by a visible sign.

    Tabs and newlines stay, CR LF becomes a newline; C0 becomes its picture (ESC is `␛`), the others
    their code in hexadecimal. Letters of any script, marks and emoji are left alone.
    """
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def escaped_json(text: str) -> str:
    r"""Return JSON text that says the same, with the control characters of its strings as escapes.

    Where `printable` shows signs, this keeps the values: `\u009b` for U+009B.
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def one_line(text: str, length: int) -> str:
    """Return the text, printable, on one line of at most `length` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def folded(text: str, limit: int | None) -> tuple[str, int]:
    """Return the printable start of a text and how many characters were left out."""
    if limit is None or len(text) <= limit:
        return printable(text), 0
    return printable(text[:limit]), len(text) - limit


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def tables_text(tables: Iterable[tuple[str, int]]) -> str:
    """Return the names of tables with their numbers of rows."""
    return ", ".join(f"{name} ({rows})" for name, rows in tables)

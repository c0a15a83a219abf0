"""The forms of calls by name, what was forgiven in reading them, and OpenAI's functions."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from seal.core.registry import load_dotted
from seal.core.types import Tool, ToolCall
from seal.core.values import json_text, loss_of, well_formed

if TYPE_CHECKING:
    from seal.core.text_formats import Repair, TextForm

# -- How models without tool calling write calls, and how SEAL reads them.
#
# A text is parsed as JSON, else as a Python literal. It is never evaluated. A call that cannot be
# read has the arguments None. A call that had to be repaired keeps its text in `ToolCall.raw`,
# beside its arguments. `repairs_of` tells the repairs from that text.

Format = Literal["native", "native-text", "action", "json", "bracket"]
"""How a model calls tools and gets results: by the server's tool calling and its tool messages
(native), by its tool calling and with results as text (native-text), or all in text."""

_FORMS = {
    "action": "seal.core.text_formats:ActionForm",
    "bracket": "seal.core.bracket_form:BracketForm",
    "json": "seal.core.text_formats:JsonForm",
}
"""Format to its text protocol; `native` and `native-text` have none."""


def in_text(format: str) -> bool:
    """Tell whether a model's calls stand in its text under a `Format`."""
    return format in _FORMS


@cache
def form_of(format: str) -> TextForm | None:
    """Return the text protocol of a format, which is loaded when first asked for; native: None.

    Args:
        format: A `Format`.
    """
    form: TextForm | None = load_dotted(_FORMS[format])() if format in _FORMS else None
    return form


IN_THOUGHTS = "<think>"
"""Begins the text of a call that was found in the thinking."""


LEFT = frozenset({"in_content", "in_thoughts"})
"""Repairs of calls that a server left in a text."""


def repairs_of(call: ToolCall) -> tuple[Repair, ...]:
    """Return what was forgiven to read a call; empty for a right one, and for one not read."""
    if call.arguments is None or not call.raw:
        return ()
    from seal.core.dialects import is_marked
    from seal.core.text_formats import none_written, read_arguments

    if call.raw.startswith(IN_THOUGHTS):
        return ("in_thoughts",)
    read = read_arguments(call.raw)
    if read.value == call.arguments:  # of a native call
        return read.repairs
    if is_marked(call.raw):
        return ("in_content",)
    forms = filter(None, map(form_of, _FORMS))
    return next(filter(None, (form.repairs_in(call.raw) for form in forms)), none_written(call.raw))


# -- Names and calls of functions as OpenAI's interface writes them.
#
# It takes function names of `[A-Za-z0-9_-]{1,64}` only, so every tool gets a wire name that is
# unique within its request.

_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VALID_GEMINI = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def function_of(tool: Tool, name: str) -> dict[str, Any]:
    """Return a tool as a request offers it, under its wire name."""
    described = {"name": name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": described}


def call_of(id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return a call as a message carries it; the arguments are JSON text."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def wire_names(names: Sequence[str], leading_letter: bool = False) -> list[str]:
    """Return a distinct wire name for each name, in order.

    A valid name stays as it is. Any other has its odd characters replaced by `_`; where that
    leaves nothing to read, is too long, or meets another name, it ends in 8 hex digits of the
    name's digest.
    """
    valid = _VALID_GEMINI if leading_letter else _VALID
    plain = [_plain(name, leading_letter) for name in names]
    meet = Counter(plain)
    taken = {name for name in names if valid.fullmatch(name)}
    given: set[str] = set()
    wired = []
    for name, candidate in zip(names, plain, strict=True):
        if name in taken and name not in given:
            wire = name
        elif valid.fullmatch(candidate) and meet[candidate] == 1 and candidate not in taken:
            wire = candidate
        else:
            wire = next(n for n in _marked(name, candidate) if n not in taken and n not in given)
        given.add(wire)
        wired.append(wire)
    return wired


def wire_name(name: str) -> str:
    """Return a valid wire name for a name that no offered tool has."""
    return name if _VALID_GEMINI.fullmatch(name) else next(_marked(name, _plain(name, True)))


def _plain(name: str, leading_letter: bool) -> str:
    candidate = _OTHER.sub("_", name)
    if not any(map(str.isalnum, candidate)):
        return f"tool_{_hex(name, 0)}"
    is_led = candidate[0].isalpha() or candidate[0] == "_"
    return candidate if is_led or not leading_letter else f"_{candidate}"


def _marked(name: str, candidate: str) -> Iterator[str]:
    return (f"{candidate[:55]}_{_hex(name, number)}" for number in count())


def _hex(name: str, number: int) -> str:
    text = f"{number}:{name}" if number else name
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def parse_call(name: str, arguments: Any, cut: bool = False) -> ToolCall:
    """Return the call of a model's reply, still without a number.

    `raw` holds the text where it is no object, or had to be repaired, as in other formats.

    Args:
        name: Function name.
        arguments: Text of a JSON object, as the protocol has it; some servers send the object
            itself, or nothing where a function takes none.
        cut: True: the reply may have been cut off, so that nothing is closed.
    """
    if not isinstance(arguments, str):
        if arguments is None:
            arguments = ""
        else:
            arguments = str(arguments) if loss_of(arguments) else json_text(arguments)
    text = well_formed(arguments)
    if not text.strip():
        return ToolCall("", name, {})
    from seal.core.text_formats import read_arguments

    read = read_arguments(text, cut)
    return ToolCall("", name, read.value, text if read.value is None or read.repairs else "")

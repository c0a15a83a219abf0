"""How models without tool calling write calls, and how SEAL reads them.

A text is parsed as JSON, else as a Python literal. It is never evaluated. A call that cannot be
read has the arguments None. A call that had to be repaired keeps its text in `ToolCall.raw`, beside
its arguments. `repairs_of` tells the repairs from that text.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from seal.core.registry import load_dotted
from seal.core.types import ToolCall

if TYPE_CHECKING:
    from seal.core.formats.forms import Repair, TextForm

Format = Literal["native", "native-text", "action", "json", "bracket"]
"""How a model calls tools and gets results: by the server's tool calling and its tool messages
(native), by its tool calling and with results as text (native-text), or all in text."""

_FORMS = {
    "action": "seal.core.formats.action:ActionForm",
    "bracket": "seal.core.formats.bracket:BracketForm",
    "json": "seal.core.formats.json_calls:JsonForm",
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


def repairs_of(call: ToolCall) -> tuple[Repair, ...]:
    """Return what was forgiven to read a call; empty for a right one, and for one not read."""
    if call.arguments is None or not call.raw:
        return ()
    from seal.core.formats.forms import parse_object, repeats

    if parse_object(call.raw) == call.arguments:  # of a native call
        return repeats(call.raw)
    forms = filter(None, map(form_of, _FORMS))
    return next(filter(None, (form.repairs_in(call.raw) for form in forms)), ())

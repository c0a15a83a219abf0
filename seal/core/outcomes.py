"""What a model's answer comes to beside words and calls: thinking, and why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Refusal = Literal["context_overflow", "filtered"]
"""Why a server gives no answer to a request that another model or another prompt would get."""
ENDED: Mapping[str, Refusal] = {
    "content_filter": "filtered",
    "model_context_window_exceeded": "context_overflow",
}
"""`finish_reason` of an answer that was broken off, to what ends the chat."""

_TAG = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning)"
_MARKS = (
    (rf"<{_TAG}>", rf"</{_TAG}>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"◁think▷", r"◁/think▷"),
    (r"(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>", r"<\|end\|>|(?=<\|start\|>)"),
    (r"<\|channel>thought\b", r"<channel\|>"),
    (r"\Aanalysis(?=.*assistantfinal)", r"assistantfinal"),
)  # fmt: skip
"""How thinking begins and ends: tags of most families, Mistral, Cohere, Kimi, harmony of gpt-oss,
Gemma, and harmony whose marks were taken out."""
_ANY = re.compile(r"think|thought|reasoning|<\|channel|\Aanalysis", re.IGNORECASE)
_BLOCK = re.compile(
    "|".join(rf"{begins}(.*?)(?:{ends}|\Z)" for begins, ends in _MARKS).join((r"^[ \t]*(?:", ")")),
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_END = "|".join(ends for _, ends in _MARKS[:5])
_ENDS = re.compile(_END, re.IGNORECASE)
_BEGUN_BEFORE = re.compile(
    rf"\A(.*)(?:^(?:[ \t]*(?:{_END}))+|(?:{_END})(?![^\n]{{0,500}}[\"']))",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""Thinking whose beginning the template had put into the prompt. An end within a quoted text, such
as an argument, is none."""
_ROUNDS = 8
"""Most looks for further blocks: a text of ends alone must not take the square of its length."""
_HARMONY = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>\w(?:[^<]|<\|constrain\|>)*<\|message\|>|<\|(?:end|return|call)\|>"
)
"""What else harmony puts around words."""


def without_thinking(text: str) -> tuple[str, str]:
    """Return what a text says, and the thinking in it, without their marks.

    Thinking begins where a line begins, and lasts to its mark of the end, else to the text's.
    """
    if not _ANY.search(text):
        return text, ""
    thoughts: list[str] = []

    def take(found: re.Match[str]) -> str:
        thoughts.append(_ENDS.sub("", found[found.lastindex or 0]).strip())
        return ""

    said, before = _BLOCK.sub(take, text), ""
    rounds = 0
    while said != before and rounds < _ROUNDS:  # a block may begin where such an end stood
        before, rounds = said, rounds + 1
        said = _BLOCK.sub(take, _BEGUN_BEFORE.sub(take, said))
    if "<|channel|>" in text:
        said = _HARMONY.sub("", said)
    changed = bool(thoughts) or said != text
    return said.strip() if changed else text, "\n\n".join(filter(None, thoughts))

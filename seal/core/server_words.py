"""How servers say why an answer ended, or why they give none."""

from __future__ import annotations

import re

from seal.core.outcomes import Refusal

_FINISHES = {
    "stop": "stop eos eos_token end_turn stop_sequence complete",
    "length": "length max_tokens max_output_tokens",
    "tool_calls": "tool_calls tool_use function_call",
    "content_filter": "content_filter refusal sensitive safety blocklist prohibited_content spii"
    " recitation image_safety guardrail_intervened",
}
_FINISH = {word: finish for finish, words in _FINISHES.items() for word in words.split()}
FAULTY = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""`finish_reason` of answers that a fault of the server broke off."""


def finish_of(said: object) -> str:
    """Return the `finish_reason` in OpenAI's words; one that has none there as the server says it.

    Args:
        said: By a server of OpenAI's, Anthropic's or Google's interface; no text: it says none.
    """
    word = said.lower() if isinstance(said, str) else ""
    return _FINISH.get(word, word)


_RATE = re.compile(r"\brate.limit|per minute|too many requests|quota|throttl", re.IGNORECASE)
"""Limits of an account, which servers tell in like words."""
_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size_error|model_context_window_exceeded"
    r"|maximum (?:context|prompt|model) length"  # OpenAI, vLLM, DeepSeek, OpenRouter, xAI, Mistral
    r"|context (?:size|length|window|limit)s? (?:has been )?exceed"  # llama.cpp while it answers
    r"|exceed\w{0,3} (?:the |max |model |available )*(?:context|sequence)\b"  # llama.cpp, Anthropic
    r"|(?:longer|greater) than the (?:model'?s? |maximum )*(?:context|model) length"  # vLLM, SGLang
    r"|(?:prompt|input|request) (?:is )?too long"  # Anthropic, Bedrock, Ollama
    r"|input token count\b.{0,100}\bexceeds"  # Gemini
    r"|must (?:be|have) (?:<=|less than).{0,40}(?:max_seq_len|max_input|max_total|\d+ tokens)"
    r"|`?inputs`? (?:tokens \+ `max_new_tokens` )?must (?:be|have)"  # TGI
    r"|reduce the length of the (?:messages|prompt|input)"  # Groq
    r"|exceeds? the (?:maximum (?:number of tokens|allowed input)|limit of \d+)"
    r"|exceeded model token limit|configured context size|range of input length should be"
    r"|when (?:the )?context (?:the )?overflows|n_keep \(\d+\) >= n_ctx"  # LM Studio
    r"|too many (?:input )?tokens|token limit exceeded|prompt exceeds the length limit",
    re.IGNORECASE | re.DOTALL,
)
_FILTER = re.compile(
    r"content_filter|content_policy_violation|ResponsibleAIPolicyViolation"
    r"|content management policy|content filtering policy"  # Azure; Anthropic
    r"|flagged as potentially violating"
    r"|violates? (?:our|usage|the) (?:usage |content )?(?:polic|guid)"
    r"|safety system|data_?inspection_?failed|inappropriate content|Content Exists Risk"
    r"|sensitive_words_detected|requires moderation|PROHIBITED_CONTENT|blocked by (?:the )?safety",
    re.IGNORECASE,
)


def refusal_of(status: int, said: str) -> Refusal | None:
    """Return why a server gives a request no answer where that is the model's own outcome.

    Args:
        status: Of HTTP. llama.cpp tells of a full window by 500, too.
        said: All of what the server said: message, type, code.
    """
    if status < 400 or status in (401, 404, 429) or _RATE.search(said):
        return None
    if _OVERFLOW.search(said):
        return "context_overflow"
    return "filtered" if status < 500 and _FILTER.search(said) else None


_UNREAD = re.compile(
    r"(?:Failed to parse input at pos \d+: |error parsing tool call: raw='|failed_generation: )"
    r"(.*?)(?:', err=.*)?\Z",
    re.DOTALL,
)
"""llama.cpp and Ollama (HTTP 500), Groq (400)."""


def unread(said: str) -> str | None:
    """Return what a model wrote where its server could not read the calls in it.

    Args:
        said: What the server said.

    Returns:
        The text, as far as the server tells it; None where it says something else.
    """
    found = _UNREAD.search(said)
    return None if found is None else found[1]

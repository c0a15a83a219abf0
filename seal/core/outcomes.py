"""What an answer of a server is: the model's, the server's fault, or a refusal that is the model's.

One table for all wires, which all bring their answers into the form of chat completions. The
model's answers are scored. A fault of the server is tried again, then it is an error: no score, and
never kept. A refusal (a full window, a filter) ends the goal and counts beside the score.

What a server says of itself is read narrowly: the status first, then its codes, then its words. An
answer that contradicts itself is the server's: it says that it calls and has no call, or one
without a name; or ends by a word that nobody knows, and says nothing or has a call that nobody can
read; or says nothing, and counts no token; or says words of which it counts no token, though its
server counts those of others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from seal.core.protocols import Refusal
from seal.core.values import json_value

# -- How an answer ended.

UNREADABLE = "unreadable"
"""`finish_reason` of an answer in which the server could not read the model's calls."""
IN_TEXT = "call_in_text"
"""`finish_reason` of an answer whose calls the server left in the text, where they were read."""
_FINISHES = {
    "stop": "stop eos eos_token end_turn stop_sequence complete",
    "length": "length max_tokens max_output_tokens max_length model_length token_limit"
    " continuation",
    "tool_calls": "tool_calls tool_call tool_use function_call",
    "content_filter": "content_filter content_filtered refusal sensitive safety blocklist spii"
    " prohibited_content recitation image_safety image_prohibited_content image_recitation"
    " model_armor guardrail_intervened error_toxic",
    UNREADABLE: "unreadable malformed_function_call malformed_tool_call malformed_tool_use"
    " malformed_model_output",
    "model_context_window_exceeded": "model_context_window_exceeded",
    IN_TEXT: IN_TEXT,
}
"""What each known end is called by servers; any other word is unknown."""
_FINISH = {word: finish for finish, words in _FINISHES.items() for word in words.split()}
_BROKEN = re.compile(
    r"error|fail|abort|cancel|time_?d?_?(?:out|limit)|overload|interrupt|disconnect|unavailable"
    r"|insufficient|exhaust|crash|kill|preempt|evict|network|internal|exception|shutdown|busy|lost"
    r"|incomplete|(?:un|not_)finished"
)
"""Within an unknown word: the server broke the answer off, whatever was said before."""
_LONGEST_WORD = 200


def finish_of(said: object, behind: object = None) -> str:
    """Return the `finish_reason` in OpenAI's words; one that has none there as the server says it.

    Args:
        said: By a server of any interface, maybe with its reason (`content_filter: SPII`), or as
            an object, whose `type` says it (SGLang); what is neither says none.
        behind: By the provider behind a gateway. It counts where it tells of a fault, and the
            gateway (OpenRouter) of an answer.
    """
    if behind is not None and finish_of(said) in ("stop", "tool_calls"):
        native = finish_of(behind)
        return native if _is_broken(native) else finish_of(said)
    if isinstance(said, dict):
        said = said.get("type") or said.get("reason") or "unnamed"
    word = said[:_LONGEST_WORD].lower().strip() if isinstance(said, str) else ""
    kind, _, reason = (part.strip() for part in word.partition(":"))
    known = (_FINISH[one] for one in (word, reason, kind) if one in _FINISH)
    return next(known, "" if word in ("null", "none") else word)


def _is_broken(finish: str) -> bool:
    return not is_known(finish) and _BROKEN.search(finish) is not None


def is_known(finish: str) -> bool:
    """Tell whether a `finish_reason` in OpenAI's words says how the answer ended."""
    return finish in _FINISHES


LATER = "--resume plays the task again when the server is well"
"""What helps where a server fails by chance."""
PARSER = "start the server with the parser of this model's calls, or take --format json"
"""What helps where a server leaves parts of a call unparsed."""


def fault_in(
    finish: str,
    said: bool,
    calls: int,
    readable: bool = True,
    named: bool = True,
    tokens: int | None = None,
    thought: bool = False,
    counts: bool = False,
) -> str:
    """Return why an answer is the server's fault; empty where it is the model's.

    Args:
        finish: Of `finish_of`.
        said: Whether it has words.
        calls: How many calls it has.
        readable: Whether the arguments of all of them are objects.
        named: Whether all of them name their tool.
        tokens: Of the answer, as the server counts them; None: it does not.
        thought: Whether it has thinking, which counts tokens, too.
        counts: Whether its server counts the tokens of other answers' words.
    """
    known, nothing = is_known(finish), not said and not calls
    if _is_broken(finish):
        return f"broke off: {finish}"
    if finish == "tool_calls" and not calls:
        return f"says that the model called a tool, and has no call; {PARSER}"
    if not named and finish != "length":
        return f"says that the model called a tool, and does not name it; {PARSER}"
    if not known and nothing:
        ended = f", and ends by {finish!r}" if finish else ", without an end"
        return f"says nothing{ended}; {LATER}"
    if finish == "stop" and nothing and not tokens and not thought:
        return f"says nothing, and counts no token of an answer; {LATER}"
    if finish == "stop" and said and not calls and tokens == 0 and counts:
        return f"says words, and counts no token of them, as a gateway's error; {LATER}"
    if not known and not readable:
        return f"ends amid a call{f', by {finish!r}' if finish else ''}; {LATER}"
    return ""


_NOISE = re.compile(r"\s*([!#?@G])\1{31,}\s*")
"""One token of many vocabularies, which servers write where their numbers are none: vLLM the first,
llama.cpp `G` and others."""
_NOTICE = re.compile(
    r"\s*(?:The account behind this API key (?:doesn't|does not) have enough credits\b"
    r"|API call failed after \d+ retries\b)"
)
"""What gateways say in the place of an answer (Pollinations, Hermes)."""


def noise_in(said: str) -> str:
    """Return why words are a server's, and no model's; empty where they are none such."""
    if noise := _NOISE.fullmatch(said):
        return (
            f"says {noise[1]!r} alone: its numbers are NaN; start it with another dtype, "
            "quantization or backend"
        )
    if _NOTICE.match(said):
        return f"says in the place of an answer: {said.strip()[:_HEAD]}"
    return ""


# -- Which model answered.

_DATED = re.compile(
    r"(?:[-@:](?:20\d\d-?[01]\d-?[0-3]\d|[01]\d-[0-3]\d|\d{3,4}|v\d+|latest|preview|exp|free|nitro"
    r"|floor|gguf|0)){1,9}\Z"
)
"""Ends the name of a version, or of a way to the same model (OpenRouter)."""
_OF_A_PROVIDER = re.compile(r"(?:[a-z]+-){0,2}")


def is_same_model(asked: str, said: str) -> bool:
    """Tell whether an answer may name the model that was asked, by a version or a provider's name.

    Args:
        asked: Name in the request, such as "gpt-4o".
        said: Name in the answer, such as "gpt-4o-2024-08-06" or "models/gpt-4o".
    """
    ends = (name.strip().lower().rpartition("/")[2] for name in (asked, said))
    short, long = sorted((re.sub(r"[._]", "-", _DATED.sub("", e)) for e in ends), key=len)
    short, long = (_DATED.sub("", name) for name in (short, long))
    before = long.removesuffix(short)
    return before != long and _OF_A_PROVIDER.fullmatch(before) is not None


# -- Errors that stand in the body of an answer, or amid a stream, in whatever form.

_CODES = ("error_code", "errorCode", "err_code", "errcode")
_WORDS = (
    *("message", "msg", "detail", "details", "error_message", "error_msg", "errmsg", "err_msg"),
    *("error_description", "status_msg", "reason", "title"),
)
_PAYLOADS = (
    *("choices", "candidates", "output", "content", "delta", "response", "data"),
    *("results", "embeddings", "predictions"),
)
_TELLING = frozenset({"error", "base_resp", "x_groq", "success", *_CODES, *_WORDS})
"""Names of parts of which one stands in a body that tells of an error."""
_FINE = (None, "", 0, "0", 200, "200", "success", "ok", "OK")
_ALIVE = ("ping", "heartbeat", "keepalive", "keep-alive")


def error_in(body: Any, event: str = "") -> dict[str, Any] | None:
    """Return the error that a body, or the data of an event, tells of; None: it tells of none.

    Args:
        body: JSON of whatever form; Google wraps an error in a list.
        event: Name of the event, where it has one.

    Returns:
        What the server says of it, with `message` where it says it in words.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, dict):
        return {"message": str(body)} if event == "error" else None
    kinds = {body.get("object"), body.get("type")} if _hashable(body) else set()
    if event != "error" and "error" not in kinds and _TELLING.isdisjoint(body):
        return None  # as nearly every piece of a stream
    of_groq = body.get("x_groq")
    error = body.get("error") or (isinstance(of_groq, dict) and of_groq.get("error"))
    if error:
        return error if isinstance(error, dict) else {"message": str(error)}
    status = body.get("base_resp")  # MiniMax
    if isinstance(status, dict) and status.get("status_code") not in _FINE:
        return _told(status, status.get("status_code"))
    if body.get("success") is False:
        inner = body.get("data")
        listed = body.get("errors")  # Cloudflare
        inner = listed[0] if isinstance(listed, list) and listed else inner
        told = {**body, **inner} if isinstance(inner, dict) else body
        return _told(told, told.get("code"))
    code = next((body[name] for name in _CODES if body.get(name) not in _FINE), None)
    if code is not None or event == "error" or "error" in kinds:
        return _told(body, body.get("code") if code is None else code)
    words = any(isinstance(body.get(name), str) and body[name] for name in _WORDS)
    given = {name for name in _PAYLOADS if body.get(name) is not None}
    if given == {"data"} and re.fullmatch(r"[45]\d\d", str(body.get("code"))):
        given = set()  # it says more of the error (RAGFlow)
    if words and not given and not kinds.intersection(_ALIVE):
        return _told(body, body.get("code") or body.get("status"))
    return None


def _hashable(body: Mapping[str, Any]) -> bool:
    return not isinstance(body.get("object"), (dict, list)) and not isinstance(
        body.get("type"), (dict, list)
    )


def _told(error: Mapping[str, Any], code: Any) -> dict[str, Any]:
    words = (error[name] for name in _WORDS if isinstance(error.get(name), str) and error[name])
    return {"message": next(words, str(dict(error))[:300]), "code": code, "type": error.get("type")}


_MOST_TOLD = 500
"""Characters of another server's words that a message repeats."""
_MOST_GATEWAYS = 3
"""Errors within errors that are read."""


def _errors_in(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield an error, then those that it wraps: of the provider behind a gateway."""
    found: Any = error
    for _ in range(_MOST_GATEWAYS + 1):
        if not isinstance(found, dict):
            return
        yield found
        if isinstance(found.get("innererror"), dict):  # Azure
            found = found["innererror"]
            continue
        raw = _raw(found)
        found = error_in(raw if isinstance(raw, dict) else _json_amid(raw or found.get("message")))


_WRAPPED = {"metadata": "raw", "value": "error_message"}
"""Where OpenRouter and Vercel put what the provider sent, and its field there."""


def _raw(error: Mapping[str, Any]) -> Any:
    """Return what the provider behind a gateway sent; None: nothing."""
    for name, field in _WRAPPED.items():
        wrapped = error.get(name)
        if isinstance(wrapped, dict) and wrapped.get(field):
            return wrapped[field]
    return None


def told_by_provider(error: Mapping[str, Any]) -> str:
    """Return the words of the provider behind a gateway, as they follow its own; empty: none."""
    raw = _raw(error)
    said = json.dumps(raw, ensure_ascii=False) if isinstance(raw, (dict, list)) else raw
    return f": {said[:_MOST_TOLD]}" if said and isinstance(said, str) else ""


def _json_amid(said: Any) -> Any:
    """Return the JSON that stands in words, as LiteLLM tells errors; None: there is none."""
    if not isinstance(said, str) or "{" not in said:
        return None
    try:
        return json_value(said[said.index("{") : said.rindex("}") + 1])
    except ValueError:
        return None


def codes_of(error: Mapping[str, Any]) -> Iterator[str]:
    """Yield the codes by which an error says what it is, the inner ones too."""
    for one in _errors_in(error):
        for name in ("code", "type", "status"):
            if isinstance(one.get(name), (str, int)) and one[name] not in ("", "error"):
                yield str(one[name])


def words_of(error: Any) -> str:
    """Return what an error says, with its code and its kind."""
    if not isinstance(error, dict) or not error.get("message"):
        return error if isinstance(error, str) else repr(error)[:300]
    codes, said = ", ".join(codes_of(error)), f"{error['message']}{told_by_provider(error)}"
    return f"{said} ({codes})" if codes else said


_STATUSES = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
    "timeout_error": 504,
    "server_error": 500,
    "api_error": 500,
    "INTERNAL": 500,
}


def status_in(error: Mapping[str, Any]) -> int:
    """Return the status that an error in an answer of status 200 stands for; 400: it says none."""
    for code in codes_of(error):
        if code in _STATUSES:
            return _STATUSES[code]
        if re.fullmatch(r"[45]\d\d", code):
            return int(code)
    return 400


# -- What a status means, and why there is no answer.

_RETRIED = frozenset({408, 409, 424, 425, 429, 499})
"""Statuses below 500 after which the same request may still succeed: TEI and TGI tell by 424 of
what failed behind them, nginx by 499 of a request that it gave up."""
FAILED_LOAD = re.compile(
    r"\b(?:fail\w*|unable|could not) to load (?:the )?model\b|\bmodel failed to load\b"
    r"|\bmodel requires more (?:system )?memory\b",
    re.IGNORECASE,
)
"""LM Studio, which loads a model when it is first asked (400, 404); Ollama, which lacks room."""
_PASSING = re.compile(
    r"\bthrottl|\brate.?limit|too many requests|\boverloaded\b"
    r"|\bmodel (?:(?:has )?crashed|unloaded\b)|\bcapacity exceeded\b"
    r"|\b(?:try again|retry) (?:later|in a (?:moment|few))|\binternal (?:server )?error\b"
    r"|\bservice (?:is )?(?:temporarily |currently )?unavailable\b",
    re.IGNORECASE,
)
"""Words of what passes, whatever the status: Bedrock tells of throttling by 400, Groq of a limit of
rate by 413 and of no room by 498, LM Studio of a lost model and FastChat of any failure by 400."""
_OF_A_MINUTE = re.compile(
    r"\brequest too large\b.{0,200}\bper min.{0,40}\bLimit:? (\d{1,12}), Requested:? (\d{1,12})",
    re.IGNORECASE | re.DOTALL,
)


def is_over_a_minute(said: str) -> bool:
    """Tell whether one request has more tokens than a minute may, so that waiting never helps.

    OpenAI says so by 429, Groq by 413.
    """
    found = _OF_A_MINUTE.search(said)
    return found is not None and int(found[2]) > int(found[1])


def may_pass(status: int, said: str = "", codes: str = "") -> bool:
    """Tell whether the same request may succeed after a status, by what the server said with it."""
    # Further on stands what a server repeats of the request, such as a tool's description.
    told = f"{codes} {said[:_HEAD]}"
    if status in (401, 402, 403, 405) or is_over_a_minute(said):
        return False
    if FAILED_LOAD.search(told):
        return True
    return status != 404 and (
        status in _RETRIED or status >= 500 or _PASSING.search(told) is not None
    )


_HEAD = 200
"""Characters of what a server says in its own words, at most."""


_OF_A_WINDOW = frozenset({400, 413, 422, 500})
"""Statuses by which servers refuse a prompt that is too long; llama.cpp and Ollama say it by 500, a
status of whatever went wrong: there only words that name the window count."""
_OF_A_FILTER = frozenset({400, 403, 422, 451})
_RATE = re.compile(
    r"\brate.?limit|per (?:minute|hour|day|month)\b|too many requests|quota|throttl|overload"
    r"|\bplease wait\b"
    r"|\b(?:wait|try(?:ing)? again|retry) (?:a |for |in |after |before |later)|temporar"
    r"|(?:daily|monthly) ",
    re.IGNORECASE,
)
"""Limits of an account or of this moment, which servers tell in like words."""
_OF_A_REQUEST = re.compile(
    r"\bschemas?\b|\bproperties\b|\btools?(?:[\[.]\d|\binputs?\b| inputs?\b)|input_schema"
    r"|\bfunction(?:s|_declarations)?[\[. ]|parameters?\W{0,3}['\"`]",
    re.IGNORECASE,
)
"""The words speak of a part of the request, whose name may be any."""
_WINDOW_CODES = re.compile(
    r"context_length_exceeded|exceed_context_size_error|model_context_window_exceeded"
    r"|ContextWindowExceededError|model_max_prompt_tokens_exceeded"
)
_WINDOW = re.compile(
    r"maximum (?:context|prompt|model) length"  # OpenAI, vLLM, DeepSeek, OpenRouter, xAI, Mistral
    r"|context (?:size|length|window|limit)s? (?:has been )?exceed"  # llama.cpp while it answers
    r"|exceed\w{0,3} (?:the |max |model |available )*context\b"  # llama.cpp, Anthropic
    r"|(?:longer|greater) than the (?:model'?s? |maximum )*(?:context|model) length"  # vLLM, SGLang
    r"|max context length|configured context size"  # Ollama
    r"|when (?:the )?context (?:the )?overflows|n_keep \(\d+\) >= n_ctx",  # LM Studio
    re.IGNORECASE,
)
"""Words that name the window."""
_TOO_LONG = re.compile(
    r"(?:prompt|input|request) (?:is )?too long"  # Anthropic, Bedrock, Ollama
    r"|input token count\b[^.]{0,100}\bexceeds"  # Gemini
    r"|(?:prompt|input)\w{0,20}`?[^.]{0,40}? must (?:be|have) (?:<=|less than) "
    r"(?:max_seq_len|max_input|max_total|\d)"  # SiliconFlow, TGI
    r"|exceed\w{0,3} (?:the |max |model |available )*sequence length"
    r"|reduce the length of the (?:messages|prompt|input)"  # Groq
    r"|(?<!\w)tokens\b[^.]{0,60} exceeds? the (?:maximum allowed input|limit of \d)"
    r"|exceeded model token limit|range of input length should be"
    r"|(?:prompt|input) length \d+ exceeds the maximum allowed token length"  # Databricks
    r"|too many (?:input )?tokens|token limit exceeded|prompt exceeds the length limit"
    r"|prompt exceeds max length"  # Zhipu
    r"|(?:prompt|input|context) length \d+ is greater than max_seq_len",  # TabbyAPI
    re.IGNORECASE,
)
_FILTER_CODES = re.compile(
    r"\bcontent_filter\b|content_policy_violation|ContentPolicyViolationError"
    r"|ResponsibleAIPolicyViolation|data_?inspection_?failed|sensitive_words_detected"
    r"|PROHIBITED_CONTENT|SensitiveContentDetected"  # Volcengine
    r"|(?<!\S)1301(?!\S)",  # Zhipu, whose words any error might have
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content_policy_violation|ResponsibleAIPolicyViolation|ContentPolicyViolationError"
    r"|\bcode\W{1,4}content_filter\b"  # of a provider behind a gateway
    r"|content management policy|content filtering policy"  # Azure; Anthropic
    r"|flagged as potentially violating"
    r"|violates? (?:our|usage|the) (?:usage |content )?(?:polic|guid)"
    r"|safety system|data_?inspection_?failed|inappropriate content|Content Exists Risk"
    r"|\b(?:in|out)put new_sensitive\b"  # MiniMax
    r"|sensitive_words_detected|requires moderation|PROHIBITED_CONTENT|blocked by (?:the )?safety",
    re.IGNORECASE,
)


def refusal_of(status: int, said: str, codes: str = "") -> Refusal | None:
    """Return why a server gives a request no answer where that is the model's own outcome.

    Args:
        status: Of HTTP, or that an error in an answer stands for.
        said: The server's words.
        codes: Its codes and types.
    """
    if status in _OF_A_WINDOW and _WINDOW_CODES.search(f"{codes} {said}"):
        return "context_overflow"
    if status in _OF_A_FILTER and _FILTER_CODES.search(codes):
        return "filtered"
    if _RATE.search(said) or _RATE.search(codes):
        return None
    if status in _OF_A_WINDOW and _WINDOW.search(said):
        return "context_overflow"
    if _OF_A_REQUEST.search(said):
        return None
    if status in _OF_A_WINDOW and status != 500 and _TOO_LONG.search(said):
        return "context_overflow"
    return "filtered" if status in _OF_A_FILTER and _FILTER.search(said) else None


_CUT_PROMPT = re.compile(
    r"\b(?:input|prompt)\b[^.]{0,40}\btruncat|\btruncat\w{1,3}\b[^.]{0,20}\b(?:input|prompt)\b",
    re.IGNORECASE,
)


def lacks_room(said: str) -> bool:
    """Tell whether a server speaks of a prompt that its window does not hold, whatever the status.

    By a status of faults that is no outcome of the model's; the repair is the same.
    """
    kinds = (_WINDOW, _TOO_LONG, _CUT_PROMPT)
    return any(kind.search(said) for kind in kinds) and not _RATE.search(said)


_CUT = re.compile(
    r"Could not finish the message because max_tokens or model output limit was reached"
    r"|\bunable to complete request: max_(?:output_)?tokens\b"
)
"""Models that think thought until the limit: OpenAI (HTTP 400), LiteLLM's bridge (500)."""


def was_cut(said: str) -> bool:
    """Tell whether a server says by an error that its limit of tokens cut a model's answer."""
    return _CUT.search(said) is not None


_UNREAD = re.compile(
    r"(?:Failed to parse input at pos \d+: |error parsing tool call: raw=')"
    r"(.*?)(?:', err=.*)?\Z",
    re.DOTALL,
)
"""llama.cpp and Ollama (HTTP 500)."""
_UNREAD_UNTOLD = re.compile(
    r"The model produced output that does not match the expected [\w.-]{1,40} format"
    r"|Model produced invalid sequence as part of ToolUse"
    r"|No valid tool call or response generated"
    r"|Failed to parse tool call: "
)
"""llama.cpp, LM Studio (500), Bedrock (424) and Cohere (422), which tell not what was written."""


def unread(said: str, error: Mapping[str, Any] | None = None) -> str | None:
    """Return what a model wrote where its server could not read the calls in it.

    Args:
        said: What the server said.
        error: In which it said so, where it is an object.

    Returns:
        The text, as far as the server tells it; None where it says something else.
    """
    for one in _errors_in(error or {}):
        if one.get("code") == "tool_use_failed":  # Groq
            return str(one.get("failed_generation") or "")
    found = _UNREAD.search(said)
    if found is None:
        return "" if _UNREAD_UNTOLD.search(said) else None
    return found[1]

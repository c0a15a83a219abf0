"""What servers of each wire send: whole answers, and the events of streams.

Each answer is of words, the arguments of a call of `weather`, and why it ended; None: it has none
of these.
"""

import json
from typing import Any

from servers import Answer, answer


def events(*chunks: Any, done: bool = True) -> Answer:
    """Return a stream of events; one that is a pair has a name."""
    named = [one if isinstance(one, tuple) else ("", one) for one in chunks]
    lines = [
        f"event: {name}\n" * bool(name) + f"data: {json.dumps(one)}\n\n" for name, one in named
    ]
    body = "".join(lines) + ("data: [DONE]\n\n" if done else "")
    return Answer(body.encode(), headers={"Content-Type": "text/event-stream"})


def _chat(words, arguments, word):
    call = {"id": "a", "type": "function", "index": 0}
    call["function"] = {"name": "weather", "arguments": arguments}
    return {"content": words} | ({} if arguments is None else {"tool_calls": [call]}), word


def chat(words, arguments, word):
    said, word = _chat(words, arguments, word)
    return answer({"choices": [{"index": 0, "message": said, "finish_reason": word}]})


def chat_parts(words, arguments, word):
    said, word = _chat(words, arguments, word)
    parts = [{"index": 0, "delta": said, "finish_reason": None}]
    parts += [{"index": 0, "delta": {}, "finish_reason": word}] if word else []
    return [{"object": "chat.completion.chunk", "choices": [part]} for part in parts]


def response(words, arguments, word):
    said = {"type": "message", "content": [{"type": "output_text", "text": words}]}
    call = {"type": "function_call", "name": "weather", "arguments": arguments}
    output = [said] * (words is not None) + [call] * (arguments is not None)
    ended = {"status": "completed"}
    if word not in ("stop", "tool_calls"):
        ended = {"status": "incomplete", "incomplete_details": {"reason": word}}
    return {"id": "r", "object": "response", "error": None, "output": output, **ended}


def response_parts(words, arguments, word):
    told = {"type": "response.output_text.delta", "delta": words or ""}
    ended = {"type": "response.completed", "response": response(words, arguments, word)}
    return [told, *([(ended["type"], ended)] if word else [])]


def message(words, arguments, word):
    said = [{"type": "text", "text": words}] * (words is not None)
    given = None if arguments is None else json.loads(arguments)
    used = [{"type": "tool_use", "id": "a", "name": "weather", "input": given}] * bool(given)
    made = {"id": "m", "type": "message", "role": "assistant", "usage": None}
    return made | {"content": said + used, "stop_reason": word}


def message_parts(words, arguments, word):
    parts = [{"type": "message_start", "message": message(None, None, None)}]
    text, used = {"type": "text", "text": ""}, {"type": "tool_use", "name": "weather", "input": {}}
    blocks = [(text, {"text": words})] * (words is not None)
    blocks += [(used, {"partial_json": arguments})] * (arguments is not None)
    for index, (block, delta) in enumerate(blocks):
        parts.append({"type": "content_block_start", "index": index, "content_block": block})
        parts.append({"type": "content_block_delta", "index": index, "delta": delta})
    parts += [{"type": "message_delta", "delta": {"stop_reason": word}, "usage": None}] * bool(word)
    return [(part["type"], part) for part in [*parts, {"type": "message_stop"}]]


def google(words, arguments, word):
    call = None if arguments is None else json.loads(arguments)
    parts = [{"text": words}] * (words is not None)
    parts += [{"functionCall": {"name": "weather", "args": call}}] * (call is not None)
    return {"candidates": [{"content": {"parts": parts}, "finishReason": word}]}

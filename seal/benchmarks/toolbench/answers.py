"""Answer trees and ToolEval's converted answers, read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from seal.benchmarks.toolbench.tools import FINISH
from seal.core import JSON, DataError, Response, Tool, ToolCall, shortened
from seal.core.files import content_of
from seal.core.store import Store
from seal.core.text import words
from seal.core.validation import CallValidator
from seal.core.values import json_bytes, json_text, json_value, normalise
from seal.pools.reading.files import expect, field_of
from seal.pools.reading.tool_schemas import literal
from seal.simulator_cache.answer_cache import (
    KIND,
    answer_entry,
    document_digest,
    entry_key,
)
from seal.simulator_cache.exchange import StoreImport

# -- ToolBench's answer trees, a file a run: depth-first search (`tree`) or a chain (`trys`).
#
# A valid run's steps are the last chain of `train_messages`. An invalid run has none. Its steps are
# the nodes of the last try or of the whole tree, in the order of their expansion, as ToolEval reads
# them.

Finish = Literal["give_answer", "give_up"]

_GIVE_UP = "give_up"
_OBSERVATION_LENGTH = 1024
"""Upstream cuts longer observations."""
_UNFINISHED_ANSWER = re.compile(r'\{\s*"return_type":\s*"give_answer",\s*"final_answer":\s*"')
_FALSE_ESCAPE = re.compile(r'\\(?!["\\/bfnrtu])|\\u(?![0-9a-fA-F]{4})')


@dataclass(frozen=True, slots=True)
class Move:
    """One call that a run made, as its record says it."""

    reply: int
    """Number of the reply that made it: calls of one reply stand together."""
    thought: str
    name: str
    arguments: str
    """The model's text."""
    observation: str | None = None
    """None: the record holds no answer."""
    arguments_cut: bool = False
    observation_cut: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded run. `Finish` is no move: it hands in the answer."""

    query: str
    functions: list[dict[str, Any]]
    moves: tuple[Move, ...]
    closing: str
    """What the model said after its last call."""
    answer: str | None
    finish: Finish | None
    """None: the run ran out of steps."""
    steps_from: Literal["train_messages", "tree", "last_try", "answer_details"]
    valid: bool | None = None
    """Upstream's valid_data; None where the format has none."""
    win: bool | None = None
    finish_type: str | None = None
    texts_cut: int = 0
    """Thoughts that were cut upstream."""
    orphans: int = 0
    """Observations without a call; left out."""


def text_of_query(query: Any) -> str:
    """Return a query's text; some records hold a list of texts.

    Raises:
        DataError: Missing, or neither a text nor a list of texts.
    """
    if query is None:
        raise DataError("the field query is missing or null; expected a text")
    if isinstance(query, str):
        return query
    if isinstance(query, list) and query and all(isinstance(part, str) for part in query):
        return "\n".join(query)
    raise DataError(f"query: expected a text, got {shortened(query)}")


def read_tree(record: Any) -> Run:
    """Return the run that an answer tree holds.

    Raises:
        DataError: A field is missing or of the wrong type; the text names it.
    """
    generation = field_of(record, "answer_generation", dict)
    chains = expect(generation.get("train_messages") or [], list, "train_messages")
    steps_from: Literal["train_messages", "tree", "last_try"] = "train_messages"
    if chains:
        parts = _read_messages(expect(chains[-1], list, "train_messages"))
    elif "tree" in record:
        steps_from, parts = "tree", _read_nodes(_expanded(field_of(record["tree"], "tree", dict)))
    else:
        tries = field_of(record, "trys", list)
        last = field_of(tries[-1], "chain", list) if tries else []
        steps_from, parts = "last_try", _read_nodes(last)
    return Run(
        text_of_query(generation.get("query")),
        checked_functions(generation.get("function"), "answer_generation.function"),
        *close_run(parts, generation.get("final_answer")),
        steps_from,
        bool(generation.get("valid_data")),
        bool(record.get("win")),
        generation.get("finish_type"),
        orphans=parts.orphans,
    )


def checked_functions(functions: Any, place: str) -> list[dict[str, Any]]:
    """Return a run's function list.

    Raises:
        DataError: It is no list of objects with names.
    """
    for function in expect(functions, list, place):
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(name, str) or not name:
            raise DataError(f"{place}: a function has no name: {shortened(function)}")
    return list(functions)


@dataclass(slots=True)
class Parts:
    """Moves, `Finish` among them, and the text after the last one."""

    moves: list[Move]
    text: str = ""
    orphans: int = 0


Ending = tuple[tuple[Move, ...], str, str | None, Finish | None]
"""How a run ended: the fields `moves`, `closing`, `answer` and `finish` of `Run`."""


def close_run(parts: Parts, final_answer: Any) -> Ending:
    """Take `Finish` out of the moves and read the answer."""
    moves = _without_finish(parts.moves)
    last = parts.moves[-1] if parts.moves else None
    text = parts.text
    if last is not None and last.name == FINISH:
        text = "\n".join(filter(None, (last.thought, text)))
    answer, gave_up = read_final_answer(final_answer)
    if answer:
        return tuple(moves), text, answer, "give_answer"
    handed_in = last is not None and last.name == FINISH and _GIVE_UP in last.arguments
    return tuple(moves), text, None, "give_up" if gave_up or handed_in else None


def _without_finish(moves: list[Move]) -> list[Move]:
    """Return the calls; the thought before a `Finish` that did not end the run goes on."""
    calls = []
    thought = ""
    for move in moves:
        said = "\n".join(filter(None, (thought, move.thought)))
        thought = said if move.name == FINISH else ""
        if move.name != FINISH:
            calls.append(replace(move, thought=said) if said != move.thought else move)
    return calls


def read_final_answer(text: Any) -> tuple[str | None, bool]:
    """Return the answer that a `final_answer` field states, and whether it gives up.

    The field is empty, plain text, or the JSON text of `Finish`'s arguments, whose end may be
    missing where the model ran out of tokens.
    """
    if not isinstance(text, str) or not text.strip():
        return None, False
    try:
        value = json_value(text)
    except orjson.JSONDecodeError:
        start = _UNFINISHED_ANSWER.match(text)
        return (_unescape(text[start.end() :]) if start else text), False
    if not isinstance(value, dict):
        return text, False
    if _GIVE_UP in str(value.get("return_type")):
        return None, True
    answer = value.get("final_answer")
    if answer is None:
        return None, False
    return (answer if isinstance(answer, str) else json_text(answer)), False


def _unescape(text: str) -> str:
    """Return a JSON string's content without its end, escapes resolved as far as they are whole."""
    body = text.rstrip().removesuffix("}").rstrip().removesuffix('"')
    body = _FALSE_ESCAPE.sub("", body)
    quoted = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', body).replace("\n", "\\n")
    try:
        return str(json_value(f'"{quoted}"'))
    except orjson.JSONDecodeError:
        return text


def _read_messages(chain: list[Any]) -> Parts:
    """Read a chain of chat messages; the user's only urge the search on: no part of the run."""
    parts = Parts([])
    waiting: list[tuple[int, str]] = []
    reply = 0
    for position, message in enumerate(chain):
        role = expect(message, dict).get("role")
        if role == "assistant":
            reply += 1
            said = expect(message.get("content") or "", str, f"train_messages.{position}: content")
            calls = list(_message_calls(message, f"train_messages.{position}"))
            parts.text = "\n".join(filter(None, (parts.text, said)))
            for call_id, name, arguments in calls:
                waiting.append((len(parts.moves), call_id))
                parts.moves.append(Move(reply, parts.text, name, arguments))
                parts.text = ""
        elif role in ("function", "tool"):
            _answer(parts, waiting, message)
    return parts


def _answer(parts: Parts, waiting: list[tuple[int, str]], message: Mapping[str, Any]) -> None:
    """Give an observation to the first waiting call with its id; ids may be absent or repeat."""
    wanted = message.get("tool_call_id") or ""
    for entry in waiting:
        if wanted in ("", entry[1]):
            waiting.remove(entry)
            text = str(message.get("content") or "")
            parts.moves[entry[0]] = _observed(parts.moves[entry[0]], text)
            return
    parts.orphans += 1


def _message_calls(message: Mapping[str, Any], place: str) -> Iterator[tuple[str, str, str]]:
    """Yield (id, name, text of the arguments) of a message's calls, in the old form or new."""
    if "function_call" in message:
        yield ("", *_named_call(message["function_call"], f"{place}.function_call"))
    for call in message.get("tool_calls") or ():
        inner = field_of(call, "function", dict)
        yield (str(call.get("id") or ""), *_named_call(inner, f"{place}.tool_calls"))


def _named_call(call: Any, place: str) -> tuple[str, str]:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise DataError(f"{place}: a call has no name: {shortened(call)}")
    return call["name"], text_of_arguments(call.get("arguments"))


def text_of_arguments(arguments: Any) -> str:
    """Return arguments as the text that the model wrote; some records hold them as an object."""
    if isinstance(arguments, str):
        return arguments
    if arguments is None:
        return ""
    try:
        return json_text(arguments)
    except TypeError:  # a Python value that is no JSON, such as a set
        return str(arguments)


def _read_nodes(nodes: Iterable[Any]) -> Parts:
    """Read Thought, Action, Action Input nodes; an Action Input ends a move."""
    parts = Parts([])
    name: str | None = None
    for position, node in enumerate(nodes):
        kind, text = _node(node, position)
        if kind == "Thought":
            parts.text = "\n".join(filter(None, (parts.text, text)))
        elif kind == "Action":
            name = text
        elif kind == "Action Input" and name is not None:
            move = Move(len(parts.moves) + 1, parts.text, name, text)
            observation = node.get("observation")
            parts.moves.append(move if observation is None else _observed(move, str(observation)))
            parts.text, name = "", None
    return parts


def _node(node: Any, position: int) -> tuple[str, str]:
    if not isinstance(node, dict) or not isinstance(node.get("node_type"), str):
        raise DataError(f"node {position} has no node_type: {shortened(node)}")
    return node["node_type"], str(node.get("description") or "")


def _expanded(tree: Mapping[str, Any]) -> Iterator[Any]:
    """Yield a tree's nodes, each before its children, the children in the order they were made."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(field_of(node, "children", list))


def _observed(move: Move, text: str) -> Move:
    return replace(move, observation=text, observation_cut=is_cut(text))


def is_cut(observation: str) -> bool:
    """Tell whether upstream cut an observation: long, and so no JSON any more."""
    if len(observation) < _OBSERVATION_LENGTH:
        return False
    try:
        json_value(observation)
    except orjson.JSONDecodeError:
        return True
    return False


# -- ToolEval's converted answers: one object a file, query id to a run with its tree of messages.
#
# In `tooleval_results` upstream cut every message at 100 characters. A tool's message then is the
# start of a Python literal, of which names, and often arguments, can still be read whole.

_MESSAGE_LENGTH = 100
"""Upstream cuts the messages of its published results here."""
_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"\{{'name': (?P<name>{_LITERAL}), 'arguments': ", re.DOTALL)
_ARGUMENTS = re.compile(rf"(?P<text>{_LITERAL})(?P<more>, 'response': )?", re.DOTALL)
_RESPONSE = re.compile(rf"(?P<text>{_LITERAL})\}}", re.DOTALL)
_WHOLE = re.compile(_LITERAL, re.DOTALL)
_OPEN_NAME = re.compile(r"\{'name': ['\"](?P<name>[^'\"]*)")
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)", re.DOTALL)
_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:x.?|u.{0,3}|U.{0,7})?\Z", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def read_converted(record: Any) -> Run:
    """Return the run that one entry of a converted file holds.

    Raises:
        DataError: A field is missing or of the wrong type; the text names it.
    """
    answer = field_of(record, "answer", dict)
    details = field_of(answer, "answer_details", list)
    parts = Parts([])
    texts_cut = 0
    for role, message in _flattened(details):
        if role == "tool":
            parts.moves.append(_move(len(parts.moves) + 1, parts.text, message))
            parts.text = ""
        elif role == "assistant" and isinstance(message, str):
            parts.text = "\n".join(filter(None, (parts.text, message)))
            texts_cut += len(message) == _MESSAGE_LENGTH
    return Run(
        text_of_query(record.get("query")),
        checked_functions(record.get("available_tools"), "available_tools"),
        *close_run(parts, answer.get("final_answer")),
        "answer_details",
        texts_cut=texts_cut,
    )


def _flattened(roots: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (role, message) of a tree's nodes, each before those that follow it."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or not isinstance(node.get("role"), str):
            raise DataError(f"answer_details: a node has no role: {shortened(node)}")
        yield node["role"], node.get("message")
        following = expect(node.get("next") or [], list, "answer_details.next")
        waiting += reversed(following)


def _move(reply: int, thought: str, message: Any) -> Move:
    """Return the move of a tool's message: an object, or the text of one, maybe cut."""
    if isinstance(message, str):
        move = _move_of_text(reply, thought, message)
        if move is not None:
            return move
        message = literal(message)
    if not isinstance(message, Mapping) or not isinstance(message.get("name"), str):
        raise DataError(f"answer_details: a tool's message has no name: {shortened(message)}")
    response = message.get("response")
    text = response if response is None or isinstance(response, str) else str(response)
    return Move(
        reply,
        thought,
        message["name"],
        text_of_arguments(message.get("arguments")),
        text,
        observation_cut=text is not None and is_cut(text),
    )


def _move_of_text(reply: int, thought: str, message: str) -> Move | None:
    """Read as much of a tool's message as there is; None where it is not one of three texts."""
    named = _NAME.match(message)
    if named is None:
        start = _OPEN_NAME.match(message)
        cut = start is not None and len(message) >= _MESSAGE_LENGTH
        return Move(reply, thought, start["name"], "", "", True, True) if start and cut else None
    name = _unquoted(named["name"])
    arguments = _ARGUMENTS.match(message, named.end())
    if arguments is None:
        if len(message) < _MESSAGE_LENGTH:
            return None
        left = _opened(message[named.end() :])
        return Move(reply, thought, name, left, "", arguments_cut=True, observation_cut=True)
    said = _unquoted(arguments["text"])
    response = _RESPONSE.fullmatch(message, arguments.end())
    if response is not None:
        text = _unquoted(response["text"])
        return Move(reply, thought, name, said, text, observation_cut=is_cut(text))
    if len(message) < _MESSAGE_LENGTH:
        return None
    left = _opened(message[arguments.end() :]) if arguments["more"] else ""
    return Move(reply, thought, name, said, left, False, True)


def _unquoted(literal: str) -> str:
    """Return the text of a Python string literal as `repr` writes it."""
    text = literal[1:-1]
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _opened(text: str) -> str:
    """Return the text of a string literal cut at or before its end, half an escape left out."""
    if _WHOLE.fullmatch(text):
        return _unquoted(text)
    return _ESCAPE.sub(_unescaped, _HALF_ESCAPE.sub(r"\1", text[1:]))


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) > 1:
        point = int(code[1:], 16)
        writable = point < 0x110000 and not 0xD800 <= point < 0xE000
        return chr(point) if writable else "\N{REPLACEMENT CHARACTER}"
    return _ESCAPED.get(code, code)


# -- Answers of StableToolBench's cache, read into a store.

STABLETOOLBENCH = "stabletoolbench"
"""Simulator of the entries that come from StableToolBench's cache."""

_LONGEST = 100_000
"""Characters of an argument map's text that are parsed at most."""


def import_stabletoolbench(store: Store, folder: Path, tools: Mapping[str, Tool]) -> StoreImport:
    """Read a cache `category/tool/api.json`: the text of an argument map to {error, response}.

    The texts are JSON or Python literals, and never evaluated. Maps that differ in order alone are
    one call: the first of the file counts. Defaults are filled in as when a call runs.

    Raises:
        DataError: The folder has no such file.
    """
    report = StoreImport()
    index = _ToolIndex(tools)
    validator = CallValidator(tools)
    files = _files(folder)
    for file in files:
        found = index.find(file.parent.parent.name, file.parent.name, file.stem)
        entries = _read_object(file, report)
        if entries is None:
            continue
        if not found:
            for _ in entries:
                report.reject("no such API in the pool", str(file))
            continue
        for text, value in entries.items():
            place = f"{file}, {text[:80]}"
            arguments, response = _arguments(text), _response(value)
            if arguments is None:
                report.reject("unreadable arguments", place)
            elif isinstance(response, str):
                report.reject(response, place)
            else:
                for tool in found:
                    own = _as_run(tool, arguments, validator)
                    entry = answer_entry(tool.id, own, response, STABLETOOLBENCH)
                    report.keep(store, entry_key(entry, document_digest(tool)), entry, KIND)
    report.details = {"files": len(files)}
    return report


class _ToolIndex:
    """Tools by upstream names, in whatever spelling: letters and digits alone count."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._found: dict[tuple[str, str], list[Tool]] = defaultdict(list)
        for tool in tools.values():
            parts = tool.id.partition("#")[0].split("/")
            names = {(parts[-2], parts[-1])} if len(parts) > 1 else set()
            names.add((str(tool.source.get("tool", "")), str(tool.source.get("api", ""))))
            for key in {(_loose(owner), _loose(api)) for owner, api in names}:
                self._found[key].append(tool)

    def find(self, category: str, tool: str, api: str) -> list[Tool]:
        """Return the documents of an API: of its category, else those that name none."""
        found = self._found.get((_loose(tool), _loose(api)), [])
        same = [t for t in found if _loose(t.category) == _loose(category)]
        return same or [t for t in found if not t.category]


def _as_run(tool: Tool, arguments: dict[str, JSON], validator: CallValidator) -> dict[str, JSON]:
    """Return the arguments under the tool's own names, with defaults filled in."""
    own = {_loose(name): name for name in tool.parameters.get("properties", {})}
    renamed = tool.source.get("arguments")
    if isinstance(renamed, dict):
        own.update({_loose(str(upstream)): name for name, upstream in renamed.items()})
    named = {own.get(_loose(name), name): value for name, value in arguments.items()}
    return validator.with_defaults(ToolCall("", tool.name, named, tool=tool.id))


def _arguments(text: str) -> dict[str, JSON] | None:
    """Return the argument map that a text shows as JSON or as a Python literal; None: neither."""
    if not text.strip():
        return {}
    value = _literal(text)
    if isinstance(value, str):  # a text within the text
        value = _literal(value) if value.strip() else {}
    if not isinstance(value, dict):
        return None
    try:
        plain = normalise(value)
        json_bytes(plain)
    except (TypeError, ValueError, RecursionError):
        return None
    arguments: dict[str, JSON] = plain
    return arguments


def _literal(text: str) -> Any:
    return None if len(text) > _LONGEST else literal(text)


def _response(value: Any) -> Response | str:
    """Return the answer that a cached value holds, or the reason why it holds none."""
    if isinstance(value, str):
        value = _literal(value)
    if not isinstance(value, dict) or "response" not in value:
        return "no object of error and response"
    error = value.get("error", "")
    if not isinstance(error, str):
        return "an error that is no text"
    if "fake response" in error.lower():  # what the server says when its own simulator failed
        return "a failure of the upstream simulator"
    if not error and value["response"] in (None, ""):
        return "an empty response"
    return Response(value["response"], error)


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*/*/*.json"))
    if not files:
        raise DataError(
            f"{folder} has no file category/tool/api.json; give the folder that holds the "
            "categories"
        )
    return files


def _read_object(file: Path, report: StoreImport) -> dict[str, Any] | None:
    try:
        content = json_value(content_of(file))
    except orjson.JSONDecodeError:
        report.reject("a file that is not JSON", str(file))
        return None
    if isinstance(content, dict):
        return content
    report.reject("a file that holds no object", str(file))
    return None


def _loose(name: str) -> str:
    return "".join(words(name))

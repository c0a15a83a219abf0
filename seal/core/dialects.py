"""Calls that a server left in a model's text, in the dialect of the model's family.

A server that was started without the parser of its model's calls hands them on as words. They are
found here: to be counted and told, or to be read where the profile of the family says that its
models call so. Sources: the chat templates of the families, and the parsers of vLLM.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from typing import Any, NamedTuple

from seal.core.text_formats import MOST_CALLS, JsonForm, parse_object, read_object
from seal.core.types import JSON, Tool, ToolCall
from seal.core.validation import CallValidator
from seal.core.values import json_text, literal_value, parse_expression


class WrittenCall(NamedTuple):
    """A call in a text."""

    dialect: str
    name: str
    arguments: Mapping[str, Any] | None
    """None: they cannot be read."""
    is_text: bool = False
    """Whether each argument is a text, whose type the tool's schema says."""


_JSON = JsonForm()
_LONGEST_TAG = 80
_LONGEST_NAME = 500
_NAME = re.compile(r"[\w./-]{1,200}")
_FENCES = re.compile(r"```[\w+-]*|```")
_PARAMETER = re.compile(r"<parameter=([^>\n]{1,200})>\n?")
_INVOKED = re.compile(r"\bparameter name=\"([^\"\n]{1,200})\"[^<>\n]{0,200}>")
_OWN_TAG = re.compile(r"<([\w.-]{1,200})>")
_SPACE = "]<]minimax[>["
"""What MiniMax M3 writes before each tag of a call."""
_INVOKED_TO = re.compile(r"</[^<>\s/]{0,20}parameter>")
_INVOKES = 'invoke name="'
_BARE_KEY = re.compile(r"([{,]\s{0,9})([A-Za-z_]\w{0,200}):")
_TAG = re.compile(r"<[^<>\n]{0,60}>?\s{0,9}\Z")
_KEY = re.compile(r"<arg_key>([^<]{1,200})</arg_key>\s{0,9}<arg_value>")
_PYTHON = re.compile(r"\[\s*[A-Za-z_][\w.]{0,200}\(")


def _objects(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read JSON objects with a name and arguments, one, several or a list of them."""
    for call in _JSON.calls_in(body, False)[0]:
        yield call.name, call.arguments, False


def _named(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read `NAME {...}`, with or without marks between them."""
    found = _NAME.match(body.strip())
    start = body.find("{")
    if found and start >= 0:
        yield found[0], read_object(_FENCES.sub("", body[start:]), cut=True).value, False


def _tagged(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read what stands between tags of a call: an object, or one of four ways with tags inside."""
    body = body.replace("longcat_arg_", "arg_")
    if body.lstrip().startswith(("{", "[")):
        yield from _objects(body)
    elif "<function=" in body:
        for part in body.split("<function=")[1:]:
            yield from _function(part.partition("</function>")[0])
    elif "<arg_key>" in body:
        name, *rest = _KEY.split(body)
        values = [text.partition("</arg_value>")[0] for text in rest[1::2]]
        yield name.strip(), dict(zip(rest[::2], values, strict=True)), True
    elif _INVOKES in body:
        for part in body.split(_INVOKES)[1:]:
            yield from _invoked(part.partition("invoke>")[0])
    else:
        yield from _named(body)


def _function(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read `NAME>{...}`, or `NAME>` and a tag for each parameter."""
    name, _, rest = body.partition(">")
    if rest.lstrip().startswith("{"):
        yield name.strip(), read_object(rest, cut=True).value, False
    else:
        _, *parts = _PARAMETER.split(rest)
        values = [text.partition("</parameter>")[0].removesuffix("\n") for text in parts[1::2]]
        yield name.strip(), dict(zip(parts[::2], values, strict=True)), True


def _separated(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read DeepSeek's: the name stands before the arguments, in older models after a kind."""
    before, _, rest = body.partition("<｜tool▁sep｜>")
    yield from _named(rest if before.strip() == "function" else f"{before.strip()} {rest}")


def _mistral(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    yield from (_objects if body.lstrip()[:1] in ("[", "{") else _named)(body)


def _code(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read Gemini's: `print(default_api.f(a=1))`, each call on a line of its own."""
    for line in body.split("\n", MOST_CALLS):
        bare = line.strip().removeprefix("print(").removesuffix(")" * line.count("print("))
        for _, name, given, is_text in _python(f"[{bare}]"):
            yield name.removeprefix("default_api."), given, is_text


def _listed(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read LFM's: a list of calls as Python writes them, or of objects."""
    if body.lstrip()[:2] in ("[{", "{"):
        yield from _objects(body)
    for _, name, given, is_text in _python(body.strip()):
        yield name, given, is_text


def _commanded(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read Command's: objects that call the tool's name `tool_name`."""
    yield from _objects(body.replace('"tool_call_id"', '"id"').replace('"tool_name"', '"name"'))


def _keyed(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read Apertus': a list of objects, each with the arguments under the tool's name."""
    whole = parse_object(f'{{"calls": {body.strip()}}}') or {}
    calls = whole.get("calls")
    for one in calls if isinstance(calls, list) else ():
        for name, given in one.items() if isinstance(one, dict) else ():
            yield name, given if isinstance(given, dict) else None, False


def _invoked(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read `NAME">` and a tag for each parameter, whose names are attributes, or tags (M3)."""
    name, _, rest = body.replace(_SPACE, "").partition('"')
    _, *parts = _INVOKED.split(rest)
    values = [_INVOKED_TO.split(text, maxsplit=1)[0] for text in parts[1::2]]
    if _SPACE in body:
        _, *parts = _OWN_TAG.split(rest)
        values = [
            text.partition(f"</{tag}>")[0]
            for tag, text in zip(parts[::2], parts[1::2], strict=True)
        ]
    yield name, dict(zip(parts[::2], values, strict=True)), True


def _quoted(body: str) -> Iterator[tuple[str, Mapping[str, Any] | None, bool]]:
    """Read Gemma's: `NAME{key:value}`, with marks of its own around each text."""
    body = body.replace("<escape>", '<|"|>')
    name, brace, rest = body.partition("{")
    parts = f"{brace}{rest}".split('<|"|>')
    parts[::2] = [_BARE_KEY.sub(r'\1"\2":', part) for part in parts[::2]]
    parts[1::2] = map(json_text, parts[1::2])
    yield name.strip(), read_object("".join(parts), cut=True).value, False


_Read = Callable[[str], Iterator[tuple[str, Mapping[str, Any] | None, bool]]]
_MARKS: tuple[tuple[str, str, str, _Read], ...] = (
    ("hermes", "<tool_call>", "</tool_call>", _tagged),  # Qwen, GLM
    ("function", "<function=", "</function>", _function),  # Llama, Qwen3-Coder
    ("functioncall", "<functioncall>", "</functioncall>", _objects),
    ("llama", "<|python_tag|>", "<|eom_id|>", _objects),
    ("mistral", "[TOOL_CALLS]", "</s>", _mistral),
    ("deepseek", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", _separated),
    ("kimi", "<|tool_call_begin|>", "<|tool_call_end|>", _named),
    ("harmony", "to=functions.", "<|call|>", _named),  # gpt-oss
    ("tool_code", "```tool_code", "```", _code),  # Gemini, Gemma
    ("gemma", "<|tool_call>call:", "<tool_call|>", _quoted),  # from Gemma 4 on
    ("lfm", "<|tool_call_start|>", "<|tool_call_end|>", _listed),
    ("internlm", "<|action_start|>", "<|action_end|>", _objects),
    ("granite", "<|tool_call|>", "<|/tool_call|>", _objects),  # Phi-4-mini, too
    ("functools", "functools[", "]\n", _objects),  # Phi, FireFunction
    ("nemotron", "<TOOLCALL>", "</TOOLCALL>", _objects),
    ("command", "<|START_ACTION|>", "<|END_ACTION|>", _commanded),
    ("command", "Action: ```json", "```", _commanded),  # Command R
    ("tool_calls", "<tool_calls>", "</tool_calls>", _objects),  # Jamba, Hunyuan, MiniMax M1
    ("invoke", _INVOKES, "invoke>", _invoked),  # MiniMax M2, DeepSeek V3.2, Step3
    ("apertus", "<|tools_prefix|>", "<|tools_suffix|>", _keyed),
    ("gemma", "<start_function_call>call:", "<end_function_call>", _quoted),  # FunctionGemma
    ("longcat", "<longcat_tool_call>", "</longcat_tool_call>", _tagged),
    ("olmo", "<function_calls>", "</function_calls>", _code),  # from Olmo 3 on
)
"""Dialect, what stands before and after a call, and what reads it. Each text is read once."""
DIALECTS = (*dict.fromkeys(name for name, *_ in _MARKS), "python", "json")
_ANY = re.compile("|".join(re.escape(begins) for _, begins, _, _ in _MARKS))


_END_MARK = re.compile(
    r"<\|(?:im_(?:end|start|sep|user|assistant)|eot_id|eom_id|end|return|endoftext|end_?of_?turn"
    r"|end_of_text|(?:start|end)_of_role|role_end|start_header_id|user|assistant|observation"
    r"|END_RESPONSE|END_OF_TURN_TOKEN)\|>"
    r"|<(?:end|start)_of_turn>|<end_of_utterance>|<seed:eos>|<turn\|>|\[\|endofturn\|\]"
    r"|<｜(?:end▁of▁sentence|User|Assistant)｜>"
    r"|(?:</s>|<eos>|\[EOS\])\s*\Z"
)


def holds_end_mark(text: str) -> bool:
    """Tell whether a text holds a mark by which a chat template ends what a role says."""
    return _END_MARK.search(text) is not None


_ENTITY = re.compile(r"&(?:amp|quot|lt|gt|apos|#39|#x27);")


def has_entities(value: JSON) -> bool:
    """Tell whether a text in a value has characters that are written as in HTML."""
    if isinstance(value, str):
        return _ENTITY.search(value) is not None
    if isinstance(value, (list, dict)):
        return any(map(has_entities, value.values() if isinstance(value, dict) else value))
    return False


def is_marked(text: str) -> bool:
    """Tell whether a text holds what stands before a call in some dialect."""
    return _ANY.search(text) is not None


_LEFT_AROUND = re.compile(
    r"\A\s*(?:<[\w.-]{1,40}>|invoke name=)+|(?<!>)(?:</?[\w.-]{1,40}>|\"?\s{0,9}/?>)+\s*\Z"
)
"""Marks of a call around its name, and nothing of the call."""
_MARKS_ALONE = re.compile(r"\s*+(?:</?\|?[\w.-]{1,40}\|?>\s*+|\"?/?>\s*+|\"\s{1,9}/?>\s*+)+\Z")
_NAME_AND_MORE = re.compile(r"([\w./:-]{1,200})\"?\s{0,9}/?>?\s{0,9}[<\n]")


_MARK_AMID = re.compile(
    r"</?think>|</?parameter[=>]|<function=|</?arg_(?:key|value)>|</?tool_call>|<\|[\w\"]{1,40}\|>"
)


def is_unparsed(arguments: str) -> bool:
    """Tell whether arguments that are no JSON hold marks that a server's parser takes away."""
    return _MARK_AMID.search(arguments) is not None


def lacks_its_start(arguments: str) -> bool:
    """Tell whether arguments that are no JSON are an object without its first letters.

    Servers lose them with the first piece of a stream.
    """
    if arguments.lstrip().startswith("{"):
        return False
    return any(parse_object(before + arguments) is not None for before in ("{", '{"'))


def is_amid_marks(name: str, offered: Container[str]) -> bool:
    """Tell whether a name is marks of a call alone, or an offered name and more of a call."""
    if name in offered or len(name) > _LONGEST_NAME:
        return False
    found = _NAME_AND_MORE.match(name)
    return _MARKS_ALONE.match(name) is not None or (found is not None and found[1] in offered)


def called_name(name: str, offered: Container[str]) -> str:
    """Return the offered name in what a server left around it; any other name as it is.

    So of `functions.get_weather:0`, `default_api:get_weather`, `get_weather</arg_value>`,
    `get_weather<|channel|>commentary`, and `proxy_get_weather` (CLIProxyAPI, OmniRoute).
    """
    if name in offered or len(name) > _LONGEST_NAME:
        return name
    bare = _LEFT_AROUND.sub("", name.partition("<|")[0]).strip("\"' \t\r\n")
    bare = re.sub(r":\d+$", "", bare)
    for before in ("functions.", "default_api:", "default_api.", "proxy_"):
        bare = bare.removeprefix(before)
    return bare if bare in offered else name


def calls_written(text: str, offered: Container[str]) -> list[WrittenCall]:
    """Return the calls of offered tools that a text holds as words, at most `MOST_CALLS`.

    Bare JSON or Python is a call only where the text is nothing else.

    Args:
        text: A model's answer, as its server gave it.
        offered: Names of tools.
    """
    found = []
    if is_marked(text):
        rest = text
        for dialect, begins, ends, read in _MARKS:
            if begins in rest:
                first, *parts = rest.split(begins, MOST_CALLS)
                rest = first
                for part in parts:
                    found += [WrittenCall(dialect, *one) for one in read(part.partition(ends)[0])]
    elif _PYTHON.match(bare := _FENCES.sub("", text).strip()):
        found = list(_python(bare))
    elif bare.startswith(("{", "[")):
        whole = parse_object(f'{{"calls": {bare}}}') or {}
        listed = whole.get("calls")
        objects = listed if isinstance(listed, list) else [listed]
        if all(map(_is_named, objects)):
            found = [WrittenCall("json", *one) for one in _objects(bare)]
    named = (one._replace(name=called_name(one.name, offered)) for one in found[:MOST_CALLS])
    return [one for one in named if one.name in offered]


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and len(value) > 1


def calls_thought(text: str, offered: Container[str]) -> list[WrittenCall]:
    """Return the calls that thinking holds, after which nothing was said; as `calls_written`.

    Bare JSON may end it, on lines of its own.
    """
    bare = _FENCES.sub("", text).rstrip()
    return calls_written(text, offered) or calls_written(bare[bare.rfind("\n{") + 1 :], offered)


def _python(text: str) -> Iterator[WrittenCall]:
    """Read `[f(a=1), g()]`, which is never evaluated."""
    try:
        tree: ast.AST = parse_expression(text)
        calls = tree.elts if isinstance(tree, ast.List) else []
        for one in calls:
            if isinstance(one, ast.Call) and not one.args and all(k.arg for k in one.keywords):
                given = {
                    str(k.arg): literal_value(_JsonWords().visit(k.value)) for k in one.keywords
                }
                yield WrittenCall("python", ast.unparse(one.func), given)
    except (ValueError, RecursionError):
        return


_JSON_WORDS = {"true": True, "false": False, "null": None}


class _JsonWords(ast.NodeTransformer):
    """Takes words of JSON for the values that they are, as Olmo writes them."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_JSON_WORDS[node.id]) if node.id in _JSON_WORDS else node


def read_calls(
    text: str, tools: Collection[Tool], dialects: Container[str]
) -> tuple[list[ToolCall], str]:
    """Return the calls of a text in some dialects, the first with the text as `raw`, and the words.

    A text of which a call is no valid one where it may as well be words (bare JSON, Python) has
    none.

    Args:
        text: A model's answer.
        tools: That were offered.
        dialects: Of `DIALECTS`, which the model's family writes.
    """
    named = {tool.name: tool for tool in tools}
    found = [one for one in calls_written(text, named) if one.dialect in dialects]
    check = CallValidator({tool.name: tool for tool in tools}).check
    calls: list[ToolCall] = []
    for one in found:
        arguments = one.arguments
        if arguments is not None and one.is_text:
            arguments = _typed(arguments, named[one.name].parameters)
        given: dict[str, JSON] | None = None if arguments is None else dict(arguments)
        if one.dialect in ("json", "python") and check(ToolCall("", one.name, given, "", one.name)):
            return [], text
        calls.append(ToolCall("", one.name, given, "" if calls and given is not None else text))
    if not calls:
        return [], text
    first = _ANY.search(text)
    return calls, "" if first is None else _words_before(text[: first.start()])


def _words_before(text: str) -> str:
    """Return what stands before the first call, without the tags that open a list of calls."""
    words = text.rstrip().removesuffix(_SPACE).rstrip()
    while tag := _TAG.search(words, max(0, len(words) - _LONGEST_TAG)):
        words = words[: tag.start()].rstrip()
    return words.strip()


def _typed(arguments: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that came as texts, each as its type in the schema wants it."""
    properties = schema.get("properties")
    declared = properties if isinstance(properties, dict) else {}
    typed: dict[str, Any] = {}
    for name, value in arguments.items():
        own = declared.get(name)
        is_text = isinstance(own, dict) and own.get("type") == "string"
        read = None if is_text else parse_object(f'{{"value": {value.strip()}}}')
        typed[name] = value if read is None or read.keys() != {"value"} else read["value"]
    return typed

"""What models answered to BFCL's questions, read as calls: a reader for each dialect they write.

The leaderboard keeps an answer as the model gave it: a native call as `{name: JSON text}`, or a
text in the words that a model was trained to write. It reads each family of models its own way, and
what it reads decides. So a reader here takes what the leaderboard's handler of that dialect takes,
and no more: of `[f(a=1)` one dialect closes the bracket, and to another it is no answer.

All answers are texts of strangers. They are read in linear time and never evaluated: Python by its
syntax tree, in which a value is a literal, the name of a variable as a text, or arithmetic with
small numbers. What no reader takes is the model's error, with a reason.

As the leaderboard reads Python: arguments by position are dropped, and a call without named ones is
no call but a text; every sign before a number is a minus; `...` is a text; `f(x=1)` as a value is
`{"f": {"x": 1}}`, and `f()` or `a[0]` as a value is its text. A tuple is a list here, and a key is
a text, for JSON has no others.

Source: ShishirPatil/gorilla at de8307b4 (August 2024), what its handlers take; none of its code is
here.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from seal.benchmarks.bfcl.code_calls import read_call
from seal.core import JSON, Tool, ToolCall, check_name, shortened
from seal.core.values import parse_expression, well_formed

LONGEST = 200_000
"""Characters of an answer that are read; a longer one is unreadable."""


@dataclass(frozen=True, slots=True)
class SaidCall:
    """One call of an answer."""

    name: str
    """As the model wrote it."""
    arguments: dict[str, JSON] | None
    """None: they are no map of names and values."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says."""

    calls: tuple[SaidCall, ...] = ()
    problem: str = ""
    """Why no call was read, one of `PROBLEMS`; empty: the answer was read, and has these calls."""
    why: str = ""
    """What is wrong, in words; empty where nothing is."""


PROBLEMS: Mapping[str, str] = {
    "unreadable": "the answer is not in its dialect",
    "no_calls": "the answer is in its dialect, but says something else than calls",
}
"""Kinds of answers without calls, as the leaderboard tells them apart."""


class _UnreadableError(ValueError):
    """An answer that its dialect does not take."""


class _NoCallsError(ValueError):
    """An answer that says something else than calls."""


Reader = Callable[[Any, str], list[SaidCall]]
"""Returns the calls of an answer, whose functions are in a language: python, java, javascript."""


@dataclass(frozen=True)
class Dialect:
    """How a model writes calls.

    Args:
        name: One of `READERS`.
        underscores: The model got names of functions with `_` for `.`, and must call them so.

    Raises:
        UnknownNameError: There is no such dialect.
    """

    name: str
    underscores: bool = False

    def __post_init__(self) -> None:
        check_name("dialect of BFCL's answers", self.name, READERS)

    def read(self, answer: Any, language: str = "python") -> Reading:
        """Return the calls of an answer.

        Args:
            answer: As the leaderboard keeps it: a text, or a list of native calls.
            language: Of the functions: "python", or "java" and "javascript", where each value is
                a text of code.
        """
        try:
            if isinstance(answer, str) and len(answer) > LONGEST:
                raise _UnreadableError(f"longer than {LONGEST:,} characters")
            calls = READERS[self.name](answer, language)
        except _NoCallsError as error:
            return Reading(problem="no_calls", why=str(error))
        except RecursionError:
            return Reading(problem="unreadable", why="nested too deeply")
        except ValueError as error:
            return Reading(problem="unreadable", why=str(error))
        return Reading(tuple(calls))

    def made(self, reading: Reading, offered: Sequence[Tool]) -> list[ToolCall]:
        """Return what was read as calls of the offered tools; `tool` is None for an unknown name.

        Args:
            reading: Of an answer in this dialect.
            offered: To the model. Of tools of one name the first counts.
        """
        ids: dict[str, str] = {}
        for tool in offered:
            ids.setdefault(tool.name.replace(".", "_") if self.underscores else tool.name, tool.id)
        return [
            ToolCall(f"call_{place}", call.name, call.arguments, "", ids.get(call.name))
            for place, call in enumerate(reading.calls)
        ]


def dialect_of(model: str) -> Dialect:
    """Return the dialect of a model of the leaderboard.

    Args:
        model: As its folder of results is named: `NousResearch_Hermes-2-Pro-Mistral-7B`.

    Raises:
        UnknownNameError: It is none whose dialect is known.
    """
    check_name("model of BFCL", model, models())
    return models()[model]


@cache
def models() -> Mapping[str, Dialect]:
    """Return model to dialect of those on the leaderboard in August 2024."""
    told = json.loads(Path(__file__).with_name("answer_dialects.json").read_text("utf-8"))
    return {
        model: Dialect(group["dialect"], group["underscores"])
        for group in told
        for model in group["models"]
    }


# -- Native calls, as servers return them.


def _native(answer: Any, language: str) -> list[SaidCall]:
    """`[{"f": '{"a": 1}'}]`: arguments as JSON text."""
    return [SaidCall(name, _map(_json(given))) for name, given in _pairs(answer)]


def _native_maps(answer: Any, language: str) -> list[SaidCall]:
    """`[{"f": {"a": 1}}]`: arguments as a map."""
    return [SaidCall(name, _map(given)) for name, given in _pairs(answer)]


def _pairs(answer: Any) -> list[tuple[str, Any]]:
    """Return name and arguments of native calls; a model that says words calls nothing."""
    if answer == "":
        return []
    if not isinstance(answer, list) or not all(isinstance(one, dict) and one for one in answer):
        raise _UnreadableError(f"{shortened(answer)} is no list of native calls")
    return [next(iter(one.items())) for one in answer]


# -- JSON inside a text.


def _tool_call_lines(answer: Any, language: str) -> list[SaidCall]:
    """`<tool_call>`, a line of JSON, `</tool_call>`; each quote in the line counts as `"`.

    Where values are code, each one becomes a text.
    """
    calls, opened = [], False
    for line in _text(answer).split("\n"):
        if opened and line not in ("<tool_call>", "</tool_call>"):
            told = _json(line.replace("'", '"'))
            if not isinstance(told, dict) or not {"name", "arguments"} <= told.keys():
                raise _UnreadableError(f"{shortened(line)} has no name and arguments")
            given = _map(told["arguments"])
            calls.append(
                SaidCall(_name(told["name"]), given if language == "python" else _as_texts(given))
            )
        opened = line == "<tool_call>"
    return calls


def _tool_calls(answer: Any, language: str) -> list[SaidCall]:
    """`{"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}`, or the list alone."""
    try:
        told = _json(_text(answer))
    except _UnreadableError as error:
        raise _NoCallsError(str(error)) from error
    calls = told.get("tool_calls", []) if isinstance(told, dict) else told
    if not isinstance(calls, list):
        raise _UnreadableError(f"{shortened(answer)} holds no list of calls")
    return [
        SaidCall(_name(call.get("name", "")), _map(call.get("arguments", {})))
        for call in calls
        if isinstance(call, dict)
    ]


def _name_and_json(answer: Any, language: str) -> list[SaidCall]:
    """A line with the function's name, and one with its arguments as JSON."""
    name, _, rest = _text(answer).partition("\n")
    if "\n" not in _text(answer):
        raise _NoCallsError("one line, expected a name and its arguments in the next line")
    return [SaidCall(name, _map(_json(rest.split("\n")[0])))]


def _tagged_calls(answer: Any, language: str) -> list[SaidCall]:
    """`<function_call> {"name": "f", "arguments": {"a": 1}}`, any number of times."""
    calls, other = [], ""
    for part in filter(None, map(str.strip, _text(answer).split("<function_call>"))):
        try:
            told = _json(part)
        except _UnreadableError as error:
            other = str(error)
            continue
        if not isinstance(told, dict) or not isinstance(told.get("name", ""), str):
            raise _UnreadableError(f"{shortened(part)} is no call")
        name = told.get("name", "").strip()
        if name == "no_function":
            other = "the model says that it calls no function"
        calls.append(SaidCall(name, _map(told.get("arguments", {}))))
    if other:
        raise _NoCallsError(other)
    return calls


# -- Python inside a text, `[f(a=1), g(b=2)]`: dialects differ in what may lack or stand beside.


def _bracketed(text: str, opening: str = "[", closing: str = "]") -> str:
    """Return a text with the brackets of a list, where it begins or ends with none."""
    opened = text if text.startswith("[") else opening + text
    return opened if opened.endswith("]") else opened + closing


def _led(text: str) -> str:
    """Return a list whose brackets may lack, after a blank."""
    if not text:
        raise _UnreadableError("an empty answer")
    return _bracketed(text.removeprefix(" "))


def _in_items(text: str) -> str:
    """Return a list of calls that stand there without brackets."""
    return f"[{text}]"


def _in_statements(answer: Any, language: str) -> list[SaidCall]:
    """Calls that end in semicolons; `out_of_domain` says that no function fits."""
    text = _text(answer)
    calls = _calls(_in_items(text.removesuffix(";").replace(";", ",")), language)
    if "out_of_domain" in text:
        raise _NoCallsError("the model says that the question is out of its domain")
    return calls


def _in_texts(text: str) -> str:
    """Return a list of calls that may be texts, over several lines: `['f(a=1)', 'g(b=2)']`."""
    listed = _bracketed(text.replace("\n", ""), "[ ", " ]")
    if listed.startswith("['"):
        listed = listed.replace("['", "[").replace("', '", ", ").replace("','", ", ")
    return listed.replace("']", "]") if listed.endswith("']") else listed


_QUOTED = re.compile(r"'([^']*)'")


def _in_quotes(answer: Any, language: str) -> list[SaidCall]:
    """A list of calls in single quotes, which go; if that is no Python, it is read as it stands."""
    text = _text(answer)
    plain = _bracketed(_QUOTED.sub(r"\1", text).replace("\n    ", ""))
    if plain.startswith("['"):
        plain = plain.replace("['", "[")
    try:
        return _calls(plain, language)
    except _NoCallsError:
        raise
    except ValueError:
        return _calls(text, language)


def _in_fence(text: str) -> str:
    """Return the first list in a fence of three backticks, up to the first bracket that closes."""
    parts = text.split("```", 2)
    inside = parts[1] if len(parts) > 1 else ""
    start = inside.find("[")
    end = inside.find("]", start)
    if min(start, end) < 0:
        raise _UnreadableError("no list in a fence of three backticks")
    return inside[start : end + 1]


def _within(text: str) -> str:
    """Return what stands from the first bracket that opens to the last that closes."""
    start, end = text.find("["), text.rfind("]")
    if not 0 <= start < end:
        raise _UnreadableError("no list in brackets")
    return text[start : end + 1]


def _listed(prepare: Callable[[str], str]) -> Reader:
    """Return the reader of a dialect whose texts become a list of Python calls."""
    return lambda answer, language: _calls(prepare(_text(answer)), language)


def _calls(text: str, language: str) -> list[SaidCall]:
    """Return the calls of a list; of code the one call, between the first and last sign."""
    if language == "python":
        return _python(text)
    found = read_call(text[1:-1], language)
    if found is None:
        raise _NoCallsError(f"{shortened(text)} is code that calls nothing")
    return [SaidCall(found.name, dict(found.arguments))]


_INDENTED = re.compile(r"\n*[ \t]")


def _python(text: str) -> list[SaidCall]:
    """Return the calls of a Python list, read by its syntax tree."""
    if _INDENTED.match(text):
        raise _UnreadableError("it begins with a blank, which Python takes for a block")
    tree = parse_expression(text)
    if not isinstance(tree, (ast.List, ast.Tuple, ast.Set)):
        raise _UnreadableError(f"{shortened(text)} is no list of calls")
    if not all(isinstance(item, ast.Call) for item in tree.elts):
        raise _UnreadableError(f"{shortened(text)} lists something that is no call")
    values = [_value(item) for item in tree.elts]
    if not all(isinstance(value, dict) for value in values):
        raise _NoCallsError(f"{shortened(text)} has a call without named arguments")
    return [SaidCall(*next(iter(value.items()))) for value in values]


def _value(node: ast.expr | None) -> Any:
    """Return the value that a tree writes; nothing is looked up or called."""
    if isinstance(node, ast.Constant):
        return "..." if node.value is ... else _holdable(node.value)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        names = [_key(_value(key)) for key in node.keys]
        return dict(zip(names, map(_value, node.values), strict=True))
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.UnaryOp):
        return -_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _reckoned(node)
    if isinstance(node, ast.Call):
        return _called(node)
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    raise _UnreadableError(f"{type(node).__name__} is no value")


def _called(node: ast.Call) -> Any:
    """Return a call as `{name: {argument: value}}`; as its text where no argument has a name."""
    if not node.keywords:
        return ast.unparse(node)
    parts: list[str] = []
    place: ast.expr = node.func
    while isinstance(place, ast.Attribute):
        parts.append(place.attr)
        place = place.value
    if isinstance(place, ast.Name):
        parts.append(place.id)
    given = {keyword.arg or "**": _value(keyword.value) for keyword in node.keywords}
    return {".".join(reversed(parts)): given}


_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitXor: operator.xor,
}
_LARGEST = 10**12
"""Operand of arithmetic; a power is at most 100."""


def _reckoned(node: ast.expr) -> Any:
    """Return the number, or the joined text, that an expression of constants is worth."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_checked(_reckoned(node.operand))
    if not isinstance(node, ast.BinOp):
        return _constant(node)
    left, right = _reckoned(node.left), _reckoned(node.right)
    if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
        return left + right
    made = _ARITHMETIC.get(type(node.op))
    if made is None or (isinstance(node.op, ast.Pow) and abs(_checked(right)) > 100):
        raise _UnreadableError(f"{shortened(ast.unparse(node))} is no arithmetic that is read here")
    try:
        value = made(_checked(left), _checked(right))
    except (ArithmeticError, TypeError) as error:
        raise _UnreadableError(f"{shortened(ast.unparse(node))}: {error}") from error
    return _checked(value)


def _constant(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float)):
        return node.value
    raise _UnreadableError(f"{shortened(ast.unparse(node))} is no constant")


def _checked(value: Any) -> Any:
    """Return a number of usual size."""
    sound = isinstance(value, (int, float)) and math.isfinite(value) and abs(value) <= _LARGEST
    if not sound:
        raise _UnreadableError(f"{shortened(value)} is no number to reckon with")
    return value


def _number(node: ast.expr) -> Any:
    """Return the number after a sign."""
    value = _constant(node)
    if isinstance(value, str):
        raise _UnreadableError("a sign before a text")
    return _holdable(value)


# -- Parts of all readers.


def _text(answer: Any) -> str:
    if not isinstance(answer, str):
        raise _UnreadableError(f"{shortened(answer)} is no text")
    return answer


def _json(text: Any) -> Any:
    """Return the value of a JSON text; `NaN` and the like are texts."""
    try:
        return json.loads(_text(text), parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise _UnreadableError(f"{shortened(text)} is no JSON: {error}") from error


def _map(value: Any) -> dict[str, JSON] | None:
    """Return arguments as a pool can hold them; None where they are no map."""
    return _held(value) if isinstance(value, dict) else None


def _held(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(key): _held(item) for key, item in value.items()}
    return [_held(item) for item in value] if isinstance(value, list) else _holdable(value)


def _holdable(value: Any) -> JSON:
    """Return a constant; as its text where JSON has none like it."""
    if isinstance(value, str):
        return well_formed(value)
    if value is None or isinstance(value, int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def _key(value: Any) -> str:
    if isinstance(value, (list, dict)):
        raise _UnreadableError(f"{shortened(value)} is no key")
    return well_formed(value) if isinstance(value, str) else str(value)


def _name(value: Any) -> str:
    if isinstance(value, (list, dict)):
        raise _UnreadableError(f"{shortened(value)} is no name")
    return str(value)


def _as_texts(given: dict[str, JSON] | None) -> dict[str, JSON] | None:
    return None if given is None else {name: str(value) for name, value in given.items()}


READERS: Mapping[str, Reader] = {
    "native": _native,
    "native_maps": _native_maps,
    "tool_call_lines": _tool_call_lines,
    "tool_calls": _tool_calls,
    "name_and_json": _name_and_json,
    "tagged_calls": _tagged_calls,
    "python": _listed(str),
    "python_open": _listed(_bracketed),
    "python_led": _listed(_led),
    "python_lines": _listed(lambda text: _bracketed(text.replace("\n", ""))),
    "python_escaped": _listed(lambda text: _bracketed(text.replace("\\_", "_"))),
    "python_items": _listed(_in_items),
    "python_statements": _in_statements,
    "python_texts": _listed(_in_texts),
    "python_quoted": _in_quotes,
    "python_fenced": _listed(_in_fence),
    "python_within": _listed(_within),
}
"""Dialect to its reader."""

"""JSON values: read exactly, written without failing, compared, as digests."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
import threading
import tomllib
import unicodedata
import warnings
from codecs import BOM_UTF8
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from math import isfinite
from typing import Any, Literal

import orjson

# -- JSON text of values from models, tools and files. Writing never fails because of a value.
#
# Whole numbers are read and written with all their digits, up to Python's limit (4,300): orjson
# alone reads those of more than 64 bits as floats, of which two ids may be one.
#
# A value that a JSON line cannot hold is written as the nearest one that it can hold:
#
# - half of a surrogate pair, which UTF-8 lacks, as U+FFFD; two halves that belong together as their
#   character;
# - a number that is infinite, none at all, or whole with more digits than Python writes, as null;
# - what is nested deeper than `MAX_DEPTH` as the text `TOO_DEEP`;
# - a key that is no text as its text, a tuple as a list.
#
# Python literals in such texts are read here too. They are never evaluated. Only this module builds
# their syntax trees, one at a time: CPython before 3.11.9 and 3.12.2 keeps the depth of a tree in
# one place for all threads. It raises SystemError if two are built at once (python/cpython 106905).

MAX_DEPTH = 200
"""Levels of lists, maps and records that are written; orjson itself ends at 254."""

TOO_DEEP = f"[left out: nested deeper than {MAX_DEPTH} levels]"
"""Stands for what lies deeper."""


_DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
"""Table by which every digit becomes 0."""
_LONG = (b"0" * 20, b"-" + b"0" * 19)
"""Fewest digits of a whole number that orjson reads as a float: beyond 2**64, below -(2**63)."""

INDENTED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
"""How JSON files that people may read are written."""


_LONGEST_WHOLE = 3_500
"""Hexadecimal digits of a whole number that surely has no more decimal ones than Python writes."""


def json_value(text: bytes | str) -> Any:
    """Return the value of a JSON text, whole numbers with all their digits.

    Raises:
        orjson.JSONDecodeError: It is no JSON, or has a whole number of more digits than Python
            reads (4,300).
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if raw.startswith(BOM_UTF8):  # as Windows writes files
        text = raw = raw.removeprefix(BOM_UTF8)
    digits = raw.translate(_DIGITS)
    if not any(long in digits for long in _LONG):
        return orjson.loads(text)
    try:
        value = json.loads(raw.decode(), parse_float=_finite, parse_constant=_finite)
        if b"\\ud" in raw.lower():  # Python reads halves of surrogate pairs, orjson does not
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise orjson.JSONDecodeError(error.msg, error.doc, error.pos) from error
    except RecursionError as error:
        raise orjson.JSONDecodeError("it is nested too deep", "", 0) from error
    except ValueError as error:
        raise orjson.JSONDecodeError(number_fault(error), "", 0) from error
    return value


_DEEP_KEY = re.compile(r"""(?<![\w."'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){501}""")
"""A key of more parts than a person writes: tomllib takes time quadratic in their number."""


def toml_value(content: bytes) -> dict[str, Any]:
    """Return what a TOML file holds; a byte-order mark is left out.

    Raises:
        ValueError: It holds none, or nests too deep.
    """
    try:
        text = content.decode("utf-8-sig")
        if _DEEP_KEY.search(text):
            raise ValueError("a key has more than 500 parts")
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise ValueError(number_fault(error)) from error


def number_fault(error: ValueError) -> str:
    """Return what Python says of a number that it cannot read, without its advice to programs."""
    if "integer string conversion" in str(error):
        return "a whole number has more than 4,300 digits"
    return str(error)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no finite number")
    return number


def json_bytes(value: Any, option: int = 0, default: Callable[[Any], Any] | None = None) -> bytes:
    """Return JSON values, or dataclasses of such, as UTF-8 JSON.

    Args:
        value: What is written.
        option: Of orjson.
        default: Makes JSON of what is none; None: that is refused.

    Raises:
        TypeError: A value that is no JSON, such as a set: a programmer's mistake.
    """
    try:
        return orjson.dumps(value, default, option)
    except TypeError:
        return orjson.dumps(_holdable(value, MAX_DEPTH), default, option)


def json_text(value: Any) -> str:
    """Return JSON values, or dataclasses of such, as JSON text (`json_bytes`)."""
    return json_bytes(value).decode()


def one_line(text: str) -> str:
    """Return a text that is data among words: as it is, else as a JSON string without line breaks.

    So nothing that a tool brought can look like a further message, role or line of a prompt.
    """
    if text.isprintable():
        return text
    told = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in told)


def well_formed(text: str) -> str:
    """Return the text with what UTF-8 cannot hold, halves of surrogate pairs, as U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def nested_deeper(value: Any, levels: int) -> bool:
    """Tell whether lists and maps lie in each other more than so many levels deep."""
    layer = [value]
    for _ in range(levels + 1):
        inner = [item for item in layer if isinstance(item, (dict, list, tuple))]
        if not inner:
            return False
        layer = [x for item in inner for x in (item.values() if isinstance(item, dict) else item)]
    return True


def loses_number(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Tell whether a number in JSON values, or dataclasses of such, can be written as null only."""
    if isinstance(value, float):
        return not isfinite(value)
    if isinstance(value, int):
        return not _has_digits(value)
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, (list, tuple)):
        inner = value
    elif is_dataclass(value) and not isinstance(value, type):
        inner = (getattr(value, field.name) for field in fields(value))
    return levels > 0 and any(loses_number(item, levels - 1) for item in inner)


def loss_of(value: Any, within: tuple[int, ...] = ()) -> str:
    """Return what of JSON values, or dataclasses of such, JSON cannot hold as it is; "": nothing.

    Args:
        value: What would be written.
        within: The `id` of each list or map that it lies in, the outermost first.
    """
    if value is None or isinstance(value, (str, bool)):
        return ""
    if isinstance(value, float):
        return "" if isfinite(value) else f"the number {value}"
    if isinstance(value, int):
        return "" if _has_digits(value) else "a whole number of more than 4,300 digits"
    if isinstance(value, dict):
        inner = list(value.values())
    elif is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, (list, tuple)):
        inner = list(value)
    else:
        return ""
    if id(value) in within:
        return "a list or map that holds itself"
    if len(within) == MAX_DEPTH:
        return f"lists or maps nested deeper than {MAX_DEPTH} levels"
    found = (loss_of(item, (*within, id(value))) for item in inner)
    return next(filter(None, found), "")


def exact_json(value: Any) -> Any:
    """Return JSON values, or dataclasses of such, as a file would give them back.

    Raises:
        TypeError: A value that is no JSON, such as a set.
        ValueError: Writing would change it; names what.
    """
    try:
        written = orjson.dumps(value)
        lost = loss_of(value) if b"null" in written else ""
    except TypeError:
        lost = loss_of(value)
        written = b"" if lost else json_bytes(value)
    if lost:
        raise ValueError(f"{lost}, which JSON cannot hold")
    return json_value(written)


def _holdable(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return orjson.Fragment(str(value).encode()) if _has_digits(value) else None
    if isinstance(value, dict):
        members = [(str(key), item) for key, item in value.items()]
    elif is_dataclass(value) and not isinstance(value, type):
        # As orjson: of an object with `__dict__` what stands in it, which may lack what is default.
        named = getattr(value, "__dict__", None) or {
            f.name: getattr(value, f.name) for f in fields(value)
        }
        members = list(named.items())
    elif isinstance(value, (list, tuple)):
        return [_holdable(item, depth - 1) for item in value] if depth else TOO_DEEP
    else:
        return value
    if not depth:
        return TOO_DEEP
    return {well_formed(key): _holdable(item, depth - 1) for key, item in members}


def _has_digits(number: int) -> bool:
    """Tell whether Python writes a whole number: it refuses more digits than its limit."""
    try:
        return -(2**63) <= number < 2**64 or bool(str(number))
    except ValueError:
        return False


def leaves(value: Any) -> Iterator[str]:
    """Yield the texts and numbers of a JSON value as texts, in order; no booleans, no null."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


_ONE_AT_A_TIME = threading.Lock()


def parse_expression(text: str) -> ast.expr:
    """Return the tree of one Python expression.

    Raises:
        ValueError: The text is none, or nested too deeply.
    """
    tree: ast.Expression = _parsed(text.strip(), "eval")
    if len(text) > _LONGEST_WHOLE:  # a hexadecimal number, which Python reads but never writes
        for node in ast.walk(tree):
            number = getattr(node, "value", None)
            if isinstance(number, int) and not _has_digits(number):
                raise ValueError("no Python expression: a number is too large")
    return tree.body


def parse_module(text: str) -> ast.Module:
    """Return the tree of a Python file.

    Raises:
        ValueError: The text is none, or nested too deeply.
    """
    tree: ast.Module = _parsed(text, "exec")
    return tree


def _parsed(text: str, mode: Literal["eval", "exec"]) -> Any:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes such as "\\d", which are the text's own
        try:
            return ast.parse(text, mode=mode)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            kind = "expression" if mode == "eval" else "file"
            raise ValueError(f"no Python {kind}: {error}") from error


def literal_value(written: str | ast.expr) -> Any:
    """Return the value that a Python literal writes.

    Args:
        written: A text, or a part of a tree.

    Raises:
        ValueError: It is no literal, or nested too deeply.
    """
    tree = parse_expression(written) if isinstance(written, str) else written
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"no Python literal: {error}") from error


# -- Canonical JSON: one text, and so one digest, for values that mean the same.


def is_same(value: Any, other: Any) -> bool:
    """Tell at once whether two JSON values are written alike: 1 is neither True nor 1.0.

    Equal ones (`equal`) may be told apart: maps of another order, and 1 and 1.0.
    """
    try:
        return bool(value == other) and json_bytes(value) == json_bytes(other)
    except TypeError:  # what is no JSON may equal it, such as Decimal(1)
        return False


def normalise(value: Any) -> Any:
    """Return the value with NFC strings, whole floats as integers, and tuples as lists.

    Raises:
        ValueError: A number is NaN or infinite: JSON has no such numbers.
        TypeError: A value that JSON cannot hold.
        RecursionError: Nested about as deep as Python's stack; `canonical_json` has no such limit.
    """
    if isinstance(value, dict):
        return {key: normalise(item) for key, item in _members(value)}
    if isinstance(value, (list, tuple)):
        return [normalise(item) for item in value]
    return _leaf(value)


def canonical_json(value: Any) -> bytes:
    """Return UTF-8 JSON with sorted keys, no blanks, NFC strings and normalised numbers.

    Equal JSON values (`equal`) give equal bytes: argument order never matters, 1 and 1.0 are one
    number, True and 1 are two. Integers may have any size up to Python's limit for digits (4,300),
    nesting any depth. Half of a surrogate pair, which UTF-8 lacks, is encoded as if it were a
    character, so that different texts stay different.

    Raises:
        ValueError: A number is NaN or infinite, or an integer is beyond Python's limit.
        TypeError: A value that JSON cannot hold.
    """
    try:
        return orjson.dumps(normalise(value), option=orjson.OPT_SORT_KEYS)
    except (TypeError, RecursionError):  # more than orjson holds, or not JSON at all
        return _write(value)


def digest(value: Any) -> str:
    """Return the SHA-256 of the value's canonical JSON as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def derive_seed(*parts: Any) -> int:
    """Return a seed in [0, 2**31) that depends on every part, on every machine alike."""
    return int(digest(list(parts))[:8], 16) & 0x7FFFFFFF


def equal(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same, as their canonical texts are.

    1 is 1.0, True is no number; strings are the same where their NFC forms are, letter by letter.
    """
    try:
        return _equal(left, right)
    except RecursionError:
        return canonical_json(left) == canonical_json(right)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, str) and isinstance(right, str):
        return left == right or _nfc(left) == _nfc(right)
    if isinstance(left, dict) and isinstance(right, dict):
        left, right = dict(_members(left)), dict(_members(right))
        return left.keys() == right.keys() and all(_equal(left[k], right[k]) for k in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    return type(left) is type(right) and bool(left == right)


# -- Values that are one value to whoever judges a call or a table.

CLOSE = 1e-9
"""Greatest difference of equal floats, relative to the greater one."""
_SPACES = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""Spaces besides the usual one: a tab, and the others of Unicode's category Zs."""
_ZONE = r"(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?"
_TIMES = (
    re.compile(
        r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?" + _ZONE, re.ASCII
    ),
    re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?" + _ZONE, re.ASCII),
)
"""2024-05-01T10:00Z, 2024-05-01 10:00:00.5+02:00, 20240501T100000Z; not 2024-05-01, which is a day.
Their groups are year, month, day, hour, minute, second, fraction, Z, sign, hours, minutes."""


def alike(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are one value to whoever holds a call against gold.

    They are the same as of `equal`, but for what programs write differently:

    - Two floats that differ by at most 1e-9 of the greater one are one, and so are a float that is
      not whole and an integer. An integer is equal to no other whole number, at any length: 1 is
      1.0, and no id is another one.
    - Texts are compared in Unicode's NFC, without outer blanks, with every kind of space (tabs,
      no-break and others) as the usual one. Case, inner blanks and line breaks count.
    - Texts that are ISO 8601 times of a day are compared by their instant, `Z` as `+00:00`; without
      a zone, by what the clock says. A time with a zone is no time without one.

    True is no number, a text no number, null nothing else. Maps have the same keys, lists the same
    length and order. The relation is reflexive and symmetric; among texts and among integers also
    transitive. It takes linear time, at any depth; lists and maps may hold themselves.
    """
    seen: set[tuple[int, int]] = set()
    pairs = [(left, right)]
    while pairs:
        left, right = pairs.pop()
        maps = isinstance(left, dict) and isinstance(right, dict)
        if not maps and not (isinstance(left, (list, tuple)) and isinstance(right, (list, tuple))):
            if not _alike_leaves(left, right):
                return False
            continue
        # Both still hold their parts, so that no identity is another value's.
        if (pair := (id(left), id(right))) in seen:
            continue
        seen.add(pair)
        if len(left) != len(right):
            return False
        if maps:
            left, right = dict(_members(left)), dict(_members(right))
            if left.keys() != right.keys():
                return False
            pairs += [(item, right[key]) for key, item in left.items()]
        else:
            pairs += zip(left, right, strict=True)
    return True


def _alike_leaves(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left == right or plain_text(left) == plain_text(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _alike_numbers(left, right)
    return type(left) is type(right) and bool(left == right)


def _alike_numbers(left: float, right: float) -> bool:
    if left == right or (left != left and right != right):
        return True
    whole = [isinstance(one, int) or one.is_integer() for one in (left, right)]
    if all(whole) and (isinstance(left, int) or isinstance(right, int)):
        return False
    try:
        return math.isclose(left, right, rel_tol=CLOSE)
    except OverflowError:  # an integer beyond all floats, and a fraction
        return False


def plain_text(text: str) -> Hashable:
    """Return what texts have in common that are one value (`alike`): a text, or an instant."""
    text = _SPACES.sub(" ", _nfc(text)).strip()
    form = {"-": 0, "T": 1}.get(text[4:5] if text[4:5] == "-" else text[8:9])
    time = None if form is None else _TIMES[form].fullmatch(text)
    return text if time is None else _instant(time) or text


def _instant(time: re.Match[str]) -> Hashable:
    """Return a time as whole seconds, the digits of its fraction, and whether it has a zone.

    None: there is no such day or time of a day.
    """
    year, month, day, hour, minute, second = (int(part or 0) for part in time.groups()[:6])
    fraction, utc, sign, hours, minutes = time.groups()[6:]
    ahead = int(hours or 0), int(minutes or 0)
    if hour > 23 or minute > 59 or second > 59 or ahead[0] > 23 or ahead[1] > 59:
        return None
    try:
        days = date(year, month, day).toordinal()
    except ValueError:
        return None
    offset = (ahead[0] * 60 + ahead[1]) * (-1 if sign == "-" else 1)
    seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    return seconds, (fraction or "").rstrip("0"), bool(utc or sign)


_SHORT = 1000
"""Characters of a text in which no run of marks takes long to order."""
_MARKS = re.compile(rb"[^\0]{64,}")
"""A long run of marks, in the combining classes of a text; letters have 0."""
_TWO_MARKS = ("\u0f73", "\u0f75", "\u0f81")
"""Characters of class 0 that consist of two marks."""


def _nfc(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text if len(text) <= _SHORT else _with_marks_ordered(text))


def _with_marks_ordered(text: str) -> str:
    """Return an equivalent text whose long runs of marks stand in their order.

    CPython orders them in a time that grows with the square of a run's length.
    """
    for character in _TWO_MARKS:
        text = text.replace(character, unicodedata.normalize("NFD", character))
    parts, end = [], 0
    for run in _MARKS.finditer(bytes(map(unicodedata.combining, text))):
        marks = "".join(unicodedata.normalize("NFD", one) for one in text[run.start() : run.end()])
        parts += [text[end : run.start()], *sorted(marks, key=unicodedata.combining)]
        end = run.end()
    return "".join([*parts, text[end:]])


def _members(value: dict[Any, Any]) -> list[tuple[str, Any]]:
    """Return keys, as NFC texts, and items; of two keys that become one, the same one wins."""
    members = [(key if type(key) is str else str(key), item) for key, item in value.items()]
    if "".join([key for key, _ in members]).isascii():
        return members
    return [(_nfc(key), item) for key, item in sorted(members, key=lambda member: member[0])]


def _leaf(value: Any) -> Any:
    if isinstance(value, str):
        return _nfc(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no JSON number")
        return int(value) if value.is_integer() else value
    raise TypeError(f"JSON cannot hold {type(value).__name__}")


def _write(value: Any) -> bytes:
    """Return the canonical text of any value, with a stack of our own instead of Python's."""
    pieces: list[bytes] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Text):
            pieces.append(item)
        elif isinstance(item, dict):
            members = sorted(dict(_members(item)).items())
            stack.append(_Text(b"}"))
            for number, (key, inner) in reversed(list(enumerate(members))):
                stack += [inner, _Text((b"," if number else b"") + _write_leaf(key) + b":")]
            stack.append(_Text(b"{"))
        elif isinstance(item, (list, tuple)):
            stack.append(_Text(b"]"))
            for number, inner in reversed(list(enumerate(item))):
                stack += [inner, _Text(b"," if number else b"")]
            stack.append(_Text(b"["))
        else:
            pieces.append(_write_leaf(_leaf(item)))
    return b"".join(pieces)


class _Text(bytes):
    """A piece of JSON that is written already."""


def _write_leaf(leaf: Any) -> bytes:
    try:
        return orjson.dumps(leaf)
    except TypeError:  # orjson holds integers of at most 64 bits, and no half surrogate pairs
        return json.dumps(leaf, ensure_ascii=False).encode("utf-8", "surrogatepass")

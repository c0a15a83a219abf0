"""JSON and YAML files of others: read, their faults named by place, malformed records left out."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import orjson

from seal.core import DataError, UnknownNameError, UsageError, shortened
from seal.core.files import content_of, kind_of, lines_of
from seal.core.values import MAX_DEPTH, digest, json_value, nested_deeper, number_fault, well_formed
from seal.pools.importer import REGISTRY, Notes

# -- What importers share: upstream's JSON files, their faults by place, and names of tools.
#
# A file that cannot be read as JSON ends the import with the place of the fault. Read leniently is
# what other writers leave: a byte-order mark, NaN and Infinity (as null), half surrogate pairs.

NAME_LENGTH = 64
"""Characters of a function name that chat servers allow."""

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BLANK = b" \t\r\n"
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")
_KINDS: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}

Torn = Callable[[DataError], None]
"""Told a record that cannot be parsed, with its place."""

Parse = Callable[[bytes, str], Any]
"""JSON in UTF-8 and its place, for messages, to its value."""
Kind = TypeVar("Kind", str, int, bool, list[Any], dict[str, Any])
Meant = TypeVar("Meant")


class Placed(NamedTuple):
    """A record and where it stands."""

    place: str
    """File and line, or file and position from 0, for messages."""
    value: Any


def json_file(path: Path, parse: Parse | None = None) -> Any:
    """Return the JSON value of a file, as it is or packed with gzip.

    Args:
        path: The file.
        parse: (JSON, place) to its value; None: `parse_json`.

    Raises:
        DataError: The file cannot be read, is empty, not UTF-8, or no JSON; the text names file,
            place and repair.
    """
    try:
        raw = b"".join(lines_of(path))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; name a file that can be read") from None
    return (parse or parse_json)(raw, str(path))


def json_lines(path: Path, torn: Torn | None = None) -> Iterator[Placed]:
    """Yield the values of a JSON Lines file one by one, blank lines left out.

    Args:
        path: The file, as it is or packed with gzip.
        torn: Told a line that is no JSON, which is passed over; None: it ends the reading.

    Raises:
        DataError: A line is not UTF-8 or no JSON; the text names file, line and repair.
    """
    yield from json_values(lines_of(path), path, torn)


def json_values(
    lines: Iterable[bytes],
    path: Path,
    torn: Torn | None = None,
    parse: Parse | None = None,
) -> Iterator[Placed]:
    """Yield the values of lines of JSON one by one, blank lines left out.

    Args:
        lines: Of the file, as they are once it is unpacked.
        path: The file, for messages.
        torn: As of `json_lines`.
        parse: (line, place) to its value; None: `parse_json`.

    Raises:
        DataError: A line is not what is parsed; the text names file, line and repair.
    """
    parse = parse or parse_json
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            value = parse(line, place)
        except DataError as error:
            if torn is None:
                raise
            torn(error)
        else:
            yield Placed(place, value)


def json_records(
    path: Path, torn: Torn | None = None, parse: Parse | None = None
) -> Iterator[Placed]:
    """Yield the records of a file that holds one JSON array, or JSON Lines.

    An array is parsed as a whole; its bytes are not kept while its records are read.

    Args:
        path: The file, as it is or packed with gzip.
        torn: As of `json_lines`; also told a record of an array that `parse` refuses.
        parse: (JSON, place) to its value; None: `parse_json`.

    Raises:
        DataError: The file is not UTF-8, or neither; the text names file, place and repair.
    """
    if not holds_array(path):
        yield from json_values(lines_of(path), path, torn, parse)
        return
    try:
        values = json_file(path, parse)
    except DataError:
        written = _records_of(path) if parse and torn else []
        if not (parse and torn and written):
            raise
        for number, record in enumerate(written):
            place = f"{path}, record {number}"
            try:
                value = parse(record.encode("utf-8", "surrogatepass"), place)
            except DataError as error:
                torn(error)
            else:
                yield Placed(place, value)
        return
    for number, value in enumerate(values):
        yield Placed(f"{path}, record {number}", value)


def holds_array(path: Path) -> bool:
    """Tell whether a file begins as one JSON array does."""
    lines = (line.removeprefix(_BOM).lstrip(_BLANK) for line in lines_of(path))
    return next(filter(None, lines), b"").startswith(b"[")


def _records_of(path: Path) -> list[str]:
    """Return the records of a file that holds one JSON array as written; empty: it holds none."""
    try:
        text = b"".join(lines_of(path)).decode("utf-8-sig")
    except UnicodeDecodeError:
        return []
    found, begin, depth = [], 0, 0
    for mark in _MARK.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark[0], 0)
        if depth == 1 and mark[0] == "[" and not begin:
            begin = mark.end()
        elif (depth == 1 and mark[0] == ",") or depth == 0:
            found.append(text[begin : mark.start()])
            begin = mark.end()
            if depth == 0:
                return [] if text[begin:].strip() else list(filter(str.strip, found))
    return []


_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{},]', re.DOTALL)
"""Begins or ends a part of JSON, or is a text: "a, b", also one that never ends; [ ] { } and ,"""


def parse_json(raw: bytes, place: str) -> Any:
    """Return the JSON value that the bytes hold.

    Args:
        raw: UTF-8, with or without a byte-order mark.
        place: Of the bytes, for the message.

    Raises:
        DataError: They are empty, not UTF-8, or no JSON.
    """
    try:
        return json_value(raw)
    except orjson.JSONDecodeError as error:
        try:
            return parse_leniently(raw)
        except (ValueError, RecursionError):
            raise DataError(f"{place}: {_fault(raw, error)}") from error


def json_of_text(text: str) -> Any:
    """Return the JSON value that a text within a record holds.

    Raises:
        ValueError: It holds none.
    """
    try:
        return json_value(text)
    except orjson.JSONDecodeError:
        try:
            return parse_leniently(text.encode("utf-8", "replace"))
        except RecursionError as error:
            raise ValueError("nested deeper than Python's stack") from error


def parse_exactly(raw: bytes, place: str) -> Any:
    """Return the JSON value that bytes hold, of which nothing is taken for something else.

    Gold is read so: what stands there twice, or is no JSON, would silently ask for another thing.

    Args:
        raw: UTF-8, with or without a byte-order mark.
        place: Of the bytes, for the message.

    Raises:
        DataError: They are no JSON (`parse_json`); a map has a key twice, a number is infinite or
            none, or a text has half of a surrogate pair.
    """
    unheld: list[_Unheld] = []

    def lost(why: str, kind: type[_Unheld] = _Unheld) -> _Unheld:
        unheld.append(kind(why))
        return unheld[-1]

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for key, count in Counter(k for k, _ in pairs).items() if count > 1)
            told = f"the key {shortened(twice)} stands twice in a map; keep one of them"
            found[twice] = lost(told, _Twice)
        return found

    def finite(text: str) -> Any:
        number = float(text)
        if isfinite(number):
            return number
        return lost(f"{text} is beyond every float; write a number below 1e308")

    def none(text: str) -> _Unheld:
        return lost(f"{text} is no JSON; write null, or a number")

    try:
        text = raw.decode("utf-8-sig")
        read = json.loads(text, object_pairs_hook=once, parse_constant=none, parse_float=finite)
        json.dumps(read, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise DataError(
            f"{place}: {half} is half of a surrogate pair, and no character; write it whole"
        ) from error
    except (ValueError, RecursionError):  # no JSON at all, of which `parse_json` tells more
        read = next(iter(unheld), None)  # nobody knows where it stands
    if unheld:
        way, why = _first_unheld(read)
        raise DataError(f"{', '.join(filter(None, (place, way)))}: {why}")
    return parse_json(raw, place)


class _Unheld(str):
    """Why a value would be lost, in the place where it stands."""


class _Twice(_Unheld):
    """Likewise; it stands in the place of a key's last value."""


def _first_unheld(value: Any) -> tuple[str, str]:
    """Return the way to the first value that would be lost, or to the map of its key, and why."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while not isinstance(waiting[-1][1], _Unheld):
        way, held = waiting.pop()
        if isinstance(held, dict | list):
            items = held.items() if isinstance(held, dict) else enumerate(held)
            waiting += reversed([((*way, str(key)), item) for key, item in items])
    way, why = waiting[-1]
    return ".".join(way[:-1] if isinstance(why, _Twice) else way), why


def exact_json_of_text(text: str) -> Any:
    """Return the JSON value that a text of gold holds, of which nothing is taken otherwise.

    Raises:
        ValueError: It holds none.
        DataError: It does, and some of it would be (`parse_exactly`).
    """
    json_of_text(text)
    return parse_exactly(text.encode("utf-8", "surrogatepass"), shortened(text))


def parse_leniently(raw: bytes) -> Any:
    """Return JSON with NaN as null, half surrogate pairs as `?`, a byte-order mark left out.

    Raises:
        ValueError: It is no JSON even so.
        RecursionError: It is nested deeper than Python's stack.
    """
    value = json.loads(raw.decode("utf-8-sig"), parse_constant=lambda _: None)
    return json_value(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def utf8_text(raw: bytes, place: str) -> str:
    """Return UTF-8 bytes as text, without a byte-order mark.

    Raises:
        DataError: They are not UTF-8; the text names the byte.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: {_not_utf8(raw, error)}") from error


def _fault(raw: bytes, error: orjson.JSONDecodeError) -> str:
    """Return what is wrong with bytes that are not JSON, and the repair."""
    if not raw.removeprefix(_BOM).strip():
        return "the file is empty; expected JSON; fetch it again"
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError as unreadable:
        return _not_utf8(raw, unreadable)
    if b"\0" in raw:
        return f"not JSON: it holds null bytes; {likely_form(raw)}"
    first, _, rest = raw.strip().partition(b"\n")
    if rest and first.startswith(b"{") and first.endswith(b"}"):
        return (
            "this is JSON Lines, expected one JSON value: let the name of a file of your own end "
            "in .jsonl; or is it another benchmark's? "
            f"Importers: {', '.join(REGISTRY.names())}"
        )
    if "digits" in str(error):
        return "a whole number of more than 4,300 digits; write it as a text"
    if "depth limit" in str(error) or "nested too deep" in str(error):
        return "not JSON that can be read: it is nested too deep; shorten it"
    if "infinity" in str(error):
        return "a number in it is beyond every float; write a number below 1e308"
    return f"not JSON: {error}; is the file cut or damaged? Mend it, or fetch it again"


def _not_utf8(raw: bytes, error: UnicodeDecodeError) -> str:
    wrong = f"byte 0x{raw[error.start]:02x} at offset {error.start}"
    return f"not UTF-8: {wrong} ({error.reason}); {likely_form(raw)}"


def likely_form(raw: bytes) -> str:
    """Return what bytes look like that are not UTF-8 or hold null bytes, and the repair."""
    if raw.startswith(_UTF16) or _alternates(raw):
        return "it looks like UTF-16: save it as UTF-8"
    if b"\0" in raw:
        return "it looks like no text: is it packed or damaged? Unpack it or fetch it again"
    return "it looks like another encoding: save it as UTF-8"


def _alternates(raw: bytes) -> bool:
    """Tell whether every second byte is null, as in UTF-16 of ASCII, and no other one."""
    return any(
        len(nulls) > 1 and not any(nulls) and all(others)
        for nulls, others in ((raw[::2], raw[1::2]), (raw[1::2], raw[::2]))
    )


def field_of(record: Any, name: str, kind: type[Kind]) -> Kind:
    """Return a field of a record.

    Args:
        record: As read from the file.
        name: Of the field.
        kind: What its value must be; True and False are no numbers.

    Raises:
        DataError: The record is no object, lacks the field, or has a value of another kind.
    """
    if not isinstance(record, dict):
        raise DataError(f"expected an object with {name!r}, got {shortened(record)}")
    if name not in record:
        fields = ", ".join(map(repr, list(record)[:10])) or "none"
        raise DataError(f"the field {name!r} is missing; the record has: {fields}")
    return expect(record[name], kind, name)


def fields(record: Any, **kinds: type[Any]) -> tuple[Any, ...]:
    """Return several fields of a record in the order given.

    Args:
        record: As read from the file.
        **kinds: Name of a field to what its value must be.

    Raises:
        DataError: As of `field`, for the first that is wrong.
    """
    return tuple([field_of(record, name, kind) for name, kind in kinds.items()])


def expect(value: Any, kind: type[Kind], place: object = "", what: str = "") -> Kind:
    """Return a value that must be of a kind.

    Args:
        value: As read from the file.
        kind: What it must be; True and False are no numbers.
        place: What the fault begins with, such as the field's name; empty: nothing.
        what: What was expected, in words; empty: the kind's own.

    Raises:
        DataError: It is of another kind.
    """
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        at = f"{place}: " if place else ""
        raise DataError(f"{at}expected {what or _KINDS[kind]}, got {shortened(value)}")
    return value


def refuse_others(record: Mapping[str, Any], known: Collection[str], place: str) -> None:
    """Refuse a record of gold with a key that is not read: what it asks for would be lost.

    Raises:
        DataError: Names the key and those that are known.
    """
    for key in record:
        if key not in known:
            raise DataError(
                f"{place}: the key {shortened(key)} is not known; it may have: {', '.join(known)}"
            )


def named(known: Mapping[str, Meant], name: Any, kind: str, place: str = "") -> Meant:
    """Return what a name in a record stands for.

    Args:
        known: Name to what it stands for.
        name: As read from the file.
        kind: What was looked for, such as "column".
        place: What the fault begins with; empty: nothing.

    Raises:
        DataError: Nothing has this name; the text has those that there are.
    """
    if not isinstance(name, str) or name not in known:
        at = f"{place}: " if place else ""
        raise DataError(f"{at}{UnknownNameError(kind, str(name), known)}")
    return known[name]


def refuse_deep(record: Any) -> None:
    """Refuse a record that is nested far deeper than what can be written (`seal.core.values`).

    Raises:
        DataError: Names the field, as far as five names or positions lead to it.
    """
    try:
        orjson.dumps(record)  # fast; fails beyond 254 levels
    except TypeError as error:
        if not nested_deeper(record, MAX_DEPTH):  # a whole number of more than 64 bits
            return
        place = _deepest(record, 5)
        raise DataError(
            f"{place}: nested deeper than {MAX_DEPTH} levels; shorten it or remove the record"
        ) from error


def _deepest(value: Any, names: int) -> str:
    """Return the way to what is nested too deep."""
    path: list[str] = []
    while len(path) < names:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        inner = ((key, item) for key, item in items if nested_deeper(item, MAX_DEPTH))
        key, value = next(inner, (None, None))
        if key is None:
            break
        path.append(str(key))
    return ".".join(path) or "record"


def find(source: Path, names: Sequence[str], benchmark: str) -> list[Path]:
    """Return the files of a source that match, sorted; a file that is the source is itself it.

    Args:
        source: File or folder.
        names: Glob patterns of file names, such as "*.json"; folders below are searched too.
        benchmark: For the message.

    Raises:
        DataError: A folder has no such file; the text lists what it holds instead.
    """
    if source.is_file():
        return [source]
    found = {path for name in names for path in source.rglob(name) if path.is_file()}
    if not found:
        raise wrong_source(source, ", ".join(names), benchmark)
    return sorted(found)


def wrong_source(source: Path, expected: str, benchmark: str) -> DataError:
    """Return that a source is not what a benchmark's files are, with what it holds instead."""
    if not source.is_dir():
        held = f"is {kind_of(source)}" if source.exists() else "does not exist"
    else:
        names = sorted(map(_told_entry, source.iterdir()))
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        held = f"holds {', '.join(names[:10]) + more if names else 'nothing'}"
    return DataError(
        f"{source} {held}; {benchmark} expects {expected}: name the folder as upstream publishes it"
    )


def _told_entry(path: Path) -> str:
    """Return the name of a folder's entry, with what it is where that is no file."""
    if path.is_dir():
        return f"{path.name}/"
    return path.name if path.is_file() else f"{path.name} ({kind_of(path)})"


def function_name(text: str) -> str:
    """Return a name that chat servers allow: letters, digits, `_` and `-`, at most 64 of them.

    Anything else becomes one `_`. A longer name keeps its end, under a digest of the whole; where
    nothing is left, the digest is the name.
    """
    name = _FOREIGN.sub("_", text).strip("_")
    if not name:
        return f"unnamed_{digest(text)[:8]}"
    if len(name) <= NAME_LENGTH:
        return name
    return f"{digest(text)[:8]}_{name[-(NAME_LENGTH - 9) :]}"


def tool_id(benchmark: str, tool: str, api: str) -> str:
    """Return `benchmark/tool/api`; slashes within the names become `_`, an empty one `_`."""
    parts = (part.strip().replace("/", "_") or "_" for part in (benchmark, tool, api))
    return "/".join(map(well_formed, parts))


# -- Malformed records of upstream's files: left out, counted and placed while others are sound.
#
# A file of which no record can be used is the wrong file, and ends the import; so does one that is
# missing or cannot be read as a whole.

MALFORMED = "malformed_record"
"""The usual reason to count a record under."""

_Made = TypeVar("_Made")


class FileFault(DataError):
    """A file that records need is missing or unusable; no record of it is to blame."""


class CountedFault(DataError):
    """A record is malformed in a way that is counted under a reason of its own.

    Args:
        reason: To count it under.
        fault: What is wrong.
    """

    def __init__(self, reason: str, fault: str) -> None:
        self.reason = reason
        super().__init__(fault)


class LeftOut(Exception):
    """A sound record is left out.

    Its arguments are the reasons to count it under; without any it is counted elsewhere.
    """


class Reader(Protocol):
    """Yields the records of a file."""

    def __call__(self, path: Path, torn: Torn) -> Iterable[Placed]:
        """Yield the records; of one that cannot be parsed `torn` is told, with its place."""
        ...


def usable(
    path: Path,
    read: Callable[[Any], _Made],
    notes: Notes,
    records: Reader = json_records,
    reason: str = MALFORMED,
) -> Iterator[_Made]:
    """Yield what is read of each record of a file; leave out and count those that are malformed.

    Args:
        path: The file.
        read: Makes something of a record; raises DataError where the record is malformed, and
            `LeftOut` where it is not used.
        notes: Gets the count, and the first places with their faults.
        records: Yields the records.
        reason: To count them under, where a `CountedFault` does not name its own.

    Raises:
        FileFault: `read` raised it.
        DataError: The file cannot be read, or has records and each of them is malformed: the first
            one's fault.
    """
    first: list[DataError] = []

    def leave_out(fault: DataError, under: str = reason) -> None:
        notes.leave_out(under, str(fault).replace(str(path), path.name))
        first.append(fault)
        del first[1:]

    any_used = False
    for place, value in records(path, leave_out):
        try:
            made = read(value)
        except FileFault as error:
            raise FileFault(f"{place}: {error}") from error
        except DataError as error:
            under = error.reason if isinstance(error, CountedFault) else reason
            leave_out(DataError(f"{place}: {error}"), under)
        except LeftOut as reasons:
            any_used = True
            notes.dropped.update(reasons.args)
        else:
            any_used = True
            yield made
    if first and not any_used:
        raise first[0]


def numbered(records: Reader) -> Reader:
    """Return a reader of (position, record), positions from 0; torn records have one too."""

    def with_numbers(path: Path, torn: Torn) -> Iterator[Placed]:
        number = -1

        def passed_over(fault: DataError) -> None:
            nonlocal number
            number += 1
            torn(fault)

        for place, value in records(path, passed_over):
            number += 1
            yield Placed(place, (number, value))

    return with_numbers


def listed(content: Iterable[Any]) -> Reader:
    """Return the reader of records that stand in a list that was read already."""

    def records(path: Path, torn: Torn) -> Iterator[Placed]:
        for number, value in enumerate(content):
            yield Placed(f"{path}, record {number}", value)

    return records


# -- Files in YAML, read as version 1.2 has it, whose core is JSON: what OpenAPI asks for.
#
# PyYAML reads version 1.1, where `no`, `on` and `yes` are truth values, `010` is eight, `1:30` is
# ninety, and a day is a date: a list of countries would lose Norway.

_MOST_LAID_OUT = 1 << 24
"""Characters of a document in which each alias stands for what it names."""
_WEIGHT = 16
"""Characters that a value counts beside its own; a document without an alias has fewer in all."""
_CORE = {
    "null": (re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    "bool": (re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")),
    "int": (re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"), list("-+0123456789")),
    "float": (
        re.compile(
            r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
        list("-+.0123456789"),
    ),
    "merge": (re.compile(r"<<"), ["<"]),
}
"""Tag to the words that mean it without being marked (YAML 1.2, section 10.3), and their begins."""


def yaml_document(path: Path) -> Any:
    """Return the one document of a file.

    Raises:
        DataError: It is no YAML, names a key twice in a map, is nested too deep, or its aliases lay
            out too much.
        UsageError: PyYAML is not installed.
    """
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise UsageError(f"{path}: install PyYAML, or save the document as JSON") from error
    loader = None
    try:
        text = utf8_text(content_of(path), str(path))
        loader = _loader_class()(text)
        node = loader.get_single_node()
        most = max(_MOST_LAID_OUT, _WEIGHT * len(text))
        if _laid_out(node, {}, most) > most:
            raise DataError(
                f"{path}: its aliases lay out more than {most:,} characters, or stand "
                "within what they name; write what they name in its place, or save it as JSON"
            )
        return None if node is None else loader.construct_document(node)
    except RecursionError as error:
        raise DataError(f"{path}: it is nested too deep; save it as JSON") from error
    except yaml.YAMLError as error:
        raise DataError(f"{path}: no YAML: {error}") from error
    except ValueError as error:  # of a number or a date that Python has not
        raise DataError(f"{path}: no YAML: {number_fault(error)}; write it in quotes") from error
    finally:
        if loader is not None:
            loader.dispose()


@cache
def _loader_class() -> Any:
    """Return PyYAML's safe loader with the words of version 1.2, which tells a key named twice."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    class Loader(yaml.SafeLoader):  # type: ignore[misc, unused-ignore]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            known: set[tuple[str, str]] = set()
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if (key.tag, key.value) in known:
                    told = f"the key {shortened(key.value)} stands twice in a map; keep one of them"
                    raise yaml.constructor.ConstructorError(None, None, told, key.start_mark)
                known.add((key.tag, key.value))
            return super().construct_mapping(node, deep)

    Loader.yaml_implicit_resolvers = {}
    for tag, (words, begins) in _CORE.items():
        whole = re.compile(f"(?:{words.pattern})$")
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", whole, begins)
    Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
    return Loader


def _whole_number(loader: Any, node: Any) -> int:
    text = loader.construct_scalar(node)
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _laid_out(node: Any, known: dict[int, int], most: int) -> int:
    """Return how many characters a part of a document is, aliases laid out; at most one too many.

    Args:
        node: As PyYAML composes it: of an alias, the same node as what it names.
        known: Of nodes that were counted; one that is being counted holds itself.
        most: Where the count may end.
    """
    if node is None:
        return 0
    if id(node) not in known:
        known[id(node)] = most + 1
        if isinstance(node.value, str):
            total = len(node.value)
        else:
            pairs = chain.from_iterable(n if isinstance(n, tuple) else (n,) for n in node.value)
            total = sum(_laid_out(inner, known, most) for inner in pairs)
        known[id(node)] = min(total + _WEIGHT, most + 1)
    return known[id(node)]

"""Answers that fit a schema and agree."""

from __future__ import annotations

import hashlib
import json
import math
import string
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from seal.core import JSON, SimulatorError, Tool
from seal.core.schemas import meets, required_names, schema_validator
from seal.core.text import sentences, shipped_json, singular, words
from seal.simulator_cache.shapes import LENGTH, both, listed, resolve, response_schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# -- Writes a plausible answer of a tool that fits its schema; equal calls get equal answers.
#
# A value depends on a seed text and on its place in the answer. So it does not change when another
# part of the schema does. A field that is named like an argument repeats the argument: an answer
# about Oslo names Oslo.

_ATTEMPTS = 8
_ECHO = "x-echo"
"""A keyword of SEAL: the answer repeats the arguments."""


def plausible(tool: Tool, checker: Validator, arguments: Mapping[str, JSON], seed: str) -> Any:
    """Return an answer that a tool's response schema accepts.

    Args:
        tool: That was called.
        checker: Of its response schema (`checker_of`).
        arguments: What the call was given.
        seed: Text that all choices are derived from.

    Raises:
        SimulatorError: The schema admits no answer, or none that was found.
    """
    reason = "no attempt passed its own schema"
    for attempt in range(_ATTEMPTS):
        sparse = attempt >= _ATTEMPTS // 2
        try:
            writer = Writer(checker, arguments, f"{seed}{attempt}", sparse, words(tool.id))
            answer = writer.write()
        except UnsatisfiableError as error:
            reason = str(error)
            continue
        except OverflowError:
            reason = "it has a number of more than 308 digits"
            continue
        if has_no_shape(checker):
            return {**arguments, **answer, **arguments}
        if meets(checker.schema, answer) or checker.is_valid(answer):
            return answer
    raise SimulatorError(
        f"no answer fits the response schema of {tool.id} ({reason}); correct `returns` in"
        " tools.jsonl, or use another simulator: --simulator llm or recorded"
    )


def checker_of(tool: Tool) -> Validator:
    """Return the validator of a tool's answers."""
    return schema_validator(response_schema(tool.returns) or _described(tool))


def has_no_shape(checker: Validator) -> bool:
    """Tell whether a validator is of the answers of a tool without a response shape."""
    return isinstance(checker.schema, dict) and _ECHO in checker.schema


def _described(tool: Tool) -> dict[str, Any]:
    """Return a schema for a tool without a shape: what its words imply, else no result."""
    fields = implied_fields(tool) or {"result": {"type": "null"}}
    return {"type": "object", "properties": fields, _ECHO: True}


_DEEP = 6
"""Below this depth only required fields are written, since schemas may refer to themselves."""
_DEEPEST = 40
_MOST_ITEMS = 3
"""Most elements of a list whose schema asks for no number."""
_IMPLIED = {
    **dict.fromkeys(("properties", "required", "additionalProperties", "minProperties"), "object"),
    **dict.fromkeys(("items", "prefixItems", "minItems", "contains"), "array"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "number"),
    "multipleOf": "number",
}


class UnsatisfiableError(Exception):
    """No value of the schema could be found."""


class Writer:
    """Writes one answer.

    Args:
        checker: Of the whole schema.
        arguments: What the call was given.
        seed: Text that all choices are derived from.
        sparse: True: only what the schema requires.
        about: Words of the tool.
    """

    def __init__(
        self,
        checker: Validator,
        arguments: Mapping[str, Any],
        seed: str,
        sparse: bool = False,
        about: Sequence[str] = (),
    ) -> None:
        self._checker = checker
        self._root = checker.schema
        self._echo = {_plain(name): value for name, value in arguments.items()}
        self._seed = seed
        self._sparse = sparse
        self._given = arguments
        self._about = about

    def write(self) -> Any:
        """Return a value that should satisfy the schema: the caller checks it.

        Raises:
            UnsatisfiableError: There is none, or none was found.
        """
        return self._value(self._root, "", "", 0)

    def _value(self, schema: Any, name: str, path: str, depth: int) -> Any:
        if schema is False or depth > _DEEPEST:
            raise UnsatisfiableError(path or "the answer")
        if schema is True:
            schema = {}
        schema = self._merged(schema, path, 0)
        if "const" in schema:
            return schema["const"]
        echoed = self._echoed(schema, name)
        if echoed:
            return echoed[0]
        if "enum" in schema:
            return self._of_enum(schema, path)
        kind = _kind(schema)
        if kind == "object":
            return self._object(schema, path, depth)
        if kind == "array":
            return self._array(schema, name, path, depth)
        if kind == "string":
            return self._string(schema, name, path)
        if kind in ("integer", "number"):
            return self._number(schema, name, path, kind == "integer")
        return None if kind == "null" else bool(self._draw(path, 2))

    def _merged(self, schema: dict[str, Any], path: str, level: int) -> dict[str, Any]:
        """Return the schema with references followed and one alternative chosen."""
        if level > _DEEPEST:
            raise UnsatisfiableError(path)
        merged = {k: v for k, v in schema.items() if k not in ("$ref", "allOf", "anyOf", "oneOf")}
        parts = [resolve(schema["$ref"], self._root)] if "$ref" in schema else []
        parts += schema.get("allOf", [])
        for keyword in ("anyOf", "oneOf"):
            options = [option for option in schema.get(keyword, []) if option is not False]
            if options:
                parts.append(options[self._draw(f"{path}/{keyword}", len(options))])
            elif keyword in schema:
                raise UnsatisfiableError(path)
        for part in parts:
            if part is False:
                raise UnsatisfiableError(path)
            if part is not True:
                merged = both(merged, self._merged(part, path, level + 1))
        return merged

    def _echoed(self, schema: dict[str, Any], name: str) -> list[Any]:
        """Return the argument of that name as the schema takes it, in a list; empty: none does."""
        given = self._echo.get(_plain(name)) if name else None
        if given is None or _kind(schema) in ("null", "object"):
            return []
        forms = [given] if isinstance(given, str) else [given, json.dumps(given)]
        checker = self._checker.evolve(schema=schema)
        return [form for form in forms if meets(schema, form) or checker.is_valid(form)][:1]

    def _of_enum(self, schema: dict[str, Any], path: str) -> Any:
        rest = self._checker.evolve(schema={k: v for k, v in schema.items() if k != "enum"})
        options = [option for option in schema["enum"] if rest.is_valid(option)]
        if not options:
            raise UnsatisfiableError(path)
        return options[self._draw(path, len(options))]

    def _object(self, schema: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        more = schema.get("additionalProperties", True)
        value = {
            name: self._value(properties.get(name, more), name, f"{path}/{name}", depth + 1)
            for name in self._names(schema, depth)
        }
        agree(properties, value, self._given)
        return value

    def _names(self, schema: dict[str, Any], depth: int) -> list[str]:
        properties = schema.get("properties", {})
        required = list(dict.fromkeys(required_names(schema)))
        is_map = not properties and isinstance(schema.get("additionalProperties"), dict)
        least = int(schema.get("minProperties", 2 if is_map else 0))
        most = schema.get("maxProperties", math.inf)
        invented = [f"field_{number}" for number in range(least)]
        optional = [name for name in (*properties, *invented) if name not in required]
        wanted = len(properties) if not self._sparse and depth < _DEEP else 0
        count = max(0, min(max(wanted, least), most) - len(required))
        names = {*required, *optional[: int(count)]}
        return [name for name in (*properties, *required, *invented) if name in names]

    def _array(self, schema: dict[str, Any], name: str, path: str, depth: int) -> list[Any]:
        first = list(schema.get("prefixItems", []))
        if "contains" in schema:
            first += [schema["contains"]] * schema.get("minContains", 1)
        items = schema.get("items", not schema.get("prefixItems") or {})
        usual = 0 if self._sparse or depth >= _DEEP else 1 + self._draw(path, _MOST_ITEMS)
        count = max(min(int(schema.get(LENGTH, usual)), _MOST_ITEMS), len(first))
        count = max(min(count, schema.get("maxItems", count)), schema.get("minItems", 0))
        if items is False:
            count = min(count, len(first))
        one = singular(name)
        values: list[Any] = []
        for position in range(int(count)):
            item = first[position] if position < len(first) else items
            place = f"{path}/{position}"
            value = self._value(item, one, place, depth + 1)
            for attempt in range(20 * bool(schema.get("uniqueItems"))):
                if value not in values:
                    break
                value = self._value(item, "", f"{place}#{attempt}", depth + 1)
            values.append(value)
        return values

    def _string(self, schema: dict[str, Any], name: str, path: str) -> str:
        examples = [e for e in schema.get("examples", []) if isinstance(e, str)]
        place = "/currency" if _plain(name) == "currency" else path  # one for all prices

        def draw(count: int, salt: str = "", /) -> int:
            return self._draw(f"{path if examples else place}/{salt}", count)

        if "pattern" in schema:
            return self._matching(schema["pattern"], path)
        text = examples[draw(len(examples))] if examples else ""
        if "format" in schema or not examples:
            if schema.get("format") in FORMATS:
                text = FORMATS[schema["format"]](draw)
            elif not examples:
                text = named_text(name, draw, self._about)
        least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
        if len(text) < least:
            text += "abcdefgh"[draw(8)] * (math.ceil(least) - len(text))
        return text if len(text) <= most else text[: int(most)]

    def _matching(self, pattern: str, path: str) -> str:

        step = iter(range(10**9))
        try:
            return string_of(pattern, lambda n: self._draw(f"{path}~{next(step)}", n))
        except ValueError as error:
            raise UnsatisfiableError(f"{path}: {error}") from error

    def _number(self, schema: dict[str, Any], name: str, path: str, whole: bool) -> float:
        low, high = _bounds(schema)
        examples = [e for e in schema.get("examples", []) if isinstance(e, (int, float))]
        if examples:
            whole = whole and isinstance(examples[0], int)
            span = sorted((examples[0] * 0.5, examples[0] * 1.5))
        else:
            span = list(named_range(name))
            if (low, high) == (-math.inf, math.inf):
                span = self._asked(name, *span)
        below, above = max(low, span[0]), min(high, span[1])
        if below > above:
            below, above = (low, min(high, low + 100)) if low > -math.inf else (high - 100, high)
        factor = schema.get("multipleOf", 1 if whole else None)
        if factor is None:
            value = below + (above - below) * self._draw(path, 10_001) / 10_000
            short = round(value, 2)
            value = short if below <= short <= above else value
            return int(value) if _kind(schema) == "integer" else value
        if whole and not float(factor).is_integer():
            factor = math.lcm(*float(factor).as_integer_ratio()[:1])
        return self._multiple(factor, (low, high), (below, above), path)

    def _asked(self, name: str, least: float, most: float) -> list[float]:
        """Return the usual range within what arguments ask for, which may lie beyond it."""
        low, high = self._limit(name, "min", least), self._limit(name, "max", most)
        if low <= high:
            return [low, high]
        return [high - abs(high) / 2, high] if high < most else [low, low + abs(low)]

    def _limit(self, name: str, which: str, usual: float) -> float:
        """Return the limit that an argument such as `max_price` sets, else the usual."""
        said: Any = self._echo.get(which + _plain(name), self._echo.get(_plain(name) + which))
        is_number = isinstance(said, int | float) and not isinstance(said, bool)
        return said if is_number else usual

    def _multiple(
        self, factor: float, bounds: tuple[float, float], usual: tuple[float, float], path: str
    ) -> float:
        least, most = math.ceil(usual[0] / factor), math.floor(usual[1] / factor)
        if least > most:
            least = math.ceil(bounds[0] / factor) if bounds[0] > -math.inf else most
            most = least
        value = (least + self._draw(path, most - least + 1)) * factor
        if not bounds[0] <= value <= bounds[1]:
            raise UnsatisfiableError(path)
        return value

    def _draw(self, path: str, count: int) -> int:
        """Return a number in [0, count) for a place in the answer."""
        found = hashlib.blake2b(f"{self._seed}\n{path}".encode(), digest_size=8).digest()
        return int.from_bytes(found, "big") % count


def _kind(schema: dict[str, Any]) -> str:
    if "type" in schema:
        kinds = listed(schema["type"])
        if not kinds:
            raise UnsatisfiableError("types that exclude each other")
        return kinds[0]
    return next((kind for keyword, kind in _IMPLIED.items() if keyword in schema), "string")


def _bounds(schema: dict[str, Any]) -> tuple[float, float]:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = 1 if _kind(schema) == "integer" else 0.01
    if above is not None and low <= above:
        low = math.floor(above) + 1 if step == 1 else above + _step(above, below, step)
    if below is not None and high >= below:
        high = math.ceil(below) - 1 if step == 1 else below - _step(below, above, step)
    if low > high:
        raise UnsatisfiableError(f"no number from {low} to {high}")
    return low, high


def _step(edge: float, other: float | None, step: float) -> float:
    """Return how far inside an open interval to stay."""
    gap = step if other is None else min(step, abs(other - edge) / 4)
    return max(gap, math.ulp(float(edge)))


def _plain(name: str) -> str:
    return "".join(words(name))


# -- Makes the fields of an answer agree: amounts add up, and later dates are later.
#
# Only fields whose schema leaves the value open are changed.

_SAYS_NOTHING = {"type", "title", "description", "default"}
_EACH = ("unit_price", "price")
_MANY = ("quantity", "qty")
_LINE = ("subtotal", "line_total", "amount", "total")
_SUM = ("subtotal", "total", "total_price", "total_amount", "sum")
_MORE = ("tax", "shipping", "shipping_cost", "fee")
_COUNT = ("count", "total_count", "total_results", "num_results", "total")
_EARLIER = {
    "created",
    "ordered",
    "order",
    "placed",
    "issued",
    "start",
    "departure",
    "begin",
    "from",
}
_LATER = {"updated", "shipped", "delivered", "delivery", "due", "end", "arrival", "until", "to"}


def agree(properties: Mapping[str, Any], value: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Make the fields of one object agree, in place.

    Args:
        properties: Field to its schema.
        value: The object.
        given: The call's arguments; fields of these names stay as they are.
    """
    free = [
        name
        for name, schema in properties.items()
        if name in value and isinstance(schema, dict) and schema.keys() <= _SAYS_NOTHING
        if name not in given
    ]
    numbers = {name: value[name] for name in free if type(value[name]) in (int, float)}
    _multiply(numbers, value)
    _add_up(numbers, value)
    _order(free, value)


def _multiply(numbers: Mapping[str, float], value: dict[str, Any]) -> None:
    """Set a line's amount to its price times its quantity."""
    each, line = _first(_EACH, value), _first(_LINE, numbers)
    many = _first(_MANY, value)
    if each and many and line:
        _put(value, line, value[each] * value[many])


def _add_up(numbers: Mapping[str, float], value: dict[str, Any]) -> None:
    """Set a sum to that of the lines and extra costs; if lines have no prices, set their count."""
    lists = [one for one in value.values() if isinstance(one, list) and one]
    lines = lists[0] if len(lists) == 1 and all(isinstance(o, dict) for o in lists[0]) else []
    amounts = [_amount(one) for one in lines]
    sums = [name for name in _SUM if name in numbers]
    if amounts and None not in amounts:
        total = sum(amount for amount in amounts if amount is not None)
        for name in sums:
            more = 0 if name == "subtotal" else sum(value[m] for m in _MORE if m in numbers)
            _put(value, name, total + more)
    elif lines:
        for name in _COUNT:
            if name in numbers:
                value[name] = len(lines)


def _amount(line: Mapping[str, Any]) -> float | None:
    each, many = _first(_EACH, line), _first(_MANY, line)
    whole = _first(_LINE, line)
    if whole:
        return float(line[whole])
    return None if each is None else line[each] * (line[many] if many else 1)


def _order(free: list[str], value: dict[str, Any]) -> None:
    """Exchange dates and times so that no end lies before its beginning."""
    for early in free:
        for late in free:
            said, then = words(early), words(late)
            pair = {*said} & _EARLIER and {*then} & _LATER and said[-1:] == then[-1:]
            both = value[early], value[late]
            if pair and all(isinstance(one, str) for one in both) and both[0] > both[1]:
                value[early], value[late] = both[1], both[0]


def _first(names: tuple[str, ...], value: Mapping[str, Any]) -> str | None:
    return next((name for name in names if type(value.get(name)) in (int, float)), None)


def _put(value: dict[str, Any], name: str, amount: float) -> None:
    value[name] = round(amount) if type(value[name]) is int else round(amount, 2)


# -- A string that a simple regular expression accepts.

_SETS = {
    "d": string.digits,
    "w": string.ascii_lowercase + string.digits,
    "s": " ",
    "D": string.ascii_lowercase,
    "W": "-",
    "S": string.ascii_lowercase + string.digits,
}


_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}


_REPEATS = {"*": (0, 3), "+": (1, 3), "?": (0, 1)}


_MOST = 1000
"""Characters of an expression, of a string, and repeats: more is refused."""


def string_of(pattern: str, draw: Callable[[int], int]) -> str:
    """Return a string that the expression finds itself in.

    Literals, classes, groups, alternatives and repeats are understood; anchors are passed over.

    Args:
        pattern: A regular expression.
        draw: Takes n, gives an integer in [0, n).

    Raises:
        ValueError: The expression has something else in it: a look-around, a back-reference.
    """
    if len(pattern) > _MOST // 2:
        raise ValueError(f"an expression of {len(pattern)} characters")
    sampler = _Sampler(pattern, draw)
    text = sampler.alternatives()
    if sampler.rest():
        raise ValueError(f"{pattern!r}: unexpected {sampler.rest()!r}")
    return text


class _Sampler:
    """Recursive descent over the expression; each rule returns the text that it chose."""

    def __init__(self, pattern: str, draw: Callable[[int], int]) -> None:
        self._pattern = pattern
        self._at = 0
        self._size = 0
        self._draw = draw

    def rest(self) -> str:
        return self._pattern[self._at :]

    def alternatives(self) -> str:
        choices = [self._sequence()]
        while self._skip("|"):
            choices.append(self._sequence())
        return choices[self._draw(len(choices))]

    def _sequence(self) -> str:
        parts = []
        while self.rest() and self.rest()[0] not in "|)":
            start = self._at
            piece = self._atom()
            end = self._at
            low, high = self._repeat()
            after = self._at
            for _ in range(low + self._draw(high - low + 1)):
                self._at = start
                piece = self._atom()
                if self._at != end:
                    raise ValueError(f"{self._pattern!r}: cannot be read twice")
                parts.append(piece)
                self._size += 1 + len(piece)
                if self._size > 10 * _MOST:
                    raise ValueError(f"{self._pattern!r} gives too long a string")
            self._at = after
        return "".join(parts)

    def _atom(self) -> str:
        character = self._take()
        if character in "^$":
            return ""
        if character == "(":
            return self._group()
        if character == "[":
            return self._one_of(self._class())
        if character == "\\":
            return self._one_of(self._escape())
        return self._one_of(string.ascii_lowercase) if character == "." else character

    def _group(self) -> str:
        if self._skip("?") and not self._skip(":"):
            raise ValueError(f"{self._pattern!r}: only plain groups are understood")
        text = self.alternatives()
        if not self._skip(")"):
            raise ValueError(f"{self._pattern!r}: a group is not closed")
        return text

    def _class(self) -> str:
        negated = self._skip("^")
        members = "]" if self._skip("]") else ""
        while not self._skip("]"):
            first = self._take()
            if first == "\\":
                members += self._escape()
            elif self.rest()[:1] == "-" and self.rest()[1:2] not in ("]", ""):
                self._take()
                members += "".join(map(chr, range(ord(first), ord(self._take()) + 1)))
            else:
                members += first
        if not negated:
            return members
        return "".join(c for c in string.ascii_letters + string.digits if c not in members)

    def _escape(self) -> str:
        character = self._take()
        if character in "bB":
            return ""
        if character in _SETS:
            return _SETS[character]
        if character.isalnum() and character not in _CONTROLS:
            raise ValueError(f"{self._pattern!r}: \\{character} is not understood")
        return _CONTROLS.get(character, character)

    def _repeat(self) -> tuple[int, int]:
        low, high = 1, 1
        if self.rest()[:1] in _REPEATS:
            low, high = _REPEATS[self._take()]
        elif self.rest()[:1] == "{":
            low, high = self._counts()
        else:
            return low, high
        self._skip("?")
        if not low <= high <= _MOST:
            raise ValueError(f"{self._pattern!r}: repeats {low} to {high} times")
        return low, high

    def _counts(self) -> tuple[int, int]:
        inside, closed, _ = self.rest()[1:].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not low.isdecimal() or (high and not high.isdecimal()):
            raise ValueError(f"{self._pattern!r}: {{{inside}}} is no repeat")
        self._at += len(inside) + 2
        least = int(low)
        return least, int(high) if high else least + 3 * bool(comma)

    def _one_of(self, characters: str) -> str:
        return characters[self._draw(len(characters))] if characters else ""

    def _skip(self, token: str) -> bool:
        found = self.rest().startswith(token)
        self._at += len(token) * found
        return found

    def _take(self) -> str:
        if not self.rest():
            raise ValueError(f"{self._pattern!r} ends too early")
        self._at += 1
        return self._pattern[self._at - 1]


# -- Texts and ranges that suit a field's name or a JSON Schema format.


class SeededChoice(Protocol):
    """Chooses: the same count and salt give the same number."""

    def __call__(self, count: int, salt: str = "", /) -> int:
        """Return a number in [0, count)."""
        ...


def vocabulary() -> dict[str, Any]:
    """Return words, usual values and ranges."""
    found: dict[str, Any] = shipped_json("seal.simulator_cache", "words.json")
    return found


def named_range(name: str) -> tuple[float, float]:
    """Return the least and the greatest usual number of a field, such as 0 and 23 for `hour`."""
    ranges = vocabulary()["ranges"]
    found = next((ranges[word] for word in reversed(words(name)) if word in ranges), (1, 100))
    return found[0], found[1]


def named_text(name: str, draw: SeededChoice, about: Sequence[str] = ()) -> str:
    """Return a text that suits a field's name; its last telling word decides.

    Args:
        name: Of the field.
        draw: Chooses.
        about: Words of the tool, which tell whose status it is.
    """
    parts, known = words(name), vocabulary()
    if "status" in parts:
        for word in reversed([*about, *parts]):
            if singular(word) in known["statuses"]:
                return _one(known["statuses"][singular(word)], draw)
    for word in reversed(parts):
        if word in known["texts"]:
            return _one(known["texts"][word], draw)
        if word in _MADE:
            return _MADE[word](draw)
    for word in reversed(parts):
        if word in known["generic"]:
            return _one(known["generic"][word], draw)
    if parts and parts[-1] in known["things"]:
        return f"{parts[-1]} {1 + draw(999)}"
    plain = known["plain"]
    return f"{plain[draw(len(plain))]} {plain[draw(len(plain), 'second')]}"


def _one(options: Sequence[str], draw: SeededChoice) -> str:
    return str(options[draw(len(options))])


def _date(draw: SeededChoice) -> str:
    return f"2024-{1 + draw(12, 'month'):02d}-{1 + draw(28, 'day'):02d}"


def _time(draw: SeededChoice) -> str:
    return f"{draw(24, 'hour'):02d}:{draw(60, 'minute'):02d}:00"


def _hex(draw: SeededChoice, digits: int = 8) -> str:
    return f"{draw(16**digits, 'hex'):0{digits}x}"


def _url(draw: SeededChoice) -> str:
    return f"https://www.example.org/{_hex(draw)}"


def _email(draw: SeededChoice) -> str:
    return f"{vocabulary()['plain'][draw(8, 'user')]}@example.org"


def _uuid(draw: SeededChoice) -> str:
    return f"{_hex(draw)}-0000-4000-8000-{draw(16**12, 'tail'):012x}"


FORMATS: dict[str, Callable[[SeededChoice], str]] = {
    "date": _date,
    "time": lambda draw: _time(draw) + "Z",
    "date-time": lambda draw: f"{_date(draw)}T{_time(draw)}Z",
    "email": _email,
    "uri": _url,
    "url": _url,
    "uuid": _uuid,
    "hostname": lambda draw: f"{_hex(draw)}.example.org",
    "ipv4": lambda draw: f"192.0.2.{1 + draw(254)}",
    "ipv6": lambda draw: f"2001:db8::{_hex(draw, 4)}",
}

_MADE: dict[str, Callable[[SeededChoice], str]] = {
    **dict.fromkeys(("url", "link", "uri", "href", "image", "img", "thumbnail"), _url),
    **dict.fromkeys(("id", "uuid", "key", "token", "hash", "code", "sku"), _hex),
    **dict.fromkeys(("date", "created", "updated", "published"), _date),
    "time": _time,
    "timestamp": lambda draw: f"{_date(draw)}T{_time(draw)}Z",
    "email": _email,
    "phone": lambda draw: f"+1-555-01{draw(100):02d}",
    "year": lambda draw: str(1990 + draw(35)),
    "price": lambda draw: f"{5 + draw(49500, 'cents') / 100:.2f}",
    "rating": lambda draw: f"{1 + draw(41) / 10:.1f}",
    "ip": lambda draw: f"192.0.2.{1 + draw(254)}",
}


# -- The fields that the words of a tool imply for its answer, if it has no response shape.
#
# The words are those of its name, else of the first sentence about its answer. A verb of change
# (`cancel_order`) implies a status. A thing (`get_order`) implies the fields of such things, and
# several things (`list_prices`) imply a list.

_BOOLEANS = {"boolean", "bool", "true", "false", "whether"}
_NUMBERS = {"number", "integer", "int", "float", "amount", "count", "balance"}
_QUESTIONS = ("is", "has", "can", "validate", "verify")
_COMPUTES = ("convert", "calculate", "compute", "estimate", "translate", "sum", "multiply")
"""Verbs of tools that compute their answer by a rule which the words do not tell."""
_MAKERS = ("created", "added", "booked", "scheduled", "reserved", "placed", "registered", "opened")
_READ = {"detail", "details", "info", "status", "search", "list", "history", "lookup", "statistics"}
"""Last words of a name whose first word is no verb: `order_status`."""
_BY = ("by", "for", "of", "from", "in", "at", "with")
_BARE = 2
"""A thing with at most so many fields, such as a price, belongs to a named thing in a list."""
_WHOLE = {"year", "humidity", "quantity", "count", "age", "volume", "duration", "population"}


def implied_fields(tool: Tool) -> dict[str, Any]:
    """Return field to JSON Schema of the answer of a tool without a shape.

    Empty: neither its name nor its description says what it returns.
    """
    prose = tool.returns if isinstance(tool.returns, str) else tool.description
    told = words(next(iter(sentences(prose)), ""))
    if isinstance(tool.returns, str) and _BOOLEANS & {*told}:
        return {"result": {"type": "boolean"}}
    verb, *nouns = words(tool.name) or [""]
    done = vocabulary()["changes"].get(verb)
    if done is not None and nouns and nouns[-1] not in _READ:
        made = {f"{nouns[-1]}_id": {"type": "string"}} if done in _MAKERS else {}
        return {**made, "status": {"const": done}}
    if verb in _QUESTIONS:
        return {"result": {"type": "boolean"}}
    if verb in _COMPUTES:
        return {}
    things = vocabulary()["things"]
    first = next((i for i, word in enumerate(nouns) if word in _BY), len(nouns))
    for said in ([verb, *nouns[:first]], nouns[first:]):
        fields = _of_nouns(said, things)
        if fields:
            return fields
    named = {"result": {"type": "number"}} if _NUMBERS & {*told} else {}
    return (
        _of_nouns(told, {name: things[name] for name in things if len(things[name]) > 1}) or named
    )


def _of_nouns(nouns: list[str], things: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the fields of the last noun that is known."""
    for noun in reversed(nouns):
        one = singular(noun)
        if one not in things:
            continue
        fields = {name: {"type": _kind_of(name)} for name in things[one]}
        if one == noun:
            return fields
        label = "name" if len(fields) <= _BARE else f"{one}_id"
        named = {} if {"name", "title", label} & {*fields} else {label: {"type": "string"}}
        item = {"type": "object", "properties": {**named, **fields}}
        return {noun: {"type": "array", "minItems": 2, "items": item}}
    return {}


def _kind_of(name: str) -> str:
    if name in _WHOLE:
        return "integer"
    is_number = {words(name)[-1]} & (_NUMBERS | vocabulary()["ranges"].keys())
    return "number" if is_number else "string"

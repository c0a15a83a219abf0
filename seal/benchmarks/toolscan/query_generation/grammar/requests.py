"""Requests for calls in words: `max_height_cm` 50 is "at most 50 cm in height"."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from seal.benchmarks.toolscan.query_generation.texts import told
from seal.core import JSON, Tool
from seal.core.english import MONTHS
from seal.core.package_data import shipped_json
from seal.core.statements import Sense, states
from seal.core.text import sentences, split_identifiers, words

TEXTS = shipped_json(__package__, "constraints.json")
IMPERATIVES = frozenset(TEXTS["verbs"].split())
"""Verbs, in their base form, with which a request may begin."""
_WORDS = shipped_json(__package__, "arguments.json")

_SPANS = (
    ("from", "to"),
    ("start", "end"),
    ("min", "max"),
    ("begin", "end"),
    ("origin", "destination"),
)
_ENDS = frozenset(word for span in _SPANS for word in span)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LONG = 5
"""Words from which on a text is set in quotes."""
_HEAD = 18
"""Words of a tool's description that are taken at most."""
_LIMITS = (["limit"], ["top"], ["count"], ["num", "results"], ["max", "results"], ["top", "n"])
"""Names of the argument that says how many results there may be."""

_ASIDE = re.compile(r"\(.*?\)")
_PREFACE = re.compile(
    r"(?:(?:this|the) (?:function|api|endpoint|tool|method|action|service)s?\s+|used to\s+)"
    r"(?:(?:is|can be|are) used (?:to|for)\s+|(?:allows|enables|lets) (?:you|users?)(?: to)?\s+"
    r"|helps (?:you )?(?:to )?|will\s+|can\s+)?",
    re.IGNORECASE,
)
"""The part of a description that says only that a tool is a tool."""
_BY_ARGUMENTS = re.compile(
    r"[:;]|,? (?:where|based on|given|using|with the (?:given|specified)"
    r"|for (?:the|a) (?:given|specified)|for a specific|by specifying|according to|by providing"
    r"|by its|by their)\b",
    re.IGNORECASE,
)
"""Where a description begins to tell of the arguments, which the request lists itself."""
_OPEN = frozenset("than of from to in on at by for with and or a an the are is".split())  # noqa: SIM905


class Worded(NamedTuple):
    """A text with the name of its frame."""

    text: str
    frame: str


def framed(frames: Sequence[str], name: str, chance: random.Random, **parts: str) -> Worded:
    """Return one of some frames with its parts filled in."""
    place = chance.randrange(len(frames))
    return Worded(frames[place].format(**parts), f"{name}{place}")


def request(
    tool: Tool, arguments: Mapping[str, JSON], chance: random.Random, again: bool = False
) -> Worded:
    """Return the words that ask for a call.

    Args:
        tool: The tool.
        arguments: What is stated.
        chance: Draws the frame.
        again: Another tool was asked for just before.
    """
    head, is_verb = head_of(tool)
    kind = "again" if again else "verb" if is_verb else "noun"
    place = chance.randrange(len(TEXTS["heads"][kind]))
    how = chance.randrange(len(TEXTS["lists"]))
    listed = joined(phrases(arguments, chance))
    asking = head if is_verb else f"find {head}"
    opening = TEXTS["heads"][kind][place].format(head=head, verb=asking)
    first = listed[:1].upper() + listed[1:]
    text = f"{opening} {TEXTS['lists'][how].format(listed=listed, first=first)}"
    missing = [n for n, v in arguments.items() if not states(text, v, Sense(n))]
    if missing:
        text = f"{text} ({joined([f'{noun_of(n)} {told(arguments[n])}' for n in missing])})"
    return Worded(text, f"{kind}{place}/{how}")


def head_of(tool: Tool) -> tuple[str, bool]:
    """Return what a tool does in its own words, and whether they begin with an imperative.

    It is the first clause of the description, without an ending mark. The words of the name stand
    in if that is empty, too short or too long. The first letter is small unless it begins a name.
    """
    text = _ASIDE.sub("", next(iter(sentences(tool.description)), "").strip())
    text = _PREFACE.sub("", text, count=1)
    said = _trimmed(_BY_ARGUMENTS.split(text, maxsplit=1)[0])
    if said.rpartition(" ")[2] in _OPEN:
        said = _trimmed(text)
    if not 2 <= len(said.split()) <= _HEAD:
        said = " ".join(words(tool.name))
    first, _, rest = said.partition(" ")
    base = _base(first.lower())
    noun = rest.split(" ")[0] in TEXTS["nouns_before"].split() and base not in ("search", "look")
    if base in IMPERATIVES and not noun:
        return f"{base} {rest}".strip(), True
    small = first if len(first) > 1 and first[1:] != first[1:].lower() else first.lower()
    return f"{small} {rest}".strip(), False


def _trimmed(text: str) -> str:
    return " ".join(text.split()).rstrip(".!?,;: ")


def _base(verb: str) -> str:
    """Return a verb in the third person as its base form; others as they are."""
    forms = (verb, verb.removesuffix("s"), verb.removesuffix("es"), re.sub("ies$", "y", verb))
    return next((form for form in forms if form in IMPERATIVES), verb)


def joined(parts: Sequence[str]) -> str:
    """Return an enumeration."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def phrases(arguments: Mapping[str, JSON], chance: random.Random) -> list[str]:
    """Return a phrase for each argument, or for two that bound a span; each states its values.

    Args:
        arguments: Name to value.
        chance: Of forms of dates.
    """
    return list(_phrases(dict(arguments), chance.random() < 0.7))


def _phrases(left: dict[str, JSON], written_out: bool) -> Iterator[str]:
    while left:
        name = next(iter(left))
        value = left.pop(name)
        other = _other_end(name, left)
        if other is not None and not isinstance(value, (dict, list, bool)):
            yield _span(name, value, left.pop(other), written_out)
        else:
            yield _phrase(name, value, written_out)


def _other_end(name: str, left: Mapping[str, JSON]) -> str | None:
    """Return the argument that ends the span which this one begins; None: there is none."""
    said = words(name)
    for begin, end in _SPANS:
        if begin in said:
            wanted = [end if word == begin else word for word in said]
            return next((other for other in left if words(other) == wanted), None)
    return None


def _span(name: str, begin: JSON, end: JSON, written_out: bool) -> str:
    noun = [word for word in words(name) if word not in _ENDS]
    if begin == end:
        return _phrase(" ".join(noun) or name, begin, written_out)
    span = f"from {spoken(begin, written_out)} to {spoken(end, written_out)}"
    if isinstance(begin, str) or noun in ([], ["year"]):
        return span
    return f"{_without_unit(noun)} {span}{_unit(noun)}".strip()


def spoken(value: JSON, written_out: bool = True) -> str:
    """Return a value in the words of a request: dates written out, long texts in quotes."""
    if isinstance(value, str):
        if written_out and _DATE.fullmatch(value):
            return _day(value)
        return f'"{value}"' if len(value.split()) >= _LONG and '"' not in value else value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return told(value)


def _day(value: str) -> str:
    try:
        day = datetime.date.fromisoformat(value)
    except ValueError:
        return value
    return f"{day.day} {MONTHS[day.month - 1].title()} {day.year}"


def noun_of(name: str) -> str:
    """Return an argument's name as words."""
    return _nouns(words(split_identifiers(name))) or name


def named(name: str, value: JSON) -> str:
    """Return an argument's name with its value, never the value alone."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _amount(words(name), value, spoken(value))
    return f"{noun_of(name)} {spoken(value)}"


def field_of(name: str) -> str:
    """Return a field's name as words, without the unit at its end."""
    return _without_unit(words(split_identifiers(name))) or noun_of(name)


def _phrase(name: str, value: JSON, written_out: bool) -> str:
    said = words(name)
    if isinstance(value, bool):
        return _truth(said, value)
    text = spoken(value, written_out)
    if isinstance(value, (int, float)):
        return _amount(said, value, text)
    if isinstance(value, str) and said:
        before = _WORDS["before"].get(said[-1] if len(said) < 3 else " ".join(said))
        a_day = said[-1] in ("date", "day", "time") and not any(c.isdigit() for c in value)
        a_code = said[-1] in ("language", "currency", "unit", "units") and not value.isalpha()
        if before and not a_day and not a_code:
            first = [word for word in said[:-1] if word not in ("the", "target")]
            template = before[0 if not first or len(before) == 1 else 1]
            return str(template).format(value=text, noun=noun_of(name))
    return f"{noun_of(name)} {text}"


def _truth(said: list[str], value: bool) -> str:
    """Return what is switched on or off; a word of the name is always in it."""
    if said[:1] == ["is"] and len(said) > 1:
        return f"{'' if value else 'not '}{' '.join(said[1:])}"
    if said[:1] in (["include"], ["with"], ["has"], ["show"], ["return"], ["get"]) and said[1:]:
        return f"{'with' if value else 'without'} the {' '.join(said[1:])}"
    if len(said) == 1 and said[0].endswith(("ed", "able", "ible", "only", "free")):
        return said[0] if value else f"not {said[0]}"
    if said[-1:] == ["only"] and len(said) > 1:
        return " ".join(said) if value else f"not necessarily {' '.join(said[:-1])}"
    if len(said) == 1 or said[:1] == ["no"] or said[0] in IMPERATIVES or said[0] == "consider":
        return f"{' '.join(said)}: {'yes' if value else 'no'}"
    return f"{'with' if value else 'without'} {' '.join(said)}"


def _amount(said: list[str], value: int | float, text: str) -> str:
    unit, noun = _unit(said), _without_unit(said)
    if said and said[-1] == "year" and isinstance(value, int) and 1000 < value < 3000:
        return f"in {text}" if len(said) == 1 else f"{noun} {text}"
    if said == ["month"] and isinstance(value, int) and 1 <= value <= 12:
        return f"in {MONTHS[value - 1].title()}"
    for marks, words_of in ((("max", "maximum"), "at most"), (("min", "minimum"), "at least")):
        if any(mark in said for mark in marks):
            rest = " ".join(word for word in noun.split() if word not in marks)
            return f"{rest} {words_of} {text}{unit}" if rest else f"{words_of} {text}{unit}"
    if said in _LIMITS:
        return f"no more than {text} results"
    if not noun and unit:
        return f"for {text}{unit.removesuffix('s') if value == 1 else unit}"
    return f"{noun} {text}{unit}"


def _unit(said: list[str]) -> str:
    unit = _WORDS["units"].get(said[-1]) if said else None
    return f" {unit}" if unit else ""


def _without_unit(said: list[str]) -> str:
    return _nouns(said[:-1] if _unit(said) else said)


def _nouns(said: list[str]) -> str:
    return " ".join(_WORDS["nouns"].get(word, word) for word in said)

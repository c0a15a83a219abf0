"""Texts: words and sentences, what is safe to print, and those that ship with code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

from seal.core.values import json_value

# -- Words of natural language and of identifiers.

CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Kana and Chinese characters, which are written without blanks, as part of a regex class."""
HANGUL = r"\uac00-\ud7af"
"""Korean syllables, likewise; Korean sets blanks between words."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z][A-Z])(?=[A-Z][a-z]{2})")
"""As `_CAMEL`, but a lone capital stays with what follows: IPv6|Address, OAuth2|Token."""
_SIGNED = r"(?<![^\W_])[A-Za-z](?:\+\+|#)(?![+#])"
"""A letter whose signs are part of its name: C++ and C#, but not the C of C+++ or C##."""
_WORD = re.compile(rf"{_SIGNED}|[^\W_]+")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200c\u200d\u2060\ufeff"))
"""Characters that show nothing and end no word."""
_CJK = re.compile(f"[{CJK}]")
_UNSPACED = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
"""Scripts that set no blanks between words, by their names in Unicode."""
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\b[MDS][rst]\.)(?<!\bMrs\.)(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+"
    r"|(?<=[。！？])(?![。！？”’」』）])\s*|(?<=[。！？][”’」』）])\s*|\n+"
)
_BULLET = re.compile(
    r"^\s*(?:(?:step\s+)?\(?\d{1,3}[.):](?!\d)|step\s+\d{1,3}\b|[-*•–](?![\d*]))\s*", re.IGNORECASE
)
_VERBS = (
    "find|get|give|show|tell|list|search|fetch|provide|check|book|look|suggest|recommend|convert"
    "|calculate|send|set|add|create|play|order|retrieve|translate|identify|compare|help|please|can"
    "|could|i'd|i would|i need|i want|what|which|how|who|when|where"
)
_CLAUSE = re.compile(
    r"(,?(?<!\s)\s++"
    r"(?:and then|and also|then|also|additionally|furthermore|moreover|plus|as well as)\s+"
    rf"|;\s+(?:and\s+)?(?:then\s+)?|,\s+and\s+|(?<!\s)\s++and\s+(?=(?:{_VERBS})\b)"
    r"|；\s*|，\s*(?:然后|并且|并|还有|同时|另外|以及))",
    re.IGNORECASE,
)


def counted(count: float, noun: str) -> str:
    """Return a number with what it counts: `1 query`, `2,000 queries`."""
    several = f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else several}"


def goal_name(place: int, goals: int = 1) -> str:
    """Return what people call a goal: `goal 1`, or `goal 1 of 3`.

    Args:
        place: From 0, as files have it.
        goals: Of its task; 1 also where it is not known.
    """
    return f"goal {place + 1} of {goals}" if goals > 1 else f"goal {place + 1}"


def split_identifiers(text: str) -> str:
    """Return the text with camelCase and snake_case identifiers split into words."""
    return _CAMEL.sub(" ", text).replace("_", " ")


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text, identifiers split, in order.

    A mark, such as a vowel sign of Hindi, belongs to its letter, and what Unicode holds for the
    same, such as full-width letters, is the same. Sources: Unicode, UAX 15 (NFKC), UAX 29 (rule
    WB4). Unlike the other rules there, an apostrophe and a decimal point part words.
    """
    if text.isascii():
        return _WORD.findall(split_identifiers(text).lower())
    return [word.lower() for word in _patterns().word.findall(split_identifiers(composed(text)))]


class Terms(NamedTuple):
    """What search looks for in a text: terms in lower case, with repetitions."""

    words: list[str]
    """As `words` has them, in order; of scripts without blanks, pairs of letters that touch."""
    single: list[str]
    """The same with single letters of such scripts, for who pairs neighbours."""
    wholes: list[str]
    """Identifiers whole beside their parts: `youtube` of YouTube."""


def terms(text: str) -> Terms:
    """Return what search looks for in a text.

    Where no blanks part words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), pairs of letters
    stand for them: a list of words would not know names.
    """
    if text.isascii():
        plain = words(text)
        return Terms(plain, plain, list(_wholes(_WORD.findall(text))))
    text = composed(text)
    found: list[str] = []
    single: list[str] = []
    for match in _patterns().term.finditer(split_identifiers(text)):
        word = match.group().lower()
        letters = _patterns().letter.findall(word) if match["unspaced"] else [word]
        found += map("".join, pairwise(letters)) if len(letters) > 1 else letters
        single += letters
    return Terms(found, single, list(_wholes(_patterns().word.findall(text))))


def composed(text: str) -> str:
    """Return a text as its words are compared: NFKC, without invisible characters."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).translate(_INVISIBLE)


def _wholes(found: Iterable[str]) -> Iterator[str]:
    """Yield identifiers of several parts whole, and their parts that hold a lone capital."""
    for word in found:
        if word.islower() or word[1:].islower():
            continue
        parts = _CAMEL.split(word)
        if len(parts) > 1:
            yield word.lower()
            small, larger = set(parts), _CAPITALS.split(word)
            if 1 < len(larger) < len(parts):
                yield from (part.lower() for part in larger if part not in small)


class _Patterns(NamedTuple):
    """Regexes of texts beyond ASCII; their library loads slowly."""

    word: Any
    term: Any
    """As `word`, but what is written without blanks is one of its own, in the group `unspaced`."""
    letter: Any
    """With its marks."""


@cache
def _patterns() -> _Patterns:
    import regex

    letter, mark = r"[\p{L}\p{N}]", r"\p{M}"
    scripts = "".join(rf"\p{{Script_Extensions={name}}}" for name in _UNSPACED)
    unspaced = f"[{letter}&&[{scripts}]]"
    spaced = rf"[{letter}--{unspaced}]"
    patterns = (
        rf"{_SIGNED}|{letter}[{letter}{mark}]*",
        rf"{_SIGNED}|(?P<unspaced>{unspaced}[{unspaced}{mark}]*)|{spaced}[{spaced}{mark}]*",
        rf"{letter}{mark}*",
    )
    return _Patterns(*(regex.compile(pattern, regex.V1) for pattern in patterns))


def word_list(name: str) -> frozenset[str]:
    """Return the words of `words/NAME.txt`, which blanks and line breaks part."""
    return shipped_words(__package__, f"words/{name}.txt")


@cache
def countries() -> Mapping[str, list[str]]:
    """Return what is named by adjectives of countries and codes of phone numbers: their names."""
    found = dict[str, list[str]]()
    for one in re.split("[;\n]", shipped_text(__package__, "words/countries.txt").strip()):
        name, adjective, code = one.split()
        for key in (adjective, code):
            found.setdefault(key, ["country"]).append(name)
    return found


@cache
def places() -> Mapping[str, list[str]]:
    """Return what an airport's code, or a city's short name, names: the words of the city."""
    told = re.split("[;\n]", shipped_text(__package__, "words/places.txt").strip())
    return {short: city for short, *city in map(str.split, told)}


@cache
def _roles() -> Mapping[str, frozenset[str]]:
    lines = shipped_text(__package__, "words/roles.txt").splitlines()
    return {
        role: frozenset(listed.split()) for role, _, listed in (s.partition(":") for s in lines)
    }


@cache
def role(*names: str) -> frozenset[str]:
    """Return the English words that have one of some roles (`words/roles.txt`)."""
    return frozenset().union(*(_roles()[name] for name in names))


class DeedForms(NamedTuple):
    """The English verbs of deeds with an effect."""

    base: Mapping[str, str]
    """Base form to the kind of the deed."""
    past: Mapping[str, tuple[str, str]]
    """Past form or participle to the kind of the deed and the base form."""
    tools: Mapping[str, frozenset[str]]
    """Word of a tool's name to the kinds of what the tool may do: also `read` and `any`."""
    nouns: Mapping[str, str]
    """Noun of a deed to its kind: a "booking" that is made."""


@cache
def deed_forms() -> DeedForms:
    """Return the verbs of deeds: `words/deeds.txt`.

    Behind them stand further words of tools' names, and nouns.
    """
    base: dict[str, str] = {}
    past: dict[str, tuple[str, str]] = {}
    tools: dict[str, frozenset[str]] = {}
    nouns: dict[str, str] = {}
    for line in shipped_text(__package__, "words/deeds.txt").splitlines():
        kind, _, listed = line.partition(":")
        verbs, words_of_tools, named = (*listed.split(";"), "", "")[:3]
        for first, *others in (verb.split("/") for verb in verbs.split()):
            base[first] = kind
            past |= dict.fromkeys(others, (kind, first))
        for word in (*(verb.partition("/")[0] for verb in verbs.split()), *words_of_tools.split()):
            tools[word] = tools.get(word, frozenset()) | {kind}
        nouns |= dict.fromkeys(named.split(), kind)
    return DeedForms(base, past, tools, nouns)


def deeds_of(tool: str) -> set[str]:
    """Return the kinds of deeds that a tool does by its name, `read` for one that only looks.

    What stands behind its first verb is done to, up to the next "and" or "or": `add_contact` adds.
    """
    found: set[str] = set()
    is_named = False
    for word, behind in pairwise([*words(tool), ""]):
        is_known = not is_named and (word, behind) not in _STAYS
        kinds = deed_forms().tools.get(word, frozenset()) if is_known else frozenset()
        is_named = (is_named or bool(kinds)) and word not in ("and", "or")
        found |= {"read"} if "read" in kinds else kinds
    return found


def only_looks(tool: str, description: str) -> bool:
    """Tell whether a tool only looks: by its name, or as its description begins.

    A name may look like a deed's: `book_status` of a library.

    >>> only_looks("book_status", "Look up the state of a book.")
    True
    """
    if deeds_of(tool) == {"read"}:
        return True
    said, base = words(description.partition(".")[0][:_OPENING]), deed_forms().base
    looks = said[:1] and said[0].removesuffix("s") in role("look") and (*said[:2],) not in _STAYS
    # "Find orders" looks; "Find flights and books them" does not.
    acts = (at for at, word in enumerate(said) if at > 1 and not _forms(word).isdisjoint(base))
    return bool(looks) and all(said[at - 1] in _BEFORE_NOUNS for at in acts)


def _forms(word: str) -> set[str]:
    return {word, word.removesuffix("s")}


_OPENING = 200
"""Characters in which a description begins to say what a tool does."""
_BEFORE_NOUNS = frozenset(["a", "an", "the", "of", "its", "your", "this"])
_STAYS = (("check", "in"), ("check", "out"))
"""Words of tools that look at nothing."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without empty ones.

    A line break ends a sentence too; common English abbreviations (Dr., e.g.) do not.
    """
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def plan_steps(text: str) -> list[str]:
    """Return the lines of a plan without bullets, numbers, and lines that have no word."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if _WORD.search(line)]


def clauses(text: str, least: int = 3) -> list[str]:
    """Return the sub-requests of a text: its sentences, split where a further demand is joined on.

    The parts together have every word of the text, in order, but for bullets, numbers of lists, and
    the words that join two parts.

    Args:
        text: A request in natural language.
        least: A part with fewer words than this is joined with the part before it, the first with
            the one after it.
    """
    parts: list[str] = []
    for sentence in (s for line in plan_steps(text) for s in sentences(line)):
        joint = " "
        for number, piece in enumerate(_CLAUSE.split(" ".join(sentence.split()))):
            if number % 2:  # what stood between two pieces
                joint = piece
            elif parts and min(_size(parts[-1]), _size(piece)) < max(least, 1):
                parts[-1] += joint + piece
            else:
                parts.append(piece)
    return [part.strip(" ,;，；") for part in parts]


def _size(text: str) -> int:
    """Return the number of words; where they are written without blanks, two characters a word."""
    return len(words(_CJK.sub(" ", text))) + (len(_CJK.findall(text)) + 1) // 2


@lru_cache(maxsize=1)
def normalised(text: str) -> str:
    """Return a text as joins compare it: NFC, blanks collapsed."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    return " ".join(composed.split())


BYTES_PER_TOKEN = 4
"""The rule of thumb for English prose; JSON, code and other scripts can be off by half."""


def singular(noun: str) -> str:
    """Return the singular of a plural by its ending; any other word as it is."""
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "news")) else noun


def count_by_bytes(text: str) -> int:
    """Return about how many tokens a text has: a quarter of its UTF-8 bytes, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


# -- Texts and JSON that ship with code: prompts, word lists, tables. Each file is read once.


@cache
def shipped_text(package: str, name: str) -> str:
    """Return a text that lies in a package, such as a prompt; `name` may lead into a folder."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def shipped_prompt(package: str, name: str) -> str:
    """Return the text of `prompts/NAME.txt` in a package, without blanks around it."""
    return shipped_text(package, f"prompts/{name}.txt").strip()


THEIRS = "theirs"
"""In the place of a prompt: a task's system text stands alone. Without one our prompt stands."""
_VARIABLE = re.compile(r"\{(?:\{([A-Za-z_]\w*)\}\}|([A-Za-z_]\w*)\})")
"""`{name}`, for which a value stands in; or `{{name}}`, which stands for `{name}` itself. Any other
brace, such as those of JSON, is a brace."""


def variables_in(text: str) -> list[str]:
    """Return the variables of a prompt in order, each once: what stands in it as `{name}`."""
    return list(dict.fromkeys(name for _, name in _VARIABLE.findall(text) if name))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a prompt with the values of its variables; what has no value stays as it is."""
    return _VARIABLE.sub(
        lambda found: f"{{{found[1]}}}" if found[1] else values.get(found[2], found[0]), text
    )


@cache
def shipped_words(package: str, name: str) -> frozenset[str]:
    """Return the words of a text in a package, which blanks and line breaks part."""
    return frozenset(shipped_text(package, name).split())


@cache
def shipped_json(package: str, name: str) -> Any:
    """Return the JSON that lies in a package; it must not be changed."""
    return json_value(shipped_text(package, name))


def shipped_texts(package: str, folder: str) -> dict[str, str]:
    """Return the texts in a folder of a package, by name."""
    found = files(package).joinpath(folder).iterdir()
    return {item.name: item.read_text("utf-8") for item in found}


# -- Texts that strangers wrote, made safe to print.
#
# What a model or an API says is untrusted. An escape sequence in it could recolour, rewrite or
# retitle the reader's terminal. A bidirectional override could show words in another order than
# they were written.

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and newline, delete, C1
    "\u2028\u2029"  # line and paragraph separators
    "\u202a-\u202e\u2066-\u2069"  # bidirectional embeddings, overrides and isolates
    "\ud800-\udfff]"  # halves of surrogate pairs, which no encoding can write
)


def printable(text: str) -> str:
    """Return the text with every control character replaced by a visible sign.

    Tabs and newlines stay, CR LF becomes a newline; C0 becomes its picture (ESC is `␛`), the others
    their code in hexadecimal. Letters of any script, marks and emoji are left alone.
    """
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def escaped_json(text: str) -> str:
    r"""Return JSON text that says the same, with the control characters of its strings as escapes.

    Where `printable` shows signs, this keeps the values: `\u009b` for U+009B.
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def one_line(text: str, length: int) -> str:
    """Return the text, printable, on one line of at most `length` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def folded(text: str, limit: int | None) -> tuple[str, int]:
    """Return the printable start of a text and how many characters were left out."""
    if limit is None or len(text) <= limit:
        return printable(text), 0
    return printable(text[:limit]), len(text) - limit


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def tables_text(tables: Iterable[tuple[str, int]]) -> str:
    """Return the names of tables with their numbers of rows."""
    return ", ".join(f"{name} ({rows})" for name, rows in tables)


def field_lines(report: Mapping[str, Any]) -> list[str]:
    """Return a report for a person, printable: a line a field, one for each part of a map of parts.

    Of a list with more than `_LISTED_ITEMS` items the length is told; `--json` has them all.
    """
    return [printable(f"{key}: {_readable(value)}") for key, value in report.items()]


_LISTED_ITEMS = 5


def _readable(value: Any) -> str:
    if isinstance(value, Mapping):
        if any(isinstance(item, (Mapping, list, tuple)) for item in value.values()):
            return "".join(f"\n  {key}: {_readable(item)}" for key, item in value.items())
        return ", ".join(f"{key} {item}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        if len(value) > _LISTED_ITEMS:
            return f"{len(value)}, listed by --json"
        return ", ".join(map(str, value)) or "none"
    return str(value)


# -- Words of one stem.


def stem(word: str) -> str:
    """Return the beginning of a word by which it and its other forms are one."""
    bare = _DOUBLED.sub(r"\1", word)
    for _ in range(2):  # ordered, order
        cut = _ENDING.sub("", bare)
        bare = cut if len(cut) > 2 else bare
    return bare[:_STEM]


@cache
def plain_stems() -> frozenset[str]:
    """Return the stems of words that name no thing."""
    return frozenset(map(stem, word_list("plain") | word_list("refusing") | word_list("no_names")))


_STEM = 5
"""Letters by which words are one: reserve, reservation."""
_ENDING = re.compile(r"(?:ies|ied|ing|ed|er|est|ly|(?<!s)es|(?<!s)s|y|e)$")
_DOUBLED = re.compile(r"(?<=[a-z]{2})([bdgmnprt])\1(?:ed|ing)$")  # shipped, ship


def is_kin(one: str, other: str) -> bool:
    """Tell whether two words have one stem, as far as their beginnings tell."""
    size = max(min(len(one), len(other)) - 2, 3)
    return one == other or (len(one) > 3 and one[:size] == other[:size])

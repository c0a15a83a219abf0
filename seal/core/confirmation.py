"""Whether a user's answer allows exactly what the agent asked to do. Decided by rule, by no model.

An answer confirms a call where it affirms (`seal.core.consent`), and

1. the question is no negative one: "Shall I not send it? - Yes" may mean either. Tags ("isn't it?",
   "or not?") and proposals ("why don't I") are none.
2. the question leaves no choice open: "to Bo or to Cleo? - Yes" names neither. Where it does, the
   answer must name what is then done. "Or would you like to change anything?" is no choice.
3. the answer makes no choice that the question does not spell out: "Yes, the second".
4. the last sentence that asks is about what is confirmed: 'About "Dinner at 8" to Bo: is the
   weather nice?' is not. The values may stand outside it, or before a colon in it. It must then
   refer to them ("shall I do that?"), repeat a word beside them ("cancel the booking?"), or say
   nothing else ("ok?", "shall I go ahead?").
5. the answer names nothing but what the agent named, or what stands in the world for the values
   asked about: "Yes, Bob" to a question about a number is good only if the number is Bob's.

An answer names its numbers, and names of the world in any case. In a clause of five words or more
it also names capitalised words, except the first. In a clause of up to four words it names every
word, except words that only agree, thank or refer ("please send it now"). All rules are of English.
When in doubt, nothing was confirmed.

The case of a value does not matter, because the first word of a sentence has a capital. A question
about "dinner is at 8" is one about "Dinner is at 8".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from seal.core.conditions import AGENT, EXECUTOR, USER, party
from seal.core.consent import affirms, calls_off, clauses, holds, plain
from seal.core.statements import Sense, is_phone, leaves, said, spelled, states
from seal.core.text import sentences, word_list, words

if TYPE_CHECKING:
    from seal.core.types import Step, Tables

_HARMLESS = (
    r"why (?:not|don't)|(?:or|whether|if) not|not only|(?:if )?you (?:don't|do not) mind"
    r"|, ?\w+n't (?:i|you|it|we|that|they|he|she|there)(?= ?\?)"
    r"|or (?:so|would|do|does|did|should|shall|is|are|if|any|anything|something|change|changing"
    r"|edit|modify|adjust|make|cancel|let|wait|no)"
)
"""What looks like a negation or a choice and is neither."""
_NEGATION = r"not|never|cannot|\w+n't|refrain|skip|hold off|hold back"
_CHOICE = re.compile(
    r"(?<!\w)(?:first|second|third|fourth|fifth|last|latter|former|other|others|another|either"
    r"|different|next|\d+(?:st|nd|rd|th)|(?:option|choice|letter) ?(?:\d+|[a-h]))(?!\w)"
)
_MARKER = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2}|[a-h])[.):](?=\s)")
"""What a list begins its items with."""
_QUOTED = re.compile(r"(?<!\w)'[^\n]*?'(?!\w)|\"[^\"\n]*\"|[“„][^”“\n]*[”“]|«[^»\n]*»|「[^」\n]*」")
_NUMBER = re.compile(r"\+?\d[\d\s().:,-]*\d|\d")
_NAME = re.compile(r"[^\W\d_]+")
_WHOLE_NAME = re.compile(r"[^\W\d_]+(?:[ '.-]+[^\W\d_]+){0,2}\.?$")
_VALUE = "\ue000"
"""Stands for a value in what the agent told; a character of private use."""
_PART = re.compile(r"[:;](?=\s|$)|\s[-–—]+\s|—")
"""Parts what is asked from what it is said to be about."""
_REFERRING = re.compile(
    r"(?<!\w)(?:that|this|these|those|them|him|her|so"
    r"|(?<!is )(?<!was )(?<!will )it(?! is\b|'s))(?!\w)"
)
"""Words that stand for what was said before; "is it raining" has none."""
_SHORT = 4
"""Words of a short clause, at most: it agrees, or it names something."""
_AGREEING = word_list("agreeing")
"""Words that agree, thank, refer to what was said, or tell to go ahead; in short clauses."""
_ASKING = _AGREEING | word_list("asking")
"""Words of a question that only asks for leave."""


def confirms(answer: str, told: str, values: Iterable[str] = (), names: Iterable[str] = ()) -> bool:
    """Tell whether an answer allows exactly what was asked, by the rules of this module.

    >>> [confirms("Yes, Bob.", "Text +46 70 02?", ["+467002", one]) for one in ("Bob", "Bo")]
    [True, False]

    Args:
        answer: Of the user.
        told: What the agent said before it.
        values: Texts that are asked about, and what stands for them in the world.
        names: Other names in the world.
    """
    values = list(values)
    if not affirms(answer):
        return False
    marked = _with_marks(told, values)
    if not _asks_about_values(marked):
        return False
    question = re.sub(rf"(?<!\w)(?:{_HARMLESS})", " ", _question(marked))
    if holds(question, _NEGATION):
        return False
    if _beyond(answer, told, values, names) or _chooses(answer, told):
        return False
    if holds(question, "or"):
        return any(_named(answer, value) for value in values)
    return True


def _with_marks(told: str, values: Iterable[str]) -> str:
    """Return what was told with `_VALUE` for each value, and without other quotations."""
    for value in sorted(values, key=len, reverse=True):
        pattern = spelled(value)
        if pattern:
            told = re.sub(pattern, f" {_VALUE} ", told, flags=re.IGNORECASE)
    return _QUOTED.sub(lambda quoted: f" {_VALUE if _VALUE in quoted[0] else 'it'} ", told)


def _asking(said: Iterable[str]) -> list[str]:
    """Return the sentences that ask."""
    return [sentence for sentence in said if sentence.rstrip(" )*_").endswith(("?", "？"))]


def _question(marked: str) -> str:
    """Return the sentences that ask, all where none asks, without the values."""
    said = sentences(marked.replace(_VALUE, "it"))
    return plain(" ".join(_asking(said) or said))


def _asks_about_values(marked: str) -> bool:
    """Tell whether the last question is about the values, by rule 4."""
    asked = _asking(sentences(marked))
    if not asked:
        return True
    parts = [part for part in _PART.split(asked[-1]) if _VALUE in part or words(part)]
    part = parts[-1] if parts else asked[-1]
    before, _, after = marked.rpartition(part)
    rest = before + after
    if _VALUE in part or _VALUE not in rest:
        return True
    new = {*words(part)} - _ASKING
    return not new or bool(new & {*words(rest)}) or _REFERRING.search(plain(part)) is not None


def _named(answer: str, value: str) -> bool:
    """Tell whether an answer has a value, or its number."""
    pattern = spelled(value)
    return bool(pattern) and re.search(pattern, answer, re.IGNORECASE) is not None


def _chooses(answer: str, told: str) -> bool:
    """Tell whether an answer chooses among things that the question does not tell apart by that."""
    chosen, offered = (set(_CHOICE.findall(plain(text))) for text in (answer, told))
    marks = set(_MARKER.findall(told.casefold()))
    said = {word for clause in clauses(plain(answer)) for word in [clause.strip(" ()")]}
    return bool(chosen and chosen != offered) or (len(marks) > 1 and bool(marks & said))


def _beyond(answer: str, told: str, values: Iterable[str], names: Iterable[str]) -> bool:
    """Tell whether an answer names something that was not asked about."""
    known = {word for text in (told, *values) for word in words(text)}
    digits = [re.sub(r"\D", "", n) for text in (told, *values) for n in _NUMBER.findall(text)]
    for number in _NUMBER.findall(answer):
        said = re.sub(r"\D", "", number)
        if not any(said == other or (len(said) > 2 and said in other) for other in digits):
            return True
    others = {word for name in names for word in words(name)} - known - _AGREEING
    return any(_adds(clause, known, others) for clause in clauses(_marked(answer)))


def _adds(clause: str, known: set[str], others: set[str]) -> bool:
    """Tell whether a clause has a word that names something else."""
    said = _NAME.findall(clause)
    new = [
        (place, part)
        for place, part in enumerate(said)
        if not {*words(part)} <= known and not {*words(part)} <= _AGREEING
    ]
    if len(said) <= _SHORT:
        return bool(new)
    return any((place and part[0].isupper()) or part.casefold() in others for place, part in new)


def _marked(answer: str) -> str:
    """Return an answer whose signs of assent stand apart; its capitals are kept."""
    return re.sub(r"[\U0001f300-\U0001faff\u2600-\u27bf]", ",", answer.replace("\u2019", "'"))


class Exchange(NamedTuple):
    """What the agent told the user last, and what the user answered."""

    told: str
    """Empty where the agent had said nothing since the user spoke."""
    answer: str
    answered: int
    """Place of the answer among the steps."""


def exchanges(steps: Sequence[Step]) -> list[Exchange]:
    """Return what agent and user said to each other, in order; calls and results are left out."""
    found, told = [], ""
    for place, step in enumerate(steps):
        if step.call is not None or step.result is not None or not step.content.strip():
            continue
        if party(step.author) == AGENT and step.recipient == USER:
            told = step.content
        elif step.author == USER and step.recipient != EXECUTOR:
            found.append(Exchange(told, step.content, place))
            told = ""
    return found


def confirmation(
    before: Sequence[Exchange],
    arguments: Mapping[str, Any] | None,
    tables: Tables,
    *,
    today: date | None = None,
    zone: str = "UTC",
) -> int | None:
    """Return the place of the answer that confirms a call; None: it is not confirmed.

    The last message that states all arguments (`seal.core.statements`) decides; a later word that
    calls things off ends every confirmation before it.

    Args:
        before: What was said before the call.
        arguments: Of the call.
        tables: The world, in which the name of a row stands for its other cells.
        today: When it was said; None: unknown.
        zone: Where the times of day are told.
    """
    sense = Sense("", today, zone, partial(row_of, tables=tables))
    names = list(names_in(row for rows in tables.values() for row in rows))
    for exchange in reversed(before):
        if exchange.told and states(exchange.told, arguments, sense):
            texts = (exchange.told, exchange.answer)
            values = [
                value
                for name, leaf in leaves(arguments)
                for value in (
                    *(said(text, leaf, replace(sense, name=name)) for text in texts),
                    *(standing_for(leaf, tables) if isinstance(leaf, str) else ()),
                )
                if value
            ]
            confirmed = confirms(exchange.answer, exchange.told, values, names)
            return exchange.answered if confirmed else None
        if calls_off(exchange.answer):
            return None
    return None


def standing_for(value: str, tables: Tables) -> Iterator[str]:
    """Yield a text, and the names (`names_in`) in the rows of a world that hold it."""
    yield value
    rows = (row for rows in tables.values() for row in rows)
    yield from names_in(row for row in rows if any(map(partial(_same, value), row.values())))


def names_in(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the cells that are names: one to three words of letters, the first one capitalised."""
    for row in rows:
        yield from (cell for cell in row.values() if _is_name(cell))


def row_of(name: str, tables: Tables) -> Iterator[str]:
    """Yield the texts of the row with a name, those that no other row of its table has."""
    for rows in tables.values():
        found = next((row for row in rows if row and next(iter(row.values())) == name), None)
        if found is not None:
            counts = Counter(cell for row in rows for cell in row.values() if _is_word(cell))
            yield from (cell for cell in found.values() if _is_word(cell) and counts[cell] == 1)


def _same(value: str, cell: Any) -> bool:
    if not isinstance(cell, str):
        return False
    if cell == value:
        return True
    digits = (re.sub(r"\D", "", number) for number in (value, cell))
    return all(map(is_phone, (value, cell))) and len(set(digits)) == 1


def _is_name(cell: Any) -> bool:
    return isinstance(cell, str) and bool(_WHOLE_NAME.match(cell)) and not cell[0].islower()


def _is_word(cell: Any) -> bool:
    return isinstance(cell, str) and re.search(r"\w", cell) is not None

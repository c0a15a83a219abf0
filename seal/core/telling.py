"""What messages tell of values that are to be told (`seal.core.slots`).

Each slot is one of four, by rule and in English:

- told: a message states it, and none states it wrong
- contradicted: it is denied; or another value of its type and unit stands in its place that neither
  the request nor a result explains; or it is one of two ("94 or 95"); or a day has a wrong weekday
- left out: every message can be read, and none has it, unless in a question
- undecided: it is only doubted; or it is a text, which may stand there in other words; or
  the messages are of another language than English

Questions and refusals are read by `seal.core.acts`; what it leaves open is undecided.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Literal, NamedTuple

from seal.core.facts import Record
from seal.core.names import (
    LEAST_PART,
    WORD,
    all_names,
    joins_names,
    other_names,
    parts_of_name,
    places_of_name,
)
from seal.core.phones import same_phone
from seal.core.quantities import (
    WEEKDAYS,
    Day,
    Quantity,
    Text,
    Time,
    days,
    is_foreign,
    normalise,
    read,
    weekdays,
)
from seal.core.slots import WORDS, Slot, times_of
from seal.core.statements import (
    DENIED,
    DOUBTFUL,
    STATED,
    TRUTH,
    Place,
    amounts,
    bounds,
    differences,
    implied,
    is_same,
    judged,
    only_quantity,
    places_of,
)
from seal.core.text import is_kin, role, sentences, singular, words
from seal.core.types import JSON

State = Literal["told", "contradicted", "left out", "undecided"]

_AMOUNTS = frozenset({"number", "quantity", "money"})
_OR = re.compile(r"\W*(?:\w+\W+){0,4}or(?: (?:maybe|perhaps|possibly|about))?\W*")
"""It stands between two values of which only one can be."""
_NEAR_DAY = 14
"""Characters between a day and its weekday, at most."""


class Finding(NamedTuple):
    """What was told of one slot."""

    slot: Slot
    state: State
    said: str = ""
    """The words of the messages that decide; empty: there are none."""
    denied: bool = False
    """They have the value itself, and deny it."""
    message: int = -1
    """Which message has them; -1: none."""

    def to_json(self) -> dict[str, JSON]:
        """Return what a score's details have of it."""
        told: dict[str, JSON] = {"wanted": " or ".join(self.slot.texts), "state": self.state}
        named: dict[str, JSON] = {"name": self.slot.name} if self.slot.name else {}
        return {**named, **told, **({"said": self.said} if self.said else {})}


class _Spoken(NamedTuple):
    """A value of a slot's type in a message."""

    right: bool
    start: int
    end: int
    bare: bool = False
    """It or gold lacks a unit, so that it may be a value of something else."""


def outcome(findings: Sequence[Finding]) -> Literal["told", "untold", "undecided"]:
    """Return what findings come to: all told, one contradicted or left out, or neither."""
    states = {one.state for one in findings if not (one.slot.optional and one.state == "left out")}
    if states & {"contradicted", "left out"}:
        return "untold"
    return "undecided" if "undecided" in states else "told"


def find(
    slots: Sequence[Slot],
    messages: Sequence[str],
    record: Record,
    *,
    request: str = "",
) -> list[Finding]:
    """Return what messages tell of each slot.

    Args:
        slots: What gold asks to be told.
        messages: Of the agent to its user, in order.
        record: What request and results tell.
        request: Of the user.
    """
    read_ones = [read(message) for message in messages]
    if any(is_foreign(whole.plain) for whole in read_ones):
        return [Finding(slot, "undecided") for slot in slots]
    return [_found(slot, read_ones, record, request) for slot in slots]


def _found(slot: Slot, messages: Sequence[Text], record: Record, request: str) -> Finding:
    if slot.type in WORDS:
        return _of_acts(slot, messages, request)
    best = Finding(
        slot, "undecided" if slot.type == "text" and any(m.tokens for m in messages) else "left out"
    )
    sure = False
    for number, whole in enumerate(messages):
        found = _in_message(slot, whole, record, request, best.state == "told")
        if found is None:
            continue
        state, start, end, is_odd = found
        is_earlier = slot.optional and not is_odd and whole is not messages[-1]
        if state == "contradicted" and is_earlier and not _got_it(slot, whole, start):
            continue  # it may have been so then
        denied = state == "contradicted" and judged(whole, start, end).strength == DENIED
        finding = Finding(slot, state, whole.said(start, end), denied, number)
        # Who tells it as it was before, and right later, has told it; no invented value is mended.
        if best.message < 0 or state == "contradicted" or (state == "told" and not sure):
            best = finding
        sure = sure or is_odd
    if best.state == "left out" and slot.type == "name":
        return next(_some_of(slot, messages), best)
    return best


def _some_of(slot: Slot, messages: Sequence[Text]) -> Iterator[Finding]:
    """Yield where messages have some of the names that a slot joins: "Ann" of "Ann and Bob"."""
    for number, whole in enumerate(messages):
        for text in filter(joins_names, slot.texts):
            for span in parts_of_name(whole, text):
                yield Finding(slot, "undecided", whole.said(*span), message=number)


def _in_message(
    slot: Slot, whole: Text, record: Record, request: str = "", was_told: bool = False
) -> tuple[State, int, int, bool] | None:
    """Return what one message tells of a slot, where, and whether nothing explains it.

    None: it tells nothing.

    Args:
        slot: The slot.
        whole: The message.
        record: What request and results tell.
        request: Of the user.
        was_told: Whether a message before has told it.
    """
    spoken = sorted(_spoken(slot, whole, record, request), key=lambda one: one.start)
    if slot.type in _AMOUNTS and (none := _none_of(slot, whole.plain, request)):
        others = any(not one.right for one in spoken)
        return "undecided" if others else "told", *none, False
    own = {one[:2] for one in read(request).quantities if one.unit} if request else set()
    # What the request tells in other units is no answer, unless it is gold's own words.
    own -= {one[:2] for text in slot.texts for one in read(text).quantities} if own else set()
    said = {one.start: one[:2] for one in whole.quantities} if own else {}
    spoken = [one for one in spoken if not one.right or said.get(one.start) not in own]
    right = [judged(whole, one.start, one.end) for one in spoken if one.right]
    if slot.type in (
        "text",
        "term",
    ):  # "'Renew the books': shall I delete it?" tells what is quoted
        right = [_as_quoted(whole.plain, place) for place in right]
    if slot.type not in _AMOUNTS:
        right = [place for place in right if not _is_left_aside(whole.plain, place)]
    guesses = _GUESS.search(whole.plain) is not None
    stated = [
        place
        for place in right
        if place.strength == STATED and not (guesses and _is_guessed(whole.plain, place.start))
    ]
    # A value that is denied, asked or doubted tells nothing else.
    wrong = [
        one
        for one in spoken
        if not one.right and judged(whole, one.start, one.end).strength == STATED
    ]
    odd = sorted(one.start for one in record.odd(whole)) if wrong else []
    reckoned = sorted(one.start for one in record.odd(whole, reckon=False)) if wrong else []
    left = _left(whole, stated) if stated and wrong else set()
    implied_ones = _implied(slot, whole) if wrong and slot.type in _AMOUNTS else {}
    for one in wrong:
        follows = implied_ones.get(one.start)
        if follows and stated:
            continue
        if follows is False and stated and _goes_on_with(whole.plain, stated, one):
            return "contradicted", one.start, one.end, True
        is_odd = bisect_left(odd, one.end) > bisect_left(odd, one.start)
        if slot.type == "weekday":
            is_odd = not record.tells(whole.plain[one.start : one.end])
        named = bool(stated) and not one.bare and one.start not in left
        named = named and _is_named(slot, whole, one, stated[0])
        # Beside the right value, what request and results tell is told of something else.
        sure = slot.type in _SURE and not one.bare and one.start not in left
        if (is_odd and sure) or named or _hedges(whole.plain, one, stated):
            return "contradicted", one.start, one.end, is_odd and not one.bare
        if not stated and (is_odd or not (one.bare or was_told)):
            return "contradicted", one.start, one.end, is_odd and not one.bare
        # Which of two is the one that is asked for, where one is reckoned, words do not tell.
        open_ = bisect_left(reckoned, one.end) > bisect_left(reckoned, one.start)
        if stated and open_ and sure and not _called(slot, whole, *stated[0][1:]):
            return "undecided", one.start, one.end, False
    if stated:
        return "told", stated[0].start, stated[0].end, False
    open_ones = [place for place in right if not _is_asked(whole.plain, place.end)]
    if not open_ones:
        return None
    denied = all(p.strength == DENIED or _is_negated(whole.plain, p.start) for p in open_ones)
    return "contradicted" if denied else "undecided", open_ones[0].start, open_ones[0].end, False


def _none_of(slot: Slot, plain: str, request: str) -> tuple[int, int] | None:
    """Return where a text says that there is none of what gold has 0 of; None: nowhere.

    What is counted is a noun of the request or the slot's name: "b2 has no loans".
    """
    if not all(_ZERO.fullmatch(text) for text in slot.texts):
        return None
    asked = {singular(word) for word in words(f"{request} {slot.name}")}
    said = (one for one in _NONE.finditer(plain) if not one[1] or singular(one[1]) in asked)
    return next((one.span() for one in said), None)


_ZERO = re.compile(r"0(?:\.0+)?(?: \w+)?")
_NONE = re.compile(r"\A\W*none\b|(?<!with )\bno ([a-z]+)\b(?! (?:longer|more))")


def _as_quoted(plain: str, place: Place) -> Place:
    """Return a place as one that is stated, where it is quoted and a question follows a mark."""
    is_quoted = _QUOTED.match(plain, place.end) and plain[max(place.start - 1, 0)] in "\"'\u201c"
    return place._replace(strength=STATED) if is_quoted and place.strength == DOUBTFUL else place


_QUOTED = re.compile(r"[\"'\u201d]\s*(?:[-:;,]|\s\u2014)")


def _is_left_aside(plain: str, place: Place) -> bool:
    """Tell whether a text excepts a value, compares with it, or names another beside it."""
    before = plain[max(place.start - _NEAR_NOT, 0) : place.start]
    after = plain[place.end : place.end + _NEAR_NOT]
    if _HAS_NO.match(after):
        return True
    return bool(_EXCEPT.search(before) or _OR_BEFORE.search(before) or _OR_AFTER.match(after))


def _implied(slot: Slot, whole: Text) -> dict[int, bool]:
    """Return where a text says of the right amount that it is over or under another; if it is.

    So are the two that make the right one: "17 minutes short of three hours".
    """
    wanted = [one for text in slot.texts if (one := only_quantity(read(text))) is not None]
    held = {one.start: [bounds(whole, one, right) for right in wanted] for one in whole.quantities}
    found = {start: any(fits) for start, fits in held.items() if None not in fits}
    follow = implied(whole, lambda said: any(is_same(said, right) for right in wanted))
    return found | dict.fromkeys(follow, True)


def _goes_on_with(plain: str, stated: Sequence[Place], one: _Spoken) -> bool:
    """Tell whether a text says a bound right behind a value: "2 h 43 min, so over three hours"."""
    last = bisect_left(stated, one.start, key=attrgetter("start")) - 1
    gap = plain[stated[last].end : one.start][:_WIDE] if last >= 0 else ""
    parted = not gap or len(gap) == _WIDE or _MARKS_OF.search(gap) is not None
    rest = words(gap) if gap.startswith((",", " -")) else words(gap)[1:]  # behind the unit
    return not parted and _SO.issuperset(rest) and _ELSE.match(plain, one.end) is None


_MARKS_OF = re.compile(r"[.;?!()\n]")
_SO = frozenset(
    words(
        "so or left which that it this and thus hence therefore is s means in other words total"
        " well much far just slightly even already easily a an bit little lot the not quite no over"
        " under above below at least most of excess upwards than more less longer shorter higher"
        " lower warmer colder hotter cheaper fewer full whole"
    )
)
"""Words between a value and what it is said to be above or below."""
_ELSE = re.compile(
    r"[^.;?!\n]{0,14}\b(?:tomorrow|yesterday|tonight|last|next|on|in(?! total)|for|if)\b"
)
"""What follows a bound that may be of something else: "over 95 tomorrow"."""


_SURE = frozenset({"quantity", "money", "phone", "code", "weekday", "truth"})
"""Types of which another value that nothing explains contradicts the right one beside it."""
_LEAD = r"(?:(?:in|on|at|for|to|by|the|a|an|dr\.?|mr\.?|ms\.?|mrs\.?) ){0,2}[\"'*\u201c]*$"
_EXCEPT = re.compile(
    r"\b(?:except(?: for)?|apart from|other than|instead of|rather than|than|unlike|far from"
    rf"|(?:every|any|all)\w*(?: \w+)? but) {_LEAD}"
)
_OR_BEFORE = re.compile(rf"[\w\"'*\u201d] or {_LEAD}")
_OR_AFTER = re.compile(
    r"[\"'*\u201d]*,? or (?!(?:so|not|if|else|more|would|do|did|shall|should|let|you|i|we|is|are)\b"
    r"|any)"
)


_HAS_NO = re.compile(r"(?: \w+){1,2} no (?!doubt\b|longer than\b)")
"""What stands behind somebody of whom something is denied: "takes no new patients"."""


def _left(whole: Text, stated: Sequence[Place]) -> set[int]:
    """Return where a text says what is left of the right share: 62.5 % of 37.5 %."""
    shares = {q.start: q.number for q in whole.quantities if q.unit == "%"}
    rest = [100 - shares[place.start] for place in stated[:1] if place.start in shares]
    return {start for start, number in shares.items() if number in rest}


def _is_asked(plain: str, end: int) -> bool:
    """Tell whether a place stands in a question, which tells nothing."""
    found = _SENTENCE_END.search(plain, end, end + _WIDE)
    return found is not None and found[0] == "?"


def _is_guessed(plain: str, start: int) -> bool:
    """Tell whether the sentence of a place says that it is a guess."""
    ends = _SENTENCE_END.finditer(plain, max(start - _WIDE, 0), start)
    begin = max((one.end() for one in ends), default=max(start - _WIDE, 0))
    found = _SENTENCE_END.search(plain, start, start + _WIDE)
    return _GUESS.search(plain, begin, found.start() if found else start + _WIDE) is not None


def _is_negated(plain: str, start: int) -> bool:
    """Tell whether a place follows a negated verb closely: "it won't get to 92.3 degrees"."""
    before = plain[max(start - _NEAR_NOT, 0) : start]
    return _NEGATED.search(before) is not None


_SENTENCE_END = re.compile(r"[?!\n]|\.(?=\s|$)")
_WIDE = 200
"""Characters of a sentence that are read before and after a place, at most."""
_GUESS = re.compile(
    r"\b(?:i guess|my guess|guessing|maybe|perhaps|unsure|i assume|no idea|not (?:sure|certain)"
    r"|(?:can't|cannot|could not|couldn't) (?:say|verify|confirm)|don't know"
    r"|(?:could|may|might) be .{1,60}\bor (?!so\b)(?:it (?:could|may|might) )?)\b"
)
_NEAR_NOT = 40
"""Characters between a negation and what it negates, at most."""
_NEGATED = re.compile(
    r"(?:n't|\bnot|\bnever|\bcannot)(?! (?:only|just|more|less|until|before|yet|sure|know|find|see"
    r"|check|tell|say|confirm))(?: \w+){0,4} $"
)


def _is_named(slot: Slot, whole: Text, one: _Spoken, right: Place) -> bool:
    """Tell whether a text gives a slot's name to another value, and to the right one none.

    Of "seventeen read messages and 223 unread ones" the unread are 223.
    """
    if slot.type not in _AMOUNTS or not slot.name:
        return False

    if _TOTAL.search(whole.plain, max(one.start - _BESIDE, 0), one.start):
        return False
    others = _called(slot, whole, one.start, one.end)
    return not others <= _called(slot, whole, right.start, right.end)


def _called(slot: Slot, whole: Text, start: int, end: int) -> set[str]:
    """Return the words of a slot's name that stand beside a value."""
    beside = words(whole.plain[end : end + _BESIDE])[:3]
    beside += words(whole.plain[max(start - _BESIDE, 0) : start])[-2:]
    return {name for name in words(slot.name) if any(is_kin(word, name) for word in beside)}


_TOTAL = re.compile(r"\bof (?:the |your |all |its |these |those )*$")
"""What leads to a number of which the right one is a part: "17 of your 240"."""
_BESIDE = 24
"""Characters beside a value in which its name may stand."""


def _hedges(plain: str, one: _Spoken, stated: Sequence[Place]) -> bool:
    """Tell whether a value and one of the right ones beside it are alternatives."""
    after = bisect_left(stated, one.start, key=attrgetter("start"))
    before = stated[after - 1] if after else None
    following = stated[after] if after < len(stated) else None
    return (before is not None and _OR.fullmatch(plain, before.end, one.start) is not None) or (
        following is not None and _OR.fullmatch(plain, one.end, following.start) is not None
    )


def _spoken(slot: Slot, whole: Text, record: Record, request: str) -> Iterator[_Spoken]:
    """Yield the values of a slot's type that a message has; of texts and names the right ones."""
    if slot.type in _AMOUNTS:
        told = _spoken_amounts(slot, whole, record)
        is_to_come = _TO_COME.search(request) is not None
        yield from (one for one in told if not (is_to_come and _AGO.match(whole.plain, one.end)))
    elif slot.type == "time":
        times = [time for text in slot.texts for time in times_of(text)]
        for token in whole.tokens:
            said = [one for one in (token.value, *token.others) if isinstance(one, Time)]
            if said:
                right = any(one.may_be(time) for one in said for time in times)
                # "At 8" is a time where it is right, or nothing follows that it may be of.
                is_time = isinstance(token.value, Time) or _AT.match(whole.plain, token.end)
                if right or is_time:
                    yield _Spoken(right, token.start, token.end)
    elif slot.type in ("date", "weekday"):
        yield from _spoken_days(slot, whole, record.today)
    elif slot.type == "phone":
        for match in PHONE.finditer(whole.plain):
            right = any(same_phone(match[0], text) for text in slot.texts)
            yield _Spoken(right, *match.span())
    elif slot.type in ("name", "place"):
        yield from _as_written(slot, whole)
        for text in slot.texts:
            spans = places_of_name(whole, text, slot.type == "place")
            yield from (_Spoken(True, *span) for span in spans)
        if slot.type == "name":
            others = (_Spoken(False, *span) for span in other_names(slot.texts, whole, request))
            yield from (one for one in others if not (slot.optional and _is_aside(whole, one)))
    elif slot.type == "code":
        found = [m.span() for text in slot.texts for m in _code(text).finditer(whole.plain)]
        yield from (_Spoken(True, *span) for span in found)
        taken, shapes = {*found}, {_shape(text) for text in slot.texts}
        sizes = {*map(len, shapes)}
        for match in WORD.finditer(whole.plain):
            is_shaped = len(match[0]) in sizes and _shape(match[0]) in shapes
            if is_shaped and match.span() not in taken:
                yield _Spoken(False, *match.span())
    elif slot.type == "truth":
        yield from _truths(slot, whole)
    else:
        for text in slot.texts:
            yield from (_Spoken(True, *place[1:]) for place in places_of(whole, text))
            if slot.type == "text" and joins_names(text):
                yield from (_Spoken(True, *span) for span in all_names(whole, text))


_AT = re.compile(r"(?=\W*$| ?[.,;!?\n]| (?:and|but|today|tonight|tomorrow|on|instead)\b)")
"""What follows the number of "at 8" that is a time."""


def _is_aside(whole: Text, one: _Spoken) -> bool:
    """Tell whether a name says whose something is, who wrote it, or who is spoken to.

    "Gus's text", "Ann wrote", "Thank you, Jonas Brandt."
    """
    if _GREETED.search(whole.plain, max(one.start - _NEAR_NOT, 0), one.start) is not None:
        return _GREETED_END.match(whole.plain, one.end) is not None
    behind = _WHOSE.match(whole.plain, one.end - 2 * whole.plain.endswith("'s", 0, one.end))
    wrote = behind is not None and (behind[1] is None or behind[1] in _WROTE)
    return wrote or whole.plain.endswith(" that ", 0, one.start)


_WHOSE = re.compile(r"(?: [a-z]+)?'s (?!got\b)(?=[a-z])|(?: has| had)? ([a-z]+)")
_GREETED = re.compile(
    r"\b(?:thanks|thank you|hi|hello|dear|welcome|sorry|sure|done|all set)"
    r"(?: so much| very much| again| back)?,? (?:\w+ )?$"
)
_GREETED_END = re.compile(r"(?: \w+)? ?(?:[.,;:!\n]|$)")


def _got_it(slot: Slot, whole: Text, start: int) -> bool:
    """Tell whether a text gives a name as the one that was asked for, or who got something."""
    return slot.type == "name" and _GOT_IT.search(whole.plain, 0, start) is not None


_GOT_IT = re.compile(
    r"(?:\b(?:it|that|the answer)(?:'s| is| was| would be)"
    r"|\b(?:went|goes|sent|forwarded|written|wrote|paid|transferred|addressed)(?: \w+){0,4} to)"
    r" [\"'*\u201c]*(?:\w+ )?$"
)
_WROTE = frozenset(words("wrote sent said texted asked put typed worded phrased messaged says"))
PHONE = re.compile(r"(?<![\w+])\+?\(?\d(?:(?!\. )[ ().-]{0,3}\d){6,16}(?!\w)")
"""A phone number, however it is grouped; a sentence ends it."""


def _code(text: str) -> re.Pattern[str]:
    """Return what finds a code, whatever parts its letters and digits."""
    parts = re.findall(r"[^\W\d_]+|\d+", text.casefold())
    joined = r"[\W_]?".join(parts)
    return re.compile(rf"(?<!\w){joined}(?!\w)")


def _as_written(slot: Slot, whole: Text) -> Iterator[_Spoken]:
    """Yield where a value with digits, such as "Aspirin 100 mg", stands as it is written."""
    for text in slot.texts:
        if any(map(str.isdigit, text)):
            written = re.compile(rf"(?<!\w){re.escape(normalise(text))}(?!\w)")
            yield from (_Spoken(True, *found.span()) for found in written.finditer(whole.plain))


def _shape(text: str) -> str:
    """Return a code with one letter for its letters and one digit for its digits."""
    return re.sub(r"\d", "9", re.sub(r"[^\W\d_]", "a", text.casefold()))


def _spoken_amounts(slot: Slot, whole: Text, record: Record) -> Iterator[_Spoken]:
    wanted = [one for text in slot.texts if (one := only_quantity(read(text))) is not None]
    # What a tool told with more digits than gold has may be told so: 42.1648128 km for 42.165 km.
    finer = [more for one in wanted for more in record.finer(one)]
    for match in _SPECIAL.finditer(whole.plain):
        if match[3]:  # 2h43m, 2:43:00
            said = Quantity(60 * Decimal(match[3]) + Decimal(match[4]), "min", *match.span())
        else:
            said = Quantity(Decimal((match[1] or match[2]).replace(" ", "")), None, *match.span())
        if any(said.dimension in (None, one.dimension) and is_same(said, one) for one in wanted):
            yield _Spoken(True, *match.span())
    for made, _ in differences(whole):
        if any(is_same(made, one) for one in wanted):
            yield _Spoken(True, made.start, made.end)
    for said, about in amounts(whole):
        if _BELOW.match(whole.plain, said.end):
            said = said._replace(number=-said.number)
        # What is a bare number by its gold is no length, price or weight.
        is_other = slot.type == "number" and bool(slot.name) and said.unit not in (None, "%")
        # "Just over three hours" is about right, and still says which way.
        is_right = any(
            is_same(said, one, about) and bounds(whole, said, one) is not False for one in wanted
        )
        is_right = is_right or any(is_same(said, one) for one in finer)
        if is_right and not is_other:
            yield _Spoken(True, said.start, said.end)
        elif any(None in (said.dimension, one.dimension) for one in wanted):
            is_bare = all(said.dimension != one.dimension for one in wanted)
            yield _Spoken(False, said.start, said.end, is_bare)
        elif any(
            said.dimension == one.dimension or bounds(whole, said, one) is not None
            for one in wanted
        ):
            yield _Spoken(False, said.start, said.end)


_TO_COME = re.compile(r"\b(?:left|until|till|to go|from now|remain\w*)\b", re.IGNORECASE)
_AGO = re.compile(r" ?[^\W\d]{0,12} ago\b")
_SPECIAL = re.compile(
    r"(?<![\w.,])(?:(\d{1,3}(?: \d{3})+)|(\d+(?:\.\d+)?)/(?:5|10|100)"
    r"|(\d{1,3})(?:h|:(?=[0-5]?\d(?::00| hours| h)\b))([0-5]?\d)(?:m|min|:00| hours| h|)\b)"
    r"(?![\w.,]\w)"
)
"""A number whose thousands a blank parts, one of so many ("4.6/5"), or hours and minutes."""
_BELOW = re.compile(
    r"(?: ?°| degrees?)?(?: ?c| ?f| celsius| fahrenheit)? below (?:zero|freezing)\b"
)


def _spoken_days(slot: Slot, whole: Text, today: date | None) -> Iterator[_Spoken]:
    """Yield days and weekdays; a day beside a weekday that it is not is wrong."""
    named = [*weekdays(whole)]
    if slot.type == "weekday":
        wanted = {text.casefold() for text in slot.texts}
        yield from (_Spoken(name in wanted, start, end) for name, start, end in named)
        return
    wanted_days = [one for text in slot.texts for one in _days_in(text)]
    told = days(whole, None)
    told += [  # 3/4/2024 may be two days
        (day, token.start, token.end)
        for token in whole.tokens
        if not isinstance(token.value, (Day, Decimal))
        for day in token.others
        if isinstance(day, Day) and any(_may_be(day, one) for one in wanted_days)
    ]
    for day, start, end in told:
        right = any(_may_be(day, one) for one in wanted_days)
        beside = [
            name
            for name, first, last in named
            if -1 <= start - last <= _NEAR_DAY or -1 <= first - end <= _NEAR_DAY
        ]
        sure = [WEEKDAYS[one.calendar.weekday()] for one in wanted_days if one.year]
        fits = not beside or not sure or not {*sure}.isdisjoint(beside)
        yield _Spoken(right and fits, start, end)
    if not told:
        for match in _SHORT_DATE.finditer(whole.plain):
            first, second = int(match[1]), int(match[2])
            if any({first, second} == {one.month, one.day} for one in wanted_days):
                yield _Spoken(True, *match.span())
    near = [one for one in days(whole, today) if one not in told] if today is not None else []
    for day, start, end in near:
        # "On Friday" is told within a week; beside a day it was read above.
        right = any(_may_be(day, one) for one in wanted_days)
        dates = [one.calendar for one in wanted_days if one.year]
        reach = any(today <= one <= today + timedelta(7) for one in dates) if today else False
        if not told and (right or reach):
            yield _Spoken(right, start, end)


_SHORT_DATE = re.compile(r"(?<![\w/.-])(\d\d?)/(\d\d?)(?![\w/-])")


def _days_in(text: str) -> Iterator[Day]:
    for token in read(text).tokens:
        yield from (one for one in (token.value, *token.others) if isinstance(one, Day))


def _may_be(said: Day, wanted: Day) -> bool:
    """Tell whether a day with its month may be another one; a year may be left out."""
    same = said[1:] == wanted[1:] and said.month is not None
    return same and (None in (said.year, wanted.year) or said.year == wanted.year)


def _truths(slot: Slot, whole: Text) -> Iterator[_Spoken]:
    """Yield the sentences that say that it is so, or not so: those that name it, if any does."""
    named = [word for word in words(slot.name) if len(word) >= LEAST_PART] or words(slot.name)
    told = sentences(whole.source)
    about = [one for one in told if any(word in "".join(words(one)) for word in named)]
    about = [one for one in about if not one.endswith("?")]  # "Location service? Off."
    for sentence in about or [one for one in told if _SHORT_TRUTH.match(one.casefold())]:
        text = read(sentence)
        places = [text.plain.find(word) for word in named]
        name = max((place for place in places if place >= 0), default=0)
        found = [
            (match.start(), (match[0].split()[-1] in _UNTRUE) is (place.strength == DENIED))
            for match in _TRUTH.finditer(text.plain)
            if (place := judged(text, *match.span())).strength in (DENIED, STATED)
        ]
        # What stands behind the name is said of it; else what stands before.
        behind = [so for start, so in found if start > name] or [so for _, so in found][-1:]
        # "If you like privacy: it is off" says so of what follows the colon.
        colon = max(text.plain.rfind(mark, 0, found[0][0]) for mark in ":;\u2014") if found else 0
        if behind and not _EITHER.search(text.plain, max(colon, 0)):
            start = max(whole.plain.find(text.plain.strip()), 0)
            end = min(start + len(sentence.rstrip(".!? ")), len(whole.plain))
            yield _Spoken(behind[0] is slot.value, start, end)
        elif slot.optional and not found and not sentence.endswith("?"):
            yield from _lacking(slot, text, name, whole)


def _lacking(slot: Slot, text: Text, name: int, whole: Text) -> Iterator[_Spoken]:
    """Yield a sentence that denies what a slot names: "you won't need an umbrella"."""
    is_denied = text.plain[:name].endswith("no ") or judged(text, name, name).strength < STATED
    start = whole.plain.find(text.plain.strip())
    if is_denied and start >= 0 and len(DENIAL.findall(text.plain)) == 1:
        yield _Spoken(slot.value is False, start, start + len(text.plain.strip()))


_TRUTH = re.compile(
    rf"{TRUTH.pattern}|\b(?:in)?active\b|\b(?:un)?available\b|\bopen(?:s|ed)?\b|\bclos(?:ed|es|ing)\b|\bshut\b|\brunning\b"
)
_UNTRUE = frozenset(words("off no false disable disabled deactivate deactivated inactive"))
_UNTRUE |= frozenset(words("unavailable closed closes closing shut"))
_EITHER = re.compile(
    r"\b(?:on or off|off or on|may or may not|whether"
    r"|if(?!(?: [\w']+){1,5} (?:after|wonder\w*|ask\w*|curious|worried"
    r"|concerned|interested|meant?|matters?|checking|to know|mistaken)\b))\b"
)
"""It states neither; "if you were wondering" ties nothing."""
_SHORT_TRUTH = re.compile(
    r"\W*(?:yes|yep|no|nope|indeed|correct|sure|sorry|unfortunately|it|it's|they|they're|right now"
    r"|currently|at the moment|still|presently|both|switched off|switched on|turned off|turned on"
    r"|(?:on|off|(?:en|dis)abled|(?:de)?activated|(?:in)?active)(?=[^\w-]*$"
    r"| (?:now|right now|at (?:the|this) moment|currently|already|for now|as|since|and"
    r"|but)\b|[,;:]))\b"
)


def _of_acts(slot: Slot, messages: Sequence[Text], request: str) -> Finding:
    """Return whether the agent asked, or refused and claims no deed."""
    from seal.core.acts import acts

    best = Finding(slot, "left out")
    wanted = {" ".join(words(text)) for text in slot.texts}
    for number, whole in enumerate(messages):
        told = acts(whole.source, request)
        named = any(f" {w} " in f" {' '.join(words(whole.plain))} " for w in wanted)
        questions = [one for one in sentences(whole.source) if one.endswith("?")]
        asks = any(acts(one, request).asks for one in questions[:_QUESTIONS])
        may = True if asks else told.asks
        if slot.type == "lack":
            if told.claims_deed:
                return Finding(slot, "contradicted", _shown(whole), message=number)
            own = {"i", "we"} | role("apology")
            refuses = told.reading == "refuses" and not own.isdisjoint(words(whole.plain))
            may = may or told.declines or refuses or _lacks(whole.source, named)
        if may is False or (may is None and told.promises and _only_promises(whole)):
            continue
        if may and (named or slot.type == "lack"):
            best = Finding(slot, "told", _shown(whole), message=number)
        elif best.state != "told":
            best = Finding(slot, "undecided", _shown(whole), message=number)
    return best


def _only_promises(whole: Text) -> bool:
    """Tell whether a message that promises a deed says nothing of what it waits for or lacks."""
    from seal.core.clauses import sentences_of

    said = {word for one in sentences_of(whole.source) for word in one.said}
    waits = role("negation", "failing", "apology") | _WAITS
    return said.isdisjoint(waits) and not whole.plain.rstrip().endswith("?")


_WAITS = frozenset(
    words("once when if until after soon unless need without please tell t later before first")
)


def _lacks(text: str, is_named: bool) -> bool | None:
    """Tell whether a message that shows no refusal may be one; so it is where it begins with a no.

    Args:
        text: The message.
        is_named: Whether it names what is lacking.
    """
    from seal.core.clauses import sentences_of

    clauses = [clause.said for one in sentences_of(text) for clause in one.clauses]
    telling = [said for said in clauses if not said <= role("apology", "courtesy") | {"i"}]
    if is_named and telling and telling[0] & role("negation", "failing"):
        return True
    lacking = role("negation", "failing") | {"need", "unknown"}
    if is_named and any("please" in c or (c & lacking and c & _OWN) for c in clauses):
        return True
    signs = role("negation", "apology", "failing", "restricting", "limiting", "subordinate")
    return None if any(said & signs or "need" in said for said in clauses) else False


_OWN = frozenset(["i", "me", "my", "we", "us"])
_QUESTIONS = 9
"""Questions of a message that are read one by one, at most."""


def _shown(whole: Text) -> str:
    return (
        whole.source
        if len(whole.source) <= _LONGEST_SHOWN
        else f"{whole.source[:_LONGEST_SHOWN]}..."
    )


_LONGEST_SHOWN = 200


DENIAL = re.compile(r"\b(?:not|no(?!\.? ?\d)|never|cannot)\b|n't\b")

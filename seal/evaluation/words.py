"""What an agent's words come to: whether all that gold asks to be told is told.

What is read of the words is said in `seal.core.telling`; here stand the slots of a goal, what was
known when the agent spoke, and the verdict with its reason.

A goal is undecided if an answer tells something that nothing in the chat explains:

- a number, day, weekday, time, phone number, name or code. What stands in the request, a call or
  a result explains a value. It may be converted, rounded or counted, or be reckoned from two of
  those, of which the answer says one. "16,000 per 100" is explained by 160, "17 minutes short of
  three hours" by 2 h 43 min. "Eight days overdue" follows from a moment and the clock of the
  world. That holds of what could or would be, too: "20:45 would also work". A bare hour beside a
  time is one, too: "at 7.30 pm instead of 6".
- a thing. Each phrase has a word that request, gold, calls or results have, or names nothing.
  Words of courtesy, effort, manner and speech name nothing, as in "sorry for the delay"; nor do a
  label, a heading and the head of a table. A country is known by its adjective, or by its code in
  a phone number; the place of the world's clock in "7:15, Lisbon time". What usually or rarely
  holds of all of a kind tells of nothing: "streets rarely run straight". Where only 92.3 °F and a
  colleague are known, "with thunderstorms" and "your dentist, Sofia" are undecided. So is "the
  shortest" where the longest was asked for, or "a record high".
- a yes or no to a question of which gold does not tell it
- a deed that no call of its kind did and the request does not ask for, or one on a thing of which
  something is unknown. Of a tool whose name tells nothing the request must say what it is for:
  else "I also emailed her" is undecided.

A whole phone number that nobody told, or the number of a thing such as a parcel, cannot be reckoned
and fails the goal.

Questions, offers, conditions, what may be, and what the agent says that it cannot do are left
alone. If gold names no value, an answer with a value or name that gold's reply lacks is undecided.
A rule knows what is told, and not of what: "4 in the garage and 9 in the house" may be the other
way round. Nor is "your lovely colleague" seen, for words that name no thing tell nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from seal.core import Goal, Step, Task, Verdict, shortened
from seal.core.acts import reckons
from seal.core.cells import reworded, with_meanings
from seal.core.clauses import TELLS, sentences_of, without_quotations
from seal.core.conditions import USER, Replied, parts, party, tells_user
from seal.core.facts import Phrase, Record, phrases
from seal.core.phones import digits_in, is_phone, phone_of, phones_at
from seal.core.quantities import WEEKDAYS, Day, Quantity, Text, Time, is_foreign, read
from seal.core.slots import Slot, says_something
from seal.core.statements import leaves, listed_values
from seal.core.telling import Finding, find, outcome
from seal.core.text import deed_forms, only_looks, plain_stems, role, stem, word_list, words
from seal.core.values import json_text
from seal.evaluation.goals import made_calls

if TYPE_CHECKING:
    from seal.core import JSON, Tables
    from seal.evaluation.goals import GoalChat


def slots_for(goal: Goal) -> list[tuple[Slot, ...]]:
    """Return what gold asks to be told: sets of slots, of which one must be told.

    Answers that gold gives as texts are read once: each value that they list is a slot.
    """
    if goal.tells:
        return [goal.tells]
    sets = [[one] for one in goal.answers] if goal.any_answer else [[*goal.answers]]
    if not goal.answers:
        replies = [
            part
            for plan in goal.plans or ()
            for milestone in plan.milestones
            for part in parts(milestone.condition)
            if isinstance(part, Replied)
        ]
        sets = [[*reply.states] for reply in replies]
    told = [[text for text in one if says_something(text)] for one in sets]
    return [tuple(map(Slot, one if len(one) > 1 else _listed_in(one[0]))) for one in told if one]


def _listed_in(text: str) -> list[str]:
    return next(iter(listed_values(text)), [text])


def record_of(texts: Iterable[str], steps: Iterable[Step], now: datetime | None = None) -> Record:
    """Return what some texts, a user, calls and their results tell."""
    record = Record(texts, now)
    for step in steps:
        record.add_step(step)
    return record


def findings_of(goal: GoalChat) -> list[Finding]:
    """Return what was told of each slot of a goal; none where the agent said nothing."""
    if not goal.answer:
        return []
    record = goal.chat.once(known_to, goal)
    return judge_words(goal.goal, goal.answer, goal.steps, record)[1]


def known_to(goal: GoalChat) -> Record:
    """Return what anyone but the agent told up to the end of a goal, and what gold tells."""
    steps = (step for step in goal.trajectory.steps if step.goal <= goal.position)
    return record_of(gold_texts(goal), steps, _start(goal.task))


def gold_texts(goal: GoalChat) -> list[str]:
    """Return the texts of a task up to a goal: what was said before, requests, and gold's."""
    texts = [step.content for step in (*goal.task.before, *goal.goal.reference)]
    texts += gold_sentences(goal.goal)
    texts += [one.text for one in goal.task.goals[: goal.position + 1]]
    return [
        *texts,
        *(text for slots in slots_for(goal.goal) for slot in slots for text in slot.texts),
    ]


def looking(goal: GoalChat) -> frozenset[str]:
    """Return the ids of the called tools that only look, by their names or descriptions."""
    called = {step.call.tool or "" for step in goal.trajectory.steps if step.call is not None}
    tools = (goal.tools[tool] for tool in called if tool in goal.tools)
    return frozenset(
        tool.id for tool in tools if only_looks(tool.id.rpartition("/")[2], tool.description)
    )


def gold_sentences(goal: Goal) -> list[str]:
    """Return the sentences that a goal's plans ask the agent for, as they are written."""
    asked = (
        p for plan in goal.plans or () for one in plan.milestones for p in parts(one.condition)
    )
    rows = (row for part in asked for row in getattr(part, "rows", ()))
    return [text for row in rows if isinstance(text := row.get("content"), str)]


def _start(task: Task) -> datetime | None:
    """Return when the clock of a task's world begins; None: it has no such clock."""
    clock = task.metadata.get("clock")
    start = clock.get("start") if isinstance(clock, dict) else None
    if not isinstance(start, (int, float)) or not isinstance(clock, dict):
        return None
    return datetime.fromtimestamp(start, ZoneInfo(str(clock.get("zone", "UTC"))))


def judge_words(
    goal: Goal, answer: str, steps: Sequence[Step] = (), record: Record | None = None
) -> tuple[Verdict | None, list[Finding]]:
    """Return what the words of an agent prove of a goal, and what was told of each slot.

    Args:
        goal: With its gold; of alternatives the one that was told best counts.
        answer: The final answer.
        steps: What was said and done for the goal.
        record: What is known besides, and of these steps; None: of these alone.

    Returns:
        None: gold names nothing to tell.
    """
    sets = slots_for(goal)
    if not sets:
        return None, []
    texts = [goal.text, *(text for slots in sets for slot in slots for text in slot.texts)]
    known = record or record_of(texts, steps)
    messages = [step.content for step in steps if tells_user(step)]
    if answer not in messages:
        messages.append(answer)
    ways = [find(slots, messages, known, request=goal.text) for slots in sets]
    best = min(ways, key=lambda way: ORDER.index(outcome(way)))
    return verdict_of(best, sets), best


def verdict_of(best: Sequence[Finding], sets: Sequence[Sequence[Slot]]) -> Verdict:
    """Return what the findings of the set of slots that was told best prove."""
    result = outcome(best)
    if result == "told":
        stated = [one for one in best if one.said or not one.slot.optional]
        return Verdict("solved", f"the answer states {_listed(stated or best)}")
    if result == "undecided":
        unread = _listed([one for one in best if one.state == "undecided"])
        return Verdict("unsure", f"words do not tell whether the answer states {unread}", 2)
    bad = [one for one in best if one.state in ("contradicted", "left out")]
    if len(sets) > 1 and bad[0].state == "left out":
        wanted = " or ".join(shortened(text) for slots in sets for text in slots[0].texts)
        return Verdict("unsolved", f"the answer does not state {wanted}", 2)
    return Verdict("unsolved", reason_of(bad[0]), 2)


# -- What is said besides.


def doubtful(goal: GoalChat, told: Sequence[str]) -> str:
    """Return the first words of an agent in a goal of whose matter nothing is known; empty: none.

    Each phrase of its statements speaks of something that the chat tells, unless it names nothing.
    One that claims a deed speaks of nothing else. The deed is of the kind of a call that worked; or
    the goal asks for such a one or tells of it, and has a word of all that the phrase names. Where
    gold has nothing to tell, one of the names is of the request, gold or a call.

    Args:
        goal: With its answer.
        told: The words that tell what gold asks to be told, which need nothing else to be known.
    """
    known = goal.chat.once(known_to, goal)
    asked = goal.chat.once(_asked_of, goal)
    tools = asked.tools
    offered = {word for tool in goal.goal.offered or () for word in words(tool)}
    done = _deeds_by(tools | offered)
    has_state = known.stems | asked.stems | _deeds_by(tools)
    held = (goal.tools[tool] for tool in goal.goal.offered or () if tool in goal.tools)
    offered |= {w for tool in held for name in tool.parameters["properties"] for w in words(name)}
    done |= {stem(word) for word in offered | role("finish")}
    usual = plain_stems() | {*map(stem, tools)} | role("mental", "finish")
    asked_for = None if slots_for(goal.goal) else _asked_or_done(goal)
    stems = with_meanings(known.stems)
    stems |= {*map(stem, role("rising", "falling"))} if "chang" in stems else set()
    for text in spoken(goal):
        whole, own = read(text), without_quotations(text)
        names = _names_in(text, Record()) if asked_for else []
        if asked_for and names and names == _names_in(text, asked_for):
            return names[0]
        for phrase in () if is_foreign(whole.plain) else phrases(whole):
            said = whole.said(phrase.start, phrase.end)
            reckoned = _reckoned(phrase)
            if _is_odd_deed(phrase, own[phrase.start : phrase.end], usual | reckoned):
                return said
            if not phrase.deed and any(one in said for one in told if one):
                continue
            if _is_odd_state(whole, phrase, has_state) and not any(said in one for one in told):
                return said
            unknown = phrase.stems - stems - done - reckoned
            if not _ASKED_TOOLS.isdisjoint(phrase.words):
                unknown -= _OF_TOOLS
            unknown -= _OF_MOVES if _moves(phrase) else set()
            unknown -= known.zone if phrase.words[-1:] == ("time",) else set()
            bare = bool(unknown) and unknown == phrase.stems - reckoned and not phrase.is_idle
            bare = bare and not is_label(whole, phrase)
            if bare and (not phrase.has_value or len(unknown) > 1):
                return said
            if phrase.deed and (unknown or (not reckoned and _is_unasked(phrase, goal))):
                return said
            best = any(_is_superlative(w) and stem(w) not in known.stems for w in phrase.words)
            records = not _RECORDS.isdisjoint(pairwise(phrase.words))
            if best or (records and "record" not in known.stems):
                return said
    return ""


def invented(goal: GoalChat) -> str:
    """Return a phone number of an answer, or the number of a thing, that nobody told; empty: none.

    Neither can be reckoned: ten digits as people part them, five without a part or unit, or a
    letter or two before some that are called a number: "ticket T301".
    """
    known = goal.chat.once(known_to, goal)
    for text in spoken(goal):
        whole = read(text)
        for one in known.odd(whole, names=True):
            said = whole.said(one.start, one.end)
            is_bare = not isinstance(one.value, Quantity) or one.value.unit is None
            is_code = said.isdecimal() and is_bare and len(said) >= _CODE
            before = words(whole.plain[max(one.start - 40, 0) : one.start])[-3:]
            is_code |= bool(_NUMBERED.fullmatch(said)) and not _NUMBERS.isdisjoint(before)
            if is_code or (digits_in(said) >= _PHONE and is_phone(said)):
                return said
    return ""


_CODE, _PHONE = 5, 10
"""Digits, at least."""
_NUMBERED = re.compile(r"[A-Za-z]{1,2}\d{3,9}")
_NUMBERS = frozenset(words("ticket order booking reference confirmation case number id"))
"""What a letter with digits is called that a tool or a person must have told."""


# -- What is told of a known thing, and a bare yes or no.


def told_otherwise(goal: GoalChat) -> str:
    """Return a day, weekday or time that results tell otherwise of the same thing; empty: none.

    A time is one at which something was written.

    The thing is the same where a call with its result, or a row of one, has a word of the sentence
    that names something, or two of its numbers. Days that are reckoned from another are left out,
    and those beside the right one.
    """
    return next(filter(None, (_otherwise(text, goal) for text in spoken(goal))), "")


def _otherwise(text: str, goal: GoalChat) -> str:
    known = goal.chat.once(known_to, goal)
    whole = read(text)
    odd = [] if known.today is None else [*_written(whole.plain, known.today)]
    odd += [
        (one.start, one.end, one.value if isinstance(one.value, Day) else name)
        for one in known.odd(whole, names=True)
        if isinstance(one.value, Day) or (name := whole.plain[one.start : one.end]) in WEEKDAYS
    ]
    wrote = [one.end() for one in _WROTE_AT.finditer(whole.plain)]
    odd += [(one.start, one.end, one.value) for one in known.odd(whole) if one.start in wrote]
    ends = [one.end() for one in _SENTENCE.finditer(whole.plain)] if odd else []
    facts = [*_facts(goal)] if odd else []
    for start, end, value in odd[:_MOST]:
        last = bisect_right(ends, start)
        begins, end_ = [0, *ends], ends[last] if last < len(ends) else None
        said = whole.plain[begins[last] : end_]
        if not _PRONOUNS.isdisjoint(words(said)[:1]):
            said = whole.plain[begins[max(last - 1, 0)] : end_]  # "She sent it at 8"
        if said.endswith("?"):
            continue
        about = [fact for fact in facts if _is_about(fact, said)]
        if isinstance(value, Time):
            records = [one for one in (Record([fact], known.now) for fact in about) if one.days]
            if records and not any(one.tells(value) for one in records):
                return whole.said(start, end)
        if isinstance(value, Time) or not _RECKONS.isdisjoint(words(said)):
            continue
        told = [_days_of(fact, known, isinstance(value, Day)) for fact in about]
        # Of two days in a sentence the one that a result tells is of its thing; the other is not.
        here = _days_of(said, known, isinstance(value, Day)) | {value}
        if any(told) and all(here.isdisjoint(days) for days in told):
            return whole.said(start, end)
    return ""


def _written(plain: str, today: date) -> Iterator[tuple[int, int, Any]]:
    """Yield where a text says on which day something was written, and the day."""
    for found in _WROTE.finditer(plain):
        day = today - timedelta(found[1] in ("yesterday", "last night"))
        yield found.start(1), found.end(1), Day(day.year, day.month, day.day)


_WROTE = re.compile(
    r"\b(?:wrote|sent|texted|said|asked|messaged|came|arrived|received)\b(?: \w+){0,3}"
    r" (this (?:morning|afternoon|evening)|today|yesterday|last night)\b"
)
"""When something known is said to have been written."""
_WROTE_AT = re.compile(
    r"\b(?:wrote|sent|texted|said|asked|messaged|came|arrived|received)\b(?: [\w+'()-]+){0,6}? at "
)
_PRONOUNS = frozenset(["she", "he", "they", "it"])
_MOST = 20
"""Days that no result tells of which it is looked whether one tells them otherwise, at most."""


def _facts(goal: GoalChat) -> Iterator[str]:
    """Yield what each call and its result tell, row by row."""
    calls = {call.id: call for call in made_calls(goal.steps)}
    for step in goal.steps:
        call = calls.get(step.result.call_id) if step.result is not None else None
        if step.result is None or call is None or step.result.error is not None:
            continue
        rows = [*rows_in(step.result.value)]
        if rows:
            yield from map(json_text, rows)
        else:
            yield f"{json_text(call.arguments)} {json_text(step.result.value)}"


def _is_about(fact: str, sentence: str) -> bool:
    """Tell whether both have a word that names something, two numbers, or a phone number."""
    phones, others = (
        {digits for one, *_ in phones_at(text) for digits in phone_of(one).whole}
        for text in (fact, sentence)
    )
    if phones & others:
        return True
    usual = word_list("plain") | word_list("english_small") | word_list("no_names")
    shared = {*words(fact)} & {*words(sentence)}
    named = {one for one in shared if len(one) > _SMALL and one not in usual and one.isalpha()}
    return bool(named) or sum(map(str.isdigit, shared)) > 1


def _days_of(fact: str, known: Record, in_months: bool) -> set[Any]:
    """Return the days of a fact without their year, or their names in the week."""
    record = Record([fact], known.now)
    days = record.days
    if in_months:
        return {Day(year, day.month, day.day) for day in days for year in (None, day.year)}
    named = {str(one) for one in read(fact).values if one in WEEKDAYS}
    return named or {WEEKDAYS[day.weekday()] for day in days}


_SMALL = 3
"""Letters of words that are held for no thing, at most."""
_SENTENCE = re.compile(r"(?:[^\n;?!.]|\.(?=\S))+\??")
_RECKONS = frozenset(words("after before later earlier ago next following previous from instead"))


def flat(goal: GoalChat) -> tuple[str, bool]:
    """Return the yes or no that an answer begins with, and whether gold's reply has the other.

    Empty: it has none, or the request is no question that a yes or no answers, or gold has a truth
    to tell, or the same word.
    """
    is_asked = any(
        one.is_question and one.words[0] in role("yesno") and one.words[1:2] != ("you",)
        for one in sentences_of(goal.goal.text)
    )
    said = _flat(goal.answer or "") if is_asked else ""
    if not said or any(slot.type == "truth" for slot in goal.goal.tells):
        return "", False
    replies = [step.content for step in goal.goal.reference if tells_user(step)]
    gold = [one for one in map(_flat, (*replies, *goal.goal.answers)) if one]
    return ("", False) if said in gold else (said, bool(gold))


def _flat(text: str) -> str:
    """Return the yes or no that a text begins with; empty: it does not."""
    first = sentences_of(text)[:1]
    said = first[0].clauses[0].words if first else ()
    yes, no = said[:1] in (("yes",), ("yeah",), ("yep",)), said in (("no",), ("nope",))
    return "yes" if yes else "no" if no else ""


def reworded_cell(goal: GoalChat) -> tuple[str, bool]:
    """Return a text that a goal's calls left in a table in words that gold lacks; empty: none.

    It tells what gold's text does, as far as values and names say (`seal.core.cells.is_alike`).
    The names of those whom its row names, as of who gets a message, may stand in it ("Hi Ann").
    The second is True where it names somebody else of the world.
    """
    heard = (step.content for step in goal.steps if party(step.author) == USER)
    request = " ".join([goal.goal.text, *heard])
    results = " ".join(step.content for step in goal.steps if step.result is not None)
    nodes = (node for plan in goal.goal.plans or () for node in plan.milestones)
    tables: dict[str, list[dict[str, JSON]]] = {}
    for step in goal.trajectory.steps:
        tables |= step.state or {}
    for part in (part for node in nodes for part in parts(node.condition)):
        known = part.in_chat(goal.trajectory, goal.position)
        for wanted, text, row in known.left_texts(tables):
            asked = {*words(request), *(word for one in wanted for word in words(one))}
            own, others = _names_of(row, tables, getattr(part, "cells", {}), asked)
            strange = others - own - asked - word_list("plain")
            strange |= {*WEEKDAYS} - asked if {*WEEKDAYS} & asked else set()
            for one in text.split():
                if one[0].isupper() and not strange.isdisjoint(words(one)):
                    return one, True
            # "Hi Ann, ..." names whom it is for.
            rest = " ".join(one for one in text.split() if not own.issuperset(words(one)))
            if all(reworded(one, rest, request, results) for one in wanted):
                return text, False
    return "", False


def _names_of(
    row: Mapping[str, Any], tables: Tables, cells: Mapping[str, str], asked: AbstractSet[str]
) -> tuple[set[str], set[str]]:
    """Return the words of the names of those whom a row or request names, and of all others.

    Args:
        row: Of one of the tables; it names by number or id.
        tables: Of the world. Those with texts name nobody.
        cells: Types of columns.
        asked: Words of the request, which says what somebody is: "plumber".
    """
    keys = {"".join(words(str(cell))) for cell in row.values()}
    texts = {name.partition(".")[0] for name, kind in cells.items() if kind == "text"}
    own, others = set[str](), set[str]()
    for other in (one for name, rows in tables.items() if name not in texts for one in rows):
        held = [str(cell) for cell in other.values() if isinstance(cell, str)]
        is_own = any(len(key := "".join(words(cell))) > _SMALL and key in keys for cell in held)
        is_own = is_own or any(cell in asked for cell in held)
        found = own if is_own else others
        found |= {word for cell in held if _NAME.fullmatch(cell) for word in words(cell)}
    return own, others


_NAME = re.compile(r"[A-Z][^\W\d_]+(?:[ '.-]+[A-Z][^\W\d_]+){0,2}")


def spoken(goal: GoalChat) -> list[str]:
    """Return what the agent told its user in a goal, in order, without what is said of the answer.

    Who says whether the answer is right speaks to the user last, and has not given it.
    """
    givers = {step.author for step in goal.steps if step.content == goal.answer}
    told = [step for step in goal.steps if tells_user(step)]
    texts = [step.content for step in told if not givers or step.author in givers]
    return [*texts, *([goal.answer] if goal.answer and goal.answer not in texts else [])]


def with_marks(goal: GoalChat) -> GoalChat:
    """Return a goal in which marks part a text that was sent from what the agent says besides.

    "I wrote to her, saying: I am late. It did not go out." A call tells how far the text goes.
    """
    held = (leaf for call in made_calls(goal.steps) for _, leaf in leaves(call.arguments or {}))
    sent = [found for leaf in held if isinstance(leaf, str) and (found := _WORD.findall(leaf))[1:]]
    chat = goal.trajectory
    marked = {text: _marked(text, sent) for text in spoken(goal)} if sent else {}
    if all(text == now for text, now in marked.items()):
        return goal
    steps = (
        replace(one, content=marked.get(one.content, one.content))
        if one.goal == goal.position and tells_user(one)
        else one
        for one in chat.steps
    )
    answers = (
        marked.get(answer or "", answer) if at == goal.position else answer
        for at, answer in enumerate(chat.answers)
    )
    chat = replace(chat, steps=tuple(steps), answers=tuple(answers))
    return type(goal)(type(goal.chat)(goal.task, chat, goal.tools), goal.position)


def _marked(text: str, sent: Sequence[Sequence[str]]) -> str:
    """Return a text with quotation marks about each sent text that stands bare behind a colon."""
    kept, reached = [], 0
    for lead in islice(_QUOTES_BARE.finditer(text), _MOST):
        if lead.end() < reached:
            continue
        for wanted in sent:
            found = [*islice(_WORD.finditer(text, lead.end()), len(wanted))]
            if [one[0].lower() for one in found] == [one.lower() for one in wanted]:
                said = text[lead.end() : found[-1].end()].replace("\n", " ")
                kept += [text[reached : lead.end()], f"\u201c{said}\u201d"]
                reached = found[-1].end()
                break
    return "".join([*kept, text[reached:]])


_WORD = re.compile(r"[^\W_]+")
_QUOTES_BARE = re.compile(
    rf"\b(?:{'|'.join(sorted(TELLS))})(?: \w+){{0,2}}: ?(?=\w)", re.IGNORECASE
)
"""What leads to the words of a text that no marks part from others."""


def _names_in(text: str, known: Record) -> list[str]:
    """Return the names in a text of which a record has no word."""
    strange = known.unexplained(text, names=True)
    return [
        one
        for one in strange
        if one.isalpha() and one[0].isupper() and one.casefold() not in WEEKDAYS
    ]


def _asked_or_done(goal: GoalChat) -> Record:
    """Return what is told of a goal but for the results of calls.

    Of a row that has what the request names in small letters, as "plumber", all is told; of one
    whose name a call has, as that of a shop that is saved; and of one that a deed has the id of.
    """
    steps = [step for step in (*goal.goal.reference, *goal.steps) if step.result is None]
    texts = [step.content for step in goal.goal.reference if step.result is None]
    asked = {*words(goal.goal.text)} - word_list("english_small")
    looks = looking(goal)
    taken = {
        leaf
        for call in made_calls(goal.steps)
        for _, leaf in leaves(call.arguments or {})
        if isinstance(leaf, str)
        and (_NAME.fullmatch(leaf) or (call.tool not in looks and _is_id(leaf)))
    }
    for row in (row for step in goal.steps if step.result for row in rows_in(step.result.value)):
        if any(cell in asked | taken for cell in row.values() if isinstance(cell, str)):
            texts.append(json_text(row))
    return record_of([goal.goal.text, *gold_sentences(goal.goal), *texts], steps, _start(goal.task))


def _is_id(text: str) -> bool:
    return len(text) <= 40 and " " not in text and any(map(str.isdigit, text))


def rows_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a result; none of one that has an empty list, or is a text."""
    left, found = [value], list[Mapping[str, Any]]()
    while left:
        held = left.pop()
        if isinstance(held, Mapping):
            found.append(held)
            left += held.values()
        elif isinstance(held, (list, tuple)):
            if not held:
                return
            left += held
    yield from found


def _is_superlative(word: str) -> bool:
    is_long = len(word) > _SHORTEST and word.endswith("est")
    return is_long and word not in word_list("plain")  # "according to the latest figures"


_RECORDS = frozenset(product(("record", "time"), ("high", "highs", "low", "lows")))
_SHORTEST = 5
"""Letters of words such as rest, west and best."""


class _Asked(NamedTuple):
    """What a goal and its calls tell of deeds."""

    forms: set[str]
    """Words of what the user said, but for "tell me" and its like."""
    tools: set[str]
    """Words of the names of tools whose calls worked."""
    told: set[str]
    """Words of what the user said, and of results."""
    stems: set[str]
    said: set[tuple[str, ...]]
    """The phrases of requests, as their words."""


def _asked_of(goal: GoalChat) -> _Asked:
    failed = {step.result.call_id for step in goal.steps if step.result and step.result.error}
    calls = [call for call in made_calls(goal.steps) if call.id not in failed]
    tools = {word for call in calls for word in words(call.tool or call.name)}
    asked = [goal.goal.text, *(step.content for step in goal.steps if party(step.author) == USER)]
    tells = {word for word, kinds in deed_forms().tools.items() if kinds == {"send"}}
    tells -= deed_forms().base.keys()
    pairs = (pair for text in asked for pair in pairwise([*words(text), ""]))
    forms = {word for word, after in pairs if word not in tells or after not in _TOLD} - {"say"}
    results = [step.content for step in goal.steps if step.result is not None]
    told = {word for text in (*asked, *results) for word in words(text)}
    calls += [step.call for step in goal.goal.reference if step.call is not None]
    near = [*gold_sentences(goal.goal), *(step.content for step in goal.goal.reference)]
    near += [f"{call.tool or call.name} {json_text(call.arguments)}" for call in calls]
    stems = {stem(word) for word in told.union(*map(words, near))}
    said = (phrase.words for text in gold_texts(goal) for phrase in phrases(read(text)))
    return _Asked(forms, tools, told, stems, {*said})


_TOLD = ("me", "us")


_ASKED_TOOLS = frozenset(["according", "checking", "checked", "used", "using", "called"])
_OF_TOOLS = frozenset(map(stem, role("tool")))
"""Stems of what a message says that it asked: "according to the system"."""


def _reckoned(phrase: Phrase) -> AbstractSet[str]:
    """Return the stems of what the speaker says it did with the answer: "I added the unit"."""
    small = role("adverb", "auxiliary") | {"ve"}
    said = tuple(word for word in phrase.words if word not in small)
    verbs = [at for at, before in enumerate(said[:-1], 1) if before in ("i", "we")]
    for at in (*verbs, *(said.index(one) for one in [phrase.deed] if one in said)):
        if reckons(said[at], behind := said[at + 1 :]):
            return {stem(said[at]), *map(stem, behind[:3])}
    return frozenset()


def _deeds_by(tools: AbstractSet[str]) -> set[str]:
    """Return the stems of the verbs of deeds that tools do, by the words of their names."""
    return {
        stem(form)
        for form, kind in deed_forms().base.items()
        if any(kind in deed_forms().tools.get(word, ()) for word in tools)
    }


def _is_odd_state(whole: Text, phrase: Phrase, told: AbstractSet[str]) -> bool:
    """Tell whether a phrase ends by a deed, as a state that nothing tells: "it is cancelled".

    What stands alone behind a colon is one, too: "status: cancelled". Whoever did it, some result
    says so, or a call did it here. Of what is switched, results tell true or false.

    Args:
        whole: The message.
        phrase: Of it.
        told: The stems that are told, and those of the deeds that called tools do.
    """
    said = [word for word in phrase.words if word not in role("adverb")]
    if not said or phrase.deed or phrase.is_idle or not role("negation").isdisjoint(phrase.words):
        return False
    last = said[-1]
    if last in deed_forms().past:
        kind, base = deed_forms().past[last]
        explained = {stem(last), stem(base), *(_TRUTHS if kind == "switch" else ())}
    else:
        is_usual = stem(last) in _tells_little() or last in role("finish")
        kind = "any" if is_usual or not last.endswith("ed") else "unknown"
        explained = {stem(last)}
    behind_colon = whole.plain.startswith(":", max(phrase.start - 2, 0))
    is_state = said[-2] in _IS if said[1:] else behind_colon
    return kind != "any" and is_state and explained.isdisjoint(told)  # "it's done": of no deed


@cache
def _tells_little() -> frozenset[str]:
    """Return stems of words that name nothing, or any deed: "processed"."""
    any_deed = (stem(word) for word, kinds in deed_forms().tools.items() if "any" in kinds)
    return frozenset((*plain_stems(), *any_deed))


_IS = frozenset(["is", "are", "was", "were", "been", "has", "have", "had"])
_TRUTHS = frozenset(map(stem, ["true", "false"]))


def _is_odd_deed(phrase: Phrase, own: str, usual: AbstractSet[str]) -> bool:
    """Tell whether a phrase says that the speaker did what no tool is called by: "I collected".

    Args:
        phrase: Of a message.
        own: It as written, without what it quotes.
        usual: Stems of words that name nothing, and of the names of tools.
    """
    small = role("adverb", "auxiliary")
    said = [word for word in words(own) if word not in small and word != "ve"]
    return not _moves(phrase) and any(
        before in ("i", "we")
        and (verb.endswith("ed") or verb in role("irregular"))
        and not {verb, stem(verb)} & usual
        for before, verb in pairwise(said)
        if verb not in deed_forms().past
    )


def _moves(phrase: Phrase) -> bool:
    """Tell whether a phrase says that something was moved in time: "I've brought it forward"."""
    said = phrase.words
    return any(
        verb in _MOVED and not _MOVED[verb].isdisjoint(said[at + 1 :])
        for at, verb in enumerate(said)
    )


_MOVED = {
    **dict.fromkeys(["brought", "pulled"], frozenset(["forward", "up"])),  # "pulled up the text"
    "advanced": frozenset(["it", "the", "your", "by", "to"]),
}
"""Past forms that say so with one of some words behind them. Else they may say other things."""


_OF_MOVES = frozenset(map(stem, ["brought", "pulled", "advanced", "forward"]))


def _is_unasked(phrase: Phrase, goal: GoalChat) -> bool:
    """Tell whether a phrase claims a deed of which a goal and its calls know nothing."""
    asked = goal.chat.once(_asked_of, goal)
    kind, base = deed_forms().past[phrase.deed]
    if kind == "switch" and base not in ON_OFF:  # "and blocked the number"
        return base not in asked.tools | asked.told
    kinds = ("add", "change") if base in ("set", "file") else (kind,)
    kinds = ("send", "buy") if kind == "send" and phrase.has_value else kinds  # "sent 250 euros"
    if phrase.words in asked.said or any(_means(f, one) for f in asked.tools for one in kinds):
        return False
    is_asked = phrase.deed in asked.told or any(_means(form, kind) for form in asked.forms)
    return not is_asked or not phrase.stems <= asked.stems


ON_OFF = frozenset(words("turn switch enable disable activate deactivate connect disconnect"))
"""Verbs that may be said of any switch."""


def _means(form: str, kind: str) -> bool:
    """Tell whether a word asks for deeds of a kind, or names a tool that does them."""
    forms = deed_forms()
    other = form in forms.base and form != "set"  # who sets a switch may turn it on
    return forms.base.get(form) == kind or (not other and kind in forms.tools.get(form, ()))


def may_claim(text: str) -> bool:
    """Tell whether a message has a word by which it could claim or deny a deed, or a look.

    Without one `seal.core.untruths` finds no false success in it.
    """
    plain = text.lower()
    return _claims(_PAST).search(plain) is not None or (
        _claims(_TRIED).search(plain) is not None and _claims(_BASE).search(plain) is not None
    )


@cache
def _claims(kind: str) -> re.Pattern[str]:
    """Return what finds one of some words."""
    forms = deed_forms()
    listed = {
        _PAST: forms.past.keys() | forms.nouns.keys() | role("finish") | _ALSO,
        _BASE: forms.base.keys(),
        _TRIED: frozenset(["was", "were", "managed", "could", "did", "failed", "unable", "able"]),
    }[kind]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(listed)))})")


_PAST, _BASE, _TRIED = "past", "base", "tried"
_ALSO = frozenset(
    ["checked", "looked", "searched", "signed", "wrote", "written", "passed", "logged"]
)


ORDER = ("told", "undecided", "untold")
"""What findings come to, the best first."""


def reason_of(finding: Finding) -> str:
    """Return in words why a slot is not told."""
    slot = finding.slot
    wanted = " or ".join(map(shortened, slot.texts))
    name = f"{slot.name}: " if slot.name and slot.type != "truth" else ""
    if slot.type == "question":
        return f"{name}the agent does not ask for {wanted}"
    if slot.type == "lack":
        claims = f"the agent claims a deed: {shortened(finding.said)}"
        lacks = f"the agent neither refuses nor asks for {wanted}"
        return name + (claims if finding.state == "contradicted" else lacks)
    if slot.type == "truth":
        wanted = f"that {slot.name or 'it'} is {'so' if slot.value else 'not so'}"
    if finding.denied:
        return f"{name}the answer denies {wanted}"
    if finding.state == "contradicted":
        return f"{name}the answer says {shortened(finding.said)}, gold is {wanted}"
    return f"{name}the answer does not state {wanted}"


def _listed(findings: Sequence[Finding]) -> str:
    wanted = ((one.slot.type == "lack", one.slot.texts) for one in findings[:3])
    shown = ", ".join(
        "a refusal or a question" if lack else " or ".join(map(shortened, texts))
        for lack, texts in wanted
    )
    return f"{shown} and {len(findings) - 3} more" if len(findings) > 3 else shown


def is_label(whole: Text, phrase: Phrase) -> bool:
    """Tell whether a short phrase is the label of what follows, or a heading, which states nothing.

    It begins a line, and ends it or has a colon behind it; or it is the first cell of a row of a
    table, or in its head.
    """
    if len(phrase.words) > _LABEL or phrase.has_value:
        return False
    begin = whole.plain.rfind("\n", max(phrase.start - _ROW, 0), phrase.start) + 1
    end = whole.plain.find("\n", phrase.end, phrase.end + _ROW)
    before, after = whole.plain[begin : phrase.start], whole.plain[phrase.end :][:2].lstrip(" ")
    if before.startswith("|"):
        return not before.strip("| ") or bool(_BELOW_HEAD.match(whole.plain, max(end, 0)))
    mark = before.strip(" ")
    if after[:1] == ":":
        return not mark.strip("-*#\u2022") or mark.rstrip(".)").isdecimal()
    is_alone = not begin or whole.plain[begin - 2 : begin] == "\n\n"
    return "#" in mark or (not mark and is_alone and after[:1] == "\n")


_LABEL = 3
"""Words of a label, at most."""
_ROW = 300
"""Characters of a row of a table before and after a cell, at most."""
_BELOW_HEAD = re.compile(r"\n *(?:\| *)?:?-{2,}")

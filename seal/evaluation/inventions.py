"""What an agent tells beside a right value of which nothing in the chat is a sign.

Read clause by clause (`seal.core.clauses`), in English, of what is no question and hangs on no
condition. Each kind of claim needs a sign of its own, whatever other known words stand beside it:

- what will happen: its verb, or a day, time or amount that was told. "A fourth one will follow"
- what somebody known does: the verb. "Leon is bringing his sister"
- what somebody or something new does: who it is. "A courier collects it"
- a time to come, as "next week": the words, or a day in it
- a deed: a call of it. What the speaker did was done to a thing that a call with an effect names,
  changed or had looked up; or to one that the request asks for without an if. So "I cancelled the
  car service" is no deed of a call that moved the piano lesson. An amount of money of a deed is one
  of those calls, too. What is "deleted" by a tool that updates or moves needs a word for that.

Where a sign is missing, words alone cannot tell: the goal is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from seal.core.cells import with_meanings
from seal.core.clauses import Clause, Predicate, sentences_of
from seal.core.conditions import tells_user
from seal.core.facts import Record, plain_stems, stem
from seal.core.quantities import is_foreign, read
from seal.core.statements import leaves
from seal.core.text import deed_forms, deeds_of, role, word_list, words
from seal.core.values import json_text
from seal.evaluation.goals import made_calls
from seal.evaluation.words import gold_sentences, known_to, rows_in, spoken

if TYPE_CHECKING:
    from seal.core import Step
    from seal.evaluation.goals import GoalChat


def without_sign(goal: GoalChat, told: Sequence[str]) -> str:
    """Return the first words of an agent in a goal that claim what nothing is a sign of.

    Empty: there are none.

    Args:
        goal: With its answer.
        told: The words that tell what gold asks to be told, which need no sign.
    """
    known = goal.chat.once(known_to, goal)
    acts = goal.chat.once(_acts_in, goal)
    stems = with_meanings(known.stems)
    for text in spoken(goal):
        if is_foreign(read(text).plain):
            continue
        for sentence in sentences_of(text):
            if sentence.is_question:
                continue
            deed = False
            for clause in sentence.clauses:
                said = text[clause.start : clause.end]
                deed = _claims_deed(clause, deed)
                if clause.is_tied or any(one in said for one in told if one):
                    continue
                if _is_to_come(clause, said, stems, known) or _is_new(clause, stems):
                    return said
                if _comes_soon(said, known):
                    return said
                if acts is not None and deed and _is_unmade(clause, said, acts):
                    return said
    return ""


# -- What happens.


def _is_to_come(clause: Clause, said: str, stems: AbstractSet[str], known: Record) -> bool:
    """Tell whether a clause says what will happen, or what somebody does, by a verb of its own."""
    for one in clause.predicates:
        own = one.verb in _NO_EVENTS or stem(one.verb) in stems
        if own or one.negated or one.subject in ("i", "we") or not one.verb.isalpha():
            continue
        will = "will" in one.group or {"going", "to"} <= one.group
        does = one.verb.endswith("ing") and not one.group.isdisjoint(("is", "are"))
        does = does and _is_somebody(one.subject, said, stems)
        if (will or does) and not _tells_value(said, known):
            return True
    return False


_NO_EVENTS = role("mind", "mental", "seek", "finish", "courtesy") | {"", "find", "be", "have", "do"}


def _is_somebody(subject: str, said: str, stems: AbstractSet[str]) -> bool:
    is_name = stem(subject) in stems and subject.capitalize() in said
    return subject in ("he", "she", "they") or subject in role("person") or is_name


def _tells_value(said: str, known: Record) -> bool:
    """Tell whether a clause has a value, and all of its values are explained."""
    whole = read(said)
    has = any(t.value != 1 for t in whole.tokens if type(t.value) is not str) or any(
        map(str.isdigit, said)
    )
    return has and not known.odd(whole)


def _is_new(clause: Clause, stems: AbstractSet[str]) -> bool:
    """Tell whether a clause tells of somebody or something that it brings in: "a courier"."""
    said = clause.words
    if said[0] not in _NEW or len(said) < _LEAST or clause.lead not in ("", "and", "but", ","):
        return False
    verbs = (one for one in clause.predicates if one.at > 1)
    first = next((one for one in verbs if _is_finite(one)), None)
    if first is None:
        return False
    end = first.begin if first.group else first.at
    subject = {stem(word) for word in said[1:end] if word.isalpha() and len(word) > 2}
    return bool(subject) and subject.isdisjoint(stems) and not subject <= plain_stems()


_NEW = frozenset(words("a an another some"))
_LEAST = 4
"""Words of a clause that tells what somebody does."""


def _is_finite(one: Predicate) -> bool:
    return bool(one.group) or (one.verb.endswith("s") and one.verb not in word_list("plain"))


def _comes_soon(said: str, known: Record) -> bool:
    """Tell whether a clause names a time to come that nothing is a sign of."""
    found = _SOON.search(said.lower())
    if found is None or {*map(stem, words(found[0]))} <= known.stems:
        return False
    if found[1] and known.today is not None:
        begin = known.today + timedelta({"week": 7 - known.today.weekday()}.get(found[1], 0))
        return not any(begin <= day < begin + timedelta(7) for day in known.days)
    return True


_SOON = re.compile(
    r"\bnext (week)\b|\b(?:next (?:month|year)|(?:with)?in (?:the|an|a(?: few)?|the next) "
    r"(?:minute|hour|day|week|month)s?)\b"
)


# -- What was done.


class _Acts(NamedTuple):
    """What the calls with an effect did."""

    record: Record
    """Arguments, results, and the rows that changed."""
    things: AbstractSet[str]
    """Stems of what they name, changed or had looked up, and of what was asked for."""
    kinds: AbstractSet[str]
    """Kinds of deeds by the verbs of their tools; of "update" and its like there is none."""
    removes: bool
    """Whether a word of them says that something was removed."""


def _acts_in(goal: GoalChat) -> _Acts | None:
    """Return what calls did up to the end of a goal; None: none did anything that is known."""
    steps = [step for step in goal.trajectory.steps if step.goal <= goal.position]
    calls = {call.id: call for call in made_calls(steps)}
    tables: dict[str, Sequence[object]] = {}
    texts, keys, looked = list[str](), set[object](), list[object]()
    names = list[str]()
    for step in steps:
        call = calls.get(step.result.call_id) if step.result is not None else None
        changed = [*_changed(step, tables)]
        tables |= step.state or {}
        if step.result is None or call is None or step.result.error is not None:
            continue
        kinds = deeds_of((call.tool or call.name).rpartition("/")[2])
        if kinds == {"read"}:
            looked += rows_in(step.result.value)
            continue
        if not kinds:
            return None
        names.append((call.tool or call.name).rpartition("/")[2])
        texts += [json_text(call.arguments), json_text(step.result.value), *map(json_text, changed)]
        keys |= {leaf for _, leaf in leaves(call.arguments or {})}
        keys |= {_key_of(row) for row in changed}
    if not names:
        return None
    keys -= {None, True, False, ""}
    texts += [json_text(row) for row in looked if _key_of(row) in keys]
    texts += [*_asked(goal.goal.text), *gold_sentences(goal.goal)]
    texts += [step.content for step in goal.goal.reference if tells_user(step)]
    record = Record([*texts, *names], goal.chat.once(known_to, goal).now)
    forms = deed_forms()
    kinds = {forms.base[w] for name in names for w in words(name) if w in forms.base}
    removes = any(
        stem(form) in record.stems
        for form in (*forms.base, *_BINS)
        if forms.base.get(form, "remove") == "remove"
    )
    return _Acts(record, with_meanings(record.stems), kinds, removes)


_BINS = words("trash bin junk deleted cancelled inactive")


def _key_of(row: object) -> object:
    cell = next(iter(row.values()), None) if isinstance(row, dict) else None
    return cell if isinstance(cell, (str, int)) else None


def _changed(step: Step, tables: dict[str, Sequence[object]]) -> Iterator[object]:
    """Yield the rows that a step changed, as they were and as they are."""
    from seal.core.table_versions import Version  # most chats are in no world

    for name, rows in (step.state or {}).items():
        if name in tables:
            now, then = Version.of(rows), Version.of(tables[name])
            yield from (*now.unlike(then), *then.unlike(now))


def _asked(request: str) -> Iterator[str]:
    """Yield the clauses of a request that ask without an if."""
    for sentence in sentences_of(request):
        if not {"if", "unless", "otherwise"} & sentence.said:
            yield request[sentence.start : sentence.end]


def _claims_deed(clause: Clause, before: bool) -> bool:
    """Tell whether a clause claims a deed of the speaker, or goes on with one."""
    return any(_is_deed(one, clause, before) for one in clause.predicates)


def _is_deed(one: Predicate, clause: Clause, before: bool) -> bool:
    if one.verb not in deed_forms().past or one.negated:
        return False
    goes_on = before and not one.begin and clause.lead in ("and", ",")
    own = (one.is_first or goes_on) and one.group.isdisjoint(role("being"))
    passive = "been" in one.group
    return (own or passive) and one.group.isdisjoint(role("modal"))


def _is_unmade(clause: Clause, said: str, acts: _Acts) -> bool:
    """Tell whether a clause claims a deed of a thing, amount or kind that no call did."""
    past = deed_forms().past
    for one in clause.predicates:
        if one.verb not in past or one.negated:
            continue
        behind = clause.words[one.at + 1 :]
        end = next((n for n, word in enumerate(behind) if word in _PURPOSES), len(behind))
        meant = behind[:end] if "been" not in one.group else clause.words[: one.begin]
        things = {stem(w) for w in meant if len(w) > 2 and w.isalpha()} - plain_stems()
        things -= {stem(word) for word in meant if word in past}
        if things and things.isdisjoint(acts.things):
            return True
        if past[one.verb][0] == "remove" and "remove" not in acts.kinds and not acts.removes:
            return True
    whole = read(said)
    sums = [q for q in whole.quantities if q.unit is not None and q.unit == q.dimension != "%"]
    odd = {one.start for one in acts.record.odd(whole)}
    return bool(sums) and all(one.start in odd for one in sums)


_PURPOSES = frozenset(words("for so because since as before after"))

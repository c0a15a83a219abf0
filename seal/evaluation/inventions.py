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
  of those calls, too. What is "deleted", or "in the bin", by a tool that updates or moves needs a
  word for that.

Where a sign is missing, words alone cannot tell: the goal is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from seal.core.cells import with_meanings
from seal.core.clauses import Clause, Predicate, sentences_of
from seal.core.conditions import tells_user
from seal.core.facts import Record
from seal.core.quantities import is_foreign, read
from seal.core.statements import leaves
from seal.core.text import deed_forms, deeds_of, plain_stems, role, stem, word_list, words
from seal.core.values import json_text
from seal.evaluation.goals import made_calls
from seal.evaluation.words import gold_sentences, known_to, looking, rows_in, spoken

if TYPE_CHECKING:
    from seal.core import Step
    from seal.evaluation.goals import GoalChat


def without_sign(goal: GoalChat) -> str:
    """Return the first words of an agent in a goal that claim what nothing is a sign of.

    Empty: there are none.
    """
    known = goal.chat.once(known_to, goal)
    acts = goal.chat.once(_acts_in, goal)
    held = (goal.tools[tool] for tool in goal.goal.offered or () if tool in goal.tools)
    described = {stem(word) for tool in held for word in words(tool.description)}
    stems = with_meanings(known.stems | described)
    for text in spoken(goal):
        for said, clause, is_deed in _claims_in(text):
            if _is_to_come(clause, said, stems, known) or _is_new(clause, stems):
                return said
            if _comes_soon(said, known):
                return said
            if acts is not None and (
                (is_deed and (_is_unmade(clause, acts) or _is_on_another(said, acts)))
                or _is_unpaid(clause, said, acts)
            ):
                return said
    return ""


def deleted_otherwise(goal: GoalChat) -> str:
    """Return where an agent says that it deleted what a call moved elsewhere; empty: nowhere."""
    acts = goal.chat.once(_acts_in, goal)
    if acts is None or "remove" in acts.kinds:
        return ""
    told = (step.content for step in goal.trajectory.steps if step.result is not None)
    has_bin = any(not _DELETES.isdisjoint(words(text)) for text in told)
    return next(
        (
            said
            for text in spoken(goal)
            for said, clause, is_deed in _claims_in(text)
            if (
                acts.only_moves
                and is_deed
                and any(_is_unremoved(one, acts) for one in clause.predicates)
            )
            or (not has_bin and _is_in_bin(clause, said, acts))
        ),
        "",
    )


def _claims_in(text: str) -> Iterator[tuple[str, Clause, bool]]:
    """Yield the clauses of statements that hang on no other, and whether each claims a deed."""
    for sentence in sentences_of(text) if not is_foreign(read(text).plain) else ():
        is_deed = False
        for clause in () if sentence.is_question else sentence.clauses:
            is_deed = _claims_deed(clause, is_deed)
            depends = sentence.words[0] in _IFS and not is_deed
            if not (clause.is_tied or depends):
                yield text[clause.start : clause.end], clause, is_deed


_IFS = frozenset(["if", "unless", "once", "when", "should"])


# -- What happens.


def _is_to_come(clause: Clause, said: str, stems: AbstractSet[str], known: Record) -> bool:
    """Tell whether a clause says what will happen, or what somebody does, by a verb of its own."""
    told = with_meanings(known.stems, deeds=True)
    for one in clause.predicates:
        base = _base_of(one.verb)
        own = one.verb in _NO_EVENTS or stem(one.verb) in stems | told
        if {"will", "be"} <= one.group and base != one.verb:  # "it will be shipped"
            own = stem(base) in told
        elif {"will", "be"} <= one.group:  # "it will be in your letterbox"
            behind = {
                stem(word) for word in clause.words[one.at : one.at + _NEAR] if word.isalpha()
            }
            own = behind <= stems | plain_stems()
        if own or one.negated or one.subject in ("i", "we") or not one.verb.isalpha():
            continue
        will = "will" in one.group or {"going", "to"} <= one.group
        does = one.verb.endswith("ing") and not one.group.isdisjoint(("is", "are"))
        does = does and _is_somebody(one.subject, said, stems)
        if will or does:
            of_somebody = does or _is_somebody(one.subject, said, stems)
            return of_somebody or not _tells_value(said, known)
    return False


def _base_of(verb: str) -> str:
    """Return the base form of the past form of a deed's verb, and any other word as it is."""
    return deed_forms().past.get(verb, ("", verb))[1]


_NO_EVENTS = role("mind", "mental", "finish") | {"", "find", "see", "be", "have", "do"}


def _is_somebody(subject: str, said: str, stems: AbstractSet[str]) -> bool:
    is_name = (
        subject not in word_list("english_small")
        and stem(subject) in stems
        and subject.capitalize() in said[:_WIDE]
    )
    return subject in ("he", "she", "they") or subject in role("person") or is_name


_WIDE = 300
"""Characters of a clause in which a name stands, at most."""


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
    if found[1] is None:
        return True
    if known.today is None:
        return found[1] == "week"
    begins, lasts = (7 - known.today.weekday(), 7) if found[1] == "week" else (1, 1)
    begin = known.today + timedelta(begins)
    return not any(begin <= day < begin + timedelta(lasts) for day in known.days)


_SOON = re.compile(
    r"\b(?:next )?((?<=next )week|tomorrow)\b"
    r"|\bnext (?:month|year)\b"
    r"|\b(?:with)?in (?:the|an|a(?: few)?|the next) (?:minute|hour|day|week|month)s?\b"
)


# -- What was done.


class _Acts(NamedTuple):
    """What the calls with an effect did."""

    made: Record
    """Arguments, results, and the rows that changed; and what gold tells of them."""
    things: AbstractSet[str]
    """Stems of what they name, changed or had looked up, and of what was asked for."""
    kinds: AbstractSet[str]
    """Kinds of deeds by the verbs of their tools; of "update" and its like there is none."""
    only_moves: bool
    """Whether what may remove things by its name is called "move", and nothing else."""


def _acts_in(goal: GoalChat) -> _Acts | None:
    """Return what calls did up to the end of a goal; None: none did anything that is known."""
    steps = [step for step in goal.trajectory.steps if step.goal <= goal.position]
    calls = {call.id: call for call in made_calls(steps)}
    tables: dict[str, Sequence[Mapping[str, Any]]] = {}
    texts, keys, looked = list[str](), set[object](), list[object]()
    names, is_opaque, looks = list[str](), False, goal.chat.once(looking, goal)
    for step in steps:
        call = calls.get(step.result.call_id) if step.result is not None else None
        changed = [*_changed(step, tables)]
        tables |= step.state or {}
        if step.result is None or call is None or step.result.error is not None:
            continue
        kinds = deeds_of((call.tool or call.name).rpartition("/")[2])
        kinds = {"read"} if call.tool in looks else kinds
        if kinds == {"read"}:
            looked += rows_in(step.result.value)
            continue
        if not kinds and not tables:
            return None
        is_opaque |= not kinds
        names.append((call.tool or call.name).rpartition("/")[2])
        texts += [json_text(call.arguments), json_text(step.result.value), *map(json_text, changed)]
        keys |= {leaf for _, leaf in leaves(call.arguments or {})}
        keys |= {_key_of(row) for row in changed}
    if not names:
        return None
    keys -= {None, True, False, ""}
    texts += [json_text(row) for row in looked if _key_of(row) in keys]
    texts += gold_sentences(goal.goal)
    texts += [step.content for step in goal.goal.reference if tells_user(step)]
    made = Record([*texts, *names], goal.chat.once(known_to, goal).now)
    asked = {stem(word) for text in _asked(goal.goal.text) for word in words(text)}
    base = deed_forms().base
    kinds = {base[word] for name in names for word in words(name) if word in base}
    kinds |= {"remove"} if is_opaque else set()
    may = {w for n in names for w in words(n) if "remove" in deed_forms().tools.get(w, ())}
    return _Acts(made, with_meanings(made.stems | asked), kinds, may == {"move"})


def _key_of(row: object) -> object:
    cell = next(iter(row.values()), None) if isinstance(row, dict) else None
    return cell if isinstance(cell, (str, int)) else None


def _changed(step: Step, tables: dict[str, Sequence[Mapping[str, Any]]]) -> Iterator[object]:
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


def _is_unmade(clause: Clause, acts: _Acts) -> bool:
    """Tell whether a clause claims a deed of a thing or kind that no call did."""
    past = deed_forms().past
    for one in clause.predicates:
        if one.verb not in past or one.negated:
            continue
        behind = clause.words[one.at + 1 : one.at + _NEAR]
        end = next((n for n, word in enumerate(behind) if word in _PURPOSES), len(behind))
        before = clause.words[max(one.begin - _NEAR, 0) : one.begin]
        meant = behind[:end] if "been" not in one.group else before
        things = {stem(w) for w in meant if len(w) > 2 and w.isalpha()} - plain_stems()
        things -= {stem(word) for word in meant if word in past}
        if things and things.isdisjoint(acts.things):
            return True
        if _is_unremoved(one, acts):
            return True
    return False


def _is_unremoved(one: Predicate, acts: _Acts) -> bool:
    """Tell whether a predicate claims that something was removed, of which no call has a word."""
    kind, base = deed_forms().past.get(one.verb, ("", ""))
    signs = {*map(stem, _DELETES if base in _DELETES else (base,))}
    removed = "remove" in acts.kinds or not signs.isdisjoint(acts.made.stems)
    return kind == "remove" and not one.negated and not removed


def _is_in_bin(clause: Clause, said: str, acts: _Acts) -> bool:
    """Tell whether a clause says that something is in the bin, where no call has a word of it."""
    if not clause.said.isdisjoint(role("negation", "failing") | (role("modal") - {"to"})):
        return False
    return _BINNED.search(said) is not None and acts.made.stems.isdisjoint(map(stem, _DELETES))


_BINNED = re.compile(
    r"\b(?:is|are|went|put|moved|sent|landed|sits|lies)\b[^,;:]{0,60}? (?:in|into|to) (?:the|your)"
    r" (?:recycle )?(?:bin|trash|junk|wastebasket)\b",
    re.IGNORECASE,
)
_NEAR = 12
"""Words of what a deed is done to, at most."""
_PURPOSES = frozenset(words("for so because since as before after"))
_DELETES = frozenset(words("delete remove erase discard trash bin junk"))
"""Deeds of one kind, and where things go by them."""


def _is_on_another(said: str, acts: _Acts) -> bool:
    """Tell whether the codes in a deed's clause are of none that calls did something to."""
    whole = read(said)
    codes = {
        token.start
        for token in whole.tokens
        if isinstance(token.value, str) and any(map(str.isdigit, token.value))
    }
    return bool(codes) and codes <= {one.start for one in acts.made.odd(whole)}


def _is_unpaid(clause: Clause, said: str, acts: _Acts) -> bool:
    """Tell whether a clause tells a sum of a deed that is no sum of a call."""
    done = (
        one.verb in deed_forms().past
        and not one.negated
        and one.group.isdisjoint(role("modal"))
        and (one.is_first or not one.group.isdisjoint(role("being")))
        for one in clause.predicates
    )
    if not any(done):
        return False
    whole = read(said)
    sums = [q for q in whole.quantities if q.unit is not None and q.unit == q.dimension != "%"]
    odd = {one.start for one in acts.made.odd(whole)}
    return bool(sums) and all(one.start in odd for one in sums)

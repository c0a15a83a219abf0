"""What an agent says that it did, and to how many: deeds and their lists, read clause by clause."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from decimal import Decimal

from seal.core.clauses import VALUE, Clause, Predicate
from seal.core.quantities import read
from seal.core.telling import PHONE
from seal.core.text import deed_forms, role, singular, words
from seal.evaluation.switches import MEANT

THEY = frozenset(["he", "she", "they", "who"])
KEEPS = frozenset(words("kept left keep remain remains stay stays still untouched unchanged not"))
"""Words of a clause that says that nothing was done."""


def deed_of(clause: Clause, before: str) -> str:
    """Return the kind of the deed that a clause claims, or goes on with; empty: it claims none."""
    for one in clause.predicates:
        if kind := kind_of(one):
            own = one.group.isdisjoint(role("being", "modal"))
            goes_on = bool(before) and not one.begin and own and clause.lead in ("and", ",")
            claims = one.is_first and own
            passive = "been" in one.group
            return kind if (goes_on or claims or passive) and not one.negated else ""
    said = clause.words
    ends = next((place for place, word in enumerate(said) if word in _TELLS_OF), len(said))
    verbal = any(one.subject and one.group and one.at < ends for one in clause.predicates)
    return before if clause.lead in ("and", ",", "as") and not verbal else ""


_TELLS_OF = frozenset(["that", "about", "saying", "when", "where"])


def kind_of(one: Predicate) -> str:
    """Return the kind of the deed that a verb names; empty: it names none."""
    if one.verb in TOLD:
        return "send"
    return deed_forms().past.get(one.verb, ("", ""))[0]


TOLD = frozenset(["told", "let", "contacted"])
"""Verbs that say that somebody was sent something."""


class Listed:
    """What a sentence says was done, and to how many: read clause by clause, its lists too.

    Args:
        deed: Kind of what a list is headed by; empty: none.
    """

    def __init__(self, deed: str) -> None:
        self.deed = deed
        self.verb = ""
        self.counted: tuple[Decimal, set[str]] | None = None
        """What the last number is, and the words behind it, of which one is what it counts."""
        self.is_of_deed = False
        """Whether they are what the deed is said to be done to."""

    def add(self, clause: Clause, said: str) -> None:
        """Take in the next clause, which stands so in the text."""
        done = next(filter(None, (self._done(clause, one) for one in clause.predicates)), "")
        goes_on = clause.lead in ("and", ",", ":", "as", "") and clause.said.isdisjoint(KEEPS)
        verbal = any(one.subject and one.group - _NO_VERBS for one in clause.predicates)
        self.deed = done or (self.deed if goes_on and not verbal else "")
        whole = read(said)
        phones = {place for one in PHONE.finditer(whole.plain) for place in range(*one.span())}
        numbers = [
            (one.number, one.end)
            for one in whole.quantities
            if one.unit is None and one.start not in phones
        ]
        numbers += [(Decimal(2), one.end()) for one in _BOTH.finditer(whole.plain)]
        counted = next(
            ((n, found) for n, end in numbers if (found := _nouns(whole.plain, end))), None
        )
        again = bool(done) and not MEANT.union(THEY).isdisjoint(clause.words[:2])
        self.is_of_deed = bool(self.deed) and (counted is not None or again)
        self.counted = counted or self.counted

    def _done(self, clause: Clause, one: Predicate) -> str:
        """Return the kind of the deed that a predicate says was done; empty: none."""
        kind = kind_of(one)
        if not kind or one.negated or not one.group.isdisjoint(role("modal")) or clause.is_tied:
            return ""
        bare = not one.begin and one.at == len(one.group)
        ends = one.at == len(clause.words) - 1 and not one.group
        passive = not one.group.isdisjoint(("is", "are", "was", "were", "been"))
        if not (one.is_first or passive or ends or (bare and (self.deed or not clause.lead))):
            return ""
        self.verb = one.verb
        return kind


_NO_VERBS = role("adverb") | {"about"}
_BOTH = re.compile(r"\bboth\b")


def _nouns(plain: str, start: int) -> set[str]:
    """Return the words behind a number, of which one may be what it counts."""
    behind = re.match(r"(?: [a-z]+){1,3}", plain[start : start + _COUNTED])
    return {*map(singular, behind[0].split())} if behind else set()


_COUNTED = 40
"""Characters behind a number in which stands what it counts."""


def claims_a_call(clause: Clause, before: str, tools: AbstractSet[str]) -> bool:
    """Tell whether a clause claims a call by phone or a mail, and no tool makes one."""
    said = clause.words
    names = any("_" in word or word[0] == VALUE for word in said)  # "I called it 'Rent'"
    return not (names or clause.said & role("tool", "means")) and any(
        one.verb in _BY
        and _BY[one.verb].isdisjoint(tools)
        and (one.verb not in _MAILED or tools & _TEXTS)
        and (one.is_first or (before and not one.at and clause.lead in ("and", ",")))
        and not one.negated
        and one.group.isdisjoint(role("modal", "being"))
        and said[one.at + 1 : one.at + 2] not in _NO_CALL
        for one in clause.predicates
    )


_CALLS, _MAILS = frozenset(["call", "dial", "ring"]), frozenset(["mail", "email"])
_BY = {**dict.fromkeys(["called", "phoned", "rang"], _CALLS), "emailed": _MAILS, "mailed": _MAILS}
"""What is done by a tool of one of some names."""
_NO_CALL = ((), ("it",), ("off",), ("for",), ("out",), ("in",), ("upon",))
"""What follows "called" where nobody is: "called off"."""
_MAILED = ("emailed", "mailed")
_TEXTS = frozenset(["sms", "text", "phone"])
"""Words of tools that send no mail, however they are named else."""

"""Whether an agent says that it lacks an ability that an offered tool gives it.

Read of clauses in English, and held against the words of the tools' names. Only what is said of a
whole kind is decided: "I have no tool for reminders", "I cannot edit contacts". Who cannot change
one contact, or cannot do so now or without an id, may be right.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import pairwise

from seal.core.clauses import Clause
from seal.core.facts import stem
from seal.core.text import deed_forms, deeds_of, role, singular, word_list, words


def denies_tool(clause: Clause, tools: Iterable[str]) -> bool:
    """Tell whether a clause says that what an offered tool does cannot be done at all.

    Args:
        clause: Of a message, in no question.
        tools: Names of tools, without those whose calls failed.
    """
    lacked, of_kind = _lacked(clause), _of_a_kind(clause)
    said = clause.words
    general = not {"any", "all"}.isdisjoint(said) and clause.said.isdisjoint(_PROVIDED)
    for tool in tools:
        of_tool = words(tool)
        things = {*map(singular, of_tool[1:])}
        verb = stem(of_tool[0]) if of_tool else ""
        if _is_of(lacked, tool, things) or _is_of(of_kind, tool, things):
            return True
        kinds = _unable(clause) & (deeds_of(tool) - {"read"})
        if general and kinds and ("at", "all") in pairwise(said):
            return True
        for at, word in enumerate(said):
            if singular(word) not in things:
                continue
            after = said[at + 1 : at + 2]
            if after and (after in _APPS or stem(after[0]) == verb) and "no" in said[:at]:
                return True
            if general and kinds:
                return True
    return False


_APPS = (("app",), ("application",), ("tool",), ("feature",), ("function",))
_PROVIDED = role("subordinate") | {"without"}


def _unable(clause: Clause) -> set[str | None]:
    """Return the kinds of the deeds that the speaker says it cannot do."""
    return {
        deed_forms().base.get(one.verb)
        for one in clause.predicates
        if one.negated and one.is_first and not one.group.isdisjoint(("can", "able"))
    }


def _is_of(said: AbstractSet[str], tool: str, things: AbstractSet[str]) -> bool:
    """Tell whether words name a tool: its thing, what it does with it, and nothing else."""
    named = {singular(word) for word in said if _verb_of(word) is None}
    if not named or not named <= things:
        return False
    verbs = {verb for word in said if (verb := _verb_of(word)) is not None}
    own = words(tool)
    kinds = {deed_forms().base.get(word, "") for word in own[:1]} - {""}
    return all(
        stem(verb) in map(stem, own) or deed_forms().base.get(verb) in kinds for verb in verbs
    )


def _verb_of(word: str) -> str | None:
    """Return the base of a verb of deeds or looks: "calculates"; None: it is none."""
    if word in deed_forms().base:
        return word
    forms = (word, word.removesuffix("s"), word.removesuffix("ing"), f"{word.removesuffix('ing')}e")
    return next((one for one in forms if one in _VERBS or one in deed_forms().base), None)


_VERBS = frozenset(words("calculate compute measure convert search find get look make read see"))


def _lacked(clause: Clause) -> set[str]:
    """Return the words that say for what there is no tool; none: it is not said.

    "I have no tool to change contacts", "no distance tool is available".
    """
    said = clause.words
    at = next((n for n, word in enumerate(said) if word in _TOOLS), 0)
    before = said[max(at - _NEAR, 0) : at]
    none = next((n for n, word in enumerate(before) if word in _NO), len(before))
    if none == len(before) or not clause.said.isdisjoint(_TIED):
        return set()
    of_tool, behind = {*before[none:]}, said[at + 1 :]
    if behind and behind[0] not in _LEADS:
        return set()
    return (of_tool | {*behind}) - _SMALL


def _of_a_kind(clause: Clause) -> set[str]:
    """Return the words of the deed and the things, all of a kind, of "I cannot edit contacts"."""
    for one in clause.predicates:
        able = not one.group.isdisjoint(("can", "able"))
        thing = clause.words[one.at + 1 : one.at + 2]
        if not (able and one.negated and one.is_first and thing) or one.group & _NOW:
            continue
        behind = {*clause.words[one.at + 2 :]}
        is_many = singular(thing[0]) != thing[0]
        if is_many and behind <= _IN_GENERAL and clause.after not in _TIED and _verb_of(one.verb):
            return {one.verb, *thing}
    return set()


_NEAR = 4
"""Words between "no" and "tool", at most: "do not have any such tool"."""
_NO = frozenset(["no", "not", "lack"])
_TOOLS = frozenset(words("tool tools function functions feature app way means ability capability"))
_LEADS = frozenset(words("for to that which is of available"))
_NOW = frozenset(["currently", "now", "yet", "still"])
_TIED = role("subordinate") - {"as", "since", "because", "that", "who"} | {"without", "by"}
_IN_GENERAL = frozenset(words("here at all myself for you directly"))
_SMALL = word_list("english_small") | _TOOLS | role("auxiliary", "negation") | {"available", "such"}

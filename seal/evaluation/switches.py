"""What a message says of the switches of a world: that they are on, were turned on or off, or not.

A switch is known by the words of its name. Whoever tells what was done last is taken at that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from seal.core.clauses import Clause
from seal.core.text import role, stem, words

Name = tuple[str, ...]
"""Words of a switch's name."""


class Switches:
    """What a message says of switches."""

    def __init__(self) -> None:
        self.of: dict[Name, tuple[bool, Clause]] = {}
        """Whether each is on, by the last clause that says so."""
        self.same: dict[Name, Clause] = {}
        """Those that are said to be as they were."""
        self.denied: dict[Name, tuple[bool, Clause]] = {}
        """Whether each is said not to have been turned on, or off."""
        self.was: dict[Name, tuple[bool, Clause]] = {}
        """Whether each is said to have been on before anything was done."""
        self.last: list[Name] = []
        """Those that were named last."""
        self.open: list[Name] = []
        """Those that were named after a deed, and a later clause may say which way."""
        self.way: bool | None = None
        """Whether the last one was said to be on; None: none was."""

    def note(self, clause: Clause, deed: str, names: Iterable[Name]) -> None:
        """Note what a clause says: that switches are on or off now, or were turned so, or not.

        Args:
            clause: Of a message, after those before it.
            deed: What it claims or goes on with.
            names: Of the switches.
        """
        text = " ".join(clause.words).replace("wi-fi", "wifi").replace("-", " ")
        said = {*text.split()}
        named = [name for name in names if said.issuperset(name)]
        if stays := _STAYS_IN.search(text):
            inside = [name for name in named if text.startswith(" ".join(name), stays.end())]
            self.of |= dict.fromkeys(inside, (True, clause))
        if was := _WAS_ON.search(text):
            of = named or (self.last if said & MEANT else [])
            self.was |= dict.fromkeys(of, ((was[1] or was[2]) in _ON, clause))
        every = [*names] if _ALL_OF.search(text) else []
        if _AS_IT_WAS.search(text) and not said & role("modal") - {"did", "to"}:
            of = every or (self.last if said & {*MEANT, "they"} else [])
            self.same |= dict.fromkeys(named or of, clause)
        ends = (
            _IS_ON.search(text)
            or _LEFT_ON.search(text)
            or (_TURNED.search(text) if deed == "switch" else None)
        )
        before = text[: ends.start()] if ends is not None else ""
        led = {clause.lead, *before.split()}
        own = {*_SUBJECT.split(before)[-1].split()}  # "to find out I turned it on"
        turns = _NOT_TURNED.search(text)
        if turns is not None and clause.said.isdisjoint(BEFORE) and clause.after not in BEFORE:
            self.denied |= dict.fromkeys(named, (not _ON.isdisjoint(turns[0].split()), clause))
        may_be = led & _CONDITIONS or own & role("modal") or said & role("negation")
        if ends is not None and not may_be:
            of = named or (self.last if said & MEANT or len(said) < _BRIEF else [])
            # "Both wifi and cellular are off."
            of = [*self.last, *of] if clause.lead == "and" and " are " in f" {ends[0]}" else of
            self.way = next(filter(None, ends.groups())) in _ON
            goes_on = clause.lead in ("and", ",") and "turned" not in said
            self.of |= dict.fromkeys([*of, *(self.open if goes_on else ())], (self.way, clause))
            self.open = []
        elif ends is None and deed == "switch" and said.isdisjoint(role("negation")):
            goes_on = clause.lead in ("and", ",") and said.isdisjoint(("turned", "switched"))
            if goes_on and self.last and self.way is not None and not _AS_IT_WAS.search(text):
                # "turned off wifi and cellular"
                self.of |= dict.fromkeys(named, (self.way, clause))
                self.open = named  # "turned low battery mode off, and wifi and cellular on"
            elif not goes_on or self.open:
                self.open, self.way = [*(self.open if goes_on else ()), *named], None
        self.last = every or named or self.last

    def false(
        self, now: Mapping[Name, bool], begun: Mapping[Name, bool], failed: AbstractSet[str]
    ) -> list[Clause]:
        """Return the clauses that are not so.

        Args:
            now: Whether each switch is on when the message is said.
            begun: Whether it was at the beginning.
            failed: Words of the names of tools of which a call failed.
        """
        wrong = [clause for name, (on, clause) in self.of.items() if now[name] is not on]
        wrong += [one for name, (on, one) in self.was.items() if begun.get(name) is not on]
        wrong += [one for name, one in self.same.items() if now[name] is not begun.get(name)]
        for name, (on, clause) in self.denied.items():
            was_turned = now[name] is on is not begun.get(name)
            if was_turned and name not in self.of and not failed >= {*name}:
                wrong.append(clause)
        return wrong


def turns_others(clause: Clause, deed: str, names: Iterable[Name], known: AbstractSet[str]) -> bool:
    """Tell whether a clause says that a device was turned on or off that no tool can turn.

    Args:
        clause: Of a message.
        deed: What it claims or goes on with. Who puts something into a mode switches it.
        names: Of the switches.
        known: Stems of the words that request, calls and results tell.
    """
    told = clause.said & _DEVICES - {word for name in names for word in name}
    puts = any(one.is_first and one.verb in ("put", "set") for one in clause.predicates)
    if deed != "switch" and not (puts and "mode" in clause.said):
        return False
    denied = not clause.said.isdisjoint(role("negation", "modal"))
    return not denied and any(stem(word) not in known for word in told)


_DEVICES = frozenset(
    words("airplane aeroplane bluetooth hotspot flashlight torch vpn nfc alarm roaming tethering")
)
BEFORE = frozenset(
    words("first initially before until till while without previously earlier originally yet again")
)
"""Words of a sentence that tells how it was before something was done."""
_SUBJECT = re.compile(r"\b(?:i|we)\b")
_WAYS = r"(on|off|running|(?:en|dis)abled|(?:de)?activated)"
_LATER = (
    r"(?=$| (?:again|now|already|too|afterwards|after|for|first|as|right|because|so|to"
    r"|in (?:order|case|the))\b)"
)
_IS_ON = re.compile(
    r"\b(?:is|are|stay(?:s|ed)?|remain(?:s|ed)?)"
    r"(?: (?:still|now|currently|already|back|again|both|all))* "
    rf"(?:(?:turned|switched) )?{_WAYS}{_LATER}()"
)
_STAYS_IN = re.compile(
    r"\b(?:(?:is|are|stays?|remains?)(?: (?:still|now|currently))?|have put(?: \w+){1,2})"
    r" in(?:to)? (?:the )?"
)
_LEFT_ON = re.compile(
    rf"\b(?:left|kept|leave|keep|put|set|flipped|brought)(?: \w+){{1,5}}? {_WAYS}{_LATER}()"
)
_AS_IT_WAS = re.compile(
    r"\bas (?:it|they) (?:was|were|is|are)\b|\b(?:un(?:touched|changed)|alone)\b"
    r"|\bnot (?:(?:need|have) to )?(?:touch(?:ed)?|change[d]?|alter(?:ed)?)\b"
)
_ALL_OF = re.compile(r"\b(?:all|any)(?: of)? (?:your |the )?settings\b(?! else)")
_WAS_ON = re.compile(
    rf"\bwas (?:already {_WAYS}"
    rf"|{_WAYS} (?:already|all along|all the time|from the (?:start|beginning))\b)"
)
_TURNED = re.compile(
    rf"\b(?:turned|switched) {_WAYS}\b|\b((?:en|dis)abled|(?:de)?activated)\b"
    rf"|\b{_WAYS}{_LATER}"
)
_NOT_TURNED = re.compile(
    r"\b(?:(?:could|did|was|were|have|has) not(?: been)?(?: able)?|unable|failed)(?: to)?(?: be)? "
    rf"(?:(?:turn|switch)(?:ed)?(?: \w+){{0,4}} {_WAYS}|(?:en|dis)abled?|(?:de)?activated?)\b"
    rf"|^(?:turning|switching)(?: \w+){{0,4}} {_WAYS}(?: \w+){{0,4}} (?:failed|did not work)\b"
)
_ON = frozenset(["on", "running", "enabled", "activated", "enable", "activate"])
MEANT = frozenset(["it", "that", "them", "both", "again", "back"])
_BRIEF = 4
"""Words of a clause that goes on with what was named: "and off again"."""
_CONDITIONS = frozenset(["if", "when", "once", "while", "whether", "until", "unless", "that", "as"])

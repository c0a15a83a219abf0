"""English as clauses: the words of a text by their roles, without what it quotes, in one pass.

A text is sentences, a sentence clauses, a clause words without contractions ("I'll" is "i will").
A clause has predicates: a verb with its auxiliaries, adverbs and negations, and the last word of
its subject. So a rule asks for roles and places of words instead of matching texts.

What stands in quotation marks, in a block of code, or after "says:" and its like, is somebody
else's word: a `VALUE` stands for it.

What a clause asks of the other side, a deed, a fact or leave, and what it only offers, stands here
too; None says that words alone cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Literal, NamedTuple

from seal.core.text import deed_forms, role

# -- Words.

_SHORT_FORMS = {
    **dict.fromkeys(("cannot", "can't", "cant"), "can not"),
    **dict.fromkeys(("won't", "wont"), "will not"),
    **dict.fromkeys(("don't", "dont"), "do not"),
    **dict.fromkeys(("pls", "plz"), "please"),
    "shan't": "shall not",
    "let's": "let us",
    "lemme": "let me",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "have to",
    "didnt": "did not",
    "doesnt": "does not",
    "isnt": "is not",
    "couldnt": "could not",
    "havent": "have not",
    "hasnt": "has not",
    "im": "i am",
    "ive": "i have",
}
_ENDINGS = {
    "n't": "not",
    "'ll": "will",
    "'ve": "have",
    "'re": "are",
    "'m": "am",
    "'d": "would",
    "'s": "is",
}


@lru_cache(maxsize=4096)
def _spelled_out(word: str) -> tuple[str, ...]:
    """Return the words of a contraction: "i'll" is "i will"; any other word as it is."""
    if word in _SHORT_FORMS:
        return tuple(_SHORT_FORMS[word].split())
    for ending, full in _ENDINGS.items() if "'" in word else ():
        if word.endswith(ending) and len(word) > len(ending):
            return (word[: -len(ending)], full)
    return (word,)


# -- Predicates, clauses, sentences.


class Predicate(NamedTuple):
    """A verb and what stands before it."""

    subject: str
    """The last word before the auxiliaries; empty: the clause begins with them, or the verb."""
    group: frozenset[str]
    """Auxiliaries, adverbs and negations between subject and verb."""
    verb: str
    """Or any other word; empty: the clause ends before it ("I can't")."""
    at: int
    """Place of the verb."""
    begin: int
    """Place of the first word of the group."""

    @property
    def negated(self) -> bool:
        """Whether a negation stands in the group."""
        return not self.group.isdisjoint(role("negation"))

    @property
    def is_first(self) -> bool:
        """Whether the speaker is the subject."""
        return self.subject in ("i", "we")


class Clause(NamedTuple):
    """A part of a sentence."""

    words: tuple[str, ...]
    """In small letters, without contractions; at least one."""
    said: frozenset[str]
    """The words, in no order."""
    predicates: tuple[Predicate, ...]
    """What may be predicates: one for each word that is not in the group of a later one."""
    start: int
    """Place in the text."""
    end: int
    lead: str
    """The word or mark before it that joins it on; empty: it begins a sentence."""
    after: str
    """The mark or word behind it; empty: the text ends there."""

    @property
    def is_tied(self) -> bool:
        """Whether it hangs on another: a condition, a time, a relative clause."""
        ties = role("subordinate")
        first = self.words[:2]
        return self.lead in ties or not ties.isdisjoint(first) or first == ("in", "case")


class Sentence(NamedTuple):
    """What ends in a stop or a line break."""

    clauses: tuple[Clause, ...]
    words: tuple[str, ...]
    """The words of its clauses."""
    said: frozenset[str]
    """The words, in no order."""
    stop: str
    """Marks and line breaks behind it."""
    is_question: bool
    """Whether it ends in a question mark of any script."""
    is_item: bool
    """Whether its line begins as an item of a list does."""
    is_heading: bool
    """Whether it begins in bold letters, or as a heading does."""

    @property
    def start(self) -> int:
        """Where its first clause begins in the text."""
        return self.clauses[0].start

    @property
    def end(self) -> int:
        """Where its last clause ends."""
        return self.clauses[-1].end


def _predicates(words: Sequence[str]) -> Iterator[Predicate]:
    grouped = role("auxiliary", "adverb", "negation")
    begin = 0
    for at, word in enumerate([*words, ""]):
        is_time = word == "am" and at > 0 and words[at - 1][0].isdigit()  # "at 6 am"
        if (word in grouped and not is_time) or (word.endswith("ly") and len(word) > 4):
            continue
        if word or begin < at:
            group = frozenset(words[begin:at]) if begin < at else frozenset()
            yield Predicate(words[begin - 1] if begin else "", group, word, at, begin)
        begin = at + 1


# -- Reading.

VALUE = "\ue000"
"""Stands for what is quoted; a character of private use."""
_QUOTES = {
    '"': '"',
    "'": "'",
    "`": "`",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
    "\u300c": "\u300d",
}
_QUESTION_MARKS = frozenset("?\uff1f\u061f")
TELLS = frozenset(["say", "says", "said", "saying", "reads", "reading", "wrote", "writes", "quote"])
_ABBREVIATIONS = frozenset(
    ["mr", "mrs", "ms", "dr", "vs", "e.g", "i.e", "etc", "st", "a.m", "p.m", "approx"]
)
_JOINTS = frozenset(["and", "or", "but", "so", "because", "though", "however"])
"""Linking words that belong to no clause."""
BULLET = re.compile(
    r"(?m)^[ \t]*(?:#{1,6}|[-*\u2022\u2013+]|\(?(?:\d{1,3}|[a-h])[.)]|step \d{1,3}:)(?=[ \t])"
)
_TOKEN = re.compile(
    r"(?P<word>[^\W_]+(?:(?:['./:@_+-]|(?<=\d),(?=\d))[^\W_]+)*|\ue000+)"
    r"|(?P<stop>[.!?\u2026\u3002\uff01\uff1f\u061f\n]+)"
    r"|(?P<mark>[,;:()|\u2013\u2014\u2192]| -{1,2} )"
)


class _Reader:
    """Gathers words into clauses and clauses into sentences."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Sentence] = []
        self.clauses: list[Clause] = []
        self.words: list[str] = []
        self.start = self.end = 0
        self.lead = ""
        self.told = self.is_item = False
        """Told: the words are somebody else's, to the end of the line."""

    def word(self, said: str, start: int, end: int) -> None:
        if said in role("linking") and (said != "so" or self.words):
            self.close_clause(said)
            self.lead = said
            if said in _JOINTS:
                return
        if not self.words:
            self.start = start
        self.words += _spelled_out(said)
        self.end = end

    def close_clause(self, after: str) -> None:
        if self.words and not self.told:
            words = tuple(self.words)
            found = tuple(_predicates(words))
            place = (self.start, self.end, self.lead, after)
            self.clauses.append(Clause(words, frozenset(words), found, *place))
        self.words = []

    def close_sentence(self, stop: str) -> None:
        self.close_clause(stop)
        if self.clauses:
            begin = self.clauses[0].start
            is_heading = self.text[max(begin - 2, 0) : begin].strip() in ("**", "__", "#")
            words = tuple(word for clause in self.clauses for word in clause.words)
            asks = not self.told and not _QUESTION_MARKS.isdisjoint(stop)
            kind = (stop, asks, self.is_item, is_heading)
            self.found.append(Sentence(tuple(self.clauses), words, frozenset(words), *kind))
        self.clauses, self.lead = [], ""
        if "\n" in stop:
            self.told = self.is_item = False


_STOPS = frozenset([".", "!", "?"])
_ASKS = re.compile(
    r"(?:shall|should|may|can|could) i\b|(?:do|would) you (?:still )?(?:want|like|mind|let|allow)\b"
    r"|is (?:this|that|it) the (?:right |one\b)|is (?:this|that) the \w+ you\b|(?:the )?right one\b"
    r"|are you sure\b"
    r"|(?:is|would|are) (?:it|that|this|you) (?:be )?(?:ok(?:ay)?|fine|al(?:l )?right)\b"
    r"|do i have\b|ok(?:ay)? (?:to|if)\b"
)


_ASKS_FOR = re.compile(r"([a-z]+)(?: (?:it|this|that|them)(?: one| now| then)?| ahead)?\?")


def _asks(plain: str, start: int) -> bool:
    """Tell whether a sentence at a place asks for leave: "Shall I?", "Delete it?", "Go ahead?"."""
    deed = _ASKS_FOR.match(plain, start, start + _BRIEF)
    is_deed = deed is not None and (deed[1] in deed_forms().base or deed[1] in ("go", "proceed"))
    return is_deed or _ASKS.match(plain, start) is not None


_BRIEF = 40
"""Characters of a question that names a deed and nothing else, at most."""


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of a text in order, without what it quotes."""
    plain = _lowered(without_quotations(text))
    bullets = [match.end() for match in BULLET.finditer(plain)][::-1]
    plain = BULLET.sub(lambda match: " " * len(match[0]), plain)
    reader = _Reader(text)
    for token in _TOKEN.finditer(plain):
        said, start, end = token[0], *token.span()
        while bullets and bullets[-1] <= start:
            bullets.pop()
            reader.is_item = True
        if token.lastgroup == "word":
            # Who reads something out goes on to ask what is to become of it.
            begins = plain[max(start - 2, 0) : start].strip() in _STOPS
            if reader.told and begins and _asks(plain, start):
                reader.told = False
            reader.word(said, start, end)
        elif token.lastgroup == "mark":
            tells = said == ":" and not TELLS.isdisjoint(reader.words[-3:])
            reader.close_clause(said)
            reader.told |= tells and plain[end : end + 2].strip()[:1] != VALUE
            reader.lead = said
        elif said == "." and reader.words and reader.words[-1] in _ABBREVIATIONS:
            continue
        else:
            goes_on = plain[end : end + 4].lstrip(" *_\"')")[:1] in ("-", "\u2013", ":", ",")
            reader.close_sentence("." if goes_on else said)
    reader.close_sentence("")
    return reader.found


def without_quotations(text: str) -> str:
    """Return a text of the same length with a `VALUE` for each character of what is quoted.

    A mark that no later mark of its line closes quotes nothing.
    """
    found = list(text)
    in_code, start = False, 0
    for line in text.splitlines(keepends=True):
        end, stripped = start + len(line), line.strip()
        is_fence = stripped.startswith("```")
        if is_fence or in_code or stripped.startswith(">"):
            in_code ^= is_fence
            length = len(line.rstrip("\r\n"))
            found[start : start + length] = VALUE * length
        else:
            _quote(text, found, start, end)
        start = end
    return "".join(found).replace("\u2019", "'")


def _quote(text: str, found: list[str], at: int, end: int) -> None:
    """Replace the quotations of a line."""
    unclosed: set[str] = set()
    while at < end:
        closing = _QUOTES.get(text[at])
        inside = text[at] == "'" and at > 0 and text[at - 1].isalnum()
        if closing is not None and not inside and text[at] not in unclosed:
            close = _closing(text, at + 1, end, closing)
            if close < 0:
                unclosed.add(text[at])
            else:
                found[at : close + 1] = VALUE * (close + 1 - at)
                at = close
        at += 1


def _closing(text: str, at: int, end: int, closing: str) -> int:
    """Return where a quotation closes; -1: nowhere in its line."""
    for place in range(at, end):
        if text[place] in closing:
            is_apostrophe = text[place] in "'\u2019" and text[place + 1 : place + 2].isalnum()
            if not is_apostrophe:
                return place
    return -1


def _lowered(text: str) -> str:
    """Return a text in small letters, of the same length."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


# -- What clauses ask.

Request = Literal["deed", "fact", ""]
YOU = (("can", "you"), ("could", "you"), ("would", "you"), ("will", "you"))
"""What a request begins with."""


def request(sentences: Sequence[Sentence]) -> Request:
    """Return whether a message wants a deed or a fact; empty: it is not known."""
    facts = other = False
    for sentence in sentences:
        for clause in sentence.clauses:
            words = tuple(word for word in clause.words if word != "please")
            if not words or clause.lead not in ("", ",", "and", "or", ":"):
                continue
            verb = wanted(words)
            info = verb in role("info") and words[0] != "tell" and "in" not in words[1:4]
            info = info or words[:2] == ("tell", "me")
            if verb in deed_forms().base and not info and (not clause.lead or words[0] == verb):
                return "deed"
            yes_or_no = sentence.is_question and words[0] in role("yesno")
            asks = words[0] in role("asking") or (yes_or_no and words[1:2] != ("you",))
            # "On which day is it?"
            asks = asks or (sentence.is_question and not role("asking").isdisjoint(words[1:2]))
            facts = facts or info or asks
            other = other or not clause.said <= role("courtesy")
    return "fact" if facts else "deed" if other else ""


def wanted(words: Sequence[str]) -> str:
    """Return the verb of what is wanted: of "can you book", "I'd like to book", "book"."""
    at = 0
    if tuple(words[:2]) in YOU or tuple(words[:2]) in (("let", "us"), ("help", "me")):
        at = 2
    elif words[0] in ("i", "we") and "to" in words[:5]:
        at = words.index("to") + 1
    while at < len(words) and words[at] in ("also", "and", "to", "help", "me", "just", "then"):
        at += 1
    return words[at] if at < len(words) else ""


def offers(clause: Clause) -> bool:
    """Tell whether a clause offers further help."""
    said, words = clause.said, clause.words
    helps = not said.isdisjoint({*role("assist"), "need", "do", "like"})
    if not said.isdisjoint(("anything", "something")):
        return helps or not said.isdisjoint(role("more"))
    if words[:2] == ("what", "else"):
        return True
    if helps and not said.isdisjoint(("any", "what", "how")) and not said.isdisjoint(role("more")):
        return True
    if words[:2] in (("can", "i"), ("may", "i")) and said & {"help", "assist"}:
        return True
    if words[0] in ("how", "what") and words[1:2] in (("can",), ("may",), ("could",)):
        return words[2:3] in (("i",), ("we",))
    if said & {"feel", "happy", "glad"} and said & {"free", "help", "assist", "to"}:
        return True
    return "me" in said and bool(said & {"want", "like"} and said & {"help", "assist"})


def offers_more(clause: Clause) -> bool:
    """Tell whether a clause may offer more of the same: "Would you like details of any?"."""
    said = clause.said
    if not said & {"like", "want"} or not said.isdisjoint(deed_forms().base):
        return False
    return bool(said & {"any", "more", "details", "information", "specific", "particular"})


def requests(clause: Clause, sentence: Sequence[str] = ()) -> bool | None:
    """Tell whether a clause of a sentence asks without a question mark; None: it may."""
    words = [w for w in clause.words if w not in ("also", "just", "then", "now", "so", "simply")]
    if "know" in clause.said:
        know = words.index("know")
        if words[max(know - 2, 0) : know] == ["let", "me"]:
            return _wants_to_know(clause, words[know + 1 :], {*words, *sentence})
    if not clause.said.isdisjoint(("moment", "second", "minute", "sec")):
        return False
    if "please" in clause.said:
        rest = words[words.index("please") + 1 :]
        if not rest or rest[0] in role("bid") or rest[0].endswith("ing"):
            return False
        hands = rest[0] in role("hand") and rest[1:2] in (["me"], ["us"], ["your"])
        return True if hands or rest[0] in role("inform") else None
    if tuple(words[:2]) in YOU:
        return True
    if words[:2] in (["tell", "me"], ["give", "me"], ["send", "me"]) and len(words) > 2:
        return True
    return _needs(clause)


def _needs(clause: Clause) -> bool | None:
    """Tell whether a clause says that the speaker needs something of the other; None: it may."""
    if "need" not in clause.said:
        return False
    for one in clause.predicates:
        if one.is_first and one.verb == "need" and not one.negated:
            what = clause.words[one.at + 1 : one.at + 2]
            knows = clause.words[one.at + 1 : one.at + 3] == ("to", "know")
            yours = not clause.said.isdisjoint(("your", "you", "following"))
            if knows or (what in (("the",), ("your",), ("a",), ("an",), ("more",), ("some",))):
                return True if knows or yours or "will" in one.group or what == ("the",) else None
            return None
    return False


def _wants_to_know(clause: Clause, rest: Sequence[str], sentence: AbstractSet[str]) -> bool | None:
    """Tell whether "let me know" asks for something; what follows it is the rest."""
    if offers(clause) or clause.said & {"else", "further", "additional", "assistance", "assist"}:
        return False
    if not rest and "once" not in sentence:
        more = sentence & (role("more") | role("assist") | {"need"})
        return False if more else None
    if rest and (rest[0] in role("asking") or rest[0] in ("the", "your", "whether")):
        return True
    if rest and rest[0] == "if":
        asks = clause.said & {"proceed", "choose", "correct", "ahead"}
        return True if asks and "please" in clause.said else None
    return True if "once" in sentence else None


def asks_leave(words: Sequence[str]) -> bool:
    """Tell whether a clause of a question asks whether a deed may be done."""
    if _asks_whether_fine(words):
        return True
    refers = not {"that", "so", "it", "this"}.isdisjoint(words)
    confirms = not {"correct", "proceed", "ahead"}.isdisjoint(words)
    for place, word in enumerate(words):
        first, second, third = [*words[place + 1 : place + 4], "", "", ""][:3]
        if first in ("i", "we") and word in ("shall", "should", "may", "can"):
            if (second == "do" and refers) or (not second and word != "can"):
                return True
            if second and second not in role("inquire"):
                return True
        if word == "do" and first in ("i", "we") and second in ("go", "proceed"):
            return True
        if word in ("want", "like", "prefer") and (first, second) == ("me", "to"):
            return third not in role("inquire") or (third == "do" and refers)
        goes_ahead = second == "proceed" or (second, third) == ("go", "ahead")
        if word in ("want", "like", "wish") and first == "to" and goes_ahead:
            return True
        if word == "confirm" and confirms:
            return True
        if word in role("approve") and first == "if" and second in ("i", "we"):
            return True
    return False


def _asks_whether_fine(words: Sequence[str]) -> bool:
    """Tell whether a clause of a question asks whether a deed, or what was proposed, is fine."""
    words = tuple(words)
    if tuple(words[:2]) in YOU and words[2:3] in (("let",), ("allow",)):
        return words[3:4] in (("me",), ("us",))
    if words[:3] == ("do", "i", "have"):
        return not {"permission", "consent", "approval", "okay", "ok"}.isdisjoint(words)
    fine = next((place for place, word in enumerate(words) if word in _FINE), 0)
    after = words[fine + 1 : fine + 2]
    if words[:1] in (("ok",), ("okay",)):
        return after in (("to",), ("if",))
    meant = not {"it", "that", "this", "these", "those", "you"}.isdisjoint(words[1:2])
    asks = words[0] in ("is", "are", "would", "will") and meant
    return asks and 0 < fine <= _NEAR_FINE and (not after or after[0] in _BEHIND_FINE)


_FINE = frozenset(["ok", "okay", "fine", "alright", "right", "acceptable"])
_NEAR_FINE = 4
_BEHIND_FINE = frozenset(["with", "to", "if", "for", "by", "that"])
"""Of "is it all right if" and "would that be fine with you"; not of "is this the right one"."""

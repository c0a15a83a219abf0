"""What a message does: asks, refuses, claims or denies a deed, promises, states.

One judge for scores, audits and scripted users. It reads English by its clauses
(`seal.core.clauses`), without a model and in one pass. Each act is True, False or None.

- True: a construction shows it that hardly means anything else.
- False: nothing in the message could do it.
- None: words alone cannot say.

1. An offer of further help asks nothing; a question claims, refuses and promises nothing.
2. A condition ties what it leads: "once I have booked it" is no claim.
3. A participle without a subject ("Booked for 8.") claims a deed where one was asked for, not where
   a fact was. In a short reply to a request for a deed any statement may tell the result.
4. Who cannot go on without a detail, and asks for it, does not refuse.
5. Of a text in another language, and of one of more than `LONGEST` characters, only question marks
   are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal, NamedTuple, get_args

from seal.core.clauses import (
    VALUE,
    YOU,
    Clause,
    Predicate,
    Sentence,
    asks_leave,
    offers,
    offers_more,
    request,
    requests,
    sentences_of,
    wanted,
    without_quotations,
)
from seal.core.quantities import is_foreign
from seal.core.text import deed_forms, role, word_list

Speaker = Literal["agent", "user"]
Act = Literal["asks", "asks_leave", "refuses", "claims_deed", "denies_deed", "promises", "states"]
Reading = Literal["asks", "refuses", "announces", "reports"]
"""What a message is to its user; what reports says that the goal is done."""
FAILURES = 5
"""Refusals, and questions that it cannot answer, after which a user may give up."""
LONGEST = 50_000
"""Characters of a message that is read."""
_REQUEST_LENGTH = 4000
"""Characters of the message before that are read."""
_SHORT = 60
"""Words of a short message, whose statements may tell in any words what came of a request."""


class Deed(NamedTuple):
    """A deed that a message claims, or denies."""

    kind: str
    """Of the verb, as `words/deeds.txt` has it; `any`: the words do not tell which."""
    said: str
    """The clause."""
    done: bool
    """False: it is denied."""


@dataclass(frozen=True, slots=True)
class Acts:
    """What a message does. None: words alone cannot say."""

    asks: bool | None = None
    asks_leave: bool | None = None
    refuses: bool | None = None
    claims_deed: bool | None = None
    denies_deed: bool | None = None
    promises: bool | None = None
    states: bool | None = None
    shown: Mapping[Act, str] = field(default_factory=dict)
    """For each act that is True a clause that shows it, as it was written."""
    deeds: tuple[Deed, ...] = ()
    questions: tuple[str, ...] = ()
    """The sentences that ask, or may, each with the items of its list, without quotations."""
    ended: bool = False
    """It tells what is no longer so, as what was asked for may have it."""

    @property
    def declines(self) -> bool | None:
        """Whether it refuses, and claims no deed all the same."""
        return False if self.claims_deed else self.refuses

    @property
    def reading(self) -> Reading:
        """What a user who must answer takes it for, whatever words alone can say."""
        if self.asks or (self.asks is None and self.questions):
            return "asks"
        idle = self.claims_deed is False and not self.states and not self.ended
        if self.declines or (idle and self.refuses is None):
            return "refuses"
        # "I'll remind you at 8" tells that the reminder is set.
        keeps = "remind" in self.shown.get("promises", "")
        if (self.promises and not self.claims_deed and not self.states and not keeps) or (
            idle and self.promises is None
        ):
            return "announces"
        return "reports"


class _Message:
    """A message under judgement: what it shows of each act, and what might be one."""

    def __init__(self, text: str, before: str, speaker: Speaker) -> None:
        self.text, self.before, self.speaker = text, before, speaker
        self.sentences = sentences_of(text)
        self.words = [word for sentence in self.sentences for word in sentence.words]
        self.said = frozenset(self.words)
        self.request = request(sentences_of(before))
        self.statements = list(_statements(self.sentences))
        self.shown: dict[Act, str] = {}
        self.may: set[Act] = set()
        """Acts that the message may do without showing it."""
        self.deeds: list[Deed] = []
        self.asking: set[int] = set()
        """Where the sentences begin that ask, or may be answered by what follows them."""

    @property
    def is_short(self) -> bool:
        return len(self.words) <= _SHORT

    def told(self) -> Iterator[tuple[Sentence, Clause]]:
        """Yield the clauses of the sentences that are no questions."""
        for sentence in self.sentences:
            if not sentence.is_question:
                for clause in sentence.clauses:
                    yield sentence, clause

    def show(self, act: Act, clause: Clause) -> None:
        self.shown.setdefault(act, self.text[clause.start : clause.end])

    def note(self, clause: Clause, kind: str, done: bool) -> None:
        """Note a deed that a clause claims or denies."""
        self.show("claims_deed" if done else "denies_deed", clause)
        self.deeds.append(Deed(kind, self.text[clause.start : clause.end], done))

    def says(self, act: Act) -> bool | None:
        return True if act in self.shown else None if act in self.may else False

    def questions(self) -> Iterator[str]:
        """Yield the sentences of `asking`, each with the items of the list behind it."""
        own = without_quotations(self.text)
        start = end = 0
        before = ""
        for sentence in self.sentences:
            asks = sentence.start in self.asking
            is_item = sentence.is_item or before.isdigit()  # "the day 2. the time"
            if end and (asks or not is_item):
                yield own[start:end]
                end = 0
            if end or asks:
                start, end = start if end else sentence.start, sentence.end
            before = sentence.words[-1] if sentence.stop == "." else ""
        if end:
            yield own[start:end]


def acts(text: str, before: str = "", speaker: Speaker = "agent") -> Acts:
    """Return what a message does, by the rules of this module.

    >>> told = acts("I have cancelled the booking. Shall I book another?", "Cancel it.")
    >>> told.claims_deed, told.asks_leave, told.refuses
    (True, True, False)

    Args:
        text: The message.
        before: The last message of the other side; empty: unknown.
        speaker: Who says it.
    """
    if len(before) > _REQUEST_LENGTH:
        half = _REQUEST_LENGTH // 2
        before = f"{before[:half]}\n{before[-half:]}"
    return _acts(text, before, speaker)


@lru_cache(maxsize=64)
def _acts(text: str, before: str, speaker: Speaker) -> Acts:
    if len(text) > LONGEST:
        return Acts()
    message = _Message(text, before, speaker)
    if is_foreign(" ".join(message.words)) or is_foreign(before.lower()):
        message.asking = {s.start for s in message.sentences if s.is_question}
        asked = tuple(message.questions())
        return Acts(asks=True, shown={"asks": asked[0]}, questions=asked) if asked else Acts()
    _judge_questions(message)
    _judge_deeds(message)
    _judge_promises(message)
    _judge_refusals(message)
    _judge_results(message)
    _judge_facts(message)
    names: tuple[Act, ...] = get_args(Act)
    if any(map(of_other_language, message.sentences)):
        message.may.update(names)
    told = {act: message.says(act) for act in names}
    asked = tuple(message.questions())
    ended = any(_is_over(clause, message) for _, clause in message.told())
    deeds = tuple(message.deeds)
    return Acts(**told, shown=message.shown, deeds=deeds, questions=asked, ended=ended)


@cache
def _strange() -> frozenset[str]:
    return word_list("foreign_small") - word_list("english_small")


def of_other_language(sentence: Sentence) -> bool:
    """Tell whether a sentence is of another language; a name such as "Los Angeles" makes none."""
    first = sentence.words[0]
    many = sum(map(_strange().__contains__, sentence.words)) > 1
    many = many or not (first.isascii() or first[0] == VALUE)
    return many and is_foreign(" ".join(sentence.words))


# -- Questions.

_RHETORICAL = (("who", "knows"), ("why", "not"), ("guess", "what"), ("you", "know", "what"))


def _judge_questions(message: _Message) -> None:
    for sentence in message.sentences:
        if sentence.is_question:
            _judge_question(message, sentence)
            continue
        for clause in sentence.clauses:
            asked = requests(clause, sentence.words)
            if asked:
                message.show("asks", clause)
                message.asking.add(sentence.start)
                if not clause.said.isdisjoint(("confirm", "if", "whether")):
                    _judge_leave(message, [clause], is_question=False)
            elif asked is None:
                message.may |= {"asks", "asks_leave"}
        opens = not sentence.is_item and any(
            clause.words[0] in role("asking") and clause.lead in ("", ":", "and")
            for clause in sentence.clauses
        )
        chooses = not sentence.stop and any(clause.lead == "or" for clause in sentence.clauses)
        if opens or chooses or "wondering" in sentence.words:
            message.may.add("asks")


def _judge_question(message: _Message, sentence: Sentence) -> None:
    own = [clause for clause in sentence.clauses if not offers(clause)]
    if own and own[0].said <= role("courtesy") and len(own) > 1:
        own = own[1:]
    if not own:
        return
    words = own[-1].words
    of_you = words[:2] in YOU and message.speaker == "user"
    wants_deed = of_you and wanted(words) not in role("info", "inform")
    addressed = not sentence.said.isdisjoint(("you", "your", "yours", "i", "we", "shall"))
    aside = not (addressed or sentence.is_item)  # the speaker may answer it
    aside = aside and sentence is not message.sentences[-1]
    is_offer = any(map(offers_more, own))
    is_heading = sentence.is_heading and not sentence.is_item
    if own[0].words in _RHETORICAL or is_heading or is_offer or wants_deed or aside:
        message.may |= {"asks", "asks_leave"}
        message.asking |= {sentence.start} if aside else set()
        return
    message.show("asks", own[-1])
    message.asking.add(sentence.start)
    _judge_leave(message, own)


def _judge_leave(message: _Message, clauses: Sequence[Clause], is_question: bool = True) -> None:
    """Judge whether a question, or a request to confirm, is for leave to do a deed."""
    forms = deed_forms()
    open_ended = False
    for clause in clauses:
        words = [w for w in clause.words if w not in ("also", "then", "now", "just", "please")]
        if not words or words[0] in role("asking") or clause.said & {"which", "how", "what"}:
            return
        wants = words[:3] in (["do", "you", "want"], ["would", "you", "like"])
        done = wants and "to" not in words[3:5] and not clause.said.isdisjoint(forms.past)
        brief = len(words) <= 2 and (
            words[0] in forms.base or words[0] in role("approve") or words[0] == "proceed"
        )
        brief = is_question and (brief or words == ["do", "you", "agree"])
        if asks_leave(words) or done or brief:
            message.show("asks_leave", clause)
            return
        of_you = words[1:2] == ["you"] and words[:3] != ["do", "you", "want"]
        of_fact = words[0] in ("is", "are", "was", "were", "have", "has", "did", "does")
        of_fact = of_fact and clause.said.isdisjoint(role("approve"))
        open_ended = open_ended or not (of_you or of_fact)
    if open_ended and is_question and "or" not in (clause.lead for clause in clauses):
        message.may.add("asks_leave")


# -- Deeds.

_DONE = (
    ("done",),
    ("all", "done"),
    ("all", "set"),
    ("all", "sorted"),
    ("that", "is", "done"),
    ("it", "is", "done"),
)
_PAIRS = {
    ("checked", "in"): "add",
    ("signed", "up"): "add",
    ("wrote", "to"): "send",
    ("written", "to"): "send",
    ("passed", "on"): "send",
    ("logged", "out"): "switch",
}
"""Verbs that are deeds only with the word that follows."""
_MADE = frozenset(["made", "completed", "processed", "finalized", "finalised", "arranged"])
"""Verbs that are deeds by the noun of one: "made the payment"."""
_HEADLINE = 3
"""Words of a headline that tells a deed, at most."""
_OTHERS = frozenset(["you", "he", "she", "they", "who", "that", "which", "someone", "somebody"])
_FULL = (("out",), ("solid",), ("up",), ("until",), ("till",), ("since",))
"""After a participle: what is booked until Friday may have been so before."""
_SUBJECT = 3
"""Words of a subject, at most."""
_NO_OBJECT = (("no",), ("nothing",), ("none",), ("nobody",), ("neither",))
_TO = (("to",), ("for",), ("at",), ("on",))
_Claim = Literal["claims", "denies", "may", ""]
"""What a predicate says of a deed; `may`: words alone cannot say."""


def _judge_deeds(message: _Message) -> None:
    base = deed_forms().base
    carried = False
    for sentence, clause in message.told():
        carried = carried and clause.lead != ""
        if clause.words in _DONE and message.request == "deed":
            message.note(clause, "any", True)
        for one in clause.predicates:
            kind = _kind_of(clause.words, one.at)
            if not kind and one.verb not in base:
                _judge_other_verb(message, sentence, clause, one)
                continue
            goes_on = carried and not one.at and clause.lead in ("and", ",")
            told = "claims" if goes_on and kind else _does(message, sentence, clause, one)
            if told and clause.is_tied and not {"if", "once", "when"}.isdisjoint(clause.words[:2]):
                continue
            if told == "may" or (told and clause.is_tied):
                message.may.add("claims_deed")
            elif told:
                message.note(clause, kind or base[one.verb], told == "claims")
                carried = carried or told == "claims"
        carried = carried or clause.words[:2] == ("i", "went")
        if _may_deny(clause, message):
            message.may.add("denies_deed")


def _kind_of(words: Sequence[str], at: int) -> str:
    """Return the kind of the deed that a past form at a place names; empty: it names none."""
    pair = tuple(words[at : at + 2])
    kind, _ = deed_forms().past.get(pair[0] if pair else "", ("", ""))
    if kind or len(pair) < 2 or pair[0] not in _MADE:
        return kind or (_PAIRS.get((pair[0], pair[1]), "") if len(pair) > 1 else "")
    thing = next((word for word in words[at + 1 : at + 4] if word in deed_forms().nouns), "")
    return deed_forms().nouns.get(thing, "")  # "made the booking"


def _judge_other_verb(
    message: _Message, sentence: Sentence, clause: Clause, one: Predicate
) -> None:
    """Judge a predicate whose verb is not of `words/deeds.txt`."""
    verb, group = one.verb, one.group
    modal = not group.isdisjoint(role("modal"))
    bare = not clause.lead and not one.begin
    finished = verb in role("finish") and not modal and not clause.is_tied
    if finished and {"been", "successfully"} <= group:
        message.note(clause, "any", True)
        return
    finished = finished and (
        (one.is_first and "have" in group) or not group.isdisjoint(role("being")) or bare
    )
    # "Booking confirmed!"
    kind = deed_forms().nouns.get(one.subject or clause.words[max(one.at - 1, 0)], "")
    headline = not group and one.at == len(clause.words) - 1 and len(sentence.words) <= _HEADLINE
    if kind and headline and verb in (*_MADE, "confirmed"):
        message.note(clause, kind, True)
        return
    past = verb.endswith("ed") or verb in role("irregular")
    acted = past and verb not in role("mental") and (one.is_first or "been" in group)
    acted = acted and not (one.negated or modal or group & {"am", "are"})
    opening = sentence.clauses[0].words
    brief = len(opening) < 5 and not group and verb == opening[-1] and verb.endswith("ed")
    if finished or acted or (brief and message.request == "deed"):
        message.may.add("claims_deed")


def _does(message: _Message, sentence: Sentence, clause: Clause, one: Predicate) -> _Claim:
    """Return whether a predicate with the verb of a deed claims that it is done."""
    group, words = one.group, clause.words
    wanted = message.request == "deed"
    if not _kind_of(words, one.at):
        tried = group & {"was", "were", "managed", "could", "did", "failed", "unable", "able"}
        if not tried or not one.is_first or group & {"am", "are", "can", "will"}:
            return ""
        if one.negated or group & {"unable", "failed"}:
            return "denies"
        return "claims" if group & {"able", "managed"} and "to" in group else ""
    if not group.isdisjoint(role("modal")):
        return "denies" if "could" in group and one.negated and "be" in group else ""
    if one.is_first and group.isdisjoint(role("being")):
        if message.speaker == "user" and "have" not in group:  # it may be long ago
            return "may"
        behind = words[one.at + 1 : one.at + 8]
        sends = one.verb == "sent" and behind[:1] != ("you",) and "text" in behind
        if one.verb != "saved" and not sends and not role("content").isdisjoint(behind):
            return "may"  # a text alone is no effect
        if not wanted and reckons(one.verb, behind):
            return "may"
        if one.negated or words[one.at + 1 : one.at + 2] in _NO_OBJECT:
            return "denies"
        earlier = message.request == "fact" and "have" not in group
        earlier = earlier or not clause.said.isdisjoint(role("earlier"))
        return "may" if earlier else "claims"
    after = words[one.at + 1 : one.at + 2]
    others = one.subject in _OTHERS and not words[0] == one.subject == "which"
    if after in (("by",), ("from",)) or one.is_first or others:
        return "may" if wanted else ""
    if group & {"been", "was", "were", "is", "are"}:
        return _is_done(message, one, after, words[: one.begin])
    if one.negated:
        return "denies" if not one.begin and wanted and len(words) < 4 else ""
    if not one.begin and "successfully" in group:
        return "claims"
    if not wanted:
        return ""
    if group - {"all", "now", "already"} or (sentence.is_item and not message.deeds):
        return "may"
    if after in _FULL or "no" in clause.said or not message.said.isdisjoint(role("apology")):
        return "may"
    if not clause.lead and not one.begin:
        return "claims" if clause.after != ":" or len(words) > 1 else "may"
    ends = one.at == len(words) - 1
    headline = one.at < 5 and len(words) < 9
    headline = headline and (ends or (after in _TO and not one.subject.endswith("s")))
    if not clause.lead and headline:
        return "claims" if clause.said.isdisjoint({*_OTHERS, "i", "we"}) else "may"
    return "may" if len(sentence.words) < 9 else ""


def reckons(verb: str, behind: tuple[str, ...]) -> bool:
    """Tell whether a deed may be one on the answer: "I added the unit", "I ordered them by size".

    Args:
        verb: Of the deed.
        behind: The words behind it.
    """
    edits = deed_forms().past.get(verb, ("add",))[0] in ("add", "change", "remove")
    if edits and behind[:1] in _ARTICLES and not role("reckoning").isdisjoint(behind[1:2]):
        return True
    if verb == "added":  # "I added 5 to 7"
        return bool(behind) and all(word[0].isdigit() or word in _TOGETHER for word in behind)
    sorts = verb == "ordered" and behind[1:2] == ("by",) and behind[2:3] in _ORDERS
    asks = verb in ("sent", "made", "ran") and behind[:2] in _ASKED
    return sorts or asks or (verb == "saved" and behind[:3] in _SPARED)


_ARTICLES = (("the",), ("a",), ("an",))
_TOGETHER = ("and", "to", "up", "together", "plus", "all")
_ORDERS = (("size",), ("price",), ("date",), ("name",), ("rating",), ("distance",), ("time",))
_ASKED = (("a", "request"), ("a", "query"), ("a", "search"))
_SPARED = (("you", "the", "trouble"), ("you", "the", "effort"), ("you", "the", "work"))


def _is_done(
    message: _Message, one: Predicate, after: tuple[str, ...], before: Sequence[str]
) -> _Claim:
    """Return whether a passive claims a deed; its verb stands between what is after and before."""
    group, wanted = one.group, message.request == "deed"
    perfect = "been" in group and bool(group & {"has", "have", "is"})
    nothing = group & {"nothing", "none", "nobody"} or one.subject in ("nothing", "none")
    nothing = nothing or "no" in before[-_SUBJECT:]  # "no reminder has been set"
    if one.negated or nothing:
        of_fact = message.request == "fact" and "being" in group  # "nothing is being shared"
        return "denies" if (perfect or nothing) and not of_fact else "may"
    if one.verb == "saved" and perfect and after == ("to",):
        return "claims"
    if message.request == "fact":
        return "may" if perfect or "successfully" in group else ""
    if "successfully" in group or (perfect and wanted):
        return "claims"
    _, base = deed_forms().past.get(one.verb, ("", ""))
    same = "is" in group and any(base in s.words for s in sentences_of(message.before))
    if wanted and ("now" in group or same):
        return "claims"
    return "may" if wanted or perfect else ""


def _may_deny(clause: Clause, message: _Message) -> bool:
    """Tell whether a clause may say that a deed was not done, or failed."""
    said = clause.said
    doubtful = not said.isdisjoint(role("negation", "failing", "restricting"))
    if message.request != "fact" and message.is_short and doubtful:
        return True
    if said.isdisjoint(role("negation", "failing")) or clause.words[0] == "if":
        return False
    present = "unable" in said or ("not" in said and said & {"can", "am"})
    forms = deed_forms()
    return not present and not (said.isdisjoint(forms.past) and said.isdisjoint(forms.base))


def _judge_results(message: _Message) -> None:
    """Leave open what a short reply to a request may tell in free words: "It is yours now"."""
    if message.request != "deed" or not message.is_short:
        return
    others = message.shown.keys() & {"claims_deed", "asks", "promises"}
    if "denies_deed" in message.shown and not others and not message.said & {"until", "yet"}:
        message.shown.setdefault("refuses", message.shown["denies_deed"])
    if any(_is_plain(clause) for sentence, clause, _ in message.statements if not sentence.is_item):
        message.may.add("claims_deed")
        if not message.shown.keys() & {"claims_deed", "promises", "asks_leave"}:
            message.may.add("refuses")


def _is_plain(clause: Clause) -> bool:
    """Tell whether a clause states neither a rule nor what somebody thinks, needs or found."""
    words = clause.words
    if not clause.said.isdisjoint(_AS_BEFORE | role("apology")) or clause.is_tied:
        return False
    if words[0] in ("here", "note", "there") or "seems" in words[:2]:
        return False
    verbs = [one for one in clause.predicates if one.group - role("adverb") and one.subject]
    rules = all(one.negated or one.group & role("modal") - {"to"} for one in verbs)
    thinks = words[0] in ("i", "we") and not role("mental").isdisjoint(words[1:3])
    return not thinks and not (verbs and rules)


# -- Refusals.


def _judge_refusals(message: _Message) -> None:
    regrets = not message.said.isdisjoint(role("apology")) and not message.said & {"hear", "loss"}
    asks_fact = "asks" in message.shown and "asks_leave" not in message.shown
    for sentence, clause in message.told():
        needs = asks_fact and clause.said & {"without", "until", "unless", "before"}
        opens = sentence is message.sentences[0] and clause is sentence.clauses[0]
        bare = opens and clause.words == ("no",) and message.request == "deed" and not asks_fact
        if bare or (not needs and _refuses(clause, regrets)):
            message.show("refuses", clause)
    if any(_may_refuse(sentence, message) for sentence in message.sentences):
        message.may.add("refuses")


def _may_refuse(sentence: Sentence, message: _Message) -> bool:
    """Tell whether a sentence has a word that may refuse."""
    if sentence.is_question:
        return False
    if not sentence.said.isdisjoint(role("apology")) and not sentence.said & {"hear", "loss"}:
        return True
    clauses = [clause for clause in sentence.clauses if clause.words[0] != "if"]
    if message.request != "deed" and not message.is_short:
        return any(
            (one.negated and (one.is_first or one.subject in role("tool")))
            or one.group & {"unable", "failed"}
            for clause in clauses
            for one in clause.predicates
        )
    if sentence.is_item:
        return False
    told = frozenset[str]().union(*(clause.said for clause in clauses))
    if told & role("negation") and not told & {"additional", "extra", "charge", "problem"}:
        return True
    if not told.isdisjoint(role("failing", "restricting")):
        return True
    explained = message.shown.keys() & {"asks", "claims_deed", "promises"}
    return not explained and not told.isdisjoint(role("limiting"))


def _refuses(clause: Clause, regrets: bool) -> bool:
    """Tell whether a clause refuses; of what is told of others only with an apology."""
    words, said = clause.words, clause.said
    if words[0] == "if" or clause.lead == "if" or words[0] == "which":
        return False
    conditional = bool(said & {"if", "unless", "note", "until"})
    lacks = not said.isdisjoint(role("lack"))
    for one in clause.predicates:
        group = one.group
        own = one.is_first or one.subject in role("tool")
        unable = one.verb not in role("seek") and (
            bool(group & {"unable", "failed"} and "to" in group)
            or (one.negated and bool(group & {"can", "could", "able"}))
        )
        if unable and (own or {"could", "be"} <= group):
            return True
        if one.negated and one.is_first and one.verb in role("entitle"):
            return True
        if one.is_first and one.verb == "rather" and words[one.at + 1 : one.at + 2] == ("not",):
            return True
        if one.negated and own and lacks and "have" in group:
            return True
        denied = unable or (one.negated and one.verb in role("grant"))
        if denied and regrets and not conditional and one.subject != "you":
            return True
    if regrets and said & {"non-refundable", "nonrefundable", "impossible"}:
        return True
    if words[-4:-2] == ("i", "wish") and words[-1] == "could":
        return True
    if "something" in said and "not" in words[: words.index("something")]:
        return bool(said & {"can", "will", "could", "lets", "allows", "able"})
    return any(_lacks(words, place) for place in range(len(words)))


_OVER = ("no longer", "any more", "any longer", "anymore")


def _is_over(clause: Clause, message: _Message) -> bool:
    """Tell whether a clause says that something is no longer so, and not that it cannot be done."""
    words = f" {' '.join(clause.words)} "
    if not any(f" {over} " in words for over in _OVER):
        return False
    if "available" in clause.said or any(one.is_first for one in clause.predicates):
        return False
    asked = {word for one in sentences_of(message.before) for word in one.words}
    unable = {"be", *(word for word in asked if word in deed_forms().base)}
    return clause.said.isdisjoint(("can", "could", "able")) or clause.said.isdisjoint(unable)


def _lacks(words: Sequence[str], place: int) -> bool:
    """Tell whether a word at a place begins to say that there is no means, or none that tells."""
    word, after = words[place], words[place + 1 : place + 4]
    if word in ("no", "none", "neither", "nothing"):
        if not role("means", "telling").isdisjoint(after):
            return True
        if word == "nothing":
            return after[:1] in (("here",), ("i",)) or after[:2] in (("that", "i"), ("at", "hand"))
        more = after[:1] in _NO_MATTER or not role("more").isdisjoint(after[:1])
        return words[max(place - 2, 0) : place] == ("i", "have") and not more
    if word in ("beyond", "above", "outside"):
        return after[:1] in (("me",), ("my",)) or after[:2] in (("what", "i"), ("the", "scope"))
    return False


_NO_MATTER = (("doubt",), ("idea",), ("problem",), ("objection",), ("worries",), ("preference",))


# -- Promises.


def _judge_promises(message: _Message) -> None:
    for sentence in message.sentences:
        if sentence.is_question:
            continue
        offered = False
        for clause in sentence.clauses:
            offered = offered or "if" in (clause.words[0], clause.lead)
            told = _promises(clause)
            if told and not offered:
                message.show("promises", clause)
            elif told is not False:
                message.may.add("promises")
        first = sentence.words[0]
        if first.endswith("ing") and len(first) > 5 and not sentence.is_item:
            message.may.add("promises")


def _promises(clause: Clause) -> bool | None:
    """Tell whether a clause says that the speaker will do something, or is at it; None: it may."""
    base, words = deed_forms().base, clause.words
    told: bool | None = False
    for one in clause.predicates:
        if not one.is_first or one.negated:
            continue
        if "will" in one.group and "be" not in one.group:
            if one.verb not in ("need", "happy", "glad", "help", "do", ""):
                return True
            told = None if one.verb in ("help", "do", "") else told
        elif one.group & {"am", "are"}:
            stem = one.verb.removesuffix("ing")
            busy = stem in base or f"{stem}e" in base or one.verb in role("work")
            is_at_it = one.verb in ("on", "at") and words[one.at + 1 : one.at + 2] == ("it",)
            if is_at_it or ("going" in one.group and one.verb):
                return True
            if one.verb.endswith("ing"):
                if busy and "forward" not in clause.said:
                    return True
                told = None
    for place, word in enumerate(words):
        if word == "let" and words[place + 1 : place + 2] == ("me",):
            verb = next((w for w in words[place + 2 : place + 5] if w not in _FIRST), "know")
            if verb not in ("know", "think", "be", "tell", "say"):
                return True
        a_moment = word in _PAUSES and words[place - 1 : place] in (("a",), ("one",))
        if a_moment and words[place + 1 : place + 2] in ((), ("please",), ("to",), ("while",)):
            return words[place - 2 : place - 1] != ("in",)
    return None if words[:2] in (("hold", "on"), ("hang", "on"), ("bear", "with")) else told


_FIRST = ("also", "now", "first", "just", "quickly")
_PAUSES = frozenset(["moment", "sec", "second", "minute"])


# -- Facts.


def _statements(
    sentences: Sequence[Sentence],
) -> Iterator[tuple[Sentence, Clause, list[Predicate]]]:
    """Yield the clauses, with their predicates, that state something and do nothing else.

    What goes on without a verb of its own belongs to the clause before it, and the items of a list
    to the request that they follow.
    """
    listing = False
    for sentence in sentences:
        if listing and sentence.is_item:
            continue
        listing = any(map(requests, sentence.clauses))
        if sentence.is_question or sentence.said <= role("courtesy"):
            continue
        says_other = False
        for clause in sentence.clauses:
            own = [one for one in clause.predicates if one.subject and one.group]
            if _says_other(clause) or (_orders(clause) and not sentence.is_item):
                says_other = True
            elif own or not says_other or clause.lead in ("but", ";", "because", "though"):
                says_other = False
                yield sentence, clause, own


def _judge_facts(message: _Message) -> None:
    claimed = {deed.said for deed in message.deeds}
    for _, clause, predicates in message.statements:
        is_claim = message.text[clause.start : clause.end] in claimed
        if _states(clause, predicates) and not is_claim:
            message.show("states", clause)
        else:
            message.may.add("states")


def _says_other(clause: Clause) -> bool:
    """Tell whether a clause asks, offers, promises, refuses or only leads another clause."""
    if clause.words[0] in ("if", "once", "when", "to", "since", "while", "until", "let"):
        return True
    brief = len(clause.words) < 4 and not clause.said.isdisjoint(role("apology"))
    if brief or "please" in clause.said:
        return True
    if clause.said <= role("courtesy") or offers(clause) or requests(clause) is not False:
        return True
    return _promises(clause) is not False or _refuses(clause, False)


def _orders(clause: Clause) -> bool:
    """Tell whether a clause tells the other to do something."""
    first = clause.words[0]
    if first in deed_forms().base or first in ("proceed", "keep", "leave", "use", "say"):
        return True
    return first == "only" or not {"wondering", "most"}.isdisjoint(clause.words[:4])


_AS_BEFORE = frozenset(["untouched", "unchanged"])
"""Who leaves it as it was denies a deed."""


def _states(clause: Clause, predicates: Sequence[Predicate]) -> bool:
    """Tell whether a clause states a value, or what somebody or something is."""
    if not clause.said.isdisjoint(_AS_BEFORE | {"unavailable"}) or any(
        one.negated and one.verb in role("grant") for one in predicates
    ):
        return False
    if any(word[0].isdigit() or word[0] == VALUE for word in clause.words):
        return True
    told = {"is", "are", "was", "were", "been", "being", "has", "have"}
    return len(clause.words) > 4 and any(
        not one.is_first and one.group & told and not one.negated for one in predicates
    )

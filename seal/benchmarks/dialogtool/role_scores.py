"""Replies held against gold (BLEU, ROUGE-L), and against a character."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import comb, exp, log
from types import MappingProxyType
from typing import Any

from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.tool_life import ACTOR, RESPONDER, TEACHER, Turn
from seal.core import JSON, InfrastructureError, NoVerdictError, Scale, Task, needing
from seal.core.quantities import Time, read
from seal.core.rouge import rouge_l
from seal.core.text import shipped_text
from seal.core.values import digest, json_text
from seal.evaluation.goals import INFRASTRUCTURE, GoalChat, GoalMetric, Value, undefined
from seal.evaluation.llm_judge import LLMJudge, ask

# -- How near a reply is to the gold one, by BLEU and ROUGE-L, and how well its character was kept.
#
# BLEU is that of a reply as DialogTool publishes it, and the counts of which that of a corpus is
# made. Two scorers divide texts differently; texts are English, in lower case. `words`: as NLTK's
# `word_tokenize` after its sentence splitter. `marks`: as sacrebleu's `13a`, the tokens of mteval.
# Both are ours and agree with those on the replies of the corpus, but for dots after rare
# abbreviations.
#
# How well a character was kept is told from 0 to 10: `role` of a whole dialogue, as published, and
# `role_reply` of each reply. By rule the first is the mean of the second; a model is asked once
# more, about all replies together. In older runs `role` is of each reply. A role is a map as
# `seal.benchmarks.dialogtool.tool_life` documents it. By rule its `features` are checked, each met
# or not. The score is ten times the share that is met, times the share of the facts to be told that
# is kept (`kept`). Where one is lost or invented, half of that is left. A model is asked with a
# rubric of our own, for behaviour, dialogue and decisions. It answers with a number alone: whatever
# else it says is no score. The rule's facts stand beside it, and the report counts where it passed
# lost ones.
# Source of task and scale: DialogTool, section 4.
#
# A reply in a fixed frame may have all of that. So a run has a `variety` besides: the share of
# pairs of replies of one role that neither begin nor end alike. It does not depend on how many
# there are, as distinct-n and self-BLEU do. Source: Simpson, Measurement of diversity (1949);
# self-BLEU, of the same purpose, is of Zhu et al., Texygen (2018).
#
# Source of BLEU: Papineni et al., BLEU (2002); smoothing method 7 of NLTK, which is 4 and then 5 of
# Chen and Cherry, A systematic comparison of smoothing techniques for sentence-level BLEU (2014).

_PLAIN = r"[^\s;@#$%&?!*()\[\]{}<>\"«»“”‘’„`,:'\u2012-\u2015]"
_WORD = re.compile(
    rf"\.{{2,}}|--|n't(?!\w)|'(?:s|m|d|ll|re|ve)(?!\w)|{_PLAIN}+(?:(?:[,:](?=\d)|'(?!(?:s|m|d|ll|re|ve)\b)(?=\w)){_PLAIN}+)*|''|\S"
)
_NEGATED = re.compile(r"n't(?!\w)")
_JOINED = re.compile(r"\b(can)(not)\b|\b(gim|lem)(me)\b|\b(gon|wan)(na)\b|\b(got)(ta)\b")
_ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "st", "jr", "sr", "inc", "ltd", "co", "corp", "vs", "etc", "no")
)
_BROKEN = re.compile(r"(--|\.{2,})")
_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_MARK = re.compile(r"([{-~\[-` -&(-+:-@/])")
_AROUND = (
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the tokens of a text as NLTK has them: "don't" is "do", "n't"; "12:30" is one."""
    text = text.lower()
    if "n't" in text:
        text = _NEGATED.sub(" n't", text)
    text = _JOINED.sub(lambda found: " ".join(part for part in found.groups() if part), text)
    if "--" in text or ".." in text:
        text = _BROKEN.sub(r" \1 ", text)
    found = _WORD.findall(text)
    out: list[str] = []
    last = len(found) - 1
    for place, token in enumerate(found):
        dotted = len(token) > 1 and token[-1] == "." and token[-2] != "."
        if dotted and (place == last or _ends(token[:-1])):
            out += (token[:-1], ".")
        else:
            out.append(token)
    return tuple(out)


def _ends(word: str) -> bool:
    """Tell whether a dot behind a word ends a sentence, and no abbreviation."""
    return len(word) > 1 and "." not in word and word not in _ABBREVIATIONS


@lru_cache(maxsize=4096)
def marks(text: str) -> tuple[str, ...]:
    """Return the tokens of a text as `13a` has them: "don't" is one, "a.m." is four."""
    text = text.lower().replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, character in _ENTITIES.items():
            text = text.replace(entity, character)
    text = _MARK.sub(r" \1 ", f" {text} ")
    for pattern, parts in _AROUND:
        text = pattern.sub(parts, text)
    return tuple(text.split())


ORDER = 4
"""Longest n-grams."""
_K = 5
"""NLTK's constant of method 4."""


def sentence_bleu(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return 4-gram BLEU with method 7, at least 0.

    Method 5 adds 1 to the first share, so that a verbatim reply has more than 1: 1.12 where it has
    five tokens or more.

    Args:
        wanted: Tokens of the reference.
        said: Tokens to score; none, or none of the reference's: 0.
    """
    found = matches(wanted, said, ORDER + 1)
    if not found or not found[0]:
        return 0.0
    length = len(said)
    shares = [n / max(1, length - order) for order, n in enumerate(found)]
    halvings = 1
    for order, count in enumerate(found[:ORDER]):
        if not count and length > 1:
            shares[order] = log(length) / (2**halvings * _K) / max(1, length - order)
            halvings += 1
    before = shares[0] + 1
    total = 0.0
    for share, after in pairwise(shares):
        before = (before + share + after) / 3
        total += log(before) / ORDER
    brevity = 1.0 if length > len(wanted) else exp(1 - len(wanted) / length)
    return brevity * exp(total)


def matches(wanted: Sequence[str], said: Sequence[str], order: int = ORDER) -> list[int]:
    """Return for n = 1 to `order` how many n-grams occur in both, each as often as in both."""
    found = []
    for n in range(1, order + 1):
        left, right = (
            list(zip(*(text[i:] for i in range(n)), strict=False)) for text in (wanted, said)
        )
        kinds, others = set(left), set(right)
        common = kinds & others
        count = len(common)
        if len(kinds) < len(left) and len(others) < len(right):
            count = (Counter(left) & Counter(right)).total()
        found.append(count)
        if not count:
            return found + [0] * (order - n)
    return found


def bleu_counts(wanted: Sequence[str], said: Sequence[str]) -> list[int]:
    """Return what the BLEU of many replies is made of: common n-grams, tokens said and wanted.

    The n-grams are counted for n = 1 to `ORDER`, so that there are `ORDER` + 2 numbers.
    """
    return [*matches(wanted, said), len(said), len(wanted)]


def corpus_bleu(counts: Iterable[Sequence[int]]) -> float | None:
    """Return the corpus's BLEU as sacrebleu computes it, in [0, 100]; None: there is nothing.

    Args:
        counts: Of each reply (`bleu_counts`).

    Raises:
        MissingExtraError: sacrebleu is not installed.
    """
    with needing("sacrebleu", "dialogue"):
        from sacrebleu.metrics.bleu import BLEU
    sums, possible = [0] * (ORDER + 2), [0] * ORDER
    for one in counts:
        sums = [a + b for a, b in zip(sums, one, strict=True)]
        possible = [total + max(0, one[ORDER] - n) for n, total in enumerate(possible)]
    *matched, said, wanted = sums
    if not wanted:
        return None
    return float(BLEU.compute_bleu(matched, possible, said, wanted, smooth_method="exp").score)


def replies(turn: Turn) -> tuple[Value, Value]:
    """Return BLEU, at least 0, and ROUGE-L, in [0, 1], of a turn; silence is 0.

    The details of BLEU hold the counts of 13a's tokens (`bleu_counts`).
    """
    if not turn.reply:
        return undefined("gold has no reply"), undefined("gold has no reply")
    said = turn.said(RESPONDER) or ""
    bleu = sentence_bleu(words(turn.reply), words(said))
    counts = bleu_counts(marks(turn.reply), marks(said))
    return Value(bleu, details={"counts": list(counts)}), Value(rouge_l(turn.reply, said))


HIGHEST = 10.0
PROMPT = shipped_text(__package__, "judge_role.txt").strip()
OF_DIALOGUE = shipped_text(__package__, "judge_role_dialogue.txt").strip()

_NUMBER = re.compile(r"\s*([0-9]{1,2}(?:\.[0-9]{1,3})?)\s*")
_REPAIR = "That was no number from 0 to 10. Answer with the number alone."
# Not from within a run of marks, so that "....x" is looked at once.
_SENTENCE = re.compile(r"(?<![.!?])[.!?]++(?:\s+|$)|\n+")
_SHORT = re.compile(
    r"\b(?:\w+n't|\w+'(?:m|re|ve|ll|d)|(?:it|that|there|here|what|who|where|he|she|let)'s)\b"
)
_LONG = re.compile(
    r"\b(?:i am|(?:you|we|they) are|(?:it|that|there|he|she|what) is|cannot"
    r"|(?:do|does|did|is|are|was|were|would|could|should|can|has|have|had|will) not"
    r"|(?:i|you|we|they|it) will)\b"
)
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_SAID_NAME = re.compile(r"(?<=[a-z] )[A-Z][a-z]+")
"""After a comma it may be how a role addresses somebody."""
_STEM = re.compile(r"\b[^\W\d_]{4,5}")
"""The first letters of a word of at least four, by which its forms are alike."""
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'"})


def role(turn: Turn, played: JSON, judge: LLMJudge | None) -> Value:
    """Return the score of a turn; a role that says nothing has 0.

    Args:
        turn: What was said.
        played: The role's configuration.
        judge: Asked where given; None: by rule.
    """
    if not isinstance(played, Mapping):
        return undefined("the trajectory tells no role")
    said = turn.said(ACTOR) or ""
    if not said.strip():
        return Value(0.0, details={"role": str(played.get("name", "")), "said": ""})
    if judge is None:
        value = by_rule(played, said, meant(turn), turn.goal.text)
    else:
        value = rated(judge, played, turn, said)
    told: dict[str, JSON] = {"role": str(played.get("name", "")), "ends": list(ends(said))}
    return replace(value, details=told | value.details)


@dataclass(frozen=True)
class RoleOfDialogue(GoalMetric):
    """The metric `role`: how well a character was kept in a whole dialogue.

    Args:
        judge: (task, trial) to the judge of a chat; only a model is asked.
    """

    judge: Callable[[Task, int], object]

    names = ("role",)
    scales = MappingProxyType({"role": Scale(bounded=False)})

    def applies(self, goal: GoalChat) -> bool:
        """Tell whether this is the first goal of a dialogue."""
        return not goal.position and any(map(life.is_turn, goal.task.goals))

    def measure(self, goal: GoalChat) -> Mapping[str, Value]:
        """Return the value of the dialogue."""
        judge = self.judge(goal.task, goal.trajectory.trial)
        played = goal.trajectory.provenance.get("role")
        turns = goal.chat.once(life.turns_of, goal.chat)[: len(goal.trajectory.stops)]
        spoken = [turn for turn in turns if life.is_turn(turn.goal) and life.ACTOR in turn.seated]
        of_model = judge if isinstance(judge, LLMJudge) else None
        return {"role": role_of_dialogue(spoken, played, of_model)}


def role_of_dialogue(turns: Sequence[Turn], played: JSON, judge: LLMJudge | None) -> Value:
    """Return the score of a dialogue, as DialogTool has it; one in which nothing is said has 0.

    Args:
        turns: In which the role was to speak.
        played: The role's configuration.
        judge: Asked once about all turns; None: the mean of what the rules say of each.
    """
    if not turns:
        return undefined(f"the role is not seated: {ACTOR}")
    if not isinstance(played, Mapping):
        return undefined("the trajectory tells no role")
    said = [turn.said(ACTOR) or "" for turn in turns]
    if judge is None or not any(map(str.strip, said)):
        found = [value for turn in turns if (value := role(turn, played, None)).value is not None]
        if not found:
            return undefined("the role has no feature that can be checked by rule")
        return Value(sum(value.value or 0.0 for value in found) / len(found))
    dialogue: list[JSON] = [
        {"user": turn.goal.text, "meant": meant(turn), "said": words}
        for turn, words in zip(turns, said, strict=True)
    ]
    return _by_model(judge, OF_DIALOGUE, {"role": _character(played), "dialogue": dialogue})


_END = 2
"""Tokens of `marks` that are an opening or a closing: "certainly ." is one."""


def ends(said: str) -> tuple[str, str]:
    """Return by which tokens an utterance begins and ends, in lower case."""
    tokens = marks(said)
    return " ".join(tokens[:_END]), " ".join(tokens[-_END:])


def variety(said: Iterable[tuple[str, str, str]]) -> float | None:
    """Return of the pairs of replies of one role the share, in [0, 1], that share neither end.

    Args:
        said: Role, opening and closing (`ends`) of each reply.

    Returns:
        None: no role has two replies.
    """
    known = list(said)

    def pairs(*parts: int) -> int:
        counts = Counter(tuple(reply[part] for part in parts) for reply in known)
        return sum(comb(count, 2) for count in counts.values())

    whole = pairs(0)
    return 1 - (pairs(0, 1) + pairs(0, 2) - pairs(0, 1, 2)) / whole if whole else None


def meant(turn: Turn) -> str:
    """Return what a role had to say: what the teacher told it, else the responder's words."""
    return (None if turn.said(TEACHER) else turn.said(RESPONDER)) or turn.reply


def by_rule(played: Mapping[str, JSON], said: str, meant: str, heard: str = "") -> Value:
    """Return ten times the share of a role's features that an utterance has, times what it keeps.

    One that loses or invents a fact has half of that: it may be in the role, and is wrong.

    Args:
        played: The role's configuration.
        said: The utterance.
        meant: What it had to say (`kept`); empty: nothing is known of it.
        heard: What the user said.
    """
    features = played.get("features")
    met = checked(features, said) if isinstance(features, Mapping) else {}
    if not met or not isinstance(features, Mapping):
        return undefined("the role has no feature that can be checked by rule")
    failed = [name for name, holds in met.items() if not holds]
    share = 1 - len(failed) / len(met)
    left = _left(played, said, meant, heard)
    details: dict[str, JSON] = {"failed": list(failed)} if failed else {}
    if left == 1:
        return Value(HIGHEST * share, details=details)
    return Value(HIGHEST * share * left / 2, details={**details, "kept": left})


def _left(played: Mapping[str, JSON], said: str, meant: str, heard: str) -> float:
    """Return what a role leaves of the facts, its own frame and words aside (`kept`)."""
    features = played.get("features")
    plain = _unframed(features, said) if isinstance(features, Mapping) else said
    return kept(meant, plain, f"{heard}\n{json_text(dict(played))}")


def kept(meant: str, said: str, known: str = "") -> float:
    """Return how faithful an utterance is to what was meant, in [0, 1].

    Facts are numbers but 1, days, times (of either half of the day) and names, words that are
    capital within a sentence. It is the share of the meant facts that are said, times the share of
    the said facts that are meant or known. Without facts the first is 1 where a word of it, or the
    beginning of one, is said, else 0. 1 of nothing meant.

    Args:
        meant: What was to be said.
        said: The utterance.
        known: What may be said besides, such as the user's words.
    """
    if not meant:
        return 1.0
    there, told = _tokens(said), _facts(said, _SAID_NAME)
    facts, may_be = _facts(meant, _CAPITALISED), _tokens(f"{meant}\n{known}")
    true = sum(fact in may_be for fact in told) / len(told) if told else 1.0
    if facts:
        return true * sum(fact in there for fact in facts) / len(facts)
    wanted, heard = (_STEM.findall(text.casefold()) for text in (meant, said))
    return true * float(not wanted or bool({*wanted} & {*heard}))


def _tokens(text: str) -> set[Any]:
    values = read(text).values
    return {(v.hour % 12, v.minute) if isinstance(v, Time) else v for v in values}


def _facts(text: str, name: re.Pattern[str]) -> set[Any]:
    """Return the facts of a text; a name that is part of a day or number is none of its own."""
    tokens = _tokens(text)
    names = {found.casefold() for found in name.findall(text)}
    return {one for one in tokens if not isinstance(one, str) and one != 1} | (names & tokens)


def _unframed(features: Mapping[str, JSON], said: str) -> str:
    """Return an utterance without the texts by which its role begins or ends."""
    plain = said.strip()
    for text in features.get("opening") or ():
        plain = plain.removeprefix(text)
    for text in features.get("closing") or ():
        plain = plain.removesuffix(text)
    return plain


def checked(features: Mapping[str, JSON], said: str) -> dict[str, bool]:
    """Return for each feature that a role has whether an utterance has it too."""
    plain = said.translate(_QUOTES).lower().strip()
    sentences = [part for part in _SENTENCE.split(plain) if part.strip()]
    longest = max((len(part.split()) for part in sentences), default=0)
    ends = plain.rstrip(".!?\"' ")
    found: dict[str, bool] = {}
    for name, wanted in features.items():
        if wanted is None or wanted == []:
            continue
        if name == "max_words":
            found[name] = longest <= wanted
        elif name == "opening":
            found[name] = plain.startswith(tuple(text.lower() for text in wanted))
        elif name == "closing":
            found[name] = ends.endswith(tuple(text.lower().rstrip(".!?\"' ") for text in wanted))
        elif name == "avoid":
            found[name] = not any(
                re.search(rf"(?<!\w){re.escape(text.lower())}(?!\w)", plain) for text in wanted
            )
        elif name == "contractions":
            found[name] = not (_LONG if wanted else _SHORT).search(plain)
        elif name == "exclamations":
            found[name] = ("!" in plain) == wanted
        elif name == "question":
            found[name] = plain.rstrip("\"' ").endswith("?") == wanted
    return found


def rated(judge: LLMJudge, played: Mapping[str, JSON], turn: Turn, said: str) -> Value:
    """Return a model's score of how well a role was kept; without a value where it gives none.

    If the rule finds a fact lost or invented, the details have `kept` as well. A score above half
    is then one for style alone.
    """
    shown = {"role": _character(played), "user": turn.goal.text, "meant": meant(turn), "said": said}
    found = _by_model(judge, PROMPT, shown)
    left = _left(played, said, meant(turn), turn.goal.text)
    if found.value is None or left == 1:
        return found
    return replace(found, details={**found.details, "kept": left})


def _character(played: Mapping[str, JSON]) -> JSON:
    """Return a role as a judge sees it: without what rules check."""
    return {name: value for name, value in played.items() if name != "features"}


def _by_model(judge: LLMJudge, prompt: str, shown: dict[str, JSON]) -> Value:
    try:
        score = ask(judge, prompt, shown, parse_score, _REPAIR)
    except InfrastructureError as error:
        return undefined(f"{INFRASTRUCTURE}: judge: {error}")
    except NoVerdictError as error:
        return undefined(f"the judge gave no number from 0 to 10: {error}")
    return Value(score, details={"by": f"llm/{digest(prompt)[:12]}"})


def parse_score(text: str) -> float | None:
    """Return the number that a text is, from 0 to 10; None for anything else, prose too."""
    found = _NUMBER.fullmatch(text)
    value = None if found is None else float(found[1])
    return value if value is not None and value <= HIGHEST else None

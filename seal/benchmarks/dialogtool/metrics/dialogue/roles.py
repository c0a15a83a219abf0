"""Does a reply sound like the character it is said by? 0 to 10.

A role is a map as `seal.benchmarks.dialogtool.roles.roles` documents it. By rule its `features`
are checked, each met or not; the score is ten times the share that is met. A model is asked with a
rubric of our own, for behaviour, dialogue and decisions, and answers with a number alone: whatever
else it says is no score. Source of task and scale: DialogTool, section 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from seal.benchmarks.dialogtool.metrics.dialogue.awareness import NOT_SEATED
from seal.benchmarks.dialogtool.metrics.dialogue.turns import Turn
from seal.benchmarks.dialogtool.tool_life import ACTOR
from seal.core.canonical import digest
from seal.core.errors import InfrastructureError
from seal.core.protocols import ChatModel, Message, Request
from seal.core.types import JSON
from seal.evaluation.goals import INFRASTRUCTURE, Value, undefined
from seal.evaluation.llm_judge import prompt

NAME = "role"
HIGHEST = 10.0
PROMPT = "judge_role"

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
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'"})


def role(turn: Turn, played: JSON, judge: RoleJudge | None) -> Value:
    """Return the score of a turn; a role that says nothing has 0.

    Args:
        turn: What was said.
        played: The role's configuration.
        judge: Asked where given; None: by rule.
    """
    if ACTOR not in turn.seated:
        return undefined(f"{NOT_SEATED}: {ACTOR}")
    if not isinstance(played, Mapping):
        return undefined("the trajectory tells no role")
    said = turn.said(ACTOR) or ""
    if not said.strip():
        return Value(0.0, details={"role": str(played.get("name", "")), "said": ""})
    value = by_rule(played, said) if judge is None else judge.rate(played, turn, said)
    return Value(
        value.value,
        value.weight,
        value.reason,
        {"role": str(played.get("name", "")), **value.details},
    )


def by_rule(played: Mapping[str, JSON], said: str) -> Value:
    """Return ten times the share of a role's features that an utterance has."""
    features = played.get("features")
    met = checked(features, said) if isinstance(features, Mapping) else {}
    if not met:
        return undefined("the role has no feature that can be checked by rule")
    failed = [name for name, holds in met.items() if not holds]
    share = 1 - len(failed) / len(met)
    return Value(HIGHEST * share, details={"failed": list(failed)} if failed else {})


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


@dataclass(frozen=True, slots=True)
class RoleJudge:
    """Asks a model how well a role was kept; safe in threads where the model is."""

    model: ChatModel
    seed: int = 0
    tries: int = 3
    """How often it may answer anything but a number."""

    @property
    def identity(self) -> str:
        """The rubric's version."""
        return f"llm/{digest(prompt(PROMPT))[:12]}"

    def rate(self, played: Mapping[str, JSON], turn: Turn, said: str) -> Value:
        """Return the model's score; without a value where it gives none."""
        character = {name: value for name, value in played.items() if name != "features"}
        asked = {"role": character, "user": turn.goal.text, "meant": turn.reply, "said": said}
        # JSON keeps what is judged apart from the instructions, whatever texts it holds.
        material = orjson.dumps(asked, option=orjson.OPT_INDENT_2).decode()
        messages = [Message("system", prompt(PROMPT)), Message("user", material)]
        content = ""
        for _ in range(self.tries):
            request = Request(tuple(messages), role="judge", seed=self.seed)
            try:
                content = self.model.complete(request).content
            except InfrastructureError as error:
                return undefined(f"{INFRASTRUCTURE}: judge: {error}")
            score = parse_score(content)
            if score is not None:
                return Value(score, details={"by": self.identity})
            messages += [Message("assistant", content), Message("user", _REPAIR)]
        return undefined(f"the judge gave no number from 0 to 10: last {content[:100]!r}")


def parse_score(text: str) -> float | None:
    """Return the number that a text is, from 0 to 10; None for anything else, prose too."""
    found = _NUMBER.fullmatch(text)
    value = None if found is None else float(found[1])
    return value if value is not None and value <= HIGHEST else None

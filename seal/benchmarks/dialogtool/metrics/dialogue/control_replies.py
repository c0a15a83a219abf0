"""Replies that are known to be good or bad, put to the model that judges how roles are kept.

For each reply of a character four are made from what it had to say, all in its style. One is
faithful, one drops a fact, one says another fact in its place, and a template says none. A score is
1 where the judge puts the faithful one above the planted one, and 0 where it puts it below or
beside it. So the means are how often the judge ranks rightly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.metrics.dialogue.texts import kept, meant, rated
from seal.benchmarks.dialogtool.players.speech import restyled
from seal.core import JSON, Score
from seal.evaluation.goals import GoalChat, GoalMetric, TaskChat, Value, undefined
from seal.evaluation.llm_judge import LLMJudge
from seal.evaluation.scoring import Scoring

NAMES = ("planted_dropped", "planted_invented", "planted_template")

_FACT = re.compile(r"(?<=[a-z,;:] )(?:\$?\d[\d:.,-]*(?<=\d)|[A-Z][a-z]+(?: [A-Z][a-z]+)*)")
"""A number or name within a sentence: "at 8:30", "in Port Hesk", "for $40"; not "Hello"."""
_TEMPLATE = "I am glad to be of help. Is there anything else?"
_NAME = "Quillmarsh"
"""Invented, and in no corpus."""


@dataclass(frozen=True)
class PlantedReplies(GoalMetric):
    """The judge of roles held against planted replies; it is asked four times a reply."""

    scoring: Scoring
    names = NAMES

    def of(self, chat: TaskChat) -> list[Score]:
        """Return one score for each turn and name; none for a task without turns."""
        return super().of(chat) if any(map(life.is_turn, chat.task.goals)) else []

    def measure(self, goal: GoalChat) -> Mapping[str, Value]:
        """Return the values of one turn."""
        judge = self.scoring.judge_of(goal.task, goal.trajectory.trial)
        role = goal.trajectory.provenance.get("role")
        turn = goal.chat.once(life.turns_of, goal.chat)[goal.position]
        if not isinstance(judge, LLMJudge):
            why = "no model judges roles; name one: --judge llm --judge-model PROVIDER/MODEL"
        elif not isinstance(role, Mapping) or life.ACTOR not in turn.seated:
            why = "nobody plays a role"
        elif not meant(turn).strip():
            why = "nothing was to be said"
        else:
            said = dict(planted(meant(turn), role))
            faithful = rated(judge, role, turn, said.pop(""))
            why = "what was to be said leaves nothing to plant"
            other = {n: _ranked(faithful, rated(judge, role, turn, w), w) for n, w in said.items()}
            return dict.fromkeys(NAMES, undefined(why)) | other
        return dict.fromkeys(NAMES, undefined(why))


def planted(text: str, role: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """Yield the name of each planted reply with its words; the faithful one's name is empty.

    Args:
        text: What was to be said.
        role: The configuration of who says it.
    """
    features = role.get("features")
    style = features if isinstance(features, Mapping) else {}
    fact = _FACT.search(text)
    other = re.sub(r"\d", lambda digit: str((int(digit[0]) + 3) % 10), fact[0]) if fact else ""
    yield "", restyled(text, style)
    bad = {NAMES[2]: _TEMPLATE}
    if fact is not None:
        for name, put in ((NAMES[0], ""), (NAMES[1], other if other != fact[0] else _NAME)):
            words = f"{text[: fact.start()]}{put}{text[fact.end() :]}"
            bad[name] = words.replace("  ", " ")
    for name, words in bad.items():
        if kept(text, words) < 1:  # a fact may be said twice, or a template be all that was meant
            yield name, restyled(words, style)


def _ranked(faithful: Value, other: Value, words: str) -> Value:
    if faithful.value is None or other.value is None:
        return faithful if faithful.value is None else other
    details: dict[str, JSON] = {"faithful": faithful.value, "planted": other.value, "said": words}
    return Value(float(faithful.value > other.value), details=details)

"""The verdict on an agent's words: by the slots of gold, with the reason."""

from __future__ import annotations

from looped import every_case

import seal
from seal.core import Step
from seal.evaluation.rule_judge import RuleJudge


@every_case(
    ("answer", "label", "reason"),
    [
        ("It is 92.3 °F.", "solved", "the answer states '92.3 °F'"),
        ("It is 105.3 °F.", "unsolved", "temperature: the answer says '105.3', gold is '92.3 °F'"),
        ("It is hot.", "unsolved", "temperature: the answer does not state '92.3 °F'"),
        (
            "I could not see whether it is 92.3 °F.",
            "unsure",
            "words do not tell whether the answer states '92.3 °F'",
        ),
    ],
)
def test_the_judge_decides_by_slots_and_says_which(answer: str, label: str, reason: str) -> None:
    goal = seal.ask("How hot is it?", tells={"temperature": 92.3, "unit": "F"}).goals[0]
    steps = [Step(0, "orchestrator", "user_simulator", answer)]
    verdict = RuleJudge().judge(goal, answer, steps)
    assert (verdict.label, verdict.reason) == (label, reason)

"""A judge that asks a model, in two stages.

Source: the SEAL paper, "Pass rate": first request and final answer; only where that leaves it
unsure, the whole trajectory. The tools that were available are never shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import orjson

from seal.core.canonical import digest
from seal.core.protocols import ChatModel, Message, Request
from seal.core.types import Goal, Step, Verdict
from seal.evaluation.goals import EXECUTOR, USER
from seal.evaluation.rule_judge import judge_answer

STAGES = {1: "judge_answer", 2: "judge_trajectory"}
_LABELS: Mapping[str, Literal["solved", "unsolved", "unsure"]] = {
    "solved": "solved",
    "unsolved": "unsolved",
    "unsure": "unsure",
}
_REPAIR = (
    'That was not the JSON object that was asked for. Answer with {"verdict": ..., "reason": ...} '
    "alone; the verdict is solved, unsolved or unsure."
)


@cache
def prompt(name: str) -> str:
    """Return the text of `prompts/NAME.txt`."""
    return (files(__package__) / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


def prompts_digest() -> str:
    """Return one digest of both stages' prompts, part of what a run measures."""
    return digest([prompt(name) for name in STAGES.values()])


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """Asks a model for the verdict; safe in threads where the model is."""

    model: ChatModel
    seed: int = 0
    """Goes into the requests: judges of several votes differ in it."""
    tries: int = 3
    """How often a stage may be answered off the format before its verdict is unsure."""
    temperature: float = 0.0

    @property
    def identity(self) -> str:
        """Name and prompt version, part of what a run measures; the model is named apart."""
        return f"llm/{prompts_digest()[:12]}"

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return the verdict on one goal.

        An empty answer and a give-up are unsolved without asking (`rule_judge.judge_answer` on
        the bare request).

        Args:
            goal: Only its text is shown.
            answer: The final answer.
            steps: What was said and done for this goal.

        Raises:
            ModelError: The model's server failed: that is no verdict.
        """
        bare = judge_answer(Goal(goal.text, plans=()), answer)
        if answer is None or bare.label == "unsolved":
            return bare
        asked = {"request": goal.text, "final_answer": answer}
        first = self._ask(1, asked)
        if first.label != "unsure":
            return first
        return self._ask(2, {**asked, "trajectory": [_shown(s) for s in steps if _visible(s)]})

    def _ask(self, stage: int, shown: dict[str, Any]) -> Verdict:
        # JSON keeps what is judged apart from the instructions, whatever texts it holds.
        material = orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()
        messages = [Message("system", prompt(STAGES[stage])), Message("user", material)]
        content = ""
        for _ in range(self.tries):
            request = Request(
                tuple(messages),
                role="judge",
                temperature=self.temperature,
                seed=self.seed,
                json_object=True,
            )
            content = self.model.complete(request).content
            verdict = parse_verdict(content, stage)
            if verdict is not None:
                return verdict
            messages += [Message("assistant", content), Message("user", _REPAIR)]
        return Verdict(
            "unsure",
            f"the judge gave no verdict in {self.tries} tries; last: {content[:200]!r}",
            stage,
        )


def parse_verdict(text: str, stage: int) -> Verdict | None:
    """Return the verdict that a text gives, or None where it gives none.

    The text must be one JSON object with `verdict` solved, unsolved or unsure, in any case, and a
    text `reason`; a Markdown code fence around it is taken off. Nothing is guessed from prose.
    """
    body = text.strip()
    if body.startswith("```") and body.endswith("```"):
        body = body.strip("`").removeprefix("json").strip()
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("verdict"), str):
        return None
    label = _LABELS.get(fields["verdict"].strip().lower())
    reason = fields.get("reason", "")
    if label is None or not isinstance(reason, str):
        return None
    return Verdict(label, reason, stage)


def _visible(step: Step) -> bool:
    """A checker's own verdict must not decide the judge's; the user's calls are no work of it."""
    return step.author != "checker" and {step.author, step.recipient} != {USER, EXECUTOR}


def _shown(step: Step) -> dict[str, Any]:
    if step.call is not None:
        call = step.call
        arguments = call.raw if call.arguments is None else call.arguments
        return {"by": step.author, "calls": call.name, "id": call.id, "arguments": arguments}
    if step.result is not None:
        return {"by": step.author, "result_of": step.result.call_id, "content": step.result.content}
    return {"by": step.author, "to": step.recipient, "says": step.content}

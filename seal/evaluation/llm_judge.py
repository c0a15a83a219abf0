"""A judge that asks a model, in two stages; and what else a model may be asked of an answer.

Source: the SEAL paper, "Pass rate": first request and final answer; only where that leaves it
unsure, the whole trajectory. The tools that were available are shown only to the question whether a
task can be solved at all (ToolEval), which is about nothing else. Completeness is the FAC of
StableToolBench and MirrorAPI. All prompts are our own.

Answers are read strictly. If an answer is off the scale, in prose or empty, the model is asked
again. After the last try there is no verdict (`NoVerdictError`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, get_args

import orjson

from seal.core import JSON, ChatModel, Goal, Message, NoVerdictError, Request, Step, Tool, Verdict
from seal.core.text import shipped_prompt
from seal.core.text_formats import objects_in
from seal.core.values import digest, json_bytes
from seal.evaluation.goals import EXECUTOR, USER
from seal.evaluation.panel import LABELS, Solvability
from seal.evaluation.pass_rates import PASS_PAPER
from seal.evaluation.rule_judge import judge_answer

STAGES = {1: "judge_answer", 2: "judge_trajectory"}
SOLVABILITY = "judge_solvability"
COMPLETENESS = "judge_completeness"
_PROMPTS = {
    PASS_PAPER: tuple(STAGES.values()),
    "tooleval": (*STAGES.values(), SOLVABILITY),
    "sopr": tuple(STAGES.values()),
    "fac": (COMPLETENESS,),
}
_SOLVABLE: Mapping[str, Solvability] = {label: label for label in get_args(Solvability)}
_T = TypeVar("_T")
TRIES = 3
"""How often a question may be answered off the format before there is no verdict."""
_COMPLETE_REPAIR = "Answer with one word alone: Solved or Unsolved."


prompt = partial(shipped_prompt, __package__)
"""(name) to the text of `prompts/NAME.txt`."""
_OURS: Mapping[str, str] = {}


def prompts_digest(
    names: Sequence[str] = tuple(STAGES.values()), own: Mapping[str, str] = _OURS
) -> str:
    """Return one digest of prompts, else of both stages', part of what a run measures.

    Args:
        names: Of prompts.
        own: Name to the text that a run has instead of ours.
    """
    return digest([own.get(name) or prompt(name) for name in names])


def prompts_of(published: Sequence[str] = tuple(_PROMPTS)) -> list[str]:
    """Return the names of the prompts of published judges, each once; else of all."""
    return list(dict.fromkeys(p for name in published for p in _PROMPTS[name]))


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """Asks a model for the verdict; safe in threads where the model is."""

    model: ChatModel
    seed: int = 0
    """Goes into the requests: judges of several votes differ in it."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Name of a prompt to the text that stands in its place."""

    @property
    def identity(self) -> str:
        """Name and prompt version, part of what a run measures; the model is named apart."""
        return f"llm/{prompts_digest(own=self.prompts)[:12]}"

    def _prompt(self, name: str) -> str:
        return self.prompts.get(name) or prompt(name)

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return the verdict on one goal.

        An empty answer and a give-up are unsolved without asking (`rule_judge.judge_answer` on
        the bare request).

        Args:
            goal: Only its text is shown.
            answer: The final answer.
            steps: What was said and done for this goal.

        Raises:
            ModelError: The model's server failed.
            NoVerdictError: The model gave no usable verdict.
        """
        bare = judge_answer(Goal(goal.text, plans=()), answer)
        if answer is None or bare.label == "unsolved":
            return bare
        asked = {"request": goal.text, "final_answer": answer}
        first = self._ask(1, asked)
        if first.label == "unsure":
            return self._ask(2, {**asked, "trajectory": shown_steps(steps)})
        return first

    def solvable(self, goal: Goal, tools: Sequence[Tool]) -> Solvability:
        """Return whether a request can be met at all, by what it says and these tools.

        Raises:
            ModelError: The model's server failed.
            NoVerdictError: The model gave no usable verdict.
        """
        offered = [{"name": tool.name, "description": tool.description} for tool in tools]
        shown = {"request": goal.text, "tools": offered}

        def read(text: str) -> Solvability | None:
            found = choice(text, "verdict", _SOLVABLE)
            return found[0] if found and isinstance(found[1], str) else None

        return ask(self, self._prompt(SOLVABILITY), shown, read, OneOf("verdict", _SOLVABLE))

    def complete(self, goal: Goal, answer: str) -> Verdict:
        """Return whether an answer addresses every part of a request: solved or unsolved.

        Raises:
            ModelError: The model's server failed.
            NoVerdictError: The model said neither word.
        """
        shown = {"request": goal.text, "final_answer": answer}
        instructions = self._prompt(COMPLETENESS)
        return ask(self, instructions, shown, read_completeness, _COMPLETE_REPAIR)

    def _ask(self, stage: int, shown: dict[str, Any]) -> Verdict:
        asked, form = self._prompt(STAGES[stage]), OneOf("verdict", LABELS)
        return ask(self, asked, shown, lambda text: parse_verdict(text, stage), form)


def ask(
    judge: LLMJudge,
    instructions: str,
    shown: Mapping[str, Any],
    read: Callable[[str], _T | None],
    form: OneOf | str,
) -> _T:
    """Return what a judge's model says of something.

    Args:
        judge: With model and seed.
        instructions: What the model is told to do.
        shown: What is to be judged; never part of the instructions, for JSON keeps them apart.
        read: Text to verdict; None where it is none.
        form: The JSON object that is asked for; of an answer in words what a model is told where
            it gives another.

    Raises:
        ModelError: The model's server failed.
        NoVerdictError: No try gave a verdict.
    """
    material = json_bytes(shown, orjson.OPT_INDENT_2).decode()
    messages = [Message("system", instructions), Message("user", material)]
    schema, repair = (None, form) if isinstance(form, str) else (form.schema(), form.repair())
    content = ""
    for _ in range(TRIES):
        request = Request(
            tuple(messages),
            role="judge",
            temperature=0.0,
            seed=judge.seed,
            json_object=schema is not None,
            json_schema=schema,
        )
        content = judge.model.complete(request).content
        verdict = read(content)
        if verdict is not None:
            return verdict
        messages += [Message("assistant", content), Message("user", repair)]
    raise NoVerdictError(f"the judge gave no verdict in {TRIES} tries; last: {content[:200]!r}")


def read_completeness(text: str) -> Verdict | None:
    """Return the verdict on completeness that a text gives; None: it says neither word.

    Source: StableToolBench, FAC: a text that contains "unsolved" is unsolved, else one that
    contains "solved" is solved. One with neither counts 0 there; here it is no verdict.
    """
    lower = text.lower()
    if "unsolved" in lower:
        return Verdict("unsolved", text.strip()[:200])
    return Verdict("solved", text.strip()[:200]) if "solved" in lower else None


def parse_verdict(text: str, stage: int) -> Verdict | None:
    """Return the verdict that a text gives, or None where it gives none.

    It is the one JSON object, anywhere in the text, with `verdict` solved, unsolved or unsure, in
    any case, and a text `reason`. Nothing is guessed from prose.
    """
    found = choice(text, "verdict", LABELS)
    return Verdict(*found, stage) if found and isinstance(found[1], str) else None


def choice(text: str, key: str, choices: Mapping[str, _T]) -> tuple[_T, Any] | None:
    """Return what the one JSON object in a text chooses, and its reason.

    None where there is no such object, or several that choose differently.

    Args:
        text: Of a model.
        key: Under which the object names its choice, in any case.
        choices: By their names in lower case.
    """
    given = [fields for fields in objects_in(text) if key in fields]
    names = {str(fields[key]).strip().lower() for fields in given}
    chosen = choices.get(names.pop()) if len(names) == 1 else None
    return None if chosen is None else (chosen, given[0].get("reason", ""))


@dataclass(frozen=True, slots=True)
class OneOf:
    """A JSON object that names one of three choices under a key, and a reason."""

    key: str
    choices: Mapping[str, object]

    def schema(self) -> dict[str, JSON]:
        """Return its JSON Schema."""
        return {
            "type": "object",
            "properties": {self.key: {"enum": [*self.choices]}, "reason": {"type": "string"}},
            "required": [self.key, "reason"],
            "additionalProperties": False,
        }

    def repair(self) -> str:
        """Return what a model is told whose answer is none of the choices."""
        first, second, third = self.choices
        return (
            "That was not the JSON object that was asked for. Answer with "
            f'{{"{self.key}": ..., "reason": ...}} alone; '
            f"{'the ' if self.key == 'verdict' else ''}{self.key} is {first}, {second} or {third}."
        )


def shown_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return what a judge is shown of a trajectory."""
    # A checker's own verdict must not decide the judge's; the user's calls are no work of it.
    return [
        _shown(step)
        for step in steps
        if step.author != "checker" and {step.author, step.recipient} != {USER, EXECUTOR}
    ]


def _shown(step: Step) -> dict[str, Any]:
    if step.call is not None:
        call = step.call
        arguments = call.raw if call.arguments is None else call.arguments
        return {"by": step.author, "calls": call.name, "id": call.id, "arguments": arguments}
    if step.result is not None:
        return {"by": step.author, "result_of": step.result.call_id, "content": step.result.content}
    return {"by": step.author, "to": step.recipient, "says": step.content}

"""SEAL's roles, the user among them: what each is asked, and how it replies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from itertools import takewhile

from seal.agents.replies import leave
from seal.agents.teams import CHECKER, EXECUTOR, MANAGER, PLANNER, USER
from seal.core import Chat, Completion, Message, Reply, Step, ToolCall
from seal.core.conditions import SYSTEM
from seal.core.text import THEIRS, filled, plan_steps, shipped_prompt, shipped_texts
from seal.core.values import digest, one_line

# -- What each role but the user says, and the prompts of those that ask a model.

_PACKS = "seal.benchmarks"
PROMPTS = "prompts"
"""Under this name `chat.options` holds the prompts that a run replaces: role to text, or `THEIRS`.
It is missing where there are none."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a role is told before the chat: a text that ships, or the one that a run has instead."""

    package: str
    name: str
    """Of `prompts/NAME.txt` in the package."""
    form: str = ""
    """Name of a text that stands behind it, also where a run has another prompt: how the role's
    words are read."""

    @property
    def text(self) -> str:
        """The text that ships."""
        return shipped_prompt(self.package, self.name)

    def of(self, chat: Chat, /, alone: bool = False, **values: str) -> str:
        """Return what a role of a chat is told.

        Args:
            chat: As the role sees it.
            alone: Whether the system's text stands in the place of the prompt.
            **values: Of the prompt's variables.
        """
        own = chat.options.get(PROMPTS, {}).get(chat.role, THEIRS)
        parts = [] if alone else [filled(self.text if own == THEIRS else own, values)]
        if in_words_of_others(chat):
            parts = [(chat.persona or {})["verbatim"]["instruction"]]
        parts += [shipped_prompt(self.package, self.form)] if self.form else []
        return "\n\n".join(parts)


def in_words_of_others(chat: Chat) -> bool:
    """Tell whether a role is the user, told in the words of its authors; not by a run's prompt."""
    given = (chat.persona or {}).get("verbatim", {})
    return "instruction" in given and chat.role not in chat.options.get(PROMPTS, {})


_prompt = partial(Prompt, __package__)
OF_USER = _prompt("user_simulator")
"""The prompt of the user whom a model plays (`seal.agents.users`)."""


def prompts_digest() -> str:
    """Return one digest of all prompts of the roles: part of what a run's system is.

    Those of packs, in `benchmarks/NAME/prompts`, count as if they lay beside those of the engine,
    so a prompt may move between them.
    """
    texts = shipped_texts(__package__, "prompts")
    for pack in files(_PACKS).iterdir():
        if pack.joinpath("prompts").is_dir():
            texts |= shipped_texts(_PACKS, f"{pack.name}/prompts")
    return digest(texts)


def messages(steps: Sequence[Step], role: str, user: str = "user_simulator") -> list[Message]:
    """Return what a role said and heard as prompt messages, its own side being the assistant's.

    Texts of other roles than the user are prefixed by the author, so that a model can tell a
    planner's word from the user's; what the user itself hears is not. Calls of one turn are one
    assistant message; a result reaches its caller whoever heard it first.

    Args:
        steps: The chat so far.
        role: Whose view this is.
        user: Role whose texts go without a prefix.
    """
    out: list[Message] = []
    turn = -1
    called = set()
    for step in steps:
        if step.author == role:
            if step.call is not None:
                called.add(step.call.id)
            mine = Message("assistant", step.content)
            if step.call is not None:
                mine = Message("assistant", step.content, (step.call,), reasoning=step.reasoning)
                if step.turn == turn:
                    last = out.pop()
                    mine = replace(last, calls=(*last.calls, step.call))
            out.append(mine)
            turn = step.turn
        elif step.result is not None and step.result.call_id in called:
            out.append(Message("tool", step.content, call_id=step.result.call_id))
        elif step.recipient == role and step.author == SYSTEM:
            out.append(Message("system", step.content))
        elif step.recipient == role and step.result is None:
            said = one_line(step.content) if step.author == EXECUTOR else step.content
            text = said if user in (step.author, role) else f"[{step.author}] {said}"
            out.append(Message("user", text))
    return out


def opened(chat: Chat, prompt: Prompt, said: Sequence[Message], /, **values: str) -> list[Message]:
    """Return what a role's model is asked: its prompt in one system message, then what was said.

    What the system said first, such as a policy or the date, is joined to the prompt, or stands in
    its place.

    Args:
        chat: As the role sees it.
        prompt: Of the role.
        said: What was said, from the system's first words on.
        **values: Of the prompt's variables.
    """
    count = next((n for n, one in enumerate(said) if one.role != "system"), len(said))
    theirs = [message.content for message in said[:count]]
    alone = bool(theirs) and chat.options.get(PROMPTS, {}).get(chat.role) == THEIRS
    told = filter(None, (prompt.of(chat, alone=alone, **values), *theirs))
    return [Message("system", "\n\n".join(told)), *said[count:]]


def first_system_words(chat: Chat) -> str:
    """Return what the system tells a role before anybody has spoken; empty: nothing."""
    said = takewhile(lambda step: step.author == SYSTEM, chat.steps)
    return "\n\n".join(step.content for step in said if step.recipient == chat.role)


class ExecutionManager:
    """Lets its model call tools until it reports in words."""

    prompt = _prompt("execution_manager")

    def reply(self, chat: Chat) -> Reply:
        """Return calls, or a report of what was found."""
        view = opened(chat, self.prompt, messages(chat.steps, chat.role))
        answer = chat.complete(view, chat.tools)
        return Reply(answer.content, answer.calls)


class Executor:
    """Runs all calls of the last reply together."""

    def reply(self, chat: Chat) -> Reply:
        """Return one result a call, in execution order."""
        return Reply(results=tuple(chat.execute(pending_calls(chat.steps))))


def pending_calls(steps: Sequence[Step]) -> list[ToolCall]:
    """Return the calls of the last message, in order."""
    return [s.call for s in steps if s.turn == steps[-1].turn and s.call is not None]


class Orchestrator:
    """Asks the planner where one is seated, has each sub-step executed, and answers the user.

    With `retrieve=per-step` tools are looked up for each sub-step before it is handed on.
    """

    prompt = _prompt("orchestrator")
    rewrites = True
    """Whether its model words the final response where there was one report alone."""

    def reply(self, chat: Chat) -> Reply:
        """Return the next instruction, or the final response once everything is reported."""
        current = _since_user(chat)
        last = current[-1]
        plans = [step.content for step in current if step.author == PLANNER]
        handed_on = sum(s.author == chat.role and s.recipient == MANAGER for s in current)
        if last.author == CHECKER:
            return Reply(last.content, next=MANAGER)
        if not plans and not handed_on and PLANNER in chat.roles:
            return Reply(last.content, next=PLANNER)
        plan = plan_steps(plans[-1]) if plans else []
        plan = plan or [current[0].content if plans else last.content]
        if handed_on < len(plan):
            return self._delegate(chat, plan[handed_on])
        if len(plan) == 1 and not self.rewrites:
            return Reply(last.content)
        view = opened(chat, self.prompt, messages(chat.steps, chat.role))
        return Reply(chat.complete(view).content)

    def _delegate(self, chat: Chat, instruction: str) -> Reply:
        if chat.options.get("retrieve") == "per-step":
            chat.find_tools(instruction, int(chat.options["top_k"]))
        return Reply(instruction, next=MANAGER)


class Relay(Orchestrator):
    """An orchestrator that hands the only report of a request on as it is: one request less."""

    rewrites = False


def _since_user(chat: Chat) -> list[Step]:
    """Return the user's last message about this goal and what roles have said since.

    What the executor brings, results and events, is no word of a role.
    """
    current = [s for s in chat.steps if s.goal == chat.goal and s.author != EXECUTOR]
    spoken = [n for n, step in enumerate(current) if step.author == USER]
    return current[spoken[-1] :] if spoken else current


class Decompose:
    """Asks its model for one sub-step a line; offline models split by clause and sentence."""

    prompt = _prompt("planner")

    def reply(self, chat: Chat) -> Reply:
        """Return the sub-steps, one a line."""
        request = chat.steps[-1].content
        answer = chat.complete(opened(chat, self.prompt, [Message("user", request)]))
        return Reply(answer.content)


@dataclass(frozen=True, slots=True)
class Checker:
    """Says solved, unsolved or unsure, with its reason."""

    returns: int = 0
    """How often an unsolved request is sent back to the orchestrator."""

    def reply(self, chat: Chat) -> Reply:
        """Return the verdict; it ends the chat unless the request is sent back."""
        verdict = chat.judge(chat.steps[-1].content)
        text = f"{verdict.label}: {verdict.reason}"
        spoken = sum(s.author == chat.role and s.goal == chat.goal for s in chat.steps)
        if verdict.label == "unsolved" and spoken < self.returns:
            return Reply(text, next=chat.steps[-1].author)
        return Reply(text, done=True)


ACCEPTED = "accepted"


class Verifier:
    """Asks its model whether the last results serve the request."""

    prompt = _prompt("verifier")

    def reply(self, chat: Chat) -> Reply:
        """Return `accepted`, or what to do otherwise."""
        lines = [f"Request: {chat.request}", *map(_line, _executed(chat))]
        view = opened(chat, self.prompt, [Message("user", "\n".join(lines))])
        return Reply(chat.complete(view).content.strip() or ACCEPTED)


class RuleVerifier:
    """Sends back results that are errors, accepts all others; needs no model."""

    def reply(self, chat: Chat) -> Reply:
        """Return `accepted`, or the errors."""
        errors = [s.result.error for s in _executed(chat) if s.result and s.result.error]
        said = [one_line(str(error.get("message", error))) for error in errors]
        return Reply("rejected: " + " ".join(said) if said else ACCEPTED)


def _executed(chat: Chat) -> list[Step]:
    """Return the steps of the last calls and their results."""
    turns = [s.turn for s in chat.steps if s.result is not None]
    ids = {s.result.call_id for s in chat.steps if s.result and s.turn == turns[-1]}
    return [
        s
        for s in chat.steps
        if (s.call and s.call.id in ids) or (s.result and s.result.call_id in ids)
    ]


def _line(step: Step) -> str:
    if step.call is not None:
        return f"Call {step.call.id}: {step.call.name} {step.call.arguments or step.call.raw}"
    return f"Result of {step.result.call_id if step.result else ''}: {one_line(step.content)}"


# -- The execution manager that thinks before it acts, one thought a turn.
#
# A reply of words that begins with `Thought:` is no report: it is said to itself, and the manager
# speaks again. Thoughts cost no turn of the budget. After three in a row it is told to act; a
# fourth is a step that could not be read as a call, which the executor answers as any invalid one.
#
# Source: Yao et al., ReAct (2023); Kokane et al., ToolScan (2024), which has at most three in a
# row.

MOST_THOUGHTS = 3
_THOUGHT = re.compile(r"\s*(?:Thought|Think)\s*:", re.IGNORECASE)
_FINAL = re.compile(r"^[ \t]*Final Answer[ \t]*:[ \t]*", re.MULTILINE)
_GO_ON = "Go on."
_ACT = "You have thought enough. Call a tool now, or answer. Write no further thought."


class ReAct:
    """Lets its model think, call tools, and report in words.

    How a thought and a report are written stands behind its prompt, also behind another one.
    """

    prompt = _prompt("execution_manager", "react")

    def reply(self, chat: Chat) -> Reply:
        """Return a thought, calls, or a report of what was found."""
        thoughts = thoughts_in_a_row(chat.steps, chat.role)
        view = opened(chat, self.prompt, _answered(chat.steps, chat.role, thoughts))
        answer = chat.complete(view, chat.tools)
        is_thought = _THOUGHT.match(answer.content) and not _FINAL.search(answer.content)
        if answer.calls or not is_thought:
            return Reply(_report(answer), answer.calls)
        if thoughts < MOST_THOUGHTS:
            return Reply(answer.content, next=chat.role)
        return Reply(calls=(ToolCall("", "", None, answer.content),))


def thoughts_in_a_row(steps: Sequence[Step], role: str) -> int:
    """Return how many of the last steps are thoughts of a role."""
    count = 0
    for step in reversed(steps):
        if not step.author == step.recipient == role:
            break
        count += 1
    return count


def _answered(steps: Sequence[Step], role: str, thoughts: int) -> list[Message]:
    """Return the chat as messages, each thought answered: servers want the last word to be ours."""
    told = messages(steps, role)
    heard: list[Message] = []
    for place, message in enumerate(told):
        heard.append(message)
        if message.role == "assistant" and not message.calls and _THOUGHT.match(message.content):
            last = place == len(told) - 1
            enough = last and thoughts >= MOST_THOUGHTS
            heard.append(Message("user", _ACT if enough else _GO_ON))
    return heard


def _report(answer: Completion) -> str:
    """Return the words of an answer; of a thought with a final answer the answer alone."""
    final = None if answer.calls else _FINAL.search(answer.content)
    return answer.content[final.end() :].strip() if final else answer.content


# -- Who plays the user: a model, or rules by which conversations run offline.
#
# Both speak the goal's text first, or what the persona says instead. A model then answers from its
# brief (`UserSimulator` of `seal.agents.users`), and the rules (`ScriptedUser`) as it says there.
# What answers by rule is imported then: most goals end without a second word of the user.


def first_words(chat: Chat) -> str | None:
    """Return what the user says first about a goal; None: its model writes that."""
    opening = (chat.persona or {}).get("opening") if chat.goal == 0 else None
    return None if opening is True else opening or chat.request


class ScriptedUser:
    """Speaks the goal's text first, then answers by rule (`seal.agents.users`).

    It cannot word a first message: where a model is to write it, it too says the goal's text.
    """

    def reply(self, chat: Chat) -> Reply:
        """Return the goal, an answer, or a call of `end_conversation`."""
        said = [s for s in chat.steps if s.goal == chat.goal and s.call is None]
        own = sum(step.author == chat.role for step in said)
        request = first_words(chat) or chat.request
        if not own:
            return Reply(request)

        texts = [
            step.content
            for step in said
            if step.author != chat.role and step.recipient == chat.role and step.result is None
        ]
        from seal.agents.users import scripted_answer

        answer = scripted_answer(chat.persona or {}, request, texts, own - 1, chat.goal)
        return leave(chat) if answer is None else Reply(answer)

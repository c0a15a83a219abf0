"""User, planner and agent played by a language model, or by one each.

Prompts stand in `prompts/`. Each holds the role, what it may answer, today's date (but for a user
who begins), the tools and what they require. The user is told what was said; planner and agent see
calls and results too. A user who is asked answers completely three times of four, else vaguely; to
a second question always completely.

Source: "Multi-Mission Tool Bench" (2025), the framework of five roles.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from string import Template

from seal.benchmarks.mmtb.generation.roles import required
from seal.benchmarks.mmtb.generation.scenes import MISSING, Action, Scene, json_object
from seal.core import JSON, Chat, DataError, Message, Tool
from seal.core.canonical import derive_seed, digest
from seal.core.package_data import shipped_json, shipped_text, shipped_texts
from seal.core.plain import json_text
from seal.evaluation.missions.graph import PSEUDO

_PHRASES = shipped_json(__package__, "prompts/phrases.json")
TRIES = 3
"""Answers of the model that a user's wordings are looked for in."""
FEW, MANY = 3, 5
"""Candidates: for missions of several calls and those that lean on others, and for the rest."""
_VAGUE = 4
"""One first answer in so many is vague."""
_LANGUAGES = {"en": "English", "zh": "Chinese"}


class ModelSpeakers:
    """Speakers by a chat's models.

    Args:
        identity: What the models are, for the record.
    """

    def __init__(self, identity: dict[str, JSON]) -> None:
        prompts = digest(shipped_texts(__package__, "prompts"))
        self.identity: dict[str, JSON] = {**identity, "prompts": prompts}

    def candidates(self, scene: Scene, chat: Chat) -> Sequence[str]:
        """Return wordings of the mission, the first one drawn by the mission's seed.

        None where no answer of the model in `TRIES` is the JSON object that was asked for.
        """
        count = MANY if not scene.past and scene.assignment.kind != "multi" else FEW
        structure = random.Random(scene.assignment.seed).choice(_PHRASES["structures"])
        wish = Template(_PHRASES["types"][scene.assignment.kind]).substitute(structure=structure)
        lean = _lean(scene, count)
        prompt = _prompt("user_request", scene, wish=wish, lean=lean, count=str(count))
        told = f"The conversation so far:\n\n{_talk(scene)}" if scene.past else "Begin."
        messages = [Message("system", prompt), Message("user", told)]
        for _ in range(TRIES):
            answer = chat.complete(messages, json_object=True).content
            try:
                found = _wordings(answer)
            except DataError as error:
                complaint = f"That cannot be used: {error}. Answer with the JSON object alone."
                messages += [Message("assistant", answer), Message("user", complaint)]
                continue
            random.Random(scene.assignment.seed).shuffle(found)
            return found
        return []

    def decide(self, scene: Scene, chat: Chat) -> str:
        """Return the planner's decision as the model wrote it."""
        told = [f"The conversation so far:\n\n{_talk(scene, calls=True)}"]
        if scene.rejections:
            told.append("Your last decisions were not accepted:")
            told += [f"- {line}" for text in scene.rejections for line in text.splitlines()]
            told.append("Decide anew, without a word about them.")
        messages = [Message("system", _prompt("planner", scene)), Message("user", "\n".join(told))]
        return chat.complete(messages, json_object=True).content

    def ask(self, scene: Scene, action: Action, chat: Chat) -> str:
        """Return the agent's question for what is missing."""
        missing = action.arguments.get(MISSING)
        named = ", ".join(map(str, missing)) if isinstance(missing, list) else "more"
        prompt = _prompt("agent_ask", scene, missing=named, purpose=action.purpose or scene.request)
        return _told(chat, prompt, _talk(scene, calls=True))

    def answer(self, scene: Scene, question: str, chat: Chat) -> str:
        """Return the user's answer to a question."""
        vague = len(scene.questions) == 1 and begins_vaguely(scene.assignment.seed)
        manner = _PHRASES["manner"]["vague" if vague else "complete"]
        return _told(chat, _prompt("user_answer", scene, manner=manner), _talk(scene))

    def reply(self, scene: Scene, chat: Chat) -> str:
        """Return the agent's last text of the mission."""
        prompt = _prompt("agent_reply" if scene.calls else "agent_chat", scene)
        return _told(chat, prompt, _talk(scene, calls=True))


def begins_vaguely(seed: int) -> bool:
    """Tell whether the user's first answer in the mission of a seed is vague: one of four is."""
    return derive_seed(seed, "manner") % _VAGUE == 0


def _told(chat: Chat, prompt: str, talk: str) -> str:
    told = f"The conversation so far:\n\n{talk}"
    return chat.complete([Message("system", prompt), Message("user", told)]).content


def _lean(scene: Scene, count: int) -> str:
    """Return how the requests lean on what was said, each in a way of its own where it can."""
    relation = scene.assignment.relation
    if relation is None:
        return str(_PHRASES["first"])
    ways = list(_PHRASES["relations"][relation])
    random.Random(scene.assignment.seed).shuffle(ways)
    lines = [f"{n}. {ways[(n - 1) % len(ways)]}" for n in range(1, count + 1)]
    return "\n".join(["The requests go on from the conversation, one after the other so:", *lines])


def _wordings(answer: str) -> list[str]:
    """Return the texts of a model's JSON object.

    Raises:
        DataError: It is none, or holds no text.
    """
    values = json_object(answer).values()
    found = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    if not found:
        raise DataError("no value of it is a text")
    return found


def _prompt(name: str, scene: Scene, **parts: str) -> str:
    """Return a role's prompt with what all roles know: the date and the tools."""
    language = _LANGUAGES[scene.assignment.language]
    text = Template(shipped_text(__package__, f"prompts/{name}.txt")).substitute(
        language=language, **parts
    )
    begins = name == "user_request" and not scene.past
    known = [] if begins else [f"Today is {scene.assignment.date}."]
    known.append("\n".join(["Tools:", *map(_described, scene.tools.values())]))
    return "\n\n".join([text.strip(), *known])


def _described(tool: Tool) -> str:
    declared = tool.parameters.get("properties")
    names = list(declared) if isinstance(declared, dict) else []
    needed = required(tool)
    optional = [name for name in names if name not in needed]
    document = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    summary = f"required: {', '.join(needed) or 'none'}; optional: {', '.join(optional) or 'none'}"
    return f"- {json_text(document)}\n  {summary}"


def _talk(scene: Scene, calls: bool = False) -> str:
    """Return the conversation as text.

    Args:
        scene: Its missions, and what was said of the current one.
        calls: Calls and their results too.
    """
    lines = []
    for mission in scene.past:
        lines.append(f"User: {mission.text}")
        for node in mission.nodes if calls else ():
            if node.name not in PSEUDO:
                lines.append(_called(node.name, node.arguments, node.observation))
        lines += [f"{'User' if s.by_user else 'Assistant'}: {s.text}" for s in mission.said]
    if scene.request:
        lines.append(f"User: {scene.request}")
    for done in scene.done:
        if done.is_question:
            lines.append(f"Assistant: {done.observation}")
            lines += [f"User: {done.answer}"] if done.answer else []
        elif calls:
            lines.append(_called(done.action.name, done.action.arguments, done.observation))
    return "\n".join(lines)


def _called(name: str, arguments: dict[str, JSON], result: JSON) -> str:
    return f"[{name}({json_text(arguments)}) brought {json_text(result)}]"

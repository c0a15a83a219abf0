"""`lexical` and `random`: the floor."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from seal.core import FIND_TOOLS, JSON, Completion, Message, OptionError, Request, Tool, ToolCall
from seal.core.earlier_results import value_of
from seal.core.schemas import required_names
from seal.core.text import clauses, words
from seal.core.values import canonical_json, derive_seed, json_text
from seal.models.spec import ModelSettings

# -- Which goal a prompt is about, and what has been done for it: read from the messages alone.
#
# Offline models that play a known task (`oracle`, `recorded`, `replay`) hold nothing between
# requests. They find the goal by its text:
#
# 1. Goals are spoken in order, so the position only ever grows.
# 2. The user speaks in user messages without an author in brackets; where a prompt has none (a role
#    that only its orchestrator talks to), the bracketed ones count, and a part of a goal's text
#    will do.
# 3. A message that is a goal's text, or holds it as whole words, speaks that goal; of several, the
#    one that stands last in it. A text that two goals share means the later one only after the
#    assistant has said something since the earlier one.
# 4. Where no user message speaks a goal, system messages count; else the number of user messages.
#
# The scene begins with the message that spoke the goal; a task of one goal is one scene.
#
# Also here: results in words, for a model that has no words of its own to say what came back.


_AUTHOR = re.compile(r"\[(\w+)\] ")


@dataclass(frozen=True, slots=True)
class Scene:
    """The part of a prompt that concerns one goal."""

    goal: int
    messages: tuple[Message, ...]

    @property
    def batches(self) -> list[tuple[ToolCall, ...]]:
        """Calls made so far, reply by reply."""
        return [m.calls for m in self.messages if m.role == "assistant" and m.calls]

    @property
    def results(self) -> list[str]:
        """Contents of the results so far."""
        return [m.content for m in self.messages if m.role == "tool"]

    @property
    def said(self) -> list[str]:
        """What this role has said in words so far."""
        return [m.content for m in self.messages if m.role == "assistant" and not m.calls]

    @property
    def last_heard(self) -> str:
        """The last thing that another role said to this one, without its author.

        Events, of which the executor tells, are not said.
        """
        said = (m.content for m in self.messages if m.role == "user")
        heard = [content for content in said if not content.startswith("[executor] ")]
        return without_author(heard[-1]) if heard else ""


def without_author(text: str) -> str:
    """Return the text without a leading `[role] `."""
    found = _AUTHOR.match(text)
    return text[found.end() :] if found else text


def offered_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Return tool id to the name under which it is offered, scrambled or not."""
    return {tool.id: tool.name for tool in tools}


def find_scene(request: Request, goals: Sequence[str]) -> Scene:
    """Return the scene that a prompt is in.

    Args:
        request: The prompt.
        goals: Texts of the task's goals, in order; at least one.
    """
    messages = request.messages
    if len(goals) == 1:
        return Scene(0, messages)
    texts = [_squeezed(goal) for goal in goals]
    spoken = [m for m in messages if m.role == "user" and not _AUTHOR.match(m.content)]
    if not spoken:
        spoken = [m for m in messages if m.role == "user"]
    position, start = _follow(messages, spoken, texts)
    if position < 0:
        system = [m for m in messages if m.role == "system"]
        position, start = _follow(messages, system, texts)
    if position < 0:
        position = max(0, min(len(spoken), len(goals)) - 1)
        start = messages.index(spoken[-1]) if spoken else 0
    return Scene(position, messages[start:])


def _follow(
    messages: Sequence[Message], speaking: Sequence[Message], texts: Sequence[str]
) -> tuple[int, int]:
    """Return the goal that was spoken last and the index of its message; (-1, 0) where none was."""
    heard = {id(message) for message in speaking}
    position, start, answered = -1, 0, False
    for index, message in enumerate(messages):
        if message.role == "assistant" and not message.calls:
            answered = True
        elif id(message) in heard:
            found = _spoken_goal(message.content, texts, position, answered)
            if found > position:
                position, start, answered = found, index, False
    return position, start


def _spoken_goal(content: str, texts: Sequence[str], current: int, answered: bool) -> int:
    bracketed = _AUTHOR.match(content) is not None
    content = _squeezed(without_author(content))
    ends = {}
    for goal in range(max(current, 0), len(texts)):
        end = _end(content, texts[goal])
        if end < 0 and bracketed and " " in content and content in texts[goal]:
            end = 0
        if end >= 0:
            ends[goal] = (end, len(texts[goal]) if end else 0)
    if not ends:
        return current
    last = max(ends.values())
    goals = [goal for goal, end in ends.items() if end == last]
    if current in goals and not answered:
        return current
    return next((goal for goal in goals if goal > current), current)


def _end(content: str, text: str) -> int:
    """Return where the last occurrence of the text as whole words ends; -1 where there is none."""
    if not text or text not in content:
        return -1
    pattern = rf"(?<!\w){re.escape(text)}(?!\w)"
    return max((found.end() for found in re.finditer(pattern, content)), default=-1)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


DONE = "Done."
"""Said of a result that is nothing, as where a world did what it was told."""


def in_words(content: str) -> str:
    """Return the values of a result with their names, such as `hour: 2, minute: 43`.

    Args:
        content: JSON, an answer {"error", "response"} of a simulator, or a Python literal, as
            worlds answer; any other text is said as it stands. Empty where it holds no value.
    """
    value = value_of(content)
    if value is None:
        return DONE
    if isinstance(value, dict) and value.keys() == {"error", "response"}:
        value = value["response"] if not value["error"] else value["error"]
    return ", ".join(_named(value))


def _named(value: JSON, name: str = "") -> list[str]:
    if isinstance(value, dict):
        return [said for key, inner in value.items() for said in _named(inner, str(key))]
    if isinstance(value, (list, tuple)):
        return [said for inner in value for said in _named(inner, name)]
    if value is None or value == "":
        return []
    text = json_text(value) if isinstance(value, (bool, int, float)) else str(value)
    return [f"{name.replace('_', ' ')}: {text}" if name else text]


# -- `lexical`: no model at all. The floor.
#
# It matches the words of each clause with the names and descriptions of the offered tools. It fills
# the arguments from the text (`seal.models.fill`), calls once, and states the values that came
# back. Where a required argument cannot be filled it asks for it. Same request, same answer.
#
# `-M slips=RATE` makes it err, so that feedback can be studied without a server. Each of its calls
# slips with this probability, in [0, 1]. It is drawn from the request's seed, the position in the
# chat and that of the call in the reply, so equal requests slip alike. One of four faults is
# planted, each as likely as the others that the call allows:
#
# - argument: the name of an argument is one that the tool does not declare.
# - type: a value has another type than the declared one.
# - missing: a required argument is left out.
# - function: the name is that of no offered tool.
#
# Once an answer is an error that names what is wrong, the argument or function, it makes the call
# again and right; else it goes on with what it got.

_LONGEST_REPLY = 2000
_JUDGING = ("[verifier]", "[checker]")


@dataclass(frozen=True, slots=True)
class Lexical:
    """Chooses tools and arguments by words alone. Safe in threads: it holds nothing.

    Raises:
        OptionError: The rate is no number in [0, 1].
    """

    slips: float = 0.0
    """Share of calls that are made wrong, in [0, 1]."""

    def __post_init__(self) -> None:
        """Check the rate."""
        rate = self.slips
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
            raise OptionError(f"-M slips={rate}: expected a number from 0 to 1, such as 0.3")

    def complete(self, request: Request) -> Completion:
        """Return calls, a question, or the values that came back; uses no tokens."""
        spoken = speak_plainly(request)
        if spoken is not None:
            return spoken
        scene = current_exchange(request.messages)
        text = request_text(scene)
        finder = offered_names(request.tools).get(FIND_TOOLS)
        made = [message.calls for message in scene if message.calls]
        tools = [tool for tool in request.tools if tool.id != FIND_TOOLS]
        acted = [calls for calls in made if any(call.name != finder for call in calls)]
        if acted:
            again = _repaired(acted, scene, text, tools) if self.slips else ()
            return Completion(calls=again) if again else Completion(stated_results(scene))
        if finder is not None and not made:
            return Completion(calls=(ToolCall("", finder, {"query": text}),))
        reply = _first_reply(text, tools)
        if not self.slips:
            return reply
        from seal.models.fill import slipped

        position = len(request.messages)
        return replace(reply, calls=slipped(reply.calls, tools, self.slips, request.seed, position))


def build_lexical(rest: str, settings: ModelSettings) -> Lexical:
    """Return the model `lexical`.

    Raises:
        OptionError: `slips` is no number in [0, 1].
    """
    return Lexical(**settings.options)


def _repaired(
    acted: Sequence[Sequence[ToolCall]], scene: Sequence[Message], text: str, tools: Sequence[Tool]
) -> tuple[ToolCall, ...]:
    """Return the right calls in the place of those whose fault an answer names, once each.

    What was meant follows from the request, as the calls did.

    Args:
        acted: The calls of each reply that called a tool.
        scene: Messages since the last final word.
        text: What is asked for.
        tools: Those that are offered, but for the search for tools.
    """
    from seal.models.fill import is_told

    meant = _first_reply(text, tools).calls
    batches = [calls for calls in acted if len(calls) == len(meant)]
    if not batches or not meant:
        return ()
    answers = {m.call_id: m.content for m in scene if m.role == "tool"}
    made = {_act(call) for calls in acted for call in calls}
    return tuple(
        right
        for call, right in zip(batches[0], meant, strict=True)
        if _act(right) not in made and is_told(call, right, answers.get(call.id, ""))
    )


def _act(call: ToolCall) -> bytes:
    """Return what a call does, whatever its id."""
    return canonical_json([call.name, call.arguments])


def speak_plainly(request: Request) -> Completion | None:
    """Return what a role says that needs no tools; None for a role that acts."""
    heard = [m.content for m in request.messages if m.role == "user"]
    last = without_author(heard[-1]) if heard else ""
    if request.role == "planner":
        return Completion("\n".join(clauses(last)))
    if request.role == "verifier":
        return Completion("accepted")
    if request.role == "user_simulator":
        return Completion(calls=tuple(ToolCall("", t.name, {}) for t in request.tools[:1]))
    return Completion(last) if request.role == "orchestrator" else None


def current_exchange(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages since the last final word: an assistant's text that asks nothing."""
    start = 0
    for index, message in enumerate(messages):
        final = message.role == "assistant" and not message.calls and "?" not in message.content
        if final and message.content:
            start = index + 1
    return messages[start:]


def request_text(messages: Sequence[Message]) -> str:
    """Return what the user asks for and answered since, without verdicts of judging roles."""
    heard = [m.content for m in messages if m.role == "user"]
    return "\n".join(without_author(text) for text in heard if not text.startswith(_JUDGING))


def _first_reply(text: str, tools: Sequence[Tool]) -> Completion:
    chooser = ToolChooser(tools)
    calls: list[ToolCall] = []
    asked: dict[str, None] = {}
    for clause in clauses(text):
        tool = chooser.choose(clause)
        if tool is None:
            continue
        from seal.models.fill import fill  # long, and needless where no tool fits

        filled = fill(tool.parameters, clause, text)
        asked.update(dict.fromkeys(filled.missing))
        call = ToolCall("", tool.name, filled.arguments)
        if not filled.missing and call not in calls:
            calls.append(call)
    if calls:
        return Completion(calls=tuple(calls))
    if asked:
        return Completion(f"Could you tell me the {', the '.join(map(_readable, asked))}?")
    return Completion("None of the tools at hand fits this request.")


def _readable(name: str) -> str:
    spelled = " ".join(words(name))
    return name if spelled == name.casefold() else f"{spelled} ({name})"


def stated_results(messages: Sequence[Message]) -> str:
    """Return the values of all results in words."""
    lines = [in_words(message.content) for message in messages if message.role == "tool"]
    text = "\n".join(line for line in lines if line)
    return text[:_LONGEST_REPLY] or "The tools answered nothing."


_STOPWORDS = frozenset(
    words(
        "a an the of for to in on at by with from and or is are was be been i me my we our you "
        "your it its this that these those what which who how when where please can could would "
        "will do does give get show tell find want need like some any all about into as if also "
        "then there have has"
    )
)


@dataclass(frozen=True, slots=True)
class _Document:
    tool: Tool
    name: frozenset[str]
    description: frozenset[str]


class ToolChooser:
    """Finds the tool that shares most with a text, rare words counting more.

    A tool is chosen only where the text shares a word with its name or two with its description.

    Args:
        tools: To choose from.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._documents = [
            _Document(tool, stems(tool.name), stems(tool.description)) for tool in tools
        ]
        counts = Counter(word for d in self._documents for word in d.name | d.description)
        self._weights: Mapping[str, float] = {
            word: math.log(1 + len(tools) / count) for word, count in counts.items()
        }

    def choose(self, text: str) -> Tool | None:
        """Return the tool; of equal ones the first."""
        said = stems(text)
        best, best_score = None, 0.0
        for document in self._documents:
            in_name, described = said & document.name, said & document.description
            if not in_name and len(described) < 2:
                continue
            score = 2 * self._weigh(in_name) + self._weigh(described - in_name)
            if score > best_score:
                best, best_score = document.tool, score
        return best

    def _weigh(self, shared: frozenset[str]) -> float:
        return sum(self._weights[word] for word in sorted(shared))


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the words that carry meaning, without common English endings."""
    return frozenset(_stem(word) for word in words(text) if word not in _STOPWORDS)


def _stem(word: str) -> str:
    for ending, least in (("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


# -- `random`: calls a tool by chance, with arguments by schema. What chance alone reaches.

_WORDS = ("alpha", "bravo", "delta", "kilo", "lima", "oscar", "sierra", "tango")
_FORMATS = {
    "date": "2024-05-17",
    "date-time": "2024-05-17T12:00:00Z",
    "time": "12:00:00",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_DEEPEST = 5


class RandomCalls:
    """Calls one offered tool after each request, then states what came back. Safe in threads.

    The choice depends on the request's seed and messages, so equal requests get equal answers.
    """

    def complete(self, request: Request) -> Completion:
        """Return a call or a text; uses no tokens."""
        spoken = speak_plainly(request)
        if spoken is not None:
            return spoken
        scene = current_exchange(request.messages)
        if not request.tools or any(message.calls for message in scene):
            return Completion(stated_results(scene))
        draw = random.Random(derive_seed(request.seed, [m.content for m in request.messages]))
        tool = draw.choice(request.tools)
        arguments = _object(tool.parameters, draw, 0)
        return Completion(calls=(ToolCall("", tool.name, arguments),))


def build_random(rest: str, settings: ModelSettings) -> RandomCalls:
    """Return the model `random`."""
    return RandomCalls()


def random_value(schema: Mapping[str, Any], draw: random.Random, depth: int = 0) -> JSON:
    """Return a value that a schema allows, as far as type, enum, bounds and lengths say."""
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return draw.choice(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return random_value(_mapping(draw.choice(schema[key])), draw, depth)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = draw.choice(kind) if kind else "null"
    if kind == "object":
        return _object(schema, draw, depth)
    if kind == "array":
        return _array(schema, draw, depth)
    if kind in ("integer", "number"):
        return _number(schema, kind, draw)
    if kind == "boolean":
        return draw.random() < 0.5
    return None if kind == "null" else _text(schema, draw)


def _object(schema: Mapping[str, Any], draw: random.Random, depth: int) -> dict[str, JSON]:
    required = set(required_names(schema))
    properties = schema.get("properties") or {}
    return {
        name: random_value(_mapping(inner), draw, depth + 1)
        for name, inner in properties.items()
        if name in required or (depth < _DEEPEST and draw.random() < 0.5)
    }


def _array(schema: Mapping[str, Any], draw: random.Random, depth: int) -> list[JSON]:
    least = schema.get("minItems", 0 if depth >= _DEEPEST else 1)
    most = max(least, min(schema.get("maxItems", least + 2), least + 2))
    items = _mapping(schema.get("items"))
    return [random_value(items, draw, depth + 1) for _ in range(draw.randint(least, most))]


def _number(schema: Mapping[str, Any], kind: str, draw: random.Random) -> int | float:
    least, most = _bound(schema, "inimum", 1), _bound(schema, "aximum", -1)
    if least is None:
        least = 0 if most is None else most - 100
    if most is None:
        most = least + 100
    if kind == "number":
        return least + (most - least) * draw.uniform(0.1, 0.9)
    return draw.randint(math.ceil(least), max(math.ceil(least), math.floor(most)))


def _bound(schema: Mapping[str, Any], name: str, inwards: int) -> float | None:
    """Return a bound that itself may be taken; an exclusive one moves inwards by 1."""
    bound, beyond = schema.get("m" + name), schema.get("exclusiveM" + name)
    if isinstance(bound, (int, float)):
        return bound
    return beyond + inwards if isinstance(beyond, (int, float)) else None


def _text(schema: Mapping[str, Any], draw: random.Random) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    text = draw.choice(_WORDS)
    while len(text) < schema.get("minLength", 0):
        text += " " + draw.choice(_WORDS)
    return text[: schema.get("maxLength", len(text))]


def _mapping(schema: Any) -> Mapping[str, Any]:
    return schema if isinstance(schema, dict) else {}

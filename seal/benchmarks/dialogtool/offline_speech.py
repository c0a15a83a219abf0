"""Who plays which role offline (words, gold, chance), and what is said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import orjson

from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.api_code import ApiCase, oracle_written, rule_written, signature
from seal.benchmarks.dialogtool.offline_decisions import ask_api, be_aware
from seal.benchmarks.dialogtool.tool_life import ROLE_MARK, UNKNOWN, Lesson, read_lesson
from seal.core import JSON, Completion, Goal, Message, Request, Task, Tool, ToolCall
from seal.core.bracket_form import BracketForm
from seal.core.text import shipped_json, words
from seal.core.values import derive_seed, json_text, json_value
from seal.models.prompt_reading import DONE, without_author

# -- What an assistant says without a model: templates of words, restyled for a character.
#
# The words follow from action, request, result and state; the style from the features of a role's
# configuration alone.

_WORDS: Mapping[str, Mapping[str, str]] = shipped_json(__package__, "contractions.json")
_SHORT = _WORDS["both ways"]
_LONG = {short.lower(): long for words in _WORDS.values() for long, short in words.items()}
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_I = re.compile(r"\bi\b(?!\.)")


def act(request: Request) -> Completion:
    """Return the last message in the style of the role that the system message tells."""
    said = request.messages[-1].content
    system = next((m.content for m in request.messages if m.role == "system"), "")
    role = marked(system, ROLE_MARK)
    if role is None:
        return Completion(said)
    features = role.get("features")
    return Completion(restyled(said, features if isinstance(features, dict) else {}))


def marked(text: str, mark: str) -> dict[str, Any] | None:
    """Return the JSON object on the first line of a text that begins with a mark; None: none."""
    told = next((line for line in text.splitlines() if line.startswith(mark)), "")
    value = _json(told.removeprefix(mark))
    return value if isinstance(value, dict) else None


def _json(text: str) -> Any:
    """Return the value of a text; None where it is no JSON."""
    try:
        return json_value(text)
    except orjson.JSONDecodeError:
        return None


def restyled(text: str, features: Mapping[str, Any]) -> str:
    """Return a text that has the features of a role, its facts being the same.

    Args:
        text: What is to be said.
        features: As `seal.benchmarks.dialogtool.tool_life` lists them.
    """
    text = _with_contractions(text.strip(), features.get("contractions"))
    for word in features.get("avoid") or ():
        text = re.sub(
            rf"(?:(?<!\s)\s++)?\b{re.escape(word)}\b(?!')", "", text, flags=re.IGNORECASE
        ).strip(" ,")
    parts = [part[0].upper() + part[1:] for part in _SENTENCE.split(text) if part]
    sentences = [part if part[-1] in ".!?" else f"{part}." for part in parts]
    most = features.get("max_words")
    if most:
        sentences = [short for sentence in sentences for short in _cut(sentence, most)]
    text = _framed(" ".join(sentences), features)
    return _exclaimed(text, features.get("exclamations"))


def _with_contractions(text: str, wanted: bool | None) -> str:
    if wanted is None:
        return text
    table = _SHORT if wanted else _LONG
    text = text.replace("\u2019", "'")
    found = "|".join(map(re.escape, sorted(table, key=len, reverse=True)))

    def other(match: re.Match[str]) -> str:
        new = table[match[0].lower()]
        return new[0].upper() + new[1:] if match[0][0].isupper() else new

    return _I.sub("I", re.sub(rf"\b(?:{found})\b", other, text, flags=re.IGNORECASE))


def _cut(sentence: str, most: int) -> list[str]:
    """Return a sentence in parts of at most so many words, cut after a comma where there is one."""
    words = sentence.split()
    parts: list[str] = []
    while len(words) > most:
        commas = [n for n in range(1, most + 1) if words[n - 1].endswith((",", ";", ":"))]
        end = commas[-1] if commas else most
        parts.append(" ".join(words[:end]).rstrip(",;:") + ".")
        words = words[end:]
    return [*parts, " ".join(words)]


def _framed(text: str, features: Mapping[str, Any]) -> str:
    opening: Sequence[str] = features.get("opening") or ()
    closing: Sequence[str] = features.get("closing") or ()
    if opening and not text.startswith(tuple(opening)):
        text = f"{opening[0]} {text}"
    if closing and not text.endswith(tuple(closing)):
        text = f"{text} {closing[0]}"
    if features.get("question") and not text.endswith("?"):
        text = f"{text} Is that right?"
    return text


def _exclaimed(text: str, wanted: bool | None) -> str:
    if wanted is False:
        return text.replace("!", ".")
    if wanted and "!" not in text:
        return re.sub(r"\.(?=\s|$)", "!", text, count=1) if "." in text else f"{text}!"
    return text


_Row = Mapping[str, JSON]
_MOST_VALUES = 3


def respond(request: Request) -> Completion:
    """Return the words for what was decided; uses no tokens."""
    lesson = read_lesson(without_author(request.messages[-1].content))
    return Completion(in_words(lesson, request.messages[:-1]))


def in_words(lesson: Lesson, before: Sequence[Message]) -> str:
    """Return what is said to the user.

    Args:
        lesson: What was decided.
        before: The dialogue, for what was found earlier.
    """
    rows = _rows(lesson.result)
    found = rows or _found_before(before)
    said = _heard(before)
    match _called_for(lesson):
        case "request":
            named = " and ".join(f"the {' '.join(words(name))}" for name in _missing(lesson)[:2])
            return f"What is {named}?" if named else "Could you tell me more about what you want?"
        case "confirm":
            given = (_given(lesson) or _asked_before(before)).items()
            wanted = ", ".join(f"{' '.join(words(name))} {_text(value)}" for name, value in given)
            return f"I would go on with {wanted or 'what you said'}. Shall I go ahead?"
        case "inform_count":
            return f"I found {len(rows)} which you may like. {_suggested(rows)}"
        case "offer":
            return _suggested(rows)
        case "offer_alts":
            return _suggested(found[1:] or found)
        case "notify_success":
            return f"It is done. {_answered(rows, said)}".strip()
        case "notify_failure":
            return "I am sorry, that could not be done. Would you like to try something else?"
        case "inform":
            return _answered(found, said) or "I do not know that."
        case "offer_intent":
            return "Would you like me to book it?"
        case "goodbye":
            return "Have a great day."
    return "Is there anything else I can help you with?"


def _called_for(lesson: Lesson) -> str:
    """Return the action, or what an API that was not run asks for instead."""
    error = _object(lesson.result).get("error")
    if not error:
        return lesson.action
    if _missing(lesson):
        return "request"
    return "confirm" if "confirm" in str(error) else "notify_failure"


def _rows(text: str) -> list[_Row]:
    value = _json(text)
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _found_before(messages: Sequence[Message]) -> list[_Row]:
    found = (_rows(m.content) for m in reversed(messages) if m.role == "tool")
    return next((rows for rows in found if rows), [])


def _heard(messages: Sequence[Message]) -> str:
    return next((m.content for m in reversed(messages) if m.role == "user"), "")


def _given(lesson: Lesson) -> dict[str, JSON]:
    """Return the arguments of the request, else the values of the state."""
    calls = BracketForm().read(lesson.request).calls
    given = {k: v for call in calls for k, v in (call.arguments or {}).items()}
    if given:
        return given
    state = _object(lesson.state)
    return {k: v[0] if isinstance(v, list) and v else v for k, v in state.items()}


def _asked_before(messages: Sequence[Message]) -> dict[str, JSON]:
    """Return the arguments of the last request."""
    calls = (call for m in reversed(messages) for call in reversed(m.calls))
    return next((dict(call.arguments or {}) for call in calls), {})


def _object(text: str) -> dict[str, JSON]:
    value = _json(text)
    return value if isinstance(value, dict) else {}


def _missing(lesson: Lesson) -> list[str]:
    return [name for name, value in _given(lesson).items() if value == UNKNOWN]


def _suggested(rows: Sequence[_Row]) -> str:
    if not rows:
        return "I am sorry, I did not find any."
    first = next(iter(rows[0].values()), "")
    return f"How about {_text(first)}? {_sentences(dict(list(rows[0].items())[1:]))}".strip()


def _answered(rows: Sequence[_Row], asked: str) -> str:
    """Return the values of the first row that a question names."""
    if not rows:
        return ""
    wanted = set(words(asked))
    named = {k: v for k, v in rows[0].items() if wanted & set(words(k))}
    return _sentences(named)


def _sentences(values: Mapping[str, JSON]) -> str:
    told = list(values.items())[:_MOST_VALUES]
    return " ".join(f"The {' '.join(words(name))} is {_text(value)}." for name, value in told)


def _text(value: JSON) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json_text(value)


# -- Which rule plays a role of the team without a model: by words, by gold, or by chance.

_USERS = ("user_simulator", "user", "executor")


def by_words(request: Request, task: Task) -> Completion | None:
    """Return what a role of the team says by rule; None for a role of another team."""
    play = _BY_WORDS.get(request.role)
    return None if play is None else play(request)


def by_gold(request: Request, task: Task) -> Completion | None:
    """Return what gold lets a role of the team say; None for a role of another team."""
    goal = task.goals[request.goal]
    match request.role:
        case "awareness":
            return Completion(life.write_act(str(goal.labels.get("act", "")), "as recorded"))
        case "requester":
            return _gold_request(goal, request) if request.tools else _gold_app(goal, request)
        case "responder":
            return Completion(_gold_reply(goal) or DONE)
        case "teacher":
            return Completion(_gold_lesson(goal, request.messages[-1].content).write())
        case "creator":
            return create_knowingly(request, task.metadata)
    return by_words(request, task)


def by_chance(request: Request, task: Task) -> Completion | None:
    """Return what a role says by chance; None for a role of another team, or where it is to call.

    The requester names an app, or says in half of the turns that it needs no API.
    """
    if request.role not in _BY_WORDS:
        return None
    draw = Random(derive_seed(request.seed, request.role, [m.content for m in request.messages]))
    if request.role == life.AWARENESS:
        return Completion(life.write_act(draw.choice(list(life.ACTS)), "by chance"))
    if request.role == life.REQUESTER and request.tools:
        return Completion("[]") if draw.random() < 0.5 else None
    if request.role == life.REQUESTER:
        apps = _apps(request)
        return Completion(f"[{draw.choice(apps)}]" if apps else "[]")
    if request.role == life.CREATOR:
        tool = _tool(request)
        return Completion(f"{signature(tool)}\n    return table\n" if tool is not None else "")
    return Completion(request.messages[-1].content if request.role == life.ACTOR else "Okay.")


def _apps(request: Request) -> list[str]:
    """Return the apps that a prompt lists, each in a line of its own, `- NAME: description`."""
    lines = request.messages[0].content.splitlines()
    return [line[2:].partition(":")[0] for line in lines if line.startswith("- ")]


def _gold_request(goal: Goal, request: Request) -> Completion:
    """Return the calls of the first plan, unknown values as `?`; `[]` where none is due."""
    named = {tool.id: tool.name for tool in request.tools}
    calls = tuple(
        ToolCall("", named.get(gold.tool, gold.tool), gold.canonical_arguments())
        for gold in (goal.plans[0].calls() if goal.plans else ())
    )
    return Completion(calls=calls) if calls else Completion("[]")


def _gold_app(goal: Goal, request: Request) -> Completion:
    """Return the app of the first gold call, of those that a prompt lists."""
    service = str(goal.labels.get("service", ""))
    wanted = [name for name in _apps(request) if name and service.startswith(name)]
    due = goal.plans and goal.plans[0].calls()
    return Completion(f"[{max(wanted, key=len)}]" if wanted and due else "[]")


def _gold_reply(goal: Goal) -> str:
    """Return what the assistant said in the end; empty where no reference says it."""
    said = [
        step.content
        for step in goal.reference
        if step.author not in _USERS
        and step.result is None
        and step.call is None
        and step.content.strip()
    ]
    return said[-1] if said else ""


def _gold_lesson(goal: Goal, asked: str) -> life.Lesson:
    """Return what a teacher is asked for: the reply, or all that was decided before it."""
    if asked == life.ASK_REPLY:
        return life.Lesson(reply=_gold_reply(goal))
    state: dict[str, Any] = goal.labels.get("state") or {}
    calls = (
        ToolCall("", gold.tool.rpartition("/")[2], gold.canonical_arguments())
        for gold in (goal.plans[0].calls() if goal.plans else ())
    )
    return life.Lesson(
        action=str(goal.labels.get("act", "")),
        request=" ".join(map(BracketForm().write, calls)),
        result=" ".join(step.content for step in goal.reference if step.result is not None),
        state=json_text(state.get("slot_values") or {}),
    )


def create(request: Request) -> Completion:
    """Return a function that filters the table by the arguments which are columns of it."""
    tool = _tool(request)
    return Completion(rule_written(tool) if tool is not None else "")


def create_knowingly(request: Request, metadata: Mapping[str, JSON]) -> Completion:
    """Return the function that reproduces most recorded calls.

    Args:
        request: The prompt.
        metadata: Of a task of creation; where it records nothing, the function is by rule.
    """
    tool, table, cases = _tool(request), metadata.get("table"), metadata.get("cases")
    if tool is None or not isinstance(table, list) or not isinstance(cases, list):
        return create(request)
    example = metadata.get("example")
    recorded = [ApiCase(case[0], case[1]) for n, case in enumerate(cases) if n != example]
    return Completion(oracle_written(tool, table, recorded))


def _tool(request: Request) -> Tool | None:
    """Return the API whose document the prompt holds; None where there is none."""
    text = "\n".join(message.content for message in request.messages)
    document = marked(text, life.DOCUMENT_MARK) or {}
    parameters, returns = document.get("parameters"), document.get("returns")
    if not isinstance(parameters, dict):
        return None
    return Tool("", str(document.get("name", "")), parameters=parameters, returns=returns)


def _say_nothing(request: Request) -> Completion:
    return Completion()


_BY_WORDS: Mapping[str, Callable[[Request], Completion]] = {
    life.AWARENESS: be_aware,
    life.REQUESTER: ask_api,
    life.RESPONDER: respond,
    life.ACTOR: act,
    life.CREATOR: create,
    life.TEACHER: _say_nothing,
}

"""What upstream tells agent and user: documents of tools, a system text, and the user's texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from seal.benchmarks.toolsandbox.phone import TOOL_IDS
from seal.benchmarks.toolsandbox.static_python import StaticPython
from seal.core import JSON, DataError, Tool, UsageError

# -- Whose words an import takes.
#
# `upstream`: descriptions of tools and arguments, the agent's system text, the user's instruction
# and its example conversations are those of the checkout, word by word. `ours`: the phone's own
# documents and SEAL's prompts; goals, boundaries and examples alone are upstream's.

Texts = Literal["upstream", "ours"]
UPSTREAM: Texts = "upstream"
OURS: Texts = "ours"


def parse_texts(value: str | None, has_checkout: bool) -> Texts:
    """Return whose words an import takes.

    Args:
        value: Of the option; None: upstream's, where they are there.
        has_checkout: Whether upstream's files are read.

    Raises:
        UsageError: It is neither, or upstream's texts are not there.
    """
    if value is None:
        return UPSTREAM if has_checkout else OURS
    if value not in get_args(Texts):
        raise UsageError(f"-T texts={value}: expected {' or '.join(get_args(Texts))}")
    if value == UPSTREAM and not has_checkout:
        raise UsageError(
            "-T texts=upstream: the file of scenarios has no texts of upstream's; import a "
            "checkout: git clone https://github.com/apple/ToolSandbox"
        )
    found: Texts = UPSTREAM if value == UPSTREAM else OURS
    return found


# -- Documents of tools, as upstream makes them from docstrings for its models.
#
# The blocks before `Args:` are the description; a line of that block with a colon names an
# argument, others go on with the one before.
#
# Source: apple/ToolSandbox, `common/tool_conversion.py`, commit 165848b.

_TOOLS = "tool_sandbox.tools"
_MODULES = {"user": "user_tools"}
"""Group of the phone's tools to upstream's module, where the names differ."""
_UNTOLD = ("description", "default")
"""What of an argument's schema is not as upstream has it: its text, and a default, which upstream
does not tell."""
_BESIDE = ("Returns:", "Example:")
"""Beginnings of blocks behind which no description stands."""


def tool_texts(python: StaticPython, phone: Iterable[Tool]) -> list[Tool]:
    """Return the phone's tools with upstream's texts.

    Args:
        python: The checkout.
        phone: The tools, by the names of upstream's functions.

    Raises:
        DataError: A function is missing or has no docstring, or it takes other arguments than ours.
    """
    return [_with_texts(tool, _function(python, tool)) for tool in phone]


def end_text(python: StaticPython) -> str:
    """Return the description of the tool by which upstream's user ends a conversation.

    Raises:
        DataError: There is none.
    """
    (group,) = (id.split("/")[1] for name, id in TOOL_IDS.items() if name == "end_conversation")
    dotted = f"{_TOOLS}.{_MODULES[group]}.end_conversation"
    return documented(_docstring(python.function(dotted), dotted))[0]


def documented(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the description of a tool, and name of an argument to its text.

    Args:
        docstring: Without its indentation.
    """
    told: list[str] = []
    past = False
    for block in docstring.split("\n\n"):
        if block.startswith("Args:"):
            return " ".join(told), _arguments(block)
        past = past or block.startswith(_BESIDE)
        if not past:
            told.append(block)
    return " ".join(told), {}


def _arguments(block: str) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    name = ""
    for line in block.split("\n")[1:]:
        if ":" in line:
            name, _, text = line.partition(":")
            name = name.strip()
            texts[name] = [text.strip()]
        elif name:
            texts[name].append(line.strip())
    return {name: " ".join(parts) for name, parts in texts.items()}


def _function(python: StaticPython, tool: Tool) -> ast.FunctionDef:
    group = tool.id.split("/")[1]
    return python.function(f"{_TOOLS}.{_MODULES.get(group, group)}.{tool.name}")


def _docstring(function: ast.FunctionDef, name: str) -> str:
    found = ast.get_docstring(function)
    if found is None:
        raise DataError(f"{name} has no docstring, which tells what the tool does")
    return found


def _with_texts(tool: Tool, function: ast.FunctionDef) -> Tool:
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    taken = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if taken != list(properties):
        raise DataError(
            f"the tool {tool.name} takes {', '.join(taken) or 'nothing'}; SEAL's phone has one "
            f"that takes {', '.join(properties) or 'nothing'}"
        )
    description, texts = documented(_docstring(function, f"the tool {tool.name}"))
    told = {name: _with_text(schema, texts.get(name)) for name, schema in properties.items()}
    parameters = {**tool.parameters, "properties": told} if properties else tool.parameters
    return replace(tool, description=description, parameters=parameters)


def _with_text(schema: Mapping[str, JSON], text: str | None) -> dict[str, JSON]:
    bare = {word: value for word, value in schema.items() if word not in _UNTOLD}
    return bare if text is None else {**bare, "description": text}


# -- What ToolSandbox tells the agent, and the model that plays the user, as a persona.
#
# Upstream writes it as messages that only the user sees. Conversations as examples come first, each
# with an instruction of its own. The last instruction has the user's goal and what it knows. Under
# our texts the instruction's general part is left out: SEAL has its own (`seal.agents.users`).

_SPOKEN = {
    ("SYSTEM", "USER"): "goal",
    ("USER", "AGENT"): "user",
    ("AGENT", "USER"): "assistant",
    ("USER", "EXECUTION_ENVIRONMENT"): "end",
}
"""Sender and recipient of what only the user sees, to its role in a persona's demonstration."""
_SENTENCE = re.compile(r"(?<=[.?!])\s*(?=[A-Z])")


def is_heard(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is the user's own to the agent, and no example."""
    ends = message["sender"], message["recipient"]
    return ends == ("USER", "AGENT") and not message.get("visible_to")


def system_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return what the agent is told before the chat; empty: nothing.

    Args:
        messages: All of a scenario, as upstream has them.
    """
    to_agent = (m for m in messages if (m["sender"], m["recipient"]) == ("SYSTEM", "AGENT"))
    return "\n\n".join(message["content"] for message in to_agent)


def persona_of(
    messages: Sequence[Mapping[str, Any]], instruction: str, end: str | None = None
) -> dict[str, Any]:
    """Return what the user is told: its goal, what it knows, and conversations as examples.

    Args:
        messages: All of a scenario, as upstream has them.
        instruction: What a text to the user begins with, before its goal.
        end: Description of the tool by which the user ends a conversation: every text stands as
            upstream has it, and the persona is `verbatim`. None: the user is told in our words.

    Returns:
        A persona; empty where no message tells the user a goal, and the words are ours.

    Raises:
        DataError: Upstream's words are asked for, and there are none, or one begins otherwise.
    """
    told: list[tuple[str, str]] = []
    for message in messages:
        role = _SPOKEN.get((message["sender"], message["recipient"]))
        if role is not None and not is_heard(message):
            told.append((role, message["content"]))
    goals = [place for place, (role, _) in enumerate(told) if role == "goal"]
    if end is not None:
        _check_verbatim([told[place][1] for place in goals], instruction)
    if not goals:
        return {}
    own = [(role, text.removeprefix(instruction)) for role, text in told]
    said = own if end is not None else [(role, _spoken_to(text)) for role, text in own]
    goal, boundary = _parted(said[goals[-1]][1])
    if end is None and boundary:
        goal, boundary = _joined(goal), _joined(boundary)
    shown = [
        {"role": role, "content": "" if role == "end" else text} for role, text in said[: goals[-1]]
    ]
    persona: dict[str, Any] = {"goal": goal}
    if boundary:
        persona["boundary"] = boundary
    if shown:
        persona["demonstration"] = shown
    if end is not None:
        persona["verbatim"] = {"instruction": instruction, "end": end}
    return persona


def _check_verbatim(texts: Sequence[str], instruction: str) -> None:
    """Raise DataError where the user is not told in upstream's usual words."""
    instead = "check out the commit that SEAL reads, or import with -T texts=ours"
    if not texts:
        raise DataError(f"no message tells the user what it wants; {instead}")
    if not all(text.startswith(instruction) for text in texts):
        raise DataError(f"a text to the user begins otherwise than USER_INSTRUCTION; {instead}")


def _spoken_to(text: str) -> str:
    """Return a text with its reader as you and the other side as the assistant.

    Upstream names them User A and User B.
    """
    text = re.sub(r"\b(you|your) \(User A(?:'s)?\)", r"\1", text.replace("User B", "the assistant"))
    return text.replace("(User A's)", "your")


def _parted(text: str) -> tuple[str, str]:
    """Return a user's goal and what it knows besides, which upstream tells in one text.

    The second begins with the first sentence that says what the reader knows, or that is followed
    by the demand to keep it; with the signs between them, both make the whole text.
    """
    sentences = _sentences(text)
    for place in range(1, len(sentences)):
        following = "".join(sentences[place + 1 : place + 2])
        if sentences[place].startswith("You ") or following.startswith("Do not leak"):
            return "".join(sentences[:place]), "".join(sentences[place:])
    return text, ""


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with the space behind it."""
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    places = zip([0, *ends], [*ends, len(text)], strict=True)
    return [text[first:last] for first, last in places]


def _joined(text: str) -> str:
    """Return sentences with one space between two."""
    return " ".join(_SENTENCE.split(text)).strip()

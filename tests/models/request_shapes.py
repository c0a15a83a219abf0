"""Every shape of request that roles, teams, formats and samples of ours send, by playing them.

`Wild` answers by chance, so that chats take turns which no sensible model takes. A shape is
what a chat template sees: who speaks in which order, how many calls and results there are.
"""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path
from typing import Any

from seal.core import Completion, Request, ToolCall, UsageError
from seal.core.call_formats import form_of
from seal.core.values import derive_seed
from seal.models.lexical import random_value
from seal.runs.play import run
from seal.runs.settings import RunSettings

SAMPLES = ("sample", "toolsandbox-sample", "mmtb-sample", "toolscan-sample", "dialogtool-sample")
_TEXTS = (
    "",
    "It is done.",
    "Which one do you mean?",
    "accepted",
    "rejected: look again",
    "solved",
    "unsolved: something is missing",
    "First look it up.\nThen tell me.",
    "Action: none",
)
_ROLES = ("orchestrator", "planner", "execution_manager", "verifier", "checker", "user_simulator")
_DOCUMENT = re.compile(r'^\{"name": ?"([^"]+)"', re.MULTILINE)

Shape = tuple[str, ...]
"""A word a message: `S`, `U`, `A`, `A2` (two calls), `A2+` (with a text beside), `T`; `tools` and
`json` at the end where they are asked for."""


def wild(request: Request, form: str = "native") -> Completion:
    """Return an answer by chance; equal requests get equal answers."""
    draw = random.Random(derive_seed(request.seed, list(map(_plain, request.messages))))
    if request.json_object and draw.random() < 0.7:
        return Completion('{"verdict": "solved", "reason": "it says so", "response": "ok"}')
    if draw.random() < 0.1:
        return Completion(draw.choice(_ROLES))
    calls = _calls(request, form, draw) if draw.random() < 0.5 else ()
    said = draw.choice(_TEXTS) if not calls or draw.random() < 0.3 else ""
    if calls and form != "native":
        written = map(form_of(form).among(()).write, calls)  # type: ignore[union-attr]
        return Completion("\n".join([said, *written]))
    return Completion(said, calls)


def _plain(message: Any) -> list[Any]:
    return [message.role, message.content, [[c.name, c.arguments] for c in message.calls]]


def _calls(request: Request, form: str, draw: random.Random) -> tuple[ToolCall, ...]:
    if request.tools:
        offered = [(tool.name, tool.parameters) for tool in request.tools]
    else:
        found = _DOCUMENT.findall("\n".join(m.content for m in request.messages))
        offered = [(name, {}) for name in found]
    if not offered:
        return ()
    chosen = [draw.choice(offered) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
    made = []
    for name, schema in chosen:
        arguments = random_value({"type": "object", **schema}, draw)
        name = name if draw.random() < 0.95 else "no_such_tool"
        made.append(ToolCall("", name, arguments if isinstance(arguments, dict) else {}))
    return tuple(made)


class Wild:
    """A model in this process that answers by chance and keeps what it was asked."""

    identity = "wild"
    cached = True

    def __init__(self, form: str = "native") -> None:
        self.form = form
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return wild(request, self.form)


def shape_of(request: Request) -> Shape:
    """Return what a chat template sees of a request."""
    words = []
    for message in request.messages:
        word = message.role[0].upper()
        if message.calls:
            word += str(len(message.calls)) + ("+" if message.content else "")
        words.append(word)
    asked = ["tools"] * bool(request.tools) + ["json"] * request.json_object
    return (*words, *asked)


_JUDGES = "pass_paper,tooleval,sopr,fac"
_SETTINGS: tuple[dict[str, Any], ...] = (
    {"team": "full"},
    {"team": "direct"},
    {"team": "single"},
    {"roles": {"execution_manager": "react"}},
    {"history": "gold"},
    {"one_shot": True},
    {"format": "native-text"},
    {"format": "json"},
    {"format": "action"},
    {"format": "bracket"},
    {"retrieve": "on-demand"},
    {"retrieve": "per-step"},
    {"world_options": {"selection": "auto"}},
    {"simulator": "llm"},
    {"judge": _JUDGES},
)
"""What changes who is asked, and how; each is played beside the defaults."""


def captured(folder: Path, limit: int = 6) -> dict[Shape, Request]:
    """Return a request of each shape that is sent while the samples are played by chance.

    Args:
        folder: For the runs.
        limit: Tasks of each sample and setting.
    """
    found: dict[Shape, Request] = {}
    played = 0
    for number, (pool, more) in enumerate(product(SAMPLES, ({}, *_SETTINGS))):
        model, judge = Wild(more.get("format", "native")), Wild()
        roles = {"judge": judge} | ({"simulator": judge} if "simulator" in more else {})
        own = {"limit": limit, "max_turns": 6, "workers": 1, "cache": "off", "baselines": False}
        settings = {"pool": pool, "model": model, "role_models": roles, **own, **more}
        try:
            run(RunSettings(**settings), folder / str(number))
        except UsageError:
            continue  # the sample has no such roles
        played += 1
        for request in [*model.asked, *judge.asked]:
            found.setdefault(shape_of(request), request)
    assert played > 60
    return found

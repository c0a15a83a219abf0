"""What a model takes: rules of its chat template and of its server, as data.

Shipped families stand in `profiles.toml` and are found by the model's name. A user's own profile is
a file of the same fields, named in the model's text (`profile=FILE`) or written by
`seal models probe --save`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

from seal.core import JSON, DataError, UnknownNameError, first_fault, shortened
from seal.core.call_formats import wire_name
from seal.core.dialects import DIALECTS
from seal.core.files import cache_folder, content_of
from seal.core.servers import NO_THINKING
from seal.core.text import shipped_text
from seal.core.values import toml_value

PLAIN = "plain"
"""Name of the profile of a model that takes everything."""
_EXAMPLE = ("<a>", "</a>")
_FOLDER = "profiles"
"""Where probed profiles lie in the cache folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a model takes. The defaults forbid nothing: the request is sent as it was made.

    Every rule changes only requests that break it.
    """

    name: str = field(default=PLAIN, compare=False)
    alternates: bool = False
    """User and assistant take turns; calls and results are part of the assistant's turn."""
    begins_with_user: bool = False
    """The first message after the system's is the user's."""
    system: Literal["any", "first", "none"] = "any"
    """Where system messages may stand; none: they are words of the user."""
    call_ids: Literal["any", "short"] = "any"
    """Ids of calls; short: nine letters and digits."""
    parallel_calls: bool = True
    """A message may hold several calls."""
    content_with_calls: bool = True
    """A message may hold words beside calls; False: the words are a message before."""
    empty_content: bool = True
    """A message of calls alone may have an empty text; False: it has null."""
    tools: bool = True
    """The server takes tools; False: tools and calls stand in the text, in the form `json`."""
    tool_messages: Literal["native", "text"] = "native"
    """How results are told; text: as messages of the user."""
    open_objects: bool = True
    """An object in a schema may leave open what further properties hold."""
    without: tuple[str, ...] = ()
    """Fields of the request that are left out, such as seed and temperature."""
    output_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Name of the field that limits the answer."""
    json_mode: Literal["object", "schema"] = "object"
    """How a JSON object is asked for in `response_format`."""
    thinking: tuple[str, str] | None = None
    """What stands around thoughts in the model's text; None: `<think>` and its like."""
    thinking_with_calls: bool = False
    """The thinking before calls is sent back with them."""
    calls_in_text: tuple[str, ...] = ()
    """Dialects (`seal.core.dialects.DIALECTS`) in which calls are read that the server left in the
    text."""
    context: int | None = None
    """Tokens that prompt and answer may have together; None: not known."""
    learnt: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What fields above were before a refusal of the server taught them."""

    def identity(self, given: Collection[str] = ()) -> dict[str, JSON]:
        """Return the rules that can shape an answer; empty where there are none.

        What was learnt is left out, and what it replaced stands: under that the server gave no
        answer at all. So the identity, and the key of each request, is the same before and after.

        Args:
            given: Fields of the request that the user gave, which no profile leaves out.
        """
        shaping: dict[str, JSON] = {}
        for name in _SHAPING:
            value = self.learnt.get(name, getattr(self, name))
            if name == "without":
                value = [n for n in value if n not in given]
            elif isinstance(value, tuple):
                value = list(value)
            if value != _plain(name):
                shaping[name] = value
        return shaping

    def with_learnt(self, **changes: Any) -> Profile:
        """Return the profile after a refusal."""
        before = {name: getattr(self, name) for name in changes}
        return replace(self, **changes, learnt={**before, **self.learnt})

    def toml(self) -> str:
        """Return the file of this profile."""
        told, plain = asdict(self), asdict(Profile())
        name, learnt = told.pop("name"), told.pop("learnt")
        # JSON's texts, truth values and lists are TOML's, too.
        lines = [f"{key} = {json.dumps(v)}" for key, v in told.items() if v != plain[key]]
        if learnt:
            lines += ["[learnt]", *(f"{key} = {json.dumps(v)}" for key, v in learnt.items())]
        return "\n".join([f"# What {name} takes", *lines, ""])


_NAMING = {
    *("name", "call_ids", "empty_content", "output_limit", "thinking", "context", "learnt"),
}
_SHAPING = tuple(one.name for one in fields(Profile) if one.name not in _NAMING)
"""Rules by which a model is asked something else; ids of calls and names of fields are none."""


def _plain(name: str) -> Any:
    value = getattr(Profile(), name)
    return list(value) if isinstance(value, tuple) else value


def of_fields(given: Mapping[str, Any], place: str, name: str) -> Profile:
    """Return the profile of some fields.

    Raises:
        DataError: There is no such field, or it takes no such value.
    """
    from pydantic import TypeAdapter, ValidationError

    known = {one.name for one in fields(Profile)} - {"name"}
    for key in given:
        if key not in known:
            raise DataError(f"{place}: {UnknownNameError('field of a profile', key, known)}")
    marks = given.get("thinking", _EXAMPLE)
    if not (isinstance(marks, (list, tuple)) and len(marks) == 2 and all(marks)):
        raise DataError(
            f"{place}: thinking: expected the marks before and after thoughts, such as "
            f"{json.dumps(_EXAMPLE)}, got {shortened(marks)}"
        )
    try:  # strict takes lists for tuples in JSON alone
        found = TypeAdapter(Profile).validate_json(json.dumps(given, default=str), strict=True)
    except ValidationError as error:
        raise DataError(f"{place}: {first_fault(error)}") from None
    for dialect in found.calls_in_text:
        if dialect not in DIALECTS:
            raise DataError(f"{place}: {UnknownNameError('dialect of calls', dialect, DIALECTS)}")
    if found.context is not None and found.context < 1:
        raise DataError(f"{place}: context: expected at least 1 token, got {found.context}")
    if found.learnt:
        of_fields(found.learnt, f"{place}: learnt", name)
    return replace(found, name=name)


@cache
def shipped() -> Mapping[str, tuple[tuple[str, ...], Profile]]:
    """Return name to patterns and profile of each family, in the order in which they are tried."""
    table = tomllib.loads(shipped_text("seal.models", "profiles.toml"))
    return {
        name: (tuple(given.pop("models")), of_fields(given, "profiles.toml", name))
        for name, given in table.items()
    }


def family_of(model: str) -> Profile:
    """Return the shipped profile of a model; one that forbids nothing where its family has none.

    Args:
        model: What the server calls the model, in any case, with or without its owner.
    """
    name = model.rpartition("/")[2].lower()
    for patterns, profile in shipped().values():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return profile
    return Profile()


def find_profile(model: str, address: str | None, given: str | None = None) -> Profile:
    """Return the profile of a model: the given one, else the probed one, else its family's.

    Args:
        model: `PROVIDER/NAME`.
        address: Of the server, without secrets; None: the provider's own.
        given: A file, the name of a shipped profile, or `plain`; None: none is given.

    Raises:
        DataError: The file is no profile.
        UnknownNameError: Neither a file nor a shipped profile.
    """
    if given is None:
        path = saved_at(model, address)
        return read_profile(path) if path.is_file() else family_of(model)
    if given == PLAIN:
        return Profile()
    if given in shipped():
        return shipped()[given][1]
    if Path(given).is_file():
        return read_profile(Path(given))
    raise UnknownNameError("profile (and no file)", given, [PLAIN, *shipped()])


def read_profile(path: Path) -> Profile:
    """Return the profile in a file.

    Raises:
        DataError: It is no profile; names the field and what it takes.
    """
    try:
        given = toml_value(content_of(path))
    except UnicodeDecodeError:
        raise DataError(f"{path}: no text; a profile is a TOML file") from None
    except ValueError as error:
        raise DataError(f'{path}: no TOML ({error}); write lines such as system = "none"') from None
    return of_fields(given, str(path), path.stem)


def saved_at(model: str, address: str | None) -> Path:
    """Return where `seal models probe --save` keeps the profile of a model at a server.

    Args:
        model: `PROVIDER/NAME`.
        address: Of the server, without secrets; None: the provider's own.
    """
    return (
        cache_folder() / _FOLDER / f"{wire_name(f'{model}@{address}' if address else model)}.toml"
    )


def save(profile: Profile, path: Path) -> None:
    """Write a profile; its folder is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(profile.toml(), encoding="utf-8")
    part.replace(path)


_RULES: tuple[tuple[re.Pattern[str], Mapping[str, Any]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), changes)
    for pattern, changes in (
        (r"roles must alternate", {"alternates": True, "begins_with_user": True}),
        (r"unexpected role '?\w+'? after role", {"alternates": True}),
        (r"assistant message must have (either content|a string)", {"alternates": True}),
        (r"system (role|messages?|prompts?)( is| are)? not supported", {"system": "none"}),
        (r"system messages? must be (at the beginning|the first)", {"system": "first"}),
        (r"initial optional system message|, got system\b", {"system": "first"}),
        (r"single tool-?calls? at once", {"parallel_calls": False}),
        (r"length (of )?9\b", {"call_ids": "short"}),
        (r"no first user message|no user query", {"begins_with_user": True}),
        (
            r"reasoning_content\W.{0,60}(must be passed back|is missing|is required)"
            r"|(missing|requires?|expected) \W?reasoning_content\b",  # DeepSeek, Moonshot
            {"thinking_with_calls": True},
        ),
        (NO_THINKING.pattern, {"thinking_with_calls": False}),
        (  # Anthropic, Bedrock
            r"text content blocks must be non-?empty|text field in the ContentBlock.{0,80}is blank",
            {"empty_content": False},
        ),
        (
            r"(not|endpoints found that) support (tools|tool use|tool calling|function calling)\b"
            r"|--enable-auto-tool-choice|tools? param requires",
            {"tools": False},
        ),
    )
)
"""Words of a refusal, and what they teach. Sources: the templates of Mistral, Gemma, Llama and
Qwen, and the errors of Mistral's interface, vLLM, Ollama and llama.cpp."""
_UNSUPPORTED = re.compile(
    r"unsupported|(not|n't|cannot) (be )?(support|permit|allow|accept|recogni)|unknown|unexpected"
    r"|unrecogni[sz]ed|extra (inputs|fields)|deprecated",
    re.IGNORECASE,
)
_TOO_MUCH = re.compile(
    r"too (large|long|many|high|low)|at (most|least)|maximum|exceed|between|(less|greater) than",
    re.IGNORECASE,
)
"""The value is refused, and not the field."""
_OF_A_TOOL = re.compile(
    r"\bschemas?\b(?!['\"]?\s*(?:is|are) not)|\bproperties\b|\btools[\[.]\d"
    r"|\b(?:tool|function)\s{1,2}['\"`]|\bfunction(?:_declarations)?[\[.]",
    re.IGNORECASE,
)
"""The words are about a tool, whose properties may have the names of fields."""
HINTS = frozenset({"parallel_tool_calls"})
"""Fields that measure nothing: a refusal takes them out even where the user gave them."""
_FIXED = frozenset({"model", "messages", "tools", "stream"})


def after_refusal(
    profile: Profile,
    said: str,
    body: Mapping[str, Any],
    given: Collection[str] = (),
    param: str = "",
) -> Profile | None:
    """Return what a refusal teaches; None where it teaches nothing new.

    Args:
        profile: Under which the request was made.
        said: The server's words.
        body: The request, as it was sent.
        given: Fields that the user gave; a refusal of what they measure stands.
        param: The field that the server says it is about; empty: it does not say.
    """
    for pattern, changes in _RULES:
        new = {
            key: value
            for key, value in changes.items()
            if getattr(profile, key) != value and not (value is False and key in profile.learnt)
        }  # of what was learnt no refusal teaches the opposite: two servers might disagree
        if new and pattern.search(said) and (new != {"system": "first"} or profile.system == "any"):
            return profile.with_learnt(**new)
    if not _UNSUPPORTED.search(said) or _TOO_MUCH.search(said):
        return None
    if not param and _OF_A_TOOL.search(said):
        return None
    for name in body:  # in the order of the request, so that every process learns the same
        if param and name != re.split(r"\W", param, maxsplit=1)[0]:
            continue
        if name not in _FIXED and re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w-])", said):
            return _without(profile, name, said, name in given)
    return None


def _without(profile: Profile, name: str, said: str, given: bool) -> Profile | None:
    """Return a profile under which a field of the request has another name, or is left out."""
    if name == profile.output_limit == "max_tokens" and "max_completion_tokens" in said:
        return profile.with_learnt(output_limit="max_completion_tokens")
    if name == "response_format" and profile.json_mode == "object" and "json_schema" in said:
        return profile.with_learnt(json_mode="schema")
    if name in profile.without or (given and name not in HINTS):
        return None
    return profile.with_learnt(without=(*profile.without, name))


def differences(before: Profile, after: Profile) -> str:
    """Return what a profile says otherwise than another, in words for people."""
    told = []
    for one in fields(Profile):
        old, new = getattr(before, one.name), getattr(after, one.name)
        if one.name == "without" and old != new:
            told.append(f"{', '.join(name for name in new if name not in old)} left out")
        elif one.name != "learnt" and old != new:
            told.append(f"{one.name} = {json.dumps(new)}")
    return ", ".join(told)

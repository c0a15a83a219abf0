"""A model behind a server or an SDK, from a request to its answer; counts of tokens."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from seal.core import (
    JSON,
    Completion,
    ModelError,
    Request,
    RequestError,
    ToolCall,
    Usage,
    UsageError,
)
from seal.core.call_formats import IN_THOUGHTS
from seal.core.dialects import read_calls
from seal.core.outcomes import (
    IN_TEXT,
    UNREADABLE,
    codes_of,
    refusal_of,
    status_in,
    unread,
    was_cut,
)
from seal.core.secrets import public_url, route_of
from seal.core.servers import Counts, Server, Standing, repair_of, sentences
from seal.core.text import count_by_bytes
from seal.core.values import json_text
from seal.models.profiles import Profile, after_refusal, differences, find_profile, save, saved_at
from seal.models.spec import ModelSettings
from seal.models.wire import (
    FailedAnswerError,
    MalformedAnswerError,
    WireTools,
    are_several,
    objects_in,
    parse_completion,
    presentation_of,
    wire_request,
    wire_tools,
)

# -- A model behind a server: the one way from a request to its answer, whatever the provider.

_log = logging.getLogger(__name__)


_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Fields that say how many tokens an answer may have."""
_MOST_NAMES, _LONGEST_NAME = 8, 200
_VARYING = re.compile(r"\d+|\b[0-9a-f-]{8,}\b")
"""What differs between two refusals of one kind, such as the number of a request."""


_LONG, _MOST_OF_A_TOKEN = 8000, 8
"""Characters of a prompt that a small window does not hold; characters of a token, on the mean of a
text, that no language has."""


_SAME_TOKENS, _MOST_COUNTED = 0.9, 10_000
"""Share of its tokens that a prompt has at least where more was added to it; prompts whose tokens
are known at once."""


def _length_of(request: Request) -> int:
    """Return the characters of a prompt, without schemas of tools."""
    length = sum(len(one.content) for one in request.messages)
    return length + sum(len(tool.description) for tool in request.tools)


def _hash_of(request: Request, count: int) -> int:
    """Return a number of the first messages of a prompt and its tools."""
    said = tuple((one.role, one.content) for one in request.messages[:count])
    return hash((said, tuple(tool.name for tool in request.tools)))


_LOST_LETTER = "\ufffd\ufffd"
"""Stands for the bytes of a letter that a gateway took apart between two pieces. One mark alone may
be of a byte that the model wrote."""


def _with_lost_letters(request: Request, completion: Completion) -> str:
    """Return the name of a call whose arguments lost letters on their way; empty: none has."""
    lost = (c.name for c in completion.calls if _LOST_LETTER in json_text([c.arguments, c.raw]))
    if not (name := next(lost, "")):
        return ""
    written = json_text([request.messages, request.tools])  # the model may repeat what it was told
    return "" if completion.truncated or _LOST_LETTER[0] in written else name


class _LearntError(Exception):
    """A refusal has changed the profile: the same request may be taken now."""


class ServerModel(ABC):
    """A model behind a server. Safe in threads, which share one client.

    Every request is made, and every answer read, as a chat completion. A provider says which server
    it is, and translates between chat completions and what that server takes and gives.

    Args:
        name: What the server calls the model.
        settings: Address, tries, further fields.

    Raises:
        UsageError: No name, or the server lacks what it needs, such as a key. Or no such profile.
        DataError: The profile's file is wrong.
        MissingExtraError: The provider's package is not installed.
    """

    cached = True
    profile: Profile
    """What the model takes; grows where a refusal teaches more."""
    provider: str
    unusable = "answered what is no chat completion"
    """What is said of an answer that cannot be read."""
    lacks: Collection[str] = ()
    """Fields of a chat completion for which this interface has no place: who gives one is told."""
    leading_letter = False
    """Whether a function's name must not begin with a digit or a dash (Gemini)."""
    longest: int | None = None
    """Tokens of an answer where neither request nor settings say how many; None: nobody says."""
    counted_as = ""
    """Model by whose table tokens are counted where the server does not."""
    _server: Server

    def __init__(self, name: str, settings: ModelSettings) -> None:
        provider = self.provider
        if not name:
            raise UsageError(f"{provider}/: the model's name is missing; write {provider}/NAME")
        for field in sorted(settings.fields):
            if field in self.lacks and settings.fields[field] is not None:
                api = f"api={settings.api} of {provider}/" if settings.api else f"{provider}/"
                raise UsageError(
                    f"{provider}/{name}: {api} has no field {field!r}, so it would not be sent; "
                    f"leave it out, or write {field}=null"
                )
        self.name = name
        self.settings = settings
        self._lock = threading.Lock()
        self._window: tuple[int | None] | None = None
        """What `context` found; None: it was not asked."""
        self._lesson: tuple[str, Profile | None] = ("", None)
        """The words that last taught something, and the profile before."""
        self._names: tuple[str, ...] = ()
        """Of models as answers name them, the first few."""
        self._is_of_several = False
        """Whether an answer was several, of which the first counted."""
        self._counts_words = False
        """Whether the server was seen to count the tokens of words."""
        self._is_cut = False
        """Whether the server was seen to cut a prompt."""
        self._counted: dict[int, int] = {}
        """Tokens of prompts as the server counts them, by `_hash_of`."""
        self._vain: set[str] = set()
        """Words that came again after what they taught."""
        self.spec = f"{provider}/{name}"
        """The model, as users and messages call it."""
        self._server = self._served(self.spec)
        self.profile = find_profile(self.spec, self.place, settings.profile)

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        return {
            "model": self.spec,
            "base_url": self.place,
            **self._route,
            "temperature": self.settings.temperature,
            "options": dict(self.settings.options),
            **self._rules,
        }

    @property
    def _rules(self) -> dict[str, JSON]:
        """What the profile adds to the identity; nothing where it shapes no answer."""
        rules = self.profile.identity(self._given)
        return {"profile": rules} if rules else {}

    @property
    def _route(self) -> dict[str, JSON]:
        """Which of several models behind one address it is: a digest, as queries may hold keys."""
        route = route_of(self._server.url)
        return {"query": route} if route else {}

    @property
    def place(self) -> str | None:
        """Address of the server without secrets; None: the provider's own."""
        return public_url(self._server.url) if self._server.url else None

    @property
    def _given(self) -> set[str]:
        """Fields of the request that the user gave."""
        own = {"temperature"} if self.settings.temperature is not None else set()
        return own | self.settings.fields.keys()

    @property
    def counts(self) -> Counts:
        """How its server does."""
        return self._server.standing.counts

    @property
    def outage(self) -> str:
        """Why its server counts as down; empty while it does not."""
        return self.counts.outage

    @property
    def learnt(self) -> str:
        """What refusals of its server changed in requests, in words; empty where nothing."""
        before = self.profile.learnt
        return differences(replace(self.profile, **before), self.profile) if before else ""

    @property
    def named(self) -> tuple[str, ...]:
        """What answers call the model; empty where none calls it otherwise than it was asked."""
        return () if set(self._names) <= {self.name} else self._names

    def share(self, known: Callable[[Standing], Standing]) -> Standing:
        """Replace what is known of its server, such as by what processes share, and return it."""
        self._server.standing = known(self._server.standing)
        return self._server.standing

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without key and connections: the other process reads its own environment."""
        return type(self), (self.name, replace(self.settings, recordings=None))

    def complete(self, request: Request) -> Completion:
        """Return the server's answer.

        Where the server refuses what a profile can do without, it is asked again without it.

        Raises:
            ModelError: The server refused, or failed as often as may be tried.
        """
        while True:  # ends: each refusal that teaches something leaves less to be taught
            how = presentation_of(request, self.profile)
            try:
                if how:
                    from seal.models.text_models import PresentedModel

                    return PresentedModel(self, how).complete(request)
                return self._complete(request)
            except _LearntError:
                continue

    def _complete(self, request: Request) -> Completion:
        """Return the server's answer to a request that it takes as far as the profile says."""
        tools = wire_tools(request.tools, self.leading_letter)
        profile = self.profile
        body = self._body(request, tools, profile)

        def told(wrote: str, finish: str) -> Completion:
            answered = Completion(wrote, truncated=finish == "length", finish_reason=finish)
            return estimate_usage(request, answered, self.counted_as)

        def ask() -> Completion:
            try:
                answer = self._asked(body)
            except ModelError as error:
                if isinstance(error, RequestError) and error.wrote is not None:
                    return told(error.wrote, UNREADABLE)
                if was_cut(error.said):
                    return told("", "length")
                own = isinstance(error, RequestError) and error.refusal
                if own or not self._learns(profile, error, body):
                    raise
                raise _LearntError from None
            try:
                sent = {**self.settings.fields, **body}
                limit = next(filter(None, map(sent.get, _LIMITS)), self.longest)
                several = body.get("n", 1) != 1
                counts = self._counts_words
                completion, counted = parse_completion(answer, tools, several, limit, counts)
            except FailedAnswerError as error:
                failed = error.error or {}
                if (wrote := unread(str(failed.get("message") or ""), failed)) is not None:
                    return told(wrote, UNREADABLE)
                plain = isinstance(answer, dict) and isinstance(answer.get("error"), str)
                raise self._failed(error, self._asked_about if plain else "") from None
            except MalformedAnswerError as error:
                problem = str(error)
            else:
                if name := _with_lost_letters(request, completion):
                    raise self._server.transient(
                        f"broke letters of the arguments of {name[:_LONGEST_NAME]!r} "
                        "(U+FFFD); take -M stream=false"
                    )
                self._note_name(answer.get("model"))
                if not several:
                    self._note_several(answer)
                if profile.thinking is not None:
                    completion = _with_usual_marks(completion, *profile.thinking)
                if request.tools and not completion.calls and profile.calls_in_text:
                    completion = _with_calls_in_text(completion, request, profile, tools)
                if counted:
                    spoke = completion.usage.tokens_out > 0 and completion.content.strip()
                    self._counts_words |= bool(spoke)
                    self._note_cut(request, completion.usage.tokens_in)
                    return count_thinking(completion, self.counted_as)
                return estimate_usage(request, completion, self.counted_as)
            raise self._server.transient(f"{self.unusable}: {problem}{self._asked_about}")

        def tokens(answer: Completion | None) -> int:
            if answer is None:
                answer = estimate_usage(request, Completion(""), self.counted_as)
            return answer.usage.tokens_in + answer.usage.tokens_out

        return self._server.answer(ask, tokens)

    def _note_name(self, name: Any) -> None:
        """Tell once where answers name several models: a gateway may fall back to another."""
        if not isinstance(name, str) or not name:
            return
        with self._lock:
            name = self._server.cleaned(name)[:_LONGEST_NAME]
            is_new = name not in self._names and len(self._names) < _MOST_NAMES
            self._names += (name,) * is_new
            names = self._names
        if is_new and len(names) == 2:
            first, second = map(repr, names)
            _log.warning(
                "%s: some answers name the model %s, others %s; does a gateway fall back to "
                "another? All are scored as this model's",
                self.spec,
                first,
                second,
            )

    def _note_several(self, answer: Mapping[str, Any]) -> None:
        """Tell once where a server gives several answers, though one was asked for."""
        choices = objects_in(answer.get("choices"))
        if self._is_of_several or not are_several(choices):
            return
        self._is_of_several = True
        _log.warning(
            "%s: the server gave %d answers where one was asked for; of each such answer the "
            "first counts",
            self.spec,
            len(choices),
        )

    def _note_cut(self, request: Request, tokens: int) -> None:
        """Tell once where a server counts far fewer tokens in a prompt than it must have."""
        before, length = self._counted_before(request, tokens), _length_of(request)
        is_less = tokens < _SAME_TOKENS * before
        is_short = length < _LONG or length < _MOST_OF_A_TOKEN * tokens
        if self._is_cut or not tokens or (is_short and not is_less):
            return
        self._is_cut = True
        _log.warning(
            "%s: the server counts %d tokens in a prompt %s: does it cut prompts to "
            "its window? Give it a larger one (Ollama: OLLAMA_CONTEXT_LENGTH), and play with "
            "another --cache-dir; the answers are scored as this model's",
            self.spec,
            tokens,
            f"that goes on with one of {before}" if is_less else f"of {length} characters",
        )

    def _counted_before(self, request: Request, tokens: int) -> int:
        """Return the tokens of the prompt that a request goes on with by results; 0: not known.

        Where more than results follow, a server may leave out thinking that it counted before.

        Args:
            request: It is known from then on.
            tokens: That the server counts in it.
        """
        known, messages = self._counted, request.messages
        if len(known) > _MOST_COUNTED:
            known.clear()
        known[_hash_of(request, len(messages))] = tokens
        results = next((n for n, m in enumerate(reversed(messages)) if m.role != "tool"), 0)
        asked = len(messages) - results - 1
        if not results or messages[asked].role != "assistant":
            return 0
        return known.get(_hash_of(request, asked), 0)

    @property
    def _asked_about(self) -> str:
        """What to ask of a server that has never given a usable answer."""
        known = self._server.standing.counts.was_heard
        return "" if known else f". Is {self._server.setting} right?"

    def _failed(self, failure: FailedAnswerError, hint: str) -> ModelError:
        """Return what an answer comes to that is the server's fault, or a refusal."""
        error, said = failure.error or {}, str(failure)
        status = status_in(error)
        if error and (refusal := refusal_of(status, said, " ".join(codes_of(error)))):
            return RequestError(self._server.told(f"answered {said}"), refusal)
        passing = self._server.transient(said + hint, status if status != 400 else 200)
        if helps := repair_of(said):
            passing.args = (sentences(str(passing), helps),)
        return passing

    def context(self) -> int | None:
        """Return the tokens that prompt and answer may have; None: the server does not say.

        It is asked once.
        """
        if self._window is None:
            self._window = (self._server.context_of(self.name),)
        return self._window[0]

    def _learns(self, profile: Profile, refusal: ModelError, body: Mapping[str, Any]) -> bool:
        """Tell whether asking again can help, after a refusal under a profile."""
        words = _VARYING.sub("", refusal.said)
        with self._lock:
            if words in self._vain:
                return False
            if self.profile is not profile:  # another thread has learnt meanwhile
                return True
            if words and words == self._lesson[0]:  # what it taught changed nothing
                self._vain.add(words)
                learnt, told = self._lesson[1] or profile, "what it changed is taken back"
            else:
                found = after_refusal(profile, refusal.said, body, self._given, refusal.param)
                if found is None:
                    return False
                learnt, told = found, differences(profile, found)
                self._lesson = words, profile
            self.profile = learnt
            is_new = words not in self._vain
        _log.warning("%s refused a request; from now on: %s", self.spec, told)
        path = saved_at(self.spec, self.place)
        if path.is_file() and self.settings.profile is None:
            save(learnt, path)
        return is_new

    @abstractmethod
    def _served(self, who: str) -> Server:
        """Return the server, before anything is sent to it.

        Args:
            who: The model, as messages call it.
        """

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> dict[str, Any]:
        """Return the chat completion that is asked for under a profile."""
        return wire_request(self.name, request, tools, self.settings, profile)

    @abstractmethod
    def _asked(self, body: dict[str, Any]) -> Any:
        """Return the server's answer as the JSON of a chat completion; what is none, as it is.

        Raises:
            ModelError: There is none.
        """


def _with_usual_marks(completion: Completion, begins: str, ends: str) -> Completion:
    """Return a completion whose thinking, in marks of the model's own, is taken as thinking."""
    words = completion.content.replace(begins, "<think>").replace(ends, "</think>")
    return replace(completion, content=words)


def _with_calls_in_text(
    answer: Completion, request: Request, profile: Profile, wired: WireTools
) -> Completion:
    """Return an answer in which calls are read that the server left in the text.

    Where nothing is said, they may stand in the thinking: the server took too much for that.
    """
    named = [replace(t, name=w) for t, w in zip(request.tools, wired.names, strict=True)]
    in_thoughts = not answer.content.strip()
    text = answer.reasoning if in_thoughts else answer.content
    found, words = read_calls(text, named, profile.calls_in_text)
    if not found:
        return answer
    calls = tuple(replace(call, name=wired.from_wire[call.name]) for call in found)
    if not in_thoughts:
        return replace(answer, content=words, calls=calls, finish_reason=IN_TEXT)
    calls = tuple(replace(one, raw=one.raw and IN_THOUGHTS + one.raw) for one in calls)
    return replace(answer, reasoning=words, calls=calls, finish_reason=IN_TEXT)


# -- Counts of tokens where a server gives none.
#
# With tiktoken's table at hand (its cache folder holds the file with the right digest) texts are
# counted by it; the network is never asked. Without, a text counts as its UTF-8 bytes divided by 4,
# rounded up. Both can only guess what a chat template adds, so the record says `estimated`.

Counter = Callable[[str], int]
PER_MESSAGE = 4
"""Tokens that a chat template adds to a message."""

_ROOT = "https://openaipublic.blob.core.windows.net/encodings/"
_TABLES = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""Encoding to the SHA-256 of its table. Source: tiktoken_ext/openai_public.py."""


def token_counter(model: str) -> Counter:
    """Return what counts the tokens of a text for a model, without any network.

    Args:
        model: Name such as "gpt-4o"; an unknown one is counted as a recent model of OpenAI's.
    """
    old = ("gpt-4", "gpt-3.5")
    new = ("gpt-4o", "gpt-4.1", "gpt-4.5")
    is_old = model.startswith(old) and not model.startswith(new)
    return _counter("cl100k_base" if is_old else "o200k_base")


@cache
def _counter(encoding: str) -> Counter:
    if not table_is_at_hand(encoding):
        return count_by_bytes
    import tiktoken

    table = tiktoken.get_encoding(encoding)
    return lambda text: len(table.encode_ordinary(text))


def table_is_at_hand(encoding: str) -> bool:
    """Tell whether tiktoken would read the table from its cache folder instead of fetching it."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    place = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    # tiktoken names the file by its address, and fetches it anew where the digest differs.
    file = place / hashlib.sha1(f"{_ROOT}{encoding}.tiktoken".encode()).hexdigest()
    try:
        content = file.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == _TABLES[encoding]


def estimate_usage(request: Request, completion: Completion, model: str = "") -> Completion:
    """Return the completion with an estimated usage."""
    count = token_counter(model)
    thought = count(completion.reasoning)
    tokens_in = sum(
        PER_MESSAGE + count(message.content) + _calls(message.calls, count)
        for message in request.messages
    )
    tokens_in += sum(
        count(f"{tool.name} {tool.description} {json_text(tool.parameters)}")
        for tool in request.tools
    )
    tokens_out = thought + count(completion.content) + _calls(completion.calls, count)
    return replace(completion, usage=Usage(tokens_in, tokens_out, True, thought))


def count_thinking(completion: Completion, model: str = "") -> Completion:
    """Return a counted completion with its thinking counted too: where it was not, by estimate."""
    usage = completion.usage
    if usage.reasoning or not completion.reasoning:
        return completion
    thought = min(token_counter(model)(completion.reasoning), usage.tokens_out)
    return replace(completion, usage=replace(usage, reasoning=thought))


def _calls(calls: tuple[ToolCall, ...], count: Counter) -> int:
    return sum(count(f"{call.name} {call.raw or json_text(call.arguments)}") for call in calls)

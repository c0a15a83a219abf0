"""`local/NAME` and `local/FILE.gguf`: a model on this machine, with neither a key nor a network.

llama.cpp plays it in a server of our own (`llama_server`): on all cores, one request after the
other. What two prompts begin with alike is read once. Stored answers keep runs repeatable.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from seal.core import JSON, Request, UnknownNameError, UsageError
from seal.core.model_files import PACKED, known_digest
from seal.core.providers import OpenAIServer
from seal.core.servers import TransientError
from seal.models.llama_server import address_of
from seal.models.profiles import Profile
from seal.models.server_model import ServerModel
from seal.models.spec import LOADED, ModelSettings
from seal.models.wire import WireTools, wire_request

_MAGIC = b"GGUF"
_SUFFIX = ".gguf"


@dataclass(frozen=True, slots=True)
class Weights:
    """The file of a local model."""

    label: str
    """What records call it: the name, or the file's own name."""
    path: Path
    sha256: str

    @classmethod
    def of(cls, name: str, sha256: str | None = None) -> Weights:
        """Return the file of `local/NAME` or `local/FILE.gguf`.

        One whose digest is known, as that of a packed one is, need not be there.

        Args:
            name: Of a fetched model, or path of a GGUF file.
            sha256: The digest of the file at that path, in hexadecimal; None: it is made.

        Raises:
            UnknownNameError: No such name; names the closest.
            UsageError: No such file, it is no GGUF, or it has another digest.
        """
        known = {k: v.files[0] for k, v in PACKED.items() if v.files[0].name.endswith(_SUFFIX)}
        if name in known:
            return cls(name, known[name].path, known[name].sha256)
        path = Path(name).expanduser()
        if path.suffix != _SUFFIX and len(path.parts) == 1:
            raise UnknownNameError("local model (or FILE.gguf)", name, known)
        if sha256 is not None and not path.exists():
            return cls(path.name, path.resolve(), sha256)
        try:
            with path.open("rb") as file:
                begins = file.read(len(_MAGIC))
            found = known_digest(path) if begins == _MAGIC else ""
        except OSError as error:
            raise UsageError(
                f"local/{name}: {path}: {error.strerror or error}; give the path of a .gguf file, "
                "or the name of a fetched model (seal models fetch smollm2)"
            ) from None
        if not found:
            raise UsageError(
                f"local/{name}: {path} is no GGUF file: it begins with {begins!r}, not {_MAGIC!r}; "
                "give the .gguf file that llama.cpp reads"
            )
        if sha256 not in (None, found):
            raise UsageError(
                f"local/{name}: {path} has the digest {found}, not sha256={sha256}; give the file "
                "that has it, or leave sha256 out"
            )
        return cls(path.name, path.resolve(), found)

    def check(self) -> None:
        """Raise UsageError where the file is not there."""
        if self.path.is_file():
            return
        if self.label in PACKED:
            raise UsageError(f"local/{self.label} is not here yet: seal models fetch {self.label}")
        raise UsageError(f"{self.path} is not here: put the file there, or run with --cache replay")


if TYPE_CHECKING:
    from urllib3 import PoolManager

_LONGEST = 512
"""Tokens of an answer where nobody says how many: a small model may never end."""
_PROCESSORS = Path("/sys/devices/system/cpu")
"""Where Linux tells which processors are threads of one core."""
_DIGEST = re.compile("[0-9a-f]{64}")
_TOKEN = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|<(?:/?s|bos|eos|pad|unk)>"
    r"|<(?:start|end)_of_\w{1,20}>|<</?SYS>>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w{1,10}|ARGS|CALL_ID|THINK)\]"
)
"""What chat templates part messages by. llama.cpp takes it for such a mark wherever it stands, so
that a result could end its message and begin one of the system."""
_REFUSED = (
    "The model does not take this request as it is; a longer one than its context needs n_ctx=N."
)


def _parted(mark: re.Match[str]) -> str:
    """Return the words of a mark, so that it is none: a blank behind its first character."""
    return f"{mark[0][0]} {mark[0][1:]}"


def physical_cores() -> int:
    """Count the cores that this process may use; hardware threads of one core count once.

    Threads of llama.cpp wait for each other in a loop: two on one core hinder each other.
    """
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    return len({_core(processor) for processor in os.sched_getaffinity(0)})


def _core(processor: int) -> str:
    """Return a name of the core that a logical processor belongs to."""
    try:
        return Path(f"{_PROCESSORS}/cpu{processor}/topology/thread_siblings_list").read_text()
    except OSError:  # not told, as in some containers
        return str(processor)


class _OwnServer(OpenAIServer):
    """The server of a file, found or started when it is first asked, and again where it died."""

    may_be_proxied = False
    unreached = "Has this machine enough memory for it? It is started again."

    def __init__(
        self, who: str, settings: ModelSettings, weights: Weights, loaded: Mapping[str, int]
    ) -> None:
        super().__init__(who, replace(settings, base_url="http://127.0.0.1/v1"), _REFUSED)
        self.url, self._where = None, ""
        self._weights, self._loaded = weights, loaded

    def _connect(self) -> PoolManager:
        self._weights.check()
        address = address_of(self._weights.path, self._loaded)
        self._address = urlsplit(address.url)
        self._headers = {**self._headers, "Authorization": f"Bearer {address.key}"}
        return super()._connect()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        try:
            return super().post(path, body)
        except TransientError:
            self._built = None  # it may be gone
            raise


class LocalModel(ServerModel):
    """A model that llama.cpp plays on this machine. Safe in threads, which wait for each other.

    Args:
        name: Of a fetched model, or path of a GGUF file.
        settings: Further fields of the request, and how the file is loaded (`spec.LOADED`).

    Raises:
        UnknownNameError: No such model.
        UsageError: No such file, it is no GGUF, or an address is given.
    """

    provider = "local"
    _server: _OwnServer

    def __init__(self, name: str, settings: ModelSettings) -> None:
        given = settings.options
        told = {n: given[n] for n in LOADED if given.get(n) is not None}
        usual = {"n_parallel": 1, "n_threads": physical_cores()}
        for option in usual.keys() & told.keys():
            if not (isinstance(number := told[option], int) and number >= 1):
                raise UsageError(f"-M {option}={number}: expected a whole number, at least 1")
        self._loaded = usual | told
        sha256 = given.get("sha256")
        if sha256 is not None and not _DIGEST.fullmatch(str(sha256)):
            raise UsageError(f"-M sha256={sha256}: expected 64 hexadecimal digits in small letters")
        self._sha256 = sha256
        body = {n: given[n] for n in given if n not in LOADED and n != "sha256"}
        self._body_settings = replace(settings, options={"cache_prompt": True, **body})
        self._turn = threading.Semaphore(self._loaded["n_parallel"])
        super().__init__(name, settings)
        if settings.profile is None:
            self.profile = replace(self.profile, json_mode="schema")

    def _served(self, who: str) -> _OwnServer:
        if self.settings.base_url is not None:
            raise UsageError(
                f"{who} is played on this machine: leave {self.settings.address_from} out, or "
                "name a server's model openai/MODEL"
            )
        self._weights = Weights.of(self.name, self._sha256)
        return _OwnServer(who, self.settings, self._weights, self._loaded)

    @cached_property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request: what is in the file.

        The number of threads is always named, for sums of parts depend on it. So is a prefix that
        is kept, for it changes what is summed together.
        """
        given = {"cache_prompt": True, **self.settings.options}
        told = {n: v for n, v in given.items() if (n, v) != ("cache_prompt", False)}
        told.pop("sha256", None)
        return {
            "model": f"local/{self._weights.label}",
            "sha256": self._weights.sha256,
            "temperature": self.settings.temperature,
            "options": {**told, "n_threads": self._loaded["n_threads"]},
            **self._rules,
        }

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> dict[str, Any]:
        if request.max_tokens is None:
            request = replace(request, max_tokens=_LONGEST)
        said = (replace(m, content=_TOKEN.sub(_parted, m.content)) for m in request.messages)
        request = replace(request, messages=tuple(said))
        return wire_request(self.name, request, tools, self._body_settings, profile)

    def _asked(self, body: dict[str, Any]) -> Any:
        with self._turn:  # its silence is told from the moment that it is asked
            return self._server.post("/chat/completions", body)

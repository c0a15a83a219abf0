"""Simulated answers kept in a store: equal calls get equal answers, in every run and process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from seal.core import JSON, CacheMissError, CacheMode, Response, Simulator, Tool, UsageError
from seal.core.store import Store
from seal.core.values import digest, json_text

KIND = "simulator"
"""Kind of simulated answers in the store."""
FAILURE = "simulator_failure"
"""Kind of entries that say how a simulator failed; only the mode `replay` reads them."""


@runtime_checkable
class Prompted(Protocol):
    """A simulator whose answers depend on more than the tool's document, arguments and seed."""

    def prompt_version(self, tool: Tool) -> str:
        """Return a digest of the rest: prompt, parameters, examples shown for this tool."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A simulator that takes answers from a store."""

    def keys(self, tool: Tool, arguments: dict[str, JSON]) -> frozenset[str]:
        """Return the keys of the stored answers that a call is given: one, or none."""
        ...


NO_ANSWER = Response("")
Made = TypeVar("Made")


class OfTool(Generic[Made]):
    """Keeps what is made of each tool; a tool of the same id with another document gets its own.

    Args:
        make: Called once for each tool.
    """

    def __init__(self, make: Callable[[Tool], Made]) -> None:
        self._make = make
        self._known: dict[str, tuple[Tool, Made]] = {}

    def __call__(self, tool: Tool) -> Made:
        """Return what belongs to a tool."""
        known = self._known.get(tool.id)
        if known is None or known[0] is not tool:
            known = self._known[tool.id] = (tool, self._make(tool))
        return known[1]


class Cached:
    """A simulator with its answers kept.

    The key is the SHA-256 of the canonical JSON of everything that shapes the answer: tool id, tool
    document, arguments, simulator, prompt version, seed. The order of arguments does not matter. A
    response that is no answer (`Response.cacheable` is False) is passed on and not kept, so that
    the next run asks again. If the simulator itself failed, this is kept separately, for the mode
    `replay`. If two writers keep an answer, both use the first one. Safe in threads.

    Args:
        inner: Asked if nothing is stored.
        store: Where answers are kept.
        mode: record: look, else ask and keep; replay: look, never ask; off: always ask, never keep.
        seed: The seed of the run.

    Raises:
        UsageError: There is no such mode.
    """

    def __init__(
        self, inner: Simulator, store: Store, mode: CacheMode = "record", seed: int = 0
    ) -> None:
        if mode not in ("record", "replay", "off"):
            raise UsageError(f"cache mode {mode!r}; known: record, replay, off")
        self.inner = inner
        self.store = store
        self.mode = mode
        self.seed = seed
        self.identity = inner.identity
        self._document = OfTool(document_digest)

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the stored answer, or the simulator's.

        Raises:
            CacheMissError: Nothing is stored, in the mode `replay`; the text names the call.
            SimulatorError: The simulator failed; nothing is kept.
        """
        if self.mode == "off":
            return self.inner.respond(tool, arguments)
        key = self.key(tool, arguments)
        entry = self.store.get(key)
        if entry is None:
            if self.mode == "replay":
                return self._failed_before(tool, arguments)
            response = self.inner.respond(tool, arguments)
            if not response.cacheable:
                if response.kind == KIND:
                    failure = self._entry(tool, arguments, response)
                    self.store.put(_failure_key(key), failure, FAILURE)
                return response
            entry = self.store.put(key, self._entry(tool, arguments, response), KIND)
        return Response(entry["response"], entry["error"])

    def key(self, tool: Tool, arguments: dict[str, JSON]) -> str:
        """Return the key of a call: 64 hexadecimal digits.

        Args:
            tool: The tool that is called.
            arguments: As they run, with defaults filled in.
        """
        return entry_key(self._entry(tool, arguments), self._document(tool))

    def keys(self, tool: Tool, arguments: dict[str, JSON]) -> frozenset[str]:
        """Return the key of a call if an answer is stored; else nothing."""
        key = self.key(tool, arguments)
        stored = self.mode != "off" and self.store.get(key) is not None
        return frozenset([key] if stored else [])

    def _entry(
        self, tool: Tool, arguments: dict[str, JSON], response: Response = NO_ANSWER
    ) -> dict[str, Any]:
        version = prompt_version(self.inner, tool)
        return answer_entry(tool.id, arguments, response, self.identity, version, self.seed)

    def _failed_before(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        entry = self.store.get(_failure_key(self.key(tool, arguments)))
        if entry is None:
            raise CacheMissError(self._miss(tool, arguments))
        return Response("", entry["error"], cacheable=False, kind=KIND)

    def _miss(self, tool: Tool, arguments: dict[str, JSON]) -> str:
        call = f"{tool.name}({json_text(arguments)[:500]})"
        return (
            f"no stored answer to {call} of {tool.id} by {self.identity} with seed {self.seed} in"
            f" {self.store.location}: play it once with --cache record, or `seal cache import` one"
        )


class Imported:
    """Answers nothing by itself; wrapped in `Cached`, it gives answers that were imported.

    Args:
        origin: Format of the imported answers; they are kept with it as their simulator.
    """

    def __init__(self, origin: str) -> None:
        self.identity = origin

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return an error that is not kept."""
        return not_recorded(tool, "recorded")


def not_recorded(tool: Tool, kind: str) -> Response:
    """Return that no answer of a kind is known to a call, which is not kept."""
    error = f"No {kind} answer of {tool.name} to these arguments."
    return Response("", error, cacheable=False, kind="not_recorded")


class Fallback:
    """Asks one simulator after the other until one has an answer.

    Args:
        simulators: First to last; at least one.
    """

    def __init__(self, *simulators: Simulator) -> None:
        self.simulators = simulators
        self.identity = "+".join(simulator.identity for simulator in simulators)

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the first answer; if there is none, the response of the last simulator."""
        for simulator in self.simulators[:-1]:
            try:
                response = simulator.respond(tool, arguments)
            except CacheMissError:
                continue
            if response.cacheable:
                return response
        return self.simulators[-1].respond(tool, arguments)

    def keys(self, tool: Tool, arguments: dict[str, JSON]) -> frozenset[str]:
        """Return the key of the first simulator that has an answer, if that answer is stored."""
        for position, simulator in enumerate(self.simulators):
            if isinstance(simulator, Keyed):
                found = simulator.keys(tool, arguments)
                if found:
                    return found
                continue
            later = self.simulators[position + 1 :]
            # A simulator without keys answers by rule or from a recording, without the store.
            keyed_later = any(isinstance(one, Keyed) for one in later)
            if keyed_later and simulator.respond(tool, arguments).cacheable:
                break
        return frozenset()


def keys_of_call(simulator: Simulator, tool: Tool, arguments: dict[str, JSON]) -> frozenset[str]:
    """Return the keys of the stored answers that a simulator gives to a call: one, or none."""
    return simulator.keys(tool, arguments) if isinstance(simulator, Keyed) else frozenset()


def entry_key(entry: Mapping[str, Any], document: str) -> str:
    """Return the key of an answer: 64 hexadecimal digits.

    Args:
        entry: As `answer_entry` makes it; the answer itself does not count.
        document: Digest of the tool's document (`document_digest`).
    """
    shaping = ("tool", "arguments", "simulator", "prompt_version", "seed")
    return digest({"document": document, **{name: entry[name] for name in shaping}})


def _failure_key(key: str) -> str:
    return digest({"failure": key})


def document_digest(tool: Tool) -> str:
    """Return the digest of all that a simulator may read of a tool: everything but its source."""
    return digest(
        [tool.id, tool.name, tool.description, tool.parameters, tool.category, tool.returns]
    )


def prompt_version(simulator: Simulator, tool: Tool) -> str:
    """Return the version that the simulator gives for a tool; empty: it gives none."""
    return simulator.prompt_version(tool) if isinstance(simulator, Prompted) else ""


def answer_entry(
    tool: str,
    arguments: dict[str, JSON] | None,
    response: Response,
    simulator: str,
    version: str = "",
    seed: int = 0,
) -> dict[str, Any]:
    """Return what the store keeps of an answer."""
    return {
        "tool": tool,
        "arguments": arguments,
        "response": response.response,
        "error": response.error,
        "simulator": simulator,
        "prompt_version": version,
        "seed": seed,
    }

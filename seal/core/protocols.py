"""The interfaces between the parts; what is thinking in a completion."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from seal.core.settings import checked_names
from seal.core.types import (
    JSON,
    Goal,
    Query,
    Score,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
    Verdict,
)

if TYPE_CHECKING:
    from seal.core.store import Store


# -- The interfaces between the parts, one or two methods each.

CacheMode = Literal["record", "replay", "off"]
"""Kept answers: look, else ask and keep; look, never ask; always ask, never keep."""

Lookup = Callable[[str, int], Trajectory | None]
"""(task id, trial) to the trajectory to play; None where nothing was recorded."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Calls that an assistant's message carries."""
    call_id: str = ""
    """Of a tool's message: the call that it answers."""
    reasoning: str = ""
    """What the assistant thought before its calls; only models that want it back read it."""
    signed: tuple[Mapping[str, JSON], ...] = field(default=(), compare=False)
    """Of an assistant's message with calls: `Completion.signed`. A run puts it there itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    role: str = ""
    """Role that the model plays; offline models read it, servers never see it."""
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int | None = None
    json_object: bool = False
    """True: the answer must be one JSON object."""
    json_schema: Mapping[str, JSON] | None = None
    """Of that object, for models that take one; it says no more than the messages."""
    goal: int = 0
    """Position of the goal that is played; offline models may read it, servers never see it."""


@checked_names
@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered.

    Thinking within the content (`<think>...</think>` and its like) becomes `reasoning`.

    Example:
        >>> import seal
        >>> class Caller:
        ...     def complete(self, request) -> seal.Completion:
        ...         if request.messages[-1].role == "tool":
        ...             return seal.Completion("It ships on Monday.")
        ...         call = seal.ToolCall("", "shipping_day", {"order_id": "7"})
        ...         return seal.Completion(calls=(call,))
        >>> def shipping_day(order_id: str) -> str:
        ...     "Return the day on which an order ships."
        ...     return "Monday"
        >>> task = seal.ask("When does order 7 ship?", seal.called("shipping_day", order_id="7"))
        >>> settings = {"team": "direct", "baselines": False}
        >>> run = seal.run([task], tools=[shipping_day], model=Caller(), **settings)
        >>> run["call_f1"].mean
        1.0
    """

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    """`id` and `tool` are set by the chat: a model gives name, arguments and raw text."""
    usage: Usage = field(default_factory=Usage)
    truncated: bool = False
    """True where the server cut the answer at a token limit."""
    kept: bool = field(default=False, compare=False)
    """True where the answer was in the store: nobody was asked, and nothing was spent."""
    finish_reason: str = ""
    """Why the answer ended, in OpenAI's words: `stop`, `tool_calls`, `length`, `content_filter`, or
    a server's own; empty where none says."""
    reasoning: str = ""
    """What the model thought before it answered."""
    signed: tuple[Mapping[str, JSON], ...] = field(default=(), compare=False)
    """Thinking in the form in which its server wants it back with the calls that it led to."""

    def __post_init__(self) -> None:
        """Take thinking out of the content, whoever made the answer: no role ever reads it."""
        if isinstance(self.content, str):
            said, thought = without_thinking(self.content)
            if said is not self.content:
                object.__setattr__(self, "content", said)
                whole = "\n\n".join(filter(None, (self.reasoning, thought)))
                object.__setattr__(self, "reasoning", whole)


@runtime_checkable
class ChatModel(Protocol):
    """A language model, or something that plays one.

    Example:
        >>> import seal
        >>> class Echo:
        ...     def complete(self, request) -> seal.Completion:
        ...         return seal.Completion(request.messages[-1].content)
        >>> run = seal.run("sample", model=Echo(), limit=2, baselines=False)
        >>> run["call_recall"].mean
        0.0
    """

    def complete(self, request: Request) -> Completion:
        """Return the answer to a request. Safe to call from several threads.

        Raises:
            ModelError: The server failed or refused.
        """


@runtime_checkable
class OpenedPerChat(Protocol):
    """A model or environment that must know which task it plays (oracle, recorded, replay)."""

    def open(self, task: Task, trial: int) -> Any:
        """Return the model or environment of one chat.

        Raises:
            NotRecordedError: There is nothing to play for this task: it is skipped.
        """


class Longer(NamedTuple):
    """Texts of which an embedder reads the beginning alone."""

    kind: Literal["document", "query"]
    longer: int
    """How many are longer."""
    total: int
    """How many there are."""
    longest: int
    """Tokens that it reads of a text."""

    def __str__(self) -> str:
        several = "documents" if self.kind == "document" else "texts of queries"
        return (
            f"{self.longer:,} of {self.total:,} {several} are longer than the {self.longest:,} "
            "tokens that are read of each"
        )


class KnownTools(Sequence[Tool]):
    """Tools in the order of their ids, which are known, as is their content, before one is read."""

    ids: Sequence[str]
    """Ascending; no two are equal."""
    digest: str
    """SHA-256 of all that they are made of."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Tools to choose from, with what a retriever may need besides."""

    tools: Sequence[Tool]
    """A tuple, or of a large pool `KnownTools`: each is read from its file when it is asked for."""
    tasks: tuple[Task, ...] = ()
    """For retrievers that say by `reads_gold` that they read them: others see tools and query texts
    only."""
    seed: int = 0
    cache_dir: Path | None = None
    """Where indexes are kept; None: nowhere."""
    options: Mapping[str, Any] = field(default_factory=dict)
    answers: Store | None = None
    """Where the vectors of texts are kept; None: nowhere."""
    cache: CacheMode = "record"
    """How `answers` is used."""
    progress: Callable[[int, int], None] | None = None
    """Told how many tools are embedded and how many are to be, where that takes several batches."""
    longer: Callable[[Longer], None] | None = None
    """Told of documents and queries where an embedder does not read all of each."""
    allow_code: Collection[str] = ()
    """Modules that the user allows to run code that comes with a model."""


class Retriever(Protocol):
    """Chooses tools for queries; built as `factory(pool)`.

    Example:
        >>> import seal
        >>> class Alphabetic:
        ...     def __init__(self, pool):
        ...         self.ids = sorted(tool.id for tool in pool.tools)
        ...     def retrieve(self, queries, k):
        ...         return [[(id, 0.0) for id in self.ids[:k]] for query in queries]
        >>> found = seal.retrieve("sample", [Alphabetic, "tfidf"], k=5, limit=10)
        >>> found.of("tfidf")["recall@5"].mean > found.results[0]["recall@5"].mean
        True
    """

    def retrieve(self, queries: Sequence[Query], k: int) -> list[list[tuple[str, float]]]:
        """Return for each query at most k (tool id, score), best first, equal scores by id."""


class Simulator(Protocol):
    """Answers calls without a state: equal calls give equal answers."""

    identity: str
    """Name and version; part of the cache key."""

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the answer to one valid call.

        Raises:
            SimulatorError: No usable answer.
            CacheMissError: Replay mode, nothing stored.
        """


@dataclass(frozen=True, slots=True)
class Response:
    """A simulated or recorded answer."""

    response: JSON
    error: str = ""
    """The API's own error text; empty: success."""
    cacheable: bool = True
    """False: a failure of the simulator that must not be kept as an answer."""
    kind: str = "api"
    """What failed where `error` is not empty: the API, the `simulator`, or `not_recorded`."""
    live: bool = False
    """True: the tool itself answers, and no simulator or recording."""


@checked_names
@dataclass(frozen=True, slots=True)
class Reply:
    """What a role says.

    Example:
        >>> import seal
        >>> class Brief:
        ...     def reply(self, chat: seal.Chat) -> seal.Reply:
        ...         return seal.Reply(chat.request.split(".")[0])
        >>> run = seal.run("sample", roles={"planner": Brief}, limit=2, baselines=False)
        >>> "planner" in set(run.messages["author"])
        True
    """

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    """Only the executor gives results; those that `Chat.execute` recorded are left out."""
    next: str | None = None
    """Role that speaks next; None: the team's default."""
    done: bool = False
    """True ends the chat about this goal."""


class Chat(Protocol):
    """What a role sees and may use while it speaks; a view on the chat for that role alone.

    Once the role's reply has ended, every use raises `PluginError`.

    Example:
        >>> import seal
        >>> class Clerk:
        ...     def reply(self, chat: seal.Chat) -> seal.Reply:
        ...         call = seal.ToolCall("", chat.tools[0].name, {"order_id": "7"})
        ...         (result,) = chat.execute([call])
        ...         return seal.Reply(f"It ships on {result.value}.")
        >>> def shipping_day(order_id: str) -> str:
        ...     "Return the day on which an order ships."
        ...     return "Monday"
        >>> task = seal.ask("When does order 7 ship?", seal.called("shipping_day", order_id="7"))
        >>> run = seal.run([task], tools=[shipping_day], agent=Clerk(), baselines=False)
        >>> run["call_f1"].mean
        1.0
    """

    @property
    def role(self) -> str:
        """The role that speaks."""

    @property
    def task_id(self) -> str:
        """Id of the task."""

    @property
    def goal(self) -> int:
        """Position of the goal that is being played."""

    @property
    def request(self) -> str:
        """Text of that goal, which the user speaks first; else what it said first instead."""

    @property
    def persona(self) -> Mapping[str, JSON] | None:
        """The user's brief; None for every other role."""

    @property
    def steps(self) -> Sequence[Step]:
        """Everything said so far, oldest first."""

    @property
    def tools(self) -> Sequence[Tool]:
        """Tools offered now."""

    @property
    def roles(self) -> Sequence[str]:
        """Roles seated in this chat."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Settings of the run that concern roles: `retrieve`, `top_k` and `allow_code`.

        Besides them what the team tells its roles (`Team.measured`, `arranged`, `facts`).
        """

    @property
    def seconds_left(self) -> float | None:
        """How long the chat may still last; None: there is no limit."""

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), json_object: bool = False
    ) -> Completion:
        """Ask this role's model; tokens are counted, equal requests are cached."""

    def execute(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run calls and return one result for each.

        The executor runs the calls of the last message and replies with their results, in the order
        in which they ran. All other calls, of whatever role, are the role's own. They are recorded
        at once, as calls to the executor and its answers, with ids, turns, time and budgets as
        usual. Tokens used so far stand on the first call's step. Their results are in the order of
        the calls and carry the ids of the record, so the ids given here do not count.

        Calls beyond the budget are recorded and not run. Each result's error then has the kind
        `max_calls`, and the chat about the goal ends with the reply. Another call ends the reply.

        Args:
            calls: `name` and `arguments` count; id and tool are set by the chat.

        Raises:
            UsageError: What is given are no calls.
            PluginError: The reply has ended.
        """

    def find_tools(self, query: str, k: int) -> list[Tool]:
        """Retrieve tools for a text and offer them from now on; recorded as a ranking."""

    def count(self, model: str, usage: Usage) -> None:
        """Count tokens of a model that the role asked by itself.

        They count against the run's budgets. The record names the model, whose answers no replay of
        the run can give.
        """

    def note(self, text: str) -> None:
        """Keep a text beside what the role says, for readers alone: `seal view` shows it."""

    def judge(self, answer: str) -> Verdict:
        """Return a verdict on a final answer, by this role's model or by rule."""


class Agent(Protocol):
    """A role. It holds nothing between replies, so one object serves many chats.

    Example:
        >>> import seal
        >>> class Shy:
        ...     def reply(self, chat: seal.Chat) -> seal.Reply:
        ...         return seal.Reply("I would rather not.")
        >>> run = seal.run("sample", agent=Shy(), limit=2, baselines=False)
        >>> run["call_recall"].mean
        0.0
    """

    def reply(self, chat: Chat) -> Reply:
        """Return what the role says now."""


class Judge(Protocol):
    """Decides whether a final answer solves a goal."""

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return the verdict on one goal."""


class Metric(Protocol):
    """Scores one trajectory.

    It may have `names`, a list of the names of its scores, and `scales`, which maps such names to
    what their values mean (`seal.core.Scale`); those of other names are rates in [0, 1].

    Example:
        >>> import seal
        >>> class Length:
        ...     scales = {"steps": seal.core.Scale(bounded=False, higher_is_better=None)}
        ...
        ...     def score(self, task, trajectory, tools) -> list[seal.Score]:
        ...         steps = len(trajectory.steps)
        ...         return [seal.Score(task.id, trajectory.trial, 0, "steps", steps)]
        >>> run = seal.run("sample", metrics=[Length()], limit=2, baselines=False)
        >>> run["steps"].n
        2
    """

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and metric name; value None where it does not apply."""


# -- What a model's answer comes to beside words and calls: thinking, and why there is none.

Refusal = Literal["context_overflow", "filtered"]
"""Why a server gives no answer to a request that another model or another prompt would get."""
ENDED: Mapping[str, Refusal] = {
    "content_filter": "filtered",
    "model_context_window_exceeded": "context_overflow",
}
"""`finish_reason` of an answer that was broken off, to what ends the chat."""

_TAG = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning)"
_MARKS = (
    (rf"<{_TAG}>", rf"</{_TAG}>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"◁think▷", r"◁/think▷"),
    (r"(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>", r"<\|end\|>|(?=<\|start\|>)"),
    (r"<\|channel>thought\b", r"<channel\|>"),
    (r"\Aanalysis(?=.*assistantfinal)", r"assistantfinal"),
)  # fmt: skip
"""How thinking begins and ends: tags of most families, Mistral, Cohere, Kimi, harmony of gpt-oss,
Gemma, and harmony whose marks were taken out."""
_ANY = re.compile(r"think|thought|reasoning|<\|channel|\Aanalysis", re.IGNORECASE)
_BLOCK = re.compile(
    "|".join(rf"{begins}(.*?)(?:{ends}|\Z)" for begins, ends in _MARKS).join((r"^[ \t]*(?:", ")")),
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_END = "|".join(ends for _, ends in _MARKS[:5])
_ENDS = re.compile(_END, re.IGNORECASE)
_BEGUN_BEFORE = re.compile(
    rf"\A(.*)(?:^(?:[ \t]*(?:{_END}))+|(?:{_END})(?![^\n]{{0,500}}[\"']))",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""Thinking whose beginning the template had put into the prompt. An end within a quoted text, such
as an argument, is none."""
_ROUNDS = 8
"""Most looks for further blocks: a text of ends alone must not take the square of its length."""
_HARMONY = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>\w(?:[^<]|<\|constrain\|>)*<\|message\|>|<\|(?:end|return|call)\|>"
)
"""What else harmony puts around words."""


_CALLED = re.compile(r"to=functions\.[\w./-]+")


def _called(mark: re.Match[str]) -> str:
    """Return what stays of a mark of harmony: the tool that a model calls."""
    found = _CALLED.search(mark[0])
    return f"{found[0]} " if found else ""


def without_thinking(text: str) -> tuple[str, str]:
    """Return what a text says, and the thinking in it, without their marks.

    Thinking begins where a line begins, and lasts to its mark of the end, else to the text's.
    """
    if not _ANY.search(text):
        return text, ""
    thoughts: list[str] = []

    def take(found: re.Match[str]) -> str:
        thoughts.append(_ENDS.sub("", found[found.lastindex or 0]).strip())
        return ""

    said, before = _BLOCK.sub(take, text), ""
    rounds = 0
    while said != before and rounds < _ROUNDS:  # a block may begin where such an end stood
        before, rounds = said, rounds + 1
        said = _BLOCK.sub(take, _BEGUN_BEFORE.sub(take, said))
    if "<|channel|>" in text:
        said = _HARMONY.sub(_called, said)
    changed = bool(thoughts) or said != text
    return said.strip() if changed else text, "\n\n".join(filter(None, thoughts))

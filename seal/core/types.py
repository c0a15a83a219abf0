"""The records: tools, tasks, goals, plans, steps, trajectories and scores.

The parts of a persona and partial orders stand here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from seal.core.conditions import AGENT, STRICT, SYSTEM, Called, Condition
from seal.core.errors import DataError, UsageError, nearest, shortened
from seal.core.settings import check_types, checked_fields, checked_names
from seal.core.slots import Slot
from seal.core.text import counted

# -- The vocabulary: tools, tasks, rankings, trajectories and scores.
#
# Frozen dataclasses of plain JSON values, so that every record can be written to a line and read
# back equal (`seal.core.records`). Source of the terms: the SEAL paper, section 3, and the
# benchmarks that it joins.

JSON = Any
"""A JSON value: None, bool, int, float, str, list or dict of such."""
Tables = dict[str, list[dict[str, JSON]]]
"""A world: name of a table to its rows, of which no list is changed once it was shown."""

CHAT_TOOLS = "seal/chat/"
"""How the ids of tools begin that the chat itself offers: they are no API of the pool."""
FIND_TOOLS = f"{CHAT_TOOLS}find_tools"
"""Id of the tool by which the execution manager looks for tools."""
END_CONVERSATION = f"{CHAT_TOOLS}end_conversation"
"""Id of the tool by which the user ends the conversation."""

StopReason = Literal[
    "done",
    "user_ended",
    "max_turns",
    "max_calls",
    "max_messages",
    "max_tokens",
    "max_seconds",
    "repeated",
    "context_overflow",
    "filtered",
    "crashed",
    "error",
]


class _Sparse:
    """A record whose fields at the end are written only where they say something.

    Their default stands in the class, not in the object, and so in no line.
    """

    _SPARSE = tuple[str, ...]()

    def __post_init__(self) -> None:
        """Leave out what says nothing."""
        for name in self._SPARSE:
            if not self.__dict__[name]:
                del self.__dict__[name]


@checked_fields
@dataclass(frozen=True)
class Tool(_Sparse):
    """One API.

    Example:
        >>> import seal
        >>> schema = {
        ...     "type": "object",
        ...     "properties": {"order_id": {"type": "string"}},
        ...     "required": ["order_id"],
        ... }
        >>> tool = seal.Tool("shop/get_order", "get_order", "Look an order up.", schema)
        >>> task = seal.ask("Where is order 7?", seal.called("get_order", order_id="7"))
        >>> seal.Benchmark("shop", tools=[tool], tasks=[task])
        Benchmark('shop': 1 task, 1 tool)
    """

    _SPARSE = ("writes",)

    id: str
    """`benchmark/tool/api`; further documents under the same id end in `#` and 8 hex digits of
    their digest."""
    name: str
    """What the model sees; may be scrambled. Unique among the tools that one chat offers."""
    description: str = ""
    parameters: dict[str, JSON] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    """JSON Schema of the argument map: type object, properties, required; defaults, enums."""
    category: str = ""
    returns: JSON = None
    """Shape of the response: a JSON Schema, an example, or prose; None where unknown."""
    source: dict[str, JSON] = field(default_factory=dict)
    """Where the record comes from: names as upstream, method, file."""
    writes: bool = False
    """True: it says that its calls change something, such as an order. Where no world shows what a
    call changed, a call of it that gold does not have is an extra effect."""


@checked_names
@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as a model wrote it.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="oracle", first=1, baselines=False)
        >>> chat = next(run.folder.trajectories())
        >>> call, result = next(chat.calls())
        >>> call.call.name, call.call.arguments["location"]
        ('daily_forecast', 'Bristol')
    """

    id: str
    """Position in the chat, `call_0`, `call_1`...: renumbered, so never drawn by a server."""
    name: str
    """The function name that the model wrote."""
    arguments: dict[str, JSON] | None
    """None where `raw` is no JSON object."""
    raw: str = ""
    """The model's text of the arguments; empty where `arguments` says it all. Beside arguments: the
    text that was repaired to read them (`seal.core.call_formats.repairs_of`)."""
    tool: str | None = None
    """Id of the offered tool that `name` means; None for an unknown name."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What really ran."""

    tool: str
    arguments: dict[str, JSON]
    """Defaults filled in."""


Unrecorded = Literal["error", "simulate", "empty"]
"""What answers a question that a recording does not hold: an error of the kind `NOT_RECORDED`, the
run's simulator, or nothing, as if nothing were known, which is how benchmarks publish theirs."""
NOT_RECORDED = "not_recorded"
"""Kind of the error of such a question."""


@checked_names
@dataclass(frozen=True)
class ToolResult(_Sparse):
    """The answer to one call. A tool's failure is data that the model reads.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="oracle", first=1, baselines=False)
        >>> chat = next(run.folder.trajectories())
        >>> call, answer = next(chat.calls())
        >>> answer.result.error is None
        True
        >>> answer.result.executed.tool == call.call.tool
        True
    """

    _SPARSE = ("unrecorded", "live")

    call_id: str
    content: str
    """The text that the model reads."""
    error: dict[str, JSON] | None = None
    """None: success. Else kind and message; a validation error also has name, expected, received,
    nearest."""
    value: JSON = None
    """The response as JSON."""
    executed: Execution | None = None
    """None: the call was rejected before it ran."""
    unrecorded: str = ""
    """What answered where the recording does not hold the question: `empty` or `simulate`. Where
    nothing did, the error has the kind `NOT_RECORDED`."""
    live: bool = False
    """True: the tool itself answered in this chat. Then an error is its refusal, whatever it says;
    words of a recorded or simulated one may tell of an outage."""


@dataclass(frozen=True)
class Usage(_Sparse):
    """Tokens of one or more model calls."""

    _SPARSE = ("reasoning",)

    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False
    """True where the server gave no count and the documented estimate stands in."""
    reasoning: int = 0
    """Those of `tokens_out` that are thinking."""

    @staticmethod
    def admits(*counts: object) -> bool:
        """Tell whether values that come from outside can be the tokens of one model call.

        No file could hold the sum of larger ones.
        """
        return all(type(count) is int and 0 <= count <= 10**9 for count in counts)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.estimated or other.estimated,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class Milestone:
    """One gold step in a partial order."""

    __pydantic_config__ = STRICT
    condition: Condition
    after: tuple[int, ...] = ()
    """Positions of the milestones that must come before; empty for parallel steps."""
    result: JSON = None
    """Recorded observation for replay."""


@checked_fields
@dataclass(frozen=True, slots=True)
class Plan:
    """One acceptable way to reach a goal.

    Example:
        >>> import seal
        >>> task = seal.ask("Where is order 7?", seal.called("get_order", order_id="7"))
        >>> (plan,) = task.goals[0].plans
        >>> [call.tool for call in plan.calls()]
        ['get_order']
    """

    __pydantic_config__ = STRICT
    milestones: tuple[Milestone, ...] = ()
    minefields: tuple[Milestone, ...] = ()

    def calls(self) -> list[Called]:
        """Return the gold calls in the order of the milestones."""
        return [m.condition for m in self.milestones if isinstance(m.condition, Called)]

    def gold_calls(self) -> list[Called]:
        """Return the calls by which the milestones are met, also those that lead to an end."""
        return [call for calls in self.calls_by_milestone() for call in calls]

    def calls_by_milestone(self) -> list[list[Called]]:
        """Return for each milestone the calls by which it is met.

        A call that leads to an end, and that the plan names too, is made once: where it is named.
        """
        named, found = self.calls(), []
        for node in self.milestones:
            calls = list(node.condition.gold_calls())
            if not isinstance(node.condition, Called):
                calls = [call for call in calls if not _taken(call, named)]
            found.append(calls)
        return found

    def without_end(self) -> Plan:
        """Return the plan without the end of the world that its calls lead to (`EndsAs.of_plan`).

        That is its last milestone, if it has one.
        """
        ends = any(getattr(node.condition, "of_plan", False) for node in self.milestones[-1:])
        return replace(self, milestones=self.milestones[:-1]) if ends else self

    def tools(self) -> tuple[str, ...]:
        """Return the ids of the tools that it calls, each once, in the order of its calls."""
        return tuple(dict.fromkeys(call.tool for call in self.gold_calls()))

    def of_tools(self, tools: Mapping[str, Tool]) -> Plan:
        """Return the plan with gold that knows its tools; see `Task.of_tools`."""
        every = (*self.milestones, *self.minefields)
        known = [one.condition.of_tools(tools) for one in every]
        if all(one is node.condition for one, node in zip(known, every, strict=True)):
            return self
        nodes = tuple(replace(n, condition=c) for n, c in zip(every, known, strict=True))
        return Plan(nodes[: len(self.milestones)], nodes[len(self.milestones) :])


def _taken(call: Called, named: list[Called]) -> bool:
    """Tell whether a call is one of some that are named, and take that from them."""
    for place, one in enumerate(named):
        same = (one.tool, one.refused) == (call.tool, call.refused)
        if same and one.accepts(call.canonical_arguments()):
            del named[place]
            return True
    return False


@dataclass(frozen=True)
class Step(_Sparse):
    """One message: an utterance, a call or a result."""

    _SPARSE = ("finish_reason", "reasoning", "left_out")

    index: int
    author: str
    recipient: str
    content: str = ""
    call: ToolCall | None = None
    result: ToolResult | None = None
    turn: int = 0
    """Calls of one reply share a turn and precede their results."""
    goal: int = 0
    state: Tables | None = None
    """Tables of the world that changed in this step; step 0 carries all. None: nothing changed, or
    no world."""
    usage: Usage | None = None
    """Tokens of the model calls behind this message; on the first step of a reply."""
    finish_reason: str = ""
    """Why the last of these answers ended, as its server says: `stop`, `tool_calls`, `length` (cut
    at a limit), `content_filter`...; on the first step of a reply, empty where no server says."""
    reasoning: str = ""
    """What the model thought before these answers; on the first step of a reply."""
    left_out: int = 0
    """Results of tools that the last of these answers was given without, for the window was full;
    on the first step of a reply of an old run, which could shorten its prompts."""


@checked_fields
@dataclass(frozen=True, slots=True)
class Goal:
    """An instruction, a mission or a turn.

    Example:
        >>> import seal
        >>> task = seal.ask(
        ...     "When does order 7 ship?", seal.called("get_order", order_id="7"), answer="Monday"
        ... )
        >>> goal = task.goals[0]
        >>> goal.text, goal.answers, len(goal.plans)
        ('When does order 7 ship?', ('Monday',), 1)
    """

    __pydantic_config__ = STRICT
    text: str
    plans: tuple[Plan, ...] | None = None
    """None: not annotated. No tool needed: one plan without `Called`."""
    answers: tuple[str, ...] = ()
    """Values that a right final answer states, each of them."""
    offered: tuple[str, ...] | None = None
    """Ids of the tools that are given; None: a retriever chooses."""
    relevant: tuple[str, ...] = ()
    """Ids of the tools that retrieval must find."""
    any_relevant: bool = False
    """True: the relevant tools are alternatives, and any one of them is enough."""
    reference: tuple[Step, ...] = ()
    """Gold steps: for the oracle, golden history and reference replies."""
    labels: dict[str, JSON] = field(default_factory=dict)
    """Mission type, action and the like."""
    any_answer: bool = False
    """True: the answers are alternatives, and stating any one of them is right."""
    tells: tuple[Slot, ...] = ()
    """What the agent must tell its user, each of it, and nothing that contradicts it."""

    @property
    def told(self) -> tuple[str, ...]:
        """What a right answer states or tells, in words."""
        return (*self.answers, *(slot.told for slot in self.tells))

    @property
    def asks_for_end(self) -> bool:
        """True where gold says that the world ends as after some calls (`EndsAs`)."""
        nodes = (node for plan in self.plans or () for node in plan.milestones)
        return any(
            getattr(part, "kind", "") == "ends_as"
            for node in nodes
            for part in node.condition.parts()
        )

    @property
    def needs_no_tool(self) -> bool:
        """True where gold says that no tool is called; False where there is no gold."""
        return self.plans is not None and not any(plan.calls() for plan in self.plans)

    def of_tools(self, tools: Mapping[str, Tool]) -> Goal:
        """Return the goal with gold that knows its tools; see `Task.of_tools`."""
        if not self.plans:
            return self
        plans = tuple(plan.of_tools(tools) for plan in self.plans)
        same = all(one is other for one, other in zip(plans, self.plans, strict=True))
        return self if same else replace(self, plans=plans)


@checked_fields
@dataclass(frozen=True)
class Task(_Sparse):
    """One record of any benchmark.

    `persona` is the brief of a simulated user; None: the user speaks once. Its parts are optional:

    - `goal`: a text, what the user wants in the end. Missing: the request itself.
    - `opening`: a text, what the user says first instead of the first goal's text; or true: its
      model writes that message. The agent then never sees the text.
    - `boundary`: a text, what the user knows besides, and what not.
    - `facts`: what the user tells when asked, {name: value} or
      {name: {"value": value, "ask": [words that ask for it]}}.
    - `then`: a text or a list of texts, requests that follow one by one.
    - `replies`: for each goal a list of texts, what the user answers one after the other.
    - `demonstration`: example messages {"role": ROLE, "content": text} of the roles `goal`, `user`,
      `assistant` and `end`.
    - `verbatim`: {"instruction": text, "end": text}, how its authors tell its model all this. The
      first text stands before goal and boundary in the place of our prompt, the examples are turns
      of their own before it, and the second describes the tool that ends the chat.

    A further entry counts as a fact of its name, unless that is almost the name of a part.

    Raises:
        UsageError: A part of the persona is of another type, or its name is misspelt.

    Example:
        >>> import seal
        >>> shop = [{"name": "get_order", "description": "Look an order up."}]
        >>> goal = seal.Goal("Where is order 7?")
        >>> task = seal.Task("first", "shop", (goal,), tags={"kind": "easy"})
        >>> run = seal.run([task], tools=shop, model="lexical", baselines=False)
        >>> [played.id for played in run.folder.tasks()]
        ['first']
    """

    _SPARSE = ("system",)

    id: str
    benchmark: str
    goals: tuple[Goal, ...]
    initial_state: Tables | None = None
    history: tuple[Step, ...] = ()
    persona: dict[str, JSON] | None = None
    """Brief of the simulated user; None: the user speaks once. Its parts: see above."""
    split: str = ""
    tags: dict[str, JSON] = field(default_factory=dict)
    """multi_tool, multi_step, dependent, parallel, group: what `--select TAG=VALUE` selects by."""
    metadata: dict[str, JSON] = field(default_factory=dict)
    world: str = ""
    """Name of the world that the task is played in, or its dotted path, which counts where the user
    allows that module; empty: the run's simulator."""
    system: str = ""
    """What the agent is told before the chat, such as a policy, the date, or whom it serves; its
    user does not hear it."""

    def __post_init__(self) -> None:
        """Check the persona."""
        super().__post_init__()
        if self.persona is not None:
            check_persona(self.persona)

    @property
    def user_tools(self) -> Sequence[str]:
        """Ids of the tools that the user has, each once: its own, which no agent is offered."""
        return tuple(dict.fromkeys((self.persona or {}).get("tools", ())))

    def said_first(self, goal: int) -> str | None:
        """Return what the user says first about a goal; None: its model writes that.

        Args:
            goal: Its position.
        """
        opening = (self.persona or {}).get("opening") if goal == 0 else None
        return None if opening is True else opening or self.goals[goal].text

    @property
    def before(self) -> tuple[Step, ...]:
        """What was said before the first goal: the system text, then the history."""
        if not self.system:
            return self.history
        turn = self.history[0].turn - 1 if self.history else 0
        return (Step(0, SYSTEM, AGENT, self.system, turn=turn), *self.history)

    def of_tools(self, tools: Mapping[str, Tool]) -> Task:
        """Return the task with gold that knows its tools (`Called.of_tools`).

        Args:
            tools: By id.
        """
        goals = tuple(goal.of_tools(tools) for goal in self.goals)
        same = all(one is other for one, other in zip(goals, self.goals, strict=True))
        return self if same else replace(self, goals=goals)


@dataclass(frozen=True, slots=True)
class Query:
    """What a retriever is asked."""

    text: str
    task_id: str = ""
    goal: int = 0


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a retriever answered."""

    task_id: str
    goal: int
    query: str
    hits: tuple[tuple[str, float], ...]
    """(tool id, score), best first; equal scores in the order of ids."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the chat about one goal ended."""

    reason: StopReason
    error: str | None = None
    """Text of the infrastructure's failure where the reason is "error". Where a role of the user's
    own "crashed", what its exception says, and below it where it came from. For "context_overflow"
    and "filtered" what the server said."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge or checker says of a final answer."""

    label: Literal["solved", "unsolved", "unsure"]
    reason: str = ""
    stage: int = 1
    """1: from the answer alone; 2: with the trajectory (SEAL paper, pass rate)."""


@checked_names
@dataclass(frozen=True, slots=True)
class Trajectory:
    """Everything that was said and done for one task in one trial.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="oracle", first=1, baselines=False)
        >>> chat = next(run.folder.trajectories())
        >>> [stop.reason for stop in chat.stops]
        ['done']
        >>> [step.call.name for step, result in chat.calls()]
        ['daily_forecast']
    """

    task_id: str
    trial: int
    steps: tuple[Step, ...]
    rankings: tuple[Ranking, ...] = ()
    offered: tuple[tuple[str, ...], ...] = ()
    """Tool ids that the chat offered, for each goal."""
    stops: tuple[Stop, ...] = ()
    """One for each goal that was played."""
    answers: tuple[str | None, ...] = ()
    """The final response to each goal; None where there was none."""
    provenance: dict[str, JSON] = field(default_factory=dict)
    """What was told of the task to the roles. Under `printed` what own roles printed, a list of
    {step, role, text} with the first step of the reply; under `own_models` role to the model that
    it asked by itself."""

    @property
    def failed(self) -> bool:
        """True where the infrastructure failed, so that nothing here may be scored."""
        return any(stop.reason == "error" for stop in self.stops)

    def calls(self, goal: int | None = None) -> Iterator[tuple[Step, Step | None]]:
        """Yield each call's step with its result's step, in the order of the calls.

        Args:
            goal: Only the calls of this goal; None: all.
        """
        results = {s.result.call_id: s for s in self.steps if s.result is not None}
        for step in self.steps:
            if step.call is not None and goal in (None, step.goal):
                yield step, results.get(step.call.id)


@checked_names
@dataclass(frozen=True, slots=True)
class Score:
    """One metric's value for one task, trial and goal.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="oracle", first=2, baselines=False)
        >>> scores = list(run.folder.scores())
        >>> [score.value for score in scores if score.metric == "call_recall"]
        [1.0, 1.0]
    """

    task_id: str
    trial: int
    goal: int
    metric: str
    value: float | None
    """None: the metric does not apply, or the infrastructure failed; `reason` says which."""
    weight: float = 1.0
    """Denominator for micro means."""
    reason: str = ""
    details: dict[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What the scores of a metric mean; as it stands, a rate in [0, 1] that is better high."""

    bounded: bool = True
    """Scores lie in [0, 1]; if not, they count, or have a unit of their own."""
    higher_is_better: bool | None = True
    """None: neither high nor low scores are better."""
    gold_is_best: bool | None = None
    """True: the gold has the best score wherever the metric applies; tests of benchmarks check it.
    None: it should have it; reports list where it has not. False: it may have any score."""
    condition: str = ""
    """What alone the figure is of, where the agent decides that: "goals in which a call was made".
    Whoever tries less may have more of such a figure. So it stands with its condition, is not the
    metric that a run is known by, and no test compares it unless it is asked for."""


# -- The parts of a task's persona and their types; `seal.agents.users` says what they mean.

PARTS: Mapping[str, Any] = {
    "goal": str,
    "opening": str | bool,
    "boundary": str,
    "facts": Mapping[str, Any],
    "then": str | Sequence[str],
    "replies": Sequence[Sequence[str]],
    "demonstration": Sequence[Mapping[str, Any]],
    "verbatim": Mapping[str, str],
    "tools": Sequence[str],
}
_VERBATIM = ("instruction", "end")
_ALIKE, _SHORTEST = 65.0, 4
"""Similarity and length of a name from which on it counts as a part that is misspelt, if it begins
with the same letter."""


def check_persona(persona: Mapping[str, Any]) -> None:
    """Make sure that a persona's parts are of their types, and that none is misspelt.

    Raises:
        UsageError: One is not; or a further entry, which counts as a fact, is named like a part.
    """
    if not isinstance(persona, Mapping):
        raise UsageError(
            f"persona: expected a mapping such as {{'goal': TEXT}}, got {shortened(persona)}"
        )
    for name in persona.keys() - PARTS.keys():
        close = nearest(str(name), PARTS, _ALIKE) if len(str(name)) >= _SHORTEST else None
        if close is not None and str(name)[0].casefold() == close[0]:
            raise UsageError(
                f"persona: no part {name!r}; parts: {', '.join(PARTS)}. Did you mean {close!r}? "
                "A fact of this name stands in facts"
            )
    given = {f"persona.{name}": persona[name] for name in PARTS if name in persona}
    check_types(given, {f"persona.{name}": kind for name, kind in PARTS.items()})
    verbatim = persona.get("verbatim", {"instruction": ""})
    if "instruction" not in verbatim or not verbatim.keys() <= {*_VERBATIM}:
        raise UsageError(
            "persona.verbatim: expected the text instruction, and at most the text end beside it; "
            f"got {', '.join(map(str, verbatim)) or 'nothing'}"
        )
    opening = persona.get("opening", True)
    if isinstance(opening, str) and not opening.strip():
        raise UsageError(
            "persona.opening says nothing; give the user's first words, or true where its model is "
            "to write them"
        )


# -- Partial orders: what may come next, and whether an order is one at all.


def ready(after: Sequence[Sequence[int]], done: frozenset[int] | set[int]) -> list[int]:
    """Return the positions not done whose predecessors all are, ascending.

    Args:
        after: For each position its predecessors.
        done: Finished positions.
    """
    return [i for i, before in enumerate(after) if i not in done and done.issuperset(before)]


def levels(after: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the positions in groups: each as early as its predecessors allow.

    The number of groups is the length of the longest chain (Mirsky's theorem): no order needs
    fewer.

    Raises:
        DataError: A predecessor does not exist, or the order has a cycle.
    """
    count = len(after)
    for position, before in enumerate(after):
        for predecessor in before:
            if not 0 <= predecessor < count:
                raise DataError(
                    f"step {position} comes after step {predecessor}, but there are "
                    f"{counted(count, 'step')}"
                )
    done: set[int] = set()
    groups = []
    while len(done) < count:
        group = ready(after, done)
        if not group:
            stuck = sorted(set(range(count)) - done)
            raise DataError(f"steps {stuck} wait for each other: the order has a cycle")
        groups.append(group)
        done.update(group)
    return groups


# -- Whether a user's call ends the conversation.


def ends_conversation(step: Step) -> bool:
    """Tell whether a user's call ends the conversation, here or in an imported recording."""
    call = step.call
    named = END_CONVERSATION.rpartition("/")[2]
    return call is not None and named in (call.name, (call.tool or "").rpartition("/")[2])


# -- Clusters of tasks: variants of one task, which intervals draw together.


def cluster_of(task_id: str, metadata: Mapping[str, Any]) -> str:
    """Return the cluster of a task: what it is a variant of, else the task itself.

    Variants of a scenario name it in `metadata["base"]`, those that were made of a query in
    `metadata["seed"]`, where that is a task's id.
    """
    made_of = metadata.get("base", metadata.get("seed"))
    return made_of if isinstance(made_of, str) else task_id

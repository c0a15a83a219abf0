"""One conversation: its steps and goals, its limits, and when it stops."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from seal.agents import is_own
from seal.agents.replies import (
    END,
    FIND_TOOLS,
    NOTHING,
    WHOLE,
    Brief,
    Offers,
    PluginError,
    checked_reply,
    checked_results,
    crash,
    is_interrupt,
    is_of_the_chat,
    is_outage,
    resolved,
)
from seal.agents.roles import pending_calls
from seal.agents.teams import CHECKER, EXECUTOR, MANAGER, USER, Team
from seal.agents.view import Stamp, View
from seal.core import (
    ENDED,
    JSON,
    Agent,
    ChatModel,
    Completion,
    Goal,
    OverdueError,
    Query,
    Ranking,
    Reply,
    SealError,
    Step,
    Stop,
    StopReason,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
    Verdict,
    fault,
)
from seal.core.concurrency import seconds_left, within
from seal.core.conditions import takes_turn
from seal.core.environment import Environment

# -- The budgets of one chat, what it has spent of them, and when that ends it.

REPEATS = 3
"""The manager or the lead, saying the same this many times in a row, ends the chat; so does the
user, calling this many times in a row what it cannot call."""
_OTHERS_TURNS = 3
"""How often any other role may speak for each turn of the manager: ends roles that only talk."""
_REPLIES_A_TURN = 20
"""Replies of all roles for each turn of the manager: ends roles that only think."""


@dataclass(frozen=True, slots=True)
class ChatLimits:
    """Budgets of one chat; None: no limit."""

    max_turns: int = 10
    """Replies of the execution manager, for each goal; any other role may reply three times as
    often. Thoughts, said to oneself, and what calls brought are none."""
    max_calls: int = 50
    """Calls, for each goal."""
    max_tokens: int | None = None
    """Tokens in and out."""
    max_seconds: float | None = None
    """From the first word of the chat on, for all goals."""
    repeats: int | None = REPEATS
    """Equal replies of the manager or the lead in a row, the last of which ends the chat."""
    max_messages: int | None = None
    """Messages to or from the user or the executor, for each goal; what the agent's own roles say
    to each other does not count."""
    max_replies: int | None = None
    """Of all roles, for each goal, thoughts too; None: 20 for each turn."""


@dataclass(slots=True)
class SpentOnGoal:
    """What a chat has spent on the goal that is being played."""

    turns: dict[str, int] = field(default_factory=dict)
    """Role to its replies, without thoughts and without what calls brought."""
    messages: int = 0
    replies: int = 0
    """Of all roles."""
    calls: int = 0
    said: dict[str, tuple[Any, int]] = field(default_factory=dict)
    """Role to what it said last, and how many times in a row."""

    def note(self, role: str, told: str, reply: Reply, said: Sequence[Step]) -> None:
        """Keep what a role said, and how often in a row.

        Args:
            role: Who spoke.
            told: The instruction that it spoke to: to another one the same answer may be right.
            reply: What it replied.
            said: The steps of the reply.
        """
        calls = [(s.call.name, s.call.arguments, s.call.raw) for s in said if s.call is not None]
        signature = (told, reply.content, calls)
        last, times = self.said.get(role, (None, 0))
        self.said[role] = signature, times + 1 if last == signature else 1

    def repeats(self, role: str, limits: ChatLimits) -> bool:
        """Tell whether a role has said the same too often in a row."""
        _, times = self.said.get(role, (None, 0))
        return limits.repeats is not None and times >= limits.repeats

    def reached(
        self, limits: ChatLimits, role: str | None, usage: Usage, seconds: float
    ) -> StopReason | None:
        """Return the limit that ends the chat, of messages, turns, tokens and seconds.

        Args:
            limits: Budgets.
            role: Who would speak next.
            usage: Of the whole chat.
            seconds: Since it began.
        """
        if limits.max_messages is not None and self.messages >= limits.max_messages:
            return "max_messages"
        most = limits.max_turns * (1 if role == MANAGER else _OTHERS_TURNS)
        if role is not None and self.turns.get(role, 0) >= most:
            return "max_turns"
        if self.replies >= (limits.max_replies or _REPLIES_A_TURN * (limits.max_turns + 1)):
            return "max_turns"
        tokens = usage.tokens_in + usage.tokens_out
        if limits.max_tokens is not None and tokens > limits.max_tokens:
            return "max_tokens"
        late = limits.max_seconds is not None and seconds > limits.max_seconds
        return "max_seconds" if late else None


def instruction_to(role: str, lead: str, steps: Sequence[Step]) -> str:
    """Return what a role was told last, by the lead or, where it is the lead, by the user."""
    teller = USER if role == lead else lead
    told = (s for s in reversed(steps) if (s.author, s.recipient) == (teller, role))
    return next((step.content for step in told), "")


def vain_calls(steps: Sequence[Step]) -> int:
    """Return how many times in a row the user has called what it cannot call."""
    turns = set()
    for step in reversed(steps):
        succeeded = step.result is not None and step.result.error is None
        if {step.author, step.recipient} != {USER, EXECUTOR} or succeeded:
            break
        turns.add(step.turn)
    return len(turns) // 2  # each reply with calls has a turn, and so has its answer


# -- One chat about one task: what was said, who speaks next, and when it must end.
#
# Independent of AutoGen, which drives it (`seal.agents.group`): `open(role)` gives the role its
# view, `reply` lets its agent speak, `enter` records what was said, `next_role` says who follows.


@dataclass(frozen=True, slots=True)
class Services:
    """What the roles of one chat may use."""

    model: Callable[[str], ChatModel]
    """Role to its model."""
    environment: Environment
    retrieve: Callable[[Query, int], list[tuple[Tool, float]]]
    """(query, k) to at least k tools where there are so many, best first."""
    judge: Callable[[str, ChatModel, Goal, str, list[Step]], Verdict]
    """(role, its model, goal, answer, steps) to a verdict that knows no gold."""
    count: Callable[[str, str, Completion], None] = lambda role, model, answer: None
    """Told (role, model, answer) of what a role asked by itself."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Settings that concern the roles."""

    retrieve: Literal["once", "per-step", "on-demand"] = "once"
    top_k: int = 10
    temperature: float = 0.0
    seed: Callable[[str], int] = lambda role: 0
    """Role to its seed."""
    interactive_user: bool = False
    """True: the user answers although there is no brief, for a person or model plays it."""
    user_brief: Brief = WHOLE
    """Parts of the persona that the user is told."""
    speaker_selection: Literal["team", "auto"] = "team"
    """Who says who speaks after a text that names nobody: the team, or AutoGen by a model."""
    allow_code: Sequence[str] = ()
    """Modules that the user allows to run code of others."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What the team's roles find in `chat.options` besides: its options, and facts of the task."""


@dataclass(slots=True)
class Conversation:
    """The state of one chat.

    Args:
        task: What is played.
        trial: Number of the repetition, from 0.
        team: Who may sit and who follows whom.
        seats: Role to agent.
        services: Models, environment, retrieval, judge.
        limits: Budgets.
        options: Settings for the roles.
        user_tools: What the user may call besides the end of the conversation.
        goals: Positions of the goals to play, in order.
        history: Steps said before, such as the references of earlier goals.
        goal_tools: Position of a goal to the tools offered from its start on.
        on_step: Called with each step as it is recorded.
    """

    task: Task
    trial: int
    team: Team
    seats: dict[str, Agent]
    services: Services
    goal_tools: Mapping[int, Sequence[Tool]] = field(default_factory=dict)
    offers: Offers = field(default_factory=Offers)
    limits: ChatLimits = field(default_factory=ChatLimits)
    options: ChatOptions = field(default_factory=ChatOptions)
    user_tools: Sequence[Tool] = ()
    goals: Sequence[int] = (0,)
    history: Sequence[Step] = ()
    on_step: Callable[[Step], None] | None = None
    next_role: str | None = USER
    open_choice: bool = False
    """Whether what was said last is a text that names nobody: anybody may follow."""
    rankings: list[Ranking] = field(default_factory=list)
    steps: list[Step] = field(init=False)
    answers: list[str | None] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    offered: list[tuple[str, ...]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    states_after: dict[str, Tables] = field(default_factory=dict)
    """Id of a call, whose result is not yet recorded, to the world after it."""
    printed: list[JSON] = field(default_factory=list)
    """What roles printed: {step, role, text}, with the index of the first step of the reply."""
    caller: str = MANAGER
    """Role whose calls were made last."""
    own_models: dict[str, JSON] = field(default_factory=dict)
    """Role to the model that it asked by itself: a replay of the run cannot answer for it."""
    _turn: int = 0
    _spent: SpentOnGoal = field(default_factory=SpentOnGoal)
    _call_count: int = 0
    _state: Mapping[str, Any] = field(default_factory=dict)
    _started: float | None = None
    """When the first role began to speak: what the chat needs is loaded by then."""

    def __post_init__(self) -> None:
        """Begin with what was said before."""
        self.steps = list(self.history)
        self._turn = 1 + max((step.turn for step in self.steps), default=-1)
        self._call_count = sum(step.call is not None for step in self.steps)
        self._let_hear(self.steps)
        self._begin()

    @property
    def position(self) -> int:
        """Position of the goal that is being played."""
        return self.goals[min(len(self.stops), len(self.goals) - 1)]

    @property
    def goal(self) -> Goal:
        """The goal that is being played."""
        return self.task.goals[self.position]

    @property
    def conversing(self) -> bool:
        """True where the user answers."""
        return self.task.persona is not None or self.options.interactive_user

    @property
    def finished(self) -> bool:
        """True where no goal is left."""
        return len(self.stops) == len(self.goals)

    @property
    def begins(self) -> bool:
        """True where nothing was said yet about the goal that is being played."""
        own = len(self.steps) > len(self.history)
        return not own or self.steps[-1].goal != self.position

    @property
    def calls_made(self) -> int:
        """How many calls have an id in this chat, the history's too."""
        return self._call_count

    @property
    def pending(self) -> list[ToolCall]:
        """The calls of the last message, which the executor is to run."""
        return pending_calls(self.steps) if self.steps else []

    def open(self, role: str) -> View:
        """Return the chat as a role sees it that speaks now."""
        if self._started is None:
            self._started = time.monotonic()
        self._tell_events(role)
        return View(self, role)

    def enter(self, view: View, reply: Reply, open_end: bool = False) -> list[Step]:
        """Record what a role said, and decide who follows.

        Args:
            view: Of the role, as it was when the reply began.
            reply: What it said; `NOTHING` ends the chat about the goal.
            open_end: Whether somebody else says who follows (`hand_on`): where the team names
                nobody, the chat goes on.

        Returns:
            The steps of the reply, after those of the calls that the role ran within it.
        """
        role, first = view.role, view.first
        is_said = self.is_said(view, reply)
        self._note(view, len(self.steps) - (not is_said))
        self._spent.replies += 1
        calls = tuple(self._renumber(role, call) for call in reply.calls)
        is_last = view.left or reply is NOTHING
        follower = None if is_last else self._follower(role, reply)
        names_nobody = not (reply.next or reply.calls or reply.results)
        self.open_choice = names_nobody and follower is not None
        thought = follower == role
        is_turn = not (thought or reply.results)
        self._spent.turns[role] = self._spent.turns.get(role, 0) + is_turn
        listener = self.team.lead if role == USER else USER
        if is_said:
            self._record(role, follower or listener, reply, calls, view.asked)
        if calls:
            self.caller = role
            self._count(role, calls)
        said = self.steps[first:]
        left = view.left or (self._answered(reply) == USER and follower is None)
        if view.spent:
            self._end("max_calls")
        elif view.stop is not None:
            self._end(view.stop.reason, view.stop.error)
        elif follower is None and (left or reply.done or not open_end):
            self._end("user_ended" if USER in (role, self._answered(reply)) else "done")
        else:
            self.next_role = follower
            limit = self._limit(role, reply, said)
            if limit is not None:
                self._end(limit)
        return said

    def is_said(self, view: View, reply: Reply) -> bool:
        """Tell whether a reply has a step: that of a role which says nothing has the tokens alone.

        Args:
            view: Of the role.
            reply: What it said.
        """
        return reply is not NOTHING or view.asked != Stamp()

    def _note(self, view: View, last: int) -> None:
        """Keep what was printed beside the steps, of which `last` is the index of the last one."""
        for step, text in sorted(view.notes.items()):
            place = max(0, min(step, last))
            self.printed.append({"step": place, "role": view.role, "text": text})

    def hand_on(self, role: str | None) -> None:
        """Let another role speak next than the team says; None ends the chat about the goal.

        What was said last in words was said to that role.
        """
        if role is None:
            self._end("done")
            return
        turn = self.steps[-1].turn if len(self.steps) > len(self.history) else None
        for place in range(len(self.steps) - 1, -1, -1):
            step = self.steps[place]
            if step.turn != turn or step.call is not None or step.result is not None:
                break
            if step.goal == self.position:
                self.steps[place] = replace(step, recipient=role)
        self.next_role = role
        limit = self._spent.reached(self.limits, role, self.usage, self._seconds)
        if limit is not None:
            self._end(limit)

    def charge(self, usage: Usage) -> None:
        """Count tokens that the choice of the next speaker took, as those of what was said last."""
        if usage != Usage():
            self.usage = self.usage + usage
            last = self.steps[-1]
            self.steps[-1] = replace(last, usage=(last.usage or Usage()) + usage)

    def enter_calls(self, role: str, calls: Sequence[ToolCall], asked: Stamp) -> list[ToolCall]:
        """Record calls that a role makes within its reply.

        Args:
            role: Who calls.
            calls: As the role made them.
            asked: What models answered for the reply so far.

        Returns:
            The calls as they stand in the record.
        """
        self.states_after.clear()  # what the executor changed before shows on the calls' step
        made = [self._renumber(role, call) for call in calls]
        self._record(role, EXECUTOR, Reply(), made, asked)
        self._count(role, made)
        return made

    def enter_results(self, role: str, results: Sequence[ToolResult]) -> None:
        """Record what such calls brought, as the executor's answer to the role."""
        self._record(EXECUTOR, role, Reply(results=tuple(results)), (), Stamp())
        self._tell_events(role)

    def break_off(self, reason: StopReason) -> None:
        """End the chat about the goal where AutoGen has ended it, or whoever says who speaks."""
        self._end(reason)

    @property
    def overdrawn(self) -> bool:
        """True where more calls were made about the goal than the budget allows."""
        return self._spent.calls > self.limits.max_calls

    def _count(self, role: str, calls: Sequence[ToolCall]) -> None:
        self._spent.calls += len(calls) if role != USER else 0

    def reply(self, view: View) -> Reply:
        """Return what a role replies; `NOTHING` where it failed: `view.stop` says why.

        Raises:
            PluginError: What failed is none of the agent's roles, or a server that it asked.
        """
        role, reply = view.role, NOTHING
        with self.guarding(view):
            try:
                said = self.seats[role].reply(view)
            finally:
                view.close()
            reply = checked_reply(role, said, self.seats)
        if reply is NOTHING:
            return reply
        ended = ENDED.get(view.asked.finish_reason)
        if ended and role == USER:  # it says nothing about the model that is evaluated
            told = f"role {role!r}: its model's answer broke off: {ended}"
            raise PluginError(f"{told}. Another model may not: --role-model {role}=MODEL")
        view.stop = Stop(ended) if ended else None
        return checked_results(role, reply, view.executed, view.recorded)

    @contextmanager
    def guarding(self, view: View) -> Iterator[None]:
        """Let a failure of a role's code within the block end the chat: `view.stop` says why.

        Raises:
            PluginError: What failed is none of the agent's roles, or a server that it asked.
        """
        role, agent = view.role, self.seats[view.role]
        try:
            with within(self.seconds_left):
                yield
        except OverdueError:
            if self.own_seconds_left:  # it is the run's time that is up
                raise
            view.stop = Stop("max_seconds")
        except BaseException as error:  # a plug-in's fault costs its task alone, whatever it is
            if is_interrupt(error):
                raise
            refused = view.refused
            if refused is not None and refused.refusal and role != USER:  # whatever became of it
                view.stop = Stop(refused.refusal, str(refused))
            elif isinstance(error, SealError) and (not is_own(agent) or is_of_the_chat(error)):
                raise
            elif view.spent:  # it wraps our CallsSpentError, or broke on a refused call
                return
            elif role in (USER, EXECUTOR) or not is_own(agent) or is_outage(error):
                raise PluginError(f"role {role!r}: {fault(error)}") from error
            else:
                view.stop = Stop("crashed", f"role {role!r}: {crash(error)}")

    def fail(self, error: str) -> None:
        """End everything: the infrastructure failed."""
        while not self.finished:
            self._end("error", error)

    def trajectory(self) -> Trajectory:
        """Return what was said and done, without the history; its numbers go on from there."""
        return Trajectory(
            self.task.id,
            self.trial,
            tuple(self.steps[len(self.history) :]),
            tuple(self.rankings),
            tuple(self.offered),
            tuple(self.stops),
            tuple(self.answers),
            {
                **({"printed": self.printed} if self.printed else {}),
                **({"own_models": dict(self.own_models)} if self.own_models else {}),
            },
        )

    def _follower(self, role: str, reply: Reply) -> str | None:
        if self.team.one_reply and role == self.team.lead and reply.next != role:
            return None
        if self._answered(reply) == USER:
            ends = {call.id for call in self.pending if call.tool == END.id}
            left = any(one.call_id in ends and one.error is None for one in reply.results)
            return None if left else USER
        return self.team.next(role, reply, self.caller, self.seats.keys(), self.conversing)

    def _answered(self, reply: Reply) -> str | None:
        """Return the role whose calls a reply answers; None where it brings no results."""
        return self.caller if reply.results else None

    def _renumber(self, role: str, call: ToolCall) -> ToolCall:
        call_id = f"call_{self._call_count}"
        self._call_count += 1
        if role == USER:
            return resolved(call, call_id, self.user_tools)
        return self.offers.resolve(call, call_id)

    def _let_hear(self, said: Sequence[Step]) -> None:
        """Tell the environment what was said, where it must know."""
        environment = self.services.environment
        if hasattr(environment, "hear"):
            for step in said:
                environment.hear(step)

    def _tell_events(self, role: str) -> None:
        """Tell the lead, before it speaks, what has happened in the world by itself."""
        environment = self.services.environment
        if role == self.team.lead and hasattr(environment, "events"):
            for text in environment.events():
                self._record(EXECUTOR, role, Reply(text), (), Stamp())

    def _record(
        self, role: str, recipient: str, reply: Reply, calls: Sequence[ToolCall], asked: Stamp
    ) -> None:
        environment = self.services.environment
        if takes_turn(role, recipient) and hasattr(environment, "tick"):
            environment.tick()
        first = len(self.steps)
        position = self.position

        def add(
            content: str, call: ToolCall | None = None, result: ToolResult | None = None
        ) -> None:
            index = len(self.steps)
            self.steps.append(
                Step(index, role, recipient, content, call, result, self._turn, position)
            )

        for number, call in enumerate(calls):
            add("" if number else reply.content, call=call)
        for result in reply.results:
            add(result.content, result=result)
        if not calls and not reply.results:
            add(reply.content)
        if {role, recipient} & {USER, EXECUTOR}:
            self._spent.messages += len(self.steps) - first
        self._stamp(first, asked)
        self._turn += 1
        self._let_hear(self.steps[first:])
        if self.on_step is not None:
            for step in self.steps[first:]:
                self.on_step(step)

    def _stamp(self, first: int, asked: Stamp) -> None:
        """Put what models answered on the first step, what changed in the world on the steps."""
        if asked != Stamp():
            self.usage = self.usage + asked.usage
            self.steps[first] = replace(
                self.steps[first],
                usage=None if asked.usage == Usage() else asked.usage,
                finish_reason=asked.finish_reason,
                reasoning=asked.reasoning,
            )
        latest = first
        for place in range(first, len(self.steps)):
            result = self.steps[place].result
            if result is not None and result.call_id in self.states_after:
                self._show(place, self.states_after.pop(result.call_id))
                latest = place
        now = self.services.environment.states()
        if now:
            self._show(latest, now[-1])

    def _show(self, place: int, state: Tables) -> None:
        """Put the tables of a world that differ from those shown before on a step."""
        shown = self._state
        changed = {
            name: rows
            for name, rows in state.items()
            if rows is not shown.get(name) and rows != shown.get(name)
        }
        self._state = state
        if changed:
            self.steps[place] = replace(self.steps[place], state=changed)

    def _limit(self, role: str, reply: Reply, said: Sequence[Step]) -> StopReason | None:
        limits, spent = self.limits, self._spent
        if role in (MANAGER, self.team.lead):
            spent.note(role, instruction_to(role, self.team.lead, self.steps), reply, said)
        in_vain = role == EXECUTOR and vain_calls(self.steps) >= (limits.repeats or math.inf)
        if spent.repeats(role, limits) or in_vain:
            return "repeated"
        if self.overdrawn:
            return "max_calls"
        return spent.reached(limits, self.next_role, self.usage, self._seconds)

    @property
    def seconds_left(self) -> float | None:
        """How long the chat may still last; None: there is no limit."""
        left = min(self.own_seconds_left, seconds_left())
        return None if left == math.inf else left

    @property
    def own_seconds_left(self) -> float:
        """How long the chat may still last by its own limit alone."""
        most = self.limits.max_seconds
        return math.inf if most is None else max(0.0, most - self._seconds)

    @property
    def _seconds(self) -> float:
        return 0.0 if self._started is None else time.monotonic() - self._started

    def _end(self, reason: StopReason, error: str | None = None) -> None:
        """End the chat about this goal; the user speaks the next one where there is one."""
        position = self.position
        complete = reason in ("done", "user_ended")
        self.answers.append(self._answer(position) if complete else None)
        self.offered.append(tuple(tool.id for tool in self.offers.tools))
        if reason != "error":
            self._note_no_search(position)
        self.stops.append(Stop(reason, error))
        self._spent = SpentOnGoal()
        self.next_role = None if self.finished else USER
        if not self.finished:
            self._begin()

    def _begin(self) -> None:
        """Offer what the goal has, and tell the environment of it."""
        environment = self.services.environment
        if hasattr(environment, "begin"):
            environment.begin(self.position)
        users = {tool.id for tool in self.user_tools}
        given = self.goal_tools.get(self.position, ())
        self.offers.add(tool for tool in given if tool.id not in users)
        if self.options.retrieve == "on-demand":
            self.offers.add([FIND_TOOLS])

    def _note_no_search(self, goal: int) -> None:
        """Record an empty ranking where the chat was to retrieve and did not: it found nothing."""
        searched = any(ranking.goal == goal for ranking in self.rankings)
        given = self.goal_tools.get(goal)
        if self.options.retrieve != "once" and not searched and not given:
            self.rankings.append(Ranking(self.task.id, goal, "", ()))

    def _answer(self, goal: int) -> str | None:
        """Return the last text of the agent to the user or the checker; None where it is empty."""
        outside = (USER, CHECKER)
        said = (
            step.content
            for step in reversed(self.steps)
            if step.goal == goal
            and step.call is None
            and step.result is None
            and step.recipient in outside
            and step.author not in outside
        )
        last = next(said, "")
        return last if last.strip() else None

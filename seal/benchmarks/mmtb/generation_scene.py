"""What is known, decided and done in a mission; where values come from; checks of dialogues."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from seal.agents import build_agent
from seal.agents.autogen import play
from seal.agents.conversation import Conversation, Services
from seal.agents.teams import DIRECT
from seal.benchmarks.mmtb.dialogues import Mission, MissionType
from seal.core import (
    JSON,
    Chat,
    DataError,
    Goal,
    Milestone,
    Plan,
    Simulator,
    SimulatorError,
    Task,
    Tool,
    ToolCall,
    Verdict,
    levels,
    located,
    shortened,
)
from seal.core.conditions import AGENT, USER, Asked, Called, party
from seal.core.quantities import MONTHS, numbers
from seal.core.statements import Sense, states
from seal.core.text import shipped_words
from seal.core.validation import CallValidator
from seal.core.values import equal
from seal.environments.replay import Replay
from seal.evaluation.mission_gold import ANSWER
from seal.evaluation.missions import Missions
from seal.models.oracle import Oracle
from seal.pools.reading.files import expect, field_of, json_of_text, refuse_deep
from seal.simulator_cache.simulators import SimulatedEnvironments

# -- What the roles of a generation chat know, say and decide, whoever plays them.
#
# The planner says as JSON whether the mission is done, and what is called next:
#
#     {"Mission_Finish": "yes" | "no", "Thought": ..., "Plan": ...,
#      "Action_List": [{"name": ..., "arguments": {...}, "tool_call_purpose": ...}]}
#
# Source: "Multi-Mission Tool Bench" (2025), section 3 and the framework of five roles, whose
# planner speaks this form.

Relation = Literal["implicit", "ellipsis", "memory"]

ASKED_TOOL = "tool_name"
"""Argument of a question: the tool that cannot be called yet."""
MISSING = "missing_required_parameters"
"""Argument of a question: what the tool still needs."""
ANSWER_TYPE = "answer_type"
"""Argument of the final answer: `tool` after calls, `chat` without any."""
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)
PLANNER = "planner"
AGENT_ROLE = "agent"
ACCEPTED = "correct"
"""What the checker says if no rule is broken."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One mission that is to be made: what is fixed before anybody speaks."""

    dialogue: str
    """Id of the dialogue."""
    number: int
    """Position of the mission, from 0."""
    kind: MissionType
    relation: Relation | None
    """How it leans on earlier missions; None for the first. `memory` only from the third on."""
    date: str
    """Today in the dialogue, in words."""
    language: str
    """en or zh."""
    seed: int
    """Of this mission alone."""


@dataclass(frozen=True, slots=True)
class Action:
    """One call that the planner wants, of a tool or of a pseudo tool."""

    name: str
    arguments: dict[str, JSON]
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the planner says."""

    finished: bool
    thought: str
    plan: str
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """Calls made at once, with what they brought."""

    actions: tuple[Action, ...]
    observations: tuple[JSON, ...]
    """As many as actions, in their order."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question of the agent, with the user's answer."""

    asked: Action
    """The pseudo tool that the planner called."""
    question: str
    answer: str
    """Empty until the user has spoken."""


class Done(NamedTuple):
    """A call or a question that was done: a node of the gold."""

    action: Action
    observation: JSON
    """What the call brought; of a question its words."""
    answer: str
    """To a question."""
    moment: int
    """Position of its event: calls of one round share it."""
    is_question: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A generation chat as its roles see it."""

    assignment: Assignment
    tools: Mapping[str, Tool]
    """Offered tools by name, without the pseudo tools."""
    past: tuple[Mission, ...]
    """The dialogue's finished missions."""
    request: str = ""
    """The mission in the user's words; empty until the user has spoken."""
    events: tuple[Round | Exchange, ...] = ()
    """What was done since, in order."""
    rejections: tuple[str, ...] = ()
    """What the checker said of the planner's last tries, since the last event."""

    @property
    def done(self) -> list[Done]:
        """Each call and each question, in order."""
        found = []
        for moment, event in enumerate(self.events):
            if isinstance(event, Exchange):
                found.append(Done(event.asked, event.question, event.answer, moment, True))
            else:
                made = zip(event.actions, event.observations, strict=True)
                found += [Done(action, brought, "", moment, False) for action, brought in made]
        return found

    @property
    def calls(self) -> list[Done]:
        """The calls alone."""
        return [done for done in self.done if not done.is_question]

    @property
    def questions(self) -> list[Done]:
        """The questions alone."""
        return [done for done in self.done if done.is_question]


class Speakers(Protocol):
    """Those who think: the user, the planner and the agent.

    Each method says what one role says now. `chat` gives a model's calls (`chat.complete`);
    speakers that ask no model ignore it. Equal scenes give equal words.
    """

    def candidates(self, scene: Scene, chat: Chat) -> Sequence[str]:
        """Return wordings of the mission; the first is taken unless a person chooses."""
        ...

    def decide(self, scene: Scene, chat: Chat) -> str:
        """Return the planner's decision as JSON text, as the checker will read it."""
        ...

    def ask(self, scene: Scene, action: Action, chat: Chat) -> str:
        """Return the agent's question for what is missing."""
        ...

    def answer(self, scene: Scene, question: str, chat: Chat) -> str:
        """Return the user's answer to a question."""
        ...

    def reply(self, scene: Scene, chat: Chat) -> str:
        """Return the agent's last text of the mission: a summary of results, or a chat's answer."""
        ...


@runtime_checkable
class ChoosesTools(Protocol):
    """Speakers who say which tools a dialogue offers; for others they are drawn."""

    def choose_tools(
        self, assignments: Sequence[Assignment], tools: Sequence[Tool]
    ) -> Sequence[Tool]:
        """Return the tools of a dialogue, of no two names alike.

        Args:
            assignments: The dialogue's missions.
            tools: The pool.
        """
        ...


def final_answer(kind: Literal["tool", "chat"]) -> Action:
    """Return the action that ends a mission."""
    return Action(ANSWER, {ANSWER_TYPE: kind})


def read_decision(text: str) -> Decision:
    """Return the decision that a JSON text holds; a code fence around it does not matter.

    Raises:
        DataError: It is no JSON, or a field is missing or malformed.
    """
    record = json_object(text)
    finished = field_of(record, "Mission_Finish", str).strip().lower()
    if finished not in ("yes", "no"):
        raise DataError(f"Mission_Finish: expected yes or no, got {shortened(finished)}")
    given = field_of(record, "Action_List", list)
    thought, plan = field_of(record, "Thought", str), field_of(record, "Plan", str)
    actions = []
    for position, action in enumerate(given):
        with located(f"Action_List.{position}"):
            name, arguments = field_of(action, "name", str), field_of(action, "arguments", dict)
        purpose = action.get("tool_call_purpose")
        actions.append(Action(name, arguments, purpose if isinstance(purpose, str) else ""))
    return Decision(finished == "yes", thought, plan, tuple(actions))


def json_object(text: str) -> dict[str, JSON]:
    """Return the JSON object that a model wrote; a code fence around it does not matter.

    Raises:
        DataError: It is none.
    """
    fenced = _FENCE.fullmatch(text)
    try:
        value = json_of_text(fenced[1] if fenced else text)
    except ValueError as error:
        raise DataError(f"expected one JSON object, got {shortened(text)}") from error
    found = expect(value, dict, what="one JSON object")
    refuse_deep(found)
    return found


@dataclass(slots=True)
class Played:
    """A mission as far as it was played; the seats of its chat share it."""

    scene: Scene
    decision: Decision | None = None
    """The planner's last one, where it could be read."""
    refused: tuple[str, ...] = ()
    """All that the checker sent back, whatever came of it."""
    reply: str = ""
    """The agent's last text; empty until it is spoken."""

    def happened(self, *events: Round | Exchange) -> None:
        """Note what was done so far; the planner's tries before it are done with."""
        self.scene = replace(self.scene, events=events, rejections=())

    def refuse(self, verdict: str) -> None:
        """Note what the checker sends back."""
        self.scene = replace(self.scene, rejections=(*self.scene.rejections, verdict))
        self.refused = (*self.refused, verdict)


# -- Values by whose recurrence one tells where something was taken from.

Leaf = str | float

_WITH_DIGIT = re.compile(r"\b\w*\d\w*")


def leaves(value: Any) -> Iterator[Leaf]:
    """Yield the texts and numbers that a value holds and that are evidence where they recur."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str):
        if len(value.strip()) > 1:
            yield value
            yield from (
                code for code in _WITH_DIGIT.findall(value) if len(code) > 2 and code != value
            )
    elif isinstance(value, (int, float)) and value not in (0, 1):  # True and False are 1 and 0
        with suppress(OverflowError):  # what no float holds, nobody repeats
            yield float(value)


class Heard:
    """What some texts say.

    Args:
        texts: In any order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._numbers = set().union(*map(numbers, self._texts))
        self._codes = {*leaves(self._texts)}

    def has(self, leaf: Leaf) -> bool:
        """Tell whether a text says a value: a number, a word with a digit, or a text (`states`)."""
        if isinstance(leaf, float):
            return Decimal(repr(leaf)) in self._numbers
        return leaf in self._codes or any(states(text, leaf) for text in self._texts)


# -- What the texts of missions say, and which values of their gold come from nowhere else.
#
# The order of a finished mission's calls is inferred from where their values come from:
#
# - A call comes after an earlier one whose result holds one of its argument values, if the value
#   can come from nowhere else. So nobody said it before, no result of an earlier mission holds it,
#   and the earlier call was not itself given it. If several calls brought a value, it comes from
#   the first.
# - A call with an argument that the user was asked for comes after the question, and a question
#   after earlier ones about the same tool.
#
# A mission leans on earlier ones by values of its gold that only they say. A value is said where a
# text states it (`seal.core.statements`), of a day also as `18 May` or by its weekday. Of an
# agent's reply, names and numbers are evidence. In a chat without calls its rarer words are too.
#
# Truth values, texts of one letter and whole numbers up to 31 are never evidence: they recur by
# chance, and people say them in words.

_COUNTS = 31
"""Whole numbers up to this one are counts, days and hours, not evidence."""

_NAME = re.compile(r"(?<=[\w,;:(\"'] )[A-Z][\w-]+|\b\w*\d[\w.,:-]*\b|\"[^\"]+\"")
_TOLD_DAY = re.compile(r"\b\d{1,2} [A-Z][a-z]+\b")
_WORD = re.compile(r"\w+")
_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b(?!T)")


def edges(scene: Scene) -> tuple[tuple[int, ...], ...]:
    """Return for each node of a finished mission the positions of those that it comes after.

    Args:
        scene: With all its events. Its nodes are one for each question and each call, in order.

    Returns:
        One entry a node, ascending positions; the closing answer is no node here.
    """
    nodes = scene.done
    news: list[set[Leaf]] = []
    """What each call brought that it was not given."""
    for node in nodes:
        given = () if node.is_question else leaves(node.observation)
        news.append({*given} - {*leaves(node.action.arguments)})
    texts = [*(text for mission in scene.past for text in texts_of(mission)), scene.request]
    texts += [asked.answer for asked in scene.questions]
    heard = Heard(texts)
    earlier_nodes = (node for mission in scene.past for node in mission.nodes)
    known = {leaf for node in earlier_nodes for leaf in leaves(node.observation)}

    def is_evidence(leaf: Leaf) -> bool:
        return not (leaf in known or _is_count(leaf) or heard.has(leaf))

    found = []
    for node in nodes:
        earlier = [(n, other) for n, other in enumerate(nodes) if other.moment < node.moment]
        after = {n for n, other in earlier if other.is_question and _answers(other, node)}
        for value in () if node.is_question else node.action.arguments.values():
            held = {leaf for leaf in leaves(value) if is_evidence(leaf)}
            for n, _ in earlier:
                if held & news[n]:
                    after.add(n)
                    held -= news[n]
        found.append(tuple(sorted(after)))
    return tuple(found)


def texts_of(mission: Mission) -> list[str]:
    """Return every text of a mission, in order."""
    if mission.said:
        told = [said.text for said in mission.said]
    else:
        closing = mission.nodes[-1].observation if mission.nodes else None
        told = [node.user_input for node in mission.nodes]
        told.append(closing if isinstance(closing, str) else "")
    return [*(said.text for said in mission.before), mission.text, *told]


def _answers(question: Done, node: Done) -> bool:
    """Tell whether a node needs the answer to a question."""
    about = question.action.arguments
    if node.is_question:
        return bool(about.get(ASKED_TOOL) == node.action.arguments.get(ASKED_TOOL))
    missing = about.get(MISSING)
    asked = missing if isinstance(missing, list) else []
    needs = any(name in node.action.arguments for name in asked)
    return needs and about.get(ASKED_TOOL) == node.action.name


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a mission, and before it."""

    request: str
    answers: tuple[str, ...]
    """What the user answers to questions."""
    earlier: tuple[tuple[str, ...], ...]
    """Texts of each earlier mission."""
    reply: str
    """The golden one."""
    today: date | None

    @property
    def own(self) -> tuple[str, ...]:
        """What the user says in the mission itself."""
        return (self.request, *self.answers)

    @property
    def texts(self) -> tuple[str, ...]:
        """What is said in earlier missions."""
        return tuple(text for mission in self.earlier for text in mission)

    def states(self, value: Leaf, texts: Sequence[str]) -> bool:
        """Tell whether one of some texts says a value, a day also as it is spoken of today."""
        day = day_of(value) if isinstance(value, str) else None
        told = value if day is None else day.isoformat() if self.today else day_name(day)
        return any(states(text, told, Sense(today=self.today)) for text in texts)


def said_of(task: Task, number: int) -> Said:
    """Return what is said of a task's mission, and before it."""
    replies = (task.persona or {}).get("replies") or [[]] * len(task.goals)
    goal = task.goals[number]
    texts = [tuple(_texts(earlier)) for earlier in task.goals[:number]]
    spoken = [
        step.content for step in goal.reference if party(step.author) == AGENT and step.content
    ]
    dates = [step.content for step in task.before]
    dates += [text for author, text in goal.labels.get("before", ()) if author == "system"]
    today = next((day for text in dates if (day := day_of(text)) is not None), None)
    return Said(
        goal.text, tuple(replies[number]), tuple(texts), spoken[-1] if spoken else "", today
    )


def leans(goal: Goal, said: Said, far: bool = False) -> bool:
    """Tell whether a mission needs something that earlier missions alone say.

    Args:
        goal: The mission.
        said: Of it, and before it.
        far: What is needed is not said by the mission right before it either.
    """
    texts = said.texts
    last = said.earlier[-1] if far else ()
    near = (*said.own, *last)
    for value in (value for called in _calls(goal) for value in _values(called)):
        if not said.states(value, near) and said.states(value, texts):
            return True
    known, before = "\n".join(near).casefold(), "\n".join(texts).casefold()
    telling = [*_names(said.reply), *(() if any(_calls(goal)) else _words(said.reply))]
    return any(part not in known and part in before for part in telling)


def lacks(goal: Goal, said: Said, tools: Mapping[str, Tool]) -> bool:
    """Tell whether the request of a mission with a question lacks a value that is required.

    Args:
        goal: The mission.
        said: Of it, and before it.
        tools: By id.
    """
    before = (said.request, *said.texts)
    return any(
        _is_count(leaf) or not said.states(leaf, before)
        for called in _calls(goal)
        for name, argument in (called.arguments or {}).items()
        if name in tools[called.tool].parameters.get("required", [])
        for leaf in _parts(argument.listed[0])
    )


def told_before(goal: Goal, said: Said) -> list[Leaf]:
    """Return the values that the user of a mission with a question answers, though said before."""
    before = (said.request, *said.texts)
    values = (value for called in _calls(goal) for value in _values(called))
    return [v for v in values if said.states(v, said.answers) and said.states(v, before)]


def _texts(goal: Goal) -> Iterator[str]:
    yield goal.text
    for step in goal.reference:
        speaks = party(step.author) == AGENT or step.author == USER
        if speaks and step.content and step.call is None and step.result is None:
            yield step.content


def _calls(goal: Goal) -> Iterator[Called]:
    for plan in goal.plans or ():
        yield from plan.calls()


def _values(called: Called) -> Iterator[Leaf]:
    """Yield the values of a call that are evidence."""
    for argument in (called.arguments or {}).values():
        yield from (leaf for leaf in _parts(argument.listed[0]) if not _is_count(leaf))


def _is_count(leaf: Leaf) -> bool:
    return isinstance(leaf, float) and leaf.is_integer() and abs(leaf) <= _COUNTS


def _parts(value: JSON) -> Iterator[Leaf]:
    """Yield the texts and numbers of an argument, day and time apart, each whole."""
    for leaf in leaves(value if not isinstance(value, str) else [value]):
        if isinstance(leaf, float):
            yield leaf
        elif leaf == value or not isinstance(value, str):
            yield from leaf.split("T") if day_of(leaf.partition("T")[0]) else (leaf,)


def _names(reply: str) -> Iterator[str]:
    """Yield the names and numbers of a reply in lower case."""
    for found in [*_NAME.findall(reply), *_TOLD_DAY.findall(reply)]:
        if len(found) > 2:
            yield found.strip('"').casefold()


def _words(reply: str) -> Iterator[str]:
    """Yield what of a reply is no coincidence, in lower case: its rarer words."""
    common = shipped_words(__package__, "common_words.txt")
    for found in _WORD.findall(reply.casefold()):
        if len(found) > 3 and found not in common:
            yield found


def day_name(day: date) -> str:
    """Return a day as it is told: `18 May`."""
    return f"{day.day} {MONTHS[day.month - 1].title()}"


def day_of(text: str) -> date | None:
    """Return the first day that a text holds as YYYY-MM-DD; None: there is none."""
    for found in _DAY.finditer(text):
        try:
            return date.fromisoformat(found[0])
        except ValueError:
            continue
    return None


# -- Machine checks of a finished dialogue: what a set of missions is worth is decided here.
#
# - `unknown_tool`, `invalid_call`: a gold call names no tool of the pool or of the dialogue, or its
#   arguments do not fit the schema.
# - `cyclic_dependencies`: the gold is no partial order.
# - `another_observation`: the run's simulator answers a gold call otherwise, or not at all.
# - `unsolved`: the oracle, playing the whole dialogue in the replay, does not get 1.0 for a
#   mission.
# - `nothing_missing`, `said_before`: a question asks for what the user had said.
# - `leans_on_nothing`: a mission that was to lean on earlier ones needs nothing of them.


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a dialogue, for which it is dropped."""

    mission: int
    """Position of the mission."""
    reason: str
    """Name of a rule, or one that `seal.benchmarks.mmtb.generation_scene` has, or
    `no_request`, `no_answer`, `no_question`, `no_reply`, `too_long`, `unusable_words`."""
    text: str


class Validation:
    """Checks dialogues. Safe in threads where the simulator is.

    Args:
        tools: Of the pool, by id.
        simulator: Answered the gold calls.
    """

    def __init__(self, tools: Mapping[str, Tool], simulator: Simulator) -> None:
        self._tools = tools
        self._validator = CallValidator(tools)
        self._environments = SimulatedEnvironments(simulator, tools)

    def faults(self, task: Task) -> list[Fault]:
        """Return what is wrong with a generated dialogue; empty: it is valid.

        Args:
            task: As `seal.benchmarks.mmtb.importer` makes it.

        Raises:
            InfrastructureError: The simulator's server or store failed, so that nothing is known.
        """
        found = [fault for n, goal in enumerate(task.goals) for fault in self._of_gold(n, goal)]
        if found:
            return found
        for number, goal in enumerate(task.goals):
            found += self._of_results(task, number, goal)
            found += self._of_words(task, number)
        return found or self._unsolved(task)

    def _of_gold(self, number: int, goal: Goal) -> Iterator[Fault]:
        """Yield what is wrong with the gold as it stands."""
        plan = _plan(goal)
        if not plan.milestones:
            yield Fault(number, "empty_mission", "the mission has no gold step")
        try:
            levels([milestone.after for milestone in plan.milestones])
        except DataError as error:
            yield Fault(number, "cyclic_dependencies", str(error))
        for called in plan.calls():
            if called.tool not in self._tools or called.tool not in (goal.offered or ()):
                yield Fault(number, "unknown_tool", f"{called.tool} is not offered")
        for _, call in self._calls(plan):
            wrong = self._validator.check(call)
            if wrong is not None:
                yield Fault(number, "invalid_call", f"{call.name}: {wrong.message}")

    def _of_results(self, task: Task, number: int, goal: Goal) -> Iterator[Fault]:
        """Yield the gold calls that the simulator answers otherwise."""
        environment = self._environments.open(task, 0)
        for milestone, call in self._calls(_plan(goal)):
            try:
                (result,) = environment.call([call])
            except SimulatorError as error:
                yield Fault(number, "another_observation", f"{call.name}: {error}")
                continue
            if not equal(result.value, milestone.result):
                text = f"{call.name} with {call.arguments} is answered otherwise"
                yield Fault(number, "another_observation", text)

    def _calls(self, plan: Plan) -> Iterator[tuple[Milestone, ToolCall]]:
        """Yield the gold steps that are calls, each with its call, optional arguments and all."""
        for position, milestone in enumerate(plan.milestones):
            called = milestone.condition
            if isinstance(called, Called) and called.tool in self._tools:
                tool = self._tools[called.tool]
                given = (called.arguments or {}).items()
                values = {name: argument.listed[0] for name, argument in given}
                yield milestone, ToolCall(f"call_{position}", tool.name, values, tool=tool.id)

    def _of_words(self, task: Task, number: int) -> Iterator[Fault]:
        """Yield what a mission's words do not bear out."""
        goal, said = task.goals[number], said_of(task, number)
        if any(isinstance(milestone.condition, Asked) for milestone in _plan(goal).milestones):
            if not lacks(goal, said, self._tools):
                yield Fault(number, "nothing_missing", "the request says all that is required")
            for value in told_before(goal, said):
                text = f"the user is asked for {value!r}, which was said"
                yield Fault(number, "said_before", text)
        relation = goal.labels.get("relation")
        if relation and not leans(goal, said, relation == "memory"):
            text = f"by {relation} it should lean on earlier missions, but it needs nothing of them"
            yield Fault(number, "leans_on_nothing", text)

    def _unsolved(self, task: Task) -> list[Fault]:
        """Return where the oracle fails that plays the missions, each after its own former ones."""
        oracle = Oracle().open(task, 0)
        team = DIRECT.seat(USER, "scripted")
        services = Services(
            model=lambda role: oracle,
            environment=Replay(task),
            retrieve=lambda query, k: [],
            judge=lambda role, model, goal, answer, steps: Verdict("unsure"),
        )
        goals = tuple(range(len(task.goals)))
        chat = Conversation(
            task,
            0,
            team,
            {role: build_agent(agent) for role, agent in team.roles.items()},
            services,
            {n: [self._tools[own] for own in task.goals[n].offered or ()] for n in goals},
            goals=goals,
            history=task.history,
        )
        play(chat)
        return [
            Fault(score.goal or 0, "unsolved", f"the oracle gets {score.value}: {score.reason}")
            for score in Missions().score(task, chat.trajectory(), self._tools)
            if score.metric == "mission_accuracy" and score.value != 1.0
        ]


def _plan(goal: Goal) -> Plan:
    return goal.plans[0] if goal.plans else Plan()

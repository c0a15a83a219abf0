"""Who writes a mission: user, planner, tool, agent and checker, with their prompts and rules."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from string import Template

from seal.agents.autogen import play
from seal.agents.conversation import ChatLimits, ChatOptions, Conversation, Services
from seal.agents.replies import Offers
from seal.agents.roles import pending_calls
from seal.agents.teams import CHECKER, EXECUTOR, USER, Team
from seal.benchmarks.mmtb.dialogues import Dialogue, Mission, Node, Said
from seal.benchmarks.mmtb.generation_scene import (
    ACCEPTED,
    AGENT_ROLE,
    ANSWER_TYPE,
    ASKED_TOOL,
    MISSING,
    PLANNER,
    Action,
    Assignment,
    Decision,
    Exchange,
    Fault,
    Played,
    Round,
    Scene,
    Speakers,
    edges,
    final_answer,
    json_object,
    leaves,
    read_decision,
)
from seal.benchmarks.mmtb.importer import make_task
from seal.core import (
    JSON,
    Agent,
    Chat,
    ChatModel,
    DataError,
    Goal,
    InfrastructureError,
    Message,
    Reply,
    SimulatorError,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Verdict,
)
from seal.core.environment import EnvironmentFactory
from seal.core.text import shipped_json, shipped_text, shipped_texts
from seal.core.validation import CallValidator
from seal.core.values import derive_seed, digest, json_text
from seal.evaluation.mission_gold import ANSWER, ASK, PSEUDO

# -- The five roles of a generation chat, seated as agents; one chat makes one mission.
#
#     user -> planner -> checker -> agent -> user | executor -> checker -> planner
#
# The user and the agent alone talk to each other. The planner's decisions and the results of calls
# go through the checker. It sends back what breaks a rule, and ends the chat after `TRIES` of them.
# What user, planner and agent say comes from a model (`ModelSpeakers`), what the executor brings
# from a simulator.
#
# Each rule that is broken gives a rejection, whose text goes back to the planner. All are checked
# by code, so that equal decisions get equal answers.
#
# Source: "Multi-Mission Tool Bench" (2025), whose checker asks a language model whether several
# calls depend on each other. Here, of calls at once, none may name another or leave a value open:
# what cannot be known before another call's result stands in no such call. Unlike there, values
# must fit their schema, and a mission must be of the type that it was to be.

TRIES = 3
"""Decisions in a row that the checker sends back, or whose results it does, before the end."""

Choose = Callable[[Scene, Sequence[str]], str]
"""From the wordings of a mission to the one that the user speaks; empty: none."""

ANOTHER_TYPE = "another_type"
"""Rule whose breach ends the mission at once: the request is of another type than wanted."""
_BACKSTAGE = re.compile(rf"simulat\w*|\bchecker\b|{ASK}|{ANSWER}|模拟|检查员", re.IGNORECASE)
_OPEN = re.compile(r"<[^<>]+>|\{\{.{0,200}\}\}|\$\{.{0,200}\}|\[[A-Z_ ]{3,}\]|\.\.\.|TBD|待定")
"""Texts that stand for values to come."""
_NUMBER = r"(?:\d{1,9}|two|three|four|five|six|seven|eight|nine|ten|several)"
_BESIDE = r"\W{1,9}(?:\w{1,40}\W{1,9})?"
_IN_TURN = re.compile(
    rf"serial(?:ly)?{_BESIDE}{_NUMBER}\s{{1,9}}times|{_NUMBER}\s{{1,9}}times{_BESIDE}serial"
    r"|串行[^,，。.]{0,12}?[两二三四五六七八九十\d]+次",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Seat:
    """What a role of the chat about one mission works with."""

    played: Played
    """The mission as far as it was played."""
    speakers: Speakers
    """Say what user, planner and agent say."""
    choose: Choose
    """Which wording the user speaks."""
    validator: CallValidator
    """Over the scene's tools."""


class User(_Seat):
    """Speaks the mission, then answers what it is asked."""

    def reply(self, chat: Chat) -> Reply:
        """Return a wording of the mission, or an answer; no word ends the chat."""
        scene = self.played.scene
        asked = scene.events[-1] if scene.events else None
        if isinstance(asked, Exchange):
            said = self.speakers.answer(scene, asked.question, chat).strip()
            self.played.happened(*scene.events[:-1], replace(asked, answer=said))
        else:
            said = self.choose(scene, self.speakers.candidates(scene, chat)).strip()
            self.played.scene = replace(scene, request=said)
        return Reply(said, done=not said)


class Planner(_Seat):
    """Decides what is called next."""

    def reply(self, chat: Chat) -> Reply:
        """Return the decision, as it was written."""
        said = self.speakers.decide(self.played.scene, chat)
        self.played.decision = None
        with suppress(DataError):
            self.played.decision = read_decision(said)
        return Reply(said)


class Checker(_Seat):
    """Lets through what breaks no rule, and sends the rest back to the planner."""

    def reply(self, chat: Chat) -> Reply:
        """Return the verdict on a decision, or on the results of its calls."""
        last, scene, decision = chat.steps[-1], self.played.scene, self.played.decision
        results = [s.result for s in chat.steps if s.turn == last.turn and s.result is not None]
        if results:
            calls = sum(s.turn == last.turn - 1 and s.call is not None for s in chat.steps)
            found = check_results(calls, results)
        else:
            found = check_decision(last.content, scene, self.validator)
        if found:
            ends = len(scene.rejections) + 1 >= TRIES
            ends = ends or any(rejection.rule == ANOTHER_TYPE for rejection in found)
            verdict = "\n".join(map(str, found))
            self.played.refuse(verdict)
            return Reply(verdict, next=PLANNER, done=ends)
        if results and decision is not None:
            brought = tuple(result.value for result in results)
            self.played.happened(*scene.events, Round(decision.actions, brought))
        return Reply(ACCEPTED, next=PLANNER if results else AGENT_ROLE)


class Speaker(_Seat):
    """The agent: asks, calls, or ends the mission, as was decided."""

    def reply(self, chat: Chat) -> Reply:
        """Return a question, calls, or the last text; the chat ends with no word or the last."""
        scene, decision = self.played.scene, self.played.decision
        actions = decision.actions if decision else ()
        if actions[0].name == ASK:
            said = self.speakers.ask(scene, actions[0], chat).strip()
            self.played.happened(*scene.events, Exchange(actions[0], said, ""))
            return Reply(said, next=USER, done=not said)
        if actions[0].name == ANSWER:
            self.played.reply = self.speakers.reply(scene, chat).strip()
            return Reply(self.played.reply, done=True)
        return Reply(calls=tuple(ToolCall("", a.name, a.arguments) for a in actions))


class Executor(_Seat):
    """Runs calls in the environment; a simulator that fails has failed the call."""

    def reply(self, chat: Chat) -> Reply:
        """Return one result a call, in their order."""
        return Reply(results=tuple(_result(chat, call) for call in pending_calls(chat.steps)))


_SEATS: dict[str, type[User | Planner | Checker | Speaker | Executor]] = {
    USER: User,
    PLANNER: Planner,
    CHECKER: Checker,
    AGENT_ROLE: Speaker,
    EXECUTOR: Executor,
}
TEAM = Team(
    name="missions",
    roles=dict(_SEATS),
    lead=AGENT_ROLE,
    after={USER: (PLANNER,), PLANNER: (CHECKER,), CHECKER: (AGENT_ROLE,)},
    reviewer=CHECKER,
    sight={},
)
"""Who makes a mission. Everybody is told the whole chat; speakers use of it what their role may."""


def _result(chat: Chat, call: ToolCall) -> ToolResult:
    try:
        return chat.execute([call])[0]
    except SimulatorError as error:
        return ToolResult(call.id, str(error), {"kind": "simulator", "message": str(error)})


@dataclass(frozen=True, slots=True)
class Rejection:
    """One broken rule."""

    rule: str
    """Its name; a dropped dialogue is counted under that of its last rejection."""
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def check_decision(text: str, scene: Scene, validator: CallValidator) -> list[Rejection]:
    """Return the rules that a decision breaks, in their order; empty: it is right.

    Args:
        text: What the planner said.
        scene: In which it said so.
        validator: Over the scene's tools.
    """
    try:
        decision = read_decision(text)
    except DataError as error:
        return [Rejection("invalid_json", str(error))]
    return [
        *_backstage(decision, scene),
        *_mixed(decision),
        *(found for action in decision.actions for found in _action(action, scene, validator)),
        *_dependent(decision),
        *_in_turn(decision),
        *_type(decision, scene),
    ]


def check_results(calls: int, results: Sequence[ToolResult]) -> list[Rejection]:
    """Return what is wrong with the results of calls; empty: nothing.

    Args:
        calls: Number of the calls that were made.
        results: What they brought.
    """
    if len(results) != calls:
        return [Rejection("result_count", f"{calls} calls brought {len(results)} results.")]
    return [
        Rejection("failed_call", f"A call failed: {result.error.get('message')}")
        for result in results
        if result.error is not None
    ]


def _backstage(decision: Decision, scene: Scene) -> Iterator[Rejection]:
    """Thought and Plan speak of the mission alone; what a tool is for may be named."""
    known = " ".join(f"{tool.name} {tool.description}" for tool in scene.tools.values()).lower()
    for name, text in (("Thought", decision.thought), ("Plan", decision.plan)):
        for word in _BACKSTAGE.findall(text):
            if word.lower() not in known:
                yield Rejection("backstage", f"{name} must not mention {word!r}.")


def _mixed(decision: Decision) -> Iterator[Rejection]:
    names = [action.name for action in decision.actions]
    if not names:
        yield Rejection("no_action", "Action_List is empty: name at least one action.")
    if len(names) > 1 and PSEUDO & set(names):
        pseudo = sorted(PSEUDO & set(names))[0]
        yield Rejection("mixed_actions", f"{pseudo} must be the only action of its step.")
    if decision.finished and any(name != ANSWER for name in names):
        yield Rejection("unfinished", f"A finished mission has {ANSWER} as its only action.")


def _action(action: Action, scene: Scene, validator: CallValidator) -> Iterator[Rejection]:
    if action.name == ASK:
        return _question(action, scene)
    if action.name == ANSWER:
        return _answer(action, scene)
    return _call(action, scene, validator)


def _question(action: Action, scene: Scene) -> Iterator[Rejection]:
    name, missing = action.arguments.get(ASKED_TOOL), action.arguments.get(MISSING)
    if not isinstance(name, str) or name not in scene.tools:
        known = ", ".join(scene.tools)
        yield Rejection("unknown_tool", f"{ASK}: no tool {name!r}; there are: {known}.")
        return
    if not isinstance(missing, list) or not missing:
        yield Rejection("unfit_question", f"{ASK}: {MISSING} must be a list of parameters.")
        return
    needed = required(scene.tools[name])
    for parameter in missing:
        if parameter not in needed:
            yield Rejection(
                "unfit_question",
                f"{ASK}: {name} does not require {parameter!r}; it requires: "
                f"{', '.join(needed) or 'nothing'}.",
            )


def _answer(action: Action, scene: Scene) -> Iterator[Rejection]:
    kind = action.arguments.get(ANSWER_TYPE)
    if kind not in ("tool", "chat"):
        yield Rejection("unfit_answer", f"{ANSWER}: {ANSWER_TYPE} must be tool or chat.")
    elif kind == "chat" and scene.events and isinstance(scene.events[-1], Round):
        yield Rejection("unfit_answer", f"{ANSWER}: after a tool's result {ANSWER_TYPE} is tool.")


def _call(action: Action, scene: Scene, validator: CallValidator) -> Iterator[Rejection]:
    tool = scene.tools.get(action.name)
    call = ToolCall("", action.name, action.arguments, tool=tool.id if tool else None)
    wrong = validator.check(call, list(scene.tools))
    if wrong is not None:
        yield Rejection(wrong.kind, wrong.message)
    for name in required(tool) if tool else ():
        value = action.arguments.get(name)
        if isinstance(value, str) and not value.strip():
            yield Rejection("empty_argument", f"{action.name} requires {name!r}; it is empty.")


def _dependent(decision: Decision) -> Iterator[Rejection]:
    """Calls at once know nothing of each other's results."""
    if len(decision.actions) < 2:
        return
    names = {action.name for action in decision.actions}
    for action in decision.actions:
        for text in (leaf for leaf in leaves(action.arguments) if isinstance(leaf, str)):
            named = next((name for name in sorted(names) if name in text), None)
            wrong = ""
            if named is not None:
                wrong = f"depends on {named}, which is called at the same time: call it first."
            elif _OPEN.search(text):
                wrong = "leaves a value open: make the call that gives it first."
            if wrong:
                yield Rejection("dependent_actions", f"{action.name}: {text!r} {wrong}")


def _in_turn(decision: Decision) -> Iterator[Rejection]:
    if len(decision.actions) > 1 and _IN_TURN.search(decision.plan):
        yield Rejection(
            "serial_at_once",
            "The plan calls one after another, but several actions stand in one step.",
        )


def _type(decision: Decision, scene: Scene) -> Iterator[Rejection]:
    """A mission is of the type that it was to be: it has the calls and the questions of one."""
    kind = scene.assignment.kind
    names = [action.name for action in decision.actions]
    ends = ANSWER in names
    calls = sum(name not in PSEUDO for name in names)
    calls += len(scene.calls)
    asks = (ASK in names) + len(scene.questions)
    wrong = {
        "single": asks or calls > 1 or (ends and calls < 1),
        "multi": asks or (ends and calls < 2),
        "chat": asks or calls,
        "clarify": (calls and not asks) or (ends and not (asks and calls)),
    }[kind]
    if wrong:
        made = f"{asks} questions and {calls} calls."
        yield Rejection(ANOTHER_TYPE, f"A mission of type {kind} was wanted; this one has {made}")


def required(tool: Tool) -> list[str]:
    """Return the names of the arguments that a tool requires."""
    found = tool.parameters.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


# -- User, planner and agent played by a language model, or by one each.
#
# Prompts stand in `generation_prompts/`. Each holds the role, what it may answer, today's date (but
# for a user who begins), the tools and what they require. The user is told what was said; planner
# and agent see calls and results too. A user who is asked answers completely three times of four,
# else vaguely; to a second question always completely.
#
# Source: "Multi-Mission Tool Bench" (2025), the framework of five roles.

_PHRASES = shipped_json(__package__, "generation_prompts/phrases.json")
TRIES_OF_MODEL = 3
"""Answers of the model that a user's wordings are looked for in."""
FEW, MANY = 3, 5
"""Candidates: for missions of several calls and those that lean on others, and for the rest."""
_VAGUE = 4
"""One first answer in so many is vague."""
_LANGUAGES = {"en": "English", "zh": "Chinese"}


class ModelSpeakers:
    """Speakers by a chat's models.

    Args:
        identity: What the models are, for the record.
    """

    def __init__(self, identity: dict[str, JSON]) -> None:
        prompts = digest(shipped_texts(__package__, "generation_prompts"))
        self.identity: dict[str, JSON] = {**identity, "prompts": prompts}

    def candidates(self, scene: Scene, chat: Chat) -> Sequence[str]:
        """Return wordings of the mission, the first one drawn by the mission's seed.

        None where no answer of the model in `TRIES` is the JSON object that was asked for.
        """
        count = MANY if not scene.past and scene.assignment.kind != "multi" else FEW
        structure = random.Random(scene.assignment.seed).choice(_PHRASES["structures"])
        wish = Template(_PHRASES["types"][scene.assignment.kind]).substitute(structure=structure)
        lean = _lean(scene, count)
        prompt = _prompt("user_request", scene, wish=wish, lean=lean, count=str(count))
        told = f"The conversation so far:\n\n{_talk(scene)}" if scene.past else "Begin."
        messages = [Message("system", prompt), Message("user", told)]
        for _ in range(TRIES_OF_MODEL):
            answer = chat.complete(messages, json_object=True).content
            try:
                found = _wordings(answer)
            except DataError as error:
                complaint = f"That cannot be used: {error}. Answer with the JSON object alone."
                messages += [Message("assistant", answer), Message("user", complaint)]
                continue
            random.Random(scene.assignment.seed).shuffle(found)
            return found
        return []

    def decide(self, scene: Scene, chat: Chat) -> str:
        """Return the planner's decision as the model wrote it."""
        told = [f"The conversation so far:\n\n{_talk(scene, calls=True)}"]
        if scene.rejections:
            told.append("Your last decisions were not accepted:")
            told += [f"- {line}" for text in scene.rejections for line in text.splitlines()]
            told.append("Decide anew, without a word about them.")
        messages = [Message("system", _prompt("planner", scene)), Message("user", "\n".join(told))]
        return chat.complete(messages, json_object=True).content

    def ask(self, scene: Scene, action: Action, chat: Chat) -> str:
        """Return the agent's question for what is missing."""
        missing = action.arguments.get(MISSING)
        named = ", ".join(map(str, missing)) if isinstance(missing, list) else "more"
        prompt = _prompt("agent_ask", scene, missing=named, purpose=action.purpose or scene.request)
        return _told(chat, prompt, _talk(scene, calls=True))

    def answer(self, scene: Scene, question: str, chat: Chat) -> str:
        """Return the user's answer to a question."""
        vague = len(scene.questions) == 1 and begins_vaguely(scene.assignment.seed)
        manner = _PHRASES["manner"]["vague" if vague else "complete"]
        return _told(chat, _prompt("user_answer", scene, manner=manner), _talk(scene))

    def reply(self, scene: Scene, chat: Chat) -> str:
        """Return the agent's last text of the mission."""
        prompt = _prompt("agent_reply" if scene.calls else "agent_chat", scene)
        return _told(chat, prompt, _talk(scene, calls=True))


def begins_vaguely(seed: int) -> bool:
    """Tell whether the user's first answer in the mission of a seed is vague: one of four is."""
    return derive_seed(seed, "manner") % _VAGUE == 0


def _told(chat: Chat, prompt: str, talk: str) -> str:
    told = f"The conversation so far:\n\n{talk}"
    return chat.complete([Message("system", prompt), Message("user", told)]).content


def _lean(scene: Scene, count: int) -> str:
    """Return how the requests lean on what was said, each in a way of its own where it can."""
    relation = scene.assignment.relation
    if relation is None:
        return str(_PHRASES["first"])
    ways = list(_PHRASES["relations"][relation])
    random.Random(scene.assignment.seed).shuffle(ways)
    lines = [f"{n}. {ways[(n - 1) % len(ways)]}" for n in range(1, count + 1)]
    return "\n".join(["The requests go on from the conversation, one after the other so:", *lines])


def _wordings(answer: str) -> list[str]:
    """Return the texts of a model's JSON object.

    Raises:
        DataError: It is none, or holds no text.
    """
    values = json_object(answer).values()
    found = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    if not found:
        raise DataError("no value of it is a text")
    return found


def _prompt(name: str, scene: Scene, **parts: str) -> str:
    """Return a role's prompt with what all roles know: the date and the tools."""
    language = _LANGUAGES[scene.assignment.language]
    text = Template(shipped_text(__package__, f"generation_prompts/{name}.txt")).substitute(
        language=language, **parts
    )
    begins = name == "user_request" and not scene.past
    known = [] if begins else [f"Today is {scene.assignment.date}."]
    known.append("\n".join(["Tools:", *map(_described, scene.tools.values())]))
    return "\n\n".join([text.strip(), *known])


def _described(tool: Tool) -> str:
    declared = tool.parameters.get("properties")
    names = list(declared) if isinstance(declared, dict) else []
    needed = required(tool)
    optional = [name for name in names if name not in needed]
    document = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    summary = f"required: {', '.join(needed) or 'none'}; optional: {', '.join(optional) or 'none'}"
    return f"- {json_text(document)}\n  {summary}"


def _talk(scene: Scene, calls: bool = False) -> str:
    """Return the conversation as text.

    Args:
        scene: Its missions, and what was said of the current one.
        calls: Calls and their results too.
    """
    lines = []
    for mission in scene.past:
        lines.append(f"User: {mission.text}")
        for node in mission.nodes if calls else ():
            if node.name not in PSEUDO:
                lines.append(_called(node.name, node.arguments, node.observation))
        lines += [f"{'User' if s.by_user else 'Assistant'}: {s.text}" for s in mission.said]
    if scene.request:
        lines.append(f"User: {scene.request}")
    for done in scene.done:
        if done.is_question:
            lines.append(f"Assistant: {done.observation}")
            lines += [f"User: {done.answer}"] if done.answer else []
        elif calls:
            lines.append(_called(done.action.name, done.action.arguments, done.observation))
    return "\n".join(lines)


def _called(name: str, arguments: dict[str, JSON], result: JSON) -> str:
    return f"[{name}({json_text(arguments)}) brought {json_text(result)}]"


# -- Dialogues made mission by mission, each in a chat of its own that goes on from those before.
#
# A mission drops its dialogue, with a reason, if no decision passes the checker in three tries, or
# if its words cannot be used. What was made before stays beside it, so that a person can mend the
# request. A failure of the infrastructure is raised instead: that dialogue is made another time.

REPLIES = 100
"""Replies of all roles in one mission, beyond which its dialogue is dropped."""

Models = Callable[[str, Assignment], ChatModel]
"""From a role and the mission to the model that plays the role."""


@dataclass(frozen=True, slots=True)
class Take:
    """One mission as it was made, or was not."""

    candidates: tuple[str, ...]
    """Wordings of the request, as they were offered."""
    choice: str
    """The one that was spoken; empty where there was none."""
    rejections: tuple[str, ...]
    """What the checker sent back."""
    chat: Trajectory
    mission: Mission | None
    """None: the dialogue was dropped here."""

    @property
    def broken(self) -> list[str]:
        """The rules for which the checker sent something back."""
        return [text.partition(":")[0] for text in self.rejections]


@dataclass(frozen=True, slots=True)
class Made:
    """One dialogue as far as it was made."""

    id: str
    tools: tuple[str, ...]
    """Ids of the tools that it offers."""
    takes: tuple[Take, ...]
    dropped: Fault | None = None

    @property
    def missions(self) -> tuple[Mission, ...]:
        """The missions that were made."""
        return tuple(take.mission for take in self.takes if take.mission is not None)


@dataclass(frozen=True, slots=True)
class Studio:
    """Makes dialogues. Safe in threads where its parts are."""

    speakers: Speakers
    """Say what user, planner and agent say."""
    environments: EnvironmentFactory
    """Where the calls run."""
    models: Models
    """What the speakers ask."""
    validator: CallValidator
    """Over all tools that dialogues offer."""

    def make(
        self,
        assignments: Sequence[Assignment],
        tools: Sequence[Tool],
        choose: Choose,
        kept: Sequence[Take] = (),
    ) -> Made:
        """Return a dialogue.

        Args:
            assignments: Its missions.
            tools: What it offers, of no two names alike.
            choose: Says which wording of a mission the user speaks.
            kept: Its first missions, where they were made before.

        Raises:
            InfrastructureError: A model's server or a store failed.
        """
        takes = list(kept)
        dropped = None
        for assignment in assignments[len(kept) :]:
            take, dropped = self._mission(assignment, tools, takes, choose, len(assignments))
            takes.append(take)
            if dropped is not None:
                break
        ids = tuple(tool.id for tool in tools)
        return Made(assignments[0].dialogue, ids, tuple(takes), dropped)

    def _mission(
        self,
        assignment: Assignment,
        tools: Sequence[Tool],
        takes: Sequence[Take],
        choose: Choose,
        count: int,
    ) -> tuple[Take, Fault | None]:
        past = tuple(take.mission for take in takes if take.mission is not None)
        scene = Scene(assignment, {tool.name: tool for tool in tools}, past)
        offered: list[str] = []

        def choosing(scene: Scene, candidates: Sequence[str]) -> str:
            offered.extend(candidates)
            return choose(scene, candidates)

        said = [step for take in takes for step in take.chat.steps]
        played = Played(scene)
        chat = self._chat(played, choosing, said, count)
        fault = ""
        try:
            play(chat)
        except DataError as error:
            fault = str(error)
            chat.fail(fault)
        stop = chat.stops[0]
        if stop.reason == "error" and not fault:
            raise InfrastructureError(stop.error)
        dropped = _drop(played, chat, fault)
        made = None if dropped else _mission(played)
        request, refused = played.scene.request, played.refused
        return Take(tuple(offered), request, refused, chat.trajectory(), made), dropped

    def _chat(
        self, played: Played, choose: Choose, said: Sequence[Step], count: int
    ) -> Conversation:
        assignment = played.scene.assignment
        task = Task(assignment.dialogue, TEAM.name, (Goal(""),) * count)
        seated: dict[str, Agent] = {
            role: seat(played, self.speakers, choose, self.validator)
            for role, seat in _SEATS.items()
        }
        offers = Offers()
        offers.add(list(played.scene.tools.values()))
        services = Services(
            model=cache(lambda role: self.models(role, assignment)),
            environment=self.environments.open(task, 0, offers.names),
            retrieve=lambda query, k: [],
            judge=lambda role, model, goal, answer, steps: Verdict("unsure"),
        )
        return Conversation(
            task,
            0,
            TEAM,
            seated,
            services,
            offers=offers,
            limits=ChatLimits(max_turns=REPLIES, max_replies=REPLIES, repeats=None),
            options=ChatOptions(seed=lambda role: derive_seed(assignment.seed, role)),
            goals=(assignment.number,),
            history=said,
        )


def task_of(made: Made, tools: Mapping[str, Tool], language: str) -> Task:
    """Return a dialogue as a task, as MMTB's are (`seal.benchmarks.mmtb.importer`).

    Args:
        made: The dialogue, whole.
        tools: By id.
        language: en or zh.
    """
    by_name = {tools[own].name: tools[own] for own in made.tools}
    return make_task(Dialogue(made.id, made.missions, []), by_name, language, "exact")


def _drop(played: Played, chat: Conversation, fault: str) -> Fault | None:
    """Return why the mission could not be made; None: it was."""
    drop = partial(Fault, played.scene.assignment.number)
    if fault:
        return drop("unusable_words", fault)
    if chat.stops[0].reason not in ("done", "user_ended"):
        return drop("too_long", f"more than {REPLIES} replies or {chat.limits.max_calls} calls")
    last = chat.steps[-1]
    if last.author == CHECKER:
        return drop(last.content.partition(":")[0], last.content)
    if last.content.strip():
        return None
    asking = played.decision is not None and played.decision.actions[0].name == ASK
    kinds = ("no_request", "no_answer") if last.author == USER else ("no_reply", "no_question")
    return drop(kinds[asking], f"{last.author} said nothing")


def _mission(played: Played) -> Mission:
    """Return a mission that was made, with its gold."""
    scene = played.scene
    nodes = [
        Node(done.action.name, done.action.arguments, after, done.observation, done.answer)
        for done, after in zip(scene.done, edges(scene), strict=True)
    ]
    said: list[Said] = []
    for asked in scene.questions:
        said += [Said(False, str(asked.observation)), Said(True, asked.answer)]
    last = final_answer("tool" if any(node.name != ASK for node in nodes) else "chat")
    before = tuple(range(len(nodes)))
    nodes.append(Node(last.name, last.arguments, before, played.reply, ""))
    said.append(Said(False, played.reply))
    own = scene.assignment
    relation = own.relation or ""
    return Mission(
        scene.request, own.kind, tuple(nodes), relation, own.date, (), tuple(said), False
    )

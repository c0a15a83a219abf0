"""Dialogues made mission by mission, each in a chat of its own that goes on from those before.

A mission drops its dialogue, with a reason, if no decision passes the checker in three tries, or if
its words cannot be used. What was made before stays beside it, so that a person can mend the
request. A failure of the infrastructure is raised instead: that dialogue is made another time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from seal.agents.autogen import play
from seal.agents.conversation import ChatOptions, Conversation, Services
from seal.agents.limits import REPLIES_A_TURN, ChatLimits
from seal.agents.offers import Offers
from seal.agents.teams import CHECKER, USER
from seal.benchmarks.mmtb.dialogues import Dialogue, Mission, Node, Said
from seal.benchmarks.mmtb.generation.evidence import edges
from seal.benchmarks.mmtb.generation.roles import TEAM, Choose, seats
from seal.benchmarks.mmtb.generation.scenes import Assignment, Played, Scene, Speakers, final_answer
from seal.benchmarks.mmtb.tasks import make_task
from seal.core import (
    ChatModel,
    DataError,
    Goal,
    InfrastructureError,
    Step,
    Task,
    Tool,
    Trajectory,
    Verdict,
)
from seal.core.canonical import derive_seed
from seal.core.environment import EnvironmentFactory
from seal.core.validation import CallValidator
from seal.evaluation.missions.graph import ASK

REPLIES = 100
"""Replies of all roles in one mission, beyond which its dialogue is dropped."""

Models = Callable[[str, Assignment], ChatModel]
"""From a role and the mission to the model that plays the role."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a dialogue, for which it is dropped."""

    mission: int
    """Position of the mission."""
    reason: str
    """Name of a rule, or one that `seal.benchmarks.mmtb.generation.validation` has, or
    `no_request`, `no_answer`, `no_question`, `no_reply`, `too_long`, `unusable_words`."""
    text: str


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
            seats(played, self.speakers, choose, self.validator),
            services,
            offers=offers,
            limits=ChatLimits(max_turns=REPLIES // REPLIES_A_TURN - 1, repeats=None),
            options=ChatOptions(seed=lambda role: derive_seed(assignment.seed, role)),
            goals=(assignment.number,),
            history=said,
        )


def task_of(made: Made, tools: Mapping[str, Tool], language: str) -> Task:
    """Return a dialogue as a task, as MMTB's are (`seal.benchmarks.mmtb.tasks`).

    Args:
        made: The dialogue, whole.
        tools: By id.
        language: en or zh.
    """
    by_name = {tools[own].name: tools[own] for own in made.tools}
    return make_task(Dialogue(made.id, made.missions, []), by_name, language)


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

"""`oracle`: the ceiling."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from seal.core import (
    END_CONVERSATION,
    FIND_TOOLS,
    Completion,
    Goal,
    Message,
    NotRecordedError,
    Plan,
    Request,
    Step,
    Task,
    Tool,
    ToolCall,
    levels,
)
from seal.core.conditions import Asked, Called, Replied
from seal.core.earlier_results import Made, goal_in_chat, result_value, waits
from seal.core.slots import Slot
from seal.core.text import clauses, words
from seal.core.values import equal
from seal.models.lexical import DONE, Scene, find_scene, in_words, offered_names
from seal.models.spec import ModelSettings

# -- `oracle`: plays the gold. The ceiling, and a check of the benchmark itself.
#
# As execution manager it makes the calls of `goal.reference`, or of the first plan level by level,
# calls that may be parallel in one reply; it asks what an `Asked` milestone asks, then states what
# `Replied` milestones and `answers` want. Where gold has calls of the user's tools, the two take
# turns: the manager asks the user to do its part, and the user says when it is done. As
# orchestrator it passes questions on and gives the reference reply. It reads which goal is current,
# and how far it is, from the messages alone (`seal.models.lexical`).

USER = "user_simulator"
_LONGEST_REPLY = 4000
_CANNOT = "I cannot do that with the tools that I have."


class Oracle:
    """Knows every task's gold."""

    def open(self, task: Task, trial: int, tells: bool = True) -> OracleChat:
        """Return the model of one chat; `tells` as of `OracleChat`.

        Raises:
            NotRecordedError: The gold of a goal says what the world must be, and not how.
        """
        if not all(map(_is_playable, task.goals)):
            raise NotRecordedError(
                f"task {task.id}: its gold asks of the world and has no reference to play"
            )
        return OracleChat(task, tells)


_YOURS, _MINE = "Please do your part now.", "It is done."
"""What the manager says where gold goes on with the user's calls, and the user after them."""
_NO_TOOL = "None of the tools can do this."
"""The answer to what no tool serves."""


def build(rest: str, settings: ModelSettings) -> Oracle:
    """Return the model `oracle`."""
    return Oracle()


@dataclass(frozen=True, slots=True)
class Move:
    """What is done next: calls, or else words."""

    calls: tuple[Called, ...] = ()
    words: str = ""


class OracleChat:
    """Plays one task.

    Args:
        task: With its gold.
        tells: False: the execution manager reports what came back, and not the reference reply.
    """

    def __init__(self, task: Task, tells: bool = True) -> None:
        self._tells = tells
        self._goals = task.goals
        self._in_world = bool(task.world)
        self._held = frozenset(task.user_tools)
        self._texts = [task.said_first(n) or goal.text for n, goal in enumerate(task.goals)]

    def complete(self, request: Request) -> Completion:
        """Return what the role has to say now; uses no tokens."""
        if request.role == USER:
            return self._as_user(request)
        if request.role == "verifier":
            return Completion("accepted")
        scene = find_scene(request, self._texts)
        goal = self._goals[scene.goal]
        if self._in_world:
            from seal.models.given_answers import with_made_values

            goal = replace(goal, reference=with_made_values(goal.reference, scene))
        if request.role == "planner":
            return Completion("\n".join(clauses(goal.text)))
        if request.role == "orchestrator":
            return Completion(_final_word(goal, scene))
        act = _act(goal, scene, request.tools, self._held)
        return act or Completion(self._told(goal, scene))

    def _told(self, goal: Goal, scene: Scene) -> str:
        """Return the reply; where the gold has none, what came back: of a world in words."""
        as_words = self._in_world or not self._tells
        results = map(in_words, scene.results) if as_words else scene.results
        reply = reply_of(goal) if self._tells else ""
        talk = goal.labels.get("action") == "talk"
        asks = talk or not goal.plans or any(plan.milestones for plan in goal.plans)
        closing = _CANNOT if self._in_world and not asks else DONE  # gold does nothing there
        return reply or "\n".join(results)[:_LONGEST_REPLY] or closing

    def _as_user(self, request: Request) -> Completion:
        """Answer a question once for each thing known; else end, or speak the next goal.

        A user with tools makes its calls of gold instead, and then says so.
        """
        if self._held and request.tools:
            return self._helping(request)
        swapped = tuple(map(_swapped, request.messages))
        scene = find_scene(replace(request, messages=swapped), self._texts)
        own = [m for m in scene.messages if m.role == "user"]
        known = _known_to_user(self._goals[scene.goal])
        given = max(0, len(own) - 1)
        heard = [m.content for m in scene.messages if m.role == "assistant"][-1:]
        if given < len(known) and any("?" in text or "\uff1f" in text for text in heard):
            return Completion(known[given])
        if request.tools:
            return Completion(calls=(ToolCall("", request.tools[0].name, {}),))
        following = scene.goal + 1 if own else scene.goal
        return Completion(self._texts[following] if following < len(self._texts) else "")

    def _helping(self, request: Request) -> Completion:
        """Make the calls that gold has of the user so far, or end."""
        goal, parts = self._goals[request.goal], list[list[Called]]()
        mine = False
        for move in moves(goal):
            was, mine = mine, _is_of(move, self._held)
            if mine:
                parts += [[]] * (not was)
                parts[-1] = [*parts[-1], *move.calls]
        heard = sum(message.role == "user" for message in request.messages)
        made = [call for message in request.messages for call in message.calls]
        wanted = [call for part in parts[:heard] for call in part]
        missing = _not_made(wanted, made, offered_names(request.tools))
        if missing:
            return Completion(calls=tuple(_calls(missing, request.tools, goal)))
        if heard <= len(parts):
            return Completion(_MINE)
        return Completion(calls=(ToolCall("", END_CONVERSATION.rpartition("/")[2], {}),))


def _is_of(move: Move, held: Collection[str]) -> bool:
    """Tell whether a move is the user's, who holds some tools."""
    return bool(move.calls) and all(call.tool in held for call in move.calls)


def _is_playable(goal: Goal) -> bool:
    """Tell whether the gold says what to do: by a reference, or milestones of the chat itself."""
    if goal.reference or not goal.plans or not goal.plans[0].milestones:
        return True
    conditions = [milestone.condition for milestone in goal.plans[0].milestones]
    return goal.asks_for_end or any(isinstance(c, (Called, Asked, Replied)) for c in conditions)


def _act(
    goal: Goal, scene: Scene, tools: Sequence[Tool], held: Collection[str]
) -> Completion | None:
    """Return the first move that has not been made; None once all are.

    Where it is the user's, who holds some tools, the user is asked to make it.
    """
    offered = offered_names(tools)
    made = [call for batch in scene.batches for call in batch]
    said = set(scene.said)
    goal = goal_in_chat(goal, _worked(scene, offered), ends=True)
    left, theirs = sum(text == _YOURS for text in scene.said), False
    for move in moves(goal):
        were, theirs = theirs, _is_of(move, held)
        if theirs:
            left -= not were
            if left < 0:
                return Completion(_YOURS)
        elif move.calls:
            missing = [c for c in _not_made(move.calls, made, offered) if not waits(c)]
            calls = _calls(missing, tools, goal) or _searches(missing, made, offered)
            if calls:
                return Completion(calls=tuple(calls))
        elif move.words not in said:
            return Completion(move.words)
    return None


def _worked(scene: Scene, offered: Mapping[str, str]) -> list[Made]:
    """Return the calls that were answered, by the ids of their tools."""
    ids = {name: tool for tool, name in offered.items()}
    told = {m.call_id: m.content for m in scene.messages if m.role == "tool"}
    return [
        Made(call.tool or ids.get(call.name), call.arguments, result_value(told[call.id]))
        for batch in scene.batches
        for call in batch
        if call.id in told
    ]


def _final_word(goal: Goal, scene: Scene) -> str:
    questions = {move.words for move in moves(goal) if move.words}
    if scene.last_heard in questions:
        return scene.last_heard
    return reply_of(goal) or scene.last_heard or DONE


def moves(goal: Goal) -> list[Move]:
    """Return what the gold does before its reply: the reference's, else the plan's.

    A reference says what is done where it has calls, or several texts of the agent.
    """
    spoken = sum(map(_speaks, goal.reference))
    if spoken > 1 or any(step.call is not None for step in goal.reference):
        return _reference_moves(goal.reference)
    return _plan_moves(goal.plans[0]) if goal.plans else []


def _reference_moves(reference: Sequence[Step]) -> list[Move]:
    found: list[Move] = []
    turn = None
    for step in reference:
        if step.call is not None:
            gold = Called.exact(step.call.tool or step.call.name, step.call.arguments or {})
            if turn == step.turn and found and found[-1].calls:
                found[-1] = Move((*found[-1].calls, gold))
            else:
                found.append(Move((gold,)))
            turn = step.turn
        elif _speaks(step):
            found.append(Move(words=step.content))
    if found and found[-1].words and found[-1].words == _reference_reply(reference):
        found.pop()
    return found


def _plan_moves(plan: Plan) -> list[Move]:
    milestones = plan.milestones
    groups = levels([milestone.after for milestone in milestones])
    by_milestone = plan.calls_by_milestone()
    found: list[Move] = []
    for group in groups:
        conditions = [milestones[position].condition for position in group]
        calls = tuple(c for c in conditions if isinstance(c, Called))
        if calls:
            found.append(Move(calls))
        for position, condition in zip(group, conditions, strict=True):
            if not isinstance(condition, Called):
                found += [Move((call,)) for call in by_milestone[position]]
            if isinstance(condition, Asked):
                asked = ", ".join(condition.about) or "more"
                found.append(Move(words=f"Could you tell me {asked}?"))
            elif isinstance(condition, Replied) and condition.states and group != groups[-1]:
                found.append(Move(words="; ".join(condition.states)))
    return found


def _not_made(
    calls: Sequence[Called], made: list[ToolCall], offered: dict[str, str]
) -> list[Called]:
    """Return the gold calls that have not been made, and take the others from `made`."""
    missing = []
    for gold in calls:
        found = next((call for call in made if _is_made(gold, call, offered)), None)
        if found is None:
            missing.append(gold)
        else:
            made.remove(found)
    return missing


def _is_made(gold: Called, call: ToolCall, offered: dict[str, str]) -> bool:
    named = call.tool == gold.tool or call.name in (gold.tool, offered.get(gold.tool))
    return named and gold.accepts(call.arguments)


def _calls(missing: Sequence[Called], tools: Sequence[Tool], goal: Goal) -> list[ToolCall]:
    """Return the gold calls of tools that are offered; any arguments are those of the request."""
    by_name = {name: tool for tool in reversed(tools) for name in (tool.name, tool.id)}
    return [_call(gold, by_name[gold.tool], goal) for gold in missing if gold.tool in by_name]


def _call(gold: Called, tool: Tool, goal: Goal) -> ToolCall:
    if gold.arguments is not None and not gold.open_arguments:
        return ToolCall("", tool.name, gold.canonical_arguments())
    from seal.models.given_answers import gold_call, open_values

    if gold.arguments is None:
        return gold_call(tool, goal)
    given = {**gold.canonical_arguments(), **open_values(gold, tool, goal)}
    return ToolCall("", tool.name, given)


def _searches(
    missing: Sequence[Called], made: Sequence[ToolCall], offered: dict[str, str]
) -> list[ToolCall]:
    """Return calls that look for gold tools which are not offered, where that can be done."""
    if FIND_TOOLS not in offered:
        return []
    name = offered[FIND_TOOLS]
    wanted = [{"query": " ".join(words(gold.tool.partition("/")[2]))} for gold in missing]
    tried = [call.arguments for call in made if call.name == name]
    return [
        ToolCall("", name, query)
        for query in wanted
        if not any(equal(query, arguments) for arguments in tried)
    ]


def reply_of(goal: Goal) -> str:
    """Return the reference reply, with every answer and statement that the gold asks for.

    What the reference tells earlier is not told again. Where no tool serves and there is no such
    reply, it says so.
    """
    refusal = _NO_TOOL if goal.labels.get("action") == "abstain" else ""
    text = _reference_reply(goal.reference) or refusal
    wanted = [*goal.answers, *(slot.told for slot in _untold(goal))]
    if goal.plans:
        for milestone in goal.plans[0].milestones:
            if isinstance(milestone.condition, Replied):
                wanted += milestone.condition.states
    folded = text.casefold()
    missing = [state for state in dict.fromkeys(wanted) if state.casefold() not in folded]
    return f"{text} {'; '.join(missing)}".strip()


def _untold(goal: Goal) -> list[Slot]:
    """Return the slots that must be told, and are not in the reference."""
    wanted = [slot for slot in goal.tells if not slot.optional]
    spoken = [step.content for step in goal.reference if _speaks(step)]
    if not wanted or not spoken:
        return wanted
    from seal.core.facts import Record
    from seal.core.telling import find

    known = Record([goal.text, *(text for slot in goal.tells for text in slot.texts)])
    found = find(wanted, spoken, known, request=goal.text)
    return [one.slot for one in found if one.state != "told"]


def _reference_reply(reference: Sequence[Step]) -> str:
    spoken = [step.content for step in reference if _speaks(step)]
    return spoken[-1] if spoken else ""


def _speaks(step: Step) -> bool:
    """Tell whether the agent speaks, rather than the user, or the executor of what happened."""
    others = (USER, "user", "executor")
    return step.author not in others and step.result is None and bool(step.content.strip())


def _known_to_user(goal: Goal) -> list[str]:
    """Return what the user can answer: the reference's answers, else the gold arguments."""
    spoken = [s.content for s in goal.reference if s.author in (USER, "user")]
    if len(spoken) > 1:
        return spoken[1:]
    gold = goal.plans[0].calls() if goal.plans else []
    values = {name: v for call in gold for name, v in call.canonical_arguments().items()}
    return ["; ".join(f"{name}: {value}" for name, value in values.items())] if values else []


def _swapped(message: Message) -> Message:
    if message.role == "user":
        return Message("assistant", message.content)
    return Message("user", message.content) if message.role == "assistant" else message

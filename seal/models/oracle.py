"""`oracle` and `gold_calls`: the ceiling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from seal.core import (
    FIND_TOOLS,
    JSON,
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
    UsageError,
    levels,
)
from seal.core.conditions import Asked, Called, Replied
from seal.core.text import clauses, words
from seal.core.values import equal
from seal.models.prompt_reading import DONE, Scene, find_scene, in_words, offered_names, value_of
from seal.models.spec import ModelSettings

# -- `oracle`: plays the gold. The ceiling, and a check of the benchmark itself.
#
# As execution manager it makes the calls of `goal.reference`, or of the first plan level by level,
# calls that may be parallel in one reply; it asks what an `Asked` milestone asks, then states what
# `Replied` milestones and `answers` want. As orchestrator it passes questions on and gives the
# reference reply. It reads which goal is current, and how far it is, from the messages alone
# (`seal.models.prompt_reading`).

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
        self._texts = [goal.text for goal in task.goals]

    def complete(self, request: Request) -> Completion:
        """Return what the role has to say now; uses no tokens."""
        if request.role == USER:
            return self._as_user(request)
        if request.role == "verifier":
            return Completion("accepted")
        scene = find_scene(request, self._texts)
        goal = self._goals[scene.goal]
        if self._in_world:
            goal = replace(goal, reference=with_made_values(goal.reference, scene))
        if request.role == "planner":
            return Completion("\n".join(clauses(goal.text)))
        if request.role == "orchestrator":
            return Completion(_final_word(goal, scene))
        return _act(goal, scene, request.tools) or Completion(self._told(goal, scene))

    def _told(self, goal: Goal, scene: Scene) -> str:
        """Return the reply; where the gold has none, what came back: of a world in words."""
        as_words = self._in_world or not self._tells
        results = map(in_words, scene.results) if as_words else scene.results
        reply = reply_of(goal) if self._tells else ""
        asks = not goal.plans or any(plan.milestones for plan in goal.plans)
        closing = _CANNOT if self._in_world and not asks else DONE  # gold does nothing there
        return reply or "\n".join(results)[:_LONGEST_REPLY] or closing

    def _as_user(self, request: Request) -> Completion:
        """Answer a question once for each thing known; else end, or speak the next goal."""
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


def _is_playable(goal: Goal) -> bool:
    """Tell whether the gold says what to do: by a reference, or milestones of the chat itself."""
    if goal.reference or not goal.plans or not goal.plans[0].milestones:
        return True
    conditions = [milestone.condition for milestone in goal.plans[0].milestones]
    return any(isinstance(c, (Called, Asked, Replied)) for c in conditions)


def _act(goal: Goal, scene: Scene, tools: Sequence[Tool]) -> Completion | None:
    """Return the first move that has not been made; None once all are."""
    offered = offered_names(tools)
    made = [call for batch in scene.batches for call in batch]
    said = set(scene.said)
    for move in moves(goal):
        if move.calls:
            missing = _not_made(move.calls, made, offered)
            calls = _calls(missing, tools, goal) or _searches(missing, made, offered)
            if calls:
                return Completion(calls=tuple(calls))
        elif move.words not in said:
            return Completion(move.words)
    return None


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
    found: list[Move] = []
    for group in groups:
        conditions = [milestones[position].condition for position in group]
        calls = tuple(c for c in conditions if isinstance(c, Called))
        if calls:
            found.append(Move(calls))
        for condition in conditions:
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
    if gold.arguments is not None:
        return ToolCall("", tool.name, gold.canonical_arguments())

    return gold_call(tool, goal)


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

    Where no tool serves and there is no such reply, it says so.
    """
    refusal = _NO_TOOL if goal.labels.get("action") == "abstain" else ""
    text = _reference_reply(goal.reference) or refusal
    wanted = list(goal.answers)
    if goal.plans:
        for milestone in goal.plans[0].milestones:
            if isinstance(milestone.condition, Replied):
                wanted += milestone.condition.states
    folded = text.casefold()
    missing = [state for state in dict.fromkeys(wanted) if state.casefold() not in folded]
    return f"{text} {'; '.join(missing)}".strip()


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


# -- `gold_calls`: calls each gold tool of a request once.
#
# It is for benchmarks whose gold is the tools of a request and no calls (StableToolBench, AnyTool).
# The choice of tools is gold then. The arguments are filled from the words of the request, as
# `lexical` fills them. What the words do not say is made up by the schema. All other calls, and
# what other roles say, are the oracle's. The execution manager reports what its calls brought;
# `gold_calls:answer` gives the reference reply, as the oracle does.

_ROLE = "execution_manager"


_MADE: dict[str, JSON] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
"""Type to the value of a required argument that no word gives."""


@dataclass(frozen=True, slots=True)
class GoldCalls:
    """Knows every task's gold tools."""

    tells: bool = False
    """Whether the execution manager gives the reference reply."""

    def open(self, task: Task, trial: int) -> GoldCallsChat:
        """Return the model of one chat.

        Raises:
            NotRecordedError: The gold of a goal says what the world must be, and not how.
        """
        return GoldCallsChat(task, self.tells)


def build_gold_calls(rest: str, settings: ModelSettings) -> GoldCalls:
    """Return the model `gold_calls`, or `gold_calls:answer`.

    Raises:
        UsageError: Another form than `answer`.
    """
    if rest not in ("", "answer"):
        raise UsageError(f"gold_calls:{rest}: expected gold_calls or gold_calls:answer")
    return GoldCalls(rest == "answer")


class GoldCallsChat:
    """Plays one task.

    Args:
        task: With its gold.
        tells: Whether the execution manager gives the reference reply.
    """

    def __init__(self, task: Task, tells: bool) -> None:
        self._goals = task.goals
        self._oracle = Oracle().open(task, 0, tells)

    def complete(self, request: Request) -> Completion:
        """Return calls of the gold tools that were not called yet, else what the oracle says."""
        if request.role == _ROLE:
            scene = find_scene(request, [goal.text for goal in self._goals])
            goal = self._goals[scene.goal]
            made = {call.name for batch in scene.batches for call in batch}
            calls = [
                gold_call(tool, goal)
                for tool in request.tools
                if names_tools_alone(goal) and tool.id in goal.relevant and tool.name not in made
            ]
            if calls:
                return Completion(calls=tuple(calls))
        return self._oracle.complete(request)


def names_tools_alone(goal: Goal) -> bool:
    """Tell whether the gold of a goal is tools and no calls."""
    return goal.plans is None and not goal.reference


def gold_call(tool: Tool, goal: Goal) -> ToolCall:
    """Return a valid call of a tool with the arguments that a goal's words give."""
    from seal.models.fill import fill

    filled = fill(tool.parameters, goal.text, goal.text)
    properties = tool.parameters.get("properties", {})
    made = {name: _made(properties.get(name)) for name in filled.missing}
    return ToolCall("", tool.name, {**filled.arguments, **made})


def _made(schema: JSON) -> JSON:
    if not isinstance(schema, dict):
        return "any"
    for key in ("default", "example"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    return _MADE.get(kind, "any") if isinstance(kind, str) else "any"


# -- Gold calls with the values that a world made anew in this chat.
#
# A world makes some things anew in every chat, such as ids. A gold argument that comes from an
# earlier result must be what that result says in this chat.


def with_made_values(reference: Sequence[Step], scene: Scene) -> tuple[Step, ...]:
    """Return the reference whose calls take texts of earlier results as this chat's results say.

    The n-th gold call of a tool is that tool's n-th call in the chat. Texts in arguments are
    replaced that equal a text of a gold result where this chat's has another text.

    Args:
        reference: Gold steps with their results.
        scene: What was done so far.
    """
    made = _made_texts(reference, scene)
    return tuple(
        replace(step, call=replace(step.call, arguments=_replaced(step.call.arguments, made)))
        if made and step.call is not None and step.call.arguments is not None
        else step
        for step in reference
    )


def _made_texts(reference: Sequence[Step], scene: Scene) -> dict[str, str]:
    """Return each text of the gold results for which this chat's results have another one."""
    gold = {step.result.call_id: step.result.content for step in reference if step.result}
    told = {m.call_id: m.content for m in scene.messages if m.role == "tool"}
    waiting = [call for batch in scene.batches for call in batch]
    found: dict[str, str] = {}
    for step in reference:
        if step.call is None:
            continue
        tool = step.call.tool
        call = next((call for call in waiting if call.tool == tool), None)
        if call is None:
            continue
        waiting.remove(call)
        if step.call.id in gold and call.id in told:
            found.update(_differing(value_of(gold[step.call.id]), value_of(told[call.id])))
    return found


def _differing(gold: JSON, told: JSON) -> Iterator[tuple[str, str]]:
    """Yield the pairs of unequal texts that stand at the same place of two values."""
    if isinstance(gold, str) and isinstance(told, str) and gold != told:
        yield gold, told
    elif isinstance(gold, list) and isinstance(told, list):
        for one, other in zip(gold, told, strict=False):
            yield from _differing(one, other)
    elif isinstance(gold, dict) and isinstance(told, dict):
        for name in gold.keys() & told.keys():
            yield from _differing(gold[name], told[name])


def _replaced(value: JSON, made: Mapping[str, str]) -> JSON:
    if isinstance(value, dict):
        return {name: _replaced(item, made) for name, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, made) for item in value]
    return made.get(value, value) if isinstance(value, str) else value

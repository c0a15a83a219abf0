"""What lint finds, and what a folder of strangers would ask for (trust)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from seal.agents.teams import REGISTRY as TEAMS
from seal.core import (
    JSON,
    CodeRefusedError,
    DataError,
    Goal,
    Milestone,
    Plan,
    SealError,
    Step,
    Tables,
    Task,
    Tool,
    Trajectory,
    shortened,
)
from seal.core.conditions import AGENT, MESSAGE, USER, Argument, Called, Condition, parts
from seal.core.earlier_results import taking
from seal.core.files import lines_of
from seal.core.quantities import Day, Time, read
from seal.core.records import decode
from seal.core.registry import Registry
from seal.core.slots import says_something
from seal.core.state_conditions import (
    AllOf,
    EndsAs,
    FinalState,
    KnownEnds,
    StateHas,
    StateUnchanged,
)
from seal.core.statements import Sense, leaves, statement
from seal.core.text import counted, goal_name, words
from seal.core.values import equal
from seal.environments import REGISTRY as WORLDS
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.calls import effects_of
from seal.evaluation.goals import WHOLLY, TaskChat, match_of
from seal.evaluation.plans import (
    ancestors,
    asked_of,
    in_chat,
    measure_goal,
    measure_plan,
    verdict_on,
    view,
)
from seal.models.spec import FILE as SETTINGS
from seal.pools.benchmark import FUNCTION
from seal.pools.importer import REGISTRY, TASKS, TOOLS, tasks_of
from seal.pools.lookup import world_files
from seal.pools.pool import StoredPool
from seal.pools.reading.files import json_file

# -- What lint can find, one finding, and a pool read leniently.
#
# What cannot be read of a pool is a finding, and the rest goes on.

Severity = Literal["error", "warning", "info"]

KINDS: dict[str, tuple[Severity, str]] = {
    "malformed_line": ("error", "a line that is no record"),
    "duplicate_id": ("error", "an id that stands twice"),
    "no_goal": ("error", "a task without a goal"),
    "missing_tool": ("error", "a tool that a task names and the pool lacks"),
    "broken_schema": ("warning", "a schema that accepts anything in a place, as it is wrong there"),
    "invalid_call": ("error", "a gold call that its tool's schema refuses"),
    "failing_call": ("error", "a gold call that fails in the world, or in its function"),
    "broken_world": ("error", "a task whose world cannot begin as the task says"),
    "unmeasurable_plan": ("error", "a plan by which nothing can be measured"),
    "contradictory_gold": ("warning", "gold of which one part forbids what another asks for"),
    "idle_gold": ("warning", "gold that asks for something, and is met where nothing is done"),
    "forbidden_gold": ("error", "gold that breaks a rule of its world's policy"),
    "unbroken_rule": ("error", "a rule of a policy that no call breaks, so that it checks nothing"),
    "misjudged": ("error", "a recording `right` that is not solved, or `wrong` that is"),
    "surviving_mutant": ("error", "a wrong variant of gold that solves its task"),
    "refused_variant": ("error", "a right variant of gold that does not solve its task"),
    "undecided_variant": ("info", "a variant of gold of which words alone decide nothing"),
    "refused_world": ("warning", "a world that is code and was not loaded; nothing of it is known"),
    "named_result": ("warning", "a gold text that names the result of an earlier call"),
    "observations": ("warning", "a recorded result that its call, arithmetic or another denies"),
    "ungrounded_value": ("warning", "a gold value that nothing said before holds"),
    "conflicting_labels": ("warning", "one query text with different relevant tools"),
    "repeated_query": ("info", "a query text that stands several times"),
    "only_texts": ("info", "goals with only texts to tell, whose words rules do not always decide"),
    "unmarked_write": ("info", "tools that seem to change something, and do not say so"),
    "duplicate_tool": ("warning", "tools with one name and one description"),
    "near_duplicate_tool": ("warning", "two tools whose documents are nearly the same"),
    "empty_description": ("warning", "a tool without a description"),
    "placeholder_description": ("warning", "a description that only holds a place"),
    "name_description": ("warning", "a description that only says the name"),
    "short_description": ("info", "a description of at most 15 characters"),
}
"""Kind of finding to its severity and what it is, in the order of the table.

error: something that cannot be played or scored as it stands; warning: something that makes a
figure doubtful; info: something to know.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or doubtful."""

    kind: str
    """One of `KINDS`."""
    message: str
    tasks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    evidence: dict[str, JSON] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """error, warning or info."""
        return KINDS[self.kind][0]


Record = TypeVar("Record", Tool, Task)


@dataclass(frozen=True, slots=True)
class ReadPool:
    """What could be read; of two records of one id the first."""

    folder: Path
    tools: dict[str, Tool]
    tasks: dict[str, Task]
    findings: tuple[Finding, ...]


def read_leniently(folder: Path) -> ReadPool:
    """Return a pool folder's tools and tasks, and what is wrong with its lines."""
    findings: list[Finding] = []
    tools = _by_id(folder / TOOLS, Tool, findings)
    tasks = _by_id(tasks_of(folder), Task, findings)
    findings += [
        Finding("no_goal", f"task {task.id!r} has no goal", (task.id,))
        for task in tasks.values()
        if not task.goals
    ]
    return ReadPool(folder, tools, tasks, tuple(findings))


def _by_id(path: Path, kind: type[Record], findings: list[Finding]) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for number, record in _records(path, kind, findings):
        if record.id in found:
            where = {"file": path.name, "line": number}
            message = f"{path.name}, line {number}: the id {record.id!r} stands twice"
            ids = {"tools" if kind is Tool else "tasks": (record.id,)}
            findings.append(Finding("duplicate_id", message, evidence=where, **ids))
        else:
            found[record.id] = record
    return found


def _records(
    path: Path, kind: type[Record], findings: list[Finding]
) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            yield number, decode(line, kind)
        except DataError as error:
            where = {"file": path.name, "line": number}
            message = f"{path.name}, line {number}: {error}"
            findings.append(Finding("malformed_line", message, evidence=where))


# -- What a folder of data would ask for: code, servers, files. Nothing is imported to find out.


@dataclass(frozen=True, slots=True)
class NamedPart:
    """One thing that data names."""

    what: str
    """benchmark, world, team, metric, functions, MCP server or file."""
    name: str
    place: str
    """Where data names it, such as "3 tasks"."""
    answer: str
    """Who offers it, or what would have to be allowed."""
    refused: bool = False
    """Whether no run has it: code that the user does not allow, or what nobody here offers."""


def asked_by(folder: Path, allow_code: Collection[str] = ()) -> list[NamedPart]:
    """Return what a pool folder or run folder asks for, in the order of `Asked.what` above.

    Args:
        folder: With tools.jsonl and tasks.jsonl.
        allow_code: Modules that the user allows.

    Raises:
        DataError: It is neither, or a file that is no list of records is damaged.
    """
    if not (folder / TOOLS).is_file() or not tasks_of(folder).is_file():
        raise DataError(f"{folder} is neither pool nor run: it has no {TOOLS} and {TASKS}")
    return list(_asked(folder, allow_code))


def _asked(folder: Path, allowed: Collection[str]) -> Iterator[NamedPart]:
    pool, read = StoredPool(folder), read_leniently(folder)
    name = pool.report.get("benchmark")
    if isinstance(name, str):
        offered = REGISTRY.offered_by(name)
        answer = f"offered by {offered}" if offered else "known to nobody here: a plain pool"
        yield NamedPart("benchmark", name, "import.json", answer)
    worlds = Counter(task.world for task in read.tasks.values() if task.world)
    for world, count in worlds.items():
        asked = _named(WORLDS, world, counted(count, "task"), allowed)
        if world == name and world in REGISTRY:  # a benchmark may bring a world of its own name
            asked = replace(asked, answer=f"offered by {REGISTRY.offered_by(world)}", refused=False)
        yield asked
    play = pool.report.get("play")
    if isinstance(play, Mapping) and play.get("team") is not None:
        yield _named(TEAMS, play["team"], "import.json: play.team", allowed)
    for metric in _metrics(folder):
        yield _named(METRICS, metric, "run.json: measure.metrics", allowed)
    yield from _functions(read.tools.values(), allowed)
    servers = Counter(
        str(told.get("server"))
        for tool in read.tools.values()
        if isinstance(told := tool.source.get("mcp"), Mapping)
    )
    for server, count in servers.items():
        answer = "reached only as your own --server says"
        yield NamedPart("MCP server", server, counted(count, "tool"), answer)
    for file in sorted(world_files()):
        if (folder / file).is_file():
            yield NamedPart("file", file, "the folder", "read as recorded answers")
    unread = sum(finding.kind == "malformed_line" for finding in read.findings)
    if unread:
        place = counted(unread, "line")
        yield NamedPart(
            "file", f"{TOOLS}, {TASKS}", place, "cannot be read; what they ask for is not told"
        )
    if (folder / SETTINGS).is_file():
        answer = "the settings of whoever works in this folder: work in another"
        yield NamedPart("file", str(SETTINGS), "the folder", answer)


def _functions(tools: Iterable[Tool], allowed: Collection[str]) -> Iterator[NamedPart]:
    named = (tool.source.get(FUNCTION) for tool in tools)
    modules = Counter(str(path).partition(":")[0] for path in named if path)
    for module, count in modules.items():
        runs = "your --allow-code lets it run"
        told = runs if module in allowed else f"simulated, but for --allow-code {module}"
        yield NamedPart("functions", module, counted(count, "tool"), told)


def _named(registry: Registry, name: Any, place: str, allowed: Collection[str]) -> NamedPart:
    try:
        registry.check_named(name, place, allowed)
    except CodeRefusedError:
        module = str(name).partition(":")[0]
        return NamedPart(
            registry.kind, name, place, f"refused, but for --allow-code {module}", True
        )
    except SealError as error:
        return NamedPart(registry.kind, str(name), place, f"refused: {error}", True)
    offered = registry.offered_by(name)
    if offered:
        return NamedPart(registry.kind, name, place, f"offered by {offered}")
    if ":" in name:
        return NamedPart(registry.kind, name, place, "your --allow-code lets it run")
    if registry is METRICS:
        return NamedPart(registry.kind, name, place, "known to nobody here; nothing runs")
    unknown = "known to nobody here: install what offers it, or no run plays it"
    return NamedPart(registry.kind, name, place, unknown, True)


def _metrics(folder: Path) -> list[Any]:
    if not (folder / "run.json").is_file():
        return []
    content = json_file(folder / "run.json")
    measure = content.get("measure") if isinstance(content, Mapping) else None
    found = measure.get("metrics") if isinstance(measure, Mapping) else None
    return found if isinstance(found, list) else []


# -- Gold that contradicts itself, or that is met where nothing is done.


def doubt(
    task: Task, chat: Trajectory, tools: Mapping[str, Tool], position: int
) -> tuple[str, str]:
    """Return the kind of finding that a goal's gold is, and why; empty: it is none.

    Args:
        task: With its gold.
        chat: In which nothing but gold calls was done (`gold_chat`).
        tools: By id.
        position: Of the goal.

    Raises:
        DataError: Its plans cannot be measured.
    """
    goals = list(task.goals)
    plan, match = (goals[position].plans or ())[0], match_of(task)
    goals[position] = replace(goals[position], plans=(plan,))
    done = TaskChat(replace(task, goals=tuple(goals)), chat, tools).goals[position]
    acted, said = effects_of(done)
    if acted:
        return "contradictory_gold", f"its own calls have {said}"
    steps = view(chat, position, task.initial_state, match)
    kept = measure_plan(_calls_and_guards(plan), steps, match)
    if kept.minefield_similarity or kept.milestone_similarity < WHOLLY:
        return "contradictory_gold", "its own calls do what it forbids, or come in another order"
    if _ends_apart(in_chat(plan, chat, position), steps[0].state or {}):
        return "contradictory_gold", "the world cannot end in all the ways that it asks for"
    words = [s for s in chat.steps if s.goal == position and s.call is None and s.result is None]
    before = [step for step in chat.steps if step.goal < position]
    idle = TaskChat(task, replace(chat, steps=(*before, *words)), tools).goals[position]
    verdict = verdict_on(idle, measure_goal(idle, match))
    solved = verdict is not None and verdict.label == "solved" and not idle.goal.answers
    if solved and any(map(_asks_for_change, conditions_of(idle.goal))):
        return "idle_gold", (
            "whoever does nothing solves it; mend its gold, or say by seal.ends_as() that nothing "
            "is to happen"
        )
    return "", ""


def _calls_and_guards(plan: Plan) -> Plan:
    """Return what a plan asks of calls, and forbids of calls and tables."""

    def asks(node: Milestone) -> Milestone:
        kept = [part for part in parts(node.condition) if isinstance(part, Called | StateUnchanged)]
        return replace(node, condition=AllOf(tuple(kept)))

    def is_plain(part: Condition) -> bool:
        rows = isinstance(part, StateHas) and part.table != MESSAGE
        return rows or isinstance(part, Called | StateUnchanged)

    plain = [all(map(is_plain, parts(node.condition))) for node in plan.minefields]
    return Plan(tuple(map(asks, asked_of(plan))), plan.minefields if all(plain) else ())


def _ends_apart(plan: Plan, begun: Tables) -> bool:
    """Tell whether a world cannot end as all of a plan's conditions on its end say."""
    asked = [part for node in plan.milestones for part in parts(node.condition)]
    ends = [part for part in asked if isinstance(part, FinalState | KnownEnds)]
    rows = [(part.table, list(part.rows)) for part in ends if isinstance(part, FinalState)]
    worlds: list[Tables] = [{**begun, **dict(some)} for some in (rows, rows[::-1])]
    for part in ends:
        worlds += part.worlds() if isinstance(part, KnownEnds) else ()

    def holds(world: Tables) -> bool:
        steps = (Step(0, USER, AGENT, state=begun), Step(1, AGENT, USER, state=world))
        return not any(part.among(steps).differences for part in ends)

    return len(ends) > 1 and not any(map(holds, worlds))


def _asks_for_change(part: Condition) -> bool:
    if isinstance(part, EndsAs):
        return part.of_plan or any(part.sequences)
    return isinstance(part, FinalState) or (isinstance(part, StateHas) and part.table != MESSAGE)


def conditions_of(goal: Goal) -> Iterator[Condition]:
    """Yield what the milestones of a goal ask."""
    for plan in goal.plans or ():
        for node in plan.milestones:
            yield from node.condition.parts()


# -- Gold values that a model cannot know: nothing said before the call holds them.
#
# Before a call stand the texts of its goal and of earlier goals, the task's history, and the user's
# brief. So do the reference of earlier goals, and the recorded results of the milestones that the
# call comes after. Where such a result is not recorded, the call is left alone: the value may stand
# in it.
#
# A value is held where a text states it (`seal.core.statements`), be it in a question or to deny
# it; a moment also by its day, a day without its year, a number without its sign, and one up to 23
# as an hour ("11 pm").
#
# Any accepted value will do. Booleans, null, empty texts, optional arguments, the schema's defaults
# and its enumerated values are left alone: a model chooses them, it does not quote them.


class EarlierTexts:
    """What was said before a call.

    Args:
        texts: In any order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def holds(self, value: JSON, name: str = "") -> bool:
        """Tell whether the value of an argument, or each leaf of it, was said."""
        return all(
            any(_is_said(text, leaf, of) for text in self._texts)
            for of, leaf in leaves(value, name)
            if not isinstance(leaf, (bool, Time))  # a time of its own is a text
            and (not isinstance(leaf, str) or (words(leaf) and says_something(leaf)))
        )


def _is_said(text: str, leaf: Any, name: str) -> bool:
    if isinstance(leaf, str) and not any(map(str.isalnum, leaf)):  # symbols alone, as they stand
        return leaf in text
    return any(statement(text, form, Sense(name)) != "absent" for form in _forms(leaf))


def _forms(leaf: Any) -> Iterator[Any]:
    """Yield what says a leaf: a day without its year, a number without its sign, or as an hour."""
    yield leaf
    parts = read(leaf).values if isinstance(leaf, str) else [leaf]
    if len(parts) == 1 and isinstance(parts[0], Day):
        yield parts[0]._replace(year=None)
    elif isinstance(leaf, (int, float)):
        yield from (-leaf, *([Time(int(leaf), 0)] if leaf in range(24) else ()))


def ungrounded_values(task: Task, tools: Mapping[str, Tool]) -> Iterator[Finding]:
    """Yield a finding for each gold argument whose value nothing said before holds."""
    earlier = [*_spoken(task.before), *_texts(task.persona)]
    for position, goal in enumerate(task.goals):
        earlier.append(goal.text)
        for plan in goal.plans or ():
            for call, said in _calls(plan, earlier):
                yield from _ungrounded(task, position, call, said, tools.get(call.tool))
        nodes = [node for plan in goal.plans or () for node in plan.milestones]
        results = [node.result for node in nodes if isinstance(node.condition, Called)]
        if None in results and not goal.reference:
            return  # a later goal may quote what its calls gave, which is not recorded
        earlier += [*_spoken(goal.reference), *_texts(results)]


def _calls(plan: Plan, earlier: list[str]) -> Iterator[tuple[Called, EarlierTexts]]:
    """Yield a plan's calls with what was said before each; none whose earlier results are unknown.

    Milestones after which a call comes count with all that come before them.
    """
    for position, milestone in enumerate(plan.milestones):
        if not isinstance(milestone.condition, Called):
            continue
        before = [plan.milestones[index] for index in ancestors(position, plan.milestones)]
        known = [m.result for m in before if isinstance(m.condition, Called)]
        if None not in known:
            yield milestone.condition, EarlierTexts([*earlier, *_texts(known)])


def _ungrounded(
    task: Task, goal: int, call: Called, said: EarlierTexts, tool: Tool | None
) -> Iterator[Finding]:
    for name, argument in (call.arguments or {}).items():
        schema = _schema(tool, name)
        if (
            argument.optional
            or name in taking(call)
            or _chosen(argument, schema)
            or any(said.holds(value, name) for value in argument.listed)
        ):
            continue
        value = argument.values[0] if argument.values else None
        message = (
            f"task {task.id!r}, {goal_name(goal)}: {name} = {shortened(value)} of "
            f"{call.tool!r} was not said before"
        )
        evidence = {"goal": goal, "argument": name, "values": list(argument.listed)}
        yield Finding("ungrounded_value", message, (task.id,), (call.tool,), evidence)


def _schema(tool: Tool | None, name: str) -> Mapping[str, Any]:
    properties = tool.parameters.get("properties") if tool else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    return schema if isinstance(schema, dict) else {}


def _chosen(argument: Argument, schema: Mapping[str, Any]) -> bool:
    """Tell whether the value is one that the schema names: a default or one of its choices."""
    if not argument.values:
        return True
    items = schema.get("items")
    inner = items if isinstance(items, dict) else {}
    default = [schema["default"]] if "default" in schema else []
    named = [*default, *(schema.get("enum") or ()), *(inner.get("enum") or ())]

    def is_named(value: JSON) -> bool:
        return any(equal(value, choice) for choice in named)

    return any(
        is_named(value) or (isinstance(value, list) and all(map(is_named, value)))
        for value in argument.values
    )


def _spoken(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield step.content
        if step.call is not None:
            yield from _texts(step.call.arguments)
        if step.result is not None:
            yield from _texts(step.result.value)


def _texts(value: JSON) -> Iterator[str]:
    """Yield the leaves of a JSON value as texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)

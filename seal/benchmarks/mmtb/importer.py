"""Missions as goals, with their partial order, references and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seal.benchmarks.mmtb.dialogues import (
    BENCHMARK,
    Dialogue,
    Mission,
    Node,
    ToolLists,
    check_language,
    read_dialogue,
    read_tool,
)
from seal.core import (
    JSON,
    Goal,
    Milestone,
    Plan,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    located,
    ready,
)
from seal.core.conditions import Argument, Asked, Called, Condition, Replied
from seal.core.files import opened
from seal.core.values import json_text
from seal.evaluation.mission_gold import ANSWER, ASK, Graph
from seal.evaluation.mission_labels import implied_type
from seal.evaluation.missions import LEAVES, mission_kind
from seal.pools.importer import Notes
from seal.pools.reading.files import CountedFault, find, usable, wrong_source
from seal.pools.reading.records import MANAGER, USER, Made, TaskIds, ToolTable, call_steps

# -- Multi-Mission Tool Bench (MMTB): importer of its tool lists and of its test records.
#
# Upstream publishes `mmtb_tools_en.jsonl` and `mmtb_tools_zh.jsonl`; its test records, which become
# tasks, are told apart by their field `answer_list` or `english_answer_list`, whatever their file
# is called. A folder may hold both. A record with a fault is left out whole, for each mission leans
# on those before it, and counted by the kind of fault.
#
# Task id: upstream's. Tool id: `mmtb/NAME/NAME`. What becomes of a record stands below.
#
# Source: "Multi-Mission Tool Bench" (2025), and the files of yupeijei1997/MMTB; the tools file of
# WildToolBench is the same.

_RECORD = b'answer_list"'
_HEAD = 1 << 20
"""Bytes of a file that are looked at to tell test records from tool lists."""


def import_mmtb(source: Path, notes: Notes, *, language: str = "en") -> Iterator[Tool | Task]:
    """Yield the tasks of MMTB's test records, then the tools of its lists and records.

    Args:
        source: A tools file, a file of test records (JSON Lines or one array), or a folder above
            such files.
        notes: Gets the counts.
        language: "en" or "zh": which of a folder's tools files is read, and which half of a record.

    Raises:
        UnknownNameError: No such language.
        DataError: A file is missing or malformed; the text names file and line.
    """
    check_language(language)
    lists, records = _files(source, language)
    return _records(lists, records, notes, language)


def _records(
    lists: list[Path], records: list[Path], notes: Notes, language: str
) -> Iterator[Tool | Task]:
    table, ids, tally = ToolTable(), TaskIds(), Tally()
    tool_lists = ToolLists(table, notes)
    for path in lists:
        tool_lists.read(path)
    for path in records:
        read = partial(_read, table=table, ids=ids, file=path.name, language=language)
        for dialogue, tools, task in usable(path, read, notes):
            tally.add(dialogue, task, unknown_arguments(dialogue, tools))
            yield task
    yield from tool_lists.tools()
    notes.lacks.update(("categories", "response_shapes"))
    if records:
        notes.facts["missions"] = tally.facts()
    else:
        notes.lacks.add("tasks")


def _read(
    record: Any, table: ToolTable, ids: TaskIds, file: str, language: str
) -> tuple[Dialogue, dict[str, Tool], Task]:
    """Return a record as a dialogue, its tools by upstream's names, and its task.

    If several tools have one name, the first counts.
    """
    dialogue = read_dialogue(record, language)
    tools: dict[str, Tool] = {}
    for position, entry in enumerate(dialogue.tools):
        with located(f"tools.{position}"):
            tool = read_tool(entry, file)
        if tool.source["tool"] not in tools:
            tools[tool.source["tool"]] = table[table.add(tool)]
    task = make_task(dialogue, tools, language)
    own = ids.add(task.id, "\n".join(goal.text for goal in task.goals))
    return dialogue, tools, replace(task, id=own)


def _files(source: Path, language: str) -> tuple[list[Path], list[Path]]:
    """Return the files of tool lists, and those of test records."""
    if source.is_file():
        return ([], [source]) if _holds_records(source) else ([source], [])
    name = f"{BENCHMARK}_tools_{language}.jsonl"
    lists = sorted(path for path in source.rglob(name) if path.is_file())
    found = find(source, ["*.jsonl", "*.json"], BENCHMARK) if any(source.rglob("*.json*")) else []
    records = [path for path in found if path not in lists and _holds_records(path)]
    if not lists and not records:
        raise wrong_source(source, f"{name} or a file of test records", BENCHMARK)
    return lists, records


def _holds_records(path: Path) -> bool:
    with opened(path) as file:
        return _RECORD in file.read(_HEAD)


# -- MMTB's dialogues as tasks: one goal a mission, whose plan is the partial order of its nodes.
#
# - A call of a tool is `Called` with the gold arguments, and has the recorded observation as its
#   result. Arguments that the tool does not require are optional, unless `exact` compares them.
# - The pseudo tool that asks the user is `Asked`, with the user's answer as its result. The one
#   that closes a mission is `Replied`, with the golden reply. Neither is offered to the model,
#   which asks and closes by what it says.
# - The reference plays the nodes in as few steps as it can find, all calls that are ready at once.
# - What the user answers stands in the persona, mission by mission (`replies`). A task without
#   questions has no persona, so that its missions end with the agent's first text.
# - As published, what a model is told of earlier missions is what was said, without calls and
#   results: `metadata["golden_history"]` is `texts`.
# - A record that names no types has those that its gold implies (`seal.evaluation.mission_gold`).
# - The date stands in the task's history. If each mission has its own, it stands in the label
#   `before`, with whatever else is said between two missions. Golden history has that, a played one
#   has not.

WORLD = "replay"
"""Where the missions are played: gold observations come back (`seal.environments.replay`)."""

_DATE = {"en": "Current date: {}", "zh": "当前日期：{}"}


def make_task(
    dialogue: Dialogue, tools: Mapping[str, Tool], language: str, scorer: str = "mmtb"
) -> Task:
    """Return a dialogue as a task.

    Args:
        dialogue: What upstream's record holds.
        tools: The dialogue's tools by upstream's names.
        language: en or zh.
        scorer: Compares arguments. For `exact`, a call needs each argument of gold.

    Raises:
        CountedFault: The gold calls a tool that the dialogue lacks: `unknown_tool`.
    """
    missions = dialogue.missions
    dates = [_DATE[language].format(mission.date) if mission.date else "" for mission in missions]
    one_date = len(set(dates)) == 1
    goals = tuple(
        _goal(number, mission, tools, "" if one_date else date, scorer == "exact")
        for number, (mission, date) in enumerate(zip(missions, dates, strict=True))
    )
    replies = [[text for _, text in _exchanges(mission)] for mission in missions]
    history: tuple[Step, ...] = ()
    if one_date and dates[0]:
        history = (Step(0, "system", MANAGER, dates[0]),)
    return Task(
        dialogue.id,
        BENCHMARK,
        goals,
        history=history,
        persona={"replies": replies} if any(replies) else None,
        split="test",
        tags=_tags(goals),
        metadata={
            "argument_scorer": scorer,
            "golden_history": "texts",
            "language": language,
            "types": [goal.labels["type"] for goal in goals],
        },
        world=WORLD,
    )


def _goal(number: int, mission: Mission, tools: Mapping[str, Tool], date: str, whole: bool) -> Goal:
    for node in mission.nodes:
        if node.name not in tools and node.name not in (ASK, ANSWER):
            known = ", ".join(sorted(tools)) or "none"
            raise CountedFault(
                "unknown_tool",
                f"mission {number}: the gold calls {node.name!r}; the dialogue has: {known}",
            )
    answers = iter(_exchanges(mission))
    results = [next(answers)[1] if n.name == ASK else n.observation for n in mission.nodes]
    milestones = tuple(
        Milestone(_condition(node, tools, whole), node.after, result)
        for node, result in zip(mission.nodes, results, strict=True)
    )
    plan = Plan(milestones)
    named = mission.kind or implied_type(Goal(mission.text, (plan,)))
    labels: dict[str, JSON] = {"mission": number, "type": named}
    calls = mission_kind(_graph(mission.nodes))
    if calls is not None:
        labels["leaf"] = LEAVES[calls]
    if mission.relation:
        labels["relation"] = mission.relation
    before = [["system", date]] if date else []
    before += [[USER if said.by_user else MANAGER, said.text] for said in mission.before]
    if before:
        labels["before"] = before
    return Goal(
        mission.text,
        (plan,),
        offered=tuple(dict.fromkeys(tool.id for tool in tools.values())),
        relevant=plan.tools(),
        reference=tuple(_reference(mission, tools)),
        labels=labels,
    )


def _graph(nodes: Sequence[Node]) -> Graph:
    names, arguments, after = zip(*((n.name, n.arguments, n.after) for n in nodes), strict=True)
    return Graph(names, arguments, after)


def _condition(node: Node, tools: Mapping[str, Tool], whole: bool) -> Condition:
    if node.name == ASK:
        return Asked()
    if node.name == ANSWER:
        return Replied()
    tool = tools[node.name]
    required = tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    arguments = {
        name: Argument((value,), optional=not whole and name not in needed)
        for name, value in node.arguments.items()
    }
    return Called(tool.id, arguments)


def _reference(mission: Mission, tools: Mapping[str, Tool]) -> Iterator[Step]:
    """Yield the gold steps of a mission after its request."""
    texts = _golden_texts(mission)
    index = turn = calls = 0
    for group in _order(mission.nodes):
        nodes = [mission.nodes[position] for position in group]
        if nodes[0].name in (ASK, ANSWER):
            for author, text in texts[group[0]]:
                listener = USER if author == MANAGER else MANAGER
                yield Step(index, author, listener, text, turn=turn)
                index, turn = index + 1, turn + 1
            continue
        made = []
        for n, node in enumerate(nodes, calls):
            tool, text = tools[node.name], json_text(node.observation)
            call = ToolCall(f"call_{n}", tool.name, node.arguments, tool=tool.id)
            made.append(Made("", call, ToolResult(call.id, text, value=node.observation)))
        yield from call_steps([made], index, turn)
        index, calls, turn = index + 2 * len(made), calls + len(made), turn + 2


def _order(nodes: Sequence[Node]) -> Iterator[list[int]]:
    """Yield the nodes in steps of few: what is said, or all calls that are ready.

    Of the two, that comes first from which the longest chain leads on; of equal ones the question.
    """
    after = [node.after for node in nodes]
    heights = _graph(nodes).heights
    done: set[int] = set()
    while len(done) < len(nodes):
        due = ready(after, done)
        spoken = [[n] for n in due if nodes[n].name == ASK]
        calls = [n for n in due if nodes[n].name not in (ASK, ANSWER)]
        steps = [*spoken, *([calls] if calls else [])] or [due]
        step = max(steps, key=lambda step: max(heights[n] for n in step))
        yield step
        done.update(step)


def _golden_texts(mission: Mission) -> dict[int, list[tuple[str, str]]]:
    """Return (author, text) of what is said at each pseudo node."""
    last = len(mission.nodes) - 1
    reply = mission.said[-1].text if fits(mission) else _text(mission.nodes[-1].observation)
    asks = [position for position, node in enumerate(mission.nodes) if node.name == ASK]
    exchanges = zip(asks, _exchanges(mission), strict=True)
    texts = {place: [(MANAGER, asked), (USER, told)] for place, (asked, told) in exchanges}
    return {**texts, last: [(MANAGER, reply)]}


def _exchanges(mission: Mission) -> list[tuple[str, str]]:
    """Return the questions of a mission with their answers, in the order of their nodes.

    What the node answers counts; where it has no answer, and for the questions, the messages, where
    they are as many as the gold says.
    """
    said = [text.text for text in mission.said] if fits(mission) else []
    asks = [node for node in mission.nodes if node.name == ASK]
    return [
        (
            said[2 * n] if said else _question(node),
            node.user_input or (said[2 * n + 1] if said else ""),
        )
        for n, node in enumerate(asks)
    ]


def fits(mission: Mission) -> bool:
    """Tell whether a mission's messages are as many as its questions, answers and reply."""
    asks = sum(node.name == ASK for node in mission.nodes)
    return [said.by_user for said in mission.said] == [False, True] * asks + [False]


def _question(node: Node) -> str:
    """Return what a question node asks: its observation, else its arguments in words."""
    asked = _text(node.observation) if isinstance(node.observation, str) else ""
    lists = (value for value in node.arguments.values() if isinstance(value, list))
    wanted = ", ".join(name for names in lists for name in names if isinstance(name, str))
    return asked or f"Could you tell me {wanted or 'more'}?"


def _text(observation: JSON) -> str:
    return observation if isinstance(observation, str) else json_text(observation)


def _tags(goals: Sequence[Goal]) -> dict[str, JSON]:
    plans = [goal.plans[0] for goal in goals if goal.plans]
    calls = [plan.calls() for plan in plans]
    leaves = {goal.labels.get("leaf") for goal in goals}
    return {
        "missions": len(goals),
        "multi_tool": len({call.tool for made in calls for call in made}) > 1,
        "multi_step": any(len(made) > 1 for made in calls),
        "dependent": bool(leaves & {"serial", "mixed"}),
        "parallel": bool(leaves & {"parallel", "mixed"}),
    }


def unknown_arguments(dialogue: Dialogue, tools: Mapping[str, Tool]) -> int:
    """Return how many gold arguments the schemas of their tools do not have.

    Args:
        dialogue: What upstream's record holds.
        tools: The dialogue's tools by upstream's names.
    """
    nodes = [node for mission in dialogue.missions for node in mission.nodes if node.name in tools]
    return sum(
        name not in tools[node.name].parameters["properties"]
        for node in nodes
        for name in node.arguments
    )


class Tally:
    """Counts of the missions of an import, for its report."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._groups: dict[str, Counter[str]] = {}

    def add(self, dialogue: Dialogue, task: Task, unknown: int = 0) -> None:
        """Count a dialogue that became a task, with its `unknown_arguments`."""
        self._counts["dialogues"] += 1
        self._counts["gold_arguments_outside_schema"] += unknown
        dates = {mission.date for mission in dialogue.missions}
        self._counts["dialogues_of_several_dates"] += len(dates) > 1
        for mission, goal in zip(dialogue.missions, task.goals, strict=True):
            self._counts["missions"] += 1
            self._counts["nodes"] += len(mission.nodes)
            self._counts["requests_worded_otherwise"] += mission.worded_otherwise
            self._counts["messages_that_fit_no_gold"] += bool(mission.said) and not fits(mission)
            for label in ("type", "leaf", "relation"):
                if label in goal.labels:
                    self._groups.setdefault(label, Counter())[str(goal.labels[label])] += 1

    def facts(self) -> dict[str, JSON]:
        """Return the counts."""
        groups = {
            f"by_{label}": dict(sorted(found.items())) for label, found in self._groups.items()
        }
        return {**dict(sorted(self._counts.items())), **groups}

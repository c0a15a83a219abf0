"""Files told by their shape; the index of tasks; gold calls of training answers."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from seal.benchmarks.toolbench.answers import Run
from seal.benchmarks.toolbench.trajectories import replies_of
from seal.core import JSON, DataError, Goal, Milestone, Plan, Step, Task, Tool, levels, shortened
from seal.core.conditions import Called
from seal.core.files import opened
from seal.core.statements import states
from seal.core.text import normalised
from seal.core.values import digest, leaves
from seal.pools.reading.files import parse_json
from seal.pools.reading.records import LEAD, USER, call_steps

# -- The files of a ToolBench source and their kinds, told by their shape and not by their names.
#
# | kind | shape |
# |---|---|
# | queries | array of records with `query` |
# | ids | object of query ids (StableToolBench's list of solvable ones) |
# | tree | object with `answer_generation`: one run, by search (`tree`) or in a chain (`trys`) |
# | converted | object of `{query, available_tools, answer}` by query id: ToolEval's runs |
# | responses | object with `api_list`: response shapes of one tool |
# | results | verdicts and preferences of a judge; ignored |
# | csv, empty, unknown | ignored |
#
# The layout tells which run is gold: upstream's training answers lie in `answer/GROUP/`. Runs of a
# model lie one folder deeper, in `answer/MODEL/GROUP/`, or elsewhere, such as in `A_GROUP_MODEL/`.

_EXAMPLE = "example"
_RESPONSES = "response_examples"
"""Upstream's folder of response shapes, which are data and no example of its files."""
_MODEL_FOLDER = re.compile(r"A_(?P<group>G\d+_[a-z]+)_(?P<model>.+)")
_SLUG = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of the source."""

    path: str
    name: str
    """Path below the source, with `/`; the source's own name where it is a file."""
    kind: str

    def read(self) -> Any:
        """Return the file's JSON.

        Raises:
            DataError: It is no JSON; the text names the place.
        """
        with opened(Path(self.path)) as file:
            return parse_json(file.read(), self.path)

    @property
    def folders(self) -> tuple[str, str]:
        """The names of the two folders above, the outer one first; empty at the root."""
        above, folder = os.path.split(os.path.dirname(self.path))  # noqa: PTH120 (speed)
        return os.path.basename(above), folder  # noqa: PTH119


@dataclass(frozen=True, slots=True)
class RunPlace:
    """What the place of a run's file says of it."""

    recording: str | None
    """Name of the recording; None: gold."""
    group: str
    query_id: str


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a source by kind, each kind sorted by name."""

    files: dict[str, list[SourceFile]]
    counts: dict[str, int]
    """Number of files of each kind, and of those in example folders, which are skipped."""


def find_files(source: Path) -> Source:
    """Return the files of a source.

    A folder below the source whose name contains "example" is skipped, for such examples repeat
    records of the data. They are read if the source itself is such a folder or lies in one.

    Raises:
        DataError: A `.json` file is no JSON; JSON Lines are told as such.
    """
    counts: Counter[str] = Counter()
    files: dict[str, list[SourceFile]] = {}
    for path, name in _walk(source.resolve()):
        kind = _kind(path, name)
        counts[kind] += 1
        files.setdefault(kind, []).append(SourceFile(path, name, kind))
    return Source(files, dict(sorted(counts.items())))


def _walk(source: Path) -> list[tuple[str, str]]:
    """Return (path, name below the source) of all data files, sorted by name."""
    if source.is_file():
        return [(str(source), source.name)]
    found = []
    for folder, _, names in os.walk(source):
        below = os.path.relpath(folder, source).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        found += [
            (f"{folder}{os.sep}{name}", f"{prefix}{name}")
            for name in names
            if name.endswith((".json", ".csv"))
        ]
    return sorted(found, key=lambda item: item[1])


def _kind(path: str, name: str) -> str:
    folders = name.split("/")[:-1]
    if any(_EXAMPLE in folder.lower() and folder != _RESPONSES for folder in folders):
        return "example"
    if name.endswith(".csv"):
        return "csv"
    with opened(Path(path)) as file:
        return _shape(file.read(), path)


def _shape(raw: bytes, path: str) -> str:
    """Tell a file's kind by the keys that it holds; inside texts their quotes would be escaped."""
    start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        return "empty"
    if start == b"[" and b'"query"' in raw:
        return "queries"
    if start == b"{":
        if b'"answer_generation"' in raw:
            return "tree"
        if b'"answer_details"' in raw:
            return "converted"
        if b'"api_list"' in raw:
            return "responses"
    return _shape_of_value(parse_json(raw, path))


def _shape_of_value(value: Any) -> str:
    if isinstance(value, dict) and value:
        items = value.values()
        if all(isinstance(item, int) for item in items) and all(map(str.isdigit, value)):
            return "ids"
        if all(isinstance(i, dict) and ("is_solved" in i or "round_0" in i) for i in items):
            return "results"
    return "unknown"


def group_of_queries(file: SourceFile) -> str:
    """Return the group that a query, id or converted file's name says."""
    stem = file.name.rpartition("/")[2].removesuffix(".json").removesuffix(".keyless")
    return stem.removesuffix("_query")


def place_of_run(file: SourceFile) -> RunPlace:
    """Return what the layout says of an answer tree's file, by the rule above."""
    query_id = file.name.rpartition("/")[2].removesuffix(".json").partition("_")[0]
    above, folder = file.folders
    model = _MODEL_FOLDER.fullmatch(folder)
    if model:
        return RunPlace(slug(model["model"]), model["group"], query_id)
    if above == "answer":
        return RunPlace(None, folder.removesuffix("_answer"), query_id)
    return RunPlace(slug(above), folder, query_id)


def recording_of_converted(file: SourceFile) -> str:
    """Return a converted file's recording: its folder is upstream's name of the method."""
    return slug(file.folders[1])


def slug(name: str) -> str:
    """Return a folder name in lower case: letters, digits, `.`, `_`, `-`."""
    return _SLUG.sub("-", name.lower()).strip("-.") or "recorded"


# -- ToolBench's tasks: their index, by which runs join them, their records, and their gold calls.
#
# Gold calls come from training answers, by the filters of the SEAL paper. A run whose calls are not
# fit to be gold leaves its task unsolved, by the first reason that holds: `give_up`, `no_calls`,
# `unmatched_api` (no called function is a tool of the task), `hallucinated_function` (one of them
# is not), `unparsable_arguments`.

BENCHMARK = "toolbench"
UNSOLVED = "unsolved"
"""Tag with the reason why a training answer is no gold."""


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """What a run needs to know of its task."""

    id: str
    text: str
    """Normalised."""
    offered: tuple[str, ...]


class TaskIndex:
    """The tasks met so far, by group and query id."""

    def __init__(self) -> None:
        self._entries: defaultdict[tuple[str, str], list[TaskEntry]] = defaultdict(list)

    def find(self, group: str, query_id: str, text: str) -> TaskEntry | None:
        """Return the task of this id whose normalised text is the same."""
        wanted = normalised(text)
        entries = self._entries.get((group, query_id), ())
        return next((entry for entry in entries if entry.text == wanted), None)

    def add(self, group: str, query_id: str, text: str, offered: tuple[str, ...]) -> TaskEntry:
        """Keep a task that `find` does not know."""
        same_id = self._entries[group, query_id]
        plain = normalised(text)
        task_id = f"{group}/{query_id}" + (f"#{digest(plain)[:8]}" if same_id else "")
        entry = TaskEntry(task_id, plain, offered)
        same_id.append(entry)
        return entry

    def has(self, group: str, query_id: str) -> bool:
        """Tell whether any task has this id."""
        return (group, query_id) in self._entries

    def conflicts(self) -> int:
        """Count the tasks whose id was taken by another text."""
        return sum(len(entries) - 1 for entries in self._entries.values())


def relevant_tools(pairs: Any, offered: Mapping[tuple[str, str], str]) -> tuple[str, ...] | None:
    """Return the ids of the relevant tools; None where one is not among the offered."""
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise DataError(f"relevant APIs: expected [tool, API] pairs, got {shortened(pairs)}")
    found = [offered.get((str(tool), str(api))) for tool, api in pairs]
    known = tuple(dict.fromkeys(tool for tool in found if tool is not None))
    return None if None in found else known


def make_task(
    task_id: str,
    text: str,
    group: str,
    offered: tuple[str, ...],
    relevant: tuple[str, ...] | None,
    gold: Gold | str | None,
    split: str,
) -> Task:
    """Return a task.

    Args:
        task_id: `group/query_id`.
        text: The query.
        group: Such as G1_category.
        offered: Tool ids of the record's list.
        relevant: None: not annotated.
        gold: Gold calls, or the reason why there are none, which becomes the tag `unsolved`; None:
            no training answer.
        split: "train", "test" or empty.
    """
    annotated = gold if isinstance(gold, Gold) else None
    goal = Goal(
        text,
        (annotated.plan,) if annotated else None,
        offered=offered,
        relevant=relevant or (),
        reference=annotated.reference if annotated else (),
    )
    return Task(
        task_id,
        BENCHMARK,
        (goal,),
        split=split,
        tags={"group": group, **_tags(relevant, annotated)}
        | ({UNSOLVED: gold} if isinstance(gold, str) else {}),
    )


def _tags(relevant: tuple[str, ...] | None, gold: Gold | None) -> dict[str, JSON]:
    """Return what is known of a task's shape; a shape that is not annotated has no tag."""
    calls = gold.plan.calls() if gold else []
    tags: dict[str, JSON] = {}
    if relevant is not None or calls:
        distinct = len({*(relevant or ()), *(call.tool for call in calls)})
        tags["multi_tool"] = distinct > 1
        tags["multi_step"] = (len(calls) if calls else distinct) > 1
    if gold:
        tags |= {"dependent": gold.dependent, "parallel": gold.parallel}
    return tags


def split_of(file: SourceFile) -> str:
    """Return the split that a file's folder names; `instruction` holds the training queries."""
    if any(part.startswith("test") for part in file.name.split("/")[:-1]):
        return "test"
    return "train" if file.folders[1] == "instruction" or "answer" in file.folders else ""


@dataclass(frozen=True, slots=True)
class Gold:
    """What a training answer says of its task."""

    plan: Plan
    reference: tuple[Step, ...]
    """Calls, results and the final answer."""
    dependent: bool
    """A call uses a value that only an earlier result states."""
    parallel: bool
    """Two calls need not wait for each other."""


def gold_of(run: Run, query: str, tools: Mapping[str, Tool]) -> Gold | str:
    """Return the gold of a training answer, or the reason why there is none.

    Args:
        run: The training answer.
        query: The task's text.
        tools: The task's tools by their names of ToolBench's rule.
    """
    steps = tuple(call_steps(replies_of(run.moves, tools)))
    reason = _reason(run, steps)
    if reason is not None:
        return reason
    milestones = _milestones(steps, query, tools)
    return Gold(
        Plan(milestones),
        _with_answer(steps, run.answer),
        any(milestone.after for milestone in milestones),
        any(len(level) > 1 for level in levels([m.after for m in milestones])),
    )


def _reason(run: Run, steps: Sequence[Step]) -> str | None:
    calls = [step.call for step in steps if step.call is not None]
    known = [call for call in calls if call.tool is not None]
    if run.finish == "give_up" or run.finish_type == "give_up":
        return "give_up"
    if not calls or run.valid is False:
        return "no_calls"
    if not known:
        return "unmatched_api"
    if len(known) < len(calls):
        return "hallucinated_function"
    if any(call.arguments is None for call in calls):
        return "unparsable_arguments"
    return None


def _milestones(
    steps: Sequence[Step], query: str, tools: Mapping[str, Tool]
) -> tuple[Milestone, ...]:
    results = {step.result.call_id: step.result for step in steps if step.result is not None}
    by_id = {tool.id: tool for tool in tools.values()}
    milestones: list[Milestone] = []
    answers: list[str] = []
    for step in steps:
        if step.call is None or step.call.tool is None or step.call.arguments is None:
            continue
        needed = _new_values(step.call.arguments, query, by_id[step.call.tool])
        # Of each value the first answer that states it.
        stating = ([at for at, text in enumerate(answers) if states(text, v)][:1] for v in needed)
        after = sorted(set(chain.from_iterable(stating)))
        result = results.get(step.call.id)
        milestones.append(
            Milestone(
                Called.exact(step.call.tool, step.call.arguments),
                tuple(after),
                None if result is None else result.value,
            )
        )
        answers.append("" if result is None else result.content)
    return tuple(milestones)


def _new_values(arguments: Mapping[str, JSON], query: str, tool: Tool) -> list[str]:
    """Return the texts of values that neither the query nor the tool's document states.

    Values of one character, true, false and null are left out: they occur by chance.
    """
    properties = tool.parameters.get("properties", {})
    found = []
    for name, argument in arguments.items():
        document = properties.get(name, {})
        stated = {str(document.get("default")), *map(str, document.get("examples", ()))}
        found += [
            value
            for value in map(str.strip, leaves(argument))
            if len(value) > 1 and value not in stated and not states(query, value)
        ]
    return found


def _with_answer(steps: tuple[Step, ...], answer: str | None) -> tuple[Step, ...]:
    if not answer:
        return steps
    turn = steps[-1].turn + 1 if steps else 0
    return (*steps, Step(len(steps), LEAD, USER, answer, turn=turn))

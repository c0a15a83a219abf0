"""BFCL's files: categories and items beside their possible answers, read and written."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from seal.core import JSON, DataError, Goal, Plan, UnknownNameError
from seal.core.values import json_text
from seal.experiments.export import Writer
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    FileFault,
    expect,
    field_of,
    json_records,
    refuse_deep,
    usable,
    wrong_source,
)

# -- BFCL's files: which categories a source holds, and their items beside their answers.
#
# BFCL_v4_CATEGORY.json                   items, JSON Lines
# possible_answer/BFCL_v4_CATEGORY.json   accepted calls or answers, joined by id
# multi_turn_func_doc/CLASS.json          functions of the multi-turn and agentic categories
# memory_prereq_conversation/*.json       what was said before the memory questions
#
# Until August 2024 a category's file was named `gorilla_openfunctions_v1_test_CATEGORY.json`; its
# items and answers are read as is said below.

_Made = TypeVar("_Made")
_CATEGORY_FILE = re.compile(r"BFCL_v\d+_(?P<category>\w+)\.json")
_FIRST_FILE = re.compile(r"gorilla_openfunctions_v1_test_(?P<category>\w+)\.json")
_ANSWERS = "possible_answer"
_NOT_TASKS = frozenset({"format_sensitivity"})
"""Files that list ids of other categories' items."""


@dataclass(frozen=True, slots=True)
class Category:
    """One of upstream's test categories."""

    name: str
    suite: str
    """non_live, live, multi_turn or agentic, as upstream groups its results."""
    language: str = "python"
    answered: bool = True
    """False: there is no file of possible answers."""

    @property
    def python_gold(self) -> bool:
        """True for the single-turn categories in Python that have gold calls."""
        single = self.suite in ("non_live", "live")
        return single and self.answered and self.language == "python"


CATEGORIES: Mapping[str, Category] = {
    category.name: category
    for category in (
        Category("simple_python", "non_live"),
        Category("multiple", "non_live"),
        Category("parallel", "non_live"),
        Category("parallel_multiple", "non_live"),
        Category("live_simple", "live"),
        Category("live_multiple", "live"),
        Category("live_parallel", "live"),
        Category("live_parallel_multiple", "live"),
        Category("simple_java", "non_live", "java"),
        Category("simple_javascript", "non_live", "javascript"),
        Category("irrelevance", "non_live", answered=False),
        Category("live_irrelevance", "live", answered=False),
        Category("live_relevance", "live", answered=False),
        Category("multi_turn_base", "multi_turn"),
        Category("multi_turn_miss_func", "multi_turn"),
        Category("multi_turn_miss_param", "multi_turn"),
        Category("multi_turn_long_context", "multi_turn"),
        Category("memory", "agentic"),
        Category("web_search", "agentic"),
    )
}
"""In the order in which they are read, whatever the files' order."""

SETS: Mapping[str, tuple[str, ...]] = {
    "python_gold": tuple(name for name, c in CATEGORIES.items() if c.python_gold),
    **{
        suite: tuple(name for name, c in CATEGORIES.items() if c.suite == suite)
        for suite in ("non_live", "live", "multi_turn", "agentic")
    },
}
"""Names that stand for several categories."""


class Item(NamedTuple):
    """One record of a category and its answer."""

    record: dict[str, Any]
    answer: dict[str, Any] | None
    """The record of the same id among the possible answers; None where the category has none."""

    @property
    def ground_truth(self) -> list[Any]:
        """What the answer holds; empty where there is none."""
        return [] if self.answer is None else list(self.answer["ground_truth"])


class BfclFiles:
    """The files of a source.

    Args:
        source: The folder as upstream publishes it, or one category's file in it.

    Raises:
        DataError: It holds no category's file.
    """

    def __init__(self, source: Path) -> None:
        self.folder = source.parent if source.is_file() else source
        self.counts: Counter[str] = Counter()
        self.unknown: list[str] = []
        """Names of files whose category is none of `CATEGORIES`."""
        self._paths: dict[str, Path] = {}
        for path in [source] if source.is_file() else sorted(source.glob("*.json")):
            found = _CATEGORY_FILE.fullmatch(path.name) or _FIRST_FILE.fullmatch(path.name)
            name = found["category"] if found else ""
            name = FIRST.get(name, name)
            if name in CATEGORIES:
                self._paths[name] = path
                self.counts["categories"] += 1
            elif found and name not in _NOT_TASKS:
                self.unknown.append(path.name)
                self.counts["unknown"] += 1
            else:
                self.counts["ids" if found else "other"] += 1
        if not self._paths and not self.unknown:
            raise wrong_source(source, "BFCL_v4_CATEGORY.json, such as simple_python", "bfcl")

    def categories(self, wanted: str) -> list[Category]:
        """Return the categories that are here and wanted, in the order of `CATEGORIES`.

        Args:
            wanted: Names of categories or of `SETS`, separated by commas; empty: all.

        Raises:
            UnknownNameError: There is no such category.
            DataError: A category that is named alone has no file here.
        """
        names: set[str] = set()
        for name in filter(None, map(str.strip, wanted.split(","))):
            if name not in SETS and name not in CATEGORIES:
                raise UnknownNameError("category of bfcl", name, [*CATEGORIES, *SETS])
            if name in CATEGORIES and name not in self._paths:
                raise DataError(f"{self.folder} has no file of the category {name!r}; fetch it")
            names.update(SETS.get(name, (name,)))
        return [
            category
            for name, category in CATEGORIES.items()
            if name in self._paths and (not names or name in names)
        ]

    def items(
        self, category: Category, read: Callable[[Item], _Made], notes: Notes
    ) -> Iterator[_Made]:
        """Yield what is read of a category's records, each with its answer.

        Args:
            category: One of those that are here.
            read: Makes something of an item; raises DataError where it is malformed.
            notes: Gets the count of malformed items and answers, which are left out.

        Raises:
            DataError: A file is malformed or missing, or no item has an answer and is well-formed.
        """
        path = self._paths[category.name]
        answer_path = path.parent / _ANSWERS / path.name
        is_first = _FIRST_FILE.fullmatch(path.name) is not None
        kind = dict if is_first else list
        answers = _answers(answer_path, kind, notes) if category.answered else None
        seen = set()

        def read_item(record: Any) -> _Made:
            refuse_deep(record)
            item_id = field_of(record, "id", str)
            seen.add(item_id)
            if answers is not None and item_id not in answers:
                raise DataError(
                    f"{item_id!r} has no answer in {answer_path}: "
                    "are the two files of one version? Fetch both again"
                )
            answer = answers[item_id] if answers is not None else None
            if not is_first:
                return read(Item(record, answer))
            gold = answer and answer_of(record, answer["ground_truth"])
            return read(Item(item_of(record), gold))

        yield from usable(path, read_item, notes)
        self.counts["answers_without_item"] += len((answers or {}).keys() - seen)

    def side(self, name: str) -> list[Any]:
        """Return the records of a file beside the categories' own.

        Args:
            name: Path in the folder, such as `multi_turn_func_doc/web_search.json`.

        Raises:
            DataError: There is no such file, or it is malformed.
        """
        path = self.folder / name
        if not path.is_file():
            folder = path.parent.name
            raise DataError(f"there is no file {path}, which items here need; fetch {folder}/ too")
        return [record.value for record in json_records(path)]


def _answers(path: Path, kind: type, notes: Notes) -> dict[str, dict[str, Any]]:
    """Return the records of a file of answers by id, with gold of a kind: a list or a map."""
    if not path.is_file():
        raise DataError(f"{path.name} needs its answers, but there is no file {path}")
    found: dict[str, dict[str, Any]] = {}

    def read(record: Any) -> None:
        refuse_deep(record)
        item_id = field_of(record, "id", str)
        field_of(record, "ground_truth", kind)
        if found.setdefault(item_id, record) != record:
            raise FileFault(f"the id {item_id!r} stands twice, with other answers")

    for _ in usable(path, read, notes, reason="malformed_answer"):
        pass
    return found


# -- The first version (until August 2024): its questions and gold in the form of the present one.
#
# Until then a question was one text, its functions one document or a list of them, and gold a map
# of function to accepted values. A function that is called several times had a number behind its
# name: `tide_1`, `tide_2`.
#
# Source: ShishirPatil/gorilla at de8307b4, `berkeley-function-call-leaderboard/data`.

FIRST: Mapping[str, str] = {
    "simple": "simple_python",
    "multiple_function": "multiple",
    "parallel_function": "parallel",
    "parallel_multiple_function": "parallel_multiple",
    "java": "simple_java",
    "javascript": "simple_javascript",
    "relevance": "irrelevance",
}
"""Category of the first version to its name today."""
_NUMBERED = re.compile(r"(?P<name>.+)[_ ]\d+")


def item_of(record: Any) -> dict[str, JSON]:
    """Return a question in the present form.

    Args:
        record: `{id, question, function}`.

    Raises:
        DataError: A field is missing or malformed.
    """
    said = field_of(record, "question", str)
    return {
        "id": field_of(record, "id", str),
        "question": [[{"role": "user", "content": said}]],
        "function": list(_documents(record)),
    }


def answer_of(record: Any, gold: Any) -> dict[str, JSON]:
    """Return the gold of a question in the present form.

    Args:
        record: The question, `{id, question, function}`.
        gold: `{function: {argument: [accepted values]}}`.

    Raises:
        DataError: A field is missing or malformed.
    """
    offered = [field_of(document, "name", str) for document in _documents(record)]
    calls = expect(gold, dict, "gold")
    truth: list[JSON] = [{_named(name, offered): given} for name, given in calls.items()]
    return {"id": field_of(record, "id", str), "ground_truth": truth}


def _documents(record: Any) -> Sequence[Any]:
    found = record.get("function") if isinstance(record, dict) else None
    return found if isinstance(found, list) else [expect(found, dict, "function")]


def _named(name: str, offered: Sequence[str]) -> str:
    """Return the function that gold names, perhaps with a number behind it.

    Where one alone is offered, it is meant, whatever gold names: so the leaderboard reads it. Of
    several, gold may name none. The importer says so then.
    """
    if len(offered) == 1:
        return offered[0]
    numbered = _NUMBERED.fullmatch(name)
    for known in (name, numbered["name"] if numbered else name):
        if known in offered:
            return known
    return name


# -- The form `bfcl` of `seal export`: BFCL_v4_CATEGORY.json, possible_answer/; of a run result/.

_BESIDE = (("possible_answer/", "answers", ""), ("result/", "results", "_result"))


def write_bfcl(to: Writer) -> None:
    """Write the single turns of a pool, and of a run the calls that were made."""
    to.read_back = "SEAL reads it: `seal import bfcl FOLDER --out POOL`."
    items: defaultdict[str, dict[str, list[dict[str, JSON]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    names: dict[str, str] = {}
    for key, task, goal in to.goals():
        truth = _truth(to, goal) if len(task.goals) == 1 else None
        if truth is None:
            to.left_out["goals that are no single turn with gold arguments, all in one step"] += 1
            continue
        offered = to.offered(goal)
        name = names[key] = _category(len(offered), len(truth))
        question: JSON = [[{"role": "user", "content": goal.text}]]
        functions: Any = to.documents(tool.id for tool in offered)
        items[""][name].append({"id": key, "question": question, "function": functions})
        if truth:
            items["possible_answer/"][name].append({"id": key, "ground_truth": truth})
    for trajectory in () if to.run is None else to.run.trajectories():
        if trajectory.task_id in names:
            calls = [step.call for step in trajectory.steps if step.call is not None]
            made: JSON = [{call.name: call.raw or json_text(call.arguments)} for call in calls]
            result: dict[str, JSON] = {"id": trajectory.task_id, "result": made}
            items["result/"][names[trajectory.task_id]].append(result)
    for folder, kind, end in (("", "items", ""), *_BESIDE):
        for name, lines in items[folder].items():
            to.lines(f"{folder}BFCL_v4_{name}{end}.json", kind, lines)


def _truth(to: Writer, goal: Goal) -> list[JSON] | None:
    """Return BFCL's ground truth of a goal: the right values of each argument.

    None: the right values are not known, or a call waits for another.
    """
    if goal.plans is None:
        return None
    plan = goal.plans[0] if goal.plans else Plan()
    if any(step.after for step in plan.milestones):
        return None
    truth: list[JSON] = []
    for call in plan.calls():
        if call.arguments is None or any(a.values is None for a in call.arguments.values()):
            return None
        right: dict[str, JSON] = {
            name: [*(gold.values or ()), *([""] if gold.optional else [])]
            for name, gold in call.arguments.items()
        }
        truth.append({to.names[call.tool]: right})
    return truth


def _category(offered: int, calls: int) -> str:
    if not calls:
        return "irrelevance"
    several = "multiple" if offered > 1 else ""
    return "_".join(filter(None, ["parallel" * (calls > 1), several])) or "simple_python"

"""Berkeley Function-Calling Leaderboard (BFCL) v4: importer.

Source: ShishirPatil/gorilla, `berkeley-function-call-leaderboard/bfcl_eval/data`. Task id: as
upstream's. Tool id: `bfcl/LANGUAGE/FUNCTION` for functions that items bring with them, and
`bfcl/FILE/FUNCTION` for those of the multi-turn and agentic categories. What a file means:
`files`; its documents: `tools`; its gold and its tasks: `tasks`. What models answered stands below.

Gold of which the document of its tool refuses an accepted value is kept; `seal lint` tells it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast, get_args

from seal.benchmarks.bfcl.answers import Dialect, Reading, dialect_of, models
from seal.benchmarks.bfcl.files import CATEGORIES, FIRST, SETS, BfclFiles, Category, Item
from seal.benchmarks.bfcl.leaderboard import wrong_goal
from seal.benchmarks.bfcl.tasks import MEMORIES, TaskMaker
from seal.benchmarks.bfcl.tools import Functions, ToolPer
from seal.core import (
    JSON,
    DataError,
    Stop,
    Task,
    Tool,
    Trajectory,
    Usage,
    UsageError,
    check_name,
)
from seal.core.text import counted
from seal.core.values import well_formed
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import (
    CountedFault,
    LeftOut,
    field_of,
    fields,
    json_records,
    numbered,
    usable,
)
from seal.pools.reading.records import MANAGER, Made, TaskIds, chat_steps


def import_bfcl(
    source: Path,
    notes: Notes,
    *,
    tool_per: str = "content",
    categories: str = "",
    memory: str = "kv",
    answers: str = "",
) -> Iterator[Tool | Task | Recorded]:
    """Yield BFCL's tasks, then its tools, then what models answered.

    Args:
        source: The folder as upstream publishes it, or one category's file in it.
        notes: Gets the counts.
        tool_per: "content": each different document is a tool; "name": the documents of one name
            are one tool, and the first in the order of `files.CATEGORIES` and lines stands for
            all. Gold is read by the item's own document either way.
        categories: Only these, separated by commas: names of categories, or python_gold, non_live,
            live, multi_turn, agentic; empty: all. `python_gold` with "name" is the pool of
            single-turn calls in Python: 2,351 queries over 1,287 functions.
        memory: With which functions memory questions are asked: kv, vector or rec_sum.
        answers: Folder with `result/` and perhaps `score/`, as `bfcl generate` and `bfcl evaluate`
            write them, of which each model becomes a recording (`recordings`); empty: none.

    Raises:
        UnknownNameError: An option has no such value.
        UsageError: The folder of answers holds none.
        DataError: A file is malformed or missing; the text names file and place.
    """
    check_name("tool_per of bfcl", tool_per, get_args(ToolPer))
    check_name("memory of bfcl", memory, MEMORIES)
    files = BfclFiles(source)
    chosen = files.categories(categories)
    made = _Import(files, chosen, Functions(cast("ToolPer", tool_per)), memory, notes)
    return made.records(Path(answers) if answers else None)


def import_answers(
    source: Path, notes: Notes, *, answers: str = ""
) -> Iterator[Tool | Task | Recorded]:
    """Yield what `import_bfcl` does for the answers of one model, which become a run to score.

    Args:
        source: The folder of the questions.
        notes: Gets the counts.
        answers: As of `import_bfcl`.

    Raises:
        UsageError: No answers are named.
    """
    if not answers:
        raise UsageError(
            "of whom? Name the folder of a model's answers, as `bfcl generate` writes it: "
            "-T answers=FOLDER/result/MODEL"
        )
    yield from import_bfcl(source, notes, answers=answers)


class _Import:
    """One import: what was met so far."""

    def __init__(
        self,
        files: BfclFiles,
        categories: list[Category],
        functions: Functions,
        memory: str,
        notes: Notes,
    ) -> None:
        self._files = files
        self._categories = categories
        self._functions = functions
        self._notes = notes
        self._maker = TaskMaker(files, functions, memory, notes.dropped)
        self._ids = TaskIds()
        self._items: dict[str, int] = {}
        self._asked: dict[str, Asked] = {}
        self._gold_calls = 0

    def records(self, answers: Path | None) -> Iterator[Tool | Task | Recorded]:
        for category in self._categories:
            self._items[category.name] = 0
            read = partial(self._task, category=category)
            yield from self._files.items(category, read, self._notes)
        yield from self._functions
        self._report()
        if answers is not None:
            tools = self._functions.table.by_id()
            yield from recordings(answers, self._asked, tools, self._notes)

    def _task(self, item: Item, category: Category) -> Task:
        self._items[category.name] += 1
        task = self._maker.task(item, category)
        own = self._ids.add(task.id, "\n".join(goal.text for goal in task.goals))
        task = replace(task, id=own)
        self._asked[own] = Asked(task, category)
        for goal in task.goals:
            self._gold_calls += sum(len(plan.calls()) for plan in goal.plans or ())
        return task

    def _report(self) -> None:
        facts = self._notes.facts
        table = self._functions.table
        facts["files"] = dict(sorted(self._files.counts.items()))
        facts["unknown_files"] = self._files.unknown
        facts["items"] = sum(self._items.values())
        facts["categories"] = self._items
        facts["functions"] = {
            "tools": len(table),
            "names": len({tool.id.partition("#")[0] for tool in table}),
            "variants": table.variants,
            "repeated_documents": table.duplicates,
            "set_aside_documents": self._functions.set_aside,
        }
        facts["type_words"] = dict(sorted(self._functions.words.items()))
        counts = Counter(self._maker.counts)
        counts["gold_calls"] = self._gold_calls
        counts["repeated_texts"] = self._ids.repeated
        facts["counts"] = dict(sorted(counts.items()))
        self._notes.lacks.update(self._lacking())

    def _lacking(self) -> Iterator[str]:
        """Yield what no tool has, and what the files hold for no task."""
        yield "results"
        if not any(tool.category for tool in self._functions):
            yield "categories"
        if not any(tool.returns for tool in self._functions):
            yield "response_shapes"
        if not self._gold_calls:
            yield "gold_calls"


# -- Answers that models gave, as upstream publishes them, as recordings beside the questions.
#
# result/MODEL/[SUITE/]BFCL_v4_CATEGORY_result.json   answers, JSON Lines
# score/MODEL/[SUITE/]BFCL_v4_CATEGORY_score.json     a line of counts, then what is wrong by the
#                                                     leaderboard; every other answer is right
#
# Until August 2024 the files were named `gorilla_openfunctions_v1_test_CATEGORY_result.json` and
# `CATEGORY_score.json`. An answer is one reply: its calls have no results, and nothing was
# executed. Each model's answers are read in the dialect that it writes (`answers`). What cannot be
# read is the model's error: a reply without calls, of which the provenance says why.
#
# Source: ShishirPatil/gorilla, `berkeley-function-call-leaderboard` (what `bfcl generate` and
# `bfcl evaluate` write), and its state de8307b4 of August 2024.

_RESULT = re.compile(
    r"(?:BFCL_v\d+_|gorilla_openfunctions_v1_test_)?(?P<category>\w+)_result\.json"
)
_SCORE = re.compile(r"(?:BFCL_v\d+_)?(?P<category>\w+)_score\.json")
_SUITES = frozenset(
    {*SETS, "memory", "kv", "vector", "rec_sum", "web_search", "format_sensitivity"}
)
"""Folders below a model's that group its files."""
_SINGLE = ("non_live", "live")
_LISTED = 5
"""Answers of which verdicts differ, that are listed for each model."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the import made it."""

    task: Task
    category: Category


def recordings(
    folder: Path, asked: Mapping[str, Asked], tools: Mapping[str, Tool], notes: Notes
) -> Iterator[Recorded]:
    """Yield the answers of each model to the questions, in the order of the models' names.

    Args:
        folder: With `result/`, or `result/` or a model's folder in it.
        asked: Id to question.
        tools: The pool by id.
        notes: Gets the counts of each model: its answers, what was left out and why, and how many
            verdicts of the leaderboard are those of `--match bfcl`.

    Raises:
        UsageError: There are no such files.
    """
    found = _files(folder / "result" if (folder / "result").is_dir() else folder, _RESULT)
    if not found:
        raise UsageError(
            f"{folder} holds no answers: expected result/MODEL/BFCL_v4_CATEGORY_result.json, as "
            "`bfcl generate` writes them; name the folder that has result/"
        )
    for model, paths in sorted(found.items()):
        scores = _files(_beside(folder, model), _SCORE).get(model, {})
        yield from _Model(model, scores, asked, tools, notes).recorded(paths)


def _files(root: Path, pattern: re.Pattern[str]) -> dict[str, dict[str, Path]]:
    """Return model to category to file below a folder."""
    found: defaultdict[str, dict[str, Path]] = defaultdict(dict)
    for path in sorted(root.rglob("*.json")):
        named = pattern.fullmatch(path.name)
        if named is not None:
            model = well_formed(next(p.name for p in path.parents if p.name not in _SUITES))
            category = named["category"]
            found[model][FIRST.get(category, category)] = path
    return found


def _beside(folder: Path, model: str) -> Path:
    """Return the folder of a model's scores, which may not be there."""
    roots = (folder / "score", folder.parent / "score", folder.parent.parent / "score")
    return next((root / model for root in roots if (root / model).is_dir()), folder / "score")


class _Model:
    """The answers of one model."""

    def __init__(
        self,
        name: str,
        scores: Mapping[str, Path],
        asked: Mapping[str, Asked],
        tools: Mapping[str, Tool],
        notes: Notes,
    ) -> None:
        self._name, self._scores, self._notes = name, scores, notes
        self._asked, self._tools = asked, tools
        self._known = models().get(name)
        self._counts: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._differ: list[str] = []

    def recorded(self, paths: Mapping[str, Path]) -> Iterator[Recorded]:
        """Yield the answers of the model's files by category, and tell what was found."""
        for name, path in paths.items():
            category = CATEGORIES.get(name)
            if category is None or category.suite not in _SINGLE:
                self._counts["files_of_other_categories"] += 1
                continue
            wrong = self._wrong(name)
            read = partial(self._answer, wrong=wrong)
            yield from usable(path, read, self._notes, numbered(json_records))
        self._counts["verdicts_that_differ"] = len(self._differ)
        if self._differ:
            first = ", ".join(self._differ[:_LISTED])
            told = counted(len(self._differ), "verdict")
            self._notes.remarks.append(
                f"{self._name}: {told} of the leaderboard not those of --match bfcl: {first}"
            )
        facts: Any = self._notes.facts.setdefault("answers", {})
        facts[self._name] = dict(sorted(self._counts.items()))

    def _wrong(self, category: str) -> frozenset[str | int] | None:
        """Return the answers that the leaderboard counts wrong; None: it does not tell.

        Each goes by its id, or by its position in the file of answers, from 1. A file that was cut
        tells nothing: whom it does not name is right.
        """
        path = self._scores.get(category)
        if path is None:
            return None
        wrong = set[str | int]()
        found, expected = 0, None
        for _, record in json_records(path):
            if isinstance(record, dict) and "accuracy" in record:
                total, right = fields(record, total_count=int, correct_count=int)
                expected = total - right
                continue
            found += 1
            if not isinstance(record, dict):
                continue
            prompt = record.get("prompt")
            prompt = prompt if isinstance(prompt, dict) else {}
            named = prompt.get("id", record.get("id"))
            wrong |= {named} if isinstance(named, (str, int)) else set()
            asked, text = self._asked.get(str(named)), prompt.get("question")
            if isinstance(text, str) and asked is not None:
                self._counts["other_questions"] += text != asked.task.goals[0].text
        if found != expected:
            counts = "no line of counts" if expected is None else f"{expected:,} by its counts"
            self._notes.leave_out(
                "verdicts_in_part",
                f"{path.name}: {counted(found, 'wrong answer')}, but {counts}; fetch it again",
            )
            return None
        return frozenset(wrong)

    def _answer(self, placed: tuple[int, Any], wrong: frozenset[str | int] | None) -> Recorded:
        position, record = placed
        task_id = field_of(record, "id", str)
        if "result" not in record:
            raise DataError("no field 'result'; is it a file of answers?")
        asked = self._asked.get(task_id)
        if asked is None:
            raise LeftOut("answers_without_task")
        if task_id in self._seen:
            raise CountedFault("answers_given_twice", f"the id {task_id!r} stood before")
        self._seen.add(task_id)
        self._counts["answers"] += 1
        dialect = self._dialect(record["result"])
        reading = dialect.read(record["result"], asked.category.language)
        if reading.problem and asked.category.answered:
            self._counts[reading.problem] += 1
        goal = asked.task.goals[0]
        made = dialect.made(reading, [self._tools[one] for one in goal.offered or ()])
        if wrong is not None:
            self._counts["verdicts"] += 1
            ours = not wrong_goal(goal, made, self._tools, asked.category.language)
            if ours is not wrong.isdisjoint((task_id, position + 1)):
                self._differ.append(task_id)
        replies = [[Made("", call, None) for call in made]] if made else []
        text = record["result"] if isinstance(record["result"], str) and not made else ""
        steps = [*chat_steps(goal.text, replies, text if not made else None, text)]
        tokens = [record.get(name) for name in ("input_token_count", "output_token_count")]
        at = next((place for place, one in enumerate(steps) if one.author == MANAGER), None)
        if at is not None and Usage.admits(*tokens):
            steps[at] = replace(steps[at], usage=Usage(*tokens))
        return Recorded(
            self._name,
            Trajectory(
                task_id,
                0,
                tuple(steps),
                offered=(tuple(goal.offered or ()),),
                stops=(Stop("done"),),
                answers=(text or None,),
                provenance=self._said(record, reading),
            ),
        )

    def _dialect(self, answer: Any) -> Dialect:
        """Return the dialect of the model; of one that is not known that of an answer's form."""
        if self._known is not None:
            return dialect_of(self._name)
        self._counts["dialect_by_form"] += 1
        is_native = isinstance(answer, list) or self._name.endswith("-FC")
        return Dialect("native", underscores=True) if is_native else Dialect("python")

    def _said(self, record: Mapping[str, Any], reading: Reading) -> dict[str, JSON]:
        """Return what the file says of an answer, besides what was said in it."""
        said: dict[str, JSON] = {"recording": self._name}
        if reading.problem:
            said[reading.problem] = reading.why
        if isinstance(record.get("latency"), (int, float)):
            said["latency_s"] = record["latency"]
        return said

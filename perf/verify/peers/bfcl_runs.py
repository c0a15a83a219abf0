"""`--match bfcl` beside the leaderboard's own verdicts on 71 real models.

The answers, and the questions and gold of that day, are read as `seal` reads them: each answer by
the reader of its dialect, gold by the importer, and the verdict is that of `--match bfcl`.

Source: github.com/HuanzhiMao/BFCL-Result, folder 2024-08-11, repacked as one file a model:
`{id, category, result, valid, error_type?}` a line; ShishirPatil/gorilla at de8307b4 for questions.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from peers.comparison import Peer, PeerFigure
from seal.benchmarks.bfcl.answers import Dialect, Reading, dialect_of
from seal.benchmarks.bfcl.files import FIRST, answer_of, item_of
from seal.benchmarks.bfcl.leaderboard import wrong_goal
from seal.core import Task, Tool, ToolCall, UsageError
from seal.core.validation import CallValidator
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool

_QUESTIONS = "_questions.jsonl.gz"
_RELEVANCE = "upstream_form/questions/gorilla_openfunctions_v1_test_relevance.json"
_PROBLEMS = {
    "ast_decoder:decoder_failed": "unreadable",
    "ast_decoder:decoder_wrong_output_format": "no_calls",
}
"""The leaderboard's kind of error to that of our readers."""
_CODE = ("java", "javascript")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer of a model, and what both say of it."""

    model: str
    category: str
    task: Task
    """Without gold where the importer left it out."""
    reading: Reading
    made: list[ToolCall]
    ours: str | None
    """What is wrong by `--match bfcl`; empty: nothing; None: it does not judge."""
    right: bool
    """By the leaderboard."""
    problem: str
    """Why the leaderboard read no calls, as our readers name it; empty: it read them."""

    @property
    def of(self) -> str:
        """The model and the question."""
        return f"{self.model}, {self.task.id}"

    @property
    def verdict(self) -> bool | None:
        """Whether the answer is right by `--match bfcl`."""
        return None if self.ours is None else not self.ours


@dataclass
class Runs:
    """The answers of all models.

    Args:
        folder: Of the files.

    Raises:
        UsageError: The files are not there.
    """

    folder: Path
    tools: dict[str, Tool] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    """Questions whose gold the importer cannot read."""
    lettered: frozenset[str] = frozenset()
    """Questions in whose gold a member of a map has a text where a list of values belongs."""

    def __post_init__(self) -> None:
        questions = [self.folder / _QUESTIONS, self.folder / _RELEVANCE]
        for path in questions:
            if not path.is_file():
                raise UsageError(f"no answers of real models: expected {path}; set SEAL_DATA")
        records = [record for path in questions for record in _records(path)]
        with TemporaryDirectory() as made:
            _write(records, Path(made) / "files")
            import_benchmark("bfcl", Path(made) / "files", Path(made) / "pool")
            pool = load_pool(Path(made) / "pool")
            self.tools = {tool.id: tool for tool in pool.tools()}
            self.tasks = {task.id: task for task in pool.tasks()}
        self.left_out = frozenset(record["id"] for record in records) - self.tasks.keys()
        self.lettered = frozenset(record["id"] for record in records if _lettered(record))

    def models(self) -> dict[str, Path]:
        """Return model to file."""
        paths = sorted(self.folder.glob("[!_]*.jsonl.gz"))
        return {path.name.removesuffix(".jsonl.gz"): path for path in paths}

    def answers(self, *models: str) -> Iterator[Answered]:
        """Yield the answers of some models; of all, where none is named."""
        for model, path in self.models().items():
            if not models or model in models:
                dialect = dialect_of(model)
                for record in _records(path):
                    yield self._answered(model, dialect, record)

    def _answered(self, model: str, dialect: Dialect, record: Mapping[str, Any]) -> Answered:
        task = self.tasks.get(record["id"]) or Task(record["id"], "bfcl", ())
        category = record["category"]
        language = category if category in _CODE else "python"
        reading = dialect.read(record["result"], language)
        offered = [self.tools[tool] for goal in task.goals for tool in goal.offered or ()]
        made = dialect.made(reading, offered)
        ours = wrong_goal(task.goals[0], made, self.tools, language) if task.goals else None
        problem = _PROBLEMS.get(record.get("error_type", ""), "")
        return Answered(model, category, task, reading, made, ours, record["valid"], problem)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    raw = path.read_bytes()
    lines = (gzip.decompress(raw) if path.suffix == ".gz" else raw).splitlines()
    yield from map(json.loads, lines)


def _write(records: list[dict[str, Any]], to: Path) -> None:
    """Write questions and gold of the first version as files of the present one."""
    items: defaultdict[str, list[Any]] = defaultdict(list)
    for record in records:
        category = re.sub(r"[_ ]\d+$", "", record["id"])
        name = f"BFCL_v4_{FIRST[category]}.json"
        items[name].append(item_of(record))
        if "gold" in record:
            answer = answer_of(record, record["gold"])
            items[f"possible_answer/{name}"].append(answer)
    for name, lines in items.items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def runs() -> Runs:
    """Return the answers below SEAL_DATA."""
    return Runs(Path(os.environ.get("SEAL_DATA") or "data") / "bfcl_runs")


def _lettered(record: Mapping[str, Any]) -> bool:
    """Tell whether a map among the accepted values of a question has a text as a member."""
    calls = [call for call in record.get("gold", {}).values() if isinstance(call, dict)]
    accepted = [values for call in calls for values in call.values()]
    maps = [one for values in accepted for one in values if isinstance(one, dict)]
    return any(isinstance(member, str) for one in maps for member in one.values())


def recorded(found: Runs, *models: str) -> Iterator[PeerFigure]:
    """Yield what both say of the answers of some models; of all, where none is named."""
    for one in found.answers(*models):
        why = "" if one.verdict == one.right else _why(one, found)
        yield PeerFigure(f"verdicts, {one.category}", one.of, one.verdict, one.right, why)
        if one.category not in ("irrelevance", *_CODE):
            problems = one.reading.problem, one.problem
            yield PeerFigure("why an answer has no calls", one.of, *problems)


def _why(one: Answered, found: Runs) -> str:
    """Return the kind of a difference; empty: it is not known."""
    if one.task.id in found.left_out:
        return "gold that cannot be read"
    given = [value for call in one.made for value in (call.arguments or {}).values()]
    if one.category in _CODE and not all(isinstance(value, str) for value in given):
        return "a value that is no text of code"
    return "a text for a list of values" if one.task.id in found.lettered else ""


def refused_but_right(found: Runs, *models: str) -> tuple[int, int, Counter[str]]:
    """Count the answers in Python that the leaderboard counts right, and what SEAL refuses there.

    Args:
        found: The answers.
        models: Only of these; none: of all.

    Returns:
        How many answers there are, how many hold a call that SEAL's validation refuses, and these
        by the kind of the first fault.
    """
    check = CallValidator(found.tools)
    right = refused = 0
    kinds: Counter[str] = Counter()
    for one in found.answers(*models):
        if one.right and one.category not in ("irrelevance", *_CODE):
            right += 1
            faults = [fault for call in one.made if (fault := check.check(call))]
            refused += bool(faults)
            kinds.update(fault.kind for fault in faults[:1])
    return right, refused, kinds


_EXPLAINED = {
    "gold that cannot be read": "Nobody. Gold of parallel_multiple_function_179 names the argument "
    "`deck` where a function belongs, so that no answer can be right, and all 71 are counted "
    "wrong. The importer leaves the question out, and says so.",
    "a value that is no text of code": "Each by its rule. The peer's prompts tell the model that "
    "all values are texts of code, and its `simple_function_checker` refuses each for which "
    "`type(value) != str`. SEAL offers a function with the types that it declares, so that "
    "`--match bfcl` takes a value of this type for the code that writes it.",
    "a text for a list of values": "Ours. Gold has a text where a list of values belongs, and the "
    "peer's `dict_checker` takes each letter of it for an accepted value: "
    "`range(len(possible_answer[key]))`. So no answer is right by its rule.",
}

PEER = Peer(
    "BFCL's leaderboard of August 2024, its verdicts on 71 models",
    lambda: recorded(runs()),
    explained=_EXPLAINED,
)

"""A pool or a run in the forms of others, with a card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seal.agents.teams import CHECKER, USER
from seal.core import (
    JSON,
    DataError,
    Goal,
    Message,
    Request,
    Step,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UsageError,
    check_name,
    levels,
)
from seal.core.earlier_results import recorded_gold, waits
from seal.core.files import AtomicFile, part_of, remove, whole_name
from seal.core.records import query_id, trec_word
from seal.core.values import json_text
from seal.evaluation.rankings import grade_of, qrels_of, write_trec_qrels, write_trec_run
from seal.experiments.splits import MiningSettings
from seal.models.spec import ModelSettings
from seal.models.wire import wire_request, wire_tools
from seal.pools.benchmark import loaded
from seal.pools.catalogue import catalogue
from seal.pools.lookup import declared
from seal.pools.pool import StoredPool
from seal.retrievers.base import documents
from seal.runs.run import RunFolder, check_whole

# -- Writes a pool or a run in the forms of others, with a card that names its source and licence.
#
# | form | files |
# |---|---|
# | openai | tools.json, and chats.jsonl: a line of messages and tools, as for fine-tuning |
# | trec | queries.tsv, qrels.trec; of a run run.trec |
# | hf | tools.jsonl, tasks.jsonl; of a run chats.jsonl |
# | triplets | triplets.jsonl: queries, tools and hard negatives, to train a retriever |
# | inspect | of a run TIME_POOL.json, a log of inspect_ai |
#
# A benchmark may declare further forms (`seal.Benchmark.exports`). The chats of a pool are its
# gold; those of a run are what was said and done in it.

CARD = "README.md"
TRIPLETS = "triplets"
"""The form that has hard negatives."""
_COLUMNS = ("id", "query", "calls", "answer", "split", "system")
_NOT_SAID = "not stated; ask its authors"


@dataclass(slots=True, repr=False)
class Exported:
    """The files that were written, and what they hold."""

    folder: str
    to: str
    files: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Kind of record to the number written."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Reason to the number of goals or chats that the form cannot hold."""
    source: str = ""
    licence: str = ""

    def __repr__(self) -> str:
        held = [f"{what}: {count:,}" for what, count in self.counts.items()]
        left = [f"left out, {why}: {count:,}" for why, count in self.left_out.items()]
        files = f"files: {', '.join(self.files)}"
        return "\n".join((f"exported as {self.to} to {self.folder}", *held, *left, files))


def export(
    pool: StoredPool,
    to: str,
    out: Path,
    licence: str = "",
    mining: MiningSettings | None = None,
) -> Exported:
    """Write a pool, or a run's folder opened as a pool, in a form that others read.

    Args:
        pool: What is exported; if its folder has a run.json, it is a run.
        to: One of `forms`.
        out: Folder to make.
        licence: Licence of the data, for the card. Empty: that of the catalogue.
        mining: How the hard negatives of triplets are found; None: as its defaults say.

    Raises:
        UnknownNameError: No such form.
        UsageError: The folder holds something, the form can hold nothing of the pool, or it has no
            negatives.
        DataError: A file of the run is damaged or cut.
    """
    known_forms = forms()
    check_name("form of export", to, known_forms)
    if mining is not None and to != TRIPLETS:
        raise UsageError(
            f"--to {to}: only {TRIPLETS} have hard negatives; leave out --negatives, "
            "--negatives-by and --seed"
        )
    held = [path.name for path in out.iterdir()] if out.is_dir() else []
    if out.is_file() or any(whole_name(name) == name for name in held):
        raise UsageError(f"{out} holds something; choose a new folder")
    run = RunFolder(pool.folder) if (pool.folder / "run.json").is_file() else None
    if run:
        check_whole(run)
    name = run.pool_name if run else pool.name
    known = catalogue().get(name)
    parts = [known.title, known.paper, known.where] if known else [name, "a pool of its user's own"]
    made = Exported(str(out), to, source="; ".join(filter(None, parts)))
    made.licence = licence or (known.licence if known else _NOT_SAID)
    part = part_of(out / to)
    try:
        writer = Writer(pool, run, part, made, mining or MiningSettings())
        loaded(known_forms[to])(writer)
        if not any(count for kind, count in made.counts.items() if kind not in _BESIDE):
            reasons = ", ".join(f"{reason}: {count}" for reason, count in writer.left_out.items())
            raise UsageError(
                f"nothing of {name} can be said in the form {to}: {reasons or 'it wrote no record'}"
            )
        writer.card(name)
        for path in sorted(part.iterdir(), key=lambda path: path.name == CARD):
            path.replace(out / path.name)
    finally:
        remove(part)
    return made


class Writer:
    """Writes the files of one export; a form is a function of it.

    Args:
        pool: What is exported.
        run: The run whose pool that is; None: it is no run.
        out: Folder of the files.
        made: Gets their names and counts.
        mining: How hard negatives are found.
    """

    read_back = ""
    """What the card says of how the files are read; a form may set it."""

    def __init__(
        self,
        pool: StoredPool,
        run: RunFolder | None,
        out: Path,
        made: Exported,
        mining: MiningSettings,
    ) -> None:
        self.pool, self.run, self.out, self.made = pool, run, out, made
        self.mining = mining
        self.tools = {tool.id: tool for tool in pool.tools()}
        self.left_out: Counter[str] = Counter()
        shared = Counter(tool.name for tool in self.tools.values())
        self.names = {
            tool.id: tool.name if shared[tool.name] == 1 else tool.id
            for tool in self.tools.values()
        }
        """Id of each tool to its name; tools that share one have their ids."""

    def lines(self, name: str, kind: str, records: Iterable[Any]) -> None:
        """Write records as JSON Lines."""
        self.text(name, kind, (json_text(record) + "\n" for record in records))

    def text(self, name: str, kind: str, lines: Iterable[str]) -> None:
        """Write lines, and count them as a kind."""
        count = 0
        with AtomicFile(self.out / name) as file:
            for line in lines:
                file.write(line.encode())
                count += 1
        self.wrote(name, kind, count)

    def wrote(self, name: str, kind: str, count: int) -> None:
        """Add a file and its number of records to the result."""
        self.made.files.append(name)
        self.made.counts[kind] = self.made.counts.get(kind, 0) + count

    def goals(self) -> Iterator[tuple[str, Task, Goal]]:
        """Yield each goal with its id: that of the task, if this is the task's only goal."""
        for task in self.pool.every_task():
            for number, goal in enumerate(task.goals):
                several = len(task.goals) > 1
                yield f"{task.id}:{number}" if several else task.id, task, goal

    def calls(self, goal: Goal) -> list[dict[str, JSON]] | None:
        """Return the gold calls of a goal, with the first right value of each argument.

        None: the right calls are not known.
        """
        if goal.plans is None:
            return [{"name": self.names[tool]} for tool in goal.relevant] or None
        return [
            {"name": self.names[call.tool]}
            | ({} if call.arguments is None else {"arguments": call.canonical_arguments()})
            for plan in goal.plans[:1]
            for call in plan.calls()
        ]

    def row(self, asked: tuple[str, Task, Goal]) -> dict[str, JSON]:
        """Return a goal as a row for `seal new`: gold calls are a JSON text, tags are columns."""
        key, task, goal = asked
        calls = self.calls(goal)
        own = {tag: value for tag, value in task.tags.items() if tag not in _COLUMNS}
        row = {"id": key, "query": goal.text, "calls": None if calls is None else json_text(calls)}
        row |= {"system": task.system} if task.system else {}
        return {**row, "answer": list(goal.answers), "split": task.split, **own}

    def documents(self, ids: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Return tools as name, description and parameters."""
        tools = self.tools.values() if ids is None else (self.tools[one] for one in ids)
        return [
            {
                "name": self.names[tool.id],
                "description": tool.description,
                "parameters": tool.parameters,
            }
            for tool in tools
        ]

    def offered(self, goal: Goal) -> list[Tool]:
        """Return a goal's offered tools, else the tools of its gold, else all tools."""
        called = [call.tool for plan in goal.plans or () for call in plan.calls()]
        ids = goal.offered or tuple(dict.fromkeys([*goal.relevant, *called])) or tuple(self.tools)
        return [self.tools[one] for one in ids]

    def chats(self) -> Iterator[dict[str, Any]]:
        """Yield chats in OpenAI's form: those of a run, or the gold of a pool."""
        if self.run is None:
            for key, _, goal in self.goals():
                said = _gold_chat(goal, self.tools)
                if said:
                    yield {"id": key, **self._wired(said, self.offered(goal))}
                else:
                    self.left_out["goals without gold calls"] += 1
            return
        for trajectory in self.run.trajectories():
            said = _played(trajectory)
            offered = dict.fromkeys(one for ids in trajectory.offered for one in ids)
            if unknown := offered.keys() - self.tools.keys():
                raise DataError(
                    f"{self.run.trajectories_path}: task {trajectory.task_id!r} was offered "
                    f"{min(unknown)!r}, which is not in tools.jsonl; put that file back as it was"
                )
            told = {"id": trajectory.task_id, "trial": trajectory.trial}
            yield {**told, **self._wired(said, [self.tools[one] for one in offered])}

    def _wired(self, said: list[Message], tools: list[Tool]) -> dict[str, Any]:
        request = Request(tuple(said), tuple(tools))
        body = wire_request("", request, wire_tools(request.tools), ModelSettings())
        while said and said[-1].calls and body["messages"][-1]["role"] == "tool":
            body["messages"].pop()  # a note that there is no result yet, which servers want
        return {key: body[key] for key in ("messages", "tools") if key in body}

    def card(self, name: str) -> None:
        """Write the card: what this is, where it comes from, and its licence."""
        made = self.made
        made.left_out = dict(self.left_out)
        what = f"A run of {name}" if self.run else name
        terms: dict[str, JSON] = {
            "pretty_name": what,
            "license": "other",
            "license_name": made.licence,
            "tags": ["tool-use"],
        }
        if made.to == "hf":
            terms["configs"] = [
                {"config_name": Path(file).stem, "data_files": file} for file in made.files
            ]
        lines = [
            "---",
            *(f"{key}: {json_text(value)}" for key, value in terms.items()),
            "---",
            f"# {what}",
            "",
            f"- form: {made.to}",
            f"- source: {made.source}",
            f"- licence of the data: {made.licence}",
            f"- digest of its tools and tasks (SHA-256): {self.pool.digest}",
            f"- holds: {_listed(made.counts)}",
            f"- left out: {_listed(made.left_out) or 'nothing'}",
            f"- files: {', '.join(made.files)}",
            "",
            self.read_back,
        ]
        (self.out / CARD).write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
        made.files.append(CARD)


def _openai(to: Writer) -> None:
    if to.run is None:
        functions: JSON = [{"type": "function", "function": one} for one in to.documents()]
        to.text("tools.json", "tools", [json_text(functions) + "\n"])
        to.made.counts["tools"] = len(to.tools)
    to.lines("chats.jsonl", "chats", to.chats())


def corpus(to: Writer) -> Iterator[tuple[str, str, float]]:
    """Write documents and queries; return query, document and grade of each relevant tool."""
    qrels, texts = _wanted(to)
    tools = tuple(to.tools.values())
    corpus = zip(tools, documents(tools), strict=True)
    to.lines(
        "corpus.jsonl",
        "documents",
        ({"_id": trec_word(tool.id), "title": tool.name, "text": text} for tool, text in corpus),
    )
    to.lines("queries.jsonl", "queries", ({"_id": i, "text": text} for i, text in texts.items()))
    return (
        (query_id(key), trec_word(tool), grade_of(relevant, tool))
        for key, relevant in qrels.items()
        for tool in relevant
    )


def _trec(to: Writer) -> None:
    qrels, texts = _wanted(to)
    topics = (f"{i}\t{' '.join(text.split())}\n" for i, text in texts.items())
    to.text("queries.tsv", "queries", topics)
    to.wrote("qrels.trec", "judgements", write_trec_qrels(to.out / "qrels.trec", qrels))
    if to.run is not None:
        ranked = write_trec_run(to.out / "run.trec", to.run.rankings(), qrels=qrels)
        to.wrote("run.trec", "rankings", ranked)


def _wanted(to: Writer) -> tuple[dict[Any, Any], dict[str, str]]:
    """Return the relevant tools of each goal that has any, and the texts of these by query id."""
    tasks = list(to.pool.every_task())
    every = qrels_of(tasks)
    qrels = {key: relevant for key, relevant in every.items() if relevant}
    to.left_out["goals without relevant tools"] += len(every) - len(qrels)
    named = {task.id: task for task in tasks}
    return qrels, {query_id(key): named[key[0]].goals[key[1]].text for key in qrels}


def _hf(to: Writer) -> None:
    to.read_back = (
        "SEAL reads it: seal new NAME --tools tools.jsonl --tasks tasks.jsonl --out POOL."
    )
    # A column of a data set has one type; schemas and messages differ from row to row.
    rows = ({**one, "parameters": json_text(one["parameters"])} for one in to.documents())
    to.lines("tools.jsonl", "tools", rows)
    to.lines("tasks.jsonl", "queries", map(to.row, to.goals()))
    if to.run is not None:
        texts = {"messages", "tools"}
        chats = ({k: json_text(v) if k in texts else v for k, v in c.items()} for c in to.chats())
        to.lines("chats.jsonl", "chats", chats)


def _inspect(to: Writer) -> None:
    from seal.experiments.inspect_logs import log_lines, log_name

    if to.run is None:
        raise UsageError(
            f"{to.pool.name} is no run, and a log of inspect_ai is of one; give a run's folder"
        )
    to.read_back = "inspect_ai shows it: inspect view --log-dir FOLDER."
    heard = ((chat, _played(chat)) for chat in to.run.trajectories())
    to.text(log_name(to.run), "chats", log_lines(to.run, heard))
    to.made.counts["chats"] -= 2


def _gold_chat(goal: Goal, tools: Mapping[str, Tool]) -> list[Message]:
    """Return request, gold calls, results and answer, up to the first result that is not known.

    Calls that need not wait for each other are in one message. Without gold calls the list is
    empty, and where one takes a result that is not recorded.
    """
    if not goal.plans:
        return []
    said, steps = [Message("user", goal.text)], goal.plans[0].milestones
    known = recorded_gold(steps)
    if any(waits(call) for call, _ in known.values()):
        return []
    for level in levels([step.after for step in steps]):
        made = {n: known[n][0] for n in level if n in known}
        calls = [
            ToolCall(f"call_{n}", tools[one.tool].name, one.canonical_arguments(), tool=one.tool)
            for n, one in made.items()
        ]
        if calls:
            said.append(Message("assistant", calls=tuple(calls)))
        if any(steps[n].result is None for n in level):
            return said if len(said) > 1 else []
        said += [Message("tool", json_text(steps[n].result), call_id=f"call_{n}") for n in made]
    answer = ", ".join(goal.answers)
    return [*said, Message("assistant", answer)] if answer else said if len(said) > 1 else []


def _played(trajectory: Trajectory) -> list[Message]:
    """Return what the user, the agent and the tools said, without talk between roles."""
    said: list[Message] = []
    for number, answer in enumerate(trajectory.answers):
        said += _heard(step for step in trajectory.steps if step.goal == number)
        if answer and said[-1:] != [Message("assistant", answer)]:
            said.append(Message("assistant", answer))
    return said


def _heard(steps: Iterable[Step]) -> list[Message]:
    said: list[Message] = []
    turn = -1
    for step in steps:
        if USER in (step.author, step.recipient) and (step.call or step.result):
            continue  # how a user ends the conversation
        if step.call is not None:
            before = said.pop() if said and said[-1].calls and step.turn == turn else None
            calls = (*(before.calls if before else ()), step.call)
            said.append(Message("assistant", before.content if before else step.content, calls))
            turn = step.turn
        elif step.result is not None:
            if not said or said[-1].call_id != step.result.call_id:
                said.append(Message("tool", step.content, call_id=step.result.call_id))
        elif step.author == USER:
            said.append(Message("user", step.content))
        elif step.recipient == USER and step.author != CHECKER:
            said.append(Message("assistant", step.content))
    return said


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)


_BESIDE = ("tools", "documents", "judgements", "rankings")
"""Kinds of records that say nothing without others."""
_FORMS: Mapping[str, Callable[[Writer], None] | str] = {
    "openai": _openai,
    "trec": _trec,
    "hf": _hf,
    TRIPLETS: "seal.experiments.splits:write_triplets",
    "inspect": _inspect,
}


def forms() -> dict[str, Any]:
    """Return each form to its function: those of the engine, and those that benchmarks declare."""
    return {**declared("exports"), **_FORMS}

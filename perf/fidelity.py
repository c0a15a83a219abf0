"""How true simulators are to recorded answers, and what they change in scores.

    python perf/fidelity.py RECORD... [--simulator NAME] [--role-model ROLE=MODEL] [--first N]
    python perf/fidelity.py [--short | --without-model] [--out results/fidelity.json]

A record is a run, or a pool with recorded chats. Without one, the records are upstream files under
SEAL_DATA (by default ../shared/data): ToolLLaMA-2's runs on ToolBench, Claude Sonnet 4's on
LiveMCPBench, and the service calls of 200 Schema-Guided dialogues. Of these each task was played by
one system. For the order of systems, four offline models play `toolscan-sample` twice: with its
tools, which look their answers up, and simulated. A small real model, SmolLM2-135M, answers the
calls of 25 dialogues too (`pip install "seal-api-llms[local]"`, `seal models fetch smollm2`); it
takes up to an hour on one core, and its answers stay in the cache folder. Beside the JSON file a
Markdown file of the same name is written. `--short` prints the order of systems alone.
`--without-model` keeps what the JSON file says of the small model.

Each recorded call is asked again. Five measures from 0 to 1 compare the simulated answer with the
recorded one. The simulator `recorded` has 1 in all of them.

- error: both calls succeeded, or both failed. An unusable answer of a model counts as neither. The
  other measures cover the calls that succeeded in both.
- shape: the share of the fields of either answer, with their types, that both have. The elements of
  a list count as one field. A text that holds JSON or a Python literal counts as what it holds.
- echo: the share of arguments whose value both answers state, or neither.
- facts: twice the number of facts (`seal.core.facts`) that both state, divided by the sum of
  the facts of each. Facts of the arguments do not count.
- told: the share of the recorded facts that the agent passed on to its user which the simulator
  states too. A judge needs these facts.

If the records are runs, each is scored again with the simulated results in the places of the
recorded ones. Everything else stays as it was, also the states of a world. So the difference shows
what the results alone change in a verdict, not what the agent would have done.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import seal
from seal.cli.dispatch import main as command
from seal.cli.output import new_console
from seal.cli.words import pairs
from seal.core import (
    JSON,
    DataError,
    Plan,
    Response,
    SealError,
    Step,
    Task,
    Tool,
    ToolResult,
    Trajectory,
    UsageError,
)
from seal.core.environment import EnvironmentFactory
from seal.core.facts import Record
from seal.core.records import write_records
from seal.core.statements import states
from seal.core.store import Store, open_store
from seal.core.values import exact_json, json_value, leaves, literal_value
from seal.evaluation.goals import answer_of
from seal.evaluation.scoring import USUAL_SCALES
from seal.evaluation.statistics import mean_over
from seal.experiments.comparison import side_of
from seal.experiments.paired_scores import Side, compare
from seal.pools.lookup import open_pool
from seal.pools.pool import StoredPool
from seal.pools.reading.records import LEAD, USER
from seal.report import grids
from seal.report.grids import Columns, Grid, figure, grid_of, interval, told
from seal.report.lanes import DECISIVE, scale_notes
from seal.runs.environments import SimulatorSource
from seal.runs.finished import rescore
from seal.runs.role_models import Cast
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings, ScoreSettings, changed
from seal.simulator_cache.recorded import RecordedAnswers, RecordedEnvironments, is_answer, observed
from seal.simulator_cache.simulators import SimulatedEnvironments

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("oracle", "lexical", "lexical,slips=0.5", "random")
FEW = "sgd-25"
SONNET = "livemcpbench-sonnet-4"
"""Folder of the run; the benchmark's own name would stand for the benchmark."""
MEASURES = ("error", "shape", "echo", "facts", "told")


def fidelity(records: Sequence[str], settings: RunSettings) -> dict[str, Any]:
    """Return how true a simulator is to records, and what it changes in the scores of runs.

    Args:
        records: Folders of runs, or pools. Of a pool the recorded chats are asked; without any, the
            calls and results of its reference dialogues. A run represents a system.
        settings: Simulator, its model, seed and store, and the most chats of each record. The model
            of the role `judge` judges the runs; without one, rules do. A model as simulator is not
            shown recorded answers as examples.

    Returns:
        {simulator, calls, scores, order}.

        - calls: record to {calls, answers, measures: measure to {mean, low, high, n}}. Intervals
          are over tasks. `answers` counts what came back: an answer, an error, or why the answer
          was unusable, for example because a model wrote no JSON.
        - scores: for runs, the entries of `seal.experiments.paired_scores.compare`. `run` has
          simulated results, `other` is the run as it was.
        - order: for every two runs {metric, run, other, recorded, simulated, kept}: their
          differences, and whether the signs of these agree.

    Raises:
        UsageError: A record is given twice, or the simulator lacks what it needs.
        DataError: A record is damaged, or holds no call whose answer is known.
        InfrastructureError: The simulator's model failed; what it has answered stays in the store.
    """
    if len({Path(record) for record in records}) < len(records):
        raise UsageError("a record stands twice; give each run or pool once")
    calls: dict[str, Any] = {}
    sides: dict[str, tuple[Side, Side]] = {}
    store = open_store(settings.cache_dir)
    with TemporaryDirectory() as scratch, store as s:
        for number, record in enumerate(records):
            pool = open_pool(record)
            known = {tool.id: tool for tool in pool.tools()}
            is_run = RunFolder(pool.folder).is_begun
            run = RunFolder.open(pool.folder) if is_run else None
            recorded = run.trajectories() if run is not None else _chats(pool)
            chats = list(islice(recorded, settings.first))
            asked = _Asked(_environments(settings, pool, chats, known, s), known)
            simulated = [asked.chat(chat) for chat in chats]
            found = asked.estimates()
            if not found["calls"]:
                raise DataError(
                    f"{record} holds no call whose answer is known; give a run, or a pool with "
                    "recorded chats (`seal benchmarks`)"
                )
            calls[record] = found
            if run is not None:
                place = Path(scratch) / str(number)
                sides[record] = (
                    _scored(run, chats, place / "recorded", record, settings),
                    _scored(run, simulated, place / "simulated", record, settings),
                )
    name = settings.simulator if isinstance(settings.simulator, str) else "own"
    return {"simulator": name, "calls": calls, **changes(sides.values(), settings.seed)}


def changes(sides: Iterable[tuple[Side, Side]], seed: int) -> dict[str, Any]:
    """Return what a simulator changes in scores, and in the order of systems.

    Args:
        sides: For each system, the side with recorded and the side with simulated results.
        seed: Seed of the intervals.

    Returns:
        {scores, order}, as `fidelity` says.
    """
    pairs = list(sides)
    entries = (compare(new, old, seed) for old, new in pairs)
    return {"scores": list(chain.from_iterable(entries)), "order": list(_order(pairs, seed))}


def _chats(pool: StoredPool) -> Iterator[Trajectory]:
    """Yield the recorded chats of a pool; without any, its reference dialogues as chats."""
    recordings = pool.recordings()
    for name in recordings:
        yield from pool.recorded(name)
    for task in () if recordings else pool.tasks():
        for number, goal in enumerate(task.goals):
            steps = goal.reference or ()
            words = [step.content for step in steps if step.recipient == USER]
            asked = Step(-1, USER, LEAD, goal.text)
            yield Trajectory(task.id, number, (asked, *steps), answers=("\n".join(words),))


def _environments(
    settings: RunSettings,
    pool: StoredPool,
    chats: Sequence[Trajectory],
    tools: Mapping[str, Tool],
    store: Store,
) -> EnvironmentFactory:
    """Return what opens the environments that a simulator answers; `recorded` plays each chat."""
    if settings.simulator == "recorded":
        known = {(chat.task_id, chat.trial): chat for chat in chats}
        answers = RecordedAnswers(chats, tools)
        return RecordedEnvironments(lambda *chat: known.get(chat), answers, tools)
    settings = changed(settings, pool=str(pool.folder))
    cast = Cast(settings, store, pool)
    source = SimulatorSource(
        settings=settings, tools=tools, pool=pool, store=store, cast=cast, examples=False
    )
    return SimulatedEnvironments(source.simulator(), tools)


class _Asked:
    """Asks recorded calls again, and measures what comes back."""

    def __init__(self, environments: EnvironmentFactory, tools: Mapping[str, Tool]) -> None:
        self._environments = environments
        self._tools = tools
        self._measured: list[tuple[str, dict[str, float]]] = []
        """Task and measures of each call."""
        self._answers: Counter[str] = Counter()

    def chat(self, chat: Trajectory) -> Trajectory:
        """Return a chat with simulated results."""
        environment = self._environments.open(Task(chat.task_id, "", ()), chat.trial)
        user = [step.content for step in chat.steps if step.author == USER]
        results = {}
        for step, answered in chat.calls():
            call, known = step.call, answered.result if answered else None
            if call is None or known is None or (known.error or {}).get("kind") == "truncated":
                continue
            if call.tool is not None and call.tool not in self._tools:
                continue  # a tool of the chat, such as find_tools
            (result,) = environment.call([call])  # even a wrong one: a recording counts its calls
            if call.tool is not None and call.arguments is not None and is_answer(known):
                results[call.id] = result
                given = Record((*user, *leaves(call.arguments)))
                told = given.unexplained(answer_of(chat, step.goal) or "", names=True)
                both = observed(known), observed(result)
                came = _kind_of(result)
                self._answers[came] += 1
                usable = came in (ANSWER, ERROR)
                of = measured(call.arguments, *both, told) if usable else {"error": 0.0}
                self._measured.append((chat.task_id, of))
        return replace(chat, steps=tuple(_with(step, results) for step in chat.steps))

    def estimates(self) -> dict[str, Any]:
        """Return how many calls were asked, and the mean of each measure."""
        numbers = {task: n for n, task in enumerate(dict(self._measured))}
        means = {}
        for name in MEASURES:
            found = [(numbers[task], of[name]) for task, of in self._measured if name in of]
            means[name] = mean_over([v for _, v in found], [task for task, _ in found])
        answers = dict(sorted(self._answers.items()))
        return {"calls": len(self._measured), "answers": answers, "measures": means}


ANSWER, ERROR = "an answer", "an error"
"""Kinds of answers that can be compared with a record; any other kind says why it cannot."""


def _kind_of(result: ToolResult) -> str:
    if result.error is None:
        return ANSWER
    if result.error.get("kind") != "simulator":
        return ERROR
    said = str(result.error.get("message")).rpartition("tries: ")[2]
    return f"unusable: {said.partition(' (')[0].rstrip('.')}"


def _with(step: Step, results: Mapping[str, ToolResult]) -> Step:
    if step.result is None or step.result.call_id not in results:
        return step
    result = results[step.result.call_id]
    return replace(step, result=result, content=result.content)


def measured(
    arguments: Mapping[str, JSON],
    recorded: Response,
    simulated: Response,
    told: Sequence[str] = (),
) -> dict[str, float]:
    """Return the measures of one call that apply to it.

    Args:
        arguments: Of the call.
        recorded: What was answered.
        simulated: What a simulator answers.
        told: Values and names that the agent told its user, and neither user nor arguments gave.
    """
    if recorded.error or simulated.error:
        return {"error": float(bool(recorded.error) == bool(simulated.error))}
    values = _read(recorded.response), _read(simulated.response)
    places = [set(_places(value)) for value in values]
    # A text of its own for each leaf: "It is" keeps a name from beginning its sentence.
    texts = ["\n".join(f"It is {leaf}." for leaf in leaves(value)) for value in values]
    found = {"error": 1.0, "shape": _ratio(len(places[0] & places[1]), len(places[0] | places[1]))}
    echoed = [
        states(texts[0], leaf) == states(texts[1], leaf)
        for leaf in dict.fromkeys(leaves(arguments))
        if leaf
    ]
    if echoed:
        found["echo"] = _ratio(sum(echoed), len(echoed))
    given = Record(leaves(arguments))
    facts = [given.unexplained(text, names=True) for text in texts]
    known = [Record([text]) for text in texts]
    if facts[0] or facts[1]:
        shared = len(_borne(facts[0], known[1])) + len(_borne(facts[1], known[0]))
        found["facts"] = _ratio(shared, len(facts[0]) + len(facts[1]))
    if passed_on := _borne(told, known[0]):
        found["told"] = _ratio(len(_borne(passed_on, known[1])), len(passed_on))
    return found


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _borne(facts: Sequence[str], by: Record) -> list[str]:
    """Return the facts that a record explains."""
    return [fact for fact in facts if not by.unexplained(f"It is {fact}.", names=True)]


def _read(value: JSON) -> JSON:
    """Return what a text of JSON, or of a Python literal, holds; any other value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    for reader in (json_value, literal_value):
        with suppress(ValueError):
            held: JSON = exact_json(reader(value))
            return held
    return value


def _places(value: JSON, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the type of each part of a value."""
    kind = "number" if type(value) in (int, float) else type(value).__name__
    yield path, kind
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _places(item, f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _places(item, f"{path}[]")


def _scored(
    run: RunFolder, chats: Sequence[Trajectory], place: Path, name: str, settings: RunSettings
) -> Side:
    """Return the scores of a run's chats, in a folder of their own."""
    place.mkdir(parents=True)
    played = {chat.task_id for chat in chats}
    write_records(place / "tools.jsonl", run.tools().values())
    write_records(place / "tasks.jsonl", (task for task in run.tasks() if task.id in played))
    copy = RunFolder(place)
    copy.write_json("run.json", run.manifest())
    write_records(copy.trajectories_path, chats)
    judge = settings.role_models.get("judge")
    how = ScoreSettings(
        judge="rule" if judge is None else "llm",
        judge_model=judge,
        cache_dir=settings.cache_dir,
        allow_code=settings.allow_code,
    )
    rescore(place, how)
    return side_of(name, copy)


def _order(sides: Iterable[tuple[Side, Side]], seed: int) -> Iterator[dict[str, Any]]:
    """Yield of every two runs and each metric how they differ, by the record and simulated."""
    for first, second in combinations(sides, 2):
        olds = compare(second[0], first[0], seed)
        news = {entry["metric"]: entry for entry in compare(second[1], first[1], seed)}
        for old in olds:
            new = news.get(old["metric"])
            if new is None or None in (old["difference"], new["difference"]):
                continue
            both = (old, new)
            told = [{part: it[part] for part in ("difference", "low", "high", "n")} for it in both]
            signs = {(it["difference"] > 0) - (it["difference"] < 0) for it in both}
            yield {
                **{part: old[part] for part in ("metric", "run", "other")},
                "recorded": told[0],
                "simulated": told[1],
                "kept": len(signs) == 1,
            }


# -- How true simulators are to records, as tables.


def fidelity_tables(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield the tables of `fidelity`.

    The second is of the metrics that the results change, and of those that decide.
    """
    simulator, calls = content["simulator"], content["calls"].items()
    measured = [
        {"record": record, "measure": measure, **entry}
        for record, found in calls
        for measure, entry in found["measures"].items()
    ]
    if measured:
        title = f"{simulator} held against recorded answers (1: as recorded)"
        yield grid_of(title, _MEASURED, measured, names=2)
    answers = [
        (record, what, str(count), grids.number(count / found["calls"]))
        for record, found in calls
        for what, count in found["answers"].items()
        if found["answers"].keys() - {ANSWER, ERROR}
    ]
    if answers:
        yield Grid(f"what {simulator} gave", ["record", "what came", "calls", "share"], answers, 2)
    changed = [
        entry
        for entry in content["scores"]
        if entry["difference"] is not None and (entry["difference"] or entry["metric"] in DECISIVE)
    ]
    if changed:
        means = (("recorded", figure("other_mean")), (simulator, figure("mean")))
        columns: Columns = [("run", "other"), ("metric", "metric"), *means, *_CHANGED]
        yield grid_of(f"scores with the results of {simulator}", columns, changed, names=2)
        yield from scale_notes((entry["metric"] for entry in changed), USUAL_SCALES)
    elif content["scores"]:
        yield f"the results of {simulator} change no score"
    order = [entry for entry in content["order"] if entry["metric"] in DECISIVE]
    if order:
        columns = [
            ("runs", lambda entry: f"{entry['run']} less {entry['other']}"),
            ("metric", "metric"),
            ("recorded", figure("recorded", figure("difference"))),
            ("95 %", figure("recorded", interval)),
            (simulator, figure("simulated", figure("difference"))),
            ("95 %", figure("simulated", interval)),
            ("order kept", lambda entry: "yes" if entry["kept"] else "no"),
        ]
        yield grid_of("order of the runs", columns, order, names=2)


_MEASURED: Columns = (
    ("record", "record"),
    ("measure", "measure"),
    ("mean", figure("mean")),
    ("95 % interval", interval),
    ("calls", "n"),
)
_CHANGED: Columns = (
    ("difference", figure("difference")),
    ("95 % interval", interval),
    ("pairs", "n"),
)


# -- The page of results.


def records(data: Path) -> list[str]:
    """Return the records of upstream, made in the working directory."""
    recorded = ["--simulator", "recorded", "--no-baselines"]
    for words in (
        ["import", "toolbench", data / "toolbench", "--out", "pool"],
        ["run", "pool", "--model", "recorded:toolllama-2", *recorded, "--out", "toolllama-2"],
        [
            "import",
            "livemcpbench",
            data / "livemcpbench",
            "--trajectories",
            "--out",
            SONNET,
        ],
        ["import", "dialogtool", data / "sgd", "-T", "sample=200", "--out", "sgd"],
        ["import", "dialogtool", data / "sgd", "-T", "sample=25", "--out", FEW],
    ):
        if code := command([str(word) for word in words]):
            raise SystemExit(code)
    return ["toolllama-2", SONNET, "sgd", FEW]


def by_model() -> dict[str, Any]:
    """Return how true a small model is to the record that is small enough for it."""
    settings = RunSettings(simulator="llm", role_models={"simulator": "local/smollm2"})
    return {**fidelity([FEW], settings), "simulator": "llm (SmolLM2-135M)"}


def kept_of_model(file: Path) -> dict[str, Any]:
    """Return what a file says of the small model.

    Raises:
        SystemExit: It says nothing.
    """
    written = json.loads(file.read_text()) if file.is_file() else []
    found = [content for content in written if content["simulator"].startswith("llm")]
    if not found:
        raise SystemExit(f"{file} says nothing of the small model: leave --without-model out")
    kept: dict[str, Any] = found[0]
    return kept


def systems() -> dict[str, Any]:
    """Return what the simulator changes where models play with its results from the start."""
    sides = []
    pool = without_results("toolscan-sample")
    for model in MODELS:
        true = seal.run("toolscan-sample", model=model, baselines=False, out=model)
        simulated = seal.run(
            pool,
            model=model,
            baselines=False,
            environment="simulator",
            out=f"{model}-simulated",
        )
        sides.append((side_of(model, true.folder), side_of(model, simulated.folder)))
    return {"simulator": "template", "calls": {}, **changes(sides, 0)}


def without_results(name: str) -> Path:
    """Return a copy of a pool whose gold calls have no results, so that all are simulated."""
    pool = open_pool(name)
    copy = Path(shutil.copytree(pool.folder, f"{name}-simulated"))
    write_records(copy / "tasks.jsonl", map(_without_results, pool.tasks()))
    return copy


def _without_results(task: Task) -> Task:
    def plain(plan: Plan) -> Plan:
        return replace(plan, milestones=tuple(replace(m, result=None) for m in plan.milestones))

    goals = (
        replace(goal, plans=goal.plans and tuple(map(plain, goal.plans))) for goal in task.goals
    )
    return replace(task, goals=tuple(goals))


def markdown(contents: Sequence[dict[str, Any]]) -> str:
    """Return the tables as a page."""
    lines = [
        "# Simulated against recorded answers",
        "",
        "Written by `perf/fidelity.py`; with the folders of runs it makes the same tables of"
        " these, and docs/results.md says what the measures are. In brackets are 95 % intervals"
        " over tasks. The simulator `recorded` has 1.000 everywhere. Pairs are goals that both"
        " sides decide. ToolLLaMA-2's services were mostly dead, which no simulator is meant to"
        f" repeat: its `error` tells how far. `{FEW}` is 25 of the 200 dialogues of `sgd`. A small"
        " model says nothing of a large one. Where it has no interval, its answers were not kept.",
    ]
    tables = [table for content in contents for table in fidelity_tables(content)]
    played = len(tables) - len(list(fidelity_tables(contents[-1])))
    for number, table in enumerate(tables):
        if number == played:
            lines += ["", "# toolscan-sample, played with simulated results from the start"]
        if not isinstance(table, Grid):
            lines += ["", f"{table}."]
            continue
        lines += ["", f"## {table.title}", ""]
        lines += [f"| {' | '.join(row)} |" for row in (table.columns, ["---"] * len(table.columns))]
        lines += [f"| {' | '.join(row)} |" for row in table.rows]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("records", nargs="*", metavar="RECORD", help="run, or pool with chats")
    parser.add_argument("--simulator", default="template")
    parser.add_argument("--role-model", action="append", default=[], metavar="ROLE=MODEL")
    parser.add_argument("--first", type=int, help="take the first N chats of each record")
    parser.add_argument("--cache-dir")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "fidelity.json")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--without-model", action="store_true")
    arguments = parser.parse_args(argv)
    if arguments.records:
        settings = RunSettings(
            simulator=arguments.simulator,
            role_models=pairs("--role-model", arguments.role_model),
            first=arguments.first,
            cache_dir=arguments.cache_dir,
        )
        try:
            content = fidelity(arguments.records, settings)
        except SealError as error:
            parser.error(str(error))
        for table in told(fidelity_tables(content)):
            new_console().print(table)
        return 0
    out = arguments.out.resolve()
    data = Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared/data").resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        settings = RunSettings(simulator="template", cache_dir="cache")
        contents = []
        if not arguments.short:
            of_model = kept_of_model(out) if arguments.without_model else by_model()
            contents = [fidelity(records(data), settings), of_model]
        contents.append(systems())
        os.chdir(ROOT)
    page = markdown(contents)
    print(page)
    if arguments.short:
        return 0
    out.write_text(json.dumps(contents, indent=1) + "\n")
    out.with_suffix(".md").write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares a simulator with records: calls whose real answers are known.

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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seal.core import (
    JSON,
    DataError,
    Response,
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
from seal.evaluation.statistics import mean_over
from seal.experiments.comparison import side_of
from seal.experiments.paired_scores import Side, compare
from seal.pools.lookup import open_pool
from seal.pools.pool import StoredPool
from seal.pools.reading.records import LEAD, USER
from seal.runs.environments import SimulatorSource
from seal.runs.finished import rescore
from seal.runs.role_models import Cast
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings, ScoreSettings, changed
from seal.simulator_cache.recorded import RecordedAnswers, RecordedEnvironments, is_answer, observed
from seal.simulator_cache.simulators import SimulatedEnvironments

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

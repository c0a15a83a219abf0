"""Logs of inspect_ai, written and read."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seal.agents.teams import EXECUTOR, MANAGER, USER
from seal.core import (
    JSON,
    DataError,
    Execution,
    Goal,
    Message,
    Score,
    Step,
    Stop,
    StopReason,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
    UsageError,
    shortened,
)
from seal.core.text import goal_name
from seal.core.values import exact_json, json_text
from seal.evaluation.scoring import GIVEN
from seal.pools.importer import Notes, Recorded
from seal.runs.run import RunFolder, to_resume

# -- A run as a log of inspect_ai, which `inspect view` opens: version 2 of its JSON form.
#
# One trial of a task is a sample. Its events are each role's words, as answers of the role's model,
# and each call with its result. What inspect_ai has no place for is in the log's metadata.

_CUT = {"length": "max_tokens", "content_filter": "content_filter"}
"""SEAL's word for how an answer of a model ended to inspect_ai's."""


def log_lines(
    run: RunFolder, heard: Iterable[tuple[Trajectory, Sequence[Message]]]
) -> Iterator[str]:
    """Yield a log, a line a sample.

    Args:
        run: The run to write; if it has no scores, the log has none.
        heard: Each chat, with its messages as the user and the tools heard them.

    Raises:
        DataError: A file of the run is damaged.
    """
    tasks = {task.id: task for task in run.tasks()}
    scores: defaultdict[tuple[str, int], list[Score]] = defaultdict(list)
    if run.scores_path.is_file():
        for score in run.scores():
            scores[score.task_id, score.trial].append(score)
    log = _Log(run)
    yield json_text(log.head(len(tasks)))[:-1] + ',"samples":[\n'
    comma = ""
    for chat, messages in heard:
        if chat.task_id not in tasks:
            raise DataError(
                f"{run.path / 'tasks.jsonl'} lacks the task {shortened(chat.task_id)}, of which "
                f"{run.trajectories_path.name} has a chat; put the file back, or {to_resume(run)}"
            )
        sample = log.sample(tasks[chat.task_id], chat, messages, scores[chat.task_id, chat.trial])
        yield comma + json_text(sample) + "\n"
        comma = ","
    yield "]}\n"


def log_name(run: RunFolder) -> str:
    """Return the name that a run's log must have: `inspect view` lists no `.json` of another form.

    Source: `log_file_pattern` in inspect_ai 0.3, _file.py: a time, then anything.
    """
    name = re.sub(r"[^A-Za-z0-9.-]", "-", run.pool_name)[:80]
    return f"{_written(run):%Y-%m-%dT%H-%M-%S}_{name}.json"


def _written(run: RunFolder) -> datetime:
    """Return the second in which a run began."""
    told = (run.path / "run.json").stat().st_mtime
    return datetime.fromtimestamp(int(told), UTC)


class _Log:
    """Makes the parts of a log."""

    def __init__(self, run: RunFolder) -> None:
        manifest = run.manifest()
        self._time = _written(run).isoformat()
        self._measure: Mapping[str, Any] = manifest.get("measure") or {}
        self._system: Mapping[str, Any] = manifest.get("system") or {}
        metrics: Mapping[str, Any] = run.summary()["metrics"] if run.is_scored else {}
        first = [*(run.declared().get("headline") or ()), "pass_rate"]
        self._order = [*dict.fromkeys([*(name for name in first if name in metrics), *metrics])]
        """Metrics in the order for the viewer, which at first shows only few."""
        self._metrics = {name: metrics[name] for name in self._order}
        self._name = run.pool_name
        self._model = run.model or "none"

    def head(self, tasks: int) -> dict[str, JSON]:
        """Return all of a log but its samples."""
        scores: list[JSON] = []
        for name, entry in self._metrics.items():
            values = {part: entry.get(part) for part in ("mean", "low", "high")}
            measured: dict[str, JSON] = {
                part: {"name": part, "value": value, "params": {}}
                for part, value in values.items()
                if value is not None
            }
            if measured:
                n = {"n": entry.get("n"), "undefined": entry.get("undefined")}
                scores.append(
                    {"name": name, "scorer": name, "params": {}, "metrics": measured, "metadata": n}
                )
        config: dict[str, JSON] = {"limit": None, "epochs": self._measure.get("trials")}
        return {
            "version": 2,
            "status": "success",
            "eval": {
                "created": self._time,
                "task": self._name,
                "dataset": {"name": self._name, "samples": tasks},
                "model": self._model,
                "config": config,
                "packages": {"seal": str(self._measure.get("version") or "")},
                "metadata": {"measure": dict(self._measure), "system": dict(self._system)},
            },
            "plan": {"name": "plan", "steps": []},
            "results": {"total_samples": tasks, "completed_samples": tasks, "scores": scores},
            "stats": {"started_at": self._time, "completed_at": self._time},
        }

    def sample(
        self, task: Task, chat: Trajectory, messages: Sequence[Message], scores: Sequence[Score]
    ) -> dict[str, JSON]:
        """Return a task in one trial."""
        said = [_message(message) for message in messages]
        answer = next((text for text in reversed(chat.answers) if text), "")
        used = [step.usage for step in chat.steps]
        told: dict[str, JSON] = {
            "id": task.id,
            "epoch": chat.trial + 1,
            "input": "\n\n".join(goal.text for goal in task.goals),
            "target": [right for goal in task.goals for right in goal.answers],
            "messages": said,
            "output": self._output({"role": "assistant", "content": answer}),
            "scores": dict(self._scored(task, scores, answer)),
            "events": list(self._events(chat)),
            "model_usage": {self._model: _tokens(sum((u for u in used if u), Usage()))},
            "metadata": {
                "tags": dict(task.tags),
                "stops": [stop.reason for stop in chat.stops],
                "undefined": {_place(task, s): s.reason for s in scores if s.value is None},
            },
        }
        errors = [stop.error or stop.reason for stop in chat.stops if stop.reason == "error"]
        if errors:
            told["error"] = {"message": errors[0], "traceback": "", "traceback_ansi": ""}
        return told

    def _scored(
        self, task: Task, scores: Sequence[Score], answer: str
    ) -> Iterator[tuple[str, JSON]]:
        places = {name: place for place, name in enumerate(self._order)}
        for score in sorted(scores, key=lambda one: places.get(one.metric, len(places))):
            if score.value is not None:
                details = {"details": score.details} if score.details else {}
                told: dict[str, JSON] = {"value": score.value, "answer": answer}
                told |= {"explanation": score.reason or None, "metadata": details}
                yield _place(task, score), told

    def _events(self, chat: Trajectory) -> Iterator[dict[str, JSON]]:
        results = {step.result.call_id: step for step in chat.steps if step.result is not None}
        for step in chat.steps:
            if step.call is not None:
                if step.usage is not None or step.content:
                    yield self._answer(step)
                yield self._call(step, results.get(step.call.id))
            elif step.result is None:
                yield self._answer(step)

    def _answer(self, step: Step) -> dict[str, JSON]:
        """Return what a role said as an answer of its model."""
        message: dict[str, JSON] = {"role": "assistant", "content": step.content}
        if step.reasoning:
            thought: JSON = {"type": "reasoning", "reasoning": step.reasoning}
            message["content"] = [thought, {"type": "text", "text": step.content}]
        output = self._output(message, _CUT.get(step.finish_reason, "stop"))
        if step.usage is not None:
            output["usage"] = _tokens(step.usage)
        return {
            **self._event("model"),
            "model": step.author if step.author == USER and not step.usage else self._model,
            "role": step.author,
            "input": [],
            "tools": [],
            "tool_choice": "auto",
            "config": {},
            "output": output,
            "metadata": {"step": step.index, "to": step.recipient},
        }

    def _call(self, step: Step, result: Step | None) -> dict[str, JSON]:
        assert step.call is not None
        event: dict[str, JSON] = {
            **self._event("tool"),
            "id": step.call.id,
            "function": step.call.name,
            "arguments": step.call.arguments or {},
            "result": "" if result is None else result.content,
            "agent": step.author,
            "metadata": {"step": step.index},
        }
        if step.call.arguments is None:
            event["metadata"] = {"step": step.index, "arguments": step.call.raw}
        if result is not None and result.result is not None and result.result.error is not None:
            text = str(result.result.error.get("message") or result.content)
            event["error"] = {"type": "unknown", "message": text}
        return event

    def _event(self, kind: str) -> dict[str, JSON]:
        return {"event": kind, "timestamp": self._time, "working_start": 0.0}

    def _output(self, message: dict[str, JSON], ended: str = "stop") -> dict[str, JSON]:
        return {"model": self._model, "choices": [{"message": message, "stop_reason": ended}]}


def _tokens(used: Usage) -> dict[str, JSON]:
    tokens_in, tokens_out = used.tokens_in, used.tokens_out
    total = tokens_in + tokens_out
    return {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": total}


def _message(message: Message) -> dict[str, JSON]:
    told: dict[str, JSON] = {"role": message.role, "content": message.content}
    if message.calls:
        told["tool_calls"] = [
            {"id": c.id, "function": c.name, "arguments": c.arguments or {}, "type": "function"}
            for c in message.calls
        ]
    if message.call_id:
        told["tool_call_id"] = message.call_id
    return told


def _place(task: Task, score: Score) -> str:
    """Return the metric; if the task has several goals, with the number of the goal."""
    return f"{score.metric} ({goal_name(score.goal)})" if len(task.goals) > 1 else score.metric


# -- Reads logs of inspect_ai as runs: a sample becomes a task, and an epoch of it a trial.
#
# The log's scores become scores of the run, named `inspect/SCORER`. The first one says what counts
# as success. SEAL's metrics measure the chats too. Gold is the target of a sample: it is the
# answer.
#
# Source: inspect_ai, src/inspect_ai/log. inspect_ai's own reader reads the file, of any version.

NAME = "inspect"
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_LIMITS: Mapping[str, StopReason] = {
    "message": "max_messages",
    "turn": "max_turns",
    "token": "max_tokens",
    "time": "max_seconds",
    "working": "max_seconds",
    "context": "context_overflow",
}
"""inspect_ai's limit of a sample to SEAL's stop reason; any other limit becomes `done`."""


def import_log(source: Path, notes: Notes) -> Iterator[Tool | Task | Recorded]:
    """Yield the tools of a log, and each sample as a task and the trajectories that played it.

    Args:
        source: A log (.eval or .json).
        notes: Gets the run's pool, model, number of trials, and names of scores.

    Raises:
        UsageError: inspect_ai is not installed.
        DataError: The file is no log, or the log has no samples.
    """
    log = _read(source)
    samples: defaultdict[str, list[Any]] = defaultdict(list)
    for sample in log.samples or ():
        samples[str(sample.id)].append(sample)
    if not samples:
        raise DataError(f"{source} has no samples (status {log.status}); expected a log with some")
    name = f"{NAME}/{log.eval.task}"
    tools = {
        tool.id: tool for many in samples.values() for one in many for tool in _tools(name, one)
    }
    notes.lacks |= {"gold_calls"} | (set() if tools else {"tools"})
    given = dict.fromkeys(
        metric for many in samples.values() for one in many for metric in _scores(one.scores or {})
    )
    epochs = max(sample.epoch for many in samples.values() for sample in many)
    notes.facts |= {
        "pool": name,
        "model": str(log.eval.model),
        "trials": epochs,
        "scores": list(given),
    }
    yield from tools.values()
    for key, trials in samples.items():
        yield _task(name, key, trials)
        for sample in sorted(trials, key=lambda one: int(one.epoch)):
            yield Recorded(NAME, _Chat(name, key, sample).trajectory())


def _read(source: Path) -> Any:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise UsageError(
            "seal import inspect reads logs by inspect_ai itself: "
            "pip install 'seal-api-llms[inspect]'"
        ) from error
    if source.is_dir():
        logs = sorted(path.name for path in source.iterdir() if path.suffix in (".eval", ".json"))
        if len(logs) != 1:
            told = f": {', '.join(logs[:5])}" if logs else ""
            raise DataError(f"{source} is a folder; name one of its logs (.eval, .json){told}")
        source /= logs[0]
    try:
        return read_eval_log(str(source), resolve_attachments="full")
    except Exception as error:  # whatever their reader raises of a file that is no log
        raise DataError(f"{source} is no log of inspect_ai: {shortened(str(error))}") from error


def _tools(name: str, sample: Any) -> Iterator[Tool]:
    """Yield the tools that a sample's model was offered, then those that it only called."""
    offered: dict[str, Any] = {
        info.name: info for event in sample.events if event.event == "model" for info in event.tools
    }
    for called, info in offered.items():
        schema = exact_json(info.parameters.model_dump(exclude_none=True))
        yield Tool(f"{name}/{called}", called, str(info.description or ""), schema)
    made = {call.function for said in sample.messages for call in _calls(said)}
    for called in sorted(made - offered.keys()):
        yield Tool(f"{name}/{called}", called)


def _calls(message: Any) -> Sequence[Any]:
    return getattr(message, "tool_calls", None) or ()


def _task(name: str, key: str, trials: Sequence[Any]) -> Task:
    first = trials[0]
    asked = first.input
    if not isinstance(asked, str):
        asked = "\n\n".join(one.text for one in asked if one.role == "user")
    targets = [first.target] if isinstance(first.target, str) else first.target
    offered = tuple(dict.fromkeys(tool.id for one in trials for tool in _tools(name, one)))
    plain = {k: v for k, v in first.metadata.items() if isinstance(v, (str, int, float, bool))}
    goal = Goal(
        asked, answers=tuple(filter(None, targets)), offered=offered, any_answer=len(targets) > 1
    )
    return Task(key, name, (goal,), tags=exact_json(plain))


def _usage(messages: Sequence[Any], events: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the place of each message of the model with the tokens that its request used.

    Older logs have no ids of messages. Then the order tells, if there are as many requests as
    messages. There may be more, since a scorer may have asked a model too.
    """
    said = [turn for turn, message in enumerate(messages) if message.role == "assistant"]
    outputs = [one.output for one in events if one.event == "model" and one.output.choices]
    by_id = {choice.message.id: one.usage for one in outputs for choice in one.choices}
    if None not in by_id:
        yield from ((turn, by_id.get(messages[turn].id)) for turn in said)
    elif len(outputs) == len(said):
        yield from zip(said, (one.usage for one in outputs), strict=True)


class _Chat:
    """A sample in one epoch."""

    def __init__(self, name: str, key: str, sample: Any) -> None:
        self._name, self._key, self._sample = name, key, sample
        self._known = {tool.name: tool.id for tool in _tools(name, sample)}
        self._made: dict[str, ToolCall] = {}
        """The log's id of a call to the call."""
        self._turns = [one for one in sample.messages if one.role != "system"]
        self._usage = dict(_usage(self._turns, sample.events))
        """Turn to what its request used."""

    def trajectory(self) -> Trajectory:
        """Return the sample as a trajectory, with the scores that it was given."""
        sample = self._sample
        steps: list[Step] = []
        for turn, message in enumerate(self._turns):
            steps += self._said(message, turn, len(steps))
        answer = sample.output.completion or None
        return Trajectory(
            self._key,
            int(sample.epoch) - 1,
            tuple(steps),
            offered=(tuple(self._known.values()),),
            stops=(self._stop(),),
            answers=(answer,),
            provenance={GIVEN: _scores(sample.scores or {})},
        )

    def _stop(self) -> Stop:
        sample = self._sample
        if sample.error is not None:
            return Stop("error", str(sample.error.message))
        return Stop(_LIMITS.get(sample.limit.type, "done") if sample.limit else "done")

    def _said(self, message: Any, turn: int, index: int) -> Iterator[Step]:
        """Yield the steps of a message: one, or one for each of its calls."""
        if message.role == "tool":
            yield self._answered(message, turn, index)
        elif message.role == "user":
            yield Step(index, USER, MANAGER, message.text, turn=turn)
        else:
            used = self._usage.get(turn)
            told: dict[str, Any] = {"turn": turn, "reasoning": _thought(message)}
            if used and Usage.admits(used.input_tokens, used.output_tokens):
                told["usage"] = Usage(used.input_tokens, used.output_tokens)
            if not _calls(message):
                yield Step(index, MANAGER, USER, message.text, **told)
            for number, call in enumerate(_calls(message)):
                made = self._call(call)
                text = "" if number else message.text
                yield Step(index + number, MANAGER, EXECUTOR, text, made, **told)
                told = {"turn": turn}

    def _call(self, call: Any) -> ToolCall:
        number, wrong = len(self._made), getattr(call, "parse_error", None)
        arguments = None if wrong else exact_json(call.arguments)
        tool = self._known.get(call.function)
        raw = str(call.arguments) if wrong else ""
        made = ToolCall(f"call_{number}", call.function, arguments, raw, tool)
        self._made[call.id] = made
        return made

    def _answered(self, message: Any, turn: int, index: int) -> Step:
        call, failed = self._made.get(message.tool_call_id), message.error
        error: dict[str, JSON] | None = None
        if failed is not None:
            error = {"kind": str(failed.type), "message": str(failed.message)}
        ran = call is not None and call.tool is not None and call.arguments is not None
        executed = Execution(call.tool, call.arguments) if ran else None  # type: ignore[union-attr,arg-type]
        text = message.text or (str(failed.message) if failed is not None else "")
        answered = call.id if call is not None else str(message.tool_call_id)
        result = ToolResult(answered, text, error, executed=executed)
        return Step(index, EXECUTOR, MANAGER, text, result=result, turn=turn)


def _thought(message: Any) -> str:
    parts = message.content if isinstance(message.content, list) else []
    return "\n\n".join(one.reasoning for one in parts if one.type == "reasoning" and one.reasoning)


def _scores(given: Mapping[str, Any]) -> dict[str, JSON]:
    """Return each score, or each part of a score with parts, as {value, reason}."""
    found: dict[str, JSON] = {}
    for scorer, score in given.items():
        several = score.value if isinstance(score.value, dict) else {"": score.value}
        for part, value in several.items():
            number = _number(value)
            said = str(score.explanation or "")
            why = said if number is not None else f"{shortened(value)} is no number"
            named = f"{NAME}/{scorer}/{part}" if part else f"{NAME}/{scorer}"
            found[named] = {"value": number, "reason": why}
    return found


def _number(value: Any) -> float | None:
    """Return a score as a number; None: it is no number, or the sample was not scored."""
    if not isinstance(value, (str, int, float)):
        return None
    try:
        number = _GRADES[value] if value in _GRADES else float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

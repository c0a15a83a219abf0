"""A run as a log of inspect_ai, which `inspect view` opens: version 2 of its JSON form.

One trial of a task is a sample. Its events are each role's words, as answers of the role's model,
and each call with its result. What inspect_ai has no place for is in the log's metadata.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from seal.agents.teams import USER
from seal.core import JSON, Message, Score, Step, Task, Trajectory, Usage
from seal.core.plain import json_text
from seal.runs.run_folder import RunFolder

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
        sample = log.sample(tasks[chat.task_id], chat, messages, scores[chat.task_id, chat.trial])
        yield comma + json_text(sample) + "\n"
        comma = ","
    yield "]}\n"


class _Log:
    """Makes the parts of a log."""

    def __init__(self, run: RunFolder) -> None:
        manifest = run.manifest()
        written = (run.path / "run.json").stat().st_mtime
        self._time = datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds")
        self._measure: Mapping[str, Any] = manifest.get("measure") or {}
        self._system: Mapping[str, Any] = manifest.get("system") or {}
        metrics: Mapping[str, Any] = run.summary()["metrics"] if run.is_scored else {}
        first = [*(run.declared().get("headline") or ()), "pass_rate"]
        self._order = [*dict.fromkeys([*(name for name in first if name in metrics), *metrics])]
        """Metrics in the order for the viewer, which at first shows only few."""
        self._metrics = {name: metrics[name] for name in self._order}
        self._name = run.pool_name
        self._model = _named(self._system.get("model"))

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
            "event": "model",
            "timestamp": self._time,
            "working_start": 0.0,
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
            "event": "tool",
            "timestamp": self._time,
            "working_start": 0.0,
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

    def _output(self, message: dict[str, JSON], ended: str = "stop") -> dict[str, JSON]:
        return {"model": self._model, "choices": [{"message": message, "stop_reason": ended}]}


def _named(model: Any) -> str:
    return str((model.get("model") if isinstance(model, dict) else model) or "none")


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
    return f"{score.metric} (goal {score.goal + 1})" if len(task.goals) > 1 else score.metric

"""Spans of OpenTelemetry for a run, by the semantic conventions for generative AI.

| of SEAL | span | operation |
|---|---|---|
| run | `invoke_workflow BENCHMARK` | invoke_workflow |
| chat | `invoke_agent` | invoke_agent |
| request | `chat MODEL` | chat |
| call | `execute_tool TOOL` | execute_tool |
| score | `score TASK`, linked to the chat, with events `gen_ai.evaluation.result` | none |

Source: open-telemetry/semantic-conventions-genai, docs/gen-ai (status: development).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from seal.core import JSON, UsageError
from seal.core.values import json_text
from seal.models.spec import bare_name
from seal.runs.hooks import Event

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Variable of the conventions: `true` puts messages, arguments and results into spans."""
_PROVIDERS = {"gemini": "gcp.gemini"}
"""Our name of a provider to that of the conventions, where they differ."""
_OURS = "seal"
"""Provider of models that play offline."""


class Spans:
    """Hooks that open a span for each event. Safe in threads.

    Args:
        provider: Gives the tracer; None: the one that this process has set. Where it has set none,
            spans are sent by OTLP over HTTP to OTEL_EXPORTER_OTLP_ENDPOINT.
        content: Whether spans hold what was said; None: as the variable `CONTENT` says.

    Raises:
        UsageError: OpenTelemetry is not installed.
    """

    def __init__(self, provider: Any = None, content: bool | None = None) -> None:
        try:
            from opentelemetry import trace
        except ImportError as error:
            raise UsageError(
                "hooks opentelemetry: install it: pip install 'seal-api-llms[telemetry]'"
            ) from error
        self._trace = trace
        self._provider = _provider() if provider is None else provider
        self._tracer = self._provider.get_tracer(_OURS)
        wanted = os.environ.get(CONTENT, "").lower() not in ("", "false", "no_content")
        self._content = wanted if content is None else content
        self._open: dict[int, Any] = {}
        self._chats: dict[tuple[JSON, JSON], Any] = {}
        """Task and trial to where the span of its chat stands."""

    def start(self, event: Event) -> None:
        """Open a span."""
        kinds, data = self._trace.SpanKind, event.data
        parent = self._open.get(event.parent or 0)
        chat = self._chats.get((data.get("task"), data.get("trial")))
        links = [self._trace.Link(chat)] if event.kind == "score" and chat else []
        span = self._tracer.start_span(
            _name(event),
            context=None if parent is None else self._trace.set_span_in_context(parent),
            kind=kinds.CLIENT if event.kind == "request" else kinds.INTERNAL,
            attributes={**_known(event), **(dict(_said(event)) if self._content else {})},
            links=links,
        )
        self._open[event.id] = span
        if event.kind == "chat":
            self._chats[data["task"], data["trial"]] = span.get_span_context()

    def end(self, event: Event) -> None:
        """Close its span; that of a run is sent at once."""
        span = self._open.pop(event.id)
        span.set_attributes(_came(event))
        if self._content:
            span.set_attributes(dict(_answered(event)))
        if event.kind == "score":
            scores = event.data.get("scores")
            for score in scores if isinstance(scores, list) else ():
                if isinstance(score, dict) and score["value"] is not None:
                    span.add_event("gen_ai.evaluation.result", _evaluation(score))
        failure = event.error or _failure(event)
        if failure:
            span.set_attribute("error.type", failure.partition(":")[0])
            span.set_status(self._trace.StatusCode.ERROR, failure)
        span.end()
        if event.kind == "run" and hasattr(self._provider, "force_flush"):
            self._provider.force_flush()


def _provider() -> Any:
    """Return the provider of this process; one that sends by OTLP where it has none.

    Raises:
        UsageError: There is none, and nothing that sends.
    """
    from opentelemetry import trace

    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return trace.get_tracer_provider()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise UsageError(
            "hooks opentelemetry: this process has set no tracer provider, and nothing here sends "
            "spans; set one, or install what does: pip install 'seal-api-llms[telemetry]'"
        ) from error
    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


def _name(event: Event) -> str:
    data = event.data
    names = {
        "run": f"invoke_workflow {data.get('benchmark')}",
        "chat": "invoke_agent",
        "request": f"chat {_model(data)[1]}",
        "call": f"execute_tool {data.get('name')}",
        "score": f"score {data.get('task')}",
    }
    return names[event.kind]


def _known(event: Event) -> dict[str, Any]:
    """Return the attributes of a span when it begins, without what was said."""
    data = event.data
    match event.kind:
        case "run":
            return _operation("invoke_workflow", {"gen_ai.workflow.name": data["benchmark"]})
        case "chat":
            return _operation("invoke_agent", _task(data))
        case "request":
            provider, model = _model(data)
            told = {
                "gen_ai.provider.name": provider,
                "gen_ai.request.model": model,
                "gen_ai.request.temperature": data.get("temperature"),
                "gen_ai.request.seed": data.get("seed"),
                "gen_ai.request.max_tokens": data.get("max_tokens"),
                "gen_ai.agent.name": data.get("role"),
            }
            return _operation("chat", told)
        case "call":
            told = {
                "gen_ai.tool.name": data["name"],
                "gen_ai.tool.call.id": data["id"],
                "gen_ai.tool.type": "function",
            }
            return _operation("execute_tool", told)
        case "score":
            return _task(data)


def _came(event: Event) -> dict[str, Any]:
    """Return what a span knows besides when it ends, without what was said."""
    data = event.data
    if event.kind != "request" or "tokens_in" not in data:
        return {}
    return {
        "gen_ai.usage.input_tokens": data["tokens_in"],
        "gen_ai.usage.output_tokens": data["tokens_out"],
        "gen_ai.response.finish_reasons": [data["finish_reason"] or "stop"],
        "seal.kept": data["kept"],
    }


def _said(event: Event) -> Iterator[tuple[str, str]]:
    data: Mapping[str, Any] = event.data
    if event.kind == "request" and "messages" in data:
        yield "gen_ai.input.messages", json_text([_message(one) for one in data["messages"]])
    if event.kind == "call":
        yield "gen_ai.tool.call.arguments", json_text(data["arguments"])


def _answered(event: Event) -> Iterator[tuple[str, str]]:
    data: Mapping[str, Any] = event.data
    if event.kind == "request" and "content" in data:
        said = _message({**data, "role": "assistant"})
        said["finish_reason"] = data["finish_reason"] or "stop"
        yield "gen_ai.output.messages", json_text([said])
    if event.kind == "call" and "result" in data:
        yield "gen_ai.tool.call.result", str(data["result"])


def _message(said: Mapping[str, Any]) -> dict[str, JSON]:
    """Return a message in the parts of the conventions."""
    if said["role"] == "tool":
        answer = {"type": "tool_call_response", "id": said.get("call_id")}
        return {"role": "tool", "parts": [{**answer, "response": said["content"]}]}
    texts = (("reasoning", said.get("reasoning")), ("text", said["content"]))
    parts: list[JSON] = [{"type": kind, "content": text} for kind, text in texts if text]
    parts += [{"type": "tool_call", **call} for call in said.get("calls", ())]
    return {"role": said["role"], "parts": parts}


def _evaluation(score: Mapping[str, Any]) -> dict[str, Any]:
    told = {
        "gen_ai.evaluation.name": score["metric"],
        "gen_ai.evaluation.score.value": float(score["value"]),
        "gen_ai.evaluation.explanation": score.get("reason"),
        "seal.goal": score["goal"],
    }
    return {name: value for name, value in told.items() if value not in (None, "")}


def _failure(event: Event) -> str:
    """Return why a call or a chat failed that raised nothing, as `kind: text`."""
    failed, stops = event.data.get("failed"), event.data.get("stops")
    if isinstance(failed, dict):
        return f"{failed.get('kind')}: {failed.get('message')}"
    wrong = [s for s in stops if s in ("error", "crashed")] if isinstance(stops, list) else []
    return f"{wrong[0]}: the chat ended so" if wrong else ""


def _task(data: Mapping[str, JSON]) -> dict[str, Any]:
    named = {"seal.task": data["task"], "seal.trial": data["trial"]}
    return {"gen_ai.conversation.id": f"{data['task']}/{data['trial']}", **named}


def _model(data: Mapping[str, JSON]) -> tuple[str, str]:
    """Return provider and name of a model, without where it is asked."""
    provider, slash, name = bare_name(str(data.get("model"))).partition("/")
    return (_PROVIDERS.get(provider, provider), name) if slash else (_OURS, provider)


def _operation(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in told.items() if value is not None}
    return {"gen_ai.operation.name": name, **known}

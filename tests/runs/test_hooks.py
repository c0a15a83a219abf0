"""Hooks: what they are told, that they change nothing."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import Completion, Request, ToolCall, ToolResult, UsageError
from seal.core.environment import Stateless
from seal.runs.call_handling import ToldCalls
from seal.runs.costs import Meter, Metered
from seal.runs.hooks import Event, Teller

Noted = list[tuple[str, Event]]


class Echo(Stateless):
    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        return [ToolResult(call.id, json.dumps(call.arguments)) for call in calls]


class Notes:
    """Keeps what it is told, and spoils its copies."""

    def __init__(self) -> None:
        self.noted: Noted = []

    def start(self, event: Event) -> None:
        self._note("start", event)

    def end(self, event: Event) -> None:
        self._note("end", event)

    def _note(self, what: str, event: Event) -> None:
        kept = json.loads(json.dumps(dict(event.data)))
        self.noted.append((what, Event(event.kind, event.id, event.parent, kept, event.error)))
        for value in event.data.values():
            if isinstance(value, (dict, list)):
                value.clear()

    def of(self, kind: str, what: str = "end") -> list[Event]:
        return [event for when, event in self.noted if (when, event.kind) == (what, kind)]


class Broken:
    def start(self, event: Event) -> None:
        raise KeyError("no start")

    def end(self, event: Event) -> None:
        raise KeyError("no end")


def play(pool: Path, out: Path, **further: Any) -> seal.Run:
    options = {"model": "oracle", "baselines": False, **further}
    return seal.run(pool, out=out, **options)


def test_hooks_are_told_of_every_part_within_what_it_is_a_part_of(
    pool: Path, tmp_path: Path
) -> None:
    notes = Notes()
    run = play(pool, tmp_path / "run", hooks=[notes])
    whole, chats = notes.of("run"), notes.of("chat")
    assert [event.parent for event in whole] == [None]
    assert {event.parent for event in (*chats, *notes.of("score"))} == {whole[0].id}
    inner = {event.parent for event in (*notes.of("request"), *notes.of("call"))}
    assert inner <= {event.id for event in chats}
    begun, ended = ({e.id for w, e in notes.noted if w == when} for when in ("start", "end"))
    assert begun == ended and len(chats) == run.summary["tasks"]
    assert len(notes.of("call")) == run.summary["usage"]["calls"]


def test_calls_of_one_reply_stand_beside_each_other_however_many_they_are() -> None:
    many = [ToolCall(id=f"c{one}", name="add", arguments={"a": one}) for one in range(2_000)]
    notes = Notes()
    told = Teller([notes])
    with told.of("chat", dict):
        results = ToldCalls(Echo(), told).call(many)
    (chat,) = notes.of("chat")
    assert {event.parent for event in notes.of("call")} == {chat.id}
    said = {event.data["id"]: event.data["result"] for event in notes.of("call")}
    assert said == {result.call_id: result.content for result in results}


def test_an_end_has_what_came_of_it(pool: Path, tmp_path: Path) -> None:
    notes = Notes()
    run = play(pool, tmp_path / "run", hooks=[notes])
    metrics: Any = notes.of("run")[0].data["metrics"]
    assert metrics["pass_rate"]["mean"] == run["pass_rate"].mean
    called: Any = notes.of("call")[0].data
    assert {"name", "arguments", "result"} <= called.keys()
    scored: Any = notes.of("score")[0].data["scores"]
    assert "pass_rate" in {score["metric"] for score in scored}
    assert {"messages", "content", "tokens_in"} <= notes.of("request")[0].data.keys()


def test_hooks_that_spoil_what_they_get_and_raise_change_no_byte_of_a_run(
    pool: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plain, told = tmp_path / "plain", tmp_path / "told"
    play(pool, plain)
    with caplog.at_level(logging.WARNING):
        play(pool, told, hooks=[Notes(), Broken()])
    for file in (path for path in plain.iterdir() if path.name != "timings.jsonl"):
        assert file.read_bytes() == (told / file.name).read_bytes(), file.name
    said = [record.getMessage() for record in caplog.records]
    assert [text.startswith("hooks Broken: KeyError: 'no start'") for text in said] == [True]


def test_a_run_goes_on_with_other_hooks_than_it_began_with(pool: Path, tmp_path: Path) -> None:
    play(pool, tmp_path / "run", limit=1, hooks=[Notes()])
    notes = Notes()
    play(pool, tmp_path / "run", limit=2, resume=True, hooks=[notes])
    assert len(notes.of("chat")) == 1


def test_the_baselines_tell_nobody(pool: Path, tmp_path: Path) -> None:
    notes = Notes()
    play(pool, tmp_path / "run", limit=1, hooks=[notes], baselines=True)
    assert len(notes.of("run")) == 1


def test_what_ends_a_chat_with_an_error_is_told(tmp_path: Path, pool: Path) -> None:
    notes = Notes()
    model = "openai/m,base_url=http://127.0.0.1:1/v1"
    with pytest.raises(seal.SealError):
        play(pool, tmp_path / "run", model=model, limit=1, hooks=[notes])
    assert notes.of("run")[0].error


def test_an_error_without_a_text_ends_a_part_as_it_is() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    notes = Notes()
    with pytest.raises(Mute), Teller([notes]).of("run", dict):
        raise Mute
    (begun,) = notes.of("run")
    assert begun.error.startswith("Mute: its text cannot be had")


@pytest.mark.parametrize("calls", [None, ({"name": "weather"},)])
@pytest.mark.parametrize("hooked", [False, True])
def test_calls_that_are_none_reach_whoever_says_whose_fault_it_is(hooked: bool, calls: Any) -> None:
    class Own:
        def complete(self, request: Request) -> Completion:
            return Completion("Sunny.", calls=calls)

    notes, meter = Notes(), Meter()
    meter.told = Teller([notes] if hooked else [])
    answer = Metered(Own(), meter, "judge", "own").complete(Request((), role="judge"))
    assert answer.calls is calls
    assert ["untold" in event.data for event in notes.of("request")] == [True] * hooked


@pytest.mark.parametrize(
    ("hooks", "where", "told"),
    [
        ([object()], {}, r"expected methods start\(event\) and end\(event\)"),
        (["opentelemetry"], {}, "are gone: docs/results.md has a class that opens spans"),
        (["nobody"], {}, "nobody"),
        ([Notes()], {"processes": 2}, "leave --processes out"),
        ([Notes()], {"processes": "ray"}, "leave --processes out, and give --workers N"),
    ],
)
def test_hooks_that_cannot_be_are_refused(
    hooks: Any, where: dict[str, Any], told: str, pool: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=told):
        play(pool, tmp_path / "run", hooks=hooks, **where)

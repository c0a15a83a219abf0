"""Missions in one dialogue: their history, the user's answers, and what the calls bring."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mmtb_sources import (
    CHAT,
    CLARIFY,
    MIXED,
    PARALLEL,
    SERIAL,
    SINGLE,
    answer,
    node,
    record,
    write_records,
)
from servers import ModelServer, calls, text
from small_pools import play

import seal
from seal.core import Completion, Message, Request, ToolCall, Trajectory
from seal.pools.imports import import_benchmark
from seal.report.lanes import summary_table
from seal.report.run_results import summary_notes
from seal.runs.finished import rescore
from seal.runs.run import RunFolder
from seal.runs.settings import ScoreSettings

Pool = Callable[..., Path]


@pytest.fixture
def pool_of(tmp_path: Path) -> Pool:
    """Make a pool of one dialogue."""

    def make(*missions: Any, **more: Any) -> Path:
        source = write_records(tmp_path / "source" / "records.jsonl", record(*missions, **more))
        import_benchmark("mmtb", source, tmp_path / "pool")
        return tmp_path / "pool"

    return make


@dataclass
class Script:
    """A model that says one thing after the other; keeps what it was told."""

    answers: Sequence[Completion]
    identity: str = "script"
    seen: list[Request] = field(default_factory=list, repr=False)

    def complete(self, request: Request) -> Completion:
        self.seen.append(request)
        return self.answers[len(self.seen) - 1]

    def told(self, number: int) -> list[Message]:
        """What it was told before its n-th answer, its own prompt apart."""
        return list(self.seen[number].messages[1:])


def called(*names: str, at: str = "Brest") -> Completion:
    return Completion(calls=tuple(ToolCall("", name, {"at": at}) for name in names))


def script(*answers: Completion | str) -> Script:
    return Script([Completion(a) if isinstance(a, str) else a for a in answers])


def only(result: Any) -> Trajectory:
    (trajectory,) = result.folder.trajectories()
    return trajectory


def said(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]


def test_golden_history_is_what_was_said_under_the_date(pool_of: Pool, tmp_path: Path) -> None:
    model = script("Hm.", "Hm.", "Hm.")
    pool = pool_of(SINGLE, CLARIFY, CHAT)
    play(pool, tmp_path / "run", model=model, team="direct", history="gold", workers=1)
    last = next(s for s in model.seen if s.messages[-1].content == CHAT[0])
    assert last.messages[0].content.endswith("\n\nCurrent date: 2024-03-05 14:22:00")
    assert said(last.messages[1:]) == [
        ("user", SINGLE[0]),
        ("assistant", "That is all."),
        ("user", CLARIFY[0]),
        ("assistant", "Where is it?"),
        ("user", "In Brest."),
        ("assistant", "That is all."),
        ("user", CHAT[0]),
    ]
    assert {tool.name for tool in last.tools} == {"getTide", "getHarbour", "getWind"}


def test_own_history_is_what_the_model_did(pool_of: Pool, tmp_path: Path) -> None:
    model = script(called("getTide"), "It is 0.", "The moon.")
    play(pool_of(SINGLE, CHAT), tmp_path / "run", model=model, team="direct")
    assert said(model.told(2)) == [
        ("user", SINGLE[0]),
        ("assistant", ""),
        ("tool", '{"height":0}'),
        ("assistant", "It is 0."),
        ("user", CHAT[0]),
    ]


def test_a_mission_is_told_its_own_date(pool_of: Pool, tmp_path: Path) -> None:
    dates = ["2024-01-01 星期一", "2024-01-02 星期二"]
    model = script("Hm.", "Hm.")
    pool = pool_of(CHAT, CHAT, env_info=dates)
    play(pool, tmp_path / "run", model=model, team="direct", history="gold", workers=1)
    first, second = (said(request.messages) for request in model.seen)
    assert first[0][1].endswith("\n\nCurrent date: 2024-01-01")
    assert second[-2:] == [("system", "Current date: 2024-01-02"), ("user", CHAT[0])]
    assert sum("Current date" in content for _, content in second) == 1


def test_the_user_answers_word_by_word_and_ends_the_mission(pool_of: Pool, tmp_path: Path) -> None:
    model = script("Which place?", called("getTide"), "It is 1.", "The moon.")
    result = play(pool_of(CLARIFY, CHAT), tmp_path / "run", model=model, team="direct")
    trajectory = only(result)
    users = [s.content for s in trajectory.steps if s.author == "user_simulator" and not s.call]
    assert users == [CLARIFY[0], "In Brest.", CHAT[0]]
    assert [stop.reason for stop in trajectory.stops] == ["user_ended", "user_ended"]
    assert trajectory.answers == ("It is 1.", "The moon.")


def test_a_model_may_play_the_user_and_knows_the_answers(pool_of: Pool, tmp_path: Path) -> None:
    user = Script([Completion("Brest!"), Completion(calls=(ToolCall("", "end_conversation", {}),))])
    model = script("Which place?", called("getTide"), "It is 1.")
    play(
        pool_of(CLARIFY),
        tmp_path / "run",
        model=model,
        team="direct",
        role_models={"user_simulator": user},
    )
    assert "- In Brest." in user.seen[0].messages[0].content
    assert model.told(1)[-1].content == "Brest!"


def test_parallel_observations_reach_their_calls(pool_of: Pool, tmp_path: Path) -> None:
    both = Completion(
        calls=tuple(ToolCall("", "getTide", {"at": place}) for place in ("Vigo", "Brest"))
    )
    model = script(both, "Done.")
    trajectory = only(play(pool_of(PARALLEL), tmp_path / "run", model=model, team="direct"))
    pairs = [
        (step.call.arguments, answer.result.value)
        for step, answer in trajectory.calls()
        if step.call and answer and answer.result
    ]
    assert pairs == [({"at": "Vigo"}, {"height": 1}), ({"at": "Brest"}, {"height": 0})]


def test_after_a_wrong_call_the_chat_goes_on(pool_of: Pool, tmp_path: Path) -> None:
    model = script(called("getFog"), called("getWind"), called("getTide", at="Oslo"), "Done.")
    trajectory = only(play(pool_of(SINGLE), tmp_path / "run", model=model, team="direct"))
    results = [step.result for step in trajectory.steps if step.result]
    kinds = [result.error and result.error["kind"] for result in results]
    assert kinds == ["unknown_tool", "not_recorded", None]
    assert trajectory.stops[0].reason == "done"


@pytest.mark.parametrize(
    ("how", "content"),
    [
        ("error", "No further answer of getTide to these arguments was recorded."),
        ("empty", '{"error":"","response":null}'),
        ("simulate", None),
    ],
)
def test_what_the_replay_does_not_hold_is_answered_as_asked_for_counted_and_told(
    pool_of: Pool, tmp_path: Path, how: Any, content: str | None
) -> None:
    model = script(called("getTide", at="Brest"), called("getTide", at="Oslo"), "Done.")
    out = tmp_path / "run"
    trajectory = only(play(pool_of(SINGLE), out, model=model, team="direct", unrecorded=how))
    held, missing = (step.result for step in trajectory.steps if step.result)
    assert (held.unrecorded, missing.unrecorded) == ("", "" if how == "error" else how)
    assert content is None or content in missing.content
    run = RunFolder.open(out)
    assert run.summary()["unrecorded"] == {
        "calls": 1,
        "share": 0.5,
        "answered": {how: 1},
        "questions": {'getTide({"at":"Oslo"})': 1},
    }
    assert f"unrecorded ({how})" in [row[0] for row in summary_table(run).rows]
    assert "asked what no recording holds" in "".join(summary_notes(run))


EVERY = (SINGLE, CHAT, CLARIFY, PARALLEL, SERIAL, MIXED)


@pytest.mark.parametrize("history", ["own", "gold"])
@pytest.mark.parametrize("team", ["direct", "full"])
def test_the_oracle_makes_the_gold_calls_of_every_type(
    pool_of: Pool, tmp_path: Path, team: str, history: str
) -> None:
    pool = pool_of(*EVERY)
    summary = play(pool, tmp_path / "run", model="oracle", team=team, history=history).summary
    means = {name: entry["mean"] for name, entry in summary["metrics"].items()}
    assert summary["errors"] == 0
    names = ("mission_accuracy", "name_accuracy", "optimal_path", "progress", "dialogue_accuracy")
    assert [means[n] for n in (*names, "call_f1", "param_acc_gold", "pass_rate")] == [1.0] * 8
    assert means["calls"] == pytest.approx(9 / 6)


def test_the_floor_plays_every_type(pool_of: Pool, tmp_path: Path) -> None:
    summary = play(pool_of(*EVERY), tmp_path / "run", model="lexical", team="direct").summary
    assert (summary["errors"], sum(summary["stop_reasons"].values())) == (0, 6)


def test_a_run_is_scored_again_by_the_rules_of_the_original(pool_of: Pool, tmp_path: Path) -> None:
    places = ("Brest", "Vigo", "Rome")
    nodes = [node(n, "getTide", at=place) for n, place in enumerate(places)]
    pool = pool_of(("Three tides, please.", "多", [*nodes, answer(3, 0, 1, 2)]))
    two, one = (
        Completion(calls=tuple(ToolCall("", "getTide", {"at": place}) for place in part))
        for part in (places[:2], places[2:])
    )
    result = play(pool, tmp_path / "run", model=script(two, one, "Done."), team="direct")
    before = result.summary["metrics"]["mission_accuracy"]["mean"]
    again = rescore(result.folder.path, ScoreSettings(match="mmtb"))
    after = again["metrics"]["mission_accuracy"]["mean"]
    assert (before, after) == (1.0, 0.0)  # the original takes repeated tools all or one by one
    assert result.folder.manifest()["measure"]["match"] == "mmtb"


def test_a_server_plays_missions_without_a_model_for_the_user(
    pool_of: Pool, tmp_path: Path, model_server: Callable[..., ModelServer]
) -> None:
    server = model_server(
        [text("Where?"), calls(("getTide", {"at": "Brest"})), text("It is 1."), text("The moon.")]
    )
    result = play(
        pool_of(CLARIFY, CHAT),
        tmp_path / "run",
        model="openai/any",
        base_url=server.url,
        team="direct",
        cache="off",
    )
    assert result.summary["errors"] == 0
    assert len(server.received) == 4
    assert result.folder.manifest()["measure"]["user"]["agent"] == "scripted"


def test_a_mission_is_replayed_under_other_names_of_its_tools(tmp_path: Path) -> None:
    seal.augment("mmtb-sample", "names", tmp_path / "renamed")
    run = play(tmp_path / "renamed", tmp_path / "run", model="oracle", retriever="oracle", limit=3)
    errors = [s.result.error for t in run.folder.trajectories() for s in t.steps if s.result]
    assert errors and set(map(str, errors)) == {"None"}

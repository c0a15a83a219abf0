"""Who is asked where: servers of a model, its user and its judge, each with requests of its own."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from servers import Answer, ModelServer, Received, calls
from small_pools import by_server, many, play, weather_goal, weather_task, write_pool

import seal
from seal.cli.dispatch import main
from seal.core import SealError
from seal.models.openai_chat import OUTPUT_CAP
from seal.runs.cost_plan import plan
from seal.runs.costs import Prices
from seal.runs.finished import rescore
from seal.runs.journal import spending_of
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings, ScoreSettings

Start = Callable[..., ModelServer]


def user(request: Received) -> Answer:
    """Answer as a user who is content."""
    return calls(("end_conversation", {}), content="Thank you.")


@dataclass
class Three:
    """A server for each: model, user and judge."""

    model: ModelServer
    user: ModelServer
    judge: ModelServer

    def asked(self) -> dict[str, list[str]]:
        """Return the models that each server was asked for."""
        servers = {"model": self.model, "user": self.user, "judge": self.judge}
        return {n: sorted({r.body["model"] for r in s.received}) for n, s in servers.items()}


@pytest.fixture
def three(model_server: Start, monkeypatch: pytest.MonkeyPatch) -> Iterator[Three]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("USER_SERVERS_KEY", "key-of-user")
    yield Three(model_server(by_server), model_server(user), model_server(by_server))


@pytest.fixture
def talking(tmp_path: Path) -> Path:
    """A pool whose task has a user with a brief."""
    return write_pool(tmp_path / "pool", [weather_task("Rome", persona={"city": "Rome"})])


def checked(three: Three) -> None:
    """Check that each server got its own requests, under its own options."""
    assert three.asked() == {"model": ["x"], "user": ["u"], "judge": ["j"]}
    assert {r.body["max_tokens"] for r in three.model.received} == {77}
    assert {r.body["max_tokens"] for r in three.user.received} == {5}
    assert all(r.body["max_tokens"] == OUTPUT_CAP for r in three.judge.received)
    assert {r.headers["authorization"] for r in three.user.received} == {"Bearer key-of-user"}
    others = [*three.model.received, *three.judge.received]
    assert all("key-of-user" not in r.headers["authorization"] for r in others)


def test_each_server_gets_its_own_requests_by_the_command_line(
    three: Three, talking: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(talking), "--no-baselines", "--json", "--out", str(tmp_path / "run")]
    words += ["--model", "openai/x", "--base-url", three.model.url, "-M", "max_tokens=77"]
    own = f"openai/u,base_url={three.user.url},max_tokens=5,key_env=USER_SERVERS_KEY"
    words += ["--role-model", f"user_simulator={own}"]
    words += ["--role-model", f"judge=openai/j,base_url={three.judge.url}"]
    assert main(words) == 0
    checked(three)
    said = capsys.readouterr()
    assert json.loads(said.out)["errors"] == 0
    assert said.err.splitlines()[:3] == [
        f"seal: model: openai/x at {three.model.url}",
        f"seal: user_simulator: openai/u at {three.user.url}",
        f"seal: judge: openai/j at {three.judge.url}",
    ]
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert all(b"key-of-user" not in path.read_bytes() for path in files)


def test_each_server_gets_its_own_requests_by_endpoints_of_the_folder(
    three: Three,
    talking: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seal.toml").write_text(
        f"""
        model = "openai/x@main"
        role-model = {{user_simulator = "openai/u@person", judge = "openai/j@referee"}}
        [endpoints.main]
        base_url = "{three.model.url}"
        options = {{max_tokens = 77}}
        [endpoints.person]
        base_url = "{three.user.url}"
        key_env = "USER_SERVERS_KEY"
        options = {{max_tokens = 5}}
        [endpoints.referee]
        base_url = "{three.judge.url}"
        """
    )
    assert main(["run", str(talking), "--no-baselines", "--out", "run"]) == 0
    checked(three)
    (tmp_path / "seal.toml").unlink()
    words = ["run", str(talking), "--no-baselines", "--out", "run", "--resume"]
    capsys.readouterr()
    assert main([*words, "--model", "openai/x@main"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "there is no [endpoints.main] in seal.toml" in told
    person = f"openai/u,base_url={three.user.url},key_env=USER_SERVERS_KEY,max_tokens=5"
    words += ["--model", f"openai/x,base_url={three.model.url},max_tokens=77"]
    words += ["--role-model", f"user_simulator={person}"]
    assert main([*words, "--role-model", f"judge=openai/j,base_url={three.judge.url}"]) == 0
    checked(three)


def test_each_server_gets_its_own_requests_from_python(
    three: Three, talking: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = seal.Model("openai/u", base_url=three.user.url, max_tokens=5, key_env="USER_SERVERS_KEY")
    with caplog.at_level(logging.INFO, "seal"):
        seal.run(
            talking,
            out=tmp_path / "run",
            model=seal.Model("openai/x", base_url=three.model.url, max_tokens=77),
            role_models={
                "user_simulator": own,
                "judge": seal.Model("openai/j", base_url=three.judge.url),
            },
        )
    checked(three)
    assert caplog.messages[0] == f"model: openai/x at {three.model.url}"
    assert len([line for line in caplog.messages if " at http" in line]) == 3


def test_flags_do_not_hold_for_a_role_of_the_same_name(
    three: Three, talking: Path, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "model": "openai/x",
        "base_url": three.model.url,
        "model_options": {"max_tokens": 77},
        "role_models": {"judge": f"openai/x,base_url={three.judge.url}"},
        "roles": {"user_simulator": "scripted"},
    }
    done = play(talking, tmp_path / "run", **settings)
    assert three.asked() == {"model": ["x"], "user": [], "judge": ["x"]}
    assert all(r.body["max_tokens"] == OUTPUT_CAP for r in three.judge.received)
    judge = done.folder.manifest()["measure"]["judge"]
    assert (judge["base_url"], judge["options"]) == (three.judge.url, {})
    settings["role_models"] = {"judge": "openai/x"}
    with pytest.raises(SealError, match=r"no key and no server.*the model's option base_url="):
        play(talking, tmp_path / "other", **settings)


def test_an_address_that_is_nobodys_is_refused_with_the_repair(
    three: Three, tmp_path: Path
) -> None:
    match = r"--role-model judge=openai/j,base_url=http://127"
    with pytest.raises(SealError, match=match) as told:
        seal.run("sample", base_url=three.model.url, role_models={"judge": "openai/j"}, limit=1)
    assert "lexical asks no server" in str(told.value)
    for roles in ({}, {"judge": "oracle"}, {"judge": "openai/j,base_url=http://h/v1"}):
        with pytest.raises(SealError, match="lexical asks no server; leave it out"):
            seal.run("sample", base_url=three.model.url, role_models=roles, limit=1)
    for retriever in ("bm25", "bm25,k1=1.2", "trec,file=run.trec"):
        with pytest.raises(SealError, match="lexical asks no server; leave it out"):
            seal.run("sample", base_url=three.model.url, retriever=retriever, limit=1)
    options = {"max_tokens": 5}
    with pytest.raises(SealError, match=r"-M max_tokens: it holds for --model.*judge=openai/j,max"):
        seal.run("sample", model_options=options, role_models={"judge": "openai/j"}, limit=1)


def test_an_option_of_the_models_text_goes_before_the_flags_and_a_line_says_so(
    three: Three, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = write_pool(tmp_path / "pool", many(1))
    words = ["run", str(pool), "--no-baselines", "--json", "--out", str(tmp_path / "run")]
    words += ["--model", f"openai/x,base_url={three.model.url},max_tokens=77"]
    words += ["--base-url", three.model.url, "-M", "max_tokens=5", "-M", "max_tokens=5"]
    assert main(words) == 0
    assert {r.body["max_tokens"] for r in three.model.received} == {77}
    told = "seal: the text of --model goes before the flags: its own max_tokens holds"
    assert capsys.readouterr().err.splitlines()[0] == told


def test_the_flags_of_scoring_hold_for_judges_but_for_their_own_options(
    three: Three, tmp_path: Path
) -> None:
    play(write_pool(tmp_path / "pool", many(2)), tmp_path / "run")
    judges = ("openai/a", f"openai/j,base_url={three.judge.url}")
    summary = rescore(tmp_path / "run", ScoreSettings(judge_model=judges, base_url=three.model.url))
    assert three.asked() == {"model": ["a"], "user": [], "judge": ["j"]}
    assert summary["metrics"]["pass_rate"]["mean"] == 1.0


def test_two_judges_of_one_name_are_told_apart(three: Three, tmp_path: Path) -> None:
    play(write_pool(tmp_path / "pool", many(1)), tmp_path / "run")
    judges = [f"openai/j,base_url={server.url}" for server in (three.model, three.judge)]
    rescore(tmp_path / "run", ScoreSettings(judge_model=judges))
    (score,) = [s for s in RunFolder(tmp_path / "run").scores() if s.metric == "pass_rate"]
    assert [vote["judge"] for vote in score.details["votes"]] == judges


def test_the_simulator_is_asked_at_its_own_server(three: Three, tmp_path: Path) -> None:
    play(
        write_pool(
            tmp_path / "pool", [weather_task("Rome", goals=(weather_goal("Rome", plans=None),))]
        ),
        tmp_path / "run",
        model="openai/x",
        base_url=three.model.url,
        simulator="llm",
        role_models={"simulator": f"openai/s,base_url={three.user.url}"},
    )
    assert three.asked() == {"model": ["x"], "user": ["s"], "judge": []}


def test_a_shipped_price_is_not_booked_at_a_server_of_ones_own(
    three: Three, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = write_pool(tmp_path / "pool", many(1))
    words = ["run", str(pool), "--no-baselines", "--model", "openai/gpt-4o"]
    words += ["--base-url", three.model.url, "--out", str(tmp_path / "run")]
    assert main(words) == 0
    assert "tokens, of no known price" in capsys.readouterr().out
    (account, *_) = spending_of(tmp_path / "run" / "timings.jsonl").asked
    assert account[1] == f"openai/gpt-4o,base_url={three.model.url}"
    settings = RunSettings(pool=pool, model="openai/gpt-4o", baselines=False)
    assert plan(settings)["dollars"] > 0
    elsewhere = RunSettings(
        pool=pool, model=f"openai/gpt-4o,base_url={three.model.url}", baselines=False
    )
    assert plan(elsewhere)["unpriced"] == [f"openai/gpt-4o,base_url={three.model.url}"]
    with pytest.raises(SealError, match="no price of 'openai/gpt-4o,base_url="):
        play(
            pool,
            tmp_path / "other",
            model="openai/gpt-4o",
            base_url=three.model.url,
            max_dollars=1,
        )


def test_a_redirected_provider_has_no_shipped_price(
    three: Three, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = write_pool(tmp_path / "pool", many(1))
    monkeypatch.setenv("OPENAI_BASE_URL", three.model.url)
    play(pool, tmp_path / "run", model="openai/gpt-4o")
    (account, *_) = spending_of(tmp_path / "run" / "timings.jsonl").asked
    assert Prices.load().of(account[1]) is None
    assert plan(RunSettings(pool=pool, model="openai/gpt-4o", baselines=False))["dollars"] == 0


def test_a_price_of_ones_own_counts_at_any_server_and_the_longer_name_first(
    tmp_path: Path,
) -> None:
    near, far = "openai/gpt-4o,base_url=http://a/v1", "openai/gpt-4o,base_url=http://b/v1"
    models = {"openai/gpt-4o": {"in": 1, "out": 1}, near: {"in": 2, "out": 2}}
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"date": "2026-01-31", "source": "mine", "models": models}))
    prices = Prices.load(file)
    dollars = [prices.of(name) for name in ("openai/gpt-4o", near, far)]
    assert [price and price.tokens_in for price in dollars] == [1, 2, 1]
    assert Prices.load().of(near) is None
    assert [told["source"] for told in prices.told([far])] == ["mine"]


def test_options_of_an_offline_model_stand_in_its_text(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", many(4))
    by_flag = play(pool, tmp_path / "a", model="lexical", model_options={"slips": 0.5})
    by_text = play(pool, tmp_path / "b", model="lexical,slips=0.5")
    same = [run.folder.trajectories_path.read_bytes() for run in (by_flag, by_text)]
    assert same[0] == same[1]
    assert by_flag.folder.manifest()["system"] == by_text.folder.manifest()["system"]


def test_vertex_is_told_as_the_place_that_is_asked_and_how_to_sign_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("google.genai", reason="the extra gemini is not installed")
    for name in ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    model = "gemini/gemini-2.5-flash,vertexai=true,project=blue"
    assert main(["run", "sample", "--model", model, "--out", str(tmp_path / "run")]) == 2
    told = capsys.readouterr().err
    assert "model: gemini/gemini-2.5-flash at Vertex AI" in told
    assert "Sign in by 'gcloud auth application-default login'" in told

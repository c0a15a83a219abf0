"""Prompts that a run has instead of ours: who reads them, what they may hold, what is refused."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from linear import linear
from servers import text
from small_pools import WEATHER, Weatherman, play, weather_goal, weather_task, write_pool

import seal
from seal.agents.roles import Decompose, ExecutionManager, prompts_digest
from seal.agents.teams import FULL
from seal.benchmarks.dialogtool import roles
from seal.cli.dispatch import main
from seal.core import Completion, Milestone, Plan, Request, UsageError
from seal.core.conditions import Called
from seal.core.text import variables_in
from seal.runs.run import RunFolder

PERSONA = {"goal": "Know the weather.", "demonstration": [{"role": "user", "content": "hi"}]}


class Told:
    """A model that keeps what it is asked."""

    identity = "told"

    def __init__(self, answer: str = "It is 21 degrees.") -> None:
        self.answer = answer
        self.seen: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.seen.append(request)
        return Completion(self.answer)

    def system(self, role: str) -> str:
        """What the first system message of a role said."""
        return next(r.messages[0].content for r in self.seen if r.role == role)


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "one", [weather_task("Rome")])


@pytest.fixture
def talking(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "talking", [weather_task("Rome", persona=PERSONA)])


@pytest.mark.parametrize(
    ("role", "settings"),
    [
        ("execution_manager", {}),
        ("execution_manager", {"team": "direct"}),
        ("orchestrator", {}),
        ("planner", {"roles": {"planner": "decompose"}}),
    ],
)
def test_a_role_is_told_the_text_instead_of_its_prompt(
    one: Path, tmp_path: Path, role: str, settings: dict[str, Any]
) -> None:
    model = Told()
    own = 'Answer as {"a": {"b": 1}}, costs $5, {{city}}.'
    play(one, tmp_path / "run", model=model, prompts={role: own}, **settings)
    assert model.system(role) == 'Answer as {"a": {"b": 1}}, costs $5, {city}.'
    others = {r.role for r in model.seen} - {role}
    assert all("Answer as" not in model.system(other) for other in others)


def test_a_react_manager_keeps_how_thoughts_are_written(one: Path, tmp_path: Path) -> None:
    model = Told()
    seats = {"execution_manager": "react"}
    play(one, tmp_path / "run", model=model, roles=seats, prompts={"execution_manager": "Be kind."})
    told = model.system("execution_manager")
    assert told.startswith("Be kind.\n\nThink before you act.")


def test_another_role_of_ours_in_a_new_seat_has_a_prompt_of_its_own(
    one: Path, tmp_path: Path
) -> None:
    team = FULL.seat("critic", Decompose, after="planner")
    model = Told()
    prompts = {"critic": "Criticise.", "planner": "Plan."}
    seats = {"planner": "decompose"}
    play(one, tmp_path / "run", model=model, team=team, roles=seats, prompts=prompts)
    assert model.system("planner") == "Plan." and model.system("critic") == "Criticise."


def test_a_users_own_role_class_of_ours_takes_a_prompt(one: Path, tmp_path: Path) -> None:
    class Mine(ExecutionManager):
        pass

    model = Told()
    play(
        one,
        tmp_path / "run",
        model=model,
        team="direct",
        roles={"execution_manager": Mine},
        prompts={"execution_manager": "Mine."},
    )
    assert model.system("execution_manager") == "Mine."


def test_the_simulated_user_keeps_its_brief_behind_another_prompt(
    talking: Path, tmp_path: Path
) -> None:
    user = Told("")
    run = play(
        talking,
        tmp_path / "run",
        model=Weatherman(),
        role_models={"user_simulator": user},
        prompts={"user_simulator": "Be rude."},
    )
    told = user.system("user_simulator")
    assert told.startswith("Be rude.\n\nYour goal: Know the weather.") and "hi" in told
    usual = play(
        talking,
        tmp_path / "usual",
        model=Weatherman(),
        role_models={"user_simulator": Told("")},
    )
    mine, ours = (r.folder.manifest() for r in (run, usual))
    assert mine["measure"]["user"]["prompt"] != ours["measure"]["user"]["prompt"]
    assert "own_prompts" not in mine["system"] and mine["prompts"] == {"user_simulator": "Be rude."}


def judged(server: Any, **more: Any) -> dict[str, Any]:
    model = f"openai/j,base_url={server.url}"
    return {"role_models": {"judge": model}, "judge": "llm", **more}


def test_judges_ask_by_the_prompts_of_the_run(
    one: Path, tmp_path: Path, model_server: Callable[..., Any]
) -> None:
    verdict = text('{"verdict": "unsure", "reason": "r"}')
    server = model_server(lambda request: verdict)
    prompts = {"judge_answer": "First.", "judge_trajectory": "Second."}
    run = play(one, tmp_path / "run", model=Weatherman(), prompts=prompts, **judged(server))
    systems = [r.body["messages"][0]["content"] for r in server.received]
    assert systems == ["First.", "Second."]
    usual = play(one, tmp_path / "usual", model=Weatherman(), **judged(server))
    mine, ours = (r.folder.manifest() for r in (run, usual))
    assert mine["measure"]["judge"]["judge"] != ours["measure"]["judge"]["judge"]
    assert mine["system"] == ours["system"]


def test_a_checker_asks_by_the_judges_prompt_and_the_run_says_so(
    one: Path, tmp_path: Path, model_server: Callable[..., Any]
) -> None:
    server = model_server(lambda request: text('{"verdict": "solved", "reason": "r"}'))
    run = play(
        one,
        tmp_path / "run",
        model=Weatherman(),
        role_models={"checker": f"openai/c,base_url={server.url}"},
        roles={"checker": "checker"},
        prompts={"judge_answer": "Check."},
    )
    assert server.received[0].body["messages"][0]["content"] == "Check."
    assert list(run.folder.manifest()["system"]["own_prompts"]) == ["judge_answer"]


def test_the_simulator_answers_by_the_prompt_of_the_run(
    tmp_path: Path, model_server: Callable[..., Any]
) -> None:
    unrecorded = replace(weather_goal("Rome"), plans=(Plan((Milestone(Called(WEATHER.id)),)),))
    one = write_pool(tmp_path / "one", [weather_task("Rome", goals=(unrecorded,))])
    server = model_server(lambda request: text('{"error": "", "response": "warm"}'))
    models = {"simulator": f"openai/s,base_url={server.url}"}
    settings: dict[str, Any] = {"simulator": "llm", "role_models": models, "model": Weatherman()}
    run = play(one, tmp_path / "run", prompts={"simulator": "You are an API."}, **settings)
    assert server.received[0].body["messages"][0]["content"] == "You are an API."
    count = len(server.received)
    usual = play(one, tmp_path / "usual", **settings)
    assert len(server.received) > count  # what one prompt brought serves no other
    mine, ours = (r.folder.manifest()["measure"]["simulator"] for r in (run, usual))
    assert mine != ours


def test_variables_of_a_packs_prompt_may_be_used(tmp_path: Path) -> None:
    assert variables_in(roles.Awareness.prompt.text) == ["actions", "today"]
    model = Told("[goodbye(x)]")
    seal.run(
        "dialogtool-sample",
        model=model,
        first=1,
        prompts={"awareness": "It is {today}."},
        baselines=False,
        out=tmp_path / "run",
    )
    assert model.system("awareness").startswith("It is 20")


# -- Part of a run's identity, and only where one is given.


def test_a_run_without_prompts_has_the_identity_that_it_had(one: Path, tmp_path: Path) -> None:
    manifest = play(one, tmp_path / "run", model="lexical").folder.manifest()
    assert manifest["system"]["prompts"] == prompts_digest()
    assert "own_prompts" not in manifest["system"] and "prompts" not in manifest


def test_a_run_goes_on_with_its_prompts_alone(one: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    settings: dict[str, Any] = {"model": "lexical", "team": "direct"}
    play(one, out, prompts={"execution_manager": "A."}, **settings)
    play(one, out, prompts={"execution_manager": "A."}, resume=True, **settings)
    for other in ({}, {"execution_manager": "B."}):
        with pytest.raises(UsageError, match="own_prompts"):
            play(one, out, prompts=other, resume=True, **settings)


def test_the_prompts_stand_in_the_report(one: Path, tmp_path: Path) -> None:
    run = play(one, tmp_path / "run", model="lexical", prompts={"orchestrator": "Speak in rhyme."})
    seal.report([run.folder.path], out=tmp_path / "report.html")
    assert "Speak in rhyme." in (tmp_path / "report.html").read_text()


def test_floor_and_ceiling_leave_out_what_they_have_no_use_for(
    talking: Path, tmp_path: Path
) -> None:
    model = Told("")
    run = play(
        talking,
        tmp_path / "run",
        model=model,
        prompts={"user_simulator": "Be rude.", "execution_manager": "Act."},
        baselines=True,
    )
    assert run.summary["errors"] == 0
    assert set(run.folder.baselines()) == {"floor", "ceiling"}


# -- What is refused, before a folder is written.


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("execution_manger", "x", "no such role; did you mean 'execution_manager'"),
        ("executor", "x", "who plays it has no prompt"),
        ("planner", "x", "nobody plays it; seat one: --role planner=AGENT"),
        ("user_simulator", "x", "--role-model user_simulator=MODEL"),
        ("judge_answer", "x", "no model judges by it; name one: --role-model judge=MODEL"),
        ("simulator", "x", "--simulator llm"),
        ("execution_manager", "It is {today}.", "no variable {today}; it may use: none"),
        ("execution_manager", " \n", "it is empty"),
        ("execution_manager", "a\0b", "it is no text"),
        ("execution_manager", "\ud800", "it is no text"),
        ("execution_manager", "a" * 1_000_001, "more than 1,000,000 bytes"),
        ("execution_manager", Path("missing.txt"), "no such file"),
        ("execution_manager", Path(), "it is no file"),
        ("execution_manager", 3, "expected a text or a path"),
    ],
)
def test_a_prompt_that_cannot_be_is_refused_with_the_repair(
    one: Path, tmp_path: Path, name: str, given: Any, told: str
) -> None:
    with pytest.raises(UsageError) as refused:
        play(one, tmp_path / "run", model="lexical", prompts={name: given})
    assert told in str(refused.value)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_text_that_is_a_files_name_asks_for_a_path(
    one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kind.txt").write_text("Be kind.")
    with pytest.raises(UsageError, match=r"give pathlib.Path\('kind.txt'\)"):
        play(one, tmp_path / "run", model="lexical", prompts={"orchestrator": "kind.txt"})
    model = Told()
    play(one, tmp_path / "run", model=model, prompts={"orchestrator": Path("kind.txt")})
    assert model.system("orchestrator") == "Be kind."


HOSTILE: Mapping[str, bytes] = {
    "binary": bytes(range(256)) * 40,
    "of two bytes a letter": "Be kind.".encode("utf-16"),
    "of another encoding": "gr\u00fc\u00dfe".encode("latin-1"),
    "of ten megabytes": b"a" * 10_000_000,
    "empty": b"",
    "of blanks": b" \n\t\n",
    "with an unknown variable": b"Say {cheese}.",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_on_the_command_line(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(HOSTILE[kind])
    words = ["run", str(one), "--model", "lexical", "--no-baselines", "--out", str(tmp_path / "r")]
    code = main([*words, "--prompt", f"orchestrator={file}"])
    told = capsys.readouterr().err
    assert code == 2 and "--prompt orchestrator" in told and "Traceback" not in told
    assert not (tmp_path / "r" / "run.json").exists()


def test_a_million_braces_are_read_in_linear_time(one: Path, tmp_path: Path) -> None:
    def played(length: int) -> None:
        hostile = (
            "{" * length,
            "{" * (length // 2) + "a" + "}" * (length // 2),
            "{{a " * (length // 4),
            "{" + "a" * length,
        )
        for number, braces in enumerate(hostile):
            out = tmp_path / f"run{length}-{number}"
            play(one, out, model="lexical", prompts={"orchestrator": braces})

    linear(played, 999_990)


def test_a_file_is_named_on_the_command_line(
    one: Path, tmp_path: Path, model_server: Callable[..., Any]
) -> None:
    file = tmp_path / "kind.txt"
    file.write_text("\ufeffBe kind.\n")
    server = model_server(lambda request: text("It is 21 degrees."))
    words = ["run", str(one), "--model", "openai/m", "--base-url", server.url, "--no-baselines"]
    words += ["--team", "direct", "--prompt", f"execution_manager={file}"]
    assert main([*words, "--out", str(tmp_path / "r")]) == 0
    assert server.received[0].body["messages"][0] == {"role": "system", "content": "Be kind."}
    told = RunFolder(tmp_path / "r").manifest()
    assert told["prompts"] == {"execution_manager": "Be kind."}


def test_the_help_says_which_variables_a_file_may_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help-all"]) == 0
    help_text = " ".join(capsys.readouterr().out.split())
    for kind in (roles.Awareness, roles.Requester, roles.Responder, roles.Actor, roles.Creator):
        names = " ".join(f"{{{name}}}" for name in variables_in(kind.prompt.text))
        assert f"{kind.prompt.name} {names}" in help_text


def test_an_ablation_plays_each_variant_by_the_prompt(one: Path, tmp_path: Path) -> None:
    model = Told()
    prompts = {"execution_manager": "Act."}
    settings: dict[str, Any] = {"team": "direct", "prompts": prompts}
    seal.ablate("react", one, model=model, out=tmp_path / "ablated", **settings)
    told = [r.messages[0].content for r in model.seen]
    assert {text.partition("\n")[0] for text in told} == {"Act."} and len(set(told)) == 2

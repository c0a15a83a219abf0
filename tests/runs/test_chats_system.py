"""System texts of tasks: who is told them, as what, and what knows of them besides."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import text
from small_pools import WEATHER, weather_goal, weather_task

import seal
from seal.cli.dispatch import main
from seal.core import Completion, Goal, Milestone, Plan, Request, Step, Task, UsageError
from seal.core.conditions import AGENT, SYSTEM, Argument, Called
from seal.core.records import decode, encode
from seal.pools.lint_findings import ungrounded_values
from seal.runs.chats import history_of

ALONE = {"execution_manager": "theirs"}
POLICY, TODAY = "Refund nobody.", "Today is Friday."


class Told:
    """A model that keeps what it is asked."""

    identity = "told"

    def __init__(self) -> None:
        self.seen: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.seen.append(request)
        return Completion("It ships on Monday.")

    def heard(self, role: str) -> list[tuple[str, str]]:
        """Role and text of each message of a role's last request."""
        return [(m.role, m.content) for m in self.last(role).messages]

    def last(self, role: str) -> Request:
        return next(request for request in reversed(self.seen) if request.role == role)


def get_order(order_id: str) -> dict:
    """Look an order up.

    Args:
        order_id: As on the receipt.
    """
    return {"ships": "Monday"}


def shop(**task: Any) -> seal.Benchmark:
    asked = seal.ask("When does order 7 ship?", **{"system": TODAY, **task})
    return seal.Benchmark("shop", tools=[get_order], tasks=[asked], system=POLICY)


def run(bench: Any, out: Path, **settings: Any) -> Any:
    return seal.run(bench, baselines=False, out=out, **settings)


def test_lead_and_caller_are_told_it_behind_their_prompts(tmp_path: Path) -> None:
    model = Told()
    run(shop(), tmp_path / "run", model=model, roles={"planner": "decompose"})
    for role in ("orchestrator", "execution_manager"):
        (first, told), *others = model.heard(role)
        assert first == "system" and told.endswith(f"\n\n{POLICY}\n\n{TODAY}")
        assert "system" not in dict(others)
    assert POLICY not in json.dumps(model.heard("planner"))


def test_a_team_of_one_hears_it_once(tmp_path: Path) -> None:
    model = Told()
    run(shop(), tmp_path / "run", model=model, team="direct")
    (_, told), user = model.heard("execution_manager")
    assert told.count(POLICY) == told.count(TODAY) == 1
    assert user == ("user", "When does order 7 ship?")


def test_theirs_stands_in_the_place_of_our_prompt(tmp_path: Path) -> None:
    model = Told()
    run(
        shop(),
        tmp_path / "run",
        model=model,
        team="direct",
        prompts={"execution_manager": "theirs"},
    )
    assert model.heard("execution_manager")[0] == ("system", f"{POLICY}\n\n{TODAY}")


def test_theirs_keeps_our_prompt_where_the_task_says_nothing(tmp_path: Path) -> None:
    model = Told()
    plain = seal.Benchmark("shop", tools=[get_order], tasks=[seal.ask("When does order 7 ship?")])
    run(
        plain, tmp_path / "run", model=model, team="direct", prompts={"execution_manager": "theirs"}
    )
    assert model.heard("execution_manager")[0][1].startswith("You carry out a request")


@pytest.mark.parametrize("role", ["planner", "user_simulator"])
def test_theirs_is_for_roles_that_hear_the_system(tmp_path: Path, role: str) -> None:
    seats: dict[str, Any] = {"planner": "decompose"}
    models = {"user_simulator": Told()}
    with pytest.raises(UsageError, match="goes to execution_manager and orchestrator alone"):
        run(
            shop(),
            tmp_path / "run",
            model=Told(),
            roles=seats,
            role_models=models,
            prompts={role: "theirs"},
        )


def test_a_benchmark_lets_its_system_text_stand_alone(tmp_path: Path) -> None:
    asked = [seal.ask("When does order 7 ship?")]
    play = {"team": "direct", "prompt": "theirs"}
    bench = seal.Benchmark("shop", tools=[get_order], tasks=asked, system=POLICY, play=play)
    model, ours = Told(), Told()
    played = run(bench, tmp_path / "run", model=model)
    assert model.heard("execution_manager")[0] == ("system", POLICY)
    assert played.folder.manifest()["system"]["own_prompts"] == {"execution_manager": "theirs"}
    run(bench, tmp_path / "ours", model=ours, prompts={"execution_manager": "Be kind."})
    assert ours.heard("execution_manager")[0] == ("system", f"Be kind.\n\n{POLICY}")
    run(bench, tmp_path / "own", agent=lambda request, tools: request)  # it has no prompt


def test_what_a_benchmark_says_of_prompts_is_one_word() -> None:
    with pytest.raises(UsageError, match=r"play\.prompt: expected theirs"):
        seal.Benchmark("shop", tools=[get_order], play={"prompt": "ours"})


def test_a_profile_without_system_messages_folds_it_into_the_request(
    tmp_path: Path, model_server: Callable[..., Any]
) -> None:
    profile = tmp_path / "none.toml"
    profile.write_text('system = "none"\n')
    server = model_server(lambda request: text("It ships on Monday."))
    model = f"openai/m,base_url={server.url},profile={profile}"
    shop().save(tmp_path / "shop")
    words = ["run", str(tmp_path / "shop"), "--model", model, "--team", "direct"]
    words += ["--prompt", "execution_manager=theirs", "--no-baselines"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    (said,) = server.received[0].body["messages"]
    assert said == {
        "role": "user",
        "content": f"{POLICY}\n\n{TODAY}\n\nWhen does order 7 ship?",
    }


def test_calls_in_text_stand_behind_it(tmp_path: Path) -> None:
    model = Told()
    run(shop(), tmp_path / "run", model=model, team="direct", format="json")
    told = model.heard("execution_manager")[0][1]
    assert told.index(TODAY) < told.index("get_order")


def test_an_agent_of_ones_own_is_told_it(tmp_path: Path) -> None:
    heard: list[Any] = []

    def plain(request: str, tools: Any) -> str:
        heard.append(request)
        return "Monday"

    def with_messages(request: str, tools: Any, messages: Any) -> str:
        heard.append((request, messages))
        return "Monday"

    run(shop(), tmp_path / "plain", agent=plain)
    run(shop(), tmp_path / "messages", agent=with_messages)
    request = "When does order 7 ship?"
    assert heard[0] == f"{POLICY}\n\n{TODAY}\n\n{request}"
    assert heard[1] == (request, [{"role": "system", "content": f"{POLICY}\n\n{TODAY}"}])


# -- Histories.


def test_systems_of_a_history_stay_systems_in_their_places(tmp_path: Path) -> None:
    said = (
        Step(0, SYSTEM, AGENT, "One.", turn=0),
        Step(1, "user_simulator", "execution_manager", "Hello.", turn=1),
        Step(2, "execution_manager", "user_simulator", "Hello!", turn=2),
        Step(3, SYSTEM, AGENT, "Two.", turn=3),
    )
    goal = Goal("When does order 7 ship?")
    task = Task("t", "shop", (goal,), history=said, system="Zero.")
    model = Told()
    bench = seal.Benchmark("shop", tools=[get_order], tasks=[task])
    run(bench, tmp_path / "run", model=model, team="direct")
    (_, told), *others = model.heard("execution_manager")
    assert told.endswith("\n\nZero.\n\nOne.")
    assert others == [
        ("user", "Hello."),
        ("assistant", "Hello!"),
        ("system", "Two."),
        ("user", "When does order 7 ship?"),
    ]


def test_calls_of_one_reply_stay_together_behind_a_system_text() -> None:
    call = seal.ToolCall("call_7", "get_order", {})
    result = seal.ToolResult("call_7", "{}")
    said = (
        Step(0, "execution_manager", "executor", call=call, turn=4),
        Step(1, "execution_manager", "executor", call=seal.ToolCall("x", "b", {}), turn=4),
        Step(2, "executor", "execution_manager", result=result, turn=5),
    )
    task = Task("t", "b", (Goal("Hi"),), history=said, system=POLICY)
    steps = history_of(task, 0, "orchestrator")
    assert [(s.author, s.recipient, s.turn) for s in steps] == [
        ("system", "orchestrator", 0),
        ("system", "execution_manager", 1),
        ("execution_manager", "executor", 2),
        ("execution_manager", "executor", 2),
        ("executor", "execution_manager", 3),
    ]
    assert steps[4].result is not None and steps[4].result.call_id == "call_0"


def test_nobody_else_sees_what_the_system_says(tmp_path: Path) -> None:
    seen: dict[str, list[str]] = {}

    class Critic:
        def reply(self, chat: seal.Chat) -> seal.Reply:
            seen[chat.role] = [step.author for step in chat.steps]
            return seal.Reply(chat.steps[-1].content)

    from seal.agents.teams import DIRECT

    team = DIRECT.seat("critic", Critic, after="execution_manager")
    run(shop(), tmp_path / "run", model=Told(), team=team)
    assert seen["critic"] and "system" not in seen["critic"]


# -- Records and files.


def test_a_record_without_it_is_the_line_that_it_was() -> None:
    task = weather_task("Rome")
    assert b'"system"' not in encode(task) and decode(encode(task), Task) == task
    told = weather_task("Rome", system=POLICY)
    assert (
        encode(told).endswith(b',"system":"Refund nobody."}\n')
        and decode(encode(told), Task) == told
    )
    assert [step.content for step in told.before] == [POLICY] and task.before == ()


def test_values_of_it_count_as_told(tmp_path: Path) -> None:
    task = weather_task("Rome", system="Fees are 12.75 euros.")
    tools = {WEATHER.id: WEATHER}
    fee = Milestone(Called(WEATHER.id, {"city": Argument(("12.75",))}))
    goals = (weather_goal("Rome", plans=(Plan((fee,)),)),)
    plain = replace(task, system="", goals=goals)
    found = [
        len(list(ungrounded_values(one, tools))) for one in (replace(task, goals=goals), plain)
    ]
    assert found == [0, 1]


def test_a_benchmark_joins_its_own_once_and_keeps_it_in_its_folder(tmp_path: Path) -> None:
    bench = shop()
    folder = bench.save(tmp_path / "shop")
    (task,) = (json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines())
    assert task["system"] == f"{POLICY}\n\n{TODAY}"
    model = Told()
    run(seal.Benchmark.load(folder), tmp_path / "run", model=model, team="direct")
    assert model.heard("execution_manager")[0][1].count(POLICY) == 1
    with pytest.raises(UsageError, match="system stands beside a folder"):
        seal.Benchmark("shop", folder=folder, system=POLICY)


@pytest.mark.parametrize("given", [3, ["a"], None])
def test_what_is_no_text_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="system: expected a text"):
        seal.ask("Hi", system=given)


def test_a_column_of_questions_holds_it(tmp_path: Path) -> None:
    rows = [
        {"query": "When does order 7 ship?", "system_prompt": TODAY, "calls": "get_order"},
        {"query": "And order 8?", "system_prompt": None},
        {"query": "And order 9?", "system_prompt": 4},
    ]
    bench = seal.Benchmark.of("shop", [get_order], rows)
    assert [task.system for task in bench._tasks] == [TODAY, ""]


def test_the_page_of_a_task_shows_it_as_text(tmp_path: Path) -> None:
    played = run(shop(system="Never say <b>no</b>."), tmp_path / "run", model=Told())
    seal.report([played.folder.path], out=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "What the agent was told before the chat" in page and "<b>no</b>" not in page


def test_a_react_manager_keeps_its_form_beside_theirs(tmp_path: Path) -> None:
    model = Told()
    seats = {"execution_manager": "react"}
    run(shop(), tmp_path / "run", model=model, team="direct", roles=seats, prompts=ALONE)
    told = model.heard("execution_manager")[0][1]
    assert told.startswith("Think before you act.") and told.endswith(f"\n\n{POLICY}\n\n{TODAY}")

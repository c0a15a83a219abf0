"""Functions as roles of a team: what each is asked, what its word does, what it may call."""

import asyncio
import importlib
import json
import linecache
import os
import re
import sys
import time
from pathlib import Path

import pytest

import seal
from seal.cli.dispatch import main
from seal.core import Usage
from seal.runs.run import RunFolder

ORDERS = {"7": "Monday", "8": "Friday"}
ROLES = ("planner", "verifier", "checker", "orchestrator", "execution_manager")


def get_order(order_id: str) -> str:
    """Say when an order ships."""
    return ORDERS[order_id]


SHOP = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[
        seal.ask(
            "When do orders 7 and 8 ship?",
            seal.called("get_order", order_id="7"),
            seal.called("get_order", order_id="8"),
            answer=["Monday", "Friday"],
            id="both",
        )
    ],
)


def played(tmp_path: Path, roles, model="oracle", **options) -> seal.Run:
    given = {"baselines": False, "out": tmp_path / "run", "cache_dir": tmp_path / "c", **options}
    return seal.run(SHOP, roles=roles, model=model, team="full", **given)


def words(run: seal.Run, author: str) -> list[str]:
    (chat,) = run.folder.trajectories()
    return [s.content for s in chat.steps if s.author == author and s.content and not s.result]


def test_a_planners_lines_are_the_instructions(tmp_path):
    def planner(request, chat):
        return f"Order 7: {request}\nOrder 8: {request}"

    run = played(tmp_path, {"planner": planner})
    told = [text for text in words(run, "orchestrator") if text.startswith("Order")]
    assert told == [f"Order {n}: When do orders 7 and 8 ship?" for n in (7, 8)]


def test_a_verifier_sees_the_results_before_their_caller(tmp_path):
    def verifier(request, chat):
        return f"accepted: {request} {[s.content for s in chat.steps if s.result]}"

    run = played(tmp_path, {"verifier": verifier})
    (said,) = words(run, "verifier")
    assert said.startswith("accepted: When do orders 7 and 8 ship? ['{")
    assert run["call_f1"].mean == 1.0


def test_a_checker_ends_the_goal_or_sends_it_back(tmp_path):
    def checker(request, chat):
        again = sum(step.author == "checker" for step in chat.steps)
        back = seal.Reply("unsolved: say it again", next="orchestrator")
        return f"solved: {request}" if again else back

    run = played(tmp_path, {"checker": checker})
    assert words(run, "checker") == [
        "unsolved: say it again",
        "solved: When do orders 7 and 8 ship?",
    ]


def test_a_manager_is_asked_what_it_is_instructed(tmp_path):
    asked = []

    def manager(request, chat):
        asked.append((request, [tool.name for tool in chat.tools]))
        return chat.complete([], chat.tools).content or "Monday, Friday"

    def planner(request, chat):
        return "First.\nSecond."

    played(tmp_path, {"planner": planner, "execution_manager": manager})
    assert asked == [("First.", ["get_order"]), ("Second.", ["get_order"])]


def test_a_manager_may_take_tools_in_the_place_of_the_chat(tmp_path):
    async def manager(request, tools):
        found = await asyncio.gather(*(tools[0](order_id=number) for number in ORDERS))
        return " and ".join(found)

    run = played(tmp_path, {"execution_manager": manager}, model="lexical")
    assert run["call_f1"].mean == 1.0
    assert len(set(run.calls["turn"])) == 1


@pytest.mark.parametrize("role", ROLES)
def test_an_unusual_second_name_gets_tools_as_the_manager_and_the_chat_in_other_roles(
    role, tmp_path
):
    given = []

    def plain(request, c):
        given.append(type(c))
        return "solved: yes"

    played(tmp_path, {role: plain})
    assert {kind is list for kind in given} == {role == "execution_manager"}


def test_a_role_may_take_tools_by_their_name_and_options_of_its_own(tmp_path):
    def planner(request, tools, limit=2):
        return f"{tools[0].__name__} {limit}"

    def checker(request, c, limit=2):
        return f"solved: {c.role} {limit}"

    run = played(tmp_path, {"planner": planner, "checker": checker})
    assert words(run, "planner") == ["get_order 2"]
    assert words(run, "checker") == ["solved: checker 2"]


def test_a_user_speaks_the_goal_and_what_it_likes(tmp_path):
    def user(request, chat):
        return f"Please: {request}"

    assert words(played(tmp_path, {"user_simulator": user}), "user_simulator") == [
        "Please: When do orders 7 and 8 ship?"
    ]


def test_a_function_of_the_chat_may_be_the_agent_and_ask_the_runs_model(tmp_path):
    def careful(request, chat):
        said = chat.complete([seal.core.Message("user", request)], chat.tools)
        chat.execute(said.calls)
        return "Monday and Friday"

    run = seal.run(
        SHOP, agent=careful, model="oracle", baselines=False, out=tmp_path / "r", cache_dir=tmp_path
    )
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)


def doing(*orders):
    """Return a function that makes calls in whatever role."""

    def role(request, chat):
        if not any(step.author == chat.role for step in chat.steps):
            calls = [seal.ToolCall("", "get_order", {"order_id": order}) for order in orders]
            chat.execute(calls)
        texts = {"planner": request, "verifier": "accepted", "checker": "solved: so it is"}
        return texts.get(chat.role, "Monday and Friday")

    return role


@pytest.mark.parametrize("role", [role for role in ROLES if role != "verifier"])
@pytest.mark.parametrize(("orders", "right"), [(("7", "8"), 1.0), (("7", "9"), 0.5)])
def test_calls_of_a_function_in_any_role_are_scored(role, orders, right, tmp_path):
    class Silent:
        def complete(self, request):
            return seal.Completion("Monday and Friday")

    run = played(tmp_path, {role: doing(*orders)}, model=Silent())
    assert (run["call_f1"].mean, run["param_acc_gold"].mean) == (1.0, right)
    assert run["mission_accuracy"].mean == float(right == 1.0)
    assert list(run.calls["author"]) == [role, role]


def test_a_role_that_gives_no_text_has_crashed(tmp_path):
    run = played(tmp_path, {"planner": lambda request, chat: 7})
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert "returned 7 (int); expected the answer as a text" in str(run.summary["crashes"])


def test_a_record_tells_functions_of_one_name_by_their_source(tmp_path):
    def make(text):
        scope = {}
        exec(f"def planner(request, chat):\n    return {text!r}\n", scope)
        return scope["planner"]

    def planner(request, chat):
        return request

    first = planner

    def planner(request, chat):
        return request + "!"

    names = {
        played(tmp_path / str(n), {"planner": one}).folder.manifest()["system"]["roles"]["planner"]
        for n, one in enumerate((first, planner))
    }
    assert len(names) == 2
    assert {name.split("#")[0] for name in names} == {
        "test_own_roles:test_a_record_tells_functions_of_one_name_by_their_source.<locals>.planner"
    }


def test_a_run_does_not_go_on_with_a_role_whose_source_has_changed(tmp_path):
    def role(text: str) -> type:
        file = tmp_path / "changing.py"
        file.write_text(
            "import seal\n__version__ = '1.2'\nclass Planner:\n    def reply(self, chat):\n"
            f"        return seal.Reply({text!r})\n"
        )
        linecache.checkcache()
        sys.modules.pop("changing", None)
        importlib.invalidate_caches()
        return importlib.import_module("changing").Planner

    sys.path.insert(0, str(tmp_path))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        first = played(tmp_path, {"planner": role("One.")})
        told = first.folder.manifest()["system"]["versions"]["changing:Planner"]
        assert re.fullmatch("1.2 [0-9a-f]{8}", told)
        with pytest.raises(seal.SealError, match=r"system.versions: was .*changing:Planner"):
            played(tmp_path, {"planner": role("Two.")}, resume=True)
    finally:
        sys.path.remove(str(tmp_path))
        sys.dont_write_bytecode = before


@pytest.fixture
def lab(tmp_path, monkeypatch) -> Path:
    (tmp_path / "lab_roles.py").write_text(
        "def manager(request, tools):\n    return str([tools[0](order_id=n) for n in '78'])\n"
        "def planner(request, chat):\n    return request\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    SHOP.save("shop")
    return tmp_path


def test_the_command_line_seats_every_role(lab, capsys):
    words = ["--role", "execution_manager=lab_roles:manager", "--role", "planner=lab_roles:planner"]
    more = ["--role", "checker=none", "--no-baselines", "--out", "run", "--simulator", "template"]
    assert main(["run", "shop", *words, *more]) == 0
    run = RunFolder.open("run")
    assert run.summary()["metrics"]["call_f1"]["mean"] == 1.0
    spoke = {step.author for chat in run.trajectories() for step in chat.steps}
    assert spoke == {"user_simulator", "orchestrator", "planner", "execution_manager", "executor"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--role", "critic=x:y"], "team full has no role 'critic'; it has: checker, exec"),
        (["--role", "planner"], "--role 'planner': expected KEY=VALUE"),
        (["--role", "planner=lab_roles:no"], "lab_roles has no 'no'"),
        (
            ["--role", "planner=decompose", "--role", "planner=lab_roles:planner"],
            "--role planner is given twice, with two values; keep one",
        ),
        (["--planner", "decompose"], "--planner is now --role planner=AGENT"),
        (["--user", "user_simulator"], "--user is now --role user_simulator=AGENT"),
    ],
)
def test_a_role_that_cannot_be_seated_is_refused_with_the_repair(words, said, lab, capsys):
    assert main(["run", "shop", *words, "--out", "run"]) == 2
    assert said in capsys.readouterr().err


def test_what_a_function_asks_from_another_thread_counts_for_its_chat(tmp_path):
    class Counted:
        def complete(self, request):
            return seal.Completion("fine", usage=Usage(10, 5))

    async def manager(request, chat):
        return chat.complete([]).content

    def in_time(request, chat):
        chat.count("lab/own", Usage(7, 2))
        return chat.complete([]).content

    for n, (agent, tokens) in enumerate([(manager, 15), (in_time, 24)]):
        run = seal.run(
            SHOP,
            agent=agent,
            model=Counted(),
            max_seconds=30,
            baselines=False,
            out=tmp_path / str(n),
        )
        line = json.loads((run.folder.path / "timings.jsonl").read_text())
        assert sum(one["tokens_in"] + one["tokens_out"] for one in line["asked"]) == tokens
        assert run.summary["usage"]["tokens_in"] == tokens // 15 * 10 + (7 if n else 0)
    assert next(run.folder.trajectories()).provenance == {
        "own_models": {"execution_manager": "lab/own"}
    }


class Slow:
    def reply(self, chat):
        time.sleep(4)


class Async:
    async def reply(self, chat):
        await asyncio.sleep(0)
        print("I wait.")
        return seal.Reply(chat.request)


class Wandering:
    def reply(self, chat):
        os.chdir("/")
        return seal.Reply(chat.request)


def test_an_object_that_takes_too_long_ends_the_goal(tmp_path):
    run = played(tmp_path, {"planner": Slow()}, max_seconds=0.2)
    assert run.summary["stop_reasons"] == {"max_seconds": 1}


@pytest.mark.parametrize("role", [Async, Async()])
def test_an_object_may_reply_as_a_coroutine(role, tmp_path):
    run = played(tmp_path, {"planner": role})
    assert words(run, "planner") == ["When do orders 7 and 8 ship?"]
    (told,) = next(run.folder.trajectories()).provenance["printed"]
    assert told["text"] == "I wait.\n"


def test_an_object_that_changes_the_working_folder_changes_nothing_else(tmp_path):
    before = Path.cwd()
    run = played(tmp_path, {"planner": Wandering()})
    assert (Path.cwd(), run["call_f1"].mean) == (before, 1.0)

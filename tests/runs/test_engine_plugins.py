"""Own planners, checkers, verifiers, teams, models: every way in, and what their faults cost."""

import re
from pathlib import Path

import pytest
from small_pools import Weatherman, many, play, write_pool

import seal
from seal.agents.roles import Checker
from seal.agents.teams import FULL
from seal.core import Completion, Reply, ToolCall, UsageError

LAB = '''
from seal import Reply

class OneStep:
    """A planner in five lines."""
    def reply(self, chat):
        return Reply(f"Just do it: {chat.request}")

one_step = OneStep()
'''


class OneStep:
    def reply(self, chat):
        return Reply(f"Just do it: {chat.request}")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module and an installed distribution with an entry point."""
    (tmp_path / "lab_of_planners.py").write_text(LAB)
    info = tmp_path / "lab_of_planners-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-of-planners\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[seal.agents]\nfrom_entry = lab_of_planners:OneStep\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def planned(folder) -> list[str]:
    return [s.content for t in folder.trajectories() for s in t.steps if s.author == "planner"]


@pytest.mark.parametrize(
    "planner",
    [
        OneStep(),
        OneStep,
        "lab_of_planners:OneStep",
        "lab_of_planners:one_step",
        "from_entry",
        "registered",
    ],
)
def test_a_planner_comes_in_by_every_way(lab, pool, tmp_path, monkeypatch, planner):
    registry = seal.core.registry.load_dotted("seal.agents:REGISTRY")
    monkeypatch.setattr(registry, "_registered", {})
    seal.register("agent", "registered", OneStep())
    result = seal.run(
        pool,
        out=tmp_path / "run",
        model=Weatherman(),
        roles={"planner": planner},
        baselines=False,
        first=1,
    )

    assert planned(result.folder) == ["Just do it: What is the weather in Rome?"]
    assert result.summary["metrics"]["call_recall"]["mean"] == 1.0
    assert "planner" in result.folder.manifest()["system"]["roles"]


def test_own_checker_sends_back_and_its_word_stands_in_the_chat(pool, tmp_path):
    class Strict:
        def reply(self, chat):
            mine = [step for step in chat.steps if step.author == chat.role]
            if not mine:
                return Reply("unsolved: say it again", next="orchestrator")
            return Reply("solved: fine", done=True)

    result = play(pool, tmp_path / "run", model=Weatherman(), roles={"checker": Strict()}, limit=1)

    (trajectory,) = result.folder.trajectories()
    said = [s.content for s in trajectory.steps if s.author == "checker"]
    assert said == ["unsolved: say it again", "solved: fine"]
    assert result.summary["stop_reasons"] == {"done": 1}


def test_shipped_checker_and_verifier_take_part(pool, tmp_path):
    roles = {"checker": Checker(returns=1), "verifier": "rule_verifier"}
    result = play(pool, tmp_path / "run", model=Weatherman(), roles=roles, limit=1)

    (trajectory,) = result.folder.trajectories()
    said = {s.author: s.content for s in trajectory.steps}
    assert said["verifier"] == "accepted"
    assert said["checker"].startswith(("unsure", "solved"))


def test_oracle_has_full_marks_with_planner_and_verifier(tmp_path):
    roles = {"planner": "decompose", "verifier": "rule_verifier"}
    settings = {"model": "oracle", "retriever": "oracle", "roles": roles, "limit": 30}
    result = play("sample", tmp_path / "run", **settings)

    assert result.summary["metrics"]["call_f1"]["mean"] == 1.0
    assert result.summary["metrics"]["pass_rate"]["mean"] == 1.0


class Critic:
    def reply(self, chat):
        return Reply(f"I heard: {chat.steps[-1].content}")


@pytest.mark.parametrize(
    ("after", "route"),
    [
        ("user_simulator", ["user_simulator>critic", "critic>orchestrator"]),
        ("execution_manager", ["execution_manager>critic", "critic>orchestrator"]),
        ("orchestrator", ["orchestrator>critic", "critic>checker"]),
    ],
)
def test_sixth_role_sits_anywhere_without_a_circle(pool, tmp_path, after, route):
    team = FULL.seat("critic", Critic(), after=after)
    result = play(pool, tmp_path / "run", model=Weatherman(), team=team, limit=1)

    (trajectory,) = result.folder.trajectories()
    said = [f"{s.author}>{s.recipient}" for s in trajectory.steps]
    assert [said.count(hop) for hop in route] == [1, 1]
    assert result.summary["stop_reasons"] == {"done": 1}
    assert result.summary["metrics"]["calls"]["mean"] == 1.0


def test_sixth_role_after_the_planner_hears_the_plan(pool, tmp_path):
    team = FULL.seat("planner", OneStep()).seat("critic", Critic(), after="planner")
    result = play(pool, tmp_path / "run", model=Weatherman(), team=team, limit=1)

    (trajectory,) = result.folder.trajectories()
    instruction = next(s for s in trajectory.steps if s.recipient == "execution_manager")
    assert instruction.content.startswith("Just do it")
    assert result.summary["stop_reasons"] == {"done": 1}


def test_a_plan_of_nothing_is_the_request_itself(pool, tmp_path):
    class Silent:
        def reply(self, chat):
            return Reply("")

    result = play(pool, tmp_path / "run", model=Weatherman(), roles={"planner": Silent()})

    assert result.summary["metrics"]["call_recall"]["mean"] == 1.0


def test_planner_is_asked_again_in_each_round_of_a_conversation(tmp_path):
    class Talkative(Weatherman):
        def complete(self, request):
            if request.role == "user_simulator":
                said = sum(m.role == "assistant" for m in request.messages)
                if said == 1:
                    return Completion("And what is the weather in Oslo?")
                return Completion(calls=(ToolCall("", "end_conversation", {}),))
            return super().complete(request)

    class Twice:
        def reply(self, chat):
            return Reply(f"First: {chat.steps[-1].content}\nThen: {chat.steps[-1].content}")

    task = seal.Task("t", "small", many(1)[0].goals, persona={"name": "Ada"})
    pool = write_pool(tmp_path / "pool", [task])
    result = play(pool, tmp_path / "run", model=Talkative(), roles={"planner": Twice()})

    (trajectory,) = result.folder.trajectories()
    instructions = [s.content for s in trajectory.steps if s.recipient == "execution_manager"]
    assert [text for text in instructions if text.startswith(("First", "Then"))] == [
        "First: What is the weather in Rome?",
        "Then: What is the weather in Rome?",
        "First: And what is the weather in Oslo?",
        "Then: And what is the weather in Oslo?",
    ]
    assert trajectory.stops[0].reason == "user_ended"


def test_roles_that_only_ask_each_other_come_to_an_end(pool, tmp_path):
    class Ping:
        def reply(self, chat):
            return Reply(f"ping {len(chat.steps)}", next="planner")

    class Pong:
        def reply(self, chat):
            return Reply(f"pong {len(chat.steps)}", next="ping")

    team = FULL.seat("planner", Pong()).seat("ping", Ping())
    result = play(pool, tmp_path / "run", model=Weatherman(), team=team, limit=1, max_turns=2)

    assert result.summary["stop_reasons"] == {"max_turns": 1}


class Broken:
    def reply(self, chat):
        if "Oslo" in chat.request:
            raise KeyError("no such city")
        return Reply(chat.request)


def test_a_role_that_raises_costs_its_task_alone_and_names_the_place(pool, tmp_path):
    result = play(pool, tmp_path / "run", model=Weatherman(), roles={"planner": Broken()})

    assert result.exit_code == 0
    assert result.summary["stop_reasons"] == {"crashed": 1, "done": 3}
    crashed = next(t for t in result.folder.trajectories() if t.stops[0].error)
    assert crashed.task_id == "oslo-1"
    first, *trace = crashed.stops[0].error.split("\n")
    assert first.startswith("role 'planner': KeyError: 'no such city' (test_engine_plugins.py, ")
    assert first.endswith(", in reply)")
    assert trace[-1].endswith(', in reply: raise KeyError("no such city")')
    said = [(step.author, bool(step.content)) for step in crashed.steps]
    assert said == [("user_simulator", True), ("orchestrator", True)]  # it has said nothing


@pytest.mark.parametrize("error", ["raise SystemExit(0)", "import no_such_module", "1 / 0", "f()"])
def test_a_model_of_somebody_else_may_fail_in_any_way(pool, tmp_path, error):
    class Bad(Weatherman):
        def complete(self, request):
            exec(error, {"f": lambda: self.complete(request)})

    result = play(pool, tmp_path / "run", model=Bad(), limit=2, workers=1)

    assert result.summary["errors"] == 2
    texts = [trajectory.stops[0].error for trajectory in result.folder.trajectories()]
    assert all(text.startswith("role 'execution_manager': ") for text in texts)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (None, "the agent returned None; expected the answer as a text"),
        (3, r"the agent returned 3 \(int\); expected the answer as a text"),
        (Reply("?", next="nobody"), "hands on to 'nobody', which is not seated; seated: checker"),
        (Reply(None), "role 'planner' replied with content of type NoneType; expected str"),
        (Reply("", calls=({"name": "x"},)), "a call of type dict; expected ToolCall"),
        (Reply("", calls="ab"), "calls of type str; expected tuple or list"),
        (Reply("", calls=(ToolCall("", None, {}),)), "a call's name of type NoneType"),
        (
            Reply("", calls=(ToolCall("", "x", "{}"),)),
            "arguments of type str; expected dict",
        ),
        (Reply("", results=("done",)), "a result of type str; expected ToolResult"),
        (Reply("", next=1), "next of type int; expected str or None"),
    ],
)
def test_a_reply_that_is_none_costs_its_chat_alone_and_says_what_is_wrong(
    pool, tmp_path, reply, says
):
    class Wrong:
        def reply(self, chat):
            return reply

    result = play(pool, tmp_path / "run", model=Weatherman(), roles={"planner": Wrong()})

    stops = [trajectory.stops[0] for trajectory in result.folder.trajectories()]
    assert {stop.reason for stop in stops} == {"crashed"}
    assert all(re.search(says, stop.error) for stop in stops)


def test_an_object_may_reply_with_a_text(pool, tmp_path):
    class Plain:
        def reply(self, chat):
            return "Look it up."

    result = play(pool, tmp_path / "run", model=Weatherman(), roles={"planner": Plain()})

    for trajectory in result.folder.trajectories():
        said = [(step.author, step.content) for step in trajectory.steps]
        assert ("planner", "Look it up.") in said


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("text", r"should be a seal\.Completion of type str; expected Completion"),
        (Completion(None), "the model of role 'execution_manager' answered with content"),
        (Completion("", calls=({},)), "a call of type dict"),
    ],
)
def test_an_answer_that_is_none_names_the_model(pool, tmp_path, answer, says):
    class Wrong(Weatherman):
        def complete(self, request):
            return answer

    with pytest.raises(UsageError, match=says):
        play(pool, tmp_path / "run", model=Wrong())


def test_a_role_that_is_a_class_is_made_for_each_chat(pool, tmp_path):
    made = []

    class Counting:
        def __init__(self):
            made.append(self)

        def reply(self, chat):
            return Reply(chat.request)

    play(pool, tmp_path / "run", model=Weatherman(), roles={"planner": Counting})

    assert len(made) == 4 + 1  # it is tried once before the first chat

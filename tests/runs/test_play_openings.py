"""The user's first message: the task's text, words that are given, or what its model writes."""

from pathlib import Path
from typing import Any

import pytest
from small_pools import WEATHER, weather_goal, weather_task, write_pool

import seal
from seal.agents.teams import FULL
from seal.core import Completion, Request, Task, ToolCall, UsageError

HIDDEN = "What is the weather in Rome? You are Mia, and you never say that you fly on Monday."
OPENING = "Hi! I need the weather in Rome."


class Model:
    """Says one thing after the other, the last again and again, and keeps what it was asked."""

    identity = "scripted model"

    def __init__(self, *said: str | Completion) -> None:
        self.said = said
        self.seen: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.seen.append(request)
        said = self.said[min(len(self.seen), len(self.said)) - 1]
        return Completion(said) if isinstance(said, str) else said


END = Completion(calls=(ToolCall("", "end_conversation", {}),))


def hidden(offered: bool = True, **persona: Any) -> Task:
    goal = weather_goal("Rome", text=HIDDEN, offered=(WEATHER.id,) if offered else None)
    return weather_task("Rome", goals=(goal,), persona={"opening": True, **persona})


def held(tmp_path: Path, task: Task, agent: Any, user: Any, **settings: Any) -> Any:
    models = {} if user is None else {"user_simulator": user}
    pool = write_pool(tmp_path / "pool", [task])
    settings = {"team": "direct", "baselines": False, "role_models": models, **settings}
    return seal.run(pool, model=agent, out=tmp_path / "run", **settings)


def said(run: Any) -> list[str]:
    (chat,) = run.folder.trajectories()
    return [s.content for s in chat.steps if s.author == "user_simulator" and s.call is None]


def test_the_users_model_writes_the_first_message_from_its_brief(tmp_path: Path) -> None:
    agent, user = Model("It is sunny in Rome."), Model(OPENING, END)
    run = held(tmp_path, hidden(facts={"day": "Monday"}), agent, user)
    assert said(run) == [OPENING]
    brief, begin = user.seen[0].messages
    assert HIDDEN in brief.content and "- day: Monday" in brief.content and not user.seen[0].tools
    assert begin.content == "Begin: write your first message to the assistant, and nothing else."
    assert [m.role for m in user.seen[1].messages] == ["system", "assistant", "user"]


def test_the_agent_never_sees_hidden_instructions(tmp_path: Path) -> None:
    requests = []

    class Nosy:
        def reply(self, chat: seal.Chat) -> seal.Reply:
            requests.append(chat.request)
            return seal.Reply(chat.steps[-1].content)

    team = FULL.seat("nosy", Nosy, after="planner")
    agent, user = Model("It is sunny in Rome."), Model(OPENING, END)
    seats = {"planner": "decompose", "verifier": "verifier"}
    held(tmp_path, hidden(), agent, user, team=team, roles=seats)
    assert requests == [OPENING]
    assert "fly on Monday" not in str([request.messages for request in agent.seen])


def test_an_agent_of_ones_own_is_asked_what_the_user_wrote(tmp_path: Path) -> None:
    heard = []

    def agent(request: str, tools: Any) -> str:
        heard.append(request)
        return "It is sunny in Rome."

    pool = write_pool(tmp_path / "pool", [hidden()])
    models = {"user_simulator": Model(OPENING, END)}
    seal.run(pool, agent=agent, role_models=models, baselines=False, out=tmp_path / "run")
    assert heard == [OPENING]


def test_a_text_that_is_given_is_said_and_the_model_answers_from_there(tmp_path: Path) -> None:
    agent, user = Model("It is sunny in Rome."), Model(END)
    run = held(tmp_path, hidden(opening=OPENING), agent, user)
    assert said(run) == [OPENING]
    assert [m.role for m in user.seen[0].messages] == ["system", "assistant", "user"]
    assert "fly on Monday" not in str([request.messages for request in agent.seen])


@pytest.mark.parametrize("brief", ["goal", "goal+boundary"])
def test_a_short_brief_opens_the_same_way(tmp_path: Path, brief: str) -> None:
    run = held(tmp_path, hidden(opening=OPENING), Model("Sunny."), Model(END), user_brief=brief)
    assert said(run) == [OPENING]


def test_tools_are_retrieved_for_the_words_that_are_given(tmp_path: Path) -> None:
    task = hidden(offered=False, opening=OPENING)
    run = held(tmp_path, task, Model("Sunny."), Model(END), retriever="tfidf")
    (ranking,) = run.folder.rankings()
    assert ranking.query == OPENING


def test_no_tools_are_retrieved_for_words_that_nobody_said_yet(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--retrieve on-demand") as refused:
        held(tmp_path, hidden(offered=False), Model("Sunny."), Model(OPENING, END))
    assert "rome-0" in str(refused.value) and not (tmp_path / "run" / "run.json").exists()
    search = Completion(calls=(ToolCall("", "find_tools", {"query": "weather"}),))
    agent = Model(search, "It is sunny in Rome.")
    task = hidden(offered=False)
    run = held(tmp_path, task, agent, Model(OPENING, END), retrieve="on-demand")
    assert [ranking.query for ranking in run.folder.rankings()] == ["weather"]


@pytest.mark.parametrize("model", ["oracle", "lexical"])
def test_offline_the_user_says_the_text_in_their_place(tmp_path: Path, model: str) -> None:
    run = held(tmp_path, hidden(), model, None)
    assert said(run)[0] == HIDDEN
    run = held(tmp_path / "given", hidden(opening=OPENING), model, None)
    assert said(run)[0] == OPENING
    assert run["call_recall"].mean == 1.0


def test_a_model_that_writes_nothing_is_an_error_and_no_score(tmp_path: Path) -> None:
    thinking = Completion(reasoning="Hm.", calls=())
    user = Model("", thinking)
    run = held(tmp_path, hidden(), Model("Sunny."), user)
    assert run.summary["stop_reasons"] == {"error": 1} and len(user.seen) == 2
    assert "wrote none" in next(iter(run.summary["error_reasons"]))
    assert run["pass_rate"].mean is None


def test_only_the_first_goal_opens_so(tmp_path: Path) -> None:
    goals = tuple(weather_goal(city, offered=(WEATHER.id,)) for city in ("Rome", "Oslo"))
    task = weather_task("Rome", goals=goals, persona={"opening": OPENING})
    run = held(tmp_path, task, "oracle", None)
    assert said(run) == [OPENING, goals[1].text] and run["call_recall"].mean == 1.0


def test_examples_are_the_users_alone(tmp_path: Path) -> None:
    shown = [{"role": "user", "content": "turn on wifi"}, {"role": "end", "content": "thx"}]
    agent, user = Model("It is sunny in Rome."), Model(OPENING, END)
    held(tmp_path, hidden(demonstration=shown), agent, user)
    assert "You: turn on wifi" in user.seen[0].messages[0].content
    assert "turn on wifi" not in str([request.messages for request in agent.seen])


@pytest.mark.parametrize(
    ("opening", "told"),
    [("  ", "says nothing"), (3, "persona.opening"), ([OPENING], "persona.opening")],
)
def test_an_opening_that_cannot_be_is_refused(opening: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        seal.ask("Hi", persona={"opening": opening})


def test_a_task_in_python_takes_a_persona() -> None:
    task = seal.ask("Hi", persona={"opening": OPENING, "facts": {"city": "Rome"}})
    assert task.persona == {"opening": OPENING, "facts": {"city": "Rome"}}
    with pytest.raises(UsageError, match="Did you mean 'opening'"):
        seal.ask("Hi", persona={"openin": OPENING})

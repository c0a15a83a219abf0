"""User, planner and agent played by a language model behind a server."""

import json
from collections.abc import Callable

import pytest
from mission_models import prompts, said, weather_model
from scripted_speakers import FORECAST, TOOLS, WEATHER, assignment, first
from servers import Answer, ModelServer, Received, text

from seal.benchmarks.mmtb.generation_team import Made, ModelSpeakers, Studio, begins_vaguely
from seal.core.validation import CallValidator
from seal.models.spec import ModelSettings, build_model
from seal.simulator_cache.simulators import SimulatedEnvironments, Template

KINDS = ("clarify", "single", "multi", "chat")
USER = "You play a person who talks to an assistant that has tools"
PLANNER = "You are the planner"
CONNECTED = []
"""Models that stay connected: what AutoGen leaves behind would be cleared away with its sockets."""


def made_by(
    script: Callable[[Received], Answer], *kinds: str, **fields
) -> tuple[Made, list[Received]]:
    by_id = {tool.id: tool for tool in TOOLS.values()}
    with ModelServer(script) as server:
        model = build_model("openai/any", ModelSettings(base_url=server.url))
        CONNECTED.append(model)
        studio = Studio(
            ModelSpeakers({"model": "any"}),
            SimulatedEnvironments(Template(), by_id),
            lambda role, mission: model,
            CallValidator(by_id),
        )
        missions = [assignment(kind, number, **fields) for number, kind in enumerate(kinds)]
        made = studio.make(missions, [TOOLS[WEATHER], TOOLS[FORECAST]], first)
        return made, server.received


@pytest.fixture(scope="module", autouse=True)
def key():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none")
        yield


@pytest.fixture(scope="module")
def played():
    return made_by(weather_model, *KINDS)


def test_a_model_plays_all_roles_of_a_dialogue(played):
    made, _ = played
    assert made.dropped is None
    assert [mission.kind for mission in made.missions] == list(KINDS)
    assert [len(take.candidates) for take in made.takes] == [5, 3, 3, 3]
    assert made.missions[3].said[-1].text == "Let us talk."


def test_every_prompt_holds_the_tools_and_what_they_require(played):
    _, received = played
    for request in received:
        system = request.body["messages"][0]["content"]
        assert f'"name":"{WEATHER}"' in system
        assert "required: location; optional: units" in system
        assert "English" in system or system.startswith(PLANNER)


def test_the_date_is_told_to_all_but_a_user_who_begins(played):
    _, received = played
    begins, *later = [messages[0]["content"] for messages in prompts(received, USER)]
    assert "Today is" not in begins
    told = [messages[0]["content"] for messages in prompts(received, PLANNER)]
    assert all("Today is 2024-05-15." in system for system in (*later, *told))


def test_the_user_hears_words_and_the_planner_sees_results(played):
    _, received = played
    last_user, last_planner = (
        prompts(received, role)[-1][1]["content"] for role in (USER, PLANNER)
    )
    assert "User: In Turku." in last_user
    assert " brought " not in last_user
    assert f"[{WEATHER}(" in last_planner


def test_later_requests_lean_on_earlier_ones_each_in_its_own_way(played):
    _, received = played
    later = prompts(received, USER)[1][0]["content"]
    lines = [line for line in later.splitlines() if line[:2] in ("1.", "2.", "3.")]
    assert len({line[3:] for line in lines}) == 3


def answers(made: Made) -> list[str]:
    return [said.text for said in made.missions[0].said if said.by_user]


def test_one_of_four_first_answers_is_vague_and_no_second_one():
    vague = [seed for seed in range(1000) if begins_vaguely(seed)]
    assert 200 < len(vague) < 300
    clear = next(seed for seed in range(1000) if seed not in vague)
    assert answers(made_by(weather_model, "clarify", seed=clear)[0]) == ["In Turku."]
    asked_twice = made_by(weather_model, "clarify", seed=vague[0])[0]
    assert answers(asked_twice) == ["Somewhere north.", "In Turku."]


def test_wordings_that_are_no_json_are_asked_for_again_with_the_reason():
    spoilt = iter(["Sure! Here you go", "{}"])

    def script(request: Received) -> Answer:
        system = request.body["messages"][0]["content"]
        return text(
            next(spoilt, None) or said(request) if system.startswith(USER) else said(request)
        )

    made, received = made_by(script, "single")
    assert made.dropped is None
    asked = prompts(received, USER)
    assert [len(messages) for messages in asked] == [2, 4, 6]
    assert "That cannot be used: expected one JSON object" in asked[1][-1]["content"]


@pytest.mark.parametrize(
    ("role", "reason"),
    [(USER, "no_request"), (PLANNER, "invalid_json"), ("You are an", "no_reply")],
)
def test_a_role_that_never_says_what_is_asked_drops_the_dialogue(role, reason):
    def script(request: Received) -> Answer:
        system = request.body["messages"][0]["content"]
        return text(" " if system.startswith(role) else said(request))

    made, received = made_by(script, "single")
    assert made.dropped is not None
    assert made.dropped.reason == reason
    assert len(prompts(received, role)) == (1 if reason == "no_reply" else 3)


def test_a_rejected_planner_is_told_why():
    def script(request: Received) -> Answer:
        messages = request.body["messages"]
        asks_anew = "were not accepted" in messages[-1]["content"]
        spoils = messages[0]["content"].startswith(PLANNER) and not asks_anew
        return text(json.dumps({"Mission_Finish": "no"}) if spoils else said(request))

    made, received = made_by(script, "chat")
    assert made.dropped is None
    assert (
        "- invalid_json: the field 'Action_List' is missing"
        in prompts(received, PLANNER)[1][1]["content"]
    )


def test_chinese_is_asked_for_where_it_is_wanted():
    _, received = made_by(weather_model, "chat", language="zh")
    systems = [request.body["messages"][0]["content"] for request in received]
    assert sum("in Chinese" in system or "In Chinese" in system for system in systems) == 2

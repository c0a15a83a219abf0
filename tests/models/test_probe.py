"""What a probe finds out about a server's model, in each format."""

import json

import pytest
from servers import Answer, Received, answer, calls, failure, text
from strict_servers import RULES, Strict

from seal.api import installation
from seal.core import ModelError, UsageError
from seal.models.probe import best, probe, saved
from seal.models.profiles import family_of, find_profile
from seal.models.spec import ModelSettings, build_model

KNOWN = "17.4 degrees, measured by QUILL-83."


def able(request: Received) -> Answer:
    """Answer as a model that can do everything natively."""
    messages = request.body["messages"]
    if any(message["role"] == "tool" or "QUILL" in message["content"] for message in messages):
        return text(KNOWN)
    cities = ["Bern", "Oslo"] if "Oslo" in messages[-1]["content"] else ["Bern"]
    if "tools" in request.body:
        return calls(*(("get_temperature", {"city": city}) for city in cities))
    return text("\n".join(written(request, city) for city in cities))


def written(request: Received, city: str) -> str:
    """Return a call in the form that the prompt asks for."""
    given = json.dumps({"city": city})
    if "Action Input" in request.body["messages"][0]["content"]:
        return f"Action: get_temperature\nAction Input: {given}"
    return f'{{"name": "get_temperature", "arguments": {given}}}'


def toolless(request: Received) -> Answer:
    """Answer as a server that refuses tools, with a model that calls one thing at a time."""
    if "tools" in request.body or any(m["role"] == "tool" for m in request.body["messages"]):
        return failure(400, "no tool support")
    if "QUILL" in request.body["messages"][-1]["content"]:
        return text(KNOWN)
    return text(written(request, "Bern")[:-1])


def deaf(request: Received) -> Answer:
    """Answer as a model that calls, and never looks at what came back."""
    return calls(("get_temperature", {"city": "Bern"}))


@pytest.fixture
def probed(model_server):
    def ask(script):
        server = model_server(script)
        settings = ModelSettings(base_url=server.url, max_tries=1)
        ways = probe(build_model("openai/x", settings), "openai/x")
        return (
            server,
            {f"{w.format}/{w.tool_messages}": [w.calls, w.parallel, w.results] for w in ways},
            best(ways),
        )

    return ask


def answers(ways):
    return {name: [ability.answer for ability in found] for name, found in ways.items()}


def test_an_able_model_can_be_played_in_every_way(probed):
    server, ways, found = probed(able)
    assert set(map(tuple, answers(ways).values())) == {("yes", "yes", "yes")}
    assert (found.format, found.tool_messages) == ("native", "native")
    assert len(server.received) == 10


def test_a_server_without_tools_is_told_from_a_model_that_cannot(probed):
    _, ways, found = probed(toolless)
    assert answers(ways) == {
        "native/native": ["refused", "refused", "refused"],
        "native-text/text": ["refused", "refused", "refused"],
        "action/text": ["yes", "no", "yes"],
        "json/text": ["yes", "no", "yes"],
    }
    assert "no tool support" in ways["native/native"][0].said
    assert ways["action/text"][0].said == "repaired: closed"
    assert (found.format, found.tool_messages) == ("action", "text")


def test_a_model_that_ignores_results_can_be_played_in_no_way(probed):
    _, ways, found = probed(deaf)
    assert answers(ways)["native/native"] == ["yes", "no", "no"]
    assert ways["native/native"][2].said == 'called get_temperature({"city":"Bern"})'
    assert found is None


def test_a_model_that_only_talks_is_told_what_it_said(probed):
    _, ways, found = probed(lambda request: text("I cannot help."))
    assert {ability.answer for abilities in ways.values() for ability in abilities} == {"no"}
    assert ways["json/text"][0].said == "said 'I cannot help.'"
    assert found is None


def test_a_server_that_is_gone_is_an_error_and_no_answer():
    model = build_model("openai/x", ModelSettings(base_url="http://127.0.0.1:9/v1", max_tries=1))
    with pytest.raises(ModelError, match="could not be reached"):
        probe(model, "openai/x")


def test_a_model_that_plays_tasks_cannot_be_probed():
    with pytest.raises(UsageError, match="'oracle' plays tasks"):
        probe(build_model("oracle"), "oracle")


def test_the_floor_can_be_probed_too():
    assert [way.works for way in probe(build_model("lexical"), "lexical")] == [True] * 4


def test_python_asks_as_the_command_line_does(model_server):
    server = model_server(able)
    ways = installation.probe("openai/x", base_url=server.url, timeout_s=20)
    assert [(way.format, way.works) for way in ways] == [
        ("native", True),
        ("native-text", True),
        ("action", True),
        ("json", True),
    ]
    with pytest.raises(UsageError, match="plays tasks"):
        installation.probe("oracle")


@pytest.mark.parametrize("family", RULES)
def test_what_a_server_refuses_is_found_out_and_kept(family, model_server, monkeypatch, tmp_path):
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path))
    strict, names = Strict(family), {"llama": "llama-3.1", "mistral": "mistral", "gemma": "gemma"}

    def script(request: Received) -> Answer:
        if request.method == "GET":
            return answer({"data": [{"id": "x", "max_model_len": 8192}]})
        refused = strict(request)
        return refused if refused.status != 200 else able(request)

    server = model_server(script)
    model = build_model("openai/x", ModelSettings(base_url=server.url, max_tries=1))
    ways = probe(model, "openai/x")
    assert (best(ways).format == "native") == (family != "gemma")
    path, written = saved(model, best(ways))
    assert "context = 8192" in written and path.is_relative_to(tmp_path)
    found, shipped = find_profile("openai/x", server.url), family_of(names[family])
    rules = ("alternates", "begins_with_user", "system", "call_ids", "parallel_calls", "tools")
    asked = [rule for rule in rules if getattr(found, rule) != getattr(shipped, rule)]
    assert asked == []
    assert ("seed" in found.without) == (family == "mistral")
    again = build_model("openai/x", ModelSettings(base_url=server.url, max_tries=1))
    refused = len(strict.refused)
    probed = probe(again, "openai/x")
    assert best(probed).format == best(ways).format
    assert family == "gemma" or len(strict.refused) == refused


def test_a_model_without_a_server_has_no_profile_to_keep():
    with pytest.raises(UsageError, match="--save is for models that a server plays"):
        saved(build_model("random"), None)

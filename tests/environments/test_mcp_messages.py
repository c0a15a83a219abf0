"""What MCP servers send that the protocol does not have: read where it can be, else their fault."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from looped import every_case
from mcp_servers import LISTED, Scripted, at, scripted
from servers import Answer, ModelServer, Received

pytest.importorskip("mcp")

from seal.core import DataError, InfrastructureError
from seal.core.values import json_text
from seal.environments import mcp_messages
from seal.environments.mcp_messages import mend
from seal.environments.mcp_servers import McpServer, Sessions

SUNNY = {"type": "text", "text": "sunny"}
ASKED = {
    "method": "elicitation/create",
    "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
}


@every_case(
    ("result", "content", "value"),
    [
        ({"content": [{"type": "video", "data": "x"}, SUNNY]}, "[video]\nsunny", None),
        ({"content": [SUNNY, 5, {"type": "text"}]}, "sunny\n[unknown]\n[text]", None),
        ({"content": None, "structuredContent": {"a": 1}}, '{"a":1}', {"a": 1}),
        ({"structuredContent": {"a": 1}}, '{"a":1}', {"a": 1}),
        ({"content": [SUNNY], "structuredContent": [1]}, "sunny", None),
        ({"content": [SUNNY], "isError": None}, "sunny", None),
        ({"content": [SUNNY], "structuredContent": 7, "_meta": 3}, "sunny", None),
        (
            {"content": [SUNNY], "structuredContent": {"x": float("nan"), "y": [1e999]}},
            'sunny\n{"x":null,"y":[null]}',
            {"x": None, "y": [None]},
        ),
    ],
)
def test_what_is_good_beside_something_wrong_is_what_a_model_reads(result, content, value):
    with scripted(Scripted(json.loads(json.dumps(result)))) as sessions:
        answer = sessions.of("shop").call("look", {})
    assert answer.error is None
    assert (answer.content, answer.value) == (content, content if value is None else value)
    json_text(answer.value)  # a store can keep it


@every_case(
    ("result", "says"),
    [
        ({"content": None}, "content: expected a list, got None"),
        ({"content": "sunny"}, "content: expected a list, got 'sunny'"),
        ({}, "content: is missing"),
        ({"content": [{"type": "video"}]}, "no part of it can be read"),
        ({"content": [], "structuredContent": 7}, "structuredContent"),
        ({"resultType": "input_required", "requestState": "x"}, "it asks who calls for more"),
        (
            {"resultType": "input_required", "inputRequests": {"sure": ASKED}},
            "it asks who calls for more .*; let it ask nothing, or leave the tool out",
        ),
    ],
)
def test_an_answer_of_which_nothing_can_be_read_is_the_servers_fault(result, says):
    with scripted(shop := Scripted(result)) as sessions:
        session = sessions.of("shop")
        with pytest.raises(
            InfrastructureError, match=f"MCP server 'shop' failed at 'look': .*{says}"
        ):
            session.call("look", {})
        assert session.call("look", {}).content == "sunny" and shop.calls == 2


def test_a_text_beside_a_structure_against_the_tools_schema_is_read():
    schema = {"type": "object", "properties": {"sun": {"type": "string"}}, "required": ["sun"]}
    tool = {"name": "look", "inputSchema": {"type": "object"}, "outputSchema": schema}
    given = [
        {"content": [SUNNY], "structuredContent": {"sun": 5}},
        {"content": [SUNNY]},
        {"content": [], "structuredContent": {"sun": 5}},
    ]
    with scripted(Scripted(*given, tools=[tool])) as sessions:
        session = sessions.of("shop")
        for _ in range(2):
            assert session.call("look", {}).content == "sunny"
        with pytest.raises(InfrastructureError, match="5 is not of type 'string'"):
            session.call("look", {})


def error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def test_an_error_of_what_is_behind_a_server_is_asked_again_and_never_the_tools(monkeypatch):
    monkeypatch.setattr("seal.environments.mcp_servers._WAITS_S", (0.01, 0.01))
    for code, said in (
        (-32603, "upstream connect error: 503"),
        (-32603, "connect ECONNREFUSED 10.0.0.1:443"),
        (-32603, "Request failed with status code 502"),
        (-32603, "Bad Gateway"),
        (-32001, "Request timed out"),
        (-32001, "JSON RPC unknown error: failed to unmarshal response: no result in response"),
        (-32029, "Rate limit exceeded. Retry after 1s"),
        (-32600, "upstream error: upstream tool failed: timeout after 10s"),
        (429, "Slow down"),
        (0, "Request cancelled"),
        (-32800, "Request was canceled"),
    ):
        down = error(code, said)
        with scripted(shop := Scripted(down, "rain", down, down, down)) as sessions:
            session = sessions.of("shop")
            assert session.call("look", {}).content == "rain" and shop.calls == 2
            with pytest.raises(InfrastructureError, match="failed at 'look': "):
                session.call("look", {})
            assert shop.calls == 5


@every_case(
    ("given", "says"),
    [
        ({}, "Who are you?; sign in first, and play again"),
        ({"data": {"elicitations": 5}}, "; sign in first, and play again"),
        ({"data": {"elicitations": [1, {"url": "http://a/b"}]}}, "; sign in first at http://a/b,"),
    ],
)
def test_a_server_where_a_person_must_sign_in_is_asked_once_and_says_so(given, says):
    sign_in = {"error": {"code": -32042, "message": "Who are you?", **given}}
    behind = [{"type": "text", "text": "MCP error -32042: Who are you?"}]
    with scripted(shop := Scripted(sign_in, {"content": behind, "isError": True})) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=re.escape(says)):
            session.call("look", {})
        with pytest.raises(InfrastructureError, match=r"Who are you.*; sign in first, and play"):
            session.call("look", {})
        assert shop.calls == 2
    for method in ("initialize", "tools/list"):

        def sent(request: Received, method: str = method) -> Answer:
            asked = request.raw and request.body.get("method") == method
            return raw(False, id=request.body["id"], **sign_in) if asked else Scripted()(request)

        with (
            ModelServer(sent) as server,
            Sessions(at(server), 5) as sessions,
            pytest.raises(InfrastructureError, match=re.escape(says)),
        ):
            sessions.of("shop")


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
def test_an_error_of_a_server_that_begins_names_the_repair(method):
    failed = {"code": -32603, "message": "the upstream is away"}

    def sent(request: Received) -> Answer:
        if not request.raw or request.body.get("method") not in (method, "server/discover"):
            return Scripted()(request)
        return raw(False, id=request.body["id"], error=failed)

    with (
        ModelServer(sent) as server,
        Sessions(at(server), 5) as sessions,
        pytest.raises(InfrastructureError, match="upstream is away; check its version, and play"),
    ):
        sessions.of("shop")


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"id": None, "error": {"code": -32603, "message": "no pod"}}, "and says: no pod; check"),
        ({"id": 99, "result": {}}, "answers a request of id 99, .*; check its version"),
    ],
)
def test_what_is_no_answer_to_the_first_request_is_no_silence(is_stream, message, says):
    def sent(request: Received) -> Answer:
        return raw(is_stream, **message) if request.raw else Answer(status=405)

    with (
        ModelServer(sent) as server,
        Sessions(at(server), 60) as sessions,
        pytest.raises(InfrastructureError, match=f"cannot be begun: .*{says}"),
    ):
        sessions.of("shop")


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
def test_an_error_outside_the_protocol_is_told_before_a_call_too(method):
    def sent(request: Received) -> Answer:
        if request.raw and request.body.get("method") in (method, "server/discover"):
            return Answer(b'data: {"error": "Session not found"}\n\n', headers=EVENTS)
        return Scripted()(request)

    with (
        ModelServer(sent) as server,
        Sessions(at(server), 5) as sessions,
        pytest.raises(InfrastructureError, match=": Session not found; check its version"),
    ):
        sessions.of("shop")


EVENTS = {"Content-Type": "text/event-stream"}


def raw(is_stream: bool, **message: Any) -> Answer:
    """Return a message as it is, in the form of an event or not."""
    body = json.dumps({"jsonrpc": "2.0", **message})
    if not is_stream:
        return Answer(body.encode(), headers={"Content-Type": "application/json"})
    event = f"event: message\ndata: {body}\n\n"
    return Answer(event.encode(), headers={"Content-Type": "text/event-stream"})


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"id": 99, "result": {"content": [SUNNY]}}, "answers a request of id 99"),
        ({"id": 99, "error": {"code": -32603, "message": "no"}}, "answers a request of id 99"),
        ({"result": {"content": [SUNNY]}, "error": {"code": 1, "message": "no"}}, "and an error"),
        ({"result": None}, "its result is null"),
        ({"id": None, "error": {"code": -32603, "message": "no pod"}}, "by id, and says: no pod"),
        ({"id": None, "error": "no pod"}, "by id, and says: no pod"),
        ({"id": None, "result": {"content": [SUNNY]}}, "answers a request of id None"),
    ],
)
def test_what_is_no_answer_to_the_call_is_the_servers_fault(is_stream, message, says):
    def sent(request: Received) -> Answer:
        call = request.raw and request.body.get("method") == "tools/call"
        return raw(is_stream, **({"id": request.body["id"]} | message)) if call else shop(request)

    shop = Scripted()
    with ModelServer(sent) as server, Sessions(at(server), 5) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=f"failed at 'look': .*{says}"):
            session.call("look", {})


@pytest.mark.parametrize("is_stream", [True, False])
def test_an_id_that_comes_back_as_a_text_is_the_same(is_stream):
    def sent(request: Received) -> Answer:
        if not request.raw or request.body.get("method") != "tools/call":
            return Scripted()(request)
        id = str(request.body["id"])
        return raw(is_stream, id=id, result={"content": [SUNNY]}, error=None)

    with ModelServer(sent) as server, Sessions(at(server), 5) as sessions:
        assert sessions.of("shop").call("look", {}).content == "sunny"


@pytest.mark.parametrize(
    ("odd", "says"),
    [
        ({"name": "bad"}, "bad: inputSchema: Field required"),
        ({"name": "bad", "inputSchema": "{}"}, "bad: inputSchema"),
        ({"name": "bad", "inputSchema": {"type": ["object"]}}, "bad: inputSchema.type"),
        ({"name": None, "inputSchema": {"type": "object"}}, "entry 2: name"),
        ({"name": " ", "inputSchema": {"type": "object"}}, " : name: it is blank"),
        ({"name": "", "inputSchema": {"type": "object"}}, "entry 2: name: it is blank"),
        ("bad", "entry 2: it"),
    ],
)
def test_an_odd_tool_is_left_out_of_the_list_alone(odd, says):
    shop = Scripted("sunny", tools=[LISTED, odd, {**LISTED, "name": "hear"}])
    with scripted(shop) as sessions:
        session = sessions.of("shop")
        listing = session.listing()
        assert [tool["name"] for tool in listing.tools] == ["look", "hear"]
        ((told),) = listing.odd["tools"]
        assert told.startswith(says)
        assert session.call("look", {}).content == "sunny"


def test_a_call_that_is_taken_and_not_answered_is_the_servers():
    with scripted(Scripted(Answer(status=202))) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=r"failed at 'look': .*202 Accepted"):
            session.call("look", {})


def test_other_errors_of_the_protocol_stay_the_tools():
    told = [(-32603, "no city of 503 letters"), (-32602, "upstream is no city")]
    told += [(-32600, "no such city")]
    for code, said in (*told, (-32050, "the rate of the limited company")):
        with scripted(Scripted(error(code, said))) as sessions:
            assert sessions.of("shop").call("look", {}).error == {"kind": "api", "message": said}


LINES = """
import json, sys

told = {
    "initialize": {
        "protocolVersion": "VERSION",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "shop", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "tools/call":
        written = asked["params"]["arguments"]["line"].replace("ID", str(asked["id"]))
        sys.stdout.buffer.write(written.encode("latin-1") + b"\\n")
        sys.stdout.buffer.flush()
    elif "id" in asked:
        known = asked["method"] in told
        answer = {"result": told[asked["method"]]} if known else {
            "error": {"code": -32601, "message": "no such method"}
        }
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""
GOOD = '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "sunny"}]}}'


def started(version: str = "2025-06-18") -> dict[str, McpServer]:
    return {"shop": McpServer((sys.executable, "-c", LINES.replace("VERSION", version)))}


@every_case(
    "line",
    [
        GOOD.replace("sunny", "sunny \xff\xfe"),
        GOOD.replace("sunny", "sunny \\ud83d"),
        f"[{GOOD}]",
        GOOD.replace('"jsonrpc": "2.0", ', ""),
        GOOD[:-1] + ', "error": {"code": -32000, "message": "x"}}',
        GOOD.replace('{"content"', '["content"')
        .replace("]}}", "]]}")
        .replace('"content": ', "1, "),
        '{"jsonrpc": "2.0", "id": ID, "result": "sunny"}',
        '{"jsonrpc": "2.0", "id": ID, "error": {"code": "E1", "message": "x"}}',
        '{"jsonrpc": "2.0", "id": null, "error": {"code": -32603, "message": "no pod"}}',
    ],
)
def test_a_line_that_was_to_be_an_answer_is_no_silence(line):
    with Sessions(started(), 30) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match="failed at 'look'"):
            session.call("look", {"line": line})
        assert session.call("look", {"line": GOOD}).content == "sunny"


def test_a_list_that_nobody_can_read_is_no_silence():
    for name, said in ((r"\ud83d", "surrogate|escape|JSON"), ('x" + "[" * 3 + "', "")):
        code = LINES.replace("VERSION", "2025-06-18").replace('"look"', f'"{name}"')
        servers = {"shop": McpServer((sys.executable, "-c", code))}
        with Sessions(servers, 60) as sessions:
            if said:
                with pytest.raises(
                    InfrastructureError, match=f"does not list its tools: .*({said})"
                ):
                    sessions.of("shop")
            else:
                assert [one["name"] for one in sessions.of("shop").listing().tools] == ["x[[["]


def test_a_list_whose_every_page_names_another_has_an_end(monkeypatch):
    monkeypatch.setattr("seal.environments.mcp_servers._MOST_PAGES", 5)
    shop = Scripted()
    shop.pages = lambda cursor: {"tools": [], "nextCursor": str(int(cursor or 0) + 1)}
    with scripted(shop) as sessions, pytest.raises(DataError, match="its list of tools has no end"):
        sessions.of("shop")


def test_other_lines_and_odd_notifications_are_passed_over(tmp_path):
    noise = ["DEBUG calling", "{not json", '{"hello": 1}', "[]", "null"]
    odd = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "wild"}}
    line = "\n".join([*noise, json.dumps(odd), GOOD])
    code = (
        "import json, sys\n"
        "from seal.environments.mcp_servers import McpServer, Sessions\n"
        "servers = {'shop': McpServer((sys.executable, '-c', sys.argv[1]))}\n"
        "with Sessions(servers, 30) as sessions:\n"
        "    print(sessions.of('shop').call('look', {'line': sys.argv[2]}).content)\n"
    )
    words = [sys.executable, "-c", code, LINES.replace("VERSION", "2025-06-18"), line]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("sunny\n", "")


STRAY = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no such method"}}
STRAY_LINE = json.dumps(STRAY)


def test_a_server_that_answers_notifications_is_used_as_others_are():
    code = LINES.replace("VERSION", "2025-06-18") + f"    else:\n        print({STRAY_LINE!r})\n"
    with Sessions({"shop": McpServer((sys.executable, "-uc", code))}, 30) as sessions:
        session = sessions.of("shop")
        assert session.call("look", {"line": f"{STRAY_LINE}\n{GOOD}"}).content == "sunny"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (STRAY, "it answers no request by id, and says: no such method"),
        ({**STRAY, "id": 77}, "it answers a request of id 77, which was not asked"),
        ({"jsonrpc": "2.0", "id": 77, "result": {"content": []}}, "it answers a request of id 77"),
    ],
)
def test_a_line_that_answers_another_request_is_no_silence_of_a_tool(line, says, monkeypatch):
    monkeypatch.setattr(mcp_messages, "_GRACE_S", 0.2)
    with Sessions(started("2025-06-18"), 60) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=f"failed at 'look': {says}"):
            session.call("look", {"line": json.dumps(line)})


@pytest.mark.parametrize(
    ("status", "repair"),
    [(400, "check its address, its version"), (401, "give `headers`"), (500, "run again when it")],
)
def test_a_status_says_more_of_a_refused_session_than_an_error_without_an_id(status, repair):
    def sent(request: Received) -> Answer:
        body = json.dumps({**STRAY, "error": {"code": -32000, "message": "Go away"}}).encode()
        return Answer(body, status if request.raw else 405)

    with (
        ModelServer(sent) as server,
        Sessions(at(server), 60) as sessions,
        pytest.raises(InfrastructureError, match=f"Go away; it answers HTTP {status}: {repair}"),
    ):
        sessions.of("shop")


@pytest.mark.parametrize("id", [None, 77])
def test_a_line_that_answers_no_request_is_no_silence_when_a_session_begins(id, monkeypatch):
    monkeypatch.setattr(mcp_messages, "_GRACE_S", 0.2)
    line = {"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "no pod"}}
    says = r"says: no pod" if id is None else "a request of id 77, which was not asked"
    code = f"input(); print({json.dumps(json.dumps(line))}, flush=True); input()"
    with (
        Sessions({"shop": McpServer((sys.executable, "-c", code))}, 60) as sessions,
        pytest.raises(InfrastructureError, match=f"cannot be begun: .*{says}; check its v"),
    ):
        sessions.of("shop")


def test_another_version_of_the_protocol_is_told_with_its_repair():
    with (
        Sessions(started("2099-01-01"), 30) as sessions,
        pytest.raises(InfrastructureError, match=r"2099-01-01; take a version .* that speaks"),
    ):
        sessions.of("shop")


def test_a_mended_result_is_mended_no_further():
    result = {"content": [{"type": "video"}, SUNNY]}
    assert mend(result) == "" == mend(result)
    assert result == {"content": [{"type": "text", "text": "[video]"}, SUNNY]}

"""Sessions with a real MCP server: what it lists, and every way in which a call can end."""

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from looped import every_case
from mcp_servers import LISTED, Scripted, at, behind_address, command, line, scripted

pytest.importorskip("mcp")

from servers import Answer as Answered
from servers import ModelServer, Received
from servers import answer as answered

from seal.core import DataError, InfrastructureError, OverdueError, UsageError
from seal.core.concurrency import within
from seal.environments.mcp_servers import (
    Answer,
    McpServer,
    Session,
    SessionEndedError,
    Sessions,
    named_servers,
    read_servers,
    schema_digest,
)

TIMEOUT = 1.5
"""Seconds of silence that a server may have whose silence is tested."""
KEY = "hush-hush-1234"


@pytest.fixture(scope="module")
def shop() -> Iterator[Session]:
    """A session that all tests of this module share."""
    servers = {"shop": McpServer(tuple(command("--many", "5000")), env={"SHOP_KEY": KEY})}
    with Sessions(servers) as sessions:
        yield sessions.of("shop")


@pytest.fixture
def impatient_shop() -> Iterator[Session]:
    """A session whose answers may take `TIMEOUT`."""
    with Sessions({"shop": McpServer(tuple(command()))}, TIMEOUT) as sessions:
        yield sessions.of("shop")


def called(shop: Session, tool: str, **arguments: Any) -> Answer:
    return shop.call(tool, arguments)


def test_all_pages_of_tools_are_listed_and_what_else_there_is(shop: Session) -> None:
    listing = shop.listing()
    assert len(listing.tools) == 5016
    assert listing.info == {"name": "shop", "version": "1"}
    assert listing.others == {
        "resources": ["shop://list"],
        "resource_templates": ["shop://order/{id}"],
        "prompts": ["greet"],
    }


def test_a_tool_of_a_later_page_is_called(shop: Session) -> None:
    assert called(shop, "more_4900") == Answer("more_4900", "more_4900")


def test_structured_content_is_the_value_and_the_text_is_read(shop: Session) -> None:
    first = called(shop, "count").value["total"]
    assert called(shop, "count") == Answer(str(first + 1), {"total": first + 1})


def test_what_is_no_text_is_told_as_what_it_is(shop: Session) -> None:
    assert called(shop, "picture").content == "[image image/png]\n[resource shop://list list]"


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "says"),
    [
        ("fail", {}, "api", "The shop is closed."),
        ("refuse", {}, "api", "Not on a Sunday."),
        ("big", {"size": 2_000_000}, "too_large", "has 2000000 characters; at most 1000000"),
    ],
)
def test_a_servers_failure_is_an_answer(
    shop: Session, tool: str, arguments: dict[str, Any], kind: str, says: str
) -> None:
    answer = shop.call(tool, arguments)
    assert answer.error is not None
    assert answer.error["kind"] == kind
    assert says in answer.content


def test_a_text_beside_a_structure_against_the_tools_own_schema_is_read(shop: Session) -> None:
    answer = called(shop, "lie")
    assert answer.error is None and "many" in answer.content


def test_a_servers_silence_is_an_answer(impatient_shop: Session) -> None:
    answer = impatient_shop.call("wait", {"seconds": 60})
    assert (answer.error or {})["kind"] == "timeout"
    assert "shop gave no answer for 1.5 s." in answer.content


def test_a_call_ends_when_the_time_of_its_chat_is_up(shop: Session) -> None:
    began = time.monotonic()
    with within(1.0), pytest.raises(OverdueError, match="'shop' was still at work when the time"):
        shop.call("wait", {"seconds": 60})
    assert time.monotonic() - began < 20
    assert called(shop, "echo", text="a", times=1).content == "a"


@pytest.mark.slow
def test_progress_makes_a_call_take_longer_than_silence_may(impatient_shop: Session) -> None:
    assert called(impatient_shop, "work", seconds=TIMEOUT + 0.5).content == "worked"


def test_a_key_of_the_server_is_masked_in_what_it_says(shop: Session) -> None:
    assert called(shop, "key").content == "The key is ***."


def test_a_fault_of_ours_is_no_end_of_a_connection(
    shop: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object) -> None:
        raise AttributeError("what nobody foresaw")

    monkeypatch.setattr(shop, "_asked", faulty)
    with pytest.raises(AttributeError, match="nobody foresaw"):
        shop.call("more_4900", {})


def test_odd_schemas_are_called_as_they_are(shop: Session) -> None:
    assert called(shop, "refers", at={"city": "Bern"}).content == "{'at': {'city': 'Bern'}}"
    assert called(shop, "bare").content == "{}"


def test_a_server_that_dies_in_mid_call_is_no_answer_and_a_new_one_may_begin() -> None:
    with Sessions({"shop": McpServer(tuple(command()))}) as sessions:
        for tool in ("die", "count"):
            with pytest.raises(SessionEndedError, match=rf"'{tool}'.*last: .*\nThe shop burns"):
                called(sessions.of("shop"), tool)
        sessions.drop("shop")
        assert called(sessions.of("shop"), "count").content == "1"


@pytest.mark.slow
def test_an_answer_of_50_megabytes_is_told_by_its_length() -> None:
    with Sessions({"shop": McpServer(tuple(command()))}, 600) as sessions:
        answer = called(sessions.of("shop"), "big", size=50_000_000)
    assert (answer.error or {})["kind"] == "too_large"


def test_a_server_that_dies_behind_its_address_is_no_answer() -> None:
    with behind_address() as url, Sessions({"shop": McpServer(url=url)}, 20) as sessions:
        shop = sessions.of("shop")
        assert called(shop, "echo", text="a", times=2).content == "aa"
        for tool in ("die", "count"):
            with pytest.raises(SessionEndedError, match="ended amid a call"):
                called(shop, tool)
        sessions.drop("shop")
        with pytest.raises(InfrastructureError, match="cannot be begun"):
            sessions.of("shop")


@pytest.mark.parametrize(
    ("server", "kind", "says"),
    [
        (McpServer(("no-such-command",)), UsageError, "'shop': there is no such command"),
        (McpServer(("false",)), InfrastructureError, "check its command"),
        (McpServer(("sh", "-c", "echo no licence >&2")), InfrastructureError, "last: no licence"),
        (McpServer(url="http://127.0.0.1:9/mcp"), InfrastructureError, "check its address"),
        (McpServer(("false",), env={"K": "${NO_SUCH_KEY}"}), UsageError, "NO_SUCH_KEY"),
    ],
)
def test_a_server_that_cannot_be_begun_is_one_line(
    server: McpServer, kind: type[Exception], says: str
) -> None:
    with Sessions({"shop": server}, 0.5) as sessions, pytest.raises(kind, match=says):
        sessions.of("shop")


@pytest.mark.slow  # the SDK waits for 10 s
def test_a_server_that_hangs_at_the_start_is_one_line() -> None:
    servers = {"shop": McpServer(tuple(command("--deaf")))}
    with Sessions(servers, 0.5) as sessions, pytest.raises(InfrastructureError, match="timed out"):
        sessions.of("shop")


def test_a_list_without_end_is_refused() -> None:
    servers = {"shop": McpServer(tuple(command("--endless")))}
    with Sessions(servers) as sessions, pytest.raises(DataError, match="tools has no end"):
        sessions.of("shop")


WRONG = """
import json, sys

told = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "shop", "version": "1"},
    },
    "tools/list": {"tools": {"name": "list", "inputSchema": {"type": "object"}}},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answer = {"result": told[asked["method"]]} if asked["method"] in told else {
            "error": {"code": -32601, "message": "no such method"}
        }
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


def test_a_list_against_the_protocol_is_one_line_with_the_place() -> None:
    servers = {"shop": McpServer((sys.executable, "-c", WRONG))}
    with Sessions(servers) as sessions, pytest.raises(InfrastructureError) as told:
        sessions.of("shop")
    assert str(told.value) == (
        "MCP server 'shop' does not list its tools: it breaks the protocol: "
        "tools: expected a list, got {'inputSchema': {'type': 'object'}, 'name': 'list'}; "
        "check its version, and play again when it is well"
    )


def test_servers_are_read_from_a_file_as_other_clients_have_it(tmp_path: Path) -> None:
    entries = {
        "shop": {"command": "shop", "args": ["--at", "${PLACE:-here}"], "env": {"KEY": "${KEY}"}},
        "docs": {"type": "http", "url": "https://docs.test/mcp", "headers": {"X-Key": "k"}},
        "old": {"command": "old", "disabled": True},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": entries}))
    servers = read_servers(path)
    assert servers == {
        "shop": McpServer(("shop", "--at", "${PLACE:-here}"), env={"KEY": "${KEY}"}),
        "docs": McpServer(url="https://docs.test/mcp", headers={"X-Key": "k"}),
    }
    assert [server.is_reset for server in servers.values()] == [True, False]
    assert "k" not in repr(servers["docs"]).replace("docs", "")


def test_variables_are_filled_in_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", KEY)
    server = McpServer(("shop", "${PLACE:-here}"), env={"KEY": "${env:KEY}"})
    assert server.filled() == McpServer(("shop", "here"), env={"KEY": KEY})
    assert server.filled().masked(f"It is {KEY}.") == "It is ***."


def test_a_key_does_not_tell_servers_apart_but_a_folder_or_a_query_does() -> None:
    one, other = (McpServer(("shop",), env={"SHOP_KEY": key}) for key in "ab")
    assert one.spec == other.spec != McpServer(("shop", "--big")).spec
    in_folders = {McpServer(("shop",), env={"FOLDER": place}).spec for place in "ab"}
    assert len({*in_folders, one.spec}) == 3
    plain = McpServer(url="https://x.test/m").spec
    assert McpServer(url="https://a:b@x.test/m?api_key=1").spec == plain
    assert len({McpServer(url=f"https://x.test/m?db={db}").spec for db in "ab"} | {plain}) == 3


def test_a_variable_tells_servers_apart_by_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = set()
    for place in ("one", "two"):
        monkeypatch.setenv("PLACE", place)
        specs.add(McpServer(("shop",), env={"FOLDER": "${PLACE}"}).spec)
    assert len(specs) == 2


def test_what_is_no_key_is_never_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", KEY)
    plain = {"UNIT": "celsius", "READ_ONLY": "true", "TYPE": "string", "FOLDER": "/srv/weather"}
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Unit": "celsius"}
    server = McpServer(("shop",), env=plain, headers=headers).filled()
    said = {"unit": ["celsius", True], "type": "string", "is": f"{KEY} of /srv/weather, x{KEY}x"}
    told = said | {"is": f"*** of /srv/weather, x{KEY}x"}
    assert server.masked(said) == told


def test_a_session_that_ended_is_told_and_a_new_one_may_begin() -> None:
    with scripted(Scripted("rain", "over")) as sessions:
        assert sessions.of("shop").call("look", {}).content == "rain"
        with pytest.raises(SessionEndedError, match="has ended its session; play again"):
            sessions.of("shop").call("look", {})
        sessions.drop("shop")
        assert sessions.of("shop").call("look", {}).content == "sunny"


NO_SESSION = {"error": "Session not found"}
LOST = (
    "Invalid Request: Session not found",
    "Bad Request: Server not initialized",
    "Bad Request: Mcp-Session-Id header is required",
    "Invalid session ID",
    "Session abc has expired",
)


def refused(words: str) -> Any:
    error = {"code": -32000, "message": words}
    return lambda asked: answered({"jsonrpc": "2.0", "id": asked["id"], "error": error}, 400)


NO_MESSAGES = [
    answered(NO_SESSION),
    Answered(
        b"event: message\ndata: " + json.dumps(NO_SESSION).encode() + b"\n\n",
        headers={"Content-Type": "text/event-stream"},
    ),
    Answered(b"<html>504 Gateway Time-out</html>", headers={"Content-Type": "text/html"}),
    {"error": {"code": -32001, "message": "Session not found"}},
    {"error": {"code": -32600, "message": "Invalid Request: Session not found"}},
    {"error": {"code": -32602, "message": "Invalid request parameters"}},
    *map(refused, LOST),
]


@pytest.mark.parametrize("given", NO_MESSAGES[:2])
def test_an_error_outside_the_protocol_is_told_in_the_servers_words(given: Any) -> None:
    says = "no answer of MCP: Session not found; check"
    with (
        scripted(Scripted(given)) as sessions,
        pytest.raises(SessionEndedError, match=says),
    ):
        sessions.of("shop").call("look", {})


@pytest.mark.parametrize("given", NO_MESSAGES)
def test_what_is_no_message_of_the_protocol_is_no_answer_of_a_tool(given: Any) -> None:
    with scripted(Scripted(given, "sunny", given)) as sessions:
        with pytest.raises(SessionEndedError, match=r"no answer of MCP: .*check its address"):
            sessions.of("shop").call("look", {})
        sessions.drop("shop")
        session = sessions.of("shop")
        assert session.call("look", {}).content == "sunny"
        with pytest.raises(InfrastructureError, match="no answer of MCP"):
            session.call("look", {})


def test_a_tool_that_takes_sessions_of_its_own_may_say_that_it_knows_none() -> None:
    for said in ("Invalid session ID", "Invalid request parameters: at"):
        given = {"error": {"code": -32602, "message": said}}
        with scripted(Scripted(given)) as sessions:
            answer = sessions.of("shop").call("look", {})
        assert answer.error == {"kind": "api", "message": said}


def test_an_empty_cursor_is_asked_for_and_ends_a_list_that_begins_anew() -> None:
    more = {"name": "more", "inputSchema": {"type": "object"}}
    lists: list[Any] = [
        lambda at: {"tools": [more]} if at == "" else {"tools": [LISTED], "nextCursor": ""},
        lambda at: {"tools": [LISTED, more], "nextCursor": ""},  # the same at every cursor
        lambda at: 500 if at == "" else {"tools": [LISTED, more], "nextCursor": ""},
    ]
    for pages in lists:
        shop = Scripted()
        shop.pages = pages
        with scripted(shop) as sessions:
            named = [tool["name"] for tool in sessions.of("shop").listing().tools]
        assert named == ["look", "more"]


def test_a_status_of_http_is_no_answer_of_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seal.environments.mcp_servers._WAITS_S", (0.01, 0.01))
    with scripted(shop := Scripted(503, 429, "sunny", 503, 503, 503, 500)) as sessions:
        session = sessions.of("shop")
        assert session.call("look", {}).content == "sunny" and shop.calls == 3
        with pytest.raises(InfrastructureError, match=r"HTTP 503.*run again when"):
            session.call("look", {})
        assert shop.calls == 6
        with pytest.raises(InfrastructureError, match="HTTP 500"):
            session.call("look", {})
        assert shop.calls == 7  # nobody knows whether the tool ran


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"<html>400 Bad Request</html>", "400 Bad Request"),
        (b"", "Server returned an error response"),
        (b'{"error": {"message": "bad origin", "code": 7}}', r"bad origin \(7\)"),
    ],
)
def test_a_refusal_that_is_no_message_of_the_protocol_is_no_answer_of_a_tool(
    sent: bytes, told: str
) -> None:
    with scripted(Scripted(Answered(sent, 400), "sunny")) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=rf"HTTP 400: .*{told}.*check its address"):
            session.call("look", {})
        assert session.call("look", {}).content == "sunny"


def test_a_redirect_that_is_not_followed_is_no_answer_of_a_tool() -> None:
    away = Answered(status=302, headers={"Location": "/login"})
    with scripted(Scripted(away, "sunny")) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=r"HTTP 302: Redirect to .*/login.* give the"):
            session.call("look", {})
        assert session.call("look", {}).content == "sunny"


def test_a_redirect_to_the_same_server_is_followed() -> None:
    shop = Scripted()

    def script(request: Received) -> Answered:
        if request.path == "/mcp":
            return Answered(status=307, headers={"Location": "/mcp/"})
        return shop(request)

    with ModelServer(script) as server, Sessions(at(server), 5) as sessions:
        assert sessions.of("shop").call("look", {}).content == "sunny"


@pytest.mark.parametrize(("status", "says"), [(401, "give `headers`"), (405, "streamable HTTP")])
def test_a_server_that_refuses_at_the_start_is_told_with_its_repair(status: int, says: str) -> None:
    refusing = ModelServer(lambda request: Answered(status=status))
    with (
        refusing as server,
        Sessions(at(server), 5) as sessions,
        pytest.raises(InfrastructureError, match=f"HTTP {status}.*{says}"),
    ):
        sessions.of("shop")


def test_a_tool_that_is_gone_is_no_fault_of_the_model() -> None:
    told = "no tool 'see' any more; import the pool"
    with scripted(shop := Scripted()) as sessions, pytest.raises(InfrastructureError, match=told):
        sessions.of("shop").call("see", {})
    assert shop.calls == 0


def test_a_tool_whose_schema_is_another_is_no_fault_of_the_model() -> None:
    shop = Scripted()
    with scripted(shop) as sessions:
        session = sessions.of("shop")
        session.check("look", schema_digest(LISTED))
        session.check("look")  # imported by an earlier version
        with pytest.raises(InfrastructureError, match=r"other arguments.*import the pool again"):
            session.check("look", schema_digest({"inputSchema": {"type": "object", "x": 1}}))


def failing(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], "isError": True}


PASSED_ON = (
    "MCP error -32000: Connection closed",
    "MCP error -32001: Request timed out",
    '{"error": "MCP error -32603: MCP error -32001: Request timed out"}',
    "Error from MCP server: Error: Error POSTing to endpoint (HTTP 524): <!DOCTYPE html>",
    "Streamable HTTP error: Error POSTing to endpoint: Session not found",
    "SSE stream disconnected: TypeError: terminated",
    "Not connected",
)


@pytest.mark.parametrize("said", PASSED_ON)
def test_an_error_of_the_protocol_that_a_proxy_passes_on_is_no_answer_of_a_tool(said: str) -> None:
    given = failing(said)
    with scripted(shop := Scripted(*[given] * 3, "sunny", given, "rain")) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=re.escape(f"failed at 'look': {said}")):
            session.call("look", {})
        assert [session.call("look", {}).content for _ in range(2)] == ["sunny", "rain"]
    assert shop.calls == 6


@pytest.mark.parametrize(
    "said",
    [
        "Output validation error: outputSchema defined but no structured output returned",
        "MCP error -32602: Output validation error: Invalid structured content for tool look",
        "MCP error -32602: Tool look has an output schema but no structured content was provided",
    ],
)
@pytest.mark.parametrize("is_error", [True, False])
def test_what_a_server_refuses_of_its_own_tools_answer_is_its_fault_and_asked_once(
    said: str, is_error: bool
) -> None:
    given = failing(said) if is_error else {"error": {"code": -32602, "message": said}}
    with scripted(shop := Scripted(given)) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match=f"failed at 'look': {said}"):
            session.call("look", {})
    assert shop.calls == 1


@pytest.mark.parametrize(
    "said",
    [
        "MCP error -32602: Input validation error: city: Required",
        "I am not connected to the lamp",
        "MCP error -32000: No such city",
        "Connection closed",
    ],
)
def test_other_words_of_an_error_are_the_tools_own(said: str) -> None:
    with scripted(Scripted(failing(said))) as sessions:
        assert sessions.of("shop").call("look", {}).error == {"kind": "api", "message": said}


def test_an_error_that_a_proxy_passes_on_as_a_success_is_no_answer_of_a_tool() -> None:
    given = {**failing("MCP error -32001: Request timed out"), "isError": False}
    own = "MCP error -32000: No such city", "The log says: MCP error -32001: Request timed out"
    with scripted(shop := Scripted(*[given] * 3, *own)) as sessions:
        session = sessions.of("shop")
        with pytest.raises(InfrastructureError, match="failed at 'look': MCP error -32001"):
            session.call("look", {})
        assert tuple(session.call("look", {}).content for _ in own) == own
    assert shop.calls == 5


UNKNOWN = ("Unknown tool: look", "Tool look not found", "no such tool look")
TOLD_BY_SDK = tuple(f"MCP error -32602: Tool look {how}" for how in ("not found", "disabled"))


@pytest.mark.parametrize("said", [*UNKNOWN, *TOLD_BY_SDK])
@pytest.mark.parametrize("is_error", [True, False])
def test_a_tool_that_is_listed_and_unknown_is_no_fault_of_the_model(
    said: str, is_error: bool
) -> None:
    given: Any = failing(said)
    if not is_error:
        given = {"error": {"code": -32602, "message": said}}
    told = f"lists 'look' and says: {said}"
    with scripted(Scripted(given)) as sessions, pytest.raises(InfrastructureError, match=told):
        sessions.of("shop").call("look", {})


@pytest.mark.parametrize("said", ["Unknown tool: hammer", "the shop has no such tool as look"])
def test_an_error_about_another_tool_is_the_tools_own(said: str) -> None:
    given = {"content": [{"type": "text", "text": said}], "isError": True}
    with scripted(Scripted(given)) as sessions:
        assert sessions.of("shop").call("look", {}).error == {"kind": "api", "message": said}


@pytest.mark.parametrize(
    ("text", "structured", "is_error", "read"),
    [
        (["1 item."], {"weather": "sunny"}, False, '1 item.\n{"weather":"sunny"}'),
        (['{"weather": "sunny"}'], {"weather": "sunny"}, False, '{"weather": "sunny"}'),
        (["3"], {"result": 3}, False, "3"),
        ([], {"hint": "name a canton"}, True, '{"hint":"name a canton"}'),
    ],
)
def test_a_structure_is_read_where_the_text_lacks_it(
    text: list[str], structured: Any, is_error: bool, read: str
) -> None:
    content = [{"type": "text", "text": one} for one in text]
    given = {"content": content, "structuredContent": structured, "isError": is_error}
    with scripted(Scripted(given)) as sessions:
        found = sessions.of("shop").call("look", {})
    assert found.content == read
    assert (found.error or {}).get("message", read) == read


def test_an_answer_with_nothing_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    nothing = {"content": []}
    empty = {"content": [{"type": "text", "text": ""}]}
    with scripted(Scripted(empty, nothing, nothing)) as sessions:
        for told in (0, 1, 1):
            assert sessions.of("shop").call("look", {}).content == ""
            assert caplog.text.count("'shop' answered 'look' with nothing") == told


def test_the_command_line_names_servers() -> None:
    found = named_servers(["shop=shop --at here", "docs=https://docs.test/mcp"])
    assert read_servers(found) == {
        "shop": McpServer(("shop", "--at", "here")),
        "docs": McpServer(url="https://docs.test/mcp"),
    }
    assert read_servers(named_servers([line()])) == {"": McpServer(tuple(command()))}


def test_a_file_of_servers_is_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "my servers.json"
    path.write_text('{"mcpServers": {"shop": {"command": "shop"}}}')
    by_file = named_servers([str(path), "docs=https://docs.test/mcp.json", "cat a.json"])
    assert read_servers({"shop": by_file["shop"]}) == {"shop": McpServer(("shop",))}
    assert by_file["docs"] == "https://docs.test/mcp.json"
    assert by_file[""] == "cat a.json"
    with pytest.raises(UsageError, match="two MCP servers are named 'shop'"):
        named_servers([str(path), "shop=other"])


@every_case(
    ("given", "says"),
    [
        (7, "expected a file such as mcp.json"),
        ({"": "a", "b": "b"}, "one of several has no name"),
        ({"a": "ftp://x"}, None),
        ({"a": ""}, "expected a command or an address"),
        ({"a": "'"}, "is no command"),
        ({"a": "http://"}, "expected an address"),
        ({"a": {"cmd": "x"}}, "expected a command, an address or an object"),
        ({"a": {"command": "x", "url": "http://x"}}, "expected `command` with `args`, or `url`"),
        ({"a": {"command": "x", "args": "y"}}, "expected `command` with `args`, or `url`"),
        ({"a": {"command": "x", "env": {"K": 1}}}, "env: expected an object of texts"),
        ({"a": {"type": "sse", "url": "http://x"}}, "expected stdio or http"),
        ("no/such/mcp.json", "cannot be read"),
    ],
)
def test_what_is_no_server_is_refused(given: Any, says: str | None) -> None:
    if says is None:
        assert read_servers(given)["a"].command == ("ftp://x",)
        return
    with pytest.raises(UsageError, match=says):
        read_servers(given)


@pytest.mark.parametrize("content", ["[]", "{", '{"mcpServers": {}}'])
def test_a_file_without_servers_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"mcp\.json"):
        read_servers(path)


def test_two_servers_without_names_are_refused() -> None:
    with pytest.raises(UsageError, match="two MCP servers have no name"):
        named_servers(["a", "b"])

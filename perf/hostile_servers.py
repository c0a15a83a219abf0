"""Servers by which `hostile.py` tries to get a fault of theirs scored, or kept: drawn by chance.

Of models: words of ends, streams that end in the middle or never, errors in many forms, notices and
NaN in the place of words, calls as text or with marks, 429s, texts that are sent again, events that
a proxy cut or joined, bodies that are packed twice, models that do not load.
Of tools: MCP sessions that are lost. Of embeddings: vectors that are none.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from hostile_lab import Lab, Tried, broken_by
from mcp_servers import LISTED, Scripted
from raw_servers import RawServer, Wire, delta, events, response, stream_head
from server_faults import (
    CALL_AS_TEXT,
    ERRORS,
    GOOD,
    REST,
    WORDS,
    by_fault,
    called,
    one_chat,
    plain,
    sends,
)
from servers import ModelServer, letters, openai_rows
from small_pools import weather_task, write_pool

import seal
from seal.core import Goal, SealError, Task, Tool
from seal.core.outcomes import error_in

SILENT_ENDS = (
    *("server_error", "load", "cancelled", "OTHER", "MISSING_THOUGHT_SIGNATURE", "unknown", "done"),
    *("tool_calls", "null", "", "errorerror", "model_error", "no_capacity", "unexpected"),
)
"""Words with which an answer that says nothing is the server's fault."""
BROKEN_ENDS = ("error", "abort", "timeout", "network_error", "engine_overloaded", "cancelled")
"""Words with which it is one, whatever was said."""
FRAMES = ("{}", "x_{}", "{}_finish", "Internal: {}", "{}{}")
TEXT_CALLS = (
    CALL_AS_TEXT,
    '{"name": "weather", "arguments": {"city": "Rome"}}',
    '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Rome"}}]',
    "<function=weather><parameter=city>Rome</parameter></function>",
    '<|python_tag|>weather.call(city="Rome")',
    'functools[{"name": "weather", "arguments": {"city": "Rome"}}]',
)

Drawn = tuple[str, Callable[[Wire], None], str]
"""What it is, what the server does, and how the chat must end."""


def word(chance: Random) -> Drawn:
    """Return an end by a word of a fault, whole or streamed."""
    half = chance.random() < 0.5
    said = chance.choice(FRAMES).replace("{}", chance.choice(BROKEN_ENDS))
    said = said if half else chance.choice(SILENT_ENDS)
    text = "It is" if half else chance.choice(("", " ", "\n"))
    if chance.random() < 0.5:
        return f"whole, {text!r}, {said!r}", sends(response(plain(text, said))), "error"
    stream = events(delta(role="assistant", content=text), delta(said))
    return f"streamed, {text!r}, {said!r}", sends(stream_head(), stream), "error"


def broken_stream(chance: Random) -> Drawn:
    """Return a stream that ends before its finish, with or without what says that it ended."""
    whole = WORDS + REST
    place = chance.randrange(1, whole.index(b'"stop"'))
    done = chance.choice((b"", b"\n\ndata: [DONE]\n\n"))
    told = f"{place} bytes{', [DONE]' if done else ''}"
    return told, sends(stream_head(), whole[:place] + done), "error"


def other_error(chance: Random) -> Drawn:
    """Return an error in some form, amid a stream that goes on, or in place of an answer."""
    name, form = chance.choice(list(ERRORS.items()))
    assert error_in(form) is not None
    if chance.random() < 0.5:
        data = chance.choice((json.dumps(form), json.dumps([{"error": form}]))).encode()
        return f"{name} under 200", sends(response(data)), "error"
    after = chance.choice((b"", REST, b"data: [DONE]\n\n"))
    return (
        f"{name} in a stream",
        sends(stream_head(), WORDS, events(form, done=False), after),
        "error",
    )


def text_call(chance: Random) -> Drawn:
    """Return a call that the server leaves in the text."""
    said = chance.choice(TEXT_CALLS)
    return f"call as {said[:20]!r}", sends(response(plain(said))), "done"


def too_many(chance: Random) -> Drawn:
    """Return a server that has too many requests, once or for good."""
    status, wait = chance.choice((429, 529)), chance.choice(("0", "0.1", "soon", "inf", "-1", ""))
    refusal = response(b'{"error": {"message": "slow down"}}', status, Retry_After=wait)
    once = chance.random() < 0.5

    def refuse(wire: Wire) -> None:
        (GOOD if once and wire.number > 1 else sends(refusal))(wire)

    return f"{status}, Retry-After {wait!r}", refuse, "done" if once else "error"


def unreal(chance: Random) -> Drawn:
    """Return words that no model said, or a call of which a parser left marks."""
    notice = "The account behind this API key doesn't have enough credits. Please top up."
    marks = chance.choice(("<tool_call>", "</arg_value>", '" />'))
    bodies = {
        "NaN": plain(chance.choice("!#?@G") * chance.randint(32, 300)),
        "a notice": plain(chance.choice((notice, "API call failed after 3 retries: HTTP 429"))),
        "unparsed arguments": called("<parameter=city>\nRome\n</parameter>"),
        "no name but marks": called("{}", marks),
    }
    what = chance.choice(list(bodies))
    return what, sends(response(bodies[what])), "error"


def open_stream(chance: Random) -> Drawn:
    """Return a whole answer whose stream stays open, silent or kept alive."""
    seconds, alive = chance.uniform(1, 3), chance.random() < 0.5
    whole = stream_head() + WORDS + REST.removesuffix(b"data: [DONE]\n\n")

    def keep_open(wire: Wire) -> None:
        wire.send(whole)
        if alive:
            wire.drip(b": alive\n\n" * 3, every=seconds / 30)
        wire.wait(seconds)

    return f"a stream that is open {seconds:.1f} s more", keep_open, "done"


def repeated(chance: Random) -> Drawn:
    """Return a stream that sends all of the text so far amid its pieces: it is said once."""
    place = chance.randrange(3, len(REPEATED))
    pieces = [*REPEATED[:place], "".join(REPEATED[: place + 1]), *REPEATED[place + 1 :]]
    said = [delta(content=piece) for piece in pieces]
    return f"all so far at {place}", sends(stream_head(), events(*said, delta("stop"))), "once"


REPEATED = ("It ", "is ", "sunny ", "in ", "Rome ", "and ", "warm.")


def spoilt_events(chance: Random) -> Drawn:
    """Return a stream whose events a proxy has joined, or cut in two."""
    joins = chance.random() < 0.5
    one = chance.randrange(5, 60)
    whole = WORDS + REST
    first, second = whole.split(b"\n\n", 1)
    joined = first + second.removeprefix(b"data: ")
    spoilt = joined if joins else whole[:one] + b"\n\ndata: " + whole[one:]
    return f"events {'joined' if joins else 'cut'}", sends(stream_head(), spoilt), "error"


def packed_twice(chance: Random) -> Drawn:
    """Return an answer, or a refusal, that a gateway has packed once more than it says."""
    status = chance.choice((200, 401, 429, 500))
    body = plain("It is sunny.") if status == 200 else b'{"error": {"message": "no quota left"}}'
    data = gzip.compress(gzip.compress(body))
    expected = "done" if status == 200 else "error"
    given = sends(response(data, status, Content_Encoding="gzip"))
    return f"{status}, packed twice", given, expected


def unread_call(chance: Random) -> Drawn:
    """Return a call that nobody can read and an end that nobody knows, or none."""
    body = json.loads(called('{"ci'))
    body["choices"][0]["finish_reason"] = end = chance.choice(("odd", "max_time_ms", "", None))
    return f"half a call, then {end!r}", sends(response(json.dumps(body).encode())), "error"


def not_loaded(chance: Random) -> Drawn:
    """Return a refusal of what may be well at the next try, once or for good."""
    said = chance.choice(PASSING)
    form: Any = {"error": {"message": said}}
    if chance.random() < 0.5:
        form = {"success": False, "errors": [{"code": 7009, "message": said}], "result": None}
    status, once = chance.choice((200, 400, 500)), chance.random() < 0.5
    refusal = response(json.dumps(form).encode(), status)

    def refuse(wire: Wire) -> None:
        (GOOD if once and wire.number > 1 else sends(refusal))(wire)

    return f"{status}, {said!r}", refuse, "done" if once else "error"


PASSING = (
    'Failed to load model "qwen/qwen3". Error: Operation canceled.',
    "model requires more system memory (8.1 GiB) than is available (7.0 GiB)",
    "Upstream service unavailable",
    "Model unloaded.",
)

DRAWN = (
    *(word, broken_stream, other_error, text_call, too_many, unreal, open_stream),
    *(repeated, spoilt_events, packed_twice, unread_call, not_loaded),
)


def words_of_models(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let a model's server answer wrongly in a drawn way: nothing of it is scored or kept."""
    pool = write_pool(lab.folder / "small", [weather_task("Rome")])
    for number in range(count):
        what, fault, expected = DRAWN[number % len(DRAWN)](chance)
        yield Tried(what, broken_by(partial(_model, lab.clear(), pool, fault, expected)))


def _model(work: Path, pool: Path, fault: Callable[[Wire], None], expected: str) -> str:
    """Return how a chat broke, and the same chat at the healthy server with the same cache."""
    now: list[Callable[[Wire], None]] = [by_fault(fault)]
    with RawServer(lambda wire: now[0](wire)) as server:
        for name, wanted in (("run", expected), ("again", "done")):
            run = one_chat(pool, work / name, server.url)
            ((stop,),) = [trajectory.stops for trajectory in run.folder.trajectories()]
            score = run.summary["metrics"]["call_f1"]["mean"]
            if stop.reason == "error" and score is not None:
                return f"scored: {score}, after {stop.error}"
            if wanted == "once":
                (chat,) = run.folder.trajectories()
                once = chat.answers == ("".join(REPEATED),)
                return "" if once else f"scored: {chat.answers}, which was said once"
            if stop.reason != wanted:
                kind = "scored" if wanted == "error" else "lost"
                return f"{kind}: {name} ended by {stop.reason}, not {wanted}: {stop.error}"
            now[0] = sends(stream_head(), WORDS, REST)
            if expected == "done":
                return "" if run.exit_code == 0 else f"lost: exit code {run.exit_code}"
    return ""


def mcp_sessions(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let an MCP server lose sessions, refuse, and forget its tool: no such thing is an answer."""
    html = {"content": [{"type": "text", "text": "Unknown tool: look"}], "isError": True}
    forgets = {"error": {"code": -32602, "message": "Unknown tool: look"}}
    way = "Error POSTing to endpoint (HTTP 503): upstream connect error"
    passed_on = {"content": [{"type": "text", "text": f"MCP error -32001: {way}"}], "isError": True}
    unread = {"error": {"code": -32001, "message": "failed to unmarshal response"}}
    behind = {"error": {"code": -32600, "message": "upstream error: timeout after 10s"}}
    as_well = {"content": [{"type": "text", "text": "MCP error -32001: Request timed out"}]}
    lost = (html, forgets, passed_on, unread, behind, as_well)
    faults: Sequence[Any] = ("over", 404, 429, 500, 502, 503, 401, 403, *lost)
    for _ in range(count):
        script = [chance.choice((*faults, "sunny")) for _ in range(chance.randint(1, 4))]
        yield Tried(f"MCP: {script}", broken_by(partial(_mcp, lab.clear(), script)))


def _mcp(work: Path, script: Sequence[Any]) -> str:
    """Return how two calls of a chat broke: each brings the tool's answer, or no score."""
    shop = Scripted(*script)
    told = {"server": "shop", "tool": "look", "spec": "x", "is_reset": False, "annotations": {}}
    tool = Tool("shop/look", "look", "Looks.", LISTED["inputSchema"], source={"mcp": told})

    def agent(request: str, tools: Sequence[Callable[..., Any]]) -> str:
        return str(tools[0]()) + str(tools[0]())

    task = seal.ask("Look twice.", seal.called("look"), seal.called("look"))
    bench = seal.Benchmark("shop", tools=[tool], tasks=[task], environment="mcp")
    with ModelServer(shop) as server:
        servers = {"shop": {"url": f"{server.root}/mcp"}}
        options: dict[str, Any] = {"cache_dir": work / "cache", "baselines": False}
        run = seal.run(bench, agent=agent, servers=servers, out=work / "run", **options)
    (chat,) = run.folder.trajectories()
    brought = [end.result.value for _, end in chat.calls() if end is not None and end.result]
    failed = any(stop.error for stop in chat.stops)
    if not failed and brought != ["sunny", "sunny"]:
        return f"scored: the calls brought {brought}"
    if failed and run["call_f1"].mean is not None:
        return f"scored: {run['call_f1'].mean}, after {chat.stops[0].error}"
    return ""


WORDS_OF_TOOLS = ("weather", "hotel", "music", "train", "doctor", "garden", "cheese", "bridge")


def vectors(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let a server of embeddings give vectors that are none: recall is the usual one, or none."""
    good = _recall(lab.clear(), lambda rows: rows)
    assert good is not None
    for number in range(count):
        name = list(BAD_ROWS)[number % len(BAD_ROWS)]
        spoil = partial(BAD_ROWS[name], Random(chance.getrandbits(32)))
        yield Tried(f"vectors: {name}", broken_by(partial(_embedded, lab.clear(), spoil, good)))


Rows = list[Any]
BAD_ROWS: dict[str, Callable[[Random, Rows], Rows]] = {
    "zeros": lambda chance, rows: [[0.0] * len(rows[0]) for _ in rows],
    "equal": lambda chance, rows: [rows[0] for _ in rows],
    "NaN": lambda chance, rows: [[math.nan, *rows[0][1:]], *rows[1:]],
    "no numbers": lambda chance, rows: [["x"] * len(rows[0]), *rows[1:]],
    "one too few": lambda chance, rows: rows[:-1],
    "one too many": lambda chance, rows: [*rows, rows[0]],
    "another dimension": lambda chance, rows: (
        [row[: chance.randint(1, 3)] for row in rows[:1]] + rows[1:]
    ),
    "null": lambda chance, rows: [None, *rows[1:]],
    "a text": lambda chance, rows: ["oops", *rows[1:]],
    "empty": lambda chance, rows: [[] for _ in rows],
}


def _embedded(work: Path, spoil: Callable[[Rows], Rows], good: float) -> str:
    found = _recall(work, spoil)
    return "" if found is None or found == good else f"scored: recall {found}, not {good}"


def _recall(work: Path, spoil: Callable[[Rows], Rows]) -> float | None:
    """Return recall@1 with the vectors of a server; None: the retriever was unavailable."""
    tools = [
        Tool(f"p/t/{n}", name, f"Tells of the {name}.", {"type": "object", "properties": {}})
        for n, name in enumerate(WORDS_OF_TOOLS)
    ]
    tasks = [
        Task(f"q{n}", "p", (Goal(f"Of the {tool.name}?", relevant=(tool.id,)),))
        for n, tool in enumerate(tools)
    ]

    def answer(request: Any) -> Any:
        return openai_rows(spoil([letters(text, 7) for text in request.body["input"]]))

    with ModelServer(answer) as server:
        spec = f"dense,model=openai/m,base_url={server.url},max_tries=1"
        try:
            found = seal.retrieve(tasks, spec, k=1, tools=tools, cache_dir=work / "cache")
        except SealError:
            return None
    (result,) = found.results
    return None if result.unavailable else result["recall@1"].mean

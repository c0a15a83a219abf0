"""The leaderboard's verdict, by our rules and by a stand-in of the peer."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bfcl_peer import stand_in
from bfcl_sources import HEIGHT, BfclShelf, answer, function, said, single
from peers.bfcl import MUTATIONS, LeaderboardsOwn, as_code, judged

import seal
from seal.benchmarks.bfcl.leaderboard import PlayedTurn, wrong_goal, wrong_turns
from seal.benchmarks.bfcl.world import VARIABLE, Peer
from seal.cli.dispatch import main
from seal.core import InfrastructureError, ToolCall, UsageError
from seal.pools.pool import load_pool
from seal.runs.finished import rescore
from seal.runs.settings import ScoreSettings

TIDE = "tide.height"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BfclShelf:
    monkeypatch.delenv(VARIABLE, raising=False)
    return BfclShelf(tmp_path)


@pytest.fixture
def peer(shelf: BfclShelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in, which has the shelf's files."""
    (tmp_path / "peer").mkdir()
    program = stand_in(tmp_path / "peer", shelf.source)
    monkeypatch.setenv(VARIABLE, str(program))
    return program


def right(shelf: BfclShelf, accepted: list[Any], value: Any, kind: Any, **more: Any) -> bool:
    """Whether an argument's value is right by the leaderboard's rules."""
    required = more.get("required", ["x"])
    document = function("f", required=required, x=kind)
    task = shelf.ask([{"f": {"x": accepted}}], document)
    (tool,) = shelf.tools().values()
    given = {} if value is None else {"x": value}
    made = [ToolCall("0", "f", given, "", tool.id)]
    return not wrong_goal(task.goals[0], made, {tool.id: tool})


@pytest.mark.parametrize(
    ("accepted", "value", "kind", "expected"),
    [
        (["Rio de Janeiro"], "rio-de_janeiro.", "string", True),
        (["it's"], 'IT"S', "string", True),
        (["a b"], "a+b", "string", False),
        ([5], 5.0, "integer", False),
        ([5], True, "integer", False),
        ([5.0], 5, "float", True),
        ([0.3], 0.30000000000000004, "float", False),
        (["a"], "\u00a0a", "string", False),
        ([True], 1, "boolean", False),
        (["myVariable"], "myVariable", "integer", True),
        (["myVariable"], "MyVariable", "integer", False),
        (["myVariable"], 5, "integer", False),
        (["5"], "5", "any", True),
        ([["Red", "Blue"]], ["red.", "BLUE"], {"type": "array", "items": {"type": "string"}}, True),
        ([["Red", "Blue"]], ["Blue", "Red"], {"type": "array", "items": {"type": "string"}}, False),
        ([[1.5, 2.0]], [1.5, 2], {"type": "tuple", "items": {"type": "float"}}, False),
        ([[1.5, 2.0]], [1.5, 2.0], {"type": "tuple", "items": {"type": "float"}}, True),
        ([{"w": ["Wide", ""]}], {"w": "w-i-d-e"}, "dict", True),
        ([{"w": ["Wide", ""]}], {}, "dict", True),
        ([{"w": ["Wide", ""]}], {"w": ""}, "dict", True),
        ([{"w": ["Wide"]}], {"w": ""}, "dict", False),
        ([{"w": ["Wide"]}], {"w": "wide", "h": ""}, "dict", False),
        ([[{"w": ["A"]}]], [{"w": "a"}], {"type": "array", "items": {"type": "dict"}}, True),
        ([[{"w": ["A"]}]], ["a"], {"type": "array", "items": {"type": "dict"}}, False),
    ],
)
def test_a_value_is_right_as_the_leaderboard_has_it(
    shelf: BfclShelf, accepted: list[Any], value: Any, kind: Any, expected: bool
) -> None:
    assert right(shelf, accepted, value, kind) is expected


@pytest.mark.parametrize(
    ("accepted", "value", "kind", "expected"),
    [
        (["a", ""], "", "string", True),
        (["a", ""], None, "string", True),
        (["a"], None, "string", False),
        ([1, ""], "", "integer", False),
        ([["a"], ""], [], {"type": "array", "items": {"type": "string"}}, True),
        ([["a"], ""], ["b"], {"type": "array", "items": {"type": "string"}}, False),
        ([[{"w": ["a"]}], ""], ["b"], {"type": "array", "items": {"type": "dict"}}, False),
    ],
)
def test_what_may_be_left_out_may_be_empty(
    shelf: BfclShelf, accepted: list[Any], value: Any, kind: Any, expected: bool
) -> None:
    assert right(shelf, accepted, value, kind, required=[]) is expected


LONGS = {"type": "ArrayList", "items": {"type": "long"}}


@pytest.mark.parametrize(
    ("language", "accepted", "value", "kind", "expected"),
    [
        ("java", [5], "5L", "long", True),
        ("java", [5], 5, "long", True),
        ("java", [5], "5", "long", False),
        ("java", ["id"], "id", "long", True),
        ("java", ["id"], "ID", "long", False),
        ("java", ["id"], "I-D", "String", True),
        ("java", [True], "true", "boolean", True),
        ("java", [[1, 2]], "new ArrayList<>(Arrays.asList(1L, 2L))", LONGS, True),
        ("java", [[1, 2]], "new ArrayList<>(Arrays.asList(1, 2))", LONGS, False),
        ("java", [[1, 2]], [1, 2], LONGS, True),
        ("java", [{"a": ["b"]}], 'new HashMap<>() {{ put("a", "B"); }}', "HashMap", True),
        ("javascript", [7], "7n", "Bigint", True),
        ("javascript", ["a b"], "'A b'", "String", True),
        ("javascript", [{"a": [1]}], "{'a': 1}", "dict", True),
        ("javascript", [{"a": [1]}], "{'a': 2}", "dict", False),
        ("javascript", [1.0], 1, "float", True),
        ("java", [1.0], 1, "double", True),
        ("java", [1], 1.0, "integer", False),
    ],
)
def test_a_text_is_read_as_code_and_another_value_as_it_is(
    shelf: BfclShelf, language: str, accepted: list[Any], value: Any, kind: Any, expected: bool
) -> None:
    document = function("f", required=["x"], x=kind)
    task = shelf.ask([{"f": {"x": accepted}}], document, name=f"simple_{language}")
    (tool,) = shelf.tools().values()
    made = [ToolCall("0", "f", {"x": value}, "", tool.id)]
    assert (wrong_goal(task.goals[0], made, {tool.id: tool}, language) == "") is expected


def test_a_function_without_parameters_is_called_without_arguments(shelf: BfclShelf) -> None:
    task = shelf.ask([{"f": {}}], function("f"))
    tools = shelf.tools()
    for given, right in (({}, True), ({"x": 1}, False)):
        made = [ToolCall("0", "f", given, "", next(iter(tools)))]
        assert (wrong_goal(task.goals[0], made, tools) == "") is right


def test_a_default_that_is_left_out_is_right_by_our_rules_alone(shelf: BfclShelf) -> None:
    day = {"type": "integer", "default": 3, "description": "From today."}
    task = shelf.ask([{"f": {"day": [3]}}], function("f", day=day))
    tools = shelf.tools()
    (tool,) = tools
    (gold,) = (task.goals[0].plans or ())[0].calls()
    call = ToolCall("0", "f", {}, "", tool)
    assert gold.of_tools(tools).accepts(call.arguments) and not gold.accepts(call.arguments)
    known = task.of_tools(tools).goals[0]
    assert wrong_goal(known, [call], tools) == f"no call fits that of {tool}"


def test_calls_are_taken_in_the_order_of_gold(shelf: BfclShelf) -> None:
    gold = [{TIDE: {"port": ["Oban", "Leith"]}}, {TIDE: {"port": ["Oban"]}}]
    shelf.category("parallel", [single("a_0")], [answer("a_0", *gold)])
    (task,) = shelf.tasks()
    tools = shelf.tools()
    (tool,) = tools
    oban, leith, odd = (
        ToolCall(port, TIDE, {"port": port}, "", tool) for port in ("Oban", "Leith", "Hull")
    )
    (goal,) = task.goals
    assert wrong_goal(goal, [leith, oban], tools) == ""
    assert wrong_goal(goal, [oban, leith], tools) == f"no call fits that of {tool}"
    assert wrong_goal(goal, [leith], tools) == "1 call, expected 2"
    assert wrong_goal(goal, [leith, odd], tools) == f"no call fits that of {tool}"
    unread = ToolCall("0", TIDE, None, "{", tool)
    assert wrong_goal(goal, [unread, unread], tools) == f"no call fits that of {tool}"


def scored(shelf: BfclShelf, out: Path, model: str = "oracle", **told: Any) -> dict[str, Any]:
    """Task to the values and reasons of `calls_right` of its goals."""
    run = seal.run(str(shelf.out), model=model, baselines=False, out=out, **told)
    return verdicts(run.folder.path)


def verdicts(run: Path) -> dict[str, Any]:
    """Task to the values and reasons of `calls_right` of its goals, by the leaderboard's rules."""
    rescore(run, ScoreSettings(match="bfcl"))
    found: dict[str, Any] = {}
    for line in (run / "scores.jsonl").read_text("utf-8").splitlines():
        score = json.loads(line)
        if score["metric"] == "calls_right":
            found.setdefault(score["task_id"], []).append((score["value"], score["reason"]))
    return found


def test_any_call_is_relevant_and_none_where_none_is(shelf: BfclShelf, tmp_path: Path) -> None:
    shelf.category("irrelevance", [single("no_0")])
    shelf.category("live_relevance", [single("yes_0")])
    shelf.imported()
    told = scored(shelf, tmp_path / "run")
    assert told == {"no_0": [(1.0, "")], "yes_0": [(1.0, "")]}


def test_gold_that_accepts_nothing_is_never_met(shelf: BfclShelf, tmp_path: Path) -> None:
    days = function("f", days={"type": "array", "items": {"type": "integer"}})
    shelf.category("simple_python", [single("a_0", days)], [answer("a_0", {"f": {"days": []}})])
    shelf.imported()
    assert scored(shelf, tmp_path / "run") == {"a_0": [(0.0, "gold accepts nothing")]}


def several(shelf: BfclShelf) -> None:
    """An item in Python, one in Java, one that asks for a text, and a dialogue."""
    gold = answer("a_0", {TIDE: {"port": ["Oban"]}})
    shelf.category("simple_python", [single("a_0")], [gold])
    shelf.category(
        "simple_java",
        [single("simple_java_0", HEIGHT)],
        [answer("simple_java_0", {TIDE: {"port": ["Oban"], "day": [7]}})],
    )
    arguments = {"source": "string", "destination": "string"}
    files = [function("move", **arguments), function("sort", file="string")]
    shelf.write("multi_turn_func_doc/gorilla_file_system.json", *files)
    item = {
        "id": "multi_turn_base_0",
        "question": [said("Move it."), said("Sort it."), said("Move it back.")],
        "initial_config": {"GorillaFileSystem": {}},
        "involved_classes": ["GorillaFileSystem"],
    }
    truth = [["move('a', 'b')"], ["sort('b')"], ["move('b', 'a')"]]
    shelf.category("multi_turn_base", [item], [answer(item["id"], *truth)])
    shelf.imported()


@pytest.mark.parametrize(
    ("kind", "items", "value", "code"),
    [
        ("String", None, 'it\'s "so"', 'it\'s "so"'),
        ("ArrayList", "long", "myIds", "myIds"),
        ("integer", None, 5, "5"),
        ("long", None, 5, "5L"),
        ("float", None, 1.5, "1.5f"),
        ("boolean", None, True, "true"),
        ("Array", "integer", [1, 2], "new Object[]{1, 2}"),
        ("Array", "String", ["a", "b"], "new Object[]{a, b}"),
        ("Array", "String", [], "new Object[]{}"),
        ("ArrayList", "long", [1], "new ArrayList<>(Arrays.asList(1L))"),
        ("ArrayList", "String", ["a"], 'new ArrayList<>(Arrays.asList("a"))'),
        ("ArrayList", "String", [], "new ArrayList<>()"),
        ("HashMap", None, {"a": "b", "c": 1}, 'new HashMap<>() {{ put("a", "b"); put("c", 1); }}'),
    ],
)
def test_a_value_is_written_as_java(
    shelf: BfclShelf, kind: str, items: Any, value: Any, code: str
) -> None:
    declared = {"type": kind, "description": "", **({"items": {"type": items}} if items else {})}
    shelf.ask([{"f": {"x": [value]}}], function("f", x=declared), name="simple_java")
    (tool,) = shelf.tools().values()
    assert as_code(tool, {"x": value, "y": 1}, "java") == {"x": code, "y": "1"}
    written = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    assert as_code(tool, {"x": value}, "javascript") == {"x": written}


def test_the_peer_judges_other_languages_and_dialogues(
    shelf: BfclShelf, peer: Path, tmp_path: Path
) -> None:
    several(shelf)
    told = scored(shelf, tmp_path / "run", environment="bfcl")
    assert told == {
        "a_0": [(1.0, "")],
        "simple_java_0": [(1.0, "")],
        "multi_turn_base_0": [(1.0, "")] * 3,
    }


def wrong(made: list[Any], gold: list[Any], *turns: tuple[list[str], list[str], list[str]]) -> Any:
    """What is wrong with each turn of a dialogue that was played so."""
    return wrong_turns(made, gold, [PlayedTurn(*turn) for turn in turns])


CALL = ("move", {"source": "a"})


def test_a_turn_is_wrong_by_its_state_its_results_or_no_call() -> None:
    right: Any = (["moved"], ["moved"], [])
    assert wrong([[CALL]], [[CALL]], right) == [""]
    assert wrong([[]], [[CALL]], ([], ["moved"], ["Files"])) == ["no call"]
    assert wrong([[CALL]], [[CALL]], (["moved"], ["moved"], ["Files", "Mail"])) == [
        "another state: Files, Mail"
    ]
    assert wrong([[CALL]], [[CALL, CALL]], (["moved"], ["moved", "moved"], [])) == [
        "a result of gold is missing: 'moved'"
    ]
    assert wrong([[CALL], [CALL]], [[], [CALL]], (["moved"], [], ["Files"]), right) == ["", ""]


def test_a_result_may_come_from_an_earlier_turn_and_a_wrong_turn_spoils_the_later_ones() -> None:
    early: Any = (["moved", "read"], ["moved"], [])
    assert wrong([[CALL] * 2, [CALL]], [[CALL]] * 2, early, (["x"], ["read"], [])) == ["", ""]
    spoilt: Any = ([], ["moved"], [])
    told = wrong([[CALL]] * 2, [[CALL]] * 2, spoilt, (["moved"], ["moved"], []))
    assert told == ["a result of gold is missing: 'moved'"] * 2


def test_a_turn_is_wrong_where_an_earlier_one_is(
    shelf: BfclShelf, peer: Path, tmp_path: Path
) -> None:
    several(shelf)
    told = scored(shelf, tmp_path / "run", environment="bfcl", model="random")
    states = [value for value, _ in told["multi_turn_base_0"]]
    assert states[-1] == 0.0 and states == sorted(states, reverse=True)


def test_without_the_peer_what_it_judges_has_no_value(
    shelf: BfclShelf,
    peer: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    several(shelf)
    told: Any = {"model": "oracle", "environment": "bfcl", "baselines": False}
    seal.run(str(shelf.out), out=tmp_path / "run", **told)
    monkeypatch.delenv(VARIABLE)
    found = verdicts(tmp_path / "run")
    why = "it needs the classes of bfcl-eval; set SEAL_BFCL_PYTHON to a Python that has it"
    assert found["a_0"] == found["simple_java_0"] == [(1.0, "")]
    assert found["multi_turn_base_0"] == [(None, why)] * 3
    assert main(["score", str(tmp_path / "run"), "--match", "bfcl"]) == 0
    assert f"--match bfcl does not decide 3 goals: {why}" in capsys.readouterr().out


def test_rules_of_another_benchmark_are_refused(tmp_path: Path) -> None:
    run = seal.run("sample", model="oracle", limit=1, baselines=False, out=tmp_path / "run")
    with pytest.raises(UsageError, match=r"expected one of clean, exact, .*, got 'bfcl'"):
        rescore(run.folder.path, ScoreSettings(match="bfcl"))


def test_the_world_shows_results_states_and_failures_of_the_classes(
    shelf: BfclShelf, peer: Path, tmp_path: Path
) -> None:
    several(shelf)
    told: Any = {"model": "oracle", "environment": "bfcl", "baselines": False}
    run = seal.run(str(shelf.out), out=tmp_path / "run", **told)
    chats = {chat.task_id: chat for chat in run.folder.trajectories()}
    steps = chats["multi_turn_base_0"].steps
    begun = {"files": ["a"], "above": None}
    (first,) = steps[0].state["GorillaFileSystem"]
    root = {**begun, "below": {"above": None, "files": ["a"]}}
    assert first == {"class": "GorillaFileSystem", "root": root, "size": "inf"}
    results = [step.result for step in steps if step.result]
    assert [result.value for result in results] == [
        {"moved": "a"},
        "Error during execution: division by zero",
        {"moved": "b"},
    ]
    assert [result.error for result in results][:2] == [
        None,
        {"kind": "exception", "message": "division by zero"},
    ]
    changed = [step.state for step in steps if step.result and step.state]
    assert changed[0]["GorillaFileSystem"][0]["root"]["files"] == ["b"]
    measured = run.folder.manifest()["measure"]["simulator"]
    assert measured["worlds"]["bfcl"]["bfcl-eval"] == "2026.3.23"


def test_a_chat_that_begins_with_a_later_turn_finds_what_gold_did_before(
    shelf: BfclShelf, peer: Path, tmp_path: Path
) -> None:
    several(shelf)
    told: Any = {"model": "oracle", "environment": "bfcl", "baselines": False, "history": "gold"}
    run = seal.run(str(shelf.out), out=tmp_path / "run", **told)
    chats = {chat.task_id: chat for chat in run.folder.trajectories()}
    steps = chats["multi_turn_base_0"].steps
    values = [step.result.value for step in steps if step.result and step.goal != -1]
    assert values[0] == {"moved": "a"} and values[-1] == {"moved": "b"}


@pytest.mark.parametrize(
    ("set_to", "told"),
    [
        (None, "names no Python that has bfcl-eval==2026.3.23; make one: python3.11 -m venv"),
        ("/nowhere/python", "cannot be started"),
    ],
)
def test_the_world_needs_the_peer(
    shelf: BfclShelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, set_to: Any, told: str
) -> None:
    several(shelf)
    if set_to:
        monkeypatch.setenv(VARIABLE, set_to)
    with pytest.raises(UsageError, match=told):
        seal.run(str(shelf.out), environment="bfcl", baselines=False, out=tmp_path / "run")


def test_an_interpreter_without_the_peer_is_refused(
    shelf: BfclShelf, peer: Path, tmp_path: Path
) -> None:
    (tmp_path / "peer" / "bfcl_eval-2026.3.23.dist-info" / "METADATA").unlink()
    (tmp_path / "peer" / "bfcl_eval-2026.3.23.dist-info").rmdir()
    with pytest.raises(UsageError, match=r"make one: .* It says: PackageNotFoundError"):
        Peer().ask("version")


@pytest.mark.slow
def test_a_peer_that_hangs_or_dies_is_an_outage_and_the_next_question_is_answered(
    shelf: BfclShelf, peer: Path
) -> None:
    several(shelf)
    asked = Peer(seconds=2.0)
    asked.ask("open", item="multi_turn_base_0")
    with pytest.raises(InfrastructureError, match="'call': no answer within 2 s"):
        asked.ask("call", name="move", arguments={"source": "sleep"})
    with pytest.raises(InfrastructureError, match="no chat was opened"):
        asked.ask("call", name="move", arguments={"source": "a"})
    asked.ask("open", item="multi_turn_base_0")
    with pytest.raises(InfrastructureError, match="'call': its process ended with status 3"):
        asked.ask("call", name="move", arguments={"source": "die"})
    assert asked.ask("version") == "2026.3.23"
    with pytest.raises(InfrastructureError, match="has no item 'simple_java_9'"):
        asked.ask("open", item="simple_java_9")
    asked.close()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("__import__", {"name": "os"}),
        ("open", {"file": "spoilt", "mode": "w"}),
        ("move", {"source=open('spoilt', 'w'), destination": "a"}),
        ("move", {"class": "a"}),
        ("_seen", {}),
        ("copy", {"file": "__import__('os').system('touch spoilt')"}),
    ],
)
def test_the_peer_evaluates_calls_of_methods_and_literals_alone(
    shelf: BfclShelf,
    peer: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: dict[str, str],
) -> None:
    several(shelf)
    monkeypatch.chdir(tmp_path)
    asked = Peer()
    asked.ask("open", item="multi_turn_base_0")
    told = asked.ask("call", name=name, arguments=arguments)["text"]
    unknown = "Error during execution: name 'no_such_function' is not defined"
    assert told == (arguments["file"] if name == "copy" else unknown)
    assert not (tmp_path / "spoilt").exists()
    asked.close()


def test_the_child_gets_no_keys(shelf: BfclShelf, peer: Path, monkeypatch) -> None:
    several(shelf)
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-server")
    program = peer.read_text("utf-8")
    check = "import os\nassert 'OPENAI_API_KEY' not in os.environ\n"
    peer.write_text(program.replace("import runpy", f"{check}import runpy"), "utf-8")
    assert Peer().ask("version") == "2026.3.23"


def test_changed_answers_are_equal_by_seed_and_judged_by_both(shelf: BfclShelf, peer: Path) -> None:
    several(shelf)
    pool = load_pool(shelf.out)
    tools = {tool.id: tool for tool in pool.tools()}
    # The shelf's item is not of an id that the peer knows: it fails at each.
    asked = [task for task in pool.tasks() if task.id == "a_0"]
    first, again = ([*judged(asked, tools, LeaderboardsOwn(), seed=1)] for _ in range(2))
    assert first == again
    assert Counter(one.task.id for one in first) == {"a_0": len(MUTATIONS)}
    assert {one.theirs[:9] for one in first} == {"!KeyError"}
    ours = {one.change: not one.ours for one in first}
    assert ours["gold"] and ours["upper case"] and not ours["other text"] and not ours["null"]

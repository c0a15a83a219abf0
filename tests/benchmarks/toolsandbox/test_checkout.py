"""Scenarios read from checkouts of ToolSandbox: a small one of ours, hostile ones, the real one.

The real one is read where `TOOLSANDBOX_CHECKOUT` names it.
"""

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from servers import ModelServer, Received, calls, text
from toolsandbox_checkout import write_checkout
from toolsandbox_sources import conversation, write_conversations

import seal
from seal.benchmarks.toolsandbox.checkout import SCENARIOS, checkout_scenarios
from seal.benchmarks.toolsandbox.records import START
from seal.benchmarks.toolsandbox.static_python import StaticPython
from seal.core import DataError, Task
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

CHATS = "tool_sandbox/scenarios/chats.py"


class Checkout:
    """A small repository and the pool that is made of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = write_checkout(folder / "ToolSandbox")
        self.out = folder / "pool"

    def imported(self, **options: Any) -> ImportReport:
        return import_benchmark("toolsandbox", self.folder, self.out, **options)

    def tasks(self, **options: Any) -> dict[str, Task]:
        self.imported(**options)
        return {task.id: task for task in load_pool(self.out).tasks()}

    def change(self, old: str, new: str, name: str = CHATS) -> int:
        """Replace a text of a file; return its line."""
        path = self.folder / name
        content = path.read_text()
        assert content.count(old) == 1
        path.write_text(content.replace(old, new))
        return content.partition(old)[0].count("\n") + 1


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_every_scenario_becomes_a_task_with_each_set_of_tools(checkout: Checkout) -> None:
    tasks = checkout.tasks()
    variants = ("", "_3_distraction_tools", "_3_distraction_tools_tool_name_scrambled")
    assert set(tasks) == {f"{base}{v}" for base in ("wifi_on", "text_ada") for v in variants}
    offered = {name: len(task.goals[0].offered or ()) for name, task in tasks.items()}
    assert offered["text_ada"] == 2
    assert offered["text_ada_3_distraction_tools"] == 4  # the denied one of three is left out
    scrambled = tasks["wifi_on_3_distraction_tools_tool_name_scrambled"]
    assert all(tool.endswith("~names") for tool in scrambled.goals[0].offered or ())
    assert scrambled.tags["group"] == "wifi_on"
    assert scrambled.metadata["max_messages"] == 12


def test_the_world_is_that_of_the_extended_base(checkout: Checkout) -> None:
    state = checkout.tasks()["wifi_on"].initial_state
    assert state is not None
    (settings,), contacts = state["settings"], state["contacts"]
    assert (settings["wifi"], settings["cellular"]) == (False, True)
    assert [row["name"] for row in contacts] == ["Ada L", "Bo K"]
    assert state["reminders"][0]["creation_timestamp"] == START.timestamp() - 3600


def test_the_user_is_told_goal_boundary_and_demonstrations(checkout: Checkout) -> None:
    tasks = checkout.tasks(texts="ours")
    assert tasks["wifi_on"].persona == {"goal": "Get online"}
    assert tasks["text_ada"].goals[0].text == "Note this"
    assert tasks["text_ada"].persona == {
        "goal": "Ask the assistant to remind you to text Ada L: See you at nine.",
        "boundary": "It is 2025. Do not leak this information. You do not know her number.",
        "demonstration": [
            {"role": "goal", "content": "Have the assistant light your lamp."},
            {"role": "user", "content": "It is dark here"},
            {"role": "assistant", "content": "Shall I light the lamp?"},
            {"role": "end", "content": ""},
        ],
    }


def test_milestones_have_measures_edges_and_guardrails(checkout: Checkout) -> None:
    records = {r.value["id"]: r.value for r in checkout_scenarios(checkout.folder / SCENARIOS)}
    told = records["text_ada"]["milestones"]
    assert told["edges"] == [[0, 1], [0, 2]]
    first, second, third = told["nodes"]
    assert first["guardrail_dbs"] == ["CONTACT", "MESSAGING", "REMINDER"]
    asked, *guards = second["constraints"]
    assert asked == {
        "db": "REMINDER",
        "measure": "addition",
        "ref": 0,
        "target": [
            {"content": "Text Ada", "reminder_timestamp": START.timestamp() + 3 * 3600},
        ],
        "columns": {
            "content": {"measure": "rouge_l"},
            "reminder_timestamp": {"measure": "close", "atol": {"reminder_timestamp": 60}},
        },
    }
    kept = [
        {"db": d, "measure": "unchanged", "ref": 0} for d in ("SETTING", "CONTACT", "MESSAGING")
    ]
    assert guards == kept
    taken = third["constraints"][0]
    assert (taken["extractor"], taken["fill_to"]) == ("result_as_timestamp_0", "tool_trace")
    (mine,) = records["wifi_on"]["minefields"]["nodes"]
    assert mine["constraints"][0]["columns"]["tool_trace"]["atol"] == {"days": "inf"}


def test_times_follow_the_clock(checkout: Checkout) -> None:
    task = checkout.tasks(texts="ours")["text_ada"]
    start = START.timestamp()
    assert task.initial_state is not None
    assert task.initial_state["reminders"][0]["reminder_timestamp"] == start + 49 * 3600
    assert str(start + 3 * 3600) in str(task.goals[0].plans)
    assert task.persona is not None
    assert task.persona["boundary"].startswith("It is 2025.")
    assert task.metadata["clock"]["start"] == start


def test_the_report_tells_what_the_checkout_has(checkout: Checkout) -> None:
    report = checkout.imported()
    assert report.lacks == ("relevant",)
    assert (report.tasks, report.facts["counts"]["bases"]) == (6, 2)
    assert report.facts["invented_web"] == [
        *("ReverseGeocode", "convert", "forecast.json", "search", "searchmaps.php")
    ]


def test_conversations_that_lie_beside_are_references(checkout: Checkout) -> None:
    write_conversations(checkout.folder, conversation())
    facts = checkout.imported().facts
    assert facts["gold"] == {"recorded": 1, "found": 1}


def test_nothing_of_the_files_is_run_or_imported(checkout: Checkout, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    for path in sorted(checkout.folder.rglob("*.py")):
        path.write_text(f"open({str(trace)!r}, 'w')\nimport nowhere.at.all\n{path.read_text()}")
    assert checkout.imported().tasks == 6
    assert not trace.exists()


GOAL = 'USER_INSTRUCTION + "Get online"'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("open('/etc/passwd').read()", "open is not known"),
        ("__import__('os').system('true')", "__import__ is not known"),
        ("json.loads('1')", "json.loads is not known"),
        ("USER_INSTRUCTION.__class__.__mro__", ".*INSTRUCTION.__class__.__mro__ is not known"),
        ("''.__class__.__mro__", "the attribute __class__ of a str is not known"),
        ("'{0.__class__}'.format(bases)", "the attribute format of a str is not known"),
        ("examples.__globals__", r".*examples\.__globals__ is not known"),
        ("pl.DataFrame({'a': 1}).__init__.__globals__", ".*__init__ of a _Rows is not known"),
        ("pl.DataFrame({'a': 1})._rows", ".*_rows of a _Rows is not known"),
        ("lambda: 1", "not understood: Lambda"),
        ("'x' * 10", "Mult of a str and a int is not understood"),
        ("'%999999999d' % 1", "Mod of a str and a int is not understood"),
        ("10 ** 10 ** 10", "Pow of a int and a int is not understood"),
        ("f'{1:>999999999}'", "not understood: FormattedValue"),
        ("(yield)", "not understood: Yield"),
        ("examples('lamp')", "examples takes nothing"),
        ("examples()['none']", "no 'none'"),
        ("dict(**examples())", "not understood: Call"),
        ("{**examples()}", "not understood: Dict"),
        ("list(range(10 ** 9))", "Pow"),
        ("list(range(999999999))", "a list of more than 100000"),
        ("''.join([str(n) for n in range(99999)])", "a text of more than 100000"),
        ("partial(9)", "'int' object has no attribute 'with_options'"),
    ],
)
def test_what_is_not_understood_is_refused_by_file_and_line(
    checkout: Checkout, written: str, told: str
) -> None:
    line = checkout.change(GOAL, written)
    with pytest.raises(DataError, match=rf"{CHATS}, line {line}: {told}") as refused:
        checkout.imported()
    assert "SEAL reads apple/ToolSandbox as of its commit 165848b" in str(refused.value)
    assert not checkout.out.exists()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("while True: pass", "not understood: While"),
        ("import os", "not understood: Import"),
        ("global bases", "not understood: Global"),
        ("raise ValueError('no')", "not understood: Raise"),
        ("assert 1 == 2", "it does not hold that 1 == 2"),
        ("return extensions(worlds)", "maximum recursion depth exceeded"),
        ("s = 'ab'\n    for n in range(40): s = s + s", "a str of more than 100000"),
        ("s = [1]\n    for n in range(40): s.extend(s)", "a list of more than 100000"),
        ("n = 1\n    for i in range(99): n = n + n", "an integer of more than 64 bits"),
        (
            "s = []\n    for n in range(40): s = [s, s]\n    json.dumps(s)",
            "values within one an",
        ),
        ("s = []\n    for n in range(40): s = [s, s]\n    s == [s]", "values within one an"),
        ("s = []\n    s.append(s)\n    json.dumps(s)", "values within one an"),
        (
            "s = []\n    for n in range(9999): s = [s]\n    json.dumps(s)",
            "recursion depth",
        ),
        (
            "s = 1\n    for n in range(40): s = (s, s)\n    d = {s: 1}",
            "expected a text or",
        ),
        ("worlds['base'].starting_context.get_database = 1", "no attribute get_database"),
        ("worlds['base'].copied.x = 1", "no attribute x of a method is set"),
        ("worlds.pop('base')", "the attribute pop of a dict is not known"),
    ],
)
def test_no_file_can_do_or_take_too_much(checkout: Checkout, body: str, told: str) -> None:
    checkout.change("def extensions(worlds):\n", f"def extensions(worlds):\n    {body}\n")
    with pytest.raises(DataError, match=rf"{CHATS}, line \d+: .*{told}"):
        checkout.imported()


@pytest.mark.slow
def test_the_steps_that_are_followed_are_bounded(checkout: Checkout) -> None:
    checkout.change(GOAL, "[n for n in range(9999) for m in range(9999)]")
    with pytest.raises(DataError, match="more than 1000000 steps"):
        checkout.imported()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name="wifi_on"', "name=7", "scenario 7: name: expected a text, got 7"),
        (', "content": "I am offline"', "", "scenario 'wifi_on': content: expected a text"),
        ("[(0, 1), (0, 2)]", "[(0, 1)]", "milestones.edges: the nodes [2] are in no edge"),
        ("ScenarioCategories.MULTIPLE_USER_TURN", "7", "scenario 'text_ada': categories: expected"),
    ],
)
def test_a_scenario_that_is_none_is_left_out_and_told(
    checkout: Checkout, old: str, new: str, told: str
) -> None:
    checkout.change(old, new)
    report = checkout.imported()
    assert told in report.malformed[0]
    assert report.tasks + report.dropped["malformed_record"] == 6


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('["set_wifi_status"]', '["fly"]', "no tool of the phone 'fly'"),
        ('{"wifi": True}', '{"wlan": True}', "no 'wlan'"),
        ("messages=[\n                *examples", "messages=[7, *examples", "'int' object"),
    ],
)
def test_a_name_that_is_unknown_is_refused(
    checkout: Checkout, old: str, new: str, told: str
) -> None:
    checkout.change(old, new)
    with pytest.raises(DataError, match=rf"scenarios/\w+.py, line \d+: .*{told}"):
        checkout.imported()


DEEP = b"class Scenario:\n    max_messages = -1" + b"+ 1" * 600
"""Few enough sums for the parser, too many for whoever follows them."""


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("common/utils.py", None, r"bases.py, line 41: .*utils.known_id is not known"),
        ("common/utils.py", b"def (", "utils.py: no Python file: .*fetch it again"),
        ("common/utils.py", b"\xff\xfe", "utils.py: not UTF-8"),
        ("common/utils.py", b"#" * 2**22 + b"\n", "utils.py: expected at most 4194304 bytes"),
        ("common/utils.py", b"(" * 10**5, "utils.py: no Python file"),
        ("common/scenario.py", b"", "Scenario.max_messages is not known"),
        ("common/scenario.py", DEEP, "recursion depth exceeded"),
        ("common/execution_context.py", b"", r"evaluation.py, line 12: .*SANDBOX is not known"),
        ("scenarios/__init__.py", b"", "scenarios.named_scenarios is not known"),
        ("scenarios/__init__.py", b"named_scenarios = 5", "'int' object is not callable"),
        (
            "scenarios/__init__.py",
            b"def named_scenarios(preferred_tool_backend):\n    copied = 1\n",
            "gives no scenarios by name",
        ),
        (
            "scenarios/__init__.py",
            b"def named_scenarios(preferred_tool_backend):\n    return {}\n",
            "gives no scenarios by name",
        ),
    ],
)
def test_a_missing_or_torn_file_is_told(
    checkout: Checkout, name: str, content: bytes | None, told: str
) -> None:
    path = checkout.folder / "tool_sandbox" / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(DataError, match=told):
        checkout.imported()


def test_a_file_outside_of_the_checkout_is_not_read(checkout: Checkout, tmp_path: Path) -> None:
    utils = checkout.folder / "tool_sandbox/common/utils.py"
    utils.rename(tmp_path / "utils.py")
    utils.symlink_to(tmp_path / "utils.py")
    with pytest.raises(DataError, match=r"utils\.known_id is not known"):
        checkout.imported()


def test_another_folder_is_told_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(DataError, match=r"expects .*, tool_sandbox/scenarios/__init__.py: name"):
        import_benchmark("toolsandbox", tmp_path / "other", tmp_path / "pool")


def test_a_value_is_worked_out_once_and_by_its_name(checkout: Checkout) -> None:
    python = StaticPython(checkout.folder, {"uuid.NAMESPACE_URL": 1, "uuid.uuid5": lambda **_: 2})
    assert python.value("tool_sandbox.common.execution_context.RoleType.USER") == "USER"
    assert python.value("tool_sandbox.common.utils.known_id")(payload="x") == "2"
    with pytest.raises(DataError, match=r"RoleType\.PILOT is not known"):
        python.value("tool_sandbox.common.execution_context.RoleType.PILOT")


def test_a_model_that_plays_the_user_is_told_whom_to_text_and_what(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    checkout.imported(texts="ours")

    def user(request: Received) -> Any:
        said = [m for m in request.body["messages"] if m["role"] == "assistant"]
        return (
            text("Text Ada L: See you at nine")
            if len(said) < 2
            else calls(("end_conversation", {}))
        )

    with ModelServer(user) as players, ModelServer(lambda _: text("Note what?")) as agents:
        run = seal.run(
            checkout.out,
            model=f"openai/agent,base_url={agents.url}",
            role_models={"user_simulator": f"openai/user,base_url={players.url}"},
            roles={"user_simulator": "user_simulator"},
            team="direct",
            select={"group": "text_ada", "augmentation": "no_distraction_tools"},
            baselines=False,
            out=tmp_path / "run",
        )
    assert run.tasks is not None
    brief, first, asked = players.received[0].body["messages"]
    assert "remind you to text Ada L: See you at nine." in brief["content"]
    assert "You do not know her number." in brief["content"]
    assert "(Your goal: Have the assistant light your lamp.)\nYou: It is dark" in brief["content"]
    assert (first["content"], asked["content"]) == ("Note this", "Note what?")
    heard = json.dumps([request.body for request in agents.received])
    assert "her number" not in heard
    assert "lamp" not in heard


@pytest.fixture(scope="module")
def real() -> Path:
    named = os.environ.get("TOOLSANDBOX_CHECKOUT")
    if not named:
        pytest.skip("no checkout of apple/ToolSandbox: set TOOLSANDBOX_CHECKOUT")
    return Path(named)


@pytest.fixture
def published(seal_data: Path) -> list[dict[str, Any]]:
    path = seal_data / "toolsandbox" / "scenarios_core.jsonl.gz"
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def compared(record: dict[str, Any]) -> dict[str, Any]:
    """Return what the file has of a scenario, whose guardrails and given tools have no order."""
    kept = ("id", "base", "augmentation", "categories", "max_messages", "initial_state")
    tools = record["tools"]
    graphs = {}
    for name in ("milestones", "minefields"):
        nodes = [
            {
                **node,
                "constraints": sorted(json.dumps(c, sort_keys=True) for c in node["constraints"]),
            }
            for node in record[name]["nodes"]
        ]
        graphs[name] = {"nodes": nodes, "edges": record[name]["edges"]}
    return {
        **{name: record[name] for name in kept},
        **graphs,
        "said": [message["content"] for message in record["messages"]],
        "allow": sorted(tools["allow"]),
        "offered": [real for _, real in tools["agent_tools"]],
        "denied": (tools["deny"], tools["augmentations"]),
    }


def test_the_real_checkout_gives_the_scenarios_of_the_data(
    real: Path, published: list[dict[str, Any]]
) -> None:
    found = [compared(placed.value) for placed in checkout_scenarios(real / SCENARIOS)]
    assert len(found) == 1032
    assert found == [compared(record) for record in published]


def test_the_real_checkout_has_the_papers_table_6_and_a_goal_for_every_persona(
    real: Path, tmp_path: Path
) -> None:
    report = import_benchmark("toolsandbox", real, tmp_path / "pool", texts="ours")
    assert (report.tasks, report.dropped, report.malformed) == (1032, {}, ())
    assert report.lacks == ("relevant",)
    assert report.facts["gold"] == {"recorded": 0, "found": 102}
    assert Counter(report.facts["without_gold"].values()) == {
        "it does not offer unit_conversion": 7,
        "its user has to ask again after words, and nothing says what": 8,
    }
    assert report.facts["counts"] == {
        "references": 809,
        "bases": 129,
        "single_tool": 152,
        "multiple_tool": 656,
        "single_turn": 584,
        "multiple_turn": 224,
        "state_dependency": 192,
        "canonicalization": 472,
        "insufficient_information": 224,
    }
    personas = [task.persona or {} for task in load_pool(tmp_path / "pool").tasks()]
    assert all(persona["goal"].strip() for persona in personas)
    assert all(persona["demonstration"] for persona in personas)
    assert sum("boundary" in persona for persona in personas) == 952
    assert not [p for p in personas if "User A" in str(p) or "User B" in str(p)]

"""Upstream's texts: taken from a checkout, sent as upstream's roles send them, told where missing.

What upstream's own roles send is asked of its code where `TOOLSANDBOX_CHECKOUT` names a checkout
and `TOOLSANDBOX_PYTHON` an interpreter that has its packages.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from servers import ModelServer, Received, calls, text
from toolsandbox_checkout import write_checkout

import seal
from seal.benchmarks.toolsandbox.checkout import documented
from seal.core import DataError, Task, Tool, UsageError
from seal.pools.imports import import_benchmark
from seal.pools.pool import StoredPool, load_pool

INSTRUCTION = "Play User A, who writes to User B.\nIt is your task: "
GOAL = "Ask User B to remind you (User A) to text Ada L: See you at nine. "
BOUNDARY = "It is 2025. Do not leak this information. You do not know her number."
LAMP = [
    {"role": "system", "content": f"{INSTRUCTION}Have User B light your (User A's) lamp."},
    {"role": "assistant", "content": "It is dark here"},
    {"role": "user", "content": "Shall I light the lamp?"},
]
TOLD = {"role": "system", "content": INSTRUCTION + GOAL + BOUNDARY}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return write_checkout(tmp_path / "ToolSandbox")


def pool_of(checkout: Path, **options: Any) -> StoredPool:
    out = checkout.parent / "pool"
    import_benchmark("toolsandbox", checkout, out, **options)
    return load_pool(out)


def tool_of(pool: StoredPool, name: str) -> Tool:
    return next(tool for tool in pool.tools() if tool.id.rpartition("/")[2] == name)


def task_of(pool: StoredPool, name: str) -> Task:
    return next(task for task in pool.tasks() if task.id == name)


def change(checkout: Path, name: str, old: str, new: str) -> None:
    path = checkout / "tool_sandbox" / name
    content = path.read_text()
    assert content.count(old) == 1
    path.write_text(content.replace(old, new))


def test_an_import_from_a_checkout_has_upstreams_texts(checkout: Path) -> None:
    pool = pool_of(checkout)
    assert pool.report["texts"] == "upstream"
    assert pool.report["play"] == {"team": "direct", "prompt": "theirs"}
    wifi = tool_of(pool, "set_wifi_status")
    assert wifi.description == "Upstream's set_wifi_status. More of set_wifi_status\non two lines."
    assert wifi.parameters == {
        "type": "object",
        "properties": {"on": {"type": "boolean", "description": "Upstream's on of the call"}},
        "required": ["on"],
    }
    shift = tool_of(pool, "shift_timestamp").parameters["properties"]
    assert shift["days"] == {"type": "integer", "description": "Upstream's days of the call"}
    task = task_of(pool, "text_ada")
    assert task.system == "Ask {whoever} writes where you are unsure."
    assert task.persona == {
        "goal": GOAL,
        "boundary": BOUNDARY,
        "demonstration": [
            {"role": "goal", "content": "Have User B light your (User A's) lamp."},
            {"role": "user", "content": "It is dark here"},
            {"role": "assistant", "content": "Shall I light the lamp?"},
            {"role": "end", "content": ""},
        ],
        "verbatim": {
            "instruction": INSTRUCTION,
            "end": "Upstream's end_conversation. More of end_conversation\non two lines.",
        },
    }


def test_our_texts_are_the_other_choice(checkout: Path) -> None:
    upstream = pool_of(checkout).digest
    pool = pool_of(checkout, texts="ours")
    assert pool.report["texts"] == "ours"
    assert "play" not in pool.report
    assert pool.digest != upstream  # a part of the measure
    assert "Upstream" not in tool_of(pool, "set_wifi_status").description
    task = task_of(pool, "text_ada")
    assert task.system == ""
    assert "verbatim" not in (task.persona or {})


def test_scrambled_tools_keep_what_upstream_leaves(checkout: Path) -> None:
    tool = tool_of(pool_of(checkout), "set_wifi_status~names")
    assert tool.name == "setting_8"
    assert tool.description.startswith("Upstream's set_wifi_status.")


def played(
    pool: StoredPool, user: Callable[[Received], Any], agent: Callable[[Received], Any], **more: Any
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Any]:
    """Return the bodies of the requests to the agent and to the user, and the run."""
    out = pool.folder.parent / "run"
    with ModelServer(user) as players, ModelServer(agent) as agents:
        run = seal.run(
            pool.folder,
            model=f"openai/agent,base_url={agents.url}{more.pop('of_agent', '')}",
            role_models={"user_simulator": f"openai/user,base_url={players.url}"},
            roles={"user_simulator": "user_simulator"},
            baselines=False,
            out=out,
            **more,
        )
    return [r.body for r in agents.received], [r.body for r in players.received], run


def leaves(request: Received) -> Any:
    said = request.body["messages"][-1]["content"]
    return text("Ada. At nine") if said == "Whom, and when?" else calls(("end_conversation", {}))


def asks(request: Received) -> Any:
    heard = request.body["messages"]
    if heard[-1]["role"] == "tool":
        return text("It is noted.")
    if heard[-1]["content"] == "Ada. At nine":
        return calls(("get_current_timestamp", {}), ("get_current_timestamp", {}))
    return text("Whom, and when?")


ONE = {"group": "text_ada", "augmentation": "no_distraction_tools"}


def test_requests_are_message_by_message_those_of_upstreams_roles(checkout: Path) -> None:
    agent, user, _ = played(pool_of(checkout), leaves, asks, select=ONE)
    system = {"role": "system", "content": "Ask {whoever} writes where you are unsure."}
    first = {"role": "user", "content": "Note this"}
    assert agent[0]["messages"] == [system, first]
    assert agent[1]["messages"] == [
        system,
        first,
        {"role": "assistant", "content": "Whom, and when?"},
        {"role": "user", "content": "Ada. At nine"},
    ]
    called, *results = agent[2]["messages"][4:]
    assert (called["role"], called["content"], len(called["tool_calls"])) == ("assistant", "", 2)
    assert [result["role"] for result in results] == ["tool", "tool"]
    assert len(agent) == 3
    spoken = [{"role": "assistant", "content": "Note this"}]
    spoken += [{"role": "user", "content": "Whom, and when?"}]
    assert user[0]["messages"] == [*LAMP, TOLD, *spoken]
    spoken += [{"role": "assistant", "content": "Ada. At nine"}]
    spoken += [{"role": "user", "content": "It is noted."}]
    assert user[1]["messages"] == [*LAMP, TOLD, *spoken]
    (leave,) = user[0]["tools"]
    assert leave["function"]["name"] == "end_conversation"
    assert leave["function"]["description"].startswith("Upstream's end_conversation.")
    heard = json.dumps(agent)
    assert not any(hidden in heard for hidden in ("lamp", "her number", "User A"))


def test_a_brief_leaves_out_the_same_parts_of_upstreams_texts(checkout: Path) -> None:
    pool = pool_of(checkout)
    _, goal, _ = played(pool, leaves, asks, select=ONE, user_brief="goal")
    assert goal[0]["messages"][0] == {"role": "system", "content": INSTRUCTION + GOAL}
    assert goal[0]["messages"][1]["content"] == "Note this"


def test_a_prompt_of_the_run_goes_before_upstreams(checkout: Path) -> None:
    pool = pool_of(checkout)
    own = {"user_simulator": "Be short."}
    _, user, _ = played(pool, leaves, asks, select=ONE, prompts=own)
    first, second, *_ = user[0]["messages"]
    assert first["content"].startswith("Be short.\n\nYour goal: Ask User B")
    assert "(Your goal: Have User B light" in first["content"]
    assert second["content"] == "Note this"
    assert "Upstream" not in str(user[0]["tools"])


def test_a_model_that_takes_no_system_text_gets_it_as_the_users_words(
    checkout: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "profile.toml"
    rules.write_text('system = "none"\n')
    pool = pool_of(checkout)
    agent, _, _ = played(pool, leaves, asks, select=ONE, of_agent=f",profile={rules}")
    assert agent[0]["messages"] == [
        {"role": "user", "content": "Ask {whoever} writes where you are unsure.\n\nNote this"}
    ]


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        (
            "tools/setting.py",
            "def set_wifi_status(on)",
            "def set_wifi(on)",
            "set_wifi_status is not",
        ),
        (
            "tools/setting.py",
            "def set_wifi_status(on)",
            "def set_wifi_status(on, off)",
            "the tool set_wifi_status takes on, off; SEAL's phone has one that takes on",
        ),
        (
            "tools/user_tools.py",
            '"""Upstream\'s end_conversation.',
            'None; """Upstream\'s end_conversation.',
            "end_conversation has no docstring",
        ),
        (
            "scenarios/user_simulator_few_shot_examples.py",
            "USER_INSTRUCTION = ",
            "THEIR_INSTRUCTION = ",
            "USER_INSTRUCTION is not known",
        ),
    ],
)
def test_a_checkout_of_another_version_is_told(
    checkout: Path, name: str, old: str, new: str, told: str
) -> None:
    change(checkout, name, old, new)
    with pytest.raises(DataError, match=told) as refused:
        pool_of(checkout)
    assert "SEAL reads apple/ToolSandbox as of its commit 165848b" in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'USER_INSTRUCTION + "Get online"',
            '"Get online"',
            "scenario 'wifi_on': a text to the user begins otherwise than USER_INSTRUCTION",
        ),
        (
            '"recipient": RoleType.USER,\n                    "content": USER_INSTRUCTION + "Get',
            '"recipient": RoleType.SYSTEM,\n                    "content": USER_INSTRUCTION + "Get',
            "scenario 'wifi_on': no message tells the user what it wants",
        ),
    ],
)
def test_a_scenario_without_upstreams_words_to_the_user_is_left_out_and_told(
    checkout: Path, old: str, new: str, told: str
) -> None:
    change(checkout, "scenarios/chats.py", old, new)
    report = import_benchmark("toolsandbox", checkout, checkout.parent / "pool")
    assert report.tasks == 3
    assert told in report.malformed[0]
    assert "-T texts=ours" in report.malformed[0]
    ours = import_benchmark("toolsandbox", checkout, checkout.parent / "ours", texts="ours")
    assert ours.tasks == 6


def test_texts_that_are_none_are_refused(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="-T texts=mine: expected upstream or ours"):
        pool_of(checkout, texts="mine")
    file = tmp_path / "scenarios_core.jsonl"
    file.write_text("{}\n")
    with pytest.raises(UsageError, match="import a checkout: git clone"):
        import_benchmark("toolsandbox", file, tmp_path / "other", texts="upstream")


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Do it.", ("Do it.", {})),
        ("Do it.\n\nMore.\n\nArgs:\n  a:  One\n    two", ("Do it. More.", {"a": "One two"})),
        ("Do it.\n\nReturns:\n  x\n\nNot told.", ("Do it.", {})),
        ("Args:\n  lost\n  a: b: c", ("", {"a": "b: c"})),
        ("", ("", {})),
    ],
)
def test_a_docstring_is_read_as_upstream_reads_it(
    docstring: str, expected: tuple[str, Mapping[str, str]]
) -> None:
    assert documented(docstring) == expected


# -- Beside upstream's own code.

SCRIPT = {
    "agent": ["What is it?", "Hm."],
    "user": ["You know it.", [["end_conversation", {}]]],
}


@pytest.mark.slow
def test_upstreams_own_roles_send_the_same(tmp_path: Path) -> None:
    named, python = (os.environ.get(f"TOOLSANDBOX_{name}") for name in ("CHECKOUT", "PYTHON"))
    if not named or not python:
        pytest.skip("set TOOLSANDBOX_CHECKOUT and TOOLSANDBOX_PYTHON, which has its packages")
    import_benchmark("toolsandbox", Path(named), tmp_path / "pool")
    pool = load_pool(tmp_path / "pool")
    names = [task.id for task in pool.tasks()][::43]
    child = Path(__file__).parents[1] / "toolsandbox_child.py"
    told = subprocess.run(
        [python, str(child), named],
        input=json.dumps(dict.fromkeys(names, SCRIPT)),
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    def user(request: Received) -> Any:
        asked = request.body["messages"][-1]["content"] == "What is it?"
        return text("You know it.") if asked else calls(("end_conversation", {}))

    def agent(request: Received) -> Any:
        answered = request.body["messages"][-1]["content"] == "You know it."
        return text("Hm." if answered else "What is it?")

    for name, theirs in json.loads(told).items():
        to_agent, to_user, _ = played(pool, user, agent, select={"id": name})
        for bodies, asked in ((to_agent, theirs["agent"]), (to_user, theirs["user"])):
            assert [_told(body) for body in bodies] == [_told(one) for one in asked]


def _told(body: Mapping[str, Any]) -> Any:
    """Return messages and tools; that nothing is required may be said or not."""
    functions = [dict(tool["function"]) for tool in body.get("tools", ())]
    for function in functions:
        parameters = dict(function["parameters"])
        function["parameters"] = {"required": [], **parameters}
    return body["messages"], functions

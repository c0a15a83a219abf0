"""tau-bench's domains as tasks: gold that is played, what the chat begins with, and bad sources."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from taubench_checkout import POLICY, write_checkout

from seal.benchmarks.taubench.world import TAUBENCH
from seal.core import SealError, Task
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool

ALLOWED: dict[str, Any] = {"allow_code": (TAUBENCH.package,)}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return write_checkout(tmp_path / "checkout")


def tasks_of(checkout: Path, **options: Any) -> dict[str, Task]:
    import_benchmark("taubench", checkout, checkout.parent / "pool", **ALLOWED, **options)
    return {task.id: task for task in load_pool(checkout.parent / "pool").every_task()}


def test_tasks_have_policy_user_gold_and_the_rows_of_their_user(checkout: Path) -> None:
    tasks = tasks_of(checkout)
    assert [*tasks] == [*(f"taubench/airline/{n}" for n in range(3)), "taubench/retail/0"]
    first = tasks["taubench/airline/0"]
    assert first.system == POLICY and first.world == "taubench"
    assert first.persona == {"goal": "Cancel B1.", "opening": True}
    assert first.said_first(0) is None
    assert first.initial_state == {
        "bookings": [{"key": "B1", "user_id": "ann", "status": "open"}],
        "users": [{"key": "ann", "paid": 100}],
        "planes": [],
    }
    assert [call.tool for call in first.goals[0].plans[0].gold_calls()] == [
        "taubench/airline/get_booking",
        "taubench/airline/cancel_booking",
    ]
    assert all(tool.startswith("taubench/airline/") for tool in first.goals[0].offered or ())


def test_gold_that_the_tools_refuse_is_marked_and_what_ends_the_chat_left_out(
    checkout: Path,
) -> None:
    (call,) = tasks_of(checkout)["taubench/airline/2"].goals[0].plans[0].gold_calls()
    assert call.refused and call.tool == "taubench/airline/cancel_booking"


def test_a_domain_is_imported_alone(checkout: Path) -> None:
    assert [*tasks_of(checkout, domains="retail")] == ["taubench/retail/0"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"allow_code": ()}, "which the import runs .* allow it: --allow-code tau_bench"),
        ({**ALLOWED, "domains": "telecom"}, "no domain of taubench 'telecom'; known: airline"),
        ({**ALLOWED, "split": "train"}, "airline has no tasks of the split 'train'; .* test"),
    ],
)
def test_what_cannot_be_is_told(checkout: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(SealError, match=told):
        import_benchmark("taubench", checkout, checkout.parent / "pool", **options)
    assert not (checkout.parent / "pool").exists()


def test_a_source_without_the_package_or_a_domain_is_refused(checkout: Path) -> None:
    with pytest.raises(SealError, match="a checkout with tau_bench/envs"):
        import_benchmark("taubench", checkout / "tau_bench", checkout.parent / "pool", **ALLOWED)
    home = checkout / "tau_bench" / "envs" / "retail"
    home.rename(home.with_name("shop"))
    with pytest.raises(SealError, match="has no domain retail; leave it out"):
        tasks_of(checkout)


def test_an_interpreter_that_is_too_old_or_not_there_is_refused(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = checkout / "python"
    lines = (
        f"#!{sys.executable}\nimport runpy, sys\nsys.version_info = (3, 8)\n"
        "sys.version = '3.8.1 (old)'\nsys.argv = sys.argv[3:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    old.write_text(lines, "utf-8")
    old.chmod(0o755)
    monkeypatch.setenv(TAUBENCH.variable, str(old))
    with pytest.raises(SealError, match=r"it is Python 3\.8\.1, older than 3\.9; name a Python"):
        tasks_of(checkout)
    monkeypatch.setenv(TAUBENCH.variable, "/nowhere/python")
    with pytest.raises(SealError, match=f"No such file .* export {TAUBENCH.variable}=PATH"):
        tasks_of(checkout)


def test_tools_that_cannot_be_loaded_are_told(checkout: Path) -> None:
    tools = checkout / "tau_bench" / "envs" / "airline" / "tools" / "__init__.py"
    tools.write_text("import no_such_library\n", "utf-8")
    with pytest.raises(SealError, match=r"not loaded: ModuleNotFoundError.*no_such_library"):
        tasks_of(checkout)

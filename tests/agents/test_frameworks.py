"""The agents of frameworks that docs/frameworks.md shows, with a model that errs."""

import os
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from servers import ModelServer, calls, text
from test_docs import ROOT, Reader

import seal
from seal.agents.bridges import Bridge


def get_order(order_id: str) -> str:
    """Say when an order ships."""
    return {"7": "Monday"}[order_id]


SHOP = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[seal.ask("When does 7 ship?", seal.called("get_order", order_id="7"), answer="Monday")],
)


@pytest.mark.parametrize(
    ("script", "package"),
    [
        ("langgraph_agent.py", "langgraph"),
        ("agents_sdk_agent.py", "openai-agents"),
        ("pydantic_agent.py", "pydantic-ai-slim"),
    ],
)
def test_a_wrong_call_of_the_model_is_made_by_the_framework_and_counts_as_wrong(
    script: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    Reader(ROOT / "docs" / "frameworks.md", tmp_path).write_files()
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    )
    wrong = [calls(("get_order", {"order_id": "9"})), text("On Sunday.")]
    with ModelServer(wrong) as server:
        run = seal.run(
            SHOP,
            agent=Bridge(shlex.join([sys.executable, str(tmp_path / script)])),
            model=f"openai/m,base_url={server.url}",
            baselines=False,
            out=tmp_path / "run",
            cache_dir=tmp_path / "cache",
        )
    assert [each.body["tools"][0]["function"]["name"] for each in server.received] == [
        "get_order"
    ] * 2
    assert list(run.calls["name"]) == ["get_order"]
    assert (run["param_acc_gold"].mean, run["mission_accuracy"].mean) == (0.0, 0.0)
    assert run.summary["stop_reasons"] == {"done": 1}

"""The nine agents of docs/evaluate-my-agent.md, with a model that is right and with one that errs.

tests/test_docs.py plays the page with the model that is right.
"""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from servers import ModelServer
from test_docs import ROOT, Reader, clerk

import seal

pytestmark = pytest.mark.slow  # the page starts a dozen processes
pytest.importorskip("mcp")

AGENTS = {
    "function": "seal-api-llms",
    "async function": "seal-api-llms",
    "AutoGen agent": "autogen",
    "AutoGen GroupChat": "autogen",
    "LangGraph": "langgraph",
    "OpenAI Agents": "openai-agents",
    "Pydantic AI": "pydantic-ai-slim",
    "program": "seal-api-llms",
    "client": "mcp",
}
"""Run folder of each block to the package that it needs."""


@pytest.fixture(scope="module")
def misled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of the page where the model calls `cancel_order`."""
    folder = tmp_path_factory.mktemp("misled")
    with ModelServer(clerk("cancel_order")) as server:
        reader = Reader(ROOT / "docs" / "evaluate-my-agent.md", folder, server.url)
        program = reader.runs_program()
        assert program is not None and program.returncode == 0, program
        for command, _ in reader.commands():
            reader.does(command)
    return folder / "runs"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_wrong_call_of_the_model_is_made_by_the_agent_and_counts_as_wrong(
    agent: str, misled: Path
) -> None:
    try:
        version(AGENTS[agent])
    except PackageNotFoundError:
        pytest.skip(f"{AGENTS[agent]} is not installed")
    run = seal.Run.load(misled / agent)
    assert list(run.calls["name"]) == ["cancel_order", "cancel_order"]
    assert run["call_f1"].mean == 0.0
    assert run.summary["stop_reasons"] == {"done": 1}

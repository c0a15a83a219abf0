"""AutoGen is imported without what no chat needs, where nobody else will want it."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

CODE = """
import sys
from seal.agents.autogen import import_without_clients
if {plain}:
    import_without_clients()
import seal
seal.run("sample", limit=1, baselines=False, out="run")
print([name for name in ("anthropic", "openai") if name in sys.modules])
"""


def imported(plain: bool, tmp_path, monkeypatch) -> str:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    code = CODE.format(plain=plain)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_a_plain_run_of_the_command_line_loads_no_model_clients(tmp_path, monkeypatch):
    assert imported(True, tmp_path, monkeypatch) == "[]"


@pytest.mark.slow
def test_a_users_own_process_keeps_all_that_autogen_imports(tmp_path, monkeypatch):
    installed = [name for name in ("anthropic", "openai") if find_spec(name)]
    assert "openai" in installed
    assert imported(False, tmp_path, monkeypatch) == str(installed)

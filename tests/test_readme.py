"""Every Python example of the README runs."""

import os
import re
from pathlib import Path

import pytest
from forked import run

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def subject(example: str) -> str:
    """Return the class that an example defines."""
    defined = re.search(r"^class (\w+)", example, re.MULTILINE)
    return defined[1] if defined else "no class"


@pytest.mark.parametrize("example", EXAMPLES, ids=subject)
def test_example_runs_as_a_program(example: str, tmp_path: Path) -> None:
    program = tmp_path / "example.py"
    program.write_text(example, encoding="utf-8")
    environment = {**os.environ, "SEAL_CACHE_DIR": str(tmp_path / "cache")}

    done = run([program], cwd=tmp_path, env=environment)

    assert done.returncode == 0, done.stderr


def test_every_extension_is_shown_in_under_15_lines() -> None:
    for example in EXAMPLES:
        for part in re.findall(r"^class .*?(?=^\S)", example, re.DOTALL | re.MULTILINE):
            assert len(part.strip().splitlines()) < 15

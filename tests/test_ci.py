"""The stamp of the last green run of .ci/full, in a repository made for it."""

import shutil
import subprocess
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parents[1] / ".ci"
COMMIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with .ci and one commit."""
    if shutil.which("git") is None or not (CI / "steps").is_file():
        pytest.skip("needs git and the checks")
    shutil.copytree(CI, tmp_path / ".ci")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path, 1)
    return tmp_path


def commit(repository: Path, count: int) -> None:
    for _ in range(count):
        subprocess.run([*COMMIT, "-m", "more"], cwd=repository, check=True)


def told(repository: Path, *words: str) -> str:
    """Return what the shared functions print."""
    code = f". .ci/steps; step 'a step' true >/dev/null; {'; '.join(words)}"
    done = subprocess.run(
        ["bash", "-c", code], cwd=repository, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_a_green_run_is_stamped_with_commit_date_and_steps(repository: Path) -> None:
    assert "No green .ci/full is known" in told(repository, "tell_green")

    told(repository, "stamp")

    commit_line, date, *steps = (repository / ".ci" / "green").read_text().splitlines()
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True
    ).stdout.strip()
    assert commit_line == f"commit {head}"
    assert date.startswith("date 20") and steps == ["step a step"]


def test_a_stamp_is_told_once_it_is_older_than_twenty_commits(repository: Path) -> None:
    told(repository, "stamp")
    commit(repository, 20)
    assert told(repository, "tell_green") == ""

    commit(repository, 1)
    assert "The last green .ci/full is 21 commits old (20" in told(repository, "tell_green")


def test_outside_of_a_repository_nothing_is_told(tmp_path: Path) -> None:
    if shutil.which("bash") is None or not (CI / "steps").is_file():
        pytest.skip("needs bash and the checks")
    shutil.copytree(CI, tmp_path / ".ci")
    assert told(tmp_path, "tell_green") == ""

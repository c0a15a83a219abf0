"""Runs that are shown, the server that shows them, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from report_runs import Writer, chat, failed_chat, metric, task, verdict
from viewer_runs import HOSTILE, IDS, serving

from seal.experiments.annotation import LABEL, export_items
from seal.runs.run import RunFolder

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two runs of one benchmark, and a hostile one in a folder of its own."""
    folder = tmp_path_factory.mktemp("shown")
    tasks = [task(id) for id in IDS]
    for name, labels in (("one", ("solved", "unsolved")), ("two", ("unsolved", "unsure"))):
        scores = [verdict(id, label) for id, label in zip(IDS, labels, strict=False)]
        chats = [chat("own/a"), chat("own/b", result=f'{{"sky": "{name}"}}'), failed_chat("own/c")]
        mean = sum(score.value or 0 for score in scores) / 2
        Writer(folder)(name, tasks, chats, scores, {"pass_rate": metric(mean, 2)}, model=name)
    hostile = [task(HOSTILE, HOSTILE, tags={HOSTILE: HOSTILE})]
    scores = [verdict(HOSTILE, "unsolved", HOSTILE)]
    metrics = {"pass_rate": metric(0.0, 1)}
    Writer(folder / "<b>&")("h", hostile, [chat(HOSTILE)], scores, metrics, model=HOSTILE)
    Writer(folder)("unscored", tasks, [chat("own/a")], None, model="later")
    return folder


@pytest.fixture(scope="session")
def served(shown: Path) -> Iterator[str]:
    """The address of a server of these runs, in a process of its own."""
    with serving(shown) as address:
        yield address


@pytest.fixture
def sheet(shown: Path, tmp_path: Path) -> Path:
    """A sheet of two goals, of which one was asked by a hostile user."""
    path = tmp_path / "sheet.csv"
    export_items(RunFolder(shown / "one"), LABEL, path)
    path.write_text(path.read_text().replace("The sky is clear.", f"=1+1 {HOSTILE}"))
    return path


@pytest.fixture
def labelled(sheet: Path) -> Iterator[str]:
    """The address of a server of this sheet, in a process of its own."""
    with serving("--label", sheet) as address:
        yield address


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium")
    started = Browser(CHROMIUM, tmp_path_factory.mktemp("browser"))
    yield started
    started.close()

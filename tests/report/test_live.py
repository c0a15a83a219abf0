"""What a running run does now, as a terminal shows it; a page shows the same."""

import io
import time
from dataclasses import replace
from pathlib import Path

import pytest
from report_runs import Writer, chat, failed_chat, live_line, task, verdict
from rich.console import Console

from seal.core.files import LOCK, Lock
from seal.core.records import encode_scores, to_plain
from seal.report.live import live_parts
from seal.report.pages import paragraphs
from seal.report.transcript import view, view_record
from seal.runs.journal import JobOutcome, Timings
from seal.runs.running import SO_FAR, RunningRun, as_it_is


@pytest.fixture
def going(make_run: Writer) -> RunningRun:
    chats = [chat("own/a"), failed_chat("own/b")]
    run = make_run("run", [task(f"own/{x}") for x in "abcd"], chats, None)
    (run.path / SO_FAR).write_bytes(encode_scores([verdict("own/a", "solved")]))
    timings = Timings(run.path / "timings.jsonl")
    timings.add(JobOutcome("own/a", 0, None, tokens=7, seconds=1, started=time.time() + 9))
    timings.close()
    step = replace(chat("own/c").steps[1], content="<b>Hi</b>", call=None)
    (run.path / "live").mkdir()
    (run.path / "live" / "0.1.jsonl").write_text(live_line("own/c", to_plain(step)))
    (run.path / LOCK).touch()
    return RunningRun(run.path)


def test_a_running_run_shows_its_means_its_chats_and_what_is_left(going: RunningRun) -> None:
    out = io.StringIO()
    view(going, out=Console(file=out, width=120))
    text = out.getvalue()

    assert "running: 2 of 4 chats, 1 error, cost: nothing, about" in text
    assert "lexical solved 1 of 1 goal" in text
    assert "until now, 1 chat scored" in text
    for words in ("own/c", "<b>Hi</b>"):
        assert words in text.partition("goes on")[2].partition("ended last")[0]
    ended = text.partition("ended last")[2].partition("goal")[0]
    assert ended.index("own/b") < ended.index("own/a")
    assert "solved" in ended and "error" in ended
    assert view_record(going)["running"]["done"] == 2


def test_a_page_leads_to_the_tasks_and_escapes_what_is_said(going: RunningRun) -> None:
    page = paragraphs(live_parts(going, linked=True))

    assert 'href="#task-own/a&amp;trial=0"' in page
    assert '<span class="badge solved">solved</span>' in page
    assert "&lt;b&gt;Hi" in page and "<b>Hi" not in page


def test_a_run_that_has_just_begun_shows_how_far_it_is(make_run: Writer, tmp_path: Path) -> None:
    run = make_run("new", [task("own/a")], [], None)
    with Lock(run.path):
        (line,) = live_parts(as_it_is(run))
    assert line == "running: 0 of 1 chat, 0 errors, cost: nothing"

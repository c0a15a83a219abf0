"""The viewer as a person uses it, in a real browser: by keyboard, on a phone, in dark."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser import Browser, Page
from report_runs import Writer, chat, metric, task, verdict
from viewer_runs import HOSTILE, serving

import seal
from seal.core.files import Lock
from seal.core.records import encode, encode_scores
from seal.runs.running import SO_FAR
from seal.viewer.labelling import LabelSheet
from seal.viewer.shelf import Shelf, write_site

pytestmark = pytest.mark.slow
AXE = os.environ.get("AXE_CORE")
"""File axe.min.js of the package axe-core."""
HERE = "decodeURIComponent(location.hash)"
FOCUS = "document.activeElement.textContent"
BOTH = "run?run=one&run=two"
WHOLE = {"pass_rate": metric(1.0)}
PLACES = ["", "run?run=one", f"{BOTH}#task-own/b", "run?run=none"]


def test_a_run_is_found_and_a_task_read_by_keyboard_alone(served: str, browser: Browser) -> None:
    with browser.page(served) as page:
        page.press("/")
        for letter in "two":
            page.press(letter)
        page.wait("document.querySelectorAll('#run-table tbody tr').length === 1")
        page.press("Escape")
        page.press("j")
        assert page.value(FOCUS) == "two"
        page.press("Enter")
        page.wait("document.querySelectorAll('#task-table tbody tr').length === 3")
        page.press("j")
        page.press("j")
        page.press("k")
        page.press("j")
        assert page.value(FOCUS) == "own/b"
        page.press("Enter")
        page.wait("document.querySelectorAll('#reader .step').length === 4")
        assert page.value(HERE) == "#task-own/b"
        page.press("j")
        page.press("j")
        assert page.value("document.querySelector('.step.target .number').textContent") == "1"
        page.press("n")
        page.wait("document.querySelector('#reader h2').textContent === 'own/c'")
        page.press("Escape")
        page.wait("document.querySelector('#reader').hidden")
        assert page.value(FOCUS) == "own/c"


def test_a_task_that_is_opened_amid_another_stands_alone(served: str, browser: Browser) -> None:
    with browser.page(f"{served}run?run=one#task-own/a") as page:
        page.value("(location.hash = '#task-own/c', location.hash = '#task-own/b')")
        page.wait("document.querySelector('#reader h2')?.textContent === 'own/b'")
        page.wait("document.querySelectorAll('#reader .step').length === 4")
        page.value("new Promise((done) => setTimeout(done, 300))")
        assert page.value("document.querySelectorAll('#reader h2').length") == 1
        assert page.value("document.querySelectorAll('#reader .columns').length") == 1


def test_a_section_is_announced_once_it_is_known_to_say_something(
    served: str, browser: Browser
) -> None:
    shown = "[...document.querySelectorAll('nav a')].filter((a) => a.offsetHeight)"
    with browser.page(f"{served}run?run=one") as page:
        page.wait("!document.querySelector('[data-unsure][hidden]')")
        titles = page.value(f"{shown}.map((a) => a.textContent)")
        heads = page.value("[...document.querySelectorAll('h2')].map((h) => h.textContent)")
    assert "Why goals failed" in titles and "Why goals failed" in heads
    assert not {"Missions", "What each role did"} & {*titles, *heads}


def test_sorting_and_filters_are_kept_in_the_address(served: str, browser: Browser) -> None:
    with browser.page(f"{served}run?run=one") as page:
        page.wait("document.querySelectorAll('#task-table tbody tr').length === 3")
        page.value("document.querySelector('[data-sort=\"score.0.0\"]').click()")
        page.wait("document.querySelector('[aria-sort=descending]')")
        assert page.value(HERE) == "#sort=-score.0.0"
        address = page.value("location.href")
    ids = "[...document.querySelectorAll('tbody .id')].map((node) => node.textContent)"
    with browser.page(f"{address}&outcome=unsolved") as page:
        page.wait("document.querySelectorAll('#task-table tbody tr').length === 1")
        assert page.value(ids) == ["own/b"]
    with browser.page(address) as page:
        page.wait("document.querySelectorAll('#task-table tbody tr').length === 3")
        assert page.value(ids) == ["own/a", "own/b", "own/c"]


def test_tasks_are_found_by_stage_and_by_words_of_answer_and_target(
    served: str, browser: Browser
) -> None:
    cells = "[...document.querySelector('#task-own\\\\/b').cells].map((cell) => cell.textContent)"
    with browser.page(
        f"{served}run?run=one#stage=answer%20contradicts%20or%20omits%20results&filter=clear"
    ) as page:
        page.wait("document.querySelectorAll('#task-table tbody tr').length === 1")
        told = page.value(cells)
        heads = page.value(
            "[...document.querySelectorAll('#task-table th')].map((h) => h.textContent)"
        )
        assert {"target", "stage and cause", "answer", "calls", "tokens"} <= {*heads}
        assert (
            told[heads.index("stage and cause")] == "answer contradicts or omits results (judged)"
        )
        assert told[heads.index("answer")] == "The sky is clear."
        assert told[heads.index("calls")] == "1"
        page.value("document.querySelector('#filter-stage').value = 'wrong tool'")
        page.value("document.querySelector('#filter-stage').dispatchEvent(new Event('input'))")
        page.wait("!document.querySelector('#task-table tbody tr')")
        page.value("document.querySelector('[data-sort=\"calls.0\"]').click()")
        assert page.value(HERE) == "#filter=clear&stage=wrong tool&sort=-calls.0"


def test_two_runs_are_shown_where_they_part(served: str, browser: Browser) -> None:
    with browser.page(f"{served}{BOTH}#task-own/b") as page:
        page.wait("document.querySelectorAll('.step.parting').length === 2")
        parted = "[...document.querySelectorAll('.parting .number')].map((n) => n.textContent)"
        assert page.value(parted) == ["2", "2"]
        assert "part after 2 steps" in page.value("document.querySelector('.parted').textContent")


def test_a_chat_is_followed_step_by_step_and_as_one_role_sees_it(
    served: str, browser: Browser
) -> None:
    with browser.page(f"{served}run?run=one#task-own/a") as page:
        page.wait("document.querySelector('.stepper input')")
        page.value(
            "{ const range = document.querySelector('.stepper input'); range.value = 1; "
            "range.dispatchEvent(new Event('input')); }"
        )
        assert page.value("document.querySelectorAll('.step.later').length") == 2
        page.value("document.querySelector('.role').click()")
        assert page.value("document.querySelectorAll('.step.mine').length") == 2
        assert page.value("document.querySelector('.tree').textContent").startswith("city")


@pytest.mark.parametrize("most", [None, 0])
def test_a_site_is_opened_as_files(
    shown: Path, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int | None
) -> None:
    if most is not None:  # as of a large run
        monkeypatch.setattr("seal.viewer.shelf._ONE_FILE", most)
    write_site(Shelf([shown]), tmp_path / "site", "Leaderboard")
    address = (tmp_path / "site" / "runs" / "one" / "index.html").as_uri()
    with browser.page(address) as page:
        count = "document.querySelector('#count').textContent"
        page.wait(f"{count} !== 'Loading …'")
        told = page.value("document.querySelector('.as-file')?.textContent ?? ''")
        if most is None:
            assert page.value(count) == "3 of 3 tasks" and not told
            page.value("location.hash = '#task-own/a'")
            page.wait("document.querySelectorAll('#reader .step').length === 4")
        else:
            assert page.value(count) == "The table could not be loaded."
            assert "python -m http.server" in told


def test_calls_stand_on_one_line_each_and_open(served: str, browser: Browser) -> None:
    seen = "[...document.querySelectorAll('.step')].filter((s) => s.offsetHeight > 8).length"
    with browser.page(f"{served}run?run=one#task-own/a") as page:
        page.wait("document.querySelector('.outline')")
        assert page.value(seen) == 3
        page.value("document.querySelector('.line button').click()")
        assert page.value(seen) == 4
        page.value("document.querySelector('.line button').click()")
        assert page.value(seen) == 3
        page.value("document.querySelector('.whole').click()")
        assert page.value(seen) == 4
        assert not page.value("document.querySelector('.line').offsetHeight")
    with browser.page(f"{served}run?run=one#task-own/a&step=2") as page:
        page.wait("document.querySelector('.step.target.open')")
        assert page.value(seen) == 4


def test_a_sheet_is_labelled_by_keyboard_alone(
    labelled: str, sheet: Path, browser: Browser
) -> None:
    with browser.page(labelled) as page:
        page.value("document.querySelector('input[name=rater]').value = 'Ann'")
        page.value("document.querySelector('form').submit()")
        for place, key in ((1, "j"), (2, "k"), (1, "1"), (2, "3")):
            shown = f"document.querySelector('#title-item')?.textContent === '{place} of 2'"
            page.wait(f"document.readyState === 'complete' && {shown}")
            page.press(key)
        done = "document.readyState === 'complete' && document.querySelector('#title-done')"
        page.wait(done)
        page.press("k")  # the last label is changed
        page.wait("document.querySelector('[aria-pressed]')?.dataset.key === '3'")
        page.wait("document.readyState === 'complete'")
        page.press("2")
        page.wait(done)
        assert page.value("document.querySelectorAll('img').length") == 0
    assert [{**of} for of in LabelSheet(sheet).votes.values()] == [
        {"Ann": "solved"},
        {"Ann": "unsolved"},
    ]


def test_a_running_run_is_followed_until_it_ends(browser: Browser, tmp_path: Path) -> None:
    make = Writer(tmp_path / "runs")
    run = make("run", [task("own/a"), task("own/b")], [chat("own/a")], None)
    (run.path / SO_FAR).write_bytes(encode_scores([verdict("own/a", "solved")]))
    told = "document.querySelector('#live')?.textContent ?? ''"
    with serving(tmp_path / "runs") as served, ExitStack() as held:
        held.enter_context(Lock(run.path))
        with browser.page(f"{served}run?run=run") as page:
            page.wait("document.querySelectorAll('#task-table tbody tr').length === 2")
            assert "running: 1 of 2 chats" in page.value(told)
            assert "not played" in page.value("document.querySelector('#task-table').textContent")
            with run.trajectories_path.open("ab") as file:
                file.write(encode(chat("own/b")))
            with (run.path / SO_FAR).open("ab") as file:
                file.write(encode_scores([verdict("own/b", "unsolved")]))
            page.wait(f"({told}).includes('running: 2 of 2 chats')")
            page.wait("!document.querySelector('#task-table').textContent.includes('not played')")
            assert "unsolved" in page.value("document.querySelector('#task-table').textContent")
            (run.path / SO_FAR).rename(run.scores_path)
            make("run", [task("own/a")], [chat("own/a")], [verdict("own/a", "solved")], WHOLE)
            held.close()
            page.wait("!document.querySelector('#live') && document.querySelector('#tasks')")


@pytest.mark.parametrize("where", ["", "run?{run}", "run?{run}#task-{id}"])
def test_hostile_runs_do_nothing(served: str, browser: Browser, where: str) -> None:
    named = {"run": urlencode({"run": "<b>&/h"}), "id": urlencode({"": HOSTILE})[1:]}
    with browser.page(served + where.format(**named)) as page:
        page.wait("document.querySelector('tbody tr')")
        assert page.value("document.title").startswith("SEAL ")
        assert page.value("document.querySelectorAll('img, iframe').length") == 0


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("width", [390, 1400])
def test_no_page_is_wider_than_its_window(
    served: str, browser: Browser, where: str, width: int
) -> None:
    with browser.page(served + where, width) as page:
        page.wait("!document.querySelector('#task-table') || document.querySelector('tbody tr')")
        assert page.value("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_floor_and_ceiling_beside_the_model(browser: Browser, tmp_path: Path) -> None:
    wide = {"pass_rate": metric(0.154), "mission_accuracy": metric(0.275), "calls_right": metric(1)}
    for name in ("one", "one/floor", "one/ceiling"):
        Writer(tmp_path)(name, [task("a")], [chat("a")], [verdict("a", "solved")], wide)
    with serving(tmp_path) as address, browser.page(f"{address}run?run=one", 390) as page:
        table = "document.querySelector('table.summary')"
        assert page.value(f"{table}.querySelectorAll('thead th').length") == 4
        assert page.value(f"{table}.scrollWidth <= {table}.parentElement.clientWidth")


@pytest.mark.skipif(AXE is None, reason="AXE_CORE names no axe.min.js: npm pack axe-core")
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(served: str, browser: Browser, where: str, scheme: str) -> None:
    with browser.page(served + where, scheme=scheme) as page:
        page.wait("!document.querySelector('#task-table') || document.querySelector('tbody tr')")
        if "#task" in where:
            page.wait("document.querySelectorAll('#reader .step').length === 8")
        assert violations(page) == []


@pytest.mark.skipif(AXE is None, reason="AXE_CORE names no axe.min.js: npm pack axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_an_experiment_and_in_a_report(
    browser: Browser, tmp_path: Path, scheme: str
) -> None:
    seal.retrieve("sample", ["tfidf"], k=1, limit=6, cache="off", out=tmp_path / "found")
    run = seal.run("sample", model="oracle", first=2, retriever="tfidf", out=tmp_path / "run")
    report = run.report(tmp_path / "report.html").as_uri()
    with serving(tmp_path) as served:
        for where in (report, f"{served}retrieval?of=found"):
            with browser.page(where, scheme=scheme) as page:
                assert page.value("document.querySelectorAll('table').length") > 0
                assert violations(page) == []


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """Return the rules that a page breaks, and the first places of each."""
    assert AXE is not None
    page.value(Path(AXE).read_text("utf-8"))
    found = page.value("axe.run().then((found) => found.violations)")
    return [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found]

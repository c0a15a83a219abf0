"""What the server answers, and to whom."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from report_runs import Writer, chat, metric, task, verdict
from viewer_runs import HOSTILE, serving

from seal.core import DataError, UsageError, write_records
from seal.core.files import Lock
from seal.report.comparison import labels_of
from seal.report.pages import linked
from seal.runs.running import SO_FAR
from seal.viewer.server import _crowding_told_once, serve
from seal.viewer.shelf import NotThereError, Shelf, list_page, write_site


def asked(served: str, path: str, host: str | None = None) -> tuple[int, dict[str, str], str]:
    """Return status, headers and text of an answer."""
    place = urlsplit(served).netloc
    with closing(http.client.HTTPConnection(place)) as connection:
        connection.putrequest("GET", path, skip_host=True)
        connection.putheader("Host", host or place)
        connection.endheaders()
        with connection.getresponse() as answer:
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, headers, answer.read().decode()


def test_the_list_tells_each_run_and_leads_to_those_that_are_scored(served: str) -> None:
    status, _, page = asked(served, "/")

    assert status == 200
    assert 'href="run?run=one"' in page
    assert 'href="run?run=unscored"' not in page
    assert "not scored" in page


def test_a_run_is_shown_in_parts_and_each_part_alone(served: str) -> None:
    _, _, page = asked(served, "/run?run=one")
    _, _, index = asked(served, "/block/index/0.json?run=one")
    _, _, rows = asked(served, "/block/rows/0.json?run=one")
    _, _, shown = asked(served, "/block/chat/0/1/0.html?run=one")

    assert "execution_manager" not in page  # no chat is sent before it is opened
    assert json.loads(index)["count"] == 3
    assert [row[0] for row in json.loads(rows)] == ["own/a", "own/b", "own/c"]
    assert shown.count('<li class="step') == 4


def test_runs_stand_side_by_side(served: str) -> None:
    _, _, index = asked(served, "/block/index/0.json?run=one&run=two")

    assert [label for _, label, *_ in json.loads(index)["lanes"]] == ["one", "two"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example"])
def test_a_foreign_name_is_refused(served: str, host: str) -> None:
    for path in ("/", "/run?run=one", "/block/chat/0/0/0.html?run=one", "/app.js"):
        status, _, text = asked(served, path, host)
        assert status == 400
        assert "own/" not in text


@pytest.mark.parametrize(("host", "address"), [("::1", "::1"), ("0.0.0.0", "127.0.0.2")])
def test_who_reaches_the_address_that_was_asked_for_can_read(
    shown: Path, host: str, address: str
) -> None:
    with serving(shown, "--host", host) as told:
        port = urlsplit(told).port
        bracketed = f"[{address}]" if ":" in address else address
        assert asked(f"http://{bracketed}:{port}/", "/")[0] == 200
        assert asked(f"http://{bracketed}:{port}/", "/", f"evil.example:{port}")[0] == 400


@pytest.mark.parametrize(
    "path",
    [
        "/run?run=../shown0",
        "/run?run=" + quote("/etc", safe=""),
        "/run?run=one/../two",
        "/run",
        "/block/../../../../etc/passwd?run=one",
        "/block/%2e%2e/%2e%2e/run.json?run=one",
        "/block/chat/0/99/0.html?run=one",
        "/block/chat/-1/0/0.html?run=one",
        "/block/chat/0/0.html?run=one",
        "/block/secret/0.html?run=one",
        "/block/task/" + "9" * 5_000 + ".html?run=one",
        "/run?run=" + "9" * 5_000,
        "/run?run=%00",
        "/run?run=.",
        "/run?run=one/",
        "/retrieval?of=..",
        "/run.json",
        "/..%2fone%2frun.json",
    ],
)
def test_nothing_else_can_be_named(served: str, path: str) -> None:
    status, _, text = asked(served, path)

    assert status in (404, 409)
    assert "root:" not in text and '"measure"' not in text


def test_every_answer_forbids_what_is_not_its_own(served: str) -> None:
    for path in ("/", "/run?run=one", "/block/task/0.html?run=one", "/nothing"):
        _, headers, text = asked(served, path)
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "<style" not in text and " onclick" not in text and " style=" not in text


def test_hostile_names_and_texts_are_escaped_in_every_part(served: str, shown: Path) -> None:
    run = urlencode({"run": "<b>&/h"})
    for path in ("/", f"/run?{run}", f"/block/chat/0/0/0.html?{run}", f"/block/task/0.html?{run}"):
        status, _, text = asked(served, path)
        assert status == 200
        assert HOSTILE not in text and "<img" not in text and "<b>&" not in text


def test_an_unscored_run_says_how_to_score_it(served: str) -> None:
    status, _, page = asked(served, "/run?run=unscored")

    assert status == 409
    assert "seal score" in page


def test_a_run_that_changes_is_read_anew(tmp_path: Path) -> None:
    make = Writer(tmp_path)
    metrics = {"pass_rate": metric(0.5)}
    run = make("run", [task("a")], [chat("a")], [verdict("a", "solved")], metrics)
    shelf = Shelf([tmp_path])
    before = json.loads(shelf.block(["run"], "index/0.json") or "")
    write_records(run.path / "tasks.jsonl", [task("a"), task("b")])
    os.utime(run.path / "tasks.jsonl", ns=(1, 1))

    after = json.loads(shelf.block(["run"], "index/0.json") or "")

    assert (before["count"], after["count"]) == (1, 2)


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    make = Writer(tmp_path / "elsewhere")
    make("secret", [task("a")], [], [], {})
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere" / "secret")

    assert Shelf([tmp_path / "runs"]).runs() == {}


@pytest.mark.parametrize("linked", ["floor", "tasks.jsonl", "trajectories.jsonl", "run.json"])
def test_a_run_with_a_link_that_leads_out_is_damaged(tmp_path: Path, linked: str) -> None:
    metrics = {"pass_rate": metric(1.0)}
    for name in ("shown/run", "shown/other", "private/run"):
        scores = [verdict("a", "solved")]
        Writer(tmp_path)(name, [task("a", "secret")], [chat("a")], scores, metrics)
    private, link = tmp_path / "private" / "run" / linked, tmp_path / "shown" / "run" / linked
    link.unlink(missing_ok=True)
    link.symlink_to(private if private.exists() else private.parent)
    shelf = Shelf([tmp_path / "shown"])

    facts = {each.name: each for each in shelf.facts()}
    write_site(shelf, tmp_path / "site", "Leaderboard")

    assert facts["other"].state == "scored"
    assert "leads out of" in facts["run"].damage
    assert [path.name for path in (tmp_path / "site" / "runs").iterdir()] == ["other"]
    for path in (lambda: shelf.block(["run"], "task/0.html"), lambda: shelf.run("run")):
        with pytest.raises(DataError, match="leads out of"):
            path()


@pytest.mark.parametrize("name", ["timings.jsonl", "summary.json", "floor"])
def test_a_link_to_itself_in_a_run_hides_no_other_run(tmp_path: Path, name: str) -> None:
    for run in ("run", "other"):
        scores = [verdict("a", "solved")]
        Writer(tmp_path)(run, [task("a")], [chat("a")], scores, {"pass_rate": metric(1.0)})
    link = tmp_path / "run" / name
    link.unlink(missing_ok=True)
    link.symlink_to(link)
    shelf = Shelf([tmp_path])

    assert {each.name for each in shelf.facts() if each.state == "scored"} >= {"other"}
    shelf.run("run")
    write_site(shelf, tmp_path / "site", "Leaderboard")


def test_a_long_address_is_told_in_short(served: str) -> None:
    status, _, page = asked(served, "/" + "a" * 20_000)

    assert (status, "aaa" in page) == (404, True)
    assert len(page) < 2_000


def test_links_between_what_is_shown_are_followed(tmp_path: Path) -> None:
    metrics = {"pass_rate": metric(1.0)}
    for name in ("a", "b"):
        Writer(tmp_path)(name, [task("a")], [chat("a")], [verdict("a", "solved")], metrics)
    (tmp_path / "a" / "floor").symlink_to(tmp_path / "b")

    assert [facts.state for facts in Shelf([tmp_path]).facts()] == ["scored", "scored"]


def test_folders_of_one_name_are_told_apart_by_what_stands_before_it(tmp_path: Path) -> None:
    for name in ("p", "q"):
        Writer(tmp_path / name / "runs")("run", [task("a")], [], [], {})
    Writer(tmp_path)("one", [task("a")], [], [], {})
    folders = [tmp_path / "p" / "runs", tmp_path / "q" / "runs", tmp_path / "one"]

    shelf = Shelf([*folders, folders[0]])

    assert {*shelf.runs()} == {"p/runs/run", "q/runs/run", f"{tmp_path.name}/one"}
    assert all(shelf.run(name) == run for name, run in shelf.runs().items())


def test_a_folder_whose_name_is_no_text_is_listed_and_shown(tmp_path: Path) -> None:
    shown = tmp_path / os.fsdecode(b"all\xe9")
    for name in ("plain", os.fsdecode(b"a\xff/b\xfe")):
        scores = [verdict("a", "solved")]
        Writer(shown)(name, [task("a")], [chat("a")], scores, {"pass_rate": metric(1.0)})
    for folders in ([shown], [shown, shown / os.fsdecode(b"a\xff")]):
        with serving(*folders) as served:
            status, _, page = asked(served, "/")
            addresses = re.findall(r'href="(run\?[^"]+)"', page)

            assert status == 200
            assert len(addresses) == len(Shelf(folders).runs())
            assert {asked(served, f"/{address}")[0] for address in addresses} == {200}


def test_only_what_is_listed_has_a_name(tmp_path: Path) -> None:
    make = Writer(tmp_path)
    for name in ("one", "one/floor", "one/inner", ".hidden/run", "a/b/c/d", "a/b/c/e/f"):
        make(name, [task("a")], [], [], {})
    shelf = Shelf([tmp_path])

    assert {*shelf.runs()} == {"one", "a/b/c/d"}
    assert all(shelf.run(name) == run for name, run in shelf.runs().items())
    for name in ("one/floor", "one/inner", ".hidden/run", "a/b/c/e/f", "a", "", tmp_path.name):
        with pytest.raises(NotThereError):
            shelf.run(name)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none_is_refused(tmp_path: Path, port: int) -> None:
    with pytest.raises(UsageError, match="expected a whole number from 0 to 65535"):
        serve(Shelf([tmp_path]), "127.0.0.1", port, print)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        Shelf([tmp_path / "none"])


def test_a_list_reads_a_run_anew_when_its_files_change(tmp_path: Path) -> None:
    for mean in (0.25, 0.5):
        scores = [verdict("a", "solved")]
        metrics = {"pass_rate": metric(mean)}
        run = Writer(tmp_path)("run", [task("a")], [chat("a")], scores, metrics)
        if mean == 0.25:
            shelf = Shelf([tmp_path])
        os.utime(run.path / "summary.json", (mean, mean))
        assert [facts.headline.mean for facts in shelf.facts() + shelf.facts()] == [mean] * 2


def test_runs_of_one_model_are_told_apart_in_charts(tmp_path: Path) -> None:
    for name in ("first", "second"):
        metrics = {"pass_rate": metric(0.5)}
        Writer(tmp_path)(
            name, [task("a")], [chat("a")], [verdict("a", "solved")], metrics, model="m"
        )

    assert labels_of(Shelf([tmp_path]).facts()) == ["m (second)", "m (first)"]


def test_the_list_names_the_settings_in_which_runs_differ(tmp_path: Path) -> None:
    for place, top_k in enumerate((5, 10)):
        scores, metrics = [verdict("a", "solved")], {"pass_rate": metric(0.5)}
        run = Writer(tmp_path)(str(place), [task("a")], [chat("a")], scores, metrics, model="m")
        told = run.manifest()
        told["system"] |= {"top_k": top_k, "temperature": 0}
        run.write_json("run.json", told)
    pool = {"pool": "other"}
    Writer(tmp_path)("alone", [task("a")], [chat("a")], scores, metrics, measure=pool)

    page = list_page("Runs", Shelf([tmp_path]).facts(), str, {}, choose=False, **linked("/"))

    assert re.findall(r'class="settings">(.*?)<', page) == ["top_k 10", "top_k 5"]


def test_the_newest_run_stands_first_and_one_that_goes_on_says_how_far_it_is(
    tmp_path: Path,
) -> None:
    tasks, scores = [task(id) for id in "abc"], [verdict("a", "solved")]
    metrics = {"pass_rate": metric(0.5)}
    ages = {"middle": 2, "once": 3, "oldest": 1, "twice": 4}
    for name, age in ages.items():
        measure = {"seed": 0, "trials": 2} if name == "twice" else None
        run = Writer(tmp_path)(name, tasks, [chat("a")], scores, metrics, measure=measure)
        if name in ("once", "twice"):
            (run.path / "summary.json").unlink()
            run.scores_path.rename(run.path / SO_FAR)
        os.utime(run.path / "run.json", (age * 86_400, age * 86_400))

    with Lock(tmp_path / "once"), Lock(tmp_path / "twice"):
        facts = Shelf([tmp_path]).facts()
        page = list_page("Runs", facts, str, {}, choose=False, **linked("/"))

    assert [run.name for run in facts] == ["twice", "once", "middle", "oldest"]
    assert re.findall(r'data-name="run" data-value="(\w+)"', page) == [run.name for run in facts]
    assert re.findall(r'class="progress">(.*?)<', page) == ["1 of 6 chats", "1 of 3 tasks"]
    assert [run.state for run in facts] == ["running", "running", "scored", "scored"]
    assert 'data-told="newest first"' in page


def test_an_address_names_each_run_once_and_not_too_many(served: str) -> None:
    _, _, index = asked(served, "/block/index/0.json?" + "&".join(["run=one"] * 20))
    assert [label for _, label, *_ in json.loads(index)["lanes"]] == ["one"]

    for path in ("/run", "/block/index/0.json"):
        status, _, page = asked(served, f"{path}?" + "&".join(["run=one"] * 500))
        assert status == 409 and "500 runs are asked for; choose at most 24" in page


@pytest.mark.parametrize("host", ["\u202ea.de", "\u00fc" * 80, "a..b", "192.0.2.1"])
def test_a_host_where_nothing_can_listen_is_told_with_its_flag(tmp_path: Path, host: str) -> None:
    with pytest.raises(UsageError, match=r"cannot listen at .*; give another --host"):
        serve(Shelf([tmp_path]), host, 0, print)


def test_more_connections_than_files_may_be_open_are_told_in_one_line(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "seal", "serve", "--port", "0", str(tmp_path)]
    few = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh", *words]
    said = tmp_path / "said"
    with (
        said.open("w") as told,
        subprocess.Popen(few, stderr=told) as process,
        ExitStack() as ended,
    ):
        ended.callback(process.terminate)
        while "http" not in said.read_text():
            assert process.poll() is None
        place = urlsplit(said.read_text().split()[-1])
        with ExitStack() as opened:
            for _ in range(60):
                opened.enter_context(socket.create_connection((place.hostname, place.port), 10))
            while "open" not in said.read_text().partition("\n")[2]:
                assert process.poll() is None
        assert asked(place.geturl(), "/")[0] == 200
    assert said.read_text().count("too many connections are open") == 1
    assert "Traceback" not in said.read_text()


def test_a_try_to_listen_after_the_end_is_not_told_of(caplog: pytest.LogCaptureFixture) -> None:
    async def late() -> None:
        loop: Any = asyncio.get_running_loop()
        with socket.socket() as listening:
            pass
        loop.call_soon(loop._start_serving, asyncio.Protocol, listening)
        await asyncio.sleep(0)

    with _crowding_told_once():
        asyncio.run(late())
    assert not caplog.records
    asyncio.run(late())
    assert "_start_serving" in caplog.text

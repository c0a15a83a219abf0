"""The static site."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from markupsafe import Markup
from report_runs import Writer, blocks, chat, metric, task, verdict
from viewer_runs import HOSTILE

from seal.core import DataError, UsageError
from seal.report.lanes import facts_of
from seal.report.run_pages import RunPages
from seal.viewer.shelf import Shelf, write_site


class Links(HTMLParser):
    """The addresses that a page names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attributes if name in ("href", "src") and value]


def test_every_link_of_the_site_leads_to_a_file_of_it(shown: Path, tmp_path: Path) -> None:
    home = write_site(Shelf([shown]), tmp_path / "site", "Our models")

    pages = [*(tmp_path / "site").rglob("index.html")]
    assert len(pages) == 5  # the list, its ranks, and three scored runs
    for page in pages:
        for link in Links(page.read_text()).found:
            if not link.startswith("#"):
                assert (page.parent / unquote(link)).resolve().is_file(), link
    assert "Our models" in home.read_text()


def test_the_leaderboard_has_the_best_first(shown: Path, tmp_path: Path) -> None:
    text = write_site(Shelf([shown]), tmp_path / "site", "Leaderboard").read_text()

    assert text.index(">one</a>") < text.index(">two</a>")
    assert "unscored" not in text


def test_the_leaderboard_of_what_is_better_low_has_the_lowest_first(tmp_path: Path) -> None:
    for name, mean in (("much", 0.9), ("little", 0.1), ("nothing", None)):
        Writer(tmp_path)(name, metrics={"minefield_similarity": metric(mean)}, model=name)
    text = write_site(Shelf([tmp_path]), tmp_path / "site", "Leaderboard").read_text()

    assert text.index(">little</a>") < text.index(">much</a>") < text.index(">nothing</a>")


def test_runs_of_one_benchmark_are_ranked_on_a_page_that_leads_to_theirs(tmp_path: Path) -> None:
    tasks = [task(f"t{place}") for place in range(4)]
    for name, solved in (("worse", 1), ("better", 3)):
        scores = [verdict(f"t{n}", "solved" if n < solved else "unsolved") for n in range(4)]
        metrics = {"pass_rate": metric(solved / 4, by={"easy": metric(0.5), "hard": metric(0.25)})}
        Writer(tmp_path / "runs")(name, tasks, (), scores, metrics, model={"model": name})
    home = write_site(Shelf([tmp_path / "runs"]), tmp_path / "site", "Our models")

    (address,) = (link for link in Links(home.read_text()).found if "leaderboards" in link)
    text = (home.parent / unquote(address)).read_text()
    assert text.index(">better</a>") < text.index(">worse</a>")
    assert ">easy</th>" in text and "[1, 2]" in text
    assert {"../../index.html", "../../runs/better/index.html"} <= {*Links(text).found}


def test_a_small_run_is_one_file(shown: Path, tmp_path: Path) -> None:
    write_site(Shelf([shown]), tmp_path / "site", "Leaderboard")

    names = [path.name for path in files_of(tmp_path / "site")]
    assert sorted(names) == ["app.js", "blocks.js", *["index.html"] * 5, "seal-site", "style.css"]
    page = (tmp_path / "site" / "runs" / "one" / "index.html").read_text()
    assert {*blocks(page, "chat")} == {f"0/{place}/0" for place in range(3)}
    assert "data-source" not in page


def test_a_part_of_a_benchmark_is_told_and_stands_below_the_whole(tmp_path: Path) -> None:
    write = Writer(tmp_path / "runs")
    whole, part = {"pool": "own", "first": None}, {"pool": "own", "first": 10, "select": {"a": "b"}}
    write("whole", metrics={"pass_rate": metric(0.2)}, model="whole", measure=whole)
    run = write("part", metrics={"pass_rate": metric(0.9)}, model="part", measure=part)
    text = write_site(Shelf([tmp_path / "runs"]), tmp_path / "site", "Leaderboard").read_text()

    assert text.index(">whole</a>") < text.index(">part</a>")
    assert '<small class="subset">first 10, a=b</small>' in text
    chart = text[text.index("By benchmark") :]
    assert chart.index("whole") < chart.index("part (first 10, a=b)")
    assert dict(facts_of(run).told())["tasks"] == "0 (first 10, a=b)"


def test_all_parts_that_the_page_of_a_large_run_asks_for_are_files(
    shown: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seal.viewer.shelf._ONE_FILE", 0)
    write_site(Shelf([shown]), tmp_path / "site", "Leaderboard")

    folder = tmp_path / "site" / "runs" / "one"
    pages = RunPages([Shelf([shown]).runs()["one"]])
    for kind, places in pages.parts():
        key = "/".join([kind, *map(str, places)]) + ".html"
        assert (folder / key).read_text() == pages.block(key)
    assert (folder / "rows" / "0.json").read_text() == pages.block("rows/0.json")


def test_the_same_runs_give_the_same_site(shown: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_site(Shelf([shown]), tmp_path / name, "Leaderboard")

    one, two = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in files_of(tmp_path / name)}
        for name in ("a", "b")
    )
    assert one == two


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_hostile_texts_are_escaped_in_every_file(shown: Path, tmp_path: Path) -> None:
    write_site(Shelf([shown]), tmp_path / "site", HOSTILE)

    data = re.compile('<script type="application/json".*?</script>', re.DOTALL)  # is only text
    pages = [data.sub("", path.read_text()) for path in (tmp_path / "site").rglob("*.html")]
    assert not any("<img" in page or HOSTILE in page for page in pages)


def test_a_folder_of_something_else_is_left_alone(shown: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")

    with pytest.raises(UsageError, match="something else than a site"):
        write_site(Shelf([shown]), tmp_path, "Leaderboard")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_line_of_a_run_tells_what_was_measured(shown: Path) -> None:
    told = dict(facts_of(Shelf([shown]).runs()["one"], "one").told())

    assert told["model"] == "one"
    assert told["cost"] == "1,350 tokens"
    assert told["tasks"] == "3"


def test_a_chat_whose_provenance_has_stops_too_is_shown(tmp_path: Path) -> None:
    odd = replace(chat("a"), provenance={"trace": {"stops": ["x"]}})
    scores = [verdict("a", "solved")]
    run = Writer(tmp_path)("run", [task("a")], [odd], scores, {"pass_rate": metric(1.0)})

    assert RunPages([run]).portion(0)[0][3] == [
        [[0, "solved", "done", [1.0], "", "The sky is clear.", 1, None]]
    ]


def test_a_chat_whose_task_is_no_name_is_refused(tmp_path: Path) -> None:
    run = Writer(tmp_path)("run", [task("a")], [chat("a")], [], {"pass_rate": metric(1.0)})
    spoilt = run.trajectories_path.read_text().replace('"task_id":"a"', '"task_id":{}')
    run.trajectories_path.write_text(spoilt)

    with pytest.raises(DataError, match=r"trajectories\.jsonl, line 1: no trajectory"):
        RunPages([run]).portion(0)


def test_a_site_loses_what_the_new_one_has_not_and_nothing_else(
    shown: Path, tmp_path: Path
) -> None:
    runs, site = shutil.copytree(shown, tmp_path / "runs"), tmp_path / "site"
    write_site(Shelf([runs]), site, "Leaderboard")
    mine = site / "CNAME"
    mine.write_text("mine")
    (runs / "one").rename(runs / "uno")
    shutil.rmtree(runs / "two")

    write_site(Shelf([runs]), site, "Leaderboard")
    write_site(Shelf([runs]), tmp_path / "new", "Leaderboard")

    named = [{p.relative_to(top) for p in files_of(top)} for top in (site, tmp_path / "new")]
    assert named[0] - named[1] == {mine.relative_to(site)}
    assert named[1] <= named[0]
    assert not (site / "runs" / "one").exists()


def test_runs_whose_names_differ_in_case_alone_have_folders_that_differ(tmp_path: Path) -> None:
    for name in ("run", "Run", "RUN"):
        scores = [verdict("a", "solved")]
        Writer(tmp_path / "runs")(
            name, [task("a")], [chat("a")], scores, {"pass_rate": metric(1.0)}
        )

    write_site(Shelf([tmp_path / "runs"]), tmp_path / "site", "Leaderboard")

    names = [path.name.lower() for path in (tmp_path / "site" / "runs").iterdir()]
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("trajectories.jsonl", "null\n", "line 1"),
        ("scores.jsonl", "null\n", "line 1"),
        ("tasks.jsonl", "", "was cut: it has 0 of the 3 lines"),
        ("run.json", "", "no JSON"),
        ("floor/summary.json", '{"metrics": {}}', "floor has no run.json"),
    ],
)
def test_a_damaged_run_is_named_and_the_others_are_shown(
    name: str, content: str, told: str, shown: Path, tmp_path: Path
) -> None:
    runs = shutil.copytree(shown, tmp_path / "runs")
    summary = json.loads((runs / "two" / "summary.json").read_text())
    (runs / "two" / "summary.json").write_text(json.dumps({**summary, "lines": {"tasks.jsonl": 3}}))
    (runs / "two" / "floor").mkdir()
    (runs / "two" / name).write_text(content)
    damages: list[str] = []
    text = write_site(Shelf([runs]), tmp_path / "site", "Leaderboard", damages.append).read_text()

    (damage,) = damages
    assert str(runs / "two") in damage and told in damage
    assert str(Markup.escape(damage)) in text
    assert text.index(">one</a>") < text.index(">two</span>")
    assert (tmp_path / "site" / "runs" / "one" / "index.html").is_file()
    assert not (tmp_path / "site" / "runs" / "two").exists()

"""A comparison for people: every number leads to its tasks, and hostile texts stay texts."""

import json
import re
import shutil
from csv import DictReader
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from report_runs import chat, metric, task, verdict

import seal
from seal.core import DataError, Score, Step, UsageError, write_records
from seal.experiments.settings import CompareSettings
from seal.report.comparison import (
    Parting,
    all_parts,
    compare,
    comparison_tables,
    odds_lines,
    partings,
    title_of,
)
from seal.report.grids import Grid
from seal.report.run_pages import write_report
from seal.report.table_forms import (
    escape_latex,
    escape_markdown,
    latex,
    markdown,
    write_markdown,
)
from seal.runs.run import RunFolder

HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=x onerror=alert(1)>',
    "[x](javascript:alert(1))",
    "![x](http://evil.example/p.png)",
    "a|b`c`*d*$e$~f~",
    "\\input{/etc/passwd}%_#&^{}",
    "line\nbreak\r\n\x1b[31m\u202egpj",
    "&lt;b&gt;",
)


class Links(HTMLParser):
    """The links, ids and tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.add(tag)
        self.attributes |= found.keys()
        self.links += [found["href"]] if "href" in found else []
        self.ids |= {found["id"]} if "id" in found else set()


@pytest.fixture
def runs(make_run):
    """Make two runs of hostile task ids: the second solves what the first does not."""

    def made(ids=HOSTILE, names=("base", "new")):
        found = []
        for name, value in zip(names, (0.0, 1.0), strict=True):
            chats = [chat(id) for id in ids]
            if value:
                last = replace(chats[0].steps[3], content="It rains.")
                chats = [
                    replace(each, steps=(*each.steps[:3], last), answers=(last.content,))
                    for each in chats
                ]
            scores = [Score(id, 0, 0, "pass_rate", value) for id in ids]
            run = make_run(
                name,
                [task(id) for id in ids],
                chats,
                scores,
                {"pass_rate": metric(value, len(ids))},
            )
            (run.path / "report.html").write_text("a report")
            found.append(run)
        return found

    return made


def compared(runs, out: Path | None = None, **settings):
    return compare([run.path for run in runs], CompareSettings(**settings), out)


def test_a_folder_gets_the_same_comparison_in_five_forms(runs, tmp_path: Path) -> None:
    content = compared(runs(("a", "b")), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "comparison.json",
        "comparison.md",
        "comparison.tex",
        "comparison.html",
        "comparison.csv",
    }
    assert json.loads((tmp_path / "out" / "comparison.json").read_bytes()) == content
    with (tmp_path / "out" / "comparison.csv").open() as file:
        rows = {row["metric"]: row for row in DictReader(file)}
    assert float(rows["pass_rate"]["difference"]) == 1.0
    assert [*rows] == [entry["metric"] for entry in content["comparisons"]]
    for name in names - {"comparison.json", "comparison.csv"}:
        assert "+1.000" in (tmp_path / "out" / name).read_text()
    kept = {name: (tmp_path / "out" / name).read_bytes() for name in names}
    compared(runs(("a", "b")), tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_bytes() for name in names} == kept


def test_a_number_leads_to_its_tasks_and_a_task_to_the_step_where_chats_part(
    runs, tmp_path: Path
) -> None:
    compared(runs(("own/a",)), tmp_path / "out")
    page = Links((tmp_path / "out" / "comparison.html").read_text())
    assert "#pair-1-1-higher" in page.links
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= page.ids
    for name in ("base", "new"):
        assert f"../{name}/report.html#task-own/a&lane=0&trial=0&step=3" in page.links
    files = {link.partition("#")[0] for link in page.links if not link.startswith("#")}
    assert all((tmp_path / "out" / file).is_file() for file in files)


def test_a_run_with_a_floor_is_the_second_lane_and_one_without_report_has_no_link(
    scored_run, runs, tmp_path: Path
) -> None:
    new = runs(("own/a", "own/b"))[1]
    (scored_run.path / "report.html").write_text("a report")
    (new.path / "report.html").unlink()
    compared([scored_run, new], tmp_path / "out", force=True)
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert "no report" in page
    links = Links(page).links
    assert any(link.startswith("../run/report.html#task-own/b&lane=1&") for link in links)
    assert not any("new/report.html" in link for link in links)


def test_hostile_ids_and_names_are_texts_everywhere(runs, tmp_path: Path) -> None:
    names = ("[x](javascript:alert(1))", "<img src=x onerror=alert(1)>$&#")
    compared(runs(names=names), tmp_path / "out")
    page = Links((tmp_path / "out" / "comparison.html").read_text())
    assert not page.tags & {"script", "img", "iframe"}  # its drawings are svg
    assert not [name for name in page.attributes if name.startswith("on")]
    assert all(link.startswith(("#", "../")) for link in page.links)
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "<" not in text and "](" not in text.replace("\\](", "")
    rows = [line for line in text.splitlines() if line.startswith("| pass_")]
    assert [line.count(" | ") for line in rows] == [9, 5]
    tex = (tmp_path / "out" / "comparison.tex").read_text()
    own = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    for line in tex.replace(own, "").splitlines():
        bare = re.sub(r"\\text\w+\{\}|\\[{}$&#%_]", "", line.removeprefix("%"))
        assert not re.search(r"[$#^~<>]", bare)
    assert "\x1b" not in text + tex


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_stays_in_its_cell(text: str) -> None:
    grid = Grid(text, (text, "n"), [(text, "[0.1, 0.2]")])
    table = markdown(grid).splitlines()
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in table[2:]] == [3, 3, 3]
    assert "[0.1, 0.2]" in table[-1]
    rows = [line for line in latex(grid, "tab:x").splitlines() if line.endswith(r" \\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [1, 1]
    assert "\n" not in escape_latex(text) + escape_markdown(text)


def test_a_quote_in_latex_needs_no_font_encoding() -> None:
    assert escape_latex('say "hi"') == r"say {\char34}hi{\char34}"


def test_the_report_of_several_runs_compares_them_with_links_into_itself(runs, tmp_path) -> None:
    base, new = runs(("a", "b"))
    page = write_report([base, new], tmp_path / "report.html").read_text()
    assert re.search(r"2 won by \S+ \(new\)", page)
    links = Links(page).links
    assert "#task-a&lane=1&trial=0&step=3" in links
    assert re.search(r'<h2 id="title-\d+">Comparison</h2>', page)
    assert "Comparison</h2>" not in write_report([base], tmp_path / "report.html").read_text()
    ablated = write_report([base, new], tmp_path / "report.html", varied="retriever").read_text()
    assert re.search(r"<h1[^>]*>Ablation of retriever: ", ablated)
    (new.path / "run.json").write_text('{"measure": {"seed": 1}, "system": {}}')
    other = write_report([base, new], tmp_path / "report.html").read_text()
    assert "Comparison</h2>" not in other


def test_the_terminal_tells_what_was_won_and_what_has_no_pair(runs) -> None:
    content = compared(runs(("a", "b")))
    lines = [line for line in comparison_tables(content) if isinstance(line, str)]
    assert "tasks by pass_rate: 2 won, 0 lost, 0 solved by both, 0 by neither" in lines
    assert "  won: a (0 -> 1 of 1), b (0 -> 1 of 1)" in lines
    flips = content["pairs"][0]["flips"]
    many = [{**flips["won"][0], "task": f"t{place}"} for place in range(12)]
    content["pairs"][0]["flips"] = {**flips, "won": many}
    told = next(line for line in comparison_tables(content) if "won: t0" in str(line))
    assert told.endswith(", and 2 more: --json lists all, and --out DIR")


def test_the_lines_of_each_of_several_pairs_name_its_runs(runs) -> None:
    base, new = runs(("a", "b"))
    third = replace(new, path=new.path.parent / "third")
    shutil.copytree(new.path, third.path)
    content = compared((base, new, third))
    lines = [line for line in comparison_tables(content) if isinstance(line, str)]
    won = "tasks by pass_rate: 2 won, 0 lost, 0 solved by both, 0 by neither"
    for each in (new, third):
        assert f"{each.path.name} against {base.path.name}: {won}" in lines


def test_no_word_of_the_terminals_tables_is_broken_at_80_columns(runs) -> None:
    from rich.console import Console

    console = Console(width=80, record=True, file=StringIO())
    console.print(*comparison_tables(compared(runs(("a", "b")))))
    text = console.export_text()
    for word in ("difference", "95 % interval", "p (Holm)", "higher", "lower", "pass_rate"):
        assert word in text


@pytest.mark.parametrize(("least", "shown"), [(0.4, "0.400"), (1.401, "none"), (None, "")])
def test_no_difference_of_rates_is_above_one(
    runs, tmp_path: Path, least: float | None, shown: str
) -> None:
    content = compared(runs(("a", "b")))
    for entry in content["comparisons"]:
        entry["detectable"] = least
    write_markdown(tmp_path / "comparison.md", title_of(content), all_parts(content))
    table = (tmp_path / "comparison.md").read_text().partition("smallest difference")[2]
    head, _, row = [line for line in table.splitlines() if line.startswith("|")][:3]
    at = [cell.strip() for cell in head.split("|")].index("detectable")
    assert row.split("|")[at].strip() == shown


def test_a_win_rate_stands_in_every_file_and_leads_to_its_goals(runs, tmp_path: Path) -> None:
    made = runs(("own/b", "own/a"))
    for run, label in zip(made, ("unsolved", "solved"), strict=True):
        unlabelled = Score("own/b", 0, 0, "pass_rate", 1.0)
        write_records(run.scores_path, [verdict("own/a", label), unlabelled])
    content = compared(made, tmp_path / "out", win_rate=True, cache_dir=tmp_path / "cache")
    (pair,) = content["pairs"]
    assert (pair["win_rate"]["win"], pair["win_rate"]["goals"]) == (1.0, 2)
    assert [goal["task"] for goal in pair["win_rate"]["undecided"]] == ["own/b"]
    assert json.loads((tmp_path / "out" / "comparison.json").read_bytes()) == content
    for name in ("comparison.md", "comparison.tex", "comparison.html"):
        text = (tmp_path / "out" / name).read_text()
        assert "win rate" in text and "no outcome: own/b" in text.replace("\\", "")
    page = Links((tmp_path / "out" / "comparison.html").read_text())
    assert {"pair-1-goals-won", "pair-1-goals-undecided"} <= page.ids
    assert "../new/report.html#task-own/b&lane=0&trial=0" in page.links


def test_long_lists_are_cut_and_say_so(runs, tmp_path: Path) -> None:
    compared(runs([f"t{n}" for n in range(60)]), tmp_path / "out")
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert "and 10 more, in comparison.json" in page
    assert '<a href="#pair-1-1-higher">60</a>' in page


def test_chats_part_at_the_first_step_that_differs(make_run) -> None:
    one, other = chat("a"), chat("a")
    longer = replace(one, steps=(*one.steps, Step(4, "execution_manager", "user_simulator", "!")))
    offered = replace(one, offered=((),))

    def parting(ours, theirs):
        made = [make_run(n, [task("a")], [c], [], {}) for n, c in (("x", ours), ("y", theirs))]
        return partings(*made, {("a", 0)})[("a", 0)]

    assert parting(one, other) is None
    assert parting(one, longer) == Parting(None, 4, False)
    assert parting(chat("a", result="{}"), one) == Parting(2, 2, False)
    assert parting(offered, one) == Parting(None, None, True)


def test_a_damaged_trajectory_is_named_and_another_folder_refused(runs, tmp_path: Path) -> None:
    base, new = runs(("a",))
    new.trajectories_path.write_text("{\n")
    with pytest.raises(DataError, match=r"trajectories\.jsonl, line 1: no trajectory.*; "):
        compared([base, new], tmp_path / "out")
    with pytest.raises(UsageError, match="holds something else than a comparison"):
        compared([base, new], base.path)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file; give --out a folder"):
        compared([base, new], tmp_path / "file")


def test_goals_that_are_undecided_may_turn_a_comparison(make_run):
    def run(name, mean, undecided):
        reasons = {"reasons": {"undecided": undecided}, "undefined": undecided}
        scores = [Score(str(n), 0, 0, "pass_rate", float(n < 10 * mean)) for n in range(10)]
        tasks, chats = [task(str(n)) for n in range(10)], [chat(str(n)) for n in range(10)]
        return make_run(name, tasks, chats, scores, {"pass_rate": metric(mean, **reasons)})

    open_runs = [run("a", 0.5, 0), run("b", 0.6, 5)]
    (note,) = compare([each.path for each in open_runs], CompareSettings(), None)["notes"][-1:]
    assert note == (
        "pass_rate: undecided goals could make b or a the better one; if all of them failed, or "
        "all were solved: 0.400 to 0.733 and 0.500 to 0.500"
    )
    clear = [run("c", 0.2, 1), run("d", 0.8, 1)]
    notes = compare([each.path for each in clear], CompareSettings(), None)["notes"]
    assert not any("undecided" in note for note in notes)


def test_runs_without_a_value_in_common_have_no_empty_table(make_run, tmp_path: Path):
    runs = [
        make_run(
            name,
            [task("a")],
            [chat("a")],
            [Score("a", 0, 0, "pass_rate", None, 1, "open")],
            {"pass_rate": metric(None)},
        )
        for name in ("one", "two")
    ]
    content = compare([run.path for run in runs], CompareSettings(), tmp_path / "out")
    told, *lines = comparison_tables(content)
    assert told == "two minus one: no metric of both runs has a pair with values"
    assert lines and not any(isinstance(line, Grid) for line in lines)
    assert told in (tmp_path / "out" / "comparison.html").read_text()
    assert r"\begin{table" not in (tmp_path / "out" / "comparison.tex").read_text()


def test_no_metric_of_a_condition_is_tested_unless_it_is_asked_for(make_run):
    names = ("call_f1", "param_acc_matched")
    paths = [
        make_run(
            name,
            [task("a"), task("b")],
            [chat("a"), chat("b")],
            [Score(id, 0, 0, metric, value) for id in "ab" for metric in names],
            dict.fromkeys(names, metric(value)),
        ).path
        for name, value in (("one", 0.0), ("two", 1.0))
    ]
    told = compare(paths, CompareSettings(), None)
    assert told["protocol"]["family"] == ["call_f1"]
    asked = compare(paths, CompareSettings(metrics=("param_acc_matched",)), None)
    assert asked["protocol"]["family"] == ["param_acc_matched"]


def test_a_comparison_leads_with_the_metric_that_its_runs_lead_with(make_run):
    names = ("pass_rate", "call_f1", "calls_right")
    runs = [
        make_run(
            name,
            [task("a"), task("b")],
            [chat("a"), chat("b")],
            [Score(id, 0, 0, metric, value) for id in "ab" for metric in names],
            dict.fromkeys(names, metric(value)),
        )
        for name, value in (("one", 0.0), ("two", 1.0))
    ]
    for run in runs:
        manifest = json.loads((run.path / "run.json").read_text())
        run.write_json("run.json", manifest | {"gold": "calls"})
    paths = [run.path for run in runs]
    parts = list(comparison_tables(compare(paths, CompareSettings(), None)))
    assert parts[0].startswith("two minus one by calls_right, 2 pairs: ")
    order = ["calls_right", "call_f1", "pass_rate"]
    assert [row[0] for row in parts[1].rows] == order
    assert [row[0] for row in seal.compare(*paths)._glance().grid.rows] == order


def test_a_metric_whose_test_and_interval_disagree_is_named(runs):
    content = compare([run.path for run in runs(("a", "b"))], CompareSettings(), None)
    entry, pair = content["comparisons"][0], content["pairs"][0]
    content["protocol"]["family"] = [entry["metric"]]
    for p, low, high, told in (
        (0.008, -0.059, 0.039, True),
        (0.2, -0.059, -0.001, True),
        (0.008, -0.059, -0.001, False),
        (0.2, -0.059, 0.039, False),
        (None, None, None, False),
    ):
        entry |= {"p": p, "low": low, "high": high}
        lines = [line for line in odds_lines(content, pair) if entry["metric"] in line]
        assert bool(lines) == told


def test_every_form_says_once_a_table_what_is_better_low_and_what_a_figure_is_of(
    make_run, tmp_path: Path
):
    names = ("call_f1", "user_instruction_error", "param_acc_matched")
    paths = [
        make_run(
            name,
            [task("a"), task("b")],
            [chat("a"), chat("b")],
            [Score(id, 0, 0, each, value) for id in "ab" for each in names],
            dict.fromkeys(names, metric(value)),
        ).path
        for name, value in (("one", 0.0), ("two", 1.0))
    ]
    low = "lower is better: user_instruction_error"
    part = "only of goals in which a gold tool was called: param_acc_matched"
    content = compare(paths, CompareSettings(metrics=names), tmp_path / "out")

    assert [line for line in comparison_tables(content) if line in (low, part)] == [low, part]
    assert json.loads((tmp_path / "out/comparison.json").read_bytes())["scales"] == {
        "param_acc_matched": {
            "gold_is_best": True,
            "condition": "goals in which a gold tool was called",
        },
        "user_instruction_error": {"higher_is_better": False, "gold_is_best": False},
        "call_f1": {"gold_is_best": True},
    }
    for form in ("md", "html", "tex"):
        text = (tmp_path / f"out/comparison.{form}").read_text().replace("\\_", "_")
        assert (text.count(low), text.count(part)) == (1, 1), form


def test_what_was_varied_heads_a_comparison_in_every_form(runs, tmp_path: Path) -> None:
    paths = []
    for run, name, top_k in zip(runs(("own/x",), ("a", "b")), "ab", (3, 5), strict=True):
        manifest = json.loads((run.path / "run.json").read_bytes())
        manifest["system"] |= {"top_k": top_k, "retriever": "bm25", "versions": {"seal": name}}
        (run.path / "run.json").write_text(json.dumps(manifest))
        paths.append(run.path)
    content = compare(paths, CompareSettings(), tmp_path / "out")
    told = "varied: top_k 3 (a), 5 (b)"
    assert content["varied"] == {"top_k": {"a": "3", "b": "5"}}
    assert next(iter(comparison_tables(content))) == next(iter(all_parts(content))) == told
    assert told in (tmp_path / "out" / "comparison.html").read_text()
    report = write_report([RunFolder.open(path) for path in paths], tmp_path / "both.html")
    assert "varied: top_k 3 (" in report.read_text()
    assert next(iter(comparison_tables({**content, "varied": {}}))) != told


def test_a_comparison_begins_with_its_answer_and_its_page_folds_the_rest_once(
    runs, tmp_path: Path
) -> None:
    content = compared(runs(("a", "b")), tmp_path / "out")
    told = [part for part in comparison_tables(content) if not isinstance(part, Grid)]
    assert told[0].startswith("new minus base by pass_rate, 2 pairs: +1.000 [")
    assert told[0].endswith("p 0.250 (not significant at 0.05); 2 won, 0 lost")
    page = (tmp_path / "out" / "comparison.html").read_text()
    places = [
        page.index(text)
        for text in (told[0], "<svg", "2 won by new", "tasks in which it is higher, lower")
    ]
    assert places == sorted(places)
    opened = (line for line in page.splitlines() if re.search(r"</?details", line))
    depth = top = 0
    for line in opened:
        top += depth == 0
        depth += line.count("<details") - line.count("</details")
    assert top == 3  # won, lost, the rest


def test_the_report_of_several_runs_begins_with_their_comparison(runs, tmp_path: Path) -> None:
    base, new = runs(("a", "b"))
    page = write_report([base, new], tmp_path / "both.html").read_text()
    heads = re.findall(r'<h2 id="title-[^"]*">([^<]*)</h2>', page)
    assert heads[:2] == ["Comparison", "Summary"]
    assert "<strong>lexical (base) solved" in page and "<strong>lexical (new) solved" in page

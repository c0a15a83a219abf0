"""Texts of any characters, said by judges, models, tools and files: they stop no report."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_runs import Writer, blocks, metric, rows_of, texts_of
from rich.console import Console

import seal
from seal.cli.dispatch import main
from seal.core import (
    Completion,
    Execution,
    Goal,
    Milestone,
    Plan,
    Ranking,
    Request,
    Score,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    write_records,
)
from seal.core.conditions import Argument, Called
from seal.core.text import escaped_json, printable
from seal.core.values import well_formed
from seal.experiments.settings import CompareSettings
from seal.report.comparison import compare
from seal.report.experiments import explain, explanation_tables
from seal.report.run_pages import Pieces, data_block, write_report
from seal.report.table_forms import terminal_text
from seal.report.transcript import view
from seal.runs.run import RunFolder

PLANTED = {
    "C1": "don\x92t",
    "C0": "\x01\x07\x08\x0b\x0c\x1f\x7f",
    "NUL": "a\x00b",
    "escapes of a terminal": "\x1b[31m\x1b]0;title\x07\x9b31m",
    "separators": "\u2028\u2029\x85",
    "bidirectional": "\u202agpj\u202e\u2066\u2069",
    "half a pair": "\ud800",
    "the other half": "\udc92",
    "a pair in halves": "\ud83d\ude00",
    "no characters": "\ufeff\ufffe\uffff\U0010ffff",
    "tags": "</script><script>document.title='owned'</script><!--<script>",
    "quotes": "\"'`><img src=x onerror=alert(1)>{{7*7}}{%x%}",
    "backslashes": "\\x92\\u0092\\u\\",
    "lines": "a\rb\r\nc\n\nd\te",
    "a reference": "@12",
    "nothing": "",
}
TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
USER, MANAGER, EXECUTOR = "user_simulator", "execution_manager", "executor"
IDS = ("own/a", "own/b")


@dataclass
class Speaker:
    """A model that always says one thing."""

    said: Completion
    identity: str = "speaker"

    def complete(self, request: Request) -> Completion:
        return self.said


@dataclass
class Said:
    """One text in every place of tools, tasks, chats and scores; it is well formed."""

    text: str

    @property
    def tool(self) -> Tool:
        own = {"type": "object", "properties": {self.text: {"description": self.text}}}
        return Tool(f"own/{self.text}/now", f"w{self.text}", self.text, own)

    @property
    def ids(self) -> list[str]:
        return [f"{id}{self.text}" for id in IDS]

    @property
    def tasks(self) -> list[Task]:
        called = Called(self.tool.id, {self.text: Argument((self.text, "Paris"))})
        plans = (Plan((Milestone(called),)),)
        goal = Goal(f"query {self.text}", plans, (f"a{self.text}",), relevant=(self.tool.id,))
        tags, persona = {f"t{self.text}": self.text}, {f"p{self.text}": self.text}
        return [Task(id, "own", (goal,), tags=tags, persona=persona) for id in self.ids]

    def chats(self, said: str) -> list[Trajectory]:
        return [
            Trajectory(
                id,
                0,
                tuple(self._steps(said)),
                (Ranking(id, 0, self.text, ((self.tool.id, 1.0),)),),
                ((self.tool.id,),),
                (Stop("done"),),
                (f"{said}{self.text}",),
            )
            for id in self.ids
        ]

    def _steps(self, said: str) -> list[Step]:
        text, tool = self.text, self.tool
        right = ToolCall("call_0", tool.name, {text: text}, tool=tool.id)
        wrong = ToolCall("call_1", f"no{text}", None, raw="{" + text)
        found = ToolResult("call_0", text, None, {text: text}, Execution(tool.id, {text: text}))
        error = ToolResult("call_1", text, {"kind": f"k{text}", "message": text})
        table = {f"t{text}": [{f"c{text}": text}]}
        return [
            Step(0, USER, MANAGER, f"q{text}", state=table),
            Step(1, MANAGER, EXECUTOR, text, right, turn=1),
            Step(2, MANAGER, EXECUTOR, text, wrong, turn=1),
            Step(3, EXECUTOR, MANAGER, text, result=found, turn=2, state={f"t{text}": []}),
            Step(4, EXECUTOR, MANAGER, text, result=error, turn=2),
            Step(5, f"r{text}", USER, f"{said}{text}", turn=3),
        ]

    def scores(self, value: float) -> list[Score]:
        text, (first, second) = self.text, self.ids
        label = "solved" if value else "unsolved"
        told = {"label": label, "reason": text, text: [text, {text: text}]}
        return [
            Score(first, 0, 0, "pass_rate", value, reason=text, details=told),
            Score(second, 0, 0, "pass_rate", 0.0, reason=text, details={"label": "unsure"}),
            Score(second, 0, 0, f"m{text}", 0.0, reason=text, details={text: text * 400}),
        ]

    def run(self, root: Path, name: str, value: float) -> RunFolder:
        means = {"pass_rate": metric(value, by={self.text: metric(value)}), f"m{self.text}": None}
        means[f"m{self.text}"] = metric(0.5)
        made, scores = self.chats(name), self.scores(value)
        run = Writer(root)(name, self.tasks, made, scores, means, f"{name}{self.text}")
        write_records(run.path / "tools.jsonl", [self.tool])
        return run

    def runs(self, root: Path) -> list[RunFolder]:
        return [self.run(root, "base", 0.0), self.run(root, "new", 1.0)]


class Tags(HTMLParser):
    """The tags of a page, as a browser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs).get("type")))


def scripts(page: str) -> list[str | None]:
    """Return the types of the scripts of a page, but for data; None is the page's own."""
    found = [kind for tag, kind in Tags(page).found if tag == "script"]
    return [kind for kind in found if kind != "application/json"]


def check_report(said: Said, root: Path) -> None:
    runs = said.runs(root)
    page = write_report(runs, root / "report.html").read_bytes().decode()

    assert not CONTROL.search(page)
    assert scripts(page) == [None]
    assert not any(tag == "img" for tag, _ in Tags(page).found)
    assert [row[0] for row in rows_of(page)] == [printable(id) for id in said.ids]
    shown = blocks(page, "chat")
    for place in range(2):
        mine = [score for score in said.scores(0.0) if score.task_id == said.ids[place]]
        _, table = shown[f"0/{place}/0"].split('<table class="scores">')
        reasons = re.findall('<td dir="auto">(.*?)<details>', table, re.DOTALL)
        assert [unescape(reason) for reason in reasons] == [printable(one.reason) for one in mine]
        metrics = texts_of(table, "th")[3:]
        assert metrics == [" ".join(printable(score.metric).split()) for score in mine]
    for lane, name in enumerate(("base", "new")):
        answer = escape(printable(f"{name}{said.text}"), quote=False)
        assert (
            f'Final answer</h4><div><p class="said" dir="auto">{answer}</p>'
            in (shown[f"{lane}/0/0"])
        )


def check_comparison(said: Said, root: Path) -> None:
    paths = [run.path for run in said.runs(root)]
    content = compare(paths, CompareSettings(), root / "out")
    texts = {path.name: path.read_bytes().decode() for path in (root / "out").iterdir()}

    assert json.loads(texts.pop("comparison.json")) == json.loads(json.dumps(content))
    assert texts.pop("comparison.csv").startswith("metric,run,other,mean,")  # names as they are
    assert set(texts) == {"comparison.html", "comparison.md", "comparison.tex"}
    assert not any(CONTROL.search(text) for text in texts.values())
    assert scripts(texts["comparison.html"]) == []


def check_explanation(said: Said, root: Path) -> None:
    content = explain(said.run(root, "base", 0.0).path)

    assert not CONTROL.search(terminal_text(explanation_tables(content)))


def check_view(said: Said, root: Path) -> None:
    run = said.run(root, "base", 0.0)
    for task in (None, *said.ids):
        out = io.StringIO()
        view(run, task, out=Console(file=out, width=120))
        assert not CONTROL.search(out.getvalue())
        out.getvalue().encode()


def check_reading_back(said: Said, root: Path) -> None:
    run = said.run(root, "base", 0.0)
    assert list(run.tasks()) == said.tasks
    assert list(run.trajectories()) == said.chats("base")
    assert list(run.scores()) == said.scores(0.0)


CHECKS = [check_report, check_comparison, check_explanation, check_view, check_reading_back]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_text_is_shown_and_does_nothing(tmp_path: Path, planted: str) -> None:
    said = Said(well_formed(PLANTED[planted]))
    check_report(said, tmp_path)
    check_reading_back(said, tmp_path)


@pytest.mark.parametrize("check", CHECKS)
def test_all_planted_texts_at_once_are_shown_and_do_nothing(tmp_path: Path, check: Any) -> None:
    check(Said(well_formed("".join(PLANTED.values()))), tmp_path)


@pytest.mark.parametrize("check", CHECKS)
def test_any_text_is_shown_and_does_nothing(check: Any) -> None:
    @settings(max_examples=10, deadline=None)
    @given(TEXTS)
    def holds(text: str) -> None:
        with TemporaryDirectory() as folder:
            check(Said(well_formed(text)), Path(folder))

    holds()


def test_an_explanation_of_any_texts_has_its_figure(tmp_path: Path) -> None:
    said = Said(well_formed("".join(PLANTED.values())))
    content = explain(said.run(tmp_path, "base", 0.0).path, out=tmp_path / "out")
    written = json.loads((tmp_path / "out" / "explanation.json").read_bytes())
    assert written == {name: part for name, part in content.items() if name != "notes"}
    assert (tmp_path / "out" / "figures" / "waterfall.svg").is_file()


@settings(max_examples=30)
@given(TEXTS)
def test_halves_of_pairs_are_written_as_what_a_file_can_hold(text: str) -> None:
    with TemporaryDirectory() as folder:
        run = RunFolder(Path(folder))
        score = Score(text, 0, 0, text, None, reason=text, details={text: text})
        write_records(run.scores_path, [score])
        held = well_formed(text)
        kept = Score(held, 0, 0, held, None, reason=held, details={held: held})
        assert list(run.scores()) == [kept]
        needed = {"tasks": 0, "metrics": {}}
        # The name begins with a letter of its own: that of a field would be checked as that field.
        run.write_json("summary.json", {f"x{text}": [text], **needed})
        assert run.summary() == {f"x{held}": [held], **needed}


JSON = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(-(2**53), 2**53)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)


@given(st.lists(TEXTS.map(printable)))
def test_a_block_says_what_it_was_given(pieces: list[str]) -> None:
    block = str(Pieces().block("chat", "0", pieces))

    assert blocks(block, "chat") == {"0": "".join(pieces)}
    assert not CONTROL.search(block)
    assert scripts(block) == []
    block.encode()


@given(JSON)
def test_escaped_json_says_the_same_and_holds_no_control(value: Any) -> None:
    for indent in (None, 2):
        text = json.dumps(value, ensure_ascii=False, indent=indent)
        assert json.loads(escaped_json(text)) == value
        assert not CONTROL.search(escaped_json(text))
        escaped_json(text).encode()


def test_a_control_in_a_block_is_written_as_an_escape() -> None:
    text = json.dumps("don\x92t\u2028", ensure_ascii=False)
    assert r'"don\u0092t\u2028"' in data_block("chat", "0", text)


def test_a_run_whose_model_and_judge_say_anything_has_its_report(tmp_path: Path) -> None:
    text = "".join(PLANTED.values())
    verdict = json.dumps({"verdict": "unsolved", "reason": text})
    done = seal.run(
        "sample",
        out=tmp_path / "run",
        model=Speaker(Completion(text)),
        role_models={"judge": Speaker(Completion(verdict))},
        limit=4,
        baselines=False,
    )

    assert done.exit_code == 0
    page = write_report([done.folder], tmp_path / "report.html").read_bytes().decode()
    assert not CONTROL.search(page)
    assert scripts(page) == [None]
    assert blocks(page, "chat")
    reasons = [score.details.get("reason") for score in done.folder.scores()]
    assert well_formed(text) in reasons


@pytest.mark.parametrize("name", ["run\x92", "run\x1b[31m", "run\u202e", os.fsdecode(b"run\xff")])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str, capsys, monkeypatch) -> None:
    base, new = Said("x").runs(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    out = tmp_path / f"{name} compared"

    assert main(["report", str(base.path), str(new.path), "--out", f"{name}.html"]) == 0
    assert main(["compare", str(base.path), str(new.path), "--out", str(out)]) == 0
    assert main(["explain", str(base.path)]) == 0
    assert main(["view", str(base.path), "nothing"]) == 2
    told = capsys.readouterr()
    assert not CONTROL.search(told.out + told.err)
    pages = [(tmp_path / f"{name}.html"), out / "comparison.html"]
    assert not any(CONTROL.search(page.read_bytes().decode()) for page in pages)


def test_what_a_verb_prints_as_json_moves_no_cursor_and_says_the_same(tmp_path, capsys) -> None:
    text = well_formed("".join(PLANTED.values()))
    run = Said(text).run(tmp_path, "base", 0.0)

    assert main(["explain", str(run.path), "--json"]) == 0
    out = capsys.readouterr().out
    assert not CONTROL.search(out)
    assert json.loads(out) == json.loads(json.dumps(seal.explain(run.path).content))


def test_an_error_that_names_a_task_moves_no_cursor(tmp_path, capsys) -> None:
    run = Said("\x1b[31m\x9b").run(tmp_path, "base", 0.0)
    assert main(["view", str(run.path), "own/zzz"]) == 2
    error = capsys.readouterr().err
    assert "own/a␛[31m" in error
    assert not CONTROL.search(error)

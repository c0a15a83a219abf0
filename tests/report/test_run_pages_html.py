"""The report's text; what a browser makes of it is in test_run_pages_browser.py."""

import hashlib
import json
import os
import re
from base64 import b64encode
from dataclasses import replace

import pytest
from forked import Forked
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from report_runs import blocks, chat, metric, rows_of, task, texts_of, verdict

from seal.core import DataError, UsageError
from seal.core.values import json_text
from seal.report import run_pages
from seal.report.chat_pages import CUT, Annotations, chat_pieces
from seal.report.lanes import lanes_of
from seal.report.pages import Bar, BarGroup, bar_chart, linked, task_link
from seal.report.run_pages import (
    _IN_VAIN,
    Pieces,
    RunPages,
    data_block,
    data_blocks,
    write_report,
)
from seal.report.sections import SECTIONS, ceiling_section, shortfalls


def page(runs, tmp_path, **options):
    return write_report(runs, tmp_path / "report.html", **options).read_text()


def test_one_file_reaches_for_nothing_outside(scored_run, tmp_path):
    text = page([scored_run], tmp_path)

    assert not re.search(r"""(?:src|href)=["'](?!#)|@import|url\(|https?://|fetch\(""", text)
    assert "default-src 'none'" in text


def test_the_table_tells_why_a_task_failed_and_a_chat_begins_with_its_outcome(scored_run, tmp_path):
    told = rows_of(page([scored_run], tmp_path))
    pages = RunPages([scored_run])
    (own,) = (at for at, lane in enumerate(pages.lanes) if lane.kind == "run")

    assert pages.portion(0) == told  # a server's table says the same
    assert {row[4].partition("(")[0] for row in told} == {"weather_now"}
    chats = [row[3][own][0] for row in told]
    assert [chat[1] for chat in chats] == ["solved", "unsolved", "error"]
    assert [chat[4] for chat in chats] == ["", "answer contradicts or omits results (judged)", ""]
    assert [chat[5:7] for chat in chats] == [
        ["The sky is clear.", 1],
        ["The sky is clear.", 1],
        ["", 1],
    ]
    shown = "".join(pages.chat(own, 1, 0))
    parts = ("Outcome:", "Final answer", 'class="steps"', "Stopped:")
    assert sorted(parts, key=shown.index) == [*parts]


def test_the_policy_allows_exactly_the_script_and_style_of_the_page(scored_run, tmp_path):
    text = page([scored_run], tmp_path)

    for name in ("script", "style"):
        inline = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        assert len(inline) == 1
        digest = b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
        assert f"{name}-src &#39;sha256-{digest}&#39;" in text or f"'sha256-{digest}'" in text


def test_the_same_run_gives_the_same_bytes(scored_run, tmp_path):
    assert page([scored_run], tmp_path) == page([scored_run], tmp_path)


def test_summary_has_floor_model_and_ceiling(scored_run, tmp_path):
    text = page([scored_run], tmp_path)

    assert "<strong>0.500</strong>" in text
    assert "[0.400, 0.600]" in text
    assert "n=2, undefined 1, unsure 0.250, micro" not in text
    assert "n=10, micro 0.800" in text


@pytest.mark.parametrize("name", ["messages", "turns"])
def test_what_was_said_is_counted_in_messages_also_where_an_older_run_calls_them_turns(
    scored_run, tmp_path, name
):
    told = json.loads((scored_run.path / "summary.json").read_text())
    scored_run.write_json("summary.json", told | {"usage": {"calls": 3, name: 1200}})
    assert "calls: 3, messages: 1,200" in page([scored_run], tmp_path)


def test_large_counts_have_separators(scored_run, tmp_path):
    summary = {**scored_run.summary(), "tasks": 10_000, "errors": 13_501, "skipped": 20_000}
    summary["skipped_reasons"] = {"too long": 20_000}
    summary["usage"] = {"calls": 76_000, "messages": 17_360}
    summary["metrics"] = {"pass_rate": metric(0.5, 31_000, undefined=14_000)}
    scored_run.write_json("summary.json", summary)
    page = write_report([scored_run], tmp_path / "report.html").read_text()

    shown = re.sub("<(script|style|pre)[^>]*>.*?</\\1>", "", page, flags=re.DOTALL)
    texts = re.sub("<[^>]*>", " ", shown)
    assert "10,000 tasks, 13,501 errors, 20,000 skipped" in texts
    assert "n=31,000, undefined 14,000" in texts
    assert re.findall(r"(?<![\w.,:/-])\d{5,}(?![\w.])", texts) == []


def test_notes_fold_so_that_warnings_and_the_answer_stand_at_the_top(scored_run, tmp_path):
    told = json.loads((scored_run.path / "summary.json").read_text())
    cut = {"truncated": {"user": 3}, "starred": 2}
    scored_run.write_json("summary.json", told | cut)
    before, _, rest = page([scored_run], tmp_path).partition('<details class="notice">')
    fold, _, after = rest.partition("</details>")
    assert "lexical: warning: a service" in before and "lexical: answers cut at a limit" in fold
    assert "To know before reading: 1" in fold and '<p class="answer"' in after
    assert "Of floor and ceiling: the means alone" in after


def test_every_conversation_is_in_the_page_with_its_scores(scored_run, tmp_path):
    text = page([scored_run], tmp_path)

    assert set(blocks(text, "chat")) == {
        f"{lane}/{place}/0" for lane in range(3) for place in range(3)
    }
    scores = blocks(text, "chat")["1/0/0"].partition('<table class="scores">')[2]
    (score,) = texts_of(scores, "tr")[1:]
    assert score.startswith("pass_rate1.000the answer states the sky")


def test_the_index_tells_the_outcome_of_every_chat(scored_run, tmp_path):
    text = page([scored_run], tmp_path)

    index = blocks(text, "index")["0"]
    assert [kind for kind, *_ in index["lanes"]] == ["floor", "run", "ceiling"]
    assert [folder for *_, folder in index["lanes"]] == ["run/floor", "run", "run/ceiling"]
    assert index["columns"] == ["pass_rate", "recall@10"]
    assert [[chat[:5] for chat in row[3][1]] for row in rows_of(text)] == [
        [[0, "solved", "done", [1.0, None], ""]],
        [[0, "unsolved", "done", [0.0, None], "answer contradicts or omits results (judged)"]],
        [[0, "error", "error", [None, None], ""]],
    ]


def test_the_ceiling_section_names_tasks_and_reasons(scored_run, tmp_path):
    found = shortfalls(lanes_of([scored_run])[-1])

    assert [(s.metric, s.reason, s.tasks) for s in found] == [
        ("call_recall", "the gold tool is not in the pool", (("own/b", "#task-own/b", 0.5),))
    ]
    assert "the gold tool is not in the pool" in page([scored_run], tmp_path)


def test_a_perfect_ceiling_has_no_section_of_what_it_lacks(make_run, tmp_path):
    run = make_run("run", [task("own/a")], metrics={"pass_rate": metric(1.0)})
    make_run("run/ceiling", [task("own/a")], [], [verdict("own/a", "solved")], {"calls": metric(3)})

    assert ceiling_section(lanes_of([run])) is None
    assert "Where the ceiling is below" not in page([run], tmp_path)


def test_without_a_ceiling_there_is_no_such_section(make_run):
    run = make_run("run", metrics={})

    assert ceiling_section(lanes_of([run])) is None


def test_several_runs_stand_side_by_side(make_run, tmp_path):
    one = make_run("one", [task("own/a")], [chat("own/a")], metrics={"pass_rate": metric(0.2)})
    two = make_run("two", [task("own/b")], [chat("own/b")], metrics={"pass_rate": metric(0.8)})

    text = page([one, two], tmp_path)

    assert [lane.label for lane in lanes_of([one, two])] == ["lexical (one)", "lexical (two)"]
    assert "<strong>0.200</strong>" in text
    assert "<strong>0.800</strong>" in text
    assert [row[0] for row in rows_of(text)] == ["own/a", "own/b"]


def test_runs_that_measured_different_things_are_marked(make_run, tmp_path):
    runs = [make_run(f"run{n}", metrics={}, measure={"seed": n}) for n in range(2)]

    assert "did not measure the same: seed differ" in page(runs, tmp_path)


def test_runs_that_were_played_more_often_measured_the_same(make_run, tmp_path):
    runs = [make_run(f"run{n}", metrics={}, measure={"trials": n}) for n in (1, 4)]

    assert "did not measure the same" not in page(runs, tmp_path)


def test_conversations_beyond_the_budget_are_left_out_and_counted(scored_run, tmp_path):
    text = page([scored_run], tmp_path, max_bytes=3000)

    assert len(blocks(text, "chat")) < 9
    assert blocks(text, "index")["0"]["left_out"] == 9 - len(blocks(text, "chat"))


def test_of_several_runs_the_page_has_room_for_few_conversations_first_those_that_differ(
    make_run, tmp_path, monkeypatch
):
    ids = [f"own/{number}" for number in range(9)]
    runs = [
        make_run(
            name,
            map(task, ids),
            map(chat, ids),
            [verdict(id, "unsolved" if id in lost else "solved") for id in ids],
            {"pass_rate": metric(0.5)},
        )
        for name, lost in (("one", ids[7:]), ("two", ids[8:]))
    ]
    assert len(blocks(page(runs, tmp_path), "chat")) == 18
    monkeypatch.setattr(run_pages, "_SIDE_BY_SIDE", 5_500)
    text = page(runs, tmp_path)
    kept = [*blocks(text, "chat")]
    assert kept[:3] == ["0/7/0", "1/7/0", "0/0/0"] and len(kept) < 18
    assert blocks(text, "index")["0"]["left_out"] == 18 - len(kept)
    assert len(blocks(page(runs[:1], tmp_path), "chat")) == 9


def test_a_page_without_room_makes_no_further_conversation(make_run):
    class Counted(RunPages):
        made = 0

        def chat(self, *places):
            self.made += 1
            return super().chat(*places)

    ids = [f"own/{number}" for number in range(50)]
    pages = Counted([make_run("run", map(task, ids), map(chat, ids), metrics={})])
    text = "".join(data_blocks(pages, 5_000))
    assert pages.made == len(blocks(text, "chat")) + _IN_VAIN < 50
    assert blocks(text, "index")["0"]["left_out"] == 50 - len(blocks(text, "chat"))


def test_a_long_text_is_cut_and_the_rest_counted():
    shown = "".join(chat_pieces(chat("own/a", result="x" * 100_000), Annotations()))

    assert "x" * CUT + "</pre>" in shown
    assert "x" * (CUT + 1) not in shown
    assert f"{100_000 - CUT:,} more characters" in shown


def test_no_text_ends_a_data_block():
    block = data_block("index", "0", json_text(["</script><!--</SCRIPT >", "&amp;<script>"]))

    assert block.lower().count("</script") == block.count("<script") == 1
    assert "<!--" not in block
    assert blocks(block, "index") == {"0": ["</script><!--</SCRIPT >", "&amp;<script>"]}


@pytest.mark.slow
@given(st.lists(st.lists(st.text("@12<&ab/! script\n", max_size=30), max_size=5), max_size=5))
def test_blocks_that_share_pieces_say_what_they_were_given(values):
    shared = Pieces()
    page = "".join(shared.block("chat", str(n), value) for n, value in enumerate(values))

    assert blocks(page, "chat") == {str(n): "".join(value) for n, value in enumerate(values)}


@pytest.mark.parametrize("said", ["the same words", "the same long words" * 100])
def test_what_occurs_twice_is_written_once(said):
    shared = Pieces()
    page = shared.block("chat", "0", [said, "a", said]) + shared.block("chat", "1", [said])

    assert page.count(said) == 1
    assert blocks(page, "chat") == {"0": f"{said}a{said}", "1": said}


def test_pieces_of_a_block_without_room_are_not_taken_for_written():
    shared, said = Pieces(), "the same long words"

    assert shared.block("chat", "0", [said], room=20) is None
    assert blocks(shared.block("chat", "1", [said]), "chat") == {"1": said}


def test_controls_in_the_data_become_visible(make_run, tmp_path):
    run = make_run(
        "run", [task("a\x1b", "b\u202e")], [chat("a\x1b")], metrics={"m\x00": metric(0.5)}
    )

    text = page([run], tmp_path)

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_links_survive_any_task_id():
    assert task_link("G1/12 &=#%", 1, 0, 5) == "#task-G1/12%20%26%3D%23%25&lane=1&trial=0&step=5"


def test_a_chart_shows_values_whiskers_and_what_is_missing():
    bars = (Bar("a", "run-0", 0.5, 0.25, 0.75), Bar("b", "run-1", None))

    svg = bar_chart("t<i>", [BarGroup("m&m", bars)])

    assert 'width="190.0"' in svg
    assert "M95.0" in svg
    assert "H285.0" in svg
    assert "n/a" in svg
    assert "t&lt;i&gt;" in svg
    assert "m&amp;m" in svg


def test_a_chart_cuts_what_exceeds_its_scale():
    svg = bar_chart("t", [BarGroup("m", (Bar("a", "floor", 7),))], maximum=5)

    assert 'width="380.0"' in svg
    assert ">7</text>" in svg


def test_groups_are_drawn_and_other_tags_stand_in_a_fold(make_run, tmp_path):
    by = {name: metric(0.5) for name in ("single", "parallel", "dep=true", "dep=false", "one=1")}
    by["chat"] = metric(None, 0)
    run = make_run("run", metrics={"pass_rate": metric(0.5, by=by)})

    visible, folded = page([run], tmp_path).split("By other tags (1)")

    assert "pass_rate by group" in visible
    assert ">parallel<" in visible
    assert ">chat<" not in visible
    assert "pass_rate by dep" in folded
    assert "one=1" not in folded.split("</section>")[0]


def test_groups_of_one_task_each_are_not_drawn(make_run, tmp_path):
    by = {name: metric(0.5, 1) for name in "abc"} | {"id=1": metric(0.5, 1), "id=2": metric(0, 1)}
    run = make_run(metrics={"pass_rate": metric(0.5, 3, by=by)})

    text = page([run], tmp_path)
    assert "pass_rate by" not in text


def test_categories_of_scenarios_are_drawn_in_place_of_their_groups(make_run, tmp_path):
    by = {
        "a": metric(0.5),
        "b": metric(0.5),
        "single_tool=true": metric(0.9),
        "single_tool=false": metric(0.1),
        "multiple_tool=true": metric(0.1),
    }
    run = make_run(metrics={"similarity": metric(0.5, 20, by=by)})

    text = page([run], tmp_path)
    assert "similarity by category" in text
    assert "MTC, multiple tool calls, lexical: 0.100" in text
    assert "by group" not in text
    assert "by single_tool" not in text


def test_what_no_run_has_a_value_of_is_a_note_and_no_row(make_run, tmp_path):
    lacking = metric(None, 0, undefined=3, reasons={"nothing was retrieved": 3})
    run = make_run(metrics={"pass_rate": metric(0.5, 3), "recall@5": lacking})

    summary = page([run], tmp_path).partition("<details")[0]
    assert "n/a (nothing was retrieved): recall@5" in summary
    assert '<th scope="row">recall@5</th>' not in summary


def test_many_groups_are_cut_and_the_rest_counted(make_run, tmp_path):
    run = make_run(metrics={"pass_rate": metric(0.5, by={f"g{n}": metric(0.5) for n in range(20)})})

    assert "pass_rate by group; 4 more in summary.json" in page([run], tmp_path)


def test_a_model_may_be_described_by_a_map(make_run):
    run = make_run(metrics={}, model={"model": "openai/gpt-4o", "base_url": None})

    assert lanes_of([run])[0].label == "openai/gpt-4o"


def test_sections_can_be_replaced(scored_run, tmp_path):
    class Waterfall:
        title = "Waterfall <1>"

        def render(self, lanes):
            return Markup("<p>{}</p>").format(len(lanes))

    text = page([scored_run], tmp_path, sections=[Waterfall()])

    assert "Waterfall &lt;1&gt;</h2>\n<p>3</p>" in text
    assert "Charts" not in text


def test_the_sections_can_be_named():
    assert {"summary", "charts", "ceiling"} <= set(SECTIONS.names())


@pytest.mark.parametrize("name", ["odd", "sample", "../x"])
def test_an_installed_section_that_cannot_be_made_is_named(scored_run, tmp_path, name):
    lib = tmp_path / "lib"
    (lib / "odd-1.dist-info").mkdir(parents=True)
    (lib / "odd-1.dist-info" / "METADATA").write_text("Name: odd\nVersion: 1\n")
    points = f"[seal.report_sections]\n{name} = odd_sections:Odd\n"
    (lib / "odd-1.dist-info" / "entry_points.txt").write_text(points)
    made = "    def __init__(self):\n        raise ValueError('no')\n"
    (lib / "odd_sections.py").write_text("class Odd:\n" + made)

    words = ["seal", "report", scored_run.path, "--out", tmp_path / "page.html"]
    process = Forked(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(lib)})
    _, said = process.communicate()

    told = f"the plug-in {name!r}: Odd of the report cannot be made: ValueError: no"
    assert (process.returncode, said.strip()) == (2, f"seal: {told}")


def test_a_failed_report_leaves_the_old_one(scored_run, tmp_path):
    page([scored_run], tmp_path)
    scored_run.trajectories_path.write_text("garbage\n")

    with pytest.raises(DataError, match=r"trajectories\.jsonl, line 1"):
        page([scored_run], tmp_path)

    assert "SEAL report" in (tmp_path / "report.html").read_text()
    assert not list(tmp_path.glob(".*.part"))


def test_no_run_and_an_unscored_run_are_refused(make_run, tmp_path):
    with pytest.raises(UsageError, match="no run to report on"):
        page([], tmp_path)
    with pytest.raises(DataError, match="seal score"):
        page([make_run()], tmp_path)


def test_a_chat_of_a_task_that_is_gone_is_still_listed(make_run, tmp_path):
    lost = replace(chat("lost"), offered=())
    run = make_run("run", [], [lost], [verdict("lost", "solved")], metrics={})

    assert rows_of(page([run], tmp_path))[0][0] == "lost"


def test_a_chat_says_first_at_which_stage_each_goal_failed(scored_run):
    pages = RunPages([scored_run])
    (lane,) = (place for place, each in enumerate(pages.lanes) if each.kind == "run")
    first, second = ("".join(pages.chat(lane, place, 0)) for place in (0, 1))
    assert "failed:" not in first
    assert second.index("Goal 1 failed: ") < second.index("Offered tools")


def test_a_part_is_loaded_late_only_if_the_summaries_leave_open_whether_it_says_something(make_run):
    entries = {"pass_rate": metric(1.0)}
    run = make_run("run", [task("own/a")], [chat("own/a")], [verdict("own/a", "solved")], entries)
    pages = RunPages([run])
    found = dict(zip((each.title for each in pages.sections), pages.early(), strict=True))
    silent = {title for title, body in found.items() if body == ""}
    assert silent >= {"Comparison", "Judges", "By category and augmentation"}
    assert "Where the ceiling is below 1.000" in silent
    assert found["Why goals failed"] is None
    text = "".join(pages.page(pages.early(), **linked(""), blocks=(), unsure=pages.unsure))
    assert re.findall(r'<a href="#section-\d+" hidden>([^<]*)<', text) == [
        "What each role did",
        "Why goals failed",
        "Missions",
    ]
    assert text.count("data-unsure hidden>") == 3
    assert not any(map(pages.holds, pages.unsure))

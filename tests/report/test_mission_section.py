"""Tables of missions: what they are made of, where they stand, and when they are left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mmtb_sources import CHAT, CLARIFY, MIXED, PARALLEL, SERIAL, SINGLE, record, write_records

from seal.core import Goal, Milestone, Plan, Score, Task
from seal.core.conditions import Called
from seal.pools.counts import count_missions
from seal.pools.imports import import_benchmark
from seal.report.mission_section import Mission, mission_tables, missions_of, pyramid
from seal.report.run_pages import write_report
from seal.report.table_forms import RunTable, Share
from seal.runs.play import run
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings


def score(task: str, goal: int, value: float | None, **details: Any) -> Score:
    return Score(task, 0, goal, "mission_accuracy", value, details=details)


def serial(value: float, completed: int, **more: Any) -> dict[str, Any]:
    return {
        "value": value,
        "type": "multi",
        "leaf": "serial",
        "completed": completed,
        "total": 4,
        **more,
    }


SCORES = [
    score("a", 0, 1.0, type="single"),
    score("a", 1, **serial(0.0, 1, error="early stop", relation="memory")),
    score("b", 0, 0.0, type="single", error="type error"),
    score("b", 1, **serial(1.0, 4, relation="ellipsis")),
    score("c", 0, 1.0, type="multi", leaf="mixed", completed=3, total=3, optimal=True),
    score("c", 1, 1.0, type="multi", leaf="parallel", optimal=False, completed=2, total=2),
    score("d", 0, None, type="chat"),
    score("e", 0, 1.0),
]


def tables(scores: Sequence[Score] = SCORES) -> dict[str, RunTable[Share]]:
    return {table.title: table for table in mission_tables({"m": missions_of(scores)})}


def row(table: RunTable[Share]) -> dict[str, str]:
    return {name: share.text for name, share in table.rows["m"].items()}


def test_accuracy_by_type_leaf_and_place() -> None:
    found = tables()
    assert row(found["accuracy by type of missions, %"]) == {
        "all": "66.7",
        "single": "50.0",
        "multi": "75.0",
        "serial": "50.0",
        "parallel": "100.0",
        "mixed": "100.0",
        "chat": "-",
        "clarify": "-",
    }
    places = row(found["accuracy by number of missions so far, %"])
    assert places == {"mission 1": "66.7", "mission 2": "66.7"}


def test_optimal_paths_progress_and_relations() -> None:
    assert row(tables()["optimal paths, progress, and accuracy by relation, %"]) == {
        "optimal path": "50.0",
        "progress": "72.7",  # 8 of 11 nodes of serial and mixed missions
        "implicit": "-",
        "ellipsis": "100.0",
        "memory": "0.0",
    }


def test_kinds_of_errors_need_not_sum_to_all_in_the_papers_table() -> None:
    found = tables()
    assert row(found["errors, % of failed missions"]) == {
        "tool errors": "50.0",
        "name hallucination": "0.0",
        "value hallucination": "0.0",
        "value error": "0.0",
    }
    assert row(found["kinds of errors, % of failed missions"]) == {
        "early stop": "50.0",
        "type error": "50.0",
    }


def test_missions_without_type_have_no_table() -> None:
    assert mission_tables({"m": missions_of([score("e", 0, 1.0)])}) == []


def test_the_pyramid_has_a_layer_for_each_length() -> None:
    one, two = pyramid(missions_of(SCORES))
    assert one.routes == {("single",): Share(1, 2), ("multi",): Share(1, 1)}
    assert (one.mean, one.variance) == (0.75, 0.0625)
    assert two.routes == {("single", "multi"): Share(1, 2), ("multi", "multi"): Share(1, 1)}


def test_a_mission_knows_the_types_before_it() -> None:
    assert missions_of(SCORES)[1] == Mission(2, ("single", "multi"), False, SCORES[1].details)


def test_a_goal_without_gold_is_passed_over_and_a_broken_chat_ends_the_sequence() -> None:
    found = missions_of(
        [
            score("a", 0, 1.0, type="single"),
            Score("a", 0, 1, "mission_accuracy", None, reason="no gold calls annotated"),
            score("a", 2, None, type="chat"),
            score("a", 3, 0.0, type="multi"),
            Score("a", 0, 4, "mission_accuracy", None, reason="infrastructure: down"),
            score("a", 5, 1.0, type="chat"),
        ]
    )
    assert [mission.route for mission in found] == [("single",), ("single", "chat", "multi")]


def test_relations_that_gold_implies_have_columns_of_their_own() -> None:
    titled = "optimal paths, progress, and accuracy by relation, %"
    near = row(tables([score("a", 0, 1.0, type="single", relation="near")])[titled])
    assert (near["near"], near["implicit"], "far" in near) == ("100.0", "-", False)


def test_a_data_set_covers_a_share_of_the_type_sequences() -> None:
    chat = Goal("x", labels={"type": "chat"})
    single = Goal("x", (Plan((Milestone(Called("a")),)),))
    related = Goal("y", labels={"type": "chat", "relation": "memory"})
    found = count_missions([Task("1", "b", (single, related)), Task("2", "b", (chat, related))])
    assert (found.missions, found.related, found.types) == (4, 2, {"single": 1, "chat": 3})
    assert found.sequences == {1: 2, 2: 2}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A dialogue, played by the floor's model beside its baselines."""
    folder = tmp_path_factory.mktemp("missions")
    every = (SINGLE, CHAT, CLARIFY, MIXED)
    records = [record(*every), record(PARALLEL, SERIAL, id="d2")]
    write_records(folder / "source" / "records.jsonl", *records)
    import_benchmark("mmtb", folder / "source", folder / "pool")
    settings = RunSettings(pool=folder / "pool", team="direct", cache_dir=folder / "cache")
    return run(settings, folder / "run").folder


def test_the_report_shows_the_tables_and_a_pyramid_a_run(played: RunFolder, tmp_path: Path) -> None:
    page = write_report([played], tmp_path / "report.html").read_text("utf-8")
    assert ">Missions</h2>" in page
    assert "accuracy by type of missions, %" in page
    assert page.count('class="pyramid"') == 3
    assert 'title="single, chat, clarify: 100.0 % of 1"' in page
    assert "6 missions of 4 of 4 types, 66.7 % of them related" in page


def test_users_who_answer_word_by_word_do_not_leave_too_early(played: RunFolder) -> None:
    assert played.summary()["metrics"]["user_instruction_error"]["mean"] == 0.0


def test_other_runs_have_no_such_part(tmp_path: Path) -> None:
    settings = RunSettings(pool="sample", limit=2, baselines=False, cache_dir=tmp_path / "cache")
    folder = run(settings, tmp_path / "run").folder
    assert ">Missions</h2>" not in write_report([folder], tmp_path / "r.html").read_text("utf-8")


def test_each_sequence_of_a_layer_has_a_cell_below_its_beginning() -> None:
    one, two = pyramid(missions_of(SCORES))
    assert [len(one.cells), len(two.cells)] == [4, 16]
    for place, (route, share) in enumerate(two.cells):
        assert route[:1] == one.cells[place // 4][0]
        assert share == two.routes.get(route, Share())
        assert (share.value is None) == (route not in two.routes)

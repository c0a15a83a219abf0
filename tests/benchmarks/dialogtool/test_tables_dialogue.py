"""Tables and figures of a tool's life in dialogue, from scores worked by hand."""

import pytest

import seal
from seal.benchmarks.dialogtool.tables import (
    TABLES,
    DialogueSection,
    api_rows,
    counts_of,
    dialogue_tables,
)
from seal.core import Completion, Goal, Reply, Request, Score, Task, Tool
from seal.evaluation.statistics import Summariser, groups_of
from seal.report.lanes import lanes_of
from seal.report.paper import figures_of, measured_lanes
from seal.report.run_pages import write_report
from seal.runs.run import RunFolder

FIND, BOOK = "Restaurants: findrestaurants", "<b>Eve & Co</b>: buyeventtickets"
TOOL = Tool(
    "dialogtool/Restaurants_2/FindRestaurants",
    "Restaurants_2_FindRestaurants",
    category="Restaurants",
    source={"api": "FindRestaurants"},
)


def score(metric, value, task="a", goal=0, weight=1.0, **details):
    return Score(f"dialogtool/test/{task}", 0, goal, metric, value, weight, details=details)


def executed(value, error=None, missing=(), extra=(), mismatch=(), dates=0, places=0, **place):
    told = {"missing": [*missing], "extra": [*extra], "mismatch": [*mismatch]}
    told |= {"dates": dates, "places": places, "api": FIND}
    return score("execution", value, **place, **told, **({"error": error} if error else {}))


SCORES = [
    score("awareness", 1.0),
    score("awareness", 0.0, goal=1, error="tool_missed"),
    score("awareness", 0.0, "b", error="no_tool_due"),
    score("awareness", 1.0, "b", goal=1),
    score("selection", 1.0, api=FIND, app=True),
    score("selection", 0.5, goal=1, weight=2.0, api=FIND, errors=["unnecessary_call"],
          unnecessary=[BOOK]),
    score("selection", 0.0, "b", api=BOOK, errors=["missing_call"]),
    score("selection", 0.0, "b", goal=1, errors=["parse_error"]),
    executed(1.0),
    executed(0.0, "argument_matching_error", missing=["time"], mismatch=["date", "city"],
             dates=1, places=1, goal=1),
    score("execution", 0.0, "b", error="api_error", api=BOOK),
    score("bleu", 0.25, counts=[3, 2, 1, 0, 4, 4]),
    score("bleu", 0.5, "b", counts=[4, 3, 2, 1, 4, 4]),
    score("rouge_l", 0.4),
    score("role", 7.5),
    score("role", 7.5, "b"),
    score("role_reply", 6.5, role="clerk", ends=["right .", "at nine"]),
    score("role_reply", 7.5, "b", role="clerk", ends=["right .", "at ten"]),
    score("role_reply", 7.5, "b", goal=1, role="clerk", ends=["well ,", "at six"]),
    score("role_reply", 8.5, goal=1, role="nurse", ends=["right .", "at nine"]),
    Score("dialogtool/create/Restaurants_2/FindRestaurants", 0, 0, "creation", 0.75, 4.0),
]  # fmt: skip
TASKS = [
    Task(f"dialogtool/test/{name}", "dialogtool", (Goal("Hi"), Goal("Bye")), tags=tags)
    for name, tags in (("a", {"turns_bucket": 10}), ("b", {"turns_bucket": 20}))
] + [Task("dialogtool/create/Restaurants_2/FindRestaurants", "dialogtool", (Goal("Write it."),))]


@pytest.fixture
def dialogues(make_run):
    """Write a run of these scores, offered APIs as told."""

    def write(name="run", apps="flat", model="lexical"):
        summariser = Summariser({task.id: groups_of(task) for task in TASKS})
        for score in SCORES:
            summariser.add(score)
        run = make_run(name, TASKS, [], SCORES, summariser.metrics(), model)
        from seal.core import write_records

        write_records(run.path / "tools.jsonl", [TOOL])
        system = {"model": model, "arranged": {"apps": apps}}
        measure = {"pool": "dialogtool", "seed": 0}
        run.write_json("run.json", {"measure": measure, "system": system})
        return run

    return write


def figures(run: RunFolder) -> dict[str, dict[str, float | None]]:
    """Return the figures of the paper's tables of runs, to one decimal, by table."""
    (measured,) = measured_lanes(lanes_of([run]))
    found = {}
    for table in TABLES:
        if table.of == "run":
            own = figures_of(table, measured).get("", {})
            found[table.source.removeprefix("DialogTool, ")] = {
                name: None if value is None else round(value, 1) for name, value in own.items()
            }
    return found


def test_the_papers_tables_are_counted(dialogues):
    found = figures(dialogues())
    assert found["Table 3"] == {
        "Tool Creation": 75.0,
        "Awareness": 50.0,
        "Selection": 40.0,  # 2 right of 5 decisions
        "Execution": 33.3,
        "BLEU": 37.5,
        "R.L": 40.0,
        "Role": 7.5,
        "Human": None,
    }
    assert found["Table 4"] == {
        "T.": 25.0,
        "No T.": 25.0,
        "Rec.": 66.7,
        "API.": 20.0,
        "Unn.": 20.0,
        "missing call": 20.0,
        "wrong API": 0.0,
        "app": 33.3,
    }
    assert found["Table 8"] == {
        "Miss": 50.0,
        "Extra": 0.0,
        "Value Mismatch": 50.0,
        "date-related": 50.0,
        "location-related": 50.0,
    }


def test_exact_figures_and_errors_of_execution_stand_beside_the_paper(dialogues):
    pytest.importorskip("sacrebleu")
    run = dialogues()
    lanes = lanes_of([run])
    exact, errors = dialogue_tables(lanes, {"lexical": counts_of(run.scores(), run.tools())})
    assert exact.rows["lexical"]["awareness"].text == "50.0"
    assert exact.rows["lexical"]["awareness exact"].text == "-"
    # (7/8 * 5/6 * 3/4 * 1/2) ** (1/4)
    assert exact.rows["lexical"]["corpus BLEU"].text == "72.3"
    # Of three pairs of the clerk's, one begins alike.
    assert exact.rows["lexical"]["variety"].text == "66.7"
    assert {name: share.text for name, share in errors.rows["lexical"].items()} == {
        "wrong API": "33.3",
        "argument matching error": "33.3",
        "missing argument error": "0.0",
        "refused": "0.0",
    }


def test_ratings_of_people_fill_their_column(dialogues):
    run = dialogues()
    run.write_json(
        "human.json",
        {"mean": 3.5, "alpha": 0.8, "items": 2, "raters": 2, "ratings": {}},
    )
    assert figures(run)["Table 3"]["Human"] == 3.5


def test_apis_are_told_by_frequency_with_what_was_not_needed(dialogues):
    run = dialogues()
    (_, first), (_, second) = api_rows({"lexical": counts_of(run.scores(), run.tools())})
    assert (first.api, first.due, first.selected.text, first.created.text) == (
        FIND,
        2,
        "100.0",
        "75.0",
    )
    assert (second.api, second.due, second.unnecessary, second.executed.text) == (BOOK, 1, 1, "0.0")


def test_the_page_shows_tables_and_figures_and_escapes_names(dialogues, tmp_path):
    flat, hierarchical = dialogues("flat"), dialogues("hier", "hierarchical", "gpt")
    page = write_report([flat, hierarchical], tmp_path / "r.html").read_text()
    for shown in (
        "as published and exact; corpus BLEU",
        "execution errors, % of turns",
        "APIs offered flat and hierarchical",
        "selection, hierarchical",
        "Creation pass rate by API",
        "due 2 times",
    ):
        assert shown in page
    assert "<b>Eve" not in page and "&lt;b&gt;Eve &amp; Co" in page


def test_runs_that_were_offered_apis_alike_are_not_set_against_each_other(dialogues):
    html = DialogueSection().render(lanes_of([dialogues("a"), dialogues("b", model="gpt")]))
    assert "hierarchical" not in html


def test_other_runs_have_no_such_part(scored_run):
    assert DialogueSection().render(lanes_of([scored_run])) is None


def test_a_judge_of_roles_that_style_pleases_is_told_by_the_facts_that_were_lost(tmp_path):
    class Ten:
        identity = "ten/1"

        def complete(self, request: Request) -> Completion:
            return Completion("10")

    class Careless:
        def reply(self, chat):
            return Reply("Bananas fly.", next="user_simulator")

    run = seal.run(
        "dialogtool-sample",
        model="lexical",
        roles={"actor": Careless()},
        role_models={"judge": Ten()},
        judge="llm",
        first=1,
        baselines=False,
        out=tmp_path / "run",
        cache="off",
    )
    page = run.report().read_text(encoding="utf-8")
    lost = sum(
        "kept" in score.details for score in run.folder.scores() if score.metric == "role_reply"
    )
    assert lost > 0 and f"{lost} of {lost} with lost facts above 5" in page

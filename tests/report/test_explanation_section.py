"""Why goals failed, in the report."""

import re
from dataclasses import replace

import pytest
from report_runs import Writer, chat, metric, task, verdict

from seal.core import Ranking
from seal.report.explanation import LINKED, section
from seal.report.lanes import lanes_of


@pytest.fixture
def page(make_run: Writer) -> str:
    ids = [f"own/{number}" for number in range(LINKED + 2)]
    run = make_run(
        "run",
        map(task, ids),
        map(chat, ids),
        [verdict(id, "solved" if id == "own/0" else "unsolved", "<b>who knows</b>") for id in ids],
        {"pass_rate": metric(0.5)},
    )
    return str(section(lanes_of([run])))


def test_numbers_lead_to_the_goals_and_these_to_their_steps(page: str) -> None:
    found = re.search(rf'<a href="#(why-0-[a-z_]+)">{LINKED + 1}</a>', page)
    assert found and f'id="{found[1]}"' in page
    assert 'href="#task-own/1&amp;lane=0&amp;trial=0' in page


def test_of_several_goals_each_is_named_also_the_first(make_run: Writer) -> None:
    several = replace(task("own/a"), goals=task("own/a").goals * 2)
    scores = [replace(verdict("own/a", "unsolved"), goal=goal) for goal in (0, 1)]
    tasks, metrics = [several, task("own/b")], {"pass_rate": metric(0.0)}
    scores.append(verdict("own/b", "unsolved"))
    run = make_run("run", tasks, [chat("own/a"), chat("own/b")], scores, metrics)
    places = set(re.findall('dir="auto">(own/[^<]*)</a>', str(section(lanes_of([run])))))
    assert {place.partition(", step")[0] for place in places} == {
        "own/a, goal 1 of 2",
        "own/a, goal 2 of 2",
        "own/b",
    }


def test_the_table_names_no_folder(make_run: Writer) -> None:
    scores = [verdict("own/a", "unsolved")]
    run = make_run("run", [task("own/a")], [chat("own/a")], scores, {"pass_rate": metric(0.0)})
    assert str(run.path) not in str(section(lanes_of([run])))


def test_links_are_bounded(page: str) -> None:
    assert "and 1 more, in seal explain --json" in page


def test_the_waterfall_is_drawn(page: str) -> None:
    headings = re.findall(r'class="heading"[^>]*>([^<]*)<', page)
    assert headings[::2] == ["all goals", "solved"]
    assert page.count('class="whisker"') == 1  # where the bar of the only stage begins


def test_an_example_has_query_gold_calls_answer_and_reason(page: str) -> None:
    for shown in ("What is the weather in Paris?", "weather_now(city=", "The sky is clear."):
        assert shown in page
    assert "&lt;b&gt;who knows&lt;/b&gt;" in page


def test_tools_that_the_retriever_lost_are_counted(make_run: Writer) -> None:
    played = [replace(chat("own/a"), offered=((),)), chat("own/b")]
    played = [replace(it, rankings=(Ranking(it.task_id, 0, "q", ()),)) for it in played]
    scores = [verdict(id, "unsolved") for id in ("own/a", "own/b")]
    tasks = [task("own/a"), task("own/b")]
    run = make_run("run", tasks, played, scores, {"pass_rate": metric(0.0)})
    shown = str(section(lanes_of([run])))
    assert "tools that the retriever lost" in shown and "1 of 2" in shown


def test_undecided_goals_stand_apart_from_failed_and_solved_ones(make_run: Writer) -> None:
    labels = {"own/a": "solved", "own/b": "unsolved", "own/c": "unsure"}
    scores = [verdict(id, label, f"of {label}") for id, label in labels.items()]
    run = make_run("run", map(task, labels), map(chat, labels), scores, {"pass_rate": metric(0.5)})
    shown = str(section(lanes_of([run])))
    assert "1 of 3 goals failed" in shown
    assert "1 undecided: neither gold nor a judge tells" in shown
    assert "own/c: of unsure" in shown
    headings = re.findall(r'class="heading"[^>]*>([^<]*)<', shown)
    assert headings[-2:] == ["undecided", "solved"]
    assert re.search(r'<g class="undecided">', shown)


def test_a_run_of_undecided_goals_has_no_such_part(make_run: Writer) -> None:
    scores = [verdict("own/a", "unsure")]
    run = make_run("run", [task("own/a")], [chat("own/a")], scores, {"pass_rate": metric(None)})
    assert section(lanes_of([run])) is None


def test_a_run_without_failures_has_no_such_part(make_run: Writer) -> None:
    scores = [verdict("own/a", "solved")]
    run = make_run("run", [task("own/a")], [chat("own/a")], scores, {"pass_rate": metric(1.0)})
    assert section(lanes_of([run])) is None

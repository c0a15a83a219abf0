"""Why goals failed, in the report."""

import re

import pytest
from report_runs import Writer, chat, metric, task, verdict

from seal.report.explanation import LINKED, section
from seal.report.lanes import lanes_of


@pytest.fixture
def page(make_run: Writer) -> str:
    ids = [f"own/{number}" for number in range(LINKED + 2)]
    run = make_run(
        "run",
        map(task, ids),
        map(chat, ids),
        [verdict(id, "solved" if id == "own/0" else "unsure", "<b>who knows</b>") for id in ids],
        {"pass_rate": metric(0.5)},
    )
    return str(section(lanes_of([run])))


def test_numbers_lead_to_the_goals_and_these_to_their_steps(page: str) -> None:
    assert f'<a href="#why-0-unsure">{LINKED + 1}</a>' in page
    assert 'id="why-0-unsure"' in page
    assert 'href="#task-own/1&amp;lane=0&amp;trial=0&amp;step=3"' in page


def test_links_are_bounded(page: str) -> None:
    assert "and 1 more, listed by" in page


def test_the_waterfall_is_drawn(page: str) -> None:
    headings = re.findall(r'class="heading"[^>]*>([^<]*)<', page)
    assert headings == ["all goals", "checker unsure", "solved"]


def test_an_example_has_query_gold_calls_answer_and_reason(page: str) -> None:
    for shown in ("What is the weather in Paris?", "weather_now(city=", "The sky is clear."):
        assert shown in page
    assert "&lt;b&gt;who knows&lt;/b&gt;" in page


def test_a_run_without_failures_has_no_such_part(make_run: Writer) -> None:
    scores = [verdict("own/a", "solved")]
    run = make_run("run", [task("own/a")], [chat("own/a")], scores, {"pass_rate": metric(1.0)})
    assert section(lanes_of([run])) is None

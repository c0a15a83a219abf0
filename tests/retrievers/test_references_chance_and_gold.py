from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import DataError, Goal, Milestone, Plan, Pool, Query, Task, Tool, UsageError
from seal.core.conditions import Called
from seal.core.state_conditions import StateHas
from seal.retrievers.build import build_retriever, rank

MANY = Pool(tuple(Tool(f"toy/t/{i:03}", f"t{i}") for i in range(40)))


def test_the_oracle_puts_the_relevant_tools_first_and_the_others_by_id(pool, queries):
    one, two = rank(build_retriever("oracle", pool), queries[:2], 3)

    assert one.hits == (
        ("toy/Weather/forecast", 1.0),
        ("toy/Bank/balance", 0.0),
        ("toy/Bank/send_money", 0.0),
    )
    assert two.hits[:2] == (("toy/Bank/balance", 1.0), ("toy/Bank/send_money", 1.0))


def test_the_oracle_tells_of_goals_that_do_not_say_which_tools_they_need(pool, queries, caplog):
    none = rank(build_retriever("oracle", pool), queries, 3)[2]

    assert {score for _, score in none.hits} == {0.0}
    assert "1 of 3 goals do not say which tools they need" in caplog.text
    silent = replace(pool, tasks=(Task("t1", "toy", (Goal("Hello"),)),))
    with pytest.raises(UsageError, match="no goal of the pool says which tools it needs: choose"):
        build_retriever("oracle", silent)


def test_the_oracle_cuts_at_k(pool, queries):
    [ranking] = rank(build_retriever("oracle", pool), [queries[1]], 1)

    assert ranking.hits == (("toy/Bank/balance", 1.0),)


def test_the_oracle_answers_a_planned_step_by_its_task_and_goal(pool):
    [ranking] = rank(build_retriever("oracle", pool), [Query("a step of the plan", "t1", 0)], 1)

    assert ranking.hits[0][0] == "toy/Weather/forecast"


def test_the_oracle_takes_the_called_tools_where_none_is_relevant_and_the_offered_ones_of_a_world():
    called = tuple(Plan((Milestone(Called(f"toy/t/{n:03}")),)) for n in (7, 5))
    in_world = (Plan((Milestone(StateHas("lamps", ({"on": True},))),)),)
    goals = [
        Goal("?", called, offered=("toy/t/009",)),
        Goal("?", in_world, offered=("toy/t/009",)),
        Goal("?", (Plan(),), offered=("toy/t/009",)),
    ]
    many = replace(MANY, tasks=(Task("t", "toy", tuple(goals)),))
    rankings = rank(build_retriever("oracle", many), [Query("?", "t", n) for n in range(3)], 2)
    assert [[tool for tool, score in one.hits if score] for one in rankings] == [
        ["toy/t/005", "toy/t/007"],
        ["toy/t/009"],
        [],
    ]


def test_given_returns_exactly_the_offered_tools_in_order_whatever_k_is(pool, queries):
    two, none = rank(build_retriever("given", pool), queries[1:], 1)

    assert [tool for tool, _ in two.hits] == [
        "toy/Radio/play",
        "toy/Bank/send_money",
        "toy/Bank/balance",
    ]
    assert none.hits == ()


def test_given_names_the_repair_where_a_goal_offers_nothing(pool, queries):
    with pytest.raises(UsageError, match=r"'t1', goal 1.*--retriever tfidf"):
        rank(build_retriever("given", pool), queries, 3)


@pytest.mark.parametrize("name", ["oracle", "given"])
@pytest.mark.parametrize("query", [Query("x"), Query("x", "t1", 9)])
def test_a_query_about_no_task_of_the_pool_is_refused(name, query, pool):
    with pytest.raises(UsageError, match="no task"):
        rank(build_retriever(name, pool), [query], 3)


@pytest.mark.parametrize("name", ["oracle", "given"])
def test_a_gold_tool_outside_the_pool_is_a_data_error(name, pool):
    task = Task("t", "toy", (Goal("x", relevant=("toy/no/no",), offered=("toy/no/no",)),))

    with pytest.raises(DataError, match="toy/no/no"):
        rank(build_retriever(name, replace(pool, tasks=(task,))), [Query("x", "t")], 3)


def test_chance_depends_on_seed_task_goal_and_text():
    base = Query("text", "t", 0)
    others = [Query("other", "t", 0), Query("text", "u", 0), Query("text", "t", 1)]
    retriever = build_retriever("random", MANY)
    [first, *rest] = (ranking.hits for ranking in rank(retriever, [base, *others], 10))

    assert all(hits != first for hits in rest)
    [again] = rank(build_retriever("random", replace(MANY, tools=MANY.tools[::-1])), [base], 10)
    assert again.hits == first
    [seeded] = rank(build_retriever("random", replace(MANY, seed=1)), [base], 10)
    assert seeded.hits != first


def test_chance_is_fair():
    queries = [Query(str(number)) for number in range(4000)]
    rankings = rank(build_retriever("random", MANY), queries, 10)

    drawn = Counter(tool for ranking in rankings for tool, _ in ranking.hits)

    # 4,000 x 10 / 40 = 1,000 of each tool, standard deviation 27.
    assert min(drawn.values()) > 870
    assert max(drawn.values()) < 1130


@given(text=st.text(), k=st.integers(1, 45))
def test_a_shorter_draw_is_the_head_of_a_longer_one(text, k):
    retriever = build_retriever("random", MANY)
    [[*short], [*long]] = (rank(retriever, [Query(text)], n)[0].hits for n in (k, k + 1))

    assert short == long[:k]
    assert len({tool for tool, _ in long}) == len(long) == min(k + 1, 40)

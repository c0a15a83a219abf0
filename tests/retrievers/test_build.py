import subprocess
import sys
from dataclasses import replace

import pytest

from seal.core import DataError, Query, UnknownNameError, UsageError
from seal.retrievers.build import REGISTRY, build_retriever, rank


class ByLength:
    """A custom retriever: the shorter the description, the better."""

    def __init__(self, pool):
        self.tools = pool.tools

    def retrieve(self, queries, k):
        hits = [(tool.id, 1 / len(tool.description)) for tool in self.tools]
        return [sorted(hits, key=lambda hit: -hit[1])[:k] for _ in queries]


SHORTEST = "toy/Radio/play"


class Fixed:
    def __init__(self, *rows):
        self.rows = rows

    def retrieve(self, queries, k):
        return [list(row) for row in self.rows]


def first(what, pool):
    [ranking] = rank(build_retriever(what, pool), [Query("anything")], 1)
    return ranking.hits[0][0]


def test_a_custom_retriever_comes_as_class_object_factory_or_dotted_path(pool, monkeypatch):
    monkeypatch.setitem(sys.modules, "my_lab", sys.modules[__name__])
    ready = ByLength(pool)

    assert build_retriever(ready, pool) is ready
    for what in (ByLength, ready, lambda pool: ByLength(pool), "my_lab:ByLength"):
        assert first(what, pool) == SHORTEST


def test_a_custom_retriever_comes_by_a_registered_name(pool, monkeypatch):
    monkeypatch.setattr(REGISTRY, "_registered", {})
    REGISTRY.register("by-length", ByLength)

    assert first("by-length", pool) == SHORTEST


def test_an_unknown_name_lists_the_known_ones_and_the_closest(pool):
    with pytest.raises(UnknownNameError, match=r"dense, given.*Did you mean 'tfidf'"):
        build_retriever("tfdif", pool)


@pytest.mark.parametrize("what", [42, int, object(), lambda: None, lambda pool: 42])
def test_what_is_no_retriever_is_refused_with_what_was_expected(what, pool):
    with pytest.raises(UsageError, match="retrieve"):
        build_retriever(what, pool)


@pytest.mark.parametrize("name", ["tfidf", "dense", "oracle", "random", "given"])
def test_an_empty_pool_is_a_data_error(name, pool):
    with pytest.raises(DataError, match="no tools"):
        build_retriever(name, replace(pool, tools=()))


@pytest.mark.parametrize("name", ["tfidf", "oracle", "random", "given"])
def test_an_id_that_stands_twice_is_a_data_error(name, pool):
    with pytest.raises(DataError, match="toy/Radio/play"):
        build_retriever(name, replace(pool, tools=(*pool.tools, pool.tools[-1])))


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize("name", ["oracle", "random"])
def test_a_cutoff_below_one_is_a_usage_error(name, k, pool, queries):
    retriever = build_retriever(name, pool)

    with pytest.raises(UsageError, match="--top-k"):
        rank(retriever, queries, k)
    with pytest.raises(UsageError, match="--top-k"):
        retriever.retrieve(queries, k)


@pytest.mark.parametrize("name", ["oracle", "random"])
def test_a_cutoff_beyond_the_pool_gives_the_whole_pool(name, pool, queries):
    for ranking in rank(build_retriever(name, pool), queries[:2], 99):
        assert {tool for tool, _ in ranking.hits} == {tool.id for tool in pool.tools}


def test_rank_orders_by_score_then_id_rounds_and_cuts():
    row = [("b", 0.5), ("c", 0.90000049), ("a", 0.50000001)]

    [ranking] = rank(Fixed(row), [Query("q", "t", 3)], 2)

    assert (ranking.task_id, ranking.goal, ranking.query) == ("t", 3, "q")
    assert ranking.hits == (("c", 0.9), ("a", 0.5))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "0 rows for 1 query"),
        ([[("a", 1.0), ("a", 0.5)]], "twice"),
        ([[("a", float("nan"))]], "finite"),
        ([[("z", 1.0)]], "'z' is no tool"),
    ],
)
def test_rank_refuses_what_is_no_ranking(rows, message):
    with pytest.raises(DataError, match=message):
        rank(Fixed(*rows), [Query("q")], 5, known={"a"})


def test_no_queries_give_no_rankings(pool):
    for name in ("tfidf", "oracle", "random", "given"):
        assert rank(build_retriever(name, pool), [], 3) == []


def test_importing_the_package_loads_no_heavy_library():
    code = (
        "import sys, seal.retrievers;"
        "print([m for m in ('numpy', 'faiss', 'sklearn', 'scipy', 'openai') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_tfidf_does_not_load_faiss():
    code = "import sys, seal.retrievers.lexical; print('faiss' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_names_are_known_without_importing_a_plugin():
    assert {"dense", "given", "oracle", "random", "tfidf"} <= set(REGISTRY.names())


@pytest.mark.parametrize("name", ["tfidf", "oracle", "given", "random"])
def test_an_unknown_option_is_refused_and_the_runs_address_passes(name, pool):
    build_retriever(name, replace(pool, options={"base_url": "http://localhost:1"}))
    with pytest.raises(UnknownNameError, match=f"no option -R of {name} 'foo'; known: "):
        build_retriever(name, replace(pool, options={"foo": 1}))


def test_an_own_retriever_looks_at_its_options_itself(pool):
    class Mine:
        def __init__(self, pool):
            self.foo = pool.options["foo"]

        def retrieve(self, queries, k):
            return []

    assert build_retriever(Mine, replace(pool, options={"foo": 1})).foo == 1


class Unreadable:
    def __getattr__(self, name):
        raise OSError(name)


unreadable = Unreadable()


def test_a_named_retriever_whose_attributes_raise_is_told_by_its_name(pool):
    with pytest.raises(UsageError, match=r"unreadable': cannot be used: OSError: .*mend it"):
        build_retriever(f"{__name__}:unreadable", pool)
    with pytest.raises(OSError, match=r"^OPTIONS$"):  # the caller's own object
        build_retriever(unreadable, pool)

import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import Query, UnknownNameError, UsageError
from seal.retrievers.base import RetrieverSpec, parse_spec
from seal.retrievers.build import build_retriever, known_options, rank

OPENAI_KEY_LOOKALIKE = "sk-" + "x" * 24


class Deep:
    """A custom retriever with an option."""

    def __init__(self, pool):
        self.options = dict(pool.options)
        self.identity = f"deep/{pool.options.get('depth')}"

    def retrieve(self, queries, k):
        return [[] for _ in queries]


def test_a_text_names_a_retriever_and_its_options():
    spec = parse_spec("my_lab.mod:Mine, depth=3,b=0.5,flag=true,none=null,model=all-MiniLM-L6-v2")

    assert spec.what == "my_lab.mod:Mine"
    assert spec.options == {
        "depth": 3,
        "b": 0.5,
        "flag": True,
        "none": None,
        "model": "all-MiniLM-L6-v2",
    }


@pytest.mark.parametrize("value", ["a=b", "[1]", "{}", "NaN", "1e999", "text with blanks", ""])
def test_what_is_no_json_scalar_is_its_text(value):
    assert parse_spec(f"tfidf,name={value}").options == {"name": value}


def test_a_comma_in_quotes_ends_no_value():
    assert parse_spec('tfidf, name="a,b" ,k1=2').options == {"name": "a,b", "k1": 2}
    assert parse_spec('tfidf,name="a"b,k1=2').options == {"name": '"a"b', "k1": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no name"),
        (",k1=2", "has no name"),
        ("bm25,k1", "'k1' is no KEY=VALUE"),
        ("bm25,tfidf", "`seal ablate retriever` and `seal retrieve` take several"),
        ("bm25,", "'' is no KEY=VALUE"),
        ("bm25,=2", "'=2' is no KEY=VALUE"),
        ("bm25,k1=1,k1=2", "k1 stands twice"),
        (f"dense,api_key={OPENAI_KEY_LOOKALIKE}", "looks like a key"),
    ],
)
def test_a_text_that_is_no_spec_is_refused(text, message, pool):
    for action in (parse_spec, known_options, lambda what: build_retriever(what, pool)):
        with pytest.raises(UsageError, match=message) as caught:
            action(text)
        assert OPENAI_KEY_LOOKALIKE not in str(caught.value)


def test_options_of_the_text_go_before_those_of_the_pool(with_options):
    pool = with_options(k1=1.2, b=0.3)

    assert build_retriever("bm25,k1=2", pool).identity == ("bm25/k1=2/b=0.3/tool_api_description")
    assert build_retriever(RetrieverSpec("bm25", {"b": 1}), pool).identity == (
        "bm25/k1=1.2/b=1/tool_api_description"
    )


def test_a_dotted_path_or_class_takes_options(pool, monkeypatch):
    monkeypatch.setitem(sys.modules, "my_lab", sys.modules[__name__])

    for what in ("my_lab:Deep,depth=3", RetrieverSpec(Deep, {"depth": 3})):
        assert build_retriever(what, pool).options == {"depth": 3}


def test_an_unknown_option_of_a_text_is_refused(pool):
    with pytest.raises(
        UnknownNameError, match="no option -R of tfidf 'k1'; known: sentences, siblings, te"
    ):
        build_retriever("tfidf,k1=2", pool)


def test_a_retriever_that_is_built_takes_no_options(pool):
    ready = build_retriever("tfidf", pool)

    with pytest.raises(UsageError, match="built already and takes no options"):
        build_retriever(RetrieverSpec(ready, {"template": "name"}), pool)


def test_known_options_are_those_of_the_name():
    assert known_options("bm25,k1=2") == {
        *("b", "k1", "sentences", "siblings", "template", "tokens")
    }
    assert known_options("oracle") == {"tokens"}
    assert known_options(RetrieverSpec(Deep)) is None


def test_a_spec_has_a_text_as_its_identity():
    assert RetrieverSpec("bm25", {"k1": 2, "b": "0.5"}).identity == 'bm25,b="0.5",k1=2'
    assert RetrieverSpec(Deep, {"model": Deep}).identity == "Deep,model=Deep"


NAMES = st.text(string.ascii_letters + ".:_-", min_size=1)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(string.ascii_letters + string.digits + '.:/ =-,"[{}]'),
)


@given(name=NAMES, options=st.dictionaries(st.text("abcdef_", min_size=1), VALUES, max_size=5))
def test_any_spec_is_read_back_from_its_identity(name, options):
    spec = RetrieverSpec(name, options)

    again = parse_spec(spec.identity)

    assert again == spec
    assert {k: type(v) for k, v in again.options.items()} == {
        k: type(v) for k, v in options.items()
    }


def test_a_ranking_by_a_text_is_that_by_options(pool, queries, with_options):
    by_text = rank(build_retriever("tfidf,template=name", pool), queries, 3)

    assert by_text == rank(build_retriever("tfidf", with_options(template="name")), queries, 3)
    assert by_text != rank(build_retriever("tfidf", pool), [Query("city")], 3)

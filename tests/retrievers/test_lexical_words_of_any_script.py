"""Retrieval by words finds what Unicode holds for the same word, and identifiers whole."""

import pytest
from linear import linear
from looped import every_case

from seal.core import Pool, Query, Tool
from seal.retrievers.build import build_retriever

KINDS = ("bm25", "tfidf")


def found(kind, texts, query):
    """Return the positions of the texts that match a query, the best first."""
    tools = tuple(Tool(f"{i:02}", f"t{i:02}", text) for i, text in enumerate(texts))
    pool = Pool(tools, options={"template": lambda tool: tool.description})
    [hits] = build_retriever(kind, pool).retrieve([Query(query)], len(texts))
    return [int(tool) for tool, score in hits if score > 0]


@every_case(
    ("query", "wanted", "other"),
    [
        ("github", "GitHub issues", "TikTok clips"),
        ("ipv6", "IPv6Range check", "IPv4Range check"),
        ("oauth2", "OAuth2Key check", "OAuth1Key check"),
        ("apis", "list APIs", "list APs"),
        ("c++", "compile C++ code", "compile C# code"),
        ("bank", "ＢＡＮＫ account", "bread shop"),
        ("café", "the cafe\u0301 menu", "the market"),
        ("मैला", "मैला", "मेला"),
        ("ไฟฟ้า", "รถไฟฟ้าสายใหม่", "บ้านหลังใหญ่"),
        ("運賃を調べる", "飛行機の運賃", "ホテルの予約"),
        ("programme", "a pro\u00adgramme", "a hotel"),
    ],
)
def test_a_word_is_found_however_it_is_written(query, wanted, other):
    assert [found(kind, (other, wanted), query)[0] for kind in KINDS] == [1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_differ_in_their_vowel_signs_are_others(kind):
    hindi = ("गल", "गाल", "गोल", "गीला", "गेल")

    for place, word in enumerate(hindi):
        assert found(kind, hindi, word)[0] == place


def test_bm25_tells_languages_apart_by_their_signs():
    texts = ("C compiler", "C++ compiler", "C# compiler")

    assert [found("bm25", texts, query) for query in ("c", "C++", "c#")] == [[0], [1], [2]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("letters", ["a", "aB", "é", "e\u0301", "天", "ก้", "C#"])
def test_a_word_of_300_000_letters_takes_linear_time(kind, letters):
    def ranked(times):
        found(kind, (letters * times, "hotel"), letters * times)

    linear(ranked, 300_000 // len(letters))

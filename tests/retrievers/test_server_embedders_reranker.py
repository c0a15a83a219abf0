"""Rerankers behind a server, in the forms that servers have."""

import pytest
from servers import ModelServer, answer, failure

from seal.core import ModelError, UsageError
from seal.retrievers.rerankers import Rerank
from seal.retrievers.server_embedders import ServerReranker

PAIRS = [("rain?", "wet"), ("rain?", "dry"), ("sun?", "dry")]
QUICK = {"first_wait_s": 0.001, "max_wait_s": 0.002, "max_tries": 2}


def scores_of(request, field="results", score="relevance_score", texts="documents"):
    given = request.body[texts]
    rows = [{"index": n, score: float(len(text) + n)} for n, text in enumerate(given)][::-1]
    return answer({field: rows} if field else rows)


def scorer(server, **options):
    return ServerReranker({"model": "openai/bge", "base_url": server.url, **QUICK, **options})


@pytest.mark.parametrize(
    ("field", "score", "refused"),
    [
        ("results", "relevance_score", None),  # Cohere, Jina, vLLM, Infinity
        ("data", "relevance_score", "texts"),  # Voyage
        (None, "score", "documents"),  # TEI
    ],
)
def test_scores_are_those_of_the_texts_in_any_order(field, score, refused):
    def script(request):
        if refused in request.body:
            return failure(422, f"unknown field: {refused}")
        return scores_of(request, field, score, "texts" if refused == "documents" else "documents")

    with ModelServer(script) as server:
        assert scorer(server).scores(PAIRS) == [3.0, 4.0, 3.0]
    last = server.received[-1]
    assert (last.path, last.body["query"]) == ("/v1/rerank", "sun?")
    assert len(server.received) == 2 + bool(refused)


@pytest.mark.parametrize(
    "given",
    [
        {"results": []},
        {"results": [{"index": 0, "relevance_score": None}, {"index": 1, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1.0}, {"index": 7, "relevance_score": 1}]},
        {"answer": "I cannot"},
        [1, 2],
    ],
)
def test_a_text_without_a_score_is_an_error(given):
    with (
        ModelServer([answer(given)]) as server,
        pytest.raises(ModelError, match="no score for each of 2 texts"),
    ):
        scorer(server).scores(PAIRS[:2])


def test_a_server_must_be_named():
    with pytest.raises(UsageError, match="base_url=ADDRESS"):
        ServerReranker({"model": "openai/bge"})
    assert {"base_url", "api_key_env"} <= Rerank.OPTIONS

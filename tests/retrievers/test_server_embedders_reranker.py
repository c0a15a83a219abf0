"""Rerankers behind a server, in the forms that servers have."""

import json
from dataclasses import replace

import pytest
from servers import ModelServer, answer, failure, played

from seal.core import ModelError, UsageError
from seal.retrievers.build import build_retriever
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


def nim_of(request):
    """Answer as NIM does, which knows passages alone."""
    if "passages" not in request.body:
        return failure(422, "body.passages: Field required")
    texts = [one["text"] for one in request.body["passages"]]
    rows = [{"index": n, "logit": float(len(text) + n)} for n, text in enumerate(texts)]
    return answer({"rankings": rows[::-1]})


def test_nims_form_is_known_by_its_address_or_by_what_it_refuses():
    with ModelServer(nim_of) as server:
        named = scorer(server, base_url=f"{server.url}/ranking")
        assert named.scores(PAIRS) == [3.0, 4.0, 3.0]
        assert [one.path for one in server.received] == ["/v1/ranking"] * 2
        assert server.received[0].body["query"] == {"text": "rain?"}
        assert scorer(server).scores(PAIRS) == [3.0, 4.0, 3.0]
    assert [one.path for one in server.received[2:]] == ["/v1/rerank"] * 3


def test_nims_scores_are_asked_for_by_a_retriever_of_that_address(pool):
    with ModelServer(nim_of) as server:
        options = {"of": "bm25", "model": "openai/nim", "base_url": f"{server.url}/ranking/"}
        build_retriever("rerank", replace(pool, options={**options, **QUICK}))


def test_results_within_an_output_are_read():
    def script(request):
        rows = [{"index": 0, "relevance_score": 2.0}, {"index": 1, "relevance_score": 1.0}]
        return answer({"output": {"results": rows}, "request_id": "r"})

    with ModelServer(script) as server:
        assert scorer(server).scores(PAIRS[:2]) == [2.0, 1.0]


@pytest.mark.parametrize(
    "given",
    [
        {"results": []},
        {"results": [{"index": 0, "relevance_score": None}, {"index": 1, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1.0}, {"index": 7, "relevance_score": 1}]},
        {"results": [{"index": n, "relevance_score": n == 0} for n in range(2)]},
        {"results": [{"index": n, "relevance_score": 1.0 + n} for n in (0, 1, 999)]},
        {"results": [{"index": n, "relevance_score": 1.0 + n} for n in (0, 1, 1)]},
        {"answer": "I cannot"},
        [1, 2],
    ],
)
def test_a_text_without_a_score_is_an_error(given):
    with (
        ModelServer([answer(given)], repeat=True) as server,
        pytest.raises(ModelError, match="no score for each of 2 texts"),
    ):
        scorer(server).scores(PAIRS[:2])


def test_an_answer_without_its_scores_is_asked_for_again():
    scored = [{"index": 0, "relevance_score": 1.0}, {"index": 1, "relevance_score": 2.0}]
    beside = answer({"results": scored, "error": {"message": "worker died"}})
    empty, gone = answer({"results": []}), answer({"error": {"message": "gone"}})
    for trouble in (empty, gone, beside, failure(503)):
        with ModelServer(played([trouble], scores_of)) as server:
            assert scorer(server).scores(PAIRS) == [3.0, 4.0, 3.0]
        assert len(server.received) == 3
    gone = answer({"error": {"message": "backend gone", "type": "server_error"}})
    with (
        ModelServer([gone], repeat=True) as server,
        pytest.raises(ModelError, match="backend gone"),
    ):
        scorer(server).scores(PAIRS)


def test_all_scores_are_asked_for_where_a_server_may_be_asked_so():
    def first(request):  # as servers do that give the first ten, or none, by default
        rows = scores_of(request)
        count = request.body.get("top_n", 0)
        return answer({"results": json.loads(rows.body)["results"][:count]})

    with ModelServer(first) as server:
        assert scorer(server).scores(PAIRS) == [3.0, 4.0, 3.0]
    assert [request.body["top_n"] for request in server.received] == [2, 1]

    def strict(request):
        unknown = {"top_n", "texts"} & request.body.keys()
        return failure(422, f"not permitted: {unknown}") if unknown else scores_of(request)

    with ModelServer(strict) as server:
        assert scorer(server).scores(PAIRS) == [3.0, 4.0, 3.0]
    assert len(server.received) == 4
    with (
        ModelServer(lambda request: answer({"results": [{"index": 0, "score": 1.0}]})) as server,
        pytest.raises(ModelError, match="but for 1, so that -R batch_size=1 may help"),
    ):
        scorer(server).scores(PAIRS[:2])


@pytest.mark.parametrize("places", [(1, 2), (0, 0)])
def test_wrong_indexes_are_no_matter_of_the_batch(places):
    rows = [{"index": n, "relevance_score": 1.0 + n} for n in places]
    with (
        ModelServer(lambda request: answer({"results": rows})) as server,
        pytest.raises(ModelError, match="gave no score for each of 2 texts") as caught,
    ):
        scorer(server).scores(PAIRS[:2])
    assert "batch_size" not in str(caught.value)


@pytest.mark.parametrize("name", ["cohere/rerank-v3.5", "jina/reranker", "voyage/rerank-2"])
def test_a_providers_name_is_told_how_a_server_is_named(pool, name):
    with pytest.raises(UsageError, match="openai/NAME,base_url=ADDRESS"):
        build_retriever("rerank", replace(pool, options={"model": name}))


def test_an_index_of_zero_may_be_left_out():
    rows = [{"index": 1, "relevance_score": 2.0}, {"relevance_score": 1.0}]
    with ModelServer([answer({"results": rows})]) as server:
        assert scorer(server).scores(PAIRS[:2]) == [1.0, 2.0]


def test_what_helps_against_too_many_or_too_long_texts_is_told():
    many = failure(413, "batch size 50 > maximum allowed batch size 32")
    with ModelServer([many]) as server, pytest.raises(ModelError) as caught:
        scorer(server).scores(PAIRS)
    assert "-R batch_size=32 or -R depth=32" in str(caught.value)
    for status, said in (
        (500, "input is too large to process. increase the physical batch size"),
        (424, "Backend error: Inference error: index-select invalid index 514 with dim size 514"),
    ):
        long = failure(status, said)
        with ModelServer([long]) as server, pytest.raises(ModelError, match="-R cut=N"):
            scorer(server).scores(PAIRS)
        assert len(server.received) == 1
    assert {"cut", "batch_size", "depth"} <= Rerank.OPTIONS


def test_one_score_for_all_texts_is_no_answer():
    same = [{"index": n, "relevance_score": 0.5} for n in range(3)]
    with ModelServer([answer({"results": same})], repeat=True) as server:
        with pytest.raises(ModelError, match="one and the same score for 3 different texts"):
            scorer(server).scores([("rain?", text) for text in ("a", "b", "c")])
        assert scorer(server).scores([("rain?", "a")] * 3) == [0.5] * 3


def test_one_score_for_the_texts_of_most_queries_is_no_answer_and_of_a_few_is_told(caplog):
    for flat, queries in ((3, 4), (1, 4)):

        def script(request, flat=flat):
            given = request.body["documents"]
            same = int(request.body["query"]) < flat
            rows = [{"index": n, "score": 0.0 if same else float(n)} for n in range(len(given))]
            return answer({"results": rows})

        pairs = [(str(n), text) for n in range(queries) for text in ("wet", "dry", "hot")]
        with ModelServer(script) as server:
            if 2 * flat > queries:
                with pytest.raises(ModelError, match="one and the same score for 3 different"):
                    scorer(server).scores(pairs)
            else:
                assert scorer(server).scores(pairs)[3:6] == [0.0, 1.0, 2.0]
                assert "the same score for 3 different texts, of 1 of 4 queries" in caplog.text


def test_an_answer_of_another_model_than_those_before_is_the_servers_fault():
    def script(request):
        model = "bge" if len(server.received) < 2 else "small"
        return answer({"results": [{"index": 0, "score": 1.0}], "model": model})

    with ModelServer(script) as server, pytest.raises(ModelError, match="by the model 'small'"):
        scorer(server).scores([("rain?", "wet"), ("sun?", "dry")])


def test_options_of_the_server_stand_beside_the_model(pool):
    with pytest.raises(UsageError, match="without quotes: model=openai/m,base_url=http://a/v1"):
        build_retriever("rerank", replace(pool, options={"model": "openai/m,base_url=http://a/v1"}))


def test_a_server_must_be_named():
    with pytest.raises(UsageError, match="base_url=ADDRESS"):
        ServerReranker({"model": "openai/bge"})
    assert {"base_url", "api_key_env"} <= Rerank.OPTIONS

import re

import pytest
from failing_embedders import QUICK, failing
from servers import (
    ModelServer,
    answer,
    failure,
    garbage,
    gemini_embeddings,
    gemini_texts,
    half,
    letters,
    nothing,
    played,
)

from seal.core import RequestError, UsageError
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.embedders import build_embedder
from seal.retrievers.server_embedders import GeminiEmbedder

pytest.importorskip("google.genai", reason="the extra gemini is not installed")
KEY = "AIza-distinctive-key"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)


def server_of(*script):
    """Return a server that plays prepared answers, then right ones."""
    return ModelServer(played(script, gemini_embeddings))


def embedder(server, **options):
    given = {"model": "gemini-embedding-001", "base_url": server.root, **QUICK, **options}
    return GeminiEmbedder(given)


def rows_of(*rows):
    return answer({"embeddings": [{"values": row} for row in rows]})


def told(server, **options):
    return failing(embedder(server, **options), KEY)


@pytest.mark.parametrize("model", ["gemini-embedding-001", "gemini-embedding-2"])
def test_documents_and_queries_are_embedded_as_what_they_are(model):
    with server_of() as server:
        built = embedder(server, model=model, batch_size=2, dimensions=4)
        rows = built.embed(["e", "ee", ""])
        built.embed_queries(["t"])

    assert [row[0] for row in rows] == [1, 2, 0]
    assert [gemini_texts(request) for request in server.received] == [["e", "ee"], [" "], ["t"]]
    first = server.received[0]
    assert first.path.endswith(f"/models/{model}:batchEmbedContents")
    assert first.headers["x-goog-api-key"] == KEY
    asked = [one for request in server.received for one in request.body["requests"]]
    assert [one["taskType"] for one in asked] == ["RETRIEVAL_DOCUMENT"] * 3 + ["RETRIEVAL_QUERY"]
    assert {one["outputDimensionality"] for one in asked} == {4}


@pytest.mark.parametrize("model", ["gemini-embedding-001", "models/gemini-embedding-001"])
def test_a_request_names_its_model_as_its_address_does(model):
    with server_of() as server:
        embedder(server, model=model).embed(["e"])

    (request,) = server.received
    assert request.path.endswith("/v1beta/models/gemini-embedding-001:batchEmbedContents")
    assert request.body["requests"][0]["model"] == "models/gemini-embedding-001"


def of_vertex(request):
    """Return right embeddings in the form of the method of Vertex AI that was asked."""
    body = request.body
    if request.path.endswith(":predict"):
        rows = [letters(one["content"]) for one in body["instances"]]
        return answer({"predictions": [{"embeddings": {"values": row}} for row in rows]})
    if request.path.endswith(":embedContent"):
        return answer({"embedding": {"values": letters(body["content"]["parts"][0]["text"])}})
    return gemini_embeddings(request)


@pytest.mark.parametrize(
    ("model", "method"),
    [("text-embedding-005", "predict"), ("gemini-embedding-2", "batchEmbedContents")],
)
def test_vertex_embeds_in_forms_of_its_own(model, method):
    cloud = {"vertexai": True, "project": "p", "location": "l", "api_key_env": "GOOGLE_API_KEY"}
    with ModelServer(of_vertex) as server:
        built = embedder(server, model=model, dimensions=4, **cloud)
        rows = built.embed(["e", "ee", "t"])
        (single,) = built.embed_queries(["eee"])

    assert [row[0] for row in (*rows, single)] == [1, 2, 0, 3]
    place = f"/v1beta1/projects/p/locations/l/publishers/google/models/{model}"
    assert server.received[0].path == f"{place}:{method}"
    assert built.identity.endswith("@vertexai")


def test_a_pool_is_searched_through_the_server(queries, with_options):
    with server_of() as server:
        pool = with_options(model="gemini/gemini-embedding-001", base_url=server.root)
        retriever = build_retriever("dense", pool)
        rankings = rank(retriever, queries, 2)

    assert [len(ranking.hits) for ranking in rankings] == [2, 2, 2]
    assert f"gemini/gemini-embedding-001@{server.root}" in retriever.identity


def test_the_identity_names_the_dimensions_and_no_key():
    built = build_embedder("gemini/gemini-embedding-001", {"dimensions": 768})

    assert built.identity == "gemini/gemini-embedding-001#768"
    assert KEY not in repr(vars(built))


@pytest.mark.parametrize("trouble", [failure(429), failure(503), nothing(), half(), garbage()])
def test_trouble_that_may_pass_is_tried_again(trouble):
    with server_of(trouble) as server:
        assert len(embedder(server).embed(["x"])) == 1
    assert len(server.received) == 2


@pytest.mark.parametrize(
    ("status", "repair"),
    [(400, "take this request"), (401, "GOOGLE_API_KEY"), (404, "the model's name")],
)
def test_a_refusal_fails_at_once_and_never_shows_the_key(status, repair):
    with server_of(failure(status, f"no: {KEY}")) as server:
        message = told(server)

    assert len(server.received) == 1
    assert f"HTTP {status}" in message
    assert repair in message


def test_only_a_request_that_another_may_replace_is_refused():
    with server_of(failure(400)) as server, pytest.raises(RequestError):
        embedder(server).embed(["x"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (rows_of([1.0]), "1 embedding of 1 indexes for 2 texts"),
        (rows_of([1.0], [1.0], [1.0]), "3 embeddings of 3 indexes for 2 texts"),
        (rows_of([1.0], [1.0, 2.0]), "one length"),
        (rows_of([1.0], []), "one length"),
        (rows_of([1.0], None), "rows of numbers|one length"),
        (rows_of([1.0], ["x"]), "row 1 holds 'x'"),
        (rows_of([1.0], [float("nan")]), "row 1 of 2 holds NaN"),
        (rows_of([1.0], [float("inf")]), "row 1 of 2 holds NaN or an infinite"),
        (answer({"embeddings": 3}), "no list of embeddings"),
        (answer({"embeddings": []}), "no list of embeddings"),
        (answer({}), "no list of embeddings"),
        (answer([]), "interface|no list of embeddings"),
        (answer("Sorry."), "interface|no list of embeddings"),
    ],
)
def test_rows_that_are_none_are_told(given, message):
    with server_of(given) as server:
        assert re.search(message, told(server, max_tries=1))


def test_a_server_that_is_not_there_is_told():
    with server_of() as server:
        pass
    assert "could not be reached" in told(server, max_tries=1)


def test_without_key_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY")
    with pytest.raises(UsageError, match="GOOGLE_API_KEY"):
        GeminiEmbedder({"model": "gemini-embedding-001"}).embed(["x"])


def test_a_name_without_model_is_refused():
    with pytest.raises(UsageError, match="gemini/MODEL"):
        build_embedder("gemini", {})

import base64
import json
import logging
import re
import time

import numpy as np
import pytest
from failing_embedders import QUICK, failing
from servers import (
    Answer,
    ModelServer,
    answer,
    failure,
    garbage,
    half,
    late,
    nothing,
    openai_embeddings,
    openai_rows,
    played,
)

from seal.core import ModelError, Query, RequestError, UsageError
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.embedders import build_embedder
from seal.retrievers.server_embedders import OpenAIEmbedder

KEY = "sk-a-secret-of-this-test"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def server_of(*script):
    """Return a server that plays prepared answers, then right ones."""
    return ModelServer(played(script, openai_embeddings))


def embedder(server, **options):
    return OpenAIEmbedder({"model": "small", "base_url": server.url, **QUICK, **options})


def told(server, **options):
    return failing(embedder(server, **options), KEY, "openai.")


@pytest.mark.parametrize(
    ("limit", "seconds"), [({"requests_per_minute": 1200}, 0.1), ({"tokens_per_minute": 1200}, 0.1)]
)
def test_batches_keep_to_the_limits_of_a_minute(limit, seconds):
    with server_of() as server:
        began = time.monotonic()
        embedder(server, batch_size=1, **limit).embed(["e", "ee", "eee"])
    assert time.monotonic() - began >= seconds  # 2 of 1,200, requests or tokens
    assert len(server.received) == 3


def test_texts_go_out_in_batches_and_rows_come_back_in_order():
    with server_of() as server:
        rows = embedder(server, batch_size=2).embed(["e", "ee", "eee", ""])

    assert [row[0] for row in rows] == [1, 2, 3, 0]
    assert [request.body["input"] for request in server.received] == [["e", "ee"], ["eee", " "]]
    first = server.received[0]
    assert first.path == "/v1/embeddings"
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.body["model"] == "small"
    assert "dimensions" not in first.body


def test_huge_texts_are_sent_apart_and_none_is_cut():
    texts = ["a" * 300_000, "b" * 300_000, "c", "d" * 900_000]
    with server_of() as server:
        assert len(embedder(server).embed(texts)) == 4

    sent = [request.body["input"] for request in server.received]
    assert sent == [texts[:1], texts[1:3], texts[3:]]


def test_halves_of_surrogate_pairs_are_sent_as_replacement_characters():
    with server_of() as server:
        embedder(server).embed(["a\ud800"])

    assert server.received[0].body["input"] == ["a\ufffd"]


def test_dimensions_are_asked_for_and_part_of_the_identity():
    with server_of(lambda request: openai_embeddings(request, 3)) as server:
        shortened = embedder(server, dimensions="3")
        shortened.embed(["x"])

    assert server.received[0].body["dimensions"] == 3
    assert shortened.identity == f"openai/small@{server.url}#3"


def test_a_pool_is_searched_through_a_server(queries, with_options, monkeypatch):
    with server_of() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        retriever = build_retriever("dense", with_options(model="openai/small", batch_size=2))
        rankings = rank(retriever, queries, 2)

    assert [len(ranking.hits) for ranking in rankings] == [2, 2, 2]
    assert len(server.received) == 3 + 2


@pytest.mark.parametrize(
    "trouble",
    [failure(408), failure(429), failure(500), failure(503), nothing(), half(), garbage()],
)
def test_trouble_that_may_pass_is_tried_again(trouble):
    with server_of(trouble, trouble) as server:
        assert len(embedder(server).embed(["x"])) == 1

    assert len(server.received) == 3


def test_a_server_that_stays_busy_fails_after_the_bounded_tries():
    with server_of(*[failure(429, "slow down")] * 9) as server:
        message = told(server, max_tries=3)

    assert "answered HTTP 429: slow down (tried 3 times). Send fewer: requests_per" in message
    assert len(server.received) == 3


@pytest.mark.slow
def test_a_long_wait_is_told(caplog):
    with server_of(failure(429, "Busy.", retry_after="86400")) as server:
        embedder(server, max_wait_s=2.1).embed(["x"])

    ours = [record for record in caplog.records if record.name.startswith("seal.")]
    (record,) = [record for record in ours if record.levelno >= logging.WARNING]
    assert (
        "(it asked for 86400 s; max_wait_s=86400 waits that long), then try 2 of 5."
        in record.getMessage()
    )


def test_a_silent_server_is_given_up():
    with server_of(late(0.5, garbage())) as server:
        assert "no answer within 0.1 seconds" in told(server, timeout_s=0.1, max_tries=1)


@pytest.mark.parametrize(
    ("status", "repair"),
    [
        (400, "does not take this request"),
        (401, "OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY"),
        (404, "the retriever's option base_url="),
    ],
)
def test_a_refusal_fails_at_once_and_names_the_repair_never_the_key(status, repair):
    with server_of(failure(status, f"no: {KEY}")) as server:
        message = told(server)

    assert len(server.received) == 1
    assert f"HTTP {status}: no: ***" in message
    assert repair in message


def test_only_a_request_that_another_may_replace_is_refused():
    with server_of(failure(400), failure(401)) as server:
        with pytest.raises(RequestError):
            embedder(server).embed(["x"])
        with pytest.raises(ModelError) as caught:
            embedder(server).embed(["x"])
    assert type(caught.value) is ModelError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (openai_rows([[1.0]]), "1 embedding of 1 indexes for 2 texts.* -R batch_size=1 may help"),
        (openai_rows([[1.0]] * 3), "3 embeddings of 3 indexes for 2 texts.* Let it batch no"),
        (
            openai_rows([[1.0]] * 2, [1, 2]),
            "for 2 texts: .* index 0 to 1. Let it batch no requests",
        ),
        (openai_rows([[1.0]] * 2, [0, 0]), "2 embeddings of 1 indexes for 2 texts"),
        (openai_rows([]), "0 embeddings"),
        (openai_rows([[1.0], [1.0, 2.0]]), "one length"),
        (openai_rows([["x"], [1.0]]), "rows of numbers"),
        (openai_rows([{"a": 1}, [1.0]]), "rows of numbers"),
        (openai_rows([None, [1.0]]), "rows of numbers|one length"),
        (openai_rows([[], [1.0]]), "one length"),
        (openai_rows(["AACAPw", [1.0]]), "rows of numbers"),
        (openai_rows([[0.0, 0.0], [1.0, 2.0]]), "zeros alone for 1 of 2 texts, the first 'one'"),
    ],
)
def test_rows_that_are_none_are_tried_again_and_then_told(given, message):
    with server_of(given, given) as server:
        assert re.search(message, told(server, max_tries=2))
    assert len(server.received) == 2
    with server_of(given) as server:
        assert len(embedder(server).embed(["one", "two"])) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (openai_rows([[None], [1.0]]), "row 0 of 2 holds NaN.*'one'"),
        (openai_rows([[1.0], [float("nan")]]), "row 1 of 2 holds NaN.*'two'"),
        (openai_rows([[1.0], [float("inf")]]), "row 1 of 2 holds NaN or an infinite.*'two'"),
        (openai_rows([[None, None]] * 2), "row 0 of 2 holds NaN.*'one'"),
    ],
)
def test_a_row_that_holds_no_numbers_fails_at_once_and_names_its_repair(given, message):
    with server_of(given) as server:
        assert re.search(f"{message}.*-R batch_size=1", told(server))
    assert len(server.received) == 1


def test_null_for_all_texts_is_told_as_such():
    with server_of(openai_rows([[None, None]] * 3)) as server, pytest.raises(ModelError) as caught:
        embedder(server).embed(["a cat", "a dog", "a bird"])
    assert "row 0 of 3 holds NaN" in str(caught.value)
    with server_of(openai_rows([[None, None]])) as server, pytest.raises(ModelError) as caught:
        embedder(server).embed(["a cat"])
    assert "batch_size" not in str(caught.value)


def test_an_error_in_an_answer_of_status_200_is_told_in_the_servers_words():
    error = answer({"error": {"message": "model not loaded", "type": "server_error"}})
    with server_of(error, error) as server:
        found = told(server, max_tries=2)
    assert "no list of embeddings: model not loaded (server_error) (tried 2 times)" in found


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "input is too large to process. increase the physical batch size"),
        (424, "Backend error: Inference error: index-select invalid index 514 with dim size 514"),
        (500, "index out of range in self"),
        (500, "The size of tensor a (889) must match the size of tensor b (512) at dimension 1"),
        (500, "The expanded size of the tensor (889) must match the existing size (512)"),
    ],
)
def test_a_text_that_a_server_cannot_process_names_the_option_that_cuts_it(status, said):
    with server_of(failure(status, said)) as server:
        found = told(server)
    assert len(server.received) == 1 and "-R cut=N" in found and "'one'" in found


@pytest.mark.parametrize(
    "said",
    [
        "batch size 33 > maximum allowed batch size 32",
        "List should have at most 32 items",
        "Value error, batch size is invalid, it should not be larger than 32.",
        "BatchEmbedContentsRequest.requests: at most 32 requests can be in one batch",
        "invalid request: total number of texts must be at most 32 - received 128",
    ],
)
def test_too_many_texts_at_once_name_their_repair(said):
    with server_of(failure(422, said)) as server:
        assert "-R batch_size=32" in told(server)


def test_a_server_that_takes_one_text_a_request_names_its_repair():
    with server_of(failure(400, "'input' must be a string")) as server:
        assert "-R batch_size=1" in told(server)


def test_rows_of_another_model_than_those_before_are_the_servers_fault():
    def script(request):
        body = json.loads(openai_embeddings(request).body)
        return answer({**body, "model": "small" if len(server.received) < 3 else "other"})

    with ModelServer(script) as server:
        made = embedder(server, batch_size=1, max_tries=2)
        made.embed(["e", "ee"])
        with pytest.raises(ModelError, match="answered by the model 'other', and before by 'sm"):
            made.embed(["eee"])


def test_a_body_that_is_not_packed_as_its_header_says_is_no_unreachable_server():
    rows = openai_rows([[1.0], [2.0]])
    packed = Answer(rows.body, headers={**rows.headers, "Content-Encoding": "gzip"})
    with server_of(packed, packed) as server:
        found = told(server, max_tries=2)
    assert "wrong header Content-Encoding" in found and "gzip" in found
    assert "Is it running" not in found


def test_options_of_the_server_stand_beside_the_model():
    with pytest.raises(UsageError, match="without quotes: model=openai/m,base_url=http://a/v1"):
        build_embedder("openai/m,base_url=http://a/v1", {})


@pytest.mark.parametrize(
    "given",
    [
        answer([]),
        answer({}),
        answer({"data": None}),
        answer({"data": [1, 2]}),
        answer("I am sorry, but I cannot embed that."),
        Answer(b""),
        Answer(b"half an ans"),
    ],
)
def test_an_answer_that_is_no_list_of_rows_is_told(given):
    with server_of(given, given) as server:
        message = told(server, max_tries=2)
    assert "no list of embeddings" in message or "no JSON" in message


def test_words_of_an_error_beside_no_vectors_are_told():
    given = answer({"data": [], "error": {"message": "out of memory", "code": 500}})
    with server_of(given, given) as server:
        assert "out of memory" in told(server, max_tries=2)


def test_vectors_come_in_the_forms_that_servers_give():
    for rows in (
        [{"embedding": [1.0]}, {"embedding": [2.0]}],  # in order, without an index
        [{"index": "1", "embedding": [2.0]}, {"index": 0.0, "embedding": [1.0]}],
        [{"embedding": [1.0]}, {"index": 1, "embedding": [2.0]}],  # Google leaves out a zero
        [{"index": 1, "embedding": [2.0]}, {"embedding": [1.0]}],
        [{"index": 0, "embedding": "AACAPw=="}, {"index": 1, "embedding": "AAAAQA=="}],
    ):
        with server_of(answer({"data": rows})) as server:
            assert embedder(server).embed(["a", "b"]) == [[1.0], [2.0]]
    half = [{"index": 0, "embedding": [1.0]}, {"embedding": [2.0]}]
    with server_of(answer({"data": half}), answer({"data": half})) as server:
        assert "lack an index, such as item 1" in told(server, max_tries=2)


def test_one_vector_for_all_texts_is_no_answer():
    same = openai_rows([[1.0, 2.0]] * 3)
    with server_of(same, same) as server, pytest.raises(ModelError) as caught:
        embedder(server, max_tries=2).embed(["a cat", "a dog", "a bird"])
    assert "one and the same vector for 3 different texts" in str(caught.value)
    with server_of(openai_rows([[1.0, 2.0]] * 3)) as server:
        assert len(embedder(server).embed(["a cat", "A cat", "a  cat"])) == 3
    with server_of(openai_rows([[0.0], [1.0]])) as server:
        assert embedder(server).embed([" ", "a"]) == [[0.0], [1.0]]


def test_a_refused_form_of_vectors_is_left_out_from_then_on():
    def strict(request):
        if "encoding_format" in request.body:
            return failure(400, "Unknown field: encoding_format")
        return openai_embeddings(request)

    with server_of(strict) as server:
        asked = embedder(server)
        assert len(asked.embed(["a", "b"])) == len(asked.embed(["c", "d"])) == 2
    assert len(server.received) == 3


def test_a_server_that_asks_for_the_purpose_of_a_text_is_told_it():
    def asymmetric(request):
        if "input_type" not in request.body:
            return failure(400, "'input_type' parameter is required for asymmetric models")
        return openai_embeddings(request)

    with server_of(asymmetric) as server:
        asked = embedder(server)
        assert len(asked.embed(["a", "b"])) == len(asked.embed_queries(["c", "d"])) == 2
    purposes = [request.body.get("input_type") for request in server.received]
    assert purposes == [None, "passage", "query"]
    with server_of(failure(422, "[type=string_type, input_value=3, input_type=int]")) as server:
        assert "input_type=int" in told(server)
    assert [request.body.get("input_type") for request in server.received] == [None]


def test_a_refusal_of_dimensions_or_of_a_length_names_its_repair():
    with server_of(failure(400, "this model does not support dimensions")) as server:
        assert "Leave -R dimensions out" in told(server, dimensions=3)
    with server_of() as server:
        found = told(server, dimensions=3)
    assert "gave a vector of 4 numbers where 3 were asked for. Leave -R dimensions out" in found
    with server_of(failure(413, "input is longer than 512 tokens")) as server:
        found = told(server)
    assert "The longest of 2 texts has 3 characters: 'one'" in found
    assert "-R batch_size=1" in found


def test_shuffled_indexes_are_put_in_order():
    with server_of(openai_rows([[3.0], [1.0], [2.0]], [2, 0, 1])) as server:
        assert embedder(server).embed(["a", "b", "c"]) == [[1.0], [2.0], [3.0]]


def test_queries_of_another_dimension_than_the_tools_are_told(with_options):
    with server_of(openai_embeddings, lambda request: openai_embeddings(request, 3)) as server:
        pool = with_options(model="openai/small", base_url=server.url)
        with pytest.raises(ModelError, match="queries have 3 dimensions, the tools 4"):
            rank(build_retriever("dense", pool), [Query("x")], 1)


def test_batches_of_different_dimensions_are_told(with_options):
    with server_of(openai_embeddings, lambda request: openai_embeddings(request, 3)) as server:
        pool = with_options(model="openai/small", base_url=server.url, batch_size=3)
        with pytest.raises(ModelError, match="documents have 3 dimensions, those before 4"):
            build_retriever("dense", pool)


def test_a_server_that_is_not_there_is_named():
    with server_of() as server:
        pass

    message = told(server, max_tries=1)
    assert server.url in message
    assert "could not be reached" in message
    assert "is the retriever's option base_url= right?" in message
    assert "--base-url" not in message


def test_an_address_that_is_none_names_where_it_was_given(monkeypatch):
    with pytest.raises(UsageError, match="the retriever's option base_url= 'nowhere': expected"):
        OpenAIEmbedder({"model": "small", "base_url": "nowhere"})
    monkeypatch.setenv("OPENAI_BASE_URL", "nowhere")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL 'nowhere': expected"):
        OpenAIEmbedder({"model": "small"})


def test_without_key_and_server_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")

    with pytest.raises(UsageError, match=r"OPENAI_API_KEY.* the retriever's option base_url="):
        OpenAIEmbedder({"model": "small"}).embed(["x"])


def test_a_server_without_keys_needs_none(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")

    with server_of() as server:
        assert len(embedder(server).embed(["x"])) == 1


def test_another_variable_may_hold_the_key(monkeypatch):
    monkeypatch.setenv("MY_KEY_VARIABLE", "sk-another")

    with server_of() as server:
        embedder(server, api_key_env="MY_KEY_VARIABLE").embed(["x"])

    assert server.received[0].headers["authorization"] == "Bearer sk-another"


def test_a_name_without_model_is_refused(with_options):
    with pytest.raises(UsageError, match="openai/MODEL"):
        build_retriever("dense", with_options(model="openai"))


@pytest.mark.parametrize("value", ["many", 0, -3, "nan", [1]])
@pytest.mark.parametrize(
    "name", ["batch_size", "dimensions", "max_tries", "timeout_s", "requests_per_minute"]
)
def test_an_option_that_is_no_number_is_refused(name, value):
    with pytest.raises(UsageError, match=f"-R {name}=.*a number above 0"):
        build_embedder("openai/small", {name: value})


def test_an_address_that_is_none_is_refused():
    with pytest.raises(UsageError, match="expected an address"):
        build_embedder("openai/small", {"base_url": "localhost"})


def test_neither_identity_nor_text_of_an_embedder_holds_a_password(monkeypatch):
    address = "http://user:word@host.example:8000/v1?token=x"
    with pytest.raises(UsageError, match="holds a user or a password"):
        OpenAIEmbedder({"model": "small", "base_url": address})
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    built = OpenAIEmbedder({"model": "small"})

    where, _, query = built.identity.partition("?")
    assert where == "openai/small@http://host.example:8000/v1"
    assert len(query) == 16 and "token" not in query  # a digest: another route is another model
    assert "word" not in repr(built)


def test_a_body_of_the_server_is_shortened():
    with server_of(Answer(json.dumps({"detail": "x" * 5000}).encode(), 400)) as server:
        assert len(told(server)) < 600


def test_an_error_beside_vectors_is_asked_again():
    good = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [2.0]}]
    beside = answer({"data": good, "error": {"message": "model crashed", "code": 500}})
    with server_of(beside) as server:
        assert len(embedder(server).embed(["e", "ee"])) == 2
    assert len(server.received) == 2


@pytest.mark.parametrize("kind", [">f4", "<f8", "<f2"])
def test_numbers_of_another_form_are_no_vectors(kind):
    drawn = np.random.default_rng(0).normal(size=(2, 256)) / 16
    sparse = np.zeros((2, 256))
    sparse[0, :4], sparse[1, 4:8] = 0.5, 0.25
    for vectors in (drawn, sparse) if kind != "<f2" else (drawn,):
        for form in ("<f4", kind):
            texts = [base64.b64encode(row.astype(form).tobytes()).decode() for row in vectors]
            items = [{"index": n, "embedding": text} for n, text in enumerate(texts)]
            with ModelServer([answer({"data": items})], repeat=True) as server:
                built = embedder(server)
                if form == "<f4":
                    assert np.allclose(built.embed(["sun", "rain"]), vectors)
                else:
                    with pytest.raises(ModelError, match="row 0"):
                        built.embed(["sun", "rain"])

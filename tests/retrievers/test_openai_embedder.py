import json
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from seal.core.errors import ModelError, UsageError
from seal.core.types import Query
from seal.retrievers import build_retriever, rank
from seal.retrievers.openai_embedder import OpenAIEmbedder

KEY = "sk-a-secret-of-this-test"


class Server:
    """An embedding server on this machine that plays prepared answers, then right ones."""

    def __init__(self, *script):
        self.script = list(script)
        self.requests = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, self.headers, body))
                status, text = server.answer(body)
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("retry-after-ms", "5")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def answer(self, body):
        step = self.script.pop(0) if self.script else right
        return step if isinstance(step, tuple) else (200, step(body))

    def __enter__(self):
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def right(body, dimension=4):
    texts = body["input"]
    rows = [[float(text.lower().count(c)) for c in "etaoin"[:dimension]] for text in texts]
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    # The interface names each row's index; their order is free.
    return json.dumps({"object": "list", "data": data[::-1], "model": body["model"]})


def fewer_rows(body):
    return right({**body, "input": body["input"][:-1]})


def not_a_number(body):
    return right(body).replace("0.0", "NaN").replace("1.0", "NaN")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def embedder(server, **options):
    return OpenAIEmbedder({"model": "small", "base_url": server.url, **options})


def failure(server, texts=("one", "two"), **options):
    with pytest.raises(ModelError) as caught:
        embedder(server, **options).embed(texts)
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    return str(caught.value)


def test_texts_go_out_in_batches_and_rows_come_back_in_order():
    with Server() as server:
        rows = embedder(server, batch_size=2).embed(["e", "ee", "eee", ""])

    assert [row[0] for row in rows] == [1, 2, 3, 0]
    assert [body["input"] for _, _, body in server.requests] == [["e", "ee"], ["eee", " "]]
    path, headers, body = server.requests[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "small"
    assert "dimensions" not in body


def test_dimensions_are_asked_for_and_part_of_the_identity():
    with Server() as server:
        shortened = embedder(server, dimensions="3")
        shortened.embed(["x"])

    assert server.requests[0][2]["dimensions"] == 3
    assert shortened.identity == f"openai/small@{server.url}#3"


def test_a_pool_is_searched_through_a_server(pool, queries, with_options, monkeypatch):
    with Server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        retriever = build_retriever("dense", with_options(model="openai/small", batch_size=2))
        rankings = rank(retriever, queries, 2)

    assert [len(ranking.hits) for ranking in rankings] == [2, 2, 2]
    assert len(server.requests) == 3 + 2


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_server_is_tried_again(status):
    busy = (status, '{"error": {"message": "busy"}}')
    with Server(busy, busy) as server:
        assert len(embedder(server).embed(["x"])) == 1

    assert len(server.requests) == 3


def test_a_server_that_stays_busy_fails_after_the_bounded_tries():
    with Server(*[(429, '{"error": {"message": "slow down"}}')] * 9) as server:
        message = failure(server, max_retries=2)

    assert "429" in message
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "repair"),
    [(400, "model"), (401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "OPENAI_BASE_URL")],
)
def test_a_refusal_fails_at_once_and_names_the_repair_never_the_key(status, repair):
    with Server((status, json.dumps({"error": {"message": f"no: {KEY}"}}))) as server:
        message = failure(server)

    assert len(server.requests) == 1
    assert str(status) in message
    assert repair in message


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fewer_rows, "1 embeddings for 2 texts"),
        ((200, "[]"), "no list of embeddings"),
        ((200, "{}"), "no list of embeddings"),
        ((200, '{"data": null}'), "no list of embeddings"),
        ((200, '{"data": [1, 2]}'), "no list of embeddings"),
        ((200, "half an ans"), "no list of embeddings"),
        ((200, ""), "no list of embeddings"),
        ((200, json.dumps({"data": [{"index": 0, "embedding": [1]}] * 2})), "2 embeddings"),
    ],
)
def test_an_answer_that_is_no_list_of_rows_is_told(answer, message):
    with Server(answer) as server:
        assert message in failure(server)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ([not_a_number], "NaN"),
        ([right, lambda body: right(body, 3)], "queries have 3 dimensions, the tools 4"),
        ([lambda body: right(body).replace("[", "[null, ", 2)], "no list|rows of numbers|NaN"),
    ],
)
def test_bad_vectors_are_a_model_error(script, message, with_options):
    with Server(*script) as server:
        pool = with_options(model="openai/small", base_url=server.url)
        with pytest.raises(ModelError, match=message):
            rank(build_retriever("dense", pool), [Query("x")], 1)


def test_batches_of_different_dimensions_are_a_model_error(with_options):
    with Server(right, lambda body: right(body, 3)) as server:
        pool = with_options(model="openai/small", base_url=server.url, batch_size=3)
        with pytest.raises(ModelError, match="one length"):
            build_retriever("dense", pool)


def test_a_server_that_is_not_there_is_named():
    with Server() as server:
        pass

    assert server.url in failure(server, max_retries=0)


def test_without_key_and_server_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")

    with pytest.raises(UsageError, match=r"OPENAI_API_KEY.*--base-url"):
        OpenAIEmbedder({"model": "small"})


def test_a_server_without_keys_needs_none(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")

    with Server() as server:
        assert len(embedder(server).embed(["x"])) == 1


def test_a_name_without_model_is_refused(with_options):
    with pytest.raises(UsageError, match="openai/MODEL"):
        build_retriever("dense", with_options(model="openai"))


def test_the_identity_holds_no_password():
    options = {"model": "small", "base_url": "http://user:word@host.example:8000/v1?token=x"}

    assert OpenAIEmbedder(options).identity == "openai/small@http://host.example:8000/v1"

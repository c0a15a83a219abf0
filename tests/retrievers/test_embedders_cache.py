"""Vectors kept by content: in the answer store, across processes, whatever the server does."""

import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import ModelServer, openai_embeddings

from seal.core import CacheMissError, InfrastructureError, ModelError
from seal.core.store import Store
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.embedders import (
    KIND,
    CachedEmbedder,
    build_embedder,
    embed_documents,
    embed_queries,
    name_of,
)
from seal.simulator_cache.exchange import verify


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as store:
        yield store


class Numbered:
    """Gives the n-th text that it is asked the vector (n, 1): what is asked twice differs."""

    identity = "numbered/1"
    batch_size = 2

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked += texts
        first = len(self.asked) - len(texts)
        return [[first + n, 1] for n in range(len(texts))]


class Answering:
    """Gives prepared rows, one piece for each time that it is asked."""

    identity = "answering/1"
    batch_size = 2

    def __init__(self, *pieces):
        self.pieces = list(pieces)

    def embed(self, texts):
        return self.pieces.pop(0)


def kept(store):
    return store.stats().entries.get(KIND, 0)


def test_a_text_is_embedded_once_whatever_it_stands_beside(store):
    embedder = Numbered()
    first = CachedEmbedder(embedder, store).embed(["a", "b", "a"])
    later = CachedEmbedder(embedder, store).embed(["c", "b", "a", "c"])

    assert embedder.asked == ["a", "b", "c"]
    assert first.tolist() == [[0, 1], [1, 1], [0, 1]]
    assert later.tolist() == [[2, 1], [1, 1], [0, 1], [2, 1]]


def test_documents_and_queries_are_kept_apart(store):
    embedder = Numbered()
    cached = CachedEmbedder(embedder, store)

    assert cached.embed(["a"]).tolist() == [[0, 1]]
    assert cached.embed_queries(["a"]).tolist() == [[1, 1]]
    assert kept(store) == 2


def test_embedders_of_other_identity_share_nothing(store):
    CachedEmbedder(Numbered(), store).embed(["a"])
    other = Numbered()
    other.identity = "numbered/2"
    CachedEmbedder(other, store).embed(["a"])

    assert other.asked == ["a"]


def test_only_an_embedder_with_identity_and_store_is_kept(store, embedder):
    def bare(texts):
        return [[1.0]] * len(texts)

    assert isinstance(build_embedder(embedder, {}, store), CachedEmbedder)
    assert name_of(build_embedder(embedder, {}, store)) == embedder.identity
    assert build_embedder(embedder, {}) is embedder
    assert build_embedder(embedder, {}, store, "off") is embedder
    assert not isinstance(build_embedder(bare, {}, store, "replay"), CachedEmbedder)


def test_replay_asks_nothing_and_names_the_missing_text(store):
    CachedEmbedder(Numbered(), store).embed(["a", "b"])
    silent = Answering()
    silent.identity = Numbered.identity
    replayed = CachedEmbedder(silent, store, "replay")

    assert replayed.embed(["b"]).tolist() == [[1, 1]]
    with pytest.raises(CacheMissError, match=r"document 'new' and of 1 more.*--cache record"):
        replayed.embed(["a", "new", "newer"])


def test_of_two_writers_the_first_wins_and_both_use_its_vector(store):
    class Slow(Numbered):
        def embed(self, texts):
            fast = Answering([[7, 7]])
            fast.identity = self.identity
            CachedEmbedder(fast, store).embed(list(texts))
            return super().embed(texts)

    assert CachedEmbedder(Slow(), store).embed(["a"]).tolist() == [[7, 7]]


@pytest.mark.parametrize(
    ("pieces", "message", "left"),
    [
        ([[[1, 2], [float("nan"), 1]]], "row 1 of 2 holds NaN.*its text is 'b'", 0),
        ([[[1, 2], [1e300, 1]]], "infinite", 0),
        ([[[1, 2]]], "2 texts gave an array of shape", 0),
        ([[[1, 2]] * 3], "2 texts gave", 0),
        ([[[1, 2], [1]]], "one length", 0),
        ([[[1, 2], ["x", 1]]], "rows of numbers", 0),
        ([[[1, 2], [3, 4]], [[1, 2, 3]]], "documents have 3 dimensions, those before 2", 2),
    ],
)
def test_rows_that_are_none_are_told_and_never_kept(store, pieces, message, left):
    with pytest.raises(ModelError, match=message):
        embed_documents(build_embedder(Answering(*pieces), {}, store), ["a", "b", "c"])
    assert kept(store) == left


def test_queries_of_another_dimension_are_told_and_never_kept(store):
    embedder = build_embedder(Answering([[1, 2, 3]]), {}, store)
    with pytest.raises(ModelError, match="queries have 3 dimensions, the tools 2"):
        embed_queries(embedder, ["a"], dimension=2)
    assert kept(store) == 0


def test_kept_vectors_of_another_dimension_name_the_text_and_the_repair(store):
    embed_documents(build_embedder(Answering([[1, 2, 3]]), {}, store), ["a"])
    with pytest.raises(ModelError, match=r"have 3 dimensions.* 2.*for 'a'.*another --cache-dir"):
        CachedEmbedder(Answering(), store).vectors("document", ["a"], dimension=2)


@pytest.mark.parametrize("value", [{}, {"vector": 3}, {"vector": "###"}, {"vector": "AAA="}])
def test_an_entry_that_holds_no_vector_is_told(store, value):
    cached = CachedEmbedder(Answering(), store)
    store.put(cached._key("document", "a"), value, KIND)
    with pytest.raises(InfrastructureError, match=r"a kept vector is damaged"):
        cached.embed(["a"])


TEXTS = st.lists(st.text(st.characters(), max_size=8), max_size=12)


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["document", "query"])), max_size=5))
@settings(max_examples=30)
def test_what_is_kept_is_what_was_given_to_the_last_bit(tmp_path_factory, calls):
    """Any texts in any order: halves of surrogate pairs, empty ones, equal ones."""
    given_rows = {}

    class Random:
        identity = "random/1"
        batch_size = 3

        def embed(self, texts):
            rows = np.random.default_rng(len(given_rows)).normal(size=(len(texts), 4))
            return rows.astype(np.float32)

    with Store(tmp_path_factory.mktemp("property") / "answers.sqlite") as store:
        for texts, purpose in calls:
            rows = CachedEmbedder(Random(), store).vectors(purpose, texts, 4)
            for text, row in zip(texts, rows, strict=True):
                first = given_rows.setdefault(
                    (CachedEmbedder(Random(), store)._key(purpose, text)), row
                )
                assert (row == first).all()


def test_a_pool_is_searched_again_without_the_embedder(store, embedder, pool, queries):
    pool = replace(pool, options={"model": embedder}, answers=store)
    first = rank(build_retriever("dense", pool), queries, 3)
    embedder.asked.clear()
    again = rank(build_retriever("dense", replace(pool, cache="replay")), queries, 3)

    assert (again, embedder.asked) == (first, [])


SCRIPT = """
import sys
from pathlib import Path
from seal.core.store import Store
from seal.retrievers.embedders import build_embedder, embed_documents

options = {"base_url": sys.argv[1], "batch_size": 2}
with Store(Path(sys.argv[2])) as store:
    embedder = build_embedder("openai/small", options, store, sys.argv[3])
    print(embed_documents(embedder, [f"text {n}" for n in range(10)]).shape)
    print("urllib3" in sys.modules)
"""


def start(server, path, mode="record"):
    words = [sys.executable, "-c", SCRIPT, server.url, str(path), mode]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_killed_process_goes_on_where_it_stopped(tmp_path):
    """Batches that were answered are kept; a third process needs neither server nor client."""
    path = tmp_path / "answers.sqlite"
    third_asked = threading.Event()

    def slow_from_the_third(request):  # before the first batch a process asks for the probe
        if len(server.received) == 4:
            third_asked.set()
            process.wait(30)
        return openai_embeddings(request)

    with ModelServer(slow_from_the_third) as server:
        process = start(server, path)
        assert third_asked.wait(300)
        process.kill()
        process.communicate()
        again = start(server, path)
        out, err = again.communicate(timeout=300)
        assert out.split("\n")[:2] == ["(10, 4)", "True"], err
        ((probe,), *batches) = (request.body["input"] for request in server.received[4:])
        assert [probe] == server.received[0].body["input"]
        sent = [text for batch in batches for text in batch]
    replayed = start(server, path, "replay")
    out, err = replayed.communicate(timeout=300)

    assert sent == [f"text {n}" for n in range(4, 10)]
    assert out.split("\n")[:2] == ["(10, 4)", "False"], err


def test_a_store_with_vectors_is_verified(store):
    embedder = Numbered()
    CachedEmbedder(embedder, store).embed(["a", "b"])
    assert CachedEmbedder(embedder, store, "replay").embed(["b"]).tolist() == [[1, 1]]
    checked = verify(store, {})
    assert (checked.checked, checked.sound) == (2, True)
    assert store.stats().entries == {KIND: 2}


@pytest.mark.slow
def test_building_needs_the_vectors_once(tmp_path):
    """One array, filled in place: the peak stays below what two of them would need."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path / "answers.sqlite")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    bare, kept, found = map(float, done.stdout.split())
    assert max(bare, kept, found) < 2


PEAK = """
import sys
import tracemalloc
from pathlib import Path
import numpy as np
from seal.core.store import Store
from seal.retrievers.embedders import build_embedder, embed_documents

class Ones:
    identity = "ones/1"
    def embed(self, texts):
        return np.ones((len(texts), 384), dtype=np.float32)

def peak(embedder):
    tracemalloc.start()
    embed_documents(embedder, texts)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / (len(texts) * 384 * 4)

texts = [str(n) for n in range(12_000)]
with Store(Path(sys.argv[1])) as store:
    cached = build_embedder(Ones(), {}, store)
    print(peak(Ones()), peak(cached), peak(cached))
"""

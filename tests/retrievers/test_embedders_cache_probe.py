"""Kept vectors are those of the model that answers now: another one under the same name is told."""

import pytest
from servers import ModelServer, openai_embeddings, openai_rows

from seal.core import CacheMissError, ModelError
from seal.core.store import Store
from seal.retrievers.embedders import CachedEmbedder, build_embedder


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as store:
        yield store


class Served:
    """A model behind a name: vectors of its own for each seed."""

    identity = "openai/m@somewhere"
    is_served = True

    def __init__(self, seed=0, noise=0.0):
        self.seed, self.noise = seed, noise
        self.asked = []

    def embed(self, texts):
        self.asked.append(list(texts))
        return [[1.0 + self.noise, len(t) * (-1) ** self.seed, len(set(t))] for t in texts]


def test_another_model_under_a_name_is_told_with_the_repair(store):
    CachedEmbedder(Served(), store).embed(["a tool", "another"])
    other = CachedEmbedder(Served(1), store)
    assert len(other.embed(["a tool"])) == 1  # all is kept: nobody is asked
    with pytest.raises(ModelError, match=r"another model answers under this name.*--cache-dir"):
        other.embed_queries(["what?"])
    with pytest.raises(ModelError, match="another model"):  # it is not taken for known
        other.embed(["a third"])


def test_a_model_is_asked_for_the_probe_once_a_run(store):
    probes = []
    for texts in (["a", "b"], ["a", "b"], ["c", "d"]):
        model = Served()
        cached = CachedEmbedder(model, store)
        for text in texts:
            cached.embed([text]), cached.embed_queries([text])
        probes.append(sum("Bern" in asked[0] for asked in model.asked))
    assert probes == [1, 0, 1]  # nothing is asked where all is kept


def test_replay_asks_for_no_probe(store):
    CachedEmbedder(Served(), store).embed(["a"])
    silent = Served()
    replayed = CachedEmbedder(silent, store, "replay")
    assert replayed.embed(["a"]).shape == (1, 3)
    with pytest.raises(CacheMissError):
        replayed.embed(["c"])
    assert not silent.asked


def test_last_digits_may_differ(store):
    CachedEmbedder(Served(), store).embed(["a tool"])
    assert len(CachedEmbedder(Served(noise=1e-3), store).embed(["a second tool"])) == 1


def test_vectors_that_were_kept_without_a_probe_are_held_to_one_of_their_own(store):
    before = Served()
    before.is_served = False  # as an earlier version kept them
    CachedEmbedder(before, store).embed(["a tool"])
    with pytest.raises(ModelError, match="they differ for 'a tool'"):
        CachedEmbedder(Served(1), store).embed(["a tool", "another"])


def test_embedders_of_other_numbers_are_another_model(store):
    CachedEmbedder(Served(), store).embed(["a tool"])
    wider = Served()
    wider.embed = lambda texts: [[1.0, 2.0]] * len(texts)
    with pytest.raises(ModelError, match="another model"):
        CachedEmbedder(wider, store).embed(["another"])


def test_a_server_is_probed_whatever_provider(store, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    answers = [openai_embeddings]

    with ModelServer(lambda request: answers[0](request)) as server:
        options = {"base_url": server.url}
        build_embedder("openai/m", options, store).embed(["a tool"])
        answers[0] = lambda request: openai_rows(
            [[0.0, 0.0, 0.0, 9.0]] * len(request.body["input"])
        )
        with pytest.raises(ModelError, match="another model"):
            build_embedder("openai/m", options, store).embed_queries(["what?"])


def test_a_vector_of_zeros_that_an_earlier_version_kept_is_told(store):
    before = Served()
    before.is_served = False
    before.embed = lambda texts: [[0.0, 0.0, 0.0]] * len(texts)
    CachedEmbedder(before, store).embed(["a tool"])
    with pytest.raises(ModelError, match=r"vector of zeros.*--cache-dir"):
        CachedEmbedder(Served(), store).embed(["a tool"])

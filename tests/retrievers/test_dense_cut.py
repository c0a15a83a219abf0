"""Texts that are longer than an embedder reads: cut where that is asked, and counted."""

from dataclasses import replace

import pytest
from servers import ModelServer, openai_embeddings

import seal
from seal.core import Longer, OptionError, Pool, Query, Tool
from seal.core.text import count_by_bytes
from seal.experiments.draws import _summed
from seal.report.retrieval import retrieval_tables
from seal.retrievers import kept
from seal.retrievers.base import cut_at_tokens
from seal.retrievers.build import build_retriever
from seal.retrievers.minilm import MiniLM

LONG = "It tells what the weather is like. " * 60


def tool(name, description):
    return Tool(f"p/t/{name}", name, description, {"type": "object", "properties": {}})


TOOLS = (tool("a", LONG), tool("b", "Books a table."), tool("c", LONG + "Really."))


class Recorder:
    def __init__(self, options=None):
        self.texts = []

    def embed(self, texts):
        self.texts += texts
        return [[len(text), 1.0] for text in texts]


def build(embedder, **options):
    told = []
    pool = Pool(TOOLS, options={"model": embedder, **options}, longer=told.append)
    return build_retriever("dense", pool), told


def test_documents_and_queries_are_cut_where_that_is_asked():
    embedder = Recorder()
    retriever, told = build(embedder, cut=50)
    retriever.retrieve([Query(LONG), Query("Short?")], 2)
    assert max(map(count_by_bytes, embedder.texts)) <= 50
    assert "Short?" in embedder.texts
    assert told == [Longer("document", 2, 3, 50), Longer("query", 1, 2, 50)]
    assert retriever.identity.endswith("/cut=50")


def test_a_reranker_reads_so_many_tokens_of_query_and_tool():
    seen, told = [], []

    def score(pairs):
        seen.extend(text for pair in pairs for text in pair)
        return [float(len(tool)) for _, tool in pairs]

    options = {"of": "bm25", "model": score, "cut": 50}
    reranker = build_retriever("rerank", Pool(TOOLS, options=options, longer=told.append))
    reranker.retrieve([Query(LONG)], 2)
    assert seen and max(map(count_by_bytes, seen)) <= 50
    assert told == [Longer("document", 2, 3, 50), Longer("query", 1, 1, 50)]
    assert reranker.identity.endswith("/cut=50")


def test_documents_of_a_large_pool_are_counted_once_and_told_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "_LEAST", 1)
    counted = []

    class Reader(Recorder):
        identity, longest = "reader/1", 100

        def is_longer(self, text):
            counted.append(text)
            return len(text) > self.longest

    def told():
        found = []
        options = {"model": Reader()}
        pool = Pool(TOOLS, options=options, longer=found.append, cache_dir=tmp_path)
        build_retriever("dense", pool)
        return found

    assert told() == told() == [Longer("document", 2, 3, 100)]
    assert len(counted) == 3
    Reader.longest = 5000
    assert told() == [Longer("document", 0, 3, 5000)]


def test_nothing_is_cut_where_nobody_asks():
    embedder = Recorder()
    retriever, told = build(embedder)
    retriever.retrieve([Query(LONG)], 2)
    assert LONG in embedder.texts and not told
    assert "cut" not in retriever.identity


@pytest.mark.parametrize("value", ["many", 2.5, -1])
def test_a_cut_is_a_number_of_tokens(value):
    with pytest.raises(OptionError, match="cut"):
        build(Recorder(), cut=value)


@pytest.mark.parametrize("text", ["wort " * 99, "字" * 300, "é" * 300, "\ud800" * 90 + "a" * 400])
def test_a_cut_text_is_a_beginning_of_no_more_tokens(text):
    for most in (1, 7, 50):
        cut = cut_at_tokens(text, most)
        assert text.startswith(cut) and count_by_bytes(cut) <= most
    assert cut_at_tokens(text, 10_000) is text


def test_a_server_that_takes_no_long_text_is_sent_short_ones(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def answer(request):
        assert all(count_by_bytes(text) <= 40 for text in request.body["input"])
        return openai_embeddings(request)

    with ModelServer(answer) as server:
        spec = f"dense,model=openai/m,base_url={server.url},cut=40"
        tasks = [seal.Task("q", "p", (seal.Goal(LONG, relevant=(TOOLS[0].id,)),))]
        found = seal.retrieve(tasks, spec, k=2, tools=TOOLS, cache="off")
    assert not found.results[0].unavailable
    (entry,) = found.content["results"]
    assert [one["kind"] for one in entry["longer"]] == ["document", "query"]
    lines = [line for line in retrieval_tables(found.content) if isinstance(line, str)]
    told = "2 of 3 documents are longer than the 40 tokens that are read of each and 1 of 1 texts"
    assert any(told in line for line in lines)


def test_the_counts_of_a_run_are_told_once(caplog, tmp_path):
    own = seal.Benchmark(
        "own",
        tools=list(TOOLS),
        tasks=[seal.ask(f"Please book a table, {n}. {LONG}", seal.called("b")) for n in range(3)],
    )
    caplog.set_level("WARNING")
    given = {"model": "lexical", "retriever": "dense,cut=30"}
    seal.run(own, out=tmp_path / "run", baselines=False, cache_dir=tmp_path, **given)
    told = [line for line in map(str, caplog.messages) if "longer than" in line]
    assert len(told) == 2 and "2 of 3 documents" in told[0]


def test_queries_of_several_batches_are_summed_and_what_is_read_whole_is_left_out():
    told = [
        Longer("document", 0, 9, 256),
        Longer("query", 1, 4, 256),
        Longer("query", 0, 4, 256),
        Longer("query", 2, 2, 256),
    ]
    assert list(_summed(told)) == [Longer("query", 3, 10, 256)]


def test_our_encoder_tells_what_it_does_not_read_whole():
    encoder = MiniLM()
    words = "weather " * 254
    assert not encoder.is_longer(words)
    assert encoder.is_longer(words + "again")
    pool = Pool(TOOLS, longer=(told := []).append)
    build_retriever("dense", pool)
    build_retriever("dense", replace(pool, tools=TOOLS[1:2]))
    assert told == [Longer("document", 2, 3, 256), Longer("document", 0, 1, 256)]

import multiprocessing
import os
import resource
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import MissingExtraError, ModelError, Pool, Query, SealError, Tool, UsageError
from seal.core.model_files import fetch
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.embedders import DEFAULT_MODEL
from seal.retrievers.kept import ARRAYS
from seal.retrievers.vector_index import IndexKind, VectorIndex, write_index


def files(folder, pattern="*.index"):
    return sorted(folder.glob(pattern))


@pytest.fixture
def kept(pool, embedder, tmp_path):
    return replace(pool, cache_dir=tmp_path, options={"model": embedder})


def test_the_tool_nearest_to_the_query_comes_first(queries, embedder, with_options):
    retriever = build_retriever("dense", with_options(model=embedder))

    one, two, _ = rank(retriever, queries, 3)

    assert two.hits[0][0] in {"toy/Bank/send_money", "toy/Bank/balance"}
    assert all(-1 <= score <= 1 for _, score in one.hits)
    assert retriever.identity == "dense/hashed-words/1/tool_api_description"


def test_a_document_finds_itself_with_score_one(pool, embedder):
    retriever = build_retriever(
        "dense", replace(pool, options={"model": embedder, "template": "name"})
    )

    rankings = rank(retriever, [Query(tool.name) for tool in pool.tools], 1)

    assert [ranking.hits for ranking in rankings] == [((tool.id, 1.0),) for tool in pool.tools]


def test_an_index_is_kept_and_read_back_without_embedding_again(kept, embedder, queries):
    first = rank(build_retriever("dense", kept), queries, 5)
    embedder.asked.clear()

    again = rank(build_retriever("dense", kept), queries, 5)

    assert again == first
    assert embedder.asked == [len(queries)]
    assert len(files(kept.cache_dir)) == 1
    assert not any(path.is_dir() for path in kept.cache_dir.iterdir())


def test_the_order_of_the_pool_is_no_part_of_the_index(kept, embedder):
    build_retriever("dense", kept)
    build_retriever("dense", replace(kept, tools=kept.tools[::-1]))

    assert embedder.asked == [len(kept.tools)]


def test_other_tools_templates_and_embedders_have_indexes_of_their_own(kept, embedder):
    other = type(embedder)(identity="hashed-words/2")
    build_retriever("dense", kept)
    build_retriever("dense", replace(kept, tools=kept.tools[1:]))
    build_retriever("dense", replace(kept, options={"model": embedder, "template": "name"}))
    build_retriever("dense", replace(kept, options={"model": other}))

    assert len(files(kept.cache_dir)) == 4


def test_nothing_is_kept_of_an_embedder_without_identity(kept):
    build_retriever(
        "dense", replace(kept, options={"model": lambda texts: np.ones((len(texts), 2))})
    )

    assert files(kept.cache_dir) == []


def damage(data):
    head, _, body = data.partition(b"\n")
    return {
        "empty": b"",
        "no head": b"\0" * 100,
        "truncated": data[:-10],
        "changed byte": data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
        "other format": head.replace(ARRAYS.encode(), b"other/1") + b"\n" + body,
        "list head": b"[]\n" + body,
    }


@pytest.mark.parametrize("kind", damage(b"{}\n123456").keys())
def test_a_damaged_index_is_built_again_and_said_so(kind, kept, embedder, queries, caplog):
    expected = rank(build_retriever("dense", kept), queries, 5)
    [path] = files(kept.cache_dir)
    whole = path.read_bytes()
    path.write_bytes(damage(whole)[kind])

    assert rank(build_retriever("dense", kept), queries, 5) == expected
    assert path.read_bytes() == whole
    assert "built again" in caplog.text


def test_without_space_for_the_index_the_retriever_works_and_says_so(
    kept, embedder, queries, caplog
):
    expected = rank(build_retriever("dense", replace(kept, cache_dir=None)), queries, 5)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        found = rank(build_retriever("dense", kept), queries, 5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert found == expected
    assert "the index is not kept in" in caplog.text
    assert files(kept.cache_dir) == []


def test_an_index_of_another_embedder_under_this_name_is_refused(kept, embedder, caplog):
    other = type(embedder)(dimension=8, identity="other")
    build_retriever("dense", kept)
    [path] = files(kept.cache_dir)
    whole = path.read_bytes()
    build_retriever("dense", replace(kept, options={"model": other}))
    [foreign] = set(files(kept.cache_dir)) - {path}
    path.write_bytes(foreign.read_bytes())

    build_retriever("dense", kept)

    assert path.read_bytes() == whole
    assert "another embedder" in caplog.text


def test_every_kind_of_index_is_kept_under_its_own_name(kept, embedder, queries):
    specs = [
        "dense",
        "dense,index=SQ8",
        "dense,index=HNSW32",
        'dense,index="IVF1,Flat"',
        "dense,index=HNSW8",
    ]
    first = [rank(build_retriever(spec, kept), queries, 5) for spec in specs]
    assert len(files(kept.cache_dir)) == 5
    embedder.asked.clear()

    assert [rank(build_retriever(spec, kept), queries, 5) for spec in specs] == first
    assert embedder.asked == [len(queries)] * 5
    assert first[0] == first[2] == first[3]


def test_the_kind_of_index_is_part_of_the_identity(kept):
    retriever = build_retriever('dense,index="IVF2,Flat"', kept)

    assert retriever.identity == "dense/hashed-words/1/tool_api_description/IVF2,Flat"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dense,index=faiss", "index=faiss: Faiss knows no such index; give flat, "),
        ("dense,m=8", 'm is gone: Faiss reads the whole index, as index="HNSW32"'),
        ('dense,index="IVF6,Flat"', "index=IVF6,Flat: Faiss makes none of 5 vectors"),
    ],
)
def test_an_index_that_cannot_be_is_refused(spec, message, kept):
    with pytest.raises(UsageError, match=message):
        build_retriever(spec, kept)
    assert files(kept.cache_dir) == []


def test_a_sound_file_with_an_index_of_another_kind_is_built_again(kept, queries, caplog):
    expected = rank(build_retriever("dense", kept), queries, 5)
    [path] = files(kept.cache_dir)
    whole = path.read_bytes()
    vectors = np.eye(5, 32, dtype=np.float32)
    write_index(path, path.stem, VectorIndex.build(vectors, IndexKind("SQ8")))

    assert rank(build_retriever("dense", kept), queries, 5) == expected
    assert path.read_bytes() == whole
    assert "made by another version" in caplog.text


def test_a_failed_build_leaves_no_index(kept):
    class Broken:
        identity = "broken"

        def embed(self, texts):
            raise ModelError("the server is gone")

    with pytest.raises(ModelError, match="gone"):
        build_retriever("dense", replace(kept, options={"model": Broken()}))

    assert files(kept.cache_dir) == []
    assert files(kept.cache_dir, ".*.part") == []


class Counted:
    """Leaves a file for each time that documents were embedded."""

    identity = "counted"

    def __init__(self, folder):
        self.folder = folder

    def embed(self, texts):
        (self.folder / f"embedded-{os.getpid()}").touch()
        return [[len(text), text.count("a"), 1] for text in texts]


def _build_in_process(folder):
    tools = tuple(Tool(f"toy/t/{i}", f"t{i}", "a" * i) for i in range(50))
    pool = Pool(tools, cache_dir=folder, options={"model": Counted(folder)})
    return rank(build_retriever("dense", pool), [Query("aaa")], 5)[0].hits


@pytest.mark.slow
def test_processes_that_start_at_once_build_one_index(tmp_path):
    with multiprocessing.get_context("spawn").Pool(4) as processes:
        answers = processes.map(_build_in_process, [tmp_path] * 4, chunksize=1)

    assert len(set(answers)) == 1
    assert len(files(tmp_path)) == 1


@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(st.text("ab 天", max_size=6), min_size=1, max_size=8),
    order=st.randoms(use_true_random=False),
    k=st.integers(1, 5),
)
def test_no_answer_depends_on_the_order_of_the_queries(texts, order, k):
    def embed(texts):
        return [[text.count("a"), text.count("b"), len(text)] for text in texts]

    tools = tuple(Tool(f"toy/t/{i}", "ab"[i % 2] * i) for i in range(6))
    retriever = build_retriever("dense", Pool(tools, options={"model": embed, "template": "name"}))
    shuffled = list(texts)
    order.shuffle(shuffled)

    found = {r.query: r.hits for r in rank(retriever, [Query(text) for text in shuffled], k)}

    for text in texts:
        [alone] = rank(retriever, [Query(text)], k)
        assert alone.hits == found[text]
        assert len({tool for tool, _ in alone.hits}) == (k if text.strip() else 0)


def test_a_cutoff_below_one_or_beyond_the_pool(kept):
    retriever = build_retriever("dense", kept)

    with pytest.raises(UsageError, match="--top-k"):
        retriever.retrieve([Query("x")], 0)
    assert len(retriever.retrieve([Query("x")], 99)[0]) == len(kept.tools)
    assert retriever.retrieve([], 3) == []


def test_a_missing_extra_names_its_install_command(with_options):
    try:
        import sentence_transformers  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError, match=r'pip install "seal-api-llms\[embeddings\]"'):
            build_retriever("dense", with_options(model="lab/some-model"))
    else:
        pytest.skip("sentence-transformers is installed")


@pytest.mark.slow
def test_the_default_model_finds_by_meaning(with_options, tmp_path):
    try:
        fetch(DEFAULT_MODEL)
    except SealError as error:
        pytest.skip(f"no model: {error}")
    pool = replace(with_options(), cache_dir=tmp_path)

    [ranking] = rank(build_retriever("dense", pool), [Query("Do I need an umbrella today?")], 1)

    assert ranking.hits[0][0] == "toy/Weather/forecast"
    assert len(files(tmp_path)) == 1


def test_it_tells_how_many_tools_are_embedded_where_that_takes_several_batches(pool, embedder):
    told = []

    def tell(done, total):
        told.append((done, total))

    for size in (2, 5):
        embedder.batch_size = size
        build_retriever("dense", replace(pool, options={"model": embedder}, progress=tell))

    assert told == [(2, 5), (4, 5), (5, 5)]

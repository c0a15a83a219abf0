from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import random as random_sparse

from seal.core import DataError, Pool, Query, Tool, UnknownNameError, UsageError
from seal.retrievers.build import REGISTRY, build_retriever, rank
from seal.retrievers.dense import Dense, sparse_projection
from seal.retrievers.hybrid import RankFusion
from seal.retrievers.lexical import SparseRows
from seal.retrievers.wrappers import SentenceWise

PAIRS = ["tfidf+dense", "dense+bm25", "bm25+tfidf", "dense+dense"]
NOUNS = [
    "weather",
    "song",
    "price",
    "account",
    "flight",
    "recipe",
    "photo",
    "word",
    "city",
    "match",
    "train",
    "news",
]
VERBS = ["get", "find", "list", "send", "create", "convert", "search", "check", "book", "play"]


@pytest.fixture(scope="module")
def tools():
    random = np.random.default_rng(1)
    described = [" ".join(random.choice([*NOUNS, *VERBS], size=8)) for _ in range(400)]
    return tuple(Tool(f"toy/t/{i:03}", f"t{i:03}", text) for i, text in enumerate(described))


@pytest.fixture
def asked():
    random = np.random.default_rng(2)
    return [Query(" ".join(random.choice([*NOUNS, *VERBS], size=4))) for _ in range(12)]


def weighted(spaces, texts, weight):
    """The definition: the weighted cosines, rounded."""
    total = 0
    for space, share in zip(spaces, (weight, 1 - weight), strict=True):
        documents, queries = (
            rows if isinstance(rows, np.ndarray) else rows.toarray()
            for rows in (space.documents(), space.queries(texts))
        )
        total = total + share * (queries.astype(np.float64) @ documents.T.astype(np.float64))
    return np.round(total, 6) + 0.0


@pytest.fixture
def spaces(tools, embedder):
    """A pair's options, and its two spaces built each for itself."""
    small = type(embedder)(dimension=16, identity="hashed-words/small")

    def build(parts):
        names = parts.split("+")
        models = [small if n == 1 and names[0] == "dense" else embedder for n in range(2)]
        pairs = list(zip(names, models, strict=True))
        own = [{"model": model} if name == "dense" else {} for name, model in pairs]
        options = {f"{n}.{key}": value for n, o in enumerate(own, 1) for key, value in o.items()}
        return options, [
            REGISTRY.resolve(name).space(Pool(tools, options=o))
            for name, o in zip(names, own, strict=True)
        ]

    return build


@pytest.mark.parametrize("parts", PAIRS)
@pytest.mark.parametrize(("weight", "dimensions"), [(0.3, 64), (1, 10_000)])
def test_the_score_is_the_weighted_cosine(parts, weight, dimensions, tools, asked, spaces):
    options, built = spaces(parts)
    expected = weighted(built, [query.text for query in asked], weight)
    pool = Pool(tools, options={**options, "parts": parts, "weight": weight})

    found = rank(build_retriever(f"hybrid,dimensions={dimensions}", pool), asked, 5)

    for ranking, scores in zip(found, expected, strict=True):
        order = np.argsort(-scores, kind="stable")[:5]
        assert [score for _, score in ranking.hits] == pytest.approx(scores[order], abs=2e-6)
        assert [tool for tool, _ in ranking.hits] == [tools[i].id for i in order]


@pytest.mark.parametrize("index", ["SQ8", "HNSW32", '"IVF4,Flat"'])
def test_other_indexes_find_most_and_score_alike(index, tools, asked, embedder, tmp_path):
    pool = Pool(tools, cache_dir=tmp_path, options={"model": embedder, "dimensions": 512})
    exact = rank(build_retriever("hybrid", pool), asked, 5)
    first = rank(build_retriever(f"hybrid,index={index}", pool), asked, 5)

    shared = sum(len(set(a.hits) & set(b.hits)) for a, b in zip(exact, first, strict=True))
    assert shared >= 0.9 * 5 * len(asked)
    assert len(list(tmp_path.glob("*.index"))) == 2  # that of the dense part, and the joint one
    assert rank(build_retriever(f"hybrid,index={index}", pool), asked, 5) == first


def test_no_answer_depends_on_the_other_queries(tools, asked, embedder):
    retriever = build_retriever("hybrid,dimensions=64", Pool(tools, options={"model": embedder}))

    together = rank(retriever, asked, 5)

    assert [rank(retriever, [query], 5)[0] for query in asked] == together
    assert rank(retriever, [], 5) == []


def test_a_query_that_says_nothing_and_a_pool_of_empty_tools_find_none(tools, embedder):
    empty = tuple(replace(tool, name="", description="", id=tool.id) for tool in tools[:9])
    for pool, query in ((tools, ""), (empty, "weather")):
        retriever = build_retriever("hybrid,parts=tfidf+bm25,template=name_description", Pool(pool))
        [ranking] = rank(retriever, [Query(query)], 3)
        assert ranking.hits == ()


def test_a_class_with_a_space_is_a_part(tools, asked, embedder):
    class Mine(Dense):
        """A vector space of one's own."""

    pool = Pool(tools, options={"model": embedder, "parts": ["tfidf", Mine]})

    found = rank(build_retriever("hybrid", pool), asked, 5)

    same = Pool(tools, options={"model": embedder, "parts": "tfidf+dense"})
    assert found == rank(build_retriever("hybrid", same), asked, 5)


def test_the_identity_tells_all(tools, embedder):
    pool = Pool(tools, options={"model": embedder})

    assert build_retriever("hybrid,weight=0.25,index=HNSW8,dimensions=64", pool).identity == (
        "cosine(0.25*tfidf/full + 0.75*dense/hashed-words/1/tool_api_description)"
        "/64/HNSW8/sentences/levels=0.4/siblings=0.5"
    )


def test_the_plain_hybrid_is_one_setting_and_each_of_its_options_gives_way(tools, embedder):
    pool = Pool(tools, options={"model": embedder})

    def identity(options):
        return build_retriever(f"hybrid{options}", pool).identity

    written = ",parts=tfidf+dense,weight=0.6,1.template=full,sentences=true,siblings=0.5"
    assert identity("") == identity(written)
    assert identity(",weight=0.5,sentences=false,siblings=0,template=tool_api_description") == (
        identity(",parts=tfidf+dense")
    )
    assert "tfidf/name + " in identity(",1.template=name")


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("hybrid,parts=tfidf+random", UsageError, "part 2 of the hybrid, random, is no vector sp"),
        ("hybrid,parts=oracle+tfidf", UsageError, "give fusion=rrf"),
        ("hybrid,parts=tfidf+bm25+tfidf", UsageError, "joins two parts, got 3"),
        ("hybrid,parts=tfidf", UsageError, "expected two or more"),
        ("hybrid,parts=tfidf+bm25,weight=1.5", UsageError, "weight = 1.5: expected a number from"),
        ("hybrid,parts=tfidf+bm25,weight=-1", UsageError, "weight = -1: expected"),
        ("hybrid,parts=tfidf+bm25,weight=half", UsageError, "weight = 'half': expected"),
        ("hybrid,parts=tfidf+bm25,dimensions=3", UsageError, "dimensions = 3: expected a whole"),
        ("hybrid,parts=tfidf+bm25,depth=3", UsageError, "depth is an option of fusion=rrf"),
        ("hybrid,parts=tfidf+bm25,index=foo", UsageError, "index=foo: Faiss knows no such"),
        ("hybrid,parts=tfidf+bm25,m=8", UsageError, "m is gone: .*HNSW32"),
        ("hybrid,parts=tfidf+bm25,2.index=HNSW32", UsageError, "share one index"),
        ("hybrid,parts=tfidf+bm25,model=x", UnknownNameError, "no option -R of hybrid 'model'"),
        ("hybrid,parts=tfidf+bm25,1.k1=2", UnknownNameError, "no option -R of tfidf 'k1'"),
        ("hybrid,parts=tfidf+bm25,0.k1=2", UsageError, "has the parts 1 to 2"),
    ],
)
def test_what_cannot_be_joined_is_refused(spec, error, message, pool):
    with pytest.raises(error, match=message):
        build_retriever(spec, pool)


def test_the_runs_address_passes_where_no_part_asks_a_server(with_options):
    spec, query = "hybrid,parts=tfidf+bm25", [Query("rain in Bern")]
    addressed = build_retriever(spec, with_options(base_url="http://localhost:1"))

    assert addressed.retrieve(query, 3) == build_retriever(spec, with_options()).retrieve(query, 3)


def test_a_cutoff_below_one_or_beyond_the_pool(pool):
    retriever = build_retriever("hybrid,parts=tfidf+bm25", pool)

    with pytest.raises(UsageError, match="--top-k"):
        retriever.retrieve([Query("x")], 0)
    assert len(retriever.retrieve([Query("rain")], 99)[0]) == len(pool.tools)


def test_a_projection_keeps_lengths_and_nearly_keeps_inner_products():
    drawn = random_sparse(200, 20_000, 0.005, random_state=np.random.default_rng(0))
    rows = SparseRows.of(drawn.row, drawn.col, drawn.data, 200, 20_000).unit()
    matrix = sparse_projection(20_000, 1024, seed=0)
    projected = rows @ matrix

    error = projected @ projected.T - rows @ rows.transposed()

    assert np.abs(error).max() < 4 * np.sqrt(2 / 1024)
    off = error[~np.eye(200, dtype=bool)]
    assert abs(off.mean()) < 0.002
    assert off.std() < 1.1 / np.sqrt(1024)
    again, other = (sparse_projection(20_000, 1024, seed=seed).toarray() for seed in (0, 1))
    assert (matrix.toarray() == again).all()
    assert (matrix.toarray() != other).any()
    assert (again**2).sum(axis=1) == pytest.approx(np.ones(20_000))


class Unsure:
    identity = "unsure"

    def __init__(self, pool):
        self._ids = [tool.id for tool in pool.tools]

    def retrieve(self, queries, k):
        worst = [(tool, 1.0) for tool in self._ids[1:k]]
        return [[(self._ids[0], self.score), *worst] for _ in queries]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_part_whose_score_is_not_finite_is_refused_by_its_name(pool, score):
    part = type("Part", (Unsure,), {"score": score})
    alone = build_retriever(part, pool)
    fused = RankFusion([alone, build_retriever("tfidf", pool)], 3)
    for retriever in (alone, fused, SentenceWise(alone)):
        with pytest.raises(DataError, match=r"retriever unsure.*a score is not a finite number"):
            rank(retriever, [Query("rain. wind.")], 3)

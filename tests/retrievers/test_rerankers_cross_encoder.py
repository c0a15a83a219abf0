"""Cross-encoders of sentence-transformers, as rerankers."""

import pytest

from seal.core import MissingExtraError, Pool, Query, Tool, UsageError
from seal.retrievers.base import RetrieverSpec
from seal.retrievers.build import build_retriever, rank

TOOLS = tuple(Tool(f"toy/x/{n}", f"t{n}", f"Rain number {n}.") for n in range(4))


def ranked(folder, **options):
    spec = RetrieverSpec("rerank", {"of": "bm25", "model": str(folder), **options})
    [ranking] = rank(build_retriever(spec, Pool(TOOLS)), [Query("rain 2")], 4)
    return [tool for tool, _ in ranking.hits]


@pytest.mark.slow
def test_the_order_is_that_of_the_models_scores(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    from tiny_models import write_cross_encoder

    from seal.retrievers.base import documents

    texts = documents(TOOLS)
    folder = write_cross_encoder(tmp_path / "ce", [*texts, "rain 2"])
    scores = library.CrossEncoder(str(folder)).predict([("rain 2", text) for text in texts])

    assert len({round(float(score), 4) for score in scores}) > 1
    best = sorted(range(4), key=lambda place: -scores[place])
    assert ranked(folder) == [TOOLS[place].id for place in best]
    assert set(ranked(folder, depth=2)[:2]) != set(ranked(folder)[2:])


@pytest.mark.slow
def test_a_model_without_a_layer_that_scores_is_refused(tmp_path):
    pytest.importorskip("sentence_transformers")
    from tiny_models import write_bert

    write_bert(tmp_path / "bert", ["rain"])

    with pytest.raises(UsageError, match="is no cross-encoder"):
        ranked(tmp_path / "bert-inner")


def test_a_model_that_is_not_there_is_refused(tmp_path):
    with pytest.raises((MissingExtraError, UsageError), match=r"sentence-transformers"):
        ranked("lab/none")
    with pytest.raises(UsageError, match="no such folder"):
        ranked(tmp_path / "none")

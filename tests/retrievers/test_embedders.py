import sys

import numpy as np
import pytest
from looped import every_case

from seal.core import ModelError, UnknownNameError, UsageError
from seal.retrievers.embedders import (
    EMBEDDERS,
    build_embedder,
    embed_documents,
    embed_queries,
    name_of,
)


class FromOptions:
    def __init__(self, options):
        self.identity = f"from-options/{options['model']}/{options['size']}"
        self.size = options["size"]

    def embed(self, texts):
        return [[float(len(text))] * self.size for text in texts]


def of_lengths(texts):
    return [[len(text), 1] for text in texts]


class Answers:
    """An embedder that answers whatever it was given."""

    def __init__(self, rows):
        self.rows = rows

    def embed(self, texts):
        return self.rows


def test_an_embedder_comes_as_object_class_function_or_dotted_path(embedder, monkeypatch):
    monkeypatch.setitem(sys.modules, "my_embedders", sys.modules[__name__])

    assert build_embedder(embedder, {}) is embedder
    assert build_embedder(FromOptions, {"size": 2}).size == 2
    for what in (of_lengths, "my_embedders:of_lengths"):
        assert build_embedder(what, {}).embed(["abc"]) == [[3, 1]]


def test_a_registered_embedder_gets_the_rest_of_its_name_as_model(monkeypatch):
    monkeypatch.setattr(EMBEDDERS, "_registered", {})
    EMBEDDERS.register("mine", FromOptions)

    assert name_of(build_embedder("mine/small", {"size": 3})) == "from-options/small/3"


@pytest.mark.parametrize("what", [42, Answers([]).rows])
def test_what_cannot_embed_is_refused(what):
    with pytest.raises(UsageError, match=r"embed\(texts\)"):
        build_embedder(what, {})


def test_rows_become_unit_vectors_and_zeros_stay_zeros():
    vectors = embed_documents(Answers([[3, 4], [0, 0]]), ["a", "b"])

    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]


def test_documents_that_are_all_zeros_are_refused():
    with pytest.raises(ModelError, match="every number of all 2 vectors is 0"):
        embed_documents(Answers([[0, 0], [0, 0]]), ["a", "b"])


def test_an_embedder_keeps_its_own_array(embedder):
    rows = np.array([[3, 4]], dtype=np.float32)

    embed_documents(Answers(rows), ["a"])

    assert rows.tolist() == [[3, 4]]


@every_case(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], "2 texts gave an array of shape"),
        ([[[1.0, 2.0]], [[3.0, 4.0]]], "that it pools them"),
        ([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], "that it pools them"),
        ([[1.0, 2.0]] * 3, "2 texts gave"),
        ([1.0, 2.0], "shape"),
        ([[], []], "shape"),
        ([[1.0], [1.0, 2.0]], "one length; row 1 has 2 numbers, row 0 has 1$"),
        ([[1.0], [None]], "NaN|rows of numbers"),
        ([[1.0], ["x"]], "rows of numbers.* row 1 holds 'x'$"),
        ([[1.0], {}], "rows of numbers.* row 1 is {}$"),
        ([[1.0], None], "rows of numbers.* row 1 is None$"),
        ([[1.0], "AAAA"], "rows of numbers.* row 1 is 'AAAA'$"),
        ([[0.1] * 384, [0.1] * 383], "row 1 has 383 numbers, row 0 has 384$"),
        (None, "shape|rows of numbers"),
        ([[1.0], [float("nan")]], "row 1 of 2 holds NaN"),
        ([[1e300], [1.0]], "infinite"),
    ],
)
def test_rows_that_are_none_are_a_model_error_that_says_what_came(rows, message):
    with pytest.raises(ModelError, match=message):
        embed_documents(Answers(rows), ["a", "b"])


def test_queries_of_another_dimension_are_a_model_error():
    with pytest.raises(ModelError, match="queries have 2 dimensions, the tools 3"):
        embed_queries(Answers([[1.0, 2.0]]), ["a"], dimension=3)


def test_each_distinct_query_is_embedded_once(embedder):
    vectors = embed_queries(embedder, ["b", "a", "b"], dimension=32)

    assert embedder.asked == [2]
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] != vectors[1]).any()


def test_queries_may_have_a_method_of_their_own():
    class Asymmetric:
        def embed(self, texts):
            return [[1.0, 0.0]] * len(texts)

        def embed_queries(self, texts):
            return [[0.0, 1.0]] * len(texts)

    assert embed_documents(Asymmetric(), ["a"]).tolist() == [[1, 0]]
    assert embed_queries(Asymmetric(), ["a"], dimension=2).tolist() == [[0, 1]]


def test_an_unknown_option_of_a_shipped_embedder_is_refused():
    with pytest.raises(UnknownNameError, match=r"'batch'; known: api_key_env, base_url.*Did you"):
        build_embedder("openai/x", {"model": "openai/x", "batch": 3})

"""TF-IDF rows are those of scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core.text import composed, split_identifiers, terms
from seal.retrievers.lexical import TermWeights, english_stop_words, pieces, words


def single(text):
    return terms(text).single


def parted(text):
    return split_identifiers(composed(text)).lower()


OPTIONS = {
    "words": {
        "stop_words": "english",
        "ngram_range": (1, 2),
        "tokenizer": single,
        "token_pattern": None,
        "lowercase": False,
    },
    "pieces": {"analyzer": "char_wb", "ngram_range": (3, 5), "preprocessor": parted},
}
ANALYSERS = {"words": words, "pieces": pieces}
TEXTS = st.lists(st.text(st.sampled_from("abé the日 \tÄß1_\n'-") | st.characters()), max_size=6)


def test_the_stop_words_are_scikit_learns():
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    assert english_stop_words() == ENGLISH_STOP_WORDS


@pytest.mark.parametrize("kind", sorted(OPTIONS))
@given(texts=TEXTS)
def test_the_terms_are_scikit_learns_and_identifiers_whole(kind, texts):
    from sklearn.feature_extraction.text import TfidfVectorizer

    analyse = TfidfVectorizer(**OPTIONS[kind]).build_analyzer()
    for text in texts:
        wholes = terms(text).wholes if kind == "words" else []
        assert sorted(ANALYSERS[kind](text)) == sorted([*analyse(text), *wholes])


@pytest.mark.parametrize("kind", sorted(OPTIONS))
@given(texts=TEXTS, queries=TEXTS)
def test_the_weights_are_scikit_learns(kind, texts, queries):
    from sklearn.feature_extraction.text import TfidfVectorizer

    analyse = ANALYSERS[kind]
    reference = TfidfVectorizer(sublinear_tf=True, analyzer=analyse)
    if not any(analyse(text) for text in texts):
        assert not TermWeights(analyse, texts)
        return
    ours = TermWeights(analyse, texts)
    theirs = reference.fit_transform(texts)
    assert np.allclose(ours.documents.toarray(), theirs.toarray(), rtol=0, atol=1e-14)
    if queries:
        rows = reference.transform(queries).toarray()
        assert np.allclose(ours.rows(queries).toarray(), rows, rtol=0, atol=1e-14)

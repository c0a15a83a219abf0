"""TF-IDF rows are those of scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.retrievers.lexical import WORD, TermWeights, english_stop_words, pieces, words

OPTIONS = {
    "words": {"stop_words": "english", "ngram_range": (1, 2), "token_pattern": WORD},
    "pieces": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}
ANALYSERS = {"words": words(WORD), "pieces": pieces}
TEXTS = st.lists(st.text(st.sampled_from("abé the日 \tÄß1_\n'-") | st.characters()), max_size=6)


def test_the_stop_words_are_scikit_learns():
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    assert english_stop_words() == ENGLISH_STOP_WORDS


@pytest.mark.parametrize("kind", sorted(OPTIONS))
@given(texts=TEXTS, queries=TEXTS)
def test_the_terms_and_weights_are_scikit_learns(kind, texts, queries):
    from sklearn.feature_extraction.text import TfidfVectorizer

    reference = TfidfVectorizer(sublinear_tf=True, **OPTIONS[kind])
    analyse = reference.build_analyzer()
    for text in (*texts, *queries):
        assert sorted(ANALYSERS[kind](text)) == sorted(analyse(text))
    if not any(analyse(text) for text in texts):
        assert not TermWeights(ANALYSERS[kind], texts)
        return
    ours = TermWeights(ANALYSERS[kind], texts)
    theirs = reference.fit_transform(texts)
    assert np.allclose(ours.documents.toarray(), theirs.toarray(), rtol=0, atol=1e-14)
    if queries:
        rows = reference.transform(queries).toarray()
        assert np.allclose(ours.rows(queries).toarray(), rows, rtol=0, atol=1e-14)

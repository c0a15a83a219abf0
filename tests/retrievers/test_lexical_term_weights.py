"""TF-IDF rows are those of scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core.text import composed, split_identifiers, terms
from seal.retrievers.lexical import (
    SparseRows,
    Terms,
    TermWeights,
    english_stop_words,
    pieces,
    words,
)
from seal.retrievers.postings import Chunks


def single(text):
    return terms(text).single


def parted(text):
    return split_identifiers(composed(text)).lower()


def words_and_pairs(text):
    ordered, wholes = words(text)
    return [*ordered, *map(" ".join, pairwise(ordered)), *wholes]


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
WHOLE = {"words": words_and_pairs, "pieces": pieces}
ANALYSERS = {"words": words, "pieces": lambda text: ([], pieces(text))}
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
        assert sorted(WHOLE[kind](text)) == sorted([*analyse(text), *wholes])


def named(kind, space):
    """The terms of a space in the order of their numbers."""
    names = sorted(space.terms._number, key=space.terms._number.__getitem__)
    known = names[: space.terms.postings.width]
    pairs = [divmod(pair, len(known)) for pair in space.terms._pairs.tolist()]
    return [*known, *(f"{known[a]} {known[b]}" for a, b in pairs)]


@pytest.mark.parametrize("kind", sorted(OPTIONS))
@given(texts=TEXTS, queries=TEXTS)
def test_the_weights_are_scikit_learns(kind, texts, queries):
    """The whole texts go to scikit-learn, and to ours in chunks that blanks part."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    counted = Terms.counted(ANALYSERS[kind], Chunks(texts), with_pairs=kind == "words")
    ours = TermWeights(Terms(ANALYSERS[kind], counted, len(texts)))
    reference = TfidfVectorizer(sublinear_tf=True, analyzer=WHOLE[kind])
    if not any(WHOLE[kind](text) for text in texts):
        assert not ours.documents().data.size
        return
    theirs = reference.fit_transform(texts)
    order = np.argsort(named(kind, ours))  # theirs have the order of their names
    assert sorted(named(kind, ours)) == reference.get_feature_names_out().tolist()
    found = ours.documents().toarray()[:, order]
    assert np.allclose(found, theirs.toarray(), rtol=0, atol=1e-14)
    if queries:
        rows = reference.transform(queries).toarray()
        asked = SparseRows.of_each(map(ours.row, queries), len(order)).toarray()[:, order]
        assert np.allclose(asked, rows, rtol=0, atol=1e-14)
        cosines = np.stack([ours.cosines(query) for query in queries])
        assert np.allclose(cosines, rows @ theirs.toarray().T, rtol=0, atol=1e-13)

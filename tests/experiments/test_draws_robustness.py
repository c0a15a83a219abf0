"""Pools asked in other words, and what is measured of them beside recall."""

import random
from pathlib import Path

import pytest

import seal
from seal.core import UnknownNameError
from seal.experiments.draws import mistyped, paraphrased

RULES = ("typos", "paraphrase", "german", "spanish", "renamed", "undescribed")


def test_every_rule_is_a_pool_of_its_own_with_the_same_gold() -> None:
    found = seal.retrieve("sample", ["oracle", "tfidf"], 10, perturb=RULES, limit=20)
    names = ["sample", *(f"sample~{rule}" for rule in RULES)]
    assert list(dict.fromkeys(result.pool for result in found.results)) == names
    assert {r["recall@10"].mean for r in found.results if r.retriever == "oracle"} == {1.0}
    assert len({r["recall@10"].n for r in found.results}) == 1


@pytest.mark.slow
def test_equal_seeds_give_equal_texts_and_others_do_not(tmp_path: Path) -> None:
    def recall(seed: int) -> float:
        found = seal.retrieve("sample", "bm25", 1, perturb=("typos",), seed=seed)
        return found.results[1]["mrr@1"].mean or 0.0

    assert recall(1) == recall(1)
    assert len({recall(seed) for seed in range(1, 5)}) > 1


def test_a_typing_error_changes_words_but_not_what_is_no_word() -> None:
    text = "Convert 250 EUR to USD: a bit, on 2024-05-06!"
    changed = mistyped(text, random.Random(3))
    assert changed != text
    assert [c for c in changed if not c.isalpha()] == [c for c in text if not c.isalpha()]
    assert mistyped("1 + 1", random.Random(0)) == "1 + 1"


@pytest.mark.parametrize("seed", range(12))
def test_a_word_with_twin_letters_is_misspelt_too(seed: int) -> None:
    assert mistyped("book", random.Random(seed)) != "book"


def test_a_paraphrase_has_every_sentence() -> None:
    changed = paraphrased("Find a hotel. Book it.", random.Random(0))
    assert "look up a hotel." in changed
    assert "reserve it." in changed


def test_tools_without_names_are_found_by_their_descriptions_alone() -> None:
    found = seal.retrieve("sample", "tfidf", 1, perturb=("renamed", "undescribed"))
    whole, renamed, undescribed = (r["recall@1"].mean or 0.0 for r in found.results)
    assert 0 < renamed < whole
    assert 0 < undescribed < whole


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"typoes.*typos"):
        seal.retrieve("sample", "tfidf", perturb=("typoes",))


def test_precision_and_tokens_follow_from_the_ranking() -> None:
    found = seal.retrieve("sample", ["oracle", "tfidf,tokens=400"], (1, 20))
    oracle, budget = found.results
    assert oracle["precision@1"].mean == oracle["mrr@1"].mean == 1.0
    assert 0 < budget["tokens@20"].mean <= 400
    assert budget["precision@20"].mean > budget["recall@20"].mean / 20

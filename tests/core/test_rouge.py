"""ROUGE-L over stems, against ToolSandbox's own scorer."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core.rouge import rouge_l, stem, tokens

sentences = st.lists(st.sampled_from(["the", "cat", "cats", "sat", "mats", "日"]), max_size=8).map(
    " ".join
)


def subsequences(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = {()}
    for word in words:
        found |= {(*others, word) for others in found}
    return found


@every_case(
    ("word", "shown"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "tie"), ("cats", "cat"),
        ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("sing", "sing"),
        ("conflated", "conflat"), ("hopping", "hop"), ("falling", "fall"), ("filing", "file"),
        ("happy", "happi"), ("enjoy", "enjoy"), ("relational", "relat"), ("analogi", "analog"),
        ("hopefulness", "hope"), ("electriciti", "electr"), ("adoption", "adopt"),
        ("probate", "probat"), ("controll", "control"), ("skies", "sky"), ("died", "die"),
        ("rationally", "ration"), ("is", "is"), ("a1", "a1"), ("1741789806", "1741789806"),
    ],
)  # fmt: skip
def test_words_are_stemmed_as_porter_and_nltk_do(word: str, shown: str) -> None:
    assert stem(word) == shown


def test_only_latin_letters_and_digits_are_tokens() -> None:
    assert tokens("It's 18.5°C — naïve 天气") == ("it", "s", "18", "5", "c", "na", "ve")


def test_short_words_are_not_stemmed() -> None:
    assert tokens("has gas this") == ("has", "gas", "thi")


@pytest.mark.parametrize(
    ("target", "text", "share"),
    [
        ("", "", 0.0),
        ("a", "", 0.0),
        ("天气", "天气", 0.0),
        ("one two", "two one", 0.5),
        ("a b c", "a x b", 2 / 3),
        ("Wifi is ON", "wifi is on!", 1.0),
    ],
)
def test_hand_worked_shares(target: str, text: str, share: float) -> None:
    assert rouge_l(target, text) == pytest.approx(share, abs=1e-12)


@given(sentences, sentences)
def test_the_share_is_that_of_the_longest_common_subsequence(left: str, right: str) -> None:
    a, b = tokens(left), tokens(right)
    longest = max(len(found) for found in subsequences(a) & subsequences(b))
    expected = 2 * longest / (len(a) + len(b)) if longest else 0.0
    assert rouge_l(left, right) == pytest.approx(expected, abs=1e-12)


def test_every_recorded_stem_and_pair_agrees(seal_data: Path) -> None:
    path = seal_data / "toolsandbox" / "rouge.json.gz"
    if not path.is_file():
        pytest.skip("no rouge.json.gz")
    recorded = json.loads(gzip.decompress(path.read_bytes()))
    assert {word: stem(word) for word in recorded["stems"]} == recorded["stems"]
    pairs = recorded["pairs_target_text_f"]
    assert sum(rouge_l(target, text) == f for target, text, f in pairs) == len(pairs) == 3000

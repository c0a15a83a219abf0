"""What is generated stays the same, byte for byte, from one version to the next."""

import hashlib
from pathlib import Path

import pytest
from query_pools import write_pool

import seal

DESCRIPTIONS = """# Travel
search_hotels: Search hotels in a city between two dates.
Convert an amount of money from one currency to another.
# Office
bookRoom: Book a meeting room for a number of people at a time.
Searches for mushrooms by ripeness and colour.
"""


def digest(folder: Path, *names: str) -> str:
    """Return the digest of files; what identifies the version is no part of the pool's own."""
    total = hashlib.sha256()
    for name in names:
        total.update((folder / name).read_bytes())
    return total.hexdigest()[:16]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))


def test_queries_are_the_same_from_version_to_version(tmp_path):
    write_pool(tmp_path / "boats", 4)
    review = tmp_path / "review.csv"
    seal.generate("queries", tmp_path / "boats", tmp_path / "out", per_seed=2, review=review)
    names = ("tasks.jsonl", "statistics.json", "rejected.jsonl", "generation/drafts.jsonl")
    assert digest(tmp_path / "out", *names) == "da2c5602dc75c7d8"
    assert digest(tmp_path, "review.csv") == "6a8f1e6a153ebb88"


@pytest.mark.parametrize(
    ("form", "name", "expected"),
    [
        ("seal", "tools.jsonl", "b4e5431cbf3ccc5f"),
        ("mmtb", "mmtb_tools_en.jsonl", "95d3a7e8a738478d"),
    ],
)
def test_tools_are_the_same_from_version_to_version(tmp_path, form, name, expected):
    (tmp_path / "wishes.txt").write_text(DESCRIPTIONS)
    seal.generate("tools", tmp_path / "wishes.txt", tmp_path / "out", form=form)
    names = (name, "generation.json", "generation/drafts.jsonl")
    assert digest(tmp_path / "out", *names) == expected


def test_missions_of_five_are_the_same_from_version_to_version(tmp_path):
    review = tmp_path / "review.json"
    settings = {"missions": 5, "limit": 3, "seed": 2, "review": review}
    seal.generate("missions", "sample", tmp_path / "out", **settings)
    made = digest(tmp_path / "out", "tasks.jsonl", "generation/dialogues.jsonl")
    assert made == "0e6a62d025382545"
    assert digest(tmp_path, "review.json") == "7d265db3af71a94e"

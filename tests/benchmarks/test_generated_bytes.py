"""What is generated stays the same, byte for byte, from one version to the next."""

import hashlib
from pathlib import Path

import pytest
from query_pools import write_pool
from query_writer import QueryWriter
from weather_talk import WeatherTalk

import seal


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
    settings = {"per_seed": 2, "review": tmp_path / "review.csv", "model": QueryWriter()}
    seal.generate("queries", tmp_path / "boats", tmp_path / "out", **settings)
    assert digest(tmp_path / "out", "generation/drafts.jsonl") == "d1a889644677b2f4"
    names = ("tasks.jsonl", "statistics.json", "rejected.jsonl")
    assert digest(tmp_path / "out", *names) == "42592ffd84accd7c"
    assert digest(tmp_path, "review.csv") == "dc9f4de5de17520d"


def test_missions_of_five_are_the_same_from_version_to_version(tmp_path):
    review = tmp_path / "review.json"
    settings = {"missions": 5, "limit": 3, "seed": 2, "review": review, "model": WeatherTalk()}
    seal.generate("missions", "sample", tmp_path / "out", **settings)
    made = digest(tmp_path / "out", "tasks.jsonl", "generation/dialogues.jsonl")
    assert made == "02e6b888876f094b"
    assert digest(tmp_path, "review.json") == "0ca94b55843a6e58"

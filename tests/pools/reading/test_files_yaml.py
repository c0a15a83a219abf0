"""YAML is read as version 1.2 has it, and a key named twice is told."""

from pathlib import Path
from typing import Any

import pytest

from seal.core import DataError
from seal.pools.reading.files import yaml_document


def _of(tmp_path: Path, text: str) -> Any:
    (tmp_path / "t.yaml").write_text(text)
    return yaml_document(tmp_path / "t.yaml")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *((word, word) for word in ("no", "NO", "yes", "on", "off", "y", "1:30", "2020-01-01")),
        *((word, word) for word in ("1_000", "0b11", "=", "nullish", "tRue", "1e", "0o8")),
        *((word, None) for word in ("~", "null", "NULL", "")),
        *((word, word.lower() == "true") for word in ("true", "False", "TRUE")),
        ("010", 10),
        ("-7", -7),
        ("0o17", 15),
        ("0xfF", 255),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-1.5E-1", -0.15),
        ("'010'", "010"),
    ],
)
def test_words_mean_what_version_1_2_says(tmp_path: Path, word: str, value: Any) -> None:
    (found,) = _of(tmp_path, f"- {word}\n")
    assert found == value
    assert type(found) is type(value)


def test_maps_may_be_merged_and_name_no_key_twice(tmp_path: Path) -> None:
    assert _of(tmp_path, "a: &a {x: 1}\nb: {<<: *a, y: 2}\n")["b"] == {"x": 1, "y": 2}
    with pytest.raises(DataError, match="the key '/x' stands twice in a map; keep one of them"):
        _of(tmp_path, "paths:\n  /x: {get: {}}\n  /y: {}\n  /x: {post: {}}\n")

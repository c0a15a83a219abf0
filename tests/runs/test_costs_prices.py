"""Prices of models: files that hold none, and which price counts."""

import json
from pathlib import Path

import pytest

from seal.core import DataError
from seal.runs.costs import Prices


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "no prices"),
        ('{"date": "2026-01-31", "models": {}}', "no prices"),
        ('{"date": "31.1.2026", "models": {"a/b": {"in": 1, "out": 1}}}', "expected a day"),
        ('{"models": {"a/b": {"in": 1, "out": 1}}}', "expected a day"),
        ('{"date": "2026-01-31", "models": {"a/b": {"in": -1, "out": 1}}}', "from 0 to"),
        ('{"date": "2026-01-31", "models": {"a/b": {"in": true, "out": 1}}}', "from 0 to"),
        ('{"date": "2026-01-31", "models": {"a/b": {"in": "1", "out": 1}}}', "from 0 to"),
        ('{"date": "2026-01-31", "models": {"a/b": {"in": NaN, "out": 1}}}', "not JSON"),
        ('{"date": "2026-01-31", "models": {"a/b": {"in": 1e999, "out": 1}}}', "from 0 to|JSON"),
        (
            '{"date": "2026-01-31", "models": {"a/b": {"in": %s, "out": 1}}}' % ("9" * 400),
            "from 0 to",
        ),
        ('{"date": "2026-01-31", "models": {"a/b": {"in": 1}}}', "expected in and out"),
        ('{"date": "2026-01-31", "models": {"a/b": 3}}', "expected in and out"),
        ('{"date": "2026-01-31", "source": 1, "models": {"a/b": {"in": 1, "out": 1}}}', "a text"),
    ],
)
def test_files_without_prices_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(DataError, match=message):
        Prices.load(file)
    with pytest.raises(DataError, match="cannot be read"):
        Prices.load(tmp_path / "none.json")


def test_the_first_table_counts_and_a_dated_name_has_the_price_without_its_date(
    tmp_path: Path,
) -> None:
    shipped = Prices.load()
    price = shipped.of("openai/gpt-4o-2024-08-06")
    assert price == shipped.of("openai/gpt-4o")
    assert shipped.of("openai/gpt-4o-2024-05-13") != price
    assert shipped.of("lexical") is not None
    assert shipped.of("openai/mine") is None
    file = tmp_path / "prices.json"
    models = {"openai/gpt-4o": {"in": 7, "out": 9}}
    file.write_text(json.dumps({"date": "2026-01-31", "source": "mine", "models": models}))
    own = Prices.load(file)
    found = own.of("openai/gpt-4o")
    assert found is not None
    assert found.of(1_000_000, 1_000_000) == 16
    told = own.told(["openai/gpt-4o", "lexical", "openai/o3"])
    assert [table["source"][:4] for table in told] == ["mine", "list"]

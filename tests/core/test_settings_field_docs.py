"""Docstrings that describe the fields of their class, as `help` shows them."""

import inspect
from dataclasses import fields

import pytest

import seal
from seal.experiments.settings import CompareSettings
from seal.pools.declarations import Generator, PublishedTable
from seal.runs.settings import RunSettings


@pytest.mark.parametrize(
    "kind", [seal.Benchmark, Generator, PublishedTable, RunSettings, CompareSettings]
)
def test_every_field_with_a_default_is_described(kind: type) -> None:
    told = inspect.getdoc(kind) or ""
    described = told.partition("\nFields:\n")[2]
    missing = [
        each.name
        for each in fields(kind)
        if f"\n    {each.name}:\n" not in f"\n{described}" and each.name not in ("name", "title")
    ]
    assert missing == []


def test_a_text_below_a_field_is_told_whole() -> None:
    assert "    headline:\n        Metrics of the short table" in str(seal.Benchmark.__doc__)
    assert "It plays every role that `role_models` does not name." in str(RunSettings.__doc__)

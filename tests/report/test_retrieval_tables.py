"""Tables of what retrievers find."""

from __future__ import annotations

import seal


def test_a_first_score_that_most_queries_lack_has_no_threshold() -> None:
    """Of three queries that need a tool one alone matches, so that no score keeps 95 %."""
    tool = {"name": "tide", "description": "Tells the tide.", "parameters": {"properties": {}}}
    asked = ["How high is the tide?", "Quel temps fait-il?", "Wann kommt Regen?"]
    tasks = [seal.ask(text, seal.called("tide")) for text in asked]
    tasks += [seal.ask(f"Hello {name}!", needs_no_tool=True) for name in ("Ann", "Bo")]
    found = seal.retrieve(seal.Benchmark("b", tools=[tool], tasks=tasks), retrievers=["bm25"])
    assert "none" in found.table()
    assert "AUROC" in found.table()

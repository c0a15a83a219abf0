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


def test_pairs_stand_in_the_table_by_ndcg_too_and_other_metrics_are_named() -> None:
    table = seal.retrieve("sample", ["bm25", "random"], k=[1, 5], limit=8).table()
    rows = [line for line in table.splitlines() if line.count("random") == line.count("bm25") == 1]
    for metric in ("recall@5", "mrr@5", "ndcg@5"):
        assert sum(metric in row for row in rows) == 1
    assert len(rows) == 3
    assert "paired comparisons in map@5 and rprec@5: --json or results.json lists them" in table


def test_pairs_of_long_names_stand_in_one_table_of_80_columns() -> None:
    long = "bm25,template=name_description"
    table = seal.retrieve("sample", ["bm25,k1=1.25,b=0.5", long], k=10, limit=8).table()
    assert "R1 = bm25,k1=1.25,b=0.5" in table
    assert f"R2 = {long}" in table
    pairs = table[table.index("minus") :].splitlines()
    assert [line for line in pairs if " R1 " in line and " R2 " in line and "recall@10" in line]
    assert max(map(len, pairs[:4])) <= 80

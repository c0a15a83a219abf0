"""Functions written without a model over real recorded calls, in the sandbox."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from seal.benchmarks.dialogtool.api_code import fit, rule_written, source_of
from seal.benchmarks.dialogtool.metrics import play, suite_of
from seal.core import Task, Tool
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.sandbox import build_sandbox

FILES = 3


@pytest.fixture(scope="module")
def created(seal_data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Task, Tool]]:
    """The creation tasks of a few real files, each with its tool."""
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    split = seal_data / "sgd" / "test"
    if not split.is_dir():
        pytest.skip(f"no dialogues at {split}")
    source, out = (tmp_path_factory.mktemp(name) for name in ("sgd", "pool"))
    (source / "test").mkdir()
    for file in (split / "schema.json", *sorted(split.glob("dialogues_*.json"))[:FILES]):
        shutil.copy(file, source / "test" / file.name)
    import_benchmark("dialogtool", source, out=out / "pool", split="test")
    pool = load_pool(out / "pool")
    tools = {tool.id: tool for tool in pool.tools()}
    tasks = (task for task in pool.tasks() if task.tags.get("group") == "creation")
    return [(task, tools[str(task.goals[0].labels["tool"])]) for task in tasks]


@pytest.mark.slow
def test_the_oracle_passes_in_the_sandbox_what_its_search_says(
    created: list[tuple[Task, Tool]],
) -> None:
    sandbox, passed, ruled, every = build_sandbox("monty-only"), 0, 0, 0
    for task, tool in created:
        suite = suite_of(task)
        found = fit(tool, suite.table, suite.cases)
        best = play(sandbox, tool, source_of(tool, found.filter), suite)
        rule = play(sandbox, tool, rule_written(tool), suite)
        counts, by_rule = (Counter(o.status for o in outcomes) for outcomes in (best, rule))

        assert counts["pass"] == found.passed
        assert by_rule["pass"] <= found.passed
        assert {*counts, *by_rule} <= {"pass", "wrong"}
        passed, ruled, every = passed + found.passed, ruled + by_rule["pass"], every + found.cases
    assert 0.6 < ruled / every < passed / every < 1.0

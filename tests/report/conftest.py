"""Fixtures of the report's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_runs import Writer, chat, failed_chat, metric, task, verdict

from seal.core import Score
from seal.runs.run import RunFolder


@pytest.fixture
def make_run(tmp_path: Path) -> Writer:
    return Writer(tmp_path)


@pytest.fixture
def scored_run(make_run: Writer) -> RunFolder:
    """Three tasks, one solved, one not, one ended by the server; floor and ceiling beside."""
    ids = ("own/a", "own/b", "own/c")
    tasks = [task(id) for id in ids]
    run = make_run(
        "run",
        tasks,
        [chat("own/a"), chat("own/b"), failed_chat("own/c")],
        [
            verdict("own/a", "solved", "the answer states the sky"),
            verdict("own/b", "unsolved", "no city"),
        ],
        {
            "pass_rate": metric(
                0.5, 2, undefined=1, unsure=0.25, by={"x": metric(1.0), "y": metric(0.0)}
            ),
            "recall@1": metric(0.6),
            "recall@10": metric(0.9, micro=0.8),
            "tokens_in": metric(1234.5, low=1000.0, high=1500.0),
            "call_f1": metric(None, 0, undefined=3),
        },
    )
    for name, passed in (("floor", 0.0), ("ceiling", 1.0)):
        short = [
            Score("own/b", 0, 0, "call_recall", 0.5, reason="the gold tool is not in the pool")
        ]
        make_run(
            f"run/{name}",
            tasks,
            [chat(id) for id in ids],
            [*(verdict(id, "solved" if passed else "unsolved") for id in ids)]
            + (short if name == "ceiling" else []),
            {"pass_rate": metric(passed, 3), "recall@10": metric(passed)},
            model={"floor": "lexical", "ceiling": "oracle"}[name],
        )
    return run

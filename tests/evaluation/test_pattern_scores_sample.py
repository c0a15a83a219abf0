"""The oracle over the shipped sample and the phone's scenarios: free of all seven patterns."""

from pathlib import Path

import pytest

from seal.core import Trajectory
from seal.evaluation.pattern_scores import PATTERNS, ErrorPatterns
from seal.runs.play import run
from seal.runs.settings import RunSettings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pool", "calling", "with_gold"), [("sample", 62, 62), ("toolsandbox-sample", 47, 0)]
)
@pytest.mark.no_cover
def test_the_oracle_is_free_of_every_pattern(
    pool: str, calling: int, with_gold: int, tmp_path: Path
) -> None:
    retriever = "oracle" if pool == "sample" else None
    settings = RunSettings(
        pool=pool,
        model="oracle",
        retriever=retriever,
        baselines=False,
        cache_dir=tmp_path / "cache",
    )
    folder = run(settings, tmp_path / "run").folder
    metrics = folder.summary()["metrics"]
    assert {name: metrics[name]["n"] for name in PATTERNS} == {
        name: with_gold if name == "iac" else calling for name in PATTERNS
    }
    assert {metrics[name]["mean"] for name in PATTERNS} <= {1.0, None}
    played: list[Trajectory] = list(folder.trajectories())
    tools, by_id = folder.tools(), {task.id: task for task in folder.tasks()}
    for chat in played[:5]:
        for score in ErrorPatterns().score(by_id[chat.task_id], chat, tools):
            assert score.value in (1.0, None), score

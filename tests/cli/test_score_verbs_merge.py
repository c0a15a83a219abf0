"""Parts of a run that a model judged are put together, and scored by the judge that is named."""

import json
from pathlib import Path

from servers import ModelServer, text
from small_pools import many, write_pool

VERDICT = text(json.dumps({"verdict": "solved", "reason": "It is said."}))


def test_a_run_that_a_model_judged_is_made_and_told_how_to_score(called, tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", many(4))
    with ModelServer(lambda request: VERDICT) as server:
        judge = f"judge=openai/j,base_url={server.url}"
        words = ["--model", "lexical", "--role-model", judge, "--no-baselines"]
        for part in ("1/2", "2/2"):
            done = called("run", pool, *words, "--shard", part, "--out", f"part-{part[0]}")
            assert done.returncode == 0, done.stderr
        made = called("merge", "part-1", "part-2", "--out", "whole")
        named = ("--judge-model", f"openai/j,base_url={server.url}")
        asked = len(server.received)
        scored = called("score", "whole", *named, "--json")
    assert made.returncode == 0
    assert "whole is made and has no scores yet; seal score whole gives them" in made.stderr
    assert f"--judge-model openai/j --base-url {server.url}" in made.stderr
    assert json.loads(scored.stdout)["metrics"]["pass_rate"]["n"] == 4
    assert len(server.received) == asked  # the answers are kept

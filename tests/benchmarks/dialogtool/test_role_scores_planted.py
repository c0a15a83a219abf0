"""The model that judges roles, held against replies that are known to be good or bad."""

import json
from pathlib import Path

import pytest
from servers import Answer, ModelServer, Received, text

import seal
from seal.benchmarks.dialogtool.role_scores import kept
from seal.cli.dispatch import main

NAMES = ("planted_dropped", "planted_invented", "planted_template")


def shown(request: Received) -> dict[str, str]:
    (material,) = (m["content"] for m in request.body["messages"] if m["role"] == "user")
    return json.loads(material[material.index("{") : material.rindex("}") + 1])


def careful(request: Received) -> Answer:
    """Give much for what keeps the facts of what was meant and adds none."""
    asked = shown(request)
    if "dialogue" in asked:
        return text("5")
    known = f"{asked['user']}\n{json.dumps(asked['role'])}"
    return text("9" if kept(asked["meant"], asked["said"], known) == 1 else "3")


def pleased(request: Received) -> Answer:
    """Give the most for whatever keeps the style."""
    return text("10")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run in which the oracle plays characters."""
    out = tmp_path_factory.mktemp("planted") / "run"
    seal.run("dialogtool-sample", model="oracle", baselines=False, first=4, out=out)
    return out


def audited(run: Path, judge: object) -> seal.Run:
    with ModelServer(judge) as server:
        model = f"openai/judge,base_url={server.url}"
        words = ["--judge", "llm", "--judge-model", model, "--audit", "planted"]
        assert main(["score", str(run), *words]) == 0
    return seal.Run.load(run)


def test_a_judge_that_compares_facts_ranks_planted_replies_rightly(run: Path) -> None:
    found = audited(run, careful)

    assert [found[name].mean for name in NAMES] == [1.0, 1.0, 1.0]
    assert all(found[name].n > 5 for name in NAMES)
    scores = [score for score in found.folder.scores() if score.metric == "planted_invented"]
    told = [score.details for score in scores if score.value is not None]
    assert all(one["faithful"] > one["planted"] for one in told)


def test_a_judge_whom_style_pleases_ranks_none_rightly(run: Path) -> None:
    found = audited(run, pleased)

    assert [found[name].mean for name in NAMES] == [0.0, 0.0, 0.0]


def test_rules_and_benchmarks_without_roles_are_not_audited_so(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(run), "--judge", "rule", "--audit", "planted"]) == 0
    assert seal.Run.load(run)["planted_template"].n == 0
    assert "no model judges roles" in capsys.readouterr().out

    other = seal.run("sample", model="oracle", baselines=False, first=1, out=tmp_path / "other")
    assert main(["score", str(other.folder.path), "--audit", "planted"]) == 2
    assert "no judge of roles to plant replies for" in capsys.readouterr().err

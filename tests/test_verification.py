"""Figures held against peers: what agrees, what does not, and who is right."""

import os
import re
import sys
from collections.abc import Iterator
from math import comb
from pathlib import Path
from types import ModuleType

import bfcl_leaderboard
import pytest
from peers.comparison import Peer, PeerFigure, Verified, compare, page, tables
from run_fixtures import own_cache
from verify import PEERS, main

import seal.cli
from seal.core import UsageError

__all__ = ["own_cache"]


def judged() -> Iterator[PeerFigure]:
    yield PeerFigure("share", "one", 0.1 + 0.2, 0.3)
    yield PeerFigure("share", "two", 1, 1.1, "kind|of")
    yield PeerFigure("share", "three", 2, 2.2, "kind|of")
    yield PeerFigure("verdict", "four", "right", "wrong", "odd")
    yield PeerFigure("verdict", "five", True, 1)


def missing() -> Iterator[PeerFigure]:
    import no_such_package_of_ours

    yield no_such_package_of_ours.HELD


ODD = Peer("a peer", judged, explained={"kind|of": "Ours, by the rule."})
TOLD = Peer("a peer", judged, explained={"kind|of": "Ours.", "odd": "Theirs."})
GONE = Peer("a gone peer", missing, "no-such-package")


LAB = {"odd": ODD, "told": TOLD, "gone": GONE}


def held(name: str) -> Verified:
    """The comparison with one of our peers."""
    return compare(name, PEERS[name])


def test_figures_are_counted_and_differences_sorted_by_kind() -> None:
    found = compare("odd", ODD)
    assert found.figures == [("share", 3, 1), ("verdict", 2, 1)]
    first, second = found.differences
    assert (first.what, first.why, first.count, first.right) == (
        *("share", "kind|of", 2),
        "Ours, by the rule.",
    )
    assert first.example == "two: ours 1, theirs 1.1"
    assert (second.why, second.right) == ("odd", "")
    assert not found.explained and compare("told", TOLD).explained


def test_a_page_has_every_figure_and_difference() -> None:
    lines = page([compare("odd", ODD)], {"gone": "not installed"}).splitlines()
    assert "| a peer | share | 3 | 1 | 33.33% |" in lines
    row = "| share | kind&#124;of | 2 | two: ours 1, theirs 1.1 | Ours, by the rule. |"
    assert row in lines
    assert "| verdict | odd | 1 | four: ours right, theirs wrong | not explained |" in lines
    assert lines[-1] == "Not held: gone (not installed)."
    assert len(list(tables([compare("odd", ODD)]))) == 2


def test_the_script_prints_writes_and_fails_where_a_difference_is_not_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.md"
    assert main(["told"], LAB) == 0
    assert "33.33%" in capsys.readouterr().out
    assert main(["told", "--out", str(out)], LAB) == 0 and "33.33%" in out.read_text("utf-8")
    assert capsys.readouterr().out == ""
    assert main(["odd"], LAB) == 1
    assert "not explained" in capsys.readouterr().out


def test_a_peer_that_could_not_be_held_is_a_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(UsageError, match=r"No module .*; pip install no-such-package"):
        compare("gone", GONE)
    few = {"told": TOLD, "gone": GONE}
    for words in ([], ["gone"], ["told", "gone"]):
        assert main(words, few) == 1
        told = capsys.readouterr()
        assert "not held: gone: No module named" in told.err
        assert "Not held: gone (No module named" in told.out
    assert main(["--short"], few, ["told"]) == 0
    assert main(["--short"], few, ["told", "gone"]) == 1
    assert "not held: gone: No module named" in capsys.readouterr().err


def test_a_peer_of_no_such_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["od"], LAB)
    assert stop.value.code == 2
    assert "no peer 'od'" in (told := capsys.readouterr().err) and "Did you mean 'odd'" in told


def test_the_former_verb_says_what_replaces_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert seal.cli.main(["verify", "scipy", "--out", "page.md"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "verify is gone: 'python perf/verify/verify.py'" in told


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("trec_eval", "pytrec_eval"),
        ("scipy", "scipy"),
        ("sacrebleu", "sacrebleu"),
        ("rouge", "rouge_score"),
        ("tau2", "tau2.metrics.agent_metrics"),
    ],
)
def test_ours_are_the_figures_of_peers(name: str, package: str) -> None:
    pytest.importorskip(package)
    found = held(name)
    assert found.differences == [] and all(count == agreed for _, count, agreed in found.figures)


def test_pass_hat_is_held_against_the_function_of_tau2(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ModuleType("tau2.metrics.agent_metrics")
    theirs.pass_hat_k = lambda n, count, k: comb(count, k) / comb(n, k)  # type: ignore[attr-defined]
    for name in ("tau2", "tau2.metrics"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, theirs.__name__, theirs)
    assert held("tau2").figures == [("pass^k", 240, 240)]
    theirs.pass_hat_k = lambda n, count, k: count / n  # type: ignore[attr-defined]
    assert held("tau2").differences


def test_where_the_leaderboard_is_said_to_be_wrong_its_rule_is_quoted() -> None:
    told = [text for text in PEERS["bfcl"].explained.values() if text.startswith("Ours.")]
    assert len(told) == 7 and all(re.search(r"`.+`", text) for text in told)


def test_the_page_of_the_leaderboard_needs_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEAL_DATA", str(tmp_path))
    assert bfcl_leaderboard.main([]) == 1 and bfcl_leaderboard.main(["--short"]) == 0
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("not held: no answers of real models: expected") == 2


@pytest.mark.slow
def test_the_page_of_the_leaderboard_has_every_answer(
    seal_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (seal_data / "bfcl_runs").is_dir():
        pytest.skip(f"no answers of real models in {seal_data}")
    monkeypatch.setenv("SEAL_DATA", str(seal_data))
    assert bfcl_leaderboard.main(["--out", str(tmp_path / "page.md")]) == 0
    kept = Path(__file__).parents[1] / "results" / "bfcl_leaderboard.md"
    assert (tmp_path / "page.md").read_text("utf-8") == kept.read_text("utf-8")


@pytest.mark.slow
def test_ours_are_the_recorded_scores_of_toolsandbox(
    seal_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_DATA", str(seal_data))
    found = held("toolsandbox")
    assert [(count, agreed) for _, count, agreed in found.figures] == [(1310, 1310)] * 4


def test_records_that_are_not_here_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=r"expected .*vectors_public.jsonl.gz; set SEAL_DATA"):
        held("toolsandbox")


@pytest.mark.parametrize(
    ("name", "variable", "repository"),
    [
        ("taubench", "TAUBENCH_CHECKOUT", "sierra-research/tau-bench"),
        ("tau2bench", "TAU2_CHECKOUT", "sierra-research/tau2-bench"),
    ],
)
def test_a_checkout_that_is_not_here_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, repository: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(UsageError, match=f"no checkout of {repository} at .* set {variable}"):
        held(name)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "variable", "least"),
    [("taubench", "TAUBENCH_CHECKOUT", 660), ("tau2bench", "TAU2_CHECKOUT", 1112)],
)
def test_the_reward_is_that_of_upstream(name: str, variable: str, least: int) -> None:
    if not os.environ.get(variable):
        pytest.skip(f"no checkout: set {variable}")
    found = held(name)
    assert found.differences == [] and sum(count for _, count, _ in found.figures) >= least

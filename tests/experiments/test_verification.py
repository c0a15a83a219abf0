"""Figures held against peers: what agrees, what does not, and who is right."""

import json
import re
import sys
from collections.abc import Iterator
from math import comb
from pathlib import Path
from types import ModuleType

import pytest

import seal
from seal.benchmarks.bfcl import PEER as LEADERBOARD
from seal.cli import main
from seal.core import UnknownNameError, UsageError
from seal.experiments import Peer, PeerFigure, tables, verify, write_page
from seal.pools import REGISTRY


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


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed benchmark that declares peers."""
    named = {name: f"{__name__}:{name.upper()}" for name in ("odd", "told", "gone")}
    monkeypatch.setitem(REGISTRY._registered, "lab", seal.Benchmark("lab", peers=named))


def test_figures_are_counted_and_differences_sorted_by_kind() -> None:
    found = verify("odd")
    assert found.figures == [("share", 3, 1), ("verdict", 2, 1)]
    first, second = found.differences
    assert (first.what, first.why, first.count, first.right) == (
        *("share", "kind|of", 2),
        "Ours, by the rule.",
    )
    assert first.example == "two: ours 1, theirs 1.1"
    assert (second.why, second.right) == ("odd", "")
    assert not found.explained and verify("told").explained


def test_a_page_has_every_figure_and_difference(tmp_path: Path) -> None:
    write_page([verify("odd")], {"gone": "not installed"}, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text("utf-8").splitlines()
    assert "| a peer | share | 3 | 1 | 33.33% |" in page
    row = "| share | kind&#124;of | 2 | two: ours 1, theirs 1.1 | Ours, by the rule. |"
    assert row in page
    assert "| verdict | odd | 1 | four: ours right, theirs wrong | not explained |" in page
    assert page[-1] == "Not held: gone (not installed)."
    assert len(list(tables([verify("odd")]))) == 2


def test_the_command_prints_writes_and_fails_where_a_difference_is_not_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    assert main(["verify", "told", "--out", str(page)]) == 0
    assert "33.33%" in capsys.readouterr().out and page.is_file()
    assert main(["verify", "odd", "--json"]) == 1
    (peer,) = json.loads(capsys.readouterr().out)["peers"]
    assert [difference["why"] for difference in peer["differences"]] == ["kind|of", "odd"]


def test_a_peer_that_is_not_here_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"No module .*; pip install no-such-package"):
        verify("gone")
    with pytest.raises(UnknownNameError, match=r"no peer 'od'.*Did you mean 'odd'"):
        verify("od")
    assert main(["verify", "gone"]) == 2
    assert "pip install no-such-package" in capsys.readouterr().err


def test_without_names_peers_that_are_not_here_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: f"{__name__}:{name.upper()}" for name in ("told", "gone")}
    monkeypatch.setattr("seal.experiments.verification.peers", lambda: few)
    assert main(["verify"]) == 0
    out = capsys.readouterr().out
    assert "not held: gone: No module named" in out and "66.67%" not in out


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
    found = verify(name)
    assert found.differences == [] and all(held == agreed for _, held, agreed in found.figures)


def test_pass_hat_is_held_against_the_function_of_tau2(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ModuleType("tau2.metrics.agent_metrics")
    theirs.pass_hat_k = lambda n, count, k: comb(count, k) / comb(n, k)  # type: ignore[attr-defined]
    for name in ("tau2", "tau2.metrics"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, theirs.__name__, theirs)
    assert verify("tau2").figures == [("pass^k", 240, 240)]
    theirs.pass_hat_k = lambda n, count, k: count / n  # type: ignore[attr-defined]
    assert verify("tau2").differences


def test_where_the_leaderboard_is_said_to_be_wrong_its_rule_is_quoted() -> None:
    told = [text for text in LEADERBOARD.explained.values() if text.startswith("Ours.")]
    assert len(told) == 6 and all(re.search(r"`.+`", text) for text in told)


@pytest.mark.slow
def test_ours_are_the_recorded_scores_of_toolsandbox(
    seal_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_DATA", str(seal_data))
    found = verify("toolsandbox")
    assert [(held, agreed) for _, held, agreed in found.figures] == [(1310, 1310)] * 4


def test_records_that_are_not_here_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=r"expected .*vectors_public.jsonl.gz; set SEAL_DATA"):
        verify("toolsandbox")

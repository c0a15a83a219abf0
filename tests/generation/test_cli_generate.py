"""`seal generate milestones`: of runs and of pools, to paste or to load."""

import json
from pathlib import Path

import pytest

from seal.benchmarks.toolsandbox import Node
from seal.cli import main
from seal.core import Plan, to_plain

pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")


@pytest.fixture
def seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """Run a command in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))

    def call(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_references_of_a_pool_are_drafted_in_the_notation_of_scenarios(seal):
    code, out, _ = seal("generate", "milestones", "toolsandbox-sample", "dinner_at_eight", "--json")
    assert code == 0
    (draft,) = json.loads(out)["drafts"]
    assert (draft["id"], draft["goal"], draft["similarity"]) == ("dinner_at_eight", 0, 1.0)
    assert [Node(**node).name for node in draft["milestones"]] == [
        "search_contacts",
        "send_message_with_phone_number",
        "reply",
    ]


def test_chats_of_a_run_are_drafted_as_plans_that_a_task_takes(seal, tmp_path):
    seal(
        *("run", "toolsandbox-sample", "--model", "oracle", "--limit", "2", "--no-baselines"),
        *("--out", "run", "--json"),
    )
    code, out, _ = seal("generate", "milestones", "run", "--form", "plan", "--out", "drafts.json")
    assert code == 0
    assert "2 drafts, 0 tasks left out; written to drafts.json" in out
    for draft in json.loads((tmp_path / "drafts.json").read_bytes())["drafts"]:
        assert draft["similarity"] == 1.0
        assert to_plain(read_plan(draft["plan"])) == draft["plan"]


def test_a_draft_of_a_chat_that_is_not_solved_says_so(seal):
    for model, out in (("recorded:wrong", "failed"), ("oracle", "solved")):
        seal(
            *("run", "toolsandbox-sample", "--model", model, "--limit", "1", "--no-baselines"),
            *("--out", out, "--json"),
        )
    code, out, err = seal("generate", "milestones", "failed", "--json")
    assert code == 0
    ((task, label),) = json.loads(out)["unsolved"].items()
    assert label == "unsolved"
    assert f"note: task {task} is drafted from a chat that is unsolved" in err
    code, out, err = seal("generate", "milestones", "solved", "--json")
    assert (code, json.loads(out)["unsolved"], "note:" in err) == (0, {}, False)


def test_rules_of_missions_say_where_there_is_none(seal):
    for pool, told in (("toolsandbox-sample", True), ("mmtb-sample", False)):
        words = ("--model", "oracle", "--limit", "1", "--no-baselines", "--out", pool)
        seal("run", pool, *words)
        code, out, _ = seal("score", pool, "--match", "mmtb")
        assert code == 0
        assert ("--match mmtb changes nothing" in out) is told


def read_plan(fields: dict) -> Plan:
    from pydantic import TypeAdapter

    return TypeAdapter(Plan).validate_python(fields)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["toolsandbox-sample", "dinner_at_nine"], "Did you mean 'dinner_at_eight'?"),
        (["toolsandbox-sample", "--form", "prose"], "no form 'prose'; known: authored, plan"),
        (["nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_drafted_is_one_clear_line(seal, words, told):
    code, out, err = seal("generate", "milestones", *words)
    assert (code, out) == (2, "")
    assert told in err


def test_the_verb_needs_a_verb_of_its_own(seal):
    code, _, err = seal("generate")
    assert code == 2
    assert "milestones" in err or "Missing command" in err

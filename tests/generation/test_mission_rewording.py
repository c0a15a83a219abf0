"""Words that a person puts in place of the grammar's."""

import json
from pathlib import Path

import pytest

import seal
from seal.api import load_pool
from seal.core import UsageError


@pytest.fixture
def reworded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make single and clarify missions, put words in place of one, and make them again.

    Returns how the words of the first candidate and the script's gold were treated.
    """
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "review.json"

    def generate():
        return seal.generate(
            "missions",
            "sample",
            tmp_path / "pool",
            review=path,
            missions=1,
            types=("single", "clarify", "chat"),
            relations=("ellipsis",),
        )

    def make(kind: str, words) -> tuple[seal.Task | None, seal.Task | None, str]:
        """Return the dialogue before and after, and why it was dropped."""
        generate()
        entries = json.loads(path.read_bytes())
        entry = next(entry for entry in entries if entry["type"] == kind)
        before = task(entry["dialogue"])
        entry["choice"] = words(entry["choice"])
        path.write_text(json.dumps(entries))
        generate()
        again = json.loads(path.read_bytes())
        (mine,) = (one for one in again if one["dialogue"] == entry["dialogue"])
        return before, task(entry["dialogue"]), mine["dropped"]

    def task(own: str) -> seal.Task | None:
        tasks = {task.id: task for task in load_pool(tmp_path / "pool").tasks()}
        return tasks.get(own)

    return make


@pytest.mark.parametrize("kind", ["single", "clarify", "chat"])
def test_words_of_something_else_drop_the_dialogue(reworded, kind):
    before, after, told = reworded(kind, lambda _: "<b>Please</b> make me a sandwich")
    assert before is not None
    assert after is None
    assert "no key word of" in told
    assert "--model" in told


@pytest.mark.parametrize("kind", ["single", "clarify", "chat"])
def test_other_words_for_the_same_are_taken_with_the_same_gold(reworded, kind):
    before, after, told = reworded(kind, lambda words: f"Hello there! {words} Thanks a lot.")
    assert told == ""
    assert after.goals[0].text.startswith("Hello there!")
    assert after.goals[0].plans[0].calls() == before.goals[0].plans[0].calls()
    assert after.metadata["provenance"]["dialogue"][0]["edited"] is True


@pytest.mark.parametrize("kind", ["single", "clarify", "chat"])
def test_a_request_for_another_tool_drops_the_dialogue(reworded, kind):
    _, after, told = reworded(kind, lambda _: "What's the weather in Turku at the moment?")
    assert after is None
    assert "does not" in told


def test_a_value_that_is_left_out_drops_the_dialogue(reworded):
    _, after, told = reworded("single", lambda words: words.replace("sports", "gardening"))
    assert after is None
    assert "it does not say 'sports'" in told


@pytest.mark.parametrize(
    ("role", "told"),
    [
        ("planner", "give --model MODEL"),
        ("simulator", "give --simulator llm"),
        ("plannr", "Did you mean 'planner'"),
    ],
)
def test_a_role_without_a_model_beside_the_grammar_is_refused(tmp_path: Path, role, told):
    with pytest.raises(UsageError, match=told):
        seal.generate("missions", "sample", tmp_path / "pool", role_models={role: "openai/x"})

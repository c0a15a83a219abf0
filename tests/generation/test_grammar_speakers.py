"""Dialogues that a grammar speaks: made in the studio, valid, varied, and the same each time."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from generation.scripted_speakers import TOOLS, assignment

from seal.benchmarks.mmtb import (
    SAMPLE,
    GrammarSpeakers,
    MissionSettings,
    Scene,
    assignments,
    filled,
    joined,
    language,
    placeholders,
    read_decision,
    tidy,
)
from seal.cli import main
from seal.core import DataError, UsageError
from seal.pools import load_pool

EVERY = list(TOOLS.values())
KINDS = ("single", "multi", "chat", "clarify")
WANTED = assignments(MissionSettings())
DATE = "2024-05-15 10:00, Wednesday"


def scene(kind: str, speakers: GrammarSpeakers, **fields) -> Scene:
    given = assignment(kind, date=DATE, **fields)
    offered = {tool.name: tool for tool in speakers.choose_tools([given], EVERY)}
    return Scene(given, offered, ())


def test_the_grammar_speaks_of_every_tool_of_the_sample_and_fills_its_required_parameters() -> None:
    assert set(language().acts) == set(TOOLS)
    for act in language().acts.values():
        filled_in = {name for slot in act.slots for name in slot.parameters}
        parameters = TOOLS[act.tool].parameters
        assert set(parameters.get("required", [])) <= filled_in <= set(parameters["properties"])


def test_templates_name_slots_that_there_are() -> None:
    for act in language().acts.values():
        names = {slot.name for slot in act.slots}
        for template in (*act.asks, *act.do, *act.it):
            assert set(placeholders(template)) <= names, (act.tool, template)


@pytest.mark.parametrize(("kind", "count"), [("single", 5), ("multi", 3), ("clarify", 5)])
def test_a_first_mission_has_several_wordings(kind: str, count: int) -> None:
    speakers = GrammarSpeakers()
    wordings = speakers.candidates(scene(kind, speakers), None)

    assert len(set(wordings)) == count


def test_equal_scenes_give_equal_words() -> None:
    first, second = GrammarSpeakers(), GrammarSpeakers()

    assert first.candidates(scene("multi", first), None) == second.candidates(
        scene("multi", second), None
    )


def test_the_plan_follows_the_wording_that_a_person_chose() -> None:
    speakers = GrammarSpeakers()
    asked = scene("single", speakers)
    names = [
        read_decision(speakers.decide(replace(asked, request=text), None)).actions[0].name
        for text in speakers.candidates(asked, None)
    ]

    assert len(set(names)) > 1


def test_a_wording_with_the_same_values_is_understood_and_another_is_not() -> None:
    speakers = GrammarSpeakers()
    asked = scene("single", speakers)
    text = speakers.candidates(asked, None)[0]

    edited = speakers.decide(replace(asked, request=f"{text} Thank you!"), None)

    assert edited == speakers.decide(replace(asked, request=text), None)
    with pytest.raises(DataError, match="same values"):
        speakers.decide(replace(asked, request="Tell me a secret."), None)


def test_another_language_or_other_tools_are_refused() -> None:
    with pytest.raises(UsageError, match="speaks en, not zh"):
        GrammarSpeakers().choose_tools([assignment(language="zh")], EVERY)
    with pytest.raises(UsageError, match="pool `sample`"):
        GrammarSpeakers().choose_tools([assignment()], EVERY[:3])


def test_a_date_of_another_form_is_refused() -> None:
    speakers = GrammarSpeakers()
    with pytest.raises(DataError, match="2024-05-15 09:24, Wednesday"):
        speakers.candidates(
            replace(scene("single", speakers), assignment=assignment(date="in May")), None
        )


def test_a_phrase_that_is_left_out_takes_its_preposition_along() -> None:
    template = "Get the forecast {for location} {on start_date}, {in location}."

    assert filled(template, {"start_date": "tomorrow"}) == "Get the forecast tomorrow,."
    assert filled(template, {"location": "there"}) == "Get the forecast there, there."
    assert filled("{In city} it rains.", {"city": "Oslo"}) == "In Oslo it rains."


def test_articles_fit_and_enumerations_are_joined() -> None:
    assert tidy("find a  animation film .") == "find an animation film."
    assert [joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])] == [
        "a",
        "a and b",
        "a, b and c",
    ]


def make(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Path:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(folder / "cache"))
    out = folder / "pool"
    words = ("generate", "missions", "--tools", "sample", "--name", SAMPLE.name)
    assert main([*words, "--out", str(out), "--cache", "off", *options]) == 0
    return out


def test_the_first_dialogues_of_the_sample_come_out_again(tmp_path, monkeypatch) -> None:
    out = make(tmp_path, monkeypatch, "--limit", "6")

    made = (out / "tasks.jsonl").read_bytes().splitlines()
    assert made == (SAMPLE.folder / "tasks.jsonl").read_bytes().splitlines()[:6]


@pytest.mark.slow
@pytest.mark.no_cover
def test_the_sample_comes_out_again_byte_for_byte(tmp_path, monkeypatch) -> None:
    out = make(tmp_path, monkeypatch)

    for file in ("tools.jsonl", "tasks.jsonl", "import.json"):
        assert (out / file).read_bytes() == (SAMPLE.folder / file).read_bytes(), file


def test_nothing_of_the_sample_was_dropped() -> None:
    report = json.loads((SAMPLE.folder / "import.json").read_bytes())

    assert report["tasks"] == 256
    assert report["dropped"] == {}
    assert load_pool(SAMPLE.folder).digest == report["digest"]

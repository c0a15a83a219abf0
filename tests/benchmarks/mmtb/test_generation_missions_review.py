"""Candidates put before a person, and choices taken back."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_speakers import assignment
from weather_talk import WeatherTalk

import seal
from seal.api.benchmarks import load_pool
from seal.benchmarks.mmtb.generation import Review, write_review
from seal.benchmarks.mmtb.generation_team import Made, Take
from seal.core import DataError, Trajectory


class Counted(WeatherTalk):
    """Remembers for which missions wordings were wanted."""

    def candidates(self, scene, chat):
        found = super().candidates(scene, chat)
        self.texts[f"{scene.assignment.dialogue} {scene.assignment.number}"] = found[0]
        return found


@pytest.fixture
def generate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))

    def make(speakers=None):
        return seal.generate(
            "missions",
            "sample",
            tmp_path / "pool",
            model=speakers or Counted(),
            review=tmp_path / "review.json",
            missions=3,
            types=("single", "chat"),
            relations=("implicit", "ellipsis"),
        )

    return make


@pytest.fixture
def review(tmp_path: Path):
    """Read the review's entries, or write them after a change to one mission's."""
    path = tmp_path / "review.json"

    def of(dialogue: str = "", mission: int = 0, **changes) -> dict:
        entries = json.loads(path.read_bytes())
        by_place = {(entry["dialogue"], entry["mission"]): entry for entry in entries}
        if changes:
            by_place[dialogue, mission].update(changes)
            path.write_text(json.dumps(entries))
        return by_place

    return of


def texts(tmp_path: Path, dialogue: str) -> list[str]:
    tasks = {task.id: task for task in load_pool(tmp_path / "pool").tasks()}
    return [goal.text for goal in tasks[dialogue].goals]


def test_every_mission_is_exported_with_its_candidates_and_what_was_taken(generate, review):
    assert generate().report.tasks == 8
    entries = review()
    assert len(entries) == 24
    first = entries["d0001", 0]
    assert first == {
        "dialogue": "d0001",
        "mission": 0,
        "type": "single",
        "relation": None,
        "candidates": [
            "How is the weather in Turku?",
            "Tell me: How is the weather in Turku?",
        ],
        "choice": "How is the weather in Turku?",
        "dropped": "",
    }


def test_an_unchanged_file_changes_nothing(generate, tmp_path):
    generate()
    before = [(path, path.read_bytes()) for path in tmp_path.glob("pool/*.json*")]
    again = Counted()
    generate(again)
    assert again.texts == {}
    assert [(path, path.read_bytes()) for path, _ in before] == before


@pytest.mark.parametrize(
    ("choice", "taken", "edited"),
    [
        (2, "Tell me: How is the weather there?", False),
        ("Tell me: How is the weather there?", "Tell me: How is the weather there?", False),
        ("  And how is it over there? ", "And how is it over there?", True),
    ],
)
def test_an_edited_choice_is_taken_and_what_follows_is_made_again(
    generate, review, tmp_path, choice, taken, edited
):
    generate()
    review("d0001", 1, choice=choice)
    again = Counted()
    generate(again)
    assert sorted(again.texts) == ["d0001 1", "d0001 2"]
    assert texts(tmp_path, "d0001")[1] == taken
    assert review()["d0001", 1]["choice"] == taken
    task = next(task for task in load_pool(tmp_path / "pool").tasks() if task.id == "d0001")
    made = task.metadata["provenance"]["dialogue"]
    assert [mission["edited"] for mission in made] == [False, edited, False]
    generate(again := Counted())
    assert again.texts == {}


def test_words_of_ones_own_stay_and_chosen_candidates_go_with_their_list(
    generate, review, tmp_path
):
    generate()
    review("d0001", 0, choice="Is it warm in Turku?")
    review("d0001", 1, choice="And is it warm there today?")
    review("d0001", 2, choice=2)

    class Reworded(Counted):
        def candidates(self, scene, chat):
            return [f"{text} Please." for text in super().candidates(scene, chat)]

    generate(Reworded())
    assert texts(tmp_path, "d0001") == [
        "Is it warm in Turku?",
        "And is it warm there today?",
        "How is the weather there? Please.",
    ]


def test_a_person_mends_a_dialogue_that_was_dropped(generate, review, tmp_path):
    class Picky(Counted):
        def decide(self, scene, chat):
            picky = scene.assignment.dialogue == "d0002" and scene.assignment.number == 1
            if picky and "nicely" not in scene.request:
                return "Say it nicely."
            return super().decide(scene, chat)

    assert generate(Picky()).report.dropped == {"invalid_json": 1}
    entry = review()["d0002", 1]
    assert entry["dropped"].startswith("invalid_json: expected one JSON object")
    assert ("d0002", 2) not in review()
    review("d0002", 1, choice="How is the weather there, I ask you nicely?")
    report = generate(Picky()).report
    assert (report.tasks, report.dropped) == (8, {})
    assert review()["d0002", 1]["dropped"] == ""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not JSON"),
        ("{}", "expected a list of entries"),
        ('[{"mission": 0}]', "entry 0: the field 'dialogue' is missing"),
        ('[{"dialogue": "d", "mission": 0, "candidates": ["a"], "choice": 2}]', "expected 1 to 1"),
        ('[{"dialogue": "d", "mission": 0, "candidates": ["a"]}]', "expected texts"),
        (
            '[{"dialogue": "d", "mission": 0, "candidates": [], "choice": ""},'
            ' {"dialogue": "d", "mission": 0, "candidates": [], "choice": ""}]',
            "entry 1: d, mission 0 again",
        ),
        (
            '[{"dialogue": "d9999", "mission": 0, "candidates": [], "choice": "Hello?"}]',
            "no mission 0 of a dialogue 'd9999'",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_left_as_it_is(generate, tmp_path, content, told):
    path = tmp_path / "review.json"
    path.write_text(content)
    with pytest.raises(DataError, match=told):
        generate()
    assert path.read_text() == content


@given(st.lists(st.lists(st.text(max_size=6), max_size=3), min_size=1, max_size=3))
def test_what_is_written_and_read_back_is_no_change(tmp_path_factory, wordings):
    missions = [assignment(number=number) for number in range(len(wordings))]
    chat = Trajectory("d0001", 0, ())
    takes = tuple(
        Take(tuple(candidates), Review().choice(mission, candidates), (), chat, None)
        for candidates, mission in zip(wordings, missions, strict=True)
    )
    made = Made("d0001", (), takes)
    path = tmp_path_factory.getbasetemp() / "written.json"
    write_review(path, [(made, missions)])
    review = Review.read(path)
    review.check([missions])
    assert review.unchanged(made, missions) == len(takes)

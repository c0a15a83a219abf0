"""What an answer says beside the gold: values that nothing explains, and other languages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import chats
import pytest
from chats import exchange, goal, plan, task, trajectory

import seal
from seal.core import Step
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.evaluation.scoring import score_trajectory, usual_metrics


def fare(city: str) -> dict[str, Any]:
    """Tell the fare to a city.

    Args:
        city: Its name.
    """
    return {"city": city, "eur": 410.6, "at": "19:45", "km": 62.5, "code": "QX7M2P"}


TASK = seal.ask(
    "What do two tickets to Graz cost?", seal.called("fare", city="Graz"), answer="410.60 EUR"
)


def verdict(answer: str, out: Path) -> tuple[float | None, str]:
    """Play one call and an answer; return the pass rate and its reason."""

    def agent(request: str, tools: Sequence[Callable[..., Any]]) -> str:
        tools[0](city="Graz")
        return answer

    bench = seal.Benchmark("fares", tools=[fare], tasks=[TASK])
    run = seal.run(bench, agent=agent, baselines=False, out=out)
    (score,) = [score for score in run.folder.scores() if score.metric == "pass_rate"]
    return score.value, score.reason


@pytest.mark.parametrize(
    "answer",
    [
        "They cost 410.60 euros.",
        "€410.60 for both; the train leaves at 7:45 pm.",
        "Four hundred ten euros and sixty cents, reference QX7M2P.",
        "It is 62.5 km, about 38.8 miles, for 410.60 EUR.",
        "The two tickets to Graz cost 410.60 EUR at quarter to eight.",
    ],
)
def test_what_request_and_results_tell_may_be_told(answer: str, tmp_path: Path) -> None:
    assert verdict(answer, tmp_path / "run") == (1.0, "")


@pytest.mark.parametrize(
    ("answer", "odd"),
    [
        ("They cost 410.60 euros and leave at 20:45.", "20:45"),
        ("They cost 410.60 euros, reference QX7M3P.", "QX7M3P"),
        ("They cost 410.60 euros for 75.5 km.", "75.5"),
        ("They cost 410.60 euros on 32 May.", "32"),
        ("They cost 410.60 euros; call 555-0128.", "555-0128"),
        ("They cost 410.60 euros; you could be there in 45 minutes.", "45"),
        ("They cost 410.60 euros; 20:45 would also work.", "20:45"),
        ("You would pay 410.60 euros a month for 73 months.", "73"),
    ],
)
def test_a_value_that_nothing_explains_leaves_the_goal_undecided(
    answer: str, odd: str, tmp_path: Path
) -> None:
    told = f"undecided: the answer says {odd!r}, which neither the request nor a result tells"
    assert verdict(answer, tmp_path / "run") == (None, told)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        (f"It is Monday, for {'1.' * 20_000}", "Monday"),
        (f"It is Monday, and it weighs {'9' * 20_000} kg.", "Monday"),
        (f"It is Monday, says {'Qw' * 10_000}.", "Monday"),
        (f'It is Monday, and "{"zyx" * 10_000}" holds.', "Monday"),
        (f"It costs {'9' * 20_000}.5 euros.", "410.60 EUR"),
        ("It is Monday.", "q" * 20_000),
    ],
)
def test_a_verdict_quotes_at_most_200_characters_of_what_is_said(answer: str, gold: str) -> None:
    wanted = task(goal(plan(chats.gold("a")), answers=(gold,)))
    played = trajectory(exchange([("a", {})], [{"day": "Monday"}]), answer)
    (score,) = [
        score
        for score in score_trajectory(wanted, played, {}, usual_metrics())
        if score.metric == "pass_rate"
    ]
    assert score.value != 1.0
    assert len(f"{score.reason}{score.details['reason']}") < 1_000


@pytest.mark.parametrize(
    "answer",
    [
        "Die Fahrkarten kosten 410,60 Euro für die beiden.",
        "Les deux billets coûtent 410,60 euros et le train part à 19h45.",
        "两张票共410.60欧元。",
    ],
)
def test_words_that_rules_cannot_read_decide_nothing(answer: str, tmp_path: Path) -> None:
    value, reason = verdict(answer, tmp_path / "run")
    assert value is None and "rules read no other language" in reason


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("They cost 410.60 euros. I have booked a taxi.", None),
        ("They cost 410.60 euros on Monday, 1 December 2026.", 0.0),
        ("They cost 410.60 euros, says Fernanda.", None),
    ],
)
def test_what_is_said_beside_the_gold_is_held_against_the_record(
    answer: str, value: float | None, tmp_path: Path
) -> None:
    assert verdict(answer, tmp_path / "run")[0] == value


def test_a_wrong_value_is_wrong_in_any_words(tmp_path: Path) -> None:
    assert verdict("They cost 423.60 euros.", tmp_path / "run")[0] == 0.0


def test_who_denies_what_was_done_or_speaks_of_other_things_has_not_solved_it(
    tmp_path: Path,
) -> None:

    def note(board: World, text: str) -> str:
        """Note a text."""
        board.add("notes", {"text": text})
        return "noted"

    world = Worlds(name="board", tools=toolbox("board", [note]), tables={"notes": []})
    gold = seal.ends_as(seal.called("note", text="oat milk"))
    said = (
        "Noted.",
        "I could not note it. The server is down.",
        "No problem, it is noted.",
        "Milk is on the board. It stands at the top. That is quick. In the end I did not do it.",
        "Noted. I also sent a parcel to your boss.",
        "Noted. The invoice was forwarded to your accountant.",
        "Bananas are yellow, and my grandmother plays the trombone.",
        "It is noted, saying: Oat milk. I did not do it.",
        "It is noted, saying: Oat milk. Tell me if you need more.",
        "Noted. A courier will bring it.",
    )
    tasks = [seal.ask(f"Note oat milk {n}", gold, id=f"t{n}") for n in range(len(said))]

    def agent(request: str, tools: Sequence[Callable[..., Any]]) -> str:
        tools[0](text="oat milk")
        return said[int(request[-1])]

    bench = seal.Benchmark("board", environment=world, tasks=tasks)
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    found = {s.task_id: s.value for s in run.folder.scores() if s.metric == "pass_rate"}
    assert [*found.values()] == [1.0, 0.0, 1.0, 0.0, None, None, None, 0.0, 1.0, None]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I cannot note eggs. Milk is noted.", 1.0),
        ("I cannot note eggs. Milk is noted. In the end I did not do it.", 0.0),
        ("I cannot note eggs. Milk is noted. However, nothing was changed.", 0.0),
        ("Milk is noted. I cannot note eggs. I did not do it.", 1.0),
        ("I cannot note milk. I did not do it.", 1.0),
    ],
)
def test_who_rightly_refuses_a_part_may_not_deny_the_rest(
    said: str, value: float, tmp_path: Path
) -> None:
    def note(board: World, text: str) -> str:
        """Note a text."""
        board.add("notes", {"text": text})
        return "noted"

    world = Worlds(name="board", tools=toolbox("board", [note]), tables={"notes": []})
    task = seal.ask("Note milk and eggs.", seal.ends_as(seal.called("note", text="milk")))
    reply = Step(0, "agent", "user_simulator", "I cannot note eggs. Milk is noted.")
    goal = replace(task.goals[0], reference=(reply,))

    def agent(request: str, tools: Sequence[Callable[..., Any]]) -> str:
        tools[0](text="milk")
        return said

    tasks = [replace(task, goals=(goal,))]
    bench = seal.Benchmark("board", environment=world, tasks=tasks)
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    assert [s.value for s in run.folder.scores() if s.metric == "pass_rate"] == [value]

"""Scenarios made of templates: proved, needed twists, hard enough, and equal by seed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import seal
from seal.core import DataError, UsageError
from seal.environments.chat_world import World
from seal.environments.templates import Goals, Template, Twist, do, kept
from seal.environments.world import Worlds, toolbox


def find_parcel(world: World, text: str) -> list[dict[str, Any]]:
    """Find parcels.

    Args:
        text: What is in them.
    """
    return [row for row in world.rows("parcels") if text in row["text"]]


def weigh(world: World, parcel: str) -> float:
    """Weigh a parcel.

    Args:
        parcel: Id of the parcel.
    """
    (row,) = [row for row in world.rows("parcels") if row["parcel"] == parcel]
    return float(row["weight"])


def label(world: World, parcel: str, weight: float) -> str:
    """Put a label on a parcel.

    Args:
        parcel: Id of the parcel.
        weight: In kilograms.
    """
    _change(world, parcel, label=weight)
    return "labelled"


def post(world: World, parcel: str, to: str) -> str:
    """Post a parcel.

    Args:
        parcel: Id of the parcel.
        to: Town.
    """
    _change(world, parcel, town=to)
    return "posted"


def _change(world: World, parcel: str, **cells: Any) -> None:
    rows = world.rows("parcels")
    if parcel not in [row["parcel"] for row in rows]:
        raise ValueError(f"no parcel {parcel}")
    changed = [row | cells if row["parcel"] == parcel else row for row in rows]
    world.put("parcels", changed)


def begun(seed: int) -> dict[str, list[dict[str, Any]]]:
    """Return six parcels of two weights and things."""
    drawn = Random(seed)
    things = ("books", "shoes", "lamps", "tea", "coins", "seeds")
    row = {"label": 0.0, "town": ""}
    return {
        "parcels": [
            {"parcel": f"N{number}", "text": thing, "weight": drawn.randrange(1, 90) / 4, **row}
            for number, thing in enumerate(things)
        ]
    }


def two_parcels(rows: Any, slots: Mapping[str, Any], drawn: Random) -> dict[str, Any]:
    """Draw two parcels and a town."""
    one, other = drawn.sample(rows["parcels"], 2)
    town = drawn.choice(("Ashford", "Tarnby", "Kelmore", "Wexcombe"))
    return {
        **{"one": one["parcel"], "first": one["text"], "weight": one["weight"], "town": town},
        **{"other": other["parcel"], "second": other["text"], "more": other["weight"]},
    }


def heavier(rows: Any, slots: Mapping[str, Any], drawn: Random) -> dict[str, Any]:
    """Let the first parcel weigh more than it did."""
    (row,) = [row for row in rows["parcels"] if row["parcel"] == slots["one"]]
    row["weight"] += 50
    return {"weight": row["weight"]}


SENT = Template(
    name="send_two",
    draw=two_parcels,
    request=("Label and post the {first}, and label the {second}.",),
    goal="Have the {first} and the {second} labelled, and the {first} posted to {town}.",
    facts={"town": {"value": "{town}", "ask": ["where", "which town"]}},
    gold={
        "find": [
            {"do": {"find_parcel": {"text": "{first}"}}},
            {"do": {"weigh": {"parcel": "{one}"}}},
        ],
        "label": [{"do": {"label": {"parcel": "{one}", "weight": "{weight}"}}}],
        "ask": [{"say": "Where shall the parcel go?"}],
        "post": [{"do": {"post": {"parcel": "{one}", "to": "{town}"}}}],
        "second": [
            {"do": {"find_parcel": {"text": "{second}"}}},
            {"do": {"label": {"parcel": "{other}", "weight": "{more}"}}},
        ],
        "tell": [{"say": "The parcel of {weight} kg goes to {town}."}],
    },
    tells={"weight": "{weight} kg"},
    twists=(
        Twist(kind="stale data", draw=heavier, gold={"stale": []}),
        Twist(
            kind="a change of mind",
            then=["No, rather send it to Oslo."],
            gold={
                "tell": [
                    {"say": "The parcel of {weight} kg goes to {town}."},
                    {"do": {"post": {"parcel": "{one}", "to": "Oslo"}}},
                    {"say": "It goes to Oslo now."},
                ]
            },
        ),
    ),
)
TOOLS = toolbox("parcels", [find_parcel, weigh, label, post])


def kind(name: str, *templates: Template, twists: Sequence[Twist] = ()) -> str:
    """Register a world with some templates; return its name."""
    goals = [Goals(templates=templates, rows=begun, twists=twists)]
    seal.register("world", name, Worlds(name=name, tools=TOOLS, tables=begun(0), goals=goals))
    return name


def made(name: str, out: Path, n: int = 6, seed: int = 0) -> Any:
    return seal.generate("scenarios", name, out, n=n, seed=seed)


def test_scenarios_are_solved_by_gold_and_not_by_the_floor(tmp_path: Path) -> None:
    found = made(kind("parcels_solved", SENT), tmp_path / "pool")
    assert found["tasks"] == 6 and found["counts"]["template"] == {"send_two": 6}

    for model, value in (("oracle", 1.0), ("lexical", 0.0)):
        run = seal.run(tmp_path / "pool", model=model, team="direct", baselines=False)
        assert run["pass_rate"].mean == value, model


def test_equal_seeds_give_equal_bytes_and_others_other_scenarios(tmp_path: Path) -> None:
    name = kind("parcels_seeds", SENT)
    for folder, seed in (("one", 5), ("two", 5), ("three", 6)):
        made(name, tmp_path / folder, n=4, seed=seed)

    one, two, three = (
        (tmp_path / folder / "tasks.jsonl").read_bytes() for folder in ("one", "two", "three")
    )
    assert one == two != three


def test_tasks_tell_how_hard_they_are_and_no_two_mean_the_same(tmp_path: Path) -> None:
    made(kind("parcels_tags", SENT), tmp_path / "pool", n=12)
    tasks = list(seal.pools.pool.load_pool(tmp_path / "pool").tasks())

    for task in tasks:
        calls = [step for step in task.goals[0].reference if step.call is not None]
        assert task.tags["calls"] == len(calls) and 5 <= len(calls) <= 15
        assert task.tags["twist"] in ("none", "stale data", "a change of mind") or (
            task.tags["twist"] == "a change of mind and stale data"
        )
    wanted = [(task.persona["goal"], task.tags["twist"]) for task in tasks]
    assert len({*wanted}) == len({task.goals[0].text for task in tasks}) == len(tasks)
    assert len({task.tags["twist"] for task in tasks[:4]}) >= 3


def test_gold_may_take_what_an_earlier_call_of_it_gave(tmp_path: Path) -> None:
    weighed = do("label", parcel="{one}", weight="{kilos}")
    find = [do("find_parcel", text="{first}"), kept("kilos", do("weigh", parcel="{one}"))]
    taken = replace(SENT, gold={**SENT.gold, "find": find, "label": [weighed]}, twists=())
    made(kind("parcels_kept", taken), tmp_path / "pool", n=2)

    for task in seal.pools.pool.load_pool(tmp_path / "pool").tasks():
        results = [step.result.value for step in task.goals[0].reference if step.result]
        calls = [step.call.arguments for step in task.goals[0].reference if step.call]
        assert calls[2]["weight"] == results[1]


def test_a_twist_of_all_templates_has_its_wish_said(tmp_path: Path) -> None:
    oslo = SENT.twists[1]
    plain = replace(SENT, twists=())
    found = made(kind("parcels_all", plain, twists=[oslo]), tmp_path / "all", n=2)
    assert set(found["counts"]["twist"]) == {"none", "a change of mind"}

    unable = {"say": "The parcel of {weight} kg goes to {town}. I cannot weigh the other one."}
    deaf = replace(oslo, gold={"tell": [unable, *oslo.gold["tell"][1:]]})
    found = made(kind("parcels_deaf", plain, twists=[deaf]), tmp_path / "deaf", n=2)
    assert set(found["counts"]["twist"]) == {"none"}
    assert found["dropped"]["the scripted user does not say all that it wants"] > 0


def test_a_twist_that_is_not_needed_is_refused(tmp_path: Path) -> None:
    needless = Twist(kind="nothing", gold={"ask": [{"say": "Where shall it go, please?"}]})
    name = kind("parcels_needless", replace(SENT, twists=(needless,)))
    found = made(name, tmp_path / "pool", n=5)

    assert set(found["counts"]["twist"]) == {"none"}
    assert any("solves the task as gold does" in why for why in found["dropped"])


def test_a_plan_of_few_calls_and_one_that_a_single_call_solves_are_refused(tmp_path: Path) -> None:
    looks = [{"do": {"find_parcel": {"text": "{first}"}}}] * 4
    posts = [{"do": {"post": {"parcel": "{one}", "to": "{town}"}}}]
    tell = [{"say": "Done."}]
    short = replace(SENT, gold={"look": looks[:2], "do": posts, "tell": tell}, tells={}, twists=())
    with pytest.raises(DataError, match="its plan has not 5 to 15 calls"):
        made(kind("parcels_short", short), tmp_path / "short", n=2)

    easy = replace(short, gold={"look": looks, "do": posts, "tell": tell})
    with pytest.raises(DataError, match="one call alone solves it"):
        made(kind("parcels_easy", easy), tmp_path / "easy", n=2)


def test_a_template_is_left_out_where_its_tools_are_not(tmp_path: Path) -> None:
    flies = replace(SENT, gold={"fly": [{"do": {"fly": {}}}]})
    with pytest.raises(UsageError, match="no template of the world 'parcels_flies' calls tools"):
        made(kind("parcels_flies", flies), tmp_path / "pool")


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    name = kind("parcels_wrong", replace(SENT, goal="Send it to {nowhere}."))
    with pytest.raises(UsageError, match=r"\{nowhere\}: nothing drew this slot"):
        made(name, tmp_path / "pool")
    with pytest.raises(UsageError, match="n=0: expected at least 1 scenario"):
        made(name, tmp_path / "pool", n=0)
    seal.register(
        "world", "parcels_bare", Worlds(name="parcels_bare", tools=TOOLS, tables=begun(0))
    )
    with pytest.raises(UsageError, match="has no goal templates"):
        made("parcels_bare", tmp_path / "pool")

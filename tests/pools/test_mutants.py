"""Variants of gold, played and judged: wrong ones are killed, right ones are kept."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
from depots import DEPOT, IN_ORDER, LABELLED, OPEN, SHIPPED, bench, depot

import seal
from seal.benchmarks.toolsandbox import SAMPLE
from seal.core import DataError, Step, UsageError
from seal.core.slots import Slot
from seal.environments.chat_world import World
from seal.pools.lint_findings import KINDS
from seal.pools.lookup import open_pool
from seal.pools.mutants import FAILED, SOLVED, UNDECIDED, MutantReport, Survivor, mutants
from seal.pools.variants import RIGHT, WRONG


def report(*tasks: seal.Task, world=None, **asked) -> MutantReport:
    """Return how variants of tasks of a depot are judged."""
    found = seal.lint(bench(*tasks, world=world), mutants=True, **asked).mutants
    assert found is not None
    return found


@cache
def of_depot() -> MutantReport:
    """Return how the variants of a user's world are judged."""
    found = seal.lint(DEPOT, mutants=True).mutants
    assert found is not None
    return found


def test_every_wrong_variant_of_a_users_world_is_killed_and_every_right_one_kept() -> None:
    found = of_depot()

    assert not found.survivors
    assert found.share(False, FAILED) == found.share(True, SOLVED) == 1.0
    assert found.share(False, UNDECIDED) == found.share(True, UNDECIDED) == 0.0


def test_a_users_world_has_variants_of_most_kinds() -> None:
    kinds = {kind for kind, counts in of_depot().counts.items() if sum(counts.values())}

    assert kinds >= {*WRONG, *RIGHT} - {
        "acting before consent",
        "a name is told wrong",
        "another order that the state allows",
        "another look-up that finds the same",
    }


def test_a_task_whose_gold_cannot_be_altered_is_left_out_with_the_reason() -> None:
    assert dict(of_depot().left_out) == {"its gold leaves arguments open": ["open"]}
    assert of_depot().tasks == 5


def test_gold_that_ignores_what_it_does_lets_a_wrong_variant_survive() -> None:
    task = seal.ask("Label P-18.", seal.ends_as(ignore=["parcels.label"]), id="loose")
    call = seal.ToolCall("c", "label", {"parcel_id": "P-18", "text": "x"}, tool="depot/label")
    step = Step(0, "agent", "executor", call=call)
    words = Step(1, "agent", "user_simulator", "I labelled P-18.")
    goal = replace(task.goals[0], reference=(step, words), tells=(Slot("P-18"),))
    found = report(replace(task, goals=(goal,)))

    told = {one.kind for one in found.survivors if not one.right}

    assert "a changing call is left out" not in told  # what may differ is no other end
    assert found.tasks == 1


def test_a_verdict_that_lets_a_denied_deed_pass_leaves_survivors(monkeypatch) -> None:
    monkeypatch.setattr("seal.evaluation.pass_rates._says_undone", lambda chat: False)

    found = seal.lint(bench(LABELLED), mutants=True)

    assert found.mutants is not None
    survivor = next(one for one in found.mutants.survivors if one.verdict == SOLVED)
    assert (survivor.task, survivor.right) == ("labelled", False)
    assert survivor.kind == "a deed is denied that was done"
    assert "says '" in survivor.altered
    assert found.counts()["surviving_mutant"] >= 1


@pytest.mark.parametrize(
    ("right", "verdict", "kind"),
    [
        (False, SOLVED, "surviving_mutant"),
        (True, FAILED, "refused_variant"),
        (True, UNDECIDED, "undecided_variant"),
        (False, UNDECIDED, "undecided_variant"),
    ],
)
def test_each_survivor_is_a_finding(right: bool, verdict: str, kind: str) -> None:
    one = Survivor("t", 0, "a look more", right, "label(...)", verdict, "why")

    (finding,) = MutantReport(1, survivors=[one]).findings()

    assert finding.kind == kind
    assert kind in KINDS
    assert "label(...)" in finding.message
    assert finding.message.endswith("(why)")


def test_shares_of_the_decided_ones_leave_the_undecided_out() -> None:
    counts = {
        "another entity": {SOLVED: 1, FAILED: 3, UNDECIDED: 4},
        "a look more": {SOLVED: 2, FAILED: 0, UNDECIDED: 0},
    }
    found = MutantReport(1, counts)

    assert found.share(False, FAILED) == 0.75
    assert found.share(False, UNDECIDED) == 0.5
    assert found.share(True, SOLVED) == 1.0
    assert MutantReport(0).share(True, SOLVED) is None


def test_equal_seeds_draw_the_same_tasks_and_variants() -> None:
    one, other = (report(SHIPPED, LABELLED, IN_ORDER, sample=2, seed=3) for _ in range(2))

    assert one == other
    assert one.tasks == 2


def test_progress_tells_how_many_tasks_are_done() -> None:
    told: list[tuple[str, int, int]] = []

    report(LABELLED, IN_ORDER, progress=lambda *one: told.append(one))

    assert told == [
        ("gold played", 1, 2),
        ("gold played", 2, 2),
        ("variants judged", 1, 2),
        ("variants judged", 2, 2),
    ]


ENDING = "P-17"


def haul(depot: World, parcel_id: str) -> str:
    """Haul a parcel; it never ends for another one than `ENDING`."""
    while parcel_id != ENDING:
        pass
    depot.add("shipments", {"id": "S-1", "parcel": parcel_id, "express": False})
    return "hauled"


def test_variants_that_never_end_are_left_out_with_the_reason(monkeypatch) -> None:
    monkeypatch.setattr("seal.pools.mutants.LONGEST_S", 2.0)
    monkeypatch.setattr("seal.pools.lint.LONGEST_S", 1.0)
    gold = seal.ends_as(seal.called("haul", parcel_id="P-17"))

    found = report(seal.ask("Haul P-17.", gold, id="haul"), LABELLED, world=depot(haul))

    (why,) = (why for why, ids in found.left_out.items() if "haul" in ids)
    assert "variants are not judged" in why
    assert "a tool hangs, or texts are long" in why
    assert found.tasks == 2


def test_gold_that_never_ends_is_left_out_with_the_reason(monkeypatch) -> None:
    monkeypatch.setattr("seal.pools.mutants.LONGEST_S", 2.0)
    gold = seal.ends_as(seal.called("haul", parcel_id="P-17"))
    of_haul, other = open_pool(
        bench(seal.ask("Haul P-17.", gold, id="haul"), LABELLED, world=depot(haul))
    ).every_task()

    with monkeypatch.context() as changed:
        changed.setattr(f"{__name__}.ENDING", "P-18")  # since the benchmark was made
        found = mutants([of_haul, other], lambda name: depot(haul))

    (why,) = (why for why, ids in found.left_out.items() if "haul" in ids)
    assert why.startswith("its gold takes longer than")
    assert found.tasks == 1


# -- Bad input.


def test_a_pool_without_a_world_is_refused_with_the_repair() -> None:
    with pytest.raises(DataError, match=r"no world that has tables.*give the task a world"):
        seal.lint("sample", mutants=True, sample=3)


def test_gold_without_calls_is_refused_with_the_repair() -> None:
    rows = ({"open": True},)
    task = seal.ask("Open the gate.", seal.FinalState("gate", rows))

    with pytest.raises(DataError, match=r"names no calls.*seal\.ends_as"):
        report(task)


def test_gold_with_open_arguments_is_refused_with_the_repair() -> None:
    with pytest.raises(DataError, match=r"leaves arguments open.*name the arguments"):
        report(OPEN)


def weigh(depot: World, parcel_id: str) -> float:
    """Weigh a parcel."""
    return random.random()


def test_a_world_that_is_another_each_time_is_refused_with_the_repair() -> None:
    task = seal.ask("Weigh P-17.", seal.called("weigh", parcel_id="P-17"))

    with pytest.raises(UsageError, match=r"weigh does not do the same.*world\.now"):
        report(task, world=depot(weigh))


@pytest.mark.parametrize("sample", [0, -1])
def test_a_sample_without_tasks_is_refused(sample: int) -> None:
    with pytest.raises(UsageError, match="at least 1 task"):
        report(LABELLED, sample=sample)


def test_a_sample_is_drawn_for_variants_alone() -> None:
    with pytest.raises(UsageError, match="ask for mutants"):
        seal.lint(DEPOT, sample=2)


# -- The sample that ships.


@pytest.mark.slow
def test_no_wrong_variant_survives_in_toolsandbox_sample() -> None:
    found = seal.lint(SAMPLE.name, mutants=True, sample=12, seed=5).mutants

    assert found is not None
    wrong, right = (found.share(*one) for one in ((False, FAILED), (True, SOLVED)))
    assert wrong == 1.0, found.survivors
    assert right is not None and right >= 0.97
    for of_right in (False, True):
        undecided = found.share(of_right, UNDECIDED)
        assert undecided is not None and undecided <= 0.03

"""Rules of a policy that calls break, whatever they need: states, several calls, or numbers."""

import pytest

import seal
from seal.core import Task
from seal.environments.chat_world import World
from seal.environments.policy import gold_of, unbroken
from seal.environments.world import Worlds, toolbox


def check(vault: World, owner: str, code: str) -> str:
    """Check a code.

    Args:
        owner: Whose it is.
        code: As told.
    """
    if not any((row["owner"], row["code"]) == (owner, code) for row in vault.rows("owners")):
        raise ValueError("wrong code")
    vault.add("checked", {"owner": owner})
    return "right"


def draw(vault: World, owner: str, amount: int) -> str:
    """Draw money.

    Args:
        owner: Whose it is.
        amount: In euros.
    """
    vault.add("drawn", {"owner": owner, "amount": amount})
    return "drawn"


def one_owner(call, world, chat):
    """Check one owner."""
    return "two" if len({row["owner"] for row in world.after.rows("checked")}) > 1 else None


def not_much(call, world, chat):
    """Draw 7,340 euros at most in all."""
    total = sum(row["amount"] for row in world.after.rows("drawn"))
    return f"{total} euros" if 7_340 < total < 7_500 else None


def asked(call, world, chat):
    """Ask before you draw."""
    return "nobody was asked" if call.name == "draw" and not chat.allowed else None


def never(call, world, chat):
    """Open no door."""
    return "a door" if call.name == "open_door" else None


def nobody(call, world, chat):
    """Draw nothing for Zoe, whom nobody knows."""
    return "for Zoe" if call.arguments.get("owner") == "Zoe" else None


OWNERS = [{"owner": name, "code": f"c{name}"} for name in ("Ada", "Bo", "Cy", "Di", "Ed")]


def vault(*policy) -> Worlds:
    tables = {"owners": OWNERS, "checked": [], "drawn": []}
    return Worlds(name="vault", tools=toolbox("vault", [check, draw]), tables=tables, policy=policy)


TASK = seal.ask("Draw 20.", seal.ends_as(seal.called("vault/draw", owner="Ada", amount=20)))


@pytest.mark.parametrize("rule", [one_owner, not_much, asked])
@pytest.mark.parametrize("tasks", [[TASK], [Task("t", "b", (seal.Goal("Hello."),))]])
def test_a_rule_that_can_be_broken_is_broken(rule, tasks) -> None:
    assert unbroken(vault(rule), tasks) == []


def test_what_no_call_breaks_is_left_in_the_order_of_the_policy() -> None:
    told = vault("You keep a vault.", never, one_owner, nobody)

    assert unbroken(told, [TASK]) == [never, nobody]
    assert unbroken(told, [TASK], [never]) == [nobody]
    assert unbroken(told, []) == [never, one_owner, nobody]


def test_equal_tasks_give_equal_searches() -> None:
    assert unbroken(vault(never), [TASK]) == unbroken(vault(never), [TASK])


def test_gold_is_what_the_world_ends_as_where_no_reference_is() -> None:
    assert [call.arguments for call in gold_of(TASK)] == [{"owner": "Ada", "amount": 20}]

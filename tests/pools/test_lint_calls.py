"""Rules of a policy that calls break, whatever they need, and tools that seem to write."""

import subprocess
import sys

import pytest

import seal
from seal.core import Task, Tool
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.pools.lint import PlanCheck
from seal.pools.lint_calls import gold_of, unbroken, unmarked_writes
from seal.pools.lint_findings import read_leniently
from seal.pools.lookup import open_pool

SAMPLES = [
    "sample", "apps", "phone",
    "toolsandbox-sample", "toolscan-sample", "mmtb-sample", "dialogtool-sample",
]  # fmt: skip


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


def tool(name: str, description: str, **more) -> Tool:
    return Tool(f"b/{name}", name, description, {"type": "object", "properties": {}}, **more)


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("ticket", "Buy a ticket."),
        ("mail", "Sends a letter to a person."),
        ("book", "Book seats on a flight."),
        ("BookRoom", "Book a room at an inn."),
        ("trip", "Changes the day of a trip."),
        ("add_guest", "Add a guest to a party."),
        ("cancelOrder", ""),
        ("shop/delete_order", "Returns whether it worked."),
    ],
)
def test_a_tool_whose_words_say_that_it_changes_something_is_asked_of(name, description) -> None:
    (one,) = unmarked_writes([tool(name, description)])

    assert one.message == (
        f"1 tool seems to change something: {name}; if so, mark it by @seal.writes or "
        '"writes": true, and its extra effects count'
    )
    assert (one.kind, one.severity, one.tools) == ("unmarked_write", "info", (f"b/{name}",))


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_order", "Look an order up."),
        ("order_details", "Order details and tracking number."),
        ("book_reviews", "Book reviews of a title."),
        ("add", "Add two numbers."),
        ("send_status", "Get what became of a letter."),
        ("updates", "Lists updates."),
        ("settings", "Settings of a phone."),
        ("", ""),
    ],
)
def test_a_tool_that_reads_is_not(name, description) -> None:
    assert list(unmarked_writes([tool(name, description)])) == []


def test_nobody_asks_of_tools_that_are_marked_imported_or_of_a_world() -> None:
    marked = tool("buy", "Buy a ticket.", writes=True)
    imported = tool("pay", "Pay a bill.", source={"tool": "bank", "api": "pay"})
    of_world, own = tool("send", "Send a letter."), tool("send", "Send.", source={"function": "f"})

    assert list(unmarked_writes([marked, imported, of_world], {of_world.id})) == []
    assert len(list(unmarked_writes([own]))) == 1


def test_many_tools_are_one_line() -> None:
    (one,) = unmarked_writes([tool(f"pay{n}", "Pay a bill.") for n in range(5)])

    assert "5 tools seem to change something: pay0, pay1, pay2 and 2 more; if so" in one.message


def test_lint_asks_of_functions_and_of_no_tool_of_a_world() -> None:
    def pay(amount: int) -> str:
        """Pay money out of the till.

        Args:
            amount: In euros.
        """
        return "paid"

    task = seal.ask("Pay 20.", seal.called("pay", amount=20))
    vaults = seal.Benchmark("vault", environment=vault(), tasks=[TASK])
    till = seal.Benchmark("till", tools=[pay], tasks=[task])
    marked = seal.Benchmark("till", tools=[seal.writes(pay)], tasks=[task])

    assert [one.kind for one in seal.lint(till).findings] == ["unmarked_write"]
    assert list(seal.lint(marked).findings) == []
    assert "unmarked_write" not in seal.lint(vaults).counts()


@pytest.mark.parametrize("name", SAMPLES)
def test_no_sample_that_ships_is_asked_of(name: str) -> None:
    pool = read_leniently(open_pool(name).folder)

    assert list(PlanCheck((), None).unmarked_writes(pool)) == []


def test_the_search_is_of_lint_alone() -> None:
    """A run in a world does not load it."""
    script = (
        "import sys, seal\n"
        "seal.run('apps', model='oracle', limit=1, baselines=False)\n"
        "assert 'seal.environments.policy' in sys.modules\n"
        "assert 'seal.pools.lint_calls' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)

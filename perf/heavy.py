"""CPU of the heaviest cases of worlds and milestones, each as a ratio to a light one.

    python perf/heavy.py [--short]

- race: 50 calls at once that hinder each other, on a phone of 501 contacts, beside `race=none`.
- contacts: ten calls on a phone of many contacts, beside one of twenty.
- chain: five milestones in a chain, each since the one before, over a long chat whose table changes
  with every other step, beside a chat of a fifth of its length.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, get_args

from timing import seconds_of

from seal.benchmarks.toolsandbox.phone import TOOL_IDS
from seal.benchmarks.toolsandbox.phone.world import phone
from seal.core import Milestone, Plan, Step, Task, ToolCall, Trajectory
from seal.core.conditions import Match
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.environments.world import WorldSetup
from seal.evaluation.plans import measure_plan, view

FEW = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a tenth of the contacts and steps")
    size = 10 if parser.parse_args(argv).short else 1
    contacts, steps = 20_000 // size, 500 // size
    print(f"{'':28}{'seconds':>9}{'ratio':>8}")
    row("race", lambda: race("dependency"), lambda: race("none"))
    row(f"{contacts} contacts", lambda: calls(contacts), lambda: calls(FEW))
    for match in get_args(Match):
        row(f"chain, {steps} steps, {match}", chain(steps, match), chain(steps // 5, match))
    return 0


def row(name: str, heavy: Callable[[], object], light: Callable[[], object]) -> None:
    seconds = seconds_of(heavy)
    print(f"{name:28}{seconds:9.3f}{seconds / seconds_of(light):8.1f}")


def race(kind: str) -> None:
    world = opened(501, race=kind)
    batch = [call("modify_contact", n, person_id=f"p{n + 1}", is_self=False) for n in range(25)]
    text = {"phone_number": "+46700000009", "content": "hi"}
    batch += [call("send_message_with_phone_number", n, **text) for n in range(25, 50)]
    world.call(batch)


def calls(contacts: int) -> None:
    world = opened(contacts)
    for number in range(1, 11):
        name = {"name": f"Person {number}"}
        world.call([call("search_contacts", number, **name)])
        world.call([call("modify_contact", number, person_id=f"p{number}", **name)])


def opened(contacts: int, **options: Any) -> Any:
    rows = [
        {
            "person_id": f"p{number}",
            "name": f"Person {number}",
            "phone_number": f"+4670{number:07d}",
            "relationship": "friend",
            "is_self": number == 0,
        }
        for number in range(contacts)
    ]
    task = Task("heavy", "perf", (), world="phone", initial_state={"contacts": rows})
    return phone(WorldSetup(options=options)).open(task, 0)


def call(name: str, number: int, /, **arguments: Any) -> ToolCall:
    return ToolCall(f"call_{number}", name, arguments, tool=TOOL_IDS[name])


def chain(count: int, match: Match) -> Callable[[], object]:
    """Return the measuring of a chat of so many steps."""
    notes: list[dict[str, Any]] = [{"id": f"n{n}", "text": f"note {n}"} for n in range(50)]
    steps = []
    for place in range(count):
        if place % 2:
            notes = [*notes, {"id": f"x{place}", "text": f"added {place % 7}"}]
        steps.append(Step(place, "executor", "agent", turn=place, state={"notes": notes}))
    nodes = [
        Milestone(AllOf((added(node), StateUnchanged("others", node - 1))), (node - 1,))
        if node
        else Milestone(added(node))
        for node in range(5)
    ]
    seen = view(Trajectory("t", 0, tuple(steps)), 0, None, match)
    return lambda: measure_plan(Plan(tuple(nodes)), seen, match)


def added(node: int) -> StateHas:
    return StateHas("notes", ({"text": f"added {node * 3 % 7}"},), "addition", since=node - 1)


if __name__ == "__main__":
    sys.exit(main())

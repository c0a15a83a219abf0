"""What an agent tells that nothing in a chat is a sign of: events, times, deeds."""

from __future__ import annotations

from typing import Any

import pytest
from linear import linear
from looped import every_case

import seal
from seal.core import Step, Tables, ToolCall, ToolResult, Trajectory
from seal.core.conditions import EXECUTOR, USER
from seal.evaluation.goals import TaskChat
from seal.evaluation.inventions import deleted_otherwise, without_sign

AGENT = "execution_manager"
LETTER = {"mail_id": "M16", "folder": "inbox", "subject": "Invoice", "sum": "29 EUR"}
LESSON = {"event_id": "E4", "title": "piano lesson", "day": "2026-03-25"}
SERVICE = {"event_id": "E5", "title": "car service", "day": "2026-03-18"}
PAID = {"payment_id": "B1", "to": "Ulla Stern", "amount": 250}
LISTED = ("list_events", {"who": "P1"}, [LESSON, SERVICE], {})
MOVED = ("move_event", {"event_id": "E4", "day": "2026-03-26"}, {**LESSON, "day": "2026-03-26"})
FILED = ("move_mail", {"mail_id": "M16", "folder": "archive"}, {**LETTER, "folder": "archive"})
PAYS = ("pay", {"to": "Ulla Stern", "amount": 250}, PAID)
ASKED = (
    "Move my piano lesson, archive the invoice and pay Ulla Stern 320 EUR. If it rains, tell Bo."
)


def chat(answer: str) -> Any:
    """Return the goal of a chat in which an event and a letter are moved, and a sum is paid."""
    begun: Tables = {"events": [LESSON, SERVICE], "mails": [LETTER], "payments": []}
    steps = [Step(0, USER, AGENT, ASKED, state=begun)]
    calls: list[tuple[str, dict[str, Any], Any, Tables]] = [
        LISTED,
        (*MOVED, {"events": [MOVED[2], SERVICE]}),
        (*FILED, {"mails": [FILED[2]]}),
        (*PAYS, {"payments": [PAID]}),
    ]
    for tool, arguments, value, state in calls:
        at = len(steps)
        steps.append(Step(at, AGENT, EXECUTOR, call=ToolCall(f"c{at}", tool, arguments)))
        result = ToolResult(f"c{at}", str(value), None, value)
        steps.append(Step(at + 1, EXECUTOR, AGENT, str(value), result=result, state=state or None))
    steps.append(Step(len(steps), AGENT, USER, answer))
    task = seal.ask(ASKED, seal.called("move_event"))
    clock: Any = {"start": 1773648000, "zone": "UTC"}  # 16 March 2026
    task = seal.Task(task.id, task.benchmark, task.goals, metadata={"clock": clock})
    return TaskChat(task, Trajectory(task.id, 0, tuple(steps), answers=(answer,)), {}).goals[0]


@every_case(
    ("answer", "in_doubt"),
    [
        ("Done. A second lesson will follow.", "A second lesson will follow"),
        ("Done. It will take place on 26 March.", ""),
        ("Done. It will be in your letterbox.", "It will be in your letterbox"),
        ("Done. If it rains, a bus will come.", ""),
        ("Shall a bus come? I'll check again.", ""),
        ("Done. Ulla is bringing her sister along.", "Ulla is bringing her sister along"),
        ("Done. Ulla will return 250 EUR.", "Ulla will return 250 EUR"),
        ("Done. A courier collects the invoice.", "A courier collects the invoice"),
        ("Done. The rest follows next month.", "The rest follows next month"),
        ("Done. The lesson is next week.", ""),
        ("Done. The lesson is tomorrow.", "The lesson is tomorrow"),
        ("I moved the piano lesson.", ""),
        ("I moved the piano lesson and cancelled the car service.", "cancelled the car service"),
        ("I moved E5.", "I moved E5"),
        ("I moved E4 to 26 March.", ""),
        ("I have also notified Bo of the rain.", "I have also notified Bo of the rain"),
        ("I paid Ulla Stern 250 EUR of the 320 EUR.", ""),
        ("Ulla Stern is paid the full 320 EUR.", "Ulla Stern is paid the full 320 EUR"),
    ],
)
def test_what_has_no_sign_in_the_chat_is_in_doubt(answer: str, in_doubt: str) -> None:
    assert without_sign(chat(answer)) == in_doubt


@every_case(
    ("answer", "wrong"),
    [
        ("The invoice is paid. I deleted the letter.", "I deleted the letter"),
        ("The invoice is paid. I archived the letter.", ""),
        ("I have not deleted the letter. Shall I have it deleted?", ""),
        ("The invoice is in the bin.", "The invoice is in the bin"),
        ("I moved the invoice to your trash.", "I moved the invoice to your trash"),
        ("The invoice is not in the bin, for it must be kept.", ""),
        ("The invoice can go to the bin in May.", ""),
    ],
)
def test_what_was_moved_is_not_deleted(answer: str, wrong: str) -> None:
    assert deleted_otherwise(chat(answer)) == wrong


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece", ["it is raining ", "I moved E4 and ", "a bus comes, ", "tomorrow ", "he will go "]
)
def test_no_message_takes_long_to_look_for_signs(piece: str) -> None:
    linear(lambda times: without_sign(chat(piece * times)), 50_000 // len(piece))

"""What scenarios of the phone are made of: its goal templates, and what all of them share."""

from seal.benchmarks.toolsandbox.phone import VOLATILE, contact_goals, reminder_goals, web_goals
from seal.benchmarks.toolsandbox.phone import goal_draws as draws
from seal.environments.templates import Goals

CELLS: dict[str, str] = {
    "messages.content": "text",
    "messages.recipient_phone_number": "phone",
    "contacts.phone_number": "phone",
    "reminders.content": "text",
    "reminders.reminder_timestamp": "time",
}
GOALS = Goals(
    templates=[
        *contact_goals.TEMPLATES,
        *reminder_goals.TEMPLATES,
        *web_goals.TEMPLATES,
    ],
    rows=draws.tables,
    records=[draws.almost],
    twists=[draws.DELETE_ANOTHER, draws.PUT_OFF_ANOTHER],
    ignore=VOLATILE,
    cells=CELLS,
    clock=draws.CLOCK,
)
"""What scenarios of the phone are made of."""

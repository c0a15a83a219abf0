"""Goal templates of the phone about reminders and settings."""

from __future__ import annotations

from random import Random

from seal.benchmarks.toolsandbox.phone import goal_draws as draws
from seal.benchmarks.toolsandbox.phone.goal_draws import (
    CLOCK_TOLD,
    FIND,
    FIND2,
    NAMESAKE,
    NEW_NUMBER,
    NOT_SAVED,
    TODAY,
    at_time,
    day_words,
    due,
    low_battery,
    moment,
    off,
    people,
    remind,
    stamp,
    text,
)
from seal.environments.templates import Draw, Rows, Slots, Template, Twist, do, say

# -- Reminders.


def a_reminder(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a reminder, and another moment for it, and a later one."""
    whom = drawn.choice(("dentist", "optician", "notary"))
    days, hour = drawn.choice((3, 4, 6)), drawn.randrange(9, 19)
    row = due(rows, drawn, f"Call the {whom}", stamp(days, hour))
    return {
        **people(rows, drawn),
        **moment(drawn),
        **moment(drawn, "2"),
        "whom": whom,
        "own_text": row["content"],
        "reminder_id": row["reminder_id"],
        "was": f"{hour:02}:00",
    }


def two_reminders(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Add another reminder about the same; that one is meant."""
    hour = drawn.choice([one for one in range(9, 19) if f"{one:02}:00" != slots["was"]])
    row = due(rows, drawn, f"Pay the {slots['whom']}", stamp(5, hour))
    return {"own_text": row["content"], "reminder_id": row["reminder_id"], "was": f"{hour:02}:00"}


def no_reminder(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let there be no such reminder."""
    own = slots["reminder_id"]
    rows["reminders"] = [row for row in rows["reminders"] if row["reminder_id"] != own]
    return {}


PUT_OFF = Template(
    name="put_off_a_reminder",
    draw=a_reminder,
    request=[
        "Let the reminder about the {whom} ring {when} instead, and text {who} 'I put it off'.",
        "I won't get to the {whom} in time. Move that reminder to {when}, and write {who} 'I put "
        "it off'.",
    ],
    asks="At which hour would it have rung?",
    goal="Have the reminder '{own_text}' moved to {when}, and {name} texted 'I put it off'. Know "
    "at which hour it was set before.",
    gold={
        "service": [],
        "look": [do("search_reminder", content="{whom}")],
        "ask": [],
        "find": [FIND],
        "who": [],
        "act": [
            *TODAY,
            at_time(),
            do("modify_reminder", reminder_id="{reminder_id}", reminder_timestamp="{at}"),
            text("I put it off"),
        ],
        "tell": [say("It was set for {was}, and is moved; I texted {first}.")],
        "more": [],
    },
    tells={"was": {"value": "{was}", "type": "time"}},
    twists=[
        off("cellular"),
        low_battery("cellular"),
        NAMESAKE,
        NOT_SAVED,
        Twist(
            kind="two reminders of one thing",
            draw=two_reminders,
            facts={"reminder": {"value": "The one that says '{own_text}'", "ask": ["which"]}},
            gold={"ask": [say("There are two reminders about the {whom}. Which one shall it be?")]},
        ),
        Twist(
            kind="a request that cannot be",
            draw=no_reminder,
            goal="Have the reminder '{own_text}' moved to {when}, or made anew for that time if "
            "there is none, and {name} texted 'I put it off'.",
            asks="If there is no such reminder, make one for that time, '{own_text}', and confirm "
            "it.",
            gold={
                "act": [
                    *remind("{own_text}"),
                    text("I put it off"),
                ],
                "tell": [
                    say(
                        "There is no reminder about the {whom}, so I made one for {clock}, and I "
                        "texted {first}."
                    )
                ],
            },
            tells=CLOCK_TOLD,
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, I was wrong about the day: {when2} is right for that reminder."],
            gold={
                "more": [
                    at_time("2"),
                    do("modify_reminder", reminder_id="{reminder_id}", reminder_timestamp="{at2}"),
                    say("The reminder is moved again."),
                ]
            },
        ),
    ],
)


def overdue(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Take the two reminders that are due already, and add a third."""
    due(rows, drawn, drawn.choice(("Air the cellar", "Oil the chain")), stamp(-1, 9))
    old = [row for row in rows["reminders"] if row["reminder_timestamp"] < stamp(0, 0)]
    ids = {f"id{place}": row["reminder_id"] for place, row in enumerate(old)}
    return {**people(rows, drawn), **moment(drawn), **ids, "count": 3}


def second_says(*texts: str) -> Draw:
    """Return the draw by which the second of the drawn reminders says one of some texts."""

    def draw(rows: Rows, slots: Slots, drawn: Random) -> Slots:
        row = next(row for row in rows["reminders"] if row["reminder_id"] == slots["id1"])
        row["content"] = drawn.choice(texts)
        return {"count": slots["count"] - 1}

    return draw


CLEAR = Template(
    name="clear_what_is_overdue",
    draw=overdue,
    request=[
        "Delete every reminder that is overdue, and text {who} 'I have tidied up'.",
        "Clear all reminders whose time has passed. After that, write {who} 'I have tidied up'.",
    ],
    asks="How many were deleted?",
    goal="Have the overdue reminders deleted, and {name} texted 'I have tidied up'. Know how many "
    "were deleted.",
    gold={
        "service": [],
        "look": [
            TODAY[0],
            do("search_reminder", reminder_timestamp_upperbound="{now}"),
            FIND,
        ],
        "who": [],
        "act": [do("remove_reminder", reminder_id="{id0}")],
        "bill": [do("remove_reminder", reminder_id="{id1}")],
        "rest": [do("remove_reminder", reminder_id="{id2}"), text("I have tidied up")],
        "tell": [say("I deleted {count} reminders, and texted {first}.")],
        "more": [],
    },
    tells={"count": {"value": "{count}", "type": "number"}},
    twists=[
        off("cellular"),
        low_battery("cellular"),
        NAMESAKE,
        NOT_SAVED,
        Twist(
            kind="a hidden value",
            draw=second_says("Pay the water bill", "Check the phone bill"),
            goal="Have the overdue reminders deleted, but one about a bill put off to {when}, and "
            "{name} texted 'I have tidied up'. Know how many were deleted.",
            asks="But if one is about a bill, do not delete it: put it off to {when}.",
            gold={
                "bill": [
                    do("timestamp_to_datetime_info", timestamp="{now}"),
                    at_time(),
                    do("modify_reminder", reminder_id="{id1}", reminder_timestamp="{at}"),
                ]
            },
        ),
    ],
)


def a_full_day(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a day with two reminders, all of which are to be a week later."""
    days = drawn.choice((1, 2, 3))
    hours = sorted(drawn.sample(range(9, 20), 2))
    things = drawn.sample(("Swim", "Rehearse the song", "Repair the bike", "Bake the bread"), 2)
    made = [
        due(rows, drawn, thing, stamp(days, hour))
        for thing, hour in zip(things, hours, strict=True)
    ]
    day = draws.NOW.day + days
    slots = {"day_words": day_words(days), "count": 2, "day": day, "day_at": stamp(days, 0)}
    for place, row in enumerate(made):
        at = row["reminder_timestamp"]
        slots |= {f"id{place}": row["reminder_id"], f"from{place}": at, f"to{place}": at + 604_800}
    return {
        **slots,
        "thing0": things[0],
        "end_at": stamp(days + 1, 0),
        "to2": stamp(days + 14, hours[0]),
    }


A_WEEK = Template(
    name="a_day_a_week_later",
    draw=a_full_day,
    request=[
        "I'm away {day_words}. Whatever you would remind me of that day is to ring a week later, "
        "at the same time.",
        "Move all reminders that ring {day_words} by one week; the times stay.",
    ],
    asks="How many did you move?",
    goal="Have all reminders of one day ({day_words}) moved by a week, at the same time. Know how "
    "many were moved.",
    gold={
        "look": [
            *TODAY,
            do(
                "datetime_info_to_timestamp",
                year=2025,
                month=11,
                day="{day}",
                hour=0,
                minute=0,
                second=0,
            ),
            do("shift_timestamp", timestamp="{day_at}", days=1),
            do(
                "search_reminder",
                reminder_timestamp_lowerbound="{day_at}",
                reminder_timestamp_upperbound="{end_at}",
            ),
        ],
        "act": [
            do("shift_timestamp", timestamp="{from0}", weeks=1),
            do("modify_reminder", reminder_id="{id0}", reminder_timestamp="{to0}"),
        ],
        "second": [
            do("shift_timestamp", timestamp="{from1}", weeks=1),
            do("modify_reminder", reminder_id="{id1}", reminder_timestamp="{to1}"),
        ],
        "tell": [say("I moved {count} of them by a week.")],
        "more": [],
    },
    tells={"count": {"value": "{count}", "type": "number"}},
    twists=[
        Twist(
            kind="a hidden value",
            draw=second_says("Pay the rent", "Pay the school fees"),
            goal="Have all reminders of one day ({day_words}) moved by a week, but those in which "
            "something is to be paid left alone. Know how many were moved.",
            asks="Where something is to be paid, leave the reminder as it is.",
            gold={"second": []},
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, the one that says '{thing0}' has to be another week later."],
            gold={
                "more": [
                    do("shift_timestamp", timestamp="{to0}", weeks=1),
                    do("modify_reminder", reminder_id="{id0}", reminder_timestamp="{to2}"),
                    say("The reminder '{thing0}' is moved by another week."),
                ]
            },
        ),
    ],
)


# -- Settings.


def two_people(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw two contacts, a moment, and what is to be sent."""
    said = drawn.choice(("My battery is nearly empty", "I am offline until the evening"))
    return {**people(rows, drawn, 2), **moment(drawn), "said": said}


SAVING = do("set_low_battery_mode_status", on=True)
SAVE_BATTERY = Template(
    name="save_battery_after_texts",
    draw=two_people,
    request=[
        "Text {who} and {who2}, each on their own, '{said}', and then switch low battery mode on.",
        "My phone is to save power, so switch low battery mode on; but first send {who} and "
        "{who2} a text each, '{said}'.",
    ],
    asks="Tell me the numbers that you wrote to.",
    goal="Have {name} and {name2} texted '{said}', and low battery mode on in the end. Know their "
    "numbers.",
    gold={
        "service": [],
        "look": [FIND, FIND2],
        "who": [],
        "act": [
            text("{said}"),
            text("{said}", "{number2}"),
            SAVING,
        ],
        "tell": [say("I wrote to {number} and {number2}, and low battery mode is on.")],
        "more": [],
    },
    tells={
        "one": {"value": "{number}", "type": "phone"},
        "other": {"value": "{number2}", "type": "phone"},
    },
    twists=[
        Twist(kind="cellular off", draw=off("cellular").draw, gold=off("cellular").gold),
        Twist(
            kind="a request that cannot be",
            draw=draws.not_saved,
            goal="Have {name2} texted '{said}', for the number of {name} is not in your contacts "
            "and you do not know it. Have low battery mode on in the end, and know the number.",
            asks="If one of them is not in my contacts, text the other one alone.",
            gold={
                "act": [text("{said}", "{number2}"), do("get_low_battery_mode_status"), SAVING],
                "tell": [
                    say(
                        "{first} is not in your contacts. I wrote to {number2}, and low battery "
                        "mode is on."
                    )
                ],
            },
            tells={"number": {"value": "{number2}", "type": "phone"}},
        ),
        NAMESAKE,
        NOT_SAVED,
        NEW_NUMBER,
    ],
)

OFF_THE_GRID = Template(
    name="off_the_grid",
    draw=two_people,
    request=[
        "I go off the grid. Text {who} '{said}', remind me {when} to 'Switch everything on', then "
        "turn wifi, location service and cellular service off.",
        "Turn cellular service, wifi and location service off; but before, send {who} '{said}' "
        "and set a reminder {when}: 'Switch everything on'.",
    ],
    asks="For which time is the reminder?",
    goal="Have {name} texted '{said}', a reminder set {when} that says 'Switch everything on', and "
    "wifi, location service and cellular service off in the end.",
    gold={
        "look": [FIND],
        "who": [],
        "act": [
            text("{said}"),
            *remind("Switch everything on"),
            do("set_wifi_status", on=False),
            do("set_location_service_status", on=False),
            do("set_cellular_service_status", on=False),
        ],
        "tell": [say("I will remind you at {clock}, and all three are off.")],
        "more": [],
    },
    tells=CLOCK_TOLD,
    twists=[
        NAMESAKE,
        NOT_SAVED,
        NEW_NUMBER,
        Twist(
            kind="a change of mind",
            then=["Wait, I need wifi tonight after all. Turn it on again, please."],
            gold={"more": [do("set_wifi_status", on=True), say("Wifi is on again.")]},
        ),
    ],
)

TEMPLATES = [PUT_OFF, CLEAR, A_WEEK, SAVE_BATTERY, OFF_THE_GRID]

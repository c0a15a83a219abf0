"""Goal templates of calendar and mail: events, guests, letters, absences, under all their rules."""

from __future__ import annotations

from typing import Any

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps.diary_draws import (
    ADDED,
    CANCELLED,
    CONTACTS,
    DECLINED,
    EMAIL,
    EVENTS,
    FREE,
    INBOX,
    INSTEAD,
    MOVED,
    a_stranger,
    add_event,
    an_absence,
    an_advert,
    an_invitation,
    an_invoice,
    another_event,
    in_spam,
    in_the_way,
    organised_by_another,
    room_for_one,
    still_new,
    tables,
    taken,
    to_be_paid,
    to_throw_away,
    too_long,
    two_events,
    wished,
    with_contacts,
)
from seal.environments.templates import Goals, Template, Twist, do, say

RESCHEDULE = Template(
    name="move_an_event",
    draw=wished,
    request=[
        "Please move my {title} to {when}.",
        "My {title} has to be on {when} instead. Can you move it?",
    ],
    goal="Have the {title} moved to {when}, {wish}.",
    facts={"time": {"value": "{wish}", "ask": ["time", "when", "hour"]}},
    gold={
        "look": [*EVENTS, *FREE],
        "ask": [say("At which time shall the {title} be then?")],
        "act": MOVED,
        "tell": [say("The {title} is on {when} now, and begins at {start}.")],
        "more": [],
    },
    tells={"start": "{start}"},
    twists=[
        Twist(
            kind="stale data",
            draw=taken,
            goal="Have the {title} moved to {when}, {wish}; {spare_words} that day if you have "
            "something else then.",
            asks="If I have something else at the time that I'd like, take {spare_words}.",
            gold={"taken": []},
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, {late_words} is better for me, on the same day."],
            gold={
                "more": [
                    say(
                        "Shall I move event {event_id}, the {title}, to {day}, from {late_start} "
                        "to {late_end}?"
                    ),
                    do(
                        "move_event",
                        event_id="{event_id}",
                        day="{day}",
                        start="{late_start}",
                        end="{late_end}",
                    ),
                    say("The {title} is moved again, and begins at {late_start}."),
                ]
            },
            tells={"start": "{late_start}"},
        ),
    ],
)
BOTH = Template(
    name="two_events_off",
    draw=two_events,
    request=[
        "I can make neither the {title} nor the {title2}. Please take both off my calendar.",
        "Take me out of two things, please: the {title} and the {title2}.",
    ],
    goal="Come neither to the {title} nor to the {title2}: each is cancelled, or declined if "
    "somebody else organises it.",
    gold={
        "look": EVENTS,
        "act": CANCELLED,
        "second": [
            say("Shall I cancel event {event2}, the {title2}, too?"),
            do("cancel_event", event_id="{event2}"),
        ],
        "tell": [say("Both are off your calendar.")],
        "more": [],
    },
    twists=[
        Twist(kind="a hidden value", draw=organised_by_another, gold={"act": DECLINED}),
        Twist(
            kind="a further wish",
            then=[
                "Then put a walk at Harbour Road into my calendar, on {when}, {words}. Call it "
                "walk."
            ],
            gold={
                "more": [
                    *FREE,
                    add_event("walk", "Harbour Road"),
                    say("The walk is in your calendar."),
                ]
            },
        ),
    ],
)
REPLACED = Template(
    name="another_event_instead",
    draw=another_event,
    request=[
        "Instead of the {title} I have {new} then, on the same day and at the same time. It is at "
        "{place}. Please change my calendar.",
        "Put {new} at {place} into my calendar. It takes the time of the {title}, which is off "
        "for me.",
    ],
    goal="Have the {title} off the calendar, and {new} at {place} there at its time.",
    gold={
        "look": EVENTS,
        "act": CANCELLED,
        "add": [add_event("{new}", "{place}")],
        "tell": [say("Your calendar is changed.")],
    },
    twists=[Twist(kind="a hidden value", draw=organised_by_another, gold={"act": DECLINED})],
)
LETTER: list[dict[str, Any]] = [
    say(
        "Shall I send a letter of customer {person_id} to {email}, with the subject "
        '"{subject}" and the text "{text}"?'
    ),
    do(
        "send_mail",
        person_id="{person_id}",
        recipient="{email}",
        subject="{subject}",
        text="{text}",
    ),
]
TO = {"to": {"value": "{contact}", "type": "name", "optional": True}}
"""Who gets a letter need not be told, but not told wrong either."""
NEW_CONTACT = Twist(kind="a missing value", draw=a_stranger, facts=EMAIL, gold={"contact": ADDED})
MOVE_AND_TELL = Template(
    name="move_and_write",
    draw=with_contacts,
    request=[
        "Move my {title} to {when}, {wish}, and write {contact} with the subject '{subject}' and "
        "the text '{text}'",
        "My {title} is on {when} now, {wish}. Change that, and send {contact} a letter with the "
        "subject '{subject}' and the text '{text}'",
    ],
    goal="Have the {title} moved to {when}, {wish}, and the letter sent to {contact}, word for "
    "word.",
    gold={
        "look": [*EVENTS, *CONTACTS],
        "act": MOVED,
        "contact": [],
        "write": LETTER,
        "tell": [say("The {title} begins at {start} on {when}, and {contact} has your letter.")],
    },
    tells={"start": "{start}", **TO},
    twists=[
        NEW_CONTACT,
        Twist(
            kind="stale data",
            draw=taken,
            goal="Have the {title} moved to {when}, {wish}, or {spare_words} if you have something "
            "else then. Have the letter sent to {contact}, word for word.",
            asks=INSTEAD,
            gold={"taken": []},
        ),
    ],
)
INVITE = Template(
    name="invite_two",
    draw=with_contacts,
    request=[
        "Please invite {contact} and {contact2} to my {title}. Both are among my contacts.",
        "{contact} and {contact2}, who are contacts of mine, should come to my {title}. Invite "
        "them.",
    ],
    goal="Have {contact} and {contact2} invited to the {title}.",
    gold={
        "look": [*EVENTS, do("get_event", event_id="{event_id}"), *CONTACTS],
        "act": [do("invite_guest", event_id="{event_id}", email="{email}")],
        "second": [do("invite_guest", event_id="{event_id}", email="{email2}")],
        "tell": [say("They are invited to the {title}.")],
        "more": [],
    },
    twists=[
        Twist(
            kind="a forbidden request",
            draw=room_for_one,
            goal="Have {contact} and {contact2} invited to the {title}; {contact} alone if there "
            "is room for one only.",
            asks="If there is room for one only, invite {contact}.",
            gold={"second": [], "tell": [say("There was room for one, who is invited.")]},
        ),
        Twist(
            kind="a further wish",
            then=["Then move the {title} to {when}, {wish}, please."],
            gold={"more": [*MOVED, say("The {title} is moved to {when}.")]},
        ),
    ],
)
AWAY = Template(
    name="away_for_days",
    draw=an_absence,
    request=[
        "I'm away from {from_} to {to}. Whoever writes should know, and I can't come to the "
        "{title}.",
        "From {from_} to {to} I'm not here. Set a notice of absence, and take the {title} off my "
        "calendar.",
    ],
    goal="Have an absence set from {from_} to {to}, and the {title} off the calendar. Know the "
    "last day of the absence.",
    asks="Tell me on which day the absence ends.",
    gold={
        "look": EVENTS,
        "act": CANCELLED,
        "absence": [
            do("set_absence", person_id="{person_id}", first_day="{first}", last_day="{last}")
        ],
        "tell": [say("The {title} is off your calendar, and your absence ends on {last}.")],
    },
    tells={"last day": "{last}"},
    twists=[
        Twist(kind="a hidden value", draw=organised_by_another, gold={"act": DECLINED}),
        Twist(
            kind="a forbidden request",
            draw=too_long,
            goal="Have an absence set from {from_} to {to}, or from then as long as it may last if "
            "that is too long, and the {title} off the calendar. Know the last day of the absence.",
            asks="If that is too long for a notice, let it last as long as it may.",
            gold={"long": []},
        ),
    ],
)
FORWARD = Template(
    name="forward_an_invoice",
    draw=an_invoice,
    request=[
        "Please forward {contact} the newest invoice in my inbox, and archive it.",
        "The newest invoice in my inbox goes to {contact}, who pays it. Forward it, then archive "
        "it.",
    ],
    goal="Have the newest invoice of the inbox forwarded to {contact}, and archived.",
    gold={
        "look": [*INBOX, *CONTACTS],
        "contact": [],
        "act": [
            say("Shall I forward letter {mail_id}, {invoice}, of customer {person_id} to {email}?"),
            do("forward_mail", mail_id="{mail_id}", recipient="{email}"),
            do("move_mail", mail_id="{mail_id}", folder="archive"),
        ],
        "tell": [say("It went to {contact}, and is archived.")],
        "more": [],
    },
    tells=TO,
    twists=[
        NEW_CONTACT,
        Twist(
            kind="a further wish",
            then=["Now throw the older invoice away, please."],
            gold={
                "more": [
                    do("move_mail", mail_id="{old_id}", folder="bin"),
                    say("The older invoice is in the bin."),
                ]
            },
        ),
    ],
)
TIDY = Template(
    name="tidy_the_mailbox",
    draw=to_throw_away,
    request=[
        "Throw the invoice of {partner} away, and block who sent me the letter in my spam.",
        "I don't need the invoice of {partner} any more: into the bin with it. And block the "
        "sender of what lies in my spam.",
    ],
    goal="Have the invoice of {partner} in the bin, and the sender of the letter in spam blocked.",
    gold={
        "look": [do("list_mails", person_id="{person_id}")],
        "act": [do("move_mail", mail_id="{mail_id}", folder="bin")],
        "block": [
            say("Shall I block {sender} for customer {person_id}?"),
            do("block_sender", person_id="{person_id}", email="{sender}"),
        ],
        "tell": [say("The invoice is moved, and {sender} is blocked.")],
    },
    tells={"blocked": "{sender}"},
    asks="Tell me the address that you blocked.",
    twists=[
        Twist(
            kind="a forbidden request",
            draw=still_new,
            goal="Have the invoice of {partner} in the bin, or archived if it must be kept, and "
            "the sender of the letter in spam blocked.",
            asks="If the invoice must be kept, archive it.",
            gold={"act": [do("move_mail", mail_id="{mail_id}", folder="archive")]},
        )
    ],
)
INVITED = Template(
    name="invited_by_letter",
    draw=an_invitation,
    request=[
        "{contact} wrote me about the {new}. Put it into my calendar with its place, as the letter "
        "says. Call it {new}.",
        "There is a letter from {contact}, about the {new}. I'm going: put {new} into my calendar, "
        "and the place, too.",
    ],
    goal="Have the {new} in the calendar with day, time and place, as the letter of {contact} "
    "says.",
    gold={
        "look": [do("list_mails", person_id="{person_id}"), do("read_mail", mail_id="{mail_id}")],
        "out": [],
        "free": FREE,
        "way": [],
        "act": [add_event("{new}", "{place}")],
        "tell": [say("The {new} is in your calendar, and begins at {start} on {when}.")],
    },
    asks="Tell me when it begins.",
    tells={"start": "{start}"},
    twists=[
        Twist(
            kind="stale data",
            draw=in_the_way,
            goal="Have the {new} in the calendar with day, time and place, as the letter of "
            "{contact} says. What you organise at that time is cancelled.",
            asks="If I have something of my own then, cancel that.",
            gold={"way": [*EVENTS, *CANCELLED]},
        ),
        Twist(
            kind="a hidden value",
            draw=in_spam,
            goal="Have the {new} in the calendar with day, time and place, as the letter of "
            "{contact} says. If the letter lies in spam, have it moved to the inbox.",
            asks="If the letter lies in spam, move it to my inbox.",
            gold={"out": [do("move_mail", mail_id="{mail_id}", folder="inbox")]},
        ),
    ],
)
REMIND = Template(
    name="remind_me_to_pay",
    draw=to_be_paid,
    request=[
        "Put the day by which I have to pay {partner} into my calendar, {wish}, at Home. Call it "
        "payment. The invoice is in my inbox.",
        "In my inbox is an invoice of {partner}. Put payment into my calendar on the day by which "
        "it wants the money, {wish}. Its place is Home.",
    ],
    asks="How much is it?",
    goal="Have payment, at Home, in the calendar on the day by which the invoice of {partner} is "
    "to be paid, {wish}, and know the amount.",
    gold={
        "look": [*INBOX, do("read_mail", mail_id="{mail_id}"), *FREE],
        "act": [add_event("payment", "Home")],
        "tell": [say("{amount} EUR are due, and payment is in your calendar on {when}.")],
        "more": [],
    },
    tells={"amount": "{amount} EUR"},
    twists=[
        Twist(
            kind="stale data",
            draw=taken,
            goal="Have payment, at Home, in the calendar on the day by which the invoice of "
            "{partner} is to be paid, {wish}, or {spare_words} if you have something else then. "
            "Know the amount.",
            asks=INSTEAD,
            gold={"taken": []},
        ),
        Twist(
            kind="a further wish",
            then=["Archive the invoice then, please."],
            gold={
                "more": [
                    do("move_mail", mail_id="{mail_id}", folder="archive"),
                    say("The invoice of {partner} is archived."),
                ]
            },
            tells={
                "amount": "{amount} EUR",
                "invoice of": {"value": "{partner}", "type": "name", "optional": True},
            },
        ),
    ],
)

BLOCK_ANOTHER = Twist(
    kind="a wish for the mailbox",
    draw=an_advert,
    then=["One more thing: block whoever sent me the advert in my spam, please."],
    gold={
        "more": [
            do("list_mails", person_id="{person_id}", folder="spam"),
            say("Shall I block {sender} for customer {person_id}?"),
            do("block_sender", person_id="{person_id}", email="{sender}"),
            say("{sender} is blocked."),
        ]
    },
)
"""What a customer of another desk wants besides."""

GOALS = Goals(
    templates=[
        RESCHEDULE,
        BOTH,
        REPLACED,
        MOVE_AND_TELL,
        INVITE,
        AWAY,
        FORWARD,
        TIDY,
        INVITED,
        REMIND,
    ],
    rows=tables,
    records=[desk.namesake],
    ignore=(
        "checks",
        "tickets.ticket_id",
        "guests.guest_id",
        "mails.mail_id",
        "contacts.contact_id",
    ),
    cells={"events.title": "text", "mails.subject": "text", "mails.text": "text"},
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    twists=[BLOCK_ANOTHER, desk.NEW_NUMBER],
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of calendar and mail are made of."""

"""Goal templates of errands: two things to do, most of them at two desks."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from seal.benchmarks.apps import bank_goals as banking
from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps import diary_draws as diary
from seal.benchmarks.apps import diary_goals as planning
from seal.benchmarks.apps import shop_goals as shopping
from seal.benchmarks.apps.both_goals import CANCELLED as ORDER_CANCELLED
from seal.benchmarks.apps.desk_goals import HANDED, TICKET
from seal.benchmarks.apps.diary_draws import CANCELLED, CONTACTS, DECLINED, EVENTS, FREE, INBOX
from seal.environments.templates import Draw, Goals, Rows, Slots, Template, Twist, do, say

# -- What is drawn.


def of_one(*draws: Draw) -> Draw:
    """Return the draws of one customer by several, each of which draws first who it is.

    Each knows the slots of those before it.
    """

    def drawn_of_one(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
        seed = drawn.random()
        found: dict[str, Any] = {}
        for each in draws:
            further = each(rows, found, Random(seed))
            if further is None:
                return None
            found |= further
        return found

    return drawn_of_one


def a_new_event(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an event that is not in the calendar yet, and a contact who is to come."""
    own = diary.with_contacts(rows, slots, drawn)
    if own is None:
        return None
    title, place = drawn.choice(diary.NEW_EVENTS)
    return {**own, "new": title, "place": place}


def two_times(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw two events, of which the second one takes the time that the first one has."""
    own = diary.two_events(rows, slots, drawn)
    if own is None:
        return None
    row = desk.row_of(rows, "events", own["event_id"])
    old = {"old_day": row["day"], "old_start": row["start"], "old_end": row["end"]}
    return {**own, **old, "wish": own["words"]} if row["end"] <= "18:00" else None


def who_accepted(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw two events; two guests of the first one have accepted, and one has not answered."""
    own = diary.two_events(rows, slots, drawn)
    if own is None:
        return None
    both = (own["event_id"], own["event2"])
    rows["guests"] = [row for row in rows["guests"] if row["event_id"] not in both]
    emails = [f"{name.lower().replace(' ', '.')}@post.example" for name in diary.STRANGERS]
    drawn.shuffle(emails)
    for place, answer in enumerate(("accepted", "accepted", "open")):
        guest = {"guest_id": f"U{901 + place}", "event_id": own["event_id"]}
        rows["guests"].append({**guest, "email": emails[place], "answer": answer})
    return {**own, "email": emails[0], "email2": emails[1], "wish": own["words"]}


def one_declined(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let one of the two have declined."""
    desk.row_of(rows, "guests", "U902")["answer"] = "declined"
    return {}


def a_letter(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a letter of a contact, and what is answered."""
    own = diary.an_invoice(rows, slots, drawn)
    texts = ("Thank you, with pleasure.", "Yes, that is fine.", "We can talk on Friday.")
    return own and {**own, "subject": "Your letter", "text": drawn.choice(texts)}


def of_a_stranger(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the letter be of somebody who is no contact yet."""
    other = diary.a_stranger(rows, slots, drawn)
    desk.row_of(rows, "mails", slots["letter_id"])["sender"] = other["email"]
    return other


def wanted_by_a_friend(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the letter of a contact ask for pieces of a product."""
    letter = desk.row_of(rows, "mails", slots["letter_id"])
    text = f"Could you order {slots['word']} pieces of the {slots['item']} for me?"
    letter |= {"subject": "A wish", "text": text}
    return {"new_order": f"W{1001 + len(rows['orders'])}"}


def for_a_friend(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw what a contact is told of an order."""
    texts = ("Please call me about it.", "You will hear more tomorrow.", "Let us talk about it.")
    return {"subject": "Our order", "text": drawn.choice(texts)}


def promised_then(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the order be promised for the day with no event."""
    desk.row_of(rows, "orders", slots["order_id"])["promised"] = slots["day"]
    return {}


def an_invoice_of_a_payee(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Let the newest invoice be of the payee, and want the amount."""
    partner = diary.partner_of(desk.row_of(rows, "mails", slots["mail_id"]))
    desk.row_of(rows, "payees", slots["payee_id"])["name"] = partner
    _wants(rows, slots, slots["amount"])
    return {"payee": partner}


def no_payee(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let who sent the invoice be no payee yet, and want what a new one may get."""
    desk.row_of(rows, "payees", slots["payee_id"])["name"] = drawn.choice(banking.NEW_PEOPLE)
    new = {**banking.new_payee(rows, slots, drawn), "payee": slots["payee"]}
    _wants(rows, slots, new["amount"])
    return new


def _wants(rows: Rows, slots: Slots, amount: float) -> None:
    letter = desk.row_of(rows, "mails", slots["mail_id"])
    letter["text"] = f"Please pay {amount:.2f} EUR by {desk.ago(-12)}."


# -- Templates.

INSTEAD = "or {spare_words} if you have something else then"


def later(tells: Mapping[str, Any]) -> Twist:
    """Return that the new event is to begin later after all.

    Args:
        tells: What is to be told besides.
    """
    return Twist(
        kind="a change of mind",
        then=["Sorry, {late_words} is better for me, on the same day."],
        gold={
            "more": [
                say("Shall I move event {new_event} to {day}, from {late_start} to {late_end}?"),
                do(
                    "move_event",
                    event_id="{new_event}",
                    day="{day}",
                    start="{late_start}",
                    end="{late_end}",
                ),
                say("It is moved, and begins at {late_start}."),
            ]
        },
        tells={**tells, "start": "{late_start}"},
    )


PROMISED = {"day": "{day}"}
WITH_GUEST = Template(
    name="a_new_event_with_a_guest",
    draw=a_new_event,
    request=[
        "Put {new} at {place} into my calendar, on {when}, {wish}, and invite {contact}.",
        "I have {new} at {place} on {when}, {wish}. Note it, and invite {contact} to it.",
    ],
    asks="Tell me when it begins.",
    goal="Have {new}, at {place}, in the calendar on {when}, {wish}, and {contact} invited to it. "
    "Know when it begins.",
    gold={
        "look": [*FREE, *CONTACTS],
        "contact": [],
        "act": [
            diary.add_event("{new}", "{place}"),
            do("invite_guest", event_id="{new_event}", email="{email}"),
        ],
        "tell": [say("The {new} begins at {start} on {when}, and {contact} is invited.")],
        "more": [],
    },
    tells={**planning.TO, "start": "{start}"},
    twists=[
        Twist(
            kind="a missing value",
            draw=diary.a_stranger,
            facts=diary.EMAIL,
            gold={"contact": [say("Which email address does {contact} have?")]},
        ),
        Twist(
            kind="stale data",
            draw=diary.taken,
            goal="Have {new}, at {place}, in the calendar on {when}, {wish}, "
            f"{INSTEAD}. Have {{contact}} invited to it. Know when it begins.",
            asks=diary.INSTEAD,
            gold={"taken": []},
        ),
        later(planning.TO),
    ],
)
IN_ITS_PLACE = Template(
    name="one_event_in_the_place_of_another",
    draw=two_times,
    request=[
        "Move my {title} to {when}, {wish}, and my {title2} to when the {title} was.",
        "My {title} has to be on {when}, {wish}. Put my {title2} where the {title} was.",
    ],
    asks="Tell me when the {title2} begins then.",
    goal="Have the {title} moved to {when}, {wish}, and the {title2} to the day and time that the "
    "{title} had. Know when the {title2} begins.",
    gold={
        "look": [*EVENTS, *FREE],
        "act": diary.MOVED,
        "second": [
            say(
                "Shall I move event {event2}, the {title2}, to {old_day}, from {old_start} to "
                "{old_end}?"
            ),
            do(
                "move_event",
                event_id="{event2}",
                day="{old_day}",
                start="{old_start}",
                end="{old_end}",
            ),
        ],
        "tell": [say("Both are moved, and the {title2} begins at {old_start}.")],
        "more": [],
    },
    tells={"start": "{old_start}"},
    twists=[
        Twist(
            kind="stale data",
            draw=diary.taken,
            goal="Have the {title} moved to {when}, {wish}, "
            f"{INSTEAD}. Have the {{title2}} moved to the day and time that the {{title}} had, "
            "and know when it begins.",
            asks="If I have something else when the {title} is to be, let that be {spare_words}.",
            gold={"taken": []},
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, I can't come to the {title2} at all. Please cancel it."],
            gold={
                "more": [
                    say("Shall I cancel event {event2}, the {title2}?"),
                    do("cancel_event", event_id="{event2}"),
                    say("The {title2} is cancelled."),
                ]
            },
        ),
    ],
)
THE_SAME_GUESTS = Template(
    name="who_accepted_is_invited",
    draw=who_accepted,
    request=[
        "Invite everybody to my {title2} who has accepted my {title}.",
        "Whoever has accepted my {title} should come to my {title2}, too. Please invite them.",
    ],
    goal="Have everybody who has accepted the {title} invited to the {title2}, and nobody else.",
    gold={
        "look": [
            *EVENTS,
            do("get_event", event_id="{event_id}"),
            do("get_event", event_id="{event2}"),
        ],
        "act": [do("invite_guest", event_id="{event2}", email="{email}")],
        "second": [do("invite_guest", event_id="{event2}", email="{email2}")],
        "tell": [say("Whoever has accepted the {title} is invited to the {title2}.")],
        "more": [],
    },
    twists=[
        Twist(kind="a hidden value", draw=one_declined, gold={"second": []}),
        Twist(
            kind="a further wish",
            then=["Then move the {title2} to {when}, {wish}, please."],
            gold={
                "more": [
                    say("Shall I move event {event2}, the {title2}, to {day}, {wish}?"),
                    do(
                        "move_event", event_id="{event2}", day="{day}", start="{start}", end="{end}"
                    ),
                    say("The {title2} is moved to {when}."),
                ]
            },
        ),
    ],
)
ANSWER = Template(
    name="answer_a_letter",
    draw=a_letter,
    request=[
        "Answer the letter of {contact}, with the subject '{subject}' and the text '{text}' Then "
        "archive what {contact} wrote.",
        "{contact} wrote me. Archive that, and send {contact} an answer with the subject "
        "'{subject}' and the text '{text}'",
    ],
    goal="Have the answer sent to {contact}, word for word, and the letter of {contact} archived.",
    gold={
        "look": [do("list_mails", person_id="{person_id}"), *CONTACTS],
        "contact": [],
        "write": planning.LETTER,
        "act": [do("move_mail", mail_id="{letter_id}", folder="archive")],
        "tell": [say("{contact} has your answer, and the letter is archived.")],
        "more": [],
    },
    tells=planning.TO,
    twists=[
        Twist(
            kind="a missing value",
            draw=of_a_stranger,
            facts=diary.EMAIL,
            gold={
                "contact": [
                    do("add_contact", person_id="{person_id}", name="{contact}", email="{email}")
                ]
            },
        ),
        Twist(
            kind="a further wish",
            then=["Now throw the older one of my two invoices away, please."],
            gold={
                "more": [
                    do("move_mail", mail_id="{old_id}", folder="bin"),
                    say("The older invoice is in the bin."),
                ]
            },
        ),
    ],
)
BY_LETTER = Template(
    name="order_what_a_letter_asks",
    draw=of_one(diary.an_invoice, shopping.pieces, wanted_by_a_friend),
    request=[
        "{contact} wrote me what to order. Order it, paid from the account that paid for my other "
        "orders, and archive the letter.",
        "A letter of {contact} in my inbox asks for something from your shop. Please order that, "
        "and archive the letter. The account that paid for my other orders pays.",
    ],
    asks="What is the price in all?",
    goal="Have ordered what the letter of {contact} asks for, paid from the account that paid for "
    "your other orders, and the letter archived. Know the price in all.",
    gold={
        "look": [
            *INBOX,
            do("read_mail", mail_id="{letter_id}"),
            do("list_orders", person_id="{person_id}"),
            do("search_products", text="{item}"),
        ],
        "act": shopping.BUY,
        "file": [do("move_mail", mail_id="{letter_id}", folder="archive")],
        "tell": [say("It is ordered for {total} EUR, and the letter is archived.")],
        "more": [],
    },
    tells={"total": "{total} EUR"},
    twists=[
        Twist(
            kind="stale data",
            draw=shopping.last_one,
            goal="Have ordered what the letter of {contact} asks for, or as many as there are if "
            "there are too few. The account that paid for your other orders pays. Have the letter "
            "archived, and know the price in all.",
            asks="If there are too few, take as many as there are.",
            gold={"few": []},
        ),
        Twist(
            kind="a change of mind",
            then=["Oh, {contact} has bought it already. Cancel that order, please."],
            gold={
                "more": [
                    say("Shall I cancel order {new_order}, paid from account {account}?"),
                    do("cancel_order", order_id="{new_order}"),
                    say("Order {new_order} is cancelled, and {total} EUR are back."),
                ]
            },
        ),
    ],
)
CANCEL_AND_WRITE = Template(
    name="cancel_and_write",
    draw=of_one(shopping.open_order, diary.an_invoice, for_a_friend),
    request=[
        "Cancel my order with the {item}, and write {contact}, for whom it was, with the subject "
        "'{subject}' and the text '{text}'",
        "I ordered the {item} for {contact}. Cancel that order, and send {contact} a letter with "
        "the subject '{subject}' and the text '{text}'",
    ],
    asks="How much do I get back?",
    goal="Have the order with the {item} cancelled, and the letter sent to {contact}, word for "
    "word. Know how much you get back.",
    gold={
        "look": [*shopping.LOOK, *CONTACTS],
        "act": ORDER_CANCELLED,
        "contact": [],
        "write": planning.LETTER,
        "tell": [
            say("Order {order_id} is cancelled, {paid} EUR are back, and the letter is sent.")
        ],
    },
    tells={"paid back": "{paid} EUR"},
    twists=[
        planning.NEW_CONTACT,
        Twist(
            kind="a forbidden request",
            draw=shopping.packed,
            goal="Have the order with the {item} cancelled; if that cannot be, have a colleague "
            "look into it, and know the ticket number. Have the letter sent to {contact} all the "
            "same, word for word.",
            asks="If it can't be cancelled, have a colleague look into it, tell me the ticket "
            "number, and send the letter all the same.",
            gold={
                "act": HANDED,
                "tell": [
                    say(
                        "Order {order_id} is packed already, so a colleague looks into it with "
                        f"ticket {TICKET}. The letter is sent."
                    )
                ],
            },
            tells={"ticket": TICKET},
        ),
    ],
)
AT_HOME = Template(
    name="at_home_for_a_delivery",
    draw=of_one(shopping.open_order, diary.wished, promised_then),
    request=[
        "Put delivery, at Home, into my calendar on the day for which my order with the {item} is "
        "promised, {wish}.",
        "For which day is my order with the {item} promised? Put delivery into my calendar then, "
        "{wish}. Its place is Home.",
    ],
    asks="Tell me the day, and when it begins.",
    goal="Have delivery, at Home, in the calendar on the day for which the order with the {item} "
    "is promised, {wish}. Know the day, and when it begins.",
    gold={
        "look": [*shopping.LOOK, *FREE],
        "act": [diary.add_event("delivery", "Home")],
        "tell": [say("It is promised for {day}, and delivery is in your calendar at {start}.")],
        "more": [],
    },
    tells={**PROMISED, "start": "{start}"},
    twists=[
        Twist(
            kind="stale data",
            draw=diary.taken,
            goal="Have delivery, at Home, in the calendar on the day for which the order with the "
            f"{{item}} is promised, {{wish}}, {INSTEAD}. Know the day, and when it begins.",
            asks=diary.INSTEAD,
            gold={"taken": []},
        ),
        later(PROMISED),
    ],
)
NOT_AT_HOME = Template(
    name="sent_elsewhere_and_an_event_off",
    draw=of_one(shopping.to_address, diary.an_event),
    request=[
        "I'm away for a while. My order with the {item} must go to another address, and the "
        "{title} has to come off my calendar.",
        "Please take the {title} off my calendar, and let my order with the {item} go to another "
        "address.",
    ],
    goal="Have the order with the {item} sent to {address}. Have the {title} off the calendar: "
    "cancelled, or declined if somebody else organises it.",
    facts={"address": {"value": "{address}", "ask": ["address", "where"]}},
    gold={
        "look": [*shopping.LOOK, *EVENTS],
        "ask": [say("To which address shall the order go?")],
        "act": [do("change_delivery_address", order_id="{order_id}", address="{address}")],
        "off": CANCELLED,
        "tell": [say("Order {order_id} goes there, and the {title} is off your calendar.")],
        "more": [],
    },
    twists=[
        Twist(kind="a hidden value", draw=diary.organised_by_another, gold={"off": DECLINED}),
        Twist(
            kind="stale data",
            draw=shopping.packed,
            goal="Have the order with the {item} sent to {address}; if that cannot be, have a "
            "colleague look into it, and know the ticket number. Have the {title} off the "
            "calendar: cancelled, or declined if somebody else organises it.",
            asks="If the order cannot go there, have a colleague look into it, and tell me the "
            "ticket number.",
            gold={
                "ask": [],
                "act": HANDED,
                "tell": [
                    say(
                        "The {title} is off your calendar. Order {order_id} is packed already, so "
                        f"a colleague looks into it with ticket {TICKET}."
                    )
                ],
                "more": [],
            },
            tells={"ticket": TICKET},
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, I mixed the number up. The order has to go to {address2}."],
            gold={
                "more": [
                    do("change_delivery_address", order_id="{order_id}", address="{address2}"),
                    say("Order {order_id} goes to the other number now."),
                ]
            },
        ),
    ],
)
SHORT = "If the account lacks money, move 100 euros there from my savings first."
PAY_AND_OFF = Template(
    name="pay_and_take_an_event_off",
    draw=of_one(banking.paid_as_wished, diary.an_event),
    request=[
        "Pay {payee} {wish} euros from my current account, and take the {title} off my calendar.",
        "I can't come to the {title}: take it off my calendar. And send {payee} {wish} euros from "
        "my current account.",
    ],
    asks="How much is left on the account then?",
    goal="Have {payee} paid {wish} euros from the current account, and know what is left. Have the "
    "{title} off the calendar: cancelled, or declined if somebody else organises it.",
    gold={
        "look": [*banking.ACCOUNTS, *banking.PAYEES, *EVENTS],
        "fill": [],
        "new": [],
        "act": banking.PAY,
        "off": CANCELLED,
        "tell": [*banking.TOLD_LEFT],
    },
    tells=banking.LEFT,
    twists=[
        Twist(kind="a hidden value", draw=diary.organised_by_another, gold={"off": DECLINED}),
        Twist(
            kind="a missing value",
            draw=banking.new_and_wished,
            facts=banking.IBAN,
            gold={"new": banking.ADDED, "fill": []},
        ),
        Twist(
            kind="too little of it",
            draw=banking.short_of_money,
            goal="Have {payee} paid {wish} euros from the current account; where it lacks money, "
            "move 100 euros from savings before. Know what is left. Have the {title} off the "
            "calendar: cancelled, or declined if somebody else organises it.",
            asks=SHORT,
            gold={"fill": banking.FILL},
        ),
    ],
)
INVOICE = Template(
    name="pay_an_invoice",
    draw=of_one(banking.a_payment, diary.an_invoice, an_invoice_of_a_payee),
    request=[
        "Please pay the newest invoice in my inbox from my current account, and archive it. It is "
        "of {payee}.",
        "{payee} sent the newest invoice that lies in my inbox. Pay it from my current account, "
        "then archive it.",
    ],
    asks="How much is left on the account then?",
    goal="Have the newest invoice of the inbox, which is of {payee}, paid from the current "
    "account, and archived. Know what is left.",
    gold={
        "look": [*INBOX, do("read_mail", mail_id="{mail_id}"), *banking.ACCOUNTS, *banking.PAYEES],
        "fill": [],
        "new": [],
        "act": banking.PAY,
        "file": [do("move_mail", mail_id="{mail_id}", folder="archive")],
        "tell": [*banking.TOLD_LEFT],
    },
    tells=banking.LEFT,
    twists=[
        Twist(
            kind="a missing value",
            draw=no_payee,
            facts=banking.IBAN,
            gold={"new": banking.ADDED, "fill": []},
        ),
        Twist(
            kind="too little of it",
            draw=banking.short_of_money,
            goal="Have the newest invoice of the inbox, which is of {payee}, paid from the current "
            "account, and archived; where the account lacks money, move 100 euros from savings "
            "before. Know what is left.",
            asks=SHORT,
            gold={"fill": banking.FILL},
        ),
    ],
)

GOALS = Goals(
    templates=[
        WITH_GUEST,
        IN_ITS_PLACE,
        THE_SAME_GUESTS,
        ANSWER,
        BY_LETTER,
        CANCEL_AND_WRITE,
        AT_HOME,
        NOT_AT_HOME,
        PAY_AND_OFF,
        INVOICE,
    ],
    records=[desk.namesake],
    ignore=planning.GOALS.ignore,
    cells=planning.GOALS.cells,
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    twists=[planning.BLOCK_ANOTHER, banking.STOP_ANOTHER, desk.NEW_NUMBER],
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of errands are made of."""

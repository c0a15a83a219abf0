"""Goal templates of the phone about contacts and their texts."""

from __future__ import annotations

from random import Random

from seal.benchmarks.toolsandbox.phone import goal_draws as draws
from seal.benchmarks.toolsandbox.phone.goal_draws import (
    CLOCK_TOLD,
    CONFIRM,
    FIND,
    FIND2,
    NAMESAKE,
    NOT_SAVED,
    low_battery,
    moment,
    off,
    people,
    remind,
    text,
    wrote,
)
from seal.environments.templates import Rows, Slots, Template, Twist, do, say

# -- Texts that people wrote.


def a_code(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact who wrote the code of a door."""
    own, code = people(rows, drawn), drawn.randrange(1000, 9999)
    door = drawn.choice(("garage", "cellar", "bike shed", "gym locker"))
    row = wrote(rows, drawn, own["number"], f"The code of the {door} is {code}", 4)
    return {**own, **moment(drawn), "door": door, "code": str(code), "text_id": row["message_id"]}


def a_newer_code(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the contact have written another code since."""
    code = (int(slots["code"]) + drawn.randrange(1, 8000)) % 9000 + 1000
    said = f"They changed it: the code of the {slots['door']} is {code} now"
    wrote(rows, drawn, slots["number"], said, 1)
    return {"code": str(code)}


def a_code_of_a_namesake(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let another contact of the first name have written a code, too; that one is meant."""
    own = draws.a_namesake(rows, slots, drawn)
    code = (int(slots["code"]) + drawn.randrange(1, 8000)) % 9000 + 1000
    wrote(rows, drawn, own["number"], f"The code of the {slots['door']} is {code}", 3)
    return {**own, "code": str(code)}


def no_code(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let nobody have written a code."""
    rows["messages"] = [row for row in rows["messages"] if row["message_id"] != slots["text_id"]]
    return {}


CODE = Template(
    name="a_code_into_a_reminder",
    draw=a_code,
    request=[
        "{who} texted me the code of the {door}. Remind me {when} with 'Code of the {door}:' and "
        "the code.",
        "I need a reminder {when} that says 'Code of the {door}:' and then the code that {who} "
        "texted me.",
    ],
    asks=f"Tell me the code, too. {CONFIRM}",
    goal="Have a reminder set {when} that says 'Code of the {door}:' and the code that {name} "
    "texted you last, and know the code.",
    gold={
        "look": [FIND],
        "who": [],
        "read": [do("search_messages", sender_phone_number="{number}")],
        "act": remind("Code of the {door}: {code}"),
        "tell": [say("The code is {code}, and I will remind you at {clock}.")],
        "more": [],
    },
    tells={"code": {"value": "{code}", "type": "code"}, **CLOCK_TOLD},
    twists=[
        Twist(kind="stale data", draw=a_newer_code),
        Twist(
            kind=NAMESAKE.kind,
            draw=a_code_of_a_namesake,
            facts=NAMESAKE.facts,
            gold=NAMESAKE.gold,
        ),
        Twist(
            kind="a request that cannot be",
            draw=no_code,
            goal="Have a reminder set {when} that says 'Code of the {door}:' and the code that "
            "{name} texted you, or one that says 'Ask {first} for the code' if there is no such "
            "text.",
            asks="If there is no such text, remind me then with 'Ask {first} for the code'.",
            gold={
                "act": remind("Ask {first} for the code"),
                "tell": [
                    say(
                        "There is no text with the code, so at {clock} I will remind you to ask "
                        "{first} for it."
                    )
                ],
            },
            tells=CLOCK_TOLD,
        ),
    ],
)


def to_forward(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact who wrote news, and another who is to read them."""
    own = people(rows, drawn, 2)
    news = drawn.choice(NEWS)
    wrote(rows, drawn, own["number2"], news, 4)
    return {**own, **moment(drawn), "news": news}


def newer_news(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the contact have written other news since."""
    news = drawn.choice([one for one in NEWS if one != slots["news"]])
    wrote(rows, drawn, slots["number2"], news, 1)
    return {"news": news}


NEWS = (
    "Dinner is at the harbour on Saturday",
    "The keys are with the baker",
    "We meet at gate 14",
    "Rehearsal moves to the old school",
    "The boat leaves from pier 3",
)
FORWARD = Template(
    name="forward_a_text",
    draw=to_forward,
    request=[
        "Send {who} the last thing that {who2} texted me, word for word, and text {who2} 'Passed "
        "on'.",
        "{who} should read what {who2} wrote me last. Forward it, word for word, and answer {who2} "
        "with 'Passed on'.",
    ],
    goal="Have {name} texted, word for word, what {name2} last wrote to you, and {name2} texted "
    "'Passed on'. Know the number from which it came.",
    asks="From which number did it come?",
    gold={
        "service": [],
        "look": [FIND, FIND2],
        "who": [],
        "act": [
            do("search_messages", sender_phone_number="{number2}"),
            text("{news}"),
            text("Passed on", "{number2}"),
        ],
        "tell": [say("It came from {number2}; I sent it to {first}.")],
        "more": [],
    },
    tells={"number": {"value": "{number2}", "type": "phone"}},
    twists=[
        off("cellular"),
        low_battery("cellular"),
        NAMESAKE,
        NOT_SAVED,
        Twist(kind="stale data", draw=newer_news),
    ],
)


def a_new_number(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact who wrote from a new number, and one who is to have it."""
    own = people(rows, drawn, 2)
    new = f"+3519{drawn.randrange(10**7, 10**8)}"
    wrote(rows, drawn, new, f"Hi, {own['name']} here. This is my new number", 3)
    return {**own, **moment(drawn), "who": own["name"], "number": new}


def a_newer_number(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the contact have written from yet another number since."""
    new = f"+3519{drawn.randrange(10**7, 10**8)}"
    said = f"{slots['name']} again, that phone is lost. This is my new number"
    wrote(rows, drawn, new, said, 1)
    return {"number": new}


def nobody_yet(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let whoever wrote be no contact."""
    draws.without(rows, slots["person_id"])
    return {}


MOVED = Template(
    name="a_new_number_for_two",
    draw=a_new_number,
    request=[
        "{who} texted me from a new number. Put the newest one into the contact, answer there "
        "with 'Saved', and text {who2} '{first} has a new number' with the number behind it.",
        "There is a text from a new number of {who}. Save that number (the newest), reply 'Saved', "
        "and write {who2}: '{first} has a new number', followed by it.",
    ],
    asks="Which number is it?",
    goal="Have the newest number from which {name} texted you in the contact, 'Saved' sent to it, "
    "and {name2} texted the number. Know it.",
    gold={
        "service": [],
        "look": [do("search_messages", content="new number"), FIND, FIND2],
        "save": [do("modify_contact", person_id="{person_id}", phone_number="{number}")],
        "act": [text("Saved"), text("{first} has a new number {number}", "{number2}")],
        "tell": [say("The number of {first} is {number} now, and I texted {first2}.")],
        "more": [],
    },
    tells={"number": {"value": "{number}", "type": "phone"}},
    twists=[
        off("cellular"),
        low_battery("cellular"),
        Twist(kind="stale data", draw=a_newer_number),
        Twist(
            kind="a missing value",
            draw=nobody_yet,
            asks="If {name} is not in my contacts, add {name} with that number.",
            gold={"save": [do("add_contact", name="{name}", phone_number="{number}")]},
        ),
    ],
)


def a_stranger(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a number that nobody has, and what came from it."""
    used = {row["name"].split()[0] for row in rows["contacts"]}
    first = drawn.choice([name for name in draws.FIRST if name not in used])
    thing, text = drawn.choice(
        (
            ("sofa", "Is the sofa still for sale?"),
            ("piano", "When can I see the piano?"),
            ("scooter", "I would take the scooter"),
        )
    )
    number = f"+3519{drawn.randrange(10**7, 10**8)}"
    wrote(rows, drawn, number, text, 1)
    name = f"{first} {drawn.choice(draws.LAST)}"
    return {**moment(drawn), "first": first, "name": name, "number": number, "thing": thing}


def known_by_another_name(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let a contact without a right name have the number."""
    row = draws.another(rows, slots, drawn)
    row |= {"name": f"Somebody {slots['name'].split()[1]}", "phone_number": slots["number"]}
    row["relationship"] = "buyer"
    return {"person_id": row["person_id"]}


BUYER = Template(
    name="answer_a_stranger",
    draw=a_stranger,
    request=[
        "Somebody texted me about the {thing}. That is {name}: save {first} as a buyer, reply "
        "'Come and see it', and remind me {when} to 'Show the {thing}'.",
        "The text about the {thing} is from {name}. Put {first} into my contacts, with the "
        "relationship buyer, answer 'Come and see it', and set a reminder {when}: 'Show the "
        "{thing}'.",
    ],
    asks=f"From which number was it? {CONFIRM}",
    goal="Have {name} saved as a buyer with the number from which the text about the {thing} came, "
    "'Come and see it' sent there, and a reminder set {when}. Know the number.",
    gold={
        "service": [],
        "look": [
            do("search_messages", content="{thing}"),
            do("search_contacts", phone_number="{number}"),
        ],
        "save": [do("add_contact", name="{name}", phone_number="{number}", relationship="buyer")],
        "act": [text("Come and see it"), *remind("Show the {thing}")],
        "tell": [say("It came from {number}; I will remind you at {clock}.")],
        "more": [],
    },
    tells={"number": {"value": "{number}", "type": "phone"}, **CLOCK_TOLD},
    twists=[
        off("cellular"),
        low_battery("cellular"),
        Twist(
            kind="stale data",
            draw=known_by_another_name,
            asks="If the number is in my contacts already, only correct the name there.",
            gold={"save": [do("modify_contact", person_id="{person_id}", name="{name}")]},
        ),
    ],
)


# -- Contacts.


def two_numbers(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw two contacts whose numbers are mixed up."""
    own = people(rows, drawn, 2)
    return {**own, "number": own["number2"], "number2": own["number"]}


SWAP = Template(
    name="swap_two_numbers",
    draw=two_numbers,
    request=[
        "I mixed up two numbers: {who} has the one of {who2}, and the other way round. Swap them, "
        "then text {who} 'Now it is right'.",
        "The numbers of {who} and {who2} stand at each other's names. Put that right and send "
        "{who} 'Now it is right' at the right number.",
    ],
    asks="Tell me the number that {who} has then.",
    goal="Have the numbers of {name} and {name2} swapped, and {name} texted at the right number. "
    "Know that number.",
    gold={
        "service": [],
        "look": [FIND, FIND2],
        "act": [
            do("modify_contact", person_id="{person_id}", phone_number="{number}"),
            do("modify_contact", person_id="{person_id2}", phone_number="{number2}"),
            text("Now it is right"),
        ],
        "tell": [say("{first} has {number} now, and I texted it.")],
        "more": [],
    },
    tells={"number": {"value": "{number}", "type": "phone"}},
    twists=[
        off("cellular"),
        low_battery("cellular"),
        Twist(
            kind="a further text",
            then=["Then text {who2} the same, please."],
            gold={
                "more": [
                    text("Now it is right", "{number2}"),
                    say("I texted {first2}, too."),
                ]
            },
        ),
    ],
)


def two_colleagues(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw two contacts who are of one relation."""
    own = people(rows, drawn, 2)
    relation = drawn.choice(("colleague", "tenant", "classmate"))
    for person_id in (own["person_id"], own["person_id2"]):
        draws.contact(rows, person_id)["relationship"] = relation
    return {**own, "relation": relation, "thanks": drawn.choice(("Farewell", "All the best"))}


FAREWELL = Template(
    name="farewell_to_two",
    draw=two_colleagues,
    request=[
        "I have two contacts with the relationship {relation}. Text each of them '{thanks}', then "
        "delete both.",
        "Both people who are saved as my {relation} are leaving. Send each one '{thanks}' and "
        "delete their contacts afterwards.",
    ],
    asks="Tell me their names.",
    goal="Have both people who are saved as {relation} texted '{thanks}', and their contacts "
    "deleted. Know their names.",
    gold={
        "service": [],
        "look": [do("search_contacts", relationship="{relation}")],
        "act": [
            text("{thanks}"),
            text("{thanks}", "{number2}"),
            do("remove_contact", person_id="{person_id}"),
            do("remove_contact", person_id="{person_id2}"),
        ],
        "tell": [say("I texted {name} and {name2}, and deleted them.")],
        "more": [],
    },
    tells={
        "one": {"value": "{name}", "type": "name"},
        "other": {"value": "{name2}", "type": "name"},
    },
    twists=[
        off("cellular"),
        low_battery("cellular"),
        Twist(
            kind="a change of mind",
            then=["Oh no, I still need {name2}. Put that contact back as it was, please."],
            gold={
                "more": [
                    do(
                        "add_contact",
                        name="{name2}",
                        phone_number="{number2}",
                        relationship="{relation}",
                    ),
                    say("{name2} is in your contacts again."),
                ]
            },
        ),
    ],
)


def saved_twice(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact who is saved twice, with an old and a new number."""
    own = people(rows, drawn)
    row = draws.contact(rows, own["person_id"])
    old = f"+3519{drawn.randrange(10**7, 10**8)}"
    twin = {**row, "person_id": f"{row['person_id']}b", "phone_number": old}
    rows["contacts"].insert(drawn.randrange(1, 6), twin)
    wrote(rows, drawn, old, "See you there", 20)
    wrote(rows, drawn, own["number"], "Which day suits you?", 2)
    return {
        **own,
        **moment(drawn),
        "old_id": twin["person_id"],
        "old_number": old,
        "becomes": drawn.choice(("best friend", "business partner", "choir friend")),
    }


def wrote_from_the_other(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the newest text have come from the other entry's number."""
    wrote(rows, drawn, slots["old_number"], "Sorry, I only have my old phone", 1)
    return {
        "number": slots["old_number"],
        "person_id": slots["old_id"],
        "old_id": slots["person_id"],
        "old_number": slots["number"],
    }


TWICE = Template(
    name="one_of_two_entries",
    draw=saved_twice,
    request=[
        "{who} stands twice in my contacts. Keep the entry with the number that I got the newest "
        "text from and delete the other. In the one that stays, the relationship is to be "
        "{becomes}.",
        "Tidy up the two entries of {who}: the one from whose number the newest text came stays, "
        "with the relationship {becomes}; the other goes.",
    ],
    asks="Which number is left?",
    goal="Have the entry of {name} deleted from which no text came lately, and the other one, with "
    "the newest text, marked as {becomes}. Know the number that is left.",
    gold={
        "look": [
            FIND,
            do("search_messages", sender_phone_number="{number}"),
            do("search_messages", sender_phone_number="{old_number}"),
        ],
        "act": [
            do("remove_contact", person_id="{old_id}"),
            do("modify_contact", person_id="{person_id}", relationship="{becomes}"),
        ],
        "tell": [say("{number} is left, and {first} is your {becomes} now.")],
        "more": [],
    },
    tells={"number": {"value": "{number}", "type": "phone"}},
    twists=[
        Twist(kind="stale data", draw=wrote_from_the_other),
        Twist(
            kind="a change of mind",
            then=["Rather not {becomes}: make the relationship family, please."],
            gold={
                "more": [
                    do("modify_contact", person_id="{person_id}", relationship="family"),
                    say("The relationship is family now."),
                ]
            },
        ),
    ],
)

TEMPLATES = [CODE, FORWARD, MOVED, BUYER, SWAP, FAREWELL, TWICE]

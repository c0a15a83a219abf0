"""Goal templates of the phone whose plans ask the web: weather, money, shares, places, holidays."""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import Any

from seal.benchmarks.toolsandbox.phone import goal_draws as draws
from seal.benchmarks.toolsandbox.phone.goal_draws import (
    CLOCK_TOLD,
    CONFIRM,
    FIND,
    NAMESAKE,
    NEW_NUMBER,
    NOT_SAVED,
    low_battery,
    moment,
    off,
    people,
    remind,
    text,
)
from seal.environments.templates import Rows, Slots, Template, Twist, do, say

DONE = "I texted {first}, and will remind you at {clock}."

# -- The weather. The shipped answers are of Lisbon and Porto, for today and the next two days.

HIGHS = {"Porto": (15.5, 14.0, 13.5), "here": (18.0, 16.5, 15.0)}
RAIN = {"Porto": (30, 95, 20), "here": (10, 80, 40)}


def weather_in_porto(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a friend who goes to Porto in one or two days, and what to pack."""
    days = drawn.choice((1, 2))
    rain, dry = drawn.choice(
        (("Pack the umbrella", "Pack the sunglasses"), ("Take the boots", "Take the sandals"))
    )
    chance = RAIN["Porto"][days]
    return {
        **people(rows, drawn),
        **moment(drawn, days=days),
        "days": days,
        "day_words": draws.day_words(days),
        "high": f"{HIGHS['Porto'][days]:g}",
        "rain": rain,
        "dry": dry,
        "limit": drawn.choice((40, 50, 60)),
        "chance": chance,
        "note": rain if chance > 60 else dry,
    }


PORTO = Template(
    name="what_to_pack_for_porto",
    draw=weather_in_porto,
    request=[
        "{who} and I go to Porto {day_words}. Text {who} 'Porto gets up to N degrees', with that "
        "day's high in the place of N. If rain is more likely than {limit} percent there, remind "
        "me {when} with '{rain}', else with '{dry}'.",
        "How is the weather in Porto {day_words}? Write {who} 'Porto gets up to N degrees', with "
        "the right number for N, and set me a reminder {when}: '{rain}' if the chance of rain is "
        "above {limit} percent, otherwise '{dry}'.",
    ],
    asks=f"Tell me the chance of rain. {CONFIRM}",
    goal="Have {name} texted how many degrees Porto gets up to {day_words}, in the words that you "
    "gave, and a reminder set {when} that says '{rain}' if rain is more likely than {limit} "
    "percent then, else '{dry}'. Know the chance of rain.",
    gold={
        "service": [],
        "look": [
            do("search_location_around_lat_lon", location="Porto"),
            do(
                "search_weather_around_lat_lon",
                days="{days}",
                latitude=41.1496,
                longitude=-8.611,
            ),
            FIND,
        ],
        "who": [],
        "act": [text("Porto gets up to {high} degrees"), *remind("{note}")],
        "tell": [say("The chance of rain is {chance} percent. " + DONE)],
        "more": [],
    },
    tells={"rain": {"value": "{chance}", "unit": "%"}, **CLOCK_TOLD},
    twists=[
        off("wifi"),
        off("cellular"),
        NAMESAKE,
        NOT_SAVED,
        NEW_NUMBER,
    ],
)


def weather_here(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a friend who wants the high of one of the next days in Fahrenheit."""
    days = drawn.choice((1, 2))
    fahrenheit = HIGHS["here"][days] * 9 / 5 + 32
    return {
        **people(rows, drawn),
        **moment(drawn, days=days),
        "days": days,
        "day_words": draws.day_words(days),
        "celsius": HIGHS["here"][days],
        "celsius_words": f"{HIGHS['here'][days]:g}",
        "high": f"{fahrenheit:.1f}",
        "text": drawn.choice(("Put the coats out", "Air the tent", "Cover the plants")),
    }


FAHRENHEIT = Template(
    name="the_weather_in_fahrenheit",
    draw=weather_here,
    request=[
        "{who} visits me {day_words} and thinks in Fahrenheit. Text {who} 'It gets up to N F "
        "here', with that day's high in the place of N, to one decimal. And remind me {when} of "
        "'{text}'.",
        "Remind me {when} with '{text}', and write {who} 'It gets up to N F here'. N is the high "
        "{day_words} where I am, in Fahrenheit, to one decimal.",
    ],
    asks=f"What is it in Celsius? {CONFIRM}",
    goal="Have {name} texted the high {day_words} where you are, in Fahrenheit, and a reminder set "
    "{when} that says '{text}'. Know the high in Celsius.",
    gold={
        "service": [],
        "look": [
            do("search_weather_around_lat_lon", days="{days}"),
            do("unit_conversion", amount="{celsius}", from_unit="celsius", to_unit="fahrenheit"),
            FIND,
        ],
        "who": [],
        "act": [text("It gets up to {high} F here"), *remind("{text}")],
        "tell": [say("In Celsius it gets up to {celsius_words} degrees. " + DONE)],
        "more": [],
    },
    tells={"high": {"value": "{celsius}", "unit": "celsius"}, **CLOCK_TOLD},
    twists=[
        off("wifi"),
        off("cellular"),
        off("location_service"),
        low_battery("wifi", "cellular", "location_service"),
        NAMESAKE,
        NOT_SAVED,
    ],
)


# -- Places.

HERE = {"latitude": 38.7139, "longitude": -9.1394}
METRES = 693
"""From here to the bakery."""
BAKERY = {
    "place": "Padaria Alecrim",
    "address": "Travessa do Alecrim 7, 1100-020 Lisboa, Portugal",
    "latitude": 38.7181,
    "longitude": -9.1335,
    "place_number": "+351215550133",
}
SEARCHED = do("search_location_around_lat_lon", location="{place}")


def at_the_bakery(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw whom to meet at the bakery, and when."""
    return {
        **people(rows, drawn),
        **moment(drawn),
        **BAKERY,
        "text": drawn.choice(("Breakfast", "Pick up the cake", "Coffee")),
    }


MEET = Template(
    name="meet_at_a_place",
    draw=at_the_bakery,
    request=[
        "I meet {who} at {place} near here. Text {who} 'The address is' and its whole address, and "
        "remind me {when} of '{text}', with the place in the reminder.",
        "Look up {place} near here. {who} gets a text, 'The address is', followed by the whole "
        "address; I get a reminder {when}, '{text}', pinned to the place.",
    ],
    asks=f"Tell me its phone number, too. {CONFIRM}",
    goal="Have {name} texted the address of {place}, and a reminder set {when} that says '{text}' "
    "and has the place. Know its phone number.",
    gold={
        "service": [],
        "look": [SEARCHED, FIND],
        "who": [],
        "act": [
            text("The address is {address}"),
            *remind("{text}")[:-1],
            do(
                "add_reminder",
                content="{text}",
                reminder_timestamp="{at}",
                latitude="{latitude}",
                longitude="{longitude}",
            ),
        ],
        "tell": [say("{place} has the number {place_number}. " + DONE)],
        "more": [],
    },
    tells={"number": {"value": "{place_number}", "type": "phone"}, **CLOCK_TOLD},
    twists=[
        off("wifi"),
        off("location_service"),
        low_battery("wifi", "cellular", "location_service"),
        NAMESAKE,
        NOT_SAVED,
        NEW_NUMBER,
    ],
)


def near_or_far(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw two moments of one day, and a distance that decides which of them it is."""
    first = moment(drawn)
    limit = drawn.choice((400, 500, 800, 900))
    far = limit < METRES
    hour = first["hour"] + (1 if first["hour"] < 20 else -1)
    at = first["at"] + 3600 * (hour - first["hour"])
    other = {**first, "hour": hour, "at": at, "clock": f"{hour:02}:{first['minute']:02}"}
    wanted = other if far else first
    return {
        **people(rows, drawn),
        **wanted,
        **BAKERY,
        "near": first["clock"],
        "far": other["clock"],
        "day_words": first["when"].rpartition(" at ")[0],
        "limit": limit,
        "metres": METRES,
        "text": drawn.choice(("Get the rolls", "Fetch the cake", "Buy the bread")),
    }


NEAR = Template(
    name="sooner_if_it_is_far",
    draw=near_or_far,
    request=[
        "Remind me {day_words} of '{text}': at {far} if {place} is more than {limit} metres from "
        "here as the crow flies, else at {near}. Text {who} 'I fetch everything' as well.",
        "How far is {place} from here, as the crow flies? Set me a reminder {day_words}, "
        "'{text}': at {near} if it is {limit} metres or less, at {far} if it is more. And write "
        "{who} 'I fetch everything'.",
    ],
    asks=f"Tell me the distance in metres. {CONFIRM}",
    goal="Have a reminder set {day_words} that says '{text}', at {far} if {place} is more than "
    "{limit} metres from you, else at {near}, and {name} texted. Know the distance.",
    gold={
        "service": [],
        "look": [
            do("get_current_location"),
            SEARCHED,
            do(
                "calculate_lat_lon_distance",
                latitude_0=HERE["latitude"],
                longitude_0=HERE["longitude"],
                latitude_1="{latitude}",
                longitude_1="{longitude}",
            ),
            FIND,
        ],
        "who": [],
        "act": [*remind("{text}"), text("I fetch everything")],
        "tell": [say("It is {metres} metres, so I will remind you at {clock}; I texted {first}.")],
        "more": [],
    },
    tells={"distance": {"value": "{metres}", "unit": "m"}, **CLOCK_TOLD},
    twists=[
        off("wifi"),
        off("location_service"),
        low_battery("wifi", "cellular", "location_service"),
        NAMESAKE,
        NEW_NUMBER,
    ],
)


# -- Money.


def a_debt(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact who wrote how many pounds are owed."""
    own = people(rows, drawn)
    amount = drawn.choice((160, 240, 320, 480, 560, 640))
    draws.wrote(rows, drawn, own["number"], f"You owe me {amount} pounds for the tickets", 3)
    return {**own, **moment(drawn), "amount": amount, "euros": amount * 1.1875}


def another_amount(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the contact have corrected the amount since."""
    amount = slots["amount"] + drawn.choice((16, 32, 80))
    said = f"Sorry, it was {amount} pounds for the tickets"
    draws.wrote(rows, drawn, slots["number"], said, 1)
    return {"amount": amount, "euros": amount * 1.1875}


DEBT = Template(
    name="repay_in_euros",
    draw=a_debt,
    request=[
        "{who} texted me how many British pounds I owe for the tickets. Text back 'You get N "
        "euros', with the amount in euros for N, and remind me {when} to 'Pay {first} N euros'.",
        "I owe {who} pounds for the tickets; how many, a text says. Work it out in euros, and "
        "write {who} 'You get N euros'. Then remind me {when} with 'Pay {first} N euros'.",
    ],
    asks=f"How many euros is it? {CONFIRM}",
    goal="Have {name} texted how many euros you pay for the tickets, by the newest text of "
    "{first}, and a reminder of it set {when}. Know the amount in euros.",
    gold={
        "service": [],
        "look": [FIND],
        "read": [do("search_messages", sender_phone_number="{number}")],
        "act": [
            do(
                "convert_currency",
                amount="{amount}",
                from_currency_code="GBP",
                to_currency_code="EUR",
            ),
            text("You get {euros} euros"),
            *remind("Pay {first} {euros} euros"),
        ],
        "tell": [say("It is {euros} euros. " + DONE)],
        "more": [],
    },
    tells={"euros": {"value": "{euros}", "unit": "EUR"}, **CLOCK_TOLD},
    twists=[
        off("wifi"),
        off("cellular"),
        low_battery("wifi", "cellular"),
        Twist(kind="stale data", draw=another_amount),
    ],
)

SHARES = {
    "Cobalt Ridge Mining": (112.8, "USD", "CAD", 1.375, "Canadian dollars"),
    "Norvelle Shipping": (36.5, "EUR", "CHF", 0.9375, "Swiss francs"),
    "Pellicano Foods": (18.42, "EUR", "JPY", 160.0, "yen"),
}


def some_shares(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a share, how many there are of it, and the money that is asked for."""
    company, (price, paid_in, wanted_in, rate, money) = drawn.choice(list(SHARES.items()))
    count = drawn.choice((40, 80, 120))
    worth = round(price * count, 2)
    return {
        **people(rows, drawn),
        **moment(drawn),
        "company": company,
        "count": count,
        "price": price,
        "worth": worth,
        "from": paid_in,
        "into": wanted_in,
        "money": money,
        "total": round(worth * rate, 2),
    }


SHARE = Template(
    name="shares_in_other_money",
    draw=some_shares,
    request=[
        "I have {count} shares of {company} for {who}. Text {who} 'They are worth N {money}', with "
        "the right N, and remind me {when} to 'Sell {company}'.",
        "What are {count} shares of {company} worth in {money}? Write {who} 'They are worth N "
        "{money}', and remind me {when}: 'Sell {company}'.",
    ],
    asks=f"And what does one share cost? {CONFIRM}",
    goal="Have {name} texted what {count} shares of {company} are worth in {money}, and a reminder "
    "set {when} that says 'Sell {company}'. Know the price of one share.",
    gold={
        "service": [],
        "look": [
            do("search_stock", query="{company}"),
            do(
                "convert_currency",
                amount="{worth}",
                from_currency_code="{from}",
                to_currency_code="{into}",
            ),
            FIND,
        ],
        "who": [],
        "act": [text("They are worth {total} {money}"), *remind("Sell {company}")],
        "tell": [say("One share costs {price} {from}. " + DONE)],
        "more": [],
    },
    tells={"price": {"value": "{price}", "unit": "{from}"}, **CLOCK_TOLD},
    twists=[
        off("wifi"),
        off("cellular"),
        low_battery("wifi", "cellular"),
        NAMESAKE,
        NOT_SAVED,
        NEW_NUMBER,
    ],
)


# -- Holidays, and where the phone is.

HOLIDAYS = {
    "Thanksgiving": datetime(2025, 11, 27, tzinfo=draws.ZONE),
    "Christmas Day": datetime(2025, 12, 25, tzinfo=draws.ZONE),
}


def before_a_holiday(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a holiday, and a day and hour before it."""
    holiday, begins = drawn.choice(list(HOLIDAYS.items()))
    days, hour = drawn.choice((2, 3, 4, 5)), drawn.choice((8, 9, 10, 18, 19))
    at = begins.timestamp() - 86_400 * days + 3_600 * hour
    day = datetime.fromtimestamp(at, draws.ZONE)
    return {
        **people(rows, drawn),
        "holiday": holiday,
        "begins": begins.timestamp(),
        "weekday": f"{begins:%A}",
        "days": days,
        "back": -days,
        "hour": hour,
        "clock": f"{hour:02}:00",
        "at": at,
        "date": f"{day:%Y-%m-%d}",
        "date_words": f"{day:%A}, {day.day} {day:%B}",
        "text": drawn.choice(("Order the turkey", "Bake the pies", "Wrap the presents")),
    }


HOLIDAY = Template(
    name="before_a_holiday",
    draw=before_a_holiday,
    request=[
        "{who} comes for {holiday}, as they have it in America. Write {who} 'It is a DAY this "
        "year', with the day of the week for DAY, and remind me {days} days before, at {clock}, "
        "of '{text}'.",
        "Remind me at {clock}, {days} days before {holiday} (the American one), of '{text}'. And "
        "text {who} 'It is a DAY this year', where DAY is the weekday of the holiday.",
    ],
    asks="On which date will you remind me?",
    goal="Have {name} texted on which weekday {holiday} is, and a reminder set {days} days before, "
    "at {clock}, that says '{text}'. Know the date of the reminder.",
    gold={
        "service": [],
        "look": [
            do("search_holiday", holiday_name="{holiday}"),
            do("timestamp_to_datetime_info", timestamp="{begins}"),
            FIND,
        ],
        "who": [],
        "act": [
            text("It is a {weekday} this year"),
            do("shift_timestamp", timestamp="{begins}", days="{back}", hours="{hour}"),
            do("add_reminder", content="{text}", reminder_timestamp="{at}"),
        ],
        "tell": [say("I will remind you on {date_words}, and I texted {first}.")],
        "more": [],
    },
    tells={"date": {"value": "{date}", "type": "date"}},
    twists=[
        off("cellular"),
        NAMESAKE,
        NOT_SAVED,
        NEW_NUMBER,
    ],
)

ADDRESS = "Rua da Palmeira Brava 18, 1100-062 Lisboa, Portugal"


def somebody(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact, a moment, and how long somebody waits."""
    return {**people(rows, drawn), **moment(drawn), "address": ADDRESS}


HIDE = Template(
    name="an_address_then_unseen",
    draw=somebody,
    request=[
        "Text {who} 'I wait at' and the whole address where I am. Remind me {when} to 'Leave for "
        "home', and then switch location service off.",
        "{who} has to know where I am: write 'I wait at' and my whole address. After that nothing "
        "may locate me, so switch location service off. And remind me {when}: 'Leave for home'.",
    ],
    asks=f"Tell me the address as well. {CONFIRM}",
    goal="Have {name} texted the address where you are, a reminder set {when} that says 'Leave for "
    "home', and location service off in the end. Know the address.",
    gold={
        "service": [],
        "look": [
            do("get_current_location"),
            do("search_lat_lon", **HERE),
            FIND,
        ],
        "who": [],
        "act": [
            text("I wait at {address}"),
            *remind("Leave for home"),
            do("set_location_service_status", on=False),
        ],
        "tell": [say("You are at {address}, and location service is off. " + DONE)],
        "more": [],
    },
    tells={"address": {"value": "Rua da Palmeira Brava 18", "type": "place"}, **CLOCK_TOLD},
    twists=[off("wifi"), off("cellular"), NAMESAKE, NOT_SAVED, NEW_NUMBER],
)


# -- Lengths.


def a_trail(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact who wrote how many miles a trail is long."""
    own = people(rows, drawn)
    miles = drawn.choice((5.5, 7.5, 8.0, 12.5, 14.0))
    draws.wrote(rows, drawn, own["number"], f"The trail is {miles:g} miles long", 3)
    return {**own, **moment(drawn), **_length(miles)}


def _length(miles: float) -> dict[str, Any]:
    return {"miles": miles, "km": f"{miles * 1.609344:.1f}"}


def another_length(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the contact have corrected the length since."""
    miles = slots["miles"] + drawn.choice((1.5, 2.5))
    said = f"I was wrong, the trail is {miles:g} miles long"
    draws.wrote(rows, drawn, slots["number"], said, 1)
    return _length(miles)


TRAIL = Template(
    name="a_trail_in_kilometres",
    draw=a_trail,
    request=[
        "{who} texted me how many miles the trail is. Answer 'That is N km', to one decimal, and "
        "remind me {when} to 'Walk N km'.",
        "By a text of {who} the trail has so many miles. How many kilometres is that, to one "
        "decimal? Reply 'That is N km', and remind me {when}: 'Walk N km'.",
    ],
    asks=f"Tell me the kilometres. {CONFIRM}",
    goal="Have {name} texted how many kilometres the trail is, by the newest text of {first}, and "
    "a reminder of it set {when}. Know the kilometres.",
    gold={
        "service": [],
        "look": [FIND],
        "read": [
            do("search_messages", sender_phone_number="{number}"),
            do("unit_conversion", amount="{miles}", from_unit="mile", to_unit="kilometer"),
        ],
        "act": [text("That is {km} km"), *remind("Walk {km} km")],
        "tell": [say("The trail is {km} km long. " + DONE)],
        "more": [],
    },
    tells={"length": {"value": "{km} km"}, **CLOCK_TOLD},
    twists=[
        off("cellular"),
        low_battery("cellular"),
        Twist(kind="stale data", draw=another_length),
    ],
)

TEMPLATES = [PORTO, FAHRENHEIT, MEET, NEAR, DEBT, SHARE, HOLIDAY, HIDE, TRAIL]

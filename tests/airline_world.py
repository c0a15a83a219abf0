"""The airline of tau-bench as a world of tables: fourteen tools over users and reservations.

What the tools do follows their descriptions and recorded results. Flights never change, so they
are no table.
"""

from __future__ import annotations

import ast
import gzip
import json
import operator
from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox

NOW = "2024-05-15T15:00:00"
_CABINS = ("basic_economy", "economy", "business")
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def read(folder: Path, name: str) -> Any:
    """Return a packed JSON file of the data."""
    return json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))


def _named(calls: Iterable[Mapping[str, Any]], argument: str) -> list[Any]:
    """Return the values of an argument, each once."""
    return list(dict.fromkeys(call[argument] for call in calls if argument in call))


def airline(folder: Path, calls: Iterable[Mapping[str, Any]]) -> Worlds:
    """Return the world over the data in a folder, with the rows that calls name, and no others."""
    flights: dict[str, Any] = read(folder, "airline_flights")
    users = read(folder, "airline_users")
    reservations = read(folder, "airline_reservations")

    def find(world: World, table: str, key: str, value: str) -> dict[str, Any]:
        found = [row for row in world.table(table) if row[key] == value]
        if not found:
            raise LookupError(f"{table[:-1]} not found")
        return deepcopy(dict(found[0]))

    def put(world: World, table: str, key: str, row: dict[str, Any]) -> None:
        rows = [row if one[key] == row[key] else one for one in world.table(table)]
        world.put(table, rows)

    def fare(flight: dict[str, Any], cabin: str, seats: int) -> dict[str, Any]:
        """Return the flight with route and price, if so many seats are left in the cabin."""
        number, date = flight["flight_number"], flight["date"]
        if number not in flights:
            raise LookupError(f"flight {number} not found")
        day = flights[number]["dates"].get(date)
        if day is None:
            raise LookupError(f"flight {number} not found on date {date}")
        if day["status"] != "available":
            raise LookupError(f"flight {number} not available on date {date}")
        if day["available_seats"][cabin] < seats:
            raise LookupError(f"not enough seats on flight {number}")
        route = {end: flights[number][end] for end in ("origin", "destination")}
        return {**flight, "price": day["prices"][cabin], **route}

    def charge(world: World, user_id: str, payment_id: str, amount: float) -> None:
        """Take an amount from a gift card; a credit card is charged elsewhere."""
        user = find(world, "users", "user_id", user_id)
        if payment_id not in user["payment_methods"]:
            raise LookupError("payment method not found")
        method = user["payment_methods"][payment_id]
        if method["source"] == "certificate":
            raise ValueError("certificate cannot be used to update reservation")
        if method["source"] == "gift_card":
            if method["amount"] < amount:
                raise ValueError("gift card balance is not enough")
            method["amount"] -= amount
            put(world, "users", "user_id", user)

    def book_reservation(
        world: World,
        user_id: str,
        origin: str,
        destination: str,
        flight_type: str,
        cabin: str,
        flights: list,
        passengers: list,
        payment_methods: list,
        total_baggages: int,
        nonfree_baggages: int,
        insurance: str,
    ) -> dict:
        """Book a reservation."""
        user = find(world, "users", "user_id", user_id)
        taken = {row["reservation_id"] for row in world.table("reservations")}
        name = next(name for name in ("HATHAT", "HATHAU", "HATHAV") if name not in taken)
        priced = [fare(flight, cabin, len(passengers)) for flight in flights]
        each = sum(flight["price"] for flight in priced) + 30 * (insurance == "yes")
        price = each * len(passengers) + 50 * nonfree_baggages
        methods = user["payment_methods"]
        for payment in payment_methods:
            method = methods.get(payment["payment_id"])
            if method is None:
                raise LookupError(f"payment method {payment['payment_id']} not found")
            if "amount" in method and method["amount"] < payment["amount"]:
                raise ValueError(f"not enough balance in {payment['payment_id']}")
        paid = sum(payment["amount"] for payment in payment_methods)
        if paid != price:
            raise ValueError(f"total price is {price}, but paid {paid}")
        for payment in payment_methods:
            method = methods.get(payment["payment_id"], {})
            if method.get("source") == "gift_card":
                method["amount"] -= payment["amount"]
            elif method.get("source") == "certificate":
                del methods[payment["payment_id"]]
        user["reservations"].append(name)
        put(world, "users", "user_id", user)
        row = {
            "reservation_id": name,
            "user_id": user_id,
            "origin": origin,
            "destination": destination,
            "flight_type": flight_type,
            "cabin": cabin,
            "flights": priced,
            "passengers": passengers,
            "payment_history": payment_methods,
            "created_at": NOW,
            "total_baggages": total_baggages,
            "nonfree_baggages": nonfree_baggages,
            "insurance": insurance,
        }
        world.add("reservations", row)
        return row

    def update_reservation_flights(
        world: World, reservation_id: str, cabin: str, flights: list, payment_id: str
    ) -> dict:
        """Change the flights of a reservation. The cabin prices them, and is not kept."""
        booked = find(world, "reservations", "reservation_id", reservation_id)
        seats = len(booked["passengers"])
        known = {(f["flight_number"], f["date"]): f for f in booked["flights"]}
        priced = []
        for flight in flights:
            kept = known.get((flight["flight_number"], flight["date"]))
            if kept is not None and cabin == booked["cabin"]:
                part = {name: kept[name] for name in ("price", "origin", "destination")}
                priced.append({**flight, **part})
            else:
                priced.append(fare(flight, cabin, seats))
        more = sum(f["price"] for f in priced) - sum(f["price"] for f in booked["flights"])
        charge(world, booked["user_id"], payment_id, more * seats)
        booked["flights"] = priced
        if more:
            payment = {"payment_id": payment_id, "amount": more * seats}
            booked["payment_history"].append(payment)
        put(world, "reservations", "reservation_id", booked)
        return booked

    def update_reservation_baggages(
        world: World,
        reservation_id: str,
        total_baggages: int,
        nonfree_baggages: int,
        payment_id: str,
    ) -> dict:
        """Change the baggage of a reservation."""
        booked = find(world, "reservations", "reservation_id", reservation_id)
        price = 50 * max(0, nonfree_baggages - booked["nonfree_baggages"])
        charge(world, booked["user_id"], payment_id, price)
        booked |= {"total_baggages": total_baggages, "nonfree_baggages": nonfree_baggages}
        if price:
            booked["payment_history"].append({"payment_id": payment_id, "amount": price})
        put(world, "reservations", "reservation_id", booked)
        return booked

    def update_reservation_passengers(world: World, reservation_id: str, passengers: list) -> dict:
        """Change who travels; as many as before."""
        booked = find(world, "reservations", "reservation_id", reservation_id)
        if len(passengers) != len(booked["passengers"]):
            raise ValueError("number of passengers does not match")
        booked["passengers"] = passengers
        put(world, "reservations", "reservation_id", booked)
        return booked

    def cancel_reservation(world: World, reservation_id: str) -> dict:
        """Cancel a whole reservation, and pay everything back."""
        booked = find(world, "reservations", "reservation_id", reservation_id)
        booked["payment_history"] += [
            {"payment_id": paid["payment_id"], "amount": -paid["amount"]}
            for paid in booked["payment_history"]
        ]
        booked["status"] = "cancelled"
        put(world, "reservations", "reservation_id", booked)
        return booked

    def send_certificate(world: World, user_id: str, amount: float) -> str:
        """Send a certificate to a user."""
        user = find(world, "users", "user_id", user_id)
        names = (f"certificate_{number}" for number in (3221322, 3221323, 3221324))
        name = next((n for n in names if n not in user["payment_methods"]), None)
        if name is None:
            return "None"
        certificate = {"source": "certificate", "amount": amount, "id": name}
        user["payment_methods"][name] = certificate
        put(world, "users", "user_id", user)
        return f"Certificate {name} added to user {user_id} with amount {amount}."

    def on(number: str, date: str) -> dict[str, Any] | None:
        day = flights[number]["dates"].get(date, {})
        if day.get("status") != "available":
            return None
        plan = {name: value for name, value in flights[number].items() if name != "dates"}
        return {**plan, **day}

    def search_direct_flight(world: World, origin: str, destination: str, date: str) -> list:
        """Search direct flights on a date."""
        return [
            day
            for number, flight in flights.items()
            if (flight["origin"], flight["destination"]) == (origin, destination)
            and (day := on(number, date)) is not None
        ]

    def search_onestop_flight(world: World, origin: str, destination: str, date: str) -> list:
        """Search flights with one stop on a date."""
        found = []
        for first, one in flights.items():
            for second, two in flights.items():
                arrives = one["scheduled_arrival_time_est"]
                if (
                    one["origin"] != origin
                    or two["destination"] != destination
                    or one["destination"] != two["origin"]
                    or arrives > two["scheduled_departure_time_est"]
                ):
                    continue
                later = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrives else date
                legs = on(first, date), on(second, later)
                if all(legs):
                    found.append(
                        [
                            {**(leg or {}), "date": day}
                            for leg, day in zip(legs, (date, later), strict=True)
                        ]
                    )
        return found

    def get_user_details(world: World, user_id: str) -> dict:
        """Get the details of a user."""
        return find(world, "users", "user_id", user_id)

    def get_reservation_details(world: World, reservation_id: str) -> dict:
        """Get the details of a reservation."""
        return find(world, "reservations", "reservation_id", reservation_id)

    def list_all_airports(world: World) -> list:
        """List all airports."""
        return sorted({flight["origin"] for flight in flights.values()})

    def calculate(world: World, expression: str) -> float:
        """Calculate the value of an expression of numbers."""

        def value(node: ast.expr) -> float:
            if isinstance(node, ast.BinOp):
                return _OPERATORS[type(node.op)](value(node.left), value(node.right))
            if isinstance(node, ast.UnaryOp):
                return _OPERATORS[type(node.op)](value(node.operand))
            assert isinstance(node, ast.Constant)
            return float(node.value)

        return round(value(ast.parse(expression, mode="eval").body), 2)

    def think(world: World, thought: str) -> str:
        """Think about something."""
        return ""

    def transfer_to_human_agents(world: World, summary: str) -> str:
        """Hand the user over to a human."""
        return "Transfer successful"

    tools = (
        book_reservation,
        update_reservation_flights,
        update_reservation_baggages,
        update_reservation_passengers,
        cancel_reservation,
        send_certificate,
        search_direct_flight,
        search_onestop_flight,
        get_user_details,
        get_reservation_details,
        list_all_airports,
        calculate,
        think,
        transfer_to_human_agents,
    )
    named = [call["arguments"] for call in calls]
    booked = [reservations[n] for n in _named(named, "reservation_id") if n in reservations]
    travelling = {*_named(named, "user_id"), *(row["user_id"] for row in booked)}
    tables = {
        "users": [{"user_id": name, **users[name]} for name in sorted(travelling)],
        "reservations": booked,
    }
    columns: dict[str, dict[str, Any]] = {"users": {}, "reservations": {}}
    return Worlds(name="airline", tools=toolbox("airline", tools), tables=tables, columns=columns)

"""A depot as a user would bring it: a world in which orders of calls and ids matter."""

import seal
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox


def find_parcel(depot: World, customer: str = "", parcel_id: str = "") -> list:
    """Find the parcels of a customer."""
    rows = depot.rows("parcels")
    return [row for row in rows if customer in row["customer"] and parcel_id in row["id"]]


def open_gate(depot: World) -> str:
    """Open the gate of the depot."""
    depot.put("gate", [{"open": True}])
    return "open"


def ship(depot: World, parcel_id: str, express: bool = False) -> dict:
    """Ship a parcel, through the open gate."""
    if not depot.rows("gate")[0]["open"]:
        raise ValueError("the gate is closed")
    if not any(row["id"] == parcel_id for row in depot.rows("parcels")):
        raise ValueError("no such parcel")
    depot.add("shipments", {"id": depot.new_id(), "parcel": parcel_id, "express": express})
    return {"price": 12.5}


def label(depot: World, parcel_id: str, text: str) -> str:
    """Put a label on a parcel."""
    rows = depot.rows("parcels")
    depot.put(
        "parcels", [{**one, "label": text} if one["id"] == parcel_id else one for one in rows]
    )
    return "labelled"


TOOLS = (find_parcel, open_gate, ship, label)
PARCELS = [
    {"id": "P-17", "customer": "Ada Lund", "label": ""},
    {"id": "P-18", "customer": "Ben Okoro", "label": ""},
]


def depot(*tools, name: str = "depot") -> Worlds:
    """Return the depot with more tools."""
    return Worlds(
        name=name,
        tools=toolbox(name, [*TOOLS, *tools]),
        tables={"parcels": PARCELS, "gate": [{"open": False}], "shipments": []},
        columns={"shipments": {"id": str, "parcel": str, "express": bool}},
    )


OPENED = seal.called("open_gate")
EXPRESS = seal.called("ship", parcel_id="P-17", express=True)
SHIPPED = seal.ask(
    "Ship Ada Lund's parcel by express. What does it cost?",
    seal.ends_as(OPENED, EXPRESS, ignore=["shipments.id"]),
    tells={"value": 12.5},
    id="shipped",
)
LABELLED = seal.ask(
    "Label P-18 'Fragile glass'.",
    seal.ends_as(seal.called("label", parcel_id="P-18", text="Fragile glass")),
    id="labelled",
)
REFUSED = seal.ask(
    "Ship P-99.",
    seal.ends_as(OPENED, seal.refused(seal.called("ship", parcel_id="P-99"))),
    id="refused",
)
IN_ORDER = seal.ask(
    "Open the gate, then ship P-18.",
    OPENED,
    seal.called("ship", parcel_id="P-18"),
    in_order=True,
    id="in_order",
)
FOUND = seal.ask(
    "Is P-17 there?", seal.called("find_parcel", parcel_id="P-17"), answer="P-17", id="found"
)
OPEN = seal.ask("Ship something.", seal.called("ship", seal.ANY), id="open")


def bench(*tasks: seal.Task, world: Worlds | None = None) -> seal.Benchmark:
    """Return a benchmark of the depot."""
    world = world or depot()
    return seal.Benchmark(world.name, environment=world, tasks=list(tasks))


DEPOT = bench(SHIPPED, LABELLED, REFUSED, IN_ORDER, FOUND, OPEN)

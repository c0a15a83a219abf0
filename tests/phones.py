"""A small phone to call tools of, and a world of one's own."""

from dataclasses import dataclass
from typing import Any

import pytest

from seal.benchmarks.toolsandbox.phone import TOOL_IDS
from seal.benchmarks.toolsandbox.phone.world import phone
from seal.core import Task, ToolCall, ToolResult, Unrecorded
from seal.environments.chat_world import World
from seal.environments.function_tools import effects
from seal.environments.world import Worlds, WorldSetup, toolbox

START = 1_741_789_800.0
"""2025-03-12T14:30:00Z."""

OWNER = {
    "person_id": "p0",
    "name": "Ada Lind",
    "phone_number": "+4670000001",
    "relationship": None,
    "is_self": True,
}
FRIEND = {
    "person_id": "p1",
    "name": "Bo Ek",
    "phone_number": "+4670000002",
    "relationship": "friend",
    "is_self": False,
}
REMINDER = {
    "reminder_id": "r0",
    "content": "water the plants",
    "creation_timestamp": START - 100.0,
    "reminder_timestamp": START + 100.0,
    "latitude": None,
    "longitude": None,
}
SETTINGS = {
    "device_id": "d",
    "cellular": True,
    "wifi": True,
    "location_service": True,
    "low_battery_mode": False,
    "latitude": 41.9028,
    "longitude": 12.4964,
}


def task(**changes: Any) -> Task:
    """Return a task of a phone with two contacts and a reminder; settings may be changed."""
    clock = changes.pop("clock", {"start": START})
    tables = {
        "settings": [{**SETTINGS, **changes.pop("settings", {})}],
        "contacts": [OWNER, FRIEND],
        "messages": [],
        "reminders": [REMINDER],
    }
    metadata = {"clock": clock}
    name = changes.pop("id", "t")
    return Task(
        name, "b", (), initial_state={**tables, **changes}, metadata=metadata, world="phone"
    )


def called(name: str, number: int = 0, /, **arguments: Any) -> ToolCall:
    return ToolCall(f"call_{number}", name, arguments, tool=TOOL_IDS.get(name))


@dataclass
class Phone:
    """A phone of which tools are called by name."""

    world: Any

    def __call__(self, name: str, /, **arguments: Any) -> ToolResult:
        (result,) = self.world.call([called(name, **arguments)])
        return result

    def value(self, name: str, /, **arguments: Any) -> Any:
        result = self(name, **arguments)
        assert result.error is None, result.error
        return result.value

    def kind(self, name: str, /, **arguments: Any) -> str:
        """Return the class of the failure, and make sure that it changed nothing."""
        before = self.tables
        result = self(name, **arguments)
        assert result.error is not None, result.value
        assert self.tables == before
        return result.error["kind"]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        return self.world.states()[-1]


def new_phone(
    options: dict[str, Any] | None = None,
    seed: int = 0,
    unrecorded: Unrecorded = "error",
    **changes: Any,
) -> Phone:
    setup = WorldSetup(seed=seed, options=options or {}, unrecorded=unrecorded)
    return Phone(phone(setup).open(task(**changes), 0))


def needs(*libraries: str) -> None:
    """Skip the tests of a module where a library of the extra `worlds` is absent."""
    for library in libraries:
        pytest.importorskip(library, reason=f"{library} comes with the extra worlds")


class Lamp(World):
    """One lamp, as somebody else would write it."""

    @property
    def on(self) -> bool:
        return bool(self.rows("lamps")[0]["on"])


def switch(lamp: Lamp, on: bool) -> str:
    """Switch the lamp.

    Args:
        on: True turns it on.
    """
    if lamp.on == on:
        raise ValueError("it is so already")
    lamp.put("lamps", [{"on": on}])
    return "done"


@effects(checks=("lamp",))
def read(lamp: Lamp, pages: int = 1) -> int:
    """Read a book by the lamp.

    Args:
        pages: How many.

    Returns:
        The pages read.
    """
    if not lamp.on:
        raise PermissionError("it is dark")
    return pages


lamps = Worlds(
    name="lamps",
    tools=toolbox("lamps", [switch, read]),
    tables={"lamps": [{"on": False}]},
    make=Lamp,
)

"""What the tools' texts say of each other's state: nothing, or all of it.

ToolSandbox leaves out what a tool depends on, so that an agent must find out by trying, or by
asking. The docstrings of the tools are as plain (`-T descriptions=plain`). `telling` adds which
service must be on, and what turning one on or off brings, where the plain text is left as it is.
Scrambled tools keep what they have lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from seal.core import OptionError, Tool, UsageError

OPTION = "descriptions"
Descriptions = Literal["plain", "telling"]

_WIFI = "It needs wifi."
_POINT = "For that, location service must be on."
_BATTERY = "It cannot be turned on in low battery mode."
TOLD: Mapping[str, str] = {
    "Find the address at a latitude and longitude.": _WIFI,
    "Search for places by name or kind around a point.": _WIFI,
    "Get the weather around a point, now or on a day to come.": _WIFI,
    "Look up a stock.": _WIFI,
    "Convert an amount of money to another currency.": _WIFI,
    "Find the date of a holiday in the United States.": _WIFI,
    "Latitude in degrees of the point; that of the phone if it is left out.": _POINT,
    "Longitude in degrees of the point; that of the phone if it is left out.": _POINT,
    "Send a text message to a phone number.": "It needs cellular service.",
    "Get the current location of the phone.": "It needs location service.",
    "Turn wifi on or off.": _BATTERY,
    "Turn cellular service on or off.": _BATTERY,
    "Turn location service on or off.": _BATTERY,
    "Turn low battery mode on or off.": (
        "Turning it on turns off cellular service, wifi and location service."
    ),
}
"""Plain text of a tool or an argument to the sentence that `telling` adds."""


def documents(settings: Any) -> Callable[[Tool], Tool] | None:
    """Return what gives tools the texts that a run asks for; None: they have them.

    Args:
        settings: Of the run (`seal.runs.settings.RunSettings`).
    """
    return _telling if settings.world_options.get(OPTION) == "telling" else None


def check_descriptions(way: Any, tools: Mapping[str, Tool]) -> Descriptions:
    """Return which texts tools have; None: the plain ones.

    Args:
        way: Value of the option.
        tools: The pool, with the texts that the run asks for.

    Raises:
        OptionError: There are no such texts.
        UsageError: The pool's tools have not the texts that could tell more.
    """
    way = "plain" if way is None else way
    if way not in get_args(Descriptions):
        raise OptionError(
            f"-T {OPTION}={way!r}: expected one of {', '.join(get_args(Descriptions))}"
        )
    endings = tuple(TOLD.values())
    if way == "telling" and not any(tool.description.endswith(endings) for tool in tools.values()):
        raise UsageError(
            f"-T {OPTION}=telling: no tool of this pool has a text that could tell more; play "
            "toolsandbox or toolsandbox-sample, or import the pool again"
        )
    found: Descriptions = way
    return found


def _telling(tool: Tool) -> Tool:
    properties = tool.parameters.get("properties", {})
    told = {name: _told_of(schema) for name, schema in properties.items()}
    parameters = {**tool.parameters, "properties": told} if properties else tool.parameters
    return replace(tool, description=_told(tool.description), parameters=parameters)


def _told_of(schema: Any) -> Any:
    if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
        return {**schema, "description": _told(schema["description"])}
    return schema


def _told(text: str) -> str:
    return f"{text} {TOLD[text]}" if text in TOLD else text

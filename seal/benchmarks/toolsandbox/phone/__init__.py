"""A phone: its settings, contacts, messages and reminders, and 34 tools.

Source: ToolSandbox (Lu et al., 2024), whose tools and rules these are; the code and every text
are ours.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from seal.benchmarks.toolsandbox.phone import apps, information
from seal.core import Tool
from seal.environments.function_tools import WorldTool
from seal.environments.world import toolbox

_FUNCTIONS = (
    ("contact", apps.add_contact),
    ("contact", apps.modify_contact),
    ("contact", apps.remove_contact),
    ("contact", apps.search_contacts),
    ("setting", apps.get_cellular_service_status),
    ("messaging", apps.search_messages),
    ("messaging", apps.send_message_with_phone_number),
    ("rapid_api_search_tools", information.convert_currency),
    ("setting", apps.get_current_location),
    ("setting", apps.get_location_service_status),
    ("setting", apps.get_wifi_status),
    ("rapid_api_search_tools", information.search_lat_lon),
    ("rapid_api_search_tools", information.search_location_around_lat_lon),
    ("rapid_api_search_tools", information.search_stock),
    ("rapid_api_search_tools", information.search_weather_around_lat_lon),
    ("reminder", apps.add_reminder),
    ("reminder", apps.modify_reminder),
    ("reminder", apps.remove_reminder),
    ("reminder", apps.search_reminder),
    ("setting", apps.get_low_battery_mode_status),
    ("setting", apps.set_cellular_service_status),
    ("setting", apps.set_location_service_status),
    ("setting", apps.set_low_battery_mode_status),
    ("setting", apps.set_wifi_status),
    ("user", apps.end_conversation),
    ("utilities", information.calculate_lat_lon_distance),
    ("utilities", information.datetime_info_to_timestamp),
    ("utilities", information.get_current_timestamp),
    ("utilities", information.search_holiday),
    ("utilities", information.seconds_to_hours_minutes_seconds),
    ("utilities", information.shift_timestamp),
    ("utilities", information.timestamp_diff),
    ("utilities", information.timestamp_to_datetime_info),
    ("utilities", information.unit_conversion),
)
"""Each with its group, in ToolSandbox's order, in which it offers and ranks them."""

TOOLS: Mapping[str, WorldTool] = MappingProxyType(
    {
        tool_id: replace(tool, strict=True)
        for group, function in _FUNCTIONS
        for tool_id, tool in toolbox(f"phone/{group}", [function]).items()
    }
)
"""Tools by id, `phone/group/function`."""

TOOL_IDS: Mapping[str, str] = MappingProxyType(
    {tool.document.name: tool_id for tool_id, tool in TOOLS.items()}
)
"""Name of a function to the id of its tool."""

VOLATILE = (
    "contacts.person_id",
    "messages.message_id",
    "messages.sender_person_id",
    "messages.recipient_person_id",
    "messages.creation_timestamp",
    "reminders.reminder_id",
    "reminders.creation_timestamp",
)
"""New ids, what refers to them, and the time of a call: what `seal.ends_as` does best to ignore."""


def tools() -> tuple[Tool, ...]:
    """Return the tools' documents, in ToolSandbox's order; `end_conversation` is the user's."""
    return tuple(tool.document for tool in TOOLS.values())


__all__ = ["TOOLS", "TOOL_IDS", "VOLATILE", "tools"]

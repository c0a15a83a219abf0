"""A phone: its settings, contacts, messages and reminders, and 34 tools.

Source: ToolSandbox (Lu et al., 2024), whose tools and rules these are; the code and every text
are ours.
"""

from collections.abc import Mapping
from types import MappingProxyType

from seal.benchmarks.toolsandbox.phone import (
    contact,
    messaging,
    rapid_api_search_tools,
    reminder,
    setting,
    user,
    utilities,
)
from seal.core import Tool
from seal.environments.function_tools import WorldTool
from seal.environments.world import toolbox

_FUNCTIONS = (
    ("contact", contact.add_contact),
    ("contact", contact.modify_contact),
    ("contact", contact.remove_contact),
    ("contact", contact.search_contacts),
    ("setting", setting.get_cellular_service_status),
    ("messaging", messaging.search_messages),
    ("messaging", messaging.send_message_with_phone_number),
    ("rapid_api_search_tools", rapid_api_search_tools.convert_currency),
    ("setting", setting.get_current_location),
    ("setting", setting.get_location_service_status),
    ("setting", setting.get_wifi_status),
    ("rapid_api_search_tools", rapid_api_search_tools.search_lat_lon),
    ("rapid_api_search_tools", rapid_api_search_tools.search_location_around_lat_lon),
    ("rapid_api_search_tools", rapid_api_search_tools.search_stock),
    ("rapid_api_search_tools", rapid_api_search_tools.search_weather_around_lat_lon),
    ("reminder", reminder.add_reminder),
    ("reminder", reminder.modify_reminder),
    ("reminder", reminder.remove_reminder),
    ("reminder", reminder.search_reminder),
    ("setting", setting.get_low_battery_mode_status),
    ("setting", setting.set_cellular_service_status),
    ("setting", setting.set_location_service_status),
    ("setting", setting.set_low_battery_mode_status),
    ("setting", setting.set_wifi_status),
    ("user", user.end_conversation),
    ("utilities", utilities.calculate_lat_lon_distance),
    ("utilities", utilities.datetime_info_to_timestamp),
    ("utilities", utilities.get_current_timestamp),
    ("utilities", utilities.search_holiday),
    ("utilities", utilities.seconds_to_hours_minutes_seconds),
    ("utilities", utilities.shift_timestamp),
    ("utilities", utilities.timestamp_diff),
    ("utilities", utilities.timestamp_to_datetime_info),
    ("utilities", utilities.unit_conversion),
)
"""Each with its group, in ToolSandbox's order, in which it offers and ranks them."""

TOOLS: Mapping[str, WorldTool] = MappingProxyType(
    {
        tool_id: tool
        for group, function in _FUNCTIONS
        for tool_id, tool in toolbox(f"phone/{group}", [function]).items()
    }
)
"""Tools by id, `phone/group/function`."""

TOOL_IDS: Mapping[str, str] = MappingProxyType(
    {tool.document.name: tool_id for tool_id, tool in TOOLS.items()}
)
"""Name of a function to the id of its tool."""


def tools() -> tuple[Tool, ...]:
    """Return the tools' documents, in ToolSandbox's order; `end_conversation` is the user's."""
    return tuple(tool.document for tool in TOOLS.values())


__all__ = ["TOOLS", "TOOL_IDS", "tools"]

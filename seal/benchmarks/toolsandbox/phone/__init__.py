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
    contact.add_contact,
    contact.modify_contact,
    contact.remove_contact,
    contact.search_contacts,
    setting.get_cellular_service_status,
    messaging.search_messages,
    messaging.send_message_with_phone_number,
    rapid_api_search_tools.convert_currency,
    setting.get_current_location,
    setting.get_location_service_status,
    setting.get_wifi_status,
    rapid_api_search_tools.search_lat_lon,
    rapid_api_search_tools.search_location_around_lat_lon,
    rapid_api_search_tools.search_stock,
    rapid_api_search_tools.search_weather_around_lat_lon,
    reminder.add_reminder,
    reminder.modify_reminder,
    reminder.remove_reminder,
    reminder.search_reminder,
    setting.get_low_battery_mode_status,
    setting.set_cellular_service_status,
    setting.set_location_service_status,
    setting.set_low_battery_mode_status,
    setting.set_wifi_status,
    user.end_conversation,
    utilities.calculate_lat_lon_distance,
    utilities.datetime_info_to_timestamp,
    utilities.get_current_timestamp,
    utilities.search_holiday,
    utilities.seconds_to_hours_minutes_seconds,
    utilities.shift_timestamp,
    utilities.timestamp_diff,
    utilities.timestamp_to_datetime_info,
    utilities.unit_conversion,
)
"""In ToolSandbox's order, in which it offers and ranks them."""

TOOLS: Mapping[str, WorldTool] = MappingProxyType(
    {
        tool_id: tool
        for function in _FUNCTIONS
        for tool_id, tool in toolbox(
            f"phone/{function.__module__.rpartition('.')[2]}", [function]
        ).items()
    }
)
"""Tools by id, `phone/module/function`."""

TOOL_IDS: Mapping[str, str] = MappingProxyType(
    {tool.document.name: tool_id for tool_id, tool in TOOLS.items()}
)
"""Name of a function to the id of its tool."""


def tools() -> tuple[Tool, ...]:
    """Return the tools' documents, in ToolSandbox's order; `end_conversation` is the user's."""
    return tuple(tool.document for tool in TOOLS.values())


__all__ = ["TOOLS", "TOOL_IDS", "tools"]

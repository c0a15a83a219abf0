"""A phone: its settings, contacts, messages and reminders, and 34 tools.

Source: ToolSandbox (Lu et al., 2024), whose tools and rules these are; the code and every text
are ours.
"""

_MODULES = {
    "contact": "add_contact modify_contact remove_contact search_contacts",
    "messaging": "search_messages send_message_with_phone_number",
    "rapid_api_search_tools": (
        "convert_currency search_lat_lon search_location_around_lat_lon search_stock "
        "search_weather_around_lat_lon"
    ),
    "reminder": "add_reminder modify_reminder remove_reminder search_reminder",
    "setting": (
        "get_cellular_service_status get_current_location get_location_service_status "
        "get_low_battery_mode_status get_wifi_status set_cellular_service_status "
        "set_location_service_status set_low_battery_mode_status set_wifi_status"
    ),
    "user": "end_conversation",
    "utilities": (
        "calculate_lat_lon_distance datetime_info_to_timestamp get_current_timestamp "
        "search_holiday seconds_to_hours_minutes_seconds shift_timestamp timestamp_diff "
        "timestamp_to_datetime_info unit_conversion"
    ),
}

TOOL_IDS = {
    name: f"phone/{module}/{name}" for module, names in _MODULES.items() for name in names.split()
}
"""Name of a function to the id of its tool."""

__all__ = ["TOOL_IDS"]

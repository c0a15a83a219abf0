"""What the texts of the phone's tools tell of its state: nothing."""

import re
from typing import Any

import seal
from seal.benchmarks.toolsandbox.phone import TOOLS

SERVICES = re.compile(r"wifi|cellular|location service|battery", re.IGNORECASE)


def texts(tools: list[dict[str, Any]]) -> dict[str, str]:
    """Return the texts of all tools and arguments by where they stand."""
    return {
        f"{tool['name']}.{name}": part.get("description", "")
        for tool in tools
        for name, part in {"": tool, **tool["parameters"].get("properties", {})}.items()
    }


def test_plain_texts_name_a_service_only_where_a_tool_is_about_it() -> None:
    documents = [tool.document for tool in TOOLS.values()]
    told = texts([{**vars_of(each), "parameters": each.parameters} for each in documents])
    naming = {place for place, text in told.items() if SERVICES.search(text)}
    assert {place.partition(".")[0] for place in naming} == {
        f"{verb}_{what}_status"
        for verb in ("get", "set")
        for what in ("wifi", "cellular_service", "location_service", "low_battery_mode")
    }
    assert not any("need" in told[place] or "cannot" in told[place] for place in naming)


def vars_of(document: seal.Tool) -> dict[str, Any]:
    return {"name": document.name, "description": document.description}

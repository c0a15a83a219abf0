"""What the texts of the phone's tools tell of its state: nothing, unless a run asks for it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.benchmarks.toolsandbox.phone import TOOLS
from seal.benchmarks.toolsandbox.phone.world import TOLD, phone
from seal.core import OptionError, UsageError
from seal.environments.world import WorldSetup

SERVICES = re.compile(r"wifi|cellular|location service|battery", re.IGNORECASE)
PLAYED: dict[str, Any] = {"model": "lexical", "limit": 1, "baselines": False}


def texts(tools: list[dict[str, Any]]) -> dict[str, str]:
    """Return the texts of all tools and arguments by where they stand."""
    return {
        f"{tool['name']}.{name}": part.get("description", "")
        for tool in tools
        for name, part in {"": tool, **tool["parameters"].get("properties", {})}.items()
    }


def shown(run: seal.Run) -> dict[str, str]:
    lines = (run.folder.path / "tools.jsonl").read_text().splitlines()
    return texts([json.loads(line) for line in lines])


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


def test_telling_texts_add_what_twelve_tools_and_their_points_depend_on(tmp_path: Path) -> None:
    runs = {
        way: seal.run(
            "toolsandbox-sample", out=tmp_path / way, world_options={"descriptions": way}, **PLAYED
        )
        for way in ("plain", "telling")
    }
    plain, telling = map(shown, runs.values())
    added = {place for place in plain if plain[place] != telling[place]}
    assert len([place for place in added if place.endswith(".")]) == 12
    assert {place.partition(".")[2] for place in added} == {"", "latitude", "longitude"}
    assert all(telling[place] == f"{plain[place]} {TOLD[plain[place]]}" for place in added)
    worlds = [run.folder.manifest()["measure"]["simulator"]["worlds"] for run in runs.values()]
    assert [world["phone"]["descriptions"] for world in worlds] == ["plain", "telling"]


def test_texts_that_there_are_not_are_refused() -> None:
    with pytest.raises(OptionError, match="descriptions='long': expected one of plain, telling"):
        seal.run("toolsandbox-sample", world_options={"descriptions": "long"}, **PLAYED)
    with pytest.raises(UsageError, match="no tool of this pool has a text that could tell more"):
        phone(WorldSetup(options={"descriptions": "telling"}))


def test_the_ablation_of_texts_plays_both(tmp_path: Path) -> None:
    found = seal.ablate(
        "descriptions", "toolsandbox-sample", model="lexical", limit=2, out=tmp_path / "d"
    )
    assert sorted(found.runs) == ["plain", "telling"]
    assert found["similarity"].n == 2

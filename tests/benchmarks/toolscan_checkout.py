"""A repository in the form of ToolScan's: API lists as Python files."""

import pprint
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS = {"string": "str", "integer": "int", "number": "float", "array": "list"}
TYPE = re.compile(r"'type': '(str|int|float|list)'")


def write_checkout(folder: Path, entries: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write the API lists of entries in the neutral format; return the repository's folder."""
    lists: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for entry in entries or ENTRIES:
        toolset, apis = entry["tool"], lists[entry["source"]]
        if toolset not in (None, "(flat)"):
            apis = apis.setdefault(toolset, {})
        apis[entry["name"]] = _api(entry)
    for source, apis in lists.items():
        path = folder / "toolscan" / source
        path.parent.mkdir(parents=True, exist_ok=True)
        text = pprint.pformat(apis, sort_dicts=False)
        path.write_text("# APIs\nTHE_API = " + TYPE.sub(r"'type': \1", text))
    (folder / "toolscan" / "apilist" / "__init__.py").write_text("import json\n")
    return folder


def _api(entry: Mapping[str, Any]) -> dict[str, Any]:
    told = {"description": entry["description"], "parameters": {}}
    for one in entry["parameters"]:
        kind = "ENUM" if "declared_enum_without_values" in one else one["type"]
        kind = one.get("raw_type", WORDS.get(kind, kind) if isinstance(kind, str) else kind)
        kept = {name: one[name] for name in ("description", "default", "required") if name in one}
        told["parameters"][one["name"]] = {"type": "BOOLEAN" if kind == "boolean" else kind, **kept}
    return told if entry["returns"] is None else {**told, "returns": entry["returns"]}


def _entry(name: str, tool: str | None, source: str, *parameters: Any) -> dict[str, Any]:
    about = {"description": "Tells tides", "returns": {"height": {"description": "In metres"}}}
    return {"name": name, "tool": tool, "source": source, "parameters": parameters, **about}


_HARBOUR = {"name": "harbour", "type": "string", "description": "", "required": True}
ENTRIES = (
    _entry("get_tide", None, "apilist/sea/sea_list.py", _HARBOUR),
    _entry("finish", None, "apilist/sea/sea_list.py"),
    _entry("get_ebb", "TIDES_API", "apilist/rapidapi/coast.py", _HARBOUR),
    _entry("finish", "(flat)", "apilist/rapidapi/coast.py"),
)

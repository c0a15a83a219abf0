"""ToolScan's queries, and its lists of APIs, from JSON or from a checkout's Python."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core import (
    JSON,
    DataError,
    Goal,
    Milestone,
    Plan,
    Step,
    Task,
    Tool,
    UsageError,
    located,
    shortened,
)
from seal.core.conditions import Argument, Called
from seal.core.files import content_of
from seal.core.records import to_plain
from seal.core.values import MAX_DEPTH, leaves, literal_value, nested_deeper, parse_module
from seal.pools.importer import PSEUDO_ACTIONS, Notes
from seal.pools.reading.files import (
    CountedFault,
    Placed,
    Torn,
    expect,
    field_of,
    find,
    function_name,
    json_file,
    json_records,
    listed,
    numbered,
    refuse_deep,
    tool_id,
    usable,
    utf8_text,
)
from seal.pools.reading.records import TaskIds, ToolTable
from seal.pools.reading.tool_schemas import arguments_schema, default_or_example, typed

# -- ToolScan's queries in upstream's input format, as tasks.
#
# A file is JSON objects one after the other, over several lines or with several on one:
#
#     {"goal": text,
#      "ground_truth": [{API: [{argument: value}]}],     # trajectories, each of them right
#      "additional_info": {"answer", "goal_type", "tool", "category"?, "init_config"?},
#      "category": text}
#
# - Environment: `tool` names that of a list of its own (movie, patent, spaceflight, weather), and
#   its tools outside of any toolset are offered. If it is "rapidapi", the category names
#   environment and toolset (`Data_ZILLOWV2_API`), and the toolset's tools are offered, as by
#   upstream's loader. If the name has no toolset, the environment's are. A query of any other
#   environment is left out.
# - Gold: a trajectory is a plan, its calls in no order, since a map from API to calls has none.
#   Pseudo actions are left out of it. A trajectory that is malformed, or has an API that is not
#   offered, is left out and counted. The query stays; one without a usable trajectory has no gold.
#   `[{}]`, the one trajectory without a call, says that no API serves: the agent should abstain.
# - The value "optional" marks an argument that may be left out. It says of no value that it is
#   right: any that the schema takes is. Upstream's code counts a call that gives it as wrong.
# - `answer`: each text or number within is what a right answer states.
#
# ToolScan's loader fails as a whole at the first fault. Here what is no JSON is passed over up to
# the next record, and counted once. If a name stands twice in one object, its two lists are joined,
# as upstream's unused helper for such records means it. Of other values the last counts.
#
# What upstream's records lack may stand in `additional_info` of one's own: `id` (else the
# position), `irrelevance`, why no API serves (`IRRELEVANCE`), `seed`, the id of the query that was
# varied so, and `reply`, a reference answer.
#
# Source: Kokane et al. (2024), section on data; `utils/tool/data_utils.py` and
# `apilist/__init__.py` of Shirley-Kokane/ToolScan.

OPTIONAL = "optional"
"""Upstream's mark of a gold argument that may be left out."""
PSEUDO = frozenset({"check_valid_actions", "finish"})
IRRELEVANCE = ("unsupported_constraint", "foreign_parameter", "unrelated_request")
"""Why no API serves a query: it asks a condition that no argument takes; it gives a parameter that
only another API has; it asks for something else altogether. Source: the same, augmentation."""

_ANSWERER, _USER = "orchestrator", "user_simulator"
_RAPIDAPI = "rapidapi"

_BLANK = re.compile(r"\s*")
_BEGINNING = re.compile(r'\{\s*"(goal|ground_truth|subgoals|additional_info|category)"\s*:')
"""How a record may begin, and a part of one too."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a query's agent is given."""

    environment: str
    toolset: str
    """Empty: the query names none."""
    tools: Mapping[str, Tool]
    """By name as upstream."""


class Queries:
    """Makes tasks of queries.

    Args:
        environments: Each one's APIs.
        benchmark: Of the tasks.
        notes: Gets the reasons why queries and gold are left out.
    """

    def __init__(
        self, environments: Mapping[str, Sequence[Tool]], benchmark: str, notes: Notes
    ) -> None:
        self.tasks = 0
        """Tasks made so far."""
        self._environments = environments
        self._benchmark = benchmark
        self._notes = notes
        self._ids = TaskIds()
        self._counts: Counter[str] = Counter()
        self._by_environment: Counter[str] = Counter()

    def read(self, path: Path) -> Iterator[Task]:
        """Yield the tasks of a file.

        Raises:
            DataError: The file cannot be read, or none of its records is usable.
        """
        for task in usable(path, self._task, self._notes, numbered(concatenated)):
            self.tasks += 1
            self._by_environment[str(task.tags["environment"])] += 1
            yield task

    def counts(self) -> dict[str, JSON]:
        """Return what the queries hold, in numbers; empty where there are none."""
        if not self.tasks:
            return {}
        return {
            **dict(sorted(self._counts.items())),
            "queries": dict(sorted(self._by_environment.items())),
            "repeated_texts": self._ids.repeated,
        }

    def _task(self, entry: tuple[int, Any]) -> Task:
        number, record = entry
        refuse_deep(record)
        text = field_of(record, "goal", str)
        if not text.strip():
            raise DataError("goal: expected a text with words, got an empty one")
        info = field_of(record, "additional_info", dict)
        offer = self._offer(record, info)
        plans = self._plans(record.get("ground_truth"), offer)
        # Plans that each need but one tool are alternatives where these tools differ.
        needed = [sorted(plan.tools()) for plan in plans or ()]
        alternatives = tuple(dict.fromkeys(tool for own in needed for tool in own))
        either = len(alternatives) > 1 and all(len(own) == 1 for own in needed)
        goal = Goal(
            text,
            plans,
            tuple(dict.fromkeys(filter(None, leaves(info.get("answer"))))),
            tuple(tool.id for tool in offer.tools.values()),
            alternatives if either else plans[0].tools() if plans else (),
            either,
            _reference(info.get("reply")),
            _labels(plans, info),
        )
        kept = ("goal_type", "init_config", "seed")
        return Task(
            self._ids.add(str(info.get("id", number)), text),
            self._benchmark,
            (goal,),
            tags=_tags(offer, plans, info),
            metadata={name: info[name] for name in kept if info.get(name) is not None},
        )

    def _offer(self, record: Mapping[str, Any], info: Mapping[str, Any]) -> Offer:
        """Return what is offered by `tool` and category.

        Raises:
            CountedFault: There is no list of that environment, or of that toolset.
        """
        named = info.get("tool", _RAPIDAPI)
        category = info.get("category") or record.get("category") or ""
        if not isinstance(named, str) or not isinstance(category, str):
            raise DataError(
                f"tool and category: expected texts, got {shortened(named)}, {shortened(category)}"
            )
        if named.casefold() == _RAPIDAPI:
            return self._of_category(category)
        tools = self._environments.get(named.casefold())
        if tools is None:
            raise self._unknown(named)
        alone = [tool for tool in tools if tool.source["tool"] == tool.category]
        return _offer(named.casefold(), "", alone or tools)

    def _of_category(self, category: str) -> Offer:
        folded = category.casefold()
        fitting = [name for name in self._environments if folded.startswith(name.casefold())]
        if not fitting:
            raise self._unknown(category)
        environment = max(fitting, key=len)
        toolset = category[len(environment) :].strip("_")
        tools = self._environments[environment]
        if toolset:
            tools = [t for t in tools if str(t.source["tool"]).casefold() == toolset.casefold()]
        if not tools:
            raise self._unknown(category)
        return _offer(environment, toolset, tools)

    def _unknown(self, named: str) -> CountedFault:
        known = ", ".join(self._environments)
        return CountedFault(
            "unknown_environment",
            f"no list of the environment {shortened(named)}; the lists have: {known}",
        )

    def _plans(self, ground_truth: Any, offer: Offer) -> tuple[Plan, ...] | None:
        """Return the usable trajectories; None where none is, or none is given."""
        if not ground_truth:
            self._notes.dropped["without_ground_truth"] += 1
            return None
        trajectories = ground_truth if isinstance(ground_truth, list) else [ground_truth]
        plans: list[Plan] = []
        for trajectory in trajectories:
            try:
                plan = self._plan(trajectory, offer)
            except CountedFault as fault:
                self._notes.leave_out(fault.reason, str(fault))
                continue
            if plan not in plans:
                plans.append(plan)
        self._counts["trajectories"] += len(trajectories)
        self._counts["plans"] += len(plans)
        self._counts["gold_calls"] += sum(len(plan.calls()) for plan in plans)
        return tuple(plans) or None

    def _plan(self, trajectory: Any, offer: Offer) -> Plan:
        if not isinstance(trajectory, dict):
            raise CountedFault(
                "malformed_trajectory",
                f"ground_truth: expected a map from API to calls, got {shortened(trajectory)}",
            )
        made = [
            self._milestone(api, arguments, offer)
            for api, calls in trajectory.items()
            if api.casefold() not in PSEUDO
            for arguments in (calls if isinstance(calls, list) else [calls])
        ]
        return Plan(tuple(made))

    def _milestone(self, api: str, arguments: Any, offer: Offer) -> Milestone:
        tool = offer.tools.get(api)
        if tool is None:
            raise CountedFault(
                "trajectory_with_unknown_api",
                f"ground_truth: {offer.environment} offers no API {shortened(api)}",
            )
        if not isinstance(arguments, dict):
            raise CountedFault(
                "malformed_trajectory",
                f"ground_truth of {api}: expected a map of arguments, got {shortened(arguments)}",
            )
        accepted = {
            name: Argument(None, optional=True) if value == OPTIONAL else Argument((value,))
            for name, value in arguments.items()
        }
        return Milestone(Called(tool.id, accepted))


def _offer(environment: str, toolset: str, tools: Sequence[Tool]) -> Offer:
    return Offer(environment, toolset, {str(tool.source["api"]): tool for tool in tools})


def _reference(reply: Any) -> tuple[Step, ...]:
    if reply is None:
        return ()
    expect(reply, str, "reply")
    return (Step(0, _ANSWERER, _USER, reply),)


def _labels(plans: Sequence[Plan] | None, info: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what the agent should do, and why it can do no more."""
    if plans is None:
        return {}
    if any(plan.calls() for plan in plans):
        return {"action": "call"}
    return {"action": "abstain", "irrelevance": _irrelevance(info) or "unsaid"}


def _irrelevance(info: Mapping[str, Any]) -> str:
    kind = info.get("irrelevance", "")
    if kind and kind not in IRRELEVANCE:
        known = ", ".join(IRRELEVANCE)
        raise DataError(f"irrelevance: expected one of {known}, got {shortened(kind)}")
    return str(kind)


def _tags(offer: Offer, plans: Sequence[Plan] | None, info: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what tasks are selected by; of the shape nothing where there is no gold."""
    tags: dict[str, JSON] = {"environment": offer.environment, "toolset": offer.toolset}
    if plans is None:
        return tags
    calls = plans[0].calls()
    return {
        **tags,
        "irrelevance": "none" if calls else _irrelevance(info) or "unsaid",
        "alternative_plans": len(plans) > 1,
        "multi_tool": len(plans[0].tools()) > 1,
        "multi_step": len(calls) > 1,
    }


def concatenated(path: Path, torn: Torn) -> Iterator[Placed]:
    """Yield the records of a file of concatenated JSON objects, or of one JSON array.

    NaN and Infinity are null; for what else no JSON line can hold see `seal.core.values`.

    Args:
        path: The file.
        torn: Told each stretch that is no JSON, up to the next record, and what is nested too deep.

    Raises:
        DataError: The file is not UTF-8, or one array that is no JSON.
    """
    text = utf8_text(content_of(path), str(path))
    if text.lstrip().startswith("["):
        yield from json_records(path, torn)
        return
    place, position = 0, _past_blanks(text, 0)
    while position < len(text):
        name = f"{path}, record {place} (line {text.count(chr(10), 0, position) + 1})"
        try:
            value, position = _DECODER.raw_decode(text, position)
            if nested_deeper(value, MAX_DEPTH):
                raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        except (ValueError, RecursionError) as error:
            position = _next_record(text, position + 1)
            torn(DataError(f"{name}: no JSON object: {error}; passed over up to the next record"))
        else:
            yield Placed(name, to_plain(value))
        place, position = place + 1, _past_blanks(text, position)


def _joined(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of whose repeated names the lists are joined."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if isinstance(value, list) and isinstance(found.get(name), list):
            found[name] = [*found[name], *value]
        else:
            found[name] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_joined, parse_constant=lambda _: None)


def _past_blanks(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


def _next_record(text: str, position: int) -> int:
    """Return where the next record begins, whole or torn; the end where there is none."""
    for found in _BEGINNING.finditer(text, position):
        if found[1] == "goal":
            return found.start()
        with suppress(ValueError, RecursionError):  # a part of a record has no goal
            value, _ = _DECODER.raw_decode(text, found.start())
            if isinstance(value, dict) and "goal" in value:
                return found.start()
    return len(text)


# -- ToolScan (SpecTool): importer.
#
# The tools of its environments are read from upstream's repository, whose lists are Python files,
# or from one file `tools.json` (format toolscan-neutral/1):
#
#     {"format", "source", "tools": [{environment, tool, name, description, parameters, returns,
#                                     source, pseudo}]}
#
# Queries in upstream's input format (`seal.benchmarks.toolscan.importer`) are read where they lie
# beside; upstream does not publish them: then the pool has no tasks. Tool id:
# `toolscan/TOOLSET/API`, and the environment where it has no toolsets; an environment is a tool's
# category.
#
# `finish` and `check_valid_actions` are no APIs but pseudo actions of ToolScan's chat. Their names
# are kept beside the tools, for the similarity of names counts them.
#
# Source: "ToolScan" (Kokane et al., 2024), and the lists and loader of Shirley-Kokane/ToolScan.

BENCHMARK = "toolscan"

FORMAT = "toolscan-neutral/1"
_TYPES = frozenset({"array", "boolean", "integer", "number", "object", "string"})


def import_toolscan(source: Path, notes: Notes, *, pseudo: bool = False) -> Iterator[Tool | Task]:
    """Yield the tasks of ToolScan's queries, if there are any, then the APIs of its lists.

    Args:
        source: Upstream's repository, the file tools.json, or a folder above it; any `*.jsonl`
            below it holds queries.
        notes: Gets the counts.
        pseudo: True: the pseudo actions are tools of the pool too, which no task offers.

    Raises:
        UsageError: `pseudo` is neither true nor false.
        DataError: The list is missing or malformed, or a file has no usable record; the text names
            file and record.
    """
    if not isinstance(pseudo, bool):
        raise UsageError(f"-T pseudo={pseudo}: expected true or false")
    lists = ApiLists(BENCHMARK, pseudo, notes)
    for path in list_files(source) or find(source, ["tools.json"], BENCHMARK):
        lists.read(path)
    queries = Queries(lists.environments(), BENCHMARK, notes)
    for path in sorted(source.rglob("*.jsonl")):
        if path.is_file():
            yield from queries.read(path)
    yield from lists
    note_facts(notes, lists, queries)
    if not queries.tasks:
        notes.lacks.add("tasks")


def note_facts(notes: Notes, lists: ApiLists, queries: Queries) -> None:
    """Note the counts of lists and queries, and the names of the pseudo actions."""
    notes.facts["counts"] = {**lists.counts(), **queries.counts()}
    notes.facts[PSEUDO_ACTIONS] = dict(sorted(lists.pseudo_actions.items()))


class ApiLists:
    """The API lists of all environments.

    Args:
        benchmark: What the ids of the tools begin with.
        pseudo: True: pseudo actions are tools too.
        notes: Gets the malformed entries.
    """

    def __init__(self, benchmark: str, pseudo: bool, notes: Notes) -> None:
        self.pseudo_actions: defaultdict[str, list[str]] = defaultdict(list)
        """Environment to the names of its pseudo actions, each as often as it stands there."""
        self._benchmark = benchmark
        self._with_pseudo = pseudo
        self._notes = notes
        self._table = ToolTable()
        self._counts: Counter[str] = Counter()

    def read(self, path: Path) -> None:
        """Add the entries of a file.

        Raises:
            DataError: The file is no list of this format, or each entry is malformed.
        """
        for tool in usable(path, self._tool, self._notes, listed(_entries(path))):
            pseudo = bool(tool.source["pseudo"])
            self._counts["pseudo_actions" if pseudo else "apis"] += 1
            if pseudo:
                self.pseudo_actions[tool.category].append(tool.name)
            if self._with_pseudo or not pseudo:
                self._table.add(tool)

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools, sorted by id."""
        return iter(self._table)

    def environments(self) -> dict[str, list[Tool]]:
        """Return each environment's APIs, pseudo actions left out, sorted by name and id."""
        found: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in self._table:
            if not tool.source["pseudo"]:
                found[tool.category].append(tool)
        return dict(sorted(found.items()))

    def counts(self) -> dict[str, JSON]:
        """Return what the lists hold, in numbers."""
        tools = list(self._table)
        return {
            **dict(sorted(self._counts.items())),
            "duplicates": self._table.duplicates,
            "environments": len({tool.category for tool in tools}),
            "enums_without_values": self._counts["enums_without_values"],
            "parameters": sum(len(tool.parameters["properties"]) for tool in tools),
            "tool_variants": self._table.variants,
            "without_description": sum(not tool.description for tool in tools),
            "without_response_shape": sum(tool.returns is None for tool in tools),
        }

    def _tool(self, entry: Any) -> Tool:
        refuse_deep(entry)
        environment = field_of(entry, "environment", str)
        name = field_of(entry, "name", str)
        toolset = entry.get("tool")
        if toolset is not None and not isinstance(toolset, str):
            raise DataError(f"tool: expected a text or null, got {shortened(toolset)}")
        owner = environment if toolset in (None, FLAT) else str(toolset)
        parameters = field_of(entry, "parameters", list)
        tool = Tool(
            tool_id(self._benchmark, owner, name),
            function_name(name),
            field_of(entry, "description", str),
            _parameters(parameters),
            environment,
            entry.get("returns"),
            {
                "tool": owner,
                "api": name,
                "pseudo": field_of(entry, "pseudo", bool),
                "upstream": field_of(entry, "source", str),
            },
        )
        valueless = (p.get("declared_enum_without_values") is True for p in parameters)
        self._counts["enums_without_values"] += sum(valueless)
        return tool


def _entries(path: Path) -> list[Any]:
    if path.suffix == ".py":
        return list(entries(path))
    content = json_file(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        got = content.get("format") if isinstance(content, dict) else content
        raise DataError(f"{path}: expected format {FORMAT!r}, got {shortened(got)}")
    with located(path):
        return field_of(content, "tools", list)


def _parameters(entries: list[Any]) -> dict[str, JSON]:
    properties: dict[str, JSON] = {}
    required: list[JSON] = []
    for position, entry in enumerate(entries):
        with located(f"parameters.{position}"):
            name, needed = field_of(entry, "name", str), field_of(entry, "required", bool)
            if name in properties:
                raise DataError(f"the parameter {name!r} stands twice")
            properties[name] = _property(entry, needed)
        if needed:
            required.append(name)
    return arguments_schema(properties, required)


def _property(entry: dict[str, Any], needed: bool) -> dict[str, JSON]:
    """Return a parameter's schema.

    The default of a needed parameter is but an example, and so is one that its type does not allow.
    """
    schema: dict[str, JSON] = {"type": _type(entry.get("type"))}
    description = field_of(entry, "description", str)
    if "raw_type" in entry:
        description = f"{description} ({field_of(entry, 'raw_type', str)})".strip()
    if description:
        schema["description"] = description
    if isinstance(entry.get("enum"), list) and entry["enum"]:
        schema["enum"] = entry["enum"]
    return schema | _default(schema["type"], entry.get("default"), needed)


def _default(kind: JSON, value: Any, needed: bool) -> dict[str, JSON]:
    """Return upstream's default, a text even of a number, as JSON Schema says it."""
    if value in (None, ""):
        return {}
    fitting = typed(kind, value) if isinstance(kind, str) else value
    return default_or_example(value, fitting, needed)


def _type(value: Any) -> JSON:
    words = value if isinstance(value, list) else [value]
    if not words or not all(isinstance(word, str) and word in _TYPES for word in words):
        raise DataError(
            f"type: expected one of {', '.join(sorted(_TYPES))}, or a list of such, "
            f"got {shortened(value)}"
        )
    return value


# -- The API lists of ToolScan's repository, read from their Python files, of which none is run.
#
# A file of `apilist/ENVIRONMENT/` assigns one dict, a literal but for the names of types:
#
#     NAME_API = {API: {"description", "parameters": {NAME: {"type", "description", "required",
#                                                            "default"?}}, "returns"?}}
#
# Each file of `apilist/rapidapi/` is an environment of that name, and groups its APIs by toolset.
# An API that stands beside the toolsets belongs to none.
#
# Source: Shirley-Kokane/ToolScan, toolscan/apilist.

FLAT = "(flat)"
"""Stands for the toolset of an API that a list of toolsets holds outside of any."""
_PYTHON_TYPES = {
    **{"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array"},
    **{"STRING": "string", "NUMBER": "number", "BOOLEAN": "boolean", "ARRAY": "array"},
    **{"ENUM": "string", "OBJECT": "object", "dict": "object"},
    **{"BINARY": "string", "DATE (YYYY-MM-DD)": "string", "TIME (24-hour HH:MM)": "string"},
}
"""What upstream calls a type to what JSON Schema calls it."""
_TOLD = ("BINARY", "DATE (YYYY-MM-DD)", "TIME (24-hour HH:MM)")
"""Types of which JSON Schema's word says too little."""


def list_files(source: Path) -> list[Path]:
    """Return the files of the lists in a checkout, those of toolsets last; empty: it is none."""
    found = {*source.glob("*/*.py"), *source.rglob("apilist/*/*.py")}
    lists = [path for path in found if path.parent.parent.name == "apilist"]
    return sorted(lists, key=lambda path: (path.parent.name == _RAPIDAPI, path))


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a list as the neutral format has them.

    Raises:
        DataError: The file is no such list; the text names it and the place.
    """
    grouped = path.parent.name == _RAPIDAPI
    about = {
        "environment": path.stem if grouped else path.parent.name,
        "source": f"apilist/{path.parent.name}/{path.name}",
    }
    for name, held in _dict(path).items():
        with located(f"{path}, {name}"):
            if not isinstance(held, dict):
                raise DataError(f"expected an API or a toolset, got {shortened(held)}")
            apis = {name: held} if "parameters" in held else held
            toolset = (FLAT if apis is not held else name) if grouped else None
            for api, told in apis.items():
                yield {**about, "tool": toolset, **_entry(api, told)}


def _dict(path: Path) -> dict[str, Any]:
    """Return the value of the one dict that a file assigns; types are the texts of their names."""
    try:
        body = parse_module(utf8_text(content_of(path), str(path))).body
        found = [each.value for each in body if isinstance(each, ast.Assign)]
        values = [literal_value(_Named().visit(value)) for value in found]
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: {error}; fetch it again") from error
    if len(values) != 1 or not isinstance(values[0], dict):
        raise DataError(f"{path}: expected one assignment of a dict of APIs")
    return values[0]


class _Named(ast.NodeTransformer):
    """Puts a type's name for the type."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the text of a type's name; another name stays, and is no literal."""
        return ast.Constant(node.id) if node.id in _PYTHON_TYPES else node


def _entry(name: Any, told: Any) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise DataError(f"{name}: expected an API, got {shortened(told)}")
    with located(name):
        parameters = field_of(told, "parameters", dict)
        return {
            "pseudo": name in PSEUDO,
            "name": name,
            "description": field_of(told, "description", str).strip(),
            "parameters": [
                _parameter(each, field_of(parameters, each, dict)) for each in parameters
            ],
            "returns": told.get("returns"),
        }


def _parameter(name: str, told: dict[str, Any]) -> dict[str, Any]:
    with located(name):
        kind = told.get("type")
        if not isinstance(kind, list):
            kind = _PYTHON_TYPES.get(field_of(told, "type", str), kind)
        found = {
            "name": name,
            "type": kind,
            "required": field_of(told, "required", bool),
            "description": field_of(told, "description", str).strip(),
        }
    if told.get("default") not in (None, ""):
        found["default"] = told["default"]
    if told["type"] in _TOLD:
        found["raw_type"] = told["type"]
    if told["type"] == "ENUM":
        found["declared_enum_without_values"] = True
    return found

"""Scenarios and texts from a checkout, whose Python is never run; whose words an import takes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal, get_args
from uuid import NAMESPACE_URL, uuid5

from seal.benchmarks.toolsandbox.phone import TOOL_IDS, tools
from seal.benchmarks.toolsandbox.records import START, TABLES
from seal.benchmarks.toolsandbox.static_python import Open, StaticPython, weight
from seal.core import JSON, DataError, Tool, UsageError, located
from seal.pools.augmentation import UNCHANGED, Distractors
from seal.pools.reading.files import Placed, Torn, expect, named

# -- Whose words an import takes.
#
# `upstream`: descriptions of tools and arguments, the agent's system text, the user's instruction
# and its example conversations are those of the checkout, word by word. `ours`: the phone's own
# documents and SEAL's prompts; goals, boundaries and examples alone are upstream's.

Texts = Literal["upstream", "ours"]
UPSTREAM: Texts = "upstream"
OURS: Texts = "ours"


def parse_texts(value: str | None, has_checkout: bool) -> Texts:
    """Return whose words an import takes.

    Args:
        value: Of the option; None: upstream's, where they are there.
        has_checkout: Whether upstream's files are read.

    Raises:
        UsageError: It is neither, or upstream's texts are not there.
    """
    if value is None:
        return UPSTREAM if has_checkout else OURS
    if value not in get_args(Texts):
        raise UsageError(f"-T texts={value}: expected {' or '.join(get_args(Texts))}")
    if value == UPSTREAM and not has_checkout:
        raise UsageError(
            "-T texts=upstream: the file of scenarios has no texts of upstream's; import a "
            "checkout: git clone https://github.com/apple/ToolSandbox"
        )
    found: Texts = UPSTREAM if value == UPSTREAM else OURS
    return found


# -- Documents of tools, as upstream makes them from docstrings for its models.
#
# The blocks before `Args:` are the description; a line of that block with a colon names an
# argument, others go on with the one before.
#
# Source: apple/ToolSandbox, `common/tool_conversion.py`, commit 165848b.

_TOOLS = "tool_sandbox.tools"
_MODULES = {"user": "user_tools"}
"""Group of the phone's tools to upstream's module, where the names differ."""
_UNTOLD = ("description", "default")
"""What of an argument's schema is not as upstream has it: its text, and a default, which upstream
does not tell."""
_BESIDE = ("Returns:", "Example:")
"""Beginnings of blocks behind which no description stands."""


def tool_texts(python: StaticPython, phone: Iterable[Tool]) -> list[Tool]:
    """Return the phone's tools with upstream's texts.

    Args:
        python: The checkout.
        phone: The tools, by the names of upstream's functions.

    Raises:
        DataError: A function is missing or has no docstring, or it takes other arguments than ours.
    """
    return [_with_texts(tool, _function(python, tool)) for tool in phone]


def end_text(python: StaticPython) -> str:
    """Return the description of the tool by which upstream's user ends a conversation.

    Raises:
        DataError: There is none.
    """
    (group,) = (id.split("/")[1] for name, id in TOOL_IDS.items() if name == "end_conversation")
    dotted = f"{_TOOLS}.{_MODULES[group]}.end_conversation"
    return documented(_docstring(python.function(dotted), dotted))[0]


def documented(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the description of a tool, and name of an argument to its text.

    Args:
        docstring: Without its indentation.
    """
    told: list[str] = []
    past = False
    for block in docstring.split("\n\n"):
        if block.startswith("Args:"):
            return " ".join(told), _arguments(block)
        past = past or block.startswith(_BESIDE)
        if not past:
            told.append(block)
    return " ".join(told), {}


def _arguments(block: str) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    name = ""
    for line in block.split("\n")[1:]:
        if ":" in line:
            name, _, text = line.partition(":")
            name = name.strip()
            texts[name] = [text.strip()]
        elif name:
            texts[name].append(line.strip())
    return {name: " ".join(parts) for name, parts in texts.items()}


def _function(python: StaticPython, tool: Tool) -> ast.FunctionDef:
    group = tool.id.split("/")[1]
    return python.function(f"{_TOOLS}.{_MODULES.get(group, group)}.{tool.name}")


def _docstring(function: ast.FunctionDef, name: str) -> str:
    found = ast.get_docstring(function)
    if found is None:
        raise DataError(f"{name} has no docstring, which tells what the tool does")
    return found


def _with_texts(tool: Tool, function: ast.FunctionDef) -> Tool:
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    taken = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if taken != list(properties):
        raise DataError(
            f"the tool {tool.name} takes {', '.join(taken) or 'nothing'}; SEAL's phone has one "
            f"that takes {', '.join(properties) or 'nothing'}"
        )
    description, texts = documented(_docstring(function, f"the tool {tool.name}"))
    told = {name: _with_text(schema, texts.get(name)) for name, schema in properties.items()}
    parameters = {**tool.parameters, "properties": told} if properties else tool.parameters
    return replace(tool, description=description, parameters=parameters)


def _with_text(schema: Mapping[str, JSON], text: str | None) -> dict[str, JSON]:
    bare = {word: value for word, value in schema.items() if word not in _UNTOLD}
    return bare if text is None else {**bare, "description": text}


# -- What ToolSandbox tells the agent, and the model that plays the user, as a persona.
#
# Upstream writes it as messages that only the user sees. Conversations as examples come first, each
# with an instruction of its own. The last instruction has the user's goal and what it knows. Under
# our texts the instruction's general part is left out: SEAL has its own (`seal.agents.users`).

_SPOKEN = {
    ("SYSTEM", "USER"): "goal",
    ("USER", "AGENT"): "user",
    ("AGENT", "USER"): "assistant",
    ("USER", "EXECUTION_ENVIRONMENT"): "end",
}
"""Sender and recipient of what only the user sees, to its role in a persona's demonstration."""
_SENTENCE = re.compile(r"(?<=[.?!])\s*(?=[A-Z])")


def is_heard(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is the user's own to the agent, and no example."""
    ends = message["sender"], message["recipient"]
    return ends == ("USER", "AGENT") and not message.get("visible_to")


def system_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return what the agent is told before the chat; empty: nothing.

    Args:
        messages: All of a scenario, as upstream has them.
    """
    to_agent = (m for m in messages if (m["sender"], m["recipient"]) == ("SYSTEM", "AGENT"))
    return "\n\n".join(message["content"] for message in to_agent)


def persona_of(
    messages: Sequence[Mapping[str, Any]], instruction: str, end: str | None = None
) -> dict[str, Any]:
    """Return what the user is told: its goal, what it knows, and conversations as examples.

    Args:
        messages: All of a scenario, as upstream has them.
        instruction: What a text to the user begins with, before its goal.
        end: Description of the tool by which the user ends a conversation: every text stands as
            upstream has it, and the persona is `verbatim`. None: the user is told in our words.

    Returns:
        A persona; empty where no message tells the user a goal, and the words are ours.

    Raises:
        DataError: Upstream's words are asked for, and there are none, or one begins otherwise.
    """
    told: list[tuple[str, str]] = []
    for message in messages:
        role = _SPOKEN.get((message["sender"], message["recipient"]))
        if role is not None and not is_heard(message):
            told.append((role, message["content"]))
    goals = [place for place, (role, _) in enumerate(told) if role == "goal"]
    if end is not None:
        _check_verbatim([told[place][1] for place in goals], instruction)
    if not goals:
        return {}
    own = [(role, text.removeprefix(instruction)) for role, text in told]
    said = own if end is not None else [(role, _spoken_to(text)) for role, text in own]
    goal, boundary = _parted(said[goals[-1]][1])
    if end is None and boundary:
        goal, boundary = _joined(goal), _joined(boundary)
    shown = [
        {"role": role, "content": "" if role == "end" else text} for role, text in said[: goals[-1]]
    ]
    persona: dict[str, Any] = {"goal": goal}
    if boundary:
        persona["boundary"] = boundary
    if shown:
        persona["demonstration"] = shown
    if end is not None:
        persona["verbatim"] = {"instruction": instruction, "end": end}
    return persona


def _check_verbatim(texts: Sequence[str], instruction: str) -> None:
    """Raise DataError where the user is not told in upstream's usual words."""
    instead = "check out the commit that SEAL reads, or import with -T texts=ours"
    if not texts:
        raise DataError(f"no message tells the user what it wants; {instead}")
    if not all(text.startswith(instruction) for text in texts):
        raise DataError(f"a text to the user begins otherwise than USER_INSTRUCTION; {instead}")


def _spoken_to(text: str) -> str:
    """Return a text with its reader as you and the other side as the assistant.

    Upstream names them User A and User B.
    """
    text = re.sub(r"\b(you|your) \(User A(?:'s)?\)", r"\1", text.replace("User B", "the assistant"))
    return text.replace("(User A's)", "your")


def _parted(text: str) -> tuple[str, str]:
    """Return a user's goal and what it knows besides, which upstream tells in one text.

    The second begins with the first sentence that says what the reader knows, or that is followed
    by the demand to keep it; with the signs between them, both make the whole text.
    """
    sentences = _sentences(text)
    for place in range(1, len(sentences)):
        following = "".join(sentences[place + 1 : place + 2])
        if sentences[place].startswith("You ") or following.startswith("Do not leak"):
            return "".join(sentences[:place]), "".join(sentences[place:])
    return text, ""


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with the space behind it."""
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    places = zip([0, *ends], [*ends, len(text)], strict=True)
    return [text[first:last] for first, last in places]


def _joined(text: str) -> str:
    """Return sentences with one space between two."""
    return " ".join(_SENTENCE.split(text)).strip()


# -- Scenarios read from a checkout of ToolSandbox's own repository, whose Python is never run.
#
# `scenarios/__init__.py` there builds all scenarios: bases, extensions of them, and eight sets of
# tools of each. It is followed as `static_python` says. This module has what upstream builds them
# of, by upstream's names. Enumerations, default measures of columns, and what tells times and ids
# are read from the checkout too. Each scenario becomes a record as in `scenarios_core.jsonl.gz`,
# with a `persona` besides: what upstream tells the model that plays the user. Under upstream's
# texts it has `system`, too: what the agent is told (`texts`).
#
# Source: apple/ToolSandbox, commit 165848b.

SCENARIOS = "tool_sandbox/scenarios/__init__.py"
"""File by which a checkout is known."""
_COMMIT = "165848b"
_COMMON = "tool_sandbox.common"
_EVALUATION = f"{_COMMON}.evaluation"
_EXAMPLES = "tool_sandbox.scenarios.user_simulator_few_shot_examples"
_MEASURES = {
    "snapshot_similarity": "snapshot",
    "addition_similarity": "addition",
    "removal_similarity": "removal",
    "update_similarity": "update",
    "tool_trace_dependant_similarity": "tool_trace_dependent",
    "column_exact_match_similarity": "exact",
    "column_close_similarity": "close",
    "column_one_similarity": "any",
    "column_contains_similarity": "contains",
    "column_rouge_l_similarity": "rouge_l",
    "column_tool_trace_exact_match_similarity": "tool_trace",
}
"""Upstream's function to the measure of a table or of a column."""
_EXTRACTORS = {
    "search_weather_around_lat_lon_temperature_extractor": "weather_current_temperature_text",
    "result_to_timestamp0_extractor": "result_as_timestamp_0",
    "result_to_timestamp1_extractor": "result_as_timestamp_1",
    "days_extractor": "result_days",
    "lat_lon_dict_extractor": "result_lat_lon",
    "current_temperature_extractor": "result_current_temperature_as_amount",
    "result_to_temperature_extractor": "result_as_temperature_text",
    "result_to_reminder_timestamp_lowerbound_extractor": "result_as_reminder_timestamp_lowerbound",
    "min_temperature_amount_extractor": "result_min_temperature_as_amount",
    "min_temperature_extractor": "result_as_min_temperature_text",
}
OFFERS = {
    "NO_DISTRACTION_TOOLS": UNCHANGED,
    "THREE_DISTRACTION_TOOLS": "3_distraction_tools",
    "TEN_DISTRACTION_TOOLS": "10_distraction_tools",
    "ALL_TOOLS_AVAILABLE": "all_tools",
}
"""Upstream's category to the name of the set of tools."""
_UNFIT = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""How a scenario fails that a file has changed into something else."""
_MOST = 200
"""Milestones, edges between them, conditions of one, and rows and columns of a table."""
_USERS_TOOL = "end_conversation"


def checkout_scenarios(
    path: Path, torn: Torn | None = None, *, texts: Texts = OURS
) -> Iterator[Placed]:
    """Yield the scenarios of a checkout as records, in upstream's order.

    Args:
        path: The file in it that builds them (`SCENARIOS`).
        torn: Told a malformed scenario, which is passed over; None: it ends the reading.
        texts: Whose words tell user and agent what they are to do.

    Raises:
        DataError: A file is missing, or has what this reading does not know; the text names file,
            line and repair.
    """
    with _of_another_version():
        built = _Reading(path.parents[2], texts)
    for name, scenario in built.scenarios.items():
        place = f"scenario {name!r}"
        try:
            with located(place, *_UNFIT):
                record = built.record(expect(name, str, "name"), scenario)
        except DataError as fault:
            if torn is None:
                raise
            torn(fault)
        else:
            yield Placed(place, record)


def checkout_tools(path: Path) -> list[Tool]:
    """Return the phone's tools with upstream's texts, in their order.

    Args:
        path: The file of a checkout that builds its scenarios.

    Raises:
        DataError: A tool is missing or takes other arguments; the text names it and the repair.
    """
    with _of_another_version():
        return tool_texts(StaticPython(path.parents[2], {}), tools())


@contextmanager
def _of_another_version() -> Iterator[None]:
    """Raise DataError for what is not understood, with the version that is.

    Raises:
        DataError: It is so.
    """
    try:
        yield
    except (DataError, *_UNFIT) as error:
        raise DataError(
            f"{error}; SEAL reads apple/ToolSandbox as of its commit {_COMMIT}: check that out"
        ) from error


def _few(values: Any) -> Any:
    if len(values) > _MOST:
        raise ValueError(f"expected at most {_MOST}, got {len(values)}")
    return values


@dataclass
class _Column(Open):
    """What a column of a table becomes."""

    name: str
    flipped: bool = False

    def alias(self, name: str) -> _Column:
        return _Column(name, self.flipped)

    def __invert__(self) -> _Column:
        return _Column(self.name, not self.flipped)


class _Rows(Open):
    """A table: rows of its columns."""

    def __init__(self, data: Any = (), schema: Any = None) -> None:
        if isinstance(data, Mapping):
            given = {k: v if isinstance(v, list) else [v] for k, v in _few(data).items()}
            length = max(map(len, given.values()), default=0)
            columns = [v * length if len(v) == 1 else v for v in given.values()]
            data = [dict(zip(given, row, strict=True)) for row in zip(*columns, strict=True)]
        names = _few(dict.fromkeys(name for row in _few(data) for name in row))
        self._rows = [{name: row.get(name) for name in names} for row in data]

    def __getitem__(self, column: str) -> list[Any]:
        return [row[column] for row in self._rows]

    def with_columns(self, changes: Sequence[_Column]) -> _Rows:
        changed = {column.name for column in changes if column.flipped}
        return _Rows(
            [{k: not v if k in changed else v for k, v in row.items()} for row in self._rows]
        )

    def with_rows(self, rows: Sequence[Mapping[str, Any]]) -> _Rows:
        return _Rows([*self._rows, *rows])

    def to_json(self) -> list[dict[str, Any]]:
        return [dict(row) for row in self._rows]


@dataclass
class _Context(Open):
    tables: dict[str, _Rows]
    tool_allow_list: list[str] | None = None
    tool_deny_list: list[str] | None = None
    tool_augmentation_list: list[str] = field(default_factory=list)
    trace_tool: bool = False
    preferred_tool_backend: str = ""

    def get_database(self, namespace: str) -> _Rows:
        return self.tables.get(namespace) or _Rows()

    def add_to_database(self, namespace: str, rows: list[Mapping[str, Any]]) -> None:
        self.tables[namespace] = self.get_database(namespace).with_rows(rows)

    def update_database(self, namespace: str, dataframe: _Rows) -> None:
        self.tables[namespace] = dataframe


@dataclass
class _Scenario(Open):
    starting_context: _Context
    max_messages: int
    evaluation: dict[str, Any] = field(default_factory=dict)
    categories: list[str] = field(default_factory=list)

    def copied(self) -> _Scenario:
        context = copy(self.starting_context)
        context.tables = dict(context.tables)
        for name in ("tool_allow_list", "tool_deny_list", "tool_augmentation_list"):
            setattr(context, name, copy(getattr(context, name)))
        return _Scenario(context, self.max_messages, self.evaluation, [*self.categories])


@dataclass
class _Extension(Open):
    name: str
    base_scenario: _Scenario
    messages: list[Mapping[str, Any]] = field(default_factory=list)
    tool_allow_list: list[str] | None = None
    tool_deny_list: list[str] | None = None
    milestones: list[_Milestone] = field(default_factory=list)
    milestone_edge_list: list[Any] | None = None
    minefields: list[_Milestone] = field(default_factory=list)
    minefield_edge_list: list[Any] | None = None
    categories: list[str] = field(default_factory=list)

    def get_extended_scenario(self) -> dict[str, _Scenario]:
        scenario = self.base_scenario.copied()
        context = scenario.starting_context
        context.add_to_database("SANDBOX", self.messages)
        for name in ("tool_allow_list", "tool_deny_list"):
            if getattr(self, name) is not None:
                setattr(context, name, [*(getattr(context, name) or ()), *getattr(self, name)])
        scenario.evaluation = {
            "milestones": _graph(self.milestones, self.milestone_edge_list),
            "minefields": _graph(self.minefields, self.minefield_edge_list),
        }
        scenario.categories += self.categories
        return {self.name: scenario}


@dataclass(frozen=True)
class _Measure(Open):
    """A measure with its options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def with_options(self, **options: Any) -> _Measure:
        return _Measure(self.name, {**self.options, **options})

    def to_json(self) -> dict[str, Any]:
        tolerances = self.options.get("atol_dict") or {}
        written = {name: "inf" if most == inf else most for name, most in tolerances.items()}
        return {"measure": self.name, **({"atol": written} if written else {})}


@dataclass
class _Milestone(Open):
    snapshot_constraints: list[dict[str, Any]]
    guardrail_database_list: list[str] | None = None
    guardrail_database_exclusion_list: list[str] | None = None

    def guarded(self) -> list[str]:
        declared = self.guardrail_database_list
        without = self.guardrail_database_exclusion_list or ()
        return [t for t in TABLES if t not in without and (declared is None or t in declared)]


def _graph(nodes: Sequence[_Milestone], edges: Sequence[Any] | None) -> dict[str, Any]:
    """Return milestones with what must not change on the way to each from those it follows on."""
    if edges is None:
        edges = [(place, place + 1) for place in range(len(nodes) - 1)]
    made = []
    for place, node in enumerate(_few(nodes)):
        own = _few(node.snapshot_constraints)
        since = {first for first, last in _few(edges) if last == place}
        since |= {each["ref"] for each in own if each["ref"] is not None}
        asked = {each["db"] for n in {place} | since for each in nodes[n].snapshot_constraints}
        guards = [
            {"db": table, "measure": "unchanged", "ref": ref}
            for ref in sorted(since)
            for table in node.guarded()
            if table not in asked
        ]
        made.append({"constraints": [*own, *guards], "guardrail_dbs": node.guarded()})
    return {"nodes": made, "edges": [list(edge) for edge in edges]}


class _Reading:
    """The scenarios of one checkout, built.

    Args:
        root: Folder of the checkout.
        texts: Whose words tell user and agent what they are to do.
    """

    def __init__(self, root: Path, texts: Texts) -> None:
        self._texts = texts
        self._python = StaticPython(root, self._known())
        self._instruction = str(self._python.value(f"{_EXAMPLES}.USER_INSTRUCTION"))
        self._end = end_text(self._python) if texts == UPSTREAM else None
        self._columns = self._python.value(f"{_EVALUATION}._default_dbs_column_similarities")
        self._messages = int(self._python.value(f"{_COMMON}.scenario.Scenario.max_messages"))
        device = self._python.dictionary(
            f"{_COMMON}.execution_context.ExecutionContext.__init__", "device_id"
        )
        self._device = {k: v for k, v in device.items() if k != "sandbox_message_index"}
        self._ranked = Distractors(tools())
        build = self._python.value("tool_sandbox.scenarios.named_scenarios")
        backend = self._python.value(f"{_COMMON}.tool_discovery.ToolBackend.DEFAULT")
        self.scenarios: dict[str, _Scenario] = build(preferred_tool_backend=backend)
        """Upstream's name to the scenario, in upstream's order."""
        if not isinstance(self.scenarios, dict) or not self.scenarios:
            raise DataError("named_scenarios gives no scenarios by name")

    def record(self, name: str, scenario: _Scenario) -> dict[str, Any]:
        """Return a scenario as in `scenarios_core.jsonl.gz`, with the user's persona."""
        context = scenario.starting_context
        scrambled = context.tool_augmentation_list
        offers = [text for kind, text in OFFERS.items() if kind in scenario.categories]
        variant = "_".join([*(offers or [UNCHANGED]), *map(str.lower, scrambled)])
        messages = context.get_database("SANDBOX").to_json()
        allowed, denied = context.tool_allow_list, context.tool_deny_list or ()
        offered = [n for n in TOOL_IDS if (allowed is None or n in allowed) and n not in denied]
        made = {
            "id": name,
            "base": name.removesuffix(f"_{variant}"),
            "augmentation": variant,
            "categories": scenario.categories,
            "max_messages": scenario.max_messages,
            "tools": {
                "allow": allowed,
                "deny": context.tool_deny_list,
                "augmentations": scrambled,
                "agent_tools": [[tool, tool] for tool in offered if tool != _USERS_TOOL],
            },
            "initial_state": {name: context.get_database(name).to_json() for name in TABLES},
            "messages": [m for m in messages if is_heard(m)],
            "persona": persona_of(messages, self._instruction, self._end),
            **({"system": system_of(messages)} if self._texts == UPSTREAM else {}),
            "time_dependent": {},
            **scenario.evaluation,
        }
        self._python.step(weight(made))
        return made

    def _known(self) -> dict[str, Any]:
        """Return what stands for upstream's names and those of the libraries that it uses."""
        measures = {f"{_EVALUATION}.{name}": _Measure(ours) for name, ours in _MEASURES.items()}
        of_traces = f"{_COMMON}.tool_trace_extractors"
        discovery = f"{_COMMON}.tool_discovery"
        return {
            **measures,
            **{f"{of_traces}.{name}": ours for name, ours in _EXTRACTORS.items()},
            **{f"polars.{kind}": kind for kind in ("Boolean", "Float64", "Int32", "String")},
            f"{_EVALUATION}.SnapshotConstraint": self._constraint,
            f"{_EVALUATION}.Milestone": _Milestone,
            f"{_EVALUATION}.Minefield": _Milestone,
            f"{_COMMON}.scenario.Scenario": self._scenario,
            f"{_COMMON}.scenario.ScenarioExtension": _Extension,
            f"{discovery}.find_tools_by_module": lambda module, preferred_tool_backend: {},
            f"{discovery}.rank_tools_by_similarity": self._by_similarity,
            "collections.defaultdict": lambda kind: {},
            "copy.deepcopy": lambda scenario: scenario.copied(),
            "datetime.datetime": lambda **parts: datetime(**parts, tzinfo=UTC),
            "datetime.datetime.now": lambda: START,
            "datetime.timedelta": timedelta,
            "functools.partial": lambda measure, **options: measure.with_options(**options),
            "json.dumps": json.dumps,
            "polars.DataFrame": _Rows,
            "polars.col": _Column,
            "random.shuffle": lambda values: None,
            "textwrap.dedent": dedent,
            "uuid.NAMESPACE_URL": NAMESPACE_URL,
            "uuid.uuid5": lambda namespace, name: str(uuid5(namespace, name)),
        }

    def _scenario(self) -> _Scenario:
        return _Scenario(_Context({"SETTING": _Rows([self._device])}), self._messages)

    def _by_similarity(
        self, target_tool_names: list[str], module: Any, preferred_tool_backend: str
    ) -> list[str]:
        given = [named(TOOL_IDS, name, "tool of the phone") for name in target_tool_names]
        return [tool.rpartition("/")[2] for tool in self._ranked.ranked(given)]

    def _constraint(
        self,
        database_namespace: str,
        snapshot_constraint: _Measure,
        target_dataframe: _Rows,
        reference_milestone_node_index: int | None = None,
        column_similarity_measure: Mapping[str, _Measure] | None = None,
    ) -> dict[str, Any]:
        rows = target_dataframe.to_json()
        measures = {**self._columns[database_namespace], **(column_similarity_measure or {})}
        names = dict.fromkeys(name for row in rows for name in row)
        return {
            "db": database_namespace,
            "measure": snapshot_constraint.name,
            "ref": reference_milestone_node_index,
            "target": [{name: _cell(name, value) for name, value in row.items()} for row in rows],
            "columns": {name: measures[name].to_json() for name in names},
            **snapshot_constraint.options,
        }


def _cell(column: str, value: Any) -> Any:
    """Return a cell of a target; calls are written as JSON upstream, one or several."""
    if column != "tool_trace":
        return value
    calls = json.loads(value)
    return calls if isinstance(calls, list) else [calls]

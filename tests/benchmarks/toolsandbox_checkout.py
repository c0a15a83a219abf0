"""A repository in ToolSandbox's form, written by hand: two scenarios, three sets of tools."""

from collections.abc import Iterator
from pathlib import Path

from seal.benchmarks.toolsandbox.phone import tools

CONTEXT = '''
import uuid
from enum import auto
import polars as pl
from strenum import StrEnum

class RoleType(StrEnum):
    """Who speaks."""

    SYSTEM = auto()
    USER = auto()
    AGENT = auto()
    EXECUTION_ENVIRONMENT = auto()

class DatabaseNamespace(StrEnum):
    SANDBOX = auto()
    SETTING = auto()
    CONTACT = auto()
    MESSAGING = auto()
    REMINDER = auto()

class ScenarioCategories(StrEnum):
    SINGLE_TOOL_CALL = auto()
    SINGLE_USER_TURN = auto()
    MULTIPLE_TOOL_CALL = auto()
    MULTIPLE_USER_TURN = auto()
    NO_DISTRACTION_TOOLS = auto()
    THREE_DISTRACTION_TOOLS = auto()
    TOOL_NAME_SCRAMBLED = auto()

class ExecutionContext:
    def __init__(self):
        self.rows = pl.DataFrame(
            {
                "sandbox_message_index": 0,
                "device_id": str(uuid.uuid5(namespace=uuid.NAMESPACE_URL, name="a phone")),
                "cellular": True,
                "wifi": True,
                "location_service": True,
                "low_battery_mode": False,
                "latitude": 46.9,
                "longitude": 7.4,
            },
            schema=self.schemas[DatabaseNamespace.SETTING],
        )
'''
EVALUATION = """
from tool_sandbox.common.execution_context import DatabaseNamespace

def column_exact_match_similarity(dataframe, column_name, value):
    return dataframe.select(column_name).eq(value)

def column_rouge_l_similarity(dataframe, column_name, value): ...

def column_tool_trace_exact_match_similarity(dataframe, column_name, value): ...

_default_dbs_column_similarities = {
    DatabaseNamespace.SANDBOX: {
        "sender": column_exact_match_similarity,
        "recipient": column_exact_match_similarity,
        "content": column_rouge_l_similarity,
        "tool_trace": column_tool_trace_exact_match_similarity,
    },
    DatabaseNamespace.SETTING: {"wifi": column_exact_match_similarity},
    DatabaseNamespace.REMINDER: {
        "content": column_rouge_l_similarity,
        "reminder_timestamp": column_exact_match_similarity,
    },
}
"""
SCENARIO = """
class Scenario:
    max_messages: int = 12
"""
DISCOVERY = """
class ToolBackend(StrEnum):
    DEFAULT = auto()
"""
UTILS = '''
import datetime
import uuid

def known_id(payload: str) -> str:
    """Return an id that stays."""
    return str(uuid.uuid5(namespace=uuid.NAMESPACE_URL, name=payload))

def from_now(hours, days=0):
    return datetime.datetime.now() + datetime.timedelta(hours=hours, days=days)
'''
EXAMPLES = '''
from textwrap import dedent
from typing import Any
from tool_sandbox.common.execution_context import RoleType

USER_INSTRUCTION = dedent(
    """
    Play User A, who writes to User B.
    It is your task: """
).lstrip()

def examples() -> dict[str, list[dict[str, Any]]]:
    told: dict[str, list[dict[str, Any]]] = {
        "lamp": [
            {
                "sender": RoleType.SYSTEM,
                "recipient": RoleType.USER,
                "content": USER_INSTRUCTION + "Have User B light your (User A's) lamp.",
                "visible_to": [RoleType.USER],
            },
            {
                "sender": RoleType.USER,
                "recipient": RoleType.AGENT,
                "content": "It is dark here",
                "visible_to": [RoleType.USER],
            },
            {
                "sender": RoleType.AGENT,
                "recipient": RoleType.USER,
                "content": "Shall I light the lamp?",
                "visible_to": [RoleType.USER],
            },
            {
                "sender": RoleType.USER,
                "recipient": RoleType.EXECUTION_ENVIRONMENT,
                "content": "end_conversation()",
                "visible_to": [RoleType.USER],
            },
        ],
    }
    for example in told.values():
        for message in example:
            assert message["visible_to"] == [RoleType.USER], f"of {message['sender']}"
    return told
'''
BASES = """
import copy
import itertools
from collections import defaultdict
import polars as pl
import tool_sandbox.tools
from tool_sandbox.common.execution_context import DatabaseNamespace, RoleType
from tool_sandbox.common.scenario import Scenario
from tool_sandbox.common.tool_discovery import find_tools_by_module
from tool_sandbox.common.utils import from_now, known_id

def bases(backend):
    scenarios: dict[str, Scenario] = dict()
    modules = defaultdict(list)
    for name, tool in find_tools_by_module(tool_sandbox.tools, backend).items():
        modules[name].append(tool)
    code = "import json\\n"
    for module, names in modules.items():
        code += f"from {module} import {', '.join(names)}\\n"
    scenario = Scenario()
    scenario.starting_context.trace_tool = True
    context = scenario.starting_context
    context.add_to_database(
        namespace=DatabaseNamespace.SANDBOX,
        rows=[
            {
                "sender": RoleType.SYSTEM,
                "recipient": RoleType.EXECUTION_ENVIRONMENT,
                "content": code,
            },
            {
                "sender": RoleType.SYSTEM,
                "recipient": RoleType.AGENT,
                "content": "Ask {whoever} writes where you are unsure.",
            },
        ],
    )
    context.add_to_database(
        namespace=DatabaseNamespace.CONTACT,
        rows=[
            {"person_id": known_id(payload=name), "name": name, "phone_number": number,
             "relationship": "friend", "is_self": False}
            for name, number in [("Ada L", "+15550100"), ("Bo K", "+15550101")]
        ],
    )
    context.add_to_database(
        namespace=DatabaseNamespace.REMINDER,
        rows=[
            {
                "reminder_id": known_id(payload="rope"),
                "content": "Buy rope",
                "creation_timestamp": from_now(hours=-1).timestamp(),
                "reminder_timestamp": from_now(1, days=2).timestamp(),
                "latitude": None,
                "longitude": None,
            },
        ],
    )
    context.tool_allow_list = ["end_conversation"]
    scenarios["base"] = scenario
    names = ("wifi", "cellular")
    for columns in [x for n in range(1, 3) for x in itertools.combinations(names, n)]:
        scenario = copy.deepcopy(scenarios["base"])
        context = scenario.starting_context
        settings = context.get_database(namespace=DatabaseNamespace.SETTING)
        context.update_database(
            namespace=DatabaseNamespace.SETTING,
            dataframe=settings.with_columns([~pl.col(c).alias(c) for c in columns]),
        )
        settings = context.get_database(namespace=DatabaseNamespace.SETTING)
        ends = "_".join([f"{c}_{('off', 'on')[int(settings[c][0])]}" for c in columns])
        scenarios["base_" + ends] = scenario
    return scenarios
"""
CHATS = """
import datetime
import json
from functools import partial
import polars as pl
from tool_sandbox.common.evaluation import (
    Milestone,
    Minefield,
    SnapshotConstraint,
    addition_similarity,
    column_close_similarity,
    column_tool_trace_exact_match_similarity,
    snapshot_similarity,
    tool_trace_dependant_similarity,
)
from tool_sandbox.common.execution_context import DatabaseNamespace, RoleType, ScenarioCategories
from tool_sandbox.common.scenario import ScenarioExtension
from tool_sandbox.common.tool_trace_extractors import result_to_timestamp0_extractor
from tool_sandbox.common.utils import from_now
from tool_sandbox.scenarios.bases import bases
from tool_sandbox.scenarios.user_simulator_few_shot_examples import USER_INSTRUCTION, examples

def extensions(worlds):
    return [
        ScenarioExtension(
            name="wifi_on",
            base_scenario=worlds["base_wifi_off"],
            messages=[
                {
                    "sender": RoleType.SYSTEM,
                    "recipient": RoleType.USER,
                    "content": USER_INSTRUCTION + "Get online",
                },
                {"sender": RoleType.USER, "recipient": RoleType.AGENT, "content": "I am offline"},
            ],
            tool_allow_list=["set_wifi_status"],
            milestones=[
                Milestone(
                    snapshot_constraints=[
                        SnapshotConstraint(
                            database_namespace=DatabaseNamespace.SETTING,
                            snapshot_constraint=snapshot_similarity,
                            target_dataframe=pl.DataFrame({"wifi": True}),
                        )
                    ]
                ),
            ],
            minefields=[
                Minefield(
                    snapshot_constraints=[
                        SnapshotConstraint(
                            database_namespace=DatabaseNamespace.SANDBOX,
                            snapshot_constraint=snapshot_similarity,
                            target_dataframe=pl.DataFrame(
                                {
                                    "sender": RoleType.EXECUTION_ENVIRONMENT,
                                    "tool_trace": json.dumps(
                                        [
                                            {
                                                "tool_name": "shift_timestamp",
                                                "arguments": {"days": 0},
                                            },
                                        ],
                                        ensure_ascii=False,
                                    ),
                                }
                            ),
                            column_similarity_measure={
                                "tool_trace": partial(
                                    column_tool_trace_exact_match_similarity,
                                    atol_dict={"days": float("inf")},
                                )
                            },
                        )
                    ]
                )
            ],
        ),
        ScenarioExtension(
            name="text_ada",
            base_scenario=worlds["base"],
            messages=[
                *examples()["lamp"],
                {
                    "sender": RoleType.SYSTEM,
                    "recipient": RoleType.USER,
                    "content": USER_INSTRUCTION
                    + "Ask User B to remind you (User A) to text Ada L: See you at nine. "
                    f"It is {datetime.datetime.now().year}. Do not leak this information. "
                    "You do not know her number.",
                },
                {"sender": RoleType.USER, "recipient": RoleType.AGENT, "content": "Note this"},
            ],
            tool_allow_list=["add_reminder", "get_current_timestamp"],
            tool_deny_list=["modify_reminder"],
            milestones=[
                Milestone(
                    snapshot_constraints=[
                        SnapshotConstraint(
                            database_namespace=DatabaseNamespace.SANDBOX,
                            snapshot_constraint=snapshot_similarity,
                            target_dataframe=pl.DataFrame(
                                {
                                    "recipient": RoleType.AGENT,
                                    "tool_trace": json.dumps(
                                        {"tool_name": "get_current_timestamp", "arguments": {}}
                                    ),
                                }
                            ),
                        )
                    ],
                    guardrail_database_exclusion_list=[DatabaseNamespace.SETTING],
                ),
                Milestone(
                    snapshot_constraints=[
                        SnapshotConstraint(
                            database_namespace=DatabaseNamespace.REMINDER,
                            snapshot_constraint=addition_similarity,
                            reference_milestone_node_index=0,
                            target_dataframe=pl.DataFrame(
                                [
                                    {
                                        "content": "Text Ada",
                                        "reminder_timestamp": from_now(3).timestamp(),
                                    }
                                ]
                            ),
                            column_similarity_measure={
                                "reminder_timestamp": partial(
                                    column_close_similarity, atol_dict={"reminder_timestamp": 60}
                                )
                            },
                        )
                    ]
                ),
                Milestone(
                    snapshot_constraints=[
                        SnapshotConstraint(
                            database_namespace=DatabaseNamespace.SANDBOX,
                            snapshot_constraint=partial(
                                tool_trace_dependant_similarity,
                                fill_to="tool_trace",
                                extractor=result_to_timestamp0_extractor,
                            ),
                            reference_milestone_node_index=0,
                            target_dataframe=pl.DataFrame(
                                {
                                    "tool_trace": json.dumps(
                                        {"tool_name": "timestamp_diff", "arguments": {}}
                                    )
                                }
                            ),
                        )
                    ]
                ),
            ],
            milestone_edge_list=[(0, 1), (0, 2)],
            categories=[ScenarioCategories.MULTIPLE_USER_TURN],
        ),
    ]

def chats(backend):
    made = extensions(bases(backend))
    for extension in made:
        for usual in [ScenarioCategories.SINGLE_TOOL_CALL]:
            if usual not in extension.categories:
                extension.categories.append(usual)
    return {
        key: scenario for each in made for key, scenario in each.get_extended_scenario().items()
    }
"""
SCENARIOS = """
import copy
import random
from typing import cast
import tool_sandbox.tools
from tool_sandbox.common.execution_context import ScenarioCategories
from tool_sandbox.common.tool_discovery import rank_tools_by_similarity
from tool_sandbox.scenarios.chats import chats

def named_scenarios(preferred_tool_backend):
    scenarios = dict()
    for new in [chats(preferred_tool_backend)]:
        twice = set(scenarios.keys()) & set(new.keys())
        if twice:
            raise ValueError(f"twice: {twice}")
        scenarios.update(new)
    for name in list(scenarios.keys()):
        similar = rank_tools_by_similarity(
            scenarios[name].starting_context.tool_allow_list,
            tool_sandbox.tools,
            preferred_tool_backend=preferred_tool_backend,
        )
        random.shuffle(cast(list[str], scenarios[name].starting_context.tool_allow_list))
        scenario = copy.deepcopy(scenarios[name])
        scenario.starting_context.tool_allow_list.extend(similar[:3])
        scenario.categories.append(ScenarioCategories.THREE_DISTRACTION_TOOLS)
        scenarios[f"{name}_3_distraction_tools"] = scenario
        scenarios[name].categories.append(ScenarioCategories.NO_DISTRACTION_TOOLS)
        scenario = copy.deepcopy(scenarios[f"{name}_3_distraction_tools"])
        scenario.starting_context.tool_augmentation_list = [ScenarioCategories.TOOL_NAME_SCRAMBLED]
        scenario.categories.append(ScenarioCategories.TOOL_NAME_SCRAMBLED)
        scenarios[f"{name}_3_distraction_tools_tool_name_scrambled"] = scenario
    return scenarios
"""
FILES = {
    "common/execution_context.py": CONTEXT,
    "common/evaluation.py": EVALUATION,
    "common/scenario.py": SCENARIO,
    "common/tool_discovery.py": DISCOVERY,
    "common/utils.py": UTILS,
    "scenarios/user_simulator_few_shot_examples.py": EXAMPLES,
    "scenarios/bases.py": BASES,
    "scenarios/chats.py": CHATS,
    "scenarios/__init__.py": SCENARIOS,
    "tools/__init__.py": "",
}


def modules() -> Iterator[tuple[str, str]]:
    """Yield the files of the tools, whose docstrings tell each text behind `Upstream's`."""
    files: dict[str, list[str]] = {}
    for tool in tools():
        group = tool.id.split("/")[1]
        names = list(tool.parameters.get("properties", {}))
        told = [
            f"    Upstream's {tool.name}.",
            "",
            f"    More of {tool.name}",
            "    on two lines.",
            "",
        ]
        if names:
            of_each = [
                f"        {name}:   Upstream's {name}\n            of the call" for name in names
            ]
            told += ["    Args:", *of_each, ""]
        told += ["    Returns:", "        Something", ""]
        files.setdefault("user_tools" if group == "user" else group, []).append(
            "\n".join(
                [
                    "@register_as_tool",
                    f"def {tool.name}({', '.join(names)}):",
                    '    """' + "\n".join(told).lstrip(),
                    '    """',
                    "    import no.such.module",
                ]
            )
        )
    for name, functions in files.items():
        yield f"tools/{name}.py", "\n\n".join(functions)


def write_checkout(folder: Path) -> Path:
    """Write the repository into a folder; return the folder."""
    for name, content in {**FILES, **dict(modules())}.items():
        path = folder / "tool_sandbox" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder

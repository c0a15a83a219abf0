"""ToolSandbox's scenarios as tasks: own records, another clock, bad input, and the real file."""

import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toolsandbox_sources import NOON, constraint, graph, scenario, scrambled, write

from seal.core import DataError, Task, Tool
from seal.pools.augmentation import augment_pool, parse_augmentations
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import StoredPool, load_pool


class Source:
    """A folder of scenarios and the pool that is made of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "toolsandbox"
        self.out = folder / "pool"

    def imported(self, *records: Any, **options: Any) -> ImportReport:
        write(self.folder, *records)
        return import_benchmark("toolsandbox", self.folder, self.out, **options)

    def pool(self, *records: Any, **options: Any) -> StoredPool:
        self.imported(*records, **options)
        return load_pool(self.out)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_a_scenario_becomes_a_task_of_the_phone(source: Source) -> None:
    (task,) = source.pool(scenario()).tasks()
    (goal,) = task.goals
    assert (task.id, task.benchmark, task.world) == ("wifi_on", "toolsandbox", "phone")
    assert (goal.text, goal.offered) == ("Turn on wifi", ("phone/setting/set_wifi_status",))
    assert task.persona == {"goal": "Turn on wifi"}
    assert task.initial_state is not None
    assert list(task.initial_state) == ["settings", "contacts", "messages", "reminders"]
    assert goal.plans is not None
    assert len(goal.plans[0].milestones) == 1


def test_metadata_tell_rules_clock_limit_and_the_tools_that_it_is_about(source: Source) -> None:
    (task,) = source.pool(scenario()).tasks()
    assert task.metadata == {
        "match": "toolsandbox",
        "clock": {"start": NOON, "zone": "UTC", "first": 5, "step": 1.25},
        "max_messages": 30,
        "base": "wifi_on",
        "tools": {
            "allow": ["phone/setting/set_wifi_status", "phone/user/end_conversation"],
            "deny": [],
        },
    }


def test_categories_are_tags_to_select_by_and_the_base_is_the_group(source: Source) -> None:
    pool = source.pool(scenario(), scenario("other", categories=["STATE_DEPENDENCY"]))
    (task,) = pool.tasks(select={"single_tool": "true", "state_dependency": "false"})
    assert task.tags == {
        "single_tool": True,
        "multiple_tool": False,
        "single_turn": True,
        "multiple_turn": False,
        "state_dependency": False,
        "canonicalization": False,
        "insufficient_information": False,
        "augmentation": "no_distraction_tools",
        "group": "wifi_on",
    }


def test_the_report_says_what_the_data_lack_and_counts_categories(source: Source) -> None:
    report = source.imported(scenario())
    assert report.lacks == (
        "demonstrations", "knowledge_boundaries", "reference", "relevant", "user_goals",
    )  # fmt: skip
    assert (report.tools, report.tasks) == (33, 1)
    assert report.facts["counts"] == {
        "references": 0,
        "bases": 1,
        "single_tool": 1,
        "single_turn": 1,
    }


def test_the_users_tool_is_no_tool_of_the_pool(source: Source) -> None:
    names = {tool.name for tool in source.pool(scenario()).tools()}
    assert "set_wifi_status" in names
    assert "end_conversation" not in names


@pytest.mark.parametrize(
    ("kind", "seen", "changed"),
    [
        ("TOOL_NAME_SCRAMBLED", "setting_8", "name"),
        ("TOOL_DESCRIPTION_SCRAMBLED", "set_wifi_status", "description"),
        ("ARG_DESCRIPTION_SCRAMBLED", "set_wifi_status", "parameters"),
        ("ARG_TYPE_SCRAMBLED", "set_wifi_status", "parameters"),
    ],
)
def test_a_scrambled_offer_is_of_tools_of_their_own(
    source: Source, kind: str, seen: str, changed: str
) -> None:
    pool = source.pool(scrambled("s", kind, seen=seen, real="set_wifi_status"))
    tools = {tool.id: tool for tool in pool.tools()}
    (task,) = pool.tasks()
    (offered,) = task.goals[0].offered or ()
    new, real = tools[offered], tools["phone/setting/set_wifi_status"]
    assert (new.name, new.source["function"]) == (seen, real.id)
    differing = [
        f for f in ("name", "description", "parameters") if vars_of(new)[f] != vars_of(real)[f]
    ]
    assert differing == [changed]


def vars_of(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"tools": {"agent_tools": [["a", "fly"]], "augmentations": []}},
            "no tool of the phone 'fly'",
        ),
        ({"tools": {"agent_tools": ["a"], "augmentations": []}}, "expected pairs of names"),
        ({"tools": {"augmentations": []}}, "'agent_tools' is missing"),
        (
            {"tools": {"agent_tools": [["end_conversation"] * 2], "augmentations": []}},
            "the agent of the phone has no 'end_conversation'",
        ),
        (
            {"tools": {"agent_tools": [], "augmentations": [], "allow": ["fly"]}},
            "no tool of the phone 'fly'",
        ),
        ({"categories": ["HARD"]}, r"categories: expected some of SINGLE_TOOL_CALL.*'HARD'"),
        ({"initial_state": {"SETTING": []}}, "initial_state: expected the tables SETTING, CONTACT"),
        ({"messages": []}, "messages: expected the user's first message"),
        ({"messages": [{"content": None}]}, "content: expected a text, got None"),
        ({"max_messages": "30"}, "max_messages: expected a whole number"),
        ({"milestones": {}}, "'nodes' is missing"),
        ({"milestones": graph(constraint("PIGEON"))}, "no database 'PIGEON'"),
    ],
)
def test_a_malformed_scenario_is_left_out_and_told_by_line_and_field(
    source: Source, fields: dict[str, Any], told: str
) -> None:
    report = source.imported(scenario(), scenario("second", **fields), scenario("third"))
    assert (report.tasks, report.dropped) == (2, {"malformed_record": 1})
    (fault,) = report.malformed
    assert re.search(rf"scenarios_core.jsonl.gz, line 2: .*{told}", fault)
    with pytest.raises(DataError, match=f"line 1: .*{told}"):
        source.imported(scenario(**fields))


def test_an_unknown_scrambling_is_told(source: Source) -> None:
    record = scrambled("s", "UPSIDE_DOWN", seen="a", real="set_wifi_status")
    with pytest.raises(DataError, match="no scrambling 'UPSIDE_DOWN'"):
        source.imported(record)


def test_a_scenario_that_stands_twice_and_a_line_that_is_no_json_are_left_out(
    source: Source,
) -> None:
    path = write(source.folder, scenario(), scenario())
    path.write_bytes(path.read_bytes() + gzip.compress(b'{"id": \n\n'))
    report = import_benchmark("toolsandbox", source.folder, source.out)
    assert (report.tasks, report.dropped) == (1, {"malformed_record": 2})
    assert "line 2: the scenario 'wifi_on' stood before" in report.malformed[0]
    assert "line 3: not JSON" in report.malformed[1]


@pytest.mark.parametrize(
    ("end", "told"),
    [(-9, "no whole gzip file"), (5, "no whole gzip file"), (0, "holds no scenario")],
)
def test_a_torn_file_is_told(source: Source, end: int, told: str) -> None:
    path = write(source.folder, *(scenario(str(n)) for n in range(20)))
    path.write_bytes(path.read_bytes()[:end])
    with pytest.raises(DataError, match=told):
        import_benchmark("toolsandbox", source.folder, source.out)
    assert not source.out.exists()


def test_a_file_of_another_content_is_told(source: Source) -> None:
    source.folder.mkdir()
    path = source.folder / "scenarios_core.jsonl.gz"
    for content, told in ((b"{}", "no whole gzip"), (gzip.compress(b"[1"), "line 1: not JSON")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=told):
            import_benchmark("toolsandbox", source.folder, source.out)


def test_a_file_that_unpacks_beyond_measure_is_refused(source: Source) -> None:
    path = write(source.folder, scenario("one"))
    path.write_bytes(path.read_bytes() + gzip.compress((b" " * 4095 + b"\n") * 2**15))
    with pytest.raises(DataError, match=r"bytes unpack to more than 67108864; .*gunzip"):
        import_benchmark("toolsandbox", source.folder, source.out)


def test_the_wrong_folder_is_told_with_what_it_holds(source: Source) -> None:
    source.folder.mkdir()
    (source.folder / "rouge.json.gz").touch()
    with pytest.raises(DataError, match=r"holds rouge.json.gz; toolsandbox expects scenarios_core"):
        import_benchmark("toolsandbox", source.folder, source.out)


def test_a_plain_file_is_read_as_well(source: Source, tmp_path: Path) -> None:
    path = tmp_path / "scenarios_core.jsonl"
    path.write_text(json.dumps(scenario()) + "\n\n")
    assert import_benchmark("toolsandbox", path, source.out).tasks == 1


@pytest.fixture(scope="module")
def real_records(seal_data: Path) -> list[dict[str, Any]]:
    path = seal_data / "toolsandbox" / "scenarios_core.jsonl.gz"
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


@pytest.fixture(scope="module")
def real_pool(seal_data: Path, tmp_path_factory: pytest.TempPathFactory) -> StoredPool:
    out = tmp_path_factory.mktemp("pool") / "toolsandbox"
    import_benchmark("toolsandbox", seal_data / "toolsandbox", out)
    return load_pool(out)


@pytest.fixture(scope="module")
def real_tasks(real_pool: StoredPool) -> dict[str, Task]:
    return {task.id: task for task in real_pool.tasks()}


def test_the_real_categories_are_those_of_the_papers_table_6(real_pool: StoredPool) -> None:
    assert real_pool.report["tasks"] == 1032
    assert real_pool.report["counts"] == {
        "references": 953,
        "bases": 129,
        "single_tool": 152,
        "multiple_tool": 656,
        "single_turn": 584,
        "multiple_turn": 224,
        "state_dependency": 192,
        "canonicalization": 472,
        "insufficient_information": 224,
    }


def test_each_of_the_eight_augmentations_has_every_base(real_tasks: dict[str, Task]) -> None:
    counts = Counter(task.tags["augmentation"] for task in real_tasks.values())
    assert set(counts.values()) == {129}
    assert len(counts) == 8


def test_real_tools_are_offered_as_the_agent_sees_them(
    real_pool: StoredPool, real_tasks: dict[str, Task], real_records: list[dict[str, Any]]
) -> None:
    names = {tool.id: tool.name for tool in real_pool.tools()}
    for record in real_records:
        offered = real_tasks[record["id"]].goals[0].offered or ()
        seen = [[names[id], id.partition("~")[0].rpartition("/")[2]] for id in offered]
        assert seen == record["tools"]["agent_tools"]


def bare(task: Task) -> Task:
    return replace(task, goals=(replace(task.goals[0], reference=()),))


def test_augmenting_the_base_scenarios_gives_what_upstream_offers(
    real_pool: StoredPool, real_tasks: dict[str, Task]
) -> None:
    made = augment_pool(
        real_pool.tools(), real_tasks.values(), parse_augmentations(["toolsandbox"])
    )
    assert made.dropped == {"augmented already": 903}
    wanted = {
        # A base that does not offer its gold tools has no reference to hand on.
        task.id: task if real_tasks[str(task.metadata["base"])].goals[0].reference else bare(task)
        for task in real_tasks.values()
    }
    assert {task.id: task for task in made.tasks} == wanted
    assert {tool.id: tool for tool in made.tools} == {t.id: t for t in real_pool.tools()}


def test_the_schemas_are_those_that_upstreams_agents_see(
    seal_data: Path, real_pool: StoredPool
) -> None:
    facts = json.loads((seal_data / "toolsandbox" / "tool_schema_facts.json").read_bytes())
    tools = {tool.id.rpartition("/")[2]: tool for tool in real_pool.tools()}
    for name, expected in facts["json_types"].items():
        if name != "end_conversation":
            schema = tools[name].parameters
            types = {arg: {"json_type": s["type"]} for arg, s in schema["properties"].items()}
            assert (types, schema["required"]) == (expected["args"], expected["required"])


@pytest.mark.parametrize(
    ("scrambling", "suffix"),
    [
        ("TOOL_NAME_SCRAMBLED", "names"),
        ("TOOL_DESCRIPTION_SCRAMBLED", "descriptions"),
        ("ARG_DESCRIPTION_SCRAMBLED", "argument-descriptions"),
        ("ARG_TYPE_SCRAMBLED", "argument-types"),
    ],
)
def test_each_scrambling_leaves_what_upstreams_leaves(
    seal_data: Path, real_pool: StoredPool, scrambling: str, suffix: str
) -> None:
    facts = json.loads((seal_data / "toolsandbox" / "tool_schema_facts.json").read_bytes())
    unchanged = set(facts["scrambling_facts"][scrambling]["unchanged_tools"])
    ids = {tool.id.rpartition("/")[2] for tool in real_pool.tools()}
    plain = {name for name in ids if "~" not in name}
    touched = {name.partition("~")[0] for name in ids if name.endswith(f"~{suffix}")}
    assert plain - touched == unchanged - {"end_conversation"}
    for tool in real_pool.tools():
        if tool.id.endswith("~argument-types"):
            assert not any("type" in s for s in tool.parameters["properties"].values())

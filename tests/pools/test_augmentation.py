"""Tool augmentations: what a user may name, what becomes of tools and gold, folders, bad input."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seal
from seal.benchmarks.sample import SAMPLE
from seal.benchmarks.toolsandbox import VARIANTS
from seal.core import (
    DataError,
    Goal,
    Milestone,
    Plan,
    Step,
    Task,
    Tool,
    ToolCall,
    UnknownNameError,
    UsageError,
    write_records,
)
from seal.core.conditions import Argument, Called, Replied
from seal.core.state_conditions import AllOf
from seal.pools.augmentation import (
    SCRAMBLINGS,
    Augmentation,
    Distractors,
    Scrambler,
    augment_pool,
    augment_stored,
    parse_augmentations,
    renamed,
)
from seal.pools.importer import REGISTRY
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool, named_tools, originals


def tool(name: str, category: str = "", **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return Tool(f"b/{category or 'x'}/{name}", name, f"Does {name}.", schema, category)


TIDE = tool("find_tide", "sea", harbour={"type": "string", "description": "Where."})
TOOLS = (
    tool("find_berth", "sea", harbour={"type": "string"}),
    TIDE,
    tool("book_berth", "sea", day={"type": "string", "format": "date"}),
    tool("find_tides", "moon"),
    tool("ring_bell", "ship"),
)


def called(*names: str) -> Plan:
    return Plan(tuple(Milestone(Called(name, {"harbour": Argument(("Oslo",))})) for name in names))


def task(name: str = "t", **fields: Any) -> Task:
    goal = {"offered": (TIDE.id,), "relevant": (TIDE.id,), "plans": (called(TIDE.id),)}
    return Task(name, "b", (Goal("When is high water?", **{**goal, **fields}),))


def names(offered: tuple[str, ...] | None) -> list[str]:
    return [id.rpartition("/")[2] for id in offered or ()]


def test_augmentations_are_named_as_the_paper_names_its_scenarios() -> None:
    assert [augmentation.name for augmentation in VARIANTS] == [
        "no_distraction_tools",
        "3_distraction_tools",
        "10_distraction_tools",
        "all_tools",
        "3_distraction_tools_tool_name_scrambled",
        "3_distraction_tools_tool_description_scrambled",
        "3_distraction_tools_arg_description_scrambled",
        "3_distraction_tools_arg_type_scrambled",
    ]


def test_texts_are_read_whatever_the_order_of_their_parts_and_each_once() -> None:
    read = parse_augmentations(["distraction=3,names", "names, distraction=3", "toolsandbox"])
    assert read[0] == Augmentation(3, ("names",))
    assert len(read) == len(set(read)) == 8
    assert parse_augmentations(["argument-types,names"])[0].scrambled == ("names", "argument-types")


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("nmes", UnknownNameError, "Did you mean 'names'"),
        ("", UnknownNameError, "no augmentation ''"),
        ("names=3", UnknownNameError, "no augmentation 'names=3'"),
        ("distraction=-1", UsageError, "distraction=-1: expected a number of tools from 0, or all"),
        ("distraction=some", UsageError, "expected distraction=N with a number of tools"),
        ("distraction", UsageError, "expected distraction=N"),
    ],
)
def test_what_no_augmentation_is_is_told(text: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        parse_augmentations([text])


def test_a_benchmark_may_declare_a_name_of_several(monkeypatch) -> None:
    both = (Augmentation(1), Augmentation(1, ("names",)))
    harbour = seal.Benchmark("harbour", augmentations={"quay": both})
    monkeypatch.setitem(REGISTRY._registered, "harbour", harbour)
    assert parse_augmentations([" quay ", "distraction=1"]) == both
    with pytest.raises(UnknownNameError, match=r"no augmentation 'quai'.*Did you mean 'quay'"):
        parse_augmentations(["quai"])


def test_no_augmentation_at_all_is_told() -> None:
    with pytest.raises(UsageError, match="name at least one augmentation: distraction=N"):
        parse_augmentations([])
    with pytest.raises(UsageError, match="no augmentation given"):
        augment_pool(TOOLS, [task()], [])


def test_tools_of_the_same_category_come_first_then_those_of_like_names() -> None:
    ranked = Distractors(TOOLS).ranked([TIDE.id])
    assert names(ranked) == ["find_berth", "book_berth", "find_tides", "ring_bell"]
    assert Distractors(TOOLS).ranked([TIDE.id], 2) == ranked[:2]
    assert Distractors(TOOLS).ranked([TIDE.id], 0) == ()


def test_without_categories_the_names_alone_decide() -> None:
    plain = [replace(tool, category="") for tool in TOOLS]
    assert names(Distractors(plain).ranked([TIDE.id]))[0] == "find_tides"


def test_equally_like_tools_stand_in_the_order_of_the_pool() -> None:
    twins = [Tool(f"b/x/{n}", "same name") for n in (3, 1, 2)]
    assert Distractors([TIDE, *twins]).ranked([TIDE.id]) == ("b/x/3", "b/x/1", "b/x/2")


def test_a_given_tool_that_the_pool_lacks_counts_by_its_id() -> None:
    assert names(Distractors(TOOLS).ranked(["b/ship/ring_bells"], 1)) == ["ring_bell"]


@given(st.sets(st.sampled_from([tool.id for tool in TOOLS])), st.integers(0, 6))
def test_a_ranking_holds_every_other_tool_once(own: set[str], count: int) -> None:
    ranked = Distractors(TOOLS).ranked(own)
    assert sorted([*ranked, *own]) == sorted(tool.id for tool in TOOLS)
    assert Distractors(TOOLS).ranked(own, count) == ranked[:count]


def test_names_are_the_category_and_the_place_among_its_sorted_names() -> None:
    scrambler = Scrambler(TOOLS)
    shown = {tool.name: scrambler.scrambled(tool, ["names"]).name for tool in TOOLS}
    assert shown == {
        "book_berth": "sea_0",
        "find_berth": "sea_1",
        "find_tide": "sea_2",
        "find_tides": "moon_0",
        "ring_bell": "ship_0",
    }


def test_names_without_a_category_and_of_categories_written_alike_are_distinct() -> None:
    tools = [
        tool("a"), tool("b"), tool("c", "On Sea"), tool("d", "On/Sea"), tool("e", "x" * 200),
    ]  # fmt: skip
    shown = [Scrambler(tools).scrambled(tool, ["names"]).name for tool in tools]
    assert shown[:4] == ["tool_0", "tool_1", "On_Sea_0", "On_Sea_1"]
    assert len(shown[4]) <= 64


def test_a_scrambled_tool_says_less_and_keeps_what_must_be_known() -> None:
    scrambler = Scrambler(TOOLS)
    silent = scrambler.scrambled(TIDE, ["descriptions"])
    assert (silent.description, silent.parameters) == ("", TIDE.parameters)
    untold = scrambler.scrambled(TIDE, ["argument-descriptions"])
    assert untold.parameters["properties"] == {"harbour": {"type": "string"}}
    untyped = scrambler.scrambled(TIDE, ["argument-types"])
    assert untyped.parameters["properties"] == {"harbour": {"description": "Where."}}
    assert untyped.parameters["required"] == ["harbour"]


def test_nested_arguments_are_scrambled_too_and_keep_their_names() -> None:
    inner = {"type": "string", "description": "d"}
    deep = tool(
        "deep",
        "sea",
        type={"type": "object", "properties": {"type": inner, "description": inner}},
        list={"type": "array", "items": {"anyOf": [inner, {"type": "null"}]}, "enum": [["type"]]},
    )
    untyped = Scrambler([deep]).scrambled(deep, ["argument-types", "argument-descriptions"])
    assert untyped.parameters["properties"] == {
        "type": {"properties": {"type": {}, "description": {}}},
        "list": {"items": {"anyOf": [{}, {}]}, "enum": [["type"]]},
    }


def test_a_tool_without_arguments_keeps_all_but_its_name() -> None:
    bell, scrambler = TOOLS[4], Scrambler(TOOLS)
    for what in SCRAMBLINGS:
        assert (scrambler.scrambled(bell, [what]) is bell) == (what != "names")


def test_a_tool_says_itself_what_leaves_it_as_it_is() -> None:
    kept = replace(TIDE, source={"keeps": ["argument-descriptions"]})
    scrambler = Scrambler([kept])
    assert scrambler.scrambled(kept, ["argument-descriptions"]) is kept
    assert scrambler.scrambled(kept, ["descriptions"]).description == ""


@given(st.lists(st.sampled_from(list(SCRAMBLINGS)), min_size=1, unique=True))
def test_the_original_is_found_again(what: list[str]) -> None:
    scrambler = Scrambler(TOOLS)
    scrambled = [scrambler.scrambled(tool, what) for tool in TOOLS]
    found = originals(scrambled)
    assert [found.get(tool.id, tool) for tool in scrambled] == list(TOOLS)
    assert len({tool.name for tool in scrambled}) == len(TOOLS)


def test_gold_follows_wherever_it_stands() -> None:
    new = Scrambler(TOOLS).scrambled(TIDE, ["names"])
    call = ToolCall("call_0", TIDE.name, {"harbour": "Oslo"}, tool=TIDE.id)
    inside = Milestone(AllOf((Called(TIDE.id), Replied(("high",)))))
    forbidden = Milestone(Called(TIDE.id))
    old = task(
        plans=(Plan((*called(TIDE.id).milestones, inside), (forbidden,)),),
        reference=(Step(0, "execution_manager", "executor", call=call),),
    )
    changed = renamed(old, {TIDE.id: new})
    assert {id for _, id in named_tools(changed)} == {new.id}
    (goal,) = changed.goals
    assert goal.plans is not None
    nested = goal.plans[0].milestones[1].condition
    assert isinstance(nested, AllOf)
    assert nested.conditions == (Called(new.id), Replied(("high",)))
    assert goal.reference[0].call == replace(call, name=new.name, tool=new.id)
    assert renamed(changed, {new.id: TIDE}) == old


def augmented(*texts: str, tasks: list[Task] | None = None, tools: Any = TOOLS) -> Any:
    return augment_pool(tools, tasks or [task()], parse_augmentations(texts))


def test_distraction_offers_own_tools_and_the_most_like_in_the_order_of_the_pool() -> None:
    made = augmented("distraction=0", "distraction=2", "distraction=all")
    assert [names(task.goals[0].offered) for task in made.tasks] == [
        ["find_tide"],
        ["find_berth", "find_tide", "book_berth"],
        ["find_berth", "find_tide", "book_berth", "find_tides", "ring_bell"],
    ]
    assert [task.id for task in made.tasks] == ["t", "t_2_distraction_tools", "t_all_tools"]
    assert [task.tags["augmentation"] for task in made.tasks][1] == "2_distraction_tools"
    assert {task.metadata["base"] for task in made.tasks} == {"t"}
    assert made.tools == list(TOOLS)


def test_denied_tools_are_taken_away_after_the_count() -> None:
    given = {"allow": [TIDE.id], "deny": ["b/sea/find_berth"]}
    denied = replace(task(), metadata={"tools": given})
    made = augmented("distraction=2", tasks=[denied])
    assert names(made.tasks[0].goals[0].offered) == ["find_tide", "book_berth"]


def test_a_goal_whose_tools_are_retrieved_is_offered_its_gold_tools_and_others() -> None:
    made = augmented("distraction=1", tasks=[task(offered=None)])
    assert names(made.tasks[0].goals[0].offered) == ["find_berth", "find_tide"]


def test_what_a_benchmark_means_by_the_same_words_is_left_alone() -> None:
    theirs = replace(task(), metadata={"tools": ["wrench"]})
    pool = [replace(one, source={"original": "a page of the web"}) for one in TOOLS]
    (found,) = augmented("distraction=1", tasks=[theirs], tools=pool).tasks
    assert (found.metadata["tools"], len(found.goals[0].offered or ())) == (["wrench"], 2)


def test_a_goal_without_any_tool_can_only_be_offered_all() -> None:
    idle = task(offered=None, relevant=(), plans=None)
    made = augmented("distraction=3", "distraction=all", tasks=[idle, task("u")])
    assert made.dropped == Counter({"neither offered nor gold tools": 1})
    offered = {task.id: len(task.goals[0].offered or ()) for task in made.tasks}
    assert offered == {"u_3_distraction_tools": 4, "t_all_tools": 5, "u_all_tools": 5}


def test_scrambled_tools_stand_beside_the_others_where_tasks_are_offered_theirs() -> None:
    made = augmented("distraction=1", "distraction=1,names")
    assert [tool.id for tool in made.tools[len(TOOLS) :]] == [
        "b/sea/find_berth~names",
        "b/sea/find_tide~names",
    ]
    (goal,) = made.tasks[1].goals
    assert goal.relevant == ("b/sea/find_tide~names",)
    assert {id for _, id in named_tools(made.tasks[1])} <= {tool.id for tool in made.tools}


def test_scrambled_tools_replace_all_others_where_tools_are_retrieved() -> None:
    made = augmented("descriptions", tasks=[task(offered=None)])
    assert [tool.description for tool in made.tools] == [
        "",
        "",
        "",
        *[t.description for t in TOOLS[3:]],
    ]
    assert made.tasks[0].goals[0].offered is None
    assert made.tasks[0].goals[0].relevant == ("b/sea/find_tide~descriptions",)


def test_a_pool_to_retrieve_from_is_scrambled_in_one_way_only() -> None:
    with pytest.raises(UsageError, match="scrambled in one way only"):
        augmented("names", "descriptions", tasks=[task(offered=None)])


def test_tasks_that_are_augmented_already_are_counted_and_left_out() -> None:
    once = augmented("distraction=1", "distraction=1,names")
    again = augment_pool(once.tools, [*once.tasks, task("u")], parse_augmentations(["names"]))
    assert again.dropped == Counter({"augmented already": 2})
    assert [task.id for task in again.tasks] == ["u_tool_name_scrambled"]
    assert [tool.id for tool in again.tools[: len(TOOLS)]] == [tool.id for tool in TOOLS]


def test_a_folder_is_written_that_loads_with_all_its_gold(tmp_path: Path) -> None:
    pool = load_pool(SAMPLE.folder)
    report = augment_stored(pool, tmp_path / "out", parse_augmentations(["toolsandbox"]))
    made = load_pool(tmp_path / "out")
    assert (made.name, len(list(made.tasks()))) == ("sample", report.tasks)
    # 8 of the 80 tasks need no tool: there is nothing to distract from, but all can be offered.
    assert report.facts["augmentations"]["3_distraction_tools"] == 72
    assert report.facts["augmentations"]["all_tools"] == 80
    assert report.dropped == {"neither offered nor gold tools": 7 * 8}
    assert pool.digest == load_pool(SAMPLE.folder).digest
    assert len(list(made.tasks(select={"augmentation": "all_tools"}))) == 80


def test_one_augmentation_may_stand_alone_in_python(tmp_path: Path) -> None:
    report = seal.augment("sample", "distraction=1", tmp_path / "out")
    assert report.facts["augmentations"] == {"1_distraction_tools": 72}


def test_equal_pools_give_equal_bytes(tmp_path: Path) -> None:
    digests = {
        augment_stored(
            load_pool(SAMPLE.folder),
            tmp_path / name,
            parse_augmentations(["distraction=3,names"]),
        ).digest
        for name in ("one", "two")
    }
    assert len(digests) == 1


def test_a_pool_of_which_nothing_can_be_augmented_is_told(tmp_path: Path) -> None:
    write_records(tmp_path / "pool" / "tools.jsonl", TOOLS)
    write_records(tmp_path / "pool" / "tasks.jsonl", [task(offered=None, relevant=(), plans=None)])
    with pytest.raises(DataError, match=r"no task of .* can be augmented: 1 neither offered"):
        augment_stored(
            load_pool(tmp_path / "pool"), tmp_path / "out", parse_augmentations(["distraction=3"])
        )
    assert not (tmp_path / "out").exists()


def test_recorded_runs_are_counted_and_left_out(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    write_records(pool / "tools.jsonl", TOOLS)
    write_records(pool / "tasks.jsonl", [task()])
    write_records(pool / "recorded" / "gpt" / "trajectories.jsonl", [])
    report = augment_stored(load_pool(pool), tmp_path / "out", parse_augmentations(["names"]))
    assert (report.dropped, report.recordings) == ({"recorded runs": 1}, {})


@pytest.mark.parametrize(
    ("importer", "name", "every"),
    [
        ("toolbench", "stabletoolbench", 1),
        pytest.param("bfcl", "bfcl", 4, marks=pytest.mark.slow),
    ],
)
@pytest.mark.no_cover
def test_real_pools_keep_their_gold(
    seal_data: Path, tmp_path: Path, importer: str, name: str, every: int
) -> None:
    import_benchmark(importer, seal_data / name, tmp_path / "pool")
    tasks_file = tmp_path / "pool" / "tasks.jsonl"
    tasks_file.write_bytes(b"".join(tasks_file.read_bytes().splitlines(keepends=True)[::every]))
    pool = load_pool(tmp_path / "pool")
    report = augment_stored(
        pool, tmp_path / "out", parse_augmentations(["distraction=3", "distraction=3,names"])
    )
    tasks = list(load_pool(tmp_path / "out").tasks())  # checks that every tool is there
    assert len(tasks) + sum(report.dropped.values()) >= 2 * len(list(pool.tasks()))
    plain = {task.metadata["base"]: task for task in tasks[: len(tasks) // 2]}
    back = originals(load_pool(tmp_path / "out").tools())
    for scrambled in tasks[len(tasks) // 2 :]:
        base = plain[scrambled.metadata["base"]]
        assert renamed(scrambled, back).goals == base.goals
        gold = {id for role, id in named_tools(scrambled) if role in ("relevant", "gold")}
        assert gold <= {id for goal in scrambled.goals for id in goal.offered or ()}


def test_the_ranking_of_every_real_scenario_is_the_originals(seal_data: Path) -> None:
    meta = json.loads((seal_data / "toolsandbox" / "tools_meta.json").read_bytes())
    ids = {name: f"phone/{meta['tool_module'][name]}/{name}" for name in meta["tool_order"]}
    tools = [
        Tool(ids[name], name, category=meta["tool_module"][name])
        for name in meta["tool_order"]
        if name != "end_conversation"
    ]
    allowed = _allowed(seal_data)
    ranked = {
        base: names(Distractors(tools).ranked([ids[name] for name in own]))
        for base, own in allowed.items()
    }
    assert len(ranked) == 129
    assert ranked == meta["ranked_distraction_tools"]
    shown = {tool.name: Scrambler(tools).scrambled(tool, ["names"]).name for tool in tools}
    assert {**shown, "end_conversation": "user_tools_0"} == meta["scrambled_names"]


def _allowed(seal_data: Path) -> dict[str, list[str]]:
    lines = gzip.decompress((seal_data / "toolsandbox" / "scenarios_core.jsonl.gz").read_bytes())
    records = [json.loads(line) for line in lines.splitlines()]
    return {
        record["base"]: record["tools"]["allow"]
        for record in records
        if record["augmentation"] == "no_distraction_tools"
    }


def test_an_augmented_pool_is_played_like_its_own(tmp_path: Path) -> None:
    seal.augment("dialogtool-sample", "names", tmp_path / "augmented")
    assert load_pool(tmp_path / "augmented").report["play"]["team"] == "tool_life"

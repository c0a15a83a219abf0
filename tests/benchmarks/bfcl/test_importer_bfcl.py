"""Whole imports of BFCL's files: tasks, counts, bad input, and the real files."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from bfcl_sources import HEIGHT, BfclShelf, answer, function, said, single
from peers.bfcl import python_gold

import seal
from seal.benchmarks.bfcl.tasks import MORE_FUNCTIONS
from seal.core import DataError, Goal, Plan, Step, ToolCall, Trajectory, UnknownNameError
from seal.core.conditions import Called
from seal.evaluation.mission_labels import mission_type
from seal.evaluation.missions import Missions
from seal.pools.imports import import_benchmark
from seal.pools.lint import lint
from seal.pools.pool import load_pool

TIDE = "bfcl/python/tide.height"
OBAN = {"tide.height": {"port": ["Oban"]}}


@pytest.fixture
def shelf(tmp_path: Path) -> BfclShelf:
    return BfclShelf(tmp_path)


def test_a_single_turn_item_becomes_a_task(shelf: BfclShelf) -> None:
    task = shelf.ask([OBAN])
    (goal,) = task.goals
    assert (task.id, task.benchmark, goal.text) == ("a_0", "bfcl", "How high is it in Oban?")
    assert (goal.offered, goal.relevant) == ((TIDE,), (TIDE,))
    assert goal.plans is not None
    assert goal.plans[0].calls()[0].tool == TIDE
    assert task.tags == {
        "group": "simple_python",
        "suite": "non_live",
        "language": "python",
        "python_gold": True,
        "multi_tool": False,
        "multi_step": False,
        "parallel": False,
    }


def test_parallel_calls_have_no_order(shelf: BfclShelf) -> None:
    leith = {"tide.height": {"port": ["Leith"]}}
    task = shelf.ask([OBAN, leith], name="parallel")
    (plan,) = task.goals[0].plans or ()
    assert [milestone.after for milestone in plan.milestones] == [(), ()]
    assert (task.tags["parallel"], task.tags["multi_step"], task.tags["multi_tool"]) == (
        True,
        True,
        False,
    )
    assert task.goals[0].relevant == (TIDE,)


def test_where_nothing_is_relevant_no_call_is_needed(shelf: BfclShelf) -> None:
    shelf.category("irrelevance", [single("irrelevance_0")])
    (goal,) = shelf.tasks()[0].goals
    assert (goal.plans, goal.offered, goal.relevant) == ((Plan(),), (TIDE,), ())


def test_where_something_is_relevant_any_call_will_do(shelf: BfclShelf) -> None:
    shelf.category("live_relevance", [single("r_0", HEIGHT, function("sail"))])
    (goal,) = shelf.tasks()[0].goals
    assert [plan.calls() for plan in goal.plans or ()] == [
        [Called(TIDE)],
        [Called("bfcl/python/sail")],
    ]
    assert goal.relevant == ()


def test_a_system_prompt_and_earlier_messages_are_history(shelf: BfclShelf) -> None:
    turn = [*said("Be brief.", role="system"), *said("Hello"), *said("Hi.", role="assistant")]
    item = {**single("irrelevance_0"), "question": [[*turn, *said("How high?")]]}
    shelf.category("irrelevance", [item])
    (task,) = shelf.tasks()
    assert task.goals[0].text == "How high?"
    assert [(step.author, step.recipient, step.content) for step in task.history] == [
        ("system", "execution_manager", "Be brief."),
        ("user_simulator", "execution_manager", "Hello"),
        ("execution_manager", "user_simulator", "Hi."),
    ]
    assert load_pool(shelf.out).report["counts"]["system_messages"] == 1


FILES = [
    function("move", ["source"], source="string", destination="string"),
    function("sort", ["file"], file="string"),
    function("copy", ["file"], file="string"),
]


def conversation(shelf: BfclShelf, name: str, turns: Any, truth: Any, **fields: Any) -> None:
    shelf.write("multi_turn_func_doc/gorilla_file_system.json", *FILES)
    item = {
        "id": f"multi_turn_{name}_0",
        "question": turns,
        "initial_config": {"GorillaFileSystem": {"root": {"a": {}}}},
        "path": ["GorillaFileSystem.move"],
        "involved_classes": ["GorillaFileSystem"],
        **fields,
    }
    shelf.category(f"multi_turn_{name}", [item], [answer(item["id"], *truth)])


def names(offered: tuple[str, ...] | None) -> list[str]:
    return [tool.rpartition("/")[2] for tool in offered or ()]


def test_each_turn_is_a_goal_with_its_calls_in_sequence(shelf: BfclShelf) -> None:
    conversation(
        shelf,
        "base",
        [said("Move it."), said("Sort it.")],
        [["move('a')", "sort('a')"], ["sort('b')"]],
    )
    (task,) = shelf.tasks()
    assert [goal.text for goal in task.goals] == ["Move it.", "Sort it."]
    (plan,) = task.goals[0].plans or ()
    assert [call.canonical_arguments() for call in plan.calls()] == [{"source": "a"}, {"file": "a"}]
    assert [milestone.after for milestone in plan.milestones] == [(), (0,)]
    assert names(task.goals[1].relevant) == ["sort"]
    assert task.initial_state == {"GorillaFileSystem": [{"root": {"a": {}}}]}
    assert task.metadata["path"] == ["GorillaFileSystem.move"]
    report = load_pool(shelf.out).report
    assert report["counts"]["positional_arguments"] == 3


def test_a_missing_function_is_offered_from_its_turn_on(shelf: BfclShelf) -> None:
    conversation(
        shelf,
        "miss_func",
        [said("Move it."), said("Sort it."), [], said("Move it back.")],
        [["move('a')"], [], ["sort('a')"], ["move('b')"]],
        missed_function={"2": ["sort"]},
    )
    (task,) = shelf.tasks()
    assert [names(goal.offered) for goal in task.goals] == [
        ["move", "copy"],
        ["move", "copy"],
        ["move", "sort", "copy"],
        ["move", "sort", "copy"],
    ]
    assert task.goals[1].plans == (Plan(),)
    assert task.goals[2].text == MORE_FUNCTIONS
    assert (task.goals[2].relevant, task.goals[2].labels) == ((), {"more_functions": True})


def test_an_excluded_function_is_not_offered(shelf: BfclShelf) -> None:
    conversation(shelf, "base", [said("Move it.")], [["move('a')"]], excluded_function=["copy"])
    assert names(shelf.tasks()[0].goals[0].offered) == ["move", "sort"]


def test_a_turn_without_gold_is_checked_only_where_something_is_missing(shelf: BfclShelf) -> None:
    for name in ("base", "miss_param"):
        conversation(shelf, name, [said("Sort it.")], [[]])
    base, missing = shelf.tasks()
    assert (base.goals[0].plans, missing.goals[0].plans) == (None, (Plan(),))
    assert load_pool(shelf.out).report["counts"]["turns_without_gold"] == 1


def test_a_request_that_lacks_a_value_is_one_to_clarify_in_miss_param_alone(
    shelf: BfclShelf,
) -> None:
    for name in ("miss_param", "miss_func"):
        turns = [said("Sort it."), said("It is a.txt."), said("Thanks.")]
        conversation(shelf, name, turns, [[], ["sort('a.txt')"], []])
    types = {t.id: [mission_type(goal) for goal in t.goals] for t in shelf.tasks()}
    assert [*types.values()] == [["chat", "single", "chat"], ["clarify", "single", "chat"]]


def test_gold_of_a_function_that_is_not_there_yet_is_a_counted_drop(shelf: BfclShelf) -> None:
    conversation(
        shelf, "base", [said("Sort it."), []], [["sort('a')"], []], missed_function={"1": ["sort"]}
    )
    (task,) = shelf.tasks()
    assert task.goals[0].plans is None
    dropped = load_pool(shelf.out).report["dropped"]
    assert dropped == {"gold_calls_what_is_not_offered": 1}


def test_a_memory_question_has_its_sessions_as_history_and_alternative_answers(
    shelf: BfclShelf,
) -> None:
    sessions = {"id": "s", "question": [said("I am Mo."), said("I am 35.")]}
    shelf.write("memory_prereq_conversation/memory_customer.json", sessions)
    for kind in ("kv", "vector"):
        shelf.write(f"multi_turn_func_doc/memory_{kind}.json", function(f"read_{kind}"))
    item = {
        "id": "memory_0-customer-0",
        "question": [said("How old am I?")],
        "involved_classes": ["MemoryAPI"],
        "scenario": "customer",
    }
    shelf.category("memory", [item], [answer(item["id"], "35", "thirty five")])
    (task,) = shelf.tasks()
    (goal,) = task.goals
    said_before = [step.content for step in task.history]
    assert said_before == ["I am Mo.", "Noted.", "I am 35.", "Noted."]
    assert {step.author for step in task.history} == {"user_simulator", "execution_manager"}
    assert (goal.answers, goal.any_answer, goal.plans) == (("35", "thirty five"), True, None)
    assert goal.offered == ("bfcl/memory_kv/read_kv",)
    (other,) = shelf.tasks(memory="vector")
    assert other.goals[0].offered == ("bfcl/memory_vector/read_vector",)


def test_a_web_search_has_one_answer(shelf: BfclShelf) -> None:
    shelf.write("multi_turn_func_doc/web_search.json", function("search_engine_query"))
    item = {"id": "web_search_0", "question": [said("Who?")], "involved_classes": ["WebSearchAPI"]}
    shelf.category("web_search", [item], [answer("web_search_0", "Zhang")])
    (goal,) = shelf.tasks()[0].goals
    assert (goal.answers, goal.any_answer) == (("Zhang",), False)


def test_categories_are_chosen_by_name_and_by_set(shelf: BfclShelf) -> None:
    shelf.category("simple_python", [single("a_0")], [answer("a_0", OBAN)])
    shelf.category("irrelevance", [single("irrelevance_0", function("sail"))])
    assert [task.id for task in shelf.tasks()] == ["a_0", "irrelevance_0"]
    assert [task.id for task in shelf.tasks(categories="python_gold")] == ["a_0"]
    assert list(shelf.tools()) == [TIDE]
    assert [task.id for task in shelf.tasks(categories="live, irrelevance")] == ["irrelevance_0"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"categories": "simple_pyton"}, "no category of bfcl 'simple_pyton'.*simple_python"),
        ({"tool_per": "file"}, "no tool_per of bfcl 'file'; known: content, name"),
        ({"memory": "disk"}, "no memory of bfcl 'disk'"),
    ],
)
def test_unknown_options_name_the_known_ones(
    shelf: BfclShelf, options: dict[str, str], told: str
) -> None:
    shelf.category("irrelevance", [single("irrelevance_0")])
    with pytest.raises(UnknownNameError, match=told):
        shelf.imported(**options)


def test_a_named_category_must_be_there(shelf: BfclShelf) -> None:
    shelf.category("irrelevance", [single("irrelevance_0")])
    with pytest.raises(DataError, match="no file of the category 'parallel'"):
        shelf.imported(categories="parallel")


def test_one_category_file_is_a_source(shelf: BfclShelf) -> None:
    path = shelf.category("simple_python", [single("a_0")], [answer("a_0", OBAN)])
    shelf.category("irrelevance", [single("irrelevance_0")])
    assert shelf.imported(path).facts["categories"] == {"simple_python": 1}


def test_files_that_hold_no_tasks_are_counted(shelf: BfclShelf) -> None:
    shelf.category("irrelevance", [single("irrelevance_0")])
    shelf.write("BFCL_v4_format_sensitivity.json", '{\n  "parallel": ["parallel_1"]\n}')
    shelf.write("BFCL_v4_composite.json", single("composite_0"))
    shelf.write("notes.json", "{}")
    report = shelf.imported()
    assert report.facts["files"] == {
        "answers_without_item": 0,
        "categories": 1,
        "ids": 1,
        "other": 1,
        "unknown": 1,
    }
    assert report.facts["unknown_files"] == ["BFCL_v4_composite.json"]


def test_repeated_items_count_once_and_repeated_texts_are_counted(shelf: BfclShelf) -> None:
    items = [single("a_0"), single("a_0"), single("a_1"), single("a_0", text="Else?")]
    shelf.category("simple_python", items, [answer(f"a_{n}", OBAN) for n in range(3)])
    report = shelf.imported()
    assert (report.tasks, report.dropped) == (3, {"duplicates": 1})
    assert report.facts["counts"]["repeated_texts"] == 1
    assert report.facts["files"]["answers_without_item"] == 1
    assert python_gold(shelf.source, load_pool(shelf.out).tasks())["queries"] == 3


def test_gold_that_its_document_forbids_is_kept_and_told(shelf: BfclShelf) -> None:
    task = shelf.ask([{"tide.height": {"port": ["Oban"], "day": ["Monday"]}}])
    assert (task.goals[0].plans or ())[0].calls()
    (told,) = [one.message for one in lint(shelf.out).findings if one.kind == "invalid_call"]
    assert "expected type 'integer', got 'Monday'" in told


def test_lint_counts_gold_calls_that_their_documents_forbid(shelf: BfclShelf) -> None:
    unit = {"type": "string", "enum": ["m", "ft"]}
    document = function("tide.height", port="string", unit=unit, day="integer")
    gold = [
        {"tide.height": {"port": ["Oban"], "unit": ["m", ""]}},
        {"tide.height": {"port": ["Oban"], "unit": ["m", "metre"]}},
        {"tide.height": {"port": ["Oban"], "unit": ["", "yard"], "day": ["one"]}},
    ]
    shelf.category("parallel", [single("a_0", document)], [answer("a_0", *gold)])
    shelf.imported()
    assert lint(shelf.out).counts()["invalid_call"] == 2


BAD: list[tuple[dict[str, list[Any]], str]] = [
    (
        {"BFCL_v4_parallel.json": [single("p")]},
        "needs its answers, but there is no file .*possible",
    ),
    (
        {
            "BFCL_v4_parallel.json": [single("p_1")],
            "possible_answer/BFCL_v4_parallel.json": [answer("p_0", OBAN)],
        },
        "parallel.json, line 1: 'p_1' has no answer in .*possible_answer",
    ),
    (
        {
            "BFCL_v4_parallel.json": [single("p")],
            "possible_answer/BFCL_v4_parallel.json": [{"id": "p", "ground_truth": "x"}],
        },
        "possible_answer/BFCL_v4_parallel.json, line 1: ground_truth: expected a list",
    ),
    (
        {
            "BFCL_v4_parallel.json": [single("p")],
            "possible_answer/BFCL_v4_parallel.json": [answer("p", OBAN), answer("p", {})],
        },
        "line 2: the id 'p' stands twice",
    ),
    (
        {
            "BFCL_v4_parallel.json": [single("p")],
            "possible_answer/BFCL_v4_parallel.json": [answer("p", "tide.height(port='Oban')")],
        },
        r"parallel.json, line 1: ground_truth: expected \{function",
    ),
    ({"BFCL_v4_irrelevance.json": ['{"id": "cut", "que']}, "line 1: not JSON"),
    ({"BFCL_v4_irrelevance.json": ['{"id": "Übel"}'.encode("latin-1")]}, "line 1: not UTF-8"),
    ({"BFCL_v4_irrelevance.json": ['{"id": 1}'.encode("utf-16")]}, "not UTF-8"),
    ({"BFCL_v4_irrelevance.json": [7]}, "line 1: expected an object with 'id'"),
    ({"BFCL_v4_irrelevance.json": [{"id": 1}]}, "line 1: id: expected a text"),
    (
        {"BFCL_v4_irrelevance.json": [{**single("i"), "question": [[]]}]},
        "line 1: question: expected one turn that ends",
    ),
    (
        {"BFCL_v4_irrelevance.json": [{**single("i"), "question": ["Hello"]}]},
        "line 1: question.0: expected a list, got 'Hello'",
    ),
    (
        {"BFCL_v4_irrelevance.json": [{**single("i"), "question": [[{"role": "user"}]]}]},
        "line 1: question.0: the field 'content' is missing",
    ),
    (
        {"BFCL_v4_irrelevance.json": [{**single("i"), "question": [said("a", role="tool")]}]},
        "line 1: question.0: unknown role 'tool'",
    ),
    (
        {"BFCL_v4_irrelevance.json": [single("i", {"name": "x", "parameters": []})]},
        "line 1: function.0: function 'x': parameters: expected an object",
    ),
    (
        {"BFCL_v4_irrelevance.json": [single("i", HEIGHT, {"description": "x"})]},
        "line 1: function.1: the field 'name' is missing",
    ),
]


@pytest.mark.parametrize(("files", "told"), BAD)
def test_malformed_files_are_errors_that_name_file_and_place(
    shelf: BfclShelf, files: dict[str, list[Any]], told: str
) -> None:
    for name, records in files.items():
        shelf.write(name, *records)
    with pytest.raises(DataError, match=told):
        shelf.imported()
    assert not shelf.out.exists()


@pytest.mark.parametrize(
    ("turns", "truth", "fields", "told"),
    [
        ([said("a")], [[], []], {}, "question has 1 turn, its answer has 2"),
        ([said("a")], ["move('a')"], {}, "ground_truth.0: expected a list"),
        ([said("a")], [["move the file"]], {}, "ground_truth.0: 'move the file' is no call"),
        ([said("a")], [["move('a', 'b', 'c')"]], {}, "ground_truth.0: .*move has 2 arguments"),
        ([said("a")], [["move('a')", 7]], {}, "ground_truth.0: 7 is no call"),
        ([said("a", role="system")], [[]], {}, "question.0: expected messages of the user"),
        ([said("a")], [[]], {"involved_classes": ["Boat"]}, "no class 'Boat'; known: Gorilla"),
        ([said("a")], [[]], {"involved_classes": [["Boat"]]}, "no class .*; known: Gorilla"),
        ([said("a")], [[]], {"involved_classes": ["MathAPI"]}, "no file .*math_api.json"),
        ([said("a")], [[]], {"excluded_function": 7}, "excluded_function: expected a list"),
        ([said("a")], [[]], {"initial_config": {"A": 1}}, "initial_config: expected an object a"),
        ([said("a")], [[]], {"missed_function": {"x": ["sort"]}}, "missed_function: expected"),
        ([said("a")], [[]], {"missed_function": ["sort"]}, "missed_function: expected"),
    ],
)
def test_malformed_conversations_are_errors(
    shelf: BfclShelf, turns: Any, truth: Any, fields: dict[str, Any], told: str
) -> None:
    conversation(shelf, "base", turns, truth, **fields)
    with pytest.raises(DataError, match=f"multi_turn_base.json, line 1: .*{told}"):
        shelf.imported()


def test_malformed_items_and_answers_among_others_are_left_out_and_placed(
    shelf: BfclShelf,
) -> None:
    items = [single("p_0"), single("p_1"), single("p_2"), '{"id": "cut", "que']
    shelf.write("BFCL_v4_parallel.json", *items)
    answers = [answer("p_0", OBAN), {"id": "p_1", "ground_truth": "x"}, answer("p_2", OBAN)]
    shelf.write("possible_answer/BFCL_v4_parallel.json", *answers)
    report = shelf.imported()
    assert report.tasks == 2
    assert report.dropped == {"malformed_answer": 1, "malformed_record": 2}
    told = ("ground_truth: expected a list", "'p_1' has no answer", "line 4: not JSON")
    for fault, words in zip(report.malformed, told, strict=True):
        assert words in fault


def test_answers_that_are_no_texts_are_an_error(shelf: BfclShelf) -> None:
    shelf.write("multi_turn_func_doc/web_search.json", function("search"))
    item = {"id": "w_0", "question": [said("Who?")], "involved_classes": ["WebSearchAPI"]}
    shelf.category("web_search", [item], [answer("w_0", 7)])
    with pytest.raises(DataError, match="ground_truth: expected a list of texts"):
        shelf.imported()


def test_a_malformed_session_before_memory_is_an_error(shelf: BfclShelf) -> None:
    shelf.write("memory_prereq_conversation/memory_customer.json", {"question": [["Hello"]]})
    shelf.write("multi_turn_func_doc/memory_kv.json", function("read"))
    item = {
        "id": "m_0",
        "question": [said("Who?")],
        "involved_classes": ["MemoryAPI"],
        "scenario": "customer",
    }
    shelf.category("memory", [item], [answer("m_0", "Mo")])
    told = "BFCL_v4_memory.json, line 1: .*memory_customer.json: question.0: expected an object"
    with pytest.raises(DataError, match=told):
        shelf.imported()


def test_a_folder_of_another_benchmark_is_told_as_such(shelf: BfclShelf) -> None:
    shelf.write("G1_tool.json", "[]")
    with pytest.raises(DataError, match=r"holds G1_tool.json; bfcl expects BFCL_v4_CATEGORY"):
        shelf.imported()


@pytest.mark.slow
@pytest.mark.no_cover
def test_the_oracle_meets_the_gold(shelf: BfclShelf, tmp_path: Path) -> None:
    size = {"size": [{"w": [1, 2], "unit": ["m", ""]}], "day": [""]}
    shelf.category(
        "simple_python",
        [single("a_0", function("measure", size="dict", day="integer"))],
        [answer("a_0", {"measure": size})],
    )
    shelf.category("irrelevance", [single("irrelevance_0")])
    conversation(
        shelf,
        "miss_func",
        [said("Sort it."), []],
        [[], ["sort('a')", "move('a')"]],
        missed_function={"1": ["sort"]},
    )
    shelf.imported()
    played = seal.run(shelf.out, model="oracle", out=tmp_path / "run")
    for metric in ("call_recall", "call_precision", "param_acc_gold", "abstention", "pass_rate"):
        assert played.summary["metrics"][metric]["mean"] == 1.0
    assert repr(played).splitlines()[4].startswith("calls_right")
    assert (played["calls_right"].mean, played["calls_right"].undefined) == (1.0, 0)
    explained = seal.explain(played).content
    assert explained["decided_by"] == {"calls_right": explained["solved"]}


@pytest.mark.slow
@pytest.mark.no_cover
def test_all_of_upstreams_items_are_tasks(seal_data: Path, tmp_path: Path) -> None:
    report = import_benchmark("bfcl", seal_data / "bfcl", tmp_path / "pool")
    assert (report.tasks, report.tools) == (4696, 3400)
    assert report.facts["items"] == sum(report.facts["categories"].values()) == 4696
    assert report.dropped == {"gold_calls_what_is_not_offered": 1}
    assert report.facts["counts"] == {
        "goals": 7232,
        "gold_calls": 7969,
        "positional_arguments": 160,
        "repeated_texts": 432,
        "system_messages": 92,
        "turns_without_gold": 6,
        "dialogues_without_end": 1,
    }
    # A null that the function declares as its default is none.
    assert lint(tmp_path / "pool").counts()["invalid_call"] == 90


@pytest.mark.slow
@pytest.mark.no_cover
def test_all_of_upstreams_gold_calls_are_right_in_any_order(
    seal_data: Path, tmp_path: Path
) -> None:
    """Each argument has its first value, its last one, or is left out where it may be."""
    import_benchmark("bfcl", seal_data / "bfcl", tmp_path / "pool")
    wrong = set()
    for task in load_pool(tmp_path / "pool").tasks():
        gold = [(goal.plans or ())[0] for goal in task.goals if goal.plans]
        for value, backwards in product((0, -1), (False, True)):
            steps = [
                Step(at, "execution_manager", "executor", call=call, turn=at, goal=position)
                for position, plan in enumerate(gold)
                for at, call in enumerate(_made_of(plan, value, backwards))
            ]
            asked = replace(task, goals=tuple(Goal("", plans=(plan,)) for plan in gold))
            scores = Missions().score(asked, Trajectory(task.id, 0, tuple(steps)), {})
            right = [score.value for score in scores if score.metric == "mission_accuracy"]
            wrong.update({task.id} if right != [1.0] * len(gold) else ())
    assert not wrong


def _made_of(plan: Plan, value: int, backwards: bool) -> list[ToolCall]:
    """The gold calls with one of their alternatives, where no order binds them the other way."""
    made = [_made(value, called) for called in plan.calls()]
    free = not any(milestone.after for milestone in plan.milestones)
    return made[::-1] if backwards and free else made


def _made(value: int, gold: Called) -> ToolCall:
    arguments = {
        name: argument.values[value]
        for name, argument in (gold.arguments or {}).items()
        if argument.values and not (argument.optional and value)
    }
    return ToolCall("c", gold.tool, arguments, tool=gold.tool)


@pytest.mark.slow
@pytest.mark.no_cover
def test_the_pool_of_python_gold_is_the_measured_one(seal_data: Path, tmp_path: Path) -> None:
    """The retrieval table's queries and pool, and what is known of their documents."""
    report = import_benchmark(
        "bfcl",
        seal_data / "bfcl",
        tmp_path / "pool",
        tool_per="name",
        categories="python_gold",
    )
    assert (report.tasks, report.tools, report.dropped) == (2351, 1287, {})
    pool = load_pool(tmp_path / "pool")
    assert python_gold(seal_data / "bfcl", pool.tasks()) == {
        "queries": 2351,
        "repeated_queries": 121,
        "longest_query": 4739,
        "relevant": 2667,
        "system_messages": 49,
        "names": 1287,
        "documents": 2405,
        "names_with_several_documents": 433,
        "texts": 2312,
        "names_with_several_texts": 390,
    }
    tasks = pool.tasks(select={"python_gold": "true"})
    assert sum(1 for _ in tasks) == 2351

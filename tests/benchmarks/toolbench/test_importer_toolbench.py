"""Whole imports: joins, counts, bad input, and the real files."""

import json
import os
from pathlib import Path

import pytest
from toolbench_sources import (
    CALL,
    GIVE_UP,
    LATER,
    Workshop,
    api,
    converted,
    good_tree,
    heard,
    observation,
    query,
    said,
    tree,
)

from seal.core import DataError, UnknownNameError
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

HIGH, LOW = "toolbench/tide_tables/high_water", "toolbench/tide_tables/low_water"


def test_a_query_becomes_a_task(workshop: Workshop) -> None:
    workshop.queries()
    assert workshop.imported().tasks == 1
    (task,) = load_pool(workshop.out).tasks()
    (goal,) = task.goals
    assert (task.id, task.split) == ("G1_tool/7", "test")
    assert goal.text == "When is high water in Oban?"
    assert (goal.offered, goal.relevant, goal.plans) == ((HIGH, LOW), (HIGH,), None)
    assert task.tags == {"group": "G1_tool", "multi_tool": False, "multi_step": False}


@pytest.mark.parametrize("name", ["G1.keyless.json", "G1_query.json", "deep/er/G1.json"])
def test_the_group_is_the_files_name(workshop: Workshop, name: str) -> None:
    workshop.queries(name=name)
    workshop.imported()
    assert [task.id for task in load_pool(workshop.out).tasks()] == ["G1/7"]


def test_two_relevant_tools_make_a_task_multi_tool_and_multi_step(workshop: Workshop) -> None:
    pairs = [["Tide Tables", "High Water"], ["Tide Tables", "Low Water"]]
    workshop.queries(query(**{"relevant APIs": [*pairs, pairs[0]]}))
    workshop.imported()
    (task,) = load_pool(workshop.out).tasks(select={"multi_tool": "true", "multi_step": "TRUE"})
    assert task.goals[0].relevant == (HIGH, LOW)


def test_a_query_may_be_a_list_of_texts(workshop: Workshop) -> None:
    workshop.queries(query(query=["When?", "Where?"]))
    workshop.imported()
    assert next(load_pool(workshop.out).tasks()).goals[0].text == "When?\nWhere?"


def test_a_repeated_record_counts_once_and_another_text_gets_an_id_of_its_own(
    workshop: Workshop,
) -> None:
    workshop.queries(query(), query(text="When  is high water in Oban?"), query(text="And now?"))
    report = workshop.imported()
    first, other = (task.id for task in load_pool(workshop.out).tasks())
    assert first == "G1_tool/7"
    assert other.startswith("G1_tool/7#")
    assert report.facts["counts"]["duplicates"] == 1
    assert report.facts["counts"]["id_conflicts"] == 1


def test_a_run_joins_its_task_by_group_id_and_text(workshop: Workshop) -> None:
    workshop.queries(query(), query(8, "Another?"))
    workshop.run(good_tree())
    workshop.run(good_tree(), query_id=8)
    workshop.run(good_tree(text=" When is high\nwater in Oban?"), query_id=9)
    report = workshop.imported()
    assert report.recordings == {"sketch-1": 1}
    assert report.dropped == {"runs_without_task": 2}
    assert report.facts["runs"]["sketch-1"]["joined"] == 1
    assert report.facts["runs_without_task"]["sketch-1"] == [
        "A_G1_tool_sketch-1/8_DFS_woFilter_w2.json",
        "A_G1_tool_sketch-1/9_DFS_woFilter_w2.json",
    ]
    (played,) = load_pool(workshop.out).recorded("sketch-1")
    assert played.task_id == "G1_tool/7"
    assert played.provenance["file"] == "A_G1_tool_sketch-1/7_DFS_woFilter_w2.json"


def test_a_recorded_run_is_never_gold(workshop: Workshop) -> None:
    workshop.queries()
    workshop.run(good_tree())
    report = workshop.imported()
    assert report.facts["counts"]["gold_calls"] == 0
    assert "gold_calls" in report.lacks
    assert next(load_pool(workshop.out).tasks()).goals[0].plans is None


def test_a_training_answer_gives_its_query_gold_calls(workshop: Workshop) -> None:
    workshop.queries()
    workshop.gold(tree(said(CALL, "{}"), heard(CALL, observation(1)), said(LATER, "{}")))
    report = workshop.imported()
    (task,) = load_pool(workshop.out).tasks()
    assert [call.tool for call in task.goals[0].plans[0].calls()] == [HIGH, LOW]
    assert task.goals[0].relevant == (HIGH,)
    assert task.tags["multi_step"] is True
    assert task.tags["parallel"] is True
    assert report.facts["counts"]["tasks_with_gold_calls"] == 1
    assert report.recordings == {}


def test_an_unsolved_task_is_dropped_with_its_runs_or_kept_with_a_tag(workshop: Workshop) -> None:
    workshop.queries(query(), query(8, "Another?"))
    workshop.gold(tree(said("Finish", GIVE_UP), final_answer=GIVE_UP, finish_type="give_up"))
    workshop.run(good_tree())
    report = workshop.imported()
    assert [task.id for task in load_pool(workshop.out).tasks()] == ["G1_tool/8"]
    assert report.dropped == {"give_up": 1, "runs_of_dropped_tasks": 1}
    report = workshop.imported(keep="unsolved")
    task = next(load_pool(workshop.out).tasks())
    assert (report.tasks, report.dropped, report.recordings) == (2, {}, {"sketch-1": 1})
    assert task.goals[0].relevant == (HIGH,)
    assert task.goals[0].plans is None
    assert task.tags["unsolved"] == "give_up"


def test_the_preset_of_the_paper_takes_tasks_of_several_calls_of_several_tools(
    workshop: Workshop,
) -> None:
    several = {"relevant APIs": [["Tide Tables", "High Water"], ["Tide Tables", "Low Water"]]}
    workshop.queries(query(), query(8, "Twice?"), query(9, "Both?", **several))
    workshop.gold(tree(said(CALL, "{}"), said(CALL, "{}"), text="Twice?"), query_id=8)
    report = workshop.imported(paper="seal")
    assert [task.id for task in load_pool(workshop.out).tasks()] == ["G1_tool/9"]
    assert report.dropped == {"not_multi_step": 1, "not_multi_tool": 1}
    with pytest.raises(UnknownNameError, match="no value of -T paper 'seals'; known: seal"):
        workshop.imported(paper="seals")


def test_a_training_answer_to_another_text_becomes_a_task_of_its_own(workshop: Workshop) -> None:
    workshop.queries()
    workshop.gold(good_tree(text="Another text?"))
    workshop.imported()
    tasks = list(load_pool(workshop.out).tasks())
    assert [task.goals[0].plans is None for task in tasks] == [True, False]
    assert tasks[1].id.startswith("G1_tool/7#")
    assert tasks[1].goals[0].relevant == (HIGH,)


def test_one_folder_deeper_an_answer_is_a_models_run(workshop: Workshop) -> None:
    workshop.queries()
    workshop.write("answer/Virtual Sketch_dfs/G1_tool/7_DFS.json", good_tree())
    report = workshop.imported()
    assert report.recordings == {"virtual-sketch_dfs": 1}
    assert report.facts["counts"]["training_answers"] == 0


def test_without_queries_the_runs_say_what_the_tasks_are(workshop: Workshop) -> None:
    workshop.write("Sketch_CoT/G1_tool.json", {"7": converted(), "8": converted(text="Where?")})
    report = workshop.imported()
    assert (report.tasks, report.recordings) == (2, {"sketch_cot": 2})
    assert "relevant" in report.lacks
    task = next(load_pool(workshop.out).tasks())
    assert task.id == "G1_tool/7"
    assert task.goals[0].offered == (HIGH, LOW)
    assert task.tags == {"group": "G1_tool"}


def test_the_converted_form_of_a_recorded_tree_counts_once(workshop: Workshop) -> None:
    workshop.queries()
    workshop.write("answer/sketch/G1_tool/7_CoT@1.json", good_tree())
    workshop.write("converted/sketch/G1_tool.json", {"7": converted(text=query()["query"])})
    report = workshop.imported()
    assert report.recordings == {"sketch": 1}
    assert report.facts["runs"]["sketch"]["converted_again"] == 1


def test_a_second_run_of_a_task_is_another_trial(workshop: Workshop) -> None:
    workshop.queries()
    for name in ("7_CoT@1", "7_CoT@2"):
        workshop.write(f"A_G1_tool_sketch-1/{name}.json", good_tree())
    workshop.imported()
    assert [t.trial for t in load_pool(workshop.out).recorded("sketch-1")] == [0, 1]


def test_example_folders_count_only_when_they_are_named(workshop: Workshop) -> None:
    workshop.queries()
    workshop.queries(query(text="Example?"), name="data_example/instruction/G1_query.json")
    report = workshop.imported()
    assert report.tasks == 1
    assert report.facts["files"]["example"] == 1
    named = workshop.imported(workshop.source / "data_example")
    assert named.tasks == 1
    (task,) = load_pool(workshop.out).tasks()
    assert (task.id, task.split) == ("G1/7", "train")


def test_response_examples_become_response_shapes(workshop: Workshop) -> None:
    workshop.queries()
    shapes = {"api_list": [{"name": "High Water", "schema": {"at": "str"}}, {"name": "No"}]}
    workshop.write("toolenv/response_examples/Weather/tide_tables.json", shapes)
    workshop.write("toolenv/response_examples/Weather/empty.json", "")
    workshop.write("toolenv/response_examples/Other/tide_tables.json", shapes)
    report = workshop.imported()
    returns = {tool.id: tool.returns for tool in load_pool(workshop.out).tools()}
    assert returns == {HIGH: {"at": "str"}, LOW: None}
    assert report.facts["files"] == {"empty": 1, "queries": 1, "responses": 2}


def test_results_and_tables_are_counted_and_left_alone(workshop: Workshop) -> None:
    workshop.queries()
    workshop.write("pass_rate/sketch.json", {"7": {"is_solved": {"0": "AnswerStatus.Solved"}}})
    workshop.write("preference/ab.json", {"7": {"a": 0, "b": 3, "round_0": "complete"}})
    workshop.write("win.csv", "a,b\n")
    workshop.write("test_query_ids/G1_tool.json", {"7": 0, "8": 0})
    report = workshop.imported()
    assert report.facts["files"] == {"csv": 1, "ids": 1, "queries": 1, "results": 2}
    assert report.facts["counts"]["listed_ids_without_query"] == 1


def test_a_call_of_a_renamed_tool_carries_the_tools_own_name(workshop: Workshop) -> None:
    other = query(3, "Elsewhere?", api_list=[api("High Water", category_name="Sea")])
    workshop.queries(other, query())
    workshop.run(good_tree())
    workshop.imported()
    pool = load_pool(workshop.out)
    (played,) = pool.recorded("sketch-1")
    call = played.steps[2].call
    assert call.tool.startswith(f"{HIGH}#")
    assert call.name == next(tool.name for tool in pool.tools() if tool.id == call.tool)


def test_the_same_source_gives_the_same_bytes(workshop: Workshop, tmp_path: Path) -> None:
    workshop.queries()
    workshop.run(good_tree())
    workshop.gold(good_tree(), query_id=11)
    first = workshop.imported()
    before = {path.name: path.read_bytes() for path in workshop.out.rglob("*.json*")}
    copy = tmp_path / "other"
    again = import_benchmark("toolbench", workshop.source, copy)
    assert {path.name: path.read_bytes() for path in copy.rglob("*.json*")} == before
    assert first == again
    assert load_pool(copy).digest == first.digest


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("G1.json", '[{"query": "cut', "G1.json: not JSON"),
        ("A_G1_tool_x/1_a.json", '{"answer_generation": {', "1_a.json: not JSON"),
        ("A_G1_tool_x/1_a.json", '{"win": tr', "1_a.json: not JSON"),
        ("A_G1_tool_x/1_a.json", {"answer_generation": {"query": "q"}}, "1_a.json: .*trys"),
        ("x/G1.json", {"7": {"answer_details": []}}, "G1.json, query 7: .*answer_details"),
        ("G1.json", [query(), {"query": "q"}], "G1.json, record 1: query_id"),
        ("G1.json", [query(query=None)], "G1.json, record 0: the field query is missing"),
        ("G1.json", [query(api_list={})], "G1.json, record 0: api_list"),
        (
            "G1.json",
            [query(api_list=[{}])],
            r"record 0: api_list.0: the field 'category_name' is missing",
        ),
        ("G1.json", [query(**{"relevant APIs": ["x"]})], "record 0: relevant APIs"),
        ("G1.json", [["query"]], "record 0: expected an object"),
        ("response_examples/a/b.json", {"api_list": 3}, "b.json: api_list"),
    ],
)
def test_malformed_files_are_errors_that_name_file_and_place(
    workshop: Workshop, name: str, content: object, place: str
) -> None:
    workshop.write(name, content)
    with pytest.raises(DataError, match=place):
        workshop.imported()
    assert sorted(path.name for path in workshop.out.parent.iterdir()) == ["source"]


def test_a_malformed_record_is_told_with_its_folder_and_that_nothing_was_imported(
    workshop: Workshop,
) -> None:
    path = workshop.write("test/G1.json", [query(api_list=[{}])])
    with pytest.raises(DataError) as caught:
        workshop.imported()
    told = str(caught.value)
    assert told.startswith(f"{path.resolve()}, record 0: api_list.0: the field 'category_name'")
    assert ". Nothing was imported" in told


DEEP = "[" * 400 + "]" * 400


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("optional_parameters", [{"name": "x", "type": "STRING", "default": 0}], ".0.default"),
        ("required_parameters", [{"name": "x", "type": "NUMBER", "default": 0}], ".0.default"),
        ("template_response", 0, ".0.0"),
        ("api_description", 0, ".0.0"),
    ],
)
def test_a_document_nested_too_deep_is_an_error_that_names_the_field(
    workshop: Workshop, field: str, value: object, place: str
) -> None:
    text = json.dumps([query(api_list=[api("High Water", **{field: value})])])
    head, _, tail = text.partition(f'"{field}"')
    workshop.write("G1.json", head + f'"{field}"' + tail.replace("0", DEEP, 1))
    with pytest.raises(DataError, match=rf"record 0: api_list\.0\.{field}{place}: nested deeper"):
        workshop.imported()


def test_a_tree_nested_too_deep_is_an_error(workshop: Workshop) -> None:
    text = json.dumps({"x": 0, **good_tree()}).replace("0", DEEP, 1)
    workshop.write("A_G1_tool_x/7_a.json", text)
    with pytest.raises(DataError, match=r"7_a.json: x.*: nested deeper"):
        workshop.imported()


def test_json_lines_are_told_as_another_benchmarks(workshop: Workshop) -> None:
    workshop.write("simple.json", '{"id": "a", "question": []}\n{"id": "b", "question": []}\n')
    with pytest.raises(DataError, match=r"JSON Lines, .* is it another benchmark.*toolbench"):
        workshop.imported()


def test_only_what_no_tool_has_is_lacking_altogether(workshop: Workshop) -> None:
    workshop.queries(query(api_list=[api("High Water"), api("Low Water", api_description="")]))
    report = workshop.imported()
    assert report.facts["tools_lacking"] == {"descriptions": 1, "response_shapes": 2}
    assert report.lacks == ("gold_calls", "response_shapes")


def test_a_relevant_api_outside_the_list_drops_the_record(workshop: Workshop) -> None:
    workshop.queries(query(), query(8, "Else?", **{"relevant APIs": [["Tide Tables", "No"]]}))
    report = workshop.imported()
    assert (report.tasks, report.dropped) == (1, {"relevant_api_outside_list": 1})


def test_a_record_that_names_no_relevant_api_is_a_counted_drop(workshop: Workshop) -> None:
    workshop.queries(query(), {"query": "Open?", "query_id": 9})
    assert workshop.imported().dropped == {"lacks_relevant_apis": 1}


def test_an_empty_folder_is_an_error_that_says_what_was_found(workshop: Workshop) -> None:
    workshop.write("notes.csv", "a")
    with pytest.raises(DataError, match=r"holds no record of toolbench.*1 csv"):
        workshop.imported()


def test_what_other_json_writers_leave_is_read(workshop: Workshop) -> None:
    text = json.dumps([query(text="half \ud83d pair", extra=float("nan"))])
    workshop.write("G1.json", "\ufeff" + text)
    assert workshop.imported().tasks == 1


def test_a_single_file_is_a_source(workshop: Workshop) -> None:
    assert workshop.imported(workshop.queries()).tasks == 1


def test_stabletoolbench_gives_762_tasks(seal_data: Path, tmp_path: Path) -> None:
    report = import_benchmark("toolbench", seal_data / "stabletoolbench", tmp_path / "pool")
    assert (report.tasks, report.tools, report.dropped) == (762, 2474, {})
    tasks = list(load_pool(tmp_path / "pool").tasks())
    assert len(tasks) == 762
    assert all(task.goals[0].relevant for task in tasks)


def test_toolbench_gives_1092_tasks_and_928_runs(
    toolbench_pool: tuple[Path, ImportReport],
) -> None:
    folder, report = toolbench_pool
    runs = report.facts["runs"]["toolllama-2"]
    assert report.tasks == 1092
    assert report.recordings == {"gpt-3.5-turbo_cot": 7, "toolllama-2": 928}
    assert (runs["found"], runs["empty_train_messages"], runs["without_task"]) == (930, 428, 2)
    pool = load_pool(folder)
    tasks = {task.id: task for task in pool.tasks()}
    played = list(pool.recorded("toolllama-2"))
    assert len({trajectory.task_id for trajectory in played}) == 928
    assert all(
        trajectory.steps[0].content == tasks[trajectory.task_id].goals[0].text
        for trajectory in played
    )


def test_the_function_names_of_recorded_runs_follow_the_rule(
    seal_data: Path, toolbench_pool: tuple[Path, ImportReport]
) -> None:
    """All but 9 functions, which four runs of upstream pair with a wrong tool."""
    unknown = []
    for played in load_pool(toolbench_pool[0]).recorded("toolllama-2"):
        path = seal_data / "toolbench" / str(played.provenance["file"])
        functions = json.loads(path.read_bytes())["answer_generation"]["function"]
        names = {function["name"] for function in functions} - {"Finish"}
        unknown.append(len(names) - len(played.offered[0]))
    assert (sum(unknown), sum(map(bool, unknown))) == (9, 4)


def test_tooleval_results_give_500_tasks_with_their_cuts_marked(
    seal_data: Path, tmp_path: Path
) -> None:
    source = seal_data / "toolbench" / "tooleval_results"
    report = import_benchmark("toolbench", source, tmp_path / "pool")
    assert (report.tasks, report.recordings) == (500, {"gpt-3.5-turbo_cot": 500})
    runs = report.facts["runs"]["gpt-3.5-turbo_cot"]
    assert (runs["calls"], runs["truncated_arguments"]) == (1902, 686)
    assert runs["truncated_responses"] == 1901


def test_data_example_gives_ten_queries_and_the_eight_solved_of_fifteen_answers(
    seal_data: Path, tmp_path: Path
) -> None:
    source = seal_data / "toolbench" / "data_example"
    report = import_benchmark("toolbench", source, tmp_path / "pool")
    assert report.tasks == 18
    assert report.facts["counts"]["training_answers"] == 15
    assert report.facts["counts"]["tasks_with_gold_calls"] == 8
    assert report.dropped == {
        "give_up": 4,
        "hallucinated_function": 1,
        "lacks_relevant_apis": 2,
        "no_calls": 2,
    }


def test_a_pipe_in_the_place_of_a_file_is_told_and_never_waited_for(workshop: Workshop) -> None:
    workshop.queries(name="G1.json")
    (file,) = workshop.source.rglob("G1.json")
    file.unlink()
    os.mkfifo(file)

    with pytest.raises(OSError, match=r"it is a pipe, and no file.*G1\.json"):
        workshop.imported()

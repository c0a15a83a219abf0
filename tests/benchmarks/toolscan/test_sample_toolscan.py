"""The shipped sample of similar tools: compiled from its files, proven, and hard to play."""

import json
import re
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from compile_samples import compiled
from looped import every_case
from rapidfuzz import fuzz

import seal
from seal.benchmarks.toolscan import SAMPLE
from seal.benchmarks.toolscan.importer import IRRELEVANCE
from seal.benchmarks.toolscan.world import Lookup, lookups
from seal.core import DataError, OptionError, Plan, Task, ToolCall, ToolResult
from seal.core.conditions import Called
from seal.core.schemas import schema_validator
from seal.core.text import words
from seal.core.values import leaves
from seal.environments.world import WorldSetup
from seal.evaluation.rule_judge import judge_answer
from seal.pools.counts import environments_of
from seal.pools.pool import load_pool

POOL = load_pool(SAMPLE.folder)
TASKS = {task.id: task for task in POOL.tasks()}
CALLING = [task for task in TASKS.values() if task.goals[0].labels["action"] == "call"]
ABSTAINING = [task for task in TASKS.values() if task.goals[0].labels["action"] == "abstain"]
FILES = ("import.json", "tasks.jsonl", "tools.jsonl")

RATES = (
    "pass_rate",
    "mission_accuracy",
    "progress",
    "call_recall",
    "call_precision",
    "call_f1",
    "param_acc_gold",
    "param_acc_matched",
)
INFERRED = {
    "garden-02": {"2": "February"},
    "garden-03": {"100": "over a metre", "7": "July"},
    "garden-04": {"3": "in March"},
    "garden-05": {"8": "in August"},
    "garden-07": {"full sun": "the sun never leaves it", "chalky": "chalk"},
    "garden-08": {"5": "in May"},
    "garden-09": {"6": "for June", "full sun": "sun"},
    "garden-10": {"shade": "shady"},
    "museum-04": {"1880": "1880s", "1889": "1880s", "oil": "oils"},
    "museum-06": {"sculpture": "sculptures"},
    "museum-10": {"oil": "oils"},
    "permits-02": {"approved": "approval"},
    "permits-04": {"120000": "120,000", "extension": "extensions"},
    "permits-06": {"extension": "extensions"},
    "permits-07": {"2000": "2,000", "tree removal": "cut down a tree"},
    "permits-09": {"refused": "refusal"},
}
"""Gold values that a reader infers from other words of the query, and these words."""
INFERRED_DATES = {"2026-07-14": "14 July 2026", "2026-07-15": "15 July 2026"}


def plans(task: Task) -> tuple[Plan, ...]:
    return task.goals[0].plans or ()


def stated(task: Task, value: str, earlier: str) -> bool:
    """Tell whether query or earlier results say a value, if need be in other words."""
    text = task.goals[0].text
    otherwise = {**INFERRED_DATES, **INFERRED.get(task.id, {})}
    if value in otherwise:
        return otherwise[value] in text
    return set(words(value)) <= set(words(f"{text} {earlier}"))


def test_the_pool_has_the_announced_numbers_of_tasks_and_tools() -> None:
    assert Counter(task.tags["environment"] for task in CALLING) == dict.fromkeys(
        ("ferries", "garden", "museum", "permits", "radio", "trails"), 10
    )
    kinds = Counter((t.tags["environment"], t.tags["irrelevance"]) for t in ABSTAINING)
    assert set(kinds.values()) == {1}
    assert Counter(t.tags["irrelevance"] for t in ABSTAINING) == dict.fromkeys(IRRELEVANCE, 6)
    assert sum(task.tags["alternative_plans"] for task in CALLING) == 58
    assert sum(any(m.after for m in plans(task)[0].milestones) for task in CALLING) == 26


def test_the_tools_of_an_environment_have_similar_names() -> None:
    environments = environments_of(POOL)

    assert len(environments) == 6
    for environment in environments:
        assert 4 <= environment.tools <= 12
        assert 0.25 < (environment.similarity_strict or 0) < 0.5
        assert environment.pseudo_actions == 1


def test_the_shipped_pool_is_what_its_files_compile_to(tmp_path: Path) -> None:
    compiled("toolscan-sample", SAMPLE.folder / "authored", tmp_path / "pool")

    for file in FILES:
        made = (tmp_path / "pool" / file).read_bytes()
        assert made == (SAMPLE.folder / file).read_bytes(), file
    assert load_pool(tmp_path / "pool").digest == POOL.report["digest"]


@every_case("task", CALLING, ids=lambda task: task.id)
def test_every_gold_value_is_said_by_the_query_or_by_an_earlier_result(task: Task) -> None:
    for plan in plans(task):
        earlier = ""
        for milestone in plan.milestones:
            assert isinstance(milestone.condition, Called)
            for value in leaves(milestone.condition.canonical_arguments()):
                assert stated(task, value, earlier), (value, plan)
            earlier += " " + " ".join(leaves(milestone.result))


@every_case("task", CALLING, ids=lambda task: task.id)
def test_no_query_gives_its_answer_away_and_the_reference_reply_states_it(task: Task) -> None:
    (goal,) = task.goals
    reply = goal.reference[-1].content

    assert judge_answer(goal, reply).label == "solved"
    assert not all(answer.casefold() in goal.text.casefold() for answer in goal.answers)


@every_case("task", CALLING, ids=lambda task: task.id)
def test_a_query_sets_three_conditions_on_arguments_or_more(task: Task) -> None:
    calls = (call for plan in plans(task) for call in plan.calls())

    assert len({item for call in calls for item in call.canonical_arguments().items()}) >= 3


@every_case("task", ABSTAINING, ids=lambda task: task.id)
def test_a_query_that_no_tool_serves_asks_to_abstain_and_names_its_seed(task: Task) -> None:
    (goal,) = task.goals
    seed = TASKS[str(task.metadata["seed"])]

    assert goal.plans == (Plan(),)
    assert goal.labels == {"action": "abstain", "irrelevance": task.tags["irrelevance"]}
    assert (goal.answers, goal.relevant) == ((), ())
    assert seed in CALLING and seed.goals[0].offered == goal.offered
    assert judge_answer(goal, goal.reference[0].content).label == "solved"


def test_no_two_queries_are_nearly_the_same() -> None:
    for left, right in combinations(TASKS.values(), 2):
        if right.metadata.get("seed") != left.id and left.metadata.get("seed") != right.id:
            likeness = fuzz.token_sort_ratio(left.goals[0].text, right.goals[0].text)
            assert likeness < 75, (left.id, right.id)


@pytest.mark.slow
@pytest.mark.no_cover
def test_the_oracle_is_right_in_everything_and_choosing_by_words_is_not(tmp_path: Path) -> None:
    means = {}
    for model in ("oracle", "lexical"):
        played = seal.run("toolscan-sample", out=tmp_path / model, model=model, baselines=False)
        assert (played.exit_code, played.summary["errors"]) == (0, 0)
        metrics = played.summary["metrics"]
        means[model] = {name: metrics[name]["mean"] for name in RATES}

    assert means["oracle"] == dict.fromkeys(RATES, 1.0)
    assert all(mean < 0.6 for mean in means["lexical"].values()), means


# --- The world that looks up


def call(name: str, **arguments: Any) -> ToolResult:
    environment = lookups(WorldSetup()).open(TASKS["museum-01"], 0)
    tool = next((tool.id for tool in POOL.tools() if tool.name == name), None)
    (result,) = environment.call([ToolCall("call_0", name, arguments, tool=tool)])
    return result


def test_texts_are_compared_without_regard_to_case() -> None:
    result = call("search_works_by_artist", artist="edda LUNDE")
    assert [row["title"] for row in result.value["results"]] == [
        "Peat Cutters",
        "Letter by the Window",
        "Sea Holly",
    ]


def test_nothing_found_is_an_empty_list_or_of_one_thing_an_error() -> None:
    assert call("search_works_by_artist", artist="Nobody").value == {"count": 0, "results": []}
    result = call("get_work_by_id", work_id="W-999")
    assert result.error is not None and "Nothing is known under work_id 'W-999'" in result.content


def test_a_call_that_breaks_the_schema_is_rejected() -> None:
    wrong = call("search_works_by_room", room="seven")
    assert wrong.error is not None and wrong.error["kind"] == "wrong_type"
    unknown = call("search_works_by_colour", colour="red")
    assert unknown.error is not None and unknown.error["kind"] == "unknown_tool"


def test_defaults_hold_where_an_argument_is_left_out() -> None:
    route = {"from_port": "Torsk", "to_port": "Hallan", "date": "2026-07-14"}
    late = call("search_sailings_by_route_and_date_and_time", **route, earliest="20:00")
    assert [row["id"] for row in late.value["results"]] == ["S-308"]


def test_minutes_are_added_up() -> None:
    found = call("search_episodes_by_show_and_year", show="The Long Table", year=2024)
    assert (found.value["count"], found.value["total_minutes"]) == (2, 94)


def test_every_tool_answers_by_its_own_response_shape() -> None:
    tools = {tool.id: tool for tool in POOL.tools()}
    for task in CALLING:
        for plan in plans(task):
            for milestone in plan.milestones:
                assert isinstance(milestone.condition, Called)
                shape = tools[milestone.condition.tool].returns
                assert schema_validator(shape).is_valid(milestone.result)


def test_the_world_has_no_options() -> None:
    with pytest.raises(OptionError, match="toolscan-sample has no such option"):
        lookups(WorldSetup(options={"race": "none"}))


TABLE = {"tables": {"t": [{"a": 1}]}, "tools": {}}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"from": "u", "where": {}, "give": []}, "from: no table 'u'; known: t"),
        (
            {"from": "t", "where": {"x": ["a", "near"]}, "give": []},
            "where.x: no comparison 'near'; known: at_least",
        ),
        ({"from": "t", "where": {"x": ["b", "is"]}, "give": []}, "row 0 of t lacks b"),
        ({"from": "t", "where": {}, "give": ["c"]}, "row 0 of t lacks c"),
        ({"from": "t", "where": {}}, "'give' is missing"),
    ],
)
def test_a_question_that_cannot_be_asked_is_told(asked: Any, told: str) -> None:
    with pytest.raises(DataError, match=f"tool 'find': .*{told}"):
        Lookup({**TABLE, "tools": {"find": asked}})


def test_a_wrong_call_that_is_let_through_brings_an_error_and_ends_no_run(tmp_path: Path) -> None:
    found = Lookup.read(SAMPLE.folder / "authored" / "answers.json")
    tool = next(tool for tool in load_pool(SAMPLE.folder).tools() if tool.name in found)
    assert "no argument 'sailing'" in found.respond(tool, {"sailing": "x"}).error
    settings = {"model_options": {"slips": 1.0}, "feedback": "off", "baselines": False}
    run = seal.run("toolscan-sample", limit=3, out=tmp_path / "run", **settings)
    assert (run.summary["tasks"], run.exit_code) == (3, 0)


# --- The import proves


class Authored:
    """A copy of the sample's files, to be spoilt."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "authored"
        self.out = folder / "pool"
        shutil.copytree(SAMPLE.folder / "authored", self.folder)

    def spoil(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    def fault(self) -> str:
        with pytest.raises(DataError) as raised:
            compiled("toolscan-sample", self.folder, self.out)
        assert not self.out.exists()
        return str(raised.value)


@pytest.fixture
def copy(tmp_path: Path) -> Authored:
    return Authored(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"from_year": 1870', '"from_year": "1870"', "query 'museum-01', trajectory 0:.*from_year"),
        ('"from_year": 1870', '"since": 1870', "takes no argument 'since'"),
        ('"to_year": 1880', '"to_year": 1860', "brings nothing: no row"),
        ('"answer": ["Harbour', '"answer": ["Evening", "Harbour', "no result states the answer"),
        ('"W-102"', '"W-902"', "brings nothing: Nothing is known under work_id 'W-902'"),
        ('"search_works_by_room"', '"search_works_by_wall"', "trajectory_with_unknown_api"),
        ('"goal": "Visitors', '"goal: "Visitors', "malformed_record"),
    ],
)
def test_a_query_that_does_not_hold_is_refused(
    copy: Authored, old: str, new: str, told: str
) -> None:
    copy.spoil("queries.jsonl", old, new)

    assert re.search(told, copy.fault())


def test_a_tool_without_answers_is_refused(copy: Authored) -> None:
    content = json.loads((copy.folder / "answers.json").read_text())
    del content["tools"]["get_port_by_name"]
    (copy.folder / "answers.json").write_text(json.dumps(content))
    assert "no entry for the tool get_port_by_name" in copy.fault()


def test_a_missing_file_is_told(copy: Authored) -> None:
    (copy.folder / "answers.json").unlink()
    assert "has no answers.json" in copy.fault()

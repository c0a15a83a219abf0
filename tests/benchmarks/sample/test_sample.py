"""The shipped sample: every record is checked against every other."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import orjson
import pytest
from jsonschema import Draft202012Validator, FormatChecker
from looped import every_case
from rapidfuzz import fuzz

from seal.benchmarks.sample import SAMPLE
from seal.core import (
    JSON,
    Goal,
    Milestone,
    Plan,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    levels,
)
from seal.core.conditions import Asked, Called, Replied
from seal.core.text import words
from seal.core.validation import CallValidator
from seal.core.values import canonical_json, equal
from seal.evaluation.calls import Calls
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.rule_judge import RuleJudge
from seal.pools.pool import load_pool

POOL = load_pool(SAMPLE.folder)
TOOLS: dict[str, Tool] = {tool.id: tool for tool in POOL.tools()}
TASKS: tuple[Task, ...] = tuple(POOL.tasks())
CALLING = [task for task in TASKS if task.tags["group"] in ("single", "parallel", "dependent")]
DOMAINS = {"weather", "travel", "calendar", "commerce", "finance", "media", "health", "city"}

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

DERIVED = {
    ("weather-06", "units"): "Fahrenheit is imperial",
    ("travel-05", "passengers"): "two people",
    ("travel-06", "guests"): "alone",
    ("travel-10", "guests"): "three of us",
    ("calendar-04", "duration_minutes"): "half an hour",
    ("calendar-10", "repeat"): "every week",
    ("commerce-06", "sort_by"): "cheapest first",
    ("commerce-07", "reason"): "arrived in pieces",
    ("commerce-08", "sort_by"): "best rated first",
    ("travel-02", "bag_count"): "one suitcase",
    ("media-06", "genre"): "comedies",
    ("media-10", "limit"): "the three latest",
    ("health-02", "specialty"): "a dermatologist",
    ("health-06", "activity"): "I run",
    ("health-07", "specialty"): "a physiotherapist",
    ("city-04", "category"): "sprayed paint",
    ("city-06", "party_size"): "a table for four",
}
"""Gold arguments that a reader infers from other words of the request."""


def goal(task: Task) -> Goal:
    return task.goals[0]


def plan(task: Task) -> Plan:
    (only,) = goal(task).plans or ()
    return only


def gold_calls() -> Iterator[tuple[Task, Milestone, Called]]:
    for task in CALLING:
        for milestone in plan(task).milestones:
            assert isinstance(milestone.condition, Called)
            yield task, milestone, milestone.condition


def earlier(milestones: tuple[Milestone, ...], position: int) -> set[int]:
    """Return all direct and indirect predecessors."""
    found = set(milestones[position].after)
    for before in milestones[position].after:
        found |= earlier(milestones, before)
    return found


def leaves(value: JSON) -> Iterator[JSON]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def dates(text: str) -> set[str]:
    """Return the dates of a request as YYYY-MM-DD; all have the year that is named last."""
    text = text.lower()
    month = rf"({'|'.join(MONTHS)})[a-z]*"
    found = set(re.findall(r"\b\d{4}-\d{2}-\d{2}\b", text))
    written = re.findall(rf"\b(\d{{1,2}})(?:th)?(?: of)? {month}\b", text)
    written += re.findall(rf"\b(\d{{1,2}}) to \d{{1,2}} {month}\b", text)
    written += [(day, name) for name, day in re.findall(rf"\b{month} (\d{{1,2}}),", text)]
    for year in re.findall(r"\b20\d\d\b", text)[-1:]:
        days = (date(int(year), MONTHS.index(name) + 1, int(day)) for day, name in written)
        found |= {day.isoformat() for day in days}
    return found


def times(text: str) -> set[str]:
    """Return the times of a request as HH:MM."""
    found = re.findall(r"\b(\d{1,2}):(\d{2})( pm)?", text)
    return {f"{int(hour) + 12 * bool(pm):02}:{minute}" for hour, minute, pm in found}


def stands_in(value: JSON, text: str) -> bool:
    """Tell whether a request holds a value, up to case, number words and the writing of dates."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        numbers = {float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)", text)}
        return float(value) in numbers
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?", value):
        day, _, time = value.partition("T")
        return day in dates(text) and (not time or time in times(text))
    if isinstance(value, str) and re.fullmatch(r"\d{2}:\d{2}", value):
        return value in times(text)
    if isinstance(value, str):
        return set(words(value)) <= set(words(text))
    return False


def test_the_pool_has_the_announced_numbers_of_tools_and_tasks():
    groups = Counter(task.tags["group"] for task in TASKS)
    domains = Counter(task.tags["domain"] for task in TASKS)

    assert groups == {"single": 28, "parallel": 16, "dependent": 18, "chat": 8, "clarify": 10}
    assert domains == dict.fromkeys(DOMAINS, 10)
    assert len(TOOLS) == 65
    assert len({tool.category for tool in TOOLS.values()}) == 8


def test_each_domain_holds_every_group():
    kinds = {(task.tags["domain"], task.tags["group"]) for task in TASKS}

    assert len(kinds) == 8 * 5


def test_the_first_ten_tasks_show_every_group_and_domain():
    first = list(POOL.tasks(first=10))

    assert {task.tags["domain"] for task in first} == DOMAINS
    assert len({task.tags["group"] for task in first}) == 5


def test_the_report_counts_what_the_files_hold():
    assert POOL.name == "sample"
    assert POOL.report["tasks"] == len(TASKS)
    assert POOL.report["tools"] == len(TOOLS)
    assert POOL.report["digest"] == POOL.digest


def test_tool_ids_and_names_are_unique_and_usable():
    names = [tool.name for tool in TOOLS.values()]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z_]{2,40}", name) for name in names)
    assert all(re.fullmatch(r"sample/[a-z]+/[a-z_]+", tool) for tool in TOOLS)


def test_some_upstream_names_have_dots_and_blanks():
    upstream = [str(tool.source["api"]) for tool in TOOLS.values()]

    assert any("." in name for name in upstream)
    assert any(" " in name for name in upstream)


@every_case("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_parameters_and_returns_are_schemas_with_described_parameters(tool):
    Draft202012Validator.check_schema(tool.parameters)
    Draft202012Validator.check_schema(tool.returns)

    properties = tool.parameters["properties"]
    assert set(tool.parameters.get("required", ())) <= properties.keys()
    assert all(p.get("description") for p in properties.values())
    assert tool.returns["type"] == "object"
    defaults = {name: p["default"] for name, p in properties.items() if "default" in p}
    assert not defaults.keys() & set(tool.parameters.get("required", ()))
    assert all(Draft202012Validator(properties[n]).is_valid(d) for n, d in defaults.items())


def test_parameters_are_of_all_kinds():
    properties = [p for tool in TOOLS.values() for p in tool.parameters["properties"].values()]

    kinds = {p["type"] for p in properties}
    assert kinds == {"string", "integer", "number", "boolean", "array", "object"}
    assert any("enum" in p for p in properties)
    assert any("default" in p for p in properties)
    assert any(p.get("format") == "date" for p in properties)


def test_at_least_eight_tools_are_never_called():
    called = {condition.tool for _, _, condition in gold_calls()}

    assert len(TOOLS.keys() - called) >= 8


def test_no_two_requests_are_nearly_the_same():
    texts = [goal(task).text for task in TASKS]

    pairs = [(a, b) for i, a in enumerate(texts) for b in texts[:i] if fuzz.ratio(a, b) > 75]
    assert pairs == []


@every_case("task", TASKS, ids=lambda task: task.id)
def test_tags_say_what_the_plan_is(task):
    calls = [call.tool for call in plan(task).calls()]
    order = [milestone.after for milestone in plan(task).milestones]

    assert task.tags["multi_tool"] is (len(set(calls)) > 1)
    assert task.tags["multi_step"] is (len(calls) > 1)
    assert task.tags["dependent"] is any(order)
    assert task.tags["parallel"] is any(len(group) > 1 for group in levels(order))
    assert task.id.startswith(f"{task.tags['domain']}-")
    expected = {"single": (1, False), "parallel": (2, False), "dependent": (2, True)}
    least, dependent = expected.get(str(task.tags["group"]), (0, False))
    assert len(calls) >= least
    assert task.tags["dependent"] is dependent


@every_case("task", CALLING, ids=lambda task: task.id)
def test_relevant_tools_are_those_of_the_gold_calls(task):
    assert set(goal(task).relevant) == {call.tool for call in plan(task).calls()}
    assert goal(task).offered is None


def test_every_accepted_value_makes_a_valid_call():
    validator = CallValidator(TOOLS)

    for task, _, condition in gold_calls():
        base = condition.canonical_arguments()
        for name, argument in (condition.arguments or {}).items():
            for value in argument.values:
                arguments = {**base, name: value}
                call = ToolCall("call_0", "any", arguments, tool=condition.tool)
                assert validator.check(call) is None, (task.id, name, value)
                assert condition.accepts(arguments)


def test_parameters_with_defaults_may_be_left_out_or_given_as_defaults():
    for task, _, condition in gold_calls():
        properties = TOOLS[condition.tool].parameters["properties"]
        for name, argument in (condition.arguments or {}).items():
            default = properties[name].get("default")
            if argument.optional:
                assert argument.values == (default,), (task.id, name)


def test_every_gold_result_has_the_shape_that_its_tool_returns():
    checker = FormatChecker()

    for task, milestone, condition in gold_calls():
        schema = Draft202012Validator(TOOLS[condition.tool].returns, format_checker=checker)
        failures = [error.message for error in schema.iter_errors(milestone.result)]
        assert failures == [], task.id
        known = TOOLS[condition.tool].returns["properties"]
        assert milestone.result.keys() <= known.keys(), task.id


def test_the_same_call_has_the_same_result_everywhere():
    results = defaultdict(set)
    for _, milestone, condition in gold_calls():
        key = condition.tool, canonical_json(condition.canonical_arguments())
        results[key].add(canonical_json(milestone.result))

    assert all(len(answers) == 1 for answers in results.values())


def test_results_repeat_what_the_call_said():
    for task, milestone, condition in gold_calls():
        for name, value in condition.canonical_arguments().items():
            told = milestone.result.get(name)
            if not isinstance(value, (dict, list)) and not isinstance(told, (dict, type(None))):
                assert equal(told, value), (task.id, name)


@every_case("task", CALLING, ids=lambda task: task.id)
def test_answers_stand_in_results_and_in_the_reference_reply(task):
    results = [r.result.content for r in goal(task).reference if r.result is not None]
    reply = goal(task).reference[-1].content.casefold()

    assert goal(task).answers
    for answer in goal(task).answers:
        assert any(answer in text for text in results)
        assert answer.casefold() in reply


def test_no_call_can_be_answered_from_the_request_alone():
    for task in CALLING:
        assert not all(answer in goal(task).text for answer in goal(task).answers), task.id


def dependent_calls() -> Iterator[tuple[Task, int]]:
    for task in CALLING:
        for position, milestone in enumerate(plan(task).milestones):
            if milestone.after:
                yield task, position


def test_a_dependent_call_needs_a_value_that_only_an_earlier_result_has():
    for task, position in dependent_calls():
        milestones = plan(task).milestones
        told = [v for i in earlier(milestones, position) for v in leaves(milestones[i].result)]
        arguments = milestones[position].condition.canonical_arguments()
        needed = [
            value
            for value in leaves(list(arguments.values()))
            if any(equal(value, known) for known in told)
            and not stands_in(value, goal(task).text)
            and str(value) not in goal(task).text
        ]
        assert needed, (task.id, position)


def test_each_direct_predecessor_gives_a_value():
    for task, position in dependent_calls():
        milestones = plan(task).milestones
        arguments = milestones[position].condition.canonical_arguments()
        wanted = list(leaves(list(arguments.values())))
        for before in milestones[position].after:
            told = list(leaves(milestones[before].result))
            shared = [v for v in wanted if any(equal(v, known) for known in told)]
            assert shared, (task.id, position, before)


def test_every_other_argument_stands_in_the_request():
    inferred = set()
    for task in CALLING:
        milestones = plan(task).milestones
        for position, milestone in enumerate(milestones):
            told = [v for i in earlier(milestones, position) for v in leaves(milestones[i].result)]
            for name, value in milestone.condition.canonical_arguments().items():
                if not all(
                    isinstance(leaf, bool)
                    or stands_in(leaf, goal(task).text)
                    or any(equal(leaf, known) for known in told)
                    for leaf in leaves(value)
                ):
                    inferred.add((task.id, name))

    assert inferred == DERIVED.keys()


@every_case("task", CALLING, ids=lambda task: task.id)
def test_the_reference_plays_the_plan_in_its_order(task):
    steps = goal(task).reference
    milestones = plan(task).milestones
    played = [step.call for step in steps if step.call is not None]
    groups = levels([milestone.after for milestone in milestones])

    assert [step.index for step in steps] == list(range(len(steps)))
    assert [call.id for call in played] == [f"call_{n}" for n in range(len(played))]
    for call, position in zip(played, [p for group in groups for p in group], strict=True):
        condition = milestones[position].condition
        assert call.tool == condition.tool
        assert call.name == TOOLS[condition.tool].name
        assert call.arguments == condition.canonical_arguments()
    turns = [step.turn for step in steps if step.call is not None]
    assert [turns.count(turn) for turn in sorted(set(turns))] == [len(group) for group in groups]


@every_case("task", CALLING, ids=lambda task: task.id)
def test_each_reference_result_answers_its_call_after_all_calls_of_its_reply(task):
    validator = CallValidator(TOOLS)
    steps = goal(task).reference
    calls = {step.call.id: step for step in steps if step.call is not None}
    gold = {
        canonical_json([m.condition.tool, m.condition.canonical_arguments()]): m.result
        for m in plan(task).milestones
    }

    answered = [step for step in steps if step.result is not None]
    assert [step.result.call_id for step in answered] == list(calls)
    for step in answered:
        call = calls[step.result.call_id].call
        assert step.index > max(s.index for s in calls.values() if s.turn == calls[call.id].turn)
        assert step.turn == calls[call.id].turn + 1
        assert step.result.value == gold[canonical_json([call.tool, call.arguments])]
        assert orjson.loads(step.content) == {"error": "", "response": step.result.value}
        assert step.result.content == step.content
        assert step.result.executed.arguments == validator.with_defaults(call)


@every_case("task", TASKS, ids=lambda task: task.id)
def test_the_reference_ends_with_one_reply_to_the_user(task):
    last = goal(task).reference[-1]
    spoken = [s for s in goal(task).reference if s.call is None and s.result is None]

    assert spoken == [last]
    assert (last.author, last.recipient) == ("orchestrator", "user_simulator")
    assert last.turn > max((s.turn for s in goal(task).reference[:-1]), default=-1)


@pytest.mark.parametrize(
    "task", [t for t in TASKS if t.tags["group"] == "chat"], ids=lambda task: task.id
)
def test_chat_tasks_need_a_reply_and_no_tool(task):
    (milestone,) = plan(task).milestones
    (reply,) = goal(task).reference

    assert isinstance(milestone.condition, Replied)
    assert milestone.condition.states == goal(task).answers
    assert milestone.condition.similarity(reply, {}) == 1.0
    assert goal(task).relevant == ()
    assert goal(task).labels == {"action": "reply"}


@every_case("task", [t for t in TASKS if t.tags["group"] == "clarify"], ids=lambda task: task.id)
def test_clarify_tasks_lack_a_required_argument_and_ask_for_it(task):
    (milestone,) = plan(task).milestones
    (question,) = goal(task).reference
    (tool,) = goal(task).relevant

    assert isinstance(milestone.condition, Asked)
    assert milestone.condition.similarity(question, {}) == 1.0
    assert goal(task).labels["action"] == "ask"
    assert goal(task).labels["missing"] in TOOLS[tool].parameters["required"]
    assert goal(task).answers == ()


@every_case("task", TASKS, ids=lambda task: task.id)
def test_playing_the_reference_scores_full_marks(task):
    reference, reply = goal(task).reference, goal(task).reference[-1].content
    request = Step(0, "user_simulator", "orchestrator", goal(task).text)
    steps = [replace(s, index=s.index + 1, turn=s.turn + 1) for s in reference]
    played = Trajectory(task.id, 0, (request, *steps), stops=(Stop("done"),), answers=(reply,))

    scores = [s for m in (Calls(), PassRate(RuleJudge())) for s in m.score(task, played, TOOLS)]
    marks = {s.metric: s.value for s in scores if s.metric != "calls" and s.value is not None}
    assert "pass_rate" in marks
    assert marks == dict.fromkeys(marks, 1.0)


def test_all_text_is_normalised_and_tidy():
    for path in SAMPLE.folder.glob("*.jsonl"):
        text = path.read_text(encoding="utf-8")
        assert unicodedata.is_normalized("NFC", text)
        assert "  " not in text


def test_addresses_and_telephone_numbers_are_reserved_ones():
    text = b"".join(path.read_bytes() for path in SAMPLE.folder.glob("*.jsonl")).decode()

    assert set(re.findall(r"[\w.]+@([\w.]+\w)", text)) <= {"example.com", "example.org"}
    assert set(re.findall(r"https?://([\w.]+)", text)) <= {
        "shop.example.com",
        "music.example.com",
        "news.example.com",
    }
    phones = re.findall(r'"phone\\*":\\*"([^"\\]+)', text)
    assert phones
    assert all(re.fullmatch(r"555-01\d\d", phone) for phone in phones)
